#!/bin/sh
# install.sh BUILD PREFIX: install, keep the list of files for `make uninstall`, and let programs find libpoise.so.
#
# The list has a name of its own, because CPack writes install_manifest.txt, too, with the files of a package that this machine
# may have installed.
set -eu
build=$1
prefix=$2
cmake --install "$build" --prefix "$prefix"
mv "$build/install_manifest.txt" "$build/installed.txt"

folder=$(dirname "$(grep '/libpoise\.so$' "$build/installed.txt")")
[ -z "${DESTDIR-}" ] || exit 0
if [ "$(id -u)" -eq 0 ] && ldconfig -v -N 2>/dev/null | grep -q "^$folder:"; then
    ldconfig
else
    echo "Programs that link libpoise.so find it with LD_LIBRARY_PATH=$folder; those that link libpoise.a need nothing."
fi
