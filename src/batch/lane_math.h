// Numbers, vectors and matrices of which each entry is a register of LANES doubles: one problem to a lane.
//
// Each function does in every lane what its namesake of math/ does, in the same order, so that a lane has the bits of scalar
// code. To be included once by a source that defines LANES and LANE_TARGET (the instructions it is compiled for).
#ifndef PZ_BATCH_LANE_MATH_H
#define PZ_BATCH_LANE_MATH_H

#include "base/cpu.h"
#include "math/sym.h"

#define LANE_FN     LANE_TARGET PZ_INLINE
#define LANE_KERNEL LANE_TARGET static __attribute__((noinline))

// For loops of a few rounds that are to vanish, so that what they work on can stay in registers. Clang does it unasked.
#if defined(__clang__)
#define LANE_UNROLL
#else
#define LANE_UNROLL _Pragma("GCC unroll 32")
#endif

typedef double lane __attribute__((vector_size(8 * LANES)));
typedef int64_t lane_mask __attribute__((vector_size(8 * LANES))); // -1: true, 0: false

// ---- Numbers and masks ---------------------------------------------------------------------------------------------------

// Nothing is computed: s - 0 is s, whatever its sign, and compilers know it.
LANE_FN lane lane_of(double s)
{
    lane zero = {0};
    return s - zero;
}

LANE_FN lane_mask lane_none(void)
{
    return (lane_mask)lane_of(0.0);
}

LANE_FN lane lane_sqrt(lane a)
{
    for (int i = 0; i < LANES; ++i) {
        a[i] = sqrt(a[i]);
    }
    return a;
}

// m ? a : b
LANE_FN lane lane_select(lane_mask m, lane a, lane b)
{
    return (lane)((m & (lane_mask)a) | (~m & (lane_mask)b));
}

// m ? a : 0
LANE_FN lane lane_where(lane_mask m, lane a)
{
    return (lane)(m & (lane_mask)a);
}

LANE_FN lane lane_fabs(lane a)
{
    return (lane)((lane_mask)a & ~(lane_mask)lane_of(-0.0));
}

LANE_FN lane lane_max2(lane a, lane b)
{
    return lane_select((lane_mask)(a > b), a, b);
}

LANE_FN lane lane_clamp(lane x, double lower, double upper)
{
    lane low = lane_of(lower), high = lane_of(upper);
    return lane_select((lane_mask)(x < low), low, lane_select((lane_mask)(x > high), high, x));
}

// One bit for each lane, and back.
LANE_FN unsigned lane_bits(lane_mask m)
{
#if LANES == 4
    return (unsigned)__builtin_ia32_movmskpd256((lane)m);
#else
    typedef long long long_mask __attribute__((vector_size(8 * LANES)));
    return __builtin_ia32_cvtq2mask512((long_mask)m);
#endif
}

LANE_FN lane_mask lane_mask_of(unsigned bits)
{
    lane_mask m;
    for (int i = 0; i < LANES; ++i) {
        m[i] = -(int64_t)(bits >> i & 1u);
    }
    return m;
}

LANE_FN bool lane_any(lane_mask m)
{
    return lane_bits(m) != 0;
}

// ---- Sine and cosine -----------------------------------------------------------------------------------------------------

typedef lane number;
typedef uint64_t word __attribute__((vector_size(8 * LANES)));
#define NUMBER_INLINE LANE_FN
#include "math/sincos_kernel.h"
#include "math/trig.h"

// Lanes that the fast way does not serve, one by one.
LANE_KERNEL void lane_far_angles(const lane *x, const lane *turns, lane *sine, lane *cosine)
{
    for (int i = 0; i < LANES; ++i) {
        double s, c;
        if (!(fabs((*turns)[i] - ROUND) <= MOST_TURNS)) {
            pz_sincos((*x)[i], &s, &c);
            (*sine)[i] = s, (*cosine)[i] = c;
        }
    }
}

LANE_FN void lane_sincos(lane x, lane *sine, lane *cosine)
{
    reduced_angle r = reduce(x);
    sincos_reduced(r, sine, cosine);
    lane turns = number_of(r.turns);
    if (lane_any(~(lane_mask)(lane_fabs(turns - ROUND) <= lane_of(MOST_TURNS)))) {
        lane_far_angles(&x, &turns, sine, cosine);
    }
}

// ---- Three-vectors -------------------------------------------------------------------------------------------------------

typedef struct lane3 {
    lane x, y, z;
} lane3;

LANE_FN lane3 lane3_of(vec3 v)
{
    return (lane3){lane_of(v.x), lane_of(v.y), lane_of(v.z)};
}

LANE_FN lane3 lane3_zero(void)
{
    return (lane3){lane_of(0.0), lane_of(0.0), lane_of(0.0)};
}

LANE_FN lane3 lane3_add(lane3 a, lane3 b)
{
    return (lane3){a.x + b.x, a.y + b.y, a.z + b.z};
}

LANE_FN lane3 lane3_sub(lane3 a, lane3 b)
{
    return (lane3){a.x - b.x, a.y - b.y, a.z - b.z};
}

LANE_FN lane3 lane3_scale(lane3 a, lane s)
{
    return (lane3){a.x * s, a.y * s, a.z * s};
}

// a + s b
LANE_FN lane3 lane3_mad(lane3 a, lane s, lane3 b)
{
    return (lane3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

// s a + t b
LANE_FN lane3 lane3_combine(lane s, lane3 a, lane t, lane3 b)
{
    return (lane3){s * a.x + t * b.x, s * a.y + t * b.y, s * a.z + t * b.z};
}

LANE_FN lane lane3_dot(lane3 a, lane3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

LANE_FN lane3 lane3_cross(lane3 a, lane3 b)
{
    return (lane3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

LANE_FN lane3 lane3_where(lane_mask m, lane3 a)
{
    return (lane3){lane_where(m, a.x), lane_where(m, a.y), lane_where(m, a.z)};
}

// ---- Matrices ------------------------------------------------------------------------------------------------------------

typedef struct lane33 {
    lane3 x, y, z; // columns
} lane33;

LANE_FN lane33 lane33_of(const mat3 *A)
{
    return (lane33){lane3_of(A->x), lane3_of(A->y), lane3_of(A->z)};
}

LANE_FN lane3 lane33_apply(const lane33 *A, lane3 v)
{
    return (lane3){A->x.x * v.x + A->y.x * v.y + A->z.x * v.z, A->x.y * v.x + A->y.y * v.y + A->z.y * v.z,
                   A->x.z * v.x + A->y.z * v.y + A->z.z * v.z};
}

LANE_FN lane3 lane33_apply_transposed(const lane33 *A, lane3 v)
{
    return (lane3){lane3_dot(A->x, v), lane3_dot(A->y, v), lane3_dot(A->z, v)};
}

LANE_FN lane33 lane33_mul(const lane33 *A, const lane33 *B)
{
    return (lane33){lane33_apply(A, B->x), lane33_apply(A, B->y), lane33_apply(A, B->z)};
}

typedef struct lane_sym {
    lane xx, xy, xz, yy, yz, zz;
} lane_sym;

LANE_FN lane_sym lane_sym_zero(void)
{
    lane o = lane_of(0.0);
    return (lane_sym){o, o, o, o, o, o};
}

LANE_FN lane_sym lane_sym_identity(lane s)
{
    lane o = lane_of(0.0);
    return (lane_sym){s, o, o, s, o, s};
}

LANE_FN lane_sym lane_sym_add(lane_sym a, lane_sym b)
{
    return (lane_sym){a.xx + b.xx, a.xy + b.xy, a.xz + b.xz, a.yy + b.yy, a.yz + b.yz, a.zz + b.zz};
}

LANE_FN lane_sym lane_sym_sub(lane_sym a, lane_sym b)
{
    return (lane_sym){a.xx - b.xx, a.xy - b.xy, a.xz - b.xz, a.yy - b.yy, a.yz - b.yz, a.zz - b.zz};
}

LANE_FN lane_sym lane_sym_scale(lane_sym a, lane s)
{
    return (lane_sym){s * a.xx, s * a.xy, s * a.xz, s * a.yy, s * a.yz, s * a.zz};
}

// s u u^T
LANE_FN lane_sym lane_sym_outer(lane s, lane3 u)
{
    lane3 su = lane3_scale(u, s);
    return (lane_sym){su.x * u.x, su.x * u.y, su.x * u.z, su.y * u.y, su.y * u.z, su.z * u.z};
}

// (u w^T + w u^T)/2
LANE_FN lane_sym lane_sym_pair(lane3 u, lane3 w)
{
    lane half = lane_of(0.5);
    return (lane_sym){u.x * w.x, half * (u.x * w.y + u.y * w.x), half * (u.x * w.z + u.z * w.x),
                      u.y * w.y, half * (u.y * w.z + u.z * w.y), u.z * w.z};
}

LANE_FN lane_sym lane_sym_where(lane_mask m, lane_sym a)
{
    return (lane_sym){lane_where(m, a.xx), lane_where(m, a.xy), lane_where(m, a.xz),
                      lane_where(m, a.yy), lane_where(m, a.yz), lane_where(m, a.zz)};
}

LANE_FN lane33 lane_sym_matrix(const lane_sym *A)
{
    return (lane33){{A->xx, A->xy, A->xz}, {A->xy, A->yy, A->yz}, {A->xz, A->yz, A->zz}};
}

// ---- Six-vectors ---------------------------------------------------------------------------------------------------------

// A motion [w ; v] or a wrench [n ; f].
typedef struct lane6 {
    lane3 a, b;
} lane6;

LANE_FN lane6 lane6_zero(void)
{
    return (lane6){lane3_zero(), lane3_zero()};
}

LANE_FN lane6 lane6_add(lane6 u, lane6 v)
{
    return (lane6){lane3_add(u.a, v.a), lane3_add(u.b, v.b)};
}

// u + s v
LANE_FN lane6 lane6_mad(lane6 u, lane s, lane6 v)
{
    return (lane6){lane3_mad(u.a, s, v.a), lane3_mad(u.b, s, v.b)};
}

LANE_FN lane6 lane6_scale(lane6 u, lane s)
{
    return (lane6){lane3_scale(u.a, s), lane3_scale(u.b, s)};
}

LANE_FN lane6 lane6_select(lane_mask m, lane6 u, lane6 v)
{
    return (lane6){
        {lane_select(m, u.a.x, v.a.x), lane_select(m, u.a.y, v.a.y), lane_select(m, u.a.z, v.a.z)},
        {lane_select(m, u.b.x, v.b.x), lane_select(m, u.b.y, v.b.y), lane_select(m, u.b.z, v.b.z)},
    };
}

// spatial_dot: first the three of the one half, then those of the other
LANE_FN lane lane6_power(lane6 m, lane6 g)
{
    return lane3_dot(m.a, g.a) + lane3_dot(m.b, g.b);
}

// six_dot: even places, then odd ones
LANE_FN lane lane6_dot(lane6 u, lane6 v)
{
    lane even = u.a.x * v.a.x + u.a.z * v.a.z + u.b.y * v.b.y;
    lane odd = u.a.y * v.a.y + u.b.x * v.b.x + u.b.z * v.b.z;
    return even + odd;
}

// spatial_cross
LANE_FN lane6 lane6_cross(lane6 m, lane6 n)
{
    return (lane6){lane3_cross(m.a, n.a), lane3_add(lane3_cross(m.a, n.b), lane3_cross(m.b, n.a))};
}

// A symmetric 6 x 6 matrix by the rows of its lower triangle. Whatever math/six.h does to its full matrices is symmetric to
// the last bit, so half of the entries will do.
typedef struct lane66 {
    lane m[21];
} lane66;

#define LANE66(i, j) ((i) >= (j) ? (i) * ((i) + 1) / 2 + (j) : (j) * ((j) + 1) / 2 + (i))

LANE_FN lane66 lane66_zero(void)
{
    lane66 A;
    LANE_UNROLL
    for (int i = 0; i < 21; ++i) {
        A.m[i] = lane_of(0.0);
    }
    return A;
}

// six_apply: u + A v
LANE_FN lane6 lane66_apply(lane6 u, const lane66 *A, lane6 v)
{
    const lane *s = (const lane *)&v;
    lane6 r;
    lane *to = (lane *)&r;
    const lane *from = (const lane *)&u;
    LANE_UNROLL
    for (int i = 0; i < 6; ++i) {
        lane sum = from[i];
        LANE_UNROLL
        for (int j = 0; j < 6; ++j) {
            sum = sum + s[j] * A->m[LANE66(i, j)];
        }
        to[i] = sum;
    }
    return r;
}

// six_subtract_square: A - u u^T
LANE_FN void lane66_subtract_square(lane66 *A, const lane6 *u)
{
    const lane *s = (const lane *)u;
    LANE_UNROLL
    for (int i = 0; i < 6; ++i) {
        LANE_UNROLL
        for (int j = 0; j <= i; ++j) {
            A->m[LANE66(i, j)] = A->m[LANE66(i, j)] - s[j] * s[i];
        }
    }
}

#endif
