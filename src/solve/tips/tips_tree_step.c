// One step of the search on a tree of hinges and slides.
//
// Limbs are solved as arms are, by the 6 x 6 matrix K K^T of their own joints; what is left of a tip's error is a quadratic
// form of the motion (w, u) of the limb's root, which goes up the tree joint by joint; motions come back down. All is
// divided by lambda, so that nothing cancels as lambda falls. With X = [p]x, p the tip,
//
//   limb        G = (K K^T + lambda diag(1/kappa, 1))^-1 = [[Gr, Gx], [Gx^T, Gt]]        (z, y) = G (v/kappa, r)
//   to parent   C += Gt    N += Gx + X Gt    A += Gr + (Gx + X Gt) X^T + X Gx^T    mu += y    mw += z + p x y
//   joint       s = (a, o x a), for a slide (0, a):    b = M s    D = 1/(1 + s . b)    gamma = s . m
//               M -= D b b^T    m -= D gamma b
//   free root   (M + 0.01 I) (w, u) = -m, its turn at most 1 rad
//   down        joint  x = -D (gamma + b . (w, u)),  (w, u) += s x
//               limb   (z, y) += G (w, u + w x p),   x = -(a . z + J . y)
#include "solve/tips/tips_tree.h"

#include "num/dense.h"

#define ROOT_DAMPING 0.01
#define ROOT_TURN    1.0 // radians

// ---- Sweep ---------------------------------------------------------------------------------------------------------------

// The branch from the end of the one above.
PZ_INLINE void sweep_branch(const pz_tree *tree, pz_branch *branch)
{
    mat3 start = branch->base;
    vec3 at = branch->base_at;
    if (branch->parent >= 0) {
        const arm_frames *above = &tree->branches[branch->parent].frames;
        start = m3_mul(&above->d, &branch->base);
        at = v3_add(above->p, m3_apply(&above->d, branch->base_at));
    }
    const pz_arm_chain *chain = &branch->chain;
    if (chain->n == 0) {
        branch->frames.d = start;
        branch->frames.p = at;
    } else if (chain->n == 7 && !chain->slides) { // the usual limbs: constants let the loops unroll
        arm_forward_from(chain, 7, false, ARM_ALONE, branch->run.q, start, at, &branch->frames);
    } else if (chain->n == 6 && !chain->slides) {
        arm_forward_from(chain, 6, false, ARM_ALONE, branch->run.q, start, at, &branch->frames);
    } else {
        arm_forward_from(chain, chain->n, true, ARM_ALONE, branch->run.q, start, at, &branch->frames);
    }
}

PZ_INLINE void look_at_tip(const pz_branch *branch, pz_tip *tip)
{
    if (tip->turns) {
        tip->error = arm_error_at(&branch->frames, &tip->u, tip->t);
    } else {
        vec3 r = v3_sub(branch->frames.p, tip->t);
        tip->error = (arm_error){r, {0, 0, 0}, v3_dot(r, r), 0.0};
    }
    tip->f = arm_energy(&tip->error);
}

// Targets seen from a free root.
static void bring_targets(pz_tree *tree)
{
    mat3 B = quat_matrix(tree->B);
    double scale = 1.0 / tree->unit;
    for (int i = 0; i < tree->tip_count; ++i) {
        pz_tip *tip = &tree->tips[i];
        tip->t = v3_scale(m3_apply_transposed(&B, v3_sub(tip->world_t, tree->b)), scale);
        mat3 back = m3_transpose(&B);
        tip->u = m3_mul(&back, &tip->world_u);
    }
}

void pz_tree_look(pz_tree *tree)
{
    if (tree->has_root) {
        bring_targets(tree);
    }
    tree->F = 0.0;
    for (int k = 0; k < tree->branch_count; ++k) {
        pz_branch *branch = &tree->branches[k];
        sweep_branch(tree, branch);
        if (branch->tip >= 0) {
            look_at_tip(branch, &tree->tips[branch->tip]);
            tree->F += tree->tips[branch->tip].f;
        }
    }
}

double pz_tree_look_at_limb(pz_tree *tree, int tip)
{
    pz_branch *branch = &tree->branches[tree->tips[tip].branch];
    sweep_branch(tree, branch);
    look_at_tip(branch, &tree->tips[tip]);
    return tree->tips[tip].f;
}

bool pz_tree_is_met(const pz_tree *tree)
{
    for (int i = 0; i < tree->tip_count; ++i) {
        const pz_tip *tip = &tree->tips[i];
        if (!(tip->error.rr <= tip->most_r && 2.0 * tip->error.e <= tip->most_e)) {
            return false;
        }
    }
    return true;
}

// ---- Forces --------------------------------------------------------------------------------------------------------------

void pz_tree_sum_forces(pz_tree *tree, bool own)
{
    for (int k = 0; k < tree->branch_count; ++k) {
        tree->branches[k].n = tree->branches[k].f = v3(0, 0, 0);
    }
    for (int k = tree->branch_count - 1; k >= 0; --k) {
        pz_branch *branch = &tree->branches[k];
        if (branch->tip >= 0) {
            const pz_tip *tip = &tree->tips[branch->tip];
            branch->f = own ? v3_scale(tip->error.r, tip->weight) : tip->error.r;
            branch->n =
                v3_add(v3_cross(branch->frames.p, branch->f), own ? v3_scale(tip->error.v, tip->turn_weight) : tip->error.v);
        }
        if (branch->parent >= 0) {
            pz_branch *above = &tree->branches[branch->parent];
            above->n = v3_add(above->n, branch->n);
            above->f = v3_add(above->f, branch->f);
        }
    }
}

// The motion of everything below, at the reference, per unit of a step.
PZ_INLINE void axis_of(const pz_branch *branch, int i, vec3 *w, vec3 *u)
{
    vec3 a = branch->frames.a[i], none = {0, 0, 0};
    bool slides = branch->chain.turn[i] == 0;
    *w = slides ? none : a;
    *u = slides ? a : v3_cross(branch->frames.o[i], a);
}

double pz_tree_slope(const pz_branch *branch, int i)
{
    vec3 w, u;
    axis_of(branch, i, &w, &u);
    return v3_dot(w, branch->n) + v3_dot(u, branch->f);
}

// ---- Limbs ---------------------------------------------------------------------------------------------------------------

static void make_columns(pz_tree *tree, pz_branch *branch, const pz_tip *tip)
{
    const pz_arm_chain *chain = &branch->chain;
    for (int i = 0; i < chain->n; ++i) {
        arm_column column = arm_column_of(chain, chain->slides, &branch->frames, i);
        double g = arm_slope(&column, 1.0, &tip->error);
        bool held = branch->run.side[i] != 0 && arm_is_held(branch->run.side[i], g);
        branch->columns[i] = held ? (arm_column){{0, 0, 0}, {0, 0, 0}} : column;
        tree->slope = max2(tree->slope, held ? 0.0 : fabs(g));
    }
}

// The inverse by elimination, where blocks are nearly singular.
static void invert_singular(const arm_blocks *b, pz_tip *tip)
{
    const sym3 *P = &b->P, *Q = &b->Q;
    const mat3 *X = &b->X; // columns belong to the components of J
    double A[36] = {P->xx,  P->xy,  P->xz,  X->x.x, X->y.x, X->z.x, P->xy,  P->yy,  P->yz,  X->x.y, X->y.y, X->z.y,
                    P->xz,  P->yz,  P->zz,  X->x.z, X->y.z, X->z.z, X->x.x, X->x.y, X->x.z, Q->xx,  Q->xy,  Q->xz,
                    X->y.x, X->y.y, X->y.z, Q->xy,  Q->yy,  Q->yz,  X->z.x, X->z.y, X->z.z, Q->xz,  Q->yz,  Q->zz};
    double I[6][6];
    bool is_sound = pz_cholesky(6, A);
    for (int k = 0; k < 6; ++k) {
        for (int i = 0; i < 6; ++i) {
            I[k][i] = i == k && is_sound ? 1.0 : 0.0;
        }
        if (is_sound) {
            pz_cholesky_solve(6, A, I[k]);
        }
    }
    tip->Gr = (sym3){I[0][0], I[0][1], I[0][2], I[1][1], I[1][2], I[2][2]};
    tip->Gt = (sym3){I[3][3], I[3][4], I[3][5], I[4][4], I[4][5], I[5][5]};
    tip->Gx = (mat3){{I[3][0], I[3][1], I[3][2]}, {I[4][0], I[4][1], I[4][2]}, {I[5][0], I[5][1], I[5][2]}};
}

// By blocks, as arm_solve_blocks: with Y = P^-1 X and S = Q - X^T Y,  Gt = S^-1,  Gx = -Y Gt,  Gr = P^-1 + Y Gt Y^T.
static void invert_blocks(const arm_blocks *b, pz_tip *tip)
{
    sym3 P, S;
    const sym3 *Q = &b->Q;
    const mat3 *X = &b->X;
    bool regular = arm_invert(&b->P, &b->P, ARM_SINGULAR_P, &P);
    mat3 Y = {sym3_apply(&P, X->x), sym3_apply(&P, X->y), sym3_apply(&P, X->z)};
    sym3 complement = {Q->xx - v3_dot(X->x, Y.x), Q->xy - v3_dot(X->x, Y.y), Q->xz - v3_dot(X->x, Y.z),
                       Q->yy - v3_dot(X->y, Y.y), Q->yz - v3_dot(X->y, Y.z), Q->zz - v3_dot(X->z, Y.z)};
    regular = arm_invert(&complement, Q, ARM_SINGULAR_S, &S) && regular;
    if (!regular) {
        invert_singular(b, tip);
        return;
    }
    mat3 T = sym3_matrix(&S), YT = m3_mul(&Y, &T);
    tip->Gt = S;
    tip->Gx = (mat3){v3_neg(YT.x), v3_neg(YT.y), v3_neg(YT.z)};
    // (Y T) Y^T is symmetric: columns of Y^T are rows of Y
    vec3 x = m3_apply(&YT, v3(Y.x.x, Y.y.x, Y.z.x)), y = m3_apply(&YT, v3(Y.x.y, Y.y.y, Y.z.y));
    vec3 z = m3_apply(&YT, v3(Y.x.z, Y.y.z, Y.z.z));
    tip->Gr = (sym3){P.xx + x.x, P.xy + x.y, P.xz + x.z, P.yy + y.y, P.yz + y.z, P.zz + z.z};
}

PZ_INLINE void solve_limb(pz_tree *tree, pz_branch *branch, pz_tip *tip, double lambda)
{
    make_columns(tree, branch, tip);
    if (tip->turns) {
        double inverse_kappa = 1.0 / arm_kappa(tip->error.e);
        arm_blocks blocks = arm_blocks_of(branch->chain.n, branch->columns, lambda, inverse_kappa);
        vec3 v = v3_scale(tip->error.v, inverse_kappa);
        invert_blocks(&blocks, tip);
        tip->z = v3_add(sym3_apply(&tip->Gr, v), m3_apply(&tip->Gx, tip->error.r));
        tip->y = v3_add(m3_apply_transposed(&tip->Gx, v), sym3_apply(&tip->Gt, tip->error.r));
        return;
    }
    sym3 Q = sym3_identity(lambda);
    for (int i = 0; i < branch->chain.n; ++i) {
        Q = sym3_add_square(Q, branch->columns[i].J);
    }
    if (!arm_invert(&Q, &Q, ARM_SINGULAR_S, &tip->Gt)) {
        arm_blocks blocks = {sym3_identity(1.0), Q, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}};
        invert_singular(&blocks, tip);
    }
    tip->y = sym3_apply(&tip->Gt, tip->error.r);
    tip->z = v3(0, 0, 0);
}

// ---- Up ------------------------------------------------------------------------------------------------------------------

static void clear(pz_information *i)
{
    vec3 o = {0, 0, 0};
    i->A = i->C = sym3_identity(0.0);
    i->N = (mat3){o, o, o};
    i->mw = i->mu = o;
}

static void add_information(const pz_information *from, pz_information *to)
{
    to->A = sym3_add(to->A, from->A);
    to->C = sym3_add(to->C, from->C);
    to->N = (mat3){v3_add(to->N.x, from->N.x), v3_add(to->N.y, from->N.y), v3_add(to->N.z, from->N.z)};
    to->mw = v3_add(to->mw, from->mw);
    to->mu = v3_add(to->mu, from->mu);
}

// What a limb hands on, moved from its tip to the reference.
static pz_information information_of(const pz_tip *tip, vec3 p)
{
    pz_information i = {.C = tip->Gt, .mu = tip->y, .mw = v3_add(tip->z, v3_cross(p, tip->y))};
    mat3 T = sym3_matrix(&tip->Gt), zero = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, Gx = tip->turns ? tip->Gx : zero;
    // X v = p x v: of the columns of Gt
    i.N = (mat3){v3_add(Gx.x, v3_cross(p, T.x)), v3_add(Gx.y, v3_cross(p, T.y)), v3_add(Gx.z, v3_cross(p, T.z))};
    // N X^T: column k is N (X^T e_k) = N (e_k x p)
    vec3 a = m3_apply(&i.N, v3(0, -p.z, p.y)), b = m3_apply(&i.N, v3(p.z, 0, -p.x)), c = m3_apply(&i.N, v3(-p.y, p.x, 0));
    i.A = (sym3){a.x, b.x, c.x, b.y, c.y, c.z};
    if (tip->turns) { // X Gx^T: column k is p x (row k of Gx)
        vec3 d = v3_cross(p, v3(Gx.x.x, Gx.y.x, Gx.z.x)), e = v3_cross(p, v3(Gx.x.y, Gx.y.y, Gx.z.y));
        vec3 f = v3_cross(p, v3(Gx.x.z, Gx.y.z, Gx.z.z));
        i.A = sym3_add(sym3_add(i.A, tip->Gr), (sym3){d.x, e.x, f.x, e.y, f.y, f.z});
    }
    return i;
}

static void eliminate(pz_tree *tree, pz_branch *branch)
{
    pz_information *m = &branch->below;
    for (int i = branch->chain.n - 1; i >= 0; --i) {
        pz_eliminated *e = &branch->joints[i];
        axis_of(branch, i, &e->sw, &e->su);
        double g = v3_dot(e->sw, branch->n) + v3_dot(e->su, branch->f), side = branch->run.side[i];
        e->D = 0.0;
        if (side != 0 && arm_is_held(side, g)) {
            continue;
        }
        tree->slope = max2(tree->slope, fabs(g));
        e->bw = v3_add(sym3_apply(&m->A, e->sw), m3_apply(&m->N, e->su));
        e->bu = v3_add(m3_apply_transposed(&m->N, e->sw), sym3_apply(&m->C, e->su));
        e->D = 1.0 / (1.0 + (v3_dot(e->sw, e->bw) + v3_dot(e->su, e->bu)));
        e->gamma = v3_dot(e->sw, m->mw) + v3_dot(e->su, m->mu);
        vec3 w = v3_scale(e->bw, -e->D), u = v3_scale(e->bu, -e->D);
        m->A =
            sym3_add(m->A, (sym3){w.x * e->bw.x, w.x * e->bw.y, w.x * e->bw.z, w.y * e->bw.y, w.y * e->bw.z, w.z * e->bw.z});
        m->C =
            sym3_add(m->C, (sym3){u.x * e->bu.x, u.x * e->bu.y, u.x * e->bu.z, u.y * e->bu.y, u.y * e->bu.z, u.z * e->bu.z});
        m->N = (mat3){v3_mad(m->N.x, e->bu.x, w), v3_mad(m->N.y, e->bu.y, w), v3_mad(m->N.z, e->bu.z, w)};
        m->mw = v3_mad(m->mw, e->gamma, w);
        m->mu = v3_mad(m->mu, e->gamma, u);
    }
}

// The step of a free root; none where it cannot be solved for.
static void solve_root(pz_tree *tree, const pz_information *m, vec3 *w, vec3 *u)
{
    double A[6][8] = {{m->A.xx + ROOT_DAMPING, m->A.xy, m->A.xz, m->N.x.x, m->N.y.x, m->N.z.x, -m->mw.x},
                      {m->A.xy, m->A.yy + ROOT_DAMPING, m->A.yz, m->N.x.y, m->N.y.y, m->N.z.y, -m->mw.y},
                      {m->A.xz, m->A.yz, m->A.zz + ROOT_DAMPING, m->N.x.z, m->N.y.z, m->N.z.z, -m->mw.z},
                      {m->N.x.x, m->N.x.y, m->N.x.z, m->C.xx + ROOT_DAMPING, m->C.xy, m->C.xz, -m->mu.x},
                      {m->N.y.x, m->N.y.y, m->N.y.z, m->C.xy, m->C.yy + ROOT_DAMPING, m->C.yz, -m->mu.y},
                      {m->N.z.x, m->N.z.y, m->N.z.z, m->C.xz, m->C.yz, m->C.zz + ROOT_DAMPING, -m->mu.z}};
    arm_eliminate(6, A);
    *w = v3(A[0][6], A[1][6], A[2][6]);
    *u = v3(A[3][6], A[4][6], A[5][6]);
    double turn = v3_norm(*w), share = turn > ROOT_TURN ? ROOT_TURN / turn : 1.0;
    *w = v3_scale(*w, share);
    *u = v3_scale(*u, share);
    if (!v3_is_finite(*w) || !v3_is_finite(*u)) {
        *w = *u = v3(0, 0, 0);
    }
    tree->b = v3_mad(tree->b, tree->unit, quat_rotate(tree->B, *u));
    tree->B = quat_normalize(quat_mul(tree->B, so3_exp_quat(*w)));
}

// ---- Down ----------------------------------------------------------------------------------------------------------------

static void move_branch(pz_tree *tree, pz_branch *branch, vec3 w, vec3 u)
{
    double x[PZ_ARM_MOST];
    const pz_arm_chain *chain = &branch->chain;
    if (branch->tip >= 0) {
        pz_tip *tip = &tree->tips[branch->tip];
        vec3 shift = v3_add(u, v3_cross(w, branch->frames.p));
        vec3 y = v3_add(tip->y, sym3_apply(&tip->Gt, shift)), z = tip->z;
        if (tip->turns) {
            y = v3_add(y, m3_apply_transposed(&tip->Gx, w));
            z = v3_add(z, v3_add(sym3_apply(&tip->Gr, w), m3_apply(&tip->Gx, shift)));
        }
        for (int i = 0; i < chain->n; ++i) {
            x[i] = -(v3_dot(branch->columns[i].a, z) + v3_dot(branch->columns[i].J, y));
        }
    } else {
        for (int i = 0; i < chain->n; ++i) {
            const pz_eliminated *e = &branch->joints[i];
            x[i] = e->D == 0 ? 0.0 : -e->D * (e->gamma + (v3_dot(e->bw, w) + v3_dot(e->bu, u)));
            w = v3_mad(w, x[i], e->sw);
            u = v3_mad(u, x[i], e->su);
        }
    }
    branch->w = w;
    branch->u = u;
    tree->longest = max2(tree->longest, pz_largest(x, chain->n));
    arm_joints joints = arm_joints_of(&branch->run);
    arm_move(chain, chain->n, chain->slides, x, &joints);
}

void pz_tree_move(pz_tree *tree, double lambda)
{
    pz_information top;
    clear(&top);
    tree->slope = tree->longest = 0.0;
    pz_tree_sum_forces(tree, false);
    for (int k = 0; k < tree->branch_count; ++k) {
        if (tree->branches[k].tip < 0) {
            clear(&tree->branches[k].below);
        }
    }
    for (int k = tree->branch_count - 1; k >= 0; --k) {
        pz_branch *branch = &tree->branches[k];
        pz_information *above = branch->parent < 0 ? &top : &tree->branches[branch->parent].below;
        if (branch->tip >= 0) {
            pz_tip *tip = &tree->tips[branch->tip];
            solve_limb(tree, branch, tip, lambda);
            if (branch->parent >= 0 || tree->has_root) {
                pz_information own = information_of(tip, branch->frames.p);
                add_information(&own, above);
            }
        } else {
            eliminate(tree, branch);
            add_information(&branch->below, above);
        }
    }
    vec3 w = {0, 0, 0}, u = {0, 0, 0};
    if (tree->has_root) {
        solve_root(tree, &top, &w, &u);
    }
    for (int k = 0; k < tree->branch_count; ++k) {
        pz_branch *branch = &tree->branches[k];
        const pz_branch *above = branch->parent < 0 ? NULL : &tree->branches[branch->parent];
        move_branch(tree, branch, above ? above->w : w, above ? above->u : u);
    }
}
