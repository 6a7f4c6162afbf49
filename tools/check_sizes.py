#!/usr/bin/env python3
"""Files, functions and folders stay small enough to read. Tables (initialisers at file scope) do not count.

check_sizes.py [ROOT]
"""
import os
import re
import sys

FILE_LINES = 700
FUNCTION_LINES = 60
FOLDER_FILES = 45
SOURCES = (".c", ".h", ".cpp", ".cu", ".cuh", ".ts", ".css", ".html", ".txt", ".sh")
COLUMNS = 125
FOLDERS = ["include", "src", "app", "web", "scenes", "reference", "research", "samples", "bench", "fuzz", "test", "cuda", "mpi", "python"]

# comments, strings and characters, which may hold braces
SILENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
# preprocessor lines, with their continuations
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)


def blank(match):
    return "\n" * match[0].count("\n")


def blocks(code):
    """Each {...} at file scope: the text before it since the last block or ';', first line, last line."""
    depth, line, start, head = 0, 1, 0, ""
    for character in code:
        if character == "{":
            depth += 1
            if depth == 1:
                start, before, head = line, head.strip(), ""
                if re.search(r"\bextern$", before): # extern "C", with its string blanked
                    depth = 0
        elif character == "}" and depth > 0:
            depth -= 1
            if depth == 0:
                yield before, start, line
                head = ""
        elif depth == 0:
            head = "" if character == ";" else head + character
        line += character == "\n"


def check_file(path, name):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    found = []
    for number, content in enumerate(text.split("\n"), 1):
        if len(content) > COLUMNS:
            found.append(f"{name}:{number}: {len(content)} columns, the limit is {COLUMNS}")

    code = DIRECTIVE.sub(blank, SILENT.sub(blank, text))
    lines, longest = text.count("\n"), 0
    for before, first, last in blocks(code):
        length = last - first + 1
        if before.endswith("="):
            lines -= length
        elif "(" in before:
            longest = max(longest, length)
            if length > FUNCTION_LINES:
                match = re.search(r"TEST\w*\((\w+)|(\w+)\s*\(", before)
                found.append(f"{name}:{first}: {match[1] or match[2]} has {length} lines, the limit is {FUNCTION_LINES}")
    if lines > FILE_LINES:
        found.append(f"{name}: {lines} lines, the limit is {FILE_LINES}")
    return found, longest


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    files, longest, breaches = 0, 0, []
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(root, folder)):
            if os.sep + "node_modules" in path or "corpus" in path:
                continue
            sources = [name for name in names if name.endswith(SOURCES)]
            if len(sources) > FOLDER_FILES:
                breaches.append(f"{os.path.relpath(path, root)}: {len(sources)} files, the limit is {FOLDER_FILES}")
            for name in sorted(names):
                if not name.endswith((".c", ".h", ".cpp", ".cu", ".cuh")):
                    continue
                full = os.path.join(path, name)
                found, length = check_file(full, os.path.relpath(full, root))
                files, longest, breaches = files + 1, max(longest, length), breaches + found
    for breach in breaches:
        print(breach)
    print(f"{files} files, longest function {longest} lines, {len(breaches)} breaches")
    return 1 if breaches or files == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
