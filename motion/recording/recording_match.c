// Following a recording, first step: whose markers, which frames, and in the skeleton's units and axes.
#include "motion/recording/recording_steps.h"

#include "base/error.h"

static void replace(poise_recording_result *r, poise_markers *markers)
{
    poise_markers_destroy(r->markers);
    r->markers = markers;
}

// ---- Frames --------------------------------------------------------------------------------------------------------------

// Frames [first, last] of `markers`, which may be the result's own, at the rate that is wanted.
static poise_status choose_frames(const poise_recording_problem *problem, const poise_markers *markers,
                                  poise_recording_result *r, poise_error *error)
{
    int frames = markers->frames, first = problem->first, last = problem->last < 0 ? frames - 1 : problem->last;
    if (frames == 0) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "has no frames");
    }
    if (first >= frames || last >= frames || first > last) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "has frames 0 to %d; first %d, last %d is outside that range",
                            frames - 1, first, last);
    }
    poise_markers *part = NULL;
    bool is_part = first > 0 || last < frames - 1;
    poise_status status = POISE_OK;
    if (is_part || markers != r->markers) {
        status = poise_markers_trim(markers, first, last - first + 1, pz_recording_memory(r), &part, error);
        if (status != POISE_OK) {
            return status;
        }
        replace(r, part);
        r->first = first;
    }
    if (problem->rate > 0.0 && problem->rate != r->markers->rate) {
        r->rate_before = r->markers->rate;
        status = poise_markers_resample(r->markers, problem->rate, pz_recording_memory(r), &part, error);
        if (status == POISE_OK) {
            replace(r, part);
            r->first = 0;
        }
    }
    return status;
}

// ---- Markers -------------------------------------------------------------------------------------------------------------

// Bring the markers into the units and axes of the skeleton.
static poise_status match_scale(poise_recording_result *r, poise_error *error)
{
    r->markers->scale = r->said;
    poise_status status = poise_markers_figure(r->markers, &r->figure, error);
    return status == POISE_OK ? poise_markers_match(r->markers, r->model, &r->scale, &r->match, error) : status;
}

poise_status pz_recording_take_markers(const poise_recording_problem *problem, poise_recording_result *r, poise_error *error)
{
    r->recorded = problem->markers->count;
    poise_markers *part = NULL;
    poise_status status = poise_markers_select(problem->markers, problem->subject, pz_recording_memory(r), &part, error);
    if (status == POISE_OK) {
        r->markers = part;
        status = choose_frames(problem, part ? part : problem->markers, r, error);
    }
    status = status == POISE_OK ? match_scale(r, error) : status;
    return status == POISE_OK ? pz_recording_place(problem, r, error) : status;
}

// ---- Another skeleton's motion -------------------------------------------------------------------------------------------

// The points that both skeletons have in common, as markers.
poise_status pz_recording_take_motion(const poise_recording_problem *problem, poise_recording_result *r, poise_error *error)
{
    poise_retarget_problem retarget = {.from = problem->from,
                                       .clip = problem->clip,
                                       .from_scale = problem->from_scale,
                                       .to = problem->model,
                                       .to_scale = problem->scale,
                                       .pairs = problem->pairs,
                                       .pair_count = problem->pair_count,
                                       .keep_size = problem->keep_size};
    poise_model_summary from = poise_model_info(problem->from);
    r->from_motion = true;
    r->placements = pz_recording_take(r, (size_t)from.joints + (size_t)from.tools, sizeof *r->placements, error);
    if (!r->placements) {
        return POISE_ERROR_MEMORY;
    }
    poise_status status =
        poise_retarget_points(&retarget, pz_recording_memory(r), &r->markers, r->placements, &r->retarget, error);
    if (status != POISE_OK) {
        return status;
    }
    r->scale = r->retarget.scale;
    r->placement_count = r->given = r->given_seen = r->retarget.points;
    r->recorded = r->markers->count;
    status = choose_frames(problem, r->markers, r, error);
    for (int i = 0; i < r->placement_count && status == POISE_OK; ++i) {
        r->placements[i].label = r->markers->label[i]; // those of all frames may be gone
    }
    return status;
}
