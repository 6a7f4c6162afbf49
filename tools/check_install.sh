#!/bin/sh
# check_install.sh BUILD: install into an empty folder, then build and run test/install/main.c, motion.c, papers.c and io.c, and samples/cuda/cuda_poses.c
# where there is CUDA, against it, by the CMake package and by pkg-config, static and shared; and the first two once more with
# Poise as a subfolder of a project.
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
source=$PWD
cc=${CC:-cc}

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cmake --install "$build" --prefix "$place/first" >/dev/null
# poise_cuda is a component of its own, where it was built
with_cuda=OFF
test -z "$(find "$place/first" -iname '*cuda*')"
if [ -f "$build/cuda/libpoise_cuda.a" ]; then
    with_cuda=ON
    cmake --install "$build" --prefix "$place/first" --component cuda >/dev/null
fi
# moved, since nothing installed may depend on where it was put first
mv "$place/first" "$place/prefix"

# a build without poise_io installs none of it
with_io=OFF
if [ -f "$place/prefix/include/poise/io.h" ]; then
    with_io=ON
fi

echo "find_package:"
cmake -S "$source/test/install" -B "$place/build" -DCMAKE_PREFIX_PATH="$place/prefix" -DCMAKE_C_COMPILER="$cc" -DWITH_IO=$with_io \
    -DWITH_CUDA=$with_cuda >/dev/null
cmake --build "$place/build" >/dev/null
"$place/build/with_static"
"$place/build/with_shared"
"$place/build/motion_with_static"
"$place/build/motion_with_shared"
"$place/build/papers_with_static"
"$place/build/papers_with_shared"
if [ $with_io = ON ]; then
    "$place/build/io_with_static"
    "$place/build/io_with_shared"
fi
# a device is not needed: a program that finds none says so
use_cuda() {
    said=$("$1" || true)
    echo "$said"
    echo "$said" | grep -q -E '^(10000 of 10000 reached as problems|there is no CUDA device.*)$'
}
if [ $with_cuda = ON ]; then
    use_cuda "$place/build/cuda_with_static"
fi

echo "subfolder:"
cmake -S "$source/test/install" -B "$place/inside" -DPOISE_FOLDER="$source" -DCMAKE_C_COMPILER="$cc" -DWITH_IO=$with_io >/dev/null
cmake --build "$place/inside" >/dev/null
"$place/inside/with_static"
"$place/inside/with_shared"
"$place/inside/motion_with_static"
"$place/inside/papers_with_static"
if [ $with_io = ON ]; then
    "$place/inside/io_with_static"
    "$place/inside/io_with_shared"
fi

echo "pkg-config:"
PKG_CONFIG_PATH=$(dirname "$(find "$place/prefix" -name poise.pc)")
export PKG_CONFIG_PATH
unset PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR
strict="-std=c11 -Wall -Wextra -Wpedantic -Werror"
"$cc" $strict "$source/test/install/main.c" $(pkg-config --cflags --libs poise) -lm -o "$place/with_shared"
LD_LIBRARY_PATH=$(pkg-config --variable=libdir poise) "$place/with_shared"
"$cc" $strict -static "$source/test/install/main.c" $(pkg-config --static --cflags --libs poise) -o "$place/with_static"
"$place/with_static"

"$cc" $strict "$source/test/install/motion.c" $(pkg-config --cflags --libs poise_motion) -lm -o "$place/motion_with_shared"
LD_LIBRARY_PATH=$(pkg-config --variable=libdir poise) "$place/motion_with_shared"
"$cc" $strict -static "$source/test/install/motion.c" $(pkg-config --static --cflags --libs poise_motion) -o "$place/motion_with_static"
"$place/motion_with_static"
"$cc" $strict "$source/test/install/papers.c" $(pkg-config --cflags --libs poise_papers) -lm -o "$place/papers_with_shared"
LD_LIBRARY_PATH=$(pkg-config --variable=libdir poise) "$place/papers_with_shared"
"$cc" $strict -static "$source/test/install/papers.c" $(pkg-config --static --cflags --libs poise_papers) -o "$place/papers_with_static"
"$place/papers_with_static"

# the programs are what they claim to be
objdump -p "$place/with_shared" | grep -q 'NEEDED *libpoise\.so'
objdump -p "$place/build/with_shared" | grep -q 'NEEDED *libpoise\.so'
test -z "$(objdump -p "$place/build/with_static" | grep 'NEEDED *libpoise' || true)"
test "$(pkg-config --modversion poise)" = "$("$place/with_static" --version)"

if [ $with_io = ON ]; then
    "$cc" $strict "$source/test/install/io.c" $(pkg-config --cflags --libs poise_io) -lm -o "$place/io_with_shared"
    LD_LIBRARY_PATH=$(pkg-config --variable=libdir poise) "$place/io_with_shared"
    "$cc" $strict -static "$source/test/install/io.c" $(pkg-config --static --cflags --libs poise_io) -o "$place/io_with_static"
    "$place/io_with_static"
    objdump -p "$place/io_with_shared" | grep -q 'NEEDED *libpoise_io\.so'
    objdump -p "$place/build/io_with_shared" | grep -q 'NEEDED *libpoise_io\.so'
    test -z "$(objdump -p "$place/build/io_with_static" | grep 'NEEDED *libpoise' || true)"
fi

if [ $with_cuda = ON ]; then
    "$cc" $strict "$source/samples/cuda/cuda_poses.c" $(pkg-config --cflags --libs poise_cuda) -o "$place/cuda_with_static"
    use_cuda "$place/cuda_with_static"
    # no library of CUDA's or of C++ in what it links
    test -z "$(objdump -p "$place/cuda_with_static" | grep -E 'NEEDED *lib(cuda|stdc)' || true)"
    "$place/prefix/bin/poise-cuda" --version
fi
