#!/usr/bin/env python3
"""Mutation check: break one formula at a time and see whether the tests notice.

mutate.py [--seed N] [--count N] [--layers kin,goal,...] [--build BUILD] [--report FILE] [--list] [--only FILE:LINE]

Takes the sources of the layers, finds every place where a formula could be wrong by a sign, a neighbour, an axis, an operand or
a missing term, and draws --count of them by --seed, as many from each source as its share. Each is compiled alone, linked before
the library of BUILD (a release build with its tests), and the unit tests of its layer are run until one fails. One that all
tests pass survives: either no test looks, or the change makes no difference (tools/mutants_equal.txt holds those, each with its
reason). The golden hash is left out: it notices any changed bit, whether right or wrong.

Exits with 1 when a mutant survives that is not listed.
"""
import argparse
import concurrent.futures
import os
import random
import re
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
LAYERS = ["kin", "goal", "solve", "express"]

# Suites by layer, quick ones first.
TESTS = {
    "kin": ["kinematics", "retract", "tensor", "goals", "objective", "plain_model", "solver", "scenes", "derivatives"],
    "goal": ["goals", "objective", "rows", "solver", "derivatives", "second_order_parts", "invariance", "tracker", "properties"],
    "solve": ["solver", "second_order_parts", "rows", "second_order", "arm", "arm_solve", "arm_all", "row_methods", "row_levels",
              "geometric", "reach", "extremes", "batch_arm", "batch_tree", "invariance", "properties", "tracker"],
    "express": ["filter", "erik_parts", "erik_contract", "expressive_models", "erik", "expressive", "erik_paper"],
}
# Sources whose own tests come first.
OWN = {
    "arm": ["arm", "arm_solve", "arm_all", "batch_arm"],
    "rows": ["rows", "row_methods", "row_levels"],
    "levels": ["row_levels", "row_methods"],
    "pseudo_inverse": ["row_methods"], "selectively_damped": ["row_methods"], "priority": ["row_levels"],
    "damped_least_squares": ["row_methods"], "jacobian_transpose": ["row_methods"],
    "ccd": ["geometric", "reach"], "bwcd": ["geometric", "reach"], "fabrik": ["geometric", "reach"],
    "geometric": ["geometric", "reach"], "best_move": ["geometric", "reach"], "pull": ["geometric", "reach"],
    "tree_step": ["second_order", "second_order_parts"], "edges": ["second_order", "second_order_parts"],
    "filter": ["filter"], "erik": ["erik_contract", "erik"], "expressive": ["expressive_models", "expressive"],
    "damped": ["second_order_parts", "second_order"], "trust_region": ["second_order_parts", "second_order"],
    "steihaug": ["second_order_parts", "second_order"], "banded": ["second_order_parts", "second_order"],
    "bfgs": ["second_order_parts", "second_order"], "lbfgs": ["second_order_parts", "second_order"],
    "newton_projected": ["second_order_parts", "second_order"], "line_search": ["second_order_parts", "second_order"],
}

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


def candidates(layers):
    found = {}
    for layer in layers:
        for name in sorted(os.listdir(os.path.join(ROOT, "src", layer))):
            path = os.path.join("src", layer, name)
            if not name.endswith(".c"):
                continue
            for number, line in formula_lines(os.path.join(ROOT, path)):
                code = NOISE.sub(lambda m: " " * len(m.group()), line)
                for kind, pattern, replacement in CHANGES:
                    for match in re.finditer(pattern, code):
                        new = line[:match.start()] + match.expand(replacement) + line[match.end():]
                        found.setdefault(path, []).append((path, number, kind, line, new))
    return found


def draw(layers, count, seed):
    """`count` mutants, from each source in proportion to what it offers, at least one from each."""
    found = candidates(layers)
    total = sum(len(v) for v in found.values())
    chosen = []
    for path in sorted(found):
        pick = random.Random(f"{seed} {path}")
        share = max(1, round(count * len(found[path]) / total))
        chosen += pick.sample(found[path], min(share, len(found[path])))
    random.Random(seed).shuffle(chosen)
    return chosen, total


def programs_of(build):
    """The program that holds each suite, as CTest runs it."""
    text = open(os.path.join(build, "test", "CTestTestfile.cmake"), encoding="utf-8").read()
    return {name: os.path.basename(path) for path, name in re.findall(r'add_test\(.*? "(\S*/tests_\w+)" "(\w+)"\)', text)}


def commands_of(build, program):
    """The command that links a program, from the build's own."""
    out = subprocess.run(["ninja", "-C", build, "-t", "commands", program], capture_output=True, text=True, check=False)
    lines = [line for line in out.stdout.split("\n") if f"bin/{program} " in line and " -o " in line]
    return lines[-1] if lines else None


def tests_for(path):
    layer, stem = path.split("/")[1], os.path.basename(path)[:-2]
    first = next((tests for name, tests in OWN.items() if stem == name or stem.startswith(name + "_")), [])
    return first + [test for test in TESTS[layer] if test not in first]


def compile_command(build, path):
    out = subprocess.run(["ninja", "-C", build, "-t", "commands", "poise_static"], capture_output=True, text=True, check=False)
    for line in out.stdout.split("\n"):
        if line.endswith(path):
            return line
    return None


def run(mutant, build, links, compiles, timeout):
    """What became of a mutant: (verdict, test)."""
    path, number, _, _, new = mutant
    with tempfile.TemporaryDirectory() as work:
        lines = open(os.path.join(ROOT, path), encoding="utf-8").read().split("\n")
        lines[number] = new
        source = os.path.join(work, os.path.basename(path))
        with open(source, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        # -O1 gives the same bits and builds in half the time; headers beside the source are found by -I
        made = compiles[path]
        made = re.sub(r" -MD -MT \S+ -MF \S+", "", made)
        made = re.sub(r" -o \S+ -c \S+$", f" -O1 -w -I{ROOT}/{os.path.dirname(path)} -o {work}/mutant.o -c {source}", made)
        made = made.replace(" -Werror", "")
        if subprocess.run(made, shell=True, cwd=build, capture_output=True, check=False).returncode != 0:
            return "does not compile", ""
        for test in tests_for(path):
            if test not in links:
                continue
            link = re.sub(r" -o bin/tests_\w+ ", f" {work}/mutant.o -o {work}/test ", links[test])
            made = subprocess.run(link, shell=True, cwd=build, capture_output=True, check=False)
            if made.returncode != 0:
                return "does not link", made.stderr.decode()[-300:]
            try:
                result = subprocess.run([f"{work}/test", test], cwd=work, capture_output=True, timeout=timeout, check=False).returncode
            except subprocess.TimeoutExpired:
                return "noticed", test + " (no end)"
            if result not in (0, 77):
                return "noticed", test
    return "survived", ""


def known_equal():
    path = os.path.join(ROOT, "tools", "mutants_equal.txt")
    known = set()
    if os.path.exists(path):
        for line in open(path, encoding="utf-8"):
            parts = line.rstrip("\n").split(" | ")
            if len(parts) >= 4 and not line.startswith("#"):
                known.add((parts[0], parts[1].strip(), parts[2].strip()))
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
        match = re.match(r"(noticed|survived|equal|does not compile) +(\S+?):(\d+) ", line + " ")
        if match and i + 2 < len(lines):
            found[(match.group(2), match.group(3), lines[i + 1].strip(), lines[i + 2].strip())] = match.group(1)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=120)
    parser.add_argument("--layers", default=",".join(LAYERS))
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=int, default=180)
    parser.add_argument("--report", help="append to this file; what it holds already is not run again")
    parser.add_argument("--only", help="FILE:LINE: every mutant of that line")
    parser.add_argument("--list", action="store_true")
    given = parser.parse_args()
    layers = given.layers.split(",")
    chosen, total = draw(layers, given.count, given.seed)
    if given.only:
        path, line = given.only.rsplit(":", 1)
        chosen = [m for m in candidates(layers).get(path, []) if m[1] + 1 == int(line)]
    if given.list:
        for path, number, kind, line, new in chosen:
            print(f"{path}:{number + 1}: {kind}\n  {line.strip()}\n  {new.strip()}")
        return 0
    done, counts = {}, {}
    if given.report and os.path.exists(given.report):
        done = verdicts_in(given.report)
    for path, number, kind, line, new in chosen:
        verdict = done.get((path, str(number + 1), line.strip(), new.strip()))
        if verdict:
            counts[verdict] = counts.get(verdict, 0) + 1
    left = [m for m in chosen if (m[0], str(m[1] + 1), m[3].strip(), m[4].strip()) not in done]
    programs = programs_of(given.build)
    links = {test: commands_of(given.build, programs[test]) for layer in layers for test in TESTS[layer] if test in programs}
    links = {test: link for test, link in links.items() if link}
    compiles = {path: compile_command(given.build, path) for path in {m[0] for m in chosen}}
    equal = known_equal()
    report = open(given.report, "a", encoding="utf-8") if given.report else sys.stdout
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        futures = {pool.submit(run, m, given.build, links, compiles, given.timeout): m for m in left}
        for future in concurrent.futures.as_completed(futures):
            path, number, kind, line, new = futures[future]
            verdict, test = future.result()
            if verdict == "survived" and is_equal(equal, path, number, line, new):
                verdict = "equal"
            counts[verdict] = counts.get(verdict, 0) + 1
            print(f"{verdict:9} {path}:{number + 1} {kind} {test}\n    {line.strip()}\n    {new.strip()}", file=report, flush=True)
    print(f"{len(chosen)} of {total} mutants: " + ", ".join(f"{n} {v}" for v, n in sorted(counts.items())), file=report, flush=True)
    return 1 if counts.get("survived") else 0


if __name__ == "__main__":
    sys.exit(main())
