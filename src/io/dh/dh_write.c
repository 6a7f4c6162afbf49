// Writing a Denavit-Hartenberg table: parameters from the geometry of a chain.
//
// With a screw about z, Z = Rz(theta) Tz(d), and one about x, X = Tx(a) Rx(alpha), a chain of joints 1..n and its tip is
//
//   Z_0 X_0  Z_1(q_1) X_1  ...  Z_n(q_n) X_n  Z_n+1
//
// Z_i X_i carries a frame whose z lies on axis i to one whose z lies on axis i+1 (axis 0 is the z of the world, axis n+1
// that of the tip): x turns to the common normal of both, and a is its length. Classic tables have rows (Z X), modified ones
// (X Z); what is left over at either end becomes a row of type fixed, where it is not the identity. Denavit and Hartenberg
// 1955; Craig, Introduction to Robotics, 1986.
//
// Everything is done in the frames that the written numbers lead to, so that rounding does not add up along the chain.
#include "io/io_core.h"

#include <math.h>
#include <string.h>

#define PARALLEL 1e-12 // radians: axes that differ by less are parallel
#define SKEW     1e-7  // radians: below, the common normal is so far away that digits are lost: taken as parallel, and told
#define DEGREES  (180.0 / 3.14159265358979323846)
#define SNAP     1e-13 // degrees: a few units in the last place of 180

typedef struct screw {
    double theta, d; // about z; degrees
    double a, alpha; // then about x; degrees
} screw;

// One moving joint, or the tip: a line in the world at q = 0.
typedef struct line {
    int joint; // -1: the tip
    poise_vec3 point, direction;
} line;

typedef struct chain {
    const poise_model *model;
    pz_output *output;
    line *lines;   // count + 1: joints, then the tip
    screw *screws; // count + 2: [0] to the first axis, [count] to the tip, [count + 1] the last screw about z
    int count;
    poise_pose tip;
    int last;     // body of the tip
    int tip_tool; // POISE_NONE: the frame of that body
    int left_out; // bodies that do not lie between the world and the tip
    double size;  // of the chain
    double tilt;  // radians: the largest between axes that are not parallel and were taken as such
} chain;

// ---- Small things --------------------------------------------------------------------------------------------------------

static poise_pose along_z(double degrees, double d)
{
    double s, c;
    poise_sincos(0.5 * (degrees * PZ_RADIANS_PER_DEGREE), &s, &c);
    return (poise_pose){{0, 0, s, c}, {0, 0, d}};
}

static poise_pose along_x(double degrees, double a)
{
    double s, c;
    poise_sincos(0.5 * (degrees * PZ_RADIANS_PER_DEGREE), &s, &c);
    return (poise_pose){{s, 0, 0, c}, {a, 0, 0}};
}

// The shortest decimal within `slack` of x: 90 instead of 89.99999999999999.
static double snapped(double x, double slack)
{
    double power = 1.0;
    for (int digits = 0; digits <= 15; ++digits, power *= 10.0) { // powers up to 10^15 are exact
        double scaled = x * power;
        if (fabs(scaled) > 1e15) {
            break;
        }
        double near = (double)(long long)(scaled + (scaled < 0.0 ? -0.5 : 0.5)) / power;
        if (fabs(near - x) <= slack) {
            return near == 0.0 ? 0.0 : near;
        }
    }
    return x;
}

static double snapped_length(const chain *c, double x)
{
    return snapped(x, 8.0 * 2.220446049250313e-16 * c->size);
}

static double snapped_angle(double y, double x)
{
    double degrees = snapped(poise_atan2(y, x) * DEGREES, SNAP);
    return degrees <= -180.0 ? degrees + 360.0 : degrees;
}

static poise_status refuse(const chain *c, const char *format, const char *a, const char *b)
{
    return pz_error_set(c->output->error, POISE_ERROR_UNSUPPORTED, format, a, b);
}

// ---- From model to lines -------------------------------------------------------------------------------------------------

static int parent_of(const chain *c, int k)
{
    return poise_model_joint_info(c->model, k).parent;
}

static bool moves(const chain *c, int k)
{
    return poise_model_joint_info(c->model, k).type != POISE_JOINT_FIXED;
}

static bool is_at_or_above(const chain *c, int k, int body)
{
    while (body > k) { // parents come first
        body = parent_of(c, body);
    }
    return body == k;
}

// The last body that no joint moves against the last joint that moves; -1: none moves. Frames that a file fixes elsewhere,
// such as "base" beside "base_link", are no branches of the chain.
static int find_last(const chain *c)
{
    int joints = poise_model_info(c->model).joints, moving = joints - 1, last;
    while (moving >= 0 && !moves(c, moving)) {
        --moving;
    }
    last = moving;
    for (int k = moving + 1; moving >= 0 && k < joints; ++k) {
        last = is_at_or_above(c, moving, k) ? k : last;
    }
    return last;
}

static poise_status check_joint(const chain *c, int k)
{
    poise_joint joint = *poise_model_joint_info(c->model, k).given;
    if (!is_at_or_above(c, k, c->last)) {
        return refuse(c, "joint \"%s\": a Denavit-Hartenberg table holds one chain, but the model branches here%s",
                      joint.name, "");
    }
    if (joint.type != POISE_JOINT_REVOLUTE && joint.type != POISE_JOINT_PRISMATIC) {
        return refuse(c, "joint \"%s\" is of type %s; a Denavit-Hartenberg table holds revolute and prismatic ones",
                      joint.name, poise_joint_type_name(joint.type));
    }
    if (joint.mimic) {
        return refuse(c, "joint \"%s\" follows \"%s\"; a Denavit-Hartenberg table cannot hold mimic joints", joint.name,
                      joint.mimic);
    }
    return POISE_OK;
}

static double length_of(poise_vec3 v)
{
    return sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
}

// The tip: the tool "<last body>.tip", or else the first tool of the last body, or else the body.
static int find_tip(const chain *c)
{
    int found = POISE_NONE, last = c->last;
    for (int i = 0; i < poise_model_info(c->model).tools; ++i) {
        const char *name = poise_model_tool_info(c->model, i).name, *body = poise_model_joint_info(c->model, last).body;
        size_t length = strlen(body);
        bool is_tip = strncmp(name, body, length) == 0 && strcmp(name + length, ".tip") == 0;
        if (poise_model_tool_info(c->model, i).body == last && (found == POISE_NONE || is_tip)) {
            found = i;
        }
    }
    return found;
}

static poise_status gather(chain *c)
{
    poise_pose pose = poise_pose_identity();
    c->last = find_last(c);
    if (c->last < 0) {
        return refuse(c, "the model has no joint that moves%s%s", "", "");
    }
    for (int k = 0; k < poise_model_info(c->model).joints; ++k) {
        poise_status status = moves(c, k) ? check_joint(c, k) : POISE_OK;
        if (status != POISE_OK) {
            return status;
        }
        if (!is_at_or_above(c, k, c->last)) {
            c->left_out += 1;
            continue;
        }
        poise_joint joint = *poise_model_joint_info(c->model, k).given;
        pose = poise_pose_multiply(pose, joint.offset);
        c->size += length_of(joint.offset.position);
        if (moves(c, k)) {
            poise_vec3 axis = poise_quat_rotate(pose.rotation, joint.axis);
            c->lines[c->count++] = (line){k, pose.position, axis};
        }
    }
    c->tip_tool = find_tip(c);
    poise_pose tool = c->tip_tool == POISE_NONE ? poise_pose_identity() : poise_model_tool_info(c->model, c->tip_tool).pose;
    c->tip = poise_pose_multiply(pose, tool);
    c->size += length_of(tool.position);
    c->lines[c->count] = (line){-1, c->tip.position, poise_quat_rotate(c->tip.rotation, (poise_vec3){0, 0, 1})};
    return POISE_OK;
}

// ---- From lines to screws ------------------------------------------------------------------------------------------------

// The screw from the frame at the origin to the line through p along u, axes parallel: any common normal will do. The one at
// the height of the joint's own origin is what a table that was read had; to the tip it is the one at the height of p, where
// x follows the tip's own if it can.
static screw parallel_screw(const chain *c, int i, double own, poise_vec3 p, poise_vec3 u, poise_vec3 tip_x)
{
    screw s = {.d = snapped_length(c, i == c->count ? p.z : own), .alpha = u.z < 0.0 ? 180.0 : 0.0};
    double distance = sqrt(p.x * p.x + p.y * p.y);
    if (distance <= 16.0 * 2.220446049250313e-16 * c->size) {
        s.theta = i == c->count ? snapped_angle(tip_x.y, tip_x.x) : 0.0;
        return s;
    }
    bool flips = i == c->count ? p.x * tip_x.x + p.y * tip_x.y < 0.0 : p.x < 0.0;
    s.theta = snapped_angle(flips ? -p.y : p.y, flips ? -p.x : p.x);
    s.a = snapped_length(c, flips ? -distance : distance);
    return s;
}

// Axes that cross or pass: x' = +-(z x u)/|z x u|. In the turned frame u = (0, -sin(alpha), cos(alpha)), and the foot of the
// normal on the line is at y = 0.
static screw crossing_screw(const chain *c, int i, poise_vec3 p, poise_vec3 u, poise_vec3 tip_x)
{
    double sine = sqrt(u.x * u.x + u.y * u.y);
    double nx = -u.y / sine, ny = u.x / sine;
    bool flips = i == c->count ? nx * tip_x.x + ny * tip_x.y < 0.0 : nx < 0.0 || (nx == 0.0 && ny < 0.0);
    nx = flips ? -nx : nx;
    ny = flips ? -ny : ny;
    double py = -ny * p.x + nx * p.y, uy = -ny * u.x + nx * u.y;
    return (screw){.theta = snapped_angle(ny, nx),
                   .d = snapped_length(c, p.z - py / uy * u.z),
                   .a = snapped_length(c, nx * p.x + ny * p.y),
                   .alpha = snapped_angle(-uy, u.z)};
}

static void find_screws(chain *c)
{
    poise_pose frame = poise_pose_identity();
    poise_vec3 tip_x = poise_quat_rotate(c->tip.rotation, (poise_vec3){1, 0, 0});
    for (int i = 0; i <= c->count; ++i) {
        poise_pose inverse = poise_pose_inverse(frame);
        poise_vec3 p = poise_pose_transform(inverse, c->lines[i].point);
        poise_vec3 u = poise_quat_rotate(inverse.rotation, c->lines[i].direction);
        poise_vec3 x = poise_quat_rotate(inverse.rotation, tip_x);
        double own = i > 0 ? poise_pose_transform(inverse, c->lines[i - 1].point).z : 0.0;
        double sine = sqrt(u.x * u.x + u.y * u.y);
        if (sine > PARALLEL && sine < SKEW) {
            c->tilt = sine > c->tilt ? sine : c->tilt;
        }
        c->screws[i] = sine < SKEW ? parallel_screw(c, i, own, p, u, x) : crossing_screw(c, i, p, u, x);
        frame = poise_pose_multiply(frame, along_z(c->screws[i].theta, c->screws[i].d));
        frame = poise_pose_multiply(frame, along_x(c->screws[i].alpha, c->screws[i].a));
    }
    poise_pose rest = poise_pose_multiply(poise_pose_inverse(frame), c->tip);
    poise_vec3 x = poise_quat_rotate(rest.rotation, (poise_vec3){1, 0, 0});
    c->screws[c->count + 1] =
        (screw){.theta = snapped_angle(x.y, x.x), .d = snapped_length(c, rest.position.z), .a = 0.0, .alpha = 0.0};
}

// ---- Rows ----------------------------------------------------------------------------------------------------------------

// A name between commas.
static bool put_name(pz_output *output, const char *name)
{
    bool changes = false;
    for (; *name; ++name) {
        bool is_bad = strchr(",\n\r", *name) != NULL;
        changes = changes || is_bad;
        pz_put_bytes(output, is_bad ? "_" : name, 1);
    }
    return changes;
}

static void put_limit(pz_output *output, double value, bool is_angle)
{
    pz_put(output, ",");
    if (value - value != 0.0) {
        return;
    }
    if (is_angle) {
        pz_put_degrees(output, value);
    } else {
        pz_put_number(output, value);
    }
}

// One row of a screw about x and one about z; joint -1: fixed.
static void put_row(const chain *c, int k, screw about_x, screw about_z)
{
    poise_joint joint = k < 0 ? poise_joint_default() : *poise_model_joint_info(c->model, k).given;
    bool is_angle = joint.type == POISE_JOINT_REVOLUTE;
    double numbers[4] = {about_x.a, about_x.alpha, about_z.d, about_z.theta};
    if (k >= 0 && put_name(c->output, joint.name)) {
        pz_output_warn(c->output, "joint \"%s\": a comma or line break in its name is replaced", joint.name);
    }
    pz_put(c->output, k < 0 ? ",fixed" : is_angle ? ",revolute" : ",prismatic");
    for (int i = 0; i < 4; ++i) {
        pz_put(c->output, ",");
        pz_put_number(c->output, numbers[i]);
    }
    put_limit(c->output, k < 0 ? -(double)INFINITY : joint.lower[0], is_angle);
    put_limit(c->output, k < 0 ? (double)INFINITY : joint.upper[0], is_angle);
    pz_put(c->output, "\n");
}

static bool has_z(screw s)
{
    return s.theta != 0.0 || s.d != 0.0;
}

static bool has_x(screw s)
{
    return s.a != 0.0 || s.alpha != 0.0;
}

static void put_head(const chain *c, poise_scale scale, bool is_modified)
{
    const char *unit = scale.metres > 0.0 ? pz_unit_name(scale.metres) : NULL;
    if (scale.metres > 0.0 && !unit) {
        pz_output_warn(c->output, "a unit of %g metres has no name and is left out", scale.metres);
    }
    const char *parts[] = {"# convention: ",
                           is_modified ? "modified" : "classic",
                           "\nname,type,a",
                           unit ? "_" : "",
                           unit ? unit : "",
                           ",alpha_deg,d",
                           unit ? "_" : "",
                           unit ? unit : "",
                           ",theta_deg,lower_deg,upper_deg\n"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i) {
        pz_put(c->output, parts[i]);
    }
}

static void put_table(const chain *c, poise_scale scale)
{
    const screw *s = c->screws;
    int n = c->count;
    int classic = (has_z(s[0]) || has_x(s[0])) + has_z(s[n + 1]);
    int modified = has_z(s[0]) + (has_x(s[n]) || has_z(s[n + 1]));
    bool is_modified = modified < classic;
    const screw none = {0, 0, 0, 0};
    put_head(c, scale, is_modified);
    if (has_z(s[0]) || (!is_modified && has_x(s[0]))) {
        put_row(c, -1, is_modified ? none : s[0], s[0]);
    }
    for (int i = 1; i <= n; ++i) {
        put_row(c, c->lines[i - 1].joint, s[is_modified ? i - 1 : i], s[i]);
    }
    if (has_z(s[n + 1]) || (is_modified && has_x(s[n]))) {
        put_row(c, -1, is_modified ? s[n] : none, s[n + 1]);
    }
    if ((is_modified ? modified : classic) > 0) {
        pz_output_warn(c->output, "base or tip do not match the convention; rows of type fixed make up the difference");
    }
}

static void warn_of_losses(const chain *c)
{
    bool has_mass = false, has_bodies = false;
    for (int k = 0; k < poise_model_info(c->model).joints; ++k) {
        poise_joint joint = *poise_model_joint_info(c->model, k).given;
        has_mass = has_mass || joint.mass > 0.0;
        has_bodies = has_bodies || strcmp(joint.name, joint.body) != 0;
    }
    if (c->tilt > 0.0) {
        pz_output_warn(c->output, "axes that are %g rad from parallel, as rounded angles make them, are written as parallel",
                       c->tilt);
    }
    if (c->left_out > 0) {
        pz_output_warn(c->output, "the tip is \"%s\"; %d other bod%s without joints of %s own %s left out",
                       poise_model_joint_info(c->model, c->last).body, c->left_out, c->left_out == 1 ? "y" : "ies",
                       c->left_out == 1 ? "its" : "their", c->left_out == 1 ? "is" : "are");
    }
    int tools = poise_model_info(c->model).tools - (c->tip_tool != POISE_NONE);
    if (tools > 0) {
        pz_output_warn(c->output, "%d tools other than the tip are left out", tools);
    }
    if (has_mass) {
        pz_output_warn(c->output, "a Denavit-Hartenberg table holds no masses");
    }
    if (has_bodies) {
        pz_output_warn(c->output, "bodies take the names of their joints, and their frames lie on the axes");
    }
}

poise_status pz_write_dh(const poise_file *file, pz_output *output)
{
    if (!file->model) {
        return pz_error_set(output->error, POISE_ERROR_ARGUMENT, "a Denavit-Hartenberg table holds a model; there is none");
    }
    size_t joints = (size_t)poise_model_info(file->model).joints;
    pz_pool pool = {.allocator = output->allocator};
    chain c = {.model = file->model, .output = output};
    c.lines = pz_pool_take(&pool, joints + 1, sizeof *c.lines);
    c.screws = pz_pool_take(&pool, joints + 2, sizeof *c.screws);
    if (!c.lines || !c.screws) {
        output->failed = true; // the caller reports it
        pz_pool_release(&pool);
        return POISE_OK;
    }
    poise_status status = gather(&c);
    if (status == POISE_OK) {
        find_screws(&c);
        put_table(&c, file->scale);
        warn_of_losses(&c);
    }
    pz_pool_release(&pool);
    return status;
}
