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

#include "lib/body_task.h"

#define WHOLE_WARP 0xffffffffu

// The state of this thread: numbers of a warp's threads lie side by side.
template <typename number> __device__ static number *state_of(void *state, int size)
{
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x, warp = thread / 32, lane = thread % 32;
    return (number *)state + warp * 32 * (size_t)size + lane;
}

// The tables that a pass reads, where they fit into a block's shared memory: state streams through the caches, and would
// push them out.
#define MOST_SHARED ((size_t)40 << 10)

static size_t shared_size(const body_task *task, size_t number)
{
    size_t size = (size_t)task->number_count * number + (size_t)task->joint_count * sizeof *task->joints;
    return size <= MOST_SHARED ? size : 0;
}

// The task in shared memory, and with it its joints and the numbers at *numbers, a member of `given`. For all threads.
template <typename number>
__device__ static const body_task *own_task(const body_task *given, bool is_shared, const number *const *numbers)
{
    extern __shared__ __align__(16) unsigned char room[];
    __shared__ body_task own;
    number *to = (number *)room;
    body_joint *joints = (body_joint *)(to + given->number_count);
    for (int i = (int)threadIdx.x; is_shared && i < given->number_count; i += (int)blockDim.x) {
        to[i] = (*numbers)[i];
    }
    for (int i = (int)threadIdx.x; is_shared && i < given->joint_count; i += (int)blockDim.x) {
        joints[i] = given->joints[i];
    }
    if (threadIdx.x == 0) {
        own = *given;
        if (is_shared) {
            own.joints = joints;
            *(const number **)((char *)&own + ((const char *)numbers - (const char *)given)) = to;
        }
    }
    __syncthreads();
    return &own;
}

#endif
