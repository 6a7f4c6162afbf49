// From a recording to a motion and a verdict: the two steps, and who owns the memory.
#include "motion/recording/recording_steps.h"

#include "base/arena.h"
#include "base/error.h"

#include <string.h>

poise_recording_problem poise_recording_problem_default(void)
{
    return (poise_recording_problem){.last = -1,
                                     .calibration_frames = 50,
                                     .track = poise_track_problem_default(),
                                     .sequence = poise_sequence_options_default(),
                                     .lag = -1,
                                     .thresholds = poise_thresholds_default()};
}

void *pz_recording_take(const poise_recording_result *result, size_t count, size_t element, poise_error *error)
{
    bool fits = count < SIZE_MAX / element;
    void *memory = fits ? pz_allocate(pz_recording_memory(result), (count + 1) * element) : NULL;
    if (memory) {
        memset(memory, 0, (count + 1) * element);
    } else {
        pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    return memory;
}

void poise_recording_destroy(poise_recording_result *result)
{
    if (!result) {
        return;
    }
    void *arrays[] = {result->placements, result->priors,    result->unseen,    result->q_start,
                      result->frames,     result->distances, result->by_marker, result->deviation,
                      result->findings,   result->labels,    result->hidden};
    poise_allocator own = result->allocator;
    const poise_allocator *allocator = result->has_allocator ? &own : NULL;
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) {
        if (arrays[i]) {
            pz_release(allocator, arrays[i]);
        }
    }
    poise_clip_destroy(result->clip);
    poise_markers_destroy(result->markers);
    poise_model_destroy(result->fitted);
    pz_release(allocator, result);
}

static bool is_complete(const poise_recording_problem *p)
{
    return p && p->model && (p->markers || (p->from && p->clip)) && p->placement_count >= 0 &&
           (p->placements || p->placement_count == 0) && p->first >= 0 && p->calibration_frames > 0 && p->pair_count >= 0 &&
           (p->pairs || p->pair_count == 0);
}

// What the caller says counts more than what a file says.
static void prefer(poise_scale *scale, poise_scale wanted)
{
    scale->metres = wanted.metres > 0.0 ? wanted.metres : scale->metres;
    scale->up = wanted.up != POISE_UP_UNKNOWN ? wanted.up : scale->up;
}

poise_status poise_recording_match(const poise_recording_problem *problem, const poise_allocator *allocator,
                                   poise_recording_result **result, poise_error *error)
{
    if (!is_complete(problem) || !result) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "model and result must not be NULL, nor markers if there is no motion; first must not be "
                            "negative, calibration_frames > 0");
    }
    poise_recording_result *r = pz_allocate(allocator, sizeof *r);
    if (!r) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    *r = (poise_recording_result){.model = problem->model, .scale = problem->scale, .model_said = problem->scale};
    r->has_allocator = allocator != NULL;
    r->allocator = allocator ? *allocator : r->allocator;
    r->said = problem->markers ? problem->markers->scale : problem->from_scale;
    prefer(&r->said, problem->from_scale);
    poise_status status =
        problem->markers ? pz_recording_take_markers(problem, r, error) : pz_recording_take_motion(problem, r, error);
    if (status != POISE_OK) {
        poise_recording_destroy(r);
        return status;
    }
    *result = r;
    return POISE_OK;
}

poise_status poise_track_recording(const poise_recording_problem *problem, const poise_allocator *allocator,
                                   poise_recording_result **result, poise_error *error)
{
    poise_recording_result *made = NULL;
    if (!result) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "result must not be NULL");
    }
    poise_status status = poise_recording_match(problem, allocator, &made, error);
    status = status == POISE_OK ? poise_recording_follow(problem, made, error) : status;
    if (status != POISE_OK) {
        poise_recording_destroy(made);
        return status;
    }
    *result = made;
    return POISE_OK;
}
