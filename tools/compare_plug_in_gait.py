#!/usr/bin/env python3
"""Are tracks of Plug-in Gait recordings that are called good where Plug-in Gait has them?

    compare_plug_in_gait.py FOLDER [--poise build/bin/poise] [--skeleton scene:humanoid]

Tracks every .c3d of a folder and compares clinical angles and joint centres with those that Plug-in Gait stored in the file as points
(LKneeAngles, LFEO, ...). Prints a table: verdict, worst angle (what a tenth of the frames exceed, after its median is taken off: the
two define neutral poses differently), worst joint centre (the same, in millimetres, as it is). Exits with 1 if a track is good although
an angle is more than 5 degrees or a centre more than 30 mm off in a tenth of the frames, and no standard deviation beside the verdict
covers it (two of them). Files without such points are listed with their verdict. Minutes for a hundred files.
"""

import argparse
import csv
import glob
import json
import math
import os
import subprocess
import sys
import tempfile

ANGLES = {  # ours: the point, its component, its sign
    "pelvis_obliquity": ("PelvisAngles", 1, 1),
    "hip_flexion": ("HipAngles", 0, 1),
    "hip_adduction": ("HipAngles", 1, 1),
    "hip_rotation": ("HipAngles", 2, 1),
    "knee_flexion": ("KneeAngles", 0, 1),
    "ankle_dorsiflexion": ("AnkleAngles", 0, 1),
    "elbow_flexion": ("ElbowAngles", 0, 1),
}
CENTRES = {"KJC": "FEO", "AJC": "TIO", "EJC": "HUO", "WJC": "RAO"}
MOST_ANGLE, MOST_DISTANCE, SHARE = 5.0, 30.0, 0.1


def read_trc(path):
    """By label without its subject: one point or None for each frame."""
    lines = open(path, encoding="utf-8", errors="replace").read().splitlines()
    labels = [name.split(":")[-1] for name in lines[3].split("\t")[2:] if name]
    points = {name: [] for name in labels}
    for line in lines[5:]:
        cells = line.split("\t")
        if len(cells) < 3:
            continue
        for k, name in enumerate(labels):
            xyz = cells[2 + 3 * k : 5 + 3 * k]
            points[name].append(tuple(map(float, xyz)) if len(xyz) == 3 and all(c.strip() for c in xyz) else None)
    return points


def exceeded(errors):
    """What a tenth of the errors exceed."""
    return sorted(errors)[int((1 - SHARE) * len(errors))] if len(errors) > 10 else math.nan


def worst_angle(rows, points):
    worst = {}
    for ours, (point, k, sign) in ANGLES.items():
        for side in "lr":
            theirs = next((points[n] for n in (side.upper() + point, side.upper() + point + "V") if n in points), None)
            is_pelvis = ours.startswith("pelvis")  # there once for each side, with the signs of that side; ours are the left's
            column = ours if is_pelvis else f"{ours}_{side}"
            if (is_pelvis and side == "r") or theirs is None or not rows or column not in rows[0]:
                continue
            apart = [float(r[column]) - sign * p[k] for r, p in zip(rows, theirs) if r[column] and p and any(p)]
            if len(apart) > 10:
                middle = sorted(apart)[len(apart) // 2]
                worst[column] = exceeded([abs((a - middle + 180) % 360 - 180) for a in apart])
    return worst


def worst_centre(centres, points, unit):
    worst = {}
    for ours, theirs in CENTRES.items():
        for side in "LR":
            a, b = centres.get(side + ours), points.get(side + theirs)
            if a and b:
                worst[side + ours] = exceeded([unit * math.dist(p, q) for p, q in zip(a, b) if p and q and any(q)])
    return worst


def unit_of(path):
    return {"m": 1000.0, "cm": 10.0}.get(open(path, encoding="utf-8", errors="replace").read().splitlines()[2].split()[4], 1.0)


def examine(poise, skeleton, path, folder):
    angles, centres, points = (os.path.join(folder, name) for name in ("a.csv", "c.trc", "p.trc"))
    track = subprocess.run([poise, "track", skeleton, path, "--json", "--angles", angles, "--centres", centres], capture_output=True,
                           text=True, check=False)
    if not track.stdout:
        return "refused", {}, {}, {}
    verdict = json.loads(track.stdout)["verdict"]
    told = {r["name"]: math.degrees(r["value"]) for r in verdict["reasons"] if r["what"] in ("vague", "unsure")}
    subprocess.run([poise, "convert", path, points], capture_output=True, check=False)
    if not os.path.exists(angles) or not os.path.exists(points):
        return verdict["level"], {}, {}, told
    known = read_trc(points)
    return (verdict["level"], worst_angle(list(csv.DictReader(open(angles, encoding="utf-8"))), known),
            worst_centre(read_trc(centres), known, unit_of(points)), told)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--poise", default="build/bin/poise")
    parser.add_argument("--skeleton", default="scene:humanoid")
    options = parser.parse_args()
    wrong = 0
    for path in sorted(glob.glob(os.path.join(options.folder, "**", "*.[cC]3[dD]"), recursive=True)):
        with tempfile.TemporaryDirectory() as folder:
            level, angles, centres, told = examine(options.poise, options.skeleton, path, folder)
        off = {k: v for k, v in angles.items() if v > max(MOST_ANGLE, 2 * told.get(k, 0))}
        far = {k: v for k, v in centres.items() if v > MOST_DISTANCE}
        is_wrong = level == "good" and bool(off or far)
        wrong += is_wrong
        angle = max(angles, key=angles.get, default="")
        centre = max(centres, key=centres.get, default="")
        print(f"{'WRONG' if is_wrong else '     '} {level:9}", f"{angles[angle]:6.1f} deg {angle:22}" if angle else " " * 33,
              f"{centres[centre]:6.1f} mm {centre:5}" if centre else " " * 15, os.path.basename(path))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
