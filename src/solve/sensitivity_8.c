// The kernel of several answers of an arm (sensitivity_kernel.h) for processors with registers of eight.
#include "base/cpu.h"

#if PZ_HAS_WIDE

#define REAL_WIDTH 8
#include "solve/sensitivity_kernel.h"

REAL_TARGET unsigned pz_pose_gradients_8(const pz_pose_lanes *rows, const poise_pose *targets, const double *q,
                                         const double *dL_dq, int count, double *gradients)
{
    return gradients_of(rows, targets, q, dL_dq, count, gradients);
}

#else

#include "solve/sensitivity.h"

unsigned pz_pose_gradients_8(const pz_pose_lanes *rows, const poise_pose *targets, const double *q, const double *dL_dq,
                             int count, double *gradients)
{
    (void)rows, (void)targets, (void)q, (void)dL_dq, (void)count, (void)gradients;
    return 0; // never used: find_arm in sensitivity_pose.c
}

#endif
