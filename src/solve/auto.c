// AUTO: exact Newton where the Hessian is positive definite, Gauss-Newton elsewhere, one damping for both.
//
// Each iteration solves (H + lambda D) x = -g over the free dofs with the tree step, H exact if H + lambda D is positive
// definite, else Gauss-Newton with the same lambda, which always is. Metric, active set and the control of lambda are those
// of damped.c. While the cost falls fast the exact Hessian is not worth a try: it is indefinite there. Where it is
// indefinite and the cost hardly falls, or has no slope left, a direction of negative curvature is tried.
#include "solve/arm.h"
#include "solve/damped.h"
#include "solve/methods.h"

#define ESCAPES 3 // from saddles, that a solve may try

static double step_length(const poise_solver *solver)
{
    return pz_largest(solver->step, solver->model->nv);
}

void *pz_auto_lay_out(poise_solver *solver, pz_arena *arena)
{
    pz_damped blank = {0}, *scratch = pz_arena_take(arena, 1, sizeof *scratch);
    pz_damped_lay_out(scratch ? scratch : &blank, solver, arena);
    solver->arm = pz_arm_lay_out(solver, arena);
    return scratch;
}

// May the solve end here? A point without a slope may be a saddle; it is not where the last step solved with a positive
// definite H.
static bool is_done(poise_solver *solver, pz_damped *d, bool is_minimum, int *escapes, poise_outcome *outcome)
{
    if (!pz_is_done(solver, outcome)) {
        return false;
    }
    if (*outcome != POISE_OUTCOME_CLOSEST || is_minimum || *escapes == 0) {
        return true;
    }
    *escapes -= 1;
    pz_damped_refresh(d, solver, true);
    return !pz_damped_escape(solver, d) || !pz_count_iteration(solver, d->lambda, step_length(solver), true, true);
}

poise_outcome pz_auto_run(poise_solver *solver)
{
    pz_damped *d = solver->method;
    poise_outcome outcome;
    bool falls_fast = true, fresh = true, first = true, is_minimum = false;
    int escapes = ESCAPES;
    pz_damped_begin(d, solver);
    for (;;) {
        if (fresh && is_done(solver, d, is_minimum, &escapes, &outcome)) {
            return outcome;
        }
        if (fresh) {
            pz_damped_refresh(d, solver, first);
            first = false;
        }
        bool exact = !falls_fast, wants_exact = exact;
        double before = solver->at->cost, gain = -1.0, lambda = d->lambda;
        bool accepted = pz_damped_step(solver, d, &exact) && pz_damped_try(solver, d, exact, &gain);
        falls_fast = accepted && solver->at->cost < PZ_FALLS_FAST * before;
        is_minimum = accepted && exact;
        fresh = accepted;
        bool can_move = pz_damped_adapt(d, accepted, gain);
        bool more = pz_count_iteration(solver, lambda, step_length(solver), accepted, exact);
        bool is_stuck = (!accepted && d->is_flat) || !can_move;
        bool is_slow = wants_exact && solver->at->cost > PZ_SLOW * before;
        if ((is_slow || is_stuck) && !exact && more && escapes > 0) {
            escapes -= 1;
            if (pz_damped_escape(solver, d)) {
                more = pz_count_iteration(solver, d->lambda, step_length(solver), true, true);
                fresh = falls_fast = can_move = accepted = true;
            }
        }
        if (!accepted && d->is_flat) {
            solver->report.reason = "no direction within the limits comes closer";
            return POISE_OUTCOME_CLOSEST;
        }
        if (!can_move) {
            solver->report.reason = "steps no longer change the cost";
            return POISE_OUTCOME_STALLED;
        }
        if (!more) {
            return accepted && pz_is_done(solver, &outcome) ? outcome : POISE_OUTCOME_BUDGET;
        }
    }
}
