// Unit quaternions, x y z w.
#ifndef PZ_MATH_QUAT_H
#define PZ_MATH_QUAT_H

#include "base/cpu.h"
#include "math/mat3.h"

typedef poise_quat quat;

static inline quat quat_mul(quat a, quat b)
{
    return (quat){a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                  a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}

static inline quat quat_conj(quat q)
{
    return (quat){-q.x, -q.y, -q.z, q.w};
}

static inline vec3 quat_vec(quat q)
{
    return v3(q.x, q.y, q.z);
}

static inline bool quat_is_finite(quat q)
{
    return is_finite(q.x) && is_finite(q.y) && is_finite(q.z) && is_finite(q.w);
}

// q / |q|, safe against overflow and underflow; the zero quaternion stays zero.
static inline quat quat_normalize(quat q)
{
    double largest = max2(max2(fabs(q.x), fabs(q.y)), max2(fabs(q.z), fabs(q.w)));
    if (!(largest > 0.0)) {
        return (quat){0, 0, 0, 0};
    }
    quat p = {q.x / largest, q.y / largest, q.z / largest, q.w / largest};
    double n = sqrt(p.x * p.x + p.y * p.y + p.z * p.z + p.w * p.w);
    return (quat){p.x / n, p.y / n, p.z / n, p.w / n};
}

// v + 2 w (u x v) + 2 u x (u x v), u the vector part
static inline vec3 quat_rotate(quat q, vec3 v)
{
    vec3 u = quat_vec(q);
    vec3 t = v3_scale(v3_cross(u, v), 2.0);
    return v3_add(v3_mad(v, q.w, t), v3_cross(u, t));
}

static inline mat3 quat_matrix(quat q)
{
    double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    double xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
    double wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    return (mat3){{1.0 - 2.0 * (yy + zz), 2.0 * (xy + wz), 2.0 * (xz - wy)},
                  {2.0 * (xy - wz), 1.0 - 2.0 * (xx + zz), 2.0 * (yz + wx)},
                  {2.0 * (xz + wy), 2.0 * (yz - wx), 1.0 - 2.0 * (xx + yy)}};
}

// Quaternion of a rotation matrix, w >= 0. Shepperd's choice of the largest of the four squares keeps the square root away
// from 0 (S. W. Shepperd, "Quaternion from rotation matrix", 1978).
PZ_DEVICE quat quat_from_matrix(const mat3 *R);

#endif
