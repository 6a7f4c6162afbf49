#!/bin/sh
# install.sh BUILD PREFIX: install, below $DESTDIR if that is set, keep the list of files for `make uninstall`, and let programs
# find libpoise.so.
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
    echo "$place may not be written: sudo make install, or make install PREFIX=<a folder of yours>" >&2
    exit 1
fi
cmake --install "$build" --prefix "$prefix"
root=$root awk '{ print ENVIRON["root"] $0 }' "$build/install_manifest.txt" >"$build/installed.new"
rm -f "$build/install_manifest.txt"
mv -f "$build/installed.new" "$build/installed.txt"

[ -z "$root" ] || exit 0
library=$(grep '/libpoise\.so$' "$build/installed.txt") || exit 0 # macOS
folder=$(dirname "$library")
PATH=$PATH:/usr/sbin:/sbin # which root may lack after su
if [ "$(id -u)" -eq 0 ] && ldconfig -v -N 2>/dev/null | grep -q "^$folder:"; then
    ldconfig
else
    echo "Programs that link libpoise.so find it with LD_LIBRARY_PATH=$folder; those that link libpoise.a need nothing."
fi
