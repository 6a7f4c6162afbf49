// ERIK on the device: a sample for each thread, solved by the library's own sources, and sums over samples.
#define PZ_DEVICE __noinline__ static // inlined into each other they would make a program too large for its cache
#include "device_sources.h"

#include "device_begin.h"

#include "math/trig.c"

#include "math/quat.c"

#include "express/erik/descent.c"
#include "express/erik/erik_measure.c"
#include "express/erik/erik_run.c"
#include "express/erik/joint_model.c"
#include "express/erik/phases.c"

#include "device_end.h"

#include "block_sums.h"
#include "lib/cuda_erik.h"

// ---- One sample ----------------------------------------------------------------------------------------------------------

// What a poise_erik points to.
struct memory {
    double psi[PZ_CUDA_LINKS], psi_bend[PZ_CUDA_LINKS], best[PZ_CUDA_LINKS];
    double theta[2][PZ_CUDA_LINKS], sine[2][PZ_CUDA_LINKS], cosine[2][PZ_CUDA_LINKS];
    mat3 Q[2][PZ_CUDA_LINKS + 1], forward[PZ_CUDA_LINKS + 1];
    double errors[PZ_LARGEST_WINDOW];
};

__device__ __forceinline__ void lay_out(const pz_cuda_erik_task &task, memory *m, poise_erik *erik)
{
    erik->options = task.options;
    erik->chain.count = task.count;
    erik->chain.links = const_cast<pz_link *>(task.links);
    erik->chain.base = task.base;
    erik->chain.E = task.E;
    erik->psi = m->psi;
    erik->psi_bend = m->psi_bend;
    erik->best = m->best;
    erik->errors = m->errors;
    erik->forward = m->forward;
    erik->warped = pz_chain_pose{m->theta[0], m->sine[0], m->cosine[0], m->Q[0]};
    erik->now = pz_chain_pose{m->theta[1], m->sine[1], m->cosine[1], m->Q[1]};
}

// As poise_erik_solve.
__device__ __noinline__ poise_cuda_posture_answer solve(const double *posture, poise_quat target, poise_erik *erik)
{
    pz_erik_take(erik, posture, target);
    pz_erik_begin(erik, false);
    poise_cuda_posture_answer answer = {};
    answer.outcome = pz_erik_run(erik);
    answer.iterations = erik->report.iterations;
    answer.error = erik->best_measure.error;
    answer.goal = erik->best_measure.orientation;
    answer.posture = erik->best_measure.posture;
    answer.angle = erik->best_measure.angle;
    return answer;
}

__device__ __forceinline__ bool is_outside(const pz_cuda_erik_task &task, const double *best)
{
    bool outside = false;
    for (int k = 0; k < task.count; ++k) {
        outside = outside || !(best[k] >= task.links[k].lower && best[k] <= task.links[k].upper);
    }
    return outside;
}

// ---- Kernels -------------------------------------------------------------------------------------------------------------

__global__ void __launch_bounds__(THREADS)
    grid_kernel(const __grid_constant__ pz_cuda_erik_task task, const __grid_constant__ pz_cuda_samples_batch batch)
{
    __shared__ block_sums sums;
    moments own[STATISTICS];
    begin_sums(&sums, own);
    memory m;
    poise_erik erik;
    lay_out(task, &m, &erik);
    double threshold = task.options.threshold, weight = task.options.posture_weight;
    int64_t stride = (int64_t)gridDim.x * THREADS;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < batch.count; i += stride) {
        int64_t posture = i / batch.target_count, target = i % batch.target_count;
        poise_cuda_posture_answer a = solve(batch.postures + posture * task.nq, batch.targets[target], &erik);
        add_sample(&sums, own,
                   sample_numbers{{a.error, a.goal, weight * a.posture, (double)a.iterations},
                                  a.error <= threshold,
                                  a.goal <= threshold,
                                  is_outside(task, m.best)});
    }
    hand_in(&sums, own, &batch.summary[blockIdx.x]);
}

__global__ void __launch_bounds__(THREADS)
    list_kernel(const __grid_constant__ pz_cuda_erik_task task, const __grid_constant__ pz_cuda_samples_batch batch)
{
    memory m;
    poise_erik erik;
    lay_out(task, &m, &erik);
    int64_t stride = (int64_t)gridDim.x * THREADS;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < batch.count; i += stride) {
        poise_cuda_posture_answer a = solve(batch.postures + i * task.nq, batch.targets[i], &erik);
        if (batch.answers) {
            batch.answers[i] = a;
        }
        for (int k = 0; k < task.count; ++k) {
            batch.q[i * task.nq + task.links[k].q] = m.best[k];
        }
    }
}

// ---- Launch --------------------------------------------------------------------------------------------------------------

cudaError_t pz_cuda_erik_grid(int *blocks)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, grid_kernel, THREADS, 0);
}

cudaError_t pz_cuda_erik_launch(const void *task, const pz_cuda_samples_batch *batch, int blocks, cudaStream_t stream)
{
    const pz_cuda_erik_task *t = (const pz_cuda_erik_task *)task;
    if (batch->summary) {
        grid_kernel<<<blocks, THREADS, 0, stream>>>(*t, *batch);
    } else {
        list_kernel<<<blocks, THREADS, 0, stream>>>(*t, *batch);
    }
    return cudaPeekAtLastError();
}
