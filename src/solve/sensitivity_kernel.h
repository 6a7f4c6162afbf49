// What sensitivity_pose.c computes, in every form: the factor of J J^T at an answer that meets its POSE, and dL/dx = (J
// J^T)^-1 J dL/dq of arms, for one answer with a column of a frame to a register (REAL_PACKED) and for several in lanes. To
// be included once by a source that says what it is compiled for.
//
// World axes, lengths over L = chain.unit, from the origin of the chain's base: J = [L J' ; a], so that the part of dL/dx
// that belongs to the translation comes out times L.
#ifndef PZ_SOLVE_SENSITIVITY_KERNEL_H
#define PZ_SOLVE_SENSITIVITY_KERNEL_H

#include "num/rotation.h"
#include "solve/arm_kernel.h"
#include "solve/sensitivity.h"

#if REAL_WIDTH == 1

// ---- One answer ----------------------------------------------------------------------------------------------------------

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

#if defined(REAL_PACKED)

// ---- One answer of an arm of hinges, in registers of four ----------------------------------------------------------------

// What an answer misses its target by. World axes, lengths over L = chain.unit, from the origin of the chain's base.
REAL_FN arm_error pose_error(const pz_arm_chain *chain, const poise_pose *target, const arm_frames *frames)
{
    mat3 R = quat_matrix(target->rotation);
    pack3 Rx = pack3_of(R.x), Ry = pack3_of(R.y), Rz = pack3_of(R.z);
    pack33 u; // R tail^T
    u.x = pack3_apply(Rx, Ry, Rz, v3(chain->tail.x.x, chain->tail.y.x, chain->tail.z.x));
    u.y = pack3_apply(Rx, Ry, Rz, v3(chain->tail.x.y, chain->tail.y.y, chain->tail.z.y));
    u.z = pack3_apply(Rx, Ry, Rz, v3(chain->tail.x.z, chain->tail.y.z, chain->tail.z.z));
    poise_vec3 p = target->position;
    pack3 t = pack3_scale(pack3_sub(pack3_of(v3(p.x, p.y, p.z)), pack3_of(chain->base_at)), 1.0 / chain->unit);
    return arm_error_at(frames, &u, t);
}

REAL_FN pack33 pose_base(const pz_arm_chain *chain)
{
    return (pack33){pack3_of(chain->base.x), pack3_of(chain->base.y), pack3_of(chain->base.z)};
}

REAL_FN bool pose_factorise_arm(const pz_pose_lanes *arm, const poise_pose *target, const double *q, pz_pose_factor *factor)
{
    int n = arm->chain.n;
    double at[PZ_ARM_MOST];
    arm_frames frames;
    arm_column columns[PZ_ARM_MOST];
    int k = 0;
    do { // n >= 1
        at[k] = q[arm->chain.q[k]];
    } while (++k < n);
    arm_forward_from(&arm->chain, n, false, ARM_ALONE, at, pose_base(&arm->chain), pack3_of(v3(0, 0, 0)), &frames);
    arm_error error = pose_error(&arm->chain, target, &frames);
    for (int i = 0; i < n; ++i) {
        columns[i] = arm_column_of(&arm->chain, false, &frames, i);
    }
    factor->count = n;
    factor->dof = arm->dof;
    factor->unit = arm->chain.unit;
    return pose_factor(n, columns, error.rr, v3_dot(error.v, error.v), factor);
}

// Is the target met? The distance is held against the longest lever, which is looked for where the first is too short.
REAL_FN bool pose_meets(const pz_arm_chain *chain, int n, const arm_frames *frames, const arm_error *error)
{
    double vv = v3_dot(error->v, error->v), lever = 0.0;
    for (int i = 0; i < n; ++i) {
        pack3 J = arm_column_of(chain, false, frames, i).J;
        lever = max2(lever, pack3_sum(pack3_products(J, J)));
        if (pose_is_met(error->rr, vv, lever)) {
            return true;
        }
    }
    return false;
}

// The sums of a system, and its right sides.
typedef struct pose_sums {
    pack_sym P, Q;
    pack33 X;
    pack3 first, second;
} pose_sums;

// The sweep of arm_forward_from, with the sums as it goes: those of the point of the last body that is at the origin of the
// base, whose columns are known joint by joint, before it is known where the goal's frame is.
REAL_FN pose_sums pose_sweep(const pz_pose_lanes *arm, int n, const double *q, const double *dL_dq, arm_frames *frames)
{
    const pz_arm_chain *chain = &arm->chain;
    double angle[PZ_ARM_MOST], sine[PZ_ARM_MOST], cosine[PZ_ARM_MOST];
    REAL_UNROLL
    for (int i = 0; i < n; ++i) {
        angle[i] = q[chain->q[i]] + chain->offset[i];
    }
    real_sincos_array(4, ARM_ALONE, angle, sine, cosine); // four at a time, without a loop
    real_sincos_array(n - 4, ARM_ALONE, angle + 4, sine + 4, cosine + 4);
    pack3 zero = pack3_of(v3(0, 0, 0)), p = zero;
    pack33 d = pose_base(chain);
    pose_sums s = {pack_sym_identity(0.0), pack_sym_identity(0.0), {zero, zero, zero}, zero, zero};
    REAL_UNROLL
    for (int i = 0; i < n; ++i) {
        double along = dL_dq[arm->dof[i]];
        pack3 a = d.z, J = pack3_cross(p, a);
        frames->a[i] = a;
        frames->o[i] = p;
        pack3 across = pack3_differ(cosine[i], d.y, sine[i], d.x);
        d.x = pack3_combine(cosine[i], d.x, sine[i], d.y);
        d.y = across;
        p = pack3_mad(pack3_mad(pack3_mad(p, chain->tx[i], d.x), chain->ty[i], d.y), chain->tz[i], d.z);
        if (i < n - 1) {
            d.y = pack3_combine(chain->ca[i], across, chain->sa[i], a);
            d.z = pack3_differ(chain->ca[i], a, chain->sa[i], across);
        }
        s.P = pack_sym_add_square(s.P, a);
        s.Q = pack_sym_add_square(s.Q, J);
        s.X = pack33_add_outer(s.X, a, J);
        s.first = pack3_mad(s.first, along, J);
        s.second = pack3_mad(s.second, along, a);
    }
    frames->d = d;
    frames->p = p;
    return s;
}

// dL/dx = (J J^T)^-1 J dL/dq at once, for a constant number of joints n. A force f at p, where the goal's frame is, is the
// same at the base with the torque p x f on top.
REAL_FN bool pose_gradient(const pz_pose_lanes *arm, int n, const poise_pose *target, const double *q, const double *dL_dq,
                           double *dL_dx)
{
    arm_frames frames;
    arm_inverse inverse;
    pose_sums s = pose_sweep(arm, n, q, dL_dq, &frames);
    arm_blocks blocks = {pack_sym_matrix(&s.P), pack_sym_matrix(&s.Q), pack33_matrix(&s.X)};
    bool is_sound = arm_invert_blocks(&blocks, &inverse);
    arm_error error = pose_error(&arm->chain, target, &frames);
    if (!is_sound || !pose_meets(&arm->chain, n, &frames, &error)) {
        return false;
    }
    vec3 y, z;
    arm_apply_inverse(&inverse, pack3_vector(s.first), pack3_vector(s.second), &y, &z);
    z = v3_sub(z, v3_cross(pack3_vector(frames.p), y));
    y = v3_scale(y, 1.0 / arm->chain.unit);
    dL_dx[0] = y.x;
    dL_dx[1] = y.y;
    dL_dx[2] = y.z;
    dL_dx[3] = z.x;
    dL_dx[4] = z.y;
    dL_dx[5] = z.z;
    return true;
}

#endif

#if REAL_WIDTH > 1

// ---- Several answers of an arm of hinges, in lanes -----------------------------------------------------------------------

// Number k of every row; lanes beyond the last row repeat it.
REAL_FN real pose_load(const double *rows, int width, int count, int k)
{
    real out = {0};
    for (int l = 0; l < REAL_WIDTH; ++l) {
        real_set(&out, l, rows[(l < count ? l : count - 1) * width + k]);
    }
    return out;
}

// Where the targets are: u and t of arm_error_at.
REAL_FN void pose_aim(const pz_arm_chain *chain, const poise_pose *targets, int count, real33 *u, real3 *t)
{
    const double *numbers = &targets->rotation.x;
    enum { WIDTH = sizeof *targets / sizeof *numbers, AT = offsetof(poise_pose, position) / sizeof *numbers };
    real_quat turn = {pose_load(numbers, WIDTH, count, 0), pose_load(numbers, WIDTH, count, 1),
                      pose_load(numbers, WIDTH, count, 2), pose_load(numbers, WIDTH, count, 3)};
    real3 at = {pose_load(numbers, WIDTH, count, AT), pose_load(numbers, WIDTH, count, AT + 1),
                pose_load(numbers, WIDTH, count, AT + 2)};
    real33 R = quat_matrix(turn), forth = real33_of(&chain->tail), tail = m3_transpose(&forth);
    *u = m3_mul(&R, &tail);
    *t = v3_scale(v3_sub(at, real3_of(chain->base_at)), real_of(1.0 / chain->unit));
}

REAL_TARGET static unsigned pose_gradients(const pz_pose_lanes *rows, const poise_pose *targets, const double *q,
                                           const double *dL_dq, int count, double *gradients)
{
    const pz_arm_chain *chain = &rows->chain;
    int n = chain->n;
    real33 u, base = real33_of(&chain->base);
    real3 t, first = v3_zero(), second = v3_zero();
    real at[PZ_ARM_MOST], lever = real_of(0.0);
    arm_frames frames;
    arm_column columns[PZ_ARM_MOST];
    for (int i = 0; i < n; ++i) {
        at[i] = pose_load(q, rows->nq, count, chain->q[i]);
    }
    pose_aim(chain, targets, count, &u, &t);
    arm_forward_from(chain, n, false, ~0u, at, base, v3_zero(), &frames);
    arm_error error = arm_error_at(&frames, &u, t);
    for (int i = 0; i < n; ++i) {
        arm_column column = arm_column_of(chain, false, &frames, i);
        lever = real_max2(lever, v3_dot(column.J, column.J));
        real along = pose_load(dL_dq, rows->nv, count, rows->dof[i]);
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

#define POSE_KERNEL                                                                                                         \
    {                                                                                                                       \
        .gradients = pose_gradients                                                                                         \
    }

#else

#define POSE_KERNEL                                                                                                         \
    {                                                                                                                       \
        0                                                                                                                   \
    } // never used: find_arm in sensitivity_pose.c

#endif

#endif
