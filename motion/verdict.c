// A verdict over a track: what speaks against it, by name.
#include <poise/hull.h>
#include <poise/verdict.h>

#include "base/arena.h"
#include "base/error.h"
#include "motion/anatomy.h"
#include "motion/findings.h"
#include "motion/marker_table.h"
#include "motion/uncertainty.h"
#include "motion/verdict/astray.h"
#include "motion/verdict/at_limit.h"
#include "motion/verdict/blocked.h"
#include "motion/verdict/carriage.h"
#include "motion/verdict/footage.h"
#include "motion/verdict/hidden_limbs.h"
#include "motion/verdict/limb_turns.h"
#include "motion/verdict/lost.h"
#include "motion/verdict/rigid.h"
#include "motion/verdict/snapped.h"
#include "motion/verdict/swaps.h"
#include "motion/verdict/traded.h"
#include "motion/verdict/unsure.h"
#include "num/vector.h"

#define TOLD   0.4   // of a degree of freedom: what markers tell less of is not seen; two joints may share what is
#define SURE   0.020 // of the stature: places that deviate by less are compared from side to side
#define SHORT  1.075 // metres: with the thresholds of size, people are from 0.86, walking infants
#define TALL   1.85  // to 2.31
#define OTHERS 3.0   // times what most joints are off by: one that follows the wrong joint
#define LOOKS  200   // frames, at most, in which joints are looked at

poise_verdict_problem poise_verdict_problem_default(void)
{
    return (poise_verdict_problem){.thresholds = poise_thresholds_default()};
}

typedef struct judging {
    const poise_verdict_problem *problem;
    const poise_model *model;
    pz_anatomy anatomy;
    double stature;
    double *told;      // by degree of freedom: what markers tell of it (uncertainty.h)
    const char **left; // by body: a marker of unknown name that moves with it, or NULL
    int every;         // examined frame
    pz_findings found;
    poise_track_summary summary;
} judging;

// ---- Places --------------------------------------------------------------------------------------------------------------

// From where anatomy has placement i to where it is, in deviations along and across the axis, and the distance's components
// along, outward and at right angles to both. False: anatomy says nothing of it.
static bool offset_of(const judging *j, int i, double *z, double parts[3])
{
    const poise_place_prior *prior = j->problem->priors ? &j->problem->priors[i] : NULL;
    double size = j->problem->calibration ? j->problem->calibration->size : 1.0;
    if (!prior || !(prior->along > 0) || !(prior->across > 0) || !(size > 0)) {
        return false;
    }
    vec3 off = v3_sub(j->problem->track->placements[i].local, v3_scale(prior->place, size));
    parts[0] = v3_dot(off, prior->axis);
    parts[1] = v3_dot(off, prior->outward);
    parts[2] = v3_dot(off, v3_cross(prior->axis, prior->outward));
    double along = parts[0] / (size * prior->along), square = v3_dot(off, off) - parts[0] * parts[0];
    double across = max2(square, 0.0) / (size * size * prior->across * prior->across);
    *z = sqrt((along * along + across) / 3.0);
    return true;
}

static bool is_sure(const judging *j, int i)
{
    const poise_place_prior *prior = &j->problem->priors[i];
    return prior->along < SURE * j->stature && prior->across < SURE * j->stature && v3_norm(prior->outward) > 0;
}

// Left against right, mirrored: along and outward are the same, what is at right angles to both changes its sign.
static void compare_sides(judging *j, int i, const double a[3])
{
    const poise_placement *placements = j->problem->track->placements;
    for (int k = 0; k < i; ++k) {
        double z, b[3];
        if (is_sure(j, i) && is_sure(j, k) && pz_labels_mirror(placements[i].label, placements[k].label) &&
            offset_of(j, k, &z, b)) {
            vec3 apart = v3(a[0] - b[0], a[1] - b[1], a[2] + b[2]);
            pz_weigh(&j->found, POISE_FINDING_UNEQUAL, placements[i].label, v3_norm(apart) / j->stature, false);
        }
    }
}

// Where the unit is known, a person may be of any size that people are, from the skeleton's up or down; where it was chosen to
// make the two alike, only their likeness speaks for it.
static void judge_size(judging *j)
{
    const poise_places_report *places = j->problem->places;
    double metres = j->problem->track->markers->scale.metres;
    if (!places || !(places->size > 0)) {
        return;
    }
    double value = max2(places->size, 1.0 / places->size), person = places->stature * places->size * metres;
    if (!j->problem->unit_by_size && metres > 0 && places->stature > 0) {
        value = min2(value, max2(max2(SHORT / person, person / TALL), 1.0));
    }
    pz_weigh(&j->found, POISE_FINDING_SIZE, NULL, value, false);
}

static void judge_places(judging *j)
{
    const poise_track_problem *track = j->problem->track;
    double square = 0.0, z, parts[3];
    int count = 0;
    for (int i = 0; j->problem->priors && i < track->placement_count; ++i) {
        if (track->placements[i].label && offset_of(j, i, &z, parts)) {
            square += z * z;
            count += 1;
            pz_weigh(&j->found, POISE_FINDING_MOVED, track->placements[i].label, z, false);
            compare_sides(j, i, parts);
        }
    }
    if (count > 0) {
        pz_weigh(&j->found, POISE_FINDING_PLACES, NULL, sqrt(square / count), false);
    }
    judge_size(j);
}

// ---- Bones, joints, markers ----------------------------------------------------------------------------------------------

static void judge_bones(judging *j)
{
    const poise_model *before = j->problem->before;
    double common = j->problem->calibration ? j->problem->calibration->scale : 1.0;
    int joints = poise_model_info(j->model).joints;
    if (!before || poise_model_info(before).joints != joints) {
        return;
    }
    for (int k = 0; k < joints; ++k) {
        double was = v3_norm(poise_model_joint_info(before, k).given->offset.position);
        double is = v3_norm(poise_model_joint_info(j->model, k).given->offset.position);
        if (was > 0 && is > 0 && poise_model_joint_info(j->model, k).parent != POISE_WORLD) {
            double ratio = is / was / common;
            pz_weigh(&j->found, POISE_FINDING_STRETCHED, poise_model_joint_info(j->model, k).body, max2(ratio, 1.0 / ratio),
                     false);
        }
    }
}

// Does a marker sit on this body, or on one that hangs from it?
static bool carries_marker(const judging *j, int body)
{
    const poise_track_problem *track = j->problem->track;
    int end = body + poise_model_joint_info(j->model, body).subtree;
    for (int i = 0; i < track->placement_count; ++i) {
        const poise_placement *p = &track->placements[i];
        if (p->weight > 0 && p->body >= body && p->body < end && j->summary.markers[i].seen > 0) {
            return true;
        }
    }
    return false;
}

// Joints beyond which there is no marker stay at rest and are no fault; those above markers are to be told by them.
static void judge_joints(judging *j)
{
    double open = 0.0;
    int dofs = 0;
    for (int k = 0; k < poise_model_info(j->model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(j->model, k);
        bool is_above = carries_marker(j, k), is_seen = true;
        for (int i = 0; i < joint.nv; ++i) {
            double told = j->told[joint.v + i];
            bool is_held = pz_anatomy_holds(&j->anatomy, j->model, k, i);
            is_seen = is_seen && (told >= TOLD || is_held);
            open += is_above && !is_held ? 1.0 - told : 0.0;
            dofs += is_above && !is_held;
        }
        if (!is_seen) {
            pz_weigh(&j->found, POISE_FINDING_JOINT, joint.name, 1.0, true);
        }
    }
    if (dofs > 0) {
        pz_weigh(&j->found, POISE_FINDING_UNSEEN, NULL, open / dofs, false);
    }
}

// How much of the body is without a marker: of the parts of a person, else of the degrees of freedom.
static void judge_parts(judging *j)
{
    const pz_anatomy *a = &j->anatomy;
    int bare = 0, all = 0;
    for (int p = 0; p < PZ_PART_COUNT && a->stature > 0; ++p) {
        bool is_twice = p == PZ_CLAVICLE || p == PZ_WRIST; // thorax and forearm again
        for (int s = 0; s < 3; ++s) {
            int body = pz_part_has_sides((pz_part)p) == (s != PZ_MIDDLE) && !is_twice ? a->part[p][s].body : POISE_NONE;
            all += body >= 0;
            bare += body >= 0 && !carries_marker(j, body);
        }
    }
    for (int k = 0; k < poise_model_info(j->model).joints && !(a->stature > 0); ++k) {
        all += poise_model_joint_info(j->model, k).nv;
        bare += carries_marker(j, k) ? 0 : poise_model_joint_info(j->model, k).nv;
    }
    if (all > 0) {
        pz_weigh(&j->found, POISE_FINDING_BARE, NULL, (double)bare / all, false);
    }
}

// Markers against places that were given, as OpenSim's are: practice is less than 20 mm in all and 40 mm of one marker for
// an adult (OpenSim documentation, "Simulation with OpenSim - Best Practices"). What a marker of little weight misses by
// tells nothing: it was not to be followed.
static void judge_given(judging *j)
{
    const poise_track_problem *track = j->problem->track;
    double weights = 0.0;
    for (int i = 0; i < track->placement_count; ++i) {
        weights += track->placements[i].weight;
    }
    pz_weigh(&j->found, POISE_FINDING_GIVEN, NULL, j->summary.weighted / j->stature, false);
    for (int i = 0; i < track->placement_count; ++i) {
        if (track->placements[i].weight * track->placement_count >= 0.5 * weights) {
            pz_weigh(&j->found, POISE_FINDING_FAR, track->placements[i].label, j->summary.markers[i].mean / j->stature,
                     false);
        }
    }
}

// Is this the upper end of a limb's bone? Spines are cut into joints in many ways.
static bool is_limb(const judging *j, int body)
{
    static const pz_part limbs[] = {PZ_UPPER_ARM, PZ_FOREARM, PZ_HAND, PZ_THIGH, PZ_SHANK, PZ_FOOT};
    bool is_one = false;
    for (size_t i = 0; i < sizeof limbs / sizeof limbs[0] && j->anatomy.stature > 0; ++i) {
        is_one =
            is_one || j->anatomy.part[limbs[i]][PZ_LEFT].body == body || j->anatomy.part[limbs[i]][PZ_RIGHT].body == body;
    }
    return is_one;
}

// Joints of another skeleton, which one of other proportions misses by a few per cent of the stature throughout; one that is
// off while others are not follows the wrong one.
static void judge_followed(judging *j)
{
    const poise_track_problem *track = j->problem->track;
    for (int i = 0; i < track->placement_count; ++i) {
        double mean = j->summary.markers[i].mean;
        int nearer = 0;
        for (int k = 0; k < track->placement_count; ++k) {
            nearer += OTHERS * j->summary.markers[k].mean < mean;
        }
        if (2 * nearer > track->placement_count && is_limb(j, track->placements[i].body)) {
            const char *name = poise_model_joint_info(j->model, track->placements[i].body).body;
            pz_weigh(&j->found, POISE_FINDING_MISPLACED, name, mean / j->stature, false);
        }
    }
}

static void judge_frames(judging *j)
{
    const poise_track_problem *track = j->problem->track;
    if (j->problem->calibration) {
        pz_weigh(&j->found, POISE_FINDING_MISS, NULL, j->summary.weighted / j->stature, false);
    } else if (!j->problem->from_motion) {
        judge_given(j);
    } else {
        judge_followed(j);
    }
    int there = track->markers->frames - j->summary.before - j->summary.after;
    if (there > 0) {
        pz_weigh(&j->found, POISE_FINDING_HELD, NULL, (double)j->summary.held / there, false);
    }
    for (int i = 0; i < track->placement_count; ++i) {
        const poise_marker_error *m = &j->summary.markers[i];
        if (m->seen > 0) {
            pz_weigh(&j->found, POISE_FINDING_LET_GO, track->placements[i].label, (double)m->let_go / m->seen, false);
        }
    }
}

// Markers without a place. Those with common names are of parts that the skeleton lacks.
static void judge_markers(judging *j)
{
    const poise_track_problem *track = j->problem->track;
    const poise_markers *markers = track->markers;
    pz_marker_table table = {.markers = markers};
    int placed = 0, foreign = 0;
    for (int k = 0; k < markers->count; ++k) {
        bool is_placed = false;
        for (int i = 0; i < track->placement_count && !is_placed; ++i) {
            is_placed = track->placements[i].label && poise_markers_find(markers, track->placements[i].label) == k;
        }
        if (!is_placed) {
            pz_weigh(&j->found, POISE_FINDING_LEFT_OUT, markers->label[k], 1.0, true);
        }
        pz_marker_row row;
        const char *label = markers->label[k];
        placed += is_placed;
        foreign += !is_placed && poise_markers_find(markers, label) == k && !pz_label_is_computed(markers, label) &&
                   pz_marker_table_find(&table, label, &row);
    }
    if (j->problem->places && placed + foreign > 0) {
        pz_weigh(&j->found, POISE_FINDING_FOREIGN, NULL, (double)foreign / (placed + foreign), false);
    }
}

// ---- The call ------------------------------------------------------------------------------------------------------------

// Fill what is judged: distances, what markers tell.
static poise_status prepare(judging *j, const poise_allocator *allocator, poise_error *error)
{
    const poise_verdict_problem *p = j->problem;
    poise_status status = pz_skeleton_size(j->model, allocator, &j->stature);
    status = status == POISE_OK ? pz_anatomy_of(j->model, allocator, &j->anatomy) : status;
    if (status != POISE_OK) {
        return pz_error_set(error, status, "out of memory");
    }
    poise_track_frame *none = NULL;
    if (!p->frames) {
        none = pz_allocate(allocator, ((size_t)p->clip->frames + 1) * sizeof *none);
        for (int f = 0; none && f < p->clip->frames; ++f) {
            none[f] = (poise_track_frame){.flags = 0};
        }
    }
    status = p->frames || none
                 ? poise_track_measure(p->track, p->clip, p->frames ? p->frames : none, allocator, &j->summary, error)
                 : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    pz_release(allocator, none);
    if (status == POISE_OK) {
        status = pz_track_information(p->track, p->clip, p->frames, j->every, allocator, j->told, error);
    }
    return status;
}

// Limbs that go elsewhere for a while: their markers are ignored, not there, out of reach, or confused.
static poise_status judge_limbs(judging *j, const poise_allocator *allocator, poise_error *error)
{
    const poise_verdict_problem *p = j->problem;
    const double *distances = j->summary.distances;
    poise_status status = pz_weigh_lost(p, distances, j->stature, allocator, &j->found, error);
    status = status == POISE_OK ? pz_weigh_hidden(p, &j->summary, allocator, &j->found, error) : status;
    if (p->from_motion || status != POISE_OK) {
        return status;
    }
    status = pz_weigh_at_limit(p, &j->summary, allocator, &j->found, error);
    status = status == POISE_OK ? pz_weigh_unsure(p, &j->summary, j->left, allocator, &j->found, error) : status;
    if (status != POISE_OK) {
        return status;
    }
    status = pz_weigh_blocked(p, distances, j->stature, allocator, &j->found, error);
    status = status == POISE_OK ? pz_weigh_snapped(p, allocator, &j->found, error) : status;
    return status == POISE_OK ? pz_weigh_traded(p, distances, j->stature, allocator, &j->found, error) : status;
}

// Constraints of the track, which it may not have been able to keep.
static poise_status judge_kept(judging *j, const poise_allocator *allocator, poise_error *error)
{
    const poise_track_problem *track = j->problem->track;
    poise_kept_problem problem = {.model = j->model,
                                  .clip = j->problem->clip,
                                  .constraints = track->constraints,
                                  .constraint_count = track->constraint_count,
                                  .closure_tolerance = track->solver.constraints.closure_tolerance};
    poise_kept kept;
    poise_status status =
        track->constraint_count > 0 ? poise_kept_measure(&problem, allocator, &kept, NULL, error) : POISE_OK;
    if (status == POISE_OK && track->constraint_count > 0) {
        poise_kept_judge(&problem, &kept, j->found.thresholds, &j->found.verdict, j->found.list, j->found.capacity);
    }
    return status;
}

// The recording itself, and how the person in it moves.
static poise_status judge_recording(judging *j, const poise_allocator *allocator, poise_error *error)
{
    const poise_verdict_problem *p = j->problem;
    const double *distances = j->summary.distances;
    if (p->from_motion) {
        return POISE_OK;
    }
    poise_status status = pz_weigh_footage(p, distances, j->stature, allocator, &j->found, error);
    status =
        status == POISE_OK ? pz_weigh_rigid(p, distances, &j->anatomy, j->stature, allocator, &j->found, error) : status;
    return status == POISE_OK ? pz_weigh_carriage(p, &j->anatomy, allocator, &j->found, error) : status;
}

poise_status poise_verdict_find(const poise_verdict_problem *problem, const poise_allocator *allocator,
                                poise_verdict *verdict, poise_finding *findings, int capacity, poise_error *error)
{
    if (!problem || !problem->track || !problem->track->model || !problem->track->markers || !problem->clip || !verdict ||
        capacity < 0 || (capacity > 0 && !findings)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "track, its model and markers, clip and verdict must not be NULL");
    }
    size_t nv = (size_t)poise_model_info(problem->track->model).nv;
    judging j = {.problem = problem,
                 .model = problem->track->model,
                 .every = problem->clip->frames / LOOKS + 1,
                 .found = {.thresholds = &problem->thresholds, .list = findings, .capacity = capacity}};
    j.told = pz_allocate(allocator, (nv + 1) * sizeof *j.told);
    void *by_marker = pz_allocate(allocator, ((size_t)problem->track->placement_count + 1) * sizeof *j.summary.markers);
    j.summary.markers = by_marker;
    size_t distances = (size_t)problem->clip->frames * (size_t)problem->track->placement_count;
    j.summary.distances = pz_allocate(allocator, (distances + 1) * sizeof *j.summary.distances);
    size_t joints = (size_t)poise_model_info(j.model).joints;
    void *left = pz_allocate(allocator, (joints + 1) * sizeof *j.left);
    j.left = left;
    for (size_t k = 0; left && k < joints; ++k) {
        j.left[k] = NULL;
    }
    poise_status status = j.told && left && by_marker && j.summary.distances
                              ? prepare(&j, allocator, error)
                              : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    if (status == POISE_OK && problem->priors && problem->calibration) {
        status = pz_weigh_swaps(problem, allocator, &j.found, error);
    }
    if (status == POISE_OK && problem->places) {
        status =
            pz_weigh_astray(problem, j.stature, j.anatomy.part[PZ_HEAD][PZ_MIDDLE].body, j.left, allocator, &j.found, error);
    }
    if (status == POISE_OK && problem->from_motion) {
        status = pz_weigh_limbs(problem, &j.anatomy, j.every, allocator, &j.found, error);
    }
    double *by_frame = j.summary.distances;
    if (status == POISE_OK) {
        status = judge_limbs(&j, allocator, error);
    }
    if (status == POISE_OK) {
        status = judge_recording(&j, allocator, error);
    }
    status = status == POISE_OK ? judge_kept(&j, allocator, error) : status;
    if (status == POISE_OK) {
        judge_places(&j);
        judge_frames(&j);
        judge_bones(&j);
        judge_joints(&j);
        judge_parts(&j);
        judge_markers(&j);
        for (int i = 0; i < problem->absent_count; ++i) {
            pz_weigh(&j.found, POISE_FINDING_ABSENT, problem->absent[i], 1.0, false);
        }
        *verdict = j.found.verdict;
    }
    pz_release(allocator, left);
    pz_release(allocator, by_frame);
    pz_release(allocator, by_marker);
    pz_release(allocator, j.told);
    return status;
}

// ---- Overlaps ------------------------------------------------------------------------------------------------------------

void poise_overlap_judge(const poise_overlap_problem *problem, const poise_overlap *overlap,
                         const poise_thresholds *thresholds, poise_verdict *verdict, poise_finding *findings, int capacity)
{
    poise_thresholds usual = poise_thresholds_default();
    double frames = problem->clip->frames > 0 ? problem->clip->frames : 1;
    poise_finding self = {.kind = POISE_FINDING_SELF,
                          .name = overlap->a >= 0 ? poise_model_joint_info(problem->model, overlap->a).body : "the world",
                          .other = overlap->b >= 0 ? poise_model_joint_info(problem->model, overlap->b).body : "the world",
                          .value = overlap->frames / frames,
                          .first = overlap->frame,
                          .last = overlap->frame,
                          .distance = overlap->depth * problem->metres};
    poise_finding pierced = self;
    pierced.kind = POISE_FINDING_PIERCED;
    pierced.value = overlap->pierced / frames;
    poise_verdict_weigh(thresholds ? thresholds : &usual, self, false, verdict, findings, capacity);
    poise_verdict_weigh(thresholds ? thresholds : &usual, pierced, false, verdict, findings, capacity);
}
