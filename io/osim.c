// OSIM, the models of OpenSim, of all versions of the format.
//
// A joint places its child by  X_GB = X_GP X_PF X_FM(q) X_BM^-1,  F a frame on the parent, M one on the child, and
//
//   X_FM = translate(f3 u3 + f4 u4 + f5 u5) R(u0, f0) R(u1, f1) R(u2, f2)
//
// with axes u and functions f of at most one coordinate each. Every joint type but a few is brought into that form; then
// each axis that moves becomes a joint of the model, called after its coordinate.
//
// Read: bodies, joints of all types that are a form of the above, coordinates with ranges, defaults and couplers, marker
// sets (of the model or in a file of their own, with options.model). Muscles, forces and controllers are passed over.
// Warned of: points of a function whose x does not increase, constraints beside couplers, markers that are on no body.
// Refused: a body, joint or coordinate without a name or with one that is taken, functions and joints of other kinds, each
// by its name and with the kind to use instead; loops ("a model must be a tree").
#include "io/opensim.h"

#include "io/skeleton.h"
#include "num/real.h"
#include "num/vector.h"

#include <string.h>

typedef struct osim_body {
    const char *name;
    const pz_xml_node *node;
    double mass;
    vec3 mass_center;
    vec3 scale;
    int joint; // that leads to it in the tree, or -1
} osim_body;

// A frame that is fixed in a body, or in another frame.
typedef struct osim_frame {
    const char *name;
    const pz_xml_node *node;
    const pz_xml_node *owner; // joint or body that it stands in, or NULL
    bool is_known;            // false: of a kind that is not read
} osim_frame;

typedef struct osim_coordinate {
    const char *name;
    const pz_xml_node *node;
    double start, lower, upper; // default_value, range
    bool clamped, locked;
    int leader;               // coordinate that it follows, or -1
    bool is_done, is_on_path; // on the way to the end of a chain of followers
    poise_function function;
    int part; // of the model, that has it; -1 before there is one
} osim_coordinate;

typedef struct osim_axis {
    vec3 u;
    int coordinate;   // or -1
    poise_function f; // of the coordinate; none: 0
} osim_axis;

typedef struct osim_joint {
    const char *name;
    const pz_xml_node *node;
    int parent, child; // bodies, or POISE_WORLD
    poise_pose on_parent, on_child;
    osim_axis axes[6]; // turns 0..2, slides 3..5
    int first, count;  // coordinates
    bool is_placed;    // in the tree
} osim_joint;

typedef struct osim {
    pz_input *input;
    const pz_xml_node *document, *model;
    osim_body *bodies;
    osim_frame *frames;
    osim_coordinate *coordinates;
    osim_joint *joints;
    int body_count, frame_count, coordinate_count, joint_count;
    pz_name_set body_names, frame_names, coordinate_names;
    int *frame_of_name; // by position in frame_names: the first of that name
    double unit;        // metres
    pz_part *parts;
    int part_count, part_room;
    pz_name_set part_names, part_bodies;
} osim;

// ---- The document: bodies, frames and coordinates ------------------------------------------------------------------------

// Turns about x, y and z, each about the axes that the one before made.
static quat osim_turn(vec3 a)
{
    quat x = poise_quat_from_axis_angle(v3(1, 0, 0), a.x), y = poise_quat_from_axis_angle(v3(0, 1, 0), a.y);
    return quat_mul(quat_mul(x, y), poise_quat_from_axis_angle(v3(0, 0, 1), a.z));
}

// The path behind a socket: <socket_NAME>, or in a list of <connectors>. NULL: none.
static const char *osim_socket(const pz_xml_node *node, const char *name)
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
    poise_status status = pz_osim_vec3(o->input, node, "translation", &p);
    status = status == POISE_OK ? pz_osim_vec3(o->input, node, "orientation", &angles) : status;
    *pose = (poise_pose){osim_turn(angles), p};
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
    const char *path = osim_socket(f->node, "parent");
    poise_pose above = poise_pose_identity(), own;
    if (!f->is_known) {
        return pz_xml_fail(o->input, f->node, POISE_ERROR_UNSUPPORTED, "frame \"%s\" is a %s, which is not read", f->name,
                           f->node->name);
    }
    path = path ? path : osim_socket(f->node, "parent_frame");
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

// Where a path leads: the body (or POISE_WORLD) and the pose of the frame in it. `at` is the element that says so, `owner`
// the joint or body whose own frames come first.
static poise_status osim_resolve(osim *o, const pz_xml_node *at, const pz_xml_node *owner, const char *path, int *body,
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
    poise_status status = pz_osim_number(o->input, node, "mass", &body->mass);
    body->mass *= scale.mass > 0.0 ? scale.mass : 1.0;
    status = status == POISE_OK ? pz_osim_vec3(o->input, node, "mass_center", &body->mass_center) : status;
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

// Fill o->bodies, frames, coordinates and joints from o->model.
static poise_status osim_collect(osim *o)
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

// ---- Functions of coordinates: constants, lines, polynomials, splines, and multiples of those ----------------------------

#define POINTS_MOST 100000
#define NESTED_MOST 8 // multiples of multiples

static const struct {
    const char *name;
    poise_function_kind kind;
} kinds[] = {
    {"Constant", POISE_FUNCTION_POLYNOMIAL},           {"LinearFunction", POISE_FUNCTION_POLYNOMIAL},
    {"PolynomialFunction", POISE_FUNCTION_POLYNOMIAL}, {"SimmSpline", POISE_FUNCTION_SPLINE},
    {"NaturalCubicSpline", POISE_FUNCTION_SPLINE},     {"natCubicSpline", POISE_FUNCTION_SPLINE},
    {"PiecewiseLinearFunction", POISE_FUNCTION_LINES}, {"MultiplierFunction", POISE_FUNCTION_POLYNOMIAL},
};

static int kind_of(const pz_xml_node *node)
{
    for (int i = 0; i < (int)(sizeof kinds / sizeof *kinds); ++i) {
        if (pz_xml_is(node, kinds[i].name)) {
            return i;
        }
    }
    return -1;
}

// ---- Functions: arithmetic -----------------------------------------------------------------------------------------------

static double *copied(osim *o, const double *from, int count)
{
    double *to = pz_pool_take(&o->input->pool, (size_t)count, sizeof *to);
    if (to && count > 0) {
        memcpy(to, from, (size_t)count * sizeof *to);
    }
    return to;
}

// f times s, in new numbers; false: out of memory.
static bool osim_function_scale(osim *o, poise_function *f, double s)
{
    if (f->count == 0 || s == 1.0) {
        return true;
    }
    double *y = copied(o, f->y, f->count);
    for (int i = 0; y && i < f->count; ++i) {
        y[i] *= s;
    }
    f->y = y;
    return y != NULL;
}

bool pz_osim_is_linear(const poise_function *f, double *a, double *b)
{
    *a = 0.0;
    *b = 0.0;
    if (f->kind == POISE_FUNCTION_POLYNOMIAL) {
        *a = f->count > 1 ? f->y[f->count - 2] : 0.0;
        *b = f->count > 0 ? f->y[f->count - 1] : 0.0;
        for (int i = 0; i + 2 < f->count; ++i) {
            if (f->y[i] != 0.0) {
                return false;
            }
        }
        return true;
    }
    if (f->count == 2) {
        *a = (f->y[1] - f->y[0]) / (f->x[1] - f->x[0]);
        *b = f->y[0] - *a * f->x[0];
    }
    return f->count == 2;
}

static bool compose_outer_linear(osim *o, double a, double b, const poise_function *inner, poise_function *f)
{
    double *y = copied(o, inner->y, inner->count);
    bool is_polynomial = inner->kind == POISE_FUNCTION_POLYNOMIAL;
    for (int i = 0; y && i < inner->count; ++i) {
        y[i] = a * y[i] + (!is_polynomial || i == inner->count - 1 ? b : 0.0);
    }
    *f = *inner;
    f->y = y;
    return y != NULL;
}

// Points move by x = (x' - b)/a, in the other order where a < 0.
static bool compose_inner_linear(osim *o, const poise_function *outer, double a, double b, poise_function *f)
{
    int n = outer->count;
    double *x = copied(o, outer->x, n), *y = copied(o, outer->y, n);
    for (int i = 0; x && y && i < n; ++i) {
        int from = a > 0 ? i : n - 1 - i;
        x[i] = (outer->x[from] - b) / a;
        y[i] = outer->y[from];
    }
    *f = (poise_function){.kind = outer->kind, .count = n, .x = x, .y = y};
    return x && y;
}

// `outer` of `inner`, in new numbers, where one of them is a x + b; false: neither is, or out of memory.
static bool osim_function_compose(osim *o, const poise_function *outer, const poise_function *inner, poise_function *f)
{
    double a, b;
    if (pz_osim_is_linear(outer, &a, &b)) {
        return compose_outer_linear(o, a, b, inner, f);
    }
    return outer->kind != POISE_FUNCTION_POLYNOMIAL && pz_osim_is_linear(inner, &a, &b) && a != 0.0 &&
           compose_inner_linear(o, outer, a, b, f);
}

// ---- Functions: reading --------------------------------------------------------------------------------------------------

static poise_status list_of(osim *o, const pz_xml_node *node, const char *name, double **values, int *count)
{
    const pz_xml_node *child = pz_xml_child(node, name);
    if (!child) {
        return pz_xml_fail(o->input, node, POISE_ERROR_FORMAT, "<%s> has no <%s>", node->name, name);
    }
    return pz_xml_text_numbers(o->input, child, POINTS_MOST, values, count);
}

// Points whose x does not grow are left out, with a warning; a single one is a constant.
static poise_status read_points(osim *o, const pz_xml_node *node, poise_function_kind kind, poise_function *f)
{
    double *x, *y;
    int count = 0, others = 0, kept = 0;
    poise_status status = list_of(o, node, "x", &x, &count);
    status = status == POISE_OK ? list_of(o, node, "y", &y, &others) : status;
    if (status != POISE_OK) {
        return status;
    }
    if (count != others || count == 0) {
        return pz_xml_fail(o->input, node, POISE_ERROR_FORMAT, "<%s> has %d x and %d y", node->name, count, others);
    }
    for (int i = 0; i < count; ++i) {
        if (kept == 0 || x[i] > x[kept - 1]) {
            x[kept] = x[i];
            y[kept] = y[i];
            kept += 1;
        }
    }
    if (kept < count) {
        pz_xml_warn(o->input, NULL, node, "<%s>: %d points whose x does not increase are left out", node->name,
                    count - kept);
    }
    *f = (poise_function){.kind = kept > 1 ? kind : POISE_FUNCTION_POLYNOMIAL, .count = kept, .x = x, .y = y};
    return POISE_OK;
}

static poise_status read_function(osim *o, const pz_xml_node *node, int depth, poise_function *f);

static poise_status read_multiple(osim *o, const pz_xml_node *node, int depth, poise_function *f)
{
    double scale = 1.0;
    poise_status status = pz_osim_number(o->input, node, "scale", &scale);
    const pz_xml_node *inner = pz_xml_child(node, "function");
    inner = inner && kind_of(inner) < 0 ? inner->first : inner;
    for (inner = inner ? inner : node->first; inner && kind_of(inner) < 0;) {
        inner = inner->next;
    }
    if (status == POISE_OK && inner) {
        status = read_function(o, inner, depth + 1, f);
    }
    return status == POISE_OK && !osim_function_scale(o, f, scale) ? pz_input_no_memory(o->input) : status;
}

static poise_status read_function(osim *o, const pz_xml_node *node, int depth, poise_function *f)
{
    int kind = kind_of(node);
    if (kind < 0 || depth > NESTED_MOST) {
        return pz_xml_fail(o->input, node, POISE_ERROR_UNSUPPORTED,
                           "functions of the kind <%s> are not read: use a SimmSpline or a PolynomialFunction", node->name);
    }
    if (pz_xml_is(node, "MultiplierFunction")) {
        return read_multiple(o, node, depth, f);
    }
    if (kinds[kind].kind != POISE_FUNCTION_POLYNOMIAL) {
        return read_points(o, node, kinds[kind].kind, f);
    }
    double *c;
    int count;
    bool is_constant = pz_xml_is(node, "Constant");
    if (is_constant && !pz_xml_child(node, "value")) {
        static const double zero[] = {0};
        *f = (poise_function){.kind = POISE_FUNCTION_POLYNOMIAL, .count = 1, .y = zero};
        return POISE_OK;
    }
    poise_status status = list_of(o, node, is_constant ? "value" : "coefficients", &c, &count);
    *f = (poise_function){.kind = POISE_FUNCTION_POLYNOMIAL, .count = count, .y = c};
    return status;
}

// A function that an element holds as a child, or that is the element; `f->count` 0 without one. Numbers are in the pool.
static poise_status osim_function_in(osim *o, const pz_xml_node *node, poise_function *f)
{
    static const char *const others[] = {"coordinates", "coordinate",  "axis",      "is_rotation",     "axis_name",
                                         "isDisabled",  "isEnforced",  "groups",    "scale_factor",    "VisibleObject",
                                         "defaults",    "independent", "dependent", "appliesToBodies", NULL};
    *f = (poise_function){.count = 0};
    for (const pz_xml_node *child = node->first; child; child = child->next) {
        if (pz_xml_is(child, "function") || pz_xml_is(child, "coupled_coordinates_function")) {
            return child->first ? read_function(o, child->first, 0, f) : POISE_OK;
        }
        if (!pz_xml_is_among(child->name, others) && child->first) {
            return read_function(o, child, 0, f);
        }
    }
    return POISE_OK;
}

// ---- Joints: where they sit, their coordinates, and their six axes -------------------------------------------------------
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
    poise_status status = pz_osim_number(o->input, node, "default_value", &c->start);
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
    poise_status status = pz_osim_vec3(o->input, node, "axis", &axis->u);
    status = status == POISE_OK ? osim_function_in(o, node, &axis->f) : status;
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
            !osim_function_scale(o, &axis->f, factor)) {
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
    poise_status status = pz_osim_vec3(o->input, node, location, &p);
    status = status == POISE_OK ? pz_osim_vec3(o->input, node, orientation, &angles) : status;
    vec3 s = body >= 0 ? o->bodies[body].scale : v3(1, 1, 1);
    *pose = (poise_pose){osim_turn(angles), v3(p.x * s.x, p.y * s.y, p.z * s.z)};
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
    const char *parent = osim_socket(joint->node, "parent_frame"), *child = osim_socket(joint->node, "child_frame");
    poise_status status;
    if (!parent || !child) {
        status = old_places(o, joint);
    } else {
        status = osim_resolve(o, joint->node, joint->node, parent, &joint->parent, &joint->on_parent);
        if (status == POISE_OK) {
            status = osim_resolve(o, joint->node, joint->node, child, &joint->child, &joint->on_child);
        }
    }
    if (status == POISE_OK && pz_osim_is_true(joint->node, "reverse")) {
        int body = joint->parent;
        poise_pose place = joint->on_parent;
        joint->parent = joint->child;
        joint->child = body;
        joint->on_parent = joint->on_child;
        joint->on_child = place;
    }
    return status;
}

static poise_status osim_joints(osim *o)
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
    poise_status status = osim_function_in(o, node, &c->function);
    status = status == POISE_OK ? pz_osim_number(o->input, node, "scale_factor", &scale) : status;
    if (status == POISE_OK && !osim_function_scale(o, &c->function, scale)) {
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
    if (!osim_function_compose(o, &c->function, &above->function, &f)) {
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

static poise_status osim_couplers(osim *o)
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

// ---- Markers: those of a model, or a set in a file of its own ------------------------------------------------------------

typedef struct marker_list {
    osim *o; // with a document's bodies and frames; `model` is the one that is read, or the options'
    const poise_model *model;
    poise_placement *placements;
    int count;
    pz_cause lost;
} marker_list;

static const char *kept_text(osim *o, const char *text)
{
    return pz_pool_copy(&o->input->kept, text, strlen(text));
}

static poise_status find_place(marker_list *m, const pz_xml_node *node, int *body, poise_pose *pose)
{
    osim *o = m->o;
    const char *path = osim_socket(node, "parent_frame");
    path = path ? path : pz_xml_child_text(node, "body");
    *pose = poise_pose_identity();
    *body = POISE_NONE;
    if (!path) {
        return POISE_OK;
    }
    if (o->body_count == 0) { // a set alone: bodies are those of the model
        const char *slash = strrchr(path, '/');
        *body = poise_model_find_body(m->model, slash ? slash + 1 : path);
        return POISE_OK;
    }
    poise_status status = osim_resolve(o, node, NULL, path, body, pose);
    *body = status == POISE_OK && *body >= 0 ? poise_model_find_body(m->model, o->bodies[*body].name) : POISE_NONE;
    return status;
}

static poise_status add_marker(marker_list *m, const pz_xml_node *node)
{
    osim *o = m->o;
    const char *name = pz_osim_name(node);
    vec3 local = {0, 0, 0};
    int body;
    poise_pose pose;
    poise_status status = find_place(m, node, &body, &pose);
    status = status == POISE_OK ? pz_osim_vec3(o->input, node, "location", &local) : status;
    if (status != POISE_OK) {
        return status;
    }
    if (!name || body == POISE_NONE) {
        pz_xml_warn(o->input, &m->lost, node, "marker \"%s\" is not on a body of the model and is left out",
                    name ? name : "");
        return POISE_OK;
    }
    if (o->body_count > 0) {
        int at = pz_name_set_find(&o->body_names, poise_model_joint_info(m->model, body).body);
        vec3 s = at >= 0 ? o->bodies[at].scale : v3(1, 1, 1);
        local = v3(local.x * s.x, local.y * s.y, local.z * s.z);
    }
    const char *label = kept_text(o, name);
    if (!label) {
        return pz_input_no_memory(o->input);
    }
    m->placements[m->count++] = (poise_placement){label, body, poise_pose_transform(pose, local), 1.0};
    return POISE_OK;
}

static poise_status read_markers(marker_list *m, const pz_xml_node *parent)
{
    const pz_xml_node *list = pz_osim_objects(parent, "MarkerSet");
    size_t count = 0;
    for (const pz_xml_node *node = list ? list->first : NULL; node; node = node->next) {
        count += pz_xml_is(node, "Marker");
    }
    m->placements = pz_pool_take(&m->o->input->kept, count, sizeof *m->placements);
    if (!m->placements) {
        return pz_input_no_memory(m->o->input);
    }
    m->lost = (pz_cause){.what = "markers that are not on a body"};
    poise_status status = POISE_OK;
    for (const pz_xml_node *node = list ? list->first : NULL; node && status == POISE_OK; node = node->next) {
        status = pz_xml_is(node, "Marker") ? add_marker(m, node) : POISE_OK;
    }
    pz_causes_close(m->o->input, &m->lost, 1);
    m->o->input->file->placements = m->count > 0 ? m->placements : NULL;
    m->o->input->file->placement_count = m->count;
    return status;
}

// Markers of the model, once it is there; of a <MarkerSet> alone, for the model of the options.
static poise_status osim_markers(osim *o)
{
    marker_list m = {.o = o, .model = o->input->file->model};
    return read_markers(&m, o->model);
}

static poise_status osim_marker_set(osim *o)
{
    marker_list m = {.o = o, .model = o->input->options->model};
    if (!m.model) {
        return pz_input_fail(o->input, POISE_ERROR_ARGUMENT, 0, "a marker set needs its model: give it as model");
    }
    return read_markers(&m, o->document);
}

// ---- From a document to a model ------------------------------------------------------------------------------------------
//
// | in the file                              | in the model                                                              |
// |------------------------------------------|---------------------------------------------------------------------------|
// | axis that is the coordinate itself       | REVOLUTE or PRISMATIC about +-u, slides before turns                      |
// | one coordinate on several axes, a curve  | CURVE                                                                     |
// | several coordinates, one on several axes | a joint for each axis; one leads (leading_axis), the others follow it     |
// | constants, X_PF, X_BM^-1                 | into the offset of the next joint; what is left is a FIXED joint at the   |
// |                                          | end, "<joint>.end"                                                        |
// | body                                     | the last joint of its chain carries it; those between are "<body>.<name>" |
// | locked                                   | limits that leave the default alone                                       |
// | clamped                                  | limits                                                                    |
// | default_value                            | the posture "default"                                                     |
// | coupler                                  | a joint that mimics                                                       |
// | Marker                                   | a placement                                                               |
// | frame on a body                          | a tool                                                                    |
//
// A joint whose child is in the tree already is walked backwards: X_GP = X_GB X_BM X_FM^-1 X_PF^-1.

// ---- Joining texts -------------------------------------------------------------------------------------------------------

static const char *joined(osim *o, const char *a, const char *b)
{
    size_t first = strlen(a), second = strlen(b);
    char *text = pz_pool_take(&o->input->pool, first + second + 2, 1);
    if (text) {
        memcpy(text, a, first);
        text[first] = '.';
        memcpy(text + first + 1, b, second + 1);
    }
    return text;
}

// ---- Chains --------------------------------------------------------------------------------------------------------------

// One joint of the file on its way into the model.
typedef struct chain {
    osim *o;
    const osim_joint *joint;
    const char *body;   // that the chain ends with
    const char *parent; // body in the model that the next part hangs on, or NULL
    poise_pose offset;  // not yet in a part
    bool backwards;
    int following[6]; // part of an axis that follows another one, or -1
} chain;

static bool is_identity(poise_pose p)
{
    return p.rotation.x == 0 && p.rotation.y == 0 && p.rotation.z == 0 && p.position.x == 0 && p.position.y == 0 &&
           p.position.z == 0;
}

static pz_part *new_part(chain *c, const char *name, poise_joint_type type)
{
    osim *o = c->o;
    const char *own = name ? pz_name_set_new(&o->input->pool, &o->part_names, name) : NULL;
    const char *middle = own ? joined(o, c->body, own) : NULL;
    const char *body = middle ? pz_name_set_new(&o->input->pool, &o->part_bodies, middle) : NULL;
    if (!body) {
        return NULL;
    }
    pz_part *part = &o->parts[o->part_count++];
    *part = (pz_part){.joint = poise_joint_default(), .node = c->joint->node, .leader = -1};
    part->joint.name = own;
    part->joint.body = body;
    part->joint.parent = c->parent;
    part->joint.type = type;
    part->joint.offset = c->offset;
    c->offset = poise_pose_identity();
    c->parent = body;
    return part;
}

// Limits of a coordinate that is its own; else whom it follows.
static void bind_coordinate(const osim *o, int coordinate, pz_part *part)
{
    const osim_coordinate *c = &o->coordinates[coordinate];
    if (c->leader >= 0) {
        return; // resolved when all parts are there
    }
    if (c->locked) {
        part->joint.lower[0] = part->joint.upper[0] = c->start;
    } else if (c->clamped && c->lower <= c->upper && c->lower < INFINITY && c->upper > -INFINITY) {
        part->joint.lower[0] = c->lower;
        part->joint.upper[0] = c->upper;
    }
}

static vec3 direction_of(const chain *c, int i)
{
    vec3 u = v3_normalize(c->joint->axes[i].u);
    return c->backwards ? v3_neg(u) : u;
}

static poise_pose constant_motion(vec3 u, int i, double value)
{
    return i < 3 ? (poise_pose){poise_quat_from_axis_angle(u, value), {0, 0, 0}}
                 : (poise_pose){{0, 0, 0, 1}, v3_scale(u, value)};
}

// An axis as a curve of its own.
static bool make_curve(osim *o, const osim_axis *axis, vec3 u, int i, pz_part *part)
{
    poise_curve *curve = pz_pool_take(&o->input->pool, 1, sizeof *curve);
    if (!curve) {
        return false;
    }
    *curve = (poise_curve){.value = {{.count = 0}}};
    curve->axis[i] = u;
    curve->value[i] = axis->f;
    part->joint.curve = curve;
    return true;
}

// Is the axis the coordinate itself, or its opposite?
static bool is_plain(const osim_axis *axis, double *sign)
{
    double b;
    return pz_osim_is_linear(&axis->f, sign, &b) && fabs(*sign) == 1.0 && b == 0.0;
}

static bool moves_by(const osim_axis *axis, int coordinate)
{
    double a, b;
    return axis->coordinate == coordinate && axis->f.count > 0 && !(pz_osim_is_linear(&axis->f, &a, &b) && a == 0.0);
}

// Axes in the order of the model: slides, then turns; backwards the other way round.
static int axis_in_order(const chain *c, int n)
{
    return c->backwards ? (n < 3 ? 2 - n : 8 - n) : (n + 3) % 6;
}

// The axis that has the coordinate; its other axes follow it. A turn by the coordinate itself comes first, because then the
// coordinate is an angle, in degrees in tables; then a slide by it; else the first axis that moves.
static int leading_axis(const chain *c, int coordinate)
{
    for (int i = 0; i < 6; ++i) {
        const osim_axis *axis = &c->joint->axes[i];
        double sign;
        if (axis->coordinate == coordinate && is_plain(axis, &sign)) {
            return i;
        }
    }
    int n = 0;
    while (n < 5 && !moves_by(&c->joint->axes[axis_in_order(c, n)], coordinate)) {
        ++n;
    }
    return axis_in_order(c, n);
}

// An axis that follows the leading one of its coordinate: "<coordinate>.<axis>".
static bool add_following_axis(chain *c, int i, vec3 u)
{
    static const char *const names[] = {"rotation1",    "rotation2",    "rotation3",
                                        "translation1", "translation2", "translation3"};
    osim *o = c->o;
    const osim_axis *axis = &c->joint->axes[i];
    osim_coordinate *coordinate = &o->coordinates[axis->coordinate];
    pz_part *part = new_part(c, joined(o, coordinate->name, names[i]), i < 3 ? POISE_JOINT_REVOLUTE : POISE_JOINT_PRISMATIC);
    poise_function *f = part ? pz_pool_take(&o->input->pool, 1, sizeof *f) : NULL;
    if (!f) {
        return false;
    }
    *f = axis->f;
    part->joint.axis = u;
    part->joint.mimic_function = f;
    c->following[i] = o->part_count - 1;
    return true;
}

static bool add_axis(chain *c, int i)
{
    osim *o = c->o;
    const osim_axis *axis = &c->joint->axes[i];
    if (axis->f.count == 0) {
        return true;
    }
    vec3 u = direction_of(c, i);
    if (axis->coordinate < 0 || !moves_by(axis, axis->coordinate)) {
        c->offset = poise_pose_multiply(c->offset, constant_motion(u, i, axis->f.y[axis->f.count - 1]));
        return true;
    }
    if (leading_axis(c, axis->coordinate) != i) {
        return add_following_axis(c, i, u);
    }
    osim_coordinate *coordinate = &o->coordinates[axis->coordinate];
    double sign;
    bool plain = is_plain(axis, &sign);
    poise_joint_type type = !plain ? POISE_JOINT_CURVE : i < 3 ? POISE_JOINT_REVOLUTE : POISE_JOINT_PRISMATIC;
    pz_part *part = new_part(c, coordinate->name, type);
    if (!part || (!plain && !make_curve(o, axis, u, i, part))) {
        return false;
    }
    part->joint.axis = v3_scale(u, plain && sign < 0.0 ? -1.0 : 1.0);
    coordinate->part = o->part_count - 1;
    bind_coordinate(o, axis->coordinate, part);
    return true;
}

// The whole joint as one curve.
static bool add_curve(chain *c)
{
    osim *o = c->o;
    osim_coordinate *coordinate = &o->coordinates[c->joint->first];
    pz_part *part = new_part(c, coordinate->name, POISE_JOINT_CURVE);
    poise_curve *curve = part ? pz_pool_take(&o->input->pool, 1, sizeof *curve) : NULL;
    if (!curve) {
        return false;
    }
    *curve = (poise_curve){.value = {{.count = 0}}};
    for (int i = 0; i < 6; ++i) {
        const osim_axis *axis = &c->joint->axes[i];
        bool is_zero = axis->f.kind == POISE_FUNCTION_POLYNOMIAL && axis->f.count == 1 && axis->f.y[0] == 0.0;
        curve->axis[i] = axis->u;
        if (!is_zero) { // else it stays 0
            curve->value[i] = axis->f;
        }
    }
    part->joint.curve = curve;
    coordinate->part = o->part_count - 1;
    bind_coordinate(o, c->joint->first, part);
    return true;
}

// One coordinate, on several axes or by a function?
static bool is_one_curve(const chain *c)
{
    int used = 0, plain = 0;
    for (int i = 0; i < 6; ++i) {
        const osim_axis *axis = &c->joint->axes[i];
        double sign;
        if (axis->coordinate < 0 || !moves_by(axis, axis->coordinate)) {
            continue;
        }
        if (axis->coordinate != c->joint->first) {
            return false;
        }
        used += 1;
        plain += is_plain(axis, &sign);
    }
    return c->joint->count == 1 && (used > 1 || used > plain);
}

// Slides, then turns; backwards the other way round, each about the opposite axis.
static bool add_axes(chain *c)
{
    bool made = true;
    for (int n = 0; n < 6 && made; ++n) {
        made = add_axis(c, axis_in_order(c, n));
    }
    for (int i = 0; i < 6 && made; ++i) { // leaders may come after their followers
        if (c->following[i] >= 0) {
            c->o->parts[c->following[i]].leader = c->o->coordinates[c->joint->axes[i].coordinate].part;
        }
    }
    return made;
}

// The last part carries the body itself.
static bool end_chain(chain *c, int body, int first_part)
{
    osim *o = c->o;
    if (o->part_count == first_part || !is_identity(c->offset)) {
        bool is_free = o->part_count == first_part && pz_name_set_find(&o->coordinate_names, c->joint->name) < 0;
        const char *end = is_free ? c->joint->name : joined(o, c->joint->name, "end");
        if (!new_part(c, end, POISE_JOINT_FIXED)) {
            return false;
        }
    }
    poise_joint *last = &o->parts[o->part_count - 1].joint;
    last->body = o->bodies[body].name;
    last->mass = o->bodies[body].mass;
    last->mass_center = o->bodies[body].mass_center;
    return true;
}

static poise_status add_chain(osim *o, int number, bool backwards)
{
    osim_joint *joint = &o->joints[number];
    int from = backwards ? joint->child : joint->parent, to = backwards ? joint->parent : joint->child;
    int first_part = o->part_count;
    chain c = {.o = o,
               .joint = joint,
               .body = o->bodies[to].name,
               .parent = from == POISE_WORLD ? NULL : o->bodies[from].name,
               .offset = backwards ? joint->on_child : joint->on_parent,
               .backwards = backwards,
               .following = {-1, -1, -1, -1, -1, -1}};
    bool is_curve = is_one_curve(&c);
    if (is_curve && backwards) {
        return pz_xml_fail(o->input, joint->node, POISE_ERROR_UNSUPPORTED,
                           "joint \"%s\" moves along curves and points towards the ground: swap its parent and child frames",
                           joint->name);
    }
    bool made = is_curve ? add_curve(&c) : add_axes(&c);
    c.offset = poise_pose_multiply(c.offset, poise_pose_inverse(backwards ? joint->on_parent : joint->on_child));
    if (!made || !end_chain(&c, to, first_part)) {
        return pz_input_no_memory(o->input);
    }
    joint->is_placed = true;
    o->bodies[to].joint = number;
    return POISE_OK;
}

// ---- The tree ------------------------------------------------------------------------------------------------------------

static bool is_reached(const osim *o, int body)
{
    return body == POISE_WORLD || o->bodies[body].joint >= 0;
}

// Joints at each body, in the order of the file: both ends of joint i are links 2 i and 2 i + 1.
typedef struct link_lists {
    int *first; // by body, that of the ground last; -1: none
    int *next;  // by link
    int *queue; // of bodies
} link_lists;

static bool link_joints(osim *o, link_lists *l)
{
    pz_pool *pool = &o->input->pool;
    size_t bodies = (size_t)o->body_count + 1, links = 2 * (size_t)o->joint_count;
    l->first = pz_pool_take(pool, bodies, sizeof *l->first);
    l->next = pz_pool_take(pool, links, sizeof *l->next);
    l->queue = pz_pool_take(pool, bodies, sizeof *l->queue);
    if (!l->first || !l->next || !l->queue) {
        return false;
    }
    for (size_t i = 0; i < bodies; ++i) {
        l->first[i] = -1;
    }
    for (int i = 2 * o->joint_count - 1; i >= 0; --i) {
        int body = i % 2 == 0 ? o->joints[i / 2].parent : o->joints[i / 2].child;
        int *head = &l->first[body == POISE_WORLD ? o->body_count : body];
        l->next[i] = *head;
        *head = i;
    }
    return true;
}

// From the ground outwards.
static poise_status reach_bodies(osim *o, const link_lists *l)
{
    int count = 0;
    l->queue[count++] = o->body_count;
    for (int at = 0; at < count; ++at) {
        for (int link = l->first[l->queue[at]]; link >= 0; link = l->next[link]) {
            bool backwards = link % 2 == 1;
            osim_joint *joint = &o->joints[link / 2];
            int to = backwards ? joint->parent : joint->child;
            if (joint->is_placed || is_reached(o, to)) {
                continue;
            }
            poise_status status = add_chain(o, link / 2, backwards);
            if (status != POISE_OK) {
                return status;
            }
            l->queue[count++] = to;
        }
    }
    return POISE_OK;
}

static poise_status place_joints(osim *o)
{
    link_lists lists;
    if (!link_joints(o, &lists)) {
        return pz_input_no_memory(o->input);
    }
    poise_status status = reach_bodies(o, &lists);
    if (status != POISE_OK) {
        return status;
    }
    for (int i = 0; i < o->joint_count; ++i) {
        if (!o->joints[i].is_placed) {
            bool is_loop = is_reached(o, o->joints[i].parent);
            return pz_xml_fail(o->input, o->joints[i].node, POISE_ERROR_MODEL,
                               is_loop ? "joint \"%s\" closes a loop: remove it, because a model must be a tree"
                                       : "joint \"%s\" is not connected to the ground",
                               o->joints[i].name);
        }
    }
    return POISE_OK;
}

// Followers: by multiplier and offset where the function is linear.
static poise_status bind_followers(osim *o)
{
    for (int i = 0; i < o->coordinate_count; ++i) {
        const osim_coordinate *c = &o->coordinates[i];
        if (c->leader < 0 || c->part < 0) {
            continue;
        }
        pz_part *part = &o->parts[c->part];
        int leader = o->coordinates[c->leader].part;
        if (leader < 0) {
            return pz_xml_fail(o->input, c->node, POISE_ERROR_MODEL, "coordinate \"%s\" follows \"%s\", which moves nothing",
                               c->name, o->coordinates[c->leader].name);
        }
        part->leader = leader;
        double a, b;
        if (pz_osim_is_linear(&c->function, &a, &b)) {
            part->joint.mimic_multiplier = a;
            part->joint.mimic_offset = b;
        } else {
            part->joint.mimic_function = &c->function;
        }
    }
    for (int i = 0; i < o->part_count; ++i) { // a second axis of a coordinate that follows another one
        const pz_part *part = &o->parts[i];
        if (part->leader >= 0 && o->parts[part->leader].leader >= 0) {
            return pz_xml_fail(o->input, part->node, POISE_ERROR_UNSUPPORTED,
                               "joint \"%s\" drives several axes by a coordinate that follows another one",
                               part->joint.name);
        }
    }
    return POISE_OK;
}

static poise_status allocate_parts(osim *o)
{
    size_t most = 8 * (size_t)o->joint_count + 1;
    pz_pool *pool = &o->input->pool;
    o->parts = pz_pool_take(pool, most, sizeof *o->parts);
    bool there = o->parts && pz_name_set_make(pool, most, &o->part_names) &&
                 pz_name_set_make(pool, most + (size_t)o->body_count, &o->part_bodies);
    if (!there) {
        return pz_input_no_memory(o->input);
    }
    for (int i = 0; i < o->body_count; ++i) {
        pz_name_set_add(&o->part_bodies, o->bodies[i].name);
    }
    return POISE_OK;
}

// ---- Frames, posture, markers --------------------------------------------------------------------------------------------

// Frames that stand in a body are tools.
static poise_status list_tools(osim *o, pz_named_frame **tools, int *count)
{
    pz_name_set names;
    *count = 0;
    *tools = pz_pool_take(&o->input->pool, (size_t)o->frame_count, sizeof **tools);
    if (!*tools || !pz_name_set_make(&o->input->pool, (size_t)o->frame_count, &names)) {
        return pz_input_no_memory(o->input);
    }
    for (int i = 0; i < o->frame_count; ++i) {
        const osim_frame *f = &o->frames[i];
        bool is_on_body = f->owner && pz_xml_is(f->owner, "Body") && f->is_known;
        int body;
        poise_pose pose;
        if (!is_on_body) {
            continue;
        }
        poise_status status = osim_resolve(o, f->node, f->owner, f->name, &body, &pose);
        if (status != POISE_OK) {
            return status;
        }
        if (body >= 0 && o->bodies[body].joint >= 0) {
            const char *name = pz_name_set_new(&o->input->pool, &names, f->name);
            if (!name) {
                return pz_input_no_memory(o->input);
            }
            (*tools)[(*count)++] = (pz_named_frame){{name, o->bodies[body].name, pose}, f->node};
        }
    }
    return POISE_OK;
}

static poise_status make_posture(osim *o)
{
    const poise_model *model = o->input->file->model;
    poise_posture *posture = pz_pool_take(&o->input->kept, 1, sizeof *posture);
    double *q = pz_pool_take(&o->input->kept, (size_t)poise_model_info(model).nq, sizeof *q);
    if (!posture || !q) {
        return pz_input_no_memory(o->input);
    }
    poise_model_neutral(model, q);
    for (int i = 0; i < o->coordinate_count; ++i) {
        const osim_coordinate *c = &o->coordinates[i];
        int k = c->part >= 0 ? poise_model_find_joint(model, o->parts[c->part].joint.name) : POISE_NONE;
        poise_joint_info info = poise_model_joint_info(model, k);
        if (info.nq == 1) {
            q[info.q] = c->start;
        }
    }
    *posture = (poise_posture){"default", q};
    o->input->file->postures = posture;
    o->input->file->posture_count = 1;
    return POISE_OK;
}

// ---- The whole -----------------------------------------------------------------------------------------------------------

static poise_status read_model(osim *o)
{
    pz_named_frame *tools;
    int tool_count;
    poise_status (*const steps[])(osim *) = {osim_collect,   osim_joints,  osim_couplers,
                                             allocate_parts, place_joints, bind_followers};
    poise_status status = POISE_OK;
    for (size_t i = 0; status == POISE_OK && i < sizeof steps / sizeof *steps; ++i) {
        status = steps[i](o);
    }
    status = status == POISE_OK ? list_tools(o, &tools, &tool_count) : status;
    if (status == POISE_OK && o->part_count == 0) {
        status = pz_xml_fail(o->input, o->model, POISE_ERROR_MODEL, "the model has no joints");
    }
    status = status == POISE_OK ? pz_assemble(o->input, o->parts, o->part_count, tools, tool_count) : status;
    status = status == POISE_OK ? make_posture(o) : status;
    return status == POISE_OK ? osim_markers(o) : status;
}

static poise_status read_osim(pz_input *input)
{
    pz_xml_node *root;
    poise_status status = pz_xml_parse(input, input->bytes, input->size, NULL, &root);
    if (status != POISE_OK) {
        return status;
    }
    osim o = {.input = input, .document = root, .model = root};
    if (!pz_xml_is(root, "Model")) {
        o.model = pz_xml_child(root, "Model");
        if (!o.model && pz_xml_child(root, "MarkerSet")) {
            return osim_marker_set(&o);
        }
        if (!o.model) {
            return pz_xml_fail(input, root, POISE_ERROR_FORMAT,
                               "<%s> contains no <Model>; pass setups to --tasks, --setup and the like", root->name);
        }
    }
    const char *name = pz_osim_name(o.model);
    input->file->title = name ? pz_pool_copy(&input->pool, name, strlen(name)) : NULL;
    input->file->scale = (poise_scale){1.0, POISE_UP_Y};
    status = read_model(&o);
    input->file->scale.metres = o.unit;
    return status;
}

const pz_format_row pz_osim_format = {.name = "osim", .extension = ".osim", .read = read_osim};
