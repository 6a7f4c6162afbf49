// Arm poses on a CUDA device, the host's part: what is made once, copies, statuses.
#include "cuda_arm.h"

#include "arm_world.h"
#include "cuda_room.h"

#include "base/error.h"
#include "model/model.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#define STAGED 4096 // problems that go through memory the device can read at once; more of them go as they lie

// So many problems are given to the host first, for so many searches each: it takes some 3 us for one, and the device 50 for
// one as for a dozen. What is left then is hard or out of reach, which the device settles sooner.
#define HOST_MOST     12
#define HOST_SEARCHES 16
#define ACTIVE        1e-6 // room below which a pair counts as blocking, as for poise_solve_within

// ---- The chain in single precision ---------------------------------------------------------------------------------------

// Limits in single precision; double precision has the last word on them. Hinges that can turn for ever are kept near 0.
static void put_limits(const pz_arm_chain *chain, int i, pz_fast_chain *fast)
{
    double lower = chain->lower[i] + chain->offset[i], upper = chain->upper[i] + chain->offset[i];
    fast->is_endless[i] = !is_finite(lower) && !is_finite(upper);
    double middle = is_finite(lower) && is_finite(upper) ? 0.5 * (lower + upper)
                    : is_finite(lower)                   ? lower + PZ_PI
                    : is_finite(upper)                   ? upper - PZ_PI
                                                         : 0.0;
    lower = is_finite(lower) ? lower : middle - ARM_ROOM;
    upper = is_finite(upper) ? upper : middle + ARM_ROOM;
    fast->lower[i] = (float)(lower / PZ_PI);
    fast->upper[i] = (float)(upper / PZ_PI);
    fast->middle[i] = (float)(middle / PZ_PI);
}

static void put_columns(const mat3 *A, float *columns)
{
    const double entries[9] = {A->x.x, A->x.y, A->x.z, A->y.x, A->y.y, A->y.z, A->z.x, A->z.y, A->z.z};
    for (int k = 0; k < 9; ++k) {
        columns[k] = (float)entries[k];
    }
}

bool pz_fast_chain_make(const pz_cuda_task *task, pz_fast_chain *fast)
{
    const pz_arm_chain *chain = &task->chain;
    if (chain->slides || (chain->n != 6 && chain->n != 7)) {
        return false;
    }
    mat3 back = m3_transpose(&chain->base), tail_back = m3_transpose(&chain->tail);
    put_columns(&back, fast->back);
    put_columns(&tail_back, fast->tail_back);
    fast->scale = (float)(1.0 / chain->unit);
    fast->reach = (float)(1.0001 * chain->reach + sqrt(task->target.most_r)); // nearer ones are judged in double
    fast->base_at[0] = chain->base_at.x, fast->base_at[1] = chain->base_at.y, fast->base_at[2] = chain->base_at.z;
    fast->first_start = task->first_start;
    for (int i = 0; i < chain->n; ++i) {
        fast->tx[i] = (float)chain->tx[i], fast->ty[i] = (float)chain->ty[i], fast->tz[i] = (float)chain->tz[i];
        fast->ca[i] = (float)chain->ca[i], fast->sa[i] = (float)chain->sa[i];
        fast->offset[i] = chain->offset[i];
        fast->first[i] = chain->first[i], fast->span[i] = chain->span[i], fast->ratio[i] = chain->ratio[i];
        fast->q[i] = chain->q[i];
        put_limits(chain, i, fast);
    }
    return true;
}

// ---- The task ------------------------------------------------------------------------------------------------------------

poise_status pz_cuda_task_make(const poise_model *model, const poise_goal *goal, const poise_solver_options *options,
                               pz_cuda_task *task, poise_error *error)
{
    poise_solver *solver;
    pz_arm_call *call = malloc(sizeof *call);
    if (!call) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    poise_status status = poise_solver_create(model, options, NULL, &solver, error);
    if (status != POISE_OK) {
        free(call);
        return status;
    }
    double *q = malloc((size_t)model->nq * sizeof *q + 1);
    if (q) {
        poise_model_neutral(model, q);
    }
    status = q ? pz_solve_begin(solver, goal, 1, q, error) : POISE_ERROR_MEMORY;
    const pz_arm_chain *chain = status == POISE_OK && pz_arm_prepare(solver, solver->arm, call) ? call->chain : NULL;
    if (status != POISE_OK) {
        status = q ? status : pz_error_set(error, status, "out of memory");
    } else if (!chain || call->target.has_band || options->method != POISE_METHOD_AUTO || options->engine ||
               options->trace) {
        status = pz_error_set(
            error, POISE_ERROR_UNSUPPORTED,
            "the device supports only AUTO for a POSE goal without bands on a chain of revolute and prismatic joints");
    } else {
        *task = (pz_cuda_task){.chain = *chain,
                               .target = call->target,
                               .weight = goal->rotation_weight,
                               .nq = model->nq,
                               .restarts = options->restarts,
                               .first_start = pz_arm_first_start(options->seed),
                               .max_iterations = options->max_iterations,
                               .fast_last = least(options->restarts, PZ_FAST_SEARCHES - 1),
                               .only_near = options->restarts == 0 && options->start == POISE_START_WARM};
    }
    free(q);
    free(call);
    poise_solver_destroy(solver);
    return status;
}

// ---- The engine ----------------------------------------------------------------------------------------------------------

struct pz_cuda_arm {
    pz_cuda_room room;
    const poise_model *model;
    int nq;
    poise_goal goal;
    pz_cuda_task task;
    pz_fast_chain fast;
    bool has_fast;
    bool host_serves; // the host can give the device's answers
    pz_cuda_work work;
    pz_cuda_grids grids;
    pz_arm_world *world;        // what is kept apart, on the host; NULL: nothing
    pz_arm_world *device_world; // memory for the same on the device; work.world while it counts
    // device memory for calls with host memory
    poise_pose *targets;
    double *q;
    poise_cuda_answer *answers;
    // host memory that the device can read
    poise_pose *staged_targets;
    double *staged_q;
    poise_cuda_answer *staged_answers;
    int *staged_from; // number of the problem in the call
    int staged_count;
    pz_cuda_array_work arrays; // device memory for calls with arrays
};

// ---- Making one ----------------------------------------------------------------------------------------------------------

// All memory of the device, and the counters at 0.
static cudaError_t take_memory(pz_cuda_arm *cuda, const poise_cuda_options *options)
{
    size_t many = (size_t)options->capacity, nq = (size_t)cuda->nq, n = (size_t)cuda->task.chain.n;
    size_t staged = many < STAGED ? many : STAGED;
    pz_cuda_work *w = &cuda->work;
    pz_cuda_room *room = &cuda->room;
    w->capacity = options->capacity;
    w->counters = pz_cuda_take(room, 1, sizeof *w->counters);
    w->last = pz_cuda_take(room, many, sizeof *w->last);
    if (cuda->has_fast) {
        w->near = pz_cuda_take(room, many * n, sizeof *w->near);
        w->near_from = pz_cuda_take(room, many, sizeof *w->near_from);
        w->rest = pz_cuda_take(room, many, sizeof *w->rest);
        w->hard = pz_cuda_take(room, many, sizeof *w->hard);
        w->hard_from = pz_cuda_take(room, many, sizeof *w->hard_from);
    }
    if (options->host_memory) {
        cuda->targets = pz_cuda_take(room, many, sizeof *cuda->targets);
        cuda->q = pz_cuda_take(room, many * nq, sizeof *cuda->q);
        cuda->answers = pz_cuda_take(room, many, sizeof *cuda->answers);
        cuda->staged_targets = pz_cuda_take_host(room, staged, sizeof *cuda->staged_targets);
        cuda->staged_q = pz_cuda_take_host(room, staged * nq, sizeof *cuda->staged_q);
        cuda->staged_answers = pz_cuda_take_host(room, staged, sizeof *cuda->staged_answers);
    }
    if (options->device_arrays) {
        cuda->arrays.targets = pz_cuda_take(room, many, sizeof *cuda->arrays.targets);
        cuda->arrays.answers = pz_cuda_take(room, many, sizeof *cuda->arrays.answers);
        cuda->arrays.is_refused = pz_cuda_take(room, many, sizeof *cuda->arrays.is_refused);
        cuda->arrays.neutral = pz_cuda_take(room, nq, sizeof *cuda->arrays.neutral);
        cuda->arrays.first = pz_cuda_take(room, 1, sizeof *cuda->arrays.first);
    }
    return room->error ? room->error : cudaMemset(w->counters, 0, sizeof *w->counters);
}

// Numbers of the neutral pose, on the device.
static cudaError_t put_neutral(const pz_cuda_arm *cuda, const poise_model *model)
{
    size_t size = (size_t)cuda->nq * sizeof(double);
    double *q = malloc(size);
    if (!q) {
        return cudaErrorMemoryAllocation;
    }
    poise_model_neutral(model, q);
    cudaError_t e = cudaMemcpy(cuda->arrays.neutral, q, size, cudaMemcpyHostToDevice);
    free(q);
    return e;
}

static poise_status make_all(pz_cuda_arm *cuda, const poise_model *model, const poise_cuda_options *options,
                             poise_error *error)
{
    poise_status status = pz_cuda_open(&cuda->room, options->device, error);
    status = status ? status : pz_cuda_task_make(model, &cuda->goal, &options->solver, &cuda->task, error);
    if (status != POISE_OK) {
        return status;
    }
    cuda->has_fast = pz_fast_chain_make(&cuda->task, &cuda->fast);
    cuda->host_serves = pz_cuda_host_serves(cuda->has_fast ? &cuda->fast : NULL);
    cuda->staged_from = malloc(STAGED * sizeof *cuda->staged_from);
    if (!cuda->staged_from) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    cudaError_t e = pz_cuda_arm_grids(cuda->has_fast ? cuda->task.chain.n : 0, cuda->room.processors, &cuda->grids);
    status = pz_cuda_explain(e, "loading the program of the device", error);
    if (status != POISE_OK) {
        return status;
    }
    e = take_memory(cuda, options);
    e = e || !options->device_arrays ? e : put_neutral(cuda, model);
    return pz_cuda_explain(e, "memory for the batch", error);
}

poise_status pz_cuda_arm_create(const poise_model *model, const poise_goal *goal, const poise_cuda_options *options,
                                pz_cuda_arm **cuda, poise_error *error)
{
    if (!model || !goal || !options || !cuda || options->capacity < 1) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model, goal, options, cuda must not be NULL, capacity at least 1");
    }
    pz_cuda_arm *made = calloc(1, sizeof *made);
    if (!made) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    made->model = model;
    made->nq = model->nq;
    made->goal = *goal;
    poise_status status = make_all(made, model, options, error);
    if (status != POISE_OK) {
        pz_cuda_arm_destroy(made);
        return status;
    }
    *cuda = made;
    return POISE_OK;
}

void pz_cuda_arm_destroy(pz_cuda_arm *cuda)
{
    if (!cuda) {
        return;
    }
    pz_cuda_close(&cuda->room);
    free(cuda->staged_from);
    free(cuda->world);
    free(cuda);
}

// ---- What is kept apart --------------------------------------------------------------------------------------------------

// Memory of the device for the first world.
static poise_status take_world(pz_cuda_arm *cuda, poise_error *error)
{
    size_t many = (size_t)cuda->work.capacity;
    cuda->device_world = pz_cuda_take(&cuda->room, 1, sizeof *cuda->device_world);
    cuda->work.again[0] = pz_cuda_take(&cuda->room, many, sizeof *cuda->work.again[0]);
    cuda->work.again[1] = pz_cuda_take(&cuda->room, many, sizeof *cuda->work.again[1]);
    return pz_cuda_explain(cuda->room.error, "memory for shapes", error);
}

// Exchange the world, on the host and on the device.
static poise_status put_world(pz_cuda_arm *cuda, const poise_constraint *apart, poise_error *error)
{
    pz_arm_world *made = malloc(sizeof *made);
    if (!made) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    poise_status status = cuda->work.again[1] ? POISE_OK : take_world(cuda, error);
    status = status ? status : pz_arm_world_make(cuda->model, &cuda->task, apart, made, error);
    if (status == POISE_OK) {
        cudaError_t e = cudaMemcpy(cuda->device_world, made, sizeof *made, cudaMemcpyHostToDevice);
        status = pz_cuda_explain(e, "copying shapes to the device", error);
    }
    if (status != POISE_OK) {
        free(made);
        return status;
    }
    free(cuda->world);
    cuda->world = made;
    cuda->work.world = cuda->device_world;
    return POISE_OK;
}

poise_status pz_cuda_arm_keep_apart(pz_cuda_arm *cuda, const poise_constraint *apart, poise_error *error)
{
    cudaError_t e = cudaSetDevice(cuda->room.device);
    e = e ? e : cudaDeviceSynchronize(); // work that is queued has the shapes of before
    poise_status status = pz_cuda_explain(e, "waiting for the device", error);
    if (status == POISE_OK && apart) {
        status = put_world(cuda, apart, error);
    } else if (status == POISE_OK) {
        free(cuda->world);
        cuda->world = NULL;
        cuda->work.world = NULL;
    }
    cuda->task.fast_last = least(cuda->task.restarts, (cuda->work.world ? PZ_FAST_MORE : PZ_FAST_SEARCHES) - 1);
    return status;
}

// ---- Batches -------------------------------------------------------------------------------------------------------------

static cudaError_t queue(pz_cuda_arm *cuda, const poise_pose *targets, double *q, poise_cuda_answer *answers, int count,
                         cudaStream_t stream)
{
    cudaError_t e = cudaSuccess;
    for (int done = 0; done < count && !e;) {
        int part = count - done < cuda->work.capacity ? count - done : cuda->work.capacity;
        pz_cuda_batch batch = {targets + done, q + (size_t)done * (size_t)cuda->nq, answers ? answers + done : NULL, part};
        e = pz_cuda_arm_launch(&cuda->task, cuda->has_fast ? &cuda->fast : NULL, &cuda->work, &batch, &cuda->grids, stream);
        done += part;
    }
    return e;
}

poise_status pz_cuda_arm_queue(pz_cuda_arm *cuda, const poise_pose *targets, double *q, poise_cuda_answer *answers,
                               int count, void *stream, poise_error *error)
{
    if (count < 0 || (count > 0 && (!targets || !q))) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "targets and q must not be NULL, count not negative");
    }
    cudaError_t e = cudaSetDevice(cuda->room.device);
    return pz_cuda_explain(e ? e : queue(cuda, targets, q, answers, count, stream), "solving", error);
}

// ---- Arrays of other programs --------------------------------------------------------------------------------------------

static cudaError_t solve_array_parts(pz_cuda_arm *cuda, pz_cuda_array_part *part, int64_t count, cudaStream_t stream,
                                     int64_t *refused)
{
    const pz_cuda_array_work *work = &cuda->arrays;
    unsigned long long first = 0;
    cudaError_t e = cudaMemsetAsync(work->first, 0xff, sizeof first, stream);
    for (part->first = 0; part->first < count && !e; part->first += part->count) {
        int64_t left = count - part->first;
        part->count = left < cuda->work.capacity ? (int)left : cuda->work.capacity;
        double *q = part->to.q + part->first * cuda->nq;
        e = pz_cuda_arrays_read(part, work, stream);
        e = e ? e : queue(cuda, work->targets, q, work->answers, part->count, stream);
        e = e ? e : pz_cuda_arrays_write(part, work, stream);
    }
    e = e ? e : cudaMemcpyAsync(&first, work->first, sizeof first, cudaMemcpyDeviceToHost, stream);
    cudaError_t done = cudaStreamSynchronize(stream);
    *refused = first < (unsigned long long)count ? (int64_t)first : -1;
    return e ? e : done;
}

poise_status pz_cuda_arm_solve_arrays(pz_cuda_arm *cuda, const poise_cuda_arrays *arrays,
                                      const poise_cuda_answer_arrays *answers, int64_t count, void *stream, int64_t *refused,
                                      poise_error *error)
{
    if (!arrays || !answers || !refused || count < 0 || (count > 0 && (!arrays->targets.at || !answers->q)) ||
        !cuda->arrays.targets) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "targets, q and refused must not be NULL, count not negative, options.device_arrays true");
    }
    pz_cuda_array_part part = {.from = *arrays, .to = *answers, .nq = cuda->nq};
    if (!part.from.starts.at) {
        part.from.starts = (poise_cuda_view){.at = cuda->arrays.neutral, .strides = {0, 0, 1}};
    }
    cudaError_t e = cudaSetDevice(cuda->room.device);
    return pz_cuda_explain(e ? e : solve_array_parts(cuda, &part, count, stream, refused), "solving", error);
}

// ---- From host memory ----------------------------------------------------------------------------------------------------

// From host memory through the device and back.
static cudaError_t round_trip(pz_cuda_arm *cuda, const poise_pose *targets, double *q, poise_cuda_answer *answers, int count)
{
    size_t many = (size_t)count, numbers = many * (size_t)cuda->nq;
    cudaStream_t stream = cuda->room.stream;
    cudaError_t e = cudaMemcpyAsync(cuda->targets, targets, many * sizeof *targets, cudaMemcpyHostToDevice, stream);
    e = e ? e : cudaMemcpyAsync(cuda->q, q, numbers * sizeof *q, cudaMemcpyHostToDevice, stream);
    e = e ? e : queue(cuda, cuda->targets, cuda->q, answers ? cuda->answers : NULL, count, stream);
    e = e ? e : cudaMemcpyAsync(q, cuda->q, numbers * sizeof *q, cudaMemcpyDeviceToHost, stream);
    if (!e && answers) {
        e = cudaMemcpyAsync(answers, cuda->answers, many * sizeof *answers, cudaMemcpyDeviceToHost, stream);
    }
    cudaError_t done = cudaStreamSynchronize(stream);
    return e ? e : done;
}

// The answer of the host, which is that of the device. False: it has none after few searches.
static bool is_settled_by_host(const pz_cuda_arm *cuda, const poise_pose *target, double *q, poise_cuda_answer *answer)
{
    return pz_cuda_host_solve(&cuda->task, cuda->has_fast ? &cuda->fast : NULL, cuda->world, target, HOST_SEARCHES, q,
                              answer);
}

// Put a problem where the device can read it; there is room.
static void stage(pz_cuda_arm *cuda, int from, const poise_pose *target, const double *q)
{
    int k = cuda->staged_count++;
    cuda->staged_from[k] = from;
    cuda->staged_targets[k] = *target;
    memcpy(cuda->staged_q + (size_t)k * (size_t)cuda->nq, q, (size_t)cuda->nq * sizeof *q);
}

static cudaError_t solve_staged(pz_cuda_arm *cuda)
{
    if (cuda->staged_count == 0) {
        return cudaSuccess;
    }
    cudaError_t e = cudaSetDevice(cuda->room.device);
    return e ? e : round_trip(cuda, cuda->staged_targets, cuda->staged_q, cuda->staged_answers, cuda->staged_count);
}

// One part of a batch in host memory, which may lie anywhere: a small one is copied to where the device can read it at once.
static cudaError_t solve_part(pz_cuda_arm *cuda, const poise_pose *targets, double *q, poise_cuda_answer *answers, int count,
                              bool by_host)
{
    size_t nq = (size_t)cuda->nq;
    if (count > STAGED) {
        cudaError_t e = cudaSetDevice(cuda->room.device);
        return e ? e : round_trip(cuda, targets, q, answers, count);
    }
    cuda->staged_count = 0;
    for (int i = 0; i < count; ++i) {
        poise_cuda_answer answer;
        if (!by_host || !is_settled_by_host(cuda, &targets[i], q + (size_t)i * nq, &answer)) {
            stage(cuda, i, &targets[i], q + (size_t)i * nq);
        } else if (answers) {
            answers[i] = answer;
        }
    }
    cudaError_t e = solve_staged(cuda);
    for (int k = 0; k < cuda->staged_count && !e; ++k) {
        size_t i = (size_t)cuda->staged_from[k];
        memcpy(q + i * nq, cuda->staged_q + (size_t)k * nq, nq * sizeof *q);
        if (answers) {
            answers[i] = cuda->staged_answers[k];
        }
    }
    return e;
}

static bool is_sound(const poise_pose *target)
{
    const poise_quat *r = &target->rotation;
    double square = r->x * r->x + r->y * r->y + r->z * r->z + r->w * r->w;
    return v3_is_finite(target->position) && fabs(square - 1.0) < 1e-5;
}

poise_status pz_cuda_arm_solve_poses(pz_cuda_arm *cuda, const poise_pose *targets, double *q, poise_cuda_answer *answers,
                                     int count, poise_error *error)
{
    if (count < 0 || (count > 0 && (!targets || !q)) || !cuda->targets) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "targets and q must not be NULL, count not negative, options.host_memory true");
    }
    size_t nq = (size_t)cuda->nq;
    for (int i = 0; i < count; ++i) {
        if (!is_sound(&targets[i]) || !all_finite(q + (size_t)i * nq, nq)) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT,
                                "problem %d: numbers must be finite and the rotation a unit quaternion", i);
        }
    }
    bool by_host = cuda->host_serves && count <= HOST_MOST;
    cudaError_t e = cudaSuccess;
    for (int done = 0; done < count && !e;) {
        int part = count - done < cuda->work.capacity ? count - done : cuda->work.capacity;
        e = solve_part(cuda, targets + done, q + (size_t)done * nq, answers ? answers + done : NULL, part, by_host);
        done += part;
    }
    return pz_cuda_explain(e, "solving", error);
}

// ---- Problems of batch.h -------------------------------------------------------------------------------------------------

static bool is_same(poise_vec3 a, poise_vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static bool is_ours(const pz_cuda_arm *cuda, const poise_problem *problem)
{
    const poise_goal *goal = problem->goals, *own = &cuda->goal;
    return problem->constraint_count == 0 && problem->goal_count == 1 && goal && goal->kind == POISE_GOAL_POSE &&
           goal->body == own->body && memcmp(&goal->local, &own->local, sizeof own->local) == 0 &&
           goal->weight == own->weight && goal->rotation_weight == own->rotation_weight && goal->loss == own->loss &&
           is_same(goal->tolerance, own->tolerance) && is_same(goal->rotation_tolerance, own->rotation_tolerance);
}

// The least distance of a pair of shapes at an answer.
static double clearance_of(const pz_arm_world *world, const poise_cuda_answer *answer)
{
    for (int k = 0; world && k < world->watch_count; ++k) {
        if (world->watch[k].pair == answer->pair) {
            return answer->room + world->watch[k].margin;
        }
    }
    return DBL_MAX;
}

static void fill(const pz_arm_world *world, const poise_cuda_answer *answer, poise_report *report)
{
    static const poise_why whys[POISE_OUTCOME_COUNT] = {[POISE_OUTCOME_REACHED] = POISE_WHY_REACHED,
                                                        [POISE_OUTCOME_CLOSEST] = POISE_WHY_CLOSEST,
                                                        [POISE_OUTCOME_STALLED] = POISE_WHY_STALLED,
                                                        [POISE_OUTCOME_BUDGET] = POISE_WHY_BUDGET,
                                                        [POISE_OUTCOME_INFEASIBLE] = POISE_WHY_INFEASIBLE};
    *report = (poise_report){.outcome = answer->outcome,
                             .why = whys[answer->outcome],
                             .reason = poise_why_text(whys[answer->outcome]),
                             .restarts = answer->restarts,
                             .cost = answer->cost,
                             .worst_length = answer->length,
                             .worst_angle = answer->angle,
                             .holds = answer->outcome != POISE_OUTCOME_INFEASIBLE,
                             .clearance = clearance_of(world, answer),
                             .blocking = answer->room < ACTIVE ? 0 : POISE_NONE,
                             .blocking_item = answer->room < ACTIVE ? answer->pair : 0};
}

// Up to STAGED problems for the device from `problems` on; how many were taken.
static int solve_problems(pz_cuda_arm *cuda, poise_problem *problems, int count, bool by_host, cudaError_t *e)
{
    size_t nq = (size_t)cuda->nq;
    int room = cuda->work.capacity < STAGED ? cuda->work.capacity : STAGED, seen = 0;
    cuda->staged_count = 0;
    for (; seen < count && cuda->staged_count < room; ++seen) {
        poise_problem *p = &problems[seen];
        poise_cuda_answer answer;
        bool is_right = p->q && is_ours(cuda, p), sound = is_right && is_sound(&p->goals->target) && all_finite(p->q, nq);
        p->status = sound ? POISE_OK : is_right || !p->q ? POISE_ERROR_ARGUMENT : POISE_ERROR_UNSUPPORTED;
        if (sound && by_host && is_settled_by_host(cuda, &p->goals->target, p->q, &answer)) {
            fill(cuda->world, &answer, &p->report);
        } else if (sound) {
            stage(cuda, seen, &p->goals->target, p->q);
        }
    }
    *e = solve_staged(cuda);
    for (int k = 0; k < cuda->staged_count && !*e; ++k) {
        poise_problem *p = &problems[cuda->staged_from[k]];
        memcpy(p->q, cuda->staged_q + (size_t)k * nq, nq * sizeof *p->q);
        fill(cuda->world, &cuda->staged_answers[k], &p->report);
    }
    return seen;
}

poise_status pz_cuda_arm_solve(pz_cuda_arm *cuda, poise_problem *problems, int count, poise_error *error)
{
    if (count < 0 || (count > 0 && !problems) || !cuda->targets) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "problems must not be NULL, count not negative, options.host_memory true");
    }
    bool by_host = cuda->host_serves && count <= HOST_MOST;
    cudaError_t e = cudaSuccess;
    for (int done = 0; done < count && !e;) {
        done += solve_problems(cuda, problems + done, count - done, by_host, &e);
    }
    return pz_cuda_explain(e, "solving", error);
}
