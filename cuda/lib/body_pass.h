// One pass over a body with markers, the same for every problem: no loops but over the tree. Plain C over `real`
// (body_numbers.h), for the device and the host.
//
//   forward   frames, axes S, markers x, and the cost E = 1/2 sum w |x - t|^2 at the trial
//   up        Gauss-Newton in articulated form: with A the inertia of the markers below, V the motion of the body above,
//               B = A S    Delta = S . B + lambda D    A <- A - B Delta^-1 B^T    W = Delta^-1 B    w = Delta^-1 gamma
//             dof by dof, from the leaves (R. Featherstone 1983; solve/tree/tree_step.c). Beside it the plain wrench of all
//             markers below, whose sign tells which dofs at a bound are held.
//   down      x = -(W . V + w), clamped on the way, so that what lies below makes up for it.
//
// Completing squares, the damped model of the cost at any x, clamped or not, is
//
//   m(x) = 1/2 sum Delta_k (x_k - x_k^)^2 - 1/2 sum gamma_k^2/Delta_k,       x_k^ = -(W_k . V + w_k), V as it came to be
//
// which gives the predicted decrease without another sweep. The exact Hessian changes B alone: with the wrenches f of the
// markers below,
//
//   B = A S + (sum u x f, 0),  u = w x x + v:   sum u x f = G w + v x F,   G = sum x f^T - (x . f) I
//
// A rotation vector has second derivatives of its own beside that; they vanish with the torque at the joint, that is where
// none of its three coordinates is at a bound, and are left out.
//
// Swings at an active edge of their ellipse (solve/swing_limits.c) are taken along the edge: the pair of axes is turned to
// its normal, which is held, and its tangent, whose Delta has the curvature of the edge.
#ifndef POISE_CUDA_BODY_PASS_H
#define POISE_CUDA_BODY_PASS_H

#include "body_numbers.h"
#include "body_task.h"

#include "model/packed_model.h"

#ifdef __CUDACC__
#define BODY_STRIDE 32 // lanes of a warp have their numbers side by side
#else
#define BODY_STRIDE 1
#endif

#define BODY_FREE    ((real)1e30) // body_layout.held
#define AT(m, place) (m)[(place)*BODY_STRIDE]

PZ_BOTH const real *body_numbers(const body_task *t)
{
#ifdef BODY_DOUBLE
    return t->numbers;
#else
    return t->single;
#endif
}

PZ_BOTH rvec body_get(const real *m, int place)
{
    return rv(AT(m, place), AT(m, place + 1), AT(m, place + 2));
}

PZ_BOTH void body_put(real *m, int place, rvec a)
{
    AT(m, place) = a.x, AT(m, place + 1) = a.y, AT(m, place + 2) = a.z;
}

PZ_BOTH rvec body_constant(const real *n)
{
    return rv(n[0], n[1], n[2]);
}

// The interval of dof i, of the state's own coordinates.
PZ_BOTH void body_bounds(const body_task *t, const real *m, int i, real *lower, real *upper)
{
    const real *n = body_numbers(t) + t->dof_numbers + BODY_DOF * i;
    real shift = t->is_afloat && i < 3 ? AT(m, t->at.base + 3 + i) : (real)0;
    *lower = n[0] + shift, *upper = n[1] + shift;
}

// ---- Forward -------------------------------------------------------------------------------------------------------------

typedef struct body_frame {
    rmat R;
    rvec p;
} body_frame;

PZ_BOTH body_frame body_load_frame(const real *m, int place)
{
    body_frame f = {{body_get(m, place), body_get(m, place + 3), body_get(m, place + 6)}, body_get(m, place + 9)};
    return f;
}

PZ_BOTH void body_store_frame(real *m, int place, const body_frame *f)
{
    body_put(m, place, f->R.x), body_put(m, place + 3, f->R.y), body_put(m, place + 6, f->R.z);
    body_put(m, place + 9, f->p);
}

// The frame of a joint before its motion.
PZ_BOTH void body_place(const body_task *t, const real *m, int k, body_frame *f)
{
    const body_joint *joint = &t->joints[k];
    const real *n = body_numbers(t) + BODY_JOINT * k;
    rmat C = {body_constant(n), body_constant(n + 3), body_constant(n + 6)};
    rvec shift = body_constant(n + 9);
    if (joint->from == BODY_WORLD) {
        f->R = C;
        f->p = k == 0 && t->is_afloat ? rv(0, 0, 0) : rv_add(shift, body_get(m, t->at.base));
        return;
    }
    if (joint->from >= 0) {
        *f = body_load_frame(m, t->at.frame + BODY_FRAME * joint->from);
    }
    f->p = rv_add(f->p, rm_apply(&f->R, shift));
    if (joint->has_turn) {
        f->R = rm_mul(&f->R, &C);
    }
}

// One turn: two columns change, u' = c u + s w, w' = c w - s u.
PZ_BOTH void body_turn(real angle, rvec *u, rvec *w)
{
    real s, c;
    real_sincos(angle, &s, &c);
    rvec turned = rv_mad(rv_scale(*u, c), s, *w);
    *w = rv_mad(rv_scale(*w, c), -s, *u);
    *u = turned;
}

// A rotation vector, or a swing, whose third component is 0: axes R J_l(v) e_i.
PZ_BOTH void body_exponential(real *m, int axis, rvec v, int count, rmat *R)
{
    rmat turn, J;
    rotation_of(v, &turn, &J);
    body_put(m, axis, rm_apply(R, J.x));
    body_put(m, axis + 3, rm_apply(R, J.y));
    if (count == 3) {
        body_put(m, axis + 6, rm_apply(R, J.z));
    }
    *R = rm_mul(R, &turn);
}

// The motion of a joint: its frame after it, its axes and its origin.
PZ_BOTH void body_move(const body_task *t, real *m, int k, body_frame *f)
{
    const body_joint *joint = &t->joints[k];
    int q = t->at.trial + joint->q, axis = t->at.axis + 3 * joint->v;
    rvec slid = f->p;
    for (int s = 0; s < joint->step_count; ++s) {
        int kind = joint->steps[s];
        real value = AT(m, q);
        if (pz_step_is_slide((pz_step_kind)kind)) {
            rvec a = kind == PZ_SLIDE_X ? f->R.x : kind == PZ_SLIDE_Y ? f->R.y : f->R.z;
            body_put(m, axis, a);
            slid = rv_mad(slid, value, a);
        } else if (kind == PZ_TURN_Z) {
            body_put(m, axis, f->R.z);
            body_turn(value, &f->R.x, &f->R.y);
        } else if (kind == PZ_TURN_Y) {
            body_put(m, axis, f->R.y);
            body_turn(value, &f->R.z, &f->R.x);
        } else if (kind == PZ_TURN_X) {
            body_put(m, axis, f->R.x);
            body_turn(value, &f->R.y, &f->R.z);
        } else if (kind == PZ_QUATERNION) {
            rmat turn = quaternion_matrix(value, AT(m, q + 1), AT(m, q + 2), AT(m, q + 3));
            f->R = rm_mul(&f->R, &turn);
            body_put(m, axis, f->R.x), body_put(m, axis + 3, f->R.y), body_put(m, axis + 6, f->R.z);
        } else if (kind == PZ_EXPMAP) {
            body_exponential(m, axis, body_get(m, q), 3, &f->R);
        } else {
            body_exponential(m, axis, rv(value, AT(m, q + 1), 0), 2, &f->R);
        }
        q += pz_step_nq((pz_step_kind)kind);
        axis += 3 * pz_step_nv((pz_step_kind)kind);
    }
    f->p = slid;
    body_put(m, t->at.place + 3 * k, slid);
}

// What a look at the trial tells.
typedef struct body_look {
    real cost;
    real worst; // largest squared distance of a marker that counts from its target
} body_look;

BODY_FN body_look body_forward(const body_task *t, real *m)
{
    body_look look = {0, 0};
    body_frame f = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}};
    for (int k = 0; k < t->joint_count; ++k) {
        const body_joint *joint = &t->joints[k];
        body_place(t, m, k, &f);
        body_move(t, m, k, &f);
        if (joint->slot >= 0) {
            body_store_frame(m, t->at.frame + BODY_FRAME * joint->slot, &f);
        }
        for (int i = joint->marker_begin; i < joint->marker_end; ++i) {
            const real *n = body_numbers(t) + t->marker_numbers + BODY_MARKER * i;
            rvec x = rv_add(f.p, rm_apply(&f.R, body_constant(n))), r = rv_sub(x, body_get(m, t->at.target + 3 * i));
            real w = AT(m, t->at.weight + i), square = rv_dot(r, r);
            body_put(m, t->at.point + 3 * i, x);
            look.cost = real_fma(w, square, look.cost);
            look.worst = w > 0 ? real_max(look.worst, square) : look.worst;
            look.worst = square == square ? look.worst : square; // what is not a number is not met
        }
    }
    look.cost *= (real)0.5;
    return look;
}

// ---- Up ------------------------------------------------------------------------------------------------------------------

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

#define BODY_SUM_NUMBERS ((int)(sizeof(body_sums) / sizeof(real)))

PZ_BOTH body_sums body_no_sums(void)
{
    body_sums none;
    real *to = (real *)&none;
    FAST_UNROLL
    for (int i = 0; i < BODY_SUM_NUMBERS; ++i) {
        to[i] = 0;
    }
    return none;
}

PZ_BOTH void body_take_sums(const real *m, int place, body_sums *a)
{
    real *to = (real *)a;
    FAST_UNROLL
    for (int i = 0; i < BODY_SUM_NUMBERS; ++i) {
        to[i] += AT(m, place + i);
    }
}

PZ_BOTH void body_give_sums(real *m, int place, const body_sums *a, bool is_first)
{
    const real *from = (const real *)a;
    FAST_UNROLL
    for (int i = 0; i < BODY_SUM_NUMBERS; ++i) {
        AT(m, place + i) = is_first ? from[i] : AT(m, place + i) + from[i];
    }
}

// A marker of weight w at x, r from its target: inertia -w [x][x], w [x], w; wrench w (x x r, r).
PZ_BOTH void body_add_marker(body_sums *a, real w, rvec x, rvec r)
{
    rvec f = rv_scale(r, w), n = rv_cross(x, f), h = rv_scale(x, w);
    real xx = x.x * h.x, yy = x.y * h.y, zz = x.z * h.z;
    a->ww.xx += yy + zz, a->ww.yy += xx + zz, a->ww.zz += xx + yy;
    a->ww.xy = real_fma(-x.x, h.y, a->ww.xy), a->ww.xz = real_fma(-x.x, h.z, a->ww.xz);
    a->ww.yz = real_fma(-x.y, h.z, a->ww.yz);
    a->wv.x.y += h.z, a->wv.x.z -= h.y, a->wv.y.x -= h.z, a->wv.y.z += h.x, a->wv.z.x += h.y, a->wv.z.y -= h.x;
    a->vv.xx += w, a->vv.yy += w, a->vv.zz += w;
    a->n = rv_add(a->n, n), a->f = rv_add(a->f, f), a->N = rv_add(a->N, n), a->F = rv_add(a->F, f);
#ifdef BODY_DOUBLE
    real along = rv_dot(x, f);
    rm_add_outer(&a->G, 1, x, f);
    a->G.x.x -= along, a->G.y.y -= along, a->G.z.z -= along;
#endif
}

PZ_BOTH void body_add_markers(const body_task *t, const real *m, const body_joint *joint, body_sums *a)
{
    for (int i = joint->marker_begin; i < joint->marker_end; ++i) {
        rvec x = body_get(m, t->at.point + 3 * i);
        body_add_marker(a, AT(m, t->at.weight + i), x, rv_sub(x, body_get(m, t->at.target + 3 * i)));
    }
}

// A sweep up, and what it finds.
typedef struct body_solve {
    real lambda, scale; // of D: the mean weight of the problem
    bool exact;         // the exact Hessian
    bool is_positive;   // every pivot was
    real model;         // of the damped cost at the step without clamping, less the cost: not above 0
    int leavers;        // dofs that the sweep down clamped at a bound
    bool is_clipped;    // or at the edge of an ellipse
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

PZ_BOTH real body_gradient(const body_sums *a, const body_axis *S)
{
    return rv_dot(S->w, a->N) + rv_dot(S->v, a->F);
}

// Eliminate one dof, whose metric and curvature add to Delta; `held`: its step is known.
PZ_BOTH void body_eliminate(real *m, int place, const body_axis *S, real shift, real held, body_solve *s, body_sums *a)
{
    rvec n = rv_add(rs_apply(&a->ww, S->w), rm_apply(&a->wv, S->v));
    rvec f = rv_add(rm_apply_transposed(&a->wv, S->w), rs_apply(&a->vv, S->v));
#ifdef BODY_DOUBLE
    if (s->exact) {
        n = rv_add(n, rv_add(rm_apply(&a->G, S->w), rv_cross(S->v, a->F)));
    }
#endif
    real Delta = rv_dot(S->w, n) + rv_dot(S->v, f) + shift, gamma = rv_dot(S->w, a->n) + rv_dot(S->v, a->f);
    if (held != BODY_FREE) {
        a->n = rv_mad(a->n, held, n), a->f = rv_mad(a->f, held, f);
        s->model += held * real_fma((real)0.5 * Delta, held, gamma);
        body_put(m, place, rv(0, 0, 0)), body_put(m, place + 3, rv(0, 0, 0));
        AT(m, place + 6) = -held, AT(m, place + 7) = 0;
        return;
    }
    if (s->exact) {
        s->is_positive = s->is_positive && Delta > 0;
    }
    Delta = Delta > shift && Delta > 0 ? Delta : s->exact ? Delta : real_max(shift, REAL_EPSILON); // by rounding
    real inverse = real_inverse(Delta), w = inverse * gamma;
    rvec Wn = rv_scale(n, inverse), Wf = rv_scale(f, inverse);
    s->model -= (real)0.5 * gamma * w;
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

PZ_BOTH real body_metric(const body_task *t, int dof)
{
    return body_numbers(t)[t->dof_numbers + BODY_DOF * dof + 2];
}

// Is dof i of a joint locked, or at a bound that descent, against the gradient g, would leave?
PZ_BOTH bool body_is_held(const body_task *t, const real *m, const body_joint *joint, int i, real g)
{
    real lower, upper, q = AT(m, t->at.q + joint->q + i);
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

// A swing at the edge of its ellipse (solve/swing_limits.c): `normal` is 0 where the edge is not active.
typedef struct body_edge {
    real normal[2], curvature;
    bool holds[2]; // dofs that are held at a bound
} body_edge;

// g: gradient of both dofs. A bound does not hold where descent along the edge leads away from it.
PZ_BOTH body_edge body_find_edge(const body_task *t, const real *m, const body_joint *joint, real g0, real g1)
{
    const real *W = body_numbers(t) + t->swing_numbers + BODY_SWING * joint->swing;
    real g[2] = {g0, g1}, x[2], r[2];
    body_edge e = {{0, 0}, 0, {false, false}};
    bool locked[2];
    for (int i = 0; i < 2; ++i) {
        x[i] = AT(m, t->at.q + joint->q + i);
        r[i] = W[i] * x[i];
        e.holds[i] = body_is_held(t, m, joint, i, g[i]);
        locked[i] = body_metric(t, joint->v + i) < 0;
    }
    if (!(x[0] * r[0] + x[1] * r[1] >= (real)BODY_AT_EDGE)) {
        return e;
    }
    bool both = e.holds[0] && e.holds[1];
    for (int i = 0; i < 2 && !both; ++i) {
        int j = 1 - i;
        bool inwards = !locked[i] && g[j] * r[j] < 0 && real_abs(g[i] * r[j]) < real_abs(g[j] * r[i]);
        e.holds[i] = e.holds[i] && !inwards;
    }
    r[0] = e.holds[0] ? 0 : r[0], r[1] = e.holds[1] ? 0 : r[1];
    real along = g[0] * r[0] + g[1] * r[1], square = r[0] * r[0] + r[1] * r[1];
    if (along < 0 && square > 0) {
        real inverse = real_inverse(real_root(square));
        e.normal[0] = inverse * r[0], e.normal[1] = inverse * r[1];
        real kappa = -along * inverse * inverse;
        e.curvature = kappa * (W[0] * e.normal[1] * e.normal[1] + W[1] * e.normal[0] * e.normal[0]);
    }
    return e;
}

// Along the tangent (-n1, n0); the normal is held. The first dof of the pair stands for the tangent.
PZ_BOTH void body_eliminate_edge(const body_task *t, real *m, const body_joint *joint, const body_axis *S,
                                 const body_edge *e, body_solve *s, body_sums *a)
{
    real n0 = e->normal[0], n1 = e->normal[1];
    body_axis tangent = {rv_mad(rv_scale(S[0].w, -n1), n0, S[1].w), rv_mad(rv_scale(S[0].v, -n1), n0, S[1].v)};
    real D = body_metric(t, joint->v) * n1 * n1 + body_metric(t, joint->v + 1) * n0 * n0;
    int place = t->at.solved + BODY_SOLVED * joint->v;
    bool is_corner = e->holds[0] || e->holds[1];
    body_eliminate(m, place + BODY_SOLVED, &tangent, 1, 0, s, a);
    body_eliminate(m, place, &tangent, real_fma(s->lambda * s->scale, D, e->curvature), is_corner ? 0 : BODY_FREE, s, a);
}

// The two dofs of a swing. True: they were taken along an active edge.
PZ_BOTH bool body_up_swing(const body_task *t, real *m, const body_joint *joint, rvec p, bool holds[2], body_solve *s,
                           body_sums *a)
{
    int axis = t->at.axis + 3 * joint->v, edge = t->at.edge + 2 * joint->swing;
    body_axis S[2] = {body_axis_of(body_get(m, axis), p, false), body_axis_of(body_get(m, axis + 3), p, false)};
    body_edge e = body_find_edge(t, m, joint, body_gradient(a, &S[0]), body_gradient(a, &S[1]));
    bool is_active = e.normal[0] != 0 || e.normal[1] != 0;
    AT(m, edge) = e.normal[0], AT(m, edge + 1) = e.normal[1];
    holds[0] = e.holds[0], holds[1] = e.holds[1];
    if (is_active) {
        body_eliminate_edge(t, m, joint, S, &e, s, a);
    }
    return is_active;
}

// ---- Up, continued -------------------------------------------------------------------------------------------------------

// The step that is known of a dof, or BODY_FREE.
PZ_BOTH real body_known(const body_task *t, const real *m, int dof, bool holds)
{
#ifdef BODY_DOUBLE
    real held = AT(m, t->at.held + dof);
    return held != BODY_FREE ? held : holds ? 0 : BODY_FREE;
#else
    (void)t, (void)m, (void)dof;
    return holds ? 0 : BODY_FREE;
#endif
}

PZ_BOTH void body_up_joint(const body_task *t, real *m, int k, body_solve *s, body_sums *a)
{
    const body_joint *joint = &t->joints[k];
    rvec p = body_get(m, t->at.place + 3 * k);
    bool holds[2] = {false, false};
    for (int i = joint->dofs - 1; i >= 0; --i) {
        if (joint->swing >= 0 && i == 1 && body_up_swing(t, m, joint, p, holds, s, a)) {
            return;
        }
        int dof = joint->v + i;
        body_axis S = body_axis_of(body_get(m, t->at.axis + 3 * dof), p, i < joint->slides);
        bool is_swing = joint->swing >= 0 && i < 2;
        bool is_held = is_swing ? holds[i] : body_is_held(t, m, joint, i, body_gradient(a, &S));
        real shift = s->lambda * s->scale * real_abs(body_metric(t, dof));
        body_eliminate(m, t->at.solved + BODY_SOLVED * dof, &S, shift, body_known(t, m, dof, is_held), s, a);
    }
}

BODY_FN void body_up(const body_task *t, real *m, body_solve *s)
{
    body_sums a = body_no_sums();
    s->model = 0;
    s->is_positive = true;
    for (int k = t->joint_count - 1; k >= 0; --k) {
        const body_joint *joint = &t->joints[k];
        if (!joint->has_child || joint->has_several) {
            a = body_no_sums();
        }
        if (joint->has_several) {
            body_take_sums(m, t->at.sums + BODY_SUMS * joint->slot, &a);
        }
        body_add_markers(t, m, joint, &a);
        body_up_joint(t, m, k, s, &a);
        if (joint->from >= 0) {
            body_give_sums(m, t->at.sums + BODY_SUMS * joint->from, &a, joint->is_last_child);
        }
    }
}

// ---- Down ----------------------------------------------------------------------------------------------------------------

PZ_BOTH real body_free_step(const real *m, int place, const body_axis *V)
{
    return -(rv_dot(body_get(m, place), V->w) + rv_dot(body_get(m, place + 3), V->v) + AT(m, place + 6));
}

PZ_BOTH void body_advance(body_axis *V, real x, const body_axis *S)
{
    V->w = rv_mad(V->w, x, S->w), V->v = rv_mad(V->v, x, S->v);
}

// What clamping by `off` adds to the model.
PZ_BOTH void body_add_loss(const real *m, int place, real off, body_solve *s)
{
    s->model = real_fma((real)0.5 * AT(m, place + 7) * off, off, s->model);
}

// A dof within its interval; what leaves it is held at the bound in the next solve.
PZ_BOTH real body_clamp_step(const body_task *t, real *m, const body_joint *joint, int i, real x, body_solve *s)
{
    if (body_is_quaternion(joint, i)) {
        return x;
    }
    real lower, upper, q = AT(m, t->at.q + joint->q + i);
    body_bounds(t, m, joint->v + i, &lower, &upper);
    real inside = real_clamp(x, lower - q, upper - q);
    if (inside != x) {
        s->leavers += 1;
#ifdef BODY_DOUBLE
        AT(m, t->at.held + joint->v + i) = inside;
#endif
    }
    return inside;
}

// Where the way from y to y + x leaves the ellipse, it ends at the edge, on the ray to the centre. True: it does.
PZ_BOTH bool body_clip(const real *W, const real *y, real *x)
{
    real a = y[0] + x[0], b = y[1] + x[1], excess = a * a * W[0] + b * b * W[1];
    if (!(excess > 1)) {
        return false;
    }
    real inverse = real_inverse(real_root(excess));
    x[0] = inverse * a - y[0], x[1] = inverse * b - y[1];
    return true;
}

// Both dofs of a swing: along the edge, or clipped at it.
PZ_BOTH void body_down_swing(const body_task *t, real *m, const body_joint *joint, const body_axis *S, body_axis *V,
                             real x[2], body_solve *s)
{
    const real *W = body_numbers(t) + t->swing_numbers + BODY_SWING * joint->swing;
    int place = t->at.solved + BODY_SOLVED * joint->v, edge = t->at.edge + 2 * joint->swing;
    real n0 = AT(m, edge), n1 = AT(m, edge + 1), y[2] = {AT(m, t->at.q + joint->q), AT(m, t->at.q + joint->q + 1)};
    real first = body_free_step(m, place, V);
    if (n0 != 0 || n1 != 0) {
        x[0] = -n1 * first, x[1] = n0 * first;
        for (int i = 0; i < 2; ++i) { // the tangent leaves a bound
            real inside = body_clamp_step(t, m, joint, i, x[i], s);
            s->is_clipped = s->is_clipped || inside != x[i];
#ifdef BODY_DOUBLE
            AT(m, t->at.held + joint->v + i) = BODY_FREE;
#endif
            x[i] = inside;
        }
        body_advance(V, x[0], &S[0]), body_advance(V, x[1], &S[1]);
        return;
    }
    body_axis after = *V;
    body_advance(&after, first, &S[0]);
    x[0] = body_clamp_step(t, m, joint, 0, first, s);
    x[1] = body_clamp_step(t, m, joint, 1, body_free_step(m, place + BODY_SOLVED, &after), s);
    s->is_clipped = body_clip(W, y, x) || s->is_clipped;
    body_add_loss(m, place, x[0] - first, s);
    body_advance(V, x[0], &S[0]);
    body_add_loss(m, place + BODY_SOLVED, x[1] - body_free_step(m, place + BODY_SOLVED, V), s);
    body_advance(V, x[1], &S[1]);
}

PZ_BOTH void body_down_joint(const body_task *t, real *m, int k, body_axis *V, body_solve *s, real *damped)
{
    const body_joint *joint = &t->joints[k];
    rvec p = body_get(m, t->at.place + 3 * k);
    int i = 0;
    if (joint->swing >= 0) {
        int axis = t->at.axis + 3 * joint->v;
        body_axis S[2] = {body_axis_of(body_get(m, axis), p, false), body_axis_of(body_get(m, axis + 3), p, false)};
        real x[2];
        body_down_swing(t, m, joint, S, V, x, s);
        for (; i < 2; ++i) {
            AT(m, t->at.step + joint->v + i) = x[i];
            *damped = real_fma(real_abs(body_metric(t, joint->v + i)) * x[i], x[i], *damped);
        }
    }
    for (; i < joint->dofs; ++i) {
        int dof = joint->v + i, place = t->at.solved + BODY_SOLVED * dof;
        body_axis S = body_axis_of(body_get(m, t->at.axis + 3 * dof), p, i < joint->slides);
        real free = body_free_step(m, place, V), x = body_clamp_step(t, m, joint, i, free, s);
        if (x != free) {
            body_add_loss(m, place, x - free, s);
        }
        AT(m, t->at.step + dof) = x;
        *damped = real_fma(real_abs(body_metric(t, dof)) * x, x, *damped);
        body_advance(V, x, &S);
    }
}

// The step. Returns the decrease of the cost that the model without damping predicts.
BODY_FN real body_down(const body_task *t, real *m, body_solve *s)
{
    body_axis V = {{0, 0, 0}, {0, 0, 0}};
    real damped = 0;
    s->leavers = 0;
    s->is_clipped = false;
    for (int k = 0; k < t->joint_count; ++k) {
        const body_joint *joint = &t->joints[k];
        int place = t->at.velocity + BODY_VELOCITY * joint->from;
        if (joint->from == BODY_WORLD) {
            V.w = V.v = rv(0, 0, 0);
        } else if (joint->from >= 0) {
            V.w = body_get(m, place), V.v = body_get(m, place + 3);
        }
        body_down_joint(t, m, k, &V, s, &damped);
        if (joint->slot >= 0) {
            place = t->at.velocity + BODY_VELOCITY * joint->slot;
            body_put(m, place, V.w), body_put(m, place + 3, V.v);
        }
    }
    return real_fma((real)0.5 * s->lambda * s->scale, damped, -s->model);
}

// ---- Steps ---------------------------------------------------------------------------------------------------------------

// q exp(x), after which it has length 1.
PZ_BOTH void body_turn_quaternion(real *m, int q, int to, rvec x)
{
    real square = rv_dot(x, x), half = (real)0.5 * real_root(square), s, w;
    real_sincos(half, &s, &w);
    rvec u = rv_scale(x, half > 0 ? (real)0.5 * (s / half) : (real)0.5), a = body_get(m, q);
    real aw = AT(m, q + 3);
    rvec v = rv_mad(rv_mad(rv_cross(a, u), aw, u), w, a);
    real vw = real_fma(aw, w, -rv_dot(a, u));
    real inverse = real_inverse(real_root(real_fma(vw, vw, rv_dot(v, v))));
    body_put(m, to, rv_scale(v, inverse));
    AT(m, to + 3) = inverse * vw;
}

// A swing into its ellipse, along the ray to the centre.
PZ_BOTH void body_keep_swing(const body_task *t, real *m, const body_joint *joint, int q)
{
    const real *W = body_numbers(t) + t->swing_numbers + BODY_SWING * joint->swing;
    real a = AT(m, q), b = AT(m, q + 1), excess = a * a * W[0] + b * b * W[1];
    if (excess > 1) {
        real inverse = real_inverse(real_root(excess));
        AT(m, q) = inverse * a, AT(m, q + 1) = inverse * b;
    }
}

// v <- (1 - 2 pi n/|v|) v, the same rotation, of a vector of two or three numbers that is longer than half a turn.
PZ_BOTH void body_shorten_turn(real *m, int q, int count)
{
    rvec v = rv(AT(m, q), AT(m, q + 1), count == 3 ? AT(m, q + 2) : (real)0);
    real length = real_root(rv_dot(v, v));
    if (length > (real)3.141592653589793) {
        real turns = (real)(int)(length * (real)0.15915494309189535 + (real)0.5);
        real factor = 1 - turns * (real)6.283185307179586 / length;
        for (int i = 0; i < count; ++i) {
            AT(m, q + i) *= factor;
        }
    }
}

// trial = the current point and `share` of the step, within the limits. Rotation vectors without limits stay short: their
// axes lose rank at a whole turn.
BODY_FN void body_propose(const body_task *t, real *m, real share)
{
    for (int k = 0; k < t->joint_count; ++k) {
        const body_joint *joint = &t->joints[k];
        int q = t->at.q + joint->q, to = t->at.trial + joint->q, x = t->at.step + joint->v;
        int plain = joint->dofs - (joint->has_quaternion ? 3 : 0);
        for (int i = 0; i < plain; ++i) {
            real lower, upper;
            body_bounds(t, m, joint->v + i, &lower, &upper);
            bool is_locked = body_metric(t, joint->v + i) < 0;
            real from = AT(m, q + i), next = is_locked ? from : real_fma(share, AT(m, x + i), from);
            real near = REAL_EPSILON * (real_abs(from) + 1); // the way to a bound has left only its rounding
            next = real_abs(next - lower) <= near ? lower : real_abs(next - upper) <= near ? upper : next;
            AT(m, to + i) = is_locked ? from : real_clamp(next, lower, upper);
        }
        if (joint->has_quaternion) {
            rvec turn = body_metric(t, joint->v + plain) < 0 ? rv(0, 0, 0) : rv_scale(body_get(m, x + plain), share);
            body_turn_quaternion(m, q + plain, to + plain, turn);
        }
        if (joint->swing >= 0) {
            body_keep_swing(t, m, joint, to);
        }
        if (joint->shortens) {
            body_shorten_turn(m, to + joint->slides, joint->shortens);
        }
    }
}

// The trial becomes the current point.
BODY_FN void body_accept(const body_task *t, real *m)
{
    for (int i = 0; i < t->nq; ++i) {
        AT(m, t->at.q + i) = AT(m, t->at.trial + i);
    }
}

#endif
