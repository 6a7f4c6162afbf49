// The lamp and the skeletons for expressive inverse kinematics, and their postures.
//
// Conventions of Ribeiro & Paiva, "Expressive Inverse Kinematics Solving in Real-time for Virtual and Robotic Interactive
// Characters" (2019): at rest every segment points along +y; a joint turns about x, y or z of the frame before it; the end
// looks along its own +y. Axes and ranges of A to G are those of its Table 5.
#include "scene_builder.h"

#include <stdio.h>
#include <string.h>

typedef struct chain {
    const char *scene;
    const char *axes; // one letter per joint, from the root
    double range;     // degrees to either side
    double length[8]; // of the segments
} chain;

static const chain chains[] = {
    {"erik-a", "YXY", 90, {0.15, 0.35, 0.3}},
    {"erik-b", "YXZY", 180, {0.12, 0.3, 0.05, 0.35}},
    {"erik-c", "YXXZY", 90, {0.1, 0.3, 0.3, 0.0, 0.4}},
    {"erik-d", "YXZXY", 180, {0.1, 0.3, 0.05, 0.3, 0.3}},
    {"erik-e", "YXZXY", 90, {0.1, 0.3, 0.05, 0.3, 0.3}},
    {"erik-f", "YXXZXY", 90, {0.1, 0.25, 0.25, 0.05, 0.2, 0.25}},
    {"erik-g", "YXZXYXZY", 90, {0.1, 0.2, 0.05, 0.2, 0.05, 0.2, 0.05, 0.25}},
};

static const chain *find_chain(const char *scene)
{
    for (size_t i = 0; i < sizeof chains / sizeof chains[0]; ++i) {
        if (strcmp(chains[i].scene, scene) == 0) {
            return &chains[i];
        }
    }
    return NULL;
}

static poise_vec3 axis_of(char letter)
{
    return vec(letter == 'X', letter == 'Y', letter == 'Z');
}

void scene_build_erik(scene_builder *scene, const char *name)
{
    const chain *c = find_chain(name);
    int count = (int)strlen(c->axes);
    char joint_name[16] = "", parent[16] = "";
    for (int i = 0; i < count; ++i) {
        snprintf(joint_name, sizeof joint_name, "%c%d", c->axes[i] - 'A' + 'a', i + 1);
        poise_pose offset = at(0, i ? c->length[i - 1] : 0.0, 0);
        poise_joint joint =
            scene_hinge(joint_name, i ? parent : NULL, offset, axis_of(c->axes[i]), deg(-c->range), deg(c->range));
        scene_add_joint(scene, &joint);
        memcpy(parent, joint_name, sizeof parent);
    }
    scene_add_tool(scene, "tip", joint_name, at(0, c->length[count - 1], 0));
}

// Skeleton C once more, from the classic table of the same paper (Table 6), in metres. A Denavit-Hartenberg chain begins
// along z, so a fixed base turns z to +y; it also turns the table's y to -x and its x to -z. Then the joint axes of the two
// forms of C agree but for the fourth, which points the other way:
//
//   q_dh = (q1, q2, q3, -q4, q5)      tip of C = tip of the table turned back by the base's rotation
void scene_build_erik_dh(scene_builder *scene, const char *name)
{
    static const double base_axes[9] = {0, -1, 0, 0, 0, 1, -1, 0, 0}; // columns: -z, -x, +y
    const double quarter = 0.5 * SCENE_PI;
    const poise_dh_row rows[5] = {
        {.theta = 0, .alpha = quarter, .a = 0, .d = 0.1, .lower = -quarter, .upper = quarter},
        {.theta = quarter, .alpha = 0, .a = 0.3, .d = 0, .lower = -quarter, .upper = quarter},
        {.theta = 0, .alpha = quarter, .a = 0.3, .d = 0, .lower = -quarter, .upper = quarter},
        {.theta = quarter, .alpha = quarter, .a = 0, .d = 0, .lower = -quarter, .upper = quarter},
        {.theta = quarter, .alpha = 0, .a = 0, .d = 0.4, .lower = -quarter, .upper = quarter},
    };
    (void)name;
    poise_joint base = poise_joint_default();
    base.name = "base";
    base.offset.rotation = poise_quat_from_matrix(base_axes);
    scene_add_joint(scene, &base);
    if (scene->status == POISE_OK) {
        scene->status = poise_builder_add_dh(scene->builder, "c", "base", POISE_DH_CLASSIC, rows, 5, scene->error);
    }
}

// ---- Lamp ----------------------------------------------------------------------------------------------------------------

// Two arms over a turning foot, then a neck that tilts, nods and rolls the shade. The light shines along +y of the shade.
void scene_build_lamp(scene_builder *scene, const char *name)
{
    static const struct {
        const char *joint, *body;
        char axis;
        double lower, upper, length, mass;
    } rows[6] = {
        {"turn", "foot", 'Y', -170, 170, 0.07, 0.9},      {"lower", "lower_arm", 'X', -60, 60, 0.32, 0.15},
        {"upper", "upper_arm", 'X', -30, 140, 0.3, 0.12}, {"tilt", "neck", 'Z', -60, 60, 0.03, 0.02},
        {"nod", "head", 'X', -90, 120, 0.05, 0.08},       {"roll", "shade", 'Y', -90, 90, 0.11, 0.15},
    };
    (void)name;
    for (int i = 0; i < 6; ++i) {
        poise_joint joint = scene_hinge(rows[i].joint, i ? rows[i - 1].body : NULL, at(0, i ? rows[i - 1].length : 0, 0),
                                        axis_of(rows[i].axis), deg(rows[i].lower), deg(rows[i].upper));
        joint.body = rows[i].body;
        joint.mass = rows[i].mass;
        joint.mass_center = vec(0, (i ? 0.5 : 0.1) * rows[i].length, 0); // the foot is heavy at the bottom
        scene_add_joint(scene, &joint);
    }
    scene_add_tool(scene, "light", "shade", at(0, rows[5].length, 0));
}

// ---- Postures ------------------------------------------------------------------------------------------------------------

typedef struct lamp_posture {
    const char *name;
    double angle[6]; // degrees: turn, lower, upper, tilt, nod, roll
} lamp_posture;

static const lamp_posture lamp_postures[] = {
    {"rest", {0, -35, 85, 0, 60, 0}},     {"curious", {15, -5, 55, 22, 45, 12}},  {"proud", {0, -20, 40, 0, 50, 0}},
    {"sad", {0, -30, 110, 0, 85, 0}},     {"shy", {-60, -50, 125, -18, 40, -10}}, {"searching", {70, 25, 50, 0, 40, 0}},
    {"startled", {0, -50, 55, 0, 60, 0}},
};

// A posture for any of the chains: how far the joints about x bend together (each the same share, or in turn to either
// side), how far those about z do, and the angle of twisting joints inside the chain. The twists at both ends stay 0: they
// do not change the shape.
typedef struct shape {
    const char *name;
    double x, z, y; // degrees, at most 90
    bool alternate; // every second joint about x bends back
} shape;

static const shape shapes[] = {
    {"straight", 0, 0, 0, false}, {"bow", 80, 0, 0, false},          {"s-curve", 85, 0, 0, true},
    {"lean", 15, 45, 0, false},   {"look-round", 70, 50, 50, false},
};

int scene_posture_count(const char *scene)
{
    if (scene && strcmp(scene, "lamp") == 0) {
        return (int)(sizeof lamp_postures / sizeof lamp_postures[0]);
    }
    return scene && find_chain(scene) ? (int)(sizeof shapes / sizeof shapes[0]) : 0;
}

const char *scene_posture_name(const char *scene, int posture)
{
    if (posture < 0 || posture >= scene_posture_count(scene)) {
        return NULL;
    }
    return strcmp(scene, "lamp") == 0 ? lamp_postures[posture].name : shapes[posture].name;
}

static double shape_angle(const shape *s, const chain *c, int joint)
{
    char axis = c->axes[joint];
    int alike = 0, before = 0; // joints about the same axis: all, and before this one
    for (int i = 0; c->axes[i]; ++i) {
        alike += c->axes[i] == axis;
        before += c->axes[i] == axis && i < joint;
    }
    switch (axis) {
    case 'X':
        return (s->alternate && before % 2 ? -s->x : s->x) / alike;
    case 'Z':
        return s->z / alike;
    default:
        return joint == 0 || !c->axes[joint + 1] ? 0.0 : s->y;
    }
}

poise_status scene_posture(const poise_model *model, const char *scene, const char *posture, double *q)
{
    if (!model || !scene || !posture || !q) {
        return POISE_ERROR_ARGUMENT;
    }
    int index = 0;
    while (index < scene_posture_count(scene) && strcmp(scene_posture_name(scene, index), posture) != 0) {
        index += 1;
    }
    if (index == scene_posture_count(scene)) {
        return POISE_ERROR_NOT_FOUND;
    }
    const chain *c = find_chain(scene);
    int count = c ? (int)strlen(c->axes) : 6;
    if (poise_model_info(model).nq != count) {
        return POISE_ERROR_ARGUMENT;
    }
    for (int i = 0; i < count; ++i) {
        q[i] = deg(c ? shape_angle(&shapes[index], c, i) : lamp_postures[index].angle[i]);
    }
    return POISE_OK;
}
