// Clips: what their editing shares with them.
#ifndef PZ_MOTION_CLIP_H
#define PZ_MOTION_CLIP_H

#include <poise/motion.h>

// The configuration at `share` of the way between two, as poise_clip_sample goes it: 0 is `from`, 1 is `to`. q may be
// either. ARGUMENT: a number is not finite, or a quaternion zero.
poise_status pz_clip_between(const poise_model *model, const double *from, const double *to, double share, double *q,
                             poise_error *error);

// The same between frames of two motions, which may be far apart: every rotation goes along its arc.
poise_status pz_clip_blend(const poise_model *model, const double *from, const double *to, double share, double *q,
                           poise_error *error);

#endif
