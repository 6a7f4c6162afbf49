// Numbers for kernels that solve 1, 2, 4 or 8 problems at once, one to a lane: `real` is a double or a register of doubles,
// and `mask` says in which lanes something is true.
//
// A kernel is one text over these types, in a header that a source for each width includes:
//
//   #define REAL_WIDTH 4           // 1; 2 where PZ_HAS_PAIRS, 4 and 8 where PZ_HAS_WIDE (base/cpu.h)
//   #include "simd/real.h"
//
// Every operation acts on each lane by itself and in the order written, so a lane has the bits of scalar code. With the
// width 1 a real is a double, a mask is a bool, and the kernel is scalar code. Where lanes differ, all of them compute
// and a mask selects. `real3.h` has vectors and matrices of reals, `six.h` six-vectors, `pack3.h` three-vectors for
// sweeps along a chain.
#ifndef PZ_SIMD_REAL_H
#define PZ_SIMD_REAL_H

#include "base/cpu.h"
#include "math/scalar.h"
#include "math/trig.h"

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

// For loops of a few rounds that are to vanish, so that what they work on can stay in registers. Clang does it unasked.
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
typedef bool mask;
#ifdef __clang__ // masks of one lane are joined as those of many are
#pragma clang diagnostic ignored "-Wunknown-warning-option"
#pragma clang diagnostic ignored "-Wbitwise-instead-of-logical"
#endif
#else
typedef double real __attribute__((vector_size(8 * REAL_WIDTH)));
typedef int64_t mask __attribute__((vector_size(8 * REAL_WIDTH))); // -1: true, 0: false
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

REAL_FN mask mask_not(mask m)
{
#if REAL_WIDTH == 1
    return !m;
#else
    return ~m;
#endif
}

REAL_FN mask mask_none(void)
{
    mask none = {0};
    return none;
}

REAL_FN mask mask_all(void)
{
    return mask_not(mask_none());
}

// One bit for each lane, and back.
REAL_FN unsigned mask_bits(mask m)
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

REAL_FN mask mask_of_bits(unsigned bits)
{
#if REAL_WIDTH == 1
    return bits & 1u;
#else
    mask m;
    for (int i = 0; i < REAL_WIDTH; ++i) {
        m[i] = -(int64_t)(bits >> i & 1u);
    }
    return m;
#endif
}

REAL_FN bool mask_any(mask m)
{
    return mask_bits(m) != 0;
}

// ---- Numbers -------------------------------------------------------------------------------------------------------------

// m ? a : b
REAL_FN real real_select(mask m, real a, real b)
{
#if REAL_WIDTH == 1
    return m ? a : b;
#elif REAL_WIDTH == 8 && !defined(__clang__) // by a register of bits, as comparisons make them
    return __builtin_ia32_blendmpd_512_mask(b, a, (unsigned char)mask_bits(m));
#else
    return (real)((m & (mask)a) | (~m & (mask)b));
#endif
}

// m ? a : 0
REAL_FN real real_where(mask m, real a)
{
#if REAL_WIDTH == 1
    return m ? a : 0.0;
#else
    return (real)(m & (mask)a);
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
    return (real)((mask)a & ~(mask)real_of(-0.0));
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

// ---- Sine and cosine -----------------------------------------------------------------------------------------------------

#if REAL_WIDTH == 1

REAL_FN void real_sincos(real x, real *sine, real *cosine)
{
    pz_sincos(x, sine, cosine);
}

#ifdef REAL_PACKED

typedef double number __attribute__((vector_size(32)));
typedef uint64_t word __attribute__((vector_size(32)));
#define NUMBER_INLINE REAL_FN
#include "math/sincos_kernel.h"

// The arrays have room for whole registers of four, and the rest of x is overwritten. Angles are read one by one: most have
// just been written so, and a processor waits when it is to read as one what was written as several.
REAL_FN void real_sincos_array(int count, unsigned busy, real *x, real *sine, real *cosine)
{
    (void)busy;
    int full = (count + 3) / 4 * 4;
    word seen = {ROUND_BITS, ROUND_BITS, ROUND_BITS, ROUND_BITS};
    for (int i = count; i < full; ++i) {
        x[i] = 0.0;
    }
    for (int i = 0; i < full; i += 4) {
        number s, c, angles = {x[i], x[i + 1], x[i + 2], x[i + 3]};
        reduced_angle r = reduce(angles);
        seen |= r.turns;
        sincos_reduced(r, &s, &c);
        memcpy(sine + i, &s, sizeof s), memcpy(cosine + i, &c, sizeof c);
    }
    bool all_fast = (seen[0] | seen[1] | seen[2] | seen[3]) >> TURN_BITS == ROUND_BITS >> TURN_BITS;
    for (int i = 0; i < full && !all_fast; ++i) {
        // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): every angle is set, those beyond count above
        pz_sincos(x[i], &sine[i], &cosine[i]);
    }
}

#else

REAL_FN void real_sincos_array(int count, unsigned busy, real *x, real *sine, real *cosine)
{
    (void)busy;
    pz_sincos_array((size_t)count, x, sine, cosine);
}

#endif

#else

typedef real number;
typedef uint64_t word __attribute__((vector_size(8 * REAL_WIDTH)));
#define NUMBER_INLINE REAL_FN
#include "math/sincos_kernel.h"

// Lanes that the fast way does not serve, one by one.
REAL_KERNEL void real_far_angles(int count, unsigned far, const real *x, real *sine, real *cosine)
{
    for (int i = 0; i < count; ++i) {
        for (int l = 0; far >> l; ++l) {
            double s, c;
            if (far >> l & 1u) {
                pz_sincos(x[i][l], &s, &c);
                sine[i][l] = s, cosine[i][l] = c;
            }
        }
    }
}

// Lanes that are not busy, by bits, need no right result.
REAL_FN void real_sincos_array(int count, unsigned busy, real *x, real *sine, real *cosine)
{
    word seen = bits_of(real_of(0x1.8p+52)); // ROUND_BITS
    for (int i = 0; i < count; ++i) {
        reduced_angle r = reduce(x[i]);
        seen |= r.turns;
        sincos_reduced(r, &sine[i], &cosine[i]);
    }
    unsigned far = mask_bits(seen >> TURN_BITS != ROUND_BITS >> TURN_BITS) & busy;
    if (far) {
        real_far_angles(count, far, x, sine, cosine);
    }
}

REAL_FN void real_sincos(real x, real *sine, real *cosine)
{
    real_sincos_array(1, ~0u, &x, sine, cosine);
}

#endif

#endif
