// Which way a person stands, by the names of markers.
#ifndef PZ_MOTION_UPRIGHT_H
#define PZ_MOTION_UPRIGHT_H

#include "motion/marker_table.h"

#include <poise/motion.h>

// How high a part is when a person stands: 2 head and shoulders, 1 hips, 0 feet; -1 does not tell.
int pz_height_of(pz_part part);

// From the lowest of the heights that are seen to the highest, summed over some frames; 0 where nothing tells. `height` is
// by marker.
vec3 pz_upwards(const poise_markers *markers, const int *height);

// The axis that a direction points along, clearly and not backwards.
poise_up pz_axis_of(vec3 direction);

#endif
