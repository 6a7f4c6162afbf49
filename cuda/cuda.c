// Arm poses on a CUDA device, the host's part: what is made once, copies, statuses.
#include "arm.h"

#include "explain.h"

#include "base/error.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#define STAGED 4096 // problems that go through memory the device can read at once; more of them go as they lie

struct poise_cuda {
    int device, nq;
    poise_goal goal;
    pz_cuda_task task;
    pz_fast_chain fast;
    bool has_fast;
    pz_cuda_work work;
    pz_cuda_grids grids;
    cudaStream_t stream; // of calls with host memory
    // device memory for these
    poise_pose *targets;
    double *q;
    poise_cuda_answer *answers;
    // host memory that the device can read
    poise_pose *staged_targets;
    double *staged_q;
    poise_cuda_answer *staged_answers;
    poise_error error;
};

// ---- Options and errors --------------------------------------------------------------------------------------------------

int poise_cuda_device_count(void)
{
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

poise_cuda_options poise_cuda_options_default(void)
{
    poise_cuda_options options = {.solver = poise_solver_options_default(), .capacity = 1 << 20, .host_memory = true};
    options.solver.restarts = 300;
    return options;
}

poise_status pz_cuda_explain(cudaError_t status, const char *doing, poise_error *error)
{
    if (status == cudaSuccess) {
        return POISE_OK;
    }
    (void)cudaGetLastError(); // the next call begins clean, unless the device is lost
    if (status == cudaErrorMemoryAllocation) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "%s: the device is out of memory; a smaller capacity needs less",
                            doing);
    }
    if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "%s: there is no CUDA device, or its driver is too old (%s)",
                            doing, cudaGetErrorString(status));
    }
    return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "%s: %s", doing, cudaGetErrorString(status));
}

const char *poise_cuda_error(const poise_cuda *cuda)
{
    return cuda ? cuda->error.text : "";
}

// ---- Making one ----------------------------------------------------------------------------------------------------------

static bool has_both(const pz_arm_chain *chain, int i)
{
    return is_finite(chain->lower[i]) && is_finite(chain->upper[i]);
}

// Limits in single precision, rounded inwards; hinges that can turn for ever are kept near 0.
static void put_limits(const pz_arm_chain *chain, int i, pz_fast_chain *fast)
{
    double lower = chain->lower[i], upper = chain->upper[i];
    fast->is_endless[i] = !is_finite(lower) && !is_finite(upper);
    double middle = has_both(chain, i) ? 0.5 * (lower + upper)
                    : is_finite(lower) ? lower + PZ_PI
                    : is_finite(upper) ? upper - PZ_PI
                                       : 0.0;
    lower = is_finite(lower) ? lower : middle - ARM_ROOM;
    upper = is_finite(upper) ? upper : middle + ARM_ROOM;
    fast->lower[i] = (float)lower;
    fast->upper[i] = (float)upper;
    fast->middle[i] = (float)middle;
}

static void put_columns(const mat3 *A, float *columns)
{
    const double entries[9] = {A->x.x, A->x.y, A->x.z, A->y.x, A->y.y, A->y.z, A->z.x, A->z.y, A->z.z};
    for (int k = 0; k < 9; ++k) {
        columns[k] = (float)entries[k];
    }
}

static void make_fast(const pz_cuda_task *task, pz_fast_chain *fast)
{
    const pz_arm_chain *chain = &task->chain;
    mat3 back = m3_transpose(&chain->base), tail_back = m3_transpose(&chain->tail);
    put_columns(&back, fast->back);
    put_columns(&tail_back, fast->tail_back);
    fast->scale = (float)(1.0 / chain->unit);
    fast->reach = (float)(1.0001 * chain->reach + sqrt(task->target.most_r)); // nearer ones are judged in double
    fast->base_at[0] = chain->base_at.x, fast->base_at[1] = chain->base_at.y, fast->base_at[2] = chain->base_at.z;
    fast->first_start = task->first_start;
    for (int i = 0; i < chain->n; ++i) {
        double offset = chain->offset[i] - PZ_TWO_PI * arm_round(chain->offset[i] / PZ_TWO_PI);
        fast->offset[i] = (float)offset;
        fast->tx[i] = (float)chain->tx[i], fast->ty[i] = (float)chain->ty[i], fast->tz[i] = (float)chain->tz[i];
        fast->ca[i] = (float)chain->ca[i], fast->sa[i] = (float)chain->sa[i];
        fast->first[i] = chain->first[i], fast->span[i] = chain->span[i], fast->ratio[i] = chain->ratio[i];
        fast->q[i] = chain->q[i];
        put_limits(chain, i, fast);
    }
}

// The chain and all that a solver makes of options and goal.
static poise_status make_task(poise_cuda *cuda, const poise_model *model, const poise_solver_options *options,
                              poise_error *error)
{
    poise_solver *solver;
    pz_arm_call *call = malloc(sizeof *call);
    poise_status status = call ? poise_solver_create(model, options, NULL, &solver) : POISE_ERROR_MEMORY;
    if (status != POISE_OK) {
        free(call);
        return pz_error_set(error, status, "a solver with these options could not be made");
    }
    double *q = malloc((size_t)model->nq * sizeof *q + 1);
    if (q) {
        poise_model_neutral(model, q);
    }
    status = q ? pz_solve_begin(solver, &cuda->goal, 1, q) : POISE_ERROR_MEMORY;
    const pz_arm_chain *chain = status == POISE_OK ? pz_arm_prepare(solver, call) : NULL;
    if (status != POISE_OK) {
        pz_error_set(error, status, "%s", q ? poise_solver_error(solver) : "out of memory");
    } else if (!chain || call->target.has_band || options->method != POISE_METHOD_AUTO || options->trace) {
        status =
            pz_error_set(error, POISE_ERROR_UNSUPPORTED,
                         "the device serves AUTO for a POSE goal without bands on a chain of revolute and prismatic joints");
    } else {
        cuda->task = (pz_cuda_task){.chain = *chain,
                                    .target = call->target,
                                    .weight = cuda->goal.rotation_weight,
                                    .nq = model->nq,
                                    .restarts = options->restarts,
                                    .first_start = pz_arm_first_start(options->seed),
                                    .max_iterations = options->max_iterations,
                                    .only_near = options->restarts == 0 && options->start == POISE_START_WARM};
    }
    free(q);
    free(call);
    poise_solver_destroy(solver);
    return status;
}

static cudaError_t take(void **memory, size_t count, size_t size)
{
    return cudaMalloc(memory, count * size);
}

// All memory of the device, and the counters at 0.
static cudaError_t take_memory(poise_cuda *cuda, const poise_cuda_options *options)
{
    size_t many = (size_t)options->capacity, nq = (size_t)cuda->nq, n = (size_t)cuda->task.chain.n;
    size_t staged = many < STAGED ? many : STAGED;
    pz_cuda_work *w = &cuda->work;
    w->capacity = options->capacity;
    cudaError_t e = take((void **)&w->counters, 1, sizeof *w->counters);
    e = e ? e : cudaMemset(w->counters, 0, sizeof *w->counters);
    e = e ? e : take((void **)&w->last, many, sizeof *w->last);
    if (cuda->has_fast) {
        e = e ? e : take((void **)&w->near, many * n, sizeof *w->near);
        e = e ? e : take((void **)&w->near_from, many, sizeof *w->near_from);
        e = e ? e : take((void **)&w->rest, many, sizeof *w->rest);
        e = e ? e : take((void **)&w->hard, many, sizeof *w->hard);
        e = e ? e : take((void **)&w->hard_from, many, sizeof *w->hard_from);
    }
    if (options->host_memory) {
        e = e ? e : take((void **)&cuda->targets, many, sizeof *cuda->targets);
        e = e ? e : take((void **)&cuda->q, many * nq, sizeof *cuda->q);
        e = e ? e : take((void **)&cuda->answers, many, sizeof *cuda->answers);
        e = e ? e : cudaMallocHost((void **)&cuda->staged_targets, staged * sizeof *cuda->staged_targets);
        e = e ? e : cudaMallocHost((void **)&cuda->staged_q, staged * nq * sizeof *cuda->staged_q);
        e = e ? e : cudaMallocHost((void **)&cuda->staged_answers, staged * sizeof *cuda->staged_answers);
    }
    return e;
}

static poise_status make_all(poise_cuda *cuda, const poise_model *model, const poise_cuda_options *options,
                             poise_error *error)
{
    int processors = 0;
    poise_status status = pz_cuda_explain(cudaSetDevice(options->device), "choosing the device", error);
    status = status ? status : make_task(cuda, model, &options->solver, error);
    if (status != POISE_OK) {
        return status;
    }
    const pz_arm_chain *chain = &cuda->task.chain;
    cuda->has_fast = (chain->n == 6 || chain->n == 7) && !chain->slides;
    if (cuda->has_fast) {
        make_fast(&cuda->task, &cuda->fast);
    }
    status = pz_cuda_explain(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, options->device),
                             "asking the device", error);
    status = status ? status
                    : pz_cuda_explain(pz_cuda_arm_grids(cuda->has_fast ? chain->n : 0, processors, &cuda->grids),
                                      "loading the program of the device", error);
    status = status ? status
                    : pz_cuda_explain(cudaStreamCreateWithFlags(&cuda->stream, cudaStreamNonBlocking), "a stream", error);
    return status ? status : pz_cuda_explain(take_memory(cuda, options), "memory for the batch", error);
}

poise_status poise_cuda_create(const poise_model *model, const poise_goal *goal, const poise_cuda_options *options,
                               poise_cuda **cuda, poise_error *error)
{
    if (!model || !goal || !options || !cuda || options->capacity < 1) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model, goal, options, cuda must not be NULL, capacity at least 1");
    }
    if (poise_cuda_device_count() <= options->device || options->device < 0) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "there is no CUDA device %d, or no driver for it",
                            options->device);
    }
    poise_cuda *made = calloc(1, sizeof *made);
    if (!made) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    made->device = options->device;
    made->nq = model->nq;
    made->goal = *goal;
    poise_status status = make_all(made, model, options, error);
    if (status != POISE_OK) {
        poise_cuda_destroy(made);
        return status;
    }
    *cuda = made;
    return POISE_OK;
}

void poise_cuda_destroy(poise_cuda *cuda)
{
    if (!cuda) {
        return;
    }
    (void)cudaSetDevice(cuda->device);
    void *device_memory[] = {
        cuda->work.counters,  cuda->work.last, cuda->work.near, cuda->work.near_from, cuda->work.rest, cuda->work.hard,
        cuda->work.hard_from, cuda->targets,   cuda->q,         cuda->answers};
    void *host_memory[] = {cuda->staged_targets, cuda->staged_q, cuda->staged_answers};
    for (size_t i = 0; i < sizeof device_memory / sizeof device_memory[0]; ++i) {
        (void)cudaFree(device_memory[i]);
    }
    for (size_t i = 0; i < sizeof host_memory / sizeof host_memory[0]; ++i) {
        (void)cudaFreeHost(host_memory[i]);
    }
    if (cuda->stream) {
        (void)cudaStreamDestroy(cuda->stream);
    }
    free(cuda);
}

// ---- Batches -------------------------------------------------------------------------------------------------------------

static cudaError_t queue(poise_cuda *cuda, const poise_pose *targets, double *q, poise_cuda_answer *answers, int count,
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

poise_status poise_cuda_queue_poses(poise_cuda *cuda, const poise_pose *targets, double *q, poise_cuda_answer *answers,
                                    int count, void *stream)
{
    if (!cuda) {
        return POISE_ERROR_ARGUMENT;
    }
    cuda->error.text[0] = '\0';
    if (count < 0 || (count > 0 && (!targets || !q))) {
        return pz_error_set(&cuda->error, POISE_ERROR_ARGUMENT, "targets and q must not be NULL, count not negative");
    }
    cudaError_t e = cudaSetDevice(cuda->device);
    return pz_cuda_explain(e ? e : queue(cuda, targets, q, answers, count, stream), "solving", &cuda->error);
}

// From host memory through the device and back.
static cudaError_t round_trip(poise_cuda *cuda, const poise_pose *targets, double *q, poise_cuda_answer *answers, int count)
{
    size_t many = (size_t)count, numbers = many * (size_t)cuda->nq;
    cudaStream_t stream = cuda->stream;
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

// One part of a batch in host memory, which may lie anywhere: a small one is copied to where the device can read it at once.
static cudaError_t solve_part(poise_cuda *cuda, const poise_pose *targets, double *q, poise_cuda_answer *answers, int count)
{
    size_t many = (size_t)count, numbers = many * (size_t)cuda->nq;
    if (count > STAGED) {
        return round_trip(cuda, targets, q, answers, count);
    }
    memcpy(cuda->staged_targets, targets, many * sizeof *targets);
    memcpy(cuda->staged_q, q, numbers * sizeof *q);
    cudaError_t e = round_trip(cuda, cuda->staged_targets, cuda->staged_q, answers ? cuda->staged_answers : NULL, count);
    if (!e) {
        memcpy(q, cuda->staged_q, numbers * sizeof *q);
    }
    if (!e && answers) {
        memcpy(answers, cuda->staged_answers, many * sizeof *answers);
    }
    return e;
}

static bool is_sound(const poise_pose *target)
{
    const poise_quat *r = &target->rotation;
    double square = r->x * r->x + r->y * r->y + r->z * r->z + r->w * r->w;
    return v3_is_finite(target->position) && fabs(square - 1.0) < 1e-5;
}

poise_status poise_cuda_solve_poses(poise_cuda *cuda, const poise_pose *targets, double *q, poise_cuda_answer *answers,
                                    int count)
{
    if (!cuda) {
        return POISE_ERROR_ARGUMENT;
    }
    cuda->error.text[0] = '\0';
    if (count < 0 || (count > 0 && (!targets || !q)) || !cuda->targets) {
        return pz_error_set(&cuda->error, POISE_ERROR_ARGUMENT,
                            "targets and q must not be NULL, count not negative, options.host_memory true");
    }
    size_t nq = (size_t)cuda->nq;
    for (int i = 0; i < count; ++i) {
        if (!is_sound(&targets[i]) || !all_finite(q + (size_t)i * nq, nq)) {
            return pz_error_set(&cuda->error, POISE_ERROR_ARGUMENT,
                                "problem %d: numbers must be finite and the rotation a unit quaternion", i);
        }
    }
    cudaError_t e = cudaSetDevice(cuda->device);
    for (int done = 0; done < count && !e;) {
        int part = count - done < cuda->work.capacity ? count - done : cuda->work.capacity;
        e = solve_part(cuda, targets + done, q + (size_t)done * nq, answers ? answers + done : NULL, part);
        done += part;
    }
    return pz_cuda_explain(e, "solving", &cuda->error);
}

// ---- Problems of batch.h -------------------------------------------------------------------------------------------------

static bool is_same(poise_vec3 a, poise_vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static bool is_ours(const poise_cuda *cuda, const poise_problem *problem)
{
    const poise_goal *goal = problem->goals, *own = &cuda->goal;
    return problem->goal_count == 1 && goal && goal->kind == POISE_GOAL_POSE && goal->body == own->body &&
           memcmp(&goal->local, &own->local, sizeof own->local) == 0 && goal->weight == own->weight &&
           goal->rotation_weight == own->rotation_weight && goal->loss == own->loss &&
           is_same(goal->tolerance, own->tolerance) && is_same(goal->rotation_tolerance, own->rotation_tolerance);
}

static void fill(const poise_cuda_answer *answer, poise_report *report)
{
    static const char *const reasons[POISE_OUTCOME_COUNT] = {
        "every goal is met", "no direction within the limits comes closer", "steps no longer change the cost",
        "the iterations were used up"};
    *report = (poise_report){.outcome = answer->outcome,
                             .reason = reasons[answer->outcome],
                             .restarts = answer->restarts,
                             .cost = answer->cost,
                             .worst_length = answer->length,
                             .worst_angle = answer->angle};
}

// Up to STAGED problems from `problems` on; how many were looked at.
static int solve_staged(poise_cuda *cuda, poise_problem *problems, int count, cudaError_t *e)
{
    size_t nq = (size_t)cuda->nq;
    int staged = cuda->work.capacity < STAGED ? cuda->work.capacity : STAGED, seen = 0, taken = 0;
    for (; seen < count && taken < staged; ++seen) {
        poise_problem *p = &problems[seen];
        bool is_right = p->q && is_ours(cuda, p), sound = is_right && is_sound(&p->goals->target) && all_finite(p->q, nq);
        p->status = sound ? POISE_OK : is_right || !p->q ? POISE_ERROR_ARGUMENT : POISE_ERROR_UNSUPPORTED;
        if (sound) {
            cuda->staged_targets[taken] = p->goals->target;
            memcpy(cuda->staged_q + (size_t)taken++ * nq, p->q, nq * sizeof *p->q);
        }
    }
    *e = round_trip(cuda, cuda->staged_targets, cuda->staged_q, cuda->staged_answers, taken);
    for (int i = 0, k = 0; i < seen && !*e; ++i) {
        if (problems[i].status == POISE_OK) {
            memcpy(problems[i].q, cuda->staged_q + (size_t)k * nq, nq * sizeof *problems[i].q);
            fill(&cuda->staged_answers[k++], &problems[i].report);
        }
    }
    return seen;
}

poise_status poise_cuda_solve(poise_cuda *cuda, poise_problem *problems, int count)
{
    if (!cuda) {
        return POISE_ERROR_ARGUMENT;
    }
    cuda->error.text[0] = '\0';
    if (count < 0 || (count > 0 && !problems) || !cuda->targets) {
        return pz_error_set(&cuda->error, POISE_ERROR_ARGUMENT,
                            "problems must not be NULL, count not negative, options.host_memory true");
    }
    cudaError_t e = cudaSetDevice(cuda->device);
    for (int done = 0; done < count && !e;) {
        done += solve_staged(cuda, problems + done, count - done, &e);
    }
    return pz_cuda_explain(e, "solving", &cuda->error);
}
