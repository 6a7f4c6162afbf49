// Six-vectors and symmetric 6 x 6 matrices of reals (real.h), for the sweeps along a tree.
//
// With the width 1 they are in registers of two doubles, which every target of today has (SSE2, NEON, wasm); matrices are
// full, and symmetric to the last bit. In lanes every entry is a number of its own, and half of a matrix will do; so on a
// graphics processor, which has no vectors (PZ_HAS_VECTORS of base/build.h). All do the same operations in the same order.
#ifndef PZ_SIMD_SIX_H
#define PZ_SIMD_SIX_H

#include "simd/real3.h"

// A motion [w ; v] or a wrench [n ; f], in halves.
typedef struct real6 {
    real3 a, b;
} real6;

REAL_FN real6 real6_zero(void)
{
    return (real6){real3_zero(), real3_zero()};
}

REAL_FN real6 real6_add(real6 u, real6 v)
{
    return (real6){real3_add(u.a, v.a), real3_add(u.b, v.b)};
}

// u + s v
REAL_FN real6 real6_mad(real6 u, real s, real6 v)
{
    return (real6){real3_mad(u.a, s, v.a), real3_mad(u.b, s, v.b)};
}

REAL_FN real6 real6_scale(real6 u, real s)
{
    return (real6){real3_scale(u.a, s), real3_scale(u.b, s)};
}

REAL_FN real6 real6_select(mask m, real6 u, real6 v)
{
    return (real6){real3_select(m, u.a, v.a), real3_select(m, u.b, v.b)};
}

// As spatial_dot: first the three of the one half, then those of the other.
REAL_FN real real6_power(real6 m, real6 g)
{
    return real3_dot(m.a, g.a) + real3_dot(m.b, g.b);
}

// As spatial_cross.
REAL_FN real6 real6_cross(real6 m, real6 n)
{
    return (real6){real3_cross(m.a, n.a), real3_add(real3_cross(m.a, n.b), real3_cross(m.b, n.a))};
}

#if REAL_WIDTH == 1 && PZ_HAS_VECTORS

// ---- Registers of two ----------------------------------------------------------------------------------------------------

typedef double two __attribute__((vector_size(16)));

typedef struct six {
    two a, b, c;
} six;

typedef struct six_by_six {
    six column[6];
} six_by_six;

static inline two two_of(double s)
{
    return (two){s, s};
}

static inline six six_load(const double *from)
{
    six v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline six six_zero(void)
{
    return (six){two_of(0.0), two_of(0.0), two_of(0.0)};
}

static inline six six_add(six u, six v)
{
    return (six){u.a + v.a, u.b + v.b, u.c + v.c};
}

static inline six six_scale(six u, double s)
{
    two t = two_of(s);
    return (six){u.a * t, u.b * t, u.c * t};
}

// u + s v
static inline six six_mad(six u, double s, six v)
{
    two t = two_of(s);
    return (six){u.a + t * v.a, u.b + t * v.b, u.c + t * v.c};
}

static inline six six_select(bool m, six u, six v)
{
    return m ? u : v;
}

// Even places, then odd ones.
static inline double six_dot(six u, six v)
{
    two sum = u.a * v.a + u.b * v.b + u.c * v.c;
    return sum[0] + sum[1];
}

static inline six_by_six six_by_six_zero(void)
{
    return (six_by_six){{six_zero(), six_zero(), six_zero(), six_zero(), six_zero(), six_zero()}};
}

static inline six_by_six six_by_six_add(six_by_six A, const six_by_six *B)
{
    for (int i = 0; i < 6; ++i) {
        A.column[i] = six_add(A.column[i], B->column[i]);
    }
    return A;
}

// u + A v
static inline six six_apply(six u, const six_by_six *A, six v)
{
    u = six_mad(u, v.a[0], A->column[0]);
    u = six_mad(u, v.a[1], A->column[1]);
    u = six_mad(u, v.b[0], A->column[2]);
    u = six_mad(u, v.b[1], A->column[3]);
    u = six_mad(u, v.c[0], A->column[4]);
    return six_mad(u, v.c[1], A->column[5]);
}

// A - u u^T
static inline void six_subtract_square(six_by_six *A, six u)
{
    A->column[0] = six_mad(A->column[0], -u.a[0], u);
    A->column[1] = six_mad(A->column[1], -u.a[1], u);
    A->column[2] = six_mad(A->column[2], -u.b[0], u);
    A->column[3] = six_mad(A->column[3], -u.b[1], u);
    A->column[4] = six_mad(A->column[4], -u.c[0], u);
    A->column[5] = six_mad(A->column[5], -u.c[1], u);
}

#else

// ---- Numbers of their own ------------------------------------------------------------------------------------------------

typedef real6 six;

// The lower triangle, row by row.
typedef struct six_by_six {
    real m[21];
} six_by_six;

#define SIX_AT(i, j) ((i) >= (j) ? (i) * ((i) + 1) / 2 + (j) : (j) * ((j) + 1) / 2 + (i))

REAL_FN six six_load(const real *from)
{
    return (six){{from[0], from[1], from[2]}, {from[3], from[4], from[5]}};
}

REAL_FN six six_zero(void)
{
    return real6_zero();
}

REAL_FN six six_add(six u, six v)
{
    return real6_add(u, v);
}

REAL_FN six six_scale(six u, real s)
{
    return real6_scale(u, s);
}

// u + s v
REAL_FN six six_mad(six u, real s, six v)
{
    return real6_mad(u, s, v);
}

REAL_FN six six_select(mask m, six u, six v)
{
    return real6_select(m, u, v);
}

// Even places, then odd ones.
REAL_FN real six_dot(six u, six v)
{
    real even = u.a.x * v.a.x + u.a.z * v.a.z + u.b.y * v.b.y;
    real odd = u.a.y * v.a.y + u.b.x * v.b.x + u.b.z * v.b.z;
    return even + odd;
}

REAL_FN six_by_six six_by_six_zero(void)
{
    six_by_six A;
    REAL_UNROLL
    for (int i = 0; i < 21; ++i) {
        A.m[i] = real_of(0.0);
    }
    return A;
}

REAL_FN six_by_six six_by_six_add(six_by_six A, const six_by_six *B)
{
    REAL_UNROLL
    for (int i = 0; i < 21; ++i) {
        A.m[i] = A.m[i] + B->m[i];
    }
    return A;
}

// u + A v, column by column
REAL_FN six six_apply(six u, const six_by_six *A, six v)
{
    const real s[6] = {v.a.x, v.a.y, v.a.z, v.b.x, v.b.y, v.b.z};
    real sum[6] = {u.a.x, u.a.y, u.a.z, u.b.x, u.b.y, u.b.z};
    REAL_UNROLL
    for (int i = 0; i < 6; ++i) {
        REAL_UNROLL
        for (int j = 0; j < 6; ++j) {
            sum[i] = sum[i] + s[j] * A->m[SIX_AT(i, j)];
        }
    }
    return six_load(sum);
}

// A - u u^T
REAL_FN void six_subtract_square(six_by_six *A, six u)
{
    const real s[6] = {u.a.x, u.a.y, u.a.z, u.b.x, u.b.y, u.b.z};
    REAL_UNROLL
    for (int i = 0; i < 6; ++i) {
        REAL_UNROLL
        for (int j = 0; j <= i; ++j) {
            A->m[SIX_AT(i, j)] = A->m[SIX_AT(i, j)] - s[j] * s[i];
        }
    }
}

#endif

#endif
