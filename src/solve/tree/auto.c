// AUTO: exact Newton where the Hessian is positive definite, Gauss-Newton elsewhere, one damping for both.
//
// Each iteration solves (H + lambda D) x = -g over the free dofs with the tree step, H exact if H + lambda D is positive
// definite, else Gauss-Newton with the same lambda, which always is. damped_step.c has the metric D and the active set,
// auto_policy.h everything that is decided, saddle.c the way out of a saddle. The loop is at the end: step, evaluate, judge.
#include "solve/arm.h"
#include "solve/methods.h"
#include "solve/tips.h"
#include "solve/tree/damped_step.h"

void *pz_auto_lay_out(poise_solver *solver, pz_arena *arena)
{
    pz_damped *scratch = pz_damped_lay_out(solver, arena);
    solver->arm = pz_arm_lay_out(solver, arena);
    solver->tips = pz_tips_lay_out(solver, arena);
    return scratch;
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
    if (!pz_leave_tip(solver, d) && !pz_leave_saddle(solver, d, is_end) && !(is_end && leave_refuted(solver))) {
        return false;
    }
    pz_count_iteration(solver, d->damping.lambda, pz_largest(solver->step, solver->model->nv), true, true);
    return true;
}

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
