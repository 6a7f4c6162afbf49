// Derivatives of many answers to one POSE goal, by its targets.
//
// An answer that meets its target moves with it: J dq = dx, with J the six rows of the frame's motion on the coordinates
// that no limit holds. The least such step is dq = J^T (J J^T)^-1 dx, so that
//
//   dL/dx = (J J^T)^-1 J dL/dq
//
// which takes one forward sweep and a factor of six rows. What does not meet its target, or is near a singular
// configuration, goes the way of all goals (sensitivity.c).
#include "solve/sensitivity_state.h"

#include "base/error.h"
#include "model/model_error.h"

#include <string.h>

#define SOUND 1e-8 // the least pivot of J J^T, of the diagonal's entry: the sixth digit of what has fourteen

enum { ROWS = 6, MOST_AXES = 64 };

// What the rows of J share.
typedef struct pose_task {
    const poise_goal *goal;
    int coordinate[MOST_AXES]; // of q, by axis on the way to the root; -1: has no limit
    int axis[MOST_AXES], count;
    bool is_plain; // axes are free of each other, goal and limits are plain: the short way may serve
} pose_task;

enum { NOT_OWN = -2 };

// The coordinate of an axis that its limits are about; -1: a quaternion's; NOT_OWN: a mimic's.
static int coordinate_of(const poise_model *model, int axis)
{
    const pz_joint *joint = &model->joints[model->axes[axis].joint];
    for (int k = joint->step_begin; k < joint->step_end; ++k) {
        const pz_step *step = &model->steps[k];
        int n = axis - step->axis;
        if (n >= 0 && n < pz_step_nv(step->kind)) {
            return !step->own ? NOT_OWN : step->kind == PZ_QUATERNION ? -1 : step->q + n;
        }
    }
    return NOT_OWN;
}

// Is the joint of an axis led by no other, and leads none above it, with limits by coordinate?
static bool is_plain_axis(const poise_model *model, int axis, const pose_task *t)
{
    const poise_joint *given = &model->given[model->axes[axis].joint];
    bool has_ellipse = given->type == POISE_JOINT_SWING_TWIST && is_finite(given->swing[0]);
    return t->count < MOST_AXES && !has_ellipse && coordinate_of(model, axis) != NOT_OWN;
}

static pose_task task_of(const poise_model *model, const poise_goal *goal)
{
    pose_task t = {.goal = goal};
    t.is_plain = goal->weight > 0 && goal->rotation_weight > 0 && goal->loss == POISE_LOSS_NONE &&
                 !pz_has_band(goal->tolerance) && !pz_has_band(goal->rotation_tolerance);
    for (int i = model->joints[goal->body].last_axis; i >= 0 && t.is_plain; i = model->axes[i].parent) {
        t.is_plain = is_plain_axis(model, i, &t);
        if (t.is_plain) {
            t.coordinate[t.count] = coordinate_of(model, i);
            t.axis[t.count++] = i;
        }
    }
    return t;
}

// How far the frame is from its target, as add_plain (orientation.c) has it; *at is the target's place.
typedef struct pose_gap {
    vec3 at, r, v;
} pose_gap;

static pose_gap gap_of(const poise_kinematics *kin, const poise_goal *goal, const poise_pose *target)
{
    const poise_vec3 *t = &target->position;
    mat3 local = quat_matrix(goal->local.rotation), body = pz_kin_rotation(kin, goal->body);
    mat3 d = m3_mul(&body, &local), u = quat_matrix(target->rotation);
    vec3 at = v3_sub(v3(t->x, t->y, t->z), kin->origin);
    vec3 v = v3_add(v3_add(v3_cross(u.x, d.x), v3_cross(u.y, d.y)), v3_cross(u.z, d.z));
    vec3 point = v3(goal->local.position.x, goal->local.position.y, goal->local.position.z);
    return (pose_gap){.at = at, .r = v3_sub(pz_kin_point(kin, goal->body, point), at), .v = v3_scale(v, 0.5)};
}

// The sums J J^T (lower triangle) and J b over the coordinates that no limit holds. False where the target is not met.
static bool add_columns(const poise_sensitivity *s, const pose_task *t, const pose_gap *gap, const double *b,
                        double A[ROWS][ROWS], double *y)
{
    const poise_model *model = s->model;
    const poise_kinematics *kin = &s->objective.kin;
    double lever = 0.0;
    for (int n = 0; n < t->count; ++n) {
        int i = t->axis[n], k = t->coordinate[n];
        vec3 a = kin->S[i].w, J = pz_velocity(kin->S[i], gap->at);
        lever = max2(lever, v3_dot(J, J));
        if (k >= 0 && (kin->q[k] <= model->lower[k] || kin->q[k] >= model->upper[k])) {
            double slope = t->goal->weight * v3_dot(J, gap->r) + t->goal->rotation_weight * v3_dot(a, gap->v);
            if (kin->q[k] <= model->lower[k] ? slope > 0 : slope < 0) {
                continue;
            }
        }
        const double c[ROWS] = {J.x, J.y, J.z, a.x, a.y, a.z};
        double along = b[model->axes[i].dof];
        for (int h = 0; h < ROWS; ++h) {
            y[h] += c[h] * along;
            for (int j = 0; j <= h; ++j) {
                A[h][j] += c[h] * c[j];
            }
        }
    }
    return v3_dot(gap->r, gap->r) <= PZ_MET * PZ_MET * lever && v3_dot(gap->v, gap->v) <= PZ_MET * PZ_MET;
}

// y <- A^-1 y by L D L^T of the lower triangle. False where a pivot is lost.
static bool solve_rows(double A[ROWS][ROWS], double *y)
{
    double inverse[ROWS];
    for (int i = 0; i < ROWS; ++i) {
        double pivot = A[i][i];
        for (int j = 0; j < i; ++j) {
            for (int k = 0; k < j; ++k) {
                A[i][j] -= A[i][k] * A[j][k];
            }
        }
        for (int j = 0; j < i; ++j) { // A[i][j] is still times D_j
            double scaled = A[i][j] * inverse[j];
            pivot -= scaled * A[i][j];
            y[i] -= scaled * y[j];
            A[i][j] = scaled;
        }
        if (!(pivot > SOUND * A[i][i])) {
            return false;
        }
        inverse[i] = 1.0 / pivot;
    }
    for (int i = ROWS - 1; i >= 0; --i) {
        y[i] *= inverse[i];
        for (int j = i + 1; j < ROWS; ++j) {
            y[i] -= A[j][i] * y[j];
        }
    }
    return true;
}

// One answer that meets its target. False: it does not, or not soundly.
static bool met_backward(poise_sensitivity *s, const pose_task *t, const poise_pose *target, const double *q,
                         const double *dL_dq, double *gradient)
{
    double A[ROWS][ROWS] = {{0}}, y[ROWS] = {0};
    pz_kin_sweep(&s->objective.kin, q);
    pose_gap gap = gap_of(&s->objective.kin, t->goal, target);
    if (!add_columns(s, t, &gap, dL_dq, A, y) || !solve_rows(A, y)) {
        return false;
    }
    memcpy(gradient, y, sizeof y);
    return true;
}

// One answer the way of all goals; zeros where it is no minimum.
static poise_status any_backward(poise_sensitivity *s, const pose_task *t, const poise_pose *target, const double *q,
                                 const double *dL_dq, double *gradient, poise_error *error)
{
    poise_goal goal = *t->goal;
    poise_goal_change change = {.posture = NULL};
    goal.target = *target;
    poise_status status = poise_sensitivity_update(s, &goal, 1, q, true, error);
    if (status == POISE_OK) {
        status = poise_sensitivity_backward(s, dL_dq, &change, NULL, NULL, error);
    }
    const double row[ROWS] = {change.translation.x, change.translation.y, change.translation.z,
                              change.rotation.x,    change.rotation.y,    change.rotation.z};
    memcpy(gradient, row, sizeof row);
    return status == POISE_ERROR_NUMERIC ? POISE_OK : status;
}

poise_status poise_sensitivity_poses(poise_sensitivity *sensitivity, const poise_goal *goal, const poise_pose *targets,
                                     const double *q, const double *dL_dq, int count, double *gradients, poise_error *error)
{
    poise_sensitivity *s = sensitivity;
    if (!s || !goal || count < 0 || (count > 0 && (!targets || !q || !dL_dq || !gradients))) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "arguments must not be NULL, and count must be >= 0");
    }
    poise_status status = poise_goal_check(goal, s->model, error);
    if (status == POISE_OK && (goal->kind != POISE_GOAL_POSE || goal->body == POISE_WORLD)) {
        status = pz_error_set(error, POISE_ERROR_ARGUMENT, "a POSE goal of a body is wanted");
    }
    if (status != POISE_OK) {
        return status;
    }
    s->is_ready = false;
    pose_task t = task_of(s->model, goal);
    size_t nq = (size_t)s->model->nq, nv = (size_t)s->model->nv;
    for (int i = 0; i < count && status == POISE_OK; ++i) {
        const double *at = q + (size_t)i * nq, *b = dL_dq + (size_t)i * nv;
        if (!all_finite(b, nv)) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "dL_dq must hold %d finite numbers for every answer", (int)nv);
        }
        bool is_sound = t.is_plain && pz_model_accepts(s->model, at);
        if (!is_sound || !met_backward(s, &t, &targets[i], at, b, gradients + ROWS * (size_t)i)) {
            status = any_backward(s, &t, &targets[i], at, b, gradients + ROWS * (size_t)i, error);
        }
    }
    return status;
}
