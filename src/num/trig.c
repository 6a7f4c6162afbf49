// Sine, cosine, arc tangent, exponential and logarithm without a library: the same bits from every compiler and machine.
//
// Operations are IEEE 754 doubles, rounded to nearest, never contracted to fused multiply-adds (-ffp-contract=off). The
// constants and the bounds in the comments come from tools/tables/fit_trig.py. Largest errors found in 20 million arguments
// each: 0.61 ulp of the sine and cosine, 0.64 ulp of atan2.
#include "num/trig.h"

#include "num/sincos_kernel.h"

#include <float.h>

_Static_assert(FLT_EVAL_METHOD == 0, "needs arithmetic in double precision");

// pi = PI_HI + PI_LO; half of each gives pi/2
#define PI_HI 0x1.921fb54442d18p+1
#define PI_LO 0x1.1a62633145c07p-53

// 64 zero bits, then the first 1216 bits of 2/pi
static const uint64_t TWO_OVER_PI_BITS[20] = {
    UINT64_C(0x0000000000000000), UINT64_C(0xa2f9836e4e441529), UINT64_C(0xfc2757d1f534ddc0), UINT64_C(0xdb6295993c439041),
    UINT64_C(0xfe5163abdebbc561), UINT64_C(0xb7246e3a424dd2e0), UINT64_C(0x06492eea09d1921c), UINT64_C(0xfe1deb1cb129a73e),
    UINT64_C(0xe88235f52ebb4484), UINT64_C(0xe99c7026b45f7e41), UINT64_C(0x3991d639835339f4), UINT64_C(0x9c845f8bbdf9283b),
    UINT64_C(0x1ff897ffde05980f), UINT64_C(0xef2f118b5a0a6d1f), UINT64_C(0x6d367ecf27cb09b7), UINT64_C(0x4f463f669e5fea2d),
    UINT64_C(0x7527bac7ebe5f17b), UINT64_C(0x3d0739f78a5292ea), UINT64_C(0x6bfb5fb11f8d5d08), UINT64_C(0x56033046fc7b6bab),
};

// atan(k/32) = hi + lo for k = ARC_FIRST .. 32
#define ARC_FIRST 6
static const struct {
    double hi, lo;
} ARC[33 - ARC_FIRST] = {
    {0x1.7b97b4bce5b02p-3, 0x1.347b0b4f881cap-58},  {0x1.b90d7529260a2p-3, 0x1.17b10d2e0e5abp-61},
    {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},  {0x1.18bf5a30bf178p-2, 0x1.30ca4748b1bf9p-57},
    {0x1.362773707ebccp-2, -0x1.963a544b672d8p-57}, {0x1.530ad9951cd4ap-2, -0x1.2566480884082p-57},
    {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56}, {0x1.8b24d394a1b25p-2, 0x1.b6d0ba3748fa8p-56},
    {0x1.a64eec3cc23fdp-2, -0x1.24dec1b50b7ffp-56}, {0x1.c0db4c94ec9f0p-2, -0x1.cc1ce70934c34p-56},
    {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},  {0x1.f40dd0b541418p-2, -0x1.a3992dc382a23p-57},
    {0x1.0657e94db30d0p-1, -0x1.d5b495f6349e6p-56}, {0x1.1255d9bfbd2a9p-1, -0x1.2bdaee1c0ee35p-58},
    {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58}, {0x1.2958e59308e31p-1, -0x1.09e73b0c6c087p-56},
    {0x1.345f01cce37bbp-1, 0x1.1021137c71102p-55},  {0x1.3f13fb89e96f4p-1, 0x1.ecf8b492644f0p-56},
    {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},  {0x1.538f57b89061fp-1, -0x1.1bb74abda520cp-55},
    {0x1.5d58987169b18p-1, 0x1.0028e4bc5e7cap-57},  {0x1.66d663923e087p-1, -0x1.6ea6febe8bbbap-56},
    {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56}, {0x1.78f6bbd5d315ep-1, 0x1.406a089803740p-55},
    {0x1.819d0b7158a4dp-1, -0x1.bf76229d3b917p-56}, {0x1.89ff5ff57f1f8p-1, -0x1.55b9a5e177a1bp-55},
    {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55},
};

// a b - p for p = a b rounded (Dekker 1971); exact but for the last bits of the smallest of the four products.
static inline double product_error(double a, double b, double p)
{
    double a1 = upper_half(a), b1 = upper_half(b);
    double a2 = a - a1, b2 = b - b1;
    return ((a1 * b1 - p) + (a1 * b2 + a2 * b1)) + a2 * b2;
}

// High 64 bits of a b; the low ones are a * b.
static uint64_t multiply_high(uint64_t a, uint64_t b)
{
    uint64_t a1 = a >> 32, a0 = a & UINT32_MAX;
    uint64_t b1 = b >> 32, b0 = b & UINT32_MAX;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
    uint64_t other = a0 * b1 + (middle & UINT32_MAX);
    return a1 * b1 + (middle >> 32) + (other >> 32);
}

// 64 bits of the table, from bit position on.
static uint64_t table_word(int position)
{
    int at = position / 64, shift = position % 64;
    uint64_t bits = TWO_OVER_PI_BITS[at] << shift;
    return shift == 0 ? bits : bits | TWO_OVER_PI_BITS[at + 1] >> (64 - shift);
}

// x 2/pi modulo 4 for finite |x| >= 1: the quadrant, and a fraction of 128 bits, the upper half in f[0] (Payne, Hanek 1983).
//
// x = m 2^e with an integer m < 2^53. Bits of 2/pi whose product with 2^e is a multiple of 4 do not matter; the first that
// does is worth 2. Take 192 bits from there on, times m, modulo 4. The bits beyond add less than m 2^-190 < 2^-137, and no
// double comes nearer to a multiple of pi/2 than 2^-60.9: the relative error is that of cutting at 128 bits, below 2^-66.
static unsigned large_fraction(double x, uint64_t f[2])
{
    uint64_t m = (bits_of(x) & UINT64_C(0x000fffffffffffff)) | UINT64_C(0x0010000000000000);
    int e = (int)(bits_of(x) >> 52 & 0x7ff) - 1075;
    int first = 64 + e - 2; // 2/pi's bit worth 2^-i stands at 63 + i, and i = e - 1
    uint64_t w0 = table_word(first), w1 = table_word(first + 64), w2 = table_word(first + 128);

    uint64_t p2 = m * w2;
    uint64_t p1 = m * w1 + multiply_high(m, w2);
    uint64_t carry = p1 < m * w1;
    uint64_t p0 = m * w0 + multiply_high(m, w1) + carry;
    f[0] = p0 << 2 | p1 >> 62;
    f[1] = p1 << 2 | p2 >> 62;
    return (unsigned)(p0 >> 62);
}

// Reduction of any finite |x| >= 1. The fraction f, in quarter turns, becomes f - 1 above one half; r = f pi/2 to 106 bits.
static reduced_angle reduce_large(double x)
{
    uint64_t f[2];
    uint64_t turns = large_fraction(x, f);
    bool negative = x < 0.0;
    if (f[0] & SIGN_BIT) {
        turns += 1;
        negative = !negative;
        f[0] = ~f[0]; // 1 - f, less the last bit
        f[1] = ~f[1];
    }
    uint64_t exponent = 1023;
    while (!(f[0] & SIGN_BIT)) {
        f[0] = f[0] << 1 | f[1] >> 63;
        f[1] <<= 1;
        --exponent;
    }
    double scale = number_of(exponent << 52 | (negative ? SIGN_BIT : 0));
    double f1 = (double)(f[0] >> 11) * 0x1p-53 * scale;
    double f2 = (double)((f[0] << 53 | f[1] >> 11) >> 11) * 0x1p-106 * scale;

    double p = f1 * (0.5 * PI_HI);
    double rest = product_error(f1, 0.5 * PI_HI, p) + (f1 * (0.5 * PI_LO) + f2 * (0.5 * PI_HI));
    double hi = p + rest;
    return (reduced_angle){x < 0.0 ? 0 - turns : turns, hi, (upper_half(hi) - p) - rest};
}

void pz_sincos(double x, double *sine, double *cosine)
{
    reduced_angle r = reduce(x);
    bool fast = fabs(number_of(r.turns) - ROUND) <= MOST_TURNS;
    if (!fast && !is_finite(x)) {
        *sine = *cosine = x - x;
        return;
    }
    sincos_reduced(fast ? r : reduce_large(x), sine, cosine);
}

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

// u^2 A(u^2) with atan u = u + u u^2 A(u^2) for |u| <= 0.172, relative error of the arc below 2^-59.7.
static inline double arc_series(double u)
{
    double z = u * u;
    double z2 = z * z;
    double A = (-0x1.5555555555523p-2 + z * 0x1.9999999984542p-3) +
               z2 * ((-0x1.2492490c3d65cp-3 + z * 0x1.c71c575c7bf84p-4) +
                     z2 * ((-0x1.7455681696f83p-4 + z * 0x1.39d7ec491f8b0p-4) + z2 * -0x1.ed0c62b4b3735p-5));
    return z * A;
}

// atan(b/a) = hi + lo for 0 <= b <= a, a > 0 finite.
//
//   q = b/a rounded, q' = (b - q a)/a its error
//   atan(q + q') = atan(c) + atan(u),    u = (q + q' - c)/(1 + c (q + q')),    c = k/32 next to q
//
// Below (ARC_FIRST - 1/2)/32 take c = 0. Below 2^-30 the arc is q to rounding, also where q is subnormal.
static void arc_of_ratio(double b, double a, double *hi, double *lo)
{
    double q = b / a;
    *hi = q;
    *lo = 0.0;
    if (q < 0x1p-30) {
        return;
    }
    // keep the products of the next lines away from overflow and underflow
    double scale = a > 0x1p+500 ? 0x1p-600 : a < 0x1p-500 ? 0x1p+600 : 1.0;
    a *= scale;
    b *= scale;
    double p = q * a;
    double q_error = ((b - p) - product_error(q, a, p)) / a;

    int k = (int)(32.0 * q + 0.5);
    if (k < ARC_FIRST) {
        *lo = q_error + q * arc_series(q);
        return;
    }
    double c = k * 0x1p-5;
    double u = ((q - c) + q_error) / (1.0 + c * q);
    *hi = ARC[k - ARC_FIRST].hi;
    *lo = u + (ARC[k - ARC_FIRST].lo + u * arc_series(u));
}

// The arc of the smaller over the larger of |x|, |y|, then by octant:
//
//   |y| <= |x|:  arc, or pi - arc where x < 0          |y| > |x|:  pi/2 - arc, or pi/2 + arc where x < 0
double pz_atan2(double y, double x)
{
    if (x != x || y != y) {
        return x + y;
    }
    bool steep = fabs(y) > fabs(x);
    double a = steep ? fabs(y) : fabs(x);
    double b = steep ? fabs(x) : fabs(y);
    if (a == 0.0 || !is_finite(a)) {
        b = a != 0.0 && b == a ? 1.0 : 0.0; // both infinite: the diagonal
        a = 1.0;
    }
    double hi, lo;
    arc_of_ratio(b, a, &hi, &lo);
    double angle = hi + lo;

    bool left = bits_of(x) & SIGN_BIT;
    if (steep || left) {
        double sign = steep && left ? 1.0 : -1.0;
        double turn = steep ? 0.5 : 1.0;
        double arc = sign * angle;
        double arc_error = sign * ((hi - angle) + lo);
        double sum = turn * PI_HI + arc;
        angle = sum + (((turn * PI_HI - sum) + arc) + (turn * PI_LO + arc_error));
    }
    return number_of(bits_of(angle) | (bits_of(y) & SIGN_BIT));
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
