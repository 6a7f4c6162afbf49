// Numbers with the same bits on the device and on the host: products and sums are fused where it says fma and nowhere else
// (-fmad=false, -ffp-contract=off), and all else is IEEE 754 arithmetic, sines included. First what single precision has of
// its own; then `scalar`, which is float, or double with BODY_DOUBLE, and vectors, matrices and rotations over it.
//
// All functions are part of their kernel (PZ_INLINE): there the compiler knows where task and state lie, and numbers of the
// task are operands of instructions.
#ifndef POISE_CUDA_FUSED_NUMBERS_H
#define POISE_CUDA_FUSED_NUMBERS_H

#include "base/cpu.h"
#include "num/trig.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

// ---- Loops ---------------------------------------------------------------------------------------------------------------

#if defined(__CUDACC__) || defined(__clang__)
#define FAST_UNROLL _Pragma("unroll")
#else
#define FAST_UNROLL _Pragma("GCC unroll 8")
#endif

// Loops over the tree stay loops: unrolled, a pass is larger than the device's cache for programs.
#ifdef __CUDACC__
#define BODY_LOOP _Pragma("unroll 1")
#else
#define BODY_LOOP
#endif

// Loops that read global memory, unrolled so that several reads are under way.
#ifdef __CUDACC__
#define BODY_READS _Pragma("unroll 8")
#else
#define BODY_READS
#endif

// ---- Single precision ----------------------------------------------------------------------------------------------------

#define FAST_PER_RADIAN 0x1.45f306dc9c883p-2 // half turns

PZ_INLINE uint32_t fast_bits(float x)
{
#ifdef __CUDACC__
    return __float_as_uint(x);
#else
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
#endif
}

PZ_INLINE float fast_number(uint32_t bits)
{
#ifdef __CUDACC__
    return __uint_as_float(bits);
#else
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
#endif
}

// Sine and cosine of `a` half turns, |a| < 2^22, to 5e-7. Whole turns are taken off without rounding; then, from half the
// angle, with s = sqrt(2) sin(pi r/2) and c = sqrt(2) cos(pi r/2) for |r| <= 1,
//
//   sin(pi r) = s c        cos(pi r) = 1 - s^2
//
// s and c by minimax polynomials of degree 9 and 8, good to 1e-8 and 7e-8.
PZ_INLINE void fast_sincos(float a, float *sine, float *cosine)
{
    float r = a - ((a + 0x1.8p24f) - 0x1.8p24f), rr = r * r; // numbers of this size lie 2 apart
    float s = fmaf(0x1.c2bc0cp-13f, rr, -0x1.b14912p-8f);
    s = fmaf(s, rr, 0x1.cd9e2cp-4f);
    s = fmaf(s, rr, -0x1.d3ba5ap-1f);
    s = r * fmaf(s, rr, 0x1.1c5832p+1f);
    float c = fmaf(0x1.3e7278p-10f, rr, -0x1.e23c02p-6f);
    c = fmaf(c, rr, 0x1.6f53dap-2f);
    c = fmaf(c, rr, -0x1.bea588p+0f);
    c = fmaf(c, rr, 0x1.6a09e6p+0f);
    *sine = s * c;
    *cosine = fmaf(-s, s, 1.0f);
}

// 1/sqrt(x), x > 0, to 5e-6: half the exponent with its sign turned, and two steps of Newton's.
PZ_INLINE float fast_inverse_root(float x)
{
    float y = fast_number(0x5f375a86u - (fast_bits(x) >> 1)), half = 0.5f * x;
    y = y * fmaf(-half * y, y, 1.5f);
    return y * fmaf(-half * y, y, 1.5f);
}

PZ_INLINE float fast_inverse(float x)
{
#ifdef __CUDACC__
    return __frcp_rn(x);
#else
    return 1.0f / x;
#endif
}

// The larger one; `least` where x is not a number.
PZ_INLINE float fast_at_least(float least, float x)
{
#ifdef __CUDACC__
    return fmaxf(x, least);
#else
    return x > least ? x : least;
#endif
}

// ---- Scalars: single or double precision ---------------------------------------------------------------------------------

#ifdef BODY_DOUBLE
typedef double scalar;
#define REAL_EPSILON 2.220446049250313e-16
#define SERIES_TERMS 12 // of the coefficients of a rotation vector
#else
typedef float scalar;
#define REAL_EPSILON 1.1920929e-7f
#define SERIES_TERMS 7
#endif

PZ_INLINE scalar scalar_fma(scalar a, scalar b, scalar c)
{
#ifdef BODY_DOUBLE
    return fma(a, b, c);
#else
    return fmaf(a, b, c);
#endif
}

PZ_INLINE scalar scalar_root(scalar x)
{
#ifdef BODY_DOUBLE
    return sqrt(x);
#else
    return sqrtf(x);
#endif
}

PZ_INLINE scalar scalar_inverse(scalar x)
{
#ifdef BODY_DOUBLE
    return 1.0 / x;
#else
    return fast_inverse(x);
#endif
}

PZ_INLINE scalar scalar_abs(scalar x)
{
    return x < 0 ? -x : x;
}

PZ_INLINE scalar scalar_max(scalar a, scalar b)
{
    return a > b ? a : b;
}

PZ_INLINE scalar scalar_min(scalar a, scalar b)
{
    return a < b ? a : b;
}

PZ_INLINE scalar scalar_clamp(scalar x, scalar lower, scalar upper)
{
    return x < lower ? lower : x > upper ? upper : x;
}

PZ_INLINE void scalar_sincos(scalar angle, scalar *sine, scalar *cosine)
{
#ifdef BODY_DOUBLE
    pz_sincos(angle, sine, cosine);
#else
    fast_sincos((float)FAST_PER_RADIAN * angle, sine, cosine);
#endif
}

// ---- Vectors -------------------------------------------------------------------------------------------------------------

typedef struct rvec {
    scalar x, y, z;
} rvec;

PZ_INLINE rvec rv(scalar x, scalar y, scalar z)
{
    rvec a = {x, y, z};
    return a;
}

PZ_INLINE rvec rv_add(rvec a, rvec b)
{
    return rv(a.x + b.x, a.y + b.y, a.z + b.z);
}

PZ_INLINE rvec rv_sub(rvec a, rvec b)
{
    return rv(a.x - b.x, a.y - b.y, a.z - b.z);
}

PZ_INLINE rvec rv_scale(rvec a, scalar s)
{
    return rv(s * a.x, s * a.y, s * a.z);
}

PZ_INLINE scalar rv_dot(rvec a, rvec b)
{
    return scalar_fma(a.x, b.x, scalar_fma(a.y, b.y, a.z * b.z));
}

// a + s b
PZ_INLINE rvec rv_mad(rvec a, scalar s, rvec b)
{
    return rv(scalar_fma(s, b.x, a.x), scalar_fma(s, b.y, a.y), scalar_fma(s, b.z, a.z));
}

PZ_INLINE rvec rv_cross(rvec a, rvec b)
{
    return rv(scalar_fma(a.y, b.z, -(a.z * b.y)), scalar_fma(a.z, b.x, -(a.x * b.z)), scalar_fma(a.x, b.y, -(a.y * b.x)));
}

// d + a . b
PZ_INLINE scalar rv_dot_on(scalar d, rvec a, rvec b)
{
    return scalar_fma(a.x, b.x, scalar_fma(a.y, b.y, scalar_fma(a.z, b.z, d)));
}

// s a + t b
PZ_INLINE rvec rv_combine(scalar s, rvec a, scalar t, rvec b)
{
    return rv(scalar_fma(s, a.x, t * b.x), scalar_fma(s, a.y, t * b.y), scalar_fma(s, a.z, t * b.z));
}

// d + a x b
PZ_INLINE rvec rv_cross_on(rvec d, rvec a, rvec b)
{
    return rv(scalar_fma(a.y, b.z, scalar_fma(-a.z, b.y, d.x)), scalar_fma(a.z, b.x, scalar_fma(-a.x, b.z, d.y)),
              scalar_fma(a.x, b.y, scalar_fma(-a.y, b.x, d.z)));
}

// Three columns.
typedef struct rmat {
    rvec x, y, z;
} rmat;

PZ_INLINE rvec rm_apply(const rmat *M, rvec a)
{
    return rv_mad(rv_mad(rv_scale(M->x, a.x), a.y, M->y), a.z, M->z);
}

PZ_INLINE rvec rm_apply_transposed(const rmat *M, rvec a)
{
    return rv(rv_dot(M->x, a), rv_dot(M->y, a), rv_dot(M->z, a));
}

PZ_INLINE rmat rm_mul(const rmat *A, const rmat *B)
{
    rmat C = {rm_apply(A, B->x), rm_apply(A, B->y), rm_apply(A, B->z)};
    return C;
}

// M + s a b^T
PZ_INLINE void rm_add_outer(rmat *M, scalar s, rvec a, rvec b)
{
    M->x = rv_mad(M->x, s * b.x, a);
    M->y = rv_mad(M->y, s * b.y, a);
    M->z = rv_mad(M->z, s * b.z, a);
}

// A symmetric matrix.
typedef struct rsym {
    scalar xx, xy, xz, yy, yz, zz;
} rsym;

PZ_INLINE rvec rs_apply(const rsym *A, rvec a)
{
    return rv(scalar_fma(A->xx, a.x, scalar_fma(A->xy, a.y, A->xz * a.z)),
              scalar_fma(A->xy, a.x, scalar_fma(A->yy, a.y, A->yz * a.z)),
              scalar_fma(A->xz, a.x, scalar_fma(A->yz, a.y, A->zz * a.z)));
}

// A + s a a^T
PZ_INLINE void rs_add_square(rsym *A, scalar s, rvec a)
{
    rvec b = rv_scale(a, s);
    A->xx = scalar_fma(b.x, a.x, A->xx), A->xy = scalar_fma(b.x, a.y, A->xy), A->xz = scalar_fma(b.x, a.z, A->xz);
    A->yy = scalar_fma(b.y, a.y, A->yy), A->yz = scalar_fma(b.y, a.z, A->yz), A->zz = scalar_fma(b.z, a.z, A->zz);
}

// ---- Rotations -----------------------------------------------------------------------------------------------------------

// I + p W + r W^2 with W = [v]x, W^2 = v v^T - |v|^2 I
PZ_INLINE rmat rotation_polynomial(scalar p, scalar r, rvec v)
{
    scalar xx = v.x * v.x, yy = v.y * v.y, zz = v.z * v.z, xy = r * (v.x * v.y), xz = r * (v.x * v.z), yz = r * (v.y * v.z);
    rvec u = rv_scale(v, p);
    rmat M = {rv(1 - r * (yy + zz), xy + u.z, xz - u.y), rv(xy - u.z, 1 - r * (xx + zz), yz + u.x),
              rv(xz + u.y, yz - u.x, 1 - r * (xx + yy))};
    return M;
}

// exp(v) = I + a W + b W^2, and its left Jacobian I + b W + c W^2 (num/rotation.c has the series, c_4 and c_5, and the
// closed forms beyond them).
PZ_INLINE void rotation_of(rvec v, rmat *turn, rmat *jacobian)
{
    scalar x = rv_dot(v, v), a, b, c;
    if (x <= (scalar)6.25) {
        scalar four = 1, five = 1;
        FAST_UNROLL
        for (int j = SERIES_TERMS - 1; j > 0; --j) {
            four = scalar_fma(-x * (scalar)(1.0 / ((2 * j + 3) * (2 * j + 4))), four, 1);
            five = scalar_fma(-x * (scalar)(1.0 / ((2 * j + 4) * (2 * j + 5))), five, 1);
        }
        c = scalar_fma(-x * (scalar)(1.0 / 120.0), five, (scalar)(1.0 / 6.0));
        b = scalar_fma(-x * (scalar)(1.0 / 24.0), four, (scalar)0.5);
        a = scalar_fma(-x, c, 1);
    } else {
        scalar half = (scalar)0.5 * scalar_root(x), sine, cosine;
        scalar_sincos(half, &sine, &cosine);
        scalar r = sine / half;
        a = r * cosine, b = (scalar)0.5 * r * r, c = (1 - a) / x;
    }
    *turn = rotation_polynomial(a, b, v);
    *jacobian = rotation_polynomial(b, c, v);
}

// Of the quaternion x y z w, any length but 0.
PZ_INLINE rmat quaternion_matrix(scalar x, scalar y, scalar z, scalar w)
{
    scalar s = 2 * scalar_inverse(scalar_fma(x, x, scalar_fma(y, y, scalar_fma(z, z, w * w))));
    rmat M = {rv(1 - s * scalar_fma(y, y, z * z), s * scalar_fma(x, y, w * z), s * scalar_fma(x, z, -(w * y))),
              rv(s * scalar_fma(x, y, -(w * z)), 1 - s * scalar_fma(x, x, z * z), s * scalar_fma(y, z, w * x)),
              rv(s * scalar_fma(x, z, w * y), s * scalar_fma(y, z, -(w * x)), 1 - s * scalar_fma(x, x, y * y))};
    return M;
}

#endif
