#!/bin/bash
# All files of a release, in build/release, with their checksums (make release):
#
#   release.sh [PART...]     deb arm64 musl windows npm wheel; default: all
#
#   deb      poise_VERSION_amd64.deb, or for the processor of this machine
#   arm64    poise_VERSION_arm64.deb
#   musl     poise-VERSION-linux-x86_64.tar.gz: static programs, which run on any Linux
#   windows  poise-VERSION-windows-x86_64.zip
#   npm      poise-ik-VERSION.tgz
#   wheel    poise_ik-VERSION-*.whl, for any Python from 3.9 on
#
# Ends with 1 when a part could not be made; the others are there all the same. tools/check_bare.sh release installs and uses them.
set -uo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- deb arm64 musl windows npm wheel
jobs=${JOBS:-$(nproc)}
out=$PWD/build/release
work=$PWD/build/release-work
version=$(sed -n 's/^#define POISE_VERSION_\(MAJOR\|MINOR\|PATCH\) \([0-9]*\)$/\2/p' include/poise/base.h | paste -s -d.)
mkdir -p "$out" "$work"

# studio: the pages that every package holds, once
studio() {
    [ -n "${studio_made-}" ] || { web/build.sh && web/studio/build.sh "$PWD/build/studio"; } || return 1
    studio_made=yes
}

# build SYSTEM: what is installed, without tests, in a folder of its own
build() {
    command -v "$2" >/dev/null || { echo "no $2: tools/setup.sh release installs it"; return 1; }
    tools/configure.sh "$work/$1" --preset "$1" -B "$work/$1" -DBUILD_TESTING=OFF -DPOISE_BUILD_BENCH=OFF \
        -DPOISE_BUILD_CUDA=OFF -DPOISE_BUILD_MPI=OFF -DPOISE_BUILD_PYTHON=OFF &&
        cmake --build "$work/$1" -j "$jobs" && rm -rf "$work/$1/studio" && cp -r build/studio "$work/$1/studio"
}

# tree SYSTEM NAME: what is installed, as a folder to pack
tree() {
    rm -rf "${work:?}/$2" "$work/tree" && mkdir "$work/tree" &&
        cmake --install "$work/$1" --prefix "$work/tree/$2" --strip >"$work/$1.log" && cp LICENSE CHANGELOG.md "$work/tree/$2/" &&
        first_words "$1" >"$work/tree/$2/README.txt"
}

# first_words SYSTEM: for whoever unpacks an archive
first_words() {
    local poise=bin/poise line=cat
    [ "$1" != windows ] || { poise='bin\poise.exe' && line='sed s/$/\r/'; }
    $line <<END
Poise $version: inverse kinematics with exact second derivatives

Nothing needs to be installed: the programs run from this folder, wherever it is.

  $poise demo
      four jobs on its own scenes
  $poise help
      the commands
  $poise view
      the studio, in the browser

include and lib hold the C library, static and shared, with a CMake package and pkg-config files; share holds the studio, manual
pages, and completions for bash and zsh. LICENSE is the licence, CHANGELOG.md says what changed.
END
}

package() {
    (cd "$work/$1" && cpack -B "$work/$1/packed" >"$work/$1.log") && cp "$work/$1"/packed/*.deb "$out/"
}

make_deb() {
    studio && build release cc && package release
}

make_arm64() {
    studio && build arm64 aarch64-linux-gnu-gcc && package arm64
}

make_musl() {
    local name=poise-$version-linux-$(uname -m)
    studio && build musl musl-gcc && tree musl "$name" &&
        tar -C "$work/tree" --sort=name --owner=0 --group=0 --numeric-owner -czf "$out/$name.tar.gz" "$name"
}

make_windows() {
    local name=poise-$version-windows-x86_64
    studio && build windows x86_64-w64-mingw32-gcc-posix && tree windows "$name" &&
        (cd "$work/tree" && cmake -E tar cf "$out/$name.zip" --format=zip "$name")
}

make_npm() {
    studio && (cd web && npm pack --ignore-scripts --pack-destination "$out" >/dev/null)
}

make_wheel() {
    local wheel
    wheel=$(make python | tail -n 1) && test -f "$wheel" && cp "$wheel" "$out/"
}

failed=""
for part; do
    echo "== $part"
    "make_$part" || failed+=" $part"
done
files=$(ls "$out" | grep -v SHA256SUMS)
[ -z "$files" ] || (cd "$out" && sha256sum $files >SHA256SUMS && cat SHA256SUMS)
if [ -n "$failed" ]; then
    echo "not made:$failed"
    exit 1
fi
