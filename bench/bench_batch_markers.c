// Marker problems by the thousand: a skeleton of 58 degrees of freedom, 41 markers, every frame on its own, started from the
// true pose of the frame before. One by one, in 4 lanes, in 8 lanes, on one thread and on two.
//
//   bench_batch_markers [SKELETON [FRAMES [TAKES [ROUNDS]]]]
//
// TAKES copies of the motion differ in the noise of their markers. Two times, each the least of ROUNDS: by the clock on the
// wall, and what the busiest thread had of the processor, which other work on the machine hardly disturbs.
#define _POSIX_C_SOURCE 200809L

#include "bench.h"
#include "marker_task.h"

#include <scenes/random.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PI      3.14159265358979323846
#define FRAMES  500
#define TAKES   8
#define ROUNDS  5
#define NOISE   0.003 // metres
#define WORKERS 2

// Where a solve stops, as in bench_markers.
#define POSITION_TOLERANCE 1e-6
#define GRADIENT_TOLERANCE 1e-3

typedef struct problem_set {
    const marker_task *task;
    int count;
    poise_goal *goals; // count x marker_count
    double *start;     // count x nq
    double *q;
    poise_problem *problems;
} problem_set;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *take(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    return memory;
}

static double gauss(scene_random *random)
{
    double u = scene_random_uniform(random), v = scene_random_uniform(random);
    return sqrt(-2.0 * log(u + 1e-300)) * cos(2.0 * PI * v);
}

// ---- Problems ------------------------------------------------------------------------------------------------------------

static problem_set make_problems(const marker_task *task, int takes, double sigma)
{
    size_t markers = (size_t)task->marker_count, nq = (size_t)task->nq;
    problem_set set = {.task = task, .count = takes * (task->frame_count - 1)};
    set.goals = take((size_t)set.count * markers, sizeof *set.goals);
    set.start = take((size_t)set.count * nq, sizeof *set.start);
    set.q = take((size_t)set.count * nq, sizeof *set.q);
    set.problems = take((size_t)set.count, sizeof *set.problems);
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
        set.problems[i] = (poise_problem){.goals = goals, .goal_count = (int)markers, .q = set.q + (size_t)i * nq};
    }
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

// ---- Threads -------------------------------------------------------------------------------------------------------------

typedef struct pool {
    pthread_mutex_t lock;
    int next, count;
    poise_piece run;
    void *work;
} pool;

typedef struct pool_thread {
    pool *pool;
    int worker;
    pthread_t thread;
    double own; // nanoseconds of the processor
} pool_thread;

static void *work_on(void *user)
{
    pool_thread *self = user;
    double start = bench_now();
    for (;;) {
        pthread_mutex_lock(&self->pool->lock);
        int piece = self->pool->next++;
        pthread_mutex_unlock(&self->pool->lock);
        if (piece >= self->pool->count) {
            self->own = bench_now() - start;
            return NULL;
        }
        self->pool->run(self->pool->work, piece, self->worker);
    }
}

// *user: what the busiest thread had, in nanoseconds.
static void in_threads(void *user, int count, poise_piece run, void *work)
{
    double *busiest = user;
    pool p = {.count = count, .run = run, .work = work};
    pool_thread threads[WORKERS];
    pthread_mutex_init(&p.lock, NULL);
    for (int i = 1; i < WORKERS; ++i) {
        threads[i] = (pool_thread){.pool = &p, .worker = i};
        pthread_create(&threads[i].thread, NULL, work_on, &threads[i]);
    }
    threads[0] = (pool_thread){.pool = &p, .worker = 0};
    work_on(&threads[0]);
    *busiest = threads[0].own;
    for (int i = 1; i < WORKERS; ++i) {
        pthread_join(threads[i].thread, NULL);
        *busiest = fmax(*busiest, threads[i].own);
    }
    pthread_mutex_destroy(&p.lock);
}

// ---- Runs ----------------------------------------------------------------------------------------------------------------

typedef struct contender {
    const char *name;
    int lanes, workers;
    poise_batch *batch;
    double wall, own; // seconds
    double busiest;   // nanoseconds, of the last run
    double solved, rms, iterations;
    bool same_bits;
} contender;

static void create(contender *c, const marker_task *task)
{
    poise_batch_options options = poise_batch_options_default();
    options.solver.position_tolerance = POSITION_TOLERANCE;
    options.solver.gradient_tolerance = GRADIENT_TOLERANCE;
    options.solver.coupled_goals = 0;
    options.lanes = c->lanes;
    options.workers = c->workers;
    options.parallel_for = c->workers > 1 ? in_threads : NULL;
    options.user = &c->busiest;
    if (poise_batch_create(task->model, &options, NULL, &c->batch) != POISE_OK) {
        fprintf(stderr, "no batch\n");
        exit(2);
    }
}

static void run(contender *c, problem_set *set)
{
    rewind_problems(set);
    double wall = now(), own = bench_now();
    poise_batch_solve(c->batch, set->problems, set->count);
    own = c->workers > 1 ? c->busiest : bench_now() - own;
    c->own = fmin(c->own, own * 1e-9);
    c->wall = fmin(c->wall, now() - wall);
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
        bool ended = r->outcome == POISE_OUTCOME_REACHED || r->outcome == POISE_OUTCOME_CLOSEST;
        c->solved += set->problems[i].status == POISE_OK && ended;
        c->iterations += r->iterations;
        square += 2.0 * r->cost;
        c->same_bits = c->same_bits && (first || same_report(&reports[i], r));
        reports[i] = first ? *r : reports[i];
    }
    if (first) {
        memcpy(q, set->q, bytes);
    }
    c->solved *= 100.0 / set->count;
    c->iterations /= set->count;
    c->rms = sqrt(square / ((double)set->count * set->task->marker_count));
}

static void print_table(const contender *c, int count, const problem_set *set)
{
    printf("%-20s %12s %9s %10s %9s %10s %9s %8s %7s %10s\n", "", "problems/s", "wall us", "to single", "own us",
           "to single", "solved %", "rms mm", "iter.", "same bits");
    for (int i = 0; i < count; ++i) {
        printf("%-20s %12.0f %9.2f %9.2fx %9.2f %9.2fx %9.2f %8.4f %7.2f %10s\n", c[i].name, set->count / c[i].wall,
               c[i].wall / set->count * 1e6, c[0].wall / c[i].wall, c[i].own / set->count * 1e6, c[0].own / c[i].own,
               c[i].solved, c[i].rms * 1e3, c[i].iterations, c[i].same_bits ? "yes" : "NO");
    }
    printf("\n");
}

static void compete(const marker_task *task, int takes, double sigma, int rounds)
{
    contender contenders[] = {{.name = "single", .lanes = 1, .workers = 1},
                              {.name = "4 lanes", .lanes = 4, .workers = 1},
                              {.name = "8 lanes", .lanes = 8, .workers = 1},
                              {.name = "single, 2 threads", .lanes = 1, .workers = WORKERS},
                              {.name = "8 lanes, 2 threads", .lanes = 8, .workers = WORKERS}};
    int count = (int)(sizeof contenders / sizeof contenders[0]);
    problem_set set = make_problems(task, takes, sigma);
    double *q = take((size_t)set.count * (size_t)task->nq, sizeof *q);
    poise_report *reports = take((size_t)set.count, sizeof *reports);
    printf("%s: %d dofs, %d markers, %d problems, noise %.0f mm\n", task->name, task->nv, task->marker_count, set.count,
           sigma * 1e3);
    for (int i = 0; i < count; ++i) {
        create(&contenders[i], task);
        contenders[i].wall = contenders[i].own = INFINITY;
    }
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < count; ++i) {
            run(&contenders[i], &set);
            judge(&contenders[i], &set, q, reports, i == 0);
        }
    }
    print_table(contenders, count, &set);
    for (int i = 0; i < count; ++i) {
        poise_batch_destroy(contenders[i].batch);
    }
    free(q);
    free(reports);
    free_problems(&set);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "../shared/bench/skeleton58.txt";
    int frames = argc > 2 ? atoi(argv[2]) : FRAMES, takes = argc > 3 ? atoi(argv[3]) : TAKES;
    int rounds = argc > 4 ? atoi(argv[4]) : ROUNDS;
    marker_task task;
    if (frames < 2 || takes < 1 || rounds < 1) {
        fprintf(stderr, "usage: bench_batch_markers [SKELETON [FRAMES [TAKES [ROUNDS]]]], at least 2 frames\n");
        return 2;
    }
    bench_print_machine();
    printf("Marker problems on their own. A solve stops at position_tolerance %g or gradient_tolerance %g. Times are the\n"
           "least of %d rounds.\n\n",
           POSITION_TOLERANCE, GRADIENT_TOLERANCE, rounds);
    if (!marker_task_read(path, frames, 0.0, &task)) {
        printf("No file %s: the scene \"humanoid\", walking, instead.\n\n", path);
        marker_task_scene("walk", frames, 0.0, &task);
    }
    compete(&task, takes, 0.0, rounds);
    compete(&task, takes, NOISE, rounds);
    marker_task_free(&task);
    return 0;
}
