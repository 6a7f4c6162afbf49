// Gradients of answers to poses of an arm, several side by side, one in each lane: what sensitivity_poses.c asks of the
// kernel of each width (pose_gradients_kernel.h).
#ifndef PZ_SOLVE_POSE_GRADIENTS_H
#define PZ_SOLVE_POSE_GRADIENTS_H

#include "solve/arm.h"

// Answers in rows, all on one chain of hinges.
typedef struct pz_pose_lanes {
    pz_arm_chain chain;
    int dof[PZ_ARM_MOST]; // of the chain's joints
    double met;           // a distance from a target, in levers or radians, that counts as none
    int nq, nv;
    int lanes; // rows that go side by side: 4 or 8
} pz_pose_lanes;

// dL by translation and rotation of the target, six numbers to a row, of the first `count` rows. Returns bits: the rows that
// meet their target and are not near a singular configuration; the others are left as they were.
unsigned pz_pose_gradients_4(const pz_pose_lanes *rows, const poise_pose *targets, const double *q, const double *dL_dq,
                             int count, double *gradients);
unsigned pz_pose_gradients_8(const pz_pose_lanes *rows, const poise_pose *targets, const double *q, const double *dL_dq,
                             int count, double *gradients);

#endif
