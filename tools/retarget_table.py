#!/usr/bin/env python3
"""Bring every motion onto every skeleton with "poise retarget" and print what came of it, a row for each pair, as Markdown.

  tools/retarget_table.py --models robots/ --motions clips/ [--pictures sheet/] [--save rows.json] > table.md

A folder stands for the files in it that a motion or a skeleton may be in. --pictures draws every pair and writes index.html, a
sheet with all of them, to be looked at. Where the first frame is a pose of its own, such as a T-pose, it is left out. The last lines count the rows that miss a bar: frames a second 5000, slip of planted feet
3 mm/s in the mean and 30 at most, soles 2 mm below the ground, nothing outside limits, no jump, verdict good. Lengths are those of
the target. A hand that cannot walk has no feet to measure.
"""
import argparse
import html
import json
import pathlib
import subprocess
import sys

MOTIONS = {".bvh", ".amc", ".glb", ".gltf", ".vrma", ".mot", ".c3d", ".trc"}
MODELS = {".urdf", ".xml", ".mjcf", ".glb", ".gltf", ".vrm", ".bvh", ".asf"}
BARS = [  # name, what misses it
    ("frames a second", lambda r: r["frames_per_second"] < 5000),
    ("slip, mean", lambda r: r["skate_mean"] > 0.003),
    ("slip, largest", lambda r: r["skate_worst"] > 0.030),
    ("sunk", lambda r: r["sunk"] > 0.002),
    ("jumps", lambda r: r["jumps"] > 0),
    ("outside limits", lambda r: r["outside"] > 0 or r["velocity"] > 1 + 1e-9),
    ("verdict", lambda r: r["verdict"]["level"] != "good"),
]


def files(names, kinds):
    """The files that are meant: those named, and those in folders that have one of the endings."""
    for name in map(pathlib.Path, names):
        if name.is_dir():
            yield from sorted(f for f in name.iterdir() if f.suffix.lower() in kinds)
        else:
            yield name


def retarget(poise, motion, model, rounds, picture):
    """What poise says of a pair, its best speed of a few runs, or the message it refuses with."""
    best = None
    for k in range(rounds):
        command = [poise, "retarget", str(motion), str(model), "--json"]
        if picture and k == 0:
            command += ["--picture", str(picture)]
        made = subprocess.run(command, capture_output=True, text=True)
        if not made.stdout.strip():
            return None, made.stderr.strip()
        row = json.loads(made.stdout)
        if row["starts_apart"]:
            made = subprocess.run(command + ["--first", "1"], capture_output=True, text=True)
            row = json.loads(made.stdout)
        if best is None or row["frames_per_second"] > best["frames_per_second"]:
            best = row
    return best, ""


def line(motion, model, row):
    """A row of the table."""
    reasons = ", ".join(why["what"] for why in row["verdict"]["reasons"])
    cells = [motion.stem, model.stem, row["frames"], f'{row["frames_per_second"]:.0f}', f'{57.29578 * row["bone_mean"]:.1f}',
             f'{100 * row["contact"]:.0f}', f'{1e3 * row["skate_mean"]:.2f}', f'{1e3 * row["skate_worst"]:.1f}',
             f'{1e3 * row["sunk"]:.2f}', row["jumps"], row["outside"], f'{row["velocity"]:.2f}', row["late"],
             row["verdict"]["level"] + (f" ({reasons})" if reasons else "")]
    return "| " + " | ".join(map(str, cells)) + " |"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--motions", nargs="+", required=True)
    arguments.add_argument("--models", nargs="+", required=True)
    arguments.add_argument("--poise", default="build/bin/poise")
    arguments.add_argument("--rounds", type=int, default=3, help="runs, of which the fastest counts")
    arguments.add_argument("--pictures", type=pathlib.Path)
    arguments.add_argument("--save", type=pathlib.Path, help="write all that poise says, as JSON")
    given = arguments.parse_args()
    if given.pictures:
        given.pictures.mkdir(parents=True, exist_ok=True)
    print("| motion | skeleton | frames | frames/s | bones off, degrees | contact % | slip mm/s | largest | sunk mm | jumps | outside "
          "| of velocity | late | verdict |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    rows, refused, sheet = [], [], []
    for motion in files(given.motions, MOTIONS):
        for model in files(given.models, MODELS):
            picture = given.pictures / f"{motion.stem}-{model.stem}.svg" if given.pictures else None
            row, why = retarget(given.poise, motion, model, given.rounds, picture)
            if row is None:
                refused.append(f"{motion.name} onto {model.name}: {why}")
                continue
            rows.append(row)
            print(line(motion, model, row), flush=True)
            if picture:
                sheet.append(f'<figure><img src="{html.escape(picture.name)}"><figcaption>{html.escape(motion.stem)} onto '
                             f'{html.escape(model.stem)}: {row["verdict"]["level"]}</figcaption></figure>')
    print(f"\n{len(rows)} rows, {len(refused)} refused; " + "; ".join(
        f"{name}: {sum(map(misses, rows))} miss" for name, misses in BARS))
    for text in refused:
        print(f"\nrefused: {text}")
    if given.save:
        given.save.write_text(json.dumps(rows))
    if given.pictures:
        style = "<style>figure{display:inline-block;margin:4px;width:31%}img{width:100%}figcaption{font:12px sans-serif}</style>"
        (given.pictures / "index.html").write_text(f"<!doctype html><meta charset=utf-8>{style}" + "".join(sheet))
    return 0


sys.exit(main())
