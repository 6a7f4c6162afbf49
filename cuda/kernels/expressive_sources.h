// The library's own sources that expressive inverse kinematics needs, for the device (device_sources.h): all of
// poise_expressive for one ORIENTATION goal.
#ifndef POISE_CUDA_EXPRESSIVE_SOURCES_H
#define POISE_CUDA_EXPRESSIVE_SOURCES_H

#include "device_library.h"

#include "kin/kinematics.c"
#include "math/math.c"
#include "model/model_query.c"

// One kind of goal. Its row is a constant, so that no call goes through a pointer.
#include "goal/marker_sums.h"

static const pz_goal_row orientation_row = {"", 0, pz_orientation_evaluate, pz_orientation_error, NULL};

#define pz_goal_row_of(kind) (&orientation_row)

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

#include "goal/orientation.c"

// No method: poise_expressive goes its own way.
#include "solve/solver_state.h"

static const pz_method_row no_method = {"", NULL, NULL, NULL, NULL};

#define pz_method_row_of(method) (&no_method)

#include "device_solver.h"

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

#include "device_library_end.h"

#endif
