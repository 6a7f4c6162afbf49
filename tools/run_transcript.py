#!/usr/bin/env python3
"""Run what a user would type, and compare with what is written beside it.

    run_transcript.py --poise build/bin/poise FILE...            run transcripts
    run_transcript.py --poise build/bin/poise --write FILE...    put what came out into the files
    run_transcript.py --poise build/bin/poise --examples NAME... run the examples of these commands (all: no name)
    run_transcript.py --poise build/bin/poise --pages            check help, manual pages and completion scripts

To add a test: write test/app/<name>.txt; CMake finds it and makes the CTest test app_<name>. Start with the commands alone,
run with --write, read what came out, and replace what differs from run to run by "...".

A transcript is prose with blocks of commands and their output (standard output and errors together), indented by four:

    $ poise info scene:nothing
    poise: scene:nothing: no such scene; "poise help scenes" lists them
    [2]

    $ ...           a command; lines "> ..." after it belong to it (here-documents, long lines)
    [2]             after the output: the exit status, where it is not 0
    ... seconds     "..." in a line stands for anything in that line, alone in a line for any number of lines
    [0-9]+ x (re)   a line that ends with " (re)" is a regular expression for the whole line

Lines that begin in the first column are prose, but for these:

    needs: kill                    skip the test (exit status 77) where this program is missing on PATH
    needs: $POISE_DATA/hdm05       or this file or folder of the data folder (docs/data.md); one that is different fails

Only a transcript that needs files of the data folder sees it: in others, and in examples, POISE_DATA is not set, so that they
show the same everywhere.

All commands of a file run in one bash, in an empty folder that is removed afterwards, with `poise` on PATH, TERM=dumb and
nothing on standard input. $SOURCE is the root of the repository. Output that holds a control character other than a tab
fails: a pipe must get plain text.

In Markdown (*.md) the blocks are the fenced ones whose first line has the word "run": ```sh run. A block without "$ " is a
script: each of its lines must work, and what it prints is not compared.
"""
import argparse
import difflib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import uuid

SKIPPED = 77
DATA = "$POISE_DATA/"
SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
COLUMNS = 80


# ---- Running -------------------------------------------------------------------------------------------------------------

def environment(poise, folder, with_data=False):
    env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES")}
    env["PATH"] = os.path.dirname(poise) + os.pathsep + env.get("PATH", "")
    data = env.pop("POISE_DATA", None)
    if with_data and data:
        env["POISE_DATA"] = os.path.abspath(data)
    env.update(TERM="dumb", HOME=folder, LC_ALL="C.UTF-8", SOURCE=SOURCE)
    return env


def run_bash(script, folder, poise, seconds, with_data):
    """Output (both streams) and exit status of a bash script; the status is None when it took too long."""
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "script")
        with open(path, "w", encoding="utf-8") as file:
            file.write(script)
        process = subprocess.Popen(["bash", path], cwd=folder, env=environment(poise, folder, with_data), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            output, _ = process.communicate(timeout=seconds)
            status = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # the group is our own child's
            output, _ = process.communicate()
            status = None
    return output.decode("utf-8", "backslashreplace"), status


# ---- Transcripts ---------------------------------------------------------------------------------------------------------

class Step:
    """One command and the output that is expected of it."""

    def __init__(self, command, line):
        self.command, self.line = [command], line
        self.expected, self.status = [], 0
        self.output, self.came_out = None, None
        self.compared = True

    def finish(self):
        while self.expected and not self.expected[-1].strip():
            self.expected.pop()
        if self.expected and re.fullmatch(r"\[\d+\]", self.expected[-1]):
            self.status = int(self.expected.pop()[1:-1])


class Transcript:
    def __init__(self, path):
        self.path = path
        with open(path, encoding="utf-8") as file:
            self.lines = file.read().split("\n")
        self.needs, self.steps = [], []
        self.span = {}  # step -> first and last line of what it expects, for --write
        if path.endswith(".md"):
            self.read_markdown()
        else:
            self.read_text()
        for step in self.steps:
            step.finish()

    def add_line(self, text, number, step):
        """One line of a block; the step that it belongs to."""
        if text.startswith("$ "):
            step = Step(text[2:], number + 1)
            self.steps.append(step)
            self.span[step] = [number + 1, number + 1]
        elif step and not step.expected and re.match(r">( |$)", text):
            step.command.append(text[2:])
            self.span[step] = [number + 1, number + 1]
        elif step:
            step.expected.append(text)
            if text.strip():
                self.span[step][1] = number + 1
        return step

    def read_text(self):
        step = None
        for number, line in enumerate(self.lines):
            if line.startswith("    "):
                step = self.add_line(line[4:], number, step)
            elif not line.strip():
                step = self.add_line("", number, step) if step else None
            else:
                step = None
                if line.startswith("needs: "):
                    self.needs.append(line[7:].strip())

    def read_markdown(self):
        number = 0
        while number < len(self.lines):
            fence = re.match(r"```\s*\w+.*\brun\b", self.lines[number])
            first = number = number + 1
            if not fence:
                continue
            while number < len(self.lines) and not self.lines[number].startswith("```"):
                number += 1
            block = self.lines[first:number]
            if any(line.startswith("$ ") for line in block):
                step = None
                for i, line in enumerate(block):
                    step = self.add_line(line, first + i, step)
            else:
                script = Step("(set -e\n" + "\n".join(block) + "\n)", first + 1)
                script.compared = False
                self.steps.append(script)
            number += 1

    def rewritten(self):
        """The file with what came out; lines that matched a pattern stay."""
        lines, indent = list(self.lines), "" if self.path.endswith(".md") else "    "
        for step in reversed([s for s in self.steps if s.compared]):
            text = merge(step.expected, step.output)
            text += [] if step.came_out == 0 else ["[%s]" % step.came_out]
            first, last = self.span[step]
            lines[first:last] = [(indent + line).rstrip() for line in text]
        return "\n".join(lines)


def matches_line(expected, line):
    if expected.endswith(" (re)"):
        return re.fullmatch(expected[:-5], line) is not None
    if "..." in expected:
        return re.fullmatch(".*".join(re.escape(part) for part in expected.split("...")), line) is not None
    return expected.rstrip() == line.rstrip()


def matches(expected, output):
    """Wildcard matching of lines: on a mismatch the last "..." takes one line more."""
    e = o = 0
    star, taken = None, 0
    while o < len(output):
        if e < len(expected) and expected[e] == "...":
            star, taken = e, o
            e += 1
        elif e < len(expected) and matches_line(expected[e], output[o]):
            e, o = e + 1, o + 1
        elif star is not None:
            taken += 1
            e, o = star + 1, taken
        else:
            return False
    return all(line == "..." for line in expected[e:])


def merge(expected, output):
    if matches(expected, output):
        return expected
    patterns = [line for line in expected if line.endswith(" (re)") or ("..." in line and line != "...")]
    return [next((p for p in patterns if matches_line(p, line)), line) for line in output]


def missing(needs, poise):
    """0, or 77 where a need is missing and 1 where a file of the data folder is another one; and why."""
    for need in needs:
        if need.startswith(DATA):
            done = subprocess.run([os.path.join(SOURCE, "tools/data.sh"), "has", need[len(DATA):]],
                                  stdout=subprocess.PIPE, check=False)
            if done.returncode:
                return done.returncode, done.stdout.decode().strip()
        elif not shutil.which(need, path=environment(poise, "")["PATH"]):
            return SKIPPED, "needs " + need
    return 0, ""


def run_steps(steps, poise, seconds, with_data=False):
    """Fill in what came out of each step. True when all of them ran."""
    salt = "step-" + uuid.uuid4().hex
    script = "".join("%s\nprintf '\\n%s %%d %%d\\n' %d $?\n" % ("\n".join(step.command), salt, i)
                     for i, step in enumerate(steps))
    with tempfile.TemporaryDirectory() as folder:
        text, status = run_bash(script, folder, poise, seconds, with_data)
    parts = re.split(r"\n%s (\d+) (\d+)\n" % salt, "\n" + text)
    for i in range(0, len(parts) - 1, 3):
        step = steps[int(parts[i + 1])]
        output = parts[i][1:] if i == 0 else parts[i]
        step.output = output.rstrip("\n").split("\n") if output.strip("\n") else []
        step.came_out = int(parts[i + 2])
    rest = parts[-1].strip("\n")
    if steps and steps[-1].output is None:
        stuck = next(step for step in steps if step.output is None)
        print("line %d: $ %s\ndid not come to its end%s:\n%s" %
              (stuck.line, stuck.command[0], " in %g seconds" % seconds if status is None else "", rest[-2000:]))
        return False
    return True


def judge(step, path):
    """Print what is wrong with one step; True when nothing is."""
    place = "%s:%d: $ %s" % (path, step.line, step.command[0])
    wrong = []
    for line in step.output:
        if CONTROL.search(line):
            wrong.append("a control character in the output: %r" % line)
            break
    if step.came_out != step.status:
        wrong.append("exit status %d, not %d" % (step.came_out, step.status))
    if step.compared and not matches(step.expected, step.output):
        wrong += list(difflib.unified_diff(step.expected, step.output, "expected", "came out", lineterm=""))
    elif wrong:
        wrong += step.output[-20:]
    if wrong:
        print(place)
        print("\n".join("    " + line for line in wrong))
    return not wrong


def run_transcript(path, poise, seconds, write):
    transcript = Transcript(path)
    status, reason = missing(transcript.needs, poise)
    if status:
        print("%s: %s" % ("skipped" if status == SKIPPED else path, reason))
        return status
    if not transcript.steps:
        print("%s: holds no commands" % path)
        return 1
    with_data = any(need.startswith(DATA) for need in transcript.needs)
    if not run_steps(transcript.steps, poise, seconds, with_data):
        return 1
    if write:
        text = transcript.rewritten()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return 0
    good = [judge(step, path) for step in transcript.steps]
    print("%s: %d of %d commands as written" % (path, sum(good), len(good)))
    return 0 if all(good) else 1


# ---- Examples and pages --------------------------------------------------------------------------------------------------

def ask(poise, *words):
    """Standard output, errors and exit status of poise with these words."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([poise, *words], cwd=folder, env=environment(poise, folder), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=60)
    return done.stdout.decode("utf-8", "backslashreplace"), done.stderr.decode("utf-8", "backslashreplace"), done.returncode


def brings_files(step):
    """An example over files of a user's, which Poise does not ship: its words must be understood as far as opening them."""
    absent = re.compile(r"poise: \S+\.(osim|trc|xml|sto|urdf): cannot be opened: No such file or directory")
    if re.search(r"\.(osim|urdf)\b", step.command[0]) and step.came_out == 2 and len(step.output) == 1 and absent.match(step.output[0]):
        step.status = 2


def run_examples(poise, names, seconds):
    commands = json.loads(ask(poise, "help", "--json")[0])["commands"]
    known = [c["name"] for c in commands]
    unknown = [name for name in names if name not in known]
    if unknown:
        print("no such command: %s" % " ".join(unknown))
        return 1
    failed = 0
    for command in commands:
        if names and command["name"] not in names:
            continue
        steps = []
        for example in command["examples"]:
            words = example["command"]
            if command["waits"]:  # goes on until it is interrupted: here as soon as it has said something
                words = f"(set -m; {words} >said 2>&1 & until [ -s said ] || ! kill -0 $!; do sleep 0.1; done; kill -INT $!; wait $!)"
            step = Step(words, len(steps) + 1)
            step.compared = False
            steps.append(step)
        if not steps:
            print("%s: has no examples" % command["name"])
            failed += 1
        elif not run_steps(steps, poise, seconds):
            failed += 1
        else:
            for step in steps:
                brings_files(step)
            good = [judge(step, "poise help " + command["name"]) for step in steps]
            print("poise %s: %d of %d examples work" % (command["name"], sum(good), len(good)))
            failed += not all(good)
    return 1 if failed else 0


def check_page(name, text):
    wrong = []
    for number, line in enumerate(text.split("\n")):
        if len(line) > COLUMNS:
            wrong.append("line %d has %d columns: %s" % (number + 1, len(line), line))
        if CONTROL.search(line) or "\t" in line:
            wrong.append("line %d holds a control character: %r" % (number + 1, line))
        if line != line.rstrip():
            wrong.append("line %d ends with a space: %r" % (number + 1, line))
    if not text.strip():
        wrong.append("is empty")
    return ["%s: %s" % (name, what) for what in wrong]


def check_manual(name, text):
    """What the formatter that is installed says of a manual page."""
    if shutil.which("mandoc"):
        words = ["mandoc", "-T", "lint", "-W", "warning"]
    elif shutil.which("groff"):
        words = ["groff", "-man", "-ww", "-z", "-Tutf8"]
    else:
        return []
    done = subprocess.run(words, input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    found = done.stdout.decode().strip()
    return ["%s: %s" % (name, found)] if found or done.returncode else []


def check_pages(poise):
    tables = json.loads(ask(poise, "help", "--json")[0])
    commands = [c["name"] for c in tables["commands"]]
    topics = [t["name"] for t in tables["topics"]]
    wrong = check_page("poise help", ask(poise, "help")[0])
    for name in commands + topics:
        page, errors, status = ask(poise, "help", name)
        wrong += check_page("poise help " + name, page)
        if status != 0 or errors:
            wrong.append("poise help %s: exit status %d, %r" % (name, status, errors))
    for name in commands:
        if ask(poise, name, "--help")[0] != ask(poise, "help", name)[0]:
            wrong.append("poise %s --help: another page than poise help %s" % (name, name))
        wrong += check_manual("poise help --manual " + name, ask(poise, "help", "--manual", name)[0])
    wrong += check_manual("poise help --manual", ask(poise, "help", "--manual")[0])
    for shell in ("bash", "zsh"):
        if shutil.which(shell):
            done = subprocess.run([shell, "-n"], input=ask(poise, "help", "--completion", shell)[0].encode(),
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            if done.returncode or done.stdout:
                wrong.append("completion for %s: %s" % (shell, done.stdout.decode()))
    print("\n".join(wrong) if wrong else "%d pages as they should be" % (1 + len(commands) + len(topics)))
    if not shutil.which("mandoc") and not shutil.which("groff"):
        print("manual pages were not checked: neither mandoc nor groff is installed")
    return 1 if wrong else 0


def emulated(poise, emulator, folder):
    """A command `poise` in the folder that runs the program of another system."""
    os.environ.setdefault("WINEPREFIX", os.path.expanduser("~/.wine"))  # not one in every new home
    os.environ.setdefault("WINEDEBUG", "-all")
    path = os.path.join(folder, "poise")
    with open(path, "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\nexec %s "%s" "$@"\n' % (emulator, poise))
    os.chmod(path, 0o755)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--poise", required=True, help="the program")
    parser.add_argument("--emulator", default="", help="what runs it, such as wine")
    parser.add_argument("--write", action="store_true", help="put what came out into the files")
    parser.add_argument("--examples", action="store_true", help="run the examples of commands")
    parser.add_argument("--pages", action="store_true", help="check help and manual pages")
    parser.add_argument("--timeout", type=float, default=800, help="seconds for one file or one command's examples")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    poise = os.path.abspath(args.poise)
    if not os.access(poise, os.X_OK):
        print("skipped: %s is not there" % poise)
        return SKIPPED
    if not shutil.which("bash"):
        print("skipped: bash is not installed")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        if args.emulator:
            poise = emulated(poise, args.emulator, folder)
        if args.pages:
            return check_pages(poise)
        if args.examples:
            return run_examples(poise, args.names, args.timeout)
        results = [run_transcript(path, poise, args.timeout, args.write) for path in args.names]
    return 1 if 1 in results or not results else SKIPPED if SKIPPED in results else 0


if __name__ == "__main__":
    sys.exit(main())
