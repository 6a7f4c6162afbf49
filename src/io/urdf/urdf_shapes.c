// Collision shapes of URDF links: boxes, spheres, cylinders. Meshes are counted.
#include "io/urdf/urdf_shapes.h"

#include "math/vec3.h"

// A cylinder becomes the capsule around its whole axis, which covers it.
static poise_status read_geometry(pz_input *input, const pz_xml_node *geometry, poise_shape *shape, bool *is_mesh)
{
    const pz_xml_node *box = pz_xml_child(geometry, "box"), *sphere = pz_xml_child(geometry, "sphere");
    const pz_xml_node *cylinder = pz_xml_child(geometry, "cylinder"), *capsule = pz_xml_child(geometry, "capsule");
    const pz_xml_node *round = sphere ? sphere : cylinder ? cylinder : capsule;
    double size[3] = {0, 0, 0}, length = 0;
    *is_mesh = !box && !round;
    if (box) {
        shape->kind = POISE_SHAPE_BOX;
        poise_status status = pz_xml_exactly(input, box, "size", 3, size);
        shape->half = v3(0.5 * fabs(size[0]), 0.5 * fabs(size[1]), 0.5 * fabs(size[2]));
        return status;
    }
    if (!round) {
        return POISE_OK;
    }
    shape->kind = POISE_SHAPE_CAPSULE;
    poise_status status = pz_xml_exactly(input, round, "radius", 1, &shape->radius);
    if (status == POISE_OK && !sphere) {
        status = pz_xml_exactly(input, round, "length", 1, &length);
    }
    shape->radius = fabs(shape->radius);
    shape->half = v3(0, 0, 0.5 * fabs(length));
    return status;
}

static bool is_inside(const poise_shape *sphere, const poise_shape *capsule)
{
    poise_vec3 x = poise_pose_transform(poise_pose_inverse(capsule->pose), sphere->pose.position);
    double beyond = fabs(x.z) > capsule->half.z ? fabs(x.z) - capsule->half.z : 0.0;
    return sqrt(x.x * x.x + x.y * x.y + beyond * beyond) + sphere->radius <= capsule->radius * (1 + 1e-6);
}

// Spheres that round off the ends of a cylinder lie in its capsule.
static int drop_covered(poise_shape *shapes, int first, int count)
{
    int kept = first;
    for (int i = first; i < count; ++i) {
        bool covered = false;
        for (int k = first; k < count && shapes[i].kind == POISE_SHAPE_CAPSULE && shapes[i].half.z == 0; ++k) {
            covered = covered || (k != i && shapes[k].kind == POISE_SHAPE_CAPSULE && shapes[k].half.z > 0 &&
                                  is_inside(&shapes[i], &shapes[k]));
        }
        if (!covered) {
            shapes[kept++] = shapes[i];
        }
    }
    return kept;
}

static poise_status read_link(pz_input *input, const pz_xml_node *link, pz_urdf_pose read_pose, void *user,
                              poise_shape *shapes, int *count)
{
    int body = poise_model_find_body(input->file->model, pz_xml_get(link, "name")), first = *count;
    poise_status status = POISE_OK;
    for (const pz_xml_node *node = link->first; node && status == POISE_OK; node = node->next) {
        const pz_xml_node *geometry = pz_xml_is(node, "collision") ? pz_xml_child(node, "geometry") : NULL;
        if (!geometry) {
            continue;
        }
        poise_shape shape = {.body = body, .pose = poise_pose_identity()};
        const pz_xml_node *origin = pz_xml_child(node, "origin");
        bool is_mesh = false;
        status = origin ? read_pose(user, origin, &shape.pose) : POISE_OK;
        if (status == POISE_OK) {
            status = read_geometry(input, geometry, &shape, &is_mesh);
        }
        input->file->shapes_skipped += is_mesh;
        if (status == POISE_OK && !is_mesh) {
            shapes[(*count)++] = shape;
        }
    }
    *count = drop_covered(shapes, first, *count);
    return status;
}

poise_status pz_urdf_read_shapes(pz_input *input, const pz_xml_node *robot, pz_urdf_pose read_pose, void *user)
{
    size_t most = 0;
    for (const pz_xml_node *link = robot->first; link; link = link->next) {
        for (const pz_xml_node *node = link->first; node && pz_xml_is(link, "link"); node = node->next) {
            most += pz_xml_is(node, "collision");
        }
    }
    poise_shape *shapes = pz_pool_take(&input->kept, most, sizeof *shapes);
    if (!shapes) {
        return pz_input_no_memory(input);
    }
    int count = 0;
    poise_status status = POISE_OK;
    for (const pz_xml_node *link = robot->first; link && status == POISE_OK; link = link->next) {
        status = pz_xml_is(link, "link") ? read_link(input, link, read_pose, user, shapes, &count) : POISE_OK;
    }
    input->file->shapes = count > 0 ? shapes : NULL;
    input->file->shape_count = count;
    return status;
}
