// How the cost of one step of AUTO grows with the skeleton: trees and chains from 10 to 2000 degrees of freedom.
//
// Each solve runs a fixed number of iterations towards markers that a random pose has, from a random pose nearby; the time
// of a step is that of a longer solve less that of a shorter one, over the iterations in between.
#include "bench.h"

#include <poise/poise.h>
#include <scenes/random.h>
#include <scenes/scenes.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHORT  2    // iterations
#define LONG   12   // iterations
#define AWAY   0.02 // radians from the start to the pose of the markers: near enough for every step to be a plain one
#define WITHIN 1.3  // the bar: ns per degree of freedom against those at 62

typedef struct work {
    poise_model *model;
    poise_solver *solver[2]; // SHORT, LONG
    poise_goal *goals;
    int goal_count, nq;
    double *start, *q;
    int iterations, evaluations;
} work;

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory) {
        fprintf(stderr, "bench_scaling: out of memory\n");
        exit(EXIT_FAILURE);
    }
    return memory;
}

static work make(const char *scene)
{
    work w = {.goals = NULL};
    if (scene_create(scene, NULL, &w.model, NULL) != POISE_OK) {
        exit(EXIT_FAILURE);
    }
    w.nq = poise_model_nq(w.model);
    w.start = allocate((size_t)w.nq, sizeof *w.start);
    w.q = allocate((size_t)w.nq, sizeof *w.q);
    scene_random random = scene_random_make(1);
    double *there = allocate((size_t)w.nq, sizeof *there);
    poise_model_neutral(w.model, w.start);
    for (int i = 0; i < w.nq; ++i) {
        w.start[i] += scene_random_range(&random, -0.5, 0.5);
        there[i] = w.start[i] + scene_random_range(&random, -AWAY, AWAY);
    }
    w.goal_count = scene_marker_count(scene);
    scene_marker *markers = allocate((size_t)w.goal_count, sizeof *markers);
    w.goals = allocate((size_t)w.goal_count, sizeof *w.goals);
    scene_markers(scene, markers, w.goal_count);
    poise_kinematics *kinematics;
    if (poise_kinematics_create(w.model, NULL, &kinematics) != POISE_OK ||
        poise_kinematics_update(kinematics, there) != POISE_OK) {
        exit(EXIT_FAILURE);
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
        if (poise_solver_create(w.model, &options, NULL, &w.solver[i]) != POISE_OK) {
            exit(EXIT_FAILURE);
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
    if (poise_solve(w->solver[which], w->goals, w->goal_count, w->q, &report) != POISE_OK) {
        exit(EXIT_FAILURE);
    }
    w->iterations = report.iterations;
    w->evaluations = report.evaluations;
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

// Nanoseconds of one step.
static double step_time(const char *scene, int *dofs, int *markers, double *evaluations)
{
    work w = make(scene);
    const bench_work works[2] = {run_short, run_long};
    void *const users[2] = {&w, &w};
    double ns[2];
    run(&w, 0);
    int few = w.iterations, before = w.evaluations;
    run(&w, 1);
    int many = w.iterations;
    *evaluations = many > few ? (double)(w.evaluations - before) / (many - few) : 0.0;
    bench_race(works, users, 2, ns);
    *dofs = poise_model_nv(w.model);
    *markers = w.goal_count;
    forget(&w);
    return many > few ? (ns[1] - ns[0]) / (many - few) : 0.0;
}

int main(void)
{
    static const int sizes[] = {10, 62, 200, 500, 1000, 2000};
    static const char *const families[] = {"tree", "chain"};
    bench_print_machine();
    printf("one iteration of AUTO, step and evaluation\n\n%-12s %6s %8s %10s %10s %8s\n", "scene", "dofs", "markers", "us",
           "ns/dof", "against 62");
    bool holds = true;
    for (size_t f = 0; f < 2; ++f) {
        double at_62 = 0.0;
        double per_dof[sizeof sizes / sizeof sizes[0]];
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
            char scene[32];
            int dofs, markers;
            double evaluations;
            snprintf(scene, sizeof scene, "%s-%d", families[f], sizes[i]);
            double ns = step_time(scene, &dofs, &markers, &evaluations);
            per_dof[i] = ns / dofs;
            at_62 = sizes[i] == 62 ? per_dof[i] : at_62;
            printf("%-12s %6d %8d %10.2f %6.2f %10.1f", scene, dofs, markers, ns / 1e3, evaluations, per_dof[i]);
            if (at_62 > 0) {
                printf(" %8.2f", per_dof[i] / at_62);
                holds = holds && (f > 0 || per_dof[i] <= WITHIN * at_62);
            }
            printf("\n");
        }
    }
    return holds ? EXIT_SUCCESS : EXIT_FAILURE;
}
