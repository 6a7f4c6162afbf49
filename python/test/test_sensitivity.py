"""Gradients through inverse kinematics."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import poise
import pytest


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
    with pytest.raises(poise.Error, match="q is not a minimum"):
        humanoid.sensitivity(goals, q, use_limits=False)
    answer, _ = humanoid.solve(goals, q, use_limits=False)
    sensitivity = humanoid.sensitivity(goals, answer, use_limits=False)
    dL = np.random.default_rng(1).normal(size=humanoid.nv)
    gradients = sensitivity.backward(dL)
    assert gradients["translation"].shape == (3, 3) and gradients["lower"].shape == (humanoid.nv,)
    for goal in (0, 2):
        assert np.allclose(dL @ sensitivity.jacobian(goal)[:, :3], gradients["translation"][goal], atol=1e-12)
    assert np.isclose(dL @ sensitivity.forward(2, weight=1), gradients["weight"][2])
    assert gradients["posture"].shape == (3, humanoid.nv) and not gradients["posture"][[0, 2]].any()
    turned = [dL @ sensitivity.forward(1, posture=step) for step in np.eye(humanoid.nv)]
    assert np.abs(turned).max() > 0.1 and np.allclose(turned, gradients["posture"][1], atol=1e-9)
    with pytest.raises(IndexError):
        sensitivity.jacobian(3)


def singular_values(J):
    return np.linalg.svd(J, compute_uv=False)


def test_arms_with_a_joint_to_spare_take_the_least_step():
    """dq/dx is the pseudo-inverse of the Jacobian in every configuration, and beside singular ones; at these there is none."""
    arm = poise.scene("arm7")
    rng = np.random.default_rng(1)
    q = arm.random(5000, rng=rng)
    bent = np.repeat(10.0 ** -np.arange(1, 13), 20)
    straight = arm.random(len(bent), rng=rng)
    straight[:, 3], straight[:, 5] = bent, bent  # elbow and wrist, nearly straight
    q = np.concatenate([q, arm.clamp(straight)])
    refused = 0
    for at, T, J in zip(q, arm.fk(q, "tip"), arm.jacobian(q, "tip")):
        s = singular_values(J)
        try:
            found = arm.sensitivity(poise.pose("tip", T), at).jacobian()
        except poise.Error as error:
            assert "singular" in str(error) and s[-1] < 1e-8 * s[0], s[0] / s[-1]
            refused += 1
            continue
        exact = np.linalg.pinv(J, rcond=1e-14)
        assert np.abs(found - exact).max() < max(1e-6, 1e-14 * s[0] / s[-1]) * np.abs(exact).max(), s[0] / s[-1]
    assert 100 <= refused <= 200


def test_answers_that_touch_a_limit_move_to_one_side():
    arm = poise.scene("arm6")
    q = np.array([0.3, -0.4, 0.8, 0.2, 0.5, -0.1])
    q[2] = arm.upper[2]
    T = arm.fk(q, "tip")
    s = arm.sensitivity(poise.pose("tip", T), q)
    assert s.touching == (arm.coordinates[2],) and s.held == () and s.open == 0
    assert repr(s) == "<poise.Sensitivity: 1 goal, 0 open, 0 held, 1 touching>"
    change = arm.jacobian(q, "tip") @ np.eye(6)[2]  # what turning the joint at its limit does
    inside, outside = (s.forward(translation=sign * change[:3], rotation=sign * change[3:]) for sign in (-1, 1))
    assert np.allclose(inside, -np.eye(6)[2]) and outside[2] == 0
    assert (s.jacobian()[2] <= 0).all()


def singular_wrist(arm, q):
    """The angle of the wrist, near to 0, at which the Jacobian loses a rank."""
    def determinant(angle):
        return np.linalg.det(arm.jacobian(np.where(np.arange(6) == 4, angle, q), "tip"))

    low, high = -0.2, 0.1
    assert determinant(low) * determinant(high) < 0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if determinant(low) * determinant(middle) > 0 else (low, middle)
    return low


def test_singular_answers_of_a_batch_are_nan():
    arm = poise.scene("arm6")
    q = np.tile([0.3, -0.4, 0.8, 0.2, 0.5, -0.1], (40, 1))
    q[7, 4] = q[23, 4] = singular_wrist(arm, q[0])
    rows = arm.pose_gradients("tip", arm.fk(q, "tip"), q, np.ones((40, 6)))
    assert np.flatnonzero(np.isnan(rows).any(1)).tolist() == [7, 23] and np.isnan(rows[7]).all()


def test_goals_outlive_the_call():
    arm = poise.scene("arm7")
    sensitivity = arm.sensitivity([poise.posture(np.zeros(7), 1.0) for _ in range(5)] + [poise.posture(np.full(7, 0.6), 1.0)], np.full(7, 0.1))
    junk = [np.zeros(7) + i for i in range(1000)]
    assert np.allclose(sensitivity.forward(5, weight=1), 0.5 / 6) and len(junk) == 1000


def test_threads_share_a_model():
    """Each call has a workspace of its own, whatever body the last one looked at."""
    arm = poise.scene("arm7")
    rng = np.random.default_rng(5)
    q, dL = arm.random(1000, rng=rng), rng.normal(size=(1000, arm.nv))
    calls = [(name, arm.fk(q, name), q, dL) for name in ("tip", arm.bodies[4], arm.bodies[6])]
    alone = [poise.scene("arm7").pose_gradients(*call) for call in calls]
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(lambda i: arm.pose_gradients(*calls[i % 3]), range(300)))
    assert all(np.array_equal(rows, alone[i % 3], equal_nan=True) for i, rows in enumerate(together))


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
            assert np.isnan(row).all()  # no minimum
            continue
        wanted = np.append(one["translation"], one["rotation"])
        assert np.allclose(row, wanted, rtol=1e-6, atol=1e-6 * np.abs(wanted).max())
        compared += 1
    assert compared > 40


def test_goals_of_many_answers_have_the_gradients_of_each(humanoid):
    rng = np.random.default_rng(6)
    Q = np.stack([humanoid.clamp(humanoid.retract(humanoid.neutral(), 0.2 * rng.normal(size=humanoid.nv))) for _ in range(100)])
    hands = [poise.position(name, (0, 0, 0)).each(humanoid.fk(Q, name)[:, :3, 3] + 0.05) for name in ("left_hand", "right_hand")]
    problems = list(zip(*hands, poise.posture(Q[0], 0.2).each(Q)))
    answers, _ = humanoid.solve_batch(problems, Q, gradient_tolerance=1e-10)
    answers[17] = Q[3]  # no minimum
    dL = rng.normal(size=(100, humanoid.nv))
    together = humanoid.goal_gradients(problems, answers, dL)
    assert together["translation"].shape == (100, 3, 3) and together["weight"].shape == (100, 3) and together["lower"].shape == dL.shape
    assert np.isnan(together["translation"][17]).all() and np.isnan(together["upper"][17]).all()
    for i in (0, 1, 50, 99):
        one = humanoid.sensitivity(problems[i], answers[i]).backward(dL[i])
        assert all(np.array_equal(one[name], together[name][i]) for name in one) and set(one) == set(together)
    with pytest.raises(ValueError, match="problem 1 has 2 goals"):
        humanoid.goal_gradients([problems[0], problems[1][:2]], answers[:2], dL[:2])
    with pytest.raises(ValueError, match=r"shape \(2, 58\)"):
        humanoid.goal_gradients(problems[:2], answers[:2], dL[0])
    with pytest.raises(poise.Error, match="finite"):
        humanoid.goal_gradients(problems[:2], answers[:2], np.full((2, humanoid.nv), np.nan))
