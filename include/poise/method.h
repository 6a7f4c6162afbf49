// Poise: write your own method.
//
// A method improves a configuration until it is done. All that methods share is the library's: starts and restarts, limits,
// when to stop, what to count, the report. What is left to write is a row of functions, the *engine*:
//
//   static poise_outcome run(poise_method_run *run)                // steepest descent, as short as it gets
//   {
//       const poise_method_calls *call = run->call;
//       poise_outcome outcome;
//       while (!call->is_done(run, true, &outcome)) {
//           for (int i = 0; i < run->nv; ++i) {
//               run->step[i] = -0.1 * run->projected[i];
//           }
//           call->step_within(run, run->at.q, run->step, run->scratch);
//           bool is_lower = call->evaluate(run, run->scratch, POISE_LEVEL_HESSIAN) < run->at.cost;
//           if (is_lower) {
//               call->accept(run);
//           }
//           bool more = call->count(run, 0.1, 0.0, is_lower, false);
//           if (!is_lower || !more) {
//               return is_lower ? POISE_OUTCOME_BUDGET : call->stuck(run, false);
//           }
//       }
//       return outcome;
//   }
//   static void *lay_out(const poise_method_run *run, poise_method_memory *memory)
//   {
//       return run->call->take(memory, (size_t)run->nq, sizeof(double));
//   }
//   static const poise_method_engine mine[] = {{.name = "mine", .lay_out = lay_out, .run = run}};
//   options.engine = mine;
//
// The methods of <poise/papers.h> are written so. A run belongs to the thread of its solver; its pointers are good until the
// call that handed it out returns.
#ifndef POISE_METHOD_H
#define POISE_METHOD_H

#include <poise/solve.h>

#ifdef __cplusplus
extern "C" {
#endif

// A problem on its way to an answer; below.
typedef struct poise_method_run poise_method_run;
typedef struct poise_method_memory poise_method_memory; // where scratch memory comes from: opaque

// A configuration, and what its evaluation found.
typedef struct poise_method_point {
    const double *q;                    // nq
    double cost;                        // f(q), with the prior
    const double *gradient;             // nv
    poise_objective *objective;         // evaluated there: Hessians and products with them
    const poise_kinematics *kinematics; // poses of the bodies there
    poise_vec3 reference;               // a point near the skeleton; see calls.place
    const poise_vec3 *origins;          // by body: its origin, relative to that
} poise_method_point;

// What a step may do with one component.
typedef struct poise_method_bound {
    double lower, upper; // of the coordinate behind it; infinite for quaternions, and where limits are not used
    int q;               // that coordinate; -1 for quaternions
    bool locked;         // it does not move
    bool keeps_form;     // part of a rotation vector of which another part is locked: it is not exchanged for its twin
} poise_method_bound;

// ---- Residual rows -------------------------------------------------------------------------------------------------------
//
// Methods over rows step for J x = e, level by level, in the dofs and directions that limits and levels above leave. An
// engine of that kind has no `run`: it says which goals form a level, and how to step for one.

// Which goals form a level.
typedef enum poise_row_levels {
    POISE_ROWS_ONE = 0,  // all goals are one level
    POISE_ROWS_POSTURE,  // POSTURE and SMOOTHNESS goals, and the prior, are a level below all others
    POISE_ROWS_PRIORITY, // by goal.priority, 0 first; the prior is the last
} poise_row_levels;

// The rows of one level, in a step.
typedef struct poise_method_rows {
    int level;            // its number, from 0
    int count, nv;        // rows, columns
    const double *J;      // count x nv, as the goals have it
    const double *wanted; // count: what the goals ask for, -residual, each part clamped to options.rows.clamp
    const int *part;      // count: a number for the part of a goal (position, rotation, ..) that a row belongs to
    const bool *held;     // nv: columns that are left out
    double *work;         // nv: scratch
    double *sum;          // nv: scratch

    // After calls.factor: J without those columns and without directions that levels above use is sum of s_k u_k v_k^T.
    int rank;            // singular values above rounding
    const double *s;     // by k: s_k, descending
    const double *alpha; // by k: u_k . e, e what is still to be removed
    const double *left;  // u_k: component i at [i width + k]
    const double *right; // v_k, likewise
    int width;           // of both

    double damping; // for the caller to set: what a trace shows
    void *engine;   // the library's
} poise_method_rows;

// What a method over rows is: its levels, and its step for one of them.
typedef struct poise_row_method {
    poise_row_levels levels; // which goals form one

    // Add the step for one level to x (nv numbers). False: the numbers are not finite. NULL: the damped inverse, as PRIORITY
    // takes it.
    bool (*step)(const poise_method_run *run, poise_method_rows *rows, double *x);
} poise_row_method;

// ---- Motions of a joint --------------------------------------------------------------------------------------------------

// What one motion of a joint is.
typedef enum poise_motion_kind {
    POISE_MOTION_TURN = 0,
    POISE_MOTION_SLIDE,
    POISE_MOTION_VECTOR, // a rotation vector of three numbers
    POISE_MOTION_SWING,  // one of two, about x and y
    POISE_MOTION_QUATERNION,
    POISE_MOTION_CURVE
} poise_motion_kind;

#define POISE_MOST_MOTIONS 6 // of a joint

// What a joint does is a sequence of these; all of its turns pass through the origin of its body.
typedef struct poise_joint_motion {
    poise_motion_kind kind; // which
    int q, v;               // first of its coordinates, and of its components of a step
    poise_vec3 axis;        // TURN, SLIDE: in the world, at the current point
    double frame[9];        // VECTOR, SWING: world rotation before it, row-major; QUATERNION: after it
    poise_vec3 vector;      // VECTOR, SWING: its value
} poise_joint_motion;

// ---- Calls ---------------------------------------------------------------------------------------------------------------

// What the library does for all methods.
typedef struct poise_method_calls {
    // Memory for an array, in engine.lay_out. NULL while it is only counted.
    void *(*take)(poise_method_memory *memory, size_t count, size_t element);

    // Evaluate at q, into run->trial, and count that. Returns the cost; infinite where an evaluation overflows.
    double (*evaluate)(poise_method_run *run, const double *q, poise_level level);
    // Exchange run->trial and run->at: the trial is the current point now.
    void (*accept)(poise_method_run *run);

    // q_out = retract(q, step) within the limits, exactly; what is locked keeps its value. q_out is not q.
    void (*step_within)(const poise_method_run *run, const double *q, const double *step, double *q_out);
    // The gradient without what limits take from descent, into run->projected. Returns its largest component.
    double (*project)(poise_method_run *run);
    // Is the component locked, or at a limit that descent would leave?
    bool (*is_held)(const poise_method_run *run, int component);
    // A scale for steps: nv numbers > 0, near the diagonal of the Gauss-Newton Hessian at the current point.
    void (*metric)(poise_method_run *run, double *D);

    // May the method end here? REACHED by the goals or the cost, CLOSEST by the gradient, which it projects. `afresh`: with
    // the diagonal of this very point, for methods that creep or go far.
    bool (*is_done)(poise_method_run *run, bool afresh, poise_outcome *outcome);
    // How a run ends that finds nothing lower. `is_flat`: its last step would have changed the cost by rounding alone.
    poise_outcome (*stuck)(poise_method_run *run, bool is_flat);
    // Count an iteration and record it. False: the budget is used up.
    bool (*count)(poise_method_run *run, double damping, double step, bool accepted, bool exact);

    // Edges of swing ellipses, which are no boxes. An edge is active when a swing stands at it and descent points out.
    int (*project_on_edges)(const poise_method_run *run, double *x); // remove parts across active ones; their number
    int (*stiffen_edges)(poise_method_run *run, double spring);      // add to both Hessians the curvature along them, and
                                                                     // a spring across; once for each point
    bool (*edge_leads_inwards)(const poise_method_run *run, int component); // from its bound, along the active edge
    double (*room_of_edges)(const poise_method_run *run, const double *base,
                            const double *step);                     // steps that fit, after base
    int (*clip_to_edges)(const poise_method_run *run, double *step); // stop each swing at its edge; how many were
    void (*keep_in_edges)(const poise_method_run *run, double *q);   // bring swings of q inside

    // The band of a Hessian at the current point: row i holds its entries (i, i - half) .. (i, i), those left of column 0
    // being 0.
    void (*hessian_band)(const poise_method_run *run, poise_hessian kind, int half, double *rows);

    // In row_method.step: see poise_method_rows. False: numbers that are not finite.
    bool (*factor)(poise_method_rows *rows);
    // Take from x its parts along directions that levels above use.
    void (*project_rows)(const poise_method_rows *rows, double *x);

    // A point of a body at run->at, relative to run->at.reference: digits are not lost where a skeleton stands far off.
    poise_vec3 (*place)(const poise_method_run *run, int body, poise_vec3 local);
    // Motion number `i` of a joint, from the root outwards. False: it has fewer.
    bool (*joint_motion)(const poise_method_run *run, int joint, int i, poise_joint_motion *motion);
    // The derivative of a goal's loss by the squared error.
    double (*loss_slope)(const poise_goal *goal, double square);
} poise_method_calls;

// ---- Runs and engines ----------------------------------------------------------------------------------------------------

// A problem on its way. In engine.lay_out only call, model, nq, nv and options are there.
struct poise_method_run {
    const poise_method_calls *call;      // what the library does for a method
    const poise_model *model;            // the skeleton
    int nq;                              // numbers of a configuration
    int nv;                              // numbers of a step
    const poise_solver_options *options; // of the solver
    const poise_goal *goals;             // what is asked for
    int goal_count;                      // how many
    const poise_method_bound *bounds;    // nv
    bool has_swings;                     // limited by ellipses
    poise_method_point at, trial;        // the current point, evaluated at POISE_LEVEL_HESSIAN, and the last one tried
    const double *q_start;               // where the solve begins
    const double *q_begin;               // where this run began
    double *projected;                   // nv: see calls.project
    const double *diagonal;              // nv: of the Gauss-Newton Hessian at the current point or one before
    double *step;                        // nv: for the method's step
    void *scratch;                       // what engine.lay_out gave
    poise_report *report;                // of the solve; a method may set `why`
    poise_solver *solver;                // whose run it is
};

// A method.
struct poise_method_engine {
    const char *name; // for messages

    // Take memory and return it, as run->scratch; called twice, first to count. NULL: none is needed.
    void *(*lay_out)(const poise_method_run *run, poise_method_memory *memory);
    // Improve the current point. Returns how that ended; run->report->why is BUDGET unless it is set.
    poise_outcome (*run)(poise_method_run *run);
    // Can it serve these goals? NULL: any.
    poise_status (*check)(const poise_method_run *run, poise_error *error);
    // Instead of the three: a method over residual rows.
    const poise_row_method *rows;
};

// Take goals and start as poise_solve does, without solving: for callers that go on by themselves. *run is good until the
// next call with this solver; run->q_start is the start within the limits. Nothing is evaluated yet.
POISE_API poise_status poise_method_begin(poise_solver *solver, const poise_goal *goals, int count, const double *q,
                                          poise_method_run **run, poise_error *error);

// Restart number `number` (from 1): a configuration around the start, within the limits, from options.seed alone.
POISE_API void poise_method_restart(const poise_method_run *run, int number, double *q);

#ifdef __cplusplus
}
#endif

#endif
