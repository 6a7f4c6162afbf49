#!/usr/bin/env python3
"""What the start of the command costs, and a large file: counts, not times.

check_speed.py POISE

- `poise info` of a BVH of 30 MB takes less than twice the file's size in memory.
- `poise --version` takes less than a million instructions (a tenth of a millisecond or so), by valgrind's count.
- `poise info` of a BVH takes less than 100 instructions a byte, as many in the fourth megabyte as in the first.
"""
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile

JOINTS = 19


def write_bvh(path, size):
    """A chain of joints that turn at random; the same 100 frames again and again."""
    random.seed(1)
    lines = ["HIERARCHY", "ROOT hips", "{", "OFFSET 0 0 0",
             "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation"]
    for i in range(JOINTS):
        lines += ["JOINT joint%d" % i, "{", "OFFSET 0 5 0", "CHANNELS 3 Zrotation Xrotation Yrotation"]
    lines += ["End Site", "{", "OFFSET 0 5 0", "}"] + ["}"] * (JOINTS + 1)
    block = "".join(" ".join("%.6f" % random.uniform(-180, 180) for _ in range(6 + 3 * JOINTS)) + "\n" for _ in range(100))
    blocks = size // len(block) + 1
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\nMOTION\nFrames: %d\nFrame Time: 0.01\n" % (100 * blocks))
        for _ in range(blocks):
            file.write(block)
    return 100 * blocks


def instructions(*command):
    """Under callgrind, the loader's included."""
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=True)
    counts = [line.split()[-1] for line in done.stderr.splitlines() if "Collected" in line]
    return int(counts[0])


def check_memory(poise, folder):
    path = os.path.join(folder, "large.bvh")
    frames = write_bvh(path, 30 * 10**6)
    done = subprocess.run([poise, "info", "--brief", path], stdout=subprocess.PIPE, check=True)
    size = os.path.getsize(path)
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024  # the largest of all children, which this one is
    print("poise info of %.0f MB: %.0f MB, %.2f times the file" % (size / 1e6, memory / 1e6, memory / size))
    if b"%d frames" % frames not in done.stdout:
        yield "the frames are not all there: %s" % done.stdout.decode()
    if memory > 2 * size:
        yield "a large file takes more than twice its size in memory"


def check_start(poise):
    count = instructions(poise, "--version")
    print("poise --version: %d instructions" % count)
    if count > 10**6:
        yield "starting takes more than a million instructions"


def check_bytes(poise, folder):
    sizes, counts = [], []
    for megabytes in (1, 2, 4):
        path = os.path.join(folder, "some.bvh")
        write_bvh(path, megabytes * 10**6)
        sizes.append(os.path.getsize(path))
        counts.append(instructions(poise, "info", "--brief", path))
    each = [(counts[i + 1] - counts[i]) / (sizes[i + 1] - sizes[i]) for i in (0, 1)]
    print("poise info: %.1f instructions a byte in the second megabyte, %.1f after that" % tuple(each))
    if max(each) > 100:
        yield "a BVH takes more than 100 instructions a byte"
    if each[1] > 1.05 * each[0]:
        yield "a BVH takes more for each byte the longer it is"


def main():
    poise = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        wrong = list(check_memory(poise, folder))  # first: later children are larger
        if shutil.which("valgrind"):
            wrong += [*check_start(poise), *check_bytes(poise, folder)]
        else:
            print("speed: left out 2 of 3 tests: no valgrind, which counts instructions (Debian: valgrind)")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
