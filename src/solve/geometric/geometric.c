// The frame of CCD and BWCD: sweep, keep what lowers the cost, stop.
#include "solve/geometric/geometric.h"
#include "base/error.h"
#include "solve/methods.h"
#include "solve/rows/residual_rows.h"

// How AIM goals are held back: not at first, and as soon as a sweep raises the cost.
#define CAUTION_FIRST  1.0
#define CAUTION_GROWTH 4.0
#define CAUTION_MOST   1e6 // steps a millionth as long, and still no gain

void *pz_geometric_lay_out(poise_solver *solver, pz_arena *arena)
{
    size_t joints = (size_t)solver->model->joint_count;
    pz_geometric blank = {0}, *scratch = pz_arena_take(arena, 1, sizeof *scratch);
    pz_geometric *g = scratch ? scratch : &blank;
    g->pulls = pz_arena_take(arena, joints, sizeof *g->pulls);
    g->moves = pz_arena_take(arena, joints, sizeof *g->moves);
    g->q = pz_arena_take(arena, (size_t)solver->model->nq, sizeof *g->q);
    g->work = pz_arena_take(arena, (size_t)solver->model->nv, sizeof *g->work);
    return scratch;
}

// ---- What can be served --------------------------------------------------------------------------------------------------

poise_status pz_geometric_check_model(poise_solver *solver)
{
    const char *name = poise_method_name(solver->options.method);
    if (solver->options.prior > 0) {
        return pz_error_set(solver->error, POISE_ERROR_UNSUPPORTED, "%s does not support a prior: set options.prior to 0",
                            name);
    }
    const poise_model *model = solver->model;
    for (int i = 0; i < solver->goal_count && (model->has_mimic || model->curve_count > 0); ++i) {
        for (int k = solver->goals[i].body; k != POISE_WORLD; k = model->joints[k].parent) {
            if (model->given[k].type == POISE_JOINT_CURVE) {
                return pz_error_set(
                    solver->error, POISE_ERROR_UNSUPPORTED,
                    "goal %d: joint \"%s\" above it moves along curves, but %s supports only hinges and slides", i,
                    model->given[k].name, name);
            }
            if (model->joints[k].mimic != POISE_WORLD) {
                return pz_error_set(solver->error, POISE_ERROR_UNSUPPORTED,
                                    "goal %d: joint \"%s\" above it mimics another one, but %s moves one joint at a time", i,
                                    model->given[k].name, name);
            }
        }
    }
    return POISE_OK;
}

poise_status pz_geometric_check(poise_solver *solver)
{
    const char *name = poise_method_name(solver->options.method);
    for (int i = 0; i < solver->goal_count; ++i) {
        const poise_goal *goal = &solver->goals[i];
        if (goal->kind > POISE_GOAL_AIM) {
            return pz_error_set(solver->error, POISE_ERROR_UNSUPPORTED,
                                "goal %d (%s): %s supports only position, direction, orientation, pose and aim goals", i,
                                poise_goal_kind_name(goal->kind), name);
        }
        bool turns = goal->kind == POISE_GOAL_ORIENTATION || goal->kind == POISE_GOAL_POSE;
        if (turns && pz_has_band(goal->rotation_tolerance)) {
            return pz_error_set(
                solver->error, POISE_ERROR_UNSUPPORTED,
                "goal %d (%s): %s does not support rotation_tolerance; to free a rotation use a direction goal", i,
                poise_goal_kind_name(goal->kind), name);
        }
    }
    return pz_geometric_check_model(solver);
}

// ---- Runs ----------------------------------------------------------------------------------------------------------------

// A start where the gradient vanishes may be the worst place of all, such as a direction that points away: a sweep sees that
// and leaves it, so the start alone is never the closest.
poise_outcome pz_descend(poise_solver *solver, pz_sweep sweep)
{
    pz_geometric *g = solver->method;
    poise_outcome outcome;
    double caution = 0.0;
    bool has_moved = false, fresh = true;
    for (;;) {
        if (fresh && pz_is_done_afresh(solver, &outcome) && (outcome == POISE_OUTCOME_REACHED || has_moved)) {
            return outcome;
        }
        bool bounds;
        double longest = sweep(solver, caution, &bounds), used = caution;
        fresh = pz_try(solver, g->q, POISE_LEVEL_HESSIAN) < solver->at->cost;
        if (fresh) {
            pz_accept(solver);
            has_moved = true;
            caution = caution > CAUTION_FIRST ? caution / CAUTION_GROWTH : 0.0;
        } else {
            caution = max2(CAUTION_FIRST, CAUTION_GROWTH * caution);
        }
        bool more = pz_count_iteration(solver, used, longest, fresh, false);
        if (!fresh && (bounds || caution > CAUTION_MOST)) {
            return pz_stuck_outcome(solver, false);
        }
        if (!more) {
            if (fresh && pz_is_done_afresh(solver, &outcome)) {
                return outcome;
            }
            solver->report.why = POISE_WHY_BUDGET;
            return POISE_OUTCOME_BUDGET;
        }
    }
}
