// What methods share: evaluating, stepping within limits, stopping, counting.
#include "solve/step_kernel.h"
#include "solve/tree/auto_policy.h"

#include <float.h>

double pz_largest(const double *x, int n)
{
    double largest = 0.0;
    for (int i = 0; i < n; ++i) {
        largest = max2(largest, fabs(x[i]));
    }
    return largest;
}

double pz_finite(double x)
{
    return is_finite(x) ? x : x < 0 ? -DBL_MAX : DBL_MAX;
}

double pz_try(poise_solver *solver, const double *q, poise_level level)
{
    solver->report.evaluations += 1;
    if (pz_objective_evaluate(solver->trial, q, level) != POISE_OK) {
        return INFINITY;
    }
    return solver->trial->cost;
}

void pz_accept(poise_solver *solver)
{
    poise_objective *was = solver->at;
    solver->at = solver->trial;
    solver->trial = was;
    solver->diagonal_is_fresh = false;
}

void pz_refresh_diagonal(poise_solver *solver)
{
    if (!solver->diagonal_is_fresh) {
        pz_objective_diagonal(solver->at, POISE_HESSIAN_GAUSS_NEWTON, solver->diagonal);
        solver->diagonal_is_fresh = true;
    }
}

// ---- Limits --------------------------------------------------------------------------------------------------------------

void pz_step_within(const poise_solver *solver, const double *q, const double *step, double *q_out)
{
    pz_kin_retract(solver->model, q, step, q_out);
    if (solver->has_bounds) {
        keep_in_boxes(solver->model, solver->box, q, step, q_out);
    }
    if (solver->has_swings) {
        pz_keep_in_swings(solver, q_out);
    }
}

bool pz_is_at_bound(const poise_solver *solver, int dof)
{
    const pz_box *box = &solver->box[dof];
    return box->q >= 0 && box_holds(box, solver->at->kin.q[box->q], solver->at->gradient[dof]);
}

bool pz_is_held(const poise_solver *solver, int dof)
{
    return solver->box[dof].locked ||
           (pz_is_at_bound(solver, dof) && !(solver->has_swings && pz_edge_leads_inwards(solver, dof)));
}

double pz_project_gradient(poise_solver *solver)
{
    for (int i = 0; i < solver->model->nv; ++i) {
        solver->gradient[i] = solver->has_bounds && pz_is_held(solver, i) ? 0.0 : solver->at->gradient[i];
    }
    pz_project_on_swings(solver, solver->gradient);
    return pz_largest(solver->gradient, solver->model->nv);
}

// ---- Stopping ------------------------------------------------------------------------------------------------------------

// A part of a goal without weight asks for nothing.
bool pz_goal_is_met(const poise_solver *solver, const poise_goal *goal)
{
    if (pz_is_marker(goal)) {
        return pz_marker_error(&solver->at->kin, goal) <= solver->options.position_tolerance;
    }
    poise_goal_error e = pz_counted_error(goal, pz_goal_row_of(goal->kind)->error(&solver->at->kin, goal));
    double tolerance = e.unit == POISE_UNIT_ANGLE ? solver->options.rotation_tolerance : solver->options.position_tolerance;
    return e.error <= tolerance && e.rotation_error <= solver->options.rotation_tolerance;
}

// Goals near their tolerance have a cost near w tol^2/2; only then is it worth asking each one.
static bool goals_are_met(const poise_solver *solver)
{
    for (int i = 0; i < solver->goal_count; ++i) {
        if (!pz_goal_is_met(solver, &solver->goals[i])) {
            return false;
        }
    }
    return true;
}

// |projected gradient_i| <= tolerance sqrt(2 f) sqrt(G_ii): by Cauchy-Schwarz the left side is at most sqrt(2 f)
// sqrt(G_ii), so the ratio is the cosine between the residuals and what dof i can do about them. The gradient is divided
// before it is squared: with weights of 1e160 its own square is beyond all numbers. `least` is added to the diagonal.
static bool is_stationary(const poise_solver *solver, double tolerance, double least)
{
    const poise_objective *o = solver->at;
    double inverse = 1.0 / (tolerance * sqrt(2.0 * o->cost));
    for (int i = 0; i < solver->model->nv; ++i) {
        double g = solver->gradient[i] * inverse;
        if (g * g > solver->diagonal[i] + least) {
            return false;
        }
    }
    return true;
}

// The diagonal of a point before will do to go on, but not to stop.
static bool is_closest(poise_solver *solver)
{
    double tolerance = solver->options.gradient_tolerance;
    if (!is_stationary(solver, tolerance, 0.0)) {
        return false;
    }
    pz_refresh_diagonal(solver);
    return is_stationary(solver, tolerance, 0.0);
}

// With this tolerance no dof can gain more than 100 PZ_FLAT of the cost, g_i^2/(2 G_ii) by Gauss-Newton.
#define STUCK_TOLERANCE (10.0 * sqrt(PZ_FLAT))

// A cost that no longer falls proves less: a scaling that the way left behind may hold steps back where a slope is. Dofs
// that move no goal have gradients of rounding.
#define FLAT_TOLERANCE 1e-2
#define FLAT_LEAST     1e-12 // of the largest of the diagonal, whose zeros are rounding as well

poise_outcome pz_stuck_outcome(poise_solver *solver, bool is_flat)
{
    pz_refresh_diagonal(solver);
    double gradient = pz_project_gradient(solver), size = pz_largest(solver->at->kin.q, solver->model->nq);
    bool is_resolved = pz_is_resolved(gradient, size, solver->at->cost);
    double least = is_flat ? FLAT_LEAST * pz_largest(solver->diagonal, solver->model->nv) : 0.0;
    bool is_proved = is_resolved && is_stationary(solver, is_flat ? FLAT_TOLERANCE : STUCK_TOLERANCE, least);
    solver->report.reason = is_proved ? PZ_WHY_CLOSEST : PZ_WHY_STALLED;
    return is_proved ? POISE_OUTCOME_CLOSEST : POISE_OUTCOME_STALLED;
}

bool pz_is_done(poise_solver *solver, poise_outcome *outcome)
{
    solver->report.gradient = pz_project_gradient(solver);
    if (solver->at->cost <= solver->options.cost_tolerance || goals_are_met(solver)) {
        *outcome = POISE_OUTCOME_REACHED;
        solver->report.reason = PZ_WHY_REACHED;
        return true;
    }
    if (is_closest(solver)) {
        *outcome = POISE_OUTCOME_CLOSEST;
        solver->report.reason = PZ_WHY_CLOSEST;
        return true;
    }
    return false;
}

bool pz_is_done_afresh(poise_solver *solver, poise_outcome *outcome)
{
    pz_refresh_diagonal(solver);
    return pz_is_done(solver, outcome);
}

bool pz_count_iteration(poise_solver *solver, double damping, double step, bool accepted, bool exact)
{
    poise_report *report = &solver->report;
    if (report->traced < solver->options.trace_capacity && solver->options.trace) {
        solver->options.trace[report->traced++] = (poise_trace){.cost = pz_finite(solver->at->cost),
                                                                .gradient = pz_finite(report->gradient),
                                                                .damping = pz_finite(damping),
                                                                .step = pz_finite(step),
                                                                .accepted = accepted,
                                                                .exact = exact};
    }
    report->iterations += 1;
    solver->iterations_left -= 1;
    return solver->iterations_left > 0;
}
