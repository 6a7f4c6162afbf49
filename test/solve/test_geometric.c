// CCD, BWCD and FABRIK: closed forms against brute force, what the methods promise, what they refuse.
#include "support/test_main.h"

#include "papers/methods/geometric.h"
#include "support/geometric_bench.h"

#include <scenes/scenes.h>

#include <math.h>
#include <string.h>

// ---- Closed forms against brute force ------------------------------------------------------------------------------------

TEST(best_angle_beats_every_angle_of_a_fine_grid)
{
    scene_random random = scene_random_make(1);
    for (int i = 0; i < 2000; ++i) {
        double c = scene_random_range(&random, -1, 1), s = scene_random_range(&random, -1, 1);
        double lower = -scene_random_range(&random, 0, i % 2 ? 3 : 9), upper = scene_random_range(&random, 0, i % 3 ? 3 : 9);
        double best = pz_best_angle(c, s, lower, upper);
        ck_assert(lower <= best && best <= upper);
        for (int k = 0; k <= 500; ++k) {
            double angle = lower + (upper - lower) * k / 500;
            // both sides are sums of two rounded products of numbers up to 1
            ck_assert_double_ge(c * cos(best) + s * sin(best), c * cos(angle) + s * sin(angle) - 1e-14);
        }
    }
}

// One sweep over a skeleton where only one coordinate may move.
static void try_one_coordinate(bench *b, scene_random *random, int coordinate)
{
    poise_goal goals[3];
    double q[LARGEST], start[LARGEST];
    for (int i = 0; i < 3; ++i) {
        goals[i] = bench_random_goal(random, b->model, false);
    }
    scene_random_configuration(random, b->model, start);
    memcpy(q, start, sizeof q);
    for (int i = 0; i < b->nv; ++i) {
        b->locked[i] = i != coordinate;
    }
    b->options.max_iterations = 1;
    poise_report report;
    ck_assert_int_eq(bench_solve(b, goals, 3, q, &report), POISE_OK);
    double lower = poise_model_info(b->model).lower[coordinate], upper = poise_model_info(b->model).upper[coordinate];
    double from = isfinite(lower) ? lower : start[coordinate] - PZ_PI, to = isfinite(upper) ? upper : from + 2 * PZ_PI;
    for (int k = 0; k <= 200; ++k) {
        start[coordinate] = from + (to - from) * k / 200;
        // costs are up to 100, summed in another order
        ck_assert_double_le(report.cost, bench_cost(b, goals, 3, start) + 1e-12);
    }
}

TEST(one_sweep_of_one_coordinate_beats_a_grid_of_its_range)
{
    static const char *const scenes[] = {"arm7", "tree2d", "scara", "gantry", "humanoid-euler"};
    scene_random random = scene_random_make(2);
    for (size_t s = 0; s < sizeof scenes / sizeof scenes[0]; ++s) {
        for (int method = 0; method < 2; ++method) {
            bench b;
            bench_open(&b, scenes[s], geometric[method]);
            for (int i = 0; i < b.nv; ++i) {
                try_one_coordinate(&b, &random, i);
            }
        }
    }
}

// A joint of the type on a fixed base, with a swing ellipse, and with a box of that half-width unless it is infinite.
static poise_model *boxed_joint(poise_joint_type type, double swing, double box)
{
    poise_builder *builder;
    poise_model *model = NULL;
    poise_joint base = poise_joint_default(), joint = poise_joint_default();
    base.name = "base";
    joint.name = "ball";
    joint.parent = "base";
    joint.type = type;
    joint.offset.position = poise_vec3_make(0.3, -0.2, 0.1);
    if (type == POISE_JOINT_SWING_TWIST) {
        joint.swing[0] = swing, joint.swing[1] = 0.5 * swing;
    }
    for (int i = 0; i < 3 && isfinite(box); ++i) {
        joint.lower[i] = -box, joint.upper[i] = 0.9 * box;
    }
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    ck_assert_int_eq(poise_builder_add_joint(builder, &base, NULL), POISE_OK);
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_OK);
    poise_builder_destroy(builder);
    return model;
}

static poise_model *single_joint(poise_joint_type type, double swing)
{
    return boxed_joint(type, swing, INFINITY);
}

TEST(one_sweep_of_a_ball_beats_every_random_rotation)
{
    static const poise_joint_type types[] = {POISE_JOINT_BALL_EXPMAP, POISE_JOINT_BALL_QUATERNION};
    scene_random random = scene_random_make(3);
    for (int round = 0; round < 120; ++round) {
        bench b;
        bool has_box = round % 4 == 2; // one that leaves room for every rotation
        bench_over(&b, boxed_joint(types[round % 2], INFINITY, has_box ? 4.0 : INFINITY), geometric[round % 3 == 0]);
        poise_goal goals[3];
        double q[4], other[4];
        for (int i = 0; i < 3; ++i) {
            goals[i] = bench_random_goal(&random, b.model, false);
        }
        b.options.max_iterations = 1;
        poise_report report;
        scene_random_configuration(&random, b.model, q);
        ck_assert_int_eq(bench_solve(&b, goals, 1 + round % 5 % 3, q, &report), POISE_OK);
        for (int k = 0; k < 300; ++k) {
            scene_random_configuration(&random, b.model, other);
            ck_assert_double_le(report.cost, bench_cost(&b, goals, 1 + round % 5 % 3, other) + 1e-12);
        }
        // at the best rotation the gradient vanishes, to the rounding of sums of about 10
        ck_assert_double_le(report.gradient, 1e-12);
    }
}

TEST(free_swing_beats_a_grid_in_one_sweep_and_a_limited_one_ends_at_a_stationary_point)
{
    scene_random random = scene_random_make(4);
    for (int round = 0; round < 60; ++round) {
        bool limited = round % 2;
        bench b;
        bench_over(&b, single_joint(POISE_JOINT_SWING_TWIST, limited ? 1.1 : INFINITY), geometric[round % 4 / 2]);
        b.locked[2] = true;
        b.options.max_iterations = limited ? 50 : 1;
        poise_goal goal = bench_random_goal(&random, b.model, false);
        double q[3], other[3];
        scene_random_configuration(&random, b.model, q);
        other[2] = q[2];
        poise_report report;
        ck_assert_int_eq(bench_solve(&b, &goal, 1, q, &report), POISE_OK);
        ck_assert(poise_model_within_limits(b.model, q));
        for (int k = 0; k < 400 && !limited; ++k) {
            other[0] = -PZ_PI + PZ_PI * (k % 20) / 10, other[1] = -PZ_PI + PZ_PI * (k / 20) / 10;
            ck_assert_double_le(report.cost, bench_cost(&b, &goal, 1, other) + 1e-12);
        }
        // projected gradients end where a further step would gain less than rounding of the energy: its root, 1e-7
        ck_assert_double_le(report.gradient, 1e-6);
    }
}

// Rotation vectors in a box, and swings in a box and an ellipse, whose corners need care.
TEST(no_small_step_of_a_rotation_vector_within_its_limits_helps_after_a_run)
{
    scene_random random = scene_random_make(18);
    for (int round = 0; round < 200; ++round) {
        bench b;
        poise_joint_type type = round % 2 ? POISE_JOINT_BALL_EXPMAP : POISE_JOINT_SWING_TWIST;
        bench_over(&b, boxed_joint(type, 0.9, scene_random_range(&random, 0.2, 0.6)), geometric[round % 4 / 2]);
        poise_goal goals[2] = {bench_random_goal(&random, b.model, false), bench_random_goal(&random, b.model, false)};
        double q[3], near[3];
        scene_random_configuration(&random, b.model, q);
        poise_report report;
        ck_assert_int_eq(bench_solve(&b, goals, 2, q, &report), POISE_OK);
        for (int k = 0; k < 500; ++k) {
            for (int i = 0; i < 3; ++i) {
                near[i] = q[i] + scene_random_range(&random, -1e-3, 1e-3);
            }
            poise_model_clamp(b.model, near, NULL, NULL);
            // slopes of up to 10 over 1e-3 would show as 1e-2; what projected gradients leave is below 1e-6 of that
            ck_assert_double_le(report.cost, bench_cost(&b, goals, 2, near) + 1e-8);
        }
    }
}

// Moments that are rounding errors are no reason to move.
TEST(a_ball_with_one_marker_does_not_twist)
{
    static const poise_joint_type types[] = {POISE_JOINT_BALL_EXPMAP, POISE_JOINT_BALL_QUATERNION};
    scene_random random = scene_random_make(19);
    for (int round = 0; round < 200; ++round) {
        bench b;
        bench_over(&b, single_joint(types[round % 2], INFINITY), geometric[round % 4 / 2]);
        poise_vec3 local = v3_scale(scene_random_direction(&random), 0.01);
        double q[4], turned;
        scene_random_configuration(&random, b.model, q);
        poise_kinematics_update(b.kinematics, q, NULL);
        poise_quat before = poise_kinematics_body_pose(b.kinematics, 1).rotation;
        vec3 x = poise_kinematics_direction(b.kinematics, 1, local);
        poise_goal goal = poise_goal_position(1, local, random_vector(&random, 1.0));
        ck_assert_int_eq(bench_solve(&b, &goal, 1, q, NULL), POISE_OK);
        poise_kinematics_update(b.kinematics, q, NULL);
        quat after = poise_kinematics_body_pose(b.kinematics, 1).rotation;
        vec3 turn = so3_log(quat_mul(after, quat_conj(before)));
        turned = v3_dot(turn, x) / 0.01;
        ck_assert_double_le(fabs(turned), 1e-10); // errors of the moment: (0.4/0.01)^2 roundings
    }
}

// Seen from the joint's limits, -3 and 2 pi - 3 are the same turn about x.
TEST(a_rotation_vector_takes_the_other_way_round_when_its_limits_ask_for_it)
{
    for (int m = 0; m < 2; ++m) {
        poise_builder *builder;
        poise_model *model = NULL;
        poise_joint joint = poise_joint_default();
        joint.name = "ball";
        joint.type = POISE_JOINT_BALL_EXPMAP;
        joint.lower[0] = -0.5, joint.upper[0] = 3.2;
        ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
        ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
        ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_OK);
        poise_builder_destroy(builder);
        bench b;
        bench_over(&b, model, geometric[m]);
        b.locked[1] = b.locked[2] = true;
        double q[3] = {0.4, 0, 0};
        poise_goal goal = poise_goal_orientation(0, so3_exp_quat(v3(-3, 0, 0)));
        ck_assert_int_eq(bench_solve(&b, &goal, 1, q, NULL), POISE_OK);
        ck_assert(q[0] == 3.2); // 2 pi - 3 = 3.28 is beyond
    }
}

// The tip begins at the root's centre, where errors are small, and is then carried away.
TEST(a_ball_does_not_twist_for_a_marker_that_a_joint_below_has_moved)
{
    scene_random random = scene_random_make(21);
    for (int round = 0; round < 100; ++round) {
        bench b;
        poise_builder *builder;
        poise_model *model = NULL;
        poise_joint upper = poise_joint_default(), lower = poise_joint_default();
        upper.name = "upper", lower.name = "lower", lower.parent = "upper";
        upper.type = lower.type = POISE_JOINT_BALL_QUATERNION;
        lower.offset.position = poise_vec3_make(0.6, 0.64, 0.48);
        ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
        ck_assert_int_eq(poise_builder_add_joint(builder, &upper, NULL), POISE_OK);
        ck_assert_int_eq(poise_builder_add_joint(builder, &lower, NULL), POISE_OK);
        ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_OK);
        poise_builder_destroy(builder);
        bench_over(&b, model, POISE_METHOD_CCD);
        b.options.max_iterations = 1;
        double q[8] = {0, 0, 0, 1, 0, 0, 0, 1};
        poise_goal goal = poise_goal_position(1, v3_neg(lower.offset.position), random_vector(&random, 1.0));
        ck_assert_int_eq(bench_solve(&b, &goal, 1, q, NULL), POISE_OK);
        poise_kinematics_update(b.kinematics, q, NULL);
        vec3 tip = poise_kinematics_point(b.kinematics, 1, goal.local.position),
             turn = so3_log((quat){q[0], q[1], q[2], q[3]});
        ck_assert_double_gt(v3_norm(turn), 1e-3);
        ck_assert_double_le(fabs(v3_dot(turn, tip)), 1e-13); // roundings of numbers below 10
    }
}

TEST(a_joint_that_no_goal_can_feel_stays_where_it_is)
{
    scene_random random = scene_random_make(20);
    for (int round = 0; round < 200; ++round) {
        bench b;
        bench_open(&b, "erik-g", geometric[round % 3]);
        double q[LARGEST], there[LARGEST];
        scene_random_configuration(&random, b.model, q);
        scene_random_configuration(&random, b.model, there);
        double last = q[b.nv - 1]; // turns about the line that the tip is on
        poise_goal goal = bench_tool_goal(&b, "tip", there, POISE_GOAL_POSITION);
        ck_assert_int_eq(bench_solve(&b, &goal, 1, q, NULL), POISE_OK);
        ck_assert(q[b.nv - 1] == last);
    }
}

TEST(free_root_is_laid_onto_its_markers_in_one_sweep)
{
    scene_random random = scene_random_make(5);
    static const poise_joint_type types[] = {POISE_JOINT_FREE, POISE_JOINT_FREE_EXPMAP};
    for (int round = 0; round < 40; ++round) {
        bench b;
        bench_over(&b, single_joint(types[round % 2], INFINITY), geometric[round % 4 / 2]);
        poise_goal goals[6];
        for (int i = 0; i < 6; ++i) {
            goals[i] = poise_goal_position(1, random_vector(&random, 0.5), random_vector(&random, 0.5));
        }
        double q[7];
        poise_report report;
        scene_random_configuration(&random, b.model, q);
        b.options.max_iterations = 1;
        ck_assert_int_eq(bench_solve(&b, goals, 6, q, &report), POISE_OK);
        ck_assert_double_le(report.gradient, 1e-13); // sums of six products below 1
    }
}

// The sweep as the papers have it: after every joint all bodies again, the angle between two projections.
static void naive_sweep(bench *b, const poise_goal *goal, bool from_root, double *q)
{
    for (int i = 0; i < b->nv; ++i) {
        int k = from_root ? i : b->nv - 1 - i;
        poise_kinematics_update(b->kinematics, q, NULL);
        poise_joint joint = *poise_model_joint_info(b->model, k).given;
        vec3 a = poise_kinematics_direction(b->kinematics, k, joint.axis);
        vec3 p = poise_kinematics_body_pose(b->kinematics, k).position;
        vec3 x = v3_sub(poise_kinematics_point(b->kinematics, goal->body, goal->local.position), p);
        vec3 t = v3_sub(goal->target.position, p);
        x = v3_mad(x, -v3_dot(x, a), a), t = v3_mad(t, -v3_dot(t, a), a);
        q[k] += atan2(v3_dot(a, v3_cross(x, t)), v3_dot(x, t));
    }
}

TEST(a_sweep_agrees_with_one_that_moves_all_bodies_after_every_joint)
{
    scene_random random = scene_random_make(6);
    for (int round = 0; round < 40; ++round) {
        bench b;
        bench_open(&b, "chain-12", geometric[round % 2]);
        double q[LARGEST], naive[LARGEST];
        scene_marker end;
        ck_assert_int_eq(scene_markers("chain-12", &end, 1), 1);
        scene_random_configuration(&random, b.model, q);
        memcpy(naive, q, sizeof q);
        poise_goal goal = poise_goal_position(end.body, end.local, random_vector(&random, 0.6));
        b.options.max_iterations = 3;
        poise_report report;
        ck_assert_int_eq(bench_solve(&b, &goal, 1, q, &report), POISE_OK);
        for (int i = 0; i < report.iterations; ++i) {
            naive_sweep(&b, &goal, round % 2, naive);
        }
        for (int i = 0; i < b.nv; ++i) {
            // rounding, magnified by joints whose lever is short: 1/0.02 per sweep
            ck_assert_double_le(fabs(remainder(q[i] - naive[i], 2 * PZ_PI)), 1e-8);
        }
    }
}

// ---- Promises ------------------------------------------------------------------------------------------------------------

static void add_trimmings(scene_random *random, poise_goal *goal)
{
    if (goal->kind != POISE_GOAL_POSITION && goal->kind != POISE_GOAL_POSE) {
        return;
    }
    goal->loss = (poise_loss)scene_random_index(random, POISE_LOSS_COUNT);
    goal->loss_scale = scene_random_range(random, 0.1, 1.0);
    if (scene_random_index(random, 3) == 0) {
        goal->tolerance = poise_vec3_make(0.1, scene_random_index(random, 2) ? INFINITY : 0.0, 0.3);
    }
}

// A sweep that is not kept ends the run: it must not come before the gradient has gone. Where the cost falls by less than
// its rounding in a sweep, slow descent can leave up to about 1e-5.
static void check_stall(const poise_report *report)
{
    ck_assert(report->outcome != POISE_OUTCOME_STALLED || report->gradient <= 1e-4);
}

TEST(a_run_stalls_only_where_no_gradient_is_left)
{
    scene_random random = scene_random_make(15);
    for (int round = 0; round < 400; ++round) {
        bench b;
        bench_over(&b, random_model(&random, 1 + scene_random_index(&random, 8), RANDOM_PLAIN), geometric[round % 2]);
        poise_goal goals[3];
        for (int i = 0; i < 3; ++i) {
            goals[i] = bench_random_goal(&random, b.model, round % 4 > 1);
            add_trimmings(&random, &goals[i]);
        }
        double q[LARGEST];
        scene_random_configuration(&random, b.model, q);
        poise_report report;
        ck_assert_int_eq(bench_solve(&b, goals, 3, q, &report), POISE_OK);
        check_stall(&report);
    }
}

// Points near enough that turning a ball towards one shifts the others a lot.
TEST(aims_at_near_points_do_not_stall_before_the_gradient_is_gone)
{
    static const poise_joint_type types[] = {POISE_JOINT_BALL_EXPMAP, POISE_JOINT_BALL_QUATERNION, POISE_JOINT_BALL_EULER};
    scene_random random = scene_random_make(16);
    int held_back = 0;
    for (int round = 0; round < 600; ++round) {
        bench b;
        bench_over(&b, single_joint(types[round % 3], INFINITY), geometric[round % 2]);
        poise_goal goals[3];
        for (int i = 0; i < 3; ++i) {
            vec3 local = random_vector(&random, 0.4), axis = scene_random_direction(&random);
            goals[i] = poise_goal_aim(1, local, axis, random_vector(&random, 0.6));
        }
        double q[LARGEST];
        scene_random_configuration(&random, b.model, q);
        poise_report report;
        ck_assert_int_eq(bench_solve(&b, goals, 3, q, &report), POISE_OK);
        check_stall(&report);
        for (int i = 1; i < report.traced; ++i) {
            held_back += b.trace[i].accepted && !b.trace[i - 1].accepted;
        }
    }
    ck_assert_int_gt(held_back, 0); // else this has tested nothing
}

// ---- Pulls ---------------------------------------------------------------------------------------------------------------

// M is a sum of products of a point and its target, or of a force, and `size` the sum of their lengths: no shorter.
TEST(the_size_of_a_pull_bounds_its_moments)
{
    scene_random random = scene_random_make(24);
    bench b;
    bench_over(&b, single_joint(POISE_JOINT_BALL_QUATERNION, INFINITY), POISE_METHOD_CCD);
    poise_solver *solver;
    ck_assert_int_eq(poise_solver_create(b.model, &b.options, NULL, &solver, NULL), POISE_OK);
    for (int round = 0; round < 500; ++round) {
        poise_goal goal = bench_random_goal(&random, b.model, true);
        double q[4], square = 0.0;
        pz_pull pulls[2];
        if (round % 2) { // a point that looks away from a target near the reference point: nearly all is force
            goal = poise_goal_aim(1, random_vector(&random, 1.0), scene_random_direction(&random),
                                  random_vector(&random, 0.01));
        }
        scene_random_configuration(&random, b.model, q);
        poise_method_run *run;
        ck_assert_int_eq(poise_method_begin(solver, &goal, 1, q, &run, NULL), POISE_OK);
        ck_assert(isfinite(run->call->evaluate(run, q, POISE_LEVEL_HESSIAN)));
        run->call->accept(run);
        pz_pull_goals(run, 0.0, 2, pulls);
        for (int i = 0; i < 9; ++i) {
            double entry = ((const double *)&pulls[goal.body].M)[i];
            square += entry * entry;
        }
        ck_assert_double_ge(pulls[goal.body].size, sqrt(square) * (1.0 - 1e-13)); // roundings of the lengths
    }
    poise_solver_destroy(solver);
}

// ---- Refusals ------------------------------------------------------------------------------------------------------------

// The best rotation about an axis across z has no part about z, and is no better than the best of all.
TEST(the_best_swing_does_not_twist)
{
    scene_random random = scene_random_make(23);
    for (int i = 0; i < 200; ++i) {
        mat3 M = {random_vector(&random, 1.0), random_vector(&random, 1.0), random_vector(&random, 1.0)};
        quat all, swing;
        ck_assert(pz_best_quat(&M, 4, &all) && pz_best_quat(&M, 3, &swing));
        ck_assert_double_eq(swing.z, 0.0);
        ck_assert_double_eq_tol(swing.x * swing.x + swing.y * swing.y + swing.w * swing.w, 1.0, 1e-12);
    }
}

TEST(a_ball_that_is_locked_stays)
{
    static const poise_joint_type types[] = {POISE_JOINT_BALL_QUATERNION, POISE_JOINT_BALL_EXPMAP};
    scene_random random = scene_random_make(25);
    for (int i = 0; i < 40; ++i) {
        bench b;
        bench_over(&b, single_joint(types[i % 2], INFINITY), i % 4 < 2 ? POISE_METHOD_CCD : POISE_METHOD_BWCD);
        b.locked[0] = b.locked[1] = b.locked[2] = true;
        poise_goal goal = bench_random_goal(&random, b.model, true);
        double q[LARGEST], start[LARGEST];
        poise_report report;
        scene_random_configuration(&random, b.model, q);
        memcpy(start, q, sizeof q);
        ck_assert_int_eq(bench_solve(&b, &goal, 1, q, &report), POISE_OK);
        ck_assert_mem_eq(q, start, (size_t)poise_model_info(b.model).nq * sizeof *q);
    }
}
