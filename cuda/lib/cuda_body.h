// Markers on a body on the device, the fast way: memory, tables and launches (body_task.h has what is worked on).
#ifndef POISE_CUDA_CUDA_BODY_H
#define POISE_CUDA_CUDA_BODY_H

#include "body/body_tables.h"
#include "cuda_room.h"

// Blocks of one warp with one, two and four teams that keep the device busy; 0: there is no room for them.
typedef struct body_teams {
    int blocks[3];
} body_teams;

typedef struct pz_cuda_body {
    body_task task;
    body_work work;
    int search_blocks, finish_blocks; // that keep the device busy
    body_teams search_teams, finish_teams;
} pz_cuda_body;

// Tables and memory for problems that pz_body_serves, up to options->capacity at once.
poise_status pz_cuda_body_make(pz_cuda_room *room, const poise_model *model, const poise_goal *goals, int goal_count,
                               const poise_cuda_options *options, pz_cuda_body *body, poise_error *error);

// A batch of at most work.capacity problems in device memory, queued on the stream.
cudaError_t pz_cuda_body_queue(const pz_cuda_body *body, const pz_cuda_tree_batch *batch, cudaStream_t stream);

// Clips of frames in device memory, of any number.
cudaError_t pz_cuda_body_queue_clips(const pz_cuda_body *body, const pz_cuda_tree_batch *batch, const body_clips *clips,
                                     cudaStream_t stream);

#ifdef __cplusplus
extern "C" {
#endif

// Kernels (body_search.cu, body_finish.cu). A block has so many threads, each with state of its own in work.state.
#define PZ_BODY_THREADS 128

cudaError_t pz_body_search_grid(int processors, int *blocks);
cudaError_t pz_body_finish_grid(int processors, int *blocks);
cudaError_t pz_body_search_launch(const body_task *task, const pz_cuda_tree_batch *batch, const body_work *work,
                                  const body_runs *runs, int blocks, cudaStream_t stream);
cudaError_t pz_body_finish_launch(const body_task *task, const pz_cuda_tree_batch *batch, const body_work *work,
                                  const body_clips *clips, int blocks, cudaStream_t stream);

// The same by teams, for few problems (body_search_team.cu, body_finish_team.cu).
cudaError_t pz_body_search_teams(const body_task *task, int processors, body_teams *teams);
cudaError_t pz_body_finish_teams(const body_task *task, int processors, body_teams *teams);
cudaError_t pz_body_search_team_launch(const body_task *task, const pz_cuda_tree_batch *batch, const body_work *work,
                                       const body_runs *runs, const body_teams *teams, cudaStream_t stream);
cudaError_t pz_body_finish_team_launch(const body_task *task, const pz_cuda_tree_batch *batch, const body_work *work,
                                       const body_clips *clips, const body_teams *teams, cudaStream_t stream);

// Before a search: no run has begun. Between launches of it: the list of problems that are open.
void pz_body_clear(const body_work *work, int count, cudaStream_t stream);
cudaError_t pz_body_collect(const body_work *work, int count, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
