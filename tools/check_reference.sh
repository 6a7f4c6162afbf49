#!/bin/sh
# check_reference.sh [FOLDER]: make the API reference in FOLDER (a temporary one unless told); fails when a public symbol has no
# words to it.
set -eu
cd "$(dirname "$0")/.."
. tools/version.sh
if ! command -v doxygen >/dev/null; then
    echo "skipped: no doxygen (Debian: doxygen)"
    exit 77
fi
[ $# -gt 0 ] || need_version doxygen 1.9
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
folder=${1:-$place}
mkdir -p "$folder"
{
    cat docs/Doxyfile
    echo "OUTPUT_DIRECTORY = $folder"
    echo "PROJECT_NUMBER = $(sed -n 's/^#define POISE_VERSION_[A-Z]* //p' include/poise/base.h | paste -sd.)"
} | doxygen - 2>&1 | tee "$place/complaints"
test ! -s "$place/complaints"
echo "reference: $(find "$folder/html" -name '*_8h.html' | wc -l) headers"
