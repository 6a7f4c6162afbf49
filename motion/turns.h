// Angles that say the same: whole turns, and the second way in which three angles give one rotation.
#ifndef PZ_MOTION_TURNS_H
#define PZ_MOTION_TURNS_H

#include <poise/track.h>

// Bring the angles of hinges and Euler joints as near to those of `near` as the same pose and the limits allow. True where
// some changed. Bodies between three hinges of one rotation may turn, which is seen only by markers on them: `placements`
// are those.
bool pz_nearest_turns(const poise_model *model, const poise_placement *placements, int count, const double *near, double *q);

#endif
