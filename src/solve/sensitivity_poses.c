// Derivatives of many answers to one POSE goal, by its targets: those that meet theirs the short way (sensitivity_pose.c),
// for an arm of hinges several side by side (pose_gradients.h), the others the way of all goals (sensitivity.c).
#include "solve/sensitivity_state.h"

#include "base/error.h"
#include "model/model.h"

#include <string.h>

enum { ROWS = PZ_POSE_ROWS, MANY = 16, MOST_LANES = 8 }; // MANY: answers from which on lanes are worth it

// One answer the way of all goals.
static poise_status any_backward(poise_sensitivity *s, const poise_goal *pose, const poise_pose *target, const double *q,
                                 const double *dL_dq, double *gradient, bool *is_defined, poise_error *error)
{
    poise_goal goal = *pose;
    poise_goal_change change = {.posture = NULL};
    goal.target = *target;
    poise_status status = poise_sensitivity_update(s, &goal, 1, q, true, error);
    *is_defined = status == POISE_OK;
    if (status == POISE_OK) {
        status = poise_sensitivity_backward(s, dL_dq, &change, NULL, NULL, error);
    }
    const double row[ROWS] = {change.translation.x, change.translation.y, change.translation.z,
                              change.rotation.x,    change.rotation.y,    change.rotation.z};
    memcpy(gradient, row, sizeof row);
    return status == POISE_ERROR_NUMERIC ? POISE_OK : status;
}

// One answer, by the short way where it serves.
static poise_status one_backward(poise_sensitivity *s, const poise_goal *goal, const poise_pose *target, const double *q,
                                 const double *dL_dq, double *gradient, bool *is_defined, poise_error *error)
{
    bool ok = s->is_plain && pz_model_accepts(s->model, q);
    if (ok && s->is_arm) {
        ok = pz_pose_gradient_arm(&s->path.arm, target, q, dL_dq, gradient);
    } else if (ok) {
        ok = pz_pose_factorise(s, goal, target, q);
        if (ok) {
            pz_pose_backward(s, dL_dq, gradient);
        }
    }
    *is_defined = ok;
    return ok ? POISE_OK : any_backward(s, goal, target, q, dL_dq, gradient, is_defined, error);
}

// ---- Side by side --------------------------------------------------------------------------------------------------------

// The first rows, as many as stand side by side. Those that the kernel does not serve go by themselves.
static poise_status side_by_side(poise_sensitivity *s, const poise_goal *goal, const poise_pose *targets, const double *q,
                                 const double *dL_dq, int count, double *gradients, bool *is_defined, poise_error *error)
{
    const pz_pose_lanes *rows = &s->path.arm;
    size_t nq = (size_t)s->model->nq, nv = (size_t)s->model->nv;
    poise_status status = POISE_OK;
    unsigned served = rows->lanes == 8 ? pz_pose_gradients_8(rows, targets, q, dL_dq, count, gradients)
                                       : pz_pose_gradients_4(rows, targets, q, dL_dq, count, gradients);
    for (int l = 0; l < count && status == POISE_OK; ++l) {
        size_t i = (size_t)l;
        is_defined[l] = true;
        if (!(served >> l & 1u) || !pz_model_accepts(s->model, q + i * nq)) {
            status =
                one_backward(s, goal, &targets[l], q + i * nq, dL_dq + i * nv, gradients + ROWS * i, &is_defined[l], error);
        }
    }
    return status;
}

// Calls come with the same goal again and again: what was checked once is good.
static poise_status check_goal(poise_sensitivity *s, const poise_goal *goal, poise_error *error)
{
    if (s->has_checked && memcmp(goal, &s->checked, sizeof *goal) == 0) {
        return POISE_OK;
    }
    poise_status status = poise_goal_check(goal, s->model, error);
    if (status == POISE_OK && (goal->kind != POISE_GOAL_POSE || goal->body == POISE_WORLD)) {
        status = pz_error_set(error, POISE_ERROR_ARGUMENT, "a POSE goal on a body is required");
    }
    s->is_plain = status == POISE_OK && pz_pose_is_plain(s, goal);
    s->is_arm = s->is_plain && s->path.has_arm && (s->path.count == 6 || s->path.count == 7);
    s->has_checked = status == POISE_OK;
    memcpy(&s->checked, goal, sizeof *goal);
    return status;
}

poise_status poise_sensitivity_poses(poise_sensitivity *sensitivity, const poise_goal *goal, const poise_pose *targets,
                                     const double *q, const double *dL_dq, int count, double *gradients, bool *defined,
                                     poise_error *error)
{
    poise_sensitivity *s = sensitivity;
    if (!s || !goal || count < 0 || (count > 0 && (!targets || !q || !dL_dq || !gradients))) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "arguments must not be NULL, and count must be >= 0");
    }
    poise_status status = check_goal(s, goal, error);
    if (status != POISE_OK) {
        return status;
    }
    size_t nq = (size_t)s->model->nq, nv = (size_t)s->model->nv;
    s->way = PZ_WAY_NONE;
    if (count == 1 && s->is_arm && all_finite(dL_dq, nv) && pz_model_accepts(s->model, q) && // the most frequent, at once
        pz_pose_gradient_arm(&s->path.arm, targets, q, dL_dq, gradients)) {
        if (defined) {
            *defined = true;
        }
        return POISE_OK;
    }
    if (!all_finite(dL_dq, nv * (size_t)count)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "dL_dq must hold %d finite numbers for every answer", (int)nv);
    }
    bool is_many = count >= MANY && s->is_plain && s->path.has_arm, is_defined[MOST_LANES];
    int step = is_many ? s->path.arm.lanes : 1;
    for (int i = 0; i < count && status == POISE_OK; i += step) {
        const double *at = q + (size_t)i * nq, *b = dL_dq + (size_t)i * nv;
        double *to = gradients + ROWS * (size_t)i;
        int some = least(step, count - i);
        status = is_many ? side_by_side(s, goal, &targets[i], at, b, some, to, is_defined, error)
                         : one_backward(s, goal, &targets[i], at, b, to, is_defined, error);
        if (defined) {
            memcpy(defined + i, is_defined, (size_t)some * sizeof *defined);
        }
    }
    s->way = PZ_WAY_NONE;
    return status;
}
