// Erleben & Andrews 2019: what they say of definiteness without an experiment (sections 4, 6.3, 6.7 and Appendix A), and the
// times of section 6.2.
#include "definiteness.h"

#include <papers/plain/plain.h>
#include <papers/reproduce/reproduce_hessian.h>

#include "cli/memory.h"

#include <math.h>
#include <stdlib.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof(a)[0]))

static const char *const chart_names[CHARTS] = {"Euler angles", "swing, twist", "rotation vector", "quaternion"};
static const char *const state_names[STATES] = {"before", "zero", "random", "in limits"};

// ---- Along a motion ------------------------------------------------------------------------------------------------------

typedef struct case_job {
    const hessian_study *take;
    definiteness_case what;
    bool is_path, has_limits;
    int every;
    definiteness_sums sums;
} case_job;

enum { PATH_ITERATES = 20 };

static bool run_case(void *work, int index)
{
    case_job *j = (case_job *)work + index;
    return j->is_path ? definiteness_of_path(j->take, j->has_limits, j->every, PATH_ITERATES, &j->sums)
                      : definiteness_along(j->take, &j->what, j->every, &j->sums);
}

static const sheet_column case_columns[] = {
    {.key = "coordinates", .head = "coordinates"},
    {.key = "where", .head = "where"},
    {.key = "added", .head = "added"},
    {.key = "hessians", .head = NULL, .format = "%.0f"},
    {.key = "indefinite_percent", .head = "indef. %", .format = "%.1f"},
    {.key = "negative", .head = "negative", .format = "%.1f"},
    {.key = "median_condition", .head = "condition", .format = "%.1e"},
    {.key = "ill_percent", .head = "> 1e5 %", .format = "%.1f"},
    {0},
};

static void add_row(sheet *s, const char *coordinates, const char *where, const char *added, const definiteness_sums *sums)
{
    sheet_text(s, coordinates);
    sheet_text(s, where);
    sheet_text(s, added);
    sheet_number(s, sums->frames);
    sheet_number(s, sums->frames > 0 ? 100.0 * sums->indefinite / sums->frames : NAN);
    sheet_number(s, sums->frames > 0 ? sums->negative / sums->frames : NAN);
    sheet_number(s, sums->condition);
    sheet_number(s, sums->frames > 0 ? 100.0 * sums->ill / sums->frames : NAN);
}

// Parameterisations, without and with what can be added to the objective, then weights, then limits.
static int list_cases(const hessian_study *take, int every, case_job *jobs)
{
    static const definiteness_case charted[] = {{.state = STATE_BEFORE},
                                                {.state = STATE_BEFORE, .prior = 1e4},
                                                {.state = STATE_BEFORE, .smoothness = 1e4},
                                                {.state = STATE_ZERO}};
    static const definiteness_case further[] = {{.state = STATE_BEFORE, .prior = 1e2},
                                                {.state = STATE_ZERO, .prior = 1e4},
                                                {.state = STATE_RANDOM},
                                                {.state = STATE_IN_LIMITS}};
    int most = (take->task.frames - 1) / 3, path_every = 10 * every < most ? 10 * every : most, count = 0;
    for (int i = 0; i < COUNT(charted) * CHARTS; ++i) {
        jobs[count] = (case_job){.take = take, .every = every, .what = charted[i / CHARTS]};
        jobs[count++].what.chart = (definiteness_chart)(i % CHARTS);
    }
    for (int i = 0; i < COUNT(further); ++i) {
        jobs[count++] = (case_job){.take = take, .every = every, .what = further[i]};
    }
    for (int i = 0; i < 2; ++i) {
        jobs[count++] = (case_job){.take = take, .every = path_every, .is_path = true, .has_limits = i == 1};
    }
    return count;
}

enum { MOST_CASES = 64 };

static bool print_cases(reproduce *r, const case_job *jobs, int count)
{
    sheet *s = sheet_create(case_columns);
    for (int i = 0; i < count; ++i) {
        const definiteness_case *what = &jobs[i].what;
        char added[64] = "";
        if (what->prior > 0.0 || what->smoothness > 0.0) {
            snprintf(added, sizeof added, "%s 1e%.0f", what->prior > 0.0 ? "prior" : "smooth",
                     log10(what->prior + what->smoothness));
        }
        add_row(s, chart_names[what->chart], jobs[i].is_path ? "path" : state_names[what->state],
                jobs[i].is_path ? jobs[i].has_limits ? "limits" : "no limits" : added, &jobs[i].sums);
    }
    return reproduce_sheet(r, s, NULL, "");
}

// ---- Gimbal lock ---------------------------------------------------------------------------------------------------------

enum { ANGLES = 46 }; // 0 to 90 degrees

static bool draw_gimbal(reproduce *r, const double ratio[CHARTS][ANGLES])
{
    static const char *const colors[CHARTS] = {PLOT_RED, PLOT_GREEN, PLOT_BLUE, PLOT_PURPLE};
    plot *p = plot_create("Gimbal lock", "One ball joint at its solution: smallest eigenvalue of H over the largest",
                          reproduce_foot(r), 1, 1, 460.0, 240.0);
    plot_panel(p, 0, 0,
               &(plot_panel_options){.x = {.label = "middle Euler angle, degrees", .from = 0.0, .to = 90.0, .step = 15.0},
                                     .y = {.label = "ratio of eigenvalues", .is_log = true, .from = 1e-6, .to = 10.0}});
    for (int c = 0; c < CHARTS; ++c) {
        double x[ANGLES], y[ANGLES];
        for (int i = 0; i < ANGLES; ++i) {
            x[i] = 2.0 * i;
            y[i] = fmax(ratio[c][i], 1e-7);
        }
        plot_line(p, (plot_style){.color = colors[c], .width = 2.0, .is_dashed = c == CHART_SWING_TWIST}, x, y, ANGLES,
                  chart_names[c]);
    }
    return reproduce_plot(r, p, "-gimbal");
}

static bool run_gimbal(reproduce *r)
{
    static const sheet_column columns[] = {{.key = "middle_angle_degrees", .head = "middle angle", .format = "%.0f"},
                                           {.key = "euler", .head = "Euler angles", .format = "%.1e"},
                                           {.key = "swing_twist", .head = "swing and twist", .format = "%.2f"},
                                           {.key = "vector", .head = "rotation vector", .format = "%.2f"},
                                           {.key = "quaternion", .head = "quaternion", .format = "%.2f"},
                                           {0}};
    static double ratio[CHARTS][ANGLES];
    const double degree = 3.14159265358979323846 / 180.0;
    sheet *s = sheet_create(columns);
    bool works = true;
    for (int i = 0; i < ANGLES && works; ++i) {
        for (int c = 0; c < CHARTS && works; ++c) {
            works = definiteness_gimbal((definiteness_chart)c, 2.0 * i * degree, &ratio[c][i]);
        }
        if (i % 10 == 0 || i >= ANGLES - 3) {
            sheet_number(s, 2.0 * i);
            for (int c = 0; c < CHARTS; ++c) {
                sheet_number(s, fmax(ratio[c][i], 0.0)); // rounding
            }
        }
    }
    works =
        reproduce_sheet(r, s, "Gimbal lock: smallest eigenvalue of H over the largest, a ball joint at rest", "-gimbal") &&
        works;
    return works && draw_gimbal(r, (const double(*)[ANGLES])ratio);
}

bool hessian_definiteness(reproduce *r, const experiment *e)
{
    scene_take take;
    case_job jobs[MOST_CASES];
    (void)e;
    if (!reproduce_scenes(r, PAPER_WORKOUT, 1, &take)) {
        return false;
    }
    int usual = r->is_full ? 1 : take.study->task.is_recording ? 20 : 5;
    int count = list_cases(take.study, r->every > 0 ? r->every : usual, jobs);
    reproduce_note(
        r,
        "Eigenvalues of the exact Hessian in frames of %s, in cm and radians as the authors have it: share that is "
        "indefinite, mean number of negative eigenvalues, median condition number, and share of those above 1e5. "
        "Where: at the pose of the frame before, at zero, at random angles, at random angles within the limits, and "
        "on the path of trust_region from zero, its first %d iterates, over the coordinates that are not at a "
        "limit. Added: a prior towards zero or smoothness, by weight in cm^2/rad^2.",
        take.study->name, PATH_ITERATES);
    return reproduce_jobs(r, count, run_case, jobs) && print_cases(r, jobs, count) && run_gimbal(r);
}

// ---- Section 6.2: times --------------------------------------------------------------------------------------------------

typedef struct stopwatch {
    const hdm05_task *task;
    poise_objective *objective;
    plain_ik *plain;
    poise_goal goals[HDM05_MARKERS];
    double *H, *J;
} stopwatch;

enum { KINDS = 6 };
static const char *const kind_names[KINDS] = {"f",
                                              "f and gradient",
                                              "f, gradient and exact Hessian",
                                              "f, gradient and J^T J",
                                              "Algorithms 2 and 3 as printed: f, Jacobian, gradient",
                                              "Algorithms 2 to 4 as printed: the same and the exact Hessian"};

static void evaluate(stopwatch *w, int kind, const double *q)
{
    double g[256];
    if (kind < 4) {
        poise_objective_evaluate(w->objective, q, kind < 2 ? (poise_level)kind : POISE_LEVEL_HESSIAN, NULL);
        if (kind >= 2) {
            poise_objective_hessian(w->objective, kind == 2 ? POISE_HESSIAN_EXACT : POISE_HESSIAN_GAUSS_NEWTON, w->H, NULL);
        }
        return;
    }
    plain_update(w->plain, q);
    plain_cost(w->plain);
    plain_jacobian(w->plain, w->J);
    plain_gradient(w->plain, w->J, g);
    if (kind == 5) {
        plain_hessian(w->plain, w->J, w->H);
    }
}

// Microseconds of one evaluation: the least of five rounds.
static double time_of(stopwatch *w, int kind)
{
    double least = INFINITY;
    int repeats = kind < 4 ? 2000 : 200;
    for (int round = 0; round < 5; ++round) {
        double start = reproduce_now();
        for (int i = 0; i < repeats; ++i) {
            evaluate(w, kind, hdm05_pose(w->task, i % 2));
        }
        least = fmin(least, (reproduce_now() - start) * 1e-3 / repeats);
    }
    return least;
}

static bool print_evaluations(reproduce *r, const hessian_study *take)
{
    static const sheet_column columns[] = {{.key = "what", .head = "one evaluation"},
                                           {.key = "microseconds", .head = "us", .format = "%.1f", .is_time = true},
                                           {0}};
    const hdm05_task *task = &take->task;
    stopwatch w = {.task = task};
    plain_effector effectors[HDM05_MARKERS];
    size_t n = (size_t)task->nv;
    hdm05_goals(task, 1, HDM05_OWN_PLACES, w.goals);
    for (int i = 0; i < HDM05_MARKERS; ++i) {
        effectors[i] = (plain_effector){w.goals[i].body, w.goals[i].local.position, w.goals[i].target.position, 1.0};
    }
    w.plain = plain_from_model(task->model, effectors, HDM05_MARKERS);
    w.H = needed(calloc(n * n + 1, sizeof *w.H));
    w.J = needed(calloc(3 * HDM05_MARKERS * n + 1, sizeof *w.J));
    bool works = w.plain && poise_objective_create(task->model, 0, NULL, &w.objective, NULL) == POISE_OK &&
                 poise_objective_set_goals(w.objective, w.goals, HDM05_MARKERS, NULL) == POISE_OK;
    sheet *s = sheet_create(columns);
    for (int kind = 0; kind < KINDS && works; ++kind) {
        sheet_text(s, kind_names[kind]);
        sheet_number(s, time_of(&w, kind));
    }
    char title[96];
    snprintf(title, sizeof title, "%d degrees of freedom, 41 markers", task->nv);
    works = reproduce_sheet(r, s, title, "-evaluation") && works;
    plain_destroy(w.plain);
    poise_objective_destroy(w.objective);
    free(w.H);
    free(w.J);
    return works;
}

// Solves of the frames of Fig. 3, as long as the authors let them run.
static bool print_solves(reproduce *r, const scene_take *takes)
{
    static const sheet_column columns[] = {
        {.key = "method", .head = "method"},
        {.key = "frames", .head = "frames", .format = "%.0f"},
        {.key = "iterations", .head = "iterations", .format = "%.1f"},
        {.key = "printed_seconds", .head = "printed, s", .format = "%.1f", .is_time = true},
        {.key = "microseconds", .head = "ours, us", .format = "%.0f", .is_time = true},
        {0}};
    static const double printed[HESSIAN_PRINTED] = {2.6, 19.2, NAN};
    sheet *s = sheet_create(columns);
    bool works = true;
    for (int m = 0; m < HESSIAN_ROWS && works; ++m) {
        hessian_sums all = {.frames = 0};
        for (int t = 0; t < 3 && works; ++t) {
            hessian_run run = hessian_run_of(&hessian_rows[m], 100, false, false);
            hessian_sums sums;
            run.tolerance = 0.0;
            run.now = reproduce_now;
            works = takes[t].frames ? hessian_listed(takes[t].study, &run, takes[t].frames, takes[t].count, &sums)
                                    : hessian_frames(takes[t].study, &run, 20, &sums);
            all.frames += sums.frames;
            all.iterations += sums.iterations;
            all.time += sums.time;
        }
        sheet_text(s, hessian_rows[m].name);
        sheet_number(s, all.frames);
        sheet_number(s, all.frames > 0 ? all.iterations / all.frames : NAN);
        sheet_number(s, m < HESSIAN_PRINTED ? printed[m] : NAN);
        sheet_number(s, all.frames > 0 ? all.time * 1e-3 / all.frames : NAN);
    }
    return reproduce_sheet(r, s, "A solve with kmax = 100 and no other end than convergence to rounding", "") && works;
}

bool hessian_times(reproduce *r, const experiment *e)
{
    scene_take takes[3];
    (void)e;
    if (!reproduce_scenes(r, PAPER_WALKING, 3, takes)) {
        return false;
    }
    reproduce_note(
        r, "CPU times of one thread. The authors' are of MATLAB on an i7 at 2.8 GHz: 2.6 s for quasi-Newton and 19.2 s for "
           "the exact Hessian, which ran all 100 iterations; ours end where steps no longer lower f.");
    return print_solves(r, takes) && print_evaluations(r, takes[0].study);
}
