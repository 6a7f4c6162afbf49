// The path nearest to a given one that keeps limits of position, velocity and acceleration.
//
//   minimise  sum over t of |x_t - y_t|^2 / 2
//   where     |w_t| <= V     |w_t - w_(t-1)| <= A     x_t within its box and ellipse     w_t = x_(t+1) - x_t
//
// in each component. For rotations w_t = log(x_t^-1 x_(t+1)), about the axes of the body, and the distance is the angle.
// Standing still keeps every limit, so such a path exists.
#ifndef PZ_MOTION_NEAREST_PATH_H
#define PZ_MOTION_NEAREST_PATH_H

#include <poise/model.h>

#include "num/vector.h"

#define PATH_DOFS 3 // at most

typedef struct pz_path {
    int count;                                 // points
    int dofs;                                  // of a point
    bool turns;                                // points are rotations, with three dofs
    vec3 *x;                                   // points; components beyond `dofs` are 0
    quat *rotation;                            // the same, if the path turns
    double velocity[PATH_DOFS];                // V, by step
    double acceleration[PATH_DOFS];            // A
    double lower[PATH_DOFS], upper[PATH_DOFS]; // of plain points
    double swing[2];                           // half axes of an ellipse for the first two components; infinite: none
} pz_path;

// Does the path leave a limit?
bool pz_path_leaves(const pz_path *path);

// Replace it by the nearest path within its limits. False: out of memory, and the path is as it was.
bool pz_path_bring_within(pz_path *path, const poise_allocator *allocator);

#endif
