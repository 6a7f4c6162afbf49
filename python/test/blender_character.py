"""What test_blender.py runs inside Blender: blender -b --python blender_character.py -- PACKAGE WALK.bvh FOLDER

A character comes from a BVH. It is posed by pins and aims while a target is dragged, baked, saved and
opened again; takes on a motion; a robot becomes an armature and a model again. Prints what it measured as JSON.
"""

import json
import os
import sys

package, walk, folder = sys.argv[sys.argv.index("--") + 1 :]
sys.path[:0] = [package, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../blender")]

import bpy
import numpy as np
import poise
import poise_blender
from mathutils import Matrix, Vector
from poise_blender import armature as armatures
from poise_blender import solving

poise_blender.register()
measured = {}


def activate(thing):
    bpy.context.view_layer.objects.active = thing


def place(armature, name, tail=False):
    """Where a bone is in the world."""
    bpy.context.view_layer.update()
    bone = armature.pose.bones[name]
    return np.array(armature.matrix_world @ (bone.tail if tail else bone.head))


def character():
    """The skeleton of the walk, at rest."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    assert bpy.ops.poise.import_model(filepath=walk) == {"FINISHED"}
    return bpy.context.object


def drag(armature):
    """Feet stay, the head looks at the hand, the hand is dragged away and within reach."""
    feet = ("left_ankle", "right_ankle")
    for bone in feet:
        bpy.ops.poise.add_goal(kind="POSE", bone=bone)
    bpy.ops.poise.add_goal(kind="PIN", bone="left_wrist")
    hand = armature.poise.goals[-1].target
    bpy.ops.poise.add_goal(kind="AIM", bone="head")
    gaze = armature.poise.goals[-1]
    gaze.axis, gaze.target = "Z", hand
    before = [place(armature, bone) for bone in feet]
    hips = place(armature, armature.pose.bones[0].name)
    armature.poise.live = True
    start = Vector(place(armature, "left_wrist"))
    misses = []
    for step in range(1, 11):
        hand.location = start + Vector((-0.25, -0.3, -0.45)) * (step / 10)
        bpy.context.view_layer.update()  # as a drag does: the handler solves
        misses.append(float(np.linalg.norm(place(armature, "left_wrist") - np.array(hand.location))))
    measured["drag_miss"] = max(misses)
    measured["foot_slip"] = max(float(np.linalg.norm(place(armature, b) - p)) for b, p in zip(feet, before))
    measured["hips_moved"] = float(np.linalg.norm(place(armature, armature.pose.bones[0].name) - hips))
    head = armature.pose.bones["head"].matrix
    towards = armature.matrix_world.inverted() @ hand.location - head.translation
    measured["gaze_angle"] = float(head.col[2].to_3d().angle(towards))
    armature.poise.live = False
    return hand, start


def limit(armature):
    """A limit of a bone is one of the model, and holds."""
    bone = armature.pose.bones["left_elbow"]
    bone.use_ik_limit_x = bone.use_ik_limit_z = True
    bone.ik_min_x, bone.ik_max_x, bone.ik_min_z, bone.ik_max_z = -0.3, 0.4, -0.2, 0.1
    bone.lock_ik_y = True
    model = solving.rig_of(armature).model
    index = [model.coordinates.index(name) for name in model.coordinates if name.startswith("left_elbow")]
    measured["limits"] = [model.lower[index].tolist(), model.upper[index].tolist()]
    bpy.ops.poise.solve()
    angles = bone.matrix_basis.to_euler("XYZ")
    measured["limited_angles"] = list(angles)


def bake(armature, hand, start):
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 12
    for frame, share in ((1, 0.0), (12, 1.0)):
        hand.location = start + Vector((-0.1, -0.2, -0.3)) * share
        hand.keyframe_insert("location", frame=frame)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    path = os.path.join(folder, "baked.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    name = armature.name
    bpy.ops.wm.open_mainfile(filepath=path)
    armature = bpy.data.objects[name]
    activate(armature)
    misses = []
    for frame in range(1, 13):
        bpy.context.scene.frame_set(frame)
        goal = next(goal for goal in armature.poise.goals if goal.bone == "left_wrist")
        misses.append(float(np.linalg.norm(place(armature, "left_wrist") - np.array(goal.target.matrix_world.translation))))
    measured["baked_miss"], measured["baked_curves"] = max(misses), len(armature.animation_data.action.fcurves)


def compare(armature, rig, clip):
    """How far the bones of the played action are from the library's motion, over the armature's size."""
    worst, first = 0.0, bpy.context.scene.frame_start
    for i in range(0, len(clip), 5):
        bpy.context.scene.frame_set(first + i)
        poses = rig.model.fk(clip.q[i])
        for bone, body in zip(armature.pose.bones, rig.order):
            worst = max(worst, float(np.abs(np.array(bone.matrix) - poses[body]).max()))
    return worst


def retarget(armature):
    armature.poise.goals.clear()
    armature.animation_data_clear()
    bpy.context.scene.render.fps = 30
    clip, report = solving.retarget(armature, walk)
    measured["retarget_verdict"], measured["retarget_frames"] = report["verdict"]["level"], len(clip)
    measured["retarget_error"] = compare(armature, solving.rig_of(armature), clip)
    armature.rotation_mode, armature.rotation_euler = "XYZ", (2.8, 0.3, 1.0)  # as imported characters lie: no axis of theirs is up
    bpy.context.view_layer.update()
    rig = armatures.Rig(armature)
    turned = poise.parse(rig.upright(armature), "turned.json").model
    wanted = np.array(armature.matrix_world) @ rig.model.fk(rig.model.neutral())
    measured["upright_error"] = float(np.abs(turned.fk(turned.neutral()) - wanted).max())


def robot():
    """An armature of a robot has its kinematics and limits."""
    source = poise.scene("arm7")
    armature, warnings = armatures.armature_of(source, "arm7")
    rig = armatures.Rig(armature)
    q = source.clamp(np.linspace(-0.6, 0.7, source.nq))
    assert all(rig.joints[joint]["type"] == "revolute" for joint in source.joints)
    order = [rig.model.coordinates.index(bone) for bone in source.joints if bone in rig.model.coordinates]
    measured["robot_joints"] = [rig.model.nq, source.nq, len(warnings)]
    rest = np.linalg.inv(source.fk(source.neutral()))
    ours = np.empty(rig.model.nq)
    ours[order] = q
    moved, wanted = rig.model.fk(ours), source.fk(q)
    still = np.linalg.inv(rig.model.fk(rig.model.neutral()))
    pairs = [(rig.model.bodies.index(body), k) for k, body in enumerate(source.bodies)]
    measured["robot_error"] = max(float(np.abs(moved[i] @ still[i] - wanted[k] @ rest[k]).max()) for i, k in pairs)
    measured["robot_limits"] = float(np.abs(np.concatenate([
        np.nan_to_num(rig.model.lower[order] - source.lower), np.nan_to_num(rig.model.upper[order] - source.upper)])).max())
    rig.apply(ours)
    measured["robot_pose"] = float(np.abs(rig.configuration() - ours).max())


BAR = '''<mujoco><worldbody>
  <body name="crank"><joint axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 0 0 .3"/>
    <body name="rod" pos="0 0 .3"><joint axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 1 0 0"/></body></body>
  <body name="rocker" pos="1 0 -.3"><joint axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 0 0 .6"/></body>
</worldbody><equality><connect body1="rod" body2="rocker" anchor="1 0 0"/></equality></mujoco>'''


def loops():
    """A four-bar becomes an armature whose loop is a constraint of bones, and moves as one."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    path = os.path.join(folder, "bar.xml")
    with open(path, "w") as stream:
        stream.write(BAR)
    assert bpy.ops.poise.import_model(filepath=path) == {"FINISHED"}
    armature = bpy.context.object
    bpy.ops.poise.add_goal(kind="PIN", bone="rod")
    armature.poise.goals[0].target.location = (0.1, 0, 0.28284271)
    assert bpy.ops.poise.solve() == {"FINISHED"}
    for bone in armature.pose.bones:  # Blender itself would move the one anchor onto the other
        for constraint in bone.constraints:
            if constraint.type == "COPY_LOCATION":
                constraint.mute = True
    measured["loop_bones"] = len(armature.pose.bones)
    measured["loop_gap"] = float(np.linalg.norm(place(armature, "loop 1 rod") - place(armature, "loop 1 rocker")))
    measured["loop_miss"] = float(np.linalg.norm(place(armature, "rod") - (0.1, 0, 0.28284271)))


def hold(armature):
    """Constraints of bones hold, and locations of bones stay: a floor for a hand, a rope to a point."""
    spine = next(bone for bone in armature.pose.bones if bone.parent and not bone.parent.parent)
    spine.location = (0.01, 0.02, -0.01)
    for bone in ("left_wrist", "right_wrist"):
        bpy.ops.poise.add_goal(kind="PIN", bone=bone)
    start = [place(armature, bone) for bone in ("left_wrist", "right_wrist")]
    ground = bpy.data.objects.new("ground", None)
    ground.location = (0, 0, start[0][2] - 0.1)
    post = bpy.data.objects.new("post", None)
    post.location = start[1]
    for thing in (ground, post):
        bpy.context.scene.collection.objects.link(thing)
    floor = armature.pose.bones["left_wrist"].constraints.new("FLOOR")
    floor.target, floor.floor_location = ground, "FLOOR_Z"
    rope = armature.pose.bones["right_wrist"].constraints.new("LIMIT_DISTANCE")
    rope.target, rope.distance, rope.limit_mode = post, 0.05, "LIMITDIST_INSIDE"
    for goal, at, shift in zip(armature.poise.goals, start, ((0, 0, -0.3), (0, 0.2, 0))):
        goal.target.location = Vector(at) + Vector(shift)
    bpy.context.view_layer.update()
    bpy.ops.poise.solve()
    floor.mute = rope.mute = True
    measured["floor_height"] = float(place(armature, "left_wrist")[2] - ground.location.z)
    measured["rope_length"] = float(np.linalg.norm(place(armature, "right_wrist") - start[1]))
    measured["spine_moved"] = float((spine.location - Vector((0.01, 0.02, -0.01))).length)


# ---- The picture -----------------------------------------------------------------------------------------------------------


def material(name, color):
    made = bpy.data.materials.new(name)
    made.use_nodes = True
    made.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (*color, 1)
    return made


def spindle(name, start, end, look):
    """A bone as Blender draws it, from one point to another."""
    length = (end - start).length
    r, waist = min(0.3 * length, 0.045), 0.2 * length
    points = [(0, 0, 0), (r, waist, 0), (0, waist, r), (-r, waist, 0), (0, waist, -r), (0, length, 0)]
    faces = [(0, 1 + i, 1 + (i + 1) % 4) for i in range(4)] + [(5, 1 + (i + 1) % 4, 1 + i) for i in range(4)]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, [], faces)
    mesh.materials.append(look)
    thing = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(thing)
    thing.matrix_world = Matrix.Translation(start) @ (end - start).to_track_quat("Y", "Z").to_matrix().to_4x4()


def dress(armature, color):
    """Spindles for the bones, since bones are not rendered: to where the next ones begin, as the body hangs together."""
    look = material("bone", color)
    for bone in armature.pose.bones:
        head, *ends = (armature.matrix_world @ end for end in (bone.head, *(child.head for child in bone.children)))
        for end in ends or [armature.matrix_world @ bone.tail]:
            if (end - head).length > 1e-3:
                spindle(bone.name, head, end, look)
        bpy.ops.mesh.primitive_uv_sphere_add(radius=0.022, location=head)
        bpy.context.object.data.materials.append(look)


def render(armature, goals, path):
    scene = bpy.context.scene
    bpy.context.view_layer.update()
    dress(armature, (0.25, 0.33, 0.45))
    red = material("goal", (0.9, 0.35, 0.05))
    for goal in goals:
        bpy.ops.mesh.primitive_uv_sphere_add(radius=0.035, location=goal)
        bpy.context.object.data.materials.append(red)
    # a BVH at rest has its hips at the origin: the floor is below the feet
    ground = min((armature.matrix_world @ end).z for bone in armature.pose.bones for end in (bone.head, bone.tail)) - 0.02
    bpy.ops.mesh.primitive_plane_add(size=30, location=(0, 0, ground))
    bpy.context.object.data.materials.append(material("floor", (0.55, 0.56, 0.56)))
    bpy.ops.object.light_add(type="SUN", rotation=(0.7, 0.2, 0.6))
    bpy.context.object.data.energy = 2.5
    view = Vector((-2.6, 3.4, -0.75))
    bpy.ops.object.camera_add(location=Vector((0, -0.1, ground + 0.95)) - view, rotation=view.to_track_quat("-Z", "Y").to_euler())
    scene.camera = bpy.context.object
    scene.camera.data.lens = 62
    scene.world = bpy.data.worlds.new("sky")
    scene.world.use_nodes = True
    scene.world.node_tree.nodes["Background"].inputs[0].default_value = (0.45, 0.5, 0.58, 1)
    scene.view_settings.view_transform = "Standard"
    scene.render.engine, scene.cycles.samples, scene.cycles.use_denoising = "CYCLES", 16, False
    scene.render.resolution_x, scene.render.resolution_y = 560, 480
    scene.render.image_settings.file_format = "PNG"
    scene.render.filepath = path
    bpy.ops.render.render(write_still=True)
    activate(armature)


def rigify():
    """The skeleton that Rigify starts from, 159 bones with fingers and a face: dragged, then baked to the same place."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.preferences.addon_enable(module="rigify")
    bpy.ops.object.armature_human_metarig_add()
    armature, scene = bpy.context.object, bpy.context.scene
    for bone, kind in (("foot.L", "POSE"), ("foot.R", "POSE"), ("hand.L", "PIN")):
        bpy.ops.poise.add_goal(kind=kind, bone=bone)
    hand = armature.poise.goals[-1].target
    start = hand.location.copy()
    solving.solve(armature)
    model, armature.poise.live = solving.rig_of(armature).model, True
    for step in range(1, 6):
        hand.location = start + Vector((-0.2, -0.25, -0.3)) * (step / 5)
        bpy.context.view_layer.update()
    measured["rigify_miss"] = float(np.linalg.norm(place(armature, "hand.L") - np.array(hand.location)))
    measured["rigify_same_model"] = solving.rig_of(armature).model is model
    armature.poise.live, armature.poise.hold = False, 5e-6  # which pulls it off by more than the solver's tolerance
    hand.location = start
    scene.frame_start, scene.frame_end = 1, 3
    reports, missed = solving.bake(armature, 1, 3)
    measured["rigify_baked"] = [len(reports), sum(map(bool, reports)), len(missed)]
    hand.location = (0, 0, 9)
    measured["rigify_out_of_reach"] = solving.bake(armature, 1, 1)[1]


character_object = character()
hand_target, hand_start = drag(character_object)
goals_at = [np.array(goal.target.matrix_world.translation) for goal in character_object.poise.goals][:3]
render(character_object, goals_at, os.path.join(folder, "blender.png"))
limit(character_object)
bake(character_object, hand_target, hand_start)
character_object = character()
retarget(character_object)
hold(character())
robot()
loops()
rigify()
print("MEASURED", json.dumps(measured))
