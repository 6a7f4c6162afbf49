// Pose goals on arms through the public calls.
#include <math.h>
#include <string.h>

#include "scenes/scenes.h"
#include "support/skeleton.h"
#include "support/test_arms.h"
#include "support/test_main.h"

#define PI 3.14159265358979323846

static poise_solver_options options_for(int restarts)
{
    poise_solver_options options = poise_solver_options_default();
    options.restarts = restarts;
    return options;
}

// The general path: what the arm's own leaves alone.
static poise_solver *general_solver_for(const test_arm *arm)
{
    poise_solver_options options = options_for(0);
    options.step_limit = 1e6;
    options.max_iterations = 1000;
    return arm_solver(arm, &options);
}

// Solve for `count` random targets from random starts; returns how many were reached. The report must agree.
static int count_reached(const test_arm *arm, scene_random *random, int count, const poise_solver_options *options)
{
    poise_solver *solver = arm_solver(arm, options);
    int reached = 0;
    for (int k = 0; k < count; ++k) {
        double there[ARM_LARGEST], q[ARM_LARGEST];
        poise_report report;
        scene_random_configuration(random, arm->model, there);
        scene_random_configuration(random, arm->model, q);
        poise_goal goal = arm_goal(arm, there);
        ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
        ck_assert(poise_model_within_limits(arm->model, q));
        bool met = arm_meets(arm, &goal, q, 1e-6);
        ck_assert_msg(met == (report.outcome == POISE_OUTCOME_REACHED), "%s: %s, worst %g %g", arm->name, report.reason,
                      report.worst_length, report.worst_angle);
        reached += met;
    }
    return reached;
}

// ---- Success -------------------------------------------------------------------------------------------------------------

TEST(every_reachable_target_of_our_arms_is_reached)
{
    static const char *const names[] = {"arm6", "arm7", "scara", "gantry"};
    scene_random random = scene_random_make(1);
    poise_solver_options options = options_for(300);
    for (size_t i = 0; i < TEST_COUNT(names); ++i) {
        test_arm arm = arm_of_scene(names[i]);
        ck_assert_int_eq(count_reached(&arm, &random, 2000, &options), 2000);
    }
}

TEST(every_reachable_target_of_the_robots_is_reached)
{
    static const char *const names[] = {"panda", "iiwa14", "ur5", "jaco2", "gen3", "pr2", "baxter"};
    scene_random random = scene_random_make(2);
    poise_solver_options options = options_for(300);
    for (size_t i = 0; i < TEST_COUNT(names); ++i) {
        test_arm arm = arm_of_robot(names[i]);
        ck_assert_int_eq(count_reached(&arm, &random, 500, &options), 500);
    }
}

TEST(every_reachable_target_of_random_arms_is_reached)
{
    static const unsigned features[] = {ARM_PLAIN, ARM_RIGHT_ANGLES, ARM_CONTINUOUS,
                                        ARM_CONTINUOUS | ARM_RIGHT_ANGLES | ARM_FIXED};
    scene_random random = scene_random_make(3);
    poise_solver_options options = options_for(1000);
    for (int k = 0; k < 100; ++k) {
        test_arm arm = arm_random(&random, 6 + k % 2, features[k / 2 % 4]);
        ck_assert_int_eq(count_reached(&arm, &random, 40, &options), 40);
    }
}

TEST(every_reachable_target_of_arms_with_slides_is_reached)
{
    scene_random random = scene_random_make(4);
    poise_solver_options options = options_for(1000);
    for (int k = 0; k < 60; ++k) {
        test_arm arm = arm_random(&random, 3 + k % 7, ARM_SLIDES | (k % 2 ? ARM_CONTINUOUS : ARM_FIXED));
        ck_assert_int_eq(count_reached(&arm, &random, 20, &options), 20);
    }
}

TEST(every_reachable_target_of_planar_arms_is_reached)
{
    scene_random random = scene_random_make(17);
    poise_solver_options options = options_for(300);
    for (int n = 3; n <= 9; ++n) {
        test_arm arm = arm_planar(n);
        ck_assert_int_eq(count_reached(&arm, &random, 200, &options), 200);
    }
}

TEST(the_table_of_starts_reaches_every_target_too)
{
    scene_random random = scene_random_make(5);
    poise_solver_options options = options_for(300);
    options.arm.seed_table = true;
    for (int k = 0; k < 20; ++k) {
        test_arm arm = arm_random(&random, 6 + k % 2, k % 4 ? ARM_RIGHT_ANGLES : ARM_SLIDES);
        ck_assert_int_eq(count_reached(&arm, &random, 40, &options), 40);
    }
}

TEST(tight_tolerances_are_met)
{
    scene_random random = scene_random_make(6);
    poise_solver_options options = options_for(300);
    options.position_tolerance = options.rotation_tolerance = 1e-12;
    test_arm arm = arm_of_scene("arm7");
    poise_solver *solver = arm_solver(&arm, &options);
    for (int k = 0; k < 300; ++k) {
        double there[ARM_LARGEST], q[ARM_LARGEST];
        poise_report report;
        scene_random_configuration(&random, arm.model, there);
        scene_random_configuration(&random, arm.model, q);
        poise_goal goal = arm_goal(&arm, there);
        ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
        ck_assert_int_eq(report.outcome, POISE_OUTCOME_REACHED);
        ck_assert_double_le(report.worst_length, 1e-12);
        ck_assert_double_le(report.worst_angle, 1e-12);
    }
}

TEST(zero_tolerance_ends_at_rounding)
{
    poise_solver_options options = options_for(20);
    options.position_tolerance = options.rotation_tolerance = 0.0;
    test_arm arm = arm_of_scene("arm6");
    poise_solver *solver = arm_solver(&arm, &options);
    double there[ARM_LARGEST] = {0.3, 0.2, -0.4, 0.5, 0.6, 0.7}, q[ARM_LARGEST] = {0};
    poise_report report;
    poise_goal goal = arm_goal(&arm, there);
    ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
    ck_assert_double_le(report.worst_length, 1e-14);
    ck_assert_double_le(report.worst_angle, 1e-14);
    ck_assert_int_le(report.iterations, 200);
}

// ---- The same answer, always ---------------------------------------------------------------------------------------------

TEST(the_same_call_gives_the_same_bits)
{
    scene_random random = scene_random_make(7);
    poise_solver_options options = options_for(300);
    options.arm.seed_table = true;
    test_arm arm = arm_of_scene("arm7");
    poise_solver *first = arm_solver(&arm, &options), *second = arm_solver(&arm, &options);
    for (int k = 0; k < 300; ++k) {
        double there[ARM_LARGEST], q[ARM_LARGEST], again[ARM_LARGEST], other[ARM_LARGEST];
        poise_report a, b;
        scene_random_configuration(&random, arm.model, there);
        scene_random_configuration(&random, arm.model, q);
        memcpy(again, q, sizeof q);
        memcpy(other, q, sizeof q);
        poise_goal goal = arm_goal(&arm, there), elsewhere = poise_goal_pose(2, poise_pose_identity(), goal.target);
        ck_assert_int_eq(poise_solve(first, &goal, 1, q, &a, NULL), POISE_OK);
        // another goal in between, on another body, must leave no trace
        ck_assert_int_eq(poise_solve(second, &elsewhere, 1, other, NULL, NULL), POISE_OK);
        ck_assert_int_eq(poise_solve(second, &goal, 1, again, &b, NULL), POISE_OK);
        ck_assert_mem_eq(q, again, (size_t)arm.n * sizeof *q);
        ck_assert_int_eq(a.iterations, b.iterations);
    }
}

TEST(a_start_near_the_target_is_not_overridden_by_the_table)
{
    scene_random random = scene_random_make(8);
    poise_solver_options options = options_for(50);
    test_arm arm = arm_of_scene("arm6");
    poise_solver *plain = arm_solver(&arm, &options);
    options.arm.seed_table = true;
    poise_solver *table = arm_solver(&arm, &options);
    for (int k = 0; k < 100; ++k) {
        double there[ARM_LARGEST], q[ARM_LARGEST], with_table[ARM_LARGEST];
        poise_report report;
        scene_random_configuration(&random, arm.model, there);
        for (int i = 0; i < arm.n; ++i) {
            q[i] = with_table[i] = there[i] + 0.02 * (scene_random_uniform(&random) - 0.5);
        }
        poise_goal goal = arm_goal(&arm, there);
        ck_assert_int_eq(poise_solve(plain, &goal, 1, q, &report, NULL), POISE_OK);
        ck_assert_int_eq(poise_solve(table, &goal, 1, with_table, NULL, NULL), POISE_OK);
        if (report.restarts == 0) {
            ck_assert_mem_eq(q, with_table, (size_t)arm.n * sizeof *q);
        }
    }
}

TEST(hinges_without_limits_stay_within_half_a_turn_of_the_start)
{
    scene_random random = scene_random_make(9);
    poise_solver_options options = options_for(300);
    options.use_limits = false;
    test_arm arm = arm_of_scene("arm7");
    poise_solver *solver = arm_solver(&arm, &options);
    for (int k = 0; k < 200; ++k) {
        double there[ARM_LARGEST], start[ARM_LARGEST], q[ARM_LARGEST];
        poise_report report;
        scene_random_configuration(&random, arm.model, there);
        for (int i = 0; i < arm.n; ++i) {
            start[i] = q[i] = scene_random_range(&random, -50.0, 50.0);
        }
        poise_goal goal = arm_goal(&arm, there);
        ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
        ck_assert_int_eq(report.outcome, POISE_OUTCOME_REACHED);
        for (int i = 0; i < arm.n; ++i) {
            ck_assert_double_le(fabs(q[i] - start[i]), PI + 1e-12);
        }
    }
}

// The same arm with these limits on every hinge.
static test_arm arm_within(const test_arm *arm, double lower, double upper)
{
    poise_builder *builder = new_builder();
    test_arm made = *arm;
    for (int k = 0; k < arm->n; ++k) {
        poise_joint joint = *poise_model_joint_info(arm->model, k).given;
        joint.lower[0] = lower;
        joint.upper[0] = upper;
        add(builder, &joint);
    }
    made.model = model_of(builder);
    return made;
}

// Targets that are reached from within [-pi, pi], by the arm's own path or, with a step limit, by the general one.
static int count_reached_near_zero(const test_arm *arm, const poise_solver_options *options)
{
    scene_random random = scene_random_make(31);
    poise_solver *solver = arm_solver(arm, options);
    int reached = 0;
    for (int k = 0; k < 60; ++k) {
        double there[ARM_LARGEST], q[ARM_LARGEST];
        poise_report report;
        for (int i = 0; i < arm->n; ++i) {
            there[i] = scene_random_range(&random, -PI, PI);
            q[i] = scene_random_range(&random, -PI, 0.0);
        }
        poise_goal goal = arm_goal(arm, there);
        ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
        ck_assert(poise_model_within_limits(arm->model, q) && report.cost <= report.start_cost);
        reached += report.outcome == POISE_OUTCOME_REACHED;
    }
    return reached;
}

// Huge limits are written for "none", and are served like none: restarts are drawn from a turn.
TEST(limits_too_wide_to_matter_are_like_none)
{
    static const double ends[][2] = {{-1e3, 1e3},   {-1e12, 1e12}, {-1e16, 1e16},     {-1e20, 1e20}, {-1e300, 1e300},
                                     {-1e16, 0.25}, {-1e300, 0.0}, {-1e16, INFINITY}, {-4.0, 1e20}};
    scene_random random = scene_random_make(30);
    poise_solver_options options = options_for(300), general = options_for(8);
    general.step_limit = 1e6;
    for (int k = 0; k < 4; ++k) {
        test_arm plain = arm_random(&random, 6 + k % 2, ARM_PLAIN), free = arm_within(&plain, -INFINITY, INFINITY);
        int usual = count_reached_near_zero(&free, &general);
        for (size_t i = 0; i < TEST_COUNT(ends); ++i) {
            test_arm wide = arm_within(&plain, ends[i][0], ends[i][1]);
            ck_assert_int_eq(count_reached_near_zero(&wide, &options), 60);
            int reached = count_reached_near_zero(&wide, &general);
            ck_assert_msg(reached >= usual - 6, "[%g, %g]: %d of %d", ends[i][0], ends[i][1], reached, usual);
        }
    }
}

// ---- What the report says ------------------------------------------------------------------------------------------------

TEST(cost_is_that_of_the_objective)
{
    scene_random random = scene_random_make(10);
    test_arm arm = arm_of_scene("arm6");
    poise_solver_options options = options_for(3);
    poise_solver *solver = arm_solver(&arm, &options);
    poise_objective *objective;
    ck_assert_int_eq(poise_objective_create(arm.model, 0, NULL, &objective, NULL), POISE_OK);
    for (int k = 0; k < 100; ++k) {
        double there[ARM_LARGEST], q[ARM_LARGEST];
        poise_report report;
        scene_random_configuration(&random, arm.model, there);
        scene_random_configuration(&random, arm.model, q);
        poise_goal goal = arm_goal(&arm, there);
        goal.weight = 3.0;
        goal.rotation_weight = 0.2;
        goal.target.position.x *= k % 2 ? 1.0 : 3.0;
        poise_objective_set_goals(objective, &goal, 1, NULL);
        poise_objective_evaluate(objective, q, POISE_LEVEL_COST, NULL);
        double start = poise_objective_value(objective).cost;
        ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
        ck_assert_double_eq_tol(report.start_cost, start, 1e-13 * (1.0 + start));
        poise_objective_evaluate(objective, q, POISE_LEVEL_COST, NULL);
        ck_assert_double_eq_tol(report.cost, poise_objective_value(objective).cost, 1e-15);
        poise_goal_error error = poise_objective_goal_error(objective, 0), told = poise_solver_goal_error(solver, 0);
        ck_assert_double_eq_tol(told.error, error.error, 1e-14);
        ck_assert_double_eq_tol(report.worst_length, error.error, 1e-14);
        ck_assert_double_eq_tol(report.worst_angle, error.rotation_error, 1e-14);
    }
    poise_objective_destroy(objective);
}

// The largest component of the gradient at q, but for joints at a limit that descent would leave.
static double projected_gradient(const test_arm *arm, const poise_objective *objective, const double *q)
{
    const double *g = poise_objective_value(objective).gradient;
    double largest = 0.0;
    for (int i = 0; i < arm->n; ++i) {
        double lower = poise_model_info(arm->model).lower[i], upper = poise_model_info(arm->model).upper[i];
        bool held = (q[i] <= lower && g[i] >= 0) || (q[i] >= upper && g[i] <= 0);
        largest = held ? largest : fmax(largest, fabs(g[i]));
    }
    return largest;
}

// With loose tolerances, so that what is reported of the answer is large against rounding: that of residuals, a few 1e-15,
// times weights and lengths of at most 10.
TEST(what_is_reported_of_a_met_target_is_what_the_objective_says)
{
    static const char *const scenes[] = {"arm6", "arm7", "scara", "gantry"};
    for (size_t s = 0; s < TEST_COUNT(scenes); ++s) {
        scene_random random = scene_random_make(11);
        test_arm arm = arm_of_scene(scenes[s]);
        poise_solver_options options = options_for(30);
        options.position_tolerance = options.rotation_tolerance = 1e-2;
        poise_solver *solver = arm_solver(&arm, &options);
        poise_objective *objective;
        ck_assert_int_eq(poise_objective_create(arm.model, 0, NULL, &objective, NULL), POISE_OK);
        for (int k = 0; k < 100; ++k) {
            double there[ARM_LARGEST], q[ARM_LARGEST];
            poise_report report;
            scene_random_configuration(&random, arm.model, there);
            scene_random_configuration(&random, arm.model, q);
            poise_goal goal = arm_goal(&arm, there);
            goal.weight = 3.0;
            goal.rotation_weight = 0.2;
            ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
            ck_assert_int_eq(report.outcome, POISE_OUTCOME_REACHED);
            poise_objective_set_goals(objective, &goal, 1, NULL);
            poise_objective_evaluate(objective, q, POISE_LEVEL_GRADIENT, NULL);
            poise_goal_error error = poise_objective_goal_error(objective, 0), told = poise_solver_goal_error(solver, 0);
            ck_assert_double_eq_tol(report.cost, poise_objective_value(objective).cost, 1e-15);
            ck_assert_double_eq_tol(report.gradient, projected_gradient(&arm, objective, q), 1e-13);
            ck_assert_double_eq_tol(report.worst_length, error.error, 1e-14);
            ck_assert_double_eq_tol(report.worst_angle, error.rotation_error, 1e-14);
            ck_assert_mem_eq(&told.error, &error.error, sizeof told.error);
            ck_assert_mem_eq(&told.rotation_error, &error.rotation_error, sizeof told.error);
        }
        poise_objective_destroy(objective);
    }
}

// Weights say what counts more where a target cannot be met, even when their quotient is too small for a double.
TEST(every_reachable_target_is_reached_whatever_the_ratio_of_weights)
{
    static const double weights[][2] = {{1e-3, 1e3}, {1e-150, 1e150}, {1e-250, 1e150}, {1e3, 1e-3}, {1e100, 1e-100}};
    scene_random random = scene_random_make(12);
    test_arm arm = arm_of_scene("arm6");
    poise_solver_options options = options_for(30);
    poise_solver *solver = arm_solver(&arm, &options);
    for (int k = 0; k < 100; ++k) {
        double there[ARM_LARGEST], q[ARM_LARGEST];
        poise_report report;
        scene_random_configuration(&random, arm.model, there);
        scene_random_configuration(&random, arm.model, q);
        poise_goal goal = arm_goal(&arm, there);
        goal.weight = weights[k % 5][0];
        goal.rotation_weight = weights[k % 5][1];
        ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
        ck_assert_msg(report.outcome == POISE_OUTCOME_REACHED, "weights %g and %g: %s", goal.weight, goal.rotation_weight,
                      report.reason);
    }
}

TEST(trace_records_the_way_to_the_answer)
{
    poise_trace trace[200];
    poise_solver_options options = options_for(20);
    options.trace = trace;
    options.trace_capacity = 200;
    test_arm arm = arm_of_scene("arm7");
    poise_solver *solver = arm_solver(&arm, &options);
    double there[ARM_LARGEST] = {0.3, 0.6, -0.4, 1.1, 0.6, 0.7, -0.2}, q[ARM_LARGEST] = {0.1, 0.2, 0.1, 0.5};
    poise_goal goal = arm_goal(&arm, there);
    poise_report report;
    ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
    ck_assert_int_eq(report.outcome, POISE_OUTCOME_REACHED);
    ck_assert_int_gt(report.iterations, 2);
    ck_assert_int_eq(report.traced, report.iterations);
    ck_assert_double_eq_tol(trace[report.traced - 1].cost, report.cost, 1e-15);
    ck_assert(trace[0].damping > 0 && trace[0].step > 0 && trace[0].gradient > 0);
}

// An iteration counts as accepted when the cost is the least so far, that of the start included.
TEST(an_iteration_that_raises_the_cost_is_not_called_accepted)
{
    scene_random random = scene_random_make(21);
    poise_trace trace[200];
    poise_solver_options options = options_for(0);
    options.trace = trace;
    options.trace_capacity = 200;
    test_arm arm = arm_of_scene("arm6");
    poise_solver *solver = arm_solver(&arm, &options);
    int raised[2] = {0, 0};
    for (int t = 0; t < 200; ++t) {
        double there[ARM_LARGEST], q[ARM_LARGEST];
        poise_report report;
        scene_random_configuration(&random, arm.model, there);
        scene_random_configuration(&random, arm.model, q);
        poise_goal goal = arm_goal(&arm, there);
        goal.rotation_tolerance.x = t % 2 ? 0.05 : 0.0;
        ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
        ck_assert_int_gt(report.traced, 0);
        if (fabs(trace[0].cost - report.start_cost) > 1e-12 * report.start_cost) { // the two may round in another order
            ck_assert_int_eq(trace[0].accepted, trace[0].cost < report.start_cost);
            raised[t % 2] += !trace[0].accepted;
        }
    }
    ck_assert(raised[0] > 0 && raised[1] > 0);
}

// ---- Again ---------------------------------------------------------------------------------------------------------------

// A solve that begins where the goal is met, or all but, ends nowhere worse: at the start itself if that is no worse, with
// the start's cost. Pushed out of the tolerances it meets the goal again.
TEST(a_second_solve_is_never_worse_than_its_start)
{
    static const double pushes[] = {0.0, 1e-12, 1e-9, 3e-7, 1e-6, 3e-6};
    static const char *const names[] = {"panda", "iiwa14", "ur5", "jaco2", "gen3", "pr2", "baxter"};
    scene_random random = scene_random_make(31);
    int kept = 0;
    for (size_t i = 0; i < TEST_COUNT(names); ++i) {
        test_arm arm = arm_of_robot(names[i]);
        poise_solver_options options = options_for(20);
        poise_solver *solver = arm_solver(&arm, &options);
        for (int k = 0; k < 600; ++k) {
            double there[ARM_LARGEST], q[ARM_LARGEST], start[ARM_LARGEST];
            poise_report report;
            scene_random_configuration(&random, arm.model, there);
            scene_random_configuration(&random, arm.model, q);
            poise_goal goal = arm_goal(&arm, there);
            ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
            for (int j = 0; j < arm.n; ++j) {
                q[j] += pushes[(size_t)k % TEST_COUNT(pushes)] * scene_random_range(&random, -1, 1);
            }
            ck_assert_int_eq(poise_model_clamp(arm.model, q, NULL, NULL), POISE_OK);
            memcpy(start, q, sizeof start);
            ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
            bool was_met = arm_meets(&arm, &goal, start, 0.999e-6);
            ck_assert_msg(report.cost <= report.start_cost || !was_met, "%s, %d: from %.17g to %.17g", arm.name, k,
                          report.start_cost, report.cost);
            ck_assert_msg(!was_met || report.outcome == POISE_OUTCOME_REACHED, "%s, %d: %s", arm.name, k, report.reason);
            kept += memcmp(start, q, (size_t)arm.n * sizeof *q) == 0;
        }
    }
    ck_assert_int_gt(kept, 1000);
}

// ---- Out of reach --------------------------------------------------------------------------------------------------------

// Where the arm's solver ends, the general one finds nothing better nearby.
TEST(the_closest_pose_is_a_minimum_for_the_general_method)
{
    scene_random random = scene_random_make(11);
    static const char *const names[] = {"arm6", "arm7", "scara", "gantry"};
    for (size_t i = 0; i < TEST_COUNT(names); ++i) {
        test_arm arm = arm_of_scene(names[i]);
        poise_solver_options options = options_for(i % 2 ? 0 : 10);
        options.max_iterations = 500;
        poise_solver *solver = arm_solver(&arm, &options), *general = general_solver_for(&arm);
        for (int k = 0; k < 100; ++k) {
            double there[ARM_LARGEST], q[ARM_LARGEST];
            poise_report report, further;
            scene_random_configuration(&random, arm.model, there);
            scene_random_configuration(&random, arm.model, q);
            poise_goal goal = arm_goal(&arm, there);
            goal.target.position.x *= 2.5, goal.target.position.y *= 2.5, goal.target.position.z *= 2.5;
            goal.rotation_weight = k % 3 ? 1.0 : 0.05;
            ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
            bool is_in_reach = report.why == POISE_WHY_LIMITS;
            ck_assert(report.outcome == POISE_OUTCOME_CLOSEST || report.outcome == POISE_OUTCOME_REACHED || is_in_reach);
            ck_assert(poise_model_within_limits(arm.model, q));
            ck_assert_int_eq(poise_solve(general, &goal, 1, q, &further, NULL), POISE_OK);
            ck_assert_double_ge(further.cost, report.cost - 1e-9);
        }
    }
}

// Newton's steps square what is left, 1e-3 at first: after the search, which takes ten steps to give up, a few are enough.
TEST(beside_a_closest_pose_a_few_steps_are_enough)
{
    scene_random random = scene_random_make(43);
    test_arm arm = arm_of_scene("arm7");
    poise_solver_options options = options_for(0);
    poise_solver *solver = arm_solver(&arm, &options);
    int quick = 0;
    for (int k = 0; k < 100; ++k) {
        double there[ARM_LARGEST], q[ARM_LARGEST];
        poise_report report;
        scene_random_configuration(&random, arm.model, there);
        scene_random_configuration(&random, arm.model, q);
        poise_goal goal = arm_goal(&arm, there);
        goal.target.position.x *= 2.5, goal.target.position.y *= 2.5, goal.target.position.z *= 2.5;
        ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
        for (int i = 0; i < arm.n; ++i) {
            q[i] += scene_random_range(&random, -1e-3, 1e-3);
        }
        ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
        quick += report.iterations <= 20;
    }
    ck_assert_int_ge(quick, 95);
}

// |g_i| <= tolerance sqrt(2 f G_ii) in every coordinate between its limits, however lengths are weighed against angles: a
// slide has nothing but its length.
TEST(the_closest_pose_is_stationary_whatever_the_ratio_of_weights)
{
    scene_random random = scene_random_make(41);
    poise_solver_options options = options_for(0);
    int closest = 0;
    for (int k = 0; k < 60; ++k) {
        test_arm arm = arm_random(&random, 3, ARM_SLIDES);
        poise_solver *solver = arm_solver(&arm, &options);
        double q[ARM_LARGEST], H[ARM_LARGEST * ARM_LARGEST];
        poise_report report;
        poise_objective *o;
        scene_random_configuration(&random, arm.model, q);
        poise_pose target = {scene_random_rotation(&random), poise_vec3_make(0.3, 0.1, 0.2)};
        poise_goal goal = poise_goal_pose(arm.body, arm.tip, target);
        goal.weight = k % 2 ? 1e-8 : 1e8;
        ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
        ck_assert_int_eq(poise_objective_create(arm.model, 0, NULL, &o, NULL), POISE_OK);
        ck_assert_int_eq(poise_objective_set_goals(o, &goal, 1, NULL), POISE_OK);
        ck_assert_int_eq(poise_objective_evaluate(o, q, POISE_LEVEL_HESSIAN, NULL), POISE_OK);
        ck_assert_int_eq(poise_objective_hessian(o, POISE_HESSIAN_GAUSS_NEWTON, H, NULL), POISE_OK);
        for (int i = 0; i < arm.n && report.outcome == POISE_OUTCOME_CLOSEST; ++i) {
            double g = poise_objective_value(o).gradient[i], most = sqrt(2.0 * report.cost * H[i * arm.n + i]);
            ck_assert_msg(fabs(g) <= 1e-6 * most || poise_solver_active_limit(solver, i) != 0, "%d: %g of %g", k, g, most);
            closest += i == 0;
        }
        poise_objective_destroy(o);
    }
    ck_assert_int_ge(closest, 40);
}

TEST(without_restarts_the_report_is_honest)
{
    scene_random random = scene_random_make(12);
    poise_solver_options options = options_for(0);
    options.max_iterations = 500;
    test_arm arm = arm_of_scene("arm7");
    int reached = count_reached(&arm, &random, 1000, &options);
    ck_assert_int_ge(reached, 700); // one search alone solves four of five
    ck_assert_int_lt(reached, 1000);
}

TEST(huge_and_broken_targets_do_no_harm)
{
    static const double sizes[] = {1e3, 1e10, 1e100, 1e154, 1e200, 1e308};
    test_arm arm = arm_of_scene("arm6");
    poise_solver_options options = options_for(5);
    poise_solver *solver = arm_solver(&arm, &options);
    double there[ARM_LARGEST] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
    poise_goal goal = arm_goal(&arm, there);
    for (size_t k = 0; k < TEST_COUNT(sizes); ++k) {
        double q[ARM_LARGEST] = {0};
        poise_report report;
        goal.target.position = poise_vec3_make(sizes[k], -sizes[k], 0.5 * sizes[k]);
        ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
        ck_assert(poise_model_within_limits(arm.model, q));
        ck_assert_int_ne(report.outcome, POISE_OUTCOME_REACHED);
    }
    double q[ARM_LARGEST] = {0.5}, before[ARM_LARGEST] = {0.5};
    goal.target.position.y = NAN;
    ck_assert_int_eq(poise_solve(solver, &goal, 1, q, NULL, NULL), POISE_ERROR_ARGUMENT);
    goal.target.position.y = INFINITY;
    ck_assert_int_eq(poise_solve(solver, &goal, 1, q, NULL, NULL), POISE_ERROR_ARGUMENT);
    goal = arm_goal(&arm, there);
    goal.target.rotation.w = NAN;
    ck_assert_int_eq(poise_solve(solver, &goal, 1, q, NULL, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_mem_eq(q, before, sizeof q);
}

// ---- Bands ---------------------------------------------------------------------------------------------------------------

// Five hinges and a roll about the tool's z that does not matter.
TEST(five_joints_reach_every_pose_up_to_roll)
{
    scene_random random = scene_random_make(13);
    poise_solver_options options = options_for(300);
    for (int k = 0; k < 20; ++k) {
        test_arm arm = arm_random(&random, 5, k % 2 ? ARM_RIGHT_ANGLES : ARM_CONTINUOUS);
        poise_solver *solver = arm_solver(&arm, &options);
        for (int t = 0; t < 20; ++t) {
            double there[ARM_LARGEST], q[ARM_LARGEST];
            poise_report report;
            scene_random_configuration(&random, arm.model, there);
            scene_random_configuration(&random, arm.model, q);
            poise_goal goal = arm_goal(&arm, there);
            double roll = scene_random_range(&random, -PI, PI);
            goal.target.rotation =
                poise_quat_multiply(goal.target.rotation, poise_quat_from_axis_angle(poise_vec3_make(0, 0, 1), roll));
            goal.rotation_tolerance.z = INFINITY;
            ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
            ck_assert_msg(report.outcome == POISE_OUTCOME_REACHED, "arm %d target %d: %s", k, t, report.reason);
            ck_assert(poise_model_within_limits(arm.model, q));
            poise_pose at = arm_pose(&arm, q);
            poise_vec3 a = poise_quat_rotate(at.rotation, poise_vec3_make(0, 0, 1));
            poise_vec3 b = poise_quat_rotate(goal.target.rotation, poise_vec3_make(0, 0, 1));
            double dx = at.position.x - goal.target.position.x, dy = at.position.y - goal.target.position.y,
                   dz = at.position.z - goal.target.position.z;
            ck_assert_double_le(sqrt(dx * dx + dy * dy + dz * dz), 1e-6);
            ck_assert_double_ge(a.x * b.x + a.y * b.y + a.z * b.z, 1.0 - 1e-11);
        }
    }
}

TEST(finite_bands_are_met_and_used)
{
    scene_random random = scene_random_make(14);
    poise_solver_options options = options_for(300);
    test_arm arm = arm_of_scene("arm6");
    poise_solver *solver = arm_solver(&arm, &options);
    for (int t = 0; t < 300; ++t) {
        double there[ARM_LARGEST], q[ARM_LARGEST];
        poise_report report;
        scene_random_configuration(&random, arm.model, there);
        scene_random_configuration(&random, arm.model, q);
        poise_goal goal = arm_goal(&arm, there);
        goal.tolerance = poise_vec3_make(0.01, 0, INFINITY);
        goal.rotation_tolerance = poise_vec3_make(0.05, 0.1, t % 2 ? 0.0 : INFINITY);
        ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
        ck_assert_int_eq(report.outcome, POISE_OUTCOME_REACHED);
        poise_goal_error error = poise_solver_goal_error(solver, 0);
        ck_assert(error.error <= 1e-6 && error.rotation_error <= 1e-6);
        ck_assert(poise_model_within_limits(arm.model, q));
    }
}

TEST(bands_out_of_reach_end_at_a_closest_pose)
{
    scene_random random = scene_random_make(15);
    poise_solver_options options = options_for(3);
    options.max_iterations = 500;
    test_arm arm = arm_of_scene("arm6");
    poise_solver *solver = arm_solver(&arm, &options), *general = general_solver_for(&arm);
    for (int t = 0; t < 30; ++t) {
        double there[ARM_LARGEST], q[ARM_LARGEST];
        poise_report report, further;
        scene_random_configuration(&random, arm.model, there);
        scene_random_configuration(&random, arm.model, q);
        poise_goal goal = arm_goal(&arm, there);
        goal.target.position.x += 3.0;
        goal.rotation_tolerance.z = INFINITY;
        ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
        ck_assert_int_eq(report.outcome, POISE_OUTCOME_CLOSEST);
        ck_assert_int_eq(poise_solve(general, &goal, 1, q, &further, NULL), POISE_OK);
        ck_assert_double_ge(further.cost, report.cost - 1e-9);
    }
}

// ---- Arm beside ---------------------------------------------------------------------------------------------------------
//
// Arms with joints that are locked, beside the chain, or at a limit.

// A goal on an inner body moves the joints before it and no other.
TEST(joints_beside_the_chain_keep_their_values)
{
    test_arm arm = arm_of_scene("arm7");
    poise_solver_options options = options_for(100);
    poise_solver *solver = arm_solver(&arm, &options);
    double there[ARM_LARGEST] = {0.4, 0.5, 0.6, 0.7, 0.1, 0.2, 0.3}, q[ARM_LARGEST] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7};
    poise_kinematics *kin;
    ck_assert_int_eq(poise_kinematics_create(arm.model, NULL, &kin, NULL), POISE_OK);
    poise_kinematics_update(kin, there, NULL);
    poise_goal goal = poise_goal_pose(3, poise_pose_identity(), poise_kinematics_body_pose(kin, 3));
    poise_report report;
    ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
    ck_assert_int_eq(report.outcome, POISE_OUTCOME_REACHED);
    ck_assert(q[4] == 0.5 && q[5] == 0.6 && q[6] == 0.7);
    poise_kinematics_destroy(kin);
}

TEST(a_locked_joint_keeps_its_value)
{
    test_arm arm = arm_of_scene("arm7");
    bool locked[ARM_LARGEST] = {false, false, true};
    poise_solver_options options = options_for(50);
    options.locked = locked;
    poise_solver *solver = arm_solver(&arm, &options);
    double there[ARM_LARGEST] = {0.4, 0.5, 0.3, 0.7, 0.1, 0.2, 0.3}, q[ARM_LARGEST] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7};
    poise_goal goal = arm_goal(&arm, there);
    poise_report report;
    ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
    ck_assert(q[2] == 0.3);
    ck_assert_int_eq(report.outcome, POISE_OUTCOME_REACHED);
}

// A UR5, whose hinges go a turn each way, or half a turn. Targets at a limit, or just inside, from 0.01 away: what the
// search finds lies within its tolerance on either side, and beyond the limit it is a whole turn away.
TEST_ROWS(an_answer_at_a_limit_is_not_given_up_for_one_a_turn_away, 6)
{
    static const double inside[] = {0, 1e-9, 1e-4};
    const double turn = 6.28318530717958647692, quarter = 0.25 * turn, most = test_row < 3 ? turn : 0.5 * turn;
    const poise_dh_row rows[6] = {{.alpha = quarter, .d = 0.089, .lower = -most, .upper = most},
                                  {.a = -0.425, .lower = -most, .upper = most},
                                  {.a = -0.392, .lower = -most, .upper = most},
                                  {.alpha = quarter, .d = 0.109, .lower = -most, .upper = most},
                                  {.alpha = -quarter, .d = 0.095, .lower = -most, .upper = most},
                                  {.d = 0.082, .lower = -most, .upper = most}};
    poise_builder *builder = new_builder();
    ck_assert_int_eq(poise_builder_add_dh(builder, "ur", NULL, POISE_DH_CLASSIC, rows, 6, NULL), POISE_OK);
    figure f = figure_of(model_of(builder));
    poise_solver_options options = poise_solver_options_default();
    poise_solver *solver = NULL;
    ck_assert_int_eq(poise_solver_create(f.model, &options, NULL, &solver, NULL), POISE_OK);
    own_solver(solver);
    scene_random random = scene_random_make(77 + (uint64_t)test_row);
    for (int k = 0; k < 300; ++k) {
        double q[6];
        for (int i = 0; i < 6; ++i) {
            f.q[i] = i == k % 6 ? most - inside[test_row % 3] : scene_random_range(&random, -0.95 * most, 0.95 * most);
            q[i] = f.q[i] - scene_random_range(&random, 0, 0.02);
        }
        update(&f);
        poise_goal goal = poise_goal_pose(5, poise_pose_identity(), poise_kinematics_body_pose(f.kin, 5));
        poise_report report;
        ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
        ck_assert_int_eq(report.outcome, POISE_OUTCOME_REACHED);
        ck_assert(poise_model_within_limits(f.model, q));
        ck_assert_msg(report.distance < 1.0, "%d: %g radians away", k, report.distance);
    }
}
