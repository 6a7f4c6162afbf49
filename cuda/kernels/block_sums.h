// Sums over the samples of a block, for kernels of THREADS threads in a block.
#ifndef POISE_CUDA_BLOCK_SUMS_H
#define POISE_CUDA_BLOCK_SUMS_H

#include "lib/cuda_evaluate.h"

#include <math.h>

#define THREADS    128
#define STATISTICS 4 // error, orientation, posture, iterations

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
    unsigned bins[STATISTICS][PZ_CUDA_BINS + 1];
    unsigned reached, aimed, outside;
};

// What one sample adds, in the order of the statistics.
struct sample_numbers {
    double value[STATISTICS];
    bool reached, aimed, outside;
};

__device__ __forceinline__ void count_bin(unsigned *bins, double x, double width)
{
    double place = x / width;
    atomicAdd(&bins[place < 0.0 ? 0 : place < PZ_CUDA_BINS ? (int)place : PZ_CUDA_BINS], 1u);
}

__device__ __forceinline__ void begin_sums(block_sums *sums, moments *own)
{
    for (unsigned i = threadIdx.x; i < STATISTICS * (PZ_CUDA_BINS + 1); i += THREADS) {
        (&sums->bins[0][0])[i] = 0;
    }
    if (threadIdx.x == 0) {
        sums->reached = sums->aimed = sums->outside = 0;
    }
    for (int i = 0; i < STATISTICS; ++i) {
        own[i] = moments{0.0, 0.0, 0.0, INFINITY, -INFINITY};
    }
    __syncthreads();
}

__device__ __forceinline__ void add_sample(block_sums *sums, moments *own, const sample_numbers &n)
{
    for (int i = 0; i < STATISTICS; ++i) {
        add(own[i], n.value[i]);
        count_bin(sums->bins[i], n.value[i], i == STATISTICS - 1 ? 1.0 : PZ_CUDA_BIN);
    }
    atomicAdd(&sums->reached, n.reached);
    atomicAdd(&sums->aimed, n.aimed);
    atomicAdd(&sums->outside, n.outside);
}

// The moments of all threads of the block, one statistic after the other.
__device__ __forceinline__ void hand_in(block_sums *sums, const moments *own, pz_cuda_erik_summary *summary)
{
    __syncthreads();
    pz_cuda_statistics *out[STATISTICS] = {&summary->error, &summary->orientation, &summary->posture, &summary->iterations};
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
        for (unsigned b = threadIdx.x; b <= PZ_CUDA_BINS; b += THREADS) {
            out[i]->bins[b] = sums->bins[i][b];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        summary->reached = sums->reached, summary->aimed = sums->aimed, summary->outside = sums->outside;
    }
}

#endif
