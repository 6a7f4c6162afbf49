#!/bin/sh
# check_symbols.sh libpoise.so libpoise.a: what the libraries define and what they ask for.
#
#   shared   exports every function that the public headers declare, and nothing else
#   static   global names begin with poise_ or pz_, or are shared maths (so3_, quat_)
#            finds in itself whatever it uses of itself
#            asks for nothing else but a few memory and string functions and sqrt; malloc and free in base/arena.c only
#            holds no data that can be written to
set -eu
shared=$1
static=$2
cd "$(dirname "$0")/.."
failed=0

# complain LINES MESSAGE
complain() {
    if [ -n "$1" ]; then
        printf '%s:\n%s\n' "$2" "$1" | sed '2,$s/^/    /'
        failed=1
    fi
}

exported=$(nm -D --defined-only "$shared" | awk '{ print $NF }' | sort)
complain "$(echo "$exported" | grep -v '^poise_' || true)" "exported, but not named poise_*"

# declarations: "POISE_API type name(", the type possibly of several words
declared=$(cat include/poise/*.h | grep -E '^POISE_API ' | sed -E 's/^[^(]*[ *](poise_[a-z0-9_]+)\(.*/\1/' | sort)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "$exported" > "$work/exported"
echo "$declared" > "$work/declared"
complain "$(comm -13 "$work/exported" "$work/declared")" "declared in include/poise, but not in the library"
complain "$(comm -23 "$work/exported" "$work/declared")" "exported, but not declared in include/poise"

# one line per symbol: object name type section
nm -f sysv "$static" | awk -F'|' '
    /^Symbols from/ { sub(/.*\[/, ""); sub(/\].*/, ""); object = $0; next }
    NF >= 7 { for (i = 1; i <= NF; ++i) gsub(/ /, "", $i); print object, $1, $3, $7 }' > "$work/symbols"
if [ ! -s "$work/symbols" ]; then
    echo "$static: no symbols"
    exit 1
fi

complain "$(awk '$3 ~ /^[A-TV-Z]$/ && $2 !~ /^(poise|pz|so3|quat)_/ { print $1 ": " $2 }' "$work/symbols")" \
    "global name without a prefix of ours"
complain "$(awk '
    NR == FNR { if ($3 ~ /^[A-TV-Z]$/) { defined[$2] = 1 } next }
    $3 == "U" && $2 ~ /^(poise|pz|so3|quat)_/ && !($2 in defined) { print $1 ": " $2 }' "$work/symbols" "$work/symbols")" \
    "used, but nowhere defined"
complain "$(awk '
    $3 == "U" && $2 !~ /^(poise|pz|so3|quat)_/ &&
    $2 !~ /^(memcpy|memmove|memset|memcmp|bcmp|strlen|strcmp|strncmp|sqrt|_GLOBAL_OFFSET_TABLE_|__stack_chk_fail|__cpu_model|__cpu_indicator_init)$/ &&
    !($1 == "arena.c.o" && $2 ~ /^(malloc|free)$/) { print $1 ": " $2 }' "$work/symbols")" \
    "asked for from outside the library"
# .data.rel.ro holds constant tables of pointers: read-only once loaded
complain "$(awk '$4 ~ /^(\.t?data|\.t?bss|\*COM\*|COMMON)/ && $4 !~ /^\.data\.rel\.ro/ { print $1 ": " $2 " in " $4 }' \
    "$work/symbols")" "data that can be written to"
exit $failed
