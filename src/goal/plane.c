// PLANE: the point x of a body on the plane through t with the normal n. r = ((x - t) . n) n, P = n n^T.
#include "goal/goal.h"

static double height(const poise_kinematics *kin, const poise_goal *goal, vec3 x)
{
    return v3_dot(v3_sub(x, pz_goal_target(kin, goal)), goal->direction);
}

static void plane_evaluate(pz_evaluation *evaluation, const poise_goal *goal)
{
    pz_jet jet = {.x = pz_kin_point(evaluation->kin, goal->body, goal->local.position)};
    vec3 n = goal->direction;
    pz_residual residual = {v3_scale(n, height(evaluation->kin, goal, jet.x)), sym3_outer(1.0, n)};
    pz_residual_jet(goal, &residual, evaluation->level, &jet);
    pz_add_jet(evaluation, goal->body, &jet);
}

static poise_goal_error plane_error(const poise_kinematics *kin, const poise_goal *goal)
{
    return pz_single_error(fabs(height(kin, goal, pz_kin_point(kin, goal->body, goal->local.position))), POISE_UNIT_LENGTH);
}

static int plane_rows(const poise_kinematics *kin, const poise_goal *goal, double *r, double *J)
{
    if (!r) {
        return 1;
    }
    vec3 x = pz_kin_point(kin, goal->body, goal->local.position);
    double h = height(kin, goal, x);
    double w = pz_row_weight(goal, h * h);
    vec3 a = v3_scale(goal->direction, w);
    pz_clear_rows(kin, 1, J);
    pz_add_to_row(kin, goal->body, (wrench){v3_cross(x, a), a}, J);
    r[0] = w * h;
    return 1;
}

poise_goal poise_goal_plane(int body, poise_vec3 local, poise_vec3 origin, poise_vec3 normal)
{
    poise_goal goal = pz_goal_at_point(POISE_GOAL_PLANE, body, local, origin);
    goal.direction = v3_normalize(normal);
    return goal;
}

const pz_goal_row pz_goal_plane = {
    .needs = PZ_NEEDS_BODY | PZ_NEEDS_POINT | PZ_NEEDS_DIRECTION,
    .evaluate = plane_evaluate,
    .error = plane_error,
    .rows = plane_rows,
};
