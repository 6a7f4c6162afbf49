// Arm poses on the host, one by one, with the bits of the device: for batches so small that the way to the device and the
// pace of a single thread there cost more than a core takes.
#ifndef POISE_CUDA_ARM_HOST_H
#define POISE_CUDA_ARM_HOST_H

#include "arm_world.h"

// Can this processor run the chain? `fast` is NULL for chains that single precision does not serve. Search in single
// precision needs fused multiply-adds.
bool pz_cuda_host_serves(const pz_fast_chain *fast);

// One target, by the stages of arm.cu: q is start and answer, a configuration of the model. `world` may be NULL. False, with
// nothing done: after `patience` searches none has met the target without collisions. With INT_MAX all searches are done,
// and the closest pose is found.
bool pz_cuda_host_solve(const pz_cuda_task *task, const pz_fast_chain *fast, const pz_arm_world *world,
                        const poise_pose *pose, int patience, double *q, poise_cuda_answer *answer);

#endif
