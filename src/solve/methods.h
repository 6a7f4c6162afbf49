// The methods of this library, one pair of functions each: the rows of method.c.
#ifndef PZ_SOLVE_METHODS_H
#define PZ_SOLVE_METHODS_H

#include "solve/auto_policy.h"

void *pz_auto_lay_out(poise_solver *solver, pz_arena *arena);
poise_outcome pz_auto_run(poise_solver *solver);

// The body of AUTO's loop, for callers with several runs under way: begin at solver->at; then a step, its evaluation
// (pz_damped_evaluate), and the judgement of its cost. False: the run has ended, with a->outcome.
void pz_auto_begin(poise_solver *solver, pz_auto *a);
bool pz_auto_step(poise_solver *solver, pz_auto *a);
bool pz_auto_judge(poise_solver *solver, pz_auto *a, double cost);

void *pz_levenberg_marquardt_lay_out(poise_solver *solver, pz_arena *arena);
poise_outcome pz_levenberg_marquardt_run(poise_solver *solver);

void *pz_priority_lay_out(poise_solver *solver, pz_arena *arena);
poise_outcome pz_priority_run(poise_solver *solver);

// Of methods over rows: has every goal rows, and do they fit? And of those with levels: is this end better?
poise_status pz_rows_check(poise_solver *solver);
bool pz_rows_improve(poise_solver *solver, bool first);

#endif
