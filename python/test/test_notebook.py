"""The notebook prints what it holds."""

import json
import os
import pathlib
import subprocess
import sys

import poise

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"


def run(path):
    package = pathlib.Path(poise.__file__).resolve().parents[1]
    words = [sys.executable, EXAMPLES / "run_notebook.py", path]
    return subprocess.run(words, env={**os.environ, "PYTHONPATH": str(package)}, capture_output=True, text=True)


def test_the_notebook_runs_as_it_was_written(tmp_path):
    done = run(EXAMPLES / "robot.ipynb")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[0]) >= 10

    book = json.loads((EXAMPLES / "robot.ipynb").read_text())  # and a change would be seen
    printing = next(cell for cell in book["cells"] if cell.get("outputs"))
    printing["outputs"][0]["text"][0] += "more"
    (tmp_path / "changed.ipynb").write_text(json.dumps(book))
    done = run(tmp_path / "changed.ipynb")
    assert done.returncode != 0 and "instead of" in done.stderr
