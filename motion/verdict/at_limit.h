// Joints that clinical angles read, at a limit of the skeleton.
#ifndef PZ_MOTION_AT_LIMIT_H
#define PZ_MOTION_AT_LIMIT_H

#include "motion/findings.h"

// Is this coordinate at its limit, or one of a swing at the edge of its ellipse?
bool pz_is_at_limit(const poise_model *model, const double *q, int coordinate);

// Weigh, for each joint between two segments of a clinical angle that markers see, the share of frames at a limit: AT_LIMIT.
// Frames before and after the person is there, by the summary, do not count. Fails only with MEMORY.
poise_status pz_weigh_at_limit(const poise_verdict_problem *problem, const poise_track_summary *summary,
                               const poise_allocator *allocator, pz_findings *found, poise_error *error);

#endif
