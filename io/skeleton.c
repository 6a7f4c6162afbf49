// What the formats of skeletons share: Euler angles, configurations, tips of bones, what every writer checks; and, for robot
// descriptions, sets of names and the way from described joints to the model.
#include "io/skeleton.h"

#include "num/real.h"

#include <math.h>
#include <string.h>

// ---- Orders of Euler angles ----------------------------------------------------------------------------------------------

const char *pz_euler_name(int order)
{
    return poise_name(POISE_TYPE_EULER_ORDER, order);
}

bool pz_euler_find(const int axis[3], poise_euler_order *order)
{
    for (int i = 0; i < POISE_EULER_ORDER_COUNT; ++i) {
        const char *name = pz_euler_name(i);
        if (name[0] == 'x' + axis[0] && name[1] == 'x' + axis[1] && name[2] == 'x' + axis[2]) {
            *order = (poise_euler_order)i;
            return true;
        }
    }
    return false;
}

// ---- Angles --------------------------------------------------------------------------------------------------------------

static double way(const double a[3], const double b[3])
{
    return fabs(a[0] - b[0]) + fabs(a[1] - b[1]) + fabs(a[2] - b[2]);
}

// R = Ri(a) Rj(b) Rk(c):
//
//   Rik = sin b,  Rjk = -sin a cos b,  Rkk = cos a cos b,  Rij = -cos b sin c,  Rii = cos b cos c
//
// Where cos b is 0 any a will do, so a stays, and c follows from Ri(-a) R = Rj(b) Rk(c), whose row j is sin c and cos c in
// the columns i and j. R has two triples, (a, b, c) and (a + pi, pi - b, c + pi), and whole turns of each.
void pz_euler_next(const double R[9], int first, double angle[3])
{
    int i = first, j = (first + 1) % 3, k = (first + 2) % 3;
    double one[3], other[3], cosine = sqrt(R[3 * j + k] * R[3 * j + k] + R[3 * k + k] * R[3 * k + k]);
    one[1] = poise_atan2(R[3 * i + k], cosine);
    if (cosine > 1e-9) { // below, the sines above are rounding errors: R is good to 1e-15
        one[0] = poise_atan2(-R[3 * j + k], R[3 * k + k]);
        one[2] = poise_atan2(-R[3 * i + j], R[3 * i + i]);
    } else {
        double s, c;
        poise_sincos(angle[0], &s, &c);
        one[0] = angle[0];
        one[2] = poise_atan2(c * R[3 * j + i] + s * R[3 * k + i], c * R[3 * j + j] + s * R[3 * k + j]);
    }
    for (int n = 0; n < 3; ++n) {
        other[n] = turn_near(n == 1 ? PZ_PI - one[1] : one[n] + PZ_PI, angle[n]);
        one[n] = turn_near(one[n], angle[n]);
    }
    memcpy(angle, way(other, angle) < way(one, angle) ? other : one, sizeof one);
}

// ---- Configurations ------------------------------------------------------------------------------------------------------

bool pz_configurations_of(const poise_model *model, pz_pool *pool, pz_configurations *out)
{
    int joints = poise_model_info(model).joints;
    *out = (pz_configurations){.nq = poise_model_info(model).nq};
    // four coordinates to each
    out->quaternions = pz_pool_take(pool, (size_t)out->nq / 4, sizeof *out->quaternions);
    for (int k = 0; k < joints && out->quaternions; ++k) {
        poise_joint_type type = poise_model_joint_info(model, k).type;
        if (type == POISE_JOINT_BALL_QUATERNION || type == POISE_JOINT_FREE) {
            out->quaternions[out->count++] = poise_model_joint_info(model, k).q + (type == POISE_JOINT_FREE ? 3 : 0);
        }
    }
    return out->quaternions != NULL;
}

bool pz_is_configuration(const pz_configurations *of, const double *q)
{
    if (!all_finite(q, (size_t)of->nq)) {
        return false;
    }
    for (int i = 0; i < of->count; ++i) {
        const double *r = q + of->quaternions[i];
        if (r[0] == 0 && r[1] == 0 && r[2] == 0 && r[3] == 0) {
            return false;
        }
    }
    return true;
}

// ---- Tips of bones -------------------------------------------------------------------------------------------------------

// "<body>.tip" and nothing but digits behind it.
static bool is_tip_of(const char *tool, const char *body)
{
    size_t length = strlen(body);
    if (strncmp(tool, body, length) != 0 || strncmp(tool + length, ".tip", 4) != 0) {
        return false;
    }
    const char *rest = tool + length + 4;
    while (is_digit(*rest)) {
        ++rest;
    }
    return *rest == '\0';
}

bool pz_tips_find(pz_pool *pool, const poise_model *model, pz_tips *tips)
{
    int bodies = poise_model_info(model).joints, tools = poise_model_info(model).tools;
    tips->first = pz_pool_take(pool, (size_t)bodies, sizeof *tips->first);
    tips->next = pz_pool_take(pool, (size_t)tools, sizeof *tips->next);
    tips->others = 0;
    if (!tips->first || !tips->next) {
        return false;
    }
    for (int b = 0; b < bodies; ++b) {
        tips->first[b] = -1;
    }
    for (int t = tools - 1; t >= 0; --t) { // from the last, so that lists run forwards
        int body = poise_model_tool_info(model, t).body;
        poise_quat r = poise_model_tool_info(model, t).pose.rotation;
        bool is_turned = r.x != 0 || r.y != 0 || r.z != 0;
        if (body >= 0 && !is_turned &&
            is_tip_of(poise_model_tool_info(model, t).name, poise_model_joint_info(model, body).body)) {
            tips->next[t] = tips->first[body];
            tips->first[body] = t;
        } else {
            tips->others += 1;
        }
    }
    return true;
}

// ---- Writing -------------------------------------------------------------------------------------------------------------

void pz_put_name(pz_output *output, const char *name, const char *bad)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < length; ++i) {
        unsigned char c = (unsigned char)name[i];
        bool is_edge = c == ' ' && (i == 0 || i == length - 1);
        pz_put_bytes(output, c < 0x20 || c == 0x7f || is_edge || strchr(bad, c) ? "_" : &name[i], 1);
    }
}

poise_status pz_check_model(const poise_file *file, pz_output *output, const char *format)
{
    if (!file->model) {
        return pz_error_set(output->error, POISE_ERROR_ARGUMENT, "%s: there is no model to write", format);
    }
    if (file->clip && file->clip->nq != poise_model_info(file->model).nq) {
        return pz_error_set(output->error, POISE_ERROR_ARGUMENT,
                            "%s: the clip has %d numbers per frame, but its model has %d", format, file->clip->nq,
                            poise_model_info(file->model).nq);
    }
    return POISE_OK;
}

poise_status pz_check_finite(pz_output *output, const poise_clip *clip, int frame)
{
    const double *q = clip->q + (size_t)frame * (size_t)clip->nq;
    for (int i = 0; i < clip->nq; ++i) {
        if (q[i] - q[i] != 0.0) {
            return pz_error_set(output->error, POISE_ERROR_ARGUMENT, "frame %d: coordinate %d is not finite", frame, i);
        }
    }
    return POISE_OK;
}

// "6 tools, markers, the masses of 29 bodies": one more part of what is lost.
static void add_loss(poise_error *losses, const char *format, int count)
{
    poise_error before = *losses, part;
    pz_error_set(&part, POISE_OK, format, count);
    pz_error_set(losses, POISE_OK, "%s%s%s", before.text, before.text[0] ? ", " : "", part.text);
}

static int count_masses(const poise_model *model)
{
    int masses = 0;
    for (int j = 0; j < poise_model_info(model).joints; ++j) {
        masses += poise_model_joint_info(model, j).given->mass != 0 ? 1 : 0;
    }
    return masses;
}

void pz_warn_of_losses(const poise_file *file, pz_output *output, const char *format, const pz_tips *tips, int limits)
{
    poise_error losses = {.text = ""};
    int masses = count_masses(file->model);
    if (tips->others > 0) {
        add_loss(&losses, tips->others == 1 ? "%d tool that is not a bone tip" : "%d tools that are not bone tips",
                 tips->others);
    }
    if (file->markers) {
        add_loss(&losses, "markers", 0);
    }
    if (masses > 0) {
        add_loss(&losses, masses == 1 ? "the mass of %d body" : "the masses of %d bodies", masses);
    }
    if (limits > 0) {
        add_loss(&losses, limits == 1 ? "the limits of %d coordinate" : "the limits of %d coordinates", limits);
    }
    if (losses.text[0]) {
        pz_output_warn(output, "%s cannot store %s", format, losses.text);
    }
    if (file->clip && file->clip->start_time != 0) {
        pz_output_warn(output, "%s cannot store the start time of %g s", format, file->clip->start_time);
    }
}

#define LOCKED 1e-6 // of the width of a leader's limits: less is none

// ---- Names ---------------------------------------------------------------------------------------------------------------

static const char *name_at(const void *set, int position)
{
    return ((const pz_name_set *)set)->list[position];
}

bool pz_name_set_make(pz_pool *pool, size_t most, pz_name_set *set)
{
    const char **list = most < INT32_MAX / 2 ? pz_pool_take(pool, most, sizeof *list) : NULL;
    *set = (pz_name_set){.list = list, .next = 2};
    return list && pz_pool_names(pool, most, &set->names);
}

int pz_name_set_find(const pz_name_set *set, const char *name)
{
    return pz_names_find(&set->names, name, name_at, set);
}

bool pz_name_set_add(pz_name_set *set, const char *name)
{
    if (pz_name_set_find(set, name) >= 0) {
        return false;
    }
    set->list[set->count] = name;
    pz_names_add(&set->names, name, set->count);
    set->count += 1;
    return true;
}

// `base`, a full stop and a number, into memory for it.
static void write_numbered(char *text, const char *base, size_t length, int number)
{
    char digits[12];
    int count = 0;
    for (; number > 0; number /= 10) {
        digits[count++] = (char)('0' + number % 10);
    }
    memcpy(text, base, length);
    text[length++] = '.';
    while (count > 0) {
        text[length++] = digits[--count];
    }
    text[length] = '\0';
}

const char *pz_name_set_new(pz_pool *pool, pz_name_set *set, const char *base)
{
    if (pz_name_set_add(set, base)) {
        return base;
    }
    size_t length = strlen(base);
    char *name = pz_pool_take(pool, length + 16, 1);
    if (!name) {
        return NULL;
    }
    do {
        write_numbered(name, base, length, set->next++);
    } while (!pz_name_set_add(set, name));
    return name;
}

// ---- Joints that follow others -------------------------------------------------------------------------------------------

static bool has_one_coordinate(const poise_joint *joint)
{
    return joint->type == POISE_JOINT_REVOLUTE || joint->type == POISE_JOINT_PRISMATIC || joint->type == POISE_JOINT_CURVE;
}

// q = m q_l + c with q_l = m_l q_r + c_l is q = (m m_l) q_r + (m c_l + c).
static void follow_further(pz_part *part, const pz_part *leader)
{
    part->joint.mimic_offset += part->joint.mimic_multiplier * leader->joint.mimic_offset;
    part->joint.mimic_multiplier *= leader->joint.mimic_multiplier;
    part->leader = leader->leader;
}

// Walk from each follower to the end of its chain, then back, each follower taking over from the next. What is done stays
// done, so every step is taken once.
static poise_status shorten_chains(pz_input *input, pz_part *parts, int count, int *path, char *state)
{
    enum { NEW, ON_PATH, DONE };
    for (int i = 0; i < count; ++i) {
        state[i] = NEW;
    }
    for (int i = 0; i < count; ++i) {
        int length = 0, at = i;
        while (parts[at].leader >= 0 && state[at] == NEW) {
            state[at] = ON_PATH;
            path[length++] = at;
            at = parts[at].leader;
        }
        if (state[at] == ON_PATH) {
            return pz_xml_fail(input, parts[at].node, POISE_ERROR_MODEL,
                               "joint \"%s\" follows itself, directly or through other joints: break the cycle",
                               parts[at].joint.name);
        }
        for (; length > 0; at = path[length]) {
            pz_part *part = &parts[path[--length]];
            if (parts[at].leader >= 0) {
                follow_further(part, &parts[at]);
            }
            state[path[length]] = DONE;
        }
    }
    return POISE_OK;
}

// Limits of a leader, narrowed by the followers so far.
typedef struct span {
    double lower, upper;
} span;

// lower <= m q + c <= upper for q; everything where the limits do not depend on q and hold.
static span leader_span(const poise_joint *joint)
{
    double m = joint->mimic_multiplier, c = joint->mimic_offset;
    if (m == 0.0) {
        bool holds = joint->lower[0] <= c && c <= joint->upper[0];
        return holds ? (span){-INFINITY, INFINITY} : (span){INFINITY, -INFINITY};
    }
    double a = (joint->lower[0] - c) / m, b = (joint->upper[0] - c) / m;
    return m > 0.0 ? (span){a, b} : (span){b, a};
}

// Do limits of a follower leave its leader room to move? Grippers whose fingers turn the other way often have the limits of
// the others, which leave 0 alone.
static bool leaves_room(span before, span after)
{
    double width = before.upper - before.lower, left = after.upper - after.lower;
    return left > 0.0 ? width == INFINITY || left >= LOCKED * width : left == 0.0 && width == 0.0;
}

// Does the follower take so much of its leader's room that people will miss it? Digits of the two may differ.
#define MISSED 0.01

static bool takes_room(span before, span after)
{
    double width = before.upper - before.lower, left = after.upper - after.lower;
    return width == INFINITY ? left < INFINITY : left < (1.0 - MISSED) * width;
}

static void drop_limits(poise_joint *joint)
{
    joint->lower[0] = -INFINITY;
    joint->upper[0] = INFINITY;
}

// For people: degrees or lengths to four digits behind the point.
static double shown(double x, double unit)
{
    double scaled = unit * x * 1e4;
    return fabs(scaled) < 1e12 ? (double)(int64_t)(scaled + (scaled < 0 ? -0.5 : 0.5)) / 1e4 : unit * x;
}

static void tell_narrowed(pz_input *input, pz_cause *cause, const pz_part *follower, const pz_part *leader, span before,
                          span after)
{
    bool turns = leader->joint.type == POISE_JOINT_REVOLUTE;
    double unit = turns ? 180.0 / PZ_PI : 1.0;
    pz_xml_warn(input, cause, follower->node,
                "joint \"%s\": its limits hold \"%s\", which it follows, within %g .. %g%s instead of %g .. %g; "
                "ignore-follower-limits reads the file without them",
                follower->joint.name, leader->joint.name, shown(after.lower, unit), shown(after.upper, unit),
                turns ? " degrees" : "", shown(before.lower, unit), shown(before.upper, unit));
}

// Limits of followers hold together with those of their leaders (src/model/model.c), unless they are to be ignored.
static void loosen_followers(pz_input *input, pz_part *parts, int count, span *left)
{
    pz_cause causes[] = {{.what = "joints whose limits the joint they follow cannot meet"},
                         {.what = "joints that narrow the limits of the joint they follow"}};
    for (int i = 0; i < count; ++i) {
        left[i] = (span){parts[i].joint.lower[0], parts[i].joint.upper[0]};
    }
    for (int i = 0; i < count; ++i) {
        poise_joint *joint = &parts[i].joint;
        if (parts[i].leader < 0) {
            continue;
        }
        span *of_leader = &left[parts[i].leader];
        span narrowed = leader_span(joint);
        narrowed.lower = max2(narrowed.lower, of_leader->lower);
        narrowed.upper = min2(narrowed.upper, of_leader->upper);
        if (input->options->ignore_follower_limits) {
            drop_limits(joint);
            continue;
        }
        if (leaves_room(*of_leader, narrowed)) {
            if (takes_room(*of_leader, narrowed)) {
                tell_narrowed(input, &causes[1], &parts[i], &parts[parts[i].leader], *of_leader, narrowed);
            }
            *of_leader = narrowed;
            continue;
        }
        pz_xml_warn(input, &causes[0], parts[i].node,
                    "joint \"%s\": its limits would lock \"%s\", which it follows; they are dropped", joint->name,
                    parts[parts[i].leader].joint.name);
        drop_limits(joint);
    }
    pz_causes_close(input, causes, sizeof causes / sizeof causes[0]);
}

static poise_status check_leaders(pz_input *input, const pz_part *parts, int count)
{
    for (int i = 0; i < count; ++i) {
        if (parts[i].leader >= 0 && !has_one_coordinate(&parts[parts[i].leader].joint)) {
            return pz_xml_fail(input, parts[i].node, POISE_ERROR_MODEL,
                               "joint \"%s\" cannot follow \"%s\": only a revolute or prismatic joint can be followed",
                               parts[i].joint.name, parts[parts[i].leader].joint.name);
        }
    }
    return POISE_OK;
}

static poise_status resolve_followers(pz_input *input, pz_part *parts, int count)
{
    int *path = pz_pool_take(&input->pool, (size_t)count, sizeof *path);
    char *state = path ? pz_pool_take(&input->pool, (size_t)count, 1) : NULL;
    span *left = state ? pz_pool_take(&input->pool, (size_t)count, sizeof *left) : NULL;
    if (!left) {
        return pz_input_no_memory(input);
    }
    poise_status status = check_leaders(input, parts, count);
    if (status == POISE_OK) {
        status = shorten_chains(input, parts, count, path, state);
    }
    if (status == POISE_OK) {
        loosen_followers(input, parts, count, left);
    }
    return status;
}

// ---- Building the model --------------------------------------------------------------------------------------------------

// An error of the builder, with the line of what it is about.
static poise_status at_node(pz_input *input, const pz_xml_node *node, poise_status status, const poise_error *said)
{
    return status == POISE_OK ? POISE_OK : pz_xml_fail(input, node, status, "%s", said->text);
}

static poise_status add_all(pz_input *input, poise_builder *builder, pz_part *parts, int part_count,
                            const pz_named_frame *frames, int frame_count)
{
    poise_status status = POISE_OK;
    poise_error said;
    for (int i = 0; status == POISE_OK && i < part_count; ++i) {
        pz_part *part = &parts[i];
        part->joint.mimic = part->leader < 0 ? NULL : parts[part->leader].joint.name;
        status = at_node(input, part->node, poise_builder_add_joint(builder, &part->joint, &said), &said);
    }
    for (int i = 0; status == POISE_OK && i < frame_count; ++i) {
        status = at_node(input, frames[i].node, poise_builder_add_tool(builder, &frames[i].tool, &said), &said);
    }
    return status;
}

poise_status pz_assemble(pz_input *input, pz_part *parts, int part_count, const pz_named_frame *frames, int frame_count)
{
    poise_status status = resolve_followers(input, parts, part_count);
    poise_builder *builder = NULL;
    if (status == POISE_OK && poise_builder_create(input->allocator, &builder, NULL) != POISE_OK) {
        status = pz_input_no_memory(input);
    }
    if (status == POISE_OK) {
        status = add_all(input, builder, parts, part_count, frames, frame_count);
    }
    if (status == POISE_OK) {
        status = poise_model_create(builder, input->allocator, &input->file->model, input->error);
    }
    poise_builder_destroy(builder);
    return status;
}

// The half-way quaternion of z and a = axis / |axis|: (z x a, 1 + z . a), to be made unit. Where a is near -z both parts are
// small; there  1 + a_z = (a_x^2 + a_y^2) / (1 - a_z)  is exact to rounding.
poise_quat pz_quat_from_z(poise_vec3 axis)
{
    vec3 a = v3_normalize(axis);
    double side = a.x * a.x + a.y * a.y;
    double w = a.z >= 0.0 ? 1.0 + a.z : side / (1.0 - a.z);
    if (side == 0.0) {
        return a.z >= 0.0 ? (quat){0, 0, 0, 1} : (quat){1, 0, 0, 0};
    }
    return quat_normalize((quat){-a.y, a.x, 0.0, w});
}
