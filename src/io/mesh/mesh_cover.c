// From the name of a mesh to the shapes that cover it.
#include "io/mesh/mesh.h"

#include "math/vec3.h"

#define MOST_SHAPES 8 // of one mesh

bool pz_shape_list_add(pz_input *input, pz_shape_list *list, const poise_shape *shape)
{
    poise_shape *grown = pz_pool_grow(&input->kept, list->shapes, list->count, &list->capacity, sizeof *grown);
    if (grown) {
        list->shapes = grown;
        list->shapes[list->count++] = *shape;
    }
    return grown != NULL;
}

void pz_shape_list_keep(pz_input *input, const pz_shape_list *list)
{
    input->file->shapes = list->count > 0 ? list->shapes : NULL;
    input->file->shape_count = (int)list->count;
}

static poise_status add_cover(pz_input *input, const poise_vec3 *corners, size_t triangles, const poise_shape *like,
                              pz_shape_list *list, const char **why)
{
    poise_shape shapes[MOST_SHAPES];
    int count = 0;
    if (poise_shapes_fit(like->body, corners, triangles, shapes, MOST_SHAPES, &count, NULL) != POISE_OK) {
        *why = "its vertices are not finite, or too far away";
    }
    for (int i = 0; i < count; ++i) {
        shapes[i].pose = poise_pose_multiply(like->pose, shapes[i].pose);
        shapes[i].groups = like->groups;
        shapes[i].against = like->against;
        if (!pz_shape_list_add(input, list, &shapes[i])) {
            return pz_input_no_memory(input);
        }
    }
    return POISE_OK;
}

poise_status pz_mesh_cover(pz_input *input, const char *name, poise_vec3 scale, const poise_shape *like, pz_shape_list *list,
                           const char **why)
{
    const void *bytes = NULL;
    size_t size = 0;
    pz_corners corners;
    *why = "mesh files are not loaded: set options.meshes and options.load";
    if (!input->options->meshes || !input->options->load) {
        return POISE_OK;
    }
    if (input->options->load(input->options->user, name, &bytes, &size) != POISE_OK) {
        *why = "its file was not found";
        return POISE_OK;
    }
    poise_status status = pz_mesh_read(input, bytes, size, &corners, why);
    if (status != POISE_OK || *why) {
        return status;
    }
    for (size_t i = 0; i < corners.count; ++i) {
        poise_vec3 *at = &corners.at[i];
        *at = v3(at->x * scale.x, at->y * scale.y, at->z * scale.z);
    }
    return add_cover(input, corners.at, corners.count / 3, like, list, why);
}
