// Meshes of collision geometry: their triangles, and the shapes that cover them.
#ifndef PZ_IO_MESH_H
#define PZ_IO_MESH_H

#include <poise/hull.h>

#include "io/io_core.h"

#define PZ_COVER_MOST     8    // shapes of one mesh
#define PZ_HULL_MOST      512  // corners of its hull
#define PZ_HULL_TOLERANCE 2e-4 // of its size: how far it may stick out of that

// The cover of a mesh that was read before: a robot has its motors, fingers and legs several times.
typedef struct pz_cover {
    const char *name;
    poise_vec3 scale;
    const char *why;                   // there is none; NULL: there is
    poise_shape shapes[PZ_COVER_MOST]; // in the frame of the mesh
    int count;
    const poise_vec3 *corners; // of its hull, likewise
    int corner_count;
    struct pz_cover *next;
} pz_cover;

// Shapes that go over to the file.
typedef struct pz_shape_list {
    poise_shape *shapes;
    size_t count, capacity;
    poise_hull *hulls; // of the same geometry
    size_t hull_count, hull_capacity;
    pz_cover *covers; // of the meshes so far, in the input's pool
} pz_shape_list;

bool pz_shape_list_add(pz_input *input, pz_shape_list *list, const poise_shape *shape); // false: out of memory
void pz_shape_list_keep(pz_input *input, const pz_shape_list *list);

// Corners of triangles, three each, in the input's pool.
typedef struct pz_corners {
    poise_vec3 *at;
    size_t count, capacity;
} pz_corners;

bool pz_corners_add(pz_input *input, pz_corners *list, poise_vec3 corner); // false: out of memory

// The triangles of STL in bytes or text, OBJ (mesh_files.c) and COLLADA (collada.c). *why: what is wrong with the mesh;
// NULL: nothing. The status is that of the read: a bad mesh is no error.
poise_status pz_mesh_read(pz_input *input, const void *bytes, size_t size, pz_corners *corners, const char **why);
poise_status pz_collada_read(pz_input *input, const void *bytes, size_t size, pz_corners *corners, const char **why);

// The hull of a capsule, a sphere or a box (a half-space has none), of a cylinder of like->radius and like->half.z along z, of
// an ellipsoid, and of a mesh; body, pose and groups are those of `like`. What stands in the world has none. False: out of
// memory.
bool pz_hulls_add_shape(pz_input *input, pz_shape_list *list, const poise_shape *shape);
bool pz_hulls_add_cylinder(pz_input *input, pz_shape_list *list, const poise_shape *like);
bool pz_hulls_add_ellipsoid(pz_input *input, pz_shape_list *list, const poise_shape *like, const double half[3]);
bool pz_hulls_add_mesh(pz_input *input, pz_shape_list *list, const poise_shape *like, const pz_cover *cover);

// The hull of the triangles of a mesh, in the frame of that.
bool pz_hulls_reduce(pz_input *input, const pz_corners *corners, pz_cover *made);

// Load the file of a mesh and add the shapes that cover it: body, groups and the pose of the mesh are those of `like`.
poise_status pz_mesh_cover(pz_input *input, const char *name, poise_vec3 scale, const poise_shape *like, pz_shape_list *list,
                           const char **why);

#endif
