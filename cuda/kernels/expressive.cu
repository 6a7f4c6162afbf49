// ERIK's successor on the device: a sample for each thread, solved by the library's own sources. All that a
// poise_expressive works with lies in the thread's local memory, which the hardware lays out so that the threads of a warp
// read and write whole lines where they are at the same place.
#define PZ_DEVICE __noinline__ static // inlined into each other they would make a program too large for its cache
#include "expressive_sources.h"

#include "block_sums.h"
#include "lib/cuda_expressive.h"

#ifndef BLOCKS
#define BLOCKS 2 // of THREADS on a processor, at least
#endif

// ---- One sample ----------------------------------------------------------------------------------------------------------

// As poise_expressive_solve. A sample whose numbers are not sound is left alone.
__device__ __noinline__ static poise_cuda_posture_answer solve(poise_expressive *e, poise_goal *goal, const double *posture,
                                                               poise_quat target, double *q)
{
    poise_expressive_report r;
    goal->target.rotation = quat_normalize(target);
    if (poise_expressive_solve(e, goal, 1, posture, q, &r, NULL) != POISE_OK) {
        return poise_cuda_posture_answer{.error = INFINITY, .goal = INFINITY, .outcome = POISE_OUTCOME_STALLED};
    }
    return poise_cuda_posture_answer{.error = r.error,
                                     .goal = r.goal,
                                     .posture = r.posture,
                                     .angle = r.worst_angle,
                                     .iterations = r.evaluations,
                                     .candidates = r.candidates,
                                     .outcome = r.outcome,
                                     .kept_branch = r.kept_branch};
}

__device__ static bool is_outside(const poise_model *model, const double *q)
{
    bool outside = false;
    for (int i = 0; i < model->nq; ++i) {
        outside = outside || !(q[i] >= model->lower[i] && q[i] <= model->upper[i]);
    }
    return outside;
}

// ---- The kernel ----------------------------------------------------------------------------------------------------------

// A list of samples (batch.q), sums over all postures at all targets (batch.summary), or only the bytes of scratch memory
// that are needed. One kernel for the three: each would have its own copy of all that it calls.
template <int BYTES>
__global__ void __launch_bounds__(THREADS, BLOCKS) kernel(const __grid_constant__ pz_cuda_expressive_task task,
                                                          const __grid_constant__ pz_cuda_samples_batch batch, size_t *size)
{
    __shared__ block_sums sums;
    __align__(PZ_ALIGNMENT) unsigned char scratch[BYTES];
    int64_t first = (int64_t)blockIdx.x * THREADS + threadIdx.x, stride = (int64_t)gridDim.x * THREADS;
    if (size) {
        *size = pz_expressive_size(task.model, &task.options);
        return;
    }
    bool is_list = batch.summary == NULL;
    if (is_list && first >= batch.count) {
        return;
    }
    moments own[STATISTICS];
    if (!is_list) {
        begin_sums(&sums, own);
    }
    poise_expressive *e =
        pz_expressive_init(task.model, &task.options, scratch, BYTES); // the host has seen to it that it fits
    e->options.warm = is_list && task.options.warm;
    poise_model_neutral(task.model, e->q_best);
    poise_goal goal = task.goal;
    double threshold = task.options.threshold, weight = task.options.posture_weight;
    for (int64_t i = first; i < batch.count; i += stride) {
        int64_t posture = is_list ? i : i / batch.target_count, target = is_list ? i : i % batch.target_count;
        double *q = is_list ? batch.q + i * task.nq : e->q_best;
        poise_cuda_posture_answer a = solve(e, &goal, batch.postures + posture * task.nq, batch.targets[target], q);
        if (batch.answers) {
            batch.answers[i] = a;
        }
        if (!is_list) {
            add_sample(&sums, own,
                       sample_numbers{{a.error, a.goal, weight * a.posture, (double)a.iterations},
                                      a.error <= threshold,
                                      a.goal <= threshold,
                                      is_outside(task.model, q)});
        }
    }
    if (!is_list) {
        hand_in(&sums, own, &batch.summary[blockIdx.x]);
    }
}

// ---- Launch --------------------------------------------------------------------------------------------------------------

#define SMALL_ROOM (40 << 10)
#define LARGE_ROOM (80 << 10)

cudaError_t pz_cuda_expressive_room(const pz_cuda_expressive_task *task, int *room)
{
    size_t *there = NULL, size = 0;
    cudaError_t error = cudaMalloc(&there, sizeof *there);
    if (!error) {
        kernel<SMALL_ROOM><<<1, 1>>>(*task, pz_cuda_samples_batch{}, there);
        error = cudaPeekAtLastError();
    }
    error = error ? error : cudaMemcpy(&size, there, sizeof size, cudaMemcpyDeviceToHost);
    (void)cudaFree(there);
    *room = size <= SMALL_ROOM ? SMALL_ROOM : size <= LARGE_ROOM ? LARGE_ROOM : 0;
    return error;
}

cudaError_t pz_cuda_expressive_grid(int room, int *blocks)
{
    return room == SMALL_ROOM ? cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel<SMALL_ROOM>, THREADS, 0)
                              : cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel<LARGE_ROOM>, THREADS, 0);
}

cudaError_t pz_cuda_expressive_launch(const void *task, const pz_cuda_samples_batch *batch, int blocks, cudaStream_t stream)
{
    const pz_cuda_expressive_task *t = (const pz_cuda_expressive_task *)task;
    int64_t enough = (batch->count + THREADS - 1) / THREADS;
    int grid = batch->summary || enough > blocks ? blocks : (int)enough;
    if (t->room == SMALL_ROOM) {
        kernel<SMALL_ROOM><<<grid, THREADS, 0, stream>>>(*t, *batch, NULL);
    } else {
        kernel<LARGE_ROOM><<<grid, THREADS, 0, stream>>>(*t, *batch, NULL);
    }
    return cudaPeekAtLastError();
}
