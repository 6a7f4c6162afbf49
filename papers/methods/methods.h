// What the methods of the literature share: their rows, the search along a direction, and parts that tests look at alone.
#ifndef PZ_PAPERS_METHODS_H
#define PZ_PAPERS_METHODS_H

#include <poise/papers.h>

#include "num/dense.h"
#include "num/real.h"

// ---- The rows of the methods ---------------------------------------------------------------------------------------------

extern const poise_method_engine pz_gradient_descent_engine, pz_jacobian_transpose_engine, pz_conjugate_gradient_engine,
    pz_bfgs_engine, pz_lbfgs_engine, pz_newton_engine, pz_trust_region_engine; // by gradients and Hessians
extern const poise_method_engine pz_pseudo_inverse_engine, pz_damped_least_squares_engine,
    pz_selectively_damped_engine;                                                 // by residual rows
extern const poise_method_engine pz_ccd_engine, pz_bwcd_engine, pz_fabrik_engine; // joint by joint

// ---- Search along a direction within the limits (methods.c) --------------------------------------------------------------
//
// What BFGS, LBFGS, CONJUGATE_GRADIENT, NEWTON and GRADIENT_DESCENT share.

#define PZ_FLAT 1e-15 // a share of the cost that its own rounding hides

typedef struct pz_line {
    double *direction; // nv
    double *taken;     // nv: the step behind the last point tried
    double *velocity;  // nv: of the path at that point
    double *D;         // nv: the metric, a scale for steps (calls.metric)
    bool *hold;        // nv: dofs that the method's matrix leaves out (pz_line_hold)
    double *q_trial;   // nq
    double t;          // length of the step, in directions
    bool has_jumped;   // a rotation vector changed its form on the way: old and new coordinates have nothing in common
} pz_line;

typedef enum pz_wolfe {
    PZ_LINE_ARMIJO = 0, // sufficient decrease: backtracking only
    PZ_LINE_WEAK_WOLFE  // and a slope that has risen enough
} pz_wolfe;

void pz_line_lay_out(pz_line *line, const poise_method_run *run, poise_method_memory *memory);

// Choose the dofs that a direction treats one by one, and set their direction: 0 for locked dofs and those at a bound that
// descent would leave; -g_i/D_i for those about to reach it. Returns how many are held.
int pz_line_hold(const poise_method_run *run, pz_line *line);

// Walk along line->direction from the current point. True: the current point is now one that meets the conditions. False:
// none was found that lowers the cost; nothing has changed.
bool pz_line_search(poise_method_run *run, pz_line *line, pz_wolfe conditions);

// ---- A step within a trust region (trust_region.c) -----------------------------------------------------------------------

// m(s) = g . s + s . M s/2
typedef struct pz_quadratic {
    int n;
    void (*multiply)(const void *user, const double *x, double *y); // y = M x
    const void *user;
    const double *g;
    const pz_band *factor; // L of the preconditioner L L^T; NULL: none
} pz_quadratic;

typedef enum pz_cg_end {
    PZ_CG_CONVERGED = 0, // the residual is small
    PZ_CG_BOUNDARY,      // the path left the region
    PZ_CG_NEGATIVE,      // a direction of negative curvature was followed to the boundary
    PZ_CG_BUDGET
} pz_cg_end;

// Minimise m approximately over |s| <= radius: s has n numbers, work 4 n. Stops when the preconditioned residual has fallen
// by `tolerance`, and after `most` iterations. *iterations (may be NULL) counts products with M.
pz_cg_end pz_steihaug(const pz_quadratic *m, double radius, double tolerance, int most, double *work, double *s,
                      int *iterations);

// The tau >= 0 with |s + tau p| = radius, for |s| <= radius; 0 when p is.
double pz_to_boundary(const double *s, const double *p, double radius, int n);

// ---- Matrices ------------------------------------------------------------------------------------------------------------

// Update the inverse B (n x n, symmetric) so that B y = s; work has n numbers (bfgs.c). False, with B as it was, when s . y
// is too small beside s and y for B to stay positive definite.
bool pz_bfgs_update(int n, const double *s, const double *y, double *B, double *work);

// A <- the positive semidefinite matrix nearest to the symmetric A (n x n) in the Frobenius norm (newton.c). V has
// n n numbers and receives the eigenvectors by rows, w their eigenvalues in A, ascending; work has n numbers. False when the
// eigenvalues cannot be found.
bool pz_nearest_semidefinite(int n, double *A, double *V, double *w, double *work);

#endif
