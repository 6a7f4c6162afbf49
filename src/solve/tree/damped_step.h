// Damped Newton steps on the tree with an active set of limits: what AUTO and LEVENBERG_MARQUARDT share.
#ifndef PZ_SOLVE_DAMPED_STEP_H
#define PZ_SOLVE_DAMPED_STEP_H

#include "solve/solver_state.h"

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
    bool exact;         // the step is solved for with the exact Hessian
    int passes;         // of the active set in this step
    int attempts;       // to leave a saddle
    double predicted;   // decrease of the cost
    bool is_newton;     // the step solves its system: nothing moved it to a bound or shortened it
    bool is_flat;       // the last trial promised less than the rounding of the cost hides
} pz_damped;

// Take the arrays from an arena (see base/arena.h).
PZ_DEVICE void pz_damped_lay_out(pz_damped *d, const poise_solver *solver, pz_arena *arena);

// Begin: lambda from the options, or 1e-4 for a warm start and 10 for a cold one.
PZ_DEVICE void pz_damped_begin(pz_damped *d, const poise_solver *solver);

// D at the point at hand (nv numbers > 0): Marquardt's scaling with a floor.
PZ_DEVICE void pz_make_metric(poise_solver *solver, double *D);

// D for the next step, made anew where the damping is strong enough for it to matter; and springs at edges of swings.
// Once for each point.
PZ_DEVICE void pz_damped_refresh(pz_damped *d, poise_solver *solver, bool first);

// ---- A step, by its parts ------------------------------------------------------------------------------------------------
//
// solver->step from (H + lambda D) x = -g with limits by an active set: open it, then solve and take what came out, again
// and again while that says so. H is exact as long as d->exact, which falls where H is not positive definite. FAILED, with a
// step of zeros: even Gauss-Newton is not, which only rounding can cause.

typedef enum pz_step_state { PZ_STEP_AGAIN = 0, PZ_STEP_READY, PZ_STEP_FAILED } pz_step_state;

PZ_DEVICE void pz_damped_open(const poise_solver *solver, pz_damped *d, bool exact);
PZ_DEVICE bool pz_damped_solve(const poise_solver *solver, pz_damped *d);
PZ_DEVICE pz_step_state pz_damped_take(poise_solver *solver, pz_damped *d, bool solved);

// The trial of the step into d->q_trial; then the judgement of its cost: true when it is lower, and the trial, which was
// evaluated, was accepted. *gain is the actual decrease over the predicted one.
PZ_DEVICE void pz_damped_propose(poise_solver *solver, pz_damped *d);
PZ_DEVICE bool pz_damped_judge(poise_solver *solver, pz_damped *d, double after, double *gain);

// All of that with Gauss-Newton: true when there is a step; true when it lowered the cost and was accepted.
PZ_DEVICE bool pz_damped_step(poise_solver *solver, pz_damped *d);
PZ_DEVICE bool pz_damped_try(poise_solver *solver, pz_damped *d, double *gain);

// ---- Leaving a saddle, by its parts --------------------------------------------------------------------------------------
//
// Where the exact Hessian is clearly indefinite, go along a direction of negative curvature, if that lowers the cost by a
// good part: look for one; leave along it, to d->q_trial; if its cost is not that of a way out, turn. False: there is none,
// or none is left.

PZ_DEVICE bool pz_damped_curve(const poise_solver *solver, pz_damped *d);
PZ_DEVICE bool pz_damped_leave(poise_solver *solver, pz_damped *d);
PZ_DEVICE bool pz_damped_is_away(const poise_solver *solver, double after);
PZ_DEVICE bool pz_damped_turn(poise_solver *solver, pz_damped *d);

// lambda after a trial. False when it has grown so large that steps change nothing.
PZ_DEVICE bool pz_damped_adapt(pz_damped *d, bool accepted, double gain);

#endif
