// Rotations in all their forms, with derivatives: the group (rotation.h) and the library's copy of rotation_kernel.h, the
// best rotation between points, Grassia's exponential map, roll, pitch and yaw; and the public functions of poise/math.h and
// poise/rotation.h.
#include "num/rotation.h"

#include "base/error.h"
#include "num/dense.h"
#include "num/rotation_kernel.h"

#include <poise/rotation.h>

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

static inline so3_coefficients closed_form(double x, double h)
{
    double sin_h, cos_h;
    pz_sincos(h, &sin_h, &cos_h);
    double r = sin_h / h;
    double a = r * cos_h, b = 0.5 * r * r, c = (1.0 - a) / x;
    return (so3_coefficients){a, b, c, r * (cos_h - r) / x, (b - 3.0 * c) / x};
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

// ---- The rotation that brings points nearest to others -------------------------------------------------------------------
//
// With M = sum x t^T over points x and where they should be, t, a turn R leaves const - tr(R M) of sum |R x - t|^2/2. As a
// unit quaternion r = (w x y z) in the axes that M is written in,
//
//   tr(R M) = r . N r      N = [ tr M   a^T             ]      a = sum x x t, the moment
//                              [ a      M + M^T - tr M  ]
//
// (P. Davenport 1968; B. Horn, "Closed-form solution of absolute orientation using unit quaternions", 1987). The best turn
// is an eigenvector of the largest eigenvalue of N.

// N above, lower triangle, over the first `count` of w x y z.
static void davenport(const mat3 *M, int count, double *N)
{
    vec3 a = v3(M->z.y - M->y.z, M->x.z - M->z.x, M->y.x - M->x.y);
    double xx = M->x.x, yy = M->y.y, zz = M->z.z;
    const double full[4][4] = {{xx + yy + zz, 0, 0, 0},
                               {a.x, xx - yy - zz, 0, 0},
                               {a.y, M->y.x + M->x.y, yy - xx - zz, 0},
                               {a.z, M->z.x + M->x.z, M->z.y + M->y.z, zz - xx - yy}};
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j < count; ++j) {
            N[i * count + j] = full[i][j];
        }
    }
}

bool pz_best_quat(const mat3 *M, int count, quat *r)
{
    double N[16], value[4], work[4];
    davenport(M, count, N);
    if (!all_finite(N, (size_t)(count * count)) || !pz_symmetric_eigen(count, N, value, true, work)) {
        return false;
    }
    const double *top = N + (count - 1) * count;
    *r = quat_normalize((quat){top[1], top[2], count > 3 ? top[3] : 0.0, top[0]});
    return true;
}

// ---- Grassia's exponential map: poise/rotation.h -------------------------------------------------------------------------
//
// Quaternion, rotation and their derivatives by the cached half angle (F. S. Grassia, "Practical
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

// The closed form of k multiplies rounding errors by (cos(h) + sin(h)/h) / (sin(h)/h - cos(h)), h = theta/2: 4.6 at h = 1,
// 22 at h = 1/2, 6/h^2 below. So the series reaches up to y = h^2 = 1, x = 4.
#define HALF_SINC_SERIES_LIMIT 4.0

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
    if (x > HALF_SINC_SERIES_LIMIT) {
        return (0.5 * cos_half - g) / x;
    }
    double y = 0.25 * x, sum = 0.0;
    for (int j = 9; j-- > 0;) {
        sum = SERIES[j] - y * sum;
    }
    return -0.25 * sum;
}

static poise_quat quat_partial_along(vec3 v, vec3 direction, double g, double k)
{
    double along = v3_dot(v, direction);
    vec3 u = v3_combine(g, direction, k * along, v);
    return (poise_quat){u.x, u.y, u.z, -0.5 * g * along};
}

// Everything but `reparameterised`, for |v| <= pi.
static void expmap_fill(vec3 v, poise_expmap *map)
{
    double x = v3_dot(v, v), theta = sqrt(x);
    map->v = v;
    map->theta = theta;
    pz_sincos(0.5 * theta, &map->sin_half, &map->cos_half);
    double g = half_sinc(x, theta, map->sin_half);
    double k = half_sinc_slope(x, g, map->cos_half);
    map->q = (poise_quat){g * v.x, g * v.y, g * v.z, map->cos_half};
    map->dq[0] = quat_partial_along(v, v3(1, 0, 0), g, k);
    map->dq[1] = quat_partial_along(v, v3(0, 1, 0), g, k);
    map->dq[2] = quat_partial_along(v, v3(0, 0, 1), g, k);
}

poise_status poise_expmap_make(poise_vec3 v, poise_expmap *map, poise_error *error)
{
    if (!map || !v3_is_finite(v)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "map must not be NULL, and v must be finite");
    }
    map->reparameterised = so3_reparameterise(&v);
    expmap_fill(v, map);
    return POISE_OK;
}

static bool is_basis(vec3 s, vec3 t)
{
    return fabs(v3_norm(s) - 1.0) <= BASIS_TOLERANCE && fabs(v3_norm(t) - 1.0) <= BASIS_TOLERANCE &&
           fabs(v3_dot(s, t)) <= BASIS_TOLERANCE;
}

// By how much `from` was shortened to `to`, which has the same or the opposite direction.
static double shortened_by(vec3 to, vec3 from)
{
    double x = fabs(from.x), y = fabs(from.y), z = fabs(from.z);
    return x >= y && x >= z ? to.x / from.x : y >= z ? to.y / from.y : to.z / from.z;
}

// v = a s + b t, so by the chain rule dq/da = sum_i s_i dq/dv_i, and dq/db with t.
static poise_quat swing_partial(const poise_quat dq[3], vec3 d)
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
    double f = swing->map.reparameterised ? shortened_by(v, given) : 1.0;
    swing->a = f * a;
    swing->b = f * b;
    swing->s = s;
    swing->t = t;
    expmap_fill(v, &swing->map);
    swing->dq[0] = swing_partial(swing->map.dq, s);
    swing->dq[1] = swing_partial(swing->map.dq, t);
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

// omega = J_l(v) v' (rotation.h), so v' = J_l^-1 omega = omega - v x omega / 2 + e v x (v x omega) with
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

// ---- Quaternions and poses: poise/math.h ---------------------------------------------------------------------------------

poise_vec3 poise_vec3_make(double x, double y, double z)
{
    return v3(x, y, z);
}

poise_quat poise_quat_from_axis_angle(poise_vec3 axis, double angle)
{
    if (axis.x == 0.0 && axis.y == 0.0 && axis.z == 0.0) {
        return (quat){0, 0, 0, 1};
    }
    if (!v3_is_finite(axis)) {
        return (poise_quat){NAN, NAN, NAN, NAN}; // no direction: nothing that could pass for a rotation
    }
    vec3 n = v3_normalize(axis);
    double s, c;
    pz_sincos(0.5 * angle, &s, &c);
    return (poise_quat){n.x * s, n.y * s, n.z * s, c};
}

poise_quat poise_quat_from_matrix(const double matrix[9])
{
    mat3 R = m3_from_rows(matrix);
    return quat_from_matrix(&R);
}

bool poise_pose_from_matrix(const double matrix[16], poise_pose *pose)
{
    if (!is_pose_matrix(matrix)) {
        return false;
    }
    if (pose) {
        *pose = pose_of_matrix(matrix);
    }
    return true;
}

void poise_quat_to_matrix(poise_quat rotation, double matrix[9])
{
    mat3 R = quat_matrix(rotation);
    m3_to_rows(&R, matrix);
}

// The product (0, 0, sz, cz) (0, sy, 0, cy) (sx, 0, 0, cx) of the three half-angle quaternions, written out
poise_quat poise_quat_from_roll_pitch_yaw(double roll, double pitch, double yaw)
{
    double sx, cx, sy, cy, sz, cz;
    pz_sincos(0.5 * roll, &sx, &cx);
    pz_sincos(0.5 * pitch, &sy, &cy);
    pz_sincos(0.5 * yaw, &sz, &cz);
    return (poise_quat){sx * cy * cz - cx * sy * sz, cx * sy * cz + sx * cy * sz, cx * cy * sz - sx * sy * cz,
                        cx * cy * cz + sx * sy * sz};
}

// R = Rz(yaw) Ry(pitch) Rx(roll), row-major:
//
//   R10 = sin(yaw) cos(pitch)   R00 = cos(yaw) cos(pitch)   R20 = -sin(pitch)   R21 = cos(pitch) sin(roll)   R22 = cos cos
poise_vec3 poise_quat_to_roll_pitch_yaw(poise_quat rotation)
{
    double R[9];
    poise_quat_to_matrix(rotation, R);
    double cosine = sqrt(R[0] * R[0] + R[3] * R[3]);
    bool is_level = cosine > 1e-9; // R is good to 1e-15
    double roll = is_level ? pz_atan2(R[7], R[8]) : 0;
    double yaw = is_level ? pz_atan2(R[3], R[0]) : pz_atan2(-R[1], R[4]);
    return v3(roll, pz_atan2(-R[6], cosine), yaw);
}

poise_quat poise_quat_multiply(poise_quat a, poise_quat b)
{
    return quat_mul(a, b);
}

poise_quat poise_quat_normalize(poise_quat rotation)
{
    return quat_normalize(rotation);
}

poise_quat poise_quat_conjugate(poise_quat rotation)
{
    return quat_conj(rotation);
}

poise_vec3 poise_quat_rotate(poise_quat rotation, poise_vec3 v)
{
    return quat_rotate(rotation, v);
}

// 2 atan2(|u|, |w|), u the vector part: near 0 the angle is in u, near pi in w, and neither is lost.
double poise_quat_angle(poise_quat rotation)
{
    return 2.0 * pz_atan2(v3_norm(quat_vec(rotation)), fabs(rotation.w));
}

poise_pose poise_pose_identity(void)
{
    return (poise_pose){{0, 0, 0, 1}, {0.0, 0.0, 0.0}};
}

poise_pose poise_pose_multiply(poise_pose a, poise_pose b)
{
    return (poise_pose){quat_mul(a.rotation, b.rotation), poise_pose_transform(a, b.position)};
}

poise_pose poise_pose_inverse(poise_pose pose)
{
    quat inverse = quat_conj(pose.rotation);
    return (poise_pose){inverse, v3_neg(quat_rotate(inverse, pose.position))};
}

poise_vec3 poise_pose_transform(poise_pose pose, poise_vec3 local)
{
    return v3_add(quat_rotate(pose.rotation, local), pose.position);
}

void poise_sincos(double angle, double *sine, double *cosine)
{
    pz_sincos(angle, sine, cosine);
}

double poise_atan2(double y, double x)
{
    return pz_atan2(y, x);
}
