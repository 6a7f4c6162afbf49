// Samples of expressive inverse kinematics on the device, postures at targets: what the host does alike for ERIK
// (cuda_erik.c) and for its successor (cuda_expressive.c).
#ifndef POISE_CUDA_SAMPLES_H
#define POISE_CUDA_SAMPLES_H

#include "cuda_evaluate.h"
#include "cuda_room.h"

#define PZ_CUDA_LINKS 16 // of a chain, at most

// One call, in device memory. Sample i is posture i / target_count at target i % target_count, or posture i at target i
// where target_count is 0.
typedef struct pz_cuda_samples_batch {
    const double *postures;
    const poise_quat *targets;
    int64_t count, target_count;
    double *q;                          // nq numbers for each sample of a list
    poise_cuda_posture_answer *answers; // NULL, or one for each sample of a list
    pz_cuda_erik_summary *summary;      // NULL, or one for each block, of the samples that it had
} pz_cuda_samples_batch;

// Queue a call for `task` (in host memory).
typedef cudaError_t (*pz_cuda_launch)(const void *task, const pz_cuda_samples_batch *batch, int blocks, cudaStream_t stream);

// Memory for calls from the host. An engine begins with it; what is above `room` is the engine's to fill.
typedef struct pz_cuda_samples {
    pz_cuda_launch launch;
    const void *task;
    bool reads_q; // answers depend on q as it comes in
    int blocks;   // that keep the device busy
    pz_cuda_room room;
    int nq;
    int64_t most_postures, most_targets;
    double *postures, *q; // device memory
    poise_quat *targets;
    poise_cuda_posture_answer *answers;
    pz_cuda_erik_summary *summaries; // one for each block
    pz_cuda_erik_summary *host_summaries;
} pz_cuda_samples;

// An engine of `size` bytes on a device, all zeros but for what a list needs to know.
poise_status pz_cuda_samples_open(size_t size, const poise_model *model, int device, int64_t postures, int64_t targets,
                                  pz_cuda_samples **samples, poise_error *error);

// Take memory for a kernel of which `blocks` fit on a processor.
poise_status pz_cuda_samples_make(pz_cuda_samples *s, poise_error *error);
void pz_cuda_samples_destroy(pz_cuda_samples *s); // NULL is allowed

// The calls of cuda.h and cuda_evaluate.h.
poise_status pz_cuda_samples_solve(pz_cuda_samples *s, const double *postures, const poise_quat *targets, double *q,
                                   poise_cuda_posture_answer *answers, int64_t count, poise_error *error);
poise_status pz_cuda_samples_queue(pz_cuda_samples *s, const double *postures, const poise_quat *targets, double *q,
                                   poise_cuda_posture_answer *answers, int64_t count, void *stream, poise_error *error);
poise_status pz_cuda_samples_evaluate(pz_cuda_samples *s, const double *postures, int64_t posture_count,
                                      const poise_quat *targets, int64_t target_count, pz_cuda_erik_summary *summary,
                                      poise_error *error);

#endif
