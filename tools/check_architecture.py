#!/usr/bin/env python3
"""docs/architecture.md and docs/papers.md tell the truth.

Every file that the pages name exists, and every test that docs/papers.md names in the last column of its tables. Every "how to add" recipe names one thing that was added that way, and the files that
know that thing are exactly the ones the recipe lists: a place that grows a switch over goals, joints, methods, formats or
commands fails here.

A recipe is a heading "### A ...", a line `Traced on: `WORD`, `WORD``, and a list whose items begin with a file name. Files
under src/, motion/, io/, include/, app/ and web/ that hold one of the words must be in the list. So must the table under test/ by which a
suite checks the new one, unless TABLED lacks the recipe; other tests need not.

check_architecture.py [ROOT]
"""
import os
import re
import sys

PAGE = "docs/architecture.md"
PAPERS = "docs/papers.md"
FOLDERS = ["include", "src", "motion", "io", "papers/methods", "papers/erik", "app", "web/glue", "web/src", "web/studio/src"]
TABLED = ["A goal", "A joint type", "A method", "A file format"]
PATH = re.compile(r"`((?:include|src|motion|io|app|web|papers|scenes|samples|bench|cuda|mpi|test|fuzz|tools|docs|cmake)/"
                  r"[\w./-]*)`")


def sources(root):
    for folder in FOLDERS:
        for path, folders, files in os.walk(os.path.join(root, folder)):
            folders[:] = [name for name in folders if name not in ("node_modules", "dist")]
            for name in files:
                if name.endswith((".c", ".h", ".ts", ".cmake", ".txt")):
                    yield os.path.relpath(os.path.join(path, name), root)


def missing_paths(root, page, text):
    for number, line in enumerate(text.split("\n"), 1):
        for path in PATH.findall(line):
            if not os.path.exists(os.path.join(root, path)):
                yield f"{page}:{number}: there is no {path}"


def test_names(root):
    """What ctest or a test program calls a test: TEST(name), NAME name in CMake, a transcript app_name, a part of the studio's."""
    with open(os.path.join(root, "web/studio/test/studio.mjs"), encoding="utf-8") as stream:
        parts = re.search(r"^const PARTS = (.*)$", stream.read(), re.M).group(1)
    names = {"web_studio_" + part for part in re.findall(r"\w+", parts)}
    for folder in ["test", "cmake"]:
        for path, _, files in os.walk(os.path.join(root, folder)):
            for file in files:
                if file.endswith((".c", ".cmake", "CMakeLists.txt")):
                    with open(os.path.join(path, file), encoding="utf-8") as stream:
                        names.update(re.findall(r"(?:TEST\w*\(|NAME )(\w+)", stream.read()))
                elif file.endswith(".txt"):
                    names.add("app_" + file[:-4])
    return names


def missing_tests(root, text):
    names = test_names(root)
    for number, line in enumerate(text.split("\n"), 1):
        cells = line.split("|")
        words = re.findall(r"`(\w+)`", cells[-2]) if len(cells) > 3 else []
        if len(cells) > 3 and not words and cells[-2].strip() not in ("test", "---"):
            yield f"{PAPERS}:{number}: no test"
        for word in words:
            if word not in names:
                yield f"{PAPERS}:{number}: there is no test {word}"


def recipes(text):
    """Title, words and listed files of each recipe."""
    for section in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        traced = re.search(r"^Traced on: (.*)$", section, re.MULTILINE)
        if traced:
            words = re.findall(r"`([^`]+)`", traced[1])
            listed = re.findall(r"^(?:\d+\.|-) `([^`]+)`", section, re.MULTILINE)
            yield section.split("\n", 1)[0], words, listed


def check_recipe(root, title, words, listed):
    found = set()
    tables = [path for path in listed if path.startswith("test/")]
    if not tables and title in TABLED:
        yield f"{PAGE}: {title}: lists no table under test/"
    for path in list(sources(root)) + tables:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        if any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) for word in words):
            found.add(path)
    for path in sorted(found - set(listed)):
        yield f"{PAGE}: {title}: {path} knows {' or '.join(words)}, and the recipe does not list it"
    for path in listed:
        if path not in found:
            yield f"{PAGE}: {title}: lists {path}, which does not know {' or '.join(words)}"


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    with open(os.path.join(root, PAGE), encoding="utf-8") as file:
        text = file.read()
    with open(os.path.join(root, PAPERS), encoding="utf-8") as file:
        papers = file.read()
    breaches = list(missing_paths(root, PAGE, text)) + list(missing_paths(root, PAPERS, papers))
    breaches += missing_tests(root, papers)
    count = 0
    for title, words, listed in recipes(text):
        count += 1
        breaches += check_recipe(root, title, words, listed)
    if count < 5:
        breaches.append(f"{PAGE}: {count} recipes; goal, joint, method, format and command are five")
    for breach in breaches:
        print(breach)
    print(f"{count} recipes, {len(breaches)} breaches")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
