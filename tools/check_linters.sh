#!/bin/bash
# What other programs find in the sources: check_linters.sh PART
#
#   format [--fix]      all C and C++ files are as clang-format 14 leaves them (--fix: make them so)
#   cppcheck            errors, warnings and what is not portable in the libraries, by cppcheck 2.10
#   tidy [--fast] [BUILD] [FILE...]
#                       the checks of .clang-tidy, by clang-tidy 14, over FILEs (default: the libraries) as BUILD compiles them
#                       (default: build). --fast leaves out the path analyser (clang-analyzer-*), which takes ten times as long as
#                       all the rest
#   reference [FOLDER]  doxygen makes the API reference, in FOLDER if one is told, and every public symbol has words to it
#
# These are the versions of Debian 12; others find other things. Exits with 77, skipped, without them.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
libraries="schema src motion io"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# need PROGRAM [VERSION]: or leave
need() {
    command -v "$1" >/dev/null || { echo "skipped: no $1 (Debian: $1)" && exit 77; }
    local version
    version=$("$1" --version | grep -o -E '[0-9]+(\.[0-9]+)+' | head -n 1)
    case $version. in
    "${2-}"*) ;;
    *) echo "skipped: $1 $version finds other things than $2, the version of Debian 12" && exit 77 ;;
    esac
}

files() {
    for folder in include $libraries app web scenes papers samples bench fuzz test cuda mpi python; do
        [ ! -d $folder ] || find $folder \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) -print0
    done
}

by_format() {
    need clang-format 14.
    if [ "${1-}" = --fix ]; then
        files | xargs -0 clang-format -i
        # section rules, which clang-format leaves alone as comments: end at column 125
        files | xargs -0 sed -i -E 's|^(// ---- .{117})-+$|\1|'
    else
        files | xargs -0 -P "$jobs" -n 50 clang-format --dry-run -Werror
    fi
}

# uninitvar                   takes the address of a variable, and a table of functions, for a use of its value; compilers, the
#                             path analyser and valgrind look for the same
# invalidPointerCast          lanes of integers and of numbers share one arena of 8-byte words
# duplicateAssignExpression   low = high = x, to begin with
by_cppcheck() {
    need cppcheck 2.10.
    cppcheck -j "$jobs" --quiet --std=c11 --max-configs=1 --enable=warning,portability --suppress=missingIncludeSystem \
        --suppress=uninitvar --suppress=duplicateAssignExpression --suppress=invalidPointerCast:src/batch/tree_lanes.c \
        -Iinclude -Isrc -I. --error-exitcode=1 $libraries
    echo "no findings"
}

by_tidy() {
    local more="" build status=0
    [ "${1-}" != --fast ] || { more="--checks=-clang-analyzer-*" && shift; }
    build=${1:-build}
    [ $# -eq 0 ] || shift
    need clang-tidy 14.
    if [ ! -f "$build/compile_commands.json" ]; then
        echo "$build has no compile_commands.json: run make, or cmake --preset release"
        exit 1
    fi
    [ $# -gt 0 ] || set -- $(find $libraries -name "*.c" | sort)
    # gcc knows warnings and options that clang does not
    sed -E 's/ (-f(no-)?sched[a-z0-9-]*|-fvect-cost-model=[a-z]*|--param=[a-z0-9=-]*)//g' "$build/compile_commands.json" >"$work/compile_commands.json"
    printf '%s\n' "$@" | xargs -P "$jobs" -n 4 clang-tidy -p "$work" --quiet --extra-arg=-Wno-unknown-warning-option $more \
        >"$work/log" 2>/dev/null || status=1
    grep -E '(warning|error): ' "$work/log" | sort -u || true
    echo "$# files, $(grep -c -E '(warning|error): ' "$work/log" || true) findings"
    return $status
}

by_reference() {
    if [ $# -gt 0 ]; then need doxygen; else need doxygen 1.9.; fi
    local folder=${1:-$work/reference}
    mkdir -p "$folder"
    {
        cat docs/Doxyfile
        echo "OUTPUT_DIRECTORY = $folder"
        echo "PROJECT_NUMBER = $(sed -n 's/^#define POISE_VERSION_[A-Z]* //p' include/poise/base.h | paste -sd.)"
    } | doxygen - 2>&1 | tee "$work/complaints"
    test ! -s "$work/complaints"
}

case ${1-} in
format | cppcheck | tidy | reference) "by_$@" ;;
*) echo "check_linters.sh format | cppcheck | tidy | reference" >&2 && exit 2 ;;
esac
