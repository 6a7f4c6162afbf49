// The last part of a pass (body_pass.h): the step from the root to the leaves, clamped on the way, and where it leads.
#ifndef POISE_CUDA_BODY_DOWN_H
#define POISE_CUDA_BODY_DOWN_H

#include "body_up.h"

PZ_BOTH scalar body_free_step(const scalar *m, int place, const body_axis *V)
{
    return -(rv_dot(body_get(m, place), V->w) + rv_dot(body_get(m, place + 3), V->v) + AT(m, place + 6));
}

// What the sweep down reads of a dof. A thread alone reads it one dof ahead: its memory takes longer than the step of a
// dof, and that of a team does not.
typedef struct body_ready {
    rvec n, f, axis;
    scalar w;
} body_ready;

PZ_BOTH body_ready body_read_dof(const body_task *t, const scalar *m, int dof)
{
    int place = t->at.solved + BODY_SOLVED * dof;
    body_ready ready = {body_get(m, place), body_get(m, place + 3), body_get(m, t->at.axis + 3 * dof), AT(m, place + 6)};
    return ready;
}

PZ_BOTH body_ready body_take_dof(const body_task *t, const scalar *m, int dof, int next, body_ready *ready)
{
#ifdef BODY_TEAM
    (void)next, (void)ready;
    return body_read_dof(t, m, dof);
#else
    body_ready now = *ready;
    (void)dof;
    *ready = body_read_dof(t, m, next);
    return now;
#endif
}

PZ_BOTH void body_advance(body_axis *V, scalar x, const body_axis *S)
{
    V->w = rv_mad(V->w, x, S->w), V->v = rv_mad(V->v, x, S->v);
}

// What clamping by `off` adds to the model.
PZ_BOTH void body_add_loss(const scalar *m, int place, scalar off, body_solve *s)
{
    s->model = scalar_fma((scalar)0.5 * AT(m, place + 7) * off, off, s->model);
}

// A dof within its interval; what leaves it is held at the bound in the next solve.
PZ_BOTH scalar body_clamp_step(const body_task *t, scalar *m, const body_joint *joint, int i, scalar x, body_solve *s)
{
    if (body_is_quaternion(joint, i)) {
        return x;
    }
    scalar lower, upper, q = AT(m, t->at.q + joint->q + i);
    body_bounds(t, m, joint->v + i, &lower, &upper);
    scalar inside = scalar_clamp(x, lower - q, upper - q);
    if (inside != x) {
        s->leavers += 1;
#ifdef BODY_DOUBLE
        AT(m, t->at.held + joint->v + i) = inside;
#endif
    }
    return inside;
}

// Where the way from y to y + x leaves the ellipse, it ends at the edge, on the ray to the centre. True: it does.
PZ_BOTH bool body_clip(const scalar *W, const scalar *y, scalar *x)
{
    scalar a = y[0] + x[0], b = y[1] + x[1], excess = a * a * W[0] + b * b * W[1];
    if (!(excess > 1)) {
        return false;
    }
    scalar inverse = scalar_inverse(scalar_root(excess));
    x[0] = inverse * a - y[0], x[1] = inverse * b - y[1];
    return true;
}

// Both dofs of a swing: along the edge, or clipped at it.
PZ_BOTH void body_down_swing(const body_task *t, scalar *m, const body_joint *joint, const body_axis *S, body_axis *V,
                             scalar x[2], body_solve *s)
{
    const scalar *W = body_numbers(t) + t->swing_numbers + BODY_SWING * joint->swing;
    int place = t->at.solved + BODY_SOLVED * joint->v, edge = t->at.edge + 2 * joint->swing;
    scalar n0 = AT(m, edge), n1 = AT(m, edge + 1), y[2] = {AT(m, t->at.q + joint->q), AT(m, t->at.q + joint->q + 1)};
    scalar first = body_free_step(m, place, V);
    if (n0 != 0 || n1 != 0) {
        x[0] = -n1 * first, x[1] = n0 * first;
        for (int i = 0; i < 2; ++i) { // the tangent leaves a bound
            scalar inside = body_clamp_step(t, m, joint, i, x[i], s);
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

// `ready` is the first dof of the joint, and then dof `after`.
PZ_BOTH void body_down_joint(const body_task *t, scalar *m, int k, int after, body_ready *ready, body_axis *V, body_solve *s,
                             scalar *damped)
{
    const body_joint *joint = &t->joints[k];
    rvec p = body_get(m, t->at.place + 3 * k);
    int i = 0;
    if (joint->swing >= 0) {
        int axis = t->at.axis + 3 * joint->v;
        body_axis S[2] = {body_axis_of(body_get(m, axis), p, false), body_axis_of(body_get(m, axis + 3), p, false)};
        scalar x[2];
        body_down_swing(t, m, joint, S, V, x, s);
        for (; i < 2; ++i) {
            AT(m, t->at.step + joint->v + i) = x[i];
            *damped = scalar_fma(scalar_abs(body_metric(t, joint->v + i)) * x[i], x[i], *damped);
        }
    }
    if (i > 0 || joint->dofs == 0) {
        *ready = body_read_dof(t, m, i < joint->dofs ? joint->v + i : after);
    }
    BODY_LOOP
    for (; i < joint->dofs; ++i) {
        int dof = joint->v + i;
        body_ready now = body_take_dof(t, m, dof, i + 1 < joint->dofs ? dof + 1 : after, ready);
        body_axis S = body_axis_of(now.axis, p, i < joint->slides);
        scalar free = -(rv_dot(now.n, V->w) + rv_dot(now.f, V->v) + now.w);
        scalar x = body_clamp_step(t, m, joint, i, free, s);
        if (x != free) {
            body_add_loss(m, t->at.solved + BODY_SOLVED * dof, x - free, s);
        }
        AT(m, t->at.step + dof) = x;
        *damped = scalar_fma(scalar_abs(body_metric(t, dof)) * x, x, *damped);
        body_advance(V, x, &S);
    }
}

// A chain from its first joint on, and its parts of what the sweep finds.
PZ_BOTH void down_chain(const body_task *t, scalar *m, int c, body_solve s)
{
    const body_chain *chain = &t->chains[c];
    int above = t->joints[chain->begin].from, slot = t->joints[chain->end - 1].slot, parts = t->at.parts + BODY_PARTS * c;
    body_axis V = {{0, 0, 0}, {0, 0, 0}};
    scalar damped = 0;
    s.leavers = 0;
    s.is_clipped = false;
    s.model = 0;
    if (above >= 0) {
        int place = t->at.velocity + BODY_VELOCITY * above;
        V.w = body_get(m, place), V.v = body_get(m, place + 3);
    }
    body_ready ready = body_read_dof(t, m, t->joints[chain->begin].v);
    BODY_LOOP
    for (int k = chain->begin; k < chain->end; ++k) {
        int after = t->joints[k + 1 < chain->end ? k + 1 : k].v; // the last one reads its own again
        body_down_joint(t, m, k, after, &ready, &V, &s, &damped);
    }
    if (slot >= 0) {
        int place = t->at.velocity + BODY_VELOCITY * slot;
        body_put(m, place, V.w), body_put(m, place + 3, V.v);
    }
    AT(m, parts + 4) = s.model, AT(m, parts + 5) = damped;
    AT(m, parts + 6) = (scalar)s.leavers, AT(m, parts + 7) = s.is_clipped;
}

// The step. Returns the decrease of the cost that the model without damping predicts.
BODY_FN scalar body_down(const body_task *t, scalar *restrict m, body_solve *s)
{
    BODY_KNOWN(m);
    BODY_LOOP
    for (int level = 0; level < t->level_count; ++level) {
        BODY_LOOP
        for (int c = t->levels[level] + body_lane(); c < t->levels[level + 1]; c += BODY_LANES) {
            down_chain(t, m, c, *s);
        }
        body_meet();
    }
    scalar damped = 0;
    s->leavers = 0;
    s->is_clipped = false;
    for (int c = 0; c < t->chain_count; ++c) {
        int parts = t->at.parts + BODY_PARTS * c;
        s->model += AT(m, parts + 4), damped += AT(m, parts + 5);
        s->leavers += (int)AT(m, parts + 6), s->is_clipped = s->is_clipped || AT(m, parts + 7) != 0;
    }
    return scalar_fma((scalar)0.5 * s->lambda * s->scale, damped, -s->model);
}

// ---- Steps ---------------------------------------------------------------------------------------------------------------

// q exp(x), after which it has length 1.
PZ_BOTH void body_turn_quaternion(scalar *m, int q, int to, rvec x)
{
    scalar square = rv_dot(x, x), half = (scalar)0.5 * scalar_root(square), s, w;
    scalar_sincos(half, &s, &w);
    rvec u = rv_scale(x, half > 0 ? (scalar)0.5 * (s / half) : (scalar)0.5), a = body_get(m, q);
    scalar aw = AT(m, q + 3);
    rvec v = rv_mad(rv_mad(rv_cross(a, u), aw, u), w, a);
    scalar vw = scalar_fma(aw, w, -rv_dot(a, u));
    scalar inverse = scalar_inverse(scalar_root(scalar_fma(vw, vw, rv_dot(v, v))));
    body_put(m, to, rv_scale(v, inverse));
    AT(m, to + 3) = inverse * vw;
}

// A swing into its ellipse, along the ray to the centre.
PZ_BOTH void body_keep_swing(const body_task *t, scalar *m, const body_joint *joint, int q)
{
    const scalar *W = body_numbers(t) + t->swing_numbers + BODY_SWING * joint->swing;
    scalar a = AT(m, q), b = AT(m, q + 1), excess = a * a * W[0] + b * b * W[1];
    if (excess > 1) {
        scalar inverse = scalar_inverse(scalar_root(excess));
        AT(m, q) = inverse * a, AT(m, q + 1) = inverse * b;
    }
}

// v <- (1 - 2 pi n/|v|) v, the same rotation, of a vector of two or three numbers that is longer than half a turn.
PZ_BOTH void body_shorten_turn(scalar *m, int q, int count)
{
    rvec v = rv(AT(m, q), AT(m, q + 1), count == 3 ? AT(m, q + 2) : (scalar)0);
    scalar length = scalar_root(rv_dot(v, v));
    if (length > (scalar)3.141592653589793) {
        scalar turns = (scalar)(int)(length * (scalar)0.15915494309189535 + (scalar)0.5);
        scalar factor = 1 - turns * (scalar)6.283185307179586 / length;
        BODY_LOOP
        for (int i = 0; i < count; ++i) {
            AT(m, q + i) *= factor;
        }
    }
}

// trial = the current point and `share` of the step, within the limits. Rotation vectors without limits stay short: their
// axes lose rank at a whole turn.
BODY_FN void body_propose(const body_task *t, scalar *restrict m, scalar share)
{
    BODY_KNOWN(m);
    BODY_LOOP
    for (int k = body_lane(); k < t->joint_count; k += BODY_LANES) {
        const body_joint *joint = &t->joints[k];
        int q = t->at.q + joint->q, to = t->at.trial + joint->q, x = t->at.step + joint->v;
        int plain = joint->dofs - (joint->has_quaternion ? 3 : 0);
        BODY_LOOP
        for (int i = 0; i < plain; ++i) {
            scalar lower, upper;
            body_bounds(t, m, joint->v + i, &lower, &upper);
            bool is_locked = body_metric(t, joint->v + i) < 0;
            scalar from = AT(m, q + i), next = is_locked ? from : scalar_fma(share, AT(m, x + i), from);
            scalar near = REAL_EPSILON * (scalar_abs(from) + 1); // the way to a bound has left only its rounding
            next = scalar_abs(next - lower) <= near ? lower : scalar_abs(next - upper) <= near ? upper : next;
            AT(m, to + i) = is_locked ? from : scalar_clamp(next, lower, upper);
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
    body_meet();
}

// The trial becomes the current point.
BODY_FN void body_accept(const body_task *t, scalar *restrict m)
{
    BODY_KNOWN(m);
    BODY_LOOP
    for (int i = body_lane(); i < t->nq; i += BODY_LANES) {
        AT(m, t->at.q + i) = AT(m, t->at.trial + i);
    }
    body_meet();
}

#endif
