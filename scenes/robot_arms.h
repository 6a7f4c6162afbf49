// Seven robot arms of the market, which benchmarks and tests solve: Franka Panda, KUKA iiwa 14, UR5, Kinova Jaco 2 and Gen3, an
// arm of the PR2 and one of Baxter. Numbers alone, as the makers' descriptions give them (robot_arms.c names them).
#ifndef SCENES_ROBOT_ARMS_H
#define SCENES_ROBOT_ARMS_H

#include <poise/model.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ROBOT_ARMS         7
#define ROBOT_ARMS_LARGEST 7 // joints of one

// Where a frame lies in the one before it: metres, and roll, pitch, yaw in radians, R = Rz(yaw) Ry(pitch) Rx(roll).
typedef struct robot_arm_frame {
    double position[3], rpy[3];
} robot_arm_frame;

// A hinge about `axis`, a unit vector of its frame; one without limits turns for ever.
typedef struct robot_arm_joint {
    robot_arm_frame at;
    double axis[3], lower, upper;
} robot_arm_joint;

typedef struct robot_arm {
    const char *name;
    int count;
    robot_arm_joint joints[ROBOT_ARMS_LARGEST];
    robot_arm_frame tip; // in the frame of the last joint
} robot_arm;

// An index or a name that there is none of gives NULL.
const robot_arm *robot_arm_at(int index);
const robot_arm *robot_arm_find(const char *name);

// The rotation matrix of a frame, row-major, and the frame as a pose.
void robot_arm_rotation(const robot_arm_frame *frame, double R[9]);
poise_pose robot_arm_pose(const robot_arm_frame *frame);

// Its model: bodies "1", "2" ... one for each joint. Release it with poise_model_destroy.
poise_status robot_arm_create(const robot_arm *arm, const poise_allocator *allocator, poise_model **model,
                              poise_error *error);

#ifdef __cplusplus
}
#endif

#endif
