// The baselines of Erleben & Andrews 2019 as the authors ran them, beside the product's own BFGS and LEVENBERG_MARQUARDT:
// MATLAB's fminunc with its quasi-Newton algorithm, and LMFsolve (M. Balda 2007) as their program has it. Neither knows
// limits. The coordinates must be numbers that a step adds to: no quaternions.
#ifndef PAPERS_PAPER_SOLVERS_H
#define PAPERS_PAPER_SOLVERS_H

#include <poise/poise.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum paper_solver {
    PAPER_NONE = 0,
    PAPER_BFGS, // "as fminunc"
    PAPER_LM    // "as LMFsolve"
} paper_solver;

typedef struct paper_problem {
    poise_objective *objective; // with its goals
    int n;                      // coordinates
    const bool *locked;         // n flags of coordinates that stay; NULL: none
    int max_iterations;
    double tolerance; // stop when f is below
} paper_problem;

typedef struct paper_result {
    int iterations, evaluations;
    double f;
} paper_result;

// Improve x (n numbers). `history` (may be NULL) receives f at the start and after each iteration: max_iterations + 1
// numbers. False without memory, or where f cannot be evaluated.
bool paper_solve(paper_solver solver, const paper_problem *problem, double *x, double *history, paper_result *result);

// ---- Symmetric matrices --------------------------------------------------------------------------------------------------
//
// Symmetric matrices of experiments: row-major, n x n, the caller's memory.

// x <- A^-1 x by Cholesky's factor, which takes the place of A. False when A is not positive definite.
bool symmetric_solve(int n, double *A, double *x);

// Eigenvalues in ascending order to w (n numbers), by the rotations of Jacobi; A is spoilt.
void symmetric_eigenvalues(int n, double *A, double *w);

#ifdef __cplusplus
}
#endif

#endif
