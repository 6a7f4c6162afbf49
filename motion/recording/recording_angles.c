// Following a recording: clinical angles, as far as anything is known of them.
#include "motion/recording/recording_steps.h"

#include "base/arena.h"
#include "base/error.h"
#include "num/real.h"

#define SURE 10.0 // degrees: an angle that deviates by more is not given

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
    poise_track_problem track = poise_track_problem_default();
    track.model = made->model;
    track.placements = made->placements;
    track.placement_count = made->placement_count;
    track.markers = made->markers;
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
