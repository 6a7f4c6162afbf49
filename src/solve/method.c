// Methods: the rows of the solver's own, and the door for engines from outside (<poise/method.h>).
//
// An engine sees a poise_method_run: the problem, two points (current and tried), and calls. Each call is one of the functions
// that the solver's own methods use (step.c), on the solver behind the run.
#include "base/error.h"
#include "num/dense.h"
#include "solve/auto.h"
#include "solve/priority.h"

static const char *const names[POISE_METHOD_COUNT] = {
    [POISE_METHOD_AUTO] = "auto",
    [POISE_METHOD_GRADIENT_DESCENT] = "gradient_descent",
    [POISE_METHOD_JACOBIAN_TRANSPOSE] = "jacobian_transpose",
    [POISE_METHOD_PSEUDO_INVERSE] = "pseudo_inverse",
    [POISE_METHOD_DAMPED_LEAST_SQUARES] = "damped_least_squares",
    [POISE_METHOD_SELECTIVELY_DAMPED] = "selectively_damped",
    [POISE_METHOD_PRIORITY] = "priority",
    [POISE_METHOD_CCD] = "ccd",
    [POISE_METHOD_BWCD] = "bwcd",
    [POISE_METHOD_FABRIK] = "fabrik",
    [POISE_METHOD_LEVENBERG_MARQUARDT] = "levenberg_marquardt",
    [POISE_METHOD_BFGS] = "bfgs",
    [POISE_METHOD_LBFGS] = "lbfgs",
    [POISE_METHOD_TRUST_REGION] = "trust_region",
    [POISE_METHOD_NEWTON] = "newton",
    [POISE_METHOD_CONJUGATE_GRADIENT] = "conjugate_gradient",
};

const char *poise_method_name(poise_method method)
{
    return (unsigned)method < POISE_METHOD_COUNT ? names[method] : "unknown";
}

const char *pz_method_name(const poise_solver *solver)
{
    return solver->options.engine ? solver->options.engine->name : poise_method_name(solver->options.method);
}

// ---- What a run sees -----------------------------------------------------------------------------------------------------

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

static void *take(poise_method_memory *memory, size_t count, size_t element)
{
    return pz_arena_take((pz_arena *)memory, count, element);
}

static double evaluate(poise_method_run *run, const double *q, poise_level level)
{
    double cost = pz_try(run->solver, q, level);
    run->trial = point_of(run->solver->trial);
    return cost;
}

static void accept(poise_method_run *run)
{
    poise_method_point was = run->at;
    pz_accept(run->solver);
    run->at = run->trial;
    run->trial = was;
}

static void step_within(const poise_method_run *run, const double *q, const double *step, double *q_out)
{
    pz_step_within(run->solver, q, step, q_out);
}

static double project(poise_method_run *run)
{
    return pz_project_gradient(run->solver);
}

static bool is_held(const poise_method_run *run, int component)
{
    return pz_is_held(run->solver, component);
}

static void metric(poise_method_run *run, double *D)
{
    pz_make_metric(run->solver, D);
}

static bool is_done(poise_method_run *run, bool afresh, poise_outcome *outcome)
{
    return afresh ? pz_is_done_afresh(run->solver, outcome) : pz_is_done(run->solver, outcome);
}

static poise_outcome stuck(poise_method_run *run, bool is_flat)
{
    return pz_stuck_outcome(run->solver, is_flat);
}

static bool count(poise_method_run *run, double damping, double step, bool accepted, bool exact)
{
    return pz_count_iteration(run->solver, damping, step, accepted, exact);
}

static int project_on_edges(const poise_method_run *run, double *x)
{
    return pz_project_on_swings(run->solver, x);
}

static int stiffen_edges(poise_method_run *run, double spring)
{
    return pz_stiffen_edges(run->solver, spring);
}

static bool edge_leads_inwards(const poise_method_run *run, int component)
{
    return pz_edge_leads_inwards(run->solver, component);
}

static double room_of_edges(const poise_method_run *run, const double *base, const double *step)
{
    return pz_room_of_swings(run->solver, base, step);
}

static int clip_to_edges(const poise_method_run *run, double *step)
{
    return pz_clip_to_swings(run->solver, step);
}

static void keep_in_edges(const poise_method_run *run, double *q)
{
    pz_keep_in_swings(run->solver, q);
}

static void hessian_band(const poise_method_run *run, poise_hessian kind, int half, double *rows)
{
    pz_band band = {run->nv, half, rows};
    pz_objective_band(run->at.objective, kind, &band);
}

static poise_vec3 place(const poise_method_run *run, int body, poise_vec3 local)
{
    return pz_kin_point(run->at.kinematics, body, local);
}

static void take_rotation(const mat3 *R, double out[9])
{
    const vec3 columns[3] = {R->x, R->y, R->z};
    for (int i = 0; i < 3; ++i) {
        out[i] = columns[i].x, out[3 + i] = columns[i].y, out[6 + i] = columns[i].z;
    }
}

static bool joint_motion(const poise_method_run *run, int joint, int i, poise_joint_motion *motion)
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
        take_rotation(&kin->blocks[step->block].before, motion->frame);
        motion->vector = kin->blocks[step->block].v;
    } else {
        motion->axis = pz_step_is_slide(step->kind) ? kin->S[step->axis].v : kin->S[step->axis].w;
    }
    return true;
}

static double loss_slope(const poise_goal *goal, double square)
{
    return pz_loss_at(goal->loss, goal->loss_scale, square).d1;
}

// ---- Rows ----------------------------------------------------------------------------------------------------------------

// What the engine of `rows` stands for.
typedef struct row_problem {
    pz_rows *rows;
    pz_level *level;
} row_problem;

static bool factor(poise_method_rows *rows)
{
    const row_problem *problem = rows->engine;
    bool is_sound = pz_rows_factor(problem->rows, problem->level);
    const pz_factors *f = &problem->rows->factors;
    rows->rank = f->rank;
    rows->width = f->count;
    rows->s = f->s;
    rows->alpha = problem->rows->alpha;
    rows->left = f->m < f->n ? f->shorter : f->longer;
    rows->right = f->m < f->n ? f->longer : f->shorter;
    return is_sound;
}

static void project_rows(const poise_method_rows *rows, double *x)
{
    pz_rows_project(((const row_problem *)rows->engine)->rows, x);
}

static bool step_by_rows(const poise_solver *solver, pz_rows *rows, pz_level *level, double *x)
{
    row_problem problem = {rows, level};
    poise_method_rows seen = {.level = (int)(level - rows->levels),
                              .count = level->count,
                              .nv = rows->nv,
                              .J = rows->J + (size_t)level->first * (size_t)rows->nv,
                              .wanted = rows->wanted + level->first,
                              .part = rows->block + level->first,
                              .held = rows->hold,
                              .work = rows->line,
                              .sum = rows->x_level,
                              .engine = &problem};
    bool is_sound = solver->options.engine->rows->step(&solver->run, &seen, x);
    level->damping = seen.damping;
    return is_sound;
}

static const poise_method_calls calls = {
    .take = take,
    .evaluate = evaluate,
    .accept = accept,
    .step_within = step_within,
    .project = project,
    .is_held = is_held,
    .metric = metric,
    .is_done = is_done,
    .stuck = stuck,
    .count = count,
    .project_on_edges = project_on_edges,
    .stiffen_edges = stiffen_edges,
    .edge_leads_inwards = edge_leads_inwards,
    .room_of_edges = room_of_edges,
    .clip_to_edges = clip_to_edges,
    .keep_in_edges = keep_in_edges,
    .hessian_band = hessian_band,
    .factor = factor,
    .project_rows = project_rows,
    .place = place,
    .joint_motion = joint_motion,
    .loss_slope = loss_slope,
};

// ---- Engines from outside ------------------------------------------------------------------------------------------------

static void open_run(poise_solver *s)
{
    s->run = (poise_method_run){.call = &calls,
                                .model = s->model,
                                .nq = s->model->nq,
                                .nv = s->model->nv,
                                .options = &s->options,
                                .goals = s->goals,
                                .goal_count = s->goal_count,
                                .bounds = s->box,
                                .has_swings = s->has_swings,
                                .at = point_of(s->at),
                                .trial = point_of(s->trial),
                                .q_start = s->q_start,
                                .q_begin = s->q_try,
                                .projected = s->gradient,
                                .diagonal = s->diagonal,
                                .step = s->step,
                                .scratch = s->method,
                                .report = &s->report,
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

static poise_outcome engine_run(poise_solver *solver)
{
    open_run(solver);
    return solver->options.engine->run(&solver->run);
}

static poise_status engine_check(poise_solver *solver)
{
    open_run(solver);
    const poise_method_engine *engine = solver->options.engine;
    return engine->check ? engine->check(&solver->run, solver->error) : POISE_OK;
}

static pz_level_rule levels_of(const poise_solver *solver)
{
    return solver->options.engine->rows->levels;
}

static void *rows_lay_out(poise_solver *solver, pz_arena *arena)
{
    return pz_rows_lay_out(solver, arena, levels_of(solver));
}

static poise_outcome rows_run(poise_solver *solver)
{
    open_run(solver);
    pz_row_method method = {levels_of(solver), solver->options.engine->rows->step ? step_by_rows : pz_damped_rows_step};
    return pz_rows_run(solver, &method);
}

poise_status poise_method_begin(poise_solver *solver, const poise_goal *goals, int count_of_goals, const double *q,
                                poise_method_run **run, poise_error *error)
{
    if (!solver || !run) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "solver and run must not be NULL");
    }
    poise_status status = pz_solve_begin(solver, goals, count_of_goals, q, error);
    if (status == POISE_OK) {
        open_run(solver);
        *run = &solver->run;
    }
    return status;
}

void poise_method_restart(const poise_method_run *run, int number, double *q)
{
    pz_restart_configuration(run->solver, number, false, q);
}

// ---- The table -----------------------------------------------------------------------------------------------------------

const pz_method_row *pz_method_row_of(const poise_solver_options *options)
{
    static const pz_method_row *const own[POISE_METHOD_COUNT] = {
        [POISE_METHOD_AUTO] = &pz_auto_method,
        [POISE_METHOD_PRIORITY] = &pz_priority_method,
        [POISE_METHOD_LEVENBERG_MARQUARDT] = &pz_levenberg_marquardt_method,
    };
    static const pz_method_row engine = {engine_lay_out, engine_run, engine_check, NULL};
    static const pz_method_row one_level = {rows_lay_out, rows_run, pz_rows_check, NULL};
    static const pz_method_row levels = {rows_lay_out, rows_run, pz_rows_check, pz_rows_improve};
    if (options->engine) {
        const poise_row_method *rows = options->engine->rows;
        return !rows ? &engine : rows->levels == POISE_ROWS_ONE ? &one_level : &levels;
    }
    return (unsigned)options->method < POISE_METHOD_COUNT ? own[options->method] : NULL;
}
