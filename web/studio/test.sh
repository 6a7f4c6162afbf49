#!/bin/sh
# Test a built studio in a browser: test.sh POISE STUDIO PICTURES [PART...], by default all that test/studio.mjs lists. Exits with 77, skipped, without a browser or a studio.
set -eu
POISE=$1 STUDIO=$2 SHOTS=$3
shift 3
ONLY=$*
cd "$(dirname "$0")"

skip() {
    echo "skipped: $*"
    exit 77
}
for name in chromium-headless-shell chromium chromium-browser google-chrome; do
    CHROMIUM=${CHROMIUM-$(command -v $name || true)}
    test -n "$CHROMIUM" || unset CHROMIUM
done
test -n "${CHROMIUM-}" || skip "no browser (Debian: chromium-headless-shell; tools/setup.sh all installs it)"
test -f "$STUDIO/index.html" || skip "the studio is not built (make web)"
test -d node_modules/playwright-core || skip "no playwright-core (web/studio/build.sh fetches it)"
export POISE STUDIO SHOTS CHROMIUM ONLY
exec node --test test/studio.mjs
