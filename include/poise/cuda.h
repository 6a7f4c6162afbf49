// Poise: many problems at once on a CUDA device. A library of its own, poise_cuda, beside poise.
//
//   poise_cuda_options options = poise_cuda_options_default();
//   poise_cuda_create(model, &goal, 1, &options, &cuda, &error);
//   poise_cuda_solve_poses(cuda, targets, q, answers, count, &error);          // host memory
//   poise_cuda_queue_poses(cuda, targets, q, answers, count, stream, &error);  // device memory, in order with other work
//   poise_cuda_solve_arrays(cuda, &arrays, &answers, count, stream, &refused, &error); // arrays of torch, CuPy, JAX
//
// One object serves one kind of problem, which is chosen when it is made:
//
// | made by                                    | serves               | calls                                             |
// |--------------------------------------------|----------------------|---------------------------------------------------|
// | poise_cuda_create, one POSE goal           | poses of an arm      | _solve, _solve_poses, _queue_poses, _solve_arrays |
// | poise_cuda_create, POSITION goals          | markers on a body    | _solve, _queue_markers                            |
// | poise_cuda_create, several goals           | tips of a body       | _solve, _queue_goals                              |
// | poise_cuda_create_erik, _create_expressive | postures at a target | _solve_postures, _queue_postures                  |
//
// A call that the object was not made for is refused (POISE_ERROR_UNSUPPORTED).
//
// **Threads.** A poise_cuda belongs to one host thread at a time, and its calls on several streams must not overlap. Device
// memory is taken when it is made, and no call takes any.
//
// **Arm poses.** One POSE goal on a chain of up to 16 revolute and prismatic joints (see solve.h, "Robot arms"); robot and
// goal are data, there is nothing to compile and nothing to warm up but the loading of the program. Searches run in single
// precision and are finished in double, where tolerances and limits are judged: what comes back as REACHED is met in double,
// and limits hold exactly. Chains of six or seven hinges have this fast way; others are searched in double throughout. A
// target that no search meets gets the closest pose, which is that of poise_solve: the same algorithm, in double, to the
// bit. Shapes can be kept apart meanwhile: links from obstacles, and from each other (poise_cuda_keep_apart).
//
// The answer to a target depends on the target, its start and the options, never on the size of the batch or on what else is
// in it. It is not the answer of poise_solve to the bit where that is one of many. A batch of up to 12 in host memory goes
// to the host first, which gives the same answers to the bit, in microseconds: the device takes 50 of them for one target.
// What the host does not settle in a few searches goes on to the device.
//
// **Markers on a body.** POSITION goals on any model without mimics: whole bodies with markers, by the thousand, each frame
// on its own. Restarts are those of poise_solve; those of few problems run side by side. There are two ways:
//
// - *Fast*, the default. Searches run in single precision and are finished in double, where tolerances and limits are
//   judged: what comes back as REACHED is met in double, CLOSEST is a minimum as poise_solve has it, anything else did not
//   converge, and limits hold exactly. It is not the answer of poise_solve to the bit: where nothing is reached, the minimum
//   has the same cost to 1e-9 or is another one. The answer depends on the problem and the options, never on the batch.
//   `iterations` counts passes in either precision, of the runs up to the one that is the answer; the start_cost of a
//   frame that is reached has seven digits.
// - *Exact*, with `exact_bits`, and for what the fast way does not know: losses, tolerance bands, markers on the world, a
//   step limit, an initial damping. The library's own sources, compiled for the device: the answer to a problem is that of
//   poise_solve, to the bit (but where goals are few enough to be tips, see solve.h: the device solves those as markers,
//   too). It is some 20 times as slow.
//
// **Tips of a body.** POSE, ORIENTATION and DIRECTION goals, POSITION goals among them, on whole robots and figures, such as
// four poses of the hands and feet of a humanoid. The fast way serves them, and it alone; each is taken as points and
// directions (an orientation is three), whose sum is its cost exactly. An orientation is called reached where each of its
// axes is so near that the angle must be within the tolerance.
//
// **Postures.** ERIK (express.h) and its successor (expressive.h) for many postures and targets: the same sources, compiled
// for the device, with the same results to the bit, whatever the size of the batch. Chains of up to 16 joints.
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
    poise_solver_options solver; // AUTO; no trace, no seed table. For arms set restarts: 300 reach every pose that can be.
    int device;                  // 0
    int capacity;                // 0: problems that are on the device at once; a larger batch goes in parts. 0 for 1 << 20
                                 // poses, of about 50 bytes each, and 150 more with host memory, or for 1 << 17 frames
    bool host_memory;            // true: poise_cuda_solve or poise_cuda_solve_poses will be called
    bool device_arrays;          // false: poise_cuda_solve_arrays will be called; 90 bytes more for each of `capacity`
    bool exact_bits;             // false: markers the fast way, where that serves them; true: with the bits of poise_solve
} poise_cuda_options;

// The defaults that stand beside the members.
POISE_API poise_cuda_options poise_cuda_options_default(void);

// Memory on the device for one model and one kind of problem: opaque.
typedef struct poise_cuda poise_cuda;

// ---- Goals: poses of an arm, markers on a body ---------------------------------------------------------------------------

// For problems with these goals, whose targets do not matter: one POSE goal without tolerance bands, for an arm; POSITION
// goals, up to four times as many as joints, whose weights do not matter; or several POSE, ORIENTATION, DIRECTION and
// POSITION goals without bands and losses, whose weights belong to the object. The model must
// outlive it. `error` says what is wrong: no such device (POISE_ERROR_DEVICE), not enough memory (POISE_ERROR_MEMORY),
// goals, options or a model that are not served (POISE_ERROR_UNSUPPORTED).
//
// Markers the fast way: each problem of `capacity` takes 4 bytes of device memory for each number of q, 2 for each restart
// and 22 more; problems under way take up to 1 GB whatever the capacity, 0.6 GB on an H200 for a body with 58 degrees of
// freedom and 41 markers. With exact bits: 8 bytes for each number of q, 24 for each restart and 64 more, and the driver
// adds the local memory of all threads that the device can hold, 45 GB for that body.
POISE_API poise_status poise_cuda_create(const poise_model *model, const poise_goal *goals, int goal_count,
                                         const poise_cuda_options *options, poise_cuda **cuda, poise_error *error);
POISE_API void poise_cuda_destroy(poise_cuda *cuda); // of any kind; NULL is allowed

// Problems as a batch has them (batch.h), in host memory. Each has the goals of poise_cuda_create but for targets and the
// weights of markers; a problem that has others, or constraints, gets POISE_ERROR_UNSUPPORTED as its status, one whose
// numbers are not sound POISE_ERROR_ARGUMENT. Reports are those of poise_solve; for arms they have outcome, reason,
// restarts, cost, worst_length and worst_angle, and the rest is 0.
POISE_API poise_status poise_cuda_solve(poise_cuda *cuda, poise_problem *problems, int count, poise_error *error);

// How one pose ended.
typedef struct poise_cuda_answer {
    poise_outcome outcome; // was the target met?
    int restarts;          // number of the search that met the target, 0 for the one from the start
    double cost;           // of the goal
    double length;         // distance from the target, in length units
    double angle;          // from the target, in radians
    double room;           // where shapes are kept apart: the least distance of a pair, less its margin; else infinite
    int pair;              // which pair has it; -1: none is kept apart
} poise_cuda_answer;

// Solve for `count` target poses in host memory. q: count x nq numbers, starts in, answers out; answers: count of them, or
// NULL. Numbers that are not finite, or a rotation that is not a unit quaternion: POISE_ERROR_ARGUMENT, with nothing done.
POISE_API poise_status poise_cuda_solve_poses(poise_cuda *cuda, const poise_pose *targets, double *q,
                                              poise_cuda_answer *answers, int count, poise_error *error);

// The same in device memory: queues the work on `stream` (a cudaStream_t; NULL for the default stream) and returns. Numbers
// are taken as they come: they must be finite, rotations unit quaternions. q outside the limits is moved inside.
POISE_API poise_status poise_cuda_queue_poses(poise_cuda *cuda, const poise_pose *targets, double *q,
                                              poise_cuda_answer *answers, int count, void *stream, poise_error *error);

// Keep shapes apart in all poses from now on: `apart` is a CLEARANCE (constraint.h), read in the call and not kept; NULL:
// nothing is kept apart any more, as at first. Call it again where obstacles have moved. It waits for the work that is
// queued on the device; the first call takes device memory, 8 bytes for each problem of `capacity` and 0.2 MB more.
//
//   poise_cuda_keep_apart(cuda, &apart, &error);
//   poise_cuda_solve_poses(cuda, targets, q, answers, count, &error);    // answers[i].room >= 0 wherever it is REACHED
//
// A search whose answer collides is refused, and the next one goes on elsewhere, so that a redundant arm tries its other
// postures; distances are exact, in double. Set enough restarts: 300 find a way to nearly every pose that has one. Answers:
//
// | outcome    | q                                                                                                |
// |------------|--------------------------------------------------------------------------------------------------|
// | REACHED    | meets the pose, and every pair holds its margin                                                  |
// | INFEASIBLE | no search met the pose without a collision: q meets it and breaks the margins least, or where no |
// |            | search met it at all is the closest pose, which breaks one. `pair` says what is in the way       |
// | others     | as without shapes: no search met the pose; q holds every margin                                  |
//
// The device does not look for a path around obstacles as poise_solve_within does: give it what comes back INFEASIBLE. It
// takes pairs of which one shape at least is a capsule or a sphere on a link of the arm; the other one is one, too, or a
// capsule, box or half-space that the arm does not move. Up to 64 shapes on links, 256 others, 4096 pairs; anything else is
// POISE_ERROR_UNSUPPORTED, with the shape named, and what was kept apart before stays.
POISE_API poise_status poise_cuda_keep_apart(poise_cuda *cuda, const poise_constraint *apart, poise_error *error);

// Numbers in device memory as torch, CuPy or JAX hold them: the one at (problem, row, column) is
// at[problem * strides[0] + row * strides[1] + column * strides[2]].
typedef struct poise_cuda_view {
    const void *at;     // float or double; NULL: none
    bool is_float;      // float
    int64_t strides[3]; // in numbers; 0 has the same one for all
} poise_cuda_view;

// Poses and starts of a batch.
typedef struct poise_cuda_arrays {
    poise_cuda_view targets;   // (count, 4, 4) matrices, or (count, 1, 7): x y z, then the quaternion x y z w
    bool targets_are_matrices; // which of the two
    poise_cuda_view starts;    // (count, 1, nq); none: neutral
} poise_cuda_arrays;

// Where answers go, in device memory without gaps. q may be that of the starts; what is NULL is not wanted, but q is.
typedef struct poise_cuda_answer_arrays {
    double *q;      // count x nq
    bool *reached;  // is the pose met?
    int *outcome;   // poise_outcome; POISE_OUTCOME_COUNT: refused, and the numbers of the problem are NaN
    int *restarts;  // that were used
    double *cost;   // at the end
    double *length; // error in length units
    double *angle;  // error in radians
} poise_cuda_answer_arrays;

// Poses from and into arrays of other programs, converted on the device; returns when all are done. A problem is refused
// whose numbers are not finite, whose quaternion is no unit or whose matrix is no pose; the others are solved. *refused is
// the first of them, -1 for none. Rotations in single precision are normalized. The work goes to `stream`, after what was
// queued there. Needs options.device_arrays.
POISE_API poise_status poise_cuda_solve_arrays(poise_cuda *cuda, const poise_cuda_arrays *arrays,
                                               const poise_cuda_answer_arrays *answers, int64_t count, void *stream,
                                               int64_t *refused, poise_error *error);

// Memory of a device, for callers that are not compiled with CUDA. Releasing it waits for all work on the device.
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
    double gradient;       // largest component of the projected gradient at the end
    double distance;       // Euclidean length of the step from start to answer
    double worst_length;   // largest distance of a marker from its target
    double worst_angle;    // largest angle of a goal that has one, in radians
} poise_cuda_tree_answer;

// Frames of markers in device memory, queued on `stream`. targets: count x goal_count points; weights: as many, 0 for a
// marker that was not seen, or NULL for those of the goals; q: count x nq numbers, starts in, answers out; answers: count of
// them, or NULL. Numbers are taken as they come: they must be finite, weights >= 0 and no quaternion zero. q outside the
// limits is moved inside.
POISE_API poise_status poise_cuda_queue_markers(poise_cuda *cuda, const poise_vec3 *targets, const double *weights,
                                                double *q, poise_cuda_tree_answer *answers, int count, void *stream,
                                                poise_error *error);

// The same for goals of which some are no points. targets: count x goal_count poses, of which POSITION goals read the
// position, ORIENTATION goals the rotation, POSE goals both, and DIRECTION goals the position as the unit direction.
POISE_API poise_status poise_cuda_queue_goals(poise_cuda *cuda, const poise_pose *targets, double *q,
                                              poise_cuda_tree_answer *answers, int count, void *stream, poise_error *error);

// ---- Postures ------------------------------------------------------------------------------------------------------------

// ERIK. `postures`, `targets`: the most of each that a call with host memory may have. Options as for poise_erik_create,
// without exact_orientation and warm. Errors as for poise_cuda_create.
POISE_API poise_status poise_cuda_create_erik(const poise_model *model, const poise_erik_options *options, int device,
                                              int64_t postures, int64_t targets, poise_cuda **cuda, poise_error *error);

// Its successor. One orientation of the end, `options->body` with the frame `options->tip`, is the goal; METRIC and
// SHAPE, warm and cold. Options as for poise_expressive_create; max_goals and coupled_goals do not matter. The model
// needs the chain of express.h; joints beside it may turn and slide. Others are refused (POISE_ERROR_UNSUPPORTED). The
// driver takes 43 KB, or 84 for longer chains, for each thread that the device can hold: some GB.
POISE_API poise_status poise_cuda_create_expressive(const poise_model *model, const poise_expressive_options *options,
                                                    int device, int64_t postures, int64_t targets, poise_cuda **cuda,
                                                    poise_error *error);

// How one sample ended: numbers of poise_erik_report or poise_expressive_report. q is within the limits.
typedef struct poise_cuda_posture_answer {
    double error, goal, posture; // the weighted sum, and its parts; for ERIK the goal is the orientation
    double angle;                // that is left between the end and the target, in radians
    int iterations;              // of ERIK; for its successor, evaluations of the objective
    int candidates;              // refined, by the successor
    poise_outcome outcome;       // REACHED: error within the threshold
    bool kept_branch;            // the successor, warm: the last answer was followed
} poise_cuda_posture_answer;

// Sample i is posture i (nq numbers) at target i (any length but 0). q: count x nq numbers; ERIK leaves joints beside the
// chain alone, its successor takes the last answers from q where options are `warm` and gives all numbers of the next ones.
// answers: count of them, or NULL. All in host memory; count is at most `postures` and `targets`.
POISE_API poise_status poise_cuda_solve_postures(poise_cuda *cuda, const double *postures, const poise_quat *targets,
                                                 double *q, poise_cuda_posture_answer *answers, int64_t count,
                                                 poise_error *error);

// The same in device memory, with any count: queues the work on `stream` and returns. Numbers are taken as they come:
// they must be finite, and no target zero. The successor leaves a sample that is not sound alone: STALLED, with an
// infinite error.
POISE_API poise_status poise_cuda_queue_postures(poise_cuda *cuda, const double *postures, const poise_quat *targets,
                                                 double *q, poise_cuda_posture_answer *answers, int64_t count, void *stream,
                                                 poise_error *error);

#ifdef __cplusplus
}
#endif

#endif
