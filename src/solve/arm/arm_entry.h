// Where poise_solve enters the path for robot arms (arm.h).
#ifndef PZ_SOLVE_ARM_ENTRY_H
#define PZ_SOLVE_ARM_ENTRY_H

#include "solve/solver_state.h"

typedef struct pz_arm pz_arm;

pz_arm *pz_arm_lay_out(const poise_solver *solver, pz_arena *arena);

// Solve the whole call, restarts included, into solver->q_best, with solver->at evaluated there or the answer measured, and
// the report filled as run_all does. False, with nothing done: this is not one pose goal on such a chain.
bool pz_arm_solve(poise_solver *solver);

// All distinct solutions that options.restarts searches find, nearest to solver->q_start first, into rows of nq numbers; the
// first is in solver->q_best, too. Without any, as pz_arm_solve. False as there.
bool pz_arm_solve_all(poise_solver *solver, double *solutions, int capacity, int *count);

#endif
