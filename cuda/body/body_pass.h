// One pass over a body with markers, the same for every problem: no loops but over the tree. Plain C over `scalar`
// (lib/fused_numbers.h), for the device and the host.
//
//   forward   frames, axes S, markers x, and the cost E = 1/2 sum w |x - t|^2 at the trial
//   up        Gauss-Newton in articulated form: with A the inertia of the markers below, V the motion of the body above,
//               B = A S    Delta = S . B + lambda D    A <- A - B Delta^-1 B^T    W = Delta^-1 B    w = Delta^-1 gamma
//             dof by dof, from the leaves (R. Featherstone 1983; solve/tree_step.c). Beside it the plain wrench of all
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
// Swings at an active edge of their ellipse (solve/step.c) are taken along the edge: the pair of axes is turned to
// its normal, which is held, and its tangent, whose Delta has the curvature of the edge.
#ifndef POISE_CUDA_BODY_PASS_H
#define POISE_CUDA_BODY_PASS_H

#include "body_state.h"

// ---- Pulls ---------------------------------------------------------------------------------------------------------------

// What pulls on the coordinates themselves, in clips: POSTURE, to a pose that is given, and SMOOTHNESS, to the last frame.
//
//   1/2 a (q - n)^2 + 1/2 b (q - l)^2 = 1/2 (a + b) (q - h)^2 + 1/2 a b/(a + b) (n - l)^2,    h = (a n + b l)/(a + b)
//
// so that both are one pull on each dof, to `home`, and a least cost. A quaternion is pulled by 2 vec(conj(h) q), with the
// weight of its first dof, as goal/posture.c has it; by one of both alone.

#ifdef BODY_DOUBLE

// 2 vec(conj(h) q) and the scalar part, of quaternions in the state.
PZ_INLINE rvec body_turned(const scalar *m, int h, int q, scalar *w)
{
    rvec a = body_load(m, h), b = body_load(m, q);
    scalar aw = AT(m, h + 3), bw = AT(m, q + 3);
    rvec u = rv_sub(rv_sub(rv_scale(b, aw), rv_scale(a, bw)), rv_cross(a, b));
    *w = scalar_fma(aw, bw, rv_dot(a, b));
    return *w < 0 ? rv_scale(u, -2) : rv_scale(u, 2);
}

// Twice the cost of a joint's pulls at the coordinates from `q` on.
PZ_INLINE scalar body_pull_cost(const body_task *t, const scalar *m, const body_joint *joint, int q)
{
    int plain = joint->dofs - 3 * joint->has_quaternion, at = joint->q + plain;
    scalar sum = 0, w;
    BODY_LOOP
    for (int i = 0; i < plain; ++i) {
        scalar off = AT(m, q + joint->q + i) - AT(m, t->at.home + joint->q + i);
        sum = scalar_fma(AT(m, t->at.pull + joint->v + i) * off, off, sum);
    }
    if (joint->has_quaternion) {
        rvec u = body_turned(m, t->at.home + at, q + at, &w);
        sum = scalar_fma(AT(m, t->at.pull + joint->v + plain), rv_dot(u, u), sum);
    }
    return sum;
}

// The gradient of the pull on dof i of a joint at the current point.
PZ_INLINE scalar body_pull_gradient(const body_task *t, const scalar *m, const body_joint *joint, int i)
{
    int plain = joint->dofs - 3 * joint->has_quaternion, at = joint->q + plain;
    scalar pull = AT(m, t->at.pull + joint->v + i), w;
    if (i < plain) {
        return pull * (AT(m, t->at.q + joint->q + i) - AT(m, t->at.home + joint->q + i));
    }
    rvec u = body_turned(m, t->at.home + at, t->at.q + at, &w);
    return pull * scalar_abs(w) * (i == plain ? u.x : i == plain + 1 ? u.y : u.z);
}

// Both pulls of a problem that begins at q, into the state, as one. `steady` is the weight of the last frame.
PZ_INLINE void body_set_pulls(const body_task *t, scalar *m, const double *q, double steady)
{
    BODY_LOOP
    for (int k = body_lane(); k < t->joint_count; k += BODY_LANES) {
        const body_joint *joint = &t->joints[k];
        int plain = joint->dofs - 3 * joint->has_quaternion, at = joint->q + plain;
        scalar least = 0;
        BODY_LOOP
        for (int i = 0; i < joint->dofs; ++i) {
            int dof = joint->v + (i < plain ? i : plain);
            double a = t->rest_pull[dof], b = steady * t->steady_pull[dof];
            AT(m, t->at.pull + joint->v + i) = a + b;
            if (i < plain) {
                double n = t->rest[joint->q + i], l = q[joint->q + i], off = n - l;
                double shift = t->is_afloat && joint->q + i < 3 ? AT(m, t->at.base + 3 + joint->q + i) : 0.0;
                AT(m, t->at.home + joint->q + i) = (a + b > 0 ? (a * n + b * l) / (a + b) : l) + shift;
                least += a > 0 && b > 0 ? a * b / (a + b) * off * off : 0.0;
            }
        }
        double a = t->rest_pull[joint->v + (plain < joint->dofs ? plain : 0)];
        BODY_LOOP
        for (int i = 0; joint->has_quaternion && i < 4; ++i) { // the posture, or the last frame
            AT(m, t->at.home + at + i) = a > 0 ? t->rest[at + i] : q[at + i];
        }
        AT(m, t->at.parts + k) = least;
    }
    body_sync();
    if (body_lane() == 0) {
        scalar least = 0;
        for (int k = 0; k < t->joint_count; ++k) {
            least += AT(m, t->at.parts + k);
        }
        AT(m, t->at.pull + t->nv) = least;
    }
    body_sync();
}

#endif

// The weight of what pulls on a dof, and its gradient; nothing pulls in the search.
PZ_INLINE scalar body_pull(const body_task *t, const scalar *m, int dof)
{
#ifdef BODY_DOUBLE
    return t->has_pulls ? AT(m, t->at.pull + dof) : (scalar)0;
#else
    (void)t, (void)m, (void)dof;
    return 0;
#endif
}

PZ_INLINE scalar body_pulled(const body_task *t, const scalar *m, const body_joint *joint, int i)
{
#ifdef BODY_DOUBLE
    return t->has_pulls ? body_pull_gradient(t, m, joint, i) : (scalar)0;
#else
    (void)t, (void)m, (void)joint, (void)i;
    return 0;
#endif
}

// ---- Forward -------------------------------------------------------------------------------------------------------------

// Frames, axes, markers and the cost at the trial.

typedef struct body_frame {
    rmat R;
    rvec p;
} body_frame;

PZ_INLINE body_frame body_load_frame(const scalar *m, int place)
{
    body_frame f = {{body_load(m, place), body_load(m, place + 3), body_load(m, place + 6)}, body_load(m, place + 9)};
    return f;
}

PZ_INLINE void body_store_frame(scalar *m, int place, const body_frame *f)
{
    body_store(m, place, f->R.x), body_store(m, place + 3, f->R.y), body_store(m, place + 6, f->R.z);
    body_store(m, place + 9, f->p);
}

// The frame of a joint before its motion.
PZ_INLINE void body_place(const body_task *t, const scalar *m, int k, body_frame *f)
{
    const body_joint *joint = &t->joints[k];
    const scalar *n = body_numbers(t) + BODY_JOINT * k;
    rmat C = {body_constant(n), body_constant(n + 3), body_constant(n + 6)};
    rvec shift = body_constant(n + 9);
    if (joint->from == BODY_WORLD) {
        f->R = C;
        f->p = k == 0 && t->is_afloat ? rv(0, 0, 0) : rv_add(shift, body_load(m, t->at.base));
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
PZ_INLINE void body_turn(scalar angle, rvec *u, rvec *w)
{
    scalar s, c;
    scalar_sincos(angle, &s, &c);
    rvec turned = rv_mad(rv_scale(*u, c), s, *w);
    *w = rv_mad(rv_scale(*w, c), -s, *u);
    *u = turned;
}

// A turn about a column of R, one of three kinds. Threads of a team have joints of their own, and meet in one turn of chosen
// columns; threads alone are at the same joint, and none of them waits for another kind.
PZ_INLINE void body_turn_about(int kind, scalar angle, rmat *R)
{
#ifdef BODY_TEAM
    bool is_z = kind == PZ_TURN_Z, is_y = kind == PZ_TURN_Y;
    rvec u = is_z ? R->x : is_y ? R->z : R->y, w = is_z ? R->y : is_y ? R->x : R->z;
    body_turn(angle, &u, &w);
    R->x = is_z ? u : is_y ? w : R->x;
    R->y = is_z ? w : is_y ? R->y : u;
    R->z = is_z ? R->z : is_y ? u : w;
#else
    if (kind == PZ_TURN_Z) {
        body_turn(angle, &R->x, &R->y);
    } else if (kind == PZ_TURN_Y) {
        body_turn(angle, &R->z, &R->x);
    } else {
        body_turn(angle, &R->y, &R->z);
    }
#endif
}

// A rotation vector, or a swing, whose third component is 0: axes R J_l(v) e_i.
PZ_INLINE void body_exponential(scalar *m, int axis, rvec v, int count, rmat *R)
{
    rmat turn, J;
    rotation_of(v, &turn, &J);
    body_store(m, axis, rm_apply(R, J.x));
    body_store(m, axis + 3, rm_apply(R, J.y));
    if (count == 3) {
        body_store(m, axis + 6, rm_apply(R, J.z));
    }
    *R = rm_mul(R, &turn);
}

// The motion of a joint: its frame after it, its axes and its origin.
PZ_INLINE void body_move(const body_task *t, scalar *m, int k, body_frame *f)
{
    const body_joint *joint = &t->joints[k];
    int q = t->at.trial + joint->q, axis = t->at.axis + 3 * joint->v;
    rvec slid = f->p;
    BODY_LOOP
    for (int s = 0; s < joint->step_count; ++s) {
        int kind = joint->steps[s];
        scalar value = AT(m, q);
        if (pz_step_is_slide((pz_step_kind)kind)) {
            rvec a = kind == PZ_SLIDE_X ? f->R.x : kind == PZ_SLIDE_Y ? f->R.y : f->R.z;
            body_store(m, axis, a);
            slid = rv_mad(slid, value, a);
        } else if (kind == PZ_TURN_X || kind == PZ_TURN_Y || kind == PZ_TURN_Z) {
            body_store(m, axis, kind == PZ_TURN_X ? f->R.x : kind == PZ_TURN_Y ? f->R.y : f->R.z);
            body_turn_about(kind, value, &f->R);
        } else if (kind == PZ_QUATERNION) {
            rmat turn = quaternion_matrix(value, AT(m, q + 1), AT(m, q + 2), AT(m, q + 3));
            f->R = rm_mul(&f->R, &turn);
            body_store(m, axis, f->R.x), body_store(m, axis + 3, f->R.y), body_store(m, axis + 6, f->R.z);
        } else {
            int count = kind == PZ_EXPMAP ? 3 : 2;
            body_exponential(m, axis, rv(value, AT(m, q + 1), count == 3 ? AT(m, q + 2) : (scalar)0), count, &f->R);
        }
        q += pz_step_nq((pz_step_kind)kind);
        axis += 3 * pz_step_nv((pz_step_kind)kind);
    }
    f->p = slid;
    body_store(m, t->at.place + 3 * k, slid);
}

// What an evaluation at the trial tells.
typedef struct body_value {
    scalar cost;
    scalar worst; // largest squared distance of a marker that counts from its target; directions are scaled
} body_value;

// The larger one; what is not a number is larger than any.
PZ_INLINE scalar body_worse(scalar a, scalar b)
{
    return a == a && !(b <= a) ? b : a;
}

// What the square of a direction's error counts for beside that of a point. In the search a direction is as long as the
// body; in double it is within its tolerance where a point is.
PZ_INLINE scalar body_arrow_scale(const body_task *t, int i)
{
#ifdef BODY_DOUBLE
    return t->part[i] == BODY_DIRECTION ? t->direction_scale : t->axis_scale;
#else
    (void)i;
    return (scalar)(t->size * t->size);
#endif
}

// One marker, whose place is x, and its part of the evaluation.
PZ_INLINE void body_compare(const body_task *t, scalar *m, int i, rvec x, scalar scale, body_value *value)
{
    rvec r = rv_sub(x, body_load(m, t->at.target + 3 * i));
    scalar w = AT(m, t->at.weight + i), square = rv_dot(r, r), counts = square * scale;
    body_store(m, t->at.point + 3 * i, x);
    value->cost = scalar_fma(w, t->has_losses ? body_loss_at(t, i, square).rho : square, value->cost);
    value->worst = w > 0 || square != square ? body_worse(value->worst, counts) : value->worst;
}

// A chain from its first joint on, and its part of the evaluation.
PZ_INLINE void forward_chain(const body_task *t, scalar *m, int c)
{
    body_value value = {0, 0};
    body_frame f = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}};
    BODY_LOOP
    for (int k = t->chains[c].begin; k < t->chains[c].end; ++k) {
        const body_joint *joint = &t->joints[k];
        body_place(t, m, k, &f);
        body_move(t, m, k, &f);
        if (joint->slot >= 0) {
            body_store_frame(m, t->at.frame + BODY_FRAME * joint->slot, &f);
        }
        BODY_LOOP
        for (int i = joint->marker_begin; i < joint->arrow_end; ++i) {
            const scalar *n = body_numbers(t) + t->marker_numbers + BODY_MARKER * i;
            rvec x = rm_apply(&f.R, body_constant(n));
            bool is_arrow = i >= joint->marker_end;
            body_compare(t, m, i, is_arrow ? x : rv_add(f.p, x), is_arrow ? body_arrow_scale(t, i) : 1, &value);
        }
#ifdef BODY_DOUBLE
        value.cost += t->has_pulls ? body_pull_cost(t, m, joint, t->at.trial) : (scalar)0;
#endif
    }
    AT(m, t->at.parts + BODY_PARTS * c) = value.cost;
    AT(m, t->at.parts + BODY_PARTS * c + 1) = value.worst;
}

PZ_INLINE body_value body_forward(const body_task *t, scalar *restrict m)
{
    BODY_KNOWN(m);
    BODY_LOOP
    for (int level = 0; level < t->level_count; ++level) {
        BODY_LOOP
        for (int c = t->levels[level] + body_lane(); c < t->levels[level + 1]; c += BODY_LANES) {
            forward_chain(t, m, c);
        }
        body_sync();
    }
    body_value value = {0, 0};
    for (int c = 0; c < t->chain_count; ++c) {
        value.cost += AT(m, t->at.parts + BODY_PARTS * c);
        value.worst = body_worse(value.worst, AT(m, t->at.parts + BODY_PARTS * c + 1));
    }
    value.cost = (scalar)0.5 * (value.cost + body_pull(t, m, t->nv));
    return value;
}

// ---- Up ------------------------------------------------------------------------------------------------------------------

// Articulated sums from the leaves to the root, dof by dof.

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

PZ_INLINE body_sums body_no_sums(void)
{
    body_sums none;
    scalar *to = (scalar *)&none;
    FAST_UNROLL
    for (int i = 0; i < BODY_SUM_NUMBERS; ++i) {
        to[i] = 0;
    }
    return none;
}

PZ_INLINE void body_load_sums(const scalar *m, int place, body_sums *a)
{
    scalar *to = (scalar *)a;
    FAST_UNROLL
    for (int i = 0; i < BODY_SUM_NUMBERS; ++i) {
        to[i] += AT(m, place + i);
    }
}

PZ_INLINE void body_store_sums(scalar *m, int place, const body_sums *a)
{
    const scalar *from = (const scalar *)a;
    FAST_UNROLL
    for (int i = 0; i < BODY_SUM_NUMBERS; ++i) {
        AT(m, place + i) = from[i];
    }
}

// What hangs on the last joint of a chain.
PZ_INLINE body_sums body_sums_of_children(const body_task *t, const scalar *m, const body_chain *chain)
{
    body_sums a = body_no_sums();
    BODY_LOOP
    for (int c = chain->child_end - 1; c >= chain->child_begin; --c) {
        body_load_sums(m, t->at.sums + BODY_SUMS * c, &a);
    }
    return a;
}

PZ_INLINE bool body_hangs_on_chain(const body_task *t, const body_chain *chain)
{
    return t->joints[chain->begin].from >= 0;
}

// A marker of weight w at x, r from its target: inertia -w [x][x], w [x], w; wrench w (x x r, r). A direction turns, and
// does not shift: it has the first part of both.
PZ_INLINE void body_add_marker(body_sums *a, scalar w, rvec x, rvec r, bool is_arrow)
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
PZ_INLINE scalar body_bend(const body_task *t, int i, bool exact, scalar w, rvec x, rvec r, body_sums *a)
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
PZ_INLINE void body_add_markers(const body_task *t, const scalar *m, const body_joint *joint, bool exact, body_sums *a)
{
    BODY_LOOP
    for (int i = joint->marker_begin; i < joint->arrow_end; ++i) {
        rvec x = body_load(m, t->at.point + 3 * i), r = rv_sub(x, body_load(m, t->at.target + 3 * i));
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

PZ_INLINE body_axis body_axis_of(rvec direction, rvec p, bool slides)
{
    body_axis S = {slides ? rv(0, 0, 0) : direction, slides ? direction : rv_cross(p, direction)};
    return S;
}

PZ_INLINE scalar body_gradient(const body_sums *a, const body_axis *S)
{
    return rv_dot(S->w, a->N) + rv_dot(S->v, a->F);
}

// Eliminate one dof, whose metric, pull and curvature, `shift`, add to Delta, and whose own gradient `g` to gamma; `held`:
// its step is known.
PZ_INLINE void body_eliminate(scalar *m, int place, const body_axis *S, scalar shift, scalar g, scalar held, body_solve *s,
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
        body_store(m, place, rv(0, 0, 0)), body_store(m, place + 3, rv(0, 0, 0));
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
    body_store(m, place, Wn), body_store(m, place + 3, Wf);
    AT(m, place + 6) = w, AT(m, place + 7) = Delta;
}

PZ_INLINE bool body_is_quaternion(const body_joint *joint, int i)
{
    return joint->has_quaternion && i >= joint->dofs - 3;
}

PZ_INLINE scalar body_metric(const body_task *t, int dof)
{
    return body_numbers(t)[t->dof_numbers + BODY_DOF * dof + 2];
}

// Is dof i of a joint locked, or at a bound that descent, against the gradient g, would leave?
PZ_INLINE bool body_is_held(const body_task *t, const scalar *m, const body_joint *joint, int i, scalar g)
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
PZ_INLINE body_edge body_find_edge(const body_task *t, const scalar *m, const body_joint *joint, scalar g0, scalar g1)
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
PZ_INLINE void body_eliminate_edge(const body_task *t, scalar *m, const body_joint *joint, const body_axis *S,
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
PZ_INLINE bool body_up_swing(const body_task *t, scalar *m, const body_joint *joint, rvec p, bool holds[2], body_solve *s,
                             body_sums *a)
{
    int axis = t->at.axis + 3 * joint->v, edge = t->at.edge + 2 * joint->swing;
    body_axis S[2] = {body_axis_of(body_load(m, axis), p, false), body_axis_of(body_load(m, axis + 3), p, false)};
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
PZ_INLINE scalar body_known(const body_task *t, const scalar *m, int dof, bool holds)
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
PZ_INLINE bool body_dof_is_held(const body_task *t, const scalar *m, const body_joint *joint, int i,
                                const bool swing_holds[2], scalar g)
{
    return joint->swing >= 0 && i < 2 ? swing_holds[i] : body_is_held(t, m, joint, i, g);
}

PZ_INLINE void body_up_joint(const body_task *t, scalar *m, int k, body_solve *s, body_sums *a)
{
    const body_joint *joint = &t->joints[k];
    rvec p = body_load(m, t->at.place + 3 * k);
    bool holds[2] = {false, false};
    BODY_LOOP
    for (int i = joint->dofs - 1; i >= 0; --i) {
        if (joint->swing >= 0 && i == 1 && body_up_swing(t, m, joint, p, holds, s, a)) {
            return;
        }
        int dof = joint->v + i;
        body_axis S = body_axis_of(body_load(m, t->at.axis + 3 * dof), p, i < joint->slides);
        scalar g = body_pulled(t, m, joint, i);
        bool is_held = body_dof_is_held(t, m, joint, i, holds, body_gradient(a, &S) + g);
        scalar shift = scalar_fma(s->lambda * s->scale, scalar_abs(body_metric(t, dof)), body_pull(t, m, dof));
        body_eliminate(m, t->at.solved + BODY_SOLVED * dof, &S, shift, g, body_known(t, m, dof, is_held), s, a);
    }
}

// A chain from its last joint on, and its parts of the model and of `is_positive`.
PZ_INLINE void up_chain(const body_task *t, scalar *m, int c, body_solve s)
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
        body_store_sums(m, t->at.sums + BODY_SUMS * c, &a);
    }
    AT(m, t->at.parts + BODY_PARTS * c + 2) = s.model;
    AT(m, t->at.parts + BODY_PARTS * c + 3) = s.is_positive;
}

PZ_INLINE void body_up(const body_task *t, scalar *restrict m, body_solve *solve)
{
    BODY_KNOWN(m);
    BODY_LOOP
    for (int level = t->level_count - 1; level >= 0; --level) {
        BODY_LOOP
        for (int c = t->levels[level] + body_lane(); c < t->levels[level + 1]; c += BODY_LANES) {
            up_chain(t, m, c, *solve);
        }
        body_sync();
    }
    solve->model = 0;
    solve->is_positive = true;
    for (int c = 0; c < t->chain_count; ++c) {
        solve->model += AT(m, t->at.parts + BODY_PARTS * c + 2);
        solve->is_positive = solve->is_positive && AT(m, t->at.parts + BODY_PARTS * c + 3) != 0;
    }
    body_sync(); // another sweep up may follow
}

// ---- Down ----------------------------------------------------------------------------------------------------------------

// The step from the root to the leaves, clamped on the way, and where it leads.

PZ_INLINE scalar body_free_step(const scalar *m, int place, const body_axis *V)
{
    return -(rv_dot(body_load(m, place), V->w) + rv_dot(body_load(m, place + 3), V->v) + AT(m, place + 6));
}

// What the sweep down reads of a dof. A thread alone reads it one dof ahead: its memory takes longer than the step of a
// dof, and that of a team does not.
typedef struct body_ready {
    rvec n, f, axis;
    scalar w;
} body_ready;

PZ_INLINE body_ready body_read_dof(const body_task *t, const scalar *m, int dof)
{
    int place = t->at.solved + BODY_SOLVED * dof;
    body_ready ready = {body_load(m, place), body_load(m, place + 3), body_load(m, t->at.axis + 3 * dof), AT(m, place + 6)};
    return ready;
}

PZ_INLINE body_ready body_prefetch_dof(const body_task *t, const scalar *m, int dof, int next, body_ready *ready)
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

PZ_INLINE void body_advance(body_axis *V, scalar x, const body_axis *S)
{
    V->w = rv_mad(V->w, x, S->w), V->v = rv_mad(V->v, x, S->v);
}

// What clamping by `off` adds to the model.
PZ_INLINE void body_add_loss(const scalar *m, int place, scalar off, body_solve *s)
{
    s->model = scalar_fma((scalar)0.5 * AT(m, place + 7) * off, off, s->model);
}

// A dof within its interval; what leaves it is held at the bound in the next solve.
PZ_INLINE scalar body_clamp_step(const body_task *t, scalar *m, const body_joint *joint, int i, scalar x, body_solve *s)
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
PZ_INLINE bool body_clip(const scalar *W, const scalar *y, scalar *x)
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
PZ_INLINE void body_down_swing(const body_task *t, scalar *m, const body_joint *joint, const body_axis *S, body_axis *V,
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
PZ_INLINE void body_down_joint(const body_task *t, scalar *m, int k, int after, body_ready *ready, body_axis *V,
                               body_solve *s, scalar *damped)
{
    const body_joint *joint = &t->joints[k];
    rvec p = body_load(m, t->at.place + 3 * k);
    int i = 0;
    if (joint->swing >= 0) {
        int axis = t->at.axis + 3 * joint->v;
        body_axis S[2] = {body_axis_of(body_load(m, axis), p, false), body_axis_of(body_load(m, axis + 3), p, false)};
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
        body_ready now = body_prefetch_dof(t, m, dof, i + 1 < joint->dofs ? dof + 1 : after, ready);
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
PZ_INLINE void down_chain(const body_task *t, scalar *m, int c, body_solve s)
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
        V.w = body_load(m, place), V.v = body_load(m, place + 3);
    }
    body_ready ready = body_read_dof(t, m, t->joints[chain->begin].v);
    BODY_LOOP
    for (int k = chain->begin; k < chain->end; ++k) {
        int after = t->joints[k + 1 < chain->end ? k + 1 : k].v; // the last one reads its own again
        body_down_joint(t, m, k, after, &ready, &V, &s, &damped);
    }
    if (slot >= 0) {
        int place = t->at.velocity + BODY_VELOCITY * slot;
        body_store(m, place, V.w), body_store(m, place + 3, V.v);
    }
    AT(m, parts + 4) = s.model, AT(m, parts + 5) = damped;
    AT(m, parts + 6) = (scalar)s.leavers, AT(m, parts + 7) = s.is_clipped;
}

// The step. Returns the decrease of the cost that the model without damping predicts.
PZ_INLINE scalar body_down(const body_task *t, scalar *restrict m, body_solve *s)
{
    BODY_KNOWN(m);
    BODY_LOOP
    for (int level = 0; level < t->level_count; ++level) {
        BODY_LOOP
        for (int c = t->levels[level] + body_lane(); c < t->levels[level + 1]; c += BODY_LANES) {
            down_chain(t, m, c, *s);
        }
        body_sync();
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
PZ_INLINE void body_turn_quaternion(scalar *m, int q, int to, rvec x)
{
    scalar square = rv_dot(x, x), half = (scalar)0.5 * scalar_root(square), s, w;
    scalar_sincos(half, &s, &w);
    rvec u = rv_scale(x, half > 0 ? (scalar)0.5 * (s / half) : (scalar)0.5), a = body_load(m, q);
    scalar aw = AT(m, q + 3);
    rvec v = rv_mad(rv_mad(rv_cross(a, u), aw, u), w, a);
    scalar vw = scalar_fma(aw, w, -rv_dot(a, u));
    scalar inverse = scalar_inverse(scalar_root(scalar_fma(vw, vw, rv_dot(v, v))));
    body_store(m, to, rv_scale(v, inverse));
    AT(m, to + 3) = inverse * vw;
}

// A swing into its ellipse, along the ray to the centre.
PZ_INLINE void body_keep_swing(const body_task *t, scalar *m, const body_joint *joint, int q)
{
    const scalar *W = body_numbers(t) + t->swing_numbers + BODY_SWING * joint->swing;
    scalar a = AT(m, q), b = AT(m, q + 1), excess = a * a * W[0] + b * b * W[1];
    if (excess > 1) {
        scalar inverse = scalar_inverse(scalar_root(excess));
        AT(m, q) = inverse * a, AT(m, q + 1) = inverse * b;
    }
}

// v <- (1 - 2 pi n/|v|) v, the same rotation, of a vector of two or three numbers that is longer than half a turn.
PZ_INLINE void body_shorten_turn(scalar *m, int q, int count)
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
PZ_INLINE void body_propose(const body_task *t, scalar *restrict m, scalar share)
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
            rvec turn = body_metric(t, joint->v + plain) < 0 ? rv(0, 0, 0) : rv_scale(body_load(m, x + plain), share);
            body_turn_quaternion(m, q + plain, to + plain, turn);
        }
        if (joint->swing >= 0) {
            body_keep_swing(t, m, joint, to);
        }
        if (joint->shortens) {
            body_shorten_turn(m, to + joint->slides, joint->shortens);
        }
    }
    body_sync();
}

// The trial becomes the current point.
PZ_INLINE void body_accept(const body_task *t, scalar *restrict m)
{
    BODY_KNOWN(m);
    BODY_LOOP
    for (int i = body_lane(); i < t->nq; i += BODY_LANES) {
        AT(m, t->at.q + i) = AT(m, t->at.trial + i);
    }
    body_sync();
}

#endif
