// Robots of our own design, sizes and ranges of common machines. z is up; every robot has the tool `tip`, z out of the tool.
#include "scene_builder.h"

static const poise_vec3 X = {1, 0, 0}, Y = {0, 1, 0}, Z = {0, 0, 1};

// One joint of a serial robot: where it sits in the body before it, its axis there, and its range in degrees.
typedef struct robot_row {
    const char *name;
    poise_vec3 offset;
    poise_vec3 axis;
    double lower, upper;
} robot_row;

static void add_rows(scene_builder *scene, const robot_row *rows, int count)
{
    for (int i = 0; i < count; ++i) {
        const robot_row *row = &rows[i];
        poise_joint joint =
            scene_hinge(row->name, i ? rows[i - 1].name : NULL, at(row->offset.x, row->offset.y, row->offset.z), row->axis,
                        deg(row->lower), deg(row->upper));
        scene_add_joint(scene, &joint);
    }
}

// A prismatic joint, limits in metres.
static void add_slide(scene_builder *scene, const char *name, const char *parent, poise_pose offset, poise_vec3 axis,
                      double lower, double upper)
{
    poise_joint joint = scene_hinge(name, parent, offset, axis, lower, upper);
    joint.type = POISE_JOINT_PRISMATIC;
    scene_add_joint(scene, &joint);
}

// At 0 the upper arm points up, the forearm forwards (+x). The elbow sits 3 cm off the line of the upper arm, the wrist
// axes miss each other by 2 cm: no closed form for the inverse.
void scene_build_arm6(scene_builder *scene, const char *name)
{
    const robot_row rows[] = {
        {"base", vec(0, 0, 0.16), Z, -170, 170},    {"shoulder", vec(0.06, 0, 0.18), Y, -100, 130},
        {"elbow", vec(0.03, 0, 0.41), Y, -150, 80}, {"forearm", vec(0.12, 0, 0.04), X, -185, 185},
        {"wrist", vec(0.27, 0, 0), Y, -120, 120},   {"flange", vec(0.07, 0, 0.02), X, -350, 350},
    };
    (void)name;
    add_rows(scene, rows, (int)(sizeof rows / sizeof rows[0]));
    poise_pose tip = {poise_quat_from_axis_angle(Y, deg(90)), vec(0.11, 0, 0)}; // z along the flange's +x
    scene_add_tool(scene, "tip", "flange", tip);
}

// Shoulder and wrist are three axes through one point each, the elbow lies between them: straight up at 0.
void scene_build_arm7(scene_builder *scene, const char *name)
{
    const robot_row rows[] = {
        {"shoulder_yaw", vec(0, 0, 0.14), Z, -168, 168},   {"shoulder_pitch", vec(0, 0, 0.18), Y, -112, 112},
        {"upper_arm_roll", vec(0, 0, 0.21), Z, -168, 168}, {"elbow", vec(0, 0, 0.19), Y, -118, 118},
        {"forearm_roll", vec(0, 0, 0.2), Z, -168, 168},    {"wrist_pitch", vec(0, 0, 0.17), Y, -115, 115},
        {"wrist_roll", vec(0, 0, 0.08), Z, -172, 172},
    };
    (void)name;
    add_rows(scene, rows, (int)(sizeof rows / sizeof rows[0]));
    scene_add_tool(scene, "tip", "wrist_roll", at(0, 0, 0.06));
}

// The tool points down.
void scene_build_scara(scene_builder *scene, const char *name)
{
    (void)name;
    poise_joint joint = scene_hinge("shoulder", NULL, at(0, 0, 0.38), Z, deg(-130), deg(130));
    scene_add_joint(scene, &joint);
    joint = scene_hinge("elbow", "shoulder", at(0.325, 0, 0.05), Z, deg(-145), deg(145));
    scene_add_joint(scene, &joint);
    add_slide(scene, "lift", "elbow", at(0.275, 0, -0.02), Z, -0.21, 0.0);
    joint = scene_hinge("turn", "lift", at(0, 0, 0), Z, deg(-360), deg(360));
    scene_add_joint(scene, &joint);
    poise_pose tip = {poise_quat_from_axis_angle(X, deg(180)), vec(0, 0, -0.12)};
    scene_add_tool(scene, "tip", "turn", tip);
}

void scene_build_gantry(scene_builder *scene, const char *name)
{
    (void)name;
    add_slide(scene, "bridge", NULL, at(0, 0, 1.4), X, -1.5, 1.5);
    add_slide(scene, "carriage", "bridge", at(0, 0, 0), Y, -0.9, 0.9);
    add_slide(scene, "column", "carriage", at(0, 0, -0.1), Z, -0.8, 0.0);
    poise_joint joint = scene_hinge("turn", "column", at(0, 0, -0.2), Z, deg(-270), deg(270));
    scene_add_joint(scene, &joint);
    joint = scene_hinge("tilt", "turn", at(0, 0, -0.08), Y, deg(-95), deg(95));
    scene_add_joint(scene, &joint);
    poise_pose tip = {poise_quat_from_axis_angle(X, deg(180)), vec(0, 0, -0.15)};
    scene_add_tool(scene, "tip", "tilt", tip);
}
