// MJCF, the models of MuJoCo: bodies within bodies, each with any number of joints.
//
// What is read: the tree of bodies, frames, joints, sites (as tools), masses, default classes, compiler settings, includes,
// couplings of joints, loops, geoms that collide, keyframes. Actuators, sensors and the like are left out silently: a
// skeleton has none.
//
// Warned of: an <include> or mesh that cannot be loaded, ranges that do not apply, couplings and <equality> of other kinds,
// mocap bodies, <replicate>, bodies without mass.
// Refused: a file that is no <mujoco>; an include that is included twice; a default class, body, joint or site that is not
// there, or there twice ("rename one"); two orientations of one element ("remove one"); coordinate="global"; joints of the
// world.
#include "io/mesh.h"
#include "io/skeleton.h"
#include "num/real.h"
#include "num/vector.h"

#include <math.h>
#include <string.h>

// ---- Settings: what an element says, and the default classes say for it --------------------------------------------------

enum {
    MJCF_QUAT,
    MJCF_AXISANGLE,
    MJCF_XYAXES,
    MJCF_ZAXIS,
    MJCF_EULER,
    MJCF_POS,
    MJCF_FROMTO,
    MJCF_TYPE,
    MJCF_AXIS,
    MJCF_RANGE,
    MJCF_LIMITED,
    MJCF_REF,
    MJCF_SIZE,
    MJCF_CONTYPE,
    MJCF_CONAFFINITY,
    MJCF_MESH,
    MJCF_MASS,
    MJCF_DENSITY,
    MJCF_SCALE,
    MJCF_SETTING_COUNT
};

// Values as text; NULL: not said.
typedef struct mjcf_settings {
    const char *value[MJCF_SETTING_COUNT];
} mjcf_settings;

typedef struct mjcf_class {
    mjcf_settings joint, site, geom, mesh; // with what it inherits
} mjcf_class;

typedef struct mjcf_compiler {
    bool is_radian;
    bool has_autolimits;
    char eulerseq[4];
    const char *mesh_folder; // "" or NULL: beside the file
} mjcf_compiler;

// ---- What the file holds, in its order -----------------------------------------------------------------------------------

// Where elements stand: a body, or a frame within it.
typedef struct mjcf_place {
    int body;         // or POISE_WORLD
    poise_pose frame; // in the body
    int class_of;     // default class of what is inside
} mjcf_place;

typedef struct mjcf_body {
    const char *name;
    pz_xml_node *node;
    int parent;                  // body, or POISE_WORLD
    poise_pose pose;             // in the parent body
    int first_joint, last_joint; // -1: none
    double mass;
    poise_vec3 mass_center;
    bool has_inertial, has_geom, has_mesh_with_mass;
} mjcf_body;

typedef enum mjcf_joint_type { MJCF_HINGE, MJCF_SLIDE, MJCF_BALL, MJCF_FREE } mjcf_joint_type;

typedef struct mjcf_joint {
    const char *name; // NULL: none
    const pz_xml_node *node;
    mjcf_joint_type type;
    poise_vec3 anchor, axis; // in the body
    double ref;              // value of q at which the body stands where the file draws it
    double lower, upper;
    bool has_polynomials; // joints that follow it by one
    int part;             // that it became
    int next;             // of the same body, or -1
} mjcf_joint;

enum {
    MJCF_NOT_LOADED,
    MJCF_UNKNOWN,
    MJCF_NOT_READ,
    MJCF_REPLICATE,
    MJCF_MOCAP,
    MJCF_WORLD_SITE,
    MJCF_BALL_RANGE,
    MJCF_NOT_LIMITED,
    MJCF_EQUALITY,
    MJCF_NO_SHAPE,
    MJCF_KEY,
    MJCF_CAUSE_COUNT
};

typedef struct mjcf {
    pz_input *input;
    pz_xml_node *root;
    mjcf_compiler compiler;
    mjcf_class *classes;
    int *class_of_name; // by position in class_names
    mjcf_place *places; // by the mark of an element that holds others
    mjcf_body *bodies;
    mjcf_joint *joints;
    int *joint_of_name; // by position in joint_names, for the names that the file gives
    pz_named_frame *sites;
    pz_part *parts;
    pz_name_set class_names, body_names, joint_names, site_names;
    int class_count, place_count, body_count, joint_count, named_joint_count, site_count, part_count;
    pz_cause causes[MJCF_CAUSE_COUNT];
} mjcf;

// ---- <include>: the children of another file's root take its place -------------------------------------------------------

#define INCLUDES_MOST 1000

// Put the children of `root` where `*link` is, and go on with the first of them, which may be an <include> itself.
static void splice(pz_xml_node *parent, pz_xml_node **link, pz_xml_node *previous, pz_xml_node *root)
{
    pz_xml_node *include = *link;
    for (pz_xml_node *child = root ? root->first : NULL; child; child = child->next) {
        child->parent = parent;
    }
    if (root && root->first) {
        root->last->next = include->next;
        *link = root->first;
    } else {
        *link = include->next;
    }
    if (parent->last == include) {
        parent->last = root && root->last ? root->last : previous;
    }
}

// The name of a file beside the one that `node` comes from, for the caller's folder; NULL: the two are the same.
static const char *beside(mjcf *m, const pz_xml_node *node, const char *file)
{
    const char *slash = node->file ? strrchr(node->file, '/') : NULL;
    size_t folder = slash ? (size_t)(slash - node->file) + 1 : 0, length = strlen(file);
    char *name = folder > 0 && file[0] != '/' ? pz_pool_take(&m->input->pool, folder + length + 1, 1) : NULL;
    if (name) {
        memcpy(name, node->file, folder);
        memcpy(name + folder, file, length + 1);
    }
    return name;
}

static poise_status load(mjcf *m, const pz_xml_node *node, pz_name_set *seen, pz_xml_node **root)
{
    pz_input *input = m->input;
    const char *file = pz_xml_get(node, "file");
    *root = NULL;
    if (!file) {
        return pz_xml_fail(input, node, POISE_ERROR_FORMAT, "<include> names no file: file=\"...\"");
    }
    if (!input->options->load) {
        pz_xml_warn(input, &m->causes[MJCF_NOT_LOADED], node, "\"%s\" is not included: set options.load", file);
        return POISE_OK;
    }
    const void *bytes = NULL;
    size_t size = 0;
    const char *near = beside(m, node, file);
    poise_status status = near ? input->options->load(input->options->user, near, &bytes, &size) : POISE_ERROR_NOT_FOUND;
    if (status == POISE_OK) {
        file = near;
    } else {
        status = input->options->load(input->options->user, file, &bytes, &size);
    }
    if (status != POISE_OK) {
        return pz_xml_fail(input, node, status, "\"%s\" cannot be loaded: its path begins at the folder of this file", file);
    }
    if (seen->count >= INCLUDES_MOST || !pz_name_set_add(seen, file)) {
        return pz_xml_fail(input, node, POISE_ERROR_FORMAT, "\"%s\" is included twice, or there are too many files", file);
    }
    status = pz_xml_parse(input, bytes, size, file, root);
    if (status == POISE_OK && !pz_xml_is(*root, "mujoco") && !pz_xml_is(*root, "mujocoinclude")) {
        return pz_xml_fail(input, *root, POISE_ERROR_FORMAT, "this is <%s>, not <mujocoinclude>", (*root)->name);
    }
    return status;
}

static poise_status include_children(mjcf *m, pz_xml_node *parent, pz_name_set *seen)
{
    pz_xml_node **link = &parent->first, *previous = NULL;
    while (*link) {
        if (!pz_xml_is(*link, "include")) {
            previous = *link;
            link = &previous->next;
            continue;
        }
        pz_xml_node *root;
        poise_status status = load(m, *link, seen, &root);
        if (status != POISE_OK) {
            return status;
        }
        splice(parent, link, previous, root);
    }
    return POISE_OK;
}

// Replace every <include> by what is in the file it names.
static poise_status mjcf_include(mjcf *m)
{
    pz_name_set seen;
    if (!pz_name_set_make(&m->input->pool, INCLUDES_MOST, &seen)) {
        return pz_input_no_memory(m->input);
    }
    poise_status status = POISE_OK;
    for (pz_xml_node *node = m->root; status == POISE_OK && node; node = pz_xml_after(node, m->root, false)) {
        status = include_children(m, node, &seen);
    }
    return status;
}

// ---- Names of settings ---------------------------------------------------------------------------------------------------

static const char *const setting_names[MJCF_SETTING_COUNT] = {
    [MJCF_QUAT] = "quat",     [MJCF_AXISANGLE] = "axisangle", [MJCF_XYAXES] = "xyaxes",
    [MJCF_ZAXIS] = "zaxis",   [MJCF_EULER] = "euler",         [MJCF_POS] = "pos",
    [MJCF_FROMTO] = "fromto", [MJCF_TYPE] = "type",           [MJCF_AXIS] = "axis",
    [MJCF_RANGE] = "range",   [MJCF_LIMITED] = "limited",     [MJCF_REF] = "ref",
    [MJCF_SIZE] = "size",     [MJCF_CONTYPE] = "contype",     [MJCF_CONAFFINITY] = "conaffinity",
    [MJCF_MESH] = "mesh",     [MJCF_MASS] = "mass",           [MJCF_DENSITY] = "density",
    [MJCF_SCALE] = "scale",
};

// ---- Compiler ------------------------------------------------------------------------------------------------------------

static bool is_sequence(const char *text)
{
    bool is_letters = true;
    for (const char *c = text; *c; ++c) {
        is_letters = is_letters && strchr("xyzXYZ", *c);
    }
    return strlen(text) == 3 && is_letters;
}

static poise_status fail_value(mjcf *m, const pz_xml_node *node, const char *attribute, const char *allowed)
{
    return pz_xml_fail(m->input, node, POISE_ERROR_FORMAT, "%s of <%s> must be %s, not \"%s\"", attribute, node->name,
                       allowed, pz_xml_get(node, attribute));
}

static poise_status read_compiler(mjcf *m, const pz_xml_node *node)
{
    const char *angle = pz_xml_get(node, "angle"), *coordinate = pz_xml_get(node, "coordinate");
    const char *eulerseq = pz_xml_get(node, "eulerseq"), *autolimits = pz_xml_get(node, "autolimits");
    if (angle) {
        m->compiler.is_radian = strcmp(angle, "radian") == 0;
        if (!m->compiler.is_radian && strcmp(angle, "degree") != 0) {
            return fail_value(m, node, "angle", "degree or radian");
        }
    }
    if (coordinate && strcmp(coordinate, "local") != 0) {
        return fail_value(m, node, "coordinate", "local (re-save a file in global coordinates with MuJoCo 2.3.2)");
    }
    if (eulerseq) {
        if (!is_sequence(eulerseq)) {
            return fail_value(m, node, "eulerseq", "three of the letters x, y, z, X, Y, Z");
        }
        memcpy(m->compiler.eulerseq, eulerseq, 4);
    }
    const char *folder = pz_xml_get(node, "meshdir");
    folder = folder ? folder : pz_xml_get(node, "assetdir");
    m->compiler.mesh_folder = folder ? folder : m->compiler.mesh_folder;
    if (autolimits) {
        m->compiler.has_autolimits = strcmp(autolimits, "true") == 0;
        if (!m->compiler.has_autolimits && strcmp(autolimits, "false") != 0) {
            return fail_value(m, node, "autolimits", "true or false");
        }
    }
    return POISE_OK;
}

static poise_status mjcf_read_compiler(mjcf *m)
{
    m->compiler = (mjcf_compiler){.has_autolimits = true, .eulerseq = "xyz"};
    poise_status status = POISE_OK;
    for (const pz_xml_node *node = m->root->first; status == POISE_OK && node; node = node->next) {
        if (pz_xml_is(node, "compiler")) {
            status = read_compiler(m, node);
        }
    }
    return status;
}

static double mjcf_radians(const mjcf *m, double angle)
{
    return m->compiler.is_radian ? angle : angle * PZ_RADIANS_PER_DEGREE;
}

// ---- Settings ------------------------------------------------------------------------------------------------------------

// The numbers of a setting that is an orientation, 0 for others. All of these say the same thing, each in its way.
static int numbers_of_orientation(int setting)
{
    switch (setting) {
    case MJCF_QUAT:
    case MJCF_AXISANGLE:
        return 4;
    case MJCF_XYAXES:
        return 6;
    case MJCF_ZAXIS:
    case MJCF_EULER:
        return 3;
    default:
        return 0;
    }
}

// What `node` says, over what `base` (may be NULL) says.
static mjcf_settings settings_of(const mjcf_settings *base, const pz_xml_node *node)
{
    mjcf_settings own = {{NULL}}, result = base ? *base : own;
    bool has_orientation = false;
    for (int i = 0; i < MJCF_SETTING_COUNT; ++i) {
        own.value[i] = pz_xml_get(node, setting_names[i]);
        has_orientation = has_orientation || (numbers_of_orientation(i) > 0 && own.value[i]);
    }
    for (int i = 0; i < MJCF_SETTING_COUNT; ++i) {
        bool replaces = own.value[i] || (numbers_of_orientation(i) > 0 && has_orientation);
        result.value[i] = replaces ? own.value[i] : result.value[i];
    }
    return result;
}

// `count` numbers of a setting; values stay as they are where it is not said.
static poise_status setting_numbers(mjcf *m, const pz_xml_node *node, const mjcf_settings *settings, int which, int count,
                                    double *values)
{
    int found;
    return pz_xml_numbers_of(m->input, node, setting_names[which], settings->value[which], PZ_XML_FINITE, count, count,
                             values, &found);
}

// ---- Classes -------------------------------------------------------------------------------------------------------------

// Let a class say what the <joint>, <site>, <geom> and <mesh> directly within one of its elements say.
static void add_to_class(mjcf_class *class_of, const pz_xml_node *node)
{
    for (const pz_xml_node *child = node->first; child; child = child->next) {
        if (pz_xml_is(child, "joint")) {
            class_of->joint = settings_of(&class_of->joint, child);
        } else if (pz_xml_is(child, "site")) {
            class_of->site = settings_of(&class_of->site, child);
        } else if (pz_xml_is(child, "geom")) {
            class_of->geom = settings_of(&class_of->geom, child);
        } else if (pz_xml_is(child, "mesh")) {
            class_of->mesh = settings_of(&class_of->mesh, child);
        }
    }
}

// Class 0 is everybody's. A <default> at the top adds to it and may give it another name; one within another inherits.
static poise_status read_class(mjcf *m, pz_xml_node *node)
{
    const char *name = pz_xml_get(node, "class");
    bool is_top = node->parent == m->root;
    int known = name ? pz_name_set_find(&m->class_names, name) : -1;
    if (!name && !is_top) {
        return pz_xml_fail(m->input, node, POISE_ERROR_FORMAT, "<default> in <default> needs a name: class=\"...\"");
    }
    if (known >= 0 && (!is_top || m->class_of_name[known] != 0)) {
        return pz_xml_fail(m->input, node, POISE_ERROR_FORMAT, "there is already a default class \"%s\": rename one", name);
    }
    int made = is_top ? 0 : m->class_count++;
    if (!is_top) {
        m->classes[made] = m->classes[node->parent->mark];
    }
    if (name && known < 0) {
        m->class_of_name[m->class_names.count] = made;
        pz_name_set_add(&m->class_names, name);
    }
    node->mark = made;
    add_to_class(&m->classes[made], node);
    return POISE_OK;
}

static poise_status mjcf_read_classes(mjcf *m)
{
    m->classes[0] = (mjcf_class){.joint = {{NULL}}};
    m->class_count = 1;
    m->class_of_name[0] = 0;
    pz_name_set_add(&m->class_names, "main");
    poise_status status = POISE_OK;
    for (pz_xml_node *node = m->root->first; status == POISE_OK && node; node = pz_xml_after(node, m->root, false)) {
        if (pz_xml_is(node, "default") && (node->parent == m->root || pz_xml_is(node->parent, "default"))) {
            status = read_class(m, node);
        }
    }
    return status;
}

// The class that an attribute names.
static poise_status class_named(mjcf *m, const pz_xml_node *node, const char *attribute, int *class_of)
{
    const char *name = pz_xml_get(node, attribute);
    if (!name) {
        return POISE_OK;
    }
    int found = pz_name_set_find(&m->class_names, name);
    if (found < 0) {
        return pz_xml_fail(m->input, node, POISE_ERROR_FORMAT, "there is no default class \"%s\" for <%s>", name,
                           node->name);
    }
    *class_of = m->class_of_name[found];
    return POISE_OK;
}

// ---- Frames --------------------------------------------------------------------------------------------------------------

static bool is_zero(const double *x, int count)
{
    bool all = true;
    for (int i = 0; i < count; ++i) {
        all = all && x[i] == 0.0;
    }
    return all;
}

// Small letters turn about axes that turn along, capitals about those that stand still.
static quat from_euler(const mjcf *m, const double *angles)
{
    quat q = {0, 0, 0, 1};
    for (int i = 0; i < 3; ++i) {
        char letter = m->compiler.eulerseq[i];
        bool is_fixed = letter < 'a';
        int axis = is_fixed ? letter - 'X' : letter - 'x';
        quat turn = poise_quat_from_axis_angle(v3(axis == 0, axis == 1, axis == 2), mjcf_radians(m, angles[i]));
        q = is_fixed ? quat_mul(turn, q) : quat_mul(q, turn);
    }
    return q;
}

// x as given, y made orthogonal to it, z = x cross y. False: they span no plane.
static bool from_axes(const double *n, quat *q)
{
    vec3 x = v3_normalize(v3(n[0], n[1], n[2])), y = v3_normalize(v3(n[3], n[4], n[5]));
    y = v3_mad(y, -v3_dot(x, y), x);
    bool spans = v3_norm(x) > 0.0 && v3_norm(y) > 0.0;
    y = v3_normalize(y);
    vec3 z = v3_cross(x, y);
    *q = quat_normalize(poise_quat_from_matrix((double[9]){x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z}));
    return spans;
}

static bool from_numbers(const mjcf *m, int which, const double *n, quat *q)
{
    switch (which) {
    case MJCF_QUAT:
        *q = quat_normalize((quat){n[1], n[2], n[3], n[0]});
        return !is_zero(n, 4);
    case MJCF_AXISANGLE:
        *q = poise_quat_from_axis_angle(v3(n[0], n[1], n[2]), mjcf_radians(m, n[3]));
        return !is_zero(n, 3);
    case MJCF_XYAXES:
        return from_axes(n, q);
    case MJCF_ZAXIS:
        *q = pz_quat_from_z(v3(n[0], n[1], n[2]));
        return !is_zero(n, 3);
    default:
        *q = from_euler(m, n);
        return true;
    }
}

static poise_status read_orientation(mjcf *m, const pz_xml_node *node, const mjcf_settings *settings, quat *rotation)
{
    int which = -1;
    for (int i = 0; i < MJCF_SETTING_COUNT; ++i) {
        if (numbers_of_orientation(i) == 0) {
            continue;
        }
        if (settings->value[i] && which >= 0) {
            return pz_xml_fail(m->input, node, POISE_ERROR_FORMAT, "<%s> has two orientations, %s and %s: remove one",
                               node->name, setting_names[which], setting_names[i]);
        }
        which = settings->value[i] ? i : which;
    }
    if (which < 0) {
        return POISE_OK;
    }
    double n[6];
    poise_status status = setting_numbers(m, node, settings, which, numbers_of_orientation(which), n);
    if (status == POISE_OK && !from_numbers(m, which, n, rotation)) {
        return pz_xml_fail(m->input, node, POISE_ERROR_FORMAT, "%s of <%s> is not an orientation: \"%s\"",
                           setting_names[which], node->name, settings->value[which]);
    }
    return status;
}

// A segment from a to b: its middle, z pointing from b to a.
static poise_status read_segment(mjcf *m, const pz_xml_node *node, const mjcf_settings *settings, poise_pose *pose)
{
    double n[6];
    poise_status status = setting_numbers(m, node, settings, MJCF_FROMTO, 6, n);
    if (status != POISE_OK) {
        return status;
    }
    vec3 a = v3(n[0], n[1], n[2]), b = v3(n[3], n[4], n[5]);
    pose->position = v3_combine(0.5, a, 0.5, b);
    pose->rotation = pz_quat_from_z(v3_sub(a, b));
    return POISE_OK;
}

static poise_status pose_of(mjcf *m, const pz_xml_node *node, const mjcf_settings *settings, poise_pose *pose)
{
    double p[3] = {0, 0, 0};
    *pose = poise_pose_identity();
    if (settings->value[MJCF_FROMTO]) {
        return read_segment(m, node, settings, pose);
    }
    poise_status status = setting_numbers(m, node, settings, MJCF_POS, 3, p);
    pose->position = v3(p[0], p[1], p[2]);
    return status == POISE_OK ? read_orientation(m, node, settings, &pose->rotation) : status;
}

// ---- Sections of the root ------------------------------------------------------------------------------------------------

static const pz_xml_node *first_named(const pz_xml_node *node, const char *name)
{
    while (node && name && !pz_xml_is(node, name)) {
        node = node->next;
    }
    return node;
}

// Elements `name` within the sections `section` of the root, one after the other; NULL at the end. `name` NULL: all.
static const pz_xml_node *next_in(const mjcf *m, const char *section, const char *name, const pz_xml_node *after)
{
    const pz_xml_node *at = after ? after->parent : m->root->first;
    const pz_xml_node *found = after ? first_named(after->next, name) : NULL;
    for (at = after ? at->next : at; at && !found; at = at->next) {
        found = pz_xml_is(at, section) ? first_named(at->first, name) : NULL;
    }
    return found;
}

// Is a constraint of <equality> in force?
static bool mjcf_is_active(const pz_xml_node *equality)
{
    const char *active = pz_xml_get(equality, "active");
    return !active || strcmp(active, "false") != 0;
}

// The body of the model that an attribute names; POISE_WORLD for "world", or where the attribute is missing.
static poise_status body_named(mjcf *m, const pz_xml_node *node, const char *attribute, int *body)
{
    const char *name = pz_xml_get(node, attribute);
    *body = POISE_WORLD;
    if (!name || strcmp(name, "world") == 0) {
        return POISE_OK;
    }
    *body = poise_model_find_body(m->input->file->model, name);
    if (*body == POISE_NONE) {
        return pz_xml_fail(m->input, node, POISE_ERROR_MODEL, "%s of <%s>: there is no body \"%s\"", attribute, node->name,
                           name);
    }
    return POISE_OK;
}

// ---- Joints of a body as a chain of the model's joints -------------------------------------------------------------------
//
// MuJoCo moves a body by its joints one after the other, each in the body's own frame as the ones before have left it:
//
//   pose of the body = pose of the parent body * pose * motion_1(q_1) * ... * motion_n(q_n)
//   hinge, ball      T(anchor) R(q - ref) T(-anchor)
//   slide            T(axis (q - ref))
//   free             the pose of the body is q itself
//
// Each becomes a joint of the model whose frame stands in its anchor. Bodies between them have no mass. R(q - ref) is
// R(-ref) R(q), so that q is what MuJoCo calls qpos, but for the order of quaternions. Where the last anchor is not the
// origin of the body, a fixed joint leads back to it.

// ---- One joint -----------------------------------------------------------------------------------------------------------

static poise_status read_type(mjcf *m, const pz_xml_node *node, const char *value, mjcf_joint_type *type)
{
    static const char *const names[] = {
        [MJCF_HINGE] = "hinge", [MJCF_SLIDE] = "slide", [MJCF_BALL] = "ball", [MJCF_FREE] = "free"};
    if (pz_xml_is(node, "freejoint")) {
        *type = MJCF_FREE;
        return POISE_OK;
    }
    *type = MJCF_HINGE;
    if (!value) {
        return POISE_OK;
    }
    for (int i = MJCF_HINGE; i <= MJCF_FREE; ++i) {
        if (strcmp(names[i], value) == 0) {
            *type = (mjcf_joint_type)i;
            return POISE_OK;
        }
    }
    return pz_xml_fail(m->input, node, POISE_ERROR_FORMAT, "type of <joint> must be hinge, slide, ball or free, not \"%s\"",
                       value);
}

// Is the range in force? By `limited`, or by itself where that says nothing.
static poise_status is_limited(mjcf *m, const pz_xml_node *node, const mjcf_settings *settings, bool *limited)
{
    const char *said = settings->value[MJCF_LIMITED], *range = settings->value[MJCF_RANGE];
    *limited = false;
    if (!said || strcmp(said, "auto") == 0) {
        *limited = range && m->compiler.has_autolimits;
        if (range && !m->compiler.has_autolimits) {
            pz_xml_warn(m->input, &m->causes[MJCF_NOT_LIMITED], node,
                        "the range of this joint does not apply: autolimits is false and limited is not set");
        }
        return POISE_OK;
    }
    if (strcmp(said, "true") != 0 && strcmp(said, "false") != 0) {
        return pz_xml_fail(m->input, node, POISE_ERROR_FORMAT, "limited of <joint> must be true, false or auto, not \"%s\"",
                           said);
    }
    *limited = strcmp(said, "true") == 0;
    if (*limited && !range) {
        pz_xml_warn(m->input, &m->causes[MJCF_NOT_LIMITED], node, "this joint is limited but has no range; it is left free");
        *limited = false;
    }
    return POISE_OK;
}

static poise_status read_range(mjcf *m, const pz_xml_node *node, const mjcf_settings *settings, mjcf_joint *joint)
{
    bool limited = false;
    poise_status status = is_limited(m, node, settings, &limited);
    if (status != POISE_OK || !limited) {
        return status;
    }
    double range[2] = {0, 0};
    int count;
    status = pz_xml_numbers_of(m->input, node, "range", settings->value[MJCF_RANGE], PZ_XML_INFINITE, 2, 2, range, &count);
    if (status != POISE_OK) {
        return status;
    }
    if (joint->type == MJCF_BALL) {
        pz_xml_warn(m->input, &m->causes[MJCF_BALL_RANGE], node, "the range of a ball joint is not supported");
        return POISE_OK;
    }
    bool turns = joint->type == MJCF_HINGE;
    joint->lower = turns ? mjcf_radians(m, range[0]) : range[0];
    joint->upper = turns ? mjcf_radians(m, range[1]) : range[1];
    return POISE_OK;
}

// What an element says of a joint.
static poise_status mjcf_read_joint(mjcf *m, const pz_xml_node *node, const mjcf_place *place, mjcf_joint *joint)
{
    double pos[3] = {0, 0, 0}, axis[3] = {0, 0, 1};
    int class_of = place->class_of;
    *joint = (mjcf_joint){.node = node, .lower = -INFINITY, .upper = INFINITY, .part = -1, .next = -1};
    poise_status status = class_named(m, node, "class", &class_of);
    mjcf_settings settings = settings_of(&m->classes[class_of].joint, node);
    if (status == POISE_OK) {
        status = read_type(m, node, settings.value[MJCF_TYPE], &joint->type);
    }
    if (status != POISE_OK || joint->type == MJCF_FREE) {
        return status;
    }
    const int which[] = {MJCF_POS, MJCF_AXIS, MJCF_REF}, counts[] = {3, 3, 1};
    double *const values[] = {pos, axis, &joint->ref};
    for (int i = 0; status == POISE_OK && i < 3; ++i) {
        status = setting_numbers(m, node, &settings, which[i], counts[i], values[i]);
    }
    if (status == POISE_OK) {
        status = read_range(m, node, &settings, joint);
    }
    joint->anchor = poise_pose_transform(place->frame, v3(pos[0], pos[1], pos[2]));
    joint->axis = poise_quat_rotate(place->frame.rotation, v3(axis[0], axis[1], axis[2]));
    joint->ref = joint->type == MJCF_HINGE ? mjcf_radians(m, joint->ref) : joint->ref;
    if (joint->type == MJCF_SLIDE) {
        joint->anchor = v3(0, 0, 0); // what slides has no anchor
    }
    return status;
}

// ---- Chains --------------------------------------------------------------------------------------------------------------

static const poise_joint_type types[] = {[MJCF_HINGE] = POISE_JOINT_REVOLUTE,
                                         [MJCF_SLIDE] = POISE_JOINT_PRISMATIC,
                                         [MJCF_BALL] = POISE_JOINT_BALL_QUATERNION,
                                         [MJCF_FREE] = POISE_JOINT_FREE};

// The constant part of the motion: what q = 0 does.
static poise_pose at_zero(const mjcf_joint *joint)
{
    poise_pose pose = poise_pose_identity();
    if (joint->type == MJCF_HINGE && joint->ref != 0.0) {
        pose.rotation = poise_quat_from_axis_angle(joint->axis, -joint->ref);
    } else if (joint->type == MJCF_SLIDE && joint->ref != 0.0) {
        pose.position = v3_scale(v3_normalize(joint->axis), -joint->ref);
    }
    return pose;
}

static bool is_at_origin(vec3 p)
{
    return p.x == 0.0 && p.y == 0.0 && p.z == 0.0;
}

static poise_status check_free(mjcf *m, const mjcf_body *body, const mjcf_joint *joint)
{
    if (joint->type == MJCF_FREE && (body->parent != POISE_WORLD || body->first_joint != body->last_joint)) {
        return pz_xml_fail(m->input, joint->node, POISE_ERROR_MODEL,
                           "body \"%s\": a free joint must be its only joint, and its parent must be the world", body->name);
    }
    return POISE_OK;
}

static pz_part *new_part(mjcf *m, const pz_xml_node *node, const char *parent)
{
    pz_part *part = &m->parts[m->part_count++];
    *part = (pz_part){.joint = poise_joint_default(), .node = node, .leader = -1};
    part->joint.parent = parent;
    return part;
}

static poise_status name_part(mjcf *m, pz_part *part, const char *joint, const char *body)
{
    pz_pool *pool = &m->input->pool;
    part->joint.name = joint;
    part->joint.body = body;
    if (!part->joint.name) {
        part->joint.name = pz_name_set_new(pool, &m->joint_names, body);
    }
    if (part->joint.name && !body) {
        part->joint.body = pz_name_set_new(pool, &m->body_names, part->joint.name);
    }
    return part->joint.name && part->joint.body ? POISE_OK : pz_input_no_memory(m->input);
}

// The joints of one body. `at` is where the next joint stands, in the frame of the part before.
static poise_status make_chain(mjcf *m, const mjcf_body *body, const char **parent, poise_pose *at, bool *done)
{
    *done = false;
    for (int j = body->first_joint; j >= 0; j = m->joints[j].next) {
        mjcf_joint *joint = &m->joints[j];
        poise_status status = check_free(m, body, joint);
        if (status != POISE_OK) {
            return status;
        }
        joint->part = m->part_count;
        pz_part *part = new_part(m, joint->node, *parent);
        poise_pose anchor = {{0, 0, 0, 1}, joint->anchor};
        part->joint.type = types[joint->type];
        part->joint.axis = joint->axis;
        part->joint.lower[0] = joint->lower;
        part->joint.upper[0] = joint->upper;
        if (joint->type != MJCF_FREE) { // a free body is where q says, wherever the file draws it
            part->joint.offset = poise_pose_multiply(poise_pose_multiply(*at, anchor), at_zero(joint));
        }
        *done = joint->next < 0 && is_at_origin(joint->anchor);
        const char *name = joint->name ? joint->name : pz_name_set_new(&m->input->pool, &m->joint_names, body->name);
        status = name ? name_part(m, part, name, *done ? body->name : NULL) : pz_input_no_memory(m->input);
        if (status != POISE_OK) {
            return status;
        }
        *parent = part->joint.body;
        *at = (poise_pose){{0, 0, 0, 1}, v3_neg(joint->anchor)};
    }
    return POISE_OK;
}

static poise_status mjcf_make_parts(mjcf *m)
{
    bool any_floats = false;
    for (int b = 0; b < m->body_count; ++b) {
        const mjcf_body *body = &m->bodies[b];
        const char *parent = body->parent == POISE_WORLD ? NULL : m->bodies[body->parent].name;
        poise_pose at = body->pose;
        bool done;
        poise_status status = make_chain(m, body, &parent, &at, &done);
        if (status == POISE_OK && !done) {
            bool floats = m->input->options->floating && body->parent == POISE_WORLD && body->first_joint < 0;
            pz_part *part = new_part(m, body->node, parent);
            part->joint.type = floats ? POISE_JOINT_FREE : POISE_JOINT_FIXED;
            part->joint.offset = at;
            status = name_part(m, part, NULL, body->name);
        }
        if (status != POISE_OK) {
            return status;
        }
        pz_part *last = &m->parts[m->part_count - 1];
        last->joint.mass = body->mass;
        last->joint.mass_center = body->mass_center;
        any_floats = any_floats || last->joint.type == POISE_JOINT_FREE;
    }
    if (m->input->options->floating && !any_floats) {
        pz_xml_warn(m->input, NULL, m->bodies[0].node, "no body is made to float: the root bodies already have joints");
    }
    return POISE_OK;
}

// ---- Couplings -----------------------------------------------------------------------------------------------------------

static poise_status coupled(mjcf *m, const pz_xml_node *node, const char *attribute, mjcf_joint **joint)
{
    const char *name = pz_xml_get(node, attribute);
    *joint = NULL;
    if (!name) {
        return POISE_OK;
    }
    int found = pz_name_set_find(&m->joint_names, name);
    if (found < 0 || found >= m->named_joint_count) {
        return pz_xml_fail(m->input, node, POISE_ERROR_MODEL, "%s: there is no joint \"%s\" to couple", attribute, name);
    }
    *joint = &m->joints[m->joint_of_name[found]];
    return POISE_OK;
}

static bool is_linear(const double c[5])
{
    return c[2] == 0 && c[3] == 0 && c[4] == 0;
}

// The powers of q2 in q1 = ref1 + c0 + c1 (q2 - ref2) + c2 (q2 - ref2)^2 + ..., highest first, by Horner's scheme. False:
// out of memory.
static bool follow_polynomial(mjcf *m, const double c[5], double ref1, double ref2, poise_joint *joint)
{
    poise_function *f = pz_pool_take(&m->input->pool, 1, sizeof *f);
    double *y = pz_pool_take(&m->input->pool, 5, sizeof *y);
    if (!f || !y) {
        return false;
    }
    double p[5] = {0}; // lowest power first
    for (int i = 4; i >= 0; --i) {
        for (int k = 4; k > 0; --k) {
            p[k] = p[k - 1] - ref2 * p[k];
        }
        p[0] = c[i] - ref2 * p[0];
    }
    p[0] += ref1;
    for (int k = 0; k < 5; ++k) {
        y[k] = p[4 - k];
    }
    *f = (poise_function){.kind = POISE_FUNCTION_POLYNOMIAL, .count = 5, .y = y};
    joint->mimic_function = f;
    joint->lower[0] = -INFINITY; // those of the joint it follows hold
    joint->upper[0] = INFINITY;
    return true;
}

// May joint a follow joint b? Not if it follows another, if others are polynomials of it, in a circle, or a polynomial.
static bool may_follow(const mjcf *m, const mjcf_joint *a, const mjcf_joint *b)
{
    enum { LONGEST = 64 };
    if (m->parts[a->part].leader >= 0 || a->has_polynomials) {
        return false;
    }
    int at = b->part, steps = 0;
    while (at >= 0 && at != a->part && !m->parts[at].joint.mimic_function && steps < LONGEST) {
        at = m->parts[at].leader;
        steps += 1;
    }
    return at < 0;
}

// q1 - ref1 = c0 + c1 (q2 - ref2) + c2 (q2 - ref2)^2 + ...; with c2 = c3 = c4 = 0 either joint can follow the other:
//
//   q1 = c1 q2 + (ref1 + c0 - c1 ref2),   q2 = q1 / c1 + (ref2 - (ref1 + c0) / c1)
//
// Without a joint 2, joint 1 is fixed at ref1 + c0.
static bool couple(mjcf *m, const double c[5], mjcf_joint *first, mjcf_joint *second, bool *has_memory)
{
    const double least = 1e-6; // of c1, to divide by
    pz_part *one = &m->parts[first->part];
    double offset = first->ref + c[0];
    if (!second && one->leader < 0) {
        one->joint.lower[0] = one->joint.upper[0] = offset;
        return true;
    }
    if (!second) {
        return false;
    }
    if (may_follow(m, first, second)) {
        one->leader = second->part;
        if (!is_linear(c)) {
            second->has_polynomials = true;
            *has_memory = follow_polynomial(m, c, first->ref, second->ref, &one->joint);
            return true;
        }
        one->joint.mimic_multiplier = c[1];
        one->joint.mimic_offset = offset - c[1] * second->ref;
        return true;
    }
    if (!is_linear(c) || fabs(c[1]) < least || !may_follow(m, second, first)) {
        return false;
    }
    pz_part *two = &m->parts[second->part];
    two->leader = first->part;
    two->joint.mimic_multiplier = 1 / c[1];
    two->joint.mimic_offset = second->ref - offset / c[1];
    return true;
}

static bool has_one_number(const mjcf_joint *joint)
{
    return joint->type == MJCF_HINGE || joint->type == MJCF_SLIDE;
}

// The couplings that are linear, or the others.
static poise_status read_coupling(mjcf *m, const pz_xml_node *node, bool linear)
{
    double c[5] = {0, 1, 0, 0, 0};
    int count;
    mjcf_joint *first, *second;
    poise_status status = pz_xml_numbers(m->input, node, "polycoef", PZ_XML_FINITE, 1, 5, c, &count);
    if (status == POISE_OK) {
        status = coupled(m, node, "joint1", &first);
    }
    if (status == POISE_OK) {
        status = coupled(m, node, "joint2", &second);
    }
    if (status != POISE_OK || is_linear(c) != linear) {
        return status;
    }
    bool are_simple = first && has_one_number(first) && (!second || has_one_number(second)), has_memory = true;
    if (!are_simple || !couple(m, c, first, second, &has_memory)) {
        pz_xml_warn(m->input, &m->causes[MJCF_EQUALITY], node,
                    "this coupling is not supported: a hinge or slide can only follow one other");
    }
    return has_memory ? POISE_OK : pz_input_no_memory(m->input);
}

// Polynomials first: they leave no choice of who follows.
static poise_status mjcf_read_couplings(mjcf *m)
{
    poise_status status = POISE_OK;
    for (int linear = 0; linear < 2; ++linear) {
        for (const pz_xml_node *node = next_in(m, "equality", "joint", NULL); node && status == POISE_OK;
             node = next_in(m, "equality", "joint", node)) {
            status = mjcf_is_active(node) ? read_coupling(m, node, linear == 1) : POISE_OK;
        }
    }
    return status;
}

// ---- Bodies, and what is in them -----------------------------------------------------------------------------------------

static const char *const of_root[] = {"compiler", "option",  "size",      "visual",     "statistic", "default",   "custom",
                                      "asset",    "contact", "equality",  "tendon",     "actuator",  "worldbody", "sensor",
                                      "keyframe", "skin",    "extension", "deformable", NULL};
static const char *const elsewhere[] = {"geom", "camera", "light", "plugin", NULL};
static const char *const makes_bodies[] = {"composite", "flexcomp", "attach", NULL};

// ---- Sizes ---------------------------------------------------------------------------------------------------------------

static bool is_joint(const pz_xml_node *node)
{
    return pz_xml_is(node, "joint") || pz_xml_is(node, "freejoint");
}

static bool is_place(const pz_xml_node *node)
{
    return pz_xml_is(node, "body") || pz_xml_is(node, "frame") || pz_xml_is(node, "replicate");
}

static poise_status allocate(mjcf *m)
{
    size_t bodies = 0, joints = 0, sites = 0, places = 0, classes = 1;
    for (const pz_xml_node *node = m->root; node; node = pz_xml_after(node, m->root, false)) {
        bodies += pz_xml_is(node, "body");
        joints += is_joint(node);
        sites += pz_xml_is(node, "site");
        places += is_place(node) || pz_xml_is(node, "worldbody");
        classes += pz_xml_is(node, "default");
    }
    size_t parts = bodies + joints;
    pz_pool *pool = &m->input->pool;
    m->classes = pz_pool_take(pool, classes, sizeof *m->classes);
    m->class_of_name = pz_pool_take(pool, classes, sizeof *m->class_of_name);
    m->places = pz_pool_take(pool, places, sizeof *m->places);
    m->bodies = pz_pool_take(pool, bodies, sizeof *m->bodies);
    m->joints = pz_pool_take(pool, joints, sizeof *m->joints);
    m->joint_of_name = pz_pool_take(pool, joints, sizeof *m->joint_of_name);
    m->sites = pz_pool_take(pool, sites, sizeof *m->sites);
    m->parts = pz_pool_take(pool, parts, sizeof *m->parts);
    bool has_sets = pz_name_set_make(pool, classes, &m->class_names) && pz_name_set_make(pool, parts, &m->body_names) &&
                    pz_name_set_make(pool, parts, &m->joint_names) && pz_name_set_make(pool, sites, &m->site_names);
    if (!m->classes || !m->class_of_name || !m->places || !m->bodies || !m->joints || !m->joint_of_name || !m->sites ||
        !m->parts || !has_sets) {
        return pz_input_no_memory(m->input);
    }
    return POISE_OK;
}

// ---- The tree ------------------------------------------------------------------------------------------------------------

// The name that an element says, added to a set; NULL: none.
static poise_status read_name(mjcf *m, const pz_xml_node *node, pz_name_set *set, const char **name)
{
    *name = pz_xml_get(node, "name");
    if (*name && !(*name)[0]) {
        *name = NULL;
    }
    if (*name && !pz_name_set_add(set, *name)) {
        return pz_xml_fail(m->input, node, POISE_ERROR_MODEL, "there is already a %s \"%s\": rename one", node->name, *name);
    }
    return POISE_OK;
}

// Is it a body that a program moves?
static bool mjcf_is_mocap(const pz_xml_node *body)
{
    const char *mocap = pz_xml_get(body, "mocap");
    return mocap && strcmp(mocap, "true") == 0;
}

static poise_status add_body(mjcf *m, pz_xml_node *node, const mjcf_place *outer, const poise_pose *pose)
{
    mjcf_body *body = &m->bodies[m->body_count++];
    *body = (mjcf_body){.node = node, .parent = outer->body, .first_joint = -1, .last_joint = -1};
    body->pose = poise_pose_multiply(outer->frame, *pose);
    if (mjcf_is_mocap(node)) {
        pz_xml_warn(m->input, &m->causes[MJCF_MOCAP], node, "a mocap body is fixed at its position in the file");
    }
    return read_name(m, node, &m->body_names, &body->name);
}

// <body>, <frame>, <replicate>: a place for what is inside.
static poise_status enter(mjcf *m, pz_xml_node *node)
{
    const mjcf_place *outer = &m->places[node->parent->mark];
    mjcf_settings settings = settings_of(NULL, node);
    mjcf_place place = {.body = outer->body, .frame = outer->frame, .class_of = outer->class_of};
    poise_pose pose = poise_pose_identity();
    poise_status status = class_named(m, node, "childclass", &place.class_of);
    if (status == POISE_OK && pz_xml_is(node, "replicate")) {
        pz_xml_warn(m->input, &m->causes[MJCF_REPLICATE], node, "the contents of <replicate> are read once");
    } else if (status == POISE_OK) {
        status = pose_of(m, node, &settings, &pose);
    }
    if (status == POISE_OK && pz_xml_is(node, "body")) {
        place.body = m->body_count;
        place.frame = poise_pose_identity();
        status = add_body(m, node, outer, &pose);
    } else {
        place.frame = poise_pose_multiply(outer->frame, pose);
    }
    node->mark = m->place_count;
    m->places[m->place_count++] = place;
    return status;
}

static poise_status add_joint(mjcf *m, const pz_xml_node *node, const mjcf_place *place)
{
    if (place->body == POISE_WORLD) {
        return pz_xml_fail(m->input, node, POISE_ERROR_MODEL, "the world cannot have joints: put <%s> into a <body>",
                           node->name);
    }
    mjcf_joint *joint = &m->joints[m->joint_count];
    poise_status status = mjcf_read_joint(m, node, place, joint);
    if (status == POISE_OK) {
        status = read_name(m, node, &m->joint_names, &joint->name);
    }
    if (status != POISE_OK) {
        return status;
    }
    if (joint->name) {
        m->joint_of_name[m->named_joint_count++] = m->joint_count;
    }
    mjcf_body *body = &m->bodies[place->body];
    if (body->last_joint >= 0) {
        m->joints[body->last_joint].next = m->joint_count;
    } else {
        body->first_joint = m->joint_count;
    }
    body->last_joint = m->joint_count++;
    return POISE_OK;
}

static poise_status add_inertial(mjcf *m, const pz_xml_node *node, const mjcf_place *place)
{
    if (place->body == POISE_WORLD) {
        return POISE_OK;
    }
    mjcf_body *body = &m->bodies[place->body];
    double pos[3] = {0, 0, 0};
    poise_status status = pz_xml_exactly(m->input, node, "pos", 3, pos);
    body->has_inertial = true;
    body->mass_center = poise_pose_transform(place->frame, v3(pos[0], pos[1], pos[2]));
    return status == POISE_OK ? pz_xml_exactly(m->input, node, "mass", 1, &body->mass) : status;
}

// The body's name is not known yet if it has none of its own: `mark` keeps its number.
static poise_status add_site(mjcf *m, pz_xml_node *node, const mjcf_place *place)
{
    const char *name;
    poise_status status = read_name(m, node, &m->site_names, &name);
    if (status != POISE_OK || !name) {
        return status;
    }
    if (place->body == POISE_WORLD) {
        pz_xml_warn(m->input, &m->causes[MJCF_WORLD_SITE], node, "site \"%s\" is on the world, not on a body; left out",
                    name);
        return POISE_OK;
    }
    int class_of = place->class_of;
    poise_pose pose = poise_pose_identity();
    status = class_named(m, node, "class", &class_of);
    if (status == POISE_OK) {
        mjcf_settings settings = settings_of(&m->classes[class_of].site, node);
        status = pose_of(m, node, &settings, &pose);
    }
    node->mark = place->body;
    m->sites[m->site_count++] =
        (pz_named_frame){.tool = {.name = name, .pose = poise_pose_multiply(place->frame, pose)}, .node = node};
    return status;
}

// One element within the tree of bodies. *skip: what is inside it is not read.
static poise_status visit(mjcf *m, pz_xml_node *node, bool *skip)
{
    const mjcf_place *place = &m->places[node->parent->mark];
    *skip = !is_place(node);
    if (is_place(node)) {
        return enter(m, node);
    }
    if (is_joint(node)) {
        return add_joint(m, node, place);
    }
    if (pz_xml_is(node, "inertial")) {
        return add_inertial(m, node, place);
    }
    if (pz_xml_is(node, "site")) {
        return add_site(m, node, place);
    }
    if (pz_xml_is_among(node->name, makes_bodies)) {
        pz_xml_warn(m->input, &m->causes[MJCF_NOT_READ], node, "<%s> is not read; the bodies it creates are missing",
                    node->name);
    } else if (!pz_xml_is_among(node->name, elsewhere)) {
        pz_xml_warn(m->input, &m->causes[MJCF_UNKNOWN], node, "<%s> in <%s> is unknown and not read", node->name,
                    node->parent->name);
    }
    return POISE_OK;
}

static poise_status read_bodies(mjcf *m, pz_xml_node *world)
{
    world->mark = m->place_count;
    m->places[m->place_count++] = (mjcf_place){.body = POISE_WORLD, .frame = poise_pose_identity()};
    bool skip = false;
    for (pz_xml_node *node = pz_xml_after(world, world, false); node; node = pz_xml_after(node, world, skip)) {
        poise_status status = visit(m, node, &skip);
        if (status != POISE_OK) {
            return status;
        }
    }
    return POISE_OK;
}

static poise_status read_worlds(mjcf *m)
{
    poise_status status = POISE_OK;
    for (pz_xml_node *node = m->root->first; status == POISE_OK && node; node = node->next) {
        if (pz_xml_is(node, "worldbody")) {
            status = read_bodies(m, node);
        } else if (!pz_xml_is_among(node->name, of_root)) {
            pz_xml_warn(m->input, &m->causes[MJCF_UNKNOWN], node, "<%s> in <%s> is unknown and not read", node->name,
                        m->root->name);
        }
    }
    if (status == POISE_OK && m->body_count == 0) {
        return pz_xml_fail(m->input, m->root, POISE_ERROR_MODEL,
                           "<worldbody> needs at least one <body>: if this file is a part of others, open one of those");
    }
    return status;
}

// ---- Loops of <equality> -------------------------------------------------------------------------------------------------
//
// connect   a point of body1, in its frame, is one with the point of body2 that is there in the configuration of the file
// weld      body2 keeps the pose in body1's frame that `relpose` says or, without one, that the file draws
//
// Either may name two sites instead, whose points or frames are one. Those to a mocap body are left out.

// ---- Loops: reading ------------------------------------------------------------------------------------------------------

typedef struct drawn_body {
    poise_pose pose; // in the world
    bool is_mocap;
} drawn_body;

// Where the file draws the bodies of the model.
static drawn_body *draw_bodies(mjcf *m)
{
    const poise_model *model = m->input->file->model;
    drawn_body *drawn = pz_pool_take(&m->input->pool, (size_t)poise_model_info(model).joints, sizeof *drawn);
    poise_pose *by_number = pz_pool_take(&m->input->pool, (size_t)m->body_count, sizeof *by_number);
    for (int b = 0; drawn && by_number && b < m->body_count; ++b) {
        const mjcf_body *body = &m->bodies[b];
        by_number[b] = body->parent == POISE_WORLD ? body->pose : poise_pose_multiply(by_number[body->parent], body->pose);
        drawn[poise_model_find_body(model, body->name)] = (drawn_body){by_number[b], mjcf_is_mocap(body->node)};
    }
    return by_number ? drawn : NULL;
}

static poise_pose drawn_pose(const drawn_body *drawn, int body)
{
    return body == POISE_WORLD ? poise_pose_identity() : drawn[body].pose;
}

static poise_status site_named(mjcf *m, const pz_xml_node *node, const char *attribute, int *body, poise_pose *pose)
{
    const poise_model *model = m->input->file->model;
    const char *name = pz_xml_get(node, attribute);
    int tool = name ? poise_model_find_tool(model, name) : POISE_NONE;
    if (tool == POISE_NONE) {
        return pz_xml_fail(m->input, node, POISE_ERROR_MODEL, "%s of <%s>: there is no site \"%s\" on a body", attribute,
                           node->name, name ? name : "");
    }
    *body = poise_model_tool_info(model, tool).body;
    *pose = poise_model_tool_info(model, tool).pose;
    return POISE_OK;
}

static poise_status between_bodies(mjcf *m, const pz_xml_node *node, const drawn_body *drawn, poise_constraint *loop)
{
    double anchor[3] = {0, 0, 0}, relative[7] = {0, 1, 0, 0, 0, 0, 0};
    poise_status status = body_named(m, node, "body1", &loop->body);
    status = status == POISE_OK ? body_named(m, node, "body2", &loop->body2) : status;
    status = status == POISE_OK ? pz_xml_exactly(m->input, node, "anchor", 3, anchor) : status;
    status = status == POISE_OK ? pz_xml_exactly(m->input, node, "relpose", 7, relative) : status;
    if (status != POISE_OK) {
        return status;
    }
    poise_pose first = drawn_pose(drawn, loop->body), second = drawn_pose(drawn, loop->body2);
    poise_pose from_second = poise_pose_multiply(poise_pose_inverse(second), first);
    if (loop->kind == POISE_CONSTRAINT_CONNECT) {
        loop->local.position = v3(anchor[0], anchor[1], anchor[2]);
        loop->target.position = poise_pose_transform(from_second, loop->local.position);
        return POISE_OK;
    }
    poise_quat turn = {relative[4], relative[5], relative[6], relative[3]};
    bool is_given = turn.x != 0 || turn.y != 0 || turn.z != 0 || turn.w != 0;
    loop->local = is_given ? (poise_pose){quat_normalize(turn), v3(relative[0], relative[1], relative[2])}
                           : poise_pose_inverse(from_second);
    return POISE_OK;
}

static poise_status read_loop(mjcf *m, const pz_xml_node *node, const drawn_body *drawn, poise_constraint *loop)
{
    *loop = poise_constraint_default(pz_xml_is(node, "weld") ? POISE_CONSTRAINT_WELD : POISE_CONSTRAINT_CONNECT);
    if (!pz_xml_get(node, "site1") && !pz_xml_get(node, "site2")) {
        return between_bodies(m, node, drawn, loop);
    }
    poise_status status = site_named(m, node, "site1", &loop->body, &loop->local);
    return status == POISE_OK ? site_named(m, node, "site2", &loop->body2, &loop->target) : status;
}

// A body that a program moves, and drags others by: where the file draws it is no place to hold them.
static bool is_handle(const drawn_body *drawn, int body)
{
    return body != POISE_WORLD && drawn[body].is_mocap;
}

static bool is_loop(const pz_xml_node *node)
{
    return mjcf_is_active(node) && (pz_xml_is(node, "connect") || pz_xml_is(node, "weld"));
}

static poise_status mjcf_read_loops(mjcf *m)
{
    size_t most = 0;
    for (const pz_xml_node *node = next_in(m, "equality", NULL, NULL); node; node = next_in(m, "equality", NULL, node)) {
        most += is_loop(node);
        if (mjcf_is_active(node) && !is_loop(node) && !pz_xml_is(node, "joint")) {
            pz_xml_warn(m->input, &m->causes[MJCF_EQUALITY], node, "<%s> of <equality> is not supported", node->name);
        }
    }
    if (most == 0) {
        return POISE_OK;
    }
    poise_file *file = m->input->file;
    const drawn_body *drawn = draw_bodies(m);
    file->loops = pz_pool_take(&m->input->kept, most, sizeof *file->loops);
    if (!drawn || !file->loops) {
        return pz_input_no_memory(m->input);
    }
    poise_status status = POISE_OK;
    for (const pz_xml_node *node = next_in(m, "equality", NULL, NULL); node && status == POISE_OK;
         node = next_in(m, "equality", NULL, node)) {
        if (!is_loop(node)) {
            continue;
        }
        poise_constraint *loop = &file->loops[file->loop_count];
        status = read_loop(m, node, drawn, loop);
        bool is_idle = loop->body == loop->body2; // nothing moves against itself
        bool is_dragged = status == POISE_OK && (is_handle(drawn, loop->body) || is_handle(drawn, loop->body2));
        if (is_dragged) {
            pz_xml_warn(m->input, &m->causes[MJCF_EQUALITY], node,
                        "<%s> to a mocap body is not kept: say with a goal where that body should be", node->name);
        }
        file->loop_count += status == POISE_OK && !is_idle && !is_dragged;
    }
    return status;
}

// ---- Keyframes as postures -----------------------------------------------------------------------------------------------
//
//   <keyframe><key name="home" qpos="0 0 0.8  1 0 0 0  0.1 -0.4 ..."/></keyframe>
//
// qpos has the numbers of all joints, body by body: 1 of a hinge or slide, 4 of a ball (w x y z), 7 of a free joint. What
// follows another joint has a number there and none in the model.

static int numbers_of(mjcf_joint_type type)
{
    static const int counts[] = {[MJCF_HINGE] = 1, [MJCF_SLIDE] = 1, [MJCF_BALL] = 4, [MJCF_FREE] = 7};
    return counts[type];
}

// The numbers of a text, `count` of them; false where there are more, fewer or others.
static bool read_numbers(const char *text, int count, double *values)
{
    pz_scan scan = pz_scan_over(text, strlen(text));
    for (int i = 0; i < count; ++i) {
        if (!pz_scan_number(&scan, &values[i])) {
            return false;
        }
    }
    return !pz_scan_skip(&scan);
}

static void set_joint(const mjcf *m, const mjcf_joint *joint, const double *from, double *q)
{
    const poise_model *model = m->input->file->model;
    poise_joint_info info = poise_model_joint_info(model, poise_model_find_joint(model, m->parts[joint->part].joint.name));
    int count = numbers_of(joint->type);
    if (info.nq != count) { // it follows another
        return;
    }
    memcpy(q + info.q, from, (size_t)count * sizeof *q);
    if (count >= 4) { // w x y z there, x y z w here
        const double *there = from + count - 4;
        double *here = q + info.q + count - 4;
        here[0] = there[1];
        here[1] = there[2];
        here[2] = there[3];
        here[3] = there[0];
    }
}

static poise_status read_key(mjcf *m, const pz_xml_node *node, double *values, int count)
{
    poise_file *file = m->input->file;
    const char *name = pz_xml_get(node, "name"), *qpos = pz_xml_get(node, "qpos");
    if (!name || !name[0] || !qpos) {
        return POISE_OK; // it has no name to ask for it by, or is of activations or mocap bodies
    }
    if (!read_numbers(qpos, count, values)) {
        pz_xml_warn(m->input, &m->causes[MJCF_KEY], node, "qpos of key \"%s\" does not have %d numbers; it is ignored", name,
                    count);
        return POISE_OK;
    }
    double *q = pz_pool_take(&m->input->kept, (size_t)poise_model_info(file->model).nq, sizeof *q);
    const char *copy = pz_pool_copy(&m->input->kept, name, strlen(name));
    if (!q || !copy) {
        return pz_input_no_memory(m->input);
    }
    poise_model_neutral(file->model, q);
    for (int b = 0, at = 0; b < m->body_count; ++b) {
        for (int j = m->bodies[b].first_joint; j >= 0; j = m->joints[j].next) {
            set_joint(m, &m->joints[j], values + at, q);
            at += numbers_of(m->joints[j].type);
        }
    }
    file->postures[file->posture_count++] = (poise_posture){.name = copy, .q = q};
    return POISE_OK;
}

// Keyframes as postures.
static poise_status mjcf_read_keys(mjcf *m)
{
    size_t most = 0, count = 0;
    for (const pz_xml_node *node = NULL; (node = next_in(m, "keyframe", "key", node));) {
        most += 1;
    }
    for (int j = 0; j < m->joint_count; ++j) {
        count += (size_t)numbers_of(m->joints[j].type);
    }
    if (most == 0) {
        return POISE_OK;
    }
    poise_file *file = m->input->file;
    file->postures = pz_pool_take(&m->input->kept, most, sizeof *file->postures);
    double *values = pz_pool_take(&m->input->pool, count + 1, sizeof *values);
    poise_status status = file->postures && values ? POISE_OK : pz_input_no_memory(m->input);
    for (const pz_xml_node *node = NULL; status == POISE_OK && (node = next_in(m, "keyframe", "key", node));) {
        status = read_key(m, node, values, (int)count);
    }
    return status;
}

// ---- Geoms: shapes that cover those that collide, pairs that do or do not, masses of bodies without <inertial> -----------

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

// ---- Geoms: pairs --------------------------------------------------------------------------------------------------------
//
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

static void add_pair(mjcf *m, const pz_xml_node *node, uint32_t *used, mjcf_pairs *pairs)
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
static poise_status mjcf_read_pairs(mjcf *m, uint32_t used, mjcf_pairs *pairs)
{
    size_t most = 0;
    const pz_xml_node *node = NULL;
    while ((node = next_in(m, "contact", "pair", node))) {
        most += 2;
    }
    pairs->groups = pz_pool_take(&m->input->pool, most, sizeof *pairs->groups);
    pairs->against = pz_pool_take(&m->input->pool, most, sizeof *pairs->against);
    if (!pairs->groups || !pairs->against || !pz_name_set_make(&m->input->pool, most, &pairs->names)) {
        return pz_input_no_memory(m->input);
    }
    memset(pairs->groups, 0, most * sizeof *pairs->groups);
    memset(pairs->against, 0, most * sizeof *pairs->against);
    while ((node = next_in(m, "contact", "pair", node))) {
        add_pair(m, node, &used, pairs);
    }
    return POISE_OK;
}

// ---- Geoms: types --------------------------------------------------------------------------------------------------------

static const char *const type_names[] = {
    [MJCF_SPHERE] = "sphere", [MJCF_CAPSULE] = "capsule", [MJCF_CYLINDER] = "cylinder", [MJCF_ELLIPSOID] = "ellipsoid",
    [MJCF_BOX] = "box",       [MJCF_PLANE] = "plane",     [MJCF_MESH_GEOM] = "mesh",    [MJCF_OTHER_GEOM] = NULL};

// A mesh makes a geom of another type the primitive that fits it; here it stays a mesh.
static mjcf_geom mjcf_geom_of(const mjcf_settings *settings)
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

// ---- Geoms: sizes --------------------------------------------------------------------------------------------------------

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
static poise_status mjcf_geom_size(mjcf *m, const pz_xml_node *node, const mjcf_settings *settings, mjcf_geom type,
                                   double *size)
{
    double ends[6] = {0};
    int count = 0;
    poise_status status = POISE_OK;
    if (settings->value[MJCF_SIZE]) {
        status = pz_xml_numbers_of(m->input, node, "size", settings->value[MJCF_SIZE], PZ_XML_FINITE, 1, 3, size, &count);
    }
    if (status == POISE_OK && settings->value[MJCF_FROMTO]) {
        status = setting_numbers(m, node, settings, MJCF_FROMTO, 6, ends);
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
static poise_status make_shape(mjcf *m, const pz_xml_node *node, const mjcf_settings *settings, mjcf_geom type,
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

// ---- Geoms: meshes -------------------------------------------------------------------------------------------------------

// The meshes of the file by name; one without a name has that of its file, without folder and extension.
typedef struct meshes {
    pz_name_set names;
    const pz_xml_node **nodes;
} meshes;

static const char *name_of_mesh(mjcf *m, const pz_xml_node *node)
{
    const char *name = pz_xml_get(node, "name"), *file = pz_xml_get(node, "file");
    if (name || !file) {
        return name ? name : "";
    }
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file, *dot = strrchr(base, '.');
    return pz_pool_copy(&m->input->pool, base, dot ? (size_t)(dot - base) : strlen(base));
}

static poise_status list_meshes(mjcf *m, meshes *all)
{
    size_t most = 0;
    const pz_xml_node *node = NULL;
    while ((node = next_in(m, "asset", "mesh", node))) {
        most += 1;
    }
    all->nodes = pz_pool_take(&m->input->pool, most, sizeof *all->nodes);
    if (!all->nodes || !pz_name_set_make(&m->input->pool, most, &all->names)) {
        return pz_input_no_memory(m->input);
    }
    while ((node = next_in(m, "asset", "mesh", node))) {
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

static char *path_of(mjcf *m, const char *file)
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
static poise_status scale_of_mesh(mjcf *m, const pz_xml_node *mesh, double scale[3])
{
    int class_of = 0;
    scale[0] = scale[1] = scale[2] = 1;
    poise_status status = class_named(m, mesh, "class", &class_of);
    mjcf_settings settings = settings_of(&m->classes[class_of].mesh, mesh);
    return status == POISE_OK ? setting_numbers(m, mesh, &settings, MJCF_SCALE, 3, scale) : status;
}

static poise_status add_mesh(mjcf *m, const meshes *all, const pz_xml_node *node, const char *name, const poise_shape *shape,
                             pz_shape_list *list)
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

// ---- Geoms: reading ------------------------------------------------------------------------------------------------------

static poise_status read_bits(mjcf *m, const pz_xml_node *node, const mjcf_settings *settings, int which, uint32_t *bits)
{
    double value = 1.0;
    poise_status status = setting_numbers(m, node, settings, which, 1, &value);
    *bits = value >= 0 && value <= (double)UINT32_MAX ? (uint32_t)value : UINT32_MAX; // -1: all
    return status;
}

// What a geom says over its class, and its bits.
static poise_status read_settings(mjcf *m, const pz_xml_node *node, mjcf_settings *settings, poise_shape *shape)
{
    int class_of = m->places[node->parent->mark].class_of;
    poise_status status = class_named(m, node, "class", &class_of);
    *settings = settings_of(&m->classes[class_of].geom, node);
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
static poise_status add_primitive(mjcf *m, const pz_xml_node *node, const mjcf_settings *settings, mjcf_geom type,
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

static poise_status read_geom(mjcf *m, const meshes *all, const mjcf_pairs *pairs, const pz_xml_node *node,
                              pz_shape_list *list)
{
    const mjcf_place *place = &m->places[node->parent->mark];
    poise_pose pose = poise_pose_identity();
    mjcf_settings settings;
    const char *body = place->body == POISE_WORLD ? NULL : m->bodies[place->body].name;
    poise_shape shape = {.body = body ? poise_model_find_body(m->input->file->model, body) : POISE_WORLD};
    poise_status status = read_settings(m, node, &settings, &shape);
    mjcf_geom type = mjcf_geom_of(&settings);
    status = status == POISE_OK ? pose_of(m, node, &settings, &pose) : status;
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
static const pz_xml_node *mjcf_next_geom(const mjcf *m, const pz_xml_node *geom)
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
static poise_status read_all_bits(mjcf *m, uint32_t *used)
{
    poise_status status = POISE_OK;
    const pz_xml_node *geom = NULL;
    while (status == POISE_OK && (geom = mjcf_next_geom(m, geom))) {
        mjcf_settings settings;
        poise_shape shape = {0};
        status = read_settings(m, geom, &settings, &shape);
        *used |= shape.groups | shape.against;
    }
    return status;
}

static poise_status read_geoms(mjcf *m)
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

static poise_status read_excludes(mjcf *m)
{
    size_t most = 0;
    const pz_xml_node *node = NULL;
    while ((node = next_in(m, "contact", "exclude", node))) {
        most += 1;
    }
    poise_file *file = m->input->file;
    file->excluded = most > 0 ? pz_pool_take(&m->input->kept, most, sizeof *file->excluded) : NULL;
    if (most > 0 && !file->excluded) {
        return pz_input_no_memory(m->input);
    }
    poise_status status = POISE_OK;
    while (status == POISE_OK && (node = next_in(m, "contact", "exclude", node))) {
        poise_pair *pair = &file->excluded[file->excluded_count++];
        status = body_named(m, node, "body1", &pair->a);
        status = status == POISE_OK ? body_named(m, node, "body2", &pair->b) : status;
    }
    return status;
}

// ---- Geoms: masses of bodies without <inertial> --------------------------------------------------------------------------
//
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
static poise_status weigh(mjcf *m, const pz_xml_node *node, const mjcf_place *place, double *mass, vec3 *middle,
                          bool *is_mesh)
{
    int class_of = place->class_of;
    double size[3] = {0, 0, 0}, density = WATER;
    poise_pose pose = poise_pose_identity();
    poise_status status = class_named(m, node, "class", &class_of);
    mjcf_settings settings = settings_of(&m->classes[class_of].geom, node);
    mjcf_geom type = mjcf_geom_of(&settings);
    status = status == POISE_OK ? pose_of(m, node, &settings, &pose) : status;
    status = status == POISE_OK ? mjcf_geom_size(m, node, &settings, type, size) : status;
    status = status == POISE_OK ? setting_numbers(m, node, &settings, MJCF_DENSITY, 1, &density) : status;
    bool is_unknown = type == MJCF_MESH_GEOM || type == MJCF_OTHER_GEOM;
    *mass = density * (is_unknown ? 1.0 : volume_of(type, size));
    *middle = poise_pose_transform(place->frame, pose.position);
    status = status == POISE_OK ? setting_numbers(m, node, &settings, MJCF_MASS, 1, mass) : status;
    *is_mesh = is_unknown && *mass > 0.0;
    *mass = is_unknown && !settings.value[MJCF_MASS] ? 0.0 : *mass;
    return status;
}

static bool is_weightless(const mjcf_body *body)
{
    return body->has_geom && !body->has_inertial && body->mass == 0;
}

static bool is_weighed_in_part(const mjcf_body *body)
{
    return body->has_mesh_with_mass && !body->has_inertial && body->mass > 0;
}

// One warning about all bodies that are odd in a way, at the first of them.
static void warn_of(mjcf *m, bool (*is_odd)(const mjcf_body *), const char *one, const char *many)
{
    const mjcf_body *first = NULL;
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

// Weigh the geoms of bodies that have no <inertial>.
static poise_status weigh_bodies(mjcf *m)
{
    const pz_xml_node *geom = NULL;
    poise_status status = POISE_OK;
    while (status == POISE_OK && (geom = mjcf_next_geom(m, geom))) {
        const mjcf_place *place = &m->places[geom->parent->mark];
        double mass = 0.0;
        bool is_mesh = false;
        vec3 middle = v3(0, 0, 0);
        if (place->body == POISE_WORLD || m->bodies[place->body].has_inertial) {
            continue;
        }
        mjcf_body *body = &m->bodies[place->body];
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

// ---- The whole -----------------------------------------------------------------------------------------------------------

// Bodies without a name get one, now that all names of the file are known.
static poise_status name_bodies(mjcf *m)
{
    for (int b = 0; b < m->body_count; ++b) {
        mjcf_body *body = &m->bodies[b];
        if (!body->name) {
            body->name = pz_name_set_new(&m->input->pool, &m->body_names, "body");
        }
        if (!body->name) {
            return pz_input_no_memory(m->input);
        }
    }
    for (int s = 0; s < m->site_count; ++s) {
        m->sites[s].tool.body = m->bodies[m->sites[s].node->mark].name;
    }
    return POISE_OK;
}

static poise_status assemble(mjcf *m)
{
    return pz_assemble(m->input, m->parts, m->part_count, m->sites, m->site_count);
}

static poise_status finish(mjcf *m)
{
    pz_causes_close(m->input, m->causes, MJCF_CAUSE_COUNT);
    return POISE_OK;
}

static poise_status check_root(mjcf *m)
{
    if (!pz_xml_is(m->root, "mujoco")) {
        return pz_xml_fail(m->input, m->root, POISE_ERROR_FORMAT, "this is <%s>, not <mujoco>: %s", m->root->name,
                           pz_xml_is(m->root, "mujocoinclude") ? "a part of other files; open one of those"
                                                               : "not an MJCF file");
    }
    m->input->file->title = pz_xml_get(m->root, "model");
    m->input->file->scale = (poise_scale){.metres = 1.0, .up = POISE_UP_Z};
    return POISE_OK;
}

static poise_status read_mjcf(pz_input *input)
{
    mjcf m = {.input = input,
              .causes = {[MJCF_NOT_LOADED] = {"files that are not included", 0},
                         [MJCF_UNKNOWN] = {"unknown elements", 0},
                         [MJCF_NOT_READ] = {"elements that create bodies and are not read", 0},
                         [MJCF_REPLICATE] = {"elements <replicate>", 0},
                         [MJCF_MOCAP] = {"mocap bodies", 0},
                         [MJCF_WORLD_SITE] = {"sites on the world", 0},
                         [MJCF_BALL_RANGE] = {"ranges of ball joints", 0},
                         [MJCF_NOT_LIMITED] = {"joints whose limits do not apply", 0},
                         [MJCF_EQUALITY] = {"constraints that are not supported", 0},
                         [MJCF_NO_SHAPE] = {"geoms whose shapes are not read", 0},
                         [MJCF_KEY] = {"keyframes for a different number of joints", 0}}};
    poise_status status = pz_xml_parse(input, input->bytes, input->size, NULL, &m.root);
    poise_status (*const steps[])(mjcf *) = {check_root,        mjcf_include,        mjcf_read_compiler, allocate,
                                             mjcf_read_classes, read_worlds,         name_bodies,        weigh_bodies,
                                             mjcf_make_parts,   mjcf_read_couplings, assemble,           read_geoms,
                                             read_excludes,     mjcf_read_loops,     mjcf_read_keys,     finish};
    for (size_t i = 0; status == POISE_OK && i < sizeof steps / sizeof steps[0]; ++i) {
        status = steps[i](&m);
    }
    return status;
}

const pz_format_row pz_mjcf_format = {.name = "mjcf", .extension = ".mjcf", .read = read_mjcf};
