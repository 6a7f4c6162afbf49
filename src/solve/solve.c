// poise_solve, from the call to the answer.
//
//   problem    goals and start are checked and taken: markers condensed, the start moved inside the limits
//   search     by the first engine that serves the goals: an arm (arm.c), several tips (tips.c), or the method from one start
//              after the other (restarts.c); the method is a row of functions (solver.c), AUTO is in auto.c
//   certify    is what is called the closest that, as far as can be seen (certify.c)?
//   answer     the configuration within its limits, and the report, which is filled here
//
// The entries are at the end. poise_solve_within has a frame of its own around this one (constrained.c); a batch does the
// same for many problems at once (batch/).
#include "base/error.h"
#include "model/model.h"
#include "solve/arm.h"
#include "solve/solver.h"
#include "solve/tips.h"

#include <float.h>
#include <string.h>

static void copy(double *to, const double *from, int count)
{
    memcpy(to, from, (size_t)count * sizeof *to);
}

// ---- Problem -------------------------------------------------------------------------------------------------------------

void pz_set_problem(poise_solver *s, const pz_problem *problem)
{
    poise_objective *both[] = {s->at, s->trial};
    for (int i = 0; i < 2; ++i) {
        bool are_known = both[i]->goals == problem->goals && both[i]->goal_count == problem->goal_count;
        both[i]->level = are_known ? both[i]->level : POISE_LEVEL_COST;
        both[i]->goals = problem->goals;
        both[i]->goal_count = problem->goal_count;
    }
    s->problem = problem;
}

void pz_solve_continue(poise_solver *s, pz_call *call)
{
    s->answer = &call->answer;
    pz_set_problem(s, &call->problem);
}

// Refuse goals that are not sound, and hand them to both objectives.
static poise_status begin_goals(poise_solver *s, pz_problem *problem, const poise_goal *goals, int count)
{
    poise_status status = poise_objective_set_goals(s->at, goals, count, s->error);
    if (status != POISE_OK) {
        return status;
    }
    pz_objective_share_goals(s->at, s->trial);
    double prior = s->options.prior;
    if (prior > 0) {
        s->prior = poise_goal_posture(problem->q_start, prior);
    }
    s->at->prior = s->trial->prior = prior > 0 ? &s->prior : NULL;
    problem->goals = goals;
    problem->goal_count = count;
    problem->has_callbacks = false;
    for (int i = 0; i < count; ++i) {
        problem->has_callbacks = problem->has_callbacks || goals[i].kind == POISE_GOAL_CALLBACK;
    }
    return s->row->check ? s->row->check(s) : POISE_OK;
}

// Is the start within the limits, at a glance? Swings and quaternions need a closer look.
static bool is_inside(const poise_solver *s)
{
    const poise_model *model = s->model;
    bool inside = !s->has_swings && model->nq == model->nv;
    for (int i = 0; i < model->nq && inside; ++i) {
        inside = model->lower[i] <= s->problem->q_start[i] && s->problem->q_start[i] <= model->upper[i];
    }
    return inside;
}

// Check goals and start, and make them the solver's problem; the start stays where it is.
static poise_status begin_call(poise_solver *s, pz_call *call, const poise_goal *goals, int count, const double *q,
                               poise_error *error)
{
    s->error = error;
    s->problem = &call->problem;
    s->answer = &call->answer;
    call->answer =
        (pz_answer){.report = {.holds = true, .clearance = DBL_MAX, .blocking = POISE_NONE}, .may_keep_start = true};
    call->problem.seed = s->options.seed;
    call->problem.cost_tolerance = s->options.cost_tolerance;
    call->problem.accepts = NULL;
    if (!q || !pz_model_accepts(s->model, q)) {
        return pz_refuse_q(s->model, q, "q", error);
    }
    copy(call->problem.q_start, q, s->model->nq);
    return begin_goals(s, &call->problem, goals, count);
}

poise_status pz_solve_begin_call(poise_solver *s, pz_call *call, const poise_goal *goals, int count, const double *q,
                                 poise_error *error)
{
    poise_status status = begin_call(s, call, goals, count, q, error);
    if (status == POISE_OK && s->options.use_limits && !is_inside(s)) {
        poise_model_clamp(s->model, call->problem.q_start, &call->answer.report.moved_joints, NULL);
    }
    return status;
}

poise_status pz_solve_begin(poise_solver *s, const poise_goal *goals, int count, const double *q, poise_error *error)
{
    return pz_solve_begin_call(s, &s->own, goals, count, q, error);
}

poise_status pz_solve_begin_at(poise_solver *s, const poise_goal *goals, int count, const double *q, poise_error *error)
{
    return begin_call(s, &s->own, goals, count, q, error);
}

// ---- Search --------------------------------------------------------------------------------------------------------------

bool pz_solver_arrive(poise_solver *s, double cost, pz_end *end)
{
    double *start_cost = &s->answer->report.start_cost;
    bool is_first = *start_cost != *start_cost; // NAN until it is known
    s->iterations_left = s->options.max_iterations;
    pz_accept(s);
    if (!is_finite(cost)) {
        *start_cost = is_first ? INFINITY : *start_cost;
        *end = (pz_end){POISE_OUTCOME_STALLED, POISE_WHY_OVERFLOW};
        return false;
    }
    *start_cost = is_first ? s->at->cost : *start_cost;
    pz_refresh_diagonal(s);
    if (s->iterations_left == 0) {
        *end = (pz_end){POISE_OUTCOME_BUDGET, POISE_WHY_NO_ITERATIONS};
        pz_is_done(s, end);
        return false;
    }
    return true;
}

pz_end pz_solver_run_from(poise_solver *s, const double *q)
{
    pz_end end;
    double cost = pz_try(s, q, POISE_LEVEL_HESSIAN);
    return pz_solver_arrive(s, cost, &end) ? s->row->run(s) : end;
}

static bool search_arm(poise_solver *s)
{
    return pz_arm_solve(s, s->arm);
}

// Who searches: the first engine that serves the goals; the last serves all. One more is a row here and a file beside arm.c.
// False: it does not, and nothing was done.
static const struct engine {
    bool (*search)(poise_solver *solver);
    bool is_certified; // its answers need no other look, but where tolerances put kinks into the cost
} engines[] = {
    {search_arm, true},
    {pz_tips_solve, false},
    {pz_search_from_starts, false},
};

static const struct engine *search(poise_solver *s)
{
    const struct engine *engine = engines;
    while (!engine->search(s)) {
        engine += 1;
    }
    return engine;
}

// ---- Answer --------------------------------------------------------------------------------------------------------------

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

void pz_solve_measure_goals(poise_solver *s)
{
    poise_report *r = &s->answer->report;
    r->worst_length = r->worst_angle = 0.0;
    for (int i = 0; i < s->problem->goal_count; ++i) {
        if (pz_is_marker(&s->problem->goals[i])) {
            double error = pz_marker_error(&s->at->kin, &s->problem->goals[i]);
            r->worst_length = max2(r->worst_length, error == error ? error : INFINITY);
            continue;
        }
        poise_goal_error e = pz_counted_error(&s->problem->goals[i], poise_objective_goal_error(s->at, i));
        r->worst_length = e.unit == POISE_UNIT_LENGTH ? max2(r->worst_length, e.error) : r->worst_length;
        r->worst_angle = max2(r->worst_angle, e.unit == POISE_UNIT_ANGLE ? e.error : e.rotation_error);
    }
}

// Cost, gradient and errors at the answer, from an evaluation there.
static void measure_answer(poise_solver *s)
{
    poise_report *r = &s->answer->report;
    if (memcmp(s->at->kin.q, s->q_best, (size_t)s->model->nq * sizeof *s->q_best) != 0) { // the last run was not the best
        pz_objective_evaluate(s->at, s->q_best, POISE_LEVEL_HESSIAN);
    }
    r->cost = s->at->cost;
    r->gradient = pz_project_gradient(s);
    pz_solve_measure_goals(s);
}

// The step from start to answer. Without quaternions and rotation vectors every dof has its number.
static void find_way_from_start(poise_solver *s)
{
    if (s->model->block_count > 0) {
        pz_kin_difference(s->model, s->problem->q_start, s->q_best, s->step);
        return;
    }
    for (int i = 0; i < s->model->nv; ++i) {
        int q = s->box[i].q;
        s->step[i] = s->q_best[q] - s->problem->q_start[q];
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
    for (int i = 0; s->problem->has_callbacks && i < s->problem->goal_count; ++i) {
        if (s->problem->goals[i].kind == POISE_GOAL_CALLBACK && s->problem->goals[i].weight > 0 &&
            !is_finite(poise_objective_goal_error(s->at, i).error)) {
            return true;
        }
    }
    return false;
}

// A reason that says more, where the goals and errors tell it.
static void explain(poise_solver *s)
{
    const poise_report *r = &s->answer->report;
    pz_end *end = &s->answer->end;
    if (is_below_zero(s)) {
        end->outcome = end->outcome == POISE_OUTCOME_CLOSEST ? POISE_OUTCOME_STALLED : end->outcome;
        end->why = POISE_WHY_BELOW_ZERO;
    } else if (end->outcome == POISE_OUTCOME_CLOSEST && r->worst_length <= s->options.position_tolerance &&
               r->worst_angle <= s->options.rotation_tolerance && end->why == POISE_WHY_PULLED) {
        end->why = POISE_WHY_HELD;
    }
}

// An answer that costs more than its start, by rounding or below the tolerances, is given up for it, unless the start misses
// a goal that the answer meets. Methods that judge answers by more than the cost may raise it.
static void keep_start(poise_solver *s)
{
    poise_report *r = &s->answer->report;
    bool has_risen = r->cost > r->start_cost && s->answer->may_keep_start && !s->row->improves;
    if (!has_risen || pz_objective_evaluate(s->trial, s->problem->q_start, POISE_LEVEL_HESSIAN) != POISE_OK) {
        return;
    }
    if (s->trial->cost >= r->cost) { // the start's cost was summed in another order
        r->start_cost = s->trial->cost;
        return;
    }
    poise_report answer = *r;
    pz_end was = s->answer->end, end = pz_stalled;
    pz_accept(s); // the start is the current point now
    bool is_done = pz_is_done_afresh(s, &end);
    if (was.outcome == POISE_OUTCOME_REACHED && end.outcome != POISE_OUTCOME_REACHED) {
        pz_accept(s);
        *r = answer;
        return;
    }
    copy(s->q_best, s->problem->q_start, s->model->nq);
    s->answer->is_measured = false;
    r->cost = r->start_cost = s->at->cost;
    s->answer->end = is_done || was.outcome != POISE_OUTCOME_BUDGET ? end : was;
    pz_solve_measure_goals(s);
}

// What the report says about the answer.
static void describe_answer(poise_solver *s)
{
    poise_report *r = &s->answer->report;
    if (!s->answer->is_measured) {
        measure_answer(s);
    }
    keep_start(s);
    explain(s);
    r->active_limits += count_active_limits(s);
    find_way_from_start(s);
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
                     pz_try(s, s->q_best, POISE_LEVEL_COST) < s->answer->report.start_cost;
    if (!is_better) {
        copy(s->q_best, s->problem->q_start, s->model->nq);
    }
    s->answer->is_measured = false;
    s->answer->end = (pz_end){POISE_OUTCOME_STALLED, POISE_WHY_MOVED_INSIDE};
}

void pz_report_hand_out(const poise_solver *solver, poise_report *report)
{
    if (report) {
        *report = solver->answer->report;
        report->outcome = solver->answer->end.outcome;
        report->why = solver->answer->end.why;
        report->reason = poise_why_text(report->why);
    }
}

void pz_solve_end(poise_solver *s, double *q, poise_report *report)
{
    if (!s->answer->is_measured) { // else it comes from the path for arms, whose every move ends within the limits
        hold_limits(s);
    }
    describe_answer(s);
    copy(q, s->q_best, s->model->nq);
    pz_report_hand_out(s, report);
}

// ---- How a solve ended, in words -----------------------------------------------------------------------------------------

static const char *const whys[POISE_WHY_COUNT] = {
    [POISE_WHY_NONE] = "",
    [POISE_WHY_REACHED] = "every goal is met",
    [POISE_WHY_CLOSEST] = "no direction within the limits comes closer",
    [POISE_WHY_PULLED] = "soft goals pull as well, and no direction within the limits lowers the sum",
    [POISE_WHY_HELD] = "every goal is met but the soft ones, which come as near as they can",
    [POISE_WHY_CONSTRAINED] = "no direction within limits and constraints comes closer",
    [POISE_WHY_CONSTRAINED_PULLED] = ("soft goals pull as well, and no direction within limits and constraints lowers "
                                      "the sum"),
    [POISE_WHY_LEVELS] = "no level comes closer without disturbing one above",
    [POISE_WHY_STALLED] = "steps no longer change the cost",
    [POISE_WHY_LIMITS] = "in reach but for the limits of joints, and no way within them was found",
    [POISE_WHY_BESIDE] = "so near the goal that a way to it may have been missed",
    [POISE_WHY_REFUTED] = "no small step comes closer, but a longer one does",
    [POISE_WHY_REACHING] = "reaching no longer comes closer",
    [POISE_WHY_MOVED_INSIDE] = "the method left the limits; its answer was moved back inside",
    [POISE_WHY_OVERFLOW] = "the cost at the start is too large to represent",
    [POISE_WHY_BELOW_ZERO] = ("the energy of a CALLBACK goal is below 0, where nothing is met or closest: add a "
                              "constant to it"),
    [POISE_WHY_BUDGET] = "the iterations were used up",
    [POISE_WHY_NO_ITERATIONS] = "no iterations were allowed",
    [POISE_WHY_STEP] = "one step on the way",
    [POISE_WHY_INFEASIBLE] = "no configuration was found that holds every constraint",
};

const char *poise_why_text(poise_why why)
{
    return (unsigned)why < POISE_WHY_COUNT ? whys[why] : "";
}

// ---- Entries -------------------------------------------------------------------------------------------------------------

poise_status poise_solve(poise_solver *solver, const poise_goal *goals, int count, double *q, poise_report *report,
                         poise_error *error)
{
    if (!solver) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "solver must not be NULL");
    }
    poise_status status = pz_solve_begin(solver, goals, count, q, error);
    if (status != POISE_OK) {
        return status;
    }
    const struct engine *engine = search(solver);
    pz_solve_end(solver, q, NULL);
    if (!engine->is_certified || pz_has_tolerances(solver->problem->goals, solver->problem->goal_count)) {
        pz_certify(solver);
    }
    pz_report_hand_out(solver, report);
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
    s->answer->may_keep_start = false; // the rows are the answers
    if (!pz_arm_solve_all(s, solutions, capacity, count)) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED,
                            "finding all solutions needs the method auto and a pose goal on a chain of revolute and "
                            "prismatic joints; others "
                            "must be locked");
    }
    describe_answer(s);
    if (*count == 0) {
        copy(solutions, s->q_best, s->model->nq);
    }
    pz_report_hand_out(s, report);
    return POISE_OK;
}

const poise_kinematics *poise_solver_kinematics(poise_solver *solver)
{
    if (solver && solver->answer->is_measured) {
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
