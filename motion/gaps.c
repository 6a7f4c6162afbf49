// Limbs that markers tell nothing of for a while: which joints those are, the way they may have gone meanwhile, and the frames
// of a finished track solved once more on that way.
#include "motion/gaps.h"

#include "base/arena.h"
#include "base/error.h"
#include "motion/anatomy.h"
#include "motion/tracker.h"
#include "num/real.h"
#include "num/vector.h"

#include <string.h>

// ---- Which joints are hidden ---------------------------------------------------------------------------------------------

// Which joints are hidden in which frames.
//
// What the markers of a frame tell of a degree of freedom (uncertainty.c) is compared with what all markers of the take
// would tell of it in the same pose. A joint of which they tell far less is hidden: a knee whose shank and foot nobody sees,
// but also the twist of an upper arm whose forearm is gone. A pose in which limbs are hidden says nothing of them, so the
// last one in which none was counts. Markers that were ignored tell nothing.

#define TOLD 0.4 // of a degree of freedom: what all markers tell less of is never seen (verdict.c)
#define LEFT 0.5 // of what all markers tell: a joint of which those in view tell less is hidden

typedef struct looking {
    const poise_track_problem *problem;
    const poise_clip *clip;
    const poise_track_frame *frames;
    const int *index;
    poise_kinematics *kin;
    poise_objective *objective;
    poise_goal *goals;
    double *numbers;                   // what follows, in one piece
    double *rest, *weights, *variance; // nq, nv, nv
    double *work, *told_by_all, *told; // of inverse_diagonal; nv; nv
    bool *flags;                       // what follows, in one piece
    bool *ever, *now, *before;         // by placement: seen in some frame, in this one, in the one looked at last
} looking;

static const double *pose_at(const looking *l, int frame)
{
    return l->clip->q + (size_t)frame * (size_t)l->clip->nq;
}

// Which markers tell something in a frame; how many.
static int look(looking *l, int frame)
{
    const poise_markers *m = l->problem->markers;
    const poise_track_frame *f = l->frames ? &l->frames[frame] : NULL;
    bool lets_go = f && f->let_go > 0 && poise_kinematics_update(l->kin, pose_at(l, frame), NULL) == POISE_OK;
    int count = 0;
    for (int i = 0; i < l->problem->placement_count; ++i) {
        const poise_placement *p = &l->problem->placements[i];
        l->now[i] = p->weight > 0 && l->index[i] >= 0 && poise_markers_seen(m, frame, l->index[i]);
        if (l->now[i] && lets_go) {
            vec3 seen = m->position[(size_t)frame * (size_t)m->count + (size_t)l->index[i]];
            double distance = v3_norm(v3_sub(seen, poise_kinematics_point(l->kin, p->body, p->local)));
            l->now[i] = !poise_track_lets_go(f, distance);
        }
        count += l->now[i];
    }
    return count;
}

// What these markers tell of every degree of freedom in a pose. Gauss-Newton's matrix does not depend on where they are.
static poise_status learn(looking *l, const double *q, const bool *seen, double *told)
{
    const poise_model *model = l->problem->model;
    int count = 0;
    for (int i = 0; i < l->problem->placement_count; ++i) {
        const poise_placement *p = &l->problem->placements[i];
        if (seen[i]) {
            l->goals[count] = poise_goal_position(p->body, p->local, v3(0.0, 0.0, 0.0));
            l->goals[count++].weight = p->weight;
        }
    }
    l->goals[count] = poise_goal_posture(l->rest, 1.0);
    l->goals[count++].q_weights = l->weights;
    poise_status status = poise_objective_set_goals(l->objective, l->goals, count, NULL);
    status = status == POISE_OK ? poise_objective_evaluate(l->objective, q, POISE_LEVEL_HESSIAN, NULL) : status;
    status = status == POISE_OK
                 ? poise_objective_inverse_diagonal(l->objective, POISE_HESSIAN_GAUSS_NEWTON, l->work, l->variance, NULL)
                 : status;
    for (int i = 0; i < poise_model_info(model).nv && status == POISE_OK; ++i) {
        told[i] = l->variance[i] < INFINITY ? max2(1.0 - l->weights[i] * l->variance[i], 0.0) : 0.0;
    }
    return status;
}

// Compare what is told into a row of flags; is a joint hidden?
static bool compare(const looking *l, bool *row)
{
    const poise_model *model = l->problem->model;
    bool any = false;
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(model, k);
        row[k] = false;
        for (int v = joint.v; v < joint.v + joint.nv && joint.parent != POISE_WORLD && joint.mimic < 0; ++v) {
            row[k] = row[k] || (l->told_by_all[v] >= TOLD && l->told[v] < LEFT * l->told_by_all[v]);
        }
        any = any || row[k];
    }
    return any;
}

// Markers that are seen at some time, and the frame that sees the most of them.
static int fullest_frame(looking *l)
{
    int most = -1, fullest = 0;
    for (int f = 0; f < l->clip->frames; ++f) {
        int count = look(l, f);
        fullest = count > most ? f : fullest;
        most = count > most ? count : most;
        for (int i = 0; i < l->problem->placement_count; ++i) {
            l->ever[i] = l->ever[i] || l->now[i];
        }
    }
    return fullest;
}

// A held frame has the flags of the one before it, and so has one that sees the same markers.
static poise_status look_through(looking *l, bool *hidden, bool *any)
{
    size_t joints = (size_t)poise_model_info(l->problem->model).joints,
           flags = (size_t)l->problem->placement_count * sizeof *l->now;
    int usual = fullest_frame(l), learnt = POISE_NONE; // the pose that counts, and the one that told_by_all is of
    bool has_row = false;
    for (int f = 0; f < l->clip->frames; ++f) {
        bool *row = hidden + (size_t)f * joints;
        bool is_held = l->frames && (l->frames[f].flags & POISE_TRACK_HELD);
        if (!is_held) {
            look(l, f);
        }
        if (is_held || (has_row && memcmp(l->now, l->before, flags) == 0)) {
            memcpy(row, row - (f > 0 ? joints : 0), joints * sizeof *row);
        } else if (memcmp(l->now, l->ever, flags) == 0) {
            memset(row, 0, joints * sizeof *row);
        } else {
            poise_status status = usual == learnt ? POISE_OK : learn(l, pose_at(l, usual), l->ever, l->told_by_all);
            status = status == POISE_OK ? learn(l, pose_at(l, usual), l->now, l->told) : status;
            if (status != POISE_OK) {
                return status;
            }
            learnt = usual;
            compare(l, row);
        }
        if (!is_held) {
            memcpy(l->before, l->now, flags);
            has_row = true;
        }
        bool is_hidden = false;
        for (size_t k = 0; k < joints; ++k) {
            is_hidden = is_hidden || row[k];
        }
        *any = *any || is_hidden;
        usual = is_hidden || is_held ? usual : f;
    }
    return POISE_OK;
}

static poise_status set_up(looking *l, const poise_allocator *allocator, double *size)
{
    const poise_model *model = l->problem->model;
    size_t count = (size_t)l->problem->placement_count, nv = (size_t)poise_model_info(model).nv,
           nq = (size_t)poise_model_info(model).nq;
    l->goals = pz_allocate(allocator, (count + 1) * sizeof *l->goals);
    l->numbers = pz_allocate(allocator, (nq + (nv + 1) * (2 * nv + 6)) * sizeof *l->numbers);
    l->flags = pz_allocate(allocator, 3 * count + 1);
    if (!l->goals || !l->numbers || !l->flags) {
        return POISE_ERROR_MEMORY;
    }
    l->rest = l->numbers, l->weights = l->rest + nq, l->variance = l->weights + nv;
    l->told_by_all = l->variance + nv, l->told = l->told_by_all + nv, l->work = l->told + nv;
    l->ever = l->flags, l->now = l->ever + count, l->before = l->now + count;
    memset(l->flags, 0, 3 * count + 1);
    poise_model_neutral(model, l->rest);
    poise_status status = poise_kinematics_create(model, allocator, &l->kin, NULL);
    status = status == POISE_OK ? poise_objective_create(model, 0, allocator, &l->objective, NULL) : status;
    status = status == POISE_OK ? pz_skeleton_size(model, allocator, size) : status;
    return status == POISE_OK ? poise_posture_weights(model, PZ_NOISE_SHARE * *size, l->weights, NULL) : status;
}

poise_status pz_find_hidden(const poise_track_problem *problem, const int *index, const poise_clip *clip,
                            const poise_track_frame *frames, const poise_allocator *allocator, bool *hidden, bool *any,
                            poise_error *error)
{
    looking l = {.problem = problem, .clip = clip, .frames = frames, .index = index};
    double size = 0.0;
    *any = false;
    memset(hidden, 0, (size_t)clip->frames * (size_t)poise_model_info(problem->model).joints * sizeof *hidden);
    poise_status status = set_up(&l, allocator, &size);
    if (status == POISE_OK && size > 0.0) {
        status = look_through(&l, hidden, any);
    }
    poise_objective_destroy(l.objective);
    poise_kinematics_destroy(l.kin);
    pz_release(allocator, l.flags);
    pz_release(allocator, l.numbers);
    pz_release(allocator, l.goals);
    return status == POISE_OK ? status : pz_error_set(error, status, "%s", poise_status_name(status));
}

poise_status poise_track_hidden(const poise_track_problem *problem, const poise_clip *clip, const poise_track_frame *frames,
                                const poise_allocator *allocator, bool *hidden, poise_error *error)
{
    if (!problem || !problem->model || !problem->markers || (problem->placement_count > 0 && !problem->placements) ||
        !clip || !hidden) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model, placements, markers, clip and hidden must not be NULL");
    }
    if (clip->nq != poise_model_info(problem->model).nq || clip->frames != problem->markers->frames) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "the clip is of another model or recording");
    }
    int *index = pz_allocate(allocator, ((size_t)problem->placement_count + 1) * sizeof *index);
    if (!index) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    for (int i = 0; i < problem->placement_count; ++i) {
        const char *label = problem->placements[i].label;
        index[i] = label ? poise_markers_find(problem->markers, label) : POISE_NONE;
    }
    bool any;
    poise_status status = pz_find_hidden(problem, index, clip, frames, allocator, hidden, &any, error);
    pz_release(allocator, index);
    return status;
}

// ---- The way of a hidden joint -------------------------------------------------------------------------------------------

// The way of a joint that is hidden for a while: between the last pose that was seen, a, and the next one, b, n frames
// later,
//
//   q = a + h(s) (b - a) + g(s) u - g(1 - s) v        s from 0 to 1,  h = s^2 (3 - 2 s),  g = s (1 - s)^2
//
// with differences and sums on the joint's manifold. u and v are what the joint moves by in n frames with the velocities it
// has at both ends, or in SWING seconds if that is less: a limb goes on for a moment, nobody knows for how long.

#define SWING 0.15 // seconds
#define PACE  3    // frames that velocities are measured over

typedef struct crossing {
    const poise_model *model;
    const poise_clip *way;
    const bool *hidden;
    double *apart, *leaves, *comes, *step; // nv each
    double *at;                            // nq
} crossing;

static bool is_hidden(const crossing *c, int frame, int joint)
{
    return c->hidden[(size_t)frame * (size_t)poise_model_info(c->model).joints + (size_t)joint];
}

static const double *crossing_pose(const crossing *c, int frame)
{
    return c->way->q + (size_t)frame * (size_t)c->way->nq;
}

// What the joint moves by in a frame around `frame`, on the side where it is seen, into the step of all joints.
static void pace_at(const crossing *c, int joint, int frame, int direction, double *velocity)
{
    int far = frame;
    while (far - frame < PACE && frame - far < PACE && far + direction >= 0 && far + direction < c->way->frames &&
           !is_hidden(c, far + direction, joint)) {
        far += direction;
    }
    int first = least(frame, far), last = frame + far - first;
    poise_difference(c->model, crossing_pose(c, first), crossing_pose(c, last), velocity, NULL);
    for (int v = 0; v < poise_model_info(c->model).nv; ++v) {
        velocity[v] = last > first ? velocity[v] / (last - first) : 0.0;
    }
}

// Copy the joint's coordinates of a pose into a frame of q.
static void put(const crossing *c, int joint, const double *pose, int frame, double *q)
{
    poise_joint_info info = poise_model_joint_info(c->model, joint);
    memcpy(q + (size_t)frame * (size_t)c->way->nq + info.q, pose + info.q, (size_t)info.nq * sizeof *q);
}

// Fill the frames between a and b, which see the joint. Where a or b is no frame, the other one's pose stays.
static void cross(const crossing *c, int joint, int a, int b, double *q)
{
    bool has_both = a >= 0 && b < c->way->frames;
    int n = b - a;
    if (has_both) {
        poise_difference(c->model, crossing_pose(c, a), crossing_pose(c, b), c->apart, NULL);
        pace_at(c, joint, a, -1, c->leaves);
        pace_at(c, joint, b, 1, c->comes);
    }
    double reach = min2(n, SWING / c->way->frame_time);
    for (int f = a + 1; f < b; ++f) {
        if (!has_both) {
            put(c, joint, crossing_pose(c, a >= 0 ? a : b), f, q);
            continue;
        }
        double s = (double)(f - a) / n, r = 1.0 - s;
        for (int v = 0; v < poise_model_info(c->model).nv; ++v) {
            c->step[v] =
                s * s * (3.0 - 2.0 * s) * c->apart[v] + reach * (s * r * r * c->leaves[v] - s * s * r * c->comes[v]);
        }
        poise_retract(c->model, crossing_pose(c, a), c->step, c->at, NULL);
        put(c, joint, c->at, f, q);
    }
}

poise_status pz_bridge_hidden(const poise_model *model, const poise_clip *way, const bool *hidden,
                              const poise_allocator *allocator, double *q)
{
    size_t nv = (size_t)poise_model_info(model).nv, nq = (size_t)poise_model_info(model).nq;
    double *numbers = pz_allocate(allocator, (4 * nv + nq + 1) * sizeof *numbers);
    if (!numbers) {
        return POISE_ERROR_MEMORY;
    }
    crossing c = {.model = model, .way = way, .hidden = hidden, .apart = numbers};
    c.leaves = c.apart + nv, c.comes = c.leaves + nv, c.step = c.comes + nv, c.at = c.step + nv;
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        for (int f = 0, seen = -1; f <= way->frames; ++f) {
            if (f < way->frames && is_hidden(&c, f, k)) {
                continue;
            }
            if (f - seen > 1 && f - seen <= way->frames) {
                cross(&c, k, seen, f, q);
            }
            seen = f;
        }
    }
    pz_release(allocator, numbers);
    return POISE_OK;
}

// ---- Mending a track -----------------------------------------------------------------------------------------------------

// Limbs that were hidden for a while in a recording that has been tracked frame by frame. Each frame in which a joint is
// hidden is solved once more, from a pose in which hidden joints are where a smooth way leads them, and pulled to that pose
// as far as markers leave it open. Joints that these tell nothing of are then on that way, and those they tell something of
// between.

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
    return m->hidden + (size_t)frame * (size_t)poise_model_info(m->problem->model).joints;
}

static bool hides_any(const mending *m, int frame)
{
    const bool *row = hidden_in(m, frame);
    for (int k = 0; k < poise_model_info(m->problem->model).joints; ++k) {
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
    for (int k = 0; k < poise_model_info(m->problem->model).joints; ++k) {
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
    memcpy(m->rest, t->neutral, (size_t)poise_model_info(model).nq * sizeof *m->rest);
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
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
    size_t nq = (size_t)poise_model_info(model).nq, nv = (size_t)poise_model_info(model).nv;
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
    size_t frames = (size_t)r->markers->frames, nq = (size_t)r->nq, nv = (size_t)poise_model_info(problem->model).nv;
    bool *hidden = pz_allocate(allocator, frames * (size_t)poise_model_info(problem->model).joints + 1), any = false;
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
