"""Poise in Blender: pin and aim bones of an armature, solve the whole body while targets are dragged, bake, retarget."""

bl_info = {
    "name": "Poise inverse kinematics",
    "author": "Poise",
    "version": (0, 2, 0),
    "blender": (3, 0, 0),
    "location": "View3D > Sidebar > Poise",
    "description": "Full-body inverse kinematics with pins, aims and limits; retargeting; armatures from robots",
    "category": "Animation",
}

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty
from bpy_extras.io_utils import ImportHelper

try:
    import poise
except ImportError as missing:
    raise ImportError(
        "the package poise-ik is not in Blender's Python: `pip install .` in a clone of Poise, with the python3 that Blender runs"
    ) from missing

from . import armature as armatures
from . import solving


class PoiseGoal(bpy.types.PropertyGroup):
    bone: StringProperty(name="Bone")
    kind: EnumProperty(name="Kind", items=[
        ("PIN", "Pin", "The bone's head or tail is at the target"),
        ("POSE", "Pose", "The bone has the target's position and rotation"),
        ("AIM", "Aim", "The bone points at the target"),
    ])
    target: PointerProperty(name="Target", type=bpy.types.Object)
    at_tail: BoolProperty(name="At the tail", default=False)
    axis: EnumProperty(name="Axis", items=[(a, a, "") for a in solving.AXIS], default="Y")
    weight: FloatProperty(name="Weight", default=1, min=0)
    enabled: BoolProperty(name="Enabled", default=True)


class PoiseSettings(bpy.types.PropertyGroup):
    goals: CollectionProperty(type=PoiseGoal)
    active: IntProperty()
    live: BoolProperty(name="Live", description="Solve while targets are dragged", default=False)
    hold: FloatProperty(name="Hold", description="Pull of the pose on what goals leave open", default=1e-6, min=0, precision=7)


class PoiseOperator(bpy.types.Operator):
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return context.object is not None and context.object.type == "ARMATURE"

    def execute(self, context):
        try:
            return self.run(context)
        except (poise.Error, OSError) as refusal:
            self.report({"ERROR"}, str(refusal))
            return {"CANCELLED"}


class POISE_OT_add_goal(PoiseOperator):
    """Give the active bone a target: an empty where it is now"""

    bl_idname = "poise.add_goal"
    bl_label = "Add Goal"
    kind: EnumProperty(name="Kind", items=[("PIN", "Pin", ""), ("POSE", "Pose", ""), ("AIM", "Aim", "")])
    bone: StringProperty(name="Bone", description="The active bone if empty")
    at_tail: BoolProperty(name="At the tail")

    def run(self, context):
        armature = context.object
        bone = armature.pose.bones.get(self.bone) or context.active_pose_bone
        if bone is None:
            self.report({"ERROR"}, f"there is no bone {self.bone!r}" if self.bone else "select a bone in pose mode first")
            return {"CANCELLED"}
        target = bpy.data.objects.new(f"{bone.name} {self.kind.lower()}", None)
        target.empty_display_size = 0.5 * bone.length
        place = bone.matrix.copy()
        if self.kind == "AIM":
            place.translation = bone.matrix @ armatures.Matrix.Translation((0, 3 * bone.length, 0)).translation
        elif self.at_tail:
            place.translation = bone.tail
        target.matrix_world = armature.matrix_world @ place
        context.scene.collection.objects.link(target)
        goal = armature.poise.goals.add()
        goal.bone, goal.kind, goal.target, goal.at_tail = bone.name, self.kind, target, self.at_tail
        armature.poise.active = len(armature.poise.goals) - 1
        return {"FINISHED"}


class POISE_OT_remove_goal(PoiseOperator):
    """Remove the goal that is selected in the list; its target stays"""

    bl_idname = "poise.remove_goal"
    bl_label = "Remove Goal"

    def run(self, context):
        context.object.poise.goals.remove(context.object.poise.active)
        return {"FINISHED"}


class POISE_OT_solve(PoiseOperator):
    """Solve all goals from the pose as it is"""

    bl_idname = "poise.solve"
    bl_label = "Solve"

    def run(self, context):
        rig = solving.rig_of(context.object)
        _, report = solving.solve(context.object, rig)
        if report is None:
            self.report({"WARNING"}, "there are no goals: give a bone a target")
            return {"CANCELLED"}
        if not report.holds:
            self.report({"WARNING"}, f"constraints do not hold: {report.reason}")
        elif not solving.is_met(rig, report):
            self.report({"WARNING"}, f"{report.outcome}: {report.worst_length:.3g} away, {report.reason}")
        return {"FINISHED"}


class POISE_OT_bake(PoiseOperator):
    """Solve every frame of the scene's range and insert keyframes"""

    bl_idname = "poise.bake"
    bl_label = "Bake to Keyframes"

    def run(self, context):
        scene = context.scene
        reports, missed = solving.bake(context.object, scene.frame_start, scene.frame_end)
        if missed:
            self.report({"WARNING"}, f"{len(missed)} of {len(reports)} frames miss a goal, the first is {missed[0]}")
        return {"FINISHED"}


class POISE_OT_retarget(PoiseOperator, ImportHelper):
    """Bring a motion (BVH, ASF/AMC, glTF, ...) onto this armature"""

    bl_idname = "poise.retarget"
    bl_label = "Retarget Motion"
    filter_glob: StringProperty(default="*.bvh;*.amc;*.glb;*.gltf;*.json;*.mot", options={"HIDDEN"})

    def run(self, context):
        _, report = solving.retarget(context.object, self.filepath)
        verdict = report["verdict"]
        if verdict["level"] != "good":
            self.report({"WARNING"}, f"the motion is {verdict['level']}: {'; '.join(map(str, verdict['reasons']))}")
        return {"FINISHED"}


class POISE_OT_import(bpy.types.Operator, ImportHelper):
    """An armature, with limits, from a robot or character: URDF, MJCF, BVH, ASF, OpenSim, Poise JSON"""

    bl_idname = "poise.import_model"
    bl_label = "Import Skeleton"
    bl_options = {"REGISTER", "UNDO"}
    up: EnumProperty(name="Up", items=[("AUTO", "As the file says", "y for BVH and ASF, which do not say"), *[(a, a.upper(), "") for a in "xyz"]])
    metres: FloatProperty(name="Metres of its unit", description="0: as the file says, else 1", default=0, min=0)

    def execute(self, context):
        try:
            file = poise.read(self.filepath)
            if file.model is None:
                raise poise.Error(f"{self.filepath}: there is no skeleton in this file")
            name = bpy.path.display_name_from_filepath(self.filepath)
            up = file.up or ("y" if file.format in ("bvh", "asf") else "z")
            metres = self.metres or file.metres or 1.0
            _, warnings = armatures.armature_of(file.model, name, metres, up if self.up == "AUTO" else self.up)
        except (poise.Error, OSError) as refusal:
            self.report({"ERROR"}, str(refusal))
            return {"CANCELLED"}
        for text in warnings[:5]:
            self.report({"WARNING"}, text)
        return {"FINISHED"}


class POISE_UL_goals(bpy.types.UIList):
    def draw_item(self, context, layout, data, item, icon, active_data, active_property):
        row = layout.row(align=True)
        row.prop(item, "enabled", text="")
        row.label(text=f"{item.kind.title()} {item.bone}{' tail' if item.at_tail else ''}")


class POISE_PT_panel(bpy.types.Panel):
    bl_label = "Poise"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Poise"

    def draw(self, context):
        layout, armature = self.layout, context.object
        layout.operator("poise.import_model")
        if armature is None or armature.type != "ARMATURE":
            layout.label(text="Select an armature")
            return
        settings = armature.poise
        layout.template_list("POISE_UL_goals", "", settings, "goals", settings, "active", rows=3)
        row = layout.row(align=True)
        for kind in ("PIN", "POSE", "AIM"):
            row.operator("poise.add_goal", text=kind.title()).kind = kind
        row.operator("poise.remove_goal", text="", icon="REMOVE")
        if 0 <= settings.active < len(settings.goals):
            goal = settings.goals[settings.active]
            layout.prop(goal, "target")
            layout.prop(goal, "axis" if goal.kind == "AIM" else "at_tail")
            layout.prop(goal, "weight")
        layout.prop(settings, "hold")
        layout.prop(settings, "live", toggle=True)
        layout.operator("poise.solve")
        layout.operator("poise.bake")
        layout.operator("poise.retarget")


classes = (PoiseGoal, PoiseSettings, POISE_OT_add_goal, POISE_OT_remove_goal, POISE_OT_solve, POISE_OT_bake,
           POISE_OT_retarget, POISE_OT_import, POISE_UL_goals, POISE_PT_panel)


def register():
    for each in classes:
        bpy.utils.register_class(each)
    bpy.types.Object.poise = PointerProperty(type=PoiseSettings)
    bpy.app.handlers.depsgraph_update_post.append(solving.when_changed)


def unregister():
    bpy.app.handlers.depsgraph_update_post.remove(solving.when_changed)
    del bpy.types.Object.poise
    for each in reversed(classes):
        bpy.utils.unregister_class(each)
