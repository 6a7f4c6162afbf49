// Joints of a body as a chain of the model's joints, and couplings between them.
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
#include "io/mjcf/mjcf.h"

#include "math/vec3.h"

#include <math.h>
#include <string.h>

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
    joint->lower = turns ? pz_mjcf_radians(m, range[0]) : range[0];
    joint->upper = turns ? pz_mjcf_radians(m, range[1]) : range[1];
    return POISE_OK;
}

poise_status pz_mjcf_read_joint(pz_mjcf *m, const pz_xml_node *node, const pz_mjcf_place *place, pz_mjcf_joint *joint)
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
    joint->ref = joint->type == MJCF_HINGE ? pz_mjcf_radians(m, joint->ref) : joint->ref;
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

poise_status pz_mjcf_make_parts(pz_mjcf *m)
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
poise_status pz_mjcf_read_couplings(pz_mjcf *m)
{
    poise_status status = POISE_OK;
    for (int linear = 0; linear < 2; ++linear) {
        for (const pz_xml_node *node = pz_mjcf_next_in(m, "equality", "joint", NULL); node && status == POISE_OK;
             node = pz_mjcf_next_in(m, "equality", "joint", node)) {
            status = pz_mjcf_is_active(node) ? read_coupling(m, node, linear == 1) : POISE_OK;
        }
    }
    return status;
}
