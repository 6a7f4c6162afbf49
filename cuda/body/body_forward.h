// The first part of a pass (body_pass.h): frames, axes, markers and the cost at the trial.
#ifndef POISE_CUDA_BODY_FORWARD_H
#define POISE_CUDA_BODY_FORWARD_H

#include "body_pull.h"

typedef struct body_frame {
    rmat R;
    rvec p;
} body_frame;

PZ_BOTH body_frame body_load_frame(const scalar *m, int place)
{
    body_frame f = {{body_get(m, place), body_get(m, place + 3), body_get(m, place + 6)}, body_get(m, place + 9)};
    return f;
}

PZ_BOTH void body_store_frame(scalar *m, int place, const body_frame *f)
{
    body_put(m, place, f->R.x), body_put(m, place + 3, f->R.y), body_put(m, place + 6, f->R.z);
    body_put(m, place + 9, f->p);
}

// The frame of a joint before its motion.
PZ_BOTH void body_place(const body_task *t, const scalar *m, int k, body_frame *f)
{
    const body_joint *joint = &t->joints[k];
    const scalar *n = body_numbers(t) + BODY_JOINT * k;
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
PZ_BOTH void body_turn(scalar angle, rvec *u, rvec *w)
{
    scalar s, c;
    scalar_sincos(angle, &s, &c);
    rvec turned = rv_mad(rv_scale(*u, c), s, *w);
    *w = rv_mad(rv_scale(*w, c), -s, *u);
    *u = turned;
}

// A turn about a column of R, one of three kinds. Threads of a team have joints of their own, and meet in one turn of chosen
// columns; threads alone are at the same joint, and none of them waits for another kind.
PZ_BOTH void body_turn_about(int kind, scalar angle, rmat *R)
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
PZ_BOTH void body_exponential(scalar *m, int axis, rvec v, int count, rmat *R)
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
PZ_BOTH void body_move(const body_task *t, scalar *m, int k, body_frame *f)
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
            body_put(m, axis, a);
            slid = rv_mad(slid, value, a);
        } else if (kind == PZ_TURN_X || kind == PZ_TURN_Y || kind == PZ_TURN_Z) {
            body_put(m, axis, kind == PZ_TURN_X ? f->R.x : kind == PZ_TURN_Y ? f->R.y : f->R.z);
            body_turn_about(kind, value, &f->R);
        } else if (kind == PZ_QUATERNION) {
            rmat turn = quaternion_matrix(value, AT(m, q + 1), AT(m, q + 2), AT(m, q + 3));
            f->R = rm_mul(&f->R, &turn);
            body_put(m, axis, f->R.x), body_put(m, axis + 3, f->R.y), body_put(m, axis + 6, f->R.z);
        } else {
            int count = kind == PZ_EXPMAP ? 3 : 2;
            body_exponential(m, axis, rv(value, AT(m, q + 1), count == 3 ? AT(m, q + 2) : (scalar)0), count, &f->R);
        }
        q += pz_step_nq((pz_step_kind)kind);
        axis += 3 * pz_step_nv((pz_step_kind)kind);
    }
    f->p = slid;
    body_put(m, t->at.place + 3 * k, slid);
}

// What a look at the trial tells.
typedef struct body_look {
    scalar cost;
    scalar worst; // largest squared distance of a marker that counts from its target; directions are scaled
} body_look;

// The larger one; what is not a number is larger than any.
PZ_BOTH scalar body_worse(scalar a, scalar b)
{
    return a == a && !(b <= a) ? b : a;
}

// What the square of a direction's error counts for beside that of a point. In the search a direction is as long as the
// body; in double it is within its tolerance where a point is.
PZ_BOTH scalar body_arrow_scale(const body_task *t, int i)
{
#ifdef BODY_DOUBLE
    return t->part[i] == BODY_DIRECTION ? t->direction_scale : t->axis_scale;
#else
    (void)i;
    return (scalar)(t->size * t->size);
#endif
}

// One marker, whose place is x, and its part of the look.
PZ_BOTH void body_compare(const body_task *t, scalar *m, int i, rvec x, scalar scale, body_look *look)
{
    rvec r = rv_sub(x, body_get(m, t->at.target + 3 * i));
    scalar w = AT(m, t->at.weight + i), square = rv_dot(r, r), counts = square * scale;
    body_put(m, t->at.point + 3 * i, x);
    look->cost = scalar_fma(w, t->has_losses ? body_loss_at(t, i, square).rho : square, look->cost);
    look->worst = w > 0 || square != square ? body_worse(look->worst, counts) : look->worst;
}

// A chain from its first joint on, and its part of the look.
PZ_BOTH void forward_chain(const body_task *t, scalar *m, int c)
{
    body_look look = {0, 0};
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
            body_compare(t, m, i, is_arrow ? x : rv_add(f.p, x), is_arrow ? body_arrow_scale(t, i) : 1, &look);
        }
#ifdef BODY_DOUBLE
        look.cost += t->has_pulls ? body_pull_cost(t, m, joint, t->at.trial) : (scalar)0;
#endif
    }
    AT(m, t->at.parts + BODY_PARTS * c) = look.cost;
    AT(m, t->at.parts + BODY_PARTS * c + 1) = look.worst;
}

BODY_FN body_look body_forward(const body_task *t, scalar *restrict m)
{
    BODY_KNOWN(m);
    BODY_LOOP
    for (int level = 0; level < t->level_count; ++level) {
        BODY_LOOP
        for (int c = t->levels[level] + body_lane(); c < t->levels[level + 1]; c += BODY_LANES) {
            forward_chain(t, m, c);
        }
        body_meet();
    }
    body_look look = {0, 0};
    for (int c = 0; c < t->chain_count; ++c) {
        look.cost += AT(m, t->at.parts + BODY_PARTS * c);
        look.worst = body_worse(look.worst, AT(m, t->at.parts + BODY_PARTS * c + 1));
    }
    look.cost = (scalar)0.5 * (look.cost + body_pull(t, m, t->nv));
    return look;
}

#endif
