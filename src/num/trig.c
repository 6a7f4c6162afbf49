// The library's copy of sine, cosine and arc tangent (trig_kernel.h), arrays of them, exponential and logarithm.
#include "num/trig.h"

#include "num/trig_kernel.h"

#include <float.h>

_Static_assert(FLT_EVAL_METHOD == 0, "needs arithmetic in double precision");

#define BLOCK 32

// The fast way for up to BLOCK angles: two short loops, which keep a processor busier than one long chain of operations.
// Returns the bits of all rounded turns together.
PZ_INLINE uint64_t sincos_block(size_t count, const double *restrict x, double *restrict sine, double *restrict cosine)
{
    uint64_t turns[BLOCK];
    double hi[BLOCK], lost[BLOCK];
    uint64_t seen = 0;
    for (size_t i = 0; i < count; ++i) {
        reduced_angle r = reduce(x[i]);
        turns[i] = r.turns;
        hi[i] = r.hi;
        lost[i] = r.lost;
        seen |= r.turns;
    }
    for (size_t i = 0; i < count; ++i) {
        sincos_reduced((reduced_angle){turns[i], hi[i], lost[i]}, &sine[i], &cosine[i]);
    }
    return seen;
}

void pz_sincos_array(size_t count, const double *restrict x, double *restrict sine, double *restrict cosine)
{
    uint64_t seen = ROUND_BITS;
    size_t done = 0;
    for (; count - done > BLOCK; done += BLOCK) {
        seen |= sincos_block(BLOCK, x + done, sine + done, cosine + done); // a constant count makes better loops
    }
    seen |= sincos_block(count - done, x + done, sine + done, cosine + done);

    // more turns, another exponent or a sign leave a bit outside those of ROUND and of the turns allowed: again, one by one
    bool all_fast = seen >> TURN_BITS == ROUND_BITS >> TURN_BITS;
    for (size_t i = 0; i < count && !all_fast; ++i) {
        pz_sincos(x[i], &sine[i], &cosine[i]);
    }
}

// ---- Exponential and logarithm -------------------------------------------------------------------------------------------

#define LOG_2_HIGH 6.93147180369123816490e-01 // ln 2 to 32 bits, so that a product with an exponent is exact
#define LOG_2_LOW  1.90821492927058770002e-10
#define LOG_2      0.69314718055994530942
#define EXP_MOST   700.0
#define LEAST      2.2250738585072014e-308 // the smallest normal number

// 2^n for n in [-1022, 1023]
static double power_of_two(int n)
{
    uint64_t bits = (uint64_t)(n + 1023) << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// e^x = 2^n e^r with |r| <= ln(2)/2; the series of e^r to r^13/13! leaves 4e-17.
double pz_exp(double x)
{
    if (x < -EXP_MOST) {
        return 0.0;
    }
    x = min2(x, EXP_MOST);
    int n = (int)(x / LOG_2 + (x < 0 ? -0.5 : 0.5));
    double r = (x - n * LOG_2_HIGH) - n * LOG_2_LOW;
    double sum = 1.0;
    for (int k = 13; k > 0; --k) {
        sum = 1.0 + sum * r / k;
    }
    return sum * power_of_two(n);
}

// ln x = n ln 2 + ln m with m in [1/sqrt(2), sqrt(2)), ln m = 2 (s + s^3/3 + s^5/5 + ...), s = (m - 1)/(m + 1), |s| < 0.172:
// terms to s^21 leave 1e-18.
double pz_log(double x)
{
    x = max2(x, LEAST);
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int n = (int)(bits >> 52) - 1023;
    bits = (bits & 0xfffffffffffff) | (uint64_t)1023 << 52;
    double m;
    memcpy(&m, &bits, sizeof m);
    if (m > 1.4142135623730951) {
        m *= 0.5;
        n += 1;
    }
    double s = (m - 1.0) / (m + 1.0), square = s * s, sum = 0.0;
    for (int k = 21; k > 0; k -= 2) {
        sum = 1.0 / k + square * sum;
    }
    return n * LOG_2 + 2.0 * s * sum;
}

double pz_power(double x, double y)
{
    return x > 0.0 ? pz_exp(y * pz_log(x)) : 0.0;
}
