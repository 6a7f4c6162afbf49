#!/bin/sh
# Build the studio into a folder: build.sh [FOLDER], by default dist. Needs the package of web/build.sh. Exits with 77, skipped,
# where node is missing or old, or npm cannot fetch what package-lock.json lists.
set -eu
cd "$(dirname "$0")"
to=${1-dist}

skip() {
    echo "skipped: $*"
    exit 77
}
command -v node >/dev/null && command -v npm >/dev/null || skip "no node or npm (Debian: nodejs npm)"
node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
    skip "node $(node --version) is too old for the studio's build, which asks for 20.19"
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
node_modules/.bin/tsc --noEmit
node_modules/.bin/vite build --logLevel warn --outDir "$to.new" --emptyOutDir
rm -rf "$to"
mv "$to.new" "$to"
echo "studio: $(du -sk "$to" | cut -f1) kB in $to"
