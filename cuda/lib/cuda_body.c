#include "cuda_body.h"

#include "base/error.h"

#include <limits.h>

#define MOST_STATE ((size_t)1 << 30) // bytes of state of all problems under way

// Up to so many problems, and runs of them, are worked on by teams; threads alone do more in a second where there are enough
// of them. Of more, first runs come first. The others are for teams where these leave few problems open; where they leave
// most of them, as with noise, no run will meet its goals, and all are for threads.
#define MOST_FOR_TEAMS      20000
#define MOST_RUNS_FOR_TEAMS 150000
#define MOST_OPEN_FOR_TEAMS 60000
#define MOST_OPEN           0.6 // of the problems

static void put_all(pz_cuda_image *image, void *user)
{
    body_tables *tables = user;
    body_task *t = &tables->task;
    size_t joints = (size_t)t->joint_count, numbers = (size_t)tables->number_count, nv = (size_t)t->nv;
    t->joints = pz_cuda_put(image, tables->joints, joints, sizeof *tables->joints);
    t->chains = pz_cuda_put(image, tables->chains, (size_t)t->chain_count, sizeof *tables->chains);
    t->levels = pz_cuda_put(image, tables->levels, (size_t)t->level_count + 1, sizeof *tables->levels);
    t->goal = pz_cuda_put(image, tables->goal, (size_t)t->marker_count, sizeof *tables->goal);
    t->single = pz_cuda_put(image, tables->single, numbers, sizeof *tables->single);
    t->numbers = pz_cuda_put(image, tables->numbers, numbers, sizeof *tables->numbers);
    t->starts = pz_cuda_put(image, tables->starts, ((size_t)t->restarts + 1) * nv, sizeof *tables->starts);
    t->rest = pz_cuda_put(image, tables->pulls, (size_t)t->nq, sizeof *tables->pulls);
    t->rest_pull = pz_cuda_put(image, tables->pulls + t->nq, nv, sizeof *tables->pulls);
    t->steady_pull = pz_cuda_put(image, tables->pulls + t->nq + t->nv, nv, sizeof *tables->pulls);
    t->part = pz_cuda_put(image, tables->part, (size_t)t->marker_count, sizeof *tables->part);
    t->start_kind = pz_cuda_put(image, tables->start_kind, nv, sizeof *tables->start_kind);
}

// Blocks whose state, of `number` bytes each, fits.
static int fitting(const body_task *task, int blocks, size_t number)
{
    size_t each = (size_t)task->at.size * number * PZ_BODY_THREADS, most = MOST_STATE / each;
    return most < 1 ? 1 : most < (size_t)blocks ? (int)most : blocks;
}

// Are all runs of so many problems for teams, at once?
static bool is_for_teams(const pz_cuda_body *body, int count)
{
    bool has_teams = body->search_teams.blocks[0] > 0 && body->finish_teams.blocks[0] > 0;
    return has_teams && count <= MOST_FOR_TEAMS && count <= MOST_RUNS_FOR_TEAMS / (body->task.restarts + 1);
}

static cudaError_t take_memory(pz_cuda_room *room, int capacity, pz_cuda_body *body)
{
    const body_task *t = &body->task;
    body_work *w = &body->work;
    size_t many = (size_t)capacity, each = (size_t)t->at.size * PZ_BODY_THREADS;
    cudaError_t e = pz_body_search_grid(room->processors, &body->search_blocks);
    e = e ? e : pz_body_finish_grid(room->processors, &body->finish_blocks);
    e = e ? e : pz_body_search_teams(t, room->processors, &body->search_teams);
    e = e ? e : pz_body_finish_teams(t, room->processors, &body->finish_teams);
    if (e) {
        return e;
    }
    body->search_blocks = fitting(t, body->search_blocks, sizeof(float));
    body->finish_blocks = fitting(t, body->finish_blocks, sizeof(double));
    size_t search = each * (size_t)body->search_blocks * sizeof(float);
    size_t finish = each * (size_t)body->finish_blocks * sizeof(double);
    w->capacity = capacity;
    w->counters = pz_cuda_take(room, 1, sizeof *w->counters);
    w->best = pz_cuda_take(room, many, sizeof *w->best);
    w->ends = pz_cuda_take(room, many * (size_t)t->nq, sizeof *w->ends);
    w->passes = pz_cuda_take(room, many * ((size_t)t->restarts + 1), sizeof *w->passes);
    w->open = pz_cuda_take(room, many, sizeof *w->open);
    if (!is_for_teams(body, capacity)) { // which have theirs in shared memory
        w->state = pz_cuda_take(room, search > finish ? search : finish, 1);
    }
    return room->error;
}

poise_status pz_cuda_body_make(pz_cuda_room *room, const poise_model *model, const poise_goal *goals, int goal_count,
                               const poise_cuda_options *options, pz_cuda_body *body, poise_error *error)
{
    body_tables tables;
    if (pz_body_tables_make(model, goals, goal_count, &options->solver, &tables) != POISE_OK) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    poise_status status = pz_cuda_make_image(room, put_all, &tables, error);
    body->task = tables.task;
    pz_body_tables_free(&tables);
    status = status ? status : pz_cuda_explain(take_memory(room, options->capacity, body), "memory for the batch", error);
    if (status == POISE_OK) { // an empty batch: the program is loaded before the first call
        cudaError_t e = pz_cuda_body_queue(body, &(pz_cuda_tree_batch){.count = 0}, room->stream);
        status = pz_cuda_explain(e ? e : cudaStreamSynchronize(room->stream), "loading the program of the device", error);
    }
    return status;
}

static cudaError_t search_by_teams(const pz_cuda_body *body, const pz_cuda_tree_batch *batch, const body_runs *runs,
                                   cudaStream_t stream)
{
    return pz_body_search_team_launch(&body->task, batch, &body->work, runs, &body->search_teams, stream);
}

static cudaError_t search_by_threads(const pz_cuda_body *body, const pz_cuda_tree_batch *batch, const body_runs *runs,
                                     cudaStream_t stream)
{
    return pz_body_search_launch(&body->task, batch, &body->work, runs, body->search_blocks, stream);
}

// First runs, then the others of problems that are still open, side by side.
static cudaError_t search_in_turn(const pz_cuda_body *body, const pz_cuda_tree_batch *batch, cudaStream_t stream)
{
    int end = body->task.restarts + 1, most = body->search_teams.blocks[0] > 0 ? (int)(MOST_OPEN * batch->count) : 0;
    most = most < MOST_OPEN_FOR_TEAMS ? most : MOST_OPEN_FOR_TEAMS;
    body_runs first = {.begin = 0, .end = 1}, few = {.begin = 1, .end = end, .of_open = true, .least = 1, .most = most};
    body_runs many = {.begin = 1, .end = end, .of_open = true, .least = most + 1, .most = INT_MAX};
    cudaError_t e = batch->count <= MOST_FOR_TEAMS && most > 0 ? search_by_teams(body, batch, &first, stream)
                                                               : search_by_threads(body, batch, &first, stream);
    if (end == 1 || e) {
        return e;
    }
    e = pz_body_collect(&body->work, batch->count, stream);
    if (most > 0) {
        e = e ? e : search_by_teams(body, batch, &few, stream);
    }
    return e ? e : search_by_threads(body, batch, &many, stream);
}

cudaError_t pz_cuda_body_queue(const pz_cuda_body *body, const pz_cuda_tree_batch *batch, cudaStream_t stream)
{
    const body_work *work = &body->work;
    body_runs all = {.begin = 0, .end = body->task.restarts + 1};
    body_clips alone = {.begin = NULL};
    bool is_few = is_for_teams(body, batch->count);
    pz_body_clear(work, batch->count, stream);
    cudaError_t e = is_few ? search_by_teams(body, batch, &all, stream) : search_in_turn(body, batch, stream);
    if (batch->count <= MOST_FOR_TEAMS && body->finish_teams.blocks[0] > 0) {
        return e ? e : pz_body_finish_team_launch(&body->task, batch, work, &alone, &body->finish_teams, stream);
    }
    return e ? e : pz_body_finish_launch(&body->task, batch, work, &alone, body->finish_blocks, stream);
}

cudaError_t pz_cuda_body_queue_clips(const pz_cuda_body *body, const pz_cuda_tree_batch *batch, const body_clips *clips,
                                     cudaStream_t stream)
{
    const body_work *work = &body->work;
    cudaError_t e = cudaMemsetAsync(work->counters, 0, sizeof *work->counters, stream);
    if (body->finish_teams.blocks[0] > 0 && (clips->count <= MOST_FOR_TEAMS || !work->state)) {
        return e ? e : pz_body_finish_team_launch(&body->task, batch, work, clips, &body->finish_teams, stream);
    }
    return e ? e : pz_body_finish_launch(&body->task, batch, work, clips, body->finish_blocks, stream);
}
