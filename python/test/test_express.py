"""Expressive solves and the motion filter."""

import numpy as np
import poise
import pytest


def turned(about, angle):
    return np.append(np.asarray(about, float) * np.sin(angle / 2), np.cos(angle / 2))


def test_erik_and_its_successor_face_the_target():
    model = poise.scene("erik-c")
    posture = np.array([0.2, 0.5, -0.4, 0.3, 0.1])
    target = turned((0, 0, 1), 0.4)
    erik = poise.Erik(model)
    q, report = erik.solve(posture, target)
    assert report.reached and report.error <= 0.04 and model.within_limits(q)
    exact, exact_report = poise.Expressive(model).solve(poise.orientation(model.bodies[-1], target), posture)
    assert exact_report.reached and exact_report.worst_angle < 1e-6 and model.within_limits(exact)
    assert exact_report.error <= report.error + 1e-9


def test_options_are_known_by_name():
    model = poise.scene("erik-c")
    with pytest.raises(TypeError, match='did you mean "threshold"'):
        poise.Erik(model, treshold=1)
    with pytest.raises(poise.Error):
        poise.Erik(poise.scene("humanoid"))
    with pytest.raises(ValueError, match="mode"):
        poise.Expressive(model, mode="other")
    with pytest.raises(TypeError):
        poise.Expressive()


def test_filter_keeps_its_limits_and_arrives():
    model = poise.scene("arm7")
    smooth = poise.Filter(model, velocity=1, acceleration=4, jerk=50)
    q = np.zeros(model.nq)
    velocity, acceleration = smooth.limits()
    assert (velocity == np.full(model.nv, 1.0)).all() and (acceleration == np.full(model.nv, 4.0)).all()
    smooth.reset(q)
    goal = model.clamp(np.full(model.nq, 0.8))
    rows, dt = [q], 0.01
    for _ in range(400):
        rows.append(smooth.step(goal, dt))
    speeds = np.diff(rows, axis=0) / dt
    assert np.abs(speeds).max() <= 1 + 1e-9 and np.abs(np.diff(speeds, axis=0) / dt).max() <= 4 + 1e-6
    assert smooth.rests and np.allclose(rows[-1], goal, atol=1e-4)


def test_an_end_faces_what_it_is_told():
    model = poise.scene("arm7")
    posture = np.zeros(model.nq)
    for method in ("expressive", "erik"):
        aim = poise.Aim(model, method=method)
        for target in ({"direction": (1, 0, 0)}, {"point": (1.5, 0.5, 0.5)}, {"orientation": (0, 0.6, 0, 0.8)}):
            q, report = aim.solve(posture, **target)
            assert report["faces"] and report["outcome"] == "reached" and report["limits_hold"] and report["angle"] < 0.1
            if method == "expressive":  # ERIK, warm, may lose a point that its tip moves away from
                assert aim.solve(posture, q=q, **target)[1]["faces"]
    with pytest.raises(TypeError, match="one of"):
        aim.solve(posture)
    with pytest.raises(ValueError, match="method"):
        poise.Aim(model, method="other")


def test_a_root_that_moves_freely_may_be_let_through():
    model = poise.scene("humanoid")
    assert not np.isfinite(poise.Filter(model, root=False).limits()[0][:6]).any()
    assert np.isfinite(poise.Filter(model).limits()[0]).all()
    with pytest.raises(ValueError, match="ambiguous"):
        poise.Filter(model, root=np.zeros(2))
