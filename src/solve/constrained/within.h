// Solving within constraints: sequential quadratic programming with the goals' exact Hessian.
//
//   min f(q)   s.t.  c_i(q) >= 0,  h_j(q) = 0,  limits
//
// Each iteration solves a quadratic program (dual.h) for the step, with M the Hessian of the Lagrangian, damped, where
// that is positive definite on the null space of the active rows A:
//
//   M = H_f - sum mu_i d2c_i + lambda D + sum over A of sigma J^T J          g = df/dq + sum over A of sigma c J
//
// with the multipliers mu of the last step (the sigma terms change nothing about a step that keeps A active); elsewhere
// M = H_GaussNewton + lambda D. The step is judged by the merit f + nu (sum |h| + sum max(0, -c)).
#ifndef PZ_SOLVE_WITHIN_H
#define PZ_SOLVE_WITHIN_H

#include "solve/constrained/dual.h"
#include "solve/constrained/rows.h"
#include "solve/constrained/within_entry.h"
#include "solve/tree/auto_policy.h"

// A row, or the limit of a dof, that was active in the last step.
typedef struct pz_hint {
    int constraint, item, part; // constraint < 0: a limit; `item` is its dof, `part` 1 for the upper
    double mu;
} pz_hint;

typedef struct pz_within {
    pz_constraints constraints;
    pz_rows at, trial;
    pz_dual dual;
    pz_damping damping;
    double nu;
    double *J, *c; // of the rows at the current point
    bool *is_equality;
    double *c_trial;              // of the same rows at the trial
    double *noise;                // what may be left of a row of a loop that depends on others
    bool *is_noise;               // by row of a loop: the last program left it out as such
    double *exact, *gauss_newton; // nv x nv: Hessians of the current point
    bool has_exact, has_gauss_newton;
    pz_leaf_factor factor; // of M
    double *D, *g;         // nv
    double *span;          // nv: 1, or the unit of length where a dof slides
    double *lower, *upper, *correction;
    double *q_trial;
    int hint_count;
    pz_hint *hints;
    int *hint_ids;
    // over all starts
    bool is_surveyed; // `at` has the rows of the answer already, and:
    double clearance; // the least distance of its pairs
    bool has_held;    // a point that holds everything was seen; the best of them:
    double held_cost;
    bool held_reaches, held_is_tight;
    int in_way, in_way_item; // the constraint, and its item, broken most where the goals alone were met; POISE_NONE
    bool misses_goals;       // the search for several tips found nothing, and is not tried again
    double *q_held;
    double least_worst; // the point that breaks least
    double *q_least;
    double base_merit; // the end that restarts begin from
    double *q_base;
    double *q_start;      // where the current run begins
    unsigned char *marks; // by joint: what it moves
} pz_within;

// Remember the current point where it is the best so far.
void pz_within_note(const poise_solver *solver, pz_within *w);

// Improve solver->at, where the rows are known. With `may_drop` a run that comes to nothing ends early.
poise_outcome pz_within_run(poise_solver *solver, pz_within *w, bool may_drop);

// Steps of least length that mend what is broken at the current point, at most so many. True: everything holds there.
bool pz_within_mend(poise_solver *solver, pz_within *w, int steps);

// One more step that closes loops which are closed to the tolerance as far as rounding allows. True: the current point is
// such an answer, and still meets the goals if it did.
bool pz_within_close_fully(poise_solver *solver, pz_within *w);

// Does everything hold at the current point?
bool pz_within_holds(const poise_solver *solver, const pz_rows *rows);

#endif
