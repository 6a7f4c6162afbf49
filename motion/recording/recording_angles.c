// Following a recording: clinical angles and joint centres, as far as anything is known of them.
#include "motion/recording/recording_steps.h"

#include "base/arena.h"
#include "base/error.h"
#include "motion/anatomy.h"
#include "motion/uncertainty.h"
#include "num/real.h"

#define SURE        10.0  // degrees: an angle that deviates by more is not given
#define SURE_CENTRE 0.017 // of the stature: nor is a joint centre, 30 mm of an adult

typedef struct reading {
    const poise_recording_result *made;
    double *deviation;            // frames x POISE_ANGLE_COUNT
    bool *hidden;                 // the same
    poise_placement *places;      // those whose markers are there
    bool seen[POISE_ANGLE_COUNT]; // by markers
} reading;

static poise_status find_seen(reading *r, const poise_allocator *allocator, poise_error *error)
{
    const poise_recording_result *made = r->made;
    int count = 0;
    for (int i = 0; i < made->placement_count; ++i) {
        int marker = poise_markers_find(made->markers, made->placements[i].label);
        bool is_there = false;
        for (int f = 0; f < made->markers->frames && marker >= 0 && !is_there; ++f) {
            is_there = poise_markers_seen(made->markers, f, marker);
        }
        if (is_there) {
            r->places[count++] = made->placements[i];
        }
    }
    return poise_joint_angles_seen(made->model, r->places, count, allocator, r->seen, error);
}

static poise_track_problem track_of(const poise_recording_result *made)
{
    poise_track_problem track = poise_track_problem_default();
    track.model = made->model;
    track.placements = made->placements;
    track.placement_count = made->placement_count;
    track.markers = made->markers;
    return track;
}

// How sure the angles are. Points of another skeleton are off by how the two differ, which is no noise.
static poise_status find_deviations(const reading *r, const poise_allocator *allocator, poise_error *error)
{
    const poise_recording_result *made = r->made;
    if (made->from_motion) {
        for (size_t i = 0; i < (size_t)made->clip->frames * POISE_ANGLE_COUNT; ++i) {
            r->deviation[i] = 0.0;
        }
        return POISE_OK;
    }
    poise_track_problem track = track_of(made);
    return poise_joint_angle_deviations(&track, made->clip, made->frames, allocator, r->deviation, error);
}

static void leave_empty(const reading *r, double *angles)
{
    const poise_recording_result *made = r->made;
    int end = made->clip->frames - made->summary.after;
    for (int f = 0; f < made->clip->frames; ++f) {
        bool is_away = f < made->summary.before || f >= end;
        for (int i = 0; i < POISE_ANGLE_COUNT; ++i) {
            size_t at = (size_t)f * POISE_ANGLE_COUNT + (size_t)i;
            if (is_away || !r->seen[i] || r->hidden[at] || !(r->deviation[at] <= SURE)) {
                angles[at] = NAN;
            }
        }
    }
}

poise_status poise_recording_angles(const poise_recording_result *result, const poise_allocator *allocator, double *angles,
                                    poise_error *error)
{
    if (!result || !result->clip || !angles) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "needs a result that was followed, and angles");
    }
    size_t cells = (size_t)result->clip->frames * POISE_ANGLE_COUNT;
    reading r = {.made = result};
    r.deviation = pz_allocate(allocator, (cells + 1) * sizeof *r.deviation);
    r.hidden = pz_allocate(allocator, (cells + 1) * sizeof *r.hidden);
    r.places = pz_allocate(allocator, ((size_t)result->placement_count + 1) * sizeof *r.places);
    poise_status status =
        r.deviation && r.hidden && r.places ? POISE_OK : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    status = status == POISE_OK ? poise_joint_angles(result->model, result->clip, allocator, angles, error) : status;
    status = status == POISE_OK ? find_seen(&r, allocator, error) : status;
    status = status == POISE_OK ? find_deviations(&r, allocator, error) : status;
    status = status == POISE_OK
                 ? poise_joint_angles_hidden(result->model, result->hidden, result->clip->frames, allocator, r.hidden, error)
                 : status;
    if (status == POISE_OK) {
        leave_empty(&r, angles);
    }
    pz_release(allocator, r.places);
    pz_release(allocator, r.hidden);
    pz_release(allocator, r.deviation);
    return status;
}

// ---- Centres -------------------------------------------------------------------------------------------------------------

// Does a marker on this body or beyond it show: in a frame, or in any (POISE_NONE)?
static bool sees(const poise_recording_result *made, int frame, int body)
{
    int end = body + poise_model_joint_info(made->model, body).subtree;
    bool does = false;
    for (int i = 0; i < made->placement_count && !does; ++i) {
        const poise_placement *p = &made->placements[i];
        bool is_beyond = p->weight > 0 && p->body >= body && p->body < end;
        does = is_beyond && (frame < 0 ? made->by_marker[i].seen > 0
                                       : made->distances[(size_t)frame * (size_t)made->placement_count + (size_t)i] >= 0);
    }
    return does;
}

// Is a joint above this body, which carries it about, hidden in a frame, and no marker near that says where it is?
static bool is_adrift(const poise_recording_result *made, int frame, int body)
{
    const bool *row = made->hidden + (size_t)frame * (size_t)poise_model_info(made->model).joints;
    int carrier = poise_model_joint_info(made->model, body).parent, k = carrier;
    while (k >= 0 && !row[k]) {
        k = poise_model_joint_info(made->model, k).parent;
    }
    return k >= 0 && !sees(made, frame, carrier);
}

static void leave_gaps(const poise_recording_result *made, const poise_placement *places, const double *deviation,
                       double sure, poise_markers *centres)
{
    int end = centres->frames - made->summary.after;
    for (int i = 0; i < centres->count; ++i) {
        bool is_seen = sees(made, POISE_NONE, places[i].body);
        for (int f = 0; f < centres->frames; ++f) {
            size_t at = (size_t)f * (size_t)centres->count + (size_t)i;
            bool is_away = f < made->summary.before || f >= end, is_vague = deviation && !(deviation[at] <= sure);
            if (!is_seen || is_away || is_vague || is_adrift(made, f, places[i].body)) {
                centres->position[at] = (poise_vec3){NAN, NAN, NAN};
            }
        }
    }
}

poise_status poise_recording_centres(const poise_recording_result *result, const poise_allocator *allocator,
                                     poise_markers **centres, poise_error *error)
{
    if (!result || !result->clip || !centres) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "needs a result that was followed, and centres");
    }
    *centres = NULL;
    poise_placement places[PZ_CENTRES];
    poise_markers *made = NULL;
    double *deviation = NULL;
    pz_anatomy anatomy;
    poise_status status = pz_anatomy_of(result->model, allocator, &anatomy);
    if (status == POISE_OK && !(anatomy.stature > 0)) {
        return pz_error_set(error, POISE_ERROR_NOT_FOUND, "by the names of its bodies it is not a human skeleton");
    }
    int count = status == POISE_OK ? poise_joint_centres(result->model, allocator, places, PZ_CENTRES) : 0;
    status = count > 0 ? poise_markers_from_clip(result->model, result->clip, result->scale, places, count, allocator, &made,
                                                 error)
                       : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    if (status == POISE_OK && !result->from_motion) {
        poise_track_problem track = track_of(result);
        deviation = pz_allocate(allocator, ((size_t)made->frames * (size_t)count + 1) * sizeof *deviation);
        status = deviation ? pz_centre_deviations(&track, result->clip, result->frames, 1, places, count, NULL, 0.0,
                                                  allocator, deviation, error)
                           : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    if (status == POISE_OK) {
        made->start_time = result->clip->start_time;
        leave_gaps(result, places, deviation, SURE_CENTRE * anatomy.stature, made);
        status = result->from_motion ? POISE_OK : poise_markers_restore(made, &result->match, error);
    }
    pz_release(allocator, deviation);
    if (status == POISE_OK) {
        *centres = made;
    } else {
        poise_markers_destroy(made);
    }
    return status;
}
