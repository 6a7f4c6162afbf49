// GRADIENT_DESCENT and JACOBIAN_TRANSPOSE: steps along the projected gradient p. They differ in how long a step is.
//
//   GRADIENT_DESCENT      q <- q - tau p, tau by backtracking
//   JACOBIAN_TRANSPOSE    q <- q - alpha p, alpha where the linear model of the goals is least; no line search
//
// Both know the length alpha: with e = -r the gradient is J^T r = -J^T e, and
//
//   alpha = <e, J J^T e>/<J J^T e, J J^T e>         the least |J x - e| along J^T e (Ribeiro & Paiva 2019, eq. 4)
//         = p . p/(p . G p)                         G = J^T J the Gauss-Newton Hessian: no rows are needed, and every kind of
//                                                   goal will do; p leaves out the columns of held dofs
//
// The cost never rises with either.
#include "papers/methods/methods.h"

#define GROWTH 2.0 // of tau, from step to step
#define TRIALS 9   // of the transpose: lengths 1, 1/2, 1/8, .. 2^-36

// alpha at the current point; 0 when the model has no curvature along p. It does not depend on the length of p: with the
// largest component 1, nothing overflows. p and Gp are scratch, nv numbers each.
static double transpose_length(const poise_method_run *run, double *p, double *Gp)
{
    int nv = run->nv;
    double largest = pz_largest(run->projected, nv);
    for (int i = 0; i < nv; ++i) {
        p[i] = largest > 0 ? run->projected[i] / largest : 0.0;
    }
    poise_objective_multiply(run->at.objective, POISE_HESSIAN_GAUSS_NEWTON, p, Gp, NULL);
    double curvature = pz_dot(p, Gp, nv), alpha = curvature > 0 ? pz_dot(p, p, nv) / curvature : 0.0;
    return is_finite(alpha) ? alpha : 0.0;
}

// ---- GRADIENT_DESCENT ----------------------------------------------------------------------------------------------------
//
// The search along the projected path q(t) takes the first length that lowers the cost enough (Armijo 1966; within limits:
// D. Bertsekas, "On the Goldstein-Levitin-Polyak gradient projection method", 1976); see methods.c. It begins with
// twice the last tau, so that tau can grow as well as shrink, and at first with alpha (options.damping > 0: with that).

static void *descent_lay_out(const poise_method_run *run, poise_method_memory *memory)
{
    pz_line blank = {0}, *line = run->call->take(memory, 1, sizeof *line);
    pz_line_lay_out(line ? line : &blank, run, memory);
    return line;
}

static poise_outcome descent_run(poise_method_run *run)
{
    pz_line *line = run->scratch;
    int nv = run->nv;
    double tau = 0.0;
    bool more = true;
    poise_outcome outcome;
    while (!run->call->is_done(run, true, &outcome)) {
        if (!more) {
            run->report->why = POISE_WHY_BUDGET;
            return POISE_OUTCOME_BUDGET;
        }
        if (tau == 0) {
            tau = run->options->damping > 0 ? run->options->damping : transpose_length(run, line->direction, line->taken);
            tau = tau > 0 ? tau : 1.0;
        }
        for (int i = 0; i < nv; ++i) {
            line->direction[i] = -tau * run->projected[i];
        }
        bool taken = pz_line_search(run, line, PZ_LINE_ARMIJO);
        tau *= line->t;
        more = run->call->count(run, tau, pz_largest(line->taken, nv), taken, false);
        if (!taken) {
            return run->call->stuck(run, false);
        }
        tau *= GROWTH;
    }
    return outcome;
}

const poise_method_engine pz_gradient_descent_engine = {
    .name = "gradient_descent", .lay_out = descent_lay_out, .run = descent_run};

// ---- JACOBIAN_TRANSPOSE --------------------------------------------------------------------------------------------------
//
// (W. Wolovich & H. Elliott 1984, A. Balestrino et al. 1984; alpha by S. Buss, "Introduction to inverse kinematics with
// Jacobian transpose, pseudoinverse and damped least squares methods", 2009.) If the cost has risen after a step, the step
// is made shorter, by 2, 8, 64, .., until it falls; the next iteration begins with alpha again.

typedef struct transpose_scratch {
    double *p, *Gp;  // nv
    double *q_trial; // nq
} transpose_scratch;

static void *transpose_lay_out(const poise_method_run *run, poise_method_memory *memory)
{
    transpose_scratch blank = {0}, *taken = run->call->take(memory, 1, sizeof *taken);
    transpose_scratch *s = taken ? taken : &blank;
    s->p = run->call->take(memory, (size_t)run->nv, sizeof *s->p);
    s->Gp = run->call->take(memory, (size_t)run->nv, sizeof *s->Gp);
    s->q_trial = run->call->take(memory, (size_t)run->nq, sizeof *s->q_trial);
    return taken;
}

// Steps of length t alpha until one lowers the cost. Returns the length taken, or 0.
static double take_step(poise_method_run *run, transpose_scratch *s)
{
    int nv = run->nv;
    double before = run->at.cost, halving = 0.5;
    double alpha = transpose_length(run, s->p, s->Gp);
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

static poise_outcome transpose_run(poise_method_run *run)
{
    poise_outcome outcome;
    bool more = true;
    while (!run->call->is_done(run, true, &outcome)) {
        if (!more) {
            run->report->why = POISE_WHY_BUDGET;
            return POISE_OUTCOME_BUDGET;
        }
        double t = take_step(run, run->scratch);
        more = run->call->count(run, t, pz_largest(run->step, run->nv), t > 0, false);
        if (t == 0) {
            return run->call->stuck(run, false);
        }
    }
    return outcome;
}

const poise_method_engine pz_jacobian_transpose_engine = {
    .name = "jacobian_transpose", .lay_out = transpose_lay_out, .run = transpose_run};
