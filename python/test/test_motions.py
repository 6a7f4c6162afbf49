"""Motions on other skeletons, and motions that are edited."""

import json

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


def test_a_flip_is_told_and_what_was_not_measured_is_none(body, clip):
    smooth = poise.retarget(body, (body, clip))
    assert smooth.fastest < 2 and smooth.overlap is None and smooth.overlap_frames is None
    clip.q[60:, list(body.coordinates).index("left_elbow")] += 1
    flipped = poise.retarget(body, (body, clip))
    assert flipped.verdict == "doubtful" and 55 < flipped.fastest < 65 and flipped.acceleration > 1000
    assert "fast" in [finding.kind for finding in flipped.findings]


def test_what_is_wrong_is_said(body, clip):
    with pytest.raises(poise.Error, match="parts in common"):
        poise.retarget(poise.scene("arm6"), (body, clip))
    with pytest.raises(poise.Error, match="is not a role"):
        poise.retarget(body, (body, clip), map="nose a b")
    with pytest.raises(ValueError, match="feet is one of"):
        poise.retarget(body, (body, clip), feet="fly")
    with pytest.raises(poise.Error, match="no body, joint or tool"):
        poise.edit((body, clip), pins=["nose 1 1 1 from 0 s to 1 s"])


def test_pins_hold_and_frames_beyond_the_fades_stay(body, clip):
    key = {"goal": "right_hand", "keys": [{"time": 0.8, "target": [-0.3, 1.2, 0.3]}, {"time": 1.0, "target": [-0.3, 1.3, 0.3]}]}
    for pin in ("right_hand -0.3 1.2 0.3 from 0.8 s to 1 s fade 0.5", {**key, "fade": 0.5}):
        made = poise.edit((body, clip), pins=[pin], metres=1, up="y")
        assert made.missed == 0 and made.pins[0].worst_length < 1e-6
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
        with pytest.raises(TypeError, match="expected .*, got"):
            wrong()
    with pytest.raises(poise.Error, match='"arm8"; did you mean "arm6"'):
        poise.scene("arm8")


def test_an_animation_is_chosen_by_number_or_name():
    animations = [{"name": name, "channels": [], "samplers": []} for name in ("walk", "run")]
    text = json.dumps({"asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": [{"name": "a"}], "animations": animations})
    assert not poise.parse(text, "two.gltf", animation="run").warnings
    assert "number 1" in poise.parse(text, "two.gltf", animation=1).warnings[0]
    for wrong in (2, "fly"):
        with pytest.raises(ValueError, match='there are 2: 0 "walk", 1 "run"'):
            poise.parse(text, "two.gltf", animation=wrong)


def test_clips_between_their_frames(humanoid):
    clip = poise.Clip(humanoid.random(11, rng=1), 0.1, start_time=2)
    finer = clip.resampled(humanoid, 20)
    assert len(finer) == 21 and finer.frame_time == 0.05 and finer.start_time == 2 and np.allclose(finer.q[::2], clip.q)
    half = humanoid.retract(clip.q[3], 0.5 * humanoid.difference(clip.q[3], clip.q[4]))
    assert np.allclose(finer.q[7], half) and np.allclose(clip.at(humanoid, 2.35), half)
    rows = clip.at(humanoid, [0, 2.1, 9])
    assert rows.shape == (3, humanoid.nq) and (rows[[0, 2]] == clip.q[[0, -1]]).all() and np.allclose(rows[1], clip.q[1])
    part = clip[2:9:3]
    assert (part.q == clip.q[2:9:3]).all() and np.allclose(part.times, clip.times[2:9:3])
    for wrong, error in ((lambda: clip[3], TypeError), (lambda: clip[::-1], TypeError), (lambda: clip.resampled(humanoid, 0), ValueError),
                         (lambda: clip.at(humanoid, np.nan), poise.Error), (lambda: clip.at(poise.scene("arm6"), 2), ValueError)):
        with pytest.raises(error):
            wrong()


def test_markers_between_their_frames():
    positions = np.arange(24.0).reshape(4, 2, 3)
    positions[2, 1] = np.nan
    finer = poise.Markers("ab", positions, 10, 1, 0.001, "z").resampled(20)
    assert len(finer) == 7 and finer.rate == 20 and finer.start_time == 1 and (finer.metres, finer.up) == (0.001, "z")
    assert (finer.positions[:, 0, 0] == np.arange(0, 19, 3)).all() and np.isnan(finer.positions[3:6, 1]).all()
    with pytest.raises(ValueError, match="rate"):
        finer.resampled(-1)


ROBOT = """<robot name="legs"><link name="pelvis"/>{}</robot>""".format("".join(
    f'''<link name="{side}_{name}"/><joint name="{side}_{name}_joint" type="revolute"><parent link="{parent.format(side)}"/>
    <child link="{side}_{name}"/><origin xyz="{xyz.format(sign)}"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" velocity="20" effort="1"/></joint>'''
    for side, sign in (("left", ""), ("right", "-"))
    for name, parent, xyz in (("thigh", "pelvis", "0 {}0.1 0"), ("shin", "{}_thigh", "0 0 -0.45"), ("foot", "{}_shin", "0 0 -0.45"))))


def test_a_robot_of_a_path_walks_freely(body, clip, tmp_path):
    """As `poise retarget` has it; a model that stands fixed stays where it is."""
    (tmp_path / "legs.urdf").write_text(ROBOT)
    q = clip.q.copy()
    q[:, 2] += np.linspace(0, 1, len(q))
    walk = (body, poise.Clip(q, 1 / 60))
    free = poise.retarget(tmp_path / "legs.urdf", walk, source_up="y")
    assert free.model.types[0].startswith("free") and np.ptp(free.model.fk(free.q, "pelvis")[:, :3, 3], axis=0).max() > 0.5
    with pytest.warns(UserWarning, match="stands fixed"):
        fixed = poise.retarget(poise.load(tmp_path / "legs.urdf"), walk, up="z", source_up="y")
    assert fixed.model.nq == free.model.nq - 7


def test_some_frames_of_a_motion(body, clip):
    other = poise.scene("humanoid-euler")
    part = poise.retarget(other, (body, clip), first=30, last=59, up="y", source_up="y")
    assert len(part.clip) == 30 and part.clip.start_time == pytest.approx(0.5)
    assert len(poise.retarget(other, (body, clip), first=30, rate=30, up="y", source_up="y").clip) == 45
    with pytest.raises(ValueError, match="the motion has 120 frames"):
        poise.retarget(other, (body, clip), first=120)


def test_bodies_are_kept_and_joints_held(body, clip):
    pin = "right_hand -0.3 1.3 0.3 from 0.8 s to 1 s fade 0.3"
    places = lambda q: body.fk(q, "head")[:, :3, 3]
    moved = poise.edit((body, clip), pins=pin, metres=1, up="y")
    kept = poise.edit((body, clip), pins=pin, keep="head", metres=1, up="y")
    assert np.abs(places(moved.q) - places(clip.q)).max() > 1e-4 > 1e-6 > np.abs(places(kept.q) - places(clip.q)).max()
    elbow = list(body.coordinates).index("right_elbow")
    held = poise.edit((body, clip), pins=[pin], hold=["right_elbow"], metres=1, up="y")
    assert np.ptp(moved.q[:, elbow]) > 1e-3 and np.array_equal(held.q[:, elbow], clip.q[:, elbow])
    with pytest.raises(poise.Error, match="right_elbw"):
        poise.edit((body, clip), pins=[pin], hold=["right_elbw"])
    with pytest.raises(ValueError, match="no pins"):
        poise.edit((body, clip), hold="right_elbow")


def test_a_joint_that_leaps_along_a_tool_path_is_named():
    arm = poise.scene("arm6")
    q = np.tile([0.1, 0.3, 0.4, 0.1, 0.5, 0.0], (20, 1)) + np.linspace(0, 0.4, 20)[:, None]
    calm = poise.judge_path(arm, q, "tip")
    assert calm and calm.verdict == "good" and calm.findings == []
    q[12] = q[12] * [1, 1, 1, 1, -1, 1] + [0, 0, 0, -np.pi, 0, np.pi]  # the wrist's other answer
    leap = poise.judge_path(arm, q, "tip")
    assert not leap and leap.verdict == "failed" and [f.kind for f in leap.findings] == ["leapt", "leapt"]
    assert leap.findings[0].text.startswith("f") and "from pose 12 to 13" in leap.findings[0].text
    assert [(f.first, f.last) for f in leap.findings] == [(12, 13), (13, 14)]
    assert poise.judge_path(arm, q, "tip", step=4)
    q[12:, 5] += 1
    assert not poise.judge_path(arm, q, step=0.5) and len(poise.judge_path(arm, q, "tip", step=0.5).findings) == 2
    with pytest.raises(poise.Error, match="nose"):
        poise.judge_path(arm, q, "nose")
    with pytest.raises(ValueError):
        poise.judge_path(arm, q[:, :3], "tip")


def test_an_edit_has_a_verdict_with_frames(body, clip):
    hand = body.fk(clip.q[60], "right_hand")[:3, 3]
    near = poise.edit((body, clip), pins=["right_hand {:.6f} {:.6f} {:.6f} from 1 s to 1 s".format(*(hand + [0, 0.03, 0.03]))], up="y")
    assert near and near.verdict == "good" and not near.findings and not near.overlaps_checked
    high = poise.edit((body, clip), pins=["right_hand 0.35 1.2 0.35 from 1 s to 1 s"], metres=1, up="y")
    assert not high and high.verdict == "doubtful" and high.missed == 0
    collar = next(f for f in high.findings if f.kind == "collar")
    assert collar.name == "right_clavicle" and collar.value > 0.5 and high.pins[0].first <= collar.first <= 60 <= collar.last
    assert "right_clavicle" in collar.text and poise.edit((body, clip), reverse=True).verdict is None
