// Markers that trade names within a take, as the two of a wrist do when a labelling program confuses them: from one frame to
// the next each leaps to where the other was. No motion of a body does that. Both may have been out of sight for a moment.
//
// Markers that tracking ignores, before or after, do no harm and do not count.
//
// Of markers on one limb the motion of both together is taken off first, by which a fast hand would hide the trade. Hands
// that cross do change places, so markers on different limbs must meet the places themselves.
#include "motion/verdict/traded.h"

#include "base/arena.h"
#include "base/error.h"
#include "math/vec3.h"

#define LEAP  0.02 // of the stature: what both move by at least
#define NEAR  0.25 // of that: how near each comes to where the other was
#define SHORT 0.1  // seconds: a longer gap tells nothing

typedef struct sight {
    int marker; // or POISE_NONE
    int body;
    int frame;  // in which it was seen last, before the current one; -1: never
    vec3 there; // where
    vec3 now;   // in the current frame, if it is
    bool is_seen;
} sight;

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

// Were both ignored in the frames in which they were seen last, or are they now?
static bool are_ignored(const poise_verdict_problem *problem, const double *distances, int a, int b, const sight *sights,
                        int now)
{
    int at[2][2] = {{sights[a].frame, sights[b].frame}, {now, now}}, both[2] = {a, b};
    bool is_any = false;
    for (int i = 0; i < 2 && problem->frames; ++i) {
        bool are_both = true;
        for (int k = 0; k < 2; ++k) {
            double d = distances[(size_t)at[i][k] * (size_t)problem->track->placement_count + (size_t)both[k]];
            are_both = are_both && poise_track_lets_go(&problem->frames[at[i][k]], d);
        }
        is_any = is_any || are_both;
    }
    return is_any;
}

// The current frame of all markers.
static void look(const poise_markers *m, int frame, int count, sight *sights)
{
    for (int i = 0; i < count; ++i) {
        sight *s = &sights[i];
        if (s->is_seen) {
            s->there = s->now;
            s->frame = frame - 1;
        }
        s->is_seen = s->marker >= 0 && poise_markers_seen(m, frame, s->marker);
        s->now = s->is_seen ? m->position[(size_t)frame * (size_t)m->count + (size_t)s->marker] : s->now;
    }
}

static void count_trades(const poise_verdict_problem *problem, const double *distances, double leap, sight *sights,
                         poise_finding *pairs)
{
    const poise_track_problem *track = problem->track;
    int count = track->placement_count, most = (int)(SHORT * track->markers->rate) + 1;
    for (int f = 0; f < track->markers->frames; ++f) {
        look(track->markers, f, count, sights);
        for (int i = 0, pair = 0; i < count; ++i) {
            const sight *a = &sights[i];
            bool is_recent = a->is_seen && a->frame >= 0 && f - a->frame <= most;
            for (int k = 0; k < i; ++k, ++pair) {
                const sight *b = &sights[k];
                if (is_recent && b->is_seen && b->frame >= 0 && f - b->frame <= most && trades(track->model, a, b, leap) &&
                    !are_ignored(problem, distances, i, k, sights, f)) {
                    poise_finding *p = &pairs[pair];
                    p->first = p->value > 0 ? p->first : f;
                    p->value += 1;
                }
            }
        }
    }
}

poise_status pz_weigh_traded(const poise_verdict_problem *problem, const double *distances, double stature,
                             const poise_allocator *allocator, pz_findings *found, poise_error *error)
{
    const poise_track_problem *track = problem->track;
    size_t count = (size_t)track->placement_count;
    sight *sights = pz_allocate(allocator, (count + 1) * sizeof *sights);
    poise_finding *pairs = pz_allocate(allocator, (count * count / 2 + 1) * sizeof *pairs);
    if (!sights || !pairs) {
        pz_release(allocator, pairs);
        pz_release(allocator, sights);
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    for (size_t i = 0, pair = 0; i < count; ++i) {
        const char *label = track->placements[i].label;
        sights[i] = (sight){.marker = label ? poise_markers_find(track->markers, label) : POISE_NONE,
                            .body = track->placements[i].body,
                            .frame = -1};
        for (size_t k = 0; k < i; ++k) {
            pairs[pair++] = (poise_finding){
                .kind = POISE_FINDING_TRADED, .name = track->placements[k].label, .other = track->placements[i].label};
        }
    }
    count_trades(problem, distances, LEAP * stature, sights, pairs);
    for (size_t pair = 0; pair < count * (count - (count > 0)) / 2; ++pair) {
        poise_verdict_weigh(found->thresholds, pairs[pair], false, &found->verdict, found->list, found->capacity);
    }
    pz_release(allocator, pairs);
    pz_release(allocator, sights);
    return POISE_OK;
}
