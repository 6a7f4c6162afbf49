// Own sine, cosine, arc tangent, exponential and logarithm: below 1 ulp for the first three and a few for the others, the
// same bits on every compiler.
#ifndef PZ_NUM_TRIG_H
#define PZ_NUM_TRIG_H

#include "num/real.h"

// Sine and cosine of x, any finite x. NaN for a number that is not finite.
PZ_CALL void pz_sincos(double x, double *sine, double *cosine);

// Angle of the point (x, y), in [-pi, pi]; signed zeros and infinities as C's atan2.
PZ_CALL double pz_atan2(double y, double x);

#ifdef __CUDACC__
#include "num/trig_kernel.h" // with pz_sincos_array
#else

// The same as pz_sincos for an array, bit for bit; the loops vectorise. The three arrays do not overlap.
void pz_sincos_array(size_t count, const double *restrict x, double *restrict sine, double *restrict cosine);

// e^x; 0 below -700 and e^700 above 700, so that it never overflows.
double pz_exp(double x);

// Natural logarithm of x > 0; that of the smallest normal number below it.
double pz_log(double x);

// x^y for x >= 0; 0^y is 0.
double pz_power(double x, double y);

#endif

// ---- Arrays of reals -----------------------------------------------------------------------------------------------------

#if defined(REAL_PACKED)

#include "num/trig_kernel.h"

// The arrays have room for whole registers of four, and the rest of x is overwritten. Angles are read one by one: most have
// just been written so, and a processor waits when it is to read as one what was written as several.
REAL_FN void real_sincos_array(int count, unsigned busy, real *x, real *sine, real *cosine)
{
    (void)busy;
    int full = (count + 3) / 4 * 4;
    reals_bits seen = {ROUND_BITS, ROUND_BITS, ROUND_BITS, ROUND_BITS};
    for (int i = count; i < full; ++i) {
        x[i] = 0.0;
    }
    for (int i = 0; i < full; i += 4) {
        reals s, c, angles = {x[i], x[i + 1], x[i + 2], x[i + 3]};
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

#elif REAL_WIDTH == 1

REAL_FN void real_sincos_array(int count, unsigned busy, real *x, real *sine, real *cosine)
{
    (void)busy;
    pz_sincos_array((size_t)count, x, sine, cosine);
}

#else

#include "num/trig_kernel.h"

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
    reals_bits seen = bits_of(real_of(0x1.8p+52)); // ROUND_BITS
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
