// Arm poses on the device: what the host (cuda.c) and the kernels (arm.cu) agree on.
#ifndef POISE_CUDA_CUDA_ARM_H
#define POISE_CUDA_CUDA_ARM_H

#include "arm_world.h"

#include <cuda_runtime_api.h>

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

#endif
