// ERIK on a CUDA device, the host's part.
#include "cuda_erik.h"

#include "cuda_engines.h"

#include "base/error.h"

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
    bool is_served = count <= PZ_CUDA_LINKS && !options->exact_orientation && !options->warm;
    if (is_served) {
        *task = (pz_cuda_erik_task){
            .options = host->options, .nq = model->nq, .count = count, .base = host->chain.base, .E = host->chain.E};
        memcpy(task->links, host->chain.links, (size_t)count * sizeof *task->links);
    }
    poise_erik_destroy(host);
    return is_served ? POISE_OK
                     : pz_error_set(error, POISE_ERROR_UNSUPPORTED,
                                    "the device supports chains of up to %d joints, without exact_orientation or warm",
                                    PZ_CUDA_LINKS);
}

poise_status pz_cuda_erik_create(const poise_model *model, const poise_erik_options *options, int device, int64_t postures,
                                 int64_t targets, pz_cuda_samples **samples, poise_error *error)
{
    if (!model || !options || !samples || postures < 1 || targets < 1) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model, options, cuda must not be NULL, both counts at least 1");
    }
    pz_cuda_samples *made = NULL;
    poise_status status = pz_cuda_samples_open(sizeof(engine), model, device, postures, targets, &made, error);
    if (status != POISE_OK) {
        return status;
    }
    pz_cuda_erik_task *task = &((engine *)(void *)made)->task;
    made->launch = pz_cuda_erik_launch;
    made->task = task;
    status = make_task(model, options, task, error);
    status = status ? status : pz_cuda_explain(pz_cuda_erik_grid(&made->blocks), "loading the program of the device", error);
    status = status ? status : pz_cuda_samples_make(made, error);
    if (status != POISE_OK) {
        pz_cuda_samples_destroy(made);
        return status;
    }
    *samples = made;
    return POISE_OK;
}
