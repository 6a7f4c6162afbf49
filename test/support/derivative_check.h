// Derivatives by differences, for comparison with exact ones.
#ifndef TEST_DERIVATIVE_CHECK_H
#define TEST_DERIVATIVE_CHECK_H

#include "skeleton.h"

// Largest difference between exact and numerical derivatives of f(retract(q, v)) at v = 0, relative to the largest entry (at
// least 1).
typedef struct derivative_errors {
    double gradient;
    double hessian;
    double product;            // H x against the dense H
    double diagonal;           // against the dense H
    double packed;             // against the dense H; 0 where there is no packed form
    double asymmetry;          // largest |H_ij - H_ji|, not relative
    double least_gauss_newton; // smallest eigenvalue of the Gauss-Newton Hessian, relative to its largest
} derivative_errors;

// Differences of fourth order with step h: the truncation error h^4 f^(5)/30 and the rounding error eps f/h meet near
// h = 1e-3 for functions and derivatives of size one, both near 1e-12.
#define DIFFERENCE_STEP 1e-3

// The motion of a point and a direction of a body at the figure's q: Jacobians, angular velocity, centre of mass and the
// tensor of second derivatives are those of differences. Asserts.
void check_motion(figure *f, int body, poise_vec3 local);

// Compare everything at q. The objective must have its goals.
derivative_errors check_derivatives(poise_objective *objective, const poise_model *model, const double *q);

#endif
