// A small humanoid robot of our own design, 1.37 m tall, 35 kg, 30 hinges: waist 2, neck 2, each arm 7, each leg 6.
//
// z is up, x ahead, y to the left; at 0 it stands straight with its arms down. The pelvis is fixed to the world at the origin;
// benchmarks make that joint free. Positive angles are
//
//   waist, neck        turn to the left; bow
//   hip                leg back; out; toes out
//   knee, ankle        bent; toes down; sole turned to the outside
//   shoulder           arm back; out; turned out
//   elbow, wrist       stretched (0 is straight); turned out; back; out
//
// The right side mirrors the left one, with the same signs: axes x and z have the other direction there.
#include "android.h"
#include "scene_builder.h"

#include <stdio.h>
#include <string.h>

static const poise_vec3 AHEAD = {1, 0, 0}, LEFT = {0, 1, 0}, UP = {0, 0, 1};

// One hinge and the body it carries: where it sits in the body before it, its range in degrees, its speed in radians a second,
// the mass of the body and where that is.
typedef struct hinge_row {
    const char *name, *parent;
    poise_vec3 offset;
    const poise_vec3 *axis;
    double lower, upper, speed, mass;
    poise_vec3 mass_center;
} hinge_row;

static const hinge_row middle[] = {
    {"waist_yaw", "pelvis", {0, 0, 0.05}, &UP, -120, 120, 10, 0.6, {0, 0, 0.02}},
    {"waist_pitch", "waist_yaw", {0, 0, 0.05}, &LEFT, -20, 60, 8, 8.5, {0, 0, 0.19}},
    {"neck_yaw", "waist_pitch", {0, 0, 0.36}, &UP, -80, 80, 8, 0.2, {0, 0, 0.01}},
    {"neck_pitch", "neck_yaw", {0, 0, 0.04}, &LEFT, -35, 45, 8, 1.3, {0, 0, 0.09}},
};

// The left side.
static const hinge_row side[] = {
    {"hip_pitch", "pelvis", {0, 0.06, -0.04}, &LEFT, -140, 60, 12, 0.9, {0, 0.02, 0}},
    {"hip_roll", "hip_pitch", {0, 0.04, 0}, &AHEAD, -25, 95, 12, 0.9, {0, 0, -0.03}},
    {"hip_yaw", "hip_roll", {0, 0, -0.08}, &UP, -100, 100, 12, 2.2, {0, 0, -0.11}},
    {"knee", "hip_yaw", {0, 0, -0.22}, &LEFT, 0, 145, 16, 1.5, {0, 0, -0.13}},
    {"ankle_pitch", "knee", {0, 0, -0.28}, &LEFT, -50, 30, 12, 0.1, {0, 0, 0}},
    {"ankle_roll", "ankle_pitch", {0, 0, 0}, &AHEAD, -18, 18, 12, 0.6, {0.03, 0, -0.03}},
    {"shoulder_pitch", "waist_pitch", {0, 0.125, 0.3}, &LEFT, -170, 50, 12, 0.6, {0, 0.03, 0}},
    {"shoulder_roll", "shoulder_pitch", {0, 0.045, 0}, &AHEAD, -20, 160, 12, 0.5, {0, 0, -0.04}},
    {"shoulder_yaw", "shoulder_roll", {0, 0.01, -0.09}, &UP, -150, 150, 12, 0.7, {0, 0, -0.05}},
    {"elbow", "shoulder_yaw", {0, 0, -0.11}, &LEFT, -125, 0, 12, 0.5, {0, 0, -0.05}},
    {"wrist_roll", "elbow", {0, 0, -0.09}, &UP, -115, 115, 15, 0.4, {0, 0, -0.04}},
    {"wrist_pitch", "wrist_roll", {0, 0, -0.09}, &LEFT, -75, 75, 15, 0.1, {0, 0, 0}},
    {"wrist_yaw", "wrist_pitch", {0, 0, -0.02}, &AHEAD, -60, 60, 15, 0.3, {0, 0, -0.05}},
};

#define MIDDLES ((int)(sizeof middle / sizeof middle[0]))
#define SIDES   ((int)(sizeof side / sizeof side[0]))

static poise_vec3 mirrored(poise_vec3 v)
{
    return vec(v.x, -v.y, v.z);
}

// "left_knee"; the pelvis and the middle have one name.
static const char *name_of(char text[32], const char *name, const char *prefix, bool is_of_side)
{
    snprintf(text, 32, "%s%s", is_of_side ? prefix : "", name);
    return text;
}

static bool is_of_side(const char *body)
{
    for (int i = 0; i < SIDES; ++i) {
        if (strcmp(side[i].name, body) == 0) {
            return true;
        }
    }
    return false;
}

static void add_row(scene_builder *scene, const hinge_row *row, const char *prefix, bool is_right)
{
    char name[32], parent[32];
    poise_vec3 axis = *row->axis;
    if (is_right && row->axis != &LEFT) {
        axis = vec(-axis.x, -axis.y, -axis.z);
    }
    poise_joint joint =
        scene_hinge(name_of(name, row->name, prefix, true), name_of(parent, row->parent, prefix, is_of_side(row->parent)),
                    at(row->offset.x, row->offset.y, row->offset.z), axis, deg(row->lower), deg(row->upper));
    joint.offset.position = is_right ? mirrored(row->offset) : row->offset;
    joint.velocity = row->speed;
    joint.mass = row->mass;
    joint.mass_center = is_right ? mirrored(row->mass_center) : row->mass_center;
    scene_add_joint(scene, &joint);
}

void scene_build_android(scene_builder *scene, const char *name)
{
    static const char *const prefixes[] = {"left_", "right_"};
    (void)name;
    poise_joint pelvis = poise_joint_default();
    pelvis.name = "pelvis";
    pelvis.mass = 3.2;
    scene_add_joint(scene, &pelvis);
    for (int i = 0; i < MIDDLES; ++i) {
        add_row(scene, &middle[i], "", false);
    }
    for (int s = 0; s < 2; ++s) {
        for (int i = 0; i < SIDES; ++i) {
            add_row(scene, &side[i], prefixes[s], s == 1);
        }
        char tool[32], body[32];
        scene_add_tool(scene, name_of(tool, "palm", prefixes[s], true), name_of(body, "wrist_yaw", prefixes[s], true),
                       at(0, 0, -0.08));
        scene_add_tool(scene, name_of(tool, "sole", prefixes[s], true), name_of(body, "ankle_roll", prefixes[s], true),
                       at(0, 0, -0.057));
    }
    scene_add_tool(scene, "eyes", "neck_pitch", at(0.08, 0, 0.1));
}

// ---- Shapes --------------------------------------------------------------------------------------------------------------

// A capsule from a to b, or a box from a to b, in the frame of the body, both grown by the radius.
typedef struct shape_row {
    const char *body;
    bool is_box;
    poise_vec3 a, b;
    double radius;
} shape_row;

static const shape_row shapes_of_middle[] = {
    {"pelvis", false, {0, -0.05, 0}, {0, 0.05, 0}, 0.07},
    {"waist_pitch", true, {-0.055, -0.075, 0.08}, {0.055, 0.075, 0.31}, 0.02},
    {"neck_pitch", false, {0, 0, 0.07}, {0, 0, 0.12}, 0.075},
};

static const shape_row shapes_of_side[] = {
    {"hip_yaw", false, {0, 0, -0.02}, {0, 0, -0.2}, 0.055},
    {"knee", false, {0, 0, -0.04}, {0, 0, -0.24}, 0.045},
    {"ankle_roll", true, {-0.05, -0.03, -0.047}, {0.11, 0.03, -0.03}, 0.01},
    {"shoulder_yaw", false, {0, 0, 0.03}, {0, 0, -0.09}, 0.04},
    {"elbow", false, {0, 0, -0.02}, {0, 0, -0.08}, 0.035},
    {"wrist_roll", false, {0, 0, 0}, {0, 0, -0.07}, 0.033},
    {"wrist_yaw", false, {0.02, 0, -0.04}, {0.02, 0, -0.08}, 0.022},
    {"wrist_yaw", false, {-0.02, 0, -0.04}, {-0.02, 0, -0.08}, 0.022},
};

static poise_shape shape_of(const poise_model *model, const shape_row *row, const char *prefix, bool is_right)
{
    char name[32];
    int body = poise_model_find_body(model, name_of(name, row->body, prefix, true));
    poise_vec3 a = is_right ? mirrored(row->a) : row->a, b = is_right ? mirrored(row->b) : row->b;
    if (!row->is_box) {
        return poise_shape_capsule(body, a, b, row->radius);
    }
    poise_vec3 half = {0.5 * (row->b.x - row->a.x), 0.5 * (row->b.y - row->a.y), 0.5 * (row->b.z - row->a.z)};
    poise_shape box = poise_shape_box(body, at(0.5 * (a.x + b.x), 0.5 * (a.y + b.y), 0.5 * (a.z + b.z)), half);
    box.radius = row->radius;
    return box;
}

void android_shapes(const poise_model *model, poise_shape shapes[ANDROID_SHAPES])
{
    int count = 0;
    for (size_t i = 0; i < sizeof shapes_of_middle / sizeof shapes_of_middle[0]; ++i) {
        shapes[count++] = shape_of(model, &shapes_of_middle[i], "", false);
    }
    for (size_t i = 0; i < sizeof shapes_of_side / sizeof shapes_of_side[0]; ++i) {
        shapes[count++] = shape_of(model, &shapes_of_side[i], "left_", false);
        shapes[count++] = shape_of(model, &shapes_of_side[i], "right_", true);
    }
}
