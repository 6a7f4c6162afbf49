#!/usr/bin/env python3
"""Which folder may include which. Reads every #include of the C and C++ files and fails on a breach, and on a permission below
that names nothing or that no file uses.

check_layers.py [ROOT]
"""
import os
import re
import sys

# A layer of src/ may include itself, the layers named, and what those may include. All may include <poise/...>.
LAYERS = {
    "base": [],
    "num": ["base"],
    "model": ["num"],
    "kin": ["model"],
    "shape": ["kin"],
    "goal": ["kin"],
    "solve": ["goal", "shape"],
    "express": ["solve"],
    "batch": ["solve"],
}

# The libraries beside it: public headers, the foundation that every library is built with (base and num), and what is named
# here.
LIBRARIES = {
    "motion": ["src/base", "src/num"],
    "io": ["src/base", "src/num"],
    "papers/methods": ["src/base", "src/num"],
    "papers/erik": ["src/base", "src/num"],
}

# Folders beside src/ know the library by its public headers, and each other, or parts of each other, as named here.
CLIENTS = {
    "app": ["scenes", "papers/plain/two_task.h"],
    "web": ["scenes"],
    "python": ["scenes", "app/cli/threads.h"],
    "scenes": [],
    "papers/plain": [],
    "papers/reproduce": ["scenes", "app/cli", "app/system", "papers/plain"],
    "samples": ["scenes"],
    "bench": ["scenes", "papers/plain", "papers/reproduce", "app/cli", "test/support/constraint_check.h"],
    "mpi": ["app", "papers/reproduce"],
    "cuda": ["src", "scenes", "bench", "app", "test"],  # compiles sources of the library a second time
}

# Single files that need private headers.
PRIVATE = {
    "app/cli/json.c": ["io"],  # reads JSON with the parser of the library
    "papers/plain/two_task.c": ["papers/erik", "src/num"],  # runs over the chain and the measures of ERIK
}

# The library asks the C library for these only; memory comes from base.
SYSTEM_HEADERS = {"float.h", "limits.h", "math.h", "stdarg.h", "stdbool.h", "stddef.h", "stdint.h", "string.h"}
SYSTEM_HEADERS_MORE = {"base": {"stdlib.h"}}
SYSTEM_HEADERS_PUBLIC = {"stdbool.h", "stddef.h", "stdint.h"}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def allowed_layers(layer):
    """The layers, and single headers of layers, that `layer` may include."""
    allowed = {layer}
    for other in LAYERS.get(layer, []):
        allowed |= {other} if "/" in other else allowed_layers(other)
    return allowed


def sources(root, folder):
    for path, folders, files in os.walk(os.path.join(root, folder)):
        folders[:] = [name for name in folders if name not in ("node_modules", "install")]
        for name in sorted(files):
            if name.endswith((".c", ".h", ".cpp", ".hpp", ".cu", ".cuh")):
                yield os.path.relpath(os.path.join(path, name), root)


def owner(root, source, name):
    """The path, from the root, of the file that #include "name" in `source` means; None when there is no such file."""
    for folder in (os.path.dirname(source), "src", "", "app", "cuda", "test"):
        path = os.path.normpath(os.path.join(folder, name))
        if os.path.isfile(os.path.join(root, path)):
            return path
    return None


def check_public(source, quoted, name):
    if quoted:
        return "a public header includes others as <poise/...>"
    is_cpp = source.endswith(".hpp")  # the one header for C++ takes what every C++ library has
    if not name.startswith("poise/") and name not in SYSTEM_HEADERS_PUBLIC and not is_cpp:
        return "not a header that every C and C++ compiler has"
    return None


def check_layer(root, source, quoted, name):
    layer = source.split("/")[1]
    if layer not in LAYERS:
        return f"src/{layer} is not a layer that tools/check_layers.py knows"
    if not quoted:
        return check_system(name, SYSTEM_HEADERS_MORE.get(layer, ()))
    target = owner(root, source, name)
    if target is None or not target.startswith("src/"):
        return "not a header of src/"
    allowed = allowed_layers(layer)
    inner = target[len("src/"):]
    if inner.split("/")[0] in allowed or inner in allowed:
        return None
    return f"{layer} may include " + ", ".join(sorted(allowed))


def check_system(name, more=()):
    if name.startswith("poise/") or name in SYSTEM_HEADERS or name in more:
        return None
    return "not a header that a library may use"


def library_of(source):
    """The library that a file belongs to; None when it is none's."""
    return next((name for name in LIBRARIES if source.startswith(name + "/")), None)


def check_library(root, source, quoted, name):
    if not quoted:
        return check_system(name)
    library = library_of(source)
    target = owner(root, source, name)
    allowed = [library] + LIBRARIES[library]
    if target and any(target == other or target.startswith(other + "/") for other in allowed):
        return None
    return f"{library}/ may include public headers and " + ", ".join(allowed)


def check_client(root, source, quoted, name):
    folder = next(name for name in CLIENTS if source.startswith(name + "/"))
    target = owner(root, source, name)
    if target is None:
        return "no such file" if quoted else None
    allowed = [folder] + CLIENTS[folder] + PRIVATE.get(source, [])
    if any(target == other or target.startswith(other + "/") for other in allowed):
        return None
    return f"{folder}/ may include public headers and " + ", ".join(allowed)


def check_tables(root, included):
    """Permissions that name nothing, and those below the level of a layer that no file uses. `included`: pairs of paths."""
    def below(path, name):
        return (path + "/").startswith(name + "/")

    found = []
    for layer, others in LAYERS.items():
        found += [f"there is no src/{name}" for name in [layer, *others] if not os.path.exists(os.path.join(root, "src", name))]
    single = {f"src/{layer}": [f"src/{name}" for name in others if "/" in name] for layer, others in LAYERS.items()}
    for who, others in [*single.items(), *LIBRARIES.items(), *CLIENTS.items(), *PRIVATE.items()]:
        found += [f"nothing in {who} includes {name}" for name in others
                  if not any(below(source, who) and below(target, name) for source, target in included)]
    return [f"tools/check_layers.py: a permission without use: {entry}" for entry in found]


def check_file(root, source, included):
    with open(os.path.join(root, source), encoding="utf-8") as file:
        text = file.read()
    found = []
    for match in INCLUDE.finditer(text):
        quoted, name = match[1] == '"', match[2]
        included.add((source, owner(root, source, name)))
        if name.startswith("poise/") and not os.path.isfile(os.path.join(root, "include", name)):
            reason = "no such public header"
        elif source.startswith("include/"):
            reason = check_public(source, quoted, name)
        elif source.startswith("src/"):
            reason = check_layer(root, source, quoted, name)
        elif library_of(source):
            reason = check_library(root, source, quoted, name)
        else:
            reason = check_client(root, source, quoted, name)
        if reason:
            line = text.count("\n", 0, match.start()) + 1
            found.append(f"{source}:{line}: includes {name}: {reason}")
    return found


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    files, breaches, included = 0, [], set()
    for folder in ["include", "src", *LIBRARIES, *CLIENTS]:
        for source in sources(root, folder):
            files += 1
            breaches += check_file(root, source, included)
    breaches += check_tables(root, {pair for pair in included if pair[1]})
    for breach in breaches:
        print(breach)
    print(f"{files} files, {len(breaches)} breaches")
    return 1 if breaches or files == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
