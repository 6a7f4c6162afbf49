"""Armatures as Poise models, and back.

A bone is a joint whose frame is the bone's at rest, so that the joint's motion is Blender's matrix_basis:

    P_bone = P_parent rest_parent^-1 rest_bone basis

Roots move freely, or only turn where their location is locked. Limits are angles in the order of the bone's rotation mode
(XYZ for quaternions): those of a Limit Rotation constraint in local space, else of Blender's own IK; locked axes do not turn.
A bone without limits is a ball. Bones that do not move freely keep the location and the scale that they have.
"""

import json
import math

import bpy
import numpy as np
import poise
from mathutils import Matrix, Quaternion

from .ties import add_anchors, close_loops

AXES = "xyz"
EULER_MODES = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")


def euler_mode(bone):
    return bone.rotation_mode if bone.rotation_mode in EULER_MODES else "XYZ"


def axis_limits(bone):
    """(lower, upper) of the angles about x, y and z; infinite where there is none."""
    limits = []
    turned = next((c for c in bone.constraints if c.type == "LIMIT_ROTATION" and c.owner_space == "LOCAL" and not c.mute), None)
    for i, axis in enumerate(AXES):
        if getattr(bone, f"lock_ik_{axis}") or bone.lock_rotation[i]:
            limits.append((0.0, 0.0))
        elif turned and getattr(turned, f"use_limit_{axis}"):
            limits.append((getattr(turned, f"min_{axis}"), getattr(turned, f"max_{axis}")))
        elif getattr(bone, f"use_ik_limit_{axis}"):
            limits.append((getattr(bone, f"ik_min_{axis}"), getattr(bone, f"ik_max_{axis}")))
        else:
            limits.append((-math.inf, math.inf))
    return limits


def finite(limits):
    return [x if math.isfinite(x) else None for x in limits]


def joint_of(bone):
    """The type, axis and limits of a bone, as Poise's JSON has them."""
    limits = axis_limits(bone)
    free = [i for i, (low, high) in enumerate(limits) if low < high]
    if not bone.parent and not all(bone.lock_location):
        return {"type": "free"}
    if all(not math.isfinite(x) for pair in limits for x in pair):
        return {"type": "ball_quaternion"}
    if not free:
        return {"type": "fixed"}
    if len(free) == 1 and all(limits[i] == (0, 0) for i in range(3) if i not in free):
        low, high = limits[free[0]]
        axis = [float(i == free[0]) for i in range(3)]
        return {"type": "revolute", "axis": axis, "lower": finite([low]), "upper": finite([high])}
    order = euler_mode(bone)[::-1].lower()  # Poise names the outermost first
    places = [AXES.index(letter) for letter in order]
    lower, upper = zip(*(limits[i] for i in places))
    return {"type": "ball_euler", "order": order, "lower": finite(lower), "upper": finite(upper)}


def rigid(matrices):
    """Matrices of Blender, or one, with rotations made such, in double precision."""
    out = np.array(matrices, dtype=np.float64)
    u, _, v = np.linalg.svd(out[..., :3, :3])
    out[..., :3, :3] = u @ v
    return out


def quaternion(matrix):
    w, x, y, z = Matrix(matrix[:3, :3].tolist()).to_quaternion()
    return [x, y, z, w]


def relative(poses, above):
    """Poses as their parents see them; `above` are the numbers of those, -1 for none."""
    parents = np.array([poses[i] if i >= 0 else np.eye(4) for i in above])
    return np.linalg.inv(parents) @ poses


def metres_of(armature):
    """The unit of the armature's own space, which its object may scale."""
    return bpy.context.scene.unit_settings.scale_length * float(np.cbrt(abs(np.linalg.det(np.array(armature.matrix_world)[:3, :3]))))


class Rig:
    """An armature's model, and the way between its configurations and poses."""

    def __init__(self, armature, known=None):
        """`known` is a rig of the same armature: its model serves if bones and limits are as they were."""
        self.bones = list(armature.pose.bones)
        index = {bone.name: i for i, bone in enumerate(self.bones)}
        above = [index[bone.parent.name] if bone.parent else -1 for bone in self.bones]
        rest = rigid([bone.bone.matrix_local for bone in self.bones])
        self.rest = dict(zip(index, rest))
        self.slid = {}
        self.joints = {}
        tools = []
        offsets = relative(rest, above)
        for bone, offset in zip(self.bones, offsets):
            joint = joint_of(bone)
            self.slid[bone.name] = Matrix.Translation((0, 0, 0) if joint["type"] == "free" else bone.matrix_basis.to_translation())
            offset = offset @ np.array(self.slid[bone.name], dtype=np.float64)
            place = {"name": bone.name, "position": offset[:3, 3].tolist(), "rotation": quaternion(offset)}
            self.joints[bone.name] = {**place, **joint, **({"parent": bone.parent.name} if bone.parent else {})}
            tools.append({"name": f"{bone.name}.tail", "body": bone.name, "position": [0, bone.bone.length, 0]})
        self.document = {"poise": 1, "scale": {"metres": metres_of(armature)}, "model": {"joints": list(self.joints.values()), "tools": tools}}
        self.text = json.dumps(self.document)
        if known and known.text == self.text:
            self.model, self.order, self.above, self.still, self.size = known.model, known.order, known.above, known.still, known.size
            return
        self.model = poise.parse(self.text, "armature.json").model
        places = {body: i for i, body in enumerate(self.model.bodies)}
        self.order = [places[bone.name] for bone in self.bones]
        self.above = above
        at_rest = self.model.fk(self.model.neutral())[self.order]
        self.still = np.linalg.inv(relative(at_rest, above))  # as the model has them, to the bit
        self.size = float(np.ptp(at_rest[:, :3, 3], axis=0).max()) or 1.0

    def upright(self, armature):
        """The model as a text with z upwards, as the object stands in the world. Configurations are the same."""
        turn = rigid(armature.matrix_world)
        turn[:3, 3] = 0
        joints = []
        for bone in self.bones:
            joint = dict(self.joints[bone.name])
            if not bone.parent:
                place = turn @ self.rest[bone.name] @ np.array(self.slid[bone.name], dtype=np.float64)
                joint.update(position=place[:3, 3].tolist(), rotation=quaternion(place))
            joints.append(joint)
        return json.dumps({**self.document, "scale": {**self.document["scale"], "up": "z"}, "model": {**self.document["model"], "joints": joints}})

    def configuration(self):
        """q of the armature's pose, within its limits."""
        parts = {}
        for bone in self.bones:
            joint, basis = self.joints[bone.name], bone.matrix_basis
            w, x, y, z = basis.to_quaternion()
            angles = basis.to_euler(euler_mode(bone))
            parts[bone.name] = {
                "free": lambda: [*basis.to_translation(), x, y, z, w],
                "ball_quaternion": lambda: [x, y, z, w],
                "ball_euler": lambda: [getattr(angles, letter) for letter in joint["order"]],
                "revolute": lambda: [angles[joint["axis"].index(1.0)]],
                "fixed": list,
            }[joint["type"]]()
        return self.model.clamp(np.array([x for name in self.model.bodies for x in parts[name]]))

    def apply(self, q):
        """Pose the armature."""
        turned = self.still @ relative(self.model.fk(q)[self.order], self.above)
        turned[[self.joints[bone.name]["type"] != "free" for bone in self.bones], :3, 3] = 0  # rounding would make another model of it
        for bone, matrix in zip(self.bones, turned.tolist()):
            scale = bone.scale.copy()
            bone.matrix_basis = self.slid[bone.name] @ Matrix(matrix)
            bone.scale = scale

    def insert_keys(self, frame):
        """Keyframes of the pose as it is."""
        for bone in self.bones:
            kind = self.joints[bone.name]["type"]
            if kind == "free":
                bone.keyframe_insert("location", frame=frame, group=bone.name)
            if kind != "fixed":
                quaternions = bone.rotation_mode == "QUATERNION"
                path = "rotation_quaternion" if quaternions else "rotation_euler"
                bone.keyframe_insert("rotation_axis_angle" if bone.rotation_mode == "AXIS_ANGLE" else path, frame=frame, group=bone.name)


# ---- Back ------------------------------------------------------------------------------------------------------------------


def perpendicular(x, y):
    """The part of y at right angles to the unit vector x, of length 1; any such direction where y has none."""
    part = y - (x @ y) * x
    if np.linalg.norm(part) < 1e-6 * max(np.linalg.norm(y), 1e-12):
        return perpendicular(x, np.eye(3)[np.argmin(np.abs(x))])
    return part / np.linalg.norm(part)


def hinge_of(joint, along):
    """The bone's axis that a hinge turns about, and its sign: y where it turns the bone about itself, else x."""
    axis = np.array(joint.get("axis", [0, 0, 1]), dtype=float)
    axis /= np.linalg.norm(axis)
    share = axis @ along / np.linalg.norm(along)
    return ("y", np.sign(share), axis) if abs(share) > 0.9 else ("x", 1.0, axis)


def bone_frame(joint, along):
    """Rotation from a joint's frame to that of its bone, whose y axis Blender draws: towards `along`, as far as limits allow.
    A joint with limits of its angles keeps its axes."""
    if joint["type"] == "revolute":
        letter, sign, axis = hinge_of(joint, along)
        joint["turns"] = letter, sign
        along = sign * axis if letter == "y" else perpendicular(axis, along)
        x = axis if letter == "x" else perpendicular(along, np.array([1.0, 0, 0]))
        return np.column_stack([x, along, np.cross(x, along)])
    if joint["type"] == "ball_euler" and any(x is not None for x in joint.get("lower", []) + joint.get("upper", [])):
        x, y, z, w = joint.get("axes", [0, 0, 0, 1])
        return np.array(Quaternion((w, x, y, z)).to_matrix(), dtype=np.float64)
    y = along / np.linalg.norm(along)
    x = perpendicular(y, np.array([1.0, 0, 0]))
    return np.column_stack([x, y, np.cross(x, y)])


def limit_bone(bone, joint):
    """Locks and limits of a bone for a joint. What Blender has no limits for is returned as a warning, or None."""
    kind = joint["type"]
    low, high = ([x if x is not None else math.inf * s for x in joint.get(name, [])] for name, s in (("lower", -1), ("upper", 1)))
    if kind == "fixed" or kind == "prismatic":
        bone.lock_rotation = (True, True, True)
        return f"{joint['name']}: slides, which a bone here does not; it is fixed" if kind == "prismatic" else None
    if kind == "revolute":
        axes, sign = joint["turns"]
        low, high = (low, high) if sign > 0 else ([-x for x in high], [-x for x in low])
        bone.rotation_mode = "XYZ"
        bone.lock_rotation = [letter != axes for letter in AXES]
    elif kind == "ball_euler":
        axes = joint.get("order", "xyz")
        bone.rotation_mode = axes[::-1].upper()
    else:
        if any(math.isfinite(x) for x in low + high) and not kind.startswith("free"):
            return f"{joint['name']}: limits of a {kind} joint are left out"
        return None
    wanted = [(letter, *pair) for letter, *pair in zip(axes, low, high) if any(map(math.isfinite, pair))]
    if wanted:
        limit = bone.constraints.new("LIMIT_ROTATION")
        limit.owner_space = "LOCAL"
        for letter, least, most in wanted:
            setattr(limit, f"use_limit_{letter}", True)
            setattr(limit, f"min_{letter}", max(least, -1e4))
            setattr(limit, f"max_{letter}", min(most, 1e4))
    return None


UPRIGHT = {"x": [[0, 0, -1], [0, 1, 0], [1, 0, 0]], "y": [[1, 0, 0], [0, 0, -1], [0, 1, 0]]}  # to Blender's z


def armature_of(model, name="Poise", metres=1.0, up="z"):
    """An armature object with a bone for every body of a model, and the list of what it could not hold."""
    document = json.loads(poise.dump("model.json", model))
    joints = {joint.get("body", joint["name"]): joint for joint in document["model"]["joints"]}
    loops = document.get("loops", [])
    rest = model.fk(model.neutral())
    rest[:, :3, :] = np.array(UPRIGHT.get(up, np.eye(3))) @ rest[:, :3, :]
    rest[:, :3, 3] *= metres / bpy.context.scene.unit_settings.scale_length
    data = bpy.data.armatures.new(name)
    armature = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    size = max(np.ptp(rest[:, :3, 3], axis=0).max(), 1e-3)
    for i, body in enumerate(model.bodies):
        bone = data.edit_bones.new(body)
        spans = [rest[k][:3, 3] - rest[i][:3, 3] for k, parent in enumerate(model.parents) if parent == i]
        span = max(spans, key=np.linalg.norm, default=np.zeros(3))
        if np.linalg.norm(span) < 0.01 * size:  # an end: as its parent goes on
            parent = model.parents[i]
            span = 0.05 * size * (np.array(data.edit_bones[model.bodies[parent]].y_axis) if parent >= 0 else np.array([0, 0, 1.0]))
        frame = rest[i].copy()
        frame[:3, :3] = frame[:3, :3] @ bone_frame(joints[body], frame[:3, :3].T @ span)
        bone.length = np.linalg.norm(span)
        bone.matrix = Matrix(frame.tolist())
        if model.parents[i] >= 0:
            bone.parent = data.edit_bones[model.bodies[model.parents[i]]]
    anchors = add_anchors(data.edit_bones, loops, dict(zip(model.bodies, rest)), size)
    bpy.ops.object.mode_set(mode="OBJECT")
    warnings = close_loops(armature, loops, anchors)
    for body in model.bodies:
        bone = armature.pose.bones[body]
        if not bone.parent and not joints[body]["type"].startswith("free"):
            bone.lock_location = (True, True, True)
        warnings.append(limit_bone(bone, joints[body]))
    return armature, [text for text in warnings if text]
