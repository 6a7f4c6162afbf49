#!/bin/sh
# check_symbols.sh libpoise.so libpoise.a [lib.so lib.a]...: what the libraries define and what they ask for.
#
#   shared   exports every function that its public headers declare, and nothing else: headers_of has the headers of each library,
#            cuda.h belongs to poise_cuda, all others to libpoise.so; the libraries beside libpoise.so ask for nothing but what
#            that, or one another, exports
#   static   global names begin with poise_ or pz_, or are shared maths (so3_, quat_)
#            finds in itself, or in those before it, whatever it uses of Poise
#            asks for nothing else but a few memory and string functions and sqrt; malloc and free in base/arena.c only;
#            holds no data that can be written to
set -eu
cd "$(dirname "$0")/.."
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ours='^(poise|pz|so3|quat)_'
system='^(memcpy|memmove|memset|memcmp|memchr|bcmp|strlen|strcmp|strncmp|strchr|strrchr|sqrt|_GLOBAL_OFFSET_TABLE_|__stack_chk_fail|__cpu_model|__cpu_indicator_init)$'

# complain LINES MESSAGE
complain() {
    if [ -n "$1" ]; then
        printf '%s:\n%s\n' "$2" "$1" | sed '2,$s/^/    /'
        failed=1
    fi
}

# check_shared LIBRARY HEADERS...: exported = declared ("POISE_API type name(", the type possibly of several words)
check_shared() {
    library=$1
    shift
    nm -D --defined-only "$library" | awk '{ print $NF }' | sort > "$work/exported"
    cat "$@" | grep -E '^POISE_API ' | sed -E 's/^[^(]*[ *](poise_[a-z0-9_]+)\(.*/\1/' | sort > "$work/declared"
    name=$(basename "$library")
    complain "$(grep -v '^poise_' "$work/exported" || true)" "$name: exported, but not named poise_*"
    complain "$(comm -13 "$work/exported" "$work/declared")" "$name: declared in include/poise, but not in the library"
    complain "$(comm -23 "$work/exported" "$work/declared")" "$name: exported, but not declared in include/poise"
}

# symbols LIBRARY: one line per symbol: object name type section
symbols() {
    nm -f sysv "$1" | awk -F'|' '
        /^Symbols from/ { sub(/.*\[/, ""); sub(/\].*/, ""); object = $0; next }
        NF >= 7 { for (i = 1; i <= NF; ++i) gsub(/ /, "", $i); print object, $1, $3, $7 }'
}

# check_static LIBRARY MORE BASE: MORE is a pattern of what else it may ask for, BASE the symbols it may find elsewhere
check_static() {
    name=$(basename "$1")
    symbols "$1" > "$work/symbols"
    if [ ! -s "$work/symbols" ]; then
        echo "$1: no symbols"
        exit 1
    fi
    complain "$(awk -v ours="$ours" '$3 ~ /^[A-TV-Z]$/ && $2 !~ ours { print $1 ": " $2 }' "$work/symbols")" \
        "$name: global name without a prefix of ours"
    cat "$work/symbols" "$3" > "$work/known"
    complain "$(awk -v ours="$ours" '
        NR == FNR { if ($3 ~ /^[A-TV-Z]$/) { defined[$2] = 1 } next }
        $3 == "U" && $2 ~ ours && !($2 in defined) { print $1 ": " $2 }' "$work/known" "$work/symbols")" \
        "$name: used, but nowhere defined"
    complain "$(awk -v ours="$ours" -v system_names="$system" -v more="$2" '
        $3 == "U" && $2 !~ ours && $2 !~ system_names && $2 !~ more &&
        !($1 == "arena.c.o" && $2 ~ /^(malloc|free)$/) { print $1 ": " $2 }' "$work/symbols")" \
        "$name: asked for from outside the library"
    # .data.rel.ro holds constant tables of pointers: read-only once loaded
    complain "$(awk '$4 ~ /^(\.t?data|\.t?bss|\*COM\*|COMMON)/ && $4 !~ /^\.data\.rel\.ro/ { print $1 ": " $2 " in " $4 }' \
        "$work/symbols")" "$name: data that can be written to"
}

motion="motion track sequence verdict recordings retarget edit"

# headers_of NAME: what a library beside the core declares
headers_of() {
    case $1 in
    libpoise_motion.*) for header in $motion; do echo "include/poise/$header.h"; done ;;
    libpoise_papers.*) echo include/poise/papers.h include/poise/express.h include/poise/expressive.h ;;
    libpoise_io.*) echo include/poise/io.h include/poise/opensim.h ;;
    esac
}

check_shared "$1" $(ls include/poise/*.h | grep -v -E "/($(echo $motion | tr ' ' '|')|papers|express|expressive|io|opensim|cuda)\.h$")
check_static "$2" '^$' /dev/null
symbols "$2" > "$work/base"
nm -D --defined-only "$1" | awk '{ print $NF }' > "$work/offered"
shift 2
for library in "$@"; do
    case $library in
    *.so*) nm -D --defined-only "$library" | awk '{ print $NF }' >> "$work/offered" ;;
    esac
done
sort -u -o "$work/offered" "$work/offered"
while [ $# -ge 2 ]; do
    check_shared "$1" $(headers_of "$(basename "$1")")
    nm -D --undefined-only "$1" | awk '{ print $NF }' | grep -E "$ours" | sort > "$work/asked"
    complain "$(comm -13 "$work/offered" "$work/asked")" "$(basename "$1"): asks for what no library exports"
    check_static "$2" '^$' "$work/base"
    symbols "$2" >> "$work/base"
    shift 2
done
exit $failed
