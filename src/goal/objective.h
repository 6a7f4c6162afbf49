// The state behind poise_objective.
//
// After an evaluation at POISE_LEVEL_HESSIAN the Hessian is held as
//
//   H~_hi = S_h . c_i + block_hi + [h = i] diagonal_i        for axes h at or above i; 0 for axes on different branches
//   H     = M^T H~ M + sum over rows w j j^T                  M takes dofs to axes (the identity but for mimics)
//
// with S the motion axes, c = one wrench per axis, block a symmetric correction within a rotation block.
#ifndef PZ_GOAL_OBJECTIVE_H
#define PZ_GOAL_OBJECTIVE_H

#include "goal/goal.h"
#include "num/dense.h"

// ---- Markers by the dozen (position.c) -----------------------------------------------------------------------------------

// Fewer markers than this are cheaper one by one.
#define PZ_CONDENSED_MARKERS 4

// Condensed markers that there is room for, per joint of the model. What does not fit is evaluated one by one.
#define PZ_MARKERS_PER_JOINT 36

// Markers are taken four at a time; the places that a body leaves empty have weight 0.
#define PZ_MARKER_LANES 4

// The markers of one body.
typedef struct pz_markers {
    int count;        // 0: none, or too few, or no room
    int first, slots; // places in the arrays, a multiple of PZ_MARKER_LANES
    pz_moments moments;
} pz_markers;

typedef struct pz_marker_set {
    pz_markers *body; // by joint
    double *l[3];     // by place: l, t - tau, w
    double *t[3];
    double *w;
    bool any; // some body is condensed
    bool all; // every goal is
} pz_marker_set;

void pz_markers_lay_out(pz_marker_set *set, const poise_model *model, pz_arena *arena);

// Is the goal a plain marker: no loss, no band, a weight?
PZ_FN bool pz_is_marker(const poise_goal *goal)
{
    return goal->kind == POISE_GOAL_POSITION && goal->loss == POISE_LOSS_NONE && !pz_has_band(goal->tolerance) &&
           goal->weight > 0;
}

#if REAL_WIDTH == 1

// How far a marker is from its target: what the goal's own row of the table says, without the way there.
PZ_FN double pz_marker_error(const poise_kinematics *kin, const poise_goal *goal)
{
    return v3_norm(v3_sub(pz_kin_point(kin, goal->body, goal->local.position), pz_goal_target(kin, goal)));
}

#endif

// Is the goal one of a body that is condensed?
PZ_FN bool pz_is_condensed(const pz_marker_set *set, const poise_goal *goal)
{
    return pz_is_marker(goal) && set->body[goal->body].count > 0;
}

// Condense the goals that can be.
void pz_markers_condense(pz_marker_set *set, const poise_model *model, const poise_goal *goals, int count);

// Add cost, gradient and second derivatives of all condensed markers.
void pz_markers_evaluate(const pz_marker_set *set, pz_evaluation *evaluation);

// ---- The state -----------------------------------------------------------------------------------------------------------

// Motion axes on the path to the root, a few to a block, component by component.
#define PZ_PATH_LANES 4

typedef struct pz_path_block {
    double S[6][PZ_PATH_LANES];
} pz_path_block;

PZ_FN int pz_path_blocks(int depth)
{
    return (depth + PZ_PATH_LANES - 1) / PZ_PATH_LANES;
}

// Exact and Gauss-Newton side by side, indexed by poise_hessian.
struct poise_objective {
    poise_kinematics kin;
    pz_owned owned;
    const poise_goal *goals;
    int goal_count;
    bool all_plain;          // all are markers of some body without loss and band
    bool moves_followers;    // some goal sees a body that moves with a mimic joint
    const poise_goal *prior; // one more goal, or NULL
    int coupled_capacity;    // goals that may add rows
    poise_level level;       // of the last evaluation
    double cost;
    pz_marker_set own_markers;    // many markers of one body, condensed
    const pz_marker_set *markers; // those, or another objective's
    double *gradient;             // nv
    pz_sum *sums;                 // by joint: of the subtree, after the sweep up
    pz_extra *extras;             // the same
    bool has_extras;
    wrench *c[2];              // by axis; made when first asked for (pz_forces)
    bool *made;                // by poise_hessian: is c there?
    sym3 *block[2];            // by rotation block
    bool *has_block_curvature; // have the exact ones their curvature (pz_add_block_curvature)?
    double *diagonal;          // by dof
    double *rows;              // row_count x nv
    double *row_weights;
    int row_count;
    pz_path_block *stack; // axes on the path; blocks for the longest one
    double *entries;      // by place on it: one row of the packed Hessian
    int *path;            // the same: which axes
    spatial *V;           // by axis: scratch of products
    wrench *U;
};

// Take the arrays of an objective from an arena (see base/arena.h).
void pz_objective_lay_out(poise_objective *o, const poise_model *model, int coupled_goals, pz_arena *arena);

// Let `to` work on the goals that `from` has, which were checked and condensed there.
void pz_objective_share_goals(const poise_objective *from, poise_objective *to);

// poise_objective_evaluate for a q that is known to be sound.
poise_status pz_objective_evaluate(poise_objective *o, const double *q, poise_level level);

// The wrenches c of one kind, for the last evaluation.
const wrench *pz_forces(const poise_objective *o, poise_hessian kind);

// Add to the exact blocks what the wrenches of the last evaluation do to second order, if that has not been done: most steps
// of Gauss-Newton never ask. pz_forces does it; callers that add to the blocks do it first.
void pz_add_block_curvature(const poise_objective *o);

// With wider registers (base/cpu.h): the goals that are not condensed where all_plain, the sums up the tree, the wrenches c.
void pz_evaluate_plain_wide(const poise_objective *o, pz_evaluation *evaluation);
void pz_sum_up_wide(poise_objective *o);
void pz_make_forces_wide(const poise_objective *o, poise_hessian kind);

// Has H entries beside the tree: of followers, or of goals that tie bodies together?
PZ_FN bool pz_is_beside_tree(const poise_objective *o)
{
    return o->moves_followers || o->row_count > 0;
}

// Add to the exact Hessian of the last evaluation what the wrench g on a body does to second order, K beside it as in
// pz_sum; cost and gradient stay. For constraints, whose forces do no work.
void pz_objective_add_curvature(poise_objective *o, int body, wrench g, sym3 K);

// The band of a Hessian of the last evaluation, in O(n half).
void pz_objective_band(const poise_objective *o, poise_hessian kind, pz_band *band);

// poise_objective_hessian without its checks.
void pz_objective_hessian(const poise_objective *o, poise_hessian kind, double *H);

// The entry of a symmetric block.
PZ_FN double pz_block_entry(const sym3 *block, int i, int j)
{
    const double *m = (const double *)block;
    static const int place[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    return m[place[i][j]];
}

// The diagonal of H, nv numbers, in O(joints). POISE_ERROR_ARGUMENT as for poise_objective_hessian.
poise_status pz_objective_diagonal(const poise_objective *o, poise_hessian kind, double *diagonal);

// ---- The packed Hessian and its factor (hessian.c) -----------------------------------------------------------------------
//
// H = L^T D L by the tree, without fill: row i of L has entries for the degrees of freedom above i alone. Where H has other
// entries (mimic joints, coupled goals) the same on its whole lower triangle, as if all joints were one chain.

// Rows of a lower triangle, by the tree or as a chain.
typedef struct pz_packed {
    const poise_model *model;
    bool is_chain;
    int nv;
} pz_packed;

// The rows that the Hessian of the last evaluation has.
pz_packed pz_packed_of(const poise_objective *objective);

PZ_FN poise_packed_row pz_packed_row(const pz_packed *rows, int i)
{
    size_t n = (size_t)i;
    const pz_axis *axis = &rows->model->axes[i]; // without mimics axis i is that of dof i
    return rows->is_chain ? (poise_packed_row){.begin = n * (n + 1) / 2, .count = i + 1, .parent = i - 1}
                          : (poise_packed_row){rows->model->packed_row[i], axis->depth, axis->parent};
}

// The Hessian into the rows, and its diagonal; `square` is scratch for nv^2 numbers where the rows are a chain.
poise_status pz_packed_fill(const pz_packed *rows, poise_objective *objective, poise_hessian kind, double *H, double *square,
                            double *diagonal, poise_error *error);

// H = L^T D L in place: d_i at the end of row i, l_i before it. `diagonal` is that of H. A pivot that vanishes becomes a
// tiny one, so that what is open in sums of several degrees of freedom alone, and not in one, comes out finite: what is far
// down the tree often is, where two joints above it are known only together. False when a pivot is negative, unless it
// cannot be: H is not positive semidefinite.
bool pz_packed_factor(const pz_packed *rows, bool may_be_negative, double *H, const double *diagonal);

// x = L^-T x, from the leaves on, and x = L^-1 x, from the root on.
void pz_packed_solve_up(const pz_packed *rows, const double *H, double *x);
void pz_packed_solve_down(const pz_packed *rows, const double *H, double *x);

// The pivot d_i.
PZ_FN double pz_pivot(const pz_packed *rows, const double *H, int i)
{
    poise_packed_row row = pz_packed_row(rows, i);
    return H[row.begin + (size_t)row.count - 1];
}

#endif
