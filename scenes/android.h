// The shapes of the scene "android", with which it keeps clear of itself and of what is around it.
#ifndef SCENES_ANDROID_H
#define SCENES_ANDROID_H

#include <poise/constraint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ANDROID_SHAPES 19

// Capsules and boxes on the bodies of `model`, which must be that scene's, in any form: with a free root, for example.
void android_shapes(const poise_model *model, poise_shape shapes[ANDROID_SHAPES]);

#ifdef __cplusplus
}
#endif

#endif
