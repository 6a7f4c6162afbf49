#!/bin/bash
# The same bits everywhere. Two programs print hashes of what they compute: golden (test/golden/golden.h, every layer of the engine)
# and golden_suite (test/golden/golden_suite.h, 10,000 solves of every kind and method, batches, tracking, files). All must be
# those in test/golden/*_value.h.
#
#   check_bits.sh ends      golden, by gcc and by clang, at the lowest and the highest level of optimisation: for tests, since those
#                           between are what the builds themselves use
#   check_bits.sh levels    both, by gcc and by clang, at every level, for this machine's own instructions and under sanitizers;
#                           the suite on 1 to 8 threads, in batches of 1 to 1000, and as WebAssembly: minutes (make determinism)
#   check_bits.sh systems [--unit] [SYSTEM...]
#                           both, built for each system whose compiler is here and run, by an emulator if need be: gcc clang arm64
#                           musl windows wasm, and the other compilers that are here, gcc-11 to gcc-14, clang-13 to clang-19.
#                           --unit: all unit tests of arm64, musl and windows as well (make nightly)
#   check_bits.sh update golden | suite
#                           write test/golden/*_value.h instead: for a change that is meant to change results
#
# Exits with 77, skipped, without a compiler.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
jobs=${JOBS:-$(nproc)}
failed=0

# ---- What is expected ----------------------------------------------------------------------------------------------------

value=$(sed -n 's/.*UINT64_C(0x\([0-9a-f]*\)).*/\1/p' test/golden/golden_value.h)
sed -n 's/#define GOLDEN_SUITE_\([A-Z]*\) *UINT64_C(0x\([0-9a-f]*\))/\1 \2/p' test/golden/golden_suite_value.h |
    awk '{ printf "%-6s %s\n", tolower($1), $2 }' >"$work/expected"

# differs WHO: complain
differs() {
    echo "$1: other bits"
    failed=1
}

# try_golden WHO COMMAND...: the hash of all, and of every part as in the first run
try_golden() {
    local who=$1
    shift
    "$@" >"$work/got" || differs "$who: golden failed"
    grep -q "^all *$value " "$work/got" || { differs "$who: golden, not $value"; cat "$work/got"; }
    [ -f "$work/parts" ] || cp "$work/got" "$work/parts"
    cmp -s "$work/parts" "$work/got" || { differs "$who: a part of golden"; diff "$work/parts" "$work/got" || true; }
}

# try_suite WHO COMMAND...
try_suite() {
    local who=$1
    shift
    if ! "$@" >"$work/got" || ! cmp -s "$work/got" "$work/expected"; then
        differs "$who: golden_suite"
        diff "$work/expected" "$work/got" || true
    fi
}

# ---- Builds of our own ---------------------------------------------------------------------------------------------------

lists() { # a list of cmake's, or several
    cmake -DLISTS="$1" -P cmake/list_sources.cmake
}
shared="test/support/random_model.c test/support/random_goals.c test/support/goal_facts.c test/support/problems.c"
# the layers that the computation goes through
golden_sources="$(lists "poise_sources poise_papers_sources" | grep -E '^(schema|src/(base|num|model|shape|kin|goal|solve)|papers/methods)/')
    scenes/random.c $shared test/golden/golden.c test/golden/golden_solve.c test/golden/golden_main.c"
suite_sources="$(lists "poise_sources poise_motion_sources poise_papers_sources poise_io_sources scene_sources") scenes/recording.c
    papers/plain/two_task.c $shared test/golden/golden_suite.c test/golden/golden_suite_io.c test/golden/golden_suite_main.c
    test/golden/golden_threads.c"
flags="-std=c17 -ffp-contract=off -fno-math-errno -fno-trapping-math -Iinclude -Isrc -Itest -I."

# compile FOLDER COMPILER FLAGS SOURCES...: an object for each source, through ccache where it is installed
compile() {
    local folder=$1 compiler=$2 options="$3 $flags"
    shift 3
    [ "$compiler" != gcc ] || options+=" -fno-tree-slp-vectorize" # it fuses there in spite of -ffp-contract=off
    ! command -v ccache >/dev/null || compiler="ccache $compiler"
    mkdir -p "$folder"
    printf '%s\n' "$@" | sort -u | xargs -P "$jobs" -I{} sh -c \
        "$compiler $options"' -c "$1" -o "$0/$(echo "$1" | tr / _).o"' "$folder" {}
}

# link PROGRAM FOLDER COMPILER FLAGS SOURCES...
link() {
    local program=$1 folder=$2 compiler=$3 options=$4 objects=()
    shift 4
    for source; do
        objects+=("$folder/$(echo "$source" | tr / _).o")
    done
    $compiler $options "${objects[@]}" -o "$program" -lm -lpthread
}

# works COMPILER FLAGS: on this machine, with what is installed
works() {
    command -v "$1" >/dev/null && echo 'int main(void) { return 0; }' | $1 $2 -x c - -o "$work/probe" 2>/dev/null
}

native="-O3 -march=native"
sanitized="-O1 -fsanitize=address,undefined"

ends() {
    local builds=0 compiler level name
    for compiler in gcc clang; do
        for level in -O0 "$native"; do
            works $compiler "$level" || continue
            name="$compiler $level"
            compile "$work/objects" $compiler "$level" $golden_sources
            link "$work/golden" "$work/objects" $compiler "$level" $golden_sources
            try_golden "$name" "$work/golden"
            builds=$((builds + 1))
        done
    done
    [ $builds -gt 0 ] || { echo "skipped: neither gcc nor clang"; exit 77; }
    echo "$builds builds, $(awk '$1 == "all" { print $3 }' "$work/parts") numbers each"
}

levels() {
    local builds=0 runs=0 compiler level name threads size
    for compiler in gcc clang; do
        for level in -O0 -O2 -O3 "$native" "$sanitized"; do
            works $compiler "$level" || continue
            name="$compiler $level"
            compile "$work/objects" $compiler "$level" $golden_sources $suite_sources
            link "$work/golden" "$work/objects" $compiler "$level" $golden_sources
            link "$work/suite" "$work/objects" $compiler "$level" $suite_sources
            rm -r "$work/objects"
            builds=$((builds + 1))
            try_golden "$name" "$work/golden"
            # threads and batch sizes: all of them once a compiler, two everywhere
            local cases="1,1000 3,137"
            [ "$level" != -O3 ] || cases+=" 2,1000 4,1000 5,1000 6,1000 7,1000 8,1000 2,1 2,2 2,7 2,8 2,9 2,64 2,999"
            for case in $cases; do
                try_suite "$name, ${case%,*} threads, batches of ${case#*,}" "$work/suite" "${case%,*}" "${case#*,}"
                runs=$((runs + 1))
            done
        done
    done
    [ $builds -gt 0 ] || { echo "skipped: neither gcc nor clang"; exit 77; }
    if command -v clang >/dev/null && command -v wasm-ld >/dev/null && command -v node >/dev/null; then
        cmake -S web -B "$work/wasm" >/dev/null # one thread
        cmake --build "$work/wasm" --target golden_suite -j "$jobs" >/dev/null
        for size in 1 137 1000; do
            try_suite "wasm, batches of $size" node test/golden/golden_suite_wasm.mjs "$work/wasm/golden_suite.wasm" $size
            runs=$((runs + 1))
        done
        builds=$((builds + 1))
    else
        echo "not tried: wasm, which needs clang, wasm-ld and node (Debian: clang lld nodejs)"
    fi
    echo "$builds builds, $runs runs of 10000 solves, batches of 7000, 360 frames and 8 scenes in all formats"
}

# ---- Other systems -------------------------------------------------------------------------------------------------------

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
    case $1 in
    wasm) web/build.sh && return ;;
    gcc) folder=build && tools/configure.sh build --preset release ;;
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
    windows) WINEDEBUG=-all wine "build-windows/bin/$program.exe" "$@" | tr -d '\r' ;;
    wasm) node "test/golden/${program}_wasm.mjs" "build/web/wasm/${program%_bits}.wasm" 1000 ;;
    *) "build-$system/bin/$program" "$@" ;;
    esac
}

systems() {
    local unit=no tried=0 system lacking start before
    [ "${1-}" != --unit ] || { unit=yes && shift; }
    [ $# -gt 0 ] || set -- gcc clang arm64 musl windows wasm $(compgen -c | grep -xE 'gcc-1[1-4]|clang-1[3-9]' | sort -uV)
    for system; do
        lacking=""
        for command in $(needs_of "$system"); do
            command -v "$command" >/dev/null || lacking+=" $command"
        done
        if [ -n "$lacking" ]; then
            printf '%-8s not here:%s\n' "$system" "$lacking"
            continue
        fi
        start=$SECONDS before=$failed
        failed=0
        tried=$((tried + 1))
        if build "$system" >"$work/log" 2>&1; then
            rm -f "$work/parts" # wasm prints the hash of all alone
            try_golden "$system" run "$system" golden_bits
            try_suite "$system" run "$system" golden_suite 2 1000
        else
            tail -n 30 "$work/log"
            failed=1
        fi
        printf '%-8s %-6s %5d s\n' "$system" "$([ $failed -eq 0 ] && echo same || echo OTHER)" $((SECONDS - start))
        if [ $unit = yes ] && [[ " arm64 musl windows " == *" $system "* ]]; then
            cmake --build "build-$system" -j "$jobs" && ctest --preset "$system" -j "$jobs" || failed=1
        fi
        failed=$((failed | before))
    done
    [ $tried -gt 0 ] || exit 77
}

# ---- A change that is meant ----------------------------------------------------------------------------------------------

# header GUARD: what awk makes of hashes, as a header
header() {
    printf '// Written by tools/check_bits.sh update.\n#ifndef TEST_%s_H\n#define TEST_%s_H\n\n' "$1" "$1"
    awk "$2" "$work/hashes"
    printf '\n#endif\n'
}

update() {
    local sources=${1}_sources compiler
    compiler=$(command -v gcc >/dev/null && echo gcc || echo clang)
    compile "$work/objects" $compiler -O2 ${!sources}
    link "$work/program" "$work/objects" $compiler -O2 ${!sources}
    "$work/program" >"$work/hashes"
    case $1 in
    golden) header GOLDEN_VALUE '$1 == "all" { print "#define GOLDEN_VALUE UINT64_C(0x" $2 ")" }' >test/golden/golden_value.h ;;
    suite)
        header GOLDEN_SUITE_VALUE '{ printf "#define %-19s UINT64_C(0x%s)\n", "GOLDEN_SUITE_" toupper($1), $2 }' \
            >test/golden/golden_suite_value.h
        ;;
    esac
    cat "$work/hashes"
}

case ${1-} in
ends | levels | systems) "$@" ;;
update) [[ "${2-}" =~ ^(golden|suite)$ ]] && update "$2" || { echo "check_bits.sh update golden | suite" >&2 && exit 2; } ;;
*) sed -n '/^# /s/^# //p; /^set /q' "$0" && exit 2 ;;
esac
exit $failed
