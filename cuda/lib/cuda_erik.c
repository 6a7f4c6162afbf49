// ERIK on a CUDA device, the host's part.
#include "cuda_erik.h"

#include "cuda_engines.h"
#include "explain.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

typedef struct engine {
    pz_cuda_samples samples;
    pz_cuda_erik_task task;
} engine;

// The chain and the options, from a solver on the host.
static poise_status make_task(const poise_model *model, const poise_erik_options *options, pz_cuda_erik_task *task,
                              poise_error *error)
{
    poise_erik *host;
    poise_status status = poise_erik_create(model, options, NULL, &host, error);
    if (status != POISE_OK) {
        return status;
    }
    int count = host->chain.count;
    bool is_served = count <= PZ_CUDA_LINKS && !options->exact_orientation;
    if (is_served) {
        *task = (pz_cuda_erik_task){
            .options = host->options, .nq = model->nq, .count = count, .base = host->chain.base, .E = host->chain.E};
        memcpy(task->links, host->chain.links, (size_t)count * sizeof *task->links);
    }
    poise_erik_destroy(host);
    return is_served ? POISE_OK
                     : pz_error_set(error, POISE_ERROR_UNSUPPORTED,
                                    "the device serves chains of up to %d joints, without exact_orientation", PZ_CUDA_LINKS);
}

static void destroy(pz_cuda_samples *samples)
{
    engine *made = (engine *)(void *)samples; // its first member
    pz_cuda_samples_release(samples);
    free(made);
}

poise_status pz_cuda_erik_create(const poise_model *model, const poise_erik_options *options, int device, int64_t postures,
                                 int64_t targets, pz_cuda_samples **samples, poise_error *error)
{
    if (!model || !options || !samples || postures < 1 || targets < 1) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model, options, cuda must not be NULL, both counts at least 1");
    }
    poise_status status = pz_cuda_samples_open(device, error);
    if (status != POISE_OK) {
        return status;
    }
    engine *made = calloc(1, sizeof *made);
    if (!made) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    made->samples = (pz_cuda_samples){.release = destroy,
                                      .launch = pz_cuda_erik_launch,
                                      .task = &made->task,
                                      .answer_size = sizeof(poise_cuda_posture_answer),
                                      .device = device,
                                      .nq = model->nq,
                                      .most_postures = postures,
                                      .most_targets = targets};
    status = make_task(model, options, &made->task, error);
    status = status ? status
                    : pz_cuda_explain(pz_cuda_erik_grid(&made->samples.blocks), "loading the program of the device", error);
    status = status ? status : pz_cuda_samples_make(&made->samples, error);
    if (status != POISE_OK) {
        destroy(&made->samples);
        return status;
    }
    *samples = &made->samples;
    return POISE_OK;
}
