#!/bin/bash
# check_first.sh BUILD: what a first try may run into.
#
#   configure    a configuration that failed does not stand in the way of the next, nor one of a folder that was moved since
#   setup        without root and sudo: one line says which packages are missing, to make as well; where the tool can be built, it goes on
#   install      make uninstall removes what make install put there, DESTDIR or not, whatever CPack has listed since, and says what it cannot
set -euo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
tools=$PWD/tools
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
fail() {
    echo "$*"
    exit 1
}

echo "configure:"
mkdir "$place/project"
printf 'cmake_minimum_required(VERSION 3.22)\nproject(p C)\nif(BREAK)\n message(FATAL_ERROR broken)\nendif()\n' >"$place/project/CMakeLists.txt"
! "$tools/configure.sh" "$place/built" -S "$place/project" -B "$place/built" -DBREAK=ON >/dev/null 2>&1 || fail "it should have failed"
test -f "$place/built/CMakeCache.txt"
"$tools/configure.sh" "$place/built" -S "$place/project" -B "$place/built" >/dev/null || fail "a failed configuration stands in the way"
test -f "$place/built/build.ninja" || test -f "$place/built/Makefile"
said=$("$tools/configure.sh" "$place/built" -S "$place/project" -B "$place/built") && test -z "$said" || fail "configured twice: $said"
mkdir "$place/elsewhere"
mv "$place/project" "$place/built" "$place/elsewhere/"
"$tools/configure.sh" "$place/elsewhere/built" -S "$place/elsewhere/project" -B "$place/elsewhere/built" >/dev/null ||
    fail "a folder that was moved stands in the way"
cmake --build "$place/elsewhere/built" >/dev/null || fail "a folder that was moved cannot be built"

# setup_in FOLDER LAYER: with the commands of FOLDER alone, as somebody who is not root
setup_in() {
    PATH=$1 /bin/sh "$tools/setup.sh" "$2"
}
echo "setup:"
mkdir "$place/few" "$place/tool"
for command in tr mktemp rm tail cat; do
    ln -s "$(command -v $command)" "$place/few/"
done
printf '#!/bin/sh\necho 1000\n' >"$place/few/id"
printf '#!/bin/sh\nexit 1\n' >"$place/few/dpkg-query"
printf '#!/bin/sh\nexit 1\n' >"$place/few/apt-get"
chmod +x "$place/few"/{id,dpkg-query,apt-get}
cp -P "$place/few"/* "$place/tool/"
ln -s /bin/true "$place/tool/cmake"
ln -s /bin/true "$place/tool/cc"
said=$(setup_in "$place/few" tool) && fail "it went on without a compiler: $said"
grep -q 'you are not root and there is no sudo; ask an administrator to run: apt-get install cmake gcc libc6-dev' <<<"$said" || fail "$said"
grep -q 'any CMake from 3.22 on and any C compiler will do' <<<"$said" || fail "$said"
said=$(PATH=$place/few /bin/sh "$tools/configure.sh" "$place/none" --preset release 2>&1) && fail "it went on without CMake: $said"
grep -q 'CMake or a C compiler is missing: make demo' <<<"$said" || fail "$said"
said=$(setup_in "$place/few" web) && fail "it went on without a compiler: $said"
grep -q 'apt-get install .*libc6-dev clang lld nodejs npm' <<<"$said" || fail "$said"
said=$(setup_in "$place/tool" test) || fail "it stopped though the tool can be built: $said"
grep -q 'going on without' <<<"$said" || fail "$said"
said=$(setup_in "$place/tool" python) && fail "it went on without Python: $said"
grep -q 'make python cannot do without python3 python3-dev' <<<"$said" || fail "$said"

echo "install:"
kept=$place/of_another
touch "$kept"
"$tools/install.sh" "$build" "$place/prefix" >"$place/said"
test -f "$place/prefix/share/zsh/site-functions/_poise" || fail "zsh does not find its completions"
mv "$build/installed.txt" "$place/installed.txt"
grep -q "LD_LIBRARY_PATH=$place/prefix/lib" "$place/said" || fail "nothing says where libpoise.so is"
test -x "$place/prefix/bin/poise"
echo "$kept" >"$build/install_manifest.txt" # as CPack does
cmake -DMANIFEST="$place/installed.txt" -P cmake/uninstall.cmake >/dev/null
rm "$build/install_manifest.txt"
test -e "$kept" || fail "a file of another program was removed"
test ! -e "$place/prefix" || fail "left behind: $(find "$place/prefix")"

DESTDIR=$place/root "$tools/install.sh" "$build" /opt/of_poise >/dev/null
mv "$build/installed.txt" "$place/installed.txt"
test -x "$place/root/opt/of_poise/bin/poise"
cmake -DMANIFEST="$place/installed.txt" -P cmake/uninstall.cmake >/dev/null
left=$(find "$place/root" ! -type d)
test -z "$left" || fail "left behind: $left"

mkdir "$place/stays"
echo "$place/stays" >"$place/installed.txt"
said=$(cmake -DMANIFEST="$place/installed.txt" -P cmake/uninstall.cmake 2>&1) && fail "not removed, and not said: $said"
grep -q 'stays could not be removed' <<<"$said" || fail "$said"
test -f "$place/installed.txt" || fail "the list is gone though its files are not"
