#include "structured.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fuzz_require(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "broken: %s\n", what);
        abort();
    }
}

// ---- Numbers -------------------------------------------------------------------------------------------------------------

int fuzz_byte(fuzz_bytes *bytes)
{
    return bytes->at < bytes->end ? *bytes->at++ : 0;
}

int fuzz_index(fuzz_bytes *bytes, int count)
{
    return fuzz_byte(bytes) % count;
}

double fuzz_number(fuzz_bytes *bytes)
{
    static const double hard[] = {
        -0.0,     INFINITY, -INFINITY, NAN,    DBL_MAX, -DBL_MAX, DBL_MIN,           5e-324,
        -1e-310,  1e300,    -1e200,    1e154,  1e-160,  1e17,     3.14159265358979,  -3.1415926535898,
        6.283185, 1e-9,     1e-5,      0x1p52, 2e9,     -1e-17,   1.570796326794897, 1e8};
    int kind = fuzz_byte(bytes);
    if (kind < 160) {
        return (kind - 80) / 10.0;
    }
    if (kind < 216) {
        return hard[(size_t)kind % (sizeof hard / sizeof hard[0])];
    }
    unsigned char raw[sizeof(double)];
    double x;
    for (size_t i = 0; i < sizeof raw; ++i) {
        raw[i] = (unsigned char)fuzz_byte(bytes);
    }
    memcpy(&x, raw, sizeof x);
    return x;
}

double fuzz_number_or(fuzz_bytes *bytes, double usual)
{
    return fuzz_byte(bytes) & 1 ? fuzz_number(bytes) : usual;
}

poise_vec3 fuzz_vec3(fuzz_bytes *bytes)
{
    double x = fuzz_number(bytes), y = fuzz_number(bytes), z = fuzz_number(bytes);
    return poise_vec3_make(x, y, z);
}

poise_quat fuzz_quat(fuzz_bytes *bytes)
{
    int kind = fuzz_byte(bytes);
    if (kind < 64) {
        return poise_pose_identity().rotation;
    }
    poise_vec3 v = fuzz_vec3(bytes);
    double w = fuzz_number(bytes);
    return kind < 192 ? poise_quat_from_axis_angle(v, w) : (poise_quat){v.x, v.y, v.z, w};
}

poise_pose fuzz_pose(fuzz_bytes *bytes)
{
    poise_quat rotation = fuzz_quat(bytes);
    return (poise_pose){rotation, fuzz_vec3(bytes)};
}

// ---- Models --------------------------------------------------------------------------------------------------------------

static const char *const names[FUZZ_JOINTS] = {"a", "b", "c", "d", "e", "f", "g", "h"};

// Turns by its coordinate, and slides along a spline of it.
static const poise_curve knee = {
    .axis = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}},
    .value = {{POISE_FUNCTION_POLYNOMIAL, 2, NULL, (const double[]){1, 0}},
              {.count = 0},
              {.count = 0},
              {POISE_FUNCTION_SPLINE, 4, (const double[]){-2, -1, 1, 2}, (const double[]){0, 0.1, -0.1, 0.2}}}};

static poise_joint take_joint(fuzz_bytes *bytes, int number, poise_joint_type type)
{
    poise_joint joint = poise_joint_default();
    int features = fuzz_byte(bytes);
    joint.name = names[number];
    joint.parent = number == 0 || features % 16 == 15 ? NULL : names[features & 1 ? number - 1 : fuzz_index(bytes, number)];
    joint.type = type;
    joint.curve = type == POISE_JOINT_CURVE ? &knee : NULL;
    joint.offset = fuzz_pose(bytes);
    joint.order = (poise_euler_order)fuzz_index(bytes, POISE_EULER_ORDER_COUNT);
    if (features & 2) {
        joint.axis = fuzz_vec3(bytes);
        joint.axes = fuzz_quat(bytes);
    }
    bool is_turn = type == POISE_JOINT_BALL_QUATERNION || type == POISE_JOINT_FREE;
    for (int i = 0; i < 3 && (features & 4) && !(is_turn && type != POISE_JOINT_FREE); ++i) {
        joint.lower[i] = fuzz_number_or(bytes, -1.0);
        joint.upper[i] = fuzz_number_or(bytes, 1.0);
    }
    if ((features & 8) && type == POISE_JOINT_SWING_TWIST) {
        joint.swing[0] = fuzz_number_or(bytes, 1.0);
        joint.swing[1] = fuzz_number_or(bytes, 0.5);
    }
    if ((features & 24) == 24 && number > 0) {
        joint.mimic = names[fuzz_index(bytes, number)];
        joint.mimic_multiplier = fuzz_number(bytes);
        joint.mimic_offset = fuzz_number(bytes);
    }
    joint.mass = fuzz_number_or(bytes, 1.0);
    joint.mass_center = features & 32 ? fuzz_vec3(bytes) : poise_vec3_make(0.1, 0.0, 0.2);
    return joint;
}

poise_model *fuzz_model(fuzz_bytes *bytes, const poise_joint_type *types, int type_count)
{
    poise_builder *builder = NULL;
    poise_model *model = NULL;
    poise_error error = {.text = ""};
    poise_status status = poise_builder_create(NULL, &builder, NULL);
    int count = 1 + fuzz_index(bytes, FUZZ_JOINTS);
    for (int i = 0; i < count && status == POISE_OK; ++i) {
        int type = fuzz_index(bytes, types ? type_count : POISE_JOINT_TYPE_COUNT);
        poise_joint joint = take_joint(bytes, i, types ? types[type] : (poise_joint_type)type);
        status = poise_builder_add_joint(builder, &joint, &error);
    }
    status = status == POISE_OK ? poise_model_create(builder, NULL, &model, &error) : status;
    fuzz_require(status == POISE_OK ? model != NULL : !model && error.text[0] != '\0', "an error without a text");
    poise_builder_destroy(builder);
    return model;
}

// ---- Goals ---------------------------------------------------------------------------------------------------------------

// A bowl around the origin, with derivatives as the caller might get them wrong: `user` points to a number.
static bool bowl(void *user, const poise_pose *pose, poise_body_energy *out)
{
    double w = *(const double *)user;
    poise_vec3 p = pose->position;
    out->energy = 0.5 * w * (p.x * p.x + p.y * p.y + p.z * p.z);
    out->gradient[3] = w * p.x;
    out->gradient[4] = w * p.y;
    out->gradient[5] = w * p.z;
    for (int i = 3; i < 6; ++i) {
        out->hessian[7 * i] = w;
    }
    return w >= 0;
}

poise_goal fuzz_goal(fuzz_bytes *bytes, const double *q)
{
    poise_goal goal = poise_goal_default((poise_goal_kind)fuzz_index(bytes, POISE_GOAL_KIND_COUNT));
    int features = fuzz_byte(bytes);
    goal.body = fuzz_index(bytes, FUZZ_JOINTS);
    goal.body2 = fuzz_index(bytes, FUZZ_JOINTS + 1) - 1;
    goal.weight = fuzz_number_or(bytes, 1.0);
    goal.local = fuzz_pose(bytes);
    goal.target = fuzz_pose(bytes);
    goal.distance = fuzz_number_or(bytes, 0.5);
    if (features & 1) {
        goal.axis = fuzz_vec3(bytes);
        goal.direction = fuzz_vec3(bytes);
        goal = features & 2 ? goal : poise_goal_aim(goal.body, goal.local.position, goal.axis, goal.target.position);
    }
    if (features & 4) {
        goal.loss = (poise_loss)fuzz_index(bytes, POISE_LOSS_COUNT);
        goal.loss_scale = fuzz_number_or(bytes, 0.1);
    }
    if (features & 8) {
        goal.tolerance = fuzz_vec3(bytes);
        goal.rotation_tolerance = fuzz_vec3(bytes);
    }
    goal.rotation_weight = fuzz_number_or(bytes, 1.0);
    goal.q = q;
    goal.q_before = features & 16 ? q : NULL;
    goal.q_weights = features & 32 ? q : NULL;
    goal.function = bowl;
    goal.user = (void *)(uintptr_t)q;
    return goal;
}

// ---- Configurations ------------------------------------------------------------------------------------------------------

void fuzz_configuration(fuzz_bytes *bytes, const poise_model *model, double *q)
{
    poise_model_neutral(model, q);
    int features = fuzz_byte(bytes);
    for (int i = 0; i < poise_model_info(model).nq && (features & 1); ++i) {
        q[i] = fuzz_number_or(bytes, q[i]);
    }
}

poise_clip *fuzz_clip(fuzz_bytes *bytes, const poise_model *model, int least, int most, double frame_time)
{
    poise_model_summary size = poise_model_info(model);
    poise_clip *clip = NULL;
    double v[FUZZ_CLIP_NUMBERS] = {0};
    int frames = least + fuzz_index(bytes, most - least + 1);
    if (poise_clip_create(frames, size.nq, fuzz_number_or(bytes, frame_time), NULL, &clip, NULL) != POISE_OK) {
        return NULL;
    }
    clip->start_time = fuzz_number_or(bytes, 0.0);
    for (int f = 0; f < frames; ++f) {
        double *q = clip->q + (size_t)f * (size_t)size.nq;
        int features = fuzz_byte(bytes);
        for (int i = 0; i < size.nv; ++i) {
            v[i] = features & 1 ? (fuzz_byte(bytes) - 128) / 200.0 : i % 7 * 0.02;
        }
        if (f == 0 || poise_retract(model, q - size.nq, v, q, NULL) != POISE_OK) {
            poise_model_neutral(model, q);
        }
        for (int i = 0; i < size.nq && (features & 6) == 6; ++i) {
            q[i] = fuzz_number_or(bytes, q[i]);
        }
    }
    return clip;
}

void fuzz_check_answer(const poise_model *model, const double *q, bool limited)
{
    for (int i = 0; i < poise_model_info(model).nq; ++i) {
        fuzz_require(isfinite(q[i]), "a number of the answer is not finite");
    }
    fuzz_require(!limited || poise_model_within_limits(model, q), "the answer is outside of the limits");
}
