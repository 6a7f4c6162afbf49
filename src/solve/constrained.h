// Where a solver makes room for constraints (constrained.c).
#ifndef PZ_SOLVE_CONSTRAINED_H
#define PZ_SOLVE_CONSTRAINED_H

#include "solve/solver_state.h"

// Room for the constraints of a call, as the options ask for; NULL when they do not, or when it is only counted.
struct pz_constrained *pz_constrained_lay_out(const poise_solver *solver, pz_arena *arena);

#endif
