// Deviations of some frames of a track.
#ifndef PZ_MOTION_UNCERTAINTY_H
#define PZ_MOTION_UNCERTAINTY_H

#include <poise/verdict.h>

// poise_track_uncertainty of every so many frames: a row for each of them.
poise_status pz_track_deviations(const poise_track_problem *problem, const poise_clip *clip, const poise_track_frame *frames,
                                 int every, double noise, const poise_allocator *allocator, double *deviation,
                                 poise_uncertainty_report *report, poise_error *error);

// What is in doubt beside the noise of single frames.
typedef struct pz_doubt {
    double *place; // by placement: what its place may be off by
    double size;   // relative: what the skeleton's size may be off by
    double noise;  // of a marker's coordinate
} pz_doubt;

// poise_joint_angle_deviations of every so many frames. `of_turns`: of the turn about the angle's own axis, which stays
// sharp where the angle does not, as that of an arm's plane near gimbal lock. `doubt`: what adds to the noise, or NULL; then
// the noise is told in `noise` unless NULL.
poise_status pz_angle_deviations(const poise_track_problem *problem, const poise_clip *clip, const poise_track_frame *frames,
                                 int every, bool of_turns, const pz_doubt *doubt, double *noise,
                                 const poise_allocator *allocator, double *deviation, poise_error *error);

enum { PZ_CENTRES = 12 }; // joint centres of a person

// The same of joint centres (poise_joint_centres): length units, of the three coordinates together; infinite where markers
// tell nothing.
poise_status pz_centre_deviations(const poise_track_problem *problem, const poise_clip *clip,
                                  const poise_track_frame *frames, int every, const poise_placement *centres, int count,
                                  const pz_doubt *doubt, const poise_allocator *allocator, double *deviation,
                                  poise_error *error);

// What the place of each placement may be off by on its body, into `doubt`: by priors (NULL: none) of a person of this size, or
// else by what markers near it miss. Fails only with MEMORY.
poise_status pz_places_in_doubt(const poise_track_problem *problem, const poise_clip *clip, const poise_track_frame *frames,
                                const poise_place_prior *priors, double size, const poise_allocator *allocator,
                                double *doubt, poise_error *error);

// By degree of freedom, what markers tell of it beside the rest posture: 0 nothing, 1 all; mean over every so many frames.
poise_status pz_track_information(const poise_track_problem *problem, const poise_clip *clip,
                                  const poise_track_frame *frames, int every, const poise_allocator *allocator, double *told,
                                  poise_error *error);

#endif
