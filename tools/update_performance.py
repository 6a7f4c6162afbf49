#!/usr/bin/env python3
"""Measures with poise-bench, baselines included, and with poise reproduce erik-table9: all numbers go to docs/results.json, the
ones that matter most into docs/performance.md and the results of README.md, between their markers. No number there is typed.

update_performance.py [POISE-BENCH [OPTION...]]

update_performance.py --page    measure nothing: the pages from docs/results.json as it is, and docs/pictures/scale.json, which
                                --scale --device keeps of a machine with a CUDA device

update_performance.py --check   nothing is written: exits with 1 where --page would change a page

update_performance.py --scale [BUILD]           measure batches of all sizes on one core, in lanes and on threads, and ranks of
                                                poise-mpi, and put the numbers into docs/scale.md; two minutes
update_performance.py --scale --device gpu.json [BUILD]    measure nothing: numbers and picture from the report of a machine with a
                                                CUDA device, made there by `poise bench gpu --save gpu.json`; it is kept beside them

update_performance.py --add REPORT.json    the suites of a report that poise-bench --save wrote on the same machine, or what
                                           poise reproduce --json printed, take the place of those in docs/results.json
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
PAGE = os.path.join(ROOT, "docs", "performance.md")
README = os.path.join(ROOT, "README.md")
DEVICE = os.path.join(ROOT, "docs", "pictures", "scale.json")
RESULTS = os.path.join(ROOT, "docs", "results.json")
SCALE = os.path.join(ROOT, "docs", "scale.md")
PICTURE = os.path.join(ROOT, "docs", "pictures", "scale.svg")
ROUNDS = 9  # of batches of all sizes
RANK_ROUNDS, SAMPLES = 2, 600000
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


def ratio(ours, theirs, key):
    """How many times longer theirs took, and where it got the answer that ours did; a ratio stands only beside the same answer."""
    if not all("same_answer" in row for row in theirs):
        return None, "" # a report from before answers were compared
    lost = [row["case"] for row in theirs if not row["same_answer"]]
    if lost:
        return None, "does not get there" + (f" ({', '.join(lost)})" if len(lost) < len(theirs) else "")
    cases = {row["case"] for row in theirs}
    return mean(theirs, key) / mean([row for row in ours if row["case"] in cases], key), ""


def race(task, rows, own, key, unit, quality):
    """Lines of the summary: our method, and each baseline beside it."""
    lines = []
    for name, found in rows.items():
        if name == own or own not in rows:
            continue
        times, why = ratio(rows[own], found, key)
        lines.append([task, f"{number(mean(rows[own], key))} {unit}, {quality(rows[own])}", name,
                      f"{number(mean(found, key))} {unit}, {quality(found)}", f"{times:.1f}x" if times else why])
    return lines


def worst_error(rows):
    worst = max(row["error"] for row in rows)
    return f"off by {worst:.0e}" if worst > 0 else "the reference"


def solved(rows):
    return f"{mean(rows, 'solved'):.2f} % solved"


def rms(rows):
    return f"rms {mean(rows, 'error_rms_mm'):.3g} mm"


def chosen(rows, *names):
    return {name: found for name, found in rows.items() if name in names}


def hessian_rows(report):
    return chosen(by_method(rows_of(report, "derivatives", "markers"), "humanoid-euler"), "poise, dense", "Algorithm 4")


def marker_rows(report, of, case=None):
    return chosen(by_method(rows_of(report, "markers", of), case), "auto", "textbook dense LM", "Simbody Assembler")


def arm_rows(report, of):
    arms = by_method(rows_of(report, "arms", of))
    arms.pop("poise, table", None)
    return arms


def races(report):
    lines = race("Frame and Jacobian of an arm", by_method(rows_of(report, "kinematics", "forward")), "poise", "ns_jacobian",
                 "ns", worst_error)
    lines += race("Exact Hessian, 58 dofs, 1000 markers", hessian_rows(report), "poise, dense", "us_mean", "us", worst_error)
    for of, start in (("mid", "from mid-range"), ("near", "from 0.1 rad away")):
        lines += race(f"Arm, 6D pose, {start}", arm_rows(report, of), "poise", "us_mean", "us", solved)
    for of, noise in (("clean", "no noise"), ("noise", "3 mm of noise")):
        for case in dict.fromkeys(row["case"] for row in rows_of(report, "markers", of)):
            lines += race(f"58 dofs, 41 markers, a frame of {case}, {noise}", marker_rows(report, of, case), "auto", "us_mean",
                          "us", rms)
    return table(["task", "Poise", "baseline", "its numbers", "time over Poise's"], lines)


# ---- The README ----------------------------------------------------------------------------------------------------------

def beside(report, rows, own, key, unit, quality, peers):
    """Two cells: ours, and all baselines. `peers`: the names of those that belong here, with how they are written."""
    cells = []
    for name, word in peers.items():
        if name not in rows:
            package = next((peer["package"] for peer in report["peers"] if peer["package"] and peer["name"].split()[-1] in name),
                           None)
            cells.append(f"{word}: not measured" + (f" (`{package}`)" if package else ""))
            continue
        times, why = ratio(rows[own], rows[name], key)
        words = f"{times:.0f}x the time" if times else why
        if len(rows[name]) < len(rows[own]):
            word += f" ({', '.join(row['case'] for row in rows[name])} alone)"
        cells.append(f"{word}: {number(mean(rows[name], key))} {unit}, {quality(rows[name])}" + (f", {words}" if words else ""))
    return [f"{number(mean(rows[own], key))} {unit}, {quality(rows[own])}", "; ".join(cells)]


def readme_rows(report):
    """Lines of the table: what, ours, beside it, command. A suite that was not measured gives none."""
    lines = []
    arms, markers, hessian = arm_rows(report, "mid"), marker_rows(report, "noise"), hessian_rows(report)
    if "poise" in arms:
        count = len(arms["poise"])
        lines.append([f"pose of a robot arm, 1e-5 m and rad, limits held, mean of {count} arms",
                      *beside(report, arms, "poise", "us_mean", "us", solved, {"KDL LMA": "KDL with restarts"}),
                      "`poise bench arms --peers`"])
    if "auto" in markers:
        cases = len(markers["auto"])
        lines.append([f"a frame of 41 noisy markers, 58 degrees of freedom, mean of {cases} motion{'s' if cases > 1 else ''}",
                      *beside(report, markers, "auto", "us_mean", "us", rms,
                              {"textbook dense LM": "a textbook solver", "Simbody Assembler": "Simbody"}),
                      "`poise bench markers --peers`"])
    if "poise, dense" in hessian:
        lines.append(["exact Hessian, 58 degrees of freedom, 1000 markers",
                      *beside(report, hessian, "poise, dense", "us_mean", "us", worst_error,
                              {"Algorithm 4": "the paper's Algorithm 4"}),
                      "`poise bench derivatives --peers`"])
    for row in report.get("reproduced", {}).get("erik-table9", []):
        if row["solver"] == "ERIK" and row["error"] == "combined":
            lines.append([f"ERIK on skeleton C, mean error of {row['samples']:,.0f} samples", f"{row['mean']:.4f}",
                          f"printed in the paper: {row['printed_mean']:.4f}",
                          "`poise reproduce erik-table9`; all samples: `--full`, hours"])
    return lines


def device_row():
    """The largest batches of arm poses of a device, from the report that docs/scale.md is made of."""
    report = read(DEVICE)
    rows = rows_of(report, "gpu-arms", "batches")
    most = max(row["batch"] for row in rows)
    rates = [row["millions_per_second"] / 1000 for row in rows if row["batch"] == most]
    device = next(suite for suite in report["suites"] if suite["name"] == "gpu-arms")["notes"][0].split(",")[0]
    share = min(row["solved"] for row in rows if row["batch"] == most)
    return [f"arm poses on one {device}, {most / 1e6:.0f} million in a call", f"{min(rates):.2f} to {max(rates):.2f} "
            f"billion a second, {share:.2f} % solved", "", "`poise bench gpu-arms`, with a CUDA device"]


# Tasks without a baseline: suite, table, case, method, and what to say of the row.
ALONE = [
    ("Arm, 6D pose out of reach: the closest one", "arms", "far", "panda", "poise", "{us_mean:.1f} us"),
    ("Arm, 6D pose, a batch in 8 lanes of one core", "arm-batches", "mid", "panda", "poise", "{us_8_lanes:.2f} us, same bits"),
    ("Whole body, cold start, 41 markers", "methods", "cold", "all", "auto", "{us_mean:.0f} us, {solved:.0f} % solved"),
    ("HDM05 frame, 62 dofs, from the frame before; with the data folder", "hdm05", "amc", "10 iter.", "auto",
     "{us_mean:.1f} us, {solved:.2f} % solved"),
    ("ERIK, skeleton C", "expressive", "wide", "C samples", "erik", "{us_mean:.1f} us, {solved:.0f} % within its threshold"),
    ("Its successor, skeleton C, by shape", "expressive", "wide", "C samples", "shape",
     "{us_mean:.0f} us, {solved:.0f} % within ERIK's threshold"),
    ("Warp, aim and filter: one tick", "warps", "ticks", "erik-g", "poise", "{us_mean:.0f} us, p99 {us_p99:.0f} us"),
    ("Panda, 6D pose clear of six boxes by 3 cm", "constraints", "arms", "Panda, 6 boxes", "poise",
     "{us_mean:.0f} us, {reached:.1f} % reached, {broken:.0f} broken"),
    ("Humanoid robot, four 6D poses without collisions with itself", "constraints", "bodies", "android", "poise",
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
        poise = os.path.join(os.path.dirname(words[0]), "poise")
        found = subprocess.run([poise, "reproduce", "erik-table9", "--json", "-o", folder], cwd=folder, stdout=subprocess.PIPE,
                               check=True)
    report["reproduced"] = reproduced(json.loads(found.stdout))
    report["options"] = words[1:]
    report["suites"] = [suite for suite in report["suites"] if not suite["name"].startswith("gpu-")]
    return report


def reproduced(printed):
    """Rows of the first table of each experiment, by name: the same on every machine."""
    return {experiment["name"]: experiment["tables"][0]["rows"] for experiment in printed["reproduced"]}


def add(report, more):
    """The report with the suites of another run on the same machine, or with what was reproduced on any."""
    if "reproduced" in more and "suites" not in more:
        return {**report, "reproduced": {**report.get("reproduced", {}), **reproduced(more)}}
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


def put(page, numbers, only_check=False, begin=BEGIN, end=END):
    """The numbers between the markers of a page; whether they were there already."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    if begin not in text or end not in text:
        sys.exit(f"{page}: no place for numbers: {begin}")
    before, after = text.index(begin) + len(begin), text.index(end)
    changed = text[:before] + numbers + text[after:]
    if not only_check:
        write(page, changed)
    elif changed != text:
        print(f"{page} is not what docs/results.json gives: tools/update_performance.py --page")
    return changed == text


def as_text(report):
    """JSON with one row of a table on each line."""
    rows = [row for suite in report["suites"] for row in suite.get("rows", [])]
    text = {**report, "suites": [{**suite, "rows": ["@row"] * len(suite.get("rows", []))} for suite in report["suites"]]}
    lines = iter(json.dumps(row) for row in rows + [row for found in report.get("reproduced", {}).values() for row in found])
    text["reproduced"] = {name: ["@row"] * len(found) for name, found in text.pop("reproduced", {}).items()}
    return re.sub('"@row"', lambda _: next(lines), json.dumps(text, indent=1)) + "\n"


# ---- Many problems at once: docs/scale.md --------------------------------------------------------------------------------

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


def device_rows(report, table):
    found = [suite for suite in report["suites"] if suite["name"] == "gpu-arms"]
    if not found or "skipped" in found[0] or "broken" in found[0]:
        sys.exit("the report has no gpu-arms, or it was skipped, or it broke a promise")
    return rows_of(report, "gpu-arms", table)


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
    rows = {(row["case"].split(",")[0], int(row["batch"])): row for row in device_rows(report, "batches")}
    beyond = {row["case"]: row for row in device_rows(report, "beyond")}
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
             f"reported as reached that is not. Costs of closest poses differ from those of `poise_solve` by {at_most(worst)} at most.")
    return lines + ["", paragraph(words)]


def sizes_table(report):
    rows = device_rows(report, "sizes")
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
    numbers = device_numbers(read(path))
    if os.path.abspath(path) != os.path.abspath(DEVICE):
        shutil.copyfile(path, DEVICE)
    subprocess.run([os.path.join(programs, "poise"), "bench", "--draw", DEVICE, "-o", PICTURE], check=True)
    return numbers


def update_scale(words):
    """The parts of docs/scale.md that were measured; with the report of a device, the one that it gives."""
    device = words.pop(words.index("--device") + 1) if "--device" in words[:-1] else None
    words = [word for word in words if word != "--device"]
    programs = os.path.join(os.path.abspath(words[0] if words else os.path.join(ROOT, "build")), "bin")
    parts = {"device": lambda: take_device(programs, device)} if device else {
        "batch sizes": lambda: curves(programs), "ranks": lambda: rank_times(programs)}
    for name, numbers in parts.items():
        put(SCALE, numbers(), begin=f"<!-- {name}: tools/update_performance.py --scale -->\n", end=f"<!-- end of {name} -->\n")
    return 0


# ---- The command ---------------------------------------------------------------------------------------------------------

def main():
    if sys.argv[1:2] == ["--scale"]:
        return update_scale(sys.argv[2:])
    words = sys.argv[1:] or [os.path.join(ROOT, "build", "bin", "poise-bench")]
    if words in (["--page"], ["--check"]):
        report = read(RESULTS)
    elif words[0] == "--add" and len(words) == 2:
        report = add(read(RESULTS), read(words[1]))
        write(RESULTS, as_text(report))
    else:
        words[0] = os.path.abspath(words[0])
        report = measure(words)
        write(RESULTS, as_text(report))
    machine = (f"{report['machine']}, {report['cores']} cores; {report['compiler']}, {report['flags']}; Poise {report['version']}; "
               f"{report['date']}")
    machine += f"; options `{' '.join(report['options'])}`" if report.get("options") else ""
    only_check = words == ["--check"]
    is_same = put(PAGE, f"\n{machine}\n\n{races(report)}\n{alone(report)}\n", only_check)
    heads = ["", "Poise", "beside it, in the same run", "command"]
    is_same = put(README, f"\n{table(heads, readme_rows(report) + [device_row()])}\nMeasured on {machine}.\n\n", only_check) and is_same
    if only_check:
        return 0 if is_same else 1
    broken = [f"{suite['name']}: {text}" for suite in report["suites"] for text in suite.get("broken", [])]
    print("\n".join(broken + [f"{PAGE}, {README}: {len(broken)} broken promises"]))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
