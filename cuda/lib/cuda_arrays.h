// Arrays of other programs on the device: what the host (cuda_arm.c) and the kernels (arrays.cu) agree on.
#ifndef POISE_CUDA_CUDA_ARRAYS_H
#define POISE_CUDA_CUDA_ARRAYS_H

#include <cuda_runtime_api.h>
#include <poise/cuda.h>

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

#endif
