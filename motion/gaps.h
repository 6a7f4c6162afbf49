// Joints that markers tell nothing of for a while, and what they may have done meanwhile (gaps.c).
#ifndef PZ_MOTION_GAPS_H
#define PZ_MOTION_GAPS_H

#include "motion/tracker.h"

// poise_track_hidden, by placements whose markers are `index` (by placement, or POISE_NONE). *any: is there one?
poise_status pz_find_hidden(const poise_track_problem *problem, const int *index, const poise_clip *clip,
                            const poise_track_frame *frames, const poise_allocator *allocator, bool *hidden, bool *any,
                            poise_error *error);

// Where hidden joints go from where they were last seen to where they are seen next, smoothly and by rotations; at the
// beginning and the end they stay where they are seen first or last. Into the coordinates of hidden joints in `q` (frames x
// nq); all others, and joints that are never seen, keep theirs. `way` is the clip or another one that has the same frames.
// Fails only with MEMORY.
poise_status pz_bridge_hidden(const poise_model *model, const poise_clip *way, const bool *hidden,
                              const poise_allocator *allocator, double *q);

// In the end of a track, joints that no marker told anything of for a while go from where they were to where they are found
// again.
poise_status pz_track_mend_gaps(const pz_track_chunks *r, const poise_track_problem *problem,
                                const poise_allocator *allocator, poise_error *error);

#endif
