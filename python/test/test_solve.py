"""Goals, solves, batches."""

import gc
import pickle
import threading
import tracemalloc
import warnings
import weakref

import numpy as np
import poise
import pytest


def random_configurations(model, count, seed):
    lower, upper = np.maximum(model.lower, -2), np.minimum(model.upper, 2)
    return lower + (upper - lower) * np.random.default_rng(seed).random((count, model.nq))


def middle(model):
    return (np.maximum(model.lower, -3) + np.minimum(model.upper, 3)) / 2


def test_one_tolerance_holds_for_all_axes(arm):
    T = arm.fk(middle(arm), arm.bodies[-1])
    for band in ("tolerance", "rotation_tolerance"):
        wide, by_axis = (poise.pose(arm.bodies[-1], T, **{band: value}) for value in (0.05, (0.05, 0.05, 0.05)))
        q = arm.retract(middle(arm), np.full(arm.nv, 0.01))
        assert arm.evaluate(wide, q)[0] == arm.evaluate(by_axis, q)[0] < arm.evaluate(poise.pose(arm.bodies[-1], T), q)[0]


def test_a_pose_is_reached_within_limits(arm):
    tip = arm.tools[0]
    for q in random_configurations(arm, 50, 1):
        target = arm.fk(q, tip)
        answer, report = arm.solve(poise.pose(tip, target), middle(arm), restarts=20)
        assert report and report.reached and report.outcome == "reached"
        assert np.allclose(arm.fk(answer, tip), target, atol=2e-6)
        assert arm.within_limits(answer)
        assert report.errors[0].unit == "length" and report.errors[0].error < 1e-6


def test_start_is_not_changed_and_a_cold_start_needs_none(arm):
    start = middle(arm)
    kept = start.copy()
    target = arm.fk(random_configurations(arm, 1, 2)[0], arm.bodies[-1])
    arm.solve(poise.pose(arm.bodies[-1], target), start)
    assert (start == kept).all()
    assert arm.solve(poise.pose(arm.bodies[-1], target))[1].reached


def test_seven_numbers_and_a_matrix_are_the_same_pose(arm):
    angle = 0.7
    matrix = np.eye(4)
    matrix[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    matrix[:3, 3] = 0.3, 0.1, 0.5
    seven = [0.3, 0.1, 0.5, 0, 0, np.sin(angle / 2), np.cos(angle / 2)]
    body = arm.bodies[-1]
    one, two = (arm.evaluate(poise.pose(body, pose), middle(arm)) for pose in (matrix, seven))
    assert np.isclose(one[0], two[0], rtol=1e-13)
    assert np.allclose(one[1], two[1], atol=1e-13)


GOALS = [
    lambda b: poise.position(b, (0.3, 0.1, 0.4), point=(0.1, 0, 0), loss="huber", loss_scale=0.1),
    lambda b: poise.direction(b, (1, 2, 3), axis=(0, 1, 0), weight=2),
    lambda b: poise.orientation(b, np.eye(3)),
    lambda b: poise.pose(b, np.eye(4), rotation_weight=0.5, tolerance=(0, 0, 0.1)),
    lambda b: poise.aim(b, (1, 1, 1), axis=(1, 0, 0)),
    lambda b: poise.plane(b, (0, 0, 0.2), (0, 0, 5)),
    lambda b: poise.line(b, (0.2, 0, 0.2), (0, 0, 1)),
    lambda b: poise.distance(b, (0, 0, 1), 0.3),
    lambda b: poise.relative(b, 0, np.eye(4)),
    lambda b: poise.posture(np.full(7, 0.1), 0.5, weights=np.arange(7.0)),
    lambda b: poise.smoothness(np.full(7, 0.1), np.zeros(7)),
]


@pytest.mark.parametrize("make", GOALS)
def test_derivatives_of_every_goal_are_exact(arm, make):
    goal = make(arm.bodies[-1])
    q = middle(arm) + 0.2
    cost, gradient, hessian = arm.evaluate(goal, q)
    step = 1e-5
    for i in range(arm.nv):
        e = np.zeros(arm.nv)
        e[i] = step
        (up, g_up, _), (down, g_down, _) = (arm.evaluate(goal, arm.retract(q, sign * e), hessian=None) for sign in (1, -1))
        assert np.isclose((up - down) / (2 * step), gradient[i], rtol=1e-6, atol=1e-8)
        assert np.allclose((g_up - g_down) / (2 * step), hessian[i], rtol=1e-5, atol=1e-7)
    assert cost >= 0 and goal.kind in repr(goal)


def test_the_goal_language_is_understood(arm):
    words = f"position {arm.bodies[-1]} 0.3 0.1 0.4; posture neutral weight 0.01"
    cost, *_ = arm.evaluate(words, middle(arm))
    same = [poise.position(arm.bodies[-1], (0.3, 0.1, 0.4)), poise.posture(arm.neutral(), 0.01)]
    assert cost == arm.evaluate(same, middle(arm))[0]


def test_a_goal_can_be_set_anew(arm):
    goal = poise.position(arm.bodies[-1], (0.3, 0.1, 0.4))
    first, _ = arm.solve(goal, middle(arm))
    goal.target = (0.3, -0.1, 0.4)
    goal.weight = 2
    second, _ = arm.solve(goal, middle(arm))
    assert np.allclose(arm.fk(first, arm.bodies[-1])[:3, 3], (0.3, 0.1, 0.4), atol=2e-6)
    assert np.allclose(arm.fk(second, arm.bodies[-1])[:3, 3], (0.3, -0.1, 0.4), atol=2e-6)
    assert goal.weight == 2


def test_arrays_of_a_goal_are_looked_at_not_copied(arm):
    q = np.zeros(arm.nq)
    goal = poise.posture(q)
    q[:] = 0.1
    assert np.allclose(arm.solve(goal, middle(arm))[0], arm.clamp(np.full(arm.nq, 0.1)), atol=1e-6)


@pytest.mark.parametrize("shape", ["matrices", "numbers"])
def test_a_batch_has_the_bits_of_single_solves(arm, shape):
    body, start = arm.bodies[-1], middle(arm)
    targets = arm.fk(random_configurations(arm, 300, 3), body)
    if shape == "numbers":
        rotations = targets[:, :3, :3]
        w = np.sqrt(np.maximum(0, 1 + np.trace(rotations, axis1=1, axis2=2))) / 2
        keep = w > 0.1
        x = np.stack([(rotations[:, i, j] - rotations[:, j, i])[keep] / (4 * w[keep]) for i, j in ((2, 1), (0, 2), (1, 0))], 1)
        targets = np.concatenate([targets[keep, :3, 3], x, w[keep, None]], axis=1)
    answers, report = arm.solve_batch(body, targets, start, restarts=20)
    assert answers.shape == (len(targets), arm.nq) and report.reached.dtype == bool
    assert report.reached.all()
    for i, target in enumerate(targets[:50]):
        single, single_report = arm.solve(poise.pose(body, target), start, restarts=20)
        assert (single == answers[i]).all() and single_report.iterations == report.iterations[i]
    assert (arm.solve_batch(body, targets, start, restarts=20, threads=1, lanes=1)[0] == answers).all()


def test_arrays_go_in_and_out_without_copies(arm):
    """What numpy and Python allocate during a call is its answer; another dtype shows that a copy would be seen."""

    def peak(call, *arguments):
        tracemalloc.start()
        call(*arguments)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    q = random_configurations(arm, 5000, 3)
    targets = arm.fk(q, "tip")
    arm.solve_batch("tip", targets, q, threads=1)
    answer = 5000 * 16 * 8
    assert answer <= peak(arm.fk, q, "tip") < answer + 4096
    assert peak(arm.fk, q.astype(np.float32), "tip") > answer + q.nbytes
    reports = peak(arm.solve_batch, "tip", targets, q)
    assert peak(arm.solve_batch, "tip", targets.astype(np.float32), q) > reports + targets.nbytes - 4096


def test_locked_joints_keep_their_values(arm, humanoid):
    start = random_configurations(arm, 1, 4)[0]
    target = arm.fk(arm.clamp(start + 0.1 * np.array([1, 0, 0, 1, 1, 1, 1])), "tip")
    names = list(arm.joints[1:3])
    goal = poise.position("tip", target[:3, 3])
    free, _ = arm.solve(goal, start)
    q, report = arm.solve(goal, start, locked=names)
    assert report.reached and (q[1:3] == start[1:3]).all() and (free[1:3] != start[1:3]).any()
    assert (arm.solve(goal, start, locked=[])[0] == free).all() and (arm.solve(goal, start, locked=None)[0] == free).all()
    other, _ = arm.solve(goal, start, locked=arm.joints[:1])  # another solver than the one that was left
    assert other[0] == start[0] and (other[1:3] != start[1:3]).any()
    answers, _ = arm.solve_batch([goal, goal], start, locked=names)
    assert (answers == q).all()
    rest = humanoid.neutral()  # a quaternion as a whole
    moved, _ = humanoid.solve("position left_palm 0.3 1.3 0.5", rest, locked=["waist", "root"])
    still = [i for i, name in enumerate(humanoid.coordinates) if name.split(".")[0] in ("waist", "root")]
    assert len(still) == 11 and (moved[still] == rest[still]).all() and (moved != rest).any()
    for wrong, message in ((["tpi"], "did you mean"), ("joint", "list"), ([3], "names of joints"), (5, "list")):
        with pytest.raises((ValueError, TypeError), match=message):
            arm.solve(goal, start, locked=wrong)
        with pytest.raises((ValueError, TypeError), match=message):
            arm.solve_batch([goal], start, locked=wrong)


def test_a_batch_of_goals_of_any_kind(arm):
    body = arm.bodies[-1]
    problems = [poise.position(body, (0.3, 0.1, 0.4)), [poise.aim(body, (1, 0, 1)), poise.posture(arm.neutral(), 0.01)]]
    answers, report = arm.solve_batch(problems, middle(arm))
    for problem, answer in zip(problems, answers):
        assert (arm.solve(problem, middle(arm))[0] == answer).all()
    assert len(report.cost) == 2
    assert arm.solve_batch([], middle(arm))[0].shape == (0, arm.nq)


def test_all_answers_of_an_arm():
    arm = poise.scene("arm6")
    target = arm.fk(random_configurations(arm, 1, 5)[0], arm.bodies[-1])
    answers, report = arm.solve_all(poise.pose(arm.bodies[-1], target), most=8)
    assert report.reached and 1 < len(answers) <= 8
    for q in answers:
        assert np.allclose(arm.fk(q, arm.bodies[-1]), target, atol=2e-6) and arm.within_limits(q)
    assert len({tuple(np.round(q, 3)) for q in answers}) == len(answers)


def test_threads_share_a_model(arm):
    body, start = arm.bodies[-1], middle(arm)
    targets = arm.fk(random_configurations(arm, 40, 6), body)
    expected = [arm.solve(poise.pose(body, t), start)[0] for t in targets]
    wrong = []

    def work():
        for t, q in zip(targets, expected):
            for _ in range(5):
                if not (arm.solve(poise.pose(body, t), start)[0] == q).all() or not np.allclose(arm.fk(q, body), t, atol=2e-6):
                    wrong.append(q)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_other_threads_run_while_one_solves():
    """The lock is released: a pure Python loop makes progress during a long batch."""
    arm = poise.scene("arm7")
    targets = np.tile(np.eye(4), (4000, 1, 1))
    targets[:, 0, 3] = 50  # out of reach: the slow case
    count, done = [0], threading.Event()

    def spin():
        while not done.is_set():
            count[0] += 1

    thread = threading.Thread(target=spin)
    thread.start()
    before = count[0]
    arm.solve_batch(arm.bodies[-1], targets, threads=1)
    during = count[0] - before
    done.set()
    thread.join()
    assert during > 1000


def test_a_start_is_stayed_near_and_restarts_look_elsewhere():
    """Beyond the workspace an answer follows its start; it does not jump to another branch for a little less error."""
    arm = poise.scene("arm6")
    q = np.array([0.3, -0.4, 0.8, 0.2, 0.5, -0.1])
    target = arm.fk(q, "tip")
    for _ in range(150):
        target[0, 3] += 0.01
        last, (q, report) = q, arm.solve(poise.pose("tip", target), q)
        assert np.abs(q - last).max() < 0.3 and report.restarts == 0
    assert not report
    assert arm.solve(poise.pose("tip", target), q, restarts=5)[1].restarts == 5


def test_postures_pull_and_do_not_count_as_missed(arm):
    target = arm.fk(np.full(7, 0.3), "tip")
    q, report = arm.solve([poise.pose("tip", target), poise.posture(np.full(7, 0.2), 1e-9)], np.full(7, 0.25))
    assert report.reached and report.errors[1].error > 1e-3
    assert not arm.solve([poise.position("tip", (9, 0, 0)), poise.posture(q, 1e-9)], q)[1]


def test_priorities_are_kept_apart_or_refused(arm):
    goals = [poise.position("tip", (0.3, 0.1, 0.6), priority=0), poise.posture(np.zeros(7), priority=1)]
    with pytest.raises(ValueError, match='method="priority"'):
        arm.solve(goals)
    q, report = arm.solve(goals, np.full(7, 0.2), method="priority")
    assert report.errors[0].error < 1e-6
    with pytest.raises(ValueError, match="levenberg_marquardt"):
        arm.solve(goals, method="prority")


@pytest.mark.parametrize("wrong", [np.diag([1, 1, -1, 1]), np.eye(4) * 1.1, np.eye(4) + np.eye(4, k=-3)])
def test_matrices_that_are_no_poses_are_refused_alike(arm, wrong):
    with pytest.raises(ValueError, match="not a pose"):
        poise.pose("tip", wrong)
    with pytest.raises(ValueError, match=r"targets\[1\]"):
        arm.solve_batch("tip", np.array([np.eye(4), wrong]))
    rounded = np.round(arm.fk(np.full(7, 0.3), "tip"), 4)
    assert (arm.solve(poise.pose("tip", rounded))[0] == arm.solve_batch("tip", rounded[None])[0][0]).all()


def test_a_batch_of_places(arm):
    places = arm.fk(arm.random(20, rng=1), "tip")[:, :3, 3]
    answers, report = arm.solve_batch("tip", places)
    assert report.reached.all() and np.abs(arm.fk(answers, "tip")[:, :3, 3] - places).max() < 1e-6
    assert (answers[3] == arm.solve(poise.position("tip", places[3]))[0]).all()
    places[5, 1] = np.nan
    with pytest.raises(poise.Error, match="problem 5"):
        arm.solve_batch("tip", places)


def spring(target, with_hessian):
    """The energy of poise.position, by hand."""
    def energy(T):
        off = T[:3, 3] - target
        parts = off @ off / 2, np.r_[off, 0, 0, 0]
        return (*parts, np.diag([1, 1, 1, 0, 0, 0])) if with_hessian else parts
    return energy


def test_a_function_is_a_goal(arm):
    q, target = np.full(arm.nq, 0.2), arm.fk(np.full(arm.nq, 0.4), "tip")
    wanted = arm.evaluate(poise.position("tip", target[:3, 3]), q)
    for with_hessian, close in ((True, 1e-14), (False, 1e-10)):
        goal = poise.callback("tip", spring(target[:3, 3], with_hessian), weight=3)
        assert all(np.allclose(3 * a, b, atol=close) for a, b in zip(wanted, arm.evaluate(goal, q)))
        answer, report = arm.solve(goal, q)
        assert report and np.abs(arm.fk(answer, "tip") - target)[:3, 3].max() < 1e-6 and report.errors[0].error < 1e-6

    def upright(T):  # a direction, of which the differences must turn the body as the solver does
        off = T[:3, 2] - target[:3, 2]
        return off @ off / 2, np.r_[0, 0, 0, np.cross(T[:3, 2], off)]

    wanted = arm.evaluate(poise.direction("tip", target[:3, 2]), q)
    assert all(np.allclose(a, b, atol=1e-9) for a, b in zip(wanted, arm.evaluate(poise.callback("tip", upright), q)))


def test_functions_are_called_by_all_that_solve(arm):
    target = arm.fk(np.full(arm.nq, 0.4), "tip")[:3, 3]
    goal, zeros = poise.callback("tip", spring(target, True)), np.zeros(arm.nq)
    answers, report = arm.solve_batch([[goal]] * 40)
    assert report.reached.all() and np.abs(arm.fk(answers, "tip")[:, :3, 3] - target).max() < 1e-6
    assert arm.solve([goal, poise.callback("tip", lambda T: None)])[1].errors[1].error == 0
    again = pickle.loads(pickle.dumps(poise.callback("tip", np.sum, 2)))
    assert (again.kind, again.weight) == ("callback", 2)

    def fails(T):
        raise KeyError("of mine")

    calls = (arm.solve, lambda g: arm.solve_batch([g] * 40), lambda g: arm.evaluate(g, zeros), lambda g: arm.sensitivity(g, zeros),
             lambda g: poise.Control(arm).step(g, zeros, zeros, 0.01))
    for function, error, words in ((fails, KeyError, "of mine"), (lambda T: 3, TypeError, "energy, gradient"), (lambda T: (1, [1, 2]), ValueError, "gradient: expected 6")):
        for call in calls:
            with pytest.raises(error, match=words):
                call(poise.callback("tip", function))
    with pytest.raises(TypeError, match="something to call"):
        poise.callback("tip", 5)


def test_functions_that_hold_their_goal_are_collected():
    class Task:
        def __init__(self):
            self.goal = poise.callback("tip", self.energy)

        def energy(self, T):
            return None

    gone = weakref.ref(Task())
    gc.collect()
    assert gone() is None


def test_a_list_that_changes_during_a_solve(arm):
    goals = []

    def empties(T):
        goals.clear()
        gc.collect()
        return 0.0, np.zeros(6), np.zeros((6, 6))

    goals += [poise.callback("tip", empties), poise.posture(np.full(arm.nq, 0.3))]
    q, _ = arm.solve(goals)
    assert goals == [] and np.allclose(q, 0.3)


def test_the_start_by_other_names(arm):
    for call in (arm.solve, arm.solve_all, lambda goal, **by: arm.solve_batch([goal], **by)):
        with pytest.raises(TypeError, match='has no option "q0": the configuration to start from is q='):
            call(poise.pose("tip", np.eye(4)), q0=arm.neutral())


def test_goals_can_be_read():
    T = np.eye(4)
    T[:3, 3] = 1, 2, 3
    goal = poise.pose("tip", T, tolerance=0.1, rotation_tolerance=(0, 0, np.inf), weight=2, priority=1, loss="huber", loss_scale=0.5)
    assert np.array_equal(goal.target, T) and goal.body == "tip" and goal.weight == 2 and goal.priority == 1 and goal.loss == "huber"
    assert goal.tolerance.tolist() == [0.1] * 3 and goal.rotation_tolerance.tolist() == [0, 0, np.inf] and goal.loss_scale == 0.5
    assert poise.position("tip", (1, 2, 3), (4, 5, 6)).target.tolist() == [1, 2, 3]
    assert poise.position("tip", (1, 2, 3), (4, 5, 6)).point.tolist() == [4, 5, 6]
    turn = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]])
    assert np.allclose(poise.orientation("tip", turn).target, turn) and poise.plane("a", (0, 0, 0), (0, 0, 2)).normal.tolist() == [0, 0, 1]
    q = np.arange(7.0)
    assert poise.posture(q).q is q and poise.posture(q).weights is None and poise.distance("a", (0, 0, 0), 0.3).distance == 0.3
    assert poise.relative("a", "b", T).other == "b" and poise.callback("a", len).function is len
    with pytest.raises(AttributeError, match='kind "pose" has no "distance"'):
        goal.distance
    assert not hasattr(goal, "q") and hasattr(goal, "local")


def test_numbers_of_a_goal_are_looked_at_when_it_is_made():
    nan = float("nan")
    for call in (
        lambda: poise.position("tip", (nan, 0, 0)),
        lambda: poise.position("tip", (0, 0, 0), weight=-1),
        lambda: poise.position("tip", (0, 0, 0), loss="huber", loss_scale=0),
        lambda: poise.pose("tip", [0, 0, 0, 0, 0, 0, 0]),
        lambda: poise.pose("tip", np.eye(4), tolerance=-0.1),
        lambda: poise.distance("tip", (0, 0, 0), -1),
        lambda: poise.direction("tip", (0, 0, 0)),
        lambda: poise.posture(np.zeros(7), nan),
        lambda: poise.sphere((0, 0, 0), -1),
        lambda: poise.sphere((0, 0, 0), nan),
        lambda: poise.box((0, 0, 0), (1, -1, 1)),
        lambda: poise.box([0, 0, 0, 0, 0, 0, 0], (1, 1, 1)),
        lambda: poise.box(np.ones((4, 4)), (1, 1, 1)),
        lambda: poise.box((0, 0), (1, 1, 1)),
        lambda: poise.half_space((0, 0, nan)),
        lambda: poise.weld("tip", np.ones((4, 4))),
        lambda: poise.connect("tip", (0, 0, nan)),
        lambda: poise.rod("tip", (0, 0, 0), 2, 1),
        lambda: poise.rod("tip", (0, 0, 0), -1),
        lambda: poise.band("tip", (0, 0, 0), 2, 1),
        lambda: poise.balance([(0, 0), (1, 0)]),
        lambda: poise.balance([(0, 0), (1, 0), (0, 1)], axis=(0, 0, 0)),
        lambda: poise.balance([(0, 0), (0, 1), (1, 0)]),
        lambda: poise.balance([(0, 0), (1, 0), (0, 1)], margin=nan),
    ):
        with pytest.raises(ValueError):
            call()
    goal = poise.position("tip", (0, 0, 1))
    with pytest.raises(poise.Error, match="must be finite"):
        goal.target = (0, nan, 0)
    assert goal.target.tolist() == [0, 0, 1]  # as it was


def test_a_goal_for_each_row(arm):
    Q = arm.random(4, rng=1)
    T = arm.fk(Q, "tip")
    goals = poise.pose("tip", np.eye(4), weight=2).each(T)
    assert len(goals) == 4 and goals[2].weight == 2 and np.allclose(goals[2].target, T[2])
    assert [goal.target.tolist() for goal in poise.position("tip", (0, 0, 0)).each(T[:, :3, 3])] == T[:, :3, 3].tolist()
    assert np.allclose([goal.target for goal in poise.orientation("tip", np.eye(3)).each(T[:, :3, :3])], T[:, :3, :3])
    assert poise.direction("tip", (0, 0, 1)).each([(0, 2, 0)])[0].direction.tolist() == [0, 1, 0]
    assert [goal.q.tolist() for goal in poise.posture(Q[0]).each(Q)] == Q.tolist()
    a, report = arm.solve_batch(list(zip(goals, poise.posture(Q[0], 0).each(Q))), Q)
    assert report.reached.all() and np.allclose(a, Q)
    T[1, :3, :3] = 0  # no pose: refused by the solve, as a NaN is
    T[2, 0, 3] = np.nan
    bad = [(goal,) for goal in poise.pose("tip", np.eye(4)).each(T)]
    assert (arm.solve_batch(bad, Q, on_error="mark")[1].outcome == "refused").tolist() == [False, True, True, False]
    assert (arm.solve_batch("tip", T, Q, on_error="mark")[1].outcome == "refused").tolist() == [False, True, True, False]
    with pytest.raises(poise.Error, match="problem 1"):
        arm.solve_batch(bad, Q)
    for goal, targets, error in (("pose", T[:, :3, 3], ValueError), ("position", T, ValueError)):
        with pytest.raises(error, match="an array of shape"):
            getattr(poise, goal)("tip", np.eye(4) if goal == "pose" else (0, 0, 0)).each(targets)
    with pytest.raises(TypeError, match="has no target"):
        poise.callback("tip", len).each(T)


def test_a_body_is_no_goal(arm):
    with pytest.raises(TypeError, match=r'poise.pose\("tip", T\) is one'):
        arm.solve("tip", arm.neutral())
    with pytest.raises(poise.Error, match='no goal "tipp"'):
        arm.solve("tipp")


def test_a_small_gradient_tolerance_is_met_in_batches_too(humanoid):
    rng = np.random.default_rng(3)
    Q = np.array([humanoid.retract(humanoid.neutral(), rng.normal(0, 0.1, humanoid.nv)) for _ in range(16)])
    bodies = humanoid.bodies[3:20:4]
    problems = [[poise.position(b, p + rng.normal(0, 0.1, 3)) for b, p in zip(bodies, humanoid.fk(q)[3:20:4, :3, 3])] for q in Q]
    answers, _ = humanoid.solve_batch(problems, Q, gradient_tolerance=1e-14)
    for goals, start, answer in zip(problems, Q, answers):
        q, report = humanoid.solve(goals, start, gradient_tolerance=1e-14)
        assert (q == answer).all() and report.cost <= report.start_cost
        assert report.reached or report.gradient < 1e-13


def test_a_list_of_goals_may_stand_before_no_targets(arm):
    q = np.full((2, 7), 0.3)
    goals = [poise.pose("tip", arm.fk(np.full(7, 0.4), "tip"))] * 2
    expected, _ = arm.solve_batch(goals, q)
    for answers, _ in (arm.solve_batch(goals, None, q), arm.solve_batch(goals, targets=None, q=q)):
        assert (answers == expected).all()
    for wrong in (("tip", None), ("tip", None, q), (goals, q, q), (goals, None, q, q)):
        with pytest.raises(TypeError):
            arm.solve_batch(*wrong)
    for one in ((goals[0],), (goals[0], q)):
        with pytest.raises(TypeError, match=r"goal.each\(targets\) is such a list"):
            arm.solve_batch(*one)


def test_a_solve_keeps_the_numbers_that_it_began_with(arm):
    begun, others = np.full(arm.nq, 0.3), []

    def answer(changes):
        pull = spring(np.zeros(3), True)
        posture = poise.posture(begun.copy())

        def function(T):
            if changes:
                posture.q = np.full(arm.nq, 5.0)
                others.extend(np.full(arm.nq, 7.0) for _ in range(4))  # where the old ones were, if they are gone
            return pull(T)

        return arm.solve([posture, poise.callback("tip", function)], arm.neutral())[0]

    assert np.array_equal(answer(True), answer(False))
    goals = poise.posture(begun.copy()), poise.position("tip", (0.4, 0.1, 0.5))
    q = arm.solve(goals, arm.neutral())[0]
    wanted, kept = arm.sensitivity(goals, q).forward(1, translation=(1, 0, 0)), arm.sensitivity(goals, q)
    goals[0].q = np.zeros(arm.nq)
    others.extend(np.full(arm.nq, np.nan) for _ in range(4))
    assert np.array_equal(kept.forward(1, translation=(1, 0, 0)), wanted)


def test_names_of_parameters_that_are_no_text_are_refused():
    with pytest.raises(UnicodeEncodeError):
        poise.position("tip", (0, 0, 0), **{"\ud800": 1})


def test_degrees_and_millimetres_are_asked_for(arm):
    body = arm.bodies[-1]
    ready = np.full(arm.nq, 0.3)
    target = arm.fk(ready, body)
    with pytest.warns(UserWarning, match="are these degrees"):
        arm.fk(np.full(arm.nq, 30.0))
    with pytest.warns(UserWarning, match="are these degrees"):
        arm.solve(poise.pose(body, target), np.degrees(np.full(arm.nq, 0.9)))
    with pytest.warns(UserWarning, match="are these degrees"):
        arm.solve_batch(body, target[None], np.full((1, arm.nq), 45.0))
    with pytest.warns(UserWarning, match="are these millimetres"):
        _, report = arm.solve(poise.position(body, 1e3 * target[:3, 3]), ready)
    assert not report
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        arm.fk(ready)
        arm.solve(poise.pose(body, target), ready)
        arm.solve(poise.position(body, 5 * target[:3, 3]), ready)  # out of reach, and no thousandfold
        with pytest.raises(UserWarning, match="degrees"):
            arm.fk(np.full(arm.nq, 30.0))


def test_names_of_the_command_work_and_wrong_ones_are_mended(arm):
    body = arm.bodies[-1]
    goal, ready = poise.pose(body, arm.fk(np.full(arm.nq, 0.3), body)), np.zeros(arm.nq)
    new, old = arm.solve(goal, ready, method="newton"), arm.solve(goal, ready, method="newton_projected")
    assert (new[0] == old[0]).all()
    held = arm.joints[0]
    assert (arm.solve(goal, ready, lock=[held], iterations=7)[0] == arm.solve(goal, ready, locked=[held], max_iterations=7)[0]).all()
    with pytest.raises(ValueError, match='did you mean "newton"'):
        arm.solve(goal, method="newtonian")
    with pytest.raises(ValueError, match='did you mean "levenberg_marquardt"'):
        arm.solve(goal, method="levenberg_marquard")
    with pytest.raises(ValueError, match="the choices are auto, "):
        arm.solve(goal, method="magic_of_the_moment")
    with pytest.raises(TypeError, match="q="):
        arm.solve(goal, posture=ready)
