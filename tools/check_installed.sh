#!/bin/bash
# What is installed works, elsewhere too, and can be removed: check_installed.sh PART BUILD
#
#   install      install into an empty folder, move it, then build and run test/install/*.c and samples/cuda/cuda_poses.c, where
#                there is CUDA, against it: by the CMake package and by pkg-config, static and shared; and with Poise as a
#                subfolder of a project
#   package      make the Debian package, unpack it, and use what is in it: the tool, its manual pages, the library
#   uninstall    make uninstall removes what was installed, by make install or by cmake, DESTDIR or not, whatever CPack has listed
#                since, and says what it cannot
#   hardening    programs move from run to run and check their strings and stack; they and the libraries have read-only
#                relocations and no executable stack (cmake/harden.cmake)
#
# CC is the compiler of the user's programs.
set -euo pipefail
part=${1-}
build=$(cd "${2:?check_installed.sh PART BUILD}" && pwd)
cd "$(dirname "$0")/.."
source=$PWD
cc=${CC:-cc}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
fail() {
    echo "$*"
    exit 1
}
quietly() { # but for the last words of what fails
    "$@" >"$place/log" 2>&1 || { tail -n 15 "$place/log" && exit 1; }
}

# ---- A user's program ----------------------------------------------------------------------------------------------------

strict="-std=c11 -Wall -Wextra -Wpedantic -Werror"

# by_pkg_config NAME MODULE: the program test/install/NAME.c with the shared and the static libraries
by_pkg_config() {
    $cc $strict "$source/test/install/$1.c" $(pkg-config --cflags --libs "$2") -lm -o "$place/$1_with_shared"
    LD_LIBRARY_PATH=$(pkg-config --variable=libdir poise) "$place/$1_with_shared"
    $cc $strict -static "$source/test/install/$1.c" $(pkg-config --static --cflags --libs "$2") -o "$place/$1_with_static"
    "$place/$1_with_static"
}

needed() {
    objdump -p "$1" | sed -n 's/^ *NEEDED *//p'
}

# a device is not needed: a program that finds none says so
use_cuda() {
    "$1" | tee "$place/said" || true
    grep -q -E '^(10000 of 10000 reached as problems|there is no CUDA device.*)$' "$place/said"
}

install() {
    local with_cuda=OFF with_io=OFF name parts="motion papers" folder
    quietly cmake --install "$build" --prefix "$place/first"
    # poise_cuda is a component of its own, where it was built
    test -z "$(find "$place/first" -iname '*cuda*')"
    if [ -f "$build/cuda/libpoise_cuda.a" ]; then
        with_cuda=ON
        quietly cmake --install "$build" --prefix "$place/first" --component cuda
    fi
    # moved, since nothing installed may depend on where it was put first
    mv "$place/first" "$place/prefix"
    # a build without poise_io installs none of it
    if [ -f "$place/prefix/include/poise/io.h" ]; then
        with_io=ON
        parts+=" io"
    fi

    for folder in find_package subfolder; do
        echo "$folder:"
        if [ $folder = find_package ]; then
            set -- -DCMAKE_PREFIX_PATH="$place/prefix" -DWITH_CUDA=$with_cuda
        else
            set -- -DPOISE_FOLDER="$source"
        fi
        quietly tools/configure.sh "$place/$folder" -S "$source/test/install" -B "$place/$folder" -DCMAKE_C_COMPILER="$cc" -DWITH_IO=$with_io "$@"
        quietly cmake --build "$place/$folder"
        for name in with_static with_shared; do
            "$place/$folder/$name"
        done
        for name in $parts; do
            "$place/$folder/${name}_with_static"
            "$place/$folder/${name}_with_shared"
        done
    done
    [ $with_cuda = OFF ] || use_cuda "$place/find_package/cuda_with_static"

    echo "pkg-config:"
    PKG_CONFIG_PATH=$(dirname "$(find "$place/prefix" -name poise.pc)")
    export PKG_CONFIG_PATH
    unset PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR
    by_pkg_config main poise
    for name in $parts; do
        by_pkg_config "$name" "poise_$name"
    done

    # the programs are what they claim to be
    needed "$place/main_with_shared" | grep -q '^libpoise\.so'
    needed "$place/find_package/with_shared" | grep -q '^libpoise\.so'
    test -z "$(needed "$place/find_package/with_static" | grep libpoise)"
    test "$(pkg-config --modversion poise)" = "$("$place/main_with_static" --version)"
    if [ $with_io = ON ]; then
        needed "$place/io_with_shared" | grep -q '^libpoise_io\.so'
        needed "$place/find_package/io_with_shared" | grep -q '^libpoise_io\.so'
        test -z "$(needed "$place/find_package/io_with_static" | grep libpoise)"
    fi
    if [ $with_cuda = ON ]; then
        $cc $strict "$source/samples/cuda/cuda_poses.c" $(pkg-config --cflags --libs poise_cuda) -o "$place/cuda_with_static"
        use_cuda "$place/cuda_with_static"
        # no library of CUDA's or of C++ in what it links
        test -z "$(needed "$place/cuda_with_static" | grep -E 'lib(cuda|stdc)')"
        "$place/prefix/bin/poise-cuda" --version
    fi
}

# ---- The Debian package --------------------------------------------------------------------------------------------------

package() {
    local program version has_studio=0 deb page
    for program in dpkg-deb dpkg-shlibdeps file; do
        command -v $program >/dev/null || { echo "skipped: no $program, which a Debian package needs (Debian: dpkg-dev file)"; exit 77; }
    done
    version=$("$build/bin/poise" --version | cut -d' ' -f2)
    (cd "$place" && cpack --config "$build/CPackConfig.cmake" -B "$place/packed" >/dev/null)
    deb=$(echo "$place"/packed/poise_"$version"_*.deb)
    test "$(dpkg-deb -f "$deb" Version)" = "$version"
    dpkg-deb -f "$deb" Depends
    # the description promises the studio if and only if it is in there
    [ ! -f "$build/studio/index.html" ] || has_studio=1
    test "$(dpkg-deb -f "$deb" Description | grep -c studio || true)" -eq $has_studio
    test "$(dpkg-deb -c "$deb" | grep -c 'share/poise/studio/index.html$' || true)" -eq $has_studio
    dpkg-deb -x "$deb" "$place/root"

    # only what is in the package, but for the libraries that it depends on
    env -i PATH="$place/root/usr/bin:/usr/bin:/bin" LD_LIBRARY_PATH="$place/root/usr/lib" sh -eu -c '
        command -v poise | grep -q "^'"$place"'/"
        poise --version
        poise info scene:arm7 --brief >/dev/null
        poise help info >/dev/null
        poise reproduce --json | grep -q hessian-table3'
    for page in poise poise-info; do
        test -s "$place/root/usr/share/man/man1/$page.1" || test -s "$place/root/usr/share/man/man1/$page.1.gz"
    done
    cc -I"$place/root/usr/include" "$source/test/install/main.c" -L"$place/root/usr/lib" -lpoise -lm -o "$place/program"
    LD_LIBRARY_PATH="$place/root/usr/lib" "$place/program"
}

# ---- Removed again -------------------------------------------------------------------------------------------------------

remove() { # what stands in the list
    cmake -DMANIFEST="$place/installed.txt" -P cmake/uninstall.cmake
}

uninstall() {
    local kept=$place/of_another left said
    touch "$kept"
    tools/install.sh "$build" "$place/prefix" >"$place/said"
    test -f "$place/prefix/share/zsh/site-functions/_poise" || fail "zsh does not find its completions"
    mv "$build/installed.txt" "$place/installed.txt"
    grep -q "LD_LIBRARY_PATH=$place/prefix/lib" "$place/said" || fail "nothing says where libpoise.so is"
    test -x "$place/prefix/bin/poise"
    echo "$kept" >"$build/install_manifest.txt" # as CPack does
    remove >/dev/null
    rm "$build/install_manifest.txt"
    test -e "$kept" || fail "a file of another program was removed"
    test ! -e "$place/prefix" || fail "left behind: $(find "$place/prefix")"

    DESTDIR=$place/root tools/install.sh "$build" /opt/of_poise >/dev/null
    mv "$build/installed.txt" "$place/installed.txt"
    test -x "$place/root/opt/of_poise/bin/poise"
    remove >/dev/null
    left=$(find "$place/root" ! -type d)
    test -z "$left" || fail "left behind: $left"

    DESTDIR="" cmake --install "$build" --prefix "$place/prefix" >/dev/null
    mv "$build/install_manifest.txt" "$place/installed.txt"
    test -x "$place/prefix/bin/poise"
    remove >/dev/null
    left=$(find "$place/prefix" \( ! -type d -o -iname '*poise*' \) 2>/dev/null || true)
    test -z "$left" || fail "left behind: $left"

    mkdir "$place/stays"
    echo "$place/stays" >"$place/installed.txt"
    said=$(remove 2>&1) && fail "not removed, and not said: $said"
    grep -q 'stays could not be removed' <<<"$said" || fail "$said"
    test -f "$place/installed.txt" || fail "the list is gone though its files are not"
}

# ---- Hardened ------------------------------------------------------------------------------------------------------------

# demand FILE WHAT PATTERN COMMAND...: the output of the command has a line like the pattern
failed=0
demand() {
    local file=$1 what=$2 pattern=$3
    shift 3
    if ! "$@" "$file" | grep -E "$pattern" >/dev/null; then
        echo "$file: $what"
        failed=1
    fi
}

hardening() {
    local program=$build/bin/poise file
    demand "$program" "not a position-independent executable" 'FLAGS_1.*PIE' readelf -dW
    demand "$program" "no checked string functions" '__[a-z]*printf_chk' nm -D
    demand "$program" "no stack protector" '__stack_chk_fail' nm -D
    for file in "$program" "$build"/libpoise.so "$build"/libpoise_*.so; do
        [[ $file != *_cuda.so ]] || continue # holds CUDA's runtime
        demand "$file" "relocations are not bound at once" 'BIND_NOW' readelf -dW
        demand "$file" "relocations stay writable" 'GNU_RELRO' readelf -lW
        demand "$file" "an executable stack" 'GNU_STACK.* RW ' readelf -lW
    done
    exit $failed
}

case $part in
install | package | uninstall | hardening) $part ;;
*) fail "check_installed.sh install | package | uninstall | hardening BUILD" ;;
esac
