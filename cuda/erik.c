// ERIK on a CUDA device, the host's part: what is made once, copies, sums of blocks, statuses.
#include "erik.h"

#include "explain.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

struct poise_cuda_erik {
    int device, blocks, nq;
    int64_t most_postures, most_targets;
    pz_cuda_erik_task task;
    // device memory
    double *postures, *q;
    poise_quat *targets;
    poise_cuda_erik_answer *answers;
    poise_cuda_erik_summary *summaries; // one for each block
    // host memory
    poise_cuda_erik_summary *host_summaries;
    poise_error error;
};

const char *poise_cuda_erik_error(const poise_cuda_erik *erik)
{
    return erik ? erik->error.text : "";
}

// ---- Making one ----------------------------------------------------------------------------------------------------------

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

static cudaError_t take_memory(poise_cuda_erik *e)
{
    size_t postures = (size_t)e->most_postures, targets = (size_t)e->most_targets, nq = (size_t)e->nq;
    size_t samples = postures < targets ? postures : targets; // of a list
    cudaError_t error = cudaMalloc((void **)&e->postures, postures * nq * sizeof *e->postures);
    error = error ? error : cudaMalloc((void **)&e->targets, targets * sizeof *e->targets);
    error = error ? error : cudaMalloc((void **)&e->q, samples * nq * sizeof *e->q);
    error = error ? error : cudaMalloc((void **)&e->answers, samples * sizeof *e->answers);
    error = error ? error : cudaMalloc((void **)&e->summaries, (size_t)e->blocks * sizeof *e->summaries);
    return error ? error : cudaMallocHost((void **)&e->host_summaries, (size_t)e->blocks * sizeof *e->host_summaries);
}

static poise_status make_all(poise_cuda_erik *e, const poise_model *model, const poise_erik_options *options,
                             poise_error *error)
{
    int processors = 0;
    poise_status status = make_task(model, options, &e->task, error);
    status = status ? status : pz_cuda_explain(cudaSetDevice(e->device), "choosing the device", error);
    if (status != POISE_OK) {
        return status;
    }
    cudaError_t asked = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, e->device);
    asked = asked ? asked : pz_cuda_erik_grid(processors, &e->blocks);
    status = pz_cuda_explain(asked, "loading the program of the device", error);
    return status ? status : pz_cuda_explain(take_memory(e), "memory for the samples", error);
}

poise_status poise_cuda_erik_create(const poise_model *model, const poise_erik_options *options, int device,
                                    int64_t postures, int64_t targets, poise_cuda_erik **erik, poise_error *error)
{
    if (!model || !options || !erik || postures < 1 || targets < 1) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model, options, erik must not be NULL, both counts at least 1");
    }
    if (poise_cuda_device_count() <= device || device < 0) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "there is no CUDA device %d, or no driver for it", device);
    }
    poise_cuda_erik *made = calloc(1, sizeof *made);
    if (!made) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    made->device = device;
    made->nq = model->nq;
    made->most_postures = postures, made->most_targets = targets;
    poise_status status = make_all(made, model, options, error);
    if (status != POISE_OK) {
        poise_cuda_erik_destroy(made);
        return status;
    }
    *erik = made;
    return POISE_OK;
}

void poise_cuda_erik_destroy(poise_cuda_erik *erik)
{
    if (!erik) {
        return;
    }
    (void)cudaSetDevice(erik->device);
    (void)cudaFree(erik->postures);
    (void)cudaFree(erik->targets);
    (void)cudaFree(erik->q);
    (void)cudaFree(erik->answers);
    (void)cudaFree(erik->summaries);
    (void)cudaFreeHost(erik->host_summaries);
    free(erik);
}

// ---- Samples -------------------------------------------------------------------------------------------------------------

static bool are_sound(const double *postures, int64_t posture_count, int nq, const poise_quat *targets, int64_t target_count)
{
    bool sound = all_finite(postures, (size_t)posture_count * (size_t)nq);
    for (int64_t i = 0; i < target_count && sound; ++i) {
        const poise_quat *t = &targets[i];
        sound = quat_is_finite(*t) && fabs(t->x) + fabs(t->y) + fabs(t->z) + fabs(t->w) > 0.0;
    }
    return sound;
}

static poise_status check(poise_cuda_erik *e, const double *postures, int64_t posture_count, const poise_quat *targets,
                          int64_t target_count, bool has_output)
{
    e->error.text[0] = '\0';
    if (posture_count < 0 || target_count < 0 || posture_count > e->most_postures || target_count > e->most_targets ||
        !has_output || ((posture_count > 0 || target_count > 0) && (!postures || !targets))) {
        return pz_error_set(&e->error, POISE_ERROR_ARGUMENT, "no pointer may be NULL, no count above what it was made for");
    }
    if (!are_sound(postures, posture_count, e->nq, targets, target_count)) {
        return pz_error_set(&e->error, POISE_ERROR_ARGUMENT, "numbers must be finite and no target a zero quaternion");
    }
    return POISE_OK;
}

static cudaError_t bring(poise_cuda_erik *e, const double *postures, int64_t posture_count, const poise_quat *targets,
                         int64_t target_count)
{
    size_t numbers = (size_t)posture_count * (size_t)e->nq;
    cudaError_t error = cudaSetDevice(e->device);
    error = error ? error : cudaMemcpy(e->postures, postures, numbers * sizeof *postures, cudaMemcpyHostToDevice);
    return error ? error : cudaMemcpy(e->targets, targets, (size_t)target_count * sizeof *targets, cudaMemcpyHostToDevice);
}

poise_status poise_cuda_erik_solve(poise_cuda_erik *erik, const double *postures, const poise_quat *targets, double *q,
                                   poise_cuda_erik_answer *answers, int64_t count)
{
    poise_status status = erik ? check(erik, postures, count, targets, count, q || count == 0) : POISE_ERROR_ARGUMENT;
    if (status != POISE_OK || count == 0) {
        return status;
    }
    size_t size = (size_t)count * (size_t)erik->nq * sizeof *q;
    pz_cuda_erik_batch batch = {.postures = erik->postures,
                                .targets = erik->targets,
                                .to = count,
                                .q = erik->q,
                                .answers = answers ? erik->answers : NULL};
    cudaError_t e = bring(erik, postures, count, targets, count);
    e = e ? e : cudaMemcpy(erik->q, q, size, cudaMemcpyHostToDevice); // joints beside the chain come back as they were
    e = e ? e : pz_cuda_erik_launch(&erik->task, &batch, erik->blocks, NULL);
    e = e ? e : cudaMemcpy(q, erik->q, size, cudaMemcpyDeviceToHost);
    if (!e && answers) {
        e = cudaMemcpy(answers, erik->answers, (size_t)count * sizeof *answers, cudaMemcpyDeviceToHost);
    }
    return pz_cuda_explain(e, "solving", &erik->error);
}

// ---- Sums ----------------------------------------------------------------------------------------------------------------

// T. F. Chan, G. H. Golub & R. J. LeVeque (1979).
static void merge(poise_cuda_statistics *s, const poise_cuda_statistics *other)
{
    if (other->count == 0) {
        return;
    }
    double na = (double)s->count, nb = (double)other->count, between = other->mean - s->mean;
    s->least = s->count == 0 ? other->least : min2(s->least, other->least);
    s->most = s->count == 0 ? other->most : max2(s->most, other->most);
    s->count += other->count;
    s->mean += between * (nb / (na + nb));
    s->squares += other->squares + between * between * (na * nb / (na + nb));
    for (int i = 0; i <= POISE_CUDA_BINS; ++i) {
        s->bins[i] += other->bins[i];
    }
}

poise_status poise_cuda_erik_evaluate(poise_cuda_erik *erik, const double *postures, int64_t posture_count,
                                      const poise_quat *targets, int64_t target_count, poise_cuda_erik_summary *summary)
{
    poise_status status =
        erik ? check(erik, postures, posture_count, targets, target_count, summary != NULL) : POISE_ERROR_ARGUMENT;
    if (status != POISE_OK) {
        return status;
    }
    size_t size = (size_t)erik->blocks * sizeof *erik->summaries;
    pz_cuda_erik_batch batch = {.postures = erik->postures,
                                .targets = erik->targets,
                                .to = posture_count * target_count,
                                .target_count = target_count,
                                .summary = erik->summaries};
    cudaError_t e = batch.to > 0 ? bring(erik, postures, posture_count, targets, target_count) : cudaSuccess;
    if (batch.to > 0) {
        e = e ? e : pz_cuda_erik_launch(&erik->task, &batch, erik->blocks, NULL);
        e = e ? e : cudaMemcpy(erik->host_summaries, erik->summaries, size, cudaMemcpyDeviceToHost);
    }
    if (!e) {
        *summary = (poise_cuda_erik_summary){.reached = 0};
    }
    for (int b = 0; b < erik->blocks && batch.to > 0 && !e; ++b) {
        const poise_cuda_erik_summary *part = &erik->host_summaries[b];
        merge(&summary->error, &part->error);
        merge(&summary->orientation, &part->orientation);
        merge(&summary->posture, &part->posture);
        merge(&summary->iterations, &part->iterations);
        summary->reached += part->reached, summary->aimed += part->aimed, summary->outside += part->outside;
    }
    return pz_cuda_explain(e, "solving", &erik->error);
}
