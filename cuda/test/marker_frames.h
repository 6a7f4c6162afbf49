// Marker problems for the tests of a device: frames of random poses, and what poise_solve answers.
#ifndef POISE_CUDA_MARKER_FRAMES_H
#define POISE_CUDA_MARKER_FRAMES_H

#include "support/test_main.h"

#include <poise/cuda.h>
#include <poise/poise.h>
#include <scenes/random.h>
#include <scenes/scenes.h>

#include <stdlib.h>
#include <string.h>

// Problems on one model, each a random pose, and what poise_solve answers.
typedef struct fixture {
    poise_model *model;
    poise_solver_options options;
    int nq, count, goal_count;
    poise_goal *goals;   // count x goal_count
    poise_vec3 *targets; // the same
    double *weights;     // the same
    double *starts, *q;  // count x nq
    poise_problem *problems;
    poise_cuda_tree_answer *answers;
    double *expected; // count x nq
    poise_report *reports;
} fixture;

static void *take(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    ck_assert(memory != NULL);
    return memory;
}

// The scene's markers, or two for each body.
static scene_marker *markers_of(const char *scene, const poise_model *model, int *count)
{
    *count = scene_marker_count(scene);
    int bodies = poise_model_info(model).joints, made = *count > 0 ? *count : 2 * bodies;
    scene_marker *markers = take((size_t)made, sizeof *markers);
    for (int i = 0; i < made; ++i) {
        markers[i].body = i / 2 % bodies;
        markers[i].local = poise_vec3_make(0.1 * (i % 2), 0.05, 0.1 * (i % 3));
    }
    scene_markers(scene, markers, *count);
    *count = made;
    return markers;
}

static void pose(fixture *f, const scene_marker *markers, double noise)
{
    scene_random random = scene_random_make(5);
    poise_kinematics *kinematics;
    double *q = take((size_t)f->nq, sizeof *q);
    ck_assert_int_eq(poise_kinematics_create(f->model, NULL, &kinematics, NULL), POISE_OK);
    for (int i = 0; i < f->count; ++i) {
        scene_random_configuration(&random, f->model, q);
        poise_kinematics_update(kinematics, q, NULL);
        for (int k = 0; k < f->goal_count; ++k) {
            int at = i * f->goal_count + k;
            poise_vec3 x = poise_kinematics_point(kinematics, markers[k].body, markers[k].local);
            x.x += noise * scene_random_normal(&random);
            x.y += noise * scene_random_normal(&random);
            f->goals[at] = poise_goal_position(markers[k].body, markers[k].local, x);
            f->goals[at].weight = (i + k) % 7 != 3 ? 1.0 : k % 2 ? 0.0 : 2.5; // one of them is not seen
            f->targets[at] = x;
            f->weights[at] = f->goals[at].weight;
        }
    }
    free(q);
    poise_kinematics_destroy(kinematics);
}

static void solve_on_host(fixture *f)
{
    poise_solver *solver;
    poise_solver_options options = f->options;
    options.step_limit = 1e3; // never met; with it the host takes few points for markers, too, not for tips (cuda.h)
    options.prior = 1e-300; // too small to be seen; with it the host makes no searches without limits, as a device does not
    ck_assert_int_eq(poise_solver_create(f->model, &options, NULL, &solver, NULL), POISE_OK);
    memcpy(f->expected, f->starts, (size_t)f->count * (size_t)f->nq * sizeof *f->expected);
    for (int i = 0; i < f->count; ++i) {
        double *q = f->expected + (size_t)i * (size_t)f->nq;
        poise_status status = poise_solve(solver, f->goals + i * f->goal_count, f->goal_count, q, &f->reports[i], NULL);
        ck_assert_int_eq(status, POISE_OK);
    }
    poise_solver_destroy(solver);
}

// Cold from the neutral pose. The model is the fixture's own; a scene of no markers, or "", has two for each body.
static inline fixture make_on(poise_model *model, const char *scene, int count, int restarts, double noise)
{
    fixture f = {.model = model, .count = count, .options = poise_solver_options_default()};
    f.options.start = POISE_START_COLD;
    f.options.restarts = restarts;
    f.options.coupled_goals = 0;
    f.nq = poise_model_info(f.model).nq;
    scene_marker *markers = markers_of(scene, f.model, &f.goal_count);
    size_t many = (size_t)count, goals = many * (size_t)f.goal_count, numbers = many * (size_t)f.nq;
    f.goals = take(goals, sizeof *f.goals);
    f.targets = take(goals, sizeof *f.targets);
    f.weights = take(goals, sizeof *f.weights);
    f.starts = take(numbers, sizeof *f.starts);
    f.q = take(numbers, sizeof *f.q);
    f.expected = take(numbers, sizeof *f.expected);
    f.problems = take(many, sizeof *f.problems);
    f.answers = take(many, sizeof *f.answers);
    f.reports = take(many, sizeof *f.reports);
    pose(&f, markers, noise);
    for (int i = 0; i < count; ++i) {
        poise_model_neutral(f.model, f.starts + i * f.nq);
        f.problems[i] =
            (poise_problem){.goals = f.goals + i * f.goal_count, .goal_count = f.goal_count, .q = f.q + i * f.nq};
    }
    memcpy(f.q, f.starts, numbers * sizeof *f.q);
    solve_on_host(&f);
    free(markers);
    return f;
}

static inline fixture make(const char *scene, int count, int restarts, double noise)
{
    poise_model *model;
    ck_assert_int_eq(scene_create(scene, NULL, &model, NULL), POISE_OK);
    return make_on(model, scene, count, restarts, noise);
}

static void release(fixture *f)
{
    poise_model_destroy(f->model);
    free(f->goals), free(f->targets), free(f->weights), free(f->starts), free(f->q), free(f->expected);
    free(f->problems), free(f->answers), free(f->reports);
}

#endif
