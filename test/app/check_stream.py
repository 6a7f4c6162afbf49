#!/usr/bin/env python3
"""The command stream as robots and scripts use it: limits of what comes out, records, datagrams, signals, hostile input.

    check_stream.py build/bin/poise
"""
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

POISE = os.path.abspath(sys.argv[1])
LIMITS = {"velocity": 1.5, "acceleration": 8.0, "jerk": 90.0}
FILTER = " ".join(f"{name}={value}" for name, value in LIMITS.items())


def check(holds, what):
    if not holds:
        sys.exit(f"check_stream: {what}")


def run(arguments, data=b"", seconds=120):
    """Lines that came out; the exit status must be 0."""
    done = subprocess.run([POISE, "stream"] + arguments, input=data, capture_output=True, timeout=seconds, check=False)
    check(done.returncode == 0, f"{arguments}: exit status {done.returncode}: {done.stderr.decode(errors='replace')}")
    return done.stdout


def angles(output):
    """The configurations in an output, tick by tick."""
    lines = [json.loads(line) for line in output.splitlines()]
    return [line["q"] for line in lines if "q" in line]


def start(arguments, **streams):
    return subprocess.Popen([POISE, "stream"] + arguments, stdin=streams.get("stdin", subprocess.PIPE),
                            stdout=streams.get("stdout", subprocess.PIPE), stderr=subprocess.PIPE)


# ---- What comes out ------------------------------------------------------------------------------------------------------

def differences_obey_the_limits(rate):
    """Targets that leap about; first, second and third differences of every joint stay within the limits.

    Each number that is printed is within half a unit in the last place of the filter's own. A difference of order k sums up
    2^k of those over dt^k.
    """
    rng = random.Random(7)
    lines = [{"t": t * 0.15, rng.choice(["aim", "direction"]): [rng.gauss(0, 1) for _ in range(3)]} for t in range(40)]
    lines += [{"t": 3.0, "posture": "s-curve"}, {"t": 4.0, "posture": "bow"}]
    lines.sort(key=lambda line: line["t"])
    data = "\n".join(map(json.dumps, lines)).encode()
    ways = angles(run(["scene:erik-g", "--replay", "-r", str(rate), "-d", "7", "--filter", FILTER], data))
    check(len(ways) == 7 * rate, f"{len(ways)} lines in 7 s at {rate} Hz")
    for joint in zip(*ways):
        check(max(map(abs, joint)) <= 3.14159265358979 / 2, "a joint left its range")
        values = list(joint)
        for order, limit in enumerate(LIMITS.values(), 1):
            values = [(b - a) * rate for a, b in zip(values, values[1:])]
            rounding = 4 * 2.0**order * 2.0**-52 * rate**order
            largest = max(map(abs, values))
            check(largest <= limit + rounding, f"{rate} Hz: difference of order {order} is {largest}, limit {limit}")
    check(max(abs(b - a) for way, last in zip(ways[1:], ways) for a, b in zip(way, last)) > 0, "nothing moved")


def solver_may_be_slower_than_the_output():
    lines = b'{"direction":[0,0,1]}\n'
    slow = angles(run(["scene:lamp", "--replay", "-r", "1000", "--solve-rate", "10", "-d", "1", "--filter", FILTER], lines))
    check(len(set(map(tuple, slow))) > 200, "the filter does not go on between two solves")


# ---- Records -------------------------------------------------------------------------------------------------------------

def a_record_replays_to_the_same_bytes(folder, end):
    """A live run with lines at odd moments, good and bad, and its record; it ends by EOF or by an interrupt."""
    record = os.path.join(folder, f"{end}.jsonl")
    arguments = ["scene:erik-g", "-p", "bow", "-r", "500", "--solve-rate", "125", "--settle", "0.2"]
    live = start(arguments + ["--record", record])
    lines, complained = [live.stdout.readline()], threading.Event()  # it runs, and takes signals

    def read():
        for line in live.stdout:
            lines.append(line)
            if b'"error"' in line:
                complained.set()

    reader = threading.Thread(target=read)
    reader.start()
    rng = random.Random(3)
    for i in range(25):
        line = json.dumps({"direction": [rng.gauss(0, 1) for _ in range(3)]}).encode()
        line = b"\xff\x00 \"" if i % 7 == 3 else b'{"posture":"nobody"}' if i % 7 == 5 else line
        live.stdin.write(line + b"\n")
        live.stdin.flush()
        time.sleep(rng.random() * 0.03)
    check(complained.wait(120), f"{end}: nothing is said of bad lines")
    if end == "interrupt":
        live.send_signal(signal.SIGINT)
        reader.join(120)
    live.stdin.close()
    reader.join()
    check(live.wait() == 0, f"{end}: exit status {live.returncode}")
    check(b"latency" in live.stderr.read(), f"{end}: no figures at the end")
    with open(record, "rb") as file:
        again = run(arguments + ["--replay"], file.read())
    check(len(b"".join(lines)) > 1000, f"{end}: too little came out")
    check(again == b"".join(lines), f"{end}: the replay differs from the live run")


# ---- Datagrams -----------------------------------------------------------------------------------------------------------

def datagrams_are_taken_and_answered():
    process = start(["scene:lamp", "-r", "50", "--port", "0", "--reply", "-d", "600"], stdin=subprocess.DEVNULL)
    port = json.loads(process.stdout.readline())["port"]
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    client.settimeout(120)

    def ask(line, answered):
        client.sendto(line, ("127.0.0.1", port))
        for _ in range(400):
            answer = json.loads(client.recv(65536))
            if answered(answer):
                return
        check(False, f"no answer to {line}")

    ask(b'{"direction":[1,0,0]}', lambda a: a.get("line") == 1 and "q" in a)
    ask(b'{"direction":[0,0,1]}\n{"direction":7}\n', lambda a: a.get("line") == 3 and "error" in a)
    ask(b"", lambda a: a.get("line") == 2 and "q" in a)  # an empty line counts, and changes nothing
    client.sendto(b'{"stop":true}', ("127.0.0.1", port))
    process.stdout.read()
    check(process.wait() == 0, "datagrams: exit status")


# ---- Ends and hostile input ----------------------------------------------------------------------------------------------

def nobody_reads(further):
    process = start(["scene:lamp", "-r", "1000"] + further)
    process.stdout.readline()
    process.stdout.close()
    check(process.wait(timeout=120) == 0, f"closed output: exit status {process.returncode}")
    process.stdin.close()


def output_that_cannot_be_written_is_said():
    for target in [">&-"] + ["> /dev/full"] * os.path.exists("/dev/full"):
        done = subprocess.run(["sh", "-c", f'"$0" stream scene:lamp -d 0.2 {target}', POISE], input=b"", timeout=120,
                              stderr=subprocess.PIPE, check=False)
        check(done.returncode == 2 and b"standard output: cannot be written: " in done.stderr,
              f"{target}: exit status {done.returncode}: {done.stderr.decode()}")


def random_bytes_never_crash(runs):
    rng = random.Random(11)
    words = [b'{"aim":[1,0,0]}', b'{"t":', b"[", b"]", b"{", b"}", b'"', b"\\u00", b"\n", b"1e999", b"null", b'"goals":["aim tip']
    for _ in range(runs):
        data = b"".join(rng.choice(words) if rng.random() < 0.6 else rng.randbytes(rng.randrange(40)) for _ in range(3000))
        output = run(["scene:hand", "--replay", "-d", "0.05"], data)
        for line in output.splitlines():
            json.loads(line)


def memory_is_bounded():
    process = start(["scene:lamp", "--replay", "-d", "0.1"], stdout=subprocess.DEVNULL)

    def peak_after(megabytes):
        for _ in range(megabytes):
            process.stdin.write(b"x" * (1 << 20))
        process.stdin.flush()
        with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
            return [int(line.split()[1]) for line in file if line.startswith("VmHWM")][0]

    before = peak_after(4)
    after = peak_after(60)
    process.stdin.close()
    check(process.wait() == 0, "a line of 64 MB: exit status")
    check(after - before < 1000, f"a line of 64 MB took {after - before} kB")


with tempfile.TemporaryDirectory() as place:
    for hertz in (60, 1000):
        differences_obey_the_limits(hertz)
    solver_may_be_slower_than_the_output()
    for how in ("end", "interrupt"):
        a_record_replays_to_the_same_bytes(place, how)
    datagrams_are_taken_and_answered()
    nobody_reads([])
    nobody_reads(["--json"])
    output_that_cannot_be_written_is_said()
    random_bytes_never_crash(60)
    memory_is_bounded()
print("the stream keeps its limits, its records, its company and its head")
