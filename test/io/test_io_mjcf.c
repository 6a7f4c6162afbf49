// MJCF: frames, chains of joints, default classes, includes, couplings, errors, hostile input.
#include "documents.h"
#include "support/io_check.h"

#include <math.h>

#define MJCF   POISE_FORMAT_MJCF
#define DEGREE 0.017453292519943295

// A model of what is within <worldbody>, which begins in line 2.
#define WORLD(inside)      "<mujoco>\n<worldbody>" inside "</worldbody></mujoco>"
#define BODY(inside)       WORLD("<body name='b'>" inside "</body>")
#define WITH(more, inside) "<mujoco>" more "\n<worldbody>" inside "</worldbody></mujoco>"

static poise_file *read_mjcf(const char *text)
{
    return io_read_text(text, MJCF, NULL);
}

// ---- What is read --------------------------------------------------------------------------------------------------------

TEST(every_kind_of_element_comes_over)
{
    poise_file *file = read_mjcf(document_mjcf);
    const poise_model *model = file->model;
    ck_assert_int_eq(file->warning_count, 1);
    io_check_warned(file, 13, "which it follows, within");
    ck_assert_str_eq(file->title, "all");
    ck_assert(file->scale.metres == 1.0 && file->scale.up == POISE_UP_Z);
    ck_assert_int_eq(poise_model_info(model).nq, 7 + 2 + 1 + 4);
    ck_assert_int_eq(poise_model_info(model).tools, 2);
    poise_joint torso = *poise_model_joint_info(model, poise_model_find_body(model, "torso")).given;
    ck_assert_str_eq(torso.name, "fly");
    ck_assert(torso.type == POISE_JOINT_FREE && torso.mass == 3 && torso.mass_center.z == 1);
    poise_joint a = *poise_model_joint_info(model, poise_model_find_joint(model, "a")).given;
    poise_joint b = *poise_model_joint_info(model, poise_model_find_joint(model, "b")).given;
    ck_assert(a.axis.y == 1 && a.lower[0] == -2 && a.upper[0] == 2); // of its class
    ck_assert(b.axis.x == 1 && b.lower[0] == -1 && b.upper[0] == 1);
    ck_assert_str_eq(b.parent, a.body);
    poise_joint slide = *poise_model_joint_info(model, poise_model_find_body(model, "arm")).given;
    ck_assert_str_eq(slide.name, "arm");
    ck_assert(slide.type == POISE_JOINT_PRISMATIC && slide.axis.y == 1 && slide.upper[0] == INFINITY);
    ck_assert_str_eq(poise_model_joint_info(model, poise_model_find_joint(model, "c")).body, "body");
    poise_joint d = *poise_model_joint_info(model, poise_model_find_joint(model, "d")).given;
    ck_assert_str_eq(d.mimic, "a"); // d - 0.5 = 0.25 + 2 a
    ck_assert(d.mimic_multiplier == 2 && d.mimic_offset == 0.75);
}

// The pose of body b with the pose that its element says.
static poise_pose said_pose(const char *compiler, const char *attributes)
{
    char text[512];
    snprintf(text, sizeof text, "<mujoco>%s<worldbody><body name='b' %s/></worldbody></mujoco>", compiler, attributes);
    poise_file *file = read_mjcf(text);
    poise_pose pose = io_pose(file->model, NULL, "b");
    return pose;
}

static poise_quat turn(double x, double y, double z, double angle)
{
    return poise_quat_from_axis_angle((poise_vec3){x, y, z}, angle);
}

TEST(orientations_mean_what_they_say)
{
    poise_quat x = turn(1, 0, 0, 10 * DEGREE), y = turn(0, 1, 0, 20 * DEGREE), z = turn(0, 0, 1, 30 * DEGREE);
    poise_quat intrinsic = poise_quat_multiply(poise_quat_multiply(x, y), z);
    poise_quat extrinsic = poise_quat_multiply(poise_quat_multiply(z, y), x);
    poise_quat mixed = poise_quat_multiply(y, poise_quat_multiply(x, z)); // z of the body, then Y of the parent
    const double third = 2.0943951023931957;
    const struct {
        const char *compiler, *attributes;
        poise_quat rotation;
    } rows[] = {
        {"", "", {0, 0, 0, 1}},
        {"", "quat='2 0 0 2'", turn(0, 0, 1, 90 * DEGREE)},
        {"", "axisangle='0 0 3 90'", turn(0, 0, 1, 90 * DEGREE)},
        {"<compiler angle='radian'/>", "axisangle='0 1 0 1.25'", turn(0, 1, 0, 1.25)},
        {"", "xyaxes='0 2 0 0 5 3'", turn(1, 1, 1, third)},
        {"", "zaxis='0 0 1'", {0, 0, 0, 1}},
        {"", "zaxis='0 0 -1'", {1, 0, 0, 0}},
        {"", "zaxis='3 0 0'", turn(0, 1, 0, 90 * DEGREE)},
        {"", "euler='10 20 30'", intrinsic},
        {"<compiler eulerseq='XYZ'/>", "euler='10 20 30'", extrinsic},
        {"<compiler eulerseq='zyx'/>", "euler='30 20 10'", extrinsic},
        {"<compiler eulerseq='xzY'/>", "euler='10 30 20'", mixed},
        {"<compiler angle='radian'/><compiler angle='degree'/>", "euler='10 0 0'", x},
    };
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        poise_pose pose = {rows[i].rotation, {0, 0, 0}};
        io_same_pose(rows[i].attributes, said_pose(rows[i].compiler, rows[i].attributes), pose, 1e-15);
    }
    ck_assert(said_pose("", "pos='1 2 -3'").position.z == -3);
}

TEST(a_hinge_turns_about_its_anchor)
{
    poise_file *file = read_mjcf(BODY("<joint name='j' axis='0 0 1' pos='1 0 0'/><site name='s' pos='2 0 0'/>"));
    double q = 90 * DEGREE;
    poise_pose body = {turn(0, 0, 1, q), {1, -1, 0}}, site = {turn(0, 0, 1, q), {1, 1, 0}};
    io_same_pose("body", io_pose(file->model, &q, "b"), body, 1e-15);
    io_same_pose("site", io_pose(file->model, &q, "s"), site, 1e-15);
}

TEST(joints_of_a_body_act_one_after_the_other_in_its_own_frame)
{
    poise_file *file = read_mjcf(WORLD("<body name='b' pos='0 0 5'><joint name='z' axis='0 0 1'/>"
                                       "<joint name='s' type='slide' axis='2 0 0' pos='7 7 7'/><joint name='x'"
                                       " axis='1 0 0' pos='0 1 0'/></body>"));
    double q[3] = {90 * DEGREE, 3, 90 * DEGREE};
    // turned to y, slid 3 along it; then a quarter about the line through (0, 1, 0): the origin goes to (0, 1, -1)
    poise_quat rotation = poise_quat_multiply(turn(0, 0, 1, q[0]), turn(1, 0, 0, q[2]));
    poise_pose pose = {rotation, {-1, 3, 4}};
    io_same_pose("b", io_pose(file->model, q, "b"), pose, 2e-15); // of numbers up to 5
    ck_assert_int_eq(poise_model_joint_info(file->model, poise_model_find_joint(file->model, "s")).q, 1);
}

TEST(q_is_measured_from_zero_and_not_from_the_reference)
{
    poise_file *file = read_mjcf(BODY("<joint name='h' ref='30' range='-10 70'/>"
                                      "<joint name='s' type='slide' axis='0 0 4' ref='2' range='-1 5'/>"));
    double at_reference[2] = {30 * DEGREE, 2}, q[2] = {90 * DEGREE, 5};
    poise_pose moved = {turn(0, 0, 1, 60 * DEGREE), {0, 0, 3}};
    io_same_pose("reference", io_pose(file->model, at_reference, "b"), poise_pose_identity(), 1e-15);
    io_same_pose("moved", io_pose(file->model, q, "b"), moved, 1e-15);
    ck_assert(poise_model_info(file->model).lower[0] == -10 * DEGREE &&
              poise_model_info(file->model).upper[0] == 70 * DEGREE);
    ck_assert(poise_model_info(file->model).lower[1] == -1 && poise_model_info(file->model).upper[1] == 5);
}

TEST(what_slides_needs_no_anchor)
{
    poise_file *file = read_mjcf(BODY("<joint name='s' type='slide' pos='1 2 3'/>"));
    ck_assert_int_eq(poise_model_info(file->model).joints, 1);
}

TEST(a_coupling_is_measured_from_the_references)
{
    poise_file *file = read_mjcf(WITH("<compiler angle='radian'/><equality><joint joint1='a' joint2='b' polycoef='3 4'/>"
                                      "</equality>",
                                      "<body><joint name='a' ref='0.5'/><joint name='b' ref='2'/></body>"));
    poise_joint a = *poise_model_joint_info(file->model, poise_model_find_joint(file->model, "a")).given;
    ck_assert_str_eq(a.mimic, "b"); // a - 0.5 = 3 + 4 (b - 2)
    ck_assert(a.mimic_multiplier == 4 && a.mimic_offset == -4.5);
}

TEST(a_coupling_by_a_polynomial_is_held)
{
    poise_file *file = read_mjcf(
        WITH("<compiler angle='radian'/><equality><joint joint1='a' joint2='b' polycoef='.1 .2 .3 -.4 .5'/></equality>",
             "<body name='arm'><joint name='a' ref='0.5' range='0 1'/></body><body><joint name='b' ref='2'/></body>"));
    double b = 1.25, x = b - 2, a = 0.5 + .1 + x * (.2 + x * (.3 + x * (-.4 + x * .5)));
    ck_assert_int_eq(poise_model_info(file->model).nq, 1);
    poise_pose turned = {{0, 0, sin((a - 0.5) / 2), cos((a - 0.5) / 2)}, {0, 0, 0}};
    io_same_pose("arm", io_pose(file->model, &b, "arm"), turned, 1e-15);
}

TEST(couplings_of_one_joint_to_several_are_turned_round)
{
    poise_file *file =
        read_mjcf(WITH("<compiler angle='radian'/><equality><joint joint1='a' joint2='b' polycoef='.5 2'/>"
                       "<joint joint1='a' joint2='c' polycoef='.25 4'/>"
                       "<joint joint1='d' joint2='a' polycoef='0 0 1'/></equality>",
                       "<body name='A'><joint name='a' ref='1'/></body><body name='B'><joint name='b'/></body>"
                       "<body name='C'><joint name='c' ref='3'/></body><body name='D'><joint name='d'/></body>"));
    double a = 0.7, turns[4] = {a - 1, (a - 1 - .5) / 2, (a - 1 - .25) / 4, (a - 1) * (a - 1)};
    ck_assert_int_eq(poise_model_info(file->model).nq, 1);
    for (int i = 0; i < 4; ++i) {
        char name[2] = {(char)('A' + i), '\0'};
        poise_pose turned = {{0, 0, sin(turns[i] / 2), cos(turns[i] / 2)}, {0, 0, 0}};
        io_same_pose(name, io_pose(file->model, &a, name), turned, 1e-15);
    }
}

TEST(a_weld_to_a_mocap_body_does_not_hold_the_hand_there)
{
    poise_file *file =
        read_mjcf(WITH("<equality><weld body1='handle' body2='hand'/><weld body1='hand' body2='b'/></equality>",
                       "<body name='handle' mocap='true'/><body name='hand'><joint/></body><body name='b'/>"));
    ck_assert_int_eq(file->loop_count, 1);
    ck_assert_int_eq(file->warning_count, 2);
    ck_assert(strstr(file->warnings[1].text, "<weld> to a mocap body is not kept") != NULL);
}

TEST(a_coupling_to_nothing_fixes_a_joint)
{
    poise_file *file = read_mjcf(WITH("<compiler angle='radian'/><equality><joint joint1='a' polycoef='0.25'/></equality>",
                                      "<body><joint name='a' ref='0.5' range='0 1'/></body>"));
    ck_assert(poise_model_info(file->model).lower[0] == 0.75 && poise_model_info(file->model).upper[0] == 0.75);
}

TEST(a_free_body_is_where_q_says)
{
    poise_file *file = read_mjcf(WORLD("<body name='b' pos='0 0 5' euler='90 0 0'><joint type='free'/></body>"));
    double q[7] = {1, 2, 3, 0, 0, 1, 0};
    poise_pose pose = {{0, 0, 1, 0}, {1, 2, 3}};
    io_same_pose("b", io_pose(file->model, q, "b"), pose, 0);
}

// What a body weighs and where its centre is: volume times density, or the mass that a geom says.
typedef struct weighed {
    const char *inside;
    double mass, z;
} weighed;

#define PI 3.14159265358979323846

static const weighed weighed_bodies[] = {
    {"<geom size='0.1'/>", 4000.0 / 3 * PI * 1e-3, 0},
    {"<geom type='box' size='0.1 0.2 0.3' pos='0 0 1'/>", 48, 1},
    {"<geom type='cylinder' size='0.1 0.5' density='10'/>", 0.1 * PI, 0},
    {"<geom type='capsule' size='0.1' fromto='0 0 0 0 0 2'/>", 1000 * PI *(0.02 + 4e-3 / 3), 1},
    {"<geom type='ellipsoid' size='0.1 0.2 0.3'/>", 8 * PI, 0},
    {"<geom size='9' mass='1'/><frame pos='0 0 4'><geom size='9' mass='3'/></frame>", 4, 3},
    {"<geom class='heavy' type='box' size='1 1 1' contype='0' conaffinity='0'/>", 160, 0},
    {"<frame pos='0 0 1'><inertial mass='2' pos='0 0 1'/></frame><geom size='9'/>", 2, 2},
};

TEST_ROWS(geoms_weigh_bodies_without_inertial, TEST_COUNT(weighed_bodies))
{
    const weighed *w = &weighed_bodies[test_row];
    char text[512];
    snprintf(text, sizeof text,
             "<mujoco><default><default class='heavy'><geom density='20'/></default></default>"
             "<worldbody><geom type='plane' size='1 1 1'/><body name='b'><joint/>%s</body></worldbody></mujoco>",
             w->inside);
    poise_file *file = read_mjcf(text);
    poise_joint joint = *poise_model_joint_info(file->model, poise_model_find_body(file->model, "b")).given;
    ck_assert_double_eq_tol(joint.mass, w->mass, 1e-12 * w->mass);
    ck_assert_double_eq_tol(joint.mass_center.z, w->z, 1e-12);
    ck_assert_int_eq(file->warning_count, 0);
}

TEST(frames_move_what_is_in_them)
{
    poise_file *file = read_mjcf(WORLD("<frame pos='1 0 0' euler='0 0 90'><frame pos='1 0 0'><body name='b' pos='1 0 0'>"
                                       "<frame pos='0 0 2' euler='90 0 0'><joint name='j' axis='0 0 1' pos='0 0 1'/>"
                                       "<site name='s' pos='0 1 0'/><inertial mass='1' pos='0 1 0'/></frame>"
                                       "<body name='c' pos='0 0 1'/></body></frame></frame>"));
    double q = 0, half = 180 * DEGREE;
    poise_pose b = {turn(0, 0, 1, 90 * DEGREE), {1, 2, 0}}, c = {b.rotation, {1, 2, 1}};
    io_same_pose("b", io_pose(file->model, &q, "b"), b, 1e-15);
    io_same_pose("c", io_pose(file->model, &q, "c"), c, 1e-15);
    poise_pose s = {poise_quat_multiply(b.rotation, turn(1, 0, 0, 90 * DEGREE)), {1, 2, 3}};
    io_same_pose("s", io_pose(file->model, &q, "s"), s, 1e-15);
    poise_joint joint = *poise_model_joint_info(file->model, poise_model_find_body(file->model, "b")).given;
    ck_assert_double_eq_tol(joint.mass_center.z, 3, 1e-15);
    // half a turn about -y of the body through (0, -1, 2) there
    poise_pose turned = {poise_quat_multiply(b.rotation, turn(0, -1, 0, half)), {1, 2, 4}};
    io_same_pose("turned", io_pose(file->model, &half, "b"), turned, 2e-15);
}

TEST(a_site_between_two_points_is_in_the_middle)
{
    poise_file *file = read_mjcf(BODY("<site name='s' fromto='0 0 0 -2 0 0'/>"));
    poise_pose pose = {turn(0, 1, 0, 90 * DEGREE), {-1, 0, 0}};
    io_same_pose("s", io_pose(file->model, NULL, "s"), pose, 1e-15);
}

// Is the joint j of this body limited?
static bool is_limited(const char *more, const char *joint, const char *warning)
{
    char text[512];
    snprintf(text, sizeof text, "<mujoco>%s\n<worldbody><body><joint name='j' %s/></body></worldbody></mujoco>", more,
             joint);
    poise_file *file = read_mjcf(text);
    bool limited = isfinite(poise_model_info(file->model).lower[0]);
    ck_assert_int_eq(file->warning_count, warning != NULL);
    if (warning) {
        io_check_warned(file, 2, warning);
    }
    return limited;
}

TEST(limits_are_in_force_when_the_file_says_so)
{
    const char *off = "<compiler autolimits='false'/>",
               *by_class = "<default><joint range='1 2' limited='false'/></default>";
    ck_assert(is_limited("", "range='1 2'", NULL));
    ck_assert(is_limited("", "range='1 2' limited='auto'", NULL));
    ck_assert(!is_limited("", "range='1 2' limited='false'", NULL));
    ck_assert(!is_limited("", "", NULL));
    ck_assert(!is_limited("", "limited='true'", "limited but has no range"));
    ck_assert(!is_limited(off, "range='1 2'", "autolimits is false"));
    ck_assert(is_limited(off, "range='1 2' limited='true'", NULL));
    ck_assert(!is_limited(by_class, "", NULL));
    ck_assert(is_limited(by_class, "limited='true'", NULL));
}

TEST(classes_inherit_and_the_nearest_one_counts)
{
    poise_file *file = read_mjcf(
        "<mujoco><default class='all'><default class='one'><default class='two'><joint axis='1 0 0'/></default>"
        "<joint ref='1'/></default><joint axis='0 1 0' type='slide'/></default><default class='main'>"
        "<joint pos='1 1 1'/></default>\n<worldbody><body childclass='two'><joint name='a'/><frame childclass='one'>"
        "<joint name='b'/><joint name='c' class='all'/></frame><body><joint name='d'/><joint name='e' class='main'/>"
        "</body></body></worldbody></mujoco>");
    const char *const names = "abcde";
    const double axis_x[] = {1, 0, 0, 1, 0}, ref[] = {1, 1, 0, 1, 0};
    double q[5] = {0};
    for (int i = 0; i < 5; ++i) {
        char name[2] = {names[i], '\0'};
        poise_joint joint = *poise_model_joint_info(file->model, poise_model_find_joint(file->model, name)).given;
        ck_assert_int_eq(joint.type, POISE_JOINT_PRISMATIC);
        ck_assert(joint.axis.x == axis_x[i]);
        q[i] = ref[i];
    }
    io_same_pose("at the references", io_pose(file->model, q, "body.2"), poise_pose_identity(), 0);
}

TEST(what_has_no_name_gets_one_of_its_own)
{
    poise_file *file = read_mjcf(WORLD("<body><joint/><joint/><body name='body'/><body name=''><joint/></body></body>"));
    for (int k = 0; k < poise_model_info(file->model).joints; ++k) {
        ck_assert_int_eq(poise_model_find_joint(file->model, poise_model_joint_info(file->model, k).name), k);
        ck_assert_int_eq(poise_model_find_body(file->model, poise_model_joint_info(file->model, k).body), k);
    }
    ck_assert_int_eq(poise_model_info(file->model).joints, 4);
    ck_assert_int_ge(poise_model_find_body(file->model, "body"), 0);
}

TEST(a_floating_root_is_free_if_the_options_say_so)
{
    poise_read_options options = io_options(MJCF, NULL);
    options.floating = true;
    poise_file *file = io_read_with(WORLD("<body name='b' pos='1 2 3'><body><joint/></body></body>"), &options);
    ck_assert_int_eq(poise_model_joint_info(file->model, 0).type, POISE_JOINT_FREE);
    double q[8];
    poise_model_neutral(file->model, q);
    poise_pose pose = {{0, 0, 0, 1}, {1, 2, 3}}; // it starts where the file has it
    io_same_pose("b", io_pose(file->model, q, "b"), pose, 0);
    file = io_read_with(BODY("<joint/>"), &options);
    io_check_warned(file, 2, "no body is made to float");
}

// ---- Includes ------------------------------------------------------------------------------------------------------------

// Names and texts, ended by NULL.
static poise_status load_from(void *user, const char *name, const void **bytes, size_t *size)
{
    for (const char *const *entry = user; *entry; entry += 2) {
        if (strcmp(entry[0], name) == 0) {
            *bytes = entry[1];
            *size = strlen(entry[1]);
            return POISE_OK;
        }
    }
    return POISE_ERROR_NOT_FOUND;
}

static const char *const includes[] = {
    "defaults.xml",
    "<mujocoinclude><compiler angle='radian'/><default><joint range='-1 1'/></default></mujocoinclude>",
    "arm.xml",
    "<mujoco>\n<include file='hand.xml'/>\n<body name='arm'><joint/></body>\n</mujoco>",
    "hand.xml",
    "<mujocoinclude><body name='hand'><joint/></body></mujocoinclude>",
    "empty.xml",
    "<mujocoinclude/>",
    "parts/body.xml",
    "<mujocoinclude><include file='leg.xml'/><include file='hand.xml'/><include "
    "file='a_tail_with_a_long_name.xml'/></mujocoinclude>",
    "parts/a_tail_with_a_long_name.xml",
    "<mujocoinclude><body name='tail'><joint/></body></mujocoinclude>",
    "parts/leg.xml",
    "<mujocoinclude><body name='leg'><joint/></body></mujocoinclude>",
    "leg.xml",
    "<mujocoinclude><body name='another'/></mujocoinclude>",
    "again.xml",
    "<mujocoinclude>\n<include file='again.xml'/></mujocoinclude>",
    "broken.xml",
    "<mujocoinclude>\n<body></mujocoinclude>",
    "robot.xml",
    "\n<robot/>",
    "bad.xml",
    "<mujocoinclude>\n\n<body pos='x'/></mujocoinclude>",
    NULL};

TEST(includes_take_the_place_of_their_element)
{
    poise_read_options options = io_options(MJCF, NULL);
    options.load = load_from;
    options.user = (void *)(uintptr_t)includes;
    poise_file *file =
        io_read_with("<mujoco><include file='defaults.xml'/><worldbody><body name='b'><include file='arm.xml'/></body>"
                     "<include file='empty.xml'/></worldbody></mujoco>",
                     &options);
    ck_assert_int_eq(file->warning_count, 0);
    ck_assert_int_eq(poise_model_info(file->model).joints, 3);
    ck_assert_str_eq(poise_model_joint_info(file->model, 1).body, "hand");
    ck_assert_str_eq(poise_model_joint_info(file->model, 2).body, "arm");
    ck_assert(poise_model_info(file->model).upper[0] == 1);
    file = io_read_with("<mujoco><worldbody><include file='parts/body.xml'/></worldbody></mujoco>", &options);
    ck_assert_str_eq(poise_model_joint_info(file->model, 0).body, "leg");  // beside the file that names it
    ck_assert_str_eq(poise_model_joint_info(file->model, 1).body, "hand"); // else beside the first
    ck_assert_str_eq(poise_model_joint_info(file->model, 2).body, "tail");
    file = read_mjcf("<mujoco>\n<include file='x'/><worldbody><body/></worldbody></mujoco>");
    io_check_warned(file, 2, "\"x\" is not included: set options.load");
}

TEST(errors_within_includes_name_the_file)
{
    const struct {
        const char *file;
        poise_status status;
        int line;
        const char *words;
    } rows[] = {
        {"nowhere.xml", POISE_ERROR_NOT_FOUND, 2, "\"nowhere.xml\" cannot be loaded: its path begins"},
        {"again.xml", POISE_ERROR_FORMAT, 0, "again.xml, line 2: \"again.xml\" is included twice"},
        {"broken.xml", POISE_ERROR_FORMAT, 0, "broken.xml, line 2: XML: mismatched tag"},
        {"robot.xml", POISE_ERROR_FORMAT, 0, "robot.xml, line 2: this is <robot>, not <mujocoinclude>"},
        {"bad.xml", POISE_ERROR_FORMAT, 0, "bad.xml, line 3: pos of <body> must be 3 finite numbers"},
    };
    poise_read_options options = io_options(MJCF, NULL);
    options.load = load_from;
    options.user = (void *)(uintptr_t)includes;
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        char text[256];
        snprintf(text, sizeof text, WORLD("<include file='%s'/>"), rows[i].file);
        poise_file *file = NULL;
        poise_error error = {.text = ""};
        ck_assert_int_eq(poise_read(text, strlen(text), &options, NULL, &file, &error), rows[i].status);
        ck_assert_msg(strstr(error.text, rows[i].words) != NULL, "%s", error.text);
        ck_assert_int_eq(error.line, rows[i].line);
    }
}

// ---- Warnings and errors -------------------------------------------------------------------------------------------------

#define EQUALITY(inside) WITH("<equality>" inside "</equality>", "<body><joint name='a'/><joint name='b' ref='1'/></body>")

#define COUPLED(inside)                                                                                                     \
    WITH("<equality>" inside "</equality>", "<body><joint name='a'/><joint name='b'/><joint name='c'/></body>")

static const io_case odd[] = {
    {BODY("\n<hook/>"), 3, "<hook> in <body> is unknown"},
    {WITH("\n<hook/>", "<body/>"), 2, "<hook> in <mujoco> is unknown"},
    {BODY("\n<composite/>"), 3, "<composite> is not read; the bodies it creates are missing"},
    {BODY("\n<replicate count='3'><body/></replicate>"), 3, "the contents of <replicate> are read once"},
    {WORLD("\n<body mocap='true'/>"), 3, "a mocap body is fixed"},
    {WORLD("\n<site name='s'/><body/>"), 3, "site \"s\" is on the world"},
    {BODY("\n<joint type='ball' range='0 1'/>"), 3, "the range of a ball joint"},
    {WORLD("\n<body><geom mesh='m'/></body>"), 3, "has no mass"},
    {WORLD("\n<body><geom size='1'/><geom mesh='m'/></body>"), 3, "is weighed without the volumes of its meshes"},
    {WORLD("\n<body><geom size='1'/><geom mesh='m' density='0'/></body>"), 0, NULL},
    {WORLD("\n<body><geom mesh='m' mass='2'/></body>"), 3, "is weighed without the volumes of its meshes"},
    {EQUALITY("<tendon/>"), 1, "<tendon> of <equality> is not supported"},
    {EQUALITY("<joint joint1='a' polycoef='0.2'/>"), 0, NULL},
    {EQUALITY("<joint joint1='a' joint2='a'/>"), 1, "this coupling is not supported"},
    {EQUALITY("<joint joint1='a' joint2='b' polycoef='0 1 1'/>"), 0, NULL},
    {COUPLED("<joint joint1='a' joint2='b' polycoef='0 1 1'/>\n<joint joint1='c' joint2='a'/>"), 2, "this coupling is not"},
    {COUPLED("<joint joint1='a' joint2='b' polycoef='0 1 1'/>\n<joint joint1='b' joint2='c' polycoef='1 0'/>"), 2,
     "this coupling is not supported"},
    {COUPLED("<joint joint1='a' joint2='b'/>\n<joint joint1='b' joint2='a'/>"), 2, "this coupling is not supported"},
    {COUPLED("<joint joint1='a' joint2='b' polycoef='0 1 1'/>\n<joint joint1='a'/>"), 2, "this coupling is not supported"},
    {EQUALITY("<joint joint1='a' joint2='b'/><joint joint1='a' joint2='b'/>"), 1, "this coupling is not"},
    {EQUALITY("<joint joint1='a' joint2='b' active='false'/>"), 0, NULL},
    {EQUALITY("<joint joint1='a' joint2='b' polycoef='1'/>"), 0, NULL},
    {BODY("<geom/><camera/><light/><inertial mass='1'/><site/>"), 0, NULL},
};

TEST_ROWS(what_is_odd_is_read_with_one_warning_that_names_its_line, TEST_COUNT(odd))
{
    poise_file *file = io_case_warned(&odd[test_row], MJCF, NULL);
    ck_assert_int_eq(file->warning_count, odd[test_row].words != NULL);
}

static const io_refusal bad[] = {
    {{"<robot/>", 1, "this is <robot>, not <mujoco>"}, POISE_ERROR_FORMAT},
    {{"<mujoco/>", 1, "needs at least one <body>: if this file is a part of others, open one"}, POISE_ERROR_MODEL},
    {{"<mujocoinclude/>", 1, "this is <mujocoinclude>, not <mujoco>: a part of other files; open one"}, POISE_ERROR_FORMAT},
    {{"<mujoco>\n<include/></mujoco>", 2, "<include> names no file"}, POISE_ERROR_FORMAT},
    {{"<mujoco>\n<compiler angle='grad'/></mujoco>", 2, "angle of <compiler> must be degree or radian"}, POISE_ERROR_FORMAT},
    {{"<mujoco>\n<compiler coordinate='global'/></mujoco>", 2, "coordinate of <compiler> must be local"},
     POISE_ERROR_FORMAT},
    {{"<mujoco>\n<compiler eulerseq='xyw'/></mujoco>", 2, "eulerseq of <compiler> must be three"}, POISE_ERROR_FORMAT},
    {{"<mujoco>\n<compiler eulerseq='xyzx'/></mujoco>", 2, "eulerseq of <compiler> must be three"}, POISE_ERROR_FORMAT},
    {{"<mujoco>\n<compiler autolimits='1'/></mujoco>", 2, "autolimits of <compiler> must be true or"}, POISE_ERROR_FORMAT},
    {{"<mujoco><default>\n<default/></default></mujoco>", 2, "<default> in <default> needs a name"}, POISE_ERROR_FORMAT},
    {{"<mujoco><default><default class='x'/>\n<default class='x'/></default></mujoco>", 2,
      "there is already a default class \"x\""},
     POISE_ERROR_FORMAT},
    {{"<mujoco><default><default class='x'/></default>\n<default class='x'/></mujoco>", 2,
      "there is already a default class \"x\""},
     POISE_ERROR_FORMAT},
    {{BODY("\n<joint class='x'/>"), 3, "there is no default class \"x\" for <joint>"}, POISE_ERROR_FORMAT},
    {{BODY("\n<site name='s' class='x'/>"), 3, "there is no default class \"x\" for <site>"}, POISE_ERROR_FORMAT},
    {{BODY("\n<body childclass='x'/>"), 3, "there is no default class \"x\" for <body>"}, POISE_ERROR_FORMAT},
    {{WORLD("<body name='b'/>\n<body name='b'/>"), 3, "there is already a body \"b\""}, POISE_ERROR_MODEL},
    {{BODY("<joint name='j'/>\n<joint name='j'/>"), 3, "there is already a joint \"j\""}, POISE_ERROR_MODEL},
    {{BODY("<site name='j'/>\n<site name='j'/>"), 3, "there is already a site \"j\""}, POISE_ERROR_MODEL},
    {{WORLD("\n<joint/>"), 3, "the world cannot have joints"}, POISE_ERROR_MODEL},
    {{BODY("\n<joint type='screw'/>"), 3, "type of <joint> must be hinge"}, POISE_ERROR_FORMAT},
    {{BODY("\n<joint axis='0 0'/>"), 3, "axis of <joint> must be 3 finite numbers"}, POISE_ERROR_FORMAT},
    {{BODY("\n<joint axis='0 0 0'/>"), 3, "axis is zero"}, POISE_ERROR_MODEL},
    {{BODY("\n<joint limited='yes'/>"), 3, "limited of <joint> must be true, false or auto"}, POISE_ERROR_FORMAT},
    {{BODY("\n<joint range='1'/>"), 3, "range of <joint> must be 2 finite numbers"}, POISE_ERROR_FORMAT},
    {{BODY("\n<joint name='j' range='2 1' type='slide'/>"), 3, "lower limit 2 is above upper limit 1: exchange them"},
     POISE_ERROR_MODEL},
    {{BODY("<body>\n<freejoint/></body>"), 3, "a free joint must be its only joint"}, POISE_ERROR_MODEL},
    {{BODY("<joint/>\n<freejoint/>"), 3, "a free joint must be its only joint"}, POISE_ERROR_MODEL},
    {{BODY("\n<inertial pos='x'/>"), 3, "pos of <inertial>"}, POISE_ERROR_FORMAT},
    {{BODY("\n<inertial mass='x'/>"), 3, "mass of <inertial>"}, POISE_ERROR_FORMAT},
    {{BODY("<inertial mass='-1'/>"), 2, "mass must be finite and not negative"}, POISE_ERROR_MODEL},
    {{WORLD("\n<body quat='0 0 0 0'/>"), 3, "quat of <body> is not an orientation"}, POISE_ERROR_FORMAT},
    {{WORLD("\n<body axisangle='0 0 0 1'/>"), 3, "axisangle of <body> is not an orientation"}, POISE_ERROR_FORMAT},
    {{WORLD("\n<body xyaxes='1 0 0 2 0 0'/>"), 3, "xyaxes of <body> is not an orientation"}, POISE_ERROR_FORMAT},
    {{WORLD("\n<body xyaxes='0 0 0 2 0 0'/>"), 3, "xyaxes of <body> is not an orientation"}, POISE_ERROR_FORMAT},
    {{WORLD("\n<body zaxis='0 0 0'/>"), 3, "zaxis of <body> is not an orientation"}, POISE_ERROR_FORMAT},
    {{WORLD("\n<body euler='0 0 0' quat='1 0 0 0'/>"), 3, "two orientations, quat and euler"}, POISE_ERROR_FORMAT},
    {{WORLD("\n<body euler='0 0'/>"), 3, "euler of <body> must be 3 finite numbers"}, POISE_ERROR_FORMAT},
    {{BODY("\n<site name='s' fromto='0 0 0'/>"), 3, "fromto of <site> must be 6 finite numbers"}, POISE_ERROR_FORMAT},
    {{EQUALITY("<joint joint1='x' joint2='b'/>"), 1, "joint1: there is no joint \"x\" to couple"}, POISE_ERROR_MODEL},
    {{EQUALITY("<joint joint1='a' joint2='x'/>"), 1, "joint2: there is no joint \"x\" to couple"}, POISE_ERROR_MODEL},
    {{EQUALITY("<joint joint1='a' joint2='b' polycoef='x'/>"), 1, "polycoef of <joint> must be up to 5"},
     POISE_ERROR_FORMAT},
};

TEST_ROWS(each_error_names_its_line_and_the_fix, TEST_COUNT(bad))
{
    io_refusal_holds(&bad[test_row], MJCF);
}

// ---- Real files ----------------------------------------------------------------------------------------------------------

static int count_type(const poise_model *model, poise_joint_type type)
{
    int count = 0;
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        count += poise_model_joint_info(model, k).type == type;
    }
    return count;
}

// Every body of the file is in the model. Those between the joints of one are called after their joints.
static void check_file(const char *path, const char *title, int bodies, int hinges, int sites, int warnings)
{
    char *text = (char *)io_load(path).bytes;
    poise_file *file = read_mjcf(text);
    ck_assert_str_eq(file->title, title);
    ck_assert_int_eq(count_type(file->model, POISE_JOINT_REVOLUTE), hinges);
    ck_assert_int_eq(count_type(file->model, POISE_JOINT_FREE), 1);
    ck_assert_int_eq(poise_model_info(file->model).nv, hinges + 6);
    ck_assert_int_eq(poise_model_info(file->model).tools, sites);
    ck_assert_int_eq(file->warning_count, warnings);
    int found = 0;
    for (const char *at = strstr(text, "<body name=\""); at; at = strstr(at + 1, "<body name=\"")) {
        char name[64];
        ck_assert_int_eq(sscanf(at, "<body name=\"%63[^\"]", name), 1);
        ck_assert_msg(poise_model_find_body(file->model, name) >= 0, "no body %s", name);
        ++found;
    }
    ck_assert_int_eq(found, bodies);
}

// MuJoCo weighs its humanoid, all of capsules and spheres, at 40.844 kg.
TEST_DATA(geoms_weigh_a_real_figure, "mjcf/humanoid.xml")
{
    poise_file *file = read_mjcf((char *)io_load("mjcf/humanoid.xml").bytes);
    double mass = 0;
    for (int k = 0; k < poise_model_info(file->model).joints; ++k) {
        mass += poise_model_joint_info(file->model, k).given->mass;
    }
    ck_assert_double_eq_tol(mass, 40.844, 5e-4);
}

TEST_DATA(facts_of_real_files_hold, "mjcf")
{
    check_file("mjcf/humanoid.xml", "Humanoid", 16, 21, 0, 0);
    check_file("mjcf/humanoid_CMU.xml", "humanoid_CMU", 31, 56, 5, 3);
}
