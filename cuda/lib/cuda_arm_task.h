// Arm poses: the problem without its targets, as the stages on the device and the host's own solver (arm_host.c) have it.
#ifndef POISE_CUDA_CUDA_ARM_TASK_H
#define POISE_CUDA_CUDA_ARM_TASK_H

#include <poise/cuda.h>

#include "fast_numbers.h"

#include "solve/arm_kernel.h"

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
PZ_BOTH double pz_fast_coordinate(const pz_arm_chain *chain, int i, float near)
{
    return PZ_PI * (double)near - chain->offset[i];
}

// How a target ended where the run is.
PZ_BOTH poise_cuda_answer pz_cuda_answer_of(const pz_cuda_task *task, const pz_arm_run *run, poise_outcome outcome,
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

#endif
