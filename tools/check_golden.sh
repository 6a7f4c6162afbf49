#!/bin/sh
# The same bits everywhere: build the library and the golden computation (test/golden/golden.h) with gcc and with clang, as far as they
# are there, at every level of optimisation and for this machine's own instructions. All hashes must be the one in
# test/golden/golden_value.h. Exits with 77, skipped, without a compiler.
#
#   --ends      only the lowest and the highest level, for tests: those between are what the builds themselves use
#   --update    write test/golden/golden_value.h instead: for a change that is meant to change results
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# the layers that the computation goes through
layers='base|num|model|shape|kin|goal|solve'
sources="$(cmake -DLISTS="poise_sources poise_papers_sources" -P cmake/list_sources.cmake | grep -E "^(src/($layers)|papers/methods)/") scenes/random.c
    test/support/random_model.c test/support/random_goals.c test/support/goal_facts.c test/support/problems.c test/golden/golden.c test/golden/golden_solve.c test/golden/golden_main.c"
flags="-std=c17 -ffp-contract=off -fno-math-errno -fno-trapping-math -Iinclude -Isrc -Itest -I."

# build COMPILER LEVEL PROGRAM
build() {
    more=""
    if [ "$1" = gcc ]; then
        more="-fno-tree-slp-vectorize" # it fuses there in spite of -ffp-contract=off
    fi
    "$1" $2 $more $flags $sources -o "$3" -lm
}

# run COMPILER: a folder of hashes, one file for each level
between="-O2 -O3"
if [ "${1-}" = "--ends" ]; then
    between=""
fi
run() {
    mkdir "$work/$1"
    for level in -O0 $between "-O3 -march=native"; do
        name=$(echo "$level" | tr -d ' =')
        if [ "$level" = "-O3 -march=native" ] && ! echo 'int x;' | "$1" $level -x c -c - -o "$work/$1.o" 2>"$work/$1.err"; then
            continue # not on this machine
        fi
        build "$1" "$level" "$work/$1.exe"
        "$work/$1.exe" > "$work/$1/$name" || echo failed >> "$work/$1/$name"
    done
}

compilers=""
for compiler in gcc clang; do
    if command -v "$compiler" >/dev/null; then
        compilers="$compilers $compiler"
    fi
done
if [ -z "$compilers" ]; then
    echo "skipped: neither gcc nor clang"
    exit 77
fi

if [ "${1-}" = "--update" ]; then
    build "${compilers##* }" -O2 "$work/golden"
    hash=$("$work/golden" | awk '$1 == "all" { print $2 }')
    cat > test/golden/golden_value.h <<END
// Written by tools/check_golden.sh --update.
#ifndef TEST_GOLDEN_VALUE_H
#define TEST_GOLDEN_VALUE_H

#define GOLDEN_VALUE UINT64_C(0x$hash)

#endif
END
    echo "golden value $hash"
    exit 0
fi

processes=""
for compiler in $compilers; do
    run "$compiler" &
    processes="$processes $!"
done
for process in $processes; do
    wait "$process"
done

expected=$(sed -n 's/.*UINT64_C(0x\([0-9a-f]*\)).*/\1/p' test/golden/golden_value.h)
failed=0
first=""
for result in "$work"/*/-O*; do
    name=${result#"$work"/}
    if ! grep -q "^all *$expected " "$result" || grep -q failed "$result"; then
        echo "$name differs from test/golden/golden_value.h ($expected):"
        cat "$result"
        failed=1
    fi
    first=${first:-$result}
    if ! cmp -s "$first" "$result"; then
        echo "$name differs from ${first#"$work"/}:"
        diff "$first" "$result" || true
        failed=1
    fi
done
echo "$(ls "$work"/*/-O* | wc -l) builds, $(awk '$1 == "all" { print $3 }' "$first") numbers each, compilers:$compilers"
exit $failed
