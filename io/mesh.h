// Meshes of collision geometry: their triangles, and the shapes that cover them.
#ifndef PZ_IO_MESH_H
#define PZ_IO_MESH_H

#include <poise/hull.h>

#include "io/io_core.h"

// Shapes that go over to the file.
typedef struct pz_shape_list {
    poise_shape *shapes;
    size_t count, capacity;
    poise_hull *hulls; // of the same geometry
    size_t hull_count, hull_capacity;
    struct pz_cover *covers; // of the meshes so far, in the input's pool
} pz_shape_list;

bool pz_shape_list_add(pz_input *input, pz_shape_list *list, const poise_shape *shape); // false: out of memory
void pz_shape_list_keep(pz_input *input, const pz_shape_list *list);

// The hull of a capsule, a sphere or a box (a half-space has none), of a cylinder of like->radius and like->half.z along z,
// of an ellipsoid, and of a mesh; body, pose and groups are those of `like`. What stands in the world has none. False: out
// of memory.
bool pz_hulls_add_shape(pz_input *input, pz_shape_list *list, const poise_shape *shape);
bool pz_hulls_add_cylinder(pz_input *input, pz_shape_list *list, const poise_shape *like);
bool pz_hulls_add_ellipsoid(pz_input *input, pz_shape_list *list, const poise_shape *like, const double half[3]);

// Load the file of a mesh and add the shapes that cover it: body, groups and the pose of the mesh are those of `like`.
poise_status pz_mesh_cover(pz_input *input, const char *name, poise_vec3 scale, const poise_shape *like, pz_shape_list *list,
                           const char **why);

#endif
