// Random numbers for tests and benchmarks: the same seed gives the same numbers everywhere.
//
// The generator is splitmix64 (Steele, Lea & Flood, "Fast Splittable Pseudorandom Number Generators", 2014): 64 bits of
// state, every seed a good one.
#ifndef SCENES_RANDOM_H
#define SCENES_RANDOM_H

#include <poise/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct scene_random {
    uint64_t state;
} scene_random;

// A generator that starts at `seed`.
scene_random scene_random_make(uint64_t seed);

// 64 random bits.
uint64_t scene_random_bits(scene_random *random);

// Uniform in [0, 1), a multiple of 2^-53.
double scene_random_uniform(scene_random *random);

// Uniform from `low` to `high`, both of which can come up; low <= high, both finite.
double scene_random_range(scene_random *random, double low, double high);

// Uniform in 0 .. count - 1; count >= 1.
int scene_random_index(scene_random *random, int count);

// Mean 0, variance 1, bell-shaped: the sum of twelve uniform numbers less 6. No logarithm, hence the same bits everywhere;
// never beyond 6, and tails a little thinner than Gauss's (kurtosis 2.9).
double scene_random_normal(scene_random *random);

// Uniform on the unit sphere.
poise_vec3 scene_random_direction(scene_random *random);

// Uniform over all rotations.
poise_quat scene_random_rotation(scene_random *random);

// A configuration (nq numbers) within the limits of the model. Coordinates with limits are uniform between them; without,
// angles are uniform in +-pi, lengths in +-1, rotation vectors have a uniform direction and a length uniform below pi,
// quaternions are uniform. Within a swing ellipse, and within the disc |swing| < pi that every swing keeps to, points are
// uniform in the plane.
void scene_random_configuration(scene_random *random, const poise_model *model, double *q);

#ifdef __cplusplus
}
#endif

#endif
