#!/usr/bin/env python3
"""Stop `poise track -o OUT` at random moments: OUT is whole or not there, and an interrupt leaves nothing else behind.

    check_interrupt.py POISE [TRIALS]
"""
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

poise = os.path.abspath(sys.argv[1])
trials = int(sys.argv[2]) if len(sys.argv) > 2 else 20


def start(folder, out):
    command = [poise, "track", "scene:humanoid", "scene:humanoid/cartwheel/noisy", "-o", out, "--report", "page.html", "-t", "2"]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def is_whole(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".html"):
        return text.rstrip().endswith("</html>")
    try:
        return "clip" in json.loads(text)
    except ValueError:
        return False


def main():
    seed = int(time.time())
    random.seed(seed)
    stopped = {signal.SIGINT: 0, signal.SIGTERM: 0, signal.SIGKILL: 0}
    with tempfile.TemporaryDirectory() as folder:
        begin = time.monotonic()
        if start(folder, "out.json").wait() != 0:
            sys.exit("the command does not work at all")
        whole = time.monotonic() - begin
        for trial in range(trials):
            for name in os.listdir(folder):
                os.unlink(os.path.join(folder, name))
            number = [signal.SIGINT, signal.SIGINT, signal.SIGTERM, signal.SIGKILL][trial % 4]
            process = start(folder, "out.json")
            time.sleep(random.uniform(0, 1.1 * whole))
            process.send_signal(number)
            status = process.wait()
            stopped[number] += status < 0
            if status not in (0, -number):
                sys.exit(f"seed {seed}, trial {trial}: exit status {status} after signal {number}")
            for name in os.listdir(folder):
                path = os.path.join(folder, name)
                if name in ("out.json", "page.html"):
                    if not is_whole(path):
                        sys.exit(f"seed {seed}, trial {trial}: {name} is half-written after signal {number}")
                elif number != signal.SIGKILL:
                    sys.exit(f"seed {seed}, trial {trial}: {name} was left behind after signal {number}")
    print("stopped before the end:", ", ".join(f"{count} times by {number.name}" for number, count in stopped.items()))
    if sum(stopped.values()) < trials / 3:
        sys.exit("too few runs were stopped in time to say anything")


main()
