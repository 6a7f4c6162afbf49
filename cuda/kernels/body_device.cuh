// Bodies with markers on the device: what its four kernels share. Each is compiled from body/ for a number type and for
// those who work on a problem:
//
//   body_search.cu         single precision, a thread for each run
//   body_search_team.cu    the same by teams (BODY_TEAM)
//   body_finish.cu         double (BODY_DOUBLE), a thread for each problem or clip
//   body_finish_team.cu    the same by teams
#ifndef POISE_CUDA_BODY_DEVICE_CUH
#define POISE_CUDA_BODY_DEVICE_CUH

#ifdef BODY_DOUBLE
#include "body/body_finish.h"
#else
#include "body/body_search.h"
#endif
#include "lib/cuda_body.h"

// ---- State and tables ----------------------------------------------------------------------------------------------------

#define WHOLE_WARP 0xffffffffu

// The state of this thread: numbers of a warp's threads lie side by side.
template <typename number> __device__ static number *state_of(void *state, int size)
{
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x, warp = thread / 32, lane = thread % 32;
    return (number *)state + warp * 32 * (size_t)size + lane;
}

// The tables that a pass reads, where they fit into a block's shared memory: state streams through the caches, and would
// push them out.
#define MOST_SHARED ((size_t)40 << 10)

// Bytes of a block's tables: numbers, joints, chains, levels, and what markers are.
static __host__ __device__ size_t tables_size(const body_task *task, size_t number)
{
    size_t size = (size_t)task->number_count * number + (size_t)task->joint_count * sizeof *task->joints;
    size += (size_t)task->chain_count * sizeof *task->chains + ((size_t)task->level_count + 1) * sizeof *task->levels;
    size += (size_t)task->marker_count * (sizeof *task->goal + sizeof *task->part);
    return (size + 15) / 16 * 16;
}

static size_t shared_size(const body_task *task, size_t number)
{
    size_t size = tables_size(task, number);
    return size <= MOST_SHARED ? size : 0;
}

__device__ static const float *numbers_of(const body_task *t, float)
{
    return t->single;
}

__device__ static const double *numbers_of(const body_task *t, double)
{
    return t->numbers;
}

__device__ static void set_numbers(body_task *t, const float *numbers)
{
    t->single = numbers;
}

__device__ static void set_numbers(body_task *t, const double *numbers)
{
    t->numbers = numbers;
}

// `count` items to `to`, by all threads of the block.
template <typename item> __device__ static const item *copy_table(item *to, const item *from, int count)
{
    for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x) {
        to[i] = from[i];
    }
    return to;
}

// The task with its tables in shared memory. For all threads.
template <typename number> __device__ static body_task with_shared_tables(const body_task *given)
{
    extern __shared__ __align__(16) unsigned char room[];
    body_task own = *given;
    number *numbers = (number *)room;
    body_joint *joints = (body_joint *)(numbers + given->number_count);
    body_chain *chains = (body_chain *)(joints + given->joint_count);
    int16_t *levels = (int16_t *)(chains + given->chain_count), *goal = levels + given->level_count + 1;
    set_numbers(&own, copy_table(numbers, numbers_of(given, number()), given->number_count));
    own.joints = copy_table(joints, given->joints, given->joint_count);
    own.chains = copy_table(chains, given->chains, given->chain_count);
    own.levels = copy_table(levels, given->levels, given->level_count + 1);
    own.goal = copy_table(goal, given->goal, given->marker_count);
    own.part = copy_table((int8_t *)(goal + given->marker_count), given->part, given->marker_count);
    __syncthreads();
    return own;
}

// ---- Teams ---------------------------------------------------------------------------------------------------------------

#ifdef BODY_TEAM

// Teams on the device (body_state.h): blocks of one warp, tables and state in shared memory. Where there are many
// problems a warp has four teams, which keep in step as far as they can; where there are few, one, which nothing holds up,
// or two.

#define TEAMS (32 / BODY_LANES) // of a warp, at most

// Bytes of a block: its tables (with_shared_tables), then the state of each team.
template <typename number> static size_t team_memory(const body_task *task, int teams)
{
    return tables_size(task, sizeof(number)) + (size_t)teams * (size_t)task->at.size * sizeof(number);
}

template <typename number> __device__ static number *team_state(const body_task *task)
{
    extern __shared__ __align__(16) unsigned char room[];
    return (number *)(room + tables_size(task, sizeof(number))) + threadIdx.x / BODY_LANES * (size_t)task->at.size;
}

// Blocks that keep the device busy; 0 where a block has no room for such a model.
template <typename number>
static cudaError_t team_grid(const void *kernel, const body_task *task, int processors, body_teams *teams)
{
    int device = 0, most = 0;
    size_t memory = team_memory<number>(task, TEAMS);
    cudaError_t e = cudaGetDevice(&device);
    e = e ? e : cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    *teams = body_teams{{0, 0, 0}};
    if (e || memory + sizeof(body_task) > (size_t)most) {
        return e;
    }
    e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)memory);
    for (int i = 0; i < 3 && !e; ++i) {
        int *blocks = &teams->blocks[i];
        e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, 32, team_memory<number>(task, 1 << i));
        *blocks *= processors;
    }
    return e;
}

// How `items` of work are shared out.
typedef struct team_share {
    int blocks, teams; // of a block
} team_share;

// As few teams of a warp as have room for all at once.
static team_share share_out(long long items, const body_teams *teams)
{
    int i = 0;
    while (i < 2 && items > (long long)teams->blocks[i] << i) {
        ++i;
    }
    long long enough = (items + (1 << i) - 1) >> i;
    team_share s = {.blocks = enough < teams->blocks[i] ? (int)enough : teams->blocks[i], .teams = 1 << i};
    return s;
}

#endif

// ---- Runs of the search --------------------------------------------------------------------------------------------------

#ifndef BODY_DOUBLE

// The beginnings and ends of runs on the device, whoever works on them (body_state.h).

// How many problems a launch has runs of.
__device__ static unsigned problems_of(const pz_cuda_tree_batch *batch, const body_work *work, const body_runs *runs)
{
    int open = runs->of_open ? work->counters->open : batch->count;
    return runs->of_open && (open < runs->least || open > runs->most) ? 0u : (unsigned)open;
}

// The run at a place of the queue: all first runs, then all second ones, and so on.
__device__ static void find_run(const body_work *work, const body_runs *runs, unsigned long long place, unsigned problems,
                                body_run *r)
{
    int problem = (int)(place % problems);
    r->problem = runs->of_open ? work->open[problem] : problem;
    r->run = runs->begin + (int)(place / problems);
}

// Has a run before this one met the goals?
__device__ static bool is_beaten(const body_work *work, const body_run *r)
{
    return body_broadcast(*(volatile const int *)&work->best[r->problem].won < r->run);
}

// The end of a run: kept if it is the best so far.
PZ_INLINE void end_run(const body_task *t, const body_work *work, const float *m, const body_run *r, bool found)
{
    body_best *best = &work->best[r->problem];
    bool is_first = body_lane() == 0;
    if (is_first) {
        work->passes[(size_t)r->problem * (size_t)(t->restarts + 1) + (size_t)r->run] = search_passes(r);
        if (r->run == 0) {
            best->start_cost = r->start_cost;
        }
        if (found) {
            atomicMin(&best->won, r->run);
        }
    }
    for (bool done = false; !done;) {
        if (body_broadcast(is_first && atomicCAS(&best->lock, 0u, 1u) == 0u)) {
            __threadfence();
            volatile body_best *now = best;
            if (body_broadcast(search_precedes(r, found, now->won, now->run, now->cost))) {
                search_keep(t, m, r, work->ends);
                if (is_first) {
                    now->run = r->run;
                    now->cost = r->cost;
                }
            }
            __threadfence();
            body_sync();
            if (is_first) {
                atomicExch(&best->lock, 0u);
            }
            done = true;
        }
    }
}

#endif

// ---- Frames of the finish ------------------------------------------------------------------------------------------------

#ifdef BODY_DOUBLE

// The frames that the finish takes on the device, whoever works on them (body_state.h): problems on their own, or clips,
// frame after frame.

// Where a worker is.
typedef struct frame_place {
    int at, end;
} frame_place;

__device__ static bool goes_on(const frame_place *p)
{
    return p->at + 1 < p->end;
}

// The next frame of the clip, or the first one of the next clip, for f. False: there are no more.
__device__ static bool next_frame(const body_task *t, const pz_cuda_tree_batch *batch, const body_work *work,
                                  const body_clips *clips, frame_place *p, body_finish *f)
{
    f->is_first = !goes_on(p);
    if (goes_on(p)) {
        p->at += 1;
        finish_go_on(t, batch, p->at);
        return true;
    }
    int count = clips->begin ? clips->count : batch->count, next;
    do {
        next = body_broadcast(body_lane() == 0 ? atomicAdd(&work->counters->next_finish, 1) : 0);
        if (next < count) {
            p->at = clips->begin ? clips->begin[next] : next;
            p->end = clips->begin ? clips->begin[next + 1] : next + 1;
            f->calm = clips->calm ? &clips->calm[next] : NULL;
        }
    } while (next < count && p->at == p->end);
    return next < count;
}

#endif

#endif
