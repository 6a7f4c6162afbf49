// All solutions of a pose goal on an arm.
#include "support/skeleton.h"
#include "support/test_arms.h"
#include "support/test_main.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

static poise_solver_options options_for(int restarts)
{
    poise_solver_options options = poise_solver_options_default();
    options.restarts = restarts;
    return options;
}

static double distance_between(const double *a, const double *b, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return sqrt(sum);
}

#define CAPACITY 64

// All solutions are solutions, all distinct, sorted by distance, and the one that made the target is among them.
TEST(all_solutions_are_found_once_and_nearest_first)
{
    scene_random random = scene_random_make(16);
    poise_solver_options options = options_for(400);
    test_arm arm = arm_of_scene("arm6");
    poise_solver *solver = arm_solver(&arm, &options);
    int several = 0;
    for (int t = 0; t < 40; ++t) {
        double there[ARM_LARGEST], start[ARM_LARGEST], rows[CAPACITY * ARM_LARGEST], nearest[ARM_LARGEST], before = 0.0;
        int count, one;
        poise_report report;
        scene_random_configuration(&random, arm.model, there);
        scene_random_configuration(&random, arm.model, start);
        poise_goal goal = arm_goal(&arm, there);
        ck_assert_int_eq(poise_solve_all(solver, &goal, start, rows, CAPACITY, &count, &report, NULL), POISE_OK);
        poise_goal_error first = poise_solver_goal_error(solver, 0); // to rounding; the errors themselves are up to 1e-9
        ck_assert_double_eq_tol(report.worst_length, first.error, 1e-14);
        ck_assert_double_eq_tol(report.worst_angle, first.rotation_error, 1e-14);
        ck_assert_int_ge(count, 1);
        ck_assert_int_eq(report.outcome, POISE_OUTCOME_REACHED);
        several += count > 1;
        bool found = false;
        for (int k = 0; k < count; ++k) {
            const double *q = rows + k * arm.n;
            ck_assert(arm_meets(&arm, &goal, q, 1e-6) && poise_model_within_limits(arm.model, q));
            double distance = distance_between(q, start, arm.n), largest = 0.0;
            ck_assert_double_ge(distance, before);
            before = distance;
            for (int j = 0; j < k; ++j) {
                double apart = 0.0;
                for (int i = 0; i < arm.n; ++i) {
                    apart = fmax(apart, fabs(remainder(q[i] - rows[j * arm.n + i], 2 * PI)));
                }
                ck_assert_double_gt(apart, 1e-3);
            }
            for (int i = 0; i < arm.n; ++i) { // but for whole turns of the flange, +-350 degrees
                largest = fmax(largest, fabs(remainder(q[i] - there[i], 2 * PI)));
            }
            found = found || largest < 1e-4;
        }
        ck_assert_msg(found, "target %d: %d solutions, not the one it was made from", t, count);
        ck_assert_double_eq_tol(report.distance, distance_between(rows, start, arm.n), 1e-12);
        ck_assert_int_eq(poise_solve_all(solver, &goal, start, nearest, 1, &one, NULL, NULL), POISE_OK);
        ck_assert_int_eq(one, 1);
        ck_assert_mem_eq(nearest, rows, (size_t)arm.n * sizeof *rows);
    }
    ck_assert_int_ge(several, 30);
}

// Finds of one solution that are as far apart as the tolerances let them be are still one, and as good.
TEST(loose_tolerances_make_no_more_solutions)
{
    scene_random random = scene_random_make(17);
    poise_solver_options options = options_for(400), loose = options;
    loose.position_tolerance = loose.rotation_tolerance = 1e-3;
    test_arm arm = arm_of_scene("arm6");
    poise_solver *solver = arm_solver(&arm, &options), *lenient = arm_solver(&arm, &loose);
    for (int t = 0; t < 10; ++t) {
        double there[ARM_LARGEST], rows[CAPACITY * ARM_LARGEST];
        int count, expected;
        scene_random_configuration(&random, arm.model, there);
        poise_goal goal = arm_goal(&arm, there);
        ck_assert_int_eq(poise_solve_all(solver, &goal, there, rows, CAPACITY, &expected, NULL, NULL), POISE_OK);
        ck_assert_int_eq(poise_solve_all(lenient, &goal, there, rows, CAPACITY, &count, NULL, NULL), POISE_OK);
        ck_assert_int_eq(count, expected);
        for (int k = 0; k < count; ++k) {
            ck_assert(arm_meets(&arm, &goal, rows + k * arm.n, 1e-6));
        }
    }
}

// A crane of three slides, whose rotation is met from the start, has one solution, to far below the tolerance.
TEST(a_crane_has_one_solution)
{
    poise_builder *builder = new_builder();
    static const char *const names[] = {"x", "y", "z"};
    for (int i = 0; i < 3; ++i) {
        poise_joint slide = joint_of(names[i], i > 0 ? names[i - 1] : NULL, POISE_JOINT_PRISMATIC);
        slide.axis = poise_vec3_make(i == 0, i == 1, i == 2);
        slide.lower[0] = -1, slide.upper[0] = 1;
        add(builder, &slide);
    }
    test_arm crane = {.model = model_of(builder), .n = 3, .body = 2, .tip = poise_pose_identity()};
    poise_solver_options options = options_for(20);
    options.position_tolerance = 1e-2;
    double there[3] = {0.3, -0.2, 0.4}, start[3] = {0}, rows[CAPACITY * 3];
    poise_goal goal = arm_goal(&crane, there);
    int count;
    ck_assert_int_eq(poise_solve_all(arm_solver(&crane, &options), &goal, start, rows, CAPACITY, &count, NULL, NULL),
                     POISE_OK);
    ck_assert_int_eq(count, 1);
    ck_assert_double_le(distance_between(rows, there, 3), 1e-8);
}

TEST(all_solutions_of_the_unreachable_are_none)
{
    poise_solver_options options = options_for(20);
    test_arm arm = arm_of_scene("arm6");
    poise_solver *solver = arm_solver(&arm, &options);
    double there[ARM_LARGEST] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, rows[4 * ARM_LARGEST], start[ARM_LARGEST] = {0};
    poise_goal goal = arm_goal(&arm, there);
    goal.target.position.x = 5.0;
    poise_report report;
    poise_error error;
    int count = -1;
    ck_assert_int_eq(poise_solve_all(solver, &goal, start, rows, 4, &count, &report, NULL), POISE_OK);
    ck_assert_int_eq(count, 0);
    ck_assert_int_eq(report.outcome, POISE_OUTCOME_CLOSEST);
    ck_assert_double_eq_tol(report.distance, distance_between(rows, start, arm.n), 1e-12); // the closest pose
    ck_assert_double_gt(report.distance, 0.1);
    count = -1;
    goal.target.position.x = NAN;
    ck_assert_int_eq(poise_solve_all(solver, &goal, start, rows, 4, &count, &report, NULL), POISE_ERROR_ARGUMENT);
    goal = poise_goal_position(arm.body, poise_vec3_make(0, 0, 0), poise_vec3_make(0.2, 0.2, 0.2));
    ck_assert_int_eq(poise_solve_all(solver, &goal, start, rows, 4, &count, &report, &error), POISE_ERROR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(error.text, "a pose goal on a chain"));
    ck_assert_int_eq(poise_solve_all(solver, &goal, start, rows, 0, &count, &report, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(count, -1);
}

// An arm of seven joints with one locked has eight answers at most, all with that joint where the start has it.
TEST(all_solutions_leave_locked_joints_where_the_start_has_them)
{
    test_arm arm = arm_of_scene("arm7");
    bool locked[ARM_LARGEST] = {false, false, true};
    poise_solver_options options = options_for(400);
    options.locked = locked;
    poise_solver *solver = arm_solver(&arm, &options);
    scene_random random = scene_random_make(23);
    for (int t = 0; t < 20; ++t) { // another value each time
        double there[ARM_LARGEST], start[ARM_LARGEST], rows[CAPACITY * ARM_LARGEST], q[ARM_LARGEST];
        int count;
        poise_report report;
        scene_random_configuration(&random, arm.model, there);
        scene_random_configuration(&random, arm.model, start);
        start[2] = there[2];
        poise_goal goal = arm_goal(&arm, there);
        ck_assert_int_eq(poise_solve_all(solver, &goal, start, rows, CAPACITY, &count, &report, NULL), POISE_OK);
        ck_assert_int_ge(count, 1);
        ck_assert_int_le(count, 8);
        bool found = false;
        for (int k = 0; k < count; ++k) {
            double apart = 0.0;
            ck_assert(rows[k * arm.n + 2] == start[2]);
            ck_assert(arm_meets(&arm, &goal, rows + k * arm.n, 1e-6));
            for (int i = 0; i < arm.n; ++i) {
                apart = fmax(apart, fabs(remainder(rows[k * arm.n + i] - there[i], 2 * PI)));
            }
            found = found || apart < 1e-3;
        }
        ck_assert(found);
        memcpy(q, start, sizeof q);
        ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK); // the chain above is not kept
        ck_assert(q[2] == start[2] && report.outcome == POISE_OUTCOME_REACHED);
    }
}

// An arm on a base that floats, and is locked.
TEST(all_solutions_of_an_arm_on_a_locked_base)
{
    poise_builder *builder = NULL;
    poise_model *model = NULL;
    poise_dh_row rows_of_table[] = {
        {.a = 0.4, .lower = -3, .upper = 3}, {.a = 0.3, .lower = -3, .upper = 3}, {.a = 0.1, .lower = -3, .upper = 3}};
    poise_joint base = poise_joint_default();
    base.name = base.body = "base";
    base.type = POISE_JOINT_FREE;
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    ck_assert_int_eq(poise_builder_add_joint(builder, &base, NULL), POISE_OK);
    ck_assert_int_eq(poise_builder_add_dh(builder, "arm", "base", POISE_DH_CLASSIC, rows_of_table, 3, NULL), POISE_OK);
    ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_OK);
    bool locked[9] = {true, true, true, true, true, true};
    poise_solver_options options = options_for(100);
    options.locked = locked;
    poise_solver *solver = NULL;
    ck_assert_int_eq(poise_solver_create(model, &options, NULL, &solver, NULL), POISE_OK);
    // the base at (1, 2, 3), a quarter turn about x: the arm moves in the plane x, z
    double start[10] = {1, 2, 3, sqrt(0.5), 0, 0, sqrt(0.5)}, rows[4 * 10];
    poise_goal goal = poise_goal_pose(poise_model_info(model).joints - 1, poise_pose_identity(),
                                      (poise_pose){{sqrt(0.5), 0, 0, sqrt(0.5)}, {1.5, 2, 3.1}});
    int count = 0;
    poise_report report;
    poise_error error;
    ck_assert_msg(poise_solve_all(solver, &goal, start, rows, 4, &count, &report, &error) == POISE_OK, "%s", error.text);
    ck_assert_int_eq(count, 2); // both elbows
    for (int k = 0; k < count; ++k) {
        ck_assert(memcmp(rows + 10 * k, start, 7 * sizeof *start) == 0);
    }
    ck_assert_double_le(report.worst_length, 1e-6);
    ck_assert_double_le(report.worst_angle, 1e-6);
    poise_solver_destroy(solver);
    poise_model_destroy(model);
    poise_builder_destroy(builder);
}
