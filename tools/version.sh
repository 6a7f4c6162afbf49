# For the linters beside it. need_version PROGRAM VERSION: leave with 77, skipped, and a line that says why, unless the program is
# there in the version of Debian 12. Others find other things.
need_version() {
    if ! command -v "$1" >/dev/null; then
        echo "skipped: no $1 (Debian: $1)"
        exit 77
    fi
    version=$("$1" --version | grep -o -E '[0-9]+(\.[0-9]+)+' | head -n 1)
    case $version. in
    "$2".*) ;;
    *) echo "skipped: $1 $version finds other things than $2, the version of Debian 12" && exit 77 ;;
    esac
}
