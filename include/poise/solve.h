// Poise: solving. Finds joint values within limits that meet the goals, starting from q.
//
//   poise_solver_options options = poise_solver_options_default();
//   poise_solver_create(model, &options, NULL, &solver, &error);
//   poise_solve(solver, goals, count, q, &report, &error);          // as often as you like: q in, better q out
//
// **Threads.** A solver belongs to one thread at a time; several solvers may share a model. poise_solve allocates
// nothing, reads no clock and starts no thread; its budgets are counts. Limits hold exactly in the q that comes back,
// whatever happens. Missing a goal is not an error: the call returns POISE_OK and the report says how close it came and
// why it stopped.
//
// **Robot arms.** One POSE goal on a chain of up to 16 revolute and prismatic joints (fixed ones do not count; no mimic, no
// locked joint, no prior, no step limit) takes a dedicated path inside AUTO: searches of a few microseconds, the first from
// the caller's q, then up to options.restarts more from a fixed sequence within the limits, until one meets the goal. If
// none does, and restarts are allowed, four times as many searches ignore the limits (at least 32, at most 128), and what
// they find is brought inside: answers with several joints at their limits, where robots are homed and parked, have few
// starts that lead there. Of 477,000 such poses of 53 arms 30 restarts miss 9, and call none of them closest. If all of that
// fails, the closest pose is returned: with a warm start and no restarts the one near q, otherwise the best of several. It
// is called CLOSEST where no way to the goal can have been missed, as far as was looked; STALLED where only limits are in
// the way, between which one may have been, or where it is so near the goal that one may have been. Without restarts
// nothing of this is asked: CLOSEST is then a claim about the poses nearby.
// With 300 restarts every one of 7 million random targets of seven industrial arms was reached; restarts cost nothing if
// the first search succeeds, and a millisecond or two if limits keep the target out of reach. Hinges come back within half a
// turn of where they started, if their limits allow it.
//
// **Several tips.** Two to sixteen goals on bodies (not POSTURE, SMOOTHNESS, RELATIVE, CENTER_OF_MASS and CALLBACK; no loss,
// no prior, no step limit): goals that share no moving joint form independent parts, each solved on its own, an arm as
// above. The report covers all parts, with the worst outcome; each part may use options.restarts. Parts of several goals
// are searched like an arm, on the whole tree: a restart redraws only the limbs whose goals were missed; every fourth
// redraws everything and aligns a free root with the targets. POSE and POSITION goals without bands on revolute and
// prismatic joints, with or without a free root, are always searched, in 10 to 40 us for hands and feet; other joints and
// goals are searched if restarts are allowed or the start is cold. POSITION goals that ask for more numbers than there are
// degrees of freedom are markers to be fitted, and are solved as one problem.
//
// **Restarts and limits.** Where AUTO's restarts end in a closest pose, goals of all kinds but soft ones, with losses and
// fitted markers are looked for without limits as well, and what is found is brought inside, as for an arm. CLOSEST is then
// said where no posture meets the goals, as far as was looked; STALLED (LIMITS) where only limits are in the way.
//
// AUTO is the method to use. The others are those of the literature, with the same goals, limits and report, for
// comparison; docs/methods.md names their sources. Those but LEVENBERG_MARQUARDT and PRIORITY come from a library beside this
// one: options.engine = poise_papers_engine(options.method), <poise/papers.h>. <poise/method.h> tells how to write your own.
//
// | method                | needs              | how it deals with limits                          |
// |-----------------------|--------------------|---------------------------------------------------|
// | AUTO                  | any goals          | active set inside the step                        |
// | GRADIENT_DESCENT      | any goals          | projection                                        |
// | JACOBIAN_TRANSPOSE    | any goals          | projection                                        |
// | PSEUDO_INVERSE        | rows (1)           | projection; POSTURE, SMOOTHNESS in the null space |
// | DAMPED_LEAST_SQUARES  | rows               | projection                                        |
// | SELECTIVELY_DAMPED    | rows               | projection                                        |
// | PRIORITY              | rows               | projection; levels by goal.priority, 0 first      |
// | CCD, BWCD             | points, axes (2)   | clamped joint by joint                            |
// | FABRIK                | points (2)         | clamped joint by joint                            |
// | LEVENBERG_MARQUARDT   | any goals          | active set inside the step                        |
// | BFGS, LBFGS           | any goals          | projection, active set                            |
// | TRUST_REGION          | any goals          | interior-reflective (Coleman & Li)                |
// | NEWTON                | any goals          | projection, active set                            |
// | CONJUGATE_GRADIENT    | any goals          | projection, active set                            |
//
// (1) rows: the goal can be written as residuals; every kind but CALLBACK.
// (2) POSITION, DIRECTION, ORIENTATION, POSE and AIM goals, without bands for rotations; no prior; no mimic joint above a
//     goal. POISE_ERROR_UNSUPPORTED otherwise.
//     FABRIK: POSITION goals alone, and no slides above a goal but those of a root that is free in all directions.
#ifndef POISE_SOLVE_H
#define POISE_SOLVE_H

#include <poise/constraint.h>
#include <poise/objective.h>

#ifdef __cplusplus
extern "C" {
#endif

// The methods: the table above.
typedef enum poise_method {
    POISE_METHOD_AUTO = 0,
    POISE_METHOD_GRADIENT_DESCENT,
    POISE_METHOD_JACOBIAN_TRANSPOSE,
    POISE_METHOD_PSEUDO_INVERSE,
    POISE_METHOD_DAMPED_LEAST_SQUARES,
    POISE_METHOD_SELECTIVELY_DAMPED,
    POISE_METHOD_PRIORITY,
    POISE_METHOD_CCD,
    POISE_METHOD_BWCD,
    POISE_METHOD_FABRIK,
    POISE_METHOD_LEVENBERG_MARQUARDT,
    POISE_METHOD_BFGS,
    POISE_METHOD_LBFGS,
    POISE_METHOD_TRUST_REGION,
    POISE_METHOD_NEWTON,
    POISE_METHOD_NEWTON_PROJECTED = POISE_METHOD_NEWTON, // as it was called
    POISE_METHOD_CONJUGATE_GRADIENT,
    POISE_METHOD_COUNT
} poise_method;

// A short lower-case name such as "levenberg_marquardt"; "unknown" outside the enumeration.
static inline const char *poise_method_name(poise_method method)
{
    return poise_name(POISE_TYPE_METHOD, (int)method);
}

// How a solve ended.
typedef enum poise_outcome {
    POISE_OUTCOME_REACHED = 0, // every goal is met to its tolerance, or the cost fell below cost_tolerance
    POISE_OUTCOME_CLOSEST,     // no direction within the limits lowers the cost: provably the closest pose nearby (1)
    POISE_OUTCOME_STALLED,     // steps no longer lower the cost, but that is not proved to be the minimum
    POISE_OUTCOME_BUDGET,      // the iterations were used up
    POISE_OUTCOME_INFEASIBLE,  // no pose was found that satisfies every constraint: this one breaks them least
    POISE_OUTCOME_COUNT
} poise_outcome;
// (1) Also where all goals are met but POSTURE and SMOOTHNESS, which pull on what the others leave free and are hardly ever
//     met exactly: report.reason says so, and worst_length and worst_angle, in which they do not count, are within the
//     tolerances. A pull that is not small beside the other goals keeps them from their targets: lower its weight, or give
//     it a level of its own (PRIORITY).

// A short lower-case name such as "reached".
static inline const char *poise_outcome_name(poise_outcome outcome)
{
    return poise_name(POISE_TYPE_OUTCOME, (int)outcome);
}

// Why a solve ended so. Each belongs to one outcome, but for the first.
typedef enum poise_why {
    POISE_WHY_NONE = 0,           // nothing was solved
    POISE_WHY_REACHED,            // REACHED: every goal is met
    POISE_WHY_CLOSEST,            // CLOSEST: no direction within the limits comes closer
    POISE_WHY_PULLED,             // CLOSEST: of the sum; soft goals (POSTURE, SMOOTHNESS) pull as well
    POISE_WHY_HELD,               // CLOSEST: every goal is met but the soft ones
    POISE_WHY_CONSTRAINED,        // CLOSEST: a constraint is in the way
    POISE_WHY_CONSTRAINED_PULLED, // CLOSEST: of the sum; constraints are in the way and soft goals pull
    POISE_WHY_LEVELS,             // CLOSEST: no level of priority comes closer without disturbing one above
    POISE_WHY_STALLED,            // STALLED: steps no longer change the cost
    POISE_WHY_LIMITS,             // STALLED: an arm reaches the goal but for its limits; no way within them was found
    POISE_WHY_BESIDE,             // STALLED: an arm comes so near the goal that a way to it may have been missed
    POISE_WHY_REFUTED,            // STALLED: no small step comes closer, but a longer one does
    POISE_WHY_REACHING,           // STALLED: FABRIK's rounds no longer come closer
    POISE_WHY_MOVED_INSIDE,       // STALLED: the method left the limits; its answer was moved back inside
    POISE_WHY_OVERFLOW,           // STALLED: the cost at the start is too large to represent
    POISE_WHY_BELOW_ZERO,         // STALLED: the energy of a CALLBACK goal is below 0
    POISE_WHY_BUDGET,             // BUDGET: the iterations were used up
    POISE_WHY_NO_ITERATIONS,      // BUDGET: none were allowed
    POISE_WHY_STEP,               // BUDGET: poise_step took its one step
    POISE_WHY_INFEASIBLE,         // INFEASIBLE: no configuration was found that holds every constraint
    POISE_WHY_COUNT
} poise_why;

// A short lower-case name such as "pulled".
static inline const char *poise_why_name(poise_why why)
{
    return poise_name(POISE_TYPE_WHY, (int)why);
}

// In words, such as "every goal is met".
POISE_API const char *poise_why_text(poise_why why);

// What one iteration did, for plots and debugging.
typedef struct poise_trace {
    double cost;     // after the iteration; of all parts
    double gradient; // largest component of the projected gradient before it
    double damping;  // lambda, trust radius or step length, as the method has it
    double step;     // largest component of the step tried
    bool accepted;   // the step was kept; FABRIK and AUTO's searches keep all steps: there it means closer than before
    bool exact;      // the exact Hessian was used (AUTO, TRUST_REGION, NEWTON)
} poise_trace;

// Where a solve begins. The defaults, WARM and no restarts, are for motions: a solve goes downhill from q and may end in a
// closest pose although another start would reach the goals. For a target that may be anywhere set restarts to 20 and start
// to COLD: the start is tried first, others only while goals are missed.
typedef enum poise_start {
    POISE_START_WARM = 0, // q is near the answer: the last frame, the last target
    POISE_START_COLD // q may be far off: a free root is aligned with the markers first, and the first steps are cautious
} poise_start;

// Options of AUTO on robot arms.
typedef struct poise_arm_options {
    bool seed_table; // false: restarts begin near the target first, by a table of 64 poses (2)
} poise_arm_options;

// Options of the methods over residual rows.
typedef struct poise_row_options {
    int max_rows; // 0: most residual rows of the goals of one call; 0 for 6 per joint and 1 per dof
    double clamp; // 0: longer residuals of a goal are shortened to this before a step; 0 for none
} poise_row_options;

// Options of LBFGS.
typedef struct poise_lbfgs_options {
    int memory; // 8: steps remembered
} poise_lbfgs_options;

// Options of TRUST_REGION.
typedef struct poise_trust_region_options {
    int band;            // 8: half-bandwidth of the preconditioner
    double cg_tolerance; // 0.1: where the conjugate gradients stop
    int cg_iterations;   // 0: most of them for one step; 0 for 4 nv + 10
    bool nearest;        // false; true: replace the scaled Hessian by the nearest positive semidefinite matrix, O(nv^3)
} poise_trust_region_options;

// What solves, a method as a row of functions: <poise/method.h>, <poise/papers.h>.
typedef struct poise_method_engine poise_method_engine;

// Fill with poise_solver_options_default(), change what you like.
typedef struct poise_solver_options {
    poise_method method;               // AUTO
    const poise_method_engine *engine; // NULL: that of `method`, which AUTO, LEVENBERG_MARQUARDT and PRIORITY have; those
                                       // of the others are poise_papers_engine(method). It must stay valid.
    poise_start start;                 // WARM
    bool use_limits;                   // true; false: limits are ignored, and may be exceeded
    int max_iterations;                // 100; for each start
    int restarts;                      // 0: most restarts from elsewhere while goals are missed
    uint64_t seed;                     // 1: seed of the restarts
    double cost_tolerance;             // 0: stop when the cost is at or below this
    double gradient_tolerance;         // 1e-9: stop when the projected gradient is below this, relative to its scale
                                       // (1)
    double position_tolerance;         // 1e-6: a length error below this counts as met
    double rotation_tolerance;         // 1e-6: an angle below this counts as met
    double prior;                      // 0: weight of a pull towards the start, as a POSTURE goal of that weight
    double step_limit;                 // infinity: longest step of any coordinate in one iteration
    double damping;                    // 0: initial lambda, step length or trust radius (3); 0 lets the method choose
    int coupled_goals;                 // 2: RELATIVE and CENTER_OF_MASS goals that a call may have
    const bool *locked;                // NULL [nv]: a locked coordinate keeps its value, a quaternion as a whole.
                                       // Must stay valid.
    poise_trace *trace;                // NULL [trace_capacity]: where to record iterations; must stay valid
    int trace_capacity;                // 0: records that fit; later iterations are not recorded
    poise_arm_options arm;             // AUTO on robot arms
    poise_row_options rows;            // the methods marked "rows" above
    poise_lbfgs_options lbfgs;         // LBFGS
    poise_trust_region_options trust_region; // TRUST_REGION
    poise_constraint_options constraints;    // memory to reserve for poise_solve_within
} poise_solver_options;
// (1) |projected gradient_i| <= gradient_tolerance * sqrt(2 cost) * sqrt(H_ii of Gauss-Newton), for every i: the cosine
//     between the residuals and what coordinate i can do about them. The cost tells it from 0 down to about 1e-8; below
//     1e-9, AUTO judges the last steps by the gradient, which ends near 1e-15.
// (2) The caller's start is always tried first and never replaced. Which of several answers a restart finds depends on it.
// (3) Of TRUST_REGION, in units of sqrt(2 cost): about the share of the residual that the first step may change.

// The defaults given beside the members.
static inline poise_solver_options poise_solver_options_default(void)
{
    poise_solver_options options;
    poise_init(POISE_TYPE_SOLVER_OPTIONS, &options, sizeof options);
    return options;
}

// Numbers here and in a trace are finite: a value too large to represent, such as the cost of a target at 1e300, is
// DBL_MAX.
typedef struct poise_report {
    poise_outcome outcome;  // was the goal reached?
    poise_why why;          // and why
    const char *reason;     // in words: poise_why_text(why)
    int iterations;         // of all starts
    int evaluations;        // of the objective
    int restarts;           // used
    int traced;             // records written to options.trace
    int active_limits;      // coordinates at a limit
    int moved_joints;       // joints that started outside their limits
    double start_cost;      // at the start, after moving it inside the limits
    double cost;            // at the end, never above start_cost but where the start misses a goal that the answer meets (1)
    double gradient;        // largest component of the projected gradient at the end
    double distance;        // Euclidean length of the step from start to answer
    double worst_length;    // largest error of a goal in length units; goals without weight do not count
    double worst_angle;     // largest error of a goal in radians, likewise
    bool holds;             // every constraint holds; without any, true
    double clearance;       // least distance of a pair of shapes; DBL_MAX without any
    double closure;         // largest error of a loop, in length units or radians
    int active_constraints; // rows of constraints with less than 1e-6 to spare, loops not counted
    int blocking;           // the constraint broken most or, if all hold, with the least room. If none is near and goals
                            // are missed, the one that a pose which meets them breaks most; POISE_NONE: none
    int blocking_item;      // which pair of it, side of its polygon, or row
} poise_report;
// (1) Nor by methods that rank goals: PSEUDO_INVERSE takes soft ones where the others leave room, PRIORITY goes by levels; for
//     the sake of the first the sum may rise.

// Scratch memory of solves over one model: opaque.
typedef struct poise_solver poise_solver;

// POISE_OK when a solver of this model can be made with these options; else ARGUMENT or UNSUPPORTED, and `error` (may be NULL)
// names the option.
POISE_API poise_status poise_solver_options_check(const poise_model *model, const poise_solver_options *options,
                                                  poise_error *error);

// A solver for `model`, which must outlive it; the options are copied. One allocation from `allocator` (NULL: malloc).
POISE_API poise_status poise_solver_create(const poise_model *model, const poise_solver_options *options,
                                           const poise_allocator *allocator, poise_solver **solver, poise_error *error);
POISE_API void poise_solver_destroy(poise_solver *solver); // NULL is allowed

// From now on coordinates stay between these numbers (nq each), too, as those of a joint that may go only so far in a frame;
// NULL: within the limits alone, as before. For solves of a whole tree: what AUTO solves as an arm or part by part does not look
// at them, and quaternions have none. ARGUMENT: a lower number above its upper one, or NaN.
POISE_API poise_status poise_solver_narrow(poise_solver *solver, const double *lower, const double *upper,
                                           poise_error *error);

// Improve q (nq numbers) for these goals. `report` may be NULL. On any status but POISE_OK q is untouched, and `error` names
// the invalid or unsupported goal, or the coordinate of q that is not finite.
POISE_API poise_status poise_solve(poise_solver *solver, const poise_goal *goals, int count, double *q, poise_report *report,
                                   poise_error *error);

// The same with constraints. report.holds says whether they hold in the q that comes back. A start that satisfies them is
// never replaced by a q of higher cost. If no such q is found the outcome is INFEASIBLE, q is the one that breaks them
// least, and report.blocking names the constraint. AUTO only; options.constraints reserves the memory.
//
// An answer called CLOSEST may stop up to 1e-6 short of a constraint that is in the way (report.active_constraints counts
// those): of 1,476 such answers 83 stopped 1e-7 short. Clearances hold with 1e-9 to spare, so that another program's rounding
// agrees; a start is pushed 1e-7 beyond them. Loops close to options.constraints.closure_tolerance. All three are for a robot
// in metres; one in millimetres, which is seen by its size, is treated as the same robot in metres (poise_constraint_holds).
// Restarts redraw the joints that move a goal that is missed or a shape in the way.
POISE_API poise_status poise_solve_within(poise_solver *solver, const poise_goal *goals, int count,
                                          const poise_constraint *constraints, int constraint_count, double *q,
                                          poise_report *report, poise_error *error);

// The room that constraint i of the last call, which must still be valid, has at the answer: the least of its pairs or
// sides, or minus the largest error of a loop. *item (may be NULL) is that pair, side or row.
POISE_API double poise_solver_constraint_room(poise_solver *solver, int constraint, int *item);

// All distinct answers to one POSE goal on a chain of revolute and prismatic joints, locked ones of any kind aside, as
// far as options.restarts further searches find them; capacity 1 gives the one nearest to q_start. `solutions` takes up
// to `capacity` (>= 1) configurations of nq numbers, each within the limits and to the tolerances, nearest to q_start
// (not changed) first; *count says how many. Two answers are distinct when some joint differs by more than 1e-3 radians,
// whole turns aside (for a slide, 1e-3 of 0.3 times the arm's length); hinges are turned back by whole turns next to
// q_start. An arm with more joints than the goal needs has infinitely many: these are samples then. `report` (may be
// NULL) describes the first; with none found *count is 0, the first configuration in `solutions` is the closest pose, and
// `report` describes that. POISE_ERROR_UNSUPPORTED for other goals, joints or methods.
POISE_API poise_status poise_solve_all(poise_solver *solver, const poise_goal *goal, const double *q_start,
                                       double *solutions, int capacity, int *count, poise_report *report,
                                       poise_error *error);

// ---- What is in the way --------------------------------------------------------------------------------------------------

// What keeps a solve from its goals: bits.
typedef enum poise_blocker {
    POISE_BLOCKED_BY_SHAPES = 1,     // "shapes": clearances
    POISE_BLOCKED_BY_BALANCE = 2,    // "balance": balances
    POISE_BLOCKED_BY_LOOPS = 4,      // "loops": constraints of any other kind
    POISE_BLOCKED_BY_LIMITS = 8,     // "limits": limits of joints
    POISE_BLOCKED_TOGETHER = 16,     // "together": none of these alone: the goals are met only without all of them
    POISE_BLOCKED_BY_SOFT_GOALS = 32 // "soft goals": POSTURE and SMOOTHNESS goals
} poise_blocker;

// A short lower-case name such as "shapes"; "unknown" for other numbers.
static inline const char *poise_blocker_name(poise_blocker blocker)
{
    return poise_name(POISE_TYPE_BLOCKER, (int)blocker);
}

// Which kinds of limits and constraints keep `solver` from goals that it misses: those without which a solve from q_start (nq
// numbers), with the solver's options and up to 8 of its restarts, meets them all. `sought` has bits of the kinds to leave
// out, one at a time; kinds that are not there are not tried, limits only if nothing else was found. *blockers is 0 where
// the goals are missed in any case. Each kind costs about as much as the solve. AUTO only. Memory comes from `allocator`
// (NULL: malloc) and is released before the call returns.
POISE_API poise_status poise_solve_blockers(const poise_solver *solver, const poise_goal *goals, int count,
                                            const poise_constraint *constraints, int constraint_count, const double *q_start,
                                            unsigned sought, const poise_allocator *allocator, unsigned *blockers,
                                            poise_error *error);

// ---- Control -------------------------------------------------------------------------------------------------------------

// Limits of a control step. Fill with poise_step_options_default(), change what you like. Both arrays must stay valid
// during the call.
typedef struct poise_step_options {
    const double *velocity;     // NULL: largest, nv numbers > 0, per second; infinity or no array: none
    const double *acceleration; // NULL: the same, per second squared
    double gain;                // 1: share of the errors that one step removes, in (0, 1]
} poise_step_options;

// The defaults given beside the members.
static inline poise_step_options poise_step_options_default(void)
{
    poise_step_options options;
    poise_init(POISE_TYPE_STEP_OPTIONS, &options, sizeof options);
    return options;
}

// One step of `dt` seconds towards the goals, for control loops: q (nq numbers) and v (nv, per second; zeros at rest) come
// in as they are and go out as they should be next, q_next = retract(q, v_next dt). It takes microseconds, with a bound on
// the work: one damped Gauss-Newton step of all goals (options.damping, or 1e-4), re-solved when a dof meets the end of its
// interval, so that the others make up for it. Where that step would be far too long, as along a limb that is stretched
// towards a goal out of reach, the exact Hessian takes over: it comes to rest at a closest pose.
//
//   |v_next| <= velocity     |v_next - v| <= acceleration dt     lower <= q_next <= upper
//
// all hold, and keep holding, also where dt differs from call to call: a dof approaches its limit only as fast as it can
// still stop there. It approaches its target in the same way, so a goal that leaps is reached without overshoot. Moving
// goals are followed without lag, because the solver remembers where they were, as long as q is what its last step
// returned; those out of reach with the lag of braking.
//
// If the limits cannot all hold (v is too fast, or the limits have changed since the last step), position comes
// first, then acceleration, then velocity: a dof that is too fast brakes. A dof that starts outside its limits is brought
// back without a jump and counted in report.moved_joints. At the edge of a swing ellipse the ellipse and the velocities
// hold, accelerations need not. The components of v are those of steps (<poise/kinematics.h>): about the axes of its body
// for a quaternion; a rotation vector that takes its other form takes v along.
//
// POSTURE goals, options.prior and options.locked count as in poise_solve; iterations, restarts and step_limit do not. With
// a report the goals are measured at the new q, which costs a further sweep; its outcome is REACHED or, for a step on the
// way, BUDGET. AUTO and LEVENBERG_MARQUARDT only, else UNSUPPORTED. On any status but POISE_OK q and v are untouched.
POISE_API poise_status poise_step(poise_solver *solver, const poise_goal *goals, int count, double dt,
                                  const poise_step_options *options, double *q, double *v, poise_report *report,
                                  poise_error *error);

// ---- Answers -------------------------------------------------------------------------------------------------------------

// The error of goal i at the answer of the last call, whose goals must still be valid.
POISE_API poise_goal_error poise_solver_goal_error(poise_solver *solver, int goal);

// World poses of all bodies at that answer, valid until the next call; NULL without a solver.
POISE_API const poise_kinematics *poise_solver_kinematics(poise_solver *solver);

// Does the answer of the last call meet goal i to the tolerances of the solver? What has no weight does not count, and
// POSTURE and SMOOTHNESS goals, which only ever pull, are always met. False for a goal that is not there.
POISE_API bool poise_solver_goal_is_met(poise_solver *solver, int goal);

// Is coordinate i of the last answer at a limit? -1 at the lower, 1 at the upper or at the edge of a swing ellipse, 0
// inside.
POISE_API int poise_solver_active_limit(const poise_solver *solver, int coordinate);

#ifdef __cplusplus
}
#endif

#endif
