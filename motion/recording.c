// From a recording to a motion, clinical angles and a verdict: choose whose markers and which frames, bring them to the
// skeleton's units and axes, find where they sit; calibrate what is not known, track, measure, judge.
#include <poise/recordings.h>

#include "base/arena.h"
#include "base/error.h"
#include "motion/anatomy.h"
#include "motion/uncertainty.h"
#include "motion/verdict.h"
#include "num/real.h"

#include <string.h>

// ---- A result and its memory ---------------------------------------------------------------------------------------------

// Where the memory of a result comes from; NULL: malloc.
static inline const poise_allocator *memory_of(const poise_recording_result *result)
{
    return result->has_allocator ? &result->allocator : NULL;
}

// Room for `count` zeroed elements that the result owns; NULL, with the error set, when there is none.
static void *take_room(const poise_recording_result *result, size_t count, size_t element, poise_error *error)
{
    bool fits = count < SIZE_MAX / element;
    void *memory = fits ? pz_allocate(memory_of(result), (count + 1) * element) : NULL;
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

// ---- Places: given -------------------------------------------------------------------------------------------------------

#define KNOWN 0.01 // of the stature: how far a marker may be from the place that a file gives it

static bool is_known(poise_vec3 place)
{
    return is_finite(place.x) && is_finite(place.y) && is_finite(place.z);
}

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
    r->labels = take_room(r, size, 1, error);
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

// ---- Places: by name -----------------------------------------------------------------------------------------------------

// Was a recording of `markers` made with a set of `places`, of which it has `seen`? A few names in common, such as LASI and
// RASI, do not make it so: most of the body would be without markers that other names can place.
static bool places_cover(int seen, int places, int markers)
{
    return seen > 0 && (2 * seen >= places || 2 * seen >= markers);
}

bool poise_placements_cover(const poise_placement *placements, int count, const poise_markers *markers)
{
    int seen = 0;
    for (int i = 0; i < count && placements && markers; ++i) {
        seen += poise_markers_find(markers, placements[i].label) >= 0;
    }
    return markers && places_cover(seen, count, markers->count);
}

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
        pz_release(memory_of(r), r->priors);
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
    r->priors = take_room(r, (size_t)first + (size_t)most, sizeof *r->priors, error);
    if (!r->priors) {
        return POISE_ERROR_MEMORY;
    }
    poise_status status =
        poise_places_by_name(r->model, r->markers, problem->labels, named, r->priors + first, most, &r->anatomy, error);
    if (status != POISE_OK) {
        return status;
    }
    if (!places_cover(r->given_seen, r->given, r->markers->count)) {
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

// Find where markers sit.
static poise_status place_markers(const poise_recording_problem *problem, poise_recording_result *r, poise_error *error)
{
    size_t room = (size_t)problem->placement_count + (size_t)r->markers->count;
    if (r->markers->count == 0) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "holds no markers");
    }
    r->placements = take_room(r, room, sizeof *r->placements, error);
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

// ---- Match: frames -------------------------------------------------------------------------------------------------------

static void replace(poise_recording_result *r, poise_markers *markers)
{
    poise_markers_destroy(r->markers);
    r->markers = markers;
}

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
        status = poise_markers_trim(markers, first, last - first + 1, memory_of(r), &part, error);
        if (status != POISE_OK) {
            return status;
        }
        replace(r, part);
        r->first = first;
    }
    if (problem->rate > 0.0 && problem->rate != r->markers->rate) {
        r->rate_before = r->markers->rate;
        status = poise_markers_resample(r->markers, problem->rate, memory_of(r), &part, error);
        if (status == POISE_OK) {
            replace(r, part);
            r->first = 0;
        }
    }
    return status;
}

// ---- Match: markers ------------------------------------------------------------------------------------------------------

// Bring the markers into the units and axes of the skeleton.
static poise_status match_scale(poise_recording_result *r, poise_error *error)
{
    r->markers->scale = r->said;
    poise_status status = poise_markers_figure(r->markers, &r->figure, error);
    return status == POISE_OK ? poise_markers_match(r->markers, r->model, &r->scale, &r->match, error) : status;
}

static poise_status take_markers(const poise_recording_problem *problem, poise_recording_result *r, poise_error *error)
{
    r->recorded = problem->markers->count;
    poise_markers *part = NULL;
    poise_status status = poise_markers_select(problem->markers, problem->subject, memory_of(r), &part, error);
    if (status == POISE_OK) {
        r->markers = part;
        status = choose_frames(problem, part ? part : problem->markers, r, error);
    }
    status = status == POISE_OK ? match_scale(r, error) : status;
    return status == POISE_OK ? place_markers(problem, r, error) : status;
}

// ---- Match: another skeleton's motion ------------------------------------------------------------------------------------

// The points that both skeletons have in common, as markers.
static poise_status take_motion(const poise_recording_problem *problem, poise_recording_result *r, poise_error *error)
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
    r->placements = take_room(r, (size_t)from.joints + (size_t)from.tools, sizeof *r->placements, error);
    if (!r->placements) {
        return POISE_ERROR_MEMORY;
    }
    poise_status status = poise_retarget_points(&retarget, memory_of(r), &r->markers, r->placements, &r->retarget, error);
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

// ---- Follow: where to begin ----------------------------------------------------------------------------------------------

#define SIZE_PAIRS 3    // distances between markers that tell a size, and
#define SIZE_SLACK 0.03 // how far from the skeleton's it may be for that to stay as it is, and
#define SIZE_TAKEN 0.09 // from where on it is taken as measured; between them by a part, so that no step is left

static void begin_stage(const poise_recording_problem *problem, poise_recording_stage stage, int frames)
{
    if (problem->on_stage) {
        problem->on_stage(problem->track.user, stage, frames);
    }
}

// Length units of the skeleton in a metre; 1 where its unit is not known.
static double units_per_metre(const poise_recording_result *r)
{
    return r->scale.metres > 0.0 ? 1.0 / r->scale.metres : 1.0;
}

// At the posture that is given, at which what nothing sees stays; else at the neutral one.
static poise_status take_start(const poise_recording_problem *problem, poise_recording_result *r, poise_error *error)
{
    poise_model_summary size = poise_model_info(r->model);
    r->q_start = take_room(r, (size_t)size.nq, sizeof *r->q_start, error);
    if (!r->q_start) {
        return POISE_ERROR_MEMORY;
    }
    poise_model_neutral(r->model, r->q_start);
    if (!problem->posture) {
        return POISE_OK;
    }
    memcpy(r->q_start, problem->posture, (size_t)size.nq * sizeof *r->q_start);
    r->unseen = take_room(r, (size_t)size.nv, sizeof *r->unseen, error);
    if (!r->unseen) {
        return POISE_ERROR_MEMORY;
    }
    poise_unseen_dofs(r->model, r->placements, r->placement_count, problem->track.task_weights, r->unseen);
    return POISE_OK;
}

// ---- Follow: calibrating -------------------------------------------------------------------------------------------------

// Is every place measured, not only what anatomy says?
static bool all_places_known(const poise_recording_result *r)
{
    bool known = r->named == 0;
    for (int i = 0; i < r->placement_count; ++i) {
        poise_vec3 p = r->placements[i].local;
        known = known && is_finite(p.x) && is_finite(p.y) && is_finite(p.z);
    }
    return known;
}

static poise_scaling scaling_of(poise_fit fit)
{
    return fit == POISE_FIT_UNIFORM    ? POISE_SCALING_UNIFORM
           : fit == POISE_FIT_SEGMENTS ? POISE_SCALING_SEGMENTS
                                       : POISE_SCALING_NONE;
}

// A person of nearly the skeleton's size may be the one that it was made of, and distances tell a size to 3 % or so.
static double size_of(double measured)
{
    double off = fabs(measured - 1.0), share = (off - SIZE_SLACK) / (SIZE_TAKEN - SIZE_SLACK);
    share = min2(max2(share, 0.0), 1.0);
    return 1.0 + share * (measured - 1.0);
}

static poise_calibration calibration_of(const poise_recording_problem *problem, const poise_recording_result *r,
                                        poise_fit fit)
{
    poise_calibration c = poise_calibration_default();
    c.model = r->model;
    c.placements = r->placements;
    c.placement_count = r->placement_count;
    c.markers = r->markers;
    c.q = r->q_start;
    c.frame_count = problem->calibration_frames < r->markers->frames ? problem->calibration_frames : r->markers->frames;
    c.scaling = scaling_of(fit);
    c.solver.use_limits = problem->track.solver.use_limits;
    c.priors = r->named > 0 || c.scaling != POISE_SCALING_NONE ? r->priors : NULL;
    c.size = r->named > 0 && r->anatomy.pairs >= SIZE_PAIRS ? size_of(r->anatomy.size) : c.size;
    return c;
}

static poise_status calibrate(const poise_recording_problem *problem, poise_recording_result *r, poise_error *error)
{
    bool known = all_places_known(r);
    poise_fit fit = problem->fit != POISE_FIT_DECIDE ? problem->fit : known ? POISE_FIT_NONE : POISE_FIT_PLACES;
    if (fit == POISE_FIT_NONE) {
        return known ? POISE_OK
                     : pz_error_set(error, POISE_ERROR_UNSUPPORTED,
                                    "the marker positions on the skeleton are unknown; calibrate them");
    }
    poise_calibration c = calibration_of(problem, r, fit);
    poise_error reason = {.text = ""};
    poise_model *fitted = NULL;
    begin_stage(problem, POISE_STAGE_CALIBRATE, c.frame_count);
    poise_status status = poise_calibrate(&c, memory_of(r), &fitted, &r->calibration, &reason);
    if (status != POISE_OK) {
        return pz_error_set(error, status, "the markers could not be calibrated: %s", reason.text);
    }
    r->calibrated = true;
    if (c.scaling == POISE_SCALING_NONE && c.size == 1.0) {
        poise_model_destroy(fitted);
    } else {
        r->fitted = fitted;
        r->model = fitted;
    }
    return POISE_OK;
}

// ---- Follow: tracking ----------------------------------------------------------------------------------------------------

// What is tracked, with the options that the caller has none for.
static poise_track_problem plain_track(const poise_recording_result *r, poise_track_problem track)
{
    track.model = r->model;
    track.placements = r->placements;
    track.placement_count = r->placement_count;
    track.markers = r->markers;
    return track;
}

static bool moves_freely(poise_joint_type type)
{
    return type == POISE_JOINT_FREE || type == POISE_JOINT_FREE_EXPMAP || type == POISE_JOINT_FREE_EULER;
}

// A limit for every dof but those of a free root, into nv numbers; NULL: none is wanted.
static const double *limits_of(const poise_recording_result *r, double limit, double *numbers)
{
    for (int k = 0; limit > 0.0 && k < poise_model_info(r->model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(r->model, k);
        for (int i = 0; i < joint.nv; ++i) {
            bool is_length = poise_model_coordinate(r->model, joint.q + i).unit == POISE_UNIT_LENGTH;
            numbers[joint.v + i] = moves_freely(joint.type) ? INFINITY : limit * (is_length ? units_per_metre(r) : 1.0);
        }
    }
    return limit > 0.0 ? numbers : NULL;
}

// All frames at once, or those that come within the lag. `limits` has room for 2 nv numbers.
static poise_status track_whole(const poise_recording_problem *problem, const poise_track_problem *track, double *limits,
                                poise_recording_result *r, poise_error *error)
{
    poise_sequence_options o = problem->sequence;
    o.noise *= units_per_metre(r);
    if (problem->lag >= 0) {
        return poise_track_live(track, &o, problem->lag, memory_of(r), &r->clip, r->frames, error);
    }
    o.velocity = limits_of(r, problem->velocity, limits);
    o.acceleration = limits_of(r, problem->acceleration, limits + poise_model_info(r->model).nv);
    return poise_track_whole(track, &o, memory_of(r), &r->clip, r->frames, &r->sequence, error);
}

static poise_status track(const poise_recording_problem *problem, double *numbers, poise_recording_result *r,
                          poise_error *error)
{
    poise_track_problem track = plain_track(r, problem->track);
    double *posture = numbers + 2 * (size_t)poise_model_info(r->model).nv;
    track.q_start = r->q_start;
    track.outlier *= units_per_metre(r);
    track.solver.locked = r->unseen ? r->unseen : track.solver.locked;
    poise_status status = r->named > 0 ? poise_posture_weights(r->model, 0.0, posture, error) : POISE_OK;
    if (status != POISE_OK) {
        return status;
    }
    track.posture = r->named > 0 ? posture : NULL;
    begin_stage(problem, POISE_STAGE_TRACK, r->markers->frames);
    status = problem->whole || problem->lag >= 0 ? track_whole(problem, &track, numbers, r, error)
                                                 : poise_track(&track, memory_of(r), &r->clip, r->frames, error);
    if (status != POISE_OK) {
        return status;
    }
    begin_stage(problem, POISE_STAGE_JUDGE, r->markers->frames);
    r->summary = (poise_track_summary){.distances = r->distances, .markers = r->by_marker};
    status = poise_track_measure(&track, r->clip, r->frames, memory_of(r), &r->summary, error);
    return status == POISE_OK ? poise_track_hidden(&track, r->clip, r->frames, memory_of(r), r->hidden, error) : status;
}

static poise_status take_arrays(const poise_recording_problem *problem, poise_recording_result *r, poise_error *error)
{
    size_t frames = (size_t)r->markers->frames, places = (size_t)r->placement_count;
    r->frames = take_room(r, frames, sizeof *r->frames, error);
    r->distances = r->frames ? take_room(r, frames * places, sizeof *r->distances, error) : NULL;
    r->by_marker = r->distances ? take_room(r, places, sizeof *r->by_marker, error) : NULL;
    size_t joints = (size_t)poise_model_info(r->model).joints;
    r->hidden = r->by_marker ? take_room(r, frames * joints, sizeof *r->hidden, error) : NULL;
    bool works = r->hidden;
    if (works && problem->deviations) {
        size_t nv = (size_t)poise_model_info(r->model).nv;
        r->deviation = take_room(r, frames * nv, sizeof *r->deviation, error);
        works = r->deviation;
    }
    return works ? POISE_OK : POISE_ERROR_MEMORY;
}

// ---- Follow: judging -----------------------------------------------------------------------------------------------------

// Following joints alone is less than retargeting can do, whose bones are 3 degrees off on average: it is doubtful earlier.
// Thresholds that the caller changed stay.
#define SHORTEST  0.86 // metres: people who walk
#define TALLEST   2.31
#define MEAN_TURN 0.7 // of the thresholds of retargeting: 8 degrees
#define LIMB_TURN 0.6 // 17 degrees

static void tighten(poise_thresholds *t, poise_finding_kind kind, double share)
{
    poise_thresholds usual = poise_thresholds_default();
    if (t->doubtful[kind] == usual.doubtful[kind] && t->failed[kind] == usual.failed[kind]) {
        t->doubtful[kind] *= share;
        t->failed[kind] *= share;
    }
}

// Would the person be as tall as people are in another unit, too, than the one that was chosen?
static bool has_other_unit(const poise_recording_result *r)
{
    static const double units[] = {1, 0.1, 0.01, 0.001, 0.0254, 0.3048};
    double metres = r->match.from.metres, person = r->anatomy.stature * r->anatomy.size * r->scale.metres;
    bool has_one = !(metres > 0.0 && person > 0.0);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; ++i) {
        double other = has_one ? 0.0 : person * units[i] / metres;
        has_one = has_one || (units[i] != metres && other > SHORTEST && other < TALLEST);
    }
    return has_one;
}

static poise_verdict_problem verdict_of(const poise_recording_problem *problem, const poise_recording_result *r,
                                        const poise_track_problem *track)
{
    poise_verdict_problem v = {.track = track,
                               .clip = r->clip,
                               .frames = r->frames,
                               .priors = r->priors,
                               .calibration = r->calibrated ? &r->calibration : NULL,
                               .places = r->named > 0 ? &r->anatomy : NULL,
                               .before = r->fitted ? problem->model : NULL,
                               .absent = problem->absent,
                               .absent_count = problem->absent_count,
                               .thresholds = problem->thresholds};
    v.from_motion = r->from_motion;
    v.unit_by_size = r->match.model_unknown || (r->match.markers_unknown && has_other_unit(r));
    if (r->from_motion) {
        tighten(&v.thresholds, POISE_FINDING_BONES, MEAN_TURN);
        tighten(&v.thresholds, POISE_FINDING_LIMB, LIMB_TURN);
    }
    return v;
}

// Limits of velocity and acceleration that the solver could not weigh against the markers.
static void judge_limits(const poise_recording_problem *problem, poise_recording_result *r, int capacity)
{
    poise_finding f = {.kind = POISE_FINDING_LATE, .value = (double)r->sequence.late / (r->clip->frames + 1)};
    for (int k = 0; k < poise_model_info(r->model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(r->model, k);
        f.name = joint.nv > 0 && joint.v <= r->sequence.late_dof ? joint.name : f.name;
    }
    if (r->sequence.late > 0) {
        poise_verdict_weigh(&problem->thresholds, f, false, &r->verdict, r->findings, capacity);
    }
}

// Angles of the pelvis in the room rest on which axis points up: do markers tell them?
static bool sees_hips(const poise_recording_result *r, const pz_anatomy *a)
{
    bool does = false;
    for (int i = 0; i < r->placement_count; ++i) {
        int body = r->placements[i].body;
        does = does || body == a->part[PZ_PELVIS][PZ_MIDDLE].body || body == a->part[PZ_THIGH][PZ_LEFT].body ||
               body == a->part[PZ_THIGH][PZ_RIGHT].body;
    }
    return does;
}

// An upward axis that no file says: x, only because of how the person stands, who may lie instead; or any that how they stand
// does not tell.
static poise_status judge_axis(const poise_recording_problem *problem, poise_recording_result *r, int capacity,
                               poise_error *error)
{
    static const char *const axes[] = {[POISE_UP_X] = "x", [POISE_UP_Y] = "y", [POISE_UP_Z] = "z"};
    poise_up up = r->match.from.up;
    bool is_told = r->figure.is_named && r->figure.up != POISE_UP_UNKNOWN;
    poise_finding f = {.kind = POISE_FINDING_LYING};
    pz_anatomy anatomy;
    if (r->said.up != POISE_UP_UNKNOWN || r->from_motion) {
        return POISE_OK;
    }
    poise_status status = pz_anatomy_of(r->model, memory_of(r), &anatomy);
    if (status != POISE_OK) {
        return pz_error_set(error, status, "out of memory");
    }
    if (r->match.up_by_figure && up == POISE_UP_X) {
        f.value = 1.0;
    } else if (!is_told && up != POISE_UP_UNKNOWN && anatomy.stature > 0 && sees_hips(r, &anatomy)) {
        f.value = 2.0;
        f.name = axes[up];
    }
    if (f.value > 0) {
        poise_verdict_weigh(&problem->thresholds, f, false, &r->verdict, r->findings, capacity);
    }
    return POISE_OK;
}

// What speaks against the static trial, whose places and bones this rests on.
static void judge_trial(const poise_recording_problem *problem, poise_recording_result *r, int capacity)
{
    const poise_recording_result *trial = problem->standing;
    for (int i = 0; trial && i < trial->verdict.count; ++i) {
        poise_finding f = trial->findings[i];
        if (f.level != POISE_VERDICT_GOOD) {
            f.in_trial = true;
            poise_verdict_weigh(&problem->thresholds, f, false, &r->verdict, r->findings, capacity);
        }
    }
}

static poise_status judge(const poise_recording_problem *problem, poise_recording_result *r, poise_error *error)
{
    poise_track_problem track = plain_track(r, poise_track_problem_default());
    poise_verdict_problem v = verdict_of(problem, r, &track);
    int capacity = 64 + 2 * r->markers->count + 4 * r->placement_count + 2 * poise_model_info(r->model).joints;
    for (bool is_whole = false; !is_whole;) { // once more where there was no room for all
        r->findings = take_room(r, (size_t)capacity, sizeof *r->findings, error);
        if (!r->findings) {
            return POISE_ERROR_MEMORY;
        }
        poise_status status = poise_verdict_find(&v, memory_of(r), &r->verdict, r->findings, capacity, error);
        if (status != POISE_OK) {
            return status;
        }
        judge_limits(problem, r, capacity);
        status = judge_axis(problem, r, capacity, error);
        if (status != POISE_OK) {
            return status;
        }
        judge_trial(problem, r, capacity);
        is_whole = r->verdict.count <= capacity;
        if (!is_whole) {
            capacity = r->verdict.count;
            pz_release(memory_of(r), r->findings);
        }
    }
    return problem->deviations
               ? poise_track_uncertainty(&track, r->clip, r->frames, 0.0, memory_of(r), r->deviation, &r->uncertainty, error)
               : POISE_OK;
}

poise_status poise_recording_follow(const poise_recording_problem *problem, poise_recording_result *result,
                                    poise_error *error)
{
    poise_recording_result *r = result;
    if (!problem || !r || r->clip || r->q_start) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "needs a problem and its result from poise_recording_match, once");
    }
    poise_status status = take_start(problem, r, error);
    status = status == POISE_OK ? calibrate(problem, r, error) : status;
    status = status == POISE_OK ? take_arrays(problem, r, error) : status;
    double *numbers = NULL; // 3 nv: limits of velocity and acceleration, weights of the posture
    if (status == POISE_OK) {
        numbers = take_room(r, 3 * (size_t)poise_model_info(r->model).nv, sizeof *numbers, error);
        status = numbers ? track(problem, numbers, r, error) : POISE_ERROR_MEMORY;
    }
    if (numbers) {
        pz_release(memory_of(r), numbers);
    }
    return status == POISE_OK ? judge(problem, r, error) : status;
}

// ---- The calls -----------------------------------------------------------------------------------------------------------

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
    poise_status status = problem->markers ? take_markers(problem, r, error) : take_motion(problem, r, error);
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

// ---- Clinical angles, as far as anything is known of them ----------------------------------------------------------------

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

// Is what the verdict states of an angle, with how markers may sit on the body, too much to read it?
static bool is_vague(const poise_recording_result *made, const char *angle)
{
    bool is_one = false;
    for (int i = 0; i < made->verdict.count; ++i) {
        const poise_finding *f = &made->findings[i];
        bool is_spread = f->kind == POISE_FINDING_VAGUE || f->kind == POISE_FINDING_UNSURE;
        is_one = is_one || (is_spread && !f->in_trial && strcmp(f->name, angle) == 0 && f->value > PZ_EMPTY_ANGLE);
    }
    return is_one;
}

static void leave_empty(const reading *r, double *angles)
{
    const poise_recording_result *made = r->made;
    int end = made->clip->frames - made->summary.after;
    bool vague[POISE_ANGLE_COUNT];
    for (int i = 0; i < POISE_ANGLE_COUNT; ++i) {
        vague[i] = is_vague(made, poise_angle_name(i));
    }
    for (int f = 0; f < made->clip->frames; ++f) {
        bool is_away = f < made->summary.before || f >= end;
        for (int i = 0; i < POISE_ANGLE_COUNT; ++i) {
            size_t at = (size_t)f * POISE_ANGLE_COUNT + (size_t)i;
            if (is_away || vague[i] || !r->seen[i] || r->hidden[at] || !(r->deviation[at] <= SURE)) {
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
        status = deviation ? pz_centre_deviations(&track, result->clip, result->frames, 1, places, count, NULL, allocator,
                                                  deviation, error)
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

// ---- A static trial first ------------------------------------------------------------------------------------------------

poise_recording_problem poise_recording_trial(const poise_recording_problem *problem, const poise_markers *markers,
                                              poise_scale scale)
{
    poise_recording_problem trial = *problem;
    trial.markers = markers;
    trial.from_scale = scale;
    trial.first = 0;
    trial.last = -1;
    trial.rate = 0;
    trial.whole = trial.deviations = false;
    return trial;
}

void poise_recording_stand(poise_recording_problem *problem, const poise_recording_result *stood)
{
    problem->standing = stood;
    problem->model = stood->model;
    problem->scale = stood->scale;
    problem->placements = stood->placements;
    problem->placement_count = stood->placement_count;
    problem->placements_from = NULL;
    problem->only_placements = true;
    problem->fit = POISE_FIT_NONE;
}
