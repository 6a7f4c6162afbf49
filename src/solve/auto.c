// AUTO: exact Newton where the Hessian is positive definite, Gauss-Newton elsewhere, one damping for both; and
// LEVENBERG_MARQUARDT, which is its step without the exact Hessian.
//
// Each iteration of AUTO solves (H + lambda D) x = -g over the free dofs with the tree step, H exact if H + lambda D is
// positive definite, else Gauss-Newton with the same lambda, which always is. Here are, in this order, the step with its
// metric D and the active set of limits; the way out of a saddle; the loop: step, evaluate, judge. What is decided is in
// auto.h. A run ends with an outcome and why; a system that rounding keeps from being solved is a step that failed, after
// which the damping grows.
#include "solve/auto.h"

#include "solve/arm.h"
#include "solve/step_kernel.h"
#include "solve/tips.h"

#include <string.h>

// ---- The damped step -----------------------------------------------------------------------------------------------------
//
//   (H + lambda D) x = -g over the free dofs
//
// D = diag(J^T J) plus its mean: Marquardt's scaling with a floor, without which dofs with short levers take huge steps
// into other basins (D. Marquardt, "An algorithm for least-squares estimation of nonlinear parameters", 1963). Limits by
// an active set: dofs at a bound that descent would leave are held; dofs that the step takes across a bound are held at
// it and the step is solved again. Swings at the edge of their ellipse are held to it by a spring (step.c).

#define SPRING 1e8 // across the active edge of a swing, beside the largest of D: a wall, and H keeps half its digits

static void *damped_lay_out(poise_solver *solver, pz_arena *arena)
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

void pz_hold_at_bounds(const poise_solver *solver, pz_damped *d)
{
    for (int i = 0; i < solver->model->nv; ++i) {
        d->hold[i] = solver->has_bounds && pz_is_held(solver, i);
        d->hold_value[i] = 0.0;
    }
}

// Edges of swings, and the limit of the options.
static void damped_shorten(const poise_solver *solver, pz_damped *d)
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

static bool damped_solve(const poise_solver *solver, pz_damped *d, poise_hessian kind)
{
    return pz_tree_solve(d->tree, solver->at, kind, d->damping.lambda, d->D, d->hold, d->hold_value, solver->step);
}

// solver->step of the damped system, by the active set. False, with a step of zeros: not even Gauss-Newton is positive
// definite.
static bool damped_find_step(poise_solver *solver, pz_damped *d, bool exact)
{
    bool leaves = true;
    pz_hold_at_bounds(solver, d);
    d->exact = exact;
    d->is_newton = true;
    for (int pass = 0; leaves && pass < PZ_PASSES; ++pass) {
        d->exact = d->exact && damped_solve(solver, d, POISE_HESSIAN_EXACT);
        if (!d->exact && !damped_solve(solver, d, POISE_HESSIAN_GAUSS_NEWTON)) {
            memset(solver->step, 0, (size_t)solver->model->nv * sizeof *solver->step);
            return false;
        }
        leaves = solver->has_bounds &&
                 hold_leavers(solver->model, solver->box, solver->at->kin.q, solver->step, true, d->hold, d->hold_value);
        d->is_newton = d->is_newton && !leaves;
    }
    damped_shorten(solver, d);
    return true;
}

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
    d->has_step = damped_find_step(solver, d, exact);
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
    if (!pz_may_settle(trial, solver->options.gradient_tolerance) || trial->after > solver->answer->report.start_cost) {
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

// ---- The way out of a saddle ---------------------------------------------------------------------------------------------
//
// Gauss-Newton and damped Newton steps stop at saddles: a bone that is half a turn off about its own length, say. There H
// has a direction of negative curvature. It is followed as far as would move the markers by their own residual,
// x . D x = 2 f, and no further than step_limit, then by halves, downhill first.
//
// And the way off the tip of a cone: the energy of a DISTANCE goal whose point is on its target (goal/distance.c). Its
// gradient is that along one direction of many; where limits and locks leave none of the joints that follow it, another may
// lead down.

#define ESCAPE_LAMBDA 1e-2         // of D: curvature below this is that of dofs that no marker sees
#define ESCAPE_SHARE  0.99         // of the cost: the most that an escape on the way may leave
#define END_SHARE     (1.0 - 1e-9) // the same where the run would end
#define ESCAPE_HALVES 4
#define END_LAMBDA    1e-6 // the same where the run would end
#define ESCAPE_WIDE   1.0  // where the metric has none: the longest step, of a dof
#define END_HALVES    8
#define PUSHES        1e-9 // the cosine between residuals and what a dof can do about them, from which a bound holds it
#define CONE_STEP     1e-3 // of one dof

// Scale the direction x to the length of the first attempt. False: it has none.
static bool scale_direction(const poise_solver *solver, const pz_damped *d, double *x)
{
    int n = solver->model->nv;
    double length = 0.0, slope = 0.0;
    for (int i = 0; i < n; ++i) {
        length += x[i] * d->D[i] * x[i];
        slope += x[i] * solver->at->gradient[i];
    }
    double largest = pz_largest(x, n), most = solver->options.step_limit / largest;
    double wanted =
        length > 0 ? sqrt(2.0 * solver->at->cost / length) : ESCAPE_WIDE / largest; // no goal sees x at first order
    double factor = (slope > 0 ? -1.0 : 1.0) * min2(wanted, most);
    if (!is_finite(factor)) {
        return false;
    }
    for (int i = 0; i < n; ++i) {
        x[i] *= factor;
    }
    return true;
}

// Hold the dofs that descent pushes against a bound. One that stands there without being pushed may leave it: inwards the
// cost may bend down.
static void hold_what_is_pushed(const poise_solver *solver, pz_damped *d)
{
    double least = PUSHES * PUSHES * 2.0 * solver->at->cost;
    pz_hold_at_bounds(solver, d);
    for (int i = 0; i < solver->model->nv; ++i) {
        double g = solver->at->gradient[i];
        d->hold[i] = d->hold[i] && (solver->box[i].locked || g * g > least * d->D[i]);
    }
}

// Leave a saddle: where the exact Hessian is clearly indefinite, go along a direction of negative curvature, if that lowers
// the cost: by a good part on the way, at all where the run would end. False: it does not, and the current point stays.
static bool auto_leave_saddle(poise_solver *solver, pz_damped *d, bool is_end)
{
    double *x = solver->step, share = is_end ? END_SHARE : ESCAPE_SHARE;
    if (is_end) {
        hold_what_is_pushed(solver, d);
    } else {
        pz_hold_at_bounds(solver, d);
    }
    if (!pz_tree_curvature(d->tree, solver->at, is_end ? END_LAMBDA : ESCAPE_LAMBDA, d->D, d->hold, d->hold_value, x) ||
        !scale_direction(solver, d, x)) {
        return false;
    }
    for (int attempt = 0; attempt < 2 * (is_end ? END_HALVES : ESCAPE_HALVES); ++attempt) {
        pz_step_within(solver, solver->at->kin.q, x, d->q_trial);
        if (pz_try(solver, d->q_trial, POISE_LEVEL_COST) < share * solver->at->cost) {
            pz_try(solver, d->q_trial, POISE_LEVEL_HESSIAN);
            pz_accept(solver);
            return true;
        }
        double turn = attempt % 2 == 0 ? -1.0 : -0.5; // the other way, then half as far
        for (int i = 0; i < solver->model->nv; ++i) {
            x[i] *= turn;
        }
    }
    return false;
}

bool pz_is_at_tip(const poise_solver *solver)
{
    bool is_there = false;
    for (int i = 0; i < solver->problem->goal_count && !is_there; ++i) {
        is_there = pz_distance_is_at_tip(&solver->at->kin, &solver->problem->goals[i]);
    }
    return is_there;
}

// Leave the tip of a cone: take the first short step along one dof that lowers the cost. False: there is none, or this is no
// such place.
static bool leave_tip(poise_solver *solver, const pz_damped *d)
{
    double *x = solver->step, length = min2(CONE_STEP, solver->options.step_limit);
    int n = solver->model->nv;
    for (int k = 0; k < 2 * n && pz_is_at_tip(solver); ++k) {
        for (int i = 0; i < n; ++i) {
            x[i] = i != k / 2 || solver->box[i].locked ? 0.0 : k % 2 ? -length : length;
        }
        pz_step_within(solver, solver->at->kin.q, x, d->q_trial);
        if (pz_try(solver, d->q_trial, POISE_LEVEL_COST) < solver->at->cost) {
            pz_try(solver, d->q_trial, POISE_LEVEL_HESSIAN);
            pz_accept(solver);
            return true;
        }
    }
    return false;
}

// Goals that tie branches together leave no tree on which negative curvature would be found, and bands of rotations have a
// kink at half a turn.
static bool hides_curvature(const poise_solver *solver)
{
    bool found = false;
    for (int i = 0; i < solver->problem->goal_count && !found; ++i) {
        const poise_goal *goal = &solver->problem->goals[i];
        found = (pz_goal_row_of(goal->kind)->needs & PZ_NEEDS_COUPLING) != 0 || pz_has_band(goal->rotation_tolerance);
    }
    return found;
}

// Where a second look leads down from the end of a run, go there.
static bool leave_refuted(poise_solver *solver)
{
    if (!hides_curvature(solver) || !pz_is_refuted(solver)) {
        return false;
    }
    pz_try(solver, solver->q_try, POISE_LEVEL_HESSIAN);
    pz_accept(solver);
    return true;
}

// Go off the tip of a cone, or along a direction of negative curvature, if that leads down from here. It counts as an
// iteration.
static bool auto_escape(poise_solver *solver, pz_auto *a, bool is_end)
{
    pz_damped *d = (pz_damped *)solver->method;
    a->escapes -= 1;
    if (!leave_tip(solver, d) && !auto_leave_saddle(solver, d, is_end) && !(is_end && leave_refuted(solver))) {
        return false;
    }
    pz_count_iteration(solver, d->damping.lambda, pz_largest(solver->step, solver->model->nv), true, true);
    return true;
}

// ---- The loop ------------------------------------------------------------------------------------------------------------

// Is this the end? Where no direction leads down at first order the point may still be a saddle.
static bool is_end(poise_solver *solver, pz_auto *a)
{
    if (!pz_is_done(solver, &a->end)) {
        return false;
    }
    if (!pz_may_be_saddle(a, a->end.outcome)) {
        return true;
    }
    pz_damped_refresh((pz_damped *)solver->method, solver, true);
    if (!auto_escape(solver, a, true)) {
        return true;
    }
    a->end = pz_used_up; // until the new point says more
    return solver->iterations_left == 0;
}

void pz_auto_begin(poise_solver *solver, pz_auto *a)
{
    *a = pz_auto_start();
    ((pz_damped *)solver->method)->damping = pz_damping_begin(&solver->options);
}

bool pz_auto_step(poise_solver *solver, pz_auto *a)
{
    pz_damped *d = (pz_damped *)solver->method;
    if (a->is_fresh && is_end(solver, a)) {
        return false;
    }
    if (a->is_fresh) {
        pz_damped_refresh(d, solver, a->is_first);
        a->is_first = false;
    }
    pz_damped_step(solver, d, pz_wants_exact(a), &a->trial);
    return true;
}

bool pz_auto_judge(poise_solver *solver, pz_auto *a, double cost)
{
    pz_damped *d = (pz_damped *)solver->method;
    // judge: a trial that lowers the cost becomes the current point
    pz_damped_judge(solver, d, cost, &a->trial);
    // adapt
    d->damping = pz_damping_after(d->damping, &a->trial);
    pz_auto_learn(a, &a->trial);
    // escape
    if (solver->iterations_left > 0 && pz_may_escape(a, &a->trial, d->damping) && auto_escape(solver, a, false)) {
        a->is_fresh = a->falls_fast = true;
    }
    // stop
    if (!a->is_fresh && pz_is_stuck(&a->trial, d->damping)) {
        a->end = pz_stuck(solver, pz_is_flat(&a->trial));
        return false;
    }
    if (solver->iterations_left == 0) {
        bool is_done = a->is_fresh && pz_is_done(solver, &a->end);
        a->end = is_done ? a->end : pz_used_up;
        return false;
    }
    return true;
}

static void *auto_lay_out(poise_solver *solver, pz_arena *arena)
{
    pz_damped *scratch = damped_lay_out(solver, arena);
    solver->arm = pz_arm_lay_out(solver, arena);
    solver->tips = pz_tips_lay_out(solver, arena);
    return scratch;
}

static pz_end auto_run(poise_solver *solver)
{
    pz_auto a;
    pz_auto_begin(solver, &a);
    while (pz_auto_step(solver, &a)) {
        double cost = pz_damped_evaluate(solver, (pz_damped *)solver->method);
        if (!pz_auto_judge(solver, &a, cost)) {
            break;
        }
    }
    solver->answer->is_unproved =
        solver->answer->is_unproved || (a.end.outcome == POISE_OUTCOME_CLOSEST && !a.is_minimum && a.escapes == 0);
    return a.end;
}

const pz_method_row pz_auto_method = {auto_lay_out, auto_run, NULL, NULL};

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

static pz_end levenberg_marquardt_run(poise_solver *solver)
{
    pz_damped *d = solver->method;
    pz_end end;
    bool accepted = true, first = true;
    d->damping = pz_damping_begin(&solver->options);
    for (;;) {
        if (accepted && pz_is_done(solver, &end)) {
            return end;
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
            return pz_stuck(solver, pz_is_flat(&trial));
        }
        if (solver->iterations_left == 0) {
            return accepted && pz_is_done(solver, &end) ? end : pz_used_up;
        }
    }
}

const pz_method_row pz_levenberg_marquardt_method = {damped_lay_out, levenberg_marquardt_run, NULL, NULL};
