// Numbers: constants, the elementary functions that need no library, and `real`, over which kernels are written that solve
// 1, 2, 4 or 8 problems at once, one to a lane: a double or a register of doubles. A `real_mask` says in which lanes
// something is true.
//
// A kernel is one text over these types, in a header that a source for each width includes:
//
//   #define REAL_WIDTH 4           // 1; 2 where PZ_HAS_PAIRS, 4 and 8 where PZ_HAS_WIDE (base/cpu.h)
//   #include "num/real.h"          // or what includes it
//
// Every operation acts on each lane by itself and in the order written, so a lane has the bits of scalar code. With the
// width 1, which is that of every source that says nothing, a real is a double, a real_mask is a bool, and the kernel is
// scalar code. Where lanes differ, all of them compute and a mask selects. vector.h has vectors and matrices of reals,
// trig.h sines, rotation.h rotations; registers.h has vectors and six-vectors that lie in registers of their own.
#ifndef PZ_NUM_REAL_H
#define PZ_NUM_REAL_H

#include "base/cpu.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// ---- Scalars -------------------------------------------------------------------------------------------------------------

#define PZ_PI      3.14159265358979323846
#define PZ_TWO_PI  6.28318530717958647692
#define PZ_HALF_PI 1.57079632679489661923
#define PZ_EPSILON 2.220446049250313e-16 // 2^-52

// sqrt and fabs are exact by IEEE 754, so the library's may be used; no other function of <math.h> may.

PZ_FN double min2(double a, double b)
{
    return a < b ? a : b;
}

PZ_FN double max2(double a, double b)
{
    return a > b ? a : b;
}

PZ_FN int least(int a, int b)
{
    return a < b ? a : b;
}

PZ_FN double clamp(double x, double lower, double upper)
{
    return x < lower ? lower : x > upper ? upper : x;
}

// floor(x).
PZ_FN double round_down(double x)
{
    if (!(fabs(x) < 4503599627370496.0)) { // 2^52: whole already, or NaN
        return x;
    }
    double whole = (double)(int64_t)x;
    return whole > x ? whole - 1.0 : whole;
}

// The angle and whole turns, within half a turn of `near`.
PZ_FN double turn_near(double angle, double near)
{
    return angle + PZ_TWO_PI * round_down((near - angle) / PZ_TWO_PI + 0.5);
}

// Neither NaN nor infinite: x - x is 0 for those numbers only.
PZ_FN bool is_finite(double x)
{
    return x - x == 0.0;
}

PZ_FN bool all_finite(const double *x, size_t count)
{
    // the sum of x - x is 0 exactly when every term is; four of them, so that no addition waits for the one before
    double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
    for (; count >= 4; x += 4, count -= 4) {
        a += x[0] - x[0], b += x[1] - x[1], c += x[2] - x[2], d += x[3] - x[3];
    }
    for (; count > 0; ++x, --count) {
        a += x[0] - x[0];
    }
    return a + b + c + d == 0.0;
}

// The next of a sequence of numbers that look random, uniform in [0, 1): splitmix64 (Steele, Lea & Flood 2014).
PZ_FN double next_uniform(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

// ---- Reals: types --------------------------------------------------------------------------------------------------------

#ifndef REAL_WIDTH
#define REAL_WIDTH 1
#endif

// What every function over reals begins with: the instructions it is compiled for, and that it is inlined, or is not.
#if REAL_WIDTH == 8
#define REAL_TARGET PZ_WIDEST
#elif REAL_WIDTH == 4 || defined(REAL_PACKED)
#define REAL_TARGET PZ_WIDE
#else
#define REAL_TARGET
#endif
#define REAL_FN     REAL_TARGET PZ_INLINE
#define REAL_KERNEL REAL_TARGET static __attribute__((noinline))

// For functions that scalar code has in many places: there the compiler decides.
#if REAL_WIDTH == 1 && !defined(REAL_PACKED)
#define REAL_CALL PZ_FN
#else
#define REAL_CALL REAL_FN
#endif

// Asks the compiler to unroll a loop of a few rounds, so that what it works on can stay in registers. Clang does it unasked.
#if defined(__clang__) || defined(__CUDACC__)
#define REAL_UNROLL
#else
#define REAL_UNROLL _Pragma("GCC unroll 32")
#endif

// The numbers at these places of a register, as one of two or four; of two registers, the second's from place 4 on.
// gcc 11 has no function for it.
#if defined(__clang__) || __GNUC__ >= 12
#define REAL_PICK2(v, i, j)           __builtin_shufflevector(v, v, i, j)
#define REAL_PICK4(v, i, j, k, l)     __builtin_shufflevector(v, v, i, j, k, l)
#define REAL_BLEND4(v, w, i, j, k, l) __builtin_shufflevector(v, w, i, j, k, l)
#else
#define REAL_PICK2(v, i, j)       ((double __attribute__((vector_size(16)))){(v)[i], (v)[j]})
#define REAL_PICK4(v, i, j, k, l) ((double __attribute__((vector_size(32)))){(v)[i], (v)[j], (v)[k], (v)[l]})
#define REAL_EITHER(v, w, i)      ((i) < 4 ? (v)[(i)&3] : (w)[(i)&3])
#define REAL_BLEND4(v, w, i, j, k, l)                                                                                       \
    ((double __attribute__((vector_size(32)))){REAL_EITHER(v, w, i), REAL_EITHER(v, w, j), REAL_EITHER(v, w, k),            \
                                               REAL_EITHER(v, w, l)})
#endif

#if REAL_WIDTH == 1
typedef double real;
typedef bool real_mask;
#ifdef __clang__ // masks of one lane are joined as those of many are
#pragma clang diagnostic ignored "-Wunknown-warning-option"
#pragma clang diagnostic ignored "-Wbitwise-instead-of-logical"
#endif
#else
typedef double real __attribute__((vector_size(8 * REAL_WIDTH)));
typedef int64_t real_mask __attribute__((vector_size(8 * REAL_WIDTH))); // -1: true, 0: false
#endif

// What elementary functions (trig_kernel.h, so3_series) are written over: a real, or, for REAL_PACKED, where a real is a
// double, four doubles of one problem in a register. And its bits.
#if defined(REAL_PACKED)
#define REAL_IS_PACKED
typedef double reals __attribute__((vector_size(32)));
typedef uint64_t reals_bits __attribute__((vector_size(32)));
#elif REAL_WIDTH == 1
typedef double reals;
typedef uint64_t reals_bits;
#else
typedef real reals;
typedef uint64_t reals_bits __attribute__((vector_size(8 * REAL_WIDTH)));
#endif

// ---- Lanes ---------------------------------------------------------------------------------------------------------------

// The same number in all lanes. Nothing is computed: s - 0 is s, whatever its sign, and compilers know it.
REAL_FN real real_of(double s)
{
    real zero = {0};
    return s - zero;
}

// Read and write one lane, in memory: a register would be stored for it.
REAL_FN double real_get(const real *a, int lane)
{
#if REAL_WIDTH == 1
    (void)lane;
    return *a;
#else
    return (*a)[lane];
#endif
}

REAL_FN void real_set(real *a, int lane, double s)
{
#if REAL_WIDTH == 1
    (void)lane;
    *a = s;
#else
    (*a)[lane] = s;
#endif
}

REAL_FN real_mask mask_not(real_mask m)
{
#if REAL_WIDTH == 1
    return !m;
#else
    return ~m;
#endif
}

REAL_FN real_mask mask_none(void)
{
    real_mask none = {0};
    return none;
}

REAL_FN real_mask mask_all(void)
{
    return mask_not(mask_none());
}

// One bit for each lane, and back.
REAL_FN unsigned mask_bits(real_mask m)
{
#if REAL_WIDTH == 1
    return m;
#elif REAL_WIDTH == 2
    return (unsigned)(m[0] & 1) | (unsigned)(m[1] & 2);
#elif REAL_WIDTH == 4
    return (unsigned)__builtin_ia32_movmskpd256((real)m);
#else
    typedef long long long_mask __attribute__((vector_size(8 * REAL_WIDTH)));
    return __builtin_ia32_cvtq2mask512((long_mask)m);
#endif
}

REAL_FN real_mask mask_of_bits(unsigned bits)
{
#if REAL_WIDTH == 1
    return bits & 1u;
#else
    real_mask m;
    for (int i = 0; i < REAL_WIDTH; ++i) {
        m[i] = -(int64_t)(bits >> i & 1u);
    }
    return m;
#endif
}

REAL_FN bool mask_any(real_mask m)
{
    return mask_bits(m) != 0;
}

// ---- Numbers -------------------------------------------------------------------------------------------------------------

// m ? a : b
REAL_FN real real_select(real_mask m, real a, real b)
{
#if REAL_WIDTH == 1
    return m ? a : b;
#elif REAL_WIDTH == 8 && !defined(__clang__) // by a register of bits, as comparisons make them
    return __builtin_ia32_blendmpd_512_mask(b, a, (unsigned char)mask_bits(m));
#else
    return (real)((m & (real_mask)a) | (~m & (real_mask)b));
#endif
}

// m ? a : 0
REAL_FN real real_where(real_mask m, real a)
{
#if REAL_WIDTH == 1
    return m ? a : 0.0;
#else
    return (real)(m & (real_mask)a);
#endif
}

REAL_FN real real_sqrt(real a)
{
#if REAL_WIDTH == 1
    return sqrt(a);
#else
    for (int i = 0; i < REAL_WIDTH; ++i) {
        a[i] = sqrt(a[i]);
    }
    return a;
#endif
}

REAL_FN real real_fabs(real a)
{
#if REAL_WIDTH == 1
    return fabs(a);
#else
    return (real)((real_mask)a & ~(real_mask)real_of(-0.0));
#endif
}

REAL_FN real real_max2(real a, real b)
{
    return real_select(a > b, a, b);
}

REAL_FN real real_clamp(real x, double lower, double upper)
{
    real low = real_of(lower), high = real_of(upper);
    return real_select(x < low, low, real_select(x > high, high, x));
}

// Is x strictly between in all lanes?
REAL_FN bool real_all_between(real x, real lower, real upper)
{
#if REAL_WIDTH == 1
    return x > lower && x < upper;
#else
    return !mask_any((x <= lower) | (x >= upper));
#endif
}

#endif
