"""OpenSim's own files: scaling, and sensors of orientation."""

import numpy as np
import poise
import pytest


def test_a_model_takes_on_the_size_of_a_person(data):
    folder = data("osim/scale")
    given = folder / "gait2354_simbody.osim", folder / "subject01_static.trc", folder / "subject01_Setup_Scale.xml"
    scaled = poise.scale(*given)
    wanted = poise.load(folder / "std_subject01_simbody.osim")  # by OpenSim
    assert scaled.verdict in ("good", "doubtful") and bool(scaled) == (scaled.verdict == "good") and scaled.placed > 20
    at = [model.fk(model.neutral())[:, :3, 3] for model in (scaled.model, wanted)]
    names = [name for name in scaled.model.bodies if name in wanted.bodies]
    pairs = [(at[0][scaled.model.bodies.index(name)], at[1][wanted.bodies.index(name)]) for name in names]
    assert len(names) > 10 and max(np.abs(a - b).max() for a, b in pairs) < 1e-4
    assert scaled.factors["torso"].shape == (3,) and 0 < scaled.rms <= scaled.worst < 0.1 and scaled.q.shape == (scaled.model.nq,)
    assert "markers placed" in repr(scaled)
    track = poise.track(scaled.file, given[1])
    assert track.rms < scaled.rms
    strict = poise.scale(*given, thresholds={"size": (1.0, 1.0)})
    assert strict.verdict == "failed" and not strict
    with pytest.raises(poise.Error, match="no markers"):
        poise.scale(given[0], given[0], given[2])


def test_sensors_are_followed(data):
    folder = data("osim/imu")
    given = folder / "subject07.osim", folder / "MT_012005D6_009-quaternions_RHJCSwinger.sto", folder / "imuPlacerFaceNegX.xml"
    track = poise.track_sensors(*given, last=40)
    assert track and len(track.clip) == 41 and len(track.sensors) == 8 and track.sensors["pelvis_imu"] == "pelvis"
    assert np.degrees(np.sqrt(np.mean(track.angles**2))) == pytest.approx(6.139, abs=1e-3)  # as the command prints it
    assert np.degrees(track.heading) == pytest.approx(113.238, abs=1e-3) and "8 sensors" in repr(track)
    other = poise.track_sensors(given[0], given[1], folder / "imuPlacer.xml", last=40, thresholds={"turned": 0.1})
    assert other.verdict == "doubtful" and not other and other.findings[0].kind == "turned"
    with pytest.raises(ValueError, match="the recording has"):
        poise.track_sensors(*given, first=10**6)
    with pytest.raises(poise.Error, match="a skeleton with a posture"):
        poise.track_sensors(poise.parse(poise.dump("a.json", poise.scene("arm6")), "a.json"), *given[1:])
