// Goals at several tips on a tree of hinges and slides, fixed or with a free root: the search of tips.c for POSE and
// POSITION goals, by a sweep of its own made of the pieces of an arm.
//
// A *branch* is a run of joints that move the same tips, in the normal form of an arm's chain (arm.c), beginning at
// the end of the branch above. A branch that moves one tip is that tip's limb, which may have no joints. Lengths are over
// L = part.unit; everything is relative to one reference: the root's body frame, where that is free, else the first joint's
// place in the world.
#include "num/dense.h"
#include "num/rotation.h"
#include "num/trig.h"
#include "solve/arm_kernel.h"
#include "solve/tips.h"

#define ROOT_DAMPING  0.01
#define ROOT_TURN     1.0 // radians
#define PATH          (8 * PZ_ARM_MOST)
#define FEW_TIPS      4
#define FINISH_LAMBDA 1e-4 // where a search left off
#define FINISH_LEAST  1e-15
#define FINISH_MOST   1e6 // steps this short change nothing
#define FINISH_STEPS  80
#define FINISH_LOOK   10 // steps that must halve F

// What a subtree hands up, about motions V = (w, u) at the reference: the energy 1/2 V . M V + m . V, over lambda.
typedef struct pz_information {
    sym3 A, C;
    mat3 N; // M = [[A, N], [N^T, C]]
    vec3 mw, mu;
} pz_information;

// What is known of one joint of an inner branch when it has been eliminated.
typedef struct pz_eliminated {
    vec3 sw, su, bw, bu; // s, b = M s
    double D, gamma;     // 1/(1 + s . b), s . m; D = 0: held
} pz_eliminated;

struct pz_branch {
    int parent;   // branch, or -1
    int tip;      // at its end, or -1
    mat3 base;    // of its first joint, or of a tip without joints, in the last frame of the branch above
    vec3 base_at; // over L
    pz_arm_chain chain;
    pz_arm_run run; // coordinates and their intervals
    double q_kept[PZ_ARM_MOST], side_kept[PZ_ARM_MOST];
    arm_frames frames;
    arm_column columns[PZ_ARM_MOST]; // of a limb; cleared where a joint is held
    pz_eliminated joints[PZ_ARM_MOST];
    vec3 n, f; // torque and force of the tips below, about the reference
    pz_information below;
    vec3 w, u; // the step at its end
};

struct pz_tip {
    int goal, branch;
    bool turns; // a POSE goal
    // the target: in the world, then relative to the reference, over L, with the tail undone
    mat3 world_u, u;
    vec3 world_t, t;
    double most_r, most_e;      // met when |r|^2 <= most_r and 2 E <= most_e
    double weight, turn_weight; // of 1/2 |r|^2 and E in the caller's cost
    arm_error error;
    double f;
    sym3 Gr, Gt; // inverse of the limb's 6 x 6 matrix
    mat3 Gx;
    vec3 z, y;
};

struct pz_tree {
    pz_branch *branches;
    int branch_count;
    pz_tip *tips;
    int tip_count;
    double unit;
    bool has_root;  // free
    vec3 origin;    // of the reference, in the world, where the root is fixed
    quat B, B_kept; // pose of a free root
    vec3 b, b_kept;
    double F;
    double slope, longest; // of the last step, for a trace: largest component of gradient and step
};

// ---- Which trees: branches between the places where the paths to the tips part -------------------------------------------

// Can an arm have this joint?
static bool is_plain_joint(const poise_model *model, const pz_joint *joint)
{
    int steps = joint->step_end - joint->step_begin;
    return steps == 0 ||
           (steps == 1 && joint->mimic == POISE_WORLD && !pz_step_is_block(model->steps[joint->step_begin].kind));
}

// Goals may sit on inner bodies, too.
static int clamp_count(int tips)
{
    return tips < FEW_TIPS ? FEW_TIPS : least(tips, PZ_TIPS_MOST);
}

// Branches that goals of this model may need.
static int most_branches(const poise_model *model)
{
    int tips = 0;
    for (int k = 0; k < model->joint_count; ++k) {
        bool is_tip = model->joints[k].subtree == 1;
        for (int j = k; is_tip && model->joints[j].parent != POISE_WORLD; j = model->joints[j].parent) {
            is_tip = is_plain_joint(model, &model->joints[j]);
        }
        tips += is_tip;
    }
    return tips > 0 ? 2 * clamp_count(tips) - 1 : 0;
}

// The tips that joint k moves; 0 for one that does not move.
static pz_goal_set moved_by(const poise_solver *solver, const pz_tips *tips, int k)
{
    const pz_joint *joint = &solver->model->joints[k];
    return joint->v_begin < joint->v_end ? tips->moves[joint->v_begin] : 0;
}

// A walk down the path to one tip.
typedef struct walk {
    int path[PATH], count;
    int at;     // joints before this are in branches
    int branch; // where it has come to, or -1
} walk;

// The branch above the joint path[at] that moves exactly `moved`, if there is one already.
static int find_branch(const pz_tree *tree, int parent, int first_q)
{
    for (int k = 0; k < tree->branch_count; ++k) {
        const pz_branch *branch = &tree->branches[k];
        if (branch->parent == parent && branch->tip < 0 && branch->chain.n > 0 && branch->chain.q[0] == first_q) {
            return k;
        }
    }
    return -1;
}

// Close the chain of a new branch: its base in the last frame of the one above, lengths over L.
static bool add_branch(pz_tree *tree, int most, const poise_solver *solver, const walk *w, int end, const mat3 *R, vec3 t)
{
    if (tree->branch_count == most) {
        return false;
    }
    pz_branch *branch = &tree->branches[tree->branch_count];
    branch->parent = w->branch;
    branch->tip = -1;
    if (!pz_arm_chain_walk(solver->model, solver->box, NULL, w->path + w->at, end - w->at, R, t, &branch->chain)) {
        return false;
    }
    branch->base = branch->chain.base;
    branch->base_at = v3_scale(branch->chain.base_at, 1.0 / tree->unit);
    if (w->branch >= 0) {
        const mat3 *tail = &tree->branches[w->branch].chain.tail;
        branch->base_at = m3_apply(tail, branch->base_at);
        branch->base = m3_mul(tail, &branch->base);
    }
    pz_arm_chain_scale(tree->unit, &branch->chain);
    tree->branch_count += 1;
    return true;
}

// The inner branch that begins at w->at and moves `moved`, from joint to joint until another set; new unless it is there.
static bool walk_inner(const poise_solver *solver, const pz_tips *tips, pz_tree *tree, int most, walk *w, pz_goal_set moved)
{
    int end = w->at, last = w->at;
    for (; end < w->count; ++end) {
        pz_goal_set here = moved_by(solver, tips, w->path[end]);
        if (here != 0 && here != moved) {
            break;
        }
        last = here != 0 ? end + 1 : last; // fixed joints after the last go with what follows
    }
    int first = w->at;
    while (moved_by(solver, tips, w->path[first]) == 0) {
        first += 1;
    }
    const pz_joint *joint = &solver->model->joints[w->path[first]];
    int found = find_branch(tree, w->branch, joint->q_begin);
    if (found < 0) {
        mat3 I = m3_identity();
        found = tree->branch_count;
        if (!add_branch(tree, most, solver, w, last, &I, v3(0, 0, 0))) {
            return false;
        }
    }
    w->branch = found;
    w->at = last;
    return true;
}

static bool add_tip(const poise_solver *solver, const pz_tips *tips, int goal, int most, pz_tree *tree)
{
    const poise_model *model = solver->model;
    const pz_tip_key *key = &tips->keys[goal];
    bool turns = key->kind == POISE_GOAL_POSE && key->has_turns && key->has_lengths;
    if ((!turns && key->kind != POISE_GOAL_POSITION) || key->has_band) {
        return false;
    }
    walk w = {.branch = -1};
    w.count = pz_model_path(model, key->body, w.path, PATH);
    w.at = tree->has_root ? 1 : 0;
    for (int k = w.at; k < w.count && w.count <= PATH; ++k) {
        const pz_joint *joint = &model->joints[w.path[k]];
        if (!is_plain_joint(model, joint) || (joint->v_begin < joint->v_end && solver->box[joint->v_begin].locked)) {
            return false;
        }
    }
    for (int k = w.at; k < w.count && w.count <= PATH;) {
        pz_goal_set moved = moved_by(solver, tips, w.path[k]);
        if (moved == 0 || pz_is_single(moved)) {
            k += 1;
            continue;
        }
        if (!walk_inner(solver, tips, tree, most, &w, moved)) {
            return false;
        }
        k = w.at;
    }
    mat3 B = model->joints[key->body].B, L = quat_matrix(quat_normalize(key->local.rotation));
    mat3 R = m3_mul(&B, &L);
    if (w.count > PATH || !add_branch(tree, most, solver, &w, w.count, &R, m3_apply(&B, key->local.position))) {
        return false;
    }
    tree->branches[tree->branch_count - 1].tip = tree->tip_count;
    tree->tips[tree->tip_count++] = (pz_tip){.goal = goal, .branch = tree->branch_count - 1, .turns = turns};
    return true;
}

void pz_trees_lay_out(pz_tips *tips, const poise_model *model, pz_arena *arena)
{
    int most = most_branches(model);
    tips->branch_capacity = most;
    tips->branches = most > 0 ? (pz_branch *)pz_arena_take(arena, (size_t)most, sizeof *tips->branches) : NULL;
    tips->tips = most > 0 ? (pz_tip *)pz_arena_take(arena, PZ_TIPS_MOST, sizeof *tips->tips) : NULL;
    tips->trees = most > 0 ? (pz_tree *)pz_arena_take(arena, PZ_TIPS_MOST, sizeof *tips->trees) : NULL;
}

// Where the root is fixed lengths count from the first joint.
static void set_reference(pz_tree *tree)
{
    vec3 first = tree->branches[0].base_at;
    tree->origin = v3_scale(first, tree->unit);
    for (int k = 0; k < tree->branch_count; ++k) {
        pz_branch *branch = &tree->branches[k];
        branch->base_at = branch->parent < 0 ? v3_sub(branch->base_at, first) : branch->base_at;
    }
}

bool pz_tree_make(const poise_solver *solver, pz_tips *tips, const pz_part *part, pz_tree **made)
{
    if (!tips->trees) {
        return false;
    }
    pz_tree *tree = &tips->trees[tips->tree_count];
    *tree = (pz_tree){.branches = tips->branches + tips->branch_count,
                      .tips = tips->tips + tips->tip_count,
                      .unit = part->unit,
                      .has_root = pz_has_free_root(solver)};
    int most = tips->branch_capacity - tips->branch_count;
    for (int i = 0; i < tips->count; ++i) {
        if ((part->goals & pz_goal_bit(i)) && !add_tip(solver, tips, i, most, tree)) {
            return false;
        }
    }
    if (!tree->has_root) {
        set_reference(tree);
    }
    tips->tree_count += 1;
    tips->branch_count += tree->branch_count;
    tips->tip_count += tree->tip_count;
    *made = tree;
    return true;
}

// ---- One step ------------------------------------------------------------------------------------------------------------
//
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

PZ_INLINE void evaluate_tip(const pz_branch *branch, pz_tip *tip)
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

static void tree_evaluate(pz_tree *tree)
{
    if (tree->has_root) {
        bring_targets(tree);
    }
    tree->F = 0.0;
    for (int k = 0; k < tree->branch_count; ++k) {
        pz_branch *branch = &tree->branches[k];
        sweep_branch(tree, branch);
        if (branch->tip >= 0) {
            evaluate_tip(branch, &tree->tips[branch->tip]);
            tree->F += tree->tips[branch->tip].f;
        }
    }
}

static double tree_evaluate_limb(pz_tree *tree, int tip)
{
    pz_branch *branch = &tree->branches[tree->tips[tip].branch];
    sweep_branch(tree, branch);
    evaluate_tip(branch, &tree->tips[tip]);
    return tree->tips[tip].f;
}

static bool tree_is_met(const pz_tree *tree)
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

static void tree_sum_forces(pz_tree *tree, bool own)
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

static double tree_slope(const pz_branch *branch, int i)
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

static void clear_information(pz_information *i)
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

static void eliminate_branch(pz_tree *tree, pz_branch *branch)
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

static void tree_move(pz_tree *tree, double lambda)
{
    pz_information top;
    clear_information(&top);
    tree->slope = tree->longest = 0.0;
    tree_sum_forces(tree, false);
    for (int k = 0; k < tree->branch_count; ++k) {
        if (tree->branches[k].tip < 0) {
            clear_information(&tree->branches[k].below);
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
            eliminate_branch(tree, branch);
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

// ---- Coordinates ---------------------------------------------------------------------------------------------------------

// Where a free root is at the start.
static void read_root(const poise_solver *solver, pz_tree *tree)
{
    const poise_model *model = solver->model;
    const pz_joint *root = &model->joints[0];
    const double *q = solver->problem->q_start; // the root's come first
    if (model->given[0].type == POISE_JOINT_FREE) {
        mat3 M = quat_matrix(quat_normalize((quat){q[3], q[4], q[5], q[6]})), R = m3_mul(&root->C, &M);
        tree->B = quat_from_matrix(&R);
        tree->b = v3_add(root->t, m3_apply(&root->C, v3(q[0], q[1], q[2])));
        return;
    }
    pz_kin_sweep(&solver->trial->kin, solver->problem->q_start);
    tree->B = quat_from_matrix(&solver->trial->kin.R[0]);
    tree->b = solver->trial->kin.origin;
}

static void open_branches(const poise_solver *solver, pz_tree *tree)
{
    for (int k = 0; k < tree->branch_count; ++k) {
        pz_branch *branch = &tree->branches[k];
        double q[PZ_ARM_MOST];
        for (int i = 0; i < branch->chain.n; ++i) {
            q[i] = solver->problem->q_start[branch->chain.q[i]];
        }
        arm_open(&branch->chain, branch->chain.n, q, &branch->run);
        arm_begin(&branch->chain, branch->chain.n, q, &branch->run);
    }
    if (tree->has_root) {
        read_root(solver, tree);
    }
}

// The current coordinates as a configuration; hinges next to where they started.
static void write_configuration(const poise_solver *solver, pz_tree *tree, double *q)
{
    memcpy(q, solver->problem->q_start, (size_t)solver->model->nq * sizeof *q);
    for (int k = 0; k < tree->branch_count; ++k) {
        const pz_branch *branch = &tree->branches[k];
        double start[PZ_ARM_MOST], at[PZ_ARM_MOST];
        for (int i = 0; i < branch->chain.n; ++i) {
            start[i] = solver->problem->q_start[branch->chain.q[i]];
            at[i] = branch->run.q[i];
        }
        arm_turn_back(&branch->chain, branch->chain.n, start, at);
        for (int i = 0; i < branch->chain.n; ++i) {
            q[branch->chain.q[i]] = at[i];
        }
    }
    if (tree->has_root) {
        mat3 B = quat_matrix(tree->B);
        pz_set_root(solver->model, &B, v3_sub(tree->b, solver->model->joints[0].t), q);
    }
}

// The coordinates set aside, and back from there.
static void keep_state(pz_tree *tree)
{
    for (int k = 0; k < tree->branch_count; ++k) {
        pz_branch *branch = &tree->branches[k];
        memcpy(branch->q_kept, branch->run.q, (size_t)branch->chain.n * sizeof branch->q_kept[0]);
        memcpy(branch->side_kept, branch->run.side, (size_t)branch->chain.n * sizeof branch->side_kept[0]);
    }
    tree->B_kept = tree->B;
    tree->b_kept = tree->b;
}

static void restore_state(pz_tree *tree)
{
    for (int k = 0; k < tree->branch_count; ++k) {
        pz_branch *branch = &tree->branches[k];
        memcpy(branch->run.q, branch->q_kept, (size_t)branch->chain.n * sizeof branch->q_kept[0]);
        memcpy(branch->run.side, branch->side_kept, (size_t)branch->chain.n * sizeof branch->side_kept[0]);
    }
    tree->B = tree->B_kept;
    tree->b = tree->b_kept;
}

// ---- Targets and cost ----------------------------------------------------------------------------------------------------

static void tree_set_targets(const poise_solver *solver, const pz_tips *tips, pz_tree *tree)
{
    const poise_solver_options *o = &solver->options;
    double sine, cosine, scale = 1.0 / tree->unit;
    pz_sincos(0.5 * min2(o->rotation_tolerance, PZ_PI), &sine, &cosine);
    for (int i = 0; i < tree->tip_count; ++i) {
        pz_tip *tip = &tree->tips[i];
        const poise_goal *goal = &solver->problem->goals[tip->goal];
        const pz_arm_chain *chain = &tree->branches[tip->branch].chain;
        mat3 R = quat_matrix(quat_normalize(goal->target.rotation)), tail = m3_transpose(&chain->tail);
        tip->world_u = tip->turns ? m3_mul(&R, &tail) : m3_identity();
        tip->world_t = goal->target.position;
        tip->u = tip->world_u;
        tip->t = v3_scale(v3_sub(tip->world_t, tree->origin), scale);
        tip->most_r = pz_arm_square(o->position_tolerance * scale, tips->length[tip->goal] * scale);
        tip->most_e = !tip->turns || o->rotation_tolerance >= PZ_PI ? INFINITY : pz_arm_square(2.0 * sine, 1.0);
        tip->weight = goal->weight * tree->unit * tree->unit;
        tip->turn_weight = tip->turns ? goal->rotation_weight : 0.0;
    }
}

static double own_cost(const pz_tree *tree)
{
    double sum = 0.0;
    for (int i = 0; i < tree->tip_count; ++i) {
        const pz_tip *tip = &tree->tips[i];
        sum += 0.5 * tip->weight * tip->error.rr + tip->turn_weight * tip->error.e;
    }
    return sum;
}

// Lay a free root onto the targets as tips.c does, from the frames that were looked at.
static void tree_align(pz_tree *tree)
{
    double share = 1.0 / tree->tip_count, scale = 1.0 / tree->unit;
    vec3 x = {0, 0, 0}, t = {0, 0, 0};
    for (int i = 0; i < tree->tip_count; ++i) {
        x = v3_mad(x, share, tree->branches[tree->tips[i].branch].frames.p);
        t = v3_mad(t, share, tree->tips[i].world_t);
    }
    mat3 B = quat_matrix(tree->B), S = m3_transpose(&B);
    S = (mat3){v3_scale(S.x, PZ_TIPS_STAY), v3_scale(S.y, PZ_TIPS_STAY), v3_scale(S.z, PZ_TIPS_STAY)};
    for (int i = 0; i < tree->tip_count; ++i) {
        const pz_tip *tip = &tree->tips[i];
        const arm_frames *frames = &tree->branches[tip->branch].frames;
        pz_add_pair(&S, scale, v3_sub(frames->p, x), v3_sub(tip->world_t, t));
        if (tip->turns) {
            pz_add_pair(&S, 0.5, frames->d.x, tip->world_u.x);
            pz_add_pair(&S, 0.5, frames->d.y, tip->world_u.y);
            pz_add_pair(&S, 0.5, frames->d.z, tip->world_u.z);
        }
    }
    quat turn;
    tree->B = pz_best_quat(&S, 4, &turn) ? turn : tree->B;
    tree->b = v3_sub(t, v3_scale(quat_rotate(tree->B, x), tree->unit));
}

// ---- One search ----------------------------------------------------------------------------------------------------------

static bool tree_is_solved(const poise_solver *solver, const pz_tree *tree)
{
    return tree_is_met(tree) ||
           (solver->problem->cost_tolerance > 0 && own_cost(tree) <= 0.9999 * solver->problem->cost_tolerance);
}

static void tree_count_iteration(poise_solver *solver, const pz_tree *tree, double lambda)
{
    solver->answer->report.iterations += 1;
    if (pz_is_traced(solver)) {
        pz_trace(solver, (poise_trace){.cost = own_cost(tree),
                                       .gradient = tree->slope,
                                       .damping = lambda,
                                       .step = tree->longest,
                                       .accepted = true}); // judged at the end
    }
}

// From the current coordinates; `is_seen`: they have been evaluated.
static bool tree_search_zero(poise_solver *solver, pz_tree *tree, bool is_seen)
{
    int most = least(PZ_TIPS_ITERATIONS, solver->options.max_iterations);
    double lambda = 0.0;
    arm_progress progress = arm_progress_begin();
    for (;; is_seen = false) {
        if (!is_seen) {
            tree_evaluate(tree);
        }
        solver->answer->report.evaluations += 1;
        if (progress.k > 0) {
            tree_count_iteration(solver, tree, lambda);
        }
        bool met = tree_is_solved(solver, tree);
        if (arm_ends(&progress, tree->F, met, most)) {
            return met;
        }
        lambda = arm_damping(tree->F);
        tree_move(tree, lambda);
    }
}

// Descent with the same step, where a search was dropped near a zero.
static bool tree_finish(poise_solver *solver, pz_tree *tree)
{
    double lambda = FINISH_LAMBDA, growth = 2.0, before = tree->F;
    int most = least(FINISH_STEPS, solver->options.max_iterations);
    if (!(tree->F < PZ_TIPS_NEAR_ZERO)) {
        return false;
    }
    for (int k = 1; k <= most && lambda < FINISH_MOST; ++k) {
        double F = tree->F;
        keep_state(tree);
        tree_move(tree, lambda);
        tree_evaluate(tree);
        solver->answer->report.evaluations += 1;
        solver->answer->report.iterations += 1;
        if (tree->F < F) {
            lambda = max2(lambda / 3.0, FINISH_LEAST);
            growth = 2.0;
            if (tree_is_solved(solver, tree)) {
                return true;
            }
        } else {
            restore_state(tree);
            tree_evaluate(tree);
            lambda *= growth;
            growth *= 2.0;
        }
        if (k % FINISH_LOOK == 0) {
            if (!(tree->F < 0.5 * before)) {
                return false;
            }
            before = tree->F;
        }
    }
    return false;
}

// ---- Restarts ------------------------------------------------------------------------------------------------------------

static void draw_branch(pz_branch *branch, uint64_t *state)
{
    double q[PZ_ARM_MOST];
    const pz_arm_chain *chain = &branch->chain;
    for (int i = 0; i < chain->n; ++i) {
        q[i] = clamp(chain->first[i] + chain->span[i] * next_uniform(state), chain->lower[i], chain->upper[i]);
    }
    arm_begin(chain, chain->n, q, &branch->run);
}

static void tree_draw_limb(const poise_solver *solver, const pz_tips *tips, pz_tree *tree, int tip, int restart)
{
    pz_branch *branch = &tree->branches[tree->tips[tip].branch];
    size_t size = (size_t)branch->chain.n * sizeof branch->run.q[0];
    double best = INFINITY, q[PZ_ARM_MOST] = {0.0};
    for (int draw = 0; draw < PZ_TIPS_DRAWS; ++draw) {
        uint64_t state = pz_limbs_state(solver->problem->seed, tips->keys[tree->tips[tip].goal].body, restart, draw);
        draw_branch(branch, &state);
        double f = tree_evaluate_limb(tree, tip);
        if (f < best || draw == 0) {
            best = f;
            memcpy(q, branch->run.q, size);
        }
    }
    arm_begin(&branch->chain, branch->chain.n, q, &branch->run);
}

// Where restart number `restart` begins: new limbs for the tips that were missed, for all where none was; everything again
// after some rounds of that, and where those have no joints of their own.
static void begin_again(const poise_solver *solver, const pz_tips *tips, pz_tree *tree, int restart, int *rounds)
{
    bool missed[PZ_TIPS_MOST], any = false;
    int drawn = 0;
    for (int i = 0; i < tree->tip_count; ++i) {
        missed[i] = tree->tips[i].f >= PZ_TIPS_MISSED;
        any = any || missed[i];
    }
    for (int i = 0; i < tree->tip_count && *rounds < PZ_TIPS_ROUNDS; ++i) {
        if ((missed[i] || !any) && tree->branches[tree->tips[i].branch].chain.n > 0) {
            tree_draw_limb(solver, tips, tree, i, restart);
            drawn += 1;
        }
    }
    *rounds = drawn > 0 ? *rounds + 1 : 0;
    if (drawn == 0) {
        uint64_t state = pz_limbs_state(solver->problem->seed, tips->keys[tree->tips[0].goal].body, restart, PZ_TIPS_DRAWS);
        for (int k = 0; k < tree->branch_count; ++k) {
            draw_branch(&tree->branches[k], &state);
        }
        if (tree->has_root) {
            tree_evaluate(tree);
            tree_align(tree);
        }
    }
}

// ---- Answer --------------------------------------------------------------------------------------------------------------

// The gradient of a root whose dofs are slides along the axes of its frame and turns about the body's own.
static double slope_of_root(const poise_model *model, const pz_tree *tree, vec3 n, vec3 f)
{
    vec3 along = m3_apply_transposed(&model->joints[0].C, v3_scale(quat_rotate(tree->B, f), 1.0 / tree->unit));
    return max2(max2(max2(fabs(n.x), fabs(n.y)), fabs(n.z)), max2(max2(fabs(along.x), fabs(along.y)), fabs(along.z)));
}

// The largest component of the projected gradient at the answer, per unit of a coordinate.
static double tree_slope_of(const poise_model *model, pz_tree *tree)
{
    double largest = 0.0;
    vec3 n = {0, 0, 0}, f = {0, 0, 0};
    tree_sum_forces(tree, true);
    for (int k = 0; k < tree->branch_count; ++k) {
        const pz_branch *branch = &tree->branches[k];
        n = branch->parent < 0 ? v3_add(n, branch->n) : n;
        f = branch->parent < 0 ? v3_add(f, branch->f) : f;
        const pz_arm_chain *chain = &branch->chain;
        for (int i = 0; i < chain->n; ++i) {
            double q = branch->run.q[i], g = tree_slope(branch, i);
            bool held = (q <= chain->lower[i] && g >= 0) || (q >= chain->upper[i] && g <= 0);
            largest = held ? largest : max2(largest, fabs(g) / chain->rate[i]);
        }
    }
    return tree->has_root ? max2(largest, slope_of_root(model, tree, n, f)) : largest;
}

// The answer by the tree's own numbers; the objective knows the coordinates of other roots.
static void tree_measure(poise_solver *solver, pz_tree *tree)
{
    poise_report *r = &solver->answer->report;
    double rr = 0.0, e = 0.0;
    for (int i = 0; i < tree->tip_count; ++i) {
        rr = max2(rr, tree->tips[i].error.rr);
        e = max2(e, tree->tips[i].error.e);
    }
    r->cost = own_cost(tree);
    r->worst_length = tree->unit * sqrt(rr);
    r->worst_angle = arm_angle(e);
    bool is_reached =
        r->worst_length <= solver->options.position_tolerance && r->worst_angle <= solver->options.rotation_tolerance;
    bool is_known = !tree->has_root || solver->model->given[0].type == POISE_JOINT_FREE;
    solver->answer->is_measured = is_known && (is_reached || r->cost <= solver->problem->cost_tolerance);
    r->gradient = solver->answer->is_measured ? tree_slope_of(solver->model, tree) : 0.0;
}

static bool tree_search(poise_solver *solver, pz_tips *tips, const pz_part *part, bool is_seen)
{
    pz_tree *tree = part->tree;
    bool met = tree_search_zero(solver, tree, is_seen) || tree_finish(solver, tree);
    int rounds = 0, last = 0;
    tips->end_count = 0;
    if (!met) {
        pz_tips_take_goals(solver, tips, part);
        last = pz_tips_restarts(solver, tips, part);
    }
    for (int m = 1; m <= last && !met; ++m) {
        write_configuration(solver, tree, tips->q_kept);
        pz_tips_keep_end(solver, tips, own_cost(tree), tips->q_kept);
        begin_again(solver, tips, tree, m, &rounds);
        met = tree_search_zero(solver, tree, false) || tree_finish(solver, tree);
        solver->answer->report.restarts = m;
    }
    return met;
}

void pz_tree_solve_part(poise_solver *solver, pz_tips *tips, const pz_part *part)
{
    pz_tree *tree = part->tree;
    tree_set_targets(solver, tips, tree);
    open_branches(solver, tree);
    tree_evaluate(tree);
    solver->answer->report.start_cost = own_cost(tree);
    bool aligns = tree->has_root && solver->options.start == POISE_START_COLD;
    if (aligns) {
        tree_align(tree);
    }
    solver->answer->end = pz_reached;
    bool met = tree_search(solver, tips, part, !aligns);
    write_configuration(solver, tree, met ? solver->q_best : tips->q_kept);
    if (met) {
        tree_measure(solver, tree);
    } else {
        pz_tips_keep_end(solver, tips, own_cost(tree), tips->q_kept);
    }
    const pz_problem *whole = solver->problem;
    pz_problem own = pz_tips_problem(solver, tips->own, part->count);
    if (!met || (solver->options.trace && !solver->answer->is_measured)) {
        pz_tips_take_goals(solver, tips, part);
        pz_set_problem(solver, &own);
    }
    if (!met) {
        pz_tips_find_closest(solver, tips);
    }
    if (solver->options.trace && !solver->answer->is_measured) { // it wants the cost where this ends
        pz_objective_evaluate(solver->at, solver->q_best, POISE_LEVEL_COST);
    }
    pz_set_problem(solver, whole);
}
