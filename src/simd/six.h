// Six-vectors and symmetric 6 x 6 matrices of reals (real.h), for the sweeps along a tree.
//
// With the width 1 they are in registers of two doubles, which every target of today has (SSE2, NEON, wasm), or for a source
// that defines REAL_PACKED in one of four and one of two; matrices are full, and symmetric to the last bit. In lanes every
// entry is a number of its own, and half of a matrix will do. All do the same operations in the same order.
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

#if REAL_WIDTH == 1

// ---- Registers of two ----------------------------------------------------------------------------------------------------

typedef double two __attribute__((vector_size(16)));

REAL_FN two two_of(double s)
{
    return (two){s, s};
}

#if defined(REAL_PACKED)

// One register of four and one of two, as near to each other in memory as six numbers.
typedef double four_of_six __attribute__((vector_size(32), aligned(16)));

typedef struct six {
    four_of_six a;
    two c;
} six;

// Four numbers by a load of four: memcpy would go by way of the stack, in halves, and wait for them.
REAL_FN six six_load(const double *from)
{
    typedef double unaligned __attribute__((vector_size(32), aligned(8), may_alias));
    two c;
    memcpy(&c, from + 4, sizeof c);
    return (six){*(const unaligned *)from, c};
}

REAL_FN six six_zero(void)
{
    return (six){(four_of_six){0.0, 0.0, 0.0, 0.0}, two_of(0.0)};
}

REAL_FN six six_add(six u, six v)
{
    return (six){u.a + v.a, u.c + v.c};
}

REAL_FN six six_scale(six u, double s)
{
    return (six){u.a * s, u.c * s};
}

// u + s v
REAL_FN six six_mad(six u, double s, six v)
{
    return (six){u.a + v.a * s, u.c + v.c * s};
}

// Even places, then odd ones.
REAL_FN double six_dot(six u, six v)
{
    four_of_six product = u.a * v.a;
    two low = REAL_PICK2(product, 0, 1), high = REAL_PICK2(product, 2, 3);
    two sum = low + high + u.c * v.c;
    return sum[0] + sum[1];
}

#else

typedef struct six {
    two a, b, c;
} six;

REAL_FN six six_load(const double *from)
{
    six v;
    memcpy(&v, from, sizeof v);
    return v;
}

REAL_FN six six_zero(void)
{
    return (six){two_of(0.0), two_of(0.0), two_of(0.0)};
}

REAL_FN six six_add(six u, six v)
{
    return (six){u.a + v.a, u.b + v.b, u.c + v.c};
}

REAL_FN six six_scale(six u, double s)
{
    two t = two_of(s);
    return (six){u.a * t, u.b * t, u.c * t};
}

// u + s v
REAL_FN six six_mad(six u, double s, six v)
{
    two t = two_of(s);
    return (six){u.a + t * v.a, u.b + t * v.b, u.c + t * v.c};
}

// Even places, then odd ones.
REAL_FN double six_dot(six u, six v)
{
    two sum = u.a * v.a + u.b * v.b + u.c * v.c;
    return sum[0] + sum[1];
}

#endif

typedef struct six_by_six {
    six column[6];
} six_by_six;

REAL_FN six six_select(bool m, six u, six v)
{
    return m ? u : v;
}

// u + A v, for the six numbers of v
REAL_FN six six_apply(six u, const six_by_six *A, const double *v)
{
    REAL_UNROLL
    for (int i = 0; i < 6; ++i) {
        u = six_mad(u, v[i], A->column[i]);
    }
    return u;
}

// to + A - sum over k of u_k u_k^T, where A NULL is 0, and `to` if it begins. `count`, that of u, is a constant.
REAL_FN void six_by_six_hand_on(const six_by_six *A, int count, const six *u, bool begins, six_by_six *to)
{
    REAL_UNROLL
    for (int i = 0; i < 6; ++i) {
        six column = A ? A->column[i] : six_zero();
        REAL_UNROLL
        for (int k = 0; k < count; ++k) {
            double s;
            memcpy(&s, (const char *)&u[k] + (size_t)i * sizeof s, sizeof s);
            column = six_mad(column, -s, u[k]);
        }
        to->column[i] = six_add(begins ? six_zero() : to->column[i], column);
    }
}

#else

// ---- Numbers of their own ------------------------------------------------------------------------------------------------

typedef real6 six;

// The lower triangle, row by row.
typedef struct six_by_six {
    real m[21];
} six_by_six;

#define SIX_AT(i, j) ((i) >= (j) ? (i) * ((i) + 1) / 2 + (j) : (j) * ((j) + 1) / 2 + (i))
#define SIX_PLACE(u, i)                                                                                                     \
    ((i) == 0 ? (u).a.x : (i) == 1 ? (u).a.y : (i) == 2 ? (u).a.z : (i) == 3 ? (u).b.x : (i) == 4 ? (u).b.y : (u).b.z)

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

// u + A v, column by column
REAL_FN six six_apply(six u, const six_by_six *A, const real *v)
{
    real sum[6] = {u.a.x, u.a.y, u.a.z, u.b.x, u.b.y, u.b.z};
    REAL_UNROLL
    for (int i = 0; i < 6; ++i) {
        REAL_UNROLL
        for (int j = 0; j < 6; ++j) {
            sum[i] = sum[i] + v[j] * A->m[SIX_AT(i, j)];
        }
    }
    return six_load(sum);
}

// to + A - sum over k of u_k u_k^T, where A NULL is 0, and `to` if it begins.
REAL_FN void six_by_six_hand_on(const six_by_six *A, int count, const six *u, bool begins, six_by_six *to)
{
    REAL_UNROLL
    for (int i = 0; i < 6; ++i) {
        REAL_UNROLL
        for (int j = 0; j <= i; ++j) {
            real entry = A ? A->m[SIX_AT(i, j)] : real_of(0.0);
            REAL_UNROLL
            for (int k = 0; k < count; ++k) {
                entry = entry - SIX_PLACE(u[k], j) * SIX_PLACE(u[k], i);
            }
            to->m[SIX_AT(i, j)] = (begins ? real_of(0.0) : to->m[SIX_AT(i, j)]) + entry;
        }
    }
}

#endif

#endif
