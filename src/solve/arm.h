// One POSE goal on a serial chain of hinges and slides: AUTO's path for robot arms.
//
// A search looks for a configuration where the pose error is zero, from the caller's start and then from a fixed sequence
// of others; a minimiser with exact second derivatives finishes where a search creeps, and finds the closest pose where
// there is no zero. All of it is in arm.c; what a step computes is in arm_kernel.h, for every width.
//
// Lengths in here are divided by L = chain.unit, so that one energy serves arms of every size. With d_k the columns of the
// goal's frame, u_k those of its target, r the position error over L, phi the angle between the frames:
//
//   E = 1/4 sum |d_k - u_k|^2 = 1 - cos(phi)        f = W/2 |r|^2 + E
//
// W = 1 in the search; W = weight L^2/rotation_weight where the goal's own cost, rotation_weight f, is minimised.
#ifndef PZ_SOLVE_ARM_H
#define PZ_SOLVE_ARM_H

#include "solve/solver.h"

typedef struct pz_arm pz_arm; // what a solver has for such goals

// Joints that move; longer chains are better served by steps in O(N).
#define PZ_ARM_MOST 16

// ---- Chain ---------------------------------------------------------------------------------------------------------------

// The chain from the world to the goal's frame. Every joint moves about or along the z of its frame, then constants carry
// the frame on: Rz(angle) T(t) Rx(alpha). One entry per joint that moves.
typedef struct pz_arm_chain {
    int n;
    bool is_wide;                                             // as the model's
    bool slides;                                              // some joint slides
    double unit;                                              // L
    double reach;                                             // the goal's frame is never farther from the base; over L
    double size;                                              // nor the numbers that count where sums round; over L
    double turn[PZ_ARM_MOST];                                 // angle = turn q + offset; 1 for a hinge, 0 for a slide
    double slide[PZ_ARM_MOST];                                // z part of the shift = tz + slide q; 0, or 1/L
    double rate[PZ_ARM_MOST];                                 // of q against a step: 1, or L
    double offset[PZ_ARM_MOST];                               // radians
    double tx[PZ_ARM_MOST], ty[PZ_ARM_MOST], tz[PZ_ARM_MOST]; // over L
    double ca[PZ_ARM_MOST], sa[PZ_ARM_MOST];                  // cosine and sine of alpha
    mat3 base;                                                // frame of the first joint in the world, before it moves
    vec3 base_at;                                             // its origin, not divided
    mat3 tail;                                                // goal's frame = last frame * tail
    int q[PZ_ARM_MOST];                                       // coordinate of the model's configuration
    double lower[PZ_ARM_MOST], upper[PZ_ARM_MOST];
    double first[PZ_ARM_MOST], span[PZ_ARM_MOST]; // where restarts begin: an interval within the limits
    double ratio[PZ_ARM_MOST];                    // of the sequence of restarts
} pz_arm_chain;

// Fill `chain` for the frame `local` of `body`. False when the path to it has other joints than hinges, slides and fixed
// ones, a mimic, a locked one, none that moves, or more than PZ_ARM_MOST. `box`: by dof, as a solver has them. Locked joints
// of any kind, and mimics of them, are fixed where `held` has them; NULL: they are refused.
bool pz_arm_chain_make(const poise_model *model, const pz_box *box, const poise_kinematics *held, int body,
                       const poise_pose *local, pz_arm_chain *chain);

// The two parts of it, for pieces of a tree: the chain of the joints path[0 .. count), one below the other, and the frame
// R, t in the body of the last, lengths not yet divided, n may be 0; then lengths over `unit`, and where restarts begin.
bool pz_arm_chain_walk(const poise_model *model, const pz_box *box, const poise_kinematics *held, const int *path, int count,
                       const mat3 *R, vec3 t, pz_arm_chain *chain);
void pz_arm_chain_scale(double unit, pz_arm_chain *chain);

// World rotation and position of the goal's frame for the chain's own coordinates q (n numbers).
void pz_arm_chain_pose(const pz_arm_chain *chain, const double *q, mat3 *R, vec3 *p);

// Each seed has points of the sequence of restarts (arm_sequence_at in arm_kernel.h) of its own, after the number below, as
// long as that stays below 2^28.
#define PZ_ARM_STARTS_PER_SEED 4096
#define PZ_ARM_SEEDS           65536
PZ_FN int pz_arm_first_start(uint64_t seed)
{
    return PZ_ARM_STARTS_PER_SEED * (int)((seed - 1) % PZ_ARM_SEEDS);
}

// ---- Search and descent --------------------------------------------------------------------------------------------------

// What a search aims at, in the frame of the first joint.
typedef struct pz_arm_target {
    mat3 u;                  // columns; without a band the chain's tail is undone
    vec3 t;                  // over L
    double most_r, most_e;   // met when |r|^2 <= most_r and 2 E <= most_e
    double W;                // weight of |r|^2/2 in the goal's own cost over rotation_weight
    double cost;             // met, too, when W/2 |r|^2 + E is at most this
    double stationary;       // options.gradient_tolerance
    bool has_band;           // the rest counts
    quat turn;               // of u
    vec3 tolerance;          // over L
    vec3 rotation_tolerance; // of 2 sin(phi/2) axis
} pz_arm_target;

// One start, in progress.
typedef struct pz_arm_run {
    double q[PZ_ARM_MOST];
    double side[PZ_ARM_MOST];                      // -1, 1: at the lower, upper limit; 0
    double lower[PZ_ARM_MOST], upper[PZ_ARM_MOST]; // for a hinge without limits, so far that whole turns lead back
    double middle[PZ_ARM_MOST];                    // whole turns bring a hinge next to this
    double f, r, e;                                // at q: the energy with W = 1, |r|^2 and E
    double g[PZ_ARM_MOST];                         // at q, where the target is met: W J . r + a . v, per unit of a step
    double first_r, first_e;                       // the same where the last search began
    int iterations, evaluations;                   // counted on
    poise_solver *trace;                           // NULL, or where iterations are recorded
    double best;                                   // for the trace: the least cost so far, over rotation_weight
    double slope, longest;                         // for the trace: largest component of gradient and step
} pz_arm_run;

// Look for a zero from run->q, at most `most` iterations. True when the target is met at run->q. The second does the same
// for six hinges and more with wider registers (base/cpu.h), the third is for targets with bands.
bool pz_arm_search(const pz_arm_chain *chain, const pz_arm_target *target, int most, pz_arm_run *run);
bool pz_arm_search_wide(const pz_arm_chain *chain, const pz_arm_target *target, int most, pz_arm_run *run);
bool pz_arm_search_banded(const pz_arm_chain *chain, const pz_arm_target *target, int most, pz_arm_run *run);

typedef enum pz_arm_end { PZ_ARM_MET = 0, PZ_ARM_CLOSEST, PZ_ARM_GAVE_UP, PZ_ARM_STALLED, PZ_ARM_BUDGET } pz_arm_end;

// Descend from run->q, at most `most` iterations. `zero`: look for a zero of the search's energy and give up at a minimum
// above it; otherwise minimise the goal's cost until it is met or stationary.
pz_arm_end pz_arm_finish(const pz_arm_chain *chain, const pz_arm_target *target, bool zero, int most, pz_arm_run *run);

// The energy with weight W, its gradient g (n numbers, per unit of a step) and exact Hessian H (row-major with rows of
// PZ_ARM_MOST, lower triangle), without limits: what the descent works with.
double pz_arm_derivatives(const pz_arm_chain *chain, const pz_arm_target *target, double W, const double *q, double *g,
                          double (*H)[PZ_ARM_MOST]);

// ---- Table of starts -----------------------------------------------------------------------------------------------------

#define PZ_ARM_TABLE 64 // entries
#define PZ_ARM_NEAR  16 // of them are tried for one target, nearest first

typedef struct pz_arm_table {
    double feature[PZ_ARM_TABLE][5]; // of the pose, with the turns about the first and the last axis divided out
    double azimuth[PZ_ARM_TABLE];    // of the last axis about the first
    double q[PZ_ARM_TABLE][PZ_ARM_MOST];
    double aim;                    // azimuth of the current target
    double distance[PZ_ARM_TABLE]; // from it; infinite for an entry that was tried
} pz_arm_table;

// False when the chain is too short or begins or ends with a slide: the table stays unused.
bool pz_arm_table_make(const pz_arm_chain *chain, pz_arm_table *table);

// Take a new target; then hand out entries, nearest first, turned about the first and the last axis to fit the target.
void pz_arm_table_aim(const pz_arm_chain *chain, const pz_arm_target *target, pz_arm_table *table);
void pz_arm_table_next(const pz_arm_chain *chain, const pz_arm_target *target, pz_arm_table *table, double *q);

// ---- One call ------------------------------------------------------------------------------------------------------------

#define PZ_ARM_MARGIN            0.9999 // of tolerances: what another order of the same sums may make of the error
#define PZ_ARM_SEARCH_ITERATIONS 30     // at most, in one search
#define PZ_ARM_FAR_SEARCHES      32     // when the target is out of reach, so that they only serve the closest pose
#define PZ_ARM_FINISH_ITERATIONS 80
#define PZ_ARM_NEAR_ZERO         1e-4 // energy below which a search that was dropped is finished
#define PZ_ARM_BEYOND_EACH       4    // searches without limits for one restart,
#define PZ_ARM_BEYOND_MOST       128  // at most
#define PZ_ARM_BEYOND_LEAST      32   // and at least: after so many there is no zero at all, unless one came near
#define PZ_ARM_ENDS              16 // of all searches: where the closest pose is looked for when none of them met the target

// Iterations of one search and of the descent that finishes it.
PZ_FN int pz_arm_search_most(int max_iterations)
{
    return least(PZ_ARM_SEARCH_ITERATIONS, max_iterations);
}
PZ_FN int pz_arm_finish_most(int max_iterations)
{
    return least(PZ_ARM_FINISH_ITERATIONS, max_iterations);
}

// Where a search ended.
typedef struct pz_arm_stop {
    double cost; // W/2 |r|^2 + E
    double q[PZ_ARM_MOST];
} pz_arm_stop;

// Where a pose is reached, as far as searches without limits find out, if there were any.
typedef enum pz_arm_reach { PZ_ARM_UNKNOWN = 0, PZ_ARM_NOWHERE, PZ_ARM_BEYOND_LIMITS, PZ_ARM_WITHIN_LIMITS } pz_arm_reach;

// One call of poise_solve while its searches run.
typedef struct pz_arm_call {
    const pz_arm_chain *chain; // it stays as it is until the next call for another body or frame
    pz_arm_table *table;       // of starts; NULL: there is none, or the target has a band
    pz_arm_target target;
    pz_arm_run run;
    double q_start[PZ_ARM_MOST];
    pz_arm_stop ends[PZ_ARM_ENDS]; // the best first
    int end_count;
    int search;      // number of the current search; 0 begins at the caller's start
    int last_search; // how far the numbers go
    bool met;
    pz_arm_reach reach; // where it was not met: is it reached beyond the limits?
} pz_arm_call;

// W/2 |r|^2 + E at the run's q, the goal's cost over rotation_weight.
PZ_FN double pz_arm_cost(const pz_arm_target *target, const pz_arm_run *run)
{
    return 0.5 * target->W * run->r + run->e;
}

// A search that ended near a zero is finished by descent. Is that so? And then: does it meet the target now?
PZ_FN bool pz_arm_is_near_zero(const pz_arm_run *run)
{
    return run->f < PZ_ARM_NEAR_ZERO;
}
bool pz_arm_finish_search(const pz_arm_chain *chain, const pz_arm_target *target, int max_iterations, pz_arm_run *run);

// Descend from call->q_start and then, unless `only_near`, from the ends that were kept, until one meets the target. The
// best is left in call->run. `minimise` descends from q into call->run and returns the cost over rotation_weight.
typedef double (*pz_arm_minimise)(void *context, pz_arm_call *call, const double *q, pz_arm_end *end);
pz_arm_end pz_arm_find_closest(pz_arm_call *call, bool only_near, pz_arm_minimise minimise, void *context);

// The parts of pz_arm_solve, for callers that run searches side by side (batch/arm_lanes.c): prepare; then begin a search,
// run it, end it, until the end of one says that it was the last; then conclude.

// Do these options of AUTO leave pose goals to this path?
PZ_FN bool pz_arm_options_fit(const poise_solver_options *options)
{
    return options->prior == 0 && options->max_iterations > 0 && !is_finite(options->step_limit) && options->damping == 0;
}

// The square of a tolerance, a little less so that rounding elsewhere does not undo it, and never less than what rounding
// of numbers of size `size` allows.
PZ_FN double pz_arm_square(double tolerance, double size)
{
    double rounding = 16.0 * PZ_EPSILON * size;
    double t = max2(PZ_ARM_MARGIN * tolerance - rounding, rounding);
    return t * t;
}

// Make the chain for a goal's frame, unless it is that of the goal before. False: that is none for an arm.
bool pz_arm_make_chain(const poise_solver *solver, pz_arm *arm, const poise_goal *goal);

// Fill `call` for the goals and the start that the solver has. False: this is not one pose goal on such a chain.
bool pz_arm_prepare(poise_solver *solver, pz_arm *arm, pz_arm_call *call);

// Put the start of search number call->search into call->run.
void pz_arm_begin_search(const poise_solver *solver, pz_arm_call *call);

// After a search: finish by descent what it left near a zero. True when this was the last search; otherwise call->search is
// the number of the next.
bool pz_arm_end_search(poise_solver *solver, pz_arm_call *call, bool met);

// The answer: where the last search met the target, or the closest pose.
void pz_arm_conclude(poise_solver *solver, pz_arm_call *call);

// Record an iteration after which W/2 |r|^2 + E is `f`, the goal's cost over rotation_weight. It counts as accepted when f
// is the least so far.
void pz_arm_record(pz_arm_run *run, double f, double damping, bool exact);

// ---- Entry ---------------------------------------------------------------------------------------------------------------

pz_arm *pz_arm_lay_out(const poise_solver *solver, pz_arena *arena);

// Solve the whole call, restarts included, into solver->q_best, with solver->at evaluated there or the answer measured, and
// the report filled. False, with nothing done: this is not one pose goal on such a chain.
bool pz_arm_solve(poise_solver *solver, pz_arm *arm);

// All distinct solutions that options.restarts searches find, nearest to solver->q_start first, into rows of nq numbers; the
// first is in solver->q_best, too. Without any, as pz_arm_solve. False as there.
bool pz_arm_solve_all(poise_solver *solver, double *solutions, int capacity, int *count);

#endif
