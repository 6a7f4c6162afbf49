// The search for POSE and POSITION goals on trees of hinges and slides, fixed or with a free root: that of tips_search.c by
// a sweep of its own, with the pieces of an arm.
//
// A *branch* is a run of joints that move the same tips, in the normal form of an arm's chain (arm_chain.c), beginning at
// the end of the branch above. A branch that moves one tip is that tip's limb, which may have no joints. Lengths are over
// L = part.unit; everything is relative to one reference: the root's body frame, where that is free, else the first joint's
// place in the world.
#ifndef PZ_SOLVE_TIPS_TREE_H
#define PZ_SOLVE_TIPS_TREE_H

#include "solve/arm_kernel.h"
#include "solve/tips/tips.h"

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

// ---- Plan (tips_tree.c) --------------------------------------------------------------------------------------------------

// Branches that goals of this model may need; 0: there are no tips that such trees can have.
int pz_trees_most_branches(const poise_model *model);

// Scratch for the trees of a call, at most `most` branches in all.
void pz_trees_lay_out(pz_tips *tips, int most, pz_arena *arena);

// Make the tree of a part from what is left of the scratch. False: it has other joints or goals, or too many.
bool pz_tree_make(const poise_solver *solver, pz_tips *tips, const pz_part *part, pz_tree **made);

// ---- Sweep and step (tips_tree_step.c) -----------------------------------------------------------------------------------

// Frames, errors and F at the current coordinates; of one limb alone, its energy.
void pz_tree_look(pz_tree *tree);
double pz_tree_look_at_limb(pz_tree *tree, int tip);

bool pz_tree_is_met(const pz_tree *tree);

// One step with this damping.
void pz_tree_move(pz_tree *tree, double lambda);

// Torques and forces of the tips, weighted as in the search or in the caller's cost, summed up the tree; then the slope of
// joint i.
void pz_tree_sum_forces(pz_tree *tree, bool own);
double pz_tree_slope(const pz_branch *branch, int i);

// ---- Part (tips_tree_solve.c) --------------------------------------------------------------------------------------------

// Solve for the goals of a part, as pz_tips_search_part.
void pz_tree_solve_part(poise_solver *solver, pz_tips *tips, const pz_part *part);

#endif
