// Whole bodies with markers on a CUDA device: frames a second, and answers judged on the host.
//
// The scene "humanoid", 58 degrees of freedom and 41 markers. Every frame is on its own: the markers of a random pose within
// the limits.
//
//   cold        from the T-pose, up to 20 restarts; --frames (100,000) in a call, and fewer, and ten times as many
//   warm        from a pose beside it, each coordinate within 0.1 rad or 0.1 m, no restarts
//   noise       cold, with 3 mm of noise on the markers: no frame can be met, so that all restarts are used
//   noise-warm  the same, warm
//
// Times are those of device events around a call, all in device memory, the median of --rounds. A million frames are 100,000
// ten times. The first frames are judged: limits and distances by a forward kinematics on the host, apart from the kernels;
// of those that are not reached, whether poise_solve, begun at the answer, lowers the cost by more than 1e-9 of it. The
// first ones are solved on one core, too, in lanes (poise_batch_solve), for its time.
#include "bench_device.h"

#include <poise/batch.h>
#include <poise/cuda.h>
#include <poise/kinematics.h>
#include <poise/solve.h>
#include <scenes/random.h>
#include <scenes/scenes.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCENE     "humanoid"
#define RESTARTS  20
#define NOISE     0.003 // metres
#define BESIDE    0.1   // rad or m, of warm starts
#define SEED      20
#define JUDGED    20000 // frames of a row
#define DISTINCT  100000
#define TOLERANCE 1e-6 // metres: the default of options
#define FALLS     1e-9 // share of the cost

typedef struct frame_kind {
    const char *name, *title;
    bool is_warm, has_noise;
    int most; // frames in a call; 0: ten times --frames
} frame_kind;

typedef struct frames {
    const frame_kind *kind;
    poise_model *model;
    scene_marker *markers;
    int marker_count, nq, count;
    int size;            // frames of a call
    poise_vec3 *targets; // count x marker_count
    double *starts;      // count x nq
    double *q;           // the same
    poise_cuda_tree_answer *answers;
    poise_cuda *tree;
    // on the device
    poise_vec3 *device_targets;
    double *device_starts, *device_q;
    poise_cuda_tree_answer *device_answers;
} frames;

static poise_solver_options solver_options(const frame_kind *kind)
{
    poise_solver_options options = poise_solver_options_default();
    options.start = kind->is_warm ? POISE_START_WARM : POISE_START_COLD;
    options.restarts = kind->is_warm ? 0 : RESTARTS;
    options.coupled_goals = 0;
    return options;
}

// ---- Frames --------------------------------------------------------------------------------------------------------------

// One frame: targets and start, from the pose q, which is spoilt.
static void see_frame(frames *f, int i, poise_kinematics *kinematics, scene_random *random, double *v, double *q)
{
    double noise = f->kind->has_noise ? NOISE : 0.0;
    poise_kinematics_update(kinematics, q, NULL);
    for (int k = 0; k < f->marker_count; ++k) {
        poise_vec3 x = poise_kinematics_point(kinematics, f->markers[k].body, f->markers[k].local);
        x.x += noise * scene_random_normal(random);
        x.y += noise * scene_random_normal(random);
        x.z += noise * scene_random_normal(random);
        f->targets[(size_t)i * (size_t)f->marker_count + (size_t)k] = x;
    }
    double *start = f->starts + (size_t)i * (size_t)f->nq;
    poise_model_neutral(f->model, start);
    if (f->kind->is_warm) {
        for (int k = 0; k < poise_model_info(f->model).nv; ++k) {
            v[k] = BESIDE * (2.0 * scene_random_uniform(random) - 1.0);
        }
        poise_retract(f->model, q, v, start, NULL);
        poise_model_clamp(f->model, start, NULL, NULL);
    }
}

static void see(frames *f)
{
    poise_kinematics *kinematics;
    scene_random random = scene_random_make(SEED);
    double *q = bench_take((size_t)f->nq, sizeof *q), *v = bench_take((size_t)f->nq, sizeof *v);
    size_t markers = (size_t)f->marker_count, nq = (size_t)f->nq;
    if (poise_kinematics_create(f->model, NULL, &kinematics, NULL) != POISE_OK) {
        bench_fail("out of memory");
    }
    for (int i = 0; i < f->count && i < DISTINCT; ++i) {
        scene_random_configuration(&random, f->model, q);
        see_frame(f, i, kinematics, &random, v, q);
    }
    for (size_t i = DISTINCT; i < (size_t)f->count; ++i) {
        memcpy(f->targets + i * markers, f->targets + (i - DISTINCT) * markers, markers * sizeof *f->targets);
        memcpy(f->starts + i * nq, f->starts + (i - DISTINCT) * nq, nq * sizeof *f->starts);
    }
    poise_kinematics_destroy(kinematics);
    free(q), free(v);
}

static void put_frames(frames *f)
{
    size_t many = (size_t)f->count, points = many * (size_t)f->marker_count, nq = (size_t)f->nq;
    f->device_targets = device_take(points, sizeof *f->device_targets);
    f->device_starts = device_take(many * nq, sizeof *f->device_starts);
    f->device_q = device_take(many * nq, sizeof *f->device_q);
    f->device_answers = device_take(many, sizeof *f->device_answers);
    device_put(f->device_targets, f->targets, points * sizeof *f->targets);
    device_put(f->device_starts, f->starts, many * nq * sizeof *f->q);
}

static void open_device(frames *f)
{
    poise_cuda_options options = poise_cuda_options_default();
    poise_goal *goals = bench_take((size_t)f->marker_count, sizeof *goals);
    poise_error error = {.text = ""};
    for (int k = 0; k < f->marker_count; ++k) {
        goals[k] = poise_goal_position(f->markers[k].body, f->markers[k].local, f->targets[k]);
    }
    options.solver = solver_options(f->kind);
    options.capacity = f->count;
    options.host_memory = false;
    if (poise_cuda_create(f->model, goals, f->marker_count, &options, &f->tree, &error) != POISE_OK) {
        bench_fail("%s", error.text);
    }
    free(goals);
}

static frames make_frames(const frame_kind *kind, int count)
{
    frames f = {.kind = kind, .count = count, .marker_count = scene_marker_count(SCENE)};
    poise_error error = {.text = ""};
    if (scene_create(SCENE, NULL, &f.model, &error) != POISE_OK) {
        bench_fail("%s", error.text);
    }
    f.nq = poise_model_info(f.model).nq;
    f.markers = bench_take((size_t)f.marker_count, sizeof *f.markers);
    scene_markers(SCENE, f.markers, f.marker_count);
    f.targets = bench_take((size_t)count * (size_t)f.marker_count, sizeof *f.targets);
    f.starts = bench_take((size_t)count * (size_t)f.nq, sizeof *f.starts);
    f.q = bench_take((size_t)count * (size_t)f.nq, sizeof *f.q);
    f.answers = bench_take((size_t)count, sizeof *f.answers);
    see(&f);
    put_frames(&f);
    open_device(&f);
    return f;
}

static void free_frames(frames *f)
{
    poise_cuda_destroy(f->tree);
    cudaFree(f->device_targets), cudaFree(f->device_starts), cudaFree(f->device_q), cudaFree(f->device_answers);
    poise_model_destroy(f->model);
    free(f->markers), free(f->targets), free(f->starts), free(f->q), free(f->answers);
}

// ---- The device ----------------------------------------------------------------------------------------------------------

static void put_starts(void *user)
{
    frames *f = user;
    size_t bytes = (size_t)f->size * (size_t)f->nq * sizeof *f->q;
    device_check(cudaMemcpy(f->device_q, f->device_starts, bytes, cudaMemcpyDeviceToDevice), "starts");
}

static void solve(void *user)
{
    frames *f = user;
    poise_error error = {.text = ""};
    if (poise_cuda_queue_markers(f->tree, f->device_targets, NULL, f->device_q, f->device_answers, f->size, NULL, &error) !=
        POISE_OK) {
        bench_fail("%s", error.text);
    }
}

// Milliseconds of a call for the first `size` frames, the median; their answers are fetched.
static double time_device(frames *f, int size, int rounds)
{
    f->size = size;
    double ms = device_time(rounds, put_starts, solve, f);
    device_get(f->q, f->device_q, (size_t)size * (size_t)f->nq * sizeof *f->q);
    device_get(f->answers, f->device_answers, (size_t)size * sizeof *f->answers);
    return ms;
}

// ---- One core ------------------------------------------------------------------------------------------------------------

// Microseconds a frame, for the first `count`.
static double time_on_host(const frames *f, int count)
{
    size_t many = (size_t)count, markers = (size_t)f->marker_count, nq = (size_t)f->nq;
    poise_goal *goals = bench_take(many * markers, sizeof *goals);
    double *q = bench_take(many * nq, sizeof *q);
    poise_problem *problems = bench_take(many, sizeof *problems);
    memcpy(q, f->starts, many * nq * sizeof *q);
    for (size_t i = 0; i < many; ++i) {
        for (size_t k = 0; k < markers; ++k) {
            goals[i * markers + k] =
                poise_goal_position(f->markers[k].body, f->markers[k].local, f->targets[i * markers + k]);
        }
        problems[i] = (poise_problem){.goals = goals + i * markers, .goal_count = f->marker_count, .q = q + i * nq};
    }
    poise_batch_options options = poise_batch_options_default();
    poise_batch *batch;
    options.solver = solver_options(f->kind);
    if (poise_batch_create(f->model, &options, NULL, &batch, NULL) != POISE_OK) {
        bench_fail("no batch");
    }
    double start = bench_now();
    poise_batch_solve(batch, problems, count, NULL);
    double us = (bench_now() - start) * 1e-3 / count;
    poise_batch_destroy(batch);
    free(goals), free(q), free(problems);
    return us;
}

// ---- Judging -------------------------------------------------------------------------------------------------------------

typedef struct judge {
    poise_kinematics *kinematics;
    poise_solver *solver;
    poise_goal *goals;
    double *q;
} judge;

static judge open_judge(const frames *f)
{
    judge j = {.goals = bench_take((size_t)f->marker_count, sizeof *j.goals)};
    poise_solver_options options = poise_solver_options_default();
    j.q = bench_take((size_t)f->nq, sizeof *j.q);
    if (poise_kinematics_create(f->model, NULL, &j.kinematics, NULL) != POISE_OK ||
        poise_solver_create(f->model, &options, NULL, &j.solver, NULL) != POISE_OK) {
        bench_fail("out of memory");
    }
    return j;
}

static void close_judge(judge *j)
{
    poise_kinematics_destroy(j->kinematics);
    poise_solver_destroy(j->solver);
    free(j->goals), free(j->q);
}

static double worst_of(const frames *f, const judge *j, int i)
{
    double worst = 0.0;
    poise_kinematics_update(j->kinematics, f->q + (size_t)i * (size_t)f->nq, NULL);
    for (int k = 0; k < f->marker_count; ++k) {
        poise_vec3 x = poise_kinematics_point(j->kinematics, f->markers[k].body, f->markers[k].local);
        poise_vec3 t = f->targets[(size_t)i * (size_t)f->marker_count + (size_t)k];
        double square = (x.x - t.x) * (x.x - t.x) + (x.y - t.y) * (x.y - t.y) + (x.z - t.z) * (x.z - t.z);
        worst = square <= worst ? worst : square;
    }
    return sqrt(worst);
}

// Does poise_solve find a lower cost from the answer?
static bool falls(const frames *f, const judge *j, int i)
{
    poise_report report;
    memcpy(j->q, f->q + (size_t)i * (size_t)f->nq, (size_t)f->nq * sizeof *j->q);
    for (int k = 0; k < f->marker_count; ++k) {
        j->goals[k] = poise_goal_position(f->markers[k].body, f->markers[k].local,
                                          f->targets[(size_t)i * (size_t)f->marker_count + (size_t)k]);
    }
    poise_solve(j->solver, j->goals, f->marker_count, j->q, &report, NULL);
    return report.start_cost - report.cost > FALLS * report.start_cost;
}

// Answers among the first `count` that are not what they say: outside the limits, reached and not near, closest and not.
static int count_wrong(const frames *f, int count)
{
    int wrong = 0;
    judge j = open_judge(f);
    for (int i = 0; i < count; ++i) {
        poise_outcome outcome = f->answers[i].outcome;
        bool is_wrong = !poise_model_within_limits(f->model, f->q + (size_t)i * (size_t)f->nq);
        is_wrong = is_wrong || (outcome == POISE_OUTCOME_REACHED && worst_of(f, &j, i) > TOLERANCE);
        wrong += is_wrong || (outcome == POISE_OUTCOME_CLOSEST && falls(f, &j, i));
    }
    close_judge(&j);
    return wrong;
}

// ---- Tables --------------------------------------------------------------------------------------------------------------

static void add_row(const bench *b, frames *f, double us_core, int size, int rounds)
{
    double ms = time_device(f, size, rounds), reached = 0.0, closest = 0.0, iterations = 0.0;
    int judged = JUDGED < size ? JUDGED : size, wrong = count_wrong(f, judged);
    char name[32];
    for (int i = 0; i < size; ++i) {
        reached += f->answers[i].outcome == POISE_OUTCOME_REACHED;
        closest += f->answers[i].outcome == POISE_OUTCOME_CLOSEST;
        iterations += f->answers[i].iterations;
    }
    snprintf(name, sizeof name, "%d", size);
    report_row(b->report, name, "poise",
               REPORT_VALUES(size, 100.0 * reached / size, 100.0 * (size - reached - closest) / size, iterations / size,
                             judged, wrong, ms, size / ms * 1e3, us_core, us_core * 1e-3 * size / ms));
    report_promise(b->report, wrong == 0, "%d of %d answers are not what they are said to be", wrong, judged);
}

static void add_table(const bench *b, const report_table *table, const frame_kind *kind, int frames_asked, int rounds)
{
    static const int sizes[] = {1, 1000, 10000, 100000};
    int most = kind->most > 0 && kind->most < frames_asked ? kind->most : frames_asked, count = most;
    if (kind->most == 0 && !b->is_quick) {
        count = most <= INT32_MAX / 10 ? 10 * most : most;
    }
    report_begin_table(b->report, table);
    frames f = make_frames(kind, count);
    int sample = b->is_quick ? 20 : kind->has_noise ? 30 : 300;
    double us_core = time_on_host(&f, count < sample ? count : sample);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && sizes[i] < count; ++i) {
        bench_progress(b, "a batch");
        add_row(b, &f, us_core, sizes[i], rounds);
    }
    add_row(b, &f, us_core, count, rounds);
    free_frames(&f);
}

void suite_gpu_markers(const bench *b)
{
    static const report_column columns[] = {
        {"batch", "batch", 0, REPORT_FIXED, true},          {"reached", "reached %", 2, REPORT_FIXED, false},
        {"open", "not conv. %", 3, REPORT_FIXED, false},    {"iterations", "iter.", 1, REPORT_FIXED, false},
        {"judged", "judged", 0, REPORT_FIXED, true},        {"wrong", "wrong", 0, REPORT_FIXED, true},
        {"ms", "call ms", 3, REPORT_FIXED, false},          {"per_second", "frames /s", 0, REPORT_FIXED, false},
        {"us_core", "one-core us", 1, REPORT_FIXED, false}, {"ratio", "of one-core", 2, REPORT_TIMES, false}};
    static const frame_kind kinds[] = {{"cold", "Cold from the T-pose, up to 20 restarts", false, false, 0},
                                       {"warm", "Warm, within 0.1 rad and m", true, false, 0},
                                       {"noise", "With 3 mm of noise, cold: all restarts are used", false, true, 10000},
                                       {"noise-warm", "With 3 mm of noise, warm", true, true, 100000}};
    static report_table tables[sizeof kinds / sizeof kinds[0]]; // the report keeps them
    if (!device_begin(b)) {
        return;
    }
    int most = bench_number(b, "--frames", 100000, 1000), rounds = bench_number(b, "--rounds", 3, 1);
    rounds = rounds > DEVICE_MOST_ROUNDS ? DEVICE_MOST_ROUNDS : rounds;
    report_note(b->report, "Each frame on its own; median of %d.", rounds);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; ++k) {
        tables[k] = (report_table){kinds[k].name, kinds[k].title, "frames", columns, 10};
        if (bench_wants(b, tables[k].name)) {
            add_table(b, &tables[k], &kinds[k], most, rounds);
        }
    }
}
