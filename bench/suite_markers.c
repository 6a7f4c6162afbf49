// Marker tracking: a skeleton of 58 degrees of freedom follows 41 markers, 500 frames at 100 Hz. One without limits in an
// artificial motion, for all methods; and the humanoid of the scenes, within its limits, in each of its motions.
//
// Frame 0 starts cold from the neutral pose, every other frame warm from the answer of the frame before. All contenders see
// the same markers, without noise and with 3 mm of it. Every contender runs the whole sequence several times, in turn with
// the others, and the time of a frame is the least of its rounds; slow ones see the first frames only. Errors are distances
// between the markers of the answer and those seen.
#include "marker_task.h"
#include "suite.h"
#include "textbook_lm.h"

#ifdef POISE_HAS_SIMBODY
#include "peer_simbody.h"
#endif

#include <math.h>
#include <poise/papers.h>
#include <stdlib.h>
#include <string.h>

#define NOISE        0.003 // metres
#define CONTENDERS   24
#define BUDGET       1.5e9 // nanoseconds that a contender may take
#define QUICK_BUDGET 2e7

// Where Poise and the textbook stop: markers met to a micrometre, or else residuals within a thousandth of orthogonal to all
// that the joints can do, which leaves the squared error a millionth above its minimum.
#define POSITION_TOLERANCE 1e-6
#define GRADIENT_TOLERANCE 1e-3

#define SIMBODY_ACCURACY 1e-5

// Methods other than AUTO get this many iterations a frame, and so many frames to show that they can do it.
#define METHOD_ITERATIONS 200
#define METHOD_PROOF      10

#define PAST 4 // frames that poise_predict looks at

// ---- Contenders ----------------------------------------------------------------------------------------------------------

typedef struct contender contender;

struct contender {
    char name[40];
    poise_method method;                                             // of Poise's rows
    bool predicts;                                                   // and whether they start where the last frames lead
    void *(*create)(const contender *self, const marker_task *task); // NULL: cannot do it
    void (*destroy)(void *tracker);
    void (*observe)(void *tracker, const poise_vec3 *seen);
    int (*solve)(void *tracker, bool cold); // what is timed; returns iterations
    void (*points)(void *tracker, poise_vec3 *points);

    int frames;   // that it sees
    double *us;   // by frame
    double spent; // nanoseconds
    double square_sum, worst, cold_rms;
    long iterations;
};

typedef struct follower {
    const marker_task *task;
    poise_solver *cold, *warm;
    poise_kinematics *kinematics;
    poise_goal *goals;
    double *q;
    double *past; // PAST x nq: the last answers, oldest first; NULL: they are not looked at
    int known;    // of them
} follower;

static void poise_destroy(void *tracker)
{
    follower *p = tracker;
    poise_solver_destroy(p->cold);
    poise_solver_destroy(p->warm);
    poise_kinematics_destroy(p->kinematics);
    free(p->goals);
    free(p->q);
    free(p->past);
    free(p);
}

static void *poise_create(const contender *self, const marker_task *task)
{
    follower *p = bench_take(1, sizeof *p);
    p->task = task;
    p->goals = bench_take((size_t)task->marker_count, sizeof *p->goals);
    p->q = bench_take((size_t)task->nq, sizeof *p->q);
    memcpy(p->q, task->q, (size_t)task->nq * sizeof *p->q);
    p->past = self->predicts ? bench_take(PAST * (size_t)task->nq, sizeof *p->past) : NULL;
    poise_solver_options options = poise_solver_options_default();
    options.method = self->method;
    options.engine = poise_papers_engine(options.method);
    options.position_tolerance = POSITION_TOLERANCE;
    options.gradient_tolerance = GRADIENT_TOLERANCE;
    options.coupled_goals = 0;
    options.max_iterations = METHOD_ITERATIONS;
    options.rows.max_rows = 3 * task->marker_count;
    poise_status status = poise_kinematics_create(task->model, NULL, &p->kinematics, NULL);
    status = status ? status : poise_solver_create(task->model, &options, NULL, &p->warm, NULL);
    options.start = POISE_START_COLD;
    status = status ? status : poise_solver_create(task->model, &options, NULL, &p->cold, NULL);
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

// Keep the answer, as the last of PAST.
static void remember(follower *p)
{
    size_t nq = (size_t)p->task->nq;
    if (p->known == PAST) {
        memmove(p->past, p->past + nq, (PAST - 1) * nq * sizeof *p->past);
        p->known -= 1;
    }
    memcpy(p->past + (size_t)p->known * nq, p->q, nq * sizeof *p->past);
    p->known += 1;
}

static int poise_follow(void *tracker, bool cold)
{
    follower *p = tracker;
    poise_report report;
    if (p->known > 0) {
        poise_predict(p->task->model, p->past, p->known, p->q, NULL);
    }
    if (poise_solve(cold ? p->cold : p->warm, p->goals, p->task->marker_count, p->q, &report, NULL) != POISE_OK) {
        return 0;
    }
    if (p->past) {
        remember(p);
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

static void *textbook_create(const contender *self, const marker_task *task)
{
    (void)self;
    textbook_tracker *t = bench_take(1, sizeof *t);
    t->task = task;
    t->q = bench_take((size_t)task->nq, sizeof *t->q);
    memcpy(t->q, task->q, (size_t)task->nq * sizeof *t->q);
    t->lm = textbook_lm_create(task->model, task->markers, task->marker_count, POSITION_TOLERANCE, GRADIENT_TOLERANCE);
    if (!t->lm || poise_kinematics_create(task->model, NULL, &t->kinematics, NULL) != POISE_OK) {
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
    return textbook_lm_solve(t->lm, t->seen, cold, t->q);
}

static void textbook_points(void *tracker, poise_vec3 *points)
{
    textbook_tracker *t = tracker;
    marker_task_points(t->task, t->kinematics, t->q, points);
}

#ifdef POISE_HAS_SIMBODY
static void *simbody_create(const contender *self, const marker_task *task)
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

// The errors of one frame, into the sums of a contender.
static void judge(contender *r, const marker_task *task, int frame, const poise_vec3 *points)
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

// Track the first frames. False when the contender cannot do this task.
static bool run(contender *r, const marker_task *task, int frames)
{
    double begin = bench_now();
    void *tracker = r->create(r, task);
    poise_vec3 *points = bench_take((size_t)task->marker_count, sizeof *points);
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
    r->spent += bench_now() - begin;
    if (tracker) {
        r->destroy(tracker);
    }
    return tracker != NULL;
}

static double rms(const contender *r, const marker_task *task, int frames)
{
    return sqrt(r->square_sum / ((double)task->marker_count * (frames - 1)));
}

static void add_contender(contender *contenders, int *count, contender r, const marker_task *task)
{
    r.us = bench_take((size_t)task->frame_count, sizeof *r.us);
    r.frames = task->frame_count;
    for (int t = 0; t < task->frame_count; ++t) {
        r.us[t] = INFINITY;
    }
    contenders[(*count)++] = r;
}

static contender poise_contender(poise_method method)
{
    contender r = {.method = method,
                   .create = poise_create,
                   .destroy = poise_destroy,
                   .observe = poise_observe,
                   .solve = poise_follow,
                   .points = poise_points};
    snprintf(r.name, sizeof r.name, "%s", poise_method_name(method));
    return r;
}

// So many of the frames as fit into the budget, by what the first of them took.
static void ration(contender *r, int proof, double budget)
{
    int most = (int)fmin(budget / (r->spent / proof), 1e6);
    most = most > proof ? most : proof;
    r->frames = r->frames < most ? r->frames : most;
}

// AUTO from the last answer, and from where the last answers lead.
static void add_own(contender *contenders, int *count, const marker_task *task)
{
    add_contender(contenders, count, poise_contender(POISE_METHOD_AUTO), task);
    contender ahead = poise_contender(POISE_METHOD_AUTO);
    ahead.predicts = true;
    snprintf(ahead.name, sizeof ahead.name, "auto, predicted");
    add_contender(contenders, count, ahead, task);
}

// What else Poise has that can do it: the first frames as well as AUTO does them.
static void add_methods(const bench *b, contender *contenders, int *count, const marker_task *task)
{
    int proof = b->is_quick ? 2 : task->frame_count < METHOD_PROOF ? task->frame_count : METHOD_PROOF;
    run(&contenders[0], task, proof);
    double bar = fmax(1.001 * rms(&contenders[0], task, proof), POSITION_TOLERANCE);
    for (int m = POISE_METHOD_AUTO + 1; m < POISE_METHOD_COUNT; ++m) {
        contender r = poise_contender((poise_method)m);
        bench_progress(b, r.name);
        if (!bench_takes(b, r.method)) {
            continue;
        }
        add_contender(contenders, count, r, task);
        contender *added = &contenders[*count - 1];
        if (!run(added, task, proof)) {
            report_note(b->report, "%s: not for this task", added->name);
        } else if (!(rms(added, task, proof) <= bar)) {
            report_note(b->report, "%s does not get there in %d iterations a frame: rms %.2g mm", added->name,
                        METHOD_ITERATIONS, 1e3 * rms(added, task, proof));
        } else {
            ration(added, proof, b->is_quick ? QUICK_BUDGET : BUDGET);
            continue;
        }
        free(added->us);
        *count -= 1;
    }
}

static void add_peers(contender *contenders, int *count, const marker_task *task)
{
    contender textbook = {.name = "textbook dense LM",
                          .create = textbook_create,
                          .destroy = textbook_destroy,
                          .observe = textbook_observe,
                          .solve = textbook_track,
                          .points = textbook_points};
    add_contender(contenders, count, textbook, task);
#ifdef POISE_HAS_SIMBODY
    contender simbody = {.name = "Simbody Assembler",
                         .create = simbody_create,
                         .destroy = simbody_destroy,
                         .observe = simbody_observe,
                         .solve = simbody_track,
                         .points = simbody_points};
    add_contender(contenders, count, simbody, task);
#endif
}

// ---- Tables --------------------------------------------------------------------------------------------------------------

static void add_row(const bench *b, contender *r, const marker_task *task)
{
    int n = r->frames - 1;
    if (r->us[0] == INFINITY) {
        report_note(b->report, "%s: not for this task", r->name);
        return;
    }
    double cold = r->us[0];
    bench_times t = bench_times_of(r->us + 1, n);
    report_row(b->report, task->name, r->name,
               REPORT_VALUES(r->frames, 1e3 * rms(r, task, r->frames), 1e3 * r->worst, 1e3 * r->cold_rms,
                             (double)r->iterations / n, cold, t.mean, t.p50, t.p99, t.most));
}

static void compete(const bench *b, const marker_task *task, bool with_methods)
{
    contender contenders[CONTENDERS];
    int count = 0, rounds = bench_number(b, "--rounds", 3, 1);
    add_own(contenders, &count, task);
    if (with_methods) {
        add_methods(b, contenders, &count, task);
    }
    if (b->with_peers) {
        add_peers(contenders, &count, task);
    }
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < count; ++i) {
            bench_progress(b, contenders[i].name);
            if (round == 0 || contenders[i].spent < BUDGET) {
                run(&contenders[i], task, contenders[i].frames);
            }
        }
    }
    for (int i = 0; i < count; ++i) {
        add_row(b, &contenders[i], task);
        free(contenders[i].us);
    }
}

void suite_markers(const bench *b)
{
    static const report_column columns[] = {{"frames", "frames", 0, REPORT_FIXED, true},
                                            {"error_rms_mm", "rms mm", 0, REPORT_FIGURES, false},
                                            {"error_worst_mm", "worst mm", 0, REPORT_FIGURES, false},
                                            {"error_cold_mm", "cold mm", 0, REPORT_FIGURES, true},
                                            {"iterations", "iter.", 2, REPORT_FIXED, false},
                                            {"us_cold", "cold us", 0, REPORT_FIXED, false},
                                            {"us_mean", "us mean", 1, REPORT_FIXED, false},
                                            {"us_p50", "us p50", 1, REPORT_FIXED, true},
                                            {"us_p99", "us p99", 1, REPORT_FIXED, false},
                                            {"us_max", "us max", 0, REPORT_FIXED, true},
                                            {"ratio", "ratio", 1, REPORT_RATIO, false}};
    static const report_table tables[2] = {{"clean", "Markers without noise", "motion", columns, 11},
                                           {"noise", "Markers with 3 mm of noise", "motion", columns, 11}};
    static const report_race race = {"error_rms_mm", 1e3 * POSITION_TOLERANCE, {"us_mean"}};
    int frames = bench_number(b, "--frames", 500, 12);
    frames = frames < 2 ? 2 : frames;
    report_note(
        b->report,
        "Poise and the textbook stop at position_tolerance %g or gradient_tolerance %g, Simbody at its accuracy %g. Slow "
        "methods see fewer frames.",
        POSITION_TOLERANCE, GRADIENT_TOLERANCE, SIMBODY_ACCURACY);
    for (int k = 0; k < 2; ++k) {
        marker_task task;
        double sigma = k ? NOISE : 0.0;
        if (!bench_wants(b, tables[k].name)) {
            continue;
        }
        report_begin_race(b->report, &tables[k], &race);
        marker_task_swing(frames, sigma, &task);
        compete(b, &task, true);
        marker_task_free(&task);
        for (int m = 0; m < scene_motion_count(); ++m) {
            marker_task_scene(scene_motion_name(m), frames, sigma, &task);
            compete(b, &task, false);
            marker_task_free(&task);
        }
    }
}
