// The exact-Hessian paper's problem on its own data: every method, from several starts.
//
//   bench_hdm05 [--data FOLDER] [--take NAME] [--every K] [TABLE...]
//
// | table  | start                                            | markers       | stops                                   |
// |--------|--------------------------------------------------|---------------|-----------------------------------------|
// | warm   | the own answer for the frame before              | own places    | f < 1e-2 cm^2, or 10 (100) iterations   |
// | amc    | the AMC pose of the frame before                 | own places    | the same                                |
// | made   | the own answer for the frame before              | made          | the same                                |
// | cold   | zero, root at the mean of the markers; aligned;  | made          | f < 1e-2, or 500 iterations             |
// |        | with restarts; 200 frames                        |               |                                         |
// | limits | the own answer for the frame before, within the  | made          | no direction within the limits improves |
// |        | limits of the ASF                                |               |                                         |
// | fixed  | the AMC pose of the frame before                 | mean places   | 200 iterations, or the gradient is 0    |
//
// Error is the norm of the stacked residual, sqrt(2 f), in cm: what the paper's Table 4 shows. "calm" leaves out the frames
// in which the recorded motion itself flips.
#include "bench.h"

#include <evaluate/hdm05_task.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "../shared/data/hdm05"
#define TAKE   "HDM_dg_03-05_02_120"

typedef struct contest {
    const hdm05_task *task;
    poise_goal *goals; // frames x HDM05_MARKERS, of the kind at hand
    double *q;         // nq
    int every;
} contest;

typedef struct result {
    double error, calm_error;
    int frames, calm_frames, below;
    double iterations, evaluations, us, worst_us;
} result;

static poise_solver *make_solver(const hdm05_task *task, poise_method method, int iterations, int restarts)
{
    poise_solver_options options = poise_solver_options_default();
    options.method = method;
    options.max_iterations = iterations;
    options.restarts = restarts;
    options.use_limits = false;
    options.cost_tolerance = HDM05_FTOL;
    options.gradient_tolerance = 1e-12;
    options.position_tolerance = 0.0;
    options.coupled_goals = 0;
    options.max_rows = 3 * HDM05_MARKERS;
    options.locked = task->locked;
    poise_solver *solver;
    if (poise_solver_create(task->model, &options, NULL, &solver) != POISE_OK) {
        fprintf(stderr, "bench_hdm05: no solver\n");
        exit(EXIT_FAILURE);
    }
    return solver;
}

// Solve one frame from c->q and add what came of it.
static void solve_frame(contest *c, poise_solver *solver, int frame, result *r)
{
    poise_report report;
    poise_goal goals[HDM05_MARKERS]; // as a program has them that reads frame by frame
    memcpy(goals, c->goals + (size_t)frame * HDM05_MARKERS, sizeof goals);
    double before = bench_now();
    if (poise_solve(solver, goals, HDM05_MARKERS, c->q, &report) != POISE_OK) {
        fprintf(stderr, "bench_hdm05: %s\n", poise_solver_error(solver));
        exit(EXIT_FAILURE);
    }
    double us = (bench_now() - before) / 1e3, error = sqrt(2.0 * report.cost);
    r->frames += 1;
    r->error += error;
    r->below += report.cost <= HDM05_FTOL;
    r->iterations += report.iterations;
    r->evaluations += report.evaluations;
    r->us += us;
    r->worst_us = fmax(r->worst_us, us);
    if (hdm05_is_calm(frame)) {
        r->calm_frames += 1;
        r->calm_error += error;
    }
}

static void print_result(const char *name, int iterations, const result *r)
{
    printf("%-20s %5d %9.4f %9.4f %6d of %-6d %9.2f %9.2f %9.2f %9.0f\n", name, iterations, r->error / r->frames,
           r->calm_error / (r->calm_frames > 0 ? r->calm_frames : 1), r->below, r->frames, r->iterations / r->frames,
           r->evaluations / r->frames, r->us / r->frames, r->worst_us);
    fflush(stdout);
}

static void print_head(const char *title)
{
    printf("\n%s\n%-20s %5s %9s %9s %16s %9s %9s %9s %9s\n", title, "method", "most", "error cm", "calm", "below 1e-2",
           "iter.", "eval.", "us mean", "us max");
}

static void take_goals(contest *c, hdm05_kind kind)
{
    for (int f = 0; f < c->task->frames; ++f) {
        hdm05_goals(c->task, f, kind, c->goals + (size_t)f * HDM05_MARKERS);
    }
}

static const struct {
    poise_method method;
    int iterations;
    int restarts; // from elsewhere, in frames that are not met
    int every;    // of the frames: slow ones see fewer
} entries[] = {
    {POISE_METHOD_AUTO, 10, 5, 1},
    {POISE_METHOD_AUTO, 10, 0, 1},
    {POISE_METHOD_LEVENBERG_MARQUARDT, 10, 0, 1},
    {POISE_METHOD_TRUST_REGION, 10, 0, 1},
    {POISE_METHOD_NEWTON_PROJECTED, 10, 0, 20},
    {POISE_METHOD_BFGS, 10, 0, 1},
    {POISE_METHOD_BFGS, 100, 0, 1},
    {POISE_METHOD_LBFGS, 100, 0, 1},
    {POISE_METHOD_DAMPED_LEAST_SQUARES, 10, 0, 20},
    {POISE_METHOD_GRADIENT_DESCENT, 100, 0, 20},
};

// warm: from the own last answer, the first frame from its AMC pose. amc: from the AMC pose of the frame before.
static void run_table(contest *c, bool warm)
{
    const hdm05_task *task = c->task;
    size_t bytes = (size_t)task->nq * sizeof *c->q;
    print_head(warm ? "Each frame from the answer for the one before" : "Each frame from the AMC pose of the one before");
    for (size_t e = 0; e < sizeof entries / sizeof entries[0]; ++e) {
        poise_solver *solver = make_solver(task, entries[e].method, entries[e].iterations, entries[e].restarts);
        result r = {.frames = 0};
        int every = warm ? 1 : c->every * entries[e].every;
        int last = warm && entries[e].every > 1 ? task->frames / entries[e].every : task->frames;
        memcpy(c->q, hdm05_pose(task, 0), bytes);
        for (int f = warm ? 0 : 1; f < last; f += every) {
            if (!warm) {
                memcpy(c->q, hdm05_pose(task, f - 1), bytes);
            }
            solve_frame(c, solver, f, &r);
        }
        char name[64];
        snprintf(name, sizeof name, "%s%s", poise_method_name(entries[e].method), entries[e].restarts ? ", 5 restarts" : "");
        print_result(name, entries[e].iterations, &r);
        poise_solver_destroy(solver);
    }
}

// AUTO over all frames at once, from the AMC poses of the frames before: what one core does when frames need not wait.
static void run_batch(contest *c)
{
    const hdm05_task *task = c->task;
    int count = task->frames - 1;
    poise_batch_options options = poise_batch_options_default();
    options.solver.max_iterations = 10;
    options.solver.use_limits = false;
    options.solver.cost_tolerance = HDM05_FTOL;
    options.solver.gradient_tolerance = 1e-12;
    options.solver.position_tolerance = 0.0;
    options.solver.coupled_goals = 0;
    options.solver.locked = task->locked;
    poise_batch *batch;
    poise_problem *problems = calloc((size_t)count, sizeof *problems);
    double *q = calloc((size_t)count * (size_t)task->nq, sizeof *q);
    if (!problems || !q || poise_batch_create(task->model, &options, NULL, &batch) != POISE_OK) {
        exit(EXIT_FAILURE);
    }
    double least = INFINITY, error = 0.0;
    int below = 0;
    for (int round = 0; round < 5; ++round) {
        memcpy(q, task->amc, (size_t)count * (size_t)task->nq * sizeof *q);
        for (int i = 0; i < count; ++i) {
            problems[i] = (poise_problem){.goals = c->goals + (size_t)(i + 1) * HDM05_MARKERS,
                                          .goal_count = HDM05_MARKERS,
                                          .q = q + (size_t)i * (size_t)task->nq};
        }
        double before = bench_now();
        poise_batch_solve(batch, problems, count);
        least = fmin(least, bench_now() - before);
    }
    for (int i = 0; i < count; ++i) {
        below += problems[i].report.cost <= HDM05_FTOL;
        error += sqrt(2.0 * problems[i].report.cost);
    }
    printf("auto, %d lanes: %.0f frames/s on one core, %d of %d below 1e-2, error %.4f cm\n", poise_batch_tree_lanes(batch),
           count / (least / 1e9), below, count, error / count);
    poise_batch_destroy(batch);
    free(problems);
    free(q);
}

// ---- Cold starts ---------------------------------------------------------------------------------------------------------

#define COLD_FRAMES 200

static void run_cold(contest *c)
{
    const hdm05_task *task = c->task;
    static const struct {
        const char *name;
        poise_start start;
        int restarts;
        double damping;
    } ways[] = {
        {"from zero", POISE_START_WARM, 0, 0.1},
        {"from zero, 10", POISE_START_WARM, 0, 10.0},
        {"aligned", POISE_START_COLD, 0, 0.0},
        {"aligned, 0.1", POISE_START_COLD, 0, 0.1},
        {"aligned, 1", POISE_START_COLD, 0, 1.0},
        {"aligned, 10", POISE_START_COLD, 0, 10.0},
        {"aligned, restarts", POISE_START_COLD, 20, 0.0},
    };
    print_head("Cold starts of AUTO");
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; ++w) {
        poise_solver_options options = poise_solver_options_default();
        options.max_iterations = 500;
        options.start = ways[w].start;
        options.restarts = ways[w].restarts;
        options.damping = ways[w].damping;
        options.use_limits = false;
        options.cost_tolerance = HDM05_FTOL;
        options.position_tolerance = 0.0;
        options.coupled_goals = 0;
        options.locked = task->locked;
        poise_solver *solver;
        if (poise_solver_create(task->model, &options, NULL, &solver) != POISE_OK) {
            exit(EXIT_FAILURE);
        }
        result r = {.frames = 0};
        for (int i = 0; i < COLD_FRAMES; ++i) {
            int f = (int)((long)i * task->frames / COLD_FRAMES);
            hdm05_zero(task, f, c->q);
            solve_frame(c, solver, f, &r);
        }
        print_result(ways[w].name, options.max_iterations, &r);
        poise_solver_destroy(solver);
    }
}

// ---- Limits --------------------------------------------------------------------------------------------------------------

static void run_limits(contest *c)
{
    const hdm05_task *task = c->task;
    static const poise_method methods[] = {POISE_METHOD_AUTO, POISE_METHOD_LEVENBERG_MARQUARDT, POISE_METHOD_TRUST_REGION};
    printf("\nHard limits of the ASF, to a projected gradient of 1e-6\n%-20s %10s %9s %9s %9s %14s\n", "method", "mean f",
           "iter.", "us mean", "us max", "unconverged");
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; ++m) {
        poise_solver_options options = poise_solver_options_default();
        options.method = methods[m];
        options.max_iterations = 500;
        options.gradient_tolerance = 1e-6;
        options.coupled_goals = 0;
        options.locked = task->locked;
        poise_solver *solver;
        if (poise_solver_create(task->model, &options, NULL, &solver) != POISE_OK) {
            exit(EXIT_FAILURE);
        }
        memcpy(c->q, hdm05_pose(task, 0), (size_t)task->nq * sizeof *c->q);
        double cost = 0.0, us = 0.0, worst = 0.0, iterations = 0.0;
        int frames = 0, failed = 0, outside = 0;
        for (int f = 0; f < task->frames; f += 4) {
            poise_report report;
            double before = bench_now();
            poise_solve(solver, c->goals + (size_t)f * HDM05_MARKERS, HDM05_MARKERS, c->q, &report);
            double time = (bench_now() - before) / 1e3;
            frames += 1;
            cost += report.cost;
            iterations += report.iterations;
            us += time;
            worst = fmax(worst, time);
            failed += report.outcome != POISE_OUTCOME_REACHED && report.outcome != POISE_OUTCOME_CLOSEST;
            outside += !poise_model_within_limits(task->model, c->q);
        }
        printf("%-20s %10.4f %9.2f %9.2f %9.0f %5d of %-5d%s\n", poise_method_name(methods[m]), cost / frames,
               iterations / frames, us / frames, worst, failed, frames, outside ? " LIMITS BROKEN" : "");
        poise_solver_destroy(solver);
    }
}

// ---- Fixed places --------------------------------------------------------------------------------------------------------

#define FIXED_EVERY 20
#define FIXED_MOST  256

static void run_fixed(contest *c)
{
    const hdm05_task *task = c->task;
    static const poise_method methods[] = {
        POISE_METHOD_AUTO, POISE_METHOD_TRUST_REGION, POISE_METHOD_NEWTON_PROJECTED, POISE_METHOD_LEVENBERG_MARQUARDT,
        POISE_METHOD_BFGS, POISE_METHOD_LBFGS};
    enum { METHODS = sizeof methods / sizeof methods[0] };
    static double cost[METHODS][FIXED_MOST], iterations[METHODS], us[METHODS];
    int frames = 0;
    poise_goal goals[HDM05_MARKERS];
    for (size_t m = 0; m < METHODS; ++m) {
        poise_solver_options options = poise_solver_options_default();
        options.method = methods[m];
        options.max_iterations = 200;
        options.gradient_tolerance = 1e-10;
        options.position_tolerance = 0.0;
        options.use_limits = false;
        options.coupled_goals = 0;
        options.locked = task->locked;
        poise_solver *solver;
        if (poise_solver_create(task->model, &options, NULL, &solver) != POISE_OK) {
            exit(EXIT_FAILURE);
        }
        frames = 0;
        for (int f = 1; f < task->frames && frames < FIXED_MOST; f += FIXED_EVERY) {
            hdm05_goals(task, f, HDM05_MEAN_PLACES, goals);
            memcpy(c->q, hdm05_pose(task, f - 1), (size_t)task->nq * sizeof *c->q);
            poise_report report;
            double before = bench_now();
            poise_solve(solver, goals, HDM05_MARKERS, c->q, &report);
            us[m] += (bench_now() - before) / 1e3;
            iterations[m] += report.iterations;
            cost[m][frames++] = report.cost;
        }
        poise_solver_destroy(solver);
    }
    printf("\nMarkers at mean places: best known minimum (within 1e-6) of %d frames\n%-20s %8s %10s %9s %9s\n", frames,
           "method", "reached", "mean f", "iter.", "us mean");
    for (size_t m = 0; m < METHODS; ++m) {
        int reached = 0;
        double sum = 0.0;
        for (int f = 0; f < frames; ++f) {
            double best = INFINITY;
            for (size_t k = 0; k < METHODS; ++k) {
                best = fmin(best, cost[k][f]);
            }
            reached += cost[m][f] <= best * (1.0 + 1e-6);
            sum += cost[m][f];
        }
        printf("%-20s %8d %10.4f %9.1f %9.1f\n", poise_method_name(methods[m]), reached, sum / frames,
               iterations[m] / frames, us[m] / frames);
    }
}

// ---- Main ----------------------------------------------------------------------------------------------------------------

int main(int count, char **words)
{
    const char *folder = FOLDER, *take = TAKE, *tables[8];
    int chosen = 0;
    contest c = {.every = 1};
    for (int i = 1; i < count; ++i) {
        bool has_value = i + 1 < count;
        if (strcmp(words[i], "--data") == 0 && has_value) {
            folder = words[++i];
        } else if (strcmp(words[i], "--take") == 0 && has_value) {
            take = words[++i];
        } else if (strcmp(words[i], "--every") == 0 && has_value && atoi(words[i + 1]) > 0) {
            c.every = atoi(words[++i]);
        } else if (words[i][0] != '-' && chosen < 8) {
            tables[chosen++] = words[i];
        } else {
            fprintf(stderr,
                    "usage: bench_hdm05 [--data FOLDER] [--take NAME] [--every K] [warm|amc|made|cold|limits|fixed...]\n");
            return 2;
        }
    }
    hdm05_task task;
    if (!hdm05_read(folder, "HDM_dg", take, &task)) {
        fprintf(stderr, "%s\n", task.error.text);
        return 2;
    }
    c.task = &task;
    c.q = calloc((size_t)task.nq, sizeof *c.q);
    c.goals = calloc((size_t)task.frames * HDM05_MARKERS, sizeof *c.goals);
    if (!c.q || !c.goals) {
        return EXIT_FAILURE;
    }
    bench_print_machine();
    printf("%s: %d frames, %d degrees of freedom, %d markers\n", take, task.frames, task.nv, HDM05_MARKERS);
    static const char *const all[] = {"warm", "amc", "made", "cold", "limits", "fixed"};
    for (int i = 0; i < (chosen ? chosen : 6); ++i) {
        const char *table = chosen ? tables[i] : all[i];
        bool is_paper = strcmp(table, "warm") == 0 || strcmp(table, "amc") == 0;
        take_goals(&c, is_paper ? HDM05_OWN_PLACES : HDM05_MADE_MARKERS);
        if (strcmp(table, "cold") == 0) {
            run_cold(&c);
        } else if (strcmp(table, "limits") == 0) {
            run_limits(&c);
        } else if (strcmp(table, "fixed") == 0) {
            run_fixed(&c);
        } else {
            run_table(&c, strcmp(table, "amc") != 0);
            if (strcmp(table, "amc") == 0) {
                run_batch(&c);
            }
        }
    }
    free(c.q);
    free(c.goals);
    hdm05_free(&task);
    return EXIT_SUCCESS;
}
