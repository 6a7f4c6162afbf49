// The kernel of arm_lanes.h for processors with registers of eight.
#include "base/cpu.h"

#if PZ_HAS_WIDE

#define REAL_WIDTH 8
#include "batch/arm_lanes_kernel.h"

const pz_arm_kernel pz_arm_kernel_8 = ARM_KERNEL;

#else

#include "batch/arm_lanes.h"

const pz_arm_kernel pz_arm_kernel_8 = {0}; // never used: lanes_of in arm_lanes.c

#endif
