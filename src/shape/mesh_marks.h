// What is remembered of each triangle of a mesh while it is covered. It saves time and changes nothing: a corner that an
// earlier triangle has as well need not be looked at again, and a piece looks at the triangles it holds alone.
#ifndef PZ_SHAPE_MESH_MARKS_H
#define PZ_SHAPE_MESH_MARKS_H

#include <poise/base.h>

#include "num/vector.h"

typedef struct pz_mesh_marks {
    unsigned char *fresh; // by triangle, bits: no triangle before has this corner. NULL: not known
    unsigned char *held;  // by triangle, bits: the pieces that hold some of it. NULL: not known
} pz_mesh_marks;

// Piece 0 holds everything. Both are NULL where there is no memory for them.
pz_mesh_marks pz_mesh_marks_make(const vec3 *corners, size_t triangles);
void pz_mesh_marks_release(pz_mesh_marks *marks);

#endif
