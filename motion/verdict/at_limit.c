// Clinical angles that stay at a limit: what is read there is the skeleton's number, not the person's, and neighbouring joints
// take up the rest. A knee that cannot bend back by 20 degrees as its person's does reads 0, hip and ankle are 7 degrees
// off, and no marker is far from its place. So the time at a limit is weighed by itself. It is told by its longest run. A
// clavicle does not count: the shoulder takes up what it lacks, and the angles of the two to the trunk are what is read.
#include "motion/verdict/at_limit.h"

#include "base/arena.h"
#include "base/error.h"
#include "motion/clinical.h"
#include "motion/pieces.h"
#include "num/real.h"

#define HAIR 1e-6 // of the range: at the limit

// Is the coordinate one of a swing at the edge of its ellipse?
static bool is_at_edge(const poise_model *model, const double *q, int coordinate)
{
    poise_joint_info joint = poise_model_joint_info(model, poise_model_coordinate(model, coordinate).joint);
    return coordinate < joint.q + 2 && pz_beyond_ellipse(joint.given, q + joint.q) >= 1.0 - 8.0 * PZ_EPSILON;
}

bool pz_is_at_limit(const poise_model *model, const double *q, int coordinate)
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
    pz_clinic clinic;
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

// The coordinate of the joint that is at a limit in most frames.
static poise_finding look(const limiting *l, int joint)
{
    const poise_model *model = l->problem->track->model;
    poise_joint_info info = poise_model_joint_info(model, joint);
    poise_finding worst = {.kind = POISE_FINDING_AT_LIMIT, .name = info.name};
    for (int c = info.q; c < info.q + info.nq; ++c) {
        poise_finding one = worst;
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
        worst = is_turn && one.value > worst.value ? one : worst;
    }
    return worst;
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
                               const poise_allocator *allocator, pz_findings *found, poise_error *error)
{
    const poise_model *model = problem->track->model;
    int joints = poise_model_info(model).joints;
    limiting l = {.problem = problem, .summary = summary};
    poise_status status = pz_clinic_begin(model, allocator, &l.clinic, error);
    for (int k = 0; k < joints && status == POISE_OK; ++k) {
        if (is_read(&l, k)) {
            poise_finding f = look(&l, k);
            poise_verdict_weigh(found->thresholds, f, false, &found->verdict, found->list, found->capacity);
        }
    }
    pz_clinic_end(&l.clinic, allocator);
    return status;
}
