#!/bin/sh
# install.sh BUILD PREFIX: install, below $DESTDIR if that is set, keep the list of files for `make uninstall`, and of the folders
# made for them (those end with a slash), and let programs find libpoise.so.
#
# The list has a name of its own, because CPack writes install_manifest.txt, too, with the files of a package that this machine
# may have installed.
set -eu
build=$1
case $2 in
/*) prefix=$2 ;;
*) prefix=$PWD/$2 ;;
esac
root=${DESTDIR-}
place=$root$prefix
while [ ! -e "$place" ]; do
    place=$(dirname "$place")
done
if [ ! -w "$place" ]; then
    echo "$place is not writable: sudo make install, or make install PREFIX=<a folder of yours>" >&2
    exit 1
fi
before=$(mktemp)
trap 'rm -f "$before"' EXIT
find "$root$prefix" -type d >"$before" 2>/dev/null || true
cmake --install "$build" --prefix "$prefix"
root=$root awk '{ print ENVIRON["root"] $0 }' "$build/install_manifest.txt" >"$build/installed.new"
top=$root$prefix awk '
    FILENAME == ARGV[1] { is_old[$0] = 1; next }
    {
        folder = $0
        while (sub("/[^/]*$", "", folder) && length(folder) >= length(ENVIRON["top"]) && !is_old[folder]) {
            is_old[folder] = 1
            print folder "/"
        }
    }' "$before" "$build/installed.new" >"$build/folders.new"
cat "$build/folders.new" >>"$build/installed.new"
rm -f "$build/folders.new"
rm -f "$build/install_manifest.txt"
mv -f "$build/installed.new" "$build/installed.txt"

[ -z "$root" ] || exit 0
library=$(grep '/libpoise\.so$' "$build/installed.txt") || exit 0 # macOS
folder=$(dirname "$library")
PATH=$PATH:/usr/sbin:/sbin # which root may lack after su
if [ "$(id -u)" -eq 0 ] && ldconfig -v -N 2>/dev/null | grep -q "^$folder:"; then
    ldconfig
else
    echo "To build with this library: export PKG_CONFIG_PATH=$folder/pkgconfig, or cmake -DCMAKE_PREFIX_PATH=$prefix."
    echo "Programs that link libpoise.so find it with LD_LIBRARY_PATH=$folder; those that link libpoise.a need nothing."
fi
