"""Recordings: markers, or another skeleton's motion, become a motion with a verdict."""

from __future__ import annotations

import os
from typing import Any, NamedTuple, Sequence

import numpy as np

from . import _poise
from .files import _UP, Clip, File, Markers, opened


class Finding(NamedTuple):
    """One thing that was found about a track; `level` "good" is worth knowing and no fault."""

    kind: str
    level: str
    name: str | None
    other: str | None
    value: float
    text: str

    def __str__(self) -> str:
        return self.text


class Track:
    """A motion that follows a recording, and how far it can be trusted.

    `verdict` is "good", "doubtful" or "failed"; `findings` say why, the worst first. A track is true where it is good.
    `clip` moves `model`, the skeleton as it was fitted. `residuals` are what the markers of each frame miss by (root mean
    square), `distances` those of every marker in every frame, NaN where it was not seen; `deviations` the standard deviation of
    every degree of freedom, infinite where no marker determines it. `held` are the frames that could not be trusted and hold
    the last good pose, `away` those before the person has come and after they have left. Lengths are in the skeleton's unit, `metres`.
    """

    def __init__(self, parts: dict[str, Any]):
        self.model: _poise.Model = parts["model"]
        self.clip = Clip(*parts["clip"])
        labels, positions, rate, start, metres, up = parts["markers"]
        self.markers = Markers(labels, positions, rate, start, metres, _UP[up])
        self.placements = {label: (body, point, weight) for label, body, point, weight in parts["placements"]}
        self.verdict: str = parts["verdict"]
        self.findings = [Finding(*row) for row in parts["findings"]]
        self.residuals: np.ndarray = parts["frames"][:, 0].copy()
        self.held: np.ndarray = parts["frames"][:, 2] != 0
        self.away: np.ndarray = parts["frames"][:, 3] != 0
        self.distances: np.ndarray = parts["distances"]
        self.deviations: np.ndarray = parts["deviations"]
        self.mean: float = parts["mean"]
        self.rms: float = parts["rms"]
        self.first: int = parts["first"]
        self.metres: float = parts["metres"]
        self.up: str = _UP[parts["up"]]
        self.is_calibrated: bool = parts["is_calibrated"]
        self.size: float = parts["size"]

    @property
    def q(self) -> np.ndarray:
        """The configurations: a row of nq numbers for every frame."""
        return self.clip.q

    @property
    def left_out(self) -> list[str]:
        """Markers that nothing says the place of."""
        return [f.name or "" for f in self.findings if f.kind == "left_out"]

    @property
    def undetermined(self) -> list[str]:
        """Joints that no marker determines."""
        return [f.name or "" for f in self.findings if f.kind == "joint"]

    def __bool__(self) -> bool:
        return self.verdict == "good"

    def __repr__(self) -> str:
        why = "".join(f"; {f.text}" for f in self.findings[:1] if f.level != "good")
        return f"<poise.Track {self.verdict}: {len(self.clip)} frames, {len(self.placements)} markers{why}>"


def _skeleton(model: _poise.Model | File, metres: float, up: str) -> File:
    if isinstance(model, File):
        if model.model is None:
            raise _poise.Error("there is no skeleton in this file; give one to be moved")
        return model
    parts = dict(format="unknown", title=None, model=model, clip=None, markers=None, postures={}, placements={}, warnings=[])
    return File({**parts, "metres": metres, "up": _UP.index(up)})


def track(
    model: _poise.Model | File | str | os.PathLike,
    recording: Markers | File | tuple[_poise.Model, Clip] | str | os.PathLike,
    *,
    placements: dict[str, tuple[int | str, Sequence[float], float]] | None = None,
    labels: str | None = None,
    subject: str | None = None,
    pairs: Sequence[str] = (),
    thresholds: dict[str, float | tuple[float, float]] | None = None,
    metres: float = 0.0,
    up: str = "",
    source_metres: float = 0.0,
    source_up: str = "",
    **options: Any,
) -> Track:
    """A motion of `model` that follows a recording, with a verdict: all that `poise track` does.

    `model` is a skeleton, or the file that it came from, which knows marker places, unit and axes as well. `recording` is
    markers, a file that holds some or a motion, or a model with its clip; paths are read. `placements`, label -> (body, point, weight), say
    where markers sit; those that they do not name are placed by their common names, and calibrated. `subject` chooses among
    several people. `thresholds`, such as {"moved": (1.5, 3), "held": 0.05}, say beyond which values the track is doubtful, and
    failed; the others are those of docs/recordings.md. Options: first, last, rate, fit ("decide", "none", "places", "uniform", "segments"), whole, lag, knot, noise,
    velocity, acceleration, limits, robust, outlier, smoothness, max_turn, least_markers, calibration_frames, only_placements,
    keep_size, chunk, threads.

    A doubtful fit raises nothing: look at the track's verdict.
    """
    skeleton = _skeleton(opened(model), metres, up)
    source: Any = opened(recording)
    if isinstance(source, tuple):
        source = _skeleton(source[0], source_metres, source_up)
        source.clip = recording[1]  # type: ignore[index]
    if not isinstance(source, (File, Markers)):
        raise TypeError(f"recording: poise.Markers, a file, its path, or (model, clip) is wanted, not {source!r}")
    markers = source if isinstance(source, Markers) else source.markers
    if markers is None and (source.clip is None or source.model is None):
        raise _poise.Error("there is nothing to follow: neither markers, nor a motion with its skeleton")
    places = skeleton.placements if placements is None else placements
    rows = tuple((label, _body(skeleton.model, body), tuple(point), weight) for label, (body, point, weight) in places.items())
    parts = None
    if markers is not None:
        parts = (markers.labels, markers.positions, markers.rate, markers.start_time, markers.metres, _UP.index(markers.up))
    clip = None if source is markers or source.clip is None else source.clip
    return Track(_poise.track(
        skeleton.model, metres or skeleton.metres, _UP.index(up or skeleton.up), rows,
        skeleton.postures.get("default") if skeleton.format == "osim" else None, parts,
        None if parts else source.model, None if parts else (clip.q, clip.frame_time, clip.start_time),
        source_metres or (0.0 if parts else source.metres), _UP.index(source_up or ("" if parts else source.up)),
        labels, subject, tuple(pairs), tuple((kind, *_limits(value)) for kind, value in (thresholds or {}).items()), **options,
    ))


def _limits(value: float | tuple[float, float]) -> tuple[float, float]:
    return (value[0], value[1]) if isinstance(value, (tuple, list)) else (value, -1.0)


def _body(model: Any, body: int | str) -> int:
    if isinstance(body, str) and body not in model.bodies:
        raise _poise.Error(f'placements: no body is called "{body}"')
    return model.bodies.index(body) if isinstance(body, str) else body
