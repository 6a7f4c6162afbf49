// The work of the device's threads on bodies with markers, done by the host, for tests where there is no device.
#ifndef POISE_CUDA_BODY_ON_HOST_H
#define POISE_CUDA_BODY_ON_HOST_H

#include "body/body_task.h"

// All pointers are the host's; work->state has room for one problem, task->at.size numbers in double. The runs of a problem
// are taken in the order of their numbers, or the other way round: answers do not depend on it.
void body_search_on_host(const body_task *task, const pz_cuda_tree_batch *batch, const body_work *work, bool backwards);
void body_finish_on_host(const body_task *task, const pz_cuda_tree_batch *batch, const body_work *work);
void body_clips_on_host(const body_task *task, const pz_cuda_tree_batch *batch, const body_work *work,
                        const body_clips *clips);

// The same by each thread of a team (body_team_run).
void body_search_by_team(const body_task *task, const pz_cuda_tree_batch *batch, const body_work *work, bool backwards);
void body_finish_by_team(const body_task *task, const pz_cuda_tree_batch *batch, const body_work *work);
void body_clips_by_team(const body_task *task, const pz_cuda_tree_batch *batch, const body_work *work,
                        const body_clips *clips);

// Teams of the host: `lanes` threads work on one problem as threads of a warp do (body/body_state.h). All of them call
// work(user), and meet in it.
void body_team_run(int lanes, void (*work)(void *user), void *user);

#endif
