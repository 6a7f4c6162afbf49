#!/bin/sh
# cppcheck 2.10 over the sources of the library: errors, warnings and what is not portable. Exits with 77, skipped, without it.
set -eu
cd "$(dirname "$0")/.."
. tools/version.sh
need_version cppcheck 2.10

# uninitvar                   takes the address of a variable, and a table of functions, for a use of its value; compilers, the
#                             path analyser and valgrind look for the same
# invalidPointerCast          lanes of integers and of numbers share one arena of 8-byte words
# duplicateAssignExpression   low = high = x, to begin with
cppcheck -j "${JOBS:-$(nproc)}" --quiet --std=c11 --max-configs=1 --enable=warning,portability --suppress=missingIncludeSystem \
    --suppress=uninitvar --suppress=duplicateAssignExpression --suppress=invalidPointerCast:src/batch/tree_lanes.c \
    -Iinclude -Isrc -I. --error-exitcode=1 src motion io
echo "no findings"
