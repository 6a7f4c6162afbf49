// Markers without a place that lie where the skeleton is not.
#ifndef PZ_MOTION_ASTRAY_H
#define PZ_MOTION_ASTRAY_H

#include "motion/findings.h"

// Weigh markers with unknown names, that keep their distance from one that has a place, and that are far from all bones:
// ASTRAY. What goes with the head, a body or POISE_NONE, tells nothing. Those that are nearly always seen are named with the
// body that they move with, UNPLACED, and put into `left`: by body, one that moves with it, or NULL. Fails only with MEMORY.
poise_status pz_weigh_astray(const poise_verdict_problem *problem, double stature, int head, const char **left,
                             const poise_allocator *allocator, pz_findings *found, poise_error *error);

#endif
