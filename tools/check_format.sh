#!/bin/sh
# All C and C++ files are as clang-format 14 leaves them (--fix: make them so). Exits with 77, skipped, without it: other
# versions leave them otherwise.
set -eu
cd "$(dirname "$0")/.."
. tools/version.sh
need_version clang-format 14

files() {
    for folder in include src motion io app web scenes papers samples bench fuzz test cuda mpi python; do
        if [ -d "$folder" ]; then
            find "$folder" \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) -print0
        fi
    done
}

if [ "${1-}" = "--fix" ]; then
    files | xargs -0 clang-format -i
    # section rules, which clang-format leaves alone as comments: end at column 125
    files | xargs -0 sed -i -E 's|^(// ---- .{117})-+$|\1|'
else
    files | xargs -0 clang-format --dry-run -Werror
fi
