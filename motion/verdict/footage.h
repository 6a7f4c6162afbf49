// What a recording shows as a film, whatever is made of it.
#ifndef PZ_MOTION_FOOTAGE_H
#define PZ_MOTION_FOOTAGE_H

#include "motion/findings.h"

// Weigh repeated frames (FROZEN), frames that are missing or were put together (CUT), bodies whose markers are pushed aside
// (PUSHED), and accelerations that people do not reach (HASTY). Fails only with MEMORY.
poise_status pz_weigh_footage(const poise_verdict_problem *problem, const double *distances, double stature,
                              const poise_allocator *allocator, pz_findings *found, poise_error *error);

#endif
