#!/bin/sh
# Run the tests of the package in web/dist: test.sh REFERENCE, a program of the native build (cmake/web.cmake).
set -eu
reference=$1
cd "$(dirname "$0")"
. ./tools.sh
if [ ! -f dist/index.js ] || [ ! -x node_modules/.bin/tsc ]; then
    echo "skipped: the package is not built (web/build.sh)"
    exit 77
fi
rm -rf ../build/web/test # what a test that is gone was compiled to
node_modules/.bin/tsc -p test/tsconfig.json
echo '{"type": "module"}' > ../build/web/package.json
POISE_REFERENCE=$reference exec node --test ../build/web/test/
