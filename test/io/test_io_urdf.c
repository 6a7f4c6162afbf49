// URDF: facts of real files, dialects, errors, hostile input.
#include "support/urdf_facts.h"
#include "support/xml_trials.h"

#include <math.h>

#define URDF POISE_FORMAT_URDF

// A robot of two links, with `joint` inside the joint between them; line 4.
#define TWO(type, inside)                                                                                                   \
    "<robot name='r'>\n<link name='a'/>\n<link name='b'/>\n<joint name='j' type='" type                                     \
    "'><parent link='a'/><child link='b'/>" inside "</joint>\n</robot>\n"

static const char everything[] =
    "<?xml version=\"1.0\"?>\n"
    "<robot name=\"all\">\n"
    "  <material name=\"m\"><color rgba=\"0 0 0 1\"/></material>\n"
    "  <link name=\"base\"><inertial><origin xyz=\"1 2 3\" rpy=\"1 1 1\"/><mass value=\"2.5\"/></inertial></link>\n"
    "  <link name=\"a\"/><link name=\"b\"/><link name=\"c\"/><link name=\"d\"/><link name=\"e\"/><link name=\"f\"/>\n"
    "  <joint name=\"turn\" type=\"revolute\"><parent link=\"base\"/><child link=\"a\"/>\n"
    "    <origin xyz=\"0.1 0.2 0.3\" rpy=\"0.4 0.5 0.6\"/><axis xyz=\"0 3 4\"/><limit lower=\"-1.5\" upper=\"2\"/></joint>\n"
    "  <joint name=\"roll\" type=\"continuous\"><parent link=\"a\"/><child link=\"b\"/></joint>\n"
    "  <joint name=\"slide\" type=\"prismatic\"><parent link=\"a\"/><child link=\"c\"/><axis xyz=\"0 0 1\"/>\n"
    "    <limit upper=\"0.5\"/><mimic joint=\"copy\" multiplier=\"2\" offset=\"0.25\"/></joint>\n"
    "  <joint name=\"copy\" type=\"prismatic\"><parent link=\"c\"/><child link=\"d\"/><axis xyz=\"0 0 1\"/>\n"
    "    <limit lower=\"-inf\" upper=\"inf\"/><mimic joint=\"roll\" multiplier=\"3\" offset=\"1\"/></joint>\n"
    "  <joint name=\"fly\" type=\"floating\"><parent link=\"base\"/><child link=\"e\"/><origin xyz=\"0 0 1\"/></joint>\n"
    "  <joint name=\"glide\" type=\"planar\"><parent link=\"base\"/><child link=\"f\"/><axis xyz=\"0 -2 0\"/></joint>\n"
    "</robot>\n";

// ---- What is read --------------------------------------------------------------------------------------------------------

TEST(every_kind_of_joint_comes_over_as_written)
{
    poise_file *file = trial_read(URDF, everything);
    const poise_model *model = file->model;
    ck_assert_int_eq(file->warning_count, 0);
    ck_assert_str_eq(file->title, "all");
    ck_assert(file->scale.metres == 1.0 && file->scale.up == POISE_UP_Z);
    ck_assert_int_eq(poise_model_joint_count(model), 7);
    ck_assert_str_eq(poise_model_body_name(model, 0), "base");
    ck_assert_str_eq(poise_model_joint_name(model, 0), "root");
    poise_joint base = poise_model_joint(model, 0);
    ck_assert(base.mass == 2.5 && base.mass_center.x == 1 && base.mass_center.y == 2 && base.mass_center.z == 3);
    poise_joint turn = poise_model_joint(model, poise_model_find_joint(model, "turn"));
    ck_assert_str_eq(turn.body, "a");
    ck_assert(turn.lower[0] == -1.5 && turn.upper[0] == 2 && turn.offset.position.y == 0.2);
    poise_quat rotation = poise_quat_from_roll_pitch_yaw(0.4, 0.5, 0.6);
    ck_assert_mem_eq(&turn.offset.rotation, &rotation, sizeof rotation);
    ck_assert_double_eq_tol(turn.axis.y, 0.6, 1e-15); // the axis is made unit
    poise_joint roll = poise_model_joint(model, poise_model_find_joint(model, "roll"));
    ck_assert(roll.type == POISE_JOINT_REVOLUTE && roll.axis.x == 1 && roll.upper[0] == INFINITY);
    ck_assert_int_eq(poise_model_joint_type(model, poise_model_find_joint(model, "fly")), POISE_JOINT_FREE);
    ck_assert_int_eq(poise_model_joint_type(model, poise_model_find_joint(model, "glide")), POISE_JOINT_PLANAR);
    poise_file_destroy(file);
}

TEST(a_mimic_of_a_mimic_follows_the_joint_at_the_end)
{
    poise_file *file = trial_read(URDF, everything);
    const poise_model *model = file->model;
    int roll = poise_model_find_joint(model, "roll"), slide = poise_model_find_joint(model, "slide");
    ck_assert_int_eq(poise_model_mimic(model, slide), roll);
    poise_joint joint = poise_model_joint(model, slide); // 2 (3 q + 1) + 0.25
    ck_assert(joint.mimic_multiplier == 6 && joint.mimic_offset == 2.25);
    ck_assert(joint.lower[0] == 0 && joint.upper[0] == 0.5); // one limit alone: the other is 0
    poise_file_destroy(file);
}

TEST(a_planar_joint_moves_across_its_axis_and_turns_about_it)
{
    const char *const axes[] = {"0 -2 0", "1 0 0", "0 0 -1", "0 0 3", "1 2 -3", "1e-9 0 -1", "0 1e-200 -1"};
    for (size_t i = 0; i < TEST_COUNT(axes); ++i) {
        char text[512];
        snprintf(text, sizeof text, TWO("planar", "<axis xyz='%s'/>"), axes[i]);
        poise_file *file = trial_read(URDF, text);
        double q[3] = {0.3, -0.2, 0}, turned[3] = {0, 0, 0.5};
        poise_vec3 n;
        ck_assert_int_eq(sscanf(axes[i], "%lf %lf %lf", &n.x, &n.y, &n.z), 3);
        double length = sqrt(n.x * n.x + n.y * n.y + n.z * n.z);
        poise_vec3 p = trial_body(file->model, q, "b").position;
        ck_assert_double_eq_tol((p.x * n.x + p.y * n.y + p.z * n.z) / length, 0, 1e-15); // a few roundings of 0.3
        ck_assert_double_eq_tol(p.x * p.x + p.y * p.y + p.z * p.z, 0.13, 1e-15);
        poise_pose same = {poise_quat_from_axis_angle(n, 0.5), {0, 0, 0}};
        trial_same_pose(axes[i], trial_body(file->model, turned, "b"), same, 1e-15);
        poise_file_destroy(file);
    }
}

TEST(a_floating_root_is_free_if_the_options_say_so)
{
    poise_read_options options = poise_read_options_default();
    options.floating = true;
    poise_file *file = trial_read_with(URDF, TWO("fixed", ""), &options);
    ck_assert_int_eq(poise_model_joint_type(file->model, 0), POISE_JOINT_FREE);
    ck_assert_int_eq(poise_model_nq(file->model), 7);
    poise_file_destroy(file);
    file = trial_read_with(URDF,
                           "<robot name='r'><link name='a'/><joint name='j' type='fixed'><parent link='world'/>"
                           "<child link='a'/></joint></robot>",
                           &options);
    ck_assert_int_eq(poise_model_nq(file->model), 0);
    trial_warned(file, 1, "it is not made to float");
    poise_file_destroy(file);
}

TEST(the_name_of_the_root_joint_is_new)
{
    poise_file *file = trial_read(URDF, "<robot><link name='root'/><link name='b'/><joint name='root' type='fixed'>"
                                        "<parent link='root'/><child link='b'/></joint></robot>");
    ck_assert_ptr_null(file->title);
    ck_assert_str_eq(poise_model_joint_name(file->model, 0), "root.2");
    ck_assert_str_eq(poise_model_body_name(file->model, 0), "root");
    poise_file_destroy(file);
}

TEST(frames_become_tools)
{
    poise_file *file = trial_read(URDF, "<robot><link name='a'/>\n<frame name='tip' link='a' xyz='1 2 3' rpy='0 0 1'/>\n"
                                        "<frame name='tip' link='a'/>\n<frame name='x' link='nowhere'/></robot>");
    ck_assert_int_eq(poise_model_tool_count(file->model), 1);
    poise_pose pose = poise_model_tool_pose(file->model, 0);
    ck_assert(pose.position.x == 1 && pose.position.z == 3);
    ck_assert_double_eq_tol(poise_quat_angle(pose.rotation), 1, 1e-15);
    trial_warned(file, 3, "<frame> needs a name of its own");
    trial_warned(file, 4, "<frame> needs a name of its own");
    poise_file_destroy(file);
}

// ---- Warnings ------------------------------------------------------------------------------------------------------------

typedef struct odd_row {
    const char *text;
    int line;
    const char *words;
} odd_row;

static const odd_row odd[] = {
    {TWO("revolute", ""), 4, "joint \"j\" has no limits; it is left free"},
    {TWO("revolute", "<limit effort='1'/>"), 4, "joint \"j\" has no limits"},
    {TWO("continuous", "<limit lower='0' upper='0'/>"), 4, "limits of a continuous joint are not used"},
    {TWO("ball", ""), 4, "type \"ball\" is not in the URDF standard"},
    {TWO("spherical", ""), 4, "read as a ball joint"},
    {TWO("fixed", "<mimic joint='j'/>"), 4, "a joint of this type cannot mimic"},
    {TWO("fixed", "<hook/>"), 4, "<hook> in <joint> is not known"},
    {TWO("fixed", "<drake:rotor/>"), 4, "<drake:rotor> in <joint> is an extension"},
    {"<robot><link name='a'>\n<inertial/></link></robot>", 2, "<inertial> has no <mass>"},
    {"<robot><link name='a'>\n<hook/></link></robot>", 2, "<hook> in <link> is not known"},
    {"<robot>\n<hook/><link name='a'/></robot>", 2, "<hook> in <robot> is not known"},
    {"<robot>\n<xacro:thing/><link name='a'/></robot>", 2, "<xacro:thing> in <robot> is an extension"},
    {"<?xml verison='1.0'?>\n<robot><link name='a'/></robot>", 1, "the XML declaration is malformed"},
    {"\n \n<?xml verison='1.0'?><robot><link name='a'/></robot>", 3, "the XML declaration is malformed"},
    {"<?xml verison='1.0'\n?>\n<robot><link name='a'/>\n<frame/></robot>", 4, "<frame> needs a name"},
    {"<!DOCTYPE robot SYSTEM 'x.dtd'>\n<robot><link name='a'/></robot>", 1, "is not read"},
    {TWO("revolute", "<limit lower='0' upper='1'/>") "", 0, NULL},
    {"\n\n<?xml version='1.0'?><!DOCTYPE robot><robot><link name='a'/></robot>", 0, NULL},
};

TEST(what_is_odd_is_read_with_a_warning_that_names_its_line)
{
    for (size_t i = 0; i < TEST_COUNT(odd); ++i) {
        poise_file *file = trial_read(URDF, odd[i].text);
        ck_assert_msg((file->warning_count > 0) == (odd[i].words != NULL), "%s", odd[i].text);
        if (odd[i].words) {
            trial_warned(file, odd[i].line, odd[i].words);
        }
        poise_file_destroy(file);
    }
}

TEST(the_same_warning_comes_three_times_and_is_then_counted)
{
    trial_text text = {0};
    trial_put(&text, "<robot><link name='a'/>");
    for (int i = 0; i < 10; ++i) {
        trial_put(&text, "\n<hook/>");
    }
    trial_put(&text, "</robot>");
    poise_file *file = trial_read(URDF, text.text);
    ck_assert_int_eq(file->warning_count, 4);
    trial_warned(file, 4, "<hook>");
    trial_warned(file, 0, "and 7 more unknown elements");
    poise_file_destroy(file);
    free(text.text);
}

// The robot of a leader from 0 to 1 and a follower with these limits, which goes the other way.
#define FOLLOWER(lower, upper)                                                                                              \
    "<robot><link name='a'/><link name='b'/><link name='c'/>\n<joint name='lead' type='revolute'><parent link='a'/>"        \
    "<child link='b'/><limit lower='0' upper='1'/></joint>\n<joint name='follow' type='revolute'><parent link='a'/>"        \
    "<child link='c'/><limit lower='" lower "' upper='" upper "'/><mimic joint='lead' multiplier='-1'/></joint></robot>"

TEST(limits_that_a_leader_cannot_meet_are_dropped_with_a_warning)
{
    poise_file *file = trial_read(URDF, FOLLOWER("5", "6"));
    trial_warned(file, 3, "its limits leave no value to \"lead\"");
    ck_assert(poise_model_lower(file->model)[0] == 0 && poise_model_upper(file->model)[0] == 1);
    poise_file_destroy(file);
    file = trial_read(URDF, FOLLOWER("-0.75", "-0.25"));
    ck_assert_int_eq(file->warning_count, 0);
    ck_assert(poise_model_lower(file->model)[0] == 0.25 && poise_model_upper(file->model)[0] == 0.75);
    poise_file_destroy(file);
}

// ---- Errors --------------------------------------------------------------------------------------------------------------

#define LINKS "<robot>\n<link name='a'/><link name='b'/><link name='c'/>\n"
#define JOINT(name, parent, child, inside)                                                                                  \
    "<joint name='" name "' type='revolute'><parent link='" parent "'/><child link='" child "'/>" inside "</joint>\n"

typedef struct bad_row {
    const char *text;
    poise_status status;
    int line;
    const char *words;
} bad_row;

static const bad_row bad[] = {
    {"", POISE_ERROR_FORMAT, 1, "XML: no element found"},
    {"hello", POISE_ERROR_FORMAT, 1, "XML: syntax error"},
    {"<robot>\n<link name='a'>\n</robot>", POISE_ERROR_FORMAT, 3, "mismatched tag: <link> of line 2 is not closed"},
    {"<robot>\n<link name='a'>\n", POISE_ERROR_FORMAT, 3, "<link> of line 2 is not closed"},
    {"<?xml verison", POISE_ERROR_FORMAT, 1, "XML declaration does not end"},
    {"<?xml verison='1.0'?><?xml verison='1.0'?><robot/>", POISE_ERROR_FORMAT, 1, "two XML declarations"},
    {"<!DOCTYPE r [\n<!ENTITY a 'b'>]><robot><link name='&a;'/></robot>", POISE_ERROR_FORMAT, 1,
     "declarations in <!DOCTYPE>"},
    {"<robot>&x;</robot>", POISE_ERROR_FORMAT, 1, "XML: undefined entity"},
    {"\n<mujoco/>", POISE_ERROR_FORMAT, 2, "this is <mujoco>, not <robot>"},
    {"<robot name='x'/>", POISE_ERROR_FORMAT, 1, "the robot has no <link>"},
    {"<robot>\n<xacro:include filename='x'/></robot>", POISE_ERROR_FORMAT, 2, "run xacro on it first"},
    {"<robot>\n<link/></robot>", POISE_ERROR_FORMAT, 2, "<link> has no name"},
    {"<robot>\n<link name=''/></robot>", POISE_ERROR_FORMAT, 2, "<link> has no name"},
    {"<robot>\n<link name='a'/>\n<link name='a'/></robot>", POISE_ERROR_MODEL, 3, "a link \"a\" in line 2 already"},
    {LINKS "<joint type='fixed'/></robot>", POISE_ERROR_FORMAT, 3, "<joint> has no name"},
    {LINKS JOINT("j", "a", "b", "") JOINT("j", "a", "c", "") "</robot>", POISE_ERROR_MODEL, 4,
     "a joint \"j\" in line 3 already"},
    {LINKS "<joint name='j' type='fixed'/></robot>", POISE_ERROR_FORMAT, 3, "joint \"j\" names no parent"},
    {LINKS "<joint name='j'><parent link='a'/>\n<child/></joint></robot>", POISE_ERROR_FORMAT, 4, "names no child"},
    {LINKS JOINT("j", "x", "b", "") "</robot>", POISE_ERROR_MODEL, 3, "there is no link \"x\" to be its parent"},
    {LINKS JOINT("j", "a", "world", "") "</robot>", POISE_ERROR_MODEL, 3, "there is no link \"world\" to be its child"},
    {LINKS JOINT("j", "a", "b", "") JOINT("k", "c", "b", "") "</robot>", POISE_ERROR_MODEL, 4,
     "link \"b\" is the child of joint \"j\" (line 3) already"},
    {LINKS JOINT("j", "a", "b", "") "</robot>", POISE_ERROR_MODEL, 2,
     "no joint leads to link \"c\", nor to \"a\" (2 roots)"},
    {LINKS JOINT("j", "world", "b", "") JOINT("k", "b", "a", "") "</robot>", POISE_ERROR_MODEL, 2, "nor to \"world\""},
    {LINKS "<drake:joint/>" JOINT("j", "a", "b", "") "</robot>", POISE_ERROR_MODEL, 2, "those of extensions are not read"},
    {LINKS JOINT("j", "a", "b", "") JOINT("k", "b", "a", "") "</robot>", POISE_ERROR_MODEL, 4, "is its own ancestor"},
    {LINKS JOINT("j", "c", "c", "") JOINT("k", "a", "b", "") "</robot>", POISE_ERROR_MODEL, 3, "is its own ancestor"},
    {TWO("", ""), POISE_ERROR_FORMAT, 4, "type must be fixed, revolute"},
    {TWO("revolute", "\n<origin xyz='0 0'/>"), POISE_ERROR_FORMAT, 5,
     "xyz of <origin> must be 3 finite numbers, not \"0 0\""},
    {TWO("revolute", "\n<origin rpy='0 0 0]'/>"), POISE_ERROR_FORMAT, 5, "rpy of <origin> must be 3 finite numbers"},
    {TWO("revolute", "\n<origin xyz='0 0 inf'/>"), POISE_ERROR_FORMAT, 5, "xyz of <origin> must be 3 finite numbers"},
    {TWO("revolute", "\n<origin xyz='0 0 ${x}'/>"), POISE_ERROR_FORMAT, 5, "run xacro on the file first"},
    {TWO("revolute", "\n<axis xyz='1'/>"), POISE_ERROR_FORMAT, 5, "xyz of <axis> must be"},
    {TWO("revolute", "\n<axis xyz='0 0 0'/>"), POISE_ERROR_MODEL, 4, "axis is zero"},
    {TWO("planar", "\n<axis xyz='0 0 0'/>"), POISE_ERROR_MODEL, 5, "axis is zero"},
    {TWO("revolute", "\n<limit lower='nan'/>"), POISE_ERROR_FORMAT, 5, "lower of <limit> must be 1 finite number"},
    {TWO("revolute", "\n<limit upper='x'/>"), POISE_ERROR_FORMAT, 5, "upper of <limit> must be 1 finite number"},
    {TWO("revolute", "\n<limit lower='2' upper='1'/>"), POISE_ERROR_MODEL, 4, "lower limit 2 is above upper limit 1"},
    {TWO("revolute", "\n<mimic joint='x'/>"), POISE_ERROR_MODEL, 5, "there is no joint \"x\" to mimic"},
    {TWO("revolute", "\n<mimic joint='root'/>"), POISE_ERROR_MODEL, 5, "there is no joint \"root\" to mimic"},
    {TWO("revolute", "\n<mimic/>"), POISE_ERROR_MODEL, 5, "there is no joint \"(none)\" to mimic"},
    {TWO("revolute", "\n<mimic joint='j'/>"), POISE_ERROR_MODEL, 4, "follows itself"},
    {TWO("revolute", "\n<mimic joint='j' multiplier='x'/>"), POISE_ERROR_FORMAT, 5, "multiplier of <mimic>"},
    {TWO("revolute", "\n<mimic joint='j' offset='1 2'/>"), POISE_ERROR_FORMAT, 5, "offset of <mimic>"},
    {LINKS JOINT("j", "a", "b", "<mimic joint='k'/>") JOINT("k", "b", "c", "<mimic joint='j'/>") "</robot>",
     POISE_ERROR_MODEL, 3, "follows itself"},
    {LINKS JOINT("j", "a", "b",
                 "<mimic joint='k'/>") "<joint name='k' type='fixed'><parent link='a'/><child link='c'/></joint></robot>",
     POISE_ERROR_MODEL, 3, "only a joint that turns or slides can lead"},
    {"<robot><link name='a'><inertial>\n<mass value='x'/></inertial></link></robot>", POISE_ERROR_FORMAT, 2,
     "value of <mass> must be 1 finite number"},
    {"<robot><link name='a'><inertial><mass value='1'/>\n<origin xyz='x'/></inertial></link></robot>", POISE_ERROR_FORMAT, 2,
     "xyz of <origin>"},
    {"<robot>\n<link name='a'><inertial><mass value='-1'/></inertial></link></robot>", POISE_ERROR_MODEL, 2, "mass must be"},
    {"<robot><link name='a'/>\n<frame name='f' link='a' rpy='x'/></robot>", POISE_ERROR_FORMAT, 2, "rpy of <frame>"},
};

TEST(each_error_names_its_line_and_the_fix)
{
    for (size_t i = 0; i < TEST_COUNT(bad); ++i) {
        trial_refused(URDF, bad[i].text, bad[i].status, bad[i].line, bad[i].words);
    }
}

TEST(an_error_of_the_xml_has_a_column)
{
    const char *text = "<robot>\n  <link name='a' name='b'/></robot>";
    poise_read_options options = poise_read_options_default();
    options.format = URDF;
    poise_file *file = NULL;
    poise_error error;
    ck_assert_int_eq(poise_read(text, strlen(text), &options, NULL, &file, &error), POISE_ERROR_FORMAT);
    ck_assert_int_eq(error.line, 2);
    ck_assert_int_eq(error.column, 18); // of the attribute that comes twice
}

// ---- Hostile input -------------------------------------------------------------------------------------------------------

TEST(a_text_that_is_cut_anywhere_gives_an_error_or_a_file)
{
    trial_cut(URDF, everything, sizeof everything - 1);
}

TEST(a_lack_of_memory_is_reported_and_leaks_nothing)
{
    trial_without_memory(URDF, everything);
}

TEST(entities_that_multiply_are_refused_at_once)
{
    trial_text text = {0};
    trial_put(&text, "<!DOCTYPE robot [<!ENTITY e0 'aaaaaaaaaa'>\n");
    for (int i = 1; i < 12; ++i) {
        trial_put(&text, "<!ENTITY e%d '&e%d;&e%d;&e%d;&e%d;&e%d;&e%d;&e%d;&e%d;'>\n", i, i - 1, i - 1, i - 1, i - 1, i - 1,
                  i - 1, i - 1, i - 1);
    }
    trial_put(&text, "]><robot name='&e11;'/>");
    trial_refused(URDF, text.text, POISE_ERROR_FORMAT, 1, "declarations in <!DOCTYPE>");
    free(text.text);
}

TEST(elements_nested_without_end_are_refused)
{
    trial_text text = {0};
    trial_put(&text, "<robot>");
    for (int i = 0; i < 50000; ++i) {
        trial_put(&text, "\n<link>");
    }
    trial_refused(URDF, text.text, POISE_ERROR_FORMAT, 10001, "nested more than 10000 deep");
    free(text.text);
}

// Links in a row, the joints before the links and backwards, each following the one before.
static char *write_chain(int n)
{
    trial_text text = {0};
    trial_put(&text, "<robot name='chain'>\n");
    for (int i = n; i > 0; --i) {
        trial_put(&text, "<joint name='joint%d' type='revolute'><parent link='link%d'/><child link='link%d'/>", i, i - 1, i);
        if (i > 1) {
            trial_put(&text, "<mimic joint='joint%d'/>", i - 1);
        }
        trial_put(&text, "<origin xyz='0 0 0.1'/></joint>\n");
    }
    for (int i = 0; i <= n; ++i) {
        trial_put(&text, "<link name='link%d'/>\n", i);
    }
    trial_put(&text, "</robot>");
    return text.text;
}

TEST(ten_times_the_robot_takes_ten_times_the_time)
{
    trial_linear_time(URDF, write_chain, 3000);
}

// ---- Real files ----------------------------------------------------------------------------------------------------------

static poise_file *read_shared(const char *folder, const char *name, poise_error *error)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    size_t size;
    char *bytes = trial_load(path, &size);
    poise_read_options options = poise_read_options_default();
    options.format = URDF;
    poise_file *file = NULL;
    poise_status status = poise_read(bytes, size, &options, NULL, &file, error);
    ck_assert_int_eq(status == POISE_OK, file != NULL);
    trial_cut(URDF, bytes, size);
    free(bytes);
    return file;
}

static int count_type(const poise_model *model, poise_joint_type type)
{
    int count = 0;
    for (int k = 0; k < poise_model_joint_count(model); ++k) {
        count += poise_model_joint_type(model, k) == type;
    }
    return count;
}

// Joints below the body of the root, longest path in joints; a root on the link "world" counts as one.
static void check_shape(const fact_row *row, const poise_model *model)
{
    int n = poise_model_joint_count(model), leaves = 0, depth = 0, mimics = 0;
    bool has_root = strcmp(row->root, "none declared") != 0;
    for (int k = 0; k < n; ++k) {
        int length = poise_model_path(model, k, NULL, 0) - has_root;
        depth = length > depth ? length : depth;
        leaves += poise_model_subtree(model, k) == 1;
        mimics += poise_model_mimic(model, k) >= 0;
    }
    ck_assert_int_eq(n, row->links);
    ck_assert_int_eq(n - has_root, row->joints);
    ck_assert_int_eq(leaves, row->leaves);
    ck_assert_int_eq(depth, row->depth);
    ck_assert_int_eq(mimics, row->mimics);
    ck_assert_int_eq(poise_model_nv(model) - 3 * row->kinds[SPHERICAL] + mimics, row->dofs);
    ck_assert_int_eq(count_type(model, POISE_JOINT_FIXED) - has_root, row->kinds[FIXED]);
    ck_assert_int_eq(count_type(model, POISE_JOINT_REVOLUTE), row->kinds[REVOLUTE] + row->kinds[CONTINUOUS]);
    ck_assert_int_eq(count_type(model, POISE_JOINT_PRISMATIC), row->kinds[PRISMATIC]);
    ck_assert_int_eq(count_type(model, POISE_JOINT_FREE), row->kinds[FLOATING]);
    ck_assert_int_eq(count_type(model, POISE_JOINT_PLANAR), row->kinds[PLANAR]);
    ck_assert_int_eq(count_type(model, POISE_JOINT_BALL_EXPMAP), row->kinds[SPHERICAL]);
    if (has_root) {
        ck_assert_str_eq(poise_model_body_name(model, 0), row->root);
    }
}

// Limited joints at three quarters of their range, those without at 0.3 if they turn freely, else at 0.
static void test_configuration(const fact_row *row, const poise_model *model, double *q)
{
    poise_model_neutral(model, q);
    for (int k = 0; k < poise_model_joint_count(model); ++k) {
        int count, at = poise_model_joint_q(model, k, &count);
        if (count != 1) {
            continue;
        }
        poise_joint joint = poise_model_joint(model, k);
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

TEST_DATA(facts_of_real_files_hold, "data/urdf")
{
    for (size_t i = 0; i < TEST_COUNT(facts); ++i) {
        const fact_row *row = &facts[i];
        poise_error error = {.text = ""};
        poise_file *file = read_shared("data/urdf", row->file, &error);
        ck_assert_msg(file != NULL, "%s: line %d: %s", row->file, error.line, error.text);
        ck_assert_str_eq(file->title, row->robot);
        check_shape(row, file->model);
        if (row->leaf) {
            double q[64];
            ck_assert_int_le(poise_model_nq(file->model), 64);
            poise_model_neutral(file->model, q);
            // the facts have six decimals: half a unit of the last, and of a quaternion made unit a little more
            trial_same_pose(row->file, trial_body(file->model, q, row->leaf), pose_from(row->p0, row->q0), 1e-6);
            test_configuration(row, file->model, q);
            trial_same_pose(row->file, trial_body(file->model, q, row->leaf), pose_from(row->p, row->q), 1e-6);
        }
        poise_file_destroy(file);
    }
}

typedef struct refusal_row {
    const char *folder, *file;
    int line; // 0: read, with a warning
    const char *words;
} refusal_row;

static const refusal_row refusals[] = {
    {"data/bad/urdf", "fail_pr2_desc_bracket.urdf", 10, "there is no link \"base_link\""},
    {"data/bad/urdf", "fail_pr2_desc_double.urdf", 31, "a link \"fl_caster_rotation_link\" in line 14 already"},
    {"data/bad/urdf", "fail_pr2_desc_double_joint.urdf", 21, "a joint \"fl_caster_rotation_joint\" in line 4 already"},
    {"data/bad/urdf", "fail_pr2_desc_loop.urdf", 5, "is its own ancestor"},
    {"data/bad/urdf", "fail_pr2_desc_no_filename_in_mesh.urdf", 2297, "names no parent"},
    {"data/bad/urdf", "fail_pr2_desc_no_joint2.urdf", 10, "not well-formed"},
    {"data/bad/urdf", "fail_pr2_desc_parent_itself.urdf", 4, "is its own ancestor"},
    {"data/bad/urdf", "fail_pr2_desc_two_trees.urdf", 10, "there is no link \"base_link\""},
    {"data/bad/urdf", "fail_three_links_one_joint.urdf", 24, "mismatched tag"},
    {"data/bad/urdf", "invalid_text.urdf", 1, "syntax error"},
    {"data/bad/urdf", "drake_tag_mismatch_1.urdf", 4, "those of extensions are not read"},
    {"data/bad/urdf", "drake_tag_mismatch_2.urdf", 0, "type \"ball\" is not in the URDF standard"},
    {"data/bad/urdf", "humanoid_trailing_nul.urdf", 0, "the file ends with zero bytes"},
    {"data/urdf", "odd_drake_joint_types.urdf", 84, "no joint leads to link \"link14\", nor to \"world\" (6 roots)"},
    {"data/urdf", "odd_xml_verison_one_link.urdf", 0, "the XML declaration is malformed"},
    {"data/urdf", "odd_xml_verison_two_links.urdf", 0, "the XML declaration is malformed"},
    {"data/urdf", "odd_spherical_hinge.urdf", 0, "type \"spherical\" is not in the URDF standard"},
    {"data/urdf", "pr2.urdf", 0, "<xacro:pr2_head_pan_gazebo_v0> in <robot> is an extension"},
    {"data/urdf", "cassie_v2.urdf", 0, "and 13 more joints without limits"},
};

TEST_DATA(bad_files_are_refused_or_read_with_a_warning, "data/urdf")
{
    for (size_t i = 0; i < TEST_COUNT(refusals); ++i) {
        const refusal_row *row = &refusals[i];
        poise_error error = {.text = ""};
        poise_file *file = read_shared(row->folder, row->file, &error);
        ck_assert_msg((row->line == 0) == (file != NULL), "%s: %s", row->file, error.text);
        bool is_said = false;
        for (int w = 0; file && w < file->warning_count; ++w) {
            is_said = is_said || strstr(file->warnings[w].text, row->words);
        }
        ck_assert_msg(file ? is_said : strstr(error.text, row->words) != NULL, "%s: %s", row->file, error.text);
        ck_assert_msg(file || error.line == row->line, "%s: line %d", row->file, error.line);
        poise_file_destroy(file);
    }
}
