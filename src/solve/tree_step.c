// The damped Newton step in O(N), without forming H.
//
// With V = sum of S_h x_h over the axes above, the quadratic model of the cost splits along the tree,
//
//   m(x) = sum_k  1/2 (S_k . c_k + lambda D_k) x_k^2 + x_k (c_k . V + g_k)
//
// a problem of optimal control with the six-vector V for its state. Minimise from the leaves: what a subtree contributes is
// 1/2 V . Pi V + pi . V + const. For a group of up to three axes of one joint, columns S (6 x m) and C, with the sums Pi, pi
// over the subtrees below,
//
//   B = C + Pi S       Delta = S^T B (upper triangle, mirrored) + blocks + diag + lambda D       gamma = g + S^T pi
//   Pi <- Pi - B Delta^-1 B^T                     pi <- pi - B Delta^-1 gamma                     handed to the parent
//   x = -Delta^-1 (B^T V + gamma)                 V <- V + S x                                    from the root
//
// H + lambda D is positive definite exactly when every Delta is (they are its block pivots). For Gauss-Newton this is the
// articulated-body algorithm of dynamics (Featherstone 1983); the exact Hessian only changes C. A held dof has a known x:
// it adds B x to pi and Delta x to the gammas of its group, and drops out. Where H has entries beside the tree (goals
// on bodies that move with followers, goals that tie bodies together) the same system is solved densely.
#include "num/dense.h"
#include "solve/step_kernel.h"

#include <string.h>

// ---- Groups --------------------------------------------------------------------------------------------------------------

// May the axis of joint k go on with the group that the joint before it opened? Both move by one plain axis, and nothing but
// k hangs on the one before. Models without curves keep their groups, and with them their bits.
static bool goes_on(const poise_model *model, int k, const group *open)
{
    const pz_joint *joint = &model->joints[k];
    if (model->curve_count == 0 || k == 0 || open->axis < 0 || open->block >= 0 || joint->parent != k - 1) {
        return false;
    }
    const pz_joint *before = &model->joints[k - 1];
    bool is_single = joint->step_end == joint->step_begin + 1 && before->step_end == before->step_begin + 1;
    return is_single && before->subtree == joint->subtree + 1 && joint->mimic == POISE_WORLD &&
           before->mimic == POISE_WORLD && !pz_step_is_block(model->steps[joint->step_begin].kind);
}

// Cut each joint's axes into runs of at most three that keep blocks whole. Followers are in none: what hangs on them hangs
// on the group above. Returns how many; `groups` may be NULL.
static int cut_groups(const poise_model *model, group *groups, int *group_of_axis)
{
    int count = 0;
    group open = {.axis = -1, .block = -1};
    for (int k = 0; k < model->joint_count; ++k) {
        const pz_joint *joint = &model->joints[k];
        open = goes_on(model, k, &open) ? open : (group){.axis = -1, .block = -1};
        if (joint->mimic != POISE_WORLD) {
            if (groups) {
                int above = model->axes[joint->axis_begin].parent;
                group_of_axis[joint->axis_begin] = above < 0 ? -1 : group_of_axis[above];
            }
            continue;
        }
        for (int s = joint->step_begin; s < joint->step_end; ++s) {
            const pz_step *step = &model->steps[s];
            int nv = pz_step_nv(step->kind);
            if (open.axis < 0 || open.count + nv > GROUP) {
                open = (group){.axis = step->axis, .dof = model->axes[step->axis].dof, .block = -1, .parent = -1};
                count += 1;
            }
            if (pz_step_is_block(step->kind)) {
                open.block = step->block;
                open.block_count = nv;
            }
            open.count += nv;
            if (groups) {
                int above = model->axes[open.axis].parent;
                open.parent = above < 0 ? -1 : group_of_axis[above];
                open.depth = open.parent < 0 ? 0 : groups[open.parent].depth + 1;
                groups[count - 1] = open;
                for (int i = open.axis; i < open.axis + open.count; ++i) {
                    group_of_axis[i] = count - 1;
                }
            }
        }
    }
    return count;
}

static void find_leaves(pz_tree_step *t)
{
    for (int g = 0; g < t->group_count; ++g) {
        t->is_leaf[g] = true;
    }
    for (int g = t->group_count - 1; g >= 0; --g) {
        int parent = t->groups[g].parent;
        t->is_last_child[g] = parent >= 0 && t->is_leaf[parent];
        if (parent >= 0) {
            t->is_leaf[parent] = false;
        }
    }
}

// Along a limb every group waits for the one below it, so limbs are taken by turns: groups in the order in which they become
// ready. A group is when the groups below it are done and, for sums have their order, the child of its parent after it.
static void find_order(pz_tree_step *t, int *waits, int *before)
{
    int *last = t->order, ready = 0; // last child of each so far
    for (int g = 0; g < t->group_count; ++g) {
        int parent = t->groups[g].parent;
        waits[g] = 0;
        last[g] = before[g] = -1;
        if (parent >= 0) {
            before[g] = last[parent];
            last[parent] = g;
        }
    }
    for (int g = 0; g < t->group_count; ++g) {
        int next[] = {t->groups[g].parent, before[g]};
        waits[next[0] < 0 ? g : next[0]] += next[0] >= 0;
        waits[next[1] < 0 ? g : next[1]] += next[1] >= 0;
    }
    for (int g = t->group_count - 1; g >= 0; --g) {
        if (waits[g] == 0) {
            t->order[ready++] = g;
        }
    }
    for (int i = 0; i < ready; ++i) {
        int next[] = {t->groups[t->order[i]].parent, before[t->order[i]]};
        for (int k = 0; k < 2; ++k) {
            if (next[k] >= 0 && --waits[next[k]] == 0) {
                t->order[ready++] = next[k];
            }
        }
    }
}

pz_tree_step *pz_tree_step_lay_out(const poise_solver *solver, pz_arena *arena)
{
    const poise_model *model = solver->model;
    size_t n = (size_t)model->nv, groups = (size_t)cut_groups(model, NULL, NULL);
    bool needs_dense = model->has_mimic || solver->options.coupled_goals > 0;
    pz_tree_step blank = {0}, *tree = pz_arena_take(arena, 1, sizeof *tree);
    pz_tree_step *t = tree ? tree : &blank;
    t->groups = pz_arena_take(arena, groups, sizeof *t->groups);
    t->is_leaf = pz_arena_take(arena, groups, sizeof *t->is_leaf);
    t->is_last_child = pz_arena_take(arena, groups, sizeof *t->is_last_child);
    t->order = pz_arena_take(arena, groups, sizeof *t->order);
    t->Pi = pz_arena_take(arena, groups, sizeof *t->Pi);
    t->pi = pz_arena_take(arena, groups, sizeof *t->pi);
    t->B = pz_arena_take(arena, groups, sizeof *t->B);
    t->L = pz_arena_take(arena, groups, sizeof *t->L);
    t->gamma = pz_arena_take(arena, groups, sizeof *t->gamma);
    t->V = pz_arena_take(arena, groups, sizeof *t->V);
    t->dense = NULL;
    if (needs_dense) {
        t->dense = pz_arena_take(arena, n * n, sizeof *t->dense);
    }
    t->rhs = pz_arena_take(arena, n, sizeof *t->rhs);
    t->free_dof = pz_arena_take(arena, n, sizeof *t->free_dof);
    int *group_of_axis = pz_arena_take(arena, (size_t)model->axis_count, sizeof *group_of_axis);
    int *waits = pz_arena_take(arena, groups, sizeof *waits), *before = pz_arena_take(arena, groups, sizeof *before);
    if (tree && !arena->full) {
        t->group_count = cut_groups(model, t->groups, group_of_axis);
        find_leaves(t);
        find_order(t, waits, before);
    }
    return tree;
}

const pz_group *pz_tree_groups(const pz_tree_step *tree, int *count)
{
    *count = tree->group_count;
    return tree->groups;
}

// ---- Sweeps --------------------------------------------------------------------------------------------------------------

static int sweep_up(pz_tree_step *t, const sweep *s)
{
#if PZ_HAS_WIDE
    if (s->o->kin.model->is_wide) {
        return pz_tree_up_wide(t, s);
    }
#endif
    return groups_up(t, s);
}

static void sweep_down(pz_tree_step *t, const sweep *s)
{
#if PZ_HAS_WIDE
    if (s->o->kin.model->is_wide) {
        pz_tree_down_wide(t, s);
        return;
    }
#endif
    groups_down(t, s);
}

// ---- Negative curvature --------------------------------------------------------------------------------------------------

// Where the sweep up ended at pivot j of a group, x_j = 1 with the best answer of what is eliminated already has the
// curvature x . (H + lambda D) x = pivot: within the group L^T x = -l_j for the entries before, below it x = -L^-T B'^T V.
static void start_group(pz_tree_step *t, const sweep *s, int g)
{
    const group *at = &t->groups[g];
    const double *L = t->L[g];
    int j = 0;
    while (j + 1 < at->count && L[LOWER(j, j)] > 0.0) { // inverses of good pivots are positive
        j += 1;
    }
    double x[GROUP] = {0.0};
    x[j] = 1.0;
    for (int h = j - 1; h >= 0; --h) {
        double y = 0.0;
        for (int i = h + 1; i <= j; ++i) {
            y += L[LOWER(i, h)] * x[i];
        }
        x[h] = -y * L[LOWER(h, h)];
    }
    six V = six_zero();
    for (int i = 0; i < at->count; ++i) {
        s->x[at->dof + i] = s->hold[at->dof + i] ? 0.0 : x[i];
        V = six_mad(V, s->x[at->dof + i], six_load((const double *)&s->o->kin.S[at->axis + i]));
    }
    t->V[g] = V;
}

bool pz_tree_curvature(pz_tree_step *tree, const poise_objective *o, double lambda, const double *D, const bool *hold,
                       const double *zeros, double *x)
{
    if (pz_is_beside_tree(o)) {
        return false;
    }
    sweep s = {.o = o, .kind = POISE_HESSIAN_EXACT, .lambda = lambda, .D = D, .hold = hold, .hold_value = zeros, .x = x};
    pz_forces(o, s.kind);
    int bad = sweep_up(tree, &s);
    if (bad < 0) {
        return false;
    }
    memset(x, 0, (size_t)o->kin.model->nv * sizeof *x);
    for (int g = 0; g < bad; ++g) {
        tree->V[g] = six_zero();
    }
    start_group(tree, &s, bad);
    for (int g = bad + 1; g < tree->group_count; ++g) {
        const group *at = &tree->groups[g];
        for (int j = 0; j < at->count; ++j) {
            tree->gamma[g][j] = 0.0;
        }
        one_group_down(tree, &s, g, at->count);
    }
    return true;
}

// ---- Dense ---------------------------------------------------------------------------------------------------------------

// The same system over the free dofs, compressed to the front of the dense matrix.
static bool solve_dense(pz_tree_step *t, const sweep *s)
{
    size_t n = (size_t)s->o->kin.model->nv, m = 0;
    double *H = t->dense;
    pz_objective_hessian(s->o, s->kind, H);
    for (size_t i = 0; i < n; ++i) {
        if (!s->hold[i]) {
            t->free_dof[m++] = (int)i;
        }
    }
    for (size_t a = 0; a < m; ++a) {
        size_t i = (size_t)t->free_dof[a];
        t->rhs[a] = -s->o->gradient[i];
        for (size_t j = 0; j < n; ++j) {
            t->rhs[a] -= s->hold[j] ? H[i * n + j] * s->hold_value[j] : 0.0;
        }
    }
    for (size_t a = 0; a < m; ++a) { // rows move up and left, never over one that is still to be read
        size_t i = (size_t)t->free_dof[a];
        for (size_t b = 0; b <= a; ++b) {
            H[a * m + b] = H[i * n + (size_t)t->free_dof[b]];
        }
        H[a * m + a] += s->lambda * s->D[i];
    }
    if (!pz_cholesky((int)m, H)) {
        return false;
    }
    pz_cholesky_solve((int)m, H, t->rhs);
    for (size_t i = 0; i < n; ++i) {
        s->x[i] = s->hold[i] ? s->hold_value[i] : 0.0;
    }
    for (size_t a = 0; a < m; ++a) {
        s->x[t->free_dof[a]] = t->rhs[a];
    }
    return true;
}

bool pz_tree_solve(pz_tree_step *tree, const poise_objective *o, poise_hessian kind, double lambda, const double *D,
                   const bool *hold, const double *hold_value, double *x)
{
    sweep s = {
        .o = o, .kind = kind, .lambda = lambda, .D = D, .hold = hold, .hold_value = hold_value, .by_turns = true, .x = x};
    pz_forces(o, kind);
    if (pz_is_beside_tree(o)) {
        return solve_dense(tree, &s);
    }
    if (sweep_up(tree, &s) >= 0) {
        return false;
    }
    sweep_down(tree, &s);
    return true;
}
