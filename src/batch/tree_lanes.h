// POSITION goals on a tree, one problem to a lane: what the engine (tree_lanes.c) and its kernels share.
//
// Every number of poise_objective and pz_tree_step that differs between problems becomes a register with one lane for each.
// The engine holds what is decided problem by problem; kernels do the sweeps for all lanes at once. There is one point for
// each lane, not two: a trial overwrites it, and after a rejection the lane evaluates its old coordinates again, which gives
// the old bits.
//
// **Layout.** Lanes share the list of the goals' bodies. Weights and points are their own: a goal that does not take part
// somewhere has the weight 0 there, and what it adds changes no bit, since sums begin at +0 and never become -0.
#ifndef PZ_BATCH_TREE_LANES_H
#define PZ_BATCH_TREE_LANES_H

#include "batch/batch_engine.h"

#define PZ_NEAR_EDGE   (1.0 - 1e-9) // of a swing's ellipse: what rounding may put at the edge is beyond
#define PZ_LONG_SQUARE 1e100        // a swing this far off would be brought back, ellipse or not

// What the sweeps need of a group of axes (solve/damped_step.h).
typedef struct pz_lane_group {
    int axis, count, parent;
    int joint;
    int slides;         // axes that slide, which come first
    int block;          // rotation block at its head, or -1
    int block_count;    // axes of that
    bool is_leaf;       // no group hangs on it
    bool is_last_child; // of its parent: the first that the sweep from the leaves hands up
} pz_lane_group;

typedef struct pz_lane_joint {
    bool is_leaf, is_last_child; // the same among joints
    int goal_begin, goal_end;    // its goals in by_body
    int place_begin, place_end;  // places for condensed markers (goal/position.c); none: it never has enough
    unsigned condensed;          // lanes where it is condensed, by bit
} pz_lane_joint;

typedef struct pz_lane_goal {
    int body;
    unsigned single; // lanes where it is evaluated on its own, by bit
} pz_lane_goal;

// Registers are kept as doubles, `lanes` in a row; kernels read them as theirs.
typedef struct pz_tree_lanes {
    const poise_model *model;
    poise_solver *solver; // the worker's: boxes, options, and problems that leave their lane
    const struct pz_tree_kernels *kernels;
    int lanes, max_goals;
    int group_count;
    pz_lane_group *groups;
    bool *is_unlimited; // by step: a rotation vector without limits
    // layout
    int goal_count;
    pz_lane_joint *joints;
    pz_lane_goal *goals;
    int *by_body; // goals sorted by body, in order within each
    // goals: by goal, by place, by joint
    double *goal_l, *goal_t, *goal_w, *goal_cost; // 3, 3, 1, 1
    int64_t *goal_is_off;                         // counts as met
    double *place_l, *place_t, *place_w;          // 3, 3, 1
    double *moment;                               // 22: those of pz_moments
    double *body_cost;
    // the point
    double *q_at, *q_try; // nq
    double *origin;       // 3
    double *R, *p, *S;    // by joint 9, 3; by axis 6
    double *value, *sine, *cosine;
    double *blocks; // 17: those of pz_block
    double *sums;   // 22: of pz_sum
    double *gradient, *diagonal, *D;
    double *cost;
    // the step
    int64_t *hold;
    double *hold_value, *x;
    double *Pi, *pi, *B, *L, *gamma, *V;          // by group 21, 6, 18, 6, 3, 6
    double *product, *axis_V, *axis_U;            // nv; by axis 6, 6
    double *lambda, *largest, *worst, *predicted; // 1
    // problem by problem
    struct pz_tree_lane *lane; // by lane (tree_lanes.c)
    poise_problem *const *queue;
    int queue_count, next;
    uint64_t *is_taken;            // by problem of the queue, one bit each
    int fetching;                  // problem of the queue whose goals are being fetched
    const char *fetch, *fetch_end; // what is left of them
    int begun, left;               // problems of the queue that began in a lane, and those that had to leave it
} pz_tree_lanes;

// Sets of lanes are bits.
typedef struct pz_tree_kernels {
    // Evaluate at q_try: frames, sums, gradient, cost.
    void (*evaluate)(pz_tree_lanes *t);
    // Lanes whose cost or gradient is not finite.
    unsigned (*overflowed)(const pz_tree_lanes *t);
    // Stop tests at the point, where lanes of `fresh` begin and those of `moved` have come: `largest` is the projected
    // gradient's, *met has the lanes whose goals are all met. Returns the lanes that are stationary. Lanes of `fresh` get a
    // new diagonal before, those of `metric` after, and both a new D.
    unsigned (*inspect)(pz_tree_lanes *t, unsigned fresh, unsigned moved, unsigned metric, unsigned *met);
    // One pass of the active set: x of (H + lambda D) x = -g, H exact for the lanes of `exact`. Lanes of `begin` begin their
    // step. Returns the lanes where the matrix is positive definite; *leaving has those of them that now hold more dofs.
    unsigned (*solve)(pz_tree_lanes *t, unsigned begin, unsigned exact, unsigned *leaving);
    // q_try = q_at + x within the limits for the lanes of `ready`, q_at for the others; `predicted` for lanes of `newton` by
    // their equation, for others of `ready` by the product with H. Returns the lanes where a swing comes near the edge of
    // its ellipse, which no kernel knows of.
    unsigned (*propose)(pz_tree_lanes *t, unsigned ready, unsigned newton, unsigned exact);
    // q_at = q_try for the lanes of `accepted`.
    void (*accept)(pz_tree_lanes *t, unsigned accepted);
    // `worst`: the largest error of a goal.
    void (*measure)(pz_tree_lanes *t);
} pz_tree_kernels;

extern const pz_tree_kernels pz_tree_kernels_2, pz_tree_kernels_4, pz_tree_kernels_8; // tree_lanes_2.c and so on

#endif
