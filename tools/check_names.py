#!/usr/bin/env python3
"""Names of files and sizes of folders: no two sources share a name, and no folder holds more files than one can survey.

check_names.py [ROOT]
"""
import collections
import os
import sys

FOLDER_FILES = 50
FOLDERS = ["include", "src", "app", "web", "scenes", "reference", "research", "samples", "bench", "fuzz", "test", "cuda", "mpi",
           "python", "tools", "cmake"]
SKIPPED = {"node_modules", "dist", "corpus", "__pycache__"}
ENDINGS = (".c", ".h", ".cpp", ".cu", ".cuh", ".ts", ".mjs", ".py", ".cmake")

# Names that are given: headers of the C library, which web/libc stands in for, lists of sources, packages of Python.
GIVEN = {"sources.cmake", "__init__.py"}


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    places, breaches, files = collections.defaultdict(list), [], 0
    for top in FOLDERS:
        for path, folders, names in os.walk(os.path.join(root, top)):
            folders[:] = [name for name in folders if name not in SKIPPED]
            folder = os.path.relpath(path, root)
            files += len(names)
            if len(names) > FOLDER_FILES:
                breaches.append(f"{folder}: {len(names)} files, the limit is {FOLDER_FILES}: make folders in it")
            for name in names:
                if name.endswith(ENDINGS) and name not in GIVEN and folder != "web/libc":
                    places[name].append(folder)
    for name, folders in sorted(places.items()):
        if len(folders) > 1:
            breaches.append(f"{name} is the name of {len(folders)} files: in " + ", ".join(sorted(folders)))
    for breach in breaches:
        print(breach)
    print(f"{files} files, {len(breaches)} breaches")
    return 1 if breaches or files == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
