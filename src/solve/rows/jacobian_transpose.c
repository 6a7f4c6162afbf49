// JACOBIAN_TRANSPOSE: x = alpha J^T e, alpha as long as the linear model likes.
//
// (W. Wolovich & H. Elliott 1984, A. Balestrino et al. 1984; alpha by S. Buss, "Introduction to inverse kinematics with
// Jacobian transpose, pseudoinverse and damped least squares methods", 2009; Ribeiro & Paiva 2019, eq. 4.)
//
//   alpha = <e, J J^T e>/<J J^T e, J J^T e>         the least |J x - e| along J^T e
//
// With e = -r the step is along the gradient g = J^T r, and G = J^T J is the Gauss-Newton Hessian, so that no rows are
// needed and every kind of goal will do:
//
//   x = -alpha p,   alpha = p . p/(p . G p)         p the projected gradient: held dofs are columns of J that are left out
//
// There is no line search. If the cost has risen nevertheless, the step is made shorter, by 2, 8, 64, .., until it falls;
// the next iteration begins with alpha again. So the cost never rises from step to step.
#include "solve/methods.h"
#include "solve/rows/residual_rows.h"

#include "solve/classic/line_search.h"

#define TRIALS 9 // lengths 1, 1/2, 1/8, .. 2^-36

typedef struct transpose_scratch {
    double *p, *Gp;  // nv
    double *q_trial; // nq
} transpose_scratch;

void *pz_jacobian_transpose_lay_out(poise_solver *solver, pz_arena *arena)
{
    transpose_scratch blank = {0}, *taken = pz_arena_take(arena, 1, sizeof *taken);
    transpose_scratch *s = taken ? taken : &blank;
    s->p = pz_arena_take(arena, (size_t)solver->model->nv, sizeof *s->p);
    s->Gp = pz_arena_take(arena, (size_t)solver->model->nv, sizeof *s->Gp);
    s->q_trial = pz_arena_take(arena, (size_t)solver->model->nq, sizeof *s->q_trial);
    return taken;
}

double pz_transpose_length(const poise_solver *solver, double *p, double *Gp)
{
    int nv = solver->model->nv;
    double largest = pz_largest(solver->gradient, nv);
    for (int i = 0; i < nv; ++i) {
        p[i] = largest > 0 ? solver->gradient[i] / largest
                           : 0.0; // alpha does not depend on the length of p, and nothing overflows
    }
    poise_objective_multiply(solver->at, POISE_HESSIAN_GAUSS_NEWTON, p, Gp, NULL);
    double curvature = pz_dot(p, Gp, nv), alpha = curvature > 0 ? pz_dot(p, p, nv) / curvature : 0.0;
    return is_finite(alpha) ? alpha : 0.0;
}

// Steps of length t alpha until one lowers the cost. Returns the length taken, or 0.
static double descend(poise_solver *solver, transpose_scratch *s)
{
    int nv = solver->model->nv;
    double before = solver->at->cost, halving = 0.5;
    double alpha = pz_transpose_length(solver, s->p, s->Gp);
    double t = min2(alpha > 0 ? alpha : 1.0, solver->options.step_limit / pz_largest(solver->gradient, nv));
    for (int trial = 0; trial < TRIALS && is_finite(t); ++trial) {
        for (int i = 0; i < nv; ++i) {
            solver->step[i] = -t * solver->gradient[i];
        }
        pz_step_within(solver, solver->at->kin.q, solver->step, s->q_trial);
        if (pz_try(solver, s->q_trial, POISE_LEVEL_HESSIAN) < before) {
            pz_accept(solver);
            return t;
        }
        t *= halving;
        halving *= 0.5;
    }
    return 0.0;
}

poise_outcome pz_jacobian_transpose_run(poise_solver *solver)
{
    poise_outcome outcome;
    bool more = true;
    while (!pz_is_done_afresh(solver, &outcome)) {
        if (!more) {
            solver->report.why = POISE_WHY_BUDGET;
            return POISE_OUTCOME_BUDGET;
        }
        double t = descend(solver, solver->method);
        more = pz_count_iteration(solver, t, pz_largest(solver->step, solver->model->nv), t > 0, false);
        if (t == 0) {
            return pz_stuck_outcome(solver, false);
        }
    }
    return outcome;
}
