// MJCF, the models of MuJoCo: bodies within bodies, each with any number of joints.
//
// What is read: the tree of bodies, frames, joints, sites (as tools), masses, default classes, compiler settings, includes,
// couplings of joints, loops, geoms that collide (mjcf_geoms.c), keyframes. Actuators, sensors and the like
// are left out silently: a skeleton has none.
#include "io/mjcf.h"

#include "num/vector.h"

#include <math.h>
#include <string.h>

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
static const char *beside(pz_mjcf *m, const pz_xml_node *node, const char *file)
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

static poise_status load(pz_mjcf *m, const pz_xml_node *node, pz_name_set *seen, pz_xml_node **root)
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

static poise_status include_children(pz_mjcf *m, pz_xml_node *parent, pz_name_set *seen)
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
static poise_status mjcf_include(pz_mjcf *m)
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

static poise_status fail_value(pz_mjcf *m, const pz_xml_node *node, const char *attribute, const char *allowed)
{
    return pz_xml_fail(m->input, node, POISE_ERROR_FORMAT, "%s of <%s> must be %s, not \"%s\"", attribute, node->name,
                       allowed, pz_xml_get(node, attribute));
}

static poise_status read_compiler(pz_mjcf *m, const pz_xml_node *node)
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

static poise_status mjcf_read_compiler(pz_mjcf *m)
{
    m->compiler = (pz_mjcf_compiler){.has_autolimits = true, .eulerseq = "xyz"};
    poise_status status = POISE_OK;
    for (const pz_xml_node *node = m->root->first; status == POISE_OK && node; node = node->next) {
        if (pz_xml_is(node, "compiler")) {
            status = read_compiler(m, node);
        }
    }
    return status;
}

static double mjcf_radians(const pz_mjcf *m, double angle)
{
    return m->compiler.is_radian ? angle : angle * PZ_RADIANS_PER_DEGREE;
}

// ---- Settings ------------------------------------------------------------------------------------------------------------

pz_mjcf_settings pz_mjcf_settings_of(const pz_mjcf_settings *base, const pz_xml_node *node)
{
    pz_mjcf_settings own = {{NULL}}, result = base ? *base : own;
    bool has_orientation = false;
    for (int i = 0; i < MJCF_SETTING_COUNT; ++i) {
        own.value[i] = pz_xml_get(node, setting_names[i]);
        has_orientation = has_orientation || (i < MJCF_ORIENTATIONS && own.value[i]);
    }
    for (int i = 0; i < MJCF_SETTING_COUNT; ++i) {
        bool replaces = own.value[i] || (i < MJCF_ORIENTATIONS && has_orientation);
        result.value[i] = replaces ? own.value[i] : result.value[i];
    }
    return result;
}

poise_status pz_mjcf_setting_numbers(pz_mjcf *m, const pz_xml_node *node, const pz_mjcf_settings *settings, int which,
                                     int count, double *values)
{
    int found;
    return pz_xml_numbers_of(m->input, node, setting_names[which], settings->value[which], PZ_XML_FINITE, count, count,
                             values, &found);
}

// ---- Classes -------------------------------------------------------------------------------------------------------------

// Let a class say what the <joint>, <site>, <geom> and <mesh> directly within one of its elements say.
static void add_to_class(pz_mjcf_class *class_of, const pz_xml_node *node)
{
    for (const pz_xml_node *child = node->first; child; child = child->next) {
        if (pz_xml_is(child, "joint")) {
            class_of->joint = pz_mjcf_settings_of(&class_of->joint, child);
        } else if (pz_xml_is(child, "site")) {
            class_of->site = pz_mjcf_settings_of(&class_of->site, child);
        } else if (pz_xml_is(child, "geom")) {
            class_of->geom = pz_mjcf_settings_of(&class_of->geom, child);
        } else if (pz_xml_is(child, "mesh")) {
            class_of->mesh = pz_mjcf_settings_of(&class_of->mesh, child);
        }
    }
}

// Class 0 is everybody's. A <default> at the top adds to it and may give it another name; one within another inherits.
static poise_status read_class(pz_mjcf *m, pz_xml_node *node)
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

static poise_status mjcf_read_classes(pz_mjcf *m)
{
    m->classes[0] = (pz_mjcf_class){.joint = {{NULL}}};
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

poise_status pz_mjcf_class_named(pz_mjcf *m, const pz_xml_node *node, const char *attribute, int *class_of)
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
static quat from_euler(const pz_mjcf *m, const double *angles)
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

static bool from_numbers(const pz_mjcf *m, int which, const double *n, quat *q)
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

static poise_status read_orientation(pz_mjcf *m, const pz_xml_node *node, const pz_mjcf_settings *settings, quat *rotation)
{
    static const int lengths[MJCF_ORIENTATIONS] = {
        [MJCF_QUAT] = 4, [MJCF_AXISANGLE] = 4, [MJCF_XYAXES] = 6, [MJCF_ZAXIS] = 3, [MJCF_EULER] = 3};
    int which = -1;
    for (int i = 0; i < MJCF_ORIENTATIONS; ++i) {
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
    poise_status status = pz_mjcf_setting_numbers(m, node, settings, which, lengths[which], n);
    if (status == POISE_OK && !from_numbers(m, which, n, rotation)) {
        return pz_xml_fail(m->input, node, POISE_ERROR_FORMAT, "%s of <%s> is not an orientation: \"%s\"",
                           setting_names[which], node->name, settings->value[which]);
    }
    return status;
}

// A segment from a to b: its middle, z pointing from b to a.
static poise_status read_segment(pz_mjcf *m, const pz_xml_node *node, const pz_mjcf_settings *settings, poise_pose *pose)
{
    double n[6];
    poise_status status = pz_mjcf_setting_numbers(m, node, settings, MJCF_FROMTO, 6, n);
    if (status != POISE_OK) {
        return status;
    }
    vec3 a = v3(n[0], n[1], n[2]), b = v3(n[3], n[4], n[5]);
    pose->position = v3_combine(0.5, a, 0.5, b);
    pose->rotation = pz_quat_from_z(v3_sub(a, b));
    return POISE_OK;
}

poise_status pz_mjcf_pose(pz_mjcf *m, const pz_xml_node *node, const pz_mjcf_settings *settings, poise_pose *pose)
{
    double p[3] = {0, 0, 0};
    *pose = poise_pose_identity();
    if (settings->value[MJCF_FROMTO]) {
        return read_segment(m, node, settings, pose);
    }
    poise_status status = pz_mjcf_setting_numbers(m, node, settings, MJCF_POS, 3, p);
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

const pz_xml_node *pz_mjcf_next_in(const pz_mjcf *m, const char *section, const char *name, const pz_xml_node *after)
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

poise_status pz_mjcf_body_named(pz_mjcf *m, const pz_xml_node *node, const char *attribute, int *body)
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

static poise_status read_type(pz_mjcf *m, const pz_xml_node *node, const char *value, pz_mjcf_joint_type *type)
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
            *type = (pz_mjcf_joint_type)i;
            return POISE_OK;
        }
    }
    return pz_xml_fail(m->input, node, POISE_ERROR_FORMAT, "type of <joint> must be hinge, slide, ball or free, not \"%s\"",
                       value);
}

// Is the range in force? By `limited`, or by itself where that says nothing.
static poise_status is_limited(pz_mjcf *m, const pz_xml_node *node, const pz_mjcf_settings *settings, bool *limited)
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

static poise_status read_range(pz_mjcf *m, const pz_xml_node *node, const pz_mjcf_settings *settings, pz_mjcf_joint *joint)
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
static poise_status mjcf_read_joint(pz_mjcf *m, const pz_xml_node *node, const pz_mjcf_place *place, pz_mjcf_joint *joint)
{
    double pos[3] = {0, 0, 0}, axis[3] = {0, 0, 1};
    int class_of = place->class_of;
    *joint = (pz_mjcf_joint){.node = node, .lower = -INFINITY, .upper = INFINITY, .part = -1, .next = -1};
    poise_status status = pz_mjcf_class_named(m, node, "class", &class_of);
    pz_mjcf_settings settings = pz_mjcf_settings_of(&m->classes[class_of].joint, node);
    if (status == POISE_OK) {
        status = read_type(m, node, settings.value[MJCF_TYPE], &joint->type);
    }
    if (status != POISE_OK || joint->type == MJCF_FREE) {
        return status;
    }
    const int which[] = {MJCF_POS, MJCF_AXIS, MJCF_REF}, counts[] = {3, 3, 1};
    double *const values[] = {pos, axis, &joint->ref};
    for (int i = 0; status == POISE_OK && i < 3; ++i) {
        status = pz_mjcf_setting_numbers(m, node, &settings, which[i], counts[i], values[i]);
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
static poise_pose at_zero(const pz_mjcf_joint *joint)
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

static poise_status check_free(pz_mjcf *m, const pz_mjcf_body *body, const pz_mjcf_joint *joint)
{
    if (joint->type == MJCF_FREE && (body->parent != POISE_WORLD || body->first_joint != body->last_joint)) {
        return pz_xml_fail(m->input, joint->node, POISE_ERROR_MODEL,
                           "body \"%s\": a free joint must be its only joint, and its parent must be the world", body->name);
    }
    return POISE_OK;
}

static pz_part *new_part(pz_mjcf *m, const pz_xml_node *node, const char *parent)
{
    pz_part *part = &m->parts[m->part_count++];
    *part = (pz_part){.joint = poise_joint_default(), .node = node, .leader = -1};
    part->joint.parent = parent;
    return part;
}

static poise_status name_part(pz_mjcf *m, pz_part *part, const char *joint, const char *body)
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
static poise_status make_chain(pz_mjcf *m, const pz_mjcf_body *body, const char **parent, poise_pose *at, bool *done)
{
    *done = false;
    for (int j = body->first_joint; j >= 0; j = m->joints[j].next) {
        pz_mjcf_joint *joint = &m->joints[j];
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

static poise_status mjcf_make_parts(pz_mjcf *m)
{
    bool any_floats = false;
    for (int b = 0; b < m->body_count; ++b) {
        const pz_mjcf_body *body = &m->bodies[b];
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

static poise_status coupled(pz_mjcf *m, const pz_xml_node *node, const char *attribute, pz_mjcf_joint **joint)
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
static bool follow_polynomial(pz_mjcf *m, const double c[5], double ref1, double ref2, poise_joint *joint)
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
static bool may_follow(const pz_mjcf *m, const pz_mjcf_joint *a, const pz_mjcf_joint *b)
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
static bool couple(pz_mjcf *m, const double c[5], pz_mjcf_joint *first, pz_mjcf_joint *second, bool *has_memory)
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

// The couplings that are linear, or the others.
static poise_status read_coupling(pz_mjcf *m, const pz_xml_node *node, bool linear)
{
    double c[5] = {0, 1, 0, 0, 0};
    int count;
    pz_mjcf_joint *first, *second;
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
    bool are_simple = first && first->type <= MJCF_SLIDE && (!second || second->type <= MJCF_SLIDE), has_memory = true;
    if (!are_simple || !couple(m, c, first, second, &has_memory)) {
        pz_xml_warn(m->input, &m->causes[MJCF_EQUALITY], node,
                    "this coupling is not supported: a hinge or slide can only follow one other");
    }
    return has_memory ? POISE_OK : pz_input_no_memory(m->input);
}

// Polynomials first: they leave no choice of who follows.
static poise_status mjcf_read_couplings(pz_mjcf *m)
{
    poise_status status = POISE_OK;
    for (int linear = 0; linear < 2; ++linear) {
        for (const pz_xml_node *node = pz_mjcf_next_in(m, "equality", "joint", NULL); node && status == POISE_OK;
             node = pz_mjcf_next_in(m, "equality", "joint", node)) {
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

static poise_status allocate(pz_mjcf *m)
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
static poise_status take_name(pz_mjcf *m, const pz_xml_node *node, pz_name_set *set, const char **name)
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

static poise_status add_body(pz_mjcf *m, pz_xml_node *node, const pz_mjcf_place *outer, const poise_pose *pose)
{
    pz_mjcf_body *body = &m->bodies[m->body_count++];
    *body = (pz_mjcf_body){.node = node, .parent = outer->body, .first_joint = -1, .last_joint = -1};
    body->pose = poise_pose_multiply(outer->frame, *pose);
    if (mjcf_is_mocap(node)) {
        pz_xml_warn(m->input, &m->causes[MJCF_MOCAP], node, "a mocap body is fixed at its position in the file");
    }
    return take_name(m, node, &m->body_names, &body->name);
}

// <body>, <frame>, <replicate>: a place for what is inside.
static poise_status enter(pz_mjcf *m, pz_xml_node *node)
{
    const pz_mjcf_place *outer = &m->places[node->parent->mark];
    pz_mjcf_settings settings = pz_mjcf_settings_of(NULL, node);
    pz_mjcf_place place = {.body = outer->body, .frame = outer->frame, .class_of = outer->class_of};
    poise_pose pose = poise_pose_identity();
    poise_status status = pz_mjcf_class_named(m, node, "childclass", &place.class_of);
    if (status == POISE_OK && pz_xml_is(node, "replicate")) {
        pz_xml_warn(m->input, &m->causes[MJCF_REPLICATE], node, "the contents of <replicate> are read once");
    } else if (status == POISE_OK) {
        status = pz_mjcf_pose(m, node, &settings, &pose);
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

static poise_status add_joint(pz_mjcf *m, const pz_xml_node *node, const pz_mjcf_place *place)
{
    if (place->body == POISE_WORLD) {
        return pz_xml_fail(m->input, node, POISE_ERROR_MODEL, "the world cannot have joints: put <%s> into a <body>",
                           node->name);
    }
    pz_mjcf_joint *joint = &m->joints[m->joint_count];
    poise_status status = mjcf_read_joint(m, node, place, joint);
    if (status == POISE_OK) {
        status = take_name(m, node, &m->joint_names, &joint->name);
    }
    if (status != POISE_OK) {
        return status;
    }
    if (joint->name) {
        m->joint_of_name[m->named_joint_count++] = m->joint_count;
    }
    pz_mjcf_body *body = &m->bodies[place->body];
    if (body->last_joint >= 0) {
        m->joints[body->last_joint].next = m->joint_count;
    } else {
        body->first_joint = m->joint_count;
    }
    body->last_joint = m->joint_count++;
    return POISE_OK;
}

static poise_status add_inertial(pz_mjcf *m, const pz_xml_node *node, const pz_mjcf_place *place)
{
    if (place->body == POISE_WORLD) {
        return POISE_OK;
    }
    pz_mjcf_body *body = &m->bodies[place->body];
    double pos[3] = {0, 0, 0};
    poise_status status = pz_xml_exactly(m->input, node, "pos", 3, pos);
    body->has_inertial = true;
    body->mass_center = poise_pose_transform(place->frame, v3(pos[0], pos[1], pos[2]));
    return status == POISE_OK ? pz_xml_exactly(m->input, node, "mass", 1, &body->mass) : status;
}

// The body's name is not known yet if it has none of its own: `mark` keeps its number.
static poise_status add_site(pz_mjcf *m, pz_xml_node *node, const pz_mjcf_place *place)
{
    const char *name;
    poise_status status = take_name(m, node, &m->site_names, &name);
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
    status = pz_mjcf_class_named(m, node, "class", &class_of);
    if (status == POISE_OK) {
        pz_mjcf_settings settings = pz_mjcf_settings_of(&m->classes[class_of].site, node);
        status = pz_mjcf_pose(m, node, &settings, &pose);
    }
    node->mark = place->body;
    m->sites[m->site_count++] =
        (pz_named_frame){.tool = {.name = name, .pose = poise_pose_multiply(place->frame, pose)}, .node = node};
    return status;
}

// One element within the tree of bodies. *skip: what is inside it is not read.
static poise_status visit(pz_mjcf *m, pz_xml_node *node, bool *skip)
{
    const pz_mjcf_place *place = &m->places[node->parent->mark];
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

static poise_status read_bodies(pz_mjcf *m, pz_xml_node *world)
{
    world->mark = m->place_count;
    m->places[m->place_count++] = (pz_mjcf_place){.body = POISE_WORLD, .frame = poise_pose_identity()};
    bool skip = false;
    for (pz_xml_node *node = pz_xml_after(world, world, false); node; node = pz_xml_after(node, world, skip)) {
        poise_status status = visit(m, node, &skip);
        if (status != POISE_OK) {
            return status;
        }
    }
    return POISE_OK;
}

static poise_status read_worlds(pz_mjcf *m)
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
static drawn_body *draw_bodies(pz_mjcf *m)
{
    const poise_model *model = m->input->file->model;
    drawn_body *drawn = pz_pool_take(&m->input->pool, (size_t)poise_model_info(model).joints, sizeof *drawn);
    poise_pose *by_number = pz_pool_take(&m->input->pool, (size_t)m->body_count, sizeof *by_number);
    for (int b = 0; drawn && by_number && b < m->body_count; ++b) {
        const pz_mjcf_body *body = &m->bodies[b];
        by_number[b] = body->parent == POISE_WORLD ? body->pose : poise_pose_multiply(by_number[body->parent], body->pose);
        drawn[poise_model_find_body(model, body->name)] = (drawn_body){by_number[b], mjcf_is_mocap(body->node)};
    }
    return by_number ? drawn : NULL;
}

static poise_pose drawn_pose(const drawn_body *drawn, int body)
{
    return body == POISE_WORLD ? poise_pose_identity() : drawn[body].pose;
}

static poise_status site_named(pz_mjcf *m, const pz_xml_node *node, const char *attribute, int *body, poise_pose *pose)
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

static poise_status between_bodies(pz_mjcf *m, const pz_xml_node *node, const drawn_body *drawn, poise_constraint *loop)
{
    double anchor[3] = {0, 0, 0}, relative[7] = {0, 1, 0, 0, 0, 0, 0};
    poise_status status = pz_mjcf_body_named(m, node, "body1", &loop->body);
    status = status == POISE_OK ? pz_mjcf_body_named(m, node, "body2", &loop->body2) : status;
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

static poise_status read_loop(pz_mjcf *m, const pz_xml_node *node, const drawn_body *drawn, poise_constraint *loop)
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

static poise_status mjcf_read_loops(pz_mjcf *m)
{
    size_t most = 0;
    for (const pz_xml_node *node = pz_mjcf_next_in(m, "equality", NULL, NULL); node;
         node = pz_mjcf_next_in(m, "equality", NULL, node)) {
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
    for (const pz_xml_node *node = pz_mjcf_next_in(m, "equality", NULL, NULL); node && status == POISE_OK;
         node = pz_mjcf_next_in(m, "equality", NULL, node)) {
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

//   <keyframe><key name="home" qpos="0 0 0.8  1 0 0 0  0.1 -0.4 ..."/></keyframe>
//
// qpos has the numbers of all joints, body by body: 1 of a hinge or slide, 4 of a ball (w x y z), 7 of a free joint. What
// follows another joint has a number there and none in the model.

static int numbers_of(pz_mjcf_joint_type type)
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

static void put_joint(const pz_mjcf *m, const pz_mjcf_joint *joint, const double *from, double *q)
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

static poise_status read_key(pz_mjcf *m, const pz_xml_node *node, double *values, int count)
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
            put_joint(m, &m->joints[j], values + at, q);
            at += numbers_of(m->joints[j].type);
        }
    }
    file->postures[file->posture_count++] = (poise_posture){.name = copy, .q = q};
    return POISE_OK;
}

// Keyframes as postures.
static poise_status mjcf_read_keys(pz_mjcf *m)
{
    size_t most = 0, count = 0;
    for (const pz_xml_node *node = NULL; (node = pz_mjcf_next_in(m, "keyframe", "key", node));) {
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
    for (const pz_xml_node *node = NULL; status == POISE_OK && (node = pz_mjcf_next_in(m, "keyframe", "key", node));) {
        status = read_key(m, node, values, (int)count);
    }
    return status;
}

// ---- The whole -----------------------------------------------------------------------------------------------------------

// Bodies without a name get one, now that all names of the file are known.
static poise_status name_bodies(pz_mjcf *m)
{
    for (int b = 0; b < m->body_count; ++b) {
        pz_mjcf_body *body = &m->bodies[b];
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

static poise_status assemble(pz_mjcf *m)
{
    return pz_assemble(m->input, m->parts, m->part_count, m->sites, m->site_count);
}

static poise_status finish(pz_mjcf *m)
{
    pz_causes_close(m->input, m->causes, MJCF_CAUSE_COUNT);
    return POISE_OK;
}

static poise_status check_root(pz_mjcf *m)
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

poise_status pz_read_mjcf(pz_input *input)
{
    pz_mjcf m = {.input = input,
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
    poise_status (*const steps[])(pz_mjcf *) = {
        check_root,  mjcf_include,       mjcf_read_compiler,    allocate,        mjcf_read_classes,
        read_worlds, name_bodies,        pz_mjcf_weigh,         mjcf_make_parts, mjcf_read_couplings,
        assemble,    pz_mjcf_read_geoms, pz_mjcf_read_excludes, mjcf_read_loops, mjcf_read_keys,
        finish};
    for (size_t i = 0; status == POISE_OK && i < sizeof steps / sizeof steps[0]; ++i) {
        status = steps[i](&m);
    }
    return status;
}
