// Inverse kinematics in the plane by gradient descent, the way it is taught first: an arm of five unit links, its tip to a
// target.
//
//   energy     E(theta) = 1/2 |p - t|^2
//   gradient   dE/dtheta_j = (p - t) . dp/dtheta_j,    dp/dtheta_j = R(pi/2) (p - p_j)
//   descent    theta <- theta - h gradient
#ifndef RESEARCH_PLANAR_STUDY_H
#define RESEARCH_PLANAR_STUDY_H

#include <poise/poise.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PLANAR_LINKS 5
#define PLANAR_MOST  1000 // iterations

typedef enum planar_method {
    PLANAR_SMALL_STEPS = 0, // h = 0.02
    PLANAR_LINE_SEARCH,     // twice the last h, then halves until the energy falls by a third of what the slope promises
    PLANAR_AUTO,            // the solver's own method
    PLANAR_METHODS
} planar_method;

// What a run went through: joints p_0 .. p_4 and the tip after each iteration, the start first.
typedef struct planar_run {
    int count; // of entries, iterations + 1
    double x[PLANAR_MOST + 1][PLANAR_LINKS + 1], y[PLANAR_MOST + 1][PLANAR_LINKS + 1];
    double distance[PLANAR_MOST + 1];
    double difference; // largest, of the closed form from the Jacobian of the library, along the way
} planar_run;

#define PLANAR_TARGET_X 1.5
#define PLANAR_TARGET_Y 2.5

// Run until the tip is within 1e-6 of the target. False without memory.
bool planar_descend(planar_method method, planar_run *run);

#ifdef __cplusplus
}
#endif

#endif
