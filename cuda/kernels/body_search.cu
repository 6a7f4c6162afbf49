// Bodies with markers on the device: the search in single precision, a run for each thread.
//
// Threads stay, and take the next run when theirs has ended: all first runs, then all second ones, and so on, so that
// restarts of few problems run side by side. A run is left as soon as one before it has met the goals; those before it are
// never cut short, so that the answer does not depend on timing. A pass is an evaluation and a solve; threads of a warp do
// each part together.
#include "body_device.cuh"

#define BLOCKS 6 // of a multiprocessor: more of them, with fewer registers each, hide more of the waiting for memory
#define REFILL 8 // idle threads of a warp before they take new runs

// Runs for the threads that want one, by all threads of the warp. False: there are no more.
__device__ __noinline__ static bool take_runs(const pz_cuda_tree_batch *batch, const body_work *work, const body_runs *runs,
                                              bool wants, body_run *r, bool *taken)
{
    unsigned lane = threadIdx.x % 32, problems = problems_of(batch, work, runs);
    unsigned long long most = (unsigned long long)problems * (unsigned)(runs->end - runs->begin);
    *taken = false;
    for (;;) {
        unsigned who = __ballot_sync(WHOLE_WARP, wants);
        if (who == 0) {
            return true;
        }
        unsigned long long first = 0;
        int leader = __ffs((int)who) - 1;
        if ((int)lane == leader) {
            first = atomicAdd(&work->counters->next, (unsigned long long)__popc(who));
        }
        first = __shfl_sync(WHOLE_WARP, first, leader);
        unsigned long long mine = first + __popc(who & ((1u << lane) - 1));
        if (wants && mine < most) {
            find_run(work, runs, mine, problems, r);
            *taken = !is_beaten(work, r);
            wants = !*taken;
        }
        if (first + __popc(who) >= most) {
            return false;
        }
    }
}

__global__ void __launch_bounds__(PZ_BODY_THREADS, BLOCKS)
    search(const __grid_constant__ body_task given, const __grid_constant__ pz_cuda_tree_batch batch,
           const __grid_constant__ body_work work, const __grid_constant__ body_runs runs, bool is_shared)
{
    if (problems_of(&batch, &work, &runs) == 0) {
        return;
    }
    const body_task own = is_shared ? with_shared_tables<float>(&given) : given, *t = &own;
    float *m = state_of<float>(work.state, t->at.size);
    bool busy = false, more = true;
    body_run r;
    for (;;) {
        unsigned idle = __ballot_sync(WHOLE_WARP, !busy);
        if (idle == WHOLE_WARP && !more) {
            return;
        }
        if (more && __popc(idle) >= REFILL) {
            bool taken;
            more = take_runs(&batch, &work, &runs, !busy, &r, &taken);
            if (taken) {
                busy = true;
                search_begin(t, &batch, r.problem, r.run, m, &r);
            }
        }
        __syncwarp();
        body_value value = {0, 0};
        if (busy) {
            value = search_evaluate(t, m, &r);
        }
        __syncwarp();
        body_next next = BODY_EVALUATE;
        busy = busy && !is_beaten(&work, &r);
        if (busy) {
            next = search_judge(t, &value, m, &r);
        }
        __syncwarp();
        if (next == BODY_SOLVE) {
            search_solve(t, m, &r);
        }
        __syncwarp();
        if (next == BODY_FOUND || next == BODY_LOST) {
            end_run(t, &work, m, &r, next == BODY_FOUND);
            busy = false;
        }
        __syncwarp();
    }
}

__global__ void clear(const __grid_constant__ body_work work, int count)
{
    int problem = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (problem == 0) {
        *work.counters = body_counters{};
    }
    if (problem < count) {
        work.best[problem] = body_best{.won = INT_MAX, .run = INT_MAX, .lock = 0, .cost = INFINITY, .start_cost = INFINITY};
    }
}

void pz_body_clear(const body_work *work, int count, cudaStream_t stream)
{
    clear<<<count / PZ_BODY_THREADS + 1, PZ_BODY_THREADS, 0, stream>>>(*work, count);
}

// The list of problems that are open, and the queue at its beginning.
__global__ void collect(const __grid_constant__ body_work work, int count)
{
    int problem = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (problem < count && work.best[problem].won == INT_MAX) {
        work.open[atomicAdd(&work.counters->open, 1)] = problem;
    }
}

cudaError_t pz_body_collect(const body_work *work, int count, cudaStream_t stream)
{
    cudaError_t error = cudaMemsetAsync(work->counters, 0, sizeof *work->counters, stream);
    collect<<<count / PZ_BODY_THREADS + 1, PZ_BODY_THREADS, 0, stream>>>(*work, count);
    return error ? error : cudaPeekAtLastError();
}

cudaError_t pz_body_search_grid(int processors, int *blocks)
{
    cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, search, PZ_BODY_THREADS, 0);
    *blocks *= processors;
    return error;
}

cudaError_t pz_body_search_launch(const body_task *task, const pz_cuda_tree_batch *batch, const body_work *work,
                                  const body_runs *runs, int blocks, cudaStream_t stream)
{
    long long all = (long long)batch->count * (runs->end - runs->begin);
    long long enough = (all + PZ_BODY_THREADS - 1) / PZ_BODY_THREADS;
    int few = enough < 1 ? 1 : enough < blocks ? (int)enough : blocks;
    if (batch->count > 0) {
        size_t shared = shared_size(task, sizeof(float));
        search<<<few, PZ_BODY_THREADS, shared, stream>>>(*task, *batch, *work, *runs, shared > 0);
    }
    return cudaPeekAtLastError();
}
