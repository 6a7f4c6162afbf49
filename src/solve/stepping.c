// What methods share: evaluating, stepping within limits, stopping, counting.
#include "solve/auto_policy.h"
#include "solve/step_kernel.h"

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

// Below 0 by rounding it is; below 0 by energies of the caller it says nothing.
bool pz_cost_is_met(const poise_solver *solver)
{
    double cost = solver->at->cost;
    return cost <= solver->options.cost_tolerance && (cost >= 0 || !solver->has_callbacks);
}

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
    if (o->cost < 0) {
        return false; // there is no scale to measure by
    }
    double inverse = 1.0 / (tolerance * sqrt(2.0 * o->cost));
    for (int i = 0; i < solver->model->nv; ++i) {
        double g = solver->gradient[i] * inverse;
        if (g * g > solver->diagonal[i] + least) {
            return false;
        }
    }
    return true;
}

// Does rounding alone change the cost by more than a share of it? It moves coordinate i by eps |q_i| and a body by eps |p|,
// residuals by at most sqrt(G_ii) and sqrt(max G) times that, and the cost f by sqrt(2 f) times as much. Asked only where a
// number of q is large: rounding at the scale of a body hides nothing.
#define ROUNDING_SHARE 1e-9

static bool is_noise(const poise_solver *solver)
{
    const poise_kinematics *kin = &solver->at->kin;
    if (pz_largest(kin->q, solver->model->nq) <= PZ_LARGE) {
        return false;
    }
    double place = 0.0;
    for (int k = 0; k < solver->model->joint_count; ++k) {
        place = max2(place, v3_norm(v3_add(kin->origin, kin->p[k])));
    }
    double most = place * sqrt(pz_largest(solver->diagonal, solver->model->nv));
    for (int i = 0; i < solver->model->nv; ++i) {
        int q = solver->box[i].q;
        most = max2(most, q < 0 ? 0.0 : fabs(kin->q[q]) * sqrt(solver->diagonal[i]));
    }
    return PZ_EPSILON * most * sqrt(2.0) > ROUNDING_SHARE * sqrt(solver->at->cost);
}

// The diagonal of a point before is good enough to continue, but not to stop.
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

// Of the diagonal, but for dofs that are held, which tell nothing of the others.
static double largest_free(const poise_solver *solver)
{
    double largest = 0.0;
    for (int i = 0; i < solver->model->nv; ++i) {
        bool is_held = solver->has_bounds && pz_is_held(solver, i);
        largest = is_held ? largest : max2(largest, solver->diagonal[i]);
    }
    return largest;
}

poise_outcome pz_stuck_outcome(poise_solver *solver, bool is_flat)
{
    pz_refresh_diagonal(solver);
    double gradient = pz_project_gradient(solver), size = pz_largest(solver->at->kin.q, solver->model->nq);
    bool is_resolved = pz_is_resolved(gradient, size, solver->at->cost);
    double least = is_flat ? FLAT_LEAST * largest_free(solver) : 0.0;
    bool is_proved =
        is_resolved && !is_noise(solver) && is_stationary(solver, is_flat ? FLAT_TOLERANCE : STUCK_TOLERANCE, least);
    solver->report.why = is_proved ? pz_why_closest(solver->goals, solver->goal_count) : POISE_WHY_STALLED;
    return is_proved ? POISE_OUTCOME_CLOSEST : POISE_OUTCOME_STALLED;
}

bool pz_is_done(poise_solver *solver, poise_outcome *outcome)
{
    solver->report.gradient = pz_project_gradient(solver);
    if (pz_cost_is_met(solver) || goals_are_met(solver)) {
        *outcome = POISE_OUTCOME_REACHED;
        solver->report.why = POISE_WHY_REACHED;
        return true;
    }
    if (is_closest(solver)) {
        bool is_proved = !is_noise(solver);
        *outcome = is_proved ? POISE_OUTCOME_CLOSEST : POISE_OUTCOME_STALLED;
        solver->report.why = is_proved ? pz_why_closest(solver->goals, solver->goal_count) : POISE_WHY_STALLED;
        return true;
    }
    return false;
}

bool pz_is_done_afresh(poise_solver *solver, poise_outcome *outcome)
{
    pz_refresh_diagonal(solver);
    return pz_is_done(solver, outcome);
}

// ---- Counting ------------------------------------------------------------------------------------------------------------

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
