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
#include "base/text.h"
#include "motion/marker_table.h"
#include "num/real.h"
#include "num/vector.h"

#include <math.h>

#define LOOKS 40    // frames examined
#define NEAR  0.2   // of the stature: how far a neighbour may be
#define STIFF 0.012 // of the stature: what its distance may deviate by
#define OFTEN 0.9   // of the frames: a marker that is there for good
#define WITH  0.05  // of the stature: what a marker may wander by on a body that it moves with
#define ALIKE 0.004 // of the stature: wandering that tells no body from another

typedef struct stray {
    const poise_verdict_problem *problem;
    int every;   // examined frame
    int looks;   // frames examined, and not held
    double *far; // by marker: sum of distances from the nearest bone
    int *seen;   // by marker: frames in which it was; POISE_NONE: its name is known, or it is no marker
    int *there;  // by marker: of the looks, those in which it was
    double *sum; // by marker and body, and the room: of x, y, z in its frame, and of their squares
    int *placed; // by placement: its marker, or POISE_NONE
    int head;    // body, or POISE_NONE
    double near, stiff;
} stray;

static bool is_seen(const poise_markers *m, int frame, int marker)
{
    vec3 x = m->position[(size_t)frame * (size_t)m->count + (size_t)marker];
    return is_finite(x.x) && is_finite(x.y) && is_finite(x.z);
}

static double distance_to_bone(vec3 begin, vec3 end, vec3 x)
{
    vec3 bone = v3_sub(end, begin), to = v3_sub(x, begin);
    double square = v3_dot(bone, bone), t = square > 0 ? min2(max2(v3_dot(to, bone) / square, 0.0), 1.0) : 0.0;
    return v3_norm(v3_sub(to, v3_scale(bone, t)));
}

// From a point to the nearest of all bones.
static double distance_to_bones(const poise_kinematics *kin, const poise_model *model, vec3 x)
{
    double least = INFINITY;
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        int parent = poise_model_joint_info(model, k).parent;
        vec3 end = poise_kinematics_body_pose(kin, k).position;
        vec3 begin = parent == POISE_WORLD ? end : poise_kinematics_body_pose(kin, parent).position;
        least = min2(least, distance_to_bone(begin, end, x));
    }
    return least;
}

// The same of the bones of one body, in its frame: they lead to the bodies that hang from it.
static double distance_to_body(const poise_model *model, int body, vec3 x)
{
    double least = v3_norm(x);
    for (int k = body + 1; k < poise_model_info(model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(model, k);
        if (joint.parent == body) {
            least = min2(least, distance_to_bone(v3(0, 0, 0), joint.given->offset.position, x));
        }
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

enum { SUMS = 4 }; // by marker and body

// Sum up where a marker is on each body.
static void add_places(const stray *s, const poise_kinematics *kin, int marker, vec3 x)
{
    int joints = poise_model_info(s->problem->track->model).joints;
    double *sum = s->sum + SUMS * (size_t)marker * ((size_t)joints + 1);
    for (int b = 0; b <= joints; ++b, sum += SUMS) {
        vec3 p = b < joints ? poise_pose_transform(poise_pose_inverse(poise_kinematics_body_pose(kin, b)), x) : x;
        sum[0] += p.x;
        sum[1] += p.y;
        sum[2] += p.z;
        sum[3] += v3_dot(p, p);
    }
}

// Where on a body the marker is, and by how much it wanders there.
static vec3 place_on(const stray *s, int marker, int body, double *wander)
{
    size_t joints = (size_t)poise_model_info(s->problem->track->model).joints;
    const double *sum = s->sum + SUMS * ((size_t)marker * (joints + 1) + (size_t)body);
    double n = s->there[marker];
    vec3 mean = v3(sum[0] / n, sum[1] / n, sum[2] / n);
    *wander = sqrt(max2(sum[3] / n - v3_dot(mean, mean), 0.0));
    return mean;
}

// Is there a marker on the body, or beyond it?
static bool carries_marker(const stray *s, int body)
{
    const poise_track_problem *track = s->problem->track;
    int end = body + poise_model_joint_info(track->model, body).subtree;
    for (int i = 0; i < track->placement_count; ++i) {
        const poise_placement *p = &track->placements[i];
        if (s->placed[i] >= 0 && p->weight > 0 && p->body >= body && p->body < end) {
            return true;
        }
    }
    return false;
}

// The body that the marker moves with, and by how much it wanders at least.
static int carrier_of(const stray *s, int marker, double alike, double *least)
{
    const poise_model *model = s->problem->track->model;
    int joints = poise_model_info(model).joints, best = POISE_NONE;
    double nearest = INFINITY, wander;
    *least = INFINITY;
    for (int b = 0; b < joints; ++b) {
        place_on(s, marker, b, &wander);
        *least = carries_marker(s, b) ? min2(*least, wander) : *least;
    }
    for (int b = 0; b < joints; ++b) {
        double far = distance_to_body(model, b, place_on(s, marker, b, &wander));
        if (wander <= *least + alike && far < nearest && carries_marker(s, b)) {
            nearest = far;
            best = b;
        }
    }
    return best;
}

// "*12" has none, nor has "x52": a letter and a number are what programs call what nobody named.
static bool has_name(const char *label)
{
    bool has_letters = false;
    for (const char *c = label + 1; *label && *c; ++c) {
        has_letters = has_letters || is_upper(*c) || is_lower(*c);
    }
    return has_letters && (is_upper(*label) || is_lower(*label));
}

// Which markers are examined.
static void choose(stray *s)
{
    const poise_track_problem *track = s->problem->track;
    pz_marker_table table = {.model = track->model, .markers = track->markers};
    for (int k = 0; k < track->markers->count; ++k) {
        s->far[k] = 0.0;
        s->there[k] = 0;
        const char *label = track->markers->label[k];
        pz_marker_row row;
        bool is_known = pz_label_is_computed(track->markers, label) || pz_marker_table_find(&table, label, &row);
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
        int flags = s->problem->frames ? (int)s->problem->frames[f].flags : 0;
        if ((flags & POISE_TRACK_HELD) ||
            poise_kinematics_update(kin, clip->q + (size_t)f * (size_t)clip->nq, NULL) != POISE_OK) {
            continue;
        }
        s->looks += 1;
        for (int k = 0; k < m->count; ++k) {
            if (s->seen[k] != POISE_NONE && is_seen(m, f, k)) {
                vec3 x = m->position[(size_t)f * (size_t)m->count + (size_t)k];
                add_places(s, kin, k, x);
                s->there[k] += 1;
                s->far[k] += flags == 0 ? distance_to_bones(kin, s->problem->track->model, x) : 0.0;
                s->seen[k] += flags == 0;
            }
        }
    }
    poise_kinematics_destroy(status == POISE_OK ? kin : NULL);
    return status;
}

// Name the body that an unknown marker moves with.
static void weigh_place(const stray *s, int marker, double stature, const char **left, pz_findings *found)
{
    const poise_track_problem *track = s->problem->track;
    const char *label = track->markers->label[marker];
    double wander;
    bool is_often = s->seen[marker] != POISE_NONE && s->there[marker] > OFTEN * s->looks;
    int body = is_often ? carrier_of(s, marker, ALIKE * stature, &wander) : POISE_NONE;
    double in_room = INFINITY;
    if (body >= 0) {
        place_on(s, marker, poise_model_info(track->model).joints, &in_room);
    }
    if (body >= 0 && wander <= WITH * stature && wander < in_room + ALIKE * stature) { // else it stands in the room
        poise_finding f = {.kind = POISE_FINDING_UNPLACED,
                           .name = label,
                           .other = poise_model_joint_info(track->model, body).body,
                           .value = wander / stature};
        poise_verdict_weigh(found->thresholds, f, true, &found->verdict, found->list, found->capacity);
        left[body] = has_name(label) ? label : left[body];
    }
}

static void weigh(const stray *s, double stature, const char **left, pz_findings *found)
{
    const poise_track_problem *track = s->problem->track;
    int looks = (s->problem->clip->frames + s->every - 1) / s->every;
    for (int k = 0; k < track->markers->count; ++k) {
        weigh_place(s, k, stature, left, found);
        for (int i = 0; i < track->placement_count && 2 * s->seen[k] >= looks && s->seen[k] > 0; ++i) {
            bool is_head = track->placements[i].body == s->head; // whose bone has no end to be far from
            if (has_name(track->markers->label[k]) && s->placed[i] >= 0 && !is_head && goes_with(s, k, s->placed[i])) {
                pz_weigh_two(found, POISE_FINDING_ASTRAY, track->markers->label[k], track->placements[i].label,
                             s->far[k] / s->seen[k] / stature);
                break;
            }
        }
    }
}

poise_status pz_weigh_astray(const poise_verdict_problem *problem, double stature, int head, const char **left,
                             const poise_allocator *allocator, pz_findings *found, poise_error *error)
{
    const poise_track_problem *track = problem->track;
    size_t joints = (size_t)poise_model_info(track->model).joints;
    size_t count = (size_t)track->markers->count + 1, placements = (size_t)track->placement_count + 1;
    stray s = {.problem = problem,
               .every = problem->clip->frames / LOOKS + 1,
               .far = pz_allocate(allocator, count * sizeof *s.far),
               .seen = pz_allocate(allocator, count * sizeof *s.seen),
               .there = pz_allocate(allocator, count * sizeof *s.there),
               .sum = pz_allocate(allocator, SUMS * count * (joints + 1) * sizeof *s.sum),
               .placed = pz_allocate(allocator, placements * sizeof *s.placed),
               .head = head,
               .near = NEAR * stature,
               .stiff = STIFF * stature};
    poise_status status = s.far && s.seen && s.there && s.sum && s.placed
                              ? POISE_OK
                              : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    for (size_t i = 0; i < SUMS * count * (joints + 1) && status == POISE_OK; ++i) {
        s.sum[i] = 0.0;
    }
    if (status == POISE_OK) {
        choose(&s);
        status = measure(&s, allocator, error);
    }
    if (status == POISE_OK) {
        weigh(&s, stature, left, found);
    }
    pz_release(allocator, s.placed);
    pz_release(allocator, s.sum);
    pz_release(allocator, s.there);
    pz_release(allocator, s.seen);
    pz_release(allocator, s.far);
    return status;
}
