// Own sine, cosine and arc tangent: below 1 ulp everywhere, the same bits on every compiler.
#ifndef PZ_MATH_TRIG_H
#define PZ_MATH_TRIG_H

#include <stddef.h>

#include "base/cpu.h"

// Sine and cosine of x, any finite x. NaN for a number that is not finite.
PZ_DEVICE void pz_sincos(double x, double *sine, double *cosine);

// The same for an array, bit for bit; the loops vectorise. The three arrays do not overlap.
PZ_DEVICE void pz_sincos_array(size_t count, const double *restrict x, double *restrict sine, double *restrict cosine);

// Angle of the point (x, y), in [-pi, pi]; signed zeros and infinities as C's atan2.
PZ_DEVICE double pz_atan2(double y, double x);

#endif
