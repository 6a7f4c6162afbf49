// The forward sweep: frames and motion axes, parents first.
#include "kin/kin.h"
#include "math/so3_series.h"
#include "math/trig.h"

// Angles are taken in whole registers. What follows the last of them, slides or these zeros, is of no account.
#define REGISTER 4
#define SPARE    (REGISTER - 1)

void pz_kin_layout(poise_kinematics *kin, const poise_model *model, pz_arena *arena)
{
    kin->model = model;
    kin->q = pz_arena_take(arena, (size_t)model->nq, sizeof *kin->q);
    // one more than there are: simd/pack3.h reads beyond the last
    kin->R = pz_arena_take(arena, (size_t)model->joint_count + 1, sizeof *kin->R);
    kin->p = pz_arena_take(arena, (size_t)model->joint_count + 1, sizeof *kin->p);
    kin->S = pz_arena_take(arena, (size_t)model->axis_count, sizeof *kin->S);
    kin->blocks = pz_arena_take(arena, (size_t)model->block_count, sizeof *kin->blocks);
    kin->value = pz_arena_take(arena, (size_t)model->value_count + SPARE, sizeof *kin->value);
    kin->sine = pz_arena_take(arena, (size_t)model->turn_count + SPARE, sizeof *kin->sine);
    kin->cosine = pz_arena_take(arena, (size_t)model->turn_count + SPARE, sizeof *kin->cosine);
    for (int i = 0; kin->value && i < SPARE; ++i) {
        kin->value[model->value_count + i] = 0.0;
    }
}

// A rotation about the origin p: its axis as a twist about the reference point.
static inline spatial turn_axis(vec3 w, vec3 p)
{
    return (spatial){w, v3_cross(p, w)};
}

// exp(v) after the frame R: axes R J_l(v) e_i, i < count.
static void exponential(mat3 *R, vec3 v, int count, vec3 p, pz_block *block, spatial *S)
{
    if (!(fabs(v.x) + fabs(v.y) + fabs(v.z) < SO3_LONG_VECTOR)) {
        so3_reparameterise(&v);
    }
    block->before = *R;
    block->v = v;
    block->k = so3_coefficients_of(v);
    mat3 turned = so3_quadratic(block->k.a, block->k.b, v);
    mat3 J = so3_quadratic(block->k.b, block->k.c, v);
    S[0] = turn_axis(m3_apply(R, J.x), p);
    S[1] = turn_axis(m3_apply(R, J.y), p);
    if (count == 3) {
        S[2] = turn_axis(m3_apply(R, J.z), p);
    }
    *R = m3_mul(&block->before, &turned);
}

// A quaternion after the frame R. Its step multiplies from the right, so its axes are the body's own.
static void quaternion(mat3 *R, const double *c, vec3 p, pz_block *block, spatial *S)
{
    mat3 turned = quat_matrix(quat_normalize((quat){c[0], c[1], c[2], c[3]}));
    *R = m3_mul(R, &turned);
    block->before = *R;
    block->v = v3(0, 0, 0);
    block->k = so3_coefficients_of(block->v);
    S[0] = turn_axis(R->x, p);
    S[1] = turn_axis(R->y, p);
    S[2] = turn_axis(R->z, p);
}

// A step that is a rotation block.
static void block_step(poise_kinematics *kin, const pz_step *step, vec3 p, mat3 *R)
{
    spatial *S = &kin->S[step->axis];
    pz_block *block = &kin->blocks[step->block];
    const double *q = kin->q + step->q;
    if (step->kind == PZ_QUATERNION) {
        quaternion(R, q, p, block, S);
    } else {
        exponential(R, v3(q[0], q[1], step->kind == PZ_EXPMAP ? q[2] : 0.0), step->kind == PZ_EXPMAP ? 3 : 2, p, block, S);
    }
}

// Turn two columns of a frame: u' = c u + s w, w' = c w - s u.
static inline void turn(vec3 *u, vec3 *w, double s, double c)
{
    vec3 u0 = *u;
    *u = v3_combine(c, u0, s, *w);
    *w = v3_combine(c, *w, -s, u0);
}

// The steps that turn, and the store.
static inline void turn_steps(poise_kinematics *kin, int k, const mat3 *before, vec3 p, int step)
{
    const pz_step *at = kin->model->steps + step, *end = kin->model->steps + kin->model->joints[k].step_end;
    vec3 x = before->x, y = before->y, z = before->z;
    for (; at < end; ++at) {
        if (pz_step_is_block(at->kind)) {
            mat3 turned = {x, y, z};
            block_step(kin, at, p, &turned);
            x = turned.x, y = turned.y, z = turned.z;
            continue;
        }
        double s = kin->sine[at->value], c = kin->cosine[at->value];
        if (at->kind == PZ_TURN_X) {
            kin->S[at->axis] = turn_axis(x, p);
            turn(&y, &z, s, c);
        } else if (at->kind == PZ_TURN_Y) {
            kin->S[at->axis] = turn_axis(y, p);
            turn(&z, &x, s, c);
        } else {
            kin->S[at->axis] = turn_axis(z, p);
            turn(&x, &y, s, c);
        }
    }
    kin->R[k] = (mat3){x, y, z};
    kin->p[k] = p;
}

// The steps that slide, which come first. Returns their displacement and moves *step past them.
static vec3 slide_steps(poise_kinematics *kin, const mat3 *R, int *step, int end)
{
    vec3 slid = {0, 0, 0};
    for (; *step < end && pz_step_is_slide(kin->model->steps[*step].kind); ++*step) {
        const pz_step *s = &kin->model->steps[*step];
        vec3 a = s->kind == PZ_SLIDE_X ? R->x : s->kind == PZ_SLIDE_Y ? R->y : R->z;
        kin->S[s->axis] = (spatial){{0, 0, 0}, a};
        slid = v3_mad(slid, kin->value[s->value], a);
    }
    return slid;
}

// A joint that hangs on the world. Body 0 is the reference point.
static void sweep_root(poise_kinematics *kin, int k)
{
    const pz_joint *joint = &kin->model->joints[k];
    int step = joint->step_begin;
    vec3 at = v3_add(joint->t, slide_steps(kin, &joint->C, &step, joint->step_end));
    if (k == 0) {
        kin->origin = at;
    }
    turn_steps(kin, k, &joint->C, v3_sub(at, kin->origin), step);
}

static void sweep_child(poise_kinematics *kin, int k)
{
    const pz_joint *joint = &kin->model->joints[k];
    const mat3 *above = &kin->R[joint->parent];
    vec3 p = v3_add(kin->p[joint->parent], m3_apply(above, joint->t));
    int step = joint->step_begin;
    if (joint->C_is_identity && joint->slide_count == 0) {
        turn_steps(kin, k, above, p, step);
        return;
    }
    mat3 R = m3_mul(above, &joint->C);
    if (joint->slide_count > 0) {
        p = v3_add(p, slide_steps(kin, &R, &step, joint->step_end));
    }
    turn_steps(kin, k, &R, p, step);
}

void pz_kin_sweep_joint(poise_kinematics *kin, int k)
{
    if (kin->model->joints[k].parent == POISE_WORLD) {
        sweep_root(kin, k);
    } else {
        sweep_child(kin, k);
    }
}

void pz_kin_sweep(poise_kinematics *kin, const double *q)
{
    const poise_model *model = kin->model;
    for (int i = 0; i < model->nq; ++i) {
        kin->q[i] = q[i];
    }
    for (int i = 0; i < model->value_count; ++i) {
        kin->value[i] = model->value_factor[i] * q[model->value_q[i]] + model->value_offset[i];
    }
    size_t angles = ((size_t)model->turn_count + SPARE) / REGISTER * REGISTER;
    if (model->is_wide) {
        pz_sincos_array_wide(angles, kin->value, kin->sine, kin->cosine);
        pz_kin_sweep_wide(kin);
        return;
    }
    pz_sincos_array(angles, kin->value, kin->sine, kin->cosine);
    for (int k = 0; k < model->joint_count; ++k) {
        pz_kin_sweep_joint(kin, k);
    }
}
