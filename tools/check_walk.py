#!/usr/bin/env python3
"""The walks of docs/architecture.md are those that the program takes.

A paragraph "Walk of `COMMAND` [from `FUNCTION`] through FOLDER, FOLDER: `FILE` → `FILE` → ..." lists the sources and kernels of
these folders in the order in which the command first enters them, or the first call of the function does. Here the program is built once more so that every function reports when it is entered
(-finstrument-functions, into BUILD), the command is run, and what it entered is compared with the list: no file more, none less,
and no other order.

check_walk.py [--build BUILD] [--write]      --write puts the walks that were taken into the page
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import textwrap

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PAGE = os.path.join(ROOT, "docs", "architecture.md")
WALK = re.compile(r"^Walk of `([^`]+)`(?: from `([^`]+)`)? through ([^:]+):(.*?)\n\n", re.M | re.S)


def run(*words, **more):
    return subprocess.run(words, check=True, **more)


def build(folder):
    """The program and the library that listens."""
    launcher = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if subprocess.run(["which", "ccache"], capture_output=True).returncode == 0 else []
    run("cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS=-O0 -g1 -finstrument-functions",
        "-DBUILD_TESTING=OFF", "-DPOISE_BUILD_BENCH=OFF", "-DPOISE_BUILD_PYTHON=OFF", "-DPOISE_BUILD_CUDA=OFF",
        "-DPOISE_BUILD_MPI=OFF", "-DPOISE_WERROR=OFF", *launcher, stdout=subprocess.DEVNULL)
    run("cmake", "--build", folder, "--target", "poise", stdout=sys.stderr)
    listener = os.path.join(folder, "walk_trace.so")
    run("cc", "-std=c11", "-O1", "-fPIC", "-shared", os.path.join(ROOT, "tools", "walk_trace.c"), "-o", listener, "-ldl", "-lpthread")
    return os.path.join(folder, "bin", "poise"), listener


def entered(program, listener, command, function, folders):
    """The files of these folders, in the order in which the command first enters them."""
    with tempfile.TemporaryDirectory() as work:
        log = os.path.join(work, "log")
        words = command.replace("poise ", program + " ", 1)
        more = {}
        if function:
            names = run("nm", program, capture_output=True, text=True).stdout.split("\n")
            more["WALK_FROM"] = next(line.split()[0] for line in names if line.endswith(" " + function))
        subprocess.run(words, shell=True, cwd=work, env={**os.environ, "LD_PRELOAD": listener, "WALK": log, **more}, check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(log, encoding="utf-8") as stream:
            places = [line.split()[1] for line in stream if line.split()[0].endswith("poise")]
    names = run("addr2line", "-e", program, input="\n".join(places), capture_output=True, text=True).stdout.split("\n")
    files = [os.path.relpath(os.path.normpath(os.path.join(ROOT, "build", name.rsplit(":", 1)[0])), ROOT) if not os.path.isabs(name)
             else os.path.relpath(name.rsplit(":", 1)[0], ROOT) for name in names if ":" in name]
    return list(dict.fromkeys(file for file in files if file.endswith((".c", "_kernel.h")) and any(file.startswith(folder + "/") for folder in folders)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=os.path.join(ROOT, "build-walk"))
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    if any(subprocess.run(["which", tool], capture_output=True).returncode for tool in ("cc", "cmake", "ninja", "addr2line")):
        print("a compiler, CMake, Ninja or addr2line is missing")
        return 77
    with open(PAGE, encoding="utf-8") as stream:
        page = stream.read()
    walks = WALK.findall(page)
    program, listener = build(given.build)
    wrong = 0
    for command, function, folders, text in walks:
        listed = re.findall(r"`([^`]+)`", text)
        taken = entered(program, listener, command, function, [folder.strip(" `") for folder in folders.split(",")])
        if given.write:
            path = " → ".join(f"`{file}`" for file in taken)
            at = page.index(text, page.index(f"Walk of `{command}`"))
            page = page[:at] + "\n" + textwrap.fill(path, 128, break_on_hyphens=False, break_long_words=False) + page[at + len(text):]
            print(f"{command}: {len(taken)} files")
        elif taken != listed:
            wrong += 1
            print(f"docs/architecture.md: {command} enters\n    " + " → ".join(taken) + "\n  and the page lists\n    " + " → ".join(listed))
    if given.write:
        with open(PAGE, "w", encoding="utf-8") as stream:
            stream.write(page)
    print(f"{len(walks)} walks, {wrong} wrong")
    return 1 if wrong or not walks else 0


if __name__ == "__main__":
    sys.exit(main())
