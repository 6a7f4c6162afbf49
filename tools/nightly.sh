#!/bin/bash
# The long checks, one after the other: about an hour on two processors. Everything runs, whatever fails; the last lines say how
# each went. nightly.sh [NAME...] runs the named ones only.
set -u
cd "$(dirname "$0")/.."
failed=0
summary=""

# check NAME COMMAND...: a clean pass is 0, or 77 for skipped
check() {
    local name=$1 start=$SECONDS status=0
    shift
    if [ -n "$wanted" ] && [[ " $wanted " != *" $name "* ]]; then
        return
    fi
    echo "== $name: $*"
    "$@" || status=$?
    case $status in
    0) result=passed ;;
    77) result=skipped ;;
    *) result=FAILED && failed=1 ;;
    esac
    summary+=$(printf '%-14s %-8s %5d s' "$name" "$result" $((SECONDS - start)))$'\n'
}

# Valgrind over the unit tests, for memory that was never written; it knows no AVX-512, hence the narrow build.
valgrind_suite() {
    command -v valgrind >/dev/null || return 77
    cmake --preset debug >/dev/null && cmake --build build-debug -j "${JOBS:-2}" >/dev/null || return 1
    ctest --test-dir build-debug -L unit -T memcheck --overwrite MemoryCheckCommandOptions="-q --error-exitcode=9" \
        -R "^($1)$" --output-on-failure
}

asan() {
    cmake --preset asan && cmake --build --preset asan -j "${JOBS:-2}" && ctest --preset asan
}

tsan() {
    cmake --preset tsan && cmake --build --preset tsan -j "${JOBS:-2}" && ctest --preset tsan
}

wanted=$*
check fuzz tools/fuzz.sh 60
check tidy tools/check_tidy.sh build
check asan asan
check tsan tsan
check valgrind valgrind_suite "base|math|so3|model|builder|kinematics|goals|objective|rows|second_order_parts|filter|io_detect|io_gltf"
check determinism tools/check_determinism.sh
check golden tools/check_golden.sh
check mutation tools/mutate.py --count 130
check endurance make endurance
echo
printf '%s' "$summary"
exit $failed
