// Small dense factorisations: Cholesky, L D L^T, QR. Inner loops run along rows.
#include "math/dense.h"

#include <float.h>

#include "math/dense_loops.h"

// ---- Cholesky ---------------------------------------------------------------------------------------------
//
//   L_jj = sqrt(A_jj - sum_k<j L_jk^2)          L_ij = (A_ij - sum_k<j L_ik L_jk) / L_jj,   i > j

bool pz_cholesky(int n, double *A)
{
    for (int j = 0; j < n; ++j) {
        double *Lj = row(A, n, j);
        double d = Lj[j] - dot(j, Lj, Lj);
        if (!(d > 0.0 && d <= DBL_MAX)) {
            return false;
        }
        Lj[j] = sqrt(d);
        for (int i = j + 1; i < n; ++i) {
            double *Li = row(A, n, i);
            Li[j] = (Li[j] - dot(j, Li, Lj)) / Lj[j];
        }
    }
    return true;
}

// L z = x forwards, then L^T x = z backwards by columns of L^T, which are rows of L.
void pz_cholesky_solve(int n, const double *L, double *x)
{
    for (int i = 0; i < n; ++i) {
        const double *Li = const_row(L, n, i);
        x[i] = (x[i] - dot(i, Li, x)) / Li[i];
    }
    for (int i = n - 1; i >= 0; --i) {
        const double *Li = const_row(L, n, i);
        x[i] /= Li[i];
        add_scaled(i, -x[i], Li, x);
    }
}

// ---- L D L^T ----------------------------------------------------------------------------------------------
//
//   U_ij = A_ij - sum_k<j U_ik L_jk,    L_ij = U_ij / D_j,    D_j = A_jj - sum_k<j U_jk L_jk      (U = L D)
//
// The number of negative D_j is that of the negative eigenvalues (Sylvester).

// Row j holds U_jk, k < j: divide by D_k to L_jk, and return the pivot D_j.
static double ldlt_finish_row(int n, int j, double *A)
{
    double *Lj = row(A, n, j);
    double d = Lj[j];
    for (int k = 0; k < j; ++k) {
        double u = Lj[k];
        Lj[k] = u / row(A, n, k)[k];
        d -= u * Lj[k];
    }
    return d;
}

int pz_ldlt(int n, double *A)
{
    int negative = 0;
    for (int j = 0; j < n; ++j) {
        double *Lj = row(A, n, j);
        double d = ldlt_finish_row(n, j, A);
        if (d == 0.0 || !is_finite(d)) {
            return -1;
        }
        Lj[j] = d;
        negative += d < 0.0;
        for (int i = j + 1; i < n; ++i) {
            double *Ui = row(A, n, i);
            Ui[j] -= dot(j, Ui, Lj);
        }
    }
    return negative;
}

void pz_ldlt_solve(int n, const double *LD, double *x)
{
    for (int i = 0; i < n; ++i) {
        x[i] -= dot(i, const_row(LD, n, i), x);
    }
    for (int i = 0; i < n; ++i) {
        x[i] /= const_row(LD, n, i)[i];
    }
    for (int i = n - 1; i >= 0; --i) {
        add_scaled(i, -x[i], const_row(LD, n, i), x);
    }
}

// ---- QR ---------------------------------------------------------------------------------------------------
//
// H_n .. H_2 H_1 A = R: step k reflects the rest of column k onto its first number. The other columns C become
//
//   H C = C - tau v w^T,   w^T = v^T C
//
// tau[k+1..n) is free until its step and holds w, one number for each of those columns.
void pz_qr(int m, int n, double *A, double *tau)
{
    for (int k = 0; k < n; ++k) {
        double *Ak = row(A, n, k);
        double t = reflector(m - k - 1, n, &Ak[k], &Ak[k] + n);
        int columns = n - k - 1;
        double *w = tau + k + 1;
        for (int j = 0; j < columns; ++j) {
            w[j] = Ak[k + 1 + j];
        }
        for (int i = k + 1; i < m; ++i) {
            double *Ai = row(A, n, i);
            add_scaled(columns, Ai[k], Ai + k + 1, w);
        }
        add_scaled(columns, -t, w, Ak + k + 1);
        for (int i = k + 1; i < m; ++i) {
            double *Ai = row(A, n, i);
            add_scaled(columns, -t * Ai[k], w, Ai + k + 1);
        }
        tau[k] = t;
    }
}

bool pz_qr_solve(int m, int n, const double *QR, const double *tau, double *x, double *y)
{
    for (int k = 0; k < n; ++k) {
        double w = x[k];
        for (int i = k + 1; i < m; ++i) {
            w += const_row(QR, n, i)[k] * x[i];
        }
        x[k] -= tau[k] * w;
        for (int i = k + 1; i < m; ++i) {
            x[i] -= tau[k] * w * const_row(QR, n, i)[k];
        }
    }
    // R carries errors of this size from the factorisation: a diagonal number below it says nothing about A
    double most = 0.0;
    for (int k = 0; k < n; ++k) {
        most = max2(most, fabs(const_row(QR, n, k)[k]));
    }
    for (int k = 0; k < n; ++k) {
        if (!(fabs(const_row(QR, n, k)[k]) > m * PZ_EPSILON * most)) {
            return false;
        }
    }
    for (int k = n - 1; k >= 0; --k) {
        const double *Rk = const_row(QR, n, k);
        y[k] = (x[k] - dot(n - k - 1, Rk + k + 1, y + k + 1)) / Rk[k];
    }
    return true;
}
