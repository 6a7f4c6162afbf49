// The kernels of lanes for processors with registers of two: 2 problems at once.
#include "base/cpu.h"

#if PZ_HAS_PAIRS
#define REAL_WIDTH 2
#endif
#include "solve/arm_kernel.h"
#include "solve/tree_lanes.h"

const pz_arm_kernel pz_arm_kernel_2 = ARM_KERNEL;
const pz_tree_kernels pz_tree_kernels_2 = TREE_KERNELS;
