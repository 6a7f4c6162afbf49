#!/usr/bin/env python3
"""Stop `poise track -o OUT` before each call by which it touches a file: OUT is as it was before or has the bytes of a run that was
not stopped, and an interrupt leaves nothing else behind. A hangup stops it as well, but not under `nohup`.

    check_interrupt.py POISE FILE_EVENTS
"""
import os
import signal
import subprocess
import sys
import tempfile

from events import Events

poise = os.path.abspath(sys.argv[1])
events = Events(sys.argv[2])
command = [poise, "track", "scene:humanoid", "scene:humanoid/cartwheel/noisy", "--last", "20", "-o", "out.json", "--report", "page.html",
           "-t", "2"]


def run(folder, **more):
    return subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, **more).returncode


def read(path):
    with open(path, "rb") as file:
        return file.read()


def is_whole(path, before, after):
    """The page of a run holds times, so that only its end is known."""
    text = read(path)
    return text == before or text == after or (path.endswith(".html") and text.rstrip().endswith(b"</html>"))


def outlasts_hangups(folder):
    """Started as `nohup` starts it, the end of the terminal does not stop it, whenever it comes."""
    return run(folder, env=events.environment(at=0, signal=signal.SIGHUP),
               preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) == 0


def stop(folder, number, sent, before, after):
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    if before:
        with open(os.path.join(folder, "out.json"), "wb") as file:
            file.write(before)
    status = run(folder, env=events.environment(at=number, signal=sent))
    what = f"{sent.name} before call {number}{', with an older file' if before else ''}"
    if status != -sent:
        sys.exit(f"{what}: exit status {status}")
    if before and not os.path.exists(os.path.join(folder, "out.json")):
        sys.exit(f"{what}: the older out.json is gone")
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if name in ("out.json", "page.html"):
            if not is_whole(path, before, after):
                sys.exit(f"{what}: {name} is half-written")
        elif sent != signal.SIGKILL:
            sys.exit(f"{what}: {name} was left behind")


def main():
    if sys.platform != "linux":
        print("skipped: needs the loader of Linux, which puts a library into a program")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        if run(folder) != 0:
            sys.exit("the command does not work at all")
        after = read(os.path.join(folder, "out.json"))
        if not outlasts_hangups(folder) or read(os.path.join(folder, "out.json")) != after:
            sys.exit("a hangup stops what nohup has started")
        count = events.count(command, folder)
        if count < 10:  # at least make, write, give rights to, close and rename two files
            sys.exit(f"only {count} calls are seen")
        ways = [(sent, b"older") for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)]
        ways += [(signal.SIGINT, None), (signal.SIGKILL, None)]
        for sent, before in ways:
            for number in range(1, count + 1):
                stop(folder, number, sent, before, after)
    print(f"stopped before each of {count} calls, in {len(ways)} ways")


main()
