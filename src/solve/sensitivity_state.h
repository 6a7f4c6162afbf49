// What the two files of sensitivity share.
#ifndef PZ_SOLVE_SENSITIVITY_STATE_H
#define PZ_SOLVE_SENSITIVITY_STATE_H

#include <poise/sensitivity.h>

#include "goal/packed_factor.h"

#define PZ_MET 2e-6 // a distance from a target, in levers or radians, that counts as none

// Where one goal alone adds to: as arrays of an objective, of which it touches the entries of one body.
typedef struct pz_single {
    pz_sum *sums;
    pz_extra *extras;
    double *gradient, *curvature; // by dof
    sym3 *block[2];
} pz_single;

struct poise_sensitivity {
    const poise_model *model;
    pz_owned owned;
    poise_objective objective; // at the answer
    pz_single single;
    pz_packed rows;
    bool is_ready;
    bool is_met; // all goals are
    double *H;   // factored
    double *square, *diagonal;
    signed char *side; // by dof: held at the lower (-1) or upper (1) limit
    double *null;      // null_count x nv, orthonormal
    int null_count;
    double *x, *y, *b, *r; // nv
    spatial *V;            // by joint: its motion along a step
    wrench *U;             // by joint
};

// The derivative of -lambda . d2f/dq dp for the parameters of a goal, where V are the bodies' motions along lambda = x.
void pz_goal_backward(poise_sensitivity *s, const poise_goal *goal, poise_goal_change *gradient);

// Add d2f/dq dp times a change of a goal: wrenches to U, by body, and numbers to `dofs`.
void pz_goal_forward(poise_sensitivity *s, const poise_goal *goal, const poise_goal_change *change, double *dofs);

#endif
