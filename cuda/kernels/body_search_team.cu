// Bodies with markers on the device, few of them: the search in single precision, a run for each team (body_device.cuh).
// Runs are taken as in body_search.cu, and give the same bits.
#define BODY_TEAM
#include "body_device.cuh"

// The next run that is not beaten. False: there are no more.
__device__ static bool take_run(const pz_cuda_tree_batch *batch, const body_work *work, const body_runs *runs, body_run *r)
{
    unsigned problems = problems_of(batch, work, runs);
    unsigned long long most = (unsigned long long)problems * (unsigned)(runs->end - runs->begin), mine;
    do {
        mine = body_lane() == 0 ? atomicAdd(&work->counters->next, 1ull) : 0;
        mine = __shfl_sync(BODY_TEAM_THREADS, mine, 0, BODY_LANES);
        if (mine < most) {
            find_run(work, runs, mine, problems, r);
        }
    } while (mine < most && is_beaten(work, r));
    return mine < most;
}

__global__ void __launch_bounds__(32)
    search_by_teams(const __grid_constant__ body_task given, const __grid_constant__ pz_cuda_tree_batch batch,
                    const __grid_constant__ body_work work, const __grid_constant__ body_runs runs, int teams)
{
    if (problems_of(&batch, &work, &runs) == 0) {
        return;
    }
    const body_task own = with_shared_tables<float>(&given), *t = &own;
    float *m = team_state<float>(t);
    unsigned all = teams == TEAMS ? WHOLE_WARP : (1u << BODY_LANES * teams) - 1;
    bool busy = false, more = true;
    body_run r;
    if (!(all >> threadIdx.x & 1)) {
        return;
    }
    for (;;) {
        if (!busy && more) {
            busy = more = take_run(&batch, &work, &runs, &r);
            if (busy) {
                search_begin(t, &batch, r.problem, r.run, m, &r);
            }
        }
        if (!__any_sync(all, busy)) {
            return;
        }
        body_value value = {0, 0};
        if (busy) {
            value = search_evaluate(t, m, &r);
        }
        __syncwarp(all);
        body_next next = BODY_EVALUATE;
        busy = busy && !is_beaten(&work, &r);
        if (busy) {
            next = search_judge(t, &value, m, &r);
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

cudaError_t pz_body_search_teams(const body_task *task, int processors, body_teams *teams)
{
    return team_grid<float>((const void *)search_by_teams, task, processors, teams);
}

cudaError_t pz_body_search_team_launch(const body_task *task, const pz_cuda_tree_batch *batch, const body_work *work,
                                       const body_runs *runs, const body_teams *teams, cudaStream_t stream)
{
    if (batch->count > 0) {
        team_share s = share_out((long long)batch->count * (runs->end - runs->begin), teams);
        size_t memory = team_memory<float>(task, s.teams);
        search_by_teams<<<s.blocks, 32, memory, stream>>>(*task, *batch, *work, *runs, s.teams);
    }
    return cudaPeekAtLastError();
}
