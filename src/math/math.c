// The public functions of poise/math.h, over the private inline ones.
#include <poise/math.h>

#include "math/pose_matrix.h"
#include "math/trig.h"

poise_vec3 poise_vec3_make(double x, double y, double z)
{
    return v3(x, y, z);
}

poise_quat poise_quat_from_axis_angle(poise_vec3 axis, double angle)
{
    if (axis.x == 0.0 && axis.y == 0.0 && axis.z == 0.0) {
        return (quat){0, 0, 0, 1};
    }
    if (!v3_is_finite(axis)) {
        return (poise_quat){NAN, NAN, NAN, NAN}; // no direction: nothing that could pass for a rotation
    }
    vec3 n = v3_normalize(axis);
    double s, c;
    pz_sincos(0.5 * angle, &s, &c);
    return (poise_quat){n.x * s, n.y * s, n.z * s, c};
}

poise_quat poise_quat_from_matrix(const double matrix[9])
{
    mat3 R = m3_from_rows(matrix);
    return quat_from_matrix(&R);
}

bool poise_pose_from_matrix(const double matrix[16], poise_pose *pose)
{
    if (!is_pose_matrix(matrix)) {
        return false;
    }
    if (pose) {
        *pose = pose_of_matrix(matrix);
    }
    return true;
}

void poise_quat_to_matrix(poise_quat rotation, double matrix[9])
{
    mat3 R = quat_matrix(rotation);
    m3_to_rows(&R, matrix);
}

// The product (0, 0, sz, cz) (0, sy, 0, cy) (sx, 0, 0, cx) of the three half-angle quaternions, written out
poise_quat poise_quat_from_roll_pitch_yaw(double roll, double pitch, double yaw)
{
    double sx, cx, sy, cy, sz, cz;
    pz_sincos(0.5 * roll, &sx, &cx);
    pz_sincos(0.5 * pitch, &sy, &cy);
    pz_sincos(0.5 * yaw, &sz, &cz);
    return (poise_quat){sx * cy * cz - cx * sy * sz, cx * sy * cz + sx * cy * sz, cx * cy * sz - sx * sy * cz,
                        cx * cy * cz + sx * sy * sz};
}

// R = Rz(yaw) Ry(pitch) Rx(roll), row-major:
//
//   R10 = sin(yaw) cos(pitch)   R00 = cos(yaw) cos(pitch)   R20 = -sin(pitch)   R21 = cos(pitch) sin(roll)   R22 = cos cos
poise_vec3 poise_quat_to_roll_pitch_yaw(poise_quat rotation)
{
    double R[9];
    poise_quat_to_matrix(rotation, R);
    double cosine = sqrt(R[0] * R[0] + R[3] * R[3]);
    bool is_level = cosine > 1e-9; // R is good to 1e-15
    double roll = is_level ? pz_atan2(R[7], R[8]) : 0;
    double yaw = is_level ? pz_atan2(R[3], R[0]) : pz_atan2(-R[1], R[4]);
    return v3(roll, pz_atan2(-R[6], cosine), yaw);
}

poise_quat poise_quat_multiply(poise_quat a, poise_quat b)
{
    return quat_mul(a, b);
}

poise_quat poise_quat_normalize(poise_quat rotation)
{
    return quat_normalize(rotation);
}

poise_quat poise_quat_conjugate(poise_quat rotation)
{
    return quat_conj(rotation);
}

poise_vec3 poise_quat_rotate(poise_quat rotation, poise_vec3 v)
{
    return quat_rotate(rotation, v);
}

// 2 atan2(|u|, |w|), u the vector part: near 0 the angle is in u, near pi in w, and neither is lost.
double poise_quat_angle(poise_quat rotation)
{
    return 2.0 * pz_atan2(v3_norm(quat_vec(rotation)), fabs(rotation.w));
}

poise_pose poise_pose_identity(void)
{
    return (poise_pose){{0, 0, 0, 1}, {0.0, 0.0, 0.0}};
}

poise_pose poise_pose_multiply(poise_pose a, poise_pose b)
{
    return (poise_pose){quat_mul(a.rotation, b.rotation), poise_pose_transform(a, b.position)};
}

poise_pose poise_pose_inverse(poise_pose pose)
{
    quat inverse = quat_conj(pose.rotation);
    return (poise_pose){inverse, v3_neg(quat_rotate(inverse, pose.position))};
}

poise_vec3 poise_pose_transform(poise_pose pose, poise_vec3 local)
{
    return v3_add(quat_rotate(pose.rotation, local), pose.position);
}

void poise_sincos(double angle, double *sine, double *cosine)
{
    pz_sincos(angle, sine, cosine);
}

double poise_atan2(double y, double x)
{
    return pz_atan2(y, x);
}
