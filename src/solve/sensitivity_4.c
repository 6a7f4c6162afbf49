// The kernel of several answers of an arm (sensitivity_kernel.h) for processors with registers of four.
#include "base/cpu.h"

#if PZ_HAS_WIDE
#define REAL_WIDTH 4
#endif
#include "solve/sensitivity_kernel.h"

const pz_pose_kernel pz_pose_kernel_4 = POSE_KERNEL;
