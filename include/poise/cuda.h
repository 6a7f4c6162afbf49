// Poise: many problems at once on a CUDA device. A separate library, poise_cuda.
//
//   poise_cuda_options options = poise_cuda_options_default();
//   poise_cuda_create(model, &goal, 1, &options, &cuda, &error);
//   poise_cuda_solve_poses(cuda, targets, q, answers, count, &error);          // host memory
//   poise_cuda_queue_poses(cuda, targets, q, answers, count, stream, &error);  // device memory, in order with other work
//   poise_cuda_solve_arrays(cuda, &arrays, &answers, count, stream, &refused, &error); // arrays of torch, CuPy, JAX
//
// One object handles one kind of problem, chosen when it is created:
//
// | goals            | serves            | calls                                              |
// |------------------|-------------------|----------------------------------------------------|
// | one POSE         | poses of an arm   | _solve, _solve_poses, _queue_poses, _solve_arrays  |
// | POSITION goals   | markers on a body | _solve, _queue_markers, _solve_clips, _queue_clips |
// | several goals    | tips of a body    | _solve, _queue_goals, _solve_clips, _queue_clips   |
//
// Any other call on the object returns POISE_ERROR_UNSUPPORTED.
//
// **Threads.** A poise_cuda belongs to one host thread at a time, and its calls on several streams must not overlap. Device
// memory is allocated when the object is created; of the calls only poise_cuda_solve_clips allocates more.
//
// **Arm poses.** One POSE goal on a chain of up to 16 revolute and prismatic joints (see solve.h, "Robot arms"); robot and
// goal are data, so nothing is compiled at run time and there is no warm-up beyond loading the program. Searches run in
// single precision and finish in double, where tolerances and limits are checked: REACHED means met in double, and limits
// hold exactly. This fast path exists for chains of six or seven hinges; others are searched in double throughout. A target
// that no search meets gets the closest pose, bit for bit that of poise_solve: the same algorithm, in double, but for the
// searches without limits (solve.h). So CLOSEST is a claim about the poses nearby: pass what may be in reach, in a corner of
// the limits, on to poise_solve. Links can also be kept clear of obstacles and of each other (poise_cuda_keep_apart).
//
// The answer to a target depends on the target, its start and the options, never on the rest of the batch. If several
// answers exist, it need not be the one that poise_solve gives. A batch of up to 12 in host memory is first tried on the
// host, which gives the same bits in microseconds, where the device takes 50 us for one target; targets that the host does
// not settle in a few searches go to the device.
//
// **Markers on a body.** POSITION goals on any model without mimics: whole bodies with markers, thousands at a time, each
// frame independently. Restarts are those of poise_solve, without its searches beyond limits; with few problems they run in
// parallel. Searches run in single precision and finish in double, where tolerances and limits are checked: REACHED means
// met in double, CLOSEST is a minimum by the criterion of poise_solve, anything else did not converge; limits hold exactly.
// The bits are not those of poise_solve: if the goals are not reached, the minimum has the same cost to 1e-9 or is a
// different one. The answer depends on the problem and the options, never on the batch. `iterations` counts passes in
// either precision, up to and including the run that gave the answer; start_cost has seven digits. Tolerance bands, markers
// on the world, a step limit and an initial damping are not supported: poise_batch_solve (batch.h) serves them, on the
// host.
//
// **Tips of a body.** POSE, ORIENTATION and DIRECTION goals, POSITION goals among them, on whole robots and figures, such
// as four poses of the hands and feet of a humanoid. Each goal is treated as points and directions (an orientation is three)
// whose costs sum exactly to its own. An orientation counts as reached if each of its axes is so close that the angle must
// be within the tolerance. A run that meets the tips of some limbs continues with the others only.
//
// **Clips.** Frames in sequence, each started from the answer to the one before: poise_cuda_solve_clips.
#ifndef POISE_CUDA_H
#define POISE_CUDA_H

#include <poise/batch.h>

#ifdef __cplusplus
extern "C" {
#endif

// How many devices there are; 0 without a driver.
POISE_API int poise_cuda_device_count(void);

// Fill with poise_cuda_options_default(), change what you like.
typedef struct poise_cuda_options {
    poise_solver_options solver; // AUTO; no trace, no seed table. For arms set restarts: 300 reach every reachable pose.
    int device;                  // 0
    int capacity;                // 0: problems on the device at once; a larger batch is solved in parts. 0 for 1 << 20
                                 // poses, of about 50 bytes each (200 with host memory), or for 1 << 17 frames
    bool host_memory;            // true: poise_cuda_solve or poise_cuda_solve_poses will be called
    bool device_arrays;          // false; true: poise_cuda_solve_arrays will be called; takes 90 bytes more per problem of
                                 // `capacity`
} poise_cuda_options;

// The defaults given beside the members.
static inline poise_cuda_options poise_cuda_options_default(void)
{
    poise_cuda_options options;
    poise_init(POISE_TYPE_CUDA_OPTIONS, &options, sizeof options);
    return options;
}

// Memory on the device for one model and one kind of problem: opaque.
typedef struct poise_cuda poise_cuda;

// ---- Goals: poses of an arm, markers on a body ---------------------------------------------------------------------------

// Create an object for problems with these goals; their targets are ignored. The goals are one POSE goal without tolerance
// bands, for an arm; POSITION goals, up to four times as many as joints, whose weights are ignored; or several POSE,
// ORIENTATION, DIRECTION and POSITION goals without bands, whose weights are fixed here. The model must outlive
// the object. `error` says what is wrong: no such device (POISE_ERROR_DEVICE), not enough memory (POISE_ERROR_MEMORY),
// unsupported goals, options or model (POISE_ERROR_UNSUPPORTED).
//
// Device memory for markers and tips: each problem of `capacity` takes 4 bytes per number of q, 2 per restart and 22 more;
// problems in progress take up to 1 GB whatever the capacity: 0.6 GB on an H200 for a body with 58 degrees of freedom and 41
// markers.
POISE_API poise_status poise_cuda_create(const poise_model *model, const poise_goal *goals, int goal_count,
                                         const poise_cuda_options *options, poise_cuda **cuda, poise_error *error);
POISE_API void poise_cuda_destroy(poise_cuda *cuda); // of any kind; NULL is allowed

// Solve problems as in a batch (batch.h), in host memory. Each must have the goals of poise_cuda_create, except for targets
// and marker weights. A problem with other goals, or with constraints, gets the status POISE_ERROR_UNSUPPORTED, one with
// invalid numbers POISE_ERROR_ARGUMENT. Reports are those of poise_solve; for arms only outcome, reason, restarts, cost,
// worst_length and worst_angle are filled, and the rest is 0.
POISE_API poise_status poise_cuda_solve(poise_cuda *cuda, poise_problem *problems, int count, poise_error *error);

// How one pose ended.
typedef struct poise_cuda_answer {
    poise_outcome outcome; // was the target met?
    int restarts;          // index of the search that met the target, 0 for the one from the start
    double cost;           // of the goal
    double length;         // distance from the target, in length units
    double angle;          // from the target, in radians
    double room;           // with poise_cuda_keep_apart: the least distance of a pair minus its margin; otherwise infinite
    int pair;              // the pair with that distance; -1: no shapes are kept apart
} poise_cuda_answer;

// Solve for `count` target poses in host memory. q: count x nq numbers, starts in, answers out; answers: count of them, or
// NULL. POISE_ERROR_ARGUMENT, with nothing done: a non-finite number, or a rotation that is not a unit quaternion.
POISE_API poise_status poise_cuda_solve_poses(poise_cuda *cuda, const poise_pose *targets, double *q,
                                              poise_cuda_answer *answers, int count, poise_error *error);

// The same in device memory: queues the work on `stream` (a cudaStream_t; NULL for the default stream) and returns. Input
// is not checked: numbers must be finite and rotations unit quaternions. A q outside the limits is moved inside.
POISE_API poise_status poise_cuda_queue_poses(poise_cuda *cuda, const poise_pose *targets, double *q,
                                              poise_cuda_answer *answers, int count, void *stream, poise_error *error);

// Keep shapes apart in all poses from now on: `apart` is a CLEARANCE (constraint.h), copied by the call; NULL switches this
// off again. Call it again when obstacles have moved. It waits for work queued on the device; the first call allocates
// device memory, 8 bytes for each problem of `capacity` and 0.2 MB more.
//
//   poise_cuda_keep_apart(cuda, &apart, &error);
//   poise_cuda_solve_poses(cuda, targets, q, answers, count, &error);    // answers[i].room >= 0 wherever it is REACHED
//
// A search whose answer collides is rejected, and the next one starts elsewhere, so a redundant arm tries its other
// postures; distances are exact, in double. Set enough restarts: 300 find an answer for nearly every pose that has one.
// Answers:
//
// | outcome    | q                                                                                                |
// |------------|--------------------------------------------------------------------------------------------------|
// | REACHED    | meets the pose, and every pair holds its margin                                                  |
// | INFEASIBLE | no search met the pose without a collision: q meets it and breaks the margins least or, if none  |
// |            | met it at all, is the closest pose, which breaks one. `pair` names the obstruction               |
// | others     | as without shapes: no search met the pose; q holds every margin                                  |
//
// Unlike poise_solve_within, the device does not search for a way around obstacles: pass INFEASIBLE poses on to that call.
// In every pair one shape must be a capsule or sphere on a link of the arm; the other may be one, too, or a capsule, box or
// half-space that the arm does not move. Up to 64 shapes on links, 256 others, 4096 pairs; anything else is
// POISE_ERROR_UNSUPPORTED, with the shape named, and the previous clearance stays in force.
POISE_API poise_status poise_cuda_keep_apart(poise_cuda *cuda, const poise_constraint *apart, poise_error *error);

// Numbers in device memory as torch, CuPy or JAX hold them: the one at (problem, row, column) is
// at[problem * strides[0] + row * strides[1] + column * strides[2]].
typedef struct poise_cuda_view {
    const void *at;     // float or double; NULL: none
    bool is_float;      // float
    int64_t strides[3]; // in numbers; 0 repeats the same one
} poise_cuda_view;

// Poses and starts of a batch.
typedef struct poise_cuda_arrays {
    poise_cuda_view targets;   // (count, 4, 4) matrices, or (count, 1, 7): x y z, then the quaternion x y z w
    bool targets_are_matrices; // which of the two
    poise_cuda_view starts;    // (count, 1, nq); none: neutral
} poise_cuda_arrays;

// Where answers go, in contiguous device memory. q is required and may be the array of the starts; the others may be NULL.
typedef struct poise_cuda_answer_arrays {
    double *q;      // count x nq
    bool *reached;  // is the pose met?
    int *outcome;   // poise_outcome; POISE_OUTCOME_COUNT: rejected, and the results of the problem are NaN
    int *restarts;  // that were used
    double *cost;   // at the end
    double *length; // error in length units
    double *angle;  // error in radians
} poise_cuda_answer_arrays;

// Solve poses from and into arrays of other programs, converted on the device; returns when all are done. A problem with
// non-finite numbers, a quaternion that is not unit or a matrix that is not a pose is rejected; the others are solved.
// *refused is the index of the first rejected problem, -1 for none. Rotations in single precision are normalised. The work
// is queued on `stream`. Needs options.device_arrays.
POISE_API poise_status poise_cuda_solve_arrays(poise_cuda *cuda, const poise_cuda_arrays *arrays,
                                               const poise_cuda_answer_arrays *answers, int64_t count, void *stream,
                                               int64_t *refused, poise_error *error);

// Allocate and free device memory, for callers that are not compiled with CUDA. Freeing waits for all work on the device.
POISE_API poise_status poise_cuda_allocate(int device, size_t size, void **memory, poise_error *error);
POISE_API void poise_cuda_free(int device, void *memory); // NULL is allowed

// How one frame of markers ended, as in poise_report.
typedef struct poise_cuda_tree_answer {
    poise_outcome outcome; // was the goal reached?
    int iterations;        // of all starts
    int evaluations;       // of the objective
    int restarts;          // used
    int active_limits;     // coordinates at a limit
    int moved_joints;      // joints that started outside their limits
    double start_cost;     // at the start, after moving it inside the limits
    double cost;           // at the end
    double gradient;       // largest component of the projected gradient at the end; 0 if reached
    double distance;       // Euclidean length of the step from start to answer
    double worst_length;   // largest distance of a marker from its target
    double worst_angle;    // largest angle error of a goal, in radians
} poise_cuda_tree_answer;

// Solve frames of markers in device memory, queued on `stream`. targets: count x goal_count points; weights: as many, 0 for
// a marker that was not seen, or NULL for those of the goals; q: count x nq numbers, starts in, answers out; answers: count
// of them, or NULL. Input is not checked: numbers must be finite, weights >= 0 and quaternions nonzero. A q outside the
// limits is moved inside.
POISE_API poise_status poise_cuda_queue_markers(poise_cuda *cuda, const poise_vec3 *targets, const double *weights,
                                                double *q, poise_cuda_tree_answer *answers, int count, void *stream,
                                                poise_error *error);

// The same for goals that are not all POSITION. targets: count x goal_count poses; a POSITION goal uses the position, an
// ORIENTATION goal the rotation, a POSE goal both, and a DIRECTION goal the position as its unit direction.
POISE_API poise_status poise_cuda_queue_goals(poise_cuda *cuda, const poise_pose *targets, double *q,
                                              poise_cuda_tree_answer *answers, int count, void *stream, poise_error *error);

// ---- Clips ---------------------------------------------------------------------------------------------------------------

// A pull to the frame before that follows the errors, as in a tracker (track.h): in frames with a marker of weight 0,
// min((usual/turn)^2, most) is added to the weight of SMOOTHNESS. After each frame usual += rate (rms - usual), where rms is
// the root mean square distance of the points with a weight.
typedef struct poise_cuda_calm {
    double usual;            // at the start of the clip
    double rate, turn, most; // turn 0: no such pull
} poise_cuda_calm;

// Frames in sequence, each started from the answer to the one before, in double precision throughout; many clips at once
// (it takes thousands to fill a device). The object comes from poise_cuda_create for several goals, or for markers. Its
// goals may include a POSTURE, which pulls on every frame, and a SMOOTHNESS without q_before, which pulls to the frame
// before (in the first frame, to the start); an object with these handles clips only. An answer depends only on its own
// clip. `iterations` counts the passes of a frame. A frame that did not converge says so, and the next one continues from
// it.
typedef struct poise_cuda_clip {
    int frames;                      // at least 1
    const poise_vec3 *targets;       // frames x goal_count points, if all goals but POSTURE and SMOOTHNESS are POSITION;
    const poise_pose *poses;         // otherwise poses, as for poise_cuda_queue_goals
    const double *weights;           // frames x goal_count, 0 for what was not seen; NULL: those of the goals. The rotation
                                     // weight of a POSE scales with its weight
    double *q;                       // frames x nq: in, the start in the first frame; out, the answers
    poise_cuda_tree_answer *answers; // frames of them, or NULL
    poise_cuda_calm calm;            // 0; needs a SMOOTHNESS among the goals
    poise_status status;             // out: POISE_ERROR_ARGUMENT if its numbers are invalid
} poise_cuda_clip;

// Solve clips in host memory. The call allocates device memory for the frames, up to a million at a time, and releases it.
POISE_API poise_status poise_cuda_solve_clips(poise_cuda *cuda, poise_cuda_clip *clips, int count, poise_error *error);

// The same in device memory, queued on `stream`: the frames of all clips are concatenated, those of clip i from begin[i] to
// begin[i + 1] - 1. begin: clip_count + 1 numbers; targets: points or poses as above. Input is not checked.
POISE_API poise_status poise_cuda_queue_clips(poise_cuda *cuda, const int *begin, int clip_count, const void *targets,
                                              const double *weights, double *q, poise_cuda_tree_answer *answers, int frames,
                                              void *stream, poise_error *error);

#ifdef __cplusplus
}
#endif

#endif
