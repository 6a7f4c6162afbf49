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
// while. Slow methods see the first frames only.
#include "suite.h"

#include <poise/poise.h>
#include <scenes/random.h>
#include <scenes/scenes.h>

#include <math.h>
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
#define BUDGET       5e8 // nanoseconds for one method in one scenario: slow ones see the first frames only
#define QUICK_BUDGET 2e6
#define REACHED_WARM 1e-12
#define REACHED_COLD 1e-6

typedef struct problem {
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
    int solves, outside;
    bool ran;
} outcome;

static poise_model *make_scene(void)
{
    poise_model *model;
    if (scene_create(SCENE, NULL, &model, NULL) != POISE_OK) {
        bench_fail("no scene %s", SCENE);
    }
    return model;
}

// ---- Problems ------------------------------------------------------------------------------------------------------------

// Goals of one frame: the markers at q, each off by a bell-shaped error.
static void place_markers(problem *p, int frame, const double *q, double noise, scene_random *random)
{
    static scene_marker markers[MARKERS];
    poise_kinematics *kinematics;
    if (poise_kinematics_create(p->model, NULL, &kinematics, NULL) != POISE_OK) {
        bench_fail("no kinematics");
    }
    p->markers = scene_markers(SCENE, markers, MARKERS);
    poise_kinematics_update(kinematics, q, NULL);
    for (int i = 0; i < p->markers; ++i) {
        poise_vec3 x = poise_kinematics_point(kinematics, markers[i].body, markers[i].local);
        x.x += noise * scene_random_normal(random);
        x.y += noise * scene_random_normal(random);
        x.z += noise * scene_random_normal(random);
        p->goals[frame][i] = poise_goal_position(markers[i].body, markers[i].local, x);
    }
    poise_kinematics_destroy(kinematics);
}

static int frames_of(const char *motion)
{
    int frames = (int)(scene_motion_duration(motion) * RATE);
    return frames < MOST_FRAMES ? frames : MOST_FRAMES;
}

// The walk, one frame after the other.
static void follow_walk(problem *p, double noise, int frames)
{
    scene_random random = scene_random_make(7);
    double q[MOST_NQ];
    p->frames = frames < frames_of("walk") ? frames : frames_of("walk");
    for (int frame = 0; frame < p->frames; ++frame) {
        scene_motion_pose(p->model, "walk", (frame + 1) / RATE, q);
        place_markers(p, frame, q, noise, &random);
    }
    scene_motion_pose(p->model, "walk", 0.0, p->start);
}

// So many frames of each motion.
static void start_cold(problem *p, int frames)
{
    scene_random random = scene_random_make(7);
    double q[MOST_NQ];
    for (int motion = 0; motion < scene_motion_count(); ++motion) {
        const char *name = scene_motion_name(motion);
        for (int i = 0; i < frames; ++i) {
            scene_motion_pose(p->model, name, scene_motion_duration(name) * i / frames, q);
            place_markers(p, p->frames++, q, 0.0, &random);
        }
    }
    poise_model_neutral(p->model, p->start);
}

// The scene with each joint but the root held to the middle of what it does in the walk.
static poise_model *tighten(const poise_model *model)
{
    double least[MOST_NQ], most[MOST_NQ], q[MOST_NQ];
    int nq = poise_model_info(model).nq;
    for (int frame = 0; frame < frames_of("walk"); ++frame) {
        scene_motion_pose(model, "walk", frame / RATE, q);
        for (int i = 0; i < nq; ++i) {
            least[i] = frame == 0 ? q[i] : fmin(least[i], q[i]);
            most[i] = frame == 0 ? q[i] : fmax(most[i], q[i]);
        }
    }
    poise_builder *builder;
    poise_model *tight;
    poise_builder_create(NULL, &builder, NULL);
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        poise_joint joint = *poise_model_joint_info(model, k).given;
        int first = poise_model_joint_info(model, k).q, count = poise_model_joint_info(model, k).nq;
        for (int i = 0; poise_model_joint_info(model, k).parent != POISE_WORLD && i < count; ++i) {
            double middle = 0.5 * (least[first + i] + most[first + i]), half = 0.5 * (most[first + i] - least[first + i]);
            joint.lower[i] = middle - SHARE * half;
            joint.upper[i] = middle + SHARE * half;
        }
        poise_builder_add_joint(builder, &joint, NULL);
    }
    if (poise_model_create(builder, NULL, &tight, NULL) != POISE_OK) {
        bench_fail("no scene %s", SCENE);
    }
    poise_builder_destroy(builder);
    return tight;
}

// ---- Race ----------------------------------------------------------------------------------------------------------------

static outcome *run_method(const bench *b, const problem *p, poise_method method)
{
    poise_solver_options options = poise_solver_options_default();
    options.method = method;
    options.engine = poise_papers_engine(options.method);
    options.start = p->is_cold ? POISE_START_COLD : POISE_START_WARM;
    options.max_iterations = ITERATIONS;
    options.position_tolerance = 0.0;
    options.cost_tolerance = p->has_floor ? 0.0 : p->reached;
    options.gradient_tolerance = p->has_floor ? 1e-7 : 1e-9;
    outcome *o = bench_take(1, sizeof *o);
    if (!bench_takes(b, method)) {
        return o;
    }
    poise_solver *solver;
    if (poise_solver_create(p->model, &options, NULL, &solver, NULL) != POISE_OK) {
        return o;
    }
    double q[MOST_NQ];
    memcpy(q, p->start, sizeof q);
    o->ran = true;
    double end = bench_now() + (b->is_quick ? QUICK_BUDGET : BUDGET);
    for (int frame = 0; frame < p->frames && bench_now() < end; ++frame) {
        poise_report report = {0};
        if (p->is_cold) {
            memcpy(q, p->start, sizeof q);
        }
        double begin = bench_now();
        o->ran = o->ran && poise_solve(solver, p->goals[frame], p->markers, q, &report, NULL) == POISE_OK;
        o->us[frame] = 1e-3 * (bench_now() - begin);
        o->cost[frame] = report.cost;
        o->iterations += report.iterations;
        o->evaluations += report.evaluations;
        o->outside += !poise_model_within_limits(p->model, q);
        o->solves += 1;
    }
    poise_solver_destroy(solver);
    return o;
}

static void add_row(const bench *b, const problem *p, poise_method method, outcome *o, const double *best)
{
    double cost = 0.0;
    int solved = 0, n = o->solves;
    for (int i = 0; i < n; ++i) {
        cost += o->cost[i] / n;
        solved += o->cost[i] <= (p->has_floor ? best[i] * (1.0 + ABOVE_BEST) : p->reached);
    }
    bench_times t = bench_times_of(o->us, n);
    const char *name = poise_method_name(method);
    report_row(b->report, p->is_cold ? "all" : "walk", name,
               REPORT_VALUES(n, 100.0 * solved / n, 1e3 * sqrt(2.0 * cost / p->markers), o->iterations / n,
                             o->evaluations / n, t.mean, t.p50, t.p99));
    report_promise(b->report, o->outside == 0, "%s: %d answers outside the limits", name, o->outside);
    report_promise(b->report, method != POISE_METHOD_AUTO || p->has_floor || solved == n, "%s: %d of %d solved", name,
                   solved, n);
}

static void race(const bench *b, problem *p, const report_table *table)
{
    outcome *all[POISE_METHOD_COUNT];
    double best[MOST_FRAMES];
    for (int i = 0; i < p->frames; ++i) {
        best[i] = INFINITY;
    }
    static const report_race solved = {"solved", 0.0, {"us_mean"}};
    report_begin_race(b->report, table, &solved);
    for (int m = 0; m < POISE_METHOD_COUNT; ++m) {
        bench_progress(b, poise_method_name((poise_method)m));
        all[m] = run_method(b, p, (poise_method)m);
        for (int i = 0; all[m]->ran && i < all[m]->solves; ++i) {
            best[i] = fmin(best[i], all[m]->cost[i]);
        }
    }
    for (int m = 0; m < POISE_METHOD_COUNT; ++m) {
        if (all[m]->ran) {
            add_row(b, p, (poise_method)m, all[m], best);
        }
        free(all[m]);
    }
}

void suite_methods(const bench *b)
{
    static const report_column columns[] = {
        {"frames", "frames", 0, REPORT_FIXED, false},     {"solved", "solved %", 1, REPORT_FIXED, false},
        {"error_mm", "rms mm", 0, REPORT_FIGURES, false}, {"iterations", "iter.", 1, REPORT_FIXED, false},
        {"evaluations", "eval.", 1, REPORT_FIXED, true},  {"us_mean", "us mean", 0, REPORT_FIXED, false},
        {"us_p50", "us p50", 0, REPORT_FIXED, true},      {"us_p99", "us p99", 0, REPORT_FIXED, false},
        {"ratio", "ratio", 1, REPORT_RATIO, false}};
    static const report_table tables[] = {
        {"warm", "From the answer before; solved: a cost of at most 1e-12 m^2", "motion", columns, 9},
        {"noise", "The same with 3 mm of noise; solved: within 1e-6 of the best method's cost", "motion", columns, 9},
        {"cold", "From the neutral pose; solved: a cost of at most 1e-6 m^2", "motion", columns, 9},
        {"limits", "Joints held to 60 % of their ranges; solved: within 1e-6 of the best method's cost", "motion", columns,
         9}};
    poise_model *model = make_scene();
    for (int k = 0; k < 4; ++k) {
        static problem p;
        if (!bench_wants(b, tables[k].name)) {
            continue;
        }
        p = (problem){
            .model = model, .is_cold = k == 2, .has_floor = k % 2 == 1, .reached = k == 0 ? REACHED_WARM : REACHED_COLD};
        if (p.is_cold) {
            int frames = bench_number(b, "--frames", 25, 1), most = MOST_FRAMES / scene_motion_count();
            start_cold(&p, frames < most ? frames : most);
        } else {
            follow_walk(&p, k == 1 ? NOISE : 0.0, bench_number(b, "--frames", MOST_FRAMES, 3));
        }
        p.model = k == 3 ? tighten(model) : model;
        race(b, &p, &tables[k]);
        if (k == 3) {
            poise_model_destroy(p.model);
        }
    }
    poise_model_destroy(model);
}
