// Markers that have each other's names throughout a take, as the lateral and the medial one of a wrist or a knee. A
// calibration bends places and joints until they fit, so that nothing shows in what is missed. Here places stay where
// anatomy has them, and each of some frames is posed with the names as they are and with two of them exchanged:
//
//   J = sum |x - p(q)|^2 / (n^2 + s^2) + sum (q - neutral)^2 / d^2
//
// n what a marker misses its place by, s how far that may be off, d what joints deviate by. Where the names are right J
// rises by the exchange. Where it falls by more than the threshold in the mean of the frames they are taken to be swapped.
// Only markers whose places are sure are looked at, on one body, or left and right.
#include "motion/verdict/swaps.h"

#include "base/arena.h"
#include "base/error.h"
#include "motion/anatomy.h"
#include "motion/marker_table.h"
#include "num/vector.h"

#include <string.h>

#define FRAMES 3     // that are looked at
#define SURE   0.025 // of the stature: places that deviate by more do not tell
#define MOST   64    // pairs that are kept

typedef struct swap {
    int a, b; // placements
    double gain;
} swap;

typedef struct swapper {
    const poise_verdict_problem *problem;
    const poise_model *model;
    double size, stature;
    poise_solver *solver;
    poise_goal *goals; // by placement, and one for the posture
    poise_vec3 *target;
    double *q, *neutral, *weights;
    poise_error *error;
} swapper;

static bool is_sure(const swapper *s, int i)
{
    const poise_place_prior *prior = &s->problem->priors[i];
    return prior->along > 0 && prior->across > 0 && prior->along <= SURE * s->stature && prior->across <= SURE * s->stature;
}

static bool may_be_swapped(const swapper *s, int a, int b)
{
    const poise_placement *p = s->problem->track->placements;
    return is_sure(s, a) && is_sure(s, b) && s->goals[a].weight > 0 && s->goals[b].weight > 0 &&
           (p[a].body == p[b].body || pz_labels_mirror(p[a].label, p[b].label));
}

// Goals of a frame at places of the table; markers that were not seen have no weight.
static void take_frame(swapper *s, int frame)
{
    const poise_track_problem *track = s->problem->track;
    const poise_markers *m = track->markers;
    double noise = PZ_NOISE_SHARE * s->stature;
    for (int i = 0; i < track->placement_count; ++i) {
        const poise_place_prior *prior = &s->problem->priors[i];
        int marker = track->placements[i].label ? poise_markers_find(m, track->placements[i].label) : POISE_NONE;
        bool counts = marker >= 0 && poise_markers_seen(m, frame, marker) && prior->along > 0 && prior->across > 0;
        double variance = (prior->along * prior->along + 2.0 * prior->across * prior->across) / 3.0 + noise * noise;
        s->target[i] = counts ? m->position[(size_t)frame * (size_t)m->count + (size_t)marker] : v3(0, 0, 0);
        vec3 place = counts ? v3_scale(prior->place, s->size) : v3(0, 0, 0);
        s->goals[i] = poise_goal_position(track->placements[i].body, place, s->target[i]);
        s->goals[i].weight = counts ? 1.0 / variance : 0.0;
    }
    s->goals[track->placement_count] = poise_goal_posture(s->neutral, 1.0);
    s->goals[track->placement_count].q_weights = s->weights;
}

// The least J of two starts: the pose that was tracked, and the neutral one where its root is.
static poise_status least_cost(swapper *s, int frame, double *least)
{
    const poise_clip *clip = s->problem->clip;
    const double *tracked = clip->q + (size_t)frame * (size_t)clip->nq;
    *least = INFINITY;
    for (int start = 0; start < 2; ++start) {
        poise_report report;
        memcpy(s->q, start == 0 ? tracked : s->neutral, (size_t)clip->nq * sizeof *s->q);
        for (int k = 0; k < poise_model_info(s->model).joints; ++k) {
            poise_joint_info info = poise_model_joint_info(s->model, k);
            if (info.parent == POISE_WORLD) {
                memcpy(s->q + info.q, tracked + info.q, (size_t)info.nq * sizeof *s->q);
            }
        }
        poise_status status =
            poise_solve(s->solver, s->goals, s->problem->track->placement_count + 1, s->q, &report, s->error);
        if (status != POISE_OK) {
            return status;
        }
        *least = min2(*least, 2.0 * report.cost);
    }
    return POISE_OK;
}

static void exchange(swapper *s, int a, int b)
{
    vec3 kept = s->goals[a].target.position;
    s->goals[a].target.position = s->goals[b].target.position;
    s->goals[b].target.position = kept;
}

// What J falls by in a frame, for each pair that may be swapped, into `pairs`; those of the first frame make the list.
static poise_status look_at(swapper *s, int frame, bool is_first, swap *pairs, int *count)
{
    int n = s->problem->track->placement_count;
    take_frame(s, frame);
    double before, after;
    poise_status status = least_cost(s, frame, &before);
    for (int a = 0; a < n && is_first; ++a) {
        for (int b = a + 1; b < n && *count < MOST; ++b) {
            if (may_be_swapped(s, a, b)) {
                pairs[(*count)++] = (swap){a, b, 0.0};
            }
        }
    }
    for (int i = 0; i < *count && status == POISE_OK; ++i) {
        exchange(s, pairs[i].a, pairs[i].b);
        status = least_cost(s, frame, &after);
        pairs[i].gain += (before - after) / FRAMES;
        exchange(s, pairs[i].a, pairs[i].b);
    }
    return status;
}

// The largest gain of each marker.
static void weigh(const swapper *s, const swap *pairs, int count, pz_findings *found)
{
    const poise_placement *p = s->problem->track->placements;
    for (int i = 0; i < count; ++i) {
        bool is_best = pairs[i].gain > 0.0;
        for (int k = 0; k < count && is_best; ++k) {
            bool shares =
                pairs[k].a == pairs[i].a || pairs[k].a == pairs[i].b || pairs[k].b == pairs[i].a || pairs[k].b == pairs[i].b;
            is_best = k == i || !shares || pairs[k].gain <= pairs[i].gain;
        }
        if (is_best) {
            pz_weigh_two(found, POISE_FINDING_SWAPPED, p[pairs[i].a].label, p[pairs[i].b].label, pairs[i].gain);
        }
    }
}

static poise_status look(swapper *s, pz_findings *found)
{
    swap pairs[MOST];
    int count = 0, frames = s->problem->clip->frames;
    poise_status status = POISE_OK;
    for (int i = 0; i < FRAMES && status == POISE_OK; ++i) {
        status = look_at(s, (int)((2 * i + 1) * (int64_t)frames / (2 * FRAMES)), i == 0, pairs, &count);
    }
    if (status == POISE_OK) {
        weigh(s, pairs, count, found);
    }
    return status;
}

poise_status pz_weigh_swaps(const poise_verdict_problem *problem, const poise_allocator *allocator, pz_findings *found,
                            poise_error *error)
{
    const poise_model *model = problem->track->model;
    size_t n = (size_t)problem->track->placement_count + 1, nq = (size_t)poise_model_info(model).nq,
           nv = (size_t)poise_model_info(model).nv;
    swapper s = {
        .problem = problem, .model = model, .size = problem->calibration ? problem->calibration->size : 1.0, .error = error};
    poise_solver_options options = poise_solver_options_default();
    options.max_iterations = 60;
    s.goals = pz_allocate(allocator, n * sizeof *s.goals);
    s.target = pz_allocate(allocator, n * sizeof *s.target);
    s.q = pz_allocate(allocator, (2 * nq + nv + 1) * sizeof *s.q);
    poise_status status = s.goals && s.target && s.q && pz_skeleton_size(model, allocator, &s.stature) == POISE_OK
                              ? poise_solver_create(model, &options, allocator, &s.solver, error)
                              : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    if (status == POISE_OK) {
        s.neutral = s.q + nq;
        s.weights = s.neutral + nq;
        poise_model_neutral(model, s.neutral);
        status = poise_posture_weights(model, 1.0, s.weights, error);
    }
    if (status == POISE_OK && s.size > 0.0 && problem->clip->frames > 0) {
        status = look(&s, found);
    }
    poise_solver_destroy(s.solver);
    pz_release(allocator, s.q);
    pz_release(allocator, s.target);
    pz_release(allocator, s.goals);
    return status;
}
