// Sine, cosine and arc tangent without a library: the same bits from every compiler and machine.
//
// Operations are IEEE 754 doubles, rounded to nearest, never contracted to fused multiply-adds (-ffp-contract=off). The
// constants and the bounds in the comments come from tools/tables/fit_trig.py. Largest errors found in 20 million arguments
// each: 0.61 ulp of the sine and cosine, 0.64 ulp of atan2.
//
// Angles within thousands of turns go a fast way, over `reals` (real.h): every operation acts on each number by itself, so
// that all of them get the bits of a single one. What follows it, angles of any size and the arc tangent, is for one number,
// and compiled by trig.c and by the kernels of a graphics processor.
#ifndef PZ_NUM_TRIG_KERNEL_H
#define PZ_NUM_TRIG_KERNEL_H

#include "num/real.h"

#define SIGN_BIT   UINT64_C(0x8000000000000000)
#define UPPER_HALF UINT64_C(0xfffffffff8000000) // sign, exponent and 26 of the 53 significant bits

// Up to MOST_TURNS quarter turns go the fast way. t + ROUND is t rounded to an integer, which then stands in the lowest
// bits. MOST_TURNS in it makes that integer positive, and as a multiple of 4 it keeps the quadrant.
#define MOST_TURNS 0x1p+13
#define ROUND      (0x1.8p+52 + MOST_TURNS)
#define ROUND_BITS UINT64_C(0x4338000000000000) // of 0x1.8p+52
#define TURN_BITS  14                           // bits of 2 MOST_TURNS - 1

#define TWO_OVER_PI 0x1.45f306dc9c883p-1

// pi/2 = HALF_PI_1 + HALF_PI_2 + HALF_PI_3, 40 significant bits in the first two
#define HALF_PI_1 0x1.921fb54442000p+0
#define HALF_PI_2 0x1.a308d3131a000p-41
#define HALF_PI_3 (-0x1.d747f23e32ed7p-83)

#define THIRD    0x1.5555555555555p-2
#define ROUND_27 0x1.8p+25 // t + ROUND_27 is t rounded to a multiple of 2^-27

REAL_FN reals_bits bits_of(reals x)
{
    reals_bits bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

REAL_FN reals number_of(reals_bits bits)
{
    reals x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// x cut to 26 significant bits, so that products of two such numbers are exact.
REAL_FN reals upper_half(reals x)
{
    return number_of(bits_of(x) & UPPER_HALF);
}

// An angle taken apart: n pi/2 + r with r = h - lost, h = upper_half(hi), hi = r rounded, |hi| <= 0.7854. The lowest two
// bits of turns are those of n.
typedef struct reduced_angle {
    reals_bits turns;
    reals hi, lost;
} reduced_angle;

// Reduction for |n| <= MOST_TURNS (Cody and Waite 1980, carried on past the last bit).
//
//   n    = round(x 2/pi)
//   a    = x - n P1             exact: n P1 has 53 bits; a is a multiple of 2^-53 below 1, or x itself when n = 0
//   w    = n P2                 exact, a multiple of 2^-80 below 2^-27
//   hi   = a - w                rounded
//   lost = h - (a - w) + n P3   h - a and its sum with w are exact: multiples of 2^-80 below 2^-27 (or n = 0 and w = 0)
//
// What is rounded in n P3 and in the last sum stays below 2^-120.5 where r is small, and no double in this range comes
// nearer to a multiple of pi/2 than 2^-60.5: the relative error of h - lost is below 2^-60. Zero keeps its sign through h.
REAL_FN reduced_angle reduce(reals x)
{
    reals t = x * TWO_OVER_PI + ROUND;
    reals n = t - ROUND;
    reals a = x - n * HALF_PI_1;
    reals w = n * HALF_PI_2;
    reals hi = a - w;
    reals lost = ((upper_half(hi) - a) + w) + n * HALF_PI_3;
    return (reduced_angle){bits_of(t), hi, lost};
}

// Sine and cosine of a reduced angle. With T = r^2/6 (S and C are fitted to T as computed, with THIRD for 1/3):
//
//   sin r = r (1 - T) + r/3 T^2 S(T)      S: relative error of the sine below 2^-57.3
//   cos r = 1 - 3 T + T^2 C(T)            C: relative error of the cosine below 2^-63.9
//
// The large terms would bring in the rounding of T. So let k be T rounded to a multiple of 2^-27 and e = 3 T - 3 k, which is
// small and comes from r^2 = h^2 - lost (hi + h) with h^2 exact. Put T = k + e/3 and r = h - lost into the first terms:
//
//   sin r = h (1 - k) - [lost (1 - k) + r/3 (e - T^2 S)]
//   cos r = (1 - 3 k) + [T^2 C - e]
//
// h (1 - k) and 1 - 3 k are exact, the brackets are small, and one rounding counts: the last.
REAL_FN void sincos_reduced(reduced_angle r, reals *sine, reals *cosine)
{
    reals h = upper_half(r.hi);
    reals half_hi = 0.5 * r.hi;
    reals half_h = upper_half(half_hi);
    reals third_hi = THIRD * r.hi;
    reals T = third_hi * half_hi;
    reals T2 = T * T;

    reals S = (0x1.cccccccccbc0ap-1 + T * -0x1.07507505b527ap-3) +
              T2 * ((0x1.5f15edcce63b1p-7 + T * -0x1.32633e705e9c4p-11) + T2 * 0x1.7582a16935ba2p-16);
    reals C = (0x1.7fffffffffff5p+0 + T * -0x1.3333333331b69p-2) +
              T2 * ((0x1.0750750510078p-5 + T * -0x1.18de5757e788fp-9) +
                    T2 * (0x1.9883f74eb556ep-14 + T * -0x1.aac5b04e20dadp-19));

    reals k = (T + ROUND_27) - ROUND_27;
    reals k3 = 3.0 * k;
    reals e = (half_h * h - k3) - r.lost * (half_hi + half_h);
    reals_bits s = bits_of(h * (1.0 - k) - (r.lost * (1.0 - k) + third_hi * (e - T2 * S)));
    reals_bits c = bits_of((1.0 - k3) + (T2 * C - e));

    // an odd quadrant exchanges the two; quadrants 2 and 3 turn the sign of the sine, 1 and 2 that of the cosine
    reals_bits exchange = (s ^ c) & -(r.turns & 1);
    reals_bits sine_sign = r.turns << 62 & SIGN_BIT;
    reals_bits cosine_sign = sine_sign ^ r.turns << 63;
    *sine = number_of(s ^ sine_sign ^ exchange);
    *cosine = number_of(c ^ cosine_sign ^ exchange);
}

#if REAL_WIDTH == 1 && !defined(REAL_PACKED)

// ---- Angles of any size --------------------------------------------------------------------------------------------------

// pi = PI_HI + PI_LO; half of each gives pi/2
#define PI_HI 0x1.921fb54442d18p+1
#define PI_LO 0x1.1a62633145c07p-53

// a b - p for p = a b rounded (Dekker 1971); exact but for the last bits of the smallest of the four products.
PZ_FN double product_error(double a, double b, double p)
{
    double a1 = upper_half(a), b1 = upper_half(b);
    double a2 = a - a1, b2 = b - b1;
    return ((a1 * b1 - p) + (a1 * b2 + a2 * b1)) + a2 * b2;
}

// High 64 bits of a b; the low ones are a * b.
PZ_FN uint64_t multiply_high(uint64_t a, uint64_t b)
{
    uint64_t a1 = a >> 32, a0 = a & UINT32_MAX;
    uint64_t b1 = b >> 32, b0 = b & UINT32_MAX;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
    uint64_t other = a0 * b1 + (middle & UINT32_MAX);
    return a1 * b1 + (middle >> 32) + (other >> 32);
}

// 64 bits of 64 zero bits and the first 1216 bits of 2/pi, from bit position on.
PZ_FN uint64_t two_over_pi_word(int position)
{
    static const uint64_t TWO_OVER_PI_BITS[20] = {
        UINT64_C(0x0000000000000000), UINT64_C(0xa2f9836e4e441529), UINT64_C(0xfc2757d1f534ddc0),
        UINT64_C(0xdb6295993c439041), UINT64_C(0xfe5163abdebbc561), UINT64_C(0xb7246e3a424dd2e0),
        UINT64_C(0x06492eea09d1921c), UINT64_C(0xfe1deb1cb129a73e), UINT64_C(0xe88235f52ebb4484),
        UINT64_C(0xe99c7026b45f7e41), UINT64_C(0x3991d639835339f4), UINT64_C(0x9c845f8bbdf9283b),
        UINT64_C(0x1ff897ffde05980f), UINT64_C(0xef2f118b5a0a6d1f), UINT64_C(0x6d367ecf27cb09b7),
        UINT64_C(0x4f463f669e5fea2d), UINT64_C(0x7527bac7ebe5f17b), UINT64_C(0x3d0739f78a5292ea),
        UINT64_C(0x6bfb5fb11f8d5d08), UINT64_C(0x56033046fc7b6bab),
    };
    int at = position / 64, shift = position % 64;
    uint64_t bits = TWO_OVER_PI_BITS[at] << shift;
    return shift == 0 ? bits : bits | TWO_OVER_PI_BITS[at + 1] >> (64 - shift);
}

// x 2/pi modulo 4 for finite |x| >= 1: the quadrant, and a fraction of 128 bits, the upper half in f[0] (Payne, Hanek 1983).
//
// x = m 2^e with an integer m < 2^53. Bits of 2/pi whose product with 2^e is a multiple of 4 do not matter; the first that
// does is worth 2. Take 192 bits from there on, times m, modulo 4. The bits beyond add less than m 2^-190 < 2^-137, and no
// double comes nearer to a multiple of pi/2 than 2^-60.9: the relative error is that of cutting at 128 bits, below 2^-66.
PZ_FN unsigned large_fraction(double x, uint64_t f[2])
{
    uint64_t m = (bits_of(x) & UINT64_C(0x000fffffffffffff)) | UINT64_C(0x0010000000000000);
    int e = (int)(bits_of(x) >> 52 & 0x7ff) - 1075;
    int first = 64 + e - 2; // 2/pi's bit worth 2^-i stands at 63 + i, and i = e - 1
    uint64_t w0 = two_over_pi_word(first), w1 = two_over_pi_word(first + 64), w2 = two_over_pi_word(first + 128);

    uint64_t p2 = m * w2;
    uint64_t p1 = m * w1 + multiply_high(m, w2);
    uint64_t carry = p1 < m * w1;
    uint64_t p0 = m * w0 + multiply_high(m, w1) + carry;
    f[0] = p0 << 2 | p1 >> 62;
    f[1] = p1 << 2 | p2 >> 62;
    return (unsigned)(p0 >> 62);
}

// Reduction of any finite |x| >= 1. The fraction f, in quarter turns, becomes f - 1 above one half; r = f pi/2 to 106 bits.
PZ_FN reduced_angle reduce_large(double x)
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

PZ_CALL void pz_sincos(double x, double *sine, double *cosine)
{
    reduced_angle r = reduce(x);
    bool fast = fabs(number_of(r.turns) - ROUND) <= MOST_TURNS;
    if (!fast && !is_finite(x)) {
        *sine = *cosine = x - x;
        return;
    }
    sincos_reduced(fast ? r : reduce_large(x), sine, cosine);
}

// ---- Arc tangent ---------------------------------------------------------------------------------------------------------

#define ARC_FIRST 6

// u^2 A(u^2) with atan u = u + u u^2 A(u^2) for |u| <= 0.172, relative error of the arc below 2^-59.7.
PZ_FN double arc_series(double u)
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
PZ_FN void arc_of_ratio(double b, double a, double *hi, double *lo)
{
    // atan(k/32) = hi + lo for k = ARC_FIRST .. 32
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
PZ_CALL double pz_atan2(double y, double x)
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

// ---- Arrays on a graphics processor --------------------------------------------------------------------------------------

#ifdef __CUDACC__

// By value: what a call gets the address of does not stay in registers.
PZ_CALL double2 far_sincos(double x)
{
    double2 sine_cosine;
    pz_sincos(x, &sine_cosine.x, &sine_cosine.y);
    return sine_cosine;
}

// Sines in registers, one by one, with the same bits; the slow way is a call.
PZ_INLINE void pz_sincos_array(size_t count, const double *x, double *sine, double *cosine)
{
    for (size_t i = 0; i < count; ++i) {
        reduced_angle r = reduce(x[i]);
        if (fabs(number_of(r.turns) - ROUND) <= MOST_TURNS) {
            sincos_reduced(r, &sine[i], &cosine[i]);
        } else {
            double2 far = far_sincos(x[i]);
            sine[i] = far.x, cosine[i] = far.y;
        }
    }
}

#endif
#endif

#endif
