// Bodies with several goals on the device: launches of the kernels (body/body_task.h has what is worked on), and the engine
// behind cuda.h.
#ifndef POISE_CUDA_CUDA_BODY_H
#define POISE_CUDA_CUDA_BODY_H

#include "body/body_task.h"

#include <cuda_runtime_api.h>

// ---- Kernels -------------------------------------------------------------------------------------------------------------

// Blocks of one warp with one, two and four teams that keep the device busy; 0: there is no room for them.
typedef struct body_teams {
    int blocks[3];
} body_teams;

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

// ---- The engine ----------------------------------------------------------------------------------------------------------

// Arguments are those of the public calls; a NULL engine is refused there.
typedef struct pz_cuda_tree pz_cuda_tree;

poise_status pz_cuda_tree_create(const poise_model *model, const poise_goal *goals, int goal_count,
                                 const poise_cuda_options *options, pz_cuda_tree **tree, poise_error *error);
void pz_cuda_tree_destroy(pz_cuda_tree *tree);
poise_status pz_cuda_tree_queue(pz_cuda_tree *tree, const poise_vec3 *targets, const double *weights, double *q,
                                poise_cuda_tree_answer *answers, int count, void *stream, poise_error *error);
poise_status pz_cuda_tree_queue_goals(pz_cuda_tree *tree, const poise_pose *targets, double *q,
                                      poise_cuda_tree_answer *answers, int count, void *stream, poise_error *error);
poise_status pz_cuda_tree_solve(pz_cuda_tree *tree, poise_problem *problems, int count, poise_error *error);
poise_status pz_cuda_tree_clips(pz_cuda_tree *tree, poise_cuda_clip *clips, int count, poise_error *error);
poise_status pz_cuda_tree_queue_clips(pz_cuda_tree *tree, const int *begin, int clip_count, const void *targets,
                                      const double *weights, double *q, poise_cuda_tree_answer *answers, int frames,
                                      void *stream, poise_error *error);

#endif
