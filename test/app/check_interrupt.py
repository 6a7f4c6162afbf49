#!/usr/bin/env python3
"""Stop `poise track -o OUT` at random moments: OUT is as it was before or has the bytes of a run that was not stopped, and an
interrupt leaves nothing else behind. A hangup stops it as well, but not under `nohup`.

    check_interrupt.py POISE [TRIALS]
"""
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

poise = os.path.abspath(sys.argv[1])
trials = int(sys.argv[2]) if len(sys.argv) > 2 else 20


def start(folder, out, **more):
    command = [poise, "track", "scene:humanoid", "scene:humanoid/cartwheel/noisy", "-o", out, "--report", "page.html", "-t", "2"]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def is_whole(path, before, after):
    """The page of a run holds times, so that only its end is known."""
    text = read(path)
    return text == before or text == after or (path.endswith(".html") and text.rstrip().endswith(b"</html>"))


def outlasts_hangups(folder):
    """Started as `nohup` starts it, the end of the terminal does not stop it."""
    process = start(folder, "out.json", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    while process.poll() is None:
        process.send_signal(signal.SIGHUP)
        time.sleep(0.005)
    return process.returncode == 0


def main():
    seed = int(time.time())
    random.seed(seed)
    stopped = {signal.SIGINT: 0, signal.SIGTERM: 0, signal.SIGKILL: 0}
    with tempfile.TemporaryDirectory() as folder:
        begin = time.monotonic()
        if start(folder, "out.json").wait() != 0:
            sys.exit("the command does not work at all")
        whole = time.monotonic() - begin
        after = read(os.path.join(folder, "out.json"))
        if not outlasts_hangups(folder) or read(os.path.join(folder, "out.json")) != after:
            sys.exit("a hangup stops what nohup has started")
        for trial in range(trials):
            for name in os.listdir(folder):
                os.unlink(os.path.join(folder, name))
            before = None
            if trial % 8 < 4:  # in half of the trials there is an older file
                before = b"older"
                with open(os.path.join(folder, "out.json"), "wb") as file:
                    file.write(before)
            number = [signal.SIGINT, signal.SIGINT, signal.SIGTERM, signal.SIGKILL][trial % 4]
            process = start(folder, "out.json")
            begin = time.monotonic()
            try:
                process.wait(random.uniform(0, 1.1 * whole))
                whole = min(whole, time.monotonic() - begin)  # the machine was busier before
            except subprocess.TimeoutExpired:
                process.send_signal(number)
            status = process.wait()
            stopped[number] += status < 0
            if status not in (0, -number):
                sys.exit(f"seed {seed}, trial {trial}: exit status {status} after signal {number}")
            if before and not os.path.exists(os.path.join(folder, "out.json")):
                sys.exit(f"seed {seed}, trial {trial}: the older out.json is gone after signal {number}")
            for name in os.listdir(folder):
                path = os.path.join(folder, name)
                if name in ("out.json", "page.html"):
                    if not is_whole(path, before, after):
                        sys.exit(f"seed {seed}, trial {trial}: {name} is half-written after signal {number}")
                elif number != signal.SIGKILL:
                    sys.exit(f"seed {seed}, trial {trial}: {name} was left behind after signal {number}")
    print("stopped before the end:", ", ".join(f"{count} times by {number.name}" for number, count in stopped.items()))
    if sum(stopped.values()) < trials / 3:
        sys.exit("too few runs were stopped in time to say anything")


main()
