#!/bin/sh
# make_manuals.sh POISE FOLDER: write the manual pages and shell completions that the program `POISE` makes of its own tables.
set -eu
poise=$1
folder=$2
mkdir -p "$folder/man1" "$folder/completion"

# write NAME ARGUMENTS...: the page appears when it is whole
write() {
    name=$1
    shift
    "$poise" help "$@" >"$folder/$name.new"
    mv "$folder/$name.new" "$folder/$name"
}

write man1/poise.1 --manual
"$poise" help | sed -n '/^Commands/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p' | while read -r command; do
    write "man1/poise-$command.1" --manual "$command"
done
write completion/poise --completion bash
write completion/_poise --completion zsh
