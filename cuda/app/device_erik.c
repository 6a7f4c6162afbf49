// Samples of ERIK's evaluation on a CUDA device.
//
// Postures at all orientations are summed up on the device; samples that are drawn, and those whose histograms have other
// bins than the device's, come back one by one and are added here, in the order of the host's.
#include "cuda_device.h"

#include "cli/terminal.h"

#include "lib/cuda_evaluate.h"
#include <cuda_runtime_api.h>

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MOST 262144 // samples of a call

typedef struct made {
    const evaluate_problem *problem;
    poise_cuda *erik;
} made;

static struct {
    struct cudaDeviceProp device;
    made all[EVALUATE_SKELETONS];
    int count;
    bool has_failed;
    pthread_mutex_t lock; // the device serves one at a time
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

// ---- The device ----------------------------------------------------------------------------------------------------------

static bool begin(void)
{
    if (poise_cuda_device_count() == 0) {
        complain("there is no CUDA device, or no driver for it; without --device cuda the processors do the work");
        return false;
    }
    cudaError_t error = cudaGetDeviceProperties(&state.device, 0);
    if (error != cudaSuccess) {
        complain("the CUDA device: %s", cudaGetErrorString(error));
        return false;
    }
    return true;
}

static const char *name(void)
{
    return state.device.name;
}

static void release(void)
{
    for (int i = 0; i < state.count; ++i) {
        poise_cuda_destroy(state.all[i].erik);
    }
    state.count = 0;
}

// One line for all threads and parts.
static bool fail(const char *why)
{
    if (!state.has_failed) {
        complain("the CUDA device: %s", why);
        state.has_failed = true;
    }
    return false;
}

// Under the lock. NULL after one line on standard error.
static poise_cuda *erik_of(const evaluate_problem *problem)
{
    for (int i = 0; i < state.count; ++i) {
        if (state.all[i].problem == problem) {
            return state.all[i].erik;
        }
    }
    poise_error error = {.text = ""};
    poise_cuda *erik;
    if (state.count == EVALUATE_SKELETONS) {
        release();
    }
    if (poise_cuda_create_erik(problem->model, &problem->options, 0, MOST, MOST, &erik, &error) != POISE_OK) {
        fail(error.text);
        return NULL;
    }
    state.all[state.count++] = (made){problem, erik};
    return erik;
}

// ---- Samples one by one --------------------------------------------------------------------------------------------------

typedef struct list {
    double *postures, *q;
    poise_quat *targets;
    poise_cuda_posture_answer *answers;
} list;

static bool solve_list(const evaluate_problem *problem, const list *l, int64_t count, double *us)
{
    pthread_mutex_lock(&state.lock);
    double start = seconds_now();
    poise_cuda *erik = erik_of(problem);
    bool works = erik != NULL;
    poise_error error = {.text = ""};
    if (works && poise_cuda_solve_postures(erik, l->postures, l->targets, l->q, l->answers, count, &error) != POISE_OK) {
        works = fail(error.text);
    }
    *us = (seconds_now() - start) * 1e6 / (double)count;
    pthread_mutex_unlock(&state.lock);
    return works;
}

// Samples from `first` on.
static bool solve_some(const evaluate_stretch *s, const list *l, int64_t first, int64_t count, evaluate_results *results)
{
    int nq = poise_model_info(s->problem->model).nq;
    double us;
    for (int64_t i = 0; i < count; ++i) {
        int64_t posture, orientation;
        evaluate_stretch_at(s, first + i, &posture, &orientation);
        evaluate_posture(s->problem, posture, l->postures + i * nq);
        l->targets[i] = s->problem->orientations[orientation];
    }
    memcpy(l->q, l->postures, (size_t)(count * nq) * sizeof *l->q);
    if (!solve_list(s->problem, l, count, &us)) {
        return false;
    }
    for (int64_t i = 0; i < count; ++i) {
        const poise_cuda_posture_answer *a = &l->answers[i];
        poise_erik_report report = {
            .error = a->error, .orientation = a->goal, .posture = a->posture, .iterations = a->iterations};
        evaluate_add(s->problem, &report, l->q + i * nq, us, results);
    }
    return true;
}

static bool solve_samples(const evaluate_stretch *s, evaluate_results *results)
{
    int64_t count = evaluate_stretch_count(s), room = count < MOST ? count : MOST;
    size_t numbers = (size_t)(room * poise_model_info(s->problem->model).nq);
    list l = {.postures = malloc(numbers * sizeof *l.postures),
              .q = malloc(numbers * sizeof *l.q),
              .targets = malloc((size_t)room * sizeof *l.targets),
              .answers = malloc((size_t)room * sizeof *l.answers)};
    bool works = l.postures && l.q && l.targets && l.answers;
    if (!works) {
        complain("no memory left");
    }
    for (int64_t first = 0; first < count && works; first += room) {
        works = solve_some(s, &l, first, count - first < room ? count - first : room, results);
    }
    free(l.postures);
    free(l.q);
    free(l.targets);
    free(l.answers);
    return works;
}

// ---- Postures at all orientations ----------------------------------------------------------------------------------------

static evaluate_statistics statistics_of(const pz_cuda_statistics *s, double width)
{
    evaluate_statistics to = {.count = s->count, .mean = s->mean, .squares = s->squares, .width = width};
    to.least = s->least, to.most = s->most;
    memcpy(to.bins, s->bins, sizeof to.bins);
    return to;
}

_Static_assert(EVALUATE_BINS == PZ_CUDA_BINS, "histograms are copied");

static bool solve_whole(const evaluate_stretch *s, evaluate_results *results)
{
    const evaluate_problem *problem = s->problem;
    int nq = poise_model_info(problem->model).nq;
    int64_t count = s->to - s->from;
    double *postures = malloc((size_t)(count * nq) * sizeof *postures);
    if (!postures) {
        complain("no memory left");
        return false;
    }
    for (int64_t i = 0; i < count; ++i) {
        evaluate_posture(problem, s->from + i, postures + i * nq);
    }
    pz_cuda_erik_summary sum;
    pthread_mutex_lock(&state.lock);
    double start = seconds_now();
    poise_cuda *erik = erik_of(problem);
    bool works = erik != NULL;
    poise_error error = {.text = ""};
    if (works && pz_cuda_evaluate(erik, postures, count, problem->orientations, problem->orientation_count, &sum, &error) !=
                     POISE_OK) {
        works = fail(error.text);
    }
    double us = (seconds_now() - start) * 1e6 / (double)evaluate_stretch_count(s);
    pthread_mutex_unlock(&state.lock);
    free(postures);
    if (works) {
        evaluate_statistics time = {.count = sum.error.count, .mean = us, .least = us, .most = us};
        evaluate_results more = {.error = statistics_of(&sum.error, PZ_CUDA_BIN),
                                 .orientation = statistics_of(&sum.orientation, PZ_CUDA_BIN),
                                 .posture = statistics_of(&sum.posture, PZ_CUDA_BIN),
                                 .iterations = statistics_of(&sum.iterations, 1.0),
                                 .time = time,
                                 .reached = sum.reached,
                                 .aimed = sum.aimed,
                                 .violations = sum.outside};
        more.time.bins[us < EVALUATE_BINS ? (int)us : EVALUATE_BINS] = sum.error.count; // of a microsecond each
        evaluate_results_merge(results, &more);
    }
    return works;
}

static bool solve_erik(const evaluate_stretch *samples, evaluate_results *results)
{
    bool has_bins = fabs(results->error.width - PZ_CUDA_BIN) < 1e-12;
    return samples->is_whole && has_bins ? solve_whole(samples, results) : solve_samples(samples, results);
}

const device cuda_device = {begin, name, solve_erik, release};
