// Inverse kinematics in the plane by gradient descent, the way it is taught first: an arm of five unit links whose tip goes
// to a target, and a tree, a trunk with three branches whose tips go to three targets at once.
//
//   energy     E(theta) = 1/2 sum over tips |p - t|^2
//   gradient   dE/dtheta_j = sum over tips (p - t) . dp/dtheta_j,    dp/dtheta_j = R(pi/2) (p - p_j) for joints above the
//              tip, 0 for those of other branches
//   descent    theta <- theta - h gradient
#ifndef PAPERS_PLANAR_STUDY_H
#define PAPERS_PLANAR_STUDY_H

#include <poise/poise.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PLANAR_JOINTS 11
#define PLANAR_TIPS   3
#define PLANAR_NODES  (PLANAR_JOINTS + PLANAR_TIPS)
#define PLANAR_MOST   5000 // iterations

typedef enum planar_skeleton { PLANAR_ARM = 0, PLANAR_TREE, PLANAR_SKELETONS } planar_skeleton;

typedef enum planar_method {
    PLANAR_SMALL_STEPS = 0, // h = 0.02
    PLANAR_LINE_SEARCH,     // twice the last h, then halves until the energy falls by a third of what the slope promises
    PLANAR_AUTO,            // the solver's own method
    PLANAR_METHODS
} planar_method;

// What a run went through: joints, then tips, after each iteration, the start first.
typedef struct planar_run {
    int joints, tips;
    int parent[PLANAR_NODES]; // of joints, then of tips; -1: the root has none
    double target_x[PLANAR_TIPS], target_y[PLANAR_TIPS];
    int count; // of entries, iterations + 1
    double x[PLANAR_MOST + 1][PLANAR_NODES], y[PLANAR_MOST + 1][PLANAR_NODES];
    double distance[PLANAR_MOST + 1]; // sqrt(2 E): of the tip, or of all tips together
    double difference;                // largest, of the closed form from the Jacobian of the library, along the way
} planar_run;

// Run until the distance is at most 1e-6. False without memory.
bool planar_descend(planar_skeleton skeleton, planar_method method, planar_run *run);

#ifdef __cplusplus
}
#endif

#endif
