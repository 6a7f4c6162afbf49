// From an OSIM document to a model: one joint for each axis that moves, called after its coordinate.
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
#include "io/opensim/osim.h"

#include "math/scalar.h"

#include <string.h>

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

static poise_status take_parts(osim *o)
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
        poise_status status = pz_osim_resolve(o, f->node, f->owner, f->name, &body, &pose);
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
    poise_status (*const steps[])(osim *) = {pz_osim_collect, pz_osim_joints, pz_osim_couplers,
                                             take_parts,      place_joints,   bind_followers};
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
    return status == POISE_OK ? pz_osim_markers(o) : status;
}

poise_status pz_read_osim(pz_input *input)
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
            return pz_osim_marker_set(&o);
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
