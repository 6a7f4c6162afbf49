"""The wheel, the page of the docs, the speed of a call."""

import doctest
import inspect
import os
import pathlib
import subprocess
import sys
import time
import zipfile

import numpy as np
import poise
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_every_line_of_the_page_runs():
    failed, tried = doctest.testfile(str(ROOT / "docs/python.md"), module_relative=False)
    assert failed == 0 and tried > 30


def test_calls_say_what_they_take():
    makers = [getattr(poise, name) for name in poise.__all__ if name.islower() and name not in ("load", "read", "save")]
    for call in makers + [poise.Model.solve, poise.Model.solve_batch, poise.Sensitivity.forward, poise.Filter.step]:
        assert inspect.signature(call).parameters or call is poise.scenes, call
    assert str(inspect.signature(poise.posture)) == "(q, weight=1, weights=None, *, priority=0)"


@pytest.fixture
def wheel(tmp_path):
    extension = os.environ.get("POISE_EXTENSION", ROOT / "build/python/poise/_poise.abi3.so")
    subprocess.run([sys.executable, ROOT / "python/build_poise.py", tmp_path, extension], check=True, stdout=subprocess.DEVNULL)
    (path,) = tmp_path.glob("poise_ik-*-cp39-abi3-*.whl")
    return path


def test_the_wheel_is_small_and_works_alone(wheel, tmp_path):
    assert wheel.stat().st_size < 1_000_000
    place = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place)
        names = archive.namelist()
    assert any(name.endswith("dist-info/RECORD") for name in names) and "poise/py.typed" in names
    program = "import poise; print(poise.__file__); assert poise.scene('arm7').solve('position tip 0.3 0.1 0.6')[1].reached"
    done = subprocess.run([sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(place)!r}); {program}"],
                          check=True, capture_output=True, text=True)
    assert str(place) in done.stdout


def test_every_name_is_documented_and_typed():
    stub = (ROOT / "python/poise/_poise.pyi").read_text()
    for name in poise.__all__:
        call = getattr(poise, name)
        assert call.__doc__, name
        assert name in stub or not inspect.isfunction(call) or call.__annotations__["return"], name
    for name in dir(poise.Model):
        if not name.startswith("_"):
            assert getattr(poise.Model, name).__doc__, name
            assert f" {name}" in stub, name


def test_tables_are_pandas(arm):
    pandas = pytest.importorskip("pandas", reason="python3-pandas is not installed")
    clip = poise.Clip(np.random.default_rng(1).uniform(-1, 1, (20, arm.nq)), 0.01)
    table = pandas.DataFrame(clip.q, clip.times, arm.coordinates)
    assert (table[arm.coordinates[2]] == clip.q[:, 2]).all() and table.index[-1] == clip.times[-1]
    _, report = arm.solve_batch("tip", arm.fk(clip.q, "tip"))
    means = pandas.DataFrame(report._asdict()).groupby("outcome").iterations.mean()
    assert means["reached"] == report.iterations[report.reached].mean()


def test_stubs_are_those_of_the_package(tmp_path):
    pytest.importorskip("mypy", reason="python3-mypy is not installed")
    (tmp_path / "allowed").write_text(r"poise\._poise\..*\.(__match_args__|n_.*fields)")
    place = str(pathlib.Path(poise.__file__).parents[1])
    paths = {"PYTHONPATH": place, "MYPYPATH": place}
    words = ["mypy.stubtest", "poise._poise", "--concise", "--allowlist", tmp_path / "allowed", "--ignore-unused-allowlist"]
    done = subprocess.run([sys.executable, "-m", *words], cwd=tmp_path, env={**os.environ, **paths}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_editors_see_types(tmp_path):
    pytest.importorskip("mypy", reason="python3-mypy is not installed")
    (tmp_path / "program.py").write_text(
        "import poise\n"
        "robot = poise.load('arm.urdf')\n"
        "q, report = robot.solve(poise.pose('tip', [0] * 7))\n"
        "reveal_type(report.outcome)\n"
        "reveal_type(poise.retarget(robot, poise.read('walk.bvh')).jumps)\n"
        "poise.edit(poise.read('walk.bvh'), speed='fast')\n"
    )
    paths = {"MYPYPATH": str(pathlib.Path(poise.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-m", "mypy", "--follow-imports=silent", "program.py"], cwd=tmp_path,
                          env={**os.environ, **paths}, capture_output=True, text=True)
    wanted = ['4: note: Revealed type is "builtins.str"', '5: note: Revealed type is "builtins.int"', '6: error: Argument "speed"']
    assert [text for text in wanted if text not in done.stdout] == [], done.stdout


def best(function, repeats=30, number=200):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(number):
            function()
        times.append((time.perf_counter() - start) / number)
    return min(times)


def test_a_call_costs_little_beside_the_solve():
    """At its answer a solve does next to nothing: what is left is the way through Python. Ten times what it should be."""
    arm = poise.scene("arm7")
    goal = poise.pose("tip", arm.fk(np.full(arm.nq, 0.4), "tip"))
    q, _ = arm.solve(goal)
    assert best(lambda: arm.solve(goal, q)) < 30e-6
