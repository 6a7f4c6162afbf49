// Poise: expressive inverse kinematics. Holds the posture an animator drew while the end faces a given direction.
//
//   poise_erik_options options = poise_erik_options_default();
//   poise_erik_create(model, &options, NULL, &erik, &error);
//   poise_erik_solve(erik, posture, target, q, &report, &error);    // as often as you like
//
// Link with Poise::poise_papers, as for <poise/papers.h>.
//
// **ERIK** (T. Ribeiro & A. Paiva, "Expressive Inverse Kinematics Solving in Real-time for Virtual and Robotic Interactive
// Characters", 2019). The posture is warped until its end points at the target, ignoring limits (BWCD). A forward phase,
// end to root, and a backward phase, root to end, fit the candidate's frames to the warped shape and convert that to angles
// within the limits; BWCD within limits then aims the end once more. A candidate within `threshold` is returned; otherwise
// the next iteration starts from it. When errors stop changing, two tricks follow: first the target is turned slightly and
// the posture warped again; then CCD aims the candidate, or the zero pose if that fails. The best candidate by the caller's
// posture and target is returned.
//
// **The chain.** The joints from the root to `options.body`, which must be revolute; fixed ones are part of the segments.
// Axes, limits and rest shape are arbitrary. The *segment* of a joint goes from its origin to the origin of the next joint,
// the last one's to the tip; a segment of zero length continues the one before. A *twister* turns about its own segment;
// all other joints are *swings*. The end *points* along the last segment. A chain whose first and last joints are twisters
// can face any direction with any roll. Without a twister at the end the roll is not controlled; without one at the root
// the rest of the chain has to do its work. Both are allowed, and the errors are reported. Sliding, ball and mimic joints
// in the chain are refused (POISE_ERROR_UNSUPPORTED). Joints outside the chain keep their values.
//
// **Errors** are numbers from 0 to 1 (equations 19 to 22 of the paper):
//
//   error       = orientation_weight * orientation + posture_weight * posture
//   orientation = sqrt(2) sin(phi / 4), phi the angle between the end and its target; 0.04 is 6.5 degrees
//   posture     = sum_k a^i |cos(bend_k of q) - cos(bend_k of the posture)| / 2 / sum_k a^i   over swings k, i = 0, 1, ..
//
// where bend_k is the angle between segments k - 1 and k and a is `aggravation`. The measure sees how far a joint bends,
// not which way.
//
// **Threads.** A poise_erik belongs to one thread at a time. Solving allocates nothing, reads no clock, and gives the
// same bits for the same input. Limits hold exactly in what comes back.
#ifndef POISE_EXPRESS_H
#define POISE_EXPRESS_H

#include <poise/solve.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- ERIK ----------------------------------------------------------------------------------------------------------------

// Parameters and hyperparameters, with the paper's names in brackets. The paper gives only the weights and the threshold.
// The other defaults are one setting fitted to all its printed statistics together: the mean iterations of its seven
// skeletons come out within 10 %, the errors of skeleton C within 7 % of the combined one, and the skeletons in the paper's
// order (docs/expressive.md; `poise reproduce erik-fit`). Fill with poise_erik_options_default(), change what you like.
typedef struct poise_erik_options {
    int body;                  // NONE: the end; by default the last body of the model
    poise_pose tip;            // identity: frame of the end in that body; its rotation is aimed, its position ends the last
                               // segment
    double orientation_weight; // 1: [OrientationErrorWeight]
    double posture_weight;     // 0.2: [PostureErrorWeight]
    double threshold;          // 0.04: an error up to this is accepted at once [Threshold]
    double aggravation;        // 1.46: weight of a bend relative to the bend before it, towards the end [ErrorAggravation];
                               // > 0
    int max_iterations;        // 13: forward and backward phases [MaxERIKIterations]; >= 1
    int max_sweeps;            // 20: most sweeps of BWCD and CCD [MaxCCDIterations]; >= 1
    double precision;          // 4.8e-4: BWCD and CCD stop when (1 - cos of the angle to the target) / 2 is below this
                               // [CCDPrecision]
    double stall;              // 1e-6: CCD stops when that changes by less in a sweep [Precision]
    double disturbance;        // 0.046 [rad]: rotation of the offset trick about each of two axes, and distance kept from
                               // limits [Disturbance]; >= 0
    int window;                // 4: number of past errors that decide whether iterations still converge; 2 to 64
    double tolerance;          // 1e-9: errors that differ by less count as equal
    bool symmetric_endpoint;   // true: the end may be rolled by half a turn about the last segment, and the error and angle
                               // of the report count likewise [extension SymmetricEndpoint]
    bool avoid_edges;          // true: stay away from the limits while solving [AvoidEdges]
    bool offset_trick;         // true: [NonConvOffsetTrick]
    bool ccd_trick;            // true: [NonConvCCDTrick]
    bool warm;                 // false; true: q is the previous solution, and the solve continues from it (1)
                               // [PreviousSolution]
    double gain;               // 0.02: warm: another candidate must be better by this much to replace the one that follows
                               // the previous solution; >= 0
    bool exact_orientation;    // false; true: finish with the orientation exact to rounding (2); the paper leaves it within
                               // the threshold
    int restarts;              // 30: further starts of the search for the exact orientation
} poise_erik_options;
// (1) For a moving target or posture. Every joint moves a tenth of the way to the posture, in the branch of the previous
//     solution, and BWCD aims the end from there, without half turns of twisters. If the result is within the threshold it
//     is the answer, so nothing jumps; otherwise the iterations run, from the previous solution's frames. A changed posture
//     is reached over several calls. Without `warm` every solve starts from the zero pose and ignores the previous one, as
//     in the paper's evaluation.
// (2) A damped Newton search within the limits, from the answer; if it falls short, from the posture, the zero pose and a
//     fixed sequence of `restarts` poses until one succeeds. Reached when the angle is below 1e-9. The result replaces the
//     answer if its orientation is better, at any cost in posture.

// The defaults given beside the members.
static inline poise_erik_options poise_erik_options_default(void)
{
    poise_erik_options options;
    poise_init(POISE_TYPE_ERIK_OPTIONS, &options, sizeof options);
    return options;
}

// How a solve went. Errors are those of the q that came back.
typedef struct poise_erik_report {
    poise_outcome outcome; // REACHED: error <= threshold; STALLED: not, and tricks did not help; BUDGET: max_iterations
    const char *reason;    // in words; a constant
    int iterations;        // forward and backward phases; 0: following the previous solution was enough
    bool followed;         // warm: the answer follows the previous solution
    bool used_offset;      // the offset trick was tried
    bool used_ccd;         // the CCD trick was tried
    bool exact;            // exact_orientation: the exact orientation was reached
    double error;          // weighted sum of the next two
    double orientation;    // 0 to 1
    double posture;        // 0 to 1, not weighted
    double angle;          // radians between the end and the target, or its half-roll twin where that is allowed
    int active_limits;     // joints of the chain at a limit
} poise_erik_report;

// A chain prepared for ERIK, with its scratch memory: opaque.
typedef struct poise_erik poise_erik;

// ERIK for a chain of `model`, which must outlive it; the options are copied. One allocation from `allocator` (NULL:
// malloc). `error` names the unsupported joint or the invalid option.
POISE_API poise_status poise_erik_create(const poise_model *model, const poise_erik_options *options,
                                         const poise_allocator *allocator, poise_erik **erik, poise_error *error);
POISE_API void poise_erik_destroy(poise_erik *erik); // NULL is allowed

// A joint of the chain.
typedef struct poise_erik_link {
    int index;       // of the joint in the model
    bool is_twister; // it turns about its own segment
} poise_erik_link;

// The joints of a chain, from the root.
typedef struct poise_erik_chain {
    int count;                    // how many there are
    const poise_erik_link *links; // `count` of them; valid as long as the poise_erik
} poise_erik_chain;

// The joints of the chain; none if `erik` is NULL.
POISE_API poise_erik_chain poise_erik_joints(const poise_erik *erik);

// Find the q (nq numbers) whose shape is that of `posture` (nq numbers, which may lie outside the limits) and whose end has
// the world rotation `target` (any length but 0). Joints outside the chain are untouched; with `warm` those of the chain
// are the start. `report` may be NULL. POISE_ERROR_ARGUMENT, with q untouched: a NULL pointer, a non-finite number, a zero
// quaternion.
POISE_API poise_status poise_erik_solve(poise_erik *erik, const double *posture, poise_quat target, double *q,
                                        poise_erik_report *report, poise_error *error);

// Measure the errors of any q, solved or not: fills `report` with REACHED or STALLED and 0 iterations.
POISE_API poise_status poise_erik_measure(poise_erik *erik, const double *posture, poise_quat target, const double *q,
                                          poise_erik_report *report, poise_error *error);

// Convert a posture given as world positions of the chain's joints and the tip, root first: one more than poise_erik_joints
// has. Only the directions of the segments matter, so a drawing of any scale will do; equal points have no direction. Fills
// the chain's joints in `posture` (nq numbers) with the angles that fit best, ignoring limits, and *misfit (may be NULL)
// with the root mean square of the angle left between a segment and its direction. Twists that no segment shows are 0.
// Directions distinguish a chain from its mirrored twists only up to the posture's error measure. POISE_ERROR_ARGUMENT:
// wrong count, a non-finite point, or all points equal.
POISE_API poise_status poise_erik_posture_from_positions(poise_erik *erik, const poise_vec3 *positions, int count,
                                                         double *posture, double *misfit, poise_error *error);

#ifdef __cplusplus
}
#endif

#endif
