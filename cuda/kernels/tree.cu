// Marker problems on the device: a problem for each thread, solved by the library's own sources.
//
//   first     every problem from its start; a thread that is done takes the next one
//   restarts  those that were not settled, their restarts side by side
//   settle    the runs of such a problem in their order: the answer, and what there is to say about it
//
// The answer is that of poise_solve, to the bit, and does not depend on the size of the batch or on what else is in it.
//
// A thread's scratch memory, all that a solver works with, lies in its local memory, which the hardware lays out so that the
// threads of a warp read and write whole lines when they are at the same place. Threads go on iteration by iteration, each
// with its own run, so that none waits for the others' runs to end.

// inlined into each other they would make a program too large for its cache, and take minutes to compile
#define PZ_DEVICE       __noinline__ static
#define PZ_DEVICE_SHORT __forceinline__ static
#include "tree_worker.h"

#define THREADS    64
#define REFILL     2 // idle threads of a warp before they take new runs
#define WHOLE_WARP 0xffffffffu

// ---- Stages --------------------------------------------------------------------------------------------------------------

// The next problem, or the next restart of one that is open. False: there is none.
__device__ static bool take_first(worker *w)
{
    w->problem = atomicAdd(&w->work->counters->next, 1);
    w->run = 0;
    return w->problem < w->batch->count;
}

// Restarts of all open problems in the order of their numbers: most are settled by the first few.
__device__ static bool take_restart(worker *w)
{
    unsigned long long open = (unsigned)w->work->counters->open, most = open * (unsigned)w->task->options.restarts;
    for (;;) {
        unsigned long long next = atomicAdd(&w->work->counters->next_run, 1ull);
        if (next >= most) {
            return false;
        }
        w->open = &w->work->open[next % open];
        w->problem = w->open->problem;
        w->run = 1 + (int)(next / open);
        if (!is_idle(w)) {
            return true;
        }
    }
}

// A pass is an iteration: threads without a run take one, the others find a step; then all evaluate a point, and judge it.
// Each part is done by all that want it, and they are together again before the next.
__device__ __noinline__ static void run_all_of(worker *w, bool first)
{
    bool busy = false, more = true;
    for (;;) {
        unsigned idle = __ballot_sync(WHOLE_WARP, !busy), hungry = __ballot_sync(WHOLE_WARP, !busy && more);
        if (idle == WHOLE_WARP && hungry == 0) {
            return;
        }
        bool steps = busy, ended = false;
        if (!busy && more && __popc(idle) >= REFILL) {
            busy = more = first ? take_first(w) : take_restart(w);
            if (busy) {
                begin_run(w);
            }
        }
        __syncwarp();
        busy = busy && (first || !is_idle(w));
        if (busy && steps) {
            ended = !pz_auto_step(w->solver, &w->state);
        }
        __syncwarp();
        double cost = busy && !ended ? evaluate(w) : 0.0;
        __syncwarp();
        if (busy && !ended) {
            ended = !judge(w, cost);
        }
        __syncwarp();
        if (busy && ended) {
            busy = false;
            if (first) {
                end_first_run(w);
            } else {
                end_restart(w);
            }
        }
        __syncwarp();
    }
}

__device__ __noinline__ static void settle(worker *w)
{
    int open = w->work->counters->open;
    for (;;) {
        int next = atomicAdd(&w->work->counters->next_settled, 1);
        if (next >= open) {
            return;
        }
        settle_problem(w, &w->work->open[next]);
    }
}

// ---- Kernels -------------------------------------------------------------------------------------------------------------

enum { FIRST, RESTARTS, SETTLE };

template <int STAGE, int BYTES>
__global__ void __launch_bounds__(THREADS)
    kernel(const __grid_constant__ pz_cuda_tree_task task, const __grid_constant__ pz_cuda_tree_batch batch,
           const __grid_constant__ pz_cuda_tree_work work)
{
    __align__(PZ_ALIGNMENT) unsigned char memory[BYTES];
    worker w;
    if (STAGE != FIRST && work.counters->open == 0) {
        return;
    }
    if (!open_worker(&task, &batch, &work, memory, &w)) {
        return; // the host has seen to it that it fits
    }
    if (STAGE == SETTLE) {
        settle(&w);
    } else {
        run_all_of(&w, STAGE == FIRST);
    }
}

// ---- Launch --------------------------------------------------------------------------------------------------------------

template <int BYTES>
static cudaError_t launch(const pz_cuda_tree_task *task, const pz_cuda_tree_batch *batch, const pz_cuda_tree_work *work,
                          int blocks, cudaStream_t stream)
{
    int enough = (batch->count + THREADS - 1) / THREADS, few = enough < 1 ? 1 : enough < blocks ? enough : blocks;
    kernel<FIRST, BYTES><<<few, THREADS, 0, stream>>>(*task, *batch, *work);
    if (task->options.restarts > 0) {
        kernel<RESTARTS, BYTES><<<blocks, THREADS, 0, stream>>>(*task, *batch, *work);
        kernel<SETTLE, BYTES><<<few, THREADS, 0, stream>>>(*task, *batch, *work);
    }
    return cudaPeekAtLastError();
}

#define ROOMS(act) act(32 << 10) act(64 << 10) act(96 << 10) act(128 << 10) act(160 << 10) act(256 << 10)

int pz_cuda_tree_room(int size)
{
#define ROOM(bytes)                                                                                                         \
    if (size <= (bytes)) {                                                                                                  \
        return bytes;                                                                                                       \
    }
    ROOMS(ROOM)
    return 0;
}

cudaError_t pz_cuda_tree_grid(int room, int processors, int *blocks)
{
    cudaError_t error = cudaErrorInvalidValue;
#define GRID(bytes)                                                                                                         \
    if (room == (bytes)) {                                                                                                  \
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel<FIRST, bytes>, THREADS, 0);                    \
    }
    ROOMS(GRID)
    *blocks *= processors;
    return error;
}

cudaError_t pz_cuda_tree_launch(const pz_cuda_tree_task *task, const pz_cuda_tree_batch *batch,
                                const pz_cuda_tree_work *work, int blocks, cudaStream_t stream)
{
    cudaError_t error = cudaMemsetAsync(work->counters, 0, sizeof *work->counters, stream);
#define LAUNCH(bytes)                                                                                                       \
    if (!error && pz_cuda_tree_room(task->size) == (bytes)) {                                                               \
        return launch<bytes>(task, batch, work, blocks, stream);                                                            \
    }
    ROOMS(LAUNCH)
    return error ? error : cudaErrorInvalidValue;
}
