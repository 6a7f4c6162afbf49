// Rotations of reals (real.h): the functions of math/quat.h and math/so3.h that kernels need. With the width 1 they are
// those; in lanes they do the same in the same order.
#ifndef PZ_SIMD_LANE_ROTATION_H
#define PZ_SIMD_LANE_ROTATION_H

#include "math/so3.h"
#include "simd/real3.h"

#if REAL_WIDTH == 1

typedef quat real_quat;
typedef so3_coefficients real_coefficients;

#define real_quat_matrix    quat_matrix
#define real_quat_normalize quat_normalize
#define real_so3_quadratic  so3_quadratic

// Those of exp(v), which is shortened first where its squares would overflow.
REAL_FN real_coefficients real_coefficients_of(real3 *v)
{
    if (!(fabs(v->x) + fabs(v->y) + fabs(v->z) < SO3_LONG_VECTOR)) {
        so3_reparameterise(v);
    }
    return so3_coefficients_of(*v);
}

#else

#include "math/so3_series.h"

typedef struct real_quat {
    real x, y, z, w;
} real_quat;

typedef so3_series_coefficients real_coefficients;

REAL_FN real_quat real_quat_mul(real_quat a, real_quat b)
{
    return (real_quat){a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                       a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}

REAL_FN real_quat real_quat_normalize(real_quat q)
{
    real largest = real_max2(real_max2(real_fabs(q.x), real_fabs(q.y)), real_max2(real_fabs(q.z), real_fabs(q.w)));
    mask is_sound = largest > real_of(0.0);
    real_quat p = {q.x / largest, q.y / largest, q.z / largest, q.w / largest};
    real n = real_sqrt(p.x * p.x + p.y * p.y + p.z * p.z + p.w * p.w);
    return (real_quat){real_where(is_sound, p.x / n), real_where(is_sound, p.y / n), real_where(is_sound, p.z / n),
                       real_where(is_sound, p.w / n)};
}

REAL_FN real33 real_quat_matrix(real_quat q)
{
    real xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    real xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
    real wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    return (real33){{1.0 - 2.0 * (yy + zz), 2.0 * (xy + wz), 2.0 * (xz - wy)},
                    {2.0 * (xy - wz), 1.0 - 2.0 * (xx + zz), 2.0 * (yz + wx)},
                    {2.0 * (xz + wy), 2.0 * (yz - wx), 1.0 - 2.0 * (xx + yy)}};
}

// so3_exp_quat; lanes whose square is not an ordinary number one by one.
REAL_FN real_quat real_exp_quat(real3 v)
{
    real x = real3_dot(v, v), theta = real_sqrt(x), sine, cosine;
    real_sincos(0.5 * theta, &sine, &cosine);
    real3 u = real3_scale(v, sine / theta);
    real_quat q = {u.x, u.y, u.z, cosine};
    mask is_ordinary = (x > real_of(1e-270)) & (x < real_of(1e290));
    for (int i = 0; i < REAL_WIDTH; ++i) {
        if (!is_ordinary[i]) {
            quat one = so3_exp_quat(real3_get(v, i));
            q.x[i] = one.x, q.y[i] = one.y, q.z[i] = one.z, q.w[i] = one.w;
        }
    }
    return q;
}

REAL_FN real33 real_so3_quadratic(real p, real r, real3 v)
{
    real xx = v.x * v.x, yy = v.y * v.y, zz = v.z * v.z;
    real xy = r * (v.x * v.y), xz = r * (v.x * v.z), yz = r * (v.y * v.z);
    real3 pv = real3_scale(v, p);
    return (real33){{1.0 - r * (yy + zz), xy + pv.z, xz - pv.y},
                    {xy - pv.z, 1.0 - r * (xx + zz), yz + pv.x},
                    {xz + pv.y, yz - pv.x, 1.0 - r * (xx + yy)}};
}

// Lanes whose vector is beyond the series, one by one.
REAL_KERNEL void real_long_vectors(real3 *v, real_coefficients *k, unsigned lanes)
{
    for (int i = 0; i < REAL_WIDTH; ++i) {
        if (lanes >> i & 1u) {
            vec3 one = real3_get(*v, i);
            if (!(fabs(one.x) + fabs(one.y) + fabs(one.z) < SO3_LONG_VECTOR)) {
                so3_reparameterise(&one);
            }
            so3_coefficients of = so3_coefficients_of(one);
            real3_set(v, i, one);
            k->a[i] = of.a, k->b[i] = of.b, k->c[i] = of.c, k->db[i] = of.db, k->dc[i] = of.dc;
        }
    }
}

REAL_FN real_coefficients real_coefficients_of(real3 *v)
{
    real square = real3_dot(*v, *v);
    real_coefficients k = so3_series(square);
    mask is_long = mask_not(square <= real_of(SO3_SERIES_LIMIT));
    if (mask_any(is_long)) {
        real_long_vectors(v, &k, mask_bits(is_long));
    }
    return k;
}

#endif

#endif
