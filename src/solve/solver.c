// A solver: its options, its memory, and what each dof may do.
#include "base/error.h"
#include "model/model.h"
#include "solve/arm.h"
#include "solve/constrained.h"
#include "solve/solver_state.h"
#include "solve/step_kernel.h"
#include "solve/tips.h"

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
