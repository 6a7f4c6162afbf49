// Three-vectors and 3 x 3 matrices of reals (real.h). With the width 1 they are those of math/; every width has their bits.
#ifndef PZ_SIMD_REAL3_H
#define PZ_SIMD_REAL3_H

#include "math/sym.h"
#include "simd/real.h"

// ---- Three-vectors -------------------------------------------------------------------------------------------------------

#if REAL_WIDTH == 1
typedef vec3 real3;
#else
typedef struct real3 {
    real x, y, z;
} real3;
#endif

REAL_FN real3 real3_of(vec3 v)
{
    return (real3){real_of(v.x), real_of(v.y), real_of(v.z)};
}

REAL_FN real3 real3_zero(void)
{
    return (real3){real_of(0.0), real_of(0.0), real_of(0.0)};
}

REAL_FN real3 real3_add(real3 a, real3 b)
{
    return (real3){a.x + b.x, a.y + b.y, a.z + b.z};
}

REAL_FN real3 real3_sub(real3 a, real3 b)
{
    return (real3){a.x - b.x, a.y - b.y, a.z - b.z};
}

REAL_FN real3 real3_scale(real3 a, real s)
{
    return (real3){a.x * s, a.y * s, a.z * s};
}

// a + s b
REAL_FN real3 real3_mad(real3 a, real s, real3 b)
{
    return (real3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

// s a + t b
REAL_FN real3 real3_combine(real s, real3 a, real t, real3 b)
{
    return (real3){s * a.x + t * b.x, s * a.y + t * b.y, s * a.z + t * b.z};
}

REAL_FN real real3_dot(real3 a, real3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

REAL_FN real3 real3_cross(real3 a, real3 b)
{
    return (real3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

REAL_FN real3 real3_neg(real3 a)
{
    return (real3){-a.x, -a.y, -a.z};
}

// One lane, read and written.
REAL_FN vec3 real3_get(real3 a, int lane)
{
    return v3(real_get(&a.x, lane), real_get(&a.y, lane), real_get(&a.z, lane));
}

REAL_FN void real3_set(real3 *a, int lane, vec3 v)
{
    real_set(&a->x, lane, v.x), real_set(&a->y, lane, v.y), real_set(&a->z, lane, v.z);
}

REAL_FN real3 real3_select(mask m, real3 a, real3 b)
{
    return (real3){real_select(m, a.x, b.x), real_select(m, a.y, b.y), real_select(m, a.z, b.z)};
}

REAL_FN real3 real3_where(mask m, real3 a)
{
    return (real3){real_where(m, a.x), real_where(m, a.y), real_where(m, a.z)};
}

// ---- Matrices ------------------------------------------------------------------------------------------------------------

#if REAL_WIDTH == 1
typedef mat3 real33;
typedef sym3 real_sym;
#else
typedef struct real33 {
    real3 x, y, z; // columns
} real33;

typedef struct real_sym {
    real xx, xy, xz, yy, yz, zz;
} real_sym;
#endif

REAL_FN real33 real33_of(const mat3 *A)
{
    return (real33){real3_of(A->x), real3_of(A->y), real3_of(A->z)};
}

REAL_FN real3 real33_apply(const real33 *A, real3 v)
{
    return (real3){A->x.x * v.x + A->y.x * v.y + A->z.x * v.z, A->x.y * v.x + A->y.y * v.y + A->z.y * v.z,
                   A->x.z * v.x + A->y.z * v.y + A->z.z * v.z};
}

REAL_FN real3 real33_apply_transposed(const real33 *A, real3 v)
{
    return (real3){real3_dot(A->x, v), real3_dot(A->y, v), real3_dot(A->z, v)};
}

REAL_FN real33 real33_mul(const real33 *A, const real33 *B)
{
    return (real33){real33_apply(A, B->x), real33_apply(A, B->y), real33_apply(A, B->z)};
}

REAL_FN real_sym real_sym_zero(void)
{
    real o = real_of(0.0);
    return (real_sym){o, o, o, o, o, o};
}

REAL_FN real_sym real_sym_identity(real s)
{
    real o = real_of(0.0);
    return (real_sym){s, o, o, s, o, s};
}

REAL_FN real_sym real_sym_add(real_sym a, real_sym b)
{
    return (real_sym){a.xx + b.xx, a.xy + b.xy, a.xz + b.xz, a.yy + b.yy, a.yz + b.yz, a.zz + b.zz};
}

REAL_FN real_sym real_sym_sub(real_sym a, real_sym b)
{
    return (real_sym){a.xx - b.xx, a.xy - b.xy, a.xz - b.xz, a.yy - b.yy, a.yz - b.yz, a.zz - b.zz};
}

REAL_FN real_sym real_sym_scale(real_sym a, real s)
{
    return (real_sym){s * a.xx, s * a.xy, s * a.xz, s * a.yy, s * a.yz, s * a.zz};
}

// s u u^T
REAL_FN real_sym real_sym_outer(real s, real3 u)
{
    real3 su = real3_scale(u, s);
    return (real_sym){su.x * u.x, su.x * u.y, su.x * u.z, su.y * u.y, su.y * u.z, su.z * u.z};
}

// (u w^T + w u^T)/2
REAL_FN real_sym real_sym_pair(real3 u, real3 w)
{
    real half = real_of(0.5);
    return (real_sym){u.x * w.x, half * (u.x * w.y + u.y * w.x), half * (u.x * w.z + u.z * w.x),
                      u.y * w.y, half * (u.y * w.z + u.z * w.y), u.z * w.z};
}

REAL_FN real_sym real_sym_where(mask m, real_sym a)
{
    return (real_sym){real_where(m, a.xx), real_where(m, a.xy), real_where(m, a.xz),
                      real_where(m, a.yy), real_where(m, a.yz), real_where(m, a.zz)};
}

// A + u u^T
REAL_FN real_sym real_sym_add_square(real_sym A, real3 u)
{
    return (real_sym){A.xx + u.x * u.x, A.xy + u.x * u.y, A.xz + u.x * u.z,
                      A.yy + u.y * u.y, A.yz + u.y * u.z, A.zz + u.z * u.z};
}

REAL_FN real3 real_sym_apply(const real_sym *A, real3 v)
{
    return (real3){A->xx * v.x + A->xy * v.y + A->xz * v.z, A->xy * v.x + A->yy * v.y + A->yz * v.z,
                   A->xz * v.x + A->yz * v.y + A->zz * v.z};
}

// One lane.
REAL_FN sym3 real_sym_get(const real_sym *A, int lane)
{
    return (sym3){real_get(&A->xx, lane), real_get(&A->xy, lane), real_get(&A->xz, lane),
                  real_get(&A->yy, lane), real_get(&A->yz, lane), real_get(&A->zz, lane)};
}

REAL_FN real33 real_sym_matrix(const real_sym *A)
{
    return (real33){{A->xx, A->xy, A->xz}, {A->xy, A->yy, A->yz}, {A->xz, A->yz, A->zz}};
}

#endif
