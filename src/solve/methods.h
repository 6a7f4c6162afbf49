// The functions behind the rows of the method table, one pair per file.
#ifndef PZ_SOLVE_METHODS_H
#define PZ_SOLVE_METHODS_H

#include "solve/solver_state.h"

PZ_DEVICE void *pz_auto_lay_out(poise_solver *solver, pz_arena *arena);
PZ_DEVICE poise_outcome pz_auto_run(poise_solver *solver);

// AUTO by what it asks for, for callers with several runs under way: begin at solver->at; then give it what it asks for and
// advance, until one of the two says that the run has ended, and how.
typedef enum pz_auto_ask {
    PZ_ASK_SOLVE = 0, // pz_damped_solve -> solved
    PZ_ASK_CURVE,     // pz_damped_curve -> solved
    PZ_ASK_TRIAL,     // pz_try at q_trial, at pz_auto_level -> cost; of a step
    PZ_ASK_EXIT,      // the same, of a way out of a saddle
    PZ_ASK_ARRIVAL    // the same, where that is one
} pz_auto_ask;

typedef struct pz_auto {
    pz_auto_ask ask;
    bool solved; // answers
    double cost;
    bool falls_fast;     // the last step left a small share of the cost
    bool fresh;          // the point at hand is new
    bool first;          // none was before it
    bool is_minimum;     // the step to it solved with a positive definite H
    bool wants_exact;    // the step was to be exact
    bool is_end;         // without a way out the run ends
    bool accepted, more; // the trial; the budget
    bool can_move;       // the damping is not too large
    int escapes;         // from saddles, that are left
    double before;       // cost where the step began
    double lambda;       // and its damping
} pz_auto;

static inline poise_level pz_auto_level(const pz_auto *a)
{
    return a->ask == PZ_ASK_EXIT ? POISE_LEVEL_COST : POISE_LEVEL_HESSIAN;
}

PZ_DEVICE bool pz_auto_begin(poise_solver *solver, pz_auto *a, poise_outcome *outcome);
PZ_DEVICE bool pz_auto_advance(poise_solver *solver, pz_auto *a, poise_outcome *outcome);

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

void *pz_geometric_lay_out(poise_solver *solver, pz_arena *arena); // of CCD and BWCD
poise_status pz_geometric_check(poise_solver *solver);
poise_outcome pz_ccd_run(poise_solver *solver);
poise_outcome pz_bwcd_run(poise_solver *solver);

void *pz_fabrik_lay_out(poise_solver *solver, pz_arena *arena);
poise_status pz_fabrik_check(poise_solver *solver);
poise_outcome pz_fabrik_run(poise_solver *solver);

#endif
