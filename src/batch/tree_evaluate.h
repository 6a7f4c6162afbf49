// Kernels of tree_lanes.h: a point and its derivatives. See kin/forward.c, goal/position.c, goal/marker_sums.c and
// goal/objective.c, which say what is done and why; here it is done in lanes.
#ifndef PZ_BATCH_TREE_EVALUATE_H
#define PZ_BATCH_TREE_EVALUATE_H

#include "batch/tree_lanes.h"
#include "math/so3_series.h"
#include "simd/six.h"

typedef struct lane_block {
    real33 before;
    real3 v;
    real c, db, dc;
} lane_block;

typedef struct lane_sum {
    real6 g;
    real n;
    real3 c;
    real_sym ww, K;
} lane_sum;

typedef struct lane_moment {
    real n;
    real3 b;
    real_sym S;
    real3 tau;
    real33 Y;
} lane_moment;

#define LANE_REALS(array) ((real *)t->array)
#define LANE_MASKS(array) ((mask *)t->array)
#define LANE_R            ((real33 *)t->R)
#define LANE_P            ((real3 *)t->p)
#define LANE_S            ((real6 *)t->S)
#define LANE_SUMS         ((lane_sum *)t->sums)

// ---- Forward sweep -------------------------------------------------------------------------------------------------------

REAL_FN real6 lane_turn_axis(real3 w, real3 p)
{
    return (real6){w, real3_cross(p, w)};
}

typedef struct lane_coefficients {
    real a, b, c, db, dc;
} lane_coefficients;

// The series of math/so3.c.
REAL_FN lane_coefficients lane_series_form(real x)
{
    real y = x * x, zero = real_of(0.0);
    real e4 = zero, o4 = zero, e5 = zero, o5 = zero;
    for (int j = SO3_SERIES_TERMS - 2; j >= 0; j -= 2) {
        e4 = SO3_SERIES_4[j] + y * e4, o4 = SO3_SERIES_4[j + 1] + y * o4;
        e5 = SO3_SERIES_5[j] + y * e5, o5 = SO3_SERIES_5[j + 1] + y * o5;
    }
    real c4 = e4 - x * o4, c5 = e5 - x * o5;
    real c = 1.0 / 6.0 - x * c5;
    return (lane_coefficients){1.0 - x * c, 0.5 - x * c4, c, 2.0 * c4 - c, 3.0 * c5 - c4};
}

// Lanes whose rotation vector is long, one by one, as the sweep for one problem does them.
REAL_KERNEL void lane_long_vectors(real3 *v, lane_coefficients *k, unsigned lanes)
{
    for (int i = 0; i < REAL_WIDTH; ++i) {
        if (lanes >> i & 1u) {
            vec3 one = v3(v->x[i], v->y[i], v->z[i]);
            if (!(fabs(one.x) + fabs(one.y) + fabs(one.z) < SO3_LONG_VECTOR)) {
                so3_reparameterise(&one);
            }
            so3_coefficients of = so3_coefficients_of(one);
            v->x[i] = one.x, v->y[i] = one.y, v->z[i] = one.z;
            k->a[i] = of.a, k->b[i] = of.b, k->c[i] = of.c, k->db[i] = of.db, k->dc[i] = of.dc;
        }
    }
}

// so3_quadratic
REAL_FN real33 lane_quadratic(real p, real r, real3 v)
{
    real xx = v.x * v.x, yy = v.y * v.y, zz = v.z * v.z;
    real xy = r * (v.x * v.y), xz = r * (v.x * v.z), yz = r * (v.y * v.z);
    real3 pv = real3_scale(v, p);
    return (real33){{1.0 - r * (yy + zz), xy + pv.z, xz - pv.y},
                    {xy - pv.z, 1.0 - r * (xx + zz), yz + pv.x},
                    {xz + pv.y, yz - pv.x, 1.0 - r * (xx + yy)}};
}

REAL_FN void lane_exponential(real33 *R, real3 v, int count, real3 p, lane_block *block, real6 *S)
{
    real square = real3_dot(v, v);
    lane_coefficients k = lane_series_form(square);
    mask is_long = mask_not(square <= real_of(SO3_SERIES_LIMIT));
    if (mask_any(is_long)) {
        lane_long_vectors(&v, &k, mask_bits(is_long));
    }
    real33 before = *R;
    *block = (lane_block){before, v, k.c, k.db, k.dc};
    real33 turned = lane_quadratic(k.a, k.b, v), J = lane_quadratic(k.b, k.c, v);
    S[0] = lane_turn_axis(real33_apply(&before, J.x), p);
    S[1] = lane_turn_axis(real33_apply(&before, J.y), p);
    if (count == 3) {
        S[2] = lane_turn_axis(real33_apply(&before, J.z), p);
    }
    *R = real33_mul(&before, &turned);
}

typedef struct lane_quat {
    real x, y, z, w;
} lane_quat;

REAL_FN lane_quat lane_quat_normalize(lane_quat q)
{
    real largest = real_max2(real_max2(real_fabs(q.x), real_fabs(q.y)), real_max2(real_fabs(q.z), real_fabs(q.w)));
    mask is_sound = (mask)(largest > real_of(0.0));
    lane_quat p = {q.x / largest, q.y / largest, q.z / largest, q.w / largest};
    real n = real_sqrt(p.x * p.x + p.y * p.y + p.z * p.z + p.w * p.w);
    return (lane_quat){real_where(is_sound, p.x / n), real_where(is_sound, p.y / n), real_where(is_sound, p.z / n),
                       real_where(is_sound, p.w / n)};
}

REAL_FN real33 lane_quat_matrix(lane_quat q)
{
    real xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    real xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
    real wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    return (real33){{1.0 - 2.0 * (yy + zz), 2.0 * (xy + wz), 2.0 * (xz - wy)},
                    {2.0 * (xy - wz), 1.0 - 2.0 * (xx + zz), 2.0 * (yz + wx)},
                    {2.0 * (xz + wy), 2.0 * (yz - wx), 1.0 - 2.0 * (xx + yy)}};
}

REAL_FN void lane_quaternion(real33 *R, const real *c, real3 p, lane_block *block, real6 *S)
{
    real33 turned = lane_quat_matrix(lane_quat_normalize((lane_quat){c[0], c[1], c[2], c[3]}));
    *R = real33_mul(R, &turned);
    lane_coefficients k = lane_series_form(real_of(0.0));
    *block = (lane_block){*R, real3_zero(), k.c, k.db, k.dc};
    S[0] = lane_turn_axis(R->x, p);
    S[1] = lane_turn_axis(R->y, p);
    S[2] = lane_turn_axis(R->z, p);
}

REAL_FN void lane_block_step(pz_tree_lanes *t, const pz_step *step, real3 p, real33 *R)
{
    real6 *S = LANE_S + step->axis;
    lane_block *block = (lane_block *)t->blocks + step->block;
    const real *q = LANE_REALS(q_try) + step->q;
    if (step->kind == PZ_QUATERNION) {
        lane_quaternion(R, q, p, block, S);
    } else if (step->kind == PZ_EXPMAP) {
        lane_exponential(R, (real3){q[0], q[1], q[2]}, 3, p, block, S);
    } else {
        lane_exponential(R, (real3){q[0], q[1], real_of(0.0)}, 2, p, block, S);
    }
}

// Turn two columns of a frame: u' = c u + s w, w' = c w - s u.
REAL_FN void lane_turn(real3 *u, real3 *w, real s, real c)
{
    real3 u0 = *u;
    *u = real3_combine(c, u0, s, *w);
    *w = real3_combine(c, *w, -s, u0);
}

REAL_FN void lane_turn_steps(pz_tree_lanes *t, int k, real33 R, real3 p, int step)
{
    const pz_step *at = t->model->steps + step, *end = t->model->steps + t->model->joints[k].step_end;
    for (; at < end; ++at) {
        if (pz_step_is_block(at->kind)) {
            lane_block_step(t, at, p, &R);
            continue;
        }
        real s = LANE_REALS(sine)[at->value], c = LANE_REALS(cosine)[at->value];
        real6 *S = LANE_S + at->axis;
        if (at->kind == PZ_TURN_X) {
            *S = lane_turn_axis(R.x, p);
            lane_turn(&R.y, &R.z, s, c);
        } else if (at->kind == PZ_TURN_Y) {
            *S = lane_turn_axis(R.y, p);
            lane_turn(&R.z, &R.x, s, c);
        } else {
            *S = lane_turn_axis(R.z, p);
            lane_turn(&R.x, &R.y, s, c);
        }
    }
    LANE_R[k] = R;
    LANE_P[k] = p;
}

REAL_FN real3 lane_slide_steps(pz_tree_lanes *t, const real33 *R, int *step, int end)
{
    real3 slid = real3_zero();
    for (; *step < end && pz_step_is_slide(t->model->steps[*step].kind); ++*step) {
        const pz_step *s = &t->model->steps[*step];
        real3 a = s->kind == PZ_SLIDE_X ? R->x : s->kind == PZ_SLIDE_Y ? R->y : R->z;
        LANE_S[s->axis] = (real6){real3_zero(), a};
        slid = real3_mad(slid, LANE_REALS(value)[s->value], a);
    }
    return slid;
}

REAL_FN void lane_sweep_root(pz_tree_lanes *t, int k)
{
    const pz_joint *joint = &t->model->joints[k];
    real33 C = real33_of(&joint->C);
    int step = joint->step_begin;
    real3 at = real3_add(real3_of(joint->t), lane_slide_steps(t, &C, &step, joint->step_end));
    real3 *origin = (real3 *)t->origin;
    if (k == 0) {
        *origin = at;
    }
    lane_turn_steps(t, k, C, real3_sub(at, *origin), step);
}

REAL_FN void lane_sweep_child(pz_tree_lanes *t, int k)
{
    const pz_joint *joint = &t->model->joints[k];
    real33 R = LANE_R[joint->parent];
    real3 p = real3_add(LANE_P[joint->parent], real33_apply(&R, real3_of(joint->t)));
    int step = joint->step_begin;
    if (!joint->C_is_identity || joint->slide_count > 0) {
        real33 C = real33_of(&joint->C);
        R = real33_mul(&R, &C);
    }
    if (joint->slide_count > 0) {
        p = real3_add(p, lane_slide_steps(t, &R, &step, joint->step_end));
    }
    lane_turn_steps(t, k, R, p, step);
}

REAL_KERNEL void lane_sweep(pz_tree_lanes *t)
{
    const poise_model *model = t->model;
    real *value = LANE_REALS(value);
    for (int i = 0; i < model->value_count; ++i) {
        value[i] = model->value_factor[i] * LANE_REALS(q_try)[model->value_q[i]] + model->value_offset[i];
    }
    for (int i = 0; i < model->turn_count; ++i) {
        real_sincos(value[i], LANE_REALS(sine) + i, LANE_REALS(cosine) + i);
    }
    for (int k = 0; k < model->joint_count; ++k) {
        if (model->joints[k].parent == POISE_WORLD) {
            lane_sweep_root(t, k);
        } else {
            lane_sweep_child(t, k);
        }
    }
}

// ---- Goals ---------------------------------------------------------------------------------------------------------------

// x - t of a goal, and x, relative to the reference point.
REAL_FN real3 lane_goal_residual(const pz_tree_lanes *t, int goal, const real33 *R, real3 p, real3 *x)
{
    real3 l = ((const real3 *)t->goal_l)[goal], target = ((const real3 *)t->goal_t)[goal];
    *x = real3_add(p, real33_apply(R, l));
    return real3_sub(*x, real3_sub(target, *(const real3 *)t->origin));
}

// add_marker of goal/position.c; its share of the cost is kept until all are there, and added in the order of the goals.
REAL_FN void lane_add_marker(pz_tree_lanes *t, int goal, const real33 *R, real3 p, lane_sum *sum)
{
    real3 x, r = lane_goal_residual(t, goal, R, p, &x);
    real w = LANE_REALS(goal_w)[goal];
    LANE_REALS(goal_cost)[goal] = 0.5 * w * real3_dot(r, r);
    real3 f = real3_scale(r, w);
    sum->g = real6_add(sum->g, (real6){real3_cross(x, f), f});
    real_sym P = real_sym_outer(w, x);
    real trace = P.xx + P.yy + P.zz;
    sum->n = sum->n + w;
    sum->c = real3_mad(sum->c, w, x);
    sum->ww = real_sym_sub(sum->ww, P);
    sum->ww.xx += trace, sum->ww.yy += trace, sum->ww.zz += trace;
    real_sym K = real_sym_pair(x, f);
    real power = real3_dot(x, f);
    K.xx -= power, K.yy -= power, K.zz -= power;
    sum->K = real_sym_add(sum->K, K);
}

// body_cost of goal/marker_sums.c: four sums, added at the end.
REAL_FN real lane_condensed_cost(const pz_tree_lanes *t, const pz_lane_joint *joint, const real33 *R, real3 shift)
{
    real sum[PZ_MARKER_LANES] = {real_of(0.0), real_of(0.0), real_of(0.0), real_of(0.0)};
    for (int i = joint->place_begin; i < joint->place_end; i += PZ_MARKER_LANES) {
        for (int j = 0; j < PZ_MARKER_LANES; ++j) {
            real3 l = ((const real3 *)t->place_l)[i + j], target = ((const real3 *)t->place_t)[i + j];
            real3 r = real3_sub(real3_add(real33_apply(R, l), shift), target);
            sum[j] += LANE_REALS(place_w)[i + j] * real3_dot(r, r);
        }
    }
    return 0.5 * ((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

REAL_FN real_sym lane_turned(const real33 *R, const real_sym *S)
{
    real3 x = real33_apply(R, (real3){S->xx, S->xy, S->xz}), y = real33_apply(R, (real3){S->xy, S->yy, S->yz});
    real3 z = real33_apply(R, (real3){S->xz, S->yz, S->zz});
    return (real_sym){R->x.x * x.x + R->y.x * y.x + R->z.x * z.x, R->x.y * x.x + R->y.y * y.x + R->z.y * z.x,
                      R->x.z * x.x + R->y.z * y.x + R->z.z * z.x, R->x.y * x.y + R->y.y * y.y + R->z.y * z.y,
                      R->x.z * x.y + R->y.z * y.y + R->z.z * z.y, R->x.z * x.z + R->y.z * y.z + R->z.z * z.z};
}

// add_derivatives of goal/marker_sums.c.
REAL_FN void lane_add_condensed(const lane_moment *m, const real33 *R, real3 p, real3 tau, lane_sum *sum)
{
    real3 Rb = real33_apply(R, m->b), c = real3_mad(Rb, m->n, p);
    real_sym twice = real_sym_scale(real_sym_pair(p, Rb), real_of(2.0));
    real_sym P = real_sym_add(lane_turned(R, &m->S), real_sym_add(real_sym_outer(m->n, p), twice));
    real33 RY = real33_mul(R, &m->Y), PQ = real_sym_matrix(&P);
    real33 Q = {real3_sub(real3_mad(PQ.x, -tau.x, c), RY.x), real3_sub(real3_mad(PQ.y, -tau.y, c), RY.y),
                real3_sub(real3_mad(PQ.z, -tau.z, c), RY.z)};
    real3 torque = {Q.z.y - Q.y.z, Q.x.z - Q.z.x, Q.y.x - Q.x.y};
    sum->g = real6_add(sum->g, (real6){torque, real3_mad(c, -m->n, tau)});
    real trace_Q = Q.x.x + Q.y.y + Q.z.z;
    sum->n = sum->n + m->n;
    sum->c = real3_add(sum->c, c);
    sum->ww = real_sym_add(sum->ww, real_sym_sub(real_sym_identity(P.xx + P.yy + P.zz), P));
    real half = real_of(0.5);
    real_sym K = {Q.x.x, half * (Q.y.x + Q.x.y), half * (Q.z.x + Q.x.z), Q.y.y, half * (Q.z.y + Q.y.z), Q.z.z};
    sum->K = real_sym_add(sum->K, real_sym_add(K, real_sym_identity(-trace_Q)));
}

// What the goals of one body add up to.
REAL_FN lane_sum lane_goals_of(pz_tree_lanes *t, int k)
{
    const pz_lane_joint *joint = &t->joints[k];
    lane_sum sum = {real6_zero(), real_of(0.0), real3_zero(), real_sym_zero(), real_sym_zero()};
    real33 R = LANE_R[k];
    real3 p = LANE_P[k];
    for (int i = joint->goal_begin; i < joint->goal_end; ++i) {
        if (t->goals[t->by_body[i]].single) {
            lane_add_marker(t, t->by_body[i], &R, p, &sum);
        }
    }
    if (joint->condensed) {
        const lane_moment *m = (const lane_moment *)t->moment + k;
        real3 tau = real3_sub(m->tau, *(const real3 *)t->origin);
        LANE_REALS(body_cost)[k] = lane_condensed_cost(t, joint, &R, real3_sub(p, tau));
        lane_add_condensed(m, &R, p, tau, &sum);
    }
    return sum;
}

REAL_FN void lane_add_cost(pz_tree_lanes *t)
{
    real cost = real_of(0.0);
    for (int i = 0; i < t->goal_count; ++i) {
        if (t->goals[i].single) {
            cost = cost + LANE_REALS(goal_cost)[i];
        }
    }
    for (int k = 0; k < t->model->joint_count; ++k) {
        if (t->joints[k].condensed) {
            cost = cost + LANE_REALS(body_cost)[k];
        }
    }
    *LANE_REALS(cost) = cost;
}

// ---- Sweep up ------------------------------------------------------------------------------------------------------------

REAL_FN lane_sum lane_sum_add(lane_sum a, lane_sum b)
{
    return (lane_sum){real6_add(a.g, b.g), a.n + b.n, real3_add(a.c, b.c), real_sym_add(a.ww, b.ww), real_sym_add(a.K, b.K)};
}

// Sums from the leaves, each joint's own goals before those of the joints below it, the last of these first; and the
// gradient.
REAL_KERNEL void lane_sum_up(pz_tree_lanes *t)
{
    const poise_model *model = t->model;
    lane_sum *sums = LANE_SUMS;
    for (int k = model->joint_count - 1; k >= 0; --k) {
        if (t->joints[k].is_leaf) {
            sums[k] = lane_goals_of(t, k);
        }
        const pz_joint *joint = &model->joints[k];
        for (int i = joint->axis_begin; i < joint->axis_end; ++i) {
            LANE_REALS(gradient)[i] = 0.0 + real6_power(LANE_S[i], sums[k].g);
        }
        int parent = joint->parent;
        if (parent != POISE_WORLD) {
            lane_sum above = t->joints[k].is_last_child ? lane_goals_of(t, parent) : sums[parent];
            sums[parent] = lane_sum_add(above, sums[k]);
        }
    }
    lane_add_cost(t);
}

REAL_KERNEL void lane_evaluate(pz_tree_lanes *t)
{
    lane_sweep(t);
    lane_sum_up(t);
}

REAL_KERNEL unsigned lane_overflowed(const pz_tree_lanes *t)
{
    real sum = *LANE_REALS(cost) - *LANE_REALS(cost);
    for (int i = 0; i < t->model->nv; ++i) {
        sum += LANE_REALS(gradient)[i] - LANE_REALS(gradient)[i];
    }
    return mask_bits(mask_not(sum == real_of(0.0)));
}

#endif
