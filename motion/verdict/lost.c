// Limbs that follow their markers no longer: a few markers that are ignored for a moment are noise; half of the markers on a
// body, with another one on it or next to it, for a while, are a limb that went elsewhere.
#include "motion/verdict/lost.h"

#include "base/arena.h"
#include "base/error.h"
#include "num/real.h"

#define LEAST 2 // ignored markers on a body and those next to it

typedef struct losing {
    const poise_verdict_problem *problem;
    const double *distances; // frames x placements
    int *next_to;            // by placement: the nearest body above its own that carries a marker, or POISE_NONE
} losing;

// What is ignored around a body in one frame.
typedef struct around {
    int seen, gone;  // on the body
    int near;        // gone on it and on bodies next to it
    double farthest; // of those gone on it
} around;

static bool carries(const losing *l, int body)
{
    const poise_track_problem *track = l->problem->track;
    for (int i = 0; i < track->placement_count; ++i) {
        if (track->placements[i].body == body && track->placements[i].weight > 0) {
            return true;
        }
    }
    return false;
}

static int carrier_above(const losing *l, int body)
{
    const poise_model *model = l->problem->track->model;
    do {
        body = poise_model_joint_info(model, body).parent;
    } while (body >= 0 && !carries(l, body));
    return body;
}

static around look_around(const losing *l, int frame, int body, int above)
{
    const poise_track_problem *track = l->problem->track;
    const double *row = l->distances + (size_t)frame * (size_t)track->placement_count;
    around a = {.seen = 0};
    for (int i = 0; i < track->placement_count; ++i) {
        const poise_placement *p = &track->placements[i];
        if (!(p->weight > 0) || row[i] != row[i]) {
            continue;
        }
        bool is_gone = poise_track_lets_go(&l->problem->frames[frame], row[i]), is_on = p->body == body;
        a.seen += is_on;
        a.gone += is_on && is_gone;
        a.near += is_gone && (is_on || p->body == above || l->next_to[i] == body);
        a.farthest = is_on && is_gone ? max2(a.farthest, row[i]) : a.farthest;
    }
    return a;
}

static void weigh_body(const losing *l, int body, double stature, pz_findings *found)
{
    const poise_verdict_problem *p = l->problem;
    poise_finding worst = {.kind = POISE_FINDING_LOST, .name = poise_model_joint_info(p->track->model, body).body};
    int above = carrier_above(l, body), run = 0;
    double farthest = 0.0;
    for (int f = 0; f < p->clip->frames; ++f) {
        bool is_held = p->frames[f].flags & POISE_TRACK_HELD;
        around a = p->frames[f].let_go > 0 && !is_held ? look_around(l, f, body, above) : (around){.seen = 0};
        bool is_lost = a.gone > 0 && 2 * a.gone >= a.seen && a.near >= LEAST;
        run = is_lost ? run + 1 : 0;
        farthest = is_lost ? max2(farthest, a.farthest) : 0.0;
        if (run * p->clip->frame_time > worst.value) {
            worst.value = run * p->clip->frame_time;
            worst.first = f - run + 1;
            worst.last = f;
            worst.distance = farthest / stature;
        }
    }
    poise_verdict_weigh(found->thresholds, worst, false, &found->verdict, found->list, found->capacity);
}

poise_status pz_weigh_lost(const poise_verdict_problem *problem, const double *distances, double stature,
                           const poise_allocator *allocator, pz_findings *found, poise_error *error)
{
    const poise_track_problem *track = problem->track;
    losing l = {.problem = problem, .distances = distances};
    if (!problem->frames) {
        return POISE_OK;
    }
    l.next_to = pz_allocate(allocator, ((size_t)track->placement_count + 1) * sizeof *l.next_to);
    if (!l.next_to) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    for (int i = 0; i < track->placement_count; ++i) {
        l.next_to[i] = carrier_above(&l, track->placements[i].body);
    }
    for (int k = 0; k < poise_model_info(track->model).joints; ++k) {
        if (carries(&l, k)) {
            weigh_body(&l, k, stature, found);
        }
    }
    pz_release(allocator, l.next_to);
    return POISE_OK;
}
