// POSITION: the point x of a body at t. E = w/2 rho(|r|^2), r = x - t.
//
// With a tolerance band the residual is taken in the axes of the target frame T, component by component beyond the band:
//
//   r = T dead(T^T (x - t)),   P = sum over the active components a of T_a T_a^T
//
// As rows: the components of dead(T^T (x - t)), those within the band 0; T = I without one.
#include "goal/sum_kernel.h"

static pz_residual banded(const poise_goal *goal, vec3 r)
{
    mat3 T = quat_matrix(goal->target.rotation);
    vec3 a = m3_apply_transposed(&T, r);
    vec3 e =
        v3(pz_dead_zone(a.x, goal->tolerance.x), pz_dead_zone(a.y, goal->tolerance.y), pz_dead_zone(a.z, goal->tolerance.z));
    sym3 P = sym3_outer(fabs(a.x) >= goal->tolerance.x ? 1.0 : 0.0, T.x);
    P = sym3_add(P, sym3_outer(fabs(a.y) >= goal->tolerance.y ? 1.0 : 0.0, T.y));
    P = sym3_add(P, sym3_outer(fabs(a.z) >= goal->tolerance.z ? 1.0 : 0.0, T.z));
    return (pz_residual){m3_apply(&T, e), P};
}

static pz_residual residual_at(const poise_kinematics *kin, const poise_goal *goal, vec3 x)
{
    vec3 r = v3_sub(x, pz_goal_target(kin, goal));
    return pz_has_band(goal->tolerance) ? banded(goal, r) : (pz_residual){r, sym3_identity(1.0)};
}

// Within the band along all axes: neither cost nor derivatives.
static bool is_idle(const pz_residual *residual)
{
    return v3_dot(residual->r, residual->r) == 0.0 && residual->P.xx + residual->P.yy + residual->P.zz == 0.0;
}

// A marker, the case that matters most.
static void add_marker(pz_evaluation *evaluation, const poise_goal *goal, vec3 x, vec3 r)
{
    double w = goal->weight;
    evaluation->cost += 0.5 * w * v3_dot(r, r);
    if (evaluation->level == POISE_LEVEL_COST) {
        return;
    }
    pz_sum *sum = &evaluation->sums[goal->body];
    vec3 f = v3_scale(r, w);
    sum_add_force(sum, x, f);
    if (evaluation->level == POISE_LEVEL_HESSIAN) {
        sum_add_stiffness(sum, w, x, f);
    }
}

void pz_position_evaluate(pz_evaluation *evaluation, const poise_goal *goal)
{
    vec3 x = pz_kin_point(evaluation->kin, goal->body, goal->local.position);
    if (goal->loss == POISE_LOSS_NONE && !pz_has_band(goal->tolerance)) {
        add_marker(evaluation, goal, x, v3_sub(x, pz_goal_target(evaluation->kin, goal)));
        return;
    }
    pz_jet jet = {.x = x};
    pz_residual residual = residual_at(evaluation->kin, goal, x);
    if (is_idle(&residual)) {
        return;
    }
    pz_residual_jet(goal, &residual, evaluation->level, &jet);
    pz_add_jet(evaluation, goal->body, &jet);
}

poise_goal_error pz_position_error(const poise_kinematics *kin, const poise_goal *goal)
{
    vec3 x = pz_kin_point(kin, goal->body, goal->local.position);
    return pz_single_error(v3_norm(residual_at(kin, goal, x).r), POISE_UNIT_LENGTH);
}

int pz_position_rows(const poise_kinematics *kin, const poise_goal *goal, double *r, double *J)
{
    if (!r) {
        return 3;
    }
    vec3 x = pz_kin_point(kin, goal->body, goal->local.position), off = v3_sub(x, pz_goal_target(kin, goal));
    vec3 band = goal->tolerance;
    mat3 T = m3_identity();
    vec3 e = off;
    if (pz_has_band(band)) {
        T = quat_matrix(goal->target.rotation);
        vec3 a = m3_apply_transposed(&T, off);
        e = v3(pz_dead_zone(a.x, band.x), pz_dead_zone(a.y, band.y), pz_dead_zone(a.z, band.z));
        T.x = v3_scale(T.x, fabs(a.x) >= band.x ? 1.0 : 0.0);
        T.y = v3_scale(T.y, fabs(a.y) >= band.y ? 1.0 : 0.0);
        T.z = v3_scale(T.z, fabs(a.z) >= band.z ? 1.0 : 0.0);
    }
    double w = pz_row_weight(goal, v3_dot(e, e));
    T = pz_scaled(&T, w);
    pz_point_rows(kin, goal->body, x, &T, J);
    return pz_put_vec3(v3_scale(e, w), r);
}
