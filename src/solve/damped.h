// Damped Newton steps on the tree with an active set of limits: what AUTO and LEVENBERG_MARQUARDT share.
#ifndef PZ_SOLVE_DAMPED_H
#define PZ_SOLVE_DAMPED_H

#include "solve/solve.h"

#define PZ_LAMBDA_METRIC 1e-3 // below this the metric of the damping hardly matters, and an old one will do
#define PZ_FALLS_FAST    0.2  // AUTO: a step that leaves less than this share of the cost
#define PZ_SLOW          0.99 // AUTO: one that leaves more, with an indefinite H, may be at a saddle
#define PZ_PASSES        4    // of the active set in one step

typedef struct pz_damped {
    double lambda, growth; // damping, and what a rejection multiplies it by
    pz_tree_step *tree;
    double *D;          // nv: the metric of the damping
    bool *hold;         // nv: dofs whose step is known
    double *hold_value; // nv: that step
    double *product;    // nv
    double *q_trial;    // nq
    bool has_edges;     // swings are held at the edge of their ellipse
    bool is_newton;     // the step solves its system: nothing moved it to a bound or shortened it
    bool is_flat;       // the last trial promised less than the rounding of the cost hides
} pz_damped;

// Take the arrays from an arena (see base/arena.h).
void pz_damped_lay_out(pz_damped *d, const poise_solver *solver, pz_arena *arena);

// Begin: lambda from the options, or 1e-4 for a warm start and 10 for a cold one.
void pz_damped_begin(pz_damped *d, const poise_solver *solver);

// D at the point at hand (nv numbers > 0): Marquardt's scaling with a floor.
void pz_make_metric(poise_solver *solver, double *D);

// D for the next step, made anew where the damping is strong enough for it to matter; and springs at edges of swings.
// Once for each point.
void pz_damped_refresh(pz_damped *d, poise_solver *solver, bool first);

// solver->step from (H + lambda D) x = -g with limits by an active set. H is exact if *exact and positive definite there,
// else Gauss-Newton, and *exact says so. False when even Gauss-Newton fails, which only rounding can cause.
bool pz_damped_step(poise_solver *solver, pz_damped *d, bool *exact);

// Try solver->step; true when it lowered the cost and was accepted. *gain is the actual decrease over the predicted one.
bool pz_damped_try(poise_solver *solver, pz_damped *d, bool exact, double *gain);

// Leave a saddle: where the exact Hessian is clearly indefinite, go along a direction of negative curvature, if that lowers
// the cost by a good part. True when it did; the step is in solver->step.
bool pz_damped_escape(poise_solver *solver, pz_damped *d);

// lambda after a trial. False when it has grown so large that steps change nothing.
bool pz_damped_adapt(pz_damped *d, bool accepted, double gain);

#endif
