// Arm poses on the device: what the host (cuda.c) and the kernels (arm.cu) agree on.
#ifndef POISE_CUDA_ARM_H
#define POISE_CUDA_ARM_H

#include <cuda_runtime_api.h>
#include <poise/cuda.h>

#include "solve/arm_kernel.h"

#define PZ_FAST_MOST     7     // joints that the search in single precision serves; six or this many
#define PZ_FAST_NEAR     1e-4f // errors below which it hands on; the step that follows leaves what single precision leaves
#define PZ_FAST_SEARCHES 64    // in single precision; then the library's own algorithm begins, all in double
#define PZ_SOLO_SEARCHES 32    // of them by a thread alone; then a warp takes over

// A chain in single precision.
typedef struct pz_fast_chain {
    float offset[PZ_FAST_MOST], tx[PZ_FAST_MOST], ty[PZ_FAST_MOST], tz[PZ_FAST_MOST], ca[PZ_FAST_MOST], sa[PZ_FAST_MOST];
    float lower[PZ_FAST_MOST], upper[PZ_FAST_MOST], middle[PZ_FAST_MOST];
    float back[9], tail_back[9]; // columns of base^T; columns of tail^T
    float scale;                 // 1/L
    float reach;                 // farther targets are out of reach
    double base_at[3];
    double first[PZ_FAST_MOST], span[PZ_FAST_MOST], ratio[PZ_FAST_MOST];
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
    bool only_near; // a warm start without restarts: the closest pose near it
} pz_cuda_task;

// Counters of one call, which the last kernel leaves at 0.
typedef struct pz_cuda_counters {
    unsigned next; // target that a thread begins with
    unsigned rest_count;
    unsigned hard_count, hard_next;
    unsigned last_count, last_next;
    unsigned done; // blocks of the last kernel
} pz_cuda_counters;

// Device memory, taken once.
typedef struct pz_cuda_work {
    int capacity;
    float *near;    // capacity x joints: where a search in single precision ended
    int *near_from; // number of that search; -1: none
    int *rest;      // targets near, but not within the tolerance
    int *hard;      // targets left to warps
    int *hard_from; // number of the search to go on with
    int *last;      // targets left to the algorithm in double
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
    int search, settle, hard, last;
} pz_cuda_grids;
cudaError_t pz_cuda_arm_grids(int joints, int processors, pz_cuda_grids *grids);

// Queue the kernels of one call, count <= capacity. `fast` is NULL for chains that single precision does not serve.
cudaError_t pz_cuda_arm_launch(const pz_cuda_task *task, const pz_fast_chain *fast, const pz_cuda_work *work,
                               const pz_cuda_batch *batch, const pz_cuda_grids *grids, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
