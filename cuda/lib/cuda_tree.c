// Marker problems on a CUDA device, the host's part: what is made once, copies, statuses.
//
// Two ways to solve them: the fast one (cuda_body.h), and the library's own sources, with the bits of poise_solve.
#include "cuda_tree.h"

#include "cuda_body.h"
#include "cuda_clips.h"
#include "cuda_engines.h"

#include "base/arena.h"
#include "base/error.h"
#include "solve/arm/arm_entry.h"
#include "solve/tips/tips_entry.h"
#include "solve/tree/damped_step.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#define STAGED 4096 // problems of batch.h that go to the device at once

struct pz_cuda_tree {
    pz_cuda_room room;
    int goal_count, capacity;
    size_t nq;
    poise_goal *goals; // in host memory
    const poise_model *model;
    poise_solver_options options;
    bool has_poses;  // some goals are no points: targets are poses
    bool is_fast;    // `body` serves; otherwise the three after it
    bool only_clips; // has goals that clips alone have
    pz_cuda_body body;
    pz_cuda_tree_task task;
    pz_cuda_tree_work work;
    int blocks;
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
    if (o->method != POISE_METHOD_AUTO || o->prior > 0 || o->trace) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "the device supports only AUTO, without prior and trace");
    }
    if (model->has_mimic || model->curve_count > 0 || model->nv == 0) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED,
                            "the device supports only models without mimic and curve joints");
    }
    return POISE_OK;
}

// ---- Constants -----------------------------------------------------------------------------------------------------------

// Model, goals, and what a solver on the host has made of the options.
typedef struct constants {
    pz_cuda_tree *tree;
    const poise_solver *solver;
} constants;

static void put_all(pz_cuda_image *image, void *user)
{
    const constants *of = user;
    const poise_solver *solver = of->solver;
    const poise_solver_options *options = &solver->options;
    pz_cuda_tree_task *task = &of->tree->task;
    size_t nv = (size_t)of->tree->model->nv;
    int groups;
    const pz_group *group = pz_tree_groups(((const pz_damped *)solver->method)->tree, &groups);
    task->box = pz_cuda_put(image, solver->box, nv, sizeof *solver->box);
    task->groups = pz_cuda_put(image, group, (size_t)groups, sizeof *group);
    task->model = pz_cuda_put_model(image, of->tree->model);
    task->goals = pz_cuda_put(image, of->tree->goals, (size_t)of->tree->goal_count, sizeof *of->tree->goals);
    task->options.locked = options->locked ? pz_cuda_put(image, options->locked, nv, sizeof *options->locked) : NULL;
}

static poise_status make_constants(pz_cuda_tree *tree, const poise_solver_options *options, poise_error *error)
{
    poise_solver *solver;
    poise_status status = poise_solver_create(tree->model, options, NULL, &solver, NULL);
    if (status != POISE_OK) {
        return pz_error_set(error, status, "a solver with these options could not be made");
    }
    status = pz_cuda_make_image(&tree->room, put_all, &(constants){tree, solver}, error);
    poise_solver_destroy(solver);
    return status;
}

// ---- Making one ----------------------------------------------------------------------------------------------------------

static size_t rounded(size_t size)
{
    return (size + PZ_ALIGNMENT - 1) / PZ_ALIGNMENT * PZ_ALIGNMENT;
}

// What arms and tips take of a solver's memory, which the device has not.
static size_t size_of_paths(const poise_model *model, const poise_solver_options *options)
{
    poise_solver solver = {.model = model, .options = *options};
    pz_arena arena = pz_arena_counting();
    pz_arm_lay_out(&solver, &arena);
    pz_tips_lay_out(&solver, &arena);
    return pz_arena_bytes(&arena) - PZ_ALIGNMENT;
}

// A solver without those, with room for fewer markers, and the goals.
size_t pz_cuda_tree_size(const poise_model *model, int goal_count, const poise_solver_options *options)
{
    size_t joints = (size_t)model->joint_count, spare = PZ_MARKER_LANES - 1;
    size_t room = rounded(joints * (PZ_MARKERS_PER_JOINT + spare) * sizeof(double));
    size_t own_room = rounded(joints * (PZ_CUDA_MARKERS_PER_JOINT + spare) * sizeof(double));
    size_t goals = rounded((size_t)goal_count * sizeof(poise_goal));
    size_t solver = pz_solver_size(model, options) - size_of_paths(model, options);
    return solver - 14 * (room - own_room) + goals; // 7 arrays in two objectives
}

static cudaError_t take_work(pz_cuda_tree *t, const poise_cuda_options *options)
{
    size_t many = (size_t)options->capacity;
    pz_cuda_tree_work *w = &t->work;
    pz_cuda_room *room = &t->room;
    w->capacity = options->capacity;
    w->counters = pz_cuda_take(room, 1, sizeof *w->counters);
    if (options->solver.restarts > 0) {
        w->open = pz_cuda_take(room, many, sizeof *w->open);
        w->runs = pz_cuda_take(room, many * ((size_t)options->solver.restarts + 1), sizeof *w->runs);
        w->best = pz_cuda_take(room, many * t->nq, sizeof *w->best);
    }
    return room->error;
}

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

// An empty batch: the driver takes the local memory of all threads before the first call.
static cudaError_t run_empty(pz_cuda_tree *t)
{
    pz_cuda_tree_batch none = {.count = 0};
    cudaError_t e = pz_cuda_tree_launch(&t->task, &none, &t->work, 1, t->room.stream);
    return e ? e : cudaStreamSynchronize(t->room.stream);
}

static poise_status make_exact(pz_cuda_tree *tree, const poise_cuda_options *options, poise_error *error)
{
    poise_solver_options solver = options->solver;
    solver.coupled_goals = 0; // there are none
    if (tree->goal_count > PZ_CUDA_MARKERS_PER_JOINT * tree->model->joint_count) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "the device supports up to %d goals for each joint",
                            PZ_CUDA_MARKERS_PER_JOINT);
    }
    size_t size = pz_cuda_tree_size(tree->model, tree->goal_count, &solver);
    int room = size < INT32_MAX ? pz_cuda_tree_room((int)size) : 0;
    if (room == 0) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "a problem of this model and these goals is too large: %g kB",
                            (double)size / 1024.0);
    }
    tree->task =
        (pz_cuda_tree_task){.options = solver, .goal_count = tree->goal_count, .nq = tree->model->nq, .size = (int)size};
    cudaError_t asked = pz_cuda_tree_grid(room, tree->room.processors, &tree->blocks);
    poise_status status = pz_cuda_explain(asked, "loading the program of the device", error);
    status = status ? status : make_constants(tree, &solver, error);
    status = status ? status : pz_cuda_explain(take_work(tree, options), "memory for the batch", error);
    return status ? status : pz_cuda_explain(run_empty(tree), "memory for the threads", error);
}

// Goals that are no points have the fast way alone.
static poise_status refuse_poses(const poise_cuda_options *options, const char *why, poise_error *error)
{
    return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "DIRECTION, ORIENTATION and POSE goals on a body: not served %s%s",
                        options->exact_bits ? "with exact_bits" : "are ", options->exact_bits ? "" : why);
}

static poise_status make_all(pz_cuda_tree *tree, const poise_cuda_options *options, poise_error *error)
{
    const char *why = "";
    tree->options = options->solver;
    tree->capacity = options->capacity;
    tree->is_fast = !options->exact_bits &&
                    pz_body_serves(tree->model, tree->goals, tree->goal_count, &options->solver, &tree->only_clips, &why);
    bool has_others = false;
    for (int i = 0; i < tree->goal_count; ++i) {
        poise_goal_kind kind = tree->goals[i].kind;
        bool is_pull = kind == POISE_GOAL_POSTURE || kind == POISE_GOAL_SMOOTHNESS;
        has_others = has_others || kind != POISE_GOAL_POSITION;
        tree->has_poses = tree->has_poses || (kind != POISE_GOAL_POSITION && !is_pull);
    }
    if (has_others && !tree->is_fast) {
        return refuse_poses(options, why, error);
    }
    poise_status status = tree->is_fast ? pz_cuda_body_make(&tree->room, tree->model, tree->goals, tree->goal_count, options,
                                                            &tree->body, error)
                                        : make_exact(tree, options, error);
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
        e = t->is_fast ? pz_cuda_body_queue(&t->body, &batch, stream)
                       : pz_cuda_tree_launch(&t->task, &batch, &t->work, t->blocks, stream);
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
static const char *reason_of(const pz_cuda_tree *t, const poise_cuda_tree_answer *a)
{
    bool ran = a->iterations > 0;
    switch (a->outcome) {
    case POISE_OUTCOME_REACHED:
        return "every goal is met";
    case POISE_OUTCOME_CLOSEST:
        return "no direction within the limits comes closer";
    case POISE_OUTCOME_STALLED:
        return ran ? "steps no longer change the cost" : "the cost at the start is too large to represent";
    default:
        return t->options.max_iterations > 0 ? "the iterations were used up" : "no iterations were allowed";
    }
}

static void fill(const pz_cuda_tree *t, const poise_cuda_tree_answer *a, poise_report *report)
{
    *report = (poise_report){.outcome = a->outcome,
                             .reason = reason_of(t, a),
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

// Up to STAGED problems from `problems` on; how many were looked at.
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
    if (!tree->is_fast) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "clips need the fast mode, which does not support these goals");
    }
    pz_cuda_clips all = {.model = tree->model, .goals = tree->goals, .goal_count = tree->goal_count};
    all.has_poses = tree->has_poses;
    return pz_cuda_clips_solve(&tree->room, &tree->body, &all, clips, count, error);
}

poise_status pz_cuda_tree_queue_clips(pz_cuda_tree *tree, const int *begin, int clip_count, const void *targets,
                                      const double *weights, double *q, poise_cuda_tree_answer *answers, int frames,
                                      void *stream, poise_error *error)
{
    if (clip_count < 0 || frames < 0 || (clip_count > 0 && (!begin || !targets || !q))) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "begin, targets and q must not be NULL, counts not negative");
    }
    if (!tree->is_fast) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "clips need the fast mode, which does not support these goals");
    }
    pz_cuda_tree_batch batch = {.targets = tree->has_poses ? NULL : targets,
                                .poses = tree->has_poses ? targets : NULL,
                                .weights = weights,
                                .q = q,
                                .answers = answers,
                                .count = frames};
    cudaError_t e = cudaSetDevice(tree->room.device);
    body_clips clips = {.begin = begin, .count = clip_count};
    return pz_cuda_explain(e ? e : pz_cuda_body_queue_clips(&tree->body, &batch, &clips, stream), "solving", error);
}
