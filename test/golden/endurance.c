// Endurance: random solves across joint types, goals and methods until a count is reached, then a tracker for some minutes.
//
//   endurance [SOLVES] [THREADS] [TRACKER SECONDS] [FIRST SEED]      (10000000 2 600 1)
//
// Every answer must be finite, within the limits and not worse than its start, and memory must not grow. Prints counts as it
// goes, and exits with a failure when one of them is not 0. A seed is a model with goals; some solves go through a batch.
#include "golden_threads.h"
#include "scenes/scenes.h"
#include "support/problems.h"

#include <poise/track.h>

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STARTS  200 // solves of each model
#define PIECES  64  // models between two looks at the clock
#define MARKERS 41

static atomic_long solves, refused, outside, not_finite, risen, differing;
static uint64_t first_seed = 1;

// ---- Checks --------------------------------------------------------------------------------------------------------------

static bool is_finite_report(const poise_report *r)
{
    return isfinite(r->cost) && isfinite(r->start_cost) && isfinite(r->gradient) && isfinite(r->distance) &&
           isfinite(r->worst_length) && isfinite(r->worst_angle);
}

// An arm within its tolerances may have left a start with less cost than theirs, and its sums differ by rounding.
static bool has_risen(const problem *p, const poise_report *r)
{
    bool is_arm = p->options.method == POISE_METHOD_AUTO && p->count == 1 && p->goals[0].kind == POISE_GOAL_POSE;
    double slack = is_arm ? 1e-13 * (1.0 + r->start_cost) : 0.0;
    double floor = is_arm ? 0.5e-12 * (p->goals[0].weight + p->goals[0].rotation_weight) : 0.0;
    return r->cost > fmax(r->start_cost + slack, floor);
}

static void check(const problem *p, poise_status status, const double *q, const poise_report *r)
{
    if (status != POISE_OK) {
        atomic_fetch_add(&refused, 1);
        return;
    }
    atomic_fetch_add(&solves, 1);
    bool finite = is_finite_report(r);
    for (int i = 0; i < p->nq; ++i) {
        finite = finite && isfinite(q[i]);
    }
    atomic_fetch_add(&not_finite, !finite);
    atomic_fetch_add(&outside, !poise_model_within_limits(p->model, q));
    atomic_fetch_add(&risen, has_risen(p, r));
}

// ---- Solves --------------------------------------------------------------------------------------------------------------

// The same starts through a batch: the same bits.
static void check_batch(const problem *p, const double *start, const double *expected, int count)
{
    poise_batch_options options = poise_batch_options_default();
    options.solver = p->options;
    poise_batch *batch = NULL;
    poise_problem problems[16];
    double q[16 * PROBLEM_NUMBERS];
    if (poise_batch_create(p->model, &options, NULL, &batch, NULL) != POISE_OK) {
        atomic_fetch_add(&differing, 1);
        return;
    }
    memcpy(q, start, (size_t)(count * p->nq) * sizeof *q);
    for (int i = 0; i < count; ++i) {
        problems[i] = (poise_problem){.goals = p->goals, .goal_count = p->count, .q = q + i * p->nq};
    }
    poise_batch_solve(batch, problems, count, NULL);
    for (int i = 0; i < count; ++i) {
        check(p, problems[i].status, problems[i].q, &problems[i].report);
    }
    atomic_fetch_add(&differing, memcmp(q, expected, (size_t)(count * p->nq) * sizeof *q) != 0);
    poise_batch_destroy(batch);
}

static problem *make(uint64_t seed)
{
    static const unsigned features[] = {PROBLEM_LIMITS, PROBLEM_PLAIN, PROBLEM_LIMITS | PROBLEM_LOCKS, PROBLEM_LIMITS};
    scene_random random = scene_random_make(seed);
    problem *p = seed % 4 == 0 ? problem_make_arm(&random, 3 + (int)(seed / 4 % 6))
                               : problem_make(&random, (poise_method)(seed % POISE_METHOD_COUNT), 4,
                                              features[seed / 16 % 4] | PROBLEM_ONE_LEVEL);
    if (p) {
        p->options.trace = NULL;
        p->options.max_iterations = 12;
        p->options.restarts = seed % 3 == 0 ? 2 : 0;
    }
    return p;
}

static void run_model(void *work, int piece, int worker)
{
    (void)worker;
    uint64_t seed = *(const uint64_t *)work + (uint64_t)piece;
    problem *p = make(seed);
    poise_solver *solver = NULL;
    if (!p || poise_solver_create(p->model, &p->options, NULL, &solver, NULL) != POISE_OK) {
        atomic_fetch_add(&refused, 1);
        problem_destroy(p);
        return;
    }
    scene_random random = scene_random_make(~seed);
    double starts[16 * PROBLEM_NUMBERS], answers[16 * PROBLEM_NUMBERS], q[PROBLEM_NUMBERS];
    int kept = 0;
    for (int i = 0; i < STARTS; ++i) {
        poise_report report;
        poise_error error;
        scene_random_configuration(&random, p->model, q);
        if (kept < 16) {
            memcpy(starts + kept * p->nq, q, (size_t)p->nq * sizeof *q);
        }
        poise_status status = poise_solve(solver, p->goals, p->count, q, &report, &error);
        check(p, status, q, &report);
        if (status != POISE_OK) { // the method serves no such goals, from any start
            static atomic_bool told[POISE_METHOD_COUNT];
            if (!atomic_exchange(&told[p->options.method], true)) {
                printf("seed %llu, %s: %s\n", (unsigned long long)seed, poise_method_name(p->options.method), error.text);
            }
            break;
        }
        if (kept < 16) {
            memcpy(answers + kept++ * p->nq, q, (size_t)p->nq * sizeof *q);
        }
    }
    if (seed % 8 < 2) {
        check_batch(p, starts, answers, kept);
    }
    poise_solver_destroy(solver);
    problem_destroy(p);
}

// ---- Tracking ------------------------------------------------------------------------------------------------------------

static long frames_tracked, frames_held;

// Walk on, with noise, gaps and swapped markers, for so many seconds of the clock.
static void soak(double seconds)
{
    poise_model *model = NULL;
    poise_tracker *tracker = NULL;
    poise_kinematics *kinematics = NULL;
    scene_marker sites[MARKERS];
    poise_placement placements[MARKERS];
    poise_vec3 seen[MARKERS];
    double truth[256], q[256];
    scene_random random = scene_random_make(first_seed);
    if (scene_create("humanoid", NULL, &model, NULL) != POISE_OK ||
        poise_kinematics_create(model, NULL, &kinematics, NULL) != POISE_OK) {
        exit(EXIT_FAILURE);
    }
    scene_markers("humanoid", sites, MARKERS);
    for (int i = 0; i < MARKERS; ++i) {
        placements[i] = (poise_placement){sites[i].name, sites[i].body, sites[i].local, 1.0};
    }
    poise_track_problem task = poise_track_problem_default();
    task.model = model;
    task.placements = placements;
    task.placement_count = MARKERS;
    if (poise_tracker_create(&task, NULL, &tracker, NULL) != POISE_OK) {
        exit(EXIT_FAILURE);
    }
    time_t end = time(NULL) + (time_t)seconds;
    for (long f = 0; f % 100 != 0 || time(NULL) < end; ++f) {
        scene_motion_pose(model, scene_motion_name((int)(f / 500 % scene_motion_count())), 0.01 * (double)f, truth);
        poise_kinematics_update(kinematics, truth, NULL);
        for (int i = 0; i < MARKERS; ++i) {
            seen[i] = poise_kinematics_point(kinematics, placements[i].body, placements[i].local);
            seen[i].x += scene_random_index(&random, 50) == 0 ? NAN : scene_random_range(&random, -0.002, 0.002);
            seen[i].y += scene_random_index(&random, 2000) == 0 ? 1.0 : 0.0;
        }
        poise_track_frame frame;
        poise_tracker_next(tracker, seen, q, &frame, NULL);
        for (int i = 0; i < poise_model_info(model).nq; ++i) {
            atomic_fetch_add(&not_finite, !isfinite(q[i]));
        }
        atomic_fetch_add(&outside, !poise_model_within_limits(model, q));
        frames_tracked += 1;
        frames_held += (frame.flags & POISE_TRACK_HELD) != 0;
    }
    poise_tracker_destroy(tracker);
    poise_kinematics_destroy(kinematics);
    poise_model_destroy(model);
}

// ---- The run -------------------------------------------------------------------------------------------------------------

// Resident memory in kilobytes.
static long resident(void)
{
    long pages = 0, all = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) {
        if (fscanf(file, "%ld %ld", &all, &pages) != 2) {
            pages = 0;
        }
        fclose(file);
    }
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void print_counts(void)
{
    printf("%ld solves: %ld models refused, %ld outside of limits, %ld not finite, %ld rises of cost, %ld batches that "
           "differ; %ld "
           "kB\n",
           atomic_load(&solves), atomic_load(&refused), atomic_load(&outside), atomic_load(&not_finite), atomic_load(&risen),
           atomic_load(&differing), resident());
    fflush(stdout);
}

int main(int count, char **arguments)
{
    long wanted = count > 1 ? atol(arguments[1]) : 10000000;
    int threads = count > 2 ? atoi(arguments[2]) : 2;
    double seconds = count > 3 ? atof(arguments[3]) : 600.0;
    first_seed = count > 4 ? strtoull(arguments[4], NULL, 10) : 1;
    if (wanted < 0 || threads < 1 || threads > GOLDEN_THREADS_MOST || seconds < 0) {
        fprintf(stderr, "usage: endurance [SOLVES] [THREADS] [TRACKER SECONDS] [FIRST SEED]\n");
        return EXIT_FAILURE;
    }
    uint64_t seed = first_seed;
    long settled = 0;
    for (int round = 0; atomic_load(&solves) < wanted; ++round, seed += PIECES) {
        golden_parallel_for(&threads, PIECES, run_model, &seed);
        settled = round == 20 ? resident() : settled; // by then every kind of model has been there
        if (round % 100 == 0) {
            print_counts();
        }
    }
    print_counts();
    long after = resident();
    printf("memory: %ld kB after 20 rounds, %ld kB at the end; next seed %llu\n", settled, after, (unsigned long long)seed);
    if (seconds > 0) {
        soak(seconds);
        printf("%ld frames tracked, %ld held; %ld outside of limits, %ld not finite; %ld kB before, %ld kB after\n",
               frames_tracked, frames_held, atomic_load(&outside), atomic_load(&not_finite), after, resident());
    }
    bool grows = settled > 0 && after > settled + 4096; // pages that the heap keeps for a larger model now and then
    bool broken = atomic_load(&outside) + atomic_load(&not_finite) + atomic_load(&risen) + atomic_load(&differing) > 0;
    return broken || grows ? EXIT_FAILURE : EXIT_SUCCESS;
}
