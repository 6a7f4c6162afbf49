// Bodies with several goals on a CUDA device, the host's part: what is made once, copies, statuses. cuda_body.h solves them.
#include "cuda_body.h"
#include "cuda_clips.h"
#include "cuda_engines.h"

#include "base/error.h"
#include "solve/solver.h"

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
    poise_status status =
        pz_cuda_body_make(&tree->room, tree->model, tree->goals, tree->goal_count, options, &tree->body, error);
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
        e = pz_cuda_body_queue(&t->body, &batch, stream);
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
