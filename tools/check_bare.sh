#!/bin/bash
# First contact on a bare machine.
#
#   check_bare.sh first
#       what a first try may run into, tried here: a configuration that failed does not stand in the way of the next, nor one of a
#       folder that was moved since; without root and sudo one line says which packages are missing, to make as well, and where the
#       tool can be built, it goes on
#   check_bare.sh debian [--suite NAME] [--user] [--data FOLDER] [COMMAND...]
#       run commands of the README in a clone on a bare Debian that has make and git and nothing else, and print what each installs
#       and how long it takes
#           --suite    the release of Debian: bookworm (12, the default) or trixie (13)
#           --user     as a user who has sudo; else as root
#           --data     the data folder (docs/data.md), which the commands then find as POISE_DATA
#           COMMAND    default: 'make demo'; each command is one argument, such as 'make demo' 'make test'
#   check_bare.sh release
#       install the files of build/release (make release) and use them, each as its users would: the .deb, the static tarball, the
#       wheel and the npm package in a fresh Debian 12 without a compiler; the programs for arm64 and Windows by their emulators
#
# The bare system is made with debootstrap in a temporary folder; BASE names a folder to keep it in for the next time. The clone
# holds what is committed. Exits with 77, skipped, without root or debootstrap where they are needed.
set -euo pipefail
cd "$(dirname "$0")/.."
tools=$PWD/tools
place=$(mktemp -d)
bare=$place/bare
clean_up() {
    for mounted in dev/pts proc; do
        ! mountpoint -q "$bare/$mounted" || umount "$bare/$mounted"
    done
    rm -rf --one-file-system "$place" # whatever is still mounted
}
trap clean_up EXIT
fail() {
    echo "$*"
    exit 1
}

# ---- A first try ---------------------------------------------------------------------------------------------------------

tries_to_configure() {
    local said
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
}

# setup_in FOLDER LAYER: with the commands of FOLDER alone, as somebody who is not root
setup_in() {
    PATH=$1 /bin/sh "$tools/setup.sh" "$2"
}
tries_to_install_packages() {
    local said
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
}

first() {
    tries_to_configure
    tries_to_install_packages
}

# ---- A bare Debian -------------------------------------------------------------------------------------------------------

certificates=/etc/ssl/certs/ca-certificates.crt
data=""

# make_bare SUITE: the folder $bare
make_bare() {
    if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
        echo "skipped: needs root and debootstrap"
        exit 77
    fi
    local base=${BASE:-$place/base}
    if [ ! -d "$base" ]; then
        debootstrap --variant=minbase "$1" "$base" >"$place/log" || { tail "$place/log" && exit 1; }
    fi
    cp -a "$base" "$bare"
    cp /etc/resolv.conf "$bare/etc/"
    cp -r /etc/apt/apt.conf.d "$bare/etc/apt/" # a proxy, perhaps
    rm -f "$bare"/etc/apt/apt.conf.d/*clean
    if [ -f $certificates ]; then # and what it signs with
        mkdir -p "$bare/etc/ssl/certs"
        cp -L $certificates "$bare$certificates"
    fi
    mount -t proc proc "$bare/proc"
}

# inside HOME COMMANDS: as root
inside() {
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME="$1" LANG=C.UTF-8 NODE_EXTRA_CA_CERTS=$certificates ${JOBS:+JOBS=$JOBS} \
        ${data:+POISE_DATA=/data} chroot "$bare" sh -euc "$2"
}

# quietly COMMAND...: its last words where it fails
quietly() {
    "$@" >"$place/log" 2>&1 || { tail -n 15 "$place/log" && return 1; }
}

# packages installed, and the megabytes that they take
packages() {
    inside / "dpkg-query -W -f='\${Installed-Size}\n'" | awk '{ sum += $1 } END { printf "%d %d\n", NR, sum / 1024 }'
}

debian() {
    local suite=bookworm user=root folder=/poise status=0 summary="" count size start seconds
    while [ $# -gt 0 ]; do
        case $1 in
        --suite) suite=$2 && shift 2 ;;
        --user) user=guest && shift ;;
        --data) data=$2 && shift 2 ;;
        *) break ;;
        esac
    done
    [ $# -gt 0 ] || set -- "make demo"
    make_bare "$suite"
    mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts "$bare/dev/pts"
    ln -sf pts/ptmx "$bare/dev/ptmx" # terminals of its own
    quietly inside / "apt-get -q update && apt-get -q -y install --no-install-recommends make git"
    local home=/$user
    if [ $user != root ]; then
        quietly inside / "apt-get -q -y install --no-install-recommends sudo && useradd --create-home --home-dir $home $user
            echo '$user ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/$user"
        folder=$home/poise
    fi
    git -c safe.directory='*' clone -q . "$bare$folder"
    inside / "chown -R $user: $folder"
    if [ -n "$data" ]; then
        cp -rL "$data/" "$bare/data"
        inside / "chmod -R a+rX /data"
    fi
    as_user() { # who is not root has no other rights, and a home of one's own
        if [ $user = root ]; then
            inside / "$1"
        else
            inside / "setpriv --reuid $user --regid $user --init-groups env HOME=$home USER=$user sh -c '$1'"
        fi
    }

    for command; do
        read -r count size < <(packages)
        start=$SECONDS
        echo "== $command"
        as_user "cd $folder && $command" || status=1
        seconds=$((SECONDS - start))
        read -r count_after size_after < <(packages)
        summary+=$(printf '%-12s %5d packages %6d MB %6d s' "${command:0:40}" $((count_after - count)) $((size_after - size)) $seconds)$'\n'
    done
    printf '%s' "$summary"
    return $status
}

# ---- What a release holds ------------------------------------------------------------------------------------------------

released=$PWD/build/release
# What is asked of a tool: POISE is the command that runs it.
try='
    $POISE --version
    $POISE solve scene:arm7 --goal "position tip 0.4 0.1 0.3" >/dev/null
    $POISE convert scene:humanoid/walk walk.bvh >/dev/null
    $POISE info walk.bvh --brief | grep -q "132 frames"
    echo "{\"aim\":[1,0,0]}" | $POISE stream scene:lamp -r 50 -d 0.3 | tail -n 1 | grep -q "\"q\""'

failed=0
# check NAME COMMAND...
check() {
    local name=$1
    shift
    if quietly "$@"; then
        printf '%-9s works\n' "$name"
    else
        printf '%-9s FAILED\n' "$name"
        failed=1
    fi
}

in_release() {
    inside /release "$1"
}

# serves COMMAND...: does `poise view` give the studio?
serves() {
    rm -f "$place/view" # of the server before
    "$@" view --no-open --json >"$place/view" &
    local server=$! port="" answer=""
    for _ in $(seq 300); do
        port=$(sed -n 's/.*"port": *\([0-9]*\).*/\1/p' "$place/view" 2>/dev/null)
        [ -z "$port" ] || break
        sleep 0.1
    done
    if [ -n "$port" ] && exec 3<>"/dev/tcp/127.0.0.1/$port"; then
        printf 'GET /index.html HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nConnection: close\r\n\r\n' "$port" >&3
        read -r answer <&3
        exec 3>&-
    fi
    kill $server
    wait $server
    [[ $answer == *" 200 "* ]] || { echo "poise view: ${answer:-no answer}"; return 1; }
}

by_emulator() { # FOLDER, then what runs the program
    local folder=$1
    shift
    (cd "$folder" && POISE="$*" sh -euc "$try" && serves "$@")
}

# the C library that the package asks for is the one that its programs need
asks_for_its_library() { # PACKAGE FOLDER
    local needed
    needed=$(aarch64-linux-gnu-objdump -T "$2"/usr/bin/* "$2"/usr/lib/*.so | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
    dpkg-deb -f "$1" Depends | grep -F "libc6 (>= ${needed#GLIBC_})" || { echo "its programs need $needed" && return 1; }
}

arm64() {
    mkdir "$place/arm64" && dpkg-deb -x "$released"/poise_*_arm64.deb "$place/arm64" &&
        asks_for_its_library "$released"/poise_*_arm64.deb "$place/arm64" &&
        by_emulator "$place/arm64" qemu-aarch64-static -L /usr/aarch64-linux-gnu usr/bin/poise
}

# a program of the user's over the C library of this machine, with the libraries of the static tarball
musl_library() {
    local folder
    mkdir "$place/musl" && tar -C "$place/musl" -xzf "$released"/poise-*-linux-"$(uname -m)".tar.gz && folder=$(echo "$place"/musl/*) &&
        cc -I"$folder/include" test/install/main.c "$folder/lib/libpoise.a" -lm -o "$place/musl/static" && "$place/musl/static" &&
        cc -I"$folder/include" test/install/io.c -L"$folder/lib" -lpoise_io -lpoise_motion -lpoise -lm -o "$place/musl/shared" &&
        LD_LIBRARY_PATH=$folder/lib "$place/musl/shared"
}

# a program of the user's, with the static library and with that of Windows, which it finds beside itself
windows_library() { # FOLDER
    local cc=x86_64-w64-mingw32-gcc-posix
    $cc -I"$1/include" test/install/main.c "$1/lib/libpoise.a" -o "$1/bin/with_static.exe" && wine "$1/bin/with_static.exe" &&
        $cc -I"$1/include" test/install/main.c "$1/lib/libpoise.dll.a" -o "$1/bin/with_dll.exe" && wine "$1/bin/with_dll.exe" &&
        $cc -I"$1/include" test/install/io.c "$1/lib/libpoise_io.dll.a" "$1/lib/libpoise_motion.dll.a" "$1/lib/libpoise.dll.a" -o "$1/bin/io_with_dll.exe" &&
        wine "$1/bin/io_with_dll.exe"
}

windows() {
    local folder
    export WINEDEBUG=-all
    mkdir "$place/windows" && (cd "$place/windows" && cmake -E tar xf "$released"/poise-*-windows-x86_64.zip) &&
        folder=$(echo "$place"/windows/*) && by_emulator "$folder" wine bin/poise.exe && windows_library "$folder"
}

# what is served from a bare system is read from here
served_inside() {
    serves env -i PATH=/usr/sbin:/usr/bin:/bin chroot "$bare" "$@"
}

release() {
    make_bare bookworm
    mkdir "$bare/release"
    cp "$released"/* "$bare/release/"
    check sums in_release "cd /release && sha256sum --quiet -c SHA256SUMS"
    check musl in_release "cd /release
    tar xzf /release/poise-*-linux-*.tar.gz
    POISE=\$(echo /release/poise-*-linux-*/bin/poise)
    cd /release
    $try
    test -f /release/poise-*-linux-*/share/poise/studio/index.html
    ln -s poise-*-linux-*/ unpacked"
    check "musl lib" musl_library
    check "musl view" served_inside /release/unpacked/bin/poise
    if command -v lintian >/dev/null; then
        check lintian lintian --fail-on error "$released"/*.deb
    fi
    check deb in_release "apt-get -q update
    apt-get -q -y install --no-install-recommends /release/poise_*_$(dpkg --print-architecture).deb
    POISE=poise
    cd /release
    $try
    test -f /usr/share/poise/studio/index.html
    test -s /usr/share/doc/poise/copyright
    poise reproduce --json >/dev/null
    apt-get -q -y remove poise
    test ! -e /usr/bin/poise"
    check wheel in_release "apt-get -q -y install --no-install-recommends python3-numpy python3-pip
    pip install --break-system-packages --no-index --no-deps /release/poise_ik-*.whl
    cd /release
    python3 -c 'import poise; arm = poise.scene(\"arm7\"); q, report = arm.solve(poise.position(\"tip\", [0.4, 0.1, 0.3])); assert report.reached; print(poise.__version__)'"
    check npm in_release "apt-get -q -y install --no-install-recommends nodejs
    mkdir -p /release/app/node_modules
    cd /release/app
    tar xzf /release/poise-ik-*.tgz
    mv package node_modules/poise-ik
    test -s node_modules/poise-ik/LICENSE
    echo 'import { goals, load, Solver } from \"poise-ik\"; const arm = (await load()).scene(\"arm7\").model; const solver = new Solver(arm); const report = solver.solve([goals.position(arm.joints.length - 1, [0, 0, 0], [0.4, 0.1, 0.3])]); if (report.outcome !== \"reached\") throw new Error(report.outcome);' >a.mjs
    node a.mjs"
    check arm64 arm64
    check windows windows
    return $failed
}

case ${1-} in
first | debian | release) "$@" ;;
*) fail "check_bare.sh first | debian | release" ;;
esac
