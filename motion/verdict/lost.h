// Limbs that follow their markers no longer.
#ifndef PZ_MOTION_LOST_H
#define PZ_MOTION_LOST_H

#include "motion/findings.h"

// Weigh, for each body, the longest time in which most of the markers seen on it were ignored: LOST. `distances` is that of
// poise_track_summary. Fails only with MEMORY.
poise_status pz_weigh_lost(const poise_verdict_problem *problem, const double *distances, double stature,
                           const poise_allocator *allocator, pz_findings *found, poise_error *error);

#endif
