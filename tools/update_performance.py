#!/usr/bin/env python3
"""Measures with poise-bench, rivals included, and puts the numbers into docs/performance.md between its two markers.

update_performance.py [POISE-BENCH [OPTION...]]
"""
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PAGE = os.path.join(ROOT, "docs", "performance.md")
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
    """Lines of the summary: our method, and each rival beside it."""
    lines = []
    for name, found in rows.items():
        if name == own or own not in rows:
            continue
        ours, theirs = mean(rows[own], key), mean(found, key)
        lines.append([task, f"{number(ours)} {unit}, {quality(rows[own])}", name,
                      f"{number(theirs)} {unit}, {quality(found)}", f"{theirs / ours:.1f}x"])
    return lines


def summary(report):
    def error(rows):
        worst = max(row["error"] for row in rows)
        return f"off by {worst:.0e}" if worst > 0 else "the reference"

    def solved(rows):
        return f"{mean(rows, 'solved'):.2f} % solved"

    def rms(rows):
        return f"rms {mean(rows, 'error_rms_mm'):.3g} mm"

    def chosen(rows, *names):
        return {name: found for name, found in rows.items() if name in names}

    rivals = ("auto", "textbook dense LM", "Simbody Assembler")
    hessian = [row for row in rows_of(report, "derivatives", "hessian") if row["markers"] == 1000]
    lines = race("Frame and Jacobian of an arm", by_method(rows_of(report, "kinematics", "forward")), "poise", "ns_jacobian",
                 "ns", error)
    lines += race("Exact Hessian, 58 dofs, 1000 markers",
                  chosen(by_method(hessian, "humanoid-euler"), "poise, dense", "Algorithm 4"), "poise, dense", "us_mean", "us",
                  error)
    for table, start in (("mid", "from mid-range"), ("near", "from 0.1 rad away")):
        arms = by_method(rows_of(report, "arms", table))
        arms.pop("poise, table", None)
        lines += race(f"Arm, 6D pose, {start}", arms, "poise", "us_mean", "us", solved)
    for table, noise in (("clean", "no noise"), ("noise", "3 mm of noise")):
        lines += race(f"58 dofs, 41 markers, a frame, {noise}", chosen(by_method(rows_of(report, "markers", table)), *rivals),
                      "auto", "us_mean", "us", rms)
    text = ["| task | Poise | rival | its numbers | time over Poise's |", "|---|---|---|---|---:|"]
    return "\n".join(text + ["| " + " | ".join(line) + " |" for line in lines]) + "\n"


def measure(words):
    """Markdown and JSON of one run."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.json")
        done = subprocess.run([*words, "--peers", "--markdown", "--save", path], cwd=ROOT, stdout=subprocess.PIPE, text=True,
                              check=False)
        if done.returncode not in (0, 1):
            sys.exit(done.returncode)
        with open(path, encoding="utf-8") as file:
            return done.stdout, json.load(file)


def main():
    words = sys.argv[1:] or [os.path.join(ROOT, "build", "bin", "poise-bench")]
    words[0] = os.path.abspath(words[0])
    tables, report = measure(words)
    machine, tables = tables.split("\n", 1)
    tables = tables.split("\n### Gpu-")[0] # the last suites: docs/scale.md has them
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    before, after = page.index(BEGIN) + len(BEGIN), page.index(END)
    machine += f"\n\nA run with the options `{' '.join(words[1:])}`." if words[1:] else ""
    text = page[:before] + f"\n{machine}\n\n### In short\n\n{summary(report)}{tables}\n" + page[after:]
    with open(PAGE + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(PAGE + ".new", PAGE)
    broken = [f"{suite['name']}: {text}" for suite in report["suites"] for text in suite.get("broken", [])]
    print("\n".join(broken + [f"{PAGE}: {len(broken)} broken promises"]))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
