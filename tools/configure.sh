#!/bin/sh
# configure.sh BUILD ARGUMENTS...: configure the folder BUILD with these arguments of cmake, unless it is configured already.
# What a failed attempt left there is cleared away first.
set -eu
build=$1
shift
if [ -f "$build/build.ninja" ] || [ -f "$build/Makefile" ]; then
    exit 0
fi
rm -rf "$build/CMakeCache.txt" "$build/CMakeFiles"
exec cmake -G "$(command -v ninja >/dev/null && echo Ninja || echo Unix Makefiles)" "$@"
