// What all stages of arm poses share: the library's sources compiled for the device, and how an answer is made.
#ifndef POISE_CUDA_ARM_DEVICE_CUH
#define POISE_CUDA_ARM_DEVICE_CUH

#include "device_sources.h"

#include "device_begin.h"

#define pz_sincos_array sincos_array_by_blocks
#include "num/trig.c"
#undef pz_sincos_array

// Sines in registers, one by one, with the same bits; the slow way is a call.
__device__ __noinline__ double2 slow_sincos(double x)
{
    double2 sine_cosine;
    pz_sincos(x, &sine_cosine.x, &sine_cosine.y);
    return sine_cosine;
}

__device__ __forceinline__ void pz_sincos_array(size_t count, const double *x, double *sine, double *cosine)
{
    for (size_t i = 0; i < count; ++i) {
        reduced_angle r = reduce(x[i]);
        if (fabs(number_of(r.turns) - ROUND) <= MOST_TURNS) {
            sincos_reduced(r, &sine[i], &cosine[i]);
        } else {
            double2 slow = slow_sincos(x[i]);
            sine[i] = slow.x, cosine[i] = slow.y;
        }
    }
}

#include "num/rotation.c"

#define ARM_REPORTS false
#include "solve/arm_descent.h"

#include "shape/nearest_points.h"

#include "device_end.h"

#include "lib/arm_fast.h"
#include "lib/cuda_arm.h"

#define THREADS    128
#define WARPS      (THREADS / 32)
#define WHOLE_WARP 0xffffffffu

// never called: no traces here
__device__ void pz_arm_record(pz_arm_run *run, double f, double damping, bool exact)
{
    (void)run, (void)f, (void)damping, (void)exact;
}

// ---- Search and descent --------------------------------------------------------------------------------------------------

// The library's search and descent with a constant number of joints; N = 0: any chain.
template <int N>
__device__ __noinline__ bool run_search(const pz_arm_chain *chain, const pz_arm_target *target, int most, pz_arm_run *run)
{
    return N ? arm_search(chain, target, most, run, N, false) : arm_search(chain, target, most, run, chain->n, true);
}

template <int N>
__device__ __noinline__ pz_arm_end run_finish(const pz_arm_chain *chain, const pz_arm_target *target, bool zero, int most,
                                              pz_arm_run *run)
{
    return N ? arm_descend(chain, target, zero, most, run, N, false)
             : arm_descend(chain, target, zero, most, run, chain->n, true);
}

// ---- Room ----------------------------------------------------------------------------------------------------------------

// How much room there is at q: a call, so that who keeps nothing apart has no registers for it.
__device__ __noinline__ void find_room(const pz_arm_world *world, const pz_arm_chain *chain, const double *q, bool all,
                                       pz_world_room *room)
{
    *room = world_room(world, chain, q, all);
}

// Does nothing collide there?
__device__ __forceinline__ bool is_clear(const pz_cuda_task &task, const pz_cuda_work &work, const double *q,
                                         pz_world_room *room)
{
    room->room = INFINITY, room->watch = -1;
    if (work.world) {
        find_room(work.world, &task.chain, q, false, room);
    }
    return world_holds(*room);
}

// ---- Answers -------------------------------------------------------------------------------------------------------------

// Hand out where the run ended, and the room that there is.
template <int N>
__device__ __forceinline__ void hand_out(const pz_cuda_task &task, const pz_cuda_work &work, const pz_cuda_batch &batch,
                                         int index, const double *start, poise_outcome outcome, int number,
                                         pz_world_room room, pz_arm_run *run)
{
    int n = N ? N : task.chain.n;
    arm_turn_back(&task.chain, n, start, run->q);
    for (int i = 0; i < n; ++i) {
        batch.q[(size_t)index * (size_t)task.nq + (size_t)task.chain.q[i]] = run->q[i];
    }
    if (batch.answers) {
        poise_cuda_answer answer = pz_cuda_answer_of(&task, run, outcome, number);
        if (work.world) {
            world_tell(work.world, &task, room, &answer);
        }
        batch.answers[index] = answer;
    }
}

template <int N>
__device__ __forceinline__ void get_start(const pz_cuda_task &task, const pz_cuda_batch &batch, int index, double *start)
{
    int n = N ? N : task.chain.n;
    for (int i = 0; i < n; ++i) {
        double q = batch.q[(size_t)index * (size_t)task.nq + (size_t)task.chain.q[i]];
        start[i] = clamp(q, task.chain.lower[i], task.chain.upper[i]);
    }
}

__device__ __forceinline__ pz_arm_target target_of(const pz_cuda_task &task, const pz_cuda_batch &batch, int index)
{
    pz_arm_target target = task.target;
    poise_pose pose = batch.targets[index];
    arm_aim(&task.chain, &pose, &target);
    return target;
}

// Is the target met where a search in single precision came near?
template <int N>
__device__ __forceinline__ bool is_met_near(const pz_cuda_task &task, const pz_arm_target *target, const float *near,
                                            const double *start, pz_arm_run *run)
{
    double q[PZ_ARM_MOST];
    arm_frames frames;
#pragma unroll
    for (int i = 0; i < N; ++i) {
        q[i] = pz_fast_coordinate(&task.chain, i, near[i]);
    }
    arm_open(&task.chain, N, start, run);
    arm_begin(&task.chain, N, q, run);
    arm_error error = arm_look(&task.chain, N, false, run->q, target, &frames);
    run->r = error.rr, run->e = error.e;
    return arm_target_is_met(&error, target);
}

// From where a search in single precision came near, to the tolerance.
template <int N, bool inlined>
__device__ __forceinline__ bool settle(const pz_cuda_task &task, const pz_arm_target *target, const float *near,
                                       const double *start, pz_arm_run *run)
{
    double q[PZ_ARM_MOST];
#pragma unroll
    for (int i = 0; i < N; ++i) {
        q[i] = pz_fast_coordinate(&task.chain, i, near[i]);
    }
    run->trace = NULL;
    run->iterations = run->evaluations = 0;
    arm_open(&task.chain, N, start, run);
    arm_begin(&task.chain, N, q, run);
    return inlined ? arm_search(&task.chain, target, PZ_SETTLE_MOST, run, N, false)
                   : run_search<N>(&task.chain, target, PZ_SETTLE_MOST, run);
}

// ---- What is left --------------------------------------------------------------------------------------------------------

__device__ __forceinline__ void leave_to_last(const pz_cuda_work &work, int index)
{
    work.last[atomicAdd(&work.counters->last_count, 1u)] = index;
}

// Searches up to the one before `number` have failed; `last` is the last one in single precision.
__device__ __forceinline__ void leave(const pz_cuda_work &work, int index, int number, int last)
{
    if (number > last) {
        leave_to_last(work, index);
        return;
    }
    unsigned at = atomicAdd(&work.counters->hard_count, 1u);
    work.hard[at] = index;
    work.hard_from[at] = number;
}

#endif
