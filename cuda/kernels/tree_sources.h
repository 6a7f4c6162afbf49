// The library's own sources that a marker problem needs, for the device (device_sources.h): all of poise_solve with AUTO for
// POSITION goals on a tree without mimics.
#ifndef POISE_CUDA_TREE_SOURCES_H
#define POISE_CUDA_TREE_SOURCES_H

#define PZ_MARKERS_PER_JOINT 4 // less memory; the host sees to it that it is enough

#include "device_library.h"

#include "device_four.h"

#include "tree_rows.h"

#include "goal/marker_sums.c"
#include "goal/position.c"

#include "device_solver.h"

#include "solve/tree/auto.c"
#include "solve/tree/damped_step.c"
#include "solve/tree/saddle.c"
#include "solve/tree/tree_step.c"

#include "device_library_end.h"

#endif
