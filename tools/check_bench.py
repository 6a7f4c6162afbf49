#!/usr/bin/env python3
"""Runs every suite of poise-bench in a hurry and checks what comes out: JSON, tables, wrong usage.

check_bench.py POISE-BENCH
"""
import json
import math
import os
import subprocess
import sys
import tempfile

# What each suite promises in every row of Poise's own, and columns that every row must have (ratios: RACES).
SOLVED = {"arms", "arm-batches", "marker-batches", "gpu-arms"}
COLUMNS = {
    "kinematics": ["error", "ns_forward", "ns_jacobian"],
    "derivatives": ["us_mean"],
    "methods": ["solved", "error_mm", "iterations", "us_mean", "us_p50", "us_p99"],
    "scaling": ["error_um", "us_mean", "ns_per_dof"],
    "arms": ["solved", "error", "us_mean", "us_p50", "us_p99"],
    "arm-batches": ["solved", "same_bits", "us_single", "us_wall_all", "ratio_threads"],
    "tips": ["solved", "searches", "us_mean", "us_p50", "us_p99"],
    "constraints": ["reached", "holds", "broken", "us_mean", "us_p50", "us_p99", "per_second"],
    "markers": ["error_rms_mm", "error_worst_mm", "us_mean", "us_p50", "us_p99"],
    "marker-batches": ["solved", "error_rms_mm", "same_bits", "us_mean", "ratio"],
    "hdm05": ["solved", "us_mean"],
    "fits": [],
    "files": ["error", "read_mb_s", "write_mb_s", "ratio"],
    "erik": [],
    "expressive": ["solved", "error", "us_mean", "us_p99"],
    "warps": ["error_degrees", "outside", "us_mean", "us_p50", "us_p99"],
    "steps": ["error_mm", "outside", "us_mean", "us_p50", "us_p99"],
    "sequences": ["filter_degrees", "whole_degrees", "outside", "per_second"],
    "gpu-arms": ["batch", "outside", "wrong", "ms", "millions_per_second"],
    "gpu-apart": ["batch", "reached", "broken", "ms", "millions_per_second"],
    "gpu-markers": ["batch", "wrong", "ms", "per_second"],
    "gpu-clips": ["clips", "ms", "per_second"],
    "gpu-tips": [],
}

# Where solvers race: the column that tells whether a row got the answer of the first row of its case, and the error that does
# not matter; None: the column is a share of solved problems.
RACES = {
    "kinematics": ("error", 1e-12),
    "derivatives": ("error", 1e-12),
    "methods": ("solved", None),
    "arms": ("solved", None),
    "markers": ("error_rms_mm", 1e-3),
    "hdm05": ("solved", None),
    "erik": ("solved", None),
    "expressive": ("solved", None),
}
PEERS = ("KDL", "textbook", "Simbody", "Algorithm", "2 tasks")

failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)


def run(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, check=False)


def check_row(suite, row):
    where = f"{suite} {row.get('table')} {row.get('case')} {row.get('method')}"
    expect(all(isinstance(row.get(key), str) and row[key] for key in ("table", "case", "method")), f"{where}: no names")
    for key in COLUMNS[suite]:
        expect(key in row, f"{where}: no {key}")
    for key, value in row.items():
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            expect(math.isfinite(value), f"{where}: {key} is {value}")
    expect(row.get("same_bits", True) is True, f"{where}: other bits")
    for key in ("outside", "violations"):
        expect(row.get(key, 0) == 0, f"{where}: answers outside the limits")
    if suite in SOLVED and not row["method"].startswith("KDL"):
        least = 99 if suite == "marker-batches" and row["table"] == "cold" else 100
        expect(row["solved"] >= least or row["table"] == "beyond", f"{where}: {row['solved']} % solved")


def check_race(suite, rows):
    """A ratio stands beside the answer of the first row of the case, and nowhere else."""
    first = {}
    for row in rows:
        where = f"{suite} {row['table']} {row['case']} {row['method']}"
        has_ratio = any(key.startswith("ratio") for key in row)
        if "same_answer" not in row:
            expect(not (has_ratio and row["method"].startswith(PEERS)), f"{where}: a ratio to a peer outside a race")
            continue
        key, error = RACES[suite]
        best = first.setdefault((row["table"], row["case"]), row)
        is_same = row[key] <= max(1.01 * best[key], error) if error else row[key] >= 0.95 * best[key]
        expect(row["same_answer"] == (is_same or row is best), f"{where}: same_answer is {row['same_answer']}")
        expect(has_ratio == row["same_answer"], f"{where}: a ratio without the same answer, or none with it")


def check_json(program):
    done = run(program, "--quick", "--peers", "--json")
    expect(done.returncode == 0, f"exit status {done.returncode}: {done.stderr}")
    expect(done.stderr == "", f"words on standard error in a pipe: {done.stderr}")
    report = json.loads(done.stdout)
    for key in ("machine", "compiler", "flags", "version", "date"):
        expect(isinstance(report.get(key), str), f"no {key}")
    expect(report["peers"] and all({"name", "built", "run"} <= set(p) for p in report["peers"]), "no peers")
    expect([suite["name"] for suite in report["suites"]] == list(COLUMNS), "suites are missing, or in another order")
    for suite in report["suites"]:
        expect("broken" not in suite, f"{suite['name']}: {suite.get('broken')}")
        expect(suite["rows"] or suite.get("skipped"), f"{suite['name']}: neither rows nor a reason")
        for row in suite["rows"]:
            check_row(suite["name"], row)
        check_race(suite["name"], suite["rows"])
    lost = [row for suite in report["suites"] if suite["name"] == "methods" for row in suite["rows"]
            if row["method"] == "gradient_descent"]
    expect(lost and not any(row["same_answer"] for row in lost), "gradient descent got there: no row tests the rule")
    print({suite["name"]: round(suite["seconds"], 2) for suite in report["suites"]})


def check_text(program):
    fast = ["kinematics", "derivatives", "scaling", "arms", "arm-batches", "marker-batches", "erik", "warps", "steps"]
    for style in ([], ["--markdown"]):
        done = run(program, *fast, "--quick", *style)
        expect(done.returncode == 0 and done.stderr == "", f"tables: exit status {done.returncode}: {done.stderr}")
        expect(done.stdout.isprintable() or all(c.isprintable() or c == "\n" for c in done.stdout), "control characters")
        for line in done.stdout.split("\n") if not style else []:
            expect(len(line) <= 80, f"{len(line)} columns: {line}")
    done = run(program, "arms", "markers", "--quick", "--tables", "near,clean", "--json")
    cases = {row["case"] for suite in json.loads(done.stdout)["suites"] for row in suite["rows"]}
    expect({"panda", "baxter", "swing", "walk", "kick"} <= cases, f"arms and motions are missing: {cases}")
    done = run(program, "gpu", "--quick", "--json")
    suites = json.loads(done.stdout)["suites"]
    expect(done.returncode == 0 and len(suites) > 1 and all(s["name"].startswith("gpu-") for s in suites), "not all of gpu-*")
    expect(all(suite["rows"] or "CUDA" in suite["skipped"] for suite in suites), "no device, and no word of it")
    for words in (["--help"], ["--list"]):
        done = run(program, *words)
        expect(done.returncode == 0 and all(f"  {suite} " in done.stdout for suite in COLUMNS), f"{words} names no suites")
        expect(all(len(line) <= 80 for line in done.stdout.split("\n")), f"{words} is too wide")


def check_data(program):
    """Files of others: without them one line says what is left out; one that is another file is an error."""
    with tempfile.TemporaryDirectory() as folder:
        done = run(program, "hdm05", "fits", "--quick", "--data", folder)
        expect(done.returncode == 0 and done.stdout.count("Skipped:") == 2, "no data, and no word of it")
        for suite in ("hdm05", "fits", "tips"):
            done = run(program, suite, "--quick", "--data", os.path.join(folder, "none"))
            expect(done.returncode == 2 and "none: there is no such folder of data" in done.stderr,
                   f"{suite} without its folder: exit status {done.returncode}: {done.stderr}")
        for suites in (["tips", "--tables", "one"], ["constraints", "--tables", "bodies"], ["steps"]):
            done = run(program, *suites, "--quick", "--data", folder)
            words = " ".join(done.stdout.split())
            expect(done.returncode == 0 and "android" in words and words.count("Left out: ") == 1, f"{suites}: {done.stdout}")
            expect("is not there; \"tools/data.sh fetch FOLDER\" gets it" in words, f"{suites}: no word of how: {words}")
        for suite, name in (("tips", "urdf/pr2.urdf"), ("steps", "urdf/g1_29dof_rev_1_0.urdf"), ("hdm05", "hdm05/HDM_dg.asf")):
            os.makedirs(os.path.join(folder, os.path.dirname(name)), exist_ok=True)
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write("another\n")
            done = run(program, suite, "--quick", "--data", folder)
            expect(done.returncode == 2 and f"{name} is another file than tools/data.tsv lists" in done.stderr,
                   f"{suite}: exit status {done.returncode}: {done.stderr}")


def check_wrong_usage(program):
    for words in (["legs"], ["--fast"], ["arms", "--targets"], ["arms", "--targets", "many"], ["arms", "--targets", "0"],
                  ["arms", "--tables", "warm"], ["erik", "--skeletons", "XYZ"]):
        done = run(program, *words)
        lines = done.stderr.split("\n")
        expect(done.returncode == 2 and done.stdout == "", f"{words}: exit status {done.returncode}")
        expect(lines[0].startswith("poise bench: ") and lines[1] == "Suites:", f"{words}: {done.stderr}")
        expect(all(f"  {suite} " in done.stderr for suite in COLUMNS), f"{words}: the suites are not named")
    expect('did you mean "markers"?' in run(program, "makers").stderr, "no suite is near to makers")


def main():
    check_wrong_usage(sys.argv[1])
    check_data(sys.argv[1])
    check_text(sys.argv[1])
    check_json(sys.argv[1])
    for failure in failures:
        print(failure)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
