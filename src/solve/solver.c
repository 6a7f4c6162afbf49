// Life of a solver, and the frame of a solve: limits, starts, report.
#include "base/error.h"
#include "model/model.h"
#include "solve/arm.h"
#include "solve/constrained.h"
#include "solve/solver_state.h"
#include "solve/step_kernel.h"
#include "solve/tips.h"

#include <float.h>
#include <string.h>

poise_solver_options poise_solver_options_default(void)
{
    return (poise_solver_options){.method = POISE_METHOD_AUTO,
                                  .start = POISE_START_WARM,
                                  .use_limits = true,
                                  .max_iterations = 100,
                                  .seed = 1,
                                  .gradient_tolerance = 1e-9,
                                  .position_tolerance = 1e-6,
                                  .rotation_tolerance = 1e-6,
                                  .step_limit = INFINITY,
                                  .coupled_goals = 2,
                                  .lbfgs = {.memory = 8},
                                  .trust_region = {.band = 8, .cg_tolerance = 0.1},
                                  .constraints = {.closure_tolerance = 1e-12}};
}

// ---- Life ----------------------------------------------------------------------------------------------------------------

poise_status pz_solver_check_options(const poise_model *model, const poise_solver_options *o, poise_error *error)
{
    if (!model || !o) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model and options must not be NULL");
    }
    const struct {
        bool is_sound;
        const char *rule;
    } checks[] = {
        {(unsigned)o->method < POISE_METHOD_COUNT, "method must be one of poise_method"},
        {!o->engine || o->engine->name, "engine must have a name"},
        {!o->engine || o->engine->run || o->engine->rows, "engine must have a run, or rows"},
        {(unsigned)o->start <= POISE_START_COLD, "start must be WARM or COLD"},
        {o->max_iterations >= 0, "max_iterations must be >= 0"},
        {o->restarts >= 0, "restarts must be >= 0"},
        {o->cost_tolerance >= 0, "cost_tolerance must be >= 0"},
        {o->gradient_tolerance >= 0, "gradient_tolerance must be >= 0"},
        {o->position_tolerance >= 0, "position_tolerance must be >= 0"},
        {o->rotation_tolerance >= 0, "rotation_tolerance must be >= 0"},
        {o->prior >= 0 && is_finite(o->prior), "prior must be finite and >= 0"},
        {o->step_limit > 0, "step_limit must be > 0"},
        {o->coupled_goals >= 0, "coupled_goals must be >= 0"},
        {o->rows.max_rows >= 0, "rows.max_rows must be >= 0"},
        {o->lbfgs.memory > 0, "lbfgs.memory must be > 0"},
        {o->damping >= 0 && is_finite(o->damping), "damping must be finite and >= 0"},
        {o->rows.clamp >= 0, "rows.clamp must be >= 0"},
        {o->trust_region.band >= 0, "trust_region.band must be >= 0"},
        {o->trust_region.cg_tolerance > 0, "trust_region.cg_tolerance must be > 0"},
        {o->trust_region.cg_iterations >= 0, "trust_region.cg_iterations must be >= 0"},
        {o->trace_capacity >= 0, "trace_capacity must be >= 0"},
        {o->constraints.rows >= 0, "constraints.rows must be >= 0"},
        {o->constraints.shapes >= 0, "constraints.shapes must be >= 0"},
        {o->constraints.closure_tolerance >= 0, "constraints.closure_tolerance must be >= 0"},
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; ++i) {
        if (!checks[i].is_sound) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "solver options: %s", checks[i].rule);
        }
    }
    if (!pz_method_row_of(o)) {
        return pz_error_set(
            error, POISE_ERROR_UNSUPPORTED,
            "solver options: the method %s is in another library: set engine = poise_papers_engine(method), of "
            "<poise/papers.h>, and link poise_papers",
            poise_method_name(o->method));
    }
    return POISE_OK;
}

static void lay_out(poise_solver *s, const poise_model *model, const poise_solver_options *options, pz_arena *arena)
{
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    s->model = model;
    s->options = *options;
    poise_objective blank = {0}, *at[2];
    for (int i = 0; i < 2; ++i) {
        at[i] = pz_arena_take(arena, 1, sizeof *at[i]);
        if (at[i]) {
            *at[i] = (poise_objective){.level = POISE_LEVEL_COST};
        }
        pz_objective_lay_out(at[i] ? at[i] : &blank, model, options->coupled_goals, arena);
    }
    s->at = at[0];
    s->trial = at[1];
    s->q_start = pz_arena_take(arena, nq, sizeof *s->q_start);
    s->q_best = pz_arena_take(arena, nq, sizeof *s->q_best);
    s->q_try = pz_arena_take(arena, nq, sizeof *s->q_try);
    s->box = pz_arena_take(arena, nv, sizeof *s->box);
    s->limits = pz_arena_take(arena, nv, sizeof *s->limits);
    s->gradient = pz_arena_take(arena, nv, sizeof *s->gradient);
    s->diagonal = pz_arena_take(arena, nv, sizeof *s->diagonal);
    s->step = pz_arena_take(arena, nv, sizeof *s->step);
    s->row = pz_method_row_of(options);
    if (options->engine && pz_method_row_of(&(poise_solver_options){.method = options->method})) {
        s->options.method = POISE_METHOD_COUNT; // an engine has no share in what the solver's own methods do
    }
    s->method = s->row->lay_out(s, arena);
    s->constrained = pz_constrained_lay_out(s, arena);
}

// Is axis i of a step locked? A quaternion is locked as a whole: turns about two of its axes add up to one about the third.
static bool is_locked(const poise_solver *s, const pz_step *step, int i)
{
    const bool *locked = s->options.locked;
    int dof = s->model->axes[step->axis].dof;
    if (!locked || step->kind != PZ_QUATERNION) {
        return locked && locked[dof + i];
    }
    return locked[dof] || locked[dof + 1] || locked[dof + 2];
}

// Are some axes of a step locked?
static bool is_partly_locked(const poise_solver *s, const pz_step *step)
{
    bool some = false;
    for (int i = 0; i < pz_step_nv(step->kind); ++i) {
        some = some || is_locked(s, step, i);
    }
    return some;
}

// The coordinate behind each dof, and its interval.
static void make_boxes(poise_solver *s)
{
    const poise_model *model = s->model;
    for (int k = 0; k < model->step_count; ++k) {
        const pz_step *step = &model->steps[k];
        for (int i = 0; step->own && i < pz_step_nv(step->kind); ++i) {
            int dof = model->axes[step->axis + i].dof;
            bool plain = step->kind != PZ_QUATERNION;
            bool limited = plain && s->options.use_limits;
            s->box[dof] = (pz_box){.lower = limited ? model->lower[step->q + i] : -INFINITY,
                                   .upper = limited ? model->upper[step->q + i] : INFINITY,
                                   .q = plain ? step->q + i : -1,
                                   .locked = is_locked(s, step, i),
                                   .keeps_form = plain && is_partly_locked(s, step)};
            s->has_bounds = s->has_bounds || s->box[dof].locked || !box_is_open(&s->box[dof]);
        }
    }
    for (int k = 0; k < model->joint_count; ++k) {
        bool is_limited = model->given[k].type == POISE_JOINT_SWING_TWIST && is_finite(model->given[k].swing[0]);
        s->has_swings = s->has_swings || (s->options.use_limits && is_limited);
    }
}

size_t pz_solver_size(const poise_model *model, const poise_solver_options *options)
{
    poise_solver blank;
    pz_arena arena = pz_arena_counting();
    pz_arena_take(&arena, 1, sizeof blank);
    lay_out(&blank, model, options, &arena);
    return pz_arena_bytes(&arena);
}

poise_solver *pz_solver_init(const poise_model *model, const poise_solver_options *options, void *memory, size_t size)
{
    pz_arena arena = pz_arena_over(memory, size);
    poise_solver *s = pz_arena_take(&arena, 1, sizeof *s);
    if (!s) {
        return NULL;
    }
    *s = (poise_solver){.model = model};
    lay_out(s, model, options, &arena);
    if (arena.full) {
        return NULL;
    }
    make_boxes(s);
    return s;
}

poise_status poise_solver_options_check(const poise_model *model, const poise_solver_options *options, poise_error *error)
{
    return pz_solver_check_options(model, options, error);
}

poise_status poise_solver_create(const poise_model *model, const poise_solver_options *options,
                                 const poise_allocator *allocator, poise_solver **solver, poise_error *error)
{
    poise_status status = pz_solver_check_options(model, options, error);
    if (status != POISE_OK) {
        return status;
    }
    if (!solver) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "solver must not be NULL");
    }
    pz_owned owned;
    size_t size = pz_solver_size(model, options);
    if (!pz_owned_take(&owned, allocator, size)) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory: the solver needs %g bytes", (double)size);
    }
    *solver = pz_solver_init(model, options, owned.memory, size);
    (*solver)->owned = owned;
    return POISE_OK;
}

void poise_solver_destroy(poise_solver *solver)
{
    if (solver) {
        pz_owned_release(&solver->owned);
    }
}

poise_status poise_solver_narrow(poise_solver *solver, const double *lower, const double *upper, poise_error *error)
{
    if (!solver || !lower != !upper) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "solver must not be NULL, and lower and upper given both or not");
    }
    const poise_model *model = solver->model;
    for (int i = 0; lower && i < model->nq; ++i) {
        if (!(lower[i] <= upper[i])) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "lower[%d] is %g: it must not be above upper[%d], %g", i,
                                lower[i], i, upper[i]);
        }
    }
    for (int i = 0; i < model->nv; ++i) {
        pz_box *box = &solver->box[i];
        if (box->q >= 0) {
            bool limited = solver->options.use_limits;
            box->lower = max2(limited ? model->lower[box->q] : -INFINITY, lower ? lower[box->q] : -INFINITY);
            box->upper = min2(limited ? model->upper[box->q] : INFINITY, upper ? upper[box->q] : INFINITY);
            solver->has_bounds = solver->has_bounds || !box_is_open(box);
        }
    }
    return POISE_OK;
}

// ---- Solving -------------------------------------------------------------------------------------------------------------

static void copy(double *to, const double *from, int count)
{
    memcpy(to, from, (size_t)count * sizeof *to);
}

// Refuse what is not sound, and hand the goals to both objectives.
static poise_status take_goals(poise_solver *s, const poise_goal *goals, int count)
{
    poise_status status = poise_objective_set_goals(s->at, goals, count, s->error);
    if (status != POISE_OK) {
        return status;
    }
    pz_objective_share_goals(s->at, s->trial);
    double prior = s->options.prior;
    if (prior > 0) {
        s->prior = poise_goal_posture(s->q_start, prior);
    }
    s->at->prior = s->trial->prior = prior > 0 ? &s->prior : NULL;
    s->goals = goals;
    s->goal_count = count;
    s->has_callbacks = false;
    for (int i = 0; i < count; ++i) {
        s->has_callbacks = s->has_callbacks || goals[i].kind == POISE_GOAL_CALLBACK;
    }
    return s->row->check ? s->row->check(s) : POISE_OK;
}

bool pz_solver_arrive(poise_solver *s, double cost, poise_outcome *outcome)
{
    s->iterations_left = s->options.max_iterations;
    pz_accept(s);
    if (!is_finite(cost)) {
        s->report.why = POISE_WHY_OVERFLOW;
        s->report.start_cost = s->report.start_cost != s->report.start_cost ? INFINITY : s->report.start_cost;
        *outcome = POISE_OUTCOME_STALLED;
        return false;
    }
    s->report.start_cost = s->report.start_cost != s->report.start_cost ? s->at->cost : s->report.start_cost;
    pz_refresh_diagonal(s);
    if (s->iterations_left == 0) {
        s->report.why = POISE_WHY_NO_ITERATIONS;
        *outcome = pz_is_done(s, outcome) ? *outcome : POISE_OUTCOME_BUDGET;
        return false;
    }
    s->report.why = POISE_WHY_BUDGET;
    return true;
}

poise_outcome pz_solver_run_from(poise_solver *s, const double *q)
{
    poise_outcome outcome;
    double cost = pz_try(s, q, POISE_LEVEL_HESSIAN);
    return pz_solver_arrive(s, cost, &outcome) ? s->row->run(s) : outcome;
}

// A cold start: q_try, or q_try with the root aligned if that is better.
static void align_start(poise_solver *s)
{
    if (pz_objective_evaluate(s->trial, s->q_try, POISE_LEVEL_COST) != POISE_OK) {
        return;
    }
    s->report.start_cost = s->trial->cost;
    copy(s->q_best, s->q_try, s->model->nq);
    if (pz_align_root(s, &s->trial->kin, s->q_best) && pz_try(s, s->q_best, POISE_LEVEL_COST) < s->report.start_cost) {
        copy(s->q_try, s->q_best, s->model->nq);
    }
}

void pz_solve_start(poise_solver *s, int run, bool is_anywhere)
{
    if (run > 0) {
        pz_restart_configuration(s, run, is_anywhere, s->q_try);
        pz_objective_evaluate(s->trial, s->q_try, POISE_LEVEL_COST);
        pz_align_root(s, &s->trial->kin, s->q_try);
        return;
    }
    copy(s->q_try, s->q_start, s->model->nq);
    s->report.start_cost = NAN; // the first run will know it
    if (s->options.start == POISE_START_COLD) {
        align_start(s);
    }
}

// Is the current point better than the best one before, by its cost or as the method has it?
static bool improves(poise_solver *s, double *best, bool first)
{
    bool is_better = s->row->improves ? s->row->improves(s, first) : first || s->at->cost < *best;
    *best = is_better ? s->at->cost : *best;
    return is_better;
}

// Start again from elsewhere while goals are missed and starts are left; the best end is in q_best.
static void run_all(poise_solver *s)
{
    pz_solve_start(s, 0, false);
    s->report.outcome = pz_solver_run_from(s, s->q_try);
    copy(s->q_best, s->at->kin.q, s->model->nq);
    double best = INFINITY;
    improves(s, &best, true);
    for (int restart = 1; restart <= s->options.restarts && s->report.outcome != POISE_OUTCOME_REACHED; ++restart) {
        poise_why why = s->report.why;
        pz_solve_start(s, restart, false);
        poise_outcome outcome = pz_solver_run_from(s, s->q_try);
        s->report.restarts += 1;
        if (improves(s, &best, false)) {
            copy(s->q_best, s->at->kin.q, s->model->nq);
            s->report.outcome = outcome;
        } else {
            s->report.why = why;
        }
    }
    pz_look_beyond(s);
}

// Euclidean length of x, scaled where squares overflow.
static double length_of(const double *x, int n)
{
    double square = 0.0, scale = 1.0;
    for (int i = 0; i < n; ++i) {
        square += x[i] * x[i];
    }
    if (!is_finite(square)) {
        square = 0.0;
        scale = pz_largest(x, n);
        for (int i = 0; i < n; ++i) {
            square += (x[i] / scale) * (x[i] / scale);
        }
    }
    return scale * sqrt(square);
}

// Cost, gradient and errors at the answer, from an evaluation there.
static void measure(poise_solver *s)
{
    poise_report *r = &s->report;
    if (memcmp(s->at->kin.q, s->q_best, (size_t)s->model->nq * sizeof *s->q_best) != 0) { // the last run was not the best
        pz_objective_evaluate(s->at, s->q_best, POISE_LEVEL_HESSIAN);
    }
    r->cost = s->at->cost;
    r->gradient = pz_project_gradient(s);
    pz_solve_measure_goals(s);
}

void pz_solve_measure_goals(poise_solver *s)
{
    poise_report *r = &s->report;
    r->worst_length = r->worst_angle = 0.0;
    for (int i = 0; i < s->goal_count; ++i) {
        if (pz_is_marker(&s->goals[i])) {
            double error = pz_marker_error(&s->at->kin, &s->goals[i]);
            r->worst_length = max2(r->worst_length, error == error ? error : INFINITY);
            continue;
        }
        poise_goal_error e = pz_counted_error(&s->goals[i], poise_objective_goal_error(s->at, i));
        r->worst_length = e.unit == POISE_UNIT_LENGTH ? max2(r->worst_length, e.error) : r->worst_length;
        r->worst_angle = max2(r->worst_angle, e.unit == POISE_UNIT_ANGLE ? e.error : e.rotation_error);
    }
}

// The step from start to answer. Without quaternions and rotation vectors every dof has its number.
static void find_way(poise_solver *s)
{
    if (s->model->block_count > 0) {
        pz_kin_difference(s->model, s->q_start, s->q_best, s->step);
        return;
    }
    for (int i = 0; i < s->model->nv; ++i) {
        int q = s->box[i].q;
        s->step[i] = s->q_best[q] - s->q_start[q];
    }
}

// Coordinates of the answer at a limit.
static int count_active_limits(const poise_solver *s)
{
    const poise_model *model = s->model;
    const double *q = s->q_best, *lower = model->lower, *upper = model->upper;
    int count = 0;
    for (int i = 0; i < model->nq && s->options.use_limits; ++i) {
        bool is_active = s->has_swings ? poise_solver_active_limit(s, i) != 0 : (q[i] <= lower[i]) | (q[i] >= upper[i]);
        count += is_active;
    }
    return count;
}

// Has a goal of the caller's an energy below 0 at the answer?
static bool is_below_zero(const poise_solver *s)
{
    for (int i = 0; s->has_callbacks && i < s->goal_count; ++i) {
        if (s->goals[i].kind == POISE_GOAL_CALLBACK && s->goals[i].weight > 0 &&
            !is_finite(poise_objective_goal_error(s->at, i).error)) {
            return true;
        }
    }
    return false;
}

// A reason that says more, where the goals and errors tell it.
static void explain(poise_solver *s)
{
    poise_report *r = &s->report;
    if (is_below_zero(s)) {
        r->outcome = r->outcome == POISE_OUTCOME_CLOSEST ? POISE_OUTCOME_STALLED : r->outcome;
        r->why = POISE_WHY_BELOW_ZERO;
    } else if (r->outcome == POISE_OUTCOME_CLOSEST && r->worst_length <= s->options.position_tolerance &&
               r->worst_angle <= s->options.rotation_tolerance && r->why == POISE_WHY_PULLED) {
        r->why = POISE_WHY_HELD;
    }
}

// An answer that costs more than its start, by rounding or below the tolerances, is given up for it, unless the start misses
// a goal that the answer meets. Methods that judge answers by more than the cost may raise it.
static void keep_start(poise_solver *s)
{
    poise_report *r = &s->report;
    bool has_risen = r->cost > r->start_cost && s->may_keep_start && !s->row->improves;
    if (!has_risen || pz_objective_evaluate(s->trial, s->q_start, POISE_LEVEL_HESSIAN) != POISE_OK) {
        return;
    }
    if (s->trial->cost >= r->cost) { // the start's cost was summed in another order
        r->start_cost = s->trial->cost;
        return;
    }
    poise_report answer = *r;
    poise_outcome outcome = POISE_OUTCOME_STALLED;
    pz_accept(s); // the start is the current point now
    bool is_done = pz_is_done_afresh(s, &outcome);
    if (answer.outcome == POISE_OUTCOME_REACHED && outcome != POISE_OUTCOME_REACHED) {
        pz_accept(s);
        *r = answer;
        return;
    }
    copy(s->q_best, s->q_start, s->model->nq);
    s->is_measured = false;
    r->cost = r->start_cost = s->at->cost;
    r->outcome = is_done || answer.outcome != POISE_OUTCOME_BUDGET ? outcome : answer.outcome;
    r->why = is_done ? r->why : r->outcome == POISE_OUTCOME_BUDGET ? answer.why : POISE_WHY_STALLED;
    pz_solve_measure_goals(s);
}

// What the report says about the answer.
static void describe(poise_solver *s)
{
    poise_report *r = &s->report;
    if (!s->is_measured) {
        measure(s);
    }
    keep_start(s);
    explain(s);
    r->active_limits += count_active_limits(s);
    find_way(s);
    r->distance = length_of(s->step, s->model->nv);
    double *numbers[] = {&r->start_cost, &r->cost, &r->gradient, &r->distance, &r->worst_length, &r->worst_angle};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
        *numbers[i] = pz_finite(*numbers[i]);
    }
}

// Are all numbers of q finite and within the limits?
static bool holds_limits(const poise_solver *s, const double *q)
{
    const poise_model *model = s->model;
    const double *lower = model->lower, *upper = model->upper;
    bool is_free = !s->options.use_limits;
    int inside = 0;
    for (int i = 0; i < model->nq; ++i) {
        inside += (fabs(q[i]) <= DBL_MAX) & (is_free | ((lower[i] <= q[i]) & (q[i] <= upper[i])));
    }
    return inside == model->nq && (!s->has_swings || poise_model_within_limits(model, q));
}

// Limits hold in every answer, whatever a method did: what left them is moved back, or given up for the start where that is
// not better.
static void hold_limits(poise_solver *s)
{
    if (holds_limits(s, s->q_best)) {
        return;
    }
    bool is_better = poise_model_clamp(s->model, s->q_best, NULL, NULL) == POISE_OK &&
                     pz_try(s, s->q_best, POISE_LEVEL_COST) < s->report.start_cost;
    if (!is_better) {
        copy(s->q_best, s->q_start, s->model->nq);
    }
    s->is_measured = false;
    s->report.outcome = POISE_OUTCOME_STALLED;
    s->report.why = POISE_WHY_MOVED_INSIDE;
}

// Is the start within the limits, at a glance? Swings and quaternions need a closer look.
static bool is_inside(const poise_solver *s)
{
    const poise_model *model = s->model;
    bool inside = !s->has_swings && model->nq == model->nv;
    for (int i = 0; i < model->nq && inside; ++i) {
        inside = model->lower[i] <= s->q_start[i] && s->q_start[i] <= model->upper[i];
    }
    return inside;
}

poise_status pz_solve_take(poise_solver *s, const poise_goal *goals, int count, const double *q, poise_error *error)
{
    s->error = error;
    s->report = (poise_report){.holds = true, .clearance = DBL_MAX, .blocking = POISE_NONE};
    s->may_keep_start = true;
    s->is_unproved = false;
    if (!q || !pz_model_accepts(s->model, q)) {
        return pz_refuse_q(s->model, q, "q", error);
    }
    copy(s->q_start, q, s->model->nq);
    s->is_measured = false;
    return take_goals(s, goals, count);
}

// Take start and goals, or refuse them.
poise_status pz_solve_begin(poise_solver *s, const poise_goal *goals, int count, const double *q, poise_error *error)
{
    poise_status status = pz_solve_take(s, goals, count, q, error);
    if (status != POISE_OK) {
        return status;
    }
    if (s->options.use_limits && !is_inside(s)) {
        poise_model_clamp(s->model, s->q_start, &s->report.moved_joints, NULL);
    }
    return POISE_OK;
}

void pz_solve_end(poise_solver *s, double *q, poise_report *report)
{
    if (!s->is_measured) { // else it comes from the path for arms, whose every move ends within the limits
        hold_limits(s);
    }
    describe(s);
    copy(q, s->q_best, s->model->nq);
    pz_report_hand_out(s, report);
}

static bool is_open_to_doubt(poise_solver *s)
{
    bool is_looked_at =
        s->goal_count <= PZ_LOOKED_AT && (pz_has_tolerances(s->goals, s->goal_count) || pz_has_weak_bound(s));
    return s->options.method != POISE_METHOD_AUTO || s->is_unproved || is_looked_at;
}

// What a method calls closest is looked at once more. AUTO looks for ways out of such places on its way (saddle.c): there is
// more to see only where it has no attempt left, goals have tolerances or limits hardly push. By levels of priority an answer
// is closest in another sense, and another reason says so.
static void look_again(poise_solver *s)
{
    bool is_closest = s->report.outcome == POISE_OUTCOME_CLOSEST;
    bool is_claimed =
        is_closest && (s->report.why == pz_why_closest(s->goals, s->goal_count) || s->report.why == POISE_WHY_HELD);
    if (is_claimed && is_open_to_doubt(s) && pz_is_refuted(s)) {
        s->report.outcome = POISE_OUTCOME_STALLED;
        s->report.why = POISE_WHY_REFUTED;
    }
}

void pz_solve_leave(const poise_solver *s, pz_waiting *waiting)
{
    *waiting = (pz_waiting){.goal = s->goals, .q_start = s->q_start, .report = s->report};
}

void pz_solve_resume(poise_solver *s, const pz_waiting *waiting)
{
    s->goals = s->at->goals = s->trial->goals = waiting->goal;
    s->q_start = waiting->q_start;
    s->report = waiting->report;
    s->is_measured = false;
}

poise_status poise_solve(poise_solver *solver, const poise_goal *goals, int count, double *q, poise_report *report,
                         poise_error *error)
{
    if (!solver) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "solver must not be NULL");
    }
    poise_solver *s = solver;
    poise_status status = pz_solve_begin(s, goals, count, q, error);
    if (status != POISE_OK) {
        return status;
    }
    bool is_arm = pz_arm_solve(s); // which takes its own second look
    if (!is_arm && !pz_tips_solve(s)) {
        run_all(s);
    }
    pz_solve_end(s, q, NULL);
    if (!is_arm || pz_has_tolerances(s->goals, s->goal_count)) {
        look_again(s);
    }
    pz_report_hand_out(s, report);
    return POISE_OK;
}

poise_status poise_solve_all(poise_solver *solver, const poise_goal *goal, const double *q_start, double *solutions,
                             int capacity, int *count, poise_report *report, poise_error *error)
{
    if (!solver) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "solver must not be NULL");
    }
    poise_solver *s = solver;
    if (!goal || !solutions || capacity < 1 || !count) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "goal, solutions and count must not be NULL, and capacity must be at least 1");
    }
    poise_status status = pz_solve_begin(s, goal, 1, q_start, error);
    if (status != POISE_OK) {
        return status;
    }
    s->may_keep_start = false; // the rows are the answers
    if (!pz_arm_solve_all(s, solutions, capacity, count)) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED,
                            "finding all solutions needs the method auto and a pose goal on a chain of revolute and "
                            "prismatic joints; others "
                            "must be locked");
    }
    describe(s);
    if (*count == 0) {
        copy(solutions, s->q_best, s->model->nq);
    }
    pz_report_hand_out(s, report);
    return POISE_OK;
}

// ---- Answers -------------------------------------------------------------------------------------------------------------

const poise_kinematics *poise_solver_kinematics(poise_solver *solver)
{
    if (solver && solver->is_measured) {
        pz_kin_sweep(&solver->at->kin, solver->q_best);
    }
    return solver ? &solver->at->kin : NULL;
}

poise_goal_error poise_solver_goal_error(poise_solver *solver, int goal)
{
    poise_solver_kinematics(solver);
    return poise_objective_goal_error(solver ? solver->at : NULL, goal);
}

int poise_solver_active_limit(const poise_solver *solver, int coordinate)
{
    if (!solver || !solver->options.use_limits || coordinate < 0 || coordinate >= solver->model->nq) {
        return 0;
    }
    const poise_model *model = solver->model;
    double q = solver->q_best[coordinate];
    if (solver->has_swings && pz_model_at_swing_edge(model, solver->q_best, coordinate)) {
        return 1;
    }
    return q <= model->lower[coordinate] ? -1 : q >= model->upper[coordinate] ? 1 : 0;
}
