// Eigenvalues and singular values: residuals and orthogonality within the bounds of the error analysis, and values against
// LAPACK. Matrices: random, Hilbert, rank-deficient, graded, with repeated values, huge and tiny; sizes 1 to 70 and 300.
#include "num/dense.h"

#include "support/matrices.h"

// ---- symmetric eigenvalues -----------------------------------------------------------------------------------

// A reduction of n reflections and some 2 n sweeps of rotations: each is an orthogonal transformation with a few u of error.
static double eigen_tolerance(int n)
{
    return 8.0 * n * EPS;
}

static void check_eigen(enum kind kind, int n, const double *A)
{
    matrix V, unused;
    double w[MOST], w_alone[MOST], expected[MOST], work[MOST];
    copy(n * n, A, V);
    spoil_upper(n, V);
    copy(n * n, V, unused);
    ck_assert(pz_symmetric_eigen(n, V, w, true, work));
    ck_assert(pz_symmetric_eigen(n, unused, w_alone, false, work));
    eigenvalues(n, A, expected);
    double bound = eigen_tolerance(n) * frobenius(n * n, A);
    for (int k = 0; k < n; ++k) {
        ck_assert_msg(fabs(w[k] - expected[k]) <= bound, "%s %d: %g for %g", KIND_NAME[kind], n, w[k], expected[k]);
        ck_assert(w[k] == w_alone[k]);
        ck_assert(k == 0 || w[k] >= w[k - 1]);
        for (int i = 0; i < n; ++i) {
            double residual = -w[k] * V[k * n + i];
            for (int j = 0; j < n; ++j) {
                residual += A[i * n + j] * V[k * n + j];
            }
            ck_assert_msg(fabs(residual) <= bound, "%s %d: residual %g", KIND_NAME[kind], n, residual);
        }
    }
    ck_assert_double_le(orthogonality(n, n, V), eigen_tolerance(n)); // V square: rows as good as columns
}

TEST(eigenvalues_and_vectors_fit_the_matrix_and_lapack)
{
    uint64_t state = 11;
    for (int n = 1; n <= MOST; ++n) {
        for (int kind = 0; kind < KINDS; ++kind) {
            matrix A;
            symmetric((enum kind)kind, n, &state, A);
            check_eigen((enum kind)kind, n, A);
        }
    }
}

TEST(eigenvalues_scale_with_the_matrix_to_the_bit)
{
    uint64_t state = 12;
    for (int n = 1; n <= 20; ++n) {
        for (int sign = -1; sign <= 1; sign += 2) {
            matrix A, B;
            double w[MOST], v[MOST], work[MOST];
            symmetric(RANDOM, n, &state, A);
            for (int i = 0; i < n * n; ++i) {
                B[i] = ldexp(A[i], 900 * sign);
            }
            ck_assert(pz_symmetric_eigen(n, A, w, true, work));
            ck_assert(pz_symmetric_eigen(n, B, v, true, work));
            for (int i = 0; i < n; ++i) {
                ck_assert(v[i] == ldexp(w[i], 900 * sign));
            }
            ck_assert_int_eq(memcmp(A, B, (size_t)(n * n) * sizeof(double)), 0);
        }
    }
}

TEST(eigenvalues_of_three_hundred_rows_fit_a_known_spectrum)
{
    // the second difference matrix: w_k = 2 - 2 cos(k pi/(n + 1))
    enum { N = 300 };
    static double A[N * N], w[N], work[N];
    for (int i = 0; i < N; ++i) {
        A[i * N + i] = 2.0;
        if (i > 0) {
            A[i * N + i - 1] = -1.0;
        }
    }
    ck_assert(pz_symmetric_eigen(N, A, w, true, work));
    for (int k = 0; k < N; ++k) {
        ck_assert_double_eq_tol(w[k], 2.0 - 2.0 * cos((k + 1) * 3.14159265358979324 / (N + 1)), eigen_tolerance(N) * 4.0);
    }
    ck_assert_double_le(orthogonality(N, N, A), eigen_tolerance(N));
}

TEST(eigen_and_svd_refuse_numbers_that_are_not_finite)
{
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < TEST_COUNT(bad); ++i) {
        for (int place = 0; place < 4; ++place) {
            double A[4] = {1.0, 0.5, 0.5, 2.0}, B[4], w[2], work[2], V[4];
            A[place] = bad[i];
            copy(2 * 2, A, B);
            ck_assert(place == 1 || !pz_symmetric_eigen(2, A, w, true, work)); // the upper triangle is not read
            ck_assert(!pz_svd(2, 2, B, w, V));
        }
    }
}

// ---- singular values -----------------------------------------------------------------------------------------

// Some ten sweeps of rotations; a column takes part in n of them in each.
static double svd_tolerance(int m)
{
    return 8.0 * m * EPS;
}

static void check_svd(enum kind kind, int m, int n, const double *A)
{
    matrix U, V, B, unused;
    double s[MOST], expected[MOST], work[MOST];
    copy(m * n, A, U);
    copy(m * n, A, B);
    ck_assert_msg(pz_svd(m, n, U, s, V), "%s %d x %d", KIND_NAME[kind], m, n);
    ck_assert_int_eq(LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'N', 'N', m, n, B, n, expected, unused, n, unused, n, work), 0);
    double bound = svd_tolerance(m) * frobenius(m * n, A);
    for (int k = 0; k < n; ++k) {
        ck_assert_msg(fabs(s[k] - expected[k]) <= bound, "%s %d x %d: %g", KIND_NAME[kind], m, n, s[k]);
        ck_assert(s[k] >= 0.0 && (k == 0 || s[k] <= s[k - 1]));
    }
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
            double sum = 0.0;
            for (int k = 0; k < n; ++k) {
                sum += U[i * n + k] * s[k] * V[j * n + k];
            }
            ck_assert_msg(fabs(sum - A[i * n + j]) <= bound, "%s %d x %d: (%d, %d)", KIND_NAME[kind], m, n, i, j);
        }
    }
    ck_assert_double_le(orthogonality(m, n, U), svd_tolerance(m));
    ck_assert_double_le(orthogonality(n, n, V), svd_tolerance(m));
}

TEST(svd_reproduces_the_matrix_with_orthogonal_factors)
{
    uint64_t state = 13;
    for (int n = 1; n <= MOST; n += n < 20 ? 1 : 5) {
        for (int test = 0; test < 3 * KINDS; ++test) {
            int m = rows_for(n, test % 3);
            matrix A;
            rectangular((enum kind)(test / 3), m, n, &state, A);
            check_svd((enum kind)(test / 3), m, n, A);
        }
    }
}

TEST(small_singular_values_keep_their_digits)
{
    // A = B D with B well conditioned and D graded over 30 decades: relative errors of the size cond(B) n u (Demmel and
    // Veselic 1992). LAPACK's one-sided Jacobi is the witness; QR-based methods lose every digit of the small values.
    uint64_t state = 14;
    for (int n = 2; n <= 30; ++n) {
        matrix A, B, V;
        double s[MOST], expected[MOST], scale[MOST];
        for (int i = 0; i < n * n; ++i) {
            double well_conditioned = uniform(&state) + (i % (n + 1) == 0 ? 4.0 : 0.0);
            A[i] = well_conditioned * pow(10.0, -30.0 * (i % n) / (n - 1));
        }
        copy(n * n, A, B);
        ck_assert(pz_svd(n, n, A, s, V));
        scale[0] = 1.0;
        ck_assert_int_eq(LAPACKE_dgesvj(LAPACK_ROW_MAJOR, 'G', 'N', 'N', n, n, B, n, expected, 0, B, n, scale), 0);
        for (int k = 0; k < n; ++k) {
            ck_assert_double_le(fabs(s[k] / (expected[k] * scale[0]) - 1.0), 100.0 * n * EPS);
        }
    }
}

TEST(parallel_columns_have_one_singular_value_and_exact_zeros)
{
    for (int n = 2; n <= 30; ++n) {
        int m = n + n % 3;
        matrix A, V;
        double s[MOST];
        for (int i = 0; i < m; ++i) {
            for (int j = 0; j < n; ++j) {
                A[i * n + j] = (i + 1) * (j + 1);
            }
        }
        double length = frobenius(m * n, A);
        ck_assert(pz_svd(m, n, A, s, V));
        ck_assert_double_eq_tol(s[0], length, svd_tolerance(m) * length);
        for (int k = 1; k < n; ++k) {
            ck_assert(s[k] == 0.0);
        }
        ck_assert_double_le(orthogonality(m, n, A), svd_tolerance(m));
    }
}

TEST(svd_ends_when_columns_are_nothing_beside_the_others)
{
    uint64_t state = 16;
    for (int exponent = -300; exponent <= -140; exponent += 5) {
        for (int n = 2; n <= 6; ++n) {
            matrix A;
            rectangular(RANDOM, n + 1, n, &state, A);
            for (int i = 0; i < n + 1; ++i) {
                A[i * n] *= pow(10.0, exponent);
            }
            check_svd(RANDOM, n + 1, n, A);
        }
    }
}

TEST(svd_scales_with_the_matrix_to_the_bit)
{
    uint64_t state = 15;
    for (int n = 1; n <= 20; ++n) {
        for (int sign = -1; sign <= 1; sign += 2) {
            matrix A, B, V, W;
            double s[MOST], t[MOST];
            fill_random(n * n, &state, A);
            for (int i = 0; i < n * n; ++i) {
                B[i] = ldexp(A[i], 900 * sign);
            }
            ck_assert(pz_svd(n, n, A, s, V));
            ck_assert(pz_svd(n, n, B, t, W));
            for (int i = 0; i < n; ++i) {
                ck_assert(t[i] == ldexp(s[i], 900 * sign));
            }
            ck_assert_int_eq(memcmp(A, B, (size_t)(n * n) * sizeof(double)), 0);
            ck_assert_int_eq(memcmp(V, W, (size_t)(n * n) * sizeof(double)), 0);
        }
    }
}

TEST(spectra_are_the_same_bits_on_every_compiler)
{
    uint64_t state = 21, hash = UINT64_C(0xcbf29ce484222325);
    for (int n = 1; n <= MOST; n += 3) {
        matrix A, B, V;
        double w[MOST], work[MOST];
        fill_random(n * n, &state, A);
        copy(n * n, A, B);
        ck_assert(pz_symmetric_eigen(n, B, w, true, work));
        hash = hash_numbers(hash_numbers(hash, n * n, B), n, w);
        ck_assert(pz_svd(n, n, A, w, V));
        hash = hash_numbers(hash_numbers(hash_numbers(hash, n * n, A), n, w), n * n, V);
    }
    ck_assert_uint_eq(hash, UINT64_C(0x25025530c22e05c1));
}
