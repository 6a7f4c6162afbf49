#!/usr/bin/env python3
"""Headers of the C library: each source includes the ones it uses and uses the ones it includes; none twice.

check_includes.py [ROOT]

Only names that can come from one header are looked for, so that nothing depends on what headers include each other. The library
calls none of BARRED.
"""
import os
import re
import sys

FOLDERS = ["src", "motion", "io", "app", "web", "scenes", "papers", "samples", "bench", "test", "fuzz", "cuda", "mpi", "python"]

# Names by header. A file that calls one must include its header, unless a header of the repository that it includes does; a
# source that includes one must mention a name of it.
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

# MinGW's warn of a double that becomes a float.
BARRED = {"isfinite": "is_finite", "isnan": "x != x", "isinf": "is_finite"}

THINGS = {"stdout", "stderr", "stdin", "errno", "timespec", "time_t", "clock_t", "va_list"}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
NOISE = re.compile(r'__attribute__[^\n]*|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def plain(text):
    """The text without comments, strings and #include lines."""
    return INCLUDE.sub("", NOISE.sub(" ", text))


def mentions(text, names):
    """Names that stand alone: not after '.' or '->', which are members."""
    return set(re.findall(r"(?<![\w.>])([A-Za-z_]\w*)", text)) & names


def calls(text, names):
    """Those of the names that nothing else is called: with a parenthesis behind them, or no function at all."""
    called = set(re.findall(r"(?<![\w.>])([A-Za-z_]\w*)\s*\(", text)) & names
    return called | {name for name in mentions(text, names) if name in THINGS or name.isupper()}


def check(root, path, own_headers):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        text = file.read()
    includes = [name for _, name in INCLUDE.findall(COMMENT.sub("", text))]
    body = plain(text)
    faults = []
    for name in sorted(set(includes)):
        # a kernel may be compiled twice, with other settings
        if includes.count(name) > 1 and not name.endswith(("kernel.h", "loops.h")):
            faults.append(f'includes "{name}" {includes.count(name)} times')
    reachable = own_headers(path)
    for header, words in NAMES.items():
        names = set(words.split())
        used = calls(body, names)
        if used and header not in includes and header not in reachable:
            faults.append(f"uses {', '.join(sorted(used))} without <{header}>")
        if header in includes and path.endswith(".c") and not mentions(body, names):
            faults.append(f"includes <{header}> and uses nothing of it")
    if path.startswith("src" + os.sep):
        faults += [f"uses {name}: {BARRED[name]} serves on every system" for name in sorted(calls(body, set(BARRED)))]
    return [f"{path}: {fault}" for fault in faults]


def reach(root, cache):
    """A function that gives the system headers that a file reaches through headers of this repository."""
    def text_of(path):
        if path not in cache:
            with open(os.path.join(root, path), encoding="utf-8") as file:
                cache[path] = [name for _, name in INCLUDE.findall(COMMENT.sub("", file.read()))]
        return cache[path]

    def find(path, name):
        places = [os.path.join(os.path.dirname(path), name), name]
        places += [os.path.join(folder, name) for folder in ("include", "src", "", "test", "bench", "app")]
        for place in places:
            place = os.path.normpath(place)
            if os.path.isfile(os.path.join(root, place)):
                return place
        return None

    def walk(path):
        seen, todo, system = {path}, [path], set()
        while todo:
            here = todo.pop()
            for name in text_of(here):
                place = find(here, name)
                if place and place not in seen:
                    seen.add(place)
                    todo.append(place)
                if not place and here != path:
                    system.add(name)
        return system

    return walk


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    walk = reach(root, {})
    faults, count = [], 0
    for folder in FOLDERS:
        for where, folders, files in os.walk(os.path.join(root, folder)):
            folders[:] = [name for name in folders if name not in ("libc", "node_modules", "install")]
            for name in sorted(files):
                if name.endswith((".c", ".h")):
                    count += 1
                    faults += check(root, os.path.relpath(os.path.join(where, name), root), walk)
    print("\n".join(faults))
    print(f"{count} files, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
