// When a point of a moving figure rests on the ground.
#ifndef PZ_MOTION_CONTACTS_H
#define PZ_MOTION_CONTACTS_H

#include "math/vec3.h"

// The height, along `up`, below which 5 % of the points lie.
double pz_low_height(const poise_vec3 *place, int frames, vec3 up);

// Set `bit` in the frames in which a point rests: slow, and near its lowest. Thresholds grow with `leg`, the length from hip
// to ankle. Short gaps are closed, short contacts dropped.
void pz_contacts_find(const poise_vec3 *place, int frames, double frame_time, vec3 up, double leg, unsigned char bit,
                      unsigned char *contact);

// The height of the lower ankle when it stands, by frame: recordings drift by centimetres. `scratch` and `floor` have room
// for `frames`; `low` is the height in the whole recording.
void pz_floor_find(const poise_vec3 *const ankle[2], int frames, double frame_time, vec3 up, double leg, double low,
                   double *scratch, double *floor);

// As pz_contacts_find, over a floor that is known by frame, and `above` higher for this point.
void pz_contacts_above(const poise_vec3 *place, int frames, double frame_time, vec3 up, double leg, const double *floor,
                       double above, unsigned char bit, unsigned char *contact);

#endif
