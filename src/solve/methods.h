// The functions behind the rows of the method table, one pair per file.
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

void *pz_gradient_descent_lay_out(poise_solver *solver, pz_arena *arena);
poise_outcome pz_gradient_descent_run(poise_solver *solver);

void *pz_jacobian_transpose_lay_out(poise_solver *solver, pz_arena *arena);
poise_outcome pz_jacobian_transpose_run(poise_solver *solver);

void *pz_pseudo_inverse_lay_out(poise_solver *solver, pz_arena *arena);
poise_outcome pz_pseudo_inverse_run(poise_solver *solver);

void *pz_damped_least_squares_lay_out(poise_solver *solver, pz_arena *arena);
poise_outcome pz_damped_least_squares_run(poise_solver *solver);

void *pz_selectively_damped_lay_out(poise_solver *solver, pz_arena *arena);
poise_outcome pz_selectively_damped_run(poise_solver *solver);

void *pz_priority_lay_out(poise_solver *solver, pz_arena *arena);
poise_outcome pz_priority_run(poise_solver *solver);

poise_status pz_rows_check(poise_solver *solver);       // of the four above: has every goal rows, and do they fit?
bool pz_rows_improve(poise_solver *solver, bool first); // of those with levels

void *pz_levenberg_marquardt_lay_out(poise_solver *solver, pz_arena *arena);
poise_outcome pz_levenberg_marquardt_run(poise_solver *solver);

void *pz_bfgs_lay_out(poise_solver *solver, pz_arena *arena);
poise_outcome pz_bfgs_run(poise_solver *solver);

void *pz_lbfgs_lay_out(poise_solver *solver, pz_arena *arena);
poise_outcome pz_lbfgs_run(poise_solver *solver);

void *pz_trust_region_lay_out(poise_solver *solver, pz_arena *arena);
poise_outcome pz_trust_region_run(poise_solver *solver);

void *pz_newton_projected_lay_out(poise_solver *solver, pz_arena *arena);
poise_outcome pz_newton_projected_run(poise_solver *solver);

void *pz_conjugate_gradient_lay_out(poise_solver *solver, pz_arena *arena);
poise_outcome pz_conjugate_gradient_run(poise_solver *solver);

void *pz_geometric_lay_out(poise_solver *solver, pz_arena *arena); // of CCD and BWCD
poise_status pz_geometric_check(poise_solver *solver);
poise_outcome pz_ccd_run(poise_solver *solver);
poise_outcome pz_bwcd_run(poise_solver *solver);

void *pz_fabrik_lay_out(poise_solver *solver, pz_arena *arena);
poise_status pz_fabrik_check(poise_solver *solver);
poise_outcome pz_fabrik_run(poise_solver *solver);

#endif
