#!/bin/sh
# Install the Debian packages that building and testing need, as far as they are missing.
set -eu

packages="cmake ninja-build gcc g++ clang lld clang-format clang-tidy cppcheck check pkg-config libexpat1-dev libjansson-dev
          liblapack-dev liblapacke-dev liborocos-kdl-dev libopenmpi-dev openmpi-bin python3 valgrind doxygen groff"

# node may have come from elsewhere, with npm in it
if ! command -v npm >/dev/null; then
    packages="$packages nodejs npm"
fi
# any browser of this kind will do for the tests of the studio
if ! command -v chromium >/dev/null && ! command -v google-chrome >/dev/null; then
    packages="$packages chromium"
fi

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "setup: not a Debian system, nothing installed. Needed are the counterparts of:" $packages
    exit 0
fi

missing=""
for package in $packages; do
    case $(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true) in
    *" installed") ;;
    *) missing="$missing $package" ;;
    esac
done
if [ -z "$missing" ]; then
    echo "setup: all packages are there"
    exit 0
fi

as_root=""
if [ "$(id -u)" -ne 0 ]; then
    as_root="sudo"
fi
echo "setup: installing$missing"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -q
$as_root apt-get install -q -y --no-install-recommends $missing
