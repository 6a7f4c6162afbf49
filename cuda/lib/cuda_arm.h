// Arm poses: the problem without its targets, what the host (cuda_arm.c) and the kernels (arm.cu, arrays.cu) agree on, the
// host's own solver (arm_host.c), and the engine behind cuda.h.
#ifndef POISE_CUDA_CUDA_ARM_H
#define POISE_CUDA_CUDA_ARM_H

#include "fused_numbers.h"

#include "solve/arm_kernel.h"

#include <cuda_runtime_api.h>
#include <poise/cuda.h>

// ---- The problem without its targets -------------------------------------------------------------------------------------

#define PZ_FAST_MOST     7     // joints that the search in single precision serves; six or this many
#define PZ_FAST_NEAR     1e-4f // errors below which it hands on; the step that follows leaves what single precision leaves
#define PZ_FAST_SEARCHES 64    // in single precision; then the library's own algorithm begins, all in double
#define PZ_FAST_MORE     1024  // the same where shapes are kept apart; then PZ_FAST_SEARCHES in double are enough
#define PZ_SETTLE_MOST   8     // iterations in double after a search in single precision

// A chain in single precision. Angles are in half turns, so that whole ones are taken off without rounding, and have the
// chain's offset in them: q + offset.
typedef struct pz_fast_chain {
    float tx[PZ_FAST_MOST], ty[PZ_FAST_MOST], tz[PZ_FAST_MOST], ca[PZ_FAST_MOST], sa[PZ_FAST_MOST];
    float lower[PZ_FAST_MOST], upper[PZ_FAST_MOST], middle[PZ_FAST_MOST];
    float back[9], tail_back[9]; // columns of base^T; columns of tail^T
    float scale;                 // 1/L
    float reach;                 // farther targets are out of reach
    double base_at[3];
    double offset[PZ_FAST_MOST], first[PZ_FAST_MOST], span[PZ_FAST_MOST], ratio[PZ_FAST_MOST]; // radians
    int q[PZ_FAST_MOST];
    bool is_endless[PZ_FAST_MOST]; // a hinge without limits
    int first_start;               // of the sequence of restarts
} pz_fast_chain;

// Everything about a problem but its targets.
typedef struct pz_cuda_task {
    pz_arm_chain chain;
    pz_arm_target target; // but for u and t
    double weight;        // the goal's rotation_weight
    int nq;
    int restarts;
    int first_start;
    int max_iterations;
    int fast_last;  // number of the last search in single precision
    bool only_near; // a warm start without restarts: the closest pose near it
} pz_cuda_task;

// Coordinate i of the chain, where single precision came to the angle `near`.
PZ_INLINE double pz_fast_coordinate(const pz_arm_chain *chain, int i, float near)
{
    return PZ_PI * (double)near - chain->offset[i];
}

// How a target ended where the run is.
PZ_INLINE poise_cuda_answer pz_cuda_answer_of(const pz_cuda_task *task, const pz_arm_run *run, poise_outcome outcome,
                                              int number)
{
    poise_cuda_answer answer;
    answer.outcome = outcome;
    answer.restarts = number;
    answer.cost = task->weight * pz_arm_cost(&task->target, run);
    answer.length = task->chain.unit * sqrt(run->r);
    answer.angle = arm_angle(run->e);
    answer.room = INFINITY;
    answer.pair = -1;
    return answer;
}

#ifdef __cplusplus
extern "C" {
#endif

// The chain and all that a solver makes of options and goal. `error` (may be NULL) says what is not served.
poise_status pz_cuda_task_make(const poise_model *model, const poise_goal *goal, const poise_solver_options *options,
                               pz_cuda_task *task, poise_error *error);

// The chain in single precision; false when it is not one of six or seven hinges.
bool pz_fast_chain_make(const pz_cuda_task *task, pz_fast_chain *fast);

#ifdef __cplusplus
}
#endif

// ---- Kernels -------------------------------------------------------------------------------------------------------------

// Where shapes are kept apart, targets whose answer collides are searched again, all of them together, up to so many times;
// then warps take what is left.
#define PZ_ARM_ROUNDS 16

// Counters of one call, which the last kernel leaves at 0.
typedef struct pz_cuda_counters {
    unsigned next[PZ_ARM_ROUNDS];  // target of a round that a thread begins with
    unsigned count[PZ_ARM_ROUNDS]; // of a round but the first, which has all
    unsigned rest_count;
    unsigned hard_count, hard_next;
    unsigned last_count, last_next;
    unsigned done; // blocks of the last kernel
} pz_cuda_counters;

typedef struct pz_arm_world pz_arm_world; // arm_world.h

// Device memory, taken once.
typedef struct pz_cuda_work {
    int capacity;
    float *near;               // capacity x joints: where a search in single precision ended
    int *near_from;            // number of that search; -1: none
    int *rest;                 // targets near, but not within the tolerance
    int *hard;                 // targets left to warps
    int *hard_from;            // number of the search to go on with
    int *last;                 // targets left to the algorithm in double
    int *again[2];             // targets of a round but the first, in turn; NULL where nothing is kept apart
    const pz_arm_world *world; // NULL: nothing is kept apart
    pz_cuda_counters *counters;
} pz_cuda_work;

// One call: device pointers.
typedef struct pz_cuda_batch {
    const poise_pose *targets;
    double *q; // count x nq, start and answer
    poise_cuda_answer *answers;
    int count;
} pz_cuda_batch;

#ifdef __cplusplus
extern "C" {
#endif

// Blocks that keep the device busy, for the kernels below.
typedef struct pz_cuda_grids {
    int search, check, settle, hard, last;
} pz_cuda_grids;
cudaError_t pz_cuda_arm_grids(int joints, int processors, pz_cuda_grids *grids);

// Queue the kernels of one call, count <= capacity. `fast` is NULL for chains that single precision does not serve.
cudaError_t pz_cuda_arm_launch(const pz_cuda_task *task, const pz_fast_chain *fast, const pz_cuda_work *work,
                               const pz_cuda_batch *batch, const pz_cuda_grids *grids, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

// ---- Arrays of other programs --------------------------------------------------------------------------------------------

// Device memory, taken once, for `capacity` problems.
typedef struct pz_cuda_array_work {
    poise_pose *targets;
    poise_cuda_answer *answers;
    bool *is_refused;
    double *neutral;           // nq numbers: starts of a call that has none
    unsigned long long *first; // problem of the call that was refused; the largest number: none
} pz_cuda_array_work;

// Problems [first, first + count) of a call.
typedef struct pz_cuda_array_part {
    poise_cuda_arrays from;
    poise_cuda_answer_arrays to;
    int64_t first;
    int count, nq;
} pz_cuda_array_part;

#ifdef __cplusplus
extern "C" {
#endif

// Queue: targets into work->targets, starts into q, what is refused into work->is_refused.
cudaError_t pz_cuda_arrays_read(const pz_cuda_array_part *part, const pz_cuda_array_work *work, cudaStream_t stream);

// Queue: work->answers into the columns, NaN where a problem was refused.
cudaError_t pz_cuda_arrays_write(const pz_cuda_array_part *part, const pz_cuda_array_work *work, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

// ---- On the host ---------------------------------------------------------------------------------------------------------

// Arm poses on the host, one by one, with the bits of the device: for batches so small that the way to the device and the
// pace of a single thread there cost more than a core takes.

// Can this processor run the chain? `fast` is NULL for chains that single precision does not serve. Search in single
// precision needs fused multiply-adds.
bool pz_cuda_host_serves(const pz_fast_chain *fast);

// One target, by the stages of arm.cu: q is start and answer, a configuration of the model. `world` may be NULL. False, with
// nothing done: after `patience` searches none has met the target without collisions. With INT_MAX all searches are done,
// and the closest pose is found.
bool pz_cuda_host_solve(const pz_cuda_task *task, const pz_fast_chain *fast, const pz_arm_world *world,
                        const poise_pose *pose, int patience, double *q, poise_cuda_answer *answer);

// ---- The engine ----------------------------------------------------------------------------------------------------------

// Arguments are those of the public calls; a NULL engine is refused there.
typedef struct pz_cuda_arm pz_cuda_arm;

poise_status pz_cuda_arm_create(const poise_model *model, const poise_goal *goal, const poise_cuda_options *options,
                                pz_cuda_arm **arm, poise_error *error);
void pz_cuda_arm_destroy(pz_cuda_arm *arm);
poise_status pz_cuda_arm_keep_apart(pz_cuda_arm *arm, const poise_constraint *apart, poise_error *error);
poise_status pz_cuda_arm_queue(pz_cuda_arm *arm, const poise_pose *targets, double *q, poise_cuda_answer *answers, int count,
                               void *stream, poise_error *error);
poise_status pz_cuda_arm_solve_poses(pz_cuda_arm *arm, const poise_pose *targets, double *q, poise_cuda_answer *answers,
                                     int count, poise_error *error);
poise_status pz_cuda_arm_solve_arrays(pz_cuda_arm *arm, const poise_cuda_arrays *arrays,
                                      const poise_cuda_answer_arrays *answers, int64_t count, void *stream, int64_t *refused,
                                      poise_error *error);
poise_status pz_cuda_arm_solve(pz_cuda_arm *arm, poise_problem *problems, int count, poise_error *error);

#endif
