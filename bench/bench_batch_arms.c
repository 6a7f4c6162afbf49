// Pose goals on robot arms by the thousand: one by one, in 4 lanes, in 8 lanes, and in as many as there are on two threads.
//
//   bench_batch_arms [-n COUNT] [-r ROUNDS] [FOLDER]
//
// FOLDER holds panda.chain and so on (default ../shared/chains). Arms, targets, seeds, tolerances and restarts are those of
// bench_arms; there are COUNT of them (10000, a multiple of 1000). Columns, in millions of solves a second:
//
//   single, 4, 8        CPU time of the thread, by thousands of problems, each the least of ROUNDS (10) rounds
//   1 thread, 2         clock on the wall for all problems in one batch, the least of ROUNDS
//
// ok: targets reached. bits: q and report of every batch are those of the single solves.
#define _POSIX_C_SOURCE 200809L

#include "arm_task.h"
#include "bench.h"

#include <poise/poise.h>
#include <scenes/random.h>

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TOLERANCE 1e-5
#define SEED      12345
#define RESTARTS  300
#define PART      1000 // problems between two looks at the clock
#define THREADS   2

// ---- Problems ------------------------------------------------------------------------------------------------------------

typedef struct work {
    int count, nq, rounds;
    poise_goal *goals;
    double *seeds, *q, *answers; // count x nq; answers: of single solves
    poise_problem *problems;
    poise_report *reports; // of single solves
    poise_solver_options options;
} work;

static work make_work(const arm *a, seed_kind kind, int count, int rounds)
{
    size_t numbers = (size_t)(count * a->n), many = (size_t)count;
    work w = {.count = count, .nq = a->n, .rounds = rounds, .options = poise_solver_options_default()};
    w.options.position_tolerance = w.options.rotation_tolerance = TOLERANCE;
    w.options.restarts = RESTARTS;
    w.goals = malloc(many * sizeof *w.goals);
    w.seeds = malloc(numbers * sizeof *w.seeds);
    w.q = malloc(numbers * sizeof *w.q);
    w.answers = malloc(numbers * sizeof *w.answers);
    w.problems = malloc(many * sizeof *w.problems);
    w.reports = malloc(many * sizeof *w.reports);
    scene_random random = scene_random_make(SEED);
    poise_kinematics *kinematics;
    poise_kinematics_create(a->model, NULL, &kinematics);
    poise_pose tip = arm_pose_of(&a->tip); // in the last body
    for (int i = 0; i < count; ++i) {
        double target[ARM_MOST];
        arm_draw(a, kind, &random, target, w.seeds + i * a->n);
        poise_kinematics_update(kinematics, target);
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

static double least(double a, double b)
{
    return a < b ? a : b;
}

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
    double *best = malloc((size_t)parts * sizeof *best), sum = 0;
    for (int round = 0; round < w->rounds; ++round) {
        begin_round(w);
        for (int p = 0; p < parts; ++p) {
            double start = bench_now();
            run(solver, w, p * PART);
            double ns = bench_now() - start;
            best[p] = round == 0 ? ns : least(best[p], ns);
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
        p->status = poise_solve(solver, p->goals, 1, p->q, &p->report);
    }
}

static void run_batch(void *batch, work *w, int first)
{
    poise_batch_solve(batch, w->problems + first, PART);
}

static double wall_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double time_wall(poise_batch *batch, work *w)
{
    double best = INFINITY;
    for (int round = 0; round < w->rounds; ++round) {
        begin_round(w);
        double start = wall_now();
        poise_batch_solve(batch, w->problems, w->count);
        best = least(best, wall_now() - start);
    }
    return best;
}

// ---- Threads -------------------------------------------------------------------------------------------------------------

typedef struct crew {
    poise_piece run;
    void *work;
    int count;
    atomic_int next;
} crew;

typedef struct member {
    crew *crew;
    int number;
} member;

static void *work_along(void *user)
{
    member *m = user;
    for (int i; (i = atomic_fetch_add(&m->crew->next, 1)) < m->crew->count;) {
        m->crew->run(m->crew->work, i, m->number);
    }
    return NULL;
}

// The calling thread and another.
static void spread(void *user, int count, poise_piece run, void *pieces)
{
    (void)user;
    crew c = {.run = run, .work = pieces, .count = count};
    member mine = {&c, 0}, other = {&c, 1};
    pthread_t thread;
    bool has_other = pthread_create(&thread, NULL, work_along, &other) == 0;
    work_along(&mine);
    if (has_other) {
        pthread_join(thread, NULL);
    }
}

// ---- Table ---------------------------------------------------------------------------------------------------------------

static poise_batch *make_batch(const arm *a, const work *w, int lanes, int threads)
{
    poise_batch *batch;
    poise_batch_options options = poise_batch_options_default();
    options.solver = w->options;
    options.lanes = lanes;
    options.workers = threads;
    options.parallel_for = threads > 1 ? spread : NULL;
    if (poise_batch_create(a->model, &options, NULL, &batch) != POISE_OK) {
        fprintf(stderr, "%s: no batch\n", a->name);
        exit(2);
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
    if (poise_solver_create(a->model, &w->options, NULL, &solver) != POISE_OK) {
        fprintf(stderr, "%s: no solver\n", a->name);
        exit(2);
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

static void print_rate(const work *w, double ns)
{
    if (ns > 0) {
        printf(" %8.3f", 1e3 * w->count / ns);
    } else {
        printf(" %8s", "-");
    }
}

static void run_row(const arm *a, seed_kind kind, int count, int rounds)
{
    static const char *const names[SEED_COUNT] = {"mid", "rand", "near"};
    work w = make_work(a, kind, count, rounds);
    double single;
    int reached = solve_single(a, &w, &single);
    printf("%-8s %-5s", a->name, names[kind]);
    print_rate(&w, single);
    bool bits = true;
    for (int lanes = 4; lanes <= 8; lanes += 4) {
        poise_batch *batch = make_batch(a, &w, lanes, 1);
        bool has_lanes = poise_batch_arm_lanes(batch) == lanes;
        print_rate(&w, has_lanes ? time_parts(run_batch, batch, &w) : 0.0);
        bits = bits && (!has_lanes || has_same_bits(&w));
        poise_batch_destroy(batch);
    }
    double wall[THREADS];
    for (int threads = 1; threads <= THREADS; ++threads) {
        poise_batch *batch = make_batch(a, &w, 0, threads);
        wall[threads - 1] = time_wall(batch, &w);
        bits = bits && has_same_bits(&w);
        print_rate(&w, wall[threads - 1]);
        poise_batch_destroy(batch);
    }
    printf(" %7.2fx %9.3f  %s\n", wall[0] / wall[THREADS - 1], 100.0 * reached / count, bits ? "the same" : "DIFFERENT");
    fflush(stdout);
    free_work(&w);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"panda", "iiwa14", "ur5", "jaco2", "gen3", "pr2", "baxter"};
    const char *folder = "../shared/chains";
    int count = 10000, rounds = 10;
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "-n") == 0 && i + 1 < argc) {
            count = atoi(argv[++i]) / PART * PART;
        } else if (strcmp(argv[i], "-r") == 0 && i + 1 < argc) {
            rounds = atoi(argv[++i]);
        } else {
            folder = argv[i];
        }
    }
    if (count < PART || rounds < 1) {
        fprintf(stderr, "-n needs a number from %d on, -r one above 0\n", PART);
        return 2;
    }
    bench_print_machine();
    printf("Arms, 6D pose, batches: millions of solves a second\n\n");
    printf("%-8s %-5s %8s %8s %8s %8s %8s %8s %9s  %s\n", "arm", "seed", "single", "4 lanes", "8 lanes", "1 thread", "2",
           "ratio", "ok %", "bits");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        arm a;
        if (!arm_read(folder, names[i], &a)) {
            return 2;
        }
        for (int kind = SEED_MID; kind < SEED_COUNT; ++kind) {
            run_row(&a, (seed_kind)kind, count, rounds);
        }
        poise_model_destroy(a.model);
    }
    return 0;
}
