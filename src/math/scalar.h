// Numbers: constants and the elementary functions that need no library.
#ifndef PZ_MATH_SCALAR_H
#define PZ_MATH_SCALAR_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PZ_PI      3.14159265358979323846
#define PZ_TWO_PI  6.28318530717958647692
#define PZ_HALF_PI 1.57079632679489661923
#define PZ_EPSILON 2.220446049250313e-16 // 2^-52

// sqrt and fabs are exact by IEEE 754, so the library's may be used; no other function of <math.h> may.

static inline double min2(double a, double b)
{
    return a < b ? a : b;
}

static inline double max2(double a, double b)
{
    return a > b ? a : b;
}

static inline int least(int a, int b)
{
    return a < b ? a : b;
}

static inline double clamp(double x, double lower, double upper)
{
    return x < lower ? lower : x > upper ? upper : x;
}

// Neither NaN nor infinite: x - x is 0 for those numbers only.
static inline bool is_finite(double x)
{
    return x - x == 0.0;
}

static inline bool all_finite(const double *x, size_t count)
{
    // the sum of x - x is 0 exactly when every term is; one compare at the end lets the loop vectorise
    double sum = 0.0;
    for (size_t i = 0; i < count; ++i) {
        sum += x[i] - x[i];
    }
    return sum == 0.0;
}

#endif
