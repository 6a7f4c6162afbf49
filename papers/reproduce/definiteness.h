// Definiteness and condition of the exact Hessian of a marker problem (hessian_study.h), by parameterisation of ball joints:
// what Erleben & Andrews 2019 say in sections 4, 6.3, 6.7 and Appendix A without an experiment. Raw coordinates, as
// theirs: cm and radians. Frames are counted from 0.
#ifndef PAPERS_HESSIAN_DEFINITENESS_H
#define PAPERS_HESSIAN_DEFINITENESS_H

#include <papers/reproduce/hessian_study.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum definiteness_chart {
    CHART_EULER = 0,   // as the study has it
    CHART_SWING_TWIST, // twist about the limb; the root by a rotation vector
    CHART_VECTOR,      // rotation vectors: the exponential map
    CHART_QUATERNION,
    CHARTS
} definiteness_chart;

typedef enum definiteness_state {
    STATE_BEFORE = 0, // the pose of the frame before
    STATE_ZERO,       // all angles zero, the root at the mean of the markers
    STATE_RANDOM,     // every angle from -180 to 180 degrees, the root as in the frame before
    STATE_IN_LIMITS,  // every angle within the authors' limits, the root as in the frame before
    STATES
} definiteness_state;

typedef struct definiteness_case {
    definiteness_chart chart;
    definiteness_state state;
    double prior;      // weight of a pull towards angles of zero, cm^2/rad^2
    double smoothness; // of one towards the pose of the frame before
} definiteness_case;

// Over frames.
typedef struct definiteness_sums {
    int frames, indefinite;
    double negative;  // eigenvalues below 0, in sum
    int ill;          // condition number above 1e5
    double condition; // median of |eigenvalue| largest over smallest
    double worst;     // largest
} definiteness_sums;

// One frame in `every`. False without memory.
bool definiteness_along(const hessian_study *study, const definiteness_case *what, int every, definiteness_sums *sums);

// The same at the iterates of TRUST_REGION from zero, with or without limits; over the coordinates that are not at a limit.
// One frame in `every`, the first `iterations` iterates.
bool definiteness_of_path(const hessian_study *study, bool has_limits, int every, int iterations, definiteness_sums *sums);

// A ball joint with three markers at its solution: the smallest eigenvalue of its Hessian over the largest, with the middle
// Euler angle (order ZYX) at `angle`, the others 0.3.
bool definiteness_gimbal(definiteness_chart chart, double angle, double *ratio);

#ifdef __cplusplus
}
#endif

#endif
