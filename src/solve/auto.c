// AUTO: exact Newton where the Hessian is positive definite, Gauss-Newton elsewhere, one damping for both.
//
// Each iteration solves (H + lambda D) x = -g over the free dofs with the tree step, H exact if H + lambda D is positive
// definite, else Gauss-Newton with the same lambda, which always is. Metric, active set and the control of lambda are those
// of damped.c. While the cost falls fast the exact Hessian is not worth a try: it is indefinite there.
#include "solve/arm.h"
#include "solve/damped.h"
#include "solve/methods.h"

void *pz_auto_lay_out(poise_solver *solver, pz_arena *arena)
{
    pz_damped blank, *scratch = pz_arena_take(arena, 1, sizeof *scratch);
    pz_damped_lay_out(scratch ? scratch : &blank, solver, arena);
    solver->arm = pz_arm_lay_out(solver, arena);
    return scratch;
}

poise_outcome pz_auto_run(poise_solver *solver)
{
    pz_damped *d = solver->method;
    poise_outcome outcome;
    bool falls_fast = true, fresh = true, first = true;
    pz_damped_begin(d, solver);
    for (;;) {
        if (fresh && pz_is_done(solver, &outcome)) {
            return outcome;
        }
        if (fresh) {
            pz_damped_refresh(d, solver, first);
            first = false;
        }
        bool exact = !falls_fast;
        double before = solver->at->cost, gain = -1.0, lambda = d->lambda;
        bool accepted = pz_damped_step(solver, d, &exact) && pz_damped_try(solver, d, exact, &gain);
        falls_fast = accepted && solver->at->cost < PZ_FALLS_FAST * before;
        fresh = accepted;
        bool can_move = pz_damped_adapt(d, accepted, gain);
        bool more = pz_count_iteration(solver, lambda, pz_largest(solver->step, solver->model->nv), accepted, exact);
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
