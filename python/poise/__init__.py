"""Inverse kinematics: joint values for goals, within limits, in microseconds, with exact second derivatives.

    import poise

    robot = poise.load("panda.urdf")
    q, report = robot.solve(poise.pose("panda_hand", T), q0)

Arrays are numpy's, float64. A pose is a (4, 4) matrix, or x y z and a quaternion x y z w. Lengths are in the unit of the
file, angles in radians. What the library refuses is a poise.Error with the reason and the fix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping

import numpy as np

from ._poise import (
    BatchReport,
    DeviceArray,
    DeviceReport,
    Erik,
    ErikReport,
    Error,
    Expressive,
    ExpressiveReport,
    Filter,
    Goal,
    GoalError,
    Model,
    Report,
    Sensitivity,
    __version__,
    aim,
    center_of_mass,
    direction,
    distance,
    line,
    orientation,
    plane,
    pose,
    position,
    posture,
    relative,
    scene,
    scenes,
    smoothness,
)
from .constraints import (
    Constraint,
    Shape,
    balance,
    band,
    box,
    capsule,
    connect,
    half_space,
    hinge,
    rod,
    sphere,
    weld,
)
from .files import Clip, File, Markers, dump, load, parse, read, save
from .motions import Edited, Pin, Retargeted, Role, edit, retarget
from .recordings import Finding, Track, track

if TYPE_CHECKING:
    from .viewer import Viewer, view


def _short(report: BatchReport) -> str:
    names, counts = np.unique(report.outcome, return_counts=True)
    parts = ", ".join(f"{count} {name}" for name, count in zip(names, counts))
    return f"<poise.BatchReport: {len(report.reached)} problems{': ' + parts if parts else ''}>"


def _asdict(self: Any) -> dict[str, Any]:
    """All that the report says by name, as a row or columns of a table."""
    fields = (name for name, value in vars(type(self)).items() if type(value).__name__.endswith("_descriptor"))
    return {name: getattr(self, name) for name in fields if not name.startswith("_") and not callable(getattr(self, name))}


def _configuration(self: Model, values: Mapping[str, float], q: Any = None) -> np.ndarray:
    """The neutral configuration, or a copy of q, with some numbers set by name: {"elbow": 0.5}, as robot.coordinates has them."""
    out = self.neutral() if q is None else np.array(q, dtype=np.float64)
    places = {name: i for i, name in enumerate(self.coordinates)}
    if out.shape != (self.nq,):
        raise ValueError(f"q: {self.nq} numbers are wanted, not an array of shape {out.shape}")
    for name, value in values.items():
        if name not in places:
            import difflib

            near = difflib.get_close_matches(name, places, 1)
            raise Error(f'no coordinate is called "{name}"' + (f'; did you mean "{near[0]}"?' if near else ""))
        out[places[name]] = value
    return out


def _random(self: Model, count: int | None = None, rng: Any = None) -> np.ndarray:
    """A configuration at random within the limits, or `count` rows of them. `rng` is a numpy generator, or a seed.

    Uniform in every coordinate, within a turn where there is no limit, and in the rotations of quaternions.
    """
    rng = np.random.default_rng(rng)
    turn = 2 * np.pi
    lower = np.where(np.isfinite(self.lower), self.lower, np.where(np.isfinite(self.upper), self.upper - turn, -turn / 2))
    upper = np.where(np.isfinite(self.upper), self.upper, lower + turn)
    out = rng.uniform(lower, upper, (1 if count is None else count, self.nq))
    for i in (i for i, name in enumerate(self.coordinates) if name.endswith(".qx")):
        turned = rng.normal(size=(len(out), 4))
        out[:, i : i + 4] = turned / np.linalg.norm(turned, axis=1, keepdims=True)
    out = self.clamp(out)
    return out[0] if count is None else out


Model.configuration = _configuration
Model.random = _random
BatchReport.__repr__ = _short
for _type in (BatchReport, DeviceReport, ErikReport, ExpressiveReport, GoalError, Report):
    _type._asdict = _asdict


def __getattr__(name: str) -> object:  # the viewer's needs take longer to import than all the rest
    if name in ("Viewer", "view"):
        from . import viewer

        globals().update(Viewer=viewer.Viewer, view=viewer.view)
        return globals()[name]
    raise AttributeError(f"module 'poise' has no attribute {name!r}")


__all__ = [
    "BatchReport",
    "Clip",
    "Constraint",
    "DeviceArray",
    "DeviceReport",
    "Edited",
    "Erik",
    "ErikReport",
    "Error",
    "Expressive",
    "ExpressiveReport",
    "File",
    "Filter",
    "Finding",
    "Goal",
    "GoalError",
    "Markers",
    "Model",
    "Pin",
    "Report",
    "Retargeted",
    "Role",
    "Sensitivity",
    "Shape",
    "Track",
    "Viewer",
    "aim",
    "balance",
    "band",
    "box",
    "capsule",
    "center_of_mass",
    "connect",
    "direction",
    "distance",
    "dump",
    "edit",
    "half_space",
    "hinge",
    "line",
    "load",
    "orientation",
    "parse",
    "plane",
    "pose",
    "position",
    "posture",
    "read",
    "relative",
    "retarget",
    "rod",
    "save",
    "scene",
    "scenes",
    "smoothness",
    "sphere",
    "track",
    "view",
    "weld",
]
