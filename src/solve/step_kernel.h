// Steps within limits, dof by dof, for 1, 4 or 8 problems at once (num/real.h).
#ifndef PZ_SOLVE_STEP_KERNEL_H
#define PZ_SOLVE_STEP_KERNEL_H

#include "num/real.h"
#include "solve/solver_state.h"

// Can a step leave the interval of a dof?
REAL_FN bool box_is_open(const pz_box *box)
{
    return box->q < 0 || (box->lower == -INFINITY && box->upper == INFINITY);
}

// Is the coordinate q at a bound that descent would leave? -gradient points out of it.
REAL_FN real_mask box_holds(const pz_box *box, real q, real gradient)
{
    real zero = real_of(0.0);
    return ((q <= real_of(box->lower)) & (gradient >= zero)) | ((q >= real_of(box->upper)) & (gradient <= zero));
}

// Hold the dofs that the step x takes out of their interval, at the bound, where `among` is true. Returns where there are
// any.
REAL_FN real_mask hold_leavers(const poise_model *model, const pz_box *boxes, const real *q, const real *x, real_mask among,
                               real_mask *hold, real *hold_value)
{
    real_mask any = mask_none();
    for (int i = 0; i < model->nv; ++i) {
        const pz_box *box = &boxes[i];
        if (box_is_open(box)) {
            continue;
        }
        real from = q[box->q], next = from + x[i], lower = real_of(box->lower), upper = real_of(box->upper);
        real_mask below = next < lower, outside = (below | (next > upper)) & among & mask_not(hold[i]);
        hold[i] |= outside;
        hold_value[i] = real_select(outside, real_select(below, lower, upper) - from, hold_value[i]);
        any |= outside;
    }
    return any;
}

// At a bound where the way to it, bound - q, has left only its rounding.
REAL_FN real snap_to_bound(real next, real q, double bound)
{
    real_mask is_there = real_fabs(next - bound) < PZ_EPSILON * (real_fabs(q) + fabs(bound)); // false where there is none
    return real_select(is_there, real_of(bound), next);
}

// After a retraction to q_out: keep every coordinate in its interval, a locked one where it was, and the form of a rotation
// vector with a locked part.
REAL_FN void keep_in_boxes(const poise_model *model, const pz_box *boxes, const real *q, const real *x, real *q_out)
{
    for (int i = 0; i < model->nv; ++i) {
        const pz_box *box = &boxes[i];
        if (box->q >= 0) {
            real next = box->keeps_form ? q[box->q] + x[i] : q_out[box->q];
            next = snap_to_bound(snap_to_bound(next, q[box->q], box->lower), q[box->q], box->upper);
            q_out[box->q] = box->locked ? q[box->q] : real_clamp(next, box->lower, box->upper);
        }
    }
}

// The metric of the damping: D_i = G_ii + mean over the turning dofs (a slide has its own unit: its own G_ii, or 1 where
// that is 0). Written where `among` is true.
REAL_FN void make_metric(const poise_model *model, const real *diagonal, real_mask among, real *D)
{
    real sum = real_of(0.0), zero = real_of(0.0), one = real_of(1.0);
    int turns = 0;
    for (int i = 0; i < model->nv; ++i) {
        if (!pz_axis_slides(model, model->dof_axis[i])) {
            sum = sum + diagonal[i];
            turns += 1;
        }
    }
    real mean = sum / (double)(turns > 0 ? turns : 1);
    mean = real_select(mean > zero, mean, one);
    for (int i = 0; i < model->nv; ++i) {
        real own = diagonal[i], slide = real_select(own > zero, PZ_EPSILON * own, one);
        real metric = own + (pz_axis_slides(model, model->dof_axis[i]) ? slide : mean);
        D[i] = real_select(among, metric, D[i]);
    }
}

// Decrease of the quadratic model along the step, -(g . x + x . H x/2), in two ways. A step that solves
// (H + lambda D) x = -g over the free dofs has x . H x = -g . x - lambda x . D x; one that was held at a bound, or
// shortened, needs the product H x.
REAL_FN real decrease_by_equation(int nv, const real *x, const real *g, real lambda, const real *D, const real_mask *hold)
{
    real decrease = real_of(0.0);
    for (int i = 0; i < nv; ++i) {
        decrease = decrease + real_where(mask_not(hold[i]), 0.5 * x[i] * (lambda * D[i] * x[i] - g[i]));
    }
    return decrease;
}

REAL_FN real decrease_by_product(int nv, const real *x, const real *g, const real *product)
{
    real decrease = real_of(0.0);
    for (int i = 0; i < nv; ++i) {
        decrease = decrease - x[i] * (g[i] + 0.5 * product[i]);
    }
    return decrease;
}

#endif
