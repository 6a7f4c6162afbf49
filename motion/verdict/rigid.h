// Distances between markers that should not change.
#ifndef PZ_MOTION_RIGID_H
#define PZ_MOTION_RIGID_H

#include "motion/anatomy.h"
#include "motion/findings.h"

// Weigh how far space is stretched (SKEWED), and pairs of markers that are not as far apart in one part of a take as in
// another (SHIFTED). `distances` is that of poise_track_summary. Fails only with MEMORY.
poise_status pz_weigh_rigid(const poise_verdict_problem *problem, const double *distances, const pz_anatomy *anatomy,
                            double stature, const poise_allocator *allocator, pz_findings *found, poise_error *error);

#endif
