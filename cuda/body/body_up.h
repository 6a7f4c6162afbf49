// The second part of a pass (body_pass.h): articulated sums from the leaves to the root, dof by dof.
#ifndef POISE_CUDA_BODY_UP_H
#define POISE_CUDA_BODY_UP_H

#include "body_pull.h"

// Sums over the markers below: articulated inertia and wrench, and the plain wrench with G.
typedef struct body_sums {
    rsym ww, vv;
    rmat wv;
    rvec n, f;
    rvec N, F;
#ifdef BODY_DOUBLE
    rmat G;
#endif
} body_sums;

#define BODY_SUM_NUMBERS ((int)(sizeof(body_sums) / sizeof(scalar)))

PZ_BOTH body_sums body_no_sums(void)
{
    body_sums none;
    scalar *to = (scalar *)&none;
    FAST_UNROLL
    for (int i = 0; i < BODY_SUM_NUMBERS; ++i) {
        to[i] = 0;
    }
    return none;
}

PZ_BOTH void body_take_sums(const scalar *m, int place, body_sums *a)
{
    scalar *to = (scalar *)a;
    FAST_UNROLL
    for (int i = 0; i < BODY_SUM_NUMBERS; ++i) {
        to[i] += AT(m, place + i);
    }
}

PZ_BOTH void body_give_sums(scalar *m, int place, const body_sums *a)
{
    const scalar *from = (const scalar *)a;
    FAST_UNROLL
    for (int i = 0; i < BODY_SUM_NUMBERS; ++i) {
        AT(m, place + i) = from[i];
    }
}

// What hangs on the last joint of a chain.
PZ_BOTH body_sums body_sums_of_children(const body_task *t, const scalar *m, const body_chain *chain)
{
    body_sums a = body_no_sums();
    BODY_LOOP
    for (int c = chain->child_end - 1; c >= chain->child_begin; --c) {
        body_take_sums(m, t->at.sums + BODY_SUMS * c, &a);
    }
    return a;
}

PZ_BOTH bool body_hangs_on_chain(const body_task *t, const body_chain *chain)
{
    return t->joints[chain->begin].from >= 0;
}

// A marker of weight w at x, r from its target: inertia -w [x][x], w [x], w; wrench w (x x r, r). A direction turns, and
// does not shift: it has the first part of both.
PZ_BOTH void body_add_marker(body_sums *a, scalar w, rvec x, rvec r, bool is_arrow)
{
    rvec f = rv_scale(r, w), n = rv_cross(x, f), h = rv_scale(x, w);
    scalar xx = x.x * h.x, yy = x.y * h.y, zz = x.z * h.z;
    a->ww.xx += yy + zz, a->ww.yy += xx + zz, a->ww.zz += xx + yy;
    a->ww.xy = scalar_fma(-x.x, h.y, a->ww.xy), a->ww.xz = scalar_fma(-x.x, h.z, a->ww.xz);
    a->ww.yz = scalar_fma(-x.y, h.z, a->ww.yz);
    a->n = rv_add(a->n, n), a->N = rv_add(a->N, n);
#ifdef BODY_DOUBLE
    scalar along = rv_dot(x, f);
    rm_add_outer(&a->G, 1, x, f);
    a->G.x.x -= along, a->G.y.y -= along, a->G.z.z -= along;
#endif
    if (!is_arrow) {
        a->wv.x.y += h.z, a->wv.x.z -= h.y, a->wv.y.x -= h.z, a->wv.y.z += h.x, a->wv.z.x += h.y, a->wv.z.y -= h.x;
        a->vv.xx += w, a->vv.yy += w, a->vv.zz += w;
        a->f = rv_add(a->f, f), a->F = rv_add(a->F, f);
    }
}

// What the loss of a goal makes of its weight w: stiffness w (rho' I + 2 rho'' r r^T). The latter, in the exact Hessian
// alone, is added here.
PZ_BOTH scalar body_bend(const body_task *t, int i, bool exact, scalar w, rvec x, rvec r, body_sums *a)
{
    body_loss loss = body_loss_at(t, i, rv_dot(r, r));
#ifdef BODY_DOUBLE
    if (exact && loss.second != 0) {
        scalar bent = 2 * w * loss.second;
        rvec c = rv_cross(x, r);
        rs_add_square(&a->ww, bent, c), rs_add_square(&a->vv, bent, r);
        rm_add_outer(&a->wv, bent, c, r);
    }
#else
    (void)exact, (void)x, (void)a;
#endif
    return w * loss.first;
}

// The markers of a joint; `exact`: for the exact Hessian.
PZ_BOTH void body_add_markers(const body_task *t, const scalar *m, const body_joint *joint, bool exact, body_sums *a)
{
    BODY_LOOP
    for (int i = joint->marker_begin; i < joint->arrow_end; ++i) {
        rvec x = body_get(m, t->at.point + 3 * i), r = rv_sub(x, body_get(m, t->at.target + 3 * i));
        scalar w = AT(m, t->at.weight + i);
        w = t->has_losses ? body_bend(t, i, exact, w, x, r, a) : w;
        body_add_marker(a, w, x, r, i >= joint->marker_end);
    }
}

// A sweep up, and what it finds.
typedef struct body_solve {
    scalar lambda, scale; // of D: the mean weight of the problem
    bool exact;           // the exact Hessian
    bool is_positive;     // every pivot was
    scalar model;         // of the damped cost at the step without clamping, less the cost: not above 0
    int leavers;          // dofs that the sweep down clamped at a bound
    bool is_clipped;      // or at the edge of an ellipse
} body_solve;

// A motion axis, of a dof that turns about p or slides.
typedef struct body_axis {
    rvec w, v;
} body_axis;

PZ_BOTH body_axis body_axis_of(rvec direction, rvec p, bool slides)
{
    body_axis S = {slides ? rv(0, 0, 0) : direction, slides ? direction : rv_cross(p, direction)};
    return S;
}

PZ_BOTH scalar body_gradient(const body_sums *a, const body_axis *S)
{
    return rv_dot(S->w, a->N) + rv_dot(S->v, a->F);
}

// Eliminate one dof, whose metric, pull and curvature, `shift`, add to Delta, and whose own gradient `g` to gamma; `held`:
// its step is known.
PZ_BOTH void body_eliminate(scalar *m, int place, const body_axis *S, scalar shift, scalar g, scalar held, body_solve *s,
                            body_sums *a)
{
    rvec n = rv_add(rs_apply(&a->ww, S->w), rm_apply(&a->wv, S->v));
    rvec f = rv_add(rm_apply_transposed(&a->wv, S->w), rs_apply(&a->vv, S->v));
#ifdef BODY_DOUBLE
    if (s->exact) {
        n = rv_add(n, rv_add(rm_apply(&a->G, S->w), rv_cross(S->v, a->F)));
    }
#endif
    scalar Delta = rv_dot(S->w, n) + rv_dot(S->v, f) + shift, gamma = rv_dot(S->w, a->n) + rv_dot(S->v, a->f) + g;
    if (held != BODY_FREE) {
        a->n = rv_mad(a->n, held, n), a->f = rv_mad(a->f, held, f);
        s->model += held * scalar_fma((scalar)0.5 * Delta, held, gamma);
        body_put(m, place, rv(0, 0, 0)), body_put(m, place + 3, rv(0, 0, 0));
        AT(m, place + 6) = -held, AT(m, place + 7) = 0;
        return;
    }
    if (s->exact) {
        s->is_positive = s->is_positive && Delta > 0;
    }
    Delta = Delta > shift && Delta > 0 ? Delta : s->exact ? Delta : scalar_max(shift, REAL_EPSILON); // by rounding
    scalar inverse = scalar_inverse(Delta), w = inverse * gamma;
    rvec Wn = rv_scale(n, inverse), Wf = rv_scale(f, inverse);
    s->model -= (scalar)0.5 * gamma * w;
    rs_add_square(&a->ww, -inverse, n), rs_add_square(&a->vv, -inverse, f);
    rm_add_outer(&a->wv, -1, n, Wf);
    a->n = rv_mad(a->n, -w, n), a->f = rv_mad(a->f, -w, f);
    body_put(m, place, Wn), body_put(m, place + 3, Wf);
    AT(m, place + 6) = w, AT(m, place + 7) = Delta;
}

PZ_BOTH bool body_is_quaternion(const body_joint *joint, int i)
{
    return joint->has_quaternion && i >= joint->dofs - 3;
}

PZ_BOTH scalar body_metric(const body_task *t, int dof)
{
    return body_numbers(t)[t->dof_numbers + BODY_DOF * dof + 2];
}

// Is dof i of a joint locked, or at a bound that descent, against the gradient g, would leave?
PZ_BOTH bool body_is_held(const body_task *t, const scalar *m, const body_joint *joint, int i, scalar g)
{
    scalar lower, upper, q = AT(m, t->at.q + joint->q + i);
    body_bounds(t, m, joint->v + i, &lower, &upper);
    return body_metric(t, joint->v + i) < 0 ||
           (!body_is_quaternion(joint, i) && ((q <= lower && g >= 0) || (q >= upper && g <= 0)));
}

// ---- Edges of ellipses ---------------------------------------------------------------------------------------------------

#ifdef BODY_DOUBLE
#define BODY_AT_EDGE (1.0 - 8.0 * REAL_EPSILON)
#else
#define BODY_AT_EDGE 0.99999f
#endif

// A swing at the edge of its ellipse (solve/step.c): `normal` is 0 where the edge is not active.
typedef struct body_edge {
    scalar normal[2], curvature;
    bool holds[2]; // dofs that are held at a bound
} body_edge;

// g: gradient of both dofs. A bound does not hold where descent along the edge leads away from it.
PZ_BOTH body_edge body_find_edge(const body_task *t, const scalar *m, const body_joint *joint, scalar g0, scalar g1)
{
    const scalar *W = body_numbers(t) + t->swing_numbers + BODY_SWING * joint->swing;
    scalar g[2] = {g0, g1}, x[2], r[2];
    body_edge e = {{0, 0}, 0, {false, false}};
    bool locked[2];
    for (int i = 0; i < 2; ++i) {
        x[i] = AT(m, t->at.q + joint->q + i);
        r[i] = W[i] * x[i];
        e.holds[i] = body_is_held(t, m, joint, i, g[i]);
        locked[i] = body_metric(t, joint->v + i) < 0;
    }
    if (!(x[0] * r[0] + x[1] * r[1] >= (scalar)BODY_AT_EDGE)) {
        return e;
    }
    bool both = e.holds[0] && e.holds[1];
    for (int i = 0; i < 2 && !both; ++i) {
        int j = 1 - i;
        bool inwards = !locked[i] && g[j] * r[j] < 0 && scalar_abs(g[i] * r[j]) < scalar_abs(g[j] * r[i]);
        e.holds[i] = e.holds[i] && !inwards;
    }
    r[0] = e.holds[0] ? 0 : r[0], r[1] = e.holds[1] ? 0 : r[1];
    scalar along = g[0] * r[0] + g[1] * r[1], square = r[0] * r[0] + r[1] * r[1];
    if (along < 0 && square > 0) {
        scalar inverse = scalar_inverse(scalar_root(square));
        e.normal[0] = inverse * r[0], e.normal[1] = inverse * r[1];
        scalar kappa = -along * inverse * inverse;
        e.curvature = kappa * (W[0] * e.normal[1] * e.normal[1] + W[1] * e.normal[0] * e.normal[0]);
    }
    return e;
}

// Along the tangent (-n1, n0); the normal is held. The first dof of the pair stands for the tangent.
BODY_FN void body_eliminate_edge(const body_task *t, scalar *m, const body_joint *joint, const body_axis *S,
                                 const body_edge *e, body_solve *s, body_sums *a)
{
    scalar n0 = e->normal[0], n1 = e->normal[1];
    body_axis tangent = {rv_mad(rv_scale(S[0].w, -n1), n0, S[1].w), rv_mad(rv_scale(S[0].v, -n1), n0, S[1].v)};
    scalar D = body_metric(t, joint->v) * n1 * n1 + body_metric(t, joint->v + 1) * n0 * n0;
    int place = t->at.solved + BODY_SOLVED * joint->v, dof = joint->v;
    scalar pull = body_pull(t, m, dof) * n1 * n1 + body_pull(t, m, dof + 1) * n0 * n0;
    scalar g = n0 * body_pulled(t, m, joint, 1) - n1 * body_pulled(t, m, joint, 0);
    bool is_corner = e->holds[0] || e->holds[1];
    body_eliminate(m, place + BODY_SOLVED, &tangent, 1, 0, 0, s, a);
    body_eliminate(m, place, &tangent, scalar_fma(s->lambda * s->scale, D, e->curvature) + pull, g,
                   is_corner ? 0 : BODY_FREE, s, a);
}

// The two dofs of a swing. True: they were taken along an active edge.
PZ_BOTH bool body_up_swing(const body_task *t, scalar *m, const body_joint *joint, rvec p, bool holds[2], body_solve *s,
                           body_sums *a)
{
    int axis = t->at.axis + 3 * joint->v, edge = t->at.edge + 2 * joint->swing;
    body_axis S[2] = {body_axis_of(body_get(m, axis), p, false), body_axis_of(body_get(m, axis + 3), p, false)};
    body_edge e = body_find_edge(t, m, joint, body_gradient(a, &S[0]) + body_pulled(t, m, joint, 0),
                                 body_gradient(a, &S[1]) + body_pulled(t, m, joint, 1));
    bool is_active = e.normal[0] != 0 || e.normal[1] != 0;
    AT(m, edge) = e.normal[0], AT(m, edge + 1) = e.normal[1];
    holds[0] = e.holds[0], holds[1] = e.holds[1];
    if (is_active) { // few are: a call, with a copy of what otherwise stays in registers
        body_sums sums = *a;
        body_solve solve = *s;
        body_eliminate_edge(t, m, joint, S, &e, &solve, &sums);
        *a = sums, *s = solve;
    }
    return is_active;
}

// ---- The sweep --------------------------------------------------------------------------------------------------------

// The step that is known of a dof, or BODY_FREE.
PZ_BOTH scalar body_known(const body_task *t, const scalar *m, int dof, bool holds)
{
#ifdef BODY_DOUBLE
    scalar held = AT(m, t->at.held + dof);
    return held != BODY_FREE ? held : holds ? 0 : BODY_FREE;
#else
    (void)t, (void)m, (void)dof;
    return holds ? 0 : BODY_FREE;
#endif
}

// Is a dof held at its limit, with gradient g? Those of a swing are where its edge holds them.
PZ_BOTH bool body_dof_is_held(const body_task *t, const scalar *m, const body_joint *joint, int i, const bool swing_holds[2],
                              scalar g)
{
    return joint->swing >= 0 && i < 2 ? swing_holds[i] : body_is_held(t, m, joint, i, g);
}

PZ_BOTH void body_up_joint(const body_task *t, scalar *m, int k, body_solve *s, body_sums *a)
{
    const body_joint *joint = &t->joints[k];
    rvec p = body_get(m, t->at.place + 3 * k);
    bool holds[2] = {false, false};
    BODY_LOOP
    for (int i = joint->dofs - 1; i >= 0; --i) {
        if (joint->swing >= 0 && i == 1 && body_up_swing(t, m, joint, p, holds, s, a)) {
            return;
        }
        int dof = joint->v + i;
        body_axis S = body_axis_of(body_get(m, t->at.axis + 3 * dof), p, i < joint->slides);
        scalar g = body_pulled(t, m, joint, i);
        bool is_held = body_dof_is_held(t, m, joint, i, holds, body_gradient(a, &S) + g);
        scalar shift = scalar_fma(s->lambda * s->scale, scalar_abs(body_metric(t, dof)), body_pull(t, m, dof));
        body_eliminate(m, t->at.solved + BODY_SOLVED * dof, &S, shift, g, body_known(t, m, dof, is_held), s, a);
    }
}

// A chain from its last joint on, and its parts of the model and of `is_positive`.
PZ_BOTH void up_chain(const body_task *t, scalar *m, int c, body_solve s)
{
    const body_chain *chain = &t->chains[c];
    body_sums a = body_sums_of_children(t, m, chain);
    s.model = 0;
    s.is_positive = true;
    BODY_LOOP
    for (int k = chain->end - 1; k >= chain->begin; --k) {
        body_add_markers(t, m, &t->joints[k], s.exact, &a);
        body_up_joint(t, m, k, &s, &a);
    }
    if (body_hangs_on_chain(t, chain)) {
        body_give_sums(m, t->at.sums + BODY_SUMS * c, &a);
    }
    AT(m, t->at.parts + BODY_PARTS * c + 2) = s.model;
    AT(m, t->at.parts + BODY_PARTS * c + 3) = s.is_positive;
}

BODY_FN void body_up(const body_task *t, scalar *restrict m, body_solve *solve)
{
    BODY_KNOWN(m);
    BODY_LOOP
    for (int level = t->level_count - 1; level >= 0; --level) {
        BODY_LOOP
        for (int c = t->levels[level] + body_lane(); c < t->levels[level + 1]; c += BODY_LANES) {
            up_chain(t, m, c, *solve);
        }
        body_meet();
    }
    solve->model = 0;
    solve->is_positive = true;
    for (int c = 0; c < t->chain_count; ++c) {
        solve->model += AT(m, t->at.parts + BODY_PARTS * c + 2);
        solve->is_positive = solve->is_positive && AT(m, t->at.parts + BODY_PARTS * c + 3) != 0;
    }
    body_meet(); // another sweep up may follow
}

#endif
