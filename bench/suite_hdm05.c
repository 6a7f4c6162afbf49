// The exact-Hessian paper's problem on its own data: every method, from several starts.
//
// | table  | start                                            | markers       | stops                                   |
// |--------|--------------------------------------------------|---------------|-----------------------------------------|
// | warm   | the own answer for the frame before              | own places    | f < 1e-2 cm^2, or 10 (100) iterations   |
// | amc    | the AMC pose of the frame before                 | own places    | the same                                |
// | batch  | the same, all frames at once                     | own places    | the same                                |
// | made   | the own answer for the frame before              | made          | the same                                |
// | cold   | zero, root at the mean of the markers; aligned;  | made          | f < 1e-2, or 500 iterations             |
// |        | with restarts; 200 frames                        |               |                                         |
// | limits | the own answer for the frame before, within the  | made          | no direction within the limits improves |
// |        | limits of the ASF                                |               |                                         |
// | fixed  | the AMC pose of the frame before                 | mean places   | 200 iterations, or the gradient is 0    |
//
// Error is the norm of the stacked residual, sqrt(2 f), in cm: what the paper's Table 4 shows. "calm" leaves out the frames
// in which the recorded motion itself flips. Solved: f < 1e-2.
#include "hdm05_suites.h"

#include <math.h>
#include <poise/papers.h>
#include <stdlib.h>
#include <string.h>

typedef struct contest {
    const bench *bench;
    const hdm05_task *task;
    poise_goal *goals; // frames x HDM05_MARKERS, of the current kind
    double *q;         // nq
    int frames;        // of the take, that are used
    double *answers;   // frames x nq, of a run that starts each solve where the last of them lead; else NULL
    int answered;      // of them
} contest;

typedef struct result {
    double error, calm_error;
    int frames, calm_frames, below;
    double iterations, evaluations;
    double *us; // by solve
} result;

static result make_result(const contest *c)
{
    return (result){.us = bench_take((size_t)c->frames, sizeof(double))};
}

static poise_solver_options paper_options(const hdm05_task *task)
{
    poise_solver_options options = poise_solver_options_default();
    options.use_limits = false;
    options.cost_tolerance = HDM05_FTOL;
    options.gradient_tolerance = 1e-12;
    options.position_tolerance = 0.0;
    options.coupled_goals = 0;
    options.rows.max_rows = 3 * HDM05_MARKERS;
    options.locked = task->locked;
    return options;
}

static poise_solver *make_solver(const hdm05_task *task, const poise_solver_options *options)
{
    poise_solver *solver;
    if (poise_solver_create(task->model, options, NULL, &solver, NULL) != POISE_OK) {
        bench_fail("no solver for the recording");
    }
    return solver;
}

// Solve one frame from c->q and add what came of it.
static poise_report solve_frame(contest *c, poise_solver *solver, int frame, result *r)
{
    poise_report report;
    poise_error why;
    poise_goal goals[HDM05_MARKERS]; // as a program has them that reads frame by frame
    memcpy(goals, c->goals + (size_t)frame * HDM05_MARKERS, sizeof goals);
    double before = bench_now();
    if (c->answered > 0) {
        poise_predict(c->task->model, c->answers, c->answered, c->q, NULL);
    }
    if (poise_solve(solver, goals, HDM05_MARKERS, c->q, &report, &why) != POISE_OK) {
        bench_fail("%s", why.text);
    }
    r->us[r->frames++] = (bench_now() - before) / 1e3;
    if (c->answers) {
        memcpy(c->answers + (size_t)c->answered++ * (size_t)c->task->nq, c->q, (size_t)c->task->nq * sizeof *c->q);
    }
    double error = sqrt(2.0 * report.cost);
    r->error += error;
    r->below += report.cost <= HDM05_FTOL;
    r->iterations += report.iterations;
    r->evaluations += report.evaluations;
    if (hdm05_is_outside_flips(frame)) {
        r->calm_frames += 1;
        r->calm_error += error;
    }
    return report;
}

static void add_result(contest *c, const char *of, const char *method, result *r)
{
    double n = r->frames;
    bench_times t = bench_times_of(r->us, r->frames);
    report_row(c->bench->report, of, method,
               REPORT_VALUES(n, 100.0 * r->below / n, r->error / n, r->calm_frames ? r->calm_error / r->calm_frames : NAN,
                             r->iterations / n, r->evaluations / n, t.mean, t.p50, t.p99, t.most));
    free(r->us);
}

static void take_goals(contest *c, hdm05_kind kind)
{
    for (int f = 0; f < c->frames; ++f) {
        hdm05_goals(c->task, f, kind, c->goals + (size_t)f * HDM05_MARKERS);
    }
}

static const report_column columns[] = {
    {"frames", "frames", 0, REPORT_FIXED, false},     {"solved", "solved %", 2, REPORT_FIXED, false},
    {"error_cm", "error cm", 4, REPORT_FIXED, false}, {"error_calm_cm", "calm cm", 4, REPORT_FIXED, false},
    {"iterations", "iter.", 2, REPORT_FIXED, false},  {"evaluations", "eval.", 2, REPORT_FIXED, true},
    {"us_mean", "us mean", 1, REPORT_FIXED, false},   {"us_p50", "us p50", 1, REPORT_FIXED, true},
    {"us_p99", "us p99", 0, REPORT_FIXED, false},     {"us_max", "us max", 0, REPORT_FIXED, true},
    {"ratio", "ratio", 1, REPORT_RATIO, false}};

#define COLUMNS ((int)(sizeof columns / sizeof columns[0]))

// ---- Frame by frame ------------------------------------------------------------------------------------------------------

static const struct {
    poise_method method;
    int iterations;
    int restarts; // from elsewhere, in frames that are not met
    int every;    // of the frames: slow ones see fewer
    bool ahead;   // warm starts are where the last answers lead
} entries[] = {
    {POISE_METHOD_AUTO, 10, 5, 1, false},
    {POISE_METHOD_AUTO, 10, 5, 1, true},
    {POISE_METHOD_AUTO, 10, 0, 1, false},
    {POISE_METHOD_LEVENBERG_MARQUARDT, 10, 0, 1, false},
    {POISE_METHOD_TRUST_REGION, 10, 0, 1, false},
    {POISE_METHOD_NEWTON_PROJECTED, 10, 0, 20, false},
    {POISE_METHOD_BFGS, 10, 0, 1, false},
    {POISE_METHOD_BFGS, 100, 0, 1, false},
    {POISE_METHOD_LBFGS, 100, 0, 1, false},
    {POISE_METHOD_DAMPED_LEAST_SQUARES, 10, 0, 20, false},
    {POISE_METHOD_GRADIENT_DESCENT, 100, 0, 20, false},
};

// warm: from the own last answer, the first frame from its AMC pose. Otherwise from the AMC pose of the frame before.
static void run_entry(contest *c, size_t e, bool warm)
{
    const hdm05_task *task = c->task;
    size_t bytes = (size_t)task->nq * sizeof *c->q;
    poise_solver_options options = paper_options(task);
    options.method = entries[e].method;
    options.engine = poise_papers_engine(options.method);
    options.max_iterations = entries[e].iterations;
    options.restarts = entries[e].restarts;
    poise_solver *solver = make_solver(task, &options);
    result r = make_result(c);
    int every = warm ? 1 : bench_number(c->bench, "--every", 1, 1) * entries[e].every;
    int last = warm && entries[e].every > 1 ? c->frames / entries[e].every : c->frames;
    memcpy(c->q, hdm05_pose(task, 0), bytes);
    c->answers = entries[e].ahead ? bench_take((size_t)c->frames, bytes) : NULL;
    for (int f = warm ? 0 : 1; f < last; f += every) {
        if (!warm) {
            memcpy(c->q, hdm05_pose(task, f - 1), bytes);
        }
        solve_frame(c, solver, f, &r);
    }
    free(c->answers);
    c->answers = NULL;
    c->answered = 0;
    char of[32], name[64];
    snprintf(of, sizeof of, "%d iter.", entries[e].iterations);
    snprintf(name, sizeof name, "%s%s%s", poise_method_name(entries[e].method), entries[e].restarts ? ", restarts" : "",
             entries[e].ahead ? ", predicted" : "");
    add_result(c, of, name, &r);
    poise_solver_destroy(solver);
}

static void run_table(contest *c, bool warm)
{
    for (size_t e = 0; e < sizeof entries / sizeof entries[0]; ++e) {
        bench_progress(c->bench, poise_method_name(entries[e].method));
        if (warm || !entries[e].ahead) {
            run_entry(c, e, warm);
        }
    }
}

// ---- All frames at once --------------------------------------------------------------------------------------------------

// AUTO from the AMC poses of the frames before: what one core does when frames need not wait.
static void run_batch(contest *c)
{
    const hdm05_task *task = c->task;
    int count = c->frames - 1, rounds = bench_number(c->bench, "--rounds", 5, 1), below = 0;
    poise_batch_options options = poise_batch_options_default();
    options.solver = paper_options(task);
    options.solver.rows.max_rows = poise_solver_options_default().rows.max_rows;
    options.solver.max_iterations = 10;
    poise_batch *batch;
    poise_problem *problems = bench_take((size_t)count, sizeof *problems);
    double *q = bench_take((size_t)count * (size_t)task->nq, sizeof *q), least = INFINITY, error = 0.0;
    if (poise_batch_create(task->model, &options, NULL, &batch, NULL) != POISE_OK) {
        bench_fail("no batch for the recording");
    }
    for (int round = 0; round < rounds; ++round) {
        memcpy(q, task->amc, (size_t)count * (size_t)task->nq * sizeof *q);
        for (int i = 0; i < count; ++i) {
            problems[i] = (poise_problem){.goals = c->goals + (size_t)(i + 1) * HDM05_MARKERS,
                                          .goal_count = HDM05_MARKERS,
                                          .q = q + (size_t)i * (size_t)task->nq};
        }
        double before = bench_now();
        poise_batch_solve(batch, problems, count, NULL);
        least = fmin(least, bench_now() - before);
    }
    for (int i = 0; i < count; ++i) {
        below += problems[i].report.cost <= HDM05_FTOL;
        error += sqrt(2.0 * problems[i].report.cost);
    }
    report_row(c->bench->report, "10 iter.", "auto",
               REPORT_VALUES(count, poise_batch_lane_counts(batch).trees, 100.0 * below / count, error / count,
                             least / count / 1e3, count / (least / 1e9)));
    poise_batch_destroy(batch);
    free(problems);
    free(q);
}

// ---- Cold starts ---------------------------------------------------------------------------------------------------------

static void run_cold(contest *c)
{
    const hdm05_task *task = c->task;
    static const struct {
        const char *name;
        poise_start start;
        int restarts;
        double damping;
    } ways[] = {
        {"zero, damping 0.1", POISE_START_WARM, 0, 0.1},
        {"zero, damping 10", POISE_START_WARM, 0, 10.0},
        {"aligned", POISE_START_COLD, 0, 0.0},
        {"aligned, damping 0.1", POISE_START_COLD, 0, 0.1},
        {"aligned, damping 1", POISE_START_COLD, 0, 1.0},
        {"aligned, damping 10", POISE_START_COLD, 0, 10.0},
        {"aligned, restarts", POISE_START_COLD, 20, 0.0},
    };
    int frames = c->bench->is_quick ? 4 : 200;
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; ++w) {
        poise_solver_options options = paper_options(task);
        options.gradient_tolerance = poise_solver_options_default().gradient_tolerance;
        options.max_iterations = 500;
        options.start = ways[w].start;
        options.restarts = ways[w].restarts;
        options.damping = ways[w].damping;
        poise_solver *solver = make_solver(task, &options);
        result r = make_result(c);
        bench_progress(c->bench, ways[w].name);
        for (int i = 0; i < frames; ++i) {
            int f = (int)((long)i * c->frames / frames);
            hdm05_zero(task, f, c->q);
            solve_frame(c, solver, f, &r);
        }
        add_result(c, ways[w].name, "auto", &r);
        poise_solver_destroy(solver);
    }
}

// ---- Limits --------------------------------------------------------------------------------------------------------------

static void run_limits(contest *c)
{
    const hdm05_task *task = c->task;
    static const poise_method methods[] = {POISE_METHOD_AUTO, POISE_METHOD_LEVENBERG_MARQUARDT, POISE_METHOD_TRUST_REGION};
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; ++m) {
        poise_solver_options options = poise_solver_options_default();
        options.method = methods[m];
        options.engine = poise_papers_engine(options.method);
        options.max_iterations = 500;
        options.gradient_tolerance = 1e-6;
        options.coupled_goals = 0;
        options.locked = task->locked;
        poise_solver *solver = make_solver(task, &options);
        result r = make_result(c);
        int ended = 0, outside = 0;
        double cost = 0.0;
        const char *name = poise_method_name(methods[m]);
        bench_progress(c->bench, name);
        memcpy(c->q, hdm05_pose(task, 0), (size_t)task->nq * sizeof *c->q);
        for (int f = 0; f < c->frames; f += 4 * bench_number(c->bench, "--every", 1, 1)) {
            poise_report report = solve_frame(c, solver, f, &r);
            cost += report.cost;
            ended += report.outcome == POISE_OUTCOME_REACHED || report.outcome == POISE_OUTCOME_CLOSEST;
            outside += !poise_model_within_limits(task->model, c->q);
        }
        bench_times t = bench_times_of(r.us, r.frames);
        report_row(c->bench->report, "ASF", name,
                   REPORT_VALUES(r.frames, 100.0 * ended / r.frames, cost / r.frames, outside, r.iterations / r.frames,
                                 t.mean, t.p50, t.p99, t.most));
        report_promise(c->bench->report, outside == 0, "%s: %d answers outside the limits", name, outside);
        free(r.us);
        poise_solver_destroy(solver);
    }
}

// ---- Fixed places --------------------------------------------------------------------------------------------------------

#define FIXED_EVERY 20
#define FIXED_MOST  256

static const poise_method fixed_methods[] = {
    POISE_METHOD_AUTO, POISE_METHOD_TRUST_REGION, POISE_METHOD_NEWTON_PROJECTED, POISE_METHOD_LEVENBERG_MARQUARDT,
    POISE_METHOD_BFGS, POISE_METHOD_LBFGS};

enum { FIXED_METHODS = sizeof fixed_methods / sizeof fixed_methods[0] };

static result run_fixed_method(contest *c, poise_method method, double *cost)
{
    const hdm05_task *task = c->task;
    poise_solver_options options = paper_options(task);
    options.method = method;
    options.engine = poise_papers_engine(options.method);
    options.max_iterations = 200;
    options.cost_tolerance = poise_solver_options_default().cost_tolerance;
    options.gradient_tolerance = 1e-10;
    poise_solver *solver = make_solver(task, &options);
    result r = make_result(c);
    bench_progress(c->bench, poise_method_name(method));
    for (int f = 1; f < c->frames && r.frames < FIXED_MOST; f += FIXED_EVERY) {
        memcpy(c->q, hdm05_pose(task, f - 1), (size_t)task->nq * sizeof *c->q);
        cost[r.frames] = 0.0;
        poise_report report = solve_frame(c, solver, f, &r);
        cost[r.frames - 1] = report.cost;
    }
    poise_solver_destroy(solver);
    return r;
}

static void run_fixed(contest *c)
{
    static double cost[FIXED_METHODS][FIXED_MOST];
    result r[FIXED_METHODS];
    for (int m = 0; m < FIXED_METHODS; ++m) {
        r[m] = run_fixed_method(c, fixed_methods[m], cost[m]);
    }
    for (int m = 0; m < FIXED_METHODS; ++m) {
        int reached = 0, frames = r[m].frames;
        double sum = 0.0;
        for (int f = 0; f < frames; ++f) {
            double best = INFINITY;
            for (int k = 0; k < FIXED_METHODS; ++k) {
                best = fmin(best, cost[k][f]);
            }
            reached += cost[m][f] <= best * (1.0 + 1e-6);
            sum += cost[m][f];
        }
        bench_times t = bench_times_of(r[m].us, frames);
        report_row(c->bench->report, "200 iter.", poise_method_name(fixed_methods[m]),
                   REPORT_VALUES(frames, 100.0 * reached / frames, sum / frames, NAN, r[m].iterations / frames, t.mean,
                                 t.p50, t.p99, t.most));
        free(r[m].us);
    }
}

// ---- The suite -----------------------------------------------------------------------------------------------------------

static const report_column batch_columns[] = {
    {"frames", "frames", 0, REPORT_FIXED, false},   {"lanes", "lanes", 0, REPORT_FIXED, false},
    {"solved", "solved %", 2, REPORT_FIXED, false}, {"error_cm", "error cm", 4, REPORT_FIXED, false},
    {"us_mean", "us mean", 2, REPORT_FIXED, false}, {"per_second", "frames /s", 0, REPORT_FIXED, false}};

static const report_column cost_columns[] = {{"frames", "frames", 0, REPORT_FIXED, false},
                                             {"solved", "solved %", 1, REPORT_FIXED, false},
                                             {"error_cost_cm2", "cost cm^2", 4, REPORT_FIXED, false},
                                             {"outside", "outside", 0, REPORT_FIXED, true},
                                             {"iterations", "iter.", 1, REPORT_FIXED, false},
                                             {"us_mean", "us mean", 1, REPORT_FIXED, false},
                                             {"us_p50", "us p50", 1, REPORT_FIXED, true},
                                             {"us_p99", "us p99", 0, REPORT_FIXED, false},
                                             {"us_max", "us max", 0, REPORT_FIXED, true},
                                             {"ratio", "ratio", 1, REPORT_RATIO, false}};

static const report_table tables[] = {
    {"warm", "Each frame from the answer for the one before", "stop", columns, COLUMNS},
    {"amc", "Each frame from the recorded pose of the one before", "stop", columns, COLUMNS},
    {"batch", "The same, all frames at once on one core", "stop", batch_columns, 6},
    {"made", "Markers where the recorded poses take them, each frame from the answer before", "stop", columns, COLUMNS},
    {"cold", "Cold starts", "start", columns, COLUMNS},
    {"limits", "Within the limits of the ASF, to a projected gradient of 1e-6; solved: converged", "limits", cost_columns,
     10},
    {"fixed", "Markers at mean places; solved: the best known minimum, within 1e-6", "stop", cost_columns, 10},
};

static void run_one(contest *c, int k)
{
    hdm05_kind kind = k < 3 ? HDM05_OWN_PLACES : k < 6 ? HDM05_MADE_MARKERS : HDM05_MEAN_PLACES;
    take_goals(c, kind);
    static const report_race race = {"solved", 0.0, {"us_mean"}};
    if (k == 2) {
        report_begin_table(c->bench->report, &tables[k]);
    } else {
        report_begin_race(c->bench->report, &tables[k], &race);
    }
    if (k == 2) {
        run_batch(c);
    } else if (k == 4) {
        run_cold(c);
    } else if (k == 5) {
        run_limits(c);
    } else if (k == 6) {
        run_fixed(c);
    } else {
        run_table(c, k != 1);
    }
}

void suite_hdm05(const bench *b)
{
    hdm05_task task;
    if (!hdm05_suite_read(b, &task)) {
        return;
    }
    contest c = {.bench = b, .task = &task, .frames = b->is_quick && task.frames > 81 ? 81 : task.frames};
    c.q = bench_take((size_t)task.nq, sizeof *c.q);
    c.goals = bench_take((size_t)task.frames * HDM05_MARKERS, sizeof *c.goals);
    report_note(b->report, "%d degrees of freedom, %d markers; error: norm of the stacked residual; solved: f < 1e-2 cm^2.",
                task.nv, HDM05_MARKERS);
    for (int k = 0; k < (int)(sizeof tables / sizeof tables[0]); ++k) {
        if (bench_wants(b, tables[k].name)) {
            run_one(&c, k);
        }
    }
    free(c.q);
    free(c.goals);
    hdm05_free(&task);
}
