// Poses as 4 x 4 matrices, row by row; compiled for the device, too.
#ifndef PZ_MATH_POSE_MATRIX_H
#define PZ_MATH_POSE_MATRIX_H

#include "math/quat.h"

// A rotation, rows orthonormal to 1e-3 and right-handed, and 0 0 0 1 below. What is not finite passes.
static inline bool is_pose_matrix(const double *n)
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

static inline poise_pose pose_of_matrix(const double *n)
{
    mat3 R = {{n[0], n[4], n[8]}, {n[1], n[5], n[9]}, {n[2], n[6], n[10]}};
    poise_pose pose = {quat_from_matrix(&R), {n[3], n[7], n[11]}};
    return pose;
}

#endif
