// Damped Newton steps on the tree with an active set of limits: what AUTO and LEVENBERG_MARQUARDT share.
#ifndef PZ_SOLVE_DAMPED_STEP_H
#define PZ_SOLVE_DAMPED_STEP_H

#include "solve/auto_policy.h"

typedef struct pz_damped {
    pz_damping damping;
    pz_tree_step *tree;
    double *D;          // nv: the metric of the damping
    bool *hold;         // nv: dofs whose step is known
    double *hold_value; // nv: that step
    double *product;    // nv
    double *q_trial;    // nq
    double *slowest;    // nv: of a control step: the interval of each velocity
    double *fastest;    // nv
    double *way;        // nv: of a control step: from q to where the goals have it
    double *way_left;   // nv: what is left of that of the last step, at q_after
    double *q_after;    // nq: where the last step led
    bool has_way;       // there was one
    bool has_step;      // the last system could be solved
    bool has_edges;     // swings are held at the edge of their ellipse
    bool exact;         // the step is solved for with the exact Hessian
    bool is_newton;     // the step solves its system: nothing moved it to a bound or shortened it
} pz_damped;

// Take it and its arrays from an arena (see base/arena.h).
pz_damped *pz_damped_lay_out(const poise_solver *solver, pz_arena *arena);

// D at the current point (nv numbers > 0): Marquardt's scaling with a floor.
void pz_make_metric(poise_solver *solver, double *D);

// D for the next step, rebuilt where the damping is strong enough for it to matter; and springs at edges of swings.
// Once for each point.
void pz_damped_refresh(pz_damped *d, poise_solver *solver, bool first);

// Hold the dofs at a bound that descent would leave, where they are.
void pz_hold_at_bounds(const poise_solver *solver, pz_damped *d);

// The step of (H + lambda D) x = -g within the limits, H exact if that is asked for and positive definite: solver->step, and
// d->q_trial where it leads. Without d->has_step no system could be solved, which only rounding can cause; it is 0 then.
void pz_damped_step(poise_solver *solver, pz_damped *d, bool exact, pz_trial *trial);

// The cost where the step leads; infinite when there is none.
double pz_damped_evaluate(poise_solver *solver, const pz_damped *d);

// Accept the trial if that lowers the cost, and count the iteration. True: it was accepted.
bool pz_damped_judge(poise_solver *solver, const pz_damped *d, double cost, pz_trial *trial);

#endif
