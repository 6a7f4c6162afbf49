// ERIK on the device: what the host (erik.c) and the kernels (erik.cu) agree on.
#ifndef POISE_CUDA_CUDA_ERIK_H
#define POISE_CUDA_CUDA_ERIK_H

#include "samples.h"

#include "express/erik/erik_state.h"

// Everything about a problem but postures and targets.
typedef struct pz_cuda_erik_task {
    poise_erik_options options;
    int nq, count; // coordinates of a posture; joints of the chain
    mat3 base, E;
    pz_link links[PZ_CUDA_LINKS];
} pz_cuda_erik_task;

#ifdef __cplusplus
extern "C" {
#endif

// Blocks that fit on a processor.
cudaError_t pz_cuda_erik_grid(int *blocks);

// pz_cuda_launch
cudaError_t pz_cuda_erik_launch(const void *task, const pz_cuda_samples_batch *batch, int blocks, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
