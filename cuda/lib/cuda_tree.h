// Marker problems on the device: what the host (tree.c) and the kernels (tree.cu) agree on.
#ifndef POISE_CUDA_CUDA_TREE_H
#define POISE_CUDA_CUDA_TREE_H

#include "marker_batch.h"

#include <cuda_runtime_api.h>

// Condensed markers that there is room for, per joint (goal/marker_sums.h).
#define PZ_CUDA_MARKERS_PER_JOINT 4

// Everything about the problems but targets, weights and starts; pointers are the device's.
typedef struct pz_cuda_tree_task {
    const poise_model *model;
    const poise_goal *goals;      // targets and weights do not matter
    poise_solver_options options; // `locked` the device's, too
    const struct pz_box *box;     // of a solver and its tree: the same for all threads, so that they share them
    const struct pz_group *groups;
    int goal_count, nq;
    int size; // bytes of scratch memory for each problem under way
} pz_cuda_tree_task;

// How one run ended.
typedef struct pz_cuda_tree_run {
    double cost;
    int16_t is_there; // it was run to its end
    int16_t outcome;
    int iterations, evaluations;
} pz_cuda_tree_run;

// A problem that its first run did not settle: the best run so far, by pz_cuda_tree_precedes.
typedef struct pz_cuda_tree_open {
    int problem;
    int reached;  // the first run, by number, that met the goals; INT_MAX: none
    int best_run; // whose end is in `best`
    unsigned lock;
    double start_cost, best_cost;
} pz_cuda_tree_open;

typedef struct pz_cuda_tree_counters {
    int next, open, next_settled; // problems begun; those left open; those settled
    unsigned long long next_run;  // runs of open ones that were begun
} pz_cuda_tree_counters;

// Device memory that calls share, for `capacity` problems.
typedef struct pz_cuda_tree_work {
    pz_cuda_tree_counters *counters;
    pz_cuda_tree_open *open;
    pz_cuda_tree_run *runs; // restarts + 1 for each open problem
    double *best;           // nq for each
    int capacity;
} pz_cuda_tree_work;

#ifdef __cplusplus
extern "C" {
#endif

// Bytes of scratch memory for a problem; options without coupled goals.
size_t pz_cuda_tree_size(const poise_model *model, int goal_count, const poise_solver_options *options);

// Bytes of scratch memory that kernels are there for: the least that is not below `size`; 0: none is large enough.
int pz_cuda_tree_room(int size);

// Blocks that keep the device busy.
cudaError_t pz_cuda_tree_grid(int room, int processors, int *blocks);

cudaError_t pz_cuda_tree_launch(const pz_cuda_tree_task *task, const pz_cuda_tree_batch *batch,
                                const pz_cuda_tree_work *work, int blocks, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
