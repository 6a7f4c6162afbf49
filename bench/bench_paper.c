// The experiments of Erleben & Andrews 2018 (Solving inverse kinematics using exact Hessian matrices), made again: a CSV
// file for each figure and table, and on standard output what the authors print beside what comes out here.
//
//   bench_paper [--data FOLDER] [--out FOLDER] [--every K] [EXPERIMENT...]
//
// | experiment | files                     | what it holds                                                               |
// |------------|---------------------------|-----------------------------------------------------------------------------|
// | fig3       | fig3.csv                  | Figs. 3-5: f after each iteration in frames spread over the take            |
// | fig7       | fig7.csv                  | Fig. 7: the same three panels for five other frames                         |
// | fig8       | fig8.csv, fig8_frame.csv  | Fig. 8: preconditioner bandwidth against tolerance of conjugate gradients   |
// | table3     | table3.csv                | Table 3: evaluations and time until f < 1e-2                                |
// | table4     | table4.csv                | Table 4: error over the whole take, each frame from the answer before       |
// | a9         | a9.csv                    | Figs. A.9, A.10: definiteness of the Hessian of an arm of two unit links    |
//
// The take is HDM05 dg_03-05_02, the first of the authors' Table 4, with markers at own places, so that f = 0 can be
// reached. Their Figs. 3-5 are from dg_03-02_01 and Fig. 7 is from mm_03-05_02 (the same scene by another actor): their
// curves can be compared in shape only. Limits are theirs: the range of each angle over the take, each end moved outwards
// by 5 % of its own size, the root free. Every K-th frame (20 unless told) counts in fig8 and table3. Frames are counted
// from 1 in all output; f is in cm^2.
#include "bench.h"

#include <evaluate/hdm05_task.h>
#include <scenes/scenes.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "../shared/data/hdm05"
#define TAKE   "HDM_dg_03-05_02_120"

#define PI         3.14159265358979323846
#define TRACE_MOST 200
#define COUNT(a)   ((int)(sizeof(a) / sizeof(a)[0]))

typedef struct study {
    hdm05_task task;
    poise_model *limited; // the same skeleton with the authors' limits
    const char *out;
    int every;
    double *q; // nq
    poise_trace trace[TRACE_MOST];
} study;

static void require(bool works, const char *what)
{
    if (!works) {
        fprintf(stderr, "bench_paper: %s\n", what);
        exit(EXIT_FAILURE);
    }
}

static FILE *open_csv(const study *s, const char *name, const char *head)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.csv", s->out, name);
    FILE *file = fopen(path, "w");
    require(file != NULL, path);
    fprintf(file, "%s\n", head);
    return file;
}

// ---- Problems and solvers ------------------------------------------------------------------------------------------------

static void find_range(const hdm05_task *task, int i, bool is_free, double *lower, double *upper)
{
    double least = INFINITY, most = -INFINITY;
    for (int f = 0; f < task->frames; ++f) {
        least = fmin(least, hdm05_pose(task, f)[i]);
        most = fmax(most, hdm05_pose(task, f)[i]);
    }
    *lower = is_free ? -INFINITY : least - 0.05 * fabs(least);
    *upper = is_free ? INFINITY : most + 0.05 * fabs(most);
}

// Joints keep their order, and with it their coordinates.
static poise_model *make_limited(const hdm05_task *task)
{
    poise_builder *builder;
    poise_model *model;
    require(poise_builder_create(NULL, &builder) == POISE_OK, "out of memory");
    for (int k = 0; k < poise_model_joint_count(task->model); ++k) {
        poise_joint joint = poise_model_joint(task->model, k);
        int count, first = poise_model_joint_q(task->model, k, &count);
        for (int i = 0; i < count; ++i) {
            find_range(task, first + i, joint.parent == NULL, &joint.lower[i], &joint.upper[i]);
        }
        require(poise_builder_add_joint(builder, &joint, NULL) == POISE_OK, joint.name);
    }
    require(poise_model_create(builder, NULL, &model, NULL) == POISE_OK, "no model with limits");
    require(poise_model_nq(model) == task->nq, "the model with limits differs");
    poise_builder_destroy(builder);
    return model;
}

static poise_solver_options make_options(study *s, poise_method method, int iterations, double tolerance)
{
    poise_solver_options options = poise_solver_options_default();
    options.method = method;
    options.max_iterations = iterations;
    options.use_limits = false;
    options.cost_tolerance = tolerance;
    options.gradient_tolerance = 1e-12;
    options.position_tolerance = 0.0;
    options.coupled_goals = 0;
    options.locked = s->task.locked;
    options.trace = s->trace;
    options.trace_capacity = TRACE_MOST;
    return options;
}

static poise_solver *make_solver(const poise_model *model, const poise_solver_options *options)
{
    poise_solver *solver;
    require(poise_solver_create(model, options, NULL, &solver) == POISE_OK, "no solver");
    return solver;
}

// Solve a frame from s->q. Returns microseconds.
static double solve(study *s, poise_solver *solver, int frame, poise_report *report)
{
    poise_goal goals[HDM05_MARKERS];
    hdm05_goals(&s->task, frame, HDM05_OWN_PLACES, goals);
    double before = bench_now();
    poise_status status = poise_solve(solver, goals, HDM05_MARKERS, s->q, report);
    double us = (bench_now() - before) / 1e3;
    require(status == POISE_OK, poise_solver_error(solver));
    return us;
}

// The start of a frame: zero, or the AMC pose of the frame before.
static void start_at(study *s, int frame, bool from_zero)
{
    if (from_zero) {
        hdm05_zero(&s->task, frame, s->q);
    } else {
        memcpy(s->q, hdm05_pose(&s->task, frame > 0 ? frame - 1 : 0), (size_t)s->task.nq * sizeof *s->q);
    }
}

typedef struct sums {
    int frames, calm, below;
    double error, calm_error, distances, iterations, evaluations, us;
} sums;

static void add_frame(study *s, poise_solver *solver, int frame, sums *sum)
{
    poise_report report;
    sum->us += solve(s, solver, frame, &report);
    double error = sqrt(2.0 * report.cost);
    sum->frames += 1;
    sum->calm += hdm05_is_calm(frame);
    sum->below += report.cost <= HDM05_FTOL;
    sum->error += error;
    sum->calm_error += hdm05_is_calm(frame) ? error : 0.0;
    sum->iterations += report.iterations;
    sum->evaluations += report.evaluations;
    for (int i = 0; i < HDM05_MARKERS; ++i) {
        sum->distances += poise_solver_goal_error(solver, i).error;
    }
}

// One frame in s->every, each from the AMC pose before.
static sums solve_some(study *s, poise_solver *solver)
{
    sums sum = {.frames = 0};
    for (int f = 1; f < s->task.frames; f += s->every) {
        start_at(s, f, false);
        add_frame(s, solver, f, &sum);
    }
    return sum;
}

// ---- Figs. 3-5 and 7: convergence ----------------------------------------------------------------------------------------

// The authors' three solvers, and the product's own. Their quasi-Newton method is BFGS, their exact one a trust region.
static const poise_method methods[] = {POISE_METHOD_BFGS, POISE_METHOD_TRUST_REGION, POISE_METHOD_LEVENBERG_MARQUARDT,
                                       POISE_METHOD_AUTO};

typedef struct panel {
    const char *figure; // in the paper; "none" for the one it leaves out
    bool has_limits, from_zero;
} panel;

// The rows of one curve after `head`, from s->q; *reached is the first iteration after which f <= 1e-2, or infinity.
// Returns the f it ends at.
static double write_curve(study *s, FILE *file, const char *head, poise_solver *solver, int frame, double *reached)
{
    poise_report report;
    *reached = INFINITY;
    solve(s, solver, frame, &report);
    for (int k = 0; k <= report.traced; ++k) {
        double f = k ? s->trace[k - 1].cost : report.start_cost;
        fprintf(file, "%s,%d,%.17g,%d\n", head, k, f, k ? s->trace[k - 1].accepted : true);
        *reached = isinf(*reached) && f <= HDM05_FTOL ? k : *reached;
    }
    return report.cost;
}

static void run_panel(study *s, FILE *file, const panel *p, const int *frames, int count)
{
    printf("fig. %s: from %s, %s limits\n", p->figure, p->from_zero ? "zero" : "the AMC pose before",
           p->has_limits ? "with" : "without");
    for (int m = 0; m < COUNT(methods); ++m) {
        // far below what the authors stop at, so that the rate at the end can be seen
        poise_solver_options options = make_options(s, methods[m], p->from_zero ? 200 : 100, 1e-20);
        options.use_limits = p->has_limits;
        options.band = 24;
        poise_solver *solver = make_solver(p->has_limits ? s->limited : s->task.model, &options);
        double sum = 0.0, worst = 0.0, reached;
        int below = 0;
        for (int i = 0; i < count; ++i) {
            char head[128];
            snprintf(head, sizeof head, "%s,%d,%s,%s,%s", p->figure, frames[i], p->from_zero ? "zero" : "previous",
                     p->has_limits ? "range" : "none", poise_method_name(methods[m]));
            start_at(s, frames[i] - 1, p->from_zero);
            worst = fmax(worst, write_curve(s, file, head, solver, frames[i] - 1, &reached));
            below += isfinite(reached);
            sum += isfinite(reached) ? reached : 0.0;
        }
        printf("  %-20s %2d of %2d below 1e-2, after %5.1f iterations; largest f at the end %8.1e\n",
               poise_method_name(methods[m]), below, count, sum / fmax(below, 1), worst);
        poise_solver_destroy(solver);
    }
}

static void run_convergence(study *s, const char *name)
{
    static const panel panels[2][4] = {
        {{"3", false, false}, {"4", true, false}, {"5", false, true}, {"none", true, true}},
        {{"7 left", false, false}, {"7 middle", true, false}, {"7 right", false, true}},
    };
    bool is_seventh = strcmp(name, "fig7") == 0;
    int frames[11], count = is_seventh ? 5 : 11;
    for (int i = 0; i < count; ++i) {
        frames[i] = is_seventh ? 500 + 700 * i : i < 10 ? 200 + 380 * i : HDM05_FLIPS_FIRST;
    }
    FILE *file = open_csv(s, name, "figure,frame,start,limits,method,iteration,f,accepted");
    printf("\nConvergence (%s.csv)\n", name);
    for (int i = 0; i < (is_seventh ? 3 : 4); ++i) {
        run_panel(s, file, &panels[is_seventh][i], frames, count);
    }
    fclose(file);
}

// ---- Fig. 8: conjugate gradients -----------------------------------------------------------------------------------------

// The authors sweep bands 0 to 24 and tolerances 0.2 to 0.01 in one frame; further ones are added here.
static const int bands[] = {0, 1, 2, 4, 8, 16, 24, 32, 57};
static const double tolerances[] = {0.2, 0.1, 0.01, 0.001};

static void run_sweep(study *s, const char *name)
{
    FILE *file = open_csv(s, name, "band,cg_tolerance,frames,iterations,evaluations,us,below,f_of_flip");
    FILE *curves = open_csv(s, "fig8_frame", "frame,band,cg_tolerance,iteration,f,accepted");
    printf("\nFig. 8: trust region, one frame in %d from the AMC pose before, to f < 1e-2 or 100 iterations (fig8.csv)\n"
           "The authors choose band 24, tolerance 0.1. In frame %d the AMC flips.\n%5s %9s %9s %9s %9s %14s %12s\n",
           s->every, HDM05_FLIPS_FIRST, "band", "tolerance", "iter.", "eval.", "us", "below 1e-2", "f of 2842");
    for (int i = 0; i < COUNT(bands) * COUNT(tolerances); ++i) {
        poise_solver_options options = make_options(s, POISE_METHOD_TRUST_REGION, 100, HDM05_FTOL);
        options.band = bands[i / COUNT(tolerances)];
        options.cg_tolerance = tolerances[i % COUNT(tolerances)];
        poise_solver *solver = make_solver(s->task.model, &options);
        sums sum = solve_some(s, solver);
        double reached;
        char head[64];
        snprintf(head, sizeof head, "%d,%d,%g", HDM05_FLIPS_FIRST, options.band, options.cg_tolerance);
        start_at(s, HDM05_FLIPS_FIRST - 1, false);
        double flip = write_curve(s, curves, head, solver, HDM05_FLIPS_FIRST - 1, &reached);
        fprintf(file, "%d,%g,%d,%.6g,%.6g,%.6g,%d,%.9g\n", options.band, options.cg_tolerance, sum.frames,
                sum.iterations / sum.frames, sum.evaluations / sum.frames, sum.us / sum.frames, sum.below, flip);
        printf("%5d %9g %9.2f %9.2f %9.1f %6d of %-5d %12.3g\n", options.band, options.cg_tolerance,
               sum.iterations / sum.frames, sum.evaluations / sum.frames, sum.us / sum.frames, sum.below, sum.frames, flip);
        poise_solver_destroy(solver);
    }
    fclose(file);
    fclose(curves);
}

// ---- Table 3: calls ------------------------------------------------------------------------------------------------------

// Printed by the authors, by kind of motion: seconds and calls of the function for each frame.
static const struct {
    const char *motion;
    double seconds[3], calls[3];
} printed_calls[] = {
    {"walking", {5.30, 0.59, 0.25}, {213.0, 3.7, 7.8}},
    {"punching", {6.05, 2.54, 0.49}, {299.3, 13.3, 17.3}},
    {"kicking", {4.68, 0.64, 0.29}, {232.3, 4.7, 10.0}},
    {"workout", {5.05, 0.78, 0.25}, {219.8, 4.8, 9.0}},
};

static void run_calls(study *s, const char *name)
{
    FILE *file = open_csv(s, name, "source,motion,method,frames,calls,seconds,below");
    printf("\nTable 3: calls / seconds for each frame until f < 1e-2 (table3.csv)\n%-24s", "");
    for (int m = 0; m < COUNT(methods); ++m) {
        printf(" %20s", poise_method_name(methods[m]));
    }
    for (int r = 0; r < COUNT(printed_calls); ++r) {
        printf("\nprinted: %-15s", printed_calls[r].motion);
        for (int m = 0; m < 3; ++m) {
            fprintf(file, "printed,%s,%s,,%g,%g,\n", printed_calls[r].motion, poise_method_name(methods[m]),
                    printed_calls[r].calls[m], printed_calls[r].seconds[m]);
            printf(" %9.1f / %8.2f", printed_calls[r].calls[m], printed_calls[r].seconds[m]);
        }
    }
    printf("\nhere:    %-15s", "dg_03-05_02");
    for (int m = 0; m < COUNT(methods); ++m) {
        poise_solver_options options = make_options(s, methods[m], 1000, HDM05_FTOL);
        options.band = 24;
        poise_solver *solver = make_solver(s->task.model, &options);
        sums sum = solve_some(s, solver);
        double calls = sum.evaluations / sum.frames, seconds = sum.us / sum.frames / 1e6;
        fprintf(file, "here,dg_03-05_02,%s,%d,%.6g,%.6g,%d\n", poise_method_name(methods[m]), sum.frames, calls, seconds,
                sum.below);
        printf(" %9.1f / %8.6f", calls, seconds);
        poise_solver_destroy(solver);
    }
    printf("\n");
    fclose(file);
}

// ---- Table 4: a whole motion ---------------------------------------------------------------------------------------------

// Printed: seconds and cm for each frame; 0 where the authors print nothing.
static const struct {
    poise_method method;
    int iterations, band;
    double seconds, error;
} sequences[] = {
    {POISE_METHOD_BFGS, 10, 0, 0.38, 23.78},
    {POISE_METHOD_BFGS, 100, 0, 2.63, 1.61},
    {POISE_METHOD_TRUST_REGION, 10, 24, 1.01, 0.5},
    {POISE_METHOD_TRUST_REGION, 10, 8, 0.0, 0.0},
    {POISE_METHOD_LEVENBERG_MARQUARDT, 10, 0, 0.0, 0.0},
    {POISE_METHOD_LEVENBERG_MARQUARDT, 100, 0, 0.0, 0.0},
    {POISE_METHOD_AUTO, 10, 0, 0.0, 0.0},
};

// Where the first frame starts: its AMC pose, as in the authors' program; zero, as they write; zero, but told to be far off,
// for AUTO alone, which then aligns the root and starts again from elsewhere if it must.
static const char *const firsts[] = {"amc", "zero", "cold"};

static sums run_sequence(study *s, int e, int first)
{
    poise_solver_options options = make_options(s, sequences[e].method, sequences[e].iterations, HDM05_FTOL);
    options.band = sequences[e].band;
    poise_solver *solver = make_solver(s->task.model, &options);
    sums sum = {.frames = 0};
    start_at(s, 0, first > 0);
    if (first == 2) {
        poise_report report;
        options.start = POISE_START_COLD;
        options.max_iterations = 200;
        options.restarts = 20;
        poise_solver *cold = make_solver(s->task.model, &options);
        sum.us += solve(s, cold, 0, &report);
        poise_solver_destroy(cold);
    }
    for (int f = 0; f < s->task.frames; ++f) {
        add_frame(s, solver, f, &sum);
    }
    poise_solver_destroy(solver);
    return sum;
}

static void print_sequence(FILE *file, int e, const char *first, const sums *sum)
{
    const char *name = poise_method_name(sequences[e].method);
    char cm[16] = "", seconds[16] = "";
    double n = sum->frames, calm = sum->calm_error / sum->calm;
    if (sequences[e].error > 0.0) {
        snprintf(cm, sizeof cm, "%g", sequences[e].error);
        snprintf(seconds, sizeof seconds, "%g", sequences[e].seconds);
    }
    fprintf(file, "%s,%d,%d,%s,%s,%s,%.6g,%.6g,%.6g,%.6g,%.6g,%d\n", name, sequences[e].band, sequences[e].iterations, first,
            cm, seconds, sum->error / n, calm, sum->distances / n, sum->iterations / n, sum->us / n / 1e6, sum->below);
    printf("%-20s %4d %5d %6s %8s %8.3f %8.3f %8.3f %7.2f %7d %8s %9.6f\n", name, sequences[e].band, sequences[e].iterations,
           first, cm, sum->error / n, calm, sum->distances / n, sum->iterations / n, sum->below, seconds, sum->us / n / 1e6);
}

static void run_sequences(study *s, const char *name)
{
    FILE *file = open_csv(s, name,
                          "method,band,most_iterations,first_frame,printed_cm,printed_seconds,error_cm,"
                          "calm_error_cm,sum_of_distances_cm,iterations,seconds,below");
    printf("\nTable 4: the whole take, each frame from the answer before; error |r|, without the flips, sum of distances, cm"
           " (table4.csv)\n%-20s %4s %5s %6s %8s %8s %8s %8s %7s %7s %8s %9s\n",
           "method", "band", "most", "first", "printed", "error", "calm", "sum", "iter.", "below", "printed", "seconds");
    for (int e = 0; e < COUNT(sequences); ++e) {
        for (int first = 0; first < (sequences[e].method == POISE_METHOD_AUTO ? 3 : 2); ++first) {
            sums sum = run_sequence(s, e, first);
            print_sequence(file, e, firsts[first], &sum);
        }
    }
    fclose(file);
}

// ---- Figs. A.9 and A.10: definiteness ------------------------------------------------------------------------------------

#define GRID 121 // angles from -180 to 180 degrees, 3 degrees apart

// The eigenvalues of [a b; b c] are (a + c)/2 -+ sqrt(((a - c)/2)^2 + b^2).
static void run_map(study *s, const char *name)
{
    static const char *const kinds[] = {"positive", "negative", "indefinite", "semi_positive", "semi_negative"};
    poise_model *model;
    poise_objective *objective;
    require(scene_create("twolink", NULL, &model, NULL) == POISE_OK, "no arm of two links");
    require(poise_objective_create(model, 0, NULL, &objective) == POISE_OK, "out of memory");
    FILE *file = open_csv(s, name, "goal_x,theta1,theta2,f,smallest,largest,definiteness");
    printf("\nFigs. A.9, A.10: share of the configurations of two unit links in %% (a9.csv)\n%8s %10s %10s %10s %14s %14s\n",
           "goal x", kinds[0], kinds[1], kinds[2], kinds[3], kinds[4]);
    for (int x = 1; x <= 3; ++x) {
        poise_goal goal = poise_goal_position(1, poise_vec3_make(1, 0, 0), poise_vec3_make(x, 0, 0));
        int found[COUNT(kinds)] = {0};
        require(poise_objective_set_goals(objective, &goal, 1, NULL) == POISE_OK, "a bad goal");
        for (int i = 0; i < GRID * GRID; ++i) {
            double degrees[2] = {-180.0 + 3.0 * (i / GRID), -180.0 + 3.0 * (i % GRID)}, H[4], work[8];
            poise_definiteness kind;
            double q[2] = {degrees[0] * PI / 180.0, degrees[1] * PI / 180.0};
            poise_objective_evaluate(objective, q, POISE_LEVEL_HESSIAN);
            poise_objective_hessian(objective, POISE_HESSIAN_EXACT, H);
            double middle = 0.5 * (H[0] + H[3]), radius = hypot(0.5 * (H[0] - H[3]), H[1]);
            poise_objective_definiteness(objective, POISE_HESSIAN_EXACT, 1e-12, work, &kind);
            found[kind] += 1;
            fprintf(file, "%d,%g,%g,%.9g,%.9g,%.9g,%s\n", x, degrees[0], degrees[1], poise_objective_cost(objective),
                    middle - radius, middle + radius, kinds[kind]);
        }
        printf("%8d", x);
        for (int k = 0; k < COUNT(kinds); ++k) {
            printf(k < 3 ? " %10.2f" : " %14.2f", 100.0 * found[k] / (GRID * GRID));
        }
        printf("\n");
    }
    fclose(file);
    poise_objective_destroy(objective);
    poise_model_destroy(model);
}

// ---- Main ----------------------------------------------------------------------------------------------------------------

static const struct {
    const char *name;
    void (*run)(study *s, const char *name);
} experiments[] = {{"fig3", run_convergence}, {"fig7", run_convergence}, {"fig8", run_sweep},
                   {"table3", run_calls},     {"table4", run_sequences}, {"a9", run_map}};

// Which experiments a word names, as bits; 0 for a word that names none.
static unsigned find_experiment(const char *word)
{
    unsigned found = 0;
    for (int i = 0; i < COUNT(experiments); ++i) {
        found |= strcmp(word, experiments[i].name) == 0 ? 1U << i : 0U;
    }
    return found;
}

int main(int count, char **words)
{
    const char *folder = FOLDER;
    unsigned chosen = 0;
    static study s = {.out = ".", .every = 20};
    for (int i = 1; i < count; ++i) {
        bool has_value = i + 1 < count;
        if (strcmp(words[i], "--data") == 0 && has_value) {
            folder = words[++i];
        } else if (strcmp(words[i], "--out") == 0 && has_value) {
            s.out = words[++i];
        } else if (strcmp(words[i], "--every") == 0 && has_value && atoi(words[i + 1]) > 0) {
            s.every = atoi(words[++i]);
        } else if (find_experiment(words[i])) {
            chosen |= find_experiment(words[i]);
        } else {
            fprintf(stderr, "usage: bench_paper [--data FOLDER] [--out FOLDER] [--every K]"
                            " [fig3|fig7|fig8|table3|table4|a9...]\n");
            return 2;
        }
    }
    if (!hdm05_read(folder, "HDM_dg", TAKE, &s.task)) {
        fprintf(stderr, "%s\n", s.task.error.text);
        return 2;
    }
    s.limited = make_limited(&s.task);
    s.q = calloc((size_t)s.task.nq, sizeof *s.q);
    require(s.q != NULL, "out of memory");
    bench_print_machine();
    for (int i = 0; i < COUNT(experiments); ++i) {
        if (chosen == 0 || chosen >> i & 1U) {
            experiments[i].run(&s, experiments[i].name);
            fflush(stdout);
        }
    }
    free(s.q);
    poise_model_destroy(s.limited);
    hdm05_free(&s.task);
    return EXIT_SUCCESS;
}
