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
// it adds B x to pi and Delta x to the gammas of its group, and drops out. Where H has entries beside the tree (mimics,
// goals that tie bodies together) the same system is solved densely.
#include "math/dense.h"
#include "simd/six.h"
#include "solve/solver_state.h"

#include <string.h>

#define GROUP 3

typedef pz_group group;

struct pz_tree_step {
    int group_count;
    int depths; // of groups
    group *groups;
    six_by_six *Pi; // by depth of a group: sum over the subtrees below; groups come depth first, so one is at work at a time
    six *pi;
    six (*B)[GROUP];
    double (*Delta)[GROUP * GROUP]; // Cholesky factor over the free axes, row-major
    double (*gamma)[GROUP];
    six *V;        // by group: V after it
    double *dense; // nv x nv, or NULL when the tree is enough
    double *rhs;   // nv
    int *free_dof; // nv
};

// ---- Groups --------------------------------------------------------------------------------------------------------------

// Cut each joint's axes into runs of at most three that keep rotation blocks whole. Returns how many; `groups` may be NULL.
static int cut_groups(const poise_model *model, group *groups, int *group_of_axis)
{
    int count = 0;
    for (int k = 0; k < model->joint_count; ++k) {
        const pz_joint *joint = &model->joints[k];
        group open = {.axis = -1, .block = -1};
        for (int s = joint->step_begin; s < joint->step_end; ++s) {
            const pz_step *step = &model->steps[s];
            int nv = pz_step_nv(step->kind);
            if (open.axis < 0 || open.count + nv > GROUP) {
                open = (group){.axis = step->axis, .block = -1, .parent = -1};
                count += 1;
            }
            if (pz_step_is_block(step->kind)) {
                open.block = step->block;
                open.block_axis = open.count;
                open.block_count = nv;
            }
            open.count += nv;
            if (groups) {
                int above = model->axes[open.axis].parent;
                open.parent = above < 0 ? -1 : group_of_axis[above];
                open.depth = above < 0 ? 0 : groups[open.parent].depth + 1;
                groups[count - 1] = open;
                for (int i = open.axis; i < open.axis + open.count; ++i) {
                    group_of_axis[i] = count - 1;
                }
            }
        }
    }
    return count;
}

pz_tree_step *pz_tree_step_lay_out(const poise_solver *solver, pz_arena *arena)
{
    const poise_model *model = solver->model;
    size_t n = (size_t)model->nv, groups = (size_t)cut_groups(model, NULL, NULL);
    bool needs_dense = model->has_mimic || solver->options.coupled_goals > 0;
    pz_tree_step blank = {0}, *tree = pz_arena_take(arena, 1, sizeof *tree);
    pz_tree_step *t = tree ? tree : &blank;
    t->groups = pz_arena_take(arena, groups, sizeof *t->groups);
    t->Pi = pz_arena_take(arena, groups, sizeof *t->Pi);
    t->pi = pz_arena_take(arena, groups, sizeof *t->pi);
    t->B = pz_arena_take(arena, groups, sizeof *t->B);
    t->Delta = pz_arena_take(arena, groups, sizeof *t->Delta);
    t->gamma = pz_arena_take(arena, groups, sizeof *t->gamma);
    t->V = pz_arena_take(arena, groups, sizeof *t->V);
    t->dense = NULL;
    if (needs_dense) {
        t->dense = pz_arena_take(arena, n * n, sizeof *t->dense);
    }
    t->rhs = pz_arena_take(arena, n, sizeof *t->rhs);
    t->free_dof = pz_arena_take(arena, n, sizeof *t->free_dof);
    int *group_of_axis = pz_arena_take(arena, (size_t)model->axis_count, sizeof *group_of_axis);
    if (tree && !arena->full) {
        t->group_count = cut_groups(model, t->groups, group_of_axis);
        t->depths = 0;
        for (int g = 0; g < t->group_count; ++g) {
            t->depths = t->groups[g].depth < t->depths ? t->depths : t->groups[g].depth + 1;
        }
    }
    return tree;
}

const pz_group *pz_tree_groups(const pz_tree_step *tree, int *count)
{
    *count = tree->group_count;
    return tree->groups;
}

// ---- Sweep up ------------------------------------------------------------------------------------------------------------

typedef struct sweep {
    const poise_objective *o;
    poise_hessian kind;
    double lambda;
    const double *D;
    const bool *hold;
    const double *hold_value;
    double *x;
} sweep;

// Where a group is worked on: the sums over the subtrees below, and its own numbers.
typedef struct work {
    six_by_six *Pi;
    six *pi, *B;
    double *Delta, *gamma;
} work;

// B, Delta and gamma of a group, before held dofs drop out. Here and below `count` is that of the group, handed in as a
// constant so that the loops unroll.
static inline void assemble(const work *w, const sweep *s, const group *at, int count)
{
    const spatial *axis = &s->o->kin.S[at->axis];
    const wrench *c = &s->o->c[s->kind][at->axis];
    double *Delta = w->Delta;
    six S[GROUP];
    for (int j = 0; j < count; ++j) {
        int i = at->axis + j;
        S[j] = six_load((const double *)&axis[j]);
        six B = six_apply(six_load((const double *)&c[j]), w->Pi, S[j]);
        w->B[j] = B;
        w->gamma[j] = s->o->gradient[i] + six_dot(S[j], *w->pi);
        for (int h = 0; h <= j; ++h) {
            Delta[j * GROUP + h] = six_dot(S[h], B);
        }
        Delta[j * GROUP + j] += s->o->diagonal[i] + s->lambda * s->D[i];
    }
    int first = at->block_axis, end = first + at->block_count;
    for (int j = 0; at->block_count > 0 && j < count; ++j) {
        for (int h = 0; h <= j; ++h) {
            if (h >= first && j < end) {
                Delta[j * GROUP + h] += pz_block_entry(&s->o->block[s->kind][at->block], h - first, j - first);
            }
        }
    }
}

// Let held dofs drop out: their x is known. A held row keeps a unit pivot and no entries, and its B no part in Pi.
static inline void drop_held(const work *w, const sweep *s, const group *at, int count)
{
    double *Delta = w->Delta;
    for (int j = 0; j < count; ++j) {
        if (!s->hold[at->axis + j]) {
            continue;
        }
        double value = s->hold_value[at->axis + j];
        for (int h = 0; h < count; ++h) {
            double *entry = h <= j ? &Delta[j * GROUP + h] : &Delta[h * GROUP + j];
            w->gamma[h] += *entry * value;
            *entry = 0.0;
        }
        *w->pi = six_mad(*w->pi, value, w->B[j]);
        w->B[j] = six_zero();
        Delta[j * GROUP + j] = 1.0;
        w->gamma[j] = 0.0;
    }
}

// Delta = L L^T in place; then B <- B L^-T, gamma <- L^-1 gamma, so that what follows needs no solve:
// B Delta^-1 B^T = B' B'^T,   B Delta^-1 gamma = B' gamma'. False when a pivot is not > 0.
static inline bool eliminate(const work *w, int count)
{
    double *L = w->Delta, *gamma = w->gamma;
    six *B = w->B, pi = *w->pi;
    for (int j = 0; j < count; ++j) {
        for (int h = 0; h < j; ++h) {
            double l = L[j * GROUP + h];
            B[j] = six_mad(B[j], -l, B[h]);
            gamma[j] -= l * gamma[h];
            for (int i = j; i < count; ++i) {
                L[i * GROUP + j] -= L[i * GROUP + h] * l;
            }
        }
        double pivot = L[j * GROUP + j];
        if (!(pivot > 0.0)) {
            return false;
        }
        double inverse = 1.0 / sqrt(pivot);
        L[j * GROUP + j] = inverse;
        for (int i = j + 1; i < count; ++i) {
            L[i * GROUP + j] *= inverse;
        }
        B[j] = six_scale(B[j], inverse);
        gamma[j] *= inverse;
        six_subtract_square(w->Pi, B[j]);
        pi = six_mad(pi, -gamma[j], B[j]);
    }
    *w->pi = pi;
    return true;
}

static inline bool holds_any(const sweep *s, const group *at, int count)
{
    bool any = false;
    for (int i = at->axis; i < at->axis + count; ++i) {
        any = any || s->hold[i];
    }
    return any;
}

static inline bool work_on(const work *w, const sweep *s, const group *at, int count)
{
    assemble(w, s, at, count);
    if (holds_any(s, at, count)) {
        drop_held(w, s, at, count);
    }
    return eliminate(w, count);
}

static inline void hand_on(pz_tree_step *t, int depth, const six_by_six *Pi, six pi)
{
    if (depth > 0) {
        t->Pi[depth - 1] = six_by_six_add(t->Pi[depth - 1], Pi);
        t->pi[depth - 1] = six_add(t->pi[depth - 1], pi);
    }
}

#ifndef PZ_HAS_TWO

static inline bool group_up(pz_tree_step *t, const sweep *s, int g, int count)
{
    const group *at = &t->groups[g];
    work w = {&t->Pi[at->depth], &t->pi[at->depth], t->B[g], t->Delta[g], t->gamma[g]};
    bool is_positive = work_on(&w, s, at, count);
    if (is_positive) {
        hand_on(t, at->depth, w.Pi, *w.pi);
    }
    return is_positive;
}

#else

// The same on copies, where registers are many and memory is far.
static inline bool group_up(pz_tree_step *t, const sweep *s, int g, int count)
{
    const group *at = &t->groups[g];
    six_by_six Pi = t->Pi[at->depth];
    six pi = t->pi[at->depth], B[GROUP];
    double Delta[GROUP * GROUP], gamma[GROUP];
    work w = {&Pi, &pi, B, Delta, gamma};
    bool is_positive = work_on(&w, s, at, count);
    for (int j = 0; j < count; ++j) {
        t->B[g][j] = B[j];
        t->gamma[g][j] = gamma[j];
        for (int h = 0; h <= j; ++h) {
            t->Delta[g][j * GROUP + h] = Delta[j * GROUP + h];
        }
    }
    if (is_positive) {
        hand_on(t, at->depth, &Pi, pi);
    }
    return is_positive;
}

#endif

// The group whose pivots are not all positive, where the sweep ends; -1: there is none.
static int sweep_up(pz_tree_step *t, const sweep *s)
{
    for (int depth = 0; depth < t->depths; ++depth) {
        t->Pi[depth] = (six_by_six){0};
        t->pi[depth] = six_zero();
    }
    for (int g = t->group_count - 1; g >= 0; --g) {
        int count = t->groups[g].count;
        bool is_positive = count == 1 ? group_up(t, s, g, 1) : count == 2 ? group_up(t, s, g, 2) : group_up(t, s, g, 3);
        if (!is_positive) {
            return g;
        }
        t->Pi[t->groups[g].depth] = (six_by_six){0};
        t->pi[t->groups[g].depth] = six_zero();
    }
    return -1;
}

// ---- Sweep down ----------------------------------------------------------------------------------------------------------

// y = B'^T V + gamma', then x = -L^-T y; L holds the inverses of its diagonal. A held x is known.
static inline void group_down(pz_tree_step *t, const sweep *s, int g, six V, int count)
{
    const group *at = &t->groups[g];
    const double *L = t->Delta[g];
    double x[GROUP];
    for (int j = count - 1; j >= 0; --j) {
        double y = six_dot(t->B[g][j], V) + t->gamma[g][j];
        for (int i = j + 1; i < count; ++i) {
            y += L[i * GROUP + j] * x[i];
        }
        x[j] = -y * L[j * GROUP + j];
    }
    for (int j = 0; j < count; ++j) {
        int i = at->axis + j;
        s->x[i] = s->hold[i] ? s->hold_value[i] : x[j];
        V = six_mad(V, s->x[i], six_load((const double *)&s->o->kin.S[i]));
    }
    t->V[g] = V;
}

static void sweep_down(pz_tree_step *t, const sweep *s)
{
    for (int g = 0; g < t->group_count; ++g) {
        const group *at = &t->groups[g];
        six V = at->parent < 0 ? six_zero() : t->V[at->parent];
        if (at->count == 1) {
            group_down(t, s, g, V, 1);
        } else if (at->count == 2) {
            group_down(t, s, g, V, 2);
        } else {
            group_down(t, s, g, V, 3);
        }
    }
}

// ---- Negative curvature --------------------------------------------------------------------------------------------------

// Where the sweep up ended at pivot j of a group, x_j = 1 with the best answer of what is eliminated already has the
// curvature x . (H + lambda D) x = pivot: within the group L^T x = -l_j for the entries before, below it x = -L^-T B'^T V.
static void start_group(pz_tree_step *t, const sweep *s, int g)
{
    const group *at = &t->groups[g];
    const double *L = t->Delta[g];
    int j = 0;
    while (j + 1 < at->count && L[j * GROUP + j] > 0.0) { // inverses of good pivots are positive
        j += 1;
    }
    double x[GROUP] = {0.0};
    x[j] = 1.0;
    for (int h = j - 1; h >= 0; --h) {
        double y = 0.0;
        for (int i = h + 1; i <= j; ++i) {
            y += L[i * GROUP + h] * x[i];
        }
        x[h] = -y * L[h * GROUP + h];
    }
    six V = six_zero();
    for (int i = 0; i < at->count; ++i) {
        s->x[at->axis + i] = s->hold[at->axis + i] ? 0.0 : x[i];
        V = six_mad(V, s->x[at->axis + i], six_load((const double *)&s->o->kin.S[at->axis + i]));
    }
    t->V[g] = V;
}

bool pz_tree_curvature(pz_tree_step *tree, const poise_objective *o, double lambda, const double *D, const bool *hold,
                       const double *zeros, double *x)
{
    if (o->kin.model->has_mimic || o->row_count > 0) {
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
        group_down(tree, &s, g, at->parent < 0 ? six_zero() : tree->V[at->parent], at->count);
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
    sweep s = {.o = o, .kind = kind, .lambda = lambda, .D = D, .hold = hold, .hold_value = hold_value, .x = x};
    pz_forces(o, kind);
    if (o->kin.model->has_mimic || o->row_count > 0) {
        return solve_dense(tree, &s);
    }
    if (sweep_up(tree, &s) >= 0) {
        return false;
    }
    sweep_down(tree, &s);
    return true;
}
