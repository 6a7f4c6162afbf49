// How a person carries themselves: which way, how fast, and as which hand.
#ifndef PZ_MOTION_CARRIAGE_H
#define PZ_MOTION_CARRIAGE_H

#include "motion/anatomy.h"
#include "motion/findings.h"

// Weigh whether the recording is a mirror image (MIRRORED), steps that take far too long (SLOW), and a walk that goes
// backwards (BACKWARDS). Nothing is weighed for skeletons that are not human. Fails only with MEMORY.
poise_status pz_weigh_carriage(const poise_verdict_problem *problem, const pz_anatomy *anatomy,
                               const poise_allocator *allocator, pz_findings *found, poise_error *error);

#endif
