// Small dense matrices: row-major, n x n unless said, caller's memory, no pivot search that depends on rounding luck.
// For the sizes of a skeleton (up to a few hundred). Every routine is deterministic: plain loops in a fixed order.
#ifndef PZ_NUM_DENSE_H
#define PZ_NUM_DENSE_H

#include "num/real.h"

#include <stdbool.h>
#include <stddef.h>

// Sum of a_k b_k in four interleaved parts: a fixed order that still fills the pipeline.
PZ_FN double dense_dot(int n, const double *a, const double *b)
{
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
    int k = 0;
    for (; k + 4 <= n; k += 4) {
        s0 += a[k] * b[k];
        s1 += a[k + 1] * b[k + 1];
        s2 += a[k + 2] * b[k + 2];
        s3 += a[k + 3] * b[k + 3];
    }
    for (; k < n; ++k) {
        s0 += a[k] * b[k];
    }
    return (s0 + s1) + (s2 + s3);
}

// Sum of a_k b_k, one after the other.
PZ_FN double pz_dot(const double *a, const double *b, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

// Largest |component|.
PZ_FN double pz_largest(const double *x, int n)
{
    double largest = 0.0;
    for (int i = 0; i < n; ++i) {
        largest = max2(largest, fabs(x[i]));
    }
    return largest;
}

// y <- y + f x.
PZ_FN void dense_add_scaled(int n, double f, const double *restrict x, double *restrict y)
{
    for (int k = 0; k < n; ++k) {
        y[k] += f * x[k];
    }
}

// A = L L^T in place: the lower triangle becomes L, the rest is left alone. Only the lower triangle is read. False, with A
// spoilt, when a pivot is not > 0: A is not positive definite (to rounding).
bool pz_cholesky(int n, double *A);

// x <- (L L^T)^-1 x.
void pz_cholesky_solve(int n, const double *L, double *x);

// A = L D L^T in place without pivoting: unit lower triangle L below the diagonal, D on it. Only the lower triangle is read.
// Returns the number of negative pivots; -1 when a pivot is 0 or not finite.
int pz_ldlt(int n, double *A);
void pz_ldlt_solve(int n, const double *LD, double *x);

// Householder QR of A (m x n, m >= n) in place: R in the upper triangle, the reflectors below with their factors in tau[n].
void pz_qr(int m, int n, double *A, double *tau);

// x <- Q^T x (m numbers); then the least-squares solution of R y = x[0..n) is written to y. False, y untouched, when R is
// singular to rounding: a number on its diagonal is not above m eps times the largest there.
bool pz_qr_solve(int m, int n, const double *QR, const double *tau, double *x, double *y);

// Eigenvalues in ascending order to w[n]; with vectors, A's rows become the eigenvectors (row i belongs to w[i]). Only the
// lower triangle is read. work has n numbers. Errors are of the size n eps |A|. False when a number is not finite, or when
// it does not converge (never seen; a bound on the steps).
bool pz_symmetric_eigen(int n, double *A, double *w, bool vectors, double *work);

// A (m x n, m >= n) = U diag(s) V^T by one-sided Jacobi: A becomes U (m x n), s descending, V (n x n) row-major. The columns
// of U and V are orthonormal, also where s is 0. Small singular values are accurate too, as far as those of A with columns
// scaled to equal length. False when a number is not finite, or when it does not converge within its sweeps (never seen).
bool pz_svd(int m, int n, double *A, double *s, double *V);

// ---- Bands ---------------------------------------------------------------------------------------------------------------

// A symmetric matrix of which entries up to `half` off the diagonal are kept: row i holds (i, i - half) .. (i, i), half + 1
// numbers; those left of column 0 are 0.
typedef struct pz_band {
    int n, half;
    double *rows; // n (half + 1)
} pz_band;

// Row i, indexed by column: (i, j) for i - half <= j <= i; and the first such j that is a column.
PZ_FN double *band_row(const pz_band *band, int i)
{
    return band->rows + (size_t)(i + 1) * (size_t)band->half;
}

PZ_FN int band_first(const pz_band *band, int i)
{
    return i > band->half ? i - band->half : 0;
}

// A = L L^T in place. False, with A spoilt, when a pivot is not > 0.
bool pz_band_cholesky(pz_band *A);

// x <- (L L^T)^-1 x.
void pz_band_solve(const pz_band *L, double *x);

#endif
