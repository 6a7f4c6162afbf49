// Quadratic programs with few active rows, solved in the dual.
//
//   min 1/2 x.M x + g.x      J_i x + c_i >= 0,  = 0 for equalities,      lower <= x <= upper
//
// M = L^T L is factored once. Each row that becomes active costs half a back-substitution, Z_i = L^-T J_i^T,
// which is as sparse as the branches that the row moves; the rest is the k x k problem
//
//   min 1/2 mu.S mu + b.mu,  mu >= 0 for inequalities        S = Z^T Z,  b = c + J x0,  x0 = -M^-1 g,  x = x0 + L^-1 Z mu
//
// by an active set (C. Lawson & R. Hanson, "Solving Least Squares Problems", 1974, chapter 23) with a Cholesky factor of its
// part of S that is updated. A row that depends on those in use takes the place of one of them; where none can give way, the
// rows contradict each other, and it is left out. So are equalities that nothing but the digits of a
// file makes independent of each other (`noise`).
#ifndef PZ_SOLVE_DUAL_H
#define PZ_SOLVE_DUAL_H

#include "base/arena.h"
#include "num/real.h"

// Cholesky from the last row to the first, M = L^T L, with zeros skipped.
//
// Degrees of freedom are numbered from the root on, so that this takes the leaves first. What only couples along branches,
// as the Hessians of skeletons and closed mechanisms mostly do, then stays as sparse as it was (R. Featherstone, "Efficient
// factorization of the joint-space inertia matrix for branched kinematic trees", 2005). Zeros are found in the numbers:
// loops and pairs of shapes may couple anything.
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

#define PZ_DUAL_DEPENDENT 1e-10 // a row depends on those in use if its pivot is below this share of S_ii
#define PZ_DUAL_AGREES    1e-9  // what x may lack of a row that was left out

typedef struct pz_dual {
    // the problem: the caller's
    int nv;
    int row_count;
    const double *J;         // row_count x nv
    const double *c;         // row_count
    const bool *is_equality; // row_count
    const double *noise;     // row_count; NULL: none: what is left of J_i^2 of an equality that depends on others, in spans
    const double *lower, *upper; // nv: how far the step may go
    const double *g;             // nv
    const pz_leaf_factor *L;     // of M; NULL: M is diag(D)
    const double *D;             // nv
    const double *span;          // nv: what a step of 1 is measured by, the unit of length for slides
    double soften;               // rows broken by more than `deep` get this share on their S_ii
    double deep;
    double slack;  // what x may lack of an inequality or a bound, in its span
    double agrees; // what x may lack of an equality that was left out
    // the answer
    double *x;          // nv
    bool is_consistent; // x holds every row and bound
    // rows that have been active; ids: rows first, then lower and upper of each dof
    int capacity, size;
    int *id;
    double *mu;     // by place; 0 when not in use
    double *b, *Z;  // size, size x nv
    int *support;   // size x nv: where a row of Z is not zero,
    int *spread;    // size: in how many places
    double *S;      // capacity x capacity, lower triangle
    int used_count; // places in use, in the order of the factor
    int *used;
    double *F;           // capacity x capacity: factor of S over them
    double *z;           // capacity
    double *x0, *sum;    // nv
    unsigned char *mark; // by id: 1 in the set, 2 left out
    int most_ids;
} pz_dual;

void pz_dual_lay_out(pz_dual *d, int nv, int most_rows, pz_arena *arena);

// Solve, trying the `hint_count` rows of `hints` (ids) first; equalities come before them.
void pz_dual_solve(pz_dual *d, const int *hints, int hint_count);

// The step of least length in M's metric that changes the value of every row in use by -c[row]; bounds keep theirs. Into x.
void pz_dual_correct(pz_dual *d, const double *c, double *x);

// Was a row left out of the last program?
bool pz_dual_left_out(const pz_dual *d, int row);

static inline int pz_dual_lower_id(const pz_dual *d, int dof)
{
    return d->row_count + 2 * dof;
}

#endif
