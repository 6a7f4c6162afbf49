// What the steps of following a recording share.
#ifndef PZ_MOTION_RECORDING_RECORDING_STEPS_H
#define PZ_MOTION_RECORDING_RECORDING_STEPS_H

#include <poise/recordings.h>

// Where the memory of a result comes from; NULL: malloc.
static inline const poise_allocator *pz_recording_memory(const poise_recording_result *result)
{
    return result->has_allocator ? &result->allocator : NULL;
}

// Room for `count` zeroed elements that the result owns; NULL, with the error set, when there is none.
void *pz_recording_take(const poise_recording_result *result, size_t count, size_t element, poise_error *error);

// Choose, convert and place (recording_match.c).
poise_status pz_recording_take_motion(const poise_recording_problem *problem, poise_recording_result *r, poise_error *error);
poise_status pz_recording_take_markers(const poise_recording_problem *problem, poise_recording_result *r,
                                       poise_error *error);

// Find where markers sit (recording_places.c).
poise_status pz_recording_place(const poise_recording_problem *problem, poise_recording_result *r, poise_error *error);

#endif
