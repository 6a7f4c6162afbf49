#!/bin/sh
# Run tests of a build, and say at the end what was left out, why, and what helps; the last line is that of ctest, which counts
# what passed and failed: run_tests.sh BUILD OPTIONS of ctest...
set -u
build=$1
shift
if [ -n "${POISE_DATA-}" ]; then # tests run in folders of their own
    POISE_DATA=$(cd "$POISE_DATA" && pwd) || exit 2
    export POISE_DATA
fi
result=$(mktemp)
trap 'rm -f "$result"' EXIT
{ ctest --test-dir "$build" --output-on-failure "$@"; echo "exit status $?"; } | tee "$result" | sed '/^exit status [0-9]*$/d'
status=$(sed -n '$s/^exit status //p' "$result")

# each reason once, with the tests that gave it: in the words of our programs, of pytest and of node
awk '
    function leave_out(reason, part) {
        if (!(reason in tests_of)) { reasons[++count] = reason; tests_of[reason] = "" }
        if (!((reason, test) in parts)) { tests_of[reason] = tests_of[reason] " " test }
        parts[reason, test] += part
        is_left = part ? is_left : 1
        is_part = part ? 1 : is_part
    }
    function text_after(words) { return substr($0, index($0, words) + length(words)) }
    / Testing: /                          { test = $3; tests += 1; is_left = is_part = 0 }
    /^skipped: /                          { leave_out(text_after("skipped: "), 0) }
    /: skipped [0-9]+ of [0-9]+ tests: /  { leave_out(text_after(" tests: "), 0) }
    /: left out [0-9]+ of [0-9]+ tests: / { leave_out(text_after(" tests: "), $4) }
    /^SKIPPED \[[0-9]+\] .*\.py:[0-9]+: / { n = substr($2, 2) + 0; sub(/^[^ ]+ [^ ]+ [^ ]+ /, ""); leave_out($0, n) }
    /^ *ok .* # SKIP /                    { leave_out(text_after(" # SKIP "), 1) }
    /^ *﹣ .* # /                          { leave_out(text_after(" # "), 1) }
    /^Test time =/                        { whole += is_left; in_part += is_part && !is_left }
    END {
        if (count) {
            printf "\nLeft out: %d of %d tests whole, %d in part. ", whole, tests, in_part
            print "\"tools/setup.sh all\" installs what Debian has of what they need; then run the same again."
        }
        for (i = 1; i <= count; ++i) {
            n = split(tests_of[reasons[i]], names, " ")
            line = "   "
            printf "  %s\n", reasons[i]
            for (k = 1; k <= n; ++k) {
                part = parts[reasons[i], names[k]]
                word = " " names[k] (part ? " (" part ")" : "")
                if (length(line word) > 100) { print line; line = "   " }
                line = line word
            }
            print line
        }
    }' "$build/Testing/Temporary/LastTest.log" 2>/dev/null
echo
grep ' tests passed, ' "$result"
exit "${status:-1}"
