// Convex hulls in place: their distance, and how deep they lie inside each other.
#ifndef PZ_SHAPE_HULL_H
#define PZ_SHAPE_HULL_H

#include "num/vector.h"

#define PZ_CLUSTER           16 // corners of one
#define PZ_HULL_MOST_CORNERS 1000000

// Corners next to each other lie within a ball: where it does not reach out far enough, none of them does.
typedef struct pz_cluster {
    vec3 center;
    double reach;
} pz_cluster;

// The convex hull of points, at x = at + axes corner, with a radius around it.
typedef struct pz_solid {
    const vec3 *corner;
    int count;
    const pz_cluster *cluster; // of PZ_CLUSTER corners each, in order; NULL: none
    mat3 axes;
    vec3 at;
    double radius;
} pz_solid;

// Where two of them come nearest.
typedef struct pz_gap {
    double distance; // < 0: they overlap, and a shift of so much along the normal takes them apart
    vec3 normal;     // unit, from b to a
    vec3 a, b;       // points of the surfaces, as far as is_exact
    bool is_exact;   // false: the distance is larger than `enough`, and this is a bound of it from below
} pz_gap;

// `guess` is a direction from b to a, such as the normal of a moment ago; any length, zero is allowed. The answer is exact
// to about 1e-9 of `size`, a length that the solids have. Beyond `enough` a bound will do.
pz_gap pz_solid_gap(const pz_solid *a, const pz_solid *b, vec3 guess, double enough, double size);

// How far they are apart along a direction from b to a, of any length but 0; < 0: how far they overlap there. For every
// direction it is a bound of the distance from below.
double pz_solid_apart_along(const pz_solid *a, const pz_solid *b, vec3 way);

// Put corners that are next to each other one after the other, and find their clusters: one for every PZ_CLUSTER, the last
// with what is left. `cluster` has room for them.
void pz_solid_cluster(vec3 *corner, int count, pz_cluster *cluster);

// The height of the lowest point of a solid along `up`.
double pz_solid_lowest(const pz_solid *solid, vec3 up);

#endif
