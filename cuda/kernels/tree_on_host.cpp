// The sources of the device compiled for the host, by one thread.
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>

// What the device's compiler has.
#undef __device__
#undef __noinline__
#undef __forceinline__
#define __device__
#define __noinline__
#define __forceinline__ inline
#define __CUDACC__

static inline long long __double_as_longlong(double x)
{
    long long bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline int atomicAdd(int *to, int more)
{
    int was = *to;
    *to += more;
    return was;
}

static inline void atomicMin(int *of, int other)
{
    *of = other < *of ? other : *of;
}

static inline unsigned atomicCAS(unsigned *lock, unsigned, unsigned taken)
{
    unsigned was = *lock;
    *lock = taken;
    return was;
}

static inline void atomicExch(unsigned *lock, unsigned free)
{
    *lock = free;
}

static inline void __threadfence()
{
}

#define PZ_DEVICE static
#include "tree_worker.h"

#include "tree_on_host.h"

static void run(worker *w)
{
    begin_run(w);
    while (judge(w, evaluate(w)) && pz_auto_step(w->solver, &w->state)) {
    }
}

static void run_restarts(worker *w, int restart)
{
    for (int i = 0; i < w->work->counters->open; ++i) {
        w->open = &w->work->open[i];
        w->problem = w->open->problem;
        w->run = restart;
        if (!is_idle(w)) {
            run(w);
            end_restart(w);
        }
    }
}

bool tree_on_host(const pz_cuda_tree_task *task, const pz_cuda_tree_batch *batch, const pz_cuda_tree_work *work,
                  bool backwards)
{
    worker w;
    size_t size = ((size_t)task->size + PZ_ALIGNMENT - 1) / PZ_ALIGNMENT * PZ_ALIGNMENT;
    unsigned char *memory = (unsigned char *)std::aligned_alloc(PZ_ALIGNMENT, size);
    bool fits = memory && open_worker(task, batch, work, memory, &w);
    if (fits) {
        for (w.problem = 0; w.problem < batch->count; ++w.problem) {
            w.run = 0;
            run(&w);
            end_first_run(&w);
        }
        int restarts = task->options.restarts;
        for (int i = 1; i <= restarts; ++i) {
            run_restarts(&w, backwards ? restarts + 1 - i : i);
        }
        for (int i = 0; i < work->counters->open; ++i) {
            settle_problem(&w, &work->open[i]);
        }
    }
    std::free(memory);
    return fits;
}
