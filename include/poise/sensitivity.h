// Poise: how an answer changes with its goals. Exact derivatives of q* = argmin f(q) within the limits, in O(joints).
//
//   poise_sensitivity_create(model, 0, NULL, &sensitivity, &error);
//   poise_sensitivity_update(sensitivity, goals, count, q, true, &error);                   // at an answer of poise_solve
//   poise_sensitivity_forward(sensitivity, changes, dq, &error);                            // dq for changes of the goals
//   poise_sensitivity_backward(sensitivity, dL_dq, gradients, lower, upper, &error);        // dL/d(goals) for dL/dq
//   poise_sensitivity_poses(sensitivity, &goal, targets, q, dL_dq, count, gradients, defined, &error); // many poses
//
// At the answer the gradient vanishes along every coordinate that no limit holds. Let F be those coordinates, H the exact
// Hessian and p any parameter of the goals. By the implicit function theorem
//
//   dq_F/dp = -H_FF^-1 d2f/dq_F dp,     dq_i/dlower_i = 1 for a coordinate i that is held there,
//   dq_F/dlower_i = -H_FF^-1 H_Fi
//
// One factorisation on the tree serves any number of directions. If the goals leave coordinates undetermined (an arm with
// more joints than its pose needs), H_FF has a null space, and the derivative is that of the shortest step: the
// pseudo-inverse.
//
// **No derivative** exists, and the calls return NUMERIC, if q is not a minimum, if q is a singular configuration in which
// the goals are met, or if goals pull along directions in which the cost has no curvature. A q is taken for a minimum if
// the Newton step from it, which the gradient and H give, is at most 1e-3 radians, and for slides 1e-3 of the distance
// between joints: the derivative is then right to about a percent, and to 1e-6 at what poise_solve calls reached or
// closest.
//
// **Kinks.** A coordinate that touches a limit without being pushed against it, for example because the goals are met, can
// move to one side only. Forward gives the derivative along the given changes, holding coordinates that these would push
// out. Backward, being linear, gives the derivative for the side within the limits. poise_sensitivity_describe says which
// coordinates touch.
//
// **Threads.** A poise_sensitivity belongs to one thread at a time.
#ifndef POISE_SENSITIVITY_H
#define POISE_SENSITIVITY_H

#include <poise/objective.h>

#ifdef __cplusplus
extern "C" {
#endif

// A small change of one goal, or the derivative of a loss with respect to it. Members that a goal kind does not use are 0.
//
// A target moves as a whole: its position, and with it the frame, direction, normal or band, which turns. For RELATIVE,
// too, in world axes, with body2 at rest.
typedef struct poise_goal_change {
    poise_vec3 translation; // of the target's position
    poise_vec3 rotation;    // of the target about its position: a small rotation vector in world axes
    double weight;          // of the goal's `weight`
    double rotation_weight; // likewise
    double *posture;        // POSTURE, SMOOTHNESS: of the target configuration, a step of nv numbers; NULL: none. Valid for
                            // a rotation vector while it is the nearer of its two equivalents.
} poise_goal_change;

// Scratch memory for the derivatives of one model's answers: opaque.
typedef struct poise_sensitivity poise_sensitivity;

// Create one for `model`, which must outlive it, and up to `coupled_goals` RELATIVE and CENTER_OF_MASS goals at a time. One
// allocation from `allocator` (NULL: malloc) of about nv^2 numbers.
POISE_API poise_status poise_sensitivity_create(const poise_model *model, int coupled_goals,
                                                const poise_allocator *allocator, poise_sensitivity **sensitivity,
                                                poise_error *error);
POISE_API void poise_sensitivity_destroy(poise_sensitivity *sensitivity); // NULL is allowed

// Linearise at the answer q (nq numbers) to these goals, which must stay valid and unchanged until the next call. Limits
// are ignored without `use_limits`. NUMERIC: no derivative exists. CALLBACK goals contribute to H but have no parameters.
// Goals within 2e-6 (of the longest lever, and in radians) count as met; H then has no second-order terms.
POISE_API poise_status poise_sensitivity_update(poise_sensitivity *sensitivity, const poise_goal *goals, int count,
                                                const double *q, bool use_limits, poise_error *error);

// What a limit does to a coordinate.
typedef enum poise_limit_state {
    POISE_HELD_LOWER = -2, // pushed against it, or both limits are equal
    POISE_TOUCHES_LOWER = -1,
    POISE_FREE = 0,
    POISE_TOUCHES_UPPER = 1,
    POISE_HELD_UPPER = 2
} poise_limit_state;

// The answer of the last update.
typedef struct poise_sensitivity_info {
    int open;                  // dimensions of motion that no goal determines
    int held, touching;        // number of coordinates in these states
    const signed char *limits; // a poise_limit_state for each of the nv components of a step; NULL before an update
} poise_sensitivity_info;

// Which coordinates limits hold, and how many dimensions the goals leave open. Zeros and NULL before the first successful
// update.
POISE_API poise_sensitivity_info poise_sensitivity_describe(const poise_sensitivity *sensitivity);

// The change of the answer, a step dq of nv numbers, when every goal i changes by changes[i].
POISE_API poise_status poise_sensitivity_forward(poise_sensitivity *sensitivity, const poise_goal_change *changes,
                                                 double *dq, poise_error *error);

// The reverse direction: from dL/dq (nv numbers, by component of a step) compute the derivatives of a loss L with respect
// to every goal, in gradients[i] (`posture` receives nv numbers unless it is NULL), and with respect to the limits, nv
// numbers each, 0 where the limit does not hold the answer. `lower` and `upper` may be NULL.
POISE_API poise_status poise_sensitivity_backward(poise_sensitivity *sensitivity, const double *dL_dq,
                                                  poise_goal_change *gradients, double *lower, double *upper,
                                                  poise_error *error);

// The reverse direction for many answers to one POSE goal: answer i, to targets[i], is at q + i nq and its dL/dq at dL_dq +
// i nv; gradients + 6 i receives dL/d(translation) and dL/d(rotation) of the target. The goal's own target is ignored.
// defined[i] (`defined` may be NULL) says whether answer i has a derivative; if not, its gradients are zeros. An answer
// within 2e-6 of its target (of the longest lever, and in radians) is treated as the answer to the pose that it has, which
// takes a quarter of the time. Call poise_sensitivity_update again before using the other calls.
POISE_API poise_status poise_sensitivity_poses(poise_sensitivity *sensitivity, const poise_goal *goal,
                                               const poise_pose *targets, const double *q, const double *dL_dq, int count,
                                               double *gradients, bool *defined, poise_error *error);

#ifdef __cplusplus
}
#endif

#endif
