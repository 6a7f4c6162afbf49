#!/usr/bin/env python3
"""Turn the plain comments of a public header into comments that Doxygen reads.

doxygen_filter.py HEADER

Headers are written to be read as they are: a comment stands above what it explains, or behind it on the same line, and goes
on below. Doxygen wants to be told which: "///" and "///<". One comment above several declarations that stand together
explains them all, and is said again above each. Line numbers do not change in the first case only; the reference does not
show any.
"""
import re
import sys

DECLARES = re.compile(r"^(POISE_API|typedef|static inline|struct|enum|#define)\b")


def split_code(line):
    """The code of a line and its comment, None without one. No header has // inside a string."""
    code, mark, comment = line.partition("//")
    return code.rstrip(), comment.strip() if mark else None


def split_members(code):
    """'int a, b;' inside a struct as 'int a;' and 'int b;', so that a comment reaches both."""
    match = re.match(r"^( +)((?:const )?\w+) ([\w\[\]]+(?:, \*?[\w\[\]]+)+);$", code)
    if not match:
        return [code]
    return [f"{match[1]}{match[2]} {name};" for name in match[3].split(", ")]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = file.read().split("\n")
    above, behind, out = [], False, []
    first = True  # the comment that opens the file explains the file
    for line in lines:
        code, comment = split_code(line)
        if comment is not None and not code:
            if comment.startswith("----"):
                above, behind = [], False
                out.append("")
            elif behind:
                out.append(line[:len(line) - len(line.lstrip())] + "///< " + comment)
            elif first:
                out.append("/// " + ("@file" if not out else "") + ("\n/// " if not out else "") + comment)
            else:
                above.append(comment)
            continue
        if first and not code:
            first = False
        if not code:  # an empty line ends what a comment explains
            above, behind = [], False
            out.append(line)
            continue
        inner = line.startswith(" ")
        if DECLARES.match(code) or (inner and above):
            out.extend("/// " + text for text in above)
        if inner or code.endswith("{"):
            above = []
        out.extend(one + (" ///< " + comment if comment else "") for one in split_members(code))
        behind = comment is not None
    print("\n".join(out))


if __name__ == "__main__":
    main()
