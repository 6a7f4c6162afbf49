#!/bin/bash
# The same bits everywhere, all of it: the golden suite (test/golden/golden_suite.h, 10,000 solves of every kind and method, batches,
# tracking, files) with gcc and clang at every level of optimisation, for this machine's own instructions and under sanitizers,
# on 1 to 8 threads and in batches of 1 to 1000; and as WebAssembly under node. All hashes must be those in
# test/golden/golden_suite_value.h.
#
#   check_determinism.sh            all of it: some minutes on two processors
#   check_determinism.sh --update   write test/golden/golden_suite_value.h instead: for a change that is meant to change results
#
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sources="$(cmake -DLISTS="poise_sources poise_motion_sources poise_papers_sources poise_io_sources scene_sources" -P cmake/list_sources.cmake) scenes/recording.c papers/plain/two_task.c
    test/golden/golden_suite.c test/golden/golden_suite_io.c test/golden/golden_suite_main.c test/golden/golden_threads.c test/support/problems.c test/support/random_goals.c test/support/goal_facts.c test/support/random_model.c"
flags="-std=c17 -ffp-contract=off -fno-math-errno -fno-trapping-math -Iinclude -Isrc -Itest -I."

# build NAME COMPILER FLAGS...: the program $work/NAME
build() {
    local name=$1 compiler=$2
    shift 2
    local more=""
    [ "$compiler" != gcc ] || more="-fno-tree-slp-vectorize" # it fuses there in spite of -ffp-contract=off
    mkdir -p "$work/$name.o"
    printf '%s\n' $sources | xargs -P "${JOBS:-$(nproc)}" -I{} sh -c \
        '"$0" -c "$1" -o "$2/$(echo "$1" | tr / _).o" '"$* $more $flags" "$compiler" {} "$work/$name.o"
    "$compiler" "$@" "$work/$name.o"/*.o -o "$work/$name" -lm -lpthread
    rm -rf "$work/$name.o"
}

if [ "${1-}" = "--update" ]; then
    compiler=$(command -v gcc >/dev/null && echo gcc || echo clang)
    build update $compiler -O2
    "$work/update" 2 1000 > "$work/hashes"
    {
        echo "// Written by tools/check_determinism.sh --update."
        echo "#ifndef TEST_GOLDEN_SUITE_VALUE_H"
        echo "#define TEST_GOLDEN_SUITE_VALUE_H"
        echo
        awk '{ printf "#define %-19s UINT64_C(0x%s)\n", "GOLDEN_SUITE_" toupper($1), $2 }' "$work/hashes"
        echo
        echo "#endif"
    } > test/golden/golden_suite_value.h
    cat "$work/hashes"
    exit 0
fi

sed -n 's/#define GOLDEN_SUITE_\([A-Z]*\) *UINT64_C(0x\([0-9a-f]*\))/\1 \2/p' test/golden/golden_suite_value.h |
    awk '{ printf "%-6s %s\n", tolower($1), $2 }' > "$work/expected"
failed=0
runs=0

# try NAME THREADS SIZE
try() {
    runs=$((runs + 1))
    if ! "$work/$1" "$2" "$3" > "$work/got" || ! cmp -s "$work/got" "$work/expected"; then
        echo "$1, $2 threads, batches of $3: other bits"
        diff "$work/expected" "$work/got" || true
        failed=1
    fi
}

builds=0
for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    for level in "-O0" "-O2" "-O3" "-O3 -march=native" "-O1 -fsanitize=address,undefined"; do
        name=$compiler$(echo "$level" | tr -d ' =,')
        if ! echo 'int main(void) { return 0; }' | $compiler $level -x c - -o "$work/probe" 2>/dev/null; then
            continue
        fi
        build "$name" $compiler $level
        builds=$((builds + 1))
        try "$name" 1 1000
        try "$name" 3 137
        if [ "$level" = "-O3" ]; then
            for threads in 2 4 5 6 7 8; do
                try "$name" $threads 1000
            done
            for size in 1 2 7 8 9 64 999; do
                try "$name" 2 $size
            done
        fi
    done
done
if [ $builds -eq 0 ]; then
    echo "skipped: neither gcc nor clang"
    exit 77
fi

# The same for wasm, as web/ builds it: one thread.
if command -v clang >/dev/null && command -v wasm-ld >/dev/null && command -v node >/dev/null; then
    cmake -S web -B "$work/wasm.build" >/dev/null
    cmake --build "$work/wasm.build" --target golden_suite -j "${JOBS:-$(nproc)}" >/dev/null
    printf '#!/bin/sh\nexec node test/golden/golden_suite_wasm.mjs %s "$2"\n' "$work/wasm.build/golden_suite.wasm" > "$work/wasm"
    chmod +x "$work/wasm"
    builds=$((builds + 1))
    for size in 1 137 1000; do
        try wasm 1 $size
    done
else
    echo "not tried: wasm, which needs clang, wasm-ld and node (Debian: clang lld nodejs)"
fi
echo "$builds builds, $runs runs of 10000 solves, batches of 7000, 360 frames and 8 scenes in all formats"
exit $failed
