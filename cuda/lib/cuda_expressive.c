// ERIK's successor on a CUDA device, the host's part.
#include "cuda_expressive.h"

#include "cuda_engines.h"

#include "base/error.h"
#include "model/packed_model.h"

typedef struct engine {
    pz_cuda_samples samples;
    pz_cuda_expressive_task task;
    const poise_model *model;
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
    int count = poise_erik_joints(erik).count;
    poise_erik_destroy(erik);
    if (count > PZ_CUDA_LINKS || model->nq != model->nv || model->block_count > 0) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED,
                            "the device supports chains of up to %d joints, with hinges and slides beside them",
                            PZ_CUDA_LINKS);
    }
    return POISE_OK;
}

static void put_model(pz_cuda_image *image, void *user)
{
    engine *made = user;
    made->task.model = pz_cuda_put_model(image, made->model);
}

static poise_status make_task(const poise_model *model, const poise_expressive_options *options, engine *made,
                              poise_error *error)
{
    pz_cuda_expressive_task *task = &made->task;
    int body = options->body == POISE_NONE ? model->joint_count - 1 : options->body;
    task->options = *options;
    task->options.max_goals = 1;
    task->options.coupled_goals = 0;
    task->goal = poise_goal_orientation(body, poise_pose_identity().rotation);
    task->goal.local.rotation = quat_normalize(options->tip.rotation);
    task->nq = model->nq;
    if (model->curve_count > 0) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "the device supports only models without curve joints");
    }
    made->model = model;
    poise_status status = pz_cuda_make_image(&made->samples.room, put_model, made, error);
    if (status != POISE_OK) {
        return status;
    }
    status = pz_cuda_explain(pz_cuda_expressive_room(task, &task->room), "loading the program of the device", error);
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

poise_status pz_cuda_expressive_create(const poise_model *model, const poise_expressive_options *options, int device,
                                       int64_t postures, int64_t targets, pz_cuda_samples **samples, poise_error *error)
{
    if (!model || !options || !samples || postures < 1 || targets < 1) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model, options, cuda must not be NULL, both counts at least 1");
    }
    pz_cuda_samples *made = NULL;
    poise_status status = check_task(model, options, error);
    status = status ? status : pz_cuda_samples_open(sizeof(engine), model, device, postures, targets, &made, error);
    if (status != POISE_OK) {
        return status;
    }
    engine *whole = (engine *)(void *)made; // which it begins
    made->launch = pz_cuda_expressive_launch;
    made->task = &whole->task;
    made->reads_q = true;
    status = make_all(model, options, whole, error);
    if (status != POISE_OK) {
        pz_cuda_samples_destroy(made);
        return status;
    }
    *samples = made;
    return POISE_OK;
}
