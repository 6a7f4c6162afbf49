// Markers that trade names within a take.
#ifndef PZ_MOTION_TRADED_H
#define PZ_MOTION_TRADED_H

#include "motion/findings.h"

// Weigh, for each pair of markers, how often one leaps to where the other was, and the other to where the one was, and both
// are followed: TRADED. `distances` is that of poise_track_summary. Fails only with MEMORY.
poise_status pz_weigh_traded(const poise_verdict_problem *problem, const double *distances, double stature,
                             const poise_allocator *allocator, pz_findings *found, poise_error *error);

#endif
