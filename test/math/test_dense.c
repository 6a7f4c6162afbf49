// Cholesky, L D L^T and QR: residuals within the bounds of the error analysis (theorems are those of Higham 2002), and
// answers against LAPACK. Matrices: random, Hilbert, rank-deficient, graded; sizes 1 to 70.
#include "num/dense.h"

#include "support/matrices.h"

// B B^T + shift I: positive definite for shift > 0.
static void positive_definite(int n, double shift, uint64_t *state, double *A)
{
    matrix B;
    fill_random(n * n, state, B);
    multiply_transposed(n, n, n, B, B, A);
    for (int i = 0; i < n; ++i) {
        A[i * n + i] += shift;
    }
}

// Unit lower triangle of an L D L^T factorisation.
static double unit_lower(int n, const double *LD, int i, int j)
{
    return j > i ? 0.0 : j == i ? 1.0 : LD[i * n + j];
}

// ---- Cholesky ------------------------------------------------------------------------------------------------

TEST(cholesky_reproduces_the_matrix_and_leaves_the_upper_triangle)
{
    uint64_t state = 1;
    for (int n = 1; n <= MOST; ++n) {
        matrix A, L;
        positive_definite(n, 0.1, &state, A);
        copy(n * n, A, L);
        spoil_upper(n, L);
        ck_assert(pz_cholesky(n, L));
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j <= i; ++j) {
                double sum = 0.0;
                for (int k = 0; k <= j; ++k) {
                    sum += L[i * n + k] * L[j * n + k];
                }
                // |A - L L^T| <= (n + 1) u |L||L^T| <= (n + 1) u sqrt(A_ii A_jj) (theorem 10.5), and the check's own n u
                double bound = (n + 1) * EPS * sqrt(A[i * n + i] * A[j * n + j]);
                ck_assert_msg(fabs(sum - A[i * n + j]) <= bound, "n = %d: (%d, %d)", n, i, j);
                ck_assert(i == j || isnan(L[j * n + i]));
            }
        }
    }
}

TEST(cholesky_solve_has_a_small_residual)
{
    uint64_t state = 2;
    for (int n = 1; n <= MOST; ++n) {
        matrix A, L;
        double b[MOST], x[MOST];
        if (n <= 10) {
            symmetric(HILBERT, n, &state, A); // condition 1e13 at n = 10
        } else {
            positive_definite(n, 1e-3, &state, A);
        }
        copy(n * n, A, L);
        fill_random(n, &state, b);
        copy(n, b, x);
        ck_assert(pz_cholesky(n, L));
        pz_cholesky_solve(n, L, x);
        for (int i = 0; i < n; ++i) {
            // |b - A x| <= (3n + 1) u |L||L^T||x| (theorem 10.4)
            double residual = b[i], bound = 0.0;
            for (int j = 0; j < n; ++j) {
                residual -= A[i * n + j] * x[j];
                bound += sqrt(A[i * n + i] * A[j * n + j]) * fabs(x[j]);
            }
            ck_assert_msg(fabs(residual) <= (3 * n + 1) * EPS * bound, "n = %d: %g", n, residual);
        }
    }
}

TEST(cholesky_succeeds_exactly_when_the_least_eigenvalue_is_positive)
{
    uint64_t state = 3;
    int definite = 0, indefinite = 0;
    for (int n = 1; n <= MOST; ++n) {
        for (int repeat = 0; repeat < 6; ++repeat) {
            matrix A;
            double w[MOST];
            symmetric(RANDOM, n, &state, A);
            eigenvalues(n, A, w);
            // move the least eigenvalue to one side of zero, near it in four cases of six
            double margin = repeat < 4 ? 1e-6 : 0.5;
            for (int i = 0; i < n; ++i) {
                A[i * n + i] += (repeat % 2 == 0 ? margin : -margin) - w[0];
            }
            eigenvalues(n, A, w);
            ck_assert(fabs(w[0]) > n * n * EPS * frobenius(n * n, A)); // far enough for the sign to be certain
            definite += w[0] > 0.0;
            indefinite += w[0] < 0.0;
            ck_assert_msg(pz_cholesky(n, A) == (w[0] > 0.0), "n = %d, least eigenvalue %g", n, w[0]);
        }
    }
    ck_assert_int_eq(definite, 3 * MOST);
    ck_assert_int_eq(indefinite, 3 * MOST);
}

TEST(cholesky_refuses_zero_and_numbers_that_are_not_finite)
{
    const double bad[] = {0.0, -0.0, -1.0, NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < TEST_COUNT(bad); ++i) {
        double one = bad[i];
        ck_assert(!pz_cholesky(1, &one));
        double two[4] = {1.0, 0.0, 0.5, bad[i]};
        ck_assert(!pz_cholesky(2, two));
    }
}

// ---- L D L^T -------------------------------------------------------------------------------------------------

// (|L||D||L^T|)_ij, on which the bounds rest: without pivoting it may exceed |A|.
static double ldlt_growth(int n, const double *LD, int i, int j)
{
    double sum = 0.0;
    for (int k = 0; k < n; ++k) {
        sum += fabs(unit_lower(n, LD, i, k) * LD[k * n + k] * unit_lower(n, LD, j, k));
    }
    return sum;
}

TEST(ldlt_reproduces_the_matrix)
{
    uint64_t state = 4;
    for (int n = 1; n <= MOST; ++n) {
        matrix A, LD;
        symmetric(n % 2 == 0 ? RANDOM : GRADED, n, &state, A);
        copy(n * n, A, LD);
        spoil_upper(n, LD);
        ck_assert_int_ge(pz_ldlt(n, LD), 0);
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j <= i; ++j) {
                double sum = 0.0;
                for (int k = 0; k <= j; ++k) {
                    sum += unit_lower(n, LD, i, k) * LD[k * n + k] * unit_lower(n, LD, j, k);
                }
                // |A - L D L^T| <= n u |L||D||L^T| (theorem 9.3), and the check's own n u
                double bound = (n + 1) * EPS * ldlt_growth(n, LD, i, j);
                ck_assert_msg(fabs(sum - A[i * n + j]) <= bound, "n = %d: (%d, %d)", n, i, j);
            }
        }
    }
}

TEST(ldlt_counts_the_negative_eigenvalues)
{
    uint64_t state = 5;
    int certain = 0;
    for (int n = 1; n <= MOST; ++n) {
        for (int repeat = 0; repeat < 4; ++repeat) {
            matrix A, LD;
            double w[MOST];
            symmetric(RANDOM, n, &state, A);
            eigenvalues(n, A, w);
            copy(n * n, A, LD);
            int count = pz_ldlt(n, LD);

            // the pivots are those of a matrix within this distance: an eigenvalue further from zero keeps its sign
            double distance = 0.0, nearest = DBL_MAX;
            int negative = 0;
            for (int i = 0; i < n; ++i) {
                nearest = fmin(nearest, fabs(w[i]));
                negative += w[i] < 0.0;
                for (int j = 0; j < n; ++j) {
                    distance += pow(n * EPS * ldlt_growth(n, LD, i, j), 2.0);
                }
            }
            if (nearest > sqrt(distance)) {
                ++certain;
                ck_assert_msg(count == negative, "n = %d: %d for %d", n, count, negative);
            }
        }
    }
    ck_assert_int_gt(certain, 4 * MOST * 9 / 10);
}

TEST(ldlt_solve_has_a_small_residual)
{
    uint64_t state = 6;
    for (int n = 1; n <= MOST; ++n) {
        matrix A, LD;
        double b[MOST], x[MOST];
        symmetric(RANDOM, n, &state, A);
        copy(n * n, A, LD);
        fill_random(n, &state, b);
        copy(n, b, x);
        ck_assert_int_ge(pz_ldlt(n, LD), 0);
        pz_ldlt_solve(n, LD, x);
        for (int i = 0; i < n; ++i) {
            double residual = b[i], bound = 0.0;
            for (int j = 0; j < n; ++j) {
                residual -= A[i * n + j] * x[j];
                bound += ldlt_growth(n, LD, i, j) * fabs(x[j]);
            }
            // three triangular or diagonal solves and the factorisation (theorem 9.4), and the check's own n u
            ck_assert_msg(fabs(residual) <= (3 * n + 2) * EPS * bound, "n = %d: %g", n, residual);
        }
    }
}

TEST(ldlt_refuses_zero_pivots_and_numbers_that_are_not_finite)
{
    double zero_first[4] = {0.0, 1.0, 1.0, 0.0};
    double zero_last[4] = {1.0, 1.0, 1.0, 1.0};
    double bad[4] = {1.0, NAN, NAN, 1.0};
    double infinite[1] = {INFINITY};
    ck_assert_int_eq(pz_ldlt(2, zero_first), -1);
    ck_assert_int_eq(pz_ldlt(2, zero_last), -1);
    ck_assert_int_eq(pz_ldlt(2, bad), -1);
    ck_assert_int_eq(pz_ldlt(1, infinite), -1);
}

// ---- QR ------------------------------------------------------------------------------------------------------

// Each of n reflections leaves errors of a few u, which add up. (Theorem 19.4 proves m n u; rounding errors do not all point
// the same way.)
static double qr_tolerance(int m)
{
    return 8.0 * m * EPS;
}

TEST(qr_turns_the_matrix_into_r_by_an_orthogonal_q)
{
    uint64_t state = 7;
    for (int n = 1; n <= MOST; ++n) {
        for (int k = 0; k < KINDS; ++k) {
            enum kind kind = (enum kind)k;
            int m = rows_for(n, n % 3);
            matrix A, R, Q;
            double tau[MOST], x[MOST], y[MOST];
            rectangular(kind, m, n, &state, A);
            copy(m * n, A, R);
            pz_qr(m, n, R, tau);
            for (int j = 0; j < n; ++j) { // Q^T A = R, column by column
                double length = 0.0;
                for (int i = 0; i < m; ++i) {
                    x[i] = A[i * n + j];
                    length = hypot(length, x[i]);
                }
                pz_qr_solve(m, n, R, tau, x, y);
                for (int i = 0; i < m; ++i) {
                    double error = fabs(x[i] - (i <= j ? R[i * n + j] : 0.0));
                    ck_assert_msg(error <= qr_tolerance(m) * length, "%s %d x %d: %g", KIND_NAME[kind], m, n, error);
                }
            }
            for (int j = 0; j < m; ++j) { // Q^T itself
                memset(x, 0, sizeof x);
                x[j] = 1.0;
                pz_qr_solve(m, n, R, tau, x, y);
                for (int i = 0; i < m; ++i) {
                    Q[j * m + i] = x[i];
                }
            }
            ck_assert(orthogonality(m, m, Q) <= qr_tolerance(m));
        }
    }
}

TEST(qr_agrees_with_lapack_up_to_signs)
{
    uint64_t state = 8;
    for (int n = 1; n <= MOST; ++n) {
        int m = rows_for(n, 2);
        matrix A, B;
        double tau[MOST];
        rectangular(RANDOM, m, n, &state, A);
        copy(m * n, A, B);
        pz_qr(m, n, A, tau);
        ck_assert_int_eq(LAPACKE_dgeqrf(LAPACK_ROW_MAJOR, m, n, B, n, tau), 0);
        double norm = frobenius(m * n, B);
        for (int k = 0; k < n && m > n; ++k) {
            // R is determined up to signs; its condition, some 1e2 for twice as many rows as columns, is the factor
            ck_assert_double_eq_tol(fabs(A[k * n + k]), fabs(B[k * n + k]), 100.0 * qr_tolerance(m) * norm);
        }
    }
}

TEST(least_squares_residual_is_orthogonal_to_the_columns)
{
    uint64_t state = 9;
    for (int n = 1; n <= MOST; ++n) {
        int m = rows_for(n, n % 3);
        matrix A, R;
        double tau[MOST], b[MOST], x[MOST], y[MOST];
        rectangular(RANDOM, m, n, &state, A);
        copy(m * n, A, R);
        fill_random(m, &state, b);
        copy(m, b, x);
        pz_qr(m, n, R, tau);
        ck_assert(pz_qr_solve(m, n, R, tau, x, y));
        double size = frobenius(m * n, A) * frobenius(n, y) + frobenius(m, b);
        for (int i = 0; i < m; ++i) {
            for (int j = 0; j < n; ++j) {
                b[i] -= A[i * n + j] * y[j];
            }
        }
        for (int j = 0; j < n; ++j) {
            double sum = 0.0;
            for (int i = 0; i < m; ++i) {
                sum += A[i * n + j] * b[i];
            }
            // y solves a problem within qr_tolerance of the given one (theorem 20.3)
            ck_assert_double_le(fabs(sum), qr_tolerance(m) * frobenius(m * n, A) * size);
        }
    }
}

TEST(least_squares_refuses_dependent_columns)
{
    uint64_t state = 10;
    for (int n = 2; n <= MOST; ++n) {
        matrix A;
        double tau[MOST], x[MOST] = {1.0}, y[MOST];
        for (int kind = 0; kind < 2; ++kind) {
            rectangular(kind == 0 ? DEFICIENT : ZERO, MOST, n, &state, A);
            pz_qr(MOST, n, A, tau);
            ck_assert(!pz_qr_solve(MOST, n, A, tau, x, y));
        }
    }
}

TEST(factors_are_the_same_bits_on_every_compiler)
{
    uint64_t state = 20, hash = UINT64_C(0xcbf29ce484222325);
    for (int n = 1; n <= MOST; ++n) {
        matrix A, B;
        double tau[MOST], b[MOST], y[MOST] = {0};
        positive_definite(n, 0.1, &state, A);
        fill_random(n, &state, b);
        copy(n * n, A, B);
        ck_assert(pz_cholesky(n, B));
        pz_cholesky_solve(n, B, b);
        hash = hash_numbers(hash_numbers(hash, n * n, B), n, b);
        copy(n * n, A, B);
        ck_assert_int_eq(pz_ldlt(n, B), 0);
        pz_ldlt_solve(n, B, b);
        hash = hash_numbers(hash_numbers(hash, n * n, B), n, b);
        pz_qr(n, n, A, tau);
        ck_assert(pz_qr_solve(n, n, A, tau, b, y));
        hash = hash_numbers(hash_numbers(hash, n * n, A), n, y);
    }
    ck_assert_uint_eq(hash, UINT64_C(0x314d4fb6f5a4e95d));
}
