// Goals at several tips, from start to answer: part by part, then one report.
#include "solve/tips/tips_tree.h"

pz_tips *pz_tips_lay_out(poise_solver *solver, pz_arena *arena)
{
    const poise_model *model = solver->model;
    size_t nq = (size_t)model->nq;
    pz_tips *made = pz_arena_take(arena, 1, sizeof *made), blank, *t = made ? made : &blank;
    *t = (pz_tips){.count = -1};
    t->moves = pz_arena_take(arena, (size_t)model->nv, sizeof *t->moves);
    t->part_of = pz_arena_take(arena, nq, sizeof *t->part_of);
    t->answer = pz_arena_take(arena, nq, sizeof *t->answer);
    t->q_kept = pz_arena_take(arena, nq, sizeof *t->q_kept);
    t->ends = pz_arena_take(arena, PZ_TIPS_ENDS * nq, sizeof *t->ends);
    int tips = 0; // a chain to each
    for (int k = 0; k < model->joint_count; ++k) {
        tips += model->joints[k].subtree == 1;
    }
    for (t->arm_count = 0; t->arm_count < least(tips, PZ_TIPS_MOST) && tips > 1; ++t->arm_count) {
        t->arms[t->arm_count] = pz_arm_lay_out(solver, arena);
    }
    pz_trees_lay_out(t, pz_trees_most_branches(model), arena);
    return made;
}

// Several goals, none of them condensed with others; where steps may be small, one part's own step is as good as any.
bool pz_tips_serves(poise_solver *solver)
{
    pz_tips *tips = solver->tips;
    bool fits = tips && solver->goal_count >= 2 && solver->goal_count <= PZ_TIPS_MOST &&
                pz_arm_options_fit(&solver->options) && !solver->at->markers->any && pz_tips_plan(solver, tips);
    bool is_near = solver->options.start == POISE_START_WARM && solver->options.restarts == 0;
    for (int k = 0; fits && is_near && k < tips->part_count; ++k) {
        fits = tips->parts[k].arm || tips->parts[k].tree; // other searches pay where a start may be far off
    }
    return fits;
}

static void solve_part(poise_solver *solver, pz_tips *tips, const pz_part *part)
{
    solver->is_measured = false;
    pz_arm *arm = solver->arm;
    const poise_goal *goals = solver->goals;
    bool is_done = false;
    if (part->arm) {
        pz_tips_use_goals(solver, &goals[part->first], 1);
        solver->arm = part->arm;
        is_done = pz_arm_solve(solver);
        solver->arm = arm;
        pz_tips_use_goals(solver, goals, tips->count);
    }
    if (part->tree) {
        pz_tree_solve_part(solver, tips, part);
    } else if (!is_done) { // no arm, or numbers that overflow there
        pz_tips_search_part(solver, tips, part);
    }
}

// Add a part's report, and put its coordinates into the answer.
static void add_part(const poise_solver *solver, pz_tips *tips, int k, poise_report *total)
{
    const poise_report *r = &solver->report;
    if (k == 0 || pz_outcome_is_worse(r->outcome, total->outcome)) {
        total->outcome = r->outcome;
        total->why = r->why;
    }
    total->iterations += r->iterations;
    total->evaluations += r->evaluations;
    total->restarts += r->restarts;
    total->traced = r->traced;
    total->start_cost += r->start_cost;
    total->cost += r->cost;
    total->gradient = max2(total->gradient, r->gradient);
    total->worst_length = max2(total->worst_length, r->worst_length);
    total->worst_angle = max2(total->worst_angle, r->worst_angle);
    for (int i = 0; i < solver->model->nq; ++i) {
        tips->answer[i] = tips->part_of[i] == k ? solver->q_best[i] : tips->answer[i];
    }
}

// Where a part could not be measured by its own numbers, the whole is.
static void conclude(poise_solver *solver, const pz_tips *tips, bool is_measured)
{
    poise_outcome outcome, parts = solver->report.outcome;
    poise_why why = solver->report.why;
    memcpy(solver->q_best, tips->answer, (size_t)solver->model->nq * sizeof *solver->q_best);
    solver->is_measured = is_measured;
    if (is_measured) {
        return;
    }
    pz_try(solver, solver->q_best, POISE_LEVEL_HESSIAN);
    pz_accept(solver);
    if (solver->at->cost > solver->report.start_cost && // by the sums of the parts, which round otherwise
        pz_objective_evaluate(solver->trial, solver->q_start, POISE_LEVEL_COST) == POISE_OK) {
        solver->report.start_cost = solver->trial->cost;
    }
    pz_refresh_diagonal(solver);
    bool is_reached = pz_is_done(solver, &outcome) && outcome == POISE_OUTCOME_REACHED;
    bool is_lost = !is_reached && parts == POISE_OUTCOME_REACHED; // by rounding
    solver->report.outcome = is_reached ? POISE_OUTCOME_REACHED : is_lost ? POISE_OUTCOME_STALLED : parts;
    solver->report.why = is_reached ? POISE_WHY_REACHED : is_lost ? POISE_WHY_STALLED : why;
}

// A part records its own cost; a trace has that of the whole, with the other parts where they are at that time, and calls a
// step accepted when it came closer than all before.
static void judge_trace(const poise_solver *solver, int first, double *whole)
{
    const poise_report *r = &solver->report;
    double others = *whole - r->start_cost, best = *whole;
    for (int i = first; i < r->traced; ++i) {
        poise_trace *record = &solver->options.trace[i];
        record->cost = pz_finite(record->cost + others);
        record->accepted = record->accepted && record->cost < best;
        best = record->accepted ? record->cost : best;
    }
    *whole = others + (solver->is_measured ? r->cost : solver->at->cost);
}

bool pz_tips_solve(poise_solver *solver)
{
    if (!pz_tips_serves(solver)) {
        return false;
    }
    pz_tips *tips = solver->tips;
    const poise_goal *goals = solver->goals;
    int count = solver->goal_count;
    poise_report total = solver->report;
    double tolerance = solver->options.cost_tolerance;
    bool is_measured = true;
    bool is_traced = solver->options.trace && solver->options.trace_capacity > 0;
    double whole = is_traced ? pz_try(solver, solver->q_start, POISE_LEVEL_COST) : 0.0;
    memcpy(tips->answer, solver->q_start, (size_t)solver->model->nq * sizeof *tips->answer);
    solver->options.cost_tolerance = tolerance / tips->part_count; // costs add
    for (int k = 0; k < tips->part_count; ++k) {
        solver->report = (poise_report){.traced = total.traced};
        solve_part(solver, tips, &tips->parts[k]);
        if (is_traced) {
            judge_trace(solver, total.traced, &whole);
        }
        add_part(solver, tips, k, &total);
        is_measured = is_measured && solver->is_measured;
        pz_tips_use_goals(solver, goals, count);
    }
    solver->options.cost_tolerance = tolerance;
    solver->report = total;
    conclude(solver, tips, is_measured);
    return true;
}
