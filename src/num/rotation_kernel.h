// Rotation vectors of any length to unit quaternions and back, and the quaternion of a rotation matrix: what rotation.h
// declares for the library and for the kernels of a graphics processor. Compiled by rotation.c, and by those kernels.
#ifndef PZ_NUM_ROTATION_KERNEL_H
#define PZ_NUM_ROTATION_KERNEL_H

#include "num/rotation.h"

// Vectors with larger squares are shortened first, before products with them overflow.
#define HUGE_SQUARE 1e300

// Below this, a sum of three squares may lose digits to underflow; angles are linear there to the last bit (1e-280 << u^2).
#define TINY_SQUARE 1e-280

PZ_FN bool is_huge(vec3 v)
{
    return v3_dot(v, v) >= HUGE_SQUARE;
}

// |v| / 2. Halved, because the length of a finite vector may overflow.
PZ_FN double half_angle(vec3 v)
{
    if (!is_huge(v)) {
        return 0.5 * v3_norm(v);
    }
    double largest = max2(fabs(v.x), max2(fabs(v.y), fabs(v.z)));
    return 0.5 * largest * v3_norm(v3(v.x / largest, v.y / largest, v.z / largest));
}

// q = (v sin(h)/theta, cos(h)), h = theta/2
PZ_CALL quat so3_exp_quat(vec3 v)
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
PZ_FN vec3 within_pi(vec3 v)
{
    while (v3_norm(v) > PZ_PI) {
        v = v3_scale(v, 1.0 - 0.5 * PZ_EPSILON);
    }
    return v;
}

// v = u 2 atan2(|u|, w) / |u|, u the vector part of the one of q, -q that has w >= 0. The arc tangent of two arguments keeps
// its relative accuracy near 0, where w says nothing, and near pi, where |u| says nothing; it does not mind |q| != 1.
PZ_CALL vec3 so3_log(quat q)
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
PZ_CALL bool so3_reparameterise(vec3 *v)
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

// ---- Quaternion of a matrix ----------------------------------------------------------------------------------------------

// S. W. Shepperd, "Quaternion from rotation matrix", 1978. The products 4 x q, 4 y q, 4 z q and 4 w q are linear in the
// entries r_ij of R:
//
//   4 w q = (r32 - r23, r13 - r31, r21 - r12, 1 + r11 + r22 + r33)
//   4 x q = (1 + r11 - r22 - r33, r12 + r21, r13 + r31, r32 - r23)       and so on in a cycle
//
// One of the four squares is at least 1/4; the row of the largest one, normalised, is q, and its own entry is >= 1. The
// normalisation replaces the square root and also takes out the scale of a matrix that is not quite orthonormal. All four
// are made and one is taken: among many matrices a branch would be a guess.
PZ_CALL quat quat_from_matrix(const mat3 *R)
{
    double r11 = R->x.x, r22 = R->y.y, r33 = R->z.z, trace = r11 + r22 + r33;
    double dx = R->y.z - R->z.y, dy = R->z.x - R->x.z, dz = R->x.y - R->y.x;
    double xy = R->y.x + R->x.y, xz = R->z.x + R->x.z, yz = R->z.y + R->y.z;
    const quat rows[4] = {{dx, dy, dz, 1.0 + trace},
                          {1.0 + r11 - r22 - r33, xy, xz, dx},
                          {xy, 1.0 + r22 - r11 - r33, yz, dy},
                          {xz, yz, 1.0 + r33 - r11 - r22, dz}};
    int is_w = (trace >= r11) & (trace >= r22) & (trace >= r33), is_x = (r11 >= r22) & (r11 >= r33), is_y = r22 >= r33;
    quat q = quat_normalize(rows[(1 - is_w) * (3 - is_y - is_x * (2 - is_y))]); // 0: w, else 1: x, 2: y, 3: z
    const double signs[2] = {1.0, -1.0}, sign = signs[q.w < 0.0];
    return (quat){sign * q.x, sign * q.y, sign * q.z, sign * q.w};
}

#endif
