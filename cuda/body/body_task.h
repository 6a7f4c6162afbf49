// Goals on a body, the fast way: what the host (body_tables.c, cuda_body.c), the pass (body_pass.h) and the kernels agree
// on.
//
// Every goal is taken as markers: points of bodies, and directions of them (goal/orientation.c). A POSITION is a point, a
// DIRECTION one direction, an ORIENTATION the three axes of a frame with half its weight each, a POSE a point and three
// axes:
//
//   w/2 |x - t|^2        w/2 |d - u|^2        w (1 - cos(phi)) = w/4 sum |d_k - u_k|^2
//
// The model as the pass reads it: joints depth first, each with its steps; numbers once in single and once in double
// precision. State of a problem under way is one array of numbers, whose parts `body_layout` names.
#ifndef POISE_CUDA_BODY_TASK_H
#define POISE_CUDA_BODY_TASK_H

#include <poise/cuda.h>

// One call: problems in device memory.
typedef struct pz_cuda_tree_batch {
    const poise_vec3 *targets;       // goal_count for each problem
    const poise_pose *poses;         // the same where some goals are no points: instead of targets
    const double *weights;           // goal_count for each problem, or NULL: those of the goals
    double *q;                       // nq each: start in, answer out
    poise_cuda_tree_answer *answers; // NULL, or one for each problem
    int count;
} pz_cuda_tree_batch;

#define BODY_WORLD    (-2) // body_joint.from: hangs on the world
#define BODY_FOLLOWS  (-1) // on the joint before it
#define BODY_STEPS    6
#define BODY_JOINT    12 // numbers of a joint: columns of its constant turn, its shift
#define BODY_DOF      3  // of a dof: lower, upper, metric; a locked dof has the metric -1
#define BODY_MARKER   6  // of a marker: where it is in its body, weight, its share of the weight of its goal, its loss
#define BODY_SWING    2  // of a swing: 1/A^2, 1/B^2
#define BODY_SOLVED   8  // of a dof in the sweep up: W, w, Delta
#define BODY_SUMS     48 // of a chain that hangs on another
#define BODY_PARTS    8  // of a chain: its parts of sums over all chains
#define BODY_FRAME    12
#define BODY_VELOCITY 6

typedef struct body_joint {
    int16_t from;                     // BODY_WORLD, BODY_FOLLOWS, or the slot of its parent, which has several children
    int16_t slot;                     // its own, or -1. The first joint always has slot 0.
    int16_t q, v;                     // its first coordinate and dof
    int16_t marker_begin, marker_end; // its points,
    int16_t arrow_end;                // and directions, which follow them
    int16_t swing;                    // number of its ellipse, or -1
    int8_t steps[BODY_STEPS];         // pz_step_kind
    int8_t step_count, slides, dofs;
    int8_t has_quaternion; // its last three dofs
    int8_t shortens;       // numbers of a rotation vector without limits, which may be shortened by whole turns; or 0
    int8_t has_turn;       // the constant turn is not the identity
} body_joint;

// Joints in a row, each the only child of the one before. Chains of one level hang on chains of the level before, those of
// one joint side by side; no two of a level depend on each other.
typedef struct body_chain {
    int16_t begin, end;             // joints
    int16_t child_begin, child_end; // chains on its last joint
    bool is_limb;                   // there are none, and it has goals
} body_chain;

// What of its goal's target a marker is compared with.
typedef enum body_part { BODY_POINT = 0, BODY_AXIS_X, BODY_AXIS_Y, BODY_AXIS_Z, BODY_DIRECTION } body_part;

// Where the parts of a problem's state begin.
typedef struct body_layout {
    int q, trial;        // nq: the current point; the one to evaluate
    int step;            // nv
    int axis;            // 3 nv: direction of each dof
    int place;           // 3 by joint: its origin
    int point, target;   // 3 by marker
    int weight;          // by marker
    int solved;          // BODY_SOLVED by dof
    int edge;            // 2 by swing: normal of an active edge, or 0
    int held;            // nv: step of a dof that is held at a bound; BODY_FREE
    int frame, velocity; // by slot
    int sums, parts;     // by chain
    int base;            // 3: where the first joint is without motion, from the mean of the targets; 3: in its own axes
    int pull;            // nv: weights of what pulls on coordinates, 1: their least cost, 1: the usual error of a clip
                         // (poise_cuda_calm); nothing where none does
    int home;            // nq: to where
    int size;
} body_layout;

// How restarts choose a coordinate: a value; a distance from the start; a place in the turn around the start.
typedef enum body_start { BODY_START_AT = 0, BODY_START_AROUND, BODY_START_IN_TURN } body_start;

// Everything about the problems but targets, weights and starts; pointers are the device's.
typedef struct body_task {
    const body_joint *joints;
    const body_chain *chains;                       // level by level
    const int16_t *levels;                          // where each begins, and the end
    const int16_t *goal;                            // by marker, which are sorted by joint
    const int8_t *part;                             // by marker: body_part
    const float *single;                            // numbers: joints, dofs, markers, swings
    const double *numbers;                          // the same
    const double *starts;                           // restarts x nv
    const int8_t *start_kind;                       // by dof: body_start
    int dof_numbers, marker_numbers, swing_numbers; // where they begin in `single` and `numbers`
    int number_count;
    int joint_count, chain_count, level_count, marker_count, swing_count, slot_count, nq, nv;
    int goal_count;
    body_layout at;
    double root[3];   // where the first joint is without motion: `base` is relative to it
    bool is_afloat;   // the first joint begins with three slides: its coordinates are relative to the targets
    bool can_align;   // and is free and unlocked: it can be laid onto the markers
    bool has_arrows;  // some goals have directions
    bool has_losses;  // some goals have one (body_state.h),
    bool has_saddles; // and some that of Geman & McClure, which lets markers go: the cost has saddles
    bool is_cold;
    bool has_limbs; // tips at the ends of two chains or more: a run that meets some of them searches on for the others
    // POSTURE and SMOOTHNESS of clips: weights by dof of the posture `rest` and of the last frame; the latter's goal
    const double *rest, *rest_pull, *steady_pull;
    bool has_pulls;
    int steady_goal; // or -1
    double steady_weight;
    double size; // of the body: root mean square of markers about their mean
    double tolerance, cost_tolerance, gradient_tolerance;
    double axis_scale, direction_scale; // |d - u|^2 times this is at most tolerance^2 where the angle is within its own
    int max_iterations, restarts;
} body_task;

// Which runs of a problem, by number, one launch of the search takes: of all problems, or of those that are open.
typedef struct body_runs {
    int begin, end;
    bool of_open;    // those in body_work.open,
    int least, most; // if there are so many of them; else there is nothing to do
} body_runs;

typedef struct body_counters {
    unsigned long long next; // runs begun
    int open;                // problems that no run has met so far
    int next_finish;         // problems, or clips, whose finish was begun
} body_counters;

// Where the runs of a problem have come to.
typedef struct body_best {
    int won;       // the first run, by number, that met the goals in single precision; INT_MAX: none
    int run;       // whose end is kept
    unsigned lock; // of the two below and the end
    float cost;
    float start_cost; // of the problem, by its first run
} body_best;

// Clips: frames that follow each other, problems clips[i] to clips[i + 1] - 1; NULL: every problem is on its own.
typedef struct body_clips {
    const int *begin;
    const poise_cuda_calm *calm; // by clip, or NULL
    int count;
} body_clips;

// Device memory that calls share, for `capacity` problems.
typedef struct body_work {
    body_counters *counters;
    body_best *best;
    float *ends;      // nq for each: the end of the best run
    uint16_t *passes; // restarts + 1 for each
    int *open;        // problems, counters->open of them
    void *state;      // of problems under way
    int capacity;
} body_work;

// ---- Tables --------------------------------------------------------------------------------------------------------------

// A task and the arrays that its pointers are to, made from a model, goals and options; in host memory.
typedef struct body_tables {
    body_task task;
    body_joint *joints;
    body_chain *chains;
    int16_t *levels, *goal;
    float *single;
    double *numbers, *starts, *pulls; // pulls: rest, rest_pull, steady_pull
    int8_t *start_kind, *part;
    int number_count, swing_room;
} body_tables;

// Does the fast way serve these goals, with options that have been checked? If not, `why` says what it does not know.
// Clips may have a POSTURE and a SMOOTHNESS besides, and then are all that is served: *only_clips.
bool pz_body_serves(const poise_model *model, const poise_goal *goals, int goal_count, const poise_solver_options *options,
                    bool *only_clips, const char **why);

// POISE_OK, or POISE_ERROR_MEMORY with nothing made.
poise_status pz_body_tables_make(const poise_model *model, const poise_goal *goals, int goal_count,
                                 const poise_solver_options *options, body_tables *tables);
void pz_body_tables_free(body_tables *tables);

#endif
