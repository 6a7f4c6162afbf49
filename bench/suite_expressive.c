// ERIK and its successor side by side on skeletons C to G: the same postures, targets and measures in one run.
//
// Samples are single questions, postures of the evaluation's sets at its orientations; the successor is cold. On paths the
// target turns by one degree from step to step, 360 times, about a fixed axis, and the successor goes on from its last
// answer. A step in which a joint moves by more than 20 degrees is a jump. Narrow limits: swings from 0 to 100 degrees, the
// first joint to 60 degrees either way.
//
//   shape:  weighted mean of |angle -+ angle of the posture| in degrees, the sign the better one for each run of swings
//   solved: error up to 0.04
#include "suite.h"

#include <papers/reproduce/erik_evaluation.h>
#include <poise/expressive.h>
#include <scenes/random.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_JOINTS (EVALUATE_MOST_DIMENSIONS + 2)
#define JUMP        (20.0 * 3.14159265358979323846 / 180.0)
#define STEPS       360
#define SEED        2019

typedef enum contender { ERIK = 0, METRIC, SHAPE, CONTENDERS } contender;

static const char *const contender_names[CONTENDERS] = {"erik", "metric", "shape"};

typedef struct tally {
    int64_t count, ok, aimed, steps, jumps, violations;
    double error, orientation, shape;
    double *us; // by question
} tally;

typedef struct setting {
    const bench *bench;
    const evaluate_problem *problem;
    poise_model *model; // with the limits of this run
    poise_erik *erik;
    poise_expressive *cold[CONTENDERS], *warm[CONTENDERS];
    poise_erik_options options;
} setting;

static const double degree = 3.14159265358979323846 / 180.0;

// The scene's model again, with other limits.
static poise_model *narrow_model(const poise_model *model)
{
    poise_builder *builder = NULL;
    poise_model *made = NULL;
    if (poise_builder_create(NULL, &builder, NULL) != POISE_OK) {
        return NULL;
    }
    int n = poise_model_info(model).joints;
    for (int i = 0; i < n; ++i) {
        poise_joint joint = *poise_model_joint_info(model, i).given;
        bool twists = joint.axis.y != 0.0;
        joint.lower[0] = !twists ? 0.0 : i == 0 ? -60.0 * degree : joint.lower[0];
        joint.upper[0] = !twists ? 100.0 * degree : i == 0 ? 60.0 * degree : joint.upper[0];
        poise_builder_add_joint(builder, &joint, NULL);
    }
    poise_model_create(builder, NULL, &made, NULL);
    poise_builder_destroy(builder);
    return made;
}

// ---- Measures ------------------------------------------------------------------------------------------------------------

static double shape_error(const setting *s, const double *posture, const double *q)
{
    int n = poise_erik_joints(s->erik).count;
    double sum = 0.0, weights = 0.0, power = 1.0, as_is = 0.0, other = 0.0;
    for (int k = 0; k < n; ++k) {
        if (poise_erik_joints(s->erik).links[k].is_twister) {
            sum += fmin(as_is, other);
            as_is = other = 0.0;
            continue;
        }
        as_is += power * fabs(q[k] - posture[k]);
        other += power * fabs(q[k] + posture[k]);
        weights += power;
        power *= s->options.aggravation;
    }
    return (sum + fmin(as_is, other)) / weights / degree;
}

static void ask(const setting *s, contender who, bool is_path, const double *posture, poise_quat target, double *q, tally *t)
{
    poise_erik_report report;
    double begin = bench_now();
    if (who == ERIK) {
        poise_erik_solve(s->erik, posture, target, q, NULL, NULL);
    } else {
        poise_goal goal = poise_goal_orientation(s->options.body, target);
        poise_expressive_solve(is_path ? s->warm[who] : s->cold[who], &goal, 1, posture, q, NULL, NULL);
    }
    t->us[t->count] = (bench_now() - begin) * 1e-3;
    poise_erik_measure(s->erik, posture, target, q, &report, NULL);
    t->count += 1;
    t->ok += report.error <= s->options.threshold;
    t->aimed += report.orientation <= s->options.threshold;
    t->violations += !poise_model_within_limits(s->model, q);
    t->error += report.error;
    t->orientation += report.orientation;
    t->shape += shape_error(s, posture, q);
}

static void add_rows(const setting *s, const char *what, tally *all)
{
    for (int who = 0; who < CONTENDERS; ++who) {
        tally *t = &all[who];
        double n = (double)t->count;
        char of[24];
        bench_times times = bench_times_of(t->us, (int)t->count);
        snprintf(of, sizeof of, "%c %s", s->problem->skeleton->letter, what);
        report_row(s->bench->report, of, contender_names[who],
                   REPORT_VALUES(100.0 * (double)t->ok / n, 100.0 * (double)t->aimed / n, t->error / n, t->orientation / n,
                                 t->shape / n, t->steps ? 100.0 * (double)t->jumps / (double)t->steps : NAN,
                                 (double)t->violations, times.mean, times.p99, times.most));
        report_promise(s->bench->report, t->violations == 0, "%s, %s: %lld answers outside the limits", of,
                       contender_names[who], (long long)t->violations);
        free(t->us);
    }
}

static void start_tally(tally *t, int64_t count)
{
    for (int who = 0; who < CONTENDERS; ++who) {
        t[who] = (tally){.us = bench_take((size_t)count, sizeof *t->us)};
    }
}

// ---- Runs ----------------------------------------------------------------------------------------------------------------

// A posture of the set, its grid laid over the limits of this run's model.
static void take_posture(const setting *s, int64_t index, double *posture)
{
    const double *lower = poise_model_info(s->problem->model).lower, *upper = poise_model_info(s->problem->model).upper;
    const double *from = poise_model_info(s->model).lower, *to = poise_model_info(s->model).upper;
    evaluate_posture(s->problem, index, posture);
    for (int i = 0; i < poise_model_info(s->model).nq && s->model != s->problem->model; ++i) {
        double share = (posture[i] - lower[i]) / (upper[i] - lower[i]);
        posture[i] = from[i] + share * (to[i] - from[i]);
    }
    poise_model_clamp(s->model, posture, NULL, NULL);
}

static void run_samples(const setting *s, int64_t samples)
{
    tally t[CONTENDERS];
    int64_t count = s->problem->posture_count;
    start_tally(t, samples);
    scene_random random = scene_random_make(SEED);
    for (int64_t i = 0; i < samples; ++i) {
        int64_t posture, orientation;
        double psi[MOST_JOINTS], q[MOST_JOINTS];
        evaluate_draw(s->problem, SEED, i, &posture, &orientation);
        take_posture(s, samples < count ? scene_random_index(&random, (int)count) : posture, psi);
        for (int who = 0; who < CONTENDERS; ++who) {
            memcpy(q, psi, sizeof q);
            ask(s, (contender)who, false, psi, s->problem->orientations[orientation], q, &t[who]);
        }
    }
    add_rows(s, "samples", t);
}

static bool has_jumped(const double *before, const double *now, int n)
{
    for (int i = 0; i < n; ++i) {
        if (fabs(now[i] - before[i]) > JUMP) {
            return true;
        }
    }
    return false;
}

static void run_path(const setting *s, int64_t index, scene_random *random, tally *t)
{
    int n = poise_model_info(s->model).nq;
    double psi[MOST_JOINTS], q[MOST_JOINTS], before[MOST_JOINTS];
    take_posture(s, index, psi);
    poise_quat start = scene_random_rotation(random);
    poise_quat turn = poise_quat_from_axis_angle(scene_random_direction(random), degree);
    for (int who = 0; who < CONTENDERS; ++who) {
        poise_quat target = start;
        poise_goal goal = poise_goal_orientation(s->options.body, target);
        memcpy(q, psi, sizeof q);
        if (who != ERIK) {
            poise_expressive_solve(s->cold[who], &goal, 1, psi, q, NULL, NULL);
        }
        for (int i = 0; i <= STEPS; ++i) {
            memcpy(before, q, sizeof before);
            ask(s, (contender)who, true, psi, target, q, &t[who]);
            t[who].steps += i > 0;
            t[who].jumps += i > 0 && has_jumped(before, q, n);
            target = poise_quat_multiply(turn, target);
        }
    }
}

static void run_paths(const setting *s, int64_t paths)
{
    tally t[CONTENDERS];
    start_tally(t, paths * (STEPS + 1));
    scene_random random = scene_random_make(SEED);
    for (int64_t i = 0; i < paths; ++i) {
        run_path(s, scene_random_index(&random, (int)s->problem->posture_count), &random, t);
    }
    add_rows(s, "paths", t);
}

static bool make_contenders(setting *s)
{
    poise_expressive_options o = poise_expressive_options_default();
    o.symmetric_endpoint = true; // as ERIK has it
    o.body = s->options.body;
    o.tip = s->options.tip;
    o.aggravation = s->options.aggravation;
    bool done = poise_erik_create(s->model, &s->options, NULL, &s->erik, NULL) == POISE_OK;
    for (int who = METRIC; who < CONTENDERS; ++who) {
        o.mode = who == METRIC ? POISE_EXPRESSIVE_METRIC : POISE_EXPRESSIVE_SHAPE;
        o.warm = false;
        done = poise_expressive_create(s->model, &o, NULL, &s->cold[who], NULL) == POISE_OK && done;
        o.warm = true;
        done = poise_expressive_create(s->model, &o, NULL, &s->warm[who], NULL) == POISE_OK && done;
    }
    return done;
}

static void run_skeleton(const bench *b, int index, double aggravation, bool is_narrow, int64_t samples, int64_t paths)
{
    setting s = {.bench = b, .options = poise_erik_options_default()};
    evaluate_problem *problem;
    s.options.aggravation = aggravation;
    if (evaluate_problem_create(index, &s.options, EVALUATE_YXZ, 12, &problem) != POISE_OK) {
        bench_fail("skeleton %d cannot be made", index);
    }
    s.problem = problem;
    s.options = problem->options;
    s.model = is_narrow ? narrow_model(problem->model) : problem->model;
    if (!s.model || !make_contenders(&s)) {
        bench_fail("skeleton %d cannot be made", index);
    }
    run_samples(&s, samples);
    run_paths(&s, paths);
    for (int who = METRIC; who < CONTENDERS; ++who) {
        poise_expressive_destroy(s.cold[who]);
        poise_expressive_destroy(s.warm[who]);
    }
    poise_erik_destroy(s.erik);
    if (is_narrow) {
        poise_model_destroy(s.model);
    }
    evaluate_problem_destroy(problem);
}

void suite_expressive(const bench *b)
{
    static const report_column columns[] = {{"solved", "solved %", 1, REPORT_FIXED, false},
                                            {"aimed", "aimed %", 1, REPORT_FIXED, false},
                                            {"error", "error", 4, REPORT_FIXED, false},
                                            {"error_orientation", "orient.", 4, REPORT_FIXED, true},
                                            {"error_shape_degrees", "shape deg", 1, REPORT_FIXED, false},
                                            {"jumps", "jumps %", 2, REPORT_FIXED, false},
                                            {"violations", "out- side", 0, REPORT_FIXED, false},
                                            {"us_mean", "us mean", 1, REPORT_FIXED, false},
                                            {"us_p99", "us p99", 0, REPORT_FIXED, false},
                                            {"us_max", "us max", 0, REPORT_FIXED, true},
                                            {"ratio", "ratio", 1, REPORT_RATIO, false}};
    static const report_table tables[2] = {{"wide", "Limits of the paper", "skeleton", columns, 11},
                                           {"narrow", "Narrow limits", "skeleton", columns, 11}};
    static const report_race race = {"solved", 0.0, {"us_mean"}};
    const char *skeletons = bench_text(b, "--skeletons", "CDEFG"), *given = bench_text(b, "--aggravation", NULL);
    double aggravation = given ? atof(given) : poise_erik_options_default().aggravation;
    int samples = bench_number(b, "--samples", 2000, 50), paths = bench_number(b, "--paths", 20, 1);
    report_note(b->report, "ERIK, its successor with ERIK's metric and with the shape; aggravation %g.", aggravation);
    for (int k = 0; k < 2; ++k) {
        if (!bench_wants(b, tables[k].name)) {
            continue;
        }
        report_begin_race(b->report, &tables[k], &race);
        for (int i = 0; i < EVALUATE_SKELETONS; ++i) {
            char name[2] = {evaluate_skeleton_at(i)->letter, '\0'};
            if (strchr(skeletons, name[0])) {
                bench_progress(b, name);
                run_skeleton(b, i, aggravation, k == 1, samples, paths);
            }
        }
    }
}
