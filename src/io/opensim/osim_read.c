// Bodies, frames and coordinates of an OSIM document, of all its versions.
#include "io/opensim/osim.h"

#include "math/scalar.h"

#include <string.h>

// ---- Small things --------------------------------------------------------------------------------------------------------

poise_status pz_osim_vec3(osim *o, const pz_xml_node *node, const char *name, vec3 *v)
{
    const pz_xml_node *child = pz_xml_child(node, name);
    if (!child || !child->text) {
        return POISE_OK;
    }
    double x[3];
    int count;
    poise_status status = pz_xml_numbers_of(o->input, child, "text", child->text, PZ_XML_FINITE, 3, 3, x, &count);
    *v = status == POISE_OK ? v3(x[0], x[1], x[2]) : *v;
    return status;
}

poise_status pz_osim_number(osim *o, const pz_xml_node *node, const char *name, double *value)
{
    const pz_xml_node *child = pz_xml_child(node, name);
    int count;
    if (!child || !child->text) {
        return POISE_OK;
    }
    return pz_xml_numbers_of(o->input, child, "text", child->text, PZ_XML_INFINITE, 1, 1, value, &count);
}

bool pz_osim_is_true(const pz_xml_node *node, const char *name)
{
    const char *text = pz_xml_child_text(node, name);
    return text && pz_word_is_like((pz_word){text, strlen(text)}, "true");
}

const char *pz_osim_name(const pz_xml_node *node)
{
    const char *name = pz_xml_get(node, "name");
    return name && name[0] ? name : NULL;
}

quat pz_osim_turn(vec3 a)
{
    quat x = poise_quat_from_axis_angle(v3(1, 0, 0), a.x), y = poise_quat_from_axis_angle(v3(0, 1, 0), a.y);
    return quat_mul(quat_mul(x, y), poise_quat_from_axis_angle(v3(0, 0, 1), a.z));
}

const pz_xml_node *pz_osim_objects(const pz_xml_node *node, const char *set)
{
    const pz_xml_node *child = pz_xml_child(node, set);
    const pz_xml_node *objects = child ? pz_xml_child(child, "objects") : NULL;
    return objects ? objects : child;
}

const char *pz_osim_socket(const pz_xml_node *node, const char *name)
{
    static const char head[] = "socket_", tail[] = "_connectee_name"; // the tail in some versions
    for (const pz_xml_node *at = node->first; at; at = at->next) {
        size_t length = strlen(name), first = sizeof head - 1;
        bool begins = strncmp(at->name, head, first) == 0 && strncmp(at->name + first, name, length) == 0;
        const char *rest = begins ? at->name + first + length : "";
        if (begins && at->text && (rest[0] == '\0' || strcmp(rest, tail) == 0)) {
            return at->text;
        }
    }
    const pz_xml_node *list = pz_xml_child(node, "connectors");
    for (const pz_xml_node *at = list ? list->first : NULL; at; at = at->next) {
        const char *its = pz_osim_name(at);
        if (its && strcmp(its, name) == 0) {
            return pz_xml_child_text(at, "connectee_name");
        }
    }
    return NULL;
}

// ---- Frames --------------------------------------------------------------------------------------------------------------

static const char *last_word(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// A frame that stands in an element itself, or the first of all with that name; -1: none.
static int find_frame(const osim *o, const pz_xml_node *owner, const char *name)
{
    static const char *const lists[] = {"frames", "components"};
    for (size_t i = 0; owner && i < sizeof lists / sizeof *lists; ++i) {
        const pz_xml_node *list = pz_osim_objects(owner, lists[i]);
        for (const pz_xml_node *at = list ? list->first : NULL; at; at = at->next) {
            if (at->mark > 0 && strcmp(o->frames[at->mark - 1].name, name) == 0) {
                return at->mark - 1;
            }
        }
    }
    int first = pz_name_set_find(&o->frame_names, name);
    return first < 0 ? -1 : o->frame_of_name[first];
}

static bool is_own(const osim *o, int frame, const pz_xml_node *owner)
{
    return frame >= 0 && owner && o->frames[frame].owner == owner;
}

static poise_status offset_of(osim *o, const pz_xml_node *node, poise_pose *pose)
{
    vec3 p = {0, 0, 0}, angles = {0, 0, 0};
    poise_status status = pz_osim_vec3(o, node, "translation", &p);
    status = status == POISE_OK ? pz_osim_vec3(o, node, "orientation", &angles) : status;
    *pose = (poise_pose){pz_osim_turn(angles), p};
    return status;
}

static vec3 times(vec3 a, vec3 b)
{
    return v3(a.x * b.x, a.y * b.y, a.z * b.z);
}

// The frames on the way to the body, outermost last; their places are scaled as the body is.
static poise_status resolve_frame(osim *o, int frame, int depth, int *body, poise_pose *pose)
{
    const osim_frame *f = &o->frames[frame];
    const char *path = pz_osim_socket(f->node, "parent");
    poise_pose above = poise_pose_identity(), own;
    if (!f->is_known) {
        return pz_xml_fail(o->input, f->node, POISE_ERROR_UNSUPPORTED, "frame \"%s\" is a %s, which is not read", f->name,
                           f->node->name);
    }
    path = path ? path : pz_osim_socket(f->node, "parent_frame");
    bool is_body = !path || strcmp(path, "..") == 0;
    path = is_body && f->owner ? pz_osim_name(f->owner) : path;
    if (!path || depth > 100) {
        return pz_xml_fail(o->input, f->node, POISE_ERROR_MODEL, "frame \"%s\" is not attached to a body", f->name);
    }
    poise_status status = offset_of(o, f->node, &own);
    const char *name = last_word(path);
    int at = pz_name_set_find(&o->body_names, name), other = find_frame(o, f->owner, name);
    if (status != POISE_OK) {
        return status;
    }
    if (at >= 0 || strcmp(name, "ground") == 0) {
        *body = at >= 0 ? at : POISE_WORLD;
    } else if (other >= 0 && other != frame) {
        status = resolve_frame(o, other, depth + 1, body, &above);
    } else {
        return pz_xml_fail(o->input, f->node, POISE_ERROR_MODEL, "frame \"%s\": there is no body or frame \"%s\"", f->name,
                           path);
    }
    if (status == POISE_OK) {
        own.position = *body >= 0 ? times(own.position, o->bodies[*body].scale) : own.position;
        *pose = poise_pose_multiply(above, own);
    }
    return status;
}

poise_status pz_osim_resolve(osim *o, const pz_xml_node *at, const pz_xml_node *owner, const char *path, int *body,
                             poise_pose *pose)
{
    *pose = poise_pose_identity();
    const char *name = last_word(path);
    int frame = find_frame(o, owner, name);
    *body = pz_name_set_find(&o->body_names, name);
    if (is_own(o, frame, owner)) {
        return resolve_frame(o, frame, 0, body, pose);
    }
    if (*body >= 0) {
        return POISE_OK;
    }
    if (strcmp(name, "ground") == 0) {
        *body = POISE_WORLD;
        return POISE_OK;
    }
    return frame >= 0 ? resolve_frame(o, frame, 0, body, pose)
                      : pz_xml_fail(o->input, at, POISE_ERROR_MODEL, "\"%s\": there is no body or frame \"%s\"",
                                    pz_osim_name(at) ? pz_osim_name(at) : at->name, path);
}

// ---- Lists ---------------------------------------------------------------------------------------------------------------

static bool is_frame(const pz_xml_node *node)
{
    return pz_xml_is(node, "PhysicalOffsetFrame") || pz_xml_is(node, "StationDefinedFrame") ||
           pz_xml_is(node, "OffsetFrame");
}

static bool is_joint(const pz_xml_node *node)
{
    size_t length = strlen(node->name), tail = strlen("Joint");
    return length > tail && strcmp(node->name + length - tail, "Joint") == 0;
}

// What comes after a node of the model, without <defaults> and sets that have no skeleton in them.
static const pz_xml_node *next_node(const osim *o, const pz_xml_node *node)
{
    static const char *const skipped[] = {"defaults",          "ForceSet",           "ControllerSet",
                                          "ProbeSet",          "ContactGeometrySet", "VisibleObject",
                                          "attached_geometry", "WrapObjectSet",      NULL};
    return pz_xml_after(node, o->model, node != o->model && pz_xml_is_among(node->name, skipped));
}

static const pz_xml_node *owner_of(const pz_xml_node *node)
{
    for (node = node->parent; node; node = node->parent) {
        if (is_joint(node) || pz_xml_is(node, "Body")) {
            return node;
        }
    }
    return NULL;
}

static poise_status allocate(osim *o)
{
    size_t bodies = 0, frames = 0, coordinates = 0, joints = 0;
    for (const pz_xml_node *node = o->model; node; node = next_node(o, node)) {
        bodies += pz_xml_is(node, "Body");
        frames += is_frame(node);
        coordinates += pz_xml_is(node, "Coordinate");
        joints += is_joint(node);
    }
    pz_pool *pool = &o->input->pool;
    coordinates += 6 * joints; // those that a joint has without saying so
    o->bodies = pz_pool_take(pool, bodies, sizeof *o->bodies);
    o->frames = pz_pool_take(pool, frames, sizeof *o->frames);
    o->coordinates = pz_pool_take(pool, coordinates, sizeof *o->coordinates);
    o->joints = pz_pool_take(pool, joints, sizeof *o->joints);
    o->frame_of_name = pz_pool_take(pool, frames, sizeof *o->frame_of_name);
    bool has_sets = pz_name_set_make(pool, bodies, &o->body_names) && pz_name_set_make(pool, frames, &o->frame_names) &&
                    pz_name_set_make(pool, coordinates, &o->coordinate_names);
    bool there = o->bodies && o->frames && o->coordinates && o->joints && o->frame_of_name && has_sets;
    return there ? POISE_OK : pz_input_no_memory(o->input);
}

static poise_body_scale scale_of(const osim *o, const char *body)
{
    const poise_read_options *options = o->input->options;
    for (int i = 0; i < options->body_scale_count; ++i) {
        if (strcmp(options->body_scales[i].body, body) == 0) {
            return options->body_scales[i];
        }
    }
    return (poise_body_scale){body, {1, 1, 1}, 0};
}

static poise_status add_body(osim *o, const pz_xml_node *node)
{
    const char *name = pz_osim_name(node);
    if (!name) {
        return pz_xml_fail(o->input, node, POISE_ERROR_FORMAT, "<Body> has no name");
    }
    if (strcmp(name, "ground") == 0) {
        return POISE_OK;
    }
    if (!pz_name_set_add(&o->body_names, name)) {
        return pz_xml_fail(o->input, node, POISE_ERROR_MODEL, "there is already a body \"%s\": rename one", name);
    }
    osim_body *body = &o->bodies[o->body_count++];
    poise_body_scale scale = scale_of(o, name);
    *body = (osim_body){.name = name, .node = node, .joint = -1, .scale = scale.factors};
    poise_status status = pz_osim_number(o, node, "mass", &body->mass);
    body->mass *= scale.mass > 0.0 ? scale.mass : 1.0;
    status = status == POISE_OK ? pz_osim_vec3(o, node, "mass_center", &body->mass_center) : status;
    body->mass_center = times(body->mass_center, body->scale);
    if (status == POISE_OK && !(body->mass >= 0.0 && body->mass <= 1e100)) {
        pz_xml_warn(o->input, NULL, node, "body \"%s\": mass %g is replaced by 0", name, body->mass);
        body->mass = 0.0;
    }
    return status;
}

static void add_frame(osim *o, const pz_xml_node *node)
{
    const char *name = pz_osim_name(node);
    o->frames[o->frame_count++] = (osim_frame){name, node, owner_of(node), !pz_xml_is(node, "StationDefinedFrame")};
    ((pz_xml_node *)node)->mark = o->frame_count;
    if (pz_name_set_add(&o->frame_names, name)) {
        o->frame_of_name[o->frame_names.count - 1] = o->frame_count - 1;
    }
}

static void read_unit(osim *o)
{
    const char *text = pz_xml_child_text(o->model, "length_units");
    o->unit = text ? pz_unit_metres((pz_word){text, strlen(text)}) : 1.0;
    if (o->unit == 0.0) {
        pz_xml_warn(o->input, NULL, pz_xml_child(o->model, "length_units"), "unit \"%s\" is unknown; metres assumed", text);
        o->unit = 1.0;
    }
}

poise_status pz_osim_collect(osim *o)
{
    poise_status status = allocate(o);
    read_unit(o);
    for (const pz_xml_node *node = o->model; node && status == POISE_OK; node = next_node(o, node)) {
        if (pz_xml_is(node, "Body")) {
            status = add_body(o, node);
        } else if (is_frame(node) && pz_osim_name(node)) {
            add_frame(o, node);
        } else if (is_joint(node)) {
            o->joints[o->joint_count++] = (osim_joint){.node = node, .name = pz_osim_name(node)};
        }
    }
    return status;
}
