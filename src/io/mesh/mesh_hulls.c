// Convex hulls of collision geometry, exactly as it is: what a simulator collides. A cylinder and an ellipsoid become
// polyhedra whose corners lie on them.
#include "io/mesh/mesh.h"

#include "math/vec3.h"

#define TURN  6.283185307179586
#define SIDES 32 // of a cylinder: 0.5 % of its radius within it
#define RINGS 12 // of an ellipsoid

// `corners` are in the frame that like->pose has on its body.
static bool add(pz_input *input, pz_shape_list *list, const poise_shape *like, const poise_vec3 *corners, int count,
                double radius)
{
    if (like->body < 0) {
        return true; // it stands in the world
    }
    poise_hull *grown = pz_pool_grow(&input->kept, list->hulls, list->hull_count, &list->hull_capacity, sizeof *grown);
    poise_vec3 *own = pz_pool_take(&input->kept, (size_t)count, sizeof *own);
    if (!grown || !own) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        own[i] = poise_pose_transform(like->pose, corners[i]);
    }
    list->hulls = grown;
    list->hulls[list->hull_count++] = (poise_hull){.body = like->body,
                                                   .corners = own,
                                                   .corner_count = count,
                                                   .radius = radius,
                                                   .groups = like->groups,
                                                   .against = like->against};
    return true;
}

bool pz_hulls_add_shape(pz_input *input, pz_shape_list *list, const poise_shape *shape)
{
    poise_vec3 corners[POISE_HULL_OF_SHAPE];
    poise_hull hull;
    poise_shape plain = *shape;
    plain.pose = poise_pose_identity();
    return poise_hull_of_shape(&plain, corners, &hull, NULL) != POISE_OK ||
           add(input, list, shape, corners, hull.corner_count, shape->radius);
}

bool pz_hulls_add_cylinder(pz_input *input, pz_shape_list *list, const poise_shape *like)
{
    poise_vec3 corners[2 * SIDES];
    for (int i = 0; i < SIDES; ++i) {
        double sine, cosine;
        poise_sincos(TURN * i / SIDES, &sine, &cosine);
        corners[2 * i] = v3(like->radius * cosine, like->radius * sine, like->half.z);
        corners[2 * i + 1] = v3(like->radius * cosine, like->radius * sine, -like->half.z);
    }
    return add(input, list, like, corners, 2 * SIDES, 0);
}

bool pz_hulls_add_ellipsoid(pz_input *input, pz_shape_list *list, const poise_shape *like, const double half[3])
{
    poise_vec3 corners[(RINGS - 1) * SIDES + 2];
    int count = 0;
    corners[count++] = v3(0, 0, half[2]);
    corners[count++] = v3(0, 0, -half[2]);
    for (int i = 1; i < RINGS; ++i) {
        double out, up, sine, cosine;
        poise_sincos(0.5 * TURN * i / RINGS, &out, &up);
        for (int k = 0; k < SIDES; ++k) {
            poise_sincos(TURN * k / SIDES, &sine, &cosine);
            corners[count++] = v3(half[0] * out * cosine, half[1] * out * sine, half[2] * up);
        }
    }
    return add(input, list, like, corners, count, 0);
}

bool pz_hulls_add_mesh(pz_input *input, pz_shape_list *list, const poise_shape *like, const pz_cover *cover)
{
    return add(input, list, like, cover->corners, cover->corner_count, 0);
}

bool pz_hulls_reduce(pz_input *input, const pz_corners *corners, pz_cover *made)
{
    poise_vec3 room[PZ_HULL_MOST];
    double size = 0;
    for (size_t i = 1; i < corners->count; ++i) {
        double apart = v3_norm(v3_sub(corners->at[i], corners->at[0]));
        size = apart > size ? apart : size;
    }
    if (poise_hull_reduce(corners->at, corners->count, PZ_HULL_TOLERANCE * size, room, PZ_HULL_MOST, &made->corner_count,
                          NULL, NULL) != POISE_OK) {
        made->corner_count = 0;
        return true;
    }
    poise_vec3 *own = pz_pool_take(&input->pool, (size_t)made->corner_count, sizeof *own);
    for (int i = 0; i < made->corner_count && own; ++i) {
        own[i] = room[i];
    }
    made->corners = own;
    return own != NULL;
}
