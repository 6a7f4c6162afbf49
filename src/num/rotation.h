// Rotations: the group with its exponential map, logarithm, left Jacobian and its derivative; matrices, Euler angles, poses.
//
// With W = [v]x, theta = |v|:
//
//   exp(v)  = I + a W + b W^2                 a = sin(theta)/theta          b = (1 - cos(theta))/theta^2
//   J_l(v)  = I + b W + c W^2                 c = (theta - sin(theta))/theta^3
//   exp(v + dv) = exp(J_l dv) exp(v) + O(dv^2)
//
// Below a small angle the coefficients come from their series: the closed forms cancel there.
#ifndef PZ_NUM_ROTATION_H
#define PZ_NUM_ROTATION_H

#include "num/trig.h"
#include "num/vector.h"

#define SO3_SERIES_LIMIT 6.25  // of theta^2: the series up to here, closed forms beyond
#define SO3_LONG_VECTOR  1e100 // sum of |components| from which a vector is shortened first: its squares would overflow

typedef struct so3_coefficients {
    double a, b, c; // as above
    double db, dc;  // b'(theta)/theta and c'(theta)/theta
} so3_coefficients;

so3_coefficients so3_coefficients_of(vec3 v);

// exp(v) as a matrix and as a unit quaternion. Any finite v.
mat3 so3_exp(vec3 v);
PZ_CALL quat so3_exp_quat(vec3 v);

// The shortest v with exp(v) = q, |v| <= pi. q is unit; the sign of q does not matter.
PZ_CALL vec3 so3_log(quat q);

// J_l(v), and its inverse for |v| < 2 pi.
mat3 so3_left_jacobian(vec3 v);
mat3 so3_left_jacobian_inverse(vec3 v);

// dJ[j] = dJ_l/dv_j, j = 0, 1, 2.
void so3_left_jacobian_derivative(vec3 v, mat3 dJ[3]);

// v shortened by whole turns to |v| <= pi; returns whether it changed. The rotation is the same.
PZ_CALL bool so3_reparameterise(vec3 *v);

// The rotation r with the largest tr(R M), as a unit quaternion over the first `count` (3 or 4) of w x y z, M = sum x t^T:
// it brings the x nearest to the t. False when the numbers do not allow it.
bool pz_best_quat(const mat3 *M, int count, quat *r);

// ---- Matrices ------------------------------------------------------------------------------------------------------------

// d I + p W + r W^2, the form that all matrices here share; W^2 = v v^T - |v|^2 I. The six products do not depend on the
// coefficients: where this is expanded twice for one v, the compiler computes them once.
REAL_FN real33 so3_polynomial(real d, real p, real r, real3 v)
{
    real xx = v.x * v.x, yy = v.y * v.y, zz = v.z * v.z;
    real xy = r * (v.x * v.y), xz = r * (v.x * v.z), yz = r * (v.y * v.z);
    real3 pv = v3_scale(v, p);
    return (real33){{d - r * (yy + zz), xy + pv.z, xz - pv.y},
                    {xy - pv.z, d - r * (xx + zz), yz + pv.x},
                    {xz + pv.y, yz - pv.x, d - r * (xx + yy)}};
}

// I + p W + r W^2: exp with (a, b), J_l with (b, c)
REAL_FN real33 so3_quadratic(real p, real r, real3 v)
{
    return so3_polynomial(real_of(1.0), p, r, v);
}

// ---- The series behind so3_coefficients_of; rotation.c has its derivation ------------------------------------------------

#define SO3_SERIES_TERMS 12

typedef struct so3_series_coefficients {
    reals a, b, c, db, dc; // as those of so3_coefficients
} so3_series_coefficients;

// All of them for x = theta^2 up to SO3_SERIES_LIMIT. Even and odd terms in two chains each: half the latency.
REAL_FN so3_series_coefficients so3_series(reals x)
{
    // 1/4!, 1/6!, ... 1/26! and 1/5!, 1/7!, ... 1/27!, the signs taken out
    static const double SO3_SERIES_4[SO3_SERIES_TERMS] = {
        1.0 / 24.0,
        1.0 / 720.0,
        1.0 / 40320.0,
        1.0 / 3628800.0,
        1.0 / 479001600.0,
        1.0 / 87178291200.0,
        1.0 / 20922789888000.0,
        1.0 / 6402373705728000.0,
        1.0 / 2432902008176640000.0,
        1.0 / 1124000727777607680000.0,
        1.0 / 620448401733239439360000.0,
        1.0 / 403291461126605635584000000.0,
    };
    static const double SO3_SERIES_5[SO3_SERIES_TERMS] = {
        1.0 / 120.0,
        1.0 / 5040.0,
        1.0 / 362880.0,
        1.0 / 39916800.0,
        1.0 / 6227020800.0,
        1.0 / 1307674368000.0,
        1.0 / 355687428096000.0,
        1.0 / 121645100408832000.0,
        1.0 / 51090942171709440000.0,
        1.0 / 25852016738884976640000.0,
        1.0 / 15511210043330985984000000.0,
        1.0 / 10888869450418352160768000000.0,
    };
    reals y = x * x, zero = {0};
    reals e4 = zero, o4 = zero, e5 = zero, o5 = zero;
    for (int j = SO3_SERIES_TERMS - 2; j >= 0; j -= 2) {
        e4 = SO3_SERIES_4[j] + y * e4, o4 = SO3_SERIES_4[j + 1] + y * o4;
        e5 = SO3_SERIES_5[j] + y * e5, o5 = SO3_SERIES_5[j + 1] + y * o5;
    }
    reals c4 = e4 - x * o4, c5 = e5 - x * o5;
    reals c = 1.0 / 6.0 - x * c5;
    return (so3_series_coefficients){1.0 - x * c, 0.5 - x * c4, c, 2.0 * c4 - c, 3.0 * c5 - c4};
}

// ---- Coefficients and quaternions of reals -------------------------------------------------------------------------------

#if REAL_WIDTH == 1

typedef so3_coefficients real_coefficients;

// Those of exp(v), which is shortened first where its squares would overflow.
REAL_FN real_coefficients real_coefficients_of(real3 *v)
{
    if (!(fabs(v->x) + fabs(v->y) + fabs(v->z) < SO3_LONG_VECTOR)) {
        so3_reparameterise(v);
    }
    return so3_coefficients_of(*v);
}

#else

typedef so3_series_coefficients real_coefficients;

// so3_exp_quat; lanes whose square is not an ordinary number one by one.
REAL_FN real_quat real_exp_quat(real3 v)
{
    real x = v3_dot(v, v), theta = real_sqrt(x), sine, cosine;
    real_sincos(0.5 * theta, &sine, &cosine);
    real3 u = v3_scale(v, sine / theta);
    real_quat q = {u.x, u.y, u.z, cosine};
    real_mask is_ordinary = (x > real_of(1e-270)) & (x < real_of(1e290));
    for (int i = 0; i < REAL_WIDTH; ++i) {
        if (!is_ordinary[i]) {
            quat one = so3_exp_quat(real3_get(v, i));
            q.x[i] = one.x, q.y[i] = one.y, q.z[i] = one.z, q.w[i] = one.w;
        }
    }
    return q;
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
    real square = v3_dot(*v, *v);
    real_coefficients k = so3_series(square);
    real_mask is_long = mask_not(square <= real_of(SO3_SERIES_LIMIT));
    if (mask_any(is_long)) {
        real_long_vectors(v, &k, mask_bits(is_long));
    }
    return k;
}

#endif

#ifdef __CUDACC__
#include "num/rotation_kernel.h"
#endif

#if REAL_WIDTH == 1

// ---- One problem: turns, Euler angles, poses as matrices -----------------------------------------------------------------

// Of the two rotation vectors of one rotation, v and (1 - 2 pi/|v|) v, the one nearer to `to`: where a motion passes half a
// turn, reparameterisation changes from one to the other, and a difference must not see a jump.
PZ_FN vec3 so3_nearer(vec3 v, vec3 to)
{
    double length = v3_norm(v);
    vec3 twin = v3_scale(v, length > 0 ? 1.0 - PZ_TWO_PI / length : 1.0);
    vec3 one = v3_sub(v, to), other = v3_sub(twin, to);
    return v3_dot(other, other) < v3_dot(one, one) ? twin : v;
}

// The angle between two vectors, in radians; accurate near 0 and pi.
PZ_FN double v3_angle(vec3 a, vec3 b)
{
    return pz_atan2(v3_norm(v3_cross(a, b)), v3_dot(a, b));
}

PZ_FN vec3 unit_axis(int i)
{
    return v3(i == 0, i == 1, i == 2);
}

// With the outer axis a, the middle b, the inner c (c = a for orders such as ZYZ), each 0, 1 or 2, and M = R_a R_b R_c: turn
// by the first angle that brings M's image of the inner axis into the plane where the middle turn moves it, undo it, and
// read off the next. Each angle is that of a vector about an axis, so no order needs a formula of its own. Near gimbal lock
// the last takes all.
PZ_FN void euler_angles(int outer, int middle, int inner, const mat3 *M, double angles[3])
{
    vec3 a = unit_axis(outer), b = unit_axis(middle), c = unit_axis(inner), third = v3_cross(a, b);
    vec3 image = m3_apply(M, c); // R_a R_b c: R_b moves c in the plane across b
    // R_b c lies in the plane of a and a x b, so R_a turns its part across a from +-(a x b), or for a repeated axis likewise
    vec3 across = v3_mad(image, -v3_dot(image, a), a);
    double sign = outer == inner ? 1.0 : v3_dot(third, c);
    bool locked = v3_norm(across) < 1e-7;
    angles[0] = locked ? 0.0 : pz_atan2(-v3_dot(across, b) * sign, v3_dot(across, third) * sign);
    mat3 back = quat_matrix(so3_exp_quat(v3_scale(a, -angles[0])));
    mat3 undone = m3_mul(&back, M);
    vec3 turned = m3_apply(&undone, c); // R_b c
    angles[1] = pz_atan2(v3_dot(b, v3_cross(c, turned)), v3_dot(c, turned));
    back = quat_matrix(so3_exp_quat(v3_scale(b, -angles[1])));
    undone = m3_mul(&back, &undone); // R_c
    vec3 moved = m3_apply(&undone, b);
    angles[2] = pz_atan2(v3_dot(c, v3_cross(b, moved)), v3_dot(b, moved));
}

// A pose as a 4 x 4 matrix, row by row: a rotation, rows orthonormal to 1e-3 and right-handed, and 0 0 0 1 below. What is
// not finite passes.
PZ_FN bool is_pose_matrix(const double *n)
{
    double turned = 0; // the third row along the cross product of the others
    for (int i = 0; i < 3; ++i) {
        const double *row = n + 4 * i;
        for (int j = 0; j <= i; ++j) {
            const double *other = n + 4 * j;
            double product = row[0] * other[0] + row[1] * other[1] + row[2] * other[2] - (i == j);
            if (product > 1e-3 || product < -1e-3) {
                return false;
            }
        }
        int a = (i + 1) % 3, b = (i + 2) % 3;
        turned += (n[a] * n[4 + b] - n[b] * n[4 + a]) * n[8 + i];
    }
    return !(turned < 0) && n[12] == 0 && n[13] == 0 && n[14] == 0 && n[15] == 1;
}

PZ_FN poise_pose pose_of_matrix(const double *n)
{
    mat3 R = {{n[0], n[4], n[8]}, {n[1], n[5], n[9]}, {n[2], n[6], n[10]}};
    poise_pose pose = {quat_from_matrix(&R), {n[3], n[7], n[11]}};
    return pose;
}

#endif

#endif
