// The library's own sources that expressive inverse kinematics needs, for the device (device.h): all of poise_expressive for
// one ORIENTATION goal. What the device does not have is left out here: error texts, arms, methods of poise_solve, other
// goals.
#ifndef POISE_CUDA_EXPRESSIVE_SOURCES_H
#define POISE_CUDA_EXPRESSIVE_SOURCES_H

#include "device_sources.h"

#include <stdlib.h>

// Public functions are the device's, too.
#include <poise/base.h>
#undef POISE_API
#define POISE_API PZ_DEVICE

#include "device_begin.h"

#include "device_memory.h"

// no texts
#define PZ_BASE_ERROR_H
#define PZ_MODEL_ERROR_H
#define pz_refuse_q(model, q, name, error) POISE_ERROR_ARGUMENT
#define pz_error_set(error, status, ...)   no_text(status)

static inline poise_status no_text(poise_status status)
{
    return status;
}

// no arms
#define PZ_SOLVE_ARM_H
struct pz_arm;
struct poise_solver;

static inline pz_arm *pz_arm_lay_out(const poise_solver *, pz_arena *)
{
    return NULL;
}

static inline bool pz_arm_solve(poise_solver *)
{
    return false;
}

static inline bool pz_arm_solve_all(poise_solver *, double *, int, int *)
{
    return false;
}

#include "math/trig.c"

#include "math/dense.c"
#include "math/math.c"
#include "math/quat.c"
#include "math/so3.c"
#include "math/spectral.c"

#include "model/limits.c"
#include "model/model_query.c"

poise_joint poise_joint_default(void) // of queries that nobody makes
{
    return poise_joint{};
}

#include "kin/forward.c"
#include "kin/forward_wide.c"
#include "kin/kinematics.c"
#include "kin/retract.c"

// One kind of goal, checked by the host. Its row is a constant, so that no call goes through a pointer.
#include "goal/marker_sums.h"

static const pz_goal_row orientation_row = {"", 0, pz_orientation_evaluate, pz_orientation_error, NULL};

#define pz_goal_row_of(kind) (&orientation_row)

poise_status poise_goal_check(const poise_goal *, const poise_model *, poise_error *)
{
    return POISE_OK;
}

// and none on coordinates
poise_goal poise_goal_posture(const double *, double)
{
    return poise_goal{};
}

void pz_posture_evaluate(pz_evaluation *, const poise_goal *)
{
}

// no markers
void pz_markers_lay_out(pz_marker_set *, const poise_model *, pz_arena *)
{
}

void pz_markers_condense(pz_marker_set *set, const poise_model *, const poise_goal *, int)
{
    set->any = set->all = false;
}

void pz_markers_evaluate(const pz_marker_set *, pz_evaluation *)
{
}

#include "goal/goal_rows.c"
#include "goal/hessian.c"
#include "goal/jet.c"
#include "goal/objective.c"
#include "goal/orientation.c"
#include "goal/residual.c"

// No method: poise_expressive goes its own way.
#include "solve/solver_state.h"

static const pz_method_row no_method = {"", NULL, NULL, NULL, NULL};

#define pz_method_row_of(method) (&no_method)

#include "solve/geometric/best_move.c"
#include "solve/restarts.c"
#include "solve/stepping.c"
#include "solve/swing_limits.c"

#include "solve/solver.c"

#include "express/erik/chain.c"
#include "express/erik/descent.c"
#include "express/erik/erik.c"
#include "express/erik/erik_measure.c"
#include "express/erik/erik_run.c"
#include "express/erik/exact_orientation.c"
#include "express/erik/joint_model.c"
#include "express/erik/phases.c"
#include "express/successor/expressive.c"
#include "express/successor/expressive_search.c"
#include "express/successor/expressive_seeds.c"
#include "express/successor/expressive_terms.c"

// no filter
poise_status poise_filter_step(poise_filter *, const double *, double, double *, poise_error *error)
{
    return POISE_ERROR_UNSUPPORTED;
}

#undef memcmp
#undef memcpy
#undef memset

#include "device_end.h"

#undef POISE_API
#define POISE_API

#endif
