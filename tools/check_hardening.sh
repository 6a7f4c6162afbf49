#!/bin/sh
# check_hardening.sh PROGRAM LIBRARY...: a program moves from run to run and checks its strings and stack; it and the libraries
# have read-only relocations and no executable stack (cmake/harden.cmake).
set -eu
failed=0

# demand FILE WHAT PATTERN COMMAND...: the output of the command has a line like the pattern
demand() {
    file=$1
    what=$2
    pattern=$3
    shift 3
    if ! "$@" "$file" | grep -q -E "$pattern"; then
        echo "$file: $what"
        failed=1
    fi
}

demand "$1" "not a position-independent executable" 'FLAGS_1.*PIE' readelf -dW
demand "$1" "no checked string functions" '__[a-z]*printf_chk' nm -D
demand "$1" "no stack protector" '__stack_chk_fail' nm -D
for file in "$@"; do
    demand "$file" "relocations are not bound at once" 'BIND_NOW' readelf -dW
    demand "$file" "relocations stay writable" 'GNU_RELRO' readelf -lW
    demand "$file" "an executable stack" 'GNU_STACK.* RW ' readelf -lW
done
exit $failed
