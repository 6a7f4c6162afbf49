// When a point of a moving figure rests on the ground.
#ifndef PZ_MOTION_CONTACTS_H
#define PZ_MOTION_CONTACTS_H

#include "num/vector.h"

// A figure that walks: what the search for its contacts must know of it.
typedef struct pz_walk {
    int frames;
    double frame_time;
    vec3 up;
    double leg; // from hip to ankle: thresholds grow with it
} pz_walk;

// The height, along `up`, below which 5 % of the points lie.
double pz_low_height(const pz_walk *walk, const poise_vec3 *place);

// The height of the lower ankle when it stands, by frame: recordings drift by centimetres. `scratch` and `floor` have room
// for all frames; `low` is the height in the whole recording.
void pz_floor_find(const pz_walk *walk, const poise_vec3 *const ankle[2], double low, double *scratch, double *floor);

// Set `bit` in the frames in which a point rests: slow, and near the height `above`, which is over floor[f] where a floor is
// known. Short gaps are closed, short contacts dropped.
void pz_contacts_find(const pz_walk *walk, const poise_vec3 *place, const double *floor, double above, unsigned char bit,
                      unsigned char *contact);

#endif
