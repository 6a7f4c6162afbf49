// Poise: meets goals while holding a posture. The successor of ERIK (express.h), for goals and limits of any kind.
//
//   poise_expressive_options options = poise_expressive_options_default();
//   poise_expressive_create(model, &options, NULL, &expressive, &error);
//   poise_expressive_solve(expressive, goals, count, posture, q, &report, &error); // q: last answer in, next one out
//
// Link with Poise::poise_papers, as for <poise/papers.h>.
//
// Finds the q within the limits that meets the goals (an orientation, a gaze, a reach, several of them on several bodies)
// with the least change of shape. The model may be a tree and have joints of any type. There are two measures of shape:
//
//   METRIC  the posture error of the paper, see express.h: how far joints bend, not which way
//   SHAPE   the mean of |angle - angle of the posture| / pi. Bending past straight, to the side opposite to the posture's,
//           counts up to three times, so bends keep their direction. A run of swings between two twisters of the chain
//           may bend the other way as a whole if its twisters make half a turn: that is the same shape. A twister inside
//           the chain counts like the swing before it; those at root and end are free.
//
//   error = goal_weight * goal + posture_weight * posture
//   goal  = sum over goals of sqrt(2) sin(phi / 4) for a remaining angle phi, and of length / length_scale
//
// **Joints.** Those from the root to `body`, where they are all revolute, form the chain of express.h: swings count with
// the weights of the paper, twisters are free but in SHAPE, inside the chain. Joints outside it, and all joints if there is
// no such chain, count equally, by the angle or length between them and the posture (METRIC: a hinge by its cosine).
//
// **How.** First come candidates: the last answer; the posture; and, on a chain with an orientation goal at its end, every
// pattern of bends with the posture's cosines, turned at root and end in closed form, with one joint taking up the rest.
// The best few are refined by damped Gauss-Newton steps with an active set of limits, on the goals (strongly weighted) and
// a smoothed sum of absolute values that sharpens from step to step. Finally the goals alone are solved to rounding. While
// they are missed, further starts follow.
//
// **Continuity.** With `warm` the refined last answer is kept unless another candidate is better by more than `gain`. With
// `stride` no joint jumps on the way to that candidate, provided the goals can be met all the way.
//
// **Threads.** A poise_expressive belongs to one thread at a time. Solving allocates nothing, reads no clock, and gives the
// same bits for the same input. Limits hold exactly in what comes back. Each step solves a dense system of nv unknowns, so
// models should have no more than about a hundred degrees of freedom.
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
    int body;                   // NONE: end of the chain; by default the last body of the model
    poise_pose tip;             // identity: frame of the end in that body; its position ends the last segment
    double goal_weight;         // 1; > 0
    double posture_weight;      // 0.2
    double threshold;           // 0.04: an error up to this counts as reached
    double aggravation;         // 1.46: weight of a bend relative to the bend before it on the chain; > 0
    double length_scale;        // 1: length error that counts as 1; > 0
    bool symmetric_endpoint;    // false; true: an ORIENTATION goal on `body` may be met rolled by half a turn about the last
                                // segment, and errors count likewise; right for a lamp, wrong for most hands
    bool warm;                  // true: q is the last answer; false: q matters only for joints that nothing else determines
    bool exact;                 // true: candidates that meet the goals are preferred to all others, whatever their error
    double gain;                // 0.02: another candidate must be better by this much to replace the last answer
    double stride;              // 0: switch to it at once; > 0: over several calls, in strides of this length (2)
    double inertia;             // 0.05: the change from the last answer costs half this times its square (radians, lengths)
    int searches;               // 4: candidates refined, besides the last answer; 0 to 16 (1)
    int max_iterations;         // 25: steps of each refinement; >= 1
    int max_goals;              // 16: goals that a call may have
    int coupled_goals;          // 2: RELATIVE and CENTER_OF_MASS goals among them
    bool use_erik;              // false; true: ERIK's answer is a further candidate, if there is a chain and an orientation
                                // goal
} poise_expressive_options;
// (1) While the goals are missed, further starts follow: ERIK's search if there is an orientation goal; otherwise starts
//     across the whole range, as many again with `warm`, eight times as many without.
// (2) For a target that moves along a path: a root that reaches its limit has to turn back by up to a whole turn, and bends
//     change sides. With a stride no joint moves further in one call than the stride (radians, lengths) plus twice what the
//     goals alone require. The answers in between meet the goals, at some cost in posture. If no such path exists, or the
//     target moves too far in one call, joints jump. A new posture, too, is reached over several calls. `poise aim`, `warp`
//     and `stream` use 0.1.

// The defaults given beside the members.
static inline poise_expressive_options poise_expressive_options_default(void)
{
    poise_expressive_options options;
    poise_init(POISE_TYPE_EXPRESSIVE_OPTIONS, &options, sizeof options);
    return options;
}

// How a solve went. Errors are those of the q that came back.
typedef struct poise_expressive_report {
    poise_outcome outcome; // REACHED: error <= threshold; CLOSEST: not
    double error;          // the weighted sum of the next two
    double goal;           // sum over the goals
    double posture;        // in the measure of the mode, not weighted
    double worst_length;   // largest remaining error of a goal, in length units
    double worst_angle;    // radians
    int candidates;        // refined
    int evaluations;       // of the objective
    bool kept_branch;      // warm: the last answer was followed
    bool is_on_the_way;    // warm, stride: a better answer is being approached
} poise_expressive_report;

// A model prepared for expressive solves, with scratch memory and the last answer: opaque.
typedef struct poise_expressive poise_expressive;

// Create one for `model`, which must outlive it; the options are copied. Memory comes from `allocator` (NULL: malloc).
// `error` names the invalid option.
POISE_API poise_status poise_expressive_create(const poise_model *model, const poise_expressive_options *options,
                                               const poise_allocator *allocator, poise_expressive **expressive,
                                               poise_error *error);
POISE_API void poise_expressive_destroy(poise_expressive *expressive); // NULL is allowed

// Meet the goals (count of them; see goal.h) in the shape of `posture` (nq numbers, which may lie outside the limits). q
// (nq numbers) holds the last answer and receives the next one. `report` may be NULL. POISE_ERROR_ARGUMENT, with q
// untouched: a NULL pointer, a non-finite number, an invalid goal, more goals than the options allow.
POISE_API poise_status poise_expressive_solve(poise_expressive *expressive, const poise_goal *goals, int count,
                                              const double *posture, double *q, poise_expressive_report *report,
                                              poise_error *error);

// ---- Warping an animation ------------------------------------------------------------------------------------------------

// Warp one frame: hold `posture`, a frame of the animation, while meeting the goals, and let `filter` (one joint for each
// of the nq coordinates, from poise_filter_create; not for quaternions) move the joints there within their limits of
// velocity, acceleration and jerk. `answer` (nq numbers) is the last solved configuration on input and the next one on
// output; pass it on to the next frame. `q` (nq numbers) is what to show or send to the motors after dt seconds.
POISE_API poise_status poise_expressive_warp(poise_expressive *expressive, const poise_goal *goals, int count,
                                             const double *posture, poise_filter *filter, double dt, double *answer,
                                             double *q, poise_expressive_report *report, poise_error *error);

// ---- Facing something ----------------------------------------------------------------------------------------------------
//
// A posture is held while the end of a skeleton faces an orientation, a direction or a point, by either method, measured
// alike: what `poise aim`, `warp` and `stream` do.

// What is faced.
typedef enum poise_aim_kind {
    POISE_AIM_ORIENTATION = 0, // the tip has this rotation in the world
    POISE_AIM_DIRECTION,       // the axis has this direction in the world; the roll about it is free
    POISE_AIM_POINT            // the axis points from the tip to this place
} poise_aim_kind;

// An orientation, a direction or a point, in the world.
typedef struct poise_aim_target {
    poise_aim_kind kind; // which of the next two
    poise_quat rotation; // unit; of an orientation
    poise_vec3 vector;   // unit for a direction
} poise_aim_target;

// Who solves it.
typedef enum poise_aim_method {
    POISE_AIM_EXPRESSIVE = 0, // poise_expressive_solve
    POISE_AIM_ERIK,           // poise_erik_solve: for a chain of hinges
    POISE_AIM_METHOD_COUNT
} poise_aim_method;

enum { POISE_AIM_MOST_HELD = 8 };

// A search for an orientation of ERIK's chain, as poise_erik_solve.
typedef poise_status (*poise_aim_chain)(void *user, poise_erik *erik, const double *posture, poise_quat target, double *q,
                                        poise_erik_report *report);

// Fill with poise_aim_options_default(), change what you like.
typedef struct poise_aim_options {
    poise_aim_method method;             // EXPRESSIVE
    int body;                            // NONE: the one that faces the target; by default the last body of the model
    poise_pose tip;                      // identity: frame of the end in that body
    poise_vec3 axis;                     // z: the direction that it faces with, in the frame of the body
    bool symmetric;                      // true: an orientation may be met rolled by half a turn about the last segment
    int held[POISE_AIM_MOST_HELD];       // 0: bodies that stay where the posture has them, for EXPRESSIVE
    int held_count;                      // 0: how many
    poise_expressive_options expressive; // stride = 0.1: its body, tip and symmetric_endpoint are those above
    poise_erik_options erik;             // warm = true: the same; its weights and threshold measure every method
    poise_aim_chain chain;               // NULL: another search, for an orientation by ERIK
    void *user;                          // NULL: of `chain`
} poise_aim_options;

// The defaults given beside the members.
static inline poise_aim_options poise_aim_options_default(void)
{
    poise_aim_options options;
    poise_init(POISE_TYPE_AIM_OPTIONS, &options, sizeof options);
    return options;
}

// How one solve went; angles in radians.
typedef struct poise_aim_report {
    poise_outcome outcome; // REACHED: the end faces its target to within the threshold; else why not
    bool faces;            // that it does
    bool within;           // the combined error is within the threshold, too: success as the ERIK paper counts it
    int iterations;        // of ERIK; for the successor, evaluations of its objective
    double angle;          // left between the end and the target
    double orientation;    // the same as an error from 0 to 1: sqrt(2) sin(angle / 4)
    double posture;        // error of the posture, 0 to 1
    double error;          // weighted sum of both
    double shape;          // mean turn of the bends against the posture, signs seen (1); NaN: there is no chain of hinges
    bool limits_hold;      // q is within the joint limits
} poise_aim_report;
// (1) Weighted as the posture error is. A run of bends between two twisters may go the other way as a whole with half a turn
//     of the twister before it.

// A model prepared to face things: opaque.
typedef struct poise_aim poise_aim;

// Create one for `model`, which must outlive it; the options are copied. `error` names the invalid option, or the joint that
// ERIK does not support.
POISE_API poise_status poise_aim_create(const poise_model *model, const poise_aim_options *options,
                                        const poise_allocator *allocator, poise_aim **aim, poise_error *error);
POISE_API void poise_aim_destroy(poise_aim *aim); // NULL is allowed

// Find q (nq numbers) that faces the target in the shape of `posture`. `follows`: q comes in as the last answer of a
// sequence. `report` may be NULL.
POISE_API poise_status poise_aim_solve(poise_aim *aim, const poise_aim_target *target, const double *posture, bool follows,
                                       double *q, poise_aim_report *report, poise_error *error);

// The angle left between the end and a target at any q, in radians.
POISE_API double poise_aim_angle(poise_aim *aim, const poise_aim_target *target, const double *q);

// The target as a goal of the end.
POISE_API poise_goal poise_aim_goal(const poise_aim_options *options, const poise_aim_target *target);

// Has a joint moved by more than 20 degrees (0.35 length units) between two answers? The paper's measure of a jump.
POISE_API bool poise_aim_has_jumped(const poise_model *model, const double *before, const double *q);

#ifdef __cplusplus
}
#endif

#endif
