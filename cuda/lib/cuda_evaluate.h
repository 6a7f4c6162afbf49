// Evaluations on a CUDA device: every posture at every target, summed up there. For research/ and the benchmarks; no part of
// the public API.
#ifndef POISE_CUDA_EVALUATE_H
#define POISE_CUDA_EVALUATE_H

#include <poise/cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

// Bins of a histogram, but for the last.
#define PZ_CUDA_BINS 100
#define PZ_CUDA_BIN  0.002 // width of a bin of errors; iterations have bins of width 1

// Of many numbers.
typedef struct pz_cuda_statistics {
    int64_t count;                  // how many
    double mean;                    // of them
    double squares;                 // sum of squared distances from the mean
    double least, most;             // of them
    int64_t bins[PZ_CUDA_BINS + 1]; // from 0; the last takes what lies beyond
} pz_cuda_statistics;

// What the samples of an evaluation came to. For the successor `orientation` is the error of the goal, and `iterations` are
// evaluations of its objective.
typedef struct pz_cuda_erik_summary {
    pz_cuda_statistics error, orientation, posture, iterations; // posture times its weight
    int64_t reached;                                            // error within the threshold
    int64_t aimed;                                              // orientation within the threshold
    int64_t outside;                                            // answers outside the limits
} pz_cuda_erik_summary;

// Every posture at every target, summed up: posture_count x target_count samples. Nothing else is kept of them. The
// successor solves them cold, whatever its options say.
poise_status pz_cuda_evaluate(poise_cuda *cuda, const double *postures, int64_t posture_count, const poise_quat *targets,
                              int64_t target_count, pz_cuda_erik_summary *summary, poise_error *error);

#ifdef __cplusplus
}
#endif

#endif
