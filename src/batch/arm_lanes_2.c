// The kernel of arm_lanes.h for processors with registers of two.
#include "base/cpu.h"

#if PZ_HAS_PAIRS

#define REAL_WIDTH 2
#include "batch/arm_lanes_kernel.h"

const pz_arm_kernel pz_arm_kernel_2 = ARM_KERNEL;

#else

#include "batch/arm_lanes.h"

const pz_arm_kernel pz_arm_kernel_2 = {0}; // never used: lanes_of in arm_lanes.c

#endif
