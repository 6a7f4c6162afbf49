// Geoms that collide, as shapes that cover them, and the pairs of bodies of <exclude>; for <pair> see mjcf_pairs.c.
#include "io/mesh.h"
#include "io/mjcf/mjcf.h"

#include "math/vec3.h"

#include <string.h>

static const char *const type_names[] = {
    [MJCF_SPHERE] = "sphere", [MJCF_CAPSULE] = "capsule", [MJCF_CYLINDER] = "cylinder", [MJCF_ELLIPSOID] = "ellipsoid",
    [MJCF_BOX] = "box",       [MJCF_PLANE] = "plane",     [MJCF_MESH_GEOM] = "mesh",    [MJCF_OTHER_GEOM] = NULL};

// A mesh makes a geom of another type the primitive that fits it; to us it is a mesh all the same.
pz_mjcf_geom pz_mjcf_geom_of(const pz_mjcf_settings *settings)
{
    const char *name = settings->value[MJCF_TYPE];
    int type = MJCF_SPHERE;
    if (settings->value[MJCF_MESH]) {
        return MJCF_MESH_GEOM;
    }
    while (name && type < MJCF_OTHER_GEOM && strcmp(name, type_names[type]) != 0) {
        type += 1;
    }
    return (pz_mjcf_geom)type;
}

// ---- Sizes ---------------------------------------------------------------------------------------------------------------

// The ellipsoid with the half-axes a >= b >= c lies in the capsule of radius b and half length a - b along the longest.
static void cover_ellipsoid(poise_shape *shape, const double *size)
{
    static const vec3 axes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    int longest = size[0] >= size[1] ? (size[0] >= size[2] ? 0 : 2) : (size[1] >= size[2] ? 1 : 2);
    double second = max2(size[(longest + 1) % 3], size[(longest + 2) % 3]);
    shape->kind = POISE_SHAPE_CAPSULE;
    shape->radius = second;
    shape->half = v3(0, 0, size[longest] - second);
    shape->pose.rotation = poise_quat_multiply(shape->pose.rotation, pz_quat_from_z(axes[longest]));
}

// The sizes with what fromto says: half the length is the last of them, and the one before is the first again.
poise_status pz_mjcf_geom_size(pz_mjcf *m, const pz_xml_node *node, const pz_mjcf_settings *settings, pz_mjcf_geom type,
                               double *size)
{
    double ends[6] = {0};
    int count = 0;
    poise_status status = POISE_OK;
    if (settings->value[MJCF_SIZE]) {
        status = pz_xml_numbers_of(m->input, node, "size", settings->value[MJCF_SIZE], PZ_XML_FINITE, 1, 3, size, &count);
    }
    if (status == POISE_OK && settings->value[MJCF_FROMTO]) {
        status = pz_mjcf_setting_numbers(m, node, settings, MJCF_FROMTO, 6, ends);
        double half = 0.5 * v3_norm(v3_sub(v3(ends[3], ends[4], ends[5]), v3(ends[0], ends[1], ends[2])));
        size[1] = type == MJCF_BOX || type == MJCF_ELLIPSOID ? size[0] : half;
        size[2] = half;
    }
    for (int i = 0; i < 3; ++i) {
        size[i] = fabs(size[i]);
    }
    return status;
}

// The shape of a primitive; *is_shape: false for one without size.
static poise_status make_shape(pz_mjcf *m, const pz_xml_node *node, const pz_mjcf_settings *settings, pz_mjcf_geom type,
                               poise_shape *shape, bool *is_shape)
{
    double size[3] = {0, 0, 0};
    poise_status status = pz_mjcf_geom_size(m, node, settings, type, size);
    *is_shape = type == MJCF_PLANE || size[0] > 0;
    switch (type) {
    case MJCF_PLANE:
        shape->kind = POISE_SHAPE_HALF_SPACE;
        break;
    case MJCF_BOX:
        shape->kind = POISE_SHAPE_BOX;
        shape->half = v3(size[0], size[1], size[2]);
        break;
    case MJCF_ELLIPSOID:
        cover_ellipsoid(shape, size);
        break;
    default:
        shape->kind = POISE_SHAPE_CAPSULE;
        shape->radius = size[0];
        shape->half = v3(0, 0, type == MJCF_SPHERE ? 0 : size[1]);
    }
    return status;
}

// ---- Meshes --------------------------------------------------------------------------------------------------------------

// The meshes of the file by name; one without a name has that of its file, without folder and extension.
typedef struct meshes {
    pz_name_set names;
    const pz_xml_node **nodes;
} meshes;

static const char *name_of_mesh(pz_mjcf *m, const pz_xml_node *node)
{
    const char *name = pz_xml_get(node, "name"), *file = pz_xml_get(node, "file");
    if (name || !file) {
        return name ? name : "";
    }
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file, *dot = strrchr(base, '.');
    return pz_pool_copy(&m->input->pool, base, dot ? (size_t)(dot - base) : strlen(base));
}

static poise_status list_meshes(pz_mjcf *m, meshes *all)
{
    size_t most = 0;
    const pz_xml_node *node = NULL;
    while ((node = pz_mjcf_next_in(m, "asset", "mesh", node))) {
        most += 1;
    }
    all->nodes = pz_pool_take(&m->input->pool, most, sizeof *all->nodes);
    if (!all->nodes || !pz_name_set_make(&m->input->pool, most, &all->names)) {
        return pz_input_no_memory(m->input);
    }
    while ((node = pz_mjcf_next_in(m, "asset", "mesh", node))) {
        const char *name = name_of_mesh(m, node);
        if (!name) {
            return pz_input_no_memory(m->input);
        }
        if (pz_name_set_add(&all->names, name)) {
            all->nodes[all->names.count - 1] = node;
        }
    }
    return POISE_OK;
}

static char *path_of(pz_mjcf *m, const char *file)
{
    const char *folder = m->compiler.mesh_folder ? m->compiler.mesh_folder : "";
    size_t length = file[0] == '/' ? 0 : strlen(folder), rest = strlen(file);
    size_t slash = length > 0 && folder[length - 1] != '/' ? 1 : 0;
    char *path = pz_pool_take(&m->input->pool, length + rest + 2, 1);
    if (path) {
        memcpy(path, folder, length);
        memcpy(path + length, "/", slash);
        memcpy(path + length + slash, file, rest + 1);
    }
    return path;
}

// What it says, or its class, or the main class for it: one for each axis, 1 where nobody says.
static poise_status scale_of_mesh(pz_mjcf *m, const pz_xml_node *mesh, double scale[3])
{
    int class_of = 0;
    scale[0] = scale[1] = scale[2] = 1;
    poise_status status = pz_mjcf_class_named(m, mesh, "class", &class_of);
    pz_mjcf_settings settings = pz_mjcf_settings_of(&m->classes[class_of].mesh, mesh);
    return status == POISE_OK ? pz_mjcf_setting_numbers(m, mesh, &settings, MJCF_SCALE, 3, scale) : status;
}

static poise_status add_mesh(pz_mjcf *m, const meshes *all, const pz_xml_node *node, const char *name,
                             const poise_shape *shape, pz_shape_list *list)
{
    int found = name ? pz_name_set_find(&all->names, name) : -1;
    const pz_xml_node *mesh = found >= 0 ? all->nodes[found] : NULL;
    const char *file = mesh ? pz_xml_get(mesh, "file") : NULL, *why = "the mesh names no file";
    double scale[3];
    poise_status status = mesh ? scale_of_mesh(m, mesh, scale) : POISE_OK;
    if (status == POISE_OK && file) {
        const char *path = path_of(m, file);
        status = path ? pz_mesh_cover(m->input, path, v3(scale[0], scale[1], scale[2]), shape, list, &why)
                      : pz_input_no_memory(m->input);
    }
    if (status == POISE_OK && why) {
        m->input->file->shapes_skipped += 1;
        if (m->input->options->meshes) {
            pz_xml_warn(m->input, &m->causes[MJCF_NO_SHAPE], node, "mesh \"%s\" has no shape: %s", name ? name : "", why);
        }
    }
    return status;
}

// ---- Geoms ---------------------------------------------------------------------------------------------------------------

static poise_status read_bits(pz_mjcf *m, const pz_xml_node *node, const pz_mjcf_settings *settings, int which,
                              uint32_t *bits)
{
    double value = 1.0;
    poise_status status = pz_mjcf_setting_numbers(m, node, settings, which, 1, &value);
    *bits = value >= 0 && value <= (double)UINT32_MAX ? (uint32_t)value : UINT32_MAX; // -1: all
    return status;
}

// What a geom says over its class, and its bits.
static poise_status read_settings(pz_mjcf *m, const pz_xml_node *node, pz_mjcf_settings *settings, poise_shape *shape)
{
    int class_of = m->places[node->parent->mark].class_of;
    poise_status status = pz_mjcf_class_named(m, node, "class", &class_of);
    *settings = pz_mjcf_settings_of(&m->classes[class_of].geom, node);
    status = status == POISE_OK ? read_bits(m, node, settings, MJCF_CONTYPE, &shape->groups) : status;
    return status == POISE_OK ? read_bits(m, node, settings, MJCF_CONAFFINITY, &shape->against) : status;
}

static void add_bits_of_pairs(const pz_mjcf_pairs *pairs, const pz_xml_node *node, poise_shape *shape)
{
    const char *name = pz_xml_get(node, "name");
    int paired = name ? pz_name_set_find(&pairs->names, name) : -1;
    if (paired >= 0) {
        shape->groups |= pairs->groups[paired];
        shape->against |= pairs->against[paired];
    }
}

// A primitive, and its hull; `like` has the pose of the geom itself.
static poise_status add_primitive(pz_mjcf *m, const pz_xml_node *node, const pz_mjcf_settings *settings, pz_mjcf_geom type,
                                  const poise_shape *shape, const poise_shape *like, pz_shape_list *list)
{
    double size[3] = {0, 0, 0};
    poise_status status = pz_mjcf_geom_size(m, node, settings, type, size);
    if (status != POISE_OK) {
        return status;
    }
    bool works = pz_shape_list_add(m->input, list, shape) &&
                 (type == MJCF_ELLIPSOID  ? pz_hulls_add_ellipsoid(m->input, list, like, size)
                  : type == MJCF_CYLINDER ? pz_hulls_add_cylinder(m->input, list, shape)
                                          : pz_hulls_add_shape(m->input, list, shape));
    return works ? POISE_OK : pz_input_no_memory(m->input);
}

static poise_status read_geom(pz_mjcf *m, const meshes *all, const pz_mjcf_pairs *pairs, const pz_xml_node *node,
                              pz_shape_list *list)
{
    const pz_mjcf_place *place = &m->places[node->parent->mark];
    poise_pose pose = poise_pose_identity();
    pz_mjcf_settings settings;
    const char *body = place->body == POISE_WORLD ? NULL : m->bodies[place->body].name;
    poise_shape shape = {.body = body ? poise_model_find_body(m->input->file->model, body) : POISE_WORLD};
    poise_status status = read_settings(m, node, &settings, &shape);
    pz_mjcf_geom type = pz_mjcf_geom_of(&settings);
    status = status == POISE_OK ? pz_mjcf_pose(m, node, &settings, &pose) : status;
    add_bits_of_pairs(pairs, node, &shape);
    shape.pose = poise_pose_multiply(place->frame, pose);
    if (status != POISE_OK || (shape.groups | shape.against) == 0) {
        return status; // it is there to be seen
    }
    if (type == MJCF_MESH_GEOM) {
        return add_mesh(m, all, node, settings.value[MJCF_MESH], &shape, list);
    }
    if (type == MJCF_OTHER_GEOM) {
        m->input->file->shapes_skipped += 1;
        return POISE_OK;
    }
    bool is_shape = false;
    const poise_shape like = shape;
    status = make_shape(m, node, &settings, type, &shape, &is_shape);
    if (status == POISE_OK && is_shape) {
        return add_primitive(m, node, &settings, type, &shape, &like, list);
    }
    return status;
}

static bool is_in_tree(const pz_xml_node *node)
{
    const pz_xml_node *parent = node->parent;
    return pz_xml_is(parent, "body") || pz_xml_is(parent, "frame") || pz_xml_is(parent, "replicate") ||
           pz_xml_is(parent, "worldbody");
}

const pz_xml_node *pz_mjcf_next_geom(const pz_mjcf *m, const pz_xml_node *geom)
{
    for (const pz_xml_node *node = pz_xml_after(geom ? geom : m->root, m->root, false); node;
         node = pz_xml_after(node, m->root, false)) {
        if (pz_xml_is(node, "geom") && is_in_tree(node)) {
            return node;
        }
    }
    return NULL;
}

// The bits that geoms have.
static poise_status read_all_bits(pz_mjcf *m, uint32_t *used)
{
    poise_status status = POISE_OK;
    const pz_xml_node *geom = NULL;
    while (status == POISE_OK && (geom = pz_mjcf_next_geom(m, geom))) {
        pz_mjcf_settings settings;
        poise_shape shape = {0};
        status = read_settings(m, geom, &settings, &shape);
        *used |= shape.groups | shape.against;
    }
    return status;
}

poise_status pz_mjcf_read_geoms(pz_mjcf *m)
{
    pz_shape_list list = {0};
    meshes all;
    pz_mjcf_pairs pairs;
    uint32_t used = 0;
    poise_status status = list_meshes(m, &all);
    status = status == POISE_OK ? read_all_bits(m, &used) : status;
    status = status == POISE_OK ? pz_mjcf_read_pairs(m, used, &pairs) : status;
    const pz_xml_node *geom = NULL;
    while (status == POISE_OK && (geom = pz_mjcf_next_geom(m, geom))) {
        status = read_geom(m, &all, &pairs, geom, &list);
    }
    pz_shape_list_keep(m->input, &list);
    return status;
}

poise_status pz_mjcf_read_excludes(pz_mjcf *m)
{
    size_t most = 0;
    const pz_xml_node *node = NULL;
    while ((node = pz_mjcf_next_in(m, "contact", "exclude", node))) {
        most += 1;
    }
    poise_file *file = m->input->file;
    file->excluded = most > 0 ? pz_pool_take(&m->input->kept, most, sizeof *file->excluded) : NULL;
    if (most > 0 && !file->excluded) {
        return pz_input_no_memory(m->input);
    }
    poise_status status = POISE_OK;
    while (status == POISE_OK && (node = pz_mjcf_next_in(m, "contact", "exclude", node))) {
        poise_pair *pair = &file->excluded[file->excluded_count++];
        status = pz_mjcf_body_named(m, node, "body1", &pair->a);
        status = status == POISE_OK ? pz_mjcf_body_named(m, node, "body2", &pair->b) : status;
    }
    return status;
}
