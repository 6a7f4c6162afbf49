// The plain skeleton of a Poise model, through the model's public queries.
#include "plain.h"

#include <math.h>
#include <stdlib.h>

static poise_quat unit(poise_quat q)
{
    double length = sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    return (poise_quat){q.x / length, q.y / length, q.z / length, q.w / length};
}

static poise_vec3 column(const double A[9], int i)
{
    return (poise_vec3){A[i], A[3 + i], A[6 + i]};
}

// Add the degrees of freedom of `joint` to `bone`, outermost first, as the table in poise/model.h has them: A M(q) A^-1, so
// every axis of M is an axis of A. False for a joint type that is not made of turns and slides.
static bool add_motion(const poise_joint *joint, plain_bone *bone)
{
    double A[9];
    poise_quat_to_matrix(unit(joint->axes), A);
    switch (joint->type) {
    case POISE_JOINT_FIXED:
        return true;
    case POISE_JOINT_REVOLUTE:
        plain_bone_add(bone, PLAIN_REVOLUTE, joint->axis);
        return true;
    case POISE_JOINT_PRISMATIC:
        plain_bone_add(bone, PLAIN_PRISMATIC, joint->axis);
        return true;
    case POISE_JOINT_UNIVERSAL:
        plain_bone_add(bone, PLAIN_REVOLUTE, joint->axis);
        plain_bone_add(bone, PLAIN_REVOLUTE, joint->axis2);
        return true;
    case POISE_JOINT_BALL_EULER:
        plain_bone_add_euler(bone, joint->order, A);
        return true;
    case POISE_JOINT_TRANSLATION:
    case POISE_JOINT_FREE_EULER:
        for (int i = 0; i < 3; ++i) {
            plain_bone_add(bone, PLAIN_PRISMATIC, column(A, i));
        }
        if (joint->type == POISE_JOINT_FREE_EULER) {
            plain_bone_add_euler(bone, joint->order, A);
        }
        return true;
    case POISE_JOINT_PLANAR:
        plain_bone_add(bone, PLAIN_PRISMATIC, column(A, 0));
        plain_bone_add(bone, PLAIN_PRISMATIC, column(A, 1));
        plain_bone_add(bone, PLAIN_REVOLUTE, column(A, 2));
        return true;
    default:
        return false;
    }
}

plain_ik *plain_from_model(const poise_model *model, const plain_effector *effectors, int effector_count)
{
    int count = poise_model_info(model).joints;
    plain_bone *bones = malloc(((size_t)count + 1) * sizeof *bones);
    bool known = bones != NULL;
    int n = 0;
    for (int k = 0; k < count && known; ++k) {
        poise_joint joint = *poise_model_joint_info(model, k).given;
        poise_joint_info info = poise_model_joint_info(model, k);
        bones[k] = plain_bone_fixed(info.parent, joint.offset.position);
        poise_quat_to_matrix(unit(joint.offset.rotation), bones[k].rotation);
        // bones number their degrees of freedom one after the other; so must the model, for entries to compare
        known =
            !joint.mimic && add_motion(&joint, &bones[k]) && (info.v == n || info.nv == 0) && info.nv == bones[k].dof_count;
        n += bones[k].dof_count;
    }
    plain_ik *ik = known ? plain_create(bones, count, effectors, effector_count) : NULL;
    free(bones);
    return ik;
}
