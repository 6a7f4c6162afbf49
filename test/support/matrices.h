// Matrices for the tests of the dense factorisations, row-major, of sizes up to MOST.
#ifndef TEST_MATRICES_H
#define TEST_MATRICES_H

#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "test_main.h"

#define MOST 70          // rows and columns
#define EPS  DBL_EPSILON // twice the unit roundoff u: bounds stated with it have a factor of 2 to spare

typedef double matrix[MOST * MOST];

static inline double uniform(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (double)(*state >> 11) * 0x1p-52 - 1.0;
}

static inline void fill_random(int count, uint64_t *state, double *x)
{
    for (int i = 0; i < count; ++i) {
        x[i] = uniform(state);
    }
}

static inline void copy(int count, const double *from, double *to)
{
    memcpy(to, from, (size_t)count * sizeof(double));
}

// C = A B^T for A (m x k) and B (n x k).
static inline void multiply_transposed(int m, int n, int k, const double *A, const double *B, double *C)
{
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
            C[i * n + j] = 0.0;
            for (int l = 0; l < k; ++l) {
                C[i * n + j] += A[i * k + l] * B[j * k + l];
            }
        }
    }
}

static inline double frobenius(int count, const double *x)
{
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        sum += x[i] * x[i];
    }
    return sqrt(sum);
}

enum kind { RANDOM, HILBERT, DEFICIENT, GRADED, REPEATED, DIAGONAL, EQUAL, CHECKERED, ZERO, KINDS };

static const char *const KIND_NAME[KINDS] = {"random",   "Hilbert", "rank-deficient", "graded", "repeated",
                                             "diagonal", "equal",   "checkered",      "zero"};

// A symmetric matrix of the kind, n x n.
static inline void symmetric(enum kind kind, int n, uint64_t *state, double *A)
{
    matrix B;
    fill_random(n * n, state, B);
    int rank = kind == DEFICIENT ? (n + 1) / 2 : kind == REPEATED ? 1 : n;
    matrix C = {0};
    for (int i = 0; i < n; ++i) {
        copy(rank, B + i * n, C + i * rank);
    }
    multiply_transposed(n, n, rank, C, C, A);
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j <= i; ++j) {
            double *a = &A[i * n + j];
            switch (kind) {
            case RANDOM:
                *a = B[i * n + j];
                break;
            case HILBERT:
                *a = 1.0 / (i + j + 1);
                break;
            case GRADED:
                *a = B[i * n + j] * exp2(-(i + j));
                break;
            case REPEATED:
                *a += i == j ? 3.0 : 0.0;
                break;
            case DIAGONAL:
                *a = i == j ? B[i] : 0.0;
                break;
            case EQUAL:
                *a = 1.0;
                break;
            case CHECKERED: // singular for odd n
                *a = (i + j) % 2 == 0 ? 0.0 : B[i * n + j];
                break;
            case ZERO:
                *a = 0.0;
                break;
            default:
                break;
            }
            A[j * n + i] = *a;
        }
    }
}

static inline void eigenvalues(int n, const double *A, double *w)
{
    matrix B;
    copy(n * n, A, B);
    ck_assert_int_eq(LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'N', 'L', n, B, n, w), 0);
}

// The numbers above the diagonal must not be read.
static inline void spoil_upper(int n, double *A)
{
    for (int i = 0; i < n; ++i) {
        for (int j = i + 1; j < n; ++j) {
            A[i * n + j] = NAN;
        }
    }
}

// A general matrix of the kind, m x n.
static inline void rectangular(enum kind kind, int m, int n, uint64_t *state, double *A)
{
    fill_random(m * n, state, A);
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
            double *a = &A[i * n + j];
            switch (kind) {
            case HILBERT:
                *a = 1.0 / (i + j + 1);
                break;
            case DEFICIENT: // the second half of the columns repeats the first
                *a = j >= (n + 1) / 2 ? A[i * n + j - (n + 1) / 2] : *a;
                break;
            case GRADED:
                *a *= exp2(-(i + j));
                break;
            case REPEATED:
                *a = i % n == j ? 2.0 : 0.0;
                break;
            case DIAGONAL:
                *a = i == j ? *a : 0.0;
                break;
            case EQUAL:
                *a = 1.0;
                break;
            case CHECKERED:
                *a = (i + j) % 2 == 0 ? 0.0 : *a;
                break;
            case ZERO:
                *a = 0.0;
                break;
            default:
                break;
            }
        }
    }
}

// Rows for n columns: square, a little taller, tall.
static inline int rows_for(int n, int shape)
{
    int m = shape == 0 ? n : shape == 1 ? n + 1 + n / 7 : 2 * n;
    return m > MOST ? MOST : m;
}

// max |B^T B - I| for B (m x n).
static inline double orthogonality(int m, int n, const double *B)
{
    double worst = 0.0;
    for (int p = 0; p < n; ++p) {
        for (int q = 0; q <= p; ++q) {
            double sum = p == q ? -1.0 : 0.0;
            for (int i = 0; i < m; ++i) {
                sum += B[i * n + p] * B[i * n + q];
            }
            worst = fmax(worst, fabs(sum));
        }
    }
    return worst;
}

// Fowler, Noll and Vo's hash over the bytes of the numbers.
static inline uint64_t hash_numbers(uint64_t hash, int count, const double *x)
{
    for (int i = 0; i < count; ++i) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        for (int k = 0; k < 64; k += 8) {
            hash = (hash ^ (bits >> k & 0xff)) * UINT64_C(0x100000001b3);
        }
    }
    return hash;
}

#endif
