// A batch of marker problems in device memory: what both ways of solving them take.
#ifndef POISE_CUDA_MARKER_BATCH_H
#define POISE_CUDA_MARKER_BATCH_H

#include <poise/cuda.h>

// One call, in device memory.
typedef struct pz_cuda_tree_batch {
    const poise_vec3 *targets;       // goal_count for each problem
    const poise_pose *poses;         // the same where some goals are no points: instead of targets
    const double *weights;           // goal_count for each problem, or NULL: those of the goals
    double *q;                       // nq each: start in, answer out
    poise_cuda_tree_answer *answers; // NULL, or one for each problem
    int count;
} pz_cuda_tree_batch;

#endif
