// Joint limits that keep a limb from its markers.
#ifndef PZ_MOTION_BLOCKED_H
#define PZ_MOTION_BLOCKED_H

#include "motion/findings.h"

// Weigh, for each joint that stays at a limit for some frames, how far a marker beyond it is off meanwhile, if it is much
// nearer without limits: BLOCKED. `distances` is that of poise_track_summary. MEMORY, or a solve that is refused, is all
// that can go wrong.
poise_status pz_weigh_blocked(const poise_verdict_problem *problem, const double *distances, double stature,
                              const poise_allocator *allocator, pz_findings *found, poise_error *error);

#endif
