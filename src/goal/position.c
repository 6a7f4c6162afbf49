// POSITION: the point x of a body at t. E = w/2 rho(|r|^2), r = x - t. Alone it is a residual with a loss and a tolerance;
// without either it is a marker, and the markers of one body are evaluated together.
//
// With a tolerance band the residual is taken in the axes of the target frame T, component by component beyond the band:
//
//   r = T dead(T^T (x - t)),   P = sum over the active components a of T_a T_a^T
//
// As rows: the components of dead(T^T (x - t)), those within the band 0; T = I without one.
#include "goal/objective.h"
#include "goal/sum_kernel.h"

#include <string.h>

static pz_residual banded(const poise_goal *goal, vec3 r)
{
    mat3 T = quat_matrix(goal->target.rotation);
    pz_beyond left = pz_beyond_band(m3_apply_transposed(&T, r), goal->tolerance);
    sym3 P = sym3_outer(left.active.x, T.x);
    P = sym3_add(P, sym3_outer(left.active.y, T.y));
    P = sym3_add(P, sym3_outer(left.active.z, T.z));
    return (pz_residual){m3_apply(&T, left.e), P};
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

static void position_evaluate(pz_evaluation *evaluation, const poise_goal *goal)
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

static poise_goal_error position_error(const poise_kinematics *kin, const poise_goal *goal)
{
    vec3 x = pz_kin_point(kin, goal->body, goal->local.position);
    return pz_single_error(v3_norm(residual_at(kin, goal, x).r), POISE_UNIT_LENGTH);
}

static int position_rows(const poise_kinematics *kin, const poise_goal *goal, double *r, double *J)
{
    if (!r) {
        return 3;
    }
    vec3 x = pz_kin_point(kin, goal->body, goal->local.position), off = v3_sub(x, pz_goal_target(kin, goal));
    mat3 T = m3_identity();
    pz_beyond left = {off, {1, 1, 1}};
    if (pz_has_band(goal->tolerance)) {
        T = quat_matrix(goal->target.rotation);
        left = pz_beyond_band(m3_apply_transposed(&T, off), goal->tolerance);
        T = (mat3){v3_scale(T.x, left.active.x), v3_scale(T.y, left.active.y), v3_scale(T.z, left.active.z)};
    }
    double w = pz_row_weight(goal, v3_dot(left.e, left.e));
    T = (mat3){v3_scale(T.x, w), v3_scale(T.y, w), v3_scale(T.z, w)};
    pz_point_rows(kin, goal->body, x, &T, J);
    v3_store(v3_scale(left.e, w), r);
    return 3;
}

// ---- Markers by the dozen ------------------------------------------------------------------------------------------------
//
// Plain POSITION goals of one body are condensed into moments when the goals are set.
//
// With x = p + R l (l in our body frame), target t, weight w, and sums over the markers of one body:
//
//   n = sum w      b = sum w l      S = sum w l l^T      tau = sum w t / n      Y = sum w l (t - tau)^T
//
// everything but the cost follows from the body's frame, however many markers there are:
//
//   c = sum w x     = n p + R b                    force f = c - n tau
//   P = sum w x x^T = n p p^T + p (R b)^T + (R b) p^T + R S R^T
//   Q = sum x f^T   = P - c tau^T - R Y            (tau about the reference point)
//   torque = sum x x f = axial(Q)      ww = tr(P) I - P      K = sym(Q) - tr(Q) I
//
// Rounding leaves errors of eps n |x|^2 in Q, as large as those of a sum marker by marker. Of the cost it would leave the
// same, which is too much where the cost vanishes, so the cost is summed marker by marker, from l and t - tau laid out for
// that.

void pz_markers_lay_out(pz_marker_set *set, const poise_model *model, pz_arena *arena)
{
    size_t places = (size_t)model->joint_count * (PZ_MARKERS_PER_JOINT + PZ_MARKER_LANES - 1);
    set->body = pz_arena_take(arena, (size_t)model->joint_count, sizeof *set->body);
    for (int i = 0; i < 3; ++i) {
        set->l[i] = pz_arena_take(arena, places, sizeof(double));
        set->t[i] = pz_arena_take(arena, places, sizeof(double));
    }
    set->w = pz_arena_take(arena, places, sizeof(double));
}

// Count the markers of every body, give places to bodies that have enough, and find the means of their targets.
static void assign_places(pz_marker_set *set, const poise_model *model, const poise_goal *goals, int count)
{
    memset(set->body, 0, (size_t)model->joint_count * sizeof *set->body);
    for (int i = 0; i < count; ++i) {
        if (pz_is_marker(&goals[i])) {
            pz_markers *m = &set->body[goals[i].body];
            m->count += 1;
            m->moments.n += goals[i].weight;
            m->moments.tau = v3_mad(m->moments.tau, goals[i].weight, goals[i].target.position);
        }
    }
    int next = 0, room = model->joint_count * PZ_MARKERS_PER_JOINT;
    for (int k = 0; k < model->joint_count; ++k) {
        pz_markers *m = &set->body[k];
        if (m->count < PZ_CONDENSED_MARKERS || m->count > room) {
            m->count = 0;
            continue;
        }
        room -= m->count;
        m->first = next;
        m->slots = (m->count + PZ_MARKER_LANES - 1) / PZ_MARKER_LANES * PZ_MARKER_LANES;
        next += m->slots;
        m->moments.tau = v3_scale(m->moments.tau, 1.0 / m->moments.n);
        for (int place = m->first; place < next; ++place) { // until they are filled
            set->l[0][place] = set->l[1][place] = set->l[2][place] = 0.0;
            set->t[0][place] = set->t[1][place] = set->t[2][place] = 0.0;
            set->w[place] = 0.0;
        }
        m->count = 0; // counted again as they are filled
        set->any = true;
    }
}

// a + s u w^T, columns by the components of w
static inline mat3 outer_mad(mat3 a, double s, vec3 u, vec3 w)
{
    return (mat3){v3_mad(a.x, s * w.x, u), v3_mad(a.y, s * w.y, u), v3_mad(a.z, s * w.z, u)};
}

static void fill_place(pz_marker_set *set, const poise_model *model, const poise_goal *goal)
{
    const pz_joint *joint = &model->joints[goal->body];
    pz_markers *m = &set->body[goal->body];
    double w = goal->weight;
    vec3 l = joint->B_is_identity ? goal->local.position : m3_apply(&joint->B, goal->local.position);
    vec3 t = v3_sub(goal->target.position, m->moments.tau);
    int place = m->first + m->count++;
    set->l[0][place] = l.x, set->l[1][place] = l.y, set->l[2][place] = l.z;
    set->t[0][place] = t.x, set->t[1][place] = t.y, set->t[2][place] = t.z;
    set->w[place] = w;
    m->moments.b = v3_mad(m->moments.b, w, l);
    m->moments.S = sym3_add(m->moments.S, sym3_outer(w, l));
    m->moments.Y = outer_mad(m->moments.Y, w, l, t);
}

void pz_markers_condense(pz_marker_set *set, const poise_model *model, const poise_goal *goals, int count)
{
    set->any = false;
    set->all = count >= PZ_CONDENSED_MARKERS;
    if (!set->all) {
        return;
    }
    assign_places(set, model, goals, count);
    for (int i = 0; i < count; ++i) {
        if (pz_is_marker(&goals[i]) && set->body[goals[i].body].slots > 0) {
            fill_place(set, model, &goals[i]);
        } else {
            set->all = false;
        }
    }
}

typedef double four __attribute__((vector_size(32))); // two of two where registers are no wider

// sum w |R l + shift - (t - tau)|^2 / 2 over one body's places, shift = p - tau, in four sums that are added at the end.
PZ_INLINE double cost_by_fours(const pz_marker_set *set, const pz_markers *m, const mat3 *R, vec3 shift)
{
    four sum = {0.0, 0.0, 0.0, 0.0};
    for (int i = m->first; i < m->first + m->slots; i += PZ_MARKER_LANES) {
        four l[3], t[3], w;
        for (int k = 0; k < 3; ++k) {
            memcpy(&l[k], set->l[k] + i, sizeof l[k]);
            memcpy(&t[k], set->t[k] + i, sizeof t[k]);
        }
        memcpy(&w, set->w + i, sizeof w);
        four rx = R->x.x * l[0] + R->y.x * l[1] + R->z.x * l[2] + shift.x - t[0];
        four ry = R->x.y * l[0] + R->y.y * l[1] + R->z.y * l[2] + shift.y - t[1];
        four rz = R->x.z * l[0] + R->y.z * l[1] + R->z.z * l[2] + shift.z - t[2];
        sum = sum + w * (rx * rx + ry * ry + rz * rz);
    }
    return 0.5 * ((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

static double body_cost(const pz_marker_set *set, const pz_markers *m, const mat3 *R, vec3 shift)
{
    return cost_by_fours(set, m, R, shift);
}

// The same code for processors with wider registers (base/cpu.h).
PZ_WIDE static double body_cost_wide(const pz_marker_set *set, const pz_markers *m, const mat3 *R, vec3 shift)
{
    return cost_by_fours(set, m, R, shift);
}

void pz_markers_evaluate(const pz_marker_set *set, pz_evaluation *evaluation)
{
    const poise_kinematics *kin = evaluation->kin;
    for (int k = 0; k < kin->model->joint_count; ++k) {
        const pz_markers *m = &set->body[k];
        if (m->count == 0) {
            continue;
        }
        vec3 tau = v3_sub(m->moments.tau, kin->origin), shift = v3_sub(kin->p[k], tau);
        bool is_wide = kin->model->is_wide;
        evaluation->cost += is_wide ? body_cost_wide(set, m, &kin->R[k], shift) : body_cost(set, m, &kin->R[k], shift);
        if (evaluation->level != POISE_LEVEL_COST) {
            sum_add_condensed(&evaluation->sums[k], &m->moments, &kin->R[k], kin->p[k], tau,
                              evaluation->level == POISE_LEVEL_HESSIAN);
        }
    }
}

// ---- The kind ------------------------------------------------------------------------------------------------------------

poise_goal poise_goal_position(int body, poise_vec3 local, poise_vec3 target)
{
    return pz_goal_at_point(POISE_GOAL_POSITION, body, local, target);
}

const pz_goal_row pz_goal_position = {
    .needs = PZ_NEEDS_BODY | PZ_NEEDS_POINT,
    .evaluate = position_evaluate,
    .error = position_error,
    .rows = position_rows,
};
