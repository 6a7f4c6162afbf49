// Markers without a place that lie where the skeleton is not. An unknown label is left out, and what the others say may have
// an arm folded where it was stretched, without missing one of them. Where the marker was, it tells: it goes with its
// neighbour,
//
//   d(f) = |x_k(f) - x_i(f)|      mean(d) below NEAR, deviation(d) below STIFF
//
// and is then on the body, or held in a hand, and cannot be far from all bones. Names that the table knows
// do not count, since skeletons without arms leave those of arms out, nor do points that Plug-in Gait computes.
#include "motion/verdict/astray.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/letters.h"
#include "math/scalar.h"
#include "math/vec3.h"
#include "motion/marker_table.h"

#include <math.h>

#define LOOKS 40    // frames examined
#define NEAR  0.2   // of the stature: how far a neighbour may be
#define STIFF 0.012 // of the stature: what its distance may deviate by

typedef struct stray {
    const poise_verdict_problem *problem;
    int every;   // examined frame
    double *far; // by marker: sum of distances from the nearest bone
    int *seen;   // by marker: frames in which it was; POISE_NONE: its name is known, or it is no marker
    int *placed; // by placement: its marker, or POISE_NONE
    int head;    // body, or POISE_NONE
    double near, stiff;
} stray;

static bool is_seen(const poise_markers *m, int frame, int marker)
{
    vec3 x = m->position[(size_t)frame * (size_t)m->count + (size_t)marker];
    return is_finite(x.x) && is_finite(x.y) && is_finite(x.z);
}

// From a point to the nearest of all bones.
static double distance_to_bones(const poise_kinematics *kin, const poise_model *model, vec3 x)
{
    double least = INFINITY;
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        int parent = poise_model_joint_info(model, k).parent;
        vec3 end = poise_kinematics_body_pose(kin, k).position;
        vec3 begin = parent == POISE_WORLD ? end : poise_kinematics_body_pose(kin, parent).position;
        vec3 bone = v3_sub(end, begin), to = v3_sub(x, begin);
        double square = v3_dot(bone, bone), t = square > 0 ? min2(max2(v3_dot(to, bone) / square, 0.0), 1.0) : 0.0;
        least = min2(least, v3_norm(v3_sub(to, v3_scale(bone, t))));
    }
    return least;
}

// Does the marker keep its distance from the one of a placement?
static bool goes_with(const stray *s, int marker, int neighbour)
{
    const poise_markers *m = s->problem->track->markers;
    double sum = 0.0, squares = 0.0;
    int count = 0;
    for (int f = 0; f < m->frames; f += s->every) {
        if (is_seen(m, f, marker) && is_seen(m, f, neighbour)) {
            const vec3 *x = m->position + (size_t)f * (size_t)m->count;
            double d = v3_norm(v3_sub(x[marker], x[neighbour]));
            sum += d;
            squares += d * d;
            count += 1;
        }
    }
    double mean = count > 0 ? sum / count : INFINITY;
    return 2 * count >= s->seen[marker] && mean <= s->near && squares / count - mean * mean <= s->stiff * s->stiff;
}

// Which markers are examined.
static void choose(stray *s)
{
    const poise_track_problem *track = s->problem->track;
    pz_marker_table table = {.model = track->model, .markers = track->markers};
    for (int k = 0; k < track->markers->count; ++k) {
        s->far[k] = 0.0;
        const char *label = track->markers->label[k];
        pz_marker_row row;
        bool has_name = is_upper(*label) || is_lower(*label); // "*12" has none
        bool is_known =
            !has_name || pz_label_is_computed(track->markers, label) || pz_marker_table_find(&table, label, &row);
        s->seen[k] = is_known ? POISE_NONE : 0;
    }
    for (int i = 0; i < track->placement_count; ++i) {
        const char *label = track->placements[i].label;
        s->placed[i] = label ? poise_markers_find(track->markers, label) : POISE_NONE;
        if (s->placed[i] >= 0) {
            s->seen[s->placed[i]] = POISE_NONE;
        }
    }
}

// Sum up over frames how far markers without a place are from the bones.
static poise_status measure(stray *s, const poise_allocator *allocator, poise_error *error)
{
    const poise_markers *m = s->problem->track->markers;
    const poise_clip *clip = s->problem->clip;
    poise_kinematics *kin;
    poise_status status = poise_kinematics_create(s->problem->track->model, allocator, &kin, error);
    for (int f = 0; f < clip->frames && status == POISE_OK; f += s->every) {
        bool counts = !s->problem->frames || s->problem->frames[f].flags == 0;
        if (!counts || poise_kinematics_update(kin, clip->q + (size_t)f * (size_t)clip->nq, NULL) != POISE_OK) {
            continue;
        }
        for (int k = 0; k < m->count; ++k) {
            if (s->seen[k] != POISE_NONE && is_seen(m, f, k)) {
                vec3 x = m->position[(size_t)f * (size_t)m->count + (size_t)k];
                s->far[k] += distance_to_bones(kin, s->problem->track->model, x);
                s->seen[k] += 1;
            }
        }
    }
    poise_kinematics_destroy(status == POISE_OK ? kin : NULL);
    return status;
}

static void weigh(const stray *s, double stature, pz_findings *found)
{
    const poise_track_problem *track = s->problem->track;
    int looks = (s->problem->clip->frames + s->every - 1) / s->every;
    for (int k = 0; k < track->markers->count; ++k) {
        for (int i = 0; i < track->placement_count && 2 * s->seen[k] >= looks && s->seen[k] > 0; ++i) {
            bool is_head = track->placements[i].body == s->head; // whose bone has no end to be far from
            if (s->placed[i] >= 0 && !is_head && goes_with(s, k, s->placed[i])) {
                pz_weigh_two(found, POISE_FINDING_ASTRAY, track->markers->label[k], track->placements[i].label,
                             s->far[k] / s->seen[k] / stature);
                break;
            }
        }
    }
}

poise_status pz_weigh_astray(const poise_verdict_problem *problem, double stature, int head,
                             const poise_allocator *allocator, pz_findings *found, poise_error *error)
{
    const poise_track_problem *track = problem->track;
    size_t count = (size_t)track->markers->count + 1, placements = (size_t)track->placement_count + 1;
    stray s = {.problem = problem,
               .every = problem->clip->frames / LOOKS + 1,
               .far = pz_allocate(allocator, count * sizeof *s.far),
               .seen = pz_allocate(allocator, count * sizeof *s.seen),
               .placed = pz_allocate(allocator, placements * sizeof *s.placed),
               .head = head,
               .near = NEAR * stature,
               .stiff = STIFF * stature};
    poise_status status = s.far && s.seen && s.placed ? POISE_OK : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    if (status == POISE_OK) {
        choose(&s);
        status = measure(&s, allocator, error);
    }
    if (status == POISE_OK) {
        weigh(&s, stature, found);
    }
    pz_release(allocator, s.placed);
    pz_release(allocator, s.seen);
    pz_release(allocator, s.far);
    return status;
}
