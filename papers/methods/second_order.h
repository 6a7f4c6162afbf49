// Parts of the second-order methods that stand on their own: a trust-region step by conjugate gradients, the BFGS update, the nearest positive semidefinite matrix.
#ifndef PZ_PAPERS_SECOND_ORDER_H
#define PZ_PAPERS_SECOND_ORDER_H

#include "num/dense.h"

// ---- Trust region (trust_region.c) ---------------------------------------------------------------------------------------

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

// ---- Matrices of directions ----------------------------------------------------------------------------------------------

// Update the inverse B (n x n, symmetric) so that B y = s; work has n numbers (bfgs.c). False, with B as it was, when s . y
// is too small beside s and y for B to stay positive definite.
bool pz_bfgs_update(int n, const double *s, const double *y, double *B, double *work);

// A <- the positive semidefinite matrix nearest to the symmetric A (n x n) in the Frobenius norm (newton.c). V has
// n n numbers and receives the eigenvectors by rows, w their eigenvalues in A, ascending; work has n numbers. False when the
// eigenvalues cannot be found.
bool pz_nearest_semidefinite(int n, double *A, double *V, double *w, double *work);

#endif
