#!/usr/bin/env python3
"""No line is wider than the terminal, in whatever `poise help` names, explains or gives as an example; in a pipe a sentence
stays one line and no name is shortened, and pages for people to read keep to 80 columns there, too.

    check_terminal.py POISE
"""
import json
import os
import subprocess
import sys
import tempfile
import threading

from terminal import COLUMNS, ENVIRONMENT, open_terminal

END = b"<the command has ended>"
poise = os.path.abspath(sys.argv[1])

COMMANDS = [
    ["info", "scene:humanoid"],
    ["info", "long.urdf"],
    ["fk", "scene:humanoid"],
    ["fk", "long.urdf"],
    ["retarget", "scene:humanoid/walk", "scene:humanoid", "-o", "a-rather-long-name-of-a-file-that-is-written.json"],
    ["edit", "scene:humanoid/kick", "--clean-feet", "--pin", "left_hand 0.5 3 0.6 from 0.5 s to 0.6 s fade 0.2"],
    ["edit", "scene:humanoid/walk"],
    ["convert", "long.urdf", "long.bvh"],
]

NAMES = ["a_robot_whose_links_have_long_names_%d_link" % i for i in range(3)]


def write_robot(path):
    """Three links with names that do not fit beside each other."""
    links = "".join(f'<link name="{name}"/>' for name in NAMES)
    joints = "".join(
        f'<joint name="{b}_joint" type="revolute"><parent link="{a}"/><child link="{b}"/><axis xyz="0 0 1"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>' for a, b in zip(NAMES, NAMES[1:]))
    with open(path, "w") as file:
        file.write(f'<robot name="long">{links}{joints}</robot>')


def on_terminal(command, folder):
    """What a command prints on a terminal, without colours.

    The terminal stays open here until an end mark has come through it: where the last one to hold it is
    the command, a kernel may drop what it printed just before it ended.
    """
    ours, its = open_terminal()
    shell = isinstance(command, str)
    child = subprocess.Popen(command if shell else [poise, *command], cwd=folder, stdin=its, stdout=its, stderr=its, shell=shell,
                             env={**ENVIRONMENT, "PATH": os.path.dirname(poise) + os.pathsep + os.environ["PATH"]})
    waiting = threading.Thread(target=lambda: (child.wait(), os.write(its, END)))
    waiting.start()
    out = b""
    while END not in out:
        out += os.read(ours, 65536)
    waiting.join()
    os.close(its)
    os.close(ours)
    lines = out.replace(END, b"").decode().replace("\r\n", "\n").split("\n")
    return [line.split("\r")[-1].replace("\x1b[K", "") for line in lines]  # what a bar leaves behind


def run(command, folder, shell=False):
    """What it prints into a pipe."""
    command = command if shell else [poise, *command]
    return subprocess.run(command, cwd=folder, shell=shell, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "PATH": os.path.dirname(poise) + os.pathsep + os.environ["PATH"]},
                          check=False).stdout.decode()


def pages(folder):
    """Pages for people: help of everything, and what there is to choose from."""
    table = json.loads(run(["help", "--json"], folder))
    names = [entry["name"] for kind in ("commands", "topics") for entry in table[kind]]
    beside = os.path.dirname(poise)
    yield ["help"]
    yield from (["help", name] for name in names)
    yield ["info", "scene:"]
    yield from (["info", "scene:" + scene["name"]] for scene in json.loads(run(["info", "scene:", "--json"], folder))["scenes"])
    if os.path.exists(os.path.join(beside, "poise-reproduce")):
        yield ["reproduce"]
    if os.path.exists(os.path.join(beside, "poise-bench")):
        yield from (["bench", "--list"], ["bench", "--help"])


def examples(folder):
    """The examples of help in its order, which is that of their files; no benchmarks, whose tables are wide, and no streams."""
    for entry in json.loads(run(["help", "--json"], folder))["commands"]:
        if not entry["waits"] and entry["name"] not in ("bench", "reproduce", "help", "stream"):
            yield from (example["command"] for example in entry["examples"])


def check_width(name, lines):
    wide = [line for line in lines if len(line) > COLUMNS]
    if wide:
        sys.exit(f"{name}: {len(wide)} lines are wider than {COLUMNS} columns:\n" + "\n".join(wide))


def words(text):
    return text.split()


def main():
    with tempfile.TemporaryDirectory() as folder:
        write_robot(os.path.join(folder, "long.urdf"))
        for command in COMMANDS:
            lines = on_terminal(command, folder)
            piped = subprocess.run([poise, *command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   check=False).stdout.decode()
            check_width("poise " + " ".join(command), lines)
            shown = sum(len(word) for word in words(" ".join(lines)))
            whole = sum(len(word) for word in words(piped))
            if shown < 0.5 * whole or whole == 0:
                sys.exit(f"poise {' '.join(command)}: {shown} of {whole} characters are shown")
        for page in pages(folder):
            check_width(f"poise {' '.join(page)} into a pipe", run(page, folder).split("\n"))
            check_width(f"poise {' '.join(page)}", on_terminal(page, folder))
        for example in examples(folder):
            lines = on_terminal(example, folder)
            if "--json" not in example and " - " not in example:  # which are for programs
                check_width(example, lines)
        piped = subprocess.run([poise, "fk", "long.urdf"], cwd=folder, stdout=subprocess.PIPE, check=True).stdout.decode()
        if not all(name in words(piped) for name in NAMES):
            sys.exit("a pipe must get whole names")
        piped = subprocess.run([poise, "edit", "scene:humanoid/walk"], stderr=subprocess.PIPE, check=False).stderr.decode()
        if len(piped.splitlines()) != 1 or len(piped) < COLUMNS:
            sys.exit("a pipe must get a message as one line")


main()
