// Kernels of tree_lanes.h: a point and its derivatives, by the forward sweep (kin/forward_kernel.h) and the sums of the
// goals (goal/sum_kernel.h).
#ifndef PZ_BATCH_TREE_EVALUATE_H
#define PZ_BATCH_TREE_EVALUATE_H

#include "batch/tree_lanes.h"
#include "goal/sum_kernel.h"

#define LANE_REALS(array) ((real *)t->array)
#define LANE_MASKS(array) ((real_mask *)t->array)
#define LANE_R            ((real33 *)t->R)
#define LANE_P            ((real3 *)t->p)
#define LANE_S            ((real_spatial *)t->S)
#define LANE_SUMS         ((real_sum *)t->sums)
#define LANE_BLOCKS       ((real_block *)t->blocks)

// Goals are large, and most come from far: kernels fetch those of the problems next in the queue, one for each lane, a few
// lines with every joint, since a processor waits for few lines at once.
REAL_FN void lane_fetch(pz_tree_lanes *t)
{
    enum { LINE = 64, LINES = 12, MOST = 512 * LINE }; // of one problem: more would not stay in the cache
    if (t->fetch >= t->fetch_end) {
        t->fetching = t->fetching < t->next ? t->next : t->fetching;
        if (t->fetching >= t->queue_count || t->fetching >= t->next + REAL_WIDTH) {
            return;
        }
        const poise_problem *problem = t->queue[t->fetching++];
        size_t size = (size_t)problem->goal_count * sizeof *problem->goals;
        t->fetch = (const char *)problem->goals;
        t->fetch_end = t->fetch + (size < MOST ? size : MOST);
    }
    REAL_UNROLL
    for (int i = 0; i < LINES; ++i) {
        PZ_FETCH(t->fetch + i * LINE);
    }
    t->fetch += LINES * LINE;
}

// ---- Forward sweep -------------------------------------------------------------------------------------------------------

REAL_KERNEL void lane_sweep(pz_tree_lanes *t)
{
    real_kinematics kin = {.model = t->model,
                           .q = LANE_REALS(q_try),
                           .R = LANE_R,
                           .p = LANE_P,
                           .S = LANE_S,
                           .blocks = LANE_BLOCKS,
                           .value = LANE_REALS(value),
                           .sine = LANE_REALS(sine),
                           .cosine = LANE_REALS(cosine)};
    sweep_forward(&kin);
    *(real3 *)t->origin = kin.origin;
}

// ---- Goals ---------------------------------------------------------------------------------------------------------------

// x - t of a goal, and x, relative to the reference point.
REAL_FN real3 lane_goal_residual(const pz_tree_lanes *t, int goal, const real33 *R, real3 p, real3 *x)
{
    real3 l = ((const real3 *)t->goal_l)[goal], target = ((const real3 *)t->goal_t)[goal];
    *x = v3_add(p, m3_apply(R, l));
    return v3_sub(*x, v3_sub(target, *(const real3 *)t->origin));
}

// A marker's share of the cost is kept until all are there, and added in the order of the goals.
REAL_FN void lane_add_marker(pz_tree_lanes *t, int goal, const real33 *R, real3 p, real_sum *sum)
{
    real3 x, r = lane_goal_residual(t, goal, R, p, &x);
    real w = LANE_REALS(goal_w)[goal];
    LANE_REALS(goal_cost)[goal] = 0.5 * w * v3_dot(r, r);
    real3 f = v3_scale(r, w);
    sum_add_force(sum, x, f);
    sum_add_stiffness(sum, w, x, f);
}

// body_cost of goal/position.c: four sums, added at the end.
REAL_FN real lane_condensed_cost(const pz_tree_lanes *t, const pz_lane_joint *joint, const real33 *R, real3 shift)
{
    real sum[PZ_MARKER_LANES] = {real_of(0.0), real_of(0.0), real_of(0.0), real_of(0.0)};
    for (int i = joint->place_begin; i < joint->place_end; i += PZ_MARKER_LANES) {
        for (int j = 0; j < PZ_MARKER_LANES; ++j) {
            real3 l = ((const real3 *)t->place_l)[i + j], target = ((const real3 *)t->place_t)[i + j];
            real3 r = v3_sub(v3_add(m3_apply(R, l), shift), target);
            sum[j] += LANE_REALS(place_w)[i + j] * v3_dot(r, r);
        }
    }
    return 0.5 * ((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

// What the goals of one body add up to.
REAL_FN real_sum lane_goals_of(pz_tree_lanes *t, int k)
{
    const pz_lane_joint *joint = &t->joints[k];
    real_sum sum = {wrench_zero(), real_of(0.0), v3_zero(), sym3_zero(), sym3_zero()};
    real33 R = LANE_R[k];
    real3 p = LANE_P[k];
    for (int i = joint->goal_begin; i < joint->goal_end; ++i) {
        if (t->goals[t->by_body[i]].single) {
            lane_add_marker(t, t->by_body[i], &R, p, &sum);
        }
    }
    if (joint->condensed) {
        const real_moments *m = (const real_moments *)t->moment + k;
        real3 tau = v3_sub(m->tau, *(const real3 *)t->origin);
        LANE_REALS(body_cost)[k] = lane_condensed_cost(t, joint, &R, v3_sub(p, tau));
        sum_add_condensed(&sum, m, &R, p, tau, true);
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

REAL_FN real_sum lane_sum_add(real_sum a, real_sum b)
{
    return (real_sum){wrench_add(a.g, b.g), a.n + b.n, v3_add(a.c, b.c), sym3_add(a.ww, b.ww), sym3_add(a.K, b.K)};
}

// Sums from the leaves, each joint's own goals before those of the joints below it, the last of these first; and the
// gradient.
REAL_KERNEL void lane_sum_up(pz_tree_lanes *t)
{
    const poise_model *model = t->model;
    real_sum *sums = LANE_SUMS;
    for (int k = model->joint_count - 1; k >= 0; --k) {
        lane_fetch(t);
        if (t->joints[k].is_leaf) {
            sums[k] = lane_goals_of(t, k);
        }
        const pz_joint *joint = &model->joints[k];
        for (int i = joint->axis_begin; i < joint->axis_end; ++i) {
            LANE_REALS(gradient)[i] = 0.0 + spatial_dot(LANE_S[i], sums[k].g);
        }
        int parent = joint->parent;
        if (parent != POISE_WORLD) {
            real_sum above = t->joints[k].is_last_child ? lane_goals_of(t, parent) : sums[parent];
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
