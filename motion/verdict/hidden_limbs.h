// Limbs that no marker sees for a while.
#ifndef PZ_MOTION_HIDDEN_LIMBS_H
#define PZ_MOTION_HIDDEN_LIMBS_H

#include "motion/findings.h"

// Weigh, for each joint, the longest time in which markers tell nothing of it or of what hangs on it: HIDDEN. Frames before
// and after the person is there, by the summary, do not count. Fails only with MEMORY.
poise_status pz_weigh_hidden(const poise_verdict_problem *problem, const poise_track_summary *summary,
                             const poise_allocator *allocator, pz_findings *found, poise_error *error);

#endif
