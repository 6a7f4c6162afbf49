// Cholesky from the last row to the first, M = L^T L, with zeros skipped.
//
// Degrees of freedom are numbered from the root on, so that this takes the leaves first. What only couples along branches,
// as the Hessians of skeletons and closed mechanisms mostly do, then stays as sparse as it was (R. Featherstone, "Efficient
// factorization of the joint-space inertia matrix for branched kinematic trees", 2005). Zeros are found in the numbers:
// loops and pairs of shapes may couple anything.
#ifndef PZ_SOLVE_LEAF_FACTOR_H
#define PZ_SOLVE_LEAF_FACTOR_H

#include "base/arena.h"

typedef struct pz_leaf_factor {
    int n;
    double *L;   // n x n: the lower triangle of M, then L with 1/L_kk on the diagonal
    int *column; // n x n: where row k is not zero, left of the diagonal
    int *count;  // n: in how many places
} pz_leaf_factor;

void pz_leaf_factor_lay_out(pz_leaf_factor *f, int n, pz_arena *arena);

// Factor what is in L. False, with L spoilt, when M is not positive definite.
bool pz_leaf_factor_make(pz_leaf_factor *f);

// The two halves of M^-1 = L^-1 L^-T: x <- L^-T x, sparse where x is, and x <- L^-1 x.
void pz_leaf_factor_up(const pz_leaf_factor *f, double *x);
void pz_leaf_factor_down(const pz_leaf_factor *f, double *x);

#endif
