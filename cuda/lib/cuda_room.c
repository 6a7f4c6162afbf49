#include "cuda_room.h"

#include "base/error.h"
#include "model/model.h"

#include <poise/cuda.h>
#include <stdlib.h>
#include <string.h>

poise_status pz_cuda_explain(cudaError_t status, const char *doing, poise_error *error)
{
    if (status == cudaSuccess) {
        return POISE_OK;
    }
    (void)cudaGetLastError(); // the next call begins clean, unless the device is lost
    if (status == cudaErrorMemoryAllocation) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "%s: the device is out of memory; a smaller capacity needs less",
                            doing);
    }
    if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver) {
        return pz_error_set(error, POISE_ERROR_DEVICE, "%s: there is no CUDA device, or its driver is too old (%s)", doing,
                            cudaGetErrorString(status));
    }
    return pz_error_set(error, POISE_ERROR_DEVICE, "%s: %s", doing, cudaGetErrorString(status));
}

poise_status pz_cuda_open(pz_cuda_room *room, int device, poise_error *error)
{
    if (poise_cuda_device_count() <= device || device < 0) {
        return pz_error_set(error, POISE_ERROR_DEVICE, "there is no CUDA device %d, or no driver for it", device);
    }
    room->device = device;
    cudaError_t e = cudaSetDevice(device);
    e = e ? e : cudaDeviceGetAttribute(&room->processors, cudaDevAttrMultiProcessorCount, device);
    e = e ? e : cudaStreamCreateWithFlags(&room->stream, cudaStreamNonBlocking);
    return pz_cuda_explain(e, "choosing the device", error);
}

void *pz_cuda_take(pz_cuda_room *room, size_t count, size_t size)
{
    void **memory = &room->device_memory[room->device_count];
    room->error = room->error ? room->error : cudaMalloc(memory, count * size);
    room->device_count += room->error ? 0 : 1;
    return room->error ? NULL : *memory;
}

void *pz_cuda_take_host(pz_cuda_room *room, size_t count, size_t size)
{
    void **memory = &room->host_memory[room->host_count];
    room->error = room->error ? room->error : cudaMallocHost(memory, count * size);
    room->host_count += room->error ? 0 : 1;
    return room->error ? NULL : *memory;
}

void pz_cuda_close(pz_cuda_room *room)
{
    (void)cudaSetDevice(room->device);
    for (int i = 0; i < room->device_count; ++i) {
        (void)cudaFree(room->device_memory[i]);
    }
    for (int i = 0; i < room->host_count; ++i) {
        (void)cudaFreeHost(room->host_memory[i]);
    }
    if (room->stream) {
        (void)cudaStreamDestroy(room->stream);
    }
}

// ---- Constants -----------------------------------------------------------------------------------------------------------

void *pz_cuda_put(pz_cuda_image *image, const void *from, size_t count, size_t element)
{
    unsigned char *at = pz_arena_take(&image->arena, count, element);
    if (!at) {
        return NULL;
    }
    if (count > 0) {
        memcpy(at, from, count * element);
    }
    return image->device + (at - image->arena.base);
}

const poise_model *pz_cuda_put_model(pz_cuda_image *image, const poise_model *model)
{
    poise_model m = *model;
    size_t joints = (size_t)m.joint_count, axes = (size_t)m.axis_count, values = (size_t)m.value_count, nq = (size_t)m.nq;
    m.has_allocator = m.is_wide = false;
    m.joints = pz_cuda_put(image, m.joints, joints, sizeof *m.joints);
    m.steps = pz_cuda_put(image, m.steps, (size_t)m.step_count, sizeof *m.steps);
    m.axes = pz_cuda_put(image, m.axes, axes, sizeof *m.axes);
    m.packed_row = pz_cuda_put(image, m.packed_row, axes + 1, sizeof *m.packed_row);
    m.dof_axis = pz_cuda_put(image, m.dof_axis, (size_t)m.nv, sizeof *m.dof_axis);
    m.value_q = pz_cuda_put(image, m.value_q, values, sizeof *m.value_q);
    m.value_factor = pz_cuda_put(image, m.value_factor, values, sizeof *m.value_factor);
    m.value_offset = pz_cuda_put(image, m.value_offset, values, sizeof *m.value_offset);
    m.lower = pz_cuda_put(image, m.lower, nq, sizeof *m.lower);
    m.upper = pz_cuda_put(image, m.upper, nq, sizeof *m.upper);
    m.given = pz_cuda_put(image, m.given, joints, sizeof *m.given);
    m.tools = NULL;
    m.tool_body = NULL;
    m.text = NULL;
    m.tool_count = 0;
    return pz_cuda_put(image, &m, 1, sizeof m);
}

poise_status pz_cuda_make_image(pz_cuda_room *room, void (*fill)(pz_cuda_image *image, void *user), void *user,
                                poise_error *error)
{
    pz_cuda_image image = {.arena = pz_arena_counting()};
    fill(&image, user);
    size_t size = pz_arena_bytes(&image.arena);
    void *memory = malloc(size), *there = memory ? pz_cuda_take(room, size, 1) : NULL;
    cudaError_t e = memory ? room->error : cudaErrorMemoryAllocation;
    if (!e) {
        image = (pz_cuda_image){.arena = pz_arena_over(memory, size), .device = there};
        fill(&image, user);
        e = cudaMemcpy(there, image.arena.base, image.arena.used, cudaMemcpyHostToDevice);
    }
    free(memory);
    return pz_cuda_explain(e, "memory for the model", error);
}
