// Clinical angles that markers hardly tell.
#ifndef PZ_MOTION_UNSURE_H
#define PZ_MOTION_UNSURE_H

#include "motion/findings.h"

// Weigh, for each clinical angle that markers see, its standard deviation: UNSURE where a marker was left out that moves with
// the distal segment (`left`: by body, or NULL), else VAGUE. Frames before and after the person is there, by the
// summary, do not count. Fails only with MEMORY.
poise_status pz_weigh_unsure(const poise_verdict_problem *problem, const poise_track_summary *summary,
                             const char *const *left, const poise_allocator *allocator, pz_findings *found,
                             poise_error *error);

#endif
