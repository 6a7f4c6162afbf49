// What the passes over bodies need of the library, for the device (device_sources.h): sines and rotations in double.
#ifndef POISE_CUDA_BODY_LIBRARY_H
#define POISE_CUDA_BODY_LIBRARY_H

#define PZ_DEVICE __noinline__ static
#include "device_sources.h"

#include "device_begin.h"

#include "num/trig.c"

#include "num/rotation.c"

#include "model/model.h"
#include "num/rotation.h"

#include "device_end.h"

#include "body/body_task.h"

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

// Bytes of a block's tables: numbers, joints, chains, levels, and what markers are.
static __host__ __device__ size_t tables_size(const body_task *task, size_t number)
{
    size_t size = (size_t)task->number_count * number + (size_t)task->joint_count * sizeof *task->joints;
    size += (size_t)task->chain_count * sizeof *task->chains + ((size_t)task->level_count + 1) * sizeof *task->levels;
    size += (size_t)task->marker_count * (sizeof *task->goal + sizeof *task->part);
    return (size + 15) / 16 * 16;
}

static size_t shared_size(const body_task *task, size_t number)
{
    size_t size = tables_size(task, number);
    return size <= MOST_SHARED ? size : 0;
}

__device__ static const float *numbers_of(const body_task *t, float)
{
    return t->single;
}

__device__ static const double *numbers_of(const body_task *t, double)
{
    return t->numbers;
}

__device__ static void set_numbers(body_task *t, const float *numbers)
{
    t->single = numbers;
}

__device__ static void set_numbers(body_task *t, const double *numbers)
{
    t->numbers = numbers;
}

// `count` items to `to`, by all threads of the block.
template <typename item> __device__ static const item *copy_table(item *to, const item *from, int count)
{
    for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x) {
        to[i] = from[i];
    }
    return to;
}

// The task with its tables in shared memory. For all threads.
template <typename number> __device__ static body_task with_shared_tables(const body_task *given)
{
    extern __shared__ __align__(16) unsigned char room[];
    body_task own = *given;
    number *numbers = (number *)room;
    body_joint *joints = (body_joint *)(numbers + given->number_count);
    body_chain *chains = (body_chain *)(joints + given->joint_count);
    int16_t *levels = (int16_t *)(chains + given->chain_count), *goal = levels + given->level_count + 1;
    set_numbers(&own, copy_table(numbers, numbers_of(given, number()), given->number_count));
    own.joints = copy_table(joints, given->joints, given->joint_count);
    own.chains = copy_table(chains, given->chains, given->chain_count);
    own.levels = copy_table(levels, given->levels, given->level_count + 1);
    own.goal = copy_table(goal, given->goal, given->marker_count);
    own.part = copy_table((int8_t *)(goal + given->marker_count), given->part, given->marker_count);
    __syncthreads();
    return own;
}

#endif
