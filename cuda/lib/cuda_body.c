// Bodies with several goals on a CUDA device, the host's part: what is made once, copies, launches, statuses.
#include "cuda_body.h"

#include "cuda_room.h"

#include "base/error.h"
#include "model/model.h"
#include "solve/solver.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- Tables, memory and launches -----------------------------------------------------------------------------------------

#define MOST_STATE ((size_t)1 << 30) // bytes of state of all problems under way

// Up to so many problems, and runs of them, are worked on by teams; threads alone do more in a second where there are enough
// of them. Of more, first runs come first. The others are for teams where these leave few problems open; where they leave
// most of them, as with noise, no run will meet its goals, and all are for threads.
#define MOST_FOR_TEAMS      20000
#define MOST_RUNS_FOR_TEAMS 150000
#define MOST_OPEN_FOR_TEAMS 60000
#define MOST_OPEN           0.6 // of the problems

typedef struct pz_cuda_body {
    body_task task;
    body_work work;
    int search_blocks, finish_blocks; // that keep the device busy
    body_teams search_teams, finish_teams;
} pz_cuda_body;

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

static cudaError_t queue_batch(const pz_cuda_body *body, const pz_cuda_tree_batch *batch, cudaStream_t stream)
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

static cudaError_t queue_clips(const pz_cuda_body *body, const pz_cuda_tree_batch *batch, const body_clips *clips,
                               cudaStream_t stream)
{
    const body_work *work = &body->work;
    cudaError_t e = cudaMemsetAsync(work->counters, 0, sizeof *work->counters, stream);
    if (body->finish_teams.blocks[0] > 0 && (clips->count <= MOST_FOR_TEAMS || !work->state)) {
        return e ? e : pz_body_finish_team_launch(&body->task, batch, work, clips, &body->finish_teams, stream);
    }
    return e ? e : pz_body_finish_launch(&body->task, batch, work, clips, body->finish_blocks, stream);
}

// Tables and memory for problems that pz_body_serves, up to options->capacity at once.
static poise_status make_body(pz_cuda_room *room, const poise_model *model, const poise_goal *goals, int goal_count,
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
        cudaError_t e = queue_batch(body, &(pz_cuda_tree_batch){.count = 0}, room->stream);
        status = pz_cuda_explain(e ? e : cudaStreamSynchronize(room->stream), "loading the program of the device", error);
    }
    return status;
}

// ---- Clips in host memory: to the device, frame after frame, and back ----------------------------------------------------

// What the clips of a call have in common.
typedef struct pz_cuda_clips {
    const poise_model *model;
    const poise_goal *goals;
    int goal_count;
    bool has_poses; // targets are poses
} pz_cuda_clips;

#define MOST_FRAMES 1000000 // on the device at once

// Frames in a row, on the host and on the device.
typedef struct row {
    int clips, frames;
    size_t nq, goals, target; // numbers of a frame, and the bytes of a target
    int *begin;               // clips + 1, on the host
    poise_cuda_calm *calm;    // by clip
    unsigned char *memory;    // on the device: begin, calm, targets, weights, q, answers
} row;

// ---- What is sound -------------------------------------------------------------------------------------------------------

static bool are_finite(const double *x, size_t count)
{
    bool finite = true;
    for (size_t i = 0; i < count && finite; ++i) {
        finite = isfinite(x[i]);
    }
    return finite;
}

static bool are_weights(const double *w, size_t count)
{
    bool sound = true;
    for (size_t i = 0; i < count && sound; ++i) {
        sound = isfinite(w[i]) && w[i] >= 0.0;
    }
    return sound;
}

static bool is_calm(const poise_cuda_calm *c)
{
    bool is_none = c->turn == 0.0;
    return is_none || (c->turn > 0 && c->usual >= 0 && c->rate >= 0 && c->rate <= 1 && c->most >= 0 && isfinite(c->usual));
}

static poise_status check_clip(const pz_cuda_clips *all, const poise_cuda_clip *c)
{
    size_t targets = (size_t)(c->frames > 0 ? c->frames : 0) * (size_t)all->goal_count;
    const double *numbers = all->has_poses ? (const double *)c->poses : (const double *)c->targets;
    if (c->frames < 1 || !numbers || !c->q) {
        return POISE_ERROR_ARGUMENT;
    }
    bool sound = is_calm(&c->calm) && pz_model_accepts(all->model, c->q) &&
                 are_finite(numbers, targets * (all->has_poses ? 7 : 3)) &&
                 (!c->weights || are_weights(c->weights, targets));
    for (size_t i = 0; i < targets && sound && all->has_poses; ++i) {
        poise_quat r = c->poses[i].rotation;
        int kind = all->goals[i % (size_t)all->goal_count].kind;
        bool turns = kind == POISE_GOAL_POSE || kind == POISE_GOAL_ORIENTATION;
        sound = !turns || r.x * r.x + r.y * r.y + r.z * r.z + r.w * r.w > 0.0;
    }
    return sound ? POISE_OK : POISE_ERROR_ARGUMENT;
}

// ---- There and back ------------------------------------------------------------------------------------------------------

static size_t round_up(size_t size)
{
    return (size + 255) / 256 * 256;
}

// Where the parts of the memory begin, and all of it.
typedef struct parts {
    size_t calm, targets, weights, q, answers, size;
} parts;

static parts parts_of(const row *r)
{
    size_t frames = (size_t)r->frames, goals = frames * r->goals;
    parts p = {.calm = round_up(((size_t)r->clips + 1) * sizeof(int))};
    p.targets = p.calm + round_up((size_t)r->clips * sizeof *r->calm);
    p.weights = p.targets + round_up(goals * r->target);
    p.q = p.weights + round_up(goals * sizeof(double));
    p.answers = p.q + round_up(frames * r->nq * sizeof(double));
    p.size = p.answers + round_up(frames * sizeof(poise_cuda_tree_answer));
    return p;
}

// Weights of a clip that has none are those of the goals.
static cudaError_t put_weights(const pz_cuda_clips *all, const poise_cuda_clip *c, double *to, cudaStream_t stream)
{
    size_t goals = (size_t)all->goal_count, count = (size_t)c->frames * goals;
    double *own = c->weights ? NULL : malloc(count * sizeof *own);
    if (!c->weights && !own) {
        return cudaErrorMemoryAllocation;
    }
    for (size_t i = 0; i < count && own; ++i) {
        own[i] = all->goals[i % goals].weight;
    }
    cudaError_t e = cudaMemcpyAsync(to, own ? own : c->weights, count * sizeof *to, cudaMemcpyHostToDevice, stream);
    e = e || !own ? e : cudaStreamSynchronize(stream); // before it is released
    free(own);
    return e;
}

static cudaError_t put_clip(const pz_cuda_clips *all, const row *r, const parts *p, const poise_cuda_clip *c, int first,
                            cudaStream_t stream)
{
    size_t at = (size_t)first, goals = at * r->goals;
    const void *targets = all->has_poses ? (const void *)c->poses : (const void *)c->targets;
    cudaError_t e = cudaMemcpyAsync(r->memory + p->targets + goals * r->target, targets,
                                    (size_t)c->frames * r->goals * r->target, cudaMemcpyHostToDevice, stream);
    e = e ? e : put_weights(all, c, (double *)(r->memory + p->weights) + goals, stream);
    return e ? e
             : cudaMemcpyAsync((double *)(r->memory + p->q) + at * r->nq, c->q, r->nq * sizeof(double),
                               cudaMemcpyHostToDevice, stream);
}

static cudaError_t get_clip(const row *r, const parts *p, const poise_cuda_clip *c, int first, cudaStream_t stream)
{
    size_t at = (size_t)first, frames = (size_t)c->frames;
    cudaError_t e = cudaMemcpyAsync(c->q, (double *)(r->memory + p->q) + at * r->nq, frames * r->nq * sizeof(double),
                                    cudaMemcpyDeviceToHost, stream);
    return e || !c->answers ? e
                            : cudaMemcpyAsync(c->answers, (poise_cuda_tree_answer *)(r->memory + p->answers) + at,
                                              frames * sizeof *c->answers, cudaMemcpyDeviceToHost, stream);
}

static cudaError_t solve_row(pz_cuda_room *room, const pz_cuda_body *body, const pz_cuda_clips *all, row *r,
                             poise_cuda_clip *const *clips)
{
    parts p = parts_of(r);
    cudaStream_t stream = room->stream;
    cudaError_t e = cudaMallocAsync((void **)&r->memory, p.size, stream);
    e = e ? e : cudaMemcpyAsync(r->memory, r->begin, ((size_t)r->clips + 1) * sizeof(int), cudaMemcpyHostToDevice, stream);
    e = e ? e
          : cudaMemcpyAsync(r->memory + p.calm, r->calm, (size_t)r->clips * sizeof *r->calm, cudaMemcpyHostToDevice, stream);
    for (int i = 0; i < r->clips && !e; ++i) {
        e = put_clip(all, r, &p, clips[i], r->begin[i], stream);
    }
    pz_cuda_tree_batch batch = {.targets = all->has_poses ? NULL : (const poise_vec3 *)(r->memory + p.targets),
                                .poses = all->has_poses ? (const poise_pose *)(r->memory + p.targets) : NULL,
                                .weights = (const double *)(r->memory + p.weights),
                                .q = (double *)(r->memory + p.q),
                                .answers = (poise_cuda_tree_answer *)(r->memory + p.answers),
                                .count = r->frames};
    body_clips on_device = {
        .begin = (const int *)r->memory, .calm = (const poise_cuda_calm *)(r->memory + p.calm), .count = r->clips};
    e = e ? e : queue_clips(body, &batch, &on_device, stream);
    for (int i = 0; i < r->clips && !e; ++i) {
        e = get_clip(r, &p, clips[i], r->begin[i], stream);
    }
    cudaError_t freed = r->memory ? cudaFreeAsync(r->memory, stream) : cudaSuccess;
    cudaError_t done = cudaStreamSynchronize(stream);
    return e ? e : freed ? freed : done;
}

// Clips that are not sound get their status and are left out.
static poise_status solve_clips(pz_cuda_room *room, const pz_cuda_body *body, const pz_cuda_clips *all,
                                poise_cuda_clip *clips, int count, poise_error *error)
{
    poise_cuda_clip **sound = malloc(((size_t)count + 1) * sizeof(void *));
    int *begin = malloc(((size_t)count + 1) * sizeof *begin);
    poise_cuda_calm *calm = malloc(((size_t)count + 1) * sizeof *calm);
    cudaError_t e = sound && begin && calm ? cudaSetDevice(room->device) : cudaErrorMemoryAllocation;
    for (int done = 0; done < count && !e;) {
        row r = {.nq = (size_t)all->model->nq,
                 .goals = (size_t)all->goal_count,
                 .target = all->has_poses ? sizeof(poise_pose) : sizeof(poise_vec3),
                 .begin = begin,
                 .calm = calm};
        for (; done < count && (r.clips == 0 || r.frames + (long long)clips[done].frames <= MOST_FRAMES); ++done) {
            clips[done].status = check_clip(all, &clips[done]);
            if (clips[done].status == POISE_OK) {
                sound[r.clips] = &clips[done];
                calm[r.clips] = clips[done].calm;
                begin[r.clips++] = r.frames;
                r.frames += clips[done].frames;
            }
        }
        begin[r.clips] = r.frames;
        e = r.clips > 0 ? solve_row(room, body, all, &r, sound) : cudaSuccess;
    }
    free(sound);
    free(begin);
    free(calm);
    return pz_cuda_explain(e, "solving clips", error);
}

// ---- The engine ----------------------------------------------------------------------------------------------------------

#define STAGED 4096 // problems of batch.h that go to the device at once

struct pz_cuda_tree {
    pz_cuda_room room;
    int goal_count, capacity;
    size_t nq;
    poise_goal *goals; // in host memory
    const poise_model *model;
    poise_solver_options options;
    bool has_poses;  // some goals are no points: targets are poses
    bool only_clips; // has goals that clips alone have
    pz_cuda_body body;
    // device memory for calls with host memory
    void *targets; // points, or poses
    double *weights, *q;
    poise_cuda_tree_answer *answers;
    // host memory that the device can read
    void *staged_targets;
    double *staged_weights, *staged_q;
    poise_cuda_tree_answer *staged_answers;
};

// ---- What is served ------------------------------------------------------------------------------------------------------

static poise_status check_goals(const poise_model *model, const poise_goal *goals, int count, poise_error *error)
{
    for (int i = 0; i < count; ++i) {
        poise_status status = poise_goal_check(&goals[i], model, error);
        if (status != POISE_OK) {
            return status;
        }
        poise_goal_kind kind = goals[i].kind;
        bool is_served = kind == POISE_GOAL_POSITION || kind == POISE_GOAL_DIRECTION || kind == POISE_GOAL_ORIENTATION ||
                         kind == POISE_GOAL_POSE || kind == POISE_GOAL_POSTURE || kind == POISE_GOAL_SMOOTHNESS;
        if (!is_served) {
            return pz_error_set(error, POISE_ERROR_UNSUPPORTED,
                                "goal %d (%s): the device supports POSITION, DIRECTION, ORIENTATION and POSE goals, and in "
                                "clips POSTURE and SMOOTHNESS",
                                i, poise_goal_kind_name(kind));
        }
    }
    return POISE_OK;
}

static poise_status check_options(const poise_model *model, const poise_solver_options *o, poise_error *error)
{
    if (pz_solver_check_options(model, o, NULL) != POISE_OK) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "a solver with these options could not be made");
    }
    if (o->method != POISE_METHOD_AUTO || o->engine || o->prior > 0 || o->trace) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "the device supports only AUTO, without prior and trace");
    }
    if (model->has_mimic || model->curve_count > 0 || model->nv == 0) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED,
                            "the device supports only models without mimic and curve joints");
    }
    return POISE_OK;
}

// ---- Making one ----------------------------------------------------------------------------------------------------------

// Of one target.
static size_t target_size(const pz_cuda_tree *t)
{
    return t->has_poses ? sizeof(poise_pose) : sizeof(poise_vec3);
}

static cudaError_t take_stage(pz_cuda_tree *t, const poise_cuda_options *options)
{
    size_t goals = (size_t)t->goal_count, staged = t->capacity < STAGED ? (size_t)t->capacity : STAGED;
    pz_cuda_room *room = &t->room;
    if (options->host_memory) {
        t->targets = pz_cuda_take(room, staged * goals, target_size(t));
        t->weights = pz_cuda_take(room, staged * goals, sizeof *t->weights);
        t->q = pz_cuda_take(room, staged * t->nq, sizeof *t->q);
        t->answers = pz_cuda_take(room, staged, sizeof *t->answers);
        t->staged_targets = pz_cuda_take_host(room, staged * goals, target_size(t));
        t->staged_weights = pz_cuda_take_host(room, staged * goals, sizeof *t->staged_weights);
        t->staged_q = pz_cuda_take_host(room, staged * t->nq, sizeof *t->staged_q);
        t->staged_answers = pz_cuda_take_host(room, staged, sizeof *t->staged_answers);
    }
    return room->error;
}

static poise_status make_all(pz_cuda_tree *tree, const poise_cuda_options *options, poise_error *error)
{
    const char *why = "";
    tree->options = options->solver;
    tree->capacity = options->capacity;
    if (!pz_body_serves(tree->model, tree->goals, tree->goal_count, &options->solver, &tree->only_clips, &why)) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "the device does not serve %s; poise_batch_solve does", why);
    }
    for (int i = 0; i < tree->goal_count; ++i) {
        poise_goal_kind kind = tree->goals[i].kind;
        bool is_point = kind == POISE_GOAL_POSITION || kind == POISE_GOAL_POSTURE || kind == POISE_GOAL_SMOOTHNESS;
        tree->has_poses = tree->has_poses || !is_point;
    }
    poise_status status = make_body(&tree->room, tree->model, tree->goals, tree->goal_count, options, &tree->body, error);
    return status ? status : pz_cuda_explain(take_stage(tree, options), "memory for the batch", error);
}

poise_status pz_cuda_tree_create(const poise_model *model, const poise_goal *goals, int goal_count,
                                 const poise_cuda_options *options, pz_cuda_tree **tree, poise_error *error)
{
    if (!model || !goals || goal_count < 1 || !options || !tree || options->capacity < 1) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "model, goals, options, tree must not be NULL, goal_count and capacity at least 1");
    }
    poise_status status = check_goals(model, goals, goal_count, error);
    status = status ? status : check_options(model, &options->solver, error);
    if (status != POISE_OK) {
        return status;
    }
    pz_cuda_tree *made = calloc(1, sizeof *made);
    poise_goal *own = malloc((size_t)goal_count * sizeof *own);
    if (!made || !own) {
        free(made);
        free(own);
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    memcpy(own, goals, (size_t)goal_count * sizeof *own);
    made->model = model;
    made->goals = own;
    made->goal_count = goal_count;
    made->nq = (size_t)model->nq;
    status = pz_cuda_open(&made->room, options->device, error);
    status = status ? status : make_all(made, options, error);
    if (status != POISE_OK) {
        pz_cuda_tree_destroy(made);
        return status;
    }
    *tree = made;
    return POISE_OK;
}

void pz_cuda_tree_destroy(pz_cuda_tree *tree)
{
    if (!tree) {
        return;
    }
    pz_cuda_close(&tree->room);
    free(tree->goals);
    free(tree);
}

// ---- Batches -------------------------------------------------------------------------------------------------------------

// `targets`: points, or poses where some goals are none.
static cudaError_t queue(pz_cuda_tree *t, const void *targets, const double *weights, double *q,
                         poise_cuda_tree_answer *answers, int count, cudaStream_t stream)
{
    cudaError_t e = cudaSuccess;
    for (int done = 0; done < count && !e;) {
        int part = count - done < t->capacity ? count - done : t->capacity;
        size_t first = (size_t)done * (size_t)t->goal_count;
        pz_cuda_tree_batch batch = {.targets = t->has_poses ? NULL : (const poise_vec3 *)targets + first,
                                    .poses = t->has_poses ? (const poise_pose *)targets + first : NULL,
                                    .weights = weights && !t->has_poses ? weights + first : NULL,
                                    .q = q + (size_t)done * t->nq,
                                    .answers = answers ? answers + done : NULL,
                                    .count = part};
        e = queue_batch(&t->body, &batch, stream);
        done += part;
    }
    return e;
}

static poise_status queue_checked(pz_cuda_tree *tree, const void *targets, const double *weights, double *q,
                                  poise_cuda_tree_answer *answers, int count, void *stream, poise_error *error)
{
    if (count < 0 || (count > 0 && (!targets || !q))) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "targets and q must not be NULL, count not negative");
    }
    cudaError_t e = cudaSetDevice(tree->room.device);
    return pz_cuda_explain(e ? e : queue(tree, targets, weights, q, answers, count, stream), "solving", error);
}

poise_status pz_cuda_tree_queue(pz_cuda_tree *tree, const poise_vec3 *targets, const double *weights, double *q,
                                poise_cuda_tree_answer *answers, int count, void *stream, poise_error *error)
{
    if (tree->has_poses || tree->only_clips) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED,
                            tree->only_clips ? "postures pull on clips alone: poise_cuda_solve_clips"
                                             : "some goals are not points: use poise_cuda_queue_goals");
    }
    return queue_checked(tree, targets, weights, q, answers, count, stream, error);
}

poise_status pz_cuda_tree_queue_goals(pz_cuda_tree *tree, const poise_pose *targets, double *q,
                                      poise_cuda_tree_answer *answers, int count, void *stream, poise_error *error)
{
    if (!tree->has_poses || tree->only_clips) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED,
                            tree->only_clips ? "postures pull on clips alone: poise_cuda_solve_clips"
                                             : "all goals are points: poise_cuda_queue_markers takes them");
    }
    return queue_checked(tree, targets, NULL, q, answers, count, stream, error);
}

// ---- Problems of batch.h -------------------------------------------------------------------------------------------------

static bool is_same(poise_vec3 a, poise_vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

// Where some goals are no points: frames, axes and weights are those of the tree, too.
static bool has_our_frames(const pz_cuda_tree *t, const poise_problem *problem)
{
    bool ours = true;
    for (int i = 0; i < t->goal_count && ours; ++i) {
        const poise_goal *goal = &problem->goals[i], *own = &t->goals[i];
        ours = memcmp(&goal->local, &own->local, sizeof own->local) == 0 && is_same(goal->axis, own->axis) &&
               goal->weight == own->weight && goal->rotation_weight == own->rotation_weight &&
               is_same(goal->rotation_tolerance, own->rotation_tolerance);
    }
    return ours;
}

// The goals of this tree, but for targets and, where all are points, weights?
static bool is_ours(const pz_cuda_tree *t, const poise_problem *problem)
{
    bool ours = problem->constraint_count == 0 && problem->goals && problem->goal_count == t->goal_count;
    for (int i = 0; i < t->goal_count && ours; ++i) {
        const poise_goal *goal = &problem->goals[i], *own = &t->goals[i];
        ours = goal->kind == own->kind && goal->body == own->body && is_same(goal->local.position, own->local.position) &&
               is_same(goal->tolerance, own->tolerance) && goal->loss == own->loss &&
               (own->loss == POISE_LOSS_NONE || goal->loss_scale == own->loss_scale) &&
               (!pz_has_band(own->tolerance) ||
                memcmp(&goal->target.rotation, &own->target.rotation, sizeof own->target.rotation) == 0);
    }
    return ours && (!t->has_poses || has_our_frames(t, problem));
}

static bool is_sound(const pz_cuda_tree *t, const poise_problem *problem)
{
    bool sound = pz_model_accepts(t->model, problem->q);
    for (int i = 0; i < t->goal_count && sound; ++i) {
        sound = poise_goal_check(&problem->goals[i], t->model, NULL) == POISE_OK;
    }
    return sound;
}

static cudaError_t round_trip(pz_cuda_tree *t, int count)
{
    size_t many = (size_t)count, points = many * (size_t)t->goal_count, numbers = many * t->nq;
    cudaStream_t stream = t->room.stream;
    cudaError_t e = cudaMemcpyAsync(t->targets, t->staged_targets, points * target_size(t), cudaMemcpyHostToDevice, stream);
    e = e ? e : cudaMemcpyAsync(t->weights, t->staged_weights, points * sizeof(double), cudaMemcpyHostToDevice, stream);
    e = e ? e : cudaMemcpyAsync(t->q, t->staged_q, numbers * sizeof *t->q, cudaMemcpyHostToDevice, stream);
    e = e ? e : queue(t, t->targets, t->weights, t->q, t->answers, count, stream);
    e = e ? e : cudaMemcpyAsync(t->staged_q, t->q, numbers * sizeof *t->q, cudaMemcpyDeviceToHost, stream);
    e = e ? e : cudaMemcpyAsync(t->staged_answers, t->answers, many * sizeof *t->answers, cudaMemcpyDeviceToHost, stream);
    cudaError_t done = cudaStreamSynchronize(stream);
    return e ? e : done;
}

// The words of poise_solve for how it ended.
static poise_why why_of(const pz_cuda_tree *t, const poise_cuda_tree_answer *a)
{
    bool ran = a->iterations > 0;
    switch (a->outcome) {
    case POISE_OUTCOME_REACHED:
        return POISE_WHY_REACHED;
    case POISE_OUTCOME_CLOSEST:
        return POISE_WHY_CLOSEST;
    case POISE_OUTCOME_STALLED:
        return ran ? POISE_WHY_STALLED : POISE_WHY_OVERFLOW;
    default:
        return t->options.max_iterations > 0 ? POISE_WHY_BUDGET : POISE_WHY_NO_ITERATIONS;
    }
}

static void fill(const pz_cuda_tree *t, const poise_cuda_tree_answer *a, poise_report *report)
{
    *report = (poise_report){.outcome = a->outcome,
                             .why = why_of(t, a),
                             .reason = poise_why_text(why_of(t, a)),
                             .iterations = a->iterations,
                             .evaluations = a->evaluations,
                             .restarts = a->restarts,
                             .active_limits = a->active_limits,
                             .moved_joints = a->moved_joints,
                             .start_cost = a->start_cost,
                             .cost = a->cost,
                             .gradient = a->gradient,
                             .distance = a->distance,
                             .worst_length = a->worst_length,
                             .worst_angle = a->worst_angle,
                             .holds = true,
                             .clearance = DBL_MAX,
                             .blocking = POISE_NONE};
}

static void stage(pz_cuda_tree *t, const poise_problem *p, int place)
{
    size_t first = (size_t)place * (size_t)t->goal_count;
    for (int i = 0; i < t->goal_count; ++i) {
        const poise_goal *goal = &p->goals[i];
        if (t->has_poses) {
            poise_pose *to = (poise_pose *)t->staged_targets + first + i;
            *to = goal->target;
            to->position = goal->kind == POISE_GOAL_DIRECTION ? goal->direction : to->position;
        } else {
            ((poise_vec3 *)t->staged_targets)[first + (size_t)i] = goal->target.position;
        }
        t->staged_weights[first + (size_t)i] = goal->weight;
    }
    memcpy(t->staged_q + (size_t)place * t->nq, p->q, t->nq * sizeof *p->q);
}

// Up to STAGED problems from `problems` on; how many were taken.
static int solve_staged(pz_cuda_tree *t, poise_problem *problems, int count, cudaError_t *e)
{
    int staged = t->capacity < STAGED ? t->capacity : STAGED, seen = 0, taken = 0;
    for (; seen < count && taken < staged; ++seen) {
        poise_problem *p = &problems[seen];
        bool is_right = p->q && is_ours(t, p), sound = is_right && is_sound(t, p);
        p->status = sound ? POISE_OK : is_right || !p->q ? POISE_ERROR_ARGUMENT : POISE_ERROR_UNSUPPORTED;
        if (sound) {
            stage(t, p, taken++);
        }
    }
    *e = taken > 0 ? round_trip(t, taken) : cudaSuccess;
    for (int i = 0, k = 0; i < seen && !*e; ++i) {
        if (problems[i].status == POISE_OK) {
            memcpy(problems[i].q, t->staged_q + (size_t)k * t->nq, t->nq * sizeof *problems[i].q);
            fill(t, &t->staged_answers[k++], &problems[i].report);
        }
    }
    return seen;
}

poise_status pz_cuda_tree_solve(pz_cuda_tree *tree, poise_problem *problems, int count, poise_error *error)
{
    if (tree->only_clips) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "postures pull on clips alone: poise_cuda_solve_clips");
    }
    if (count < 0 || (count > 0 && !problems) || !tree->targets) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "problems must not be NULL, count not negative, options.host_memory true");
    }
    cudaError_t e = cudaSetDevice(tree->room.device);
    for (int done = 0; done < count && !e;) {
        done += solve_staged(tree, problems + done, count - done, &e);
    }
    return pz_cuda_explain(e, "solving", error);
}

// ---- Clips ---------------------------------------------------------------------------------------------------------------

poise_status pz_cuda_tree_clips(pz_cuda_tree *tree, poise_cuda_clip *clips, int count, poise_error *error)
{
    if (count < 0 || (count > 0 && !clips)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "clips must not be NULL, count not negative");
    }
    pz_cuda_clips all = {.model = tree->model, .goals = tree->goals, .goal_count = tree->goal_count};
    all.has_poses = tree->has_poses;
    return solve_clips(&tree->room, &tree->body, &all, clips, count, error);
}

poise_status pz_cuda_tree_queue_clips(pz_cuda_tree *tree, const int *begin, int clip_count, const void *targets,
                                      const double *weights, double *q, poise_cuda_tree_answer *answers, int frames,
                                      void *stream, poise_error *error)
{
    if (clip_count < 0 || frames < 0 || (clip_count > 0 && (!begin || !targets || !q))) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "begin, targets and q must not be NULL, counts not negative");
    }
    pz_cuda_tree_batch batch = {.targets = tree->has_poses ? NULL : targets,
                                .poses = tree->has_poses ? targets : NULL,
                                .weights = weights,
                                .q = q,
                                .answers = answers,
                                .count = frames};
    cudaError_t e = cudaSetDevice(tree->room.device);
    body_clips clips = {.begin = begin, .count = clip_count};
    return pz_cuda_explain(e ? e : queue_clips(&tree->body, &batch, &clips, stream), "solving", error);
}
