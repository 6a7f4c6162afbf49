// How configurations of a model become numbers that can be filtered one by one, and back.
#ifndef PZ_EXPRESS_FILTER_MAP_H
#define PZ_EXPRESS_FILTER_MAP_H

#include <poise/filter.h>

typedef struct pz_filter_map pz_filter_map;

// NULL: out of memory.
pz_filter_map *pz_filter_map_create(const poise_model *model, const poise_allocator *allocator);
void pz_filter_map_destroy(pz_filter_map *map); // NULL is allowed

// How many numbers there are; and the limits and manners of each, `joints` having one for each joint of the model (NULL:
// defaults).
int pz_filter_map_count(const pz_filter_map *map);
int pz_filter_map_joint_count(const pz_filter_map *map); // of the model
int pz_filter_map_number(const pz_filter_map *map, int i, const poise_filter_joint *joint,
                         poise_filter_joint *number); // (1)
void pz_filter_map_joints(const pz_filter_map *map, const poise_filter_joint *joints, poise_filter_joint *numbers);

// (1) The limits of number i, if `joint` is those of its joint, which is returned.

// Rotations count from q on, moved into the limits; the numbers are then those of q. NULL when q is no configuration.
const double *pz_filter_map_reset(pz_filter_map *map, const double *q);

// The numbers of q, near the last ones; the last ones where q holds a number that is not finite.
const double *pz_filter_map_in(pz_filter_map *map, const double *q);

// The configuration of these numbers, within the limits.
void pz_filter_map_out(const pz_filter_map *map, const double *x, double *q);

// Memory for the numbers that a step makes.
double *pz_filter_map_scratch(pz_filter_map *map);

#endif
