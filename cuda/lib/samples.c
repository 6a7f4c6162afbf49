// Samples on a CUDA device: memory, copies, sums of blocks, statuses.
#include "samples.h"

#include "base/error.h"
#include "math/quat.h"
#include "model/packed_model.h"

#include <stdlib.h>

poise_status pz_cuda_samples_open(size_t size, const poise_model *model, int device, int64_t postures, int64_t targets,
                                  pz_cuda_samples **samples, poise_error *error)
{
    pz_cuda_samples *made = calloc(1, size);
    if (!made) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    poise_status status = pz_cuda_open(&made->room, device, error);
    if (status != POISE_OK) {
        free(made);
        return status;
    }
    made->nq = model->nq;
    made->most_postures = postures;
    made->most_targets = targets;
    *samples = made;
    return POISE_OK;
}

poise_status pz_cuda_samples_make(pz_cuda_samples *s, poise_error *error)
{
    size_t postures = (size_t)s->most_postures, targets = (size_t)s->most_targets, nq = (size_t)s->nq;
    size_t samples = postures < targets ? postures : targets; // of a list
    s->blocks *= s->room.processors;
    s->postures = pz_cuda_take(&s->room, postures * nq, sizeof *s->postures);
    s->targets = pz_cuda_take(&s->room, targets, sizeof *s->targets);
    s->q = pz_cuda_take(&s->room, samples * nq, sizeof *s->q);
    s->answers = pz_cuda_take(&s->room, samples, sizeof *s->answers);
    s->summaries = pz_cuda_take(&s->room, (size_t)s->blocks, sizeof *s->summaries);
    s->host_summaries = pz_cuda_take_host(&s->room, (size_t)s->blocks, sizeof *s->host_summaries);
    return pz_cuda_explain(s->room.error, "memory for the samples", error);
}

void pz_cuda_samples_destroy(pz_cuda_samples *s)
{
    if (s) {
        pz_cuda_close(&s->room);
        free(s);
    }
}

// ---- Lists ---------------------------------------------------------------------------------------------------------------

static bool are_sound(const double *postures, int64_t posture_count, int nq, const poise_quat *targets, int64_t target_count)
{
    bool sound = all_finite(postures, (size_t)posture_count * (size_t)nq);
    for (int64_t i = 0; i < target_count && sound; ++i) {
        const poise_quat *t = &targets[i];
        sound = quat_is_finite(*t) && fabs(t->x) + fabs(t->y) + fabs(t->z) + fabs(t->w) > 0.0;
    }
    return sound;
}

static poise_status check(pz_cuda_samples *s, const double *postures, int64_t posture_count, const poise_quat *targets,
                          int64_t target_count, bool has_output, poise_error *error)
{
    if (posture_count < 0 || target_count < 0 || posture_count > s->most_postures || target_count > s->most_targets ||
        !has_output || ((posture_count > 0 || target_count > 0) && (!postures || !targets))) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "no pointer may be NULL, no count above what it was made for");
    }
    if (!are_sound(postures, posture_count, s->nq, targets, target_count)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "numbers must be finite and no target a zero quaternion");
    }
    return POISE_OK;
}

static cudaError_t bring(pz_cuda_samples *s, const double *postures, int64_t posture_count, const poise_quat *targets,
                         int64_t target_count)
{
    size_t numbers = (size_t)posture_count * (size_t)s->nq;
    cudaError_t error = cudaSetDevice(s->room.device);
    error = error ? error : cudaMemcpy(s->postures, postures, numbers * sizeof *postures, cudaMemcpyHostToDevice);
    return error ? error : cudaMemcpy(s->targets, targets, (size_t)target_count * sizeof *targets, cudaMemcpyHostToDevice);
}

poise_status pz_cuda_samples_solve(pz_cuda_samples *s, const double *postures, const poise_quat *targets, double *q,
                                   poise_cuda_posture_answer *answers, int64_t count, poise_error *error)
{
    poise_status status = check(s, postures, count, targets, count, q || count == 0, error);
    if (status != POISE_OK || count == 0) {
        return status;
    }
    if (s->reads_q && !all_finite(q, (size_t)count * (size_t)s->nq)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "q must hold finite numbers");
    }
    size_t size = (size_t)count * (size_t)s->nq * sizeof *q;
    pz_cuda_samples_batch batch = {
        .postures = s->postures, .targets = s->targets, .count = count, .q = s->q, .answers = answers ? s->answers : NULL};
    cudaError_t e = bring(s, postures, count, targets, count);
    e = e ? e : cudaMemcpy(s->q, q, size, cudaMemcpyHostToDevice);
    e = e ? e : s->launch(s->task, &batch, s->blocks, NULL);
    e = e ? e : cudaMemcpy(q, s->q, size, cudaMemcpyDeviceToHost);
    if (!e && answers) {
        e = cudaMemcpy(answers, s->answers, (size_t)count * sizeof *answers, cudaMemcpyDeviceToHost);
    }
    return pz_cuda_explain(e, "solving", error);
}

poise_status pz_cuda_samples_queue(pz_cuda_samples *s, const double *postures, const poise_quat *targets, double *q,
                                   poise_cuda_posture_answer *answers, int64_t count, void *stream, poise_error *error)
{
    if (count < 0 || (count > 0 && (!postures || !targets || !q))) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "no pointer but answers may be NULL, and no count below 0");
    }
    if (count == 0) {
        return POISE_OK;
    }
    pz_cuda_samples_batch batch = {.postures = postures, .targets = targets, .count = count, .q = q, .answers = answers};
    cudaError_t e = cudaSetDevice(s->room.device);
    e = e ? e : s->launch(s->task, &batch, s->blocks, (cudaStream_t)stream);
    return pz_cuda_explain(e, "queueing the samples", error);
}

// ---- Sums ----------------------------------------------------------------------------------------------------------------

// T. F. Chan, G. H. Golub & R. J. LeVeque (1979).
static void merge(pz_cuda_statistics *s, const pz_cuda_statistics *other)
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
    for (int i = 0; i <= PZ_CUDA_BINS; ++i) {
        s->bins[i] += other->bins[i];
    }
}

static void merge_all(pz_cuda_erik_summary *summary, const pz_cuda_erik_summary *part)
{
    merge(&summary->error, &part->error);
    merge(&summary->orientation, &part->orientation);
    merge(&summary->posture, &part->posture);
    merge(&summary->iterations, &part->iterations);
    summary->reached += part->reached, summary->aimed += part->aimed, summary->outside += part->outside;
}

poise_status pz_cuda_samples_evaluate(pz_cuda_samples *s, const double *postures, int64_t posture_count,
                                      const poise_quat *targets, int64_t target_count, pz_cuda_erik_summary *summary,
                                      poise_error *error)
{
    poise_status status = check(s, postures, posture_count, targets, target_count, summary != NULL, error);
    if (status != POISE_OK) {
        return status;
    }
    size_t size = (size_t)s->blocks * sizeof *s->summaries;
    pz_cuda_samples_batch batch = {.postures = s->postures,
                                   .targets = s->targets,
                                   .count = posture_count * target_count,
                                   .target_count = target_count,
                                   .summary = s->summaries};
    cudaError_t e = cudaSuccess;
    if (batch.count > 0) {
        e = bring(s, postures, posture_count, targets, target_count);
        e = e ? e : s->launch(s->task, &batch, s->blocks, NULL);
        e = e ? e : cudaMemcpy(s->host_summaries, s->summaries, size, cudaMemcpyDeviceToHost);
    }
    if (!e) {
        *summary = (pz_cuda_erik_summary){.reached = 0};
    }
    for (int b = 0; b < s->blocks && batch.count > 0 && !e; ++b) {
        merge_all(summary, &s->host_summaries[b]);
    }
    return pz_cuda_explain(e, "solving", error);
}
