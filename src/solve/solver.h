// What every method works with: a problem at a point, steps within limits, when to stop, what to report.
//
// A method is a row: how much scratch memory it wants and a function that improves solver->at until it is done. Those of
// this library are in auto.c and priority.c; solver.c has the table, and serves engines from outside. All use the functions
// below for what methods share, so that they stop, count and respect limits alike.
#ifndef PZ_SOLVE_SOLVER_H
#define PZ_SOLVE_SOLVER_H

#include <poise/method.h>

#include "goal/objective.h"

#include "num/dense.h"

#include <float.h>

#define PZ_FLAT  1e-15 // a share of the cost that its own rounding hides
#define PZ_LARGE 1e6   // a number of q beyond which its rounding may change the cost

typedef poise_method_bound pz_box; // what a step may do with one dof

// How a run, a search or a solve has ended.
typedef struct pz_end {
    poise_outcome outcome;
    poise_why why;
} pz_end;

static const pz_end pz_reached = {POISE_OUTCOME_REACHED, POISE_WHY_REACHED};
static const pz_end pz_stalled = {POISE_OUTCOME_STALLED, POISE_WHY_STALLED};
static const pz_end pz_used_up = {POISE_OUTCOME_BUDGET, POISE_WHY_BUDGET};

// The closest, and why: a posture to hold, or to stay near, may keep the others from their goals.
static inline pz_end pz_closest(const poise_goal *goals, int count)
{
    poise_why why = POISE_WHY_CLOSEST;
    for (int i = 0; i < count; ++i) {
        bool is_soft = goals[i].kind == POISE_GOAL_POSTURE || goals[i].kind == POISE_GOAL_SMOOTHNESS;
        why = is_soft && count > 1 && goals[i].weight > 0.0 ? POISE_WHY_PULLED : why;
    }
    return (pz_end){POISE_OUTCOME_CLOSEST, why};
}

// What is to be solved: constant while it is searched. A part of several goals (tips.c) and a lane of a batch have their
// own.
typedef struct pz_problem {
    const poise_goal *goals;
    int goal_count;
    bool has_callbacks;    // among them: the caller's energies, which may be below 0 against all rules
    double *q_start;       // nq: where the solve begins, within the limits
    double cost_tolerance; // of the options, or a part's share of it
    uint64_t seed;         // of the restarts
    bool (*accepts)(poise_solver *solver, const double *q); // may an arm's answer be kept? NULL: any
} pz_problem;

// What a solve has come to, beside solver->q_best.
typedef struct pz_answer {
    pz_end end;
    poise_report report; // outcome and why are those of `end`, when it is handed out
    bool may_keep_start; // where the answer costs more; not with constraints, which the start may break
    bool is_unproved;    // a run of AUTO ended in what may be a saddle, with no attempt to leave it left
    bool is_measured;    // cost, gradient and errors of the answer are in the report, and `at` is elsewhere
} pz_answer;

typedef struct pz_call {
    pz_problem problem;
    pz_answer answer;
} pz_call;

struct poise_solver {
    // As it was made.
    const poise_model *model;
    pz_owned owned;
    poise_solver_options options;
    pz_box *box;                        // by dof
    bool has_bounds;                    // some box is limited or locked: else a step leaves none
    bool has_swings;                    // limited by an ellipse (step.c)
    const struct pz_method_row *row;    // the method
    void *method;                       // its own scratch
    struct pz_arm *arm;                 // AUTO's scratch for a pose goal on an arm (arm.h), NULL for other methods
    struct pz_tips *tips;               // AUTO's scratch for goals at several tips (tips.h), likewise
    struct pz_constrained *constrained; // room for constraints (constrained.c), NULL without

    // The problem at hand: that of `own` or of another's call, or a part of it.
    const pz_problem *problem;
    poise_goal prior;   // the pull towards q_start
    poise_error *error; // of the current call; may be NULL
    pz_call own;        // for solves that go from begin to end at once

    // The search: the current point and the one being tried, swapped on acceptance, so that a rejected trial costs no second
    // evaluation.
    poise_objective *at, *trial; // at->kin.q is the configuration
    double *gradient;            // nv: projected gradient at `at`
    double *diagonal;            // nv: of the Gauss-Newton Hessian at `at`, or at a point before
    bool diagonal_is_fresh;      // it is that of `at`
    double *step;                // nv
    double *q_try;               // nq: where a run begins
    pz_box *limits;              // by dof: the boxes, while they are set aside (restarts.c)
    int iterations_left;         // of this start
    bool is_quiet;               // iterations are not traced
    poise_method_run run;        // what an engine from outside sees of this (solver.c)

    // The answer at hand.
    double *q_best; // nq: the best of several starts
    pz_answer *answer;
};

typedef struct pz_method_row {
    // Take scratch from the arena into *scratch's struct (see arena.h); NULL when there is none.
    void *(*lay_out)(poise_solver *solver, pz_arena *arena);
    // Improve solver->at, which has been evaluated at POISE_LEVEL_HESSIAN. Returns how it ended.
    pz_end (*run)(poise_solver *solver);
    // Can it serve these goals? Otherwise the reason is in solver->error. NULL: any.
    poise_status (*check)(poise_solver *solver);
    // Is the current point, where a start has ended, better than the best end before? It is remembered if so; `first` tells
    // that there is none before. NULL: by the cost.
    bool (*improves)(poise_solver *solver, bool first);
} pz_method_row;

// The row that serves these options (solver.c); NULL: another library has it, or there is none.
const pz_method_row *pz_method_row_of(const poise_solver_options *options);

// Let solver->run say where the solver is, for an engine from outside (solver.c).
void pz_open_run(poise_solver *solver);

// What messages call the method.
const char *pz_method_name(const poise_solver *solver);

// POISE_OK when a solver of this model can be made with these options; otherwise `error` names the option (solver.c).
poise_status pz_solver_check_options(const poise_model *model, const poise_solver_options *options, poise_error *error);

// A solver over memory of pz_solver_size bytes; NULL when it does not fit. The options have been checked.
size_t pz_solver_size(const poise_model *model, const poise_solver_options *options);
poise_solver *pz_solver_init(const poise_model *model, const poise_solver_options *options, void *memory, size_t size);

// Run the method once from q (solve.c).
pz_end pz_solver_run_from(poise_solver *solver, const double *q);

// Its beginning, where the trial has been evaluated at q: that becomes the current point. False when the run is over there.
bool pz_solver_arrive(poise_solver *solver, double cost, pz_end *end);

// ---- The frame of a solve (solve.c) --------------------------------------------------------------------------------------

// Check goals and start, and make them the solver's own problem. The start stays where it is, limits or not.
poise_status pz_solve_begin_at(poise_solver *solver, const poise_goal *goals, int count, const double *q,
                               poise_error *error);

// The same as poise_solve does: the start is moved inside the limits.
poise_status pz_solve_begin(poise_solver *solver, const poise_goal *goals, int count, const double *q, poise_error *error);

// The same for a call of the caller's, whose problem has room for q_start. Several such calls, with goals of the same kind
// and without constraints, may be under way at once: pz_solve_continue goes on with one of them.
poise_status pz_solve_begin_call(poise_solver *solver, pz_call *call, const poise_goal *goals, int count, const double *q,
                                 poise_error *error);
void pz_solve_continue(poise_solver *solver, pz_call *call);

// Search for these goals from here on, which are among those of the call.
void pz_set_problem(poise_solver *solver, const pz_problem *problem);

// The worst errors of the goals at the current point, into the report.
void pz_solve_measure_goals(poise_solver *solver);

// Describe solver->q_best, and hand it out with the report (which may be NULL).
void pz_solve_end(poise_solver *solver, double *q, poise_report *report);

// Copy the report for the caller (NULL is allowed), with its reason in words.
void pz_report_hand_out(const poise_solver *solver, poise_report *report);

// ---- Shared by the methods (step.c) --------------------------------------------------------------------------------------

// Evaluate solver->trial at q, counting. An evaluation that fails (overflow) has infinite cost.
double pz_try(poise_solver *solver, const double *q, poise_level level);

// Make the trial the current point.
void pz_accept(poise_solver *solver);

// q_out = retract(q, step) within the limits, exactly; locked coordinates keep their value, and rotation vectors with a
// locked part their form. q_out is not q.
void pz_step_within(const poise_solver *solver, const double *q, const double *step, double *q_out);

// The projected gradient at the current point into solver->gradient: zero for locked dofs and for dofs at a limit that a
// descent would leave. Returns its largest component.
double pz_project_gradient(poise_solver *solver);

// Make solver->diagonal that of the current point, if it is not.
void pz_refresh_diagonal(poise_solver *solver);

// Is the dof locked, or at a limit that descent would leave? At a bound: -gradient points out of it. A swing at the edge of
// its ellipse may leave a bound along the edge.
bool pz_is_held(const poise_solver *solver, int dof);
bool pz_is_at_bound(const poise_solver *solver, int dof); // without looking at edges

// Is the cost at the current point small enough to stop? Below 0 by rounding it is; below 0 by energies of the caller it says
// nothing.
static inline bool pz_cost_is_met(const poise_solver *solver)
{
    double cost = solver->at->cost;
    return cost <= solver->problem->cost_tolerance && (cost >= 0 || !solver->problem->has_callbacks);
}

// Is the goal met there to its tolerance, or without weight?
bool pz_goal_is_met(const poise_solver *solver, const poise_goal *goal);

// May the method stop here? REACHED by tolerance of goals or cost, CLOSEST by the projected gradient (which it computes),
// STALLED where q is so large that the gradient is rounding. False: continue. The second asks for a fresh diagonal first,
// for methods that creep or go far: with an old one the gradient may look too large.
bool pz_is_done(poise_solver *solver, pz_end *end);
bool pz_is_done_afresh(poise_solver *solver, pz_end *end);

// How a run ends that finds no lower cost: CLOSEST where the last step (`is_flat`) or the gradient proves it.
pz_end pz_stuck(poise_solver *solver, bool is_flat);

// Is there room for a record of an iteration?
static inline bool pz_is_traced(const poise_solver *solver)
{
    return solver->options.trace && !solver->is_quiet && solver->answer->report.traced < solver->options.trace_capacity;
}

// Then write it, numbers that overflowed as the largest.
void pz_trace(poise_solver *solver, poise_trace record);

// Count one iteration and record it. False when the budget is used up.
bool pz_count_iteration(poise_solver *solver, double damping, double step, bool accepted, bool exact);

// x, or the largest number where x overflowed: what reports and traces say.
PZ_FN double pz_finite(double x)
{
    return is_finite(x) ? x : x < 0 ? -DBL_MAX : DBL_MAX;
}

// Is the point of a DISTANCE goal on its target, at the tip of a cone of energy, where the gradient is any (auto.c)?
bool pz_is_at_tip(const poise_solver *solver);

// ---- A second look (certify.c) -------------------------------------------------------------------------------------------

// Does descent hardly push against a bound, or not at all? The cost may bend down a little way off it.
bool pz_has_weak_bound(poise_solver *solver);

// What AUTO calls closest needs a second look where goals have tolerances, or limits hardly push. Markers to be fitted are
// not looked at: no pose of theirs is met, and what is to be gained is below their noise.
#define PZ_LOOKED_AT 16 // goals, at most

// An answer that is called the closest is looked at again; where a lower cost is found nearby it is called stalled.
void pz_certify(poise_solver *solver);

// Is there a lower cost nearby: along some dof, in a corner of limits, along negative curvature?
bool pz_is_refuted(poise_solver *solver);

// ---- Edges of swing ellipses (step.c) ------------------------------------------------------------------------------------
//
// An edge is active when a swing stands at it and descent points out of it.

// Does descent along the active edge of its swing lead the dof, which is at a bound, away from it?
bool pz_edge_leads_inwards(const poise_solver *solver, int dof);

// Take from x (nv numbers) the part along the normals of active edges: a symmetric projection. Returns how many there are.
int pz_project_on_swings(const poise_solver *solver, double *x);

// Add to both Hessians of the current point the curvature of its active edges along the edge, and `spring` across it;
// once for each point, after its diagonal was asked for. Returns how many there are.
int pz_stiffen_edges(poise_solver *solver, double spring);

// How many times `step` fits, from the current point or, with `base`, that step further on, before a swing without an active
// edge leaves its ellipse.
double pz_room_of_swings(const poise_solver *solver, const double *base, const double *step);

// Bring every swing of q into its ellipse, exactly; a locked dof stays, the other one gives way.
void pz_keep_in_swings(const poise_solver *solver, double *q);

// Shorten the step of each such swing that leaves its ellipse so that it ends at the edge. Returns how many there were.
int pz_clip_to_swings(const poise_solver *solver, double *step);

// ---- Linear algebra on the tree (tree_step.c) ----------------------------------------------------------------------------

typedef struct pz_tree_step pz_tree_step;

// A run of up to three axes of one joint that the step solves for together.
typedef struct pz_group {
    int axis, count;
    int dof;         // of the first axis: the same numbers as axes, but behind followers
    int block;       // block that its axes begin with, or -1
    int block_count; // axes of that
    int parent;      // group above, or -1
    int depth;       // number of groups above
} pz_group;

const pz_group *pz_tree_groups(const pz_tree_step *tree, int *count);

pz_tree_step *pz_tree_step_lay_out(const poise_solver *solver, pz_arena *arena);

// Solve (H + lambda D) x = -g over the free dofs, x = hold_value on the held ones, for the current point; one sweep up, one
// down (Erleben & Andrews' Newton step in O(N)). hold: nv flags; D: nv numbers > 0. False when H + lambda D is not positive
// definite on the free dofs; x is then spoilt.
bool pz_tree_solve(pz_tree_step *tree, const poise_objective *o, poise_hessian kind, double lambda, const double *D,
                   const bool *hold, const double *hold_value, double *x);

// A direction x (nv numbers) in which the exact H + lambda D has negative curvature, 0 on the held dofs; `zeros` has nv of
// them. False: there is none, or H is not a tree's.
bool pz_tree_curvature(pz_tree_step *tree, const poise_objective *o, double lambda, const double *D, const bool *hold,
                       const double *zeros, double *x);

// ---- Starts (restarts.c) -------------------------------------------------------------------------------------------------

// The method from q_start and, while goals are missed, from other starts, the best end in q_best. Serves everything: true.
bool pz_search_from_starts(poise_solver *solver);

// Where a run begins, into solver->q_try. The first, number 0: q_start, with a free root aligned with its markers when the
// start is cold and that is better. Restarts: around it or, with `is_anywhere`, anywhere, with the root aligned.
void pz_solve_start(poise_solver *solver, int run, bool is_anywhere);

// A configuration for restart number `restart`, from the seed alone, within limits: around the start, or anywhere.
void pz_restart_configuration(poise_solver *solver, int restart, bool is_anywhere, double *q);

// Where restarts end in what seems to be the closest: look for an answer at the limits from beyond them. What is found is in
// q_best, and the report says how this ends.
void pz_search_beyond_limits(poise_solver *solver);

// Move a free root so that the markers of the goals, placed as in `kin`, lie nearest to their targets (weighted Procrustes).
// False, with q as it was, when the model has no free root, part of it is locked, or there are fewer than three markers.
bool pz_align_root(const poise_solver *solver, const poise_kinematics *kin, double *q);

// Turn a free root by `turn` about the point `from`, which goes to `to`, both relative to the reference point of `kin`,
// where the root is now. False when the numbers do not allow it.
bool pz_place_root(const poise_solver *solver, const poise_kinematics *kin, quat turn, vec3 from, vec3 to, double *q);

// Put a free root at the rotation R of its body frame, `away` from its own place without motion. False likewise.
bool pz_set_root(const poise_model *model, const mat3 *R, vec3 away, double *q);

#endif
