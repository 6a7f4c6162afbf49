// Where a solver makes room for constraints (within.h).
#ifndef PZ_SOLVE_WITHIN_ENTRY_H
#define PZ_SOLVE_WITHIN_ENTRY_H

#include "base/build.h"
#include "solve/solver_state.h"

#if PZ_HAS_CONSTRAINTS

// Room for the constraints of a call, as the options ask for; NULL when they do not, or when it is only counted.
struct pz_within *pz_within_lay_out(const poise_solver *solver, pz_arena *arena);

#else

static inline struct pz_within *pz_within_lay_out(const poise_solver *solver, pz_arena *arena)
{
    (void)solver, (void)arena;
    return NULL;
}

#endif

#endif
