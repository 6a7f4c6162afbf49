#!/bin/bash
# The long checks, one after the other: about an hour on two processors. Everything runs, whatever fails; the last lines say how
# each went. nightly.sh [NAME...] runs the named ones only.
set -u
export POISE_WERROR=ON
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
    local line
    line=$(printf '%-14s %-8s %5d s' "$name" "$result" $((SECONDS - start)))
    echo "== $line"
    summary+=$line$'\n'
}

# sanitized PRESET COMPILER: build with it, and run what the preset tests. Without the compiler: skipped.
sanitized() {
    command -v "$2" >/dev/null || return 77
    cmake --preset "$1" && cmake --build --preset "$1" -j "$jobs" && ctest --preset "$1" -j "$jobs"
}

asan() {
    sanitized asan gcc && ctest --test-dir build-asan -L '^app$' -j "$jobs" --output-on-failure
}

# what starts threads, and the golden suite on four
tsan() {
    sanitized tsan gcc && build-tsan/bin/golden_suite 4 137 >build-tsan/four && build-tsan/bin/golden_suite 1 >build-tsan/one &&
        cmp build-tsan/one build-tsan/four
}

# The tests that the memory sanitizer cannot watch, for their libraries are not compiled with it. Of the others Valgrind does
# not know an instruction: 3.19 has no vmovq between two registers in its form 0xD6, which gcc uses in code for AVX2.
valgrind_rest() {
    command -v valgrind >/dev/null || return 77
    local status=0 programs="lapack"
    if [ -x build/bin/tests_mujoco ]; then
        programs+=" mujoco"
    else
        echo "no MuJoCo here: its test is left out"
    fi
    for program in $programs; do
        valgrind -q --error-exitcode=9 "build/bin/tests_$program" || status=1
    done
    return $status
}

# recordings of people of all sizes, broken in seventy ways: hardly anything wrong is good, and what is sound is
broken_recordings() {
    cmake --build build --target broken_recordings && build/bin/broken_recordings 12
}

# the add-on in Blender itself
blender_addon() {
    tools/setup.sh blender && ctest --test-dir build -R '^python_blender$' --output-on-failure
}

# the Python package: no reference is left behind by any call, and memory stays flat over a million
python_endurance() {
    command -v python3-dbg >/dev/null || tools/setup.sh debug || return 77
    python3-dbg python/test/endurance.py 20 && /usr/bin/python3 python/test/endurance.py 15000
}

# all that users are given, installed and used
release() {
    make release && tools/check_bare.sh release
}

jobs=${JOBS:-$(nproc)}
wanted=$*
# a program of the user's finds the installed library, and a package made since does not keep make uninstall from its work
install_and_remove='make install && cc test/install/main.c -lpoise -lm -o hello && ./hello && (cd build && cpack >/dev/null) && make uninstall &&
    test -z "$(find /usr/local -iname "*poise*")"'
check bare tools/check_bare.sh debian 'make demo' 'make test' "$install_and_remove"
check bare_13 tools/check_bare.sh debian --suite trixie --user 'make demo' 'make test'
check release release
check fuzz tools/fuzz.sh 60
check recordings broken_recordings
check tidy tools/check_linters.sh tidy build
check asan asan
check tsan tsan
check msan sanitized msan clang
check valgrind valgrind_rest
check determinism tools/check_bits.sh levels
check systems tools/check_bits.sh systems --unit
check retargets python3 test/app/check_retargets.py build/bin/poise --all
check mutation tools/mutate.py --count 130
check blender blender_addon
check python python_endurance
check endurance make endurance
check edits env TEST_EDITS=20000 build/bin/tests_motion edit_verdict # wrong by construction: none is good
# reachable by construction: none is called the closest; starts at cusps: nothing near is closer; leaps: none is good
check corners env TEST_CORNERS=2000 build/bin/tests_solve arm_corners
check cusps env TEST_CUSPS=5000 build/bin/tests_solve cusps
check paths env TEST_PATHS=1000 build/bin/tests_motion path_verdict
echo
printf '%s' "$summary"
exit $failed
