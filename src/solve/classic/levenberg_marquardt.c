// LEVENBERG_MARQUARDT: damped Gauss-Newton.
//
//   (J^T J + lambda D) x = -J^T r
//
// K. Levenberg, "A method for the solution of certain non-linear problems in least squares", 1944; D. Marquardt, "An
// algorithm for least-squares estimation of nonlinear parameters", 1963; for skeletons Erleben & Andrews, "Solving inverse
// kinematics using exact Hessian matrices", 2019, section 6, where the residual is r = goal - effector, hence J of the other
// sign. J^T J is the objective's Gauss-Newton Hessian, the system is solved by the tree step in O(N), and metric, active set
// and the control of lambda are those of damped.c.
#include "solve/methods.h"
#include "solve/tree/damped_step.h"

void *pz_levenberg_marquardt_lay_out(poise_solver *solver, pz_arena *arena)
{
    pz_damped blank = {0}, *scratch = pz_arena_take(arena, 1, sizeof *scratch);
    pz_damped_lay_out(scratch ? scratch : &blank, solver, arena);
    return scratch;
}

poise_outcome pz_levenberg_marquardt_run(poise_solver *solver)
{
    pz_damped *d = solver->method;
    poise_outcome outcome;
    bool fresh = true, first = true;
    pz_damped_begin(d, solver);
    for (;;) {
        if (fresh && pz_is_done(solver, &outcome)) {
            return outcome;
        }
        if (fresh) {
            pz_damped_refresh(d, solver, first);
            first = false;
        }
        double gain = -1.0, lambda = d->lambda;
        bool accepted = pz_damped_step(solver, d) && pz_damped_try(solver, d, &gain);
        fresh = accepted;
        bool can_move = pz_damped_adapt(d, accepted, gain);
        bool more = pz_count_iteration(solver, lambda, pz_largest(solver->step, solver->model->nv), accepted, false);
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
