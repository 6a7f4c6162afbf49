// Bodies with markers on the device, few of them: the finish in double precision, a problem for each team
// (body_teams.h).
#define BODY_DOUBLE
#define BODY_TEAM
#include "body_library.h"

#include "body_teams.h"
#include "lib/body_finish.h"

__global__ void __launch_bounds__(32)
    finish_by_teams(const __grid_constant__ body_task given, const __grid_constant__ pz_cuda_tree_batch batch,
                    const __grid_constant__ body_work work, int teams)
{
    const body_task *t = own_task(&given, true, &given.numbers);
    double *m = team_state<double>(t);
    unsigned all = teams == TEAMS ? WHOLE_WARP : (1u << BODY_LANES * teams) - 1;
    int problem = (int)(blockIdx.x * (unsigned)teams + threadIdx.x / BODY_LANES), step = (int)gridDim.x * teams;
    bool busy = false;
    body_finish f;
    if (!(all >> threadIdx.x & 1)) {
        return;
    }
    for (;;) {
        if (!busy && problem < batch.count) {
            busy = true;
            finish_begin(t, &batch, &work, problem, m, &f);
            problem += step;
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
        if (busy) {
            next = finish_judge(t, &batch, &work, &look, m, &f);
        }
        __syncwarp(all);
        if (next == BODY_SOLVE) {
            finish_solve(t, &batch, m, &f);
        }
        busy = busy && next != BODY_FOUND;
        __syncwarp(all);
    }
}

cudaError_t pz_body_finish_teams(const body_task *task, int processors, int *blocks)
{
    return team_grid<double>((const void *)finish_by_teams, task, processors, blocks);
}

cudaError_t pz_body_finish_team_launch(const body_task *task, const pz_cuda_tree_batch *batch, const body_work *work,
                                       int blocks, cudaStream_t stream)
{
    if (batch->count > 0) {
        team_share s = share_out(batch->count, blocks);
        finish_by_teams<<<s.blocks, 32, team_memory<double>(task), stream>>>(*task, *batch, *work, s.teams);
    }
    return cudaPeekAtLastError();
}
