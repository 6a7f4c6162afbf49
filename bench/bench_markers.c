// Marker tracking: a skeleton of 58 degrees of freedom follows 41 markers, 500 frames at 100 Hz.
//
//   bench_markers [SKELETON [FRAMES [ROUNDS]]]
//
// Frame 0 starts cold from the neutral pose, every other frame warm from the answer of the frame before. All rivals see the
// same markers, without noise and with 3 mm of it. Every rival runs the whole sequence ROUNDS times, in turn with the
// others; the time of a frame is the least of its rounds. Errors are distances between the markers of the answer and those
// seen.
#include "bench.h"
#include "marker_task.h"
#include "textbook_lm.h"

#ifdef POISE_HAS_SIMBODY
#include "peer_simbody.h"
#endif

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 500
#define ROUNDS 3
#define NOISE  0.003 // metres
#define RIVALS 24

// Where Poise stops: markers met to a micrometre, or else residuals within a thousandth of orthogonal to all that the joints
// can do, which leaves the squared error a millionth above its minimum.
#define POSITION_TOLERANCE 1e-6
#define GRADIENT_TOLERANCE 1e-3

#define TEXTBOOK_STOP    1e-3 // largest component of a step, radians or metres
#define SIMBODY_ACCURACY 1e-5

// Methods other than AUTO get this many iterations a frame, and so many frames to show that they can do it.
#define METHOD_ITERATIONS 200
#define METHOD_PROOF      10

// ---- Rivals --------------------------------------------------------------------------------------------------------------

typedef struct rival rival;

struct rival {
    char name[40];
    poise_method method;                                         // of Poise's rows
    void *(*create)(const rival *self, const marker_task *task); // NULL: cannot do it
    void (*destroy)(void *tracker);
    void (*observe)(void *tracker, const poise_vec3 *seen);
    int (*solve)(void *tracker, bool cold); // what is timed; returns iterations
    void (*points)(void *tracker, poise_vec3 *points);

    double *us; // by frame
    double square_sum, worst, cold_rms;
    long iterations;
};

typedef struct follower {
    const marker_task *task;
    poise_solver *cold, *warm;
    poise_kinematics *kinematics;
    poise_goal *goals;
    double *q;
} follower;

static void poise_destroy(void *tracker)
{
    follower *p = tracker;
    poise_solver_destroy(p->cold);
    poise_solver_destroy(p->warm);
    poise_kinematics_destroy(p->kinematics);
    free(p->goals);
    free(p->q);
    free(p);
}

static void *poise_create(const rival *self, const marker_task *task)
{
    follower *p = calloc(1, sizeof *p);
    p->task = task;
    p->goals = calloc((size_t)task->marker_count, sizeof *p->goals);
    p->q = calloc((size_t)task->nq, sizeof *p->q);
    memcpy(p->q, task->q, (size_t)task->nq * sizeof *p->q);
    poise_solver_options options = poise_solver_options_default();
    options.method = self->method;
    options.position_tolerance = POSITION_TOLERANCE;
    options.gradient_tolerance = GRADIENT_TOLERANCE;
    options.coupled_goals = 0;
    options.max_iterations = METHOD_ITERATIONS;
    options.max_rows = 3 * task->marker_count;
    poise_status status = poise_kinematics_create(task->model, NULL, &p->kinematics);
    status = status ? status : poise_solver_create(task->model, &options, NULL, &p->warm);
    options.start = POISE_START_COLD;
    status = status ? status : poise_solver_create(task->model, &options, NULL, &p->cold);
    if (status != POISE_OK) {
        poise_destroy(p);
        return NULL;
    }
    return p;
}

static void poise_observe(void *tracker, const poise_vec3 *seen)
{
    follower *p = tracker;
    for (int i = 0; i < p->task->marker_count; ++i) {
        const scene_marker *marker = &p->task->markers[i];
        p->goals[i] = poise_goal_position(marker->body, marker->local, seen[i]);
    }
}

static int poise_follow(void *tracker, bool cold)
{
    follower *p = tracker;
    poise_report report;
    if (poise_solve(cold ? p->cold : p->warm, p->goals, p->task->marker_count, p->q, &report) != POISE_OK) {
        return 0;
    }
    return report.iterations;
}

static void poise_points(void *tracker, poise_vec3 *points)
{
    follower *p = tracker;
    marker_task_points(p->task, p->kinematics, p->q, points);
}

typedef struct textbook_tracker {
    const marker_task *task;
    textbook_lm *lm;
    poise_kinematics *kinematics;
    const poise_vec3 *seen;
    double *q;
} textbook_tracker;

static void textbook_destroy(void *tracker)
{
    textbook_tracker *t = tracker;
    textbook_lm_destroy(t->lm);
    poise_kinematics_destroy(t->kinematics);
    free(t->q);
    free(t);
}

static void *textbook_create(const rival *self, const marker_task *task)
{
    (void)self;
    textbook_tracker *t = calloc(1, sizeof *t);
    t->task = task;
    t->q = calloc((size_t)task->nq, sizeof *t->q);
    memcpy(t->q, task->q, (size_t)task->nq * sizeof *t->q);
    t->lm = textbook_lm_create(task->model, task->markers, task->marker_count);
    if (!t->lm || poise_kinematics_create(task->model, NULL, &t->kinematics) != POISE_OK) {
        textbook_destroy(t);
        return NULL;
    }
    return t;
}

static void textbook_observe(void *tracker, const poise_vec3 *seen)
{
    ((textbook_tracker *)tracker)->seen = seen;
}

static int textbook_track(void *tracker, bool cold)
{
    textbook_tracker *t = tracker;
    (void)cold;
    return textbook_lm_solve(t->lm, t->seen, TEXTBOOK_STOP, t->q);
}

static void textbook_points(void *tracker, poise_vec3 *points)
{
    textbook_tracker *t = tracker;
    marker_task_points(t->task, t->kinematics, t->q, points);
}

#ifdef POISE_HAS_SIMBODY
static void *simbody_create(const rival *self, const marker_task *task)
{
    (void)self;
    return peer_simbody_create(task->model, task->markers, task->marker_count, SIMBODY_ACCURACY);
}

static void simbody_destroy(void *tracker)
{
    peer_simbody_destroy(tracker);
}

static void simbody_observe(void *tracker, const poise_vec3 *seen)
{
    peer_simbody_observe(tracker, seen);
}

static int simbody_track(void *tracker, bool cold)
{
    return peer_simbody_solve(tracker, cold);
}

static void simbody_points(void *tracker, poise_vec3 *points)
{
    peer_simbody_points(tracker, points);
}
#endif

// ---- Runs ----------------------------------------------------------------------------------------------------------------

// The errors of one frame, into the sums of a rival.
static void judge(rival *r, const marker_task *task, int frame, const poise_vec3 *points)
{
    const poise_vec3 *seen = marker_task_frame(task, frame);
    double sum = 0.0, worst = 0.0;
    for (int i = 0; i < task->marker_count; ++i) {
        double dx = points[i].x - seen[i].x, dy = points[i].y - seen[i].y, dz = points[i].z - seen[i].z;
        double square = dx * dx + dy * dy + dz * dz;
        sum += square;
        worst = fmax(worst, square);
    }
    if (frame == 0) {
        r->cold_rms = sqrt(sum / task->marker_count);
        return;
    }
    r->square_sum += sum;
    r->worst = fmax(r->worst, sqrt(worst));
}

// Track the first `frames` frames. False when the rival cannot do this task.
static bool run(rival *r, const marker_task *task, int frames)
{
    void *tracker = r->create(r, task);
    poise_vec3 *points = calloc((size_t)task->marker_count, sizeof *points);
    r->square_sum = r->worst = 0.0;
    r->iterations = 0;
    for (int t = 0; tracker && t < frames; ++t) {
        r->observe(tracker, marker_task_frame(task, t));
        double start = bench_now();
        int iterations = r->solve(tracker, t == 0);
        double us = (bench_now() - start) * 1e-3;
        r->us[t] = fmin(r->us[t], us);
        r->iterations += t > 0 ? iterations : 0;
        r->points(tracker, points);
        judge(r, task, t, points);
    }
    free(points);
    if (tracker) {
        r->destroy(tracker);
    }
    return tracker != NULL;
}

static double rms(const rival *r, const marker_task *task, int frames)
{
    return sqrt(r->square_sum / ((double)task->marker_count * (frames - 1)));
}

static void add_rival(rival *rivals, int *count, rival r, const marker_task *task)
{
    r.us = malloc((size_t)task->frame_count * sizeof *r.us);
    for (int t = 0; t < task->frame_count; ++t) {
        r.us[t] = INFINITY;
    }
    rivals[(*count)++] = r;
}

static rival poise_rival(poise_method method)
{
    rival r = {.method = method,
               .create = poise_create,
               .destroy = poise_destroy,
               .observe = poise_observe,
               .solve = poise_follow,
               .points = poise_points};
    snprintf(r.name, sizeof r.name, "poise %s", poise_method_name(method));
    return r;
}

// AUTO, then what else Poise has that can do it: the first frames as well as AUTO does them.
static void add_methods(rival *rivals, int *count, const marker_task *task)
{
    add_rival(rivals, count, poise_rival(POISE_METHOD_AUTO), task);
    int proof = task->frame_count < METHOD_PROOF ? task->frame_count : METHOD_PROOF;
    run(&rivals[0], task, proof);
    double bar = fmax(1.001 * rms(&rivals[0], task, proof), POSITION_TOLERANCE);
    for (int m = POISE_METHOD_AUTO + 1; m < POISE_METHOD_COUNT; ++m) {
        rival r = poise_rival((poise_method)m);
        if (strcmp(poise_method_name((poise_method)m), "unknown") == 0) {
            continue;
        }
        add_rival(rivals, count, r, task);
        rival *added = &rivals[*count - 1];
        if (!run(added, task, proof) || !(rms(added, task, proof) <= bar)) {
            printf("  %s does not get there in %d iterations a frame\n", added->name, METHOD_ITERATIONS);
            free(added->us);
            *count -= 1;
        }
    }
}

static int gather(rival *rivals, const marker_task *task)
{
    int count = 0;
    add_methods(rivals, &count, task);
    rival textbook = {.name = "textbook dense LM",
                      .create = textbook_create,
                      .destroy = textbook_destroy,
                      .observe = textbook_observe,
                      .solve = textbook_track,
                      .points = textbook_points};
    add_rival(rivals, &count, textbook, task);
#ifdef POISE_HAS_SIMBODY
    rival simbody = {.name = "Simbody Assembler 1e-5",
                     .create = simbody_create,
                     .destroy = simbody_destroy,
                     .observe = simbody_observe,
                     .solve = simbody_track,
                     .points = simbody_points};
    add_rival(rivals, &count, simbody, task);
#endif
    return count;
}

// ---- Tables --------------------------------------------------------------------------------------------------------------

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct times {
    double cold, mean, median, p99, most;
} times;

// Of the warm frames, which it sorts.
static times times_of(rival *r, int frames)
{
    times t = {.cold = r->us[0]};
    int n = frames - 1;
    double *warm = r->us + 1;
    qsort(warm, (size_t)n, sizeof *warm, by_size);
    for (int i = 0; i < n; ++i) {
        t.mean += warm[i] / n;
    }
    t.median = warm[n / 2];
    t.p99 = warm[(int)(0.99 * n)];
    t.most = warm[n - 1];
    return t;
}

static void print_table(rival *rivals, int count, const marker_task *task)
{
    int frames = task->frame_count;
    double first = 0.0;
    printf("%-28s %10s %9s %9s %9s %9s %12s %11s %11s %8s %9s\n", "", "cold us", "mean us", "median", "p99", "max",
           "cold rms mm", "rms mm", "worst mm", "iter.", "to poise");
    for (int i = 0; i < count; ++i) {
        rival *r = &rivals[i];
        if (r->us[0] == INFINITY) {
            printf("%-28s cannot do it\n", r->name);
            continue;
        }
        times t = times_of(r, frames);
        first = i == 0 ? t.mean : first;
        printf("%-28s %10.1f %9.1f %9.1f %9.1f %9.1f %12.3e %11.4e %11.4e %8.2f %8.1fx\n", r->name, t.cold, t.mean, t.median,
               t.p99, t.most, r->cold_rms * 1e3, rms(r, task, frames) * 1e3, r->worst * 1e3,
               (double)r->iterations / (frames - 1), t.mean / first);
    }
    printf("\n");
}

static void compete(const marker_task *task, double sigma, int rounds)
{
    rival rivals[RIVALS];
    printf("%s: %d dofs, %d markers, %d frames, noise %.0f mm\n", task->name, task->nv, task->marker_count,
           task->frame_count, sigma * 1e3);
    int count = gather(rivals, task);
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < count; ++i) {
            run(&rivals[i], task, task->frame_count);
        }
    }
    print_table(rivals, count, task);
    for (int i = 0; i < count; ++i) {
        free(rivals[i].us);
    }
}

static bool compete_on_file(const char *path, int frames, int rounds)
{
    const double noise[2] = {0.0, NOISE};
    for (int i = 0; i < 2; ++i) {
        marker_task task;
        if (!marker_task_read(path, frames, noise[i], &task)) {
            return false;
        }
        compete(&task, noise[i], rounds);
        marker_task_free(&task);
    }
    return true;
}

static void compete_on_scene(int frames, int rounds)
{
    const double noise[2] = {0.0, NOISE};
    for (int m = 0; m < scene_motion_count(); ++m) {
        for (int i = 0; i < 2; ++i) {
            marker_task task;
            marker_task_scene(scene_motion_name(m), frames, noise[i], &task);
            compete(&task, noise[i], rounds);
            marker_task_free(&task);
        }
    }
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "../shared/bench/skeleton58.txt";
    int frames = argc > 2 ? atoi(argv[2]) : FRAMES, rounds = argc > 3 ? atoi(argv[3]) : ROUNDS;
    if (frames < 2 || rounds < 1) {
        fprintf(stderr, "usage: bench_markers [SKELETON [FRAMES [ROUNDS]]], at least 2 frames and 1 round\n");
        return 2;
    }
    bench_print_machine();
    printf(
        "Marker tracking. Poise stops at position_tolerance %g or gradient_tolerance %g, the textbook at steps below %g,\n"
        "Simbody at its accuracy %g. Times are the least of %d rounds, frame by frame.\n\n",
        POSITION_TOLERANCE, GRADIENT_TOLERANCE, TEXTBOOK_STOP, SIMBODY_ACCURACY, rounds);
    if (!compete_on_file(path, frames, rounds)) {
        printf("No file %s: the scene \"humanoid\" and its motions instead.\n\n", path);
        compete_on_scene(frames, rounds);
    }
    return 0;
}
