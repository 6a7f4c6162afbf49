// Several goals at the tips of a tree: AUTO's path for robots with more than one hand.
//
// Goals that share no moving joint are problems of their own, *parts*: their costs add and have no unknown in common. A part
// of one POSE goal on a chain is solved as an arm (solve/arm.h). The others are searched by the rules that serve arms
// well, on the whole tree (tips.c): zeros of the goals' errors are looked for, every step is taken, a search that
// creeps is dropped, and the next one begins with new places for the limbs of the goals that were missed (tips.c).
//
// In a search lengths count over L = part.unit, so that one energy serves robots of every size:
//
//   F = sum over the goals of  1/2 |r|^2/L^2 + (1 - cos(phi))          r, phi: the errors in length and angle
#ifndef PZ_SOLVE_TIPS_H
#define PZ_SOLVE_TIPS_H

#include "solve/arm.h"

typedef struct pz_tips pz_tips;

#define PZ_TIPS_MOST 16 // goals of a call; more are served as one problem, as are markers

#define PZ_TIPS_ENDS       16   // of searches, where the closest pose is looked for when none met the goals
#define PZ_TIPS_FAR        32   // restarts when a goal is out of reach, so that they only serve the closest pose
#define PZ_TIPS_ITERATIONS 30   // at most, in one search
#define PZ_TIPS_MISSED     1e-3 // of F: a goal that is left with more was missed
#define PZ_TIPS_NEAR_ZERO  1e-4 // of F, below which a search that was dropped is finished by descent
#define PZ_TIPS_DRAWS      6    // of a limb; the best is kept
#define PZ_TIPS_ROUNDS     3    // of new limbs, then everything is redrawn

#define PZ_TIPS_STAY 1e-4 // of a pull that keeps a free root where its goals leave it open, beside 1 for an error of L

// A set of goals: bit i for goal i.
typedef uint32_t pz_goal_set;

static inline pz_goal_set pz_goal_bit(int goal)
{
    return (pz_goal_set)1 << goal;
}

static inline bool pz_is_single(pz_goal_set set)
{
    return set != 0 && (set & (set - 1)) == 0;
}

typedef struct pz_branch pz_branch; // tips_tree.c
typedef struct pz_tip pz_tip;
typedef struct pz_tree pz_tree;

// Goals that are solved for together.
typedef struct pz_part {
    pz_goal_set goals;
    int first, count;   // the first of them, and how many there are
    double unit;        // L
    struct pz_arm *arm; // one POSE goal on a chain; or NULL
    pz_tree *tree;      // goals on a tree of hinges and slides; or NULL
} pz_part;

// What a plan depends on of one goal.
typedef struct pz_tip_key {
    poise_goal_kind kind;
    int body;
    bool has_lengths, has_turns; // errors with weight
    bool has_band;
    poise_pose local;
} pz_tip_key;

struct pz_tips {
    // the plan, which stays while the goals sit in the same places
    pz_tip_key keys[PZ_TIPS_MOST];
    int count; // goals that it was made for; -1: none
    bool fits;
    pz_part parts[PZ_TIPS_MOST];
    int part_count;
    pz_goal_set *moves;                // nv: the goals that a dof moves
    pz_goal_set alike[PZ_TIPS_MOST];   // goals that the same dofs move as this one
    double length[PZ_TIPS_MOST];       // of the chain to a goal
    double reach[PZ_TIPS_MOST];        // no point of the goal is ever farther from `shoulder`; infinite below a free root
    vec3 shoulder[PZ_TIPS_MOST];       // in the world
    int *part_of;                      // nq: the part that a coordinate belongs to, or -1
    struct pz_arm *arms[PZ_TIPS_MOST]; // arm_count of them
    int arm_count;
    pz_tree *trees; // of parts, and what they consist of
    pz_branch *branches;
    pz_tip *tips;
    int tree_count, branch_count, tip_count, branch_capacity;

    // the call
    double *answer; // nq

    // the current part
    poise_goal own[PZ_TIPS_MOST];    // its goals
    poise_goal search[PZ_TIPS_MOST]; // the same with the weights of a search
    int goal_of[PZ_TIPS_MOST];       // their numbers in the call
    double *q_kept;                  // nq
    double *ends;                    // PZ_TIPS_ENDS x nq, the best first
    double end_cost[PZ_TIPS_ENDS];
    int end_count;
};

// ---- A part (tips.c) -----------------------------------------------------------------------------------------------------

// Its goals into tips->own and tips->search, with the weights of a search.
void pz_tips_take_goals(const poise_solver *solver, pz_tips *tips, const pz_part *part);

// How many restarts may be of use for them.
int pz_tips_restarts(const poise_solver *solver, const pz_tips *tips, const pz_part *part);

// Keep the end of a search if it is among the best by the caller's cost.
void pz_tips_keep_end(const poise_solver *solver, pz_tips *tips, double cost, const double *q);

// Descend from the start and the ends until one meets the goals; the best is in solver->q_best.
void pz_tips_find_closest(poise_solver *solver, pz_tips *tips);

// The problem of a part: that at hand, with these goals, of which it has `count`.
static inline pz_problem pz_tips_problem(const poise_solver *solver, const poise_goal *goals, int count)
{
    pz_problem problem = *solver->problem;
    problem.goals = goals;
    problem.goal_count = count;
    return problem;
}

// ---- Parts on trees of hinges and slides (tips_tree.c) -------------------------------------------------------------------

// Scratch for the trees of a call; none where the model has no tips that such trees can have.
void pz_trees_lay_out(pz_tips *tips, const poise_model *model, pz_arena *arena);

// Make the tree of a part from what is left of the scratch. False: it has other joints or goals, or too many.
bool pz_tree_make(const poise_solver *solver, pz_tips *tips, const pz_part *part, pz_tree **made);

// Solve for the goals of a part into solver->q_best, with report and outcome of this part alone.
void pz_tree_solve_part(poise_solver *solver, pz_tips *tips, const pz_part *part);

// ---- Limbs (tips.c) ------------------------------------------------------------------------------------------------------
//
// A goal's limb is what moves this goal and no other: an arm below the torso, a finger below the wrist. A search that missed
// some goals starts again with their limbs elsewhere and everything else where it is; the chances of the others to be met
// are not thrown away.

// A state of next_uniform for draw number `draw` of restart number `restart`, of the problem whose first goal is on `body`:
// from numbers alone, so that it does not matter what was drawn before.
static inline uint64_t pz_limbs_state(uint64_t seed, int body, int restart, int draw)
{
    uint64_t state = seed * UINT64_C(0xD1342543DE82EF95) + (uint64_t)body * UINT64_C(0x2545F4914F6CDD1D);
    return (state ^ (uint64_t)restart) * UINT64_C(0x9E6C63D0876A9A99) + (uint64_t)draw * UINT64_C(0xC2B2AE3D27D4EB4F);
}

// Has the model one root, free in all directions, that nothing locks or limits?
bool pz_has_free_root(const poise_solver *solver);

static inline void pz_add_pair(mat3 *S, double weight, vec3 x, vec3 t) // S += weight x t^T
{
    S->x = v3_mad(S->x, weight * t.x, x);
    S->y = v3_mad(S->y, weight * t.y, x);
    S->z = v3_mad(S->z, weight * t.z, x);
}

// ---- Entry (tips.c) ------------------------------------------------------------------------------------------------------

pz_tips *pz_tips_lay_out(poise_solver *solver, pz_arena *arena);

// Are the goals that the solver has solved on this path?
bool pz_tips_serves(poise_solver *solver);

// Solve the whole call, restarts included, into solver->q_best, with solver->at evaluated there or the answer measured, and
// the report filled. False, with nothing done: this path does not serve these goals.
bool pz_tips_solve(poise_solver *solver);

#endif
