// The humanoid's bones, for the model, the markers and the motions.
#ifndef SCENES_HUMANOID_H
#define SCENES_HUMANOID_H

#include "scene_builder.h"

// Bones in depth-first order: a bone's number is its joint's and body's index in the model.
typedef enum bone {
    PELVIS,
    LUMBAR,
    THORAX,
    NECK,
    HEAD,
    LEFT_CLAVICLE,
    LEFT_UPPER_ARM,
    LEFT_ULNA,
    LEFT_RADIUS,
    LEFT_HAND,
    LEFT_THUMB,
    LEFT_INDEX,
    LEFT_FINGERS,
    RIGHT_CLAVICLE,
    RIGHT_UPPER_ARM,
    RIGHT_ULNA,
    RIGHT_RADIUS,
    RIGHT_HAND,
    RIGHT_THUMB,
    RIGHT_INDEX,
    RIGHT_FINGERS,
    LEFT_THIGH,
    LEFT_SHIN,
    LEFT_FOOT,
    LEFT_TOES,
    RIGHT_THIGH,
    RIGHT_SHIN,
    RIGHT_FOOT,
    RIGHT_TOES,
    BONE_COUNT
} bone;

enum { ARM_BONES = RIGHT_CLAVICLE - LEFT_CLAVICLE, LEG_BONES = RIGHT_THIGH - LEFT_THIGH };

typedef enum bone_kind { BONE_ROOT, BONE_BALL, BONE_UNIVERSAL, BONE_HINGE } bone_kind;

// How a bone hangs on its parent. All frames are parallel in the neutral pose, a T.
//
// The angles of a bone are intrinsic: about `axis`, then the turned `axis2`, then (ball joints) the turned third axis. A
// ball joint's x, y, z are axis, axis2 and their cross product, which lies along the limb, so that z is twist. A hinge has
// one angle, about `axis`. The root takes position and then heading (y), pitch (x), roll (z).
//
// A rotation vector (x, y, z) seen in the mirror is (x, -y, -z): its half-turn about x. Right bones have the left ones' axes
// turned so, hence equal angles on both sides are mirror images.
typedef struct bone_frame {
    bone_kind kind;
    int parent;        // POISE_WORLD for the root
    poise_vec3 offset; // in the parent's frame
    poise_vec3 axis, axis2;
} bone_frame;

bone_frame scene_bone_frame(bone b);

// The rotation A of a ball joint's axes: its columns are the three axes.
poise_quat scene_bone_axes(const bone_frame *frame);

// The joint's name without "left_" or "right_": "shoulder" for LEFT_UPPER_ARM.
const char *scene_bone_joint(bone b);

// Height of the ankle above the sole; from the ankle forward to the joint of the toes, and back to the heel.
#define SCENE_ANKLE_HEIGHT 0.075
#define SCENE_FOOT_LENGTH  0.135
#define SCENE_HEEL_LENGTH  0.05

#endif
