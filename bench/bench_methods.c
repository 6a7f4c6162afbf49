// Every method of the solver on the same problems: a humanoid of Euler joints that follows 41 markers.
//
// | scenario | start                 | markers               | a solve fails when                             |
// |----------|-----------------------|-----------------------|------------------------------------------------|
// | warm     | the answer before it  | walk at 120 Hz        | the cost stays above 1e-12 m^2                 |
// | noise    | the answer before it  | the same, 3 mm off    | the cost is 1e-6 above that of the best method |
// | cold     | neutral, start = COLD | all motions           | the cost stays above 1e-6 m^2                  |
// | limits   | the answer before it  | walk; joints limited  | the cost is 1e-6 above that of the best method |
// |          |                       | to 60 % of its ranges |                                                |
//
// In noise and limits no pose meets the markers, so a method stops where the gradient says so (relative 1e-7). Methods
// follow each their own answers there: where there are several minima a method may fall behind, or get ahead, for a
// while.
#include "bench.h"

#include <poise/poise.h>
#include <scenes/random.h>
#include <scenes/scenes.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCENE        "humanoid-euler"
#define MARKERS      64
#define MOST_NQ      128
#define MOST_FRAMES  400
#define RATE         120.0 // frames per second
#define NOISE        3e-3  // metres
#define SHARE        0.6   // of a joint's range in the motion, left by tight limits
#define ITERATIONS   500
#define ABOVE_BEST   1e-6
#define COLD_FRAMES  25  // of each motion
#define BUDGET       2e9 // nanoseconds for one method in one scenario: slow ones see the first frames only
#define REACHED_WARM 1e-12
#define REACHED_COLD 1e-6

typedef struct problem {
    const char *name;
    poise_model *model; // with the limits of the scenario
    int frames, markers;
    bool is_cold, has_floor; // has_floor: the markers cannot be met
    double reached;
    poise_goal goals[MOST_FRAMES][MARKERS];
    double start[MOST_NQ];
} problem;

typedef struct outcome {
    double cost[MOST_FRAMES], us[MOST_FRAMES];
    double iterations, evaluations;
    int solves;
    bool ran;
} outcome;

static poise_model *make_scene(void)
{
    poise_model *model;
    if (scene_create(SCENE, NULL, &model, NULL) != POISE_OK) {
        exit(EXIT_FAILURE);
    }
    return model;
}

// ---- Problems ------------------------------------------------------------------------------------------------------------

// Goals of one frame: the markers at q, each off by a bell-shaped error.
static void place_markers(problem *p, int frame, const double *q, double noise, scene_random *random)
{
    static scene_marker markers[MARKERS];
    static poise_kinematics *kinematics;
    if (!kinematics) {
        poise_kinematics_create(p->model, NULL, &kinematics);
    }
    p->markers = scene_markers(SCENE, markers, MARKERS);
    poise_kinematics_update(kinematics, q);
    for (int i = 0; i < p->markers; ++i) {
        poise_vec3 x = poise_kinematics_point(kinematics, markers[i].body, markers[i].local);
        x.x += noise * scene_random_normal(random);
        x.y += noise * scene_random_normal(random);
        x.z += noise * scene_random_normal(random);
        p->goals[frame][i] = poise_goal_position(markers[i].body, markers[i].local, x);
    }
}

static int frames_of(const char *motion)
{
    int frames = (int)(scene_motion_duration(motion) * RATE);
    return frames < MOST_FRAMES ? frames : MOST_FRAMES;
}

// The walk, one frame after the other.
static void follow_walk(problem *p, double noise)
{
    scene_random random = scene_random_make(7);
    double q[MOST_NQ];
    p->frames = frames_of("walk");
    for (int frame = 0; frame < p->frames; ++frame) {
        scene_motion_pose(p->model, "walk", (frame + 1) / RATE, q);
        place_markers(p, frame, q, noise, &random);
    }
    scene_motion_pose(p->model, "walk", 0.0, p->start);
}

static void start_cold(problem *p)
{
    scene_random random = scene_random_make(7);
    double q[MOST_NQ];
    for (int motion = 0; motion < scene_motion_count(); ++motion) {
        const char *name = scene_motion_name(motion);
        for (int i = 0; i < COLD_FRAMES; ++i) {
            scene_motion_pose(p->model, name, scene_motion_duration(name) * i / COLD_FRAMES, q);
            place_markers(p, p->frames++, q, 0.0, &random);
        }
    }
    poise_model_neutral(p->model, p->start);
}

// The scene with each joint but the root held to the middle of what it does in the walk.
static poise_model *tighten(const poise_model *model)
{
    double least[MOST_NQ], most[MOST_NQ], q[MOST_NQ];
    int nq = poise_model_nq(model);
    for (int frame = 0; frame < frames_of("walk"); ++frame) {
        scene_motion_pose(model, "walk", frame / RATE, q);
        for (int i = 0; i < nq; ++i) {
            least[i] = frame == 0 ? q[i] : fmin(least[i], q[i]);
            most[i] = frame == 0 ? q[i] : fmax(most[i], q[i]);
        }
    }
    poise_builder *builder;
    poise_model *tight;
    poise_builder_create(NULL, &builder);
    for (int k = 0; k < poise_model_joint_count(model); ++k) {
        poise_joint joint = poise_model_joint(model, k);
        int count, first = poise_model_joint_q(model, k, &count);
        for (int i = 0; poise_model_parent(model, k) != POISE_WORLD && i < count; ++i) {
            double middle = 0.5 * (least[first + i] + most[first + i]), half = 0.5 * (most[first + i] - least[first + i]);
            joint.lower[i] = middle - SHARE * half;
            joint.upper[i] = middle + SHARE * half;
        }
        poise_builder_add_joint(builder, &joint, NULL);
    }
    if (poise_model_create(builder, NULL, &tight, NULL) != POISE_OK) {
        exit(EXIT_FAILURE);
    }
    poise_builder_destroy(builder);
    return tight;
}

// ---- Race ----------------------------------------------------------------------------------------------------------------

static outcome *run_method(const problem *p, poise_method method)
{
    poise_solver_options options = poise_solver_options_default();
    options.method = method;
    options.start = p->is_cold ? POISE_START_COLD : POISE_START_WARM;
    options.max_iterations = ITERATIONS;
    options.position_tolerance = 0.0;
    options.cost_tolerance = p->has_floor ? 0.0 : p->reached;
    options.gradient_tolerance = p->has_floor ? 1e-7 : 1e-9;
    outcome *o = calloc(1, sizeof *o);
    poise_solver *solver;
    if (!o || poise_solver_create(p->model, &options, NULL, &solver) != POISE_OK) {
        return o;
    }
    double q[MOST_NQ];
    memcpy(q, p->start, sizeof q);
    o->ran = true;
    double end = bench_now() + BUDGET;
    for (int frame = 0; frame < p->frames && bench_now() < end; ++frame) {
        poise_report report = {0};
        if (p->is_cold) {
            memcpy(q, p->start, sizeof q);
        }
        double begin = bench_now();
        o->ran = o->ran && poise_solve(solver, p->goals[frame], p->markers, q, &report) == POISE_OK;
        o->us[frame] = 1e-3 * (bench_now() - begin);
        o->cost[frame] = report.cost;
        o->iterations += report.iterations;
        o->evaluations += report.evaluations;
        o->solves += 1;
    }
    poise_solver_destroy(solver);
    return o;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_method(const problem *p, const char *name, outcome *o, const double *best)
{
    double us = 0.0, cost = 0.0;
    int failed = 0;
    for (int i = 0; i < o->solves; ++i) {
        us += o->us[i] / o->solves;
        cost += o->cost[i] / o->solves;
        failed += !(o->cost[i] <= (p->has_floor ? best[i] * (1.0 + ABOVE_BEST) : p->reached));
    }
    qsort(o->us, (size_t)o->solves, sizeof *o->us, by_size);
    printf("%-22s %8.2f %8.2f %10.1f %10.1f %10.1f %4d/%-4d %10.4g\n", name, o->iterations / o->solves,
           o->evaluations / o->solves, us, o->us[o->solves / 2], o->us[o->solves * 99 / 100], failed, o->solves, cost);
}

static void race(problem *p)
{
    static outcome *all[POISE_METHOD_COUNT];
    static double best[MOST_FRAMES];
    for (int i = 0; i < p->frames; ++i) {
        best[i] = INFINITY;
    }
    for (int m = 0; m < POISE_METHOD_COUNT; ++m) {
        all[m] = run_method(p, (poise_method)m);
        for (int i = 0; all[m] && all[m]->ran && i < all[m]->solves; ++i) {
            best[i] = fmin(best[i], all[m]->cost[i]);
        }
    }
    printf("\n%s: %d frames, %d markers\n", p->name, p->frames, p->markers);
    printf("%-22s %8s %8s %10s %10s %10s %9s %10s\n", "method", "it", "eval", "us mean", "us p50", "us p99", "failed/of",
           "mean cost");
    for (int m = 0; m < POISE_METHOD_COUNT; ++m) {
        if (all[m] && all[m]->ran) {
            print_method(p, poise_method_name((poise_method)m), all[m], best);
        }
        free(all[m]);
    }
}

int main(void)
{
    static problem warm = {.name = "warm", .reached = REACHED_WARM}, noise = {.name = "noise", .has_floor = true};
    static problem cold = {.name = "cold", .is_cold = true, .reached = REACHED_COLD};
    static problem limits = {.name = "limits", .has_floor = true};
    bench_print_machine();
    poise_model *model = make_scene();
    warm.model = noise.model = cold.model = limits.model = model;
    follow_walk(&warm, 0.0);
    follow_walk(&noise, NOISE);
    start_cold(&cold);
    follow_walk(&limits, 0.0);
    limits.model = tighten(model);
    race(&warm);
    race(&noise);
    race(&cold);
    race(&limits);
    poise_model_destroy(limits.model);
    poise_model_destroy(model);
    return EXIT_SUCCESS;
}
