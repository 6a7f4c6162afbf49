// Samples of expressive inverse kinematics on the device, postures at targets: what the host does alike for ERIK (erik.c)
// and for its successor (expressive.c).
#ifndef POISE_CUDA_SAMPLES_H
#define POISE_CUDA_SAMPLES_H

#include "cuda_evaluate.h"

#include <cuda_runtime_api.h>

#define PZ_CUDA_LINKS 16 // of a chain, at most

// One call, in device memory. Sample i is posture i / target_count at target i % target_count, or posture i at target i
// where target_count is 0.
typedef struct pz_cuda_samples_batch {
    const double *postures;
    const poise_quat *targets;
    int64_t count, target_count;
    double *q;                     // nq numbers for each sample of a list
    void *answers;                 // NULL, or one for each sample of a list
    pz_cuda_erik_summary *summary; // NULL, or one for each block, of the samples that it had
} pz_cuda_samples_batch;

// Queue a call for `task` (in host memory).
typedef cudaError_t (*pz_cuda_launch)(const void *task, const pz_cuda_samples_batch *batch, int blocks, cudaStream_t stream);

// Memory for calls from the host. What is above `postures` is the owner's to fill.
typedef struct pz_cuda_samples {
    void (*release)(struct pz_cuda_samples *samples); // the engine that begins with it
    pz_cuda_launch launch;
    const void *task;
    size_t answer_size;
    bool reads_q; // answers depend on q as it comes in
    int device, nq;
    int blocks; // that keep the device busy
    int64_t most_postures, most_targets;
    double *postures, *q; // device memory
    poise_quat *targets;
    void *answers;
    pz_cuda_erik_summary *summaries; // one for each block
    pz_cuda_erik_summary *host_summaries;
} pz_cuda_samples;

// Choose the device, after a look whether it is there.
poise_status pz_cuda_samples_open(int device, poise_error *error);

// For a kernel of which `blocks` fit on a processor.
poise_status pz_cuda_samples_make(pz_cuda_samples *s, poise_error *error);
void pz_cuda_samples_release(pz_cuda_samples *s);

// The calls of cuda.h and cuda_evaluate.h.
poise_status pz_cuda_samples_solve(pz_cuda_samples *s, const double *postures, const poise_quat *targets, double *q,
                                   void *answers, int64_t count, poise_error *error);
poise_status pz_cuda_samples_queue(pz_cuda_samples *s, const double *postures, const poise_quat *targets, double *q,
                                   void *answers, int64_t count, void *stream, poise_error *error);
poise_status pz_cuda_samples_evaluate(pz_cuda_samples *s, const double *postures, int64_t posture_count,
                                      const poise_quat *targets, int64_t target_count, pz_cuda_erik_summary *summary,
                                      poise_error *error);

#endif
