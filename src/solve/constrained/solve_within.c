// poise_solve_within: goals first, constraints after.
//
//   for each start   A  the goals alone: the searches for arms and for several tips, AUTO elsewhere
//                    B  does everything hold there? done
//                    C  the run within constraints from there (sqp.c)
//
// Warm starts and loops go straight to C. Restarts redraw the joints that move a goal that is missed, or a body of a row
// that is broken; every second one keeps those that also move goals that are met, every sixth redraws everything.
#include "base/error.h"
#include "solve/arm.h"
#include "solve/constrained/within.h"
#include "solve/tips.h"

#include <string.h>

#define OUT_OF_BOUNDS 40   // steps of a start that breaks constraints and may not be exchanged
#define LAST_STEPS    12   // at the end of a run
#define ACTIVE        1e-6 // room, in units of the model, below which a row counts as active
#define ALL_ANEW      6    // every so many restarts

static void copy(double *to, const double *from, int count)
{
    memcpy(to, from, (size_t)count * sizeof *to);
}

// ---- Restarts ------------------------------------------------------------------------------------------------------------

// Mark the joints that move a body; `mark` is ORed.
static void mark_path(const poise_model *model, int body, unsigned char mark, unsigned char *marks)
{
    for (int k = body; k >= 0; k = model->joints[k].parent) {
        int own = model->joints[k].mimic >= 0 ? model->joints[k].mimic : k;
        marks[own] |= mark;
    }
}

#define MISSED 1
#define MET    2

// What the joints of the base, where restarts begin from, do.
static void mark_joints(poise_solver *s, pz_within *w, unsigned char *marks)
{
    const poise_model *model = s->model;
    memset(marks, 0, (size_t)model->joint_count);
    for (int i = 0; i < s->goal_count; ++i) {
        const poise_goal *goal = &s->goals[i];
        int needs = pz_goal_row_of(goal->kind)->needs;
        unsigned char mark = pz_goal_is_met(s, goal) ? MET : MISSED;
        if (needs & PZ_NEEDS_BODY) {
            mark_path(model, goal->body, mark, marks);
        }
        if (goal->kind == POISE_GOAL_RELATIVE) {
            mark_path(model, goal->body2, mark, marks);
        }
    }
    for (int i = 0; i < w->at.count; ++i) {
        const pz_row *row = &w->at.row[i];
        if (!pz_row_holds(row, s->options.constraints.closure_tolerance)) {
            mark_path(model, row->body_a, MISSED, marks);
            mark_path(model, row->body_b, MISSED, marks);
        }
    }
}

// s->q_try for restart number `run`: the frame's, with what is kept taken from the base.
static void restart(poise_solver *s, pz_within *w, int run)
{
    const poise_model *model = s->model;
    pz_solve_start(s, run);
    if (run % ALL_ANEW == 0 || !is_finite(w->base_merit)) {
        return;
    }
    pz_try(s, w->q_base, POISE_LEVEL_COST);
    pz_accept(s);
    pz_rows_evaluate(&w->constraints, &s->at->kin, &w->at);
    mark_joints(s, w, w->marks);
    for (int k = 0; k < model->joint_count; ++k) {
        bool is_missed = (w->marks[k] & MISSED) != 0, is_met = (w->marks[k] & MET) != 0;
        bool redraws = is_missed && !(run % 2 == 1 && is_met);
        if (!redraws) {
            copy(s->q_try + model->joints[k].q_begin, w->q_base + model->joints[k].q_begin,
                 model->joints[k].q_end - model->joints[k].q_begin);
        }
    }
}

// ---- Starts --------------------------------------------------------------------------------------------------------------

static bool has_loops(const pz_constraints *c)
{
    for (int i = 0; i < c->count; ++i) {
        poise_constraint_kind kind = c->constraint[i].kind;
        bool is_between = kind == POISE_CONSTRAINT_DISTANCE || kind == POISE_CONSTRAINT_PLANE;
        if (kind != POISE_CONSTRAINT_CLEARANCE && kind != POISE_CONSTRAINT_BALANCE &&
            !(is_between && c->constraint[i].lower < c->constraint[i].upper)) {
            return true;
        }
    }
    return false;
}

// Evaluate q as the current point, with its rows.
static bool arrive(poise_solver *s, pz_within *w, const double *q)
{
    double cost = pz_try(s, q, POISE_LEVEL_HESSIAN);
    poise_outcome ignored;
    bool goes_on = pz_solver_arrive(s, cost, &ignored);
    pz_rows_evaluate(&w->constraints, &s->at->kin, &w->at);
    return goes_on;
}

// Remember the end of a run as the base of restarts, if it is the best.
static void keep_base(poise_solver *s, pz_within *w)
{
    double unit = w->constraints.unit, merit = s->at->cost / (unit * unit) + w->at.broken;
    if (merit < w->base_merit) {
        w->base_merit = merit;
        copy(w->q_base, s->at->kin.q, s->model->nq);
    }
}

// Meet goals at several tips by their search (solve/tips.h) from q_try, with other draws in each run, into w->q_start.
// False: it does not serve them, or finds no way to.
static bool search_tips(poise_solver *s, pz_within *w, int run)
{
    if (w->misses_goals || !pz_tips_serves(s)) {
        return false;
    }
    if (run == 0) {
        s->report.start_cost = pz_try(s, s->q_try, POISE_LEVEL_COST);
    }
    poise_report before = s->report;
    uint64_t seed = s->options.seed;
    copy(w->q_trial, s->q_start, s->model->nq);
    copy(s->q_start, s->q_try, s->model->nq);
    s->options.seed += (uint64_t)run;
    bool met = pz_tips_solve(s) && s->report.outcome == POISE_OUTCOME_REACHED;
    s->options.seed = seed;
    before.iterations = s->report.iterations, before.evaluations = s->report.evaluations;
    s->report = before;
    s->is_measured = false;
    w->misses_goals = !met;
    copy(s->q_start, w->q_trial, s->model->nq);
    copy(w->q_start, s->q_best, s->model->nq);
    return met;
}

// Meet the goals alone, from q_try, into w->q_start; returns the iterations that are left for the constraints.
static int meet_goals(poise_solver *s, pz_within *w, int run, bool *met)
{
    int most = s->options.max_iterations;
    *met = search_tips(s, w, run);
    if (*met) {
        return most;
    }
    *met = pz_solver_run_from(s, s->q_try) == POISE_OUTCOME_REACHED;
    copy(w->q_start, s->at->kin.q, s->model->nq);
    return *met ? most : s->iterations_left > most / 2 ? s->iterations_left : most / 2;
}

// The goals alone are met, and what is broken most there keeps them from it; the first such place counts.
static void note_in_way(const poise_solver *s, pz_within *w, const pz_rows *rows)
{
    double least = 0.0;
    for (int i = 0; i < rows->count && w->in_way == POISE_NONE; ++i) {
        const pz_row *row = &rows->row[i];
        double room = row->is_equality ? -fabs(row->room) : row->room;
        least = !pz_row_holds(row, s->options.constraints.closure_tolerance) ? min2(least, room) : least;
    }
    for (int i = 0; i < rows->count && w->in_way == POISE_NONE && least < 0; ++i) {
        const pz_row *row = &rows->row[i];
        if ((row->is_equality ? -fabs(row->room) : row->room) == least) {
            w->in_way = row->constraint;
            w->in_way_item = row->item;
        }
    }
}

// From q_try to where start number `run` ends.
static poise_outcome run_from(poise_solver *s, pz_within *w, int run, bool goals_first)
{
    bool is_last = run == s->options.restarts;
    int iterations = s->options.max_iterations;
    bool met = false;
    if (goals_first) {
        iterations = meet_goals(s, w, run, &met);
    } else {
        copy(w->q_start, s->q_try, s->model->nq);
    }
    if (!arrive(s, w, w->q_start)) {
        pz_within_note(s, w);
        return POISE_OUTCOME_BUDGET;
    }
    s->iterations_left = iterations;
    pz_within_note(s, w);
    if (met) {
        note_in_way(s, w, &w->at);
    }
    if (is_last && s->options.restarts == 0 && !pz_within_holds(s, &w->at)) {
        pz_within_mend(s, w, OUT_OF_BOUNDS);
    }
    poise_outcome outcome = pz_within_run(s, w, !is_last);
    keep_base(s, w);
    if (!pz_within_holds(s, &w->at)) {
        pz_within_mend(s, w, LAST_STEPS);
    }
    return outcome;
}

// A start that holds is never exchanged for something worse. Where the goals came first it has not been checked yet.
static void fall_back_on_start(poise_solver *s, pz_within *w)
{
    double before = w->held_cost;
    if (w->has_held && w->held_reaches) {
        return;
    }
    pz_try(s, s->q_start, POISE_LEVEL_HESSIAN);
    pz_accept(s);
    pz_rows_evaluate(&w->constraints, &s->at->kin, &w->at);
    if (pz_within_holds(s, &w->at)) {
        pz_within_note(s, w);
    }
    if (w->held_cost != before) {
        s->report.outcome = w->held_reaches ? POISE_OUTCOME_REACHED : POISE_OUTCOME_STALLED;
        s->report.why = w->held_reaches ? POISE_WHY_REACHED : POISE_WHY_STALLED;
    }
}

static void run_all(poise_solver *s, pz_within *w)
{
    bool is_warm = s->options.start == POISE_START_WARM, loops = has_loops(&w->constraints);
    poise_outcome best = POISE_OUTCOME_BUDGET;
    poise_why why = POISE_WHY_BUDGET;
    for (int run = 0; run <= s->options.restarts; ++run) {
        double before = w->held_cost;
        if (run == 0) {
            pz_solve_start(s, 0);
            s->report.start_cost = NAN;
        } else {
            restart(s, w, run);
            s->report.restarts += 1;
        }
        poise_outcome outcome = run_from(s, w, run, !loops && !(run == 0 && is_warm));
        if (run == 0 || w->held_cost != before) {
            best = outcome;
            why = s->report.why;
        }
        if (w->has_held && w->held_reaches) {
            best = POISE_OUTCOME_REACHED;
            why = POISE_WHY_REACHED;
            break;
        }
    }
    s->report.outcome = best == POISE_OUTCOME_REACHED && !w->held_reaches ? POISE_OUTCOME_STALLED : best;
    s->report.why = why;
}

// ---- Arms ----------------------------------------------------------------------------------------------------------------

static bool arm_answer_holds(poise_solver *s, const double *q)
{
    pz_within *w = s->within;
    pz_kin_sweep(&s->trial->kin, q);
    bool holds = pz_constraints_hold(&w->constraints, &s->trial->kin, s->options.constraints.closure_tolerance);
    if (!holds && w->in_way == POISE_NONE) {
        pz_rows_evaluate(&w->constraints, &s->trial->kin, &w->trial);
        note_in_way(s, w, &w->trial);
    }
    return holds;
}

// The rows of the answer, where `kin` is, and how near its shapes come to each other.
static void survey(pz_within *w, const poise_kinematics *kin)
{
    w->clearance = pz_rows_survey(&w->constraints, kin, &w->at);
}

// The search for arms, with answers that collide refused. True: it found one that holds.
static bool search_arm(poise_solver *s, pz_within *w)
{
    if (s->options.start == POISE_START_WARM || has_loops(&w->constraints)) {
        return false;
    }
    s->accepts = arm_answer_holds;
    bool solved = pz_arm_solve(s);
    s->accepts = NULL;
    if (solved && s->report.outcome == POISE_OUTCOME_REACHED) {
        pz_kin_sweep(&s->trial->kin, s->q_best);
        survey(w, &s->trial->kin);
        if (pz_within_holds(s, &w->at)) {
            w->has_held = w->held_reaches = w->is_surveyed = true;
            return true;
        }
    }
    if (solved) { // continue below with what it found
        s->is_measured = false;
        s->report.restarts = 0;
    }
    return false;
}

// ---- The call ------------------------------------------------------------------------------------------------------------

// What the report says about constraints at the answer.
static void describe(poise_solver *s, pz_within *w)
{
    poise_report *r = &s->report;
    double least = ACTIVE;
    if (!w->is_surveyed) {
        survey(w, &s->at->kin); // pz_solve_end has been there
    }
    r->holds = pz_within_holds(s, &w->at);
    for (int i = 0; i < w->at.count; ++i) {
        const pz_row *row = &w->at.row[i];
        double room = row->is_equality ? -fabs(row->room) : row->room;
        r->closure = row->is_equality ? max2(r->closure, pz_finite(pz_row_error(row))) : r->closure;
        r->active_constraints += !row->is_equality && room < ACTIVE;
        bool counts = !row->is_equality || !pz_row_holds(row, s->options.constraints.closure_tolerance);
        if (counts && room < least) {
            least = room;
            r->blocking = row->constraint;
            r->blocking_item = row->item;
        }
    }
    if (r->blocking == POISE_NONE && r->outcome != POISE_OUTCOME_REACHED) {
        r->blocking = w->in_way;
        r->blocking_item = w->in_way == POISE_NONE ? 0 : w->in_way_item;
    }
    r->clearance = min2(r->clearance, w->clearance);
    if (!r->holds) {
        r->outcome = POISE_OUTCOME_INFEASIBLE;
        r->why = POISE_WHY_INFEASIBLE;
    } else if (r->outcome == POISE_OUTCOME_CLOSEST && r->active_constraints > 0 && r->why != POISE_WHY_HELD) {
        r->why = r->why == POISE_WHY_PULLED ? POISE_WHY_CONSTRAINED_PULLED : POISE_WHY_CONSTRAINED;
    }
}

// The answer that was found, with its loops closed to rounding.
static void close_fully(poise_solver *s, pz_within *w)
{
    if (memcmp(s->at->kin.q, s->q_best, (size_t)s->model->nq * sizeof *s->q_best) != 0) { // the last run was not the best
        pz_try(s, s->q_best, POISE_LEVEL_HESSIAN);
        pz_accept(s);
        pz_rows_evaluate(&w->constraints, &s->at->kin, &w->at);
    }
    if (pz_within_close_fully(s, w)) {
        copy(s->q_best, s->at->kin.q, s->model->nq);
    }
}

static void solve(poise_solver *s, pz_within *w)
{
    w->has_held = w->held_reaches = w->held_is_tight = w->is_surveyed = w->misses_goals = false;
    memset(w->is_noise, 0, (size_t)w->constraints.row_capacity * sizeof *w->is_noise);
    w->in_way = POISE_NONE;
    w->held_cost = w->least_worst = w->base_merit = INFINITY;
    if (search_arm(s, w)) {
        return;
    }
    run_all(s, w);
    fall_back_on_start(s, w);
    copy(s->q_best, w->has_held ? w->q_held : w->q_least, s->model->nq);
    if (w->has_held && has_loops(&w->constraints)) {
        close_fully(s, w);
    }
}

static poise_status refuse(const poise_solver *s, const poise_constraint *constraints, int count, poise_error *error)
{
    if (s->options.method != POISE_METHOD_AUTO) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "only AUTO supports constraints, not %s",
                            poise_method_name(s->options.method));
    }
    if (!s->within) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "the solver has no memory for constraints: set options.constraints (poise_constraints_size)");
    }
    return pz_constraints_check(&s->within->constraints, s->model, constraints, count, error);
}

poise_status poise_solve_within(poise_solver *solver, const poise_goal *goals, int count,
                                const poise_constraint *constraints, int constraint_count, double *q, poise_report *report,
                                poise_error *error)
{
    if (constraint_count == 0 || !solver) {
        return poise_solve(solver, goals, count, q, report, error);
    }
    poise_solver *s = solver;
    poise_status status = refuse(s, constraints, constraint_count, error);
    if (status != POISE_OK) {
        return status;
    }
    status = pz_solve_begin(s, goals, count, q, error);
    if (status != POISE_OK) {
        return status;
    }
    s->may_keep_start = false;
    s->within->constraints.constraint = constraints;
    s->within->constraints.count = constraint_count;
    solve(s, s->within);
    pz_solve_end(s, q, NULL);
    describe(s, s->within);
    pz_report_hand_out(s, report);
    return POISE_OK;
}

double poise_solver_constraint_room(poise_solver *solver, int constraint, int *item)
{
    pz_within *w = solver ? solver->within : NULL;
    if (!w || constraint < 0 || constraint >= w->constraints.count) {
        return 0.0;
    }
    pz_kin_sweep(&solver->trial->kin, solver->q_best);
    return pz_finite(pz_constraint_room(&w->constraints, &solver->trial->kin, constraint, item));
}
