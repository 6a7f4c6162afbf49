// Pulls: what goals want of a rigid motion, as sixteen numbers.
//
// Most kinds fit exactly. The others are replaced, at the current point, by a pull with the same gradient there:
//
//   loss    rho is concave in the squared error: rho(s) <= rho(s0) + rho'(s0) (s - s0), so w rho'(s0) in place of w bounds
//           the energy from above (iteratively reweighted least squares)
//   band    the error is the distance to a box; with the box's nearest point in place of t it is bounded from above
//   AIM     see add_aim: resembles the energy, does not bound it
//
// A bound that touches the energy at the current point cannot be lowered without lowering the energy: descent on such pulls
// is descent on the cost (Hunter & Lange, "A tutorial on MM algorithms", 2004).
#include "papers/methods/geometric.h"

#include <string.h>

// M + x t^T
static void add_product(mat3 *M, vec3 x, vec3 t)
{
    M->x = v3_mad(M->x, t.x, x);
    M->y = v3_mad(M->y, t.y, x);
    M->z = v3_mad(M->z, t.z, x);
}

void pz_pull_add_point(pz_pull *pull, double w, vec3 x, vec3 t)
{
    pull->n += w;
    pull->X = v3_mad(pull->X, w, x);
    pull->T = v3_mad(pull->T, w, t);
    add_product(&pull->M, v3_scale(x, w), t);
    pull->size += w * (v3_norm(x) * v3_norm(t));
}

// A direction d that wants to be along u.
static void add_direction(pz_pull *pull, double w, vec3 d, vec3 u)
{
    add_product(&pull->M, v3_scale(d, w), u);
    pull->size += w;
}

// The energy f . x: a target infinitely far away on a weight of 0.
static void add_force(pz_pull *pull, vec3 x, vec3 f)
{
    pull->T = v3_sub(pull->T, f);
    add_product(&pull->M, x, v3_neg(f));
    pull->size += v3_norm(x) * v3_norm(f);
}

void pz_pull_add(pz_pull *pull, double factor, const pz_pull *other)
{
    pull->n += factor * other->n;
    pull->X = v3_mad(pull->X, factor, other->X);
    pull->T = v3_mad(pull->T, factor, other->T);
    pull->M.x = v3_mad(pull->M.x, factor, other->M.x);
    pull->M.y = v3_mad(pull->M.y, factor, other->M.y);
    pull->M.z = v3_mad(pull->M.z, factor, other->M.z);
    pull->size += factor * other->size;
}

// x -> R x + s:  M -> R M + s T^T,  X -> R X + n s
void pz_pull_carry(pz_pull *pull, const pz_move *move)
{
    pull->M = m3_mul(&move->R, &pull->M);
    add_product(&pull->M, move->s, pull->T);
    pull->X = v3_mad(m3_apply(&move->R, pull->X), pull->n, move->s);
    pull->size += v3_norm(move->s) * v3_norm(pull->T);
}

// t -> R^T (t - s):  M -> (M - X s^T) R,  T -> R^T (T - n s)
void pz_pull_carry_targets_back(pz_pull *pull, const pz_move *move)
{
    add_product(&pull->M, pull->X, v3_neg(move->s));
    pull->M = m3_mul(&pull->M, &move->R);
    pull->T = m3_apply_transposed(&move->R, v3_mad(pull->T, -pull->n, move->s));
    pull->size += v3_norm(move->s) * v3_norm(pull->X);
}

// ---- Goals ---------------------------------------------------------------------------------------------------------------

vec3 pz_pull_target(const poise_method_run *run, const poise_goal *goal, vec3 x, double *weight)
{
    vec3 t = v3_sub(goal->target.position, run->at.reference);
    if (has_band(goal->tolerance)) { // the nearest point of the box
        mat3 A = quat_matrix(goal->target.rotation);
        vec3 e = m3_apply_transposed(&A, v3_sub(x, t)), h = goal->tolerance;
        t = v3_add(t, m3_apply(&A, v3(clamp(e.x, -h.x, h.x), clamp(e.y, -h.y, h.y), clamp(e.z, -h.z, h.z))));
    }
    vec3 r = v3_sub(x, t);
    *weight = goal->weight * run->call->loss_slope(goal, v3_dot(r, r));
    return t;
}

static void add_position(const poise_method_run *run, const poise_goal *goal, pz_pull *pull)
{
    vec3 x = run->call->place(run, goal->body, goal->local.position);
    double w;
    vec3 t = pz_pull_target(run, goal, x, &w);
    pz_pull_add_point(pull, w, x, t);
}

// Three directions of weight w/2 (goal/orientation.c).
static void add_orientation(const poise_method_run *run, const poise_goal *goal, double w, pz_pull *pull)
{
    mat3 L = quat_matrix(goal->local.rotation), u = quat_matrix(goal->target.rotation);
    double rows[9], place[3];
    poise_kinematics_body_frame(run->at.kinematics, goal->body, rows, place);
    mat3 R = {{rows[0], rows[3], rows[6]}, {rows[1], rows[4], rows[7]}, {rows[2], rows[5], rows[8]}}, d = m3_mul(&R, &L);
    add_direction(pull, 0.5 * w, d.x, u.x);
    add_direction(pull, 0.5 * w, d.y, u.y);
    add_direction(pull, 0.5 * w, d.z, u.z);
}

// Nearer than this the direction to the target is rounding; the goal then counts as met (goal/aim.c).
#define NEAREST 1e-12

// With l, u length and direction of t - x, c = d . u, and y = x + l d, the point that should be at t:
//
//   E = w (1 - c) = w/(2 l^2) |y - t|^2 + (w/l) (1 - c) u . x + const, to first order in moves of x and d
//
// a point and a force. The point has the second derivatives that matter near the goal, |omega x d + P dx/l|^2 with P across
// u, and some along u. Far from the goal this may not do; `caution` adds that many times more weight towards staying, which
// in the end bounds E.
static void add_aim(const poise_method_run *run, const poise_goal *goal, double caution, pz_pull *pull)
{
    vec3 x = run->call->place(run, goal->body, goal->local.position),
         d = poise_kinematics_direction(run->at.kinematics, goal->body, goal->axis);
    vec3 t = v3_sub(goal->target.position, run->at.reference), way = v3_sub(t, x);
    double l = v3_norm(way), w = goal->weight, k = w / l / l;
    if (!(l > NEAREST) || !is_finite(l) || !is_finite(k)) {
        return;
    }
    vec3 u = v3_scale(way, 1.0 / l), y = v3_mad(x, l, d);
    pz_pull_add_point(pull, k, y, t);
    add_force(pull, x, v3_scale(u, (w / l) * (1.0 - v3_dot(d, u))));
    pz_pull_add_point(pull, caution * k, y, y);
    pz_pull_add_point(pull, caution * k, x, x);
}

bool pz_pull_goals(const poise_method_run *run, double caution, int joint_count, pz_pull *pulls)
{
    memset(pulls, 0, (size_t)joint_count * sizeof *pulls);
    bool bounds = true;
    for (int i = 0; i < run->goal_count; ++i) {
        const poise_goal *goal = &run->goals[i];
        pz_pull *pull = &pulls[goal->body];
        if (goal->kind == POISE_GOAL_POSITION || goal->kind == POISE_GOAL_POSE) {
            add_position(run, goal, pull);
        }
        if (goal->kind == POISE_GOAL_POSE || goal->kind == POISE_GOAL_ORIENTATION) {
            add_orientation(run, goal, goal->kind == POISE_GOAL_POSE ? goal->rotation_weight : goal->weight, pull);
        } else if (goal->kind == POISE_GOAL_DIRECTION) {
            add_direction(pull, goal->weight, poise_kinematics_direction(run->at.kinematics, goal->body, goal->axis),
                          goal->direction);
        } else if (goal->kind == POISE_GOAL_AIM) {
            add_aim(run, goal, caution, pull);
            bounds = false;
        }
    }
    return bounds;
}
