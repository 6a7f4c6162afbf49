// Grassia's exponential map: quaternion, rotation and their derivatives by the cached half angle (F. S. Grassia, "Practical
// Parameterization of Rotations Using the Exponential Map", 1998).
//
// With theta = |v|, g = sin(theta/2)/theta:
//
//   q = (g v, cos(theta/2))
//
// g depends on v by x = theta^2 alone, and dx/dv_i = 2 v_i. So with k = 2 dg/dx = g'(theta)/theta
//
//   dg/dv_i = k v_i                   k = (cos(theta/2)/2 - g) / x
//
//   dq/dv_i = (g e_i + k v_i v, -g v_i / 2)
//
// where the last entry is -sin(theta/2)/2 dtheta/dv_i with dtheta/dv_i = v_i/theta. Only k cancels.
#include <poise/rotation.h>

#include "base/error.h"
#include "math/so3.h"
#include "math/trig.h"

// Below this, x may have lost digits to underflow; g is 1/2 to the last bit there.
#define TINY_SQUARE 1e-280

// The closed form of k multiplies rounding errors by (cos(h) + sin(h)/h) / (sin(h)/h - cos(h)), h = theta/2: 4.6 at h = 1,
// 22 at h = 1/2, 6/h^2 below. So the series reaches up to y = h^2 = 1, x = 4.
#define SERIES_LIMIT 4.0

// What s and t may miss of unit length and of a right angle.
#define BASIS_TOLERANCE 1e-9

// g = sin(h)/theta
static double half_sinc(double x, double theta, double sin_half)
{
    return x < TINY_SQUARE ? 0.5 : sin_half / theta;
}

// k. Series: g = 1/2 sum_j (-y)^j / (2j + 1)!, y = x/4, and k = 2 dg/dx = 1/2 dg/dy, so
//
//   k = -1/4 sum_j (j + 1) (-y)^j / (2j + 3)!
//
// Nine terms leave out 10/21! = 2e-19 at y = 1, against the sum of 0.15: below rounding.
static double half_sinc_slope(double x, double g, double cos_half)
{
    static const double SERIES[9] = {
        1.0 / 6.0,
        2.0 / 120.0,
        3.0 / 5040.0,
        4.0 / 362880.0,
        5.0 / 39916800.0,
        6.0 / 6227020800.0,
        7.0 / 1307674368000.0,
        8.0 / 355687428096000.0,
        9.0 / 121645100408832000.0,
    };
    if (x > SERIES_LIMIT) {
        return (0.5 * cos_half - g) / x;
    }
    double y = 0.25 * x, sum = 0.0;
    for (int j = 9; j-- > 0;) {
        sum = SERIES[j] - y * sum;
    }
    return -0.25 * sum;
}

static poise_quat derivative(vec3 v, vec3 direction, double g, double k)
{
    double along = v3_dot(v, direction);
    vec3 u = v3_combine(g, direction, k * along, v);
    return (poise_quat){u.x, u.y, u.z, -0.5 * g * along};
}

// Everything but `reparameterised`, for |v| <= pi.
static void fill(vec3 v, poise_expmap *map)
{
    double x = v3_dot(v, v), theta = sqrt(x);
    map->v = v;
    map->theta = theta;
    pz_sincos(0.5 * theta, &map->sin_half, &map->cos_half);
    double g = half_sinc(x, theta, map->sin_half);
    double k = half_sinc_slope(x, g, map->cos_half);
    map->q = (poise_quat){g * v.x, g * v.y, g * v.z, map->cos_half};
    map->dq[0] = derivative(v, v3(1, 0, 0), g, k);
    map->dq[1] = derivative(v, v3(0, 1, 0), g, k);
    map->dq[2] = derivative(v, v3(0, 0, 1), g, k);
}

poise_status poise_expmap_make(poise_vec3 v, poise_expmap *map, poise_error *error)
{
    if (!map || !v3_is_finite(v)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "map must not be NULL, and v must be finite");
    }
    map->reparameterised = so3_reparameterise(&v);
    fill(v, map);
    return POISE_OK;
}

static bool is_basis(vec3 s, vec3 t)
{
    return fabs(v3_norm(s) - 1.0) <= BASIS_TOLERANCE && fabs(v3_norm(t) - 1.0) <= BASIS_TOLERANCE &&
           fabs(v3_dot(s, t)) <= BASIS_TOLERANCE;
}

// By how much `from` was shortened to `to`, which has the same or the opposite direction.
static double ratio(vec3 to, vec3 from)
{
    double x = fabs(from.x), y = fabs(from.y), z = fabs(from.z);
    return x >= y && x >= z ? to.x / from.x : y >= z ? to.y / from.y : to.z / from.z;
}

// v = a s + b t, so by the chain rule dq/da = sum_i s_i dq/dv_i, and dq/db with t.
static poise_quat chain(const poise_quat dq[3], vec3 d)
{
    return (poise_quat){d.x * dq[0].x + d.y * dq[1].x + d.z * dq[2].x, d.x * dq[0].y + d.y * dq[1].y + d.z * dq[2].y,
                        d.x * dq[0].z + d.y * dq[1].z + d.z * dq[2].z, d.x * dq[0].w + d.y * dq[1].w + d.z * dq[2].w};
}

poise_status poise_swing_make(double a, double b, poise_vec3 s, poise_vec3 t, poise_swing *swing, poise_error *error)
{
    vec3 v = v3_combine(a, s, b, t);
    if (!swing || !is_finite(a) || !is_finite(b) || !is_basis(s, t) || !v3_is_finite(v)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "swing must not be NULL, a and b must be finite, s and t unit and orthogonal to 1e-9");
    }
    vec3 given = v;
    swing->map.reparameterised = so3_reparameterise(&v);
    double f = swing->map.reparameterised ? ratio(v, given) : 1.0;
    swing->a = f * a;
    swing->b = f * b;
    swing->s = s;
    swing->t = t;
    fill(v, &swing->map);
    swing->dq[0] = chain(swing->map.dq, s);
    swing->dq[1] = chain(swing->map.dq, t);
    return POISE_OK;
}

poise_vec3 poise_expmap_from_quat(poise_quat rotation)
{
    return so3_log(rotation);
}

// The derivative of R(q) = the matrix of quadratic forms in quat_matrix, along dq:
//
//   d(1 - 2 (y^2 + z^2)) = -4 (y dy + z dz),    d(2 (x y - w z)) = 2 (x dy + y dx - w dz - z dw),   and so on
void poise_quat_partial(poise_quat q, poise_quat d, double dR[9])
{
    double xx = 4.0 * q.x * d.x, yy = 4.0 * q.y * d.y, zz = 4.0 * q.z * d.z;
    double xy = 2.0 * (q.x * d.y + q.y * d.x), wz = 2.0 * (q.w * d.z + q.z * d.w);
    double xz = 2.0 * (q.x * d.z + q.z * d.x), wy = 2.0 * (q.w * d.y + q.y * d.w);
    double yz = 2.0 * (q.y * d.z + q.z * d.y), wx = 2.0 * (q.w * d.x + q.x * d.w);
    dR[0] = -(yy + zz), dR[1] = xy - wz, dR[2] = xz + wy;
    dR[3] = xy + wz, dR[4] = -(xx + zz), dR[5] = yz - wx;
    dR[6] = xz - wy, dR[7] = yz + wx, dR[8] = -(xx + yy);
}

// omega = J_l(v) v' (so3.h), so v' = J_l^-1 omega = omega - v x omega / 2 + e v x (v x omega) with
// e = (1 - h cot(h))/x, h = theta/2. In the terms above h cot(h) = cos(h) / (2 g) and cos(h)/2 - g = k x:
//
//   e = (2 g - cos(h)) / (2 g x) = -k / g
//
// so the cache serves again, and e holds from 0 to pi.
poise_vec3 poise_expmap_rate(const poise_expmap *map, poise_vec3 omega)
{
    vec3 v = map->v;
    double x = v3_dot(v, v);
    double g = half_sinc(x, map->theta, map->sin_half);
    double e = -half_sinc_slope(x, g, map->cos_half) / g;
    vec3 cross = v3_cross(v, omega);
    return v3_mad(v3_mad(omega, -0.5, cross), e, v3_cross(v, cross));
}
