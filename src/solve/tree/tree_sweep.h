// The sweeps of the damped Newton step along the tree; tree_step.c derives them, group_kernel.h has what happens at a group.
//
// For one problem a six-vector is in three registers of two, or, for a source that defines REAL_PACKED, in one of four and
// one of two (num/registers.h), with the same bits.
#ifndef PZ_SOLVE_TREE_SWEEP_H
#define PZ_SOLVE_TREE_SWEEP_H

#include "solve/solver_state.h"
#include "solve/tree/group_kernel.h"

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

// groups_up and groups_down for processors with registers of four (tree_step_wide.c).
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
