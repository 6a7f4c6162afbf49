"""Gradients through inverse kinematics."""

import time

import numpy as np
import poise
import pytest


def quaternion(matrix):
    """x y z w of a rotation with a positive trace."""
    w = np.sqrt(1 + np.trace(matrix)) / 2
    return np.array([matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1], 4 * w * w]) / (4 * w)


def test_jacobian_of_an_answer_matches_solves():
    arm = poise.scene("arm6")
    q = np.array([0.3, -0.4, 0.8, 0.2, 0.5, -0.1])
    T = arm.fk(q, "tip")
    tight = dict(position_tolerance=1e-13, rotation_tolerance=1e-13, gradient_tolerance=1e-14)
    sensitivity = arm.sensitivity(poise.pose("tip", T), q)
    J = sensitivity.jacobian()
    assert J.shape == (6, 6) and np.allclose(arm.jacobian(q, "tip") @ J, np.eye(6), atol=1e-9)
    step = 1e-5
    for k in range(3):
        ends = []
        for sign in (1, -1):
            moved = T.copy()
            moved[k, 3] += sign * step
            ends.append(arm.solve(poise.pose("tip", moved), q, **tight)[0])
        assert np.allclose((ends[0] - ends[1]) / (2 * step), J[:, k], rtol=1e-6, atol=1e-6)
    assert np.allclose(sensitivity.forward(translation=(1, 2, 3)), J[:, :3] @ (1, 2, 3))


def test_backward_is_the_transpose(humanoid):
    q = humanoid.retract(humanoid.neutral(), np.full(humanoid.nv, 0.1))
    goals = [poise.position(humanoid.bodies[-1], (0.3, 1, 0.2)), poise.posture(q, 5.0), poise.aim(humanoid.bodies[3], (1, 1, 1))]
    sensitivity = humanoid.sensitivity(goals, q, use_limits=False)
    dL = np.random.default_rng(1).normal(size=humanoid.nv)
    gradients = sensitivity.backward(dL)
    assert gradients["translation"].shape == (3, 3) and gradients["lower"].shape == (humanoid.nv,)
    for goal in (0, 2):
        assert np.allclose(dL @ sensitivity.jacobian(goal)[:, :3], gradients["translation"][goal], atol=1e-12)
    assert np.isclose(dL @ sensitivity.forward(2, weight=1), gradients["weight"][2])
    with pytest.raises(IndexError):
        sensitivity.jacobian(3)


def test_arms_with_a_joint_to_spare_take_the_least_step():
    """dq/dx is the pseudo-inverse of the Jacobian, also where a part of the chain is nearly straight."""
    arm = poise.scene("arm7")
    q = arm.random(2000, rng=1)
    targets, jacobians = arm.fk(q, "tip"), arm.jacobian(q, "tip")
    off = []
    for at, T, J in zip(q, targets, jacobians):
        if np.linalg.cond(J) < 100:
            exact = np.linalg.pinv(J)
            off.append(np.abs(arm.sensitivity(poise.pose("tip", T), at).jacobian() - exact).max() / np.abs(exact).max())
    assert len(off) > 1000 and np.mean(np.array(off) > 1e-6) < 2e-3


def test_goals_outlive_the_call():
    arm = poise.scene("arm7")
    sensitivity = arm.sensitivity([poise.posture(np.zeros(7), 1.0)] * 6, np.full(7, 0.1))
    junk = [np.zeros(7) + i for i in range(1000)]
    assert np.allclose(sensitivity.forward(5, weight=1), -0.1 / 6) and len(junk) == 1000


torch = pytest.importorskip("torch", reason="python3-torch is not installed")


@pytest.fixture(scope="module")
def problem():
    arm = poise.scene("arm6")
    q = np.array([[0.3, -0.4, 0.8, 0.2, 0.5, -0.1], [-0.2, 0.3, 0.5, -0.4, 0.3, 0.6]])
    poses = arm.fk(q, "tip")
    targets = np.array([np.append(T[:3, 3], 1.3 * quaternion(T[:3, :3])) for T in poses])
    return arm, q, torch.tensor(targets, requires_grad=True)


def test_torch_checks_the_gradient(problem):
    import poise.torch

    arm, q, targets = problem
    tight = dict(position_tolerance=1e-13, rotation_tolerance=1e-13)
    assert torch.autograd.gradcheck(lambda t: poise.torch.solve(arm, "tip", t, q, **tight), (targets,), eps=1e-5, atol=1e-5)


def test_torch_with_quaternion_joints():
    """dL/dq of quaternions is that of their steps."""
    import poise.torch

    model = poise.scene("humanoid-quaternion")
    q = model.retract(model.neutral(), np.random.default_rng(2).normal(size=model.nv) * 0.2)[None]
    grad = np.random.default_rng(3).normal(size=q.shape)
    steps = poise.torch._step_gradient(model, q, grad)[0]
    for i in range(model.nv):
        e = np.zeros(model.nv)
        e[i] = 1e-6
        measured = (model.retract(q[0], e) - model.retract(q[0], -e)) @ grad[0] / 2e-6
        assert np.isclose(measured, steps[i], atol=1e-7)


def test_a_tool_is_calibrated_by_descent_through_ik(problem):
    """Joint values were recorded with a tool whose offset is unknown; find the offset from them."""
    import poise.torch

    arm, q, _ = problem
    poses = arm.fk(q, "tip")
    offset = np.array([0.03, -0.02, 0.05])
    rotations = torch.tensor(poses[:, :3, :3])
    tips = torch.tensor(poses[:, :3, 3] + poses[:, :3, :3] @ offset)  # what the camera saw: the tool's end
    turns = torch.tensor(np.array([quaternion(T[:3, :3]) for T in poses]))
    guess = torch.zeros(3, dtype=torch.double, requires_grad=True)
    descent = torch.optim.LBFGS([guess], max_iter=50, line_search_fn="strong_wolfe")

    def loss():
        descent.zero_grad()
        targets = torch.cat([tips - rotations @ guess, turns], dim=1)
        value = ((poise.torch.solve(arm, "tip", targets, q, position_tolerance=1e-10) - torch.tensor(q)) ** 2).sum()
        value.backward()
        return value

    descent.step(loss)
    assert np.allclose(guess.detach().numpy(), offset, atol=1e-5)


def test_backward_is_quicker_than_solving(problem):
    """A quarter of a warm solve where registers hold four numbers, half of it elsewhere; CPU time, so that others do not count."""
    arm, q, targets = problem
    numbers = np.tile(targets.detach().numpy(), (500, 1))
    numbers[:, 3:] /= np.linalg.norm(numbers[:, 3:], axis=1, keepdims=True)
    starts = np.tile(q, (500, 1))
    away = starts + 0.01

    def best(function):
        times = []
        for _ in range(15):
            start = time.process_time()
            function()
            times.append(time.process_time() - start)
        return min(times)

    solving = best(lambda: arm.solve_batch("tip", numbers, away, threads=1, lanes=1))
    backward = best(lambda: arm.pose_gradients("tip", numbers, starts, np.ones_like(starts)))
    assert backward < 0.6 * solving, f"{backward:.2e} against {solving:.2e}"


def test_many_answers_have_the_gradients_of_each():
    """At limits, too, and where a pose is not met: rows side by side are those of Model.sensitivity."""
    arm = poise.scene("arm7")
    rng = np.random.default_rng(4)
    q = arm.clamp(rng.uniform(-2, 2, (50, arm.nq)))
    q[::3, 3] = arm.upper[3]
    targets = arm.fk(q, "tip")
    targets[::7, 0, 3] += 0.05
    dL = rng.normal(size=(50, arm.nv))
    rows = arm.pose_gradients("tip", targets, q, dL)
    compared = 0
    for T, at, by, row in zip(targets, q, dL, rows):
        try:
            one = arm.sensitivity(poise.pose("tip", T), at).backward(by)
        except poise.Error:
            assert not row.any()  # no minimum
            continue
        wanted = np.append(one["translation"], one["rotation"])
        assert np.allclose(row, wanted, rtol=1e-6, atol=1e-6 * np.abs(wanted).max())
        compared += 1
    assert compared > 40
