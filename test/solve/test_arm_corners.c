// Poses whose answers lie at joint limits, as arms are homed, parked and shipped: they are reached, and none of them is ever
// called the closest pose. Arms by tables of Denavit and Hartenberg's numbers, of the builds that are on the market.
#include <math.h>
#include <stdlib.h>

#include "support/corner_arms.h"
#include "support/test_main.h"

#define RESTARTS 30 // as the command has them

// TEST_CORNERS: poses of each arm and kind of corner.
static int rounds(void)
{
    const char *text = getenv("TEST_CORNERS");
    return text ? atoi(text) : 60;
}

static poise_solver_options options_for(int restarts)
{
    poise_solver_options options = poise_solver_options_default();
    options.start = POISE_START_COLD;
    options.restarts = restarts;
    return options;
}

// Solve for poses with joints placed so, from random starts. Returns how many were missed.
static int count_missed(const test_arm *arm, corner_kind corner, int restarts, scene_random *random)
{
    poise_solver_options options = options_for(restarts);
    poise_solver *solver = arm_solver(arm, &options);
    int missed = 0;
    for (int round = 0; round < rounds(); ++round) {
        double there[ARM_LARGEST], q[ARM_LARGEST];
        poise_report report;
        corner_configuration(arm, corner, random, there);
        scene_random_configuration(random, arm->model, q);
        poise_goal goal = arm_goal(arm, there);
        ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
        ck_assert(poise_model_within_limits(arm->model, q));
        bool met = arm_meets(arm, &goal, q, 1e-6);
        ck_assert_int_eq(met, report.outcome == POISE_OUTCOME_REACHED);
        ck_assert_msg(report.outcome != POISE_OUTCOME_CLOSEST, "%s, %s, round %d: reachable, and called closest at %g",
                      arm->name, corner_name(corner), round, report.worst_length);
        missed += !met;
    }
    return missed;
}

TEST(poses_at_joint_limits_are_reached)
{
    scene_random random = scene_random_make(41);
    int missed = 0, count = 0;
    for (int k = 0; k < CORNER_ARMS; ++k) {
        test_arm arm = corner_arm(k);
        for (int corner = 0; corner < CORNER_COUNT; ++corner) {
            missed += count_missed(&arm, (corner_kind)corner, RESTARTS, &random);
            count += rounds();
        }
    }
    ck_assert_msg(missed * 1000 <= count, "%d of %d are missed", missed, count);
}

TEST(poses_at_limits_of_random_arms_are_reached)
{
    scene_random random = scene_random_make(42);
    int missed = 0, count = 0;
    for (int k = 0; k < 24; ++k) {
        unsigned features = (k % 2 ? ARM_RIGHT_ANGLES : ARM_PLAIN) | (k % 3 == 1 ? ARM_SLIDES : ARM_PLAIN);
        test_arm arm = arm_random(&random, 5 + k % 3, features);
        for (int corner = 0; corner < CORNER_COUNT; ++corner) {
            missed += count_missed(&arm, (corner_kind)corner, RESTARTS, &random);
            count += rounds();
        }
    }
    ck_assert_msg(missed * 1000 <= count, "%d of %d are missed", missed, count);
}

// ---- Goals of other kinds ------------------------------------------------------------------------------------------------

// What a tip does in a corner, asked for in other words than its pose. Returns how many goals that takes.
typedef enum corner_goals { ASKS_POINT, ASKS_POINT_AND_AXIS, ASKS_TWO_POINTS, ASKS_TURN, ASKS_COUNT } corner_goals;

static int ask(const test_arm *arm, corner_goals kind, const double *there, poise_goal goals[2])
{
    poise_vec3 at = {0.05, 0.02, 0.1}, other = {-0.04, 0.1, 0.03}, axis = {0, 0, 1};
    poise_kinematics *kin;
    ck_assert_int_eq(poise_kinematics_create(arm->model, NULL, &kin, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_update(kin, there, NULL), POISE_OK);
    goals[0] = poise_goal_position(arm->body, at, poise_kinematics_point(kin, arm->body, at));
    goals[1] = poise_goal_direction(arm->body, axis, poise_kinematics_direction(kin, arm->body, axis));
    if (kind == ASKS_TWO_POINTS) {
        goals[1] = poise_goal_position(arm->body, other, poise_kinematics_point(kin, arm->body, other));
    } else if (kind == ASKS_TURN) {
        goals[0] = poise_goal_orientation(arm->body, poise_kinematics_body_pose(kin, arm->body).rotation);
    }
    poise_kinematics_destroy(kin);
    return kind == ASKS_POINT || kind == ASKS_TURN ? 1 : 2;
}

TEST(points_axes_and_turns_at_joint_limits_are_reached)
{
    scene_random random = scene_random_make(47);
    poise_solver_options options = options_for(RESTARTS);
    int missed = 0, count = 0;
    for (int k = 0; k < CORNER_ARMS * CORNER_COUNT * ASKS_COUNT; ++k) {
        test_arm arm = corner_arm(k % CORNER_ARMS);
        corner_kind corner = (corner_kind)(k / CORNER_ARMS % CORNER_COUNT);
        corner_goals kind = (corner_goals)(k / CORNER_ARMS / CORNER_COUNT);
        poise_solver *solver = arm_solver(&arm, &options);
        for (int round = 0; round < rounds(); ++round) {
            double there[ARM_LARGEST], q[ARM_LARGEST];
            poise_goal goals[2];
            poise_report report;
            corner_configuration(&arm, corner, &random, there);
            scene_random_configuration(&random, arm.model, q);
            int asked = ask(&arm, kind, there, goals);
            ck_assert_int_eq(poise_solve(solver, goals, asked, q, &report, NULL), POISE_OK);
            ck_assert(poise_model_within_limits(arm.model, q));
            ck_assert_msg(report.outcome != POISE_OUTCOME_CLOSEST,
                          "%s, %s, goals %d, round %d: reachable, and called closest at %g and %g", arm.name,
                          corner_name(corner), (int)kind, round, report.worst_length, report.worst_angle);
            missed += report.outcome != POISE_OUTCOME_REACHED;
            count += 1;
        }
    }
    ck_assert_msg(missed * 500 <= count, "%d of %d are missed", missed, count);
}

// Hinges without limits are looked for in the whole of their turn, few hinges with as much care as many.
TEST(arms_of_few_hinges_are_not_called_closest)
{
    scene_random random = scene_random_make(49);
    poise_solver_options options = options_for(RESTARTS);
    int missed = 0, count = 0;
    for (int k = 0; k < 5 * ASKS_COUNT * rounds(); ++k) {
        test_arm arm = arm_random(&random, 1 + k % 5, k % 2 ? ARM_CONTINUOUS : ARM_PLAIN);
        poise_solver *solver = arm_solver(&arm, &options);
        double there[ARM_LARGEST], q[ARM_LARGEST];
        poise_goal goals[2];
        poise_report report;
        scene_random_configuration(&random, arm.model, there);
        scene_random_configuration(&random, arm.model, q);
        int asked = ask(&arm, (corner_goals)(k / 5 % ASKS_COUNT), there, goals);
        ck_assert_int_eq(poise_solve(solver, goals, asked, q, &report, NULL), POISE_OK);
        ck_assert_msg(report.outcome != POISE_OUTCOME_CLOSEST, "arm %d: reachable, and called closest at %g and %g", k,
                      report.worst_length, report.worst_angle);
        missed += report.outcome != POISE_OUTCOME_REACHED;
        count += 1;
    }
    ck_assert_msg(missed * 500 <= count, "%d of %d are missed", missed, count);
}

// Points far beyond are still out of reach.
TEST(points_out_of_reach_are_called_so)
{
    scene_random random = scene_random_make(48);
    poise_solver_options options = options_for(RESTARTS);
    for (int k = 0; k < 2 * CORNER_ARMS; ++k) {
        test_arm arm = corner_arm(k % CORNER_ARMS);
        poise_solver *solver = arm_solver(&arm, &options);
        double there[ARM_LARGEST], q[ARM_LARGEST];
        poise_goal goals[2];
        poise_report report;
        scene_random_configuration(&random, arm.model, there);
        scene_random_configuration(&random, arm.model, q);
        int asked = ask(&arm, k < CORNER_ARMS ? ASKS_POINT : ASKS_POINT_AND_AXIS, there, goals);
        goals[0].target.position = poise_vec3_make(3.0, 1.0, 2.0);
        ck_assert_int_eq(poise_solve(solver, goals, asked, q, &report, NULL), POISE_OK);
        ck_assert_int_eq(report.outcome, POISE_OUTCOME_CLOSEST);
    }
}

// ---- Few restarts, all answers, what is in the way -----------------------------------------------------------------------

// With few restarts more is missed; none of it is called closest.
TEST(what_few_restarts_miss_is_not_called_closest)
{
    scene_random random = scene_random_make(43);
    for (int k = 0; k < CORNER_ARMS; ++k) {
        test_arm arm = corner_arm(k);
        for (int corner = 0; corner < CORNER_COUNT; ++corner) {
            count_missed(&arm, (corner_kind)corner, 1 + k % 3 * 4, &random);
        }
    }
}

// All answers to a pose in a corner are within the limits and meet it; the corner is one of them, or lies beside one.
TEST(all_solutions_of_a_corner_have_the_corner)
{
    enum { MOST = 32 };
    scene_random random = scene_random_make(44);
    poise_solver_options options = options_for(100);
    int found = 0, count = 0;
    for (int k = 0; k < CORNER_ARMS; ++k) {
        test_arm arm = corner_arm(k);
        if (arm.n != 6) {
            continue;
        }
        poise_solver *solver = arm_solver(&arm, &options);
        for (int round = 0; round < rounds(); ++round) {
            double there[ARM_LARGEST], q[ARM_LARGEST], solutions[MOST * ARM_LARGEST];
            int answers = 0;
            corner_configuration(&arm, CORNER_ALL, &random, there);
            scene_random_configuration(&random, arm.model, q);
            poise_goal goal = arm_goal(&arm, there);
            ck_assert_int_eq(poise_solve_all(solver, &goal, q, solutions, MOST, &answers, NULL, NULL), POISE_OK);
            for (int a = 0; a < answers; ++a) {
                ck_assert(poise_model_within_limits(arm.model, solutions + a * arm.n));
                ck_assert(arm_meets(&arm, &goal, solutions + a * arm.n, 1e-6));
            }
            found += answers > 0;
            count += 1;
        }
    }
    ck_assert_int_gt(count, 0);
    ck_assert_int_eq(found, count);
}

// Where limits are in the way, the report says so, or that it is the closest: then every way was looked at.
TEST(limits_that_are_in_the_way_are_named)
{
    scene_random random = scene_random_make(45);
    poise_solver_options options = options_for(RESTARTS);
    int named = 0;
    for (int k = 0; k < 100; ++k) {
        test_arm arm = corner_arm(k % CORNER_ARMS);
        poise_solver *solver = arm_solver(&arm, &options);
        double beyond[ARM_LARGEST], q[ARM_LARGEST];
        poise_report report;
        for (int i = 0; i < arm.n; ++i) {
            beyond[i] = scene_random_range(&random, -3.14, 3.14);
        }
        scene_random_configuration(&random, arm.model, q);
        poise_goal goal = arm_goal(&arm, beyond);
        ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
        bool is_named = report.why == POISE_WHY_LIMITS;
        ck_assert(report.outcome != POISE_OUTCOME_STALLED || is_named);
        named += is_named;
    }
    ck_assert_int_gt(named, 10);
}

// A hinge that would have to turn further, and a pose that no joint value reaches: nothing was missed.
TEST(the_closest_pose_is_still_called_so)
{
    scene_random random = scene_random_make(46);
    poise_solver_options options = options_for(RESTARTS);
    for (int k = 0; k < 40; ++k) {
        test_arm arm = corner_arm(k % CORNER_ARMS);
        poise_solver *solver = arm_solver(&arm, &options);
        double there[ARM_LARGEST], q[ARM_LARGEST];
        poise_report report;
        scene_random_configuration(&random, arm.model, there);
        scene_random_configuration(&random, arm.model, q);
        poise_goal goal = arm_goal(&arm, there);
        poise_vec3 *p = &goal.target.position;
        double far = 4.0 / sqrt(p->x * p->x + p->y * p->y + p->z * p->z);
        *p = poise_vec3_make(far * p->x, far * p->y, far * p->z);
        ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
        ck_assert_int_eq(report.outcome, POISE_OUTCOME_CLOSEST);
    }
}
