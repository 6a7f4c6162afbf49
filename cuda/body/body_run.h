// What search and finish of a marker problem share: the problem as the state has it, and its start.
//
// Coordinates of the state are those of q, but that lengths are relative to the mean of the targets: a free root's slides
// are counted from there, other joints on the world are shifted.
#ifndef POISE_CUDA_BODY_RUN_H
#define POISE_CUDA_BODY_RUN_H

#include "body_pass.h"

// How a problem is going on after a look at its trial.
typedef enum body_next {
    BODY_LOOK, // at the trial, which is another one
    BODY_SOLVE,
    BODY_FOUND,
    BODY_LOST
} body_next;

PZ_BOTH double body_weight(const body_task *t, const pz_cuda_tree_batch *batch, int problem, int marker)
{
    const double *n = t->numbers + t->marker_numbers + BODY_MARKER * marker;
    size_t at = (size_t)problem * (size_t)t->goal_count + (size_t)t->goal[marker];
    return batch->weights ? n[4] * batch->weights[at] : n[3];
}

// The weight of the last frame.
PZ_BOTH double body_steadiness(const body_task *t, const pz_cuda_tree_batch *batch, int problem)
{
    size_t at = (size_t)problem * (size_t)t->goal_count;
    return t->steady_goal < 0 ? 0.0 : batch->weights ? batch->weights[at + (size_t)t->steady_goal] : t->steady_weight;
}

// What a marker is compared with.
PZ_BOTH void body_target(const body_task *t, const pz_cuda_tree_batch *batch, int problem, int marker, double to[3])
{
    size_t at = (size_t)problem * (size_t)t->goal_count + (size_t)t->goal[marker];
    if (!batch->poses || t->part[marker] == BODY_POINT || t->part[marker] == BODY_DIRECTION) {
        const poise_vec3 *x = batch->poses ? &batch->poses[at].position : &batch->targets[at];
        to[0] = x->x, to[1] = x->y, to[2] = x->z;
        return;
    }
    poise_quat r = batch->poses[at].rotation;
    double s = 2.0 / (r.x * r.x + r.y * r.y + r.z * r.z + r.w * r.w);
    if (t->part[marker] == BODY_AXIS_X) {
        to[0] = 1.0 - s * (r.y * r.y + r.z * r.z), to[1] = s * (r.x * r.y + r.w * r.z), to[2] = s * (r.x * r.z - r.w * r.y);
    } else if (t->part[marker] == BODY_AXIS_Y) {
        to[0] = s * (r.x * r.y - r.w * r.z), to[1] = 1.0 - s * (r.x * r.x + r.z * r.z), to[2] = s * (r.y * r.z + r.w * r.x);
    } else {
        to[0] = s * (r.x * r.z + r.w * r.y), to[1] = s * (r.y * r.z - r.w * r.x), to[2] = 1.0 - s * (r.x * r.x + r.y * r.y);
    }
}

// Targets relative to their mean, weights, where joints on the world are. Returns the mean weight, or 1 where all are 0.
BODY_FN scalar body_take_problem(const body_task *t, const pz_cuda_tree_batch *batch, int problem, scalar *m)
{
    const double *C = t->numbers;
    double mean[3] = {0, 0, 0}, all = 0.0, x[3];
    int seen = 0;
    BODY_READS
    for (int i = 0; i < t->marker_count; ++i) {
        double w = body_weight(t, batch, problem, i);
        all += w;
        if (w > 0 && t->part[i] == BODY_POINT) {
            body_target(t, batch, problem, i, x);
            mean[0] += x[0], mean[1] += x[1], mean[2] += x[2];
            seen += 1;
        }
    }
    FAST_UNROLL
    for (int c = 0; c < 3; ++c) {
        mean[c] = seen > 0 ? mean[c] / seen : t->root[c];
    }
    FAST_UNROLL
    for (int c = 0; c < 3; ++c) {
        if (c % BODY_LANES == body_lane()) {
            AT(m, t->at.base + c) = (scalar)(t->root[c] - mean[c]);
            AT(m, t->at.base + 3 + c) = (scalar)(C[3 * c] * (t->root[0] - mean[0]) + C[3 * c + 1] * (t->root[1] - mean[1]) +
                                                 C[3 * c + 2] * (t->root[2] - mean[2]));
        }
    }
    BODY_LOOP
    for (int i = body_lane(); i < t->marker_count; i += BODY_LANES) {
        double shift = t->part[i] == BODY_POINT ? 1.0 : 0.0;
        body_target(t, batch, problem, i, x);
        AT(m, t->at.weight + i) = (scalar)body_weight(t, batch, problem, i);
        body_put(m, t->at.target + 3 * i,
                 rv((scalar)(x[0] - shift * mean[0]), (scalar)(x[1] - shift * mean[1]), (scalar)(x[2] - shift * mean[2])));
    }
    body_meet();
    return all > 0 ? (scalar)(all / t->marker_count) : (scalar)1;
}

// What the state's coordinate adds to coordinate i of q.
PZ_BOTH double body_shift(const body_task *t, const scalar *m, int i)
{
    return t->is_afloat && i < 3 ? (double)AT(m, t->at.base + 3 + i) : 0.0;
}

#endif
