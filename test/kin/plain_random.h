// Random numbers for the tests of the plain reference, which share nothing with the library or its scenes.
#ifndef TEST_PLAIN_RANDOM_H
#define TEST_PLAIN_RANDOM_H

#include <poise/math.h>

static uint64_t state;

// Uniform in [-1, 1): splitmix64 (Steele, Lea, Flood 2014).
static inline double uniform(void)
{
    state += 0x9e3779b97f4a7c15u;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (double)(z >> 11) / 4503599627370496.0 - 1.0;
}

static inline int below(int count)
{
    return (int)(0.5 * (uniform() + 1.0) * count);
}

static inline poise_vec3 random_vector(void)
{
    double x = uniform(), y = uniform(), z = uniform();
    return (poise_vec3){x, y, z};
}

#endif
