// Where a solver makes room for constraints (within.h).
#ifndef PZ_SOLVE_WITHIN_ENTRY_H
#define PZ_SOLVE_WITHIN_ENTRY_H

#include "solve/solver_state.h"

// Room for the constraints of a call, as the options ask for; NULL when they do not, or when it is only counted.
struct pz_within *pz_within_lay_out(const poise_solver *solver, pz_arena *arena);

#endif
