// poise_cuda: one object for every kind of problem, which hands its calls to the engine that serves it; and the device, its
// memory and its failures, which all engines share (cuda_room.h).
#include "cuda_arm.h"
#include "cuda_body.h"
#include "cuda_room.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

// ---- What all engines share: a device, its memory, its failures ----------------------------------------------------------

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

// ---- The object ----------------------------------------------------------------------------------------------------------

struct poise_cuda {
    // one of these, by what it was made for
    pz_cuda_arm *arm;
    pz_cuda_tree *tree;
};

int poise_cuda_device_count(void)
{
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

// ---- Memory --------------------------------------------------------------------------------------------------------------

poise_status poise_cuda_allocate(int device, size_t size, void **memory, poise_error *error)
{
    if (!memory) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "memory must not be NULL");
    }
    cudaError_t e = cudaSetDevice(device);
    return pz_cuda_explain(e ? e : cudaMalloc(memory, size > 0 ? size : 1), "memory for arrays", error);
}

void poise_cuda_free(int device, void *memory)
{
    if (memory && cudaSetDevice(device) == cudaSuccess) {
        (void)cudaFree(memory);
    }
}

// ---- Life ----------------------------------------------------------------------------------------------------------------

static void release(const poise_cuda *cuda)
{
    pz_cuda_arm_destroy(cuda->arm);
    pz_cuda_tree_destroy(cuda->tree);
}

// The object for an engine that has been made, unless `status` says that it has not.
static poise_status finish(poise_status status, const poise_cuda *made, poise_cuda **cuda, poise_error *error)
{
    if (status != POISE_OK) {
        return status;
    }
    poise_cuda *whole = malloc(sizeof *whole);
    if (!whole) {
        release(made);
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    *whole = *made;
    *cuda = whole;
    return POISE_OK;
}

poise_status poise_cuda_create(const poise_model *model, const poise_goal *goals, int goal_count,
                               const poise_cuda_options *options, poise_cuda **cuda, poise_error *error)
{
    if (!model || !goals || goal_count < 1 || !options || !cuda || options->capacity < 0) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "model, goals, options and cuda must not be NULL, goal_count at least 1, capacity not negative");
    }
    poise_cuda made = {.arm = NULL};
    poise_cuda_options all = *options;
    bool is_pose = goals[0].kind == POISE_GOAL_POSE && goal_count == 1;
    all.capacity = all.capacity > 0 ? all.capacity : is_pose ? 1 << 20 : 1 << 17;
    poise_status status = is_pose ? pz_cuda_arm_create(model, goals, &all, &made.arm, error)
                                  : pz_cuda_tree_create(model, goals, goal_count, &all, &made.tree, error);
    return finish(status, &made, cuda, error);
}

void poise_cuda_destroy(poise_cuda *cuda)
{
    if (cuda) {
        release(cuda);
        free(cuda);
    }
}

// ---- Calls ---------------------------------------------------------------------------------------------------------------

static poise_status refuse(const poise_cuda *cuda, const char *needs, poise_error *error)
{
    return cuda ? pz_error_set(error, POISE_ERROR_UNSUPPORTED, "this poise_cuda was not made for %s", needs)
                : pz_error_set(error, POISE_ERROR_ARGUMENT, "cuda must not be NULL");
}

poise_status poise_cuda_solve(poise_cuda *cuda, poise_problem *problems, int count, poise_error *error)
{
    if (!cuda) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "cuda must not be NULL");
    }
    return cuda->arm ? pz_cuda_arm_solve(cuda->arm, problems, count, error)
                     : pz_cuda_tree_solve(cuda->tree, problems, count, error);
}

poise_status poise_cuda_solve_poses(poise_cuda *cuda, const poise_pose *targets, double *q, poise_cuda_answer *answers,
                                    int count, poise_error *error)
{
    return cuda && cuda->arm ? pz_cuda_arm_solve_poses(cuda->arm, targets, q, answers, count, error)
                             : refuse(cuda, "a pose goal", error);
}

poise_status poise_cuda_queue_poses(poise_cuda *cuda, const poise_pose *targets, double *q, poise_cuda_answer *answers,
                                    int count, void *stream, poise_error *error)
{
    return cuda && cuda->arm ? pz_cuda_arm_queue(cuda->arm, targets, q, answers, count, stream, error)
                             : refuse(cuda, "a pose goal", error);
}

poise_status poise_cuda_keep_apart(poise_cuda *cuda, const poise_constraint *apart, poise_error *error)
{
    return cuda && cuda->arm ? pz_cuda_arm_keep_apart(cuda->arm, apart, error) : refuse(cuda, "a pose goal", error);
}

poise_status poise_cuda_solve_arrays(poise_cuda *cuda, const poise_cuda_arrays *arrays,
                                     const poise_cuda_answer_arrays *answers, int64_t count, void *stream, int64_t *refused,
                                     poise_error *error)
{
    return cuda && cuda->arm ? pz_cuda_arm_solve_arrays(cuda->arm, arrays, answers, count, stream, refused, error)
                             : refuse(cuda, "a pose goal", error);
}

poise_status poise_cuda_queue_markers(poise_cuda *cuda, const poise_vec3 *targets, const double *weights, double *q,
                                      poise_cuda_tree_answer *answers, int count, void *stream, poise_error *error)
{
    return cuda && cuda->tree ? pz_cuda_tree_queue(cuda->tree, targets, weights, q, answers, count, stream, error)
                              : refuse(cuda, "position goals", error);
}

poise_status poise_cuda_queue_goals(poise_cuda *cuda, const poise_pose *targets, double *q, poise_cuda_tree_answer *answers,
                                    int count, void *stream, poise_error *error)
{
    return cuda && cuda->tree ? pz_cuda_tree_queue_goals(cuda->tree, targets, q, answers, count, stream, error)
                              : refuse(cuda, "several goals", error);
}

poise_status poise_cuda_solve_clips(poise_cuda *cuda, poise_cuda_clip *clips, int count, poise_error *error)
{
    return cuda && cuda->tree ? pz_cuda_tree_clips(cuda->tree, clips, count, error) : refuse(cuda, "clips", error);
}

poise_status poise_cuda_queue_clips(poise_cuda *cuda, const int *begin, int clip_count, const void *targets,
                                    const double *weights, double *q, poise_cuda_tree_answer *answers, int frames,
                                    void *stream, poise_error *error)
{
    return cuda && cuda->tree
               ? pz_cuda_tree_queue_clips(cuda->tree, begin, clip_count, targets, weights, q, answers, frames, stream, error)
               : refuse(cuda, "clips", error);
}
