// What a failed call of CUDA means for the caller.
#ifndef POISE_CUDA_EXPLAIN_H
#define POISE_CUDA_EXPLAIN_H

#include <cuda_runtime_api.h>
#include <poise/base.h>

// POISE_OK, or a status with its reason in `error`: POISE_ERROR_MEMORY where memory is short, otherwise POISE_ERROR_DEVICE.
// `doing` says what failed.
poise_status pz_cuda_explain(cudaError_t status, const char *doing, poise_error *error);

#endif
