// What pulls on the coordinates themselves, in clips: POSTURE, to a pose that is given, and SMOOTHNESS, to the last frame.
//
//   1/2 a (q - n)^2 + 1/2 b (q - l)^2 = 1/2 (a + b) (q - h)^2 + 1/2 a b/(a + b) (n - l)^2,    h = (a n + b l)/(a + b)
//
// so that both are one pull on each dof, to `home`, and a least cost. A quaternion is pulled by 2 vec(conj(h) q), with the
// weight of its first dof, as goal/posture.c has it; by one of both alone.
#ifndef POISE_CUDA_BODY_PULL_H
#define POISE_CUDA_BODY_PULL_H

#include "body_state.h"

#ifdef BODY_DOUBLE

// 2 vec(conj(h) q) and the scalar part, of quaternions in the state.
PZ_BOTH rvec body_turned(const scalar *m, int h, int q, scalar *w)
{
    rvec a = body_get(m, h), b = body_get(m, q);
    scalar aw = AT(m, h + 3), bw = AT(m, q + 3);
    rvec u = rv_sub(rv_sub(rv_scale(b, aw), rv_scale(a, bw)), rv_cross(a, b));
    *w = scalar_fma(aw, bw, rv_dot(a, b));
    return *w < 0 ? rv_scale(u, -2) : rv_scale(u, 2);
}

// Twice the cost of a joint's pulls at the coordinates from `q` on.
BODY_FN scalar body_pull_cost(const body_task *t, const scalar *m, const body_joint *joint, int q)
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
BODY_FN scalar body_pull_gradient(const body_task *t, const scalar *m, const body_joint *joint, int i)
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
BODY_FN void body_take_pulls(const body_task *t, scalar *m, const double *q, double steady)
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
    body_meet();
    if (body_lane() == 0) {
        scalar least = 0;
        for (int k = 0; k < t->joint_count; ++k) {
            least += AT(m, t->at.parts + k);
        }
        AT(m, t->at.pull + t->nv) = least;
    }
    body_meet();
}

#endif

// The weight of what pulls on a dof, and its gradient; nothing pulls in the search.
PZ_BOTH scalar body_pull(const body_task *t, const scalar *m, int dof)
{
#ifdef BODY_DOUBLE
    return t->has_pulls ? AT(m, t->at.pull + dof) : (scalar)0;
#else
    (void)t, (void)m, (void)dof;
    return 0;
#endif
}

PZ_BOTH scalar body_pulled(const body_task *t, const scalar *m, const body_joint *joint, int i)
{
#ifdef BODY_DOUBLE
    return t->has_pulls ? body_pull_gradient(t, m, joint, i) : (scalar)0;
#else
    (void)t, (void)m, (void)joint, (void)i;
    return 0;
#endif
}

#endif
