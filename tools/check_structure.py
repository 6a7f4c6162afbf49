#!/usr/bin/env python3
"""What the sources and the libraries promise about their own structure. Each part prints what breaks it, and how much it looked at.

check_structure.py [PART...]     the parts named, or all that read nothing but the sources
check_structure.py symbols libpoise.so libpoise.a [LIBRARY.so LIBRARY.a]...

--root ROOT    another tree of sources
--build DIR    the folder in which `walk` builds the program that reports its calls (default: build/walk)
--write        `walk` puts the walks that were taken into docs/architecture.md
"""
import argparse
import concurrent.futures
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
OTHERS = {"node_modules", "dist"}  # of npm


def files(folders, endings, but=()):
    """The files of these folders whose names end so, by path from the root."""
    for folder in folders:
        for path, inner, names in os.walk(folder):
            inner[:] = [name for name in inner if name not in OTHERS and name not in but]
            for name in sorted(names):
                if name.endswith(endings):
                    yield os.path.normpath(os.path.join(path, name))


@functools.lru_cache(maxsize=None)
def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def find(source, name):
    """The file of this tree that #include "name" in `source` means; None when there is no such file."""
    for folder in (os.path.dirname(source), "include", "src", "", "app", "cuda", "test", "bench"):
        path = os.path.normpath(os.path.join(folder, name))
        if os.path.isfile(path):
            return path
    return None


def below(path, folder):
    return (path + "/").startswith(folder + "/")


# ---- layers: which folder may include which -------------------------------------------------------------------------------

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
    "schema": [],
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


def allowed_layers(layer):
    """The layers, and single headers of layers, that `layer` may include."""
    allowed = {layer}
    for other in LAYERS.get(layer, []):
        allowed |= {other} if "/" in other else allowed_layers(other)
    return allowed


def breach_of_public(source, quoted, name):
    if quoted:
        return "a public header includes others as <poise/...>"
    is_cpp = source.endswith(".hpp")  # the one header for C++ takes what every C++ library has
    if not name.startswith("poise/") and name not in SYSTEM_HEADERS_PUBLIC and not is_cpp:
        return "not a header that every C and C++ compiler has"
    return None


def breach_of_system(name, more=()):
    if name.startswith("poise/") or name in SYSTEM_HEADERS or name in more:
        return None
    return "not a header that a library may use"


def breach_of_layer(source, quoted, name):
    layer = source.split("/")[1]
    if layer not in LAYERS:
        return f"src/{layer} is not a layer that tools/check_structure.py knows"
    if not quoted:
        return breach_of_system(name, SYSTEM_HEADERS_MORE.get(layer, ()))
    target = find(source, name)
    if target is None or not target.startswith("src/"):
        return "not a header of src/"
    allowed = allowed_layers(layer)
    inner = target[len("src/"):]
    if inner.split("/")[0] in allowed or inner in allowed:
        return None
    return f"{layer} may include " + ", ".join(sorted(allowed))


def breach_of_library(library, source, quoted, name):
    if not quoted:
        return breach_of_system(name)
    target = find(source, name)
    allowed = [library] + LIBRARIES[library]
    if target and any(below(target, other) for other in allowed):
        return None
    return f"{library}/ may include public headers and " + ", ".join(allowed)


def breach_of_client(source, quoted, name):
    folder = next(name for name in CLIENTS if below(source, name))
    target = find(source, name)
    if target is None:
        return "no such file" if quoted else None
    allowed = [folder] + CLIENTS[folder] + PRIVATE.get(source, [])
    if any(below(target, other) for other in allowed + ([] if quoted else ["include"])):
        return None
    return f"{folder}/ may include public headers and " + ", ".join(allowed)


def breach_of_include(source, quoted, name):
    if name.startswith("poise/") and not os.path.isfile(os.path.join("include", name)):
        return "no such public header"
    if source.startswith("include/"):
        return breach_of_public(source, quoted, name)
    if source.startswith("src/"):
        return breach_of_layer(source, quoted, name)
    library = next((name for name in LIBRARIES if below(source, name)), None)
    return breach_of_library(library, source, quoted, name) if library else breach_of_client(source, quoted, name)


def unused_permissions(included):
    """Permissions that name nothing, and those below the level of a layer that no file uses. `included`: pairs of paths."""
    for layer, others in LAYERS.items():
        for name in [layer, *others]:
            if not os.path.exists(os.path.join("src", name)):
                yield f"there is no src/{name}"
    single = {f"src/{layer}": [f"src/{name}" for name in others if "/" in name] for layer, others in LAYERS.items()}
    for who, others in [*single.items(), *LIBRARIES.items(), *CLIENTS.items(), *PRIVATE.items()]:
        for name in others:
            if not any(below(source, who) and below(target, name) for source, target in included):
                yield f"nothing in {who} includes {name}"


def layers(_):
    """which folder may include which; no permission is without use"""
    count, faults, included = 0, [], set()
    for source in files(["include", "src", *LIBRARIES, *CLIENTS], (".c", ".h", ".cpp", ".hpp", ".cu", ".cuh"), ["install"]):
        count += 1
        text = text_of(source)
        for match in INCLUDE.finditer(text):
            quoted, name = match[1] == '"', match[2]
            included.add((source, find(source, name)))
            reason = breach_of_include(source, quoted, name)
            if reason:
                line = text.count("\n", 0, match.start()) + 1
                faults.append(f"{source}:{line}: includes {name}: {reason}")
    used = {pair for pair in included if pair[1]}
    faults += [f"tools/check_structure.py: a permission without use: {entry}" for entry in unused_permissions(used)]
    return f"{count} files", faults if count else ["no files"]


# ---- includes: each source includes the headers it uses, and uses the ones it includes ------------------------------------

# Names by header of the C library. A file that calls one must include its header, unless a header of this tree that it includes
# does; a source that includes one must mention a name of it. Only names that can come from one header are here, so that nothing
# depends on what headers include each other.
NAMES = {
    "string.h": "memcpy memmove memset memcmp memchr strlen strcmp strncmp strchr strrchr strstr strspn strcspn strcpy strncpy "
                "strcat strncat strpbrk strtok strerror strdup strndup strcoll",
    "math.h": "sqrt fabs sin cos tan asin acos atan atan2 exp log log10 log2 pow floor ceil fmod hypot fmin fmax isnan isfinite "
              "isinf signbit INFINITY NAN HUGE_VAL M_PI round lround trunc ldexp frexp copysign cbrt nextafter remainder rint "
              "nearbyint expm1 log1p sincos modf fma fdim scalbn ilogb sqrtf fabsf sinf cosf sqrtl fabsl sinl cosl atan2l atan2f "
              "llround fpclassify FP_SUBNORMAL lrint powl expl fmodl",
    "stdio.h": "printf fprintf snprintf sprintf vsnprintf vfprintf fopen fclose fread fwrite fputs fputc puts putchar fgets stdout "
               "stderr stdin fflush fseek ftell rewind sscanf fscanf perror FILE getc fgetc remove rename getline setvbuf fileno "
               "vprintf tmpfile EOF popen pclose fdopen setbuf ferror feof",
    "stdlib.h": "malloc calloc realloc free exit abort atoi atof strtol strtod strtoul strtoll strtoull qsort bsearch getenv rand "
                "EXIT_SUCCESS EXIT_FAILURE abs labs llabs mkstemp setenv unsetenv system realpath _Exit div posix_memalign arc4random_buf "
                "aligned_alloc mkdtemp strtof atexit atol",
    "float.h": "DBL_MAX DBL_MIN DBL_EPSILON FLT_MAX FLT_MIN FLT_EPSILON DBL_TRUE_MIN DBL_DIG DBL_MANT_DIG LDBL_EPSILON "
               "LDBL_MANT_DIG DBL_MAX_EXP FLT_EVAL_METHOD FLT_TRUE_MIN",
    "limits.h": "INT_MAX INT_MIN LONG_MAX LONG_MIN CHAR_BIT UINT_MAX LLONG_MAX PATH_MAX SHRT_MAX UCHAR_MAX ULONG_MAX LLONG_MIN",
    "ctype.h": "isdigit isalpha isspace tolower toupper isalnum isprint isupper islower isxdigit ispunct iscntrl isgraph",
    "stdarg.h": "va_list va_start va_end va_arg va_copy",
    "errno.h": "errno EINTR ENOENT EEXIST EAGAIN ENOSPC EINVAL ERANGE EACCES EPIPE EADDRINUSE EWOULDBLOCK ENOTDIR EISDIR ENOMEM",
    "time.h": "clock CLOCKS_PER_SEC clock_gettime CLOCK_MONOTONIC CLOCK_THREAD_CPUTIME_ID CLOCK_PROCESS_CPUTIME_ID timespec time_t "
              "nanosleep strftime gmtime localtime clock_t gmtime_r localtime_r CLOCK_REALTIME time",
    "locale.h": "setlocale LC_ALL LC_NUMERIC localeconv",
}
THINGS = {"stdout", "stderr", "stdin", "errno", "timespec", "time_t", "clock_t", "va_list"}  # that are not called

# The library calls none of these: MinGW's warn of a double that becomes a float.
BARRED = {"isfinite": "is_finite", "isnan": "x != x", "isinf": "is_finite"}

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
NOISE = re.compile(r'__attribute__[^\n]*|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


@functools.lru_cache(maxsize=None)
def includes_of(path):
    return [name for _, name in INCLUDE.findall(COMMENT.sub("", text_of(path)))]


def mentions(text, names):
    """Names that stand alone: not after '.' or '->', which are members."""
    return set(re.findall(r"(?<![\w.>])([A-Za-z_]\w*)", text)) & names


def calls(text, names):
    """Those of the names that nothing else is called: with a parenthesis behind them, or no function at all."""
    called = set(re.findall(r"(?<![\w.>])([A-Za-z_]\w*)\s*\(", text)) & names
    return called | {name for name in mentions(text, names) if name in THINGS or name.isupper()}


def reachable_headers(path):
    """The headers of the C library that a file reaches through headers of this tree."""
    seen, todo, system = {path}, [path], set()
    while todo:
        here = todo.pop()
        for name in includes_of(here):
            place = find(here, name)
            if place and place not in seen:
                seen.add(place)
                todo.append(place)
            if not place and here != path:
                system.add(name)
    return system


def faults_of_includes(path):
    included, reachable = includes_of(path), reachable_headers(path)
    body = INCLUDE.sub("", NOISE.sub(" ", text_of(path)))
    for name in sorted(set(included)):
        # a kernel may be compiled twice, with other settings
        if included.count(name) > 1 and not name.endswith(("kernel.h", "loops.h")):
            yield f'includes "{name}" {included.count(name)} times'
    for header, words in NAMES.items():
        names = set(words.split())
        used = calls(body, names)
        if used and header not in included and header not in reachable:
            yield f"uses {', '.join(sorted(used))} without <{header}>"
        if header in included and path.endswith(".c") and not mentions(body, names):
            yield f"includes <{header}> and uses nothing of it"
    if path.startswith("src/"):
        for name in sorted(calls(body, set(BARRED))):
            yield f"uses {name}: {BARRED[name]} serves on every system"


def includes(_):
    """each source includes the headers it uses and uses the ones it includes; none twice"""
    folders = ["schema", "src", "motion", "io", "app", "web", "scenes", "papers", "samples", "bench", "test", "fuzz", "cuda", "mpi", "python"]
    paths = list(files(folders, (".c", ".h"), ["libc", "install"]))
    return f"{len(paths)} files", [f"{path}: {fault}" for path in paths for fault in faults_of_includes(path)]


# ---- headers: each compiles alone ----------------------------------------------------------------------------------------

def headers(_):
    """every public header compiles alone and twice in a row, as C11 and C++17; every private one alone, as C17"""
    public = [path[len("include/"):] for path in files(["include/poise"], ".h")]
    private = [path.removeprefix("src/") for path in files(["schema", "src", "motion", "io"], ".h")]
    tries = []
    compilers = [name for name in ("gcc", "g++", "clang", "clang++") if shutil.which(name)]
    for compiler in compilers:
        if compiler.endswith("++"):
            tries += [(header, [compiler, "-std=c++17", "-Iinclude", "-x", "c++"]) for header in public]
        else:
            tries += [(header, [compiler, "-std=c11", "-Iinclude", "-x", "c"]) for header in public]
            tries += [(header, [compiler, "-std=c17", "-Iinclude", "-Isrc", "-I.", "-x", "c"]) for header in private]

    def fault(header, command):
        done = subprocess.run([*command, *"-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fsyntax-only -".split()],
                              input=f'#include "{header}"\n#include "{header}"\n', capture_output=True, text=True, check=False)
        return done.stderr + f"{header} does not compile alone with: {' '.join(command)}" if done.returncode else None

    if not tries:
        return "skipped: neither gcc nor clang", None
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = [fault for fault in pool.map(lambda words: fault(*words), tries) if fault]
    return f"{len(public)} public and {len(private)} private headers with {', '.join(compilers)}", faults


# ---- listed: every source is built ---------------------------------------------------------------------------------------

def is_in_list(name, path):
    return bool(re.search(rf"(^|[ (]){name}($|[ )])", text_of(path), re.MULTILINE)) if os.path.isfile(path) else False


def listed(_):
    """every source stands in the list of sources that builds it"""
    faults, count = [], 0
    for path in files(["schema", "src", "motion", "io", "papers/methods", "papers/erik"], ".c"):
        count += 1
        if not is_in_list(path, "src/sources.cmake"):
            faults.append(f"{path} is not listed in src/sources.cmake")
    for folder in ["app", "scenes", "papers", "test", "bench", "samples", "fuzz", "cuda", "mpi"]:
        for path in files([folder], (".c", ".cpp", ".cu")):
            if path.startswith(("papers/methods", "papers/erik")) or re.fullmatch(r"test/golden/\w*_wasm\.c", path):
                continue  # looked at above; web/CMakeLists.txt builds those for wasm
            count += 1
            name, place = os.path.basename(path), os.path.dirname(path)
            inner = path[len(folder) + 1:]
            # a folder may have a list of its own; a program may be named by its stem, from the folder's list
            own = (f"{folder}/sources.cmake", f"{place}/sources.cmake", f"{place}/CMakeLists.txt")
            is_there = any(is_in_list(re.escape(name), path) for path in own)
            stem = rf"(\.\./)?({re.escape(inner)}|{re.escape(os.path.splitext(inner)[0])})"
            if not is_there and not is_in_list(stem, f"{folder}/CMakeLists.txt"):
                faults.append(f"{path} is not listed in {folder}/CMakeLists.txt")
    return f"{count} sources", faults


# ---- words: no notes to self, no places on somebody's machine ------------------------------------------------------------

WORDS = [
    re.compile(r"\b(TODO|FIXME|XXX)\b"),
    re.compile(r"\b(not implemented|not yet implemented|for now)\b", re.IGNORECASE),
    # an absolute path, not the tail of an address such as example.org/home/
    re.compile(r"(^|[^A-Za-z0-9_.}/-])/(work|tmp|home|root)(/|$|[^A-Za-z0-9_])"),
]


def tracked_files():
    """All files that git does not ignore; without git, all but those that builds make."""
    listing = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                             capture_output=True, text=True, check=False)
    if listing.returncode == 0:
        return [path for path in listing.stdout.split("\0") if os.path.isfile(path)]
    return [path for path in files(["."], "") if not path.startswith((".git/", "build"))]


def words(_):
    """no notes to self and no places on somebody's machine"""
    faults, count = [], 0
    for path in tracked_files():
        with open(path, "rb") as file:
            text = file.read()
        if b"\0" in text[:8000] or path == "tools/check_structure.py":
            continue  # a picture or an archive; and the list itself
        count += 1
        for number, line in enumerate(text.decode("utf-8", "replace").split("\n"), 1):
            if any(pattern.search(line) for pattern in WORDS):
                faults.append(f"{path}:{number}: a word or path that does not belong here: {line.strip()}")
    return f"{count} files", faults


# ---- pages: docs/architecture.md and docs/papers.md tell the truth -------------------------------------------------------
#
# Every file that the pages name exists, and every test that docs/papers.md names in the last column of its tables. Every "how to
# add" recipe names one thing that was added that way, and the files that know that thing are exactly the ones the recipe lists: a
# place that grows a switch over goals, joints, methods, formats or commands fails here.
#
# A recipe is a heading "### A ...", a line `Traced on: `WORD`, `WORD``, and a list whose items begin with a file name. Sources of
# the product that hold one of the words must be in the list. So must the table under test/ by which a suite checks the new one,
# unless TABLED lacks the recipe; other tests need not.

PAGE = "docs/architecture.md"
PAPERS = "docs/papers.md"
PRODUCT = ["include", "src", "motion", "io", "papers/methods", "papers/erik", "app", "web/glue", "web/src", "web/studio/src"]
TABLED = ["A goal", "A joint type", "A method", "A file format"]
PATH = re.compile(r"`((?:include|src|motion|io|app|web|papers|scenes|samples|bench|cuda|mpi|test|fuzz|tools|docs|cmake)/"
                  r"[\w./-]*)`")


def missing_paths(page):
    for number, line in enumerate(text_of(page).split("\n"), 1):
        for path in PATH.findall(line):
            if not os.path.exists(path):
                yield f"{page}:{number}: there is no {path}"


def test_names():
    """What ctest or a test program calls a test: TEST(name), NAME name in CMake, a transcript app_name, a part of the studio's."""
    parts = re.search(r"^const PARTS = (.*)$", text_of("web/studio/test/studio.mjs"), re.M).group(1)
    names = {"web_studio_" + part for part in re.findall(r"\w+", parts)}
    for path in files(["test", "cmake"], (".c", ".cmake", ".txt")):
        if path.endswith((".c", ".cmake", "CMakeLists.txt")):
            names.update(re.findall(r"(?:TEST\w*\(|NAME )(\w+)", text_of(path)))
        else:
            names.add("app_" + os.path.basename(path)[:-4])
    return names


def missing_tests():
    names = test_names()
    for number, line in enumerate(text_of(PAPERS).split("\n"), 1):
        cells = line.split("|")
        if len(cells) <= 3:
            continue
        named = re.findall(r"`(\w+)`", cells[-2])
        if not named and cells[-2].strip() not in ("test", "---"):
            yield f"{PAPERS}:{number}: no test"
        for word in named:
            if word not in names:
                yield f"{PAPERS}:{number}: there is no test {word}"


def recipes():
    """Title, words and listed files of each recipe."""
    for section in re.split(r"^### ", text_of(PAGE), flags=re.MULTILINE)[1:]:
        traced = re.search(r"^Traced on: (.*)$", section, re.MULTILINE)
        if traced:
            named = re.findall(r"`([^`]+)`", traced[1])
            places = re.findall(r"^(?:\d+\.|-) `([^`]+)`", section, re.MULTILINE)
            yield section.split("\n", 1)[0], named, places


def faults_of_recipe(title, named, places):
    tables = [path for path in places if path.startswith("test/")]
    if not tables and title in TABLED:
        yield f"{PAGE}: {title}: lists no table under test/"
    word = re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in named))
    sources = [*files(PRODUCT, (".c", ".h", ".ts", ".cmake", ".txt")), *tables]
    knowing = {path for path in sources if os.path.isfile(path) and word.search(text_of(path))}
    for path in sorted(knowing - set(places)):
        yield f"{PAGE}: {title}: {path} knows {' or '.join(named)}, and the recipe does not list it"
    for path in places:
        if path not in knowing:
            yield f"{PAGE}: {title}: lists {path}, which does not know {' or '.join(named)}"


def pages(_):
    """docs/architecture.md and docs/papers.md name files and tests that exist; recipes list all places that know the example"""
    faults = [*missing_paths(PAGE), *missing_paths(PAPERS), *missing_tests()]
    found = list(recipes())
    for recipe in found:
        faults += faults_of_recipe(*recipe)
    if len(found) < 5:
        faults.append(f"{PAGE}: {len(found)} recipes; goal, joint, method, format and command are five")
    return f"{len(found)} recipes", faults


# ---- walk: the walks of docs/architecture.md are those that the program takes --------------------------------------------
#
# A paragraph "Walk of `COMMAND` [from `FUNCTION`] through FOLDER, FOLDER: `FILE` → `FILE` → ..." lists the sources and kernels of
# these folders in the order in which the command first enters them, or the first call of the function does. The program is built
# once more so that every function reports when it is entered (-finstrument-functions), the command is run, and what it entered is
# compared with the list: no file more, none less, and no other order.

WALK = re.compile(r"^Walk of `([^`]+)`(?: from `([^`]+)`)? through ([^:]+):(.*?)\n\n", re.M | re.S)


def output_of(*words, **more):
    return subprocess.run(words, check=True, capture_output=True, text=True, **more).stdout


def build_listening(folder):
    """The program and the library that listens."""
    # an object from another folder, which some settings of ccache allow, tells of the sources there
    launcher = ["-DCMAKE_C_COMPILER_LAUNCHER=env;CCACHE_HASHDIR=true;CCACHE_BASEDIR=;ccache"] if shutil.which("ccache") else []
    output_of("cmake", "-S", ".", "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS=-O0 -g1 -finstrument-functions",
              "-DBUILD_TESTING=OFF", "-DPOISE_BUILD_BENCH=OFF", "-DPOISE_BUILD_PYTHON=OFF", "-DPOISE_BUILD_CUDA=OFF",
              "-DPOISE_BUILD_MPI=OFF", "-DPOISE_WERROR=OFF", *launcher)
    subprocess.run(["cmake", "--build", folder, "--target", "poise"], check=True, stdout=sys.stderr)
    listener = os.path.join(folder, "walk_trace.so")
    output_of("cc", "-std=c11", "-O1", "-fPIC", "-shared", os.path.join(HERE, "walk_trace.c"), "-o", listener, "-ldl", "-lpthread")
    return os.path.join(folder, "bin", "poise"), listener


def entered(program, listener, command, function, folders):
    """The files of these folders, in the order in which the command first enters them."""
    with tempfile.TemporaryDirectory() as work:
        log = os.path.join(work, "log")
        more = {}
        if function:
            more["WALK_FROM"] = next(line.split()[0] for line in output_of("nm", program).split("\n") if line.endswith(" " + function))
        subprocess.run(command.replace("poise ", program + " ", 1), shell=True, cwd=work, check=False, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, env={**os.environ, "LD_PRELOAD": listener, "WALK": log, **more})
        places = [line.split()[1] for line in text_of(log).split("\n") if line and line.split()[0].endswith("poise")]
    names = output_of("addr2line", "-e", program, input="\n".join(places)).split("\n")
    paths = [name.rsplit(":", 1)[0] for name in names if ":" in name]
    paths = [os.path.relpath(path if os.path.isabs(path) else os.path.join("build", path)) for path in paths]
    return list(dict.fromkeys(path for path in paths if path.endswith((".c", "_kernel.h")) and any(below(path, f) for f in folders)))


def walk(given):
    """docs/architecture.md lists the files that a solve, a track and a retarget enter, in their order (builds the program)"""
    lacking = [tool for tool in ("cc", "cmake", "ninja", "addr2line") if not shutil.which(tool)]
    if lacking:
        return f"skipped: no {lacking[0]}, by which calls are followed (Debian: gcc cmake ninja-build binutils)", None
    page = text_of(PAGE)
    program, listener = build_listening(os.path.abspath(given.build))
    faults, count = [], 0
    for command, function, folders, text in WALK.findall(page):
        count += 1
        on_page = re.findall(r"`([^`]+)`", text)
        taken = entered(program, listener, command, function, [folder.strip(" `") for folder in folders.split(",")])
        if given.write:
            path = textwrap.fill(" → ".join(f"`{file}`" for file in taken), 128, break_on_hyphens=False, break_long_words=False)
            at = page.index(text, page.index(f"Walk of `{command}`"))
            page = page[:at] + "\n" + path + page[at + len(text):]
        elif taken != on_page:
            faults.append(f"{PAGE}: {command} enters\n    " + " → ".join(taken) + "\n  and the page lists\n    " + " → ".join(on_page))
    if given.write:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(page)
    return f"{count} walks", faults if count else [f"{PAGE} has no walks"]


# ---- symbols: what the libraries define and what they ask for ------------------------------------------------------------
#
# shared   exports every function that its public headers declare, and nothing else; asks for nothing but what one of the
#          libraries exports
# static   global names begin with a prefix of ours; finds in itself, or in those before it, whatever it uses of Poise; asks for
#          nothing else but a few memory and string functions and sqrt, malloc and free in base/arena.c only; holds no data that
#          can be written to

OURS = re.compile(r"(poise|pz|so3|quat)_")
SYSTEM = set("memcpy memmove memset memcmp memchr bcmp strlen strcmp strncmp strchr strrchr sqrt _GLOBAL_OFFSET_TABLE_ "
             "__stack_chk_fail __cpu_model __cpu_indicator_init".split())
# .data.rel.ro holds constant tables of pointers: read-only once loaded
WRITABLE = re.compile(r"(\.t?data|\.t?bss|\*COM\*|COMMON)(?!\.rel\.ro)")
HEADERS_OF = {  # what a library beside the core declares; cuda.h belongs to poise_cuda, all others to libpoise
    "libpoise_motion": "motion track sequence verdict recordings retarget edit",
    "libpoise_papers": "papers express expressive",
    "libpoise_io": "io opensim",
}


def declared(library):
    """Functions that the headers of a library declare: "POISE_API type name(", the type possibly of several words."""
    beside = {name for names in HEADERS_OF.values() for name in names.split()} | {"cuda"}
    own = HEADERS_OF.get(library, "").split()
    found = set()
    for path in files(["include/poise"], ".h"):
        name = os.path.basename(path)[:-len(".h")]
        if name in own or not own and name not in beside:
            found |= set(re.findall(r"^POISE_API [^(\n]*[ *](poise_[a-z0-9_]+)\(", text_of(path), re.M))
    return found


def dynamic_symbols(library, which):
    return {line.split()[-1] for line in output_of("nm", "-D", which, library).splitlines() if line}


def symbols_of(archive):
    """Object, name, type and section of each symbol."""
    member = ""
    for line in output_of("nm", "-f", "sysv", archive).splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if line.startswith("Symbols from"):
            member = re.sub(r".*\[|\].*", "", line)
        elif len(cells) >= 7:
            yield member, cells[0], cells[2], cells[6]


def is_global(kind):
    return len(kind) == 1 and kind.isupper() and kind != "U"


def faults_of_shared(path, offered):
    name = os.path.basename(path)
    exported, wanted = dynamic_symbols(path, "--defined-only"), declared(name.split(".")[0])
    asked = {symbol for symbol in dynamic_symbols(path, "--undefined-only") if OURS.match(symbol)}
    for what, symbols in [("exported, but not named poise_*", {symbol for symbol in exported if not symbol.startswith("poise_")}),
                          ("declared in include/poise, but not in the library", wanted - exported),
                          ("exported, but not declared in include/poise", exported - wanted),
                          ("asked for, but no library exports it", asked - offered)]:
        for symbol in sorted(symbols):
            yield f"{name}: {symbol}: {what}"


def faults_of_static(path, known):
    """`known`: the global names of the libraries before it, to which its own are added."""
    name, rows = os.path.basename(path), list(symbols_of(path))
    known |= {symbol for _, symbol, kind, _ in rows if is_global(kind)}
    if not rows:
        yield f"{name}: no symbols"
    for member, symbol, kind, section in rows:
        where = f"{name}: {member}: {symbol}"
        is_memory = member == "arena.c.o" and symbol in ("malloc", "free")
        if is_global(kind) and not OURS.match(symbol):
            yield f"{where}: a global name without a prefix of ours"
        if kind == "U" and OURS.match(symbol) and symbol not in known:
            yield f"{where}: used, but nowhere defined"
        if kind == "U" and not OURS.match(symbol) and symbol not in SYSTEM and not is_memory:
            yield f"{where}: asked for from outside the library"
        if WRITABLE.match(section):
            yield f"{where}: data that can be written to, in {section}"


def symbols(given):
    """what libraries export is what their headers declare; they ask for little else (names them: shared and static, in pairs)"""
    shared, static = given.libraries[0::2], given.libraries[1::2]
    if not shared or len(shared) != len(static):
        return "no libraries", ["symbols: name libpoise.so and libpoise.a, then pairs of those beside them"]
    offered, known, faults = set(), set(), []
    for path in shared:
        offered |= dynamic_symbols(path, "--defined-only")
    for path in shared:
        faults += faults_of_shared(path, offered)
    for path in static:
        faults += faults_of_static(path, known)
    return f"{len(given.libraries)} libraries, {len(offered)} functions", faults


# ---- The command ---------------------------------------------------------------------------------------------------------

PARTS = {part.__name__: part for part in (layers, includes, headers, listed, words, pages, walk, symbols)}
OF_SOURCES = ["layers", "includes", "headers", "listed", "words", "pages"]


def main():
    helps = "\n".join(f"  {name:9} {part.__doc__}" for name, part in PARTS.items())
    parser = argparse.ArgumentParser(description=__doc__, epilog="parts:\n" + helps,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART or LIBRARY")
    parser.add_argument("--root", default=os.path.join(HERE, ".."))
    parser.add_argument("--build", default="build/walk")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    given.libraries = [os.path.abspath(word) for word in given.parts if word not in PARTS]
    parts = [word for word in given.parts if word in PARTS] or OF_SOURCES
    if given.libraries and "symbols" not in parts:
        parser.error(f"there is no part {os.path.basename(given.libraries[0])}")
    os.chdir(given.root)
    results = {}
    for name in parts:
        summary, faults = PARTS[name](given)
        results[name] = faults
        for fault in faults or []:
            print(fault)
        print(f"{name}: {summary}, {len(faults)} faults" if faults is not None else summary)
    if all(faults is None for faults in results.values()):
        return 77
    return 1 if any(results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
