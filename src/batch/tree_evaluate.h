// Kernels of tree_lanes.h: a point and its derivatives. See kin/forward.c, goal/position.c, goal/marker_sums.c and
// goal/objective.c, which say what is done and why; here it is done in lanes.
#ifndef PZ_BATCH_TREE_EVALUATE_H
#define PZ_BATCH_TREE_EVALUATE_H

#include "batch/lane_math.h"
#include "batch/tree_lanes.h"
#include "math/so3_series.h"

typedef struct lane_block {
    lane33 before;
    lane3 v;
    lane c, db, dc;
} lane_block;

typedef struct lane_sum {
    lane6 g;
    lane n;
    lane3 c;
    lane_sym ww, K;
} lane_sum;

typedef struct lane_moment {
    lane n;
    lane3 b;
    lane_sym S;
    lane3 tau;
    lane33 Y;
} lane_moment;

#define LANE_NUMBER(array) ((lane *)t->array)
#define LANE_MASKS(array)  ((lane_mask *)t->array)
#define LANE_R             ((lane33 *)t->R)
#define LANE_P             ((lane3 *)t->p)
#define LANE_S             ((lane6 *)t->S)
#define LANE_SUMS          ((lane_sum *)t->sums)

// ---- Forward sweep -------------------------------------------------------------------------------------------------------

LANE_FN lane6 lane_turn_axis(lane3 w, lane3 p)
{
    return (lane6){w, lane3_cross(p, w)};
}

typedef struct lane_coefficients {
    lane a, b, c, db, dc;
} lane_coefficients;

// The series of math/so3.c.
LANE_FN lane_coefficients lane_series_form(lane x)
{
    lane y = x * x, zero = lane_of(0.0);
    lane e4 = zero, o4 = zero, e5 = zero, o5 = zero;
    for (int j = SO3_SERIES_TERMS - 2; j >= 0; j -= 2) {
        e4 = SO3_SERIES_4[j] + y * e4, o4 = SO3_SERIES_4[j + 1] + y * o4;
        e5 = SO3_SERIES_5[j] + y * e5, o5 = SO3_SERIES_5[j + 1] + y * o5;
    }
    lane c4 = e4 - x * o4, c5 = e5 - x * o5;
    lane c = 1.0 / 6.0 - x * c5;
    return (lane_coefficients){1.0 - x * c, 0.5 - x * c4, c, 2.0 * c4 - c, 3.0 * c5 - c4};
}

// Lanes whose rotation vector is long, one by one, as the sweep for one problem does them.
LANE_KERNEL void lane_long_vectors(lane3 *v, lane_coefficients *k, unsigned lanes)
{
    for (int i = 0; i < LANES; ++i) {
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
LANE_FN lane33 lane_quadratic(lane p, lane r, lane3 v)
{
    lane xx = v.x * v.x, yy = v.y * v.y, zz = v.z * v.z;
    lane xy = r * (v.x * v.y), xz = r * (v.x * v.z), yz = r * (v.y * v.z);
    lane3 pv = lane3_scale(v, p);
    return (lane33){{1.0 - r * (yy + zz), xy + pv.z, xz - pv.y},
                    {xy - pv.z, 1.0 - r * (xx + zz), yz + pv.x},
                    {xz + pv.y, yz - pv.x, 1.0 - r * (xx + yy)}};
}

LANE_FN void lane_exponential(lane33 *R, lane3 v, int count, lane3 p, lane_block *block, lane6 *S)
{
    lane square = lane3_dot(v, v);
    lane_coefficients k = lane_series_form(square);
    lane_mask is_long = ~(lane_mask)(square <= lane_of(SO3_SERIES_LIMIT));
    if (lane_any(is_long)) {
        lane_long_vectors(&v, &k, lane_bits(is_long));
    }
    lane33 before = *R;
    *block = (lane_block){before, v, k.c, k.db, k.dc};
    lane33 turned = lane_quadratic(k.a, k.b, v), J = lane_quadratic(k.b, k.c, v);
    S[0] = lane_turn_axis(lane33_apply(&before, J.x), p);
    S[1] = lane_turn_axis(lane33_apply(&before, J.y), p);
    if (count == 3) {
        S[2] = lane_turn_axis(lane33_apply(&before, J.z), p);
    }
    *R = lane33_mul(&before, &turned);
}

typedef struct lane_quat {
    lane x, y, z, w;
} lane_quat;

LANE_FN lane_quat lane_quat_normalize(lane_quat q)
{
    lane largest = lane_max2(lane_max2(lane_fabs(q.x), lane_fabs(q.y)), lane_max2(lane_fabs(q.z), lane_fabs(q.w)));
    lane_mask is_sound = (lane_mask)(largest > lane_of(0.0));
    lane_quat p = {q.x / largest, q.y / largest, q.z / largest, q.w / largest};
    lane n = lane_sqrt(p.x * p.x + p.y * p.y + p.z * p.z + p.w * p.w);
    return (lane_quat){lane_where(is_sound, p.x / n), lane_where(is_sound, p.y / n), lane_where(is_sound, p.z / n),
                       lane_where(is_sound, p.w / n)};
}

LANE_FN lane33 lane_quat_matrix(lane_quat q)
{
    lane xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    lane xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
    lane wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    return (lane33){{1.0 - 2.0 * (yy + zz), 2.0 * (xy + wz), 2.0 * (xz - wy)},
                    {2.0 * (xy - wz), 1.0 - 2.0 * (xx + zz), 2.0 * (yz + wx)},
                    {2.0 * (xz + wy), 2.0 * (yz - wx), 1.0 - 2.0 * (xx + yy)}};
}

LANE_FN void lane_quaternion(lane33 *R, const lane *c, lane3 p, lane_block *block, lane6 *S)
{
    lane33 turned = lane_quat_matrix(lane_quat_normalize((lane_quat){c[0], c[1], c[2], c[3]}));
    *R = lane33_mul(R, &turned);
    lane_coefficients k = lane_series_form(lane_of(0.0));
    *block = (lane_block){*R, lane3_zero(), k.c, k.db, k.dc};
    S[0] = lane_turn_axis(R->x, p);
    S[1] = lane_turn_axis(R->y, p);
    S[2] = lane_turn_axis(R->z, p);
}

LANE_FN void lane_block_step(pz_tree_lanes *t, const pz_step *step, lane3 p, lane33 *R)
{
    lane6 *S = LANE_S + step->axis;
    lane_block *block = (lane_block *)t->blocks + step->block;
    const lane *q = LANE_NUMBER(q_try) + step->q;
    if (step->kind == PZ_QUATERNION) {
        lane_quaternion(R, q, p, block, S);
    } else if (step->kind == PZ_EXPMAP) {
        lane_exponential(R, (lane3){q[0], q[1], q[2]}, 3, p, block, S);
    } else {
        lane_exponential(R, (lane3){q[0], q[1], lane_of(0.0)}, 2, p, block, S);
    }
}

// Turn two columns of a frame: u' = c u + s w, w' = c w - s u.
LANE_FN void lane_turn(lane3 *u, lane3 *w, lane s, lane c)
{
    lane3 u0 = *u;
    *u = lane3_combine(c, u0, s, *w);
    *w = lane3_combine(c, *w, -s, u0);
}

LANE_FN void lane_turn_steps(pz_tree_lanes *t, int k, lane33 R, lane3 p, int step)
{
    const pz_step *at = t->model->steps + step, *end = t->model->steps + t->model->joints[k].step_end;
    for (; at < end; ++at) {
        if (pz_step_is_block(at->kind)) {
            lane_block_step(t, at, p, &R);
            continue;
        }
        lane s = LANE_NUMBER(sine)[at->value], c = LANE_NUMBER(cosine)[at->value];
        lane6 *S = LANE_S + at->axis;
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

LANE_FN lane3 lane_slide_steps(pz_tree_lanes *t, const lane33 *R, int *step, int end)
{
    lane3 slid = lane3_zero();
    for (; *step < end && pz_step_is_slide(t->model->steps[*step].kind); ++*step) {
        const pz_step *s = &t->model->steps[*step];
        lane3 a = s->kind == PZ_SLIDE_X ? R->x : s->kind == PZ_SLIDE_Y ? R->y : R->z;
        LANE_S[s->axis] = (lane6){lane3_zero(), a};
        slid = lane3_mad(slid, LANE_NUMBER(value)[s->value], a);
    }
    return slid;
}

LANE_FN void lane_sweep_root(pz_tree_lanes *t, int k)
{
    const pz_joint *joint = &t->model->joints[k];
    lane33 C = lane33_of(&joint->C);
    int step = joint->step_begin;
    lane3 at = lane3_add(lane3_of(joint->t), lane_slide_steps(t, &C, &step, joint->step_end));
    lane3 *origin = (lane3 *)t->origin;
    if (k == 0) {
        *origin = at;
    }
    lane_turn_steps(t, k, C, lane3_sub(at, *origin), step);
}

LANE_FN void lane_sweep_child(pz_tree_lanes *t, int k)
{
    const pz_joint *joint = &t->model->joints[k];
    lane33 R = LANE_R[joint->parent];
    lane3 p = lane3_add(LANE_P[joint->parent], lane33_apply(&R, lane3_of(joint->t)));
    int step = joint->step_begin;
    if (!joint->C_is_identity || joint->slide_count > 0) {
        lane33 C = lane33_of(&joint->C);
        R = lane33_mul(&R, &C);
    }
    if (joint->slide_count > 0) {
        p = lane3_add(p, lane_slide_steps(t, &R, &step, joint->step_end));
    }
    lane_turn_steps(t, k, R, p, step);
}

LANE_KERNEL void lane_sweep(pz_tree_lanes *t)
{
    const poise_model *model = t->model;
    lane *value = LANE_NUMBER(value);
    for (int i = 0; i < model->value_count; ++i) {
        value[i] = model->value_factor[i] * LANE_NUMBER(q_try)[model->value_q[i]] + model->value_offset[i];
    }
    for (int i = 0; i < model->turn_count; ++i) {
        lane_sincos(value[i], LANE_NUMBER(sine) + i, LANE_NUMBER(cosine) + i);
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
LANE_FN lane3 lane_goal_residual(const pz_tree_lanes *t, int goal, const lane33 *R, lane3 p, lane3 *x)
{
    lane3 l = ((const lane3 *)t->goal_l)[goal], target = ((const lane3 *)t->goal_t)[goal];
    *x = lane3_add(p, lane33_apply(R, l));
    return lane3_sub(*x, lane3_sub(target, *(const lane3 *)t->origin));
}

// add_marker of goal/position.c; its share of the cost is kept until all are there, and added in the order of the goals.
LANE_FN void lane_add_marker(pz_tree_lanes *t, int goal, const lane33 *R, lane3 p, lane_sum *sum)
{
    lane3 x, r = lane_goal_residual(t, goal, R, p, &x);
    lane w = LANE_NUMBER(goal_w)[goal];
    LANE_NUMBER(goal_cost)[goal] = 0.5 * w * lane3_dot(r, r);
    lane3 f = lane3_scale(r, w);
    sum->g = lane6_add(sum->g, (lane6){lane3_cross(x, f), f});
    lane_sym P = lane_sym_outer(w, x);
    lane trace = P.xx + P.yy + P.zz;
    sum->n = sum->n + w;
    sum->c = lane3_mad(sum->c, w, x);
    sum->ww = lane_sym_sub(sum->ww, P);
    sum->ww.xx += trace, sum->ww.yy += trace, sum->ww.zz += trace;
    lane_sym K = lane_sym_pair(x, f);
    lane power = lane3_dot(x, f);
    K.xx -= power, K.yy -= power, K.zz -= power;
    sum->K = lane_sym_add(sum->K, K);
}

// body_cost of goal/marker_sums.c: four sums, added at the end.
LANE_FN lane lane_condensed_cost(const pz_tree_lanes *t, const pz_lane_joint *joint, const lane33 *R, lane3 shift)
{
    lane sum[PZ_MARKER_LANES] = {lane_of(0.0), lane_of(0.0), lane_of(0.0), lane_of(0.0)};
    for (int i = joint->place_begin; i < joint->place_end; i += PZ_MARKER_LANES) {
        for (int j = 0; j < PZ_MARKER_LANES; ++j) {
            lane3 l = ((const lane3 *)t->place_l)[i + j], target = ((const lane3 *)t->place_t)[i + j];
            lane3 r = lane3_sub(lane3_add(lane33_apply(R, l), shift), target);
            sum[j] += LANE_NUMBER(place_w)[i + j] * lane3_dot(r, r);
        }
    }
    return 0.5 * ((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

LANE_FN lane_sym lane_turned(const lane33 *R, const lane_sym *S)
{
    lane3 x = lane33_apply(R, (lane3){S->xx, S->xy, S->xz}), y = lane33_apply(R, (lane3){S->xy, S->yy, S->yz});
    lane3 z = lane33_apply(R, (lane3){S->xz, S->yz, S->zz});
    return (lane_sym){R->x.x * x.x + R->y.x * y.x + R->z.x * z.x, R->x.y * x.x + R->y.y * y.x + R->z.y * z.x,
                      R->x.z * x.x + R->y.z * y.x + R->z.z * z.x, R->x.y * x.y + R->y.y * y.y + R->z.y * z.y,
                      R->x.z * x.y + R->y.z * y.y + R->z.z * z.y, R->x.z * x.z + R->y.z * y.z + R->z.z * z.z};
}

// add_derivatives of goal/marker_sums.c.
LANE_FN void lane_add_condensed(const lane_moment *m, const lane33 *R, lane3 p, lane3 tau, lane_sum *sum)
{
    lane3 Rb = lane33_apply(R, m->b), c = lane3_mad(Rb, m->n, p);
    lane_sym twice = lane_sym_scale(lane_sym_pair(p, Rb), lane_of(2.0));
    lane_sym P = lane_sym_add(lane_turned(R, &m->S), lane_sym_add(lane_sym_outer(m->n, p), twice));
    lane33 RY = lane33_mul(R, &m->Y), PQ = lane_sym_matrix(&P);
    lane33 Q = {lane3_sub(lane3_mad(PQ.x, -tau.x, c), RY.x), lane3_sub(lane3_mad(PQ.y, -tau.y, c), RY.y),
                lane3_sub(lane3_mad(PQ.z, -tau.z, c), RY.z)};
    lane3 torque = {Q.z.y - Q.y.z, Q.x.z - Q.z.x, Q.y.x - Q.x.y};
    sum->g = lane6_add(sum->g, (lane6){torque, lane3_mad(c, -m->n, tau)});
    lane trace_Q = Q.x.x + Q.y.y + Q.z.z;
    sum->n = sum->n + m->n;
    sum->c = lane3_add(sum->c, c);
    sum->ww = lane_sym_add(sum->ww, lane_sym_sub(lane_sym_identity(P.xx + P.yy + P.zz), P));
    lane half = lane_of(0.5);
    lane_sym K = {Q.x.x, half * (Q.y.x + Q.x.y), half * (Q.z.x + Q.x.z), Q.y.y, half * (Q.z.y + Q.y.z), Q.z.z};
    sum->K = lane_sym_add(sum->K, lane_sym_add(K, lane_sym_identity(-trace_Q)));
}

// What the goals of one body add up to.
LANE_FN lane_sum lane_goals_of(pz_tree_lanes *t, int k)
{
    const pz_lane_joint *joint = &t->joints[k];
    lane_sum sum = {lane6_zero(), lane_of(0.0), lane3_zero(), lane_sym_zero(), lane_sym_zero()};
    lane33 R = LANE_R[k];
    lane3 p = LANE_P[k];
    for (int i = joint->goal_begin; i < joint->goal_end; ++i) {
        if (t->goals[t->by_body[i]].single) {
            lane_add_marker(t, t->by_body[i], &R, p, &sum);
        }
    }
    if (joint->condensed) {
        const lane_moment *m = (const lane_moment *)t->moment + k;
        lane3 tau = lane3_sub(m->tau, *(const lane3 *)t->origin);
        LANE_NUMBER(body_cost)[k] = lane_condensed_cost(t, joint, &R, lane3_sub(p, tau));
        lane_add_condensed(m, &R, p, tau, &sum);
    }
    return sum;
}

LANE_FN void lane_add_cost(pz_tree_lanes *t)
{
    lane cost = lane_of(0.0);
    for (int i = 0; i < t->goal_count; ++i) {
        if (t->goals[i].single) {
            cost = cost + LANE_NUMBER(goal_cost)[i];
        }
    }
    for (int k = 0; k < t->model->joint_count; ++k) {
        if (t->joints[k].condensed) {
            cost = cost + LANE_NUMBER(body_cost)[k];
        }
    }
    *LANE_NUMBER(cost) = cost;
}

// ---- Sweep up ------------------------------------------------------------------------------------------------------------

LANE_FN lane_sum lane_sum_add(lane_sum a, lane_sum b)
{
    return (lane_sum){lane6_add(a.g, b.g), a.n + b.n, lane3_add(a.c, b.c), lane_sym_add(a.ww, b.ww), lane_sym_add(a.K, b.K)};
}

// Sums from the leaves, each joint's own goals before those of the joints below it, the last of these first; and the
// gradient.
LANE_KERNEL void lane_sum_up(pz_tree_lanes *t)
{
    const poise_model *model = t->model;
    lane_sum *sums = LANE_SUMS;
    for (int k = model->joint_count - 1; k >= 0; --k) {
        if (t->joints[k].is_leaf) {
            sums[k] = lane_goals_of(t, k);
        }
        const pz_joint *joint = &model->joints[k];
        for (int i = joint->axis_begin; i < joint->axis_end; ++i) {
            LANE_NUMBER(gradient)[i] = 0.0 + lane6_power(LANE_S[i], sums[k].g);
        }
        int parent = joint->parent;
        if (parent != POISE_WORLD) {
            lane_sum above = t->joints[k].is_last_child ? lane_goals_of(t, parent) : sums[parent];
            sums[parent] = lane_sum_add(above, sums[k]);
        }
    }
    lane_add_cost(t);
}

LANE_KERNEL void lane_evaluate(pz_tree_lanes *t)
{
    lane_sweep(t);
    lane_sum_up(t);
}

LANE_KERNEL unsigned lane_overflowed(const pz_tree_lanes *t)
{
    lane sum = *LANE_NUMBER(cost) - *LANE_NUMBER(cost);
    for (int i = 0; i < t->model->nv; ++i) {
        sum += LANE_NUMBER(gradient)[i] - LANE_NUMBER(gradient)[i];
    }
    return lane_bits(~(lane_mask)(sum == lane_of(0.0)));
}

#endif
