#!/bin/sh
# Build poise.wasm and its zipped twin into a folder: build_wasm.sh FOLDER [WORK]
set -eu
web=$(cd "$(dirname "$0")" && pwd)
to=$1
work=${2-$web/build/wasm}
mkdir -p "$to"
generator=$(command -v ninja >/dev/null && echo Ninja || echo "Unix Makefiles")
test -f "$work/CMakeCache.txt" || cmake -S "$web" -B "$work" -G "$generator" -DPOISE_WERROR=ON >/dev/null
cmake --build "$work" --target poise --target golden -j "${JOBS-2}" >/dev/null
cp "$work/poise.wasm" "$to/poise.wasm"
gzip -9 -n -c "$work/poise.wasm" > "$to/poise.wasm.gz"
echo "poise.wasm: $(wc -c < "$to/poise.wasm") bytes, zipped $(wc -c < "$to/poise.wasm.gz")"
