// Loops that the dense factorisations share. Row-major: row i of an n-column matrix A starts at A + i n.
#ifndef PZ_MATH_DENSE_LOOPS_H
#define PZ_MATH_DENSE_LOOPS_H

#include "math/scalar.h"

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

// Sum of a_k b_k in four interleaved parts: a fixed order that still fills the pipeline.
static inline double dot(int n, const double *a, const double *b)
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

// y <- y + f x.
static inline void add_scaled(int n, double f, const double *restrict x, double *restrict y)
{
    for (int k = 0; k < n; ++k) {
        y[k] += f * x[k];
    }
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

#endif
