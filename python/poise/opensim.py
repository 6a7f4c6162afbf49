"""What OpenSim's tools do, on OpenSim's own files: models that take on the size of a person, sensors that are followed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from . import _poise
from .files import Clip, File, Markers, opened, read
from .recordings import Finding, Judged, Moved, rows_of_thresholds

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Path = Union[str, "os.PathLike[str]"]


def _bytes(path: _Path) -> bytes:
    with open(path, "rb") as stream:
        return stream.read()


def _beside(path: _Path, name: str) -> str:
    return os.path.join(os.path.dirname(os.fspath(path)), name.replace("\\", os.sep))


class Scaled(Judged):
    """A model of the size of a person, and how far it can be trusted.

    `verdict` is "good", "doubtful" or "failed"; `findings` say why, the worst first. The object is true where it is good. `file`
    holds the scaled `model` with its marker places: hand it to poise.track. `factors` are those of every body along its axes, `q`
    is the static pose; `rms`, `weighted` (by the tasks) and `worst` are what its markers miss by before they move, in metres;
    `placed` counts markers that moved, `absent` are names of the setup that neither file has.
    """

    def __init__(self, parts: dict[str, Any]):
        self.file = File(parts["file"])
        self.q: NDArray[np.float64] = parts["q"]
        self.factors: dict[str, NDArray[np.float64]] = parts["factors"]
        self.verdict: str = parts["verdict"]
        self.findings = [Finding(*row) for row in parts["findings"]]
        self.absent: list[str] = parts["absent"]
        self.rms: float = parts["rms"]
        self.worst: float = parts["worst"]
        self.weighted: float = parts["weighted"]
        self.placed: int = parts["placed"]

    @property
    def model(self) -> _poise.Model:
        """The skeleton as it was scaled."""
        assert self.file.model is not None
        return self.file.model

    def __repr__(self) -> str:
        return f"<poise.Scaled {self.verdict}: {len(self.factors)} bodies, {self.placed} markers placed, rms {1000 * self.rms:.1f} mm>"


def scale(
    model: _Path,
    static: Markers | File | _Path,
    setup: _Path,
    *,
    placements: _Path | None = None,
    thresholds: dict[str, float | tuple[float, float]] | None = None,
) -> Scaled:
    """A generic OpenSim model that takes on the size of a person: all that `poise scale` does.

    `model` is the path of an .osim, `static` a trial of someone who stands still, `setup` the ScaleTool that says what to
    measure; `placements` is a MarkerSet, by default the one that the setup names.

    A doubtful answer raises nothing: look at its verdict.
    """
    trial = opened(static)
    markers = trial.markers if isinstance(trial, File) else trial
    if not isinstance(markers, Markers):
        raise _poise.Error("static: there are no markers; a static trial comes from TRC, C3D or JSON")
    words = _bytes(setup)
    named = _poise.scale_marker_set(words) if placements is None else ""
    places = placements if placements is not None else _beside(setup, named) if named else None
    return Scaled(_poise.scale(_bytes(model), None if places is None else _bytes(places), words, markers._parts(), rows_of_thresholds(thresholds)))


class SensorTrack(Judged, Moved):
    """A motion that follows sensors of orientation, and how far it can be trusted.

    `verdict` is "good", "doubtful" or "failed"; `findings` say why. It is true where it is good. `clip` moves `model`; `angles`
    (frames) are what the sensors are off their bodies by, root mean square in radians; `sensors` says which body carries which;
    `heading` is the turn in radians that brought the sensors' world to the model's.
    """

    def __init__(self, model: _poise.Model, parts: dict[str, Any]):
        self.model = model
        self.clip = Clip(*parts["clip"])
        self.angles: NDArray[np.float64] = parts["angles"]
        self.sensors: dict[str, str] = parts["sensors"]
        self.verdict: str = parts["verdict"]
        self.findings = [Finding(*row) for row in parts["findings"]]
        self.heading: float = parts["heading"]

    def __repr__(self) -> str:
        off = np.degrees(np.sqrt(np.mean(self.angles**2)))
        return f"<poise.SensorTrack {self.verdict}: {len(self.clip)} frames, {len(self.sensors)} sensors, rms {off:.1f} degrees>"


def track_sensors(
    model: File | _Path,
    recording: _Path,
    setup: _Path,
    *,
    calibration: _Path | None = None,
    first: int = 0,
    last: int | None = None,
    thresholds: dict[str, float | tuple[float, float]] | None = None,
) -> SensorTrack:
    """A motion of an OpenSim model that follows sensors of orientation, as OpenSense has them: `poise track --sensors`.

    `recording` is a .sto of quaternions, `setup` an IMUPlacer, which names the calibration beside it unless one is given.
    Sensors are called after bodies, with or without "_imu".

    A doubtful answer raises nothing: look at its verdict.
    """
    skeleton = model if isinstance(model, File) else read(model)
    if skeleton.model is None or not skeleton.postures:
        raise _poise.Error("model: expected a skeleton with a posture to begin with, as OpenSim's have it")
    words = _bytes(setup)
    named = _poise.sensor_file(words) if calibration is None else ""
    upright = calibration if calibration is not None else _beside(setup, named) if named else None
    return SensorTrack(skeleton.model, _poise.follow_sensors(
        skeleton.model, next(iter(skeleton.postures.values())), _bytes(recording), None if upright is None else _bytes(upright), words,
        first, -1 if last is None else last, rows_of_thresholds(thresholds),
    ))
