// Kernels of tree_lanes.h: the damped Newton step. See solve/tree/, solve/stepping.c, goal/hessian.c and
// kin/retract.c, which say what is done and why; here it is done in lanes.
#ifndef PZ_BATCH_TREE_NEWTON_H
#define PZ_BATCH_TREE_NEWTON_H

#include "batch/tree_evaluate.h"

#define GROUP 3

#define LOWER(j, h) ((j) * ((j) + 1) / 2 + (h)) // place in a packed lower triangle

// ---- Forces --------------------------------------------------------------------------------------------------------------

LANE_FN lane6 lane_slide_force(lane3 lever, lane n, lane3 v)
{
    return (lane6){lane3_cross(lever, v), lane3_scale(v, n)};
}

// c of the axes of a group. What only the exact Hessian has is 0 in the other lanes, which leaves them with Gauss-Newton.
LANE_FN void lane_forces(const pz_tree_lanes *t, const pz_lane_group *at, int count, lane_mask exact, bool any_exact,
                         lane6 *c)
{
    const lane_sum *sum = LANE_SUMS + at->joint;
    const lane6 *S = LANE_S + at->axis;
    lane3 lever = sum->c;
    lane_sym T = sum->ww;
    lane3 n = lane3_zero();
    if (any_exact) {
        lever = lane3_sub(lever, lane3_where(exact, sum->g.b));
        T = lane_sym_add(T, lane_sym_where(exact, sum->K));
        n = lane3_where(exact, lane3_scale(sum->g.a, lane_of(0.5)));
    }
    if (at->slides == count) {
        LANE_UNROLL
        for (int j = 0; j < count; ++j) {
            c[j] = lane_slide_force(lever, sum->n, S[j].b);
        }
        return;
    }
    lane3 p = LANE_P[at->joint], e = lane3_mad(sum->c, -sum->n, p);
    lane d = -lane3_dot(lever, p);
    lane33 turn = lane_sym_matrix(&T);
    if (any_exact) {
        turn.x.y -= n.z, turn.x.z += n.y, turn.y.x += n.z, turn.y.z -= n.x, turn.z.x -= n.y, turn.z.y += n.x;
    }
    lane33 M = {lane3_mad(turn.x, lever.x, p), lane3_mad(turn.y, lever.y, p), lane3_mad(turn.z, lever.z, p)};
    M.x.x += d, M.y.y += d, M.z.z += d;
    LANE_UNROLL
    for (int j = 0; j < count; ++j) {
        if (j < at->slides) {
            c[j] = lane_slide_force(lever, sum->n, S[j].b);
        } else {
            c[j] = (lane6){lane33_apply(&M, S[j].a), lane3_cross(S[j].a, e)};
        }
    }
}

// The correction of a group's rotation block, 0 but for exact lanes.
LANE_FN lane_sym lane_correction(const pz_tree_lanes *t, const pz_lane_group *at, lane_mask exact)
{
    const lane_block *block = (const lane_block *)t->blocks + at->block;
    const lane6 *S = LANE_S + at->axis;
    lane6 g = LANE_SUMS[at->joint].g;
    lane3 v = block->v;
    lane3 tau = lane33_apply_transposed(&block->before, lane3_sub(g.a, lane3_cross(LANE_P[at->joint], g.b)));
    lane3 u = lane3_combine(block->db, lane3_cross(tau, v), block->dc, lane3_cross(v, lane3_cross(v, tau)));
    u = lane3_mad(u, -block->c, tau);
    lane_sym E = lane_sym_add(lane_sym_pair(v, u), lane_sym_identity(block->c * lane3_dot(tau, v)));
    E.xy -= 0.5 * lane6_power(lane6_cross(S[0], S[1]), g);
    if (at->block_count == 3) {
        E.xz -= 0.5 * lane6_power(lane6_cross(S[0], S[2]), g);
        E.yz -= 0.5 * lane6_power(lane6_cross(S[1], S[2]), g);
    }
    return lane_sym_where(exact, lane_sym_add(lane_sym_zero(), E));
}

LANE_FN lane lane_entry(const lane_sym *block, int i, int j)
{
    static const int place[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    return ((const lane *)block)[place[i][j]];
}

// ---- Sweep up ------------------------------------------------------------------------------------------------------------

typedef struct lane_group {
    lane66 Pi;
    lane6 pi, B[GROUP];
    lane L[6], gamma[GROUP];
} lane_group;

// A block is at the head of its group: the slides before it fill one of their own.
LANE_FN void lane_add_block(const pz_lane_group *at, int count, const lane_sym *E, lane *L)
{
    L[LOWER(0, 0)] += E->xx;
    L[LOWER(1, 0)] += E->xy;
    L[LOWER(1, 1)] += E->yy;
    if (count == 3 && at->block_count == 3) {
        L[LOWER(2, 0)] += E->xz;
        L[LOWER(2, 1)] += E->yz;
        L[LOWER(2, 2)] += E->zz;
    }
}

LANE_FN void lane_assemble(const pz_tree_lanes *t, const pz_lane_group *at, int count, lane lambda, lane_mask exact,
                           bool any_exact, lane_group *w)
{
    const lane6 *S = LANE_S + at->axis;
    lane6 c[GROUP];
    lane_forces(t, at, count, exact, any_exact, c);
    LANE_UNROLL
    for (int j = 0; j < count; ++j) {
        int i = at->axis + j;
        w->B[j] = lane66_apply(c[j], &w->Pi, S[j]);
        w->gamma[j] = LANE_NUMBER(gradient)[i] + lane6_dot(S[j], w->pi);
        LANE_UNROLL
        for (int h = 0; h <= j; ++h) {
            w->L[LOWER(j, h)] = lane6_dot(S[h], w->B[j]);
        }
        w->L[LOWER(j, j)] += lambda * LANE_NUMBER(D)[i];
    }
    if (at->block >= 0 && count > 1) {
        lane_sym E = any_exact ? lane_correction(t, at, exact) : lane_sym_zero();
        lane_add_block(at, count, &E, w->L);
    }
}

LANE_FN void lane_drop_held(const pz_tree_lanes *t, const pz_lane_group *at, int count, lane_group *w)
{
    lane zero = lane_of(0.0);
    LANE_UNROLL
    for (int j = 0; j < count; ++j) {
        lane_mask held = LANE_MASKS(hold)[at->axis + j];
        lane value = LANE_NUMBER(hold_value)[at->axis + j];
        LANE_UNROLL
        for (int h = 0; h < count; ++h) {
            lane *entry = h <= j ? &w->L[LOWER(j, h)] : &w->L[LOWER(h, j)];
            w->gamma[h] = lane_select(held, w->gamma[h] + *entry * value, w->gamma[h]);
            *entry = lane_select(held, zero, *entry);
        }
        w->pi = lane6_select(held, lane6_mad(w->pi, value, w->B[j]), w->pi);
        w->B[j] = lane6_select(held, lane6_zero(), w->B[j]);
        w->L[LOWER(j, j)] = lane_select(held, lane_of(1.0), w->L[LOWER(j, j)]);
        w->gamma[j] = lane_select(held, zero, w->gamma[j]);
    }
}

LANE_FN lane_mask lane_eliminate(int count, lane_group *w)
{
    lane *L = w->L, *gamma = w->gamma;
    lane_mask is_positive = ~lane_none();
    LANE_UNROLL
    for (int j = 0; j < count; ++j) {
        LANE_UNROLL
        for (int h = 0; h < j; ++h) {
            lane l = L[LOWER(j, h)];
            w->B[j] = lane6_mad(w->B[j], -l, w->B[h]);
            gamma[j] = gamma[j] - l * gamma[h];
            LANE_UNROLL
            for (int i = j; i < count; ++i) {
                L[LOWER(i, j)] = L[LOWER(i, j)] - L[LOWER(i, h)] * l;
            }
        }
        lane pivot = L[LOWER(j, j)];
        is_positive &= (lane_mask)(pivot > lane_of(0.0));
        lane inverse = 1.0 / lane_sqrt(pivot);
        L[LOWER(j, j)] = inverse;
        LANE_UNROLL
        for (int i = j + 1; i < count; ++i) {
            L[LOWER(i, j)] = L[LOWER(i, j)] * inverse;
        }
        w->B[j] = lane6_scale(w->B[j], inverse);
        gamma[j] = gamma[j] * inverse;
        lane66_subtract_square(&w->Pi, &w->B[j]);
        w->pi = lane6_mad(w->pi, -gamma[j], w->B[j]);
    }
    return is_positive;
}

// Sums of a group to its parent's, which begin at 0.
LANE_FN void lane_hand_up(pz_tree_lanes *t, const pz_lane_group *at, const lane_group *w)
{
    lane66 *Pi = (lane66 *)t->Pi + at->parent;
    lane6 *pi = (lane6 *)t->pi + at->parent;
    lane66 zero = lane66_zero();
    lane6 none = lane6_zero();
    const lane66 *to = at->is_last_child ? &zero : Pi;
    LANE_UNROLL
    for (int i = 0; i < 21; ++i) {
        Pi->m[i] = to->m[i] + w->Pi.m[i];
    }
    *pi = lane6_add(at->is_last_child ? none : *pi, w->pi);
}

LANE_FN lane_mask lane_group_up(pz_tree_lanes *t, int g, int count, lane lambda, lane_mask exact, bool any_exact)
{
    const pz_lane_group *at = &t->groups[g];
    lane_group w;
    if (at->is_leaf) {
        w.Pi = lane66_zero();
        w.pi = lane6_zero();
    } else {
        w.Pi = ((const lane66 *)t->Pi)[g];
        w.pi = ((const lane6 *)t->pi)[g];
    }
    lane_assemble(t, at, count, lambda, exact, any_exact, &w);
    lane_mask held = LANE_MASKS(hold)[at->axis];
    LANE_UNROLL
    for (int j = 1; j < count; ++j) {
        held |= LANE_MASKS(hold)[at->axis + j];
    }
    if (lane_any(held)) {
        lane_drop_held(t, at, count, &w);
    }
    lane_mask is_positive = lane_eliminate(count, &w);
    if (at->parent >= 0) {
        lane_hand_up(t, at, &w);
    }
    LANE_UNROLL
    for (int j = 0; j < count; ++j) {
        ((lane6 *)t->B)[g * GROUP + j] = w.B[j];
        LANE_NUMBER(gamma)[g * GROUP + j] = w.gamma[j];
        LANE_UNROLL
        for (int h = 0; h <= j; ++h) {
            LANE_NUMBER(L)[g * 6 + LOWER(j, h)] = w.L[LOWER(j, h)];
        }
    }
    return is_positive;
}

LANE_FN lane_mask lane_sweep_up(pz_tree_lanes *t, lane lambda, lane_mask exact, bool any_exact)
{
    lane_mask is_positive = ~lane_none();
    for (int g = t->group_count - 1; g >= 0; --g) {
        int count = t->groups[g].count;
        is_positive &= count == 1   ? lane_group_up(t, g, 1, lambda, exact, any_exact)
                       : count == 2 ? lane_group_up(t, g, 2, lambda, exact, any_exact)
                                    : lane_group_up(t, g, 3, lambda, exact, any_exact);
    }
    return is_positive;
}

// With the exact Hessian in some lanes, and in none.
LANE_KERNEL unsigned lane_sweep_up_exact(pz_tree_lanes *t, unsigned exact)
{
    return lane_bits(lane_sweep_up(t, *(const lane *)t->lambda, lane_mask_of(exact), true));
}

LANE_KERNEL unsigned lane_sweep_up_gauss_newton(pz_tree_lanes *t)
{
    return lane_bits(lane_sweep_up(t, *(const lane *)t->lambda, lane_none(), false));
}

// ---- Sweep down ----------------------------------------------------------------------------------------------------------

LANE_FN void lane_group_down(pz_tree_lanes *t, int g, int count)
{
    const pz_lane_group *at = &t->groups[g];
    const lane *L = LANE_NUMBER(L) + g * 6;
    lane6 V = at->parent < 0 ? lane6_zero() : ((const lane6 *)t->V)[at->parent];
    lane x[GROUP];
    LANE_UNROLL
    for (int j = count - 1; j >= 0; --j) {
        lane y = lane6_dot(((const lane6 *)t->B)[g * GROUP + j], V) + LANE_NUMBER(gamma)[g * GROUP + j];
        LANE_UNROLL
        for (int i = j + 1; i < count; ++i) {
            y = y + L[LOWER(i, j)] * x[i];
        }
        x[j] = -y * L[LOWER(j, j)];
    }
    LANE_UNROLL
    for (int j = 0; j < count; ++j) {
        int i = at->axis + j;
        lane step = lane_select(LANE_MASKS(hold)[i], LANE_NUMBER(hold_value)[i], x[j]);
        LANE_NUMBER(x)[i] = step;
        V = lane6_mad(V, step, LANE_S[i]);
    }
    ((lane6 *)t->V)[g] = V;
}

LANE_KERNEL void lane_sweep_down(pz_tree_lanes *t)
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

LANE_FN lane_mask lane_is_held(const pz_tree_lanes *t, int dof)
{
    const pz_box *box = &t->solver->box[dof];
    if (box->locked) {
        return ~lane_none();
    }
    if (box->q < 0 || (box->lower == -INFINITY && box->upper == INFINITY)) {
        return lane_none();
    }
    lane q = LANE_NUMBER(q_at)[box->q], g = LANE_NUMBER(gradient)[dof], zero = lane_of(0.0);
    return ((lane_mask)(q <= lane_of(box->lower)) & (lane_mask)(g >= zero)) |
           ((lane_mask)(q >= lane_of(box->upper)) & (lane_mask)(g <= zero));
}

LANE_FN void lane_begin_step(pz_tree_lanes *t, lane_mask begin)
{
    for (int i = 0; i < t->model->nv; ++i) {
        LANE_MASKS(hold)[i] = (begin & lane_is_held(t, i)) | (~begin & LANE_MASKS(hold)[i]);
        LANE_NUMBER(hold_value)[i] = lane_where(~begin, LANE_NUMBER(hold_value)[i]);
    }
}

// Hold the dofs that leave their interval, in the lanes of `among`. Returns where there are any.
LANE_FN lane_mask lane_hold_leavers(pz_tree_lanes *t, lane_mask among)
{
    lane_mask any = lane_none();
    for (int i = 0; i < t->model->nv; ++i) {
        const pz_box *box = &t->solver->box[i];
        if (box->q < 0 || (box->lower == -INFINITY && box->upper == INFINITY)) {
            continue;
        }
        lane q = LANE_NUMBER(q_at)[box->q], next = q + LANE_NUMBER(x)[i];
        lane lower = lane_of(box->lower), upper = lane_of(box->upper);
        lane_mask below = (lane_mask)(next < lower), outside = below | (lane_mask)(next > upper);
        outside &= among & ~LANE_MASKS(hold)[i];
        LANE_MASKS(hold)[i] |= outside;
        lane value = lane_select(below, lower, upper) - q;
        LANE_NUMBER(hold_value)[i] = lane_select(outside, value, LANE_NUMBER(hold_value)[i]);
        any |= outside;
    }
    return any;
}

LANE_KERNEL unsigned lane_solve(pz_tree_lanes *t, unsigned begin, unsigned exact, unsigned *leaving)
{
    lane_begin_step(t, lane_mask_of(begin));
    unsigned is_positive = exact ? lane_sweep_up_exact(t, exact) : lane_sweep_up_gauss_newton(t);
    lane_sweep_down(t);
    *leaving = lane_bits(lane_hold_leavers(t, lane_mask_of(is_positive)));
    return is_positive;
}

// ---- Trial ---------------------------------------------------------------------------------------------------------------

// poise_objective_multiply: `product` = H x.
LANE_KERNEL void lane_multiply(pz_tree_lanes *t, unsigned exact_lanes)
{
    const poise_model *model = t->model;
    lane_mask exact = lane_mask_of(exact_lanes);
    lane *y = LANE_NUMBER(product);
    const lane *x = LANE_NUMBER(x);
    lane6 *V = (lane6 *)t->axis_V, *U = (lane6 *)t->axis_U;
    for (int i = 0; i < model->axis_count; ++i) {
        int parent = model->axes[i].parent;
        y[i] = 0.0 * x[i];
        V[i] = lane6_mad(parent < 0 ? lane6_zero() : V[parent], x[i], LANE_S[i]);
        U[i] = lane6_zero();
    }
    for (int g = t->group_count - 1; g >= 0; --g) {
        const pz_lane_group *at = &t->groups[g];
        lane6 c[GROUP];
        lane_forces(t, at, at->count, exact, true, c);
        for (int j = at->count - 1; j >= 0; --j) {
            int i = at->axis + j, parent = model->axes[i].parent;
            y[i] = y[i] + (lane6_power(V[i], c[j]) + lane6_power(LANE_S[i], U[i]));
            if (parent >= 0) {
                U[parent] = lane6_add(U[parent], lane6_mad(U[i], x[i], c[j]));
            }
        }
    }
    for (int g = 0; g < t->group_count; ++g) {
        const pz_lane_group *at = &t->groups[g];
        lane_sym E = at->block >= 0 ? lane_correction(t, at, exact) : lane_sym_zero();
        for (int i = 0; at->block >= 0 && i < at->block_count; ++i) {
            for (int j = 0; j < at->block_count; ++j) {
                y[at->axis + i] = y[at->axis + i] + lane_entry(&E, i, j) * x[at->axis + j];
            }
        }
    }
}

// predicted_decrease of solve/tree/damped_step.c.
LANE_FN void lane_predict(pz_tree_lanes *t, unsigned ready, unsigned newton, unsigned exact)
{
    lane lambda = *(const lane *)t->lambda, by_equation = lane_of(0.0), by_product = lane_of(0.0);
    const lane *x = LANE_NUMBER(x), *g = LANE_NUMBER(gradient), *D = LANE_NUMBER(D);
    for (int i = 0; i < t->model->nv; ++i) {
        lane term = 0.5 * x[i] * (lambda * D[i] * x[i] - g[i]);
        by_equation = by_equation + lane_where(~LANE_MASKS(hold)[i], term);
    }
    if (ready & ~newton) {
        lane_multiply(t, exact);
        for (int i = 0; i < t->model->nv; ++i) {
            by_product = by_product - x[i] * (g[i] + 0.5 * LANE_NUMBER(product)[i]);
        }
    }
    *LANE_NUMBER(predicted) = lane_select(lane_mask_of(newton), by_equation, by_product);
}

// Lanes whose rotation vector may be longer than half a turn, one by one.
LANE_KERNEL void lane_shorten(lane *q, int count, unsigned lanes)
{
    for (int i = 0; i < LANES; ++i) {
        vec3 v = v3(q[0][i], q[1][i], count == 3 ? q[2][i] : 0.0);
        if ((lanes >> i & 1u) && so3_reparameterise(&v)) {
            q[0][i] = v.x, q[1][i] = v.y;
            if (count == 3) {
                q[2][i] = v.z;
            }
        }
    }
}

// so3_exp_quat; lanes whose square is not an ordinary number one by one.
LANE_FN lane_quat lane_exp_quat(lane3 v)
{
    lane x = lane3_dot(v, v), theta = lane_sqrt(x), sine, cosine;
    lane_sincos(0.5 * theta, &sine, &cosine);
    lane3 u = lane3_scale(v, sine / theta);
    lane_quat q = {u.x, u.y, u.z, cosine};
    lane_mask is_ordinary = (lane_mask)(x > lane_of(1e-270)) & (lane_mask)(x < lane_of(1e290));
    for (int i = 0; i < LANES; ++i) {
        if (!is_ordinary[i]) {
            quat one = so3_exp_quat(v3(v.x[i], v.y[i], v.z[i]));
            q.x[i] = one.x, q.y[i] = one.y, q.z[i] = one.z, q.w[i] = one.w;
        }
    }
    return q;
}

// Lanes that do not turn keep the bits of a unit quaternion.
LANE_KERNEL void lane_keep_quaternion(const lane *from, unsigned lanes, lane *to)
{
    for (int i = 0; i < LANES; ++i) {
        if (lanes >> i & 1u) {
            quat unit = pz_unit_quat((quat){from[0][i], from[1][i], from[2][i], from[3][i]});
            to[0][i] = unit.x, to[1][i] = unit.y, to[2][i] = unit.z, to[3][i] = unit.w;
        }
    }
}

LANE_KERNEL void lane_retract_quaternion(const lane *from, const lane *dv, unsigned ready_lanes, lane *to)
{
    lane_mask ready = lane_mask_of(ready_lanes);
    lane3 v = {lane_where(ready, dv[0]), lane_where(ready, dv[1]), lane_where(ready, dv[2])};
    lane_quat b = lane_exp_quat(v);
    lane_quat a = lane_quat_normalize((lane_quat){from[0], from[1], from[2], from[3]});
    lane_quat r = {a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                   a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
    r = lane_quat_normalize(r);
    to[0] = r.x, to[1] = r.y, to[2] = r.z, to[3] = r.w;
    lane zero = lane_of(0.0);
    lane_mask rests = ready & (lane_mask)(v.x == zero) & (lane_mask)(v.y == zero) & (lane_mask)(v.z == zero);
    if (lane_any(rests)) {
        lane_keep_quaternion(from, lane_bits(rests), to);
    }
}

// Lanes where a swing comes near the edge of its ellipse.
LANE_FN lane_mask lane_strays(const pz_tree_lanes *t, const pz_step *step, const lane *swing)
{
    const poise_joint *given = &t->model->given[t->model->axes[step->axis].joint];
    lane a = swing[0] / given->swing[0], b = swing[1] / given->swing[1];
    lane excess = a * a + b * b, square = swing[0] * swing[0] + swing[1] * swing[1];
    return ~((lane_mask)(excess < lane_of(PZ_NEAR_EDGE)) & (lane_mask)(square < lane_of(PZ_LONG_SQUARE)));
}

// pz_step_within: q_try = q_at + x within the boxes. Returns the lanes where a swing strays.
LANE_FN lane_mask lane_step_within(pz_tree_lanes *t, lane_mask ready)
{
    const poise_model *model = t->model;
    lane_mask strays = lane_none();
    for (int s = 0; s < model->step_count; ++s) {
        const pz_step *step = &model->steps[s];
        const lane *q = LANE_NUMBER(q_at) + step->q, *dv = LANE_NUMBER(x) + step->axis;
        lane *to = LANE_NUMBER(q_try) + step->q;
        if (step->kind == PZ_QUATERNION) {
            lane_retract_quaternion(q, dv, lane_bits(ready), to);
            continue;
        }
        int count = pz_step_nv(step->kind);
        lane square = lane_of(0.0);
        for (int i = 0; i < count; ++i) {
            to[i] = q[i] + dv[i];
            square += to[i] * to[i];
        }
        if (t->solver->has_swings && step->kind == PZ_SWING) {
            strays |= lane_strays(t, step, to);
        }
        // half a turn is 9.87; rounding does not reach that far
        lane_mask is_long = ready & (lane_mask)(square > lane_of(9.8));
        if (t->is_unlimited[s] && lane_any(is_long)) {
            lane_shorten(to, count, lane_bits(is_long));
        }
    }
    for (int i = 0; i < model->nv; ++i) {
        const pz_box *box = &t->solver->box[i];
        if (box->q >= 0) {
            lane *to = LANE_NUMBER(q_try) + box->q;
            lane q = LANE_NUMBER(q_at)[box->q], next = box->keeps_form ? q + LANE_NUMBER(x)[i] : *to;
            *to = box->locked ? q : lane_clamp(next, box->lower, box->upper);
        }
    }
    return strays & ready;
}

LANE_KERNEL unsigned lane_propose(pz_tree_lanes *t, unsigned ready, unsigned newton, unsigned exact)
{
    lane_mask m = lane_mask_of(ready), strays = lane_none();
    if (ready) {
        lane_predict(t, ready, newton, exact);
        strays = lane_step_within(t, m);
    }
    for (int i = 0; i < t->model->nq; ++i) {
        LANE_NUMBER(q_try)[i] = lane_select(m, LANE_NUMBER(q_try)[i], LANE_NUMBER(q_at)[i]);
    }
    return lane_bits(strays);
}

LANE_KERNEL void lane_accept(pz_tree_lanes *t, unsigned accepted)
{
    lane_mask m = lane_mask_of(accepted);
    for (int i = 0; i < t->model->nq; ++i) {
        LANE_NUMBER(q_at)[i] = lane_select(m, LANE_NUMBER(q_try)[i], LANE_NUMBER(q_at)[i]);
    }
}

// ---- Stop tests ----------------------------------------------------------------------------------------------------------

// The diagonal of the Gauss-Newton Hessian into `product`.
LANE_FN void lane_diagonal(pz_tree_lanes *t)
{
    for (int g = 0; g < t->group_count; ++g) {
        const pz_lane_group *at = &t->groups[g];
        lane6 c[GROUP];
        lane_forces(t, at, at->count, lane_none(), false, c);
        for (int j = 0; j < at->count; ++j) {
            LANE_NUMBER(product)[at->axis + j] = lane6_power(LANE_S[at->axis + j], c[j]) + 0.0;
        }
    }
}

LANE_FN void lane_take_diagonal(pz_tree_lanes *t, lane_mask m)
{
    for (int i = 0; i < t->model->nv; ++i) {
        LANE_NUMBER(diagonal)[i] = lane_select(m, LANE_NUMBER(product)[i], LANE_NUMBER(diagonal)[i]);
    }
}

// pz_make_metric
LANE_FN void lane_make_metric(pz_tree_lanes *t, lane_mask m)
{
    const poise_model *model = t->model;
    const lane *diagonal = LANE_NUMBER(diagonal);
    lane sum = lane_of(0.0), zero = lane_of(0.0), one = lane_of(1.0);
    int turns = 0;
    for (int i = 0; i < model->nv; ++i) {
        if (!pz_axis_slides(model, i)) {
            sum = sum + diagonal[i];
            turns += 1;
        }
    }
    lane mean = sum / (double)(turns > 0 ? turns : 1);
    mean = lane_select((lane_mask)(mean > zero), mean, one);
    for (int i = 0; i < model->nv; ++i) {
        lane own = diagonal[i], slide = lane_select((lane_mask)(own > zero), PZ_EPSILON * own, one);
        lane D = own + (pz_axis_slides(model, i) ? slide : mean);
        LANE_NUMBER(D)[i] = lane_select(m, D, LANE_NUMBER(D)[i]);
    }
}

// Lanes whose goals are all met.
LANE_FN lane_mask lane_goals_are_met(const pz_tree_lanes *t)
{
    lane_mask met = ~lane_none();
    lane tolerance = lane_of(t->solver->options.position_tolerance);
    for (int i = 0; i < t->goal_count && lane_any(met); ++i) {
        int body = t->goals[i].body;
        lane3 x, r = lane_goal_residual(t, i, LANE_R + body, LANE_P[body], &x);
        met &= (lane_mask)(lane_sqrt(lane3_dot(r, r)) <= tolerance) | LANE_MASKS(goal_is_off)[i];
    }
    return met;
}

// Lanes where no dof can do anything about the residuals; `largest` on the way.
LANE_FN lane_mask lane_is_stationary(pz_tree_lanes *t)
{
    lane inverse = 1.0 / (t->solver->options.gradient_tolerance * lane_sqrt(2.0 * *LANE_NUMBER(cost)));
    lane largest = lane_of(0.0);
    lane_mask moves = lane_none();
    for (int i = 0; i < t->model->nv; ++i) {
        lane g = lane_where(~lane_is_held(t, i), LANE_NUMBER(gradient)[i]);
        largest = lane_max2(largest, lane_fabs(g));
        lane ratio = g * inverse;
        moves |= (lane_mask)(ratio * ratio > LANE_NUMBER(diagonal)[i]);
    }
    *LANE_NUMBER(largest) = largest;
    return ~moves;
}

// The diagonal of a point before will do to go on, but not to stop.
LANE_KERNEL unsigned lane_inspect(pz_tree_lanes *t, unsigned fresh, unsigned moved, unsigned metric, unsigned *met)
{
    if (fresh | metric) {
        lane_diagonal(t);
        lane_take_diagonal(t, lane_mask_of(fresh));
    }
    unsigned stationary = lane_bits(lane_is_stationary(t)), doubtful = stationary & moved;
    if (doubtful) {
        if (!(fresh | metric)) {
            lane_diagonal(t);
        }
        lane_take_diagonal(t, lane_mask_of(doubtful));
        stationary = lane_bits(lane_is_stationary(t));
    }
    *met = lane_bits(lane_goals_are_met(t));
    if (fresh | metric) {
        lane_take_diagonal(t, lane_mask_of(metric));
        lane_make_metric(t, lane_mask_of(fresh | metric));
    }
    return stationary;
}

LANE_KERNEL void lane_measure(pz_tree_lanes *t)
{
    lane worst = lane_of(0.0);
    for (int i = 0; i < t->goal_count; ++i) {
        int body = t->goals[i].body;
        lane3 x, r = lane_goal_residual(t, i, LANE_R + body, LANE_P[body], &x);
        worst = lane_max2(worst, lane_where(~LANE_MASKS(goal_is_off)[i], lane_sqrt(lane3_dot(r, r))));
    }
    *LANE_NUMBER(worst) = worst;
}

#endif
