#!/bin/sh
# Build the studio into a folder: build.sh [FOLDER] [OPTIONS], by default dist. Needs the package of web/build.sh. Options of esbuild,
# such as --watch, run it once more with them (npm run dev). Exits with 77, skipped, where node is missing or old, or npm cannot
# fetch what package-lock.json lists.
set -eu
cd "$(dirname "$0")"
to=${1-dist}
[ $# -eq 0 ] || shift

skip() {
    echo "skipped: $*"
    exit 77
}
command -v node >/dev/null && command -v npm >/dev/null || skip "no node or npm (Debian: nodejs npm)"
node -e 'process.exit(parseInt(process.versions.node) >= 18 ? 0 : 1)' ||
    skip "node $(node --version) is too old: the build of the studio needs 18"
test -f ../dist/index.js || skip "the package poise-ik is not built (web/build.sh)"

# the packages of the lock file, once
if ! cmp -s package-lock.json node_modules/.poise-lock; then
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    if ! npm ci --no-audit --no-fund --loglevel=error >"$log" 2>&1; then
        head -n 5 "$log"
        ! grep -q EUSAGE "$log" || exit 1 # package.json and package-lock.json do not agree
        skip "npm could not install what package-lock.json lists"
    fi
    cp package-lock.json node_modules/.poise-lock
fi

# bundle FOLDER OPTIONS...: studio.js and studio.css, which index.html names and which find the engine beside themselves, the worker
# that follows recordings, and parts that are fetched when the page is at rest (readers of meshes)
bundle() {
    folder=$1
    shift
    common="--bundle --format=esm --target=es2022 --outdir=$folder --alias:poise-ik=../dist/index.js --log-level=warning"
    # workers stand alone: the page keeps their scripts, and starts them without a server
    node_modules/.bin/esbuild recording_worker=src/recording/recording_worker.ts bake_worker=src/baking/bake_worker.ts \
        retarget_worker=src/retargeting/retarget_worker.ts mesh_shapes_worker=src/body/mesh_shapes_worker.ts service_worker=src/offline/service_worker.ts $common '--external:node:*' --minify
    node_modules/.bin/esbuild studio=src/main.ts --splitting --chunk-names=part-[hash] $common '--external:node:*' "$@"
}
node_modules/.bin/tsc --noEmit
node_modules/.bin/tsc --noEmit -p src/offline
rm -rf "$to.new"
mkdir -p "$to.new"
cp index.html public/* ../dist/poise.wasm.gz "$to.new/"
bundle "$to.new" --minify
(cd "$to.new" && node -e 'require("fs").writeFileSync("files.json", JSON.stringify(require("fs").readdirSync(".")))') # that work offline
gzip -9 -n -k "$to.new"/*.html "$to.new"/*.js "$to.new"/*.css "$to.new"/*.svg # poise view, and other servers, send these
rm -rf "$to"
mv "$to.new" "$to"
echo "studio: $(du -sk "$to" | cut -f1) kB in $to"
[ $# -eq 0 ] || bundle "$to" --sourcemap --log-level=info "$@"
