// Angles of a rotation for three turns in sequence.
#ifndef PZ_MATH_EULER_H
#define PZ_MATH_EULER_H

#include "math/so3.h"
#include "math/trig.h"

static inline vec3 unit_axis(int i)
{
    return v3(i == 0, i == 1, i == 2);
}

// With the outer axis a, the middle b, the inner c (c = a for orders such as ZYZ), each 0, 1 or 2, and M = R_a R_b R_c: turn
// by the first angle that brings M's image of the inner axis into the plane where the middle turn moves it, undo it, and
// read off the next. Each angle is that of a vector about an axis, so no order needs a formula of its own. Near gimbal lock
// the last takes all.
static inline void euler_angles(int outer, int middle, int inner, const mat3 *M, double angles[3])
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

#endif
