// ERIK on the device: a sample for each thread, solved by the library's own sources, and sums over samples.
#define PZ_DEVICE __noinline__ static // inlined into each other they would make a program too large for its cache
#include "device.h"

#include "device_begin.h"

#include "math/trig.c"

#include "math/quat.c"

#include "express/descent.c"
#include "express/erik_run.c"
#include "express/joint_model.c"
#include "express/measure.c"
#include "express/phases.c"

#include "device_end.h"

#include "erik.h"

#define THREADS    128
#define STATISTICS 4 // error, orientation, posture, iterations

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
    erik->aims_only = false;
}

// As poise_erik_solve.
__device__ __noinline__ poise_cuda_erik_answer solve(const double *posture, poise_quat target, poise_erik *erik)
{
    pz_erik_take(erik, posture, target);
    pz_erik_begin(erik);
    poise_cuda_erik_answer answer;
    answer.outcome = pz_erik_run(erik);
    answer.iterations = erik->report.iterations;
    answer.error = erik->best_measure.error;
    answer.orientation = erik->best_measure.orientation;
    answer.posture = erik->best_measure.posture;
    return answer;
}

// ---- Sums ----------------------------------------------------------------------------------------------------------------

// As the statistics of an evaluation, without the histogram: updates of B. P. Welford (1962).
struct moments {
    double count, mean, squares, least, most;
};

__device__ __forceinline__ void add(moments &s, double x)
{
    double from_mean = x - s.mean;
    s.count += 1.0;
    s.mean += from_mean / s.count;
    s.squares += from_mean * (x - s.mean);
    s.least = x < s.least ? x : s.least;
    s.most = x > s.most ? x : s.most;
}

// T. F. Chan, G. H. Golub & R. J. LeVeque (1979).
__device__ __forceinline__ void merge(moments &s, const moments &other)
{
    if (other.count > 0.0) {
        double na = s.count, nb = other.count, between = other.mean - s.mean;
        s.count += nb;
        s.mean += between * (nb / (na + nb));
        s.squares += other.squares + between * between * (na * nb / (na + nb));
        s.least = other.least < s.least ? other.least : s.least;
        s.most = other.most > s.most ? other.most : s.most;
    }
}

struct block_sums {
    moments all[THREADS];
    unsigned bins[STATISTICS][POISE_CUDA_BINS + 1];
    unsigned reached, aimed, outside;
};

__device__ __forceinline__ void count_bin(unsigned *bins, double x, double width)
{
    double place = x / width;
    atomicAdd(&bins[place < 0.0 ? 0 : place < POISE_CUDA_BINS ? (int)place : POISE_CUDA_BINS], 1u);
}

__device__ __forceinline__ bool is_outside(const pz_cuda_erik_task &task, const double *best)
{
    bool outside = false;
    for (int k = 0; k < task.count; ++k) {
        outside = outside || !(best[k] >= task.links[k].lower && best[k] <= task.links[k].upper);
    }
    return outside;
}

// The moments of all threads of the block, one statistic after the other.
__device__ __forceinline__ void hand_in(block_sums *sums, const moments *own, poise_cuda_erik_summary *summary)
{
    poise_cuda_statistics *out[STATISTICS] = {&summary->error, &summary->orientation, &summary->posture,
                                              &summary->iterations};
    for (int i = 0; i < STATISTICS; ++i) {
        sums->all[threadIdx.x] = own[i];
        __syncthreads();
        for (unsigned half = THREADS / 2; half > 0; half /= 2) {
            if (threadIdx.x < half) {
                merge(sums->all[threadIdx.x], sums->all[threadIdx.x + half]);
            }
            __syncthreads();
        }
        if (threadIdx.x == 0) {
            const moments &m = sums->all[0];
            out[i]->count = (int64_t)m.count;
            out[i]->mean = m.mean, out[i]->squares = m.squares, out[i]->least = m.least, out[i]->most = m.most;
        }
        for (unsigned b = threadIdx.x; b <= POISE_CUDA_BINS; b += THREADS) {
            out[i]->bins[b] = sums->bins[i][b];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        summary->reached = sums->reached, summary->aimed = sums->aimed, summary->outside = sums->outside;
    }
}

// ---- Kernels -------------------------------------------------------------------------------------------------------------

__global__ void __launch_bounds__(THREADS)
    grid_kernel(const __grid_constant__ pz_cuda_erik_task task, const __grid_constant__ pz_cuda_erik_batch batch)
{
    __shared__ block_sums sums;
    for (unsigned i = threadIdx.x; i < STATISTICS * (POISE_CUDA_BINS + 1); i += THREADS) {
        (&sums.bins[0][0])[i] = 0;
    }
    if (threadIdx.x == 0) {
        sums.reached = sums.aimed = sums.outside = 0;
    }
    __syncthreads();
    moments own[STATISTICS];
    for (int i = 0; i < STATISTICS; ++i) {
        own[i] = moments{0.0, 0.0, 0.0, INFINITY, -INFINITY};
    }
    memory m;
    poise_erik erik;
    lay_out(task, &m, &erik);
    double threshold = task.options.threshold, weight = task.options.posture_weight;
    int64_t stride = (int64_t)gridDim.x * THREADS;
    for (int64_t i = batch.from + (int64_t)blockIdx.x * THREADS + threadIdx.x; i < batch.to; i += stride) {
        int64_t posture = i / batch.target_count, target = i % batch.target_count;
        poise_cuda_erik_answer a = solve(batch.postures + posture * task.nq, batch.targets[target], &erik);
        add(own[0], a.error);
        add(own[1], a.orientation);
        add(own[2], weight * a.posture);
        add(own[3], a.iterations);
        count_bin(sums.bins[0], a.error, POISE_CUDA_BIN);
        count_bin(sums.bins[1], a.orientation, POISE_CUDA_BIN);
        count_bin(sums.bins[2], weight * a.posture, POISE_CUDA_BIN);
        count_bin(sums.bins[3], a.iterations, 1.0);
        atomicAdd(&sums.reached, a.error <= threshold);
        atomicAdd(&sums.aimed, a.orientation <= threshold);
        atomicAdd(&sums.outside, is_outside(task, m.best));
    }
    __syncthreads();
    hand_in(&sums, own, &batch.summary[blockIdx.x]);
}

__global__ void __launch_bounds__(THREADS)
    list_kernel(const __grid_constant__ pz_cuda_erik_task task, const __grid_constant__ pz_cuda_erik_batch batch)
{
    memory m;
    poise_erik erik;
    lay_out(task, &m, &erik);
    int64_t stride = (int64_t)gridDim.x * THREADS;
    for (int64_t i = batch.from + (int64_t)blockIdx.x * THREADS + threadIdx.x; i < batch.to; i += stride) {
        poise_cuda_erik_answer a = solve(batch.postures + i * task.nq, batch.targets[i], &erik);
        if (batch.answers) {
            batch.answers[i] = a;
        }
        for (int k = 0; k < task.count; ++k) {
            batch.q[i * task.nq + task.links[k].q] = m.best[k];
        }
    }
}

// ---- Launch --------------------------------------------------------------------------------------------------------------

cudaError_t pz_cuda_erik_grid(int processors, int *blocks)
{
    cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, grid_kernel, THREADS, 0);
    *blocks *= processors;
    return error;
}

cudaError_t pz_cuda_erik_launch(const pz_cuda_erik_task *task, const pz_cuda_erik_batch *batch, int blocks,
                                cudaStream_t stream)
{
    if (batch->summary) {
        grid_kernel<<<blocks, THREADS, 0, stream>>>(*task, *batch);
    } else {
        list_kernel<<<blocks, THREADS, 0, stream>>>(*task, *batch);
    }
    return cudaPeekAtLastError();
}
