// Marker problems by the thousand: a skeleton of 58 degrees of freedom, 41 markers, every frame on its own. One by one, in 4
// lanes, in 8 lanes, on one thread and on several.
//
//   clean, noise   started from the true pose of the frame before
//   cold           the scene "humanoid" in random poses within its limits, which are those of the supplest people, from its
//                  neutral pose, with up to 20 restarts: of 100 poses one is not found
//
// Copies of a motion, the takes, differ in the noise of their markers. Two times, each the least of several rounds: by the
// clock on the wall, and what the busiest thread had of the processor, which other work on the machine hardly disturbs.
#include "marker_task.h"
#include "suite.h"
#include "thread_pool.h"

#include <scenes/random.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI    3.14159265358979323846
#define NOISE 0.003 // metres

// Where a solve stops, as in the suite "markers".
#define POSITION_TOLERANCE 1e-6
#define GRADIENT_TOLERANCE 1e-3

#define COLD_RESTARTS 20

typedef struct problem_set {
    const marker_task *task;
    bool is_cold;
    int count;
    poise_goal *goals; // count x marker_count
    double *start;     // count x nq
    double *q;
    poise_problem *problems;
} problem_set;

static double gauss(scene_random *random)
{
    double u = scene_random_uniform(random), v = scene_random_uniform(random);
    return sqrt(-2.0 * log(u + 1e-300)) * cos(2.0 * PI * v);
}

// ---- Problems ------------------------------------------------------------------------------------------------------------

static problem_set take_problems(const marker_task *task, int count, bool is_cold)
{
    size_t markers = (size_t)task->marker_count, nq = (size_t)task->nq;
    problem_set set = {.task = task, .is_cold = is_cold, .count = count};
    set.goals = bench_take((size_t)set.count * markers, sizeof *set.goals);
    set.start = bench_take((size_t)set.count * nq, sizeof *set.start);
    set.q = bench_take((size_t)set.count * nq, sizeof *set.q);
    set.problems = bench_take((size_t)set.count, sizeof *set.problems);
    for (int i = 0; i < count; ++i) {
        set.problems[i] = (poise_problem){
            .goals = set.goals + (size_t)i * markers, .goal_count = (int)markers, .q = set.q + (size_t)i * nq};
    }
    return set;
}

static problem_set make_problems(const marker_task *task, int takes, double sigma)
{
    size_t markers = (size_t)task->marker_count, nq = (size_t)task->nq;
    problem_set set = take_problems(task, takes * (task->frame_count - 1), false);
    scene_random random = scene_random_make(4711);
    for (int i = 0; i < set.count; ++i) {
        int frame = 1 + i % (task->frame_count - 1);
        poise_goal *goals = set.goals + (size_t)i * markers;
        for (size_t m = 0; m < markers; ++m) {
            poise_vec3 seen = marker_task_frame(task, frame)[m];
            double x = sigma * gauss(&random), y = sigma * gauss(&random), z = sigma * gauss(&random);
            poise_vec3 noisy = poise_vec3_make(seen.x + x, seen.y + y, seen.z + z);
            goals[m] = poise_goal_position(task->markers[m].body, task->markers[m].local, noisy);
        }
        memcpy(set.start + (size_t)i * nq, task->truth + (size_t)(frame - 1) * nq, nq * sizeof *set.start);
    }
    return set;
}

static problem_set make_cold_problems(const marker_task *task, int count)
{
    size_t markers = (size_t)task->marker_count, nq = (size_t)task->nq;
    problem_set set = take_problems(task, count, true);
    poise_kinematics *kinematics;
    if (poise_kinematics_create(task->model, NULL, &kinematics, NULL) != POISE_OK) {
        bench_fail("out of memory");
    }
    poise_vec3 *seen = bench_take(markers, sizeof *seen);
    scene_random random = scene_random_make(20);
    for (int i = 0; i < count; ++i) {
        scene_random_configuration(&random, task->model, set.start + (size_t)i * nq);
        marker_task_points(task, kinematics, set.start + (size_t)i * nq, seen);
        for (size_t m = 0; m < markers; ++m) {
            set.goals[(size_t)i * markers + m] = poise_goal_position(task->markers[m].body, task->markers[m].local, seen[m]);
        }
        memcpy(set.start + (size_t)i * nq, task->q, nq * sizeof *set.start);
    }
    poise_kinematics_destroy(kinematics);
    free(seen);
    return set;
}

static void free_problems(problem_set *set)
{
    free(set->goals);
    free(set->start);
    free(set->q);
    free(set->problems);
}

static void rewind_problems(problem_set *set)
{
    memcpy(set->q, set->start, (size_t)set->count * (size_t)set->task->nq * sizeof *set->q);
}

// ---- Runs ----------------------------------------------------------------------------------------------------------------

typedef struct contender {
    const char *name;
    int lanes;
    crew crew;
    poise_batch *batch;
    double wall, own; // seconds
    double solved, rms, iterations;
    bool same_bits;
} contender;

static void create(contender *c, const marker_task *task, bool is_cold)
{
    poise_batch_options options = poise_batch_options_default();
    options.solver.position_tolerance = POSITION_TOLERANCE;
    options.solver.gradient_tolerance = is_cold ? options.solver.gradient_tolerance : GRADIENT_TOLERANCE;
    options.solver.start = is_cold ? POISE_START_COLD : POISE_START_WARM;
    options.solver.restarts = is_cold ? COLD_RESTARTS : 0;
    options.solver.coupled_goals = 0;
    options.lanes = c->lanes;
    options.workers = c->crew.threads;
    options.parallel_for = c->crew.threads > 1 ? crew_run : NULL;
    options.user = &c->crew;
    if (poise_batch_create(task->model, &options, NULL, &c->batch, NULL) != POISE_OK) {
        bench_fail("no batch");
    }
}

static void run(contender *c, problem_set *set)
{
    rewind_problems(set);
    double wall = bench_wall(), own = bench_now();
    poise_batch_solve(c->batch, set->problems, set->count, NULL);
    own = c->crew.threads > 1 ? c->crew.busiest : bench_now() - own;
    c->own = fmin(c->own, own * 1e-9);
    c->wall = fmin(c->wall, (bench_wall() - wall) * 1e-9);
}

static bool same_report(const poise_report *a, const poise_report *b)
{
    return a->outcome == b->outcome && a->iterations == b->iterations && a->evaluations == b->evaluations &&
           memcmp(&a->cost, &b->cost, sizeof a->cost) == 0 && memcmp(&a->gradient, &b->gradient, sizeof a->gradient) == 0;
}

// Quality, and the answers against those of the first contender.
static void judge(contender *c, const problem_set *set, double *q, poise_report *reports, bool first)
{
    size_t bytes = (size_t)set->count * (size_t)set->task->nq * sizeof *q;
    double square = 0.0;
    c->solved = c->iterations = 0.0;
    c->same_bits = first || memcmp(q, set->q, bytes) == 0;
    for (int i = 0; i < set->count; ++i) {
        const poise_report *r = &set->problems[i].report;
        bool ended = r->outcome == POISE_OUTCOME_REACHED || (!set->is_cold && r->outcome == POISE_OUTCOME_CLOSEST);
        c->solved += set->problems[i].status == POISE_OK && ended;
        c->iterations += r->iterations;
        square += 2.0 * r->cost;
        c->same_bits = c->same_bits && (first || same_report(&reports[i], r));
        reports[i] = first ? *r : reports[i];
    }
    if (first) {
        memcpy(q, set->q, bytes);
    }
    c->solved = 100.0 * c->solved / set->count;
    c->iterations /= set->count;
    c->rms = sqrt(square / ((double)set->count * set->task->marker_count));
}

static void add_rows(const bench *b, const contender *c, int count, const problem_set *set, const char *of)
{
    for (int i = 0; i < count; ++i) {
        double us = 1e6 / set->count;
        report_row(b->report, of, c[i].name,
                   REPORT_VALUES(c[i].solved, c[i].rms * 1e3, c[i].iterations, c[i].same_bits, c[i].own * us,
                                 c[0].own / c[i].own, c[i].wall * us, c[0].wall / c[i].wall, set->count / c[i].wall));
        report_promise(b->report, c[i].same_bits, "%s: other bits", c[i].name);
        report_promise(b->report, c[i].solved >= (set->is_cold ? 99.0 : 100.0), "%s: %.2f %% solved", c[i].name,
                       c[i].solved);
    }
}

static void compete(const bench *b, problem_set *set, const char *of)
{
    const marker_task *task = set->task;
    int threads = bench_threads(b), rounds = bench_number(b, "--rounds", 5, 1);
    contender contenders[] = {{.name = "single", .lanes = 1, .crew.threads = 1},
                              {.name = "4 lanes", .lanes = 4, .crew.threads = 1},
                              {.name = "8 lanes", .lanes = 8, .crew.threads = 1},
                              {.name = "single, threads", .lanes = 1, .crew.threads = threads},
                              {.name = "8 lanes, threads", .lanes = 8, .crew.threads = threads}};
    int count = (int)(sizeof contenders / sizeof contenders[0]);
    double *q = bench_take((size_t)set->count * (size_t)task->nq, sizeof *q);
    poise_report *reports = bench_take((size_t)set->count, sizeof *reports);
    for (int i = 0; i < count; ++i) {
        create(&contenders[i], task, set->is_cold);
        contenders[i].wall = contenders[i].own = INFINITY;
    }
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < count; ++i) {
            bench_progress(b, contenders[i].name);
            run(&contenders[i], set);
            judge(&contenders[i], set, q, reports, i == 0);
        }
    }
    add_rows(b, contenders, count, set, of);
    for (int i = 0; i < count; ++i) {
        poise_batch_destroy(contenders[i].batch);
    }
    free(q);
    free(reports);
    free_problems(set);
}

void suite_marker_batches(const bench *b)
{
    static const report_column columns[] = {
        {"solved", "solved %", 2, REPORT_FIXED, false},     {"error_rms_mm", "rms mm", 4, REPORT_FIXED, false},
        {"iterations", "iter.", 2, REPORT_FIXED, false},    {"same_bits", "same bits", 0, REPORT_YES, false},
        {"us_mean", "own us", 2, REPORT_FIXED, false},      {"ratio", "own gain", 2, REPORT_TIMES, false},
        {"us_wall", "wall us", 2, REPORT_FIXED, false},     {"ratio_wall", "wall gain", 2, REPORT_TIMES, false},
        {"per_second", "frames /s", 0, REPORT_FIXED, false}};
    static const report_table tables[] = {
        {"clean", "Markers without noise", "motion", columns, 9},
        {"noise", "Markers with 3 mm of noise", "motion", columns, 9},
        {"cold", "Random poses within the limits from the neutral pose, 20 restarts", "scene", columns, 9}};
    int frames = bench_number(b, "--frames", 500, 60);
    marker_task task, humanoid;
    marker_task_scene("walk", frames < 2 ? 2 : frames, 0.0, &humanoid);
    marker_task_swing(frames < 2 ? 2 : frames, 0.0, &task);
    report_note(b->report, "A frame on its own, %d degrees of freedom, %d markers; gains over single solves; %d threads.",
                task.nv, task.marker_count, bench_threads(b));
    for (int k = 0; k < 3; ++k) {
        if (bench_wants(b, tables[k].name)) {
            report_begin_table(b->report, &tables[k]);
            problem_set set = k == 2 ? make_cold_problems(&humanoid, 4 * frames)
                                     : make_problems(&task, bench_number(b, "--takes", 8, 1), k ? NOISE : 0.0);
            compete(b, &set, k == 2 ? "humanoid" : task.name);
        }
    }
    marker_task_free(&task);
    marker_task_free(&humanoid);
}
