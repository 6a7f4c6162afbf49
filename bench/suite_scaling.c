// How the cost of one step of AUTO grows with the skeleton: trees and chains from 10 to 2000 degrees of freedom.
//
// Each solve runs a fixed number of iterations towards markers that a random pose has, from a random pose nearby; the time
// of a step is that of a longer solve less that of a shorter one, over the iterations in between. The error is that of the
// worst marker after the longer one.
#include "suite.h"

#include <poise/poise.h>
#include <scenes/random.h>
#include <scenes/scenes.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHORT  2    // iterations
#define LONG   12   // iterations
#define AWAY   0.02 // radians from the start to the pose of the markers: near enough for every step to be a plain one
#define WITHIN 1.3  // the bar: ns per degree of freedom against those at 62

typedef struct work {
    const char *scene;
    poise_model *model;
    poise_solver *solver[2]; // SHORT, LONG
    poise_goal *goals;
    int goal_count, nq;
    double *start, *q;
    int iterations, evaluations;
    double worst;
} work;

static work make(const char *scene)
{
    work w = {.scene = scene};
    if (scene_create(scene, NULL, &w.model, NULL) != POISE_OK) {
        bench_fail("%s: cannot be solved", w.scene);
    }
    w.nq = poise_model_info(w.model).nq;
    w.start = bench_take((size_t)w.nq, sizeof *w.start);
    w.q = bench_take((size_t)w.nq, sizeof *w.q);
    scene_random random = scene_random_make(1);
    double *there = bench_take((size_t)w.nq, sizeof *there);
    poise_model_neutral(w.model, w.start);
    for (int i = 0; i < w.nq; ++i) {
        w.start[i] += scene_random_range(&random, -0.5, 0.5);
        there[i] = w.start[i] + scene_random_range(&random, -AWAY, AWAY);
    }
    w.goal_count = scene_marker_count(scene);
    scene_marker *markers = bench_take((size_t)w.goal_count, sizeof *markers);
    w.goals = bench_take((size_t)w.goal_count, sizeof *w.goals);
    scene_markers(scene, markers, w.goal_count);
    poise_kinematics *kinematics;
    if (poise_kinematics_create(w.model, NULL, &kinematics, NULL) != POISE_OK ||
        poise_kinematics_update(kinematics, there, NULL) != POISE_OK) {
        bench_fail("%s: cannot be solved", w.scene);
    }
    for (int i = 0; i < w.goal_count; ++i) {
        poise_vec3 target = poise_kinematics_point(kinematics, markers[i].body, markers[i].local);
        w.goals[i] = poise_goal_position(markers[i].body, markers[i].local, target);
    }
    poise_kinematics_destroy(kinematics);
    free(markers);
    free(there);
    for (int i = 0; i < 2; ++i) {
        poise_solver_options options = poise_solver_options_default();
        options.max_iterations = i == 0 ? SHORT : LONG;
        options.position_tolerance = options.gradient_tolerance = 0.0;
        options.coupled_goals = 0;
        options.step_limit = 1e3; // never met, but it keeps AUTO to the step over the whole tree, which is timed here
        if (poise_solver_create(w.model, &options, NULL, &w.solver[i], NULL) != POISE_OK) {
            bench_fail("%s: cannot be solved", w.scene);
        }
    }
    return w;
}

static void forget(work *w)
{
    poise_solver_destroy(w->solver[0]);
    poise_solver_destroy(w->solver[1]);
    poise_model_destroy(w->model);
    free(w->goals);
    free(w->start);
    free(w->q);
}

static void run(work *w, int which)
{
    poise_report report;
    memcpy(w->q, w->start, (size_t)w->nq * sizeof *w->q);
    if (poise_solve(w->solver[which], w->goals, w->goal_count, w->q, &report, NULL) != POISE_OK) {
        bench_fail("%s: cannot be solved", w->scene);
    }
    w->iterations = report.iterations;
    w->evaluations = report.evaluations;
    w->worst = report.worst_length;
    bench_use(report.cost);
}

static void run_short(void *user, int round)
{
    (void)round;
    run(user, 0);
}

static void run_long(void *user, int round)
{
    (void)round;
    run(user, 1);
}

static void add_row(const bench *b, const char *scene, bool is_first, double *at_62)
{
    work w = make(scene);
    const bench_work works[2] = {run_short, run_long};
    void *const users[2] = {&w, &w};
    double ns[2];
    bench_progress(b, scene);
    run(&w, 0);
    int few = w.iterations, before = w.evaluations;
    run(&w, 1);
    int many = w.iterations, dofs = poise_model_info(w.model).nv;
    if (many <= few) {
        bench_fail("%s: no iterations to time", scene);
    }
    bench_race(works, users, 2, ns);
    double step = (ns[1] - ns[0]) / (many - few), per_dof = step / dofs;
    *at_62 = dofs == 62 ? per_dof : *at_62;
    double growth = *at_62 > 0 ? per_dof / *at_62 : NAN;
    report_row(b->report, scene, "poise",
               REPORT_VALUES(dofs, w.goal_count, w.worst * 1e6, (double)(w.evaluations - before) / (many - few), step / 1e3,
                             per_dof, growth));
    report_promise(b->report, b->is_quick || !is_first || !(growth > WITHIN),
                   "%s: %.2f times the time per degree of freedom", scene, growth);
    forget(&w);
}

void suite_scaling(const bench *b)
{
    static const int sizes[] = {10, 62, 200, 500, 1000, 2000};
    static const report_column columns[] = {
        {"dofs", "dofs", 0, REPORT_FIXED, false},           {"markers", "markers", 0, REPORT_FIXED, false},
        {"error_um", "worst um", 0, REPORT_FIGURES, false}, {"evaluations", "eval. /step", 2, REPORT_FIXED, false},
        {"us_mean", "step us", 2, REPORT_FIXED, false},     {"ns_per_dof", "step ns/dof", 1, REPORT_FIXED, false},
        {"ratio", "to 62", 2, REPORT_TIMES, false}};
    static const report_table table = {"steps", "One iteration of the default method, step and evaluation", "scene", columns,
                                       7};
    report_begin_table(b->report, &table);
    for (int family = 0; family < 2; ++family) {
        double at_62 = 0.0;
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
            char scene[32];
            snprintf(scene, sizeof scene, "%s-%d", family == 0 ? "tree" : "chain", sizes[i]);
            add_row(b, scene, family == 0, &at_62);
        }
    }
}
