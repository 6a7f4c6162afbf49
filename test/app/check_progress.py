#!/usr/bin/env python3
"""A long `poise reproduce` shows how far it is and how long it will take; Ctrl-C says what was kept and by which command to go
on, and that command goes on from there. The benchmarks have the same bar.

    check_progress.py POISE
"""
import os
import re
import select
import shlex
import signal
import subprocess
import sys
import tempfile

from terminal import COLUMNS, ENVIRONMENT, open_terminal

poise = os.path.abspath(sys.argv[1])
beside = os.path.dirname(poise)
if not os.path.exists(os.path.join(beside, "poise-reproduce")):
    print("skipped: poise-reproduce is not built")
    sys.exit(77)

BAR = re.compile(r"\r\x1b\[K([a-z][a-z0-9-]* [#.]{6,24} +\d+ %[^\r\n\x1b]*)")
LEFT = re.compile(r", \d+:\d\d(:\d\d)? left")


def until(words, folder, seen):
    """Start a command on a terminal, interrupt it when `seen` says so, which is asked all the time; what it printed, and its
    exit status."""
    ours, its = open_terminal()
    child = subprocess.Popen(words, cwd=folder, stdin=its, stdout=its, stderr=its,
                             env=ENVIRONMENT)
    os.close(its)
    text, stopped = "", False
    while True:
        if not stopped and seen(text):
            child.send_signal(signal.SIGINT)
            stopped = True
        if not stopped and not select.select([ours], [], [], 0.05)[0]:
            continue
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the end, as Linux says it
            break
        if not piece:
            break
        text += piece.decode(errors="replace").replace("\r\n", "\n")
    os.close(ours)
    status = child.wait()
    if not stopped:
        sys.exit(f"{' '.join(words)}: ended before it showed what it should:\n{text[-2000:]}")
    return text, status


def bars(text):
    found = BAR.findall(text)
    wide = [bar for bar in found if len(bar) >= COLUMNS]
    if wide:
        sys.exit("a bar does not fit a line: " + wide[0])
    return found


def has_time_left(text):
    return any(LEFT.search(bar) for bar in bars(text))


def go_on(text, name):
    """Parts kept and the command that goes on, from the last words of a run that was stopped."""
    said = re.search(rf"poise: reproduce: stopped in {name}; (\d+) of (\d+) parts are kept in (.+)\.\n"
                     r"To go on from there:\n  (poise .*)\n", text)
    if not said or any(len(line) > COLUMNS for line in said[0].split("\n")):
        sys.exit(f"{name}: an interrupt should say what was kept and how to go on:\n{text[-1500:]}")
    return int(said[1]), int(said[2]), shlex.split(said[4])


def kept_in(folder):
    """Parts that are kept there, by the file of the run."""
    path = os.path.join(folder, "erik-evaluation.progress")
    if not os.path.exists(path):
        return 0
    with open(path, "rb") as file:
        return file.read().count(b" end\n")


def first_time_left(folder, threads):
    """For `until`: the bar tells a time left as soon as one part is done. A part is kept before it is told; so all that were kept
    at the last look have been told by now, but for one of each thread."""
    kept = 0

    def seen(text):
        nonlocal kept
        if not has_time_left(text) and kept > threads:
            sys.exit(f"{kept} parts are kept, and no time left is told: {bars(text)}")
        kept = kept_in(folder)
        return has_time_left(text)

    return seen


def main():
    with tempfile.TemporaryDirectory() as folder:
        first = [poise, "reproduce", "erik-table8", "--full", "--threads", "4", "-o", "kept here"]
        text, status = until(first, folder, first_time_left(os.path.join(folder, "kept here"), 4))
        if status != -signal.SIGINT:
            sys.exit(f"exit status {status} after an interrupt")
        kept, parts, words = go_on(text, "erik-table8")
        if not 0 < kept < parts:
            sys.exit(f"{kept} of {parts} parts kept")
        if [poise, *words[1:]] != first:
            sys.exit(f"to go on, it names {words}")
        text, status = until([poise, *words[1:]], folder, has_time_left)
        if f"Going on: {kept} of {parts} parts are there" not in text:
            sys.exit("it does not go on from where it was:\n" + text[-1500:])
        more, _, _ = go_on(text, "erik-table8")
        if more <= kept:
            sys.exit(f"{kept} parts were kept, and {more} after going on")
        # of several experiments those that are done are not named again
        text, status = until([poise, "reproduce", "erik-fig7", "erik-table8", "--full", "-o", "out"], folder,
                             lambda text: any(bar.startswith("erik-table8") for bar in bars(text)))
        _, _, words = go_on(text, "erik-table8")
        if words != ["poise", "reproduce", "erik-table8", "--full", "-o", "out"]:
            sys.exit(f"to go on with the second experiment, it names {words}")
        if os.path.exists(os.path.join(beside, "poise-bench")):
            text, _ = until([poise, "bench", "methods", "scaling", "--quick"], folder,
                            lambda text: any("suite 1 of 2: methods, " in bar for bar in bars(text)))


main()
