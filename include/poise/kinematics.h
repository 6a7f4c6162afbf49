// Poise: forward kinematics, Jacobians, second derivatives and steps of a configuration.
//
// Create a poise_kinematics for a model, update it with a configuration, then query it. Only poise_kinematics_create
// allocates.
//
// **Threads.** Only one thread at a time may update a poise_kinematics. Between updates any number may query it: calls that
// take it as const do not write to it.
//
// Columns of a Jacobian belong to the nv components of a step: column i is the derivative along
// poise_retract(model, q, e_i t) at t = 0. Matrices are row-major. Columns of joints that do not move the body are zero.
#ifndef POISE_KINEMATICS_H
#define POISE_KINEMATICS_H

#include <poise/model.h>

#ifdef __cplusplus
extern "C" {
#endif

// World poses of all bodies of one model at one configuration: opaque.
typedef struct poise_kinematics poise_kinematics;

// Kinematics of `model`, which must outlive it, at the neutral configuration. One allocation from `allocator` (NULL:
// malloc).
POISE_API poise_status poise_kinematics_create(const poise_model *model, const poise_allocator *allocator,
                                               poise_kinematics **kinematics, poise_error *error);
POISE_API void poise_kinematics_destroy(poise_kinematics *kinematics); // NULL is allowed

// The forward sweep for the configuration `q` (nq numbers): every body's pose and every motion axis, O(joints). Quaternions
// in q need not be unit. Fails on a non-finite number or a zero quaternion, and then keeps its last valid state.
POISE_API poise_status poise_kinematics_update(poise_kinematics *kinematics, const double *q, poise_error *error);

// The pose, in its parent's frame, of the body of a CURVE joint or of a joint that mimics by a function; q is the
// coordinate of the joint, or of the joint it follows. The identity for any other joint.
POISE_API poise_pose poise_model_curve_pose(const poise_model *model, int joint, double q);

// The coordinate of a mimic joint when the joint it follows is at q; q itself for any other joint.
POISE_API double poise_model_mimic(const poise_model *model, int joint, double q);

// World pose of a body, or of a tool. An index out of range gives the identity.
POISE_API poise_pose poise_kinematics_body_pose(const poise_kinematics *kinematics, int body);
POISE_API poise_pose poise_kinematics_tool_pose(const poise_kinematics *kinematics, int tool);

// The pose of a body as a row-major rotation matrix and a position: for inner loops, as it needs no square root.
POISE_API void poise_kinematics_body_frame(const poise_kinematics *kinematics, int body, double rotation[9],
                                           double position[3]);

// World position of the point `local` fixed in `body`; for POISE_WORLD, `local` itself.
POISE_API poise_vec3 poise_kinematics_point(const poise_kinematics *kinematics, int body, poise_vec3 local);

// The vector from one point, fixed in a body, to another. It keeps the digits that the difference of two world positions
// loses where the skeleton is far from the world's origin.
POISE_API poise_vec3 poise_kinematics_apart(const poise_kinematics *kinematics, int from_body, poise_vec3 from_local,
                                            int to_body, poise_vec3 to_local);

// The largest angle, in radians, by which a body is turned in one and not in the other; of one model. 0 for NULL.
POISE_API double poise_kinematics_turn(const poise_kinematics *from, const poise_kinematics *to);

// Copy the state of another poise_kinematics of the same model, which costs less than an update. NULL is allowed.
POISE_API void poise_kinematics_copy(poise_kinematics *kinematics, const poise_kinematics *from);

// World components of the direction `local` fixed in `body`.
POISE_API poise_vec3 poise_kinematics_direction(const poise_kinematics *kinematics, int body, poise_vec3 local);

// Returns the total mass; fills the world position of the centre of mass and its Jacobian J (3 x nv), both of which may be
// NULL. A model without mass gives 0 and the origin, with J untouched.
POISE_API double poise_kinematics_mass_center(const poise_kinematics *kinematics, poise_vec3 *center, double *J);

// ---- First derivatives ---------------------------------------------------------------------------------------------------

// J (3 x nv): Jacobian of the world position of a point fixed in `body`. J_turn (3 x nv): of the body's rotation, as
// angular velocity in world axes. Either may be NULL; stored at J and J + 3 nv they form the 6 x nv Jacobian of the frame.
POISE_API poise_status poise_kinematics_jacobian(const poise_kinematics *kinematics, int body, poise_vec3 local, double *J,
                                                 double *J_turn, poise_error *error);

// J (3 x nv): Jacobian of the world components of a direction fixed in `body`.
POISE_API poise_status poise_kinematics_direction_jacobian(const poise_kinematics *kinematics, int body, poise_vec3 local,
                                                           double *J, poise_error *error);

// ---- Second derivatives --------------------------------------------------------------------------------------------------

// K (3 x nv x nv): d2 point / dv_i dv_j, K[(row * nv + i) * nv + j], symmetric in i and j to the last bit. This is the
// tensor of Erleben & Andrews 2019, eq. (22), for all joint types: with respect to a step from the current configuration. A
// mimic joint contributes through the joint it follows. It takes O(depth^2) work and 3 nv^2 memory; if you only need a
// Hessian, use an objective (objective.h).
POISE_API poise_status poise_kinematics_point_tensor(const poise_kinematics *kinematics, int body, poise_vec3 local,
                                                     double *K, poise_error *error);

// ---- Steps ---------------------------------------------------------------------------------------------------------------

// q_out = q after the step v (nv numbers). Coordinates add, quaternions are multiplied from the right by exp(step) and kept
// unit, exponential maps without limits that grow beyond pi are reparameterised. q_out may be q. Limits are ignored. A step
// may have any finite length: angles count modulo whole turns. POISE_ERROR_ARGUMENT, with q_out untouched, when a number is
// not finite, a quaternion is zero, or a coordinate plus its step overflows.
POISE_API poise_status poise_retract(const poise_model *model, const double *q, const double *v, double *q_out,
                                     poise_error *error);

// The step v with poise_retract(q_from, v) = q_to: for quaternions the shorter way; for exponential maps without limits to
// the nearer of the two vectors of a rotation, so that a motion through half a turn makes no jump. POISE_ERROR_ARGUMENT in
// the same cases, and when two values are too far apart to represent.
POISE_API poise_status poise_difference(const poise_model *model, const double *q_from, const double *q_to, double *v,
                                        poise_error *error);

// The configuration at `share` of the way between two: 0 is `from`, 1 is `to`. Each joint takes the shortest way at constant
// speed, the one that poise_difference gives; an angle that jumps by a whole turn does not move. The three angles of an
// Euler joint without limits go along the arc of their rotation where one of them changes by more than `apart` radians,
// since angle by angle they would tumble: 0.5 between frames of a motion, 0 between poses that may be far apart. q may be
// `from` or `to`. ARGUMENT: a number is not finite, a quaternion is zero, or the share not in [0, 1].
POISE_API poise_status poise_interpolate(const poise_model *model, const double *from, const double *to, double share,
                                         double apart, double *q, poise_error *error);

// Predict the next configuration from `count` frames of nq numbers each, oldest first, as in a clip. A tracker that starts
// poise_solve there instead of at its last answer needs fewer iterations: one instead of three on smooth motions. The
// prediction assumes constant velocity, or constant acceleration, each only if it would have predicted the last frame three
// times as well as the simpler guess. If it would not (noise, a jump), or with fewer than three frames, the prediction is
// the last frame. At most four frames are used. Limits are ignored: a solver moves its start inside. `q` may be the last
// frame itself. The call keeps no state.
POISE_API poise_status poise_predict(const poise_model *model, const double *frames, int count, double *q,
                                     poise_error *error);

// ---- Other numbers for a pose --------------------------------------------------------------------------------------------

// Set the coordinates of a joint in q so that its body comes to `pose`, its parent's body being at `parent` (that of the
// world: the identity). Of all angles, or quaternions, of a rotation those that change q least; in gimbal lock the first
// angle stays. Slides or rotations that the joint lacks are left out, and limits are not checked. False: the joint cannot
// take every pose, and its body may be elsewhere.
POISE_API bool poise_set_joint_pose(const poise_model *model, int joint, const poise_pose *parent, const poise_pose *pose,
                                    double *q);

// Change q, but not its pose, to lie next to `near`: joints without limits are moved by whole turns, and of the two triples
// of Euler angles for one rotation the nearer one is taken. A coordinate that is nearest already keeps its bits.
POISE_API void poise_set_same_pose_near(const poise_model *model, const double *near, double *q);

#ifdef __cplusplus
}
#endif

#endif
