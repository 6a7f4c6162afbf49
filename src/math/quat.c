#include "math/quat.h"

// The products 4 x q, 4 y q, 4 z q and 4 w q are linear in the entries r_ij of R:
//
//   4 w q = (r32 - r23, r13 - r31, r21 - r12, 1 + r11 + r22 + r33)
//   4 x q = (1 + r11 - r22 - r33, r12 + r21, r13 + r31, r32 - r23)       and so on in a cycle
//
// One of the four squares is at least 1/4; the row of the largest one, normalised, is q, and its own entry is >= 1. The
// normalisation replaces the square root and also takes out the scale of a matrix that is not quite orthonormal.
quat quat_from_matrix(const mat3 *R)
{
    double r11 = R->x.x, r22 = R->y.y, r33 = R->z.z;
    double trace = r11 + r22 + r33;
    quat q;
    if (trace >= r11 && trace >= r22 && trace >= r33) {
        q = (quat){R->y.z - R->z.y, R->z.x - R->x.z, R->x.y - R->y.x, 1.0 + trace};
    } else if (r11 >= r22 && r11 >= r33) {
        q = (quat){1.0 + r11 - r22 - r33, R->y.x + R->x.y, R->z.x + R->x.z, R->y.z - R->z.y};
    } else if (r22 >= r33) {
        q = (quat){R->y.x + R->x.y, 1.0 + r22 - r11 - r33, R->z.y + R->y.z, R->z.x - R->x.z};
    } else {
        q = (quat){R->z.x + R->x.z, R->z.y + R->y.z, 1.0 + r33 - r11 - r22, R->x.y - R->y.x};
    }
    q = quat_normalize(q);
    return q.w < 0.0 ? (quat){-q.x, -q.y, -q.z, -q.w} : q;
}
