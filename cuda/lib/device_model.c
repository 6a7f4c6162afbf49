#include "device_model.h"

#include "model/packed_model.h"

#include <stdlib.h>
#include <string.h>

// A copy being put together: where it lies on the host, and where it will lie.
typedef struct image {
    pz_arena arena;
    unsigned char *device;
} image;

// Put an array into the image; its address on the device. NULL while sizes are counted.
static void *put(image *to, const void *from, size_t count, size_t element)
{
    unsigned char *at = pz_arena_take(&to->arena, count, element);
    if (!at) {
        return NULL;
    }
    if (count > 0) {
        memcpy(at, from, count * element);
    }
    return to->device + (at - to->arena.base);
}

// The model comes first, so that it has the address of the memory.
static void put_model(const poise_model *model, image *to)
{
    size_t joints = (size_t)model->joint_count, axes = (size_t)model->axis_count, values = (size_t)model->value_count;
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    poise_model *made = pz_arena_take(&to->arena, 1, sizeof *made), copy = *model;
    copy.has_allocator = copy.is_wide = false;
    copy.joints = put(to, model->joints, joints, sizeof *model->joints);
    copy.steps = put(to, model->steps, (size_t)model->step_count, sizeof *model->steps);
    copy.axes = put(to, model->axes, axes, sizeof *model->axes);
    copy.packed_row = put(to, model->packed_row, axes + 1, sizeof *model->packed_row);
    copy.dof_axis = put(to, model->dof_axis, nv, sizeof *model->dof_axis);
    copy.value_q = put(to, model->value_q, values, sizeof *model->value_q);
    copy.value_factor = put(to, model->value_factor, values, sizeof *model->value_factor);
    copy.value_offset = put(to, model->value_offset, values, sizeof *model->value_offset);
    copy.lower = put(to, model->lower, nq, sizeof *model->lower);
    copy.upper = put(to, model->upper, nq, sizeof *model->upper);
    copy.given = put(to, model->given, joints, sizeof *model->given);
    copy.tools = NULL;
    copy.tool_body = NULL;
    copy.text = NULL;
    copy.tool_count = 0;
    if (made) {
        *made = copy;
    }
}

cudaError_t pz_cuda_model_copy(const poise_model *model, poise_model **device)
{
    image to = {.arena = pz_arena_counting()};
    put_model(model, &to);
    size_t size = pz_arena_bytes(&to.arena);
    void *memory = malloc(size), *there = NULL;
    cudaError_t error = memory ? cudaMalloc(&there, size) : cudaErrorMemoryAllocation;
    if (!error) {
        to = (image){.arena = pz_arena_over(memory, size), .device = there};
        put_model(model, &to);
        error = cudaMemcpy(there, to.arena.base, to.arena.used, cudaMemcpyHostToDevice);
    }
    free(memory);
    if (error) {
        (void)cudaFree(there);
        return error;
    }
    *device = there;
    return cudaSuccess;
}
