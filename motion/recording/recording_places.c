// Following a recording: where its markers sit on the skeleton, by what is given and by their names.
#include "motion/recording/recording_steps.h"

#include "base/arena.h"
#include "base/error.h"
#include "motion/markers.h"
#include "num/real.h"

#include <string.h>

#define KNOWN 0.01 // of the stature: how far a marker may be from the place that a file gives it

static bool is_known(poise_vec3 place)
{
    return is_finite(place.x) && is_finite(place.y) && is_finite(place.z);
}

// ---- Given ---------------------------------------------------------------------------------------------------------------

// The body of this skeleton that a given place is on; POISE_NONE: it has none of that name.
static int body_of(const poise_recording_problem *problem, const poise_placement *place)
{
    const poise_model *from = problem->placements_from;
    return from ? poise_model_find_body(problem->model, poise_model_joint_info(from, place->body).body) : place->body;
}

// Keep the given places whose markers are in the recording, with texts of their own. There is room for all.
static poise_status take_given(const poise_recording_problem *problem, poise_recording_result *r, poise_error *error)
{
    size_t size = 0, used = 0;
    for (int i = 0; i < problem->placement_count; ++i) {
        size += strlen(problem->placements[i].label) + 1;
    }
    r->labels = pz_recording_take(r, size, 1, error);
    if (!r->labels) {
        return POISE_ERROR_MEMORY;
    }
    for (int i = 0; i < problem->placement_count; ++i) {
        poise_placement place = problem->placements[i];
        place.body = body_of(problem, &place);
        r->given += place.body >= 0;
        if (place.body >= 0 && poise_markers_find(r->markers, place.label) >= 0) {
            size_t length = strlen(place.label) + 1;
            memcpy(r->labels + used, place.label, length);
            place.label = r->labels + used;
            used += length;
            r->placements[r->placement_count++] = place;
        }
    }
    r->given_seen = r->placement_count;
    return POISE_OK;
}

// ---- By name -------------------------------------------------------------------------------------------------------------

// Given places are held where they are where others, or bones, are calibrated.
static void hold_given(poise_recording_result *r)
{
    double deviation = KNOWN * r->anatomy.stature;
    for (int i = 0; i < r->given_seen; ++i) {
        poise_vec3 place = r->placements[i].local;
        if (is_known(place)) {
            r->priors[i] = (poise_place_prior){.place = place, .axis = {1, 0, 0}, .along = deviation, .across = deviation};
        }
    }
    if (!(deviation > 0.0) && r->named == 0) { // no human skeleton
        pz_release(pz_recording_memory(r), r->priors);
        r->priors = NULL;
    }
}

// Does one of these places belong to the marker with this label?
static bool has_place(const poise_markers *markers, const poise_placement *places, int count, const char *label)
{
    int marker = poise_markers_find(markers, label);
    for (int i = 0; i < count; ++i) {
        if (poise_markers_find(markers, places[i].label) == marker) {
            return true;
        }
    }
    return false;
}

// Drop given places whose markers also have a place by name: the recording was made with another set of markers, where the
// same name may mean another place.
static void drop_given(poise_recording_result *r, const poise_placement *named, int count)
{
    int kept = 0;
    for (int k = 0; k < r->given_seen; ++k) {
        if (!has_place(r->markers, named, count, r->placements[k].label)) {
            r->placements[kept++] = r->placements[k];
        }
    }
    r->given_seen = kept;
}

// Places by common names, beside those that are given.
static poise_status add_named(const poise_recording_problem *problem, poise_recording_result *r, poise_error *error)
{
    int most = r->markers->count, first = r->given_seen;
    poise_placement *named = r->placements + first; // there is room for one of each marker
    r->priors = pz_recording_take(r, (size_t)first + (size_t)most, sizeof *r->priors, error);
    if (!r->priors) {
        return POISE_ERROR_MEMORY;
    }
    poise_status status =
        poise_places_by_name(r->model, r->markers, problem->labels, named, r->priors + first, most, &r->anatomy, error);
    if (status != POISE_OK) {
        return status;
    }
    if (!pz_places_cover(r->given_seen, r->given, r->markers->count)) {
        drop_given(r, named, r->anatomy.placed);
    }
    r->placement_count = r->given_seen;
    for (int i = 0; i < r->anatomy.placed; ++i) {
        if (!has_place(r->markers, r->placements, r->given_seen, named[i].label)) {
            r->placements[r->placement_count] = named[i];
            r->priors[r->placement_count++] = r->priors[first + i];
        }
    }
    r->named = r->placement_count - r->given_seen;
    hold_given(r);
    return POISE_OK;
}

poise_status pz_recording_place(const poise_recording_problem *problem, poise_recording_result *r, poise_error *error)
{
    size_t room = (size_t)problem->placement_count + (size_t)r->markers->count;
    if (r->markers->count == 0) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "holds no markers");
    }
    r->placements = pz_recording_take(r, room, sizeof *r->placements, error);
    poise_status status = r->placements ? take_given(problem, r, error) : POISE_ERROR_MEMORY;
    if (status == POISE_OK && !problem->only_placements) {
        status = add_named(problem, r, error);
    }
    if (status == POISE_OK && r->placement_count == 0) {
        return problem->only_placements
                   ? pz_error_set(error, POISE_ERROR_NOT_FOUND, "has none of the %d placed markers, such as \"%s\"",
                                  problem->placement_count, problem->placement_count > 0 ? problem->placements[0].label : "")
                   : pz_error_set(error, POISE_ERROR_NOT_FOUND,
                                  "the names of its %d markers, such as \"%s\", do not say where on the skeleton they sit; "
                                  "set placements or a table of names",
                                  r->markers->count, r->markers->label[0]);
    }
    return status;
}
