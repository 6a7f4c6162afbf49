"""Frame by frame: control steps, markers as they arrive; and arms from tables."""

import numpy as np
import poise
import pytest


def test_a_control_loop_keeps_its_limits(arm):
    fastest, hardest = np.linspace(0.5, 2, 7), np.linspace(5, 20, 7)
    control = poise.Control(arm, velocity=fastest, acceleration=hardest, locked=[arm.joints[2]])
    q, v, dt = np.full(7, 0.3), np.zeros(7), 0.002
    goal = poise.position("tip", arm.fk(np.full(7, 0.8), "tip")[:3, 3])
    most = np.zeros(7)
    for _ in range(2000):
        q_next, v_next, report = control.step(goal, q, v, dt)
        assert (np.abs(v_next) <= fastest * (1 + 1e-9)).all() and (np.abs(v_next - v) <= hardest * dt * (1 + 1e-9)).all()
        assert np.allclose(arm.retract(q, v_next * dt), q_next, atol=1e-12) and arm.within_limits(q_next)
        q, v, most = q_next, v_next, np.maximum(most, np.abs(v_next))
    assert report and report.worst_length < 1e-6 and q[2] == 0.3
    assert len(report.errors) == 1 and report.errors[0].error == report.worst_length
    assert most.max() > 0.3  # it moved in earnest


def test_a_goal_that_moves_is_followed(arm):
    control = poise.Control(arm)
    q, v = np.full(7, 0.4), np.zeros(7)
    T = arm.fk(q, "tip")
    goal = poise.pose("tip", T)
    misses = []
    for _ in range(100):
        T[1, 3] += 0.0004
        goal.target = T
        q, v, report = control.step(goal, q, v, 0.002)
        misses.append(np.linalg.norm(arm.fk(q, "tip")[:3, 3] - T[:3, 3]))
    assert max(misses[20:]) < 1e-4  # 0.2 m a second, and no lag


def test_what_cannot_be_is_refused(arm):
    goal, q = poise.pose("tip", arm.fk(np.zeros(7), "tip")), np.zeros(7)
    for options, reason in (({"velocty": 1}, "no option"), ({"velocity": [1, 2]}, "7 numbers"), ({"velocity": "fast"}, "velocity"),
                            ({"locked": ["nobody"]}, "nobody"), ({"method": "nothing"}, "nothing")):
        with pytest.raises((TypeError, ValueError), match=reason):
            poise.Control(arm, **options)
    for v, dt in ((np.zeros(3), 0.01), (q, -1), (q, np.nan), (np.full(7, np.nan), 0.01)):
        with pytest.raises(ValueError):
            poise.Control(arm).step(goal, q, v, dt)


def test_markers_are_followed_as_they_arrive():
    body = poise.scene("humanoid")
    elbow = list(body.coordinates).index("left_elbow")
    live = poise.Tracker(body, [(name, (0, 0, 0), 1) for name in body.bodies])
    q = body.neutral()
    for k in range(30):
        q[elbow] = 0.04 * k
        points = body.fk(q)[:, :3, 3].copy()
        points[k % len(points)] = np.nan
        answer, miss, held = live.next(points)
        assert not held and miss < 1e-5 and np.abs(body.fk(answer)[:, :3, 3] - body.fk(q)[:, :3, 3]).max() < 1e-4
    last, _, held = live.next(np.full((len(body.bodies), 3), np.nan))
    assert held and (last == answer).all()
    live.reset(body.neutral())
    with pytest.raises(ValueError, match="expected .* numbers, got"):
        live.next(np.zeros((3, 3)))
    with pytest.raises(poise.Error, match="nobody"):
        poise.Tracker(body, [("nobody", (0, 0, 0), 1)])


def matrix(a, alpha, d, theta, modified):
    """A row of a table, as the books print it."""
    c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    turn, slide = np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, d], [0, 0, 0, 1]]), np.array([[1, 0, 0, a], [0, ca, -sa, 0], [0, sa, ca, 0], [0, 0, 0, 1]])
    return slide @ turn if modified else turn @ slide


@pytest.mark.parametrize("convention", ["classic", "modified"])
def test_an_arm_from_its_table(convention):
    rng = np.random.default_rng(1)
    rows = rng.uniform(-1, 1, (6, 4))
    rows[2, 1] = 0
    arm = poise.dh([*map(tuple, rows[:5]), {**dict(zip(("a", "alpha", "d", "theta"), rows[5])), "type": "prismatic", "name": "slide",
                                            "lower": -0.2, "upper": 0.3}], convention=convention)
    assert arm.coordinates == ("q1", "q2", "q3", "q4", "q5", "slide") and arm.lower[5] == -0.2 and np.isinf(arm.upper[0])
    q, T = rng.uniform(-0.2, 0.2, 6), np.eye(4)
    for (a, alpha, d, theta), x, slides in zip(rows, q, [0] * 5 + [1]):
        T = T @ matrix(a, alpha, d + slides * x, theta + (1 - slides) * x, convention == "modified")
    assert np.allclose(arm.fk(q, arm.tools[0]), T, atol=1e-12)


def test_a_table_in_degrees_and_what_is_none():
    assert poise.dh([(0.4, 0, 0, 0, -90, 90)], degrees=True).upper == pytest.approx(np.pi / 2)
    for rows in ([(1, 2, 3)], [(0, 0, 0, "x")], [{"a": 1}], [{"a": 0, "alpha": 0, "d": 0, "theta": 0, "type": "ball"}], []):
        with pytest.raises(ValueError):
            poise.dh(rows)


def test_limits_of_a_control_are_looked_at_when_it_is_made(arm):
    for wrong in ({"velocity": -1}, {"velocity": 0}, {"acceleration": float("nan")}, {"velocity": [1, 1, 1, -1, 1, 1, 1]}):
        with pytest.raises(ValueError, match="expected numbers > 0"):
            poise.Control(arm, **wrong)


def test_placements_are_rows_of_any_kind():
    body = poise.scene("humanoid")
    q, points = body.neutral(), body.fk(body.neutral())[:, :3, 3]
    rows = [(name, (0, 0, 0), 1) for name in body.bodies]
    for placements in (rows, [list(row) for row in rows], [(name, np.zeros(3), 1) for name in body.bodies], dict(zip(body.bodies, rows))):
        pose, miss, held = poise.Tracker(body, placements).next(points)
        assert np.allclose(pose, q, atol=1e-6) and miss < 1e-6 and not held
    for wrong in (np.zeros((3, 3)), ["pelvis"], [("pelvis", (0, 0, 0))], [("pelvis", 0, 1)], [("pelvis", (0, 0, 0), "x")], "pelvis", 7):
        with pytest.raises((TypeError, ValueError)):
            poise.Tracker(body, wrong)
