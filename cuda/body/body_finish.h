// The finish of a marker problem in double precision, from where the search has come, and its judgement.
//
//   ARRIVED   evaluated the end of the best run, snapped to bounds that it is beside
//   START     evaluated the caller's start, moved inside the limits: where that end is no better, and in clips
//   RUNNING   evaluated a step
//   BACK      evaluated the current point again
//   ANSWERED  evaluated the answer as it is handed out, within the limits exactly: what is said about it is measured here
//
// Where the cost falls fast, steps are those of Gauss and Newton; where a residual stays, of the exact Hessian where that is
// positive definite. Dofs that a step takes out of their limits are held at the bound, and the step is solved for again:
// each time in a pass of its own, so that threads of a warp solve together.
//
// REACHED: every marker is within the tolerance; of a frame every axis is so near that the angle must be within its own.
// CLOSEST: as poise_solve has it, by the projected gradient, or by a step of the exact Hessian, positive definite, that
// promises nothing; where losses let markers go, by the latter alone. All else has not converged, and says so.
#ifndef POISE_CUDA_BODY_FINISH_H
#define POISE_CUDA_BODY_FINISH_H

#include "body_pass.h"

#include <limits.h>

// ---- Measuring -----------------------------------------------------------------------------------------------------------

// The projected gradient at the current point, by plain sums up the tree; in double.

typedef struct body_measure {
    scalar gradient; // largest component of the projected one
    scalar cosine;   // largest of g_i/sqrt(2 f G_ii), G the Gauss-Newton Hessian
} body_measure;

PZ_INLINE void measure_dof(const body_sums *a, const body_axis *S, scalar g, scalar pull, scalar cost, body_measure *f)
{
    scalar G = rv_dot(S->w, rs_apply(&a->ww, S->w)) + 2.0 * rv_dot(S->w, rm_apply(&a->wv, S->v)) +
               rv_dot(S->v, rs_apply(&a->vv, S->v)) + pull;
    f->gradient = scalar_max(f->gradient, scalar_abs(g));
    scalar cosine = g * g <= 0.0 ? 0.0 : G > 0 ? scalar_abs(g) / sqrt(2.0 * cost * G) : 1.0;
    f->cosine = scalar_max(f->cosine, cosine);
}

PZ_INLINE void measure_joint(const body_task *t, const scalar *m, int k, const body_sums *a, scalar cost, body_measure *f)
{
    const body_joint *joint = &t->joints[k];
    rvec p = body_load(m, t->at.place + 3 * k);
    body_edge e = {{0, 0}, 0, {false, false}};
    scalar off = 0;
    if (joint->swing >= 0) {
        int axis = t->at.axis + 3 * joint->v;
        body_axis S[2] = {body_axis_of(body_load(m, axis), p, false), body_axis_of(body_load(m, axis + 3), p, false)};
        scalar g[2] = {body_gradient(a, &S[0]) + body_pulled(t, m, joint, 0),
                       body_gradient(a, &S[1]) + body_pulled(t, m, joint, 1)};
        e = body_find_edge(t, m, joint, g[0], g[1]);
        off = (e.holds[0] ? 0 : g[0] * e.normal[0]) + (e.holds[1] ? 0 : g[1] * e.normal[1]);
    }
    BODY_LOOP
    for (int i = 0; i < joint->dofs; ++i) {
        body_axis S = body_axis_of(body_load(m, t->at.axis + 3 * (joint->v + i)), p, i < joint->slides);
        scalar g = body_gradient(a, &S) + body_pulled(t, m, joint, i);
        bool is_held = body_dof_is_held(t, m, joint, i, e.holds, g), is_swing = joint->swing >= 0 && i < 2;
        measure_dof(a, &S, is_held ? 0 : is_swing ? g - off * e.normal[i] : g, body_pull(t, m, joint->v + i), cost, f);
    }
}

// Plain sums along a chain, for the projected gradient, and the diagonal of the Gauss-Newton Hessian.
PZ_INLINE void measure_chain(const body_task *t, scalar *m, int c, scalar cost)
{
    const body_chain *chain = &t->chains[c];
    body_sums a = body_sums_of_children(t, m, chain);
    body_measure f = {0, 0};
    BODY_LOOP
    for (int k = chain->end - 1; k >= chain->begin; --k) {
        body_add_markers(t, m, &t->joints[k], false, &a);
        measure_joint(t, m, k, &a, cost, &f);
    }
    if (body_hangs_on_chain(t, chain)) {
        body_store_sums(m, t->at.sums + BODY_SUMS * c, &a);
    }
    AT(m, t->at.parts + BODY_PARTS * c + 2) = f.gradient;
    AT(m, t->at.parts + BODY_PARTS * c + 3) = f.cosine;
}

PZ_INLINE void measure_body(const body_task *t, scalar *m, scalar cost, body_measure *f)
{
    BODY_LOOP
    for (int level = t->level_count - 1; level >= 0; --level) {
        BODY_LOOP
        for (int c = t->levels[level] + body_lane(); c < t->levels[level + 1]; c += BODY_LANES) {
            measure_chain(t, m, c, cost);
        }
        body_sync();
    }
    f->gradient = f->cosine = 0;
    for (int c = 0; c < t->chain_count; ++c) {
        f->gradient = scalar_max(f->gradient, AT(m, t->at.parts + BODY_PARTS * c + 2));
        f->cosine = scalar_max(f->cosine, AT(m, t->at.parts + BODY_PARTS * c + 3));
    }
}

// ---- A problem -----------------------------------------------------------------------------------------------------------

#define FINISH_SNAP             1e-6 // from a bound
#define FINISH_EVALUATIONS      150  // at most, and
#define FINISH_MORE_EVALUATIONS 500  // where it has saddles, and long valleys
#define FINISH_SOLVES           4    // of the active set in one step
#define FINISH_FALLS_FAST       0.2  // a step that leaves less than this share of the cost
#define FINISH_LAMBDA           1e-9 // to begin with
#define FINISH_LEAST            1e-15
#define FINISH_MOST             1e8
#define FINISH_FLAT             1e-15               // a share of the cost that its own rounding hides
#define FINISH_NOTHING          (1e3 * FINISH_FLAT) // a share of the cost that is not worth a step
#define FINISH_LAST             1e-9  // a share of the cost: after a Newton step that gains less the next one gains nothing
#define FINISH_SETTLES          1e-12 // a share of the cost that is not worth a step where the gradient is small, too
#define FINISH_SHORTEST         0.01
#define FINISH_LONGER           4.0 // times the step, on the way from a saddle
#define FINISH_LONGEST          1000.0
#define FINISH_SINGLE           1e-5         // a share of the cost that single precision may be wrong by
#define FINISH_PROOF            1e-6         // damping that hides no direction in which the cost falls
#define FINISH_STUCK            3.2e-7       // tolerance of the gradient where no step lowers the cost (solve/step.c)
#define FINISH_MARGIN           (1.0 - 1e-6) // of the tolerance: more than the last rounding of q changes

typedef enum finish_stage { FINISH_START, FINISH_ARRIVED, FINISH_RUNNING, FINISH_BACK, FINISH_ANSWERED } finish_stage;

typedef struct body_finish {
    int problem, evaluations, solves, moved_joints, active_limits;
    finish_stage stage;
    scalar scale;
    scalar start_cost, cost, worst, predicted;
    bool proposes; // the next trial is the current point and `share` of the step; otherwise it is there already
    scalar share;
    scalar lambda, growth;
    bool is_direct;              // a frame of a clip, which begins where the one before has ended,
    bool is_first;               // or where the clip begins
    const poise_cuda_calm *calm; // of the clip, or NULL
    bool is_exact;               // the step is that of the exact Hessian
    bool is_bent;                // and is not, since that is not positive definite
    int rounds;                  // solves for the step so far
    int clamped;                 // of them that a limit cut off
    bool falls_fast;             // the last step left a small share of the cost
    bool is_proved;              // a step of the exact Hessian promises nothing
    bool is_stuck;               // no step lowers the cost
    bool is_measured;            // `measure` is that of the current point
    body_measure measure;
    scalar distance;
} body_finish;

// ---- Limits, exactly -----------------------------------------------------------------------------------------------------

PZ_INLINE double finish_excess(const body_task *t, const body_joint *joint, const scalar *m)
{
    const double *radius = t->numbers + t->swing_numbers + BODY_SWING * t->swing_count + 2 * joint->swing;
    double a = AT(m, t->at.trial + joint->q) / radius[0], b = AT(m, t->at.trial + joint->q + 1) / radius[1];
    return a * a + b * b;
}

// A swing within its ellipse. True: it was not.
PZ_INLINE bool finish_clamp_swing(const body_task *t, const body_joint *joint, scalar *m)
{
    int q = t->at.trial + joint->q, round = 0;
    BODY_LOOP
    for (; joint->swing >= 0 && finish_excess(t, joint, m) > 1.0; ++round) {
        double size = round == 0 ? sqrt(finish_excess(t, joint, m)) : 1.0 + REAL_EPSILON;
        AT(m, q) = round < 64 ? AT(m, q) / size : 0.0;
        AT(m, q + 1) = round < 64 ? AT(m, q + 1) / size : 0.0;
    }
    return round > 0;
}

typedef struct finish_limits {
    int moved;  // joints that were not within their limits
    int active; // coordinates at a limit, as poise_solver_active_limit has them
} finish_limits;

// `trial`, in host coordinates, within the limits as poise_model_clamp has them.
PZ_INLINE finish_limits finish_clamp(const body_task *t, scalar *m)
{
    int moved = 0, active = 0;
    BODY_LOOP
    for (int k = body_lane(); k < t->joint_count; k += BODY_LANES) {
        const body_joint *joint = &t->joints[k];
        int plain = joint->dofs - 3 * joint->has_quaternion, q = t->at.trial + joint->q, r = q + plain;
        bool is_outside = finish_clamp_swing(t, joint, m);
        bool at_edge = joint->swing >= 0 && finish_excess(t, joint, m) >= 1.0 - 8.0 * REAL_EPSILON;
        BODY_LOOP
        for (int i = 0; i < plain; ++i) {
            const double *n = t->numbers + t->dof_numbers + BODY_DOF * (joint->v + i);
            double x = AT(m, q + i), inside = scalar_clamp(x, n[0], n[1]);
            is_outside = is_outside || inside != x;
            active += (at_edge && i < 2) || inside <= n[0] || inside >= n[1];
            AT(m, q + i) = inside;
        }
        double square = 1.0;
        if (joint->has_quaternion) {
            square = AT(m, r) * AT(m, r) + AT(m, r + 1) * AT(m, r + 1) + AT(m, r + 2) * AT(m, r + 2) +
                     AT(m, r + 3) * AT(m, r + 3);
        }
        BODY_LOOP
        for (int i = 0; i < 4 && scalar_abs(square - 1.0) > 8.0 * REAL_EPSILON; ++i) {
            AT(m, r + i) /= sqrt(square);
        }
        moved += is_outside;
    }
    finish_limits limits = {body_team_sum(moved), body_team_sum(active)};
    body_sync();
    return limits;
}

// The coordinates at q into `trial`.
PZ_INLINE void finish_set_trial(const body_task *t, scalar *m, const double *q)
{
    BODY_LOOP
    for (int i = body_lane(); i < t->nq; i += BODY_LANES) {
        AT(m, t->at.trial + i) = q[i] + body_shift(t, m, i);
    }
    body_sync();
}

// `trial`, in host coordinates, as q, and from there on in those of the state.
PZ_INLINE void finish_write_q(const body_task *t, scalar *m, double *q)
{
    BODY_LOOP
    for (int i = body_lane(); i < t->nq; i += BODY_LANES) {
        double x = AT(m, t->at.trial + i);
        q[i] = x;
        AT(m, t->at.trial + i) = x + body_shift(t, m, i);
    }
    body_sync();
}

// The start, at q, within the limits there and in `trial`. Returns how many joints were not.
PZ_INLINE int finish_read_start(const body_task *t, scalar *m, double *q)
{
    BODY_READS
    for (int i = body_lane(); i < t->nq; i += BODY_LANES) {
        AT(m, t->at.trial + i) = q[i];
    }
    body_sync();
    finish_limits limits = finish_clamp(t, m);
    finish_write_q(t, m, q);
    return limits.moved;
}

PZ_INLINE double *finish_q(const body_task *t, const pz_cuda_tree_batch *batch, const body_finish *f)
{
    return batch->q + (size_t)f->problem * (size_t)t->nq;
}

// The end of the best run into `trial`: what lies beside a bound, at it; a locked coordinate, where it began.
PZ_INLINE void finish_read_end(const body_task *t, const pz_cuda_tree_batch *batch, const body_work *work, scalar *m,
                               const body_finish *f)
{
    const float *end = work->ends + (size_t)f->problem * (size_t)t->nq;
    const double *start = finish_q(t, batch, f);
    BODY_READS
    for (int i = body_lane(); i < t->nq; i += BODY_LANES) {
        AT(m, t->at.trial + i) = (double)end[i];
    }
    body_sync();
    BODY_LOOP
    for (int k = body_lane(); k < t->joint_count; k += BODY_LANES) {
        const body_joint *joint = &t->joints[k];
        int q = t->at.trial + joint->q, plain = joint->dofs - 3 * joint->has_quaternion;
        BODY_LOOP
        for (int i = 0; i < plain; ++i) {
            scalar lower, upper, x = AT(m, q + i);
            body_bounds(t, m, joint->v + i, &lower, &upper);
            x = x - lower <= FINISH_SNAP ? lower : upper - x <= FINISH_SNAP ? upper : x;
            bool is_locked = body_metric(t, joint->v + i) < 0;
            AT(m, q + i) = is_locked ? start[joint->q + i] + body_shift(t, m, joint->q + i) : x;
        }
        BODY_LOOP
        for (int i = 0; joint->has_quaternion && body_metric(t, joint->v + plain) < 0 && i < 4; ++i) {
            AT(m, q + plain + i) = start[joint->q + plain + i];
        }
        if (joint->swing >= 0) {
            const scalar *W = t->numbers + t->swing_numbers + BODY_SWING * joint->swing;
            scalar a = AT(m, q), b = AT(m, q + 1), size = sqrt(a * a * W[0] + b * b * W[1]);
            bool is_near = size >= 1.0 - 2.0 * FINISH_SNAP;
            AT(m, q) = is_near ? a / size : a, AT(m, q + 1) = is_near ? b / size : b;
        }
    }
    body_sync();
}

// ---- The answer ----------------------------------------------------------------------------------------------------------

// The current point of joint k as q has it, into `trial` for a while. Returns the square of its way from the start, which q
// still holds.
PZ_INLINE double finish_final_q(const body_task *t, scalar *m, int k, const double *q)
{
    const body_joint *joint = &t->joints[k];
    int plain = joint->dofs - 3 * joint->has_quaternion, r = joint->q + plain;
    double square = 0.0;
    BODY_LOOP
    for (int i = joint->q; i < r + (joint->has_quaternion ? 4 : 0); ++i) {
        bool is_locked = body_metric(t, joint->v + (i < r ? i - joint->q : plain)) < 0;
        AT(m, t->at.trial + i) = is_locked ? q[i] : AT(m, t->at.q + i) - body_shift(t, m, i);
    }
    BODY_LOOP
    for (int i = joint->q; i < r; ++i) {
        square += (AT(m, t->at.trial + i) - q[i]) * (AT(m, t->at.trial + i) - q[i]);
    }
    if (joint->has_quaternion) { // the angle between them
        double dot = 0.0, apart = 0.0;
        BODY_LOOP
        for (int i = r; i < r + 4; ++i) {
            dot += AT(m, t->at.trial + i) * q[i];
        }
        BODY_LOOP
        for (int i = r; i < r + 4; ++i) {
            double off = AT(m, t->at.trial + i) - (dot < 0 ? -q[i] : q[i]);
            apart += off * off;
        }
        double angle = 4.0 * pz_atan2(0.5 * sqrt(apart), sqrt(1.0 - scalar_min(0.25 * apart, 1.0)));
        square += angle * angle;
    }
    return square;
}

// The current point as q, within the limits, and how far it is from the start.
PZ_INLINE void finish_answer(const body_task *t, const pz_cuda_tree_batch *batch, scalar *m, body_finish *f)
{
    double *q = finish_q(t, batch, f), square = 0.0;
    body_sync();
    BODY_LOOP
    for (int k = body_lane(); k < t->joint_count; k += BODY_LANES) {
        AT(m, t->at.parts + k) = finish_final_q(t, m, k, q);
    }
    body_sync();
    for (int k = 0; k < t->joint_count; ++k) {
        square += AT(m, t->at.parts + k);
    }
    body_sync();
    f->distance = sqrt(square);
    f->active_limits = finish_clamp(t, m).active;
    finish_write_q(t, m, q);
    f->stage = FINISH_ANSWERED;
}

// ---- Gaps of a clip ------------------------------------------------------------------------------------------------------

PZ_INLINE bool finish_has_calm(const body_task *t, const body_finish *f)
{
    return t->has_pulls && f->calm && f->calm->turn > 0;
}

// What pulls a frame with gaps to the one before, beside SMOOTHNESS.
PZ_INLINE double finish_calm(const body_task *t, scalar *m, const body_finish *f)
{
    int usual = t->at.pull + t->nv + 1;
    bool has_gaps = false;
    if (!finish_has_calm(t, f)) {
        return 0.0;
    }
    if (f->is_first && body_lane() == 0) {
        AT(m, usual) = f->calm->usual;
    }
    body_sync();
    BODY_LOOP
    for (int i = 0; i < t->marker_count; ++i) {
        has_gaps = has_gaps || !(AT(m, t->at.weight + i) > 0);
    }
    double ratio = AT(m, usual) / f->calm->turn;
    return has_gaps ? scalar_min(ratio * ratio, f->calm->most) : 0.0;
}

// The errors of a frame that has ended count for those after it.
PZ_INLINE void finish_keep_frame(const body_task *t, scalar *m, const body_finish *f)
{
    double sum = 0.0;
    int seen = 0, usual = t->at.pull + t->nv + 1;
    BODY_LOOP
    for (int i = 0; i < t->marker_count; ++i) {
        rvec r = rv_sub(body_load(m, t->at.point + 3 * i), body_load(m, t->at.target + 3 * i));
        bool counts = AT(m, t->at.weight + i) > 0 && t->part[i] == BODY_POINT;
        sum += counts ? rv_dot(r, r) : 0.0;
        seen += counts;
    }
    body_sync();
    if (body_lane() == 0) {
        AT(m, usual) += f->calm->rate * ((seen > 0 ? sqrt(sum / seen) : 0.0) - AT(m, usual));
    }
    body_sync();
}

// ---- Steps ---------------------------------------------------------------------------------------------------------------

// A problem that the search has found begins at the end of its run; the search knows the cost of its start well enough.
PZ_INLINE void finish_begin(const body_task *t, const pz_cuda_tree_batch *batch, const body_work *work, int problem,
                            scalar *m, body_finish *f)
{
    bool found = !f->is_direct && work->best[problem].won < INT_MAX;
    f->problem = problem, f->evaluations = f->solves = 0;
    f->stage = f->is_direct ? FINISH_START : FINISH_ARRIVED;
    f->start_cost = INFINITY;
    f->scale = body_read_problem(t, batch, problem, m);
    f->lambda = FINISH_LAMBDA;
    f->growth = 2.0;
    f->falls_fast = found;
    f->is_proved = f->is_stuck = f->is_measured = f->proposes = f->is_bent = false;
    f->rounds = 0;
    f->moved_joints = finish_read_start(t, m, finish_q(t, batch, f));
    if (t->has_pulls) {
        double calm = finish_calm(t, m, f);
        body_set_pulls(t, m, finish_q(t, batch, f), body_steadiness(t, batch, problem) + calm);
    }
    if (!f->is_direct) {
        finish_read_end(t, batch, work, m, f);
    }
}

// The next frame of a clip begins where the one before has ended.
PZ_INLINE void finish_go_on(const body_task *t, const pz_cuda_tree_batch *batch, int problem)
{
    double *q = batch->q + (size_t)problem * (size_t)t->nq;
    BODY_LOOP
    for (int i = body_lane(); i < t->nq; i += BODY_LANES) {
        q[i] = q[i - t->nq];
    }
    body_sync();
}

PZ_INLINE void finish_propose(body_finish *f, scalar share)
{
    f->proposes = true;
    f->share = share;
}

// What is at the next trial: the one place where trials are made, in which threads of a warp meet again.
PZ_INLINE body_value finish_evaluate(const body_task *t, scalar *m, body_finish *f)
{
    if (f->proposes) {
        body_propose(t, m, f->share);
    }
    f->proposes = false;
    return body_forward(t, m);
}

PZ_INLINE bool finish_is_met(const body_task *t, scalar cost, scalar worst)
{
    double within = FINISH_MARGIN * t->tolerance;
    return worst <= within * within || cost <= t->cost_tolerance;
}

// Where the cost has saddles, a Hessian that is positive definite by itself, not by its damping, tells a minimum.
PZ_INLINE bool finish_proves(const body_task *t, const body_finish *f)
{
    return f->is_exact && (!t->has_saddles || f->lambda <= FINISH_PROOF);
}

// Is the next step likely to gain nothing? With e what a Newton step of length s gains beside its promise p, e = f''' s^3/6,
// the next one gains about (f''' s^2/2)^2/(2 f'') = 9/4 e^2/p. Losses bend by jumps, and have no such e; frames of a clip
// go on to the last digits, which the next frame begins with.
PZ_INLINE bool finish_settles(const body_task *t, const body_finish *f, scalar fell)
{
    scalar off = fell - f->predicted;
    return !t->has_losses && !f->is_direct && 10.0 * off * off <= FINISH_SETTLES * f->cost * f->predicted;
}

// Beside a saddle steps of Gauss and Newton lead away from it, by little: where one gains more than it promises, the way
// goes on in its direction, longer each time, as long as the cost falls.
PZ_INLINE body_next finish_accept(const body_task *t, const body_value *value, scalar *m, body_finish *f)
{
    scalar fell = f->cost - value->cost, shrink = 2.0 * (fell / f->predicted) - 1.0;
    bool is_newton = finish_proves(t, f) && f->clamped == 0 && f->share == 1.0 && fell >= 0.5 * f->predicted;
    bool is_last = is_newton && f->predicted <= (t->has_saddles ? FINISH_NOTHING : FINISH_LAST) * f->cost;
    bool settles = is_newton && !is_last && finish_settles(t, f, fell);
    if (f->share == 1.0) {
        scalar least = f->clamped > 0 ? 0.5 : 0.1; // a step that limits cut off says little
        f->lambda = scalar_max(f->lambda * scalar_max(least, 1.0 - shrink * shrink * shrink), FINISH_LEAST);
    }
    f->growth = 2.0;
    f->falls_fast = value->cost < FINISH_FALLS_FAST * f->cost;
    f->cost = value->cost, f->worst = value->worst;
    if (settles && !finish_is_met(t, f->cost, f->worst)) {
        measure_body(t, m, f->cost, &f->measure);
        is_last = f->is_measured = f->measure.cosine <= FINISH_STUCK;
    }
    f->is_proved = is_last;
    if (is_last || finish_is_met(t, f->cost, f->worst)) {
        return BODY_FOUND;
    }
    if (f->is_bent && f->clamped == 0 && f->share >= 1.0 && f->share < FINISH_LONGEST && fell > 1.5 * f->predicted) {
        finish_propose(f, FINISH_LONGER * f->share);
        return BODY_EVALUATE;
    }
    return BODY_SOLVE;
}

// A shorter step, or the step of a larger damping. Steps that promise no more than rounding end the run.
PZ_INLINE body_next finish_reject(const body_task *t, body_finish *f)
{
    if (f->share <= 1.0 && (f->predicted <= FINISH_NOTHING * f->cost || f->lambda > FINISH_MOST)) {
        f->is_stuck = true;
        f->is_proved = t->has_saddles && f->predicted <= FINISH_NOTHING * f->cost && f->clamped == 0 && finish_proves(t, f);
        return BODY_LOST;
    }
    if (f->share > 1.0) { // far enough
        finish_propose(f, 0.0);
        f->stage = FINISH_BACK;
        return BODY_EVALUATE;
    }
    f->lambda = scalar_max(f->lambda * f->growth, 1e-6);
    f->growth *= 2.0;
    finish_propose(f, 0.25 * f->share);
    if (f->share < FINISH_SHORTEST) {
        f->share = 0.0;
        f->stage = FINISH_BACK;
    }
    return BODY_EVALUATE;
}

// ---- The report --------------------------------------------------------------------------------------------------------

PZ_INLINE poise_outcome finish_outcome(const body_task *t, const body_finish *f)
{
    if (f->worst <= t->tolerance * t->tolerance || f->cost <= t->cost_tolerance) {
        return POISE_OUTCOME_REACHED;
    }
    double tolerance = f->is_stuck ? scalar_max(FINISH_STUCK, t->gradient_tolerance) : t->gradient_tolerance;
    if (f->is_proved || (!t->has_saddles && f->measure.cosine <= tolerance)) {
        return POISE_OUTCOME_CLOSEST;
    }
    return f->is_stuck || !(f->cost < INFINITY) ? POISE_OUTCOME_STALLED : POISE_OUTCOME_BUDGET;
}

PZ_INLINE double finish_finite(double x)
{
    return x <= 1.7976931348623157e308 ? x : 1.7976931348623157e308;
}

// The largest distance of a point that counts from its target, and the largest angle of a goal: of a direction by its chord,
// |d - u|^2 = 4 sin^2(phi/2), of a frame by those of its axes, sum |d_k - u_k|^2 = 8 sin^2(phi/2).
PZ_INLINE void finish_errors(const body_task *t, const scalar *m, double *length, double *angle)
{
    double worst = 0.0, turn = 0.0, frame = 0.0;
    BODY_LOOP
    for (int i = 0; i < t->marker_count; ++i) {
        rvec r = rv_sub(body_load(m, t->at.point + 3 * i), body_load(m, t->at.target + 3 * i));
        double square = AT(m, t->at.weight + i) > 0 ? rv_dot(r, r) : 0.0;
        int part = t->part[i];
        frame = part == BODY_AXIS_X ? square : frame + square;
        double sine = part == BODY_DIRECTION ? 0.25 * square : part == BODY_AXIS_Z ? 0.125 * frame : 0.0;
        worst = part == BODY_POINT ? body_worse(worst, square) : worst;
        turn = body_worse(turn, sine);
    }
    *length = sqrt(worst);
    *angle = 2.0 * pz_atan2(sqrt(turn), sqrt(1.0 - scalar_min(turn, 1.0)));
    body_sync();
}

// What is said about the answer, whose cost f has. Runs up to the one that won count; all of them where none has.
PZ_INLINE void finish_report(const body_task *t, const pz_cuda_tree_batch *batch, const body_work *work, scalar *m,
                             body_finish *f)
{
    const body_best *best = &work->best[f->problem];
    const uint16_t *passes = work->passes + (size_t)f->problem * (size_t)(t->restarts + 1);
    int won = f->is_direct ? 0 : best->won;
    bool is_met = f->worst <= t->tolerance * t->tolerance || f->cost <= t->cost_tolerance;
    body_accept(t, m);
    if (is_met) { // and needs no measure
        f->measure.gradient = f->measure.cosine = 0;
    } else if (!f->is_measured) {
        measure_body(t, m, f->cost, &f->measure);
    }
    if (finish_has_calm(t, f)) {
        finish_keep_frame(t, m, f);
    }
    if (!batch->answers) {
        return;
    }
    int last = won < t->restarts ? won : t->restarts, evaluations = 0;
    BODY_LOOP
    for (int run = body_lane(); run <= last && !f->is_direct; run += BODY_LANES) {
        evaluations += passes[run];
    }
    evaluations = body_team_sum(evaluations);
    double length = sqrt(f->worst), angle = 0.0;
    if (t->has_arrows) {
        finish_errors(t, m, &length, &angle);
    }
    if (body_lane() != 0) {
        return;
    }
    poise_cuda_tree_answer *a = &batch->answers[f->problem];
    a->outcome = finish_outcome(t, f);
    a->iterations = evaluations + f->solves;
    a->evaluations = evaluations + f->evaluations;
    a->restarts = last;
    a->active_limits = f->active_limits;
    a->moved_joints = f->moved_joints;
    a->start_cost = finish_finite(f->start_cost < INFINITY || f->is_direct ? f->start_cost : (double)best->start_cost);
    a->cost = finish_finite(f->cost);
    a->gradient = finish_finite(f->measure.gradient);
    a->distance = f->distance;
    a->worst_length = finish_finite(length);
    a->worst_angle = finish_finite(angle);
}

// ---- Judging -------------------------------------------------------------------------------------------------------------

// Is the last rounding of q, from the state's coordinates to those of the world, less than the tolerance leaves?
PZ_INLINE bool finish_is_close(const body_task *t, const scalar *m)
{
    rvec base = body_load(m, t->at.base);
    return 8.0 * REAL_EPSILON * (sqrt(rv_dot(base, base)) + t->size) < (1.0 - FINISH_MARGIN) * t->tolerance;
}

// After an evaluation: BODY_EVALUATE, BODY_SOLVE, or the end (finish_end), BODY_FOUND or BODY_LOST.
PZ_INLINE body_next finish_judge(const body_task *t, const pz_cuda_tree_batch *batch, const body_work *work,
                                 const body_value *value, scalar *m, body_finish *f)
{
    body_next next;
    bool falls = value->cost < f->cost;
    f->evaluations += 1;
    if (f->stage == FINISH_ANSWERED) {
        f->cost = value->cost, f->worst = value->worst;
        return BODY_FOUND;
    }
    // the start's cost is that of single precision; clips, which may be longer than `work`, have none
    double most = t->has_saddles ? 1.0 - FINISH_SINGLE : 1.0 + FINISH_SINGLE;
    if (f->stage == FINISH_ARRIVED && !(value->cost <= most * (double)work->best[f->problem].start_cost)) {
        f->stage = FINISH_START;
        finish_set_trial(t, m, finish_q(t, batch, f));
        return BODY_EVALUATE;
    }
    bool begins = f->stage == FINISH_START || f->stage == FINISH_ARRIVED;
    if (begins || (f->stage == FINISH_RUNNING && falls)) {
        body_accept(t, m);
    }
    if (begins) {
        f->start_cost = f->stage == FINISH_START ? value->cost : INFINITY;
        f->stage = FINISH_RUNNING;
        f->cost = value->cost, f->worst = value->worst;
        next = !(f->cost < INFINITY) ? BODY_LOST : finish_is_met(t, f->cost, f->worst) ? BODY_FOUND : BODY_SOLVE;
    } else if (f->stage == FINISH_BACK) {
        f->stage = FINISH_RUNNING;
        next = f->lambda > FINISH_MOST ? BODY_LOST : BODY_SOLVE;
        f->is_stuck = f->is_stuck || next == BODY_LOST;
    } else {
        next = falls ? finish_accept(t, value, m, f) : finish_reject(t, f);
    }
    return f->evaluations >= (t->has_saddles ? FINISH_MORE_EVALUATIONS : FINISH_EVALUATIONS) && next != BODY_FOUND
               ? BODY_LOST
               : next;
}

// ---- Steps ---------------------------------------------------------------------------------------------------------------

// A solve for the step within the limits: by the exact Hessian if the residual stays and that is positive definite, with the
// dofs held that left before. BODY_SOLVE: once more; BODY_EVALUATE: at the trial, where the step leads; BODY_FOUND: the end.
PZ_INLINE body_next finish_solve(const body_task *t, scalar *m, body_finish *f)
{
    if (f->rounds == 0) {
        f->solves += 1;
        f->is_exact = !f->falls_fast;
        f->is_bent = false;
        f->clamped = 0;
        BODY_LOOP
        for (int i = body_lane(); i < t->nv; i += BODY_LANES) {
            AT(m, t->at.held + i) = BODY_FREE;
        }
        body_sync();
    }
    body_solve s = {.lambda = f->lambda, .scale = f->scale, .exact = f->is_exact};
    body_up(t, m, &s);
    if (s.exact && !s.is_positive) {
        f->is_exact = false;
        f->is_bent = true;
        f->rounds += f->rounds == 0; // that was none
        return BODY_SOLVE;
    }
    f->predicted = body_down(t, m, &s);
    f->clamped += s.leavers > 0 || s.is_clipped;
    f->rounds += 1;
    if (s.leavers > 0 && f->clamped < FINISH_SOLVES) {
        return BODY_SOLVE;
    }
    f->rounds = 0;
    if (f->clamped == 0 && scalar_abs(f->predicted) <= FINISH_FLAT * f->cost) {
        f->is_proved = finish_proves(t, f);
        f->is_stuck = true;
        return BODY_FOUND;
    }
    if (f->predicted > 0) {
        finish_propose(f, 1.0);
        return BODY_EVALUATE;
    }
    f->lambda = scalar_max(f->lambda * f->growth, 1e-6); // limits have cut off what it promised
    f->growth *= 2.0;
    f->is_stuck = f->lambda > FINISH_MOST;
    return f->is_stuck ? BODY_LOST : BODY_SOLVE;
}

// The end of a problem: its answer, and what is said about that. False: an evaluation at the answer as it is handed out
// comes first.
PZ_INLINE bool finish_end(const body_task *t, const pz_cuda_tree_batch *batch, const body_work *work, scalar *m,
                          body_next next, body_finish *f)
{
    bool is_done = f->stage == FINISH_ANSWERED;
    if (!is_done) {
        finish_answer(t, batch, m, f);
        is_done = next == BODY_FOUND && finish_is_close(t, m);
    }
    if (is_done) {
        finish_report(t, batch, work, m, f);
    }
    return is_done;
}

#endif
