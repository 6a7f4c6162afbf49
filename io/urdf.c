// URDF, the robot descriptions of ROS: links, the joints between them, and the shapes that collide.
//
// A link becomes a body, the joint that leads to it that body's joint. The link that no joint leads to hangs on the world by
// a fixed joint, or by a free one if the options ask for that. The undeclared link "world" is the world.
//
//   pose of the child link = pose of the parent link * origin * motion(q),   origin = T(xyz) Rz(yaw) Ry(pitch) Rx(roll)
//
// That is the model's own formula, so numbers go over as they are.
//
// Read: links, joints of every type, <limit>, <mimic>, <inertial>, <collision> with boxes, spheres, cylinders, capsules and
// meshes; <transmission>, <gazebo> and the like are passed over, what nobody knows is warned of.
// Warned of: angles and limits that look like degrees; a joint without limits, or with limits of 0 and 0; a mesh without a
// shape; limits of a follower that narrow its leader ("hold ... within").
// Refused: a file of something else ("not a URDF file"), a link or joint without a name or with one that is taken ("rename
// one"), an unknown link or type, an axis of zero, links that are no tree ("a robot must be one tree").
#include "io/skeleton.h"

#include "io/mesh.h"
#include "io/xml.h"
#include "num/vector.h"

#include <string.h>

typedef struct urdf_joint {
    const pz_xml_node *node;
    const char *name;
    int parent; // link, or POISE_WORLD
    int child;  // link
} urdf_joint;

enum {
    UNKNOWN_ELEMENT,
    EXTENSION,
    NO_LIMIT,
    NO_RANGE,
    LIMIT_IGNORED,
    DIALECT,
    MIMIC_IGNORED,
    NO_MASS,
    FRAME,
    UNIT,
    NO_VELOCITY,
    CAUSE_COUNT
};

typedef struct urdf {
    pz_input *input;
    const pz_xml_node *robot;
    const pz_xml_node **links;
    urdf_joint *joints;
    pz_named_frame *frames;
    int link_count, joint_count, frame_count;
    pz_name_set link_names, joint_names, frame_names;
    int *joint_of_link; // that leads to it, or -1
    int root;           // link, or POISE_WORLD
    pz_part *parts;
    pz_cause causes[CAUSE_COUNT];
} urdf;

// ---- Elements ------------------------------------------------------------------------------------------------------------

// Without meaning for where bodies are, or read elsewhere.
static const char *const of_robot[] = {"link",   "joint",  "frame",        "material",    "gazebo", "transmission",
                                       "sensor", "mujoco", "ros2_control", "gazebo_ros2", NULL};
static const char *const of_link[] = {"inertial", "visual", "collision", "contact", "self_collision_checking",
                                      "sensor",   NULL};
static const char *const of_joint[] = {
    "origin",           "parent", "child", "axis", "limit", "mimic", "dynamics", "calibration", "safety_controller",
    "joint_properties", NULL};

// What only xacro can carry out. Of calls of macros the reader only warns.
static const char *const of_xacro[] = {"xacro:include", "xacro:macro", "xacro:property", "xacro:arg", "xacro:if",
                                       "xacro:unless",  NULL};

static void warn_of_unknown(urdf *u, const pz_xml_node *node, const char *const *known)
{
    for (const pz_xml_node *child = node->first; child; child = child->next) {
        if (pz_xml_is_among(child->name, known)) {
            continue;
        }
        bool is_extension = strchr(child->name, ':') != NULL;
        pz_xml_warn(u->input, &u->causes[is_extension ? EXTENSION : UNKNOWN_ELEMENT], child,
                    is_extension ? "<%s> in <%s> is an extension that is not read" : "<%s> in <%s> is unknown and not read",
                    child->name, node->name);
    }
}

static const char *name_of(urdf *u, const pz_xml_node *node)
{
    const char *name = pz_xml_get(node, "name");
    if (!name || !name[0]) {
        pz_xml_fail(u->input, node, POISE_ERROR_FORMAT, "<%s> has no name: add name=\"...\"", node->name);
        return NULL;
    }
    return name;
}

static poise_status fail_twice(urdf *u, const pz_xml_node *node, const char *name, int first_line)
{
    return pz_xml_fail(u->input, node, POISE_ERROR_MODEL, "there is already a %s \"%s\" in line %d: rename one", node->name,
                       name, first_line);
}

static poise_status count_and_allocate(urdf *u)
{
    size_t links = 0, joints = 0, frames = 0;
    for (const pz_xml_node *node = u->robot->first; node; node = node->next) {
        links += pz_xml_is(node, "link");
        joints += pz_xml_is(node, "joint");
        frames += pz_xml_is(node, "frame");
    }
    pz_pool *pool = &u->input->pool;
    u->links = pz_pool_take(pool, links, sizeof *u->links);
    u->joints = pz_pool_take(pool, joints, sizeof *u->joints);
    u->frames = pz_pool_take(pool, frames, sizeof *u->frames);
    u->joint_of_link = pz_pool_take(pool, links, sizeof *u->joint_of_link);
    u->parts = pz_pool_take(pool, joints + 1, sizeof *u->parts);
    bool has_sets = pz_name_set_make(pool, links, &u->link_names) && pz_name_set_make(pool, joints + 1, &u->joint_names) &&
                    pz_name_set_make(pool, frames, &u->frame_names);
    if (!u->links || !u->joints || !u->frames || !u->joint_of_link || !u->parts || !has_sets) {
        return pz_input_no_memory(u->input);
    }
    return POISE_OK;
}

static poise_status list_links(urdf *u)
{
    for (const pz_xml_node *node = u->robot->first; node; node = node->next) {
        if (!pz_xml_is(node, "link")) {
            continue;
        }
        const char *name = name_of(u, node);
        if (!name) {
            return POISE_ERROR_FORMAT;
        }
        if (!pz_name_set_add(&u->link_names, name)) {
            return fail_twice(u, node, name, u->links[pz_name_set_find(&u->link_names, name)]->line);
        }
        u->joint_of_link[u->link_count] = -1;
        u->links[u->link_count++] = node;
        warn_of_unknown(u, node, of_link);
    }
    return POISE_OK;
}

// The link that <parent> or <child> names: its index; POISE_WORLD; or an error.
static poise_status linked(urdf *u, const urdf_joint *joint, const char *role, int *link)
{
    const pz_xml_node *node = pz_xml_child(joint->node, role);
    const char *name = node ? pz_xml_get(node, "link") : NULL;
    if (!name) {
        return pz_xml_fail(u->input, node ? node : joint->node, POISE_ERROR_FORMAT,
                           "joint \"%s\" has no %s: add <%s link=\"...\"/>", joint->name, role, role);
    }
    *link = pz_name_set_find(&u->link_names, name);
    bool is_world = strcmp(role, "parent") == 0 && strcmp(name, "world") == 0;
    if (*link < 0 && !is_world) {
        return pz_xml_fail(u->input, node, POISE_ERROR_MODEL, "joint \"%s\": there is no link \"%s\" to be its %s",
                           joint->name, name, role);
    }
    return POISE_OK;
}

static poise_status connect(urdf *u, urdf_joint *joint)
{
    poise_status status = linked(u, joint, "parent", &joint->parent);
    if (status == POISE_OK) {
        status = linked(u, joint, "child", &joint->child);
    }
    if (status != POISE_OK) {
        return status;
    }
    int *of_child = &u->joint_of_link[joint->child];
    if (*of_child >= 0) {
        const urdf_joint *other = &u->joints[*of_child];
        return pz_xml_fail(
            u->input, joint->node, POISE_ERROR_MODEL,
            "joint \"%s\": link \"%s\" is already the child of joint \"%s\" (line %d); a link can have only one parent",
            joint->name, u->link_names.list[joint->child], other->name, other->node->line);
    }
    *of_child = (int)(joint - u->joints);
    return POISE_OK;
}

static poise_status list_joints(urdf *u)
{
    for (const pz_xml_node *node = u->robot->first; node; node = node->next) {
        if (!pz_xml_is(node, "joint")) {
            continue;
        }
        const char *name = name_of(u, node);
        if (!name) {
            return POISE_ERROR_FORMAT;
        }
        if (!pz_name_set_add(&u->joint_names, name)) {
            return fail_twice(u, node, name, u->joints[pz_name_set_find(&u->joint_names, name)].node->line);
        }
        u->joints[u->joint_count++] = (urdf_joint){.node = node, .name = name};
        warn_of_unknown(u, node, of_joint);
    }
    return POISE_OK;
}

static poise_status connect_all(urdf *u)
{
    poise_status status = POISE_OK;
    for (int j = 0; status == POISE_OK && j < u->joint_count; ++j) {
        status = connect(u, &u->joints[j]);
    }
    return status;
}

// ---- The tree ------------------------------------------------------------------------------------------------------------

// One link without a parent, or none and the world.
static poise_status find_root(urdf *u)
{
    bool has_world = false;
    for (int j = 0; j < u->joint_count; ++j) {
        has_world = has_world || u->joints[j].parent == POISE_WORLD;
    }
    int roots = 0, last = -1;
    u->root = POISE_WORLD;
    for (int l = 0; l < u->link_count; ++l) {
        if (u->joint_of_link[l] < 0) {
            u->root = roots == 0 ? l : u->root;
            last = l;
            roots += 1;
        }
    }
    if (roots + has_world > 1) {
        const char *other = has_world ? "world" : u->link_names.list[u->root];
        return pz_xml_fail(
            u->input, u->links[last], POISE_ERROR_MODEL,
            "no joint leads to link \"%s\", nor to \"%s\" (%d roots): a robot must be one tree: add the missing joints%s",
            u->link_names.list[last], other, roots + has_world,
            u->causes[EXTENSION].count > 0 ? "; those of extensions are not read" : "");
    }
    return POISE_OK;
}

// Links that lead to no root lead to a cycle. Each walk towards the root marks what it passes and stops at marks of earlier
// ones.
static poise_status check_cycles(urdf *u)
{
    int *walk = pz_pool_take(&u->input->pool, (size_t)u->link_count, sizeof *walk);
    if (!walk) {
        return pz_input_no_memory(u->input);
    }
    for (int l = 0; l < u->link_count; ++l) {
        walk[l] = -1;
    }
    for (int start = 0; start < u->link_count; ++start) {
        int l = start;
        while (l >= 0 && walk[l] < 0) {
            walk[l] = start;
            l = u->joint_of_link[l] < 0 ? POISE_WORLD : u->joints[u->joint_of_link[l]].parent;
        }
        if (l >= 0 && walk[l] == start) {
            const urdf_joint *joint = &u->joints[u->joint_of_link[l]];
            return pz_xml_fail(
                u->input, joint->node, POISE_ERROR_MODEL,
                "joint \"%s\": link \"%s\" is its own ancestor; a robot must be a tree: remove a joint of the cycle",
                joint->name, u->link_names.list[l]);
        }
    }
    return POISE_OK;
}

// ---- Joints --------------------------------------------------------------------------------------------------------------

static poise_status read_pose(urdf *u, const pz_xml_node *node, poise_pose *pose)
{
    double xyz[3] = {0, 0, 0}, rpy[3] = {0, 0, 0};
    poise_status status = pz_xml_exactly(u->input, node, "xyz", 3, xyz);
    if (status == POISE_OK) {
        status = pz_xml_exactly(u->input, node, "rpy", 3, rpy);
        for (int i = 0; i < 3 && status == POISE_OK; ++i) {
            if (pz_may_be_degrees(rpy[i])) {
                pz_xml_warn(u->input, &u->causes[UNIT], node, "rpy %g rad: are these degrees? a URDF has radians", rpy[i]);
            }
        }
    }
    pose->position = v3(xyz[0], xyz[1], xyz[2]);
    pose->rotation = poise_quat_from_roll_pitch_yaw(rpy[0], rpy[1], rpy[2]);
    return status;
}

typedef struct type_row {
    const char *name;
    poise_joint_type type;
    bool is_standard, has_limits;
} type_row;

static const type_row types[] = {
    {"fixed", POISE_JOINT_FIXED, true, false},
    {"revolute", POISE_JOINT_REVOLUTE, true, true},
    {"continuous", POISE_JOINT_REVOLUTE, true, false},
    {"prismatic", POISE_JOINT_PRISMATIC, true, true},
    {"floating", POISE_JOINT_FREE, true, false},
    {"planar", POISE_JOINT_PLANAR, true, false},
    {"spherical", POISE_JOINT_BALL_EXPMAP, false, false},
    {"ball", POISE_JOINT_BALL_EXPMAP, false, false},
};

static const type_row *find_type(const char *name)
{
    for (size_t i = 0; name && i < sizeof types / sizeof types[0]; ++i) {
        if (strcmp(types[i].name, name) == 0) {
            return &types[i];
        }
    }
    return NULL;
}

static poise_status read_type(urdf *u, const urdf_joint *joint, const type_row **row)
{
    const char *type = pz_xml_get(joint->node, "type");
    *row = find_type(type);
    if (!*row) {
        return pz_xml_fail(
            u->input, joint->node, POISE_ERROR_FORMAT,
            "joint \"%s\": type must be fixed, revolute, continuous, prismatic, floating or planar, not \"%s\"", joint->name,
            type);
    }
    if (!(*row)->is_standard) {
        pz_xml_warn(u->input, &u->causes[DIALECT], joint->node,
                    "joint \"%s\": type \"%s\" is not in the URDF standard; read as a ball joint", joint->name, type);
    }
    return POISE_OK;
}

// Turning and sliding joints use the axis itself; a planar joint moves in the plane that has it as normal.
static poise_status read_axis(urdf *u, const urdf_joint *joint, poise_joint *made)
{
    double xyz[3] = {1, 0, 0};
    const pz_xml_node *node = pz_xml_child(joint->node, "axis");
    poise_status status = node ? pz_xml_exactly(u->input, node, "xyz", 3, xyz) : POISE_OK;
    if (status != POISE_OK) {
        return status;
    }
    made->axis = v3(xyz[0], xyz[1], xyz[2]);
    if (made->type == POISE_JOINT_PLANAR) {
        if (xyz[0] == 0 && xyz[1] == 0 && xyz[2] == 0) {
            return pz_xml_fail(u->input, node, POISE_ERROR_MODEL, "joint \"%s\": axis is zero: give it a direction",
                               joint->name);
        }
        made->axes = pz_quat_from_z(made->axis);
    }
    return POISE_OK;
}

// One of the two alone leaves the other at 0, as the standard says; none of them leaves the joint free. A velocity of 0
// comes from exporters that had none to write: it is taken as no limit, with a warning.
static poise_status read_limits(urdf *u, const urdf_joint *joint, const type_row *type, poise_joint *made)
{
    const pz_xml_node *node = pz_xml_child(joint->node, "limit");
    int lower_count = 0, upper_count = 0, velocity_count = 0;
    double lower = 0, upper = 0;
    poise_status status = POISE_OK;
    if (node) {
        status = pz_xml_numbers(u->input, node, "lower", PZ_XML_INFINITE, 1, 1, &lower, &lower_count);
    }
    if (node && status == POISE_OK) {
        status = pz_xml_numbers(u->input, node, "upper", PZ_XML_INFINITE, 1, 1, &upper, &upper_count);
    }
    if (node && status == POISE_OK) {
        status = pz_xml_numbers(u->input, node, "velocity", PZ_XML_INFINITE, 1, 1, &made->velocity, &velocity_count);
    }
    if (status != POISE_OK) {
        return status;
    }
    if (velocity_count > 0 && !(made->velocity > 0) && made->type != POISE_JOINT_FIXED) {
        pz_xml_warn(u->input, &u->causes[NO_VELOCITY], node, "joint \"%s\": a velocity of %g is taken as no limit",
                    joint->name, made->velocity);
    }
    made->velocity = made->velocity > 0 && made->velocity < INFINITY ? made->velocity : 0.0;
    bool has_any = lower_count + upper_count > 0;
    if (type->has_limits && has_any) {
        made->lower[0] = lower;
        made->upper[0] = upper;
        if (made->type == POISE_JOINT_REVOLUTE && (pz_may_be_degrees(lower) || pz_may_be_degrees(upper))) {
            pz_xml_warn(u->input, &u->causes[UNIT], node,
                        "joint \"%s\": limits of %g to %g rad: are these degrees? a URDF has radians", joint->name, lower,
                        upper);
        }
        if (lower == 0 && upper == 0 && !pz_xml_child(joint->node, "mimic")) {
            pz_xml_warn(u->input, &u->causes[NO_RANGE], node,
                        "joint \"%s\" cannot move: its limits are 0 and 0, which exporters write if none are given",
                        joint->name);
        }
    } else if (type->has_limits) {
        pz_xml_warn(u->input, &u->causes[NO_LIMIT], joint->node, "joint \"%s\" has no limits and is left free", joint->name);
    } else if (has_any && made->type != POISE_JOINT_FIXED) {
        pz_xml_warn(u->input, &u->causes[LIMIT_IGNORED], node, "joint \"%s\": limits of a %s joint are not used",
                    joint->name, type->name);
    }
    return POISE_OK;
}

static poise_status read_mimic(urdf *u, const urdf_joint *joint, pz_part *part)
{
    const pz_xml_node *node = pz_xml_child(joint->node, "mimic");
    if (!node) {
        return POISE_OK;
    }
    if (part->joint.type != POISE_JOINT_REVOLUTE && part->joint.type != POISE_JOINT_PRISMATIC) {
        pz_xml_warn(u->input, &u->causes[MIMIC_IGNORED], node, "joint \"%s\": a joint of this type cannot mimic; ignored",
                    joint->name);
        return POISE_OK;
    }
    const char *leader = pz_xml_get(node, "joint");
    part->leader = leader ? pz_name_set_find(&u->joint_names, leader) : -1;
    if (part->leader < 0 || part->leader >= u->joint_count) {
        part->leader = -1;
        pz_xml_warn(u->input, &u->causes[MIMIC_IGNORED], node,
                    "joint \"%s\": there is no joint \"%s\" to mimic; it moves independently", joint->name, leader);
        return POISE_OK;
    }
    part->leader += u->root >= 0; // the root link's part comes before those of the joints
    poise_status status = pz_xml_exactly(u->input, node, "multiplier", 1, &part->joint.mimic_multiplier);
    return status == POISE_OK ? pz_xml_exactly(u->input, node, "offset", 1, &part->joint.mimic_offset) : status;
}

static poise_status read_inertial(urdf *u, int link, poise_joint *made)
{
    const pz_xml_node *node = pz_xml_child(u->links[link], "inertial");
    if (!node) {
        return POISE_OK;
    }
    const pz_xml_node *mass = pz_xml_child(node, "mass"), *origin = pz_xml_child(node, "origin");
    poise_pose pose = poise_pose_identity();
    poise_status status = mass ? pz_xml_exactly(u->input, mass, "value", 1, &made->mass) : POISE_OK;
    if (status == POISE_OK && origin) {
        status = read_pose(u, origin, &pose);
    }
    if (!mass) {
        pz_xml_warn(u->input, &u->causes[NO_MASS], node, "link \"%s\": <inertial> has no <mass>; the mass is 0",
                    u->link_names.list[link]);
    }
    made->mass_center = pose.position;
    return status;
}

static poise_status read_joint(urdf *u, const urdf_joint *joint, pz_part *part)
{
    *part = (pz_part){.joint = poise_joint_default(), .node = joint->node, .leader = -1};
    poise_joint *made = &part->joint;
    made->name = joint->name;
    made->body = u->link_names.list[joint->child];
    made->parent = joint->parent == POISE_WORLD ? NULL : u->link_names.list[joint->parent];
    const pz_xml_node *origin = pz_xml_child(joint->node, "origin");
    const type_row *type;
    poise_status status = read_type(u, joint, &type);
    if (status == POISE_OK) {
        made->type = type->type;
        status = origin ? read_pose(u, origin, &made->offset) : POISE_OK;
    }
    if (status == POISE_OK) {
        status = read_axis(u, joint, made);
    }
    if (status == POISE_OK) {
        status = read_limits(u, joint, type, made);
    }
    if (status == POISE_OK) {
        status = read_mimic(u, joint, part);
    }
    return status == POISE_OK ? read_inertial(u, joint->child, made) : status;
}

// ---- Collision shapes: boxes, spheres, cylinders, capsules, meshes -------------------------------------------------------

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

static poise_status read_link_shapes(urdf *u, const pz_xml_node *link, pz_shape_list *list, pz_cause *cause)
{
    pz_input *input = u->input;
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
        status = origin ? read_pose(u, origin, &shape.pose) : POISE_OK;
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

// The shapes of all links into the input's file, whose model is there.
static poise_status read_shapes(urdf *u)
{
    pz_shape_list list = {0};
    pz_cause cause = {"collision meshes without a shape", 0};
    poise_status status = POISE_OK;
    for (const pz_xml_node *link = u->robot->first; link && status == POISE_OK; link = link->next) {
        status = pz_xml_is(link, "link") ? read_link_shapes(u, link, &list, &cause) : POISE_OK;
    }
    pz_causes_close(u->input, &cause, 1);
    pz_shape_list_keep(u->input, &list);
    return status;
}

// ---- The whole -----------------------------------------------------------------------------------------------------------

static poise_status read_root(urdf *u, pz_part *part)
{
    *part = (pz_part){.joint = poise_joint_default(), .node = u->links[u->root], .leader = -1};
    part->joint.type = u->input->options->floating ? POISE_JOINT_FREE : POISE_JOINT_FIXED;
    part->joint.body = u->link_names.list[u->root];
    part->joint.name = pz_name_set_new(&u->input->pool, &u->joint_names, "root");
    if (!part->joint.name) {
        return pz_input_no_memory(u->input);
    }
    return read_inertial(u, u->root, &part->joint);
}

// Drake's <frame name link xyz rpy>: a tool. Not in the standard, so that one which cannot be read is only a warning.
static poise_status read_frames(urdf *u)
{
    for (const pz_xml_node *node = u->robot->first; node; node = node->next) {
        if (!pz_xml_is(node, "frame")) {
            continue;
        }
        const char *name = pz_xml_get(node, "name"), *link = pz_xml_get(node, "link");
        if (!name || !name[0] || !link || pz_name_set_find(&u->link_names, link) < 0 ||
            !pz_name_set_add(&u->frame_names, name)) {
            pz_xml_warn(u->input, &u->causes[FRAME], node, "<frame> needs a unique name and a link; ignored");
            continue;
        }
        pz_named_frame *frame = &u->frames[u->frame_count++];
        *frame = (pz_named_frame){.tool = {.name = name, .body = link}, .node = node};
        poise_status status = read_pose(u, node, &frame->tool.pose);
        if (status != POISE_OK) {
            return status;
        }
    }
    return POISE_OK;
}

static poise_status read_parts(urdf *u)
{
    poise_status status = POISE_OK;
    int count = 0;
    if (u->root >= 0) {
        status = read_root(u, &u->parts[count++]);
    } else if (u->input->options->floating) {
        pz_xml_warn(u->input, NULL, u->robot, "the robot is attached to the link \"world\" and is not made to float");
    }
    for (int j = 0; status == POISE_OK && j < u->joint_count; ++j) {
        status = read_joint(u, &u->joints[j], &u->parts[count++]);
    }
    if (status == POISE_OK) {
        status = read_frames(u);
    }
    if (status == POISE_OK) {
        pz_causes_close(u->input, u->causes, CAUSE_COUNT);
        status = pz_assemble(u->input, u->parts, count, u->frames, u->frame_count);
    }
    return status == POISE_OK ? read_shapes(u) : status;
}

static poise_status check_robot(urdf *u)
{
    const pz_xml_node *robot = u->robot;
    if (!pz_xml_is(robot, "robot")) {
        return pz_xml_fail(u->input, robot, POISE_ERROR_FORMAT, "this is <%s>, not <robot>: not a URDF file", robot->name);
    }
    for (const pz_xml_node *node = robot->first; node; node = node->next) {
        if (pz_xml_is_among(node->name, of_xacro)) {
            return pz_xml_fail(u->input, node, POISE_ERROR_FORMAT,
                               "<%s>: this is a xacro file; run xacro on it first and use its output", node->name);
        }
    }
    if (!pz_xml_child(robot, "link")) {
        return pz_xml_fail(u->input, robot, POISE_ERROR_FORMAT,
                           "the robot needs at least one <link>: if this file is a part of others, open one of those");
    }
    u->input->file->title = pz_xml_get(robot, "name");
    u->input->file->scale = (poise_scale){.metres = 1.0, .up = POISE_UP_Z};
    warn_of_unknown(u, robot, of_robot);
    return POISE_OK;
}

static poise_status read_urdf(pz_input *input)
{
    pz_xml_node *robot;
    poise_status status = pz_xml_parse(input, input->bytes, input->size, NULL, &robot);
    if (status != POISE_OK) {
        return status;
    }
    urdf u = {.input = input,
              .robot = robot,
              .causes = {[UNKNOWN_ELEMENT] = {"unknown elements", 0},
                         [EXTENSION] = {"elements of extensions", 0},
                         [NO_LIMIT] = {"joints without limits", 0},
                         [NO_RANGE] = {"joints that cannot move", 0},
                         [LIMIT_IGNORED] = {"joints whose limits are not used", 0},
                         [DIALECT] = {"joints of types that are not in the standard", 0},
                         [MIMIC_IGNORED] = {"joints that cannot mimic", 0},
                         [NO_MASS] = {"links without mass", 0},
                         [FRAME] = {"frames that cannot be read", 0},
                         [UNIT] = {"angles that may be degrees", 0}}};
    poise_status (*const steps[])(urdf *) = {check_robot, count_and_allocate, list_links,   list_joints,
                                             connect_all, find_root,          check_cycles, read_parts};
    for (size_t i = 0; status == POISE_OK && i < sizeof steps / sizeof steps[0]; ++i) {
        status = steps[i](&u);
    }
    return status;
}

const pz_format_row pz_urdf_format = {.name = "urdf", .extension = ".urdf", .read = read_urdf};
