#include "io/local_pose.h"

#include "math/scalar.h"

#include <string.h>

// ---- What joints are made of  ---------------------------------------------------

int pz_joint_coordinates(poise_joint_type type)
{
    poise_joint joint = {.type = type};
    int count = 0;
    while (poise_joint_coordinate(&joint, count).name) {
        count += 1;
    }
    return count;
}

const char *pz_euler_name(int order)
{
    static const char *const names[POISE_EULER_ORDER_COUNT] = {"xyz", "xzy", "yxz", "yzx", "zxy", "zyx",
                                                               "xyx", "xzx", "yxy", "yzy", "zxz", "zyz"};
    return names[order];
}

bool pz_euler_find(const int axis[3], poise_euler_order *order)
{
    for (int i = 0; i < POISE_EULER_ORDER_COUNT; ++i) {
        const char *name = pz_euler_name(i);
        if (name[0] == 'x' + axis[0] && name[1] == 'x' + axis[1] && name[2] == 'x' + axis[2]) {
            *order = (poise_euler_order)i;
            return true;
        }
    }
    return false;
}

// ---- Angles --------------------------------------------------------------------------------------------------------------

static double way(const double a[3], const double b[3])
{
    return fabs(a[0] - b[0]) + fabs(a[1] - b[1]) + fabs(a[2] - b[2]);
}

// R = Ri(a) Rj(b) Rk(c):
//
//   Rik = sin b,  Rjk = -sin a cos b,  Rkk = cos a cos b,  Rij = -cos b sin c,  Rii = cos b cos c
//
// Where cos b is 0 any a will do, so a stays, and c follows from Ri(-a) R = Rj(b) Rk(c), whose row j is sin c and cos c in
// the columns i and j. R has two triples, (a, b, c) and (a + pi, pi - b, c + pi), and whole turns of each.
void pz_euler_next(const double R[9], int first, double angle[3])
{
    int i = first, j = (first + 1) % 3, k = (first + 2) % 3;
    double one[3], other[3], cosine = sqrt(R[3 * j + k] * R[3 * j + k] + R[3 * k + k] * R[3 * k + k]);
    one[1] = poise_atan2(R[3 * i + k], cosine);
    if (cosine > 1e-9) { // below, the sines above are rounding errors: R is good to 1e-15
        one[0] = poise_atan2(-R[3 * j + k], R[3 * k + k]);
        one[2] = poise_atan2(-R[3 * i + j], R[3 * i + i]);
    } else {
        double s, c;
        poise_sincos(angle[0], &s, &c);
        one[0] = angle[0];
        one[2] = poise_atan2(c * R[3 * j + i] + s * R[3 * k + i], c * R[3 * j + j] + s * R[3 * k + j]);
    }
    for (int n = 0; n < 3; ++n) {
        other[n] = turn_near(n == 1 ? PZ_PI - one[1] : one[n] + PZ_PI, angle[n]);
        one[n] = turn_near(one[n], angle[n]);
    }
    memcpy(angle, way(other, angle) < way(one, angle) ? other : one, sizeof one);
}

// ---- Configurations ------------------------------------------------------------------------------------------------------

bool pz_configurations_of(const poise_model *model, pz_pool *pool, pz_configurations *out)
{
    int joints = poise_model_info(model).joints;
    *out = (pz_configurations){.nq = poise_model_info(model).nq};
    // four coordinates to each
    out->quaternions = pz_pool_take(pool, (size_t)out->nq / 4, sizeof *out->quaternions);
    for (int k = 0; k < joints && out->quaternions; ++k) {
        poise_joint_type type = poise_model_joint_info(model, k).type;
        if (type == POISE_JOINT_BALL_QUATERNION || type == POISE_JOINT_FREE) {
            out->quaternions[out->count++] = poise_model_joint_info(model, k).q + (type == POISE_JOINT_FREE ? 3 : 0);
        }
    }
    return out->quaternions != NULL;
}

bool pz_is_configuration(const pz_configurations *of, const double *q)
{
    if (!all_finite(q, (size_t)of->nq)) {
        return false;
    }
    for (int i = 0; i < of->count; ++i) {
        const double *r = q + of->quaternions[i];
        if (r[0] == 0 && r[1] == 0 && r[2] == 0 && r[3] == 0) {
            return false;
        }
    }
    return true;
}

// ---- Poses ---------------------------------------------------------------------------------------------------------------

static quat turn_about(vec3 axis, double angle)
{
    return poise_quat_from_axis_angle(axis, angle);
}

// The rotation of a joint in its axes frame, from its own rotation coordinates.
static quat turn_of(const poise_joint *joint, const double *q)
{
    vec3 axes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    vec3 v;
    const char *order;
    switch (joint->type) {
    case POISE_JOINT_BALL_QUATERNION:
    case POISE_JOINT_FREE:
        return (quat){q[0], q[1], q[2], q[3]};
    case POISE_JOINT_BALL_EXPMAP:
    case POISE_JOINT_FREE_EXPMAP:
        v = v3(q[0], q[1], q[2]);
        return turn_about(v, v3_norm(v));
    case POISE_JOINT_SWING_TWIST:
        v = v3(q[0], q[1], 0);
        return quat_mul(turn_about(v, v3_norm(v)), turn_about(axes[2], q[2]));
    case POISE_JOINT_PLANAR:
        return turn_about(axes[2], q[0]);
    case POISE_JOINT_BALL_EULER:
    case POISE_JOINT_FREE_EULER:
        order = pz_euler_name((int)joint->order);
        return quat_mul(quat_mul(turn_about(axes[order[0] - 'x'], q[0]), turn_about(axes[order[1] - 'x'], q[1])),
                        turn_about(axes[order[2] - 'x'], q[2]));
    default:
        return (quat){0, 0, 0, 1};
    }
}

// The motion of a joint in its axes frame (table of model.h): slides first.
static poise_pose motion_of(const poise_joint *joint, const double *q)
{
    int slides = 0;
    switch (joint->type) {
    case POISE_JOINT_PLANAR:
        slides = 2;
        break;
    case POISE_JOINT_TRANSLATION:
    case POISE_JOINT_FREE:
    case POISE_JOINT_FREE_EXPMAP:
    case POISE_JOINT_FREE_EULER:
        slides = 3;
        break;
    default:
        break;
    }
    vec3 p = v3(slides > 0 ? q[0] : 0, slides > 1 ? q[1] : 0, slides > 2 ? q[2] : 0);
    return (poise_pose){turn_of(joint, q + slides), p};
}

// The same for the types that have axis vectors in the joint's frame.
static poise_pose motion_about_axis(const poise_joint *joint, const double *q)
{
    if (joint->type == POISE_JOINT_PRISMATIC) {
        return (poise_pose){{0, 0, 0, 1}, v3_scale(joint->axis, q[0])};
    }
    quat r = turn_about(joint->axis, q[0]);
    return (poise_pose){joint->type == POISE_JOINT_UNIVERSAL ? quat_mul(r, turn_about(joint->axis2, q[1])) : r, {0, 0, 0}};
}

// Where offset.rotation and A undo each other, up to rounding, the identity takes the place of their product: numbers that a
// file gave in the parent's axes come back with the same bits.
poise_pose pz_local_pose(const poise_joint *joint, const double *q)
{
    poise_joint_type type = joint->type;
    if (type == POISE_JOINT_FIXED) {
        return joint->offset;
    }
    if (type == POISE_JOINT_REVOLUTE || type == POISE_JOINT_PRISMATIC || type == POISE_JOINT_UNIVERSAL) {
        return poise_pose_multiply(joint->offset, motion_about_axis(joint, q));
    }
    poise_pose m = motion_of(joint, q);
    quat C = quat_mul(joint->offset.rotation, joint->axes);
    vec3 shift = v3_norm(quat_vec(C)) <= 8 * PZ_EPSILON ? m.position : quat_rotate(C, m.position);
    quat turn = v3_norm(quat_vec(C)) <= 8 * PZ_EPSILON ? m.rotation : quat_mul(C, m.rotation);
    bool is_plain = joint->axes.x == 0 && joint->axes.y == 0 && joint->axes.z == 0;
    return (poise_pose){is_plain ? turn : quat_mul(turn, quat_conj(joint->axes)), v3_add(joint->offset.position, shift)};
}
