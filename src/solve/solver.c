// A solver: its options, the method that they choose, its memory, and what each dof may do.
//
// Options are refused with the rule that they break. A method is a row of functions: those of the solver's own are in auto.c
// and priority.c, one more is a line of `own`; those of an engine from outside go through the door that is here, too.
#include "base/error.h"
#include "model/model.h"
#include "num/dense.h"
#include "solve/arm.h"
#include "solve/auto.h"
#include "solve/constrained.h"
#include "solve/priority.h"
#include "solve/step_kernel.h"
#include "solve/tips.h"

// ---- Options -------------------------------------------------------------------------------------------------------------

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

const char *pz_method_name(const poise_solver *solver)
{
    return solver->options.engine ? solver->options.engine->name : poise_method_name(solver->options.method);
}

// ---- The door for engines from outside -----------------------------------------------------------------------------------
//
// <poise/method.h>: an engine sees a poise_method_run, which is the problem, two points (current and tried), and calls. Each
// call is one of the functions that the solver's own methods use (step.c), on the solver behind the run.

static poise_method_point point_of(poise_objective *o)
{
    return (poise_method_point){.q = o->kin.q,
                                .cost = o->cost,
                                .gradient = o->gradient,
                                .objective = o,
                                .kinematics = &o->kin,
                                .reference = o->kin.origin,
                                .origins = o->kin.p};
}

static void *call_take(poise_method_memory *memory, size_t call_count, size_t element)
{
    return pz_arena_take((pz_arena *)memory, call_count, element);
}

static double call_evaluate(poise_method_run *run, const double *q, poise_level level)
{
    double cost = pz_try(run->solver, q, level);
    run->trial = point_of(run->solver->trial);
    return cost;
}

static void call_accept(poise_method_run *run)
{
    poise_method_point was = run->at;
    pz_accept(run->solver);
    run->at = run->trial;
    run->trial = was;
}

static void call_step_within(const poise_method_run *run, const double *q, const double *step, double *q_out)
{
    pz_step_within(run->solver, q, step, q_out);
}

static double call_project(poise_method_run *run)
{
    return pz_project_gradient(run->solver);
}

static bool call_is_held(const poise_method_run *run, int component)
{
    return pz_is_held(run->solver, component);
}

static void call_metric(poise_method_run *run, double *D)
{
    pz_make_metric(run->solver, D);
}

static bool call_is_done(poise_method_run *run, bool afresh, poise_outcome *outcome)
{
    pz_end end;
    bool is_done = afresh ? pz_is_done_afresh(run->solver, &end) : pz_is_done(run->solver, &end);
    if (is_done) {
        *outcome = end.outcome;
        run->report->why = end.why;
    }
    return is_done;
}

static poise_outcome call_stuck(poise_method_run *run, bool is_flat)
{
    pz_end end = pz_stuck(run->solver, is_flat);
    run->report->why = end.why;
    return end.outcome;
}

static bool call_count(poise_method_run *run, double damping, double step, bool accepted, bool exact)
{
    return pz_count_iteration(run->solver, damping, step, accepted, exact);
}

static int call_project_on_edges(const poise_method_run *run, double *x)
{
    return pz_project_on_swings(run->solver, x);
}

static int call_stiffen_edges(poise_method_run *run, double spring)
{
    return pz_stiffen_edges(run->solver, spring);
}

static bool call_edge_leads_inwards(const poise_method_run *run, int component)
{
    return pz_edge_leads_inwards(run->solver, component);
}

static double call_room_of_edges(const poise_method_run *run, const double *base, const double *step)
{
    return pz_room_of_swings(run->solver, base, step);
}

static int call_clip_to_edges(const poise_method_run *run, double *step)
{
    return pz_clip_to_swings(run->solver, step);
}

static void call_keep_in_edges(const poise_method_run *run, double *q)
{
    pz_keep_in_swings(run->solver, q);
}

static void call_hessian_band(const poise_method_run *run, poise_hessian kind, int half, double *rows)
{
    pz_band band = {run->nv, half, rows};
    pz_objective_band(run->at.objective, kind, &band);
}

static poise_vec3 call_place(const poise_method_run *run, int body, poise_vec3 local)
{
    return pz_kin_point(run->at.kinematics, body, local);
}

static void fill_rotation(const mat3 *R, double out[9])
{
    const vec3 columns[3] = {R->x, R->y, R->z};
    for (int i = 0; i < 3; ++i) {
        out[i] = columns[i].x;
        out[3 + i] = columns[i].y;
        out[6 + i] = columns[i].z;
    }
}

static bool call_joint_motion(const poise_method_run *run, int joint, int i, poise_joint_motion *motion)
{
    static const poise_motion_kind kinds[] = {
        [PZ_TURN_X] = POISE_MOTION_TURN,   [PZ_TURN_Y] = POISE_MOTION_TURN,   [PZ_TURN_Z] = POISE_MOTION_TURN,
        [PZ_SLIDE_X] = POISE_MOTION_SLIDE, [PZ_SLIDE_Y] = POISE_MOTION_SLIDE, [PZ_SLIDE_Z] = POISE_MOTION_SLIDE,
        [PZ_EXPMAP] = POISE_MOTION_VECTOR, [PZ_SWING] = POISE_MOTION_SWING,   [PZ_QUATERNION] = POISE_MOTION_QUATERNION,
        [PZ_CURVE] = POISE_MOTION_CURVE};
    const poise_model *model = run->model;
    const poise_kinematics *kin = run->at.kinematics;
    const pz_joint *of = &model->joints[joint];
    if (i >= of->step_end - of->step_begin) {
        return false;
    }
    const pz_step *step = &model->steps[of->step_begin + i];
    motion->kind = kinds[step->kind];
    motion->q = step->q;
    motion->v = model->axes[step->axis].dof;
    if (pz_step_is_block(step->kind)) {
        fill_rotation(&kin->blocks[step->block].before, motion->frame);
        motion->vector = kin->blocks[step->block].v;
    } else {
        motion->axis = pz_step_is_slide(step->kind) ? kin->S[step->axis].v : kin->S[step->axis].w;
    }
    return true;
}

static double call_loss_slope(const poise_goal *goal, double square)
{
    return pz_loss_at(goal->loss, goal->loss_scale, square).d1;
}

static const poise_method_calls calls = {
    .take = call_take,
    .evaluate = call_evaluate,
    .accept = call_accept,
    .step_within = call_step_within,
    .project = call_project,
    .is_held = call_is_held,
    .metric = call_metric,
    .is_done = call_is_done,
    .stuck = call_stuck,
    .count = call_count,
    .project_on_edges = call_project_on_edges,
    .stiffen_edges = call_stiffen_edges,
    .edge_leads_inwards = call_edge_leads_inwards,
    .room_of_edges = call_room_of_edges,
    .clip_to_edges = call_clip_to_edges,
    .keep_in_edges = call_keep_in_edges,
    .hessian_band = call_hessian_band,
    .factor = pz_rows_call_factor,
    .project_rows = pz_rows_call_project,
    .place = call_place,
    .joint_motion = call_joint_motion,
    .loss_slope = call_loss_slope,
};

void pz_open_run(poise_solver *s)
{
    s->run = (poise_method_run){.call = &calls,
                                .model = s->model,
                                .nq = s->model->nq,
                                .nv = s->model->nv,
                                .options = &s->options,
                                .goals = s->problem->goals,
                                .goal_count = s->problem->goal_count,
                                .bounds = s->box,
                                .has_swings = s->has_swings,
                                .at = point_of(s->at),
                                .trial = point_of(s->trial),
                                .q_start = s->problem->q_start,
                                .q_begin = s->q_try,
                                .projected = s->gradient,
                                .diagonal = s->diagonal,
                                .step = s->step,
                                .scratch = s->method,
                                .report = &s->answer->report,
                                .solver = s};
}

static void *engine_lay_out(poise_solver *solver, pz_arena *arena)
{
    const poise_method_engine *engine = solver->options.engine;
    poise_method_run run = {.call = &calls,
                            .model = solver->model,
                            .nq = solver->model->nq,
                            .nv = solver->model->nv,
                            .options = &solver->options};
    return engine->lay_out ? engine->lay_out(&run, (poise_method_memory *)arena) : NULL;
}

static pz_end engine_run(poise_solver *solver)
{
    pz_open_run(solver);
    solver->answer->report.why = POISE_WHY_BUDGET; // until the engine says more
    poise_outcome outcome = solver->options.engine->run(&solver->run);
    return (pz_end){outcome, solver->answer->report.why};
}

static poise_status engine_check(poise_solver *solver)
{
    pz_open_run(solver);
    const poise_method_engine *engine = solver->options.engine;
    return engine->check ? engine->check(&solver->run, solver->error) : POISE_OK;
}

poise_status poise_method_begin(poise_solver *solver, const poise_goal *goals, int count_of_goals, const double *q,
                                poise_method_run **run, poise_error *error)
{
    if (!solver || !run) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "solver and run must not be NULL");
    }
    poise_status status = pz_solve_begin(solver, goals, count_of_goals, q, error);
    if (status == POISE_OK) {
        pz_open_run(solver);
        *run = &solver->run;
    }
    return status;
}

void poise_method_restart(const poise_method_run *run, int number, double *q)
{
    pz_restart_configuration(run->solver, number, false, q);
}

// ---- The table of methods ------------------------------------------------------------------------------------------------

const pz_method_row *pz_method_row_of(const poise_solver_options *options)
{
    static const pz_method_row *const own[POISE_METHOD_COUNT] = {
        [POISE_METHOD_AUTO] = &pz_auto_method,
        [POISE_METHOD_PRIORITY] = &pz_priority_method,
        [POISE_METHOD_LEVENBERG_MARQUARDT] = &pz_levenberg_marquardt_method,
    };
    static const pz_method_row engine = {engine_lay_out, engine_run, engine_check, NULL};
    if (options->engine) {
        const poise_row_method *rows = options->engine->rows;
        return !rows ? &engine : rows->levels == POISE_ROWS_ONE ? &pz_one_level_method : &pz_levels_method;
    }
    return (unsigned)options->method < POISE_METHOD_COUNT ? own[options->method] : NULL;
}

// ---- Memory and limits ---------------------------------------------------------------------------------------------------

static void solver_lay_out(poise_solver *s, const poise_model *model, const poise_solver_options *options, pz_arena *arena)
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
    s->own.problem.q_start = pz_arena_take(arena, nq, sizeof *s->own.problem.q_start);
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
    solver_lay_out(&blank, model, options, &arena);
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
    solver_lay_out(s, model, options, &arena);
    if (arena.full) {
        return NULL;
    }
    s->problem = &s->own.problem;
    s->answer = &s->own.answer;
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
