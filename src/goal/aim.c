// AIM: the direction d at the point x of a body, towards t. With y = t - x, l = |y|, u = y/l, P = I - u u^T, e = d - u:
//
//   E = w/2 |e|^2                            du = -(P/l) dx
//   torque = w u x d                         force = (w/l) P d
//   de = omega x d + (P/l) dx, so Gauss-Newton:
//     ww = w (I - d d^T)                     wu = (w/l) [d]x P                  uu = (w/l^2) P
//   exact adds w e . d2d and -w e . d2u:
//     ww + turn curvature of d under w e     uu + (w/l^2) (u (P d)^T + (P d) u^T + (e . u) P)
#include "goal/goal.h"

// Nearer than this the direction to the target is rounding; the goal then counts as met.
#define NEAREST 1e-12

typedef struct sight {
    vec3 x, d, u;
    double l;
} sight;

static sight sight_of(const poise_kinematics *kin, const poise_goal *goal)
{
    sight s = {.x = pz_kin_point(kin, goal->body, goal->local.position), .d = pz_kin_direction(kin, goal->body, goal->axis)};
    vec3 y = v3_sub(pz_goal_target(kin, goal), s.x);
    s.l = v3_norm(y);
    s.u = s.l > NEAREST ? v3_scale(y, 1.0 / s.l) : s.d;
    if (s.l == INFINITY) { // the squares overflow, not the direction
        s.u = v3_normalize(y);
    }
    return s;
}

static void curvature(const sight *s, vec3 e, double w, pz_jet *jet)
{
    double wl = w / s->l, wll = wl / s->l;
    vec3 Pd = v3_mad(s->d, -v3_dot(s->u, s->d), s->u);
    sym3 P = sym3_add(sym3_identity(1.0), sym3_outer(-1.0, s->u));
    mat3 D = m3_cross(v3_scale(s->d, wl)), Pm = sym3_matrix(&P);
    pz_curvature *gn = &jet->gauss_newton;
    gn->ww = sym3_add(sym3_identity(w), sym3_outer(-w, s->d));
    gn->wu = m3_mul(&D, &Pm);
    gn->uu = sym3_scale(P, wll);
    jet->exact.ww = sym3_add(gn->ww, pz_turn_curvature(s->d, v3_scale(e, w)));
    jet->exact.wu = gn->wu;
    jet->exact.uu = sym3_add(sym3_scale(P, wll * (1.0 + v3_dot(e, s->u))), sym3_scale(sym3_pair(s->u, Pd), 2.0 * wll));
}

static void aim_evaluate(pz_evaluation *evaluation, const poise_goal *goal)
{
    sight s = sight_of(evaluation->kin, goal);
    if (!(s.l > NEAREST)) {
        return;
    }
    double w = goal->weight;
    vec3 e = v3_sub(s.d, s.u);
    pz_jet jet = {.x = s.x, .energy = 0.5 * w * v3_dot(e, e), .torque = v3_scale(v3_cross(s.u, s.d), w)};
    jet.force = v3_scale(v3_mad(s.d, -v3_dot(s.u, s.d), s.u), w / s.l);
    if (evaluation->level == POISE_LEVEL_HESSIAN) {
        curvature(&s, e, w, &jet);
    }
    pz_add_jet(evaluation, goal->body, &jet);
}

static poise_goal_error aim_error(const poise_kinematics *kin, const poise_goal *goal)
{
    sight s = sight_of(kin, goal);
    return pz_single_error(v3_angle(s.d, s.u), POISE_UNIT_ANGLE);
}

// Row k: dr_k = a . (omega x d) + (P a/l) . dx for a the axis k.
static int aim_rows(const poise_kinematics *kin, const poise_goal *goal, double *r, double *J)
{
    static const vec3 unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    if (!r) {
        return 3;
    }
    sight s = sight_of(kin, goal);
    double w = s.l > NEAREST ? sqrt(goal->weight) : 0.0;
    double per_length = s.l > NEAREST ? w / s.l : 0.0;
    pz_clear_rows(kin, 3, J);
    for (int k = 0; k < 3; ++k) {
        vec3 a = unit[k];
        vec3 f = v3_scale(v3_mad(a, -v3_dot(s.u, a), s.u), per_length);
        wrench g = {v3_add(v3_scale(v3_cross(s.d, a), w), v3_cross(s.x, f)), f};
        pz_add_to_row(kin, goal->body, g, J + k * kin->model->nv);
    }
    v3_store(v3_scale(v3_sub(s.d, s.u), w), r);
    return 3;
}

poise_goal poise_goal_aim(int body, poise_vec3 local, poise_vec3 axis, poise_vec3 target)
{
    poise_goal goal = pz_goal_at_point(POISE_GOAL_AIM, body, local, target);
    goal.axis = v3_normalize(axis);
    return goal;
}

const pz_goal_row pz_goal_aim = {
    .needs = PZ_NEEDS_BODY | PZ_NEEDS_POINT | PZ_NEEDS_AXIS,
    .evaluate = aim_evaluate,
    .error = aim_error,
    .rows = aim_rows,
};
