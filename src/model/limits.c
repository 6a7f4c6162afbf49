// Limits of a configuration: boxes by coordinate, an ellipse for swings.
#include "model/packed_model.h"

#include "base/error.h"
#include "model/model_error.h"

void poise_model_neutral(const poise_model *model, double *q)
{
    if (!model || !q) {
        return;
    }
    for (int i = 0; i < model->nq; ++i) {
        q[i] = 0.0;
    }
    for (int s = 0; s < model->step_count; ++s) {
        if (model->steps[s].kind == PZ_QUATERNION) {
            q[model->steps[s].q + 3] = 1.0;
        }
    }
}

// ---- Swing ---------------------------------------------------------------------------------------------------------------

// (a/A)^2 + (b/B)^2; 0 without a limit.
double pz_swing_excess(const poise_joint *given, const double *q)
{
    double a = q[0] / given->swing[0], b = q[1] / given->swing[1];
    return a * a + b * b;
}

// Beyond this the squares of a swing may overflow. Any swing of length 4 is outside still.
#define LONG_SWING 1e100

#define SHRINKING 64 // rounds

// Shrink along the ray to the centre. Rounding may leave the result a hair outside, so shrink on until it is inside. An
// ellipse of denormal numbers has no points but its centre.
static void clamp_swing(const poise_joint *given, double *q)
{
    double largest = max2(fabs(q[0]), fabs(q[1]));
    if (largest > LONG_SWING) {
        q[0] = 4.0 * (q[0] / largest);
        q[1] = 4.0 * (q[1] / largest);
    }
    double size = sqrt(pz_swing_excess(given, q));
    for (int round = 0; !(pz_swing_excess(given, q) <= 1.0); ++round) {
        q[0] = round < SHRINKING ? q[0] / size : 0.0;
        q[1] = round < SHRINKING ? q[1] / size : 0.0;
        size = 1.0 + PZ_EPSILON;
    }
}

static bool is_swing(const poise_model *model, int k)
{
    return model->given[k].type == POISE_JOINT_SWING_TWIST;
}

void pz_model_clamp_swings(const poise_model *model, double *q)
{
    for (int k = 0; k < model->joint_count; ++k) {
        if (is_swing(model, k)) {
            clamp_swing(&model->given[k], q + model->joints[k].q_begin);
        }
    }
}

// The edge as clamp_swing leaves it: a few roundings inside.
bool pz_model_at_swing_edge(const poise_model *model, const double *q, int coordinate)
{
    for (int k = 0; k < model->joint_count; ++k) {
        int first = model->joints[k].q_begin;
        if (is_swing(model, k) && (coordinate == first || coordinate == first + 1)) {
            return pz_swing_excess(&model->given[k], q + first) >= 1.0 - 8.0 * PZ_EPSILON;
        }
    }
    return false;
}

// ---- All -----------------------------------------------------------------------------------------------------------------

static bool quaternions_are_sound(const poise_model *model, const double *q)
{
    for (int s = 0; s < model->step_count; ++s) {
        const pz_step *step = &model->steps[s];
        if (step->kind == PZ_QUATERNION) {
            const double *c = q + step->q;
            if (c[0] == 0 && c[1] == 0 && c[2] == 0 && c[3] == 0) {
                return false;
            }
        }
    }
    return true;
}

bool pz_model_accepts(const poise_model *model, const double *q)
{
    return all_finite(q, (size_t)model->nq) && (model->nq == model->nv || quaternions_are_sound(model, q));
}

int poise_model_suspect_degrees(const poise_model *model, const double *q)
{
    const double turn = 6.3, turns = 20, none = 1e6;
    for (int i = 0; model && q && i < model->nq; ++i) {
        if (q[i] >= -turn && q[i] <= turn) {
            continue;
        }
        poise_coordinate c = poise_model_coordinate(model, i);
        bool is_angle = c.unit == POISE_UNIT_ANGLE && model->given[c.joint].type != POISE_JOINT_FREE;
        bool is_limited = model->lower[i] > -none && model->upper[i] < none;
        bool is_far = is_limited ? q[i] < model->lower[i] || q[i] > model->upper[i] : q[i] < -turns || q[i] > turns;
        if (is_angle && is_far) {
            return i;
        }
    }
    return POISE_NONE;
}

bool poise_model_within_limits(const poise_model *model, const double *q)
{
    if (!model || !q || !pz_model_accepts(model, q)) {
        return false;
    }
    for (int i = 0; i < model->nq; ++i) {
        if (!(model->lower[i] <= q[i] && q[i] <= model->upper[i])) {
            return false;
        }
    }
    for (int k = 0; k < model->joint_count; ++k) {
        if (is_swing(model, k) && pz_swing_excess(&model->given[k], q + model->joints[k].q_begin) > 1.0) {
            return false;
        }
    }
    return true;
}

static bool clamp_joint(const poise_model *model, int k, double *q)
{
    const pz_joint *joint = &model->joints[k];
    bool moved = false;
    if (is_swing(model, k) && pz_swing_excess(&model->given[k], q + joint->q_begin) > 1.0) {
        clamp_swing(&model->given[k], q + joint->q_begin);
        moved = true;
    }
    for (int i = joint->q_begin; i < joint->q_end; ++i) {
        double inside = clamp(q[i], model->lower[i], model->upper[i]);
        moved = moved || inside != q[i];
        q[i] = inside;
    }
    return moved;
}

poise_status poise_model_clamp(const poise_model *model, double *q, int *moved, poise_error *error)
{
    if (!model) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model must not be NULL");
    }
    if (!q || !pz_model_accepts(model, q)) {
        return pz_refuse_q(model, q, "q", error);
    }
    int count = 0;
    for (int k = 0; k < model->joint_count; ++k) {
        count += clamp_joint(model, k, q);
    }
    for (int s = 0; s < model->step_count; ++s) {
        if (model->steps[s].kind == PZ_QUATERNION) {
            double *c = q + model->steps[s].q;
            quat unit = pz_unit_quat((quat){c[0], c[1], c[2], c[3]});
            c[0] = unit.x, c[1] = unit.y, c[2] = unit.z, c[3] = unit.w;
        }
    }
    if (moved) {
        *moved = count;
    }
    return POISE_OK;
}
