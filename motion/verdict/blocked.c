// Joint limits that keep a limb from its markers: a thrower's shoulder turns farther than most do, the skeleton's does not,
// and its elbow is left behind. A joint that stays at a limit while a marker beyond it is far off may do so for another
// reason, as a marker that is wrong; so the frame is solved again without limits. If the marker is then much nearer the
// limit was in the way.
#include "motion/verdict/blocked.h"

#include "base/arena.h"
#include "base/error.h"
#include "motion/verdict/at_limit.h"
#include "num/vector.h"

#include <string.h>

#define STAY  5   // frames, at least
#define NEAR  0.5 // of the distance: much nearer
#define SHARE 0.5 // of the largest distance: frames around it that belong to it

typedef struct blocking {
    const poise_verdict_problem *problem;
    const poise_model *model;
    const double *distances; // frames x placements
    double stature;
    poise_kinematics *kin;
    poise_solver *solver;
    poise_goal *goals; // by placement
    double *q;         // nq
    poise_error *error;
} blocking;

static bool is_at_limit(const blocking *b, int frame, int coordinate)
{
    const poise_clip *clip = b->problem->clip;
    return pz_is_at_limit(b->model, clip->q + (size_t)frame * (size_t)clip->nq, coordinate);
}

// Is a joint between this body and `above`, which does not count, at a limit?
static bool has_limit_below(const blocking *b, int frame, int body, int above)
{
    for (int k = body; k > above; k = poise_model_joint_info(b->model, k).parent) {
        poise_joint_info info = poise_model_joint_info(b->model, k);
        for (int c = info.q; c < info.q + info.nq; ++c) {
            if (is_at_limit(b, frame, c)) {
                return true;
            }
        }
    }
    return false;
}

// The farthest marker beyond a joint in a frame, ignored ones included, and no other joint at a limit between them.
static double farthest_beyond(const blocking *b, int frame, int joint, const double *row)
{
    const poise_track_problem *track = b->problem->track;
    int end = joint + poise_model_joint_info(b->model, joint).subtree;
    bool is_held = b->problem->frames && (b->problem->frames[frame].flags & POISE_TRACK_HELD);
    double most = 0.0;
    for (int i = 0; i < track->placement_count && !is_held; ++i) {
        const poise_placement *p = &track->placements[i];
        bool counts = p->weight > 0 && p->body >= joint && p->body < end && row[i] == row[i];
        most = counts && row[i] > most && !has_limit_below(b, frame, p->body, joint) ? row[i] : most;
    }
    return most;
}

static double tracked_distance(const blocking *b, int frame, int joint)
{
    return farthest_beyond(b, frame, joint, b->distances + (size_t)frame * (size_t)b->problem->track->placement_count);
}

// The frames in which the coordinate stays at its limit with a marker far off: what it is off by in all of STAY frames.
static poise_finding look(const blocking *b, int joint, int coordinate)
{
    poise_finding worst = {.kind = POISE_FINDING_BLOCKED, .name = poise_model_joint_info(b->model, joint).name};
    int frames = b->problem->clip->frames, at = 0;
    for (int f = 0, run = 0; f < frames; ++f) {
        run = is_at_limit(b, f, coordinate) ? run + 1 : 0;
        double least_off = run >= STAY ? (double)INFINITY : 0.0;
        for (int i = 0; i < STAY && run >= STAY; ++i) {
            least_off = min2(least_off, tracked_distance(b, f - i, joint));
        }
        if (least_off > worst.value) {
            worst.value = least_off;
            at = f - STAY / 2;
        }
    }
    worst.first = worst.last = at;
    while (worst.first > 0 && is_at_limit(b, worst.first - 1, coordinate) &&
           tracked_distance(b, worst.first - 1, joint) > SHARE * worst.value) {
        worst.first -= 1;
    }
    while (worst.last + 1 < frames && is_at_limit(b, worst.last + 1, coordinate) &&
           tracked_distance(b, worst.last + 1, joint) > SHARE * worst.value) {
        worst.last += 1;
    }
    worst.value /= b->stature;
    return worst;
}

// The farthest marker beyond the joint, in the pose that the solver finds without limits.
static poise_status solve_freely(const blocking *b, int frame, int joint, double *off)
{
    const poise_track_problem *track = b->problem->track;
    const poise_markers *m = track->markers;
    const poise_clip *clip = b->problem->clip;
    int count = 0, end = joint + poise_model_joint_info(b->model, joint).subtree;
    memcpy(b->q, clip->q + (size_t)frame * (size_t)clip->nq, (size_t)clip->nq * sizeof *b->q);
    for (int i = 0; i < track->placement_count; ++i) {
        const poise_placement *p = &track->placements[i];
        int marker = p->label ? poise_markers_find(m, p->label) : POISE_NONE;
        if (marker >= 0 && p->weight > 0 && poise_markers_seen(m, frame, marker)) {
            vec3 target = m->position[(size_t)frame * (size_t)m->count + (size_t)marker];
            b->goals[count] = poise_goal_position(p->body, p->local, target);
            b->goals[count++].weight = p->weight;
        }
    }
    poise_report report;
    poise_status status = poise_solve(b->solver, b->goals, count, b->q, &report, b->error);
    status = status == POISE_OK ? poise_kinematics_update(b->kin, b->q, b->error) : status;
    *off = 0.0;
    for (int i = 0; i < count && status == POISE_OK; ++i) {
        const poise_goal *g = &b->goals[i];
        if (g->body >= joint && g->body < end) {
            vec3 place = poise_kinematics_point(b->kin, g->body, g->local.position);
            *off = max2(*off, v3_norm(v3_sub(place, g->target.position)));
        }
    }
    return status;
}

static poise_status weigh_joint(const blocking *b, int joint, pz_findings *found)
{
    poise_joint_info info = poise_model_joint_info(b->model, joint);
    poise_finding worst = {.value = 0.0};
    for (int c = info.q; c < info.q + info.nq; ++c) {
        poise_finding one = look(b, joint, c);
        worst = one.value > worst.value ? one : worst;
    }
    if (!(worst.value > found->thresholds->doubtful[POISE_FINDING_BLOCKED])) {
        return POISE_OK;
    }
    double off;
    poise_status status = solve_freely(b, (worst.first + worst.last) / 2, joint, &off);
    worst.distance = off / b->stature;
    if (status == POISE_OK && worst.distance < NEAR * worst.value) {
        poise_verdict_weigh(found->thresholds, worst, false, &found->verdict, found->list, found->capacity);
    }
    return status;
}

poise_status pz_weigh_blocked(const poise_verdict_problem *problem, const double *distances, double stature,
                              const poise_allocator *allocator, pz_findings *found, poise_error *error)
{
    const poise_model *model = problem->track->model;
    poise_model_summary size = poise_model_info(model);
    blocking b = {.problem = problem, .model = model, .distances = distances, .stature = stature, .error = error};
    poise_solver_options options = poise_solver_options_default();
    options.use_limits = false;
    b.goals = pz_allocate(allocator, ((size_t)problem->track->placement_count + 1) * sizeof *b.goals);
    b.q = pz_allocate(allocator, ((size_t)size.nq + 1) * sizeof *b.q);
    poise_status status = b.goals && b.q ? poise_solver_create(model, &options, allocator, &b.solver, error)
                                         : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    status = status == POISE_OK ? poise_kinematics_create(model, allocator, &b.kin, error) : status;
    for (int k = 0; k < size.joints && status == POISE_OK && stature > 0.0; ++k) {
        status = weigh_joint(&b, k, found);
    }
    poise_kinematics_destroy(b.kin);
    poise_solver_destroy(b.solver);
    pz_release(allocator, b.q);
    pz_release(allocator, b.goals);
    return status;
}
