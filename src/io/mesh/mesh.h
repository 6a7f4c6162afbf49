// Meshes of collision geometry: their triangles, and the shapes that cover them.
#ifndef PZ_IO_MESH_H
#define PZ_IO_MESH_H

#include "io/io_core.h"

#define PZ_COVER_MOST 8 // shapes of one mesh

// The cover of a mesh that was read before: a robot has its motors, fingers and legs several times.
typedef struct pz_cover {
    const char *name;
    poise_vec3 scale;
    const char *why;                   // there is none; NULL: there is
    poise_shape shapes[PZ_COVER_MOST]; // in the frame of the mesh
    int count;
    struct pz_cover *next;
} pz_cover;

// Shapes that go over to the file.
typedef struct pz_shape_list {
    poise_shape *shapes;
    size_t count, capacity;
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

// Load the file of a mesh and add the shapes that cover it: body, groups and the pose of the mesh are those of `like`.
poise_status pz_mesh_cover(pz_input *input, const char *name, poise_vec3 scale, const poise_shape *like, pz_shape_list *list,
                           const char **why);

#endif
