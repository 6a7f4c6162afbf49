#include "hessian_study.h"

#include <scenes/scenes.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Studies -------------------------------------------------------------------------------------------------------------

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
    poise_builder *builder = NULL;
    poise_model *model = NULL;
    poise_status status = poise_builder_create(NULL, &builder, NULL);
    for (int k = 0; k < poise_model_info(task->model).joints && status == POISE_OK; ++k) {
        poise_joint joint = *poise_model_joint_info(task->model, k).given;
        int first = poise_model_joint_info(task->model, k).q, count = poise_model_joint_info(task->model, k).nq;
        for (int i = 0; i < count; ++i) {
            find_range(task, first + i, joint.parent == NULL, &joint.lower[i], &joint.upper[i]);
        }
        status = poise_builder_add_joint(builder, &joint, NULL);
    }
    if (status == POISE_OK) {
        poise_model_create(builder, NULL, &model, NULL);
    }
    poise_builder_destroy(builder);
    return model;
}

bool hessian_study_create(const char *folder, const char *name, hessian_study *study)
{
    char take[96], skeleton[16];
    snprintf(take, sizeof take, "HDM_%.64s_120", name);
    snprintf(skeleton, sizeof skeleton, "HDM_%.2s", name); // the actor
    study->limited = NULL;
    snprintf(study->name, sizeof study->name, "%s", name);
    if (!(folder ? hdm05_read(folder, skeleton, take, &study->task) : hdm05_make(name, &study->task))) {
        return false;
    }
    study->limited = make_limited(&study->task);
    if (!study->limited) {
        hdm05_free(&study->task);
        snprintf(study->task.error.text, sizeof study->task.error.text, "%.64s: no model with limits", name);
        return false;
    }
    return true;
}

void hessian_study_destroy(hessian_study *study)
{
    poise_model_destroy(study->limited);
    hdm05_free(&study->task);
    study->limited = NULL;
}

// ---- Solvers -------------------------------------------------------------------------------------------------------------

hessian_run hessian_run_default(poise_method method, int max_iterations)
{
    return (hessian_run){.method = method,
                         .max_iterations = max_iterations,
                         .tolerance = HDM05_FTOL,
                         .band = 24,
                         .cg_tolerance = 0.1,
                         .cg_iterations = 58 * 58};
}

// What a solve of one thread needs.
typedef struct desk {
    const hessian_study *study;
    const hessian_run *run;
    poise_solver *solver;       // NULL: a solver of the paper, over
    poise_objective *objective; // this
    poise_trace *trace;
    double *history; // f of the paper's solvers
    double *q;
    poise_goal goals[HDM05_MARKERS]; // of the last solve, which errors of goals are asked of afterwards
} desk;

static void clear(desk *d)
{
    poise_solver_destroy(d->solver);
    poise_objective_destroy(d->objective);
    free(d->trace);
    free(d->history);
    free(d->q);
}

static poise_solver_options make_options(const desk *d)
{
    poise_solver_options options = poise_solver_options_default();
    options.method = d->run->method;
    options.max_iterations = d->run->max_iterations;
    options.use_limits = d->run->has_limits;
    options.start = d->run->is_cold ? POISE_START_COLD : POISE_START_WARM;
    options.cost_tolerance = d->run->tolerance;
    options.gradient_tolerance = 1e-12; // the authors stop by f alone
    options.position_tolerance = 0.0;
    options.coupled_goals = 0;
    options.restarts = d->run->restarts;
    options.damping = d->run->damping;
    options.trust_region.band = d->run->band;
    options.trust_region.cg_tolerance = d->run->cg_tolerance;
    options.trust_region.cg_iterations = d->run->cg_iterations;
    options.trust_region.nearest = d->run->nearest;
    options.locked = d->study->task.locked;
    options.trace = d->trace;
    options.trace_capacity = d->run->max_iterations;
    return options;
}

static bool set_up(const hessian_study *study, const hessian_run *run, desk *d)
{
    *d = (desk){.study = study, .run = run};
    d->trace = calloc((size_t)run->max_iterations + 1, sizeof *d->trace);
    d->history = calloc((size_t)run->max_iterations + 1, sizeof *d->history);
    d->q = calloc((size_t)study->task.nq + 1, sizeof *d->q);
    poise_solver_options options = make_options(d);
    const poise_model *model = run->has_limits ? study->limited : study->task.model;
    bool works = d->trace && d->history && d->q;
    if (works && run->paper != PAPER_NONE) {
        works = !run->has_limits && poise_objective_create(model, 0, NULL, &d->objective, NULL) == POISE_OK;
    } else if (works) {
        works = poise_solver_create(model, &options, NULL, &d->solver, NULL) == POISE_OK;
    }
    if (!works) {
        clear(d);
    }
    return works;
}

// A solver of the paper, with a report and a trace of what the experiments look at.
static poise_status solve_as_paper(desk *d, poise_report *report)
{
    paper_problem problem = {.objective = d->objective,
                             .n = d->study->task.nq,
                             .locked = d->study->task.locked,
                             .max_iterations = d->run->max_iterations,
                             .tolerance = d->run->tolerance};
    paper_result result;
    if (poise_objective_set_goals(d->objective, d->goals, HDM05_MARKERS, NULL) != POISE_OK ||
        !paper_solve(d->run->paper, &problem, d->q, d->history, &result) ||
        poise_objective_evaluate(d->objective, d->q, POISE_LEVEL_COST, NULL) != POISE_OK) {
        return POISE_ERROR_NUMERIC;
    }
    for (int k = 0; k < result.iterations; ++k) {
        d->trace[k] = (poise_trace){.cost = d->history[k + 1]};
    }
    *report = (poise_report){.iterations = result.iterations,
                             .evaluations = result.evaluations,
                             .traced = result.iterations,
                             .start_cost = d->history[0],
                             .cost = result.f};
    return POISE_OK;
}

// Solve a frame from d->q. Returns nanoseconds; negative on failure.
static double solve(desk *d, poise_solver *solver, int frame, poise_report *report)
{
    hdm05_goals(&d->study->task, frame, HDM05_OWN_PLACES, d->goals);
    double before = d->run->now ? d->run->now() : 0.0;
    poise_status status =
        solver ? poise_solve(solver, d->goals, HDM05_MARKERS, d->q, report, NULL) : solve_as_paper(d, report);
    if (status != POISE_OK) {
        return -1.0;
    }
    return d->run->now ? d->run->now() - before : 0.0;
}

// The distance of a marker after the last solve.
static double distance(desk *d, int marker)
{
    return d->solver ? poise_solver_goal_error(d->solver, marker).error
                     : poise_objective_goal_error(d->objective, marker).error;
}

static void start_at(const desk *d, int frame, bool from_zero)
{
    const hdm05_task *task = &d->study->task;
    if (from_zero) {
        hdm05_zero(task, frame, d->q);
    } else {
        memcpy(d->q, hdm05_pose(task, frame > 0 ? frame - 1 : 0), (size_t)task->nq * sizeof *d->q);
    }
}

// ---- Experiments ---------------------------------------------------------------------------------------------------------

bool hessian_curve(const hessian_study *study, const hessian_run *run, int frame, bool from_zero, double *f, int *count)
{
    desk d;
    poise_report report;
    if (!set_up(study, run, &d)) {
        return false;
    }
    start_at(&d, frame, from_zero);
    bool works = solve(&d, d.solver, frame, &report) >= 0.0;
    if (works) {
        f[0] = report.start_cost;
        for (int k = 0; k < report.traced; ++k) {
            f[k + 1] = d.trace[k].cost;
        }
        *count = report.traced + 1;
    }
    clear(&d);
    return works;
}

static bool add_frame(desk *d, int frame, hessian_sums *sums)
{
    poise_report report;
    double time = solve(d, d->solver, frame, &report);
    if (time < 0.0) {
        return false;
    }
    double error = sqrt(2.0 * report.cost);
    bool is_before = !d->study->task.has_flips || hdm05_is_before_flip(frame);
    sums->time += time;
    sums->frames += 1;
    sums->before += is_before;
    sums->below += report.cost <= HDM05_FTOL;
    sums->error += error;
    sums->before_error += is_before ? error : 0.0;
    sums->iterations += report.iterations;
    sums->evaluations += report.evaluations;
    for (int i = 0; i < HDM05_MARKERS; ++i) {
        sums->distances += distance(d, i);
    }
    return true;
}

bool hessian_frames(const hessian_study *study, const hessian_run *run, int every, hessian_sums *sums)
{
    desk d;
    *sums = (hessian_sums){.frames = 0};
    if (!set_up(study, run, &d)) {
        return false;
    }
    bool works = true;
    for (int f = 1; f < study->task.frames && works; f += every) {
        start_at(&d, f, false);
        works = add_frame(&d, f, sums);
    }
    clear(&d);
    return works;
}

bool hessian_listed(const hessian_study *study, const hessian_run *run, const int *frames, int count, hessian_sums *sums)
{
    desk d;
    *sums = (hessian_sums){.frames = 0};
    if (!set_up(study, run, &d)) {
        return false;
    }
    bool works = true;
    for (int i = 0; i < count && works; ++i) {
        works = frames[i] <= study->task.frames;
        start_at(&d, frames[i] - 1, false);
        works = works && add_frame(&d, frames[i] - 1, sums);
    }
    clear(&d);
    return works;
}

// The first frame from far off.
static bool start_cold(desk *d, hessian_sums *sums)
{
    poise_solver_options options = make_options(d);
    poise_solver *cold;
    poise_report report;
    options.start = POISE_START_COLD;
    options.max_iterations = 200;
    options.restarts = 20;
    options.trace_capacity = 0;
    if (poise_solver_create(d->study->task.model, &options, NULL, &cold, NULL) != POISE_OK) {
        return false;
    }
    double time = solve(d, cold, 0, &report);
    sums->time += time;
    poise_solver_destroy(cold);
    return time >= 0.0;
}

bool hessian_sequence(const hessian_study *study, const hessian_run *run, hessian_first first, int pieces, int frames,
                      hessian_sums *sums)
{
    desk d;
    *sums = (hessian_sums){.frames = 0};
    if (!set_up(study, run, &d)) {
        return false;
    }
    start_at(&d, 0, first != HESSIAN_FROM_POSE);
    bool works = first != HESSIAN_COLD || start_cold(&d, sums);
    frames = frames < study->task.frames ? frames : study->task.frames;
    for (int i = 0; i < frames && works; ++i) {
        int piece = (int)((int64_t)i * pieces / frames), begin = (int)(((int64_t)piece * frames + pieces - 1) / pieces);
        int spread = (int)((int64_t)piece * study->task.frames / pieces);
        if (piece > 0 && i == begin) {
            start_at(&d, spread, false);
        }
        works = add_frame(&d, pieces > 1 ? spread + i - begin : i, sums);
    }
    clear(&d);
    return works;
}

// ---- Two links -----------------------------------------------------------------------------------------------------------

// The eigenvalues of [a b; b c] are (a + c)/2 -+ sqrt(((a - c)/2)^2 + b^2).
static bool look_at(poise_objective *objective, const double *q, poise_definiteness *kind, double *f, double *smaller,
                    double *larger)
{
    double H[4], work[8];
    if (poise_objective_evaluate(objective, q, POISE_LEVEL_HESSIAN, NULL) != POISE_OK ||
        poise_objective_hessian(objective, POISE_HESSIAN_EXACT, H, NULL) != POISE_OK ||
        poise_objective_definiteness(objective, POISE_HESSIAN_EXACT, 1e-12, work, kind, NULL) != POISE_OK) {
        return false;
    }
    double middle = 0.5 * (H[0] + H[3]), half = 0.5 * (H[0] - H[3]), radius = sqrt(half * half + H[1] * H[1]);
    *f = poise_objective_value(objective).cost;
    *smaller = middle - radius;
    *larger = middle + radius;
    return true;
}

bool hessian_map(double goal_x, int size, poise_definiteness *kind, double *f, double *smaller, double *larger)
{
    const double pi = 3.14159265358979323846;
    poise_model *model = NULL;
    poise_objective *objective = NULL;
    poise_goal goal = poise_goal_position(1, poise_vec3_make(1, 0, 0), poise_vec3_make(goal_x, 0, 0));
    bool works = scene_create("twolink", NULL, &model, NULL) == POISE_OK &&
                 poise_objective_create(model, 0, NULL, &objective, NULL) == POISE_OK &&
                 poise_objective_set_goals(objective, &goal, 1, NULL) == POISE_OK;
    for (int i = 0; i < size * size && works; ++i) {
        double step = 2.0 * pi / (size - 1), q[2] = {-pi + step * (i / size), -pi + step * (i % size)};
        works = look_at(objective, q, &kind[i], &f[i], &smaller[i], &larger[i]);
    }
    poise_objective_destroy(objective);
    poise_model_destroy(model);
    return works;
}
