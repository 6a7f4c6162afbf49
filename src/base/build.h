// What a build of these sources may set for itself.
//
// Graphics processors compile part of the library a second time (cuda/kernels/). Such a build marks functions in its own way
// and leaves out what it has no use for, by defining these before it includes any source. Every other build takes them as
// they are here.
#ifndef PZ_BASE_BUILD_H
#define PZ_BASE_BUILD_H

// Marks functions that also run on a graphics processor. The second: short, and called often.
#ifndef PZ_DEVICE
#define PZ_DEVICE
#endif
#ifndef PZ_DEVICE_SHORT
#define PZ_DEVICE_SHORT PZ_DEVICE
#endif

// Errors come with a text (base/error.h).
#ifndef PZ_HAS_ERROR_TEXTS
#define PZ_HAS_ERROR_TEXTS 1
#endif

// The compiler has vectors of doubles (GCC's vector extensions).
#ifndef PZ_HAS_VECTORS
#define PZ_HAS_VECTORS 1
#endif

// AUTO has a path of its own for pose goals on chains (solve/arm/arm_entry.h).
#ifndef PZ_HAS_ARMS
#define PZ_HAS_ARMS 1
#endif

// Solvers have room for constraints (solve/constrained/within_entry.h).
#ifndef PZ_HAS_CONSTRAINTS
#define PZ_HAS_CONSTRAINTS 1
#endif

// Condensed markers that there is room for, per joint of the model (goal/marker_sums.h). What does not fit is evaluated one
// by one.
#ifndef PZ_MARKERS_PER_JOINT
#define PZ_MARKERS_PER_JOINT 36
#endif
_Static_assert(PZ_MARKERS_PER_JOINT > 0, "there is room for some");

#endif
