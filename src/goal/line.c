// LINE: the point x of a body on the line through t along n. r = P (x - t), P = I - n n^T.
#include "goal/goal.h"

static vec3 off_line(const poise_kinematics *kin, const poise_goal *goal, vec3 x)
{
    vec3 r = v3_sub(x, pz_goal_target(kin, goal));
    return v3_mad(r, -v3_dot(r, goal->direction), goal->direction);
}

static void line_evaluate(pz_evaluation *evaluation, const poise_goal *goal)
{
    pz_jet jet = {.x = pz_kin_point(evaluation->kin, goal->body, goal->local.position)};
    pz_residual residual = {off_line(evaluation->kin, goal, jet.x),
                            sym3_add(sym3_identity(1.0), sym3_outer(-1.0, goal->direction))};
    pz_residual_jet(goal, &residual, evaluation->level, &jet);
    pz_add_jet(evaluation, goal->body, &jet);
}

static poise_goal_error line_error(const poise_kinematics *kin, const poise_goal *goal)
{
    vec3 x = pz_kin_point(kin, goal->body, goal->local.position);
    return pz_single_error(v3_norm(off_line(kin, goal, x)), POISE_UNIT_LENGTH);
}

static int line_rows(const poise_kinematics *kin, const poise_goal *goal, double *r, double *J)
{
    if (!r) {
        return 3;
    }
    vec3 x = pz_kin_point(kin, goal->body, goal->local.position), off = off_line(kin, goal, x);
    double w = pz_row_weight(goal, v3_dot(off, off));
    sym3 P = sym3_add(sym3_identity(w), sym3_outer(-w, goal->direction));
    mat3 A = sym3_matrix(&P);
    pz_point_rows(kin, goal->body, x, &A, J);
    v3_store(v3_scale(off, w), r);
    return 3;
}

poise_goal poise_goal_line(int body, poise_vec3 local, poise_vec3 origin, poise_vec3 direction)
{
    poise_goal goal = pz_goal_at_point(POISE_GOAL_LINE, body, local, origin);
    goal.direction = v3_normalize(direction);
    return goal;
}

const pz_goal_row pz_goal_line = {
    .needs = PZ_NEEDS_BODY | PZ_NEEDS_POINT | PZ_NEEDS_DIRECTION,
    .evaluate = line_evaluate,
    .error = line_error,
    .rows = line_rows,
};
