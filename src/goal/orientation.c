// ORIENTATION: a frame of a body, columns d_k, as the target frame, columns u_k; phi the angle between them.
//
//   E = w/2 (2 sin(phi/2))^2 = w (1 - cos(phi)) = w/4 sum |d_k - u_k|^2
//
// three directions with the weight w/2 each: smooth everywhere, no logarithm, accurate to rounding near 0; a maximum at pi.
// With M = sum (u_k d_k^T + d_k u_k^T)/2 the terms of direction.c add up to
//
//   torque = w/2 sum u_k x (d_k - u_k)       ww = w/2 (tr(M) I - M)       Gauss-Newton: w I
//
// With a tolerance band: let r = conj(t) q be the rotation from target to frame as a quaternion with r_w >= 0, and e = 2
// vec(r), which has the length 2 sin(phi/2). A turn omega of the body, in the target's axes, gives
//
//   de = r_w omega + omega x vec(r) = A omega,     second derivative of e: -e |omega|^2/4
//
// (the second derivative of a unit quaternion along exp(t omega) is -|omega|^2/4 times itself). So beyond the band, with
// a_k the rows of A in world axes and e'_k what is left of e_k:
//
//   E = w/2 sum e'_k^2      torque = w sum e'_k a_k      ww = w sum' a_k a_k^T - w/4 (sum e'_k e_k) I
//
// the primed sum over the active components. Gauss-Newton: the first term.
//
// As rows: e', whose square is the energy of the three directions as well, 4 sin^2(phi/2).
#include "goal/goal.h"
#include "num/trig.h"

// Columns of a body's frame turned by a further rotation.
static mat3 frame_of(const poise_kinematics *kin, int body, quat local)
{
    mat3 R = pz_kin_rotation(kin, body);
    if (local.x == 0 && local.y == 0 && local.z == 0) {
        return R;
    }
    mat3 L = quat_matrix(local);
    return m3_mul(&R, &L);
}

static void add_plain(pz_evaluation *evaluation, int body, const mat3 *d, const mat3 *u, double w)
{
    vec3 ex = v3_sub(d->x, u->x), ey = v3_sub(d->y, u->y), ez = v3_sub(d->z, u->z);
    double energy = 0.25 * w * (v3_dot(ex, ex) + v3_dot(ey, ey) + v3_dot(ez, ez));
    vec3 twice = v3_add(v3_add(v3_cross(u->x, ex), v3_cross(u->y, ey)), v3_cross(u->z, ez));
    sym3 turn =
        sym3_add(sym3_add(pz_turn_curvature(d->x, u->x), pz_turn_curvature(d->y, u->y)), pz_turn_curvature(d->z, u->z));
    sym3 ww = sym3_identity(w);
    sym3 K = sym3_mad(sym3_scale(turn, -0.5 * w), -1.0, ww);
    pz_add_turning(evaluation, body, energy, v3_scale(twice, 0.5 * w), &ww, &K);
}

static quat error_quat(const mat3 *frame, quat target)
{
    quat r = quat_mul(quat_conj(target), quat_from_matrix(frame));
    return r.w < 0 ? (quat){-r.x, -r.y, -r.z, -r.w} : r;
}

// The rows of A = r_w I - [vec(r)]x are the columns of r_w I + [vec(r)]x, turned to world axes.
mat3 pz_rotation_gradients(quat r, const mat3 *T)
{
    return (mat3){m3_apply(T, v3(r.w, r.z, -r.y)), m3_apply(T, v3(-r.z, r.w, r.x)), m3_apply(T, v3(r.y, -r.x, r.w))};
}

static void add_banded(pz_evaluation *evaluation, const poise_goal *goal, const mat3 *frame, double w)
{
    quat target = goal->target.rotation, r = error_quat(frame, target);
    vec3 e = v3_scale(quat_vec(r), 2.0);
    pz_beyond left = pz_beyond_band(e, goal->rotation_tolerance);
    mat3 T = quat_matrix(target);
    mat3 A = pz_rotation_gradients(r, &T); // its columns are the rows a_k
    sym3 ww = sym3_outer(w * left.active.x, A.x);
    ww = sym3_add(ww, sym3_outer(w * left.active.y, A.y));
    ww = sym3_add(ww, sym3_outer(w * left.active.z, A.z));
    sym3 K = sym3_identity(-0.25 * w * v3_dot(left.e, e));
    pz_add_turning(evaluation, goal->body, 0.5 * w * v3_dot(left.e, left.e), v3_scale(m3_apply(&A, left.e), w), &ww, &K);
}

void pz_add_orientation(pz_evaluation *evaluation, const poise_goal *goal, double w)
{
    mat3 frame = frame_of(evaluation->kin, goal->body, goal->local.rotation);
    if (pz_has_band(goal->rotation_tolerance)) {
        add_banded(evaluation, goal, &frame, w);
    } else {
        mat3 target = quat_matrix(goal->target.rotation);
        add_plain(evaluation, goal->body, &frame, &target, w);
    }
}

static void orientation_evaluate(pz_evaluation *evaluation, const poise_goal *goal)
{
    pz_add_orientation(evaluation, goal, goal->weight);
}

// sum |b_k - a_k|^2 = 8 sin^2(phi/2) and sum |b_k + a_k|^2 = 4 + 8 cos^2(phi/2)
double pz_frame_angle(const mat3 *A, const mat3 *B)
{
    vec3 ex = v3_sub(B->x, A->x), ey = v3_sub(B->y, A->y), ez = v3_sub(B->z, A->z);
    double sine = sqrt(v3_dot(ex, ex) + v3_dot(ey, ey) + v3_dot(ez, ez));
    vec3 sx = v3_add(B->x, A->x), sy = v3_add(B->y, A->y), sz = v3_add(B->z, A->z);
    double sum = v3_dot(sx, sx) + v3_dot(sy, sy) + v3_dot(sz, sz);
    return 2.0 * pz_atan2(sine, sqrt(max2(sum - 4.0, 0.0)));
}

static poise_goal_error orientation_error(const poise_kinematics *kin, const poise_goal *goal)
{
    mat3 frame = frame_of(kin, goal->body, goal->local.rotation);
    if (!pz_has_band(goal->rotation_tolerance)) {
        mat3 target = quat_matrix(goal->target.rotation);
        return pz_single_error(pz_frame_angle(&target, &frame), POISE_UNIT_ANGLE);
    }
    vec3 e = v3_scale(quat_vec(error_quat(&frame, goal->target.rotation)), 2.0);
    return pz_single_error(v3_norm(pz_beyond_band(e, goal->rotation_tolerance).e), POISE_UNIT_ANGLE);
}

void pz_rotation_rows(const poise_kinematics *kin, const poise_goal *goal, double w, double *r, double *J)
{
    mat3 frame = frame_of(kin, goal->body, goal->local.rotation), T = quat_matrix(goal->target.rotation);
    quat off = error_quat(&frame, goal->target.rotation);
    pz_beyond left = pz_beyond_band(v3_scale(quat_vec(off), 2.0), goal->rotation_tolerance);
    mat3 A = pz_rotation_gradients(off, &T);
    double root = sqrt(w);
    vec3 zero = v3(0, 0, 0);
    pz_clear_rows(kin, 3, J);
    pz_add_to_row(kin, goal->body, (wrench){v3_scale(A.x, root * left.active.x), zero}, J);
    pz_add_to_row(kin, goal->body, (wrench){v3_scale(A.y, root * left.active.y), zero}, J + kin->model->nv);
    pz_add_to_row(kin, goal->body, (wrench){v3_scale(A.z, root * left.active.z), zero}, J + 2 * kin->model->nv);
    v3_store(v3_scale(left.e, root), r);
}

static int orientation_rows(const poise_kinematics *kin, const poise_goal *goal, double *r, double *J)
{
    if (r) {
        pz_rotation_rows(kin, goal, goal->weight, r, J);
    }
    return 3;
}

poise_goal poise_goal_orientation(int body, poise_quat target)
{
    poise_goal goal = poise_goal_default(POISE_GOAL_ORIENTATION);
    goal.body = body;
    goal.target.rotation = quat_normalize(target);
    return goal;
}

const pz_goal_row pz_goal_orientation = {
    .needs = PZ_NEEDS_BODY | PZ_NEEDS_ROTATION,
    .evaluate = orientation_evaluate,
    .error = orientation_error,
    .rows = orientation_rows,
};
