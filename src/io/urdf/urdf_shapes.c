// Collision shapes of URDF links: boxes, spheres, cylinders, meshes.
#include "io/urdf/urdf_shapes.h"

#include "io/mesh/mesh.h"

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

static bool is_round(const poise_shape *shape, bool is_long)
{
    return shape->kind == POISE_SHAPE_CAPSULE && (shape->half.z > 0) == is_long;
}

#define MOST_COMPARED 1000000 // pairs of shapes of a link, of which it has a handful

// Spheres that round off the ends of a cylinder lie in its capsule. Where they stay, they do no more than cost time.
static size_t drop_covered(poise_shape *shapes, size_t first, size_t count)
{
    size_t kept = first, spheres = 0, capsules = 0;
    for (size_t i = first; i < count; ++i) {
        spheres += is_round(&shapes[i], false);
        capsules += is_round(&shapes[i], true);
    }
    if (capsules == 0 || spheres > MOST_COMPARED / (count - first)) {
        return count;
    }
    for (size_t i = first; i < count; ++i) {
        bool covered = false;
        for (size_t k = first; k < count && is_round(&shapes[i], false); ++k) {
            covered = covered || (is_round(&shapes[k], true) && is_inside(&shapes[i], &shapes[k]));
        }
        if (!covered) {
            shapes[kept++] = shapes[i];
        }
    }
    return kept;
}

static poise_status read_mesh(pz_input *input, const pz_xml_node *geometry, const poise_shape *shape, pz_shape_list *list,
                              pz_cause *cause)
{
    const pz_xml_node *mesh = pz_xml_child(geometry, "mesh");
    const char *name = mesh ? pz_xml_get(mesh, "filename") : NULL, *why = "the mesh names no file";
    double scale[3] = {1, 1, 1};
    poise_status status = mesh ? pz_xml_exactly(input, mesh, "scale", 3, scale) : POISE_OK;
    if (status == POISE_OK && name) {
        status = pz_mesh_cover(input, name, v3(scale[0], scale[1], scale[2]), shape, list, &why);
    }
    if (status == POISE_OK && why) {
        input->file->shapes_skipped += 1;
        if (input->options->meshes) {
            pz_xml_warn(input, cause, geometry, "mesh \"%s\" has no shape: %s", name ? name : "", why);
        }
    }
    return status;
}

static bool add_primitive(pz_input *input, const pz_xml_node *geometry, const poise_shape *shape, pz_shape_list *list)
{
    bool is_cylinder =
        pz_xml_child(geometry, "cylinder") && !pz_xml_child(geometry, "sphere") && !pz_xml_child(geometry, "box");
    return pz_shape_list_add(input, list, shape) &&
           (is_cylinder ? pz_hulls_add_cylinder(input, list, shape) : pz_hulls_add_shape(input, list, shape));
}

static poise_status read_link(pz_input *input, const pz_xml_node *link, pz_urdf_pose read_pose, void *user,
                              pz_shape_list *list, pz_cause *cause)
{
    int body = poise_model_find_body(input->file->model, pz_xml_get(link, "name"));
    size_t first = list->count;
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
        status = status == POISE_OK ? read_geometry(input, geometry, &shape, &is_mesh) : status;
        if (status == POISE_OK && is_mesh) {
            status = read_mesh(input, geometry, &shape, list, cause);
        } else if (status == POISE_OK && !add_primitive(input, geometry, &shape, list)) {
            status = pz_input_no_memory(input);
        }
    }
    list->count = drop_covered(list->shapes, first, list->count);
    return status;
}

poise_status pz_urdf_read_shapes(pz_input *input, const pz_xml_node *robot, pz_urdf_pose read_pose, void *user)
{
    pz_shape_list list = {0};
    pz_cause cause = {"collision meshes without a shape", 0};
    poise_status status = POISE_OK;
    for (const pz_xml_node *link = robot->first; link && status == POISE_OK; link = link->next) {
        status = pz_xml_is(link, "link") ? read_link(input, link, read_pose, user, &list, &cause) : POISE_OK;
    }
    pz_causes_close(input, &cause, 1);
    pz_shape_list_keep(input, &list);
    return status;
}
