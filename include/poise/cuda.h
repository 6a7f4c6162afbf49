// Poise: many problems at once on a CUDA device. A library of its own, poise_cuda, beside poise.
//
//   poise_cuda_options options = poise_cuda_options_default();
//   poise_cuda_create(model, &goal, &options, &cuda, &error);
//   poise_cuda_solve_poses(cuda, targets, q, answers, count);          // host memory
//   poise_cuda_queue_poses(cuda, targets, q, answers, count, stream);  // device memory, in order with other work
//
// **Arm poses.** One POSE goal on a chain of up to 16 revolute and prismatic joints (see solve.h, "Robot arms"); robot and
// goal are data, there is nothing to compile and nothing to warm up but the loading of the program. Searches run in single
// precision and are finished in double, where tolerances and limits are judged: what comes back as REACHED is met in double,
// and limits hold exactly. Chains of six or seven hinges have this fast way; others are searched in double throughout. A
// target that no search meets gets the closest pose, which is that of poise_solve: the same algorithm, in double, to the
// bit.
//
// The answer to a target depends on the target, its start and the options, never on the size of the batch or on what else is
// in it. It is not the answer of poise_solve to the bit where that is one of many. A batch of up to 12 in host memory goes
// to the host first, which gives the same answers to the bit, in microseconds: the device takes 50 of them for one target.
// What the host does not settle in a few searches goes on to the device.
//
// Device memory is taken when a poise_cuda is made, and no call takes any. A poise_cuda is used by one host thread at a
// time, and its calls on several streams must not overlap.
#ifndef POISE_CUDA_H
#define POISE_CUDA_H

#include <poise/batch.h>
#include <poise/expressive.h>

#ifdef __cplusplus
extern "C" {
#endif

// How many devices there are; 0 without a driver.
POISE_API int poise_cuda_device_count(void);

// Fill with poise_cuda_options_default(), change what you like.
typedef struct poise_cuda_options {
    poise_solver_options solver; // AUTO, with restarts 300; no trace, no seed table
    int device;                  // 0
    int capacity;                // 1 << 20: targets that are on the device at once; a larger batch goes in parts. About 50
                                 // bytes each, and 150 more with host memory
    bool host_memory;            // true: poise_cuda_solve_poses and poise_cuda_solve will be called
} poise_cuda_options;

// The defaults that stand beside the members.
POISE_API poise_cuda_options poise_cuda_options_default(void);

// How one target ended.
typedef struct poise_cuda_answer {
    poise_outcome outcome; // was the target met?
    int restarts;          // number of the search that met the target, 0 for the one from the start
    double cost;           // of the goal
    double length;         // distance from the target, in length units
    double angle;          // from the target, in radians
} poise_cuda_answer;

// Memory on the device for one model and one kind of goal: opaque.
typedef struct poise_cuda poise_cuda;

// For targets of `goal`, whose own target does not matter; its tolerance bands must be 0. `error` (may be NULL) says what is
// wrong: no such device (POISE_ERROR_DEVICE), not enough memory (POISE_ERROR_MEMORY), a goal or a chain that is not served
// (POISE_ERROR_UNSUPPORTED).
POISE_API poise_status poise_cuda_create(const poise_model *model, const poise_goal *goal, const poise_cuda_options *options,
                                         poise_cuda **cuda, poise_error *error);
POISE_API void poise_cuda_destroy(poise_cuda *cuda); // NULL is allowed

// Solve for `count` targets in host memory. q: count x nq numbers, starts in, answers out; answers: count of them, or NULL.
// Numbers that are not finite, or a rotation that is not a unit quaternion: POISE_ERROR_ARGUMENT, with nothing done.
POISE_API poise_status poise_cuda_solve_poses(poise_cuda *cuda, const poise_pose *targets, double *q,
                                              poise_cuda_answer *answers, int count);

// The same in device memory: queues the work on `stream` (a cudaStream_t; NULL for the default stream) and returns. Numbers
// are taken as they come: they must be finite, rotations unit quaternions. q outside the limits is moved inside.
POISE_API poise_status poise_cuda_queue_poses(poise_cuda *cuda, const poise_pose *targets, double *q,
                                              poise_cuda_answer *answers, int count, void *stream);

// Problems as a batch has them (batch.h), in host memory. Each has one goal, that of poise_cuda_create but for its target; a
// problem that has another gets POISE_ERROR_UNSUPPORTED as its status, one whose numbers are not sound POISE_ERROR_ARGUMENT.
// Reports have outcome, reason, restarts, cost, worst_length and worst_angle; the rest is 0.
POISE_API poise_status poise_cuda_solve(poise_cuda *cuda, poise_problem *problems, int count);

// Why the last call failed, in words; empty after a success. Valid until the next call.
POISE_API const char *poise_cuda_error(const poise_cuda *cuda);

// ---- Markers on a body ---------------------------------------------------------------------------------------------------
//
//   poise_cuda_options options = poise_cuda_tree_options_default();
//   poise_cuda_tree_create(model, goals, goal_count, &options, &tree, &error);
//   poise_cuda_tree_solve(tree, problems, count);                               // the structs of batch.h, in host memory
//   poise_cuda_tree_queue(tree, targets, weights, q, answers, count, stream);   // device memory, in order with other work
//
// POSITION goals on any model without mimics: whole bodies with markers, by the thousand, each frame on its own. The
// library's own sources, compiled for the device: the answer to a problem is that of poise_solve, restarts included, to the
// bit, whatever else is in the batch. One thread solves a problem, so that a single one takes many times as long as on a
// core of the host; from some hundreds on the device is ahead.

// poise_solver_options_default() (AUTO; no prior, no trace), device 0, a capacity of 1 << 17 problems, host memory.
POISE_API poise_cuda_options poise_cuda_tree_options_default(void);

// How one problem ended, as in poise_report.
typedef struct poise_cuda_tree_answer {
    poise_outcome outcome; // was the goal reached?
    int iterations;        // of all starts
    int evaluations;       // of the objective
    int restarts;          // used
    int active_limits;     // coordinates at a limit
    int moved_joints;      // joints that started outside their limits
    double start_cost;     // at the start, after moving it inside the limits
    double cost;           // at the end
    double gradient;       // largest component of the projected gradient at the end
    double distance;       // Euclidean length of the step from start to answer
    double worst_length;   // largest distance of a marker from its target
} poise_cuda_tree_answer;

// Memory on the device for one model and one set of goals: opaque.
typedef struct poise_cuda_tree poise_cuda_tree;

// For problems with these goals, but for their targets and weights: `goal_count` POSITION goals, up to four times as many as
// joints. `error` (may be NULL) says what is wrong: no such device (POISE_ERROR_DEVICE), not enough memory
// (POISE_ERROR_MEMORY), goals, options or a model that are not served (POISE_ERROR_UNSUPPORTED). With restarts, each problem
// of `capacity` takes 8 bytes of device memory for each number of q, 24 for each restart and 64 more. The driver adds the
// local memory of all threads that the device can hold, which is where problems are worked on: 45 GB on an H200 for a body
// with 58 degrees of freedom and 41 markers. The model must outlive the tree.
POISE_API poise_status poise_cuda_tree_create(const poise_model *model, const poise_goal *goals, int goal_count,
                                              const poise_cuda_options *options, poise_cuda_tree **tree, poise_error *error);
POISE_API void poise_cuda_tree_destroy(poise_cuda_tree *tree); // NULL is allowed

// Solve problems as a batch has them (batch.h), in host memory. Each has the goals of poise_cuda_tree_create but for targets
// and weights; a problem that has others gets POISE_ERROR_UNSUPPORTED as its status, one whose numbers are not sound
// POISE_ERROR_ARGUMENT. Reports are those of poise_solve.
POISE_API poise_status poise_cuda_tree_solve(poise_cuda_tree *tree, poise_problem *problems, int count);

// Solve problems in device memory: queues the work on `stream` (a cudaStream_t; NULL for the default stream) and returns.
// targets: count x goal_count points; weights: as many, 0 for a marker that was not seen, or NULL for those of the goals; q:
// count x nq numbers, starts in, answers out; answers: count of them, or NULL. Numbers are taken as they come: they must be
// finite, weights >= 0 and no quaternion zero. q outside the limits is moved inside.
POISE_API poise_status poise_cuda_tree_queue(poise_cuda_tree *tree, const poise_vec3 *targets, const double *weights,
                                             double *q, poise_cuda_tree_answer *answers, int count, void *stream);

// Why the last call failed, in words; empty after a success. Valid until the next call.
POISE_API const char *poise_cuda_tree_error(const poise_cuda_tree *tree);

// ---- Expressive inverse kinematics ---------------------------------------------------------------------------------------
//
// ERIK (express.h) and its successor (expressive.h) for many postures and targets: the same sources, compiled for the
// device, with the same results to the bit, whatever the size of the batch. Chains of up to 16 joints.
//
//   poise_cuda_erik_solve(erik, postures, targets, q, answers, count);           // host memory
//   poise_cuda_erik_queue(erik, postures, targets, q, answers, count, stream);   // device memory, in order with other work
//
// The successor has the same two calls. Device memory is taken when the object is made, and no call takes any.

// How one sample ended; q is within the limits.
typedef struct poise_cuda_erik_answer {
    double error, orientation, posture; // as in poise_erik_report
    int iterations;                     // as there
    poise_outcome outcome;              // REACHED: error within the threshold
} poise_cuda_erik_answer;

// Memory on the device for one chain: opaque.
typedef struct poise_cuda_erik poise_cuda_erik;

// `postures`, `targets`: the most of each that a call with host memory may have. Options as for poise_erik_create, without
// exact_orientation. `error` (may be NULL) says what is wrong: no such device (POISE_ERROR_DEVICE), not enough memory
// (POISE_ERROR_MEMORY), a chain or options that are not served (POISE_ERROR_UNSUPPORTED).
POISE_API poise_status poise_cuda_erik_create(const poise_model *model, const poise_erik_options *options, int device,
                                              int64_t postures, int64_t targets, poise_cuda_erik **erik, poise_error *error);
POISE_API void poise_cuda_erik_destroy(poise_cuda_erik *erik); // NULL is allowed

// Sample i is posture i (nq numbers) at target i (any length but 0). q: count x nq numbers; joints beside the chain are left
// alone. answers: count of them, or NULL. All in host memory; count is at most `postures` and `targets`.
POISE_API poise_status poise_cuda_erik_solve(poise_cuda_erik *erik, const double *postures, const poise_quat *targets,
                                             double *q, poise_cuda_erik_answer *answers, int64_t count);

// The same in device memory, with any count: queues the work on `stream` (a cudaStream_t; NULL for the default stream) and
// returns. Numbers are taken as they come: they must be finite, and no target zero.
POISE_API poise_status poise_cuda_erik_queue(poise_cuda_erik *erik, const double *postures, const poise_quat *targets,
                                             double *q, poise_cuda_erik_answer *answers, int64_t count, void *stream);

// Why the last call failed, in words; empty after a success. Valid until the next call.
POISE_API const char *poise_cuda_erik_error(const poise_cuda_erik *erik);

// How a sample of the successor ended: numbers of poise_expressive_report. q is within the limits.
typedef struct poise_cuda_expressive_answer {
    double error, goal, posture; // the weighted sum, and its parts
    double angle;                // that is left between the end and the target, in radians
    int candidates;              // refined
    int evaluations;             // of the objective
    poise_outcome outcome;       // REACHED: error within the threshold; CLOSEST: not
    bool kept_branch;            // warm: the last answer was followed
} poise_cuda_expressive_answer;

// Memory on the device for one model: opaque.
typedef struct poise_cuda_expressive poise_cuda_expressive;

// One orientation of the end, `options->body` with the frame `options->tip`, is the goal; METRIC and SHAPE, warm and cold.
// Options as for poise_expressive_create; max_goals and coupled_goals do not matter. The model needs the chain of express.h;
// joints beside it may turn and slide. Others are refused (POISE_ERROR_UNSUPPORTED). The driver takes 43 KB, or 84 for
// longer chains, for each thread that the device can hold: some GB.
POISE_API poise_status poise_cuda_expressive_create(const poise_model *model, const poise_expressive_options *options,
                                                    int device, int64_t postures, int64_t targets,
                                                    poise_cuda_expressive **expressive, poise_error *error);
POISE_API void poise_cuda_expressive_destroy(poise_cuda_expressive *expressive); // NULL is allowed

// As poise_cuda_erik_solve, but that q holds the last answers where options are `warm`, and takes all nq numbers of the
// next ones.
POISE_API poise_status poise_cuda_expressive_solve(poise_cuda_expressive *expressive, const double *postures,
                                                   const poise_quat *targets, double *q,
                                                   poise_cuda_expressive_answer *answers, int64_t count);

// As poise_cuda_erik_queue. A sample with numbers that are not finite, or a zero target, is left alone: STALLED, with an
// infinite error.
POISE_API poise_status poise_cuda_expressive_queue(poise_cuda_expressive *expressive, const double *postures,
                                                   const poise_quat *targets, double *q,
                                                   poise_cuda_expressive_answer *answers, int64_t count, void *stream);

// Why the last call failed, in words; empty after a success. Valid until the next call.
POISE_API const char *poise_cuda_expressive_error(const poise_cuda_expressive *expressive);

#ifdef __cplusplus
}
#endif

#endif
