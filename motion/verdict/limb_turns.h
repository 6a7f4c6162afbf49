// Limbs that follow those of another skeleton.
#ifndef PZ_MOTION_LIMB_TURNS_H
#define PZ_MOTION_LIMB_TURNS_H

#include "motion/anatomy.h"
#include "motion/findings.h"

// Weigh where limbs point against where the points that they follow have them: BONES over all, LIMB of each, in every
// `every`-th frame. Fails only with MEMORY.
poise_status pz_weigh_limbs(const poise_verdict_problem *problem, const pz_anatomy *anatomy, int every,
                            const poise_allocator *allocator, pz_findings *found, poise_error *error);

#endif
