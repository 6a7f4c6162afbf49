// The kernels of tree_lanes.h for processors with registers of two.
#include "base/cpu.h"

#if PZ_HAS_PAIRS

#define REAL_WIDTH 2

#include "batch/tree_newton.h"

const pz_tree_kernels pz_tree_kernels_2 = TREE_KERNELS;

#else

#include "batch/tree_lanes.h"

const pz_tree_kernels pz_tree_kernels_2 = {0}; // never used: lanes_of in tree_lanes.c

#endif
