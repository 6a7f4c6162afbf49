"""Constraints of bones as constraints of Poise, and loops of robots as constraints of bones.

    Copy Location       the bone's head is one with a point, to 1e-6 of the armature's size: poise.band along three axes
    Copy Transforms     the bone is one with a frame: poise.weld
    Limit Distance      the bone's head is so far from a point: poise.rod
    Floor               the bone's head is on one side of a plane: poise.band

The point, frame or plane is that of an object, or of a bone of the same armature: then a loop is closed. Not to the last bit:
Blender's frames are in single precision, and axes of a flat mechanism are no longer quite parallel, so that nothing would be.
"""

import math

import numpy as np
import poise
from mathutils import Matrix, Quaternion

_CLOSED = 1e-6

# frames whose z is the axis of that name
_FLOORS = {"X": ((0, 1, 0), (0, 0, 1), (1, 0, 0)), "Y": ((0, 0, 1), (1, 0, 0), (0, 1, 0)), "Z": ((1, 0, 0), (0, 1, 0), (0, 0, 1))}
_BLENDERS = {"connect": "COPY_LOCATION", "weld": "COPY_TRANSFORMS", "distance": "LIMIT_DISTANCE"}


def _rigid(matrix):
    out = np.array(matrix, dtype=np.float64)
    u, _, v = np.linalg.svd(out[:3, :3])
    out[:3, :3] = u @ v
    return out


def _place(armature, constraint):
    """The bone that the target is on, or None, and the target's frame there, else in the armature's space."""
    share = getattr(constraint, "head_tail", 0.0)
    if constraint.target == armature and constraint.subtarget:
        frame = np.eye(4)
        frame[1, 3] = share * armature.data.bones[constraint.subtarget].length
        return constraint.subtarget, frame
    world = constraint.target.matrix_world
    if constraint.subtarget:
        bone = constraint.target.pose.bones[constraint.subtarget]
        world = world @ bone.matrix @ Matrix.Translation((0, share * bone.length, 0))
    return None, _rigid(armature.matrix_world.inverted() @ world)


def _along(frame, axes, letter):
    """The frame with z along one of these axes."""
    plane = frame.copy()
    plane[:3, :3] = axes @ np.array(_FLOORS[letter]).T
    return plane


def _ask(armature, bone, constraint, scale):
    """What one constraint of a bone asks for, as a list."""
    other, frame = _place(armature, constraint)
    if constraint.type == "COPY_LOCATION":
        off = _CLOSED * max(armature.dimensions) / scale
        wanted = [] if constraint.use_offset else [letter for letter in "XYZ" if getattr(constraint, f"use_{letter.lower()}")]
        return [poise.band(bone.name, _along(frame, np.eye(3), letter), -off, off, other=other) for letter in wanted]
    if constraint.type == "COPY_TRANSFORMS":
        return [poise.weld(bone.name, frame, other=other)]
    if constraint.type == "LIMIT_DISTANCE":
        length = constraint.distance / scale
        lower, upper = {"LIMITDIST_INSIDE": (0.0, length), "LIMITDIST_OUTSIDE": (length, math.inf)}.get(constraint.limit_mode, (length, length))
        return [poise.rod(bone.name, frame[:3, 3], lower, upper, other=other)]
    axis, offset = constraint.floor_location, constraint.offset / scale
    axes = frame[:3, :3] if constraint.use_rotation else _rigid(armature.matrix_world.inverted())[:3, :3]
    limits = (-math.inf, -offset) if "NEGATIVE" in axis else (offset, math.inf)
    return [poise.band(bone.name, _along(frame, axes, axis[-1]), *limits, other=other)]


def constraints_of(armature):
    """What the constraints of the armature's bones ask to hold; muted ones, and those of other kinds, do not count."""
    scale = np.cbrt(abs(np.linalg.det(np.array(armature.matrix_world)[:3, :3])))
    held = []
    for bone in armature.pose.bones:
        for constraint in bone.constraints:
            if constraint.type in (*_BLENDERS.values(), "FLOOR") and constraint.target and not constraint.mute and constraint.influence > 0:
                held += _ask(armature, bone, constraint, scale)
    return held


# ---- Back ------------------------------------------------------------------------------------------------------------------


def _frame(pose):
    x, y, z, w = pose.get("rotation", (0, 0, 0, 1))
    return Matrix.Translation(pose.get("position", (0, 0, 0))) @ Quaternion((w, x, y, z)).to_matrix().to_4x4()


def add_anchors(edit_bones, loops, rest, size):
    """A small bone on either side of every loop, where it is closed. `rest` are the bodies' frames. Returns their names."""
    anchors = []
    for number, loop in enumerate(loops, 1):
        names = []
        for body, pose in ((loop["body"], loop.get("local", {})), (loop.get("body2"), loop.get("target", {}))):
            names.append(None if body is None else edit_bones.new(f"loop {number} {body}").name)
            if body is not None:
                bone = edit_bones[names[-1]]
                bone.length = 0.05 * size
                bone.matrix = Matrix(rest[body].tolist()) @ _frame(pose)
                bone.parent = edit_bones[body]
        anchors.append(names)
    return anchors


def close_loops(armature, loops, anchors):
    """A constraint from one anchor of every loop to the other. Returns what Blender has none for, as warnings."""
    warnings = []
    for loop, (first, second) in zip(loops, anchors):
        for name in filter(None, (first, second)):
            armature.pose.bones[name].lock_rotation = (True, True, True)
        kind = _BLENDERS.get(loop["kind"])
        if kind is None or second is None:
            warnings.append(f"{loop['body']}: a loop ({loop['kind']}{'' if second else ' to the world'}) is left open")
            continue
        made = armature.pose.bones[first].constraints.new(kind)
        made.target, made.subtarget = armature, second
        if kind == "LIMIT_DISTANCE":
            made.distance, made.limit_mode = loop.get("upper", 0.0), "LIMITDIST_ONSURFACE"
    return warnings
