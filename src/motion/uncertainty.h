// Deviations of some frames of a track.
#ifndef PZ_MOTION_UNCERTAINTY_H
#define PZ_MOTION_UNCERTAINTY_H

#include <poise/verdict.h>

// poise_track_uncertainty of every so many frames: a row for each of them.
poise_status pz_track_deviations(const poise_track_problem *problem, const poise_clip *clip, const poise_track_frame *frames,
                                 int every, double noise, const poise_allocator *allocator, double *deviation,
                                 poise_uncertainty_report *report, poise_error *error);

// poise_joint_angle_deviations of every so many frames. `of_turns`: of the turn about the angle's own axis, which stays
// sharp where the angle does not, as that of an arm's plane near gimbal lock.
poise_status pz_angle_deviations(const poise_track_problem *problem, const poise_clip *clip, const poise_track_frame *frames,
                                 int every, bool of_turns, const poise_allocator *allocator, double *deviation,
                                 poise_error *error);

// By degree of freedom, what markers tell of it beside the rest posture: 0 nothing, 1 all; mean over every so many frames.
poise_status pz_track_information(const poise_track_problem *problem, const poise_clip *clip,
                                  const poise_track_frame *frames, int every, const poise_allocator *allocator, double *told,
                                  poise_error *error);

#endif
