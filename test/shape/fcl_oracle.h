// Distances of shapes by FCL, the Flexible Collision Library, for tests where it is installed.
#ifndef TEST_FCL_ORACLE_H
#define TEST_FCL_ORACLE_H

#include <poise/poise.h>

#ifdef __cplusplus
extern "C" {
#endif

// Between the surfaces of two capsules or boxes, where the kinematics have their bodies; <= 0 where the cores overlap.
double fcl_distance_of(const poise_kinematics *kinematics, const poise_shape *a, const poise_shape *b);

#ifdef __cplusplus
}
#endif

#endif
