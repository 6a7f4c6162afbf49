// Poise: how an answer moves when its goals do. Derivatives of q* = argmin f(q) within the limits, exact, in O(joints).
//
//   poise_sensitivity_create(model, 0, NULL, &sensitivity, &error);
//   poise_sensitivity_update(sensitivity, goals, count, q, true, &error);                   // at an answer of poise_solve
//   poise_sensitivity_forward(sensitivity, changes, dq, &error);                            // dq for changes of the goals
//   poise_sensitivity_backward(sensitivity, dL_dq, gradients, lower, upper, &error);        // dL/d(goals) for dL/dq
//   poise_sensitivity_poses(sensitivity, &goal, targets, q, dL_dq, count, gradients, &error); // many answers to poses
//
// At the answer the gradient vanishes along every coordinate that no limit holds. So with F those coordinates, H the exact
// Hessian and p any number in the goals (the implicit function theorem)
//
//   dq_F/dp = -H_FF^-1 d2f/dq_F dp,     dq_i/dlower_i = 1 for a coordinate i that is held there,
//   dq_F/dlower_i = -H_FF^-1 H_Fi
//
// One factorisation on the tree serves any number of directions. Where goals leave coordinates open (an arm with more joints
// than its pose needs) H_FF has a null space, and the derivative is that of the least step: the pseudo-inverse. Where an
// answer only touches a limit, without being pushed against it, as one that meets its goals, the derivative is that of the
// side within the limits.
//
// **Threads.** A poise_sensitivity belongs to one thread at a time.
#ifndef POISE_SENSITIVITY_H
#define POISE_SENSITIVITY_H

#include <poise/objective.h>

#ifdef __cplusplus
extern "C" {
#endif

// A small change of one goal, or the derivative of a loss by it. Members that a kind of goal does not have are 0.
//
// A target is moved as a whole: its position, and the frame, direction, normal or band that belongs to it, which turns. For
// RELATIVE the same in world axes, with body2 at rest.
typedef struct poise_goal_change {
    poise_vec3 translation; // of the target's position
    poise_vec3 rotation;    // of the target about its position: a small rotation vector in world axes
    double weight;          // of the goal's `weight`
    double rotation_weight; // likewise
    double *posture;        // POSTURE, SMOOTHNESS: of the configuration that is held, a step of nv numbers; NULL: none. For
                            // rotation vectors as long as they are the nearer of the two that mean the same.
} poise_goal_change;

// Scratch memory for the derivatives of one model's answers: opaque.
typedef struct poise_sensitivity poise_sensitivity;

// For `model`, which must outlive it, and up to `coupled_goals` RELATIVE and CENTER_OF_MASS goals at a time. One allocation
// from `allocator` (NULL: malloc) of about nv^2 numbers.
POISE_API poise_status poise_sensitivity_create(const poise_model *model, int coupled_goals,
                                                const poise_allocator *allocator, poise_sensitivity **sensitivity,
                                                poise_error *error);
POISE_API void poise_sensitivity_destroy(poise_sensitivity *sensitivity); // NULL is allowed

// Look at the answer q (nq numbers) to these goals, which must stay valid and unchanged until the next call; without
// `use_limits` as if there were none. NUMERIC: q is no minimum there (H has a direction of negative curvature), so that a
// solve would not stay. CALLBACK goals count in H and have no parameters. Goals that are met to 2e-6, of the longest lever
// and radians, are taken as met: H has no second-order terms then.
POISE_API poise_status poise_sensitivity_update(poise_sensitivity *sensitivity, const poise_goal *goals, int count,
                                                const double *q, bool use_limits, poise_error *error);

// The change of the answer, a step dq of nv numbers, when every goal i changes by changes[i].
POISE_API poise_status poise_sensitivity_forward(poise_sensitivity *sensitivity, const poise_goal_change *changes,
                                                 double *dq, poise_error *error);

// The other way: from dL/dq (nv numbers, by the components of a step) the derivatives of a loss L by every goal, into
// gradients[i], whose `posture` takes nv numbers unless it is NULL, and by the limits, nv numbers each, 0 where the limit
// does not hold the answer; lower and upper may be NULL.
POISE_API poise_status poise_sensitivity_backward(poise_sensitivity *sensitivity, const double *dL_dq,
                                                  poise_goal_change *gradients, double *lower, double *upper,
                                                  poise_error *error);

// The other way for many answers to one POSE goal at once: answer i is q + i nq to the target targets[i], its derivatives
// dL_dq + i nv, and gradients + 6 i takes dL by the translation and the rotation of the target. The goal's own target does
// not matter. Zeros for an answer that is no minimum. An answer within 2e-6 of its target (of the longest lever, and
// radians) is taken as the answer to the pose that it has; that takes a quarter of the time. Afterwards
// poise_sensitivity_update comes first again.
POISE_API poise_status poise_sensitivity_poses(poise_sensitivity *sensitivity, const poise_goal *goal,
                                               const poise_pose *targets, const double *q, const double *dL_dq, int count,
                                               double *gradients, poise_error *error);

#ifdef __cplusplus
}
#endif

#endif
