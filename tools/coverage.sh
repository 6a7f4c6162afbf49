#!/bin/sh
# coverage.sh BUILD: after the tests of a build with POISE_COVERAGE, the share of lines that ran, per source of the library.
set -eu
build=$1
cd "$(dirname "$0")/.."
find "$build" \( -path '*poise_objects.dir*' -o -path '*poise_papers_objects.dir*' -o -path '*poise_motion_objects.dir*' -o -path '*poise_io_objects.dir*' \) -name '*.gcno' | sort | while read -r notes; do
    gcov --no-output --source-prefix "$PWD" --relative-only "$notes" 2>/dev/null
done | awk -F"'" '
    /^File/ { file = $2 }
    /^Lines executed/ && file ~ /^(src|motion|io)\/.*\.c$/ { sub("Lines executed:", ""); print file ": " $0; file = "" }'
