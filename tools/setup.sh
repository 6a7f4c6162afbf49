#!/bin/sh
# Install the Debian packages that are missing for one layer of the build:
#
#   setup.sh tool      CMake and a C compiler, all that the tool needs (make demo)
#   setup.sh test      and what the tests need (make test)
#   setup.sh web       or what the npm package and the studio need (make web)
#   setup.sh python    or what the Python package needs (make python)
#   setup.sh blender   or what the test of the Blender add-on needs, 1 GB (make nightly)
#   setup.sh debug     or what counting Python's references needs (make nightly)
#   setup.sh package   or what a Debian package with the studio in it needs (make package)
#   setup.sh release   or what all files of a release need (make release)
#   setup.sh all       or everything: linters, sanitizers, browser, MPI, baselines of the benchmarks (.ci/run)
#
# Fails only where the tool itself could not be built, or nothing of what make was asked for; tests that miss something are left out
# and say so.
set -eu

# Each need is a package, or COMMAND=PACKAGE,PACKAGE... where the command may come from elsewhere.
for_tool="cmake=cmake cc=gcc,libc6-dev"
for_package="file=file dpkg-shlibdeps=dpkg-dev"
for_python="python3-dev python3-numpy"
for_test="ninja=ninja-build python3=python3 c++=g++ pkg-config=pkg-config libexpat1-dev libjansson-dev
    liblapack-dev liblapacke-dev $for_python python3-pytest $for_package"
for_web="clang=clang wasm-ld=lld node=nodejs npm=npm zopfli=zopfli"
for_cross="aarch64-linux-gnu-gcc=gcc-aarch64-linux-gnu,libc6-dev-arm64-cross qemu-aarch64-static=qemu-user-static
    musl-gcc=musl-tools"
for_all="ccache=ccache clang-format=clang-format clang-tidy=clang-tidy libclang-rt-14-dev cppcheck=cppcheck doxygen=doxygen groff=groff
    $for_cross gcc-11=gcc-11 valgrind=valgrind chromium-headless-shell=chromium-headless-shell python3-torch python3-mypy
    python3-pandas python3-matplotlib liborocos-kdl-dev libfcl-dev libopenmpi-dev mpirun=openmpi-bin"
layer=${1:-tool}
vital=$for_tool # without which nothing comes of it
case $layer in
tool) needs=$for_tool ;;
test) needs="$for_tool $for_test" ;;
web) needs="$for_tool $for_web" && vital=$needs ;;
python) needs="$for_tool $for_python" && vital="$for_tool python3=python3 python3-config=python3-dev" ;;
debug) needs="$for_tool $for_test python3-dbg=python3-dbg" ;;
blender) needs="$for_tool $for_test blender=blender" ;;
package) needs="$for_tool $for_web $for_package" && vital="$for_tool $for_package" ;;
release) needs="$for_tool $for_web $for_package $for_python $for_cross
    x86_64-w64-mingw32-gcc-posix=gcc-mingw-w64-x86-64" ;;
all) needs="$for_tool $for_test $for_web $for_all" ;;
*) echo "usage: setup.sh tool|test|web|python|blender|debug|package|release|all" && exit 2 ;;
esac

# installed PACKAGE
installed() {
    case $(dpkg-query -W -f='${Status}' "$1" 2>/dev/null) in
    *" installed") return 0 ;;
    *) return 1 ;;
    esac
}

# lacking NEEDS...: the packages that are missing, each after a space
lacking() {
    for need; do
        packages=$(echo "${need#*=}" | tr , ' ')
        found=no
        case $need in
        *=*)
            for command in $(echo "${need%%=*}" | tr '|' ' '); do
                ! command -v "$command" >/dev/null || found=yes
            done
            ;;
        *) ! installed "$need" || found=yes ;;
        esac
        [ $found = yes ] || printf ' %s' $packages
    done
}

missing=$(lacking $needs)
if [ -z "$missing" ]; then
    echo "setup: nothing is missing"
    exit 0
fi

# cannot REASON WAY: go on without the packages if something comes of it all the same
cannot() {
    echo "setup: $1; $2$missing"
    if [ -n "$(lacking $for_tool)" ]; then
        echo "setup: the tool alone needs$(lacking $for_tool); any CMake from 3.22 on and any C compiler will do: cmake -B build && cmake --build build --target poise"
        exit 1
    fi
    if [ -n "$(lacking $vital)" ]; then
        echo "setup: make $layer cannot do without$(lacking $vital)"
        exit 1
    fi
    echo "setup: going on without; what needs them is left out"
    exit 0
}

command -v apt-get >/dev/null || cannot "this is not Debian or Ubuntu" "install by other means what these packages hold:"
as_root=""
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || cannot "you are not root and there is no sudo" "ask an administrator to run: apt-get install"
    as_root="sudo"
fi
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# tell_size PACKAGES...: how much there is to wait for. The last two words are those of apt 3.
tell_size() {
    $as_root env LC_ALL=C apt-get install --assume-no --no-install-recommends "$@" 2>/dev/null | awk '
        /^Need to get /           { download = $4 " " $5 }
        /^After this operation, / { disk = $4 " " $5 }
        /Download size: /         { download = $3 " " $4 }
        /Space needed: /          { disk = $3 " " $4 }
        END { if (download) print "setup: " download " to download, " disk " on disk" }'
}

# install: what is missing and known here; other releases lack a package or two
install() {
    $as_root apt-get update -q || return 1
    known=""
    for package in $missing; do
        ! apt-cache show "$package" >/dev/null || known="$known $package"
    done
    tell_size $known >&3
    $as_root apt-get install -q -y --no-install-recommends $known
}

echo "setup: installing$missing"
exec 3>&1
if ! install >"$log" 2>&1; then
    tail -n 5 "$log"
    cannot "apt-get failed (is there a network?)" "missing:"
fi
