// The forward sweep: frames and motion axes, parents first, for 1, 4 or 8 configurations at once (num/real.h).
//
// The columns of a frame and its origin are packs (num/registers.h): for one configuration each may be a register of four
// (REAL_PACKED). The frame stays in registers from a joint to its first child.
#ifndef PZ_KIN_FORWARD_KERNEL_H
#define PZ_KIN_FORWARD_KERNEL_H

#include "kin/kin.h"
#include "num/registers.h"
#include "num/rotation.h"
#include "num/vector.h"

// Angles of one configuration are taken in whole registers. What follows the last of them, slides or zeros, does not count.
#define SWEEP_REGISTER 4
#define SWEEP_SPARE    (SWEEP_REGISTER - 1)

#if REAL_WIDTH == 1
typedef pz_block real_block;
typedef poise_kinematics real_kinematics;
#else
// pz_block and the part of poise_kinematics that the sweep knows.
typedef struct real_block {
    real33 before;
    real3 v;
    real_coefficients k;
} real_block;

typedef struct real_kinematics {
    const poise_model *model;
    real3 origin;
    const real *q;
    real33 *R;
    real3 *p;
    real_spatial *S;
    real_block *blocks;
    real *value, *sine, *cosine;
} real_kinematics;
#endif

typedef struct sweep_frame {
    pack3 x, y, z, p; // columns, and the origin relative to the reference point
} sweep_frame;

// A rotation about the origin p: its axis as a twist about the reference point.
REAL_FN void put_turn_axis(pack3 w, pack3 p, real_spatial *S)
{
    pack3_store(w, &S->w);
    pack3_store(pack3_cross(p, w), &S->v);
}

// ---- Rotation blocks -----------------------------------------------------------------------------------------------------

// The rotation vector of a block at the coordinates q. A quaternion's step starts from 0.
REAL_FN real3 block_vector(const pz_step *step, const real *q)
{
    bool turns = step->kind == PZ_EXPMAP || step->kind == PZ_SWING;
    return turns ? (real3){q[0], q[1], step->kind == PZ_EXPMAP ? q[2] : real_of(0.0)} : v3_zero();
}

REAL_FN void take_vector(real_block *block, real3 v)
{
    block->k = real_coefficients_of(&v);
    block->v = v;
}

#if defined(REAL_PACKED)

// Four of them at once.
REAL_FN void take_four_vectors(pz_block *const *block, const vec3 *v)
{
    reals square = {v3_dot(v[0], v[0]), v3_dot(v[1], v[1]), v3_dot(v[2], v[2]), v3_dot(v[3], v[3])};
    so3_series_coefficients k = so3_series(square);
    for (int i = 0; i < 4; ++i) {
        if (square[i] <= SO3_SERIES_LIMIT) {
            block[i]->v = v[i];
            block[i]->k = (so3_coefficients){k.a[i], k.b[i], k.c[i], k.db[i], k.dc[i]};
        } else {
            take_vector(block[i], v[i]);
        }
    }
}

// The vectors of all blocks and their coefficients.
REAL_FN void take_vectors(poise_kinematics *kin)
{
    const poise_model *model = kin->model;
    pz_block *block[4];
    vec3 v[4];
    int waiting = 0;
    for (int s = 0; s < model->step_count; ++s) {
        const pz_step *step = &model->steps[s];
        if (!pz_step_is_block(step->kind) || step->kind == PZ_CURVE) {
            continue;
        }
        block[waiting] = &kin->blocks[step->block];
        v[waiting++] = block_vector(step, kin->q + step->q);
        if (waiting == 4) {
            take_four_vectors(block, v);
            waiting = 0;
        }
    }
    for (int i = 0; i < waiting; ++i) {
        take_vector(block[i], v[i]);
    }
}

#endif

// The frame turned by A, its columns A's in the frame.
REAL_FN void turn_frame(sweep_frame *f, const real33 *A)
{
    pack3 x = f->x, y = f->y, z = f->z;
    f->x = pack3_apply(x, y, z, A->x);
    f->y = pack3_apply(x, y, z, A->y);
    f->z = pack3_apply(x, y, z, A->z);
}

REAL_FN void keep_before(const sweep_frame *f, real_block *block)
{
    pack3_store(f->x, &block->before.x), pack3_store(f->y, &block->before.y), pack3_store(f->z, &block->before.z);
}

// exp(v) after the frame R: axes R J_l(v) e_i, i < count.
REAL_FN void sweep_exponential(sweep_frame *f, int count, real_block *block, real_spatial *S)
{
    real_coefficients k = block->k;
    keep_before(f, block);
    real33 turned = so3_quadratic(k.a, k.b, block->v), J = so3_quadratic(k.b, k.c, block->v);
    put_turn_axis(pack3_apply(f->x, f->y, f->z, J.x), f->p, &S[0]);
    put_turn_axis(pack3_apply(f->x, f->y, f->z, J.y), f->p, &S[1]);
    if (count == 3) {
        put_turn_axis(pack3_apply(f->x, f->y, f->z, J.z), f->p, &S[2]);
    }
    turn_frame(f, &turned);
}

// A quaternion after the frame R. Its step multiplies from the right, so its axes are the body's own.
REAL_FN void sweep_quaternion(sweep_frame *f, const real *c, real_block *block, real_spatial *S)
{
    real33 turned = quat_matrix(quat_normalize((real_quat){c[0], c[1], c[2], c[3]}));
    turn_frame(f, &turned);
    keep_before(f, block);
    put_turn_axis(f->x, f->p, &S[0]);
    put_turn_axis(f->y, f->p, &S[1]);
    put_turn_axis(f->z, f->p, &S[2]);
}

#if REAL_WIDTH == 1 // lanes leave models with curves to one configuration at a time
REAL_FN void sweep_curve(poise_kinematics *kin, const pz_step *step, sweep_frame *f)
{
    mat3 R = {pack3_vector(f->x), pack3_vector(f->y), pack3_vector(f->z)};
    vec3 p = pack3_vector(f->p);
    pz_kin_curve(&kin->model->curves[step->value], kin->q[step->q], &R, &p, &kin->S[step->axis], &kin->D[step->value]);
    *f = (sweep_frame){pack3_of(R.x), pack3_of(R.y), pack3_of(R.z), pack3_of(p)};
}
#endif

REAL_KERNEL void sweep_block(real_kinematics *kin, const pz_step *step, sweep_frame *f)
{
    real_spatial *S = &kin->S[step->axis];
    real_block *block = &kin->blocks[step->block];
#if REAL_WIDTH == 1
    if (step->kind == PZ_CURVE) {
        sweep_curve(kin, step, f);
        return;
    }
#endif
#if !defined(REAL_PACKED) // else take_vectors has
    take_vector(block, block_vector(step, kin->q + step->q));
#endif
    if (step->kind == PZ_QUATERNION) {
        sweep_quaternion(f, kin->q + step->q, block, S);
    } else if (step->kind == PZ_EXPMAP) {
        sweep_exponential(f, 3, block, S);
    } else {
        sweep_exponential(f, 2, block, S);
    }
}

// ---- Joints --------------------------------------------------------------------------------------------------------------

// The steps that slide, which come first. Returns their displacement, and in *at the first step after them.
REAL_FN pack3 sweep_slides(real_kinematics *kin, const sweep_frame *f, const pz_step **at, const pz_step *end)
{
    pack3 slid = pack3_of(v3_zero());
    for (; *at < end && pz_step_is_slide((*at)->kind); ++*at) {
        const pz_step *step = *at;
        pack3 a = step->kind == PZ_SLIDE_X ? f->x : step->kind == PZ_SLIDE_Y ? f->y : f->z;
        kin->S[step->axis].w = v3_zero();
        pack3_store(a, &kin->S[step->axis].v);
        slid = pack3_mad(slid, kin->value[step->value], a);
    }
    return slid;
}

// One turn: two columns change, u' = c u + s w, w' = c w - s u.
REAL_FN void turn_columns(pack3 axis, pack3 p, real s, real c, pack3 *u, pack3 *w, real_spatial *S)
{
    pack3 turned = pack3_combine(c, *u, s, *w);
    *w = pack3_differ(c, *w, s, *u);
    *u = turned;
    put_turn_axis(axis, p, S);
}

// A joint that hangs on the world. Body 0 is the reference point.
REAL_FN void place_root(real_kinematics *kin, int k, sweep_frame *f, const pz_step **at, const pz_step *end)
{
    const pz_joint *joint = &kin->model->joints[k];
    real33 C = real33_of(&joint->C);
    f->x = pack3_of(C.x), f->y = pack3_of(C.y), f->z = pack3_of(C.z);
    pack3 p = pack3_add(pack3_of(real3_of(joint->t)), sweep_slides(kin, f, at, end));
    if (k == 0) {
        pack3_store(p, &kin->origin);
    }
    f->p = pack3_sub(p, pack3_of(kin->origin));
}

// Any other joint, from the frame of its parent: p + R t, then R C, then slides.
REAL_FN void place_child(real_kinematics *kin, int k, sweep_frame *f, const pz_step **at, const pz_step *end)
{
    const pz_joint *joint = &kin->model->joints[k];
    f->p = pack3_add(f->p, pack3_apply(f->x, f->y, f->z, real3_of(joint->t)));
    if (!joint->C_is_identity || joint->slide_count > 0) {
        real33 C = real33_of(&joint->C);
        turn_frame(f, &C);
    }
    if (joint->slide_count > 0) {
        f->p = pack3_add(f->p, sweep_slides(kin, f, at, end));
    }
}

// Angles and lengths of all steps that turn and slide, then joint by joint.
REAL_FN void sweep_forward(real_kinematics *kin)
{
    const poise_model *model = kin->model;
    for (int i = 0; i < model->value_count; ++i) {
        kin->value[i] = model->value_factor[i] * kin->q[model->value_q[i]] + model->value_offset[i];
    }
    int angles = model->turn_count;
    if (REAL_WIDTH == 1) { // whole registers
        angles = (angles + SWEEP_SPARE) / SWEEP_REGISTER * SWEEP_REGISTER;
    }
    real_sincos_array(angles, ~0u, kin->value, kin->sine, kin->cosine);
#if defined(REAL_PACKED)
    if (model->block_count > 0) {
        take_vectors(kin);
    }
#endif
    sweep_frame f = {0};
    for (int k = 0; k < model->joint_count; ++k) {
        const pz_joint *joint = &model->joints[k];
        const pz_step *at = model->steps + joint->step_begin, *end = model->steps + joint->step_end;
        if (joint->parent == POISE_WORLD) {
            place_root(kin, k, &f, &at, end);
        } else {
            if (joint->parent != k - 1) { // else f is the parent's frame
                const real33 *R = &kin->R[joint->parent];
                f = (sweep_frame){pack3_load(&R->x), pack3_load(&R->y), pack3_load(&R->z),
                                  pack3_load(&kin->p[joint->parent])};
            }
            place_child(kin, k, &f, &at, end);
        }
        for (; at < end; ++at) {
            if (pz_step_is_block(at->kind)) {
                sweep_frame turned = f; // f itself stays in registers
                sweep_block(kin, at, &turned);
                f = turned;
                continue;
            }
            real s = kin->sine[at->value], c = kin->cosine[at->value];
            real_spatial *S = &kin->S[at->axis];
            if (at->kind == PZ_TURN_Z) {
                turn_columns(f.z, f.p, s, c, &f.x, &f.y, S);
            } else if (at->kind == PZ_TURN_Y) {
                turn_columns(f.y, f.p, s, c, &f.z, &f.x, S);
            } else {
                turn_columns(f.x, f.p, s, c, &f.y, &f.z, S);
            }
        }
        real33 *R = &kin->R[k];
        pack3_store(f.x, &R->x), pack3_store(f.y, &R->y), pack3_store(f.z, &R->z), pack3_store(f.p, &kin->p[k]);
    }
}

#endif
