#!/usr/bin/env python3
"""Measures with poise-bench, baselines included: all numbers go to docs/results.json, the ones that matter most into
docs/performance.md between its two markers.

update_performance.py [POISE-BENCH [OPTION...]]

update_performance.py --page    measure nothing: the page from docs/results.json as it is

update_performance.py --add REPORT.json    the suites of a report that poise-bench --save wrote on the same machine take the
                                           place of those in docs/results.json
"""
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PAGE = os.path.join(ROOT, "docs", "performance.md")
RESULTS = os.path.join(ROOT, "docs", "results.json")
BEGIN, END = "<!-- results: tools/update_performance.py -->\n", "<!-- end of results -->\n"


def rows_of(report, suite, table):
    for found in report["suites"]:
        if found["name"] == suite:
            return [row for row in found["rows"] if row["table"] == table]
    return []


def by_method(rows, case=None):
    """Lists of rows by method, of one case or of all."""
    methods = {}
    for row in rows:
        if case is None or row["case"] == case:
            methods.setdefault(row["method"], []).append(row)
    return methods


def mean(rows, key):
    return sum(row[key] for row in rows) / len(rows)


def number(value):
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def race(task, rows, own, key, unit, quality):
    """Lines of the summary: our method, and each baseline beside it."""
    lines = []
    for name, found in rows.items():
        if name == own or own not in rows:
            continue
        ours, theirs = mean(rows[own], key), mean(found, key)
        lines.append([task, f"{number(ours)} {unit}, {quality(rows[own])}", name,
                      f"{number(theirs)} {unit}, {quality(found)}", f"{theirs / ours:.1f}x"])
    return lines


def races(report):
    def error(rows):
        worst = max(row["error"] for row in rows)
        return f"off by {worst:.0e}" if worst > 0 else "the reference"

    def solved(rows):
        return f"{mean(rows, 'solved'):.2f} % solved"

    def rms(rows):
        return f"rms {mean(rows, 'error_rms_mm'):.3g} mm"

    def chosen(rows, *names):
        return {name: found for name, found in rows.items() if name in names}

    baselines = ("auto", "textbook dense LM", "Simbody Assembler")
    hessian = [row for row in rows_of(report, "derivatives", "hessian") if row["markers"] == 1000]
    lines = race("Frame and Jacobian of an arm", by_method(rows_of(report, "kinematics", "forward")), "poise", "ns_jacobian",
                 "ns", error)
    lines += race("Exact Hessian, 58 dofs, 1000 markers",
                  chosen(by_method(hessian, "humanoid-euler"), "poise, dense", "Algorithm 4"), "poise, dense", "us_mean", "us",
                  error)
    for of, start in (("mid", "from mid-range"), ("near", "from 0.1 rad away")):
        arms = by_method(rows_of(report, "arms", of))
        arms.pop("poise, table", None)
        lines += race(f"Arm, 6D pose, {start}", arms, "poise", "us_mean", "us", solved)
    for of, noise in (("clean", "no noise"), ("noise", "3 mm of noise")):
        lines += race(f"58 dofs, 41 markers, a frame, {noise}", chosen(by_method(rows_of(report, "markers", of)), *baselines),
                      "auto", "us_mean", "us", rms)
    return table(["task", "Poise", "baseline", "its numbers", "time over Poise's"], lines)


# Tasks without a baseline: suite, table, case, method, and what to say of the row.
ALONE = [
    ("Arm, 6D pose out of reach: the closest one", "arms", "far", "panda", "poise", "{us_mean:.1f} us"),
    ("Arm, 6D pose, a batch in 8 lanes of one core", "arm-batches", "mid", "panda", "poise", "{us_8_lanes:.2f} us, same bits"),
    ("Whole body, cold start, 41 markers", "methods", "cold", "all", "auto", "{us_mean:.0f} us, {solved:.0f} % solved"),
    ("HDM05 frame, 62 dofs, from the frame before", "hdm05", "amc", "10 iter.", "auto", "{us_mean:.1f} us, {solved:.2f} % solved"),
    ("ERIK, skeleton C", "expressive", "wide", "C samples", "erik", "{us_mean:.1f} us, {solved:.0f} % within its threshold"),
    ("Its successor, skeleton C, by shape", "expressive", "wide", "C samples", "shape",
     "{us_mean:.0f} us, {solved:.0f} % within ERIK's threshold"),
    ("Warp, aim and filter: one tick", "warps", "ticks", "erik-g", "poise", "{us_mean:.0f} us, p99 {us_p99:.0f} us"),
    ("Panda, 6D pose clear of six boxes by 3 cm", "constraints", "arms", "Panda, 6 boxes", "poise",
     "{us_mean:.0f} us, {reached:.1f} % reached, {broken:.0f} broken"),
    ("G1, four 6D poses without collisions with itself", "constraints", "bodies", "G1", "poise",
     "{us_mean:.0f} us, {reached:.1f} % reached, {broken:.0f} broken"),
    ("Stewart platform, closed to 1e-12", "constraints", "loops", "Stewart", "poise", "{us_mean:.0f} us"),
    ("Read a C3D file", "files", "formats", "C3D Intel float", "poise", "{read_mb_s:.0f} MB/s"),
    ("Read a BVH file", "files", "formats", "BVH, 4 decimals", "poise", "{read_mb_s:.0f} MB/s"),
]


def alone(report):
    lines = []
    for task, suite, of, case, method, words in ALONE:
        for row in by_method(rows_of(report, suite, of), case).get(method, [])[:1]:
            lines.append([task, words.format(**row)])
    return table(["task", "Poise"], lines)


def table(heads, lines):
    rule = "|" + "|".join("---:" if head.startswith("time") else "---" for head in heads) + "|"
    return "\n".join(["| " + " | ".join(heads) + " |", rule] + ["| " + " | ".join(line) + " |" for line in lines]) + "\n"


def measure(words):
    """The report of one run; the suites of a device are in docs/scale.md."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.json")
        done = subprocess.run([*words, "--peers", "--save", path], cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
        if done.returncode not in (0, 1):
            sys.exit(done.returncode)
        report = read(path)
    report["options"] = words[1:]
    report["suites"] = [suite for suite in report["suites"] if not suite["name"].startswith("gpu-")]
    return report


def add(report, more):
    """The report with the suites of another run on the same machine."""
    for key in ("machine", "cores", "compiler", "flags"):
        if report[key] != more[key]:
            sys.exit(f"{key}: {more[key]}, not {report[key]} as in {RESULTS}: measure all suites on one machine")
    names = {suite["name"] for suite in more["suites"]}
    kept = [suite for suite in report["suites"] if suite["name"] not in names]
    return {**report, "suites": kept + more["suites"]}


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def write(path, text):
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)


def as_text(report):
    """JSON with one row of a table on each line."""
    rows = [row for suite in report["suites"] for row in suite.get("rows", [])]
    text = {**report, "suites": [{**suite, "rows": ["@row"] * len(suite.get("rows", []))} for suite in report["suites"]]}
    lines = iter(json.dumps(row) for row in rows)
    return re.sub('"@row"', lambda _: next(lines), json.dumps(text, indent=1)) + "\n"


def main():
    words = sys.argv[1:] or [os.path.join(ROOT, "build", "bin", "poise-bench")]
    if words == ["--page"]:
        report = read(RESULTS)
    elif words[0] == "--add" and len(words) == 2:
        report = add(read(RESULTS), read(words[1]))
        write(RESULTS, as_text(report))
    else:
        words[0] = os.path.abspath(words[0])
        report = measure(words)
        write(RESULTS, as_text(report))
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    before, after = page.index(BEGIN) + len(BEGIN), page.index(END)
    machine = (f"{report['machine']}, {report['cores']} cores; {report['compiler']}, {report['flags']}; Poise {report['version']}; "
               f"{report['date']}")
    machine += f"; options `{' '.join(report['options'])}`" if report.get("options") else ""
    write(PAGE, page[:before] + f"\n{machine}\n\n{races(report)}\n{alone(report)}\n" + page[after:])
    broken = [f"{suite['name']}: {text}" for suite in report["suites"] for text in suite.get("broken", [])]
    print("\n".join(broken + [f"{PAGE}: {len(broken)} broken promises"]))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
