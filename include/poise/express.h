// Poise: expressive inverse kinematics. Hold the posture an animator drew while the end faces where it is told to.
//
//   poise_erik_options options = poise_erik_options_default();
//   poise_erik_create(model, &options, NULL, &erik, &error);
//   poise_erik_solve(erik, posture, target, q, &report, &error);    // as often as you like
//
// **ERIK** (T. Ribeiro & A. Paiva, "Expressive Inverse Kinematics Solving in Real-time for Virtual and Robotic Interactive
// Characters", 2019). The posture is warped until its end points at the target, limits or not (BWCD). A forward phase, end
// to root, and a backward phase, root to end, bring the candidate's frames to the warped shape and that to angles within the
// limits; BWCD within limits then aims the end once more. Whatever is within `threshold` is returned. Iterations go on from
// the candidate. Where errors stop changing two tricks follow: first
// the target is turned by a little and the posture warped again, then CCD aims what was found, and the zero pose if that
// fails. The best candidate is returned, judged by the caller's posture and target.
//
// **The chain.** The joints from the root to `options.body`, which must be revolute; fixed ones count as part of the
// segments. Axes, limits and rest shape are free. The *segment* of a joint goes from its origin to the next joint's, the
// last one's to the tip; one without length continues the one before. A *twister* turns about its own segment; the others
// are *swings*. The end *points* along the last segment. Chains whose first and last joint are twisters can face any
// direction with any roll; without a twister at the end the roll is left as it comes, without one at the root the rest of
// the chain has to do its work. Both are served, with the errors reported. Sliding, ball and mimic joints in the chain are
// refused (POISE_ERROR_UNSUPPORTED). Joints of the model beside the chain keep their values.
//
// **Errors** are numbers from 0 to 1 (equations 19 to 22 of the paper):
//
//   error       = orientation_weight * orientation + posture_weight * posture
//   orientation = sqrt(2) sin(phi / 4), phi the angle between the end and its target; 0.04 is 6.5 degrees
//   posture     = sum_k a^i |cos(bend_k of q) - cos(bend_k of the posture)| / 2 / sum_k a^i   over swings k, i = 0, 1, ..
//
// where bend_k is the angle between segments k - 1 and k and a is `aggravation`. The measure sees how far a joint bends and
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

// Parameters and hyperparameters; names of the paper in brackets. The paper gives weights and threshold only. The other
// defaults are one setting that was fitted to all its printed statistics together: with them the mean iterations of its
// seven skeletons come out within 10 %, the errors of skeleton C within 7 % of the combined one, and the skeletons in its
// order (docs/expressive.md; `poise reproduce erik-fit`).
// Fill with poise_erik_options_default(), change what you like.
typedef struct poise_erik_options {
    int body;       // POISE_NONE: the end; by default the last body of the model
    poise_pose tip; // identity: frame of the end in that body, whose rotation is aimed; its place ends the last segment
    double orientation_weight; // 1   [OrientationErrorWeight]
    double posture_weight;     // 0.2 [PostureErrorWeight]
    double threshold;          // 0.04: an error up to this is accepted at once [Threshold]
    double aggravation;        // 1.46: how much more a bend counts than the one before it on the way to the end
                               // [ErrorAggravation]; > 0
    int max_iterations;        // 13: forward and backward phases [MaxERIKIterations]; >= 1
    int max_sweeps;            // 20: of BWCD and CCD [MaxCCDIterations]; >= 1
    double precision;        // 4.8e-4: these stop when (1 - cos of the angle to the target) / 2 is below this [CCDPrecision]
    double stall;            // 1e-6: CCD stops when that changes by less in a sweep [Precision]
    double disturbance;      // 0.046 rad: turn of the offset trick about each of two axes, and distance kept from limits
                             // [Disturbance]; >= 0
    int window;              // 4: errors looked at to see that iterations do not converge; 2 to 64
    double tolerance;        // 1e-9: errors that differ by less are the same
    bool symmetric_endpoint; // true: the end may be rolled by half a turn [extension SymmetricEndpoint]
    bool avoid_edges;        // true: keep off the limits while solving [AvoidEdges]
    bool offset_trick;       // true: [NonConvOffsetTrick]
    bool ccd_trick;          // true: [NonConvCCDTrick]
    bool warm;               // false: q comes in as the previous solution, from which the solve goes on (1)
                             // [PreviousSolution]
    double gain;             // 0.02: warm: least advantage for which what follows the previous solution is left; >= 0
    bool exact_orientation;  // false: finish with the orientation to rounding (2), which the paper leaves within threshold
    int restarts;            // 30: searches for the exact orientation from elsewhere within the limits
} poise_erik_options;
// (1) For a target or a posture that moves. Every joint goes a tenth of the way to the posture, in the branch of the
//     previous solution, and BWCD aims the end from there, without half turns of twisters. Where that is within the
//     threshold it is the answer, so that nothing jumps; else the iterations run, from the previous solution's frames. A
//     posture that changes is met over some calls. Without it every solve begins at the zero pose and knows nothing of the
//     one before, as in the paper's evaluation.
// (2) A damped Newton search within the limits from the answer; where it ends short, from the posture, from the zero pose
//     and from a fixed sequence of `restarts` poses until one gets there. Reached when the angle is below 1e-9. The result
//     replaces the answer where its orientation is better, whatever that costs the posture.

// The defaults that stand beside the members.
POISE_API poise_erik_options poise_erik_options_default(void);

// How a solve went. Errors are those of the q that came back.
typedef struct poise_erik_report {
    poise_outcome outcome; // REACHED: error <= threshold; STALLED: not, and tricks did not help; BUDGET: max_iterations
    const char *reason;    // in words; a constant
    int iterations;        // forward and backward phases; 0: the previous solution could be followed without
    bool followed;         // warm: what follows the previous solution is the answer
    bool used_offset;      // the offset trick was tried
    bool used_ccd;         // the CCD trick was tried
    bool exact;            // exact_orientation: it was reached
    double error;          // weighted sum of the next two
    double orientation;    // 0 to 1
    double posture;        // 0 to 1, not weighted
    double angle;          // between the end and the target, or its twin by half a roll where that is allowed, in radians
    int active_limits;     // joints of the chain at a limit
} poise_erik_report;

// A chain made ready for ERIK, with its memory: opaque.
typedef struct poise_erik poise_erik;

// ERIK for a chain of `model`, which must outlive it; the options are copied. One allocation from `allocator` (NULL:
// malloc). `error` names the joint that cannot be served, or the option that makes no sense.
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
    const poise_erik_link *links; // of those; valid as long as the poise_erik
} poise_erik_chain;

// None without a poise_erik.
POISE_API poise_erik_chain poise_erik_joints(const poise_erik *erik);

// Find q (nq numbers; joints beside the chain are left alone, those of the chain are started from if `warm`) whose shape
// is that of `posture` (nq numbers, which need not keep the limits) and whose end has the world rotation `target` (any
// length but 0). `report` may be NULL. POISE_ERROR_ARGUMENT, with q untouched: NULL, a number that is not finite, a zero
// quaternion.
POISE_API poise_status poise_erik_solve(poise_erik *erik, const double *posture, poise_quat target, double *q,
                                        poise_erik_report *report, poise_error *error);

// The errors of any q, solved or not: fills `report` with REACHED or STALLED, and 0 iterations.
POISE_API poise_status poise_erik_measure(poise_erik *erik, const double *posture, poise_quat target, const double *q,
                                          poise_erik_report *report, poise_error *error);

// A posture given as positions: where the joints of the chain and the tip are, poise_erik_joints and one more, in the
// world, root first. Only the directions of the segments are used, so that a drawing at any scale will do; equal points
// have none. Fills the chain's joints in `posture` (nq numbers) with angles, limits not looked at, that fit them best, and
// *misfit (may be NULL) with the root mean square of the angle left between a segment and its direction. Twists that no
// segment shows are 0. Directions tell a chain and its mirrored twists apart only up to the posture's error measure.
// POISE_ERROR_ARGUMENT: another count, a point that is not finite, points that are all the same.
POISE_API poise_status poise_erik_posture_from_positions(poise_erik *erik, const poise_vec3 *positions, int count,
                                                         double *posture, double *misfit, poise_error *error);

#ifdef __cplusplus
}
#endif

#endif
