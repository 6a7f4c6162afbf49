// A problem under way: who works on it, where its numbers lie (body_layout), and how it is taken up from the caller's
// arrays.
#ifndef POISE_CUDA_BODY_STATE_H
#define POISE_CUDA_BODY_STATE_H

#include "body_task.h"

#include "lib/fused_numbers.h"
#include "model/model.h"

#include <stdbool.h>

// ---- Who works -----------------------------------------------------------------------------------------------------------

// Who works on a problem: one thread, which has all joints, or a team of BODY_LANES threads of a warp (BODY_TEAM), each with
// joints of its own. A team does what one thread does in the same order of sums, so that both give the same bits.
//
//   for (int k = body_lane(); k < count; k += BODY_LANES)     // the part of this thread
//   body_sync();                                              // what all have written can be read by all
//
// What a team decides on it computes from the same numbers in each of its threads.

#ifndef BODY_TEAM

#define BODY_LANES 1

PZ_INLINE int body_lane(void)
{
    return 0;
}

PZ_INLINE void body_sync(void)
{
}

// The sum over the team.
PZ_INLINE int body_team_sum(int own)
{
    return own;
}

// What the first of the team says.
PZ_INLINE int body_broadcast(int own)
{
    return own;
}

#else

#define BODY_LANES 8

#ifdef __CUDACC__

#define BODY_TEAM_THREADS (((1u << BODY_LANES) - 1) << threadIdx.x % 32 / BODY_LANES * BODY_LANES) // of the warp

PZ_INLINE int body_lane(void)
{
    return (int)(threadIdx.x % BODY_LANES);
}

PZ_INLINE void body_sync(void)
{
    __syncwarp(BODY_TEAM_THREADS);
}

PZ_INLINE int body_team_sum(int own)
{
    return __reduce_add_sync(BODY_TEAM_THREADS, own);
}

PZ_INLINE int body_broadcast(int own)
{
    return __shfl_sync(BODY_TEAM_THREADS, own, 0, BODY_LANES);
}

#else

// threads of the host, for tests (test/body_team_on_host.c)
int body_lane(void);
void body_sync(void);
int body_team_sum(int own);

#endif
#endif

// ---- The state -----------------------------------------------------------------------------------------------------------

// On the device the state of a team is in shared memory, and that of threads alone in global memory, numbers of a warp's
// threads side by side.
#if !defined(__CUDACC__)
#define BODY_STRIDE   1
#define BODY_KNOWN(m) ((void)(m))
#elif defined(BODY_TEAM)
#define BODY_STRIDE   1
#define BODY_KNOWN(m) __builtin_assume(__isShared(m))
#else
#define BODY_STRIDE   32
#define BODY_KNOWN(m) __builtin_assume(__isGlobal(m))
#endif

#define BODY_FREE    ((scalar)1e30) // body_layout.held
#define AT(m, place) (m)[(place)*BODY_STRIDE]

PZ_INLINE const scalar *body_numbers(const body_task *t)
{
#ifdef BODY_DOUBLE
    return t->numbers;
#else
    return t->single;
#endif
}

PZ_INLINE rvec body_load(const scalar *m, int place)
{
    return rv(AT(m, place), AT(m, place + 1), AT(m, place + 2));
}

PZ_INLINE void body_store(scalar *m, int place, rvec a)
{
    AT(m, place) = a.x, AT(m, place + 1) = a.y, AT(m, place + 2) = a.z;
}

PZ_INLINE rvec body_constant(const scalar *n)
{
    return rv(n[0], n[1], n[2]);
}

// The interval of dof i, of the state's own coordinates.
PZ_INLINE void body_bounds(const body_task *t, const scalar *m, int i, scalar *lower, scalar *upper)
{
    const scalar *n = body_numbers(t) + t->dof_numbers + BODY_DOF * i;
    scalar shift = t->is_afloat && i < 3 ? AT(m, t->at.base + 3 + i) : (scalar)0;
    *lower = n[0] + shift, *upper = n[1] + shift;
}

// ---- Losses --------------------------------------------------------------------------------------------------------------

// Robust losses of points, as functions of the squared error s (goal/goal.c), in one number of the tables:
//
//   0       rho = s                        rho' = 1                   rho'' = 0
//   kk > 0  s kk/(s + kk)                  (kk/(s + kk))^2            -2 rho'/(s + kk)          Geman & McClure
//   -kk     s up to kk, then 2 k sqrt(s) - kk   1, k/sqrt(s)          0, -k/(2 s sqrt(s))       Huber
//
// A step of Gauss and Newton takes rho' as a factor of the weight; the exact Hessian has 2 w rho'' r r^T beside it.
typedef struct body_loss {
    scalar rho, first, second;
} body_loss;

PZ_INLINE body_loss body_loss_at(const body_task *t, int marker, scalar s)
{
    scalar kk = body_numbers(t)[t->marker_numbers + BODY_MARKER * marker + 5];
    body_loss loss = {s, 1, 0};
    if (kk > 0) {
        scalar ratio = kk / (s + kk);
        loss.rho = s * ratio, loss.first = ratio * ratio, loss.second = -2 * loss.first / (s + kk);
    } else if (s > -kk && kk < 0) {
        scalar k = scalar_root(-kk), root = scalar_root(s);
        loss.rho = scalar_fma(2 * k, root, kk), loss.first = k / root, loss.second = (scalar)-0.5 * loss.first / s;
    }
    return loss;
}

// ---- The problem ---------------------------------------------------------------------------------------------------------

// Coordinates of the state are those of q, but that lengths are relative to the mean of the targets: a free root's slides
// are counted from there, other joints on the world are shifted.

// How a problem is going on after an evaluation at its trial.
typedef enum body_next {
    BODY_EVALUATE, // at the trial, which is another one
    BODY_SOLVE,
    BODY_FOUND,
    BODY_LOST
} body_next;

PZ_INLINE double body_weight(const body_task *t, const pz_cuda_tree_batch *batch, int problem, int marker)
{
    const double *n = t->numbers + t->marker_numbers + BODY_MARKER * marker;
    size_t at = (size_t)problem * (size_t)t->goal_count + (size_t)t->goal[marker];
    return batch->weights ? n[4] * batch->weights[at] : n[3];
}

// The weight of the last frame.
PZ_INLINE double body_steadiness(const body_task *t, const pz_cuda_tree_batch *batch, int problem)
{
    size_t at = (size_t)problem * (size_t)t->goal_count;
    return t->steady_goal < 0 ? 0.0 : batch->weights ? batch->weights[at + (size_t)t->steady_goal] : t->steady_weight;
}

// What a marker is compared with.
PZ_INLINE void body_target(const body_task *t, const pz_cuda_tree_batch *batch, int problem, int marker, double to[3])
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
PZ_INLINE scalar body_read_problem(const body_task *t, const pz_cuda_tree_batch *batch, int problem, scalar *m)
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
        body_store(m, t->at.target + 3 * i,
                   rv((scalar)(x[0] - shift * mean[0]), (scalar)(x[1] - shift * mean[1]), (scalar)(x[2] - shift * mean[2])));
    }
    body_sync();
    return all > 0 ? (scalar)(all / t->marker_count) : (scalar)1;
}

// What the state's coordinate adds to coordinate i of q.
PZ_INLINE double body_shift(const body_task *t, const scalar *m, int i)
{
    return t->is_afloat && i < 3 ? (double)AT(m, t->at.base + 3 + i) : 0.0;
}

#endif
