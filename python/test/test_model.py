"""Models, kinematics, files, refusals."""

import copy
import gc
import os
import pickle
import subprocess
import sys

import numpy as np
import poise
import pytest


def test_names_and_sizes(humanoid):
    assert len(humanoid.joints) == len(humanoid.bodies) == len(humanoid.parents) == len(humanoid.types)
    assert len(humanoid.coordinates) == humanoid.nq > humanoid.nv
    assert humanoid.parents[0] == -1 and all(p < k for k, p in enumerate(humanoid.parents))
    assert len(humanoid.lower) == len(humanoid.upper) == humanoid.nq
    assert "58" not in repr(poise.scene("arm7")) and "nv 58" in repr(humanoid)


def test_fk_of_a_robot_without_moving_joints():
    stone = poise.parse('<robot name="stone"><link name="stone"/></robot>', "stone.urdf").model
    assert stone.nq == 0
    assert stone.fk(stone.neutral()).shape == (1, 4, 4)
    assert np.array_equal(stone.fk(np.zeros((3, 0)), "stone"), np.tile(np.eye(4), (3, 1, 1)))


def test_fk_of_many_configurations_is_that_of_each(humanoid):
    steps = np.random.default_rng(1).normal(size=(5, humanoid.nv)) * 0.3
    rows = np.array([humanoid.retract(humanoid.neutral(), v) for v in steps])
    everything = humanoid.fk(rows)
    assert everything.shape == (5, len(humanoid.bodies), 4, 4)
    assert humanoid.fk(rows, humanoid.bodies[3]).shape == (5, 4, 4)
    for q, frames in zip(rows, everything):
        assert (humanoid.fk(q) == frames).all()
        assert (humanoid.fk(q, 3) == frames[3]).all()
        assert np.allclose(frames[:, :3, :3] @ frames[:, :3, :3].transpose(0, 2, 1), np.eye(3), atol=1e-13)


def test_jacobian_and_tensor_are_derivatives(humanoid):
    q = humanoid.retract(humanoid.neutral(), np.full(humanoid.nv, 0.2))
    body, point, step = humanoid.bodies[-1], (0.1, 0.2, 0.3), 1e-5
    jacobian, tensor = humanoid.jacobian(q, body, point), humanoid.tensor(q, body, point)
    at = lambda v: humanoid.fk(humanoid.retract(q, v), body) @ (*point, 1)
    for i in range(0, humanoid.nv, 7):
        e = np.zeros(humanoid.nv)
        e[i] = step
        assert np.allclose((at(e) - at(-e))[:3] / (2 * step), jacobian[:3, i], atol=1e-9)
        second = (at(e) - 2 * at(0 * e) + at(-e))[:3] / step**2
        assert np.allclose(second, tensor[:, i, i], atol=1e-4)
    assert (tensor == tensor.transpose(0, 2, 1)).all()


def test_steps_there_and_back(humanoid):
    v = np.random.default_rng(2).normal(size=humanoid.nv) * 0.5
    q = humanoid.retract(humanoid.neutral(), v)
    assert np.allclose(humanoid.difference(humanoid.neutral(), q), v, atol=1e-12)


def test_rows_of_configurations_give_rows(humanoid):
    steps = np.random.default_rng(3).normal(size=(4, humanoid.nv))
    q, body = humanoid.neutral(), humanoid.bodies[-1]
    rows = humanoid.retract(q, steps)
    assert (rows == [humanoid.retract(q, v) for v in steps]).all()
    assert (humanoid.retract(rows, steps[0]) == [humanoid.retract(row, steps[0]) for row in rows]).all()
    assert (humanoid.difference(rows, rows[::-1]) == [humanoid.difference(a, b) for a, b in zip(rows, rows[::-1])]).all()
    assert (humanoid.jacobian(rows, body) == [humanoid.jacobian(row, body) for row in rows]).all()
    assert (humanoid.tensor(rows, body) == [humanoid.tensor(row, body) for row in rows]).all()
    assert (humanoid.clamp(rows) == [humanoid.clamp(row) for row in rows]).all()
    assert humanoid.within_limits(humanoid.clamp(rows)).all()
    within = humanoid.within_limits(rows)
    assert within.dtype == bool and list(within) == [humanoid.within_limits(row) for row in rows] and not within.all()
    assert humanoid.within_limits(rows[0]) in (True, False) and humanoid.within_limits(rows[:0]).shape == (0,)
    assert humanoid.clamp(rows[:0]).shape == (0, humanoid.nq)
    for wrong in (lambda: humanoid.retract(rows, steps[:2]), lambda: humanoid.clamp(rows[None])):
        with pytest.raises(ValueError, match="rows"):
            wrong()


def test_a_file_that_was_saved_reads_back(tmp_path, humanoid):
    clip = poise.Clip(np.array([humanoid.retract(humanoid.neutral(), np.full(humanoid.nv, x)) for x in (0, 0.1)]), 0.01, 2.0)
    markers = poise.Markers(["LFHD", "RFHD"], np.arange(18.0).reshape(3, 2, 3), 120, metres=0.001, up="z")
    poise.save(tmp_path / "all.json", humanoid, clip=clip, markers=markers, metres=1, up="y")
    file = poise.read(tmp_path / "all.json")
    assert file.format == "json" and file.metres == 1 and file.up == "y" and not file.warnings
    assert file.model.joints == humanoid.joints
    assert (file.clip.q == clip.q).all() and file.clip.frame_time == 0.01 and file.clip.times[0] == 2.0
    assert file.markers.labels == ("LFHD", "RFHD") and (file.markers.positions == markers.positions).all()
    assert file.markers.metres == 0.001 and file.markers.up == "z"
    poise.save(tmp_path / "markers.trc", markers=markers)
    assert np.allclose(poise.read(tmp_path / "markers.trc").markers.positions, markers.positions)
    poise.save(tmp_path / "walk.bvh", poise.scene("humanoid-euler"))
    assert poise.load(tmp_path / "walk.bvh").nv > 0
    assert sorted(os.listdir(tmp_path)) == ["all.json", "markers.trc", "walk.bvh"]


URDF = """<robot name="two">
  <link name="base"/><link name="arm"/>
  <joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0 0 1"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>"""


def test_a_robot_is_loaded_and_may_float(tmp_path):
    (tmp_path / "two.urdf").write_text(URDF)
    robot = poise.load(tmp_path / "two.urdf")
    assert robot.nq == 1 and robot.coordinates == ("turn",) and robot.lower == [-1]
    assert poise.load(tmp_path / "two.urdf", floating=True).nv == 7


def test_texts_are_read_as_files_are(arm):
    robot = poise.parse(URDF, "two.urdf").model
    assert robot.coordinates == ("turn",) and robot.source is None
    assert poise.parse(URDF.encode(), "two.urdf", floating=True).model.nv == 7
    state = '<robot name="two"><group_state name="bent" group="arm"><joint name="%s" value="0.5"/></group_state></robot>' % robot.coordinates[0]
    file = poise.parse(state, "two.srdf", model=robot)
    assert file.postures["bent"][0] == 0.5 and repr(file) == "<poise.File srdf: 1 posture>"
    again = poise.parse(poise.dump("arm.json", arm, metres=1, up="z"), "arm.json")
    assert again.model.coordinates == arm.coordinates and (again.metres, again.up) == (1, "z")
    with pytest.raises(poise.Error, match="line"):
        poise.parse(URDF.replace("</robot>", ""), "two.urdf")
    with pytest.raises(ValueError, match="up='w'"):
        poise.dump("arm.json", arm, up="w")


def test_numbers_have_names(arm):
    third = arm.coordinates[3]
    q = arm.configuration({third: 0.5})
    assert q[3] == 0.5 and not q[[0, 1, 2, 4, 5, 6]].any()
    again = arm.configuration({arm.coordinates[0]: 1}, q)
    assert (again[0], again[3], q[0]) == (1, 0.5, 0)
    with pytest.raises(poise.Error, match=f'did you mean "{third}"'):
        arm.configuration({third + "x": 1})
    with pytest.raises(ValueError, match="7 numbers"):
        arm.configuration({}, [1, 2])



def test_a_scene_is_no_file():
    with pytest.raises(poise.Error, match=r'scene:arm7: is no file; poise.scene\("arm7"\)'):
        poise.load("scene:arm7")

def test_what_a_format_cannot_hold_is_warned_of(tmp_path):
    character = poise.scene("humanoid-euler")
    with pytest.warns(UserWarning, match="walk.bvh: .*limits"):
        poise.save(tmp_path / "walk.bvh", character)
    with pytest.raises(ValueError, match="savetxt"):
        poise.save(tmp_path / "walk.csv", character, clip=poise.Clip(np.zeros((2, character.nq)), 0.1))


def test_refusals_say_what_and_where(tmp_path, arm):
    (tmp_path / "bad.urdf").write_text(URDF.replace("</robot>", ""))
    with pytest.raises(poise.Error) as refusal:
        poise.load(tmp_path / "bad.urdf")
    assert refusal.value.status == "format" and refusal.value.line >= 1 and "line" in str(refusal.value)
    with pytest.raises(poise.Error, match="did you mean"):
        arm.solve(poise.position(arm.bodies[-1] + "x", (0, 0, 0)))
    with pytest.raises(TypeError, match="body: expected a name or an index, got <class 'list'>"):
        arm.jacobian(arm.neutral(), [0.1] * 7)
    with pytest.raises(TypeError, match='did you mean "restarts"'):
        arm.solve("posture neutral", restart=3)
    with pytest.raises(TypeError, match='no option "bananas"; there are method, .*max_iterations'):
        arm.solve("posture neutral", bananas=3)
    with pytest.raises(poise.Error, match='"positon"'):
        arm.solve("positon a 0 0 0")
    with pytest.raises(poise.Error, match="no skeleton"):
        poise.save(tmp_path / "m.trc", markers=poise.Markers(["a"], np.zeros((1, 1, 3)), 1, metres=1))
        poise.load(tmp_path / "m.trc")
    with pytest.raises(poise.Error, match="extension"):
        poise.save(tmp_path / "model.xyz", arm)
    with pytest.raises(FileNotFoundError):
        poise.load(tmp_path / "nothing.urdf")
    with pytest.raises(TypeError, match="a dictionary of coordinates"):
        arm.configuration(np.zeros(7))
    with pytest.raises(TypeError, match="str"):
        poise.dump(7, arm)
    with pytest.raises(poise.Error, match="give it as model"):
        poise.parse("", "walk.amc")
    with pytest.raises(MemoryError, match="too many frames"):
        poise.Clip(np.zeros((3, 7)), 0.01).resampled(arm, 1e300)


def wrong_arrays(count):
    good = np.zeros(count)
    readonly = good.copy()
    readonly.flags.writeable = False
    return [
        [],
        None,
        "text",
        3.5,
        object(),
        {},
        np.zeros(count + 1),
        np.zeros((count, count, 2)),
        np.full(count, np.nan),
        np.full(count, np.inf),
        good.astype(complex),
        np.array(["a"] * count),
        np.zeros(count, dtype=object),
        np.zeros((0, count)),
        [[1, 2], [3]],
        np.zeros((1,) * 6),
        readonly,
        np.zeros(2 * count)[::2],
        good.astype(np.float32),
        good.astype(np.int8),
        good.astype(">f8"),
        bytearray(count * 8),
        memoryview(good),
    ]


def test_no_argument_crashes(arm):
    body, T = arm.bodies[-1], np.eye(4)
    calls = [
        lambda x: arm.solve(poise.pose(body, T), x),
        lambda x: arm.solve(x, np.zeros(arm.nq)),
        lambda x: arm.solve([x], np.zeros(arm.nq)),
        lambda x: arm.solve(poise.pose(body, x)),
        lambda x: arm.solve(poise.position(body, x)),
        lambda x: arm.solve(poise.pose(x, T)),
        lambda x: arm.solve(poise.posture(x)),
        lambda x: arm.solve(poise.smoothness(x, x, weights=x)),
        lambda x: arm.solve(poise.orientation(body, x)),
        lambda x: arm.solve(poise.direction(body, x, axis=x)),
        lambda x: arm.solve_batch(body, x),
        lambda x: arm.solve_batch(body, np.tile(T, (2, 1, 1)), x),
        lambda x: arm.solve_batch(x),
        lambda x: arm.solve_all(poise.pose(body, T), x),
        lambda x: arm.fk(x),
        lambda x: arm.fk(np.zeros(arm.nq), x),
        lambda x: arm.jacobian(x, body),
        lambda x: arm.tensor(np.zeros(arm.nq), body, x),
        lambda x: arm.evaluate(poise.pose(body, T), x),
        lambda x: arm.evaluate(poise.pose(body, T), np.zeros(arm.nq), hessian=x),
        lambda x: arm.retract(x, x),
        lambda x: arm.difference(x, x),
        lambda x: arm.clamp(x),
        lambda x: arm.within_limits(x),
        lambda x: arm.solve(poise.pose(body, T), restarts=x),
        lambda x: arm.solve(poise.pose(body, T), method=x),
        lambda x: arm.solve(poise.pose(body, T, weight=x, tolerance=x, loss=x)),
        lambda x: poise.scene(x),
        lambda x: arm.solve(poise.pose(body, T), constraints=[poise.connect(body, x, x)]),
        lambda x: arm.solve(poise.pose(body, T), constraints=[poise.weld(x, T, other=x)]),
        lambda x: arm.solve(poise.pose(body, T), constraints=[poise.balance(x, margin=0.1, axis=(0, 0, 1))]),
        lambda x: arm.solve(poise.pose(body, T), constraints=x),
        lambda x: arm.solve(poise.pose(body, T), locked=x),
        lambda x: arm.solve_batch([poise.pose(body, T)], locked=[x]),
        lambda x: arm.solve(poise.pose(body, T), obstacles=[poise.box(x, (1, 1, 1)), poise.sphere((0, 0, 5), 1, body=body)]),
        lambda x: arm.solve(poise.pose(body, T), obstacles=x),
        lambda x: arm.sensitivity(poise.pose(body, T), x).backward(x),
        lambda x: arm.pose_gradients(body, np.tile(T, (2, 1, 1)), x, x),
        lambda x: poise.Filter(arm).step(x, 0.01),
        lambda x: poise.Erik(arm).solve(x, x),
        lambda x: poise.Expressive(arm).solve(poise.pose(body, T), x),
        lambda x: poise.dump("model.json", arm, clip=poise.Clip(x, 0.01)),
        lambda x: poise.parse(x, "robot.urdf"),
        lambda x: setattr(arm, "source", None) or arm.solve(poise.pose(body, T), **{"seed": x}),
    ]
    refused = taken = 0
    for call in calls:
        for value in wrong_arrays(arm.nq):
            try:
                call(value)
                taken += 1
            except (TypeError, ValueError, IndexError, OverflowError, poise.Error):
                refused += 1
    assert refused > 300 and taken > 100


def memory():
    with open("/proc/self/statm") as stream:
        return int(stream.read().split()[1]) * 4096


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_nothing_leaks(arm):
    body, T = arm.bodies[-1], arm.fk(np.full(arm.nq, 0.3), arm.bodies[-1])
    targets = np.tile(T, (5, 1, 1))
    start = np.zeros(arm.nq)

    def everything():
        q, report = arm.solve(poise.pose(body, T, tolerance=(0, 0, 0)), start)
        arm.solve([poise.position(body, (0, 0, 1)), poise.posture(start, 0.1)] * 6, start, restarts=0)[1].errors
        arm.solve("posture neutral", start, locked=arm.joints[:2])
        arm.solve_batch(body, targets, start)
        arm.solve_batch([poise.position(body, (0, 0, 1))] * 3, start)
        arm.solve_all(poise.pose(body, T), start, restarts=2)
        arm.fk(q), arm.fk(q, body), arm.jacobian(q, body), arm.tensor(q, body), arm.evaluate(poise.posture(q), q)
        arm.retract(q, q), arm.difference(q, q), arm.clamp(q), arm.joints, arm.lower, arm.coordinates, repr(report)
        poise.scene("arm2d").solve(poise.position(0, (1, 1, 0)))
        for bad in (lambda: arm.solve(poise.pose("no", T)), lambda: arm.solve("posture neutral", locked=[arm.joints[0], "no"]), lambda: arm.solve("no"), lambda: poise.pose(body, "no")):
            try:
                bad()
            except (ValueError, TypeError):
                pass

    for _ in range(200):
        everything()
    gc.collect()
    before = memory()
    for _ in range(2000):
        everything()
    gc.collect()
    assert memory() - before < 1_000_000


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_million_calls_leave_nothing(arm):
    q = np.full(arm.nq, 0.3)
    goal = poise.pose("tip", arm.fk(q, "tip"))

    def calls(count):
        for _ in range(count):
            arm.solve(goal, q, errors=False)
        gc.collect()
        return memory()

    before = calls(10_000)
    assert calls(1_000_000) - before < 500_000


def test_references_are_counted(arm):
    body = "".join(arm.bodies[-1])
    q = np.zeros(arm.nq)
    counts = sys.getrefcount(body), sys.getrefcount(q), sys.getrefcount(arm), sys.getrefcount(poise.Goal)
    for _ in range(100):
        arm.solve([poise.position(body, (0, 0, 1)), poise.posture(q)], q)
        with pytest.raises(poise.Error):
            arm.solve([poise.posture(q), poise.position("none", (0, 0, 1))], q)
        with pytest.raises(ValueError):
            arm.solve(poise.posture(q), q[:-1])
    assert counts == (sys.getrefcount(body), sys.getrefcount(q), sys.getrefcount(arm), sys.getrefcount(poise.Goal))


def test_models_can_be_pickled_and_copied(humanoid):
    again = pickle.loads(pickle.dumps(humanoid))
    q = humanoid.retract(humanoid.neutral(), np.full(humanoid.nv, 0.2))
    assert (again.fk(q) == humanoid.fk(q)).all() and again.joints == humanoid.joints
    assert (copy.deepcopy(humanoid).lower == humanoid.lower).all()


def test_goals_can_be_sent_to_other_processes(humanoid):
    """And answers are the same there, to the bit."""
    q = humanoid.retract(humanoid.neutral(), np.full(humanoid.nv, 0.2))
    T = humanoid.fk(q, humanoid.bodies[9])
    weights = np.linspace(1, 2, humanoid.nv)
    goals = [
        poise.pose(humanoid.bodies[9], T, T, weight=3, rotation_weight=0.5, tolerance=0.01, rotation_tolerance=(0, 0, 1)),
        poise.position(humanoid.bodies[5], (0.1, 1, 0.2), (0, 0.1, 0), loss="huber", loss_scale=0.1),
        poise.orientation(humanoid.bodies[4], T[:3, :3]), poise.direction(humanoid.bodies[2], (1, 1, 0), (0, 1, 0)),
        poise.aim(2, (1, 2, 3)), poise.plane(3, (0, 1, 0), (0, 1, 1)), poise.line(4, (0, 1, 0), (1, 0, 0)),
        poise.distance(5, (0, 1, 0), 0.5), poise.relative(humanoid.bodies[9], humanoid.bodies[3], T), poise.center_of_mass((0, 1, 0)),
        poise.posture(q, 0.1, weights), poise.smoothness(q, humanoid.neutral(), 0.1),
    ]
    again = pickle.loads(pickle.dumps(goals))
    assert repr(again) == repr(goals) and [goal.weight for goal in again] == [goal.weight for goal in goals]
    costs = [[humanoid.evaluate(goal, humanoid.neutral())[0] for goal in list] for list in (goals, again, copy.deepcopy(goals))]
    assert costs[0] == costs[1] == costs[2] and len(set(costs[0])) == len(goals)
    assert (humanoid.solve(again, q)[0] == humanoid.solve(goals, q)[0]).all()
    assert pickle.dumps(again) == pickle.dumps(pickle.loads(pickle.dumps(again)))
    shared, own = copy.copy(goals[-2]), copy.deepcopy(goals[-2])
    q[:] = humanoid.neutral()  # a goal looks at the caller's array, and so does its copy
    assert humanoid.evaluate(shared, q)[0] == 0 < humanoid.evaluate(own, q)[0]


def test_goals_of_another_version_are_refused():
    restore, state = poise.pose("tip", np.eye(4)).__reduce__()
    version, goal, *rest = state
    assert restore(*state).kind == "pose"
    for wrong in (("0.0.1", goal, *rest), (version, goal[:-8], *rest), (version, b"\xff" * len(goal), *rest)):
        with pytest.raises(ValueError, match="another version"):
            restore(*wrong)
    with pytest.raises(TypeError, match="body"):
        restore(version, goal, 1.5, *rest[1:])


def test_reports_can_be_sent_to_other_processes(arm):
    T = arm.fk(np.full(arm.nq, 0.4), "tip")
    high = poise.band("tip", (0, 0, 1))
    for goals, held in ((poise.pose("tip", T), []), ([poise.pose("tip", T), poise.posture(arm.neutral())], []), ("position tip 0 0 -9", [high])):
        report = arm.solve(goals, constraints=held)[1]
        again = pickle.loads(pickle.dumps(report))
        assert repr(again._asdict()) == repr(report._asdict()) and bool(again) == bool(report)
        assert repr(pickle.loads(pickle.dumps(again))) == repr(copy.deepcopy(report))
    for wrong in ((b"", b"", 1, None, None, ""), (bytes(3), b"x", 1, None, None, ""), (None,) * 6):
        with pytest.raises((TypeError, ValueError)):
            poise._poise.restore_report(*wrong)


def test_equal_reports_have_equal_pickles_in_every_process():
    code = "import pickle, poise, sys; goals = [poise.position('tip', [0.4, 0.1, 0.5]), poise.direction('tip', [0, 0, 1])]; " \
        "report = poise.scene('arm7').solve(goals, errors=True)[1]; sys.stdout.buffer.write(pickle.dumps(report))"
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    first, second = (subprocess.run([sys.executable, "-c", code], env=path, capture_output=True, check=True).stdout for _ in range(2))
    assert first == second and len(first) > 100


def test_configurations_at_random(arm, humanoid):
    q = arm.random(1000, rng=3)
    assert arm.within_limits(q).all() and np.ptp(q, axis=0).min() > 0.9 * (arm.upper - arm.lower).min()
    assert (arm.random(rng=np.random.default_rng(3)) == q[0]).all() and arm.random().shape == (arm.nq,)
    assert humanoid.within_limits(humanoid.random(20)).all()


class Transform:
    """As SE3 of mink and Rotation of scipy are."""

    def __init__(self, matrix):
        self.matrix = matrix

    def as_matrix(self):
        return self.matrix


def test_transforms_of_other_libraries_are_poses(arm):
    T = arm.fk(np.full(arm.nq, 0.4), "tip")
    q = arm.solve(poise.pose("tip", T))[0]
    assert (arm.solve(poise.pose("tip", Transform(T)))[0] == q).all()
    se3 = type("SE3", (), {"homogeneous": T})()
    assert (arm.solve(poise.pose("tip", se3))[0] == q).all()
    turned = arm.solve(poise.orientation("tip", Transform(T[:3, :3])))[1]
    assert turned.reached
    with pytest.raises(TypeError, match="got <class 'list'>: .*inhomogeneous"):
        arm.fk([[1, 2], [3]])


def test_what_is_odd_is_warned_of(tmp_path):
    (tmp_path / "two.urdf").write_text(URDF.replace("</robot>", '<joint name="x" type="floating2"/></robot>'))
    with pytest.raises(poise.Error, match="two.urdf"):
        poise.load(tmp_path / "two.urdf")
    (tmp_path / "gears.urdf").write_text(URDF.replace('lower="-1" upper="1" ', ""))
    with pytest.warns(UserWarning, match="gears.urdf"):
        poise.load(tmp_path / "gears.urdf")


def test_clips_and_markers_are_checked_when_made(tmp_path, arm):
    for wrong in (lambda: poise.Clip(np.zeros(8), 0.1), lambda: poise.Clip(np.zeros((2, 7)), 0)):
        with pytest.raises(ValueError, match="frame"):
            wrong()
    with pytest.raises(ValueError, match="labels"):
        poise.Markers(["a"], np.zeros((3, 2, 3)), 100)
    with pytest.raises(ValueError, match="nothing to save"):
        poise.save(tmp_path / "a.json")
    with pytest.raises(TypeError, match="poise.Clip"):
        poise.save(tmp_path / "a.json", arm, clip=np.zeros((2, 7)))
    with pytest.raises(FileNotFoundError, match="no such folder"):
        poise.save(tmp_path / "none" / "a.json", arm)


def test_markers_of_an_opensim_model_are_goals(data):
    found = 0
    for model in sorted(data("osim/gait2354").glob("*.osim")):
        file = poise.read(model)
        found += len(file.placements)
        goals = [poise.position(body, file.model.fk(file.model.neutral(), body)[:3, 3], point) for body, point, _ in file.placements.values()]
        if goals:
            assert np.isfinite(file.model.evaluate(goals, file.model.neutral())[0])
    assert found > 30


def test_arrays_that_are_no_numbers_are_refused_by_dtype(arm):
    for wrong, reason in (
        (np.zeros(arm.nq, complex), r"<class 'numpy.ndarray'>: its dtype is complex128; numpy.real\(...\) takes the real parts"),
        ([1j] * arm.nq, "<class 'list'>: its dtype is complex128; numpy.real"),
        (np.zeros(arm.nq, object), r"its dtype is object; numpy.asarray\(..., float\) converts it"),
        (np.full(arm.nq, "1"), "its dtype is <U1; numpy.asarray"),
        (None, "<class 'NoneType'>$"),
        ("zero", "<class 'str'>$"),
    ):
        with pytest.raises(TypeError, match=f"^q: expected numbers, got .*{reason}"):
            arm.fk(wrong)


def test_objects_say_what_they_are(arm):
    of = repr(arm)
    for make in (poise.Erik, poise.Expressive, poise.Filter):
        assert repr(make(arm)) == f"<poise.{make.__name__} of {of}>"
    T = arm.fk(np.full((2, arm.nq), 0.4), "tip")
    assert repr(arm.solve_batch("tip", T[:1])[1]) == "<poise.BatchReport: 1 problem: 1 reached>"
    assert repr(arm.solve_batch("tip", T)[1]) == "<poise.BatchReport: 2 problems: 2 reached>"
    report = arm.solve(poise.pose("tip", T[0]), np.full(arm.nq, 0.4 + 1e-5))[1]
    assert report.iterations == 1 and "1 iteration, " in repr(report)


def test_the_centre_of_mass_and_its_derivatives(humanoid):
    rows = humanoid.random(5, rng=3)
    centers, J = humanoid.center_of_mass(rows), humanoid.center_of_mass_jacobian(rows)
    assert centers.shape == (5, 3) and J.shape == (5, 3, humanoid.nv) and humanoid.mass > 10
    q, step = rows[0], 1e-6 * np.random.default_rng(4).normal(size=humanoid.nv)
    cost, gradient, _ = humanoid.evaluate(poise.center_of_mass((0, 0, 0)), q, hessian=None)
    assert np.isclose(cost, 0.5 * centers[0] @ centers[0]) and np.allclose(gradient, centers[0] @ J[0])
    moved = humanoid.center_of_mass(humanoid.retract(q, step)) - humanoid.center_of_mass(humanoid.retract(q, -step))
    assert np.allclose(moved, 2 * J[0] @ step, atol=1e-14)
    with pytest.raises(poise.Error, match="no mass"):
        poise.scene("arm6").center_of_mass(np.zeros(6))
    with pytest.raises(poise.Error):
        humanoid.center_of_mass(np.full(humanoid.nq, np.nan))


def test_random_rotations_are_at_most_half_a_turn():
    """Rotation vectors, too, and uniform where nothing limits them: their matrices have a mean of 0."""
    body = poise.scene("humanoid")
    rows = body.random(4000, rng=1)
    for i, name in enumerate(body.coordinates):
        if name.endswith(".vx"):
            assert np.linalg.norm(rows[:, i : i + 3], axis=1).max() <= np.pi + 1e-12
    assert np.abs(body.fk(rows, "pelvis")[:, :3, :3].mean(0)).max() < 0.05
    assert all(body.within_limits(q) for q in rows[:50]) and body.random(rng=2).shape == (body.nq,)
