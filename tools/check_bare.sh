#!/bin/bash
# First contact: run commands of the README in a clone on a bare Debian that has make and git and nothing else, and print what
# each installs and how long it takes.
#
#   check_bare.sh [--suite NAME] [--user] [--data FOLDER] [COMMAND...]
#
#   --suite    the release of Debian: bookworm (12, the default) or trixie (13)
#   --user     as a user who has sudo; else as root
#   --data     the data folder (docs/data.md), which the commands then find as POISE_DATA
#   COMMAND    default: 'make demo'; each command is one argument, such as 'make demo' 'make test'
#
# The bare system is made with debootstrap in a temporary folder; BASE names a folder to keep it in for the next time. The clone
# holds what is committed. Exits with 77, skipped, without root or debootstrap.
set -euo pipefail
cd "$(dirname "$0")/.."
suite=bookworm
user=root
data=""
while [ $# -gt 0 ]; do
    case $1 in
    --suite) suite=$2 && shift 2 ;;
    --user) user=guest && shift ;;
    --data) data=$2 && shift 2 ;;
    *) break ;;
    esac
done
if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
    echo "skipped: needs root and debootstrap"
    exit 77
fi
[ $# -gt 0 ] || set -- "make demo"

place=$(mktemp -d)
bare=$place/bare
clean_up() {
    for mounted in dev/pts proc; do
        ! mountpoint -q "$bare/$mounted" || umount "$bare/$mounted"
    done
    rm -rf --one-file-system "$place" # whatever is still mounted
}
trap clean_up EXIT
base=${BASE:-$place/base}
if [ ! -d "$base" ]; then
    debootstrap --variant=minbase $suite "$base" >"$place/log" || { tail "$place/log" && exit 1; }
fi
cp -a "$base" "$bare"
cp /etc/resolv.conf "$bare/etc/"
cp -r /etc/apt/apt.conf.d "$bare/etc/apt/" # a proxy, perhaps
rm -f "$bare"/etc/apt/apt.conf.d/*clean
certificates=/etc/ssl/certs/ca-certificates.crt # and what it signs with
if [ -f $certificates ]; then
    mkdir -p "$bare/etc/ssl/certs"
    cp -L $certificates "$bare$certificates"
fi
mount -t proc proc "$bare/proc"
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts "$bare/dev/pts"
ln -sf pts/ptmx "$bare/dev/ptmx" # terminals of its own

inside() { # as root
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/ LANG=C.UTF-8 NODE_EXTRA_CA_CERTS=$certificates ${JOBS:+JOBS=$JOBS} ${data:+POISE_DATA=/data} chroot "$bare" sh -c "$1"
}
# packages installed, and the megabytes that they take
packages() {
    inside "dpkg-query -W -f='\${Installed-Size}\n'" | awk '{ sum += $1 } END { printf "%d %d\n", NR, sum / 1024 }'
}
inside "apt-get -q update && apt-get -q -y install --no-install-recommends make git" >"$place/log" 2>&1 ||
    { tail "$place/log" && exit 1; }
folder=/poise
home=/$user
if [ $user != root ]; then
    inside "apt-get -q -y install --no-install-recommends sudo && useradd --create-home --home-dir $home $user &&
        echo '$user ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/$user" >"$place/log" 2>&1 || { tail "$place/log" && exit 1; }
    folder=$home/poise
fi
git -c safe.directory='*' clone -q . "$bare$folder"
inside "chown -R $user: $folder"
if [ -n "$data" ]; then
    cp -rL "$data/" "$bare/data"
    inside "chmod -R a+rX /data"
fi
as_user() { # who is not root has no other rights, and a home of one's own
    if [ $user = root ]; then
        inside "$1"
    else
        inside "setpriv --reuid $user --regid $user --init-groups env HOME=$home USER=$user sh -c '$1'"
    fi
}

status=0
summary=""
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
exit $status
