// The damped Newton step of one problem and of lanes: limits dof by dof, the metric of the damping, and the sweeps along the
// tree, whose formulas tree_step.c derives.
//
// One text over reals (num/real.h), compiled for one problem (step.c, tree_step.c), for one problem with a six-vector in one
// register of four and one of two (REAL_PACKED, wide.c; else it is in three of two, with the same bits), and for lanes
// (tree_lanes.h). What happens at a group of up to three axes is written for all of them; `count`, that of its axes, is a
// constant where these functions are called, so that the loops unroll. Axes S and forces c are arrays of six reals each. The
// sweeps over all groups, at the end, are those of one problem.
#ifndef PZ_SOLVE_STEP_KERNEL_H
#define PZ_SOLVE_STEP_KERNEL_H

#include "num/registers.h"
#include "solve/solver.h"

// ---- Limits and metric ---------------------------------------------------------------------------------------------------

// Can a step leave the interval of a dof?
REAL_FN bool box_is_open(const pz_box *box)
{
    return box->q < 0 || (box->lower == -INFINITY && box->upper == INFINITY);
}

// Is the coordinate q at a bound that descent would leave? -gradient points out of it.
REAL_FN real_mask box_holds(const pz_box *box, real q, real gradient)
{
    real zero = real_of(0.0);
    return ((q <= real_of(box->lower)) & (gradient >= zero)) | ((q >= real_of(box->upper)) & (gradient <= zero));
}

// Hold the dofs that the step x takes out of their interval, at the bound, where `among` is true. Returns where there are
// any.
REAL_FN real_mask hold_leavers(const poise_model *model, const pz_box *boxes, const real *q, const real *x, real_mask among,
                               real_mask *hold, real *hold_value)
{
    real_mask any = mask_none();
    for (int i = 0; i < model->nv; ++i) {
        const pz_box *box = &boxes[i];
        if (box_is_open(box)) {
            continue;
        }
        real from = q[box->q], next = from + x[i], lower = real_of(box->lower), upper = real_of(box->upper);
        real_mask below = next < lower, outside = (below | (next > upper)) & among & mask_not(hold[i]);
        hold[i] |= outside;
        hold_value[i] = real_select(outside, real_select(below, lower, upper) - from, hold_value[i]);
        any |= outside;
    }
    return any;
}

// At a bound where the way to it, bound - q, has left only its rounding.
REAL_FN real snap_to_bound(real next, real q, double bound)
{
    real_mask is_there = real_fabs(next - bound) < PZ_EPSILON * (real_fabs(q) + fabs(bound)); // false where there is none
    return real_select(is_there, real_of(bound), next);
}

// After a retraction to q_out: keep every coordinate in its interval, a locked one where it was, and the form of a rotation
// vector with a locked part.
REAL_FN void keep_in_boxes(const poise_model *model, const pz_box *boxes, const real *q, const real *x, real *q_out)
{
    for (int i = 0; i < model->nv; ++i) {
        const pz_box *box = &boxes[i];
        if (box->q >= 0) {
            real next = box->keeps_form ? q[box->q] + x[i] : q_out[box->q];
            next = snap_to_bound(snap_to_bound(next, q[box->q], box->lower), q[box->q], box->upper);
            q_out[box->q] = box->locked ? q[box->q] : real_clamp(next, box->lower, box->upper);
        }
    }
}

// The metric of the damping: D_i = G_ii + mean over the turning dofs (a slide has its own unit: its own G_ii, or 1 where
// that is 0). Written where `among` is true.
REAL_FN void make_metric(const poise_model *model, const real *diagonal, real_mask among, real *D)
{
    real sum = real_of(0.0), zero = real_of(0.0), one = real_of(1.0);
    int turns = 0;
    for (int i = 0; i < model->nv; ++i) {
        if (!pz_axis_slides(model, model->dof_axis[i])) {
            sum = sum + diagonal[i];
            turns += 1;
        }
    }
    real mean = sum / (double)(turns > 0 ? turns : 1);
    mean = real_select(mean > zero, mean, one);
    for (int i = 0; i < model->nv; ++i) {
        real own = diagonal[i], slide = real_select(own > zero, PZ_EPSILON * own, one);
        real metric = own + (pz_axis_slides(model, model->dof_axis[i]) ? slide : mean);
        D[i] = real_select(among, metric, D[i]);
    }
}

// Decrease of the quadratic model along the step, -(g . x + x . H x/2), in two ways. A step that solves
// (H + lambda D) x = -g over the free dofs has x . H x = -g . x - lambda x . D x; one that was held at a bound, or
// shortened, needs the product H x.
REAL_FN real decrease_by_equation(int nv, const real *x, const real *g, real lambda, const real *D, const real_mask *hold)
{
    real decrease = real_of(0.0);
    for (int i = 0; i < nv; ++i) {
        decrease = decrease + real_where(mask_not(hold[i]), 0.5 * x[i] * (lambda * D[i] * x[i] - g[i]));
    }
    return decrease;
}

REAL_FN real decrease_by_product(int nv, const real *x, const real *g, const real *product)
{
    real decrease = real_of(0.0);
    for (int i = 0; i < nv; ++i) {
        decrease = decrease - x[i] * (g[i] + 0.5 * product[i]);
    }
    return decrease;
}

// ---- A group of axes -----------------------------------------------------------------------------------------------------

#define GROUP       3
#define GROUP_LOWER 6                           // entries of a packed lower triangle
#define LOWER(j, h) ((j) * ((j) + 1) / 2 + (h)) // place in it, h <= j

// A group at work.
typedef struct group_work {
    const six_by_six *Pi; // the sums over the subtrees below; NULL: there are none, and pi is 0
    six *pi;
    six *B;      // GROUP
    real *L;     // GROUP_LOWER: Delta, then its Cholesky factor with the inverses of its diagonal
    real *gamma; // GROUP
} group_work;

// B = c + Pi S, Delta = S^T B + shift, gamma = g + S^T pi. `shift` is what H has on its diagonal alone, and lambda D.
REAL_FN void group_assemble(const group_work *w, int count, const real *S, const real *c, const real *g, const real *shift)
{
    six axis[GROUP];
    REAL_UNROLL
    for (int j = 0; j < count; ++j) {
        axis[j] = six_load(S + 6 * j);
        six B = w->Pi ? six_apply(six_load(c + 6 * j), w->Pi, S + 6 * j) : six_load(c + 6 * j);
        w->B[j] = B;
        w->gamma[j] = w->Pi ? g[j] + six_dot(axis[j], *w->pi) : g[j];
        REAL_UNROLL
        for (int h = 0; h <= j; ++h) {
            w->L[LOWER(j, h)] = six_dot(axis[h], B);
        }
        w->L[LOWER(j, j)] += shift[j];
    }
}

// Delta += E, the correction of a block of up to three axes at the head of the group. (Slides before a block fill a group of
// their own.)
REAL_FN void group_add_block(const group_work *w, int count, const real_sym *E, int block_count)
{
    real *L = w->L;
    L[LOWER(0, 0)] += E->xx;
    if (count > 1) {
        L[LOWER(1, 0)] += E->xy;
        L[LOWER(1, 1)] += E->yy;
    }
    if (count == 3 && block_count == 3) {
        L[LOWER(2, 0)] += E->xz;
        L[LOWER(2, 1)] += E->yz;
        L[LOWER(2, 2)] += E->zz;
    }
}

REAL_FN real_mask group_holds(int count, const real_mask *hold)
{
    real_mask any = hold[0];
    REAL_UNROLL
    for (int j = 1; j < count; ++j) {
        any |= hold[j];
    }
    return any;
}

// Let held dofs drop out: their x is known. A held row keeps a unit pivot and no entries, and its B no part in Pi.
REAL_FN void group_drop_held(const group_work *w, int count, const real_mask *hold, const real *hold_value)
{
    real *L = w->L, *gamma = w->gamma, zero = real_of(0.0);
    REAL_UNROLL
    for (int j = 0; j < count; ++j) {
        real_mask held = hold[j];
        real value = hold_value[j];
        if (REAL_WIDTH == 1 && !mask_any(held)) {
            continue;
        }
        REAL_UNROLL
        for (int h = 0; h < count; ++h) {
            real *entry = h <= j ? &L[LOWER(j, h)] : &L[LOWER(h, j)];
            gamma[h] = real_select(held, gamma[h] + *entry * value, gamma[h]);
            *entry = real_select(held, zero, *entry);
        }
        *w->pi = six_select(held, six_mad(*w->pi, value, w->B[j]), *w->pi);
        w->B[j] = six_select(held, six_zero(), w->B[j]);
        L[LOWER(j, j)] = real_select(held, real_of(1.0), L[LOWER(j, j)]);
        gamma[j] = real_select(held, zero, gamma[j]);
    }
}

// Delta = L L^T in place; then B <- B L^-T, gamma <- L^-1 gamma, so that what follows needs no solve:
//
//   B Delta^-1 B^T = B' B'^T     B Delta^-1 gamma = B' gamma'     pi <- pi - B' gamma'
//
// Returns where every pivot is positive. One problem alone ends at the first that is not, which is left in its place.
REAL_FN real_mask group_eliminate(const group_work *w, int count)
{
    real *L = w->L, *gamma = w->gamma;
    six *B = w->B, pi = *w->pi;
    real_mask is_positive = mask_all();
    REAL_UNROLL
    for (int j = 0; j < count; ++j) {
        REAL_UNROLL
        for (int h = 0; h < j; ++h) {
            real l = L[LOWER(j, h)];
            B[j] = six_mad(B[j], -l, B[h]);
            gamma[j] = gamma[j] - l * gamma[h];
            REAL_UNROLL
            for (int i = j; i < count; ++i) {
                L[LOWER(i, j)] = L[LOWER(i, j)] - L[LOWER(i, h)] * l;
            }
        }
        real pivot = L[LOWER(j, j)];
        is_positive &= pivot > real_of(0.0);
        if (REAL_WIDTH == 1 && !mask_any(is_positive)) {
            return is_positive;
        }
        real inverse = 1.0 / real_sqrt(pivot);
        L[LOWER(j, j)] = inverse;
        REAL_UNROLL
        for (int i = j + 1; i < count; ++i) {
            L[LOWER(i, j)] = L[LOWER(i, j)] * inverse;
        }
        B[j] = six_scale(B[j], inverse);
        gamma[j] = gamma[j] * inverse;
        pi = six_mad(pi, -gamma[j], B[j]);
    }
    *w->pi = pi;
    return is_positive;
}

// After it: add Pi - B' B'^T and pi to the sums of the parent, which begin at 0 with the child that comes first.
REAL_FN void group_hand_on(const group_work *w, int count, bool begins, six_by_six *Pi, six *pi)
{
    six_by_six_hand_on(w->Pi, count, w->B, begins, Pi);
    *pi = six_add(begins ? six_zero() : *pi, *w->pi);
}

// From the root: y = B'^T V + gamma', then x = -L^-T y; a held x is known. Returns V + S x, V of the groups below.
REAL_FN six group_down(int count, const six *B, const real *L, const real *gamma, const real *S, six V,
                       const real_mask *hold, const real *hold_value, real *x)
{
    real free[GROUP];
    REAL_UNROLL
    for (int j = count - 1; j >= 0; --j) {
        real y = six_dot(B[j], V) + gamma[j];
        REAL_UNROLL
        for (int i = j + 1; i < count; ++i) {
            y = y + L[LOWER(i, j)] * free[i];
        }
        free[j] = -y * L[LOWER(j, j)];
    }
    REAL_UNROLL
    for (int j = 0; j < count; ++j) {
        x[j] = real_select(hold[j], hold_value[j], free[j]);
        V = six_mad(V, x[j], six_load(S + 6 * j));
    }
    return V;
}

#if REAL_WIDTH == 1

// ---- The sweeps ----------------------------------------------------------------------------------------------------------

typedef pz_group group;

// Six-vectors lie in memory as six numbers, whatever registers a source has for them.
struct pz_tree_step {
    int group_count;
    group *groups;
    bool *is_leaf;       // by group: nothing hangs on it
    bool *is_last_child; // of its parent: the first that hands something on
    int *order;          // groups as a sweep up takes them, and a sweep down in reverse
    six_by_six *Pi;      // by place_of: sum over the subtrees below
    six *pi;
    six (*B)[GROUP];
    double (*L)[GROUP_LOWER]; // Cholesky factor over the free axes
    double (*gamma)[GROUP];
    six *V;        // by group: V after it
    double *dense; // nv x nv, or NULL when the tree is enough
    double *rhs;   // nv
    int *free_dof; // nv
};

typedef struct pz_tree_sweep {
    const poise_objective *o;
    poise_hessian kind;
    double lambda;
    const double *D;
    const bool *hold;
    const double *hold_value;
    bool by_turns; // groups in t->order; else depth first
    double *x;
} pz_tree_sweep;

typedef pz_tree_sweep sweep;

// groups_up and groups_down for processors with registers of four (wide.c).
int pz_tree_up_wide(pz_tree_step *t, const sweep *s);
void pz_tree_down_wide(pz_tree_step *t, const sweep *s);

// ---- Sweep up ------------------------------------------------------------------------------------------------------------

REAL_FN bool work_on(const group_work *w, const sweep *s, const group *at, int count)
{
    const poise_objective *o = s->o;
    int axis = at->axis, first = at->dof;
    double shift[GROUP];
    for (int j = 0; j < count; ++j) {
        shift[j] = o->diagonal[first + j] + s->lambda * s->D[first + j];
    }
    group_assemble(w, count, (const double *)&o->kin.S[axis], (const double *)&o->c[s->kind][axis], o->gradient + first,
                   shift);
    if (at->block_count > 0) {
        group_add_block(w, count, &o->block[s->kind][at->block], at->block_count);
    }
    if (group_holds(count, s->hold + first)) {
        group_drop_held(w, count, s->hold + first, s->hold_value + first);
    }
    return group_eliminate(w, count);
}

REAL_FN void hand_on(pz_tree_step *t, int g, const group_work *w, int count)
{
    int parent = t->groups[g].parent;
    if (parent >= 0) {
        group_hand_on(w, count, t->is_last_child[g], &t->Pi[parent], &t->pi[parent]);
    }
}

REAL_FN bool group_up(pz_tree_step *t, const sweep *s, int g, int count)
{
    const group *at = &t->groups[g];
    six pi = t->is_leaf[g] ? six_zero() : six_load((const double *)&t->pi[g]);
    group_work w = {t->is_leaf[g] ? NULL : &t->Pi[g], &pi, t->B[g], t->L[g], t->gamma[g]};
    bool is_positive = work_on(&w, s, at, count);
    if (is_positive) {
        hand_on(t, g, &w, count);
    }
    return is_positive;
}

// The group whose pivots are not all positive, where the sweep ends; -1: there is none.
REAL_FN int groups_up(pz_tree_step *t, const sweep *s)
{
    for (int i = 0; i < t->group_count; ++i) {
        int g = s->by_turns ? t->order[i] : t->group_count - 1 - i, count = t->groups[g].count;
        bool is_positive = count == 1 ? group_up(t, s, g, 1) : count == 2 ? group_up(t, s, g, 2) : group_up(t, s, g, 3);
        if (!is_positive) {
            return g;
        }
    }
    return -1;
}

// ---- Sweep down ----------------------------------------------------------------------------------------------------------

REAL_FN void one_group_down(pz_tree_step *t, const sweep *s, int g, int count)
{
    const group *at = &t->groups[g];
    six V = at->parent < 0 ? six_zero() : six_load((const double *)&t->V[at->parent]);
    int i = at->dof;
    t->V[g] = group_down(count, t->B[g], t->L[g], t->gamma[g], (const double *)&s->o->kin.S[at->axis], V, s->hold + i,
                         s->hold_value + i, s->x + i);
}

REAL_FN void groups_down(pz_tree_step *t, const sweep *s)
{
    for (int i = t->group_count - 1; i >= 0; --i) {
        int g = s->by_turns ? t->order[i] : t->group_count - 1 - i, count = t->groups[g].count;
        if (count == 1) {
            one_group_down(t, s, g, 1);
        } else if (count == 2) {
            one_group_down(t, s, g, 2);
        } else {
            one_group_down(t, s, g, 3);
        }
    }
}

#endif

#endif
