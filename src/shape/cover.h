// What covering a mesh by shapes (cover.c) is made of: marks of its triangles, and points around it.
#ifndef PZ_SHAPE_COVER_H
#define PZ_SHAPE_COVER_H

#include "shape/shape.h"

// ---- Marks ---------------------------------------------------------------------------------------------------------------

// What is remembered of each triangle of a mesh while it is covered. It saves time and changes nothing: a corner that an
// earlier triangle has as well need not be looked at again, and a piece looks at the triangles it holds alone.
typedef struct pz_mesh_marks {
    unsigned char *fresh; // by triangle, bits: no triangle before has this corner. NULL: not known
    unsigned char *held;  // by triangle, bits: the pieces that hold some of it. NULL: not known
} pz_mesh_marks;

// Piece 0 holds everything. Both are NULL where there is no memory for them.
pz_mesh_marks pz_mesh_marks_make(const vec3 *corners, size_t triangles);
void pz_mesh_marks_release(pz_mesh_marks *marks);

// ---- Points --------------------------------------------------------------------------------------------------------------

// Points in and around a mesh that tell how loose its cover is: each that is covered counts, and the more the farther it
// lies outside.
#define PZ_DIRECTIONS   98
#define PZ_CLOUD_POINTS 4096

// How far a piece reaches.
typedef struct pz_outline {
    vec3 direction[PZ_DIRECTIONS]; // unit
    vec3 corner[PZ_DIRECTIONS];    // the outermost there
    double reach[PZ_DIRECTIONS];   // direction . corner
} pz_outline;

typedef struct pz_cloud {
    vec3 low, side;                        // of the box that the points lie in
    float weight[PZ_CLOUD_POINTS];         // what each counts
    unsigned char covers[PZ_CLOUD_POINTS]; // how many shapes cover it
} pz_cloud;

// The points around a mesh, none of them covered.
void pz_cloud_make(pz_cloud *c, const pz_outline *whole);

// Add a shape to the cover (by 1), or take it away (by -1).
void pz_cloud_count(pz_cloud *c, const poise_shape *shape, int by);

// Of all shapes that were added.
double pz_cloud_looseness(const pz_cloud *c);

#endif
