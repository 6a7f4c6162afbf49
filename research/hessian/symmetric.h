// Symmetric matrices of experiments: row-major, n x n, the caller's memory.
#ifndef RESEARCH_SYMMETRIC_H
#define RESEARCH_SYMMETRIC_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// x <- A^-1 x by Cholesky's factor, which takes the place of A. False when A is not positive definite.
bool symmetric_solve(int n, double *A, double *x);

// Eigenvalues in ascending order to w (n numbers), by the rotations of Jacobi; A is spoilt.
void symmetric_eigenvalues(int n, double *A, double *w);

#ifdef __cplusplus
}
#endif

#endif
