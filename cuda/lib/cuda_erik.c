// ERIK on a CUDA device, the host's part.
#include "cuda_erik.h"

#include "explain.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

struct poise_cuda_erik {
    pz_cuda_samples samples;
    pz_cuda_erik_task task;
};

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

poise_status poise_cuda_erik_create(const poise_model *model, const poise_erik_options *options, int device,
                                    int64_t postures, int64_t targets, poise_cuda_erik **erik, poise_error *error)
{
    if (!model || !options || !erik || postures < 1 || targets < 1) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model, options, erik must not be NULL, both counts at least 1");
    }
    poise_status status = pz_cuda_samples_open(device, error);
    if (status != POISE_OK) {
        return status;
    }
    poise_cuda_erik *made = calloc(1, sizeof *made);
    if (!made) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    made->samples = (pz_cuda_samples){.launch = pz_cuda_erik_launch,
                                      .task = &made->task,
                                      .answer_size = sizeof(poise_cuda_erik_answer),
                                      .device = device,
                                      .nq = model->nq,
                                      .most_postures = postures,
                                      .most_targets = targets};
    status = make_task(model, options, &made->task, error);
    status = status ? status
                    : pz_cuda_explain(pz_cuda_erik_grid(&made->samples.blocks), "loading the program of the device", error);
    status = status ? status : pz_cuda_samples_make(&made->samples, error);
    if (status != POISE_OK) {
        poise_cuda_erik_destroy(made);
        return status;
    }
    *erik = made;
    return POISE_OK;
}

void poise_cuda_erik_destroy(poise_cuda_erik *erik)
{
    if (erik) {
        pz_cuda_samples_release(&erik->samples);
        free(erik);
    }
}

const char *poise_cuda_erik_error(const poise_cuda_erik *erik)
{
    return erik ? erik->samples.error.text : "";
}

poise_status poise_cuda_erik_solve(poise_cuda_erik *erik, const double *postures, const poise_quat *targets, double *q,
                                   poise_cuda_erik_answer *answers, int64_t count)
{
    return erik ? pz_cuda_samples_solve(&erik->samples, postures, targets, q, answers, count) : POISE_ERROR_ARGUMENT;
}

poise_status poise_cuda_erik_queue(poise_cuda_erik *erik, const double *postures, const poise_quat *targets, double *q,
                                   poise_cuda_erik_answer *answers, int64_t count, void *stream)
{
    return erik ? pz_cuda_samples_queue(&erik->samples, postures, targets, q, answers, count, stream) : POISE_ERROR_ARGUMENT;
}

poise_status pz_cuda_erik_evaluate(poise_cuda_erik *erik, const double *postures, int64_t posture_count,
                                   const poise_quat *targets, int64_t target_count, pz_cuda_erik_summary *summary)
{
    return erik ? pz_cuda_samples_evaluate(&erik->samples, postures, posture_count, targets, target_count, summary)
                : POISE_ERROR_ARGUMENT;
}
