// Coordinates of a joint for a rotation that it is to have.
#ifndef PZ_KIN_PUT_ROTATION_H
#define PZ_KIN_PUT_ROTATION_H

#include "model/model.h"
#include "num/vector.h"

// Has a joint any rotation: a quaternion, a rotation vector, or the three turns of an Euler order?
bool pz_joint_has_rotation(const poise_model *model, const pz_joint *joint);

// Coordinates of the rotation M of a joint's motion next to those that q has: of all angles, or quaternions, of M the ones
// that change them least. In gimbal lock the first angle stays. False: the joint has not every rotation.
bool pz_put_rotation_near(const poise_model *model, const pz_joint *joint, const mat3 *M, double *q);

// Coordinates of a joint that bring its body to `pose`, next to those in q, its parent's body being at `parent` (that of the
// world: the identity). Of what the joint does not have, slides or rotations, nothing is set; false: there is some.
bool pz_put_pose_near(const poise_model *model, int joint, const poise_pose *parent, const poise_pose *pose, double *q);

// The coordinates of q for the same pose that lie next to `near`: of joints without limits, whole turns, and of both triples
// of an Euler order the nearer one. What is near stays as it is, to the bit.
void pz_stay_near(const poise_model *model, const double *near, double *q);

// The rotation M of a joint's motion at q. The joint has any.
mat3 pz_get_rotation(const poise_model *model, const pz_joint *joint, const double *q);

#endif
