"""Run a notebook without Jupyter: every code cell in order, in one namespace.

    run_notebook.py NOTEBOOK            fails where a cell does, or prints something else than the notebook holds
    run_notebook.py --write NOTEBOOK    puts what the cells print and draw into the notebook

Cells tagged "plot" need matplotlib and are left out where there is none. The picture of such a cell is its last figure.
"""

import ast
import base64
import contextlib
import io
import json
import pathlib
import sys

try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot
except ImportError:
    pyplot = None


def run_cell(source, names, label):
    """What a cell prints, with the value of its last line, as a notebook shows them."""
    tree = ast.parse(source, label)
    shows = not source.rstrip().endswith(";") and isinstance(tree.body[-1], ast.Expr)
    last = tree.body.pop() if shows else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, label, "exec"), names)
        if last:
            value = eval(compile(ast.Expression(last.value), label, "eval"), names)
    return printed.getvalue() + ("" if value is None else repr(value) + "\n")


def picture():
    """The last figure as a notebook's output, and an end of all figures."""
    data = io.BytesIO()
    pyplot.savefig(data, format="png", dpi=60, bbox_inches="tight", metadata={"Software": None})
    pyplot.close("all")
    return {"output_type": "display_data", "metadata": {}, "data": {"image/png": base64.b64encode(data.getvalue()).decode()}}


def run(path, write=False):
    """Number of cells that were run. AssertionError where one prints something else than the notebook holds."""
    book = json.loads(path.read_text())
    names, count = {"__name__": "__main__"}, 0
    for number, cell in enumerate(book["cells"]):
        draws = "plot" in cell["metadata"].get("tags", [])
        if cell["cell_type"] != "code" or (draws and not pyplot):
            continue
        text = run_cell("".join(cell["source"]), names, f"{path.name}, cell {number}")
        count += 1
        if write:
            lines = text.splitlines(keepends=True)
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": lines}] if text else []
            cell["outputs"] += [picture()] if draws else []
            cell["execution_count"] = count
        else:
            held = "".join("".join(output["text"]) for output in cell["outputs"] if "text" in output)
            assert text == held, f"{path.name}, cell {number} prints\n{text}instead of\n{held}"
            if draws:
                pyplot.close("all")
    if write:
        path.write_text(json.dumps(book, indent=1) + "\n")
    return count


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--write"]
    if len(words) != 1:
        sys.exit(__doc__)
    print(f"{run(pathlib.Path(words[0]), '--write' in sys.argv)} cells")
