// Clinical angles that markers hardly tell: a knee whose markers are all in a line with hip and ankle leaves the thigh's turn
// open, and the track shows the rest posture there, or noise. The standard deviation of each angle is computed in some
// frames (uncertainty.c); what a tenth of them exceed is weighed, so that a moment near a stretched limb is no fault.
//
// Most sets of markers leave something open by design: heel and toe say little of the foot's inversion, a bar at the wrist
// little of pronation. That is told, the angle is left empty where it deviates by more than 10 degrees
// (poise_recording_angles), and it is no fault: of 74 recordings with nothing wrong, 45 have such an angle. It is one where
// the recording holds a marker that would tell more, and that was left out because nobody knows its name.
//
// What counts is the deviation of the turn about an angle's own axis. The angles of a hanging arm share one turn, plane and
// rotation, in gimbal lock; their sum is sharp, and no marker is missing.
#include "motion/verdict/unsure.h"

#include "base/arena.h"
#include "base/error.h"
#include "motion/anatomy.h"
#include "motion/clinical.h"
#include "motion/uncertainty.h"
#include "num/real.h"

#define LOOKS  40  // frames examined
#define BEYOND 0.1 // of them: the share that deviates more than the value weighed

#define VAGUE   0.04363323129985824 // 2.5 degrees: twice as much would be a wrong angle, less is not worth a word
#define BLURRED 0.0085              // of the stature: 15 mm of an adult, the same of a joint centre

#define RADIANS     (1.0 / 57.29577951308232)
#define HALF_A_TURN 3.14159265358979323846

typedef struct doubting {
    const poise_verdict_problem *problem;
    const poise_track_summary *summary;
    int every;                    // examined frame
    double *deviation;            // looks x POISE_ANGLE_COUNT: of noise
    double *all;                  // the same: of noise, and of where markers sit
    double *centres;              // looks x PZ_CENTRES: the same of joint centres, length units
    double *doubt;                // by placement: what its place may be off by
    double *sorted;               // looks
    poise_placement *seen;        // those whose markers are there
    bool told[POISE_ANGLE_COUNT]; // by markers
} doubting;

// Which angles markers see at all. The others are unobserved, which is no fault.
static poise_status find_seen(doubting *d, const poise_allocator *allocator, poise_error *error)
{
    const poise_track_problem *track = d->problem->track;
    int count = 0;
    for (int i = 0; i < track->placement_count; ++i) {
        if (d->summary->markers[i].seen > 0) {
            d->seen[count++] = track->placements[i];
        }
    }
    return poise_joint_angles_seen(track->model, d->seen, count, allocator, d->told, error);
}

// What BEYOND of the frames exceed, of a column of `columns`, at most `most`.
static double quantile_of(const doubting *d, const double *deviation, int columns, int column, double unit, double most)
{
    int count = 0, end = d->problem->clip->frames - d->summary->after;
    for (int f = 0, look = 0; f < end; f += d->every, ++look) {
        bool is_held = d->problem->frames && (d->problem->frames[f].flags & POISE_TRACK_HELD);
        if (f < d->summary->before || is_held) {
            continue;
        }
        double value = min2(unit * deviation[(size_t)look * (size_t)columns + (size_t)column], most);
        int at = count++;
        for (; at > 0 && d->sorted[at - 1] < value; --at) {
            d->sorted[at] = d->sorted[at - 1];
        }
        d->sorted[at] = value;
    }
    return count > 0 ? d->sorted[(int)(BEYOND * count)] : 0.0;
}

static double angle_of(const doubting *d, const double *deviation, int angle)
{
    return quantile_of(d, deviation, POISE_ANGLE_COUNT, angle, RADIANS, HALF_A_TURN);
}

static void weigh_angle(const doubting *d, const pz_clinic *clinic, int angle, const char *const *left, pz_findings *found)
{
    int body = pz_angle_body(clinic, angle);
    const char *name = poise_angle_name(angle), *other = body >= 0 ? left[body] : NULL;
    poise_finding vague = {.kind = POISE_FINDING_VAGUE, .name = name, .value = angle_of(d, d->all, angle)};
    if (other) {
        pz_weigh_two(found, POISE_FINDING_UNSURE, name, other, angle_of(d, d->deviation, angle));
    }
    poise_verdict_weigh(found->thresholds, vague, vague.value > VAGUE, &found->verdict, found->list, found->capacity);
}

// Joint centres of limbs that carry markers, as shares of the stature.
static poise_status weigh_centres(doubting *d, double noise, const poise_allocator *allocator, pz_findings *found,
                                  poise_error *error)
{
    const poise_track_problem *track = d->problem->track;
    poise_placement places[PZ_CENTRES];
    pz_anatomy anatomy;
    poise_status status = pz_anatomy_of(track->model, allocator, &anatomy);
    if (status == POISE_OK && !(anatomy.stature > 0)) {
        return POISE_OK; // no person
    }
    int count = status == POISE_OK ? poise_joint_centres(track->model, allocator, places, PZ_CENTRES) : 0;
    status = count > 0 ? pz_centre_deviations(track, d->problem->clip, d->problem->frames, d->every, places, count, d->doubt,
                                              noise, allocator, d->centres, error)
                       : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    for (int i = 0; i < count && status == POISE_OK; ++i) {
        int end = places[i].body + poise_model_joint_info(track->model, places[i].body).subtree;
        bool is_seen = false;
        for (int k = 0; k < track->placement_count; ++k) {
            const poise_placement *p = &track->placements[k];
            is_seen =
                is_seen || (p->body >= places[i].body && p->body < end && p->weight > 0 && d->summary->markers[k].seen > 0);
        }
        poise_finding f = {.kind = POISE_FINDING_BLURRED, .name = places[i].label};
        f.value = is_seen ? quantile_of(d, d->centres, count, i, 1.0 / anatomy.stature, 1.0) : 0.0;
        poise_verdict_weigh(found->thresholds, f, f.value > BLURRED, &found->verdict, found->list, found->capacity);
    }
    return status;
}

poise_status pz_weigh_unsure(const poise_verdict_problem *problem, const poise_track_summary *summary,
                             const char *const *left, const poise_allocator *allocator, pz_findings *found,
                             poise_error *error)
{
    const poise_track_problem *track = problem->track;
    pz_clinic clinic;
    doubting d = {.problem = problem, .summary = summary, .every = problem->clip->frames / LOOKS + 1};
    size_t looks = (size_t)(problem->clip->frames / d.every) + 1, places = (size_t)track->placement_count + 1;
    d.deviation = pz_allocate(allocator, 2 * looks * POISE_ANGLE_COUNT * sizeof *d.deviation);
    d.centres = pz_allocate(allocator, looks * PZ_CENTRES * sizeof *d.centres);
    d.doubt = pz_allocate(allocator, places * sizeof *d.doubt);
    d.sorted = pz_allocate(allocator, looks * sizeof *d.sorted);
    d.seen = pz_allocate(allocator, places * sizeof *d.seen);
    bool works = d.deviation && d.centres && d.doubt && d.sorted && d.seen;
    poise_status status = works ? POISE_OK : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    poise_status begun = pz_clinic_begin(track->model, allocator, &clinic, error);
    status = status == POISE_OK ? begun : status;
    status = status == POISE_OK ? find_seen(&d, allocator, error) : status;
    if (status == POISE_OK) {
        d.all = d.deviation + looks * POISE_ANGLE_COUNT;
        double size = problem->calibration ? problem->calibration->size : 1.0;
        status = pz_places_in_doubt(track, problem->clip, problem->frames, problem->calibration ? problem->priors : NULL,
                                    size, allocator, d.doubt, error);
    }
    double noise = 0.0;
    for (int i = 0; i < 2 && status == POISE_OK; ++i) {
        status = pz_angle_deviations(track, problem->clip, problem->frames, d.every, true, i == 0 ? NULL : d.doubt, &noise,
                                     allocator, i == 0 ? d.deviation : d.all, error);
    }
    status = status == POISE_OK ? weigh_centres(&d, noise, allocator, found, error) : status;
    for (int i = 0; i < POISE_ANGLE_COUNT && status == POISE_OK; ++i) {
        if (d.told[i]) {
            weigh_angle(&d, &clinic, i, left, found);
        }
    }
    pz_clinic_end(&clinic, allocator);
    pz_release(allocator, d.seen);
    pz_release(allocator, d.sorted);
    pz_release(allocator, d.doubt);
    pz_release(allocator, d.centres);
    pz_release(allocator, d.deviation);
    return status;
}
