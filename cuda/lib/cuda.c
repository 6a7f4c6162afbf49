// poise_cuda: one object for every kind of problem, which hands its calls to the engine that serves it.
#include "cuda_engines.h"

#include "base/error.h"

#include <stdlib.h>

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

poise_cuda_options poise_cuda_options_default(void)
{
    return (poise_cuda_options){.solver = poise_solver_options_default(), .host_memory = true};
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
