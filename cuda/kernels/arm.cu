// Arm poses on the device: stages, each of which takes what the one before left.
//
//   search   a thread for each target, some searches in single precision; a thread that is done takes the next target
//   check    what came near is looked at in double; most of it is within the tolerance. Where shapes are kept apart, what
//            collides is searched again from the next start on, all such targets together: a round of both stages
//   settle   what is not is brought there by the library's own search, in double
//   hard     a warp for each target that is left, a search in each lane
//   last     a warp or a block for each target that is left: the library's algorithm (arm_solve.c) in double from its first
//            search on, the searches and then the descents to the closest pose side by side
//
// The answer of a target is that of the first search, by number, that meets it without collisions, whoever ran it: it does
// not depend on the size of the batch or on what else is in it. Small batches begin with `hard`.
#include "arm_hard.cuh"
#include "arm_last.cuh"
#include "arm_search.cuh"

#define SMALL 2048 // targets up to which warps begin at once

template <int N> static cudaError_t grids_of(int processors, pz_cuda_grids *grids)
{
    int search = 0, check = 0, settle = 0, hard = 0, last = 0;
    cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&last, last_kernel<N>, LAST_THREADS, 0);
    if constexpr (N != 0) {
        error = error ? error : cudaOccupancyMaxActiveBlocksPerMultiprocessor(&search, search_kernel<N>, THREADS, 0);
        error = error ? error : cudaOccupancyMaxActiveBlocksPerMultiprocessor(&check, check_apart_kernel<N>, THREADS, 0);
        error = error ? error : cudaOccupancyMaxActiveBlocksPerMultiprocessor(&settle, settle_kernel<N>, THREADS, 0);
        error = error ? error : cudaOccupancyMaxActiveBlocksPerMultiprocessor(&hard, hard_kernel<N>, THREADS, 0);
    }
    *grids =
        pz_cuda_grids{search * processors, check * processors, settle * processors, hard * processors, last * processors};
    return error;
}

cudaError_t pz_cuda_arm_grids(int joints, int processors, pz_cuda_grids *grids)
{
    return joints == 6   ? grids_of<6>(processors, grids)
           : joints == 7 ? grids_of<7>(processors, grids)
                         : grids_of<0>(processors, grids);
}

static int blocks_for(int count, int each, int most)
{
    int blocks = (count + each - 1) / each;
    return blocks < most ? blocks : most;
}

// Launch a kernel that waits by itself for the one before: its way to the device is not added to the time of a small batch.
template <typename... Types>
static cudaError_t launch_early(void (*kernel)(Types...), int blocks, int threads, cudaStream_t stream,
                                const Types &...arguments)
{
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)blocks);
    config.blockDim = dim3((unsigned)threads);
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}

// Search and check; where shapes are kept apart, round by round. Rounds without targets end at once.
template <int N>
static void launch_searches(const pz_cuda_task *task, const pz_fast_chain *fast, const pz_cuda_work *work,
                            const pz_cuda_batch *batch, const pz_cuda_grids *grids, cudaStream_t stream)
{
    int search = blocks_for(batch->count, THREADS, grids->search), all = blocks_for(batch->count, THREADS, INT_MAX);
    int check = blocks_for(batch->count, THREADS, grids->check);
    for (int round = 0; round < (work->world ? PZ_ARM_ROUNDS : 1); ++round) {
        search_kernel<N><<<search, THREADS, 0, stream>>>(*fast, *work, *batch, task->nq, task->fast_last, round);
        if (work->world) {
            check_apart_kernel<N><<<check, THREADS, 0, stream>>>(*task, *work, *batch, round);
        } else {
            check_kernel<N><<<all, THREADS, 0, stream>>>(*task, *work, *batch);
        }
    }
}

template <int N>
static cudaError_t launch(const pz_cuda_task *task, const pz_fast_chain *fast, const pz_cuda_work *work,
                          const pz_cuda_batch *batch, const pz_cuda_grids *grids, cudaStream_t stream)
{
    bool is_small = batch->count <= SMALL;
    int last = blocks_for(batch->count, 1, grids->last);
    if constexpr (N != 0) {
        if (!is_small) {
            launch_searches<N>(task, fast, work, batch, grids, stream);
            settle_kernel<N><<<blocks_for(batch->count, THREADS, grids->settle), THREADS, 0, stream>>>(*task, *work, *batch);
        }
        int hard = blocks_for(batch->count, WARPS, grids->hard);
        hard_kernel<N><<<hard, THREADS, 0, stream>>>(*task, *fast, *work, *batch, is_small);
        cudaError_t error = launch_early(last_kernel<N>, last, LAST_THREADS, stream, *task, *work, *batch, false);
        return error ? error : cudaPeekAtLastError();
    } else {
        last_kernel<N><<<last, LAST_THREADS, 0, stream>>>(*task, *work, *batch, true);
        return cudaPeekAtLastError();
    }
}

cudaError_t pz_cuda_arm_launch(const pz_cuda_task *task, const pz_fast_chain *fast, const pz_cuda_work *work,
                               const pz_cuda_batch *batch, const pz_cuda_grids *grids, cudaStream_t stream)
{
    return !fast                ? launch<0>(task, fast, work, batch, grids, stream)
           : task->chain.n == 6 ? launch<6>(task, fast, work, batch, grids, stream)
                                : launch<7>(task, fast, work, batch, grids, stream);
}
