// Derivatives of many answers to one POSE goal, by its targets.
//
// An answer that meets its target moves with it: J dq = dx, with J the six rows of the frame's motion. The least such step
// is dq = J^T (J J^T)^-1 dx, so that
//
//   dL/dx = (J J^T)^-1 J dL/dq
//
// which takes one forward sweep and a factor of six rows; for many answers of an arm of hinges several go side by side
// (pose_gradients.h). What does not meet its target, or is near a singular configuration, goes the way of all goals
// (sensitivity.c).
#include "solve/sensitivity_state.h"

#include "base/error.h"
#include "model/model_error.h"
#include "solve/pose_gradients.h"

#include <string.h>

#define SOUND 1e-8 // the least pivot of J J^T, of the diagonal's entry: the sixth digit of what has fourteen

enum { ROWS = 6, MOST_AXES = 64, MANY = 16 }; // MANY: answers from which on lanes are worth a chain

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

// The sums J J^T (lower triangle) and J b over the coordinates that can move: no limit holds one where the target is met.
// False where it is not.
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
        if (k >= 0 && model->lower[k] >= model->upper[k]) {
            continue;
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

// One answer, by the short way where it serves.
static poise_status one_backward(poise_sensitivity *s, const pose_task *t, const poise_pose *target, const double *q,
                                 const double *dL_dq, double *gradient, poise_error *error)
{
    if (t->is_plain && pz_model_accepts(s->model, q) && met_backward(s, t, target, q, dL_dq, gradient)) {
        return POISE_OK;
    }
    return any_backward(s, t, target, q, dL_dq, gradient, error);
}

// ---- Side by side --------------------------------------------------------------------------------------------------------

// The chain to the goal's body. False where answers go one by one: it is no arm of hinges, or they are few.
static bool make_rows(const poise_model *model, const pose_task *t, int count, pz_pose_lanes *rows)
{
    pz_box box[MOST_AXES];
    if (!t->is_plain || count < MANY || model->nv > MOST_AXES || !pz_cpu_is_wide()) {
        return false;
    }
    for (int i = 0; i < model->axis_count; ++i) {
        int k = coordinate_of(model, i);
        if (k != NOT_OWN) {
            box[model->axes[i].dof] = (pz_box){
                .lower = k >= 0 ? model->lower[k] : -INFINITY, .upper = k >= 0 ? model->upper[k] : INFINITY, .q = k};
        }
    }
    if (!pz_arm_chain_make(model, box, t->goal->body, &t->goal->local, &rows->chain) || rows->chain.slides) {
        return false;
    }
    for (int i = 0; i < t->count; ++i) {
        rows->dof[t->count - 1 - i] = model->axes[t->axis[i]].dof;
    }
    rows->met = PZ_MET;
    rows->nq = model->nq;
    rows->nv = model->nv;
    rows->lanes = pz_cpu_is_widest() ? 8 : 4;
    return true;
}

// The first rows, as many as stand side by side. Those that the kernel does not serve go by themselves.
static poise_status side_by_side(poise_sensitivity *s, const pose_task *t, const pz_pose_lanes *rows,
                                 const poise_pose *targets, const double *q, const double *dL_dq, int count,
                                 double *gradients, poise_error *error)
{
    size_t nq = (size_t)s->model->nq, nv = (size_t)s->model->nv;
    poise_status status = POISE_OK;
    unsigned served = rows->lanes == 8 ? pz_pose_gradients_8(rows, targets, q, dL_dq, count, gradients)
                                       : pz_pose_gradients_4(rows, targets, q, dL_dq, count, gradients);
    for (int l = 0; l < count && status == POISE_OK; ++l) {
        size_t i = (size_t)l;
        if (!(served >> l & 1u) || !pz_model_accepts(s->model, q + i * nq)) {
            status = one_backward(s, t, &targets[l], q + i * nq, dL_dq + i * nv, gradients + ROWS * i, error);
        }
    }
    return status;
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
    size_t nq = (size_t)s->model->nq, nv = (size_t)s->model->nv;
    if (!all_finite(dL_dq, nv * (size_t)count)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "dL_dq must hold %d finite numbers for every answer", (int)nv);
    }
    s->is_ready = false;
    pose_task t = task_of(s->model, goal);
    pz_pose_lanes rows;
    bool is_many = make_rows(s->model, &t, count, &rows);
    int step = is_many ? rows.lanes : 1;
    for (int i = 0; i < count && status == POISE_OK; i += step) {
        const double *at = q + (size_t)i * nq, *b = dL_dq + (size_t)i * nv;
        double *to = gradients + ROWS * (size_t)i;
        status = is_many ? side_by_side(s, &t, &rows, &targets[i], at, b, least(step, count - i), to, error)
                         : one_backward(s, &t, &targets[i], at, b, to, error);
    }
    return status;
}
