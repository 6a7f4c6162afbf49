// The kernels of tree_lanes.h for processors with registers of eight.
#include "base/cpu.h"

#if PZ_HAS_WIDE

#define REAL_WIDTH 8

#include "batch/tree_newton.h"

const pz_tree_kernels pz_tree_kernels_8 = TREE_KERNELS;

#else

#include "batch/tree_lanes.h"

const pz_tree_kernels pz_tree_kernels_8 = {0}; // never used: lanes_of in tree_lanes.c

#endif
