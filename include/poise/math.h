// Poise: value types for points, rotations and poses, and the few functions a caller needs to fill them.
//
// Lengths are in the caller's unit (metres by convention), angles in radians. A rotation maps body coordinates to the
// coordinates of the frame it is given in: world = rotate(pose.rotation, local) + pose.position.
#ifndef POISE_MATH_H
#define POISE_MATH_H

#include <poise/base.h>

#ifdef __cplusplus
extern "C" {
#endif

// A point or a direction.
typedef struct poise_vec3 {
    double x, y, z; // in length units, or none
} poise_vec3;

// A rotation as a unit quaternion x i + y j + z k + w. q and -q are the same rotation.
typedef struct poise_quat {
    double x, y, z, w; // the real part comes last
} poise_quat;

// A rotation followed by a translation.
typedef struct poise_pose {
    poise_quat rotation; // first
    poise_vec3 position; // then
} poise_pose;

// The vector (x, y, z).
POISE_API poise_vec3 poise_vec3_make(double x, double y, double z);

// Rotation by `angle` about `axis`, which need not be a unit vector. A zero axis gives the identity.
POISE_API poise_quat poise_quat_from_axis_angle(poise_vec3 axis, double angle);

// Rotation from a row-major 3 x 3 rotation matrix. The matrix is taken as orthonormal; the result is a unit quaternion
// with w >= 0.
POISE_API poise_quat poise_quat_from_matrix(const double matrix[9]);

// Row-major rotation matrix of a unit quaternion.
POISE_API void poise_quat_to_matrix(poise_quat rotation, double matrix[9]);

// Rotation by roll about x, then pitch about y, then yaw about z, all about fixed axes (the convention of URDF):
// Rz(yaw) Ry(pitch) Rx(roll).
POISE_API poise_quat poise_quat_from_roll_pitch_yaw(double roll, double pitch, double yaw);

// The inverse: (roll, pitch, yaw) of a unit quaternion. At pitch +-90 degrees, where only the sum or difference of yaw and
// roll is determined, roll is 0.
POISE_API poise_vec3 poise_quat_to_roll_pitch_yaw(poise_quat rotation);

// The product a b: first b, then a.
POISE_API poise_quat poise_quat_multiply(poise_quat a, poise_quat b);

// The unit quaternion along another, as the constructors of goals make it; zero stays zero.
POISE_API poise_quat poise_quat_normalize(poise_quat rotation);

// The inverse of a unit quaternion.
POISE_API poise_quat poise_quat_conjugate(poise_quat rotation);

// The vector `v` turned by a unit quaternion.
POISE_API poise_vec3 poise_quat_rotate(poise_quat rotation, poise_vec3 v);

// The angle of the rotation, in [0, pi]; accurate for angles near 0 and near pi.
POISE_API double poise_quat_angle(poise_quat rotation);

// The identity: no rotation, no translation.
POISE_API poise_pose poise_pose_identity(void);

// The pose of a row-major 4 x 4 matrix. False, with *pose untouched, unless the rotation is orthonormal to 1e-3 and
// right-handed and the last row is 0 0 0 1. Non-finite numbers are not rejected. pose may be NULL.
POISE_API bool poise_pose_from_matrix(const double matrix[16], poise_pose *pose);

// The product a b: first b, then a.
POISE_API poise_pose poise_pose_multiply(poise_pose a, poise_pose b);

// The inverse of a pose.
POISE_API poise_pose poise_pose_inverse(poise_pose pose);

// Transform the point `local` from the frame of `pose` to the frame that `pose` is given in.
POISE_API poise_vec3 poise_pose_transform(poise_pose pose, poise_vec3 local);

// The elementary functions that Poise itself uses, with errors below 1 unit in the last place. Unlike those of the C
// library, they give the same bits for the same argument with every compiler and on every machine. A non-finite angle gives
// NaN.
POISE_API void poise_sincos(double angle, double *sine, double *cosine);
POISE_API double poise_atan2(double y, double x);

#ifdef __cplusplus
}
#endif

#endif
