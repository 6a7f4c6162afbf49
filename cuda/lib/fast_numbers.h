// Single precision with the same bits on the device and on the host: products and sums are fused where it says fmaf and
// nowhere else (-fmad=false, -ffp-contract=off), and all else is IEEE 754 arithmetic, sines included.
#ifndef POISE_CUDA_FAST_NUMBERS_H
#define POISE_CUDA_FAST_NUMBERS_H

#include "base/cpu.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__CUDACC__) || defined(__clang__)
#define FAST_UNROLL _Pragma("unroll")
#else
#define FAST_UNROLL _Pragma("GCC unroll 8")
#endif

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

#endif
