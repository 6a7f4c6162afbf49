#!/usr/bin/env python3
"""check_faults.py POISE FILE_EVENTS: full disks, files that are not there or are cut short, runs that are killed and taken up
again."""
import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

from events import Events

poise = os.path.abspath(sys.argv[1])
events = Events(sys.argv[2])
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


@contextlib.contextmanager
def small_disk(folder, size):
    """A disk that is soon full, None without the right to mount one."""
    place = tempfile.mkdtemp(dir=folder)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        print("not tried: a full disk, which needs the right to mount one")
        yield None
        return
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


def check_full_disk(folder):
    """The file that was there stays, and nothing else is left."""
    with small_disk(folder, "64k") as place:
        jobs = [["convert", "scene:humanoid/walk", "out.json"],
                ["track", "scene:humanoid", "scene:humanoid/punch", "--last", "40", "-o", "out.json"],
                ["track", "scene:humanoid", "scene:humanoid/punch", "--last", "40", "--report", "out.html"]]
        for words in jobs if place else []:
            name = words[-1]
            with open(os.path.join(place, name), "w", encoding="utf-8") as file:
                file.write("old")
            done = run(*words, folder=place)
            check(f"{words}: a full disk is told", is_told(done, "No space left"))
            with open(os.path.join(place, name), encoding="utf-8") as file:
                check(f"{words}: what was there stays", file.read() == "old")
            left = [other for other in os.listdir(place) if other != name]
            check(f"{words}: nothing is left behind, but {left}", not left)
            os.remove(os.path.join(place, name))


def check_full_disk_of_results(folder):
    """An evaluation whose disk is full fails with whole files, and goes on to the same bytes when there is room again."""
    command = ["reproduce", "erik-table9", "--full", "--samples", "6000", "-o"]
    whole = os.path.join(folder, "roomy")
    run(*command, whole)
    with small_disk(folder, "12k") as place:
        if not place:
            return
        done = run(*command, place)
        check("a full disk of results is told", done.returncode == 2 and "No space left" in done.stderr)
        check("results on a full disk are whole", is_part_of(place, whole))
        subprocess.run(["mount", "-o", "remount,size=1m", place], check=True)
        check("it goes on when there is room", run(*command, place).returncode == 0)
        check("the same bytes after a full disk", result_bytes(place) == result_bytes(whole) != {})


def check_unreadable(folder):
    os.mkdir(os.path.join(folder, "inner"))
    os.symlink("nowhere", os.path.join(folder, "link.bvh"))
    check("a missing file is told", is_told(run("info", "no.bvh", folder=folder), "no.bvh", "No such file"))
    check("a link to nowhere is told", is_told(run("info", "link.bvh", folder=folder), "link.bvh"))
    check("a folder is told", is_told(run("info", "inner", folder=folder), "inner", "folder"))
    check("a folder as output is told", is_told(run("convert", "scene:arm7", "inner", folder=folder), "inner"))
    check("an output in no folder is told", is_told(run("convert", "scene:arm7", "no/such.json", folder=folder), "no/such.json"))
    check("an empty file is told", is_told(run("info", "/dev/null"), "/dev/null"))
    check("an error of reading is told", is_told(run("info", "/proc/self/mem"), "/proc/self/mem", "cannot be read"))
    endless = os.path.join(folder, "endless.bvh")  # on most disks it takes no room
    with open(endless, "wb") as file:
        file.truncate((1 << 31) + 1)
    check("a file of any length is told before it is read", is_told(run("info", endless), "endless.bvh", "2 GB"))
    os.remove(endless)
    if os.geteuid() != 0:  # who may read everything
        path = os.path.join(folder, "closed.bvh")
        with open(path, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), 0)
        check("a file without rights is told", is_told(run("info", path), "closed.bvh", "Permission denied"))


def check_outputs(folder):
    """A link stays, what it points to is written; a limit on file sizes fails as a full disk does and leaves nothing."""
    place = os.path.join(folder, "outputs")
    os.makedirs(os.path.join(place, "inner"))
    for name, target in (("there", "inner/old.json"), ("new", "inner/new.json"), ("again", "new.json")):
        os.symlink(target, os.path.join(place, name + ".json"))
    with open(os.path.join(place, "inner", "old.json"), "w", encoding="utf-8") as file:
        file.write("old")
    for name in ("there", "again"):
        check("a link is written through", run("convert", "scene:arm7", name + ".json", folder=place).returncode == 0)
    check("links stay", all(os.path.islink(os.path.join(place, name + ".json")) for name in ("there", "new", "again")))
    sizes = [os.path.getsize(os.path.join(place, "inner", name)) for name in ("old.json", "new.json")]
    check("what they point to is written", sizes[0] == sizes[1] > 100)
    limited = run("convert", "scene:humanoid/walk", "large.json", folder=place,
                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000)))
    check("a limit on file sizes is told", is_told(limited, "large.json", "File too large"))
    left = sorted(os.listdir(place))
    check(f"and leaves nothing: {left}", left == ["again.json", "inner", "new.json", "there.json"])


def check_before_the_work(folder):
    """Outputs are checked before the work: nothing is written, not even what could be."""
    place = os.path.join(folder, "before")
    os.mkdir(place)
    run("convert", "scene:humanoid/walk", "walk.json", folder=place)
    before = sorted(os.listdir(place))
    track = ["track", "scene:humanoid", "scene:humanoid/walk/noisy"]
    for words in (track + ["-o", "ok.json", "--report", "no/r.html"], track + ["-o", "ok.json", "--save-model", "no/m.json"],
                  track + ["-o", "ok.json", "--deviations", "no/d.csv"], track + ["--report", "r.html", "-o", "ok.xyz"],
                  ["track", "scene:humanoid", "walk.json", "-o", "walk.json"], ["convert", "walk.json", "walk.json"],
                  ["track", "scene:humanoid", "walk.json", "--save-model", "m.xyz", "-o", "ok.json"],
                  ["solve", "scene:arm6", "-g", "position tip 0.5 0.2 0.6", "-o", "ok.json", "--picture", "no/p.svg"],
                  ["aim", "scene:lamp", "--direction", "0,0,1", "-o", "ok.json", "--picture", "p.png"],
                  ["warp", "scene:humanoid", "walk.json", "--aim", "0,0,1", "-o", "no/w.json"]):
        done = run(*words, folder=place)
        check(f"refused before the work: {words[-4:]}", is_told(done) and sorted(os.listdir(place)) == before)


def check_vanishing(folder):
    """Of a list, takes that are gone when their turn comes fail and are named; the others are done."""
    place = os.path.join(folder, "vanishing")
    os.makedirs(os.path.join(place, "gone"))
    run("convert", "scene:humanoid/punch", "punch.trc", folder=place)
    os.mkfifo(os.path.join(place, "0.trc"))  # the list waits here until something is written
    with open(os.path.join(place, "list"), "w", encoding="utf-8") as file:
        for number, out in enumerate(["0.json", "gone/1.json", "2.json", "3.json"]):
            file.write(f"scene:humanoid {number}.trc {out}\n")
            if number > 0:
                shutil.copy(os.path.join(place, "punch.trc"), os.path.join(place, f"{number}.trc"))
    with subprocess.Popen([poise, "track", "--jobs-from", "list"], cwd=place, text=True, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as process:
        with open(os.path.join(place, "punch.trc"), "rb") as file, open(os.path.join(place, "0.trc"), "wb") as pipe:
            os.rmdir(os.path.join(place, "gone"))
            os.unlink(os.path.join(place, "2.trc"))
            pipe.write(file.read())
        _, messages = process.communicate(timeout=120)
    check("vanished files are told", process.returncode == 2 and "gone/1.json" in messages and "2.trc" in messages)
    there = sorted(name for name in os.listdir(place) if name.endswith(".json"))
    check(f"the other jobs are done, they and no more: {there}", there == ["0.json", "3.json"])


def check_shrinking(folder):
    """A file that another program cuts short gives an answer or an error, never a crash, whichever call comes next."""
    path = os.path.join(folder, "long.bvh")
    run("convert", "scene:humanoid-euler/cartwheel", path)
    with open(path, "rb") as file:
        text = file.read()
    command = [poise, "info", path, "--brief"]
    for number in range(1, events.count(command, folder) + 1):
        for size in (0, 1, len(text) // 3, len(text) - 1):
            with open(path, "wb") as file:
                file.write(text)
            done = subprocess.run(command, env=events.environment(at=number, cut=path, size=size), stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, timeout=120, check=False)
            check(f"a file that shrinks to {size} bytes before call {number} stops nothing", done.returncode in (0, 2))


def result_bytes(folder):
    """Of what does not hold times."""
    names = [name for name in sorted(os.listdir(folder)) if name.endswith((".csv", ".svg", ".json")) and "-times" not in name]
    return {name: open(os.path.join(folder, name), "rb").read() for name in names}


def is_part_of(folder, whole):
    """Has each result the bytes that it has in the end?"""
    expected = result_bytes(whole)
    return all(expected.get(name) == text for name, text in result_bytes(folder).items())


def cut_last_line(folder):
    """Of what a run keeps to go on from, as if it had been killed within a write."""
    kept = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".progress")] if os.path.isdir(folder) else []
    for path in kept:
        size = os.path.getsize(path)
        os.truncate(path, size - min(7, size // 2))


def check_resume(what, whole, parts, command):
    """A long run that is killed again and again leaves whole files each time, and ends with the same bytes.

    `command(folder)` are the words of the command that writes there."""
    number = events.count([poise, *command(whole)], os.path.dirname(whole)) // 5
    check(f"{what} runs, and touches files", number > 10)
    killed = 0
    for sent in (signal.SIGKILL, signal.SIGINT, signal.SIGKILL, signal.SIGINT):
        done = run(*command(parts), env=events.environment(at=number, signal=sent))
        killed += done.returncode == -sent
        check(f"{what}: files are whole after a signal", not os.path.exists(parts) or is_part_of(parts, whole))
        cut_last_line(parts)
    os.makedirs(parts, exist_ok=True)
    check(f"{what} goes on to its end", run(*command(parts)).returncode == 0)
    check(f"{what}: the same bytes after {killed} interruptions", killed == 4 and result_bytes(whole) == result_bytes(parts) != {})
    check(f"{what}: all files are there", set(os.listdir(whole)) <= set(os.listdir(parts)))


def check_resumed_runs(folder):
    def evaluation(place):
        return ["reproduce", "erik-table9", "--full", "--samples", "6000", "--threads", "1", "-o", place]

    def jobs(place):
        os.makedirs(place, exist_ok=True)
        with open(place + ".list", "w", encoding="utf-8") as file:
            for number, motion in enumerate(["walk", "punch", "kick"] * 4):
                file.write(f"scene:humanoid scene:humanoid/{motion} {place}/{number}.json\n")
        return ["track", "--jobs-from", place + ".list", "--report", place, "--threads", "1"]

    check_resume("the evaluation", os.path.join(folder, "whole"), os.path.join(folder, "parts"), evaluation)
    check_resume("a list of jobs", os.path.join(folder, "all"), os.path.join(folder, "some"), jobs)


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_full_output()
        check_full_disk(folder)
        check_full_disk_of_results(folder)
        check_unreadable(folder)
        check_outputs(folder)
        check_before_the_work(folder)
        check_vanishing(folder)
        if sys.platform == "linux":
            check_shrinking(folder)
            check_resumed_runs(folder)
        else:
            print("not tried: runs that are killed, which needs the loader of Linux")
    print(f"{len(failures)} claims failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
