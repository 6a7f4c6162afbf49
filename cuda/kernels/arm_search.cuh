// Stages `search`, `check` and `settle` of arm poses (arm.cu): a thread for each target.
#ifndef POISE_CUDA_ARM_SEARCH_CUH
#define POISE_CUDA_ARM_SEARCH_CUH

#include "arm_device.cuh"

#define SOLO_SEARCHES 32    // by a thread alone; then a warp takes over
#define REFILL        8     // idle lanes before a warp fetches new targets for them
#define PORTION       256   // targets that a warp claims at once
#define FEW           16384 // targets of a further round, up to which warps take over: threads alone would take longer

// Targets that a warp has claimed, and its next one.
struct portion {
    unsigned next, end;
};

// The targets that one round searches.
struct round_list {
    const int *list; // NULL: all
    unsigned count;
};

__device__ __forceinline__ round_list list_of(const pz_cuda_work &work, const pz_cuda_batch &batch, int round)
{
    return round == 0 ? round_list{NULL, (unsigned)batch.count}
                      : round_list{work.again[round % 2], work.counters->count[round]};
}

// Give idle lanes a target each, as far as there are any. `index` becomes -1 where there is none.
__device__ __forceinline__ void claim(unsigned *next, const round_list &all, unsigned idle, portion &own, int &index)
{
    unsigned lane = threadIdx.x & 31u, rank = __popc(idle & ((1u << lane) - 1u)), wanted = __popc(idle);
    unsigned left = own.end - own.next, first = own.next, fresh = 0;
    if (left < wanted) {
        if (lane == 0) {
            fresh = atomicAdd(next, (unsigned)PORTION);
        }
        fresh = __shfl_sync(WHOLE_WARP, fresh, 0);
    }
    unsigned at = rank < left ? first + rank : fresh + (rank - left);
    bool has_one = (rank < left || left < wanted) && at < all.count;
    own.next = left < wanted ? fresh + (wanted - left) : first + wanted;
    own.end = left < wanted ? fresh + PORTION : own.end;
    if (idle >> lane & 1u) {
        index = !has_one ? -1 : all.list ? all.list[at] : (int)at;
    }
}

template <int N>
__global__ void __launch_bounds__(THREADS, 4) search_kernel(const __grid_constant__ pz_fast_chain chain, pz_cuda_work work,
                                                            pz_cuda_batch batch, int nq, int last, int round)
{
    round_list all = list_of(work, batch, round);
    portion own = {0, 0};
    int index = -1, number = 0, most = round > 0 && all.count <= FEW ? -1 : least(last, SOLO_SEARCHES - 1);
    bool there_is_more = true;
    fast_run run = {};
    fast_target target = {};
    for (;;) {
        unsigned idle = __ballot_sync(WHOLE_WARP, index < 0);
        if (idle && there_is_more && (__popc(idle) >= REFILL || idle == WHOLE_WARP)) {
            bool was_idle = index < 0;
            claim(&work.counters->next[round], all, idle, own, index);
            there_is_more = own.next < all.count;
            if (was_idle && index >= 0) {
                target = fast_aim(&chain, batch.targets + index);
                number = round == 0 ? 0 : work.near_from[index] + 1;
                fast_begin(&chain, N, number, batch.q + (size_t)index * (size_t)nq, &run);
                work.near_from[index] = -1;
                if (fast_is_far(&chain, &target)) {
                    leave_to_last(work, index);
                    index = -1;
                } else if (number > most) {
                    leave(work, index, number, last);
                    index = -1;
                }
            }
            idle = __ballot_sync(WHOLE_WARP, index < 0);
        }
        if (idle == WHOLE_WARP) {
            if (there_is_more) {
                continue;
            }
            break;
        }
        fast_point at;
        fast_look(&chain, N, &target, &run, &at);
        fast_end end = fast_judge(&at, &run);
        if (end == FAST_DROPPED && index >= 0) {
            number += 1;
            if (number <= most) {
                fast_begin(&chain, N, number, batch.q, &run);
            } else {
                leave(work, index, number, last);
                index = -1;
            }
        }
        if (end != FAST_DROPPED) {
            fast_step(&chain, N, &at, &run);
        }
        if (end == FAST_NEAR && index >= 0) {
#pragma unroll
            for (int i = 0; i < N; ++i) {
                work.near[(size_t)index * N + i] = run.q[i];
            }
            work.near_from[index] = number;
            index = -1;
        }
    }
}

// Most of what came near is within the tolerance: one look in double, and no more registers than that needs. Where shapes
// are kept apart, what collides is searched again in the next round.
template <int N, bool APART>
__device__ __forceinline__ void check_one(const pz_cuda_task &task, const pz_cuda_work &work, const pz_cuda_batch &batch,
                                          int index, int round)
{
    int number = work.near_from[index];
    if (number < 0) {
        return;
    }
    double start[PZ_ARM_MOST];
    pz_arm_run run;
    pz_world_room room = {INFINITY, -1};
    pz_arm_target target = target_of(task, batch, index);
    get_start<N>(task, batch, index, start);
    if (!is_met_near<N>(task, &target, work.near + (size_t)index * N, start, &run)) {
        work.rest[atomicAdd(&work.counters->rest_count, 1u)] = index;
    } else if (!APART || is_clear(task, work, run.q, &room)) {
        hand_out<N>(task, work, batch, index, start, POISE_OUTCOME_REACHED, number, room, &run);
    } else if (round + 1 < PZ_ARM_ROUNDS) {
        work.again[(round + 1) % 2][atomicAdd(&work.counters->count[round + 1], 1u)] = index;
    } else {
        leave(work, index, number + 1, task.fast_last);
    }
}

template <int N>
__global__ void __launch_bounds__(THREADS)
    check_kernel(const __grid_constant__ pz_cuda_task task, pz_cuda_work work, pz_cuda_batch batch)
{
    int index = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (index < batch.count) {
        check_one<N, false>(task, work, batch, index, 0);
    }
}

template <int N>
__global__ void __launch_bounds__(THREADS)
    check_apart_kernel(const __grid_constant__ pz_cuda_task task, pz_cuda_work work, pz_cuda_batch batch, int round)
{
    round_list all = list_of(work, batch, round);
    for (unsigned at = blockIdx.x * THREADS + threadIdx.x; at < all.count; at += gridDim.x * THREADS) {
        check_one<N, true>(task, work, batch, all.list ? all.list[at] : (int)at, round);
    }
}

template <int N>
__global__ void __launch_bounds__(THREADS)
    settle_kernel(const __grid_constant__ pz_cuda_task task, pz_cuda_work work, pz_cuda_batch batch)
{
    unsigned count = work.counters->rest_count;
    for (unsigned at = blockIdx.x * THREADS + threadIdx.x; at < count; at += gridDim.x * THREADS) {
        int index = work.rest[at], number = work.near_from[index];
        double start[PZ_ARM_MOST];
        pz_arm_run run;
        pz_arm_target target = target_of(task, batch, index);
        get_start<N>(task, batch, index, start);
        pz_world_room room;
        if (settle<N, true>(task, &target, work.near + (size_t)index * N, start, &run) &&
            is_clear(task, work, run.q, &room)) {
            hand_out<N>(task, work, batch, index, start, POISE_OUTCOME_REACHED, number, room, &run);
        } else {
            leave(work, index, number + 1, task.fast_last);
        }
    }
}

#endif
