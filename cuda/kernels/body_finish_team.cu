// Bodies with markers on the device, few of them: the finish in double precision, a problem for each team
// (body_device.cuh).
#define BODY_DOUBLE
#define BODY_TEAM
#include "body_device.cuh"

__global__ void __launch_bounds__(32)
    finish_by_teams(const __grid_constant__ body_task given, const __grid_constant__ pz_cuda_tree_batch batch,
                    const __grid_constant__ body_work work, const __grid_constant__ body_clips clips, int teams)
{
    const body_task own = with_shared_tables<double>(&given), *t = &own;
    double *m = team_state<double>(t);
    unsigned all = teams == TEAMS ? WHOLE_WARP : (1u << BODY_LANES * teams) - 1;
    bool busy = false, more = true, solves = false; // once more, without an evaluation
    frame_place place = {0, 0};
    body_finish f;
    f.is_direct = clips.begin != NULL;
    f.calm = NULL;
    if (!(all >> threadIdx.x & 1)) {
        return;
    }
    for (;;) {
        if (!busy && more) {
            busy = more = next_frame(t, &batch, &work, &clips, &place, &f);
            if (busy) {
                finish_begin(t, &batch, &work, place.at, m, &f);
            }
        }
        if (!__any_sync(all, busy)) {
            return;
        }
        body_value value = {0, 0};
        if (busy && !solves) {
            value = finish_evaluate(t, m, &f);
        }
        __syncwarp(all);
        body_next next = solves ? BODY_SOLVE : BODY_EVALUATE;
        if (busy && !solves) {
            next = finish_judge(t, &batch, &work, &value, m, &f);
        }
        __syncwarp(all);
        if (next == BODY_SOLVE) {
            next = finish_solve(t, m, &f);
        }
        solves = next == BODY_SOLVE;
        __syncwarp(all);
        if (next == BODY_FOUND || next == BODY_LOST) {
            busy = !finish_end(t, &batch, &work, m, next, &f);
        }
        __syncwarp(all);
    }
}

cudaError_t pz_body_finish_teams(const body_task *task, int processors, body_teams *teams)
{
    return team_grid<double>((const void *)finish_by_teams, task, processors, teams);
}

cudaError_t pz_body_finish_team_launch(const body_task *task, const pz_cuda_tree_batch *batch, const body_work *work,
                                       const body_clips *clips, const body_teams *teams, cudaStream_t stream)
{
    int many = clips->begin ? clips->count : batch->count;
    if (many > 0) {
        team_share s = share_out(many, teams);
        size_t memory = team_memory<double>(task, s.teams);
        finish_by_teams<<<s.blocks, 32, memory, stream>>>(*task, *batch, *work, *clips, s.teams);
    }
    return cudaPeekAtLastError();
}
