"""Motions on other skeletons, and motions that are edited."""

import numpy as np
import poise
import pytest


@pytest.fixture(scope="module")
def body():
    return poise.scene("humanoid")


@pytest.fixture
def clip(body):
    q = np.tile(body.neutral(), (120, 1))
    q[:, list(body.coordinates).index("left_elbow")] = np.linspace(0.1, 1, 120)
    return poise.Clip(q, 1 / 60)


def test_a_motion_on_its_own_skeleton_comes_back(body, clip):
    moved = poise.retarget(body, (body, clip))
    assert moved and moved.model is body and np.abs(moved.q - clip.q).max() < 1e-12
    assert moved.contacts.shape == (120, 4) and moved.contacts.dtype == bool


def test_another_skeleton_follows_and_roles_can_be_handed_back(body, clip):
    other = poise.scene("humanoid-euler")
    moved = poise.retarget(other, (body, clip))
    assert moved and moved.q.shape == (120, other.nq) and moved.outside == 0
    assert {"pelvis", "thigh.left", "forearm.right"} <= {role.name for role in moved.roles}
    again = poise.retarget(other, (body, clip), map=moved.roles)
    assert np.array_equal(again.q, moved.q)
    less = [role._replace(skeleton=None) if role.name == "forearm.left" else role for role in moved.roles]
    cut = poise.retarget(other, (body, clip), map=less)
    assert not cut and cut.findings[0].kind == "unmatched"


def test_velocities_hold(body, clip):
    clip.q[60:, list(body.coordinates).index("left_elbow")] += 1
    slow = poise.retarget(body, (body, clip), velocity=2.0)
    assert slow.velocity <= 1 + 1e-9 and slow.late > 0


def test_what_is_wrong_is_said(body, clip):
    with pytest.raises(poise.Error, match="parts in common"):
        poise.retarget(poise.scene("arm6"), (body, clip))
    with pytest.raises(poise.Error, match="is no role"):
        poise.retarget(body, (body, clip), map="nose a b")
    with pytest.raises(ValueError, match="feet is one of"):
        poise.retarget(body, (body, clip), feet="fly")
    with pytest.raises(poise.Error, match="no body or tool"):
        poise.edit((body, clip), pins=["nose 1 1 1 from 0 s to 1 s"])


def test_pins_hold_and_frames_beyond_the_fades_stay(body, clip):
    key = {"goal": "right_hand", "keys": [{"time": 0.8, "target": [-0.3, 1.2, 0.3]}, {"time": 1.0, "target": [-0.3, 1.3, 0.3]}]}
    for pin in ("right_hand -0.3 1.2 0.3 from 0.8 s to 1 s fade 0.5", {**key, "fade": 0.5}):
        made = poise.edit((body, clip), pins=[pin], metres=1, up="y")
        assert made and made.missed == 0 and made.pins[0].worst_length < 1e-6
        assert np.array_equal(made.q[:15], clip.q[:15]) and not np.array_equal(made.q, clip.q)
    far = poise.edit((body, clip), pins=["right_hand -3 1.2 0.3 from 0.8 s to 1 s"], metres=1, up="y")
    assert not far and far.missed > 0 and far.pins[0].worst_length > 1


def test_time_and_mirror(body, clip):
    assert np.array_equal(poise.edit((body, clip), reverse=True).q, clip.q[::-1])
    assert len(poise.edit((body, clip), speed=2).clip) == pytest.approx(60, abs=1)
    mirrored = poise.edit((body, clip), mirror=True)
    right = list(body.coordinates).index("right_elbow")
    assert mirrored and abs(mirrored.q[-1, right] - clip.q[-1, right]) > 0.5
    assert len(poise.edit((body, clip), append=clip, blend=0.2, up="y").clip) > len(clip)
    assert len(poise.edit((body, clip), loop=True, blend=0.2, up="y").clip) < len(clip)


def test_paths_will_do(tmp_path):
    body = poise.scene("humanoid-euler")
    poise.save(tmp_path / "walk.json", body, clip=poise.Clip(np.zeros((5, body.nq)), 0.01), metres=1, up="y")
    assert len(poise.retarget(body, tmp_path / "walk.json", up="y").clip) == 5
    assert len(poise.edit(str(tmp_path / "walk.json"), reverse=True).clip) == 5
    assert len(poise.track(tmp_path / "walk.json", tmp_path / "walk.json").clip) == 5
    for wrong in (lambda: poise.retarget(body, body), lambda: poise.edit(3), lambda: poise.track(body, [1])):
        with pytest.raises(TypeError, match="is wanted, not"):
            wrong()
    with pytest.raises(poise.Error, match='"arm8"; poise.scenes'):
        poise.scene("arm8")
