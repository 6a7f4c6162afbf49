// What the files of sensitivity share.
#ifndef PZ_SOLVE_SENSITIVITY_H
#define PZ_SOLVE_SENSITIVITY_H

#include <poise/sensitivity.h>

#include "goal/objective.h"
#include "solve/arm.h"

#define PZ_MET    2e-6 // a distance from a target, in levers or radians, that counts as none
#define PZ_CHANGE 10.0 // H changes by about that much of itself when the answer moves by a radian, or its own length

// Where one goal alone adds to: as arrays of an objective, of which it touches the entries of one body.
typedef struct pz_single {
    pz_sum *sums;
    pz_extra *extras;
    double *gradient, *curvature; // by dof
    sym3 *block[2];
} pz_single;

// The factor of a Hessian that leaves coordinates open, or nearly: H = Q C C^T Q^T (sensitivity.c). All by rows of nv.
typedef struct pz_open_factor {
    int rank, null_count;
    int *order;    // coordinates that may move; pivots first
    double *share; // of pivots: what is left of H_ii
    double *basis; // Q^T
    double *R;     // R, then C
    double *dense; // scratch
} pz_open_factor;

enum { PZ_POSE_ROWS = 6, PZ_POSE_AXES = 64 };

// Answers in rows, all on one chain of hinges.
typedef struct pz_pose_lanes {
    pz_arm_chain chain;
    int dof[PZ_ARM_MOST]; // of the chain's joints
    double met;           // a distance from a target, in levers or radians, that counts as none
    int nq, nv;
    int lanes; // rows that go side by side: 4 or 8
} pz_pose_lanes;

// The joints above a body, as the short way for one POSE sees them (sensitivity_pose.c).
typedef struct pz_pose_path {
    int body, count; // body: -1 before the first
    bool has_fixed;  // limits of some axis are one number
    bool is_plain;   // axes are free of each other, limits are by coordinate: the short way may serve
    int axis[PZ_POSE_AXES], dof[PZ_POSE_AXES];
    int coordinate[PZ_POSE_AXES]; // of q, which limits are about; -1: has none
    bool moves[PZ_POSE_AXES];     // limits leave it room
    bool has_arm;                 // the rest counts: it is an arm of hinges, with the goal's frame at `local`
    poise_pose local;
    pz_pose_lanes arm;
} pz_pose_path;

// (J J^T)^-1 by blocks, as arm_inverse (arm_kernel.h) has it, and the columns of J, one for each joint.
typedef struct pz_pose_factor {
    int count;
    const int *dof;               // by column
    double unit;                  // lengths are over this
    spatial column[PZ_POSE_AXES]; // w: turn, v: shift
    sym3 P, S;
    mat3 Y;
} pz_pose_factor;

// How the last answer is factored.
typedef enum pz_way {
    PZ_WAY_NONE = 0,
    PZ_WAY_TREE, // H = L^T D L on the tree
    PZ_WAY_OPEN, // pz_open_factor
    PZ_WAY_POSE  // pz_pose_factor
} pz_way;

struct poise_sensitivity {
    const poise_model *model;
    pz_owned owned;
    poise_objective objective; // at the answer
    pz_single single;
    pz_packed rows;
    pz_way way;
    bool use_limits;
    bool is_met; // all goals are
    double *H;   // factored
    double *square, *diagonal;
    signed char *limit; // by dof, as poise_sensitivity_info has it
    signed char *kept;  // the same, while others are tried
    pz_open_factor open;
    bool has_checked;   // once there was one:
    poise_goal checked; // the POSE of the last call for many
    bool is_plain;      // does the short way serve it? The path is its own then.
    bool is_arm;        // that of an arm with six or seven joints?
    pz_pose_path path;
    pz_pose_factor pose;
    double *x, *y, *r;    // nv
    double *dq;           // nv: an answer, until it is complete
    double *q, *q_answer; // nq: beside the answer; at it
    spatial *V;           // by joint: its motion along a step
    wrench *U;            // by joint
};

static inline bool pz_limit_holds(const poise_sensitivity *s, int dof)
{
    return s->limit[dof] == POISE_HELD_LOWER || s->limit[dof] == POISE_HELD_UPPER;
}

// ---- One POSE that is met (sensitivity_pose.c) ---------------------------------------------------------------------------

// Factor the answer q, which pz_model_accepts, to a goal that poise_goal_check accepts. False: the goal is no plain POSE, or
// q does not meet it, or it is near a singular configuration; then all is left to the general way.
bool pz_pose_factorise(poise_sensitivity *s, const poise_goal *goal, const poise_pose *target, const double *q);

// The same for an arm, on processors with registers of four.
bool pz_pose_factorise_arm(const pz_pose_lanes *arm, const poise_pose *target, const double *q, pz_pose_factor *factor);

// Both at once for one dL/dq: dL/dx of an arm of 6 or 7 joints. False as above; dL_dx is as it was then.
bool pz_pose_gradient_arm(const pz_pose_lanes *arm, const poise_pose *target, const double *q, const double *dL_dq,
                          double *dL_dx);

// dL/dx for dL/dq, and dq for dx; x is a translation and a rotation of the target.
void pz_pose_backward(const poise_sensitivity *s, const double *dL_dq, double *dL_dx);
void pz_pose_forward(const poise_sensitivity *s, const double *dx, double *dq);

// Is the goal one that the short way serves? Fills s->path for its body and frame.
bool pz_pose_is_plain(poise_sensitivity *s, const poise_goal *goal);

// Several answers of an arm side by side, for registers of each width.
typedef struct pz_pose_kernel {
    // dL by translation and rotation of the target, six numbers to a row, of the first `count` rows. Returns bits: the rows
    // that meet their target and are not near a singular configuration; the others are left as they were.
    unsigned (*gradients)(const pz_pose_lanes *rows, const poise_pose *targets, const double *q, const double *dL_dq,
                          int count, double *gradients);
} pz_pose_kernel;

extern const pz_pose_kernel pz_pose_kernel_4, pz_pose_kernel_8; // lanes_4.c, lanes_8.c

#endif
