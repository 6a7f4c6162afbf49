// Limbs that were hidden for a while in a recording that has been tracked frame by frame. Each frame in which a joint is
// hidden (hidden.c) is solved once more, from a pose in which hidden joints are where a smooth way leads them (bridge.c),
// and pulled to that pose as far as markers leave it open. Joints that these tell nothing of are then on that way, and
// those they tell something of between.
#include "motion/gaps/hidden.h"
#include "motion/track_chunks.h"
#include "motion/turns.h"

#include "base/error.h"

#include <string.h>

#define WORSE 1.1 // times the rms: a frame that gets worse keeps what its markers tell

typedef struct mending {
    const pz_track_chunks *r;
    const poise_track_problem *problem;
    const bool *hidden; // frames x joints
    const double *way;  // frames x nq
    double *rest;       // nq
    double *weights;    // nv: of joints, for markers with errors of 1, and
    double *pull;       // nv: those that count in a frame
} mending;

static double *frame_q(const mending *m, int frame)
{
    return m->r->clip->q + (size_t)frame * (size_t)m->r->nq;
}

static const bool *hidden_in(const mending *m, int frame)
{
    return m->hidden + (size_t)frame * (size_t)m->problem->model->joint_count;
}

static bool hides_any(const mending *m, int frame)
{
    const bool *row = hidden_in(m, frame);
    for (int k = 0; k < m->problem->model->joint_count; ++k) {
        if (row[k]) {
            return true;
        }
    }
    return false;
}

static void copy_joint(const mending *m, int joint, const double *from, double *to)
{
    poise_joint_info info = poise_model_joint_info(m->problem->model, joint);
    memcpy(to + info.q, from + info.q, (size_t)info.nq * sizeof *to);
}

// Does the frame see a marker that this joint moves?
static bool sees_beyond(const mending *m, int frame, int joint)
{
    int end = joint + poise_model_joint_info(m->problem->model, joint).subtree;
    poise_vec3 *seen = m->r->seen[0];
    pz_track_see(m->r, frame, seen);
    for (int i = 0; i < m->r->count; ++i) {
        const poise_placement *p = &m->problem->placements[i];
        if (p->weight > 0 && p->body >= joint && p->body < end && pz_tracker_sees(seen[i])) {
            return true;
        }
    }
    return false;
}

// Put hidden joints of a pose on their way; with `frame` not POISE_NONE only those that move no marker seen in it.
static void put_on_way(const mending *m, int frame, int where, double *q)
{
    for (int k = 0; k < m->problem->model->joint_count; ++k) {
        if (hidden_in(m, where)[k] && (frame == POISE_NONE || !sees_beyond(m, frame, k))) {
            copy_joint(m, k, m->way + (size_t)where * (size_t)m->r->nq, q);
        }
    }
}

// Where joints rest in a frame, and how strongly they are pulled there: hidden ones to their way, others as always. Without
// weights of a posture those of hidden joints follow from what the markers miss by.
static void set_rest(const mending *m, poise_tracker *t, int frame)
{
    const poise_model *model = m->problem->model;
    double noise = m->r->frames[frame].rms;
    memcpy(m->rest, t->neutral, (size_t)model->nq * sizeof *m->rest);
    for (int k = 0; k < model->joint_count; ++k) {
        poise_joint_info info = poise_model_joint_info(model, k);
        for (int v = info.v; v < info.v + info.nv; ++v) {
            m->pull[v] = m->problem->posture      ? m->problem->posture[v]
                         : hidden_in(m, frame)[k] ? noise * noise * m->weights[v]
                                                  : 0.0;
        }
    }
    put_on_way(m, POISE_NONE, frame, m->rest);
    pz_tracker_rest(t, m->rest, m->pull);
}

// Held frames stay where the frame before is, but for hidden joints, which go on.
static void go_on_held(const mending *m, int frame)
{
    double *q = frame_q(m, frame);
    if (frame > 0) {
        memcpy(q, frame_q(m, frame - 1), (size_t)m->r->nq * sizeof *q);
    }
    put_on_way(m, POISE_NONE, frame, q);
    pz_tracker_keep_limits(m->r->trackers[0], q);
}

static void mend(const mending *m, int f)
{
    const pz_track_chunks *r = m->r;
    poise_tracker *t = r->trackers[0];
    poise_track_frame *old = &r->frames[f], now;
    double *q = frame_q(m, f), *start = r->q[0];
    memcpy(start, q, (size_t)r->nq * sizeof *q);
    put_on_way(m, POISE_NONE, f, start);
    pz_tracker_keep_limits(t, start);
    set_rest(m, t, f);
    pz_tracker_go_on_from(t, start);
    t->usual = old->rms;
    t->strays = 0;
    pz_track_next(r, t, 0, f, start, &now);
    if (r->refused[0].status != POISE_OK) {
        return;
    }
    bool is_as_good = !(now.flags & POISE_TRACK_HELD) && now.let_go <= old->let_go &&
                      (now.let_go < old->let_go || now.rms <= WORSE * old->rms);
    if (is_as_good) {
        now.flags |= old->flags & POISE_TRACK_RESTARTED;
        memcpy(q, start, (size_t)r->nq * sizeof *q);
        *old = now;
    } else if (m->problem->constraint_count == 0) {
        put_on_way(m, f, f, q);
        pz_tracker_keep_limits(t, q);
    }
}

static void mend_all(const mending *m)
{
    const pz_track_chunks *r = m->r;
    const poise_tracker *t = r->trackers[0];
    for (int f = 0; f < r->markers->frames && r->refused[0].status == POISE_OK; ++f) {
        bool is_hiding = hides_any(m, f), ends = f > 0 && hides_any(m, f - 1);
        if (is_hiding && (r->frames[f].flags & POISE_TRACK_HELD)) {
            go_on_held(m, f);
        } else if (is_hiding) {
            mend(m, f);
        }
        if (f > 0 && (is_hiding || ends)) {
            pz_nearest_turns(t->model, t->placements, t->count, frame_q(m, f - 1), frame_q(m, f));
            pz_track_tell_turn(r, f);
        }
    }
    pz_tracker_rest(r->trackers[0], NULL, NULL);
}

// The ways, into memory of frames x nq numbers after those of a frame; then the frames.
static poise_status find_ways(mending *m, double *numbers, const poise_allocator *allocator)
{
    const poise_model *model = m->problem->model;
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    m->rest = numbers;
    m->weights = m->rest + nq;
    m->pull = m->weights + nv;
    double *way = m->pull + nv;
    m->way = way;
    memcpy(way, m->r->clip->q, (size_t)m->r->clip->frames * nq * sizeof *way);
    poise_status status = poise_posture_weights(model, 1.0, m->weights, NULL);
    return status == POISE_OK ? pz_bridge_hidden(model, m->r->clip, m->hidden, allocator, way) : status;
}

poise_status pz_track_mend_gaps(const pz_track_chunks *r, const poise_track_problem *problem,
                                const poise_allocator *allocator, poise_error *error)
{
    size_t frames = (size_t)r->markers->frames, nq = (size_t)r->nq, nv = (size_t)problem->model->nv;
    bool *hidden = pz_allocate(allocator, frames * (size_t)problem->model->joint_count + 1), any = false;
    poise_status status =
        hidden ? pz_find_hidden(problem, r->index, r->clip, r->frames, allocator, hidden, &any, error) : POISE_ERROR_MEMORY;
    double *numbers = NULL;
    if (status == POISE_OK && any) {
        mending m = {.r = r, .problem = problem, .hidden = hidden};
        numbers = pz_allocate(allocator, ((frames + 1) * nq + 2 * nv + 1) * sizeof *numbers);
        status = numbers ? find_ways(&m, numbers, allocator) : POISE_ERROR_MEMORY;
        if (status == POISE_OK) {
            mend_all(&m);
        }
    }
    pz_release(allocator, numbers);
    pz_release(allocator, hidden);
    return status == POISE_OK ? status : pz_error_set(error, status, "%s", poise_status_name(status));
}
