// Small glTF files for tests: a text with its numbers embedded; and checks of what is read from one.
#ifndef TEST_GLTF_TEXT_H
#define TEST_GLTF_TEXT_H

#include <poise/math.h>

#include <stddef.h>

// The bytes as the value of a buffer's uri, from malloc.
char *gltf_text_uri(const void *bytes, size_t size);

// A file, released after the test: two nodes, "a" and its child "b" at (0, 2, 0) turned by a quarter about x, in a skin.
// Node `node` has one animation channel of `path` whose times and values are the floats given. `more` goes into the sampler,
// `extra` before the accessors, at the outermost level; both may be "".
char *gltf_text_animated(int node, const char *path, const char *more, const float *times, int count, const float *values,
                         int components, int per_key, const char *extra);

// A vector near to this one, each component within the tolerance.
void gltf_check_vec3(poise_vec3 v, double x, double y, double z, double tolerance);

// The angle between two rotations, of any length, by the chord; precise for small ones.
double gltf_angle(poise_quat a, poise_quat b);

#endif
