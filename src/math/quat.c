#include "math/quat.h"

// The products 4 x q, 4 y q, 4 z q and 4 w q are linear in the entries r_ij of R:
//
//   4 w q = (r32 - r23, r13 - r31, r21 - r12, 1 + r11 + r22 + r33)
//   4 x q = (1 + r11 - r22 - r33, r12 + r21, r13 + r31, r32 - r23)       and so on in a cycle
//
// One of the four squares is at least 1/4; the row of the largest one, normalised, is q, and its own entry is >= 1. The
// normalisation replaces the square root and also takes out the scale of a matrix that is not quite orthonormal. All four
// are made and one is taken: among many matrices a branch would be a guess.
quat quat_from_matrix(const mat3 *R)
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
