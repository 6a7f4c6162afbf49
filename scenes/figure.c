// A pose of the humanoid in angles: forward kinematics, a leg that reaches its footing, coordinates of a model.
#include "figure.h"

#include <poise/rotation.h>

#include <math.h>
#include <string.h>

static const poise_vec3 X = {1, 0, 0}, Y = {0, 1, 0}, Z = {0, 0, 1};

// R(a, angle[0]) R(b, angle[1]) R(c, angle[2])
static poise_quat three_turns(poise_vec3 a, poise_vec3 b, poise_vec3 c, const double angle[3])
{
    poise_quat ab = poise_quat_multiply(poise_quat_from_axis_angle(a, angle[0]), poise_quat_from_axis_angle(b, angle[1]));
    return poise_quat_multiply(ab, poise_quat_from_axis_angle(c, angle[2]));
}

static poise_quat root_rotation(const figure *f)
{
    return three_turns(Y, X, Z, (double[3]){f->heading, f->pitch, f->roll});
}

static poise_quat bone_rotation(const figure *f, bone b, const bone_frame *frame)
{
    switch (frame->kind) {
    case BONE_ROOT:
        return root_rotation(f);
    case BONE_BALL: {
        poise_quat axes = scene_bone_axes(frame);
        poise_quat motion = three_turns(X, Y, Z, f->angle[b]);
        return poise_quat_multiply(axes, poise_quat_multiply(motion, poise_quat_conjugate(axes)));
    }
    default: // a hinge's second angle is 0
        return three_turns(frame->axis, frame->axis2, Z, (double[3]){f->angle[b][0], f->angle[b][1], 0});
    }
}

poise_pose scene_figure_pose(const figure *f, bone b)
{
    bone_frame frame = scene_bone_frame(b);
    poise_pose pose = {bone_rotation(f, b, &frame), frame.offset};
    if (frame.parent == POISE_WORLD) {
        pose.position =
            vec(pose.position.x + f->position.x, pose.position.y + f->position.y, pose.position.z + f->position.z);
        return pose;
    }
    return poise_pose_multiply(scene_figure_pose(f, (bone)frame.parent), pose);
}

// ---- Legs ----------------------------------------------------------------------------------------------------------------

// The hip's angles (about axis x, y; z is given) and the knee's that put the ankle at d, seen from the hip in its axes.
//
// With the knee bent by k, thigh l1 and shin l2 reach v = (0, -l2 sin k, -(l1 + l2 cos k)) in the left hip's axes and -v in
// the right one's; its length gives k. Twist turns v to v' = Rz(twist) v, and R_x(a) R_y(b) v' = d:
//
//   x:     v'_x cos b + v'_z sin b = d_x                    gives b, the branch with |b| < pi/2
//   y, z:  a is the angle from (v'_y, w) to (d_y, d_z),     w = v'_z cos b - v'_x sin b
static void reach(poise_vec3 d, double l1, double l2, double sign, double twist, double hip[3], double *knee)
{
    double c = (d.x * d.x + d.y * d.y + d.z * d.z - l1 * l1 - l2 * l2) / (2.0 * l1 * l2);
    c = c > 1.0 ? 1.0 : c;
    double s = sqrt(1.0 - c * c);
    *knee = poise_atan2(s, c);

    double st, ct;
    poise_sincos(twist, &st, &ct);
    double y = -sign * l2 * s;
    double vx = -st * y, vy = ct * y, vz = -sign * (l1 + l2 * c);

    double rest = vx * vx + vz * vz - d.x * d.x;
    double along = sqrt(rest > 0.0 ? rest : 0.0);
    hip[1] = poise_atan2(d.x, vz < 0.0 ? -along : along) - poise_atan2(vx, vz);
    if (hip[1] > SCENE_PI) {
        hip[1] -= 2.0 * SCENE_PI;
    } else if (hip[1] < -SCENE_PI) {
        hip[1] += 2.0 * SCENE_PI;
    }
    double sb, cb;
    poise_sincos(hip[1], &sb, &cb);
    double w = vz * cb - vx * sb;
    hip[0] = poise_atan2(vy * d.z - w * d.y, vy * d.y + w * d.z);
    hip[2] = twist;
}

// The ankle's angles that make `normal` (world) the upward direction of the foot, below a shin of the rotation `shin`. With
// u the normal seen from the shin: R_x(a) R_z(b) y = (-sin b, cos a cos b, sin a cos b) = u. The joint's first axis is -x,
// its second z on the left and -z on the right.
static void level_foot(poise_quat shin, poise_vec3 normal, double sign, double ankle[3])
{
    poise_vec3 u = poise_quat_rotate(poise_quat_conjugate(shin), normal);
    ankle[0] = -poise_atan2(u.z, u.y);
    ankle[1] = sign * poise_atan2(-u.x, sqrt(1.0 - u.x * u.x));
}

void scene_figure_stand(figure *f, side s, footing where)
{
    bone thigh = sided(LEFT_THIGH, s), shin = sided(LEFT_SHIN, s), foot = sided(LEFT_FOOT, s), toes = sided(LEFT_TOES, s);
    bone_frame hip = scene_bone_frame(thigh);
    bone_frame ball = scene_bone_frame(toes);

    // the foot's frame, and from it the ankle
    poise_quat tilt =
        poise_quat_multiply(poise_quat_from_axis_angle(Y, where.heading), poise_quat_from_axis_angle(X, where.lift));
    poise_vec3 to_ball = poise_quat_rotate(tilt, ball.offset);
    poise_vec3 ankle = vec(where.ball.x - to_ball.x, where.ball.y - to_ball.y, where.ball.z - to_ball.z);

    poise_pose socket = {scene_bone_axes(&hip), hip.offset}; // the hip's axes in the pelvis
    poise_pose seen_from_hip = poise_pose_inverse(poise_pose_multiply(scene_figure_pose(f, PELVIS), socket));
    double l1 = -scene_bone_frame(shin).offset.y, l2 = -scene_bone_frame(foot).offset.y;
    double sign = s == LEFT ? 1.0 : -1.0;
    reach(poise_pose_transform(seen_from_hip, ankle), l1, l2, sign, where.twist, f->angle[thigh], &f->angle[shin][0]);
    level_foot(scene_figure_pose(f, shin).rotation, poise_quat_rotate(tilt, Y), sign, f->angle[foot]);

    // the toes stay on the floor while the heel is up: the lift where it is positive, else 0, rounded off at 0
    const double round = 0.1;
    f->angle[toes][0] = 0.5 * (where.lift + sqrt(where.lift * where.lift + round * round) - round);
}

// ---- Coordinates ---------------------------------------------------------------------------------------------------------

// Swing and twist of a rotation in the joint's axes: R = exp(a x + b y) Rz(twist).
static void swing_twist(poise_quat r, double *q)
{
    double n = sqrt(r.z * r.z + r.w * r.w);
    poise_quat twist = {0, 0, r.z / n, r.w / n};
    poise_vec3 v = poise_expmap_from_quat(poise_quat_multiply(r, poise_quat_conjugate(twist)));
    q[0] = v.x;
    q[1] = v.y;
    double angle = 2.0 * poise_atan2(r.z, r.w); // r and -r are one rotation: bring it within +-pi
    q[2] = angle > SCENE_PI ? angle - 2.0 * SCENE_PI : angle < -SCENE_PI ? angle + 2.0 * SCENE_PI : angle;
}

// The rotation `r`, which has the Euler angles `angle` in the joint's order, in the coordinates of the type.
static void write_rotation(poise_joint_type type, const double angle[3], poise_quat r, double *q)
{
    switch (type) {
    case POISE_JOINT_BALL_QUATERNION:
    case POISE_JOINT_FREE:
        q[0] = r.x, q[1] = r.y, q[2] = r.z, q[3] = r.w;
        break;
    case POISE_JOINT_BALL_EXPMAP:
    case POISE_JOINT_FREE_EXPMAP: {
        poise_vec3 v = poise_expmap_from_quat(r);
        q[0] = v.x, q[1] = v.y, q[2] = v.z;
        break;
    }
    case POISE_JOINT_SWING_TWIST:
        swing_twist(r, q);
        break;
    default:
        memcpy(q, angle, 3 * sizeof *angle);
    }
}

static bool is_humanoid(const poise_model *model)
{
    if (poise_model_info(model).joints != BONE_COUNT || poise_model_info(model).nv != 58) {
        return false;
    }
    for (int b = 0; b < BONE_COUNT; ++b) {
        bone_frame frame = scene_bone_frame((bone)b);
        const char *name = poise_model_joint_info(model, b).name, *wanted = scene_bone_joint((bone)b);
        size_t length = strlen(name), tail = strlen(wanted); // the joint's name may begin with its side
        if (poise_model_joint_info(model, b).parent != frame.parent || length < tail ||
            strcmp(name + length - tail, wanted) != 0) {
            return false;
        }
    }
    return true;
}

poise_status scene_figure_write(const figure *f, const poise_model *model, double *q)
{
    if (!is_humanoid(model)) {
        return POISE_ERROR_UNSUPPORTED;
    }
    for (int b = 0; b < BONE_COUNT; ++b) {
        int count = 0;
        double *at_joint = q + poise_model_joint_info(model, b).q;
        count = poise_model_joint_info(model, b).nq;
        poise_joint_type type = poise_model_joint_info(model, b).type;
        bone_kind kind = scene_bone_frame((bone)b).kind;
        if (kind == BONE_ROOT) {
            const double angle[3] = {f->heading, f->pitch, f->roll};
            at_joint[0] = f->position.x, at_joint[1] = f->position.y, at_joint[2] = f->position.z;
            write_rotation(type, angle, root_rotation(f), at_joint + 3);
        } else if (kind == BONE_BALL) {
            write_rotation(type, f->angle[b], three_turns(X, Y, Z, f->angle[b]), at_joint);
        } else {
            memcpy(at_joint, f->angle[b], (size_t)count * sizeof *q);
        }
    }
    return POISE_OK;
}
