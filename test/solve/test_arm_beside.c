// Arms with joints that are locked, beside the chain, or at a limit.
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
