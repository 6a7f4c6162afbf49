#!/bin/bash
# Fuzz every reader and every kind of solver with clang's fuzzer and the address and undefined-behaviour sanitizers.
#
#   fuzz.sh [SECONDS] [TARGET...]      each target for so long (default 60); targets by name, such as bvh or fuzz_bvh
#   fuzz.sh --fixed [TARGET...]        the corpus, then inputs made of it, from a fixed seed: the same every time, for CI
#   fuzz.sh --minimise [TARGET...]     make the corpus as small as it can be for what it reaches, from what runs have found
#
# Each run starts from fuzz/corpus/TARGET.tar.gz, bytes of our own (fuzz/make_seeds.c writes the first ones), and keeps what it
# finds in BUILD/fuzz/TARGET, from where --minimise takes it. A crash leaves its input there, too, and fails the script: copy it
# there as keep-NAME, and --minimise leaves it in the corpus for good. BUILD: $POISE_FUZZ_BUILD, or build-sanitize. One target per
# processor runs at a time (or $JOBS). Exits with 77, skipped, without clang.
set -euo pipefail
cd "$(dirname "$0")/.."

# Inputs for --fixed: about five seconds of one processor each.
declare -A runs=(
    [number]=500000 [bvh]=45000 [asf]=40000 [amc]=75000 [c3d]=6500 [trc]=70000 [mot]=75000 [dh]=55000
    [json]=40000 [gltf]=65000 [urdf]=100000 [mjcf]=60000 [osim]=40000 [solve]=3500 [erik]=10000 [tracker]=2700 [goals]=100000
    [motion]=20000 [figure]=500 [xml_oracle]=150000 [json_oracle]=150000)
build=${POISE_FUZZ_BUILD:-build-sanitize}
seconds=60
action=run
if [ "${1-}" = "--minimise" ]; then
    action=merge
    shift
elif [ "${1-}" = "--fixed" ]; then
    action=run_fixed
    shift
elif [[ "${1-}" =~ ^[0-9]+$ ]]; then
    seconds=$1
    shift
fi
if ! command -v clang >/dev/null; then
    echo "skipped: no clang (Debian: clang libclang-rt-14-dev; tools/setup.sh all installs them)"
    exit 77
fi

[ $# -gt 0 ] || set -- fuzz/fuzz_*.c
targets=""
for name; do
    name=$(basename "$name" .c)
    targets="$targets ${name#fuzz_}"
done
tools/configure.sh "$build" --preset sanitize -B "$build" >/dev/null
for name in $targets; do
    programs="${programs-} fuzz_$name"
done
cmake --build "$build" -j "${JOBS:-$(nproc)}" --target $programs >/dev/null

# fuzz TARGET FOLDER OPTION...: one line with its figures; what is found goes to the folder
fuzz() {
    local name=$1 work=$2 log=$2.log
    shift 2
    if ! ${same-} "$build/bin/fuzz_$name" -timeout=20 -rss_limit_mb=2048 -max_len=4096 -verbosity=1 \
        -print_final_stats=1 -artifact_prefix="$work/" "$@" >"$log" 2>&1; then
        tail -n 40 "$log"
        echo "fuzz_$name: failed; its input is in $work"
        return 1
    fi
    awk -v name="fuzz_$name" '
        /cov: /                  { for (i = 1; i < NF; ++i) { if ($i == "cov:") cov = $(i + 1); if ($i == "ft:") ft = $(i + 1) } }
        /number_of_executed_units/ { runs = $2 }
        END { printf "%-14s %9d executions %6d edges %7d features\n", name, runs, cov, ft }' "$log"
}

# unpack TARGET FOLDER: its corpus, as files of a new folder
unpack() {
    rm -rf "$2"
    mkdir -p "$2"
    tar -xzf "fuzz/corpus/$1.tar.gz" -C "$2"
}

# pack TARGET FOLDER: the corpus from a folder; the same inputs give the same bytes
pack() {
    tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=644 -C "$2" -cf - $(ls "$2") | gzip -9n >"fuzz/corpus/$1.tar.gz"
}

run() {
    local work=$build/fuzz/$1 corpus=$build/fuzz-corpus/$1
    unpack "$1" "$corpus"
    mkdir -p "$work"
    fuzz "$1" "$work" -max_total_time="$seconds" "$work" "$corpus"
}

# From the corpus alone, in the order of its names: not what was found here before, nor in the order of this file system. The
# fuzzer learns from numbers that are compared, addresses among them: where possible these stay the same, too, and with them
# the environment, which lies in the same memory.
run_fixed() {
    local work=$build/fuzz-fixed/$1 corpus=$build/fuzz-corpus/$1 same=""
    ! setarch -R true 2>/dev/null || same="env -i PATH=/usr/bin:/bin setarch -R"
    unpack "$1" "$corpus"
    rm -rf "$work"
    mkdir -p "$work"
    find "$corpus" -type f | LC_ALL=C sort | paste -s -d, >"$work.list"
    fuzz "$1" "$work" -runs="$2" -seed=1 -reload=0 -seed_inputs=@"$work.list" "$work"
}

# merge TARGET: inputs of the corpus, of the seeds and of what was found, each of which reaches what smaller ones do not; named by
# their size and bytes
merge() {
    local name=$1 work=$build/fuzz/$1 corpus=$build/fuzz-corpus/$1 small=$build/fuzz-small/$1
    unpack "$name" "$corpus"
    rm -rf "$small"
    mkdir -p "$work" "$small" "$build/seeds/$name"
    "$build/bin/fuzz_$name" -merge=1 -max_len=4096 "$small" "$corpus" "$build/seeds/$name" "$work" >"$build/fuzz/$name.merge" 2>&1
    local file number=0
    for file in $(cd "$small" && wc -c -- * | sed '$d' | sort -k 1n -k 2 | awk '{ print $2 }'); do
        number=$((number + 1))
        mv "$small/$file" "$small/$(printf %04d $number)"
    done
    find "$corpus" "$work" -name 'keep-*' -exec cp {} "$small" \;
    pack "$name" "$small"
    echo "fuzz_$name: $(ls "$small" | wc -l) inputs, $(cat "$small"/* | wc -c) bytes, $(wc -c <"fuzz/corpus/$name.tar.gz") packed"
}

export -f unpack pack fuzz run run_fixed merge
export build seconds
for name in $targets; do
    echo "$name ${runs[$name]:?"fuzz_$name needs a row in tools/fuzz.sh"}"
done | xargs -P "${JOBS:-$(nproc)}" -L 1 bash -c "$action"' "$@"' bash
