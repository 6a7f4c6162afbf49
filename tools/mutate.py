#!/usr/bin/env python3
"""Mutation check: break one formula at a time and see whether the tests notice.

mutate.py [--seed N] [--count N] [--folders src/kin,motion,...] [--build BUILD] [--report FILE] [--list] [--only FILE:LINE] [--again]
          [--longest SECONDS]

Takes the sources of the folders, finds every place where a formula could be wrong by a sign, a neighbour, an axis, an operand or
a missing term, and draws --count of them by --seed, as many from each source as its share. Each is compiled alone, linked before
the libraries of BUILD (a release build with its tests), and the suites that run its line are run, the quickest first, until one
fails. Which suites run a line is counted once (BUILD/mutation). One that may step past the end of an array, any in a reader, and
any that would survive is compiled with the address sanitizer. One that all tests pass survives: either no test looks, or the
change makes no difference (tools/mutants_equal.txt holds those, each with its reason).

--report FILE appends to the file and does not run again what it holds; --again runs its survivors, and nothing else; --chosen FILE
runs mutants that somebody chose; --longest SECONDS leaves out suites that take longer.

Exits with 1 when a mutant survives that is not listed.
"""
import argparse
import concurrent.futures
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
LIBRARIES = ("src", "motion", "io")
FOLDERS = LIBRARIES

# Left out: a hash notices any changed bit, whether right or wrong; these wait, or stop the program at random moments.
LEFT_OUT = {"golden", "golden_suite", "app_faults", "app_interrupt", "app_speed", "app_stream_loop", "app_view_server"}
# A test gets --timeout seconds of processor time, and WAIT times as long by the clock, for the machine may be busy.
LIMITED = ["sh", "-c", 'ulimit -t "$0" && exec "$@"']
WAIT = 20
# The processor time of a program and of all that it starts, into a file.
TIMED = ["bash", "-c", 'f=$0; "$@"; status=$?; times >"$f"; exit $status']
# Memory that is handed out is full of the byte 0x5a, whose numbers are large and positive: what a mutant no longer writes shows.
GARBAGE = {"MALLOC_PERTURB_": "165", "ASAN_OPTIONS": "detect_leaks=0:max_malloc_fill_size=1000000000:malloc_fill_byte=90"}
ENDED = (-signal.SIGXCPU, -signal.SIGKILL)
# A header of formulas is compiled into every source that includes it, if these are so few.
INCLUDERS = 8

# What may be wrong: (name, pattern, replacement). The pattern is matched in lines of code without comments and strings.
CHANGES = [
    ("sign", r" \+ (?=[\w(&*-])", " - "),
    ("sign", r"(?<=[\w)\]]) - (?=[\w(])", " + "),
    ("sign", r" \+= ", " -= "),
    ("sign", r" -= ", " += "),
    ("sign", r"(?<=[=(,] )-(?=[a-zA-Z_(])", ""),
    ("sign", r"\bv3_add\(", "v3_sub("),
    ("sign", r"\bv3_sub\(", "v3_add("),
    ("factor", r"(?<=[\w)\]]) \* (?=[a-zA-Z_(])", " / "),
    ("factor", r"\b0\.5 \* ", ""),
    ("factor", r"\b2\.0 \* ", ""),
    ("axis", r"(?<=\w)\.x\b", ".y"),
    ("axis", r"(?<=\w)\.y\b", ".z"),
    ("axis", r"(?<=\w)\.z\b", ".x"),
    ("operands", r"\bv3_cross\((\w[\w.>-]*), (\w[\w.>-]*)\)", r"v3_cross(\2, \1)"),
    ("operands", r"\bv3_sub\((\w[\w.>-]*), (\w[\w.>-]*)\)", r"v3_sub(\2, \1)"),
    ("operands", r"\bquat_mul\((\w[\w.>-]*), (\w[\w.>-]*)\)", r"quat_mul(\2, \1)"),
    ("term", r" \+ \w[\w.>\[\]-]* \* \w[\w.>\[\]-]*(?=[;,)])", ""),
    ("term", r"^(\s+)\w[\w.>\[\]-]* \+= [^;]*;$", r"\1;"),
    ("bound", r"(?<=\w) < (?=[\w(])", " <= "),
    ("bound", r"(?<=\w) > (?=[\w(])", " >= "),
    ("bound", r"\bint (\w) = 0;", r"int \1 = 1;"),
    ("bound", r" \+ 1(?=[;,)\]])", ""),
    ("bound", r" - 1(?=[;,)\]])", ""),
    ("choice", r"(?<=[\w)]) && (?=[\w(!])", " || "),
    ("choice", r"\bmin2\(", "max2("),
    ("choice", r"\bmax2\(", "min2("),
    ("choice", r"\bif \(!(\w+)\)", r"if (\1)"),
]
NOISE = re.compile(r'//.*$|"(?:\\.|[^"\\])*"')


def formula_lines(path):
    """(number, text) of lines inside functions that may hold a formula; checks of arguments and sizes of memory are not it."""
    inside = False
    for number, line in enumerate(open(path, encoding="utf-8").read().split("\n")):
        if line == "{":
            inside = True
        elif line == "}":
            inside = False
        elif inside and not re.search(r"pz_arena|pz_error_set|sizeof|POISE_ERROR|static const|#", line):
            yield number, line


def sources(folder):
    for path, folders, files in os.walk(os.path.join(ROOT, folder)):
        folders.sort()
        for name in sorted(files):
            if name.endswith((".c", ".h")):
                yield os.path.relpath(os.path.join(path, name), ROOT)


def candidates(folders, objects):
    """Mutants by source; of headers those that few sources include."""
    found = {}
    for path in (path for folder in folders for path in sources(folder)):
        if not 0 < len(objects.get(path, [])) <= INCLUDERS:
            continue
        for number, line in formula_lines(os.path.join(ROOT, path)):
            code = NOISE.sub(lambda m: " " * len(m.group()), line)
            for kind, pattern, replacement in CHANGES:
                for match in re.finditer(pattern, code):
                    new = line[:match.start()] + match.expand(replacement) + line[match.end():]
                    found.setdefault(path, []).append((path, number, kind, line, new))
    return found


def draw(found, count, seed):
    """`count` mutants, from each source in proportion to what it offers, at least one from each."""
    total = sum(len(v) for v in found.values())
    chosen = []
    for path in sorted(found):
        pick = random.Random(f"{seed} {path}")
        share = max(1, round(count * len(found[path]) / total))
        chosen += pick.sample(found[path], min(share, len(found[path])))
    random.Random(seed).shuffle(chosen)
    return chosen[:count]


def ninja(build, *words):
    return subprocess.run(["ninja", "-C", build, "-t", *words], capture_output=True, text=True, check=False).stdout.split("\n")


class Build:
    """What a finished build knows: how each source is compiled, which ones a header goes into, how each suite is run."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        self.compiles = {}
        for line in ninja(self.folder, "commands", "poise_static") + ninja(self.folder, "commands", "poise_papers_static") + ninja(self.folder, "commands", "poise_io_static"):
            match = re.search(r" -o (\S+) -c (\S+)$", line)
            if match:
                self.compiles[match.group(1)] = (os.path.relpath(match.group(2), ROOT), line)
        self.objects = self.includers()
        self.tests = self.suites()
        self.links = {}
        self.verdicts = {}

    def includers(self):
        found, current = {}, None
        for line in ninja(self.folder, "deps"):
            if line and not line.startswith(" "):
                current = line.split(":")[0]
            elif line.strip() and current in self.compiles:
                path = os.path.relpath(os.path.join(self.folder, line.strip()), ROOT)
                if path.startswith(tuple(f"{name}/" for name in LIBRARIES)):
                    found.setdefault(path, set()).add(current)
        return found

    def suites(self):
        """The program and the words after it, by the suite's name."""
        listed = subprocess.run(["ctest", "--test-dir", self.folder, "--show-only=json-v1"], capture_output=True, text=True, check=True)
        found = {}
        for test in json.loads(listed.stdout)["tests"]:
            words = test.get("command", [])
            program = next((w for w in words if re.search(r"/bin/(tests_\w+|poise)$", w)), None)
            if program and test["name"] not in LEFT_OUT:
                found[test["name"]] = (program, words)
        return found

    def passes(self, test):
        """Does the suite pass as it is? One that fails anyhow tells nothing about a mutant."""
        if test not in self.verdicts:
            result = subprocess.run(self.tests[test][1], cwd=tempfile.gettempdir(), capture_output=True, check=False,
                                    env=dict(os.environ, **GARBAGE)).returncode
            self.verdicts[test] = result in (0, 77)
            if not self.verdicts[test]:
                print(f"{test} fails without a mutant; left out", file=sys.stderr)
        return self.verdicts[test]

    def link(self, program):
        """The command that links a program, from the build's own."""
        if program not in self.links:
            name = os.path.relpath(program, self.folder)
            lines = [line for line in ninja(self.folder, "commands", name) if f" -o {name} " in line]
            # what follows a link, such as manuals that the program writes, is not for mutants
            self.links[program] = lines[-1].removeprefix(": && ").split(" && ")[0] if lines else None
        return self.links[program]


def without_dependencies(command):
    return re.sub(r" -MD -MT \S+ -MF \S+", "", command).replace(" -Werror", "").replace("ccache ", "")


def is_newer(path, than):
    return os.path.exists(path) and os.path.getmtime(path) > os.path.getmtime(than)


def processor_seconds(path):
    """Of the children, from the second line of `times`: minutes and seconds of the user, then of the system."""
    words = open(path, encoding="utf-8").read().split()[-2:]
    return sum(60 * float(m) + float(s) for m, s in (word.rstrip("s").split("m") for word in words))


class Map:
    """Which suites run a line, and how long each takes. Made once, in BUILD/mutation, and again for programs that are newer."""

    def __init__(self, build, longest, pool):
        self.build, self.longest = build, longest
        self.folder = os.path.join(build.folder, "mutation")
        os.makedirs(self.folder, exist_ok=True)
        self.suites, self.known = {}, {}
        stale = [name for name in sorted(build.tests) if not is_newer(self.path(name), build.tests[name][0])]
        library = self.compile(pool) if stale else None
        list(pool.map(lambda name: self.measure(name, library), stale))
        for name in sorted(build.tests):
            with open(self.path(name), encoding="utf-8") as file:
                found = json.load(file)
            if found["seconds"] is None or found["seconds"] > longest:
                print(f"{name} fails, or takes more than {longest} s of processor time; left out", file=sys.stderr)
                continue
            self.suites[name] = (found["seconds"], {path: set(lines) for path, lines in found["ran"].items()})
            for path, lines in found["known"].items():
                self.known.setdefault(path, set()).update(lines)

    def path(self, name):
        return os.path.join(self.folder, name + ".json")

    def compile(self, pool):
        """The library with counters: what the build's own objects are made from, where those are newer."""
        library = os.path.join(self.folder, "libcounted.a")
        objects, commands = [], []
        for made, (source, command) in sorted(self.build.compiles.items()):
            objects.append(os.path.join(self.folder, source.replace("/", "-") + ".o"))
            if not is_newer(objects[-1], os.path.join(self.build.folder, made)):
                commands.append(re.sub(r" -o \S+ -c (\S+)$", f" -O1 -w --coverage -o {objects[-1]} -c \\1",
                                       without_dependencies(command)))
        list(pool.map(lambda command: subprocess.run(command, shell=True, cwd=self.build.folder, check=True), commands))
        if os.path.exists(library):
            os.remove(library)
        subprocess.run(["ar", "rcs", library, *objects], check=True)
        return library

    def measure(self, name, library):
        """Run a suite over the counted library, and keep the lines that ran."""
        program, words = self.build.tests[name]
        found = {"seconds": None, "ran": {}, "known": {}}
        with tempfile.TemporaryDirectory() as work:
            own = os.path.join(work, os.path.basename(program))
            link = re.sub(r" -o \S+ (.*?)(\S*libpoise)", rf" --coverage -o {own} \1{library} \2", self.build.link(program), count=1)
            subprocess.run(link, shell=True, cwd=self.build.folder, check=True)
            counts = os.path.join(work, "counts")
            words = [*LIMITED, str(self.longest), *(own if word == program else word for word in words)]
            times = os.path.join(work, "times")
            result = subprocess.run([*TIMED, times, *words], cwd=work, capture_output=True, check=False,
                                    env=dict(os.environ, GCOV_PREFIX=counts)).returncode
            if result in (0, 77):
                found["seconds"] = processor_seconds(times)
                self.read_counts(counts, found)
        with open(self.path(name), "w", encoding="utf-8") as file:
            json.dump(found, file)

    def read_counts(self, counts, found):
        inner = counts + self.folder
        if not os.path.isdir(inner):  # it was skipped, or runs nothing of the library
            return
        names = [name for name in os.listdir(inner) if name.endswith(".gcda")]
        for name in names:
            notes = name[:-len("da")] + "no"
            os.symlink(os.path.join(self.folder, notes), os.path.join(inner, notes))
        output = subprocess.run(["gcov", "--json-format", "--stdout", *names], cwd=inner, capture_output=True, text=True, check=False)
        for document in output.stdout.splitlines():
            for source in json.loads(document)["files"]:
                path = os.path.relpath(os.path.join(self.build.folder, source["file"]), ROOT)
                if path.startswith(tuple(f"{name}/" for name in LIBRARIES)):
                    known, ran = found["known"].setdefault(path, []), found["ran"].setdefault(path, [])
                    known += [line["line_number"] for line in source["lines"]]
                    ran += [line["line_number"] for line in source["lines"] if line["count"] > 0]

    def tests_for(self, path, number):
        """The suites that run a line, the quickest first. A line without code of its own belongs to the one before that has."""
        line = max((n for n in self.known.get(path, []) if n <= number), default=None)
        found = [(seconds, name) for name, (seconds, ran) in self.suites.items() if line in ran.get(path, ())]
        return [name for _, name in sorted(found)]


def compile_mutant(mutant, build, work, sanitize):
    """Compiles what holds the changed line, in a tree of links to the sources; the objects, or None."""
    path, number, _, _, new = mutant
    subprocess.run(["cp", "-rs", *(os.path.join(ROOT, folder) for folder in LIBRARIES), work], check=True)
    lines = open(os.path.join(ROOT, path), encoding="utf-8").read().split("\n")
    lines[number] = new
    os.remove(os.path.join(work, path))
    with open(os.path.join(work, path), "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    objects = []
    for made in sorted(build.objects[path]):
        source, command = build.compiles[made]
        objects.append(f"{work}/{len(objects)}.o")
        # -O1 gives the same bits and builds in half the time
        command = without_dependencies(command).replace(f"-I{ROOT}/src", f"-I{work}/src").replace(f"-I{ROOT}/. ", f"-I{work} ")
        command = re.sub(r" -o \S+ -c \S+$", f" -O1 -w {sanitize} -o {objects[-1]} -c {work}/{source}", command)
        if subprocess.run(command, shell=True, cwd=build.folder, capture_output=True, check=False).returncode != 0:
            return None
    return objects


def run(mutant, build, tests, timeout):
    """What became of a mutant: (verdict, test). One that survives is run once more under the address sanitizer, unless it was."""
    path, _, kind, line, new = mutant
    if not tests:
        return "survived", "no test runs it"
    is_index = kind == "sign" and re.search(r"\[[^]]* [-+] |^\s*for \(", line)
    may_step_out = kind == "bound" or is_index or new.count(" + 1") > line.count(" + 1") or path.startswith("io/")
    verdict = ("survived", "") if may_step_out else run_with("", mutant, build, tests, timeout)
    return run_with("-fsanitize=address", mutant, build, tests, timeout) if verdict[0] == "survived" else verdict


def run_with(sanitize, mutant, build, tests, timeout):
    with tempfile.TemporaryDirectory() as work:
        objects = compile_mutant(mutant, build, work, sanitize)
        if objects is None:
            return "does not compile", ""
        linked = {}
        for test in tests:
            program, words = build.tests[test]
            own = linked.setdefault(program, os.path.join(work, str(len(linked)), os.path.basename(program)))
            if not os.path.exists(own):
                os.mkdir(os.path.dirname(own))
                link = re.sub(r" -o \S+ ", f" {sanitize} {' '.join(objects)} -o {own} ", build.link(program), count=1)
                made = subprocess.run(link, shell=True, cwd=build.folder, capture_output=True, check=False)
                if made.returncode != 0:
                    return "does not link", made.stderr.decode()[-300:]
            words = [*LIMITED, str(timeout), *(own if word == program else word for word in words)]
            environment = dict(os.environ, **GARBAGE)
            try:
                result = subprocess.run(words, cwd=work, capture_output=True, timeout=WAIT * timeout, check=False, env=environment)
                result = result.returncode
            except subprocess.TimeoutExpired:
                return "noticed", test + " (no end)"
            if result not in (0, 77) and build.passes(test):
                return "noticed", test + (" (no end)" if result in ENDED else "")
    return "survived", f"{len(tests)} suites"


def has_line(path, text):
    """Has a source this line, alone or with the one below it?"""
    path = os.path.join(ROOT, path)
    lines = [line.strip() for line in open(path, encoding="utf-8").read().split("\n")] if os.path.exists(path) else []
    return text in lines or any(f"{one} {two}" == text for one, two in zip(lines, lines[1:]))


def known_equal():
    path = os.path.join(ROOT, "tools", "mutants_equal.txt")
    known = set()
    if os.path.exists(path):
        for line in open(path, encoding="utf-8"):
            parts = [part.strip() for part in line.split(" | ")]
            if len(parts) >= 4 and not line.startswith("#"):
                known.add(tuple(parts[:3]))
                if not has_line(parts[0], parts[1]):
                    print(f"mutants_equal.txt: {parts[0]} no longer has \"{parts[1]}\"", file=sys.stderr)
    return known


def is_equal(equal, path, number, line, new):
    """Is it listed, by its line, or by its line and the one below where its line stands more than once?"""
    below = open(os.path.join(ROOT, path), encoding="utf-8").read().split("\n")[number + 1]
    return any((path, text, new.strip()) in equal for text in (line.strip(), f"{line.strip()} {below.strip()}"))


def verdicts_in(report):
    """What an earlier run found, by place and change."""
    lines = open(report, encoding="utf-8").read().split("\n")
    found = {}
    for i, line in enumerate(lines):
        match = re.match(r"(noticed|survived|equal|does not compile|does not link) +(\S+?):(\d+) ", line + " ")
        if match and i + 2 < len(lines):
            found[(match.group(2), match.group(3), lines[i + 1].strip(), lines[i + 2].strip())] = match.group(1)
    return found


def key_of(mutant):
    path, number, _, line, new = mutant
    return path, str(number + 1), line.strip(), new.strip()


def chosen_in(path):
    """Mutants that somebody chose: source | line | changed. A line that is no longer there is an error."""
    found = []
    for text in open(path, encoding="utf-8"):
        parts = [part.strip() for part in text.split(" | ")]
        if len(parts) >= 3 and not text.startswith("#"):
            lines = open(os.path.join(ROOT, parts[0]), encoding="utf-8").read().split("\n")
            number = next((i for i, line in enumerate(lines) if line.strip() == parts[1]), None)
            if number is None:
                sys.exit(f"{path}: {parts[0]} has no line \"{parts[1]}\"")
            found.append((parts[0], number, "chosen", lines[number], parts[2]))
    return found


def choose(given, build):
    """The mutants to look at, and how many there are in all."""
    folders = given.folders.split(",")
    if given.only:
        path, line = given.only.rsplit(":", 1)
        found = candidates([os.path.dirname(path)], build.objects)
        return [m for m in found.get(path, []) if m[1] + 1 == int(line)], 0
    if given.chosen:
        return chosen_in(given.chosen), 0
    found = candidates(folders, build.objects)
    if given.again:  # by their text: lines may have moved since
        survived = {(key[0], key[2], key[3]) for key, verdict in verdicts_in(given.report).items() if verdict == "survived"}
        again = {(m[0], m[3].strip(), m[4].strip()): m for mutants in found.values() for m in mutants}
        return [again[key] for key in sorted(survived) if key in again], len(again)
    return draw(found, given.count, given.seed), sum(len(v) for v in found.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--folders", default=",".join(FOLDERS))
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=int, default=180)
    parser.add_argument("--longest", type=int, default=60, help="leave out suites that take longer, in seconds of processor time")
    parser.add_argument("--report", help="append to this file; what it holds already is not run again")
    parser.add_argument("--again", action="store_true", help="run what survived in the report")
    parser.add_argument("--chosen", help="run those of this file, such as tools/mutants_chosen.txt")
    parser.add_argument("--only", help="FILE:LINE: every mutant of that line")
    parser.add_argument("--list", action="store_true")
    given = parser.parse_args()
    build = Build(given.build)
    chosen, total = choose(given, build)
    if given.list:
        for path, number, kind, line, new in chosen:
            print(f"{path}:{number + 1}: {kind}\n  {line.strip()}\n  {new.strip()}")
        return 0
    done, counts = {}, {}
    if given.report and os.path.exists(given.report):
        done = verdicts_in(given.report)
    left = [m for m in chosen if given.again or key_of(m) not in done]
    for mutant in chosen:
        if mutant not in left and key_of(mutant) in done:
            verdict = done[key_of(mutant)]
            counts[verdict] = counts.get(verdict, 0) + 1
    equal = known_equal()
    report = open(given.report, "a", encoding="utf-8") if given.report else sys.stdout
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        lines = Map(build, given.longest, pool)
        futures = {pool.submit(run, m, build, lines.tests_for(m[0], m[1] + 1), given.timeout): m for m in left}
        for future in concurrent.futures.as_completed(futures):
            path, number, kind, line, new = futures[future]
            verdict, test = future.result()
            if verdict == "survived" and is_equal(equal, path, number, line, new):
                verdict = "equal"
            counts[verdict] = counts.get(verdict, 0) + 1
            print(f"{verdict:9} {path}:{number + 1} {kind} {test}\n    {line.strip()}\n    {new.strip()}", file=report, flush=True)
    print(f"{len(chosen)} of {total} mutants, seed {given.seed}: " + ", ".join(f"{n} {v}" for v, n in sorted(counts.items())),
          file=report, flush=True)
    return 1 if counts.get("survived") else 0


if __name__ == "__main__":
    sys.exit(main())
