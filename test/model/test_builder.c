// The builder: everything that it refuses, with the status and the words, and that a refusal changes nothing.
#include "support/test_main.h"

#include <poise/poise.h>

#include <math.h>
#include <string.h>

// ---- Helpers -------------------------------------------------------------------------------------------------------------

// An error before a call: what must still be there after a success.
static poise_error blank_error(void)
{
    poise_error error = {.status = POISE_STATUS_COUNT, .line = 11, .column = 12, .text = "untouched"};
    return error;
}

static void assert_untouched(const poise_error *error)
{
    ck_assert(error->status == POISE_STATUS_COUNT && error->line == 11 && error->column == 12);
    ck_assert_str_eq(error->text, "untouched");
}

// The error says `status`, names the thing and gives the reason.
static void assert_error(const poise_error *error, poise_status status, const char *thing, const char *reason)
{
    ck_assert_msg(error->status == status, "status %s: %s", poise_status_name(error->status), error->text);
    ck_assert_msg(strstr(error->text, thing) != NULL, "\"%s\" does not name %s", error->text, thing);
    ck_assert_msg(strstr(error->text, reason) != NULL, "\"%s\" does not say: %s", error->text, reason);
    ck_assert(error->line == 0 && error->column == 0);
}

static poise_builder *new_builder(void)
{
    poise_builder *builder = NULL;
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    return builder;
}

static poise_joint joint_of(const char *name, const char *parent, poise_joint_type type)
{
    poise_joint joint = poise_joint_default();
    joint.name = name;
    joint.parent = parent;
    joint.type = type;
    return joint;
}

static void add(poise_builder *builder, const char *name, const char *parent, poise_joint_type type)
{
    poise_joint joint = joint_of(name, parent, type);
    poise_error error = blank_error();
    ck_assert_msg(poise_builder_add_joint(builder, &joint, &error) == POISE_OK, "%s", error.text);
    assert_untouched(&error);
}

static poise_model *model_of(const poise_builder *builder)
{
    poise_model *model = NULL;
    poise_error error = blank_error();
    ck_assert_msg(poise_model_create(builder, NULL, &model, &error) == POISE_OK, "%s", error.text);
    assert_untouched(&error);
    return model;
}

// The builder makes a model of the one joint "root" and nothing else, and can take an "elbow".
static void assert_only_root(poise_builder *builder)
{
    poise_model *model = model_of(builder);
    ck_assert_int_eq(poise_model_info(model).joints, 1);
    ck_assert_int_eq(poise_model_info(model).tools, 0);
    ck_assert_str_eq(poise_model_joint_info(model, 0).name, "root");
    poise_model_destroy(model);
    add(builder, "elbow", "root", POISE_JOINT_REVOLUTE);
}

// The description is refused for this reason, with and without an error to fill, and the builder is as it was.
static void assert_joint_refused(const poise_joint *joint, const char *reason)
{
    poise_builder *builder = new_builder();
    add(builder, "root", NULL, POISE_JOINT_FIXED);
    poise_error error = blank_error();
    ck_assert_int_eq(poise_builder_add_joint(builder, joint, &error), POISE_ERROR_MODEL);
    assert_error(&error, POISE_ERROR_MODEL, "joint \"elbow\"", reason);
    ck_assert_int_eq(poise_builder_add_joint(builder, joint, NULL), POISE_ERROR_MODEL);
    assert_only_root(builder);
    poise_builder_destroy(builder);
}

static void assert_tool_refused(const poise_tool *tool, const char *thing, const char *reason)
{
    poise_builder *builder = new_builder();
    add(builder, "root", NULL, POISE_JOINT_FIXED);
    poise_error error = blank_error();
    ck_assert_int_eq(poise_builder_add_tool(builder, tool, &error), POISE_ERROR_MODEL);
    assert_error(&error, POISE_ERROR_MODEL, thing, reason);
    assert_only_root(builder);
    poise_builder_destroy(builder);
}

// No model comes of the builder, for this reason; the model pointer stays.
static void assert_model_refused(const poise_builder *builder, const char *thing, const char *reason)
{
    int anything;
    poise_model *model = (poise_model *)(void *)&anything;
    poise_error error = blank_error();
    ck_assert_int_eq(poise_model_create(builder, NULL, &model, &error), POISE_ERROR_MODEL);
    assert_error(&error, POISE_ERROR_MODEL, thing, reason);
    ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_ERROR_MODEL);
    ck_assert_ptr_eq(model, (poise_model *)(void *)&anything);
}

// One joint "elbow" of the type, changed by the statements, is refused for the reason.
#define REFUSES(test_name, joint_type, reason, ...)                                                                         \
    TEST(test_name)                                                                                                         \
    {                                                                                                                       \
        poise_joint joint = joint_of("elbow", "root", joint_type);                                                          \
        __VA_ARGS__;                                                                                                        \
        assert_joint_refused(&joint, reason);                                                                               \
    }

// ---- One joint -----------------------------------------------------------------------------------------------------------

REFUSES(an_unknown_type_is_refused, POISE_JOINT_TYPE_COUNT, "unknown type", (void)0)
REFUSES(an_unknown_euler_order_is_refused, POISE_JOINT_BALL_EULER, "Euler order", joint.order = POISE_EULER_ORDER_COUNT)
REFUSES(crossed_limits_are_refused, POISE_JOINT_REVOLUTE, "lower limit 1.2 is above upper limit 0.4", joint.lower[0] = 1.2,
        joint.upper[0] = 0.4)
REFUSES(crossed_limits_of_the_last_coordinate_are_refused, POISE_JOINT_FREE_EULER,
        "lower limit 0.5 is above upper limit -0.5", joint.lower[5] = 0.5, joint.upper[5] = -0.5)
REFUSES(a_lower_limit_that_is_nan_is_refused, POISE_JOINT_PRISMATIC, "lower limit nan", joint.lower[0] = NAN)
REFUSES(an_upper_limit_that_is_nan_is_refused, POISE_JOINT_TRANSLATION, "upper limit nan", joint.upper[2] = NAN)
REFUSES(limits_that_only_infinity_satisfies_are_refused, POISE_JOINT_PRISMATIC, "leave no value", joint.lower[0] = INFINITY)
REFUSES(limits_that_only_minus_infinity_satisfies_are_refused, POISE_JOINT_PRISMATIC, "leave no value",
        joint.upper[0] = -INFINITY)
REFUSES(a_zero_axis_is_refused, POISE_JOINT_REVOLUTE, "axis is zero", joint.axis = poise_vec3_make(0, 0, 0))
REFUSES(a_zero_axis_of_a_slider_is_refused, POISE_JOINT_PRISMATIC, "axis is zero", joint.axis = poise_vec3_make(0, 0, 0))
REFUSES(an_axis_that_is_not_finite_is_refused, POISE_JOINT_REVOLUTE, "axis is not finite",
        joint.axis = poise_vec3_make(0, INFINITY, 1))
REFUSES(a_zero_second_axis_is_refused, POISE_JOINT_UNIVERSAL, "axis2 is zero", joint.axis2 = poise_vec3_make(0, 0, 0))
REFUSES(a_second_axis_that_is_nan_is_refused, POISE_JOINT_UNIVERSAL, "axis2 is not finite",
        joint.axis2 = poise_vec3_make(NAN, 0, 0))
REFUSES(universal_axes_that_are_not_orthogonal_are_refused, POISE_JOINT_UNIVERSAL, "must be orthogonal",
        joint.axis2 = poise_vec3_make(1, 0, 2e-9))
REFUSES(an_offset_that_is_nan_is_refused, POISE_JOINT_FIXED, "offset is not finite", joint.offset.position.y = NAN)
REFUSES(an_offset_beyond_1e100_is_refused, POISE_JOINT_FIXED, "offset is not finite, or beyond 1e100",
        joint.offset.position.x = -1.01e100)
REFUSES(a_zero_quaternion_as_offset_is_refused, POISE_JOINT_REVOLUTE, "offset is not a rotation",
        joint.offset.rotation = (poise_quat){0, 0, 0, 0})
REFUSES(an_infinite_quaternion_as_offset_is_refused, POISE_JOINT_REVOLUTE, "offset is not a rotation",
        joint.offset.rotation.w = INFINITY)
REFUSES(a_zero_quaternion_as_axes_is_refused, POISE_JOINT_BALL_EULER, "axes is not a rotation",
        joint.axes = (poise_quat){0, 0, 0, 0})
REFUSES(axes_that_are_nan_are_refused, POISE_JOINT_TRANSLATION, "axes is not a rotation", joint.axes.x = NAN)
REFUSES(a_lower_limit_on_a_quaternion_is_refused, POISE_JOINT_BALL_QUATERNION, "quaternion coordinates take no limits",
        joint.lower[2] = -1)
REFUSES(an_upper_limit_on_the_quaternion_of_a_free_joint_is_refused, POISE_JOINT_FREE,
        "quaternion coordinates take no limits", joint.upper[6] = 1)
REFUSES(a_swing_limit_on_a_revolute_joint_is_refused, POISE_JOINT_REVOLUTE, "only swing_twist joints",
        joint.swing[0] = joint.swing[1] = 1)
REFUSES(a_swing_limit_on_a_ball_is_refused, POISE_JOINT_BALL_EXPMAP, "only swing_twist joints", joint.swing[1] = 1)
REFUSES(one_swing_limit_alone_is_refused, POISE_JOINT_SWING_TWIST, "must lie between 0 and pi", joint.swing[0] = 1)
REFUSES(a_swing_limit_of_zero_is_refused, POISE_JOINT_SWING_TWIST, "swing limits 0 and 1", joint.swing[0] = 0,
        joint.swing[1] = 1)
REFUSES(a_swing_limit_of_pi_is_refused, POISE_JOINT_SWING_TWIST, "must lie between 0 and pi",
        joint.swing[0] = 3.14159265358979323846, joint.swing[1] = 1)
REFUSES(a_swing_limit_that_is_nan_is_refused, POISE_JOINT_SWING_TWIST, "must lie between 0 and pi", joint.swing[0] = 1,
        joint.swing[1] = NAN)
REFUSES(a_swing_box_that_leaves_out_the_centre_of_its_ellipse_is_refused, POISE_JOINT_SWING_TWIST, "must include 0",
        joint.swing[0] = joint.swing[1] = 0.5, joint.lower[1] = 0.4)
REFUSES(a_mimic_of_a_ball_type_is_refused, POISE_JOINT_BALL_EULER, "only revolute, prismatic and curve joints can mimic",
        joint.mimic = "root")
REFUSES(a_mimic_multiplier_that_is_nan_is_refused, POISE_JOINT_REVOLUTE, "mimic multiplier and offset must be finite",
        joint.mimic = "root", joint.mimic_multiplier = NAN)
REFUSES(an_infinite_mimic_offset_is_refused, POISE_JOINT_PRISMATIC, "mimic multiplier and offset must be finite",
        joint.mimic = "root", joint.mimic_offset = INFINITY)
REFUSES(a_negative_mass_is_refused, POISE_JOINT_FIXED, "mass must be finite and not negative", joint.mass = -1e-9)
REFUSES(a_mass_that_is_nan_is_refused, POISE_JOINT_FIXED, "mass must be finite", joint.mass = NAN)
REFUSES(an_infinite_mass_is_refused, POISE_JOINT_FIXED, "mass must be finite", joint.mass = INFINITY)
REFUSES(a_mass_centre_that_is_nan_is_refused, POISE_JOINT_FIXED, "mass must be finite", joint.mass_center.z = NAN)
REFUSES(a_second_body_of_the_same_name_is_refused, POISE_JOINT_FIXED, "there is already a body \"root\"",
        joint.body = "root")

TEST(a_second_joint_of_the_same_name_is_refused)
{
    poise_builder *builder = new_builder();
    add(builder, "root", NULL, POISE_JOINT_FIXED);
    poise_joint joint = joint_of("root", "root", POISE_JOINT_REVOLUTE);
    joint.body = "another";
    poise_error error = blank_error();
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, &error), POISE_ERROR_MODEL);
    assert_error(&error, POISE_ERROR_MODEL, "joint \"root\"", "there is already a joint of that name");
    assert_only_root(builder);
    poise_builder_destroy(builder);
}

TEST(a_joint_without_a_name_is_refused)
{
    static const char *const names[][2] = {{NULL, NULL}, {"", NULL}, {"elbow", ""}};
    for (size_t i = 0; i < TEST_COUNT(names); ++i) {
        poise_builder *builder = new_builder();
        add(builder, "root", NULL, POISE_JOINT_FIXED);
        poise_joint joint = joint_of(names[i][0], "root", POISE_JOINT_REVOLUTE);
        joint.body = names[i][1];
        poise_error error = blank_error();
        ck_assert_int_eq(poise_builder_add_joint(builder, &joint, &error), POISE_ERROR_MODEL);
        assert_error(&error, POISE_ERROR_MODEL, "a joint and its body", "need a name");
        assert_only_root(builder);
        poise_builder_destroy(builder);
    }
}

TEST(numbers_that_a_type_does_not_use_are_not_looked_at)
{
    poise_builder *builder = new_builder();
    poise_joint joint = joint_of("root", NULL, POISE_JOINT_REVOLUTE);
    joint.axis2 = poise_vec3_make(NAN, 0, 0);
    joint.axes = (poise_quat){0, 0, 0, 0};
    joint.lower[1] = 3;
    joint.upper[1] = NAN;
    joint.mimic_multiplier = NAN;
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    assert_only_root(builder);
    poise_builder_destroy(builder);
}

// ---- One tool ------------------------------------------------------------------------------------------------------------

static poise_tool tool_of(const char *name, const char *body)
{
    return (poise_tool){.name = name, .body = body, .pose = poise_pose_identity()};
}

TEST(a_tool_without_a_name_is_refused)
{
    poise_tool tool = tool_of(NULL, "root");
    assert_tool_refused(&tool, "a tool", "needs a name");
    tool.name = "";
    assert_tool_refused(&tool, "a tool", "needs a name");
}

TEST(a_tool_without_a_body_is_refused)
{
    poise_tool tool = tool_of("tip", NULL);
    assert_tool_refused(&tool, "tool \"tip\"", "name the body that carries it");
    tool.body = "";
    assert_tool_refused(&tool, "tool \"tip\"", "name the body that carries it");
}

TEST(a_tool_at_a_place_that_is_not_finite_is_refused)
{
    poise_tool tool = tool_of("tip", "root");
    tool.pose.position.z = NAN;
    assert_tool_refused(&tool, "tool \"tip\"", "position is not finite, or beyond 1e100");
    tool.pose.position.z = 1e101;
    assert_tool_refused(&tool, "tool \"tip\"", "position is not finite, or beyond 1e100");
}

TEST(a_tool_with_a_zero_quaternion_is_refused)
{
    poise_tool tool = tool_of("tip", "root");
    tool.pose.rotation.w = 0;
    assert_tool_refused(&tool, "tool \"tip\"", "rotation is not a rotation");
}

TEST(a_second_tool_of_the_same_name_is_refused)
{
    poise_builder *builder = new_builder();
    add(builder, "root", NULL, POISE_JOINT_FIXED);
    poise_tool tool = tool_of("tip", "root");
    poise_error error = blank_error();
    ck_assert_int_eq(poise_builder_add_tool(builder, &tool, &error), POISE_OK);
    assert_untouched(&error);
    ck_assert_int_eq(poise_builder_add_tool(builder, &tool, &error), POISE_ERROR_MODEL);
    assert_error(&error, POISE_ERROR_MODEL, "tool \"tip\"", "there is already a tool of that name");
    poise_model *model = model_of(builder);
    ck_assert_int_eq(poise_model_info(model).tools, 1);
    poise_model_destroy(model);
    poise_builder_destroy(builder);
}

TEST(a_tool_on_an_unknown_body_is_refused_by_the_model)
{
    poise_builder *builder = new_builder();
    add(builder, "root", NULL, POISE_JOINT_FIXED);
    poise_tool tool = tool_of("tip", "elbow");
    ck_assert_int_eq(poise_builder_add_tool(builder, &tool, NULL), POISE_OK); // the body may come later
    assert_model_refused(builder, "tool \"tip\"", "there is no body \"elbow\" to carry it");
    add(builder, "elbow", "root", POISE_JOINT_REVOLUTE);
    poise_model *model = model_of(builder);
    ck_assert_int_eq(poise_model_tool_info(model, 0).body, 1);
    poise_model_destroy(model);
    poise_builder_destroy(builder);
}

// ---- The whole -----------------------------------------------------------------------------------------------------------

TEST(a_model_of_no_joints_is_refused)
{
    poise_builder *builder = new_builder();
    assert_model_refused(builder, "a model", "at least one joint");
    poise_builder_destroy(builder);
}

TEST(an_unknown_parent_is_refused)
{
    poise_builder *builder = new_builder();
    add(builder, "root", NULL, POISE_JOINT_FIXED);
    add(builder, "elbow", "shoulder", POISE_JOINT_REVOLUTE);
    assert_model_refused(builder, "joint \"elbow\"", "there is no body \"shoulder\" to be its parent");
    add(builder, "shoulder", "root", POISE_JOINT_REVOLUTE); // may come later
    poise_model_destroy(model_of(builder));
    poise_builder_destroy(builder);
}

TEST(a_parent_is_a_body_and_not_a_joint)
{
    poise_builder *builder = new_builder();
    poise_joint joint = joint_of("hinge", NULL, POISE_JOINT_REVOLUTE);
    joint.body = "arm";
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    add(builder, "elbow", "hinge", POISE_JOINT_REVOLUTE);
    assert_model_refused(builder, "joint \"elbow\"", "there is no body \"hinge\"");
    poise_builder_destroy(builder);
}

// `length` joints in a ring beside a sound root, and a limb that hangs on the ring.
static void assert_cycle_refused(int length)
{
    static const char *const ring[] = {"r0", "r1", "r2", "r3", "r4"};
    poise_builder *builder = new_builder();
    add(builder, "root", NULL, POISE_JOINT_FIXED);
    add(builder, "limb", "r0", POISE_JOINT_REVOLUTE);
    for (int i = 0; i < length; ++i) {
        add(builder, ring[i], ring[(i + 1) % length], POISE_JOINT_REVOLUTE);
    }
    poise_error error = blank_error();
    poise_model *model = NULL;
    ck_assert_int_eq(poise_model_create(builder, NULL, &model, &error), POISE_ERROR_MODEL);
    assert_error(&error, POISE_ERROR_MODEL, "joint \"r", "cycle through \"r"); // of the ring, not of the limb on it
    ck_assert_ptr_null(model);
    // the two that are named are child and parent
    int child = strstr(error.text, "joint \"r")[8] - '0', parent = strstr(error.text, "through \"r")[10] - '0';
    ck_assert_int_eq(parent, (child + 1) % length);
    poise_builder_destroy(builder);
}

TEST(a_joint_that_is_its_own_parent_is_refused)
{
    assert_cycle_refused(1);
}

TEST(a_cycle_of_two_joints_is_refused)
{
    assert_cycle_refused(2);
}

TEST(a_cycle_of_five_joints_is_refused)
{
    assert_cycle_refused(5);
}

// ---- Mimics --------------------------------------------------------------------------------------------------------------

// A revolute "leader" with limits, a "ball", and a revolute "elbow" that follows `leader` as the caller says.
static poise_builder *mimic_builder(const char *leader, double multiplier, double offset, double lower, double upper)
{
    poise_builder *builder = new_builder();
    poise_joint joint = joint_of("leader", NULL, POISE_JOINT_REVOLUTE);
    joint.lower[0] = -1;
    joint.upper[0] = 1;
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    add(builder, "ball", "leader", POISE_JOINT_BALL_EULER);
    joint = joint_of("elbow", "ball", POISE_JOINT_REVOLUTE);
    joint.mimic = leader;
    joint.mimic_multiplier = multiplier;
    joint.mimic_offset = offset;
    joint.lower[0] = lower;
    joint.upper[0] = upper;
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    return builder;
}

static void assert_mimic_refused(const char *leader, double multiplier, double offset, double lower, double upper,
                                 const char *reason)
{
    poise_builder *builder = mimic_builder(leader, multiplier, offset, lower, upper);
    assert_model_refused(builder, "joint \"elbow\"", reason);
    poise_builder_destroy(builder);
}

TEST(a_mimic_of_an_unknown_joint_is_refused)
{
    assert_mimic_refused("shoulder", 1, 0, -INFINITY, INFINITY, "there is no joint \"shoulder\" to mimic");
}

TEST(a_mimic_of_a_ball_is_refused)
{
    assert_mimic_refused("ball", 1, 0, -INFINITY, INFINITY, "a revolute, prismatic or curve joint, not \"ball\"");
}

TEST(a_mimic_of_itself_is_refused)
{
    poise_builder *builder = new_builder();
    poise_joint joint = joint_of("elbow", NULL, POISE_JOINT_REVOLUTE);
    joint.mimic = "elbow";
    poise_error error;
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, &error), POISE_ERROR_MODEL);
    ck_assert_ptr_nonnull(strstr(error.text, "joint \"elbow\": it mimics itself"));
    poise_builder_destroy(builder);
}

TEST(a_mimic_of_a_mimic_is_refused)
{
    poise_builder *builder = mimic_builder("leader", 1, 0, -INFINITY, INFINITY);
    poise_joint joint = joint_of("wrist", "elbow", POISE_JOINT_PRISMATIC);
    joint.mimic = "elbow";
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    assert_model_refused(builder, "joint \"wrist\"", "\"elbow\" is itself a mimic joint");
    poise_builder_destroy(builder);
}

TEST(a_mimic_whose_limits_its_leader_cannot_reach_is_refused)
{
    assert_mimic_refused("leader", 2, 0, 3, 4, "no position of \"leader\" meets the limits of both");
    assert_mimic_refused("leader", -2, 0, 3, 4, "no position of \"leader\" meets the limits of both");
    assert_mimic_refused("leader", 1, 10, -2, 2, "no position of \"leader\" meets the limits of both");
}

TEST(a_mimic_so_slow_that_its_limits_are_infinitely_far_is_refused)
{
    poise_builder *builder = new_builder();
    add(builder, "leader", NULL, POISE_JOINT_PRISMATIC);
    poise_joint joint = joint_of("elbow", "leader", POISE_JOINT_PRISMATIC);
    joint.mimic = "leader";
    joint.mimic_multiplier = 1e-310;
    joint.lower[0] = 1;
    joint.upper[0] = 2;
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    assert_model_refused(builder, "joint \"elbow\"", "no position of \"leader\" meets the limits of both");
    poise_builder_destroy(builder);
}

TEST(a_constant_mimic_outside_its_limits_is_refused)
{
    assert_mimic_refused("leader", 0, 0.5, 1, 2, "mimic offset 0.5 lies outside its limits");
    poise_builder *builder = mimic_builder("leader", 0, 1.5, 1, 2);
    poise_model_destroy(model_of(builder));
    poise_builder_destroy(builder);
}

// ---- Denavit-Hartenberg rows ---------------------------------------------------------------------------------------------

static poise_dh_row dh_row(double a)
{
    return (poise_dh_row){.a = a, .lower = -INFINITY, .upper = INFINITY};
}

// The rows are refused, and none of them is left in the builder.
static void assert_dh_refused(const char *prefix, const poise_dh_row *rows, int count, poise_dh_convention convention,
                              poise_status status, const char *reason)
{
    poise_builder *builder = new_builder();
    add(builder, "root", NULL, POISE_JOINT_FIXED);
    poise_error error = blank_error();
    ck_assert_int_eq(poise_builder_add_dh(builder, prefix, "root", convention, rows, count, &error), status);
    assert_error(&error, status, "", reason);
    assert_only_root(builder);
    poise_builder_destroy(builder);
}

TEST(a_bad_row_of_a_table_leaves_none_of_its_rows_behind)
{
    poise_dh_row rows[3] = {dh_row(1), dh_row(1), dh_row(NAN)};
    assert_dh_refused("arm", rows, 3, POISE_DH_CLASSIC, POISE_ERROR_MODEL, "row 3: a number is not finite");
    rows[2] = dh_row(1);
    rows[1].lower = 2;
    rows[1].upper = 1;
    assert_dh_refused("arm", rows, 3, POISE_DH_MODIFIED, POISE_ERROR_MODEL, "joint \"arm2\": lower limit 2");
    rows[1] = dh_row(1);
    rows[0].alpha = INFINITY;
    assert_dh_refused("arm", rows, 3, POISE_DH_CLASSIC, POISE_ERROR_MODEL, "row 1: a number is not finite");
}

TEST(a_table_whose_last_joint_exists_already_leaves_none_of_its_rows_behind)
{
    poise_builder *builder = new_builder();
    add(builder, "arm3", NULL, POISE_JOINT_FIXED);
    poise_dh_row rows[3] = {dh_row(1), dh_row(1), dh_row(1)};
    poise_error error = blank_error();
    ck_assert_int_eq(poise_builder_add_dh(builder, "arm", NULL, POISE_DH_CLASSIC, rows, 3, &error), POISE_ERROR_MODEL);
    assert_error(&error, POISE_ERROR_MODEL, "joint \"arm3\"", "there is already a joint of that name");
    ck_assert_int_eq(poise_builder_add_dh(builder, "arm", NULL, POISE_DH_CLASSIC, rows, 2, &error), POISE_OK);
    poise_model *model = model_of(builder);
    ck_assert_int_eq(poise_model_info(model).joints, 3);
    ck_assert_int_eq(poise_model_find_joint(model, "arm1"), 1);
    ck_assert_int_eq(poise_model_find_body(model, "arm2"), 2);
    poise_model_destroy(model);
    poise_builder_destroy(builder);
}

TEST(a_table_whose_tip_exists_already_leaves_none_of_its_rows_behind)
{
    poise_builder *builder = new_builder();
    add(builder, "root", NULL, POISE_JOINT_FIXED);
    poise_tool tool = tool_of("armtip", "root");
    ck_assert_int_eq(poise_builder_add_tool(builder, &tool, NULL), POISE_OK);
    poise_dh_row rows[2] = {dh_row(1), dh_row(1)};
    poise_error error = blank_error();
    ck_assert_int_eq(poise_builder_add_dh(builder, "arm", "root", POISE_DH_CLASSIC, rows, 2, &error), POISE_ERROR_MODEL);
    assert_error(&error, POISE_ERROR_MODEL, "tool \"armtip\"", "there is already a tool of that name");
    poise_model *model = model_of(builder);
    ck_assert_int_eq(poise_model_info(model).joints, 1);
    ck_assert_int_eq(poise_model_find_joint(model, "arm1"), POISE_NONE);
    poise_model_destroy(model);
    poise_builder_destroy(builder);
}

TEST(a_table_without_rows_or_with_a_long_prefix_is_refused)
{
    poise_dh_row rows[1] = {dh_row(1)};
    char prefix[80];
    memset(prefix, 'p', sizeof prefix);
    prefix[79] = '\0';
    assert_dh_refused(prefix, rows, 1, POISE_DH_CLASSIC, POISE_ERROR_ARGUMENT,
                      "prefix of a Denavit-Hartenberg chain is too");
    prefix[61] = '\0'; // room for the number, not for "tip"
    assert_dh_refused(prefix, rows, 1, POISE_DH_CLASSIC, POISE_ERROR_ARGUMENT,
                      "prefix of a Denavit-Hartenberg chain is too");
    prefix[60] = '\0'; // room for both
    poise_builder *builder = new_builder();
    ck_assert_int_eq(poise_builder_add_dh(builder, prefix, NULL, POISE_DH_CLASSIC, rows, 1, NULL), POISE_OK);
    poise_builder_destroy(builder);
    assert_dh_refused("arm", rows, 0, POISE_DH_CLASSIC, POISE_ERROR_ARGUMENT, "at least one row, not 0");
    assert_dh_refused("arm", NULL, 1, POISE_DH_CLASSIC, POISE_ERROR_ARGUMENT, "rows must not be NULL");
    assert_dh_refused(NULL, rows, 1, POISE_DH_CLASSIC, POISE_ERROR_ARGUMENT, "prefix must not be NULL");
    assert_dh_refused("arm", rows, 1, (poise_dh_convention)2, POISE_ERROR_ARGUMENT, "POISE_DH_MODIFIED, not 2");
}

// ---- NULL ----------------------------------------------------------------------------------------------------------------

TEST(null_arguments_are_refused)
{
    poise_builder *builder = new_builder();
    poise_joint joint = joint_of("root", NULL, POISE_JOINT_FIXED);
    poise_tool tool = tool_of("tip", "root");
    poise_model *model = NULL;
    poise_error error = blank_error();
    poise_dh_row row = dh_row(1);
    ck_assert_int_eq(poise_builder_create(NULL, NULL, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_builder_add_joint(NULL, &joint, &error), POISE_ERROR_ARGUMENT);
    assert_error(&error, POISE_ERROR_ARGUMENT, "builder", "must not be NULL");
    ck_assert_int_eq(poise_builder_add_joint(builder, NULL, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_builder_add_tool(NULL, &tool, &error), POISE_ERROR_ARGUMENT);
    assert_error(&error, POISE_ERROR_ARGUMENT, "tool", "must not be NULL");
    ck_assert_int_eq(poise_builder_add_tool(builder, NULL, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_builder_add_dh(NULL, "a", NULL, POISE_DH_CLASSIC, &row, 1, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_model_create(NULL, NULL, &model, &error), POISE_ERROR_ARGUMENT);
    assert_error(&error, POISE_ERROR_ARGUMENT, "model", "must not be NULL");
    ck_assert_int_eq(poise_model_create(builder, NULL, NULL, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_null(model);
    poise_builder_destroy(builder);
    poise_builder_destroy(NULL);
    poise_model_destroy(NULL);
}
