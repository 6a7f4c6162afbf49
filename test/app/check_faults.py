#!/usr/bin/env python3
"""check_faults.py POISE: full disks, files that are not there or are cut short, runs that are killed and taken up again."""
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

poise = os.path.abspath(sys.argv[1])
failures = []


def check(claim, holds):
    if not holds:
        failures.append(claim)
        print("failed:", claim)


def run(*words, folder=None, **more):
    return subprocess.run([poise, *words], cwd=folder, text=True, capture_output="stdout" not in more, timeout=120,
                          stderr=subprocess.PIPE if "stdout" in more else None, check=False, **more)


def is_told(done, *words):
    """Exit status 2, and one line that names these words."""
    lines = done.stderr.strip().split("\n")
    return done.returncode == 2 and len(lines) == 1 and all(word in lines[0] for word in words)


def check_full_output():
    for words in (["info", "scene:arm7"], ["info", "scene:arm7", "--json"], ["fk", "scene:arm7"], ["help"],
                  ["solve", "scene:twolink", "--goal", "position tip 1 1 0", "--json"], ["convert", "scene:arm7", "-", "--to-format", "json"]):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = run(*words, stdout=full)
        check(f"{words}: a full standard output is told", done.returncode == 2 and "No space left" in done.stderr)


def check_full_disk(folder):
    """Needs the right to mount; the file that was there stays, and nothing else is left."""
    place = os.path.join(folder, "full")
    os.mkdir(place)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", place], capture_output=True, check=False).returncode:
        print("not tried: a full disk, which needs the right to mount one")
        return
    try:
        jobs = [["convert", "scene:humanoid/walk", "out.json"],
                ["track", "scene:humanoid", "scene:humanoid/punch", "--last", "40", "-o", "out.json"],
                ["track", "scene:humanoid", "scene:humanoid/punch", "--last", "40", "--report", "out.json"],
                ["reproduce", "hessian-a10", "-o", "."]]
        for words in jobs:
            with open(os.path.join(place, "out.json"), "w", encoding="utf-8") as file:
                file.write("old")
            done = run(*words, folder=place)
            check(f"{words}: a full disk is told", is_told(done, "No space left") or "reproduce" in words)
            with open(os.path.join(place, "out.json"), encoding="utf-8") as file:
                check(f"{words}: what was there stays", file.read() == "old")
            left = sorted(name for name in os.listdir(place) if name != "out.json" and not name.startswith("hessian"))
            check(f"{words}: nothing is left behind, but {left}", not left)
            for name in os.listdir(place):
                os.unlink(os.path.join(place, name))
    finally:
        subprocess.run(["umount", place], check=True)


def check_unreadable(folder):
    os.mkdir(os.path.join(folder, "inner"))
    os.symlink("nowhere", os.path.join(folder, "link.bvh"))
    check("a missing file is told", is_told(run("info", "no.bvh", folder=folder), "no.bvh", "No such file"))
    check("a link to nowhere is told", is_told(run("info", "link.bvh", folder=folder), "link.bvh"))
    check("a folder is told", is_told(run("info", "inner", folder=folder), "inner", "folder"))
    check("a folder as output is told", is_told(run("convert", "scene:arm7", "inner", folder=folder), "inner"))
    check("an output in no folder is told", is_told(run("convert", "scene:arm7", "no/such.json", folder=folder), "no/such.json"))
    check("an empty file is told", is_told(run("info", "/dev/null"), "/dev/null"))


def check_shrinking(folder):
    """A file that another program cuts short while it is read gives an answer or an error, never a crash."""
    path = os.path.join(folder, "long.bvh")
    run("convert", "scene:humanoid-euler/cartwheel", path)
    with open(path, "rb") as file:
        text = file.read()
    size = len(text)
    for trial in range(6):
        with open(path, "wb") as file:
            file.write(text)
        with subprocess.Popen([poise, "info", path, "--brief"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(0.002 * trial)
            os.truncate(path, random.randrange(size))
            check("a file that shrinks meanwhile stops nothing", process.wait(60) in (0, 2))


def result_bytes(folder):
    names = [name for name in sorted(os.listdir(folder)) if name.endswith((".csv", ".svg")) and "-times" not in name]
    return {name: open(os.path.join(folder, name), "rb").read() for name in names}


def check_resume(folder):
    """A full evaluation that is killed again and again ends with the same bytes."""
    command = ["reproduce", "erik-table9", "--full", "--samples", "6000", "-o"]
    whole, parts = os.path.join(folder, "whole"), os.path.join(folder, "parts")
    begin = time.monotonic()
    check("the evaluation runs", run(*command, whole).returncode == 0)
    needed = time.monotonic() - begin
    killed = 0
    for _ in range(20):
        if killed == 3:
            break
        with subprocess.Popen([poise, *command, parts], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(random.uniform(0, 0.4) * needed)
            process.send_signal(random.choice([signal.SIGKILL, signal.SIGINT]))
            killed += process.wait() < 0
        if process.returncode == 0:  # it was faster: begin anew
            shutil.rmtree(parts)
            killed = 0
    check("the killed evaluation goes on to its end", run(*command, parts).returncode == 0)
    check(f"the same bytes after {killed} interruptions", killed > 0 and result_bytes(whole) == result_bytes(parts) != {})


def main():
    seed = int(time.time())
    random.seed(seed)
    with tempfile.TemporaryDirectory() as folder:
        check_full_output()
        check_full_disk(folder)
        check_unreadable(folder)
        check_shrinking(folder)
        check_resume(folder)
    print(f"{len(failures)} claims failed (seed {seed})")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
