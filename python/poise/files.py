"""Files: skeletons, motions and recordings, in and out."""

from __future__ import annotations

import copyreg
import math
import os
import warnings
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence

import numpy as np

from . import _poise

if TYPE_CHECKING:
    from numpy.typing import NDArray

_UP = ("", "x", "y", "z")
_MOST_WARNINGS = 5


def number_of_axis(up: str) -> int:
    """1 to 3 for "x", "y", "z", and 0 for the axis that nobody knows, ""."""
    if up not in _UP:
        raise ValueError(f"up={up!r}: expected 'x', 'y', 'z' or ''")
    return _UP.index(up)


class Clip:
    """A motion: q has a row of nq numbers for every frame."""

    def __init__(self, q: Any, frame_time: float, start_time: float = 0.0):
        self.q = np.ascontiguousarray(q, dtype=np.float64)
        self.frame_time = float(frame_time)
        if self.q.ndim != 2 or not self.frame_time > 0:
            raise ValueError("a clip has a row of numbers for every frame, and a frame_time > 0")
        self.start_time = float(start_time)

    @property
    def times(self) -> NDArray[np.float64]:
        """Seconds, of every frame."""
        return self.start_time + self.frame_time * np.arange(len(self.q))

    def __len__(self) -> int:
        return len(self.q)

    def __getitem__(self, frames: slice) -> Clip:
        """Part of the motion: clip[20:100], or every second frame, clip[::2]."""
        if not isinstance(frames, slice) or (frames.step or 1) < 1:
            raise TypeError(f"a clip gives part of itself, clip[20:100]; a frame is clip.q[{frames!r}]")
        first, _, step = frames.indices(len(self))
        return Clip(self.q[frames], self.frame_time * step, self.start_time + first * self.frame_time)

    def at(self, model: _poise.Model, times: Any) -> NDArray[np.float64]:
        """The configuration at a time in seconds, or a row for each of several: each joint goes its shortest way from frame to frame.

        Times before and after the clip give its first and its last frame.
        """
        when = np.asarray(times, dtype=np.float64)
        rows = _poise.sample_clip(model, (self.q, self.frame_time, self.start_time), np.atleast_1d(when))
        return rows.reshape(*when.shape, self.q.shape[1])

    def resampled(self, model: _poise.Model, rate: float) -> Clip:
        """The same motion with `rate` frames a second, in between as `at` has them."""
        if not rate > 0:
            raise ValueError(f"rate={rate!r}: expected frames a second, > 0")
        made, _ = _poise.change_clip(model, (self.q, self.frame_time, self.start_time), "resample", None, 1 / rate, 0)
        return Clip(*made)

    def __repr__(self) -> str:
        return f"<poise.Clip: {len(self.q)} frame{'' if len(self.q) == 1 else 's'} of {self.q.shape[1]} numbers, {1 / self.frame_time:g} a second>"


class Markers:
    """A recording: positions (frames, markers, 3), NaN where a marker was not seen."""

    def __init__(
        self,
        labels: Sequence[str],
        positions: Any,
        rate: float,
        start_time: float = 0.0,
        metres: float = 0.0,
        up: str = "",
    ):
        self.labels = tuple(labels)
        self.positions = np.ascontiguousarray(positions, dtype=np.float64)
        self.rate = float(rate)
        self.start_time = float(start_time)
        self.metres = float(metres)
        self.up = up
        number_of_axis(up)
        if self.positions.shape[1:] != (len(self.labels), 3) or not self.rate > 0:
            raise ValueError("markers: expected positions of shape (frames, len(labels), 3) and a rate > 0")

    @property
    def times(self) -> NDArray[np.float64]:
        """Seconds, of every frame."""
        return self.start_time + np.arange(len(self.positions)) / self.rate

    def __len__(self) -> int:
        return len(self.positions)

    def resampled(self, rate: float) -> Markers:
        """The same recording with `rate` frames a second, in between on straight lines, a gap beside every gap."""
        if not rate > 0:
            raise ValueError(f"rate={rate!r}: expected frames a second, > 0")
        labels, positions, made, start, metres, up = _poise.resample_markers(self._parts(), float(rate))
        return Markers(labels, positions, made, start, metres, _UP[up])

    def _parts(self) -> tuple[Any, ...]:
        """As the C side takes it."""
        return self.labels, self.positions, self.rate, self.start_time, self.metres, number_of_axis(self.up)

    def __repr__(self) -> str:
        return f"<poise.Markers: {len(self.positions)} frames of {len(self.labels)} markers, {self.rate:g} a second>"


class File:
    """What was in a file: model, clip and markers, None where it holds none.

    `postures` are configurations by name, `placements` where markers sit, label -> (body, point, weight), `excluded` pairs of
    bodies whose shapes may touch (MJCF, SRDF; None is the world), `warnings` what was odd, `metres` the unit of length
    (0: unknown), `up` the axis that points upwards ("": unknown).
    """

    def __init__(self, parts: dict[str, Any]):
        self.format: str = parts["format"]
        self.title: str | None = parts["title"]
        self.model: _poise.Model | None = parts["model"]
        self.clip: Clip | None = Clip(*parts["clip"]) if parts["clip"] else None
        self.markers: Markers | None = None
        if parts["markers"]:
            labels, positions, rate, start, metres, up = parts["markers"]
            self.markers = Markers(labels, positions, rate, start, metres, _UP[up])
        self.postures: dict[str, NDArray[np.float64]] = parts["postures"]
        self.placements: dict[str, tuple[int, tuple[float, float, float], float]] = parts["placements"]
        self.excluded: list[tuple[str | None, str | None]] = parts["excluded"]
        self.warnings: list[str] = parts["warnings"]
        self.metres: float = parts["metres"]
        self.up: str = _UP[parts["up"]]

    def __repr__(self) -> str:
        parts = [repr(part) for part in (self.model, self.clip, self.markers) if part is not None]
        parts += [f"{len(self.postures)} posture{'s'[len(self.postures) == 1:]}"] if self.postures else []
        return f"<poise.File {self.format}: {', '.join(parts) or 'nothing'}>"


def _find(folder: str, name: str) -> str:
    """Where a file that another names is: "package://panda/hand.stl" beside it and in the folders above, with and without
    the name of the package."""
    places = _poise.named_files(folder, name)
    return next(filter(os.path.isfile, places), places[0])


def parse(
    data: bytes | str,
    name: str,
    *,
    folder: str | os.PathLike[str] = "",
    model: _poise.Model | None = None,
    floating: bool = False,
    animation: int | str = 0,
    meshes: bool = False,
    ignore_follower_limits: bool = False,
) -> File:
    """What poise.read gives for a file of this name that holds `data`: poise.parse(xacro_output, "robot.urdf").model.

    Files that it names are looked for in `folder`.
    """

    def beside(other: str) -> bytes:
        with open(_find(os.fspath(folder), other), "rb") as stream:
            return stream.read()

    data = data.encode() if isinstance(data, str) else data
    number, called = (0, animation) if isinstance(animation, str) else (animation, None)
    return File(
        _poise.read(
            data,
            name,
            model=model,
            floating=floating,
            animation=number,
            animation_name=called,
            load=beside,
            meshes=meshes,
            ignore_follower_limits=ignore_follower_limits,
        )
    )


def read(
    path: str | os.PathLike[str],
    *,
    model: _poise.Model | None = None,
    floating: bool = False,
    animation: int | str = 0,
    meshes: bool = False,
    ignore_follower_limits: bool = False,
) -> File:
    """Read a file of any format that Poise knows.

    URDF, MJCF, BVH, ASF, AMC (which needs the ASF's model), C3D, TRC, MOT (which needs a model), glTF, OpenSim and Poise's
    own JSON. `floating` gives a robot a free root; `animation` chooses among those of a glTF, by number or name; `meshes`
    covers collision meshes of URDF and MJCF (STL, OBJ, COLLADA) with shapes that solve(..., avoid=True) keeps apart. Limits of
    a joint that follows another (a mimic) narrow those of the other, with a warning, unless `ignore_follower_limits`.
    """
    path = os.fspath(path)
    folder, name = os.path.split(path)
    if isinstance(path, str) and path.startswith("scene:") and not os.path.exists(path):
        raise _poise.Error(f'{path}: is no file; poise.scene("{path[6:].split("/")[0]}") gives the scene of this name')
    with open(path, "rb") as stream:
        data = stream.read()
    try:
        file = parse(
            data,
            name,
            folder=folder,
            model=model,
            floating=floating,
            animation=animation,
            meshes=meshes,
            ignore_follower_limits=ignore_follower_limits,
        )
    except _poise.Error as refusal:
        refusal.args = (f"{path}: {refusal}",)
        raise
    if file.model is not None and not floating:
        file.model.source = os.path.abspath(path)
    return file


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """The end of a refusal: which of the names may be meant; empty where none is near."""
    import difflib

    near = difflib.get_close_matches(name, list(names), 1)
    return f'; did you mean "{near[0]}"?' if near else ""


def opened(source: Any, *, floating: bool = False) -> Any:
    """What a path names, read; anything else as it is."""
    return read(source, floating=floating) if isinstance(source, (str, os.PathLike)) else source


def _warn_of(path: str | os.PathLike[str], file: File) -> None:
    for text in file.warnings[:_MOST_WARNINGS]:
        warnings.warn(f"{os.fspath(path)}: {text}", stacklevel=3)
    if len(file.warnings) > _MOST_WARNINGS:
        warnings.warn(f"{os.fspath(path)}: {len(file.warnings) - _MOST_WARNINGS} more; poise.read lists them", stacklevel=3)


def load(
    path: str | os.PathLike[str],
    *,
    floating: bool = False,
    meshes: bool = False,
    srdf: str | os.PathLike[str] | None = None,
    ignore_follower_limits: bool = False,
) -> _poise.Model:
    """The skeleton in a file, with its loops and collision shapes: a robot, a character.

    `srdf` is MoveIt's file of the robot, whose pairs of links may touch. What was odd is warned of; poise.read gives all that
    a file holds, and says what `meshes` and `ignore_follower_limits` do.
    """
    file = read(path, floating=floating, meshes=meshes, ignore_follower_limits=ignore_follower_limits)
    if file.model is None:
        raise _poise.Error(f"{os.fspath(path)}: there is no skeleton in this file; poise.read gives what there is")
    _warn_of(path, file)
    if srdf is not None:
        more = read(srdf, model=file.model)
        if more.format != "srdf":
            raise _poise.Error(f"{os.fspath(srdf)}: is not an SRDF file")
        _warn_of(srdf, more)
        file.model.exclude(more.excluded)
    return file.model


def dh(rows: Iterable[Sequence[float] | Mapping[str, Any]], *, convention: str = "classic", degrees: bool = False) -> _poise.Model:
    """An arm from its Denavit-Hartenberg table: for each joint a row a, alpha, d, theta, and if it has limits lower, upper.

    A row may be a dictionary instead, with `name` and `type` ("revolute", "prismatic" or "fixed") as well. The joint's value
    adds to theta, or to d. `convention` is "classic" or "modified" (Craig's). Joints without a name are q1, q2, ...; the frame
    behind the last is a tool, robot.tools[0]. Lengths are in metres, angles in radians, or with `degrees` in degrees.
    """
    columns = ("a", "alpha", "d", "theta", "lower", "upper")
    if convention not in ("classic", "modified"):
        raise ValueError(f"convention={convention!r}: expected 'classic' or 'modified'")
    unit, lines = "_deg" if degrees else "_rad", []
    for i, row in enumerate(rows, 1):
        given: dict[str, Any] = dict(row) if isinstance(row, Mapping) else dict(zip(columns, row)) if len(row) in (4, 6) else {"": None}
        odd = [name for name in given if name not in (*columns, "name", "type")] + [name for name in columns[:4] if name not in given]
        if odd:
            raise ValueError(f"row {i}: expected a, alpha, d, theta, and lower, upper or none, got {row!r}")
        kind, name = given.get("type", "revolute"), str(given.get("name", f"q{i}"))
        try:
            numbers = [None if given.get(column) is None else float(given[column]) for column in columns]
        except (TypeError, ValueError):
            raise ValueError(f"row {i}: expected numbers, got {row!r}") from None
        cells = ["" if number is None or math.isinf(number) else repr(number) for number in numbers]
        if any(mark in name for mark in ',;\t\n"'):
            raise ValueError(f"row {i}: the name {name!r} has a separator in it")
        lines.append(",".join([name, str(kind), *cells]))
    head = f"name,type,a_m,alpha{unit},d_m,theta{unit},lower,upper"
    model = parse("\n".join([f"# convention: {convention}", head, *lines, ""]), "arm.csv").model
    assert model is not None
    return model


def dump(
    name: str,
    model: _poise.Model | None = None,
    *,
    clip: Clip | None = None,
    markers: Markers | None = None,
    metres: float = 0.0,
    up: str = "",
) -> bytes:
    """What poise.save would write into a file of this name. What it cannot hold is warned of."""
    name = os.fspath(name)
    if model is None and clip is None and markers is None:
        raise ValueError("there is nothing to save: give a model, a clip or markers")
    if not (clip is None or isinstance(clip, Clip)) or not (markers is None or isinstance(markers, Markers)):
        raise TypeError("clip and markers are a poise.Clip and poise.Markers")
    clip_parts = None if clip is None else (clip.q, clip.frame_time, clip.start_time)
    marker_parts = None if markers is None else markers._parts()
    if clip is not None and name.lower().endswith(".csv"):
        raise ValueError(f"{name}: a table of links, which is what a .csv file is here, holds no motion; numpy.savetxt writes clip.q")
    data, lost = _poise.write(name, model, clip_parts, marker_parts, metres, number_of_axis(up))
    for text in lost[:_MOST_WARNINGS]:
        warnings.warn(f"{name}: {text}", stacklevel=3)
    return data


def save(
    path: str | os.PathLike[str],
    model: _poise.Model | None = None,
    *,
    clip: Clip | None = None,
    markers: Markers | None = None,
    metres: float = 0.0,
    up: str = "",
) -> None:
    """Write a file; its extension says which format. The file appears when it is whole; what it cannot hold is warned of."""
    path = os.fspath(path)
    folder, name = os.path.split(path)
    if folder and not os.path.isdir(folder):
        raise FileNotFoundError(f"{folder}: there is no such folder")
    data = dump(name, model, clip=clip, markers=markers, metres=metres, up=up)
    partial = f"{path}.{os.getpid()}.part"
    try:
        with open(partial, "wb") as stream:
            stream.write(data)
        os.replace(partial, os.path.realpath(path))
    except BaseException:
        if os.path.exists(partial):
            os.remove(partial)
        raise


def _restore(data: bytes) -> _poise.Model:
    model = parse(data, "model.json").model
    assert model is not None
    return model


# models can be copied, and sent to other processes, as the JSON that they are saved as, to the bit
copyreg.pickle(_poise.Model, lambda model: (_restore, (dump("model.json", model),)))
