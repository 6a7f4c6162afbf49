// GRADIENT_DESCENT: q <- q - tau p, p the projected gradient, tau by backtracking.
//
// The search along the projected path q(t) takes the first length that lowers the cost enough (Armijo 1966; within limits:
// D. Bertsekas, "On the Goldstein-Levitin-Polyak gradient projection method", 1976); see line_search.c. It begins with
// twice the last tau, so that tau can grow as well as shrink, and at first with the length at which the Gauss-Newton model
// is least along p (options.damping > 0: with that). The cost never rises.
#include "papers/methods/engines.h"

#include "papers/methods/line_search.h"

#define GROWTH 2.0

static void *lay_out(const poise_method_run *run, poise_method_memory *memory)
{
    pz_line blank = {0}, *line = run->call->take(memory, 1, sizeof *line);
    pz_line_lay_out(line ? line : &blank, run, memory);
    return line;
}

static poise_outcome solve(poise_method_run *run)
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
            tau = run->options->damping > 0 ? run->options->damping : pz_transpose_length(run, line->direction, line->taken);
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

const poise_method_engine pz_gradient_descent_engine = {.name = "gradient_descent", .lay_out = lay_out, .run = solve};
