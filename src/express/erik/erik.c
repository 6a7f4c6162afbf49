// ERIK: making one, and what users call.
#include "express/erik/erik_state.h"

#include "base/error.h"
#include "model/model.h"

// ---- Options and memory --------------------------------------------------------------------------------------------------

poise_erik_options poise_erik_options_default(void)
{
    return (poise_erik_options){.body = POISE_NONE,
                                .tip = poise_pose_identity(),
                                .orientation_weight = 1.0,
                                .posture_weight = 0.2,
                                .threshold = 0.04,
                                .aggravation = 1.46,
                                .max_iterations = 13,
                                .max_sweeps = 20,
                                .precision = 4.8e-4,
                                .stall = 1e-6,
                                .disturbance = 0.046,
                                .window = 4,
                                .tolerance = 1e-9,
                                .symmetric_endpoint = true,
                                .avoid_edges = true,
                                .offset_trick = true,
                                .ccd_trick = true,
                                .gain = 0.02,
                                .exact_orientation = false,
                                .restarts = 30};
}

static bool is_count(int value, int least)
{
    return value >= least;
}

static poise_status check_options(const poise_erik_options *o, poise_error *error)
{
    const struct {
        const char *name;
        bool is_sound;
    } checks[] = {
        {"orientation_weight must be >= 0", pz_is_amount(o->orientation_weight)},
        {"posture_weight must be >= 0", pz_is_amount(o->posture_weight)},
        {"threshold must be >= 0", pz_is_amount(o->threshold)},
        {"aggravation must be > 0", pz_is_amount(o->aggravation) && o->aggravation > 0.0},
        {"max_iterations must be >= 1", is_count(o->max_iterations, 1)},
        {"max_sweeps must be >= 1", is_count(o->max_sweeps, 1)},
        {"precision must be >= 0", pz_is_amount(o->precision)},
        {"stall must be >= 0", pz_is_amount(o->stall)},
        {"disturbance must be >= 0", pz_is_amount(o->disturbance)},
        {"window must be from 2 to 64", is_count(o->window, 2) && o->window <= PZ_LARGEST_WINDOW},
        {"tolerance must be >= 0", pz_is_amount(o->tolerance)},
        {"gain must be >= 0", pz_is_amount(o->gain)},
        {"restarts must be >= 0", is_count(o->restarts, 0)},
        {"tip must be finite, its rotation not zero",
         v3_is_finite(o->tip.position) && quat_is_finite(o->tip.rotation) &&
             fabs(o->tip.rotation.x) + fabs(o->tip.rotation.y) + fabs(o->tip.rotation.z) + fabs(o->tip.rotation.w) > 0.0},
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; ++i) {
        if (!checks[i].is_sound) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "options: %s", checks[i].name);
        }
    }
    return POISE_OK;
}

// Where everything lies; a counting arena gives the size.
static poise_erik *lay_out(const poise_erik *plan, pz_arena *arena)
{
    size_t n = (size_t)plan->chain.count;
    poise_erik made = *plan, *erik = pz_arena_take(arena, 1, sizeof *erik);
    made.chain.links = pz_arena_take(arena, n, sizeof *made.chain.links);
    made.joints = pz_arena_take(arena, n, sizeof *made.joints);
    made.psi = pz_arena_take(arena, n, sizeof *made.psi);
    made.psi_bend = pz_arena_take(arena, n, sizeof *made.psi_bend);
    made.warped = pz_chain_pose_lay_out((int)n, arena);
    made.now = pz_chain_pose_lay_out((int)n, arena);
    made.forward = pz_arena_take(arena, n + 1, sizeof *made.forward);
    made.best = pz_arena_take(arena, n, sizeof *made.best);
    made.previous = pz_arena_take(arena, n, sizeof *made.previous);
    made.errors = pz_arena_take(arena, (size_t)plan->options.window, sizeof *made.errors);
    made.work = pz_arena_take(arena, 3 * n, sizeof *made.work);
    if (erik && !arena->full) {
        *erik = made;
        pz_chain_build(made.model, &made.options, &erik->chain);
        for (size_t i = 0; i < n; ++i) {
            const pz_link *link = &erik->chain.links[i];
            made.joints[i] = (poise_erik_link){.index = link->joint, .is_twister = link->kind == PZ_LINK_TWISTER};
        }
    }
    return erik;
}

// What is known before there is memory.
static poise_status plan_for(const poise_model *model, const poise_erik_options *options, poise_erik *plan,
                             poise_error *error)
{
    poise_error found = {.status = POISE_ERROR_ARGUMENT, .text = "model and options must not be NULL"};
    if (!model || !options) {
        return pz_error_set(error, found.status, "%s", found.text);
    }
    poise_status status = check_options(options, error);
    if (status != POISE_OK) {
        return status;
    }
    int count = pz_chain_measure(model, options, &found);
    if (count == 0) {
        return pz_error_set(error, found.status, "%s", found.text);
    }
    *plan = (poise_erik){.model = model, .options = *options};
    plan->chain.count = count;
    return POISE_OK;
}

static size_t planned_size(const poise_erik *plan)
{
    pz_arena counting = pz_arena_counting();
    lay_out(plan, &counting);
    return pz_arena_bytes(&counting);
}

size_t pz_erik_size(const poise_model *model, const poise_erik_options *options)
{
    poise_erik plan = {0};
    return plan_for(model, options, &plan, NULL) == POISE_OK ? planned_size(&plan) : 0;
}

poise_erik *pz_erik_init(const poise_model *model, const poise_erik_options *options, void *memory, size_t size)
{
    poise_erik plan = {0};
    plan_for(model, options, &plan, NULL);
    pz_arena arena = pz_arena_over(memory, size);
    return lay_out(&plan, &arena);
}

poise_status poise_erik_create(const poise_model *model, const poise_erik_options *options, const poise_allocator *allocator,
                               poise_erik **erik, poise_error *error)
{
    poise_erik plan = {0};
    poise_status status = plan_for(model, options, &plan, error);
    if (status != POISE_OK) {
        return status;
    }
    if (!erik) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "erik must not be NULL");
    }
    pz_owned owned;
    size_t size = planned_size(&plan);
    if (!pz_owned_take(&owned, allocator, size)) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory: ERIK needs %g bytes", (double)size);
    }
    *erik = pz_erik_init(model, options, owned.memory, size);
    (*erik)->owned = owned;
    return POISE_OK;
}

void poise_erik_destroy(poise_erik *erik)
{
    if (erik) {
        pz_owned_release(&erik->owned);
    }
}

poise_erik_chain poise_erik_joints(const poise_erik *erik)
{
    return erik ? (poise_erik_chain){erik->chain.count, erik->joints} : (poise_erik_chain){0};
}

// ---- Solve and measure ---------------------------------------------------------------------------------------------------

void pz_erik_hand_out(poise_erik *erik, double *q, poise_erik_report *report)
{
    poise_erik_report *r = &erik->report;
    r->reason = r->outcome == POISE_OUTCOME_REACHED  ? "the error is within the threshold"
                : r->outcome == POISE_OUTCOME_BUDGET ? "the iterations were used up"
                                                     : "neither iterations nor tricks bring the error below the threshold";
    r->error = erik->best_measure.error;
    r->orientation = erik->best_measure.orientation;
    r->posture = erik->best_measure.posture;
    r->angle = erik->best_measure.angle;
    r->active_limits = 0;
    for (int k = 0; k < erik->chain.count; ++k) {
        const pz_link *link = &erik->chain.links[k];
        r->active_limits += erik->best[k] == link->lower || erik->best[k] == link->upper;
        if (q) {
            q[link->q] = erik->best[k];
        }
    }
    if (report) {
        *report = *r;
    }
}

poise_status poise_erik_solve(poise_erik *erik, const double *posture, poise_quat target, double *q,
                              poise_erik_report *report, poise_error *error)
{
    if (!erik || !posture) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "erik and posture must not be NULL");
    }
    if (!q || !pz_model_accepts(erik->model, q)) {
        return pz_refuse_q(erik->model, q, "q", error);
    }
    if (!pz_erik_take(erik, posture, target)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "posture and target must be finite, and target must not be zero");
    }
    for (int k = 0; k < erik->chain.count; ++k) {
        const pz_link *link = &erik->chain.links[k];
        erik->previous[k] = clamp(q[link->q], link->lower, link->upper);
    }
    pz_erik_begin(erik, erik->options.warm);
    erik->report.outcome = pz_erik_run(erik);
    if (erik->options.exact_orientation) {
        pz_erik_finish(erik);
    }
    pz_erik_hand_out(erik, q, report);
    return POISE_OK;
}

poise_status poise_erik_measure(poise_erik *erik, const double *posture, poise_quat target, const double *q,
                                poise_erik_report *report, poise_error *error)
{
    if (!erik || !posture || !report) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "erik, report and posture must not be NULL");
    }
    if (!q || !pz_model_accepts(erik->model, q)) {
        return pz_refuse_q(erik->model, q, "q", error);
    }
    if (!pz_erik_take(erik, posture, target)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "posture and target must be finite, and target must not be zero");
    }
    for (int k = 0; k < erik->chain.count; ++k) {
        erik->best[k] = q[erik->chain.links[k].q];
    }
    pz_chain_set(&erik->chain, erik->best, &erik->now);
    erik->best_measure = pz_erik_measure(erik, &erik->now);
    bool is_reached = erik->best_measure.error <= erik->options.threshold;
    erik->report = (poise_erik_report){.outcome = is_reached ? POISE_OUTCOME_REACHED : POISE_OUTCOME_STALLED};
    pz_erik_hand_out(erik, NULL, report);
    return POISE_OK;
}
