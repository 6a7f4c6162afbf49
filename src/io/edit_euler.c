// Ball joints and free joints of any kind as Euler angles, so that ASF and AMC can hold them.
//
// A joint that changes keeps its frame; its axes frame becomes the identity. With parent pose P, offset O and body pose W
//
//   (P O)^-1 W = motion of the joint = translation, then Rx(a) Ry(b) Rz(c)
//
// so a, b, c come from the poses of the old model, each triple next to that of the frame before.
#include "io/edit_file.h"

#include "io/local_pose.h"

#include <string.h>

// The type that holds the same motion in Euler angles; the type itself where it need not change.
static poise_joint_type euler_type(poise_joint_type type)
{
    switch (type) {
    case POISE_JOINT_BALL_EXPMAP:
    case POISE_JOINT_BALL_QUATERNION:
    case POISE_JOINT_SWING_TWIST:
        return POISE_JOINT_BALL_EULER;
    case POISE_JOINT_FREE:
    case POISE_JOINT_FREE_EXPMAP:
        return POISE_JOINT_FREE_EULER;
    default:
        return type;
    }
}

static bool changes(const poise_model *model, int joint)
{
    poise_joint_type type = poise_model_joint_info(model, joint).type;
    return euler_type(type) != type;
}

static poise_joint changed_joint(const poise_model *model, int k, const void *user)
{
    (void)user;
    poise_joint joint = *poise_model_joint_info(model, k).given;
    if (changes(model, k)) {
        poise_joint plain = poise_joint_default();
        joint.type = euler_type(joint.type);
        joint.order = POISE_EULER_XYZ;
        joint.axes = poise_pose_identity().rotation;
        memcpy(joint.lower, plain.lower, sizeof joint.lower); // limits of a rotation vector are none of its angles
        memcpy(joint.upper, plain.upper, sizeof joint.upper);
        memcpy(joint.swing, plain.swing, sizeof joint.swing);
    }
    return joint;
}

// The coordinates of the new model for the pose that `kinematics` has; `q` holds those of the frame before.
static void express(const poise_model *old, const poise_model *made, const poise_kinematics *kinematics, const double *q_old,
                    double *q)
{
    for (int k = 0; k < poise_model_info(old).joints; ++k) {
        int first = poise_model_joint_info(made, k).q, count = poise_model_joint_info(made, k).nq,
            parent = poise_model_joint_info(old, k).parent;
        if (!changes(old, k)) {
            memcpy(q + first, q_old + poise_model_joint_info(old, k).q, sizeof *q * (size_t)count);
            continue;
        }
        poise_pose frame = poise_model_joint_info(old, k).given->offset;
        if (parent != POISE_WORLD) {
            frame = poise_pose_multiply(poise_kinematics_body_pose(kinematics, parent), frame);
        }
        poise_pose motion = poise_pose_multiply(poise_pose_inverse(frame), poise_kinematics_body_pose(kinematics, k));
        if (count == 6) {
            q[first] = motion.position.x;
            q[first + 1] = motion.position.y;
            q[first + 2] = motion.position.z;
        }
        double R[9];
        poise_quat_to_matrix(motion.rotation, R);
        pz_euler_next(R, 0, q + first + count - 3);
    }
}

// ---- Files ---------------------------------------------------------------------------------------------------------------

static poise_status change_clip(const poise_clip *clip, const poise_model *old, const poise_model *made,
                                poise_clip **changed, poise_error *error)
{
    poise_kinematics *kinematics = NULL;
    size_t nq = (size_t)poise_model_info(made).nq;
    poise_status status = poise_kinematics_create(old, NULL, &kinematics, error);
    if (status == POISE_OK) {
        status = poise_clip_create(clip->frames, (int)nq, clip->frame_time, NULL, changed, error);
    }
    for (int f = 0; f < clip->frames && status == POISE_OK; ++f) {
        const double *from = clip->q + (size_t)f * (size_t)clip->nq;
        double *to = (*changed)->q + (size_t)f * nq;
        status = poise_kinematics_update(kinematics, from, error);
        if (f > 0) {
            memcpy(to, to - nq, nq * sizeof *to);
        }
        express(old, made, kinematics, from, to);
    }
    if (*changed) {
        (*changed)->start_time = clip->start_time;
    }
    poise_kinematics_destroy(kinematics);
    return status;
}

// Postures and goals, which neither ASF nor AMC holds, are left out.
poise_status pz_edit_euler(poise_file *file, int *count, poise_error *error)
{
    *count = 0;
    for (int k = 0; k < poise_model_info(file->model).joints; ++k) {
        *count += changes(file->model, k);
    }
    if (*count == 0) {
        return POISE_OK;
    }
    poise_model *made = NULL;
    poise_clip *clip = NULL;
    poise_status status = pz_edit_model(file->model, changed_joint, NULL, 1, NULL, &made, error);
    if (status == POISE_OK && file->clip) {
        status = change_clip(file->clip, file->model, made, &clip, error);
    }
    if (status != POISE_OK) {
        poise_clip_destroy(clip);
        poise_model_destroy(made);
        return status;
    }
    poise_clip_destroy(file->clip);
    poise_model_destroy(file->model);
    file->clip = clip;
    file->model = made;
    file->posture_count = file->goal_count = 0;
    return POISE_OK;
}
