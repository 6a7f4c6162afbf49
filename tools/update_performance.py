#!/usr/bin/env python3
"""Measures with poise-bench, baselines included, and with poise reproduce erik-table9: all numbers go to docs/results.json, the
ones that matter most into docs/performance.md and the results of README.md, between their markers. No number there is typed.

update_performance.py [POISE-BENCH [OPTION...]]

update_performance.py --page    measure nothing: the pages from docs/results.json as it is, and docs/pictures/scale.json, which
                                tools/update_scale.py keeps of a machine with a CUDA device

update_performance.py --check   nothing is written: exits with 1 where --page would change a page

update_performance.py --add REPORT.json    the suites of a report that poise-bench --save wrote on the same machine, or what
                                           poise reproduce --json printed, take the place of those in docs/results.json
"""
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PAGE = os.path.join(ROOT, "docs", "performance.md")
README = os.path.join(ROOT, "README.md")
DEVICE = os.path.join(ROOT, "docs", "pictures", "scale.json")
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


def put(page, numbers, only_check):
    """The numbers between the markers of a page; whether they were there already."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    before, after = text.index(BEGIN) + len(BEGIN), text.index(END)
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


def main():
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
