// dL/dx = (J J^T)^-1 J dL/dq (sensitivity_poses.c) in lanes. To be included once by a source that defines REAL_WIDTH.
//
// World axes, lengths over L = chain.unit, from the origin of the chain's base: J = [L J' ; a], so that the part of dL/dx
// that belongs to the translation comes out times L.
#ifndef PZ_SOLVE_POSE_GRADIENTS_KERNEL_H
#define PZ_SOLVE_POSE_GRADIENTS_KERNEL_H

#include "num/rotation.h"
#include "solve/arm_kernel.h"
#include "solve/pose_gradients.h"

// Number k of every row; lanes beyond the last row repeat it.
REAL_FN real gather(const double *rows, int width, int count, int k)
{
    real out = {0};
    for (int l = 0; l < REAL_WIDTH; ++l) {
        real_set(&out, l, rows[(l < count ? l : count - 1) * width + k]);
    }
    return out;
}

// Where the targets are: u and t of arm_error_at.
REAL_FN void aim(const pz_arm_chain *chain, const poise_pose *targets, int count, real33 *u, real3 *t)
{
    const double *numbers = &targets->rotation.x;
    enum { WIDTH = sizeof *targets / sizeof *numbers, AT = offsetof(poise_pose, position) / sizeof *numbers };
    real_quat turn = {gather(numbers, WIDTH, count, 0), gather(numbers, WIDTH, count, 1), gather(numbers, WIDTH, count, 2),
                      gather(numbers, WIDTH, count, 3)};
    real3 at = {gather(numbers, WIDTH, count, AT), gather(numbers, WIDTH, count, AT + 1),
                gather(numbers, WIDTH, count, AT + 2)};
    real33 R = quat_matrix(turn), forth = real33_of(&chain->tail), tail = m3_transpose(&forth);
    *u = m3_mul(&R, &tail);
    *t = v3_scale(v3_sub(at, real3_of(chain->base_at)), real_of(1.0 / chain->unit));
}

REAL_FN unsigned gradients_of(const pz_pose_lanes *rows, const poise_pose *targets, const double *q, const double *dL_dq,
                              int count, double *gradients)
{
    const pz_arm_chain *chain = &rows->chain;
    int n = chain->n;
    real33 u, base = real33_of(&chain->base);
    real3 t, first = v3_zero(), second = v3_zero();
    real at[PZ_ARM_MOST], lever = real_of(0.0);
    arm_frames frames;
    arm_column columns[PZ_ARM_MOST];
    for (int i = 0; i < n; ++i) {
        at[i] = gather(q, rows->nq, count, chain->q[i]);
    }
    aim(chain, targets, count, &u, &t);
    arm_forward_from(chain, n, false, ~0u, at, base, v3_zero(), &frames);
    arm_error error = arm_error_at(&frames, &u, t);
    for (int i = 0; i < n; ++i) {
        arm_column column = arm_column_of(chain, false, &frames, i);
        lever = real_max2(lever, v3_dot(column.J, column.J));
        real along = gather(dL_dq, rows->nv, count, rows->dof[i]);
        real_mask moves = chain->lower[i] < chain->upper[i] ? mask_all() : mask_none();
        columns[i] = (arm_column){pack3_where(moves, column.a), pack3_where(moves, column.J)};
        first = v3_mad(first, along, columns[i].J);
        second = v3_mad(second, along, columns[i].a);
    }
    real3 y, z, scaled;
    arm_blocks blocks = arm_blocks_of(n, columns, real_of(0.0), real_of(0.0));
    real_mask sound = arm_solve_regular(&blocks, first, second, &y, &z);
    real most = real_of(rows->met * rows->met);
    sound &= (error.rr <= most * lever) & (v3_dot(error.v, error.v) <= most);
    scaled = v3_scale(y, real_of(1.0 / chain->unit));
    unsigned bits = mask_bits(sound) & ((1u << count) - 1u);
    for (int l = 0; l < count; ++l) {
        const double row[6] = {real_get(&scaled.x, l), real_get(&scaled.y, l), real_get(&scaled.z, l),
                               real_get(&z.x, l),      real_get(&z.y, l),      real_get(&z.z, l)};
        if (bits >> l & 1u) {
            memcpy(gradients + 6 * l, row, sizeof row);
        }
    }
    return bits;
}

#endif
