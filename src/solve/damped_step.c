// Damped Newton steps on the tree with an active set of limits.
//
//   (H + lambda D) x = -g over the free dofs
//
// D = diag(J^T J) plus its mean: Marquardt's scaling with a floor, without which dofs with short levers take huge steps
// into other basins (D. Marquardt, "An algorithm for least-squares estimation of nonlinear parameters", 1963). Limits by
// an active set: dofs at a bound that descent would leave are held; dofs that the step takes across a bound are held at
// it and the step is solved again. Swings at the edge of their ellipse are held to it by a spring (step.c).
#include "solve/damped_step.h"

#include "solve/methods.h"
#include "solve/step_kernel.h"

#include <string.h>

#define SPRING 1e8 // across the active edge of a swing, beside the largest of D: a wall, and H keeps half its digits

pz_damped *pz_damped_lay_out(const poise_solver *solver, pz_arena *arena)
{
    size_t n = (size_t)solver->model->nv;
    pz_damped d = {0}, *made = pz_arena_take(arena, 1, sizeof *made);
    d.D = pz_arena_take(arena, n, sizeof *d.D);
    d.hold = pz_arena_take(arena, n, sizeof *d.hold);
    d.hold_value = pz_arena_take(arena, n, sizeof *d.hold_value);
    d.product = pz_arena_take(arena, n, sizeof *d.product);
    d.q_trial = pz_arena_take(arena, (size_t)solver->model->nq, sizeof *d.q_trial);
    d.slowest = pz_arena_take(arena, n, sizeof *d.slowest);
    d.fastest = pz_arena_take(arena, n, sizeof *d.fastest);
    d.way = pz_arena_take(arena, n, sizeof *d.way);
    d.way_left = pz_arena_take(arena, n, sizeof *d.way_left);
    d.q_after = pz_arena_take(arena, (size_t)solver->model->nq, sizeof *d.q_after);
    d.tree = pz_tree_step_lay_out(solver, arena);
    if (made) {
        *made = d;
    }
    return made;
}

void pz_make_metric(poise_solver *solver, double *D)
{
    pz_refresh_diagonal(solver);
    make_metric(solver->model, solver->diagonal, true, D);
}

void pz_damped_refresh(pz_damped *d, poise_solver *solver, bool first)
{
    if (first || pz_needs_metric(d->damping)) {
        pz_make_metric(solver, d->D);
    }
    d->has_edges = solver->has_swings && pz_stiffen_edges(solver, SPRING * pz_largest(d->D, solver->model->nv)) > 0;
}

// ---- Step ----------------------------------------------------------------------------------------------------------------

void pz_hold_at_bounds(const poise_solver *solver, pz_damped *d)
{
    for (int i = 0; i < solver->model->nv; ++i) {
        d->hold[i] = solver->has_bounds && pz_is_held(solver, i);
        d->hold_value[i] = 0.0;
    }
}

// Edges of swings, and the limit of the options.
static void shorten(const poise_solver *solver, pz_damped *d)
{
    if (d->has_edges) {
        pz_project_on_swings(solver, solver->step); // what the springs gave way, so that it promises nothing
    }
    if (solver->has_swings && pz_clip_to_swings(solver, solver->step) > 0) {
        d->is_newton = false;
    }
    double longest = pz_largest(solver->step, solver->model->nv);
    if (longest > solver->options.step_limit) {
        d->is_newton = false;
        for (int i = 0; i < solver->model->nv; ++i) {
            solver->step[i] *= solver->options.step_limit / longest;
        }
    }
}

static bool solve_system(const poise_solver *solver, pz_damped *d, poise_hessian kind)
{
    return pz_tree_solve(d->tree, solver->at, kind, d->damping.lambda, d->D, d->hold, d->hold_value, solver->step);
}

// solver->step of the damped system, by the active set. False, with a step of zeros: not even Gauss-Newton is positive
// definite.
static bool find_step(poise_solver *solver, pz_damped *d, bool exact)
{
    bool leaves = true;
    pz_hold_at_bounds(solver, d);
    d->exact = exact;
    d->is_newton = true;
    for (int pass = 0; leaves && pass < PZ_PASSES; ++pass) {
        d->exact = d->exact && solve_system(solver, d, POISE_HESSIAN_EXACT);
        if (!d->exact && !solve_system(solver, d, POISE_HESSIAN_GAUSS_NEWTON)) {
            memset(solver->step, 0, (size_t)solver->model->nv * sizeof *solver->step);
            return false;
        }
        leaves = solver->has_bounds &&
                 hold_leavers(solver->model, solver->box, solver->at->kin.q, solver->step, true, d->hold, d->hold_value);
        d->is_newton = d->is_newton && !leaves;
    }
    shorten(solver, d);
    return true;
}

// ---- Trial ---------------------------------------------------------------------------------------------------------------

static double predicted_decrease(poise_solver *solver, pz_damped *d)
{
    const double *x = solver->step, *g = solver->at->gradient;
    int nv = solver->model->nv;
    if (d->is_newton) {
        return decrease_by_equation(nv, x, g, d->damping.lambda, d->D, d->hold);
    }
    poise_objective_multiply(solver->at, d->exact ? POISE_HESSIAN_EXACT : POISE_HESSIAN_GAUSS_NEWTON, x, d->product, NULL);
    return decrease_by_product(nv, x, g, d->product);
}

void pz_damped_step(poise_solver *solver, pz_damped *d, bool exact, pz_trial *trial)
{
    d->has_step = find_step(solver, d, exact);
    *trial = (pz_trial){.before = solver->at->cost,
                        .after = INFINITY,
                        .predicted = INFINITY,
                        .lambda = d->damping.lambda,
                        .is_newton = d->is_newton,
                        .wants_exact = exact,
                        .exact = d->exact};
    if (d->has_step) {
        pz_step_within(solver, solver->at->kin.q, solver->step, d->q_trial);
        trial->predicted = predicted_decrease(solver, d);
    }
}

double pz_damped_evaluate(poise_solver *solver, const pz_damped *d)
{
    return d->has_step ? pz_try(solver, d->q_trial, POISE_LEVEL_HESSIAN) : INFINITY;
}

// Does the trial, whose cost is no lower, leave less than half the gradient? The cost of an answer is never above that of
// the start.
static bool settles(poise_solver *solver, const pz_trial *trial)
{
    if (!pz_may_settle(trial, solver->options.gradient_tolerance) || trial->after > solver->report.start_cost) {
        return false;
    }
    double before = pz_project_gradient(solver);
    pz_accept(solver);
    double after = pz_project_gradient(solver);
    pz_accept(solver); // back
    return after < 0.5 * before;
}

bool pz_damped_judge(poise_solver *solver, const pz_damped *d, double cost, pz_trial *trial)
{
    double length = pz_largest(solver->step, solver->model->nv);
    trial->after = cost;
    trial->settles = settles(solver, trial);
    bool accepted = pz_is_accepted(trial);
    if (accepted) {
        pz_accept(solver);
    }
    pz_count_iteration(solver, d->damping.lambda, length, accepted, trial->exact);
    return accepted;
}

// ---- LEVENBERG_MARQUARDT -------------------------------------------------------------------------------------------------
//
// Damped Gauss-Newton:
//
//   (J^T J + lambda D) x = -J^T r
//
// K. Levenberg, "A method for the solution of certain non-linear problems in least squares", 1944; D. Marquardt, "An
// algorithm for least-squares estimation of nonlinear parameters", 1963; for skeletons Erleben & Andrews, "Solving inverse
// kinematics using exact Hessian matrices", 2019, section 6, where the residual is r = goal - effector, hence J of the other
// sign. J^T J is the objective's Gauss-Newton Hessian, the system is solved by the tree step in O(N), and metric, active set
// and the control of lambda are those of AUTO.

void *pz_levenberg_marquardt_lay_out(poise_solver *solver, pz_arena *arena)
{
    return pz_damped_lay_out(solver, arena);
}

poise_outcome pz_levenberg_marquardt_run(poise_solver *solver)
{
    pz_damped *d = solver->method;
    poise_outcome outcome;
    bool accepted = true, first = true;
    d->damping = pz_damping_begin(&solver->options);
    for (;;) {
        if (accepted && pz_is_done(solver, &outcome)) {
            return outcome;
        }
        if (accepted) {
            pz_damped_refresh(d, solver, first);
            first = false;
        }
        pz_trial trial;
        pz_damped_step(solver, d, false, &trial);
        accepted = pz_damped_judge(solver, d, pz_damped_evaluate(solver, d), &trial);
        d->damping = pz_damping_after(d->damping, &trial);
        if (pz_is_stuck(&trial, d->damping)) {
            return pz_stuck_outcome(solver, pz_is_flat(&trial));
        }
        if (solver->iterations_left == 0) {
            return accepted && pz_is_done(solver, &outcome) ? outcome : POISE_OUTCOME_BUDGET;
        }
    }
}
