// Sine, cosine and atan2: error in ulp against exact values, special values, the array against the scalar, and a hash of the
// bits that every compiler and optimisation level must reproduce.
#include "num/trig.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "support/test_main.h"
#include "trig_table.h"

// With u = 2^-53, the last rounding costs 1/2 ulp. T^2 C <= 1/64 in the cosine carries 9 u, 0.14 ulp of a result above 1/2.
// In the arc a quotient <= 1/64 carries 3.5 u, 0.22 ulp of a result between 1/6 and 1/4, and the sums 0.03.
static const double SINCOS_ULP = 0.65;
static const double ATAN2_ULP = 0.75;

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static bool same_bits(double a, double b)
{
    return bits_of(a) == bits_of(b);
}

// A fixed sequence of random bits (Marsaglia 2003).
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static double uniform(uint64_t *state, double lower, double upper)
{
    return lower + (upper - lower) * ((double)(next_random(state) >> 11) * 0x1p-53);
}

static double any_finite(uint64_t *state)
{
    double x;
    do {
        uint64_t bits = next_random(state);
        memcpy(&x, &bits, sizeof x);
    } while (!isfinite(x));
    return x;
}

// Angles over all ways through the code: i chooses the range.
static double angle_number(int i, uint64_t *state)
{
    switch (i % 5) {
    case 0:
        return uniform(state, -0.8, 0.8);
    case 1:
        return uniform(state, -7.0, 7.0);
    case 2:
        return uniform(state, -12900.0, 12900.0);
    case 3:
        return floor(uniform(state, -0x1p+22, 0x1p+22)) * 1.5707963267948966; // next to a multiple of pi/2
    default:
        return any_finite(state);
    }
}

// |got - (exact + exact_lo)| in units of the last place of the exact value.
static double ulp_error(double got, double exact, double exact_lo)
{
    int exponent;
    double mantissa = fabs(frexp(exact, &exponent));
    if (mantissa == 0.5 && (exact_lo < 0.0) == (exact > 0.0)) {
        --exponent; // the exact value lies below the power of two
    }
    double unit = exact == 0.0 ? DBL_TRUE_MIN : fmax(ldexp(1.0, exponent - DBL_MANT_DIG), DBL_TRUE_MIN);
    return fabs((got - exact) - exact_lo) / unit;
}

TEST(sine_and_cosine_keep_their_bound_at_the_exact_values)
{
    for (size_t i = 0; i < TEST_COUNT(SINCOS_TABLE); ++i) {
        double s, c;
        pz_sincos(SINCOS_TABLE[i].x, &s, &c);
        double sine_error = ulp_error(s, SINCOS_TABLE[i].sine, SINCOS_TABLE[i].sine_lo);
        double cosine_error = ulp_error(c, SINCOS_TABLE[i].cosine, SINCOS_TABLE[i].cosine_lo);
        ck_assert_msg(sine_error < SINCOS_ULP, "sin(%a) = %a: %g ulp", SINCOS_TABLE[i].x, s, sine_error);
        ck_assert_msg(cosine_error < SINCOS_ULP, "cos(%a) = %a: %g ulp", SINCOS_TABLE[i].x, c, cosine_error);
    }
}

TEST(atan2_keeps_its_bound_at_the_exact_values)
{
    for (size_t i = 0; i < TEST_COUNT(ATAN2_TABLE); ++i) {
        double y = ATAN2_TABLE[i].y, x = ATAN2_TABLE[i].x;
        double error = ulp_error(pz_atan2(y, x), ATAN2_TABLE[i].angle, ATAN2_TABLE[i].angle_lo);
        ck_assert_msg(error < ATAN2_ULP, "atan2(%a, %a): %g ulp", y, x, error);
    }
}

// Not on Windows, whose longer sine is the processor's: it reduces angles by a pi of 66 bits.
#if LDBL_MANT_DIG >= 64 && !defined(_WIN32)

// Error against the longer type of the C library, whose own error is 2^-11 ulp of ours or less.
static double long_error(double got, long double exact)
{
    double rounded = (double)exact;
    return ulp_error(got, rounded, (double)(exact - (long double)rounded));
}

TEST(a_hundred_thousand_random_arguments_keep_the_bounds)
{
    uint64_t state = 1;
    for (int i = 0; i < 100000; ++i) {
        double x = angle_number(i, &state);
        double s, c;
        pz_sincos(x, &s, &c);
        double worst = fmax(long_error(s, sinl((long double)x)), long_error(c, cosl((long double)x)));
        ck_assert_msg(worst < SINCOS_ULP, "sin or cos(%a): %g ulp", x, worst);

        double y = i % 2 == 0 ? uniform(&state, -1.0, 1.0) : x * ldexp(uniform(&state, -1.0, 1.0), (int)(i / 2 % 80) - 40);
        double angle = pz_atan2(y, x);
        double error = fabs(angle) < DBL_MIN ? 0.0 : long_error(angle, atan2l((long double)y, (long double)x));
        ck_assert_msg(error < ATAN2_ULP, "atan2(%a, %a): %g ulp", y, x, error);
    }
}

#endif

TEST(sine_is_odd_and_cosine_even_to_the_bit)
{
    uint64_t state = 2;
    for (int i = 0; i < 20000; ++i) {
        // also the quarter turns at which the fast reduction ends
        double x = i % 7 == 6 ? uniform(&state, 12864.0, 12872.0) : angle_number(i, &state);
        double s, c, s_minus, c_minus;
        pz_sincos(x, &s, &c);
        pz_sincos(-x, &s_minus, &c_minus);
        ck_assert_msg(same_bits(s_minus, -s) && same_bits(c_minus, c), "x = %a", x);
    }
}

TEST(tiny_angles_and_signed_zeros_come_back_unchanged)
{
    const double tiny[] = {0.0, -0.0, DBL_TRUE_MIN, -DBL_TRUE_MIN, 0x1.fffffffffffffp-1023, -DBL_MIN, 1e-300, -1e-100, 1e-9};
    for (size_t i = 0; i < TEST_COUNT(tiny); ++i) {
        double s, c, s1, c1;
        pz_sincos(tiny[i], &s, &c);
        pz_sincos_array(1, &tiny[i], &s1, &c1);
        ck_assert_msg(same_bits(s, tiny[i]) && same_bits(s1, tiny[i]), "sin(%a) = %a", tiny[i], s);
        ck_assert(c == 1.0 && c1 == 1.0);
    }
}

TEST(numbers_that_are_not_finite_give_nan)
{
    const double bad[] = {INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < TEST_COUNT(bad); ++i) {
        double x[3] = {0.5, bad[i], -2.0};
        double s[3], c[3];
        pz_sincos_array(3, x, s, c);
        ck_assert(isnan(s[1]) && isnan(c[1]));
        ck_assert(isfinite(s[0]) && isfinite(c[2]));
        pz_sincos(bad[i], &s[0], &c[0]);
        ck_assert(isnan(s[0]) && isnan(c[0]));
    }
    ck_assert(isnan(pz_atan2(NAN, 1.0)) && isnan(pz_atan2(1.0, NAN)) && isnan(pz_atan2(NAN, INFINITY)));
}

TEST(array_gives_the_bits_of_the_scalar_for_every_count)
{
    uint64_t state = 3;
    for (int round = 0; round < 200; ++round) {
        double x[100], s[101], c[101];
        for (int i = 0; i < 100; ++i) {
            // every other round all are fast
            x[i] = angle_number(round % 2 == 0 ? i % 3 : i, &state);
        }
        size_t count = (size_t)round % 101;
        s[count] = c[count] = 99.0;
        pz_sincos_array(count, x, s, c);
        ck_assert(s[count] == 99.0 && c[count] == 99.0);
        for (size_t i = 0; i < count; ++i) {
            double s1, c1;
            pz_sincos(x[i], &s1, &c1);
            ck_assert_msg(same_bits(s[i], s1) && same_bits(c[i], c1), "x = %a, %zu of %zu", x[i], i, count);
        }
    }
}

TEST(array_agrees_with_the_scalar_around_the_end_of_the_fast_reduction)
{
    for (int i = -2000; i <= 2000; ++i) {
        double x[2] = {8192.0 * 1.5707963267948966 + i * 1e-3, 0.0};
        x[1] = -x[0];
        double s[2], c[2], s1, c1;
        pz_sincos_array(2, x, s, c);
        for (int j = 0; j < 2; ++j) {
            pz_sincos(x[j], &s1, &c1);
            ck_assert_msg(same_bits(s[j], s1) && same_bits(c[j], c1), "x = %a", x[j]);
        }
    }
}

TEST(atan2_treats_zeros_and_infinities_as_the_standard_says)
{
    const double value[] = {0.0, DBL_TRUE_MIN, 1e-310, 1e-300, 1.0, 3.0, 1e300, DBL_MAX, INFINITY};
    const double sign[] = {1.0, -1.0};
    for (size_t i = 0; i < TEST_COUNT(value); ++i) {
        for (size_t j = 0; j < TEST_COUNT(value); ++j) {
            for (int quadrant = 0; quadrant < 4; ++quadrant) {
                double y = copysign(value[i], sign[quadrant / 2]), x = copysign(value[j], sign[quadrant % 2]);
                double got = pz_atan2(y, x), expected = atan2(y, x);
                // both are below 1 ulp, so they are neighbours at most; where the result is a zero it is exact
                ck_assert_msg(fabs(got - expected) <= DBL_EPSILON * fabs(expected), "atan2(%a, %a) = %a", y, x, got);
                ck_assert_msg(!signbit(got) == !signbit(expected), "atan2(%a, %a) = %a", y, x, got);
            }
        }
    }
}

// Fowler, Noll and Vo's hash over the bytes of the result.
static uint64_t hash_double(uint64_t hash, double x)
{
    uint64_t bits = bits_of(x);
    for (int i = 0; i < 8; ++i) {
        hash = (hash ^ (bits >> (8 * i) & 0xff)) * UINT64_C(0x100000001b3);
    }
    return hash;
}

TEST(results_are_the_same_bits_on_every_compiler)
{
    uint64_t state = 4, hash = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < 30000; ++i) {
        double s, c;
        pz_sincos(angle_number(i, &state), &s, &c);
        hash = hash_double(hash_double(hash, s), c);
        double y = any_finite(&state);
        double x = i % 2 == 0 ? any_finite(&state) : y * uniform(&state, -3.0, 3.0);
        hash = hash_double(hash, pz_atan2(y, x));
    }
    ck_assert_uint_eq(hash, UINT64_C(0x075dcf94b5b06f8c));
}
