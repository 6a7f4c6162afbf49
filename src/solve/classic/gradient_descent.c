// GRADIENT_DESCENT: q <- q - tau p, p the projected gradient, tau by backtracking.
//
// The search along the projected path q(t) takes the first length that lowers the cost enough (Armijo 1966; within limits:
// D. Bertsekas, "On the Goldstein-Levitin-Polyak gradient projection method", 1976); see line_search.c. It begins with
// twice the last tau, so that tau can grow as well as shrink, and at first with the length at which the Gauss-Newton model
// is least along p (options.damping > 0: with that). The cost never rises.
#include "solve/methods.h"
#include "solve/rows/residual_rows.h"

#include "solve/classic/line_search.h"

#define GROWTH 2.0

void *pz_gradient_descent_lay_out(poise_solver *solver, pz_arena *arena)
{
    pz_line blank = {0}, *line = pz_arena_take(arena, 1, sizeof *line);
    pz_line_lay_out(line ? line : &blank, solver, arena);
    return line;
}

poise_outcome pz_gradient_descent_run(poise_solver *solver)
{
    pz_line *line = solver->method;
    int nv = solver->model->nv;
    double tau = 0.0;
    bool more = true;
    poise_outcome outcome;
    while (!pz_is_done_afresh(solver, &outcome)) {
        if (!more) {
            solver->report.why = POISE_WHY_BUDGET;
            return POISE_OUTCOME_BUDGET;
        }
        if (tau == 0) {
            tau = solver->options.damping > 0 ? solver->options.damping
                                              : pz_transpose_length(solver, line->direction, line->taken);
            tau = tau > 0 ? tau : 1.0;
        }
        for (int i = 0; i < nv; ++i) {
            line->direction[i] = -tau * solver->gradient[i];
        }
        bool taken = pz_line_search(solver, line, PZ_LINE_ARMIJO);
        tau *= line->t;
        more = pz_count_iteration(solver, tau, pz_largest(line->taken, nv), taken, false);
        if (!taken) {
            return pz_stuck_outcome(solver, false);
        }
        tau *= GROWTH;
    }
    return outcome;
}
