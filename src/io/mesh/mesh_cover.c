// From the name of a mesh to the shapes that cover it.
#include "io/mesh/mesh.h"

#include "num/vector.h"

#include <string.h>

#define SCALES_MOST 64 // of one mesh, each of which is covered on its own

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
    input->file->hulls = list->hull_count > 0 ? list->hulls : NULL;
    input->file->hull_count = (int)list->hull_count;
}

// The shapes of a cover, placed as `like` says.
static poise_status add_cover(pz_input *input, const pz_cover *cover, const poise_shape *like, pz_shape_list *list)
{
    for (int i = 0; i < cover->count; ++i) {
        poise_shape shape = cover->shapes[i];
        shape.body = like->body;
        shape.pose = poise_pose_multiply(like->pose, shape.pose);
        shape.groups = like->groups;
        shape.against = like->against;
        if (!pz_shape_list_add(input, list, &shape)) {
            return pz_input_no_memory(input);
        }
    }
    return pz_hulls_add_mesh(input, list, like, cover) ? POISE_OK : pz_input_no_memory(input);
}

// The cover of a mesh at a scale, or NULL; *scales: how many of the mesh there are.
static const pz_cover *find_cover(const pz_shape_list *list, const char *name, poise_vec3 scale, int *scales)
{
    *scales = 0;
    for (const pz_cover *c = list->covers; c; c = c->next) {
        if (strcmp(c->name, name) == 0) {
            if (c->scale.x == scale.x && c->scale.y == scale.y && c->scale.z == scale.z) {
                return c;
            }
            *scales += 1;
        }
    }
    return NULL;
}

// Read the mesh and cover it, into *made. *is_loaded: there were bytes to read.
static poise_status make_cover(pz_input *input, poise_vec3 scale, pz_cover *made, bool *is_loaded, const char **why)
{
    const void *bytes = NULL;
    size_t size = 0;
    pz_corners corners;
    *why = "mesh files are not loaded: set options.meshes and options.load";
    if (!input->options->meshes || !input->options->load) {
        return POISE_OK;
    }
    if (input->options->load(input->options->user, made->name, &bytes, &size) != POISE_OK) {
        *why = "its file was not found";
        return POISE_OK;
    }
    *is_loaded = true;
    poise_status status = pz_mesh_read(input, bytes, size, &corners, why);
    if (status != POISE_OK || *why) {
        return status;
    }
    bool is_point = true;
    for (size_t i = 0; i < corners.count; ++i) {
        poise_vec3 *at = &corners.at[i], first = corners.at[0];
        *at = v3(at->x * scale.x, at->y * scale.y, at->z * scale.z);
        is_point = is_point && at->x == first.x && at->y == first.y && at->z == first.z;
    }
    if (is_point) {
        *why = "all its vertices are in one place";
    } else if (poise_shapes_fit(0, corners.at, corners.count / 3, made->shapes, PZ_COVER_MOST, &made->count, NULL) !=
               POISE_OK) {
        *why = "its vertices are not finite, or too far away";
    }
    return *why || pz_hulls_reduce(input, &corners, made) ? POISE_OK : pz_input_no_memory(input);
}

poise_status pz_mesh_cover(pz_input *input, const char *name, poise_vec3 scale, const poise_shape *like, pz_shape_list *list,
                           const char **why)
{
    int scales;
    const pz_cover *known = find_cover(list, name, scale, &scales);
    *why = known ? known->why : scales >= SCALES_MOST ? "it is there at more than 64 scales" : NULL;
    if (*why) {
        return POISE_OK;
    }
    if (known) {
        return add_cover(input, known, like, list);
    }
    pz_cover *made = pz_pool_take(&input->pool, 1, sizeof *made);
    char *copy = pz_pool_copy(&input->pool, name, strlen(name));
    if (!made || !copy) {
        return pz_input_no_memory(input);
    }
    *made = (pz_cover){.name = copy, .scale = scale};
    bool is_loaded = false;
    poise_status status = make_cover(input, scale, made, &is_loaded, why);
    if (is_loaded) { // to read it once is enough, whatever came of it
        made->why = *why;
        made->next = list->covers;
        list->covers = made;
    }
    return status != POISE_OK || *why ? status : add_cover(input, made, like, list);
}
