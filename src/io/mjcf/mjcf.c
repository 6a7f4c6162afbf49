// MJCF, the models of MuJoCo: bodies within bodies, each with any number of joints.
//
// What is read: the tree of bodies, frames, joints, sites (as tools), masses, default classes, compiler settings, includes,
// couplings of joints, loops, geoms that collide, keyframes. Actuators, sensors and the like are no business of a skeleton
// and left out silently.
#include "io/mjcf/mjcf.h"

#include "math/vec3.h"

#include <string.h>

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

bool pz_mjcf_is_mocap(const pz_xml_node *body)
{
    const char *mocap = pz_xml_get(body, "mocap");
    return mocap && strcmp(mocap, "true") == 0;
}

static poise_status add_body(pz_mjcf *m, pz_xml_node *node, const pz_mjcf_place *outer, const poise_pose *pose)
{
    pz_mjcf_body *body = &m->bodies[m->body_count++];
    *body = (pz_mjcf_body){.node = node, .parent = outer->body, .first_joint = -1, .last_joint = -1};
    body->pose = poise_pose_multiply(outer->frame, *pose);
    if (pz_mjcf_is_mocap(node)) {
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
    poise_status status = pz_mjcf_read_joint(m, node, place, joint);
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
        check_root,  pz_mjcf_include,    pz_mjcf_read_compiler, allocate,           pz_mjcf_read_classes,
        read_worlds, name_bodies,        pz_mjcf_weigh,         pz_mjcf_make_parts, pz_mjcf_read_couplings,
        assemble,    pz_mjcf_read_geoms, pz_mjcf_read_excludes, pz_mjcf_read_loops, pz_mjcf_read_keys,
        finish};
    for (size_t i = 0; status == POISE_OK && i < sizeof steps / sizeof steps[0]; ++i) {
        status = steps[i](&m);
    }
    return status;
}
