"""Motions: on another skeleton, and edited."""

from __future__ import annotations

import json
import math
import os
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

import numpy as np

from . import _poise
from .files import Clip, File, number_of_axis, opened
from .recordings import Finding, Judged, Moved

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_FEET = ("auto", "follow", "plant")


class Role(NamedTuple):
    """Which body of the motion, and which of the skeleton that follows, is a part of the body; None: nobody."""

    name: str
    motion: str | None
    skeleton: str | None
    confidence: float


class Retargeted(Judged, Moved):
    """A motion on another skeleton, and how far it can be trusted.

    `verdict` is "good", "doubtful" or "failed"; `findings` say why, the worst first. The object is true where it is good.
    `clip` moves `model`. `roles` say who follows whom; edit them and hand them back as `map`. `contacts` (frames, 4) are left
    heel, left toe, right heel and right toe on the ground. `skate_mean` and `skate_worst` are speeds of planted feet, `sunk` the
    depth of the deepest corner of a foot below the ground, in the model's unit; `soles_guessed` where the model has neither shapes
    nor toes that tell where its soles are. `bone_mean` is in radians. In `released` frames no foot was planted, since
    hips and legs could not have gone along; in `loose` ones a foot slides while the actor's rests. `fastest` and `acceleration`
    are the largest of a joint, a second. `overlap` is how deep bodies of the model lie inside each other at most, in its unit,
    and `overlap_frames` those in which it is more than 5 mm; both are None where the model has no collision shapes, or where
    some were not read (`poise.read(path, meshes=True)`). `measures` has all that was measured, by the names that
    poise_retarget_outcome and poise_overlap of the C library have.
    """

    def __init__(self, model: _poise.Model, parts: dict[str, Any]):
        self.model = model
        self.clip = Clip(*parts["clip"])
        bits = np.frombuffer(parts["contacts"], dtype=np.uint8)
        self.contacts: NDArray[np.bool_] = (bits[:, None] & np.array([1, 2, 4, 8], dtype=np.uint8)) != 0
        self.verdict: str = parts["verdict"]
        self.findings = [Finding(*row) for row in parts["findings"]]
        self.roles = [Role(*row) for row in parts["roles"]]
        self.measures: dict[str, Any] = {**parts["measures"], "overlap": parts["overlap"]}
        of = self.measures
        self.factor: float = of["factor"]
        self.bone_mean: float = of["bone_mean"]
        self.hips_mean: float = of["hips_mean"]
        self.skate_mean: float = of["skate_mean"]
        self.skate_worst: float = of["skate_worst"]
        self.sunk: float = max(of["sunk"], 0.0)
        self.soles_guessed: bool = of["soles_guessed"]
        self.velocity: float = of["velocity"]
        self.jumps: int = of["jumps"]
        self.late: int = of["late"]
        self.outside: int = of["outside"]
        self.released: int = of["released"]
        self.loose: int = of["loose"]
        self.fastest: float = of["fast_speed"]
        self.acceleration: float = of["acceleration"]
        self.travel: float = of["travel"]
        self.overlap: float | None = of["overlap"]["depth"] if parts["is_checked"] else None
        self.overlap_frames: int | None = of["overlap"]["frames"] if parts["is_checked"] else None

    def __repr__(self) -> str:
        why = "".join(f"; {f.text}" for f in self.findings[:1] if f.level != "good")
        return f"<poise.Retargeted {self.verdict}: {len(self.clip)} frames{why}>"


def _parts(source: Any, what: str) -> tuple[_poise.Model, Clip, str]:
    model: _poise.Model | None
    clip: Clip | None
    if isinstance(source, File):
        model, clip, up = source.model, source.clip, source.up
    elif isinstance(source, (tuple, list)) and len(source) == 2:
        (model, clip), up = source, ""
    else:
        raise TypeError(f"{what}: expected a file with a motion, its path, or (model, clip), got {source!r}")
    if clip is None and isinstance(source, File) and source.markers is not None:
        raise _poise.Error(f"{what}: there are markers, and no motion; poise.track(skeleton, markers) makes one: (track.model, track.clip)")
    if model is None or clip is None:
        raise _poise.Error(f"{what}: there is no motion with its skeleton")
    return model, clip, up


def _tuple(clip: Clip) -> tuple[NDArray[np.float64], float, float]:
    return clip.q, clip.frame_time, clip.start_time


def _map_text(roles: Sequence[Role] | str | None) -> str | None:
    if roles is None or isinstance(roles, str):
        return roles
    return "".join(f'{role.name} "{role.motion or "-"}" "{role.skeleton or "-"}"\n' for role in map(Role._make, roles))


def retarget(
    model: _poise.Model | File | str | os.PathLike[str],
    motion: File | tuple[_poise.Model, Clip] | str | os.PathLike[str],
    *,
    map: Sequence[Role] | str | None = None,
    feet: str = "auto",
    sole: float = 0.0,
    ground: float = math.nan,
    velocity: float = math.inf,
    limits: bool = True,
    first: int = 0,
    last: int | None = None,
    rate: float = 0.0,
    up: str = "",
    source_up: str = "",
) -> Retargeted:
    """The motion of one skeleton on another: all that `poise retarget` does.

    `model` is a skeleton, its file, or its path: a robot of a path walks freely, one that was loaded as poise.load(path,
    floating=True) has it. `motion` is a file that holds one, its path, or a model with its clip; frames `first` to `last` of
    it, at `rate` a second, are followed. Bodies find each other by names and by the tree; `map` says it
    instead, as `roles` of an earlier call or as a text. `feet` are planted where the actor's rest ("plant"), or follow
    ("follow"). Joint limits and the velocities that a URDF gives hold, and `velocity` for all joints but a free root, unless
    `limits` is false.

    A doubtful answer raises nothing: look at its verdict.
    """
    skeleton, motion = opened(model, floating=True), opened(motion)
    target, target_up = (skeleton.model, skeleton.up) if isinstance(skeleton, File) else (skeleton, "")
    if target is None:
        raise _poise.Error("there is no skeleton in this file; give one to be moved")
    if feet not in _FEET:
        raise ValueError(f"feet is one of {', '.join(_FEET)}")
    source, whole, its_up = _parts(motion, "motion")
    clip = _frames(source, whole, first, last, rate)
    rest = skeleton.clip if isinstance(skeleton, File) else None
    made = Retargeted(target, _poise.retarget(
        source, _tuple(clip), number_of_axis(source_up or its_up), target, number_of_axis(up or target_up), _map_text(map),
        _FEET.index(feet), float(sole), float(ground), float(velocity), bool(limits), _tuple(whole), _tuple(rest) if rest else None,
    ))
    if target.types[0] == "fixed" and any(role.skeleton for role in made.roles if role.name.startswith("thigh")):
        warnings.warn("the skeleton has legs and stands fixed: poise.load(path, floating=True) lets it walk", stacklevel=2)
    return made


def _frames(model: _poise.Model, clip: Clip, first: int, last: int | None, rate: float) -> Clip:
    end = len(clip) if last is None else last + 1
    if not 0 <= first < min(end, len(clip)):
        raise ValueError(f"first={first}, last={last}: the motion has {len(clip)} frames, from 0")
    part = clip[first:end]
    return part.resampled(model, rate) if rate else part


class PathVerdict(Judged):
    """Whether a joint leaps along a tool path; true where none does.

    `verdict` is "good", "doubtful" or "failed"; `findings` name joint and poses, the worst first.
    """

    def __init__(self, verdict: str, findings: Sequence[tuple[Any, ...]]):
        self.verdict = verdict
        self.findings = [Finding(*row) for row in findings]

    def __repr__(self) -> str:
        return f"<poise.PathVerdict {self.verdict}{''.join(f'; {f.text}' for f in self.findings[:1])}>"


def judge_path(
    model: _poise.Model, q: ArrayLike, tip: str | int | None = None, *, step: float = math.radians(7), slide: float = 0.02, metres: float = 1.0,
    frame_time: float = 0.0, missed: int = 0, unwatched: int = 0,
) -> PathVerdict:
    """Does a joint leap from one row of q to the next, as where an arm takes another of its answers?

    `step` is how far a joint may turn, in radians, `slide` how far it may slide, in metres, of which the model's unit has
    `metres`. Rows in which the tool `tip` lies far apart may differ by more, if the arm can follow it along the straight line
    between them in such steps; without a `tip` nothing excuses a longer one. With the seconds from pose to pose, `frame_time`, joints that are faster than
    their limits are told, too. Any of the poses that were `missed` fails the path; collision shapes that were to be kept apart
    and are `unwatched` make it doubtful. Nothing else is judged.
    """
    return PathVerdict(*_poise.judge_path(model, np.asarray(q, dtype=np.float64), tip, float(step), float(slide), float(metres),
                                          float(frame_time), int(missed), int(unwatched)))


class Pin(NamedTuple):
    """How a pin went: frames that it changes and holds in, and by how much it misses, in length units and radians."""

    text: str
    first: int
    last: int
    held_first: int
    held_last: int
    missed: int
    worst_length: float
    worst_angle: float
    worst_frame: int


class ConstraintVerdict(Judged):
    """How a motion keeps to constraints; true where all hold in every frame.

    `verdict` is "good" or "doubtful"; `findings` name the worst frame of each sort. `broken` has the frames in which each sort
    does not hold: "clearance", "balance", "loops".
    """

    def __init__(self, verdict: str, findings: Sequence[tuple[Any, ...]], broken: dict[str, list[int]]):
        self.verdict = verdict
        self.findings = [Finding(*row) for row in findings]
        self.broken = broken

    def __repr__(self) -> str:
        return f"<poise.ConstraintVerdict {self.verdict}{''.join(f'; {f.text}' for f in self.findings[:1])}>"


def judge_constraints(model: _poise.Model, q: ArrayLike, **options: Any) -> ConstraintVerdict:
    """Do constraints hold in every row of q, such as the frames of a motion?

    Options are those of `Model.solve` that say what to keep to: avoid, margin, self_margin, obstacles, constraints, loops,
    neighbours, allow_missing.
    """
    return ConstraintVerdict(*_poise.judge_constraints(model, np.asarray(q, dtype=np.float64), options))


class Edited(Moved):
    """A motion that was edited. True where the verdict is good and the mirror could be met.

    `verdict` is "good", "doubtful" or "failed": what pins did to the body beyond what they asked for, compared with the motion
    as it was; None without pins. `findings` name body and frames, the worst first. `overlaps_checked` is False where the
    skeleton's file has no collision shapes, so that nothing is known of them.

    `pins` say how each went, those of feet last; `missed` counts frames in which one is out of reach, `changed` those that are
    not as they were; `snap_frame` is one in which a joint turns suddenly, or a cleaned foot jolts, or None. `measures` has all of poise_pin_report.
    """

    def __init__(self, clip: Clip, parts: dict[str, Any] | None, mirrored: float):
        self.clip = clip
        self.pins = [Pin(*row) for row in parts["pins"]] if parts else []
        self.measures: dict[str, Any] = parts["measures"] if parts else {}
        self.missed: int = self.measures.get("missed", 0)
        self.changed: int = self.measures.get("frames", len(clip))
        self.turn: float = self.measures.get("turn", 0.0)
        snap: int = self.measures["snap_frame"] if self.measures and self.changed else -1
        self.snap_frame: int | None = snap if snap >= 0 else None
        self.mirror_angle: float = mirrored
        level, rows, checked = parts["verdict"] if parts else (None, (), False)
        self.verdict: str | None = level
        self.findings = [Finding(*row) for row in rows]
        self.overlaps_checked: bool = checked

    def __bool__(self) -> bool:
        return self.verdict in (None, "good") and self.mirror_angle <= 1e-3

    def __repr__(self) -> str:
        return f"<poise.Edited: {len(self.clip)} frames, {len(self.pins)} pins, {self.missed} frames missed{f', {self.verdict}' if self.verdict else ''}>"


def edit(
    motion: File | tuple[_poise.Model, Clip] | str | os.PathLike[str],
    *,
    pins: str | dict[str, Any] | Sequence[str | dict[str, Any]] = (),
    keep: str | Sequence[str] = (),
    hold: str | Sequence[str] = (),
    clean_feet: bool = False,
    keep_feet: bool = True,
    mirror: bool = False,
    reverse: bool = False,
    speed: float = 1.0,
    append: Clip | None = None,
    loop: bool = False,
    blend: float = 0.3,
    metres: float = 0.0,
    up: str = "",
) -> Edited:
    """A motion with goals over time: all that `poise edit` does.

    Pins are words, "hand 1.2 0.3 0.9 from 2 s to 3 s fade 0.2", or dictionaries as in JSON, {"goal": "hand", "keys": [...]}.
    `keep` are bodies that stay on their path whatever is pinned, `hold` joints that no pin moves.
    `clean_feet` pins feet where they rest; others stay on their path with `keep_feet`. Mirror, reverse, speed, append and loop
    come before pins, in this order. The motion that was given stays as it was.
    """
    motion = opened(motion)
    model, clip, its_up = _parts(motion, "motion")
    its_metres = motion.metres if isinstance(motion, File) else 0.0
    axis, worst = number_of_axis(up or its_up), 0.0
    steps: list[tuple[bool, str, Clip | None, float]] = [
        (mirror, "mirror", None, 0.0), (reverse, "reverse", None, 0.0), (speed != 1.0, "speed", None, speed),
        (append is not None, "append", append, blend), (loop, "loop", None, blend)]
    for wanted, kind, other, number in steps:
        if wanted:
            made, angle = _poise.change_clip(model, _tuple(clip), kind, _tuple(other) if other else None, float(number), axis)
            clip, worst = Clip(*made), max(worst, angle)
    if isinstance(pins, (str, dict)):
        pins = [pins]
    kept, held = ([names] if isinstance(names, str) else list(names) for names in (keep, hold))
    words = tuple(pin for pin in pins if isinstance(pin, str)) + tuple(f"pose '{body}' on its path" for body in kept)
    documents = [pin for pin in pins if not isinstance(pin, str)]
    if held and not words and not documents and not clean_feet:
        raise ValueError("hold: there are no pins that could move a joint")
    if not words and not documents and not clean_feet:
        return Edited(clip, None, worst)
    text = json.dumps({"pins": documents}) if documents else None
    parts = _poise.pin_clip(model, _tuple(clip), words, text, clean_feet, keep_feet, float(metres or its_metres), held)
    return Edited(Clip(*parts["clip"]), parts, worst)
