#!/bin/sh
# clang-tidy with the checks of .clang-tidy over the sources of the library.
#
#   check_tidy.sh [--fast] [BUILD] [FILE...]
#
# --fast leaves out the path analyser (clang-analyzer-*), which takes ten times as long as all the rest. BUILD is a build folder
# with a compile_commands.json (default build); FILES default to all of src/, motion/ and io/. Exits with 77, skipped, without clang-tidy 14.
set -eu
cd "$(dirname "$0")/.."
more=""
if [ "${1-}" = "--fast" ]; then
    more="--checks=-clang-analyzer-*"
    shift
fi
build=${1:-build}
[ $# -eq 0 ] || shift
. tools/version.sh
need_version clang-tidy 14
if [ ! -f "$build/compile_commands.json" ]; then
    echo "$build has no compile_commands.json: run make, or cmake --preset release"
    exit 1
fi
[ $# -gt 0 ] || set -- $(find src motion io -name "*.c" | sort)

# gcc knows warnings and options that clang does not
folder=$(mktemp -d)
log=$folder/log
trap 'rm -r "$folder"' EXIT
sed -E 's/ (-f(no-)?sched[a-z0-9-]*|-fvect-cost-model=[a-z]*|--param=[a-z0-9=-]*)//g' "$build/compile_commands.json" >"$folder/compile_commands.json"
status=0
printf '%s\n' "$@" | xargs -P "${JOBS:-$(nproc)}" -n 4 clang-tidy -p "$folder" --quiet --extra-arg=-Wno-unknown-warning-option $more \
    >"$log" 2>/dev/null || status=1
grep -E '(warning|error): ' "$log" | sort -u || true
echo "$# files, $(grep -c -E '(warning|error): ' "$log" || true) findings"
exit $status
