// The projected gradient at the current point, by plain sums up the tree; in double.
#ifndef POISE_CUDA_BODY_MEASURE_H
#define POISE_CUDA_BODY_MEASURE_H

#include "body_up.h"

typedef struct body_measure {
    scalar gradient; // largest component of the projected one
    scalar cosine;   // largest of g_i/sqrt(2 f G_ii), G the Gauss-Newton Hessian
} body_measure;

PZ_BOTH void measure_dof(const body_sums *a, const body_axis *S, scalar g, scalar pull, scalar cost, body_measure *f)
{
    scalar G = rv_dot(S->w, rs_apply(&a->ww, S->w)) + 2.0 * rv_dot(S->w, rm_apply(&a->wv, S->v)) +
               rv_dot(S->v, rs_apply(&a->vv, S->v)) + pull;
    f->gradient = scalar_max(f->gradient, scalar_abs(g));
    scalar cosine = g * g <= 0.0 ? 0.0 : G > 0 ? scalar_abs(g) / sqrt(2.0 * cost * G) : 1.0;
    f->cosine = scalar_max(f->cosine, cosine);
}

PZ_BOTH void measure_joint(const body_task *t, const scalar *m, int k, const body_sums *a, scalar cost, body_measure *f)
{
    const body_joint *joint = &t->joints[k];
    rvec p = body_get(m, t->at.place + 3 * k);
    body_edge e = {{0, 0}, 0, {false, false}};
    scalar off = 0;
    if (joint->swing >= 0) {
        int axis = t->at.axis + 3 * joint->v;
        body_axis S[2] = {body_axis_of(body_get(m, axis), p, false), body_axis_of(body_get(m, axis + 3), p, false)};
        scalar g[2] = {body_gradient(a, &S[0]) + body_pulled(t, m, joint, 0),
                       body_gradient(a, &S[1]) + body_pulled(t, m, joint, 1)};
        e = body_find_edge(t, m, joint, g[0], g[1]);
        off = (e.holds[0] ? 0 : g[0] * e.normal[0]) + (e.holds[1] ? 0 : g[1] * e.normal[1]);
    }
    BODY_LOOP
    for (int i = 0; i < joint->dofs; ++i) {
        body_axis S = body_axis_of(body_get(m, t->at.axis + 3 * (joint->v + i)), p, i < joint->slides);
        scalar g = body_gradient(a, &S) + body_pulled(t, m, joint, i);
        bool is_held = body_dof_is_held(t, m, joint, i, e.holds, g), is_swing = joint->swing >= 0 && i < 2;
        measure_dof(a, &S, is_held ? 0 : is_swing ? g - off * e.normal[i] : g, body_pull(t, m, joint->v + i), cost, f);
    }
}

// Plain sums along a chain, for the projected gradient, and the diagonal of the Gauss-Newton Hessian.
PZ_BOTH void measure_chain(const body_task *t, scalar *m, int c, scalar cost)
{
    const body_chain *chain = &t->chains[c];
    body_sums a = body_sums_of_children(t, m, chain);
    body_measure f = {0, 0};
    BODY_LOOP
    for (int k = chain->end - 1; k >= chain->begin; --k) {
        body_add_markers(t, m, &t->joints[k], false, &a);
        measure_joint(t, m, k, &a, cost, &f);
    }
    if (body_hangs_on_chain(t, chain)) {
        body_give_sums(m, t->at.sums + BODY_SUMS * c, &a);
    }
    AT(m, t->at.parts + BODY_PARTS * c + 2) = f.gradient;
    AT(m, t->at.parts + BODY_PARTS * c + 3) = f.cosine;
}

BODY_FN void measure_body(const body_task *t, scalar *m, scalar cost, body_measure *f)
{
    BODY_LOOP
    for (int level = t->level_count - 1; level >= 0; --level) {
        BODY_LOOP
        for (int c = t->levels[level] + body_lane(); c < t->levels[level + 1]; c += BODY_LANES) {
            measure_chain(t, m, c, cost);
        }
        body_meet();
    }
    f->gradient = f->cosine = 0;
    for (int c = 0; c < t->chain_count; ++c) {
        f->gradient = scalar_max(f->gradient, AT(m, t->at.parts + BODY_PARTS * c + 2));
        f->cosine = scalar_max(f->cosine, AT(m, t->at.parts + BODY_PARTS * c + 3));
    }
}

#endif
