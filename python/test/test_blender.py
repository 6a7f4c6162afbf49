"""The Blender add-on, in Blender itself without a window. It is large, so only `make nightly` installs it."""

import json
import os
import pathlib
import shutil
import subprocess

import poise
import pytest

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = pathlib.Path(poise.__file__).resolve().parents[1]
COMMAND = PACKAGE.parent / "bin/poise"


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    blender = shutil.which("blender")
    if not blender or not COMMAND.exists():
        pytest.skip("blender is not installed; tools/setup.sh blender installs it, 1 GB" if not blender else "the command poise is not built")
    folder = pathlib.Path(os.environ.get("POISE_PICTURES") or tmp_path_factory.mktemp("blender"))
    walk = tmp_path_factory.mktemp("motion") / "walk.bvh"
    subprocess.run([COMMAND, "convert", "scene:humanoid-euler/walk", walk], check=True, capture_output=True)
    words = [blender, "-b", "--factory-startup", "--python-exit-code", "1", "--python", HERE / "blender_character.py"]
    done = subprocess.run([*words, "--", PACKAGE, walk, folder], capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("MEASURED ")]
    assert done.returncode == 0 and lines, done.stdout[-3000:] + done.stderr[-3000:]
    assert (folder / "blender.png").stat().st_size > 10_000
    return json.loads(lines[0].removeprefix("MEASURED "))


def test_a_drag_poses_the_whole_body(measured):
    assert measured["drag_miss"] < 1e-5 and measured["foot_slip"] < 1e-5 and measured["gaze_angle"] < 1e-3
    assert measured["hips_moved"] > 0.01  # the body goes along, not the arm alone


def test_limits_of_bones_hold(measured):
    (lower, upper), angles = measured["limits"], measured["limited_angles"]
    assert lower == pytest.approx([-0.2, -0.3, 0]) and upper == pytest.approx([0.1, 0.4, 0])  # z, x, y: outermost first
    assert -0.3 - 1e-6 <= angles[0] <= 0.4 + 1e-6 and abs(angles[1]) < 1e-6 and -0.2 - 1e-6 <= angles[2] <= 0.1 + 1e-6


def test_baked_keys_survive_the_file(measured):
    assert measured["baked_miss"] < 1e-5 and measured["baked_curves"] > 80


def test_a_motion_is_retargeted_as_by_the_library(measured):
    assert measured["retarget_verdict"] == "good" and measured["retarget_frames"] > 30
    assert measured["upright_error"] < 1e-5
    assert measured["retarget_error"] < 1e-6  # Blender's matrices are in single precision


def test_a_robot_becomes_an_armature_and_a_model_again(measured):
    assert measured["robot_joints"] == [7, 7, 0]
    assert measured["robot_error"] < 1e-6 and measured["robot_limits"] < 1e-6 and measured["robot_pose"] < 1e-6


def test_constraints_of_bones_hold(measured):
    assert -1e-6 < measured["floor_height"] < 1e-3  # pulled down to it
    assert 0.0499 < measured["rope_length"] < 0.05 + 1e-6 and measured["spine_moved"] < 1e-6


def test_loops_of_a_robot_are_closed(measured):
    assert measured["loop_bones"] == 5
    assert measured["loop_gap"] < 3e-6 and measured["loop_miss"] < 3e-6  # closed to 1e-6 of its size


def test_the_skeleton_of_rigify_is_posed(measured):
    assert measured["rigify_miss"] < 1e-5 and measured["rigify_same_model"]
    frames, reached, missed = measured["rigify_baked"]
    assert frames == 3 and missed == 0 and reached < 3  # what the pull leaves is not worth a warning
    assert measured["rigify_out_of_reach"] == [1]
