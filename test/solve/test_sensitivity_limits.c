// Derivatives of answers that limits hold, or that touch one.
#include "support/answers.h"

#include <math.h>
#include <string.h>

TEST(answers_follow_the_limit_that_holds_them)
{
    const double h = 1e-3;
    poise_goal goal = poise_goal_position(2, poise_vec3_make(1, 0, 0), poise_vec3_make(-0.3, 1.1, 0));
    double held[3] = {0.2, 0.3, 0.1}, ends[3][3], by_q[3] = {0.3, -1, 0.7}, lower[3], upper[3], expected = 0.0;
    poise_goal goals[2] = {goal, poise_goal_posture(held, 0.1)};
    figure middle = planar_arm(0.4);
    for (int end = 0; end < 3; ++end) {
        figure f = end == 1 ? middle : planar_arm(0.4 + (end - 1) * h);
        memcpy(ends[end], held, sizeof held);
        solve_to_the_end(f.model, goals, 2, ends[end]);
        ck_assert_double_eq(ends[end][1], 0.4 + (end - 1) * h);
    }
    for (int i = 0; i < 3; ++i) {
        expected += by_q[i] * (ends[2][i] - ends[0][i]) / (2 * h);
    }
    poise_sensitivity *s = sensitivity_of(middle.model, 0);
    poise_goal_change gradients[2] = {0};
    ck_assert_int_eq(poise_sensitivity_update(s, goals, 2, ends[1], true, NULL), POISE_OK);
    ck_assert_int_eq(poise_sensitivity_backward(s, by_q, gradients, lower, upper, NULL), POISE_OK);
    ck_assert_double_eq_tol(upper[1], expected, 1e-5);
    ck_assert(upper[0] == 0 && upper[2] == 0 && lower[1] == 0);
    // without limits there is none to follow
    memcpy(ends[0], held, sizeof held);
    solve_to_the_end(planar_arm(INFINITY).model, goals, 2, ends[0]);
    ck_assert_int_eq(poise_sensitivity_update(s, goals, 2, ends[0], false, NULL), POISE_OK);
    ck_assert_int_eq(poise_sensitivity_backward(s, by_q, gradients, lower, upper, NULL), POISE_OK);
    ck_assert(upper[1] == 0);
}

// At a limit that nothing pushes against, forward follows the side that its change goes to.
TEST_ROWS(a_limit_that_is_touched_counts_on_one_side, 2)
{
    const double h = 1e-4;
    figure f = planar_arm(0.4);
    double q[3] = {0.2, 0.4, 0.3}, dq[3], moved[3], way = test_row ? 1.0 : -1.0;
    memcpy(f.q, q, sizeof q);
    update(&f);
    poise_pose tip = {{0, 0, 0, 1}, {1, 0, 0}};
    poise_pose at = poise_pose_multiply(poise_kinematics_body_pose(f.kin, 2), tip);
    poise_goal goal = poise_goal_pose(2, tip, at), further = goal;
    poise_sensitivity *s = sensitivity_of(f.model, 0);
    ck_assert_int_eq(poise_sensitivity_update(s, &goal, 1, q, true, NULL), POISE_OK);
    poise_sensitivity_info info = poise_sensitivity_describe(s);
    ck_assert(info.touching == 1 && info.held == 0 && info.limits[1] == POISE_TOUCHES_UPPER);
    poise_goal_change change = {.translation = {way * at.position.x, way * at.position.y, 0}}; // out: the arm straightens
    ck_assert_int_eq(poise_sensitivity_forward(s, &change, dq, NULL), POISE_OK);
    double slope[2][3];
    for (int half = 0; half < 2; ++half) {
        double by = half ? h / 2 : h;
        further.target.position.x = at.position.x + by * change.translation.x;
        further.target.position.y = at.position.y + by * change.translation.y;
        memcpy(moved, q, sizeof q);
        solve_to_the_end(f.model, &further, 1, moved);
        for (int i = 0; i < 3; ++i) {
            slope[half][i] = (moved[i] - q[i]) / by;
        }
    }
    ck_assert_msg((dq[1] == 0) == (way < 0), "the joint that touches moves by %g", dq[1]);
    for (int i = 0; i < 3; ++i) { // of second order
        ck_assert_double_eq_tol(2 * slope[1][i] - slope[0][i], dq[i], 1e-4 * (1 + largest(dq, 3)));
    }
    ck_assert_int_eq(poise_sensitivity_describe(s).touching, 1); // as before
}

// Limits that are one number hold a joint whatever pushes it.
TEST(a_joint_between_limits_that_are_one_does_not_move)
{
    poise_builder *builder = new_builder();
    static const char *const names[] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; ++i) {
        poise_joint joint = joint_of(names[i], i ? names[i - 1] : NULL, POISE_JOINT_REVOLUTE);
        joint.offset.position.x = i ? 1.0 : 0.0;
        joint.lower[0] = i == 1 ? 0.4 : -INFINITY;
        joint.upper[0] = i == 1 ? 0.4 : INFINITY;
        add(builder, &joint);
    }
    figure f = figure_of(model_of(builder));
    memcpy(f.q, (const double[]){0.3, 0.4, 0.5, -0.2}, 4 * sizeof *f.q);
    update(&f);
    poise_goal goal =
        poise_goal_position(3, poise_vec3_make(1, 0, 0), poise_kinematics_point(f.kin, 3, poise_vec3_make(1, 0, 0)));
    poise_sensitivity *s = sensitivity_of(f.model, 0);
    poise_goal_change change = {.translation = {0.3, -0.8, 0}};
    double dq[4];
    ck_assert_int_eq(poise_sensitivity_update(s, &goal, 1, f.q, true, NULL), POISE_OK);
    ck_assert_int_eq(poise_sensitivity_forward(s, &change, dq, NULL), POISE_OK);
    ck_assert(dq[1] == 0.0 && dq[0] != 0.0);
}

// Three slides and three hinges: every pose in reach is met to the last bit, and one beyond the end of a slide by its
// distance alone, where the limit holds the slide until the target is back in reach.
TEST(a_pose_that_is_missed_by_its_distance_alone_is_held_by_the_limit)
{
    poise_builder *builder = new_builder();
    static const char *const names[] = {"x", "y", "z", "yaw", "pitch", "roll"};
    for (int i = 0; i < 6; ++i) {
        poise_joint joint =
            joint_of(names[i], i ? names[i - 1] : NULL, i < 3 ? POISE_JOINT_PRISMATIC : POISE_JOINT_REVOLUTE);
        joint.axis = poise_vec3_make(i == 0 || i == 5, i == 1 || i == 4, i == 2 || i == 3);
        joint.upper[0] = i == 0 ? 1.0 : INFINITY;
        add(builder, &joint);
    }
    figure f = figure_of(model_of(builder));
    memcpy(f.q, (const double[]){1.0, 0.2, -0.3, 0.4, 0.5, -0.6}, 6 * sizeof *f.q);
    update(&f);
    poise_pose here = {{0, 0, 0, 1}, {0, 0, 0}}, target = poise_kinematics_body_pose(f.kin, 5);
    target.position.x += 0.5;
    poise_goal goal = poise_goal_pose(5, here, target);
    poise_sensitivity *s = sensitivity_of(f.model, 0);
    poise_goal_change change = {.translation = {-1, 1, 0}}; // towards the limit, and along it
    double dq[6];
    ck_assert_int_eq(poise_sensitivity_update(s, &goal, 1, f.q, true, NULL), POISE_OK);
    ck_assert_int_eq(poise_sensitivity_forward(s, &change, dq, NULL), POISE_OK);
    ck_assert_msg(dq[0] == 0.0 && fabs(dq[1] - 1.0) < 1e-12, "%g, %g", dq[0], dq[1]);
}
