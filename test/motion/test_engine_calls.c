// What the library of motions asks of the engine: calls that compare poses, go between them, read a solver and narrow limits.
#include "support/skeleton.h"

#include <poise/poise.h>

#include <math.h>
#include <string.h>

#define FAR 1e9
#define PI  3.14159265358979323846

// A hinge at the world with another one a length away, and a tip a length from there.
static poise_model *two_hinges(double limit)
{
    poise_builder *builder = new_builder();
    for (int i = 0; i < 2; ++i) {
        poise_joint joint = joint_of(i == 0 ? "upper" : "lower", i == 0 ? NULL : "upper", POISE_JOINT_REVOLUTE);
        joint.offset.position = (poise_vec3){i, 0, 0};
        joint.lower[0] = -limit;
        joint.upper[0] = limit;
        add(builder, &joint);
    }
    return model_of(builder);
}

static poise_model *one_joint(poise_joint_type type)
{
    poise_builder *builder = new_builder();
    add_plain(builder, "a", NULL, type);
    return model_of(builder);
}

static double angle_of(poise_quat q)
{
    return 2.0 * atan2(sqrt(q.x * q.x + q.y * q.y + q.z * q.z), fabs(q.w));
}

TEST(what_cannot_be_a_configuration_is_named)
{
    poise_model *model = two_hinges(1.0);
    poise_error error = {0};
    ck_assert_int_eq(poise_model_check(model, (double[]){0.5, 3.0}, "q", &error), POISE_OK); // limits are not asked for
    ck_assert_int_eq(poise_model_check(model, (double[]){0.5, NAN}, "start", &error), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.text, "start[1], of joint \"lower\""));
    ck_assert_int_eq(poise_model_check(model, NULL, "start", NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_model_check(one_joint(POISE_JOINT_BALL_QUATERNION), (double[4]){0}, "q", NULL),
                     POISE_ERROR_ARGUMENT);
}

TEST(a_vector_between_points_keeps_its_digits_far_away)
{
    scene_random random = scene_random_make(5);
    for (int trial = 0; trial < 20; ++trial) {
        figure f = figure_of(own_model(random_model(&random, 12, RANDOM_MIMICS)));
        scene_random_configuration(&random, f.model, f.q);
        update(&f);
        int a = trial % 12, b = (5 * trial + 3) % 12;
        poise_vec3 from = {0.1, -0.2, 0.3}, to = {0.4, 0.0, -0.1};
        poise_vec3 x = poise_kinematics_point(f.kin, a, from), y = poise_kinematics_point(f.kin, b, to);
        poise_vec3 apart = poise_kinematics_apart(f.kin, a, from, b, to);
        ck_assert_double_eq_tol(apart.x, y.x - x.x, 1e-12);
        ck_assert_double_eq_tol(apart.y, y.y - x.y, 1e-12);
        ck_assert_double_eq_tol(apart.z, y.z - x.z, 1e-12);
    }
    figure far = figure_of(one_joint(POISE_JOINT_TRANSLATION));
    far.q[0] = FAR;
    update(&far);
    poise_vec3 apart = poise_kinematics_apart(far.kin, 0, (poise_vec3){0.1, 0, 0}, 0, (poise_vec3){0.4, 0, 0});
    ck_assert_double_eq_tol(apart.x, 0.3, 1e-15); // a difference of world points has 7 digits left
}

TEST(the_largest_turn_of_a_body_is_told_and_states_are_copied)
{
    figure a = figure_of(two_hinges(INFINITY)), b = figure_of(a.model), other = figure_of(two_hinges(INFINITY));
    b.q[0] = 0.25, b.q[1] = 0.5;
    update(&b);
    ck_assert_double_eq_tol(poise_kinematics_turn(a.kin, b.kin), 0.75, 1e-15); // of the lower one
    poise_kinematics_copy(a.kin, b.kin);
    ck_assert_double_eq(poise_kinematics_turn(a.kin, b.kin), 0.0);
    poise_pose copied = poise_kinematics_body_pose(a.kin, 1), original = poise_kinematics_body_pose(b.kin, 1);
    ck_assert_mem_eq(&copied, &original, sizeof copied);
    double J[2][6];
    ck_assert_int_eq(poise_kinematics_jacobian(a.kin, 1, (poise_vec3){1, 0, 0}, J[0], NULL, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_jacobian(b.kin, 1, (poise_vec3){1, 0, 0}, J[1], NULL, NULL), POISE_OK);
    ck_assert_mem_eq(J[0], J[1], sizeof J[0]);
    poise_kinematics_copy(other.kin, b.kin); // of another model: nothing
    ck_assert_double_eq(poise_kinematics_body_pose(other.kin, 1).position.x, 1.0);
    ck_assert_double_eq(poise_kinematics_turn(other.kin, b.kin), 0.0);
}

TEST(between_configurations_every_joint_goes_its_share)
{
    poise_model *ball = one_joint(POISE_JOINT_BALL_QUATERNION);
    double a[4] = {0, 0, 0, 1}, b[4] = {sin(0.6), 0, 0, cos(0.6)}, q[4];
    for (int i = 0; i <= 10; ++i) {
        ck_assert_int_eq(poise_interpolate(ball, a, b, i / 10.0, 0.5, q, NULL), POISE_OK);
        ck_assert_double_eq_tol(angle_of((poise_quat){q[0], q[1], q[2], q[3]}), 0.12 * i, 1e-14);
    }
    // three angles that are far apart: an arc with `apart` 0, each on its own way where that is allowed
    poise_model *euler = one_joint(POISE_JOINT_BALL_EULER);
    figure f = figure_of(euler);
    double from[3] = {0, 0, 0}, to[3] = {3.0, 0.4, -3.0}, half[3];
    memcpy(f.q, to, sizeof to);
    update(&f);
    double whole = angle_of(poise_kinematics_body_pose(f.kin, 0).rotation);
    ck_assert_int_eq(poise_interpolate(euler, from, to, 0.5, 0.0, half, NULL), POISE_OK);
    memcpy(f.q, half, sizeof half);
    update(&f);
    ck_assert_double_eq_tol(angle_of(poise_kinematics_body_pose(f.kin, 0).rotation), 0.5 * whole, 1e-12);
    ck_assert_int_eq(poise_interpolate(euler, from, to, 0.5, INFINITY, half, NULL), POISE_OK);
    ck_assert_double_eq(half[0], 1.5);
    ck_assert_int_eq(poise_interpolate(euler, from, to, 1.5, 0.0, half, NULL), POISE_ERROR_ARGUMENT);
}

TEST(a_joint_takes_the_pose_that_its_body_is_to_have)
{
    scene_random random = scene_random_make(8);
    figure f = figure_of(one_joint(POISE_JOINT_FREE_EULER));
    for (int trial = 0; trial < 50; ++trial) {
        double q[6];
        scene_random_configuration(&random, f.model, f.q);
        update(&f);
        poise_pose pose = poise_kinematics_body_pose(f.kin, 0), world = poise_pose_identity();
        memcpy(q, f.q, sizeof q);
        q[3] += 0.2, q[5] -= 0.3;
        ck_assert(poise_set_joint_pose(f.model, 0, &world, &pose, q));
        memcpy(f.q, q, sizeof q);
        update(&f);
        poise_pose is = poise_kinematics_body_pose(f.kin, 0);
        ck_assert_double_eq_tol(is.position.x, pose.position.x, 1e-12);
        ck_assert_double_eq_tol(angle_of(poise_quat_multiply(poise_quat_conjugate(is.rotation), pose.rotation)), 0, 1e-7);
    }
    double turned[1] = {0.1 + 4 * PI}, near[1] = {0.2};
    poise_set_same_pose_near(one_joint(POISE_JOINT_REVOLUTE), near, turned);
    ck_assert_double_eq_tol(turned[0], 0.1, 1e-14);
    ck_assert(!poise_set_joint_pose(f.model, 1, NULL, NULL, near));
}

TEST(a_model_with_other_limits_is_the_same_skeleton)
{
    poise_model *model = two_hinges(1.0), *wide = NULL;
    double lower[2] = {-2, -0.5}, upper[2] = {2, 0.5}, q[2] = {1.5, 0.7};
    ck_assert_int_eq(poise_model_with_limits(model, lower, upper, NULL, NULL, &wide, NULL), POISE_OK);
    ck_assert_int_eq(poise_model_clamp(wide, q, NULL, NULL), POISE_OK);
    ck_assert_double_eq(q[0], 1.5);
    ck_assert_double_eq(q[1], 0.5);
    ck_assert(poise_model_within_limits(wide, q));
    ck_assert(!poise_model_within_limits(model, q));
    ck_assert_str_eq(poise_model_joint_info(wide, 1).name, "lower");
    poise_model_destroy(wide);
    ck_assert_int_eq(poise_model_with_limits(model, upper, lower, NULL, NULL, &wide, NULL), POISE_ERROR_ARGUMENT);
    poise_builder *builder = new_builder();
    poise_joint joint = joint_of("hip", NULL, POISE_JOINT_SWING_TWIST);
    joint.swing[0] = joint.swing[1] = 0.5;
    add(builder, &joint);
    poise_model *hip = model_of(builder);
    double open[2][3] = {{-PI, -PI, -PI}, {PI, PI, PI}}, swung[3] = {0.8, 0, 0};
    ck_assert_int_eq(poise_model_with_limits(hip, open[0], open[1], (double[]){1.0, 1.0}, NULL, &wide, NULL), POISE_OK);
    ck_assert(poise_model_within_limits(wide, swung));
    ck_assert(!poise_model_within_limits(hip, swung));
    poise_model_destroy(wide);
}

TEST(a_solver_stays_in_narrower_limits_until_they_are_opened)
{
    poise_model *model = two_hinges(3.0);
    poise_solver_options options = poise_solver_options_default();
    options.method = POISE_METHOD_LEVENBERG_MARQUARDT;
    poise_solver *solver = NULL;
    ck_assert_int_eq(poise_solver_create(model, &options, NULL, &solver, NULL), POISE_OK);
    poise_goal goal = poise_goal_position(1, (poise_vec3){1, 0, 0}, (poise_vec3){0.3, 1.2, 0});
    double start[2] = {0.5, 0.5}, lower[2] = {0.4, 0.45}, upper[2] = {0.6, 0.55}, q[2] = {0.5, 0.5};
    poise_report report;
    ck_assert_int_eq(poise_solver_narrow(solver, lower, upper, NULL), POISE_OK);
    ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
    for (int i = 0; i < 2; ++i) {
        ck_assert_double_ge(q[i], lower[i]);
        ck_assert_double_le(q[i], upper[i]);
    }
    ck_assert_int_ne(report.outcome, POISE_OUTCOME_REACHED);
    const poise_kinematics *at = poise_solver_kinematics(solver);
    figure f = figure_of(model);
    memcpy(f.q, q, sizeof q);
    update(&f);
    ck_assert_double_eq_tol(poise_kinematics_turn(at, f.kin), 0.0, 1e-12);
    ck_assert_int_eq(poise_solver_narrow(solver, NULL, NULL, NULL), POISE_OK);
    ck_assert_int_eq(poise_solve(solver, &goal, 1, start, &report, NULL), POISE_OK);
    ck_assert_int_eq(report.outcome, POISE_OUTCOME_REACHED);
    ck_assert_int_eq(poise_solver_narrow(solver, upper, lower, NULL), POISE_ERROR_ARGUMENT);
    poise_solver_destroy(solver);
    options.restarts = -1;
    ck_assert_int_eq(poise_solver_options_check(model, &options, NULL), POISE_ERROR_ARGUMENT);
}

TEST(residuals_of_a_goal_give_its_energy_and_gradient)
{
    scene_random random = scene_random_make(3);
    for (int trial = 0; trial < 20; ++trial) {
        figure f = figure_of(own_model(random_model(&random, 10, 0)));
        scene_random_configuration(&random, f.model, f.q);
        update(&f);
        poise_goal goal = poise_goal_pose(9, poise_pose_identity(), (poise_pose){{0, 0, 0, 1}, {0.1, 0.2, 0.3}});
        goal.weight = 2.5;
        double r[POISE_GOAL_RESIDUALS], J[POISE_GOAL_RESIDUALS * FIGURE_NUMBERS], energy = 0.0;
        int rows = poise_goal_residuals(f.kin, &goal, NULL, NULL);
        ck_assert_int_eq(poise_goal_residuals(f.kin, &goal, r, J), rows);
        poise_objective *objective = NULL;
        ck_assert_int_eq(poise_objective_create(f.model, 0, NULL, &objective, NULL), POISE_OK);
        ck_assert_int_eq(poise_objective_set_goals(objective, &goal, 1, NULL), POISE_OK);
        ck_assert_int_eq(poise_objective_evaluate(objective, f.q, POISE_LEVEL_GRADIENT, NULL), POISE_OK);
        poise_value value = poise_objective_value(objective);
        for (int i = 0; i < rows; ++i) {
            energy += 0.5 * r[i] * r[i];
        }
        ck_assert_double_eq_tol(energy, value.cost, 1e-12 * (1.0 + value.cost));
        for (int v = 0; v < f.nv; ++v) {
            double sum = 0.0;
            for (int i = 0; i < rows; ++i) {
                sum += r[i] * J[i * f.nv + v];
            }
            ck_assert_double_eq_tol(sum, value.gradient[v], 1e-10 * (1.0 + value.cost));
        }
        poise_objective_destroy(objective);
    }
}
