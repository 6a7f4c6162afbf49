// Compiler settings, default classes, and frames.
#include "io/mjcf/mjcf.h"

#include "math/quat.h"

#include <string.h>

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

poise_status pz_mjcf_read_compiler(pz_mjcf *m)
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

double pz_mjcf_radians(const pz_mjcf *m, double angle)
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

poise_status pz_mjcf_read_classes(pz_mjcf *m)
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
        quat turn = poise_quat_from_axis_angle(v3(axis == 0, axis == 1, axis == 2), pz_mjcf_radians(m, angles[i]));
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
        *q = poise_quat_from_axis_angle(v3(n[0], n[1], n[2]), pz_mjcf_radians(m, n[3]));
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
