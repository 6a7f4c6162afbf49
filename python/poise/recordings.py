"""Recordings: markers, or another skeleton's motion, become a motion with a verdict."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Mapping, NamedTuple, Sequence, cast

import numpy as np

from . import _poise
from .files import _UP, Clip, File, Markers, did_you_mean, number_of_axis, opened

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Finding(NamedTuple):
    """One thing that was found about a track; `level` "good" is worth knowing and no fault. `first` and `last` are frames, or poses
    of a path from 1; 0 where there are none."""

    kind: str
    level: str
    name: str | None
    other: str | None
    value: float
    text: str
    first: int = 0
    last: int = 0

    def __str__(self) -> str:
        return self.text


class Judged:
    """What has a verdict is true where that is good."""

    verdict: str

    def __bool__(self) -> bool:
        return self.verdict == "good"


class Moved:
    """What has a clip."""

    clip: Clip

    @property
    def q(self) -> NDArray[np.float64]:
        """The configurations: a row of nq numbers for every frame."""
        return self.clip.q


class Track(Judged, Moved):
    """A motion that follows a recording, and how far it can be trusted.

    `verdict` is "good", "doubtful" or "failed"; `findings` say why, the worst first. A track is true where it is good.
    `clip` moves `model`, the skeleton as it was fitted. `residuals` are what the markers of each frame miss by (root mean
    square), NaN where none was seen, `distances` those of every marker in every frame, NaN where it was not seen; `deviations` the standard deviation of
    every degree of freedom, infinite where no marker determines it. `held` are the frames that could not be trusted and hold
    the last good pose, `away` those before the person has come and after they have left. Lengths are in the skeleton's unit, `metres`.
    `measures` has all else that was measured, by the names of the C library: "summary" (poise_track_summary), "calibration",
    "match" (units and axes), "places", "figure", "retarget" and "sequence".
    """

    def __init__(self, parts: dict[str, Any]):
        self.model: _poise.Model = parts["model"]
        self.clip = Clip(*parts["clip"])
        labels, positions, rate, start, metres, up = parts["markers"]
        self.markers = Markers(labels, positions, rate, start, metres, _UP[up])
        self.placements = {label: (body, point, weight) for label, body, point, weight in parts["placements"]}
        self.verdict: str = parts["verdict"]
        self.findings = [Finding(*row) for row in parts["findings"]]
        self.held: NDArray[np.bool_] = parts["frames"][:, 2] != 0
        self.away: NDArray[np.bool_] = parts["frames"][:, 3] != 0
        self.distances: NDArray[np.float64] = parts["distances"]
        unseen = self.away | np.isnan(self.distances).all(1)
        self.residuals: NDArray[np.float64] = np.where(unseen, np.nan, parts["frames"][:, 0])
        self.deviations: NDArray[np.float64] = parts["deviations"]
        self.measures: dict[str, dict[str, Any]] = parts["measures"]
        self.mean: float = self.measures["summary"]["mean"]
        self.rms: float = self.measures["summary"]["rms"]
        self.first: int = parts["first"]
        self.metres: float = parts["metres"]
        self.up: str = _UP[parts["up"]]
        self.is_calibrated: bool = parts["is_calibrated"]
        self.size: float = parts["size"]

    @property
    def left_out(self) -> list[str]:
        """Markers that nothing says the place of."""
        return [f.name or "" for f in self.findings if f.kind == "left_out"]

    @property
    def undetermined(self) -> list[str]:
        """Joints that no marker determines."""
        return [f.name or "" for f in self.findings if f.kind == "joint"]

    def __repr__(self) -> str:
        why = "".join(f"; {f.text}" for f in self.findings[:1] if f.level != "good")
        return f"<poise.Track {self.verdict}: {len(self.clip)} frames, {len(self.placements)} markers{why}>"


def _skeleton(model: _poise.Model | File, metres: float, up: str) -> File:
    if isinstance(model, File):
        if model.model is None:
            raise _poise.Error("there is no skeleton in this file; give one to be moved")
        return model
    if not isinstance(model, _poise.Model):
        raise TypeError(f"model: expected a poise.Model, a file or its path, got {model!r}")
    parts: dict[str, Any] = dict(format="unknown", title=None, model=model, clip=None, markers=None, postures={}, placements={}, excluded=[], warnings=[])
    return File({**parts, "metres": metres, "up": number_of_axis(up)})


def _followed(recording: Any, metres: float, up: str) -> tuple[Markers | None, File | None]:
    """What there is to follow: markers, or else a motion with its skeleton."""
    source = opened(recording)
    if isinstance(source, Markers):
        return source, None
    if isinstance(source, (tuple, list)) and len(source) == 2:
        moving, clip = source
        source = _skeleton(moving, metres, up)
        source.clip = clip
    if not isinstance(source, File):
        raise TypeError(f"recording: expected poise.Markers, a file, its path, or (model, clip), got {source!r}")
    if source.markers is None and (source.clip is None or source.model is None):
        raise _poise.Error("there is nothing to follow: neither markers, nor a motion with its skeleton")
    return (source.markers, None) if source.markers is not None else (None, source)


def track(
    model: _poise.Model | File | str | os.PathLike[str],
    recording: Markers | File | tuple[_poise.Model, Clip] | str | os.PathLike[str],
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
    markers, motion = _followed(recording, source_metres, source_up)
    places: Mapping[str, Any] = cast(Any, skeleton.placements if placements is None else placements)
    if not isinstance(places, Mapping):
        raise TypeError(f"placements: expected a dictionary, label -> (body, point, weight), got {places!r}")
    rows = tuple((label, _body(skeleton.model, body), tuple(point), weight) for label, (body, point, weight) in places.items())
    marked = moved = None
    if markers is not None:
        marked = markers._parts()
    elif motion is not None and motion.clip is not None:
        moved = (motion.clip.q, motion.clip.frame_time, motion.clip.start_time)
        source_metres, source_up = source_metres or motion.metres, source_up or motion.up
    return Track(_poise.track(
        skeleton.model, metres or skeleton.metres, number_of_axis(up or skeleton.up), rows,
        skeleton.postures.get("default") if skeleton.format == "osim" else None, marked,
        motion.model if motion else None, moved, source_metres, number_of_axis(source_up),
        labels, subject, tuple(pairs), rows_of_thresholds(thresholds), **options,
    ))


def rows_of_thresholds(thresholds: dict[str, float | tuple[float, float]] | None) -> tuple[tuple[Any, ...], ...]:
    """As the C side takes them."""
    return tuple((kind, *_limits(value)) for kind, value in (thresholds or {}).items())


def _limits(value: float | tuple[float, float]) -> tuple[float, float]:
    return (value[0], value[1]) if isinstance(value, (tuple, list)) else (value, -1.0)


def _body(model: _poise.Model | None, body: int | str) -> int:
    bodies = model.bodies if model else ()
    if isinstance(body, str) and body not in bodies:
        raise _poise.Error(f'placements: no body is called "{body}"{did_you_mean(body, bodies)}')
    return bodies.index(body) if isinstance(body, str) else body
