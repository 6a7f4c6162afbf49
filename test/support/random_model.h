// Random skeletons of every joint type, for tests. No function of <math.h> is used, so the same seed gives the same model to
// the last bit with every compiler.
#ifndef TEST_RANDOM_MODEL_H
#define TEST_RANDOM_MODEL_H

#include <poise/poise.h>

#include "scenes/random.h"

#define RANDOM_MODEL_LARGEST 1000 // joints

// What random_model may put in besides joints of every type at general places.
typedef enum random_feature {
    RANDOM_PLAIN = 0,
    RANDOM_LIMITS = 1, // boxes around 0 and swing ellipses on about half of the joints
    RANDOM_MIMICS = 2, // some revolute and prismatic joints follow others
    RANDOM_FOREST = 4, // several roots
    RANDOM_CURVES = 8, // joints of curves, and with RANDOM_MIMICS followers by functions
    RANDOM_WIDTHS = 16 // with RANDOM_LIMITS: some of no width, some on one side alone, some wider than any turn
} random_feature;

// Each component uniform in +-size.
poise_vec3 random_vector(scene_random *random, double size);

// Curves that random joints have.
#define RANDOM_CURVE_COUNT 3
extern const poise_curve random_curves[RANDOM_CURVE_COUNT];

// A joint of the type at a general place: offset, axes, Euler order, mass are all random. Names are left to the caller.
poise_joint random_joint(scene_random *random, poise_joint_type type);

// `count` joints "j0", "j1", ... of random types with bodies "b0", "b1", ..., each below a random earlier one, added in that
// order; a tool "t0", "t1", ... on every third body. NULL when the builder refuses (it never should).
poise_builder *random_builder(scene_random *random, int count, unsigned features);

// The model of such a builder.
poise_model *random_model(scene_random *random, int count, unsigned features);

// A step of nv numbers, each uniform in +-size.
void random_step(scene_random *random, const poise_model *model, double size, double *v);

#endif
