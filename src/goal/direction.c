// DIRECTION: the direction d of a body along u. E = w/2 |d - u|^2 = w (1 - cos(angle)).
//
//   force on d: f = w (d - u)      torque d x f
//   ww = w (I - d d^T) + turn curvature of d under f      Gauss-Newton: the first term
//
// A maximum at the opposite direction, where the torque vanishes as well.
#include "goal/goal.h"

static void direction_evaluate(pz_evaluation *evaluation, const poise_goal *goal)
{
    vec3 d = pz_kin_direction(evaluation->kin, goal->body, goal->axis);
    vec3 e = v3_sub(d, goal->direction);
    double w = goal->weight;
    vec3 f = v3_scale(e, w);
    sym3 ww = sym3_add(sym3_identity(w), sym3_outer(-w, d));
    sym3 K = pz_turn_curvature(d, f);
    pz_add_turning(evaluation, goal->body, 0.5 * w * v3_dot(e, e), v3_cross(d, f), &ww, &K);
}

static poise_goal_error direction_error(const poise_kinematics *kin, const poise_goal *goal)
{
    return pz_single_error(v3_angle(pz_kin_direction(kin, goal->body, goal->axis), goal->direction), POISE_UNIT_ANGLE);
}

static int direction_rows(const poise_kinematics *kin, const poise_goal *goal, double *r, double *J)
{
    if (!r) {
        return 3;
    }
    vec3 d = pz_kin_direction(kin, goal->body, goal->axis), zero = v3(0, 0, 0);
    double w = sqrt(goal->weight);
    int nv = kin->model->nv;
    pz_clear_rows(kin, 3, J);
    pz_add_to_row(kin, goal->body, (wrench){v3(0, w * d.z, -w * d.y), zero}, J); // d x (w, 0, 0)
    pz_add_to_row(kin, goal->body, (wrench){v3(-w * d.z, 0, w * d.x), zero}, J + nv);
    pz_add_to_row(kin, goal->body, (wrench){v3(w * d.y, -w * d.x, 0), zero}, J + 2 * nv);
    v3_store(v3_scale(v3_sub(d, goal->direction), w), r);
    return 3;
}

poise_goal poise_goal_direction(int body, poise_vec3 axis, poise_vec3 direction)
{
    poise_goal goal = poise_goal_default(POISE_GOAL_DIRECTION);
    goal.body = body;
    goal.axis = v3_normalize(axis);
    goal.direction = v3_normalize(direction);
    return goal;
}

const pz_goal_row pz_goal_direction = {
    .needs = PZ_NEEDS_BODY | PZ_NEEDS_AXIS | PZ_NEEDS_DIRECTION,
    .evaluate = direction_evaluate,
    .error = direction_error,
    .rows = direction_rows,
};
