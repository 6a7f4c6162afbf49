// Stage `last` of arm poses (arm.cu): the library's algorithm (solve/arm.c) by a warp or a block.
#ifndef POISE_CUDA_ARM_LAST_CUH
#define POISE_CUDA_ARM_LAST_CUH

#include "arm_device.cuh"

#include <limits.h>

#define LAST_THREADS 256
#define WAITING      24 // lanes that wait to be finished by descent, before a warp does so
#define BLOCK_EACH   4  // targets of the last stage for each block, up to which a block takes one of them

// What the lanes of a warp share. The first warp of a team, the threads of a warp or of a block that work on one target, has
// what the team shares.
template <int N> struct shared_call {
    static constexpr int JOINTS = N ? N : PZ_ARM_MOST;
    // of the team
    pz_arm_target target;
    int next;                     // search that nobody has begun
    int first_met;                // number of the first search that met the target; INT_MAX: none
    double cost[PZ_ARM_ENDS + 1]; // of the descents
    pz_arm_end end[PZ_ARM_ENDS + 1];
    unsigned at;
    // of the warp
    int met; // the same among its own
    double met_q[JOINTS], met_r, met_e;
    pz_world_room met_room;
    int blocked; // number of the search that met the target, collides, and breaks the least; INT_MAX: none
    double blocked_q[JOINTS], blocked_r, blocked_e;
    pz_world_room blocked_room;
    int end_count; // the best ends of its searches, the best first
    double end_cost[PZ_ARM_ENDS], end_q[PZ_ARM_ENDS][JOINTS];
    int end_number[PZ_ARM_ENDS];
};

struct team {
    int size, rank;
};

__device__ __forceinline__ void meet(const team &t)
{
    if (t.size == 32) {
        __syncwarp();
    } else {
        __syncthreads();
    }
}

// A search met the target: the one with the least number counts.
template <int N>
__device__ __forceinline__ void note_met(int n, int number, const pz_arm_run *run, pz_world_room room, shared_call<N> *own)
{
    if (number < own->met) {
        own->met = number;
        for (int i = 0; i < n; ++i) {
            own->met_q[i] = run->q[i];
        }
        own->met_r = run->r, own->met_e = run->e;
        own->met_room = room;
    }
}

// A search met the target, but collides: the one that breaks the least counts.
template <int N>
__device__ __forceinline__ void note_blocked(int n, int number, const double *q, double r, double e, pz_world_room room,
                                             shared_call<N> *own)
{
    double best = own->blocked_room.room;
    if (own->blocked == INT_MAX || room.room > best || (room.room == best && number < own->blocked)) {
        own->blocked = number;
        for (int i = 0; i < n; ++i) {
            own->blocked_q[i] = q[i];
        }
        own->blocked_r = r, own->blocked_e = e;
        own->blocked_room = room;
    }
}

// Does the end of a search come before another one? As arm_keep_end has them, which sees them in the order of their
// numbers.
__device__ __forceinline__ bool is_before(double cost, int number, double other_cost, int other_number)
{
    return cost < other_cost || (cost == other_cost && number < other_number);
}

// Keep where a search ended, if it is among the best.
template <int N>
__device__ __forceinline__ void note_end(int n, double cost, int number, const double *q, shared_call<N> *own)
{
    int last = PZ_ARM_ENDS - 1, at = own->end_count < PZ_ARM_ENDS ? own->end_count : last;
    bool is_full = own->end_count == PZ_ARM_ENDS;
    if (!is_finite(cost) || (is_full && !is_before(cost, number, own->end_cost[last], own->end_number[last]))) {
        return;
    }
    own->end_count += !is_full;
    for (; at > 0 && is_before(cost, number, own->end_cost[at - 1], own->end_number[at - 1]); --at) {
        own->end_cost[at] = own->end_cost[at - 1];
        own->end_number[at] = own->end_number[at - 1];
        for (int i = 0; i < n; ++i) {
            own->end_q[at][i] = own->end_q[at - 1][i];
        }
    }
    own->end_cost[at] = cost;
    own->end_number[at] = number;
    for (int i = 0; i < n; ++i) {
        own->end_q[at][i] = q[i];
    }
}

// Lanes whose search ended hand in what it came to, one after the other.
template <int N>
__device__ __forceinline__ void hand_in(bool has_ended, bool met, bool clear, pz_world_room room, int n, int number,
                                        const pz_arm_target *target, const pz_arm_run *run, shared_call<N> *own)
{
    unsigned lane = threadIdx.x & 31u;
    for (unsigned left = __ballot_sync(WHOLE_WARP, has_ended); left; left &= left - 1u) {
        if ((left & (0u - left)) >> lane & 1u) {
            if (met && clear) {
                note_met(n, number, run, room, own);
            } else if (met) {
                note_blocked(n, number, run->q, run->r, run->e, room, own);
            } else {
                note_end(n, pz_arm_cost(target, run), number, run->q, own);
            }
        }
        __syncwarp();
    }
}

enum lane_state { LANE_SEARCHES, LANE_WAITS, LANE_IS_DONE };

// All searches up to number `most`, as pz_arm_search, a lane whose search is over taking the next one. Those that are to be
// finished by descent wait until there are some.
template <int N>
__device__ __forceinline__ void run_searches(const pz_cuda_task &task, const pz_cuda_work &work, int most,
                                             const double *start, pz_arm_run *run, shared_call<N> *shared,
                                             shared_call<N> *own)
{
    const pz_arm_chain *chain = &task.chain;
    const pz_arm_target *target = &shared->target;
    int n = N ? N : chain->n, number = -1, longest = pz_arm_search_most(task.max_iterations);
    arm_progress progress = arm_progress_begin();
    lane_state state = LANE_SEARCHES;
    bool has_ended = true, met = false; // there is none to hand in at first
    for (;;) {
        if (state != LANE_IS_DONE && has_ended) {
            number = atomicAdd(&shared->next, 1);
            state = number <= most ? LANE_SEARCHES : LANE_IS_DONE;
            double q[PZ_ARM_MOST];
            if (number > 0) {
                for (int i = 0; i < n; ++i) {
                    q[i] = arm_sequence_at(chain, i, chain->ratio[i], task.first_start + number);
                }
            }
            arm_begin(chain, n, number == 0 ? start : q, run);
            progress = arm_progress_begin();
        }
        int first_met = (threadIdx.x & 31u) == 0 ? atomicMin(&shared->first_met, INT_MAX) : 0;
        state = number > __shfl_sync(WHOLE_WARP, first_met, 0) ? LANE_IS_DONE : state;
        unsigned searching = __ballot_sync(WHOLE_WARP, state == LANE_SEARCHES);
        unsigned waiting = __ballot_sync(WHOLE_WARP, state == LANE_WAITS);
        if (!(searching | waiting)) {
            return;
        }
        has_ended = met = false;
        if (!searching || __popc(waiting) >= WAITING) {
            if (state == LANE_WAITS) {
                int longer = pz_arm_finish_most(task.max_iterations);
                met = run_finish<N>(chain, target, true, longer, run) == PZ_ARM_MET;
                has_ended = true;
            }
        } else if (state == LANE_SEARCHES) {
            arm_frames frames;
            arm_error error = arm_look(chain, n, N == 0, run->q, target, &frames);
            double f = arm_energy(&error);
            met = arm_target_is_met(&error, target);
            if (arm_ends(&progress, f, met, longest)) {
                run->f = f, run->r = error.rr, run->e = error.e;
                has_ended = met || !pz_arm_is_near_zero(run);
                state = has_ended ? state : LANE_WAITS;
            } else {
                arm_take_step(chain, n, N == 0, &frames, &error, arm_damping(f), run);
            }
        }
        pz_world_room room = {INFINITY, -1};
        if (met && work.world) {
            find_room(work.world, chain, run->q, true, &room);
        }
        bool clear = world_holds(room);
        if (met && clear) {
            atomicMin(&shared->first_met, number);
        }
        hand_in(has_ended, met, clear, room, n, number, target, run, own);
    }
}

// What the warps of a block found, put together with what the first one did.
template <int N> __device__ __forceinline__ void put_together(int n, int warps, shared_call<N> *shared)
{
    for (int w = 1; w < warps; ++w) {
        const shared_call<N> *other = &shared[w];
        for (int k = 0; k < other->end_count; ++k) {
            note_end(n, other->end_cost[k], other->end_number[k], other->end_q[k], shared);
        }
        if (other->blocked != INT_MAX) {
            note_blocked(n, other->blocked, other->blocked_q, other->blocked_r, other->blocked_e, other->blocked_room,
                         shared);
        }
    }
}

// The descents of find_closest of solve/arm.c side by side: who has the closest pose.
template <int N>
__device__ __forceinline__ int find_closest(const pz_cuda_task &task, const team &t, shared_call<N> *shared,
                                            const double *start, pz_arm_run *run)
{
    int count = task.only_near ? 1 : shared->end_count + 1, best = 0;
    if (t.rank < count) {
        arm_begin(&task.chain, N ? N : task.chain.n, t.rank == 0 ? start : shared->end_q[t.rank - 1], run);
        shared->end[t.rank] = run_finish<N>(&task.chain, &shared->target, false, task.max_iterations, run);
        shared->cost[t.rank] = pz_arm_cost(&task.target, run);
    }
    meet(t);
    for (int k = 1; k < count && shared->end[best] != PZ_ARM_MET; ++k) {
        best = shared->end[k] == PZ_ARM_MET || shared->cost[k] < shared->cost[best] ? k : best;
    }
    return best;
}

template <int N>
__device__ __forceinline__ void hand_out_blocked(const pz_cuda_task &task, const pz_cuda_work &work,
                                                 const pz_cuda_batch &batch, int index, const double *start, int number,
                                                 const shared_call<N> *shared, pz_arm_run *run)
{
    for (int i = 0; i < (N ? N : task.chain.n); ++i) {
        run->q[i] = shared->blocked_q[i];
    }
    run->r = shared->blocked_r, run->e = shared->blocked_e;
    hand_out<N>(task, work, batch, index, start, POISE_OUTCOME_INFEASIBLE, number, shared->blocked_room, run);
}

template <int N>
__device__ __forceinline__ void solve_last(const pz_cuda_task &task, const pz_cuda_work &work, const pz_cuda_batch &batch,
                                           const team &t, int index, shared_call<N> *shared)
{
    double start[PZ_ARM_MOST];
    pz_arm_run run;
    int n = N ? N : task.chain.n;
    get_start<N>(task, batch, index, start);
    shared_call<N> *own = shared + t.rank / 32;
    if (t.rank == 0) {
        shared->target = target_of(task, batch, index);
        shared->next = 0;
        shared->first_met = INT_MAX;
    }
    if (t.rank % 32 == 0) {
        own->end_count = 0;
        own->met = own->blocked = INT_MAX;
    }
    meet(t);
    int most = arm_last_search(&task.chain, &shared->target, task.restarts);
    run.trace = NULL;
    run.iterations = run.evaluations = 0;
    arm_open(&task.chain, n, start, &run);
    bool is_short = N != 0 && work.world; // all searches were made in single precision
    run_searches(task, work, is_short ? least(most, PZ_FAST_SEARCHES - 1) : most, start, &run, shared, own);
    meet(t);
    if (shared->first_met != INT_MAX) {
        if (t.rank % 32 == 0 && own->met == shared->first_met) {
            for (int i = 0; i < n; ++i) {
                run.q[i] = own->met_q[i];
            }
            run.r = own->met_r, run.e = own->met_e;
            hand_out<N>(task, work, batch, index, start, POISE_OUTCOME_REACHED, own->met, own->met_room, &run);
        }
        return;
    }
    if (t.rank == 0) {
        put_together(n, t.size / 32, shared);
    }
    meet(t);
    if (shared->blocked != INT_MAX) {
        if (t.rank == 0) {
            hand_out_blocked(task, work, batch, index, start, most, shared, &run);
        }
        return;
    }
    int best = find_closest<N>(task, t, shared, start, &run);
    if (t.rank == best) {
        pz_world_room room = {INFINITY, -1};
        if (work.world) {
            find_room(work.world, &task.chain, run.q, true, &room);
        }
        poise_outcome outcome = world_holds(room) ? arm_outcome(shared->end[best]) : POISE_OUTCOME_INFEASIBLE;
        hand_out<N>(task, work, batch, index, start, outcome, most, room, &run);
    }
}

// The last block of all leaves the counters at 0 for the next call.
__device__ __forceinline__ void leave_clean(pz_cuda_counters *counters)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        if (atomicAdd(&counters->done, 1u) == gridDim.x - 1u) {
            *counters = pz_cuda_counters{};
        }
    }
}

// A block for each target while they are few, so that none takes long; else a warp, so that none waits for a lane.
template <int N>
__global__ void __launch_bounds__(LAST_THREADS)
    last_kernel(const __grid_constant__ pz_cuda_task task, pz_cuda_work work, pz_cuda_batch batch, bool is_first)
{
    __shared__ shared_call<N> shared[LAST_THREADS / 32];
    cudaGridDependencySynchronize(); // the stage before is done
    unsigned count = is_first ? (unsigned)batch.count : work.counters->last_count;
    team t = {count <= BLOCK_EACH * gridDim.x ? LAST_THREADS : 32, 0};
    t.rank = (int)threadIdx.x % t.size;
    unsigned teams = gridDim.x * (unsigned)(LAST_THREADS / t.size);
    shared_call<N> *own = &shared[threadIdx.x / (unsigned)t.size];
    for (unsigned at = (blockIdx.x * LAST_THREADS + threadIdx.x) / (unsigned)t.size; at < count;) {
        solve_last<N>(task, work, batch, t, is_first ? (int)at : work.last[at], own);
        meet(t);
        if (t.rank == 0) {
            own->at = teams + atomicAdd(&work.counters->last_next, 1u);
        }
        meet(t);
        at = own->at;
    }
    leave_clean(work.counters);
}

#endif
