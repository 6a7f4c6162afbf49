// URDF: facts of real files, dialects, errors, hostile input.
#include "documents.h"
#include "model/model.h"
#include "support/io_check.h"
#include "support/urdf_facts.h"

#include <math.h>

#define URDF POISE_FORMAT_URDF

// A robot of two links, with `joint` inside the joint between them; line 4.
#define TWO(type, inside)                                                                                                   \
    "<robot name='r'>\n<link name='a'/>\n<link name='b'/>\n<joint name='j' type='" type                                     \
    "'><parent link='a'/><child link='b'/>" inside "</joint>\n</robot>\n"

static poise_file *read_urdf(const char *text)
{
    return io_read_text(text, URDF, NULL);
}

// ---- What is read --------------------------------------------------------------------------------------------------------

TEST(every_kind_of_joint_comes_over_as_written)
{
    poise_file *file = read_urdf(document_urdf);
    const poise_model *model = file->model;
    ck_assert_int_eq(file->warning_count, 1);
    io_check_warned(file, 9, "which it follows, within");
    ck_assert_str_eq(file->title, "all");
    ck_assert(file->scale.metres == 1.0 && file->scale.up == POISE_UP_Z);
    ck_assert_int_eq(poise_model_info(model).joints, 7);
    ck_assert_str_eq(poise_model_joint_info(model, 0).body, "base");
    ck_assert_str_eq(poise_model_joint_info(model, 0).name, "root");
    poise_joint base = *poise_model_joint_info(model, 0).given;
    ck_assert(base.mass == 2.5 && base.mass_center.x == 1 && base.mass_center.y == 2 && base.mass_center.z == 3);
    poise_joint turn = *poise_model_joint_info(model, poise_model_find_joint(model, "turn")).given;
    ck_assert_str_eq(turn.body, "a");
    ck_assert(turn.lower[0] == -1.5 && turn.upper[0] == 2 && turn.offset.position.y == 0.2);
    poise_quat rotation = poise_quat_from_roll_pitch_yaw(0.4, 0.5, 0.6);
    ck_assert_mem_eq(&turn.offset.rotation, &rotation, sizeof rotation);
    ck_assert_double_eq_tol(turn.axis.y, 0.6, 1e-15); // the axis is made unit
    poise_joint roll = *poise_model_joint_info(model, poise_model_find_joint(model, "roll")).given;
    ck_assert(roll.type == POISE_JOINT_REVOLUTE && roll.axis.x == 1 && roll.upper[0] == INFINITY);
    ck_assert_int_eq(poise_model_joint_info(model, poise_model_find_joint(model, "fly")).type, POISE_JOINT_FREE);
    ck_assert_int_eq(poise_model_joint_info(model, poise_model_find_joint(model, "glide")).type, POISE_JOINT_PLANAR);
}

TEST(a_mimic_of_a_mimic_follows_the_joint_at_the_end)
{
    poise_file *file = read_urdf(document_urdf);
    const poise_model *model = file->model;
    int roll = poise_model_find_joint(model, "roll"), slide = poise_model_find_joint(model, "slide");
    ck_assert_int_eq(poise_model_joint_info(model, slide).mimic, roll);
    poise_joint joint = *poise_model_joint_info(model, slide).given; // 2 (3 q + 1) + 0.25
    ck_assert(joint.mimic_multiplier == 6 && joint.mimic_offset == 2.25);
    ck_assert(joint.lower[0] == 0 && joint.upper[0] == 0.5); // one limit alone: the other is 0
}

TEST(a_planar_joint_moves_across_its_axis_and_turns_about_it)
{
    const char *const axes[] = {"0 -2 0", "1 0 0", "0 0 -1", "0 0 3", "1 2 -3", "1e-9 0 -1", "0 1e-200 -1"};
    for (size_t i = 0; i < TEST_COUNT(axes); ++i) {
        char text[512];
        snprintf(text, sizeof text, TWO("planar", "<axis xyz='%s'/>"), axes[i]);
        poise_file *file = read_urdf(text);
        double q[3] = {0.3, -0.2, 0}, turned[3] = {0, 0, 0.5};
        poise_vec3 n;
        ck_assert_int_eq(sscanf(axes[i], "%lf %lf %lf", &n.x, &n.y, &n.z), 3);
        double length = sqrt(n.x * n.x + n.y * n.y + n.z * n.z);
        poise_vec3 p = io_pose(file->model, q, "b").position;
        ck_assert_double_eq_tol((p.x * n.x + p.y * n.y + p.z * n.z) / length, 0, 1e-15); // a few roundings of 0.3
        ck_assert_double_eq_tol(p.x * p.x + p.y * p.y + p.z * p.z, 0.13, 1e-15);
        poise_pose same = {poise_quat_from_axis_angle(n, 0.5), {0, 0, 0}};
        io_same_pose(axes[i], io_pose(file->model, turned, "b"), same, 1e-15);
    }
}

TEST(a_floating_root_is_free_if_the_options_say_so)
{
    poise_read_options options = io_options(URDF, NULL);
    options.floating = true;
    poise_file *file = io_read_with(TWO("fixed", ""), &options);
    ck_assert_int_eq(poise_model_joint_info(file->model, 0).type, POISE_JOINT_FREE);
    ck_assert_int_eq(poise_model_info(file->model).nq, 7);
    file = io_read_with("<robot name='r'><link name='a'/><joint name='j' type='fixed'><parent link='world'/>"
                        "<child link='a'/></joint></robot>",
                        &options);
    ck_assert_int_eq(poise_model_info(file->model).nq, 0);
    io_check_warned(file, 1, "is not made to float");
}

TEST(the_name_of_the_root_joint_is_new)
{
    poise_file *file = read_urdf("<robot><link name='root'/><link name='b'/><joint name='root' type='fixed'>"
                                 "<parent link='root'/><child link='b'/></joint></robot>");
    ck_assert_ptr_null(file->title);
    ck_assert_str_eq(poise_model_joint_info(file->model, 0).name, "root.2");
    ck_assert_str_eq(poise_model_joint_info(file->model, 0).body, "root");
}

TEST(frames_become_tools)
{
    poise_file *file = read_urdf("<robot><link name='a'/>\n<frame name='tip' link='a' xyz='1 2 3' rpy='0 0 1'/>\n"
                                 "<frame name='tip' link='a'/>\n<frame name='x' link='nowhere'/></robot>");
    ck_assert_int_eq(poise_model_info(file->model).tools, 1);
    poise_pose pose = poise_model_tool_info(file->model, 0).pose;
    ck_assert(pose.position.x == 1 && pose.position.z == 3);
    ck_assert_double_eq_tol(poise_quat_angle(pose.rotation), 1, 1e-15);
    io_check_warned(file, 3, "<frame> needs a unique name");
    io_check_warned(file, 4, "<frame> needs a unique name");
}

// ---- Warnings ------------------------------------------------------------------------------------------------------------

static const io_case odd[] = {
    {TWO("revolute", ""), 4, "joint \"j\" has no limits and is left free"},
    {TWO("prismatic", "<limit lower=\"0\" upper=\"0\" effort=\"0\" velocity=\"0\"/>"), 4,
     "joint \"j\" cannot move: its limits are 0 and 0, which exporters write if none are given"},
    {TWO("revolute", "<limit effort='1'/>"), 4, "joint \"j\" has no limits"},
    {TWO("revolute", "<limit lower='0' upper='1' velocity='0'/>"), 4, "joint \"j\": a velocity of 0 is taken as no limit"},
    {TWO("continuous", "<limit lower='0' upper='0'/>"), 4, "limits of a continuous joint are not used"},
    {TWO("ball", ""), 4, "type \"ball\" is not in the URDF standard"},
    {TWO("spherical", ""), 4, "read as a ball joint"},
    {TWO("fixed", "<mimic joint='j'/>"), 4, "a joint of this type cannot mimic"},
    {TWO("revolute", "\n<mimic joint='x'/>"), 5, "there is no joint \"x\" to mimic; it moves independently"},
    {TWO("revolute", "\n<mimic joint='root'/>"), 5, "there is no joint \"root\" to mimic"},
    {TWO("revolute", "\n<mimic/>"), 5, "there is no joint \"(none)\" to mimic"},
    {TWO("fixed", "<hook/>"), 4, "<hook> in <joint> is unknown"},
    {TWO("fixed", "<drake:rotor/>"), 4, "<drake:rotor> in <joint> is an extension"},
    {"<robot><link name='a'>\n<inertial/></link></robot>", 2, "<inertial> has no <mass>"},
    {"<robot><link name='a'>\n<hook/></link></robot>", 2, "<hook> in <link> is unknown"},
    {"<robot>\n<hook/><link name='a'/></robot>", 2, "<hook> in <robot> is unknown"},
    {"<robot>\n<xacro:thing/><link name='a'/></robot>", 2, "<xacro:thing> in <robot> is an extension"},
    {"<?xml verison='1.0'?>\n<robot><link name='a'/></robot>", 1, "the XML declaration is malformed"},
    {"\n \n<?xml verison='1.0'?><robot><link name='a'/></robot>", 3, "the XML declaration is malformed"},
    {"<!-- made by hand -->\n<?xml version='1.0'?>\n<robot><link name='a'/></robot>", 2,
     "the XML declaration is not at the start"},
    {"<?xml verison='1.0'\n?>\n<robot><link name='a'/>\n<frame/></robot>", 4, "<frame> needs a unique name"},
    {"<!DOCTYPE robot SYSTEM 'x.dtd'>\n<robot><link name='a'/></robot>", 1, "is not read"},
    {TWO("revolute", "<limit lower='0' upper='1'/>") "", 0, NULL},
    {"\n\n<?xml version='1.0'?><!DOCTYPE robot><robot><link name='a'/></robot>", 0, NULL},
};

TEST_ROWS(what_is_odd_is_read_with_a_warning_that_names_its_line, TEST_COUNT(odd))
{
    io_case_warned(&odd[test_row], URDF, NULL);
}

static const struct {
    int count, warnings;
    const char *last;
} repeated[] = {{3, 3, ""}, {4, 4, "and 1 more of these: unknown elements"}, {10, 4, "and 7 more unknown elements"}};

TEST_ROWS(the_same_warning_comes_three_times_and_is_then_counted, TEST_COUNT(repeated))
{
    io_text text = {0};
    io_put(&text, "<robot><link name='a'/>");
    for (int i = 0; i < repeated[test_row].count; ++i) {
        io_put(&text, "\n<hook/>");
    }
    io_put(&text, "</robot>");
    poise_file *file = read_urdf(text.text);
    ck_assert_int_eq(file->warning_count, repeated[test_row].warnings);
    io_check_warned(file, 4, "<hook>");
    ck_assert(io_warned(file, 0, repeated[test_row].last));
    free(text.text);
}

// The robot of a leader from 0 to 1 and a follower with these limits, which goes the other way.
#define FOLLOWER(lower, upper, offset)                                                                                      \
    "<robot><link name='a'/><link name='b'/><link name='c'/>\n<joint name='lead' type='revolute'><parent link='a'/>"        \
    "<child link='b'/><limit lower='0' upper='1'/></joint>\n<joint name='follow' type='revolute'><parent link='a'/>"        \
    "<child link='c'/><limit lower='" lower "' upper='" upper "'/><mimic joint='lead' multiplier='-1' offset='" offset      \
    "'/></joint></robot>"

TEST(limits_that_would_lock_a_leader_are_dropped_with_a_warning)
{
    // no value, 0 alone, and no value for another offset
    static const char *const robots[] = {FOLLOWER("5", "6", "0"), FOLLOWER("0", "1", "0"), FOLLOWER("-0.75", "-0.5", "1")};
    poise_file *file;
    for (int i = 0; i < 3; ++i) {
        file = read_urdf(robots[i]);
        io_check_warned(file, 3, "its limits would lock \"lead\"");
        ck_assert(poise_model_info(file->model).lower[0] == 0 && poise_model_info(file->model).upper[0] == 1);
    }
}

// Both limits hold, and what that takes from the leader is said; what digits take is not.
TEST(limits_of_a_follower_narrow_those_of_its_leader_with_a_warning)
{
    poise_file *file = read_urdf(FOLLOWER("-0.75", "-0.25", "0"));
    io_check_warned(file, 3,
                    "joint \"follow\": its limits hold \"lead\", which it follows, within 14.3239 .. 42.9718 degrees "
                    "instead of 0 .. 57.2958");
    ck_assert(poise_model_info(file->model).lower[0] == 0.25 && poise_model_info(file->model).upper[0] == 0.75);
    file = read_urdf(FOLLOWER("-0.75", "-0.25", "0.125"));
    ck_assert(poise_model_info(file->model).lower[0] == 0.375 && poise_model_info(file->model).upper[0] == 0.875);
    file = read_urdf(FOLLOWER("-0.995", "0", "0"));
    ck_assert_int_eq(file->warning_count, 0);
    ck_assert_double_eq(poise_model_info(file->model).upper[0], 0.995);
}

TEST(limits_of_followers_are_ignored_where_that_is_asked_for)
{
    static const char *const robots[] = {FOLLOWER("-0.75", "-0.25", "0"), FOLLOWER("5", "6", "0"), FOLLOWER("-9", "9", "1")};
    poise_read_options options = {.format = URDF, .ignore_follower_limits = true};
    for (int i = 0; i < 3; ++i) {
        poise_file *file = io_read_with(robots[i], &options);
        ck_assert_int_eq(file->warning_count, 0);
        ck_assert(poise_model_info(file->model).lower[0] == 0 && poise_model_info(file->model).upper[0] == 1);
    }
}

// ---- Errors --------------------------------------------------------------------------------------------------------------

#define LINKS "<robot>\n<link name='a'/><link name='b'/><link name='c'/>\n"
#define JOINT(name, parent, child, inside)                                                                                  \
    "<joint name='" name "' type='revolute'><parent link='" parent "'/><child link='" child "'/>" inside "</joint>\n"

static const io_refusal bad[] = {
    {{"", 1, "XML: no element found"}, POISE_ERROR_FORMAT},
    {{"hello", 1, "XML: syntax error"}, POISE_ERROR_FORMAT},
    {{"<robot>\n<link name='a'>\n</robot>", 3, "mismatched tag: <link> of line 2 is not closed"}, POISE_ERROR_FORMAT},
    {{"<robot>\n<link name='a'>\n", 3, "<link> of line 2 is not closed"}, POISE_ERROR_FORMAT},
    {{"<?xml verison", 1, "XML declaration does not end"}, POISE_ERROR_FORMAT},
    {{"<?xml verison='1.0'?><?xml verison='1.0'?><robot/>", 1, "two XML declarations"}, POISE_ERROR_FORMAT},
    {{"<!DOCTYPE r [\n<!ENTITY a 'b'>]><robot><link name='&a;'/></robot>", 1, "declarations in <!DOCTYPE>"},
     POISE_ERROR_FORMAT},
    {{"<robot>&x;</robot>", 1, "XML: undefined entity"}, POISE_ERROR_FORMAT},
    {{"\n<mujoco/>", 2, "this is <mujoco>, not <robot>"}, POISE_ERROR_FORMAT},
    {{"<robot name='x'/>", 1, "the robot needs at least one <link>: if this file is a part of others, open"},
     POISE_ERROR_FORMAT},
    {{"<robot>\n<xacro:include filename='x'/></robot>", 2, "run xacro on it first"}, POISE_ERROR_FORMAT},
    {{"<robot>\n<link/></robot>", 2, "<link> has no name"}, POISE_ERROR_FORMAT},
    {{"<robot>\n<link name=''/></robot>", 2, "<link> has no name"}, POISE_ERROR_FORMAT},
    {{"<robot>\n<link name='a'/>\n<link name='a'/></robot>", 3, "already a link \"a\" in line 2"}, POISE_ERROR_MODEL},
    {{LINKS "<joint type='fixed'/></robot>", 3, "<joint> has no name"}, POISE_ERROR_FORMAT},
    {{LINKS JOINT("j", "a", "b", "") JOINT("j", "a", "c", "") "</robot>", 4, "already a joint \"j\" in line 3"},
     POISE_ERROR_MODEL},
    {{LINKS "<joint name='j' type='fixed'/></robot>", 3, "joint \"j\" has no parent"}, POISE_ERROR_FORMAT},
    {{LINKS "<joint name='j'><parent link='a'/>\n<child/></joint></robot>", 4, "has no child"}, POISE_ERROR_FORMAT},
    {{LINKS JOINT("j", "x", "b", "") "</robot>", 3, "there is no link \"x\" to be its parent"}, POISE_ERROR_MODEL},
    {{LINKS JOINT("j", "a", "world", "") "</robot>", 3, "there is no link \"world\" to be its child"}, POISE_ERROR_MODEL},
    {{LINKS JOINT("j", "a", "b", "") JOINT("k", "c", "b", "") "</robot>", 4,
      "link \"b\" is already the child of joint \"j\" (line 3)"},
     POISE_ERROR_MODEL},
    {{LINKS JOINT("j", "a", "b", "") "</robot>", 2, "no joint leads to link \"c\", nor to \"a\" (2 roots)"},
     POISE_ERROR_MODEL},
    {{LINKS JOINT("j", "world", "b", "") JOINT("k", "b", "a", "") "</robot>", 2, "nor to \"world\""}, POISE_ERROR_MODEL},
    {{LINKS "<drake:joint/>" JOINT("j", "a", "b", "") "</robot>", 2, "those of extensions are not read"}, POISE_ERROR_MODEL},
    {{LINKS JOINT("j", "a", "b", "") JOINT("k", "b", "a", "") "</robot>", 4, "is its own ancestor"}, POISE_ERROR_MODEL},
    {{LINKS JOINT("j", "c", "c", "") JOINT("k", "a", "b", "") "</robot>", 3, "is its own ancestor"}, POISE_ERROR_MODEL},
    {{TWO("", ""), 4, "type must be fixed, revolute"}, POISE_ERROR_FORMAT},
    {{TWO("revolute", "\n<origin xyz='0 0'/>"), 5, "xyz of <origin> must be 3 finite numbers, not \"0 0\""},
     POISE_ERROR_FORMAT},
    {{TWO("revolute", "\n<origin rpy='0 0 0]'/>"), 5, "rpy of <origin> must be 3 finite numbers"}, POISE_ERROR_FORMAT},
    {{TWO("revolute", "\n<origin xyz='0 0 inf'/>"), 5, "xyz of <origin> must be 3 finite numbers"}, POISE_ERROR_FORMAT},
    {{TWO("revolute", "\n<origin xyz='0 0 ${x}'/>"), 5, "run xacro on the file first"}, POISE_ERROR_FORMAT},
    {{TWO("revolute", "\n<axis xyz='1'/>"), 5, "xyz of <axis> must be"}, POISE_ERROR_FORMAT},
    {{TWO("revolute", "\n<axis xyz='0 0 0'/>"), 4, "axis is zero"}, POISE_ERROR_MODEL},
    {{TWO("planar", "\n<axis xyz='0 0 0'/>"), 5, "axis is zero"}, POISE_ERROR_MODEL},
    {{TWO("revolute", "\n<limit lower='nan'/>"), 5, "lower of <limit> must be 1 finite number"}, POISE_ERROR_FORMAT},
    {{TWO("revolute", "\n<limit upper='x'/>"), 5, "upper of <limit> must be 1 finite number"}, POISE_ERROR_FORMAT},
    {{TWO("revolute", "\n<limit lower='2' upper='1'/>"), 4, "lower limit 2 is above upper limit 1: exchange them"},
     POISE_ERROR_MODEL},
    {{TWO("revolute", "\n<mimic joint='j'/>"), 4, "follows itself"}, POISE_ERROR_MODEL},
    {{TWO("revolute", "\n<mimic joint='j' multiplier='x'/>"), 5, "multiplier of <mimic>"}, POISE_ERROR_FORMAT},
    {{TWO("revolute", "\n<mimic joint='j' offset='1 2'/>"), 5, "offset of <mimic>"}, POISE_ERROR_FORMAT},
    {{LINKS JOINT("j", "a", "b", "<mimic joint='k'/>") JOINT("k", "b", "c", "<mimic joint='j'/>") "</robot>", 3,
      "follows itself"},
     POISE_ERROR_MODEL},
    {{LINKS JOINT("j", "a", "b",
                  "<mimic joint='k'/>") "<joint name='k' type='fixed'><parent link='a'/><child link='c'/></joint></robot>",
      3, "only a revolute or prismatic joint can be followed"},
     POISE_ERROR_MODEL},
    {{"<robot><link name='a'><inertial>\n<mass value='x'/></inertial></link></robot>", 2,
      "value of <mass> must be 1 finite number"},
     POISE_ERROR_FORMAT},
    {{"<robot><link name='a'><inertial><mass value='1'/>\n<origin xyz='x'/></inertial></link></robot>", 2,
      "xyz of <origin>"},
     POISE_ERROR_FORMAT},
    {{"<robot>\n<link name='a'><inertial><mass value='-1'/></inertial></link></robot>", 2, "mass must be"},
     POISE_ERROR_MODEL},
    {{"<robot><link name='a'/>\n<frame name='f' link='a' rpy='x'/></robot>", 2, "rpy of <frame>"}, POISE_ERROR_FORMAT},
};

TEST_ROWS(each_error_names_its_line_and_the_fix, TEST_COUNT(bad))
{
    io_refusal_holds(&bad[test_row], URDF);
}

TEST(an_error_of_the_xml_has_a_column)
{
    const char *text = "<robot>\n  <link name='a' name='b'/></robot>";
    poise_read_options options = {0};
    options.format = URDF;
    poise_file *file = NULL;
    poise_error error;
    ck_assert_int_eq(poise_read(text, strlen(text), &options, NULL, &file, &error), POISE_ERROR_FORMAT);
    ck_assert_int_eq(error.line, 2);
    ck_assert_int_eq(error.column, 18); // of the attribute that comes twice
}

// ---- Hostile input -------------------------------------------------------------------------------------------------------

TEST(a_file_of_zeros_is_empty)
{
    poise_read_options options = io_options(POISE_FORMAT_URDF, NULL);
    char *zeros = calloc(1, 3); // of just that size, for the address sanitizer
    test_own(free, zeros);
    io_refused(zeros, 3, &options, 1, "XML: no element found");
}

TEST(entities_that_multiply_are_refused_at_once)
{
    io_text text = {0};
    io_put(&text, "<!DOCTYPE robot [<!ENTITY e0 'aaaaaaaaaa'>\n");
    for (int i = 1; i < 12; ++i) {
        io_put(&text, "<!ENTITY e%d '&e%d;&e%d;&e%d;&e%d;&e%d;&e%d;&e%d;&e%d;'>\n", i, i - 1, i - 1, i - 1, i - 1, i - 1,
               i - 1, i - 1, i - 1);
    }
    io_put(&text, "]><robot name='&e11;'/>");
    io_refused_text(text.text, URDF, NULL, 1, "declarations in <!DOCTYPE>");
    free(text.text);
}

TEST(elements_nested_without_end_are_refused)
{
    io_text text = {0};
    io_put(&text, "<robot>");
    for (int i = 0; i < 50000; ++i) {
        io_put(&text, "\n<link>");
    }
    io_refused_text(text.text, URDF, NULL, 10001, "nested more than 10000 deep");
    free(text.text);
}

// ---- Real files ----------------------------------------------------------------------------------------------------------

static poise_file *read_shared(const char *folder, const char *name, poise_error *error)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    io_bytes bytes = io_load(path);
    poise_read_options options = io_options(URDF, NULL);
    poise_file *file = NULL;
    poise_status status = poise_read(bytes.bytes, bytes.size, &options, NULL, &file, error);
    ck_assert_int_eq(status == POISE_OK, file != NULL);
    return io_own(file);
}

static int count_type(const poise_model *model, poise_joint_type type)
{
    int count = 0;
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        count += poise_model_joint_info(model, k).type == type;
    }
    return count;
}

// Joints below the body of the root, longest path in joints; a root on the link "world" counts as one.
static void check_shape(const fact_row *row, const poise_model *model)
{
    int n = poise_model_info(model).joints, leaves = 0, depth = 0, mimics = 0;
    bool has_root = strcmp(row->root, "none declared") != 0;
    for (int k = 0; k < n; ++k) {
        int length = pz_model_path(model, k, NULL, 0) - has_root;
        depth = length > depth ? length : depth;
        leaves += poise_model_joint_info(model, k).subtree == 1;
        mimics += poise_model_joint_info(model, k).mimic >= 0;
    }
    ck_assert_int_eq(n, row->links);
    ck_assert_int_eq(n - has_root, row->joints);
    ck_assert_int_eq(leaves, row->leaves);
    ck_assert_int_eq(depth, row->depth);
    ck_assert_int_eq(mimics, row->mimics);
    ck_assert_int_eq(poise_model_info(model).nv - 3 * row->kinds[SPHERICAL] + mimics, row->dofs);
    ck_assert_int_eq(count_type(model, POISE_JOINT_FIXED) - has_root, row->kinds[FIXED]);
    ck_assert_int_eq(count_type(model, POISE_JOINT_REVOLUTE), row->kinds[REVOLUTE] + row->kinds[CONTINUOUS]);
    ck_assert_int_eq(count_type(model, POISE_JOINT_PRISMATIC), row->kinds[PRISMATIC]);
    ck_assert_int_eq(count_type(model, POISE_JOINT_FREE), row->kinds[FLOATING]);
    ck_assert_int_eq(count_type(model, POISE_JOINT_PLANAR), row->kinds[PLANAR]);
    ck_assert_int_eq(count_type(model, POISE_JOINT_BALL_EXPMAP), row->kinds[SPHERICAL]);
    if (has_root) {
        ck_assert_str_eq(poise_model_joint_info(model, 0).body, row->root);
    }
}

// Limited joints at three quarters of their range, those without at 0.3 if they turn freely, else at 0.
static void test_configuration(const fact_row *row, const poise_model *model, double *q)
{
    poise_model_neutral(model, q);
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        int at = poise_model_joint_info(model, k).q, count = poise_model_joint_info(model, k).nq;
        if (count != 1) {
            continue;
        }
        poise_joint joint = *poise_model_joint_info(model, k).given;
        bool is_limited = isfinite(joint.lower[0]) && isfinite(joint.upper[0]);
        q[at] = is_limited                   ? joint.lower[0] + 0.75 * (joint.upper[0] - joint.lower[0])
                : row->kinds[CONTINUOUS] > 0 ? 0.3
                                             : 0;
    }
}

static poise_pose pose_from(const double *p, const double *q)
{
    return (poise_pose){{q[1], q[2], q[3], q[0]}, {p[0], p[1], p[2]}};
}

TEST_DATA(facts_of_real_files_hold, "urdf")
{
    for (size_t i = 0; i < TEST_COUNT(facts); ++i) {
        const fact_row *row = &facts[i];
        poise_error error = {.text = ""};
        poise_file *file = read_shared("urdf", row->file, &error);
        ck_assert_msg(file != NULL, "%s: line %d: %s", row->file, error.line, error.text);
        ck_assert_str_eq(file->title, row->robot);
        check_shape(row, file->model);
        if (row->leaf) {
            double q[64];
            ck_assert_int_le(poise_model_info(file->model).nq, 64);
            poise_model_neutral(file->model, q);
            // the facts have six decimals: half a unit of the last, and of a quaternion made unit a little more
            io_same_pose(row->file, io_pose(file->model, q, row->leaf), pose_from(row->p0, row->q0), 1e-6);
            test_configuration(row, file->model, q);
            io_same_pose(row->file, io_pose(file->model, q, row->leaf), pose_from(row->p, row->q), 1e-6);
        }
    }
}

typedef struct refusal_row {
    const char *folder, *file;
    int line; // 0: read, with a warning
    const char *words;
} refusal_row;

static const refusal_row refusals[] = {
    {"bad/urdf", "fail_pr2_desc_bracket.urdf", 10, "there is no link \"base_link\""},
    {"bad/urdf", "fail_pr2_desc_double.urdf", 31, "already a link \"fl_caster_rotation_link\" in line 14"},
    {"bad/urdf", "fail_pr2_desc_double_joint.urdf", 21, "already a joint \"fl_caster_rotation_joint\" in line 4"},
    {"bad/urdf", "fail_pr2_desc_loop.urdf", 5, "is its own ancestor"},
    {"bad/urdf", "fail_pr2_desc_no_filename_in_mesh.urdf", 2297, "has no parent"},
    {"bad/urdf", "fail_pr2_desc_no_joint2.urdf", 10, "not well-formed"},
    {"bad/urdf", "fail_pr2_desc_parent_itself.urdf", 4, "is its own ancestor"},
    {"bad/urdf", "fail_pr2_desc_two_trees.urdf", 10, "there is no link \"base_link\""},
    {"bad/urdf", "fail_three_links_one_joint.urdf", 24, "mismatched tag"},
    {"bad/urdf", "invalid_text.urdf", 1, "syntax error"},
    {"bad/urdf", "drake_tag_mismatch_1.urdf", 4, "those of extensions are not read"},
    {"bad/urdf", "drake_tag_mismatch_2.urdf", 0, "type \"ball\" is not in the URDF standard"},
    {"bad/urdf", "humanoid_trailing_nul.urdf", 0, "the file ends with zero bytes"},
    {"urdf", "odd_drake_joint_types.urdf", 84, "no joint leads to link \"link14\", nor to \"world\" (6 roots)"},
    {"urdf", "odd_xml_verison_one_link.urdf", 0, "the XML declaration is malformed"},
    {"urdf", "odd_xml_verison_two_links.urdf", 0, "the XML declaration is malformed"},
    {"urdf", "odd_spherical_hinge.urdf", 0, "type \"spherical\" is not in the URDF standard"},
    {"urdf", "pr2.urdf", 0, "<xacro:pr2_head_pan_gazebo_v0> in <robot> is an extension"},
    {"urdf", "cassie_v2.urdf", 0, "and 13 more joints without limits"},
};

TEST_DATA(bad_files_are_refused_or_read_with_a_warning, "urdf")
{
    for (size_t i = 0; i < TEST_COUNT(refusals); ++i) {
        const refusal_row *row = &refusals[i];
        poise_error error = {.text = ""};
        poise_file *file = read_shared(row->folder, row->file, &error);
        ck_assert_msg((row->line == 0) == (file != NULL), "%s: %s", row->file, error.text);
        ck_assert_msg(file ? io_warned(file, 0, row->words) : strstr(error.text, row->words) != NULL, "%s: %s", row->file,
                      error.text);
        ck_assert_msg(file || error.line == row->line, "%s: line %d", row->file, error.line);
    }
}
