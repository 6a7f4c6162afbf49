// Between two configurations, and beyond the last of several.
#include "base/error.h"
#include "kin/kin.h"
#include "model/model.h"
#include "num/rotation.h"

#include <string.h>

// ---- Between -------------------------------------------------------------------------------------------------------------

// The way of an angle: the difference, less whole turns where it jumps by more than half a turn, unless the limits leave
// less than a whole turn, so that the joint cannot go round.
//
// Limits of +-180 degrees in radians may miss the whole turn by rounding.
static double angle_way(double from, double to, double lower, double upper)
{
    double way = to - from;
    if (fabs(way) <= PZ_PI || upper - lower < PZ_TWO_PI * (1.0 - 8 * PZ_EPSILON) || fabs(way) > 1e9) {
        return way;
    }
    double turns = way / PZ_TWO_PI;
    return way - PZ_TWO_PI * (double)(long long)(turns + (turns < 0.0 ? -0.5 : 0.5));
}

// At u in (0, 1) along the way from one number to another; a way beyond the range of numbers is taken in two parts.
static double between(double from, double to, double way, double u)
{
    return is_finite(way) ? from + u * way : (1.0 - u) * from + u * to;
}

// At u in (0, 1) along the great arc between two rotations: from exp(u log(from^-1 to)).
static quat arc(quat from, quat to, double u)
{
    vec3 way = so3_log(quat_mul(quat_conj(from), to));
    return quat_mul(from, so3_exp_quat(v3_scale(way, u)));
}

static bool is_unlimited(const poise_model *model, int first, int count)
{
    for (int i = first; i < first + count; ++i) {
        if (is_finite(model->lower[i]) || is_finite(model->upper[i])) {
            return false;
        }
    }
    return true;
}

static void step_between(const poise_model *model, const pz_step *step, const double *a, const double *b, double u,
                         double *q)
{
    int first = step->q, count = pz_step_nq(step->kind);
    const double *from = a + first, *to = b + first;
    double *at = q + first;
    if (step->kind == PZ_QUATERNION) {
        quat r = arc(quat_normalize((quat){from[0], from[1], from[2], from[3]}),
                     quat_normalize((quat){to[0], to[1], to[2], to[3]}), u);
        r = quat_normalize(r);
        at[0] = r.x, at[1] = r.y, at[2] = r.z, at[3] = r.w;
    } else if (step->kind == PZ_EXPMAP && is_unlimited(model, first, count)) {
        vec3 v = so3_log(arc(so3_exp_quat(v3(from[0], from[1], from[2])), so3_exp_quat(v3(to[0], to[1], to[2])), u));
        at[0] = v.x, at[1] = v.y, at[2] = v.z;
    } else if (pz_step_is_turn(step->kind)) {
        at[0] = between(from[0], to[0], angle_way(from[0], to[0], model->lower[first], model->upper[first]), u);
    } else {
        for (int i = 0; i < count; ++i) {
            at[i] = between(from[i], to[i], to[i] - from[i], u);
        }
    }
}

// Is this a joint of three turns without limits of which one changes by more than `apart`?
static bool is_far_triple(const poise_model *model, int joint, const double *a, const double *b, double apart)
{
    double far = 0.0;
    const pz_step *turn = &model->steps[model->joints[joint].step_end - 3];
    if (!pz_joint_row_of(model->given[joint].type)->euler || !turn->own) {
        return false;
    }
    for (int i = 0; i < 3; ++i) {
        far = max2(far, is_unlimited(model, turn[i].q, 1) ? fabs(b[turn[i].q] - a[turn[i].q]) : INFINITY);
    }
    return far > apart && is_finite(far);
}

// Three turns one after the other are a rotation, and go along its arc, too: angle by angle a blend of triples that lie far
// apart tumbles.
static void joint_between(const poise_model *model, int k, const double *a, const double *b, double u, double apart,
                          double *q)
{
    const pz_joint *joint = &model->joints[k];
    bool is_triple = joint->step_end > joint->step_begin && is_far_triple(model, k, a, b, apart);
    mat3 M = {0};
    if (is_triple) {
        mat3 A = pz_rotation_of_joint(model, joint, a), B = pz_rotation_of_joint(model, joint, b);
        M = quat_matrix(arc(quat_from_matrix(&A), quat_from_matrix(&B), u));
    }
    for (int s = joint->step_begin; s < joint->step_end; ++s) {
        if (model->steps[s].own) {
            step_between(model, &model->steps[s], a, b, u, q);
        }
    }
    if (is_triple) {
        pz_set_rotation_near(model, joint, &M, q);
    }
}

poise_status poise_interpolate(const poise_model *model, const double *from, const double *to, double share, double apart,
                               double *q, poise_error *error)
{
    if (!model || !from || !to || !q || !(share >= 0.0 && share <= 1.0) || !(apart >= 0.0)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "model, from, to and q must not be NULL, share in [0, 1] and apart >= 0");
    }
    if (!pz_model_accepts(model, from) || !pz_model_accepts(model, to)) {
        bool is_to = pz_model_accepts(model, from);
        return pz_refuse_q(model, is_to ? to : from, is_to ? "to" : "from", error);
    }
    if (share == 0.0 || share == 1.0) {
        memmove(q, share == 0.0 ? from : to, (size_t)model->nq * sizeof *q);
        return POISE_OK;
    }
    for (int k = 0; k < model->joint_count; ++k) {
        joint_between(model, k, from, to, share, apart, q);
    }
    return POISE_OK;
}

// ---- Prediction ----------------------------------------------------------------------------------------------------------
//
// Where a motion leads, from its last four frames. With d_1, d_2, d_3 the steps between them, the last one first,
// polynomials of order 0, 1 and 2 lead to the upper row, and missed the last frame, from those before it, by the lower one:
//
//   q        q + d_1         q + 2 d_1 - d_2
//   |d_1|    |d_1 - d_2|     |d_1 - 2 d_2 + d_3|
//
// Noise makes every order worse than the one below, by sqrt(3) and more, and what no goal sees drifts: a higher order has to
// have been much better.

#define ORDERS 3
#define BETTER 0.1 // squared misses, of an order over the one below

// Frames from the last one backwards; before the first nothing moved.
typedef struct last_frames {
    const double *q[ORDERS + 1];
} last_frames;

// The step to the frame number k from the one before it, in the dofs of one element of a joint.
static inline void step_to(const poise_model *model, const last_frames *last, int k, const pz_step *step, double *d)
{
    if (pz_step_is_block(step->kind)) {
        pz_step_difference(model, step, last->q[k + 1], last->q[k], d);
    } else {
        d[0] = last->q[k][step->q] - last->q[k + 1][step->q];
    }
}

static int best_order(const poise_model *model, const last_frames *last, int count)
{
    double missed[ORDERS] = {0.0};
    for (int s = 0; s < model->step_count; ++s) {
        const pz_step *step = &model->steps[s];
        double d1[3], d2[3], d3[3];
        if (!step->own) {
            continue;
        }
        step_to(model, last, 0, step, d1);
        step_to(model, last, 1, step, d2);
        step_to(model, last, 2, step, d3);
        for (int i = 0; i < pz_step_nv(step->kind); ++i) {
            double change = d1[i] - d2[i], bend = change - (d2[i] - d3[i]);
            missed[0] += d1[i] * d1[i];
            missed[1] += change * change;
            missed[2] += bend * bend;
        }
    }
    int order = 0;
    while (order + 1 < ORDERS && order + 3 <= count && missed[order + 1] < BETTER * missed[order]) {
        order += 1;
    }
    return order;
}

static void go_on(const poise_model *model, const last_frames *last, int order, double *q)
{
    for (int s = 0; s < model->step_count; ++s) {
        const pz_step *step = &model->steps[s];
        double d1[3] = {0.0}, d2[3] = {0.0};
        if (!step->own) {
            continue;
        }
        if (order > 0) {
            step_to(model, last, 0, step, d1);
        }
        if (order > 1) {
            step_to(model, last, 1, step, d2);
        }
        for (int i = 0; order > 1 && i < pz_step_nv(step->kind); ++i) {
            d1[i] += d1[i] - d2[i];
        }
        if (pz_step_is_block(step->kind)) {
            pz_step_retract(model, step, last->q[0], d1, q);
        } else {
            q[step->q] = last->q[0][step->q] + d1[0];
        }
    }
}

poise_status poise_predict(const poise_model *model, const double *frames, int count, double *q, poise_error *error)
{
    if (!model || !frames || count < 1 || !q) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "model, frames and q must not be NULL, and count must be at least 1");
    }
    last_frames last;
    for (int f = 0; f <= ORDERS; ++f) {
        int frame = count - 1 - f < 0 ? 0 : count - 1 - f;
        last.q[f] = frames + (size_t)frame * (size_t)model->nq;
        if (f < count && !pz_model_accepts(model, last.q[f])) {
            return pz_refuse_q(model, last.q[f], "a frame", error);
        }
    }
    go_on(model, &last, best_order(model, &last, count), q);
    return POISE_OK;
}
