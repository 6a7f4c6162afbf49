// Joints of an OSIM document: where they sit, their coordinates, and their six axes.
//
// | type             | axes                                                                      |
// |------------------|---------------------------------------------------------------------------|
// | CustomJoint      | <SpatialTransform>                                                        |
// | WeldJoint        | none                                                                      |
// | PinJoint         | turn z                                                                    |
// | SliderJoint      | slide x                                                                   |
// | UniversalJoint   | turn x, turn y                                                            |
// | Ball, GimbalJoint| turn x, turn y, turn z                                                    |
// | PlanarJoint      | turn z, slide x, slide y                                                  |
// | FreeJoint        | turn x, turn y, turn z, slide x, slide y, slide z                         |
//
// Coordinates in that order. Slides are along the axes of F and come before the turns.
#include "io/opensim/osim.h"

#include "math/scalar.h"

#include <string.h>

// ---- Coordinates ---------------------------------------------------------------------------------------------------------

static poise_status read_coordinate(osim *o, const pz_xml_node *node, const char *name)
{
    if (!pz_name_set_add(&o->coordinate_names, name)) {
        return pz_xml_fail(o->input, node, POISE_ERROR_MODEL, "there is already a coordinate \"%s\": rename one", name);
    }
    osim_coordinate *c = &o->coordinates[o->coordinate_count++];
    *c = (osim_coordinate){.name = name, .node = node, .lower = -INFINITY, .upper = INFINITY, .leader = -1, .part = -1};
    if (!pz_xml_is(node, "Coordinate")) {
        return POISE_OK;
    }
    const pz_xml_node *range = pz_xml_child(node, "range");
    double values[2];
    int count = 0;
    poise_status status = pz_osim_number(o, node, "default_value", &c->start);
    if (status == POISE_OK && range && range->text) {
        status = pz_xml_numbers_of(o->input, range, "text", range->text, PZ_XML_INFINITE, 2, 2, values, &count);
    }
    if (status == POISE_OK && count == 2) {
        c->lower = min2(values[0], values[1]);
        c->upper = max2(values[0], values[1]);
    }
    c->clamped = pz_osim_is_true(node, "clamped");
    c->locked = pz_osim_is_true(node, "locked");
    return status == POISE_OK && !is_finite(c->start)
               ? pz_xml_fail(o->input, node, POISE_ERROR_FORMAT, "coordinate \"%s\": default_value is not finite", name)
               : status;
}

static poise_status read_coordinates(osim *o, osim_joint *joint)
{
    const pz_xml_node *list = pz_osim_objects(joint->node, "coordinates");
    list = list ? list : pz_osim_objects(joint->node, "CoordinateSet");
    poise_status status = POISE_OK;
    joint->first = o->coordinate_count;
    for (const pz_xml_node *node = list ? list->first : NULL; node && status == POISE_OK; node = node->next) {
        if (pz_xml_is(node, "Coordinate")) {
            const char *name = pz_osim_name(node);
            status = name ? read_coordinate(o, node, name)
                          : pz_xml_fail(o->input, node, POISE_ERROR_FORMAT, "<Coordinate> has no name");
        }
    }
    joint->count = o->coordinate_count - joint->first;
    return status;
}

// Coordinates up to `count`, for a joint that does not name them all.
static poise_status need_coordinates(osim *o, osim_joint *joint, int count)
{
    poise_status status = POISE_OK;
    while (joint->count < count && status == POISE_OK) {
        size_t length = strlen(joint->name);
        char *name = pz_pool_take(&o->input->pool, length + 10, 1);
        if (!name) {
            return pz_input_no_memory(o->input);
        }
        memcpy(name, joint->name, length);
        memcpy(name + length, "_coord_0", 9);
        name[length + 7] = (char)('0' + joint->count);
        if (o->coordinate_count != joint->first + joint->count) {
            return pz_xml_fail(o->input, joint->node, POISE_ERROR_MODEL, "joint \"%s\" has too few coordinates",
                               joint->name);
        }
        status = read_coordinate(o, joint->node, name);
        joint->count += 1;
    }
    return status;
}

// ---- Axes ----------------------------------------------------------------------------------------------------------------

static const vec3 units[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

typedef struct plain_type {
    const char *name;
    int count;
    int axes[6]; // 0..2 turns, 3..5 slides
} plain_type;

static const plain_type plain_types[] = {
    {"WeldJoint", 0, {0}},         {"PinJoint", 1, {2}},
    {"SliderJoint", 1, {3}},       {"UniversalJoint", 2, {0, 1}},
    {"BallJoint", 3, {0, 1, 2}},   {"GimbalJoint", 3, {0, 1, 2}},
    {"PlanarJoint", 3, {2, 3, 4}}, {"FreeJoint", 6, {0, 1, 2, 3, 4, 5}},
};

static poise_status plain_axes(osim *o, osim_joint *joint, const plain_type *type)
{
    static const double identity[] = {1, 0};
    poise_status status = need_coordinates(o, joint, type->count);
    for (int i = 0; i < type->count; ++i) {
        osim_axis *axis = &joint->axes[type->axes[i]];
        axis->coordinate = joint->first + i;
        axis->f = (poise_function){.kind = POISE_FUNCTION_POLYNOMIAL, .count = 2, .y = identity};
    }
    return status;
}

static int coordinate_of(const osim *o, const osim_joint *joint, const char *name)
{
    int found = pz_name_set_find(&o->coordinate_names, name);
    return found >= joint->first && found < joint->first + joint->count ? found : -1;
}

static poise_status read_axis(osim *o, const osim_joint *joint, const pz_xml_node *node, osim_axis *axis, bool *has_axis)
{
    static const double identity[] = {1, 0};
    const char *name = pz_xml_child_text(node, "coordinates");
    name = name ? name : pz_xml_child_text(node, "coordinate");
    *has_axis = pz_xml_child_text(node, "axis") != NULL;
    poise_status status = pz_osim_vec3(o, node, "axis", &axis->u);
    status = status == POISE_OK ? pz_osim_function_in(o, node, &axis->f) : status;
    if (status == POISE_OK && name && name[0]) {
        axis->coordinate = coordinate_of(o, joint, name);
        if (axis->coordinate < 0) {
            return pz_xml_fail(o->input, node, POISE_ERROR_UNSUPPORTED,
                               "joint \"%s\": an axis depends on \"%s\", which is not a coordinate of the joint",
                               joint->name, name);
        }
        if (axis->f.count == 0) {
            axis->f = (poise_function){.kind = POISE_FUNCTION_POLYNOMIAL, .count = 2, .y = identity};
        }
    }
    if (status == POISE_OK && axis->coordinate < 0 && axis->f.count > 1) {
        axis->f = (poise_function){.count = 0}; // a function of nothing
    }
    double length = v3_norm(axis->u);
    if (status == POISE_OK && !(length > 0.0) && axis->f.count > 0) {
        return pz_xml_fail(o->input, node, POISE_ERROR_MODEL, "joint \"%s\": an axis is zero", joint->name);
    }
    return status;
}

// 0..2 for rotation1..3, 3..5 for translation1..3; of files from before these names by what they say.
static int place_of(const pz_xml_node *node, int *turns, int *slides)
{
    const char *name = pz_osim_name(node);
    if (name && strncmp(name, "rotation", 8) == 0 && name[8] >= '1' && name[8] <= '3') {
        return name[8] - '1';
    }
    if (name && strncmp(name, "translation", 11) == 0 && name[11] >= '1' && name[11] <= '3') {
        return name[11] - '1' + 3;
    }
    bool slides_along = pz_xml_child(node, "is_rotation") && !pz_osim_is_true(node, "is_rotation");
    int place = slides_along ? 3 + (*slides)++ : (*turns)++;
    return place < (slides_along ? 6 : 3) ? place : -1;
}

// An axis that a file leaves out is across the two others.
static void complete_axes(osim_axis *axes, const bool *has)
{
    for (int i = 0; i < 3; ++i) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        if (!has[i] && has[j] && has[k]) {
            vec3 across = v3_cross(axes[j].u, axes[k].u);
            axes[i].u = v3_norm(across) > 1e-9 ? across : axes[i].u;
        }
    }
}

static poise_status custom_axes(osim *o, osim_joint *joint)
{
    const pz_xml_node *list = pz_osim_objects(joint->node, "SpatialTransform");
    list = list ? list : pz_osim_objects(joint->node, "TransformAxisSet");
    bool has[6] = {false};
    int turns = 0, slides = 0;
    poise_status status = POISE_OK;
    for (const pz_xml_node *node = list ? list->first : NULL; node && status == POISE_OK; node = node->next) {
        if (!pz_xml_is(node, "TransformAxis")) {
            continue;
        }
        int place = place_of(node, &turns, &slides);
        if (place < 0) {
            return pz_xml_fail(o->input, node, POISE_ERROR_UNSUPPORTED, "joint \"%s\" has more than three turns or slides",
                               joint->name);
        }
        status = read_axis(o, joint, node, &joint->axes[place], &has[place]);
    }
    complete_axes(joint->axes, has);
    complete_axes(joint->axes + 3, has + 3);
    return status;
}

// A slide by a function that is not the coordinate itself grows with the parent: times sum |u_i| s_i.
static bool scale_slides(osim *o, osim_joint *joint)
{
    vec3 s = joint->parent >= 0 ? o->bodies[joint->parent].scale : v3(1, 1, 1);
    for (int i = 3; i < 6; ++i) {
        osim_axis *axis = &joint->axes[i];
        double a, b;
        bool is_plain = pz_osim_is_linear(&axis->f, &a, &b) && fabs(a) == 1.0 && b == 0.0;
        vec3 u = v3_norm(axis->u) > 0 ? v3_normalize(axis->u) : axis->u;
        double factor = fabs(u.x) * s.x + fabs(u.y) * s.y + fabs(u.z) * s.z;
        if (axis->f.count > 0 && !is_plain && (s.x != 1.0 || s.y != 1.0 || s.z != 1.0) &&
            !pz_osim_function_scale(o, &axis->f, factor)) {
            return false;
        }
    }
    return true;
}

static poise_status read_axes(osim *o, osim_joint *joint)
{
    const char *type = joint->node->name;
    for (int i = 0; i < 6; ++i) {
        joint->axes[i] = (osim_axis){.u = units[i % 3], .coordinate = -1};
    }
    if (strcmp(type, "CustomJoint") == 0) {
        poise_status status = custom_axes(o, joint);
        return status == POISE_OK && !scale_slides(o, joint) ? pz_input_no_memory(o->input) : status;
    }
    for (size_t i = 0; i < sizeof plain_types / sizeof *plain_types; ++i) {
        if (strcmp(type, plain_types[i].name) == 0) {
            return plain_axes(o, joint, &plain_types[i]);
        }
    }
    return pz_xml_fail(o->input, joint->node, POISE_ERROR_UNSUPPORTED,
                       "joint \"%s\" is a %s, which is not supported: make it a CustomJoint", joint->name, type);
}

// ---- Places --------------------------------------------------------------------------------------------------------------

static poise_status read_place(osim *o, const pz_xml_node *node, const char *location, const char *orientation, int body,
                               poise_pose *pose)
{
    vec3 p = {0, 0, 0}, angles = {0, 0, 0};
    poise_status status = pz_osim_vec3(o, node, location, &p);
    status = status == POISE_OK ? pz_osim_vec3(o, node, orientation, &angles) : status;
    vec3 s = body >= 0 ? o->bodies[body].scale : v3(1, 1, 1);
    *pose = (poise_pose){pz_osim_turn(angles), v3(p.x * s.x, p.y * s.y, p.z * s.z)};
    return status;
}

static poise_status find_body(osim *o, const osim_joint *joint, const char *name, int *body)
{
    *body = name ? pz_name_set_find(&o->body_names, name) : -1;
    if (*body >= 0) {
        return POISE_OK;
    }
    *body = POISE_WORLD;
    return name && strcmp(name, "ground") == 0 ? POISE_OK
                                               : pz_xml_fail(o->input, joint->node, POISE_ERROR_MODEL,
                                                             "joint \"%s\": there is no body \"%s\"", joint->name, name);
}

// The layout of before 30500: the joint stands in its child.
static poise_status old_places(osim *o, osim_joint *joint)
{
    const pz_xml_node *body = joint->node->parent;
    while (body && !pz_xml_is(body, "Body")) {
        body = body->parent;
    }
    if (!body) {
        return pz_xml_fail(o->input, joint->node, POISE_ERROR_MODEL, "joint \"%s\" has no child body", joint->name);
    }
    poise_status status = find_body(o, joint, pz_osim_name(body), &joint->child);
    status =
        status == POISE_OK ? find_body(o, joint, pz_xml_child_text(joint->node, "parent_body"), &joint->parent) : status;
    if (status == POISE_OK) {
        status = read_place(o, joint->node, "location_in_parent", "orientation_in_parent", joint->parent, &joint->on_parent);
    }
    return status == POISE_OK ? read_place(o, joint->node, "location", "orientation", joint->child, &joint->on_child)
                              : status;
}

static poise_status read_places(osim *o, osim_joint *joint)
{
    const char *parent = pz_osim_socket(joint->node, "parent_frame"), *child = pz_osim_socket(joint->node, "child_frame");
    poise_status status;
    if (!parent || !child) {
        status = old_places(o, joint);
    } else {
        status = pz_osim_resolve(o, joint->node, joint->node, parent, &joint->parent, &joint->on_parent);
        if (status == POISE_OK) {
            status = pz_osim_resolve(o, joint->node, joint->node, child, &joint->child, &joint->on_child);
        }
    }
    if (status == POISE_OK && pz_osim_is_true(joint->node, "reverse")) {
        int body = joint->parent;
        poise_pose place = joint->on_parent;
        joint->parent = joint->child, joint->child = body;
        joint->on_parent = joint->on_child, joint->on_child = place;
    }
    return status;
}

poise_status pz_osim_joints(osim *o)
{
    poise_status status = POISE_OK;
    for (int i = 0; i < o->joint_count && status == POISE_OK; ++i) {
        osim_joint *joint = &o->joints[i];
        joint->name = joint->name ? joint->name : "joint";
        status = read_places(o, joint);
        status = status == POISE_OK ? read_coordinates(o, joint) : status;
        status = status == POISE_OK ? read_axes(o, joint) : status;
    }
    return status;
}

// ---- Couplers ------------------------------------------------------------------------------------------------------------

static poise_status read_coupler(osim *o, const pz_xml_node *node)
{
    const char *dependent = pz_xml_child_text(node, "dependent_coordinate_name");
    const char *independent = pz_xml_child_text(node, "independent_coordinate_names");
    int follower = dependent ? pz_name_set_find(&o->coordinate_names, dependent) : -1;
    int leader = independent ? pz_name_set_find(&o->coordinate_names, independent) : -1;
    if (follower < 0 || leader < 0 || follower == leader) {
        return pz_xml_fail(o->input, node, POISE_ERROR_UNSUPPORTED,
                           "coupler \"%s\": \"%s\" cannot follow \"%s\": a coordinate must follow one other",
                           pz_osim_name(node), dependent, independent);
    }
    osim_coordinate *c = &o->coordinates[follower];
    double scale = 1.0;
    poise_status status = pz_osim_function_in(o, node, &c->function);
    status = status == POISE_OK ? pz_osim_number(o, node, "scale_factor", &scale) : status;
    if (status == POISE_OK && !pz_osim_function_scale(o, &c->function, scale)) {
        status = pz_input_no_memory(o->input);
    }
    c->leader = leader;
    return status;
}

// Let a coordinate follow whom its leader follows, if their functions can be put into each other.
static poise_status follow_further(osim *o, osim_coordinate *c)
{
    const osim_coordinate *above = &o->coordinates[c->leader];
    poise_function f;
    if (above->leader < 0) {
        return POISE_OK;
    }
    if (!pz_osim_function_compose(o, &c->function, &above->function, &f)) {
        return pz_xml_fail(o->input, c->node, POISE_ERROR_UNSUPPORTED,
                           "coordinate \"%s\" follows \"%s\", which itself follows another one by a curve", c->name,
                           above->name);
    }
    c->function = f;
    c->leader = above->leader;
    return POISE_OK;
}

// Shorten chains of followers from their ends, so that every coordinate is done once.
static poise_status shorten_chains(osim *o)
{
    int *path = pz_pool_take(&o->input->pool, (size_t)o->coordinate_count, sizeof *path);
    poise_status status = path ? POISE_OK : pz_input_no_memory(o->input);
    for (int i = 0; i < o->coordinate_count && status == POISE_OK; ++i) {
        int length = 0, at = i;
        for (; o->coordinates[at].leader >= 0 && !o->coordinates[at].is_done; at = o->coordinates[at].leader) {
            if (length > 0 && o->coordinates[at].is_on_path) {
                return pz_xml_fail(o->input, o->coordinates[at].node, POISE_ERROR_MODEL,
                                   "coordinate \"%s\" follows itself through other coordinates", o->coordinates[at].name);
            }
            o->coordinates[at].is_on_path = true;
            path[length++] = at;
        }
        while (length > 0 && status == POISE_OK) {
            osim_coordinate *c = &o->coordinates[path[--length]];
            status = follow_further(o, c);
            c->is_done = true;
        }
    }
    return status;
}

poise_status pz_osim_couplers(osim *o)
{
    const pz_xml_node *list = pz_osim_objects(o->model, "ConstraintSet");
    pz_cause others = {.what = "constraints that are left out"};
    poise_status status = POISE_OK;
    for (const pz_xml_node *node = list ? list->first : NULL; node && status == POISE_OK; node = node->next) {
        const char *enforced = pz_xml_child_text(node, "isEnforced");
        bool is_off = pz_osim_is_true(node, "isDisabled") || (enforced && !pz_osim_is_true(node, "isEnforced"));
        size_t length = strlen(node->name), tail = strlen("Constraint");
        bool is_constraint = length >= tail && strcmp(node->name + length - tail, "Constraint") == 0;
        if (is_off || !is_constraint) {
            continue;
        }
        if (pz_xml_is(node, "CoordinateCouplerConstraint")) {
            status = read_coupler(o, node);
        } else {
            pz_xml_warn(o->input, &others, node, "%s \"%s\" is left out: bodies may separate there", node->name,
                        pz_osim_name(node) ? pz_osim_name(node) : "");
        }
    }
    pz_causes_close(o->input, &others, 1);
    return status == POISE_OK ? shorten_chains(o) : status;
}
