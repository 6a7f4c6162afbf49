// One pass over a body with markers, the same for every problem: no loops but over the tree. Plain C over `scalar`
// (body_numbers.h), for the device and the host.
//
//   forward   frames, axes S, markers x, and the cost E = 1/2 sum w |x - t|^2 at the trial
//   up        Gauss-Newton in articulated form: with A the inertia of the markers below, V the motion of the body above,
//               B = A S    Delta = S . B + lambda D    A <- A - B Delta^-1 B^T    W = Delta^-1 B    w = Delta^-1 gamma
//             dof by dof, from the leaves (R. Featherstone 1983; solve/tree_step.c). Beside it the plain wrench of all
//             markers below, whose sign tells which dofs at a bound are held.
//   down      x = -(W . V + w), clamped on the way, so that what lies below makes up for it.
//
// Completing squares, the damped model of the cost at any x, clamped or not, is
//
//   m(x) = 1/2 sum Delta_k (x_k - x_k^)^2 - 1/2 sum gamma_k^2/Delta_k,       x_k^ = -(W_k . V + w_k), V as it came to be
//
// which gives the predicted decrease without another sweep. The exact Hessian changes B alone: with the wrenches f of the
// markers below,
//
//   B = A S + (sum u x f, 0),  u = w x x + v:   sum u x f = G w + v x F,   G = sum x f^T - (x . f) I
//
// A rotation vector has second derivatives of its own beside that; they vanish with the torque at the joint, that is where
// none of its three coordinates is at a bound, and are left out.
//
// Swings at an active edge of their ellipse (solve/step.c) are taken along the edge: the pair of axes is turned to
// its normal, which is held, and its tangent, whose Delta has the curvature of the edge.
#ifndef POISE_CUDA_BODY_PASS_H
#define POISE_CUDA_BODY_PASS_H

#include "body_down.h"
#include "body_forward.h"

#endif
