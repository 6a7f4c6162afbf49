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

// floor(x).
static inline double round_down(double x)
{
    if (!(fabs(x) < 4503599627370496.0)) { // 2^52: whole already, or NaN
        return x;
    }
    double whole = (double)(int64_t)x;
    return whole > x ? whole - 1.0 : whole;
}

// The angle and whole turns, within half a turn of `near`.
static inline double turn_near(double angle, double near)
{
    return angle + PZ_TWO_PI * round_down((near - angle) / PZ_TWO_PI + 0.5);
}

// Neither NaN nor infinite: x - x is 0 for those numbers only.
static inline bool is_finite(double x)
{
    return x - x == 0.0;
}

static inline bool all_finite(const double *x, size_t count)
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
static inline double next_uniform(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

#endif
