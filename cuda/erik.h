// ERIK on the device: what the host (erik.c) and the kernels (erik.cu) agree on.
#ifndef POISE_CUDA_ERIK_H
#define POISE_CUDA_ERIK_H

#include <cuda_runtime_api.h>
#include <poise/cuda.h>

#include "express/erik.h"

#define PZ_CUDA_LINKS 16 // of a chain, at most

// Everything about a problem but postures and targets.
typedef struct pz_cuda_erik_task {
    poise_erik_options options;
    int nq, count; // coordinates of a posture; joints of the chain
    mat3 base, E;
    pz_link links[PZ_CUDA_LINKS];
} pz_cuda_erik_task;

// One call, in device memory. Samples from `from` to `to`: sample i is posture i / target_count at target i % target_count,
// or posture i at target i where target_count is 0.
typedef struct pz_cuda_erik_batch {
    const double *postures;
    const poise_quat *targets;
    int64_t from, to, target_count;
    double *q;                        // NULL, or nq numbers for each sample, those of the chain replaced
    poise_cuda_erik_answer *answers;  // NULL, or one for each sample
    poise_cuda_erik_summary *summary; // NULL, or one for each block, of the samples that it had
} pz_cuda_erik_batch;

#ifdef __cplusplus
extern "C" {
#endif

// Blocks that keep the device busy.
cudaError_t pz_cuda_erik_grid(int processors, int *blocks);

cudaError_t pz_cuda_erik_launch(const pz_cuda_erik_task *task, const pz_cuda_erik_batch *batch, int blocks,
                                cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
