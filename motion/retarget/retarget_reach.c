// Feet that legs do not reach.
//
// A sole that is held in a place is held firmly: where the hip cannot turn the foot out as far as the actor's, or the leg is
// too short for the step, the hips go elsewhere and the trunk turns. Then the clip is solved with loose feet, which shows
// where the legs do reach; the feet are planted there, and the clip is solved again. Where that is so in few frames, as when
// the actor turns above feet that stay and the robot's hips cannot, feet are released in these.
#include "base/arena.h"
#include "motion/retarget/retarget_work.h"

#include <string.h>

#define FAR_HIPS 0.06 // of the leg: hips that are farther off their path, mean over the frames, say that legs do not reach
#define LET_GO   0.1  // seconds before and after a strained frame, in which no foot is planted

#define NEAR_CONTACT 0.2 // seconds: farther away a contact changes nothing

static bool is_out_of_reach(const pz_retarget_work *w, const poise_retarget_outcome *o)
{
    return w->hips && w->planted && (o->hips_mean > FAR_HIPS * w->to.leg || w->stumbles > 0);
}

// A jump weighs as much as a hip that is off by a hundredth of the leg in every frame, and the frame in which it is farthest
// off as much as ten.
static double badness(const pz_retarget_work *w, const poise_retarget_outcome *o)
{
    double frames = w->ground.frames;
    return (o->hips_mean + 10.0 / (frames + 10.0) * o->hips_worst) / w->to.leg + 0.01 * o->jumps;
}

static poise_status plant_where_reached(pz_retarget_work *w, const poise_allocator *allocator)
{
    poise_vec3 *scratch = pz_allocate(allocator, 2 * (size_t)w->ground.frames * sizeof *scratch + 1);
    for (int side = 0; side < 2 && scratch; ++side) {
        if (w->foot[side].body >= 0) {
            pz_foot_plant(&w->foot[side], &w->ground, scratch);
        }
    }
    pz_release(allocator, scratch);
    return scratch ? POISE_OK : POISE_ERROR_MEMORY;
}

// Where the feet go, planted where the actor's are or, with `loosely`, where legs reach.
static poise_status plan(pz_retarget_work *w, const poise_allocator *allocator, poise_clip *clip, bool loosely,
                         poise_retarget_outcome *loose, poise_error *error)
{
    poise_status status = pz_retarget_paths(w, allocator, !loosely);
    if (status != POISE_OK || !loosely) {
        return status;
    }
    w->loose = true;
    status = pz_retarget_solve(w, allocator, clip, loose, error);
    w->loose = false;
    return status == POISE_OK ? plant_where_reached(w, allocator) : status;
}

// The best so far.
typedef struct best {
    poise_retarget_outcome outcome;
    bool loosely;
    double *q;              // of the clip
    size_t bytes;           // of q
    unsigned char *contact; // of both feet, by frame
    poise_pose *path;       // of both feet, likewise
    bool *strained;         // by frame
} best;

static bool open_best(const poise_clip *clip, const poise_allocator *allocator, best *b)
{
    size_t frames = (size_t)clip->frames;
    b->bytes = frames * (size_t)clip->nq * sizeof *clip->q;
    b->q = pz_allocate(allocator, b->bytes + 1);
    b->contact = pz_allocate(allocator, 2 * frames + 1);
    b->path = pz_allocate(allocator, (2 * frames + 1) * sizeof *b->path);
    b->strained = pz_allocate(allocator, (frames + 1) * sizeof *b->strained);
    return b->q && b->contact && b->path && b->strained;
}

static void close_best(const poise_allocator *allocator, best *b)
{
    pz_release(allocator, b->strained);
    pz_release(allocator, b->path);
    pz_release(allocator, b->contact);
    pz_release(allocator, b->q);
}

static void keep(const pz_retarget_work *w, const poise_clip *clip, best *b)
{
    size_t frames = (size_t)w->ground.frames;
    memcpy(b->q, clip->q, b->bytes);
    for (size_t side = 0; side < 2; ++side) {
        memcpy(b->contact + side * frames, w->foot[side].contact, frames);
        memcpy(b->path + side * frames, w->foot[side].path, frames * sizeof *b->path);
    }
    memcpy(b->strained, w->strained, frames * sizeof *b->strained);
}

static void bring_back(pz_retarget_work *w, poise_clip *clip, const best *b)
{
    size_t frames = (size_t)w->ground.frames;
    memcpy(clip->q, b->q, b->bytes);
    memcpy(w->foot[0].contact, b->contact, frames);
    memcpy(w->foot[1].contact, b->contact + frames, frames);
}

// Frames in which a foot is to go elsewhere than in the best, or near to such a contact.
static void find_changes(pz_retarget_work *w, const best *b)
{
    int frames = w->ground.frames, around = (int)(NEAR_CONTACT / w->ground.frame_time) + 1, until = -1;
    for (int f = 0; f < frames + around; ++f) {
        for (int side = 0; side < 2 && f < frames; ++side) {
            const poise_pose *was = &b->path[side * frames + f], *is = &w->foot[side].path[f];
            bool differs = b->contact[side * frames + f] != w->foot[side].contact[f] || memcmp(was, is, sizeof *is) != 0;
            until = differs ? f + 2 * around : until;
        }
        if (f >= around) {
            w->changed[f - around] = f <= until;
        }
    }
}

// The clip again, planned otherwise; it is kept where it is better. Frames that come out as before are not solved.
static poise_status try_again(pz_retarget_work *w, const poise_allocator *allocator, poise_clip *clip, bool loosely,
                              const poise_retarget_outcome *blank, best *b, poise_error *error)
{
    poise_retarget_outcome loose = *blank, now = *blank;
    poise_status status = plan(w, allocator, clip, loosely, &loose, error);
    find_changes(w, b);
    w->old = loosely ? NULL : b->q; // a loose plan changes them all
    now.late_worst = loosely ? 0.0 : b->outcome.late_worst;
    now.late_joint = loosely ? POISE_NONE : b->outcome.late_joint;
    status = status == POISE_OK ? pz_retarget_solve(w, allocator, clip, &now, error) : status;
    w->old = NULL;
    int iterations = b->outcome.iterations + loose.iterations + now.iterations;
    if (status == POISE_OK && badness(w, &now) < badness(w, &b->outcome)) {
        b->outcome = now;
        b->loosely = loosely;
        keep(w, clip, b);
    }
    b->outcome.iterations = iterations;
    return status;
}

// Let feet go in the frames that are strained, and a little before and after. Returns how many that are.
static int release_strained(pz_retarget_work *w, const bool *strained)
{
    int around = (int)(LET_GO / w->ground.frame_time) + 1, frames = w->ground.frames, count = 0, until = -1;
    for (int f = 0; f < frames + around; ++f) {
        until = f < frames && strained[f] ? f + 2 * around : until;
        if (f >= around) {
            w->ground.released[f - around] = f <= until;
            count += f <= until;
        }
    }
    return count;
}

poise_status pz_retarget_reach(pz_retarget_work *w, const poise_allocator *allocator, poise_clip *clip,
                               poise_retarget_outcome *outcome, poise_error *error)
{
    poise_retarget_outcome blank = *outcome;
    poise_status status = pz_retarget_solve(w, allocator, clip, outcome, error);
    bool is_strained = w->hips && w->planted && release_strained(w, w->strained) > 0;
    if (status != POISE_OK || !(is_out_of_reach(w, outcome) || is_strained)) {
        return status;
    }
    best b = {.outcome = *outcome};
    status = open_best(clip, allocator, &b) ? POISE_OK : POISE_ERROR_MEMORY;
    if (status == POISE_OK) {
        keep(w, clip, &b);
        memset(w->ground.released, 0, (size_t)w->ground.frames * sizeof *w->ground.released);
    }
    if (status == POISE_OK && is_out_of_reach(w, outcome)) {
        status = try_again(w, allocator, clip, true, &blank, &b, error);
    }
    if (status == POISE_OK && (blank.released = release_strained(w, b.strained)) > 0) {
        status = try_again(w, allocator, clip, b.loosely, &blank, &b, error);
    }
    if (status == POISE_OK) {
        bring_back(w, clip, &b);
        *outcome = b.outcome;
    }
    close_best(allocator, &b);
    return status;
}
