// The motion filter over whole configurations; the command's switch for it, and its counting of times.
#include "support/test_main.h"

#include <app/cli/latency.h>
#include <app/commands/facing.h>

#include <poise/poise.h>
#include <scenes/random.h>

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

static poise_model *single_joint(poise_joint_type type)
{
    poise_builder *builder = NULL;
    poise_model *model = NULL;
    poise_joint joint = poise_joint_default();
    joint.name = "joint";
    joint.type = type;
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_OK);
    poise_builder_destroy(builder);
    return model;
}

// The angle between two configurations of one rotation.
static double turned(const poise_model *model, const double *a, const double *b)
{
    poise_kinematics *kinematics = NULL;
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kinematics, NULL), POISE_OK);
    poise_kinematics_update(kinematics, a, NULL);
    poise_quat from = poise_kinematics_body_pose(kinematics, 0).rotation;
    poise_kinematics_update(kinematics, b, NULL);
    poise_quat to = poise_kinematics_body_pose(kinematics, 0).rotation;
    poise_kinematics_destroy(kinematics);
    return poise_quat_angle(poise_quat_multiply(poise_quat_conjugate(from), to));
}

// A set-point that turns about a fixed axis at 1 rad/s for three turns, in the coordinates that a solver would give: unit
// quaternions of either sign, rotation vectors up to half a turn, angles up to half a turn.
static void setpoint_at(poise_joint_type type, double angle, bool flip, double *q)
{
    poise_vec3 axis = {0.6, 0, 0.8};
    poise_quat r = poise_quat_from_axis_angle(axis, angle);
    double sign = flip ? -1 : 1, wrapped = angle - 2 * PI * floor(angle / (2 * PI) + 0.5);
    if (type == POISE_JOINT_BALL_QUATERNION) {
        memcpy(q, (double[]){sign * r.x, sign * r.y, sign * r.z, sign * r.w}, 4 * sizeof *q);
    } else if (type == POISE_JOINT_BALL_EXPMAP) {
        memcpy(q, (double[]){axis.x * wrapped, axis.y * wrapped, axis.z * wrapped}, 3 * sizeof *q);
    } else {
        q[0] = wrapped;
    }
}

static void follow(poise_joint_type type)
{
    const double dt = 0.01, speed = 1;
    poise_model *model = single_joint(type);
    poise_filter *s = NULL;
    poise_filter_joint manners = poise_filter_joint_default();
    manners.velocity = 3;
    manners.acceleration = 20;
    manners.jerk = 400;
    ck_assert_int_eq(poise_filter_create(model, &manners, 1, NULL, &s, NULL), POISE_OK);
    double q[4], last[4], setpoint[4], fastest = 0, furthest = 0;
    setpoint_at(type, 0, false, setpoint);
    poise_filter_reset(s, setpoint, NULL);
    poise_filter_step(s, setpoint, dt, q, NULL);
    for (int i = 0; i * dt * speed < 6 * PI; ++i) {
        memcpy(last, q, sizeof q);
        setpoint_at(type, speed * i * dt, i % 3 == 1, setpoint);
        poise_filter_step(s, setpoint, dt, q, NULL);
        fastest = fmax(fastest, turned(model, last, q) / dt);
        furthest = i * dt > 2 ? fmax(furthest, turned(model, q, setpoint)) : furthest;
    }
    // a leap to the other coordinates of one rotation would bring the filter to its full 3 rad/s on each axis, and the
    // rotation behind by half a turn; while it catches up it may go faster than the set-point
    ck_assert_double_le(furthest, 0.5);
    ck_assert_double_le(fastest, 2.5);
    for (int i = 0; i < 500 && !poise_filter_rests(s); ++i) {
        poise_filter_step(s, setpoint, dt, q, NULL);
    }
    ck_assert(poise_filter_rests(s));
    ck_assert_double_le(turned(model, q, setpoint), 3e-5); // 1e-5 on each of three numbers
    poise_filter_destroy(s);
    poise_model_destroy(model);
}

TEST(quaternions_are_followed_through_whole_turns_and_signs)
{
    follow(POISE_JOINT_BALL_QUATERNION);
}

TEST(rotation_vectors_without_limits_are_followed_through_whole_turns)
{
    follow(POISE_JOINT_BALL_EXPMAP);
}

TEST(hinges_without_limits_are_followed_through_whole_turns)
{
    follow(POISE_JOINT_REVOLUTE);
}

TEST(what_is_no_configuration_is_refused_or_leaves_the_last_set_point)
{
    poise_model *model = single_joint(POISE_JOINT_BALL_QUATERNION);
    poise_filter *filter = NULL;
    poise_error error;
    poise_filter_joint bad = poise_filter_joint_default();
    bad.jerk = 0;
    ck_assert_int_eq(poise_filter_create(model, NULL, 0, NULL, NULL, &error), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_filter_create(model, NULL, 1, NULL, &filter, &error), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_filter_create(model, &bad, 2, NULL, &filter, &error), POISE_ERROR_ARGUMENT);
    ck_assert_str_eq(error.text, "2 joints given for a model that has 1");
    ck_assert_int_eq(poise_filter_create(model, &bad, 1, NULL, &filter, &error), POISE_ERROR_ARGUMENT);
    ck_assert_str_eq(error.text, "joint \"joint\": jerk must be finite and > 0");
    ck_assert_int_eq(poise_filter_create(model, NULL, 0, NULL, &filter, &error), POISE_OK);
    double zero[4] = {0}, turned_x[4] = {1, 0, 0, 0}, broken[4] = {NAN, 0, 0, 1}, q[4];
    ck_assert_int_eq(poise_filter_reset(filter, zero, &error), POISE_ERROR_ARGUMENT);
    ck_assert(poise_filter_rests(filter));
    for (int i = 0; i < 1000; ++i) { // 10 s for half a turn
        ck_assert_int_eq(poise_filter_step(filter, i == 0 ? turned_x : broken, 0.01, q, &error), POISE_OK);
    }
    ck_assert_double_eq_tol(fabs(q[0]), 1, 1e-9);
    poise_filter_destroy(filter);
    poise_model_destroy(model);
}

// Hinge, ball and free root: a number for each degree of freedom; lengths in the model's unit, none where a joint is off.
TEST(limits_are_told_by_degree_of_freedom)
{
    static const poise_joint_type types[] = {POISE_JOINT_FREE, POISE_JOINT_REVOLUTE, POISE_JOINT_BALL_QUATERNION};
    poise_builder *builder;
    poise_filter_joint limits[3];
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    for (int k = 0; k < 3; ++k) {
        poise_joint joint = poise_joint_default();
        static const char *const names[] = {"root", "hinge", "ball"};
        joint.name = names[k], joint.parent = k == 0 ? NULL : names[k - 1], joint.type = types[k];
        ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
        limits[k] = poise_filter_joint_default();
        limits[k].velocity = k + 1, limits[k].acceleration = 10 * (k + 1), limits[k].length_unit = 100;
    }
    limits[1].mode = POISE_FILTER_OFF;
    poise_model *model;
    poise_filter *filter;
    ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_OK);
    ck_assert_int_eq(poise_filter_create(model, limits, 3, NULL, &filter, NULL), POISE_OK);
    static const double expected[10] = {100, 100, 100, 1, 1, 1, INFINITY, 3, 3, 3};
    double velocity[10] = {0}, acceleration[10] = {0};
    poise_filter_limits(filter, velocity, acceleration);
    poise_filter_limits(filter, NULL, NULL);
    for (int i = 0; i < 10; ++i) {
        ck_assert(velocity[i] == expected[i] && acceleration[i] == 10 * expected[i]);
    }
    poise_filter_destroy(filter);
    poise_model_destroy(model);
    poise_builder_destroy(builder);
}

TEST(a_root_that_moves_freely_is_let_through)
{
    static const poise_joint_type types[] = {POISE_JOINT_FREE, POISE_JOINT_FREE_EULER, POISE_JOINT_REVOLUTE};
    for (size_t i = 0; i < TEST_COUNT(types); ++i) {
        poise_model *model = single_joint(types[i]);
        poise_filter_joint joint;
        poise_filter_joints(model, i == 0 ? 0 : 0.01, &joint);
        ck_assert_int_eq(joint.mode, types[i] == POISE_JOINT_REVOLUTE ? POISE_FILTER_TIME_OPTIMAL : POISE_FILTER_OFF);
        ck_assert_double_eq_tol(joint.length_unit, i == 0 ? 0 : 100, 1e-9);
        ck_assert_double_eq(joint.velocity, poise_filter_joint_default().velocity);
        poise_model_destroy(model);
    }
}

TEST(switched_off_it_gives_setpoints_back_to_the_bit)
{
    poise_model *model = single_joint(POISE_JOINT_BALL_QUATERNION);
    smoother *s = smoother_create(model, 1, "off");
    double q[4], setpoint[4] = {0.1, 0.2, 0.3, sqrt(1 - 0.14)};
    ck_assert_ptr_nonnull(s);
    smoother_reset(s, setpoint);
    smoother_step(s, setpoint, 0.01, q);
    ck_assert_int_eq(memcmp(q, setpoint, sizeof q), 0);
    ck_assert(smoother_rests(s));
    smoother_destroy(s);
    poise_model_destroy(model);
}

TEST(quantiles_of_times_are_right_to_a_percent)
{
    static latency l;
    scene_random random = scene_random_make(3);
    l = (latency){0};
    ck_assert_double_eq(latency_quantile(&l, 0.5), 0);
    for (int i = 1; i <= 10000; ++i) {
        latency_add(&l, 1e-6 * i);
    }
    ck_assert_double_eq_tol(latency_quantile(&l, 0.5), 5e-3, 5e-5);
    ck_assert_double_eq_tol(latency_quantile(&l, 0.99), 9.9e-3, 9.9e-5);
    ck_assert_double_eq(latency_quantile(&l, 1), 1e-2); // never above the largest
    ck_assert_double_eq_tol(latency_mean(&l), 5.0005e-3, 1e-12);

    const double few[] = {1, 2, 3}; // of a short recording p99 is the longest time
    for (int n = 1; n <= 3; ++n) {
        ck_assert_double_eq(sorted_quantile(few, n, 0.99), few[n - 1]);
        ck_assert_double_le(sorted_quantile(few, n, 0.5), sorted_quantile(few, n, 0.99));
    }
    ck_assert_double_eq(sorted_quantile(few, 3, 0.5), 2);
    ck_assert_double_eq(sorted_quantile(few, 3, 0), 1);
    ck_assert_double_eq(sorted_quantile(few, 3, 1), 3);
    for (int i = 0; i < 100; ++i) { // out of range on either side
        latency_add(&l, scene_random_range(&random, -1, 1e5));
    }
    ck_assert_double_le(latency_quantile(&l, 0.5), 6e-3);
}

// Euler angles that wrap, or change to the triple that means the same, are no turn: a slow rotation stays slow.
TEST(euler_angles_are_filtered_as_the_rotation_that_they_are)
{
    poise_model *model = single_joint(POISE_JOINT_BALL_EULER);
    poise_filter *filter = NULL;
    double q[3] = {0, 0, 0}, at[3] = {3.0, 0.3, -3.0}, worst = 0;
    ck_assert_int_eq(poise_filter_create(model, NULL, 0, NULL, &filter, NULL), POISE_OK);
    ck_assert_int_eq(poise_filter_reset(filter, at, NULL), POISE_OK);
    for (int i = 0; i < 1000; ++i) {
        double angle = 3.0 + 0.0005 * i, setpoint[3] = {angle > PI ? angle - 2 * PI : angle, 0.3, -3.0};
        if (i % 7 == 3) {
            memcpy(setpoint, (double[]){setpoint[0] - PI, PI - setpoint[1], setpoint[2] + PI}, sizeof setpoint);
        }
        ck_assert_int_eq(poise_filter_step(filter, setpoint, 0.01, q, NULL), POISE_OK);
        worst = fmax(worst, turned(model, setpoint, q));
    }
    ck_assert_msg(worst < 0.05, "%g rad behind", worst);
    poise_filter_destroy(filter);
    poise_model_destroy(model);
}

// A skeleton in centimetres is as quick as the same one in metres: lengths count in its size, or in the unit that is given.
// The size is the offset of a second joint, or that of the only one.
TEST(limits_of_lengths_count_in_the_size_of_the_skeleton)
{
    for (int k = 0; k < 4; ++k) {
        bool is_alone = k >= 2;
        double unit = k % 2 == 0 ? 1 : 100, q[2] = {0}, at[2] = {0, 0};
        poise_builder *builder = NULL;
        poise_model *model = NULL;
        poise_filter *filter = NULL;
        poise_joint slide = poise_joint_default(), next = poise_joint_default();
        slide.name = "slide";
        slide.type = POISE_JOINT_PRISMATIC;
        next.name = "next";
        next.parent = "slide";
        next.type = POISE_JOINT_REVOLUTE;
        next.offset.position = poise_vec3_make(0, unit, 0);
        slide.offset.position = poise_vec3_make(0, is_alone ? unit : 0, 0);
        ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
        ck_assert_int_eq(poise_builder_add_joint(builder, &slide, NULL), POISE_OK);
        ck_assert(is_alone || poise_builder_add_joint(builder, &next, NULL) == POISE_OK);
        ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_OK);
        poise_builder_destroy(builder);
        ck_assert_int_eq(poise_filter_create(model, NULL, 0, NULL, &filter, NULL), POISE_OK);
        ck_assert_int_eq(poise_filter_reset(filter, at, NULL), POISE_OK);
        at[0] = 100 * unit;
        for (int i = 0; i < 100; ++i) {
            ck_assert_int_eq(poise_filter_step(filter, at, 0.01, q, NULL), POISE_OK);
        }
        ck_assert_double_eq_tol(q[0] / unit, 1.7, 0.3); // a second at 2 a second, less the time to get there
        poise_filter_destroy(filter);
        poise_model_destroy(model);
    }
}
