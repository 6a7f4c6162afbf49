// Constants of the series behind so3_coefficients_of, and where they serve; so3.c has the derivation.
#ifndef PZ_MATH_SO3_SERIES_H
#define PZ_MATH_SO3_SERIES_H

#define SO3_SERIES_LIMIT 6.25  // of theta^2: the series up to here, closed forms beyond
#define SO3_LONG_VECTOR  1e100 // sum of |components| from which a vector is shortened first: its squares would overflow
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

#endif
