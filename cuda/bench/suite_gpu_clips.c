// Clips on a CUDA device: frames one after another, many clips at once.
//
// The scene "humanoid", 58 degrees of freedom and 41 markers with 3 mm of noise: clips of 300 frames at 120 a second, of all
// motions, begun at different frames. Each begins beside its first pose. Times are those of device events around a call, all
// in device memory, the median of --rounds. Clips that differ are judged frame by frame against poise_solve on one core,
// begun at the device's frame before: limits, how far markers are apart, and the share of frames whose costs differ by more
// than 1e-9 of themselves.
#include "bench_device.h"

#include <poise/cuda.h>
#include <poise/kinematics.h>
#include <poise/solve.h>
#include <scenes/recording.h>
#include <scenes/scenes.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCENE    "humanoid"
#define NOISE    0.003 // metres
#define FRAMES   300   // of a clip
#define DISTINCT 32    // clips
#define APART    1e-6  // metres
#define COSTS    1e-9  // share

typedef struct library {
    poise_model *model;
    scene_marker *places;
    int markers, nq, count; // clips
    int clips;              // of a call
    poise_vec3 *targets;    // of the distinct clips
    double *starts, *q;     // nq of each distinct clip; of all their frames
    poise_cuda_tree_answer *answers;
    poise_cuda *cuda;
    // on the device
    int *begin;
    poise_vec3 *device_targets;
    double *device_q;
    poise_cuda_tree_answer *device_answers;
} library;

static poise_solver_options options_of_frames(void)
{
    poise_solver_options options = poise_solver_options_default();
    options.coupled_goals = 0;
    return options;
}

// ---- Clips ---------------------------------------------------------------------------------------------------------------

static void record(library *l)
{
    size_t frame = (size_t)l->markers, nq = (size_t)l->nq;
    for (int i = 0; i < DISTINCT; ++i) {
        scene_recording how = scene_recording_default();
        poise_clip *clip;
        poise_markers *seen;
        const char *motion = scene_motion_name(i % scene_motion_count());
        how.noise = NOISE;
        how.seed = 100 + (uint64_t)i;
        how.periods = 1 + (int)((FRAMES + 8 * DISTINCT) / (how.rate * scene_motion_duration(motion)));
        if (scene_record(l->model, SCENE, motion, &how, &clip, &seen) != POISE_OK) {
            bench_fail("%s could not be recorded", motion);
        }
        size_t first = (size_t)(8 * i);
        memcpy(l->targets + (size_t)i * FRAMES * frame, seen->position + first * frame, FRAMES * frame * sizeof *l->targets);
        memcpy(l->starts + (size_t)i * nq, clip->q + (first + 1) * nq, nq * sizeof *l->starts);
        poise_clip_destroy(clip);
        poise_markers_destroy(seen);
    }
}

static void put(library *l)
{
    size_t many = (size_t)l->count, part = FRAMES * (size_t)l->markers;
    int *begin = bench_take(many + 1, sizeof *begin);
    l->begin = device_take(many + 1, sizeof *l->begin);
    l->device_targets = device_take(many * part, sizeof *l->device_targets);
    l->device_q = device_take(many * FRAMES * (size_t)l->nq, sizeof *l->device_q);
    l->device_answers = device_take(many * FRAMES, sizeof *l->device_answers);
    for (size_t i = 0; i <= many; ++i) {
        begin[i] = (int)i * FRAMES;
    }
    device_put(l->begin, begin, (many + 1) * sizeof *begin);
    for (size_t i = 0; i < many; ++i) {
        device_put(l->device_targets + i * part, l->targets + i % DISTINCT * part, part * sizeof *l->targets);
    }
    free(begin);
}

static library make(int count)
{
    library l = {.count = count, .markers = scene_marker_count(SCENE)};
    poise_cuda_options options = poise_cuda_options_default();
    poise_error error = {.text = ""};
    if (scene_create(SCENE, NULL, &l.model, &error) != POISE_OK) {
        bench_fail("%s", error.text);
    }
    l.nq = poise_model_info(l.model).nq;
    l.places = bench_take((size_t)l.markers, sizeof *l.places);
    l.targets = bench_take(DISTINCT * FRAMES * (size_t)l.markers, sizeof *l.targets);
    l.starts = bench_take(DISTINCT * (size_t)l.nq, sizeof *l.starts);
    l.q = bench_take(DISTINCT * FRAMES * (size_t)l.nq, sizeof *l.q);
    l.answers = bench_take(DISTINCT * FRAMES, sizeof *l.answers);
    scene_markers(SCENE, l.places, l.markers);
    record(&l);
    put(&l);
    poise_goal *goals = bench_take((size_t)l.markers, sizeof *goals);
    for (int k = 0; k < l.markers; ++k) {
        goals[k] = poise_goal_position(l.places[k].body, l.places[k].local, l.targets[k]);
    }
    options.solver = options_of_frames();
    options.capacity = 1;
    options.host_memory = false;
    if (poise_cuda_create(l.model, goals, l.markers, &options, &l.cuda, &error) != POISE_OK) {
        bench_fail("%s", error.text);
    }
    free(goals);
    return l;
}

static void release(library *l)
{
    poise_cuda_destroy(l->cuda);
    cudaFree(l->begin), cudaFree(l->device_targets), cudaFree(l->device_q), cudaFree(l->device_answers);
    poise_model_destroy(l->model);
    free(l->places), free(l->targets), free(l->starts), free(l->q), free(l->answers);
}

static void put_starts(void *user)
{
    library *l = user;
    size_t nq = (size_t)l->nq;
    for (size_t i = 0; i < (size_t)l->clips; ++i) {
        device_put(l->device_q + i * FRAMES * nq, l->starts + i % DISTINCT * nq, nq * sizeof *l->starts);
    }
}

static void solve(void *user)
{
    library *l = user;
    poise_error error = {.text = ""};
    if (poise_cuda_queue_clips(l->cuda, l->begin, l->clips, l->device_targets, NULL, l->device_q, l->device_answers,
                               l->clips * FRAMES, NULL, &error) != POISE_OK) {
        bench_fail("%s", error.text);
    }
}

// ---- Judging -------------------------------------------------------------------------------------------------------------

typedef struct verdict {
    int frames, open, outside, others; // others: with another cost
    double apart, us;                  // most; of a frame on one core
} verdict;

static double apart_of(const library *l, poise_kinematics *kinematics, poise_vec3 *places, const double *a, const double *b)
{
    double most = 0.0;
    poise_kinematics_update(kinematics, a, NULL);
    for (int k = 0; k < l->markers; ++k) {
        places[k] = poise_kinematics_point(kinematics, l->places[k].body, l->places[k].local);
    }
    poise_kinematics_update(kinematics, b, NULL);
    for (int k = 0; k < l->markers; ++k) {
        poise_vec3 x = poise_kinematics_point(kinematics, l->places[k].body, l->places[k].local);
        most = fmax(most, hypot(hypot(x.x - places[k].x, x.y - places[k].y), x.z - places[k].z));
    }
    return most;
}

static verdict judge(const library *l, int clips)
{
    verdict v = {.frames = clips * FRAMES};
    poise_solver *solver;
    poise_kinematics *kinematics;
    poise_solver_options options = options_of_frames();
    options.gradient_tolerance = 1e-10;
    poise_goal *goals = bench_take((size_t)l->markers, sizeof *goals);
    poise_vec3 *places = bench_take((size_t)l->markers, sizeof *places);
    double *q = bench_take((size_t)l->nq, sizeof *q), spent = 0.0;
    if (poise_solver_create(l->model, &options, NULL, &solver, NULL) != POISE_OK ||
        poise_kinematics_create(l->model, NULL, &kinematics, NULL) != POISE_OK) {
        bench_fail("out of memory");
    }
    for (int f = 0; f < v.frames; ++f) {
        const double *answer = l->q + (size_t)f * (size_t)l->nq;
        const double *start = f % FRAMES > 0 ? answer - l->nq : l->starts + (size_t)(f / FRAMES) * (size_t)l->nq;
        poise_report report;
        for (int k = 0; k < l->markers; ++k) {
            goals[k] = poise_goal_position(l->places[k].body, l->places[k].local, l->targets[(size_t)(f * l->markers + k)]);
        }
        memcpy(q, start, (size_t)l->nq * sizeof *q);
        double before = bench_now();
        poise_solve(solver, goals, l->markers, q, &report, NULL);
        spent += bench_now() - before;
        poise_outcome outcome = l->answers[f].outcome;
        v.open += outcome != POISE_OUTCOME_REACHED && outcome != POISE_OUTCOME_CLOSEST;
        v.outside += !poise_model_within_limits(l->model, answer);
        v.others += fabs(l->answers[f].cost - report.cost) > COSTS * report.cost;
        v.apart = fmax(v.apart, apart_of(l, kinematics, places, answer, q));
    }
    v.us = spent * 1e-3 / v.frames;
    poise_solver_destroy(solver);
    poise_kinematics_destroy(kinematics);
    free(goals), free(places), free(q);
    return v;
}

static void add_row(const bench *b, library *l, int clips, int rounds)
{
    char name[32];
    double iterations = 0.0;
    int judged = clips < DISTINCT ? clips : DISTINCT;
    l->clips = clips;
    double ms = device_time(rounds, put_starts, solve, l);
    device_get(l->q, l->device_q, (size_t)judged * FRAMES * (size_t)l->nq * sizeof *l->q);
    device_get(l->answers, l->device_answers, (size_t)judged * FRAMES * sizeof *l->answers);
    verdict v = judge(l, judged);
    for (int i = 0; i < v.frames; ++i) {
        iterations += (double)l->answers[i].iterations / v.frames;
    }
    snprintf(name, sizeof name, "%d", clips);
    report_row(b->report, name, "poise",
               REPORT_VALUES(clips, ms, clips / ms * 1e3, clips * FRAMES / ms * 1e3, iterations, v.frames,
                             100.0 * v.open / v.frames, 100.0 * v.others / v.frames, v.apart, v.us));
    report_promise(b->report, v.outside == 0, "%d of %d frames are outside the limits", v.outside, v.frames);
    report_promise(b->report, v.others + v.open > 0 || v.apart <= APART, "markers are %g m apart", v.apart);
}

void suite_gpu_clips(const bench *b)
{
    static const report_column columns[] = {
        {"clips", "clips", 0, REPORT_FIXED, true},       {"ms", "call ms", 2, REPORT_FIXED, false},
        {"clips_s", "clips /s", 0, REPORT_FIXED, false}, {"per_second", "frames /s", 0, REPORT_FIXED, false},
        {"iterations", "iter.", 2, REPORT_FIXED, false}, {"judged", "judged", 0, REPORT_FIXED, true},
        {"open", "not conv. %", 3, REPORT_FIXED, false}, {"others", "other cost %", 3, REPORT_FIXED, false},
        {"apart", "apart m", 2, REPORT_FIGURES, false},  {"us_core", "one-core us", 1, REPORT_FIXED, false}};
    static const report_table table = {"clips", "Clips of 300 frames, 3 mm of noise", "clips", columns, 10};
    static const int sizes[] = {1, 100, 1000};
    if (!device_begin(b)) {
        return;
    }
    int count = bench_number(b, "--clips", 5000, 10), rounds = bench_number(b, "--rounds", 3, 1);
    rounds = rounds > DEVICE_MOST_ROUNDS ? DEVICE_MOST_ROUNDS : rounds;
    report_begin_table(b->report, &table);
    library l = make(count);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && sizes[i] < count; ++i) {
        bench_progress(b, "clips");
        add_row(b, &l, sizes[i], rounds);
    }
    add_row(b, &l, count, rounds);
    release(&l);
}
