// What the parts of the library for a device begin with (tree_sources.h, expressive_sources.h): the switches of
// base/build.h, memory, mathematics, kinematics, and empty bodies for what no problem on a device has. device_solver.h has
// the rest that they share; between the two each of them says which goals and methods it has.
#ifndef POISE_CUDA_DEVICE_LIBRARY_H
#define POISE_CUDA_DEVICE_LIBRARY_H

#include "device_sources.h"

#include <stdlib.h>

#define PZ_HAS_ERROR_TEXTS 0
#define PZ_HAS_ARMS        0
#define PZ_HAS_CONSTRAINTS 0
#define PZ_HAS_VECTORS     0

// Public functions are the device's, too.
#include <poise/base.h>
#undef POISE_API
#define POISE_API PZ_DEVICE

#include "device_begin.h"

#include "device_memory.h"

#include "math/trig.c"

#include "math/dense.c"
#include "math/quat.c"
#include "math/so3.c"
#include "math/spectral.c"

#include "model/limits.c"

// no model on a device has curves
#include "kin/kin.h"
void pz_kin_curve(const pz_curve *, double, mat3 *, vec3 *, spatial *, spatial *)
{
}

#include "kin/forward.c"
#include "kin/forward_wide.c"
#include "kin/retract.c"

#include "goal/goal_kind.h"

// goals are checked by the host
poise_status poise_goal_check(const poise_goal *, const poise_model *, poise_error *)
{
    return POISE_OK;
}

// and none is on coordinates: there is no pull towards the start
poise_goal poise_goal_posture(const double *, double)
{
    return poise_goal{};
}

void pz_posture_evaluate(pz_evaluation *, const poise_goal *)
{
}

#endif
