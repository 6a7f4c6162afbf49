// Bodies with markers on the device, few of them: the search in single precision, a run for each team (body_teams.h).
// Runs are taken as in body_search.cu, and give the same bits.
#define BODY_TEAM
#include "body_library.h"

#include "body_ends.h"
#include "body_teams.h"

// The next run that is not beaten. False: there are no more.
__device__ static bool take_run(const body_task *t, const pz_cuda_tree_batch *batch, const body_work *work, body_run *r)
{
    unsigned count = (unsigned)batch->count;
    unsigned long long most = (unsigned long long)count * (unsigned)(t->restarts + 1), mine;
    do {
        mine = body_lane() == 0 ? atomicAdd(&work->counters->next, 1ull) : 0;
        mine = __shfl_sync(BODY_TEAM_THREADS, mine, 0, BODY_LANES);
        r->problem = (int)(mine % count), r->run = (int)(mine / count);
    } while (mine < most && is_beaten(work, r));
    return mine < most;
}

__global__ void __launch_bounds__(32)
    search_by_teams(const __grid_constant__ body_task given, const __grid_constant__ pz_cuda_tree_batch batch,
                    const __grid_constant__ body_work work, int teams)
{
    const body_task *t = own_task(&given, true, &given.single);
    float *m = team_state<float>(t);
    unsigned all = teams == TEAMS ? WHOLE_WARP : (1u << BODY_LANES * teams) - 1;
    bool busy = false, more = true;
    body_run r;
    if (!(all >> threadIdx.x & 1)) {
        return;
    }
    for (;;) {
        if (!busy && more) {
            busy = more = take_run(t, &batch, &work, &r);
            if (busy) {
                search_begin(t, &batch, r.problem, r.run, m, &r);
            }
        }
        if (!__any_sync(all, busy)) {
            return;
        }
        body_look look = {0, 0};
        if (busy) {
            look = body_forward(t, m);
        }
        __syncwarp(all);
        body_next next = BODY_LOOK;
        busy = busy && !is_beaten(&work, &r);
        if (busy) {
            next = search_judge(t, &look, m, &r);
        }
        __syncwarp(all);
        if (next == BODY_SOLVE) {
            search_solve(t, m, &r);
        }
        __syncwarp(all);
        if (next == BODY_FOUND || next == BODY_LOST) {
            end_run(t, &work, m, &r, next == BODY_FOUND);
            busy = false;
        }
        __syncwarp(all);
    }
}

cudaError_t pz_body_search_teams(const body_task *task, int processors, int *blocks)
{
    return team_grid<float>((const void *)search_by_teams, task, processors, blocks);
}

cudaError_t pz_body_search_team_launch(const body_task *task, const pz_cuda_tree_batch *batch, const body_work *work,
                                       int blocks, cudaStream_t stream)
{
    pz_body_clear(work, batch->count, stream);
    if (batch->count > 0) {
        team_share s = share_out((long long)batch->count * (task->restarts + 1), blocks);
        search_by_teams<<<s.blocks, 32, team_memory<float>(task), stream>>>(*task, *batch, *work, s.teams);
    }
    return cudaPeekAtLastError();
}
