// A device, what was taken of it, and what its failures mean: what all engines share.
#ifndef POISE_CUDA_CUDA_ROOM_H
#define POISE_CUDA_CUDA_ROOM_H

#include "base/arena.h"

#include <cuda_runtime_api.h>
#include <poise/model.h>

typedef struct pz_cuda_room {
    int device, processors;
    cudaStream_t stream; // of calls with host memory
    cudaError_t error;   // the first of those that take memory; none is taken after it
    int device_count, host_count;
    void *device_memory[24], *host_memory[4];
} pz_cuda_room;

// POISE_OK, or a status with its reason in `error`: POISE_ERROR_MEMORY where memory is short, otherwise POISE_ERROR_DEVICE.
// `doing` says what failed.
poise_status pz_cuda_explain(cudaError_t status, const char *doing, poise_error *error);

// Choose the device, after a check that it is there.
poise_status pz_cuda_open(pz_cuda_room *room, int device, poise_error *error);

// Memory of the device, and memory of the host that the device can read; NULL, and room->error, where there is none.
void *pz_cuda_take(pz_cuda_room *room, size_t count, size_t size);
void *pz_cuda_take_host(pz_cuda_room *room, size_t count, size_t size);

// All of it back. A room that was never opened has nothing.
void pz_cuda_close(pz_cuda_room *room);

// ---- Constants -----------------------------------------------------------------------------------------------------------

// What goes to the device at once: a copy being put together, where it lies on the host, and where it will lie.
typedef struct pz_cuda_image {
    pz_arena arena;
    unsigned char *device;
} pz_cuda_image;

// Put an array into the image; its address on the device. NULL while sizes are counted.
void *pz_cuda_put(pz_cuda_image *image, const void *from, size_t count, size_t element);

// An image in memory of the device; `fill` is called twice, the first time to count.
poise_status pz_cuda_make_image(pz_cuda_room *room, void (*fill)(pz_cuda_image *image, void *user), void *user,
                                poise_error *error);

#endif
