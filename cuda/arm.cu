// Arm poses on the device: stages, each of which takes what the one before left.
//
//   search   a thread for each target, some searches in single precision; a thread that is done takes the next target
//   check    what came near is looked at in double; most of it is within the tolerance
//   settle   what is not is brought there by the library's own search, in double
//   hard     a warp for each target that is left, a search in each lane
//   last     a warp or a block for each target that is left: the library's algorithm (solve/arm.c) in double from its first
//            search on, the searches and then the descents to the closest pose side by side
//
// The answer of a target is that of the first search, by number, that meets it, whoever ran it: it does not depend on the
// size of the batch or on what else is in it. Small batches begin with `hard`.
#include "device.h"

#include "device_begin.h"

#define pz_sincos_array sincos_array_by_blocks
#include "math/trig.c"
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

#include "solve/arm_finish.c"
#include "solve/arm_runs.c"
#include "solve/arm_search.c"

#include "device_end.h"

#include "arm_fast.h"

#include <limits.h>

#define THREADS     128
#define WARPS       (THREADS / 32)
#define WHOLE_WARP  0xffffffffu
#define REFILL      8    // idle lanes before a warp fetches new targets for them
#define PORTION     256  // targets that a warp claims at once
#define SETTLE_MOST 8    // iterations in double after a search in single precision
#define SMALL       2048 // targets up to which warps begin at once

#define LAST_THREADS 256
#define WAITING      24 // lanes that wait to be finished by descent, before a warp does so
#define BLOCK_EACH   4  // targets of the last stage for each block, up to which a block takes one of them

// no traces and no wide registers here
__device__ void pz_arm_record(pz_arm_run *run, double f, double damping, bool exact)
{
    (void)run, (void)f, (void)damping, (void)exact;
}

__device__ bool pz_arm_search_wide(const pz_arm_chain *chain, const pz_arm_target *target, int most, pz_arm_run *run)
{
    (void)chain, (void)target, (void)most, (void)run;
    return false;
}

__device__ double pz_largest(const double *x, int n)
{
    (void)x, (void)n;
    return 0.0;
}

__device__ static int least_of(int a, int b)
{
    return a < b ? a : b;
}

// ---- Answers -------------------------------------------------------------------------------------------------------------

// The library's search and descent with a constant number of joints; N = 0: any chain.
template <int N>
__device__ __noinline__ bool run_search(const pz_arm_chain *chain, const pz_arm_target *target, int most, pz_arm_run *run)
{
    return N ? search(chain, target, most, run, N, false) : search(chain, target, most, run, chain->n, true);
}

// The descent of solve/arm_finish.c, step for step, with its points and models by value: pointers to them would keep them out
// of registers.
template <int N>
__device__ __forceinline__ pz_arm_end descend(const pz_arm_chain *chain, const pz_arm_target *target, bool zero, int most,
                                              pz_arm_run *run)
{
    arm_point at;
    arm_model m;
    double W = zero ? 1.0 : target->W, lambda = zero ? LAMBDA_NEAR : LAMBDA_FAR, growth = 2.0, x[PZ_ARM_MOST];
    int blind_left = BLIND_STEPS, k = 0;
    pz_arm_end end = PZ_ARM_BUDGET;
    bool accepted = true;
    look(chain, target, N, false, run, W, &at);
    for (;; ++k) {
        if (accepted) {
            if (arm_is_met(&at.error, target)) {
                end = PZ_ARM_MET;
                break;
            }
            make_columns(chain, N, false, &at.frames, &at.error, W, run->side, &m);
            if (!zero && is_stationary(N, &m, W, at.f, target->stationary)) {
                end = PZ_ARM_CLOSEST;
                break;
            }
            make_exact(N, &at.frames, &at.error, target, W, &m);
        }
        if (k == most) {
            break;
        }
        double q[N], side[N], predicted, before = at.f;
        for (int i = 0; i < N; ++i) {
            q[i] = run->q[i], side[i] = run->side[i];
        }
        bool exact = solve(N, m.exact, m.g, lambda, x), clamped;
        if (exact) {
            clamped = move(chain, N, false, run, x);
            predicted = decrease(N, m.exact, m.g, x);
        } else {
            make_gauss_newton(N, W, &m);
            solve(N, m.gauss_newton, m.g, lambda, x);
            clamped = move(chain, N, false, run, x);
            predicted = decrease(N, m.gauss_newton, m.g, x);
        }
        arm_point trial;
        look(chain, target, N, false, run, W, &trial);
        double noise = ROUNDING * (before + W * chain->reach * sqrt(at.error.rr) + sqrt(at.error.e));
        bool blind = fabs(predicted) <= noise;
        accepted = trial.f < before || (blind && trial.f <= before + noise);
        blind_left -= blind;
        if (accepted) {
            at = trial;
            double shrink = blind ? 1.0 : 2.0 * (before - at.f) / predicted - 1.0;
            lambda = max2(lambda * max2(SHRINK_MOST, 1.0 - shrink * shrink * shrink), LAMBDA_LEAST);
            growth = 2.0;
        } else {
            for (int i = 0; i < N; ++i) {
                run->q[i] = q[i], run->side[i] = side[i];
            }
            lambda *= growth;
            growth *= 2.0;
        }
        bool hopeless = zero && exact && !clamped && predicted < HOPELESS * before;
        if (hopeless || blind_left < 0 || lambda > LAMBDA_MOST) {
            end = hopeless ? PZ_ARM_GAVE_UP : blind_left < 0 ? PZ_ARM_CLOSEST : PZ_ARM_STALLED;
            break;
        }
    }
    run->f = 0.5 * at.error.rr + at.error.e, run->r = at.error.rr, run->e = at.error.e;
    return end;
}

template <int N>
__device__ __noinline__ pz_arm_end run_finish(const pz_arm_chain *chain, const pz_arm_target *target, bool zero, int most,
                                              pz_arm_run *run)
{
    if constexpr (N != 0) {
        return descend<N>(chain, target, zero, most, run);
    } else {
        return finish(chain, target, zero, most, run, chain->n, true);
    }
}

// Hand out where the run ended. Angles and lengths as is_reached of solve/arm.c has them.
template <int N>
__device__ __forceinline__ void hand_out(const pz_cuda_task &task, const pz_cuda_batch &batch, int index,
                                         const double *start, poise_outcome outcome, int number, pz_arm_run *run)
{
    int n = N ? N : task.chain.n;
    arm_turn_back(&task.chain, n, start, run->q);
    for (int i = 0; i < n; ++i) {
        batch.q[(size_t)index * (size_t)task.nq + (size_t)task.chain.q[i]] = run->q[i];
    }
    if (batch.answers) {
        double e = 0.5 * run->e;
        poise_cuda_answer answer;
        answer.outcome = outcome;
        answer.restarts = number;
        answer.cost = task.weight * (0.5 * task.target.W * run->r + run->e);
        answer.length = task.chain.unit * sqrt(run->r);
        answer.angle = 2.0 * pz_atan2(sqrt(e), sqrt(max2(1.0 - e, 0.0)));
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
    pz_arm_aim(&task.chain, &pose, &target);
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
        q[i] = near[i];
    }
    arm_open(&task.chain, N, start, run);
    arm_begin(&task.chain, N, q, run);
    arm_forward(&task.chain, N, false, run->q, &frames);
    arm_error error = arm_error_at(&frames, target);
    run->r = error.rr, run->e = error.e;
    return arm_is_met(&error, target);
}

// From where a search in single precision came near, to the tolerance.
template <int N, bool inlined>
__device__ __forceinline__ bool settle(const pz_cuda_task &task, const pz_arm_target *target, const float *near,
                                       const double *start, pz_arm_run *run)
{
    double q[PZ_ARM_MOST];
#pragma unroll
    for (int i = 0; i < N; ++i) {
        q[i] = near[i];
    }
    run->trace = NULL;
    run->iterations = run->evaluations = 0;
    arm_open(&task.chain, N, start, run);
    arm_begin(&task.chain, N, q, run);
    return inlined ? search(&task.chain, target, SETTLE_MOST, run, N, false)
                   : run_search<N>(&task.chain, target, SETTLE_MOST, run);
}

__device__ __forceinline__ void leave_to_last(const pz_cuda_work &work, int index)
{
    work.last[atomicAdd(&work.counters->last_count, 1u)] = index;
}

// Searches up to the one before `number` have failed.
__device__ __forceinline__ void leave(const pz_cuda_work &work, int index, int number, int restarts)
{
    if (number > least_of(restarts, PZ_FAST_SEARCHES - 1)) {
        leave_to_last(work, index);
        return;
    }
    unsigned at = atomicAdd(&work.counters->hard_count, 1u);
    work.hard[at] = index;
    work.hard_from[at] = number;
}

__device__ __forceinline__ bool is_far(const pz_fast_chain &chain, const fast_target &target)
{
    return f3_dot(target.t, target.t) > chain.reach * chain.reach;
}

// ---- Search --------------------------------------------------------------------------------------------------------------

// Targets that a warp has claimed, and its next one.
struct portion {
    unsigned next, end;
};

// Give idle lanes a target each, as far as there are any. `index` becomes -1 where there is none.
__device__ __forceinline__ void claim(const pz_cuda_work &work, int count, unsigned idle, portion &own, int &index)
{
    unsigned lane = threadIdx.x & 31u, rank = __popc(idle & ((1u << lane) - 1u)), wanted = __popc(idle);
    unsigned left = own.end - own.next, first = own.next, fresh = 0;
    if (left < wanted) {
        if (lane == 0) {
            fresh = atomicAdd(&work.counters->next, (unsigned)PORTION);
        }
        fresh = __shfl_sync(WHOLE_WARP, fresh, 0);
    }
    unsigned at = rank < left ? first + rank : fresh + (rank - left);
    bool has_one = (rank < left || left < wanted) && at < (unsigned)count;
    own.next = left < wanted ? fresh + (wanted - left) : first + wanted;
    own.end = left < wanted ? fresh + PORTION : own.end;
    if (idle >> lane & 1u) {
        index = has_one ? (int)at : -1;
    }
}

template <int N>
__global__ void __launch_bounds__(THREADS, 4)
    search_kernel(const __grid_constant__ pz_fast_chain chain, pz_cuda_work work, pz_cuda_batch batch, int nq, int restarts)
{
    portion own = {0, 0};
    int index = -1, number = 0, most = least_of(restarts, PZ_SOLO_SEARCHES - 1);
    bool there_is_more = true;
    fast_run<N> run = {};
    fast_target target = {};
    for (;;) {
        unsigned idle = __ballot_sync(WHOLE_WARP, index < 0);
        if (idle && there_is_more && (__popc(idle) >= REFILL || idle == WHOLE_WARP)) {
            bool was_idle = index < 0;
            claim(work, batch.count, idle, own, index);
            there_is_more = own.next < (unsigned)batch.count;
            if (was_idle && index >= 0) {
                target = fast_aim<N>(chain, batch.targets + index);
                number = 0;
                fast_begin(chain, 0, batch.q + (size_t)index * (size_t)nq, run);
                work.near_from[index] = -1;
                if (is_far(chain, target)) {
                    leave_to_last(work, index);
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
        fast_point<N> at;
        fast_look(chain, target, run, at);
        fast_end end = fast_judge(at, run);
        if (end == FAST_DROPPED && index >= 0) {
            number += 1;
            if (number <= most) {
                fast_begin(chain, number, batch.q, run);
            } else {
                leave(work, index, number, restarts);
                index = -1;
            }
        }
        if (end != FAST_DROPPED) {
            fast_step(chain, at, run);
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

// Most of what came near is within the tolerance: one look in double, and no more registers than that needs.
template <int N>
__global__ void __launch_bounds__(THREADS)
    check_kernel(const __grid_constant__ pz_cuda_task task, pz_cuda_work work, pz_cuda_batch batch)
{
    int index = (int)(blockIdx.x * THREADS + threadIdx.x);
    int number = index < batch.count ? work.near_from[index] : -1;
    if (number < 0) {
        return;
    }
    double start[PZ_ARM_MOST];
    pz_arm_run run;
    pz_arm_target target = target_of(task, batch, index);
    get_start<N>(task, batch, index, start);
    if (is_met_near<N>(task, &target, work.near + (size_t)index * N, start, &run)) {
        hand_out<N>(task, batch, index, start, POISE_OUTCOME_REACHED, number, &run);
    } else {
        work.rest[atomicAdd(&work.counters->rest_count, 1u)] = index;
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
        if (settle<N, true>(task, &target, work.near + (size_t)index * N, start, &run)) {
            hand_out<N>(task, batch, index, start, POISE_OUTCOME_REACHED, number, &run);
        } else {
            leave(work, index, number + 1, task.restarts);
        }
    }
}

// ---- Hard targets --------------------------------------------------------------------------------------------------------

// Searches from number `from` on, one in each lane, until the first that meets the target is known. True when there is one.
template <int N>
__device__ bool search_side_by_side(const pz_cuda_task &task, const pz_fast_chain &chain, const pz_cuda_batch &batch,
                                    int index, int from)
{
    int lane = (int)(threadIdx.x & 31u), most = least_of(task.restarts, PZ_FAST_SEARCHES - 1);
    fast_target aim = fast_aim<N>(chain, batch.targets + index);
    for (int number = from + lane; __any_sync(WHOLE_WARP, number <= most); number += 32) {
        fast_run<N> run = {};
        pz_arm_run exact;
        fast_end end = FAST_GOES_ON;
        bool met = false, is_resolved = number > most;
        fast_begin(chain, least_of(number, most), batch.q + (size_t)index * (size_t)task.nq, run);
        for (;;) {
            unsigned open = __ballot_sync(WHOLE_WARP, !is_resolved);
            if (open == 0) {
                break;
            }
            if (!is_resolved && end == FAST_GOES_ON) {
                fast_point<N> at;
                fast_look(chain, aim, run, at);
                end = fast_judge(at, run);
                if (end != FAST_DROPPED) {
                    fast_step(chain, at, run);
                }
                is_resolved = end == FAST_DROPPED;
            }
            // double precision when the search with the least number that is open has ended
            open = __ballot_sync(WHOLE_WARP, !is_resolved);
            unsigned running = __ballot_sync(WHOLE_WARP, !is_resolved && end == FAST_GOES_ON);
            if (open && !(open & (0u - open) & running)) {
                double start[PZ_ARM_MOST];
                if (!is_resolved && end != FAST_GOES_ON) {
                    pz_arm_target target = target_of(task, batch, index);
                    get_start<N>(task, batch, index, start);
                    met = is_met_near<N>(task, &target, run.q, start, &exact) ||
                          settle<N, false>(task, &target, run.q, start, &exact);
                    is_resolved = true;
                }
                unsigned met_by = __ballot_sync(WHOLE_WARP, met), left = __ballot_sync(WHOLE_WARP, !is_resolved);
                unsigned first = met_by & (0u - met_by);
                if (first && !(left & (first - 1u))) {
                    if (first >> lane & 1u) {
                        hand_out<N>(task, batch, index, start, POISE_OUTCOME_REACHED, number, &exact);
                    }
                    return true;
                }
            }
        }
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
        bool far = is_far(chain, fast_aim<N>(chain, batch.targets + index));
        if ((far || !search_side_by_side<N>(task, chain, batch, index, from)) && lane == 0) {
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

// ---- The library's algorithm ---------------------------------------------------------------------------------------------

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
template <int N> __device__ __forceinline__ void note_met(int n, int number, const pz_arm_run *run, shared_call<N> *own)
{
    if (number < own->met) {
        own->met = number;
        for (int i = 0; i < n; ++i) {
            own->met_q[i] = run->q[i];
        }
        own->met_r = run->r, own->met_e = run->e;
    }
}

// Does the end of a search come before another one? As pz_arm_keep_end has them, which sees them in the order of their
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
__device__ __forceinline__ void hand_in(bool has_ended, bool met, int n, int number, double W, const pz_arm_run *run,
                                        shared_call<N> *own)
{
    unsigned lane = threadIdx.x & 31u;
    for (unsigned left = __ballot_sync(WHOLE_WARP, has_ended); left; left &= left - 1u) {
        if ((left & (0u - left)) >> lane & 1u) {
            if (met) {
                note_met(n, number, run, own);
            } else {
                note_end(n, 0.5 * W * run->r + run->e, number, run->q, own);
            }
        }
        __syncwarp();
    }
}

enum lane_state { LANE_SEARCHES, LANE_WAITS, LANE_IS_DONE };

// All searches up to number `most`, as pz_arm_search, a lane whose search is over taking the next one. Those that are to be
// finished by descent wait until there are some.
template <int N>
__device__ __forceinline__ void run_searches(const pz_cuda_task &task, int most, const double *start, pz_arm_run *run,
                                             shared_call<N> *shared, shared_call<N> *own)
{
    const pz_arm_chain *chain = &task.chain;
    const pz_arm_target *target = &shared->target;
    int n = N ? N : chain->n, number = -1, k = 0, longest = least_of(PZ_ARM_SEARCH_ITERATIONS, task.max_iterations);
    double f1 = INFINITY, f2 = INFINITY, f3 = INFINITY;
    lane_state state = LANE_SEARCHES;
    bool has_ended = true, met = false; // there is none to hand in at first
    for (;;) {
        if (state != LANE_IS_DONE && has_ended) {
            number = atomicAdd(&shared->next, 1);
            state = number <= most ? LANE_SEARCHES : LANE_IS_DONE;
            double q[PZ_ARM_MOST];
            if (number > 0) {
                for (int i = 0; i < n; ++i) {
                    q[i] = pz_arm_sequence_at(chain, i, chain->ratio[i], task.first_start + number);
                }
            }
            arm_begin(chain, n, number == 0 ? start : q, run);
            k = 0;
            f1 = f2 = f3 = INFINITY;
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
                int longer = least_of(PZ_ARM_FINISH_ITERATIONS, task.max_iterations);
                met = run_finish<N>(chain, target, true, longer, run) == PZ_ARM_MET;
                has_ended = true;
            }
        } else if (state == LANE_SEARCHES) {
            arm_frames frames;
            arm_forward(chain, n, N == 0, run->q, &frames);
            arm_error error = arm_error_at(&frames, target);
            double f = 0.5 * error.rr + error.e;
            met = arm_is_met(&error, target);
            if (met || (k >= ARM_FIRST_LOOK && !(f <= ARM_CREEPS * f3)) || k == longest) {
                run->f = f, run->r = error.rr, run->e = error.e;
                has_ended = met || !(f < PZ_ARM_NEAR_ZERO);
                state = has_ended ? state : LANE_WAITS;
            } else {
                f3 = f2, f2 = f1, f1 = f;
                k += 1;
                take_step(chain, n, N == 0, &frames, &error, ARM_DAMPING * f + ARM_DAMPING_LEAST, run);
            }
        }
        if (met) {
            atomicMin(&shared->first_met, number);
        }
        hand_in(has_ended, met, n, number, target->W, run, own);
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
        shared->cost[t.rank] = 0.5 * task.target.W * run->r + run->e;
    }
    meet(t);
    for (int k = 1; k < count && shared->end[best] != PZ_ARM_MET; ++k) {
        best = shared->end[k] == PZ_ARM_MET || shared->cost[k] < shared->cost[best] ? k : best;
    }
    return best;
}

__device__ __forceinline__ poise_outcome outcome_of(pz_arm_end end)
{
    return end == PZ_ARM_MET       ? POISE_OUTCOME_REACHED
           : end == PZ_ARM_CLOSEST ? POISE_OUTCOME_CLOSEST
           : end == PZ_ARM_BUDGET  ? POISE_OUTCOME_BUDGET
                                   : POISE_OUTCOME_STALLED;
}

template <int N>
__device__ __forceinline__ void solve_last(const pz_cuda_task &task, const pz_cuda_batch &batch, const team &t, int index,
                                           shared_call<N> *shared)
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
        own->met = INT_MAX;
    }
    meet(t);
    bool is_far_off = pz_arm_is_out_of_reach(&task.chain, &shared->target);
    int most = is_far_off ? least_of(task.restarts, PZ_ARM_FAR_SEARCHES) : task.restarts;
    run.trace = NULL;
    run.iterations = run.evaluations = 0;
    arm_open(&task.chain, n, start, &run);
    run_searches(task, most, start, &run, shared, own);
    meet(t);
    if (shared->first_met != INT_MAX) {
        if (t.rank % 32 == 0 && own->met == shared->first_met) {
            for (int i = 0; i < n; ++i) {
                run.q[i] = own->met_q[i];
            }
            run.r = own->met_r, run.e = own->met_e;
            hand_out<N>(task, batch, index, start, POISE_OUTCOME_REACHED, own->met, &run);
        }
        return;
    }
    if (t.rank == 0) {
        put_together(n, t.size / 32, shared);
    }
    meet(t);
    int best = find_closest<N>(task, t, shared, start, &run);
    if (t.rank == best) {
        hand_out<N>(task, batch, index, start, outcome_of(shared->end[best]), most, &run);
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
        solve_last<N>(task, batch, t, is_first ? (int)at : work.last[at], own);
        meet(t);
        if (t.rank == 0) {
            own->at = teams + atomicAdd(&work.counters->last_next, 1u);
        }
        meet(t);
        at = own->at;
    }
    leave_clean(work.counters);
}

// ---- Launch --------------------------------------------------------------------------------------------------------------

template <int N> static cudaError_t grids_of(int processors, pz_cuda_grids *grids)
{
    int search = 0, settle = 0, hard = 0, last = 0;
    cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&last, last_kernel<N>, LAST_THREADS, 0);
    if constexpr (N != 0) {
        error = error ? error : cudaOccupancyMaxActiveBlocksPerMultiprocessor(&search, search_kernel<N>, THREADS, 0);
        error = error ? error : cudaOccupancyMaxActiveBlocksPerMultiprocessor(&settle, settle_kernel<N>, THREADS, 0);
        error = error ? error : cudaOccupancyMaxActiveBlocksPerMultiprocessor(&hard, hard_kernel<N>, THREADS, 0);
    }
    *grids = pz_cuda_grids{search * processors, settle * processors, hard * processors, last * processors};
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

template <int N>
static cudaError_t launch(const pz_cuda_task *task, const pz_fast_chain *fast, const pz_cuda_work *work,
                          const pz_cuda_batch *batch, const pz_cuda_grids *grids, cudaStream_t stream)
{
    bool is_small = batch->count <= SMALL;
    int last = blocks_for(batch->count, 1, grids->last);
    if constexpr (N != 0) {
        if (!is_small) {
            int all = blocks_for(batch->count, THREADS, INT_MAX);
            search_kernel<N><<<blocks_for(batch->count, THREADS, grids->search), THREADS, 0, stream>>>(
                *fast, *work, *batch, task->nq, task->restarts);
            check_kernel<N><<<all, THREADS, 0, stream>>>(*task, *work, *batch);
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
