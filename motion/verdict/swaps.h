// Markers that have each other's names.
#ifndef PZ_MOTION_SWAPS_H
#define PZ_MOTION_SWAPS_H

#include "motion/findings.h"

// Weigh pairs of markers that fit better by each other's names: SWAPPED. Needs priors of the places. MEMORY, or a solve that
// is refused, is all that can go wrong.
poise_status pz_weigh_swaps(const poise_verdict_problem *problem, const poise_allocator *allocator, pz_findings *found,
                            poise_error *error);

#endif
