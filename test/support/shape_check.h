// The distance of two shapes by other means than the library's: search along one core, projection on the other. Shares no
// code with src/shape; reads kinematics by the public calls alone.
#ifndef TEST_SHAPE_CHECK_H
#define TEST_SHAPE_CHECK_H

#include <poise/poise.h>

#include "scenes/random.h"

// Between the surfaces, where the kinematics have their bodies. Cores that overlap count as touching, so that it is
// -(radius + radius) then; of a half-space the depth is right.
double checked_distance(const poise_kinematics *kinematics, const poise_shape *a, const poise_shape *b);

// A random shape on a body, of a size around `size`; half-spaces look up.
poise_shape random_shape(scene_random *random, poise_shape_kind kind, int body, double size);

#endif
