// Derivatives of an answer to one POSE that it meets.
//
// Such an answer moves with its target: J dq = dx, with J the six rows of the frame's motion and x the translation and
// rotation of the target. The least such step, and its transpose, are
//
//   dq = J^T (J J^T)^-1 dx,     dL/dx = (J J^T)^-1 J dL/dq
//
// which take one forward sweep and a factor of six rows. No limit holds a coordinate: nothing is pushed where the target is
// met. An answer that misses its target, or is near a singular configuration, goes the way of all goals (sensitivity.c).
#include "solve/pose_factor_kernel.h"

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
    poise_vec3 t = target->position, p = goal->local.position;
    pz_kin_sweep(kin, q);
    mat3 local = quat_matrix(goal->local.rotation), body = pz_kin_rotation(kin, goal->body);
    mat3 d = m3_mul(&body, &local), u = quat_matrix(target->rotation);
    vec3 at = v3_sub(v3(t.x, t.y, t.z), kin->origin);
    vec3 r = v3_sub(v3_add(kin->p[goal->body], m3_apply(&body, v3(p.x, p.y, p.z))), at);
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
