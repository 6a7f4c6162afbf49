#!/bin/bash
# Fuzz every reader and every kind of solver with clang's fuzzer and the address and undefined-behaviour sanitizers.
#
#   fuzz.sh [SECONDS] [TARGET...]      each target for so long (default 60); targets by name, such as bvh or fuzz_bvh
#   fuzz.sh --runs N [TARGET...]       the corpus, then inputs made of it, N in all, from a fixed seed: the same every time, for CI
#   fuzz.sh --minimise [TARGET...]     make the corpus as small as it can be for what it reaches, from what runs have found
#
# Each run starts from fuzz/corpus/TARGET, bytes of our own, and keeps what it finds in BUILD/fuzz/TARGET, from where
# --minimise takes it. A crash leaves its input there, too, and fails the script. BUILD: $POISE_FUZZ_BUILD, or build-fuzz.
# Two targets run at a time ($JOBS). Exits with 77, skipped, without clang.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${POISE_FUZZ_BUILD:-build-fuzz}
limit="-max_total_time=60"
minimise=0
if [ "${1-}" = "--minimise" ]; then
    minimise=1
    shift
elif [ "${1-}" = "--runs" ]; then
    limit="-runs=$2 -seed=1"
    shift 2
elif [[ "${1-}" =~ ^[0-9]+$ ]]; then
    limit="-max_total_time=$1"
    shift
fi
if ! command -v clang >/dev/null; then
    echo "skipped: no clang"
    exit 77
fi

all=$(sed -n 's/^add_fuzz(fuzz_\([a-z0-9_]*\).*/\1/p' fuzz/CMakeLists.txt)
targets=""
for name in "${@:-$all}"; do
    targets="$targets ${name#fuzz_}"
done
generator=$(command -v ninja >/dev/null && echo Ninja || echo "Unix Makefiles")
[ -f "$build/CMakeCache.txt" ] || cmake -S . -B "$build" -G "$generator" -DCMAKE_C_COMPILER=clang -DPOISE_BUILD_FUZZ=ON \
    -DBUILD_TESTING=OFF -DPOISE_BUILD_BENCH=OFF -DPOISE_WERROR=ON >/dev/null
for name in $targets; do
    programs="${programs-} fuzz_$name"
done
cmake --build "$build" -j "${JOBS:-2}" --target $programs >/dev/null

# run TARGET: one line with its figures
run() {
    local name=$1 work=$build/fuzz/$1 log=$build/fuzz/$1.log
    mkdir -p "$work" "fuzz/corpus/$name"
    if ! "$build/bin/fuzz_$name" $limit -timeout=20 -rss_limit_mb=2048 -max_len=4096 -verbosity=1 \
        -print_final_stats=1 -artifact_prefix="$work/" "$work" "fuzz/corpus/$name" >"$log" 2>&1; then
        tail -n 40 "$log"
        echo "fuzz_$name: failed; its input is in $work"
        return 1
    fi
    awk -v name="fuzz_$name" '
        /cov: /                  { for (i = 1; i < NF; ++i) { if ($i == "cov:") cov = $(i + 1); if ($i == "ft:") ft = $(i + 1) } }
        /number_of_executed_units/ { runs = $2 }
        END { printf "%-14s %9d executions %6d edges %7d features\n", name, runs, cov, ft }' "$log"
}

# merge TARGET: the fewest inputs, of the corpus and of what was found, that reach the same features
merge() {
    local name=$1 work=$build/fuzz/$1 small
    small=$(mktemp -d)
    mkdir -p "$work" "fuzz/corpus/$name"
    "$build/bin/fuzz_$name" -merge=1 -max_len=2048 "$small" "fuzz/corpus/$name" "$work" >"$build/fuzz/$name.merge" 2>&1
    rm -rf "fuzz/corpus/$name"
    mv "$small" "fuzz/corpus/$name"
    chmod 755 "fuzz/corpus/$name"
    echo "fuzz_$name: $(find "fuzz/corpus/$name" -type f | wc -l) inputs, $(du -sb "fuzz/corpus/$name" | cut -f1) bytes"
}

export -f run merge
export build limit
action=run
[ $minimise -eq 0 ] || action=merge
printf '%s\n' $targets | xargs -P "${JOBS:-2}" -I{} bash -c "$action {}"
