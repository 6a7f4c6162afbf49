// LEVENBERG_MARQUARDT: damped Gauss-Newton.
//
//   (J^T J + lambda D) x = -J^T r
//
// K. Levenberg, "A method for the solution of certain non-linear problems in least squares", 1944; D. Marquardt, "An
// algorithm for least-squares estimation of nonlinear parameters", 1963; for skeletons Erleben & Andrews, "Solving inverse
// kinematics using exact Hessian matrices", 2019, section 6, where the residual is r = goal - effector, hence J of the other
// sign. J^T J is the objective's Gauss-Newton Hessian, the system is solved by the tree step in O(N), and metric, active set
// and the control of lambda are those of AUTO.
#include "solve/damped_step.h"
#include "solve/methods.h"

void *pz_levenberg_marquardt_lay_out(poise_solver *solver, pz_arena *arena)
{
    return pz_damped_lay_out(solver, arena);
}

poise_outcome pz_levenberg_marquardt_run(poise_solver *solver)
{
    pz_damped *d = solver->method;
    poise_outcome outcome;
    bool accepted = true, first = true;
    d->damping = pz_damping_begin(&solver->options);
    for (;;) {
        if (accepted && pz_is_done(solver, &outcome)) {
            return outcome;
        }
        if (accepted) {
            pz_damped_refresh(d, solver, first);
            first = false;
        }
        pz_trial trial;
        pz_damped_step(solver, d, false, &trial);
        accepted = pz_damped_judge(solver, d, pz_damped_evaluate(solver, d), &trial);
        d->damping = pz_damping_after(d->damping, &trial);
        if (pz_is_stuck(&trial, d->damping)) {
            return pz_stuck_outcome(solver, pz_is_flat(&trial));
        }
        if (solver->iterations_left == 0) {
            return accepted && pz_is_done(solver, &outcome) ? outcome : POISE_OUTCOME_BUDGET;
        }
    }
}
