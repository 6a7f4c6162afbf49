#!/bin/bash
# Install the files of build/release (make release) and use them, each as its users would: the .deb, the static tarball, the wheel and
# the npm package in a fresh Debian 12 without a compiler; the programs for arm64 and Windows by their emulators.
#
#   check_release.sh      BASE names a folder to keep the bare system in, as for check_bare.sh
#
# Exits with 77, skipped, without root or debootstrap; with 1 where a file is missing or does not work.
set -uo pipefail
cd "$(dirname "$0")/.."
if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
    echo "skipped: needs root and debootstrap"
    exit 77
fi
release=$PWD/build/release
place=$(mktemp -d)
bare=$place/bare
clean_up() {
    ! mountpoint -q "$bare/proc" || umount "$bare/proc"
    rm -rf --one-file-system "$place" # whatever is still mounted
}
trap clean_up EXIT
base=${BASE:-$place/base}
if [ ! -d "$base" ]; then
    debootstrap --variant=minbase bookworm "$base" >"$place/log" || { tail "$place/log" && exit 1; }
fi
cp -a "$base" "$bare"
cp /etc/resolv.conf "$bare/etc/"
cp -r /etc/apt/apt.conf.d "$bare/etc/apt/" # a proxy, perhaps
rm -f "$bare"/etc/apt/apt.conf.d/*clean
mount -t proc proc "$bare/proc"
mkdir "$bare/release"
cp "$release"/* "$bare/release/"

inside() {
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/release LANG=C.UTF-8 chroot "$bare" sh -euc "$1"
}
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
    if "$@" >"$place/log" 2>&1; then
        printf '%-9s works\n' "$name"
    else
        printf '%-9s FAILED\n' "$name"
        tail -n 15 "$place/log"
        failed=1
    fi
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
    mkdir "$place/arm64" && dpkg-deb -x "$release"/poise_*_arm64.deb "$place/arm64" &&
        asks_for_its_library "$release"/poise_*_arm64.deb "$place/arm64" &&
        by_emulator "$place/arm64" qemu-aarch64-static -L /usr/aarch64-linux-gnu usr/bin/poise
}

# a program of the user's over the C library of this machine, with the libraries of the static tarball
musl_library() {
    local folder
    mkdir "$place/musl" && tar -C "$place/musl" -xzf "$release"/poise-*-linux-"$(uname -m)".tar.gz && folder=$(echo "$place"/musl/*) &&
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
    mkdir "$place/windows" && (cd "$place/windows" && cmake -E tar xf "$release"/poise-*-windows-x86_64.zip) &&
        folder=$(echo "$place"/windows/*) && by_emulator "$folder" wine bin/poise.exe && windows_library "$folder"
}

# what is served from a bare system is read from here
served_inside() {
    serves env -i PATH=/usr/sbin:/usr/bin:/bin chroot "$bare" "$@"
}

check sums inside "cd /release && sha256sum --quiet -c SHA256SUMS"
check musl inside "cd /release
    tar xzf /release/poise-*-linux-*.tar.gz
    POISE=\$(echo /release/poise-*-linux-*/bin/poise)
    cd /release
    $try
    test -f /release/poise-*-linux-*/share/poise/studio/index.html
    ln -s poise-*-linux-*/ unpacked"
check "musl lib" musl_library
check "musl view" served_inside /release/unpacked/bin/poise
if command -v lintian >/dev/null; then
    check lintian lintian --fail-on error "$release"/*.deb
fi
check deb inside "apt-get -q update
    apt-get -q -y install --no-install-recommends /release/poise_*_$(dpkg --print-architecture).deb
    POISE=poise
    cd /release
    $try
    test -f /usr/share/poise/studio/index.html
    test -s /usr/share/doc/poise/copyright
    poise reproduce --json >/dev/null
    apt-get -q -y remove poise
    test ! -e /usr/bin/poise"
check wheel inside "apt-get -q -y install --no-install-recommends python3-numpy python3-pip
    pip install --break-system-packages --no-index --no-deps /release/poise_ik-*.whl
    cd /release
    python3 -c 'import poise; arm = poise.scene(\"arm7\"); q, report = arm.solve(poise.position(\"tip\", [0.4, 0.1, 0.3])); assert report.reached; print(poise.__version__)'"
check npm inside "apt-get -q -y install --no-install-recommends nodejs
    mkdir -p /release/app/node_modules
    cd /release/app
    tar xzf /release/poise-ik-*.tgz
    mv package node_modules/poise-ik
    test -s node_modules/poise-ik/LICENSE
    echo 'import { goals, load, Solver } from \"poise-ik\"; const arm = (await load()).scene(\"arm7\").model; const solver = new Solver(arm); const report = solver.solve([goals.position(arm.joints.length - 1, [0, 0, 0], [0.4, 0.1, 0.3])]); if (report.outcome !== \"reached\") throw new Error(report.outcome);' >a.mjs
    node a.mjs"
check arm64 arm64
check windows windows
exit $failed
