// DISTANCE: the point x of a body at the distance L from t. With l = |x - t|, u = (x - t)/l, e = l - L:
//
//   E = w/2 rho(e^2)      force = w rho' e u      uu = w ((rho' + 2 rho'' e^2) u u^T + rho' (e/l) (I - u u^T))
//   Gauss-Newton: w rho' u u^T
//
// At t itself E is the tip of a cone: it falls in every direction, and u may be any. The direction in which the joints move
// x most is taken, with no curvature across it.
#include "goal/goal.h"

// Nearer than this the direction from t to x is rounding.
#define NEAREST 1e-12

// The unit vector along which x moves most for a unit of one joint.
static vec3 widest_way(const poise_kinematics *kin, int body, vec3 x)
{
    vec3 widest = {0, 0, 0};
    for (int i = pz_kin_last_axis(kin, body); i >= 0; i = kin->model->axes[i].parent) {
        vec3 way = v3_scale(pz_velocity(kin->S[i], x), kin->model->axes[i].factor);
        widest = v3_dot(way, way) > v3_dot(widest, widest) ? way : widest;
    }
    double length = v3_norm(widest);
    return length > 0 && is_finite(length) ? v3_scale(widest, 1.0 / length) : v3(1, 0, 0);
}

bool pz_distance_is_at_tip(const poise_kinematics *kin, const poise_goal *goal)
{
    if (goal->kind != POISE_GOAL_DISTANCE || !(goal->distance > 0 && goal->weight > 0)) {
        return false;
    }
    vec3 x = pz_kin_point(kin, goal->body, goal->local.position);
    return v3_norm(v3_sub(x, pz_goal_target(kin, goal))) <= NEAREST;
}

static void distance_evaluate(pz_evaluation *evaluation, const poise_goal *goal)
{
    pz_jet jet = {.x = pz_kin_point(evaluation->kin, goal->body, goal->local.position)};
    vec3 r = v3_sub(jet.x, pz_goal_target(evaluation->kin, goal));
    double l = v3_norm(r);
    double e = l - goal->distance;
    bool there = l > NEAREST, is_asked = evaluation->level != POISE_LEVEL_COST;
    vec3 u = there ? v3_scale(r, 1.0 / l) : is_asked ? widest_way(evaluation->kin, goal->body, jet.x) : v3(1, 0, 0);
    pz_loss loss = pz_loss_at(goal->loss, goal->loss_scale, e * e);
    double w = goal->weight;
    jet.energy = 0.5 * w * loss.rho;
    jet.force = v3_scale(u, w * loss.d1 * e);
    if (evaluation->level == POISE_LEVEL_HESSIAN) {
        double across = there ? w * loss.d1 * e / l : 0.0;
        jet.gauss_newton.uu = sym3_outer(w * loss.d1, u);
        jet.exact.uu = sym3_add(sym3_outer(w * (loss.d1 + 2.0 * loss.d2 * e * e) - across, u), sym3_identity(across));
    }
    pz_add_jet(evaluation, goal->body, &jet);
}

static poise_goal_error distance_error(const poise_kinematics *kin, const poise_goal *goal)
{
    vec3 r = v3_sub(pz_kin_point(kin, goal->body, goal->local.position), pz_goal_target(kin, goal));
    return pz_single_error(fabs(v3_norm(r) - goal->distance), POISE_UNIT_LENGTH);
}

static int distance_rows(const poise_kinematics *kin, const poise_goal *goal, double *r, double *J)
{
    if (!r) {
        return 1;
    }
    vec3 x = pz_kin_point(kin, goal->body, goal->local.position), off = v3_sub(x, pz_goal_target(kin, goal));
    double l = v3_norm(off), e = l - goal->distance;
    double w = pz_row_weight(goal, e * e);
    vec3 a = l > NEAREST ? v3_scale(off, w / l) : v3_scale(widest_way(kin, goal->body, x), w);
    pz_clear_rows(kin, 1, J);
    pz_add_to_row(kin, goal->body, (wrench){v3_cross(x, a), a}, J);
    r[0] = w * e;
    return 1;
}

static poise_status distance_check(const poise_goal *goal, const poise_model *model, poise_error *error)
{
    (void)model;
    return goal->distance >= 0 && is_finite(goal->distance)
               ? POISE_OK
               : pz_refuse_goal(error, goal, "distance must be finite and >= 0");
}

poise_goal poise_goal_distance(int body, poise_vec3 local, poise_vec3 target, double distance)
{
    poise_goal goal = pz_goal_at_point(POISE_GOAL_DISTANCE, body, local, target);
    goal.distance = distance;
    return goal;
}

const pz_goal_row pz_goal_distance = {
    .needs = PZ_NEEDS_BODY | PZ_NEEDS_POINT,
    .check = distance_check,
    .evaluate = distance_evaluate,
    .error = distance_error,
    .rows = distance_rows,
};
