// Whole bodies with markers on a CUDA device: frames a second, and answers compared with one core of the host.
//
// The scene "humanoid", 58 degrees of freedom and 41 markers. Every frame is on its own: the markers of a random pose within
// the limits, from the T-pose, cold, with up to 20 restarts.
//
//   batches   --frames (100,000) in a call, and fewer
//   noise     with 3 mm of noise on the markers no frame can be met, so that all restarts are used
//
// Times are those of device events around a call, all in device memory, the median of --rounds. The first frames are solved
// on one core, too, in lanes (poise_batch_solve): answers and reports must have the same bits.
#include "bench_device.h"

#include <poise/batch.h>
#include <poise/cuda.h>
#include <poise/kinematics.h>
#include <scenes/random.h>
#include <scenes/scenes.h>

#include <stdlib.h>
#include <string.h>

#define SCENE    "humanoid"
#define RESTARTS 20
#define NOISE    0.003 // metres
#define SEED     20

typedef struct frames {
    poise_model *model;
    scene_marker *markers;
    int marker_count, nq, count;
    poise_vec3 *targets; // count x marker_count
    double *start;       // nq: the T-pose
    double *q;           // count x nq
    poise_cuda_tree_answer *answers;
    poise_cuda *tree;
    // on the device
    poise_vec3 *device_targets;
    double *device_starts, *device_q;
    poise_cuda_tree_answer *device_answers;
} frames;

static poise_solver_options solver_options(void)
{
    poise_solver_options options = poise_solver_options_default();
    options.start = POISE_START_COLD;
    options.restarts = RESTARTS;
    options.coupled_goals = 0;
    return options;
}

// ---- Frames --------------------------------------------------------------------------------------------------------------

static void see(frames *f, double noise)
{
    poise_kinematics *kinematics;
    scene_random random = scene_random_make(SEED);
    if (poise_kinematics_create(f->model, NULL, &kinematics, NULL) != POISE_OK) {
        bench_fail("out of memory");
    }
    for (int i = 0; i < f->count; ++i) {
        scene_random_configuration(&random, f->model, f->q);
        poise_kinematics_update(kinematics, f->q, NULL);
        for (int k = 0; k < f->marker_count; ++k) {
            poise_vec3 x = poise_kinematics_point(kinematics, f->markers[k].body, f->markers[k].local);
            x.x += noise * scene_random_normal(&random);
            x.y += noise * scene_random_normal(&random);
            x.z += noise * scene_random_normal(&random);
            f->targets[(size_t)i * (size_t)f->marker_count + (size_t)k] = x;
        }
    }
    poise_kinematics_destroy(kinematics);
}

static void put_frames(frames *f)
{
    size_t many = (size_t)f->count, points = many * (size_t)f->marker_count, nq = (size_t)f->nq;
    f->device_targets = device_take(points, sizeof *f->device_targets);
    f->device_starts = device_take(many * nq, sizeof *f->device_starts);
    f->device_q = device_take(many * nq, sizeof *f->device_q);
    f->device_answers = device_take(many, sizeof *f->device_answers);
    for (size_t i = 0; i < many; ++i) {
        memcpy(f->q + i * nq, f->start, nq * sizeof *f->q);
    }
    device_put(f->device_targets, f->targets, points * sizeof *f->targets);
    device_put(f->device_starts, f->q, many * nq * sizeof *f->q);
}

static void open_device(frames *f)
{
    poise_cuda_options options = poise_cuda_options_default();
    poise_goal *goals = bench_take((size_t)f->marker_count, sizeof *goals);
    poise_error error = {.text = ""};
    for (int k = 0; k < f->marker_count; ++k) {
        goals[k] = poise_goal_position(f->markers[k].body, f->markers[k].local, f->targets[k]);
    }
    options.solver = solver_options();
    options.capacity = f->count;
    options.host_memory = false;
    if (poise_cuda_create(f->model, goals, f->marker_count, &options, &f->tree, &error) != POISE_OK) {
        bench_fail("%s", error.text);
    }
    free(goals);
}

static frames make_frames(int count, double noise)
{
    frames f = {.count = count, .marker_count = scene_marker_count(SCENE)};
    poise_error error = {.text = ""};
    if (scene_create(SCENE, NULL, &f.model, &error) != POISE_OK) {
        bench_fail("%s", error.text);
    }
    f.nq = poise_model_info(f.model).nq;
    f.markers = bench_take((size_t)f.marker_count, sizeof *f.markers);
    scene_markers(SCENE, f.markers, f.marker_count);
    f.targets = bench_take((size_t)count * (size_t)f.marker_count, sizeof *f.targets);
    f.start = bench_take((size_t)f.nq, sizeof *f.start);
    f.q = bench_take((size_t)count * (size_t)f.nq, sizeof *f.q);
    f.answers = bench_take((size_t)count, sizeof *f.answers);
    poise_model_neutral(f.model, f.start);
    see(&f, noise);
    put_frames(&f);
    open_device(&f);
    return f;
}

static void free_frames(frames *f)
{
    poise_cuda_destroy(f->tree);
    cudaFree(f->device_targets), cudaFree(f->device_starts), cudaFree(f->device_q), cudaFree(f->device_answers);
    poise_model_destroy(f->model);
    free(f->markers), free(f->targets), free(f->start), free(f->q), free(f->answers);
}

// ---- The device ----------------------------------------------------------------------------------------------------------

// Milliseconds of a call for the first `size` frames, the median; their answers are fetched.
static double time_device(frames *f, int size, int rounds)
{
    double times[DEVICE_MOST_ROUNDS];
    size_t bytes = (size_t)size * (size_t)f->nq * sizeof *f->q;
    cudaEvent_t begin, end;
    device_check(cudaEventCreate(&begin), "an event");
    device_check(cudaEventCreate(&end), "an event");
    for (int i = 0; i < rounds; ++i) {
        float ms;
        poise_error error = {.text = ""};
        device_check(cudaMemcpy(f->device_q, f->device_starts, bytes, cudaMemcpyDeviceToDevice), "starts");
        device_check(cudaEventRecord(begin, NULL), "an event");
        if (poise_cuda_queue_markers(f->tree, f->device_targets, NULL, f->device_q, f->device_answers, size, NULL, &error) !=
            POISE_OK) {
            bench_fail("%s", error.text);
        }
        device_check(cudaEventRecord(end, NULL), "an event");
        device_check(cudaEventSynchronize(end), "solving");
        device_check(cudaEventElapsedTime(&ms, begin, end), "an event");
        times[i] = (double)ms;
    }
    device_get(f->q, f->device_q, bytes);
    device_get(f->answers, f->device_answers, (size_t)size * sizeof *f->answers);
    cudaEventDestroy(begin), cudaEventDestroy(end);
    return device_median(times, rounds);
}

// ---- One core ------------------------------------------------------------------------------------------------------------

typedef struct host {
    int count;
    poise_goal *goals;
    double *q;
    poise_problem *problems;
    double us; // a frame
} host;

// The first `count` frames.
static host solve_on_host(const frames *f, int count)
{
    size_t many = (size_t)count, markers = (size_t)f->marker_count, nq = (size_t)f->nq;
    host h = {.count = count, .goals = bench_take(many * markers, sizeof *h.goals)};
    h.q = bench_take(many * nq, sizeof *h.q);
    h.problems = bench_take(many, sizeof *h.problems);
    for (size_t i = 0; i < many; ++i) {
        memcpy(h.q + i * nq, f->start, nq * sizeof *h.q);
        for (size_t k = 0; k < markers; ++k) {
            h.goals[i * markers + k] =
                poise_goal_position(f->markers[k].body, f->markers[k].local, f->targets[i * markers + k]);
        }
        h.problems[i] = (poise_problem){.goals = h.goals + i * markers, .goal_count = f->marker_count, .q = h.q + i * nq};
    }
    poise_batch_options options = poise_batch_options_default();
    poise_batch *batch;
    options.solver = solver_options();
    if (poise_batch_create(f->model, &options, NULL, &batch, NULL) != POISE_OK) {
        bench_fail("no batch");
    }
    double start = bench_now();
    poise_batch_solve(batch, h.problems, count, NULL);
    h.us = (bench_now() - start) * 1e-3 / count;
    poise_batch_destroy(batch);
    return h;
}

static void free_host(host *h)
{
    free(h->goals), free(h->q), free(h->problems);
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static bool same_answer(const poise_report *r, const poise_cuda_tree_answer *a)
{
    return r->outcome == a->outcome && r->iterations == a->iterations && r->evaluations == a->evaluations &&
           r->restarts == a->restarts && r->active_limits == a->active_limits && r->moved_joints == a->moved_joints &&
           same_bits(r->start_cost, a->start_cost) && same_bits(r->cost, a->cost) && same_bits(r->gradient, a->gradient) &&
           same_bits(r->distance, a->distance) && same_bits(r->worst_length, a->worst_length);
}

// How many of the first `count` answers of the device have other bits.
static int count_others(const frames *f, const host *h, int count)
{
    int others = 0;
    for (int i = 0; i < count; ++i) {
        size_t at = (size_t)i * (size_t)f->nq;
        others += !same_answer(&h->problems[i].report, &f->answers[i]) ||
                  memcmp(h->q + at, f->q + at, (size_t)f->nq * sizeof *f->q) != 0;
    }
    return others;
}

// ---- Tables --------------------------------------------------------------------------------------------------------------

static void add_row(const bench *b, frames *f, const host *h, int size, int rounds)
{
    double ms = time_device(f, size, rounds), reached = 0.0, iterations = 0.0;
    int compared = h->count < size ? h->count : size, others = count_others(f, h, compared);
    char name[32];
    for (int i = 0; i < size; ++i) {
        reached += f->answers[i].outcome == POISE_OUTCOME_REACHED;
        iterations += f->answers[i].iterations;
    }
    snprintf(name, sizeof name, "%d", size);
    report_row(b->report, name, "poise",
               REPORT_VALUES(size, 100.0 * reached / size, iterations / size, compared, others == 0, ms, size / ms * 1e3,
                             h->us, h->us * 1e-3 * size / ms));
    report_promise(b->report, others == 0, "%d of %d answers have other bits than on the host", others, compared);
}

void suite_gpu_markers(const bench *b)
{
    static const report_column columns[] = {
        {"batch", "batch", 0, REPORT_FIXED, true},           {"reached", "reached %", 2, REPORT_FIXED, false},
        {"iterations", "iter.", 1, REPORT_FIXED, false},     {"compared", "compared", 0, REPORT_FIXED, true},
        {"same_bits", "same bits", 0, REPORT_YES, false},    {"ms", "call ms", 2, REPORT_FIXED, false},
        {"per_second", "frames /s", 0, REPORT_FIXED, false}, {"us_core", "one-core us", 1, REPORT_FIXED, false},
        {"ratio", "of one-core", 2, REPORT_TIMES, false}};
    static const report_table tables[2] = {{"batches", "Frames in a call, markers without noise", "frames", columns, 9},
                                           {"noise", "With 3 mm of noise, all restarts used", "frames", columns, 9}};
    static const int sizes[] = {1, 32, 1000, 10000};
    if (!device_begin(b)) {
        return;
    }
    int most = bench_number(b, "--frames", 100000, 1000), rounds = bench_number(b, "--rounds", 3, 1);
    int sample = b->is_quick ? 20 : 300;
    rounds = rounds > DEVICE_MOST_ROUNDS ? DEVICE_MOST_ROUNDS : rounds;
    report_note(b->report, "Each frame on its own, cold from the T-pose, up to %d restarts; median of %d.", RESTARTS,
                rounds);
    for (int k = 0; k < 2; ++k) {
        if (!bench_wants(b, tables[k].name)) {
            continue;
        }
        report_begin_table(b->report, &tables[k]);
        int count = k == 0 || most < 10000 ? most : 10000;
        frames f = make_frames(count, k ? NOISE : 0.0);
        host h = solve_on_host(&f, count < sample ? count : sample / (k ? 10 : 1));
        for (size_t i = 0; k == 0 && i < sizeof sizes / sizeof sizes[0] && sizes[i] < count; ++i) {
            bench_progress(b, "a batch");
            add_row(b, &f, &h, sizes[i], rounds);
        }
        add_row(b, &f, &h, count, k ? 1 : rounds);
        free_host(&h);
        free_frames(&f);
    }
}
