// Arm poses on the device: stages, each of which takes what the one before left.
//
//   search   a thread for each target, some searches in single precision; a thread that is done takes the next target
//   check    what came near is evaluated in double; most of it is within the tolerance. Where shapes are kept apart, what
//            collides is searched again from the next start on, all such targets together: a round of both stages
//   settle   what is not is brought there by the library's own search, in double
//   hard     a warp for each target that is left, a search in each lane
//   last     a warp or a block for each target that is left: the library's algorithm (solve/arm.c) in double from its first
//            search on, the searches and then the descents to the closest pose side by side
//
// The answer of a target is that of the first search, by number, that meets it without collisions, whoever ran it: it does
// not depend on the size of the batch or on what else is in it. Small batches begin with `hard`.
#include "lib/arm_fast.h"
#include "lib/arm_world.h"

#include "solve/arm_kernel.h"

#include <limits.h>

#define SMALL      2048 // targets up to which warps begin at once
#define THREADS    128
#define WARPS      (THREADS / 32)
#define WHOLE_WARP 0xffffffffu

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
    return world_is_clear(*room);
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
            world_report(work.world, &task, room, &answer);
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
    arm_error error = arm_evaluate(&task.chain, N, false, run->q, target, &frames);
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

__device__ __forceinline__ void queue_for_last(const pz_cuda_work &work, int index)
{
    work.last[atomicAdd(&work.counters->last_count, 1u)] = index;
}

// Searches up to the one before `number` have failed; `last` is the last one in single precision.
__device__ __forceinline__ void queue_for_hard(const pz_cuda_work &work, int index, int number, int last)
{
    if (number > last) {
        queue_for_last(work, index);
        return;
    }
    unsigned at = atomicAdd(&work.counters->hard_count, 1u);
    work.hard[at] = index;
    work.hard_from[at] = number;
}

// ---- Stages search, check and settle: a thread for each target -----------------------------------------------------------

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
                    queue_for_last(work, index);
                    index = -1;
                } else if (number > most) {
                    queue_for_hard(work, index, number, last);
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
        fast_evaluate(&chain, N, &target, &run, &at);
        fast_end end = fast_judge(&at, &run);
        if (end == FAST_DROPPED && index >= 0) {
            number += 1;
            if (number <= most) {
                fast_begin(&chain, N, number, batch.q, &run);
            } else {
                queue_for_hard(work, index, number, last);
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

// Most of what came near is within the tolerance: one evaluation in double, and no more registers than that needs. Where
// shapes are kept apart, what collides is searched again in the next round.
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
        queue_for_hard(work, index, number + 1, task.fast_last);
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
            queue_for_hard(work, index, number + 1, task.fast_last);
        }
    }
}

// ---- Stage hard: a warp for each target ----------------------------------------------------------------------------------

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
                fast_evaluate(&chain, N, &aim, &run, &at);
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
            queue_for_last(work, index);
        }
        if (is_first) {
            at += warps;
        } else {
            unsigned next = lane == 0 ? atomicAdd(&work.counters->hard_next, 1u) : 0u;
            at = warps + __shfl_sync(WHOLE_WARP, next, 0);
        }
    }
}

// ---- Stage last: the library's algorithm (solve/arm.c) by a warp or a block ----------------------------------------------

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

__device__ __forceinline__ void team_sync(const team &t)
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
            arm_error error = arm_evaluate(chain, n, N == 0, run->q, target, &frames);
            double f = arm_energy(&error);
            met = arm_target_is_met(&error, target);
            if (arm_ends(&progress, f, met, longest)) {
                run->f = f, run->r = error.rr, run->e = error.e;
                has_ended = met || !pz_arm_is_near_zero(run);
                state = has_ended ? state : LANE_WAITS;
            } else {
                arm_step(chain, n, N == 0, &frames, &error, arm_damping(f), run);
            }
        }
        pz_world_room room = {INFINITY, -1};
        if (met && work.world) {
            find_room(work.world, chain, run->q, true, &room);
        }
        bool clear = world_is_clear(room);
        if (met && clear) {
            atomicMin(&shared->first_met, number);
        }
        hand_in(has_ended, met, clear, room, n, number, target, run, own);
    }
}

// What the warps of a block found, put together with what the first one did.
template <int N> __device__ __forceinline__ void merge_warps(int n, int warps, shared_call<N> *shared)
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
    team_sync(t);
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
    team_sync(t);
    int most = arm_last_search(&task.chain, &shared->target, task.restarts);
    run.trace = NULL;
    run.iterations = run.evaluations = 0;
    arm_open(&task.chain, n, start, &run);
    bool is_short = N != 0 && work.world; // all searches were made in single precision
    run_searches(task, work, is_short ? least(most, PZ_FAST_SEARCHES - 1) : most, start, &run, shared, own);
    team_sync(t);
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
        merge_warps(n, t.size / 32, shared);
    }
    team_sync(t);
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
        poise_outcome outcome = world_is_clear(room) ? arm_outcome(shared->end[best]) : POISE_OUTCOME_INFEASIBLE;
        hand_out<N>(task, work, batch, index, start, outcome, most, room, &run);
    }
}

// The last block of all leaves the counters at 0 for the next call.
__device__ __forceinline__ void reset_counters(pz_cuda_counters *counters)
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
        team_sync(t);
        if (t.rank == 0) {
            own->at = teams + atomicAdd(&work.counters->last_next, 1u);
        }
        team_sync(t);
        at = own->at;
    }
    reset_counters(work.counters);
}

// ---- Launches ------------------------------------------------------------------------------------------------------------

template <int N> static cudaError_t grids_of(int processors, pz_cuda_grids *grids)
{
    int search = 0, check = 0, settle = 0, hard = 0, last = 0;
    cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&last, last_kernel<N>, LAST_THREADS, 0);
    if constexpr (N != 0) {
        error = error ? error : cudaOccupancyMaxActiveBlocksPerMultiprocessor(&search, search_kernel<N>, THREADS, 0);
        error = error ? error : cudaOccupancyMaxActiveBlocksPerMultiprocessor(&check, check_apart_kernel<N>, THREADS, 0);
        error = error ? error : cudaOccupancyMaxActiveBlocksPerMultiprocessor(&settle, settle_kernel<N>, THREADS, 0);
        error = error ? error : cudaOccupancyMaxActiveBlocksPerMultiprocessor(&hard, hard_kernel<N>, THREADS, 0);
    }
    *grids =
        pz_cuda_grids{search * processors, check * processors, settle * processors, hard * processors, last * processors};
    return error;
}

cudaError_t pz_cuda_arm_grids(int joints, int processors, pz_cuda_grids *grids)
{
    return joints == 6   ? grids_of<6>(processors, grids)
           : joints == 7 ? grids_of<7>(processors, grids)
                         : grids_of<0>(processors, grids);
}

static int blocks_for(int count, int each, int most)
{
    int blocks = (count + each - 1) / each;
    return blocks < most ? blocks : most;
}

// Launch a kernel that waits by itself for the one before: its way to the device is not added to the time of a small batch.
template <typename... Types>
static cudaError_t launch_early(void (*kernel)(Types...), int blocks, int threads, cudaStream_t stream,
                                const Types &...arguments)
{
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)blocks);
    config.blockDim = dim3((unsigned)threads);
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}

// Search and check; where shapes are kept apart, round by round. Rounds without targets end at once.
template <int N>
static void launch_searches(const pz_cuda_task *task, const pz_fast_chain *fast, const pz_cuda_work *work,
                            const pz_cuda_batch *batch, const pz_cuda_grids *grids, cudaStream_t stream)
{
    int search = blocks_for(batch->count, THREADS, grids->search), all = blocks_for(batch->count, THREADS, INT_MAX);
    int check = blocks_for(batch->count, THREADS, grids->check);
    for (int round = 0; round < (work->world ? PZ_ARM_ROUNDS : 1); ++round) {
        search_kernel<N><<<search, THREADS, 0, stream>>>(*fast, *work, *batch, task->nq, task->fast_last, round);
        if (work->world) {
            check_apart_kernel<N><<<check, THREADS, 0, stream>>>(*task, *work, *batch, round);
        } else {
            check_kernel<N><<<all, THREADS, 0, stream>>>(*task, *work, *batch);
        }
    }
}

template <int N>
static cudaError_t launch(const pz_cuda_task *task, const pz_fast_chain *fast, const pz_cuda_work *work,
                          const pz_cuda_batch *batch, const pz_cuda_grids *grids, cudaStream_t stream)
{
    bool is_small = batch->count <= SMALL;
    int last = blocks_for(batch->count, 1, grids->last);
    if constexpr (N != 0) {
        if (!is_small) {
            launch_searches<N>(task, fast, work, batch, grids, stream);
            settle_kernel<N><<<blocks_for(batch->count, THREADS, grids->settle), THREADS, 0, stream>>>(*task, *work, *batch);
        }
        int hard = blocks_for(batch->count, WARPS, grids->hard);
        hard_kernel<N><<<hard, THREADS, 0, stream>>>(*task, *fast, *work, *batch, is_small);
        cudaError_t error = launch_early(last_kernel<N>, last, LAST_THREADS, stream, *task, *work, *batch, false);
        return error ? error : cudaPeekAtLastError();
    } else {
        last_kernel<N><<<last, LAST_THREADS, 0, stream>>>(*task, *work, *batch, true);
        return cudaPeekAtLastError();
    }
}

cudaError_t pz_cuda_arm_launch(const pz_cuda_task *task, const pz_fast_chain *fast, const pz_cuda_work *work,
                               const pz_cuda_batch *batch, const pz_cuda_grids *grids, cudaStream_t stream)
{
    return !fast                ? launch<0>(task, fast, work, batch, grids, stream)
           : task->chain.n == 6 ? launch<6>(task, fast, work, batch, grids, stream)
                                : launch<7>(task, fast, work, batch, grids, stream);
}
