#!/bin/sh
# Every public header compiles alone, and twice in a row, as C11 and as C++17; every private header alone as C17; with gcc
# and with clang, as far as they are there.
set -eu
cd "$(dirname "$0")/.."
warnings="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fsyntax-only"

# try HEADER COMPILER FLAGS...
failed=0
try() {
    header=$1
    shift
    if ! printf '#include "%s"\n#include "%s"\n' "$header" "$header" | "$@" $warnings -; then
        echo "$header does not compile alone with: $*"
        failed=1
    fi
}

used=""
for suite in "gcc g++" "clang clang++"; do
    c=${suite% *}
    cxx=${suite#* }
    if command -v "$c" >/dev/null; then
        used="$used $c"
        for header in include/poise/*.h; do
            try "${header#include/}" "$c" -std=c11 -Iinclude -x c
        done
        for header in $(find src motion io -name "*.h" | sort); do
            try "${header#src/}" "$c" -std=c17 -Iinclude -Isrc -I. -x c
        done
    fi
    if command -v "$cxx" >/dev/null; then
        used="$used $cxx"
        for header in include/poise/*.h; do
            try "${header#include/}" "$cxx" -std=c++17 -Iinclude -x c++
        done
    fi
done
echo "compilers:$used"
if [ -z "$used" ]; then
    echo "skipped: neither gcc nor clang"
    exit 77
fi
exit $failed
