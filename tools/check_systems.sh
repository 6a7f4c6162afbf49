#!/bin/bash
# The same bits on every system: build the golden programs (test/golden/) for each system whose compiler is here, run them,
# by an emulator if need be, and print a table of their hashes. All must be those in test/golden/*_value.h.
#
#   check_systems.sh [--unit] [SYSTEM...]     gcc clang arm64 musl windows wasm; default: all, and the other compilers that are
#                                             here: gcc-11 to gcc-14, clang-13 to clang-19
#
#   --unit    run all unit tests of arm64, musl and windows as well (make nightly)
#
# Exits with 77, skipped, when no compiler of those asked for is here.
set -euo pipefail
cd "$(dirname "$0")/.."
unit=no
if [ "${1-}" = --unit ]; then
    unit=yes
    shift
fi
[ $# -gt 0 ] || set -- gcc clang arm64 musl windows wasm $(compgen -c | grep -xE 'gcc-1[1-4]|clang-1[3-9]' | sort -uV)
jobs=${JOBS:-$(nproc)}
export WINEDEBUG=-all

expected_all=$(sed -n 's/.*UINT64_C(0x\([0-9a-f]*\)).*/\1/p' test/golden/golden_value.h)
expected=$(sed -n 's/#define GOLDEN_SUITE_[A-Z]* *UINT64_C(0x\([0-9a-f]*\))/\1/p' test/golden/golden_suite_value.h | tr '\n' ' ')

# needs_of SYSTEM: its compiler, and what runs its programs
needs_of() {
    case $1 in
    gcc* | clang*) echo "$1" ;;
    arm64) echo aarch64-linux-gnu-gcc qemu-aarch64-static ;;
    musl) echo musl-gcc ;;
    windows) echo x86_64-w64-mingw32-gcc-posix wine ;;
    wasm) echo clang wasm-ld node ;;
    *) echo "no such system: $1" >&2 && exit 2 ;;
    esac
}

# build SYSTEM: the programs, in the folder that the preset names
build() {
    local folder=build-$1
    [ "$1" != gcc ] || folder=build
    case $1 in
    gcc) tools/configure.sh build --preset release ;;
    gcc-* | clang-*)
        tools/configure.sh "$folder" --preset release -B "$folder" -DCMAKE_C_COMPILER="$1" -DPOISE_BUILD_CUDA=OFF \
            -DPOISE_BUILD_MPI=OFF -DPOISE_BUILD_PYTHON=OFF -DPOISE_BUILD_BENCH=OFF
        ;;
    *) tools/configure.sh "$folder" --preset "$1" ;;
    esac
    cmake --build "$folder" -j "$jobs" --target golden_bits golden_suite
}

# run SYSTEM PROGRAM ARGUMENTS...
run() {
    local system=$1 program=$2
    shift 2
    case $system in
    gcc) "build/bin/$program" "$@" ;;
    arm64) qemu-aarch64-static -L /usr/aarch64-linux-gnu "build-arm64/bin/$program" "$@" ;;
    windows) wine "build-windows/bin/$program.exe" "$@" | tr -d '\r' ;;
    wasm) node "test/golden/${program}_wasm.mjs" "build/web/wasm/${program%_bits}.wasm" 1000 ;;
    *) "build-$system/bin/$program" "$@" ;;
    esac
}

failed=0
tried=0
for system; do
    lacking=""
    for command in $(needs_of "$system"); do
        command -v "$command" >/dev/null || lacking+=" $command"
    done
    if [ -n "$lacking" ]; then
        printf '%-8s not here:%s\n' "$system" "$lacking"
        continue
    fi
    start=$SECONDS
    tried=$((tried + 1))
    log=$(mktemp)
    if [ "$system" = wasm ]; then
        web/build.sh >"$log" 2>&1 || { cat "$log"; failed=1; continue; }
    else
        build "$system" >"$log" 2>&1 || { tail -n 30 "$log"; failed=1; continue; }
    fi
    rm -f "$log"
    all=$(run "$system" golden_bits | awk '$1 == "all" { print $2 }')
    suite=$(run "$system" golden_suite 1 1000 | awk '{ printf "%s ", $2 }')
    verdict=same
    if [ "$all" != "$expected_all" ] || [ "$suite" != "$expected" ]; then
        verdict=OTHER
        failed=1
    fi
    printf '%-8s %-6s %s %s %5d s\n' "$system" $verdict "$all" "$suite" $((SECONDS - start))
    if [ $unit = yes ] && [[ " arm64 musl windows " == *" $system "* ]]; then
        cmake --build "build-$system" -j "$jobs" && ctest --preset "$system" -j "$jobs" || failed=1
    fi
done
[ $tried -gt 0 ] || exit 77
exit $failed
