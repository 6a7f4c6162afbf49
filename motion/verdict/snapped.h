// Bodies that turn from one frame to the next as none does.
#ifndef PZ_MOTION_SNAPPED_H
#define PZ_MOTION_SNAPPED_H

#include "motion/findings.h"

// Weigh, for each body that carries markers, the largest turn from one frame to the next that stands alone, against the next
// such body above it: SNAPPED. Fails only with MEMORY.
poise_status pz_weigh_snapped(const poise_verdict_problem *problem, const poise_allocator *allocator, pz_findings *found,
                              poise_error *error);

#endif
