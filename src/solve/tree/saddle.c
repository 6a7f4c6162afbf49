// The way out of a saddle.
//
// Gauss-Newton and damped Newton steps stop at saddles: a bone that is half a turn off about its own length, say. There H
// has a direction of negative curvature. It is followed as far as would move the markers by their own residual,
// x . D x = 2 f, and no further than step_limit, then by halves, downhill first.
#include "solve/tree/damped_step.h"

#define ESCAPE_LAMBDA 1e-2 // of D: curvature below this is that of dofs that no marker sees
#define ESCAPE_SHARE  0.99 // of the cost: the most that an escape may leave
#define ESCAPE_HALVES 4

// Scale the direction x to the length of the first attempt. False: it has none.
static bool scale_direction(const poise_solver *solver, const pz_damped *d, double *x)
{
    int n = solver->model->nv;
    double length = 0.0, slope = 0.0;
    for (int i = 0; i < n; ++i) {
        length += x[i] * d->D[i] * x[i];
        slope += x[i] * solver->at->gradient[i];
    }
    double most = solver->options.step_limit / pz_largest(x, n);
    double factor = (slope > 0 ? -1.0 : 1.0) * min2(sqrt(2.0 * solver->at->cost / length), most);
    if (!is_finite(factor)) {
        return false;
    }
    for (int i = 0; i < n; ++i) {
        x[i] *= factor;
    }
    return true;
}

bool pz_leave_saddle(poise_solver *solver, pz_damped *d)
{
    double *x = solver->step;
    pz_hold_at_bounds(solver, d);
    if (!pz_tree_curvature(d->tree, solver->at, ESCAPE_LAMBDA, d->D, d->hold, d->hold_value, x) ||
        !scale_direction(solver, d, x)) {
        return false;
    }
    for (int attempt = 0; attempt < 2 * ESCAPE_HALVES; ++attempt) {
        pz_step_within(solver, solver->at->kin.q, x, d->q_trial);
        if (pz_try(solver, d->q_trial, POISE_LEVEL_COST) < ESCAPE_SHARE * solver->at->cost) {
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
