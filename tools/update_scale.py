#!/usr/bin/env python3
"""Measures batches of all sizes on one core, in lanes and on threads, and ranks of poise-mpi, and puts the numbers into
docs/scale.md between its markers. For a quiet machine; two minutes.

update_scale.py [BUILD]
"""
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PAGE = os.path.join(ROOT, "docs", "scale.md")
ROUNDS = 9
RANK_ROUNDS = 2
SAMPLES = 600000


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
    command = ["mpirun", "-q", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), os.path.join(programs, "poise-mpi"),
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


def main():
    programs = os.path.join(os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build")), "bin")
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    for name, measure in (("batch sizes", curves), ("ranks", rank_times)):
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
