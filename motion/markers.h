// Memory of a marker set.
//
// One block: the struct, label pointers, positions, room for residuals, label texts.
#ifndef PZ_MOTION_MARKERS_H
#define PZ_MOTION_MARKERS_H

#include <poise/motion.h>

// Every set that poise_markers_create made has room for residuals behind its positions, whether it uses it or not: the only
// float array that a set can own. Not for structs that a caller filled.
static inline float *pz_markers_room(const poise_markers *markers)
{
    return (float *)(void *)(markers->position + (size_t)markers->frames * (size_t)markers->count);
}

// Was a recording of `markers` made with a set of `places`, of which it has `seen`? A few names in common, such as LASI and
// RASI, do not make it so: most of the body would be without markers that other names can place.
static inline bool pz_places_cover(int seen, int places, int markers)
{
    return seen > 0 && (2 * seen >= places || 2 * seen >= markers);
}

#endif
