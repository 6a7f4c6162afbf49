// The library's own sources that a marker problem needs, for the device (device.h): all of poise_solve with AUTO for
// POSITION goals on a tree without mimics. What the device does not have is left out here: error texts, arms, other methods
// and goals.
#ifndef POISE_CUDA_TREE_SOURCES_H
#define POISE_CUDA_TREE_SOURCES_H

#include "device_sources.h"

#include <stdlib.h>

// Public functions are the device's, too.
#include <poise/base.h>
#undef POISE_API
#define POISE_API PZ_DEVICE

#include "device_begin.h"

#include "device_memory.h"
#include "device_two.h"

// no texts
#define PZ_BASE_ERROR_H
#define PZ_MODEL_ERROR_H
#define pz_refuse_q(model, q, name, error) POISE_ERROR_ARGUMENT
#define pz_error_set(error, status, ...)   (status)

// no arms
#define PZ_SOLVE_ARM_H
#define pz_arm_lay_out(solver, arena)                      NULL
#define pz_arm_solve(solver)                               false
#define pz_arm_solve_all(solver, solutions, capacity, out) false

// less memory; the host sees to it that it is enough
#define PZ_MARKERS_PER_JOINT 4

#include "tree_rows.h"

#include "math/trig.c"

#include "math/dense.c"
#include "math/quat.c"
#include "math/so3.c"
#include "math/spectral.c"

#include "model/limits.c"

#include "kin/forward.c"
#include "kin/forward_wide.c"
#include "kin/retract.c"

// goals are checked by the host
poise_status poise_goal_check(const poise_goal *, const poise_model *, poise_error *)
{
    return POISE_OK;
}

// and none on coordinates: no pull towards the start
poise_goal poise_goal_posture(const double *, double)
{
    return poise_goal{};
}

void pz_posture_evaluate(pz_evaluation *, const poise_goal *)
{
}

#include "goal/goal_rows.c"
#include "goal/hessian.c"
#include "goal/jet.c"
#include "goal/marker_sums.c"
#include "goal/objective.c"
#include "goal/position.c"
#include "goal/residual.c"

#include "solve/geometric/best_move.c"
#include "solve/restarts.c"
#include "solve/solver.c"
#include "solve/stepping.c"
#include "solve/swing_limits.c"
#include "solve/tree/auto.c"
#include "solve/tree/damped_step.c"
#include "solve/tree/saddle.c"
#include "solve/tree/tree_step.c"

#undef memcmp
#undef memcpy
#undef memset

#include "device_end.h"

#undef POISE_API
#define POISE_API

#endif
