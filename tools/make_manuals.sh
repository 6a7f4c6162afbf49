#!/bin/sh
# make_manuals.sh FOLDER [EMULATOR...] POISE: write the manual pages and shell completions that the program POISE makes of its
# own tables.
set -eu
folder=$1
shift
mkdir -p "$folder/man1" "$folder/completion"

# write NAME COMMAND...: the page appears when it is whole
write() {
    name=$1
    shift
    "$@" >"$folder/$name.new"
    mv "$folder/$name.new" "$folder/$name"
}

write man1/poise.1 "$@" help --manual
"$@" help | sed -n '/^Commands/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p' | while read -r command; do
    write "man1/poise-$command.1" "$@" help --manual "$command" </dev/null
done
write completion/poise "$@" help --completion bash
write completion/_poise "$@" help --completion zsh
