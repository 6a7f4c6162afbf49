// Limbs and joint angles that cannot be trusted: lost by their markers, kept from them by a limit, turned in one frame as none
// turns, hidden for a while, pointing elsewhere than those they follow; and clinical angles at a limit or hardly told.
#include "motion/verdict.h"

#include "base/arena.h"
#include "base/error.h"
#include "motion/anatomy.h"
#include "motion/clinical.h"
#include "motion/pieces.h"
#include "motion/uncertainty.h"
#include "num/real.h"
#include "num/rotation.h"
#include "num/trig.h"
#include "num/vector.h"

#include <poise/kinematics.h>

#include <string.h>

// Goals of the markers that a frame sees, ignored ones included; returns how many.
static int frame_goals(const poise_track_problem *track, int frame, poise_goal *goals)
{
    const poise_markers *m = track->markers;
    int count = 0;
    for (int i = 0; i < track->placement_count; ++i) {
        const poise_placement *p = &track->placements[i];
        int marker = p->label ? poise_markers_find(m, p->label) : POISE_NONE;
        if (marker >= 0 && p->weight > 0 && poise_markers_seen(m, frame, marker)) {
            goals[count] =
                poise_goal_position(p->body, p->local, m->position[(size_t)frame * (size_t)m->count + (size_t)marker]);
            goals[count++].weight = p->weight;
        }
    }
    return count;
}

// ---- Lost ----------------------------------------------------------------------------------------------------------------

// Limbs that follow their markers no longer: a few markers that are ignored for a moment are noise; half of the markers on a
// body, with another one on it or next to it, for a while, are a limb that went elsewhere.

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

// ---- At a limit ----------------------------------------------------------------------------------------------------------

// Clinical angles that stay at a limit: what is read there is the skeleton's number, not the person's, and neighbouring joints
// take up the rest. A knee that cannot bend back by 20 degrees as its person's does reads 0, hip and ankle are 7 degrees
// off, and no marker is far from its place. So the time at a limit is weighed by itself. It is told by its longest run. A
// clavicle does not count: the shoulder takes up what it lacks, and the angles of the two to the trunk are what is read.
//
// A limit that is just touched changes nothing. Some of the frames at a limit are solved again with limits and without, and
// the time counts by the share of them in which an angle is elsewhere: more than 5 degrees, of those that are not left
// empty. Of 44 baseball players, on whose feet heel and toe alone are marked, most reach the end of inversion so, which
// nobody reads.

#define HAIR      1e-6 // of the range: at the limit
#define TRIED     12   // frames of a joint that are solved without limits
#define ELSEWHERE 5.0  // degrees: an angle that is wrong

// Is the coordinate one of a swing at the edge of its ellipse?
static bool is_at_edge(const poise_model *model, const double *q, int coordinate)
{
    poise_joint_info joint = poise_model_joint_info(model, poise_model_coordinate(model, coordinate).joint);
    return coordinate < joint.q + 2 && pz_beyond_ellipse(joint.given, q + joint.q) >= 1.0 - 8.0 * PZ_EPSILON;
}

static bool pz_is_at_limit(const poise_model *model, const double *q, int coordinate)
{
    poise_model_summary size = poise_model_info(model);
    double low = size.lower[coordinate], high = size.upper[coordinate], range = high - low;
    double hair = HAIR * (is_finite(range) ? range : 1.0);
    return (low < high && (fabs(q[coordinate] - low) <= hair || fabs(high - q[coordinate]) <= hair)) ||
           is_at_edge(model, q, coordinate);
}

typedef struct limiting {
    const poise_verdict_problem *problem;
    const poise_track_summary *summary;
    const double *spread; // by angle: standard deviation, radians; infinite: markers tell nothing of it
    pz_clinic clinic;
    poise_solver *held, *free; // with limits, and without
    poise_goal *goals;         // by placement
    poise_clip *tried;         // 2 frames: held, and free
    double angles[2 * POISE_ANGLE_COUNT];
} limiting;

static bool is_held(const limiting *l, int frame)
{
    return l->problem->frames && (l->problem->frames[frame].flags & POISE_TRACK_HELD);
}

static bool is_at_limit(const limiting *l, int frame, int coordinate)
{
    const poise_clip *clip = l->problem->clip;
    return pz_is_at_limit(l->problem->track->model, clip->q + (size_t)frame * (size_t)clip->nq, coordinate);
}

// Is an angle elsewhere without limits, in this frame?
static poise_status try_freely(limiting *l, int frame, bool *differs, poise_error *error)
{
    const poise_track_problem *track = l->problem->track;
    const poise_clip *clip = l->problem->clip;
    size_t nq = (size_t)clip->nq;
    int count = frame_goals(track, frame, l->goals);
    poise_status status = POISE_OK;
    for (size_t i = 0; i < 2 && status == POISE_OK; ++i) {
        memcpy(l->tried->q + i * nq, clip->q + (size_t)frame * nq, nq * sizeof *clip->q);
        poise_report report;
        status = poise_solve(i == 0 ? l->held : l->free, l->goals, count, l->tried->q + i * nq, &report, error);
    }
    status = status == POISE_OK ? poise_joint_angles(track->model, l->tried, NULL, l->angles, error) : status;
    *differs = false;
    for (int a = 0; a < POISE_ANGLE_COUNT && status == POISE_OK; ++a) {
        double apart = fabs(l->angles[a] - l->angles[POISE_ANGLE_COUNT + a]);
        apart = min2(apart, fabs(360.0 - apart)); // angles of a half turn either way
        *differs = *differs || (l->spread[a] <= PZ_EMPTY_ANGLE && apart > ELSEWHERE);
    }
    return status;
}

// Of the frames at a limit, the share in which it makes a difference.
static poise_status weigh_difference(limiting *l, int coordinate, int there, poise_finding *f, poise_error *error)
{
    poise_status status = POISE_OK;
    int tried = 0, different = 0, at = 0, step = there / TRIED + 1;
    for (int k = l->summary->before; k < l->problem->clip->frames - l->summary->after && status == POISE_OK; ++k) {
        if (!is_held(l, k) && is_at_limit(l, k, coordinate) && at++ % step == 0) {
            bool differs;
            status = try_freely(l, k, &differs, error);
            tried += 1;
            different += differs;
        }
    }
    f->value *= tried > 0 ? (double)different / tried : 0.0;
    return status;
}

// The coordinate of the joint that is at a limit in most frames.
static poise_status look(limiting *l, int joint, double bound, poise_finding *worst, poise_error *error)
{
    const poise_model *model = l->problem->track->model;
    poise_joint_info info = poise_model_joint_info(model, joint);
    poise_status status = POISE_OK;
    *worst = (poise_finding){.kind = POISE_FINDING_AT_LIMIT, .name = info.name};
    for (int c = info.q; c < info.q + info.nq && status == POISE_OK; ++c) {
        poise_finding one = *worst;
        int seen = 0, there = 0, run = 0, longest = 0;
        for (int f = l->summary->before; f < l->problem->clip->frames - l->summary->after; ++f) {
            bool is_there = !is_held(l, f) && is_at_limit(l, f, c);
            seen += !is_held(l, f);
            there += is_there;
            run = is_there ? run + 1 : 0;
            if (run > longest) {
                longest = run;
                one.first = f - run + 1;
                one.last = f;
            }
        }
        one.value = seen > 0 ? (double)there / seen : 0.0;
        bool is_turn = info.nq != info.nv || poise_model_coordinate(model, c).unit == POISE_UNIT_ANGLE;
        if (is_turn && one.value > max2(bound, worst->value)) {
            status = weigh_difference(l, c, there, &one, error);
        }
        *worst = is_turn && one.value > worst->value ? one : *worst;
    }
    return status;
}

// Does an angle that markers see span the joint?
static bool is_read(const limiting *l, int joint)
{
    const poise_track_problem *track = l->problem->track;
    const pz_segment *clavicle = l->clinic.anatomy.part[PZ_CLAVICLE];
    bool is_spanned = false, is_seen = false;
    if (joint == clavicle[PZ_LEFT].body || joint == clavicle[PZ_RIGHT].body) {
        return false;
    }
    for (int i = 0; i < POISE_ANGLE_COUNT && !is_spanned; ++i) {
        is_spanned = l->clinic.moves[i] && pz_angle_spans(&l->clinic, i, joint);
    }
    int end = joint + poise_model_joint_info(track->model, joint).subtree;
    for (int i = 0; i < track->placement_count && is_spanned && !is_seen; ++i) {
        const poise_placement *p = &track->placements[i];
        is_seen = p->weight > 0 && p->body >= joint && p->body < end && l->summary->markers[i].seen > 0;
    }
    return is_seen;
}

poise_status pz_weigh_at_limit(const poise_verdict_problem *problem, const poise_track_summary *summary,
                               const double *spread, const poise_allocator *allocator, pz_findings *found,
                               poise_error *error)
{
    const poise_model *model = problem->track->model;
    poise_model_summary size = poise_model_info(model);
    limiting l = {.problem = problem, .summary = summary, .spread = spread};
    poise_solver_options options = poise_solver_options_default();
    poise_status status = pz_clinic_begin(model, allocator, &l.clinic, error);
    l.goals = pz_allocate(allocator, ((size_t)problem->track->placement_count + 1) * sizeof *l.goals);
    if (status == POISE_OK && !l.goals) {
        status = pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    status = status == POISE_OK ? poise_clip_create(2, size.nq, 1.0, allocator, &l.tried, error) : status;
    status = status == POISE_OK ? poise_solver_create(model, &options, allocator, &l.held, error) : status;
    options.use_limits = false;
    status = status == POISE_OK ? poise_solver_create(model, &options, allocator, &l.free, error) : status;
    bool is_human = status == POISE_OK && l.clinic.anatomy.stature > 0;
    for (int k = 0; k < size.joints && status == POISE_OK && is_human; ++k) {
        poise_finding f = {.value = 0.0};
        if (is_read(&l, k)) {
            status = look(&l, k, found->thresholds->doubtful[POISE_FINDING_AT_LIMIT], &f, error);
            poise_verdict_weigh(found->thresholds, f, false, &found->verdict, found->list, found->capacity);
        }
    }
    poise_solver_destroy(l.free);
    poise_solver_destroy(l.held);
    poise_clip_destroy(l.tried);
    pz_release(allocator, l.goals);
    pz_clinic_end(&l.clinic, allocator);
    return status;
}

// ---- Blocked -------------------------------------------------------------------------------------------------------------

// Joint limits that keep a limb from its markers: a thrower's shoulder turns farther than most do, the skeleton's does not,
// and its elbow is left behind. A joint that stays at a limit while a marker beyond it is far off may do so for another
// reason, as a marker that is wrong; so the frame is solved again without limits. If the marker is then much nearer the
// limit was in the way.

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

static bool stands_at_limit(const blocking *b, int frame, int coordinate)
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
            if (stands_at_limit(b, frame, c)) {
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
static poise_finding look_beyond(const blocking *b, int joint, int coordinate)
{
    poise_finding worst = {.kind = POISE_FINDING_BLOCKED, .name = poise_model_joint_info(b->model, joint).name};
    int frames = b->problem->clip->frames, at = 0;
    for (int f = 0, run = 0; f < frames; ++f) {
        run = stands_at_limit(b, f, coordinate) ? run + 1 : 0;
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
    while (worst.first > 0 && stands_at_limit(b, worst.first - 1, coordinate) &&
           tracked_distance(b, worst.first - 1, joint) > SHARE * worst.value) {
        worst.first -= 1;
    }
    while (worst.last + 1 < frames && stands_at_limit(b, worst.last + 1, coordinate) &&
           tracked_distance(b, worst.last + 1, joint) > SHARE * worst.value) {
        worst.last += 1;
    }
    worst.value /= b->stature;
    return worst;
}

// The farthest marker beyond the joint, in the pose that the solver finds without limits.
static poise_status solve_freely(const blocking *b, int frame, int joint, double *off)
{
    const poise_clip *clip = b->problem->clip;
    int count = frame_goals(b->problem->track, frame, b->goals);
    int end = joint + poise_model_joint_info(b->model, joint).subtree;
    memcpy(b->q, clip->q + (size_t)frame * (size_t)clip->nq, (size_t)clip->nq * sizeof *b->q);
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
        poise_finding one = look_beyond(b, joint, c);
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

// ---- Snapped -------------------------------------------------------------------------------------------------------------

// Bodies that turn from one frame to the next as none does: a fast motion is fast in the frames before and after, too, while
// a forearm whose markers were confused, or that was found afresh elsewhere, turns in one frame alone. Rotations are
// compared, not angles, and of bodies that carry markers, each against the next one above it that does: what lies between
// may turn as it likes. With few frames a second people do turn that far from one to the next.

#define ALONE 0.5  // of the turn: what the frames before and after turn by at most
#define RATE  25.0 // frames a second, at least

typedef struct snapping {
    const poise_verdict_problem *problem;
    poise_kinematics *kin;
    int body, above; // the latter may be POISE_WORLD
} snapping;

static bool has_markers(const poise_track_problem *track, int body)
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

static bool is_frame_held(const snapping *s, int frame)
{
    return s->problem->frames && (s->problem->frames[frame].flags & POISE_TRACK_HELD);
}

static void weigh_turn(const snapping *s, pz_findings *found)
{
    poise_finding worst = {.kind = POISE_FINDING_SNAPPED,
                           .name = poise_model_joint_info(s->problem->track->model, s->body).name};
    int frames = s->problem->clip->frames;
    double turn[3] = {0.0, 0.0, 0.0}; // into the frame before the last one, the last one, this one
    poise_quat before = {0, 0, 0, 1};
    for (int f = 0; f <= frames; ++f) {
        poise_quat now = f < frames ? turn_of(s, f) : before;
        bool counts = f > 0 && f < frames && !is_frame_held(s, f) && !is_frame_held(s, f - 1);
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
        if (has_markers(track, k)) {
            s.body = s.above = k;
            do {
                s.above = poise_model_joint_info(track->model, s.above).parent;
            } while (s.above >= 0 && !has_markers(track, s.above));
            weigh_turn(&s, found);
        }
    }
    if (status == POISE_OK) {
        poise_kinematics_destroy(s.kin);
    }
    return status;
}

// ---- Hidden --------------------------------------------------------------------------------------------------------------

// Limbs that no marker sees for a while: tracking leads them from where they were to where they are found again, and what
// they did in between nobody knows. In half a second an arm or a leg swings from one side to the other, so that a longer gap
// may hide a whole movement; a shorter one is told, and is no fault.

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

static void weigh_gap(const hiding *h, int joint, pz_findings *found)
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
        weigh_gap(&h, k, found);
    }
    pz_release(allocator, h.hidden);
    return status;
}

// ---- Pointing elsewhere --------------------------------------------------------------------------------------------------

// Limbs that follow those of another skeleton, joint by joint. A skeleton of other proportions meets few of the points, and
// how far it misses them says little of the motion; where its limbs point is what is seen:
//
//   angle(x_b - x_a, p_b - p_a)      x: the points that were followed, p: the joints of the skeleton, a to b: a limb's bone

static const pz_part bones[][2] = {
    {PZ_UPPER_ARM, PZ_FOREARM}, {PZ_FOREARM, PZ_HAND}, {PZ_THIGH, PZ_SHANK}, {PZ_SHANK, PZ_FOOT}};

// The marker that a body follows, and where it sits on it; POISE_NONE: none.
static int marker_of(const poise_track_problem *track, int body, vec3 *local)
{
    for (int i = 0; body >= 0 && i < track->placement_count; ++i) {
        const poise_placement *p = &track->placements[i];
        if (p->body == body && p->weight > 0.0 && p->label) {
            *local = p->local;
            return poise_markers_find(track->markers, p->label);
        }
    }
    return POISE_NONE;
}

// The mean angle of one bone over the frames; negative: it was not followed.
static double limb_turn(const poise_verdict_problem *problem, const int body[2], int every, poise_kinematics *kin)
{
    const poise_markers *m = problem->track->markers;
    const poise_clip *clip = problem->clip;
    vec3 local[2];
    int marker[2], count = 0;
    double sum = 0.0;
    for (int i = 0; i < 2; ++i) {
        marker[i] = marker_of(problem->track, body[i], &local[i]);
        if (marker[i] < 0) {
            return -1.0;
        }
    }
    for (int f = 0; f < clip->frames && f < m->frames; f += every) {
        const poise_vec3 *x = m->position + (size_t)f * (size_t)m->count;
        vec3 followed = v3_sub(x[marker[1]], x[marker[0]]);
        bool is_seen = v3_norm(followed) > 0.0 && is_finite(v3_norm(followed));
        if (is_seen && poise_kinematics_update(kin, clip->q + (size_t)f * (size_t)clip->nq, NULL) == POISE_OK) {
            vec3 own =
                v3_sub(poise_kinematics_point(kin, body[1], local[1]), poise_kinematics_point(kin, body[0], local[0]));
            sum += v3_angle(followed, own);
            count += 1;
        }
    }
    return count > 0 ? sum / count : -1.0;
}

poise_status pz_weigh_limbs(const poise_verdict_problem *problem, const pz_anatomy *anatomy, int every,
                            const poise_allocator *allocator, pz_findings *found, poise_error *error)
{
    const poise_model *model = problem->track->model;
    poise_kinematics *kin;
    poise_status status = poise_kinematics_create(model, allocator, &kin, error);
    double sum = 0.0;
    int count = 0;
    for (size_t i = 0; status == POISE_OK && i < sizeof bones / sizeof bones[0]; ++i) {
        for (int s = PZ_LEFT; s <= PZ_RIGHT; ++s) {
            int body[2] = {anatomy->part[bones[i][0]][s].body, anatomy->part[bones[i][1]][s].body};
            double turn = limb_turn(problem, body, every, kin);
            if (turn >= 0.0) {
                sum += turn;
                count += 1;
                pz_weigh(found, POISE_FINDING_LIMB, poise_model_joint_info(model, body[0]).body, turn, false);
            }
        }
    }
    if (count > 0) {
        pz_weigh(found, POISE_FINDING_BONES, NULL, sum / count, false);
    }
    if (status == POISE_OK) {
        poise_kinematics_destroy(kin);
    }
    return status;
}

// ---- Unsure --------------------------------------------------------------------------------------------------------------

// Clinical angles that markers hardly tell: a knee whose markers are all in a line with hip and ankle leaves the thigh's turn
// open, and the track shows the rest posture there, or noise. The standard deviation of each angle is computed in some
// frames (uncertainty.c); what a tenth of them exceed is weighed, so that a moment near a stretched limb is no fault.
//
// Most sets of markers leave something open by design: heel and toe say little of the foot's inversion, a bar at the wrist
// little of pronation. That is told, the angle is left empty where it deviates by more than 10 degrees
// (poise_recording_angles), and it is no fault: of 74 recordings with nothing wrong, 45 have such an angle. It is one where
// the recording holds a marker that would tell more, and that was left out because nobody knows its name.
//
// What counts is the deviation of the turn about an angle's own axis. The angles of a hanging arm share one turn, plane and
// rotation, in gimbal lock; their sum is sharp, and no marker is missing.

#define LOOKS  40  // frames examined
#define BEYOND 0.1 // of them: the share that deviates more than the value weighed

#define PEOPLE  0.12                // what people's sizes deviate by, children and adults: before anything is measured
#define VAGUE   0.04363323129985824 // 2.5 degrees: twice as much would be a wrong angle, less is not worth a word
#define BLURRED 0.0085              // of the stature: 15 mm of an adult, the same of a joint centre

#define RADIANS     (1.0 / 57.29577951308232)
#define HALF_A_TURN 3.14159265358979323846

typedef struct doubting {
    const poise_verdict_problem *problem;
    const poise_track_summary *summary;
    int every;                    // examined frame
    double *deviation;            // looks x POISE_ANGLE_COUNT: of noise
    double *all;                  // the same: of noise, and of where markers sit
    double *centres;              // looks x PZ_CENTRES: the same of joint centres, length units
    pz_doubt doubt;               // in places, size, and single frames
    double *sorted;               // looks
    poise_placement *seen;        // those whose markers are there
    bool told[POISE_ANGLE_COUNT]; // by markers
} doubting;

// Which angles markers see at all. The others are unobserved, which is no fault.
static poise_status find_seen(doubting *d, const poise_allocator *allocator, poise_error *error)
{
    const poise_track_problem *track = d->problem->track;
    int count = 0;
    for (int i = 0; i < track->placement_count; ++i) {
        if (d->summary->markers[i].seen > 0) {
            d->seen[count++] = track->placements[i];
        }
    }
    return poise_joint_angles_seen(track->model, d->seen, count, allocator, d->told, error);
}

// What the skeleton's size may be off by. It stays as it is where the person's is near, which is known to be off by as much;
// few distances tell nothing, and people differ.
static double size_in_doubt(const poise_verdict_problem *problem)
{
    const poise_places_report *places = problem->places;
    double taken = problem->calibration ? problem->calibration->size : 0.0;
    if (!places || !problem->priors || !(taken > 0.0)) {
        return 0.0;
    }
    double off = places->pairs > 0 ? places->size / taken - 1.0 : 0.0;
    double deviation = places->pairs > 0 ? places->deviation / taken : PEOPLE;
    return min2(sqrt(off * off + deviation * deviation), PEOPLE);
}

// What BEYOND of the frames exceed, of a column of `columns`, at most `most`.
static double quantile_of(const doubting *d, const double *deviation, int columns, int column, double unit, double most)
{
    int count = 0, end = d->problem->clip->frames - d->summary->after;
    for (int f = 0, look = 0; f < end; f += d->every, ++look) {
        bool is_held = d->problem->frames && (d->problem->frames[f].flags & POISE_TRACK_HELD);
        if (f < d->summary->before || is_held) {
            continue;
        }
        double value = min2(unit * deviation[(size_t)look * (size_t)columns + (size_t)column], most);
        int at = count++;
        for (; at > 0 && d->sorted[at - 1] < value; --at) {
            d->sorted[at] = d->sorted[at - 1];
        }
        d->sorted[at] = value;
    }
    return count > 0 ? d->sorted[(int)(BEYOND * count)] : 0.0;
}

static double angle_of(const doubting *d, const double *deviation, int angle)
{
    return quantile_of(d, deviation, POISE_ANGLE_COUNT, angle, RADIANS, HALF_A_TURN);
}

static double weigh_angle(const doubting *d, const pz_clinic *clinic, int angle, const char *const *left, pz_findings *found)
{
    int body = pz_angle_body(clinic, angle);
    const char *name = poise_angle_name(angle), *other = body >= 0 ? left[body] : NULL;
    poise_finding vague = {.kind = POISE_FINDING_VAGUE, .name = name, .value = angle_of(d, d->all, angle)};
    if (other) {
        pz_weigh_two(found, POISE_FINDING_UNSURE, name, other, angle_of(d, d->deviation, angle));
    }
    poise_verdict_weigh(found->thresholds, vague, vague.value > VAGUE, &found->verdict, found->list, found->capacity);
    return vague.value;
}

// Joint centres of limbs that carry markers, as shares of the stature.
static poise_status weigh_centres(doubting *d, const poise_allocator *allocator, pz_findings *found, poise_error *error)
{
    const poise_track_problem *track = d->problem->track;
    poise_placement places[PZ_CENTRES];
    pz_anatomy anatomy;
    poise_status status = pz_anatomy_of(track->model, allocator, &anatomy);
    if (status == POISE_OK && !(anatomy.stature > 0)) {
        return POISE_OK; // no person
    }
    int count = status == POISE_OK ? poise_joint_centres(track->model, allocator, places, PZ_CENTRES) : 0;
    status = count > 0 ? pz_centre_deviations(track, d->problem->clip, d->problem->frames, d->every, places, count,
                                              &d->doubt, allocator, d->centres, error)
                       : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    for (int i = 0; i < count && status == POISE_OK; ++i) {
        int end = places[i].body + poise_model_joint_info(track->model, places[i].body).subtree;
        bool is_seen = false;
        for (int k = 0; k < track->placement_count; ++k) {
            const poise_placement *p = &track->placements[k];
            is_seen =
                is_seen || (p->body >= places[i].body && p->body < end && p->weight > 0 && d->summary->markers[k].seen > 0);
        }
        poise_finding f = {.kind = POISE_FINDING_BLURRED, .name = places[i].label};
        f.value = is_seen ? quantile_of(d, d->centres, count, i, 1.0 / anatomy.stature, 1.0) : 0.0;
        poise_verdict_weigh(found->thresholds, f, f.value > BLURRED, &found->verdict, found->list, found->capacity);
    }
    return status;
}

poise_status pz_weigh_unsure(const poise_verdict_problem *problem, const poise_track_summary *summary,
                             const char *const *left, double *spread, const poise_allocator *allocator, pz_findings *found,
                             poise_error *error)
{
    const poise_track_problem *track = problem->track;
    pz_clinic clinic;
    doubting d = {.problem = problem, .summary = summary, .every = problem->clip->frames / LOOKS + 1};
    size_t looks = (size_t)(problem->clip->frames / d.every) + 1, places = (size_t)track->placement_count + 1;
    d.deviation = pz_allocate(allocator, 2 * looks * POISE_ANGLE_COUNT * sizeof *d.deviation);
    d.centres = pz_allocate(allocator, looks * PZ_CENTRES * sizeof *d.centres);
    d.doubt.place = pz_allocate(allocator, places * sizeof *d.doubt.place);
    d.sorted = pz_allocate(allocator, looks * sizeof *d.sorted);
    d.seen = pz_allocate(allocator, places * sizeof *d.seen);
    bool works = d.deviation && d.centres && d.doubt.place && d.sorted && d.seen;
    poise_status status = works ? POISE_OK : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    poise_status begun = pz_clinic_begin(track->model, allocator, &clinic, error);
    status = status == POISE_OK ? begun : status;
    status = status == POISE_OK ? find_seen(&d, allocator, error) : status;
    if (status == POISE_OK) {
        d.all = d.deviation + looks * POISE_ANGLE_COUNT;
        double size = problem->calibration ? problem->calibration->size : 1.0;
        status = pz_places_in_doubt(track, problem->clip, problem->frames, problem->calibration ? problem->priors : NULL,
                                    size, allocator, d.doubt.place, error);
        d.doubt.size = size_in_doubt(problem);
    }
    for (int i = 0; i < 2 && status == POISE_OK; ++i) {
        status = pz_angle_deviations(track, problem->clip, problem->frames, d.every, true, i == 0 ? NULL : &d.doubt,
                                     &d.doubt.noise, allocator, i == 0 ? d.deviation : d.all, error);
    }
    status = status == POISE_OK ? weigh_centres(&d, allocator, found, error) : status;
    for (int i = 0; i < POISE_ANGLE_COUNT && status == POISE_OK; ++i) {
        spread[i] = d.told[i] ? weigh_angle(&d, &clinic, i, left, found) : (double)INFINITY;
    }
    pz_clinic_end(&clinic, allocator);
    pz_release(allocator, d.seen);
    pz_release(allocator, d.sorted);
    pz_release(allocator, d.doubt.place);
    pz_release(allocator, d.centres);
    pz_release(allocator, d.deviation);
    return status;
}
