// DAMPED_LEAST_SQUARES: x = J^T (J J^T + lambda^2 I)^-1 e, with lambda from the smallest singular value.
//
// Minimises |J x - e|^2 + lambda^2 |x|^2 (C. Wampler 1986; Y. Nakamura & H. Hanafusa 1986), with the damping of A. Maciejewski &
// C. Klein, "Numerical filtering for the operation of robotic manipulators through kinematically singular configurations"
// (1988); Ribeiro & Paiva 2019, eq. 9, 10 and 15. This is the step that the solver's PRIORITY takes for each of its levels, and
// src/solve/priority.c has its derivation: here all goals are one level.
//
// options.rows.clamp cuts the residual of every goal first (S. Buss, "Introduction to inverse kinematics with Jacobian
// transpose, pseudoinverse and damped least squares methods", 2009). The cost never rises: a step that would raise it is
// shortened.
#include "papers/methods/engines.h"

static const poise_row_method over_rows = {POISE_ROWS_ONE, NULL};
const poise_method_engine pz_damped_least_squares_engine = {.name = "damped_least_squares", .rows = &over_rows};
