// CCD, BWCD and FABRIK: known answers, and how often they reach what can be reached.
#include "support/test_main.h"

#include "support/geometric_bench.h"

#include <scenes/scenes.h>

#include <math.h>
#include <string.h>

static double distance(poise_vec3 a, poise_vec3 b)
{
    return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

// ---- Known answers -------------------------------------------------------------------------------------------------------

TEST(elbow_of_two_links_has_the_angle_of_the_triangle)
{
    scene_random random = scene_random_make(9);
    for (int round = 0; round < 60; ++round) {
        bench b;
        bench_open(&b, "twolink", geometric[round % 3]);
        b.options.max_iterations = 2000;
        b.options.position_tolerance = 1e-9;
        double q[2] = {scene_random_range(&random, -3, 3), scene_random_range(&random, 0.5, 2.5)};
        double d = scene_random_range(&random, 0.5, 1.8), at = scene_random_range(&random, -3, 3);
        poise_goal goal = bench_tool_goal(&b, "tip", q, POISE_GOAL_POSITION);
        goal.target.position = poise_vec3_make(d * cos(at), d * sin(at), 0);
        poise_report report;
        ck_assert_int_eq(bench_solve(&b, &goal, 1, q, &report), POISE_OK);
        ck_assert_int_eq(report.outcome, POISE_OUTCOME_REACHED);
        // |2 + 2 cos(elbow)| = d^2; an error of 1e-9 in d shows up as d 1e-9 in the cosine
        ck_assert_double_eq_tol(cos(q[1]), (d * d - 2) / 2, 4e-9);
    }
}

TEST(target_out_of_reach_stretches_the_arm_towards_it)
{
    for (int m = 0; m < 3; ++m) {
        bench b;
        bench_open(&b, "arm2d", geometric[m]);
        b.options.max_iterations = 3000;
        double q[5] = {0.3, 0.4, -0.5, 0.6, -0.2};
        poise_goal goal = bench_tool_goal(&b, "tip", q, POISE_GOAL_POSITION);
        goal.target.position = poise_vec3_make(-6, 8, 0);
        poise_report report;
        ck_assert_int_eq(bench_solve(&b, &goal, 1, q, &report), POISE_OK);
        // 10 away, 5 long
        ck_assert_double_eq_tol(report.worst_length, 5.0, 1e-6);
        poise_kinematics_update(b.kinematics, q, NULL);
        poise_vec3 tip = poise_kinematics_point(b.kinematics, goal.body, goal.local.position);
        ck_assert_double_le(distance(tip, poise_vec3_make(-3, 4, 0)), 1e-3);
    }
}

TEST(direction_that_points_away_is_turned_round)
{
    for (int m = 0; m < 2; ++m) {
        bench b;
        bench_open(&b, "arm2d", geometric[m]);
        double q[5] = {0};
        poise_goal goal = poise_goal_direction(4, poise_vec3_make(1, 0, 0), poise_vec3_make(-1, 0, 0));
        poise_report report;
        ck_assert_int_eq(bench_solve(&b, &goal, 1, q, &report), POISE_OK);
        ck_assert_int_eq(report.outcome, POISE_OUTCOME_REACHED);
    }
}

TEST(start_that_no_sweep_improves_is_the_closest)
{
    for (int m = 0; m < 3; ++m) {
        bench b;
        bench_open(&b, "arm2d", geometric[m]);
        double q[5] = {0};
        poise_goal goal = bench_tool_goal(&b, "tip", q, POISE_GOAL_POSITION);
        goal.target.position = poise_vec3_make(7, 0, 0);
        poise_report report;
        ck_assert_int_eq(bench_solve(&b, &goal, 1, q, &report), POISE_OK);
        ck_assert_int_eq(report.outcome, POISE_OUTCOME_CLOSEST);
    }
}

// ---- Reaching ------------------------------------------------------------------------------------------------------------

// Share of `rounds` random targets of a tool that are reached from random starts.
static double share_reached(const char *scene, const char *tool, poise_goal_kind kind, poise_method method, int rounds)
{
    scene_random random = scene_random_make(10);
    bench b;
    bench_open(&b, scene, method);
    int reached = 0;
    for (int round = 0; round < rounds; ++round) {
        double q[LARGEST], there[LARGEST];
        scene_random_configuration(&random, b.model, there);
        scene_random_configuration(&random, b.model, q);
        poise_goal goal = bench_tool_goal(&b, tool, there, kind);
        poise_report report;
        ck_assert_int_eq(bench_solve(&b, &goal, 1, q, &report), POISE_OK);
        reached += report.outcome == POISE_OUTCOME_REACHED;
    }
    return (double)reached / rounds;
}

TEST(most_random_targets_are_reached)
{
    for (int m = 0; m < 3; ++m) {
        ck_assert_double_ge(share_reached("arm2d", "tip", POISE_GOAL_POSITION, geometric[m], 200), 0.95);
        ck_assert_double_ge(share_reached("arm7", "tip", POISE_GOAL_POSITION, geometric[m], 200), 0.8);
        ck_assert_double_ge(share_reached("tree2d", "left", POISE_GOAL_POSITION, geometric[m], 200), 0.8);
    }
    ck_assert_double_ge(share_reached("erik-b", "tip", POISE_GOAL_DIRECTION, POISE_METHOD_CCD, 200), 0.95);
    ck_assert_double_ge(share_reached("erik-g", "tip", POISE_GOAL_DIRECTION, POISE_METHOD_CCD, 200), 0.9);
    ck_assert_double_ge(share_reached("erik-c", "tip", POISE_GOAL_DIRECTION, POISE_METHOD_BWCD, 200), 0.95);
    ck_assert_double_ge(share_reached("erik-g", "tip", POISE_GOAL_DIRECTION, POISE_METHOD_BWCD, 200), 0.95);
}

TEST(three_branches_reach_three_targets_together)
{
    scene_random random = scene_random_make(11);
    for (int m = 0; m < 3; ++m) {
        bench b;
        bench_open(&b, "tree2d", geometric[m]);
        b.options.position_tolerance = 1e-3;
        b.options.max_iterations = 1000;
        int reached = 0;
        for (int round = 0; round < 50; ++round) {
            double q[LARGEST] = {0}, there[LARGEST];
            scene_random_configuration(&random, b.model, there);
            poise_goal goals[3] = {bench_tool_goal(&b, "left", there, POISE_GOAL_POSITION),
                                   bench_tool_goal(&b, "middle", there, POISE_GOAL_POSITION),
                                   bench_tool_goal(&b, "right", there, POISE_GOAL_POSITION)};
            poise_report report;
            ck_assert_int_eq(bench_solve(&b, goals, 3, q, &report), POISE_OK);
            reached += report.outcome == POISE_OUTCOME_REACHED;
        }
        ck_assert_int_ge(reached, 25);
    }
}

TEST(hand_and_foot_of_the_humanoids_reach_where_a_motion_has_them)
{
    static const char *const scenes[] = {"humanoid", "humanoid-euler", "humanoid-quaternion"};
    for (int s = 0; s < 3; ++s) {
        for (int m = 0; m < 3; ++m) {
            bench b;
            bench_open(&b, scenes[s], geometric[m]);
            b.options.position_tolerance = 1e-4;
            double q[LARGEST], there[LARGEST];
            poise_model_neutral(b.model, q);
            ck_assert_int_eq(scene_motion_pose(b.model, "kick", 0.9, there), POISE_OK);
            poise_kinematics_update(b.kinematics, there, NULL);
            int hand = poise_model_find_body(b.model, "left_hand"), foot = poise_model_find_body(b.model, "right_foot");
            poise_goal goals[2] = {
                poise_goal_position(hand, poise_vec3_make(0, 0, 0), poise_kinematics_body_pose(b.kinematics, hand).position),
                poise_goal_position(foot, poise_vec3_make(0, 0, 0),
                                    poise_kinematics_body_pose(b.kinematics, foot).position)};
            poise_report report;
            ck_assert_int_eq(bench_solve(&b, goals, 2, q, &report), POISE_OK);
            ck_assert_int_eq(report.outcome, POISE_OUTCOME_REACHED);
            ck_assert(poise_model_within_limits(b.model, q));
        }
    }
}

TEST(lamp_aims_its_light_at_a_point)
{
    scene_random random = scene_random_make(12);
    for (int m = 0; m < 2; ++m) {
        bench b;
        bench_open(&b, "lamp", geometric[m]);
        int tool = poise_model_find_tool(b.model, "light"), reached = 0;
        poise_vec3 local = poise_model_tool_info(b.model, tool).pose.position, y = {0, 1, 0};
        for (int round = 0; round < 100; ++round) {
            double q[LARGEST];
            ck_assert_int_eq(scene_posture(b.model, "lamp", "curious", q), POISE_OK);
            poise_vec3 at = random_vector(&random, 0.5);
            at.y = 0.05;
            poise_goal goal = poise_goal_aim(poise_model_tool_info(b.model, tool).body, local, y, at);
            poise_report report;
            ck_assert_int_eq(bench_solve(&b, &goal, 1, q, &report), POISE_OK);
            reached += report.outcome == POISE_OUTCOME_REACHED;
        }
        ck_assert_int_ge(reached, 90);
    }
}

TEST(bwcd_moves_joints_near_the_root_and_ccd_those_near_the_end)
{
    scene_random random = scene_random_make(13);
    double mean[2] = {0, 0};
    for (int round = 0; round < 200; ++round) {
        double start[LARGEST], there[LARGEST];
        for (int m = 0; m < 2; ++m) {
            bench b;
            bench_open(&b, "arm2d", geometric[m]);
            if (m == 0) {
                scene_random_configuration(&random, b.model, start);
                scene_random_configuration(&random, b.model, there);
            }
            double q[LARGEST], sum = 0, moved = 0;
            memcpy(q, start, sizeof q);
            poise_goal goal = bench_tool_goal(&b, "tip", there, POISE_GOAL_POSITION);
            ck_assert_int_eq(bench_solve(&b, &goal, 1, q, NULL), POISE_OK);
            for (int i = 0; i < b.nv; ++i) {
                sum += fabs(q[i] - start[i]);
                moved += i * fabs(q[i] - start[i]);
            }
            mean[m] += moved / sum / 200;
        }
    }
    // the mean number of the joint that moves, of 0 .. 4
    ck_assert_double_lt(mean[1] + 0.3, mean[0]);
}

// ---- FABRIK --------------------------------------------------------------------------------------------------------------

static poise_model *ball_chain(poise_joint_type type, int count)
{
    poise_builder *builder;
    poise_model *model = NULL;
    char name[16], parent[16];
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    for (int i = 0; i < count; ++i) {
        snprintf(name, sizeof name, "b%d", i);
        snprintf(parent, sizeof parent, "b%d", i - 1);
        poise_joint joint = poise_joint_default();
        joint.name = name;
        joint.parent = i ? parent : NULL;
        joint.type = type;
        joint.offset.position = poise_vec3_make(0, i ? 0.1 : 0, 0);
        ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    }
    poise_tool tip = {.name = "tip", .body = name, .pose = poise_pose_identity()};
    tip.pose.position = poise_vec3_make(0, 0.1, 0);
    ck_assert_int_eq(poise_builder_add_tool(builder, &tip, NULL), POISE_OK);
    ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_OK);
    poise_builder_destroy(builder);
    return model;
}

TEST(fabrik_reaches_with_ten_balls_in_few_iterations_and_bones_keep_their_length)
{
    static const poise_joint_type types[] = {POISE_JOINT_BALL_EXPMAP, POISE_JOINT_BALL_QUATERNION};
    scene_random random = scene_random_make(14);
    int iterations = 0;
    for (int round = 0; round < 200; ++round) {
        bench b;
        bench_over(&b, ball_chain(types[round % 2], 10), POISE_METHOD_FABRIK);
        double q[LARGEST], there[LARGEST];
        scene_random_configuration(&random, b.model, q);
        scene_random_configuration(&random, b.model, there);
        poise_goal goal = bench_tool_goal(&b, "tip", there, POISE_GOAL_POSITION);
        poise_report report;
        ck_assert_int_eq(bench_solve(&b, &goal, 1, q, &report), POISE_OK);
        ck_assert_int_eq(report.outcome, POISE_OUTCOME_REACHED);
        ck_assert_int_le(report.iterations, 30);
        iterations += report.iterations;
        poise_kinematics_update(b.kinematics, q, NULL);
        for (int k = 1; k < 10; ++k) {
            poise_vec3 from = poise_kinematics_body_pose(b.kinematics, k - 1).position;
            ck_assert_double_eq_tol(distance(from, poise_kinematics_body_pose(b.kinematics, k).position), 0.1, 1e-15);
        }
    }
    ck_assert_int_le(iterations, 5 * 200); // two each, but for targets near the edge of the reach
}

// Points in a plane keep a coordinate that is exactly zero. One problem, in the plane of x and y and in that of z and y.
TEST(fabrik_takes_the_same_way_in_every_plane)
{
    scene_random random = scene_random_make(23);
    for (int round = 0; round < 30; ++round) {
        poise_report report[2];
        double angle[6], a = scene_random_range(&random, -0.4, 0.4), b = scene_random_range(&random, -0.4, 0.4);
        for (int i = 0; i < 6; ++i) {
            angle[i] = scene_random_range(&random, -1.5, 1.5);
        }
        for (int plane = 0; plane < 2; ++plane) {
            bench over;
            bench_over(&over, ball_chain(POISE_JOINT_BALL_QUATERNION, 6), POISE_METHOD_FABRIK);
            double q[LARGEST] = {0};
            for (int i = 0; i < 6; ++i) {
                q[4 * i] = plane == 0 ? 0.0 : -sin(0.5 * angle[i]);
                q[4 * i + 2] = plane == 0 ? sin(0.5 * angle[i]) : 0.0;
                q[4 * i + 3] = cos(0.5 * angle[i]);
            }
            poise_vec3 target = {plane == 0 ? a : 0.0, b, plane == 0 ? 0.0 : a};
            poise_goal goal = poise_goal_position(5, poise_vec3_make(0, 0.1, 0), target);
            over.options.max_iterations = 4; // few, so that rounding does not grow
            ck_assert_int_eq(bench_solve(&over, &goal, 1, q, &report[plane]), POISE_OK);
        }
        ck_assert_int_eq(report[0].iterations, report[1].iterations);
        ck_assert_double_eq_tol(report[0].cost, report[1].cost, 1e-13); // costs below 1, a thousand roundings
    }
}

TEST(fabrik_lets_a_free_root_go_along)
{
    for (int only_slides = 0; only_slides < 2; ++only_slides) {
        bench b;
        bench_open(&b, "humanoid", POISE_METHOD_FABRIK);
        for (int i = only_slides ? 3 : 6; i < b.nv; ++i) {
            b.locked[i] = true;
        }
        double q[LARGEST];
        poise_model_neutral(b.model, q);
        int hand = poise_model_find_body(b.model, "left_hand");
        poise_goal goal = poise_goal_position(hand, poise_vec3_make(0, 0, 0), poise_vec3_make(4, 3, -2));
        poise_report report;
        ck_assert_int_eq(bench_solve(&b, &goal, 1, q, &report), POISE_OK);
        ck_assert_int_eq(report.outcome, POISE_OUTCOME_REACHED);
        ck_assert_int_le(report.iterations, 2);
    }
}

TEST(fabrik_reaches_with_a_hand_though_some_iterations_are_worse_than_the_last)
{
    scene_random random = scene_random_make(22);
    bench b;
    bench_open(&b, "humanoid-quaternion", POISE_METHOD_FABRIK);
    int hand = poise_model_find_body(b.model, "left_hand"), reached = 0, worse = 0;
    for (int i = 0; i < 6; ++i) {
        b.locked[i] = true;
    }
    for (int round = 0; round < 300; ++round) {
        double q[LARGEST], there[LARGEST];
        poise_model_neutral(b.model, q);
        scene_random_configuration(&random, b.model, there);
        memcpy(there, q, 7 * sizeof *q);
        poise_kinematics_update(b.kinematics, there, NULL);
        poise_vec3 target = poise_kinematics_body_pose(b.kinematics, hand).position;
        poise_goal goal = poise_goal_position(hand, poise_vec3_make(0, 0, 0), target);
        poise_report report;
        ck_assert_int_eq(bench_solve(&b, &goal, 1, q, &report), POISE_OK);
        reached += report.outcome == POISE_OUTCOME_REACHED;
        for (int i = 0; i < report.traced; ++i) {
            worse += !b.trace[i].accepted;
        }
    }
    ck_assert_int_ge(reached, 295);
    ck_assert_int_gt(worse, 0); // else patience has not been tested
}
