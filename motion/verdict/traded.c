// Markers that trade names within a take, as the two of a wrist do when a labelling program confuses them: from one frame to
// the next each leaps to where the other was. No motion of a body does that. Both may have been out of sight for a moment.
//
// Markers that tracking ignores while they are swapped do no harm and do not count.
//
// Of markers on one limb the motion of both together is taken off first, by which a fast hand would hide the trade. Hands
// that cross do change places, so markers on different limbs must meet the places themselves.
#include "motion/verdict/traded.h"

#include "base/arena.h"
#include "base/error.h"
#include "num/vector.h"

#include <string.h>

#define LEAP  0.02 // of the stature: what both move by at least
#define NEAR  0.25 // of that: how near each comes to where the other was
#define SHORT 0.1  // seconds: a longer gap tells nothing
#define HARM  0.25 // of the frames with swapped names: if they are followed in more, it does harm

typedef struct sight {
    int marker; // or POISE_NONE
    int body;
    int frame;  // in which it was seen last, before the current one; -1: never
    vec3 there; // where
    vec3 now;   // in the current frame, if it is
    bool is_seen, is_followed;
} sight;

// What is known of a pair.
typedef struct pair {
    int trades, first;     // how many, and the frame of the first
    int swapped, followed; // frames with swapped names, and those of them in which one is followed
} pair;

// Is one body the other, or not more than two joints beyond it?
static bool is_one_limb(const poise_model *model, int a, int b)
{
    int low = a > b ? a : b, high = a > b ? b : a;
    for (int i = 0; i < 2 && low > high; ++i) {
        low = poise_model_joint_info(model, low).parent;
    }
    return low == high;
}

static bool trades(const poise_model *model, const sight *a, const sight *b, double leap)
{
    vec3 from_a = v3_sub(a->now, a->there), from_b = v3_sub(b->now, b->there);
    vec3 both = v3_scale(v3_add(from_a, from_b), is_one_limb(model, a->body, b->body) ? 0.5 : 0.0);
    double moved = min2(v3_norm(v3_sub(from_a, both)), v3_norm(v3_sub(from_b, both)));
    double off = max2(v3_norm(v3_sub(v3_sub(a->now, both), b->there)), v3_norm(v3_sub(v3_sub(b->now, both), a->there)));
    return moved > leap && off < NEAR * moved && v3_norm(both) < moved;
}

// The current frame of all markers.
static void look(const poise_verdict_problem *problem, const double *distances, int frame, sight *sights)
{
    const poise_markers *m = problem->track->markers;
    int count = problem->track->placement_count;
    const double *row = distances + (size_t)frame * (size_t)count;
    for (int i = 0; i < count; ++i) {
        sight *s = &sights[i];
        if (s->is_seen) {
            s->there = s->now;
            s->frame = frame - 1;
        }
        s->is_seen = s->marker >= 0 && poise_markers_seen(m, frame, s->marker);
        s->is_followed = s->is_seen && !(problem->frames && poise_track_lets_go(&problem->frames[frame], row[i]));
        s->now = s->is_seen ? m->position[(size_t)frame * (size_t)m->count + (size_t)s->marker] : s->now;
    }
}

static void count_trades(const poise_verdict_problem *problem, const double *distances, double leap, sight *sights,
                         pair *pairs)
{
    const poise_track_problem *track = problem->track;
    int most = (int)(SHORT * track->markers->rate) + 1;
    for (int f = 0; f < track->markers->frames; ++f) {
        look(problem, distances, f, sights);
        pair *p = pairs;
        for (int i = 0; i < track->placement_count; ++i) {
            const sight *a = &sights[i];
            bool is_recent = a->is_seen && a->frame >= 0 && f - a->frame <= most;
            for (int k = 0; k < i; ++k, ++p) {
                const sight *b = &sights[k];
                bool are_recent = is_recent && b->is_seen && b->frame >= 0 && f - b->frame <= most;
                if (are_recent && trades(track->model, a, b, leap)) {
                    p->first = p->trades > 0 ? p->first : f;
                    p->trades += 1;
                }
                p->swapped += p->trades % 2;
                p->followed += p->trades % 2 == 1 && (a->is_followed || b->is_followed);
            }
        }
    }
}

static void weigh(const poise_track_problem *track, const pair *p, pz_findings *found)
{
    for (int i = 0; i < track->placement_count; ++i) {
        for (int k = 0; k < i; ++k, ++p) {
            poise_finding f = {.kind = POISE_FINDING_TRADED,
                               .name = track->placements[k].label,
                               .other = track->placements[i].label,
                               .value = p->followed > HARM * p->swapped ? p->trades : 0.0,
                               .first = p->first};
            poise_verdict_weigh(found->thresholds, f, false, &found->verdict, found->list, found->capacity);
        }
    }
}

poise_status pz_weigh_traded(const poise_verdict_problem *problem, const double *distances, double stature,
                             const poise_allocator *allocator, pz_findings *found, poise_error *error)
{
    const poise_track_problem *track = problem->track;
    size_t count = (size_t)track->placement_count;
    sight *sights = pz_allocate(allocator, (count + 1) * sizeof *sights);
    size_t bytes = (count * count / 2 + 1) * sizeof(pair);
    pair *pairs = pz_allocate(allocator, bytes);
    poise_status status = sights && pairs ? POISE_OK : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    if (status == POISE_OK) {
        for (size_t i = 0; i < count; ++i) {
            const char *label = track->placements[i].label;
            int marker = label ? poise_markers_find(track->markers, label) : POISE_NONE;
            sights[i] = (sight){.marker = marker, .body = track->placements[i].body, .frame = -1};
        }
        memset(pairs, 0, bytes);
        count_trades(problem, distances, LEAP * stature, sights, pairs);
        weigh(track, pairs, found);
    }
    pz_release(allocator, pairs);
    pz_release(allocator, sights);
    return status;
}
