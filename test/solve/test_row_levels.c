// Priority levels and null spaces: what lower levels may and may not do.
#include "support/row_problems.h"

// Tolerances below what is compared: errors of the levels, to 1e-9.
static poise_solver_options strict_options(poise_method method)
{
    poise_solver_options options = options_for(method, 400);
    options.position_tolerance = options.rotation_tolerance = 1e-12;
    return options;
}

#define LEVEL_BOUND 1e-9

typedef struct levels {
    poise_goal goals[3];
    double posture[MOST];
} levels;

// Left hand to where a random posture has it, the gaze to a point in front, the rest as it stands.
static void hand_gaze_posture(scene_random *random, const poise_model *model, const double *stand, levels *out)
{
    double there[MOST];
    poise_kinematics *kinematics;
    int hand = poise_model_find_body(model, "left_hand"), head = poise_model_find_body(model, "head");
    scene_random_configuration(random, model, there);
    memcpy(there, stand, 6 * sizeof *there); // the root stays
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kinematics, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_update(kinematics, there, NULL), POISE_OK);
    poise_vec3 local = {0, -0.05, 0}, gaze = {scene_random_range(random, -1, 1), 1.4, 1.5};
    out->goals[0] = poise_goal_position(hand, local, poise_kinematics_point(kinematics, hand, local));
    out->goals[1] = poise_goal_aim(head, poise_vec3_make(0, 0.1, 0), poise_vec3_make(0, 0, 1), gaze);
    memcpy(out->posture, stand, sizeof out->posture);
    out->goals[2] = poise_goal_posture(out->posture, 1.0);
    out->goals[1].priority = 1;
    out->goals[2].priority = 7; // levels need not be numbered without gaps
    poise_kinematics_destroy(kinematics);
}

TEST(lower_levels_leave_the_levels_above_alone)
{
    poise_model *model = scene("humanoid");
    poise_solver_options options = strict_options(POISE_METHOD_PRIORITY);
    bool locked[MOST] = {true, true, true, true, true, true};
    options.locked = locked;
    poise_solver *solver = solver_for(model, &options);
    scene_random random = scene_random_make(3);
    double stand[MOST];
    poise_model_neutral(model, stand);
    ck_assert_int_eq(poise_model_clamp(model, stand, NULL, NULL), POISE_OK);
    static levels l;
    for (int trial = 0; trial < 10; ++trial) {
        hand_gaze_posture(&random, model, stand, &l);
        double error[4][3];
        for (int count = 1; count <= 3; ++count) {
            double q[MOST];
            memcpy(q, stand, sizeof q);
            poise_report report = solve(solver, l.goals, count, q);
            ck_assert(poise_model_within_limits(model, q));
            ck_assert_int_eq(report.outcome, count < 3 ? POISE_OUTCOME_REACHED : POISE_OUTCOME_CLOSEST);
            ck_assert_int_le(report.iterations, 300); // 50 are usual, 206 the most
            for (int i = 0; i < count; ++i) {
                error[count][i] = poise_solver_goal_error(solver, i).error;
            }
        }
        ck_assert_double_le(error[1][0], LEVEL_BOUND);
        ck_assert_double_le(error[2][0], LEVEL_BOUND);
        ck_assert_double_le(error[2][1], LEVEL_BOUND);
        ck_assert_double_le(error[3][0], LEVEL_BOUND);
        ck_assert_double_le(error[3][1], LEVEL_BOUND);
        // what two levels leave of the posture when nobody asks for it
        poise_goal all[3] = {l.goals[0], l.goals[1], l.goals[2]};
        all[2].weight = 0.0;
        double q[MOST];
        memcpy(q, stand, sizeof q);
        solve(solver, all, 3, q);
        ck_assert_double_lt(error[3][2], poise_solver_goal_error(solver, 2).error);
    }
    poise_solver_destroy(solver);
    poise_model_destroy(model);
}

// Here the posture's step crosses bounds that it had better not go to: held there it leads nowhere, cut at the first one it
// does.
TEST(a_level_whose_step_crosses_bounds_comes_to_rest)
{
    poise_model *model = scene("humanoid");
    poise_solver_options options = strict_options(POISE_METHOD_PRIORITY);
    bool locked[MOST] = {true, true, true, true, true, true};
    options.locked = locked;
    scene_random random = scene_random_make(26);
    double stand[MOST], q[MOST];
    poise_model_neutral(model, stand);
    ck_assert_int_eq(poise_model_clamp(model, stand, NULL, NULL), POISE_OK);
    memcpy(q, stand, sizeof q);
    static levels l;
    hand_gaze_posture(&random, model, stand, &l);
    poise_report report = solve_once(model, &options, l.goals, 3, q);
    ck_assert_int_eq(report.outcome, POISE_OUTCOME_CLOSEST);
    ck_assert_int_le(report.iterations, 150);
    poise_model_destroy(model);
}

// Errors of both levels for the planar arm, from q: the tip at (x, y) above, the posture below.
static void two_levels(const poise_model *model, double x, double y, const double *start, const double *posture, int count,
                       double errors[2])
{
    poise_vec3 local;
    int body = tip_body(model, &local);
    poise_goal goals[2] = {poise_goal_position(body, local, poise_vec3_make(x, y, 0)), poise_goal_posture(posture, 1.0)};
    goals[1].priority = 1;
    poise_solver_options options = strict_options(POISE_METHOD_PRIORITY);
    options.max_iterations = 3000;
    poise_solver *solver = solver_for(model, &options);
    double q[5];
    memcpy(q, start, sizeof q);
    solve(solver, goals, count, q);
    for (int i = 0; i < count; ++i) {
        errors[i] = poise_solver_goal_error(solver, i).error;
    }
    poise_solver_destroy(solver);
}

TEST(lower_levels_leave_the_levels_above_alone_from_a_straight_arm)
{
    poise_model *model = scene("arm2d");
    static const double straight[5] = {0, 0, 0, 0, 0}, bent[5] = {0.5, -0.9, 0.8, 0.7, -0.6};
    static const double targets[4][2] = {{4, 1}, {-2, 3}, {4.9, 0.5}, {0.3, -0.2}};
    for (int i = 0; i < 4; ++i) {
        double alone[2], both[2];
        two_levels(model, targets[i][0], targets[i][1], straight, bent, 1, alone);
        two_levels(model, targets[i][0], targets[i][1], straight, bent, 2, both);
        ck_assert_double_le(alone[0], LEVEL_BOUND);
        ck_assert_double_le(both[0], LEVEL_BOUND);
        ck_assert_double_lt(both[1], 1.0);
    }
    poise_model_destroy(model);
}

// Out of reach the arm above wants to be straight, whatever the posture wants: the singular end.
TEST(lower_levels_do_not_bend_an_arm_that_is_stretched_to_its_end)
{
    poise_model *model = scene("arm2d");
    static const double start[5] = {0.2, 0.3, -0.2, 0.1, 0.3}, bent[5] = {0.5, -0.9, 0.8, 0.7, -0.6};
    double alone[2], both[2];
    two_levels(model, 4.0, 4.0, start, bent, 1, alone);
    two_levels(model, 4.0, 4.0, start, bent, 2, both);
    ck_assert_double_eq_tol(alone[0], sqrt(32.0) - 5.0, LEVEL_BOUND);
    ck_assert_double_eq_tol(both[0], alone[0], LEVEL_BOUND);
    poise_model_destroy(model);
}

// The gaze has dofs of its own (neck, head), which a hand that reaches in vain must not keep from it.
TEST(a_level_below_one_that_cannot_be_met_uses_its_own_joints)
{
    poise_model *model = scene("humanoid");
    double stand[MOST], q[MOST];
    poise_model_neutral(model, stand);
    ck_assert_int_eq(poise_model_clamp(model, stand, NULL, NULL), POISE_OK);
    memcpy(q, stand, sizeof q);
    scene_random random = scene_random_make(3);
    static levels l;
    hand_gaze_posture(&random, model, stand, &l);
    l.goals[0].target.position = poise_vec3_make(3, 1.2, 0.4);
    l.goals[1].target.position = poise_vec3_make(0.4, 1.4, 2);
    poise_solver_options options = options_for(POISE_METHOD_PRIORITY, 400);
    options.rows.clamp = 0.2; // or the damping, which grows with the residual, makes it slow
    bool locked[MOST] = {true, true, true, true, true, true};
    options.locked = locked;
    poise_solver *solver = solver_for(model, &options);
    solve(solver, l.goals, 1, q);
    double alone = poise_solver_goal_error(solver, 0).error;
    memcpy(q, stand, sizeof q);
    solve(solver, l.goals, 3, q);
    ck_assert_double_eq_tol(poise_solver_goal_error(solver, 0).error, alone, 1e-6); // both are still on their way
    ck_assert_double_le(poise_solver_goal_error(solver, 1).error, 1e-4);            // the chest still moves with the hand
    poise_solver_destroy(solver);
    poise_model_destroy(model);
}

// Both want the same tip: the second only gets what the first leaves, here nothing in x and y but the turn of the last link.
TEST(levels_that_contradict_each_other_are_served_in_order)
{
    poise_model *model = scene("arm2d");
    poise_vec3 local;
    int body = tip_body(model, &local);
    double posture[5] = {0.3, 0.3, 0.3, 0.3, 0.3}, q[5] = {0.1, 0.2, 0.3, 0.4, 0.5};
    poise_goal goals[4] = {poise_goal_position(body, local, poise_vec3_make(2, 2, 0)),
                           poise_goal_position(body, local, poise_vec3_make(-1, 2, 0)),
                           poise_goal_direction(body, poise_vec3_make(1, 0, 0), poise_vec3_make(0, -1, 0)),
                           poise_goal_posture(posture, 1.0)};
    for (int i = 0; i < 4; ++i) {
        goals[i].priority = 10 * i - 5;
    }
    poise_solver_options options = strict_options(POISE_METHOD_PRIORITY);
    poise_solver *solver = solver_for(model, &options);
    poise_report report = solve(solver, goals, 4, q);
    ck_assert_int_eq(report.outcome, POISE_OUTCOME_CLOSEST);
    ck_assert_double_le(poise_solver_goal_error(solver, 0).error, LEVEL_BOUND);
    ck_assert_double_eq_tol(poise_solver_goal_error(solver, 1).error, 3.0, LEVEL_BOUND);
    poise_solver_destroy(solver);
    // the order of the goals does not matter, only their priorities
    poise_goal turned[4] = {goals[2], goals[3], goals[1], goals[0]};
    double again[5] = {0.1, 0.2, 0.3, 0.4, 0.5};
    solve_once(model, &options, turned, 4, again);
    ck_assert_int_eq(memcmp(q, again, sizeof q), 0);
    poise_model_destroy(model);
}

// The left branch reaches in vain; trunk and left branch are its own. The right branch can still be where it is asked to.
TEST(a_branch_beside_one_that_reaches_in_vain_reaches_its_target)
{
    poise_model *model = scene("tree2d");
    int left = poise_model_find_tool(model, "left"), right = poise_model_find_tool(model, "right");
    double alone[MOST], q[MOST] = {0.1, 0.2, 0.3, -0.2, 0.1, 0, 0, 0, 0.2, 0.3, -0.2}, start[MOST];
    memcpy(start, q, sizeof start);
    poise_goal goals[2] = {
        poise_goal_position(poise_model_tool_info(model, left).body, poise_model_tool_info(model, left).pose.position,
                            poise_vec3_make(-3, 5, 0)),
        poise_goal_position(poise_model_tool_info(model, right).body, poise_model_tool_info(model, right).pose.position,
                            poise_vec3_make(0, 0, 0)),
    };
    goals[1].priority = 1;
    poise_solver_options options = strict_options(POISE_METHOD_PRIORITY);
    options.max_iterations = 3000;
    poise_solver *solver = solver_for(model, &options);
    solve(solver, goals, 1, q);
    double error = poise_solver_goal_error(solver, 0).error;
    ck_assert_double_gt(error, 0.5);
    memcpy(alone, q, sizeof alone);
    int first = poise_model_joint_info(model, poise_model_find_joint(model, "right1")).q;
    alone[first] = -0.9, alone[first + 1] = 1.1, alone[first + 2] = 0.4; // where the right branch can be, beside it
    poise_kinematics *kinematics;
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kinematics, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_update(kinematics, alone, NULL), POISE_OK);
    goals[1].target.position = poise_kinematics_tool_pose(kinematics, right).position;
    solve(solver, goals, 2, start);
    ck_assert_double_eq_tol(poise_solver_goal_error(solver, 0).error, error, LEVEL_BOUND);
    ck_assert_double_le(poise_solver_goal_error(solver, 1).error, LEVEL_BOUND);
    poise_kinematics_destroy(kinematics);
    poise_solver_destroy(solver);
    poise_model_destroy(model);
}

// The level below wants far more than there is, and drives coordinates into their bounds; the level above keeps a position,
// or a pose, through all of it.
TEST(a_greedy_level_below_takes_nothing_from_the_level_above)
{
    poise_model *model = scene("arm7");
    const double *lower = poise_model_info(model).lower, *upper = poise_model_info(model).upper;
    poise_solver_options options = strict_options(POISE_METHOD_PRIORITY);
    poise_solver *solver = solver_for(model, &options);
    scene_random random = scene_random_make(29);
    int tool = poise_model_find_tool(model, "tip"), at_bound = 0, converged = 0;
    poise_kinematics *kinematics;
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kinematics, NULL), POISE_OK);
    for (int trial = 0; trial < 40; ++trial) {
        double there[7], q[7], posture[7];
        poise_goal goals[5];
        for (int i = 0; i < 7; ++i) {
            there[i] = scene_random_range(&random, 0.6 * lower[i], 0.6 * upper[i]);
            posture[i] = 3.0 * (scene_random_index(&random, 2) ? lower[i] : upper[i]); // beyond the limits
        }
        near_by(&random, model, there, 0.3, q);
        ck_assert_int_eq(poise_kinematics_update(kinematics, there, NULL), POISE_OK);
        goals_at(model, there, goals);
        if (trial % 2) {
            goals[0] = poise_goal_pose(goals[0].body, poise_model_tool_info(model, tool).pose,
                                       poise_kinematics_tool_pose(kinematics, tool));
        }
        goals[1] = poise_goal_posture(posture, 1.0);
        goals[1].priority = 1;
        converged += solve(solver, goals, 2, q).outcome == POISE_OUTCOME_CLOSEST;
        poise_goal_error error = poise_solver_goal_error(solver, 0);
        ck_assert_double_le(error.error, LEVEL_BOUND);
        ck_assert_double_le(error.rotation_error, LEVEL_BOUND);
        ck_assert(poise_model_within_limits(model, q));
        for (int i = 0; i < 7; ++i) {
            at_bound += q[i] == lower[i] || q[i] == upper[i];
        }
    }
    ck_assert_int_gt(at_bound, 20);
    ck_assert_int_ge(converged, 35); // a damping that grew with what cannot be reached would keep most from it
    poise_kinematics_destroy(kinematics);
    poise_solver_destroy(solver);
    poise_model_destroy(model);
}

// What the null space can do for the posture is a minimum under constraints, which strict levels reach by another way.
TEST(the_null_space_takes_the_posture_without_touching_the_goal)
{
    poise_model *model = scene("arm7");
    poise_solver_options options = strict_options(POISE_METHOD_PSEUDO_INVERSE);
    poise_solver *solver = solver_for(model, &options);
    options.method = POISE_METHOD_PRIORITY;
    poise_solver *other = solver_for(model, &options);
    scene_random random = scene_random_make(31);
    for (int trial = 0; trial < 20; ++trial) {
        double start[7], q[7], there[7], posture[7], weights[7];
        poise_goal goals[5];
        for (int i = 0; i < 7; ++i) {
            there[i] = scene_random_range(&random, 0.3, 1.3);
            posture[i] = scene_random_range(&random, -1.0, 1.0);
            weights[i] = scene_random_range(&random, 0.5, 2.0);
        }
        near_by(&random, model, there, 0.4, start);
        goals_at(model, there, goals);
        goals[1] = poise_goal_posture(posture, 3.0);
        goals[1].q_weights = trial % 2 ? weights : NULL;
        goals[1].priority = 1;
        poise_goal without[2] = {goals[0], goals[1]};
        without[1].weight = 0.0;
        memcpy(q, start, sizeof q);
        solve(solver, without, 2, q);
        double before = poise_solver_goal_error(solver, 1).error;
        ck_assert_double_le(poise_solver_goal_error(solver, 0).error, LEVEL_BOUND);
        memcpy(q, start, sizeof q);
        poise_report report = solve(solver, goals, 2, q);
        ck_assert_int_eq(report.outcome, POISE_OUTCOME_CLOSEST);
        ck_assert_double_le(poise_solver_goal_error(solver, 0).error, LEVEL_BOUND);
        ck_assert_double_lt(poise_solver_goal_error(solver, 1).error, 0.98 * before);
        memcpy(q, start, sizeof q);
        solve(other, goals, 2, q);
        // at rest with a slope of 1e-7 both are within its square of the least, relative; room for flat valleys
        ck_assert_double_eq_tol(poise_solver_goal_error(solver, 1).error, poise_solver_goal_error(other, 1).error, 1e-6);
    }
    poise_solver_destroy(solver);
    poise_solver_destroy(other);
    poise_model_destroy(model);
}

// At the end of the null-space motion, the gradient of the posture is a combination of the rows of the goal: what is left
// along any direction that does not move the tip is nothing.
TEST(the_null_space_motion_ends_where_the_posture_gradient_does)
{
    poise_model *model = scene("arm2d");
    double q[5] = {0.4, 0.5, -0.3, 0.6, 0.2}, posture[5] = {0.1, 0.9, -0.8, 0.2, 0.7}, J[15];
    poise_goal goals[5];
    goals_at(model, q, goals);
    goals[0].target.position = poise_vec3_make(2.2, 2.1, 0);
    goals[1] = poise_goal_posture(posture, 1.0);
    static const poise_method both[2] = {POISE_METHOD_PSEUDO_INVERSE, POISE_METHOD_PRIORITY};
    double ends[2][5];
    for (int m = 0; m < 2; ++m) {
        poise_solver_options options = strict_options(both[m]);
        goals[1].priority = 1;
        memcpy(ends[m], q, sizeof q);
        solve_once(model, &options, goals, 2, ends[m]);
        poise_kinematics *kinematics;
        ck_assert_int_eq(poise_kinematics_create(model, NULL, &kinematics, NULL), POISE_OK);
        ck_assert_int_eq(poise_kinematics_update(kinematics, ends[m], NULL), POISE_OK);
        ck_assert_int_eq(poise_kinematics_jacobian(kinematics, goals[0].body, goals[0].local.position, J, NULL, NULL),
                         POISE_OK);
        // three dofs and the two equations of the plane: the null vector of columns a, b, c
        for (int a = 0; a < 3; ++a) {
            double z[3], sum = 0.0, size = 0.0;
            for (int k = 0; k < 3; ++k) {
                int i = a + (k + 1) % 3, j = a + (k + 2) % 3;
                z[k] = J[i] * J[5 + j] - J[j] * J[5 + i];
            }
            for (int k = 0; k < 3; ++k) {
                sum += z[k] * (ends[m][a + k] - posture[a + k]);
                size += fabs(z[k]);
            }
            // at rest by a slope of 1e-7, times the length of the posture's error and conditions of a few
            ck_assert_double_le(fabs(sum), 2e-6 * size);
        }
        poise_kinematics_destroy(kinematics);
    }
    for (int i = 0; i < 5; ++i) {
        ck_assert_double_eq_tol(ends[0][i], ends[1][i], 1e-5); // two ways to the same end
    }
    poise_model_destroy(model);
}

// options.prior pulls from below all levels.
TEST(the_prior_stands_below_all_levels)
{
    poise_model *model = scene("arm7");
    double start[7] = {0.3, 0.5, 0.2, 0.9, -0.4, 0.6, 0.1}, there[7] = {0.5, 0.8, -0.2, 0.4, 0.1, 0.9, 0.6}, q[7];
    poise_goal goals[5];
    goals_at(model, there, goals);
    static const poise_method both[2] = {POISE_METHOD_PSEUDO_INVERSE, POISE_METHOD_PRIORITY};
    for (int m = 0; m < 2; ++m) {
        poise_solver_options options = strict_options(both[m]);
        memcpy(q, start, sizeof q);
        double free_way = solve_once(model, &options, goals, 1, q).distance;
        options.prior = 5.0;
        options.cost_tolerance = 1e-30; // one goal alone is met long before the prior has its say
        memcpy(q, start, sizeof q);
        poise_report report = solve_once(model, &options, goals, 1, q);
        ck_assert_double_le(report.worst_length, LEVEL_BOUND);
        ck_assert_double_le(report.distance, free_way * (1 + 1e-9));
    }
    poise_model_destroy(model);
}

// Eight hinges one after the other, and after the last one `beside` more, which no goal is on.
static poise_model *eight_hinges(scene_random random, int beside)
{
    poise_builder *builder;
    poise_model *model = NULL;
    char name[8], parent[8] = "";
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    for (int i = 0; i < 8 + beside; ++i) {
        poise_joint joint = poise_joint_default();
        snprintf(name, sizeof name, "h%d", i);
        joint.name = name;
        joint.parent = parent[0] ? parent : NULL;
        joint.type = POISE_JOINT_REVOLUTE;
        joint.axis = scene_random_direction(&random);
        joint.offset.position = poise_vec3_make(0, i > 0 ? 0.3 : 0.0, 0);
        ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
        memcpy(parent, name, sizeof parent);
    }
    ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_OK);
    poise_builder_destroy(builder);
    return model;
}

// Arrays of eight numbers fill whole cache lines, so that whoever wrote one more would change the next. Short steps are cut,
// and rounding does not grow in 40 of them: 1e-9 of costs near 1.
TEST(joints_that_no_goal_is_on_change_no_step)
{
    scene_random random = scene_random_make(31);
    for (int trial = 0; trial < 250; ++trial) {
        poise_report report[2];
        double start[9], x[6];
        for (int i = 0; i < 9; ++i) {
            start[i] = scene_random_range(&random, -1.0, 1.0);
        }
        for (int i = 0; i < 6; ++i) {
            x[i] = scene_random_range(&random, -1.0, 1.0);
        }
        for (int beside = 0; beside < 2; ++beside) {
            poise_model *model = eight_hinges(random, beside);
            poise_solver_options options = options_for(POISE_METHOD_PRIORITY, 40);
            poise_goal goals[2] = {poise_goal_position(7, poise_vec3_make(0, 0.3, 0), poise_vec3_make(x[0], x[1], x[2])),
                                   poise_goal_position(4, poise_vec3_make(0, 0.3, 0), poise_vec3_make(x[3], x[4], x[5]))};
            double q[9];
            goals[1].priority = 1;
            options.step_limit = 0.03;
            memcpy(q, start, sizeof q);
            report[beside] = solve_once(model, &options, goals, 2, q);
            poise_model_destroy(model);
        }
        ck_assert_int_eq(report[0].iterations, report[1].iterations);
        ck_assert_double_eq_tol(report[0].cost, report[1].cost, 1e-9);
    }
}
