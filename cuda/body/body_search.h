// The search for a marker problem in single precision: one run, evaluation by evaluation.
//
//   START     evaluated the start: a free root is laid onto the markers where the start is cold, and in every restart
//   ALIGNED   evaluated that
//   RUNNING   evaluated a step: accepted where the cost is lower; otherwise a quarter of it is evaluated next, and the
//             damping grows for the next solve
//   BACK      evaluated the current point again, since steps as short as these say nothing
//   MOVED     evaluated other places of some limbs
//
// A run ends where every marker is near its target (FOUND), or where it is not worth going on: it stands still, six
// evaluations leave most of the cost, or it has had its evaluations (LOST). Where it has met the tips of some limbs by then
// and missed those of others, the limbs that missed are moved elsewhere and it goes on: four limbs that are each met by
// every second start would all be met by one in sixteen.
#ifndef POISE_CUDA_BODY_SEARCH_H
#define POISE_CUDA_BODY_SEARCH_H

#include "body_pass.h"

#include "num/rotation.h"

#include <limits.h>

// ---- Laying a free root onto its markers ---------------------------------------------------------------------------------

// A free root laid onto its markers, as solve/restarts.c does it: the turn and shift that bring the points x nearest to
// their targets t, sum w |R (x - xm) + tm - t|^2 least.
//
// The quaternion of R is the top eigenvector of Davenport's 4 x 4 matrix of M = sum w (x - xm) (t - tm)^T (Horn 1987). A
// start needs no digits of it: the matrix, shifted so that all its eigenvalues are positive, is squared a few times, and any
// of its columns has turned to that eigenvector.

#define ALIGN_SQUARINGS 10

typedef struct body_cloud {
    rvec x, t; // means
    rmat M;
    int count;
} body_cloud;

PZ_INLINE void body_gather(const body_task *t, const scalar *m, body_cloud *c)
{
    scalar weight = 0;
    c->x = c->t = rv(0, 0, 0);
    c->M.x = c->M.y = c->M.z = rv(0, 0, 0);
    c->count = 0;
    for (int i = 0; i < t->marker_count; ++i) {
        scalar w = AT(m, t->at.weight + i);
        c->count += w > 0;
        if (t->part[i] != BODY_POINT) {
            continue;
        }
        weight += w;
        c->x = rv_mad(c->x, w, body_load(m, t->at.point + 3 * i));
        c->t = rv_mad(c->t, w, body_load(m, t->at.target + 3 * i));
    }
    if (!(weight > 0)) { // directions alone do not say where
        c->count = 0;
        return;
    }
    scalar inverse = scalar_inverse(weight);
    c->x = rv_scale(c->x, inverse), c->t = rv_scale(c->t, inverse);
    for (int i = 0; i < t->marker_count; ++i) {
        rvec x = body_load(m, t->at.point + 3 * i), to = body_load(m, t->at.target + 3 * i);
        bool is_point = t->part[i] == BODY_POINT;
        rm_add_outer(&c->M, inverse * AT(m, t->at.weight + i), is_point ? rv_sub(x, c->x) : x,
                     is_point ? rv_sub(to, c->t) : to);
    }
}

// Davenport's matrix, w first; M_ab = sum x_a t_b, and M.y is the column of t_y.
PZ_INLINE void body_davenport(const rmat *M, scalar N[4][4])
{
    scalar xx = M->x.x, yy = M->y.y, zz = M->z.z;
    N[0][0] = xx + yy + zz;
    N[0][1] = M->z.y - M->y.z, N[0][2] = M->x.z - M->z.x, N[0][3] = M->y.x - M->x.y;
    N[1][1] = xx - yy - zz, N[2][2] = yy - xx - zz, N[3][3] = zz - xx - yy;
    N[1][2] = M->y.x + M->x.y, N[1][3] = M->z.x + M->x.z, N[2][3] = M->z.y + M->y.z;
    scalar size = 0;
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            N[i][j] = i <= j ? N[i][j] : N[j][i];
            size = scalar_fma(N[i][j], N[i][j], size);
        }
    }
    size = scalar_root(size);
    for (int i = 0; i < 4; ++i) {
        N[i][i] += size;
    }
}

// N <- N^2 / trace. False where there is nothing to divide by.
PZ_INLINE bool body_square(scalar N[4][4])
{
    scalar S[4][4], trace = 0;
    for (int i = 0; i < 4; ++i) {
        trace += N[i][i];
    }
    if (!(trace > (scalar)1e-25)) {
        return false;
    }
    scalar inverse = scalar_inverse(trace);
    for (int i = 0; i < 4; ++i) {
        for (int j = i; j < 4; ++j) {
            scalar sum = 0;
            for (int k = 0; k < 4; ++k) {
                sum = scalar_fma(inverse * N[i][k], inverse * N[k][j], sum);
            }
            S[i][j] = S[j][i] = sum;
        }
    }
    memcpy(N, S, sizeof S);
    return true;
}

// The best turn as a unit quaternion x y z w. False where the markers do not say.
PZ_INLINE bool body_best_turn(const rmat *M, scalar turn[4])
{
    scalar N[4][4];
    body_davenport(M, N);
    for (int i = 0; i < ALIGN_SQUARINGS; ++i) {
        if (!body_square(N)) {
            return false;
        }
    }
    int column = 0;
    for (int i = 1; i < 4; ++i) {
        column = N[i][i] > N[column][column] ? i : column;
    }
    scalar square = 0;
    for (int i = 0; i < 4; ++i) {
        square = scalar_fma(N[i][column], N[i][column], square);
    }
    scalar inverse = scalar_inverse(scalar_root(square));
    turn[0] = inverse * N[1][column], turn[1] = inverse * N[2][column], turn[2] = inverse * N[3][column];
    turn[3] = inverse * N[0][column];
    return square > 0;
}

// Coordinates of a rotation of the root, in double: they need an arc tangent.
PZ_INLINE void body_set_rotation(const body_task *t, scalar *m, const rmat *turn)
{
    const body_joint *root = &t->joints[0];
    int q = t->at.trial + 3;
    mat3 M = {{(double)turn->x.x, (double)turn->x.y, (double)turn->x.z},
              {(double)turn->y.x, (double)turn->y.y, (double)turn->y.z},
              {(double)turn->z.x, (double)turn->z.y, (double)turn->z.z}};
    quat r = quat_from_matrix(&M);
    if (root->steps[3] == PZ_QUATERNION) {
        body_store(m, q, rv((scalar)r.x, (scalar)r.y, (scalar)r.z));
        AT(m, q + 3) = (scalar)r.w;
    } else if (root->steps[3] == PZ_EXPMAP) {
        vec3 v = so3_log(quat_normalize(r));
        body_store(m, q, rv((scalar)v.x, (scalar)v.y, (scalar)v.z));
    } else {
        double angles[3];
        M = quat_matrix(quat_normalize(r));
        euler_angles(root->steps[3], root->steps[4], root->steps[5], &M, angles);
        body_store(m, q, rv((scalar)angles[0], (scalar)angles[1], (scalar)angles[2]));
    }
}

// The root of the trial, turned by r and shifted with the mean of the markers.
PZ_INLINE void align_root(const body_task *t, scalar *m, const body_cloud *c, const scalar r[4])
{
    const double *n = t->numbers;
    rmat C = {rv((scalar)n[0], (scalar)n[1], (scalar)n[2]), rv((scalar)n[3], (scalar)n[4], (scalar)n[5]),
              rv((scalar)n[6], (scalar)n[7], (scalar)n[8])};
    rmat turn = quaternion_matrix(r[0], r[1], r[2], r[3]);
    body_frame root = body_load_frame(m, t->at.frame);
    rmat R = rm_mul(&turn, &root.R), M;
    rvec p = rv_add(c->t, rm_apply(&turn, rv_sub(root.p, c->x)));
    M.x = rm_apply_transposed(&C, R.x), M.y = rm_apply_transposed(&C, R.y), M.z = rm_apply_transposed(&C, R.z);
    body_store(m, t->at.trial, rm_apply_transposed(&C, p));
    body_set_rotation(t, m, &M);
    for (int i = 0; i < t->joints[0].dofs - 3 * t->joints[0].has_quaternion; ++i) {
        scalar lower, upper;
        body_bounds(t, m, i, &lower, &upper);
        AT(m, t->at.trial + i) = scalar_clamp(AT(m, t->at.trial + i), lower, upper);
    }
}

// The trial with its root laid onto the markers, which lie as at the current point. False, with nothing done, where the
// markers do not say how.
PZ_INLINE bool body_align(const body_task *t, scalar *m)
{
    body_cloud c;
    scalar r[4];
    body_gather(t, m, &c);
    if (c.count < 3 || !body_best_turn(&c.M, r)) {
        return false;
    }
    if (body_lane() == 0) {
        align_root(t, m, &c, r);
    }
    body_sync();
    return true;
}

// ---- A run ---------------------------------------------------------------------------------------------------------------

#define SEARCH_NEAR       2e-5f // of the size of the body: what is this near is left to double precision, which seldom steps
#define SEARCH_DROP_AFTER 6
#define SEARCH_DROP       0.7f  // share of the cost
#define SEARCH_DROP_COST  4e-7f // of the square of the size: runs this near are never dropped
#define SEARCH_STANDS     1e-6f // share of the cost; and
#define SEARCH_STANDS_ONE 1e-4f // where there is one run: nothing is chosen by its cost, and double precision goes on
#define SEARCH_SHORTER    0.25f
#define SEARCH_SHORTEST   0.01f // share of a step, below which the step is solved for again
#define SEARCH_LEAST      1e-6f // damping: single precision has no use for less
#define SEARCH_MOST       1e7f

#define SEARCH_MOVES  6   // of limbs, in a run
#define SEARCH_MIDDLE 0.7 // of their interval is where restarts begin (solve/restarts.c)

#define SEARCH_TURN 6.283185307179586

typedef enum search_stage { SEARCH_START, SEARCH_ALIGNED, SEARCH_RUNNING, SEARCH_BACK, SEARCH_MOVED } search_stage;

typedef struct body_run {
    int problem, run, evaluations;
    int moves; // of limbs
    search_stage stage;
    scalar scale; // mean weight
    scalar start_cost, cost, predicted;
    bool proposes; // the next trial is the current point and `share` of the step; otherwise it is there already
    scalar share;
    scalar lambda, growth;
    scalar marked; // cost at the last mark
    int since;     // evaluations since then
} body_run;

// ---- Starts --------------------------------------------------------------------------------------------------------------

// A restart's choice of a coordinate, by number `chosen` of the table, or the start itself.
PZ_INLINE double search_choose(const body_task *t, int dof, double start, double chosen)
{
    const double *n = t->numbers + t->dof_numbers + BODY_DOF * dof;
    if (t->start_kind[dof] == BODY_START_AROUND) {
        return start + chosen;
    }
    if (t->start_kind[dof] == BODY_START_AT) {
        return chosen;
    }
    double first = start - 0.5 * SEARCH_TURN, last = n[1] - SEARCH_TURN;
    return (first < n[0] ? n[0] : first > last ? last : first) + chosen;
}

// The start of run number `run` as the current point, and for quaternions as a step.
PZ_INLINE void search_take_start(const body_task *t, const pz_cuda_tree_batch *batch, int problem, int run, scalar *m)
{
    const double *q = batch->q + (size_t)problem * (size_t)t->nq;
    const double *chosen = t->starts + (size_t)(run > 0 ? run - 1 : 0) * (size_t)t->nv;
    BODY_LOOP
    for (int k = body_lane(); k < t->joint_count; k += BODY_LANES) {
        const body_joint *joint = &t->joints[k];
        int plain = joint->dofs - (joint->has_quaternion ? 3 : 0), v = joint->v;
        BODY_LOOP
        for (int i = 0; i < plain; ++i) {
            double start = q[joint->q + i];
            start = run > 0 ? search_choose(t, v + i, start, chosen[v + i]) : start;
            AT(m, t->at.q + joint->q + i) = (scalar)(start + body_shift(t, m, joint->q + i));
            AT(m, t->at.step + v + i) = 0;
        }
        BODY_LOOP
        for (int i = plain; i < joint->dofs; ++i) {
            AT(m, t->at.step + v + i) = run > 0 ? (scalar)chosen[v + i] : (scalar)0;
        }
        BODY_LOOP
        for (int i = 0; joint->has_quaternion && i < 4; ++i) {
            AT(m, t->at.q + joint->q + plain + i) = (scalar)q[joint->q + plain + i];
        }
    }
}

// ---- Steps ---------------------------------------------------------------------------------------------------------------

PZ_INLINE void search_propose(body_run *r, scalar share)
{
    r->proposes = true;
    r->share = share;
}

// What is at the next trial: the one place where trials are made, in which threads of a warp meet again.
PZ_INLINE body_value search_evaluate(const body_task *t, scalar *m, body_run *r)
{
    body_sync();
    if (r->proposes) {
        body_propose(t, m, r->share);
    }
    r->proposes = false;
    return body_forward(t, m);
}

PZ_INLINE void search_begin(const body_task *t, const pz_cuda_tree_batch *batch, int problem, int run, scalar *m,
                            body_run *r)
{
    r->problem = problem, r->run = run, r->evaluations = r->moves = 0;
    r->stage = SEARCH_START;
    r->scale = body_read_problem(t, batch, problem, m);
    r->cost = r->start_cost = r->marked = INFINITY;
    r->since = 0;
    r->lambda = t->is_cold || run > 0 ? 0.3f : 1e-4f;
    r->growth = 2.0f;
    search_take_start(t, batch, problem, run, m);
    search_propose(r, 1);
}

// Solve for a step; the trial is where it leads. A step that promises nothing after clamping wants more damping.
PZ_INLINE void search_solve(const body_task *t, scalar *m, body_run *r)
{
    body_solve s = {.lambda = r->lambda, .scale = r->scale, .exact = false};
    body_up(t, m, &s);
    r->predicted = body_down(t, m, &s);
    search_propose(r, r->predicted > 0 ? 1.0f : 0.0f);
    if (!(r->predicted > 0)) {
        r->lambda *= r->growth;
        r->growth *= 2.0f;
        r->stage = SEARCH_BACK;
    }
}

PZ_INLINE float search_near(const body_task *t)
{
    return fast_at_least(SEARCH_NEAR * (float)t->size, (float)t->tolerance);
}

PZ_INLINE bool search_is_near(const body_task *t, const body_value *value)
{
    float near = search_near(t);
    return value->worst <= near * near;
}

// The trial is where the run begins, or goes on.
PZ_INLINE body_next search_arrive(const body_task *t, const body_value *value, body_run *r)
{
    r->stage = SEARCH_RUNNING;
    r->cost = r->marked = value->cost;
    r->since = 0;
    return search_is_near(t, value) ? BODY_FOUND : value->cost < INFINITY ? BODY_SOLVE : BODY_LOST;
}

// Nielsen's rule, shrinking less where the start is far.
PZ_INLINE body_next search_accept(const body_task *t, const body_value *value, body_run *r)
{
    float least = t->is_cold || r->run > 0 ? 0.33f : 0.1f, fell = r->cost - value->cost;
    if (r->share == 1.0f) {
        float shrink = 2.0f * (fell / r->predicted) - 1.0f;
        r->lambda = fast_at_least(SEARCH_LEAST, r->lambda * fast_at_least(least, 1.0f - shrink * shrink * shrink));
    }
    r->growth = 2.0f;
    bool stands = fell <= (t->restarts > 0 ? SEARCH_STANDS : SEARCH_STANDS_ONE) * r->cost;
    r->cost = value->cost;
    return search_is_near(t, value) ? BODY_FOUND : stands ? BODY_LOST : BODY_SOLVE;
}

PZ_INLINE body_next search_reject(body_run *r)
{
    r->lambda *= r->growth;
    r->growth *= 2.0f;
    search_propose(r, r->share * SEARCH_SHORTER);
    if (r->lambda > SEARCH_MOST) {
        return BODY_LOST;
    }
    if (r->share < SEARCH_SHORTEST) {
        r->share = 0.0f;
        r->stage = SEARCH_BACK;
    }
    return BODY_EVALUATE;
}

// Have the last evaluations left most of the cost?
PZ_INLINE bool search_creeps(const body_task *t, body_run *r)
{
    if (++r->since < SEARCH_DROP_AFTER) {
        return false;
    }
    float size = (float)t->size;
    bool creeps = r->cost > SEARCH_DROP * r->marked && r->cost > SEARCH_DROP_COST * size * size * r->scale;
    r->since = 0;
    r->marked = r->cost;
    return creeps;
}

// ---- Limbs ---------------------------------------------------------------------------------------------------------------

// Has the last evaluation missed the tip of a chain that is a limb?
PZ_INLINE bool search_misses(const body_task *t, const scalar *m, int c)
{
    float near = search_near(t);
    return t->chains[c].is_limb && !(AT(m, t->at.parts + BODY_PARTS * c + 1) <= near * near);
}

// A coordinate of a limb that is moved: in all of its interval, since tips that are hard to meet have joints beside a limit.
PZ_INLINE double search_elsewhere(const body_task *t, const body_joint *joint, int i, double q, double chosen)
{
    const double *n = t->numbers + t->dof_numbers + BODY_DOF * (joint->v + i);
    double x = search_choose(t, joint->v + i, q, chosen), middle = 0.5 * (n[0] + n[1]);
    bool is_between = t->start_kind[joint->v + i] == BODY_START_AT && joint->swing < 0;
    return is_between ? middle + (x - middle) / SEARCH_MIDDLE : x;
}

// The current point, which is left, with the joints of a limb where restarts have them, each another one: there are many
// more moves than restarts.
PZ_INLINE void search_move_limb(const body_task *t, scalar *m, int c, const body_run *r)
{
    BODY_LOOP
    for (int k = t->chains[c].begin; k < t->chains[c].end; ++k) {
        const body_joint *joint = &t->joints[k];
        const double *chosen = t->starts + (size_t)((r->run + r->moves * (k + 1)) % t->restarts) * (size_t)t->nv;
        int plain = joint->dofs - (joint->has_quaternion ? 3 : 0);
        BODY_LOOP
        for (int i = 0; i < joint->dofs; ++i) {
            scalar *q = &AT(m, t->at.q + joint->q + i);
            if (i < plain && body_metric(t, joint->v + i) >= 0) {
                *q = (scalar)search_elsewhere(t, joint, i, (double)*q, chosen[joint->v + i]);
            }
            AT(m, t->at.step + joint->v + i) = i < plain ? (scalar)0 : (scalar)chosen[joint->v + i];
        }
    }
}

// The limbs that missed elsewhere, for the next trial. False, with nothing done, where none did, or all, or often enough.
PZ_INLINE bool search_move_limbs(const body_task *t, scalar *m, body_run *r)
{
    int met = 0, missed = 0;
    for (int c = 0; c < t->chain_count; ++c) {
        bool misses = search_misses(t, m, c);
        missed += misses, met += t->chains[c].is_limb && !misses;
    }
    if (r->moves >= SEARCH_MOVES || met == 0 || missed == 0) {
        return false;
    }
    r->moves += 1;
    body_sync();
    BODY_LOOP
    for (int i = body_lane(); i < t->nv; i += BODY_LANES) {
        AT(m, t->at.step + i) = 0;
    }
    body_sync();
    BODY_LOOP
    for (int c = body_lane(); c < t->chain_count; c += BODY_LANES) {
        if (search_misses(t, m, c)) {
            search_move_limb(t, m, c, r);
        }
    }
    r->stage = SEARCH_MOVED;
    r->lambda = 0.3f;
    r->growth = 2.0f;
    search_propose(r, 1);
    return true;
}

// ---- Looks ---------------------------------------------------------------------------------------------------------------

// Is the trial to be the current point?
PZ_INLINE bool search_takes(const body_value *value, const body_run *r)
{
    bool may_stay = r->stage == SEARCH_RUNNING || (r->stage == SEARCH_ALIGNED && r->run == 0);
    return r->stage != SEARCH_BACK && (!may_stay || value->cost < r->cost);
}

PZ_INLINE body_next search_judge(const body_task *t, const body_value *value, scalar *m, body_run *r)
{
    body_next next;
    bool takes = search_takes(value, r);
    r->evaluations += 1;
    if (takes) {
        body_accept(t, m);
    }
    if (r->stage == SEARCH_START) {
        r->start_cost = value->cost;
        next = search_arrive(t, value, r);
        if (next != BODY_FOUND && t->can_align && (t->is_cold || r->run > 0) && body_align(t, m)) {
            r->stage = SEARCH_ALIGNED;
            next = BODY_EVALUATE;
        }
    } else if (r->stage == SEARCH_BACK) {
        r->stage = SEARCH_RUNNING;
        next = r->lambda > SEARCH_MOST ? BODY_LOST : BODY_SOLVE;
    } else if (r->stage == SEARCH_RUNNING) {
        next = takes ? search_accept(t, value, r) : search_reject(r);
    } else if (takes) {
        next = search_arrive(t, value, r);
    } else { // the alignment has made it worse
        r->stage = SEARCH_BACK;
        search_propose(r, 0);
        next = BODY_EVALUATE;
    }
    bool is_over =
        r->evaluations >= (1 + r->moves) * t->max_iterations || (r->stage == SEARCH_RUNNING && search_creeps(t, r));
    next = (next == BODY_SOLVE || next == BODY_EVALUATE) && is_over ? BODY_LOST : next;
    return next == BODY_LOST && t->has_limbs && search_move_limbs(t, m, r) ? BODY_EVALUATE : next;
}

// ---- The best of several runs --------------------------------------------------------------------------------------------

// Does a run that has ended come before the best so far? One that was found before all that were not, the first of those;
// else the one of least cost, the first of those. So the answer does not depend on when runs end.
PZ_INLINE bool search_precedes(const body_run *r, bool found, int won, int best_run, float best_cost)
{
    if (found) {
        return r->run <= won;
    }
    return won == INT_MAX && (best_run == INT_MAX || r->cost < best_cost || (r->cost == best_cost && r->run < best_run));
}

PZ_INLINE uint16_t search_passes(const body_run *r)
{
    return (uint16_t)(r->evaluations < UINT16_MAX ? r->evaluations : UINT16_MAX);
}

PZ_INLINE void search_keep(const body_task *t, const scalar *m, const body_run *r, float *end)
{
    BODY_LOOP
    for (int i = body_lane(); i < t->nq; i += BODY_LANES) {
        end[(size_t)r->problem * (size_t)t->nq + (size_t)i] = AT(m, t->at.q + i);
    }
}

#endif
