// A model in device memory, for sources of the library that are compiled for the device (device.h).
#ifndef POISE_CUDA_DEVICE_MODEL_H
#define POISE_CUDA_DEVICE_MODEL_H

#include <cuda_runtime_api.h>
#include <poise/model.h>

// Copy a model, but for names and tools, into one piece of memory of the current device; release with cudaFree.
cudaError_t pz_cuda_model_copy(const poise_model *model, poise_model **device);

#endif
