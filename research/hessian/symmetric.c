#include "symmetric.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#define SWEEPS 30 // six to ten are enough

bool symmetric_solve(int n, double *A, double *x)
{
    for (int i = 0; i < n; ++i) {
        double *row = A + (size_t)i * (size_t)n;
        for (int j = 0; j <= i; ++j) {
            const double *other = A + (size_t)j * (size_t)n;
            double sum = row[j];
            for (int k = 0; k < j; ++k) {
                sum -= row[k] * other[k];
            }
            if (j == i && !(sum > 0.0)) {
                return false;
            }
            row[j] = j == i ? sqrt(sum) : sum / other[j];
        }
    }
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < i; ++k) {
            x[i] -= A[(size_t)i * (size_t)n + (size_t)k] * x[k];
        }
        x[i] /= A[(size_t)i * (size_t)n + (size_t)i];
    }
    for (int i = n - 1; i >= 0; --i) {
        for (int k = i + 1; k < n; ++k) {
            x[i] -= A[(size_t)k * (size_t)n + (size_t)i] * x[k];
        }
        x[i] /= A[(size_t)i * (size_t)n + (size_t)i];
    }
    return true;
}

// Turn rows and columns p and q so that A_pq = 0: t = tan of the angle, the smaller root of t^2 + 2 theta t = 1.
static void rotate(int n, double *A, int p, int q)
{
    double *P = A + (size_t)p * (size_t)n, *Q = A + (size_t)q * (size_t)n;
    double theta = 0.5 * (Q[q] - P[p]) / P[q];
    double t = 1.0 / (theta + copysign(sqrt(theta * theta + 1.0), theta)), c = 1.0 / sqrt(t * t + 1.0), s = t * c;
    for (int k = 0; k < n; ++k) {
        double a = P[k], b = Q[k];
        P[k] = c * a - s * b;
        Q[k] = s * a + c * b;
    }
    for (int k = 0; k < n; ++k) {
        double *row = A + (size_t)k * (size_t)n, a = row[p], b = row[q];
        row[p] = c * a - s * b;
        row[q] = s * a + c * b;
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void symmetric_eigenvalues(int n, double *A, double *w)
{
    double size = 0.0, off = INFINITY;
    for (int i = 0; i < n * n; ++i) {
        size += A[i] * A[i];
    }
    for (int sweep = 0; sweep < SWEEPS && off > 1e-34 * size; ++sweep) {
        off = 0.0;
        for (int p = 0; p < n; ++p) {
            for (int q = p + 1; q < n; ++q) {
                double entry = A[(size_t)p * (size_t)n + (size_t)q];
                off += entry * entry;
                if (entry != 0.0) {
                    rotate(n, A, p, q);
                }
            }
        }
    }
    for (int i = 0; i < n; ++i) {
        w[i] = A[(size_t)i * (size_t)n + (size_t)i];
    }
    qsort(w, (size_t)n, sizeof *w, compare);
}
