// Small dense linear algebra: Cholesky, L D L^T, QR, eigenvalues of symmetric matrices, singular values. Inner loops run
// along rows.
#include "num/dense.h"

#include "num/real.h"

#include <float.h>

// ---- Rows, lengths, reflectors -------------------------------------------------------------------------------------------
//
// Row-major: row i of an n-column matrix A starts at A + i n.

// Sums of squares of numbers beyond BIG may overflow, below SMALL lose bits; SHIFT brings either back. Powers of two: exact.
#define BIG   0x1p+400
#define SMALL 0x1p-400
#define SHIFT 0x1p+600

static inline double *row(double *A, int n, int i)
{
    return A + (size_t)i * (size_t)n;
}

static inline const double *const_row(const double *A, int n, int i)
{
    return A + (size_t)i * (size_t)n;
}

static inline void scale(int n, double f, double *x)
{
    for (int k = 0; k < n; ++k) {
        x[k] *= f;
    }
}

static inline double largest(size_t count, const double *x)
{
    double m = 0.0;
    for (size_t i = 0; i < count; ++i) {
        m = max2(m, fabs(x[i]));
    }
    return m;
}

// The power of two that brings numbers of size m to where their squares are harmless; 1 if they are.
static inline double safe_factor(double m)
{
    return m > BIG ? 1.0 / SHIFT : m < SMALL ? SHIFT : 1.0;
}

// sqrt(a^2 + b^2), also where the squares would overflow or vanish.
static inline double hypotenuse(double a, double b)
{
    double m = max2(fabs(a), fabs(b));
    double f = safe_factor(m);
    a *= f;
    b *= f;
    return sqrt(a * a + b * b) / f;
}

// The reflector that maps the vector (a, x) to (b, 0), |b| its length (Householder 1958; in the form of Golub and Van Loan):
//
//   H = I - tau v v^T,   v = (1, x / (a - b)),   b = -sign(a) |(a, x)|,   tau = (b - a)/b
//
// a - b adds equal signs: nothing cancels. count numbers of x, stride apart, are replaced by those of v, *a by b. Returns
// tau, 0 for the identity when x = 0 already.
static inline double reflector(int count, int stride, double *a, double *x)
{
    double m = 0.0;
    for (int k = 0; k < count; ++k) {
        m = max2(m, fabs(x[(size_t)k * (size_t)stride]));
    }
    if (m == 0.0) {
        return 0.0;
    }
    // scaled throughout, so that H is orthogonal even where b is subnormal
    double f = safe_factor(max2(m, fabs(*a)));
    double a_scaled = f * *a;
    double sum = a_scaled * a_scaled;
    for (int k = 0; k < count; ++k) {
        double xk = f * x[(size_t)k * (size_t)stride];
        sum += xk * xk;
    }
    double b = a_scaled > 0.0 ? -sqrt(sum) : sqrt(sum);
    double divisor = a_scaled - b;
    for (int k = 0; k < count; ++k) {
        x[(size_t)k * (size_t)stride] = f * x[(size_t)k * (size_t)stride] / divisor;
    }
    *a = b / f;
    return (b - a_scaled) / b;
}

// ---- Cholesky ------------------------------------------------------------------------------------------------------------
//
//   L_jj = sqrt(A_jj - sum_k<j L_jk^2)          L_ij = (A_ij - sum_k<j L_ik L_jk) / L_jj,   i > j

bool pz_cholesky(int n, double *A)
{
    for (int j = 0; j < n; ++j) {
        double *Lj = row(A, n, j);
        double d = Lj[j] - dense_dot(j, Lj, Lj);
        if (!(d > 0.0 && d <= DBL_MAX)) {
            return false;
        }
        Lj[j] = sqrt(d);
        for (int i = j + 1; i < n; ++i) {
            double *Li = row(A, n, i);
            Li[j] = (Li[j] - dense_dot(j, Li, Lj)) / Lj[j];
        }
    }
    return true;
}

// L z = x forwards, then L^T x = z backwards by columns of L^T, which are rows of L.
void pz_cholesky_solve(int n, const double *L, double *x)
{
    for (int i = 0; i < n; ++i) {
        const double *Li = const_row(L, n, i);
        x[i] = (x[i] - dense_dot(i, Li, x)) / Li[i];
    }
    for (int i = n - 1; i >= 0; --i) {
        const double *Li = const_row(L, n, i);
        x[i] /= Li[i];
        dense_add_scaled(i, -x[i], Li, x);
    }
}

// ---- L D L^T -------------------------------------------------------------------------------------------------------------
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
            Ui[j] -= dense_dot(j, Ui, Lj);
        }
    }
    return negative;
}

void pz_ldlt_solve(int n, const double *LD, double *x)
{
    for (int i = 0; i < n; ++i) {
        x[i] -= dense_dot(i, const_row(LD, n, i), x);
    }
    for (int i = 0; i < n; ++i) {
        x[i] /= const_row(LD, n, i)[i];
    }
    for (int i = n - 1; i >= 0; --i) {
        dense_add_scaled(i, -x[i], const_row(LD, n, i), x);
    }
}

// ---- QR ------------------------------------------------------------------------------------------------------------------
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
            dense_add_scaled(columns, Ai[k], Ai + k + 1, w);
        }
        dense_add_scaled(columns, -t, w, Ak + k + 1);
        for (int i = k + 1; i < m; ++i) {
            double *Ai = row(A, n, i);
            dense_add_scaled(columns, -t * Ai[k], w, Ai + k + 1);
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
        y[k] = (x[k] - dense_dot(n - k - 1, Rk + k + 1, y + k + 1)) / Rk[k];
    }
    return true;
}

// ---- Symmetric eigenvalues -----------------------------------------------------------------------------------------------
//
// Tridiagonal first, A = Q T Q^T by reflectors, then T to diagonal by the implicit QL method. The eigenvectors are the
// columns of Q times the rotations: kept transposed, so that a rotation mixes two rows.

// One step of the reduction: H, made of the first i numbers of row i, takes that row to (0, .., 0, e) and the leading block
// B (i x i, lower triangle) to H B H. With p = tau B v and q = p - (tau/2)(p . v) v,
//
//   H B H = B - v q^T - q v^T      (Martin, Reinsch and Wilkinson 1968)
//
// p and q stand in scratch. Row i becomes v, its diagonal tau. Returns e.
static double tridiagonal_step(int n, int i, double *A, double *scratch)
{
    double *v = row(A, n, i);
    double e = v[i - 1];
    double tau = reflector(i - 1, 1, &e, v);
    v[i - 1] = 1.0;
    v[i] = tau;
    if (tau == 0.0) {
        return e;
    }
    for (int j = 0; j < i; ++j) {
        const double *Bj = row(A, n, j);
        scratch[j] = dense_dot(j + 1, Bj, v);
        dense_add_scaled(j, v[j], Bj, scratch); // the upper triangle, from the mirrored numbers
    }
    double c = -0.5 * tau * tau * dense_dot(i, scratch, v);
    for (int j = 0; j < i; ++j) {
        scratch[j] = tau * scratch[j] + c * v[j];
    }
    for (int j = 0; j < i; ++j) {
        double *Bj = row(A, n, j);
        for (int k = 0; k <= j; ++k) {
            Bj[k] -= v[j] * scratch[k] + scratch[j] * v[k];
        }
    }
    return e;
}

// A = Q T Q^T with T's diagonal d and, next to it, e[i] between i and i + 1. Q = H_n-1 .. H_1; row i of A keeps H_i.
static void tridiagonalise(int n, double *A, double *d, double *e)
{
    for (int i = n - 1; i > 0; --i) {
        d[i] = row(A, n, i)[i];
        e[i - 1] = tridiagonal_step(n, i, A, e); // e[0..i) is still free
    }
    d[0] = A[0];
}

// Q^T = H_1 H_2 .. H_n-1 in place of its reflectors: before step i the leading block holds the product of those before H_i.
static void accumulate(int n, double *A)
{
    A[0] = 1.0;
    for (int i = 1; i < n; ++i) {
        double *v = row(A, n, i);
        double tau = v[i];
        for (int j = 0; j < i; ++j) {
            double *Qj = row(A, n, j);
            dense_add_scaled(i, -tau * dense_dot(i, Qj, v), v, Qj);
            Qj[i] = 0.0;
        }
        for (int j = 0; j < i; ++j) {
            v[j] = 0.0;
        }
        v[i] = 1.0;
    }
}

// Rows a and b become c a - s b and s a + c b.
static inline void rotate(int n, double c, double s, double *restrict a, double *restrict b)
{
    for (int k = 0; k < n; ++k) {
        double ak = a[k], bk = b[k];
        a[k] = c * ak - s * bk;
        b[k] = s * ak + c * bk;
    }
}

// One implicit QL step on rows l..m of T (Dubrulle, Martin and Wilkinson 1968). The shift is the eigenvalue of the upper
// 2 x 2 block that is nearer to d_l (Wilkinson):
//
//   shift = d_l - e_l^2 / (h + sign(h) sqrt(h^2 + e_l^2)),    h = (d_l+1 - d_l)/2
//
// The first rotation, in the plane (m-1, m), takes (z, x) = (e_m-1, d_m - shift) to (0, r). In the plane (i, i+1) it gives
//
//   d_i+1 + s g,   d_i - s g,   e_i = c g - e_i       with g = (d_i - d_i+1) s + 2 c e_i
//
// and moves s e_i-1 to the place (i-1, i+1): the next rotation takes that z, over x = e_i, away again.
static void ql_step(int n, int l, int m, double *d, double *e, double *vectors)
{
    double h = 0.5 * (d[l + 1] - d[l]);
    double root = hypotenuse(h, e[l]);
    double shift = d[l] - e[l] * (e[l] / (h < 0.0 ? h - root : h + root));
    double x = d[m] - shift, z = e[m - 1];
    for (int i = m - 1; i >= l; --i) {
        double r = hypotenuse(x, z);
        double c = r == 0.0 ? 1.0 : x / r;
        double s = r == 0.0 ? 0.0 : z / r;
        if (i < m - 1) {
            e[i + 1] = r;
        }
        double g = (d[i] - d[i + 1]) * s + 2.0 * c * e[i];
        d[i + 1] += s * g;
        d[i] -= s * g;
        e[i] = c * g - e[i];
        x = e[i];
        if (i > l) {
            z = s * e[i - 1];
            e[i - 1] *= c;
        }
        if (vectors) {
            rotate(n, c, s, row(vectors, n, i), row(vectors, n, i + 1));
        }
    }
}

// QL steps until every e is negligible beside its neighbours on the diagonal. Two steps for an eigenvalue are usual; the
// bound is EISPACK's.
static bool diagonalise(int n, double *d, double *e, double *vectors)
{
    const int most_steps = 30;
    for (int l = 0; l < n; ++l) {
        for (int step = 0;; ++step) {
            int m = l;
            while (m < n - 1 && fabs(e[m]) > 0.5 * PZ_EPSILON * (fabs(d[m]) + fabs(d[m + 1]))) {
                ++m;
            }
            if (m == l) {
                break;
            }
            if (step == most_steps) {
                return false;
            }
            ql_step(n, l, m, d, e, vectors);
        }
    }
    return true;
}

static void swap(int count, int stride, double *a, double *b)
{
    for (int k = 0; k < count; ++k) {
        size_t i = (size_t)k * (size_t)stride;
        double t = a[i];
        a[i] = b[i];
        b[i] = t;
    }
}

static void sort_ascending(int n, double *w, double *vectors)
{
    for (int i = 0; i < n - 1; ++i) {
        int least = i;
        for (int j = i + 1; j < n; ++j) {
            least = w[j] < w[least] ? j : least;
        }
        if (least != i) {
            swap(1, 1, &w[i], &w[least]);
            if (vectors) {
                swap(n, 1, row(vectors, n, i), row(vectors, n, least));
            }
        }
    }
}

bool pz_symmetric_eigen(int n, double *A, double *w, bool vectors, double *work)
{
    if (n == 0) {
        return true;
    }
    double m = 0.0;
    for (int i = 0; i < n; ++i) {
        m = max2(m, largest((size_t)i + 1, row(A, n, i)));
    }
    double f = safe_factor(m);
    for (int i = 0; i < n; ++i) {
        scale(i + 1, f, row(A, n, i));
    }
    tridiagonalise(n, A, w, work);
    if (vectors) {
        accumulate(n, A);
    }
    if (!all_finite(w, (size_t)n) || !all_finite(work, (size_t)n - 1) || !diagonalise(n, w, work, vectors ? A : NULL)) {
        return false;
    }
    sort_ascending(n, w, vectors ? A : NULL);
    scale(n, 1.0 / f, w);
    return true;
}

// ---- Singular values -----------------------------------------------------------------------------------------------------
//
// One-sided Jacobi (Hestenes 1958): rotate pairs of columns of A until all are orthogonal. Then A V = U diag(s): the lengths
// are s, the directions U, and V collects the rotations. For a pair a, b the rotation is, with alpha = a.a, beta = b.b and
// gamma = a.b,
//
//   zeta = (beta - alpha)/(2 gamma),   t = sign(zeta)/(|zeta| + sqrt(1 + zeta^2)),   c = 1/sqrt(1 + t^2),   s = c t
//
// The test of orthogonality is relative to both lengths, so that small singular values come out with small relative error
// (Demmel and Veselic 1992). The longest remaining column goes first (de Rijk 1989): fewer sweeps, and s nearly in order.

// Until the end V is kept transposed: a rotation mixes two rows of it.

#define LEAST_SQUARE 0x1p-1000

static void rotate_columns(int m, int n, double c, double s, double *a, double *b)
{
    for (int k = 0; k < m; ++k) {
        size_t i = (size_t)k * (size_t)n;
        double ai = a[i], bi = b[i];
        a[i] = c * ai - s * bi;
        b[i] = s * ai + c * bi;
    }
}

// a . b for columns of a matrix with n columns, in two parts: even and odd rows.
static double column_dot(int m, int n, const double *a, const double *b)
{
    double even = 0.0, odd = 0.0;
    size_t i = 0, step = (size_t)n;
    for (int k = 0; k + 2 <= m; k += 2, i += 2 * step) {
        even += a[i] * b[i];
        odd += a[i + step] * b[i + step];
    }
    return m % 2 == 0 ? even + odd : even + a[i] * b[i] + odd;
}

static void clear_column(int m, int n, double *a)
{
    for (int k = 0; k < m; ++k) {
        a[(size_t)k * (size_t)n] = 0.0;
    }
}

// Make columns p and q of A orthogonal; squares holds a.a of each column, about. Returns whether they were not.
//
// The shorter column shrinks. Where the columns were parallel only rounding errors are left of it, 3 eps of its length or
// less. They may be parallel again, and shrink again, without end: so they are cleared. That changes a column of A by 4 eps
// of its length, which rounding does as well.
static bool orthogonalise(int m, int n, int p, int q, double *A, double *V, double *squares)
{
    double alpha = column_dot(m, n, A + p, A + p);
    double beta = column_dot(m, n, A + q, A + q);
    double gamma = column_dot(m, n, A + p, A + q);
    double tolerance = PZ_EPSILON * sqrt((double)m); // the rounding error to be expected of gamma
    if (!(fabs(gamma) > tolerance * sqrt(alpha) * sqrt(beta))) {
        return false;
    }
    double zeta = 0.5 * ((beta - alpha) / gamma);
    double t = (zeta < 0.0 ? -1.0 : 1.0) / (fabs(zeta) + hypotenuse(1.0, zeta));
    double c = 1.0 / sqrt(1.0 + t * t);
    rotate_columns(m, n, c, c * t, A + p, A + q);
    rotate(n, c, c * t, row(V, n, p), row(V, n, q));
    squares[p] = alpha - t * gamma;
    squares[q] = beta + t * gamma;

    int shorter = alpha < beta ? p : q;
    double noise = 4.0 * PZ_EPSILON * sqrt(min2(alpha, beta));
    if (column_dot(m, n, A + shorter, A + shorter) <= noise * noise) {
        clear_column(m, n, A + shorter);
        squares[shorter] = 0.0;
    }
    return true;
}

// Bring the largest of s[p..n), with its column of A and row of V, to place p.
static void largest_first(int m, int n, int p, double *A, double *s, double *V)
{
    int most = p;
    for (int q = p + 1; q < n; ++q) {
        most = s[q] > s[most] ? q : most;
    }
    if (most != p) {
        swap(1, 1, &s[p], &s[most]);
        swap(m, n, A + p, A + most);
        swap(n, 1, row(V, n, p), row(V, n, most));
    }
}

// One round over all pairs. Returns whether any had to turn. Columns so short that their squares lose bits are cleared.
static bool jacobi_sweep(int m, int n, double *A, double *s, double *V)
{
    for (int j = 0; j < n; ++j) {
        s[j] = column_dot(m, n, A + j, A + j);
        if (s[j] < LEAST_SQUARE) {
            clear_column(m, n, A + j);
            s[j] = 0.0;
        }
    }
    bool turned = false;
    for (int p = 0; p < n; ++p) {
        largest_first(m, n, p, A, s, V);
        for (int q = p + 1; q < n; ++q) {
            turned |= orthogonalise(m, n, p, q, A, V, s);
        }
    }
    return turned;
}

// Fill column j of U with a unit vector orthogonal to the columns before it: of the coordinate axes the one that lies least
// in their span, freed of its parts along them. Twice, since the first pass leaves rounding errors along them.
static void complete_column(int m, int n, int j, double *U)
{
    int axis = 0;
    double least = DBL_MAX;
    for (int i = 0; i < m; ++i) {
        double inside = dense_dot(j, row(U, n, i), row(U, n, i));
        axis = inside < least ? i : axis;
        least = min2(inside, least);
    }
    for (int i = 0; i < m; ++i) {
        row(U, n, i)[j] = i == axis ? 1.0 : 0.0;
    }
    for (int pass = 0; pass < 2; ++pass) {
        for (int k = 0; k < j; ++k) {
            double f = column_dot(m, n, U + k, U + j);
            for (int i = 0; i < m; ++i) {
                row(U, n, i)[j] -= f * row(U, n, i)[k];
            }
        }
    }
    double length = sqrt(column_dot(m, n, U + j, U + j));
    for (int i = 0; i < m; ++i) {
        row(U, n, i)[j] /= length;
    }
}

static void set_identity(int n, double *V)
{
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            row(V, n, i)[j] = i == j ? 1.0 : 0.0;
        }
    }
}

static void transpose(int n, double *V)
{
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < i; ++j) {
            swap(1, 1, &row(V, n, i)[j], &row(V, n, j)[i]);
        }
    }
}

bool pz_svd(int m, int n, double *A, double *s, double *V)
{
    const int most_sweeps = 40; // below ten are usual
    size_t count = (size_t)m * (size_t)n;
    if (!all_finite(A, count)) {
        return false;
    }
    double f = safe_factor(largest(count, A));
    for (size_t i = 0; i < count; ++i) {
        A[i] *= f;
    }
    set_identity(n, V);
    int sweep = 0;
    while (jacobi_sweep(m, n, A, s, V)) {
        if (++sweep == most_sweeps) {
            return false;
        }
    }
    for (int j = 0; j < n; ++j) {
        s[j] = sqrt(column_dot(m, n, A + j, A + j));
    }
    for (int j = 0; j < n; ++j) {
        largest_first(m, n, j, A, s, V);
        if (s[j] == 0.0) {
            complete_column(m, n, j, A);
            continue;
        }
        for (int i = 0; i < m; ++i) {
            row(A, n, i)[j] /= s[j];
        }
        s[j] /= f;
    }
    transpose(n, V);
    return true;
}

// ---- Bands ---------------------------------------------------------------------------------------------------------------
//
// Cholesky of a band:
//
//   L_ij = (A_ij - sum_k L_ik L_jk) / L_jj,  j < i          L_ii = sqrt(A_ii - sum_k L_ik^2)
//
// with k from the later of the two rows' first columns. The factor fills the band and no more (Golub & Van Loan 2013,
// section 4.3).

bool pz_band_cholesky(pz_band *A)
{
    for (int i = 0; i < A->n; ++i) {
        double *L_i = band_row(A, i);
        int first = band_first(A, i);
        for (int j = first; j <= i; ++j) {
            const double *L_j = band_row(A, j);
            int from = band_first(A, j);
            double sum = L_i[j];
            for (int k = first > from ? first : from; k < j; ++k) {
                sum -= L_i[k] * L_j[k];
            }
            if (j < i) {
                L_i[j] = sum / L_j[j];
            } else if (sum > 0 && is_finite(sum)) {
                L_i[i] = sqrt(sum);
            } else {
                return false;
            }
        }
    }
    return true;
}

void pz_band_solve(const pz_band *L, double *x)
{
    for (int i = 0; i < L->n; ++i) {
        const double *L_i = band_row(L, i);
        for (int j = band_first(L, i); j < i; ++j) {
            x[i] -= L_i[j] * x[j];
        }
        x[i] /= L_i[i];
    }
    for (int i = L->n - 1; i >= 0; --i) {
        const double *L_i = band_row(L, i);
        x[i] /= L_i[i];
        for (int j = band_first(L, i); j < i; ++j) {
            x[j] -= L_i[j] * x[i];
        }
    }
}
