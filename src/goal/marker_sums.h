// Markers by the dozen: plain POSITION goals of one body, condensed into moments when the goals are set.
//
// With x = p + R l (l in our body frame), target t, weight w, and sums over the markers of one body:
//
//   n = sum w      b = sum w l      S = sum w l l^T      tau = sum w t / n      Y = sum w l (t - tau)^T
//
// everything but the cost follows from the body's frame, however many markers there are:
//
//   c = sum w x     = n p + R b                    force f = c - n tau
//   P = sum w x x^T = n p p^T + p (R b)^T + (R b) p^T + R S R^T
//   Q = sum x f^T   = P - c tau^T - R Y            (tau about the reference point)
//   torque = sum x x f = axial(Q)      ww = tr(P) I - P      K = sym(Q) - tr(Q) I
//
// Rounding leaves errors of eps n |x|^2 in Q, as large as those of a sum marker by marker. Of the cost it would leave the
// same, which is too much where the cost vanishes, so the cost is summed marker by marker, from l and t - tau laid out for
// that.
#ifndef PZ_GOAL_MARKER_SUMS_H
#define PZ_GOAL_MARKER_SUMS_H

#include "goal/goal_kind.h"

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
static inline bool pz_is_marker(const poise_goal *goal)
{
    return goal->kind == POISE_GOAL_POSITION && goal->loss == POISE_LOSS_NONE && !pz_has_band(goal->tolerance) &&
           goal->weight > 0;
}

#if REAL_WIDTH == 1

// How far a marker is from its target: what the goal's own row of the table says, without the way there.
static inline double pz_marker_error(const poise_kinematics *kin, const poise_goal *goal)
{
    return v3_norm(v3_sub(pz_kin_point(kin, goal->body, goal->local.position), pz_goal_target(kin, goal)));
}

#endif

// Is the goal one of a body that is condensed?
static inline bool pz_is_condensed(const pz_marker_set *set, const poise_goal *goal)
{
    return pz_is_marker(goal) && set->body[goal->body].count > 0;
}

// Condense the goals that can be.
void pz_markers_condense(pz_marker_set *set, const poise_model *model, const poise_goal *goals, int count);

// Add cost, gradient and second derivatives of all condensed markers.
void pz_markers_evaluate(const pz_marker_set *set, pz_evaluation *evaluation);

#endif
