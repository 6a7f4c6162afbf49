"""The wheel, the page of the docs, the speed of a call."""

import doctest
import inspect
import os
import pathlib
import shutil
import subprocess
import sys
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
    assert wheel.stat().st_size < 1_500_000  # hulls and the verdicts of edits took it beyond a million
    place = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place)
        names = archive.namelist()
    assert any(name.endswith("dist-info/RECORD") for name in names) and "poise/py.typed" in names
    program = "import poise; print(poise.__file__); assert poise.scene('arm7').solve('position tip 0.3 0.1 0.6')[1].reached"
    done = subprocess.run([sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(place)!r}); {program}"],
                          check=True, capture_output=True, text=True)
    assert str(place) in done.stdout


def test_pip_hears_of_needs_before_it_builds(wheel, tmp_path):
    """The description that pip asks for first is the wheel's own; a build without a compiler says what is missing."""
    call = f"import sys; sys.path.insert(0, {str(ROOT / 'python')!r}); import build_poise"
    name = subprocess.run([sys.executable, "-c", f"{call}; print(build_poise.prepare_metadata_for_build_wheel({str(tmp_path)!r}))"],
                          check=True, capture_output=True, text=True).stdout.strip()
    with zipfile.ZipFile(wheel) as archive:
        for path in (tmp_path / name).iterdir():
            assert archive.read(f"{name}/{path.name}") == path.read_bytes()
    assert "Requires-Dist: numpy" in (tmp_path / name / "METADATA").read_text()
    done = subprocess.run([sys.executable, "-c", f"{call}; build_poise.build_wheel({str(tmp_path)!r})"],
                          env={**os.environ, "CC": "no-such-compiler"}, capture_output=True, text=True)
    assert done.returncode != 0 and "no-such-compiler is missing" in done.stderr


def test_an_editable_install_is_the_clone(tmp_path):
    """`pip install -e .`: a line that leads to the sources, and the extension beside them."""
    clone, site = tmp_path / "clone", tmp_path / "site"
    shutil.copytree(ROOT / "python/poise", clone / "python/poise", ignore=shutil.ignore_patterns("*.so"))
    for name in ("include/poise/base.h", "docs/python.md", "LICENSE", "pyproject.toml", "python/build_poise.py"):
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, clone / name)
    extension = os.environ.get("POISE_EXTENSION", ROOT / "build/python/poise/_poise.abi3.so")
    program = (f"import sys; sys.path.insert(0, {str(clone / 'python')!r}); import build_poise as b;"
               f"b.build_extension = lambda folder: {str(extension)!r}; print(b.build_editable({str(tmp_path)!r}))")
    name = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.strip()
    with zipfile.ZipFile(tmp_path / name) as archive:
        archive.extractall(site)
    program = f"import site; site.addsitedir({str(site)!r}); import poise; print(poise.__file__, poise.scene('arm7'))"
    done = subprocess.run([sys.executable, "-I", "-c", program], check=True, capture_output=True, text=True)
    assert str(clone / "python/poise") in done.stdout


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


def test_types_within_the_package_hold():
    pytest.importorskip("mypy", reason="python3-mypy is not installed")
    sources = pathlib.Path(__file__).parents[1] / "poise"
    modules = [str(path) for path in sources.glob("*.py") if path.name != "torch.py"]  # whose types are those of another version
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, *modules], capture_output=True, text=True)
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
        "first: tuple[float, ...] = tuple(goal_error.error for goal_error in report.errors)\n"
        "held: tuple[str, ...] = robot.sensitivity(poise.posture(q), q).held\n"
        "q = poise.Filter(robot, velocity=1.0).step(robot.solve_batch('tip', [[0] * 7])[0][0], 0.01)\n"
    )
    paths = {"MYPYPATH": str(pathlib.Path(poise.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "program.py"], cwd=tmp_path,
                          env={**os.environ, **paths}, capture_output=True, text=True)
    wanted = ['4: note: Revealed type is "builtins.str"', '5: note: Revealed type is "builtins.int"', '6: error: Argument "speed"']
    assert [text for text in wanted if text not in done.stdout] == [] and done.stdout.count(": error:") == 1, done.stdout


def calls_of(function):
    """How many functions it calls, those of C among them."""
    count = 0

    def see(_frame, event, _argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(see)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


def test_a_call_costs_little_beside_the_solve():
    """At its answer a solve does next to nothing: what is left is the way through Python."""
    arm = poise.scene("arm7")
    goal = poise.pose("tip", arm.fk(np.full(arm.nq, 0.4), "tip"))
    q, _ = arm.solve(goal)
    arm.solve(goal, q)
    assert calls_of(lambda: arm.solve(goal, q)) <= 3  # the lambda, solve, the end of counting
