// The way out of a saddle.
//
// Gauss-Newton and damped Newton steps stop at saddles: a bone that is half a turn off about its own length, say. There H
// has a direction of negative curvature. It is followed as far as would move the markers by their own residual,
// x . D x = 2 f, and no further than step_limit, then by halves, downhill first.
//
// And the way off the tip of a cone: the energy of a DISTANCE goal whose point is on its target (goal/distance.c). Its
// gradient is that along one direction of many; where limits and locks leave none of the joints that follow it, another may
// lead down.
#include "solve/tree/damped_step.h"

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

// Hold the dofs that descent pushes against a bound. One that stands there without being pushed may leave it: inwards the cost
// may bend down.
static void hold_what_is_pushed(const poise_solver *solver, pz_damped *d)
{
    double least = PUSHES * PUSHES * 2.0 * solver->at->cost;
    pz_hold_at_bounds(solver, d);
    for (int i = 0; i < solver->model->nv; ++i) {
        double g = solver->at->gradient[i];
        d->hold[i] = d->hold[i] && (solver->box[i].locked || g * g > least * d->D[i]);
    }
}

bool pz_leave_saddle(poise_solver *solver, pz_damped *d, bool is_end)
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
    for (int i = 0; i < solver->goal_count && !is_there; ++i) {
        is_there = pz_distance_is_at_tip(&solver->at->kin, &solver->goals[i]);
    }
    return is_there;
}

bool pz_leave_tip(poise_solver *solver, const pz_damped *d)
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
