// Three-vectors, 3 x 3 matrices, unit quaternions and spatial six-vectors, over `real` (real.h): one vocabulary for scalar
// code and for kernels of every width.
//
// Each thing has two types: vec3 is that of one problem, as models and goals hold it, and real3 that of as many problems as
// a real has lanes. With the width 1 both are the same type, and the functions are scalar code. Every lane does the
// operations of scalar code in their order, so all widths have the same bits. Names are short because formulas are made of
// them.
#ifndef PZ_NUM_VECTOR_H
#define PZ_NUM_VECTOR_H

#include <poise/math.h>

#include "num/real.h"

// ---- Types ---------------------------------------------------------------------------------------------------------------

typedef poise_vec3 vec3;
typedef poise_quat quat; // x y z w

// Stored by columns: those of a rotation are the axes of its frame, and that is how formulas use them.
typedef struct mat3 {
    vec3 x, y, z;
} mat3;

// Symmetric, each entry stored once.
typedef struct sym3 {
    double xx, xy, xz, yy, yz, zz;
} sym3;

// Motions and forces of rigid bodies, in world axes about one fixed reference point. A motion [w ; v] moves the body's point
// x (relative to the reference point) with the velocity w x x + v. A wrench [n ; f] is a torque about the reference point
// and a force. Their dot product is power, so the two are kept as two types: motions pair with wrenches, never with each
// other. (R. Featherstone, "Rigid Body Dynamics Algorithms", 2008, chapter 2.)
typedef struct spatial {
    vec3 w; // angular velocity
    vec3 v; // velocity of the body's point at the reference point
} spatial;

typedef struct wrench {
    vec3 n; // torque about the reference point
    vec3 f; // force
} wrench;

#if REAL_WIDTH == 1
typedef vec3 real3;
typedef mat3 real33;
typedef sym3 real_sym;
typedef quat real_quat;
typedef spatial real_spatial;
typedef wrench real_wrench;
#else
typedef struct real3 {
    real x, y, z;
} real3;

typedef struct real33 {
    real3 x, y, z; // columns
} real33;

typedef struct real_sym {
    real xx, xy, xz, yy, yz, zz;
} real_sym;

typedef struct real_quat {
    real x, y, z, w;
} real_quat;

typedef struct real_spatial {
    real3 w, v;
} real_spatial;

typedef struct real_wrench {
    real3 n, f;
} real_wrench;
#endif

// ---- One problem in all lanes, and one lane ------------------------------------------------------------------------------

REAL_FN real3 real3_of(vec3 v)
{
    return (real3){real_of(v.x), real_of(v.y), real_of(v.z)};
}

REAL_FN real33 real33_of(const mat3 *A)
{
    return (real33){real3_of(A->x), real3_of(A->y), real3_of(A->z)};
}

REAL_FN vec3 real3_get(real3 a, int lane)
{
    return (vec3){real_get(&a.x, lane), real_get(&a.y, lane), real_get(&a.z, lane)};
}

REAL_FN void real3_set(real3 *a, int lane, vec3 v)
{
    real_set(&a->x, lane, v.x), real_set(&a->y, lane, v.y), real_set(&a->z, lane, v.z);
}

REAL_FN sym3 real_sym_get(const real_sym *A, int lane)
{
    return (sym3){real_get(&A->xx, lane), real_get(&A->xy, lane), real_get(&A->xz, lane),
                  real_get(&A->yy, lane), real_get(&A->yz, lane), real_get(&A->zz, lane)};
}

// ---- Three-vectors -------------------------------------------------------------------------------------------------------

REAL_FN real3 v3(real x, real y, real z)
{
    return (real3){x, y, z};
}

REAL_FN real3 v3_zero(void)
{
    return (real3){real_of(0.0), real_of(0.0), real_of(0.0)};
}

REAL_FN real3 v3_add(real3 a, real3 b)
{
    return v3(a.x + b.x, a.y + b.y, a.z + b.z);
}

REAL_FN real3 v3_sub(real3 a, real3 b)
{
    return v3(a.x - b.x, a.y - b.y, a.z - b.z);
}

REAL_FN real3 v3_neg(real3 a)
{
    return v3(-a.x, -a.y, -a.z);
}

REAL_FN real3 v3_scale(real3 a, real s)
{
    return v3(a.x * s, a.y * s, a.z * s);
}

// a + s b
REAL_FN real3 v3_mad(real3 a, real s, real3 b)
{
    return v3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}

// s a + t b
REAL_FN real3 v3_combine(real s, real3 a, real t, real3 b)
{
    return v3(s * a.x + t * b.x, s * a.y + t * b.y, s * a.z + t * b.z);
}

REAL_FN real v3_dot(real3 a, real3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

REAL_FN real3 v3_cross(real3 a, real3 b)
{
    return v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

REAL_FN real v3_norm(real3 a)
{
    return real_sqrt(v3_dot(a, a));
}

// m ? a : b
REAL_FN real3 v3_select(real_mask m, real3 a, real3 b)
{
    return v3(real_select(m, a.x, b.x), real_select(m, a.y, b.y), real_select(m, a.z, b.z));
}

// m ? a : 0
REAL_FN real3 v3_where(real_mask m, real3 a)
{
    return v3(real_where(m, a.x), real_where(m, a.y), real_where(m, a.z));
}

#if REAL_WIDTH == 1

REAL_CALL bool v3_is_finite(vec3 a)
{
    return is_finite(a.x) && is_finite(a.y) && is_finite(a.z);
}

// a / |a|, safe against overflow and underflow of the squares; the zero vector stays zero.
REAL_CALL vec3 v3_normalize(vec3 a)
{
    double largest = max2(fabs(a.x), max2(fabs(a.y), fabs(a.z)));
    if (!(largest > 0.0)) {
        return v3(0.0, 0.0, 0.0);
    }
    vec3 b = v3(a.x / largest, a.y / largest, a.z / largest);
    double n = v3_norm(b);
    return v3(b.x / n, b.y / n, b.z / n);
}

REAL_CALL vec3 v3_load(const double *from)
{
    return v3(from[0], from[1], from[2]);
}

REAL_CALL double v3_get(vec3 v, int i)
{
    return i == 0 ? v.x : i == 1 ? v.y : v.z;
}

REAL_CALL void v3_store(vec3 v, double *to)
{
    to[0] = v.x, to[1] = v.y, to[2] = v.z;
}

// The direction of the part of v that is orthogonal to the unit vector n.
REAL_CALL vec3 v3_orthogonal(vec3 v, vec3 n)
{
    return v3_normalize(v3_mad(v, -v3_dot(v, n), n));
}

// A unit vector across a, whose length is about 1.
REAL_CALL vec3 v3_across(vec3 a)
{
    return v3_normalize(v3_cross(a, fabs(a.x) < 0.7 ? v3(1, 0, 0) : v3(0, 1, 0)));
}

#endif

// ---- Matrices ------------------------------------------------------------------------------------------------------------

REAL_FN real33 m3_identity(void)
{
    real o = real_of(0.0), one = real_of(1.0);
    return (real33){{one, o, o}, {o, one, o}, {o, o, one}};
}

// A v
REAL_FN real3 m3_apply(const real33 *A, real3 v)
{
    return v3(A->x.x * v.x + A->y.x * v.y + A->z.x * v.z, A->x.y * v.x + A->y.y * v.y + A->z.y * v.z,
              A->x.z * v.x + A->y.z * v.y + A->z.z * v.z);
}

// A^T v
REAL_FN real3 m3_apply_transposed(const real33 *A, real3 v)
{
    return v3(v3_dot(A->x, v), v3_dot(A->y, v), v3_dot(A->z, v));
}

// A B
REAL_CALL real33 m3_mul(const real33 *A, const real33 *B)
{
    return (real33){m3_apply(A, B->x), m3_apply(A, B->y), m3_apply(A, B->z)};
}

REAL_CALL real33 m3_transpose(const real33 *A)
{
    return (real33){{A->x.x, A->y.x, A->z.x}, {A->x.y, A->y.y, A->z.y}, {A->x.z, A->y.z, A->z.z}};
}

// [v]x, with [v]x w = v x w
REAL_FN real33 m3_cross(real3 v)
{
    real o = real_of(0.0);
    return (real33){{o, v.z, -v.y}, {-v.z, o, v.x}, {v.y, -v.x, o}};
}

#if REAL_WIDTH == 1

REAL_CALL mat3 m3_from_rows(const double m[9])
{
    return (mat3){{m[0], m[3], m[6]}, {m[1], m[4], m[7]}, {m[2], m[5], m[8]}};
}

REAL_CALL void m3_to_rows(const mat3 *A, double m[9])
{
    m[0] = A->x.x, m[1] = A->y.x, m[2] = A->z.x;
    m[3] = A->x.y, m[4] = A->y.y, m[5] = A->z.y;
    m[6] = A->x.z, m[7] = A->y.z, m[8] = A->z.z;
}

#endif

// ---- Symmetric matrices --------------------------------------------------------------------------------------------------

REAL_FN real_sym sym3_zero(void)
{
    real o = real_of(0.0);
    return (real_sym){o, o, o, o, o, o};
}

// s I
REAL_FN real_sym sym3_identity(real s)
{
    real o = real_of(0.0);
    return (real_sym){s, o, o, s, o, s};
}

REAL_FN real_sym sym3_add(real_sym a, real_sym b)
{
    return (real_sym){a.xx + b.xx, a.xy + b.xy, a.xz + b.xz, a.yy + b.yy, a.yz + b.yz, a.zz + b.zz};
}

REAL_FN real_sym sym3_sub(real_sym a, real_sym b)
{
    return (real_sym){a.xx - b.xx, a.xy - b.xy, a.xz - b.xz, a.yy - b.yy, a.yz - b.yz, a.zz - b.zz};
}

// A + s B
REAL_FN real_sym sym3_mad(real_sym a, real s, real_sym b)
{
    return (real_sym){a.xx + s * b.xx, a.xy + s * b.xy, a.xz + s * b.xz, a.yy + s * b.yy, a.yz + s * b.yz, a.zz + s * b.zz};
}

REAL_FN real_sym sym3_scale(real_sym a, real s)
{
    return (real_sym){s * a.xx, s * a.xy, s * a.xz, s * a.yy, s * a.yz, s * a.zz};
}

// m ? A : 0
REAL_FN real_sym sym3_where(real_mask m, real_sym a)
{
    return (real_sym){real_where(m, a.xx), real_where(m, a.xy), real_where(m, a.xz),
                      real_where(m, a.yy), real_where(m, a.yz), real_where(m, a.zz)};
}

// s u u^T
REAL_FN real_sym sym3_outer(real s, real3 u)
{
    real3 su = v3_scale(u, s);
    return (real_sym){su.x * u.x, su.x * u.y, su.x * u.z, su.y * u.y, su.y * u.z, su.z * u.z};
}

// (u w^T + w u^T)/2
REAL_FN real_sym sym3_pair(real3 u, real3 w)
{
    real half = real_of(0.5);
    return (real_sym){u.x * w.x, half * (u.x * w.y + u.y * w.x), half * (u.x * w.z + u.z * w.x),
                      u.y * w.y, half * (u.y * w.z + u.z * w.y), u.z * w.z};
}

// A + u u^T
REAL_FN real_sym sym3_add_square(real_sym A, real3 u)
{
    return (real_sym){A.xx + u.x * u.x, A.xy + u.x * u.y, A.xz + u.x * u.z,
                      A.yy + u.y * u.y, A.yz + u.y * u.z, A.zz + u.z * u.z};
}

// (M + M^T)/2
REAL_FN real_sym sym3_of(const real33 *M)
{
    return (real_sym){M->x.x, 0.5 * (M->y.x + M->x.y), 0.5 * (M->z.x + M->x.z), M->y.y, 0.5 * (M->z.y + M->y.z), M->z.z};
}

REAL_FN real3 sym3_apply(const real_sym *A, real3 v)
{
    return v3(A->xx * v.x + A->xy * v.y + A->xz * v.z, A->xy * v.x + A->yy * v.y + A->yz * v.z,
              A->xz * v.x + A->yz * v.y + A->zz * v.z);
}

REAL_FN real33 sym3_matrix(const real_sym *A)
{
    return (real33){{A->xx, A->xy, A->xz}, {A->xy, A->yy, A->yz}, {A->xz, A->yz, A->zz}};
}

// ---- Unit quaternions ----------------------------------------------------------------------------------------------------

REAL_CALL real_quat quat_mul(real_quat a, real_quat b)
{
    return (real_quat){a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                       a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}

REAL_FN real_quat quat_conj(real_quat q)
{
    return (real_quat){-q.x, -q.y, -q.z, q.w};
}

REAL_FN real3 quat_vec(real_quat q)
{
    return v3(q.x, q.y, q.z);
}

// q / |q|, safe against overflow and underflow; the zero quaternion stays zero.
REAL_CALL real_quat quat_normalize(real_quat q)
{
    real largest = real_max2(real_max2(real_fabs(q.x), real_fabs(q.y)), real_max2(real_fabs(q.z), real_fabs(q.w)));
    real_mask is_sound = largest > real_of(0.0);
    if (REAL_WIDTH == 1 && !mask_any(is_sound)) {
        return (real_quat){real_of(0.0), real_of(0.0), real_of(0.0), real_of(0.0)};
    }
    real_quat p = {q.x / largest, q.y / largest, q.z / largest, q.w / largest};
    real n = real_sqrt(p.x * p.x + p.y * p.y + p.z * p.z + p.w * p.w);
    return (real_quat){real_where(is_sound, p.x / n), real_where(is_sound, p.y / n), real_where(is_sound, p.z / n),
                       real_where(is_sound, p.w / n)};
}

// v + 2 w (u x v) + 2 u x (u x v), u the vector part
REAL_CALL real3 quat_rotate(real_quat q, real3 v)
{
    real3 u = quat_vec(q);
    real3 t = v3_scale(v3_cross(u, v), real_of(2.0));
    return v3_add(v3_mad(v, q.w, t), v3_cross(u, t));
}

REAL_CALL real33 quat_matrix(real_quat q)
{
    real xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    real xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
    real wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    return (real33){{1.0 - 2.0 * (yy + zz), 2.0 * (xy + wz), 2.0 * (xz - wy)},
                    {2.0 * (xy - wz), 1.0 - 2.0 * (xx + zz), 2.0 * (yz + wx)},
                    {2.0 * (xz + wy), 2.0 * (yz - wx), 1.0 - 2.0 * (xx + yy)}};
}

// Quaternion of a rotation matrix, w >= 0 (rotation_kernel.h).
PZ_CALL quat quat_from_matrix(const mat3 *R);

#if REAL_WIDTH == 1

REAL_CALL bool quat_is_finite(quat q)
{
    return is_finite(q.x) && is_finite(q.y) && is_finite(q.z) && is_finite(q.w);
}

#endif

// ---- Motions and wrenches ------------------------------------------------------------------------------------------------

REAL_FN real_spatial spatial_zero(void)
{
    return (real_spatial){v3_zero(), v3_zero()};
}

// a + s b
REAL_FN real_spatial spatial_mad(real_spatial a, real s, real_spatial b)
{
    return (real_spatial){v3_mad(a.w, s, b.w), v3_mad(a.v, s, b.v)};
}

// w . n + v . f, the power of the wrench g along the motion m
REAL_FN real spatial_dot(real_spatial m, real_wrench g)
{
    return v3_dot(m.w, g.n) + v3_dot(m.v, g.f);
}

// a x b = (w_a x w_b, w_a x v_b + v_a x w_b): the rate of a motion b that is fixed in a body moving with a
REAL_FN real_spatial spatial_cross(real_spatial a, real_spatial b)
{
    return (real_spatial){v3_cross(a.w, b.w), v3_add(v3_cross(a.w, b.v), v3_cross(a.v, b.w))};
}

REAL_FN real_wrench wrench_zero(void)
{
    return (real_wrench){v3_zero(), v3_zero()};
}

REAL_FN real_wrench wrench_add(real_wrench a, real_wrench b)
{
    return (real_wrench){v3_add(a.n, b.n), v3_add(a.f, b.f)};
}

// a + s b
REAL_FN real_wrench wrench_mad(real_wrench a, real s, real_wrench b)
{
    return (real_wrench){v3_mad(a.n, s, b.n), v3_mad(a.f, s, b.f)};
}

// A map from motions [w ; v] to wrenches [n ; f], symmetric: n = ww w + wv v, f = wv^T w + vv v.
typedef struct sym6 {
    sym3 ww;
    mat3 wv; // its columns belong to the components of v
    sym3 vv;
} sym6;

#if REAL_WIDTH == 1

REAL_CALL wrench sym6_apply(const sym6 *A, spatial m)
{
    return (wrench){v3_add(sym3_apply(&A->ww, m.w), m3_apply(&A->wv, m.v)),
                    v3_add(m3_apply_transposed(&A->wv, m.w), sym3_apply(&A->vv, m.v))};
}

#endif

#endif
