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
    Aim,
    BatchReport,
    Control,
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
    Tracker,
    __version__,
    aim,
    callback,
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
from .files import Clip, File, Markers, dh, did_you_mean as _did_you_mean, dump, load, parse, read, save
from .motions import ConstraintVerdict, Edited, PathVerdict, Pin, Retargeted, Role, edit, judge_constraints, judge_path, retarget
from .opensim import Scaled, SensorTrack, scale, track_sensors
from .recordings import Finding, Track, track

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .viewer import Viewer, view


def _short(report: BatchReport) -> str:
    names, counts = np.unique(report.outcome, return_counts=True)
    parts = ", ".join(f"{count} {name}" for name, count in zip(names, counts))
    count = len(report.reached)
    return f"<poise.BatchReport: {count} problem{'' if count == 1 else 's'}{': ' + parts if parts else ''}>"


def _asdict(self: Any) -> dict[str, Any]:
    """All that the report says by name, as a row or columns of a table."""
    fields = (name for name, value in vars(type(self)).items() if type(value).__name__.endswith("_descriptor"))
    return {name: getattr(self, name) for name in fields if not name.startswith("_") and not callable(getattr(self, name))}


def _configuration(self: Model, values: Mapping[str, float], q: Any = None) -> NDArray[np.float64]:
    """The neutral configuration, or a copy of q, with some numbers set by name: {"elbow": 0.5}, as robot.coordinates has them."""
    out = self.neutral() if q is None else np.array(q, dtype=np.float64)
    places = {name: i for i, name in enumerate(self.coordinates)}
    if not hasattr(values, "items"):
        raise TypeError(f"values: expected a dictionary of coordinates and numbers, got {values!r}")
    if out.shape != (self.nq,):
        raise ValueError(f"q: expected {self.nq} numbers, got an array of shape {out.shape}")
    for name, value in values.items():
        if name not in places:
            raise Error(f'no coordinate is called "{name}"{_did_you_mean(name, places)}')
        out[places[name]] = value
    return out


def _random(self: Model, count: int | None = None, rng: Any = None) -> NDArray[np.float64]:
    """A configuration at random within the limits, or `count` rows of them. `rng` is a numpy generator, or a seed.

    Uniform in every coordinate, within a turn where there is no limit, and in the rotations of quaternions and of rotation
    vectors without limits; those with limits are at most a half turn long.
    """
    rng = np.random.default_rng(rng)
    turn = 2 * np.pi
    lower = np.where(np.isfinite(self.lower), self.lower, np.where(np.isfinite(self.upper), self.upper - turn, -turn / 2))
    upper = np.where(np.isfinite(self.upper), self.upper, lower + turn)
    out = rng.uniform(lower, upper, (1 if count is None else count, self.nq))
    for i, name in enumerate(self.coordinates):
        if name.endswith((".qx", ".vx")):
            turned = rng.normal(size=(len(out), 4))
            turned /= np.linalg.norm(turned, axis=1, keepdims=True)
        if name.endswith(".qx"):
            out[:, i : i + 4] = turned
        elif name.endswith(".vx"):
            free = not np.isfinite(self.lower[i : i + 3]).any() and not np.isfinite(self.upper[i : i + 3]).any()
            sine = np.linalg.norm(turned[:, :3], axis=1, keepdims=True)
            vector = turned[:, :3] / sine * 2 * np.arctan2(sine, turned[:, 3:]) if free else out[:, i : i + 3]
            length = np.linalg.norm(vector, axis=1, keepdims=True)
            # the same rotation the other way round, or, within limits, less of it
            out[:, i : i + 3] = np.where(length > np.pi, vector * ((length - turn) if free else np.pi) / length, vector)
    rows = self.clamp(out)
    return rows.reshape(self.nq) if count is None else rows


setattr(Model, "configuration", _configuration)
setattr(Model, "random", _random)
setattr(BatchReport, "__repr__", _short)
for _type in (BatchReport, DeviceReport, ErikReport, ExpressiveReport, GoalError, Report):
    setattr(_type, "_asdict", _asdict)


def __getattr__(name: str) -> object:  # the viewer's needs take longer to import than all the rest
    if name in ("Viewer", "view"):
        from . import viewer

        globals().update(Viewer=viewer.Viewer, view=viewer.view)
        return globals()[name]
    raise AttributeError(f"module 'poise' has no attribute {name!r}")


__all__ = [
    "Aim",
    "BatchReport",
    "Clip",
    "Constraint",
    "Control",
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
    "PathVerdict",
    "Pin",
    "Report",
    "Retargeted",
    "Role",
    "Scaled",
    "Sensitivity",
    "SensorTrack",
    "Shape",
    "Track",
    "Tracker",
    "Viewer",
    "aim",
    "balance",
    "band",
    "box",
    "callback",
    "capsule",
    "center_of_mass",
    "connect",
    "dh",
    "direction",
    "distance",
    "dump",
    "edit",
    "half_space",
    "hinge",
    "judge_constraints",
    "judge_path",
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
    "scale",
    "scene",
    "scenes",
    "smoothness",
    "sphere",
    "track",
    "track_sensors",
    "view",
    "weld",
]
