#!/usr/bin/env python3
"""Measures batches of all sizes on one core, in lanes and on threads, and ranks of poise-mpi, and puts the numbers into
docs/scale.md between its markers. For a quiet machine; two minutes.

update_scale.py [BUILD]

With a report of a machine with a CUDA device, made there by `poise bench gpu --save gpu.json`, it measures nothing: it puts the
numbers of that report into the page, draws docs/pictures/scale.svg and keeps the report beside it.

update_scale.py --device gpu.json [BUILD]
"""
import json
import math
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PAGE = os.path.join(ROOT, "docs", "scale.md")
ROUNDS = 9
RANK_ROUNDS = 2
SAMPLES = 600000
PICTURE = os.path.join(ROOT, "docs", "pictures", "scale.svg")


def curves(programs):
    """The table of batch sizes: microseconds of one problem, from the suite arm-batches."""
    command = [os.path.join(programs, "poise-bench"), "arm-batches", "--tables", "sizes", "--rounds", str(ROUNDS), "--json"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout)
    machine = f"{report['machine']}, {report['cores']} cores; {report['compiler']}; {report['date']}"
    lines = [f"{machine}.\nMicroseconds of one problem; million solves a second on all threads.\n",
             "| in a call | one by one | 4 lanes | 8 lanes | all threads | million a second |", "|---:|---:|---:|---:|---:|---:|"]
    for row in report["suites"][0]["rows"]:
        size = int(row["case"].split(",")[1])
        lines.append(f"| {size} | {row['us_single']:.2f} | {row['us_4_lanes']:.2f} | {row['us_8_lanes']:.2f} "
                     f"| {row['us_wall_all']:.2f} | {row['millions_per_second']:.2f} |")
    return "\n".join(lines) + "\n"


def time_ranks(programs, ranks, folder):
    # each rank on a core of its own, and no more than that
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), os.path.join(programs, "poise-mpi"),
               "reproduce", "erik-fig12", "--threads", "1", "--samples", str(SAMPLES), "-o", os.path.join(folder, str(ranks))]
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rank_times(programs):
    """Ranks against one, the least of rounds that take turns, from the start of mpirun to its end."""
    if not shutil.which("mpirun") or not os.path.exists(os.path.join(programs, "poise-mpi")):
        return "Not measured: no mpirun, or no poise-mpi.\n"
    counts = [n for n in (1, 2, 4, 8, 16, 32, 64) if n <= (os.cpu_count() or 1)]
    with tempfile.TemporaryDirectory() as folder:
        rounds = [{n: time_ranks(programs, n, folder) for n in counts} for _ in range(RANK_ROUNDS)]
    best = {n: [min(r[n][k] for r in rounds) for k in (0, 1)] for n in counts}
    lines = [f"ERIK on skeletons A to G, {SAMPLES} samples each, one thread for each rank; from the start of `mpirun` to its end, "
             f"the least of {RANK_ROUNDS}.\n", "| ranks | seconds | gain | processor seconds |", "|---:|---:|---:|---:|"]
    lines += [f"| {n} | {best[n][0]:.1f} | {best[1][0] / best[n][0]:.2f}x | {best[n][1]:.1f} |" for n in counts]
    return "\n".join(lines) + "\n"


# ---- A device ------------------------------------------------------------------------------------------------------------

def rows_of(report, suite, table):
    found = [s for s in report["suites"] if s["name"] == suite]
    if not found or "skipped" in found[0] or "broken" in found[0]:
        sys.exit(f"the report has no {suite}, or it was skipped, or it broke a promise")
    return [row for row in found[0]["rows"] if row["table"] == table]


def paragraph(text):
    return textwrap.fill(text, 130, break_long_words=False, break_on_hyphens=False)


def at_most(number):
    """One digit of it, rounded up."""
    power = 10.0 ** math.floor(math.log10(number)) if number > 0 else 1.0
    return f"{math.ceil(number / power) * power:.0e}"


def grouped(number):
    return f"{int(number):,}" if number >= 10000 else str(int(number))


def robots_table(report):
    """A column for each robot, a line for each number of targets in a call."""
    rows = {(row["case"].split(",")[0], int(row["batch"])): row for row in rows_of(report, "gpu-arms", "batches")}
    beyond = {row["case"]: row for row in rows_of(report, "gpu-arms", "beyond")}
    robots = list(dict.fromkeys(robot for robot, _ in rows))
    batches = sorted({batch for _, batch in rows}, reverse=True)

    def line(head, text):
        return f"| {head} | " + " | ".join(text(robot) for robot in robots) + " |"

    lines = [line("", str), "|---|" + "---:|" * len(robots)]
    for batch in batches:
        if batch == batches[0]:
            lines.append(line(f"{grouped(batch)}: million a second",
                              lambda r, b=batch: f"{rows[r, b]['millions_per_second']:.0f}"))
        elif batch > 1:
            lines.append(line(f"{grouped(batch)}: ms", lambda r, b=batch: f"{rows[r, b]['ms']:.3f}"))
        else:
            lines.append(line("1: us", lambda r: f"{1e3 * rows[r, 1]['ms']:.0f}"))
            lines.append(line("1 from and to host memory: us", lambda r: f"{rows[r, 1]['us_host']:.3g}"))
    lines.append(line(f"{grouped(beyond[robots[0]]['batch'])}, one in ten out of reach: ms",
                      lambda r: f"{beyond[r]['ms']:.3g}"))
    worst = max(row["cost_difference"] for row in beyond.values())
    solved = min(row["solved"] for row in rows.values()) # where limits or words did not hold, the report broke a promise
    words = (f"Within tolerance and limits: {solved:.5f} % of the targets, in every row. No answer is outside the limits, and none is "
             f"said to reach that does not. Costs of closest poses differ from those of `poise_solve` by {at_most(worst)} at most.")
    return lines + ["", paragraph(words)]


def sizes_table(report):
    rows = rows_of(report, "gpu-arms", "sizes")
    methods = list(dict.fromkeys(row["method"] for row in rows))
    rates = {(row["method"], int(row["batch"])): row["millions_per_second"] for row in rows}
    lines = [f"{rows[0]['case'].split(',')[0]}, million solves a second; all cores: {report['cores']} of them, with lanes.\n",
             "| targets in a call | " + " | ".join(methods) + " |", "|---:|" + "---:|" * len(methods)]
    for batch in dict.fromkeys(batch for _, batch in rates):
        cells = [f"{rates[m, batch]:.3g}" if (m, batch) in rates else "" for m in methods]
        lines.append(f"| {grouped(batch)} | " + " | ".join(cells) + " |")
    return lines


def device_numbers(report):
    suite = next(s for s in report["suites"] if s["name"] == "gpu-arms")
    machine = f"{suite['notes'][0]} Host: {report['machine']}, {report['cores']} cores; {report['date']}. {suite['notes'][1]}"
    lines = [paragraph(machine), ""]
    lines += robots_table(report)
    lines += ["\n![Solves a second against targets in a call](pictures/scale.svg)\n"]
    lines += sizes_table(report)
    return "\n".join(lines) + "\n"


def take_device(programs, path):
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    numbers = device_numbers(report)
    kept = os.path.splitext(PICTURE)[0] + ".json"
    if os.path.abspath(path) != os.path.abspath(kept):
        shutil.copyfile(path, kept)
    subprocess.run([os.path.join(programs, "poise"), "bench", "--draw", kept, "-o", PICTURE], check=True)
    return numbers


# ---- The page ------------------------------------------------------------------------------------------------------------

def main():
    words = sys.argv[1:]
    device = words.pop(words.index("--device") + 1) if "--device" in words[:-1] else None
    words = [word for word in words if word != "--device"]
    programs = os.path.join(os.path.abspath(words[0] if words else os.path.join(ROOT, "build")), "bin")
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    parts = (("batch sizes", curves), ("ranks", rank_times))
    if device:
        parts = (("device", lambda where: take_device(where, device)),)
    for name, measure in parts:
        begin, end = f"<!-- {name}: tools/update_scale.py -->\n", f"<!-- end of {name} -->\n"
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        if not pattern.search(text):
            sys.exit(f"{PAGE}: no place for {name}: {begin}")
        numbers = measure(programs)
        print(numbers)
        text = pattern.sub(lambda _, new=begin + numbers + end: new, text)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
