// Which joints are hidden in which frames.
//
// What the markers of a frame tell of a degree of freedom (uncertainty.c) is compared with what all markers of the take
// would tell of it in the same pose. A joint of which they tell far less is hidden: a knee whose shank and foot nobody sees,
// but also the twist of an upper arm whose forearm is gone. A pose in which limbs are hidden says nothing of them, so the
// last one in which none was counts. Markers that were ignored tell nothing.
#include "motion/gaps/hidden.h"

#include "base/arena.h"
#include "base/error.h"
#include "model/model.h"
#include "motion/anatomy.h"
#include "num/vector.h"

#include <string.h>

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
    for (int i = 0; i < model->nv && status == POISE_OK; ++i) {
        told[i] = l->variance[i] < INFINITY ? max2(1.0 - l->weights[i] * l->variance[i], 0.0) : 0.0;
    }
    return status;
}

// Compare what is told into a row of flags; is a joint hidden?
static bool compare(const looking *l, bool *row)
{
    const poise_model *model = l->problem->model;
    bool any = false;
    for (int k = 0; k < model->joint_count; ++k) {
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
    size_t joints = (size_t)l->problem->model->joint_count, flags = (size_t)l->problem->placement_count * sizeof *l->now;
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
    size_t count = (size_t)l->problem->placement_count, nv = (size_t)model->nv, nq = (size_t)model->nq;
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
    memset(hidden, 0, (size_t)clip->frames * (size_t)problem->model->joint_count * sizeof *hidden);
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
    if (clip->nq != problem->model->nq || clip->frames != problem->markers->frames) {
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
