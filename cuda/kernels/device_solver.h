// The objective and the solver for a device, after device_library.h and the rows of the goals and methods that it has.
#ifndef POISE_CUDA_DEVICE_SOLVER_H
#define POISE_CUDA_DEVICE_SOLVER_H

#include "goal/goal_rows.c"
#include "goal/hessian.c"
#include "goal/jet.c"
#include "goal/objective.c"
#include "goal/residual.c"

#include "solve/geometric/best_move.c"
#include "solve/restarts.c"
#include "solve/second_look.c"
#include "solve/solver.c"
#include "solve/stepping.c"
#include "solve/swing_limits.c"

#endif
