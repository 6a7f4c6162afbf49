// Damped Newton steps on the tree with an active set of limits.
//
//   (H + lambda D) x = -g over the free dofs
//
// D = diag(J^T J) plus its mean: Marquardt's scaling with a floor, without which dofs with short levers take huge steps
// into other basins (D. Marquardt, "An algorithm for least-squares estimation of nonlinear parameters", 1963). Limits by
// an active set: dofs at a bound that descent would leave are held; dofs that the step takes across a bound are held at
// it and the step is solved again. Swings at the edge of their ellipse are held to it by a spring (edges.c).
#include "solve/tree/damped_step.h"

#include <string.h>

#define LAMBDA_WARM   1e-4
#define LAMBDA_COLD   10.0  // steps of a tenth: full ones lead into other basins
#define LAMBDA_LEAST  1e-15 // keeps the floor of D at work where H is singular
#define LAMBDA_MOST   1e12  // steps this short change nothing
#define ESCAPE_LAMBDA 1e-2  // of D: curvature below this is that of dofs that no marker sees
#define ESCAPE_SHARE  0.99  // of the cost: the most that an escape may leave
#define ESCAPE_HALVES 4
#define SPRING        1e8 // across the active edge of a swing, beside the largest of D: a wall, and H keeps half its digits

void pz_damped_lay_out(pz_damped *d, const poise_solver *solver, pz_arena *arena)
{
    size_t n = (size_t)solver->model->nv;
    d->D = pz_arena_take(arena, n, sizeof *d->D);
    d->hold = pz_arena_take(arena, n, sizeof *d->hold);
    d->hold_value = pz_arena_take(arena, n, sizeof *d->hold_value);
    d->product = pz_arena_take(arena, n, sizeof *d->product);
    d->q_trial = pz_arena_take(arena, (size_t)solver->model->nq, sizeof *d->q_trial);
    d->tree = pz_tree_step_lay_out(solver, arena);
}

void pz_damped_begin(pz_damped *d, const poise_solver *solver)
{
    const poise_solver_options *options = &solver->options;
    double lambda = options->start == POISE_START_COLD ? LAMBDA_COLD : LAMBDA_WARM;
    d->lambda = options->damping > 0 ? options->damping : lambda;
    d->growth = 2.0;
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
    if (first || d->lambda > PZ_LAMBDA_METRIC) {
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

static void hold_at_bounds(const poise_solver *solver, pz_damped *d)
{
    for (int i = 0; i < solver->model->nv; ++i) {
        d->hold[i] = pz_is_held(solver, i);
        d->hold_value[i] = 0.0;
    }
}

void pz_damped_open(const poise_solver *solver, pz_damped *d, bool exact)
{
    hold_at_bounds(solver, d);
    d->exact = exact;
    d->is_newton = true;
    d->passes = 0;
}

bool pz_damped_solve(const poise_solver *solver, pz_damped *d)
{
    poise_hessian kind = d->exact ? POISE_HESSIAN_EXACT : POISE_HESSIAN_GAUSS_NEWTON;
    return pz_tree_solve(d->tree, solver->at, kind, d->lambda, d->D, d->hold, d->hold_value, solver->step);
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

pz_step_state pz_damped_take(poise_solver *solver, pz_damped *d, bool solved)
{
    if (!solved && d->exact) {
        d->exact = false;
        return PZ_STEP_AGAIN;
    }
    if (!solved) {
        memset(solver->step, 0, (size_t)solver->model->nv * sizeof *solver->step);
        d->is_flat = false;
        return PZ_STEP_FAILED;
    }
    d->passes += 1;
    if (hold_leavers(solver, d) > 0) {
        d->is_newton = false;
        if (d->passes < PZ_PASSES) {
            return PZ_STEP_AGAIN;
        }
    }
    shorten(solver, d);
    return PZ_STEP_READY;
}

bool pz_damped_step(poise_solver *solver, pz_damped *d)
{
    pz_step_state state = PZ_STEP_AGAIN;
    pz_damped_open(solver, d, false);
    while (state == PZ_STEP_AGAIN) {
        state = pz_damped_take(solver, d, pz_damped_solve(solver, d));
    }
    return state == PZ_STEP_READY;
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
            decrease += d->hold[i] ? 0.0 : 0.5 * x[i] * (d->lambda * d->D[i] * x[i] - g[i]);
        }
        return decrease;
    }
    poise_objective_multiply(solver->at, d->exact ? POISE_HESSIAN_EXACT : POISE_HESSIAN_GAUSS_NEWTON, x, d->product);
    for (int i = 0; i < solver->model->nv; ++i) {
        decrease -= x[i] * (g[i] + 0.5 * d->product[i]);
    }
    return decrease;
}

void pz_damped_propose(poise_solver *solver, pz_damped *d)
{
    pz_step_within(solver, solver->at->kin.q, solver->step, d->q_trial);
    d->predicted = predicted_decrease(solver, d);
}

bool pz_damped_judge(poise_solver *solver, pz_damped *d, double after, double *gain)
{
    double before = solver->at->cost;
    *gain = d->predicted > 0 ? (before - after) / d->predicted : -1.0;
    d->is_flat = fabs(d->predicted) <= PZ_FLAT * before; // a step that was held or clipped may promise a rise
    if (!(after < before)) {
        return false;
    }
    pz_accept(solver);
    return true;
}

bool pz_damped_try(poise_solver *solver, pz_damped *d, double *gain)
{
    pz_damped_propose(solver, d);
    return pz_damped_judge(solver, d, pz_try(solver, d->q_trial, POISE_LEVEL_HESSIAN), gain);
}

// ---- Saddles -------------------------------------------------------------------------------------------------------------

// Gauss-Newton and damped Newton steps stop at saddles: a bone that is half a turn off about its own length, say. There H
// has a direction of negative curvature. It is followed as far as would move the markers by their own residual,
// x . D x = 2 f, then by halves, downhill first.
bool pz_damped_curve(const poise_solver *solver, pz_damped *d)
{
    hold_at_bounds(solver, d);
    return pz_tree_curvature(d->tree, solver->at, ESCAPE_LAMBDA, d->D, d->hold, d->hold_value, solver->step);
}

bool pz_damped_leave(poise_solver *solver, pz_damped *d)
{
    int n = solver->model->nv;
    double *x = solver->step, length = 0.0, slope = 0.0;
    for (int i = 0; i < n; ++i) {
        length += x[i] * d->D[i] * x[i];
        slope += x[i] * solver->at->gradient[i];
    }
    double factor = (slope > 0 ? -1.0 : 1.0) * sqrt(2.0 * solver->at->cost / length);
    if (!is_finite(factor)) {
        return false;
    }
    for (int i = 0; i < n; ++i) {
        x[i] *= factor;
    }
    d->attempts = 0;
    pz_step_within(solver, solver->at->kin.q, x, d->q_trial);
    return true;
}

bool pz_damped_is_away(const poise_solver *solver, double after)
{
    return after < ESCAPE_SHARE * solver->at->cost;
}

bool pz_damped_turn(poise_solver *solver, pz_damped *d)
{
    double turn = d->attempts % 2 == 0 ? -1.0 : -0.5; // the other way, then half as far
    for (int i = 0; i < solver->model->nv; ++i) {
        solver->step[i] *= turn;
    }
    d->attempts += 1;
    if (d->attempts == 2 * ESCAPE_HALVES) {
        return false;
    }
    pz_step_within(solver, solver->at->kin.q, solver->step, d->q_trial);
    return true;
}

// lambda follows the gain ratio rho (H. B. Nielsen, "Damping parameter in Marquardt's method", 1999; Madsen, Nielsen &
// Tingleff, "Methods for non-linear least squares problems", 2004, eq. 2.21):
//
//   accepted   lambda <- lambda max(1/10, 1 - (2 rho - 1)^3),  nu <- 2          (the paper has 1/3)
//   rejected   lambda <- nu lambda,  nu <- 2 nu
bool pz_damped_adapt(pz_damped *d, bool accepted, double gain)
{
    if (accepted) {
        double shrink = 2.0 * gain - 1.0;
        d->lambda = max2(d->lambda * max2(0.1, 1.0 - shrink * shrink * shrink), LAMBDA_LEAST);
        d->growth = 2.0;
        return true;
    }
    d->lambda *= d->growth;
    d->growth *= 2.0;
    return !(d->lambda > LAMBDA_MOST);
}
