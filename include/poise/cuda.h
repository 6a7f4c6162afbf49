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
// in it. It is not the answer of poise_solve to the bit where that is one of many.
//
// Device memory is taken when a poise_cuda is made, and no call takes any. A poise_cuda is used by one host thread at a
// time, and its calls on several streams must not overlap.
#ifndef POISE_CUDA_H
#define POISE_CUDA_H

#include <poise/batch.h>
#include <poise/express.h>

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
// wrong: no device, not enough memory (POISE_ERROR_MEMORY), a goal or a chain that is not served (POISE_ERROR_UNSUPPORTED).
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

// ---- Expressive inverse kinematics ---------------------------------------------------------------------------------------
//
// ERIK (express.h) for many postures and targets: the same sources, compiled for the device, with the same results to the
// bit. Chains of up to 16 joints; exact_orientation is not served.

// How one sample ended; q is within the limits.
typedef struct poise_cuda_erik_answer {
    double error, orientation, posture; // as in poise_erik_report
    int iterations;                     // as there
    poise_outcome outcome;              // REACHED: error within the threshold
} poise_cuda_erik_answer;

// Bins of a histogram, but for the last.
#define POISE_CUDA_BINS 100
#define POISE_CUDA_BIN  0.002 // width of a bin of errors; iterations have bins of width 1

// Of many numbers.
typedef struct poise_cuda_statistics {
    int64_t count;                     // how many
    double mean;                       // of them
    double squares;                    // sum of squared distances from the mean
    double least, most;                // of them
    int64_t bins[POISE_CUDA_BINS + 1]; // from 0; the last takes what lies beyond
} poise_cuda_statistics;

// What the samples of an evaluation came to.
typedef struct poise_cuda_erik_summary {
    poise_cuda_statistics error, orientation, posture, iterations; // posture times its weight
    int64_t reached;                                               // error within the threshold
    int64_t aimed;                                                 // orientation within the threshold
    int64_t outside;                                               // answers outside the limits
} poise_cuda_erik_summary;

// Memory on the device for one chain: opaque.
typedef struct poise_cuda_erik poise_cuda_erik;

// `postures`, `targets`: the most of each that a call may have; their memory is taken here. Options as for
// poise_erik_create. `error` (may be NULL) says what is wrong.
POISE_API poise_status poise_cuda_erik_create(const poise_model *model, const poise_erik_options *options, int device,
                                              int64_t postures, int64_t targets, poise_cuda_erik **erik, poise_error *error);
POISE_API void poise_cuda_erik_destroy(poise_cuda_erik *erik); // NULL is allowed

// Sample i is posture i (nq numbers) at target i (any length but 0). q: count x nq numbers; joints beside the chain are left
// alone. answers: count of them, or NULL. All in host memory; count is at most `postures` and `targets`.
POISE_API poise_status poise_cuda_erik_solve(poise_cuda_erik *erik, const double *postures, const poise_quat *targets,
                                             double *q, poise_cuda_erik_answer *answers, int64_t count);

// Every posture at every target, summed up: posture_count x target_count samples. Nothing else is kept of them.
POISE_API poise_status poise_cuda_erik_evaluate(poise_cuda_erik *erik, const double *postures, int64_t posture_count,
                                                const poise_quat *targets, int64_t target_count,
                                                poise_cuda_erik_summary *summary);

// Why the last call failed, in words; empty after a success. Valid until the next call.
POISE_API const char *poise_cuda_erik_error(const poise_cuda_erik *erik);

#ifdef __cplusplus
}
#endif

#endif
