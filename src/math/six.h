// Six-vectors and 6 x 6 matrices in registers of two, for the sweeps along a tree.
//
// Vectors of two doubles are what every target of today has (SSE2, NEON, wasm). Each lane does what scalar code would do, in
// the same order, so results do not depend on them. A graphics processor has none, and its own `two` in their place
// (cuda/kernels/device_two.h).
#ifndef PZ_MATH_SIX_H
#define PZ_MATH_SIX_H

#include <string.h>

#ifndef PZ_HAS_TWO
typedef double two __attribute__((vector_size(16)));
#endif

typedef struct six {
    two a, b, c;
} six;

// Columns. All here are symmetric, to the last bit.
#ifndef PZ_HAS_TWO
typedef struct six_by_six {
    six column[6];
} six_by_six;
#endif

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

static inline void six_store(six v, double *to)
{
    memcpy(to, &v, sizeof v);
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

static inline double six_dot(six u, six v)
{
    two sum = u.a * v.a + u.b * v.b + u.c * v.c;
    return sum[0] + sum[1];
}

#ifndef PZ_HAS_TWO

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

#endif

#endif
