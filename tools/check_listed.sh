#!/bin/sh
# Sources are listed by name in the CMakeLists.txt that builds them; this finds the ones that nobody builds.
set -eu
cd "$(dirname "$0")/.."
failed=0

# listed FILE NAME LIST: LIST names FILE as NAME
listed() {
    if ! grep -q -E "(^|[ (])$2(\$|[ )])" "$3"; then
        echo "$1 is not listed in $3"
        failed=1
    fi
}

for file in src/*/*.c; do
    listed "$file" "$file" CMakeLists.txt
done
for file in app/*.c scenes/*.c plain/*.c evaluate/*.c test/test_*.c bench/*.c bench/*.cpp samples/*.c fuzz/*.c cuda/*.c cuda/*.cu mpi/*.c; do
    if [ -f "$file" ]; then
        name=$(basename "$file")
        # a program may be named by its stem
        listed "$file" "(${name}|${name%.*})" "$(dirname "$file")/CMakeLists.txt"
    fi
done
exit $failed
