// Clips: time series of configurations.
#include <poise/motion.h>

#include "base/arena.h"
#include "base/error.h"
#include "num/real.h"

#include <limits.h>
#include <string.h>

// A clip and its numbers are one block; the struct takes whole cache lines, so that the numbers begin at one.
#define HEAD ((sizeof(poise_clip) + PZ_ALIGNMENT - 1) / PZ_ALIGNMENT * PZ_ALIGNMENT)

poise_status poise_clip_create(int frames, int nq, double frame_time, const poise_allocator *allocator, poise_clip **clip,
                               poise_error *error)
{
    if (!clip) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "clip must not be NULL");
    }
    if (frames < 0 || nq < 0) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "%s must be >= 0, not %d", frames < 0 ? "frames" : "nq",
                            frames < 0 ? frames : nq);
    }
    if (!(frame_time > 0.0) || !is_finite(frame_time)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "frame_time, in seconds, must be finite and > 0, not %g",
                            frame_time);
    }
    size_t numbers = (size_t)frames * (size_t)nq; // below 2^62
    bool fits = numbers <= (SIZE_MAX / 2 - HEAD) / sizeof(double);
    poise_clip *made = fits ? pz_allocate(allocator, HEAD + numbers * sizeof(double)) : NULL;
    if (!made) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory for %d frames of %d numbers", frames, nq);
    }
    *made = (poise_clip){.frames = frames, .nq = nq, .frame_time = frame_time, .has_allocator = allocator != NULL};
    if (allocator) {
        made->allocator = *allocator;
    }
    made->q = (double *)(void *)((unsigned char *)made + HEAD);
    memset(made->q, 0, numbers * sizeof(double));
    *clip = made;
    return POISE_OK;
}

void poise_clip_destroy(poise_clip *clip)
{
    if (clip) {
        poise_allocator allocator = clip->allocator;
        pz_release(clip->has_allocator ? &allocator : NULL, clip);
    }
}

static const double *frame_of(const poise_clip *clip, int frame)
{
    return clip->q + (size_t)frame * (size_t)clip->nq;
}

poise_status poise_clip_trim(const poise_clip *clip, int first, int count, const poise_allocator *allocator,
                             poise_clip **trimmed, poise_error *error)
{
    if (!clip || !trimmed || first < 0 || count < 0 || count > clip->frames - first) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "frames from %d, %d of them, are not all in the clip, which has %d",
                            first, count, clip ? clip->frames : 0);
    }
    poise_clip *made;
    poise_status status = poise_clip_create(count, clip->nq, clip->frame_time, allocator, &made, error);
    if (status != POISE_OK) {
        return status;
    }
    made->start_time = clip->start_time + first * clip->frame_time;
    size_t numbers = (size_t)count * (size_t)clip->nq;
    if (numbers > 0) {
        memcpy(made->q, frame_of(clip, first), numbers * sizeof(double));
    }
    *trimmed = made;
    return POISE_OK;
}

// ---- Between two frames --------------------------------------------------------------------------------------------------

// From frame to frame the arc of a rotation and its angles differ invisibly little, up to this change of an angle.
#define SMALL_TURN 0.5

// The frame at or before `place` (in frames) and the share of the way to the next one; on a frame the share is 0.
//
// A place within `near` frames of a frame is that frame: a time is a product of rounded numbers.
static int frame_before(double place, int frames, double *share)
{
    const double near = 1e-9;
    *share = 0.0;
    if (!(place > 0.0)) {
        return 0;
    }
    if (place >= frames - 1) {
        return frames - 1;
    }
    int frame = (int)place;
    double u = place - frame;
    if (u > 1.0 - near) {
        return frame + 1;
    }
    *share = u < near ? 0.0 : u;
    return frame;
}

static poise_status sample_at(const poise_clip *clip, const poise_model *model, double place, double *q, poise_error *error)
{
    double u;
    int frame = frame_before(place, clip->frames, &u);
    const double *a = frame_of(clip, frame);
    if (u == 0.0) {
        poise_status status = poise_model_check(model, a, "a frame of the clip", error);
        if (status == POISE_OK) {
            memcpy(q, a, (size_t)clip->nq * sizeof *q);
        }
        return status;
    }
    for (int i = 0; i < 2; ++i) {
        poise_status status = poise_model_check(model, a + i * clip->nq, "a frame of the clip", error);
        if (status != POISE_OK) {
            return status;
        }
    }
    return poise_interpolate(model, a, a + clip->nq, u, SMALL_TURN, q, error);
}

poise_status poise_clip_sample(const poise_clip *clip, const poise_model *model, double time, double *q, poise_error *error)
{
    if (!clip || !model || !q || clip->frames < 1 || clip->nq != poise_model_info(model).nq || !is_finite(time)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "clip, model and q must not be NULL, the clip not empty and of this model, time finite");
    }
    return sample_at(clip, model, (time - clip->start_time) / clip->frame_time, q, error);
}

poise_status poise_clip_resample(const poise_clip *clip, const poise_model *model, double frame_time,
                                 const poise_allocator *allocator, poise_clip **resampled, poise_error *error)
{
    if (!clip || !model || !resampled || clip->nq != poise_model_info(model).nq || !(frame_time > 0.0) ||
        !is_finite(frame_time)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "clip, model and resampled must not be NULL, the clip of this model, frame_time finite and > 0");
    }
    // a last frame that rounding pushed past the end is still one
    double ratio = frame_time / clip->frame_time;
    double last = clip->frames > 1 ? (clip->frames - 1) / ratio * (1.0 + 1e-12) + 1e-9 : 0.0;
    if (!(last < INT_MAX - 1)) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "too many frames for one clip: raise frame_time");
    }
    int frames = clip->frames > 0 ? (int)last + 1 : 0;
    poise_clip *made;
    poise_status status = poise_clip_create(frames, clip->nq, frame_time, allocator, &made, error);
    if (status != POISE_OK) {
        return status;
    }
    made->start_time = clip->start_time;
    for (int i = 0; i < frames && status == POISE_OK; ++i) {
        status = sample_at(clip, model, i * ratio, made->q + (size_t)i * (size_t)made->nq, error);
    }
    if (status != POISE_OK) {
        poise_clip_destroy(made);
        return status;
    }
    *resampled = made;
    return POISE_OK;
}
