// What reading and writing ASF and AMC (Acclaim skeleton and motion) share.
//
// A bone turns about its origin, where its parent ends, by C M C^-1, where C comes from its `axis` and M from its degrees of
// freedom: of "rx ry rz" M = Rz Ry Rx, the first innermost. All bones lie along the world's axes when no joint turns. In the
// model a bone's joint has the frame C as its `axes` (also where its type has an axis of its own and does not need them, so
// that the file can be written again), its body the name of the bone, and the bone's end is the tool "<bone>.tip".
//
// Coordinates of a joint are outermost first, values in an AMC innermost first: value i of n is coordinate n - 1 - i. The
// root has its position first, in both.
#ifndef PZ_IO_ASF_H
#define PZ_IO_ASF_H

#include "io/io_core.h"

// How an AMC lists a joint's coordinates.
typedef struct asf_columns {
    int first;     // coordinate
    int positions; // of them that are lengths, in the order of q: 0 or 3
    int angles;    // after those, outermost first
} asf_columns;

// False: the joint has coordinates that an AMC cannot list.
bool pz_asf_columns(const poise_model *model, int joint, asf_columns *columns);

#define ASF_ROOT "root"

// The joint that is the root of a file: the first, if all others are below it, it is FREE_EULER with an order of three
// different axes and these are those of its frame. -1: none.
int pz_asf_root(const poise_model *model);

// The name of a bone, which is a word, does not begin as comments and sections do, and is not the root's.
void pz_asf_put_name(pz_output *output, const char *name);

// A comment in a written file, which others pass over: the frame C where its angles do not give back every bit.
#define ASF_AXES_COMMENT "#axes"

// A comment at the top of a written AMC: seconds from frame to frame.
#define AMC_TIME_COMMENT "#frame-time"
#define AMC_FRAME_TIME   (1.0 / 120.0) // seconds, where nothing says it: the rate of most recordings in this format

#endif
