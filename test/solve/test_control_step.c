// The control step: limits of velocity, acceleration and position, braking, gains, locks, and that it arrives.
#include "scenes/scenes.h"
#include "support/allocations.h"
#include "support/problems.h"
#include "support/skeleton.h"

#include <float.h>
#include <math.h>
#include <poise/papers.h>
#include <string.h>

#define DT   0.01
#define SLIP 1e-9 // of a limit, for sums and differences that round

static poise_solver *solver_for(const poise_model *model, const poise_solver_options *options)
{
    poise_solver *solver = NULL;
    ck_assert_int_eq(poise_solver_create(model, options, NULL, &solver, NULL), POISE_OK);
    return own_solver(solver);
}

static void step_of(poise_solver *solver, const poise_goal *goals, int count, double dt, const poise_step_options *o,
                    double *q, double *v, poise_report *report)
{
    poise_error error = {0};
    ck_assert_msg(poise_step(solver, goals, count, dt, o, q, v, report, &error) == POISE_OK, "%s", error.text);
}

static void step(poise_solver *solver, const poise_goal *goals, int count, const poise_step_options *o, double *q, double *v,
                 poise_report *report)
{
    step_of(solver, goals, count, DT, o, q, v, report);
}

// One hinge, or slide, between limits.
static poise_model *single(poise_joint_type type, double lower, double upper)
{
    poise_builder *builder = new_builder();
    poise_joint joint = joint_of("joint", NULL, type);
    joint.lower[0] = lower;
    joint.upper[0] = upper;
    add(builder, &joint);
    return model_of(builder);
}

// ---- Limits hold ---------------------------------------------------------------------------------------------------------

// Joints whose velocities are not the derivatives of plain coordinates, or whose limit is an ellipse.
static bool is_plain(const poise_model *model, int dof)
{
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(model, k);
        if (dof >= joint.v && dof < joint.v + joint.nv) {
            bool turns_in_3d = joint.type == POISE_JOINT_BALL_EXPMAP || joint.type == POISE_JOINT_FREE_EXPMAP;
            return joint.type != POISE_JOINT_SWING_TWIST && !turns_in_3d;
        }
    }
    return true;
}

// New random targets every 40 steps, so that it is caught at speed; steps of DT, shorter at random down to `least` of it.
static void run_randomly(uint64_t seed, unsigned features, double least, int rounds)
{
    scene_random random = scene_random_make(seed);
    poise_model *model = own_model(random_model(&random, 6, features));
    int nv = poise_model_info(model).nv;
    double q[PROBLEM_NUMBERS], v[PROBLEM_NUMBERS] = {0}, before[PROBLEM_NUMBERS], v_before[PROBLEM_NUMBERS];
    double velocity[PROBLEM_NUMBERS], acceleration[PROBLEM_NUMBERS];
    scene_random_configuration(&random, model, q);
    ck_assert_int_eq(poise_model_clamp(model, q, NULL, NULL), POISE_OK);
    for (int i = 0; i < nv; ++i) {
        velocity[i] = scene_random_range(&random, 0.5, 4.0);
        acceleration[i] = scene_random_range(&random, 2.0, 40.0);
    }
    poise_solver_options options = poise_solver_options_default();
    poise_solver *solver = solver_for(model, &options);
    poise_step_options limits = poise_step_options_default();
    limits.velocity = velocity;
    limits.acceleration = acceleration;
    poise_goal goals[2];
    for (int n = 0; n < rounds; ++n) {
        for (int g = 0; g < 2 && n % 40 == 0; ++g) {
            goals[g] = poise_goal_position(scene_random_index(&random, 6), random_vector(&random, 0.3),
                                           random_vector(&random, 2.0));
        }
        memcpy(before, q, sizeof before);
        memcpy(v_before, v, sizeof v_before);
        double dt = least < 1.0 ? DT * scene_random_range(&random, least, 1.0) : DT;
        step_of(solver, goals, 2, dt, &limits, q, v, NULL);
        ck_assert(poise_model_within_limits(model, q));
        for (int i = 0; i < nv; ++i) {
            ck_assert_double_le(is_plain(model, i) ? fabs(v[i]) : 0.0, velocity[i]);
            ck_assert_double_le(is_plain(model, i) ? fabs(v[i] - v_before[i]) : 0.0, acceleration[i] * dt * (1.0 + SLIP));
        }
        double way[PROBLEM_NUMBERS];
        ck_assert_int_eq(poise_difference(model, before, q, way, NULL), POISE_OK);
        for (int i = 0; i < nv && features == RANDOM_LIMITS; ++i) {
            ck_assert_double_le(is_plain(model, i) ? fabs(way[i] - v[i] * dt) : 0.0, 1e-9);
        }
    }
}

TEST_ROWS(limits_hold_on_random_models, 40)
{
    run_randomly(100 + (uint64_t)test_row, test_row % 2 ? RANDOM_LIMITS : RANDOM_LIMITS | RANDOM_CURVES, 1.0, 400);
}

TEST_ROWS(limits_hold_with_followers, 10)
{
    run_randomly(900 + (uint64_t)test_row, RANDOM_LIMITS | RANDOM_MIMICS, 1.0, 200);
}

TEST_ROWS(limits_hold_where_no_step_is_as_long_as_the_last, 40)
{
    run_randomly(500 + (uint64_t)test_row, RANDOM_LIMITS, 0.05, 400);
}

// A swing at the edge of its ellipse keeps to it and to its velocity.
TEST(a_swing_keeps_to_its_ellipse_and_velocity)
{
    poise_builder *builder = new_builder();
    poise_joint joint = joint_of("ball", NULL, POISE_JOINT_SWING_TWIST);
    joint.swing[0] = 0.6;
    joint.swing[1] = 0.3;
    add(builder, &joint);
    poise_model *model = model_of(builder);
    poise_solver_options options = poise_solver_options_default();
    poise_solver *solver = solver_for(model, &options);
    double q[3] = {0}, v[3] = {0}, velocity[3] = {1.0, 1.5, 2.0};
    poise_step_options limits = poise_step_options_default();
    limits.velocity = velocity;
    for (int n = 0; n < 600; ++n) {
        double s, c, before[3] = {q[0], q[1], q[2]};
        poise_sincos(0.02 * n, &s, &c);
        poise_goal goal = poise_goal_position(0, poise_vec3_make(0, 0, 1), poise_vec3_make(c, s, 0.5));
        step(solver, &goal, 1, &limits, q, v, NULL);
        ck_assert(poise_model_within_limits(model, q));
        for (int i = 0; i < 2; ++i) {
            ck_assert_double_le(fabs(q[i] - before[i]), velocity[i] * DT * (1.0 + SLIP));
            ck_assert_double_eq_tol(q[i] - before[i], v[i] * DT, 1e-12);
        }
    }
}

// ---- Braking -------------------------------------------------------------------------------------------------------------

// As fast as allowed towards a target beyond the limit: it ends at the limit, at rest, having used full speed and full
// braking.
TEST(it_brakes_to_rest_at_a_limit)
{
    poise_model *model = single(POISE_JOINT_PRISMATIC, -10.0, 1.0);
    poise_solver_options options = poise_solver_options_default();
    poise_solver *solver = solver_for(model, &options);
    double q = -1.0, v = 0.0, velocity = 1.5, acceleration = 3.0, fastest = 0.0, hardest = 0.0;
    poise_step_options limits = poise_step_options_default();
    limits.velocity = &velocity;
    limits.acceleration = &acceleration;
    poise_goal goal = poise_goal_position(0, poise_vec3_make(0, 0, 0), poise_vec3_make(0, 0, 5));
    int steps = 0;
    for (; steps < 1000 && !(q == 1.0 && v == 0.0); ++steps) {
        double was = v;
        step(solver, &goal, 1, &limits, &q, &v, NULL);
        fastest = fmax(fastest, v);
        hardest = fmax(hardest, was - v);
    }
    ck_assert_double_eq(q, 1.0);
    ck_assert_double_eq_tol(fastest, velocity, 1e-12);
    ck_assert_double_le(hardest, acceleration * DT * (1.0 + SLIP));
    // 0.5 s up, 0.5 s down, 1.25 m left at full speed
    ck_assert_double_le(steps * DT, 0.5 + 0.5 + 1.25 / 1.5 + 8 * DT);
}

TEST(what_is_too_fast_brakes_and_what_is_outside_comes_back)
{
    poise_model *model = single(POISE_JOINT_REVOLUTE, -1.0, 1.0);
    poise_solver_options options = poise_solver_options_default();
    poise_solver *solver = solver_for(model, &options);
    double velocity = 0.5, acceleration = 10.0, q = -1.0, v = 1.0, still = 0.0;
    poise_step_options limits = poise_step_options_default();
    limits.velocity = &velocity;
    limits.acceleration = &acceleration;
    poise_goal goal = poise_goal_posture(&still, 1.0);
    step(solver, &goal, 1, &limits, &q, &v, NULL);
    ck_assert_double_eq_tol(v, 0.9, 1e-12); // as hard as it may, no harder
    q = 1.2, v = 0.0;
    poise_report report;
    for (int n = 0; n < 100; ++n) {
        double was = q;
        step(solver, &goal, 1, &limits, &q, &v, &report);
        ck_assert_int_eq(report.moved_joints, was > 1.0);
        ck_assert_double_le(was - q, velocity * DT * (1.0 + SLIP));
    }
    ck_assert_double_le(q, 1.0);
    q = 0.99, v = 40.0; // it cannot stop: the limit comes first
    step(solver, &goal, 1, &limits, &q, &v, NULL);
    ck_assert_double_le(q, 1.0);
}

// ---- It arrives ----------------------------------------------------------------------------------------------------------

TEST_ROWS(it_arrives_at_what_can_be_reached, 20)
{
    scene_random random = scene_random_make(50 + (uint64_t)test_row);
    poise_model *model = own_model(random_model(&random, 8, RANDOM_PLAIN));
    int nv = poise_model_info(model).nv;
    double q[PROBLEM_NUMBERS], there[PROBLEM_NUMBERS], v[PROBLEM_NUMBERS] = {0}, way[PROBLEM_NUMBERS];
    double velocity[PROBLEM_NUMBERS], acceleration[PROBLEM_NUMBERS];
    scene_random_configuration(&random, model, q);
    random_step(&random, model, 0.3, way);
    ck_assert_int_eq(poise_retract(model, q, way, there, NULL), POISE_OK);
    figure f = figure_of(model);
    memcpy(f.q, there, sizeof(double) * (size_t)f.nq);
    update(&f);
    poise_goal goals[2];
    for (int g = 0; g < 2; ++g) {
        int body = 7 - 3 * g;
        goals[g] = poise_goal_pose(body, poise_pose_identity(), poise_kinematics_body_pose(f.kin, body));
    }
    for (int i = 0; i < nv; ++i) {
        velocity[i] = 2.0;
        acceleration[i] = 50.0;
    }
    poise_solver_options options = poise_solver_options_default();
    poise_solver *solver = solver_for(model, &options);
    poise_step_options limits = poise_step_options_default();
    limits.velocity = velocity;
    limits.acceleration = acceleration;
    poise_report report = {.outcome = POISE_OUTCOME_COUNT};
    for (int n = 0; n < 3000 && report.outcome != POISE_OUTCOME_REACHED; ++n) {
        step(solver, goals, 2, &limits, q, v, &report);
    }
    ck_assert_msg(report.outcome == POISE_OUTCOME_REACHED, "%g, %g", report.worst_length, report.worst_angle);
}

// What moves cannot stand still at its goal: the step is where the velocities lead, though the start would cost less.
TEST(a_step_that_costs_more_is_taken_all_the_same)
{
    poise_model *model = NULL;
    ck_assert_int_eq(scene_create("arm7", NULL, &model, NULL), POISE_OK);
    own_model(model);
    double q[7] = {0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3}, before[7], v[7] = {1, 1, 1, 1, 1, 1, 1}, there[7], way[7];
    double velocity[7], acceleration[7];
    figure f = figure_of(model);
    memcpy(f.q, q, sizeof q);
    update(&f);
    poise_goal goal = poise_goal_pose(6, poise_pose_identity(), poise_kinematics_body_pose(f.kin, 6));
    for (int i = 0; i < 7; ++i) {
        before[i] = q[i], velocity[i] = 2.0, acceleration[i] = 10.0;
    }
    poise_solver_options options = poise_solver_options_default();
    poise_solver *solver = solver_for(model, &options);
    poise_step_options limits = poise_step_options_default();
    limits.velocity = velocity;
    limits.acceleration = acceleration;
    poise_report report;
    ck_assert_int_eq(poise_step(solver, &goal, 1, 0.01, &limits, q, v, &report, NULL), POISE_OK);
    ck_assert_double_gt(report.cost, report.start_cost);
    for (int i = 0; i < 7; ++i) {
        ck_assert_double_ge(v[i], 0.9 - 1e-12); // it brakes as hard as it may
        way[i] = 0.01 * v[i];
    }
    ck_assert_int_eq(poise_retract(model, before, way, there, NULL), POISE_OK);
    for (int i = 0; i < 7; ++i) {
        ck_assert_double_eq_tol(there[i], q[i], 1e-12);
    }
}

// A goal that leaps: as fast as the limits allow, and no further than it. Then it moves on: no more lag than one step.
TEST(a_goal_that_leaps_is_not_passed_and_one_that_moves_not_lost)
{
    poise_model *model = single(POISE_JOINT_PRISMATIC, -10.0, 10.0);
    poise_solver_options options = poise_solver_options_default();
    options.damping = 1e-12;
    poise_solver *solver = solver_for(model, &options);
    double q = 0.0, v = 0.0, velocity = 5.0, acceleration = 4.0;
    poise_step_options limits = poise_step_options_default();
    limits.velocity = &velocity;
    limits.acceleration = &acceleration;
    int arrived = 0;
    for (int n = 1; n < 200; ++n) {
        poise_goal goal = poise_goal_position(0, poise_vec3_make(0, 0, 0), poise_vec3_make(0, 0, 1));
        step(solver, &goal, 1, &limits, &q, &v, NULL);
        ck_assert_double_le(q, 1.0 + 1e-9);
        arrived = arrived == 0 && fabs(q - 1.0) < 1e-6 && fabs(v) < 1e-4 ? n : arrived;
    }
    ck_assert_int_gt(arrived, 99); // 2 sqrt(1/4) seconds, and the roundness of steps
    ck_assert_int_lt(arrived, 105);
    for (int n = 1; n < 300; ++n) {
        poise_goal goal = poise_goal_position(0, poise_vec3_make(0, 0, 0), poise_vec3_make(0, 0, 1.0 + 0.5 * n * DT));
        step(solver, &goal, 1, &limits, &q, &v, NULL);
        ck_assert_double_le(n > 40 ? fabs(q - (1.0 + 0.5 * n * DT)) : 0.0, 1e-6);
    }
}

// A goal out of reach: the arm stretches towards it and rests at the closest pose, with a posture or without, at every gain
// and with or without limits of acceleration.
TEST_ROWS(it_rests_where_a_goal_is_out_of_reach, 8)
{
    poise_model *model = NULL;
    ck_assert_int_eq(scene_create("arm7", NULL, &model, NULL), POISE_OK);
    own_model(model);
    poise_solver_options options = poise_solver_options_default();
    poise_solver *solver = solver_for(model, &options), *search = solver_for(model, &options);
    double q[7], v[7] = {0}, still[7], found[7], velocity[7], acceleration[7], fastest = 0.0;
    poise_model_neutral(model, q);
    memcpy(still, q, sizeof still);
    memcpy(found, q, sizeof found);
    for (int i = 0; i < 7; ++i) {
        velocity[i] = 2.0;
        acceleration[i] = 10.0;
    }
    poise_step_options limits = {.velocity = velocity, .gain = test_row & 1 ? 0.05 : 1.0};
    limits.acceleration = test_row & 2 ? NULL : acceleration;
    poise_goal goals[2] = {poise_goal_position(0, poise_vec3_make(0, 0, 0), poise_vec3_make(2.0, 0.0, 0.3))};
    poise_goal_at_tool(&goals[0], model, "tip", NULL);
    goals[1] = poise_goal_posture(still, 1e-4);
    int count = test_row & 4 ? 2 : 1;
    poise_report report, closest;
    for (int n = 0; n < 2000; ++n) { // 20 s, the last of them at rest
        step(solver, goals, count, &limits, q, v, &report);
        for (int i = 0; i < 7 && n >= 1900; ++i) {
            fastest = fmax(fastest, fabs(v[i]));
        }
    }
    ck_assert_int_eq(poise_solve(search, goals, count, found, &closest, NULL), POISE_OK);
    ck_assert_double_lt(fastest, 1e-3);
    ck_assert_double_eq_tol(report.worst_length, closest.worst_length, 1e-4);
}

// The share of the error that is left is 1 - gain at each step.
TEST(gain_is_the_share_that_a_step_takes)
{
    poise_model *model = single(POISE_JOINT_PRISMATIC, -10.0, 10.0);
    poise_solver_options options = poise_solver_options_default();
    options.damping = 1e-12;
    poise_solver *solver = solver_for(model, &options);
    double q = 0.0, v = 0.0, left = 1.0;
    poise_step_options limits = poise_step_options_default();
    limits.gain = 0.25;
    poise_goal goal = poise_goal_position(0, poise_vec3_make(0, 0, 0), poise_vec3_make(0, 0, 1));
    for (int n = 0; n < 20; ++n) {
        poise_report report;
        step(solver, &goal, 1, &limits, &q, &v, &report);
        left *= 0.75;
        ck_assert_double_eq_tol(1.0 - q, left, 1e-9);
        ck_assert_double_eq_tol(report.worst_length, left, 1e-9);
    }
}

// Two hinges that both turn the tip: when one saturates the other makes up for it, and none goes the wrong way.
TEST(others_make_up_for_a_joint_that_is_too_slow)
{
    poise_builder *builder = new_builder();
    add_plain(builder, "slow", NULL, POISE_JOINT_PRISMATIC);
    add_plain(builder, "fast", "slow", POISE_JOINT_PRISMATIC);
    poise_model *model = model_of(builder);
    poise_solver_options options = poise_solver_options_default();
    poise_solver *solver = solver_for(model, &options);
    double q[2] = {0}, v[2] = {0}, velocity[2] = {1.0, 100.0};
    poise_step_options limits = poise_step_options_default();
    limits.velocity = velocity;
    poise_goal goal = poise_goal_position(1, poise_vec3_make(0, 0, 0), poise_vec3_make(0, 0, 0.5));
    step(solver, &goal, 1, &limits, q, v, NULL);
    ck_assert_double_eq(v[0], 1.0);
    ck_assert_double_eq_tol(q[0] + q[1], 0.5, 1e-3);
}

// Two slides along x, the second of which alone would go; it is slow, and the first, which is where it is wanted, makes up
// for half of that in either direction.
TEST(a_joint_that_has_arrived_makes_up_for_others_in_both_directions)
{
    poise_builder *builder = new_builder();
    poise_joint first = joint_of("first", NULL, POISE_JOINT_PRISMATIC),
                second = joint_of("second", "first", POISE_JOINT_PRISMATIC);
    first.axis = second.axis = poise_vec3_make(1, 0, 0);
    add(builder, &first);
    add(builder, &second);
    poise_model *model = model_of(builder);
    poise_solver_options options = poise_solver_options_default();
    options.damping = 1e-300;
    const double slow[2] = {1e4, 1.0};
    poise_step_options o = poise_step_options_default();
    o.acceleration = slow;
    for (int side = -1; side <= 1; side += 2) {
        poise_vec3 none = {0, 0, 0};
        poise_goal goals[2] = {poise_goal_position(0, none, none),
                               poise_goal_position(1, none, poise_vec3_make(0.5 * side, 0, 0))};
        double q[2] = {0, 0}, v[2] = {0, 0};
        poise_report report;
        step(solver_for(model, &options), goals, 2, &o, q, v, &report);
        ck_assert_double_eq_tol(side * q[1], DT * DT, 1e-12);
        ck_assert_double_eq_tol(side * q[0], 0.5 * (0.5 - DT * DT), 1e-12);
    }
}

TEST(locked_joints_stay)
{
    poise_model *model = NULL;
    ck_assert_int_eq(scene_create("arm7", NULL, &model, NULL), POISE_OK);
    own_model(model);
    bool locked[7] = {false, true, false, true};
    poise_solver_options options = poise_solver_options_default();
    options.locked = locked;
    poise_solver *solver = solver_for(model, &options);
    double q[7] = {0.1, 0.4, 0.1, -1.2, 0.1, 0.9, 0.1}, v[7] = {0, 0.3};
    poise_step_options limits = poise_step_options_default();
    poise_goal goal = poise_goal_position(0, poise_vec3_make(0, 0, 0), poise_vec3_make(0.4, 0.2, 0.5));
    poise_goal_at_tool(&goal, model, "tip", NULL);
    for (int n = 0; n < 50; ++n) {
        step(solver, &goal, 1, &limits, q, v, NULL);
    }
    ck_assert_double_eq(q[1], 0.4);
    ck_assert_double_eq(q[3], -1.2);
    ck_assert_double_eq(v[1], 0.0);
    ck_assert_double_gt(fabs(q[0] - 0.1), 1e-3);
}

// Of a rotation vector, a part alone may be locked: the others go to where the goal is.
TEST(a_rotation_vector_turns_on_beside_a_part_that_is_locked)
{
    poise_builder *builder = new_builder();
    add_plain(builder, "ball", NULL, POISE_JOINT_BALL_EXPMAP);
    poise_model *model = model_of(builder);
    const bool locked[3] = {true, false, false};
    poise_solver_options options = poise_solver_options_default();
    options.locked = locked;
    poise_solver *solver = solver_for(model, &options);
    poise_step_options o = poise_step_options_default();
    double q[3] = {0.2, 0, 0}, v[3] = {0};
    const double there[3] = {0.2, 0.5, -0.4};
    double angle = sqrt(0.2 * 0.2 + 0.5 * 0.5 + 0.4 * 0.4);
    poise_goal goal = poise_goal_orientation(0, poise_quat_from_axis_angle(poise_vec3_make(0.2, 0.5, -0.4), angle));
    poise_report report;
    for (int i = 0; i < 2000; ++i) {
        step(solver, &goal, 1, &o, q, v, &report);
    }
    for (int i = 0; i < 3; ++i) {
        ck_assert_double_eq_tol(q[i], there[i], 1e-3);
    }
}

// A rotation vector that passes half a turn takes its other form, and its velocity with it: the body turns on at the same
// speed.
TEST_ROWS(a_rotation_vector_turns_on_through_half_a_turn, 3)
{
    poise_builder *builder = new_builder();
    add_plain(builder, "ball", NULL, POISE_JOINT_BALL_EXPMAP);
    poise_model *model = model_of(builder);
    poise_solver_options options = poise_solver_options_default();
    poise_solver *solver = solver_for(model, &options);
    double q[3] = {0}, v[3] = {0}, velocity[3] = {1, 1, 1}, acceleration[3] = {5, 5, 5};
    poise_step_options limits = poise_step_options_default();
    q[test_row] = 0.1, v[test_row] = 1.0;
    limits.velocity = velocity;
    limits.acceleration = acceleration;
    bool changed = false;
    for (int n = 0; n < 500; ++n) {
        double s, c;
        poise_sincos(0.5 * (0.1 + 0.01 * (n + 20)), &s, &c);
        poise_goal goal =
            poise_goal_orientation(0, (poise_quat){test_row == 0 ? s : 0, test_row == 1 ? s : 0, test_row == 2 ? s : 0, c});
        step(solver, &goal, 1, &limits, q, v, NULL);
        changed = changed || q[test_row] < 0.0;
        ck_assert_double_eq_tol(v[test_row], 1.0, 1e-9);
    }
    ck_assert(changed);
}

// The same where it passes beside the axis that it is turned about: what it moves by across that axis changes its sign.
TEST(a_rotation_vector_that_turns_over_goes_on_beside_its_axis)
{
    poise_builder *builder = new_builder();
    add_plain(builder, "ball", NULL, POISE_JOINT_BALL_EXPMAP);
    poise_solver_options options = poise_solver_options_default();
    poise_solver *solver = solver_for(model_of(builder), &options);
    double q[3] = {2.5, 0.5, 0}, v[3] = {1, 0, 0}, velocity[3] = {2, 2, 2}, acceleration[3] = {5, 5, 5};
    poise_step_options limits = poise_step_options_default();
    limits.velocity = velocity;
    limits.acceleration = acceleration;
    bool is_over = false;
    for (int n = 0; n < 100 && !is_over; ++n) {
        double x = 2.5 + 0.01 * (n + 1), angle = sqrt(x * x + 0.25);
        poise_goal goal = poise_goal_orientation(0, poise_quat_from_axis_angle(poise_vec3_make(x, 0.5, 0), angle));
        step(solver, &goal, 1, &limits, q, v, NULL);
        is_over = q[0] < 0.0;
    }
    ck_assert(is_over);
    double square = q[0] * q[0] + q[1] * q[1]; // of half a turn: the mirror image of its velocity
    ck_assert_double_eq_tol(v[0], 2 * q[0] * q[0] / square - 1, 0.02);
    ck_assert_double_eq_tol(v[1], 2 * q[0] * q[1] / square, 0.02);
}

// ---- The call ------------------------------------------------------------------------------------------------------------

TEST(it_allocates_nothing_and_answers_questions)
{
    poise_model *model = NULL;
    ck_assert_int_eq(scene_create("arm7", NULL, &model, NULL), POISE_OK);
    own_model(model);
    poise_solver_options options = poise_solver_options_default();
    poise_solver *solver = solver_for(model, &options);
    double q[7] = {0.1, 0.4, 0.1, -1.2, 0.1, 0.9, 0.1}, v[7] = {0};
    double velocity[7] = {1, 1, 1, 1, 1, 1, 1};
    poise_step_options limits = poise_step_options_default();
    limits.velocity = velocity;
    poise_goal goal = poise_goal_position(0, poise_vec3_make(0, 0, 0), poise_vec3_make(0.4, 0.2, 0.5));
    poise_goal_at_tool(&goal, model, "tip", NULL);
    int before = allocations_so_far();
    poise_report report;
    step(solver, &goal, 1, &limits, q, v, &report);
    double told = poise_solver_goal_error(solver, 0).error;
    ck_assert_double_eq(told, report.worst_length);
    step(solver, &goal, 1, &limits, q, v, NULL);
    ck_assert_double_lt(poise_solver_goal_error(solver, 0).error, told);
    ck_assert_int_eq(allocations_so_far(), before);
}

TEST(it_refuses_what_is_not_sound)
{
    poise_model *model = single(POISE_JOINT_REVOLUTE, -1.0, 1.0);
    poise_solver_options options = poise_solver_options_default();
    poise_solver *solver = solver_for(model, &options);
    options.method = POISE_METHOD_CCD;
    options.engine = poise_papers_engine(options.method);
    poise_solver *other = solver_for(model, &options);
    double q = 0.3, v = 0.0, bad = 0.0, still = 0.0, none = NAN;
    poise_goal goal = poise_goal_posture(&still, 1.0);
    poise_step_options o = poise_step_options_default();
    poise_error error;
    ck_assert_int_eq(poise_step(NULL, &goal, 1, DT, &o, &q, &v, NULL, &error), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_step(solver, &goal, 1, 0.0, &o, &q, &v, NULL, &error), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.text, "dt"));
    ck_assert_int_eq(poise_step(solver, &goal, 1, DT, NULL, &q, &v, NULL, &error), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_step(solver, &goal, 1, DT, &o, NULL, &v, NULL, &error), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_step(solver, &goal, 1, DT, &o, &q, NULL, NULL, &error), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_step(solver, &goal, 1, DT, &o, &q, &none, NULL, &error), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_step(other, &goal, 1, DT, &o, &q, &v, NULL, &error), POISE_ERROR_UNSUPPORTED);
    o.velocity = &bad;
    ck_assert_int_eq(poise_step(solver, &goal, 1, DT, &o, &q, &v, NULL, &error), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.text, "velocity"));
    o = (poise_step_options){.gain = 1.5};
    ck_assert_int_eq(poise_step(solver, &goal, 1, DT, &o, &q, &v, NULL, &error), POISE_ERROR_ARGUMENT);
    ck_assert_double_eq(q, 0.3);
}

// A slide that brakes from the largest of all speeds would leave the numbers.
TEST(what_is_too_fast_to_represent_is_refused)
{
    poise_model *model = single(POISE_JOINT_PRISMATIC, -INFINITY, INFINITY);
    poise_solver_options options = poise_solver_options_default();
    poise_solver *solver = solver_for(model, &options);
    double q = 0.3, v = DBL_MAX, brake = 1.0, still = 0.0;
    poise_goal goal = poise_goal_posture(&still, 1.0);
    poise_step_options o = poise_step_options_default();
    o.acceleration = &brake;
    poise_error error;
    ck_assert_int_eq(poise_step(solver, &goal, 1, 2.0, &o, &q, &v, NULL, &error), POISE_ERROR_NUMERIC);
    ck_assert(q == 0.3 && v == DBL_MAX);
    v = 0.0;
    step(solver, &goal, 1, &o, &q, &v, NULL);
    ck_assert(q < 0.3 && v < 0.0);
}
