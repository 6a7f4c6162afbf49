// Poise: holding a posture while goals are met. The successor of ERIK (express.h), over goals and limits of any kind.
//
//   poise_expressive_options options = poise_expressive_options_default();
//   poise_expressive_create(model, &options, NULL, &expressive, &error);
//   poise_expressive_solve(expressive, goals, count, posture, q, &report, &error); // q: last answer in, next one out
//
// Finds the q within the limits that meets the goals (an orientation, a gaze, a reach, several of them on several bodies)
// with the least change of shape. The model may be a tree and have joints of any type. Two measures of shape are on offer:
//
//   METRIC  the posture error of the paper, see express.h: how far joints bend, not which way
//   SHAPE   the mean of |angle - angle of the posture| / pi, where what a joint bends beyond straight, to the side that
//           the posture does not, counts up to three times: bends keep their direction. A run of swings between two
//           twisters of the chain may bend the other way as a whole where its twisters turn by half a turn: that is the
//           same shape. Twisters inside the chain count as the swing before them does; those at root and end are free.
//
//   error = goal_weight * goal + posture_weight * posture
//   goal  = sum over goals of sqrt(2) sin(phi / 4) for an angle phi that is left, and of length / length_scale
//
// **Joints.** Those from the root to `body`, where they are all revolute, form the chain of express.h: swings count with
// the weights of the paper, twisters are free but in SHAPE, inside the chain. Joints beside it, and all joints where there
// is no such chain, count alike with the angle or length between them and the posture (METRIC: a hinge by its cosine).
//
// **How.** Candidates first: the last answer; the posture; on a chain with an orientation goal at its end every pattern of
// bends with the posture's cosines, turned at root and end in closed form, and with one joint that pays for what is left.
// The best few are refined by damped Gauss-Newton steps with an active set of limits, on goals (strongly weighted) and a
// smoothed sum of absolute values that sharpens from step to step. Last the goals alone are brought to rounding. While they
// are missed, further starts follow.
//
// **Continuity.** With `warm` the refined last answer stands unless another candidate is better by more than `gain`.
// With `stride` no joint jumps on the way to that candidate where the goals can be met all the way.
//
// **Threads.** A poise_expressive belongs to one thread at a time. Solving allocates nothing, reads no clock, and gives
// the same bits for the same input. Limits hold exactly in what comes back. Steps solve dense systems of nv unknowns:
// made for models of up to about a hundred degrees of freedom.
#ifndef POISE_EXPRESSIVE_H
#define POISE_EXPRESSIVE_H

#include <poise/express.h>
#include <poise/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

// What it means to keep a posture.
typedef enum poise_expressive_mode {
    POISE_EXPRESSIVE_METRIC = 0,
    POISE_EXPRESSIVE_SHAPE,
    POISE_EXPRESSIVE_MODE_COUNT
} poise_expressive_mode;

// Fill with poise_expressive_options_default(), change what you like.
typedef struct poise_expressive_options {
    poise_expressive_mode mode; // METRIC
    int body;                   // POISE_NONE: end of the chain; by default the last body of the model
    poise_pose tip;             // identity: frame of the end in that body; its place ends the last segment
    double goal_weight;         // 1; > 0
    double posture_weight;      // 0.2
    double threshold;           // 0.04: an error up to this counts as reached
    double aggravation;         // 1.46: how much more a bend counts than the one before it on the chain; > 0
    double length_scale;        // 1: length that counts as an error of 1; > 0
    bool symmetric_endpoint; // true: an ORIENTATION goal on `body` may be met rolled by half a turn about the last segment
    bool warm;               // true: q comes in as the last answer; false: only joints that nothing decides keep their q
    bool exact;              // true: candidates that meet the goals come before those that do not, whatever their error
    double gain;             // 0.02: least advantage for which the last answer is left
    double stride;           // 0: leave it at once; else over several calls, by strides (2)
    double inertia;     // 0.05: on the way of the last answer, half this times its square (radians, lengths) is an error
    int searches;       // 4: candidates refined, besides the last answer; 0 to 16 (1)
    int max_iterations; // 25: steps of each refinement; >= 1
    int max_goals;      // 16: goals that a call may have
    int coupled_goals;  // 2: RELATIVE and CENTER_OF_MASS goals among them
    bool use_erik;      // false: ERIK's answer is one more candidate, where there is a chain and an orientation
} poise_expressive_options;
// (1) While the goals are missed: ERIK's search where there is an orientation; else starts all over the range, as many again
//     with `warm`, eight times as many without.
// (2) For a target that moves along a path: a root that comes to its limit has to turn back by up to a whole turn, and
//     bends change sides. No joint then moves in a call by more than the stride (radians, lengths) and twice what the goals
//     alone ask for. The answers in between meet the goals, at some cost of the posture. Where there is no such way, or the
//     target moves too far in one call, joints jump. A new posture is met over several calls, too. `poise aim`, `warp` and
//     `stream` use 0.1.

// The defaults that stand beside the members.
POISE_API poise_expressive_options poise_expressive_options_default(void);

// How a solve went. Errors are those of the q that came back.
typedef struct poise_expressive_report {
    poise_outcome outcome; // REACHED: error <= threshold; CLOSEST: not
    double error;          // the weighted sum of the next two
    double goal;           // sum over the goals
    double posture;        // in the measure of the mode, not weighted
    double worst_length;   // what is left of the goals, in their own units
    double worst_angle;    // radians
    int candidates;        // refined
    int evaluations;       // of the objective
    bool kept_branch;      // warm: the last answer was followed
    bool is_on_the_way;    // warm, stride: a better answer is being approached
} poise_expressive_report;

// A model made ready for expressive solves, with its memory and its last answer: opaque.
typedef struct poise_expressive poise_expressive;

// For `model`, which must outlive it; the options are copied. One allocation from `allocator` (NULL: malloc). `error` names
// the option that makes no sense.
POISE_API poise_status poise_expressive_create(const poise_model *model, const poise_expressive_options *options,
                                               const poise_allocator *allocator, poise_expressive **expressive,
                                               poise_error *error);
POISE_API void poise_expressive_destroy(poise_expressive *expressive); // NULL is allowed

// Meet the goals (count of them; see goal.h) in the shape of `posture` (nq numbers, which need not keep the limits). q (nq
// numbers) holds the last answer and takes the next one. `report` may be NULL. POISE_ERROR_ARGUMENT, with q untouched: NULL,
// a number that is not finite, a goal that makes no sense, more goals than the options allow.
POISE_API poise_status poise_expressive_solve(poise_expressive *expressive, const poise_goal *goals, int count,
                                              const double *posture, double *q, poise_expressive_report *report,
                                              poise_error *error);

// ---- Warping an animation ------------------------------------------------------------------------------------------------

// One frame: hold `posture`, a frame of the animation, while the goals are met, and let `filter` (one joint for each of nq
// coordinates, as poise_filter_create makes it; not for quaternions) bring the joints there within their limits of
// velocity, acceleration and jerk. `answer` (nq numbers) is the last solved configuration in and the next one out, from
// which the next frame goes on; `q` (nq numbers) is what to show or send to the motors after dt seconds.
POISE_API poise_status poise_expressive_warp(poise_expressive *expressive, const poise_goal *goals, int count,
                                             const double *posture, poise_filter *filter, double dt, double *answer,
                                             double *q, poise_expressive_report *report, poise_error *error);

#ifdef __cplusplus
}
#endif

#endif
