// AUTO: what it decides, as pure functions of a few numbers; then the damped Newton step that it repeats, and the body of
// its loop.
//
// The loop (auto.c) calls the decisions, on every processor that it is compiled for; so do the lanes of a batch, which run
// many loops side by side (batch/tree_lanes.c), and Levenberg-Marquardt, which shares the damping. Nothing is decided
// anywhere else. A control step (control_step.c) and the search for several goals (tips.c) use the step alone.
#ifndef PZ_SOLVE_AUTO_H
#define PZ_SOLVE_AUTO_H

#include "solve/solver.h"

#define PZ_LAMBDA_WARM   1e-4
#define PZ_LAMBDA_COLD   10.0  // steps of a tenth: full ones lead into other basins
#define PZ_LAMBDA_LEAST  1e-15 // keeps the floor of the metric at work where H is singular
#define PZ_LAMBDA_MOST   1e12  // steps this short change nothing
#define PZ_LAMBDA_METRIC 1e-3  // below this the metric of the damping hardly matters, and an old one will do

#define PZ_PASSES     4    // of the active set in one step
#define PZ_FALLS_FAST 0.2  // a step that leaves less than this share of the cost
#define PZ_SLOW       0.99 // one that leaves more, with an indefinite H, may be at a saddle
#define PZ_ESCAPES    3    // from saddles, that one run may try

#define PZ_BY_COST 1e-9  // a gradient_tolerance from which on the cost decides alone
#define PZ_HIDDEN  1e-13 // a share of the cost that a few of its roundings hide

// ---- One step ------------------------------------------------------------------------------------------------------------

// A step, and what came of it. Without a step (no system could be solved) `after` and `predicted` are infinite.
typedef struct pz_trial {
    double before;    // the cost where it began
    double after;     // and where it led
    double predicted; // decrease, by the quadratic model
    double lambda;    // its damping
    bool is_newton;   // it solves its system: nothing moved it to a bound or shortened it
    bool wants_exact; // it was to be solved with the exact Hessian
    bool exact;       // and was: H + lambda D is positive definite
    bool settles;     // the cost cannot tell it from none, but the gradient can
} pz_trial;

static inline bool pz_is_accepted(const pz_trial *t)
{
    return t->after < t->before || t->settles;
}

// A cost f tells gradients from 0 down to cosines of about sqrt(eps). Whoever wants a smaller one has the last steps judged
// by the gradient itself, where they promise no more than the rounding of f may hide.
static inline bool pz_may_settle(const pz_trial *t, double gradient_tolerance)
{
    bool is_hidden = t->is_newton && fabs(t->predicted) <= PZ_HIDDEN * t->before;
    bool is_level = t->after >= t->before && t->after <= (1.0 + PZ_HIDDEN) * t->before;
    return gradient_tolerance < PZ_BY_COST && is_hidden && is_level;
}

// Is there no more to gain than the rounding of the cost hides? What a step promises tells only where nothing but its
// damping, by about 1 + lambda, holds it back: one that was held at a bound or shortened may promise nothing in a place that
// can be left.
static inline bool pz_is_flat(const pz_trial *t)
{
    return t->is_newton && fabs(t->predicted) * (1.0 + t->lambda) <= PZ_FLAT * t->before;
}

// Does the cost tell neighbours apart? Not beside a singularity, where a few roundings of q change it by more than its
// own, nor where a number of q is so large (`size`, the largest) that one rounding does.
static inline bool pz_is_resolved(double gradient, double size, double cost)
{
    return max2(16.0, size) * PZ_EPSILON * gradient <= PZ_FLAT * cost;
}

// The actual decrease over the predicted one.
static inline double pz_gain(const pz_trial *t)
{
    return t->predicted > 0 ? (t->before - t->after) / t->predicted : -1.0;
}

static inline bool pz_is_slow(const pz_trial *t)
{
    return t->wants_exact && (pz_is_accepted(t) ? t->after : t->before) > PZ_SLOW * t->before;
}

// ---- Damping -------------------------------------------------------------------------------------------------------------

typedef struct pz_damping {
    double lambda;
    double growth; // what a rejection multiplies it by
} pz_damping;

static inline pz_damping pz_damping_begin(const poise_solver_options *options)
{
    double lambda = options->start == POISE_START_COLD ? PZ_LAMBDA_COLD : PZ_LAMBDA_WARM;
    return (pz_damping){options->damping > 0 ? options->damping : lambda, 2.0};
}

// lambda follows the gain ratio rho (H. B. Nielsen, "Damping parameter in Marquardt's method", 1999; Madsen, Nielsen &
// Tingleff, "Methods for non-linear least squares problems", 2004, eq. 2.21):
//
//   accepted   lambda <- lambda max(1/10, 1 - (2 rho - 1)^3),  nu <- 2          (the paper has 1/3)
//   rejected   lambda <- nu lambda,  nu <- 2 nu
static inline pz_damping pz_damping_after(pz_damping was, const pz_trial *t)
{
    bool accepted = pz_is_accepted(t);
    double shrink = 2.0 * pz_gain(t) - 1.0;
    double less = max2(was.lambda * max2(0.1, 1.0 - shrink * shrink * shrink), PZ_LAMBDA_LEAST);
    return (pz_damping){accepted ? less : was.lambda * was.growth, accepted ? 2.0 : was.growth * 2.0};
}

// Is the damping strong enough for its metric to matter?
static inline bool pz_needs_metric(pz_damping damping)
{
    return damping.lambda > PZ_LAMBDA_METRIC;
}

// After a rejection: is there nothing to gain, or are steps too short to change anything?
static inline bool pz_is_stuck(const pz_trial *t, pz_damping after)
{
    return !pz_is_accepted(t) && (pz_is_flat(t) || after.lambda > PZ_LAMBDA_MOST);
}

// ---- A run ---------------------------------------------------------------------------------------------------------------

// What AUTO remembers from one iteration to the next.
typedef struct pz_auto {
    bool is_fresh;   // the current point is new: no step has been tried from it
    bool is_first;   // no step has been tried at all
    bool falls_fast; // the last step left a small share of the cost
    bool is_minimum; // it led here with a positive definite H, so this is no saddle
    int escapes;     // from saddles, that are left
    pz_trial trial;  // the step under way
    pz_end end;
} pz_auto;

static inline pz_auto pz_auto_start(void)
{
    return (pz_auto){.is_fresh = true, .is_first = true, .falls_fast = true, .is_minimum = false, .escapes = PZ_ESCAPES};
}

// While the cost falls fast the exact Hessian is not worth a try: it is indefinite there.
static inline bool pz_wants_exact(const pz_auto *a)
{
    return !a->falls_fast;
}

static inline void pz_auto_learn(pz_auto *a, const pz_trial *t)
{
    a->is_fresh = pz_is_accepted(t);
    a->falls_fast = a->is_fresh && t->after < PZ_FALLS_FAST * t->before;
    a->is_minimum = a->is_fresh && t->exact;
}

// Is a way out of a saddle worth looking for: after a step, and where the run would end?
static inline bool pz_may_escape(const pz_auto *a, const pz_trial *t, pz_damping after)
{
    return (pz_is_slow(t) || pz_is_stuck(t, after)) && !t->exact && a->escapes > 0;
}

static inline bool pz_may_be_saddle(const pz_auto *a, poise_outcome outcome)
{
    return outcome == POISE_OUTCOME_CLOSEST && !a->is_minimum && a->escapes > 0;
}

// ---- The damped step -----------------------------------------------------------------------------------------------------

// Scratch of the methods that step so: solver->method of AUTO and LEVENBERG_MARQUARDT.
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

// ---- The loop ------------------------------------------------------------------------------------------------------------

// The body of AUTO's loop, for callers with several runs under way: begin at solver->at; then a step, its evaluation
// (pz_damped_evaluate), and the judgement of its cost. False: the run has ended, with a->end.
void pz_auto_begin(poise_solver *solver, pz_auto *a);
bool pz_auto_step(poise_solver *solver, pz_auto *a);
bool pz_auto_judge(poise_solver *solver, pz_auto *a, double cost);

extern const pz_method_row pz_auto_method, pz_levenberg_marquardt_method;

#endif
