#!/bin/sh
# The data folder: files of others, listed in tools/data.tsv, that tests, benchmarks and experiments read (docs/data.md).
#
#   data.sh check FOLDER     what is there, missing or different; exits with 1 where a file is different
#   data.sh fetch FOLDER     get what is missing from its public repository, with git; then check
#   data.sh has NAME...      are these files, or all of these folders, in the folder that POISE_DATA names? Otherwise one line says
#                            what is missing (exit status 77) or different (1)
#
# SOURCE: where repositories are, https://github.com by default.
set -eu
table=$(dirname "$0")/data.tsv
tab=$(printf '\t')

sum_of() {
    if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

check() {
    here=0 missing=0 different=0
    while IFS=$tab read -r file repository path commit sum licence; do
        if [ ! -f "$folder/$file" ]; then
            missing=$((missing + 1))
            if [ "$repository" = - ]; then
                echo "missing    $file ($licence)"
            else
                echo "missing    $file: https://github.com/$repository/blob/$commit/$path"
            fi
        elif [ "$(sum_of "$folder/$file")" != "$sum" ]; then
            different=$((different + 1))
            echo "different  $file: remove it, then fetch"
        else
            here=$((here + 1))
        fi
    done
    echo "$folder: $here files as listed, $missing missing, $different different"
    [ $missing -eq 0 ] || echo "\"tools/data.sh fetch $folder\" gets what is missing"
    [ $different -eq 0 ]
}

# fetch_from REPOSITORY COMMIT: its missing files, and nothing else of it
fetch_from() {
    work=$(mktemp -d)
    git -C "$work" init -q
    git -C "$work" remote add origin "${SOURCE:-https://github.com}/$1"
    git -C "$work" config remote.origin.promisor true
    git -C "$work" config remote.origin.partialclonefilter blob:none
    git -C "$work" config gc.auto 0
    if ! git -C "$work" fetch -q --depth 1 --filter blob:none origin "$2"; then
        rm -rf "$work"
        echo "cannot fetch $1 $2"
        return
    fi
    while IFS=$tab read -r file repository path commit rest; do
        if [ "$repository $commit" != "$1 $2" ] || [ -f "$folder/$file" ]; then
            continue
        fi
        mkdir -p "$(dirname "$folder/$file")"
        if git -C "$work" cat-file blob "$2:$path" >"$work/file"; then
            mv "$work/file" "$folder/$file"
            echo "$file"
        fi
    done <"$table"
    rm -rf "$work"
}

fetch() {
    mkdir -p "$folder"
    while IFS=$tab read -r file repository path commit rest; do
        [ "$repository" = - ] || [ -f "$folder/$file" ] || echo "$repository $commit"
    done | sort -u | while read -r repository commit; do
        fetch_from "$repository" "$commit" </dev/null
    done
}

# has NAME
has() {
    while IFS=$tab read -r file repository path commit sum licence; do
        case $file in
        "$1" | "$1"/*) ;;
        *) continue ;;
        esac
        if [ ! -f "$folder/$file" ]; then
            echo "$folder/$file is not there; \"tools/data.sh fetch FOLDER\" gets it"
            exit 77
        elif [ "$(sum_of "$folder/$file")" != "$sum" ]; then
            echo "$folder/$file is another file than tools/data.tsv lists; \"tools/data.sh check FOLDER\" looks at all"
            exit 1
        fi
    done
}

# is_there: the folder, which somebody named
is_there() {
    [ -d "$folder" ] || { echo "$folder: there is no such folder of data; \"tools/data.sh fetch FOLDER\" makes one" && return 1; }
}

rows() {
    grep -v '^#' "$table"
}

case "${1-} $#" in
"check 2") folder=$2 && is_there && rows | check ;;
"fetch 2") folder=$2 && rows | fetch && rows | check ;;
"has "[2-9])
    shift
    folder=${POISE_DATA-}
    if [ -z "$folder" ]; then
        echo "no data folder; \"tools/data.sh fetch FOLDER\" makes one, POISE_DATA=FOLDER names it"
        exit 77
    fi
    is_there
    for name; do
        rows | grep -q "^$name[$tab/]" || { echo "tools/data.tsv does not list $name" && exit 1; }
        rows | has "$name"
    done
    ;;
*) sed -n '/^#  /s/^# *//p' "$0" && exit 2 ;;
esac
