// Bodies with markers on the device: the finish in double precision, a problem for each thread.
#define BODY_DOUBLE
#include "body_device.cuh"

#include <limits.h>

#define BLOCKS 3 // of a multiprocessor: more of them, with fewer registers each, hide more of the waiting for memory
#define REFILL 4 // idle threads of a warp before they take new problems

__global__ void __launch_bounds__(PZ_BODY_THREADS, BLOCKS)
    finish(const __grid_constant__ body_task given, const __grid_constant__ pz_cuda_tree_batch batch,
           const __grid_constant__ body_work work, const __grid_constant__ body_clips clips, bool is_shared)
{
    const body_task own = is_shared ? with_shared_tables<double>(&given) : given, *t = &own;
    double *m = state_of<double>(work.state, t->at.size);
    bool busy = false, more = true, solves = false; // once more, without an evaluation
    frame_place place = {0, 0};
    body_finish f;
    f.is_direct = clips.begin != NULL;
    f.calm = NULL;
    for (;;) {
        unsigned idle = __ballot_sync(WHOLE_WARP, !busy), hungry = __ballot_sync(WHOLE_WARP, !busy && more);
        if (idle == WHOLE_WARP && hungry == 0) {
            return;
        }
        if (!busy && more && (goes_on(&place) || __popc(idle) >= REFILL)) {
            busy = more = next_frame(t, &batch, &work, &clips, &place, &f);
            if (busy) {
                finish_begin(t, &batch, &work, place.at, m, &f);
            }
        }
        __syncwarp();
        body_value value = {0, 0};
        if (busy && !solves) {
            value = finish_evaluate(t, m, &f);
        }
        __syncwarp();
        body_next next = solves ? BODY_SOLVE : BODY_EVALUATE;
        if (busy && !solves) {
            next = finish_judge(t, &batch, &work, &value, m, &f);
        }
        __syncwarp();
        if (next == BODY_SOLVE) {
            next = finish_solve(t, m, &f);
        }
        solves = next == BODY_SOLVE;
        __syncwarp();
        if (next == BODY_FOUND || next == BODY_LOST) {
            busy = !finish_end(t, &batch, &work, m, next, &f);
        }
        __syncwarp();
    }
}

cudaError_t pz_body_finish_grid(int processors, int *blocks)
{
    cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, finish, PZ_BODY_THREADS, 0);
    *blocks *= processors;
    return error;
}

cudaError_t pz_body_finish_launch(const body_task *task, const pz_cuda_tree_batch *batch, const body_work *work,
                                  const body_clips *clips, int blocks, cudaStream_t stream)
{
    int many = clips->begin ? clips->count : batch->count;
    int enough = (many + PZ_BODY_THREADS - 1) / PZ_BODY_THREADS, few = enough < blocks ? enough : blocks;
    if (many > 0) {
        size_t shared = shared_size(task, sizeof(double));
        finish<<<few, PZ_BODY_THREADS, shared, stream>>>(*task, *batch, *work, *clips, shared > 0);
    }
    return cudaPeekAtLastError();
}
