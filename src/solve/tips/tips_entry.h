// Where poise_solve enters the path for goals at several tips (tips.h).
#ifndef PZ_SOLVE_TIPS_ENTRY_H
#define PZ_SOLVE_TIPS_ENTRY_H

#include "solve/solver_state.h"

typedef struct pz_tips pz_tips;

pz_tips *pz_tips_lay_out(poise_solver *solver, pz_arena *arena);

// Are the goals that the solver has solved on this path?
bool pz_tips_serves(poise_solver *solver);

// Solve the whole call, restarts included, into solver->q_best, with solver->at evaluated there or the answer measured, and
// the report filled as run_all does. False, with nothing done: this path does not serve these goals.
bool pz_tips_solve(poise_solver *solver);

#endif
