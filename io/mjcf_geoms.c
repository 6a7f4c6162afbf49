// Geoms of MJCF: shapes that cover those that collide, pairs of them that do or do not, and the masses of bodies that have no
// <inertial>.
#include "io/mjcf.h"

#include "io/mesh.h"
#include "num/real.h"
#include "num/vector.h"

#include <string.h>

// What a geom is, and its sizes, as MuJoCo has them: half of lengths.
typedef enum mjcf_geom {
    MJCF_SPHERE,
    MJCF_CAPSULE,
    MJCF_CYLINDER,
    MJCF_ELLIPSOID,
    MJCF_BOX,
    MJCF_PLANE,
    MJCF_MESH_GEOM,
    MJCF_OTHER_GEOM
} mjcf_geom;

// Geoms that <contact><pair> names: bits that they have beside contype and conaffinity.
typedef struct mjcf_pairs {
    pz_name_set names;
    uint32_t *groups, *against; // by position in names
} mjcf_pairs;

// ---- Pairs ---------------------------------------------------------------------------------------------------------------

// Each first geom of pairs gets a bit that no geom of the file has, among what it is; its partners get the bit among what
// they are kept apart from. Pairs with a partner that has its bit already share that one.

static uint32_t free_bit(uint32_t *used)
{
    for (uint32_t bit = UINT32_C(1) << 31; bit != 0; bit >>= 1) {
        if (!(*used & bit)) {
            *used |= bit;
            return bit;
        }
    }
    return 0;
}

static void add_pair(pz_mjcf *m, const pz_xml_node *node, uint32_t *used, mjcf_pairs *pairs)
{
    const char *name[2] = {pz_xml_get(node, "geom1"), pz_xml_get(node, "geom2")};
    int at[2];
    for (int i = 0; i < 2; ++i) {
        if (!name[i]) {
            return; // MuJoCo asks for both
        }
        pz_name_set_add(&pairs->names, name[i]);
        at[i] = pz_name_set_find(&pairs->names, name[i]);
    }
    int first = pairs->groups[at[0]] == 0 && pairs->groups[at[1]] != 0 ? 1 : 0;
    uint32_t *own = &pairs->groups[at[first]];
    *own = *own ? *own : free_bit(used);
    if (*own == 0) {
        pz_xml_warn(m->input, &m->causes[MJCF_NO_SHAPE], node, "\"%s\" and \"%s\" are not watched: there are too many pairs",
                    name[0], name[1]);
    }
    pairs->against[at[1 - first]] |= *own;
}

// `used`: the bits of all geoms.
static poise_status mjcf_read_pairs(pz_mjcf *m, uint32_t used, mjcf_pairs *pairs)
{
    size_t most = 0;
    const pz_xml_node *node = NULL;
    while ((node = pz_mjcf_next_in(m, "contact", "pair", node))) {
        most += 2;
    }
    pairs->groups = pz_pool_take(&m->input->pool, most, sizeof *pairs->groups);
    pairs->against = pz_pool_take(&m->input->pool, most, sizeof *pairs->against);
    if (!pairs->groups || !pairs->against || !pz_name_set_make(&m->input->pool, most, &pairs->names)) {
        return pz_input_no_memory(m->input);
    }
    memset(pairs->groups, 0, most * sizeof *pairs->groups);
    memset(pairs->against, 0, most * sizeof *pairs->against);
    while ((node = pz_mjcf_next_in(m, "contact", "pair", node))) {
        add_pair(m, node, &used, pairs);
    }
    return POISE_OK;
}

// ---- Types ---------------------------------------------------------------------------------------------------------------

static const char *const type_names[] = {
    [MJCF_SPHERE] = "sphere", [MJCF_CAPSULE] = "capsule", [MJCF_CYLINDER] = "cylinder", [MJCF_ELLIPSOID] = "ellipsoid",
    [MJCF_BOX] = "box",       [MJCF_PLANE] = "plane",     [MJCF_MESH_GEOM] = "mesh",    [MJCF_OTHER_GEOM] = NULL};

// A mesh makes a geom of another type the primitive that fits it; here it stays a mesh.
static mjcf_geom mjcf_geom_of(const pz_mjcf_settings *settings)
{
    const char *name = settings->value[MJCF_TYPE];
    int type = MJCF_SPHERE;
    if (settings->value[MJCF_MESH]) {
        return MJCF_MESH_GEOM;
    }
    while (name && type < MJCF_OTHER_GEOM && strcmp(name, type_names[type]) != 0) {
        type += 1;
    }
    return (mjcf_geom)type;
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
static poise_status mjcf_geom_size(pz_mjcf *m, const pz_xml_node *node, const pz_mjcf_settings *settings, mjcf_geom type,
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
static poise_status make_shape(pz_mjcf *m, const pz_xml_node *node, const pz_mjcf_settings *settings, mjcf_geom type,
                               poise_shape *shape, bool *is_shape)
{
    double size[3] = {0, 0, 0};
    poise_status status = mjcf_geom_size(m, node, settings, type, size);
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

// One for each axis: what the mesh says, else its class, else the main class, else 1.
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

static void add_bits_of_pairs(const mjcf_pairs *pairs, const pz_xml_node *node, poise_shape *shape)
{
    const char *name = pz_xml_get(node, "name");
    int paired = name ? pz_name_set_find(&pairs->names, name) : -1;
    if (paired >= 0) {
        shape->groups |= pairs->groups[paired];
        shape->against |= pairs->against[paired];
    }
}

// A primitive, and its hull; `like` has the pose of the geom itself.
static poise_status add_primitive(pz_mjcf *m, const pz_xml_node *node, const pz_mjcf_settings *settings, mjcf_geom type,
                                  const poise_shape *shape, const poise_shape *like, pz_shape_list *list)
{
    double size[3] = {0, 0, 0};
    poise_status status = mjcf_geom_size(m, node, settings, type, size);
    if (status != POISE_OK) {
        return status;
    }
    bool works = pz_shape_list_add(m->input, list, shape) &&
                 (type == MJCF_ELLIPSOID  ? pz_hulls_add_ellipsoid(m->input, list, like, size)
                  : type == MJCF_CYLINDER ? pz_hulls_add_cylinder(m->input, list, shape)
                                          : pz_hulls_add_shape(m->input, list, shape));
    return works ? POISE_OK : pz_input_no_memory(m->input);
}

static poise_status read_geom(pz_mjcf *m, const meshes *all, const mjcf_pairs *pairs, const pz_xml_node *node,
                              pz_shape_list *list)
{
    const pz_mjcf_place *place = &m->places[node->parent->mark];
    poise_pose pose = poise_pose_identity();
    pz_mjcf_settings settings;
    const char *body = place->body == POISE_WORLD ? NULL : m->bodies[place->body].name;
    poise_shape shape = {.body = body ? poise_model_find_body(m->input->file->model, body) : POISE_WORLD};
    poise_status status = read_settings(m, node, &settings, &shape);
    mjcf_geom type = mjcf_geom_of(&settings);
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

// The next <geom> of the tree of bodies; NULL: that was the last. Begin with NULL.
static const pz_xml_node *mjcf_next_geom(const pz_mjcf *m, const pz_xml_node *geom)
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
    while (status == POISE_OK && (geom = mjcf_next_geom(m, geom))) {
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
    mjcf_pairs pairs;
    uint32_t used = 0;
    poise_status status = list_meshes(m, &all);
    status = status == POISE_OK ? read_all_bits(m, &used) : status;
    status = status == POISE_OK ? mjcf_read_pairs(m, used, &pairs) : status;
    const pz_xml_node *geom = NULL;
    while (status == POISE_OK && (geom = mjcf_next_geom(m, geom))) {
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

// ---- Masses of bodies without <inertial> ---------------------------------------------------------------------------------

// By their geoms: volume times density, or what a geom says of itself.

#define WATER 1000.0 // density of a geom that says nothing

// V of half-axes a, b, c; of a capsule both caps are one ball. 0: not known.
static double volume_of(mjcf_geom type, const double *size)
{
    double a = size[0], b = size[1], c = size[2], ball = 4.0 / 3.0 * PZ_PI * a * a * a, tube = 2.0 * PZ_PI * a * a * b;
    switch (type) {
    case MJCF_SPHERE:
        return ball;
    case MJCF_CAPSULE:
        return ball + tube;
    case MJCF_CYLINDER:
        return tube;
    case MJCF_ELLIPSOID:
        return 4.0 / 3.0 * PZ_PI * a * b * c;
    case MJCF_BOX:
        return 8.0 * a * b * c;
    default:
        return 0.0;
    }
}

// What a geom weighs, and where its middle is in the body; of a mesh, only that its mass counts (*is_mesh).
static poise_status weigh(pz_mjcf *m, const pz_xml_node *node, const pz_mjcf_place *place, double *mass, vec3 *middle,
                          bool *is_mesh)
{
    int class_of = place->class_of;
    double size[3] = {0, 0, 0}, density = WATER;
    poise_pose pose = poise_pose_identity();
    poise_status status = pz_mjcf_class_named(m, node, "class", &class_of);
    pz_mjcf_settings settings = pz_mjcf_settings_of(&m->classes[class_of].geom, node);
    mjcf_geom type = mjcf_geom_of(&settings);
    status = status == POISE_OK ? pz_mjcf_pose(m, node, &settings, &pose) : status;
    status = status == POISE_OK ? mjcf_geom_size(m, node, &settings, type, size) : status;
    status = status == POISE_OK ? pz_mjcf_setting_numbers(m, node, &settings, MJCF_DENSITY, 1, &density) : status;
    bool is_unknown = type == MJCF_MESH_GEOM || type == MJCF_OTHER_GEOM;
    *mass = density * (is_unknown ? 1.0 : volume_of(type, size));
    *middle = poise_pose_transform(place->frame, pose.position);
    status = status == POISE_OK ? pz_mjcf_setting_numbers(m, node, &settings, MJCF_MASS, 1, mass) : status;
    *is_mesh = is_unknown && *mass > 0.0;
    *mass = is_unknown && !settings.value[MJCF_MASS] ? 0.0 : *mass;
    return status;
}

static bool is_weightless(const pz_mjcf_body *body)
{
    return body->has_geom && !body->has_inertial && body->mass == 0;
}

static bool is_weighed_in_part(const pz_mjcf_body *body)
{
    return body->has_mesh_with_mass && !body->has_inertial && body->mass > 0;
}

// One warning about all bodies that are odd in a way, at the first of them.
static void warn_of(pz_mjcf *m, bool (*is_odd)(const pz_mjcf_body *), const char *one, const char *many)
{
    const pz_mjcf_body *first = NULL;
    int count = 0;
    for (int b = 0; b < m->body_count; ++b) {
        bool odd = is_odd(&m->bodies[b]);
        first = odd && !first ? &m->bodies[b] : first;
        count += odd;
    }
    if (count == 1) {
        pz_xml_warn(m->input, NULL, first->node, "body \"%s\" %s", first->name, one);
    } else if (first) {
        pz_xml_warn(m->input, NULL, first->node, "body \"%s\" and %d more %s", first->name, count - 1, many);
    }
}

poise_status pz_mjcf_weigh(pz_mjcf *m)
{
    const pz_xml_node *geom = NULL;
    poise_status status = POISE_OK;
    while (status == POISE_OK && (geom = mjcf_next_geom(m, geom))) {
        const pz_mjcf_place *place = &m->places[geom->parent->mark];
        double mass = 0.0;
        bool is_mesh = false;
        vec3 middle = v3(0, 0, 0);
        if (place->body == POISE_WORLD || m->bodies[place->body].has_inertial) {
            continue;
        }
        pz_mjcf_body *body = &m->bodies[place->body];
        body->has_geom = true;
        status = weigh(m, geom, place, &mass, &middle, &is_mesh);
        body->has_mesh_with_mass = body->has_mesh_with_mass || is_mesh;
        if (status == POISE_OK && mass > 0.0) {
            body->mass += mass; // the centre moves towards the geom by its share
            body->mass_center = v3_add(body->mass_center, v3_scale(v3_sub(middle, body->mass_center), mass / body->mass));
        }
    }
    warn_of(m, is_weightless, "has no mass: it has no <inertial>, and masses of meshes are not computed",
            "have no mass: they have no <inertial>, and masses of meshes are not computed");
    warn_of(m, is_weighed_in_part,
            "is weighed without the volumes of its meshes, which are not computed: it has no <inertial>",
            "are weighed without the volumes of their meshes, which are not computed: they have no <inertial>");
    return status;
}
