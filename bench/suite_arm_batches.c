// Pose goals on robot arms by the thousand: one by one, in 4 lanes, in 8 lanes, and in as many as there are on threads.
//
// Arms, targets, seeds, tolerances and restarts are those of the suite "arms". Times are of one problem:
//
//   single, 4, 8        CPU time of the thread, by thousands of problems, each the least of the rounds
//   1 thread, all       clock on the wall for all problems in one batch, the least of the rounds
//
// The last table is of one arm, with as many problems in a call as the row says.
//
// solved: targets reached. Same bits: q and report of every batch are those of the single solves.
#include "arm_task.h"
#include "suite.h"
#include "thread_pool.h"

#include <poise/poise.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-5
#define SEED      12345
#define RESTARTS  300
#define PART      1000 // problems between two looks at the clock

// ---- Problems ------------------------------------------------------------------------------------------------------------

typedef struct work {
    int count, nq, rounds;
    int call; // problems of a call, at most
    poise_goal *goals;
    double *seeds, *q, *answers; // count x nq; answers: of single solves
    poise_problem *problems;
    poise_report *reports; // of single solves
    poise_solver_options options;
} work;

static work make_work(const arm *a, seed_kind kind, int count, int call, int rounds)
{
    size_t numbers = (size_t)(count * a->n), many = (size_t)count;
    work w = {.count = count, .nq = a->n, .rounds = rounds, .call = call, .options = poise_solver_options_default()};
    w.options.position_tolerance = w.options.rotation_tolerance = TOLERANCE;
    w.options.restarts = RESTARTS;
    w.goals = bench_take(many, sizeof *w.goals);
    w.seeds = bench_take(numbers, sizeof *w.seeds);
    w.q = bench_take(numbers, sizeof *w.q);
    w.answers = bench_take(numbers, sizeof *w.answers);
    w.problems = bench_take(many, sizeof *w.problems);
    w.reports = bench_take(many, sizeof *w.reports);
    scene_random random = scene_random_make(SEED);
    poise_kinematics *kinematics;
    poise_kinematics_create(a->model, NULL, &kinematics, NULL);
    poise_pose tip = arm_pose_of(&a->tip); // in the last body
    for (int i = 0; i < count; ++i) {
        double target[ARM_MOST];
        arm_draw(a, kind, &random, target, w.seeds + i * a->n);
        poise_kinematics_update(kinematics, target, NULL);
        poise_pose there = poise_pose_multiply(poise_kinematics_body_pose(kinematics, a->n - 1), tip);
        w.goals[i] = poise_goal_pose(a->n - 1, tip, there);
    }
    poise_kinematics_destroy(kinematics);
    return w;
}

static void free_work(work *w)
{
    free(w->goals);
    free(w->seeds);
    free(w->q);
    free(w->answers);
    free(w->problems);
    free(w->reports);
}

// ---- Times ---------------------------------------------------------------------------------------------------------------

// Nanoseconds for all problems, a thousand at a time, each the least of the rounds.
typedef void (*part_function)(void *solver, work *w, int first);

static void begin_round(work *w)
{
    memcpy(w->q, w->seeds, (size_t)(w->count * w->nq) * sizeof *w->q);
    for (int i = 0; i < w->count; ++i) {
        w->problems[i] = (poise_problem){.goals = &w->goals[i], .goal_count = 1, .q = w->q + i * w->nq};
    }
}

static double time_parts(part_function run, void *solver, work *w)
{
    int parts = w->count / PART;
    double *best = bench_take((size_t)parts, sizeof *best), sum = 0;
    for (int round = 0; round < w->rounds; ++round) {
        begin_round(w);
        for (int p = 0; p < parts; ++p) {
            double start = bench_now();
            run(solver, w, p * PART);
            double ns = bench_now() - start;
            best[p] = round == 0 ? ns : fmin(best[p], ns);
        }
    }
    for (int p = 0; p < parts; ++p) {
        sum += best[p];
    }
    free(best);
    return sum;
}

static void run_single(void *solver, work *w, int first)
{
    for (int i = first; i < first + PART; ++i) {
        poise_problem *p = &w->problems[i];
        p->status = poise_solve(solver, p->goals, 1, p->q, &p->report, NULL);
    }
}

static void run_calls(poise_batch *batch, work *w, int first, int last)
{
    for (int i = first; i < last; i += w->call) {
        poise_batch_solve(batch, w->problems + i, last - i < w->call ? last - i : w->call, NULL);
    }
}

static void run_batch(void *batch, work *w, int first)
{
    run_calls(batch, w, first, first + PART);
}

static double time_wall(poise_batch *batch, work *w)
{
    double best = INFINITY;
    for (int round = 0; round < w->rounds; ++round) {
        begin_round(w);
        double start = bench_wall();
        run_calls(batch, w, 0, w->count);
        best = fmin(best, bench_wall() - start);
    }
    return best;
}

// ---- Table ---------------------------------------------------------------------------------------------------------------

static poise_batch *make_batch(const arm *a, const work *w, int lanes, crew *c)
{
    poise_batch *batch;
    poise_batch_options options = poise_batch_options_default();
    options.solver = w->options;
    options.lanes = lanes;
    options.workers = c->threads;
    options.parallel_for = c->threads > 1 ? crew_run : NULL;
    options.user = c;
    if (poise_batch_create(a->model, &options, NULL, &batch, NULL) != POISE_OK) {
        bench_fail("%s: no batch", a->name);
    }
    return batch;
}

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

// Are the answers of the last round those of the single solves?
static bool has_same_bits(const work *w)
{
    bool all = memcmp(w->q, w->answers, (size_t)(w->count * w->nq) * sizeof *w->q) == 0;
    for (int i = 0; i < w->count && all; ++i) {
        const poise_report *a = &w->reports[i], *b = &w->problems[i].report;
        all = w->problems[i].status == POISE_OK && a->outcome == b->outcome && a->reason == b->reason &&
              a->iterations == b->iterations && a->evaluations == b->evaluations && a->restarts == b->restarts &&
              a->active_limits == b->active_limits && a->moved_joints == b->moved_joints &&
              same(a->start_cost, b->start_cost) && same(a->cost, b->cost) && same(a->gradient, b->gradient) &&
              same(a->distance, b->distance) && same(a->worst_length, b->worst_length) &&
              same(a->worst_angle, b->worst_angle);
    }
    return all;
}

// Single solves, whose answers the batches are held against. Returns how many targets were reached.
static int solve_single(const arm *a, work *w, double *ns)
{
    poise_solver *solver;
    if (poise_solver_create(a->model, &w->options, NULL, &solver, NULL) != POISE_OK) {
        bench_fail("%s: no solver", a->name);
    }
    *ns = time_parts(run_single, solver, w);
    poise_solver_destroy(solver);
    memcpy(w->answers, w->q, (size_t)(w->count * w->nq) * sizeof *w->q);
    int reached = 0;
    for (int i = 0; i < w->count; ++i) {
        w->reports[i] = w->problems[i].report;
        reached += w->problems[i].report.outcome == POISE_OUTCOME_REACHED;
    }
    return reached;
}

static void run_arm(const bench *b, const arm *a, const char *name, seed_kind kind, int count, int call, int rounds)
{
    bench_progress(b, name);
    work w = make_work(a, kind, count, call, rounds);
    double ns[5] = {NAN, NAN, NAN, NAN, NAN};
    crew crews[2] = {{.threads = 1}, {.threads = bench_threads(b)}};
    bool is_same = true;
    int reached = solve_single(a, &w, &ns[0]);
    for (int lanes = 4; lanes <= 8; lanes += 4) {
        poise_batch *batch = make_batch(a, &w, lanes, &crews[0]);
        if (poise_batch_lane_counts(batch).arms == lanes) {
            ns[lanes / 4] = time_parts(run_batch, batch, &w);
            is_same = is_same && has_same_bits(&w);
        }
        poise_batch_destroy(batch);
    }
    for (int k = 0; k < 2; ++k) {
        poise_batch *batch = make_batch(a, &w, 0, &crews[k]);
        ns[3 + k] = time_wall(batch, &w);
        is_same = is_same && has_same_bits(&w);
        poise_batch_destroy(batch);
    }
    for (int k = 0; k < 5; ++k) {
        ns[k] /= count;
    }
    report_row(b->report, name, "poise",
               REPORT_VALUES(100.0 * reached / count, is_same, ns[0] * 1e-3, ns[1] * 1e-3, ns[2] * 1e-3,
                             ns[0] / fmin(ns[1], ns[2]), ns[3] * 1e-3, ns[4] * 1e-3, ns[3] / ns[4], 1e3 / ns[4]));
    report_promise(b->report, is_same, "%s: a batch has other bits", a->name);
    report_promise(b->report, reached == count, "%s: %d of %d targets missed", a->name, count - reached, count);
    free_work(&w);
}

// How much it matters how many problems come in a call.
static void run_sizes(const bench *b, const arm *a, int count, int rounds)
{
    static const int calls[] = {1, 4, 16, 64, 256, 1000, 10000};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0] && calls[i] <= count; ++i) {
        char name[96];
        snprintf(name, sizeof name, "%.63s, %d", a->name, calls[i]);
        run_arm(b, a, name, SEED_MID, count, calls[i], rounds);
    }
}

void suite_arm_batches(const bench *b)
{
    static const report_column columns[] = {{"solved", "solved %", 2, REPORT_FIXED, false},
                                            {"same_bits", "same bits", 0, REPORT_YES, false},
                                            {"us_single", "single us", 2, REPORT_FIXED, false},
                                            {"us_4_lanes", "4-lanes us", 2, REPORT_FIXED, false},
                                            {"us_8_lanes", "8-lanes us", 2, REPORT_FIXED, false},
                                            {"ratio", "gain lanes", 2, REPORT_TIMES, false},
                                            {"us_wall_one", "1-thread us", 2, REPORT_FIXED, true},
                                            {"us_wall_all", "threads us", 2, REPORT_FIXED, false},
                                            {"ratio_threads", "gain threads", 2, REPORT_TIMES, false},
                                            {"millions_per_second", "million /s", 3, REPORT_FIXED, false}};
    static const report_table tables[SEED_COUNT] = {{"mid", "Seed: the middle of the limits", "robot", columns, 10},
                                                    {"rand", "Seed: uniform within the limits", "robot", columns, 10},
                                                    {"near", "Seed: within 0.1 rad of a solution", "robot", columns, 10}};
    static const report_table sizes = {"sizes", "Problems in a call, seed in the middle of the limits", "robot", columns,
                                       10};
    static arm arms[ROBOT_ARMS];
    arm_take_all(arms);
    int count = bench_number(b, "--targets", 10000, PART), rounds = bench_number(b, "--rounds", 5, 1);
    count = count < PART ? PART : count / PART * PART;
    report_note(b->report, "Time of one problem of %d; single and lanes by CPU time, threads (%d) by the clock on the wall.",
                count, bench_threads(b));
    for (int kind = SEED_MID; kind < SEED_COUNT; ++kind) {
        if (bench_wants(b, tables[kind].name)) {
            report_begin_table(b->report, &tables[kind]);
            for (int i = 0; i < ROBOT_ARMS; ++i) {
                run_arm(b, &arms[i], arms[i].name, (seed_kind)kind, count, count, rounds);
            }
        }
    }
    if (bench_wants(b, sizes.name)) {
        report_begin_table(b->report, &sizes);
        run_sizes(b, &arms[0], count, rounds);
    }
    for (int i = 0; i < ROBOT_ARMS; ++i) {
        arm_free(&arms[i]);
    }
}
