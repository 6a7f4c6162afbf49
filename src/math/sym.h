// Symmetric 3 x 3 and 6 x 6 matrices, each entry stored once.
#ifndef PZ_MATH_SYM_H
#define PZ_MATH_SYM_H

#include "math/mat3.h"
#include "math/spatial.h"

typedef struct sym3 {
    double xx, xy, xz, yy, yz, zz;
} sym3;

static inline sym3 sym3_identity(double s)
{
    return (sym3){s, 0, 0, s, 0, s};
}

static inline sym3 sym3_add(sym3 a, sym3 b)
{
    return (sym3){a.xx + b.xx, a.xy + b.xy, a.xz + b.xz, a.yy + b.yy, a.yz + b.yz, a.zz + b.zz};
}

// A + s B
static inline sym3 sym3_mad(sym3 a, double s, sym3 b)
{
    return (sym3){a.xx + s * b.xx, a.xy + s * b.xy, a.xz + s * b.xz, a.yy + s * b.yy, a.yz + s * b.yz, a.zz + s * b.zz};
}

static inline sym3 sym3_scale(sym3 a, double s)
{
    return (sym3){s * a.xx, s * a.xy, s * a.xz, s * a.yy, s * a.yz, s * a.zz};
}

// s u u^T
static inline sym3 sym3_outer(double s, vec3 u)
{
    vec3 su = v3_scale(u, s);
    return (sym3){su.x * u.x, su.x * u.y, su.x * u.z, su.y * u.y, su.y * u.z, su.z * u.z};
}

// (u w^T + w u^T)/2
static inline sym3 sym3_pair(vec3 u, vec3 w)
{
    return (sym3){u.x * w.x, 0.5 * (u.x * w.y + u.y * w.x), 0.5 * (u.x * w.z + u.z * w.x),
                  u.y * w.y, 0.5 * (u.y * w.z + u.z * w.y), u.z * w.z};
}

// (M + M^T)/2
static inline sym3 sym3_of(const mat3 *M)
{
    return (sym3){M->x.x, 0.5 * (M->y.x + M->x.y), 0.5 * (M->z.x + M->x.z), M->y.y, 0.5 * (M->z.y + M->y.z), M->z.z};
}

static inline vec3 sym3_apply(const sym3 *A, vec3 v)
{
    return v3(A->xx * v.x + A->xy * v.y + A->xz * v.z, A->xy * v.x + A->yy * v.y + A->yz * v.z,
              A->xz * v.x + A->yz * v.y + A->zz * v.z);
}

static inline mat3 sym3_matrix(const sym3 *A)
{
    return (mat3){{A->xx, A->xy, A->xz}, {A->xy, A->yy, A->yz}, {A->xz, A->yz, A->zz}};
}

// A map from motions [w ; v] to wrenches [n ; f], symmetric: n = ww w + wv v, f = wv^T w + vv v.
typedef struct sym6 {
    sym3 ww;
    mat3 wv; // its columns belong to the components of v
    sym3 vv;
} sym6;

static inline wrench sym6_apply(const sym6 *A, spatial m)
{
    return (wrench){v3_add(sym3_apply(&A->ww, m.w), m3_apply(&A->wv, m.v)),
                    v3_add(m3_apply_transposed(&A->wv, m.w), sym3_apply(&A->vv, m.v))};
}

#endif
