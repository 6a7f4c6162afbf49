// The search for a marker problem in single precision: one run, look by look.
//
//   START     looked at the start: a free root is laid onto the markers where the start is cold, and in every restart
//   ALIGNED   looked at that
//   RUNNING   looked at a step: accepted where the cost is lower; otherwise a quarter of it is looked at next, and the
//             damping grows for the next solve
//   BACK      looked at the current point again, since steps as short as these say nothing
//
// A run ends where every marker is near its target (FOUND), or where it is not worth going on: it stands still, six looks
// leave most of the cost, or it has had its looks (LOST).
#ifndef POISE_CUDA_BODY_SEARCH_H
#define POISE_CUDA_BODY_SEARCH_H

#include "body_align.h"

#include <limits.h>

#define SEARCH_NEAR       2e-4f // of the size of the body: markers this near are left to double precision
#define SEARCH_DROP_LOOKS 6
#define SEARCH_DROP       0.7f  // share of the cost
#define SEARCH_DROP_COST  4e-7f // of the square of the size: runs this near are never dropped
#define SEARCH_STANDS     1e-6f // share of the cost
#define SEARCH_SHORTER    0.25f
#define SEARCH_SHORTEST   0.01f // share of a step, below which the step is solved for again
#define SEARCH_LEAST      1e-6f // damping: single precision has no use for less
#define SEARCH_MOST       1e7f

#define SEARCH_TURN 6.283185307179586

typedef enum search_stage { SEARCH_START, SEARCH_ALIGNED, SEARCH_RUNNING, SEARCH_BACK } search_stage;

typedef struct body_run {
    int problem, run, looks;
    search_stage stage;
    real scale; // mean weight
    real start_cost, cost, predicted, share;
    real lambda, growth;
    real marked; // cost at the last mark
    int since;   // looks since then
} body_run;

// ---- Starts --------------------------------------------------------------------------------------------------------------

// A restart's choice of a coordinate, by number `chosen` of the table, or the start itself.
PZ_BOTH double search_choose(const body_task *t, int dof, double start, double chosen)
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

// The start of run number `run` into `trial`, within the limits.
BODY_FN void search_take_start(const body_task *t, const pz_cuda_tree_batch *batch, int problem, int run, real *m)
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
            AT(m, t->at.q + joint->q + i) = (real)(start + body_shift(t, m, joint->q + i));
            AT(m, t->at.step + v + i) = 0;
        }
        BODY_LOOP
        for (int i = plain; i < joint->dofs; ++i) {
            AT(m, t->at.step + v + i) = run > 0 ? (real)chosen[v + i] : (real)0;
        }
        BODY_LOOP
        for (int i = 0; joint->has_quaternion && i < 4; ++i) {
            AT(m, t->at.q + joint->q + plain + i) = (real)q[joint->q + plain + i];
        }
    }
    body_propose(t, m, 1);
}

// ---- Steps ---------------------------------------------------------------------------------------------------------------

BODY_FN void search_begin(const body_task *t, const pz_cuda_tree_batch *batch, int problem, int run, real *m, body_run *r)
{
    r->problem = problem, r->run = run, r->looks = 0;
    r->stage = SEARCH_START;
    r->scale = body_take_problem(t, batch, problem, m);
    r->cost = INFINITY;
    r->lambda = t->is_cold || run > 0 ? 0.3f : 1e-4f;
    r->growth = 2.0f;
    search_take_start(t, batch, problem, run, m);
}

// Solve for a step and put the trial where it leads. A step that promises nothing after clamping wants more damping.
BODY_FN void search_solve(const body_task *t, real *m, body_run *r)
{
    body_solve s = {.lambda = r->lambda, .scale = r->scale, .exact = false};
    body_up(t, m, &s);
    r->predicted = body_down(t, m, &s);
    r->share = r->predicted > 0 ? 1.0f : 0.0f;
    if (!(r->predicted > 0)) {
        r->lambda *= r->growth;
        r->growth *= 2.0f;
        r->stage = SEARCH_BACK;
    }
    body_propose(t, m, r->share);
}

PZ_BOTH bool search_is_near(const body_task *t, const body_look *look)
{
    float near = fast_at_least(SEARCH_NEAR * (float)t->size, (float)t->tolerance);
    return look->worst <= near * near;
}

// The trial is where the run begins, or goes on.
PZ_BOTH body_next search_arrive(const body_task *t, const body_look *look, body_run *r)
{
    r->stage = SEARCH_RUNNING;
    r->cost = r->marked = look->cost;
    r->since = 0;
    return search_is_near(t, look) ? BODY_FOUND : look->cost < INFINITY ? BODY_SOLVE : BODY_LOST;
}

// Nielsen's rule, shrinking less where the start is far.
PZ_BOTH body_next search_accept(const body_task *t, const body_look *look, body_run *r)
{
    float least = t->is_cold || r->run > 0 ? 0.33f : 0.1f, fell = r->cost - look->cost;
    if (r->share == 1.0f) {
        float shrink = 2.0f * (fell / r->predicted) - 1.0f;
        r->lambda = fast_at_least(SEARCH_LEAST, r->lambda * fast_at_least(least, 1.0f - shrink * shrink * shrink));
    }
    r->growth = 2.0f;
    bool stands = fell <= SEARCH_STANDS * r->cost;
    r->cost = look->cost;
    return search_is_near(t, look) ? BODY_FOUND : stands ? BODY_LOST : BODY_SOLVE;
}

PZ_BOTH body_next search_reject(const body_task *t, real *m, body_run *r)
{
    r->lambda *= r->growth;
    r->growth *= 2.0f;
    r->share *= SEARCH_SHORTER;
    if (r->lambda > SEARCH_MOST) {
        return BODY_LOST;
    }
    if (r->share < SEARCH_SHORTEST) {
        r->share = 0.0f;
        r->stage = SEARCH_BACK;
    }
    body_propose(t, m, r->share);
    return BODY_LOOK;
}

// Have the last looks left most of the cost?
PZ_BOTH bool search_creeps(const body_task *t, body_run *r)
{
    if (++r->since < SEARCH_DROP_LOOKS) {
        return false;
    }
    float size = (float)t->size;
    bool creeps = r->cost > SEARCH_DROP * r->marked && r->cost > SEARCH_DROP_COST * size * size * r->scale;
    r->since = 0;
    r->marked = r->cost;
    return creeps;
}

BODY_FN body_next search_judge(const body_task *t, const body_look *look, real *m, body_run *r)
{
    body_next next;
    r->looks += 1;
    if (r->stage == SEARCH_START) {
        body_accept(t, m);
        r->start_cost = look->cost;
        next = search_arrive(t, look, r);
        if (next != BODY_FOUND && t->can_align && (t->is_cold || r->run > 0) && body_align(t, m)) {
            r->stage = SEARCH_ALIGNED;
            next = BODY_LOOK;
        }
    } else if (r->stage == SEARCH_ALIGNED && r->run == 0 && !(look->cost < r->cost)) {
        r->stage = SEARCH_BACK;
        body_propose(t, m, 0.0f);
        next = BODY_LOOK;
    } else if (r->stage == SEARCH_ALIGNED) {
        body_accept(t, m);
        next = search_arrive(t, look, r);
    } else if (r->stage == SEARCH_BACK) {
        r->stage = SEARCH_RUNNING;
        next = r->lambda > SEARCH_MOST ? BODY_LOST : BODY_SOLVE;
    } else if (look->cost < r->cost) {
        body_accept(t, m);
        next = search_accept(t, look, r);
    } else {
        next = search_reject(t, m, r);
    }
    bool is_over = r->looks >= t->max_iterations || (r->stage == SEARCH_RUNNING && search_creeps(t, r));
    return (next == BODY_SOLVE || next == BODY_LOOK) && is_over ? BODY_LOST : next;
}

// ---- The best of several runs --------------------------------------------------------------------------------------------

// Does a run that has ended come before the best so far? One that was found before all that were not, the first of those;
// else the one of least cost, the first of those. So the answer does not depend on when runs end.
PZ_BOTH bool search_precedes(const body_run *r, bool found, int won, int best_run, float best_cost)
{
    if (found) {
        return r->run <= won;
    }
    return won == INT_MAX && (best_run == INT_MAX || r->cost < best_cost || (r->cost == best_cost && r->run < best_run));
}

PZ_BOTH void search_keep(const body_task *t, const real *m, const body_run *r, float *end)
{
    BODY_LOOP
    for (int i = body_lane(); i < t->nq; i += BODY_LANES) {
        end[(size_t)r->problem * (size_t)t->nq + (size_t)i] = AT(m, t->at.q + i);
    }
}

#endif
