// Sine and cosine of angles within thousands of turns: the fast way of trig.c, over `reals` (real.h). Every operation acts on
// each number by itself, so that all of them get the bits of a single one.
#ifndef PZ_NUM_SINCOS_KERNEL_H
#define PZ_NUM_SINCOS_KERNEL_H

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

#endif
