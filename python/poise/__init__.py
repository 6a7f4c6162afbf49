"""Inverse kinematics: joint values for goals, within limits, in microseconds, with exact second derivatives.

    import poise

    robot = poise.load("panda.urdf")
    q, report = robot.solve(poise.pose("panda_hand", T), q0)

Arrays are numpy's, float64. A pose is a (4, 4) matrix, or x y z and a quaternion x y z w. Lengths are in the unit of the
file, angles in radians. What the library refuses is a poise.Error with the reason and the fix.
"""

from ._poise import (
    BatchReport,
    Erik,
    Error,
    Expressive,
    Filter,
    Goal,
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
from .files import Clip, File, Markers, load, read, save
from .recordings import Finding, Track, track

__all__ = [
    "BatchReport",
    "Clip",
    "Erik",
    "Error",
    "Expressive",
    "File",
    "Filter",
    "Finding",
    "Goal",
    "Markers",
    "Model",
    "Report",
    "Sensitivity",
    "Track",
    "aim",
    "center_of_mass",
    "direction",
    "distance",
    "line",
    "load",
    "orientation",
    "plane",
    "pose",
    "position",
    "posture",
    "read",
    "relative",
    "save",
    "scene",
    "scenes",
    "smoothness",
    "track",
]
