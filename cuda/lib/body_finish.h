// The finish of a marker problem in double precision, from where the search has come, and its judgement.
//
//   START     looked at the caller's start, moved inside the limits: its cost goes into the report
//   ARRIVED   looked at the end of the best run, snapped to bounds that it is beside; no better than the start: from there
//   RUNNING   looked at a step
//   BACK      looked at the current point again
//   ANSWERED  looked at the answer as it is handed out, within the limits exactly: what is said about it is measured here
//
// Where the cost falls fast, steps are those of Gauss and Newton; where a residual stays, of the exact Hessian where that is
// positive definite. Dofs that a step takes out of their limits are held at the bound, and the step is solved for again.
//
// REACHED: every marker is within the tolerance; of a frame every axis is so near that the angle must be within its own.
// CLOSEST: as poise_solve has it, by the projected gradient, or by a step of the exact Hessian, positive definite, that
// promises nothing. All else has not converged, and says so.
#ifndef POISE_CUDA_BODY_FINISH_H
#define POISE_CUDA_BODY_FINISH_H

#include "body_measure.h"
#include "body_run.h"

#include <limits.h>

#define FINISH_SNAP       1e-6 // from a bound
#define FINISH_LOOKS      150  // at most
#define FINISH_SOLVES     4    // of the active set in one step
#define FINISH_FALLS_FAST 0.2  // a step that leaves less than this share of the cost
#define FINISH_LAMBDA     1e-9 // to begin with
#define FINISH_LEAST      1e-15
#define FINISH_MOST       1e8
#define FINISH_FLAT       1e-15 // a share of the cost that its own rounding hides
#define FINISH_SHORTEST   0.01
#define FINISH_STUCK      3.2e-7       // tolerance of the gradient where no step lowers the cost (solve/stepping.c)
#define FINISH_MARGIN     (1.0 - 1e-6) // of the tolerance: more than the last rounding of q changes

typedef enum finish_stage { FINISH_START, FINISH_ARRIVED, FINISH_RUNNING, FINISH_BACK, FINISH_ANSWERED } finish_stage;

typedef struct body_finish {
    int problem, looks, solves, moved_joints, active_limits;
    finish_stage stage;
    real scale;
    real start_cost, cost, worst, predicted, share;
    real lambda, growth;
    bool falls_fast; // the last step left a small share of the cost
    bool is_proved;  // a step of the exact Hessian promises nothing
    bool is_stuck;   // no step lowers the cost
    body_measure measure;
    real distance;
} body_finish;

// ---- Limits, exactly -----------------------------------------------------------------------------------------------------

PZ_BOTH double finish_excess(const body_task *t, const body_joint *joint, const double *q)
{
    const double *radius = t->numbers + t->swing_numbers + BODY_SWING * t->swing_count + 2 * joint->swing;
    double a = q[0] / radius[0], b = q[1] / radius[1];
    return a * a + b * b;
}

// q, in host coordinates, within the limits as poise_model_clamp has them; how many joints were not.
BODY_FN int finish_clamp(const body_task *t, double *q)
{
    int moved = 0;
    BODY_LOOP
    for (int k = body_lane(); k < t->joint_count; k += BODY_LANES) {
        const body_joint *joint = &t->joints[k];
        int plain = joint->dofs - 3 * joint->has_quaternion;
        bool is_outside = false;
        BODY_LOOP
        for (int round = 0; joint->swing >= 0 && finish_excess(t, joint, q + joint->q) > 1.0; ++round) {
            double size = round == 0 ? sqrt(finish_excess(t, joint, q + joint->q)) : 1.0 + REAL_EPSILON;
            q[joint->q] = round < 64 ? q[joint->q] / size : 0.0;
            q[joint->q + 1] = round < 64 ? q[joint->q + 1] / size : 0.0;
            is_outside = true;
        }
        BODY_LOOP
        for (int i = 0; i < plain; ++i) {
            const double *n = t->numbers + t->dof_numbers + BODY_DOF * (joint->v + i);
            double inside = real_clamp(q[joint->q + i], n[0], n[1]);
            is_outside = is_outside || inside != q[joint->q + i];
            q[joint->q + i] = inside;
        }
        double *r = q + joint->q + plain, square = 1.0;
        if (joint->has_quaternion) {
            square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3];
        }
        BODY_LOOP
        for (int i = 0; i < 4 && real_abs(square - 1.0) > 8.0 * REAL_EPSILON; ++i) {
            r[i] /= sqrt(square);
        }
        moved += is_outside;
    }
    moved = body_count(moved);
    body_meet();
    return moved;
}

// The coordinates at q into `trial`.
BODY_FN void finish_look_at(const body_task *t, real *m, const double *q)
{
    BODY_LOOP
    for (int i = body_lane(); i < t->nq; i += BODY_LANES) {
        AT(m, t->at.trial + i) = q[i] + body_shift(t, m, i);
    }
    body_meet();
}

PZ_BOTH double *finish_q(const body_task *t, const pz_cuda_tree_batch *batch, const body_finish *f)
{
    return batch->q + (size_t)f->problem * (size_t)t->nq;
}

// The end of the best run into `trial`: what lies beside a bound, at it; a locked coordinate, where it began.
BODY_FN void finish_take_end(const body_task *t, const pz_cuda_tree_batch *batch, const body_work *work, real *m,
                             const body_finish *f)
{
    const float *end = work->ends + (size_t)f->problem * (size_t)t->nq;
    const double *start = finish_q(t, batch, f);
    BODY_LOOP
    for (int i = body_lane(); i < t->nq; i += BODY_LANES) {
        AT(m, t->at.trial + i) = (double)end[i];
    }
    body_meet();
    BODY_LOOP
    for (int k = body_lane(); k < t->joint_count; k += BODY_LANES) {
        const body_joint *joint = &t->joints[k];
        int q = t->at.trial + joint->q, plain = joint->dofs - 3 * joint->has_quaternion;
        BODY_LOOP
        for (int i = 0; i < plain; ++i) {
            real lower, upper, x = AT(m, q + i);
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
            const real *W = t->numbers + t->swing_numbers + BODY_SWING * joint->swing;
            real a = AT(m, q), b = AT(m, q + 1), size = sqrt(a * a * W[0] + b * b * W[1]);
            bool is_near = size >= 1.0 - 2.0 * FINISH_SNAP;
            AT(m, q) = is_near ? a / size : a, AT(m, q + 1) = is_near ? b / size : b;
        }
    }
    body_meet();
}

// ---- The answer ----------------------------------------------------------------------------------------------------------

// The current point of joint k as q has it, into `trial` for a while. Returns the square of its way from the start, which q
// still holds.
PZ_BOTH double finish_leave(const body_task *t, real *m, int k, const double *q)
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
        double angle = 4.0 * pz_atan2(0.5 * sqrt(apart), sqrt(1.0 - real_min(0.25 * apart, 1.0)));
        square += angle * angle;
    }
    return square;
}

// The current point as q, within the limits, and how far it is from the start.
BODY_FN void finish_answer(const body_task *t, const pz_cuda_tree_batch *batch, real *m, body_finish *f)
{
    double *q = finish_q(t, batch, f), square = 0.0;
    body_meet();
    BODY_LOOP
    for (int k = body_lane(); k < t->joint_count; k += BODY_LANES) {
        AT(m, t->at.parts + k) = finish_leave(t, m, k, q);
    }
    body_meet();
    for (int k = 0; k < t->joint_count; ++k) {
        square += AT(m, t->at.parts + k);
    }
    BODY_LOOP
    for (int i = body_lane(); i < t->nq; i += BODY_LANES) {
        q[i] = AT(m, t->at.trial + i);
    }
    body_meet();
    f->distance = sqrt(square);
    finish_clamp(t, q);
    finish_look_at(t, m, q);
    f->stage = FINISH_ANSWERED;
}

// Coordinates at a limit, as poise_solver_active_limit has them.
BODY_FN int finish_active_limits(const body_task *t, const double *q)
{
    int active = 0;
    BODY_LOOP
    for (int k = body_lane(); k < t->joint_count; k += BODY_LANES) {
        const body_joint *joint = &t->joints[k];
        bool at_edge = joint->swing >= 0 && finish_excess(t, joint, q + joint->q) >= 1.0 - 8.0 * REAL_EPSILON;
        BODY_LOOP
        for (int i = 0; i < joint->dofs - 3 * joint->has_quaternion; ++i) {
            const double *n = t->numbers + t->dof_numbers + BODY_DOF * (joint->v + i);
            double x = q[joint->q + i];
            active += (at_edge && i < 2) || x <= n[0] || x >= n[1];
        }
    }
    return body_count(active);
}

// ---- Steps ---------------------------------------------------------------------------------------------------------------

// A problem that the search has found begins at the end of its run; the search knows the cost of its start well enough.
BODY_FN void finish_begin(const body_task *t, const pz_cuda_tree_batch *batch, const body_work *work, int problem, real *m,
                          body_finish *f)
{
    bool found = work->best[problem].won < INT_MAX;
    f->problem = problem, f->looks = f->solves = 0;
    f->stage = found ? FINISH_ARRIVED : FINISH_START;
    f->start_cost = INFINITY;
    f->scale = body_take_problem(t, batch, problem, m);
    f->lambda = FINISH_LAMBDA;
    f->growth = 2.0;
    f->falls_fast = found;
    f->is_proved = f->is_stuck = false;
    f->moved_joints = finish_clamp(t, finish_q(t, batch, f));
    if (found) {
        finish_take_end(t, batch, work, m, f);
    } else {
        finish_look_at(t, m, finish_q(t, batch, f));
    }
}

// One system, by the exact Hessian if that is asked for and positive definite.
PZ_BOTH real finish_solve_once(const body_task *t, real *m, body_solve *s)
{
    body_up(t, m, s);
    if (s->exact && !s->is_positive) {
        s->exact = false;
        body_up(t, m, s);
    }
    return body_down(t, m, s);
}

// The step within the limits by the active set, and the trial where it leads.
BODY_FN void finish_solve(const body_task *t, const pz_cuda_tree_batch *batch, real *m, body_finish *f)
{
    f->solves += 1;
    body_solve s = {.lambda = f->lambda, .scale = f->scale, .exact = !f->falls_fast};
    bool is_newton = true;
    BODY_LOOP
    for (int i = body_lane(); i < t->nv; i += BODY_LANES) {
        AT(m, t->at.held + i) = BODY_FREE;
    }
    body_meet();
    BODY_LOOP
    for (int solve = 0; solve < FINISH_SOLVES; ++solve) {
        f->predicted = finish_solve_once(t, m, &s);
        if (s.leavers == 0) {
            break;
        }
        is_newton = false;
    }
    is_newton = is_newton && !s.is_clipped;
    f->share = 1.0;
    if (is_newton && real_abs(f->predicted) <= FINISH_FLAT * f->cost) {
        f->is_proved = s.exact;
        f->is_stuck = true;
        finish_answer(t, batch, m, f);
        return;
    }
    if (!(f->predicted > 0)) {
        f->lambda = real_max(f->lambda * f->growth, 1e-6);
        f->growth *= 2.0;
        f->share = 0.0;
        f->stage = FINISH_BACK;
    }
    body_propose(t, m, f->share);
}

PZ_BOTH bool finish_is_met(const body_task *t, real cost, real worst)
{
    double within = FINISH_MARGIN * t->tolerance;
    return worst <= within * within || cost <= t->cost_tolerance;
}

PZ_BOTH body_next finish_accept(const body_task *t, const body_look *look, body_finish *f)
{
    real fell = f->cost - look->cost, shrink = 2.0 * (fell / f->predicted) - 1.0;
    if (f->share == 1.0) {
        f->lambda = real_max(f->lambda * real_max(0.1, 1.0 - shrink * shrink * shrink), FINISH_LEAST);
    }
    f->growth = 2.0;
    f->falls_fast = look->cost < FINISH_FALLS_FAST * f->cost;
    f->cost = look->cost, f->worst = look->worst;
    return finish_is_met(t, f->cost, f->worst) ? BODY_FOUND : BODY_SOLVE;
}

// A shorter step, or the step of a larger damping. Steps that promise no more than rounding end the run.
PZ_BOTH body_next finish_reject(const body_task *t, real *m, body_finish *f)
{
    if (f->predicted <= 1e3 * FINISH_FLAT * f->cost || f->lambda > FINISH_MOST) {
        f->is_stuck = true;
        return BODY_LOST;
    }
    f->lambda = real_max(f->lambda * f->growth, 1e-6);
    f->growth *= 2.0;
    f->share *= 0.25;
    if (f->share < FINISH_SHORTEST) {
        f->share = 0.0;
        f->stage = FINISH_BACK;
    }
    body_propose(t, m, f->share);
    return BODY_LOOK;
}

// ---- The report --------------------------------------------------------------------------------------------------------

BODY_FN poise_outcome finish_outcome(const body_task *t, const body_look *look, const body_finish *f)
{
    if (look->worst <= t->tolerance * t->tolerance || look->cost <= t->cost_tolerance) {
        return POISE_OUTCOME_REACHED;
    }
    double tolerance = f->is_stuck ? real_max(FINISH_STUCK, t->gradient_tolerance) : t->gradient_tolerance;
    if (f->is_proved || f->measure.cosine <= tolerance) {
        return POISE_OUTCOME_CLOSEST;
    }
    return f->is_stuck || !(look->cost < INFINITY) ? POISE_OUTCOME_STALLED : POISE_OUTCOME_BUDGET;
}

PZ_BOTH double finish_finite(double x)
{
    return x <= 1.7976931348623157e308 ? x : 1.7976931348623157e308;
}

// The largest distance of a point that counts from its target, and the largest angle of a goal: of a direction by its chord,
// |d - u|^2 = 4 sin^2(phi/2), of a frame by those of its axes, sum |d_k - u_k|^2 = 8 sin^2(phi/2).
BODY_FN void finish_errors(const body_task *t, const real *m, double *length, double *angle)
{
    double worst = 0.0, turn = 0.0, frame = 0.0;
    BODY_LOOP
    for (int i = 0; i < t->marker_count; ++i) {
        rvec r = rv_sub(body_get(m, t->at.point + 3 * i), body_get(m, t->at.target + 3 * i));
        double square = AT(m, t->at.weight + i) > 0 ? rv_dot(r, r) : 0.0;
        int part = t->part[i];
        frame = part == BODY_AXIS_X ? square : frame + square;
        double sine = part == BODY_DIRECTION ? 0.25 * square : part == BODY_AXIS_Z ? 0.125 * frame : 0.0;
        worst = part == BODY_POINT ? body_worse(worst, square) : worst;
        turn = body_worse(turn, sine);
    }
    *length = sqrt(worst);
    *angle = 2.0 * pz_atan2(sqrt(turn), sqrt(1.0 - real_min(turn, 1.0)));
    body_meet();
}

// Runs up to the one that won count; all of them where none has.
BODY_FN void finish_report(const body_task *t, const pz_cuda_tree_batch *batch, const body_work *work, const body_look *look,
                           real *m, body_finish *f)
{
    const body_best *best = &work->best[f->problem];
    const uint16_t *passes = work->passes + (size_t)f->problem * (size_t)(t->restarts + 1);
    body_accept(t, m);
    measure_body(t, m, look->cost, &f->measure);
    if (!batch->answers) {
        return;
    }
    int last = best->won < t->restarts ? best->won : t->restarts, looks = 0;
    BODY_LOOP
    for (int run = body_lane(); run <= last; run += BODY_LANES) {
        looks += passes[run];
    }
    looks = body_count(looks);
    int active = finish_active_limits(t, finish_q(t, batch, f));
    double length, angle;
    finish_errors(t, m, &length, &angle);
    if (body_lane() != 0) {
        return;
    }
    poise_cuda_tree_answer *a = &batch->answers[f->problem];
    a->outcome = finish_outcome(t, look, f);
    a->iterations = looks + f->solves;
    a->evaluations = looks + f->looks;
    a->restarts = last;
    a->active_limits = active;
    a->moved_joints = f->moved_joints;
    a->start_cost = finish_finite(f->start_cost < INFINITY ? f->start_cost : (double)best->start_cost);
    a->cost = finish_finite(look->cost);
    a->gradient = finish_finite(f->measure.gradient);
    a->distance = f->distance;
    a->worst_length = finish_finite(length);
    a->worst_angle = finish_finite(angle);
}

// ---- Judging -------------------------------------------------------------------------------------------------------------

// Is the last rounding of q, from the state's coordinates to those of the world, less than the tolerance leaves?
PZ_BOTH bool finish_is_close(const body_task *t, const real *m)
{
    rvec base = body_get(m, t->at.base);
    return 8.0 * REAL_EPSILON * (sqrt(rv_dot(base, base)) + t->size) < (1.0 - FINISH_MARGIN) * t->tolerance;
}

// After a look: BODY_LOOK, BODY_SOLVE, or BODY_FOUND when the problem is done.
BODY_FN body_next finish_judge(const body_task *t, const pz_cuda_tree_batch *batch, const body_work *work,
                               const body_look *look, real *m, body_finish *f)
{
    body_next next;
    f->looks += 1;
    if (f->stage == FINISH_ANSWERED) {
        finish_report(t, batch, work, look, m, f);
        return BODY_FOUND;
    }
    if (f->stage == FINISH_START) {
        f->start_cost = look->cost < INFINITY ? look->cost : INFINITY;
        f->stage = FINISH_ARRIVED;
        finish_take_end(t, batch, work, m, f);
        return BODY_LOOK;
    }
    if (f->stage == FINISH_ARRIVED && !(look->cost <= f->start_cost)) {
        finish_look_at(t, m, finish_q(t, batch, f));
        if (f->start_cost < INFINITY) {
            return BODY_LOOK;
        }
        body_accept(t, m);
        next = BODY_LOST;
    } else if (f->stage == FINISH_ARRIVED) {
        body_accept(t, m);
        f->stage = FINISH_RUNNING;
        f->cost = look->cost, f->worst = look->worst;
        next = finish_is_met(t, f->cost, f->worst) ? BODY_FOUND : BODY_SOLVE;
    } else if (f->stage == FINISH_BACK) {
        f->stage = FINISH_RUNNING;
        next = f->lambda > FINISH_MOST ? BODY_LOST : BODY_SOLVE;
        f->is_stuck = f->is_stuck || next == BODY_LOST;
    } else if (look->cost < f->cost) {
        body_accept(t, m);
        next = finish_accept(t, look, f);
    } else {
        next = finish_reject(t, m, f);
    }
    next = f->looks >= FINISH_LOOKS && next != BODY_FOUND ? BODY_LOST : next;
    if (next == BODY_FOUND || next == BODY_LOST) {
        finish_answer(t, batch, m, f);
        next = next == BODY_FOUND && finish_is_close(t, m) ? BODY_FOUND : BODY_LOOK;
    }
    if (next == BODY_FOUND) {
        finish_report(t, batch, work, look, m, f);
    }
    return next;
}

#endif
