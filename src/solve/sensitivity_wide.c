// The kernel of one answer of an arm (sensitivity_kernel.h) for processors with registers of four.
#include "base/cpu.h"

#if PZ_HAS_WIDE

#define REAL_PACKED
#include "solve/sensitivity_kernel.h"

PZ_WIDE bool pz_pose_factorise_arm(const pz_pose_lanes *arm, const poise_pose *target, const double *q,
                                   pz_pose_factor *factor)
{
    return factorise_arm(arm, target, q, factor);
}

PZ_WIDE bool pz_pose_gradient_arm(const pz_pose_lanes *arm, const poise_pose *target, const double *q, const double *dL_dq,
                                  double *dL_dx)
{
    return arm->chain.n == 7 ? gradient_of(arm, 7, target, q, dL_dq, dL_dx) : gradient_of(arm, 6, target, q, dL_dq, dL_dx);
}

#else

#include "solve/sensitivity.h"

bool pz_pose_factorise_arm(const pz_pose_lanes *arm, const poise_pose *target, const double *q, pz_pose_factor *factor)
{
    (void)arm, (void)target, (void)q, (void)factor; // never called: find_arm in sensitivity_pose.c
    return false;
}

bool pz_pose_gradient_arm(const pz_pose_lanes *arm, const poise_pose *target, const double *q, const double *dL_dq,
                          double *dL_dx)
{
    (void)arm, (void)target, (void)q, (void)dL_dq, (void)dL_dx; // never called, either
    return false;
}

#endif
