// Arm poses by the million: targets, and a judgement of answers by a forward kinematics apart from Poise; on many threads.
#ifndef BENCH_ARM_BATCH_H
#define BENCH_ARM_BATCH_H

#include "arm_task.h"

#define ARM_TOLERANCE 1e-5 // m and rad

typedef struct arm_batch {
    const arm *arm;
    int count, threads;
    int beyond; // one in so many targets is moved out of reach; 0: none
    uint64_t seed;
    poise_pose *targets;
    double *q;   // count x n: starts, then answers
    bool *told;  // is an answer said to be within the tolerance?
    bool *moved; // out of reach
} arm_batch;

// Room for `most` targets; arm_batch_make sets `count`, which is at most that.
arm_batch arm_batch_create(const arm *a, int most, int threads);
void arm_batch_destroy(arm_batch *b);

// Targets: poses of joints uniform within the limits; starts: the middle of the limits. Each target has its own stream of
// random numbers, so that it does not matter which thread draws it.
void arm_batch_make(arm_batch *b, int count, uint64_t seed, int beyond);

typedef struct arm_verdict {
    int reached;  // within the limits, to the last bit, and within the tolerance
    int missed;   // not reached, though not moved out of reach
    int outside;  // limits are not held, or a number is not finite
    int wrong;    // told to be reached, and is not
    double worst; // distance or angle of those reached
} arm_verdict;

arm_verdict arm_batch_judge(const arm_batch *b);

#endif
