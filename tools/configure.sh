#!/bin/sh
# configure.sh BUILD ARGUMENTS...: configure the folder BUILD with these arguments of cmake, unless it is configured already.
# What a failed attempt left there is cleared away first, and what was configured elsewhere, before the folder was moved or copied.
set -eu
build=$1
shift
if [ -f "$build/build.ninja" ] || [ -f "$build/Makefile" ]; then
    place=$(sed -n 's/^CMAKE_CACHEFILE_DIR:INTERNAL=//p' "$build/CMakeCache.txt")
    if [ "$place" -ef "$build" ]; then
        exit 0
    fi
    echo "$build was configured in $place; configuring it again"
fi
if ! command -v cmake >/dev/null || ! { command -v "${CC:-cc}" || command -v gcc || command -v clang; } >/dev/null; then
    echo "CMake or a C compiler is missing: make demo installs them, or apt-get install cmake gcc libc6-dev" >&2
    exit 1
fi
if command -v ccache >/dev/null; then # what was compiled before, here or in another clone, is not compiled again
    export CMAKE_C_COMPILER_LAUNCHER="${CMAKE_C_COMPILER_LAUNCHER-ccache}" CMAKE_CXX_COMPILER_LAUNCHER="${CMAKE_CXX_COMPILER_LAUNCHER-ccache}"
    export CMAKE_CUDA_COMPILER_LAUNCHER="${CMAKE_CUDA_COMPILER_LAUNCHER-ccache}"
fi
rm -rf "$build/CMakeCache.txt" "$build/CMakeFiles"
exec cmake -G "$(command -v ninja >/dev/null && echo Ninja || echo Unix Makefiles)" "$@"
