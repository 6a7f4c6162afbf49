// What goals of one body add to its sums, and what the sums of a subtree say about its axes; for 1, 4 or 8 problems at once
// (num/real.h). objective.c has the derivations of the Hessian, position.c those of condensed markers.
#ifndef PZ_GOAL_SUM_KERNEL_H
#define PZ_GOAL_SUM_KERNEL_H

#include "goal/objective.h"
#include "kin/forward_kernel.h"

#if REAL_WIDTH == 1
typedef pz_sum real_sum;
typedef pz_moments real_moments;
#else
typedef struct real_sum {
    real_wrench g;
    real n;
    real3 c;
    real_sym ww, K;
} real_sum;

typedef struct real_moments {
    real n;
    real3 b;
    real_sym S;
    real3 tau;
    real33 Y;
} real_moments;
#endif

// ---- Markers -------------------------------------------------------------------------------------------------------------

// A marker at x with the residual r: stiffness w in all directions, so that only moments are added. The gradient alone does
// not need the second part.
REAL_FN void sum_add_force(real_sum *sum, real3 x, real3 f)
{
    sum->g = wrench_add(sum->g, (real_wrench){v3_cross(x, f), f});
}

REAL_FN void sum_add_stiffness(real_sum *sum, real w, real3 x, real3 f)
{
    real_sym P = sym3_outer(w, x);
    real trace = P.xx + P.yy + P.zz;
    sum->n = sum->n + w;
    sum->c = v3_mad(sum->c, w, x);
    sum->ww = sym3_sub(sum->ww, P); // w (|x|^2 I - x x^T)
    sum->ww.xx += trace, sum->ww.yy += trace, sum->ww.zz += trace;
    real_sym K = sym3_pair(x, f); // pz_turn_curvature
    real power = v3_dot(x, f);
    K.xx -= power, K.yy -= power, K.zz -= power;
    sum->K = sym3_add(sum->K, K);
}

// R S R^T: the columns of S turned, then their rows, of which six entries are needed
REAL_FN real_sym turned_moments(const real33 *R, const real_sym *S)
{
    real3 x = m3_apply(R, (real3){S->xx, S->xy, S->xz}), y = m3_apply(R, (real3){S->xy, S->yy, S->yz});
    real3 z = m3_apply(R, (real3){S->xz, S->yz, S->zz});
    return (real_sym){R->x.x * x.x + R->y.x * y.x + R->z.x * z.x, R->x.y * x.x + R->y.y * y.x + R->z.y * z.x,
                      R->x.z * x.x + R->y.z * y.x + R->z.z * z.x, R->x.y * x.y + R->y.y * y.y + R->z.y * z.y,
                      R->x.z * x.y + R->y.z * y.y + R->z.z * z.y, R->x.z * x.z + R->y.z * y.z + R->z.z * z.z};
}

// Condensed markers of a body at (R, p); tau about the reference point.
REAL_FN void sum_add_condensed(real_sum *sum, const real_moments *m, const real33 *R, real3 p, real3 tau, bool hessian)
{
    real3 Rb = m3_apply(R, m->b), c = v3_mad(Rb, m->n, p);
    real_sym twice = sym3_scale(sym3_pair(p, Rb), real_of(2.0));
    real_sym P = sym3_add(turned_moments(R, &m->S), sym3_add(sym3_outer(m->n, p), twice));
    real33 RY = m3_mul(R, &m->Y), PQ = sym3_matrix(&P);
    real33 Q = {v3_sub(v3_mad(PQ.x, -tau.x, c), RY.x), v3_sub(v3_mad(PQ.y, -tau.y, c), RY.y),
                v3_sub(v3_mad(PQ.z, -tau.z, c), RY.z)};
    real3 torque = {Q.z.y - Q.y.z, Q.x.z - Q.z.x, Q.y.x - Q.x.y}; // x x f, component by component of x f^T
    sum->g = wrench_add(sum->g, (real_wrench){torque, v3_mad(c, -m->n, tau)});
    if (hessian) {
        real half = real_of(0.5), trace_Q = Q.x.x + Q.y.y + Q.z.z;
        sum->n = sum->n + m->n;
        sum->c = v3_add(sum->c, c);
        sum->ww = sym3_add(sum->ww, sym3_sub(sym3_identity(P.xx + P.yy + P.zz), P));
        real_sym K = {Q.x.x, half * (Q.y.x + Q.x.y), half * (Q.z.x + Q.x.z), Q.y.y, half * (Q.z.y + Q.y.z), Q.z.z};
        sum->K = sym3_add(sum->K, sym3_add(K, sym3_identity(-trace_Q)));
    }
}

// ---- Forces --------------------------------------------------------------------------------------------------------------

// c of slides: w = 0, so that it is [lever x v ; n v]. The lever is c, less f for exact (v x f beside it).
REAL_FN real3 sum_lever(const real_sum *sum, real_mask exact, bool any_exact)
{
    return any_exact ? v3_sub(sum->c, v3_where(exact, sum->g.f)) : sum->c;
}

REAL_FN real_wrench slide_force(real3 lever, real n, real3 v)
{
    return (real_wrench){v3_cross(lever, v), v3_scale(v, n)};
}

// The sum of a joint as its turning axes see it, which all pass through p, so that v = p x w:
//
//   linear part of c    w x e        e = c - n p, the first moment about p       (w x c + n v)
//   angular part        A w          A = ww + p c^T - (c . p) I                  (c x (p x w) = p (c . w) - w (c . p))
//   exact               M w          M = A + K - [n]x/2 - p f^T + (p . f) I
//
// The exact one: K w - f x v/2 of the sum, and half of S x* g, add up to K w + w x n/2 + v x f, with
// (p x w) x f = w (p . f) - p (w . f); the linear parts f x w/2 and w x f/2 cancel. What only exact has is 0 in lanes with
// Gauss-Newton.
typedef struct turning_view {
    pack3 e;
    pack33 M;
} turning_view;

REAL_FN turning_view view_of(const real_sum *sum, const real3 *origin, real_mask exact, bool any_exact)
{
    pack3 p = pack3_load(origin), c = pack3_load(&sum->c);
    pack3 lever = any_exact ? pack3_sub(c, pack3_where(exact, pack3_load(&sum->g.f))) : c; // sum_lever
    pack33 turn = pack33_of_sym(&sum->ww);
    if (any_exact) {
        turn = pack33_add_where(exact, turn, pack33_of_sym(&sum->K));
        turn = pack33_sub_cross(turn, pack3_where(exact, pack3_scale(pack3_load(&sum->g.n), real_of(0.5))));
    }
    real d = -pack3_sum(pack3_products(lever, p));
    return (turning_view){pack3_mad(c, -sum->n, p), pack33_add_diagonal(pack33_add_outer(turn, p, lever), d)};
}

REAL_FN void turn_force(const turning_view *view, const real3 *w, real_wrench *c)
{
    pack3_store(pack3_apply(view->M.x, view->M.y, view->M.z, *w), &c->n);
    pack3_store(pack3_cross(pack3_load(w), view->e), &c->f);
}

#if REAL_WIDTH == 1

// The wrenches c of all axes of an objective.
REAL_FN void make_forces(const poise_objective *o, poise_hessian kind)
{
    const poise_model *model = o->kin.model;
    bool exact = kind == POISE_HESSIAN_EXACT;
    wrench *c = o->c[kind];
    for (int k = 0; k < model->joint_count; ++k) {
        const pz_joint *joint = &model->joints[k];
        const pz_sum *sum = &o->sums[k];
        int i = joint->axis_begin;
        for (; i < joint->axis_begin + joint->slide_count; ++i) {
            c[i] = slide_force(sum_lever(sum, exact, exact), sum->n, o->kin.S[i].v);
        }
        if (i < joint->axis_end) {
            turning_view view = view_of(sum, &o->kin.p[k], exact, exact);
            for (; i < joint->axis_end; ++i) {
                turn_force(&view, &o->kin.S[i].w, &c[i]);
            }
        }
    }
}

#endif

// g . sym(D_ij) for a block at p, R = before exp(v): with tau = before^T (n - p x f) the moment about p in the block's
// frame, and the symmetric part of dJ_l/dv (kin/jacobian.c) dotted with tau,
//
//   E = (v u^T + u v^T)/2 + c (tau . v) I,     u = db tau x v + dc v x (v x tau) - c tau
//
// less the half cross products g . (S_i x S_j)/2, i < j, that c_j holds.
REAL_FN real_sym block_correction(const real_block *block, const real_spatial *S, int count, real3 p, real_wrench g)
{
    real3 v = block->v;
    real3 tau = m3_apply_transposed(&block->before, v3_sub(g.n, v3_cross(p, g.f)));
    real3 u = v3_combine(block->k.db, v3_cross(tau, v), block->k.dc, v3_cross(v, v3_cross(v, tau)));
    u = v3_mad(u, -block->k.c, tau);
    real_sym E = sym3_add(sym3_pair(v, u), sym3_identity(block->k.c * v3_dot(tau, v)));
    E.xy -= 0.5 * spatial_dot(spatial_cross(S[0], S[1]), g);
    if (count == 3) {
        E.xz -= 0.5 * spatial_dot(spatial_cross(S[0], S[2]), g);
        E.yz -= 0.5 * spatial_dot(spatial_cross(S[1], S[2]), g);
    }
    return E;
}

#endif
