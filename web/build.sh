#!/bin/sh
# Build the npm package into web/dist: poise.wasm, the same zipped, and the TypeScript side. Exits with 77, skipped, without the
# tools, or when npm cannot fetch the compiler of TypeScript.
set -eu
cd "$(dirname "$0")"
. ./tools.sh

work=../build/web/wasm # where everything that is built lies, but for the package itself
mkdir -p $work
../tools/configure.sh $work -S . -B $work >/dev/null
cmake --build $work --target poise golden golden_suite -j "${JOBS:-$(nproc)}" >$work.log || { cat $work.log; exit 1; }
mkdir -p dist
install -m 644 $work/poise.wasm dist/poise.wasm
zopfli -c dist/poise.wasm > dist/poise.wasm.gz # 5 % smaller than by gzip
cp ../LICENSE LICENSE # npm packs no file from outside

# the packages of the lock file, once
if ! cmp -s package-lock.json node_modules/.poise-lock; then
    if ! npm ci --no-audit --no-fund --loglevel=error; then
        echo "skipped: npm could not install what package-lock.json lists"
        exit 77
    fi
    cp package-lock.json node_modules/.poise-lock
fi
node_modules/.bin/tsc -p tsconfig.json
echo "web/dist/poise.wasm: $(wc -c < dist/poise.wasm) bytes, zipped $(wc -c < dist/poise.wasm.gz)"
