// 3 x 3 matrices, stored by columns: the columns of a rotation are the axes of its frame, and that is how formulas use them.
#ifndef PZ_MATH_MAT3_H
#define PZ_MATH_MAT3_H

#include "math/vec3.h"

typedef struct mat3 {
    vec3 x, y, z; // columns
} mat3;

static inline mat3 m3_identity(void)
{
    return (mat3){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
}

// A v
static inline vec3 m3_apply(const mat3 *A, vec3 v)
{
    return v3(A->x.x * v.x + A->y.x * v.y + A->z.x * v.z, A->x.y * v.x + A->y.y * v.y + A->z.y * v.z,
              A->x.z * v.x + A->y.z * v.y + A->z.z * v.z);
}

// A^T v
static inline vec3 m3_apply_transposed(const mat3 *A, vec3 v)
{
    return v3(v3_dot(A->x, v), v3_dot(A->y, v), v3_dot(A->z, v));
}

// A B
static inline mat3 m3_mul(const mat3 *A, const mat3 *B)
{
    return (mat3){m3_apply(A, B->x), m3_apply(A, B->y), m3_apply(A, B->z)};
}

static inline mat3 m3_transpose(const mat3 *A)
{
    return (mat3){{A->x.x, A->y.x, A->z.x}, {A->x.y, A->y.y, A->z.y}, {A->x.z, A->y.z, A->z.z}};
}

// [v]x, with [v]x w = v x w
static inline mat3 m3_cross(vec3 v)
{
    return (mat3){{0, v.z, -v.y}, {-v.z, 0, v.x}, {v.y, -v.x, 0}};
}

static inline mat3 m3_from_rows(const double m[9])
{
    return (mat3){{m[0], m[3], m[6]}, {m[1], m[4], m[7]}, {m[2], m[5], m[8]}};
}

static inline void m3_to_rows(const mat3 *A, double m[9])
{
    m[0] = A->x.x, m[1] = A->y.x, m[2] = A->z.x;
    m[3] = A->x.y, m[4] = A->y.y, m[5] = A->z.y;
    m[6] = A->x.z, m[7] = A->y.z, m[8] = A->z.z;
}

#endif
