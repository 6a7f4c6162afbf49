// Feet that legs do not reach.
//
// A sole that is held in a place is held firmly: where the hip cannot turn the foot out as far as the actor's, or the leg is
// too short for the step, the hips go elsewhere and the trunk turns. Then the clip is solved with loose feet, which shows
// where the legs do reach; the feet are planted there, and the clip is solved again.
#include "base/arena.h"
#include "motion/retarget/retarget_work.h"

#include <string.h>

#define FAR_HIPS 0.06 // of the leg: hips that are farther off their path, mean over the frames, say that legs do not reach

static bool is_out_of_reach(const pz_retarget_work *w, const poise_retarget_outcome *o)
{
    return w->hips && w->planted && (o->hips_mean > FAR_HIPS * w->to.leg || o->jumps > 0);
}

// A jump weighs as much as a hip that is off by a hundredth of the leg in every frame.
static double badness(const pz_retarget_work *w, const poise_retarget_outcome *o)
{
    return o->hips_mean / w->to.leg + 0.01 * o->jumps;
}

static poise_status plant_where_reached(pz_retarget_work *w, const poise_allocator *allocator)
{
    poise_vec3 *scratch = pz_allocate(allocator, 2 * (size_t)w->ground.frames * sizeof *scratch + 1);
    for (int side = 0; side < 2 && scratch; ++side) {
        if (w->foot[side].body >= 0) {
            pz_foot_plant(&w->foot[side], &w->ground, scratch);
        }
    }
    pz_release(allocator, scratch);
    return scratch ? POISE_OK : POISE_ERROR_MEMORY;
}

// The clip again into `q`, with feet within reach.
static poise_status solve_again(pz_retarget_work *w, const poise_allocator *allocator, poise_clip *clip,
                                poise_retarget_outcome *outcome, poise_error *error)
{
    poise_retarget_outcome loose = *outcome;
    poise_status status = pz_retarget_paths(w, allocator, false);
    w->loose = true;
    status = status == POISE_OK ? pz_retarget_solve(w, allocator, clip, &loose, error) : status;
    w->loose = false;
    status = status == POISE_OK ? plant_where_reached(w, allocator) : status;
    status = status == POISE_OK ? pz_retarget_solve(w, allocator, clip, outcome, error) : status;
    outcome->iterations += loose.iterations;
    return status;
}

poise_status pz_retarget_reach(pz_retarget_work *w, const poise_allocator *allocator, poise_clip *clip,
                               poise_retarget_outcome *outcome, poise_error *error)
{
    poise_retarget_outcome first = *outcome, second = *outcome;
    poise_status status = pz_retarget_solve(w, allocator, clip, &first, error);
    if (status != POISE_OK || !is_out_of_reach(w, &first)) {
        *outcome = first;
        return status;
    }
    size_t bytes = (size_t)clip->frames * (size_t)clip->nq * sizeof *clip->q;
    double *kept = pz_allocate(allocator, bytes + 1);
    if (!kept) {
        return POISE_ERROR_MEMORY;
    }
    memcpy(kept, clip->q, bytes);
    status = solve_again(w, allocator, clip, &second, error);
    second.iterations += first.iterations;
    first.iterations = second.iterations;
    bool is_better = badness(w, &second) < badness(w, &first);
    if (status == POISE_OK && !is_better) {
        memcpy(clip->q, kept, bytes);
        status = pz_retarget_paths(w, allocator, true);
    }
    *outcome = is_better ? second : first;
    pz_release(allocator, kept);
    return status;
}
