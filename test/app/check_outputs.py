#!/usr/bin/env python3
"""What -o writes is what the command makes: every command that writes motions, skeletons or recordings, with every extension.

Each either refuses, with one line that names the file and a remedy, and leaves no file, or writes one that reads back as the
same kind of thing, a motion with all its frames."""
import json
import os
import subprocess
import sys
import tempfile

EXTENSIONS = ["bvh", "asf", "amc", "c3d", "trc", "mot", "sto", "gltf", "glb", "csv", "json", "urdf", "osim", "txt"]
NEEDS_MODEL = ("does not contain the skeleton", "holds no skeleton")
SKELETONS = {"bvh"}  # a BVH always has a motion; that of a skeleton is one frame

# what is made, its frames, the model that it moves, the command
COMMANDS = [
    ("motion", 2, "scene:arm6", ["edit", "arm.json", "--reverse"]),
    ("motion", 12, "scene:humanoid", ["edit", "walk.bvh", "--reverse"]),
    ("motion", 12, "scene:humanoid", ["edit", "walk.bvh", "--mirror"]),
    ("motion", 12, "scene:humanoid", ["edit", "walk.bvh", "--pin", "left_wrist where it is from 0 s to 0.05 s"]),
    ("motion", 2, "scene:arm6", ["edit", "arm.json", "--pin", "tip where it is from 0 s to 0.01 s"]),
    ("motion", 1, "scene:arm6", ["solve", "scene:arm6", "--goal", "position tip 0.4 0.1 0.4"]),
    ("motion", 2, "scene:arm6", ["solve", "scene:arm6", "--path", "path.csv"]),
    ("motion", 5, "scene:lamp", ["aim", "scene:lamp", "--path", "circle", "--steps", "4"]),
    ("motion", 5, "scene:lamp", ["warp", "scene:lamp", "lamp.json", "--aim", "1,1,1"]),
    ("motion", 12, "scene:humanoid", ["retarget", "walk.bvh", "scene:humanoid", "--accept", "failed"]),
    ("motion", 12, "scene:humanoid", ["track", "scene:humanoid", "walk.trc", "--accept", "failed"]),
    ("motion", 2, "scene:arm6", ["convert", "arm.json"]),
    ("motion", 12, "scene:humanoid", ["convert", "walk.bvh"]),
    ("model", 0, None, ["convert", "scene:arm6"]),
    ("model", 0, None, ["convert", "scene:humanoid"]),
    ("markers", 12, None, ["convert", "walk.trc"]),
    ("markers", 12, None, ["track", "scene:humanoid", "walk.trc", "--accept", "failed", "--centres"]),
    ("model", 0, None, ["track", "scene:humanoid", "walk.trc", "--accept", "failed", "--calibrate", "places", "--save-model"]),
]
DATA = subprocess.run([os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/data.sh"), "has", "osim/scale"],
                      stdout=subprocess.PIPE, text=True, check=False)
if DATA.returncode == 0:  # a model of OpenSim's, a static trial and a setup come from the data folder
    SCALE = os.path.join(os.environ["POISE_DATA"], "osim", "scale")
    COMMANDS.append(("model", 0, None, ["scale", *(os.path.join(SCALE, name) for name in ("gait2354_simbody.osim", "subject01_static.trc")),
                                        "--setup", os.path.join(SCALE, "subject01_Setup_Scale.xml"), "--accept", "failed"]))
elif DATA.returncode == 77:
    print(f"outputs: left out 1 of {len(COMMANDS) + 1} tests: {DATA.stdout.strip()}")
else:
    sys.exit(DATA.stdout)
OPTIONS = ("--centres", "--save-model")  # other options that name a file; else it is -o


def run(poise, words, folder):
    return subprocess.run([poise, *words], cwd=folder, capture_output=True, text=True)


def prepare(poise, folder):
    with open(os.path.join(folder, "path.csv"), "w") as file:
        file.write("0.4 0.1 0.4\n0.41 0.1 0.4\n")
    for words in (
        ["convert", "scene:humanoid/walk", "walk.bvh", "--to", "11"],
        ["convert", "scene:humanoid/walk", "walk.trc", "--to", "11"],
        ["solve", "scene:arm6", "--path", "path.csv", "-o", "arm.json"],
        ["aim", "scene:lamp", "--path", "circle", "--steps", "4", "-o", "lamp.json"],
    ):
        if run(poise, words, folder).returncode == 2:
            sys.exit(f"cannot prepare: poise {' '.join(words)}")


def look(poise, name, model, folder):
    """What is in a file: its kind and frames."""
    made = run(poise, ["info", name, "--json"], folder)
    if made.returncode != 0 and any(words in made.stderr for words in NEEDS_MODEL):
        beside = name[:-4] + ".asf"
        whose = beside if name.endswith(".amc") and os.path.exists(os.path.join(folder, beside)) else model
        made = run(poise, ["info", name, "--model", whose, "--json"], folder)
    if made.returncode != 0:
        return made.stderr.strip(), 0
    told = json.loads(made.stdout)
    return told["kind"], told["frames"]


def complaint(poise, kind, frames, model, words, extension, folder):
    """What is wrong with one combination; "" for nothing."""
    name = f"out.{extension}"
    for left in ("out.asf", name):
        if os.path.exists(os.path.join(folder, left)):
            os.remove(os.path.join(folder, left))
    made = run(poise, [*words, name] if words[-1] in OPTIONS else [*words, "-o", name], folder)
    if made.returncode not in (0, 1):
        errors = [line for line in made.stderr.splitlines() if "warning" not in line]
        if os.path.exists(os.path.join(folder, name)):
            return "refused, and a file is there"
        return "" if len(errors) == 1 and name in errors[0] else f"refused with {errors}"
    found, count = look(poise, name, model, folder)
    said = "left out" in made.stderr  # convert reports what a format cannot hold
    if kind == "model" and extension in SKELETONS:
        return "" if (found, count) == ("motion", 1) else f"made a {found} of {count} frames"
    if words[0] == "convert" and kind == "motion" and found == "model" and said:
        return ""
    return "" if (found, count) == (kind, frames) else f"made a {kind} of {frames} frames, which reads back as: {found}, {count}"


def main():
    poise = os.path.abspath(sys.argv[1])
    wrong = written = 0
    with tempfile.TemporaryDirectory() as folder:
        prepare(poise, folder)
        for kind, frames, model, words in COMMANDS:
            for extension in EXTENSIONS:
                why = complaint(poise, kind, frames, model, words, extension, folder)
                written += os.path.exists(os.path.join(folder, f"out.{extension}"))
                if why:
                    wrong += 1
                    print(f"poise {' '.join(words)} out.{extension}: {why}")
    print(f"{len(COMMANDS) * len(EXTENSIONS)} combinations, {written} written, {wrong} wrong")
    return 1 if wrong or written < len(COMMANDS) else 0


if __name__ == "__main__":
    sys.exit(main())
