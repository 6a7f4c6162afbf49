// Bodies that turn from one frame to the next as none does: a fast motion is fast in the frames before and after, too, while
// a forearm whose markers were confused, or that was found afresh elsewhere, turns in one frame alone. Rotations are
// compared, not angles, and of bodies that carry markers, each against the next one above it that does: what lies between
// may turn as it likes. With few frames a second people do turn that far from one to the next.
#include "motion/verdict/snapped.h"

#include "base/arena.h"
#include "base/error.h"
#include "num/real.h"
#include "num/trig.h"

#define ALONE 0.5  // of the turn: what the frames before and after turn by at most
#define RATE  25.0 // frames a second, at least

typedef struct snapping {
    const poise_verdict_problem *problem;
    poise_kinematics *kin;
    int body, above; // the latter may be POISE_WORLD
} snapping;

static bool carries(const poise_track_problem *track, int body)
{
    for (int i = 0; i < track->placement_count; ++i) {
        if (track->placements[i].body == body && track->placements[i].weight > 0) {
            return true;
        }
    }
    return false;
}

static poise_quat turn_of(const snapping *s, int frame)
{
    const poise_clip *clip = s->problem->clip;
    poise_kinematics_update(s->kin, clip->q + (size_t)frame * (size_t)clip->nq, NULL);
    poise_quat q = poise_kinematics_body_pose(s->kin, s->body).rotation;
    if (s->above < 0) {
        return q;
    }
    poise_quat p = poise_kinematics_body_pose(s->kin, s->above).rotation;
    return (poise_quat){p.w * q.x - p.x * q.w - p.y * q.z + p.z * q.y, p.w * q.y - p.y * q.w - p.z * q.x + p.x * q.z,
                        p.w * q.z - p.z * q.w - p.x * q.y + p.y * q.x, p.w * q.w + p.x * q.x + p.y * q.y + p.z * q.z};
}

static double angle_between(poise_quat a, poise_quat b)
{
    double cosine = min2(fabs(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w), 1.0);
    return 2.0 * poise_atan2(sqrt(1.0 - cosine * cosine), cosine);
}

static bool is_held(const snapping *s, int frame)
{
    return s->problem->frames && (s->problem->frames[frame].flags & POISE_TRACK_HELD);
}

static void weigh_body(const snapping *s, pz_findings *found)
{
    poise_finding worst = {.kind = POISE_FINDING_SNAPPED,
                           .name = poise_model_joint_info(s->problem->track->model, s->body).name};
    int frames = s->problem->clip->frames;
    double turn[3] = {0.0, 0.0, 0.0}; // into the frame before the last one, the last one, this one
    poise_quat before = {0, 0, 0, 1};
    for (int f = 0; f <= frames; ++f) {
        poise_quat now = f < frames ? turn_of(s, f) : before;
        bool counts = f > 0 && f < frames && !is_held(s, f) && !is_held(s, f - 1);
        turn[0] = turn[1];
        turn[1] = turn[2];
        turn[2] = counts ? angle_between(before, now) : 0.0;
        before = now;
        if (turn[1] > worst.value && max2(turn[0], turn[2]) < ALONE * turn[1]) {
            worst.value = turn[1];
            worst.first = f - 2;
            worst.last = f - 1;
        }
    }
    poise_verdict_weigh(found->thresholds, worst, false, &found->verdict, found->list, found->capacity);
}

poise_status pz_weigh_snapped(const poise_verdict_problem *problem, const poise_allocator *allocator, pz_findings *found,
                              poise_error *error)
{
    const poise_track_problem *track = problem->track;
    snapping s = {.problem = problem};
    if (track->markers->rate < RATE) {
        return POISE_OK;
    }
    poise_status status = poise_kinematics_create(track->model, allocator, &s.kin, error);
    for (int k = 0; status == POISE_OK && k < poise_model_info(track->model).joints; ++k) {
        if (carries(track, k)) {
            s.body = s.above = k;
            do {
                s.above = poise_model_joint_info(track->model, s.above).parent;
            } while (s.above >= 0 && !carries(track, s.above));
            weigh_body(&s, found);
        }
    }
    if (status == POISE_OK) {
        poise_kinematics_destroy(s.kin);
    }
    return status;
}
