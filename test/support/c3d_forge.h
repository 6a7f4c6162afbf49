// C3D files of our own, in every order of bytes and kind of number: three points in four frames.
#ifndef TEST_C3D_FORGE_H
#define TEST_C3D_FORGE_H

#include "io/c3d.h"

#include <stddef.h>
#include <stdint.h>

typedef struct forge {
    unsigned char bytes[64 * PZ_C3D_BLOCK];
    size_t size;
    pz_c3d_order order;
} forge;

// What differs from file to file.
typedef struct recipe {
    pz_c3d_order order;
    bool is_float;
    int channels, samples;
    int parameter_block;
    const char *unit, *screen;
    int labels;    // of 3; 4: one too many; 2: one in LABELS, one in LABELS2
    unsigned last; // of the header; frames are 4, from 5 on
    uint32_t trial_first, trial_last;
    float long_frames;
} recipe;

// Intel, floats, millimetres, all labels.
recipe forge_recipe(void);

forge forge_file(recipe r);

// The coordinate that a point has in a frame. Point 2 is not seen in frame 1.
float forge_coordinate(int frame, int point, int axis);

// Write a word of 16 bits over the file.
void forge_16(forge *f, size_t at, unsigned value);

#endif
