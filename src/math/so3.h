// The rotation group: exponential map, logarithm, left Jacobian and its derivative.
//
// With W = [v]x, theta = |v|:
//
//   exp(v)  = I + a W + b W^2                 a = sin(theta)/theta          b = (1 - cos(theta))/theta^2
//   J_l(v)  = I + b W + c W^2                 c = (theta - sin(theta))/theta^3
//   exp(v + dv) = exp(J_l dv) exp(v) + O(dv^2)
//
// Below a small angle the coefficients come from their series: the closed forms cancel there.
#ifndef PZ_MATH_SO3_H
#define PZ_MATH_SO3_H

#include "math/quat.h"

#define SO3_SERIES_LIMIT 6.25  // of theta^2: the series up to here, closed forms beyond
#define SO3_LONG_VECTOR  1e100 // sum of |components| from which a vector is shortened first: its squares would overflow

typedef struct so3_coefficients {
    double a, b, c; // as above
    double db, dc;  // b'(theta)/theta and c'(theta)/theta
} so3_coefficients;

PZ_DEVICE so3_coefficients so3_coefficients_of(vec3 v);

// exp(v) as a matrix and as a unit quaternion. Any finite v.
PZ_DEVICE mat3 so3_exp(vec3 v);
PZ_DEVICE quat so3_exp_quat(vec3 v);

// The shortest v with exp(v) = q, |v| <= pi. q is unit; the sign of q does not matter.
PZ_DEVICE vec3 so3_log(quat q);

// J_l(v), and its inverse for |v| < 2 pi.
PZ_DEVICE mat3 so3_left_jacobian(vec3 v);
PZ_DEVICE mat3 so3_left_jacobian_inverse(vec3 v);

// dJ[j] = dJ_l/dv_j, j = 0, 1, 2.
PZ_DEVICE void so3_left_jacobian_derivative(vec3 v, mat3 dJ[3]);

// v shortened by whole turns to |v| <= pi; returns whether it changed. The rotation is the same.
PZ_DEVICE bool so3_reparameterise(vec3 *v);

// Of the two rotation vectors of one rotation, v and (1 - 2 pi/|v|) v, the one nearer to `to`: where a motion passes half a
// turn, reparameterisation changes from one to the other, and a difference must not see a jump.
static inline vec3 so3_nearer(vec3 v, vec3 to)
{
    double length = v3_norm(v);
    vec3 twin = v3_scale(v, length > 0 ? 1.0 - PZ_TWO_PI / length : 1.0);
    vec3 one = v3_sub(v, to), other = v3_sub(twin, to);
    return v3_dot(other, other) < v3_dot(one, one) ? twin : v;
}

// d I + p W + r W^2, the form that all matrices here share; W^2 = v v^T - |v|^2 I. The six products do not depend on the
// coefficients: where this is expanded twice for one v, the compiler computes them once.
static inline mat3 so3_polynomial(double d, double p, double r, vec3 v)
{
    double xx = v.x * v.x, yy = v.y * v.y, zz = v.z * v.z;
    double xy = r * (v.x * v.y), xz = r * (v.x * v.z), yz = r * (v.y * v.z);
    vec3 pv = v3_scale(v, p);
    return (mat3){{d - r * (yy + zz), xy + pv.z, xz - pv.y},
                  {xy - pv.z, d - r * (xx + zz), yz + pv.x},
                  {xz + pv.y, yz - pv.x, d - r * (xx + yy)}};
}

// I + p W + r W^2: exp with (a, b), J_l with (b, c)
static inline mat3 so3_quadratic(double p, double r, vec3 v)
{
    return so3_polynomial(1.0, p, r, v);
}

#endif
