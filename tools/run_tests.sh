#!/bin/sh
# Run tests of a build, and say at the end what was left out and why: run_tests.sh BUILD OPTIONS of ctest...
set -u
build=$1
shift
ctest --test-dir "$build" --output-on-failure "$@"
status=$?
left=$(awk '
    / Testing: /               { name = $3 }
    /^(skipped|.*: (skipped|left out) [0-9]+ of [0-9]+ tests): / { print "  " name ": " $0 }
' "$build/Testing/Temporary/LastTest.log" 2>/dev/null | sed 's/^\(  \([^:]*\): \)\2: /\1/')
if [ -n "$left" ]; then
    printf '\nLeft out, and why:\n%s\n' "$left"
fi
exit $status
