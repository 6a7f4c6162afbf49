#include "random_model.h"

#include <math.h>
#include <stdio.h>

#define NAME_SIZE 16

poise_vec3 random_vector(scene_random *random, double size)
{
    // one after the other: the order of arguments is the compiler's choice
    double x = scene_random_range(random, -size, size);
    double y = scene_random_range(random, -size, size);
    double z = scene_random_range(random, -size, size);
    return poise_vec3_make(x, y, z);
}

// Any direction, or one of the coordinate axes, which the library treats on their own.
static poise_quat random_axes(scene_random *random)
{
    int turn = scene_random_index(random, 6);
    if (turn > 2) {
        return scene_random_rotation(random);
    }
    // the cyclic exchanges of x, y and z, exact as matrices
    return turn == 0 ? poise_pose_identity().rotation : (poise_quat){0.5, 0.5, 0.5, turn == 1 ? 0.5 : -0.5};
}

// A knee that rolls as it bends, one of oblique axes by polynomials, and one that turns and slides along a line.
const poise_curve random_curves[RANDOM_CURVE_COUNT] = {
    {.axis = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
     .value = {{POISE_FUNCTION_POLYNOMIAL, 2, NULL, (const double[]){1, 0}},
               {.count = 0},
               {POISE_FUNCTION_SPLINE, 3, (const double[]){-1, 0.5, 2}, (const double[]){0.1, -0.2, 0.3}},
               {POISE_FUNCTION_SPLINE, 5, (const double[]){-2.1, -1, -0.2, 0.7, 2.5},
                (const double[]){0, 0.1, 0.05, -0.1, 0.2}},
               {POISE_FUNCTION_SPLINE, 2, (const double[]){-1, 1}, (const double[]){-0.1, 0.2}},
               {.count = 0}}},
    {.axis = {{1, 2, -1}, {0, 1, 3}, {-1, 0.5, 0.2}, {1, 1, 0}, {0.3, -1, 1}, {0, 0, -2}},
     .value = {{POISE_FUNCTION_POLYNOMIAL, 4, NULL, (const double[]){0.02, -0.05, 0.8, 0.3}},
               {POISE_FUNCTION_POLYNOMIAL, 3, NULL, (const double[]){0.05, 0.4, -0.1}},
               {POISE_FUNCTION_POLYNOMIAL, 1, NULL, (const double[]){0.7}},
               {POISE_FUNCTION_POLYNOMIAL, 3, NULL, (const double[]){0.05, -0.1, 0.2}},
               {POISE_FUNCTION_SPLINE, 4, (const double[]){-4, -1, 1, 4}, (const double[]){0.2, 0.1, -0.3, 0.1}},
               {POISE_FUNCTION_POLYNOMIAL, 2, NULL, (const double[]){-0.5, 0.1}}}},
    {.axis = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {1, 0, 0}, {0, -1, 0}, {0, 0, 1}},
     .value = {{.count = 0},
               {POISE_FUNCTION_POLYNOMIAL, 2, NULL, (const double[]){-1, 0.2}},
               {.count = 0},
               {.count = 0},
               {POISE_FUNCTION_LINES, 2, (const double[]){-1, 1}, (const double[]){0.3, -0.1}},
               {.count = 0}}},
};

poise_joint random_joint(scene_random *random, poise_joint_type type)
{
    poise_joint joint = poise_joint_default();
    joint.type = type;
    joint.offset.rotation = random_axes(random);
    joint.offset.position = random_vector(random, 0.5);
    poise_quat frame = random_axes(random);
    joint.axis = poise_quat_rotate(frame, poise_vec3_make(0, 0, 1));
    joint.axis2 = poise_quat_rotate(frame, poise_vec3_make(1, 0, 0));
    joint.axes = random_axes(random);
    joint.order = (poise_euler_order)scene_random_index(random, POISE_EULER_ORDER_COUNT);
    joint.curve = type == POISE_JOINT_CURVE ? &random_curves[scene_random_index(random, RANDOM_CURVE_COUNT)] : NULL;
    if (scene_random_index(random, 3) > 0) {
        joint.mass = scene_random_range(random, 0.1, 2.0);
        joint.mass_center = random_vector(random, 0.2);
    }
    return joint;
}

static void add_limits(scene_random *random, poise_joint *joint)
{
    bool has_quaternion = joint->type == POISE_JOINT_BALL_QUATERNION || joint->type == POISE_JOINT_FREE;
    for (int i = 0; i < 7 && !has_quaternion; ++i) {
        joint->lower[i] = scene_random_range(random, -2.0, -0.1);
        joint->upper[i] = scene_random_range(random, 0.1, 2.0);
    }
    if (joint->type == POISE_JOINT_SWING_TWIST) {
        joint->swing[0] = scene_random_range(random, 0.2, 1.5);
        joint->swing[1] = scene_random_range(random, 0.2, 1.5);
    }
}

// Does each coordinate have limits of its own? Not quaternions; a swing or a rotation vector is also bounded as a whole.
static bool has_single_limits(poise_joint_type type)
{
    return type != POISE_JOINT_BALL_QUATERNION && type != POISE_JOINT_FREE && type != POISE_JOINT_SWING_TWIST &&
           type != POISE_JOINT_BALL_EXPMAP && type != POISE_JOINT_FREE_EXPMAP;
}

// The limits of some coordinates: of no width, on one side alone, or so far apart that there might be none.
static void change_widths(scene_random *random, poise_joint *joint)
{
    for (int i = 0; i < 7; ++i) {
        int which = scene_random_index(random, 8);
        if (which == 0) {
            joint->lower[i] = joint->upper[i];
        } else if (which == 1) {
            joint->lower[i] = -INFINITY;
        } else if (which == 2) {
            joint->upper[i] = 1e16;
        } else if (which == 3) {
            joint->lower[i] = -1e12;
            joint->upper[i] = 1e12;
        }
    }
}

// A joint with a coordinate of its own that others may follow.
static bool can_lead(const poise_joint *joint)
{
    return (joint->type == POISE_JOINT_REVOLUTE || joint->type == POISE_JOINT_PRISMATIC ||
            joint->type == POISE_JOINT_CURVE) &&
           !joint->mimic;
}

static void follow_by_function(poise_joint *joint)
{
    static const double x[] = {-3, -1, 0.5, 3}, y[] = {0.4, 0.1, -0.3, 0.5};
    static const poise_function function = {POISE_FUNCTION_SPLINE, 4, x, y};
    joint->mimic_multiplier = 1.0;
    joint->mimic_offset = 0.0;
    joint->mimic_function = &function;
    joint->lower[0] = -INFINITY;
    joint->upper[0] = INFINITY;
}

static bool add_tool(scene_random *random, poise_builder *builder, int i)
{
    char name[NAME_SIZE], body[NAME_SIZE];
    snprintf(name, sizeof name, "t%d", i / 3);
    snprintf(body, sizeof body, "b%d", i);
    poise_quat rotation = scene_random_rotation(random);
    poise_tool tool = {.name = name, .body = body, .pose = {rotation, random_vector(random, 0.3)}};
    return poise_builder_add_tool(builder, &tool, NULL) == POISE_OK;
}

static bool add_joints(scene_random *random, poise_builder *builder, int count, unsigned features)
{
    char name[NAME_SIZE], body[NAME_SIZE], parent[NAME_SIZE], leader[NAME_SIZE] = "";
    for (int i = 0; i < count; ++i) {
        int types = features & RANDOM_CURVES ? POISE_JOINT_TYPE_COUNT : POISE_JOINT_CURVE;
        poise_joint joint = random_joint(random, (poise_joint_type)scene_random_index(random, types));
        snprintf(name, sizeof name, "j%d", i);
        snprintf(body, sizeof body, "b%d", i);
        snprintf(parent, sizeof parent, "b%d", i == 0 ? 0 : scene_random_index(random, i));
        joint.name = name;
        joint.body = body;
        bool is_root = i == 0 || ((features & RANDOM_FOREST) && scene_random_index(random, 6) == 0);
        joint.parent = is_root ? NULL : parent;
        if ((features & RANDOM_LIMITS) && scene_random_index(random, 2) == 0) {
            add_limits(random, &joint);
            if ((features & RANDOM_WIDTHS) && has_single_limits(joint.type)) {
                change_widths(random, &joint);
            }
        }
        bool is_follower = (features & RANDOM_MIMICS) && leader[0] && can_lead(&joint) && scene_random_index(random, 2) == 0;
        if (is_follower) {
            joint.mimic = leader;
            joint.mimic_multiplier = scene_random_range(random, -2.0, 2.0);
            joint.mimic_offset = scene_random_range(random, -0.05, 0.05);
            if ((features & RANDOM_CURVES) && scene_random_index(random, 2) == 0) {
                follow_by_function(&joint);
            }
        }
        if (poise_builder_add_joint(builder, &joint, NULL) != POISE_OK || (i % 3 == 0 && !add_tool(random, builder, i))) {
            return false;
        }
        if (can_lead(&joint)) {
            snprintf(leader, sizeof leader, "j%d", i);
        }
    }
    return true;
}

poise_builder *random_builder(scene_random *random, int count, unsigned features)
{
    poise_builder *builder;
    if (count < 1 || count > RANDOM_MODEL_LARGEST || poise_builder_create(NULL, &builder, NULL) != POISE_OK) {
        return NULL;
    }
    if (!add_joints(random, builder, count, features)) {
        poise_builder_destroy(builder);
        return NULL;
    }
    return builder;
}

poise_model *random_model(scene_random *random, int count, unsigned features)
{
    poise_builder *builder = random_builder(random, count, features);
    poise_model *model = NULL;
    if (builder && poise_model_create(builder, NULL, &model, NULL) != POISE_OK) {
        model = NULL;
    }
    poise_builder_destroy(builder);
    return model;
}

void random_step(scene_random *random, const poise_model *model, double size, double *v)
{
    for (int i = 0; i < poise_model_info(model).nv; ++i) {
        v[i] = scene_random_range(random, -size, size);
    }
}
