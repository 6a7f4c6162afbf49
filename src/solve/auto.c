// AUTO: exact Newton where the Hessian is positive definite, Gauss-Newton elsewhere, one damping for both.
//
// Each iteration solves (H + lambda D) x = -g over the free dofs with the tree step, H exact if H + lambda D is positive
// definite, else Gauss-Newton with the same lambda, which always is. damped_step.c has the metric D and the active set,
// auto_policy.h everything that is decided, the way out of a saddle comes first, the loop is at the end: step, evaluate, judge.
#include "solve/arm.h"
#include "solve/damped_step.h"
#include "solve/methods.h"
#include "solve/tips.h"

#define ESCAPE_LAMBDA 1e-2         // of D: curvature below this is that of dofs that no marker sees
#define ESCAPE_SHARE  0.99         // of the cost: the most that an escape on the way may leave
#define END_SHARE     (1.0 - 1e-9) // the same where the run would end
#define ESCAPE_HALVES 4
#define END_LAMBDA    1e-6 // the same where the run would end
#define ESCAPE_WIDE   1.0  // where the metric has none: the longest step, of a dof
#define END_HALVES    8
#define PUSHES        1e-9 // the cosine between residuals and what a dof can do about them, from which a bound holds it
#define CONE_STEP     1e-3 // of one dof

void *pz_auto_lay_out(poise_solver *solver, pz_arena *arena)
{
    pz_damped *scratch = pz_damped_lay_out(solver, arena);
    solver->arm = pz_arm_lay_out(solver, arena);
    solver->tips = pz_tips_lay_out(solver, arena);
    return scratch;
}

// ---- The way out of a saddle -
//
// Gauss-Newton and damped Newton steps stop at saddles: a bone that is half a turn off about its own length, say. There H
// has a direction of negative curvature. It is followed as far as would move the markers by their own residual,
// x . D x = 2 f, and no further than step_limit, then by halves, downhill first.
//
// And the way off the tip of a cone: the energy of a DISTANCE goal whose point is on its target (goal/distance.c). Its
// gradient is that along one direction of many; where limits and locks leave none of the joints that follow it, another may
// lead down.

// Scale the direction x to the length of the first attempt. False: it has none.
static bool scale_direction(const poise_solver *solver, const pz_damped *d, double *x)
{
    int n = solver->model->nv;
    double length = 0.0, slope = 0.0;
    for (int i = 0; i < n; ++i) {
        length += x[i] * d->D[i] * x[i];
        slope += x[i] * solver->at->gradient[i];
    }
    double largest = pz_largest(x, n), most = solver->options.step_limit / largest;
    double wanted =
        length > 0 ? sqrt(2.0 * solver->at->cost / length) : ESCAPE_WIDE / largest; // no goal sees x at first order
    double factor = (slope > 0 ? -1.0 : 1.0) * min2(wanted, most);
    if (!is_finite(factor)) {
        return false;
    }
    for (int i = 0; i < n; ++i) {
        x[i] *= factor;
    }
    return true;
}

// Hold the dofs that descent pushes against a bound. One that stands there without being pushed may leave it: inwards the cost
// may bend down.
static void hold_what_is_pushed(const poise_solver *solver, pz_damped *d)
{
    double least = PUSHES * PUSHES * 2.0 * solver->at->cost;
    pz_hold_at_bounds(solver, d);
    for (int i = 0; i < solver->model->nv; ++i) {
        double g = solver->at->gradient[i];
        d->hold[i] = d->hold[i] && (solver->box[i].locked || g * g > least * d->D[i]);
    }
}

// Leave a saddle: where the exact Hessian is clearly indefinite, go along a direction of negative curvature, if that lowers
// the cost: by a good part on the way, at all where the run would end. False: it does not, and the current point stays.
static bool leave_saddle(poise_solver *solver, pz_damped *d, bool is_end)
{
    double *x = solver->step, share = is_end ? END_SHARE : ESCAPE_SHARE;
    if (is_end) {
        hold_what_is_pushed(solver, d);
    } else {
        pz_hold_at_bounds(solver, d);
    }
    if (!pz_tree_curvature(d->tree, solver->at, is_end ? END_LAMBDA : ESCAPE_LAMBDA, d->D, d->hold, d->hold_value, x) ||
        !scale_direction(solver, d, x)) {
        return false;
    }
    for (int attempt = 0; attempt < 2 * (is_end ? END_HALVES : ESCAPE_HALVES); ++attempt) {
        pz_step_within(solver, solver->at->kin.q, x, d->q_trial);
        if (pz_try(solver, d->q_trial, POISE_LEVEL_COST) < share * solver->at->cost) {
            pz_try(solver, d->q_trial, POISE_LEVEL_HESSIAN);
            pz_accept(solver);
            return true;
        }
        double turn = attempt % 2 == 0 ? -1.0 : -0.5; // the other way, then half as far
        for (int i = 0; i < solver->model->nv; ++i) {
            x[i] *= turn;
        }
    }
    return false;
}

bool pz_is_at_tip(const poise_solver *solver)
{
    bool is_there = false;
    for (int i = 0; i < solver->goal_count && !is_there; ++i) {
        is_there = pz_distance_is_at_tip(&solver->at->kin, &solver->goals[i]);
    }
    return is_there;
}

// Leave the tip of a cone: take the first short step along one dof that lowers the cost. False: there is none, or this is no
// such place.
static bool leave_tip(poise_solver *solver, const pz_damped *d)
{
    double *x = solver->step, length = min2(CONE_STEP, solver->options.step_limit);
    int n = solver->model->nv;
    for (int k = 0; k < 2 * n && pz_is_at_tip(solver); ++k) {
        for (int i = 0; i < n; ++i) {
            x[i] = i != k / 2 || solver->box[i].locked ? 0.0 : k % 2 ? -length : length;
        }
        pz_step_within(solver, solver->at->kin.q, x, d->q_trial);
        if (pz_try(solver, d->q_trial, POISE_LEVEL_COST) < solver->at->cost) {
            pz_try(solver, d->q_trial, POISE_LEVEL_HESSIAN);
            pz_accept(solver);
            return true;
        }
    }
    return false;
}

// Goals that tie branches together leave no tree on which negative curvature would be found, and bands of rotations have a kink
// at half a turn.
static bool needs_second_look(const poise_solver *solver)
{
    bool found = false;
    for (int i = 0; i < solver->goal_count && !found; ++i) {
        const poise_goal *goal = &solver->goals[i];
        found = (pz_goal_row_of(goal->kind)->needs & PZ_NEEDS_COUPLING) != 0 || pz_has_band(goal->rotation_tolerance);
    }
    return found;
}

// Where a second look leads down from the end of a run, go there.
static bool leave_refuted(poise_solver *solver)
{
    if (!needs_second_look(solver) || !pz_is_refuted(solver)) {
        return false;
    }
    pz_try(solver, solver->q_try, POISE_LEVEL_HESSIAN);
    pz_accept(solver);
    return true;
}

// Go off the tip of a cone, or along a direction of negative curvature, if that leads down from here. It counts as an
// iteration.
static bool escape(poise_solver *solver, pz_auto *a, bool is_end)
{
    pz_damped *d = (pz_damped *)solver->method;
    a->escapes -= 1;
    if (!leave_tip(solver, d) && !leave_saddle(solver, d, is_end) && !(is_end && leave_refuted(solver))) {
        return false;
    }
    pz_count_iteration(solver, d->damping.lambda, pz_largest(solver->step, solver->model->nv), true, true);
    return true;
}

// ---- The loop -

// Is this the end? Where no direction leads down at first order the point may still be a saddle.
static bool is_end(poise_solver *solver, pz_auto *a)
{
    if (!pz_is_done(solver, &a->outcome)) {
        return false;
    }
    if (!pz_may_be_saddle(a, a->outcome)) {
        return true;
    }
    pz_damped_refresh((pz_damped *)solver->method, solver, true);
    if (!escape(solver, a, true)) {
        return true;
    }
    a->outcome = POISE_OUTCOME_BUDGET; // until the new point says more
    solver->report.why = POISE_WHY_BUDGET;
    return solver->iterations_left == 0;
}

void pz_auto_begin(poise_solver *solver, pz_auto *a)
{
    *a = pz_auto_start();
    ((pz_damped *)solver->method)->damping = pz_damping_begin(&solver->options);
}

bool pz_auto_step(poise_solver *solver, pz_auto *a)
{
    pz_damped *d = (pz_damped *)solver->method;
    if (a->is_fresh && is_end(solver, a)) {
        return false;
    }
    if (a->is_fresh) {
        pz_damped_refresh(d, solver, a->is_first);
        a->is_first = false;
    }
    pz_damped_step(solver, d, pz_wants_exact(a), &a->trial);
    return true;
}

bool pz_auto_judge(poise_solver *solver, pz_auto *a, double cost)
{
    pz_damped *d = (pz_damped *)solver->method;
    // judge: a trial that lowers the cost becomes the current point
    pz_damped_judge(solver, d, cost, &a->trial);
    // adapt
    d->damping = pz_damping_after(d->damping, &a->trial);
    pz_auto_learn(a, &a->trial);
    // escape
    if (solver->iterations_left > 0 && pz_may_escape(a, &a->trial, d->damping) && escape(solver, a, false)) {
        a->is_fresh = a->falls_fast = true;
    }
    // stop
    if (!a->is_fresh && pz_is_stuck(&a->trial, d->damping)) {
        a->outcome = pz_stuck_outcome(solver, pz_is_flat(&a->trial));
        return false;
    }
    if (solver->iterations_left == 0) {
        bool is_done = a->is_fresh && pz_is_done(solver, &a->outcome);
        a->outcome = is_done ? a->outcome : POISE_OUTCOME_BUDGET;
        return false;
    }
    return true;
}

poise_outcome pz_auto_run(poise_solver *solver)
{
    pz_auto a;
    pz_auto_begin(solver, &a);
    while (pz_auto_step(solver, &a)) {
        double cost = pz_damped_evaluate(solver, (pz_damped *)solver->method);
        if (!pz_auto_judge(solver, &a, cost)) {
            break;
        }
    }
    solver->is_unproved = solver->is_unproved || (a.outcome == POISE_OUTCOME_CLOSEST && !a.is_minimum && a.escapes == 0);
    return a.outcome;
}
