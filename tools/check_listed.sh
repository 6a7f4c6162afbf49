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

for file in $(find src motion io papers/methods papers/erik -name '*.c' | sort); do
    listed "$file" "$file" src/sources.cmake
done
for folder in app scenes papers test bench samples fuzz cuda mpi; do
    for file in $(find $folder -name '*.c' -o -name '*.cpp' -o -name '*.cu' | grep -v '^papers/[me]' | sort); do
        case $file in
        test/golden/*_wasm.c) continue ;;      # web/CMakeLists.txt builds them
        esac
        name=${file#"$folder/"}
        # a program may be named by its stem, a folder may have a list of its own
        list=$folder/CMakeLists.txt
        for own in "$folder/sources.cmake" "$(dirname "$file")/sources.cmake" "$(dirname "$file")/CMakeLists.txt"; do
            if [ -f "$own" ] && grep -q -E "(^|[ (])$(basename "$file")(\$|[ )])" "$own"; then
                list=$own name=$(basename "$file")
            fi
        done
        listed "$file" "(\.\./)?(${name}|${name%.*})" "$list"
    done
done
exit $failed
