#include "math/so3.h"

#include "math/trig.h"

typedef double number;
#define NUMBER_INLINE PZ_INLINE
#include "math/so3_series.h"

// ---- Coefficients --------------------------------------------------------------------------------------------------------
//
// With x = theta^2 all of them are Stumpff functions, entire in x (K. Stumpff, 1947):
//
//   c_k(x) = sum_j (-x)^j / (2j + k)!        cos = c_0,  a = c_1,  b = c_2,  c = c_3
//   c_k    = 1/k! - x c_(k+2)                            (split off the term j = 0)
//   2 dc_k/dx = k c_(k+2) - c_(k+1)                      (write the factor j as half of (2j + k) - k)
//
// and since f'(theta)/theta = 2 df/dx,
//
//   db = b'/theta = 2 c_4 - c_3              dc = c'/theta = 3 c_5 - c_4
//
// So two series, c_4 and c_5, give all five, and neither a division nor a cancellation is left:
//
//   c = 1/6 - x c_5,   b = 1/2 - x c_4,   a = 1 - x c,   db = 2 c_4 - c,   dc = 3 c_5 - c_4
//
// The differences lose little: at 0, db adds errors of 1/12 and 1/6 to get -1/12, and dc those of 1/40 and 1/24 to get
// -1/60; at the switch a = 0.24 carries the error of 1. The terms of both series fall from the first on, for x < 30.
//
// The closed forms, with the half angle h = theta/2 and r = sin(h)/h, so that b and db keep their relative accuracy near
// 2 pi, where 1 - cos(theta) and theta sin(theta) - 2 (1 - cos(theta)) vanish:
//
//   a = r cos(h),    b = r^2 / 2,    db = (a - 2 b) / x = r (cos(h) - r) / x
//   c = (1 - a) / x,    dc = (b - 3 c) / x
//
// Where to switch: dc cancels worst. The closed form multiplies the rounding of b and 3 c (u = 2^-53 each, a few times) by
// (b + 3c)/|b - 3c|: 8.5 at theta = 2.5, 14 at 2, 59 at 1 and 240 at 0.5. The series of twelve terms leave out
// x^12/28! < 2e-20 for x <= 6.25, against |dc| > 0.0123 there: nothing. So theta = 2.5 costs neither side more than about
// 30 u = 4e-15 (measured on [0, 2 pi]: 1.4e-15), and as most joints stay below 2.5 rad most evaluations need no sine, root
// or division at all. (SO3_SERIES_LIMIT)

// Vectors with larger squares are shortened first, before products with them overflow.
#define HUGE_SQUARE 1e300

// Below this, a sum of three squares may lose digits to underflow; angles are linear there to the last bit (1e-280 << u^2).
#define TINY_SQUARE 1e-280

static inline so3_coefficients closed_form(double x, double h)
{
    double sin_h, cos_h;
    pz_sincos(h, &sin_h, &cos_h);
    double r = sin_h / h;
    double a = r * cos_h, b = 0.5 * r * r, c = (1.0 - a) / x;
    return (so3_coefficients){a, b, c, r * (cos_h - r) / x, (b - 3.0 * c) / x};
}

static inline bool is_huge(vec3 v)
{
    return v3_dot(v, v) >= HUGE_SQUARE;
}

// |v| / 2. Halved, because the length of a finite vector may overflow.
static double half_angle(vec3 v)
{
    if (!is_huge(v)) {
        return 0.5 * v3_norm(v);
    }
    double largest = max2(fabs(v.x), max2(fabs(v.y), fabs(v.z)));
    return 0.5 * largest * v3_norm(v3(v.x / largest, v.y / largest, v.z / largest));
}

static inline so3_coefficients coefficients(vec3 v)
{
    double x = v3_dot(v, v);
    so3_coefficients k;
    if (x <= SO3_SERIES_LIMIT) {
        so3_series_coefficients s = so3_series(x);
        k = (so3_coefficients){s.a, s.b, s.c, s.db, s.dc};
    } else {
        k = closed_form(x, half_angle(v));
    }
    return k;
}

so3_coefficients so3_coefficients_of(vec3 v)
{
    return coefficients(v);
}

// ---- Matrices ------------------------------------------------------------------------------------------------------------

// dJ_l/dv_j = v_j (db W + dc W^2) + b E_j + c (E_j W + W E_j),  E_j = [e_j]x
//
// The first bracket M is the same for all j. With [a]x [b]x = b a^T - (a . b) I the last one is
//
//   E_j W + W E_j = v e_j^T + e_j v^T - 2 v_j I
//
// so beside M each j has c v in its row and in its column (its diagonal cancels against -2 c v_j: 0), -2 c v_j at the
// other two diagonal places, and +-b at the two places of E_j.
static inline void jacobian_derivative(const so3_coefficients *k, vec3 v, mat3 dJ[3])
{
    mat3 M = so3_polynomial(0.0, k->db, k->dc, v);
    double b = k->b;
    vec3 cv = v3_scale(v, k->c);

    double s = -2.0 * cv.x;
    dJ[0].x = v3(v.x * M.x.x, v.x * M.x.y + cv.y, v.x * M.x.z + cv.z);
    dJ[0].y = v3(v.x * M.y.x + cv.y, v.x * M.y.y + s, v.x * M.y.z + b);
    dJ[0].z = v3(v.x * M.z.x + cv.z, v.x * M.z.y - b, v.x * M.z.z + s);

    s = -2.0 * cv.y;
    dJ[1].x = v3(v.y * M.x.x + s, v.y * M.x.y + cv.x, v.y * M.x.z - b);
    dJ[1].y = v3(v.y * M.y.x + cv.x, v.y * M.y.y, v.y * M.y.z + cv.z);
    dJ[1].z = v3(v.y * M.z.x + b, v.y * M.z.y + cv.z, v.y * M.z.z + s);

    s = -2.0 * cv.z;
    dJ[2].x = v3(v.z * M.x.x + s, v.z * M.x.y + b, v.z * M.x.z + cv.x);
    dJ[2].y = v3(v.z * M.y.x - b, v.z * M.y.y + s, v.z * M.y.z + cv.y);
    dJ[2].z = v3(v.z * M.z.x + cv.x, v.z * M.z.y + cv.y, v.z * M.z.z);
}

// A vector of the same J_l, to rounding, whose squares do not overflow: for theta > 1/u, J_l is n n^T to the last bit and
// its derivative vanishes beside it, n = v/theta.
static vec3 shortened(vec3 v)
{
    return is_huge(v) ? v3_scale(v3_normalize(v), 1e100) : v;
}

mat3 so3_exp(vec3 v)
{
    if (is_huge(v)) {
        so3_reparameterise(&v);
    }
    so3_coefficients k = coefficients(v);
    return so3_quadratic(k.a, k.b, v);
}

mat3 so3_left_jacobian(vec3 v)
{
    v = shortened(v);
    so3_coefficients k = coefficients(v);
    return so3_quadratic(k.b, k.c, v);
}

// J_l^-1 = I - W/2 + e W^2, e = (1 - h cot(h)) / theta^2, h = theta/2 (with W^3 = -theta^2 W the product with J_l is I).
// In the coefficients above h cot(h) = a / (2 b), so e = (2 b - a) / (2 b theta^2) = -db / (2 b), which holds its relative
// accuracy from 0 through pi, up to the pole at 2 pi.
mat3 so3_left_jacobian_inverse(vec3 v)
{
    so3_coefficients k = coefficients(v);
    return so3_quadratic(-0.5, -0.5 * k.db / k.b, v);
}

void so3_left_jacobian_derivative(vec3 v, mat3 dJ[3])
{
    v = shortened(v);
    so3_coefficients k = coefficients(v);
    jacobian_derivative(&k, v, dJ);
}

// ---- Quaternions and lengths ---------------------------------------------------------------------------------------------

// q = (v sin(h)/theta, cos(h)), h = theta/2
quat so3_exp_quat(vec3 v)
{
    if (is_huge(v)) {
        so3_reparameterise(&v);
    }
    double x = v3_dot(v, v);
    if (x < TINY_SQUARE) {
        return (quat){0.5 * v.x, 0.5 * v.y, 0.5 * v.z, 1.0};
    }
    double theta = sqrt(x), s, w;
    pz_sincos(0.5 * theta, &s, &w);
    vec3 u = v3_scale(v, s / theta);
    return (quat){u.x, u.y, u.z, w};
}

// Rounding may leave a vector of length pi a few units above it. Take one unit in the last place off every component until
// the length as v3_norm computes it is <= pi: a few rounds, as v3_norm and what came before round a few times.
static vec3 within_pi(vec3 v)
{
    while (v3_norm(v) > PZ_PI) {
        v = v3_scale(v, 1.0 - 0.5 * PZ_EPSILON);
    }
    return v;
}

// v = u 2 atan2(|u|, w) / |u|, u the vector part of the one of q, -q that has w >= 0. The arc tangent of two arguments keeps
// its relative accuracy near 0, where w says nothing, and near pi, where |u| says nothing; it does not mind |q| != 1.
vec3 so3_log(quat q)
{
    double sign = q.w < 0.0 ? -1.0 : 1.0;
    double w = sign * q.w;
    vec3 u = v3_scale(quat_vec(q), sign);
    double uu = v3_dot(u, u);
    if (uu < TINY_SQUARE) {
        return v3_scale(u, 2.0 / w);
    }
    double n = sqrt(uu);
    return within_pi(v3_scale(u, 2.0 * pz_atan2(n, w) / n));
}

// The half angle h, taken modulo whole turns of h by sine and cosine and modulo half turns of h by the sign of the cosine
// (h and h + pi are the quaternions q and -q). So the reduction is as good as the argument reduction of pz_sincos, for any
// length; (1 - 2 pi/theta) v is the case of one turn.
bool so3_reparameterise(vec3 *v)
{
    if (!(v3_norm(*v) > PZ_PI)) {
        return false;
    }
    double s, w;
    pz_sincos(half_angle(*v), &s, &w);
    double angle = 2.0 * (w < 0.0 ? pz_atan2(-s, -w) : pz_atan2(s, w));
    *v = within_pi(v3_scale(v3_normalize(*v), angle));
    return true;
}
