// RELATIVE: the frame `local` of body b at `target` as seen from body a = body2. Both move, so both ends are fixed in a
// body:
//
//   point      r = x - y            x = the frame's position, y = target.position of a
//   direction  e_k = d_k - c_k      d_k the frame's axes, c_k the axes of target.rotation of a
//
//   E = w/2 |r|^2 + w_r/4 sum |e_k|^2
//
// The part of the Hessian with r and e held fixed is a force at each end, which stays on the tree. The rest is
// J^T W J with the rows J = dr, de_k, which couples the branches of a and b.
//
// As rows: r, and for the rotation 2 vec(quaternion from the axes c to d), which has the length 2 sin(phi/2), so that six
// rows hold the whole energy and none of them depends on the others.
#include "goal/goal.h"

// Add sign * (velocity of a vector fixed in the body) to three rows, axis by axis up the path.
static void add_columns(const poise_kinematics *kin, int body, double sign, bool is_point, vec3 x, double *row[3])
{
    for (int i = pz_kin_last_axis(kin, body); i >= 0; i = kin->model->axes[i].parent) {
        const pz_axis *axis = &kin->model->axes[i];
        vec3 c = is_point ? pz_velocity(kin->S[i], x) : v3_cross(kin->S[i].w, x);
        double factor = sign * axis->factor;
        row[0][axis->dof] += factor * c.x;
        row[1][axis->dof] += factor * c.y;
        row[2][axis->dof] += factor * c.z;
    }
}

static void add_difference(pz_evaluation *evaluation, const poise_goal *goal, bool is_point, vec3 x, vec3 y, double w)
{
    vec3 r = v3_sub(x, y);
    vec3 f = v3_scale(r, w);
    evaluation->cost += 0.5 * w * v3_dot(r, r);
    if (is_point) {
        pz_add_force(evaluation, goal->body, x, f);
        pz_add_force(evaluation, goal->body2, y, v3_neg(f));
    } else {
        pz_add_direction_force(evaluation, goal->body, x, f);
        pz_add_direction_force(evaluation, goal->body2, y, v3_neg(f));
    }
    if (evaluation->level == POISE_LEVEL_HESSIAN) {
        double *row[3];
        for (int k = 0; k < 3; ++k) {
            row[k] = pz_add_row(evaluation, w);
        }
        add_columns(evaluation->kin, goal->body, 1.0, is_point, x, row);
        add_columns(evaluation->kin, goal->body2, -1.0, is_point, y, row);
    }
}

static void relative_evaluate(pz_evaluation *evaluation, const poise_goal *goal)
{
    pz_ends at = pz_ends_of(evaluation->kin, goal->body, goal->local, goal->body2, goal->target);
    double w = 0.5 * goal->rotation_weight;
    add_difference(evaluation, goal, true, at.x, at.y, goal->weight);
    if (w > 0) {
        add_difference(evaluation, goal, false, at.d.x, at.c.x, w);
        add_difference(evaluation, goal, false, at.d.y, at.c.y, w);
        add_difference(evaluation, goal, false, at.d.z, at.c.z, w);
    }
}

static poise_goal_error relative_error(const poise_kinematics *kin, const poise_goal *goal)
{
    pz_ends at = pz_ends_of(kin, goal->body, goal->local, goal->body2, goal->target);
    return (poise_goal_error){
        .error = v3_norm(v3_sub(at.x, at.y)), .unit = POISE_UNIT_LENGTH, .rotation_error = pz_frame_angle(&at.c, &at.d)};
}

static int relative_rows(const poise_kinematics *kin, const poise_goal *goal, double *r, double *J)
{
    if (!r) {
        return 6;
    }
    static const vec3 unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    pz_ends at = pz_ends_of(kin, goal->body, goal->local, goal->body2, goal->target);
    mat3 back = m3_transpose(&at.c), turn = m3_mul(&back, &at.d);
    quat off = quat_from_matrix(&turn);
    mat3 A = pz_rotation_gradients(off, &at.c);
    const vec3 a[3] = {A.x, A.y, A.z};
    double w = sqrt(goal->weight), w_r = sqrt(goal->rotation_weight);
    int nv = kin->model->nv;
    pz_clear_rows(kin, 6, J);
    for (int k = 0; k < 3; ++k) {
        vec3 f = v3_scale(unit[k], w), n = v3_scale(a[k], w_r), zero = v3(0, 0, 0);
        pz_add_to_row(kin, goal->body, (wrench){v3_cross(at.x, f), f}, J + k * nv);
        pz_add_to_row(kin, goal->body2, (wrench){v3_neg(v3_cross(at.y, f)), v3_neg(f)}, J + k * nv);
        pz_add_to_row(kin, goal->body, (wrench){n, zero}, J + (3 + k) * nv);
        pz_add_to_row(kin, goal->body2, (wrench){v3_neg(n), zero}, J + (3 + k) * nv);
    }
    v3_store(v3_scale(v3_sub(at.x, at.y), w), r);
    v3_store(v3_scale(quat_vec(off), 2.0 * w_r), r + 3);
    return 6;
}

static poise_status relative_check(const poise_goal *goal, const poise_model *model, poise_error *error)
{
    return goal->body2 == POISE_WORLD ? POISE_OK : pz_check_goal_body(goal, "body2", goal->body2, model, error);
}

poise_goal poise_goal_relative(int body, poise_pose local, int body2, poise_pose target)
{
    poise_goal goal = poise_goal_pose(body, local, target);
    goal.kind = POISE_GOAL_RELATIVE;
    goal.body2 = body2;
    return goal;
}

const pz_goal_row pz_goal_relative = {
    .needs = PZ_NEEDS_BODY | PZ_NEEDS_POINT | PZ_NEEDS_ROTATION | PZ_NEEDS_COUPLING,
    .check = relative_check,
    .evaluate = relative_evaluate,
    .error = relative_error,
    .rows = relative_rows,
};
