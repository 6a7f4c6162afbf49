// The series behind so3_coefficients_of, for one number or for vectors of them; so3.c has the derivation. Files that include
// this say what `number` and NUMBER_INLINE are, as for sincos_kernel.h.
#ifndef PZ_MATH_SO3_SERIES_H
#define PZ_MATH_SO3_SERIES_H

#define SO3_SERIES_TERMS 12

// 1/4!, 1/6!, ... 1/26! and 1/5!, 1/7!, ... 1/27!, the signs taken out
static const double SO3_SERIES_4[SO3_SERIES_TERMS] = {
    1.0 / 24.0,
    1.0 / 720.0,
    1.0 / 40320.0,
    1.0 / 3628800.0,
    1.0 / 479001600.0,
    1.0 / 87178291200.0,
    1.0 / 20922789888000.0,
    1.0 / 6402373705728000.0,
    1.0 / 2432902008176640000.0,
    1.0 / 1124000727777607680000.0,
    1.0 / 620448401733239439360000.0,
    1.0 / 403291461126605635584000000.0,
};
static const double SO3_SERIES_5[SO3_SERIES_TERMS] = {
    1.0 / 120.0,
    1.0 / 5040.0,
    1.0 / 362880.0,
    1.0 / 39916800.0,
    1.0 / 6227020800.0,
    1.0 / 1307674368000.0,
    1.0 / 355687428096000.0,
    1.0 / 121645100408832000.0,
    1.0 / 51090942171709440000.0,
    1.0 / 25852016738884976640000.0,
    1.0 / 15511210043330985984000000.0,
    1.0 / 10888869450418352160768000000.0,
};

typedef struct so3_series_coefficients {
    number a, b, c, db, dc; // as those of so3_coefficients
} so3_series_coefficients;

// All of them for x = theta^2 up to SO3_SERIES_LIMIT. Even and odd terms in two chains each: half the latency.
NUMBER_INLINE so3_series_coefficients so3_series(number x)
{
    number y = x * x, zero = {0};
    number e4 = zero, o4 = zero, e5 = zero, o5 = zero;
    for (int j = SO3_SERIES_TERMS - 2; j >= 0; j -= 2) {
        e4 = SO3_SERIES_4[j] + y * e4, o4 = SO3_SERIES_4[j + 1] + y * o4;
        e5 = SO3_SERIES_5[j] + y * e5, o5 = SO3_SERIES_5[j + 1] + y * o5;
    }
    number c4 = e4 - x * o4, c5 = e5 - x * o5;
    number c = 1.0 / 6.0 - x * c5;
    return (so3_series_coefficients){1.0 - x * c, 0.5 - x * c4, c, 2.0 * c4 - c, 3.0 * c5 - c4};
}

#endif
