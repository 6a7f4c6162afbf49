// Two tasks in order of priority by damped least squares, as Ribeiro & Paiva (2019) compare ERIK with (eq. 25): P.
// Baerlocher, "Inverse kinematics techniques for the interactive posture control of articulated figures" (2001).
//
//   step = J1^+l1 e1 + (J2 P)^+l2 (e2 - J2 J1^+l1 e1),     P = I - J1^+ J1
//
// J1 (3 x n) are the world axes, e1 the rotation left to the target; J2 is the identity with 0 for a twister at either end,
// e2 = posture - (angles + J1^+l1 e1). The step of the first task is thus taken off twice, in e2 and beside it: so it is
// printed, and so it is done. PRIORITY (src/solve/priority.c) is the same idea done right, with limits, a line search and
// any number of levels; here the point is to be what was compared.
#include "two_task.h"

#include "papers/erik/erik.h"

#include "num/dense.h"
#include "num/rotation.h"

#include <stdlib.h>
#include <string.h>

#define RANK 1e-9 // of the largest singular value, which is about 1: axes in one plane are that to rounding

two_task_options two_task_options_default(void)
{
    return (two_task_options){
        .max_iterations = 100, .use_posture = true, .correct_flip = true, .longest_step = 0.3, .error_clamp = 0.5};
}

// Scratch by name.
typedef struct two_task {
    int n;
    double *A, *V, *s;  // the current decomposition: at most n x n, n x n, n, and not less than 3
    double *v;          // n x 3: right singular vectors of J1
    double *x, *e, *dx; // n: step of the first task, what is left for the second, its step
} two_task;

// Laid out from w.A on, which is NULL where there is no memory; release it with free.
static two_task scratch(int n)
{
    size_t m = (size_t)(n > 3 ? n : 3);
    two_task w = {.n = n, .A = malloc((2 * m * m + 7 * m) * sizeof *w.A)};
    if (w.A) {
        w.V = w.A + m * m;
        w.s = w.V + m * m;
        w.v = w.s + m;
        w.x = w.v + 3 * m;
        w.e = w.x + m;
        w.dx = w.e + m;
    }
    return w;
}

// lambda of A. Maciejewski & C. Klein (1988); eq. 15 of Ribeiro & Paiva 2019; its derivation is in src/solve/priority.c.
static double damping(double s_min, double e, double longest)
{
    double d = e / longest;
    if (s_min >= d) {
        return 0.0;
    }
    return s_min <= 0.5 * d ? 0.5 * d : sqrt(s_min * (d - s_min));
}

static int rank_of(const double *s, int count)
{
    int rank = 0;
    while (rank < count && s[rank] > RANK * max2(s[0], RANK)) {
        rank += 1;
    }
    return rank;
}

// x += sum_k s_k/(s_k^2 + lambda^2) (left_k . e) right_k, left_k and right_k columns of `left` (m x columns) and `right`
// (n x columns).
static void add_damped(const double *s, int rank, const double *left, int m, const double *right, int n, int columns,
                       const double *e, double longest, double *x)
{
    double length = 0.0;
    for (int i = 0; i < m; ++i) {
        length += e[i] * e[i];
    }
    double lambda = rank > 0 ? damping(s[rank - 1], sqrt(length), longest) : 0.0;
    for (int k = 0; k < rank; ++k) {
        double part = 0.0;
        for (int i = 0; i < m; ++i) {
            part += left[i * columns + k] * e[i];
        }
        part *= s[k] / (s[k] * s[k] + lambda * lambda);
        for (int j = 0; j < n; ++j) {
            x[j] += part * right[j * columns + k];
        }
    }
}

// w->x, the step of the first task, and w->v, the directions it uses; returns how many.
static int first_task(const poise_erik *erik, vec3 e1, double longest, two_task *w)
{
    int n = w->n, columns = n > 3 ? 3 : n;
    const double e[3] = {e1.x, e1.y, e1.z};
    for (int j = 0; j < n; ++j) {
        vec3 r = pz_link_axis(&erik->chain.links[j], &erik->now.Q[j]);
        const double row[3] = {r.x, r.y, r.z};
        for (int i = 0; i < 3; ++i) {
            *(n > 3 ? &w->A[j * 3 + i] : &w->A[i * n + j]) = row[i];
        }
    }
    // J1^T = A when there are more columns than rows
    if (!(n > 3 ? pz_svd(n, 3, w->A, w->s, w->V) : pz_svd(3, n, w->A, w->s, w->V))) {
        return -1;
    }
    const double *right = n > 3 ? w->A : w->V, *left = n > 3 ? w->V : w->A;
    int rank = rank_of(w->s, columns);
    memset(w->x, 0, (size_t)n * sizeof *w->x);
    add_damped(w->s, rank, left, 3, right, n, columns, e, longest, w->x);
    memcpy(w->v, right, (size_t)(n * columns) * sizeof *w->v);
    return rank;
}

static bool takes_part(const poise_erik *erik, int k)
{
    bool is_at_end = k == 0 || k == erik->chain.count - 1;
    return !(is_at_end && erik->chain.links[k].kind == PZ_LINK_TWISTER);
}

// w->dx, the step of the second task.
static bool second_task(const poise_erik *erik, int rank, double longest, two_task *w)
{
    int n = w->n, columns = n > 3 ? 3 : n;
    for (int i = 0; i < n; ++i) {
        bool has_row = takes_part(erik, i);
        double e2 = erik->psi[i] - (erik->now.theta[i] + w->x[i]);
        w->e[i] = has_row ? e2 - w->x[i] : e2;
        for (int j = 0; j < n; ++j) {
            double p = i == j ? 1.0 : 0.0;
            for (int k = 0; k < rank; ++k) {
                p -= w->v[i * columns + k] * w->v[j * columns + k];
            }
            w->A[i * n + j] = has_row ? p : 0.0;
        }
    }
    if (!pz_svd(n, n, w->A, w->s, w->V)) {
        return false;
    }
    memset(w->dx, 0, (size_t)n * sizeof *w->dx);
    add_damped(w->s, rank_of(w->s, n), w->A, n, w->V, n, n, w->e, longest, w->dx);
    return true;
}

static void flip(poise_erik *erik)
{
    erik->t.x = v3_neg(erik->t.x);
    erik->t.z = v3_neg(erik->t.z);
}

// The paper's rule (section 4.0.4), in the frame in which the chain stands along y and leans forward to z: bent forward, an
// end that has not been rolled has its z down; bent backward, up.
static void correct_flip_as_printed(poise_erik *erik)
{
    const mat3 *base = &erik->chain.base;
    bool faces_forward = v3_dot(erik->t.y, base->z) >= 0.0, is_up = v3_dot(erik->t.z, base->y) > 0.0;
    if (faces_forward == is_up) {
        flip(erik);
    }
}

// Of the target and its twin the one that the posture, turned at the root towards it, is nearer to: for any skeleton.
static void correct_flip(poise_erik *erik)
{
    const pz_chain *chain = &erik->chain;
    const pz_link *root = &chain->links[0];
    double turn;
    pz_chain_set(chain, erik->psi, &erik->warped);
    if (root->kind == PZ_LINK_TWISTER &&
        pz_angle_about(pz_link_axis(root, &chain->base), erik->warped.Q[chain->count].y, erik->t.y, &turn)) {
        pz_set_angle(&erik->warped, 0, erik->psi[0] + turn);
        pz_chain_forward(chain, 0, &erik->warped);
    }
    const mat3 *Q = &erik->warped.Q[chain->count];
    // with q the rotation between them: w^2 - y^2 = (M_xx + M_zz)/2
    if (v3_dot(Q->x, erik->t.x) + v3_dot(Q->z, erik->t.z) < 0.0) {
        flip(erik);
    }
}

// The rotation vector, in the world, from the end to the target.
static vec3 rotation_left(const poise_erik *erik)
{
    mat3 back = m3_transpose(&erik->now.Q[erik->chain.count]), M = m3_mul(&erik->t, &back);
    return so3_log(quat_from_matrix(&M));
}

static bool step(poise_erik *erik, const two_task_options *o, two_task *w)
{
    vec3 e1 = rotation_left(erik);
    double length = v3_norm(e1);
    e1 = length > o->error_clamp ? v3_scale(e1, o->error_clamp / length) : e1;
    int rank = first_task(erik, e1, o->longest_step, w);
    if (rank < 0 || (o->use_posture && !second_task(erik, rank, o->longest_step, w))) {
        return false;
    }
    for (int k = 0; k < w->n; ++k) {
        const pz_link *link = &erik->chain.links[k];
        double angle = erik->now.theta[k] + w->x[k] + (o->use_posture ? w->dx[k] : 0.0);
        pz_set_angle(&erik->now, k, clamp(angle, link->lower, link->upper));
    }
    pz_chain_forward(&erik->chain, 0, &erik->now);
    return true;
}

// Keep the candidate if it is the best so far, by its error or by its orientation alone; is it good enough?
static bool judge(poise_erik *erik, bool with_posture)
{
    pz_measure m = pz_erik_measure(erik, &erik->now), best = erik->best_measure;
    double weight = erik->options.orientation_weight, error = with_posture ? m.error : weight * m.orientation;
    if (error <= (with_posture ? best.error : weight * best.orientation)) {
        erik->best_measure = m;
        memcpy(erik->best, erik->now.theta, (size_t)erik->chain.count * sizeof *erik->best);
    }
    return error <= erik->options.threshold;
}

poise_status two_task_solve(poise_erik *erik, const two_task_options *options, const double *posture, poise_quat target,
                            double *q, poise_erik_report *report)
{
    two_task_options o = options ? *options : two_task_options_default();
    bool is_sound = o.max_iterations >= 1 && is_finite(o.longest_step) && o.longest_step > 0.0 && is_finite(o.error_clamp) &&
                    o.error_clamp > 0.0;
    if (!is_sound || !erik || !posture || poise_model_check(erik->model, q, "q", NULL) != POISE_OK ||
        !pz_erik_take(erik, posture, target)) {
        return POISE_ERROR_ARGUMENT;
    }
    two_task w = scratch(erik->chain.count);
    if (!w.A) {
        return POISE_ERROR_MEMORY;
    }
    if (o.flip_as_printed && erik->options.symmetric_endpoint) {
        correct_flip_as_printed(erik);
    } else if (o.correct_flip && erik->options.symmetric_endpoint) {
        correct_flip(erik);
    }
    pz_erik_begin(erik, false);
    bool is_done = judge(erik, o.use_posture), goes_on = true;
    while (!is_done && goes_on && erik->report.iterations < o.max_iterations) {
        erik->report.iterations += 1;
        goes_on = step(erik, &o, &w);
        is_done = goes_on && judge(erik, o.use_posture);
    }
    free(w.A);
    erik->report.outcome = is_done ? POISE_OUTCOME_REACHED : goes_on ? POISE_OUTCOME_BUDGET : POISE_OUTCOME_STALLED;
    pz_erik_hand_out(erik, q, report);
    return POISE_OK;
}
