// Kernels of tree_lanes.h: the damped Newton step. See solve/tree/, solve/stepping.c, goal/hessian.c and
// kin/retract.c, which say what is done and why; here it is done in lanes.
#ifndef PZ_BATCH_TREE_NEWTON_H
#define PZ_BATCH_TREE_NEWTON_H

#include "batch/tree_evaluate.h"

#define GROUP 3

#define LOWER(j, h) ((j) * ((j) + 1) / 2 + (h)) // place in a packed lower triangle

// ---- Forces --------------------------------------------------------------------------------------------------------------

REAL_FN real6 lane_slide_force(real3 lever, real n, real3 v)
{
    return (real6){real3_cross(lever, v), real3_scale(v, n)};
}

// c of the axes of a group. What only the exact Hessian has is 0 in the other lanes, which leaves them with Gauss-Newton.
REAL_FN void lane_forces(const pz_tree_lanes *t, const pz_lane_group *at, int count, mask exact, bool any_exact, real6 *c)
{
    const lane_sum *sum = LANE_SUMS + at->joint;
    const real6 *S = LANE_S + at->axis;
    real3 lever = sum->c;
    real_sym T = sum->ww;
    real3 n = real3_zero();
    if (any_exact) {
        lever = real3_sub(lever, real3_where(exact, sum->g.b));
        T = real_sym_add(T, real_sym_where(exact, sum->K));
        n = real3_where(exact, real3_scale(sum->g.a, real_of(0.5)));
    }
    if (at->slides == count) {
        REAL_UNROLL
        for (int j = 0; j < count; ++j) {
            c[j] = lane_slide_force(lever, sum->n, S[j].b);
        }
        return;
    }
    real3 p = LANE_P[at->joint], e = real3_mad(sum->c, -sum->n, p);
    real d = -real3_dot(lever, p);
    real33 turn = real_sym_matrix(&T);
    if (any_exact) {
        turn.x.y -= n.z, turn.x.z += n.y, turn.y.x += n.z, turn.y.z -= n.x, turn.z.x -= n.y, turn.z.y += n.x;
    }
    real33 M = {real3_mad(turn.x, lever.x, p), real3_mad(turn.y, lever.y, p), real3_mad(turn.z, lever.z, p)};
    M.x.x += d, M.y.y += d, M.z.z += d;
    REAL_UNROLL
    for (int j = 0; j < count; ++j) {
        if (j < at->slides) {
            c[j] = lane_slide_force(lever, sum->n, S[j].b);
        } else {
            c[j] = (real6){real33_apply(&M, S[j].a), real3_cross(S[j].a, e)};
        }
    }
}

// The correction of a group's rotation block, 0 but for exact lanes.
REAL_FN real_sym lane_correction(const pz_tree_lanes *t, const pz_lane_group *at, mask exact)
{
    const lane_block *block = (const lane_block *)t->blocks + at->block;
    const real6 *S = LANE_S + at->axis;
    real6 g = LANE_SUMS[at->joint].g;
    real3 v = block->v;
    real3 tau = real33_apply_transposed(&block->before, real3_sub(g.a, real3_cross(LANE_P[at->joint], g.b)));
    real3 u = real3_combine(block->db, real3_cross(tau, v), block->dc, real3_cross(v, real3_cross(v, tau)));
    u = real3_mad(u, -block->c, tau);
    real_sym E = real_sym_add(real_sym_pair(v, u), real_sym_identity(block->c * real3_dot(tau, v)));
    E.xy -= 0.5 * real6_power(real6_cross(S[0], S[1]), g);
    if (at->block_count == 3) {
        E.xz -= 0.5 * real6_power(real6_cross(S[0], S[2]), g);
        E.yz -= 0.5 * real6_power(real6_cross(S[1], S[2]), g);
    }
    return real_sym_where(exact, real_sym_add(real_sym_zero(), E));
}

REAL_FN real lane_entry(const real_sym *block, int i, int j)
{
    static const int place[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    return ((const real *)block)[place[i][j]];
}

// ---- Sweep up ------------------------------------------------------------------------------------------------------------

typedef struct lane_group {
    six_by_six Pi;
    real6 pi, B[GROUP];
    real L[6], gamma[GROUP];
} lane_group;

// A block is at the head of its group: the slides before it fill one of their own.
REAL_FN void lane_add_block(const pz_lane_group *at, int count, const real_sym *E, real *L)
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

REAL_FN void lane_assemble(const pz_tree_lanes *t, const pz_lane_group *at, int count, real lambda, mask exact,
                           bool any_exact, lane_group *w)
{
    const real6 *S = LANE_S + at->axis;
    real6 c[GROUP];
    lane_forces(t, at, count, exact, any_exact, c);
    REAL_UNROLL
    for (int j = 0; j < count; ++j) {
        int i = at->axis + j;
        w->B[j] = six_apply(c[j], &w->Pi, S[j]);
        w->gamma[j] = LANE_REALS(gradient)[i] + six_dot(S[j], w->pi);
        REAL_UNROLL
        for (int h = 0; h <= j; ++h) {
            w->L[LOWER(j, h)] = six_dot(S[h], w->B[j]);
        }
        w->L[LOWER(j, j)] += lambda * LANE_REALS(D)[i];
    }
    if (at->block >= 0 && count > 1) {
        real_sym E = any_exact ? lane_correction(t, at, exact) : real_sym_zero();
        lane_add_block(at, count, &E, w->L);
    }
}

REAL_FN void lane_drop_held(const pz_tree_lanes *t, const pz_lane_group *at, int count, lane_group *w)
{
    real zero = real_of(0.0);
    REAL_UNROLL
    for (int j = 0; j < count; ++j) {
        mask held = LANE_MASKS(hold)[at->axis + j];
        real value = LANE_REALS(hold_value)[at->axis + j];
        REAL_UNROLL
        for (int h = 0; h < count; ++h) {
            real *entry = h <= j ? &w->L[LOWER(j, h)] : &w->L[LOWER(h, j)];
            w->gamma[h] = real_select(held, w->gamma[h] + *entry * value, w->gamma[h]);
            *entry = real_select(held, zero, *entry);
        }
        w->pi = real6_select(held, real6_mad(w->pi, value, w->B[j]), w->pi);
        w->B[j] = real6_select(held, real6_zero(), w->B[j]);
        w->L[LOWER(j, j)] = real_select(held, real_of(1.0), w->L[LOWER(j, j)]);
        w->gamma[j] = real_select(held, zero, w->gamma[j]);
    }
}

REAL_FN mask lane_eliminate(int count, lane_group *w)
{
    real *L = w->L, *gamma = w->gamma;
    mask is_positive = mask_all();
    REAL_UNROLL
    for (int j = 0; j < count; ++j) {
        REAL_UNROLL
        for (int h = 0; h < j; ++h) {
            real l = L[LOWER(j, h)];
            w->B[j] = real6_mad(w->B[j], -l, w->B[h]);
            gamma[j] = gamma[j] - l * gamma[h];
            REAL_UNROLL
            for (int i = j; i < count; ++i) {
                L[LOWER(i, j)] = L[LOWER(i, j)] - L[LOWER(i, h)] * l;
            }
        }
        real pivot = L[LOWER(j, j)];
        is_positive &= (mask)(pivot > real_of(0.0));
        real inverse = 1.0 / real_sqrt(pivot);
        L[LOWER(j, j)] = inverse;
        REAL_UNROLL
        for (int i = j + 1; i < count; ++i) {
            L[LOWER(i, j)] = L[LOWER(i, j)] * inverse;
        }
        w->B[j] = real6_scale(w->B[j], inverse);
        gamma[j] = gamma[j] * inverse;
        six_subtract_square(&w->Pi, w->B[j]);
        w->pi = real6_mad(w->pi, -gamma[j], w->B[j]);
    }
    return is_positive;
}

// Sums of a group to its parent's, which begin at 0.
REAL_FN void lane_hand_up(pz_tree_lanes *t, const pz_lane_group *at, const lane_group *w)
{
    six_by_six *Pi = (six_by_six *)t->Pi + at->parent;
    real6 *pi = (real6 *)t->pi + at->parent;
    six_by_six zero = six_by_six_zero();
    real6 none = real6_zero();
    const six_by_six *to = at->is_last_child ? &zero : Pi;
    REAL_UNROLL
    for (int i = 0; i < 21; ++i) {
        Pi->m[i] = to->m[i] + w->Pi.m[i];
    }
    *pi = real6_add(at->is_last_child ? none : *pi, w->pi);
}

REAL_FN mask lane_group_up(pz_tree_lanes *t, int g, int count, real lambda, mask exact, bool any_exact)
{
    const pz_lane_group *at = &t->groups[g];
    lane_group w;
    if (at->is_leaf) {
        w.Pi = six_by_six_zero();
        w.pi = real6_zero();
    } else {
        w.Pi = ((const six_by_six *)t->Pi)[g];
        w.pi = ((const real6 *)t->pi)[g];
    }
    lane_assemble(t, at, count, lambda, exact, any_exact, &w);
    mask held = LANE_MASKS(hold)[at->axis];
    REAL_UNROLL
    for (int j = 1; j < count; ++j) {
        held |= LANE_MASKS(hold)[at->axis + j];
    }
    if (mask_any(held)) {
        lane_drop_held(t, at, count, &w);
    }
    mask is_positive = lane_eliminate(count, &w);
    if (at->parent >= 0) {
        lane_hand_up(t, at, &w);
    }
    REAL_UNROLL
    for (int j = 0; j < count; ++j) {
        ((real6 *)t->B)[g * GROUP + j] = w.B[j];
        LANE_REALS(gamma)[g * GROUP + j] = w.gamma[j];
        REAL_UNROLL
        for (int h = 0; h <= j; ++h) {
            LANE_REALS(L)[g * 6 + LOWER(j, h)] = w.L[LOWER(j, h)];
        }
    }
    return is_positive;
}

REAL_FN mask lane_sweep_up(pz_tree_lanes *t, real lambda, mask exact, bool any_exact)
{
    mask is_positive = mask_all();
    for (int g = t->group_count - 1; g >= 0; --g) {
        int count = t->groups[g].count;
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
    const real *L = LANE_REALS(L) + g * 6;
    real6 V = at->parent < 0 ? real6_zero() : ((const real6 *)t->V)[at->parent];
    real x[GROUP];
    REAL_UNROLL
    for (int j = count - 1; j >= 0; --j) {
        real y = six_dot(((const real6 *)t->B)[g * GROUP + j], V) + LANE_REALS(gamma)[g * GROUP + j];
        REAL_UNROLL
        for (int i = j + 1; i < count; ++i) {
            y = y + L[LOWER(i, j)] * x[i];
        }
        x[j] = -y * L[LOWER(j, j)];
    }
    REAL_UNROLL
    for (int j = 0; j < count; ++j) {
        int i = at->axis + j;
        real step = real_select(LANE_MASKS(hold)[i], LANE_REALS(hold_value)[i], x[j]);
        LANE_REALS(x)[i] = step;
        V = real6_mad(V, step, LANE_S[i]);
    }
    ((real6 *)t->V)[g] = V;
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

REAL_FN mask lane_is_held(const pz_tree_lanes *t, int dof)
{
    const pz_box *box = &t->solver->box[dof];
    if (box->locked) {
        return mask_all();
    }
    if (box->q < 0 || (box->lower == -INFINITY && box->upper == INFINITY)) {
        return mask_none();
    }
    real q = LANE_REALS(q_at)[box->q], g = LANE_REALS(gradient)[dof], zero = real_of(0.0);
    return ((mask)(q <= real_of(box->lower)) & (mask)(g >= zero)) | ((mask)(q >= real_of(box->upper)) & (mask)(g <= zero));
}

REAL_FN void lane_begin_step(pz_tree_lanes *t, mask begin)
{
    for (int i = 0; i < t->model->nv; ++i) {
        LANE_MASKS(hold)[i] = (begin & lane_is_held(t, i)) | (mask_not(begin) & LANE_MASKS(hold)[i]);
        LANE_REALS(hold_value)[i] = real_where(mask_not(begin), LANE_REALS(hold_value)[i]);
    }
}

// Hold the dofs that leave their interval, in the lanes of `among`. Returns where there are any.
REAL_FN mask lane_hold_leavers(pz_tree_lanes *t, mask among)
{
    mask any = mask_none();
    for (int i = 0; i < t->model->nv; ++i) {
        const pz_box *box = &t->solver->box[i];
        if (box->q < 0 || (box->lower == -INFINITY && box->upper == INFINITY)) {
            continue;
        }
        real q = LANE_REALS(q_at)[box->q], next = q + LANE_REALS(x)[i];
        real lower = real_of(box->lower), upper = real_of(box->upper);
        mask below = (mask)(next < lower), outside = below | (mask)(next > upper);
        outside &= among & mask_not(LANE_MASKS(hold)[i]);
        LANE_MASKS(hold)[i] |= outside;
        real value = real_select(below, lower, upper) - q;
        LANE_REALS(hold_value)[i] = real_select(outside, value, LANE_REALS(hold_value)[i]);
        any |= outside;
    }
    return any;
}

REAL_KERNEL unsigned lane_solve(pz_tree_lanes *t, unsigned begin, unsigned exact, unsigned *leaving)
{
    lane_begin_step(t, mask_of_bits(begin));
    unsigned is_positive = exact ? lane_sweep_up_exact(t, exact) : lane_sweep_up_gauss_newton(t);
    lane_sweep_down(t);
    *leaving = mask_bits(lane_hold_leavers(t, mask_of_bits(is_positive)));
    return is_positive;
}

// ---- Trial ---------------------------------------------------------------------------------------------------------------

// poise_objective_multiply: `product` = H x.
REAL_KERNEL void lane_multiply(pz_tree_lanes *t, unsigned exact_lanes)
{
    const poise_model *model = t->model;
    mask exact = mask_of_bits(exact_lanes);
    real *y = LANE_REALS(product);
    const real *x = LANE_REALS(x);
    real6 *V = (real6 *)t->axis_V, *U = (real6 *)t->axis_U;
    for (int i = 0; i < model->axis_count; ++i) {
        int parent = model->axes[i].parent;
        y[i] = 0.0 * x[i];
        V[i] = real6_mad(parent < 0 ? real6_zero() : V[parent], x[i], LANE_S[i]);
        U[i] = real6_zero();
    }
    for (int g = t->group_count - 1; g >= 0; --g) {
        const pz_lane_group *at = &t->groups[g];
        real6 c[GROUP];
        lane_forces(t, at, at->count, exact, true, c);
        for (int j = at->count - 1; j >= 0; --j) {
            int i = at->axis + j, parent = model->axes[i].parent;
            y[i] = y[i] + (real6_power(V[i], c[j]) + real6_power(LANE_S[i], U[i]));
            if (parent >= 0) {
                U[parent] = real6_add(U[parent], real6_mad(U[i], x[i], c[j]));
            }
        }
    }
    for (int g = 0; g < t->group_count; ++g) {
        const pz_lane_group *at = &t->groups[g];
        real_sym E = at->block >= 0 ? lane_correction(t, at, exact) : real_sym_zero();
        for (int i = 0; at->block >= 0 && i < at->block_count; ++i) {
            for (int j = 0; j < at->block_count; ++j) {
                y[at->axis + i] = y[at->axis + i] + lane_entry(&E, i, j) * x[at->axis + j];
            }
        }
    }
}

// predicted_decrease of solve/tree/damped_step.c.
REAL_FN void lane_predict(pz_tree_lanes *t, unsigned ready, unsigned newton, unsigned exact)
{
    real lambda = *(const real *)t->lambda, by_equation = real_of(0.0), by_product = real_of(0.0);
    const real *x = LANE_REALS(x), *g = LANE_REALS(gradient), *D = LANE_REALS(D);
    for (int i = 0; i < t->model->nv; ++i) {
        real term = 0.5 * x[i] * (lambda * D[i] * x[i] - g[i]);
        by_equation = by_equation + real_where(mask_not(LANE_MASKS(hold)[i]), term);
    }
    if (ready & ~newton) {
        lane_multiply(t, exact);
        for (int i = 0; i < t->model->nv; ++i) {
            by_product = by_product - x[i] * (g[i] + 0.5 * LANE_REALS(product)[i]);
        }
    }
    *LANE_REALS(predicted) = real_select(mask_of_bits(newton), by_equation, by_product);
}

// Lanes whose rotation vector may be longer than half a turn, one by one.
REAL_KERNEL void lane_shorten(real *q, int count, unsigned lanes)
{
    for (int i = 0; i < REAL_WIDTH; ++i) {
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
REAL_FN lane_quat lane_exp_quat(real3 v)
{
    real x = real3_dot(v, v), theta = real_sqrt(x), sine, cosine;
    real_sincos(0.5 * theta, &sine, &cosine);
    real3 u = real3_scale(v, sine / theta);
    lane_quat q = {u.x, u.y, u.z, cosine};
    mask is_ordinary = (mask)(x > real_of(1e-270)) & (mask)(x < real_of(1e290));
    for (int i = 0; i < REAL_WIDTH; ++i) {
        if (!is_ordinary[i]) {
            quat one = so3_exp_quat(v3(v.x[i], v.y[i], v.z[i]));
            q.x[i] = one.x, q.y[i] = one.y, q.z[i] = one.z, q.w[i] = one.w;
        }
    }
    return q;
}

// Lanes that do not turn keep the bits of a unit quaternion.
REAL_KERNEL void lane_keep_quaternion(const real *from, unsigned lanes, real *to)
{
    for (int i = 0; i < REAL_WIDTH; ++i) {
        if (lanes >> i & 1u) {
            quat unit = pz_unit_quat((quat){from[0][i], from[1][i], from[2][i], from[3][i]});
            to[0][i] = unit.x, to[1][i] = unit.y, to[2][i] = unit.z, to[3][i] = unit.w;
        }
    }
}

REAL_KERNEL void lane_retract_quaternion(const real *from, const real *dv, unsigned ready_lanes, real *to)
{
    mask ready = mask_of_bits(ready_lanes);
    real3 v = {real_where(ready, dv[0]), real_where(ready, dv[1]), real_where(ready, dv[2])};
    lane_quat b = lane_exp_quat(v);
    lane_quat a = lane_quat_normalize((lane_quat){from[0], from[1], from[2], from[3]});
    lane_quat r = {a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                   a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
    r = lane_quat_normalize(r);
    to[0] = r.x, to[1] = r.y, to[2] = r.z, to[3] = r.w;
    real zero = real_of(0.0);
    mask rests = ready & (mask)(v.x == zero) & (mask)(v.y == zero) & (mask)(v.z == zero);
    if (mask_any(rests)) {
        lane_keep_quaternion(from, mask_bits(rests), to);
    }
}

// Lanes where a swing comes near the edge of its ellipse.
REAL_FN mask lane_strays(const pz_tree_lanes *t, const pz_step *step, const real *swing)
{
    const poise_joint *given = &t->model->given[t->model->axes[step->axis].joint];
    real a = swing[0] / given->swing[0], b = swing[1] / given->swing[1];
    real excess = a * a + b * b, square = swing[0] * swing[0] + swing[1] * swing[1];
    return mask_not((mask)(excess < real_of(PZ_NEAR_EDGE)) & (mask)(square < real_of(PZ_LONG_SQUARE)));
}

// pz_step_within: q_try = q_at + x within the boxes. Returns the lanes where a swing strays.
REAL_FN mask lane_step_within(pz_tree_lanes *t, mask ready)
{
    const poise_model *model = t->model;
    mask strays = mask_none();
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
            strays |= lane_strays(t, step, to);
        }
        // half a turn is 9.87; rounding does not reach that far
        mask is_long = ready & (mask)(square > real_of(9.8));
        if (t->is_unlimited[s] && mask_any(is_long)) {
            lane_shorten(to, count, mask_bits(is_long));
        }
    }
    for (int i = 0; i < model->nv; ++i) {
        const pz_box *box = &t->solver->box[i];
        if (box->q >= 0) {
            real *to = LANE_REALS(q_try) + box->q;
            real q = LANE_REALS(q_at)[box->q], next = box->keeps_form ? q + LANE_REALS(x)[i] : *to;
            *to = box->locked ? q : real_clamp(next, box->lower, box->upper);
        }
    }
    return strays & ready;
}

REAL_KERNEL unsigned lane_propose(pz_tree_lanes *t, unsigned ready, unsigned newton, unsigned exact)
{
    mask m = mask_of_bits(ready), strays = mask_none();
    if (ready) {
        lane_predict(t, ready, newton, exact);
        strays = lane_step_within(t, m);
    }
    for (int i = 0; i < t->model->nq; ++i) {
        LANE_REALS(q_try)[i] = real_select(m, LANE_REALS(q_try)[i], LANE_REALS(q_at)[i]);
    }
    return mask_bits(strays);
}

REAL_KERNEL void lane_accept(pz_tree_lanes *t, unsigned accepted)
{
    mask m = mask_of_bits(accepted);
    for (int i = 0; i < t->model->nq; ++i) {
        LANE_REALS(q_at)[i] = real_select(m, LANE_REALS(q_try)[i], LANE_REALS(q_at)[i]);
    }
}

// ---- Stop tests ----------------------------------------------------------------------------------------------------------

// The diagonal of the Gauss-Newton Hessian into `product`.
REAL_FN void lane_diagonal(pz_tree_lanes *t)
{
    for (int g = 0; g < t->group_count; ++g) {
        const pz_lane_group *at = &t->groups[g];
        real6 c[GROUP];
        lane_forces(t, at, at->count, mask_none(), false, c);
        for (int j = 0; j < at->count; ++j) {
            LANE_REALS(product)[at->axis + j] = real6_power(LANE_S[at->axis + j], c[j]) + 0.0;
        }
    }
}

REAL_FN void lane_take_diagonal(pz_tree_lanes *t, mask m)
{
    for (int i = 0; i < t->model->nv; ++i) {
        LANE_REALS(diagonal)[i] = real_select(m, LANE_REALS(product)[i], LANE_REALS(diagonal)[i]);
    }
}

// pz_make_metric
REAL_FN void lane_make_metric(pz_tree_lanes *t, mask m)
{
    const poise_model *model = t->model;
    const real *diagonal = LANE_REALS(diagonal);
    real sum = real_of(0.0), zero = real_of(0.0), one = real_of(1.0);
    int turns = 0;
    for (int i = 0; i < model->nv; ++i) {
        if (!pz_axis_slides(model, i)) {
            sum = sum + diagonal[i];
            turns += 1;
        }
    }
    real mean = sum / (double)(turns > 0 ? turns : 1);
    mean = real_select((mask)(mean > zero), mean, one);
    for (int i = 0; i < model->nv; ++i) {
        real own = diagonal[i], slide = real_select((mask)(own > zero), PZ_EPSILON * own, one);
        real D = own + (pz_axis_slides(model, i) ? slide : mean);
        LANE_REALS(D)[i] = real_select(m, D, LANE_REALS(D)[i]);
    }
}

// Lanes whose goals are all met.
REAL_FN mask lane_goals_are_met(const pz_tree_lanes *t)
{
    mask met = mask_all();
    real tolerance = real_of(t->solver->options.position_tolerance);
    for (int i = 0; i < t->goal_count && mask_any(met); ++i) {
        int body = t->goals[i].body;
        real3 x, r = lane_goal_residual(t, i, LANE_R + body, LANE_P[body], &x);
        met &= (mask)(real_sqrt(real3_dot(r, r)) <= tolerance) | LANE_MASKS(goal_is_off)[i];
    }
    return met;
}

// Lanes where no dof can do anything about the residuals; `largest` on the way.
REAL_FN mask lane_is_stationary(pz_tree_lanes *t)
{
    real inverse = 1.0 / (t->solver->options.gradient_tolerance * real_sqrt(2.0 * *LANE_REALS(cost)));
    real largest = real_of(0.0);
    mask moves = mask_none();
    for (int i = 0; i < t->model->nv; ++i) {
        real g = real_where(mask_not(lane_is_held(t, i)), LANE_REALS(gradient)[i]);
        largest = real_max2(largest, real_fabs(g));
        real ratio = g * inverse;
        moves |= (mask)(ratio * ratio > LANE_REALS(diagonal)[i]);
    }
    *LANE_REALS(largest) = largest;
    return mask_not(moves);
}

// The diagonal of a point before will do to go on, but not to stop.
REAL_KERNEL unsigned lane_inspect(pz_tree_lanes *t, unsigned fresh, unsigned moved, unsigned metric, unsigned *met)
{
    if (fresh | metric) {
        lane_diagonal(t);
        lane_take_diagonal(t, mask_of_bits(fresh));
    }
    unsigned stationary = mask_bits(lane_is_stationary(t)), doubtful = stationary & moved;
    if (doubtful) {
        if (!(fresh | metric)) {
            lane_diagonal(t);
        }
        lane_take_diagonal(t, mask_of_bits(doubtful));
        stationary = mask_bits(lane_is_stationary(t));
    }
    *met = mask_bits(lane_goals_are_met(t));
    if (fresh | metric) {
        lane_take_diagonal(t, mask_of_bits(metric));
        lane_make_metric(t, mask_of_bits(fresh | metric));
    }
    return stationary;
}

REAL_KERNEL void lane_measure(pz_tree_lanes *t)
{
    real worst = real_of(0.0);
    for (int i = 0; i < t->goal_count; ++i) {
        int body = t->goals[i].body;
        real3 x, r = lane_goal_residual(t, i, LANE_R + body, LANE_P[body], &x);
        worst = real_max2(worst, real_where(mask_not(LANE_MASKS(goal_is_off)[i]), real_sqrt(real3_dot(r, r))));
    }
    *LANE_REALS(worst) = worst;
}

#endif
