// What the passes over bodies need of the library, for the device (device_sources.h): sines and rotations in double.
#ifndef POISE_CUDA_BODY_LIBRARY_H
#define POISE_CUDA_BODY_LIBRARY_H

#define PZ_DEVICE __noinline__ static
#include "device_sources.h"

#include "device_begin.h"

#include "math/trig.c"

#include "math/quat.c"
#include "math/so3.c"

#include "math/euler.h"
#include "model/packed_model.h"

#include "device_end.h"

#define WHOLE_WARP 0xffffffffu

// The state of this thread: numbers of a warp's threads lie side by side.
template <typename number> __device__ static number *state_of(void *state, int size)
{
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x, warp = thread / 32, lane = thread % 32;
    return (number *)state + warp * 32 * (size_t)size + lane;
}

#endif
