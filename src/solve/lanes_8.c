// The kernels of lanes for processors with registers of eight: 8 problems at once.
#include "base/cpu.h"

#if PZ_HAS_WIDE
#define REAL_WIDTH 8
#endif
#include "solve/arm_kernel.h"
#include "solve/sensitivity_kernel.h"
#include "solve/tree_lanes.h"

const pz_arm_kernel pz_arm_kernel_8 = ARM_KERNEL;
const pz_tree_kernels pz_tree_kernels_8 = TREE_KERNELS;
const pz_pose_kernel pz_pose_kernel_8 = POSE_KERNEL;
