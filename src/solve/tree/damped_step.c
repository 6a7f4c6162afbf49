// Damped Newton steps on the tree with an active set of limits.
//
//   (H + lambda D) x = -g over the free dofs
//
// D = diag(J^T J) plus its mean: Marquardt's scaling with a floor, without which dofs with short levers take huge steps
// into other basins (D. Marquardt, "An algorithm for least-squares estimation of nonlinear parameters", 1963). Limits by
// an active set: dofs at a bound that descent would leave are held; dofs that the step takes across a bound are held at
// it and the step is solved again. Swings at the edge of their ellipse are held to it by a spring (swing_limits.c).
#include "solve/tree/damped_step.h"

#include <string.h>

#define SPRING 1e8 // across the active edge of a swing, beside the largest of D: a wall, and H keeps half its digits

pz_damped *pz_damped_lay_out(const poise_solver *solver, pz_arena *arena)
{
    size_t n = (size_t)solver->model->nv;
    pz_damped blank = {0}, *made = pz_arena_take(arena, 1, sizeof *made), *d = made ? made : &blank;
    d->D = pz_arena_take(arena, n, sizeof *d->D);
    d->hold = pz_arena_take(arena, n, sizeof *d->hold);
    d->hold_value = pz_arena_take(arena, n, sizeof *d->hold_value);
    d->product = pz_arena_take(arena, n, sizeof *d->product);
    d->q_trial = pz_arena_take(arena, (size_t)solver->model->nq, sizeof *d->q_trial);
    d->tree = pz_tree_step_lay_out(solver, arena);
    return made;
}

// D_i = G_ii + mean over the turning dofs (a slide has its own unit: its own G_ii, or 1 where that is 0).
void pz_make_metric(poise_solver *solver, double *D)
{
    const poise_model *model = solver->model;
    pz_refresh_diagonal(solver);
    double sum = 0.0;
    int turns = 0;
    for (int i = 0; i < model->nv; ++i) {
        if (!pz_axis_slides(model, model->dof_axis[i])) {
            sum += solver->diagonal[i];
            turns += 1;
        }
    }
    double mean = turns > 0 ? sum / turns : 0.0;
    mean = mean > 0 ? mean : 1.0;
    for (int i = 0; i < model->nv; ++i) {
        double own = solver->diagonal[i];
        D[i] = own + (!pz_axis_slides(model, model->dof_axis[i]) ? mean : own > 0 ? PZ_EPSILON * own : 1.0);
    }
}

void pz_damped_refresh(pz_damped *d, poise_solver *solver, bool first)
{
    if (first || pz_needs_metric(d->damping)) {
        pz_make_metric(solver, d->D);
    }
    d->has_edges = solver->has_swings && pz_stiffen_edges(solver, SPRING * pz_largest(d->D, solver->model->nv)) > 0;
}

// ---- Step ----------------------------------------------------------------------------------------------------------------

// Hold dofs that the step takes out of their interval, at the bound. Returns how many are new.
static int hold_leavers(poise_solver *solver, pz_damped *d)
{
    int count = 0;
    for (int i = 0; i < solver->model->nv; ++i) {
        const pz_box *box = &solver->box[i];
        if (box->q < 0 || d->hold[i]) {
            continue;
        }
        double q = solver->at->kin.q[box->q], next = q + solver->step[i];
        if (next < box->lower || next > box->upper) {
            d->hold[i] = true;
            d->hold_value[i] = (next < box->lower ? box->lower : box->upper) - q;
            count += 1;
        }
    }
    return count;
}

void pz_hold_at_bounds(const poise_solver *solver, pz_damped *d)
{
    for (int i = 0; i < solver->model->nv; ++i) {
        d->hold[i] = pz_is_held(solver, i);
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
        leaves = hold_leavers(solver, d) > 0;
        d->is_newton = d->is_newton && !leaves;
    }
    shorten(solver, d);
    return true;
}

// ---- Trial ---------------------------------------------------------------------------------------------------------------

// Decrease of the quadratic model along the step, -(g . x + x . H x/2). A step that solves (H + lambda D) x = -g has
// x . H x = -g . x - lambda x . D x; one that was held at a bound, or shortened, needs the product with H.
static double predicted_decrease(poise_solver *solver, pz_damped *d)
{
    const double *x = solver->step, *g = solver->at->gradient;
    double decrease = 0.0;
    if (d->is_newton) {
        for (int i = 0; i < solver->model->nv; ++i) {
            decrease += d->hold[i] ? 0.0 : 0.5 * x[i] * (d->damping.lambda * d->D[i] * x[i] - g[i]);
        }
        return decrease;
    }
    poise_objective_multiply(solver->at, d->exact ? POISE_HESSIAN_EXACT : POISE_HESSIAN_GAUSS_NEWTON, x, d->product, NULL);
    for (int i = 0; i < solver->model->nv; ++i) {
        decrease -= x[i] * (g[i] + 0.5 * d->product[i]);
    }
    return decrease;
}

void pz_damped_step(poise_solver *solver, pz_damped *d, bool exact, pz_trial *trial)
{
    bool found = find_step(solver, d, exact);
    *trial = (pz_trial){
        .before = solver->at->cost, .after = INFINITY, .predicted = INFINITY, .wants_exact = exact, .exact = d->exact};
    if (!found) {
        return;
    }
    pz_step_within(solver, solver->at->kin.q, solver->step, d->q_trial);
    trial->predicted = predicted_decrease(solver, d);
    trial->after = pz_try(solver, d->q_trial, POISE_LEVEL_HESSIAN);
    if (pz_is_accepted(trial)) {
        pz_accept(solver);
    }
}
