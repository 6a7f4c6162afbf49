// Following a recording, second step: calibrate what is not known, track, measure, judge.
#include "motion/recording/recording_steps.h"

#include "base/arena.h"
#include "base/error.h"
#include "motion/anatomy.h"
#include "num/real.h"

#include <string.h>

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

// ---- Where to begin ------------------------------------------------------------------------------------------------------

// At the posture that is given, at which what nothing sees stays; else at the neutral one.
static poise_status take_start(const poise_recording_problem *problem, poise_recording_result *r, poise_error *error)
{
    poise_model_summary size = poise_model_info(r->model);
    r->q_start = pz_recording_take(r, (size_t)size.nq, sizeof *r->q_start, error);
    if (!r->q_start) {
        return POISE_ERROR_MEMORY;
    }
    poise_model_neutral(r->model, r->q_start);
    if (!problem->posture) {
        return POISE_OK;
    }
    memcpy(r->q_start, problem->posture, (size_t)size.nq * sizeof *r->q_start);
    r->unseen = pz_recording_take(r, (size_t)size.nv, sizeof *r->unseen, error);
    if (!r->unseen) {
        return POISE_ERROR_MEMORY;
    }
    poise_unseen_dofs(r->model, r->placements, r->placement_count, problem->track.task_weights, r->unseen);
    return POISE_OK;
}

// ---- Calibrating ---------------------------------------------------------------------------------------------------------

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
    poise_status status = poise_calibrate(&c, pz_recording_memory(r), &fitted, &r->calibration, &reason);
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

// ---- Tracking ------------------------------------------------------------------------------------------------------------

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
        return poise_track_live(track, &o, problem->lag, pz_recording_memory(r), &r->clip, r->frames, error);
    }
    o.velocity = limits_of(r, problem->velocity, limits);
    o.acceleration = limits_of(r, problem->acceleration, limits + poise_model_info(r->model).nv);
    return poise_track_whole(track, &o, pz_recording_memory(r), &r->clip, r->frames, &r->sequence, error);
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
                                                 : poise_track(&track, pz_recording_memory(r), &r->clip, r->frames, error);
    if (status != POISE_OK) {
        return status;
    }
    begin_stage(problem, POISE_STAGE_JUDGE, r->markers->frames);
    r->summary = (poise_track_summary){.distances = r->distances, .markers = r->by_marker};
    status = poise_track_measure(&track, r->clip, r->frames, pz_recording_memory(r), &r->summary, error);
    return status == POISE_OK ? poise_track_hidden(&track, r->clip, r->frames, pz_recording_memory(r), r->hidden, error)
                              : status;
}

static poise_status take_arrays(const poise_recording_problem *problem, poise_recording_result *r, poise_error *error)
{
    size_t frames = (size_t)r->markers->frames, places = (size_t)r->placement_count;
    r->frames = pz_recording_take(r, frames, sizeof *r->frames, error);
    r->distances = r->frames ? pz_recording_take(r, frames * places, sizeof *r->distances, error) : NULL;
    r->by_marker = r->distances ? pz_recording_take(r, places, sizeof *r->by_marker, error) : NULL;
    size_t joints = (size_t)poise_model_info(r->model).joints;
    r->hidden = r->by_marker ? pz_recording_take(r, frames * joints, sizeof *r->hidden, error) : NULL;
    bool works = r->hidden;
    if (works && problem->deviations) {
        size_t nv = (size_t)poise_model_info(r->model).nv;
        r->deviation = pz_recording_take(r, frames * nv, sizeof *r->deviation, error);
        works = r->deviation;
    }
    return works ? POISE_OK : POISE_ERROR_MEMORY;
}

// ---- Judging -------------------------------------------------------------------------------------------------------------

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
    poise_status status = pz_anatomy_of(r->model, pz_recording_memory(r), &anatomy);
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
        r->findings = pz_recording_take(r, (size_t)capacity, sizeof *r->findings, error);
        if (!r->findings) {
            return POISE_ERROR_MEMORY;
        }
        poise_status status = poise_verdict_find(&v, pz_recording_memory(r), &r->verdict, r->findings, capacity, error);
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
            pz_release(pz_recording_memory(r), r->findings);
        }
    }
    return problem->deviations ? poise_track_uncertainty(&track, r->clip, r->frames, 0.0, pz_recording_memory(r),
                                                         r->deviation, &r->uncertainty, error)
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
        numbers = pz_recording_take(r, 3 * (size_t)poise_model_info(r->model).nv, sizeof *numbers, error);
        status = numbers ? track(problem, numbers, r, error) : POISE_ERROR_MEMORY;
    }
    if (numbers) {
        pz_release(pz_recording_memory(r), numbers);
    }
    return status == POISE_OK ? judge(problem, r, error) : status;
}
