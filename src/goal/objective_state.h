// The state behind poise_objective.
//
// After an evaluation at POISE_LEVEL_HESSIAN the Hessian is held as
//
//   H~_hi = S_h . c_i + block_hi + [h = i] diagonal_i        for axes h at or above i; 0 for axes on different branches
//   H     = M^T H~ M + sum over rows w j j^T                  M takes dofs to axes (the identity but for mimics)
//
// with S the motion axes, c = one wrench per axis, block a symmetric correction within a rotation block.
#ifndef PZ_GOAL_OBJECTIVE_STATE_H
#define PZ_GOAL_OBJECTIVE_STATE_H

#include "goal/marker_sums.h"

// Motion axes on the path to the root, a few to a block, component by component.
#define PZ_PATH_LANES 4

typedef struct pz_path_block {
    double S[6][PZ_PATH_LANES];
} pz_path_block;

static inline int pz_path_blocks(int depth)
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
    wrench *c[2];     // by axis; made when first asked for (pz_forces)
    bool *made;       // by poise_hessian: is c there?
    sym3 *block[2];   // by rotation block
    bool *is_bent;    // have the exact ones their curvature (pz_bend_blocks)?
    double *diagonal; // by dof
    double *rows;     // row_count x nv
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
void pz_bend_blocks(const poise_objective *o);

// With wider registers (base/cpu.h): the goals that are not condensed where all_plain, the sums up the tree, the wrenches c.
void pz_evaluate_plain_wide(const poise_objective *o, pz_evaluation *evaluation);
void pz_sum_up_wide(poise_objective *o);
void pz_make_forces_wide(const poise_objective *o, poise_hessian kind);

// Has H entries beside the tree: of followers, or of goals that tie bodies together?
static inline bool pz_is_beside_tree(const poise_objective *o)
{
    return o->moves_followers || o->row_count > 0;
}

// Add to the exact Hessian of the last evaluation what the wrench g on a body does to second order, K beside it as in
// pz_sum; cost and gradient stay. For constraints, whose forces do no work.
void pz_objective_bend(poise_objective *o, int body, wrench g, sym3 K);

// poise_objective_hessian without its checks.
void pz_objective_hessian(const poise_objective *o, poise_hessian kind, double *H);

// The entry of a symmetric block.
static inline double pz_block_entry(const sym3 *block, int i, int j)
{
    const double *m = (const double *)block;
    static const int place[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    return m[place[i][j]];
}

// The diagonal of H, nv numbers, in O(joints). POISE_ERROR_ARGUMENT as for poise_objective_hessian.
poise_status pz_objective_diagonal(const poise_objective *o, poise_hessian kind, double *diagonal);

#endif
