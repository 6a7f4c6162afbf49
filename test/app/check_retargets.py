#!/usr/bin/env python3
"""Motions that are spoiled on purpose, on a robot whose shapes are known: whatever is wrong with what `poise retarget` makes of
them must not be called good. What is wrong is found here, by a forward kinematics and a sampling of surfaces of their own.

    check_retargets.py POISE [--all]

--all takes the recordings in $POISE_DATA/bvh as well, and prints a row for each motion: the verdict beside what was found.
"""
import csv
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

DEEP, SHARE, FAST = 0.005, 0.02, 20.0  # metres, share of the frames, rad/s: more is wrong
MOST_FRAMES = 240

# ---- The robot -----------------------------------------------------------------------------------------------------------

# Boxes have half sides, cylinders along z (or x) a radius and half a length, spheres a radius.
LIMB = [("pelvis", None, (0, 0, 0), None, 0, 0, [("box", (0, 0, 0.02), (0.07, 0.09, 0.05))]),
        ("torso", "pelvis", (0, 0, 0.09), "z", -1.5, 1.5, [("mesh", (0, 0, 0.17), (0.08, 0.12, 0.15))]),
        ("head", "torso", (0, 0, 0.36), "z", -1, 1, [("sphere", (0, 0, 0.08), (0.07,))])]
for name, s in (("left", 1), ("right", -1)):
    LIMB += [(f"{name}_hip_yaw", "pelvis", (0, 0.11 * s, -0.06), "z", -0.9, 0.9, []),
             (f"{name}_hip_roll", f"{name}_hip_yaw", (0, 0, 0), "x", -0.7, 0.7, []),
             (f"{name}_hip_pitch", f"{name}_hip_roll", (0, 0, 0), "y", -2.2, 1.2,
              [("cylinder", (0, 0, -0.18), (0.045, 0.12))]),
             (f"{name}_knee", f"{name}_hip_pitch", (0, 0, -0.35), "y", 0, 2.4, [("cylinder", (0, 0, -0.17), (0.04, 0.12))]),
             (f"{name}_ankle_pitch", f"{name}_knee", (0, 0, -0.35), "y", -1, 1, []),
             (f"{name}_ankle_roll", f"{name}_ankle_pitch", (0, 0, 0), "x", -0.5, 0.5,
              [("box", (0.04, 0, -0.04), (0.1, 0.04, 0.02))]),
             (f"{name}_shoulder_pitch", "torso", (0, 0.21 * s, 0.27), "y", -3, 3, []),
             (f"{name}_shoulder_roll", f"{name}_shoulder_pitch", (0, 0, 0), "x", -0.1 if s > 0 else -2.6,
              2.6 if s > 0 else 0.1, []),
             (f"{name}_shoulder_yaw", f"{name}_shoulder_roll", (0, 0, 0), "z", -2, 2,
              [("cylinder", (0, 0, -0.13), (0.035, 0.09))]),
             (f"{name}_elbow", f"{name}_shoulder_yaw", (0, 0, -0.26), "y", -2.4, 0, [("cylinder", (0, 0, -0.13), (0.03, 0.09))]),
             (f"{name}_hand", f"{name}_elbow", (0, 0, -0.26), "z", -1.5, 1.5, [("sphere", (0, 0, -0.03), (0.035,))])]
AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
INDEX = {body[0]: i for i, body in enumerate(LIMB)}


def numbers(values):
    return " ".join(repr(float(v)) for v in values)


def cube(half):
    """A box as the text of an OBJ file."""
    corners = [(x * half[0], y * half[1], z * half[2]) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    faces = ((1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4))
    return "".join(f"v {numbers(c)}\n" for c in corners) + "".join(f"f {' '.join(map(str, f))}\n" for f in faces)


def write_robot(folder):
    text = ['<robot name="tin">']
    for name, parent, at, axis, lower, upper, shapes in LIMB:
        text.append(f'<link name="{name}">')
        for kind, place, size in shapes:
            geometry = (f'<box size="{numbers(2 * v for v in size)}"/>' if kind == "box" else
                        f'<sphere radius="{size[0]}"/>' if kind == "sphere" else
                        f'<cylinder radius="{size[0]}" length="{2 * size[1]}"/>' if kind == "cylinder" else
                        f'<mesh filename="{name}.obj"/>')
            if kind == "mesh":
                (folder / f"{name}.obj").write_text(cube(size))
            text.append(f'<collision><origin xyz="{numbers(place)}"/><geometry>{geometry}</geometry></collision>')
        text.append("</link>")
        if parent:
            text.append(f'<joint name="{name}_joint" type="revolute"><parent link="{parent}"/><child link="{name}"/>'
                        f'<origin xyz="{numbers(at)}"/><axis xyz="{numbers(AXES[axis])}"/>'
                        f'<limit lower="{lower}" upper="{upper}" effort="1" velocity="0"/></joint>')
    path = folder / "tin.urdf"
    path.write_text("\n".join(text + ["</robot>"]))
    return path


# ---- What is wrong with a motion of it -----------------------------------------------------------------------------------

def apply(R, v):
    return [R[i][0] * v[0] + R[i][1] * v[1] + R[i][2] * v[2] for i in range(3)]


def multiply(A, B):
    return [[sum(A[i][k] * B[k][j] for k in range(3)) for j in range(3)] for i in range(3)]


def about(axis, angle):
    c, s = math.cos(angle), math.sin(angle)
    return {"x": [[1, 0, 0], [0, c, -s], [0, s, c]], "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
            "z": [[c, -s, 0], [s, c, 0], [0, 0, 1]]}[axis]


def of_quaternion(w, x, y, z):
    return [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]


def poses(row):
    """Rotation and place of every body."""
    made = []
    for name, parent, at, axis, *_ in LIMB:
        if parent is None:
            made.append((of_quaternion(*(row["q" + c] for c in "wxyz")), [row["t" + c] for c in "xyz"]))
        else:
            R, p = made[INDEX[parent]]
            made.append((multiply(R, about(axis, row[name])), [a + b for a, b in zip(p, apply(R, at))]))
    return made


def surface(kind, size):
    """Points on it."""
    steps = (-1, -0.5, 0, 0.5, 1)
    if kind in ("box", "mesh"):
        return [(x * size[0], y * size[1], z * size[2]) for x in steps for y in steps for z in steps if 1 in map(abs, (x, y, z))]
    if kind == "sphere":
        found = [(x, y, z) for x in steps for y in steps for z in steps if 1 in map(abs, (x, y, z))]
        return [tuple(size[0] * v / math.hypot(*p) for v in p) for p in found]
    return [(r * size[0] * math.cos(a * math.pi / 8), r * size[0] * math.sin(a * math.pi / 8), z * size[1])
            for z in steps for a in range(16) for r in ((1,) if abs(z) < 1 else (1, 0.5))]


def inside(kind, size, x):
    """How deep a point lies within it: less than 0 outside, and no more than the shift that takes the two apart."""
    if kind in ("box", "mesh"):
        return min(h - abs(v) for h, v in zip(size, x))
    if kind == "sphere":
        return size[0] - math.hypot(*x)
    return min(size[0] - math.hypot(x[0], x[1]), size[1] - abs(x[2]))


SOLIDS = [(INDEX[body[0]], kind, place, size, surface(kind, size), max(math.hypot(*p) for p in surface(kind, size)))
          for body in LIMB for kind, place, size in body[6]]


def joints_between(a, b):
    def above(i):
        return [i] + (above(INDEX[LIMB[i][1]]) if LIMB[i][1] else [])
    up, down = above(a), above(b)
    common = next(i for i in up if i in down)
    return up.index(common) + down.index(common)


def in_place(made):
    solids = []
    for body, kind, place, size, points, reach in SOLIDS:
        R, p = made[body]
        center = [a + b for a, b in zip(p, apply(R, place))]
        solids.append((R, center, [[a + b for a, b in zip(center, apply(R, x))] for x in points], reach))
    return solids


def overlap(i, j, solids):
    """How deep sampled points of one lie in the other."""
    deepest = 0.0
    if math.dist(solids[i][1], solids[j][1]) < solids[i][3] + solids[j][3]:
        for a, b in ((i, j), (j, i)):
            R, center = solids[b][:2]
            for x in solids[a][2]:
                d = [u - v for u, v in zip(x, center)]
                local = [R[0][k] * d[0] + R[1][k] * d[1] + R[2][k] * d[2] for k in range(3)]
                deepest = max(deepest, inside(SOLIDS[b][1], SOLIDS[b][3], local))
    return deepest


STANDING = in_place(poses({"qw": 1, "qx": 0, "qy": 0, "qz": 0, "tx": 0, "ty": 0, "tz": 0, **{b[0]: min(max(0, b[4]), b[5]) for b in LIMB}}))
PAIRS = [(i, j) for i in range(len(SOLIDS)) for j in range(i) if joints_between(SOLIDS[i][0], SOLIDS[j][0]) > 1]
assert all(overlap(i, j, STANDING) == 0 for i, j in PAIRS), "the robot stands clear of itself"


def wrongs(path):
    """What is wrong with a motion, in words."""
    with open(path) as file:
        rows = list(csv.reader(file))
    heads = [re.sub(r".*/(t[xyz]|q[wxyz])$", r"\1", h).removesuffix("/angle").removesuffix("_joint") for h in rows[0]]
    frames = [dict(zip(heads, map(float, row))) for row in rows[1:]]
    dt = frames[1]["time"] - frames[0]["time"] if len(frames) > 1 else 1
    found, every = [], max(1, len(frames) // 60)
    fastest = outside = 0.0
    for name, parent, _, axis, lower, upper, _ in LIMB[1:]:
        values = [f[name] for f in frames]
        fastest = max([fastest] + [abs(b - a) / dt for a, b in zip(values, values[1:])])
        outside = max([outside] + [max(lower - v, v - upper) for v in values])
    deep = sunk = seen = 0
    for frame in frames[::every]:
        solids = in_place(poses(frame))
        seen += 1
        deep += any(overlap(i, j, solids) > DEEP for i, j in PAIRS)
        sunk += min(x[2] for solid in solids for x in solid[2]) < -DEEP
    if deep / seen > SHARE + 1.5 / seen:  # of the frames that were looked at
        found.append(f"inside itself in {100 * deep / seen:.0f} %")
    if sunk / seen > SHARE + 1.5 / seen:
        found.append(f"below the ground in {100 * sunk / seen:.0f} %")
    if fastest > FAST * 1.0001:
        found.append(f"{fastest:.0f} rad/s")
    if outside > 1e-6:
        found.append(f"{outside:.3g} beyond a limit")
    return found


# ---- Motions, and how they are spoiled -----------------------------------------------------------------------------------

class Bvh:
    def __init__(self, text):
        self.head, rest = text.split("MOTION", 1)
        lines = rest.split("\n")
        lines = [line for line in lines if line.strip()]
        self.time = float(lines[1].split(":")[1])
        self.rows = [[float(v) for v in line.split()] for line in lines[2:]][:MOST_FRAMES]
        self.channel, count, joint = {}, 0, ""
        for line in self.head.split("\n"):
            words = line.split()
            joint = words[1] if words[:1] in (["ROOT"], ["JOINT"]) else joint
            for k, what in enumerate(words[2:] if words[:1] == ["CHANNELS"] else []):
                self.channel[joint, what[0].lower() + what[1:4]] = count
                count += 1
        self.root = next(iter(self.channel))[0]
        ups = [row[self.channel[self.root, "ypos"]] for row in self.rows]
        self.size = max(ups) or 1.0  # about that of a leg

    def text(self):
        rows = "\n".join(" ".join(f"{v:.6f}" for v in row) for row in self.rows)
        return f"{self.head}MOTION\nFrames: {len(self.rows)}\nFrame Time: {self.time:.8f}\n{rows}\n"

    def add(self, joint, what, amount, first=0, last=None):
        for row in self.rows[first:last]:
            row[self.channel[joint, what]] += amount

    def joints(self, *words):
        return [j for j in dict.fromkeys(j for j, _ in self.channel) if any(w in j.lower() for w in words)]


def sink(bvh):
    bvh.add(bvh.root, "ypos", -0.2 * bvh.size, len(bvh.rows) // 2)


def turn_over(bvh):
    bvh.add(bvh.root, "zrot", 180.0, len(bvh.rows) // 3)
    bvh.add(bvh.root, "ypos", -0.5 * bvh.size, len(bvh.rows) // 3)


def speed_up(bvh):
    bvh.time /= 10


def flip(bvh):
    for joint in bvh.joints("forearm", "ulna", "elbow")[:1]:
        bvh.add(joint, "xrot", 150.0, len(bvh.rows) // 2, len(bvh.rows) // 2 + 1)
        bvh.add(joint, "zrot", 150.0, len(bvh.rows) // 2, len(bvh.rows) // 2 + 1)


def cut_out(bvh):
    n = len(bvh.rows)
    for row in bvh.rows[n // 2:]:
        row[bvh.channel[bvh.root, "yrot"]] += 120.0
    del bvh.rows[n // 3:n // 2]


def cross_legs(bvh):
    for joint in bvh.joints("thigh", "upleg", "lhipjoint", "rhipjoint"):
        left = joint.lower().startswith("l")
        bvh.add(joint, "zrot", -18.0 if left else 18.0)


def fold_arms(bvh):
    for joint in bvh.joints("upper_arm", "leftarm", "rightarm", "shoulder"):
        left = joint.lower().startswith("l")
        bvh.add(joint, "yrot", -70.0 if left else 70.0)
        bvh.add(joint, "zrot", -40.0 if left else 40.0)


def exchange_sides(bvh):
    swap = {"left": "right", "right": "left", "Left": "Right", "Right": "Left"}
    bvh.head = re.sub("left|right|Left|Right", lambda m: swap[m.group()], bvh.head)


def freeze(bvh):
    n = len(bvh.rows)
    for k in range(n // 3, n // 2):
        bvh.rows[k] = list(bvh.rows[n // 3])


SPOILS = [("as it is", None), ("sunk", sink), ("upside down", turn_over), ("10 times as fast", speed_up), ("a flip", flip),
          ("cut", cut_out), ("legs crossed", cross_legs), ("arms in the trunk", fold_arms), ("sides exchanged", exchange_sides),
          ("frozen for a while", freeze)]
# what no measure of the result can tell from a motion that is meant so, or what is no fault of it
NAMED_WRONG = {"sides exchanged"}


def motions(poise, folder, all_of_them):
    for name in ("walk", "punch", "kick") if not all_of_them else ("walk", "punch", "kick", "cartwheel"):
        subprocess.run([poise, "convert", f"scene:humanoid-euler/{name}", folder / f"{name}.bvh"], check=True, capture_output=True)
        yield name, (folder / f"{name}.bvh").read_text()
    data = os.environ.get("POISE_DATA", "")
    for path in sorted(pathlib.Path(data, "bvh").glob("*.bvh")) if all_of_them and data else []:
        text = path.read_text(errors="replace")
        if re.search("[Hh]ip|pelvis", text) and text.count("\n") > 200:
            yield path.stem, text


def main():
    poise, all_of_them = sys.argv[1], "--all" in sys.argv
    good_and_wrong, sound, doubted, runs, wrong_runs = [], 0, [], 0, 0
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        robot = write_robot(folder)
        for name, text in motions(poise, folder, all_of_them):
            for spoil, how in SPOILS:
                try:
                    bvh = Bvh(text)
                    if name.startswith("cmu"):
                        del bvh.rows[0]
                    if how:
                        how(bvh)
                except KeyError:  # a skeleton of other channels
                    continue
                (folder / "in.bvh").write_text(bvh.text())
                done = subprocess.run([poise, "retarget", folder / "in.bvh", robot, "--up", "z", "--source-up", "y", "-o",
                                       folder / "out.csv", "--json"], capture_output=True, text=True)
                if done.returncode not in (0, 1):
                    print(f"{name}, {spoil}: refused: {done.stderr.strip()}")
                    continue
                told = json.loads(done.stdout)["verdict"]
                level = told["level"]
                found = wrongs(folder / "out.csv") + (["sides exchanged"] if spoil in NAMED_WRONG else [])
                runs += 1
                wrong_runs += bool(found)
                if all_of_them:
                    print(f"{name:28} {spoil:18} {level:9} {'; '.join(found) or '-'}")
                if found and level == "good":
                    good_and_wrong.append(f"{name}, {spoil}: {'; '.join(found)}")
                if not found and how is None:
                    sound += 1
                    reasons = [f for f in told["reasons"] if f["level"] != "good" and f["what"] not in ("unplanted", "scuffed")]  # which is true on the spot
                    if reasons:
                        doubted.append(f"{name}: {'; '.join(f['text'] for f in reasons)}")
        (folder / "torso.obj").unlink()
        told = json.loads(subprocess.run([poise, "retarget", "scene:humanoid/punch", robot, "--json"], capture_output=True,
                                         text=True).stdout)["verdict"]
        if told["level"] == "good" or "unchecked" not in [f["what"] for f in told["reasons"]]:
            sys.exit(f"without its mesh the robot is not checked, but {told['level']}")
        bare = json.loads(subprocess.run([poise, "retarget", "scene:humanoid/punch", "scene:humanoid-euler", "--json"],
                                         capture_output=True, text=True).stdout)["verdict"]
        of_bodies, of_feet = {"self", "pierced", "floor", "buried"}, {"loose", "skate", "slipped", "sunk"}
        always = {"fast", "abrupt", "unchecked", "lurched", "overturned", "hips", "late", "bones"}
        for values, unknown in ((told["values"], set()), (bare["values"], of_bodies | of_feet)):  # the same proportions
            wrong = [k for k in of_bodies | of_feet | always if k not in values or (values[k] is None) != (k in unknown)]
            if wrong:
                sys.exit(f"rows that are missing, or null where they are known or the other way round: {wrong}")
    print(f"{runs} motions, {wrong_runs} wrong; {len(good_and_wrong)} wrong and good; {len(doubted)} of {sound} sound ones not good")
    for line in doubted:
        print("not good:", line)
    for line in good_and_wrong:
        print("GOOD AND WRONG:", line)
    if runs == 0 or wrong_runs < runs / 4:
        sys.exit("the motions are hardly spoiled: this tests nothing")
    if good_and_wrong:
        sys.exit(1)
    if not all_of_them and doubted:
        sys.exit("a sound motion is not called good")


main()
