// Arms of the builds that are on the market, by tables of our own, and configurations in corners of their limits.
#ifndef TEST_CORNER_ARMS_H
#define TEST_CORNER_ARMS_H

#include "test_arms.h"

// Spherical and offset wrists, six and seven hinges; limits of every kind: narrow, of half and whole turns, on one side of 0.
#define CORNER_ARMS 12
test_arm corner_arm(int index);

// Where joints stand; the others, if there are any, anywhere.
typedef enum corner_kind {
    CORNER_ONE = 0, // joint at one of its limits
    CORNER_TWO,
    CORNER_ALL,
    CORNER_BESIDE, // all at limits less 1e-9
    CORNER_HOME,   // at 0, or at the limit next to it; one joint at a limit
    CORNER_RIGHT,  // each at a limit, at 0 or at a right angle
    CORNER_TURNED, // at half a turn one way or the other, or at the limit next to it
    CORNER_COUNT
} corner_kind;

const char *corner_name(corner_kind corner);
void corner_configuration(const test_arm *arm, corner_kind corner, scene_random *random, double *q);

#endif
