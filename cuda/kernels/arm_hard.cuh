// Stage `hard` of arm poses (arm.cu): a warp for each target.
#ifndef POISE_CUDA_ARM_HARD_CUH
#define POISE_CUDA_ARM_HARD_CUH

#include "arm_device.cuh"

// Is the target met where a search in single precision came near, or can it be from there?
template <int N>
__device__ __forceinline__ bool settle_near(const pz_cuda_task &task, const pz_cuda_batch &batch, int index,
                                            const float *near, pz_arm_run *run)
{
    double start[PZ_ARM_MOST];
    pz_arm_target target = target_of(task, batch, index);
    get_start<N>(task, batch, index, start);
    return is_met_near<N>(task, &target, near, start, run) || settle<N, false>(task, &target, near, start, run);
}

// Searches from number `from` on, one in each lane, until the first that meets the target without collisions is
// known. True when there is one.
template <int N>
__device__ bool search_side_by_side(const pz_cuda_task &task, const pz_fast_chain &chain, const fast_target &aim,
                                    const pz_cuda_work &work, const pz_cuda_batch &batch, int index, int from)
{
    int lane = (int)(threadIdx.x & 31u), most = task.fast_last;
    pz_world_room room;
    for (int number = from + lane; __any_sync(WHOLE_WARP, number <= most); number += 32) {
        fast_run run = {};
        pz_arm_run exact;
        fast_end end = FAST_GOES_ON;
        bool met = false, is_resolved = number > most;
        unsigned open, met_by = 0;
        fast_begin(&chain, N, least(number, most), batch.q + (size_t)index * (size_t)task.nq, &run);
        do {
            if (!is_resolved && end == FAST_GOES_ON) {
                fast_point at;
                fast_look(&chain, N, &aim, &run, &at);
                end = fast_judge(&at, &run);
                if (end != FAST_DROPPED) {
                    fast_step(&chain, N, &at, &run);
                }
                is_resolved = end == FAST_DROPPED;
            }
            // double precision when the search with the least number that is open has ended; where most answers collide,
            // when all have
            open = __ballot_sync(WHOLE_WARP, !is_resolved);
            unsigned running = __ballot_sync(WHOLE_WARP, !is_resolved && end == FAST_GOES_ON);
            if (open && !(work.world ? running : open & (0u - open) & running)) {
                if (!is_resolved && end != FAST_GOES_ON) {
                    met = settle_near<N>(task, batch, index, run.q, &exact) && is_clear(task, work, exact.q, &room);
                    is_resolved = true;
                }
                met_by = __ballot_sync(WHOLE_WARP, met);
                open = __ballot_sync(WHOLE_WARP, !is_resolved);
            }
            unsigned first = met_by & (0u - met_by);
            if (first && !(open & (first - 1u))) { // none with a lesser number is open
                if (first >> lane & 1u) {
                    double start[PZ_ARM_MOST];
                    get_start<N>(task, batch, index, start);
                    hand_out<N>(task, work, batch, index, start, POISE_OUTCOME_REACHED, number, room, &exact);
                }
                return true;
            }
        } while (open);
    }
    return false;
}

template <int N>
__global__ void __launch_bounds__(THREADS)
    hard_kernel(const __grid_constant__ pz_cuda_task task, const __grid_constant__ pz_fast_chain chain, pz_cuda_work work,
                pz_cuda_batch batch, bool is_first)
{
    cudaTriggerProgrammaticLaunchCompletion(); // the last stage may get ready
    unsigned lane = threadIdx.x & 31u, warp = (blockIdx.x * THREADS + threadIdx.x) / 32u, warps = gridDim.x * WARPS;
    unsigned count = is_first ? (unsigned)batch.count : work.counters->hard_count;
    for (unsigned at = warp; at < count;) {
        int index = is_first ? (int)at : work.hard[at], from = is_first ? 0 : work.hard_from[at];
        fast_target aim = fast_aim(&chain, batch.targets + index);
        bool far = fast_is_far(&chain, &aim);
        if ((far || !search_side_by_side<N>(task, chain, aim, work, batch, index, from)) && lane == 0) {
            leave_to_last(work, index);
        }
        if (is_first) {
            at += warps;
        } else {
            unsigned next = lane == 0 ? atomicAdd(&work.counters->hard_next, 1u) : 0u;
            at = warps + __shfl_sync(WHOLE_WARP, next, 0);
        }
    }
}

#endif
