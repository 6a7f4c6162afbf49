// The kernel of arm_lanes.h for processors with registers of four.
#include "base/cpu.h"

#if PZ_HAS_WIDE

#define REAL_WIDTH 4
#include "batch/arm_lanes_kernel.h"

const pz_arm_kernel pz_arm_kernel_4 = ARM_KERNEL;

#else

#include "batch/arm_lanes.h"

const pz_arm_kernel pz_arm_kernel_4 = {0}; // never used: lanes_of in arm_lanes.c

#endif
