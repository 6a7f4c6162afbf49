// ERIK's successor on a CUDA device, the host's part.
#include "cuda_expressive.h"

#include "cuda_engines.h"
#include "device_model.h"
#include "explain.h"

#include "base/error.h"
#include "model/packed_model.h"

#include <stdlib.h>

typedef struct engine {
    pz_cuda_samples samples;
    pz_cuda_expressive_task task;
    poise_model *model; // in device memory
} engine;

// ---- Making one ----------------------------------------------------------------------------------------------------------

// Is there a chain, and are the options sound? An answer may not depend on anything that the device does not have.
static poise_status check_task(const poise_model *model, const poise_expressive_options *options, poise_error *error)
{
    poise_expressive *host;
    poise_status status = poise_expressive_create(model, options, NULL, &host, error);
    if (status != POISE_OK) {
        return status;
    }
    poise_expressive_destroy(host);
    poise_erik_options chain = poise_erik_options_default();
    chain.body = options->body;
    chain.tip = options->tip;
    poise_erik *erik;
    status = poise_erik_create(model, &chain, NULL, &erik, error);
    if (status != POISE_OK) {
        return status;
    }
    int count = poise_erik_joint_count(erik);
    poise_erik_destroy(erik);
    if (count > PZ_CUDA_LINKS || model->nq != model->nv || model->block_count > 0) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED,
                            "the device serves chains of up to %d joints, with hinges and slides beside them",
                            PZ_CUDA_LINKS);
    }
    return POISE_OK;
}

static poise_status make_task(const poise_model *model, const poise_expressive_options *options, engine *made,
                              poise_error *error)
{
    pz_cuda_expressive_task *task = &made->task;
    int body = options->body == POISE_WORLD ? model->joint_count - 1 : options->body;
    task->options = *options;
    task->options.max_goals = 1;
    task->options.coupled_goals = 0;
    task->goal = poise_goal_orientation(body, poise_pose_identity().rotation);
    task->goal.local.rotation = quat_normalize(options->tip.rotation);
    task->nq = model->nq;
    poise_status status = pz_cuda_explain(pz_cuda_model_copy(model, &made->model), "memory for the model", error);
    task->model = made->model;
    status = status
                 ? status
                 : pz_cuda_explain(pz_cuda_expressive_room(task, &task->room), "loading the program of the device", error);
    if (!status && task->room == 0) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "the model is too large for the device's threads");
    }
    return status;
}

// Launched once with nothing to do, the kernels have their local memory.
static cudaError_t take_stacks(const engine *made)
{
    pz_cuda_samples_batch none = {.target_count = 1, .summary = made->samples.summaries};
    cudaError_t error = pz_cuda_expressive_launch(&made->task, &none, made->samples.blocks, NULL);
    return error ? error : cudaDeviceSynchronize();
}

static poise_status make_all(const poise_model *model, const poise_expressive_options *options, engine *made,
                             poise_error *error)
{
    poise_status status = make_task(model, options, made, error);
    status = status ? status
                    : pz_cuda_explain(pz_cuda_expressive_grid(made->task.room, &made->samples.blocks),
                                      "loading the program of the device", error);
    status = status ? status : pz_cuda_samples_make(&made->samples, error);
    return status ? status : pz_cuda_explain(take_stacks(made), "memory for the threads", error);
}

static void destroy(pz_cuda_samples *samples)
{
    engine *made = (engine *)(void *)samples; // its first member
    pz_cuda_samples_release(samples);
    (void)cudaFree(made->model);
    free(made);
}

poise_status pz_cuda_expressive_create(const poise_model *model, const poise_expressive_options *options, int device,
                                       int64_t postures, int64_t targets, pz_cuda_samples **samples, poise_error *error)
{
    if (!model || !options || !samples || postures < 1 || targets < 1) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model, options, cuda must not be NULL, both counts at least 1");
    }
    poise_status status = check_task(model, options, error);
    status = status ? status : pz_cuda_samples_open(device, error);
    if (status != POISE_OK) {
        return status;
    }
    engine *made = calloc(1, sizeof *made);
    if (!made) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    made->samples = (pz_cuda_samples){.release = destroy,
                                      .launch = pz_cuda_expressive_launch,
                                      .task = &made->task,
                                      .answer_size = sizeof(poise_cuda_posture_answer),
                                      .reads_q = true,
                                      .device = device,
                                      .nq = model->nq,
                                      .most_postures = postures,
                                      .most_targets = targets};
    status = make_all(model, options, made, error);
    if (status != POISE_OK) {
        destroy(&made->samples);
        return status;
    }
    *samples = &made->samples;
    return POISE_OK;
}
