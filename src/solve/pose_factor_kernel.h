// The factor of J J^T at an answer that meets its POSE (sensitivity_pose.c), from the columns of J.
#ifndef PZ_SOLVE_POSE_FACTOR_KERNEL_H
#define PZ_SOLVE_POSE_FACTOR_KERNEL_H

#include "solve/arm_kernel.h"
#include "solve/sensitivity_state.h"

// rr and vv: squares of the distance from the target and of the sine of the angle to it; lever: the square of the longest.
REAL_FN bool pose_is_met(real rr, real vv, real lever)
{
    return rr <= PZ_MET * PZ_MET * lever && vv <= PZ_MET * PZ_MET;
}

// False: the target is missed, or the factor is not sound.
REAL_FN bool pose_factor(int n, const arm_column *columns, real rr, real vv, pz_pose_factor *factor)
{
    real lever = 0.0;
    for (int i = 0; i < n; ++i) {
        lever = max2(lever, pack3_sum(pack3_products(columns[i].J, columns[i].J)));
        pack3_store(columns[i].a, &factor->column[i].w);
        pack3_store(columns[i].J, &factor->column[i].v);
    }
    arm_blocks blocks = arm_blocks_of(n, columns, 0.0, 0.0);
    arm_inverse inverse;
    bool is_sound = arm_invert_blocks(&blocks, &inverse);
    factor->P = inverse.P;
    factor->S = inverse.S;
    factor->Y = inverse.Y;
    return is_sound && pose_is_met(rr, vv, lever);
}

#endif
