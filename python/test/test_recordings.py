"""A recording becomes a motion with a verdict."""

import numpy as np
import poise
import pytest


@pytest.fixture(scope="module")
def body():
    return poise.scene("humanoid")


@pytest.fixture(scope="module")
def places(body):
    return {name: (name, (0, 0, 0), 1) for name in body.bodies}


@pytest.fixture
def recording(body):
    q = np.tile(body.neutral(), (12, 1))
    q[:, list(body.coordinates).index("left_elbow")] = np.linspace(0.1, 1, 12)
    return q, poise.Markers(body.bodies, 1000 * body.fk(q)[:, :, :3, 3], rate=50, metres=0.001, up="y")


def test_exact_points_give_the_motion(body, places, recording):
    q, markers = recording
    before = markers.positions.copy()
    track = poise.track(body, markers, placements=places, metres=1, up="y", first=2, threads=1)
    assert track and track.verdict == "good" and track.model is body and track.first == 2
    assert track.q.shape == (10, body.nq) and track.residuals.shape == (10,) and not track.held.any()
    assert track.deviations.shape == (10, body.nv) and track.distances.shape == (10, len(body.bodies))
    assert track.residuals.max() < 1e-3 and track.metres == 1 and track.up == "y"
    elbow = list(body.coordinates).index("left_elbow")
    assert np.abs(track.q[:, elbow] - q[2:, elbow]).max() < 0.01
    assert np.array_equal(markers.positions, before)


def test_a_doubtful_track_is_false_and_says_why(body, places, recording):
    markers = recording[1]
    markers.positions[:, body.bodies.index("left_shin")] += 300
    track = poise.track(body, markers, placements=places, metres=1, up="y", robust=False)
    assert not track and track.verdict in ("doubtful", "failed")
    assert track.findings[0].level == track.verdict and len(str(track.findings[0])) > 10
    assert track.findings[0].text in repr(track)


def test_frames_before_a_person_comes_are_not_held(body, places, recording):
    markers = recording[1]
    markers.positions[:3] = np.nan
    track = poise.track(body, markers, placements=places, metres=1, up="y")
    assert track and list(np.flatnonzero(track.away)) == [0, 1, 2] and not track.held.any()
    assert np.isnan(track.residuals[:3]).all() and track.residuals[3:].max() < 1e-3


def test_limits_may_be_left(body, places, recording):
    elbow = list(body.coordinates).index("left_elbow")
    q = recording[0]
    q[:, elbow] = body.lower[elbow] - 0.3
    markers = poise.Markers(body.bodies, body.fk(q)[:, :, :3, 3], rate=50, metres=1, up="y")
    held = poise.track(body, markers, placements=places, metres=1, up="y").q[:, elbow]
    free = poise.track(body, markers, placements=places, metres=1, up="y", limits=False).q[:, elbow]
    assert held.min() >= body.lower[elbow] and np.abs(free - q[:, elbow]).max() < 1e-3


def test_thresholds_move_the_verdict(body, places, recording):
    def verdict(thresholds):
        return poise.track(body, recording[1], placements=places, metres=1, up="y", thresholds=thresholds).verdict
    assert verdict(None) == verdict({"given": 1}) == "good"
    assert verdict({"unseen": 0}) == verdict({"unseen": (0, 0.9)}) == "doubtful"
    assert verdict({"unseen": (0, 0)}) == "failed"


def test_a_motion_is_followed_by_its_bodies(body, recording):
    clip = poise.Clip(recording[0], frame_time=0.02)
    other = poise.scene("humanoid-euler")
    track = poise.track(other, (body, clip), metres=1, up="y", source_metres=1, source_up="y")
    assert len(track.clip) == 12 and track.rms < 0.01


@pytest.mark.parametrize("options, error, text", [
    ({"subject": "Anna"}, poise.Error, "Anna"),
    ({"first": 99}, poise.Error, "frames 0 to 11"),
    ({"thresholds": {"mist": 1}}, ValueError, "mist"),
    ({"thresholds": {"joint": 1}}, ValueError, "joint"),
    ({"thresholds": {"miss": -1}}, ValueError, "negative"),
    ({"frist": 1}, TypeError, "first"),
    ({"fit": "all"}, ValueError, "segments"),
    ({"labels": "LKNE nowhere at all"}, poise.Error, ""),
])
def test_what_cannot_be_done_is_refused(body, places, recording, options, error, text):
    with pytest.raises(error, match=text):
        poise.track(body, recording[1], placements=places, **options)


def test_bad_places_are_refused(body, recording):
    with pytest.raises(ValueError, match="out of range"):
        poise.track(body, recording[1], placements={"pelvis": (1000, (0, 0, 0), 1)})
    with pytest.raises(poise.Error, match="nothing to follow"):
        poise.track(body, (body, None))
    with pytest.raises(TypeError, match="label -> "):
        poise.track(body, recording[1], placements=[("pelvis", (0, 0, 0), 1)])
    with pytest.raises(TypeError, match="a poise.Model, a file"):
        poise.track(7, recording[1])


def test_a_published_take_by_its_names(tmp_path, data):
    skeleton = poise.read(data("hdm05/HDM_dg.asf"))
    take = poise.read(data("hdm05/HDM_dg_01-03_01_120.c3d"))
    track = poise.track(skeleton, take, last=240)
    assert track.is_calibrated and len(track.placements) > 35
    assert {f.kind for f in track.findings if f.level != "good"} <= {"at_limit"}  # the limits of an ASF are a template's
    poise.save(tmp_path / "take.bvh", track.model, clip=track.clip, metres=track.metres, up=track.up)
