// Limbs that no marker sees for a while: tracking leads them from where they were to where they are found again, and what
// they did in between nobody knows. In half a second an arm or a leg swings from one side to the other, so that a longer gap
// may hide a whole movement; a shorter one is told, and is no fault.
#include "motion/verdict/hidden_limbs.h"

#include "base/arena.h"
#include "base/error.h"

#define TOLD 0.1 // seconds: a longer time is told in any case

typedef struct hiding {
    const poise_verdict_problem *problem;
    const double *distances; // frames x placements
    bool *hidden;            // frames x joints
    int joints, first, end;
} hiding;

// Is a marker beyond the joint seen in a frame, and not ignored?
static bool sees_beyond(const hiding *h, int frame, int joint)
{
    const poise_verdict_problem *p = h->problem;
    const double *row = h->distances + (size_t)frame * (size_t)p->track->placement_count;
    int end = joint + poise_model_joint_info(p->track->model, joint).subtree;
    for (int i = 0; i < p->track->placement_count; ++i) {
        const poise_placement *place = &p->track->placements[i];
        bool is_beyond = place->weight > 0 && place->body >= joint && place->body < end;
        if (is_beyond && row[i] == row[i] && !(p->frames && poise_track_lets_go(&p->frames[frame], row[i]))) {
            return true;
        }
    }
    return false;
}

// Is the joint hidden, and none above it, whose limb it is part of? They come first.
static bool is_topmost(const hiding *h, int frame, int joint)
{
    const bool *row = h->hidden + (size_t)frame * (size_t)h->joints;
    bool is_top = row[joint];
    while (is_top && joint >= 0) {
        joint = poise_model_joint_info(h->problem->track->model, joint).parent;
        is_top = joint < 0 || !row[joint];
    }
    return is_top;
}

// Of a joint whose own pose is open but whose limb is seen, as a clavicle without its marker, nothing is told.
static void leave_out_seen(const hiding *h)
{
    for (int f = h->first; f < h->end; ++f) {
        bool *row = h->hidden + (size_t)f * (size_t)h->joints;
        for (int k = 0; k < h->joints; ++k) {
            row[k] = row[k] && !sees_beyond(h, f, k);
        }
    }
}

static void weigh_joint(const hiding *h, int joint, pz_findings *found)
{
    const poise_verdict_problem *p = h->problem;
    poise_finding longest = {.kind = POISE_FINDING_HIDDEN, .name = poise_model_joint_info(p->track->model, joint).name};
    int run = 0;
    for (int f = h->first; f < h->end; ++f) {
        run = is_topmost(h, f, joint) ? run + 1 : 0;
        if (run * p->clip->frame_time > longest.value) {
            longest.value = run * p->clip->frame_time;
            longest.first = f - run + 1;
            longest.last = f;
        }
    }
    bool is_long = longest.value > TOLD;
    poise_verdict_weigh(found->thresholds, longest, is_long, &found->verdict, found->list, found->capacity);
}

poise_status pz_weigh_hidden(const poise_verdict_problem *problem, const poise_track_summary *summary,
                             const poise_allocator *allocator, pz_findings *found, poise_error *error)
{
    hiding h = {.problem = problem,
                .distances = summary->distances,
                .joints = poise_model_info(problem->track->model).joints,
                .first = summary->before,
                .end = problem->clip->frames - summary->after};
    h.hidden = pz_allocate(allocator, (size_t)problem->clip->frames * (size_t)h.joints + 1);
    if (!h.hidden) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    poise_status status = poise_track_hidden(problem->track, problem->clip, problem->frames, allocator, h.hidden, error);
    if (status == POISE_OK) {
        leave_out_seen(&h);
    }
    for (int k = 0; k < h.joints && status == POISE_OK; ++k) {
        weigh_joint(&h, k, found);
    }
    pz_release(allocator, h.hidden);
    return status;
}
