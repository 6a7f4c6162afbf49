#!/bin/sh
# check_package.sh BUILD: make the Debian package, unpack it into an empty folder, and use what is in it: the tool, its manual
# pages, the library. Then install into another folder and uninstall: nothing is left.
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
source=$PWD
for program in dpkg-deb dpkg-shlibdeps file; do
    if ! command -v $program >/dev/null; then
        echo "skipped: no $program, which a Debian package needs (Debian: dpkg-dev file)"
        exit 77
    fi
done

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
version=$("$build/bin/poise" --version | cut -d' ' -f2)

echo "package:"
(cd "$place" && cpack --config "$build/CPackConfig.cmake" -B "$place/packed" >/dev/null)
package=$(echo "$place"/packed/poise_"$version"_*.deb)
test "$(dpkg-deb -f "$package" Version)" = "$version"
dpkg-deb -f "$package" Depends
# the description promises the studio if and only if it is in there
if [ -f "$build/studio/index.html" ]; then has_studio=1; else has_studio=0; fi
test "$(dpkg-deb -f "$package" Description | grep -c studio || true)" -eq $has_studio
test "$(dpkg-deb -c "$package" | grep -c 'share/poise/studio/index.html$' || true)" -eq $has_studio
dpkg-deb -x "$package" "$place/root"

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

echo "uninstall:"
DESTDIR="" cmake --install "$build" --prefix "$place/prefix" >/dev/null
mv "$build/install_manifest.txt" "$place/installed.txt"
test -x "$place/prefix/bin/poise"
cmake -DMANIFEST="$place/installed.txt" -P "$source/cmake/uninstall.cmake" >/dev/null
left=$(find "$place/prefix" ! -type d)
if [ -n "$left" ] || find "$place/prefix" -iname '*poise*' | grep -q .; then
    echo "left behind: $left"
    find "$place/prefix" -iname '*poise*'
    exit 1
fi
