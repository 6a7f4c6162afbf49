// Clips that run backwards, or faster and slower.
#include <poise/edit.h>

#include "base/error.h"
#include "num/real.h"

#include <string.h>

poise_status poise_clip_reverse(const poise_clip *clip, const poise_allocator *allocator, poise_clip **reversed,
                                poise_error *error)
{
    if (!clip || !reversed) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "clip and reversed must not be NULL");
    }
    poise_clip *made;
    poise_status status = poise_clip_create(clip->frames, clip->nq, clip->frame_time, allocator, &made, error);
    if (status != POISE_OK) {
        return status;
    }
    made->start_time = clip->start_time;
    for (int f = 0; f < clip->frames && clip->nq > 0; ++f) {
        const double *from = clip->q + (size_t)(clip->frames - 1 - f) * (size_t)clip->nq;
        memcpy(made->q + (size_t)f * (size_t)clip->nq, from, (size_t)clip->nq * sizeof *from);
    }
    *reversed = made;
    return POISE_OK;
}

poise_status poise_clip_speed(const poise_clip *clip, const poise_model *model, double speed,
                              const poise_allocator *allocator, poise_clip **changed, poise_error *error)
{
    if (!clip || !(speed > 0.0) || !is_finite(speed)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "clip must not be NULL, speed finite and > 0");
    }
    poise_clip played = *clip; // the same frames, sooner or later
    played.frame_time = clip->frame_time / speed;
    return poise_clip_resample(&played, model, clip->frame_time, allocator, changed, error);
}
