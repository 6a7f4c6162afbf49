// The kernels of arm_lanes.h and tree_lanes.h for processors with registers of two.
#include "base/cpu.h"

#if PZ_HAS_PAIRS
#define REAL_WIDTH 2
#endif
#include "batch/arm_lanes.h"
#include "batch/tree_lanes.h"

const pz_arm_kernel pz_arm_kernel_2 = ARM_KERNEL;
const pz_tree_kernels pz_tree_kernels_2 = TREE_KERNELS;
