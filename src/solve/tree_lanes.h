// POSITION goals on a tree, one problem to a lane: what the engine of a batch (batch/tree_lanes.c) and its kernels share,
// and the kernels, for sources that define REAL_WIDTH (lanes_2.c and so on).
//
// Every number of poise_objective and pz_tree_step that differs between problems becomes a register with one lane for each.
// The engine holds what is decided problem by problem; kernels do the sweeps for all lanes at once. There is one point for
// each lane, not two: a trial overwrites it, and after a rejection the lane evaluates its old coordinates again, which gives
// the old bits.
//
// **Layout.** Lanes share the list of the goals' bodies. Weights and points are their own: a goal that does not take part
// somewhere has the weight 0 there, and what it adds changes no bit, since sums begin at +0 and never become -0.
#ifndef PZ_SOLVE_TREE_LANES_H
#define PZ_SOLVE_TREE_LANES_H

#include <poise/batch.h>

#include "goal/sum_kernel.h"
#include "solve/step_kernel.h"

#define PZ_NEAR_EDGE   (1.0 - 1e-9) // of a swing's ellipse: what rounding may put at the edge is beyond
#define PZ_LONG_SQUARE 1e100        // a swing this far off would be brought back, ellipse or not

// What the sweeps need of a group of axes (pz_group of solve/solver.h).
typedef struct pz_lane_group {
    int axis, count, parent;
    int joint;
    int slides;         // axes that slide, which come first
    int block;          // rotation block at its head, or -1
    int block_count;    // axes of that
    bool is_leaf;       // no group hangs on it
    bool is_last_child; // of its parent: the first that the sweep from the leaves hands up
} pz_lane_group;

typedef struct pz_lane_joint {
    bool is_leaf, is_last_child; // the same among joints
    int goal_begin, goal_end;    // its goals in by_body
    int place_begin, place_end;  // places for condensed markers (goal/position.c); none: it never has enough
    unsigned condensed;          // lanes where it is condensed, by bit
} pz_lane_joint;

typedef struct pz_lane_goal {
    int body;
    unsigned single; // lanes where it is evaluated on its own, by bit
} pz_lane_goal;

// Registers are kept as doubles, `lanes` in a row; kernels read them as theirs.
typedef struct pz_tree_lanes {
    const poise_model *model;
    poise_solver *solver; // the worker's: boxes, options, and problems that leave their lane
    const struct pz_tree_kernels *kernels;
    int lanes, max_goals;
    int group_count;
    pz_lane_group *groups;
    bool *is_unlimited; // by step: a rotation vector without limits
    // layout
    int goal_count;
    pz_lane_joint *joints;
    pz_lane_goal *goals;
    int *by_body; // goals sorted by body, in order within each
    // goals: by goal, by place, by joint
    double *goal_l, *goal_t, *goal_w, *goal_cost; // 3, 3, 1, 1
    int64_t *goal_is_off;                         // counts as met
    double *place_l, *place_t, *place_w;          // 3, 3, 1
    double *moment;                               // 22: those of pz_moments
    double *body_cost;
    // the point
    double *q_at, *q_try; // nq
    double *origin;       // 3
    double *R, *p, *S;    // by joint 9, 3; by axis 6
    double *value, *sine, *cosine;
    double *blocks; // 17: those of pz_block
    double *sums;   // 22: of pz_sum
    double *gradient, *diagonal, *D;
    double *cost;
    // the step
    int64_t *hold;
    double *hold_value, *x;
    double *Pi, *pi, *B, *L, *gamma, *V;          // by group 21, 6, 18, 6, 3, 6
    double *product, *axis_V, *axis_U;            // nv; by axis 6, 6
    double *lambda, *largest, *worst, *predicted; // 1
    // problem by problem
    struct pz_tree_lane *lane; // by lane (tree_lanes.c)
    poise_problem *const *queue;
    int queue_count, next;
    uint64_t *is_taken;            // by problem of the queue, one bit each
    int fetching;                  // problem of the queue whose goals are being fetched
    const char *fetch, *fetch_end; // what is left of them
    int begun, left;               // problems of the queue that began in a lane, and those that had to leave it
} pz_tree_lanes;

// Sets of lanes are bits.
typedef struct pz_tree_kernels {
    // Evaluate at q_try: frames, sums, gradient, cost.
    void (*evaluate)(pz_tree_lanes *t);
    // Lanes whose cost or gradient is not finite.
    unsigned (*overflowed)(const pz_tree_lanes *t);
    // Stop tests at the point, where lanes of `fresh` begin and those of `moved` have come: `largest` is the projected
    // gradient's, *met has the lanes whose goals are all met. Returns the lanes that are stationary. Lanes of `fresh` get a
    // new diagonal before, those of `metric` after, and both a new D.
    unsigned (*inspect)(pz_tree_lanes *t, unsigned fresh, unsigned moved, unsigned metric, unsigned *met);
    // One pass of the active set: x of (H + lambda D) x = -g, H exact for the lanes of `exact`. Lanes of `begin` begin their
    // step. Returns the lanes where the matrix is positive definite; *leaving has those of them that now hold more dofs.
    unsigned (*solve)(pz_tree_lanes *t, unsigned begin, unsigned exact, unsigned *leaving);
    // q_try = q_at + x within the limits for the lanes of `ready`, q_at for the others; `predicted` for lanes of `newton` by
    // their equation, for others of `ready` by the product with H. Returns the lanes where a swing comes near the edge of
    // its ellipse, which no kernel knows of.
    unsigned (*propose)(pz_tree_lanes *t, unsigned ready, unsigned newton, unsigned exact);
    // q_at = q_try for the lanes of `accepted`.
    void (*accept)(pz_tree_lanes *t, unsigned accepted);
    // `worst`: the largest error of a goal.
    void (*measure)(pz_tree_lanes *t);
} pz_tree_kernels;

extern const pz_tree_kernels pz_tree_kernels_2, pz_tree_kernels_4, pz_tree_kernels_8; // lanes_2.c and so on

#if REAL_WIDTH > 1

// ---- Kernels -------------------------------------------------------------------------------------------------------------
//
// A point and its derivatives by the forward sweep (kin/forward_kernel.h) and the sums of the goals (goal/sum_kernel.h), and
// the damped Newton step by the text that the step for one problem is made of (solve/step_kernel.h). What is here for lanes
// alone: where numbers are kept, and forces made as the sweep goes, since an array of them would not fit into the cache of
// eight problems.

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

// ---- Forces --------------------------------------------------------------------------------------------------------------

// c of the axes of a group.
REAL_FN void lane_forces(const pz_tree_lanes *t, const pz_lane_group *at, int count, real_mask exact, bool any_exact,
                         real_wrench *c)
{
    const real_sum *sum = LANE_SUMS + at->joint;
    const real_spatial *S = LANE_S + at->axis;
    real3 lever = sum_lever(sum, exact, any_exact);
    if (at->slides == count) {
        REAL_UNROLL
        for (int j = 0; j < count; ++j) {
            c[j] = slide_force(lever, sum->n, S[j].v);
        }
        return;
    }
    turning_view view = view_of(sum, &LANE_P[at->joint], exact, any_exact);
    REAL_UNROLL
    for (int j = 0; j < count; ++j) {
        if (j < at->slides) {
            c[j] = slide_force(lever, sum->n, S[j].v);
        } else {
            turn_force(&view, &S[j].w, &c[j]);
        }
    }
}

// The same for a group of any count: the loops above vanish for a constant one alone.
REAL_FN void lane_forces_of(const pz_tree_lanes *t, const pz_lane_group *at, real_mask exact, bool any_exact, real_wrench *c)
{
    if (at->count == 1) {
        lane_forces(t, at, 1, exact, any_exact, c);
    } else if (at->count == 2) {
        lane_forces(t, at, 2, exact, any_exact, c);
    } else {
        lane_forces(t, at, 3, exact, any_exact, c);
    }
}

// The correction of a group's rotation block, 0 but for exact lanes.
REAL_FN real_sym lane_correction(const pz_tree_lanes *t, const pz_lane_group *at, real_mask exact)
{
    real_sym E = block_correction(LANE_BLOCKS + at->block, LANE_S + at->axis, at->block_count, LANE_P[at->joint],
                                  LANE_SUMS[at->joint].g);
    return sym3_where(exact, sym3_add(sym3_zero(), E));
}

REAL_FN real lane_entry(const real_sym *block, int i, int j)
{
    static const int place[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    return ((const real *)block)[place[i][j]];
}

// ---- Sweep up ------------------------------------------------------------------------------------------------------------

REAL_FN real_mask lane_group_up(pz_tree_lanes *t, int g, int count, real lambda, real_mask exact, bool any_exact)
{
    const pz_lane_group *at = &t->groups[g];
    six_by_six *Pi = (six_by_six *)t->Pi;
    six pi = at->is_leaf ? six_zero() : ((const six *)t->pi)[g], B[GROUP];
    real L[GROUP_LOWER], gamma[GROUP], shift[GROUP];
    group_work w = {at->is_leaf ? NULL : &Pi[g], &pi, B, L, gamma};
    real_wrench c[GROUP];
    lane_forces(t, at, count, exact, any_exact, c);
    REAL_UNROLL
    for (int j = 0; j < count; ++j) {
        shift[j] = lambda * LANE_REALS(D)[at->axis + j];
    }
    group_assemble(&w, count, (const real *)(LANE_S + at->axis), (const real *)c, LANE_REALS(gradient) + at->axis, shift);
    if (at->block >= 0 && count > 1) {
        real_sym E = any_exact ? lane_correction(t, at, exact) : sym3_zero();
        group_add_block(&w, count, &E, at->block_count);
    }
    const real_mask *hold = LANE_MASKS(hold) + at->axis;
    if (mask_any(group_holds(count, hold))) {
        group_drop_held(&w, count, hold, LANE_REALS(hold_value) + at->axis);
    }
    real_mask is_positive = group_eliminate(&w, count);
    if (at->parent >= 0) {
        group_hand_on(&w, count, at->is_last_child, &Pi[at->parent], (six *)t->pi + at->parent);
    }
    REAL_UNROLL
    for (int j = 0; j < count; ++j) {
        ((six *)t->B)[g * GROUP + j] = B[j];
        LANE_REALS(gamma)[g * GROUP + j] = gamma[j];
        REAL_UNROLL
        for (int h = 0; h <= j; ++h) {
            LANE_REALS(L)[g * GROUP_LOWER + LOWER(j, h)] = L[LOWER(j, h)];
        }
    }
    return is_positive;
}

REAL_FN real_mask lane_sweep_up(pz_tree_lanes *t, real lambda, real_mask exact, bool any_exact)
{
    real_mask is_positive = mask_all();
    for (int g = t->group_count - 1; g >= 0; --g) {
        int count = t->groups[g].count;
        lane_fetch(t);
        is_positive &= count == 1   ? lane_group_up(t, g, 1, lambda, exact, any_exact)
                       : count == 2 ? lane_group_up(t, g, 2, lambda, exact, any_exact)
                                    : lane_group_up(t, g, 3, lambda, exact, any_exact);
    }
    return is_positive;
}

// With the exact Hessian in some lanes, and in none.
REAL_KERNEL unsigned lane_sweep_up_exact(pz_tree_lanes *t, unsigned exact)
{
    return mask_bits(lane_sweep_up(t, *(const real *)t->lambda, mask_of_bits(exact), true));
}

REAL_KERNEL unsigned lane_sweep_up_gauss_newton(pz_tree_lanes *t)
{
    return mask_bits(lane_sweep_up(t, *(const real *)t->lambda, mask_none(), false));
}

// ---- Sweep down ----------------------------------------------------------------------------------------------------------

REAL_FN void lane_group_down(pz_tree_lanes *t, int g, int count)
{
    const pz_lane_group *at = &t->groups[g];
    int i = at->axis;
    six *V = (six *)t->V, above = at->parent < 0 ? six_zero() : V[at->parent];
    V[g] =
        group_down(count, (const six *)t->B + g * GROUP, LANE_REALS(L) + g * GROUP_LOWER, LANE_REALS(gamma) + g * GROUP,
                   (const real *)(LANE_S + i), above, LANE_MASKS(hold) + i, LANE_REALS(hold_value) + i, LANE_REALS(x) + i);
}

REAL_KERNEL void lane_sweep_down(pz_tree_lanes *t)
{
    for (int g = 0; g < t->group_count; ++g) {
        int count = t->groups[g].count;
        if (count == 1) {
            lane_group_down(t, g, 1);
        } else if (count == 2) {
            lane_group_down(t, g, 2);
        } else {
            lane_group_down(t, g, 3);
        }
    }
}

// ---- Limits --------------------------------------------------------------------------------------------------------------

REAL_FN real_mask lane_is_held(const pz_tree_lanes *t, int dof)
{
    const pz_box *box = &t->solver->box[dof];
    return box->locked        ? mask_all()
           : box_is_open(box) ? mask_none()
                              : box_holds(box, LANE_REALS(q_at)[box->q], LANE_REALS(gradient)[dof]);
}

REAL_FN void lane_begin_step(pz_tree_lanes *t, real_mask begin)
{
    for (int i = 0; i < t->model->nv; ++i) {
        LANE_MASKS(hold)[i] = (begin & lane_is_held(t, i)) | (mask_not(begin) & LANE_MASKS(hold)[i]);
        LANE_REALS(hold_value)[i] = real_where(mask_not(begin), LANE_REALS(hold_value)[i]);
    }
}

REAL_KERNEL unsigned lane_solve(pz_tree_lanes *t, unsigned begin, unsigned exact, unsigned *leaving)
{
    lane_begin_step(t, mask_of_bits(begin));
    unsigned is_positive = exact ? lane_sweep_up_exact(t, exact) : lane_sweep_up_gauss_newton(t);
    lane_sweep_down(t);
    real_mask leaves = hold_leavers(t->model, t->solver->box, LANE_REALS(q_at), LANE_REALS(x), mask_of_bits(is_positive),
                                    LANE_MASKS(hold), LANE_REALS(hold_value));
    *leaving = mask_bits(leaves);
    return is_positive;
}

// ---- Trial ---------------------------------------------------------------------------------------------------------------

// poise_objective_multiply: `product` = H x.
REAL_KERNEL void lane_multiply(pz_tree_lanes *t, unsigned exact_lanes)
{
    const poise_model *model = t->model;
    real_mask exact = mask_of_bits(exact_lanes);
    real *y = LANE_REALS(product);
    const real *x = LANE_REALS(x);
    real_spatial *V = (real_spatial *)t->axis_V;
    real_wrench *U = (real_wrench *)t->axis_U;
    for (int i = 0; i < model->axis_count; ++i) {
        int parent = model->axes[i].parent;
        y[i] = 0.0 * x[i];
        V[i] = spatial_mad(parent < 0 ? spatial_zero() : V[parent], x[i], LANE_S[i]);
        U[i] = wrench_zero();
    }
    for (int g = t->group_count - 1; g >= 0; --g) {
        const pz_lane_group *at = &t->groups[g];
        real_wrench c[GROUP];
        lane_forces_of(t, at, exact, true, c);
        for (int j = at->count - 1; j >= 0; --j) {
            int i = at->axis + j, parent = model->axes[i].parent;
            y[i] = y[i] + (spatial_dot(V[i], c[j]) + spatial_dot(LANE_S[i], U[i]));
            if (parent >= 0) {
                U[parent] = wrench_add(U[parent], wrench_mad(U[i], x[i], c[j]));
            }
        }
    }
    for (int g = 0; g < t->group_count; ++g) {
        const pz_lane_group *at = &t->groups[g];
        real_sym E = at->block >= 0 ? lane_correction(t, at, exact) : sym3_zero();
        for (int i = 0; at->block >= 0 && i < at->block_count; ++i) {
            for (int j = 0; j < at->block_count; ++j) {
                y[at->axis + i] = y[at->axis + i] + lane_entry(&E, i, j) * x[at->axis + j];
            }
        }
    }
}

// The predicted decrease: for lanes of `newton` by their equation.
REAL_FN void lane_predict(pz_tree_lanes *t, unsigned ready, unsigned newton, unsigned exact)
{
    int nv = t->model->nv;
    const real *x = LANE_REALS(x), *g = LANE_REALS(gradient);
    real by_equation = decrease_by_equation(nv, x, g, *LANE_REALS(lambda), LANE_REALS(D), LANE_MASKS(hold));
    real by_product = real_of(0.0);
    if (ready & ~newton) {
        lane_multiply(t, exact);
        by_product = decrease_by_product(nv, x, g, LANE_REALS(product));
    }
    *LANE_REALS(predicted) = real_select(mask_of_bits(newton), by_equation, by_product);
}

// Lanes whose rotation vector may be longer than half a turn, one by one.
REAL_KERNEL void lane_shorten(real *q, int count, unsigned lanes)
{
    for (int i = 0; i < REAL_WIDTH; ++i) {
        vec3 v = {q[0][i], q[1][i], count == 3 ? q[2][i] : 0.0};
        if ((lanes >> i & 1u) && so3_reparameterise(&v)) {
            q[0][i] = v.x;
            q[1][i] = v.y;
            if (count == 3) {
                q[2][i] = v.z;
            }
        }
    }
}

// Lanes that do not turn keep the bits of a unit quaternion.
REAL_KERNEL void lane_keep_quaternion(const real *from, unsigned lanes, real *to)
{
    for (int i = 0; i < REAL_WIDTH; ++i) {
        if (lanes >> i & 1u) {
            quat unit = pz_unit_quat((quat){from[0][i], from[1][i], from[2][i], from[3][i]});
            to[0][i] = unit.x;
            to[1][i] = unit.y;
            to[2][i] = unit.z;
            to[3][i] = unit.w;
        }
    }
}

REAL_KERNEL void lane_retract_quaternion(const real *from, const real *dv, unsigned ready_lanes, real *to)
{
    real_mask ready = mask_of_bits(ready_lanes);
    real3 v = {real_where(ready, dv[0]), real_where(ready, dv[1]), real_where(ready, dv[2])};
    real_quat a = quat_normalize((real_quat){from[0], from[1], from[2], from[3]});
    real_quat r = quat_normalize(quat_mul(a, real_exp_quat(v)));
    to[0] = r.x;
    to[1] = r.y;
    to[2] = r.z;
    to[3] = r.w;
    real zero = real_of(0.0);
    real_mask rests = ready & (real_mask)(v.x == zero) & (real_mask)(v.y == zero) & (real_mask)(v.z == zero);
    if (mask_any(rests)) {
        lane_keep_quaternion(from, mask_bits(rests), to);
    }
}

// Lanes where a swing comes near the edge of its ellipse.
REAL_FN real_mask lane_near_edge(const pz_tree_lanes *t, const pz_step *step, const real *swing)
{
    const poise_joint *given = &t->model->given[t->model->axes[step->axis].joint];
    real a = swing[0] / given->swing[0], b = swing[1] / given->swing[1];
    real excess = a * a + b * b, square = swing[0] * swing[0] + swing[1] * swing[1];
    return mask_not((real_mask)(excess < real_of(PZ_NEAR_EDGE)) & (real_mask)(square < real_of(PZ_LONG_SQUARE)));
}

// pz_step_within: q_try = q_at + x within the boxes. Returns the lanes where a swing comes near the edge of its ellipse.
REAL_FN real_mask lane_step_within(pz_tree_lanes *t, real_mask ready)
{
    const poise_model *model = t->model;
    real_mask near_edge = mask_none();
    for (int s = 0; s < model->step_count; ++s) {
        const pz_step *step = &model->steps[s];
        const real *q = LANE_REALS(q_at) + step->q, *dv = LANE_REALS(x) + step->axis;
        real *to = LANE_REALS(q_try) + step->q;
        if (step->kind == PZ_QUATERNION) {
            lane_retract_quaternion(q, dv, mask_bits(ready), to);
            continue;
        }
        int count = pz_step_nv(step->kind);
        real square = real_of(0.0);
        for (int i = 0; i < count; ++i) {
            to[i] = q[i] + dv[i];
            square += to[i] * to[i];
        }
        if (t->solver->has_swings && step->kind == PZ_SWING) {
            near_edge |= lane_near_edge(t, step, to);
        }
        // half a turn is 9.87; rounding does not reach that far
        real_mask is_long = ready & (real_mask)(square > real_of(9.8));
        if (t->is_unlimited[s] && mask_any(is_long)) {
            lane_shorten(to, count, mask_bits(is_long));
        }
    }
    keep_in_boxes(model, t->solver->box, LANE_REALS(q_at), LANE_REALS(x), LANE_REALS(q_try));
    return near_edge & ready;
}

REAL_KERNEL unsigned lane_propose(pz_tree_lanes *t, unsigned ready, unsigned newton, unsigned exact)
{
    real_mask m = mask_of_bits(ready), near_edge = mask_none();
    if (ready) {
        lane_predict(t, ready, newton, exact);
        near_edge = lane_step_within(t, m);
    }
    for (int i = 0; i < t->model->nq; ++i) {
        LANE_REALS(q_try)[i] = real_select(m, LANE_REALS(q_try)[i], LANE_REALS(q_at)[i]);
    }
    return mask_bits(near_edge);
}

REAL_KERNEL void lane_accept(pz_tree_lanes *t, unsigned accepted)
{
    real_mask m = mask_of_bits(accepted);
    for (int i = 0; i < t->model->nq; ++i) {
        LANE_REALS(q_at)[i] = real_select(m, LANE_REALS(q_try)[i], LANE_REALS(q_at)[i]);
    }
}

// ---- Stop tests ----------------------------------------------------------------------------------------------------------

// The diagonal of the Gauss-Newton Hessian into `product`.
REAL_KERNEL void lane_diagonal(pz_tree_lanes *t)
{
    for (int g = 0; g < t->group_count; ++g) {
        const pz_lane_group *at = &t->groups[g];
        real_wrench c[GROUP];
        lane_forces_of(t, at, mask_none(), false, c);
        for (int j = 0; j < at->count; ++j) {
            LANE_REALS(product)[at->axis + j] = spatial_dot(LANE_S[at->axis + j], c[j]) + 0.0;
        }
    }
}

REAL_FN void lane_use_diagonal(pz_tree_lanes *t, real_mask m)
{
    for (int i = 0; i < t->model->nv; ++i) {
        LANE_REALS(diagonal)[i] = real_select(m, LANE_REALS(product)[i], LANE_REALS(diagonal)[i]);
    }
}

// Lanes whose goals are all met.
REAL_FN real_mask lane_goals_are_met(const pz_tree_lanes *t)
{
    real_mask met = mask_all();
    real tolerance = real_of(t->solver->options.position_tolerance);
    for (int i = 0; i < t->goal_count && mask_any(met); ++i) {
        int body = t->goals[i].body;
        real3 x, r = lane_goal_residual(t, i, LANE_R + body, LANE_P[body], &x);
        met &= (real_mask)(real_sqrt(v3_dot(r, r)) <= tolerance) | LANE_MASKS(goal_is_off)[i];
    }
    return met;
}

// Lanes where no dof can do anything about the residuals; `largest` on the way.
REAL_FN real_mask lane_is_stationary(pz_tree_lanes *t)
{
    real inverse = 1.0 / (t->solver->options.gradient_tolerance * real_sqrt(2.0 * *LANE_REALS(cost)));
    real largest = real_of(0.0);
    real_mask moves = mask_none();
    for (int i = 0; i < t->model->nv; ++i) {
        real g = real_where(mask_not(lane_is_held(t, i)), LANE_REALS(gradient)[i]);
        largest = real_max2(largest, real_fabs(g));
        real ratio = g * inverse;
        moves |= (real_mask)(ratio * ratio > LANE_REALS(diagonal)[i]);
    }
    *LANE_REALS(largest) = largest;
    return mask_not(moves);
}

// The diagonal of a point before is good enough to continue, but not to stop.
REAL_KERNEL unsigned lane_inspect(pz_tree_lanes *t, unsigned fresh, unsigned moved, unsigned metric, unsigned *met)
{
    if (fresh | metric) {
        lane_diagonal(t);
        lane_use_diagonal(t, mask_of_bits(fresh));
    }
    unsigned stationary = mask_bits(lane_is_stationary(t)), doubtful = stationary & moved;
    if (doubtful) {
        if (!(fresh | metric)) {
            lane_diagonal(t);
        }
        lane_use_diagonal(t, mask_of_bits(doubtful));
        stationary = mask_bits(lane_is_stationary(t));
    }
    *met = mask_bits(lane_goals_are_met(t));
    if (fresh | metric) {
        lane_use_diagonal(t, mask_of_bits(metric));
        make_metric(t->model, LANE_REALS(diagonal), mask_of_bits(fresh | metric), LANE_REALS(D));
    }
    return stationary;
}

REAL_KERNEL void lane_measure(pz_tree_lanes *t)
{
    real worst = real_of(0.0);
    for (int i = 0; i < t->goal_count; ++i) {
        int body = t->goals[i].body;
        real3 x, r = lane_goal_residual(t, i, LANE_R + body, LANE_P[body], &x);
        worst = real_max2(worst, real_where(mask_not(LANE_MASKS(goal_is_off)[i]), real_sqrt(v3_dot(r, r))));
    }
    *LANE_REALS(worst) = worst;
}

// The kernels of this width.
#define TREE_KERNELS                                                                                                        \
    {                                                                                                                       \
        .evaluate = lane_evaluate, .overflowed = lane_overflowed, .inspect = lane_inspect, .solve = lane_solve,             \
        .propose = lane_propose, .accept = lane_accept, .measure = lane_measure                                             \
    }

#else

#define TREE_KERNELS                                                                                                        \
    {                                                                                                                       \
        0                                                                                                                   \
    } // never used: pz_cpu_lanes

#endif

#endif
