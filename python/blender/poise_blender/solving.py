"""Goals on bones, and what solves them: at once, while they are dragged, for all frames, and from a BVH."""

import json
import os
import subprocess
import tempfile

import bpy
import numpy as np
import poise
from bpy.app.handlers import persistent
from poise.command import find_command

from .armature import Rig
from .ties import constraints_of

AXIS = {"X": (1, 0, 0), "Y": (0, 1, 0), "Z": (0, 0, 1), "-X": (-1, 0, 0), "-Y": (0, -1, 0), "-Z": (0, 0, -1)}
NEAR = 1e-5  # of the armature's size, and radians: as near as single precision and the pull of the pose let a goal come
_rigs = {}  # by name of the armature
_is_solving = False


def rig_of(armature):
    """The armature's model; made anew when its bones or limits have changed."""
    rig = _rigs[armature.name_full] = Rig(armature, _rigs.get(armature.name_full))
    return rig


def is_met(rig, report):
    """Do constraints hold, and does no goal miss by what can be seen?"""
    return report.holds and (bool(report) or (report.worst_length <= NEAR * rig.size and report.worst_angle <= NEAR))


def goals_of(armature, rig, q):
    """The goals of an armature, in its own space, and a pull towards the pose `q` on what they leave open."""
    inverse = np.linalg.inv(np.array(armature.matrix_world, dtype=np.float64))
    goals = []
    for goal in armature.poise.goals:
        if not goal.enabled or goal.target is None or goal.bone not in rig.joints:
            continue
        name = f"{goal.bone}.tail" if goal.at_tail else goal.bone
        target = inverse @ np.array(goal.target.matrix_world, dtype=np.float64)
        if goal.kind == "PIN":
            goals.append(poise.position(name, target[:3, 3], weight=goal.weight))
        elif goal.kind == "POSE":
            u, _, v = np.linalg.svd(target[:3, :3])
            target[:3, :3] = u @ v
            goals.append(poise.pose(name, target, weight=goal.weight))
        else:
            goals.append(poise.aim(goal.bone, target[:3, 3], axis=AXIS[goal.axis], weight=goal.weight))
    if goals and armature.poise.hold > 0:
        goals.append(poise.posture(q, weight=armature.poise.hold))
    return goals


def solve(armature, rig=None, q=None):
    """Solve the goals within the constraints of bones, from the pose or from q, and pose the armature. Returns q and the
    report, None where there is nothing to solve."""
    rig = rig or rig_of(armature)
    q = rig.configuration() if q is None else q
    goals, held = goals_of(armature, rig, q), constraints_of(armature)
    if not goals and not held:
        return q, None
    q, report = rig.model.solve(goals or [poise.posture(q)], q, constraints=held)
    rig.apply(q)
    return q, report


@persistent
def when_changed(scene, depsgraph):
    """Solve armatures that are live, when one of their targets moves."""
    global _is_solving
    if _is_solving:
        return
    moved = {update.id.name_full for update in depsgraph.updates if isinstance(update.id, bpy.types.Object)}
    for armature in scene.objects:
        if armature.type != "ARMATURE" or not armature.poise.live:
            continue
        if any(goal.target and goal.target.name_full in moved for goal in armature.poise.goals):
            _is_solving = True
            try:
                solve(armature)
            finally:
                _is_solving = False


def bake(armature, first, last):
    """Solve every frame from the pose before and insert keyframes. Returns the reports, and the frames that miss a goal."""
    global _is_solving
    scene, q, reports, missed = bpy.context.scene, None, [], []
    _is_solving = True
    try:
        for frame in range(first, last + 1):
            scene.frame_set(frame)
            rig = rig_of(armature)
            q, report = solve(armature, rig, q)
            if report is None:
                raise poise.Error("there are no goals to bake: give bones a target in the Poise panel")
            rig.insert_keys(frame)
            reports.append(report)
            if not is_met(rig, report):
                missed.append(frame)
    finally:
        _is_solving = False
    return reports, missed


def retarget(armature, path, options=()):
    """A motion on the armature by `poise retarget`: keyframes from the scene's first frame on. Returns clip and report."""
    scene, rig = bpy.context.scene, rig_of(armature)
    rate = scene.render.fps / scene.render.fps_base
    with tempfile.TemporaryDirectory() as folder:
        model, out = os.path.join(folder, "armature.json"), os.path.join(folder, "motion.json")
        with open(model, "w") as stream:
            stream.write(rig.upright(armature))
        words = [find_command(), "retarget", path, model, "-o", out, "--json", "--accept", "failed", "--rate", f"{rate:.10g}", *options]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode or not os.path.exists(out):
            raise poise.Error(done.stderr.strip() or f"poise retarget ended with {done.returncode}")
        clip = poise.read(out).clip
    for i, q in enumerate(clip.q):
        rig.apply(q)
        rig.insert_keys(scene.frame_start + i)
    scene.frame_end = scene.frame_start + len(clip) - 1
    return clip, json.loads(done.stdout)
