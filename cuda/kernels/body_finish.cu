// Bodies with markers on the device: the finish in double precision, a problem for each thread.
#define BODY_DOUBLE
#include "body_library.h"

#include "lib/body_finish.h"
#include "lib/cuda_body.h"

#include <limits.h>

#define BLOCKS 3 // of a multiprocessor: more of them, with fewer registers each, hide more of the waiting for memory
#define REFILL 4 // idle threads of a warp before they take new problems

__global__ void __launch_bounds__(PZ_BODY_THREADS, BLOCKS)
    finish(const __grid_constant__ body_task given, const __grid_constant__ pz_cuda_tree_batch batch,
           const __grid_constant__ body_work work, bool is_shared)
{
    const body_task *t = own_task(&given, is_shared, &given.numbers);
    double *m = state_of<double>(work.state, t->at.size);
    bool busy = false, more = true;
    body_finish f;
    for (;;) {
        unsigned idle = __ballot_sync(WHOLE_WARP, !busy), hungry = __ballot_sync(WHOLE_WARP, !busy && more);
        if (idle == WHOLE_WARP && hungry == 0) {
            return;
        }
        if (!busy && more && __popc(idle) >= REFILL) {
            int problem = atomicAdd(&work.counters->next_finish, 1);
            busy = more = problem < batch.count;
            if (busy) {
                finish_begin(t, &batch, &work, problem, m, &f);
            }
        }
        __syncwarp();
        body_look look = {0, 0};
        if (busy) {
            look = body_forward(t, m);
        }
        __syncwarp();
        body_next next = BODY_LOOK;
        if (busy) {
            next = finish_judge(t, &batch, &work, &look, m, &f);
        }
        __syncwarp();
        if (next == BODY_SOLVE) {
            finish_solve(t, &batch, m, &f);
        }
        busy = busy && next != BODY_FOUND;
        __syncwarp();
    }
}

cudaError_t pz_body_finish_grid(int processors, int *blocks)
{
    cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, finish, PZ_BODY_THREADS, 0);
    *blocks *= processors;
    return error;
}

cudaError_t pz_body_finish_launch(const body_task *task, const pz_cuda_tree_batch *batch, const body_work *work, int blocks,
                                  cudaStream_t stream)
{
    int enough = (batch->count + PZ_BODY_THREADS - 1) / PZ_BODY_THREADS, few = enough < blocks ? enough : blocks;
    if (batch->count > 0) {
        size_t shared = shared_size(task, sizeof(double));
        finish<<<few, PZ_BODY_THREADS, shared, stream>>>(*task, *batch, *work, shared > 0);
    }
    return cudaPeekAtLastError();
}
