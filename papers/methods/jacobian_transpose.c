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
#include "papers/methods/engines.h"

#include "papers/methods/line_search.h"

#define TRIALS 9 // lengths 1, 1/2, 1/8, .. 2^-36

typedef struct transpose_scratch {
    double *p, *Gp;  // nv
    double *q_trial; // nq
} transpose_scratch;

static void *lay_out(const poise_method_run *run, poise_method_memory *memory)
{
    transpose_scratch blank = {0}, *taken = run->call->take(memory, 1, sizeof *taken);
    transpose_scratch *s = taken ? taken : &blank;
    s->p = run->call->take(memory, (size_t)run->nv, sizeof *s->p);
    s->Gp = run->call->take(memory, (size_t)run->nv, sizeof *s->Gp);
    s->q_trial = run->call->take(memory, (size_t)run->nq, sizeof *s->q_trial);
    return taken;
}

double pz_transpose_length(const poise_method_run *run, double *p, double *Gp)
{
    int nv = run->nv;
    double largest = pz_largest(run->projected, nv);
    for (int i = 0; i < nv; ++i) {
        p[i] = largest > 0 ? run->projected[i] / largest
                           : 0.0; // alpha does not depend on the length of p, and nothing overflows
    }
    poise_objective_multiply(run->at.objective, POISE_HESSIAN_GAUSS_NEWTON, p, Gp, NULL);
    double curvature = pz_dot(p, Gp, nv), alpha = curvature > 0 ? pz_dot(p, p, nv) / curvature : 0.0;
    return is_finite(alpha) ? alpha : 0.0;
}

// Steps of length t alpha until one lowers the cost. Returns the length taken, or 0.
static double descend(poise_method_run *run, transpose_scratch *s)
{
    int nv = run->nv;
    double before = run->at.cost, halving = 0.5;
    double alpha = pz_transpose_length(run, s->p, s->Gp);
    double t = min2(alpha > 0 ? alpha : 1.0, run->options->step_limit / pz_largest(run->projected, nv));
    for (int trial = 0; trial < TRIALS && is_finite(t); ++trial) {
        for (int i = 0; i < nv; ++i) {
            run->step[i] = -t * run->projected[i];
        }
        run->call->step_within(run, run->at.q, run->step, s->q_trial);
        if (run->call->evaluate(run, s->q_trial, POISE_LEVEL_HESSIAN) < before) {
            run->call->accept(run);
            return t;
        }
        t *= halving;
        halving *= 0.5;
    }
    return 0.0;
}

static poise_outcome solve(poise_method_run *run)
{
    poise_outcome outcome;
    bool more = true;
    while (!run->call->is_done(run, true, &outcome)) {
        if (!more) {
            run->report->why = POISE_WHY_BUDGET;
            return POISE_OUTCOME_BUDGET;
        }
        double t = descend(run, run->scratch);
        more = run->call->count(run, t, pz_largest(run->step, run->nv), t > 0, false);
        if (t == 0) {
            return run->call->stuck(run, false);
        }
    }
    return outcome;
}

const poise_method_engine pz_jacobian_transpose_engine = {.name = "jacobian_transpose", .lay_out = lay_out, .run = solve};
