// Derivatives of an answer to one POSE that it meets, and of many such answers by their targets.
//
// Such an answer moves with its target: J dq = dx, with J the six rows of the frame's motion and x the translation and
// rotation of the target. The least such step, and its transpose, are
//
//   dq = J^T (J J^T)^-1 dx,     dL/dx = (J J^T)^-1 J dL/dq
//
// which take one forward sweep and a factor of six rows. No limit holds a coordinate: nothing is pushed where the target is
// met. An answer that misses its target, or is near a singular configuration, goes the way of all goals (sensitivity.c).
#include "solve/sensitivity_kernel.h"

#include "base/error.h"
#include "model/model.h"

#include <string.h>

enum { NOT_OWN = -2 };

// ---- The joints above a body ---------------------------------------------------------------------------------------------

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

static void find_path(const poise_model *model, int body, pz_pose_path *path)
{
    *path = (pz_pose_path){.body = body, .is_plain = true};
    for (int i = model->joints[body].last_axis; i >= 0 && path->is_plain; i = model->axes[i].parent) {
        const poise_joint *given = &model->given[model->axes[i].joint];
        bool has_ellipse = given->type == POISE_JOINT_SWING_TWIST && is_finite(given->swing[0]);
        int n = path->count, k = coordinate_of(model, i);
        path->is_plain = n < PZ_POSE_AXES && !has_ellipse && k != NOT_OWN;
        if (path->is_plain) {
            path->axis[n] = i;
            path->dof[n] = model->axes[i].dof;
            path->coordinate[n] = k;
            path->moves[n] = k < 0 || model->lower[k] < model->upper[k];
            path->has_fixed = path->has_fixed || !path->moves[n];
            ++path->count;
        }
    }
}

// The chain to the goal's frame, if it is one of hinges whose limits leave room, and registers are wide.
static void find_arm(const poise_model *model, const poise_goal *goal, pz_pose_path *path)
{
    pz_box box[PZ_POSE_AXES];
    pz_pose_lanes *arm = &path->arm;
    path->local = goal->local;
    path->has_arm = path->is_plain && !path->has_fixed && model->is_wide && model->nv <= PZ_POSE_AXES;
    for (int i = 0; i < model->axis_count && path->has_arm; ++i) {
        int k = coordinate_of(model, i);
        if (k != NOT_OWN) {
            box[model->axes[i].dof] = (pz_box){
                .lower = k >= 0 ? model->lower[k] : -INFINITY, .upper = k >= 0 ? model->upper[k] : INFINITY, .q = k};
        }
    }
    path->has_arm = path->has_arm && pz_arm_chain_make(model, box, NULL, goal->body, &goal->local, &arm->chain) &&
                    !arm->chain.slides && arm->chain.n == path->count;
    for (int i = 0; i < path->count && path->has_arm; ++i) {
        arm->dof[path->count - 1 - i] = path->dof[i];
    }
    arm->met = PZ_MET;
    arm->nq = model->nq;
    arm->nv = model->nv;
    arm->lanes = pz_cpu_is_widest() ? 8 : 4;
}

bool pz_pose_is_plain(poise_sensitivity *s, const poise_goal *goal)
{
    if (goal->kind != POISE_GOAL_POSE || goal->body == POISE_WORLD || !(goal->weight > 0) || !(goal->rotation_weight > 0) ||
        goal->loss != POISE_LOSS_NONE || pz_has_band(goal->tolerance) || pz_has_band(goal->rotation_tolerance)) {
        return false;
    }
    if (s->path.body != goal->body || memcmp(&s->path.local, &goal->local, sizeof goal->local) != 0) {
        s->has_checked = false;
        find_path(s->model, goal->body, &s->path);
        find_arm(s->model, goal, &s->path);
    }
    return s->path.is_plain;
}

// ---- The factor ----------------------------------------------------------------------------------------------------------

// By the tree, on every machine.
static bool factorise_tree(poise_sensitivity *s, const poise_goal *goal, const poise_pose *target, const double *q)
{
    const pz_pose_path *path = &s->path;
    poise_kinematics *kin = &s->objective.kin;
    arm_column columns[PZ_POSE_AXES];
    pz_kin_sweep(kin, q);
    mat3 local = quat_matrix(goal->local.rotation), body = pz_kin_rotation(kin, goal->body);
    mat3 d = m3_mul(&body, &local), u = quat_matrix(target->rotation);
    vec3 at = v3_sub(target->position, kin->origin);
    vec3 r = v3_sub(v3_add(kin->p[goal->body], m3_apply(&body, goal->local.position)), at);
    vec3 v = v3_scale(v3_add(v3_add(v3_cross(u.x, d.x), v3_cross(u.y, d.y)), v3_cross(u.z, d.z)), 0.5);
    for (int n = 0; n < path->count; ++n) {
        spatial S = kin->S[path->axis[n]];
        columns[n] = (arm_column){pack3_where(path->moves[n], S.w), pack3_where(path->moves[n], pz_velocity(S, at))};
    }
    s->pose.count = path->count;
    s->pose.dof = path->dof;
    s->pose.unit = 1.0;
    return pose_factor(path->count, columns, v3_dot(r, r), v3_dot(v, v), &s->pose);
}

bool pz_pose_factorise(poise_sensitivity *s, const poise_goal *goal, const poise_pose *target, const double *q)
{
    return pz_pose_is_plain(s, goal) &&
           (s->path.has_arm ? pz_pose_factorise_arm(&s->path.arm, target, q, &s->pose) : factorise_tree(s, goal, target, q));
}

// x <- (J J^T)^-1 x, a translation over the unit and a rotation
static void solve_rows(const pz_pose_factor *pose, vec3 *translation, vec3 *rotation)
{
    arm_inverse inverse = {pose->P, pose->S, pose->Y};
    arm_apply_inverse(&inverse, *translation, *rotation, translation, rotation);
}

void pz_pose_backward(const poise_sensitivity *s, const double *dL_dq, double *dL_dx)
{
    const pz_pose_factor *pose = &s->pose;
    vec3 y = {0, 0, 0}, z = {0, 0, 0};
    for (int n = 0; n < pose->count; ++n) {
        double along = dL_dq[pose->dof[n]];
        y = v3_mad(y, along, pose->column[n].v);
        z = v3_mad(z, along, pose->column[n].w);
    }
    solve_rows(pose, &y, &z);
    y = v3_scale(y, 1.0 / pose->unit);
    const double row[PZ_POSE_ROWS] = {y.x, y.y, y.z, z.x, z.y, z.z};
    memcpy(dL_dx, row, sizeof row);
}

void pz_pose_forward(const poise_sensitivity *s, const double *dx, double *dq)
{
    const pz_pose_factor *pose = &s->pose;
    vec3 y = v3_scale(v3(dx[0], dx[1], dx[2]), 1.0 / pose->unit), z = {dx[3], dx[4], dx[5]};
    solve_rows(pose, &y, &z);
    memset(dq, 0, (size_t)s->model->nv * sizeof *dq);
    for (int n = 0; n < pose->count; ++n) {
        dq[pose->dof[n]] = v3_dot(pose->column[n].v, y) + v3_dot(pose->column[n].w, z);
    }
}

// ---- Many answers --------------------------------------------------------------------------------------------------------
//
// Those that meet their target go the short way, those of an arm of hinges several side by side, one in each lane; the
// others go the way of all goals.

enum { MANY = 16, MOST_LANES = 8 }; // MANY: answers from which on lanes are worth it

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
    const double row[PZ_POSE_ROWS] = {change.translation.x, change.translation.y, change.translation.z,
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

// The first rows, as many as stand side by side. Those that the kernel does not serve go by themselves.
static poise_status side_by_side(poise_sensitivity *s, const poise_goal *goal, const poise_pose *targets, const double *q,
                                 const double *dL_dq, int count, double *gradients, bool *is_defined, poise_error *error)
{
    const pz_pose_lanes *rows = &s->path.arm;
    size_t nq = (size_t)s->model->nq, nv = (size_t)s->model->nv;
    poise_status status = POISE_OK;
    const pz_pose_kernel *kernel = rows->lanes == 8 ? &pz_pose_kernel_8 : &pz_pose_kernel_4;
    unsigned served = kernel->gradients(rows, targets, q, dL_dq, count, gradients);
    for (int l = 0; l < count && status == POISE_OK; ++l) {
        size_t i = (size_t)l;
        is_defined[l] = true;
        if (!(served >> l & 1u) || !pz_model_accepts(s->model, q + i * nq)) {
            status = one_backward(s, goal, &targets[l], q + i * nq, dL_dq + i * nv, gradients + PZ_POSE_ROWS * i,
                                  &is_defined[l], error);
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
        double *to = gradients + PZ_POSE_ROWS * (size_t)i;
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
