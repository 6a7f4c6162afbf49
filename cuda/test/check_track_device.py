#!/usr/bin/env python3
"""`poise track --device cuda` against `poise track`: the same verdicts, frames within a tolerance, files of the same form;
what the device does not do is done on the processors and said. By poise-cuda, where there is a device (otherwise it is
skipped: 77), or by track_on_host, which runs its kernels on the host.

    check_track_device.py POISE PROGRAM
"""
import json
import os
import re
import subprocess
import sys
import tempfile

poise, device_program = (os.path.abspath(path) for path in sys.argv[1:3])
CLIPS = ["scene:humanoid/walk/noisy", "scene:humanoid/punch/noisy", "scene:humanoid/kick/noisy"]
LONG = ["--chunk", "40"]  # more stretches, and seams
ANGLE = 5e-3  # rad and m: the processors stop at a gradient of 1e-4, the device at the minimum (2.2e-3 apart at most)
MARKER = 1e-7  # m: mean error of a clip
failed = 0


def check(condition, what):
    global failed
    print("ok  " if condition else "NOT ", what, flush=True)
    failed += not condition


def run(program, *words):
    return subprocess.run([program, "track", *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=200)


def numbers(name):
    with open(name) as file:
        found = json.load(file)
    return [x for frame in found["clip"]["q"] for x in frame]


def apart(one, other):
    a, b = numbers(one), numbers(other)
    return max(abs(x - y) for x, y in zip(a, b)) if len(a) == len(b) else float("inf")


def write_list(name, ending, model="scene:humanoid", clips=CLIPS):
    with open(name, "w") as file:
        for i, clip in enumerate(clips):
            file.write(f"{model} {clip} {i}.{ending}.json\n")


def compare(options, what):
    write_list("cpu.txt", "cpu")
    write_list("device.txt", "device")
    for name in os.listdir("."):
        if name.endswith(".json"):
            os.remove(name)
    cpu = run(poise, "--jobs-from", "cpu.txt", "--json", *options)
    device = run(device_program, "--jobs-from", "device.txt", "--json", "--device", "cuda", *options)
    check(cpu.returncode == device.returncode, f"{what}: exit status {cpu.returncode}, {device.returncode}")
    here, there = ([json.loads(line) for line in x.stdout.splitlines()] for x in (cpu, device))
    check(len(here) == len(there) == len(CLIPS), f"{what}: {len(here)}, {len(there)} jobs, in their order")
    for i, (a, b) in enumerate(zip(here, there)):
        off = apart(f"{i}.cpu.json", f"{i}.device.json")
        check(b["output"] == f"{i}.device.json", f"{what}: {b['output']} in its place")
        reasons = [[(r["what"], r["level"], r["name"]) for r in x["verdict"]["reasons"]] for x in (a, b)]
        check(a["verdict"]["level"] == b["verdict"]["level"] and reasons[0] == reasons[1], f"{what}: verdict of {CLIPS[i]}: {reasons}")
        error = abs(a["error"]["mean"] - b["error"]["mean"])
        check(off <= ANGLE and error <= MARKER, f"{what}: {CLIPS[i]} is {off:.2g} off, its mean error {error:.2g} m")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    if "no CUDA device" in run(device_program, "scene:humanoid", CLIPS[0], "--device", "cuda", "-o", "first.json").stderr:
        print("skipped: no CUDA device")
        sys.exit(77)
    compare([], "three clips")
    compare(LONG, "with seams")
    one = run(device_program, "scene:humanoid", CLIPS[0], "--device", "cuda", "-o", "one.json")
    solved = re.search(r"(\d+) of 132 frames solved on the (host|NVIDIA)", one.stdout)
    check(solved and int(solved[1]) >= 45, "a single clip says who solved it: the device all but those with outliers or a hidden limb (51)")
    held = run(device_program, "scene:humanoid", CLIPS[0], "--device", "cuda", "--floor", "-1", "-o", "floor.json")
    check("solved on the processors: what every frame keeps to" in held.stderr, "constraints are held on the processors")
    method = run(device_program, "scene:humanoid", CLIPS[0], "--device", "cuda", "--method", "bfgs", "-o", "bfgs.json")
    check(re.search("solved on the processors: the device (does not serve|supports only)", method.stderr), "so are other methods")
sys.exit(1 if failed else 0)
