// ERIK's successor on the device: what the host (expressive.c) and the kernels (expressive.cu) agree on.
#ifndef POISE_CUDA_CUDA_EXPRESSIVE_H
#define POISE_CUDA_CUDA_EXPRESSIVE_H

#include "samples.h"

// Everything about a problem but postures and targets.
typedef struct pz_cuda_expressive_task {
    const poise_model *model; // in device memory
    poise_expressive_options options;
    poise_goal goal; // the orientation of the end; its target does not matter
    int nq;
    int room; // bytes of scratch memory for each thread
} pz_cuda_expressive_task;

#ifdef __cplusplus
extern "C" {
#endif

// Bytes of scratch memory that a thread needs for the task, and those that a kernel is there for: 0 when none has enough.
cudaError_t pz_cuda_expressive_room(const pz_cuda_expressive_task *task, int *room);

// Blocks that fit on a processor.
cudaError_t pz_cuda_expressive_grid(int room, int *blocks);

// pz_cuda_launch
cudaError_t pz_cuda_expressive_launch(const void *task, const pz_cuda_samples_batch *batch, int blocks, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
