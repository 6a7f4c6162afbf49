// The successor of ERIK: limits, errors against ERIK's, continuity, models of every kind, and what it promises as a call.
#include "papers/erik/expressive.h"
#include "support/allocations.h"
#include "support/own.h"

#include <papers/reproduce/erik_evaluation.h>
#include <poise/expressive.h>
#include <poise/kinematics.h>
#include <scenes/random.h>
#include <scenes/scenes.h>

#include <math.h>
#include <string.h>

#define MOST    512
#define DEGREE  (3.14159265358979323846 / 180.0)
#define SAMPLES 150

// ---- Set-up --------------------------------------------------------------------------------------------------------------

// The model of a scene, with the end that its tool marks, and a solver for it.
typedef struct setup {
    poise_model *model;
    poise_kinematics *kin;
    poise_expressive_options options;
    poise_expressive *expressive;
} setup;

static setup set_up_model(poise_model *model, poise_expressive_mode mode, bool warm)
{
    setup s = {.model = own_model(model), .options = poise_expressive_options_default()};
    int tip = poise_model_find_tool(model, "tip");
    if (tip >= 0) {
        s.options.body = poise_model_tool_info(model, tip).body;
        s.options.tip = poise_model_tool_info(model, tip).pose;
    }
    s.options.mode = mode;
    s.options.symmetric_endpoint = true; // as ERIK has it
    s.options.warm = warm;
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &s.kin, NULL), POISE_OK);
    ck_assert_int_eq(poise_expressive_create(model, &s.options, NULL, &s.expressive, NULL), POISE_OK);
    own_kinematics(s.kin);
    own_expressive(s.expressive);
    return s;
}

static setup set_up(const char *scene, poise_expressive_mode mode, bool warm)
{
    poise_model *model = NULL;
    ck_assert_int_eq(scene_create(scene, NULL, &model, NULL), POISE_OK);
    return set_up_model(model, mode, warm);
}

static poise_quat rotation_at(const setup *s, const double *q)
{
    ck_assert_int_eq(poise_kinematics_update(s->kin, q, NULL), POISE_OK);
    return poise_kinematics_body_pose(s->kin, s->options.body).rotation;
}

static double largest_move(const double *a, const double *b, int n)
{
    double largest = 0.0;
    for (int i = 0; i < n; ++i) {
        largest = fmax(largest, fabs(a[i] - b[i]));
    }
    return largest;
}

static const char *const skeletons[] = {"erik-c", "erik-d", "erik-e", "erik-f", "erik-g"};

// ---- Errors --------------------------------------------------------------------------------------------------------------

// Signed shape error: see the header.
static double shape_error(const poise_erik *erik, double aggravation, const double *posture, const double *q)
{
    double sum = 0.0, weights = 0.0, power = 1.0, as_is = 0.0, other = 0.0;
    for (int k = 0; k < poise_erik_joints(erik).count; ++k) {
        if (poise_erik_joints(erik).links[k].is_twister) {
            sum += fmin(as_is, other);
            as_is = other = 0.0;
            continue;
        }
        as_is += power * fabs(q[k] - posture[k]);
        other += power * fabs(q[k] + posture[k]);
        weights += power;
        power *= aggravation;
    }
    return (sum + fmin(as_is, other)) / weights;
}

typedef struct sums {
    double error, shape;
    int ok;
} sums;

// Both solvers on one sample of the evaluation; limits are looked at here.
static void compare(const evaluate_problem *problem, int64_t index, poise_erik *erik, setup *s, sums *erik_sums, sums *ours)
{
    int64_t posture, orientation;
    double psi[MOST], q[MOST];
    poise_erik_report report;
    evaluate_draw(problem, 5, index, &posture, &orientation);
    posture = (index * 7919) % problem->posture_count;
    evaluate_posture(problem, posture, psi);
    poise_quat target = problem->orientations[orientation];
    poise_goal goal = poise_goal_orientation(s->options.body, target);
    memcpy(q, psi, sizeof q);
    ck_assert_int_eq(poise_erik_solve(erik, psi, target, q, &report, NULL), POISE_OK);
    erik_sums->error += report.error;
    erik_sums->ok += report.error <= 0.04;
    erik_sums->shape += shape_error(erik, problem->options.aggravation, psi, q);
    memcpy(q, psi, sizeof q);
    ck_assert_int_eq(poise_expressive_solve(s->expressive, &goal, 1, psi, q, NULL, NULL), POISE_OK);
    ck_assert(poise_model_within_limits(s->model, q));
    ck_assert_int_eq(poise_erik_measure(erik, psi, target, q, &report, NULL), POISE_OK);
    ours->error += report.error;
    ours->ok += report.error <= 0.04;
    ours->shape += shape_error(erik, problem->options.aggravation, psi, q);
}

static void compare_all(int skeleton, poise_expressive_mode mode, sums *erik_sums, sums *ours)
{
    poise_erik_options options = poise_erik_options_default();
    evaluate_problem *problem;
    poise_erik *erik;
    poise_model *model;
    ck_assert_int_eq(evaluate_problem_create(skeleton, &options, EVALUATE_YXZ, 12, &problem), POISE_OK);
    ck_assert_int_eq(scene_create(problem->skeleton->scene, NULL, &model, NULL), POISE_OK);
    setup s = set_up_model(model, mode, false);
    ck_assert_int_eq(poise_erik_create(model, &problem->options, NULL, &erik, NULL), POISE_OK);
    for (int64_t i = 0; i < SAMPLES; ++i) {
        compare(problem, i, erik, &s, erik_sums, ours);
    }
    poise_erik_destroy(erik);
    evaluate_problem_destroy(problem);
}

TEST(metric_mode_has_a_third_less_error_than_erik_on_c_to_g)
{
    for (int skeleton = 2; skeleton < EVALUATE_SKELETONS; ++skeleton) {
        sums erik_sums = {0}, ours = {0};
        compare_all(skeleton, POISE_EXPRESSIVE_METRIC, &erik_sums, &ours);
        ck_assert_double_le(ours.error, 0.7 * erik_sums.error);
        ck_assert_int_ge(ours.ok, erik_sums.ok);
    }
}

TEST(shape_mode_keeps_the_shape_better_than_erik_without_more_error)
{
    for (int skeleton = 2; skeleton < EVALUATE_SKELETONS; ++skeleton) {
        sums erik_sums = {0}, ours = {0};
        compare_all(skeleton, POISE_EXPRESSIVE_SHAPE, &erik_sums, &ours);
        ck_assert_double_le(ours.shape, 0.75 * erik_sums.shape);
        ck_assert_double_le(ours.error, erik_sums.error);
    }
}

TEST(reported_errors_are_those_of_the_answer)
{
    setup s = set_up("erik-g", POISE_EXPRESSIVE_METRIC, false);
    poise_erik_options options = poise_erik_options_default();
    poise_erik *erik;
    poise_erik_report measured;
    poise_expressive_report report;
    scene_random random = scene_random_make(3);
    double posture[8], q[8] = {0};
    options.body = s.options.body;
    options.tip = s.options.tip;
    ck_assert_int_eq(poise_erik_create(s.model, &options, NULL, &erik, NULL), POISE_OK);
    for (int i = 0; i < 50; ++i) {
        poise_quat target = scene_random_rotation(&random);
        poise_goal goal = poise_goal_orientation(s.options.body, target);
        scene_random_configuration(&random, s.model, posture);
        ck_assert_int_eq(poise_expressive_solve(s.expressive, &goal, 1, posture, q, &report, NULL), POISE_OK);
        ck_assert_int_eq(poise_erik_measure(erik, posture, target, q, &measured, NULL), POISE_OK);
        // the angle comes from quaternions of unit length to rounding: sqrt(1e-16) where it is 0
        ck_assert_double_eq_tol(report.error, measured.error, 1e-7);
        ck_assert_double_eq_tol(report.posture, measured.posture, 1e-12);
    }
    poise_erik_destroy(erik);
}

// ---- The best there is ---------------------------------------------------------------------------------------------------

// Skeleton C, bends a, b about x and c about z: the end's direction has the y component cos(a + b) cos(c), and twisters at
// root and end do the rest. So the answer without orientation error and with the least posture error lies on a surface,
// which is searched with each joint in turn as the one that follows from the other two.
typedef struct oracle {
    double y; // of the target's direction
    double psi[3], w[3];
    double best;
} oracle;

static void offer(oracle *o, double a, double b, double c)
{
    const double angles[3] = {a, b, c}, limit = 90.0 * DEGREE + 1e-12;
    double sum = 0.0;
    for (int i = 0; i < 3; ++i) {
        if (!(fabs(angles[i]) <= limit)) {
            return;
        }
        sum += 0.5 * o->w[i] * fabs(cos(angles[i]) - cos(o->psi[i]));
    }
    o->best = fmin(o->best, 0.2 * sum);
}

static int grid_of(const oracle *o, int joint, double *grid)
{
    int n = 0;
    for (int i = -90; i <= 90; ++i) {
        grid[n++] = i * DEGREE;
    }
    grid[n++] = o->psi[joint];
    grid[n++] = -o->psi[joint];
    return n;
}

static double best_error(oracle *o)
{
    double grid[3][183];
    int n = 0;
    for (int i = 0; i < 3; ++i) {
        n = grid_of(o, i, grid[i]);
    }
    o->best = INFINITY;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            for (int sign = -1; sign <= 1; sign += 2) {
                double sum = sign * acos(o->y / cos(grid[2][j]));
                offer(o, sum - grid[1][i], grid[1][i], grid[2][j]);
                offer(o, grid[0][i], sum - grid[0][i], grid[2][j]);
                offer(o, grid[0][i], grid[1][j], sign * acos(o->y / cos(grid[0][i] + grid[1][j])));
            }
        }
    }
    return o->best;
}

TEST(metric_mode_is_within_0_002_of_the_best_answer_on_c)
{
    setup s = set_up("erik-c", POISE_EXPRESSIVE_METRIC, false);
    scene_random random = scene_random_make(41);
    double gap = 0.0, most = 0.0;
    const int count = 60;
    for (int i = 0; i < count; ++i) {
        double posture[5], q[5] = {0};
        poise_expressive_report report;
        poise_quat target = scene_random_rotation(&random);
        poise_goal goal = poise_goal_orientation(s.options.body, target);
        scene_random_configuration(&random, s.model, posture);
        ck_assert_int_eq(poise_expressive_solve(s.expressive, &goal, 1, posture, q, &report, NULL), POISE_OK);
        // y of the target's y axis; weights 1, 1.5, 2.25
        oracle o = {.y = 1.0 - 2.0 * (target.x * target.x + target.z * target.z),
                    .psi = {posture[1], posture[2], posture[3]},
                    .w = {1.0 / 4.75, 1.5 / 4.75, 2.25 / 4.75}};
        double best = best_error(&o);
        gap += (report.error - best) / count;
        most = fmax(most, report.error - best);
    }
    ck_assert_msg(gap <= 0.002, "mean gap %g, largest %g", gap, most);
}

// ---- Reach ---------------------------------------------------------------------------------------------------------------

TEST(an_orientation_that_can_be_reached_is_met_to_1e_6)
{
    for (size_t i = 0; i < TEST_COUNT(skeletons); ++i) {
        for (int mode = 0; mode < POISE_EXPRESSIVE_MODE_COUNT; ++mode) {
            setup s = set_up(skeletons[i], (poise_expressive_mode)mode, false);
            scene_random random = scene_random_make(11 + i);
            double posture[8], there[8], q[8] = {0};
            poise_expressive_report report;
            for (int k = 0; k < 300; ++k) {
                scene_random_configuration(&random, s.model, there);
                scene_random_configuration(&random, s.model, posture);
                poise_goal goal = poise_goal_orientation(s.options.body, rotation_at(&s, there));
                ck_assert_int_eq(poise_expressive_solve(s.expressive, &goal, 1, posture, q, &report, NULL), POISE_OK);
                ck_assert_msg(report.worst_angle <= 1e-6, "%s %d %d: %g", skeletons[i], mode, k, report.worst_angle);
                ck_assert(poise_model_within_limits(s.model, q));
            }
        }
    }
}

TEST(a_place_or_direction_that_can_be_faced_is_faced)
{
    static const char *const scenes[] = {"erik-c", "erik-e", "erik-f"};
    for (size_t i = 0; i < TEST_COUNT(scenes); ++i) {
        setup s = set_up(scenes[i], POISE_EXPRESSIVE_SHAPE, false);
        scene_random random = scene_random_make(31 + i);
        poise_vec3 y = poise_vec3_make(0, 1, 0), tip = s.options.tip.position;
        double posture[8], there[8], q[8] = {0};
        for (int k = 0; k < 400; ++k) {
            scene_random_configuration(&random, s.model, posture);
            scene_random_configuration(&random, s.model, there);
            ck_assert_int_eq(poise_kinematics_update(s.kin, there, NULL), POISE_OK);
            poise_vec3 d = poise_kinematics_direction(s.kin, s.options.body, y);
            poise_vec3 at = poise_kinematics_point(s.kin, s.options.body, tip);
            double far = scene_random_range(&random, 0.05, 1.0);
            at = poise_vec3_make(at.x + far * d.x, at.y + far * d.y, at.z + far * d.z);
            poise_goal goal =
                k % 2 ? poise_goal_direction(s.options.body, y, d) : poise_goal_aim(s.options.body, tip, y, at);
            poise_expressive_report report;
            ck_assert_int_eq(poise_expressive_solve(s.expressive, &goal, 1, posture, q, &report, NULL), POISE_OK);
            ck_assert_msg(report.worst_angle <= 1e-6, "%s %d: %g left", scenes[i], k, report.worst_angle);
        }
    }
}

TEST(a_posture_that_meets_the_goal_is_left_alone)
{
    for (int mode = 0; mode < POISE_EXPRESSIVE_MODE_COUNT; ++mode) {
        setup s = set_up("lamp", (poise_expressive_mode)mode, false);
        s.options.body = poise_model_find_body(s.model, "shade");
        double posture[6], q[6] = {0};
        for (int i = 0; i < scene_posture_count("lamp"); ++i) {
            ck_assert_int_eq(scene_posture(s.model, "lamp", scene_posture_name("lamp", i), posture), POISE_OK);
            poise_goal goal = poise_goal_orientation(s.options.body, rotation_at(&s, posture));
            poise_expressive_report report;
            ck_assert_int_eq(poise_expressive_solve(s.expressive, &goal, 1, posture, q, &report, NULL), POISE_OK);
            ck_assert_double_le(report.error, 1e-6);
        }
    }
}

// Swings from 0 to 100 degrees, the first joint to 60 degrees either way.
static poise_model *narrow_model(const char *scene)
{
    poise_model *model, *made = NULL;
    poise_builder *builder;
    ck_assert_int_eq(scene_create(scene, NULL, &model, NULL), POISE_OK);
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    for (int i = 0; i < poise_model_info(model).joints; ++i) {
        poise_joint joint = *poise_model_joint_info(model, i).given;
        bool twists = joint.axis.y != 0.0;
        joint.lower[0] = !twists ? 0.0 : i == 0 ? -60.0 * DEGREE : joint.lower[0];
        joint.upper[0] = !twists ? 100.0 * DEGREE : i == 0 ? 60.0 * DEGREE : joint.upper[0];
        ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    }
    ck_assert_int_eq(poise_model_create(builder, NULL, &made, NULL), POISE_OK);
    poise_builder_destroy(builder);
    poise_model_destroy(model);
    return made;
}

TEST(limits_to_one_side_hold_exactly_and_errors_stay_below_eriks)
{
    for (size_t i = 0; i < TEST_COUNT(skeletons); ++i) {
        for (int mode = 0; mode < POISE_EXPRESSIVE_MODE_COUNT; ++mode) {
            setup s = set_up_model(narrow_model(skeletons[i]), (poise_expressive_mode)mode, mode == 0);
            poise_erik_options options = poise_erik_options_default();
            poise_erik *erik;
            scene_random random = scene_random_make(43);
            double posture[8], q[8] = {0}, other[8] = {0}, sum[2] = {0};
            s.options.body = poise_model_info(s.model).joints - 1;
            options.body = s.options.body;
            ck_assert_int_eq(poise_erik_create(s.model, &options, NULL, &erik, NULL), POISE_OK);
            for (int k = 0; k < 150; ++k) {
                poise_erik_report report;
                poise_quat target = scene_random_rotation(&random);
                poise_goal goal = poise_goal_orientation(s.options.body, target);
                scene_random_configuration(&random, s.model, posture);
                ck_assert_int_eq(poise_expressive_solve(s.expressive, &goal, 1, posture, q, NULL, NULL), POISE_OK);
                ck_assert(poise_model_within_limits(s.model, q));
                ck_assert_int_eq(poise_erik_measure(erik, posture, target, q, &report, NULL), POISE_OK);
                sum[0] += report.error;
                ck_assert_int_eq(poise_erik_solve(erik, posture, target, other, &report, NULL), POISE_OK);
                sum[1] += report.error;
            }
            ck_assert_double_lt(sum[0], sum[1]);
            poise_erik_destroy(erik);
        }
    }
}

// ---- Continuity ----------------------------------------------------------------------------------------------------------

TEST(a_target_that_moves_by_a_degree_moves_no_joint_by_ten_near_the_posture)
{
    for (int mode = 0; mode < POISE_EXPRESSIVE_MODE_COUNT; ++mode) {
        setup s = set_up("lamp", (poise_expressive_mode)mode, true);
        s.options.body = poise_model_find_body(s.model, "shade");
        double posture[6], q[6], before[6];
        for (int i = 0; i < scene_posture_count("lamp"); ++i) {
            ck_assert_int_eq(scene_posture(s.model, "lamp", scene_posture_name("lamp", i), posture), POISE_OK);
            poise_quat start = rotation_at(&s, posture);
            memcpy(q, posture, sizeof q);
            for (int k = 0; k <= 360; ++k) {
                // a gaze that goes round a cone of 15 degrees: steps of up to a quarter of a degree
                double a = k * DEGREE, tilt = 15.0 * DEGREE * fmin(1.0, k / 60.0);
                poise_vec3 axis = poise_vec3_make(cos(a), 0.0, sin(a));
                poise_quat turn = poise_quat_from_axis_angle(axis, tilt);
                poise_goal goal = poise_goal_orientation(s.options.body, poise_quat_multiply(start, turn));
                memcpy(before, q, sizeof q);
                ck_assert_int_eq(poise_expressive_solve(s.expressive, &goal, 1, posture, q, NULL, NULL), POISE_OK);
                ck_assert_msg(largest_move(before, q, 6) < 10.0 * DEGREE, "%s at %d: %g degrees",
                              scene_posture_name("lamp", i), k, largest_move(before, q, 6) / DEGREE);
            }
        }
    }
}

TEST(jumps_are_rarer_than_eriks_on_paths_round_the_world)
{
    for (int mode = 0; mode < POISE_EXPRESSIVE_MODE_COUNT; ++mode) {
        setup s = set_up("erik-c", (poise_expressive_mode)mode, true);
        poise_erik_options options = poise_erik_options_default();
        poise_erik *erik;
        scene_random random = scene_random_make(17);
        int jumps[2] = {0};
        options.body = s.options.body;
        options.tip = s.options.tip;
        ck_assert_int_eq(poise_erik_create(s.model, &options, NULL, &erik, NULL), POISE_OK);
        for (int path = 0; path < 6; ++path) {
            double posture[5], q[2][5], before[5];
            scene_random_configuration(&random, s.model, posture);
            poise_quat target = scene_random_rotation(&random);
            poise_quat turn = poise_quat_from_axis_angle(scene_random_direction(&random), DEGREE);
            for (int k = 0; k < 361; ++k) {
                poise_goal goal = poise_goal_orientation(s.options.body, target);
                for (int who = 0; who < 2; ++who) {
                    memcpy(before, k ? q[who] : posture, sizeof before);
                    memcpy(q[who], before, sizeof before);
                    poise_status status = who ? poise_expressive_solve(s.expressive, &goal, 1, posture, q[who], NULL, NULL)
                                              : poise_erik_solve(erik, posture, target, q[who], NULL, NULL);
                    ck_assert_int_eq(status, POISE_OK);
                    jumps[who] += k > 0 && largest_move(before, q[who], 5) > 20.0 * DEGREE;
                }
                target = poise_quat_multiply(turn, target);
            }
        }
        ck_assert_int_lt(jumps[1], jumps[0]);
        poise_erik_destroy(erik);
    }
}

// ---- Other models and goals ----------------------------------------------------------------------------------------------

TEST(a_humanoid_reaches_and_looks_while_it_walks)
{
    static const char *const scenes[] = {"humanoid", "humanoid-euler", "humanoid-quaternion"};
    for (size_t i = 0; i < TEST_COUNT(scenes); ++i) {
        for (int mode = 0; mode < POISE_EXPRESSIVE_MODE_COUNT; ++mode) {
            setup s = set_up(scenes[i], (poise_expressive_mode)mode, true);
            double posture[MOST], q[MOST];
            ck_assert_int_eq(scene_motion_pose(s.model, "walk", 0.0, q), POISE_OK);
            int hand = poise_model_find_body(s.model, "left_hand"), head = poise_model_find_body(s.model, "head");
            for (int k = 0; k < 10; ++k) {
                poise_expressive_report report;
                ck_assert_int_eq(scene_motion_pose(s.model, "walk", 0.01 * k, posture), POISE_OK);
                ck_assert_int_eq(poise_kinematics_update(s.kin, posture, NULL), POISE_OK);
                poise_vec3 palm = poise_kinematics_point(s.kin, hand, poise_vec3_make(0, 0, 0));
                poise_vec3 reach = poise_vec3_make(palm.x, palm.y + 0.15, palm.z + 0.1);
                poise_goal goals[2] = {poise_goal_position(hand, poise_vec3_make(0, 0, 0), reach),
                                       poise_goal_aim(head, poise_vec3_make(0, 0, 0), poise_vec3_make(0, 0, 1),
                                                      poise_vec3_make(0.5, 1.2, 3.0))};
                ck_assert_int_eq(poise_expressive_solve(s.expressive, goals, 2, posture, q, &report, NULL), POISE_OK);
                ck_assert(poise_model_within_limits(s.model, q));
                ck_assert_double_le(report.worst_length, 1e-6);
                ck_assert_double_le(report.worst_angle, 1e-6);
                ck_assert_double_le(report.posture, 0.05);
            }
        }
    }
}

TEST(sliding_joints_take_part)
{
    setup s = set_up("gantry", POISE_EXPRESSIVE_SHAPE, true);
    scene_random random = scene_random_make(23);
    int body = poise_model_info(s.model).joints - 1;
    double posture[MOST], there[MOST], q[MOST];
    poise_model_neutral(s.model, q);
    for (int i = 0; i < 50; ++i) {
        poise_expressive_report report;
        scene_random_configuration(&random, s.model, posture);
        scene_random_configuration(&random, s.model, there);
        ck_assert_int_eq(poise_kinematics_update(s.kin, there, NULL), POISE_OK);
        poise_goal goal = poise_goal_position(body, poise_vec3_make(0, 0, 0),
                                              poise_kinematics_point(s.kin, body, poise_vec3_make(0, 0, 0)));
        ck_assert_int_eq(poise_expressive_solve(s.expressive, &goal, 1, posture, q, &report, NULL), POISE_OK);
        ck_assert(poise_model_within_limits(s.model, q));
        ck_assert_double_le(report.worst_length, 1e-6);
    }
    posture[0] = NAN; // of a model without a chain
    ck_assert_int_eq(poise_expressive_solve(s.expressive, NULL, 0, posture, q, NULL, NULL), POISE_ERROR_ARGUMENT);
}

TEST(a_lamp_points_and_stands_where_it_is_told_at_once)
{
    setup s = set_up("lamp", POISE_EXPRESSIVE_SHAPE, true);
    scene_random random = scene_random_make(29);
    int shade = poise_model_find_body(s.model, "shade"), met = 0;
    double posture[6], there[6], q[6];
    poise_vec3 zero = poise_vec3_make(0, 0, 0), y = poise_vec3_make(0, 1, 0);
    ck_assert_int_eq(scene_posture(s.model, "lamp", "rest", posture), POISE_OK);
    memcpy(q, posture, sizeof q);
    for (int i = 0; i < 50; ++i) {
        poise_expressive_report report;
        for (int k = 0; k < 6; ++k) {
            there[k] = posture[k] + scene_random_range(&random, -0.3, 0.3);
        }
        poise_model_clamp(s.model, there, NULL, NULL);
        ck_assert_int_eq(poise_kinematics_update(s.kin, there, NULL), POISE_OK);
        poise_goal goals[2] = {poise_goal_position(shade, zero, poise_kinematics_point(s.kin, shade, zero)),
                               poise_goal_direction(shade, y, poise_kinematics_direction(s.kin, shade, y))};
        ck_assert_int_eq(poise_expressive_solve(s.expressive, goals, 2, posture, q, &report, NULL), POISE_OK);
        ck_assert(poise_model_within_limits(s.model, q));
        met += report.worst_length <= 1e-6 && report.worst_angle <= 1e-6;
    }
    ck_assert_int_eq(met, 50);
}

// A lamp whose unit of length is another does what the lamp in metres does, where length_scale and the weight say so. One
// in a hundred may choose between two answers that are as good.
TEST(answers_do_not_depend_on_the_unit_of_length)
{
    static const double units[] = {1.0, 1e7, 1e-7};
    setup s[3];
    double factors[16], posture[6], there[6], q[3][6];
    int alike[3] = {0}, met[3] = {0};
    for (int u = 0; u < 3; ++u) {
        poise_model *metres, *model;
        for (int k = 0; k < 16; ++k) {
            factors[k] = units[u];
        }
        ck_assert_int_eq(scene_create("lamp", NULL, &metres, NULL), POISE_OK);
        ck_assert_int_eq(poise_model_rescale(metres, factors, NULL, &model, NULL), POISE_OK);
        poise_model_destroy(metres);
        s[u] = set_up_model(model, POISE_EXPRESSIVE_SHAPE, false);
        s[u].options.length_scale = units[u];
        ck_assert_int_eq(poise_expressive_create(model, &s[u].options, NULL, &s[u].expressive, NULL), POISE_OK);
        own_expressive(s[u].expressive);
    }
    scene_random random = scene_random_make(37);
    int shade = poise_model_find_body(s[0].model, "shade");
    poise_vec3 zero = poise_vec3_make(0, 0, 0), y = poise_vec3_make(0, 1, 0);
    ck_assert_int_eq(scene_posture(s[0].model, "lamp", "rest", posture), POISE_OK);
    for (int i = 0; i < 100; ++i) {
        for (int k = 0; k < 6; ++k) {
            there[k] = posture[k] + scene_random_range(&random, -0.6, 0.6);
        }
        poise_model_clamp(s[0].model, there, NULL, NULL);
        for (int u = 0; u < 3; ++u) {
            poise_expressive_report report;
            ck_assert_int_eq(poise_kinematics_update(s[u].kin, there, NULL), POISE_OK);
            poise_vec3 place = poise_kinematics_point(s[u].kin, shade, zero);
            place.x *= i % 2 ? 1.0 : 1.2; // some are out of reach, or nearly
            poise_goal goals[2] = {poise_goal_position(shade, zero, place),
                                   poise_goal_direction(shade, y, poise_kinematics_direction(s[u].kin, shade, y))};
            goals[0].weight = 1.0 / (units[u] * units[u]);
            memcpy(q[u], posture, sizeof posture);
            ck_assert_int_eq(poise_expressive_solve(s[u].expressive, goals, 2, posture, q[u], &report, NULL), POISE_OK);
            alike[u] += largest_move(q[u], q[0], 6) < 1e-3;
            met[u] += report.worst_length <= 1e-6 * units[u] && report.worst_angle <= 1e-6;
        }
    }
    ck_assert(met[0] > 50 && met[0] < 100);
    for (int u = 1; u < 3; ++u) {
        ck_assert_int_ge(alike[u], 99);
        ck_assert_int_eq(met[u], met[0]);
    }
}

// ---- The call ------------------------------------------------------------------------------------------------------------

TEST(the_same_question_gives_the_same_bits)
{
    setup a = set_up("erik-f", POISE_EXPRESSIVE_SHAPE, true), b = set_up("erik-f", POISE_EXPRESSIVE_SHAPE, true);
    scene_random random = scene_random_make(31);
    double posture[6], q[6], other[6];
    for (int i = 0; i < 50; ++i) {
        poise_expressive_report first, second;
        scene_random_configuration(&random, a.model, posture);
        scene_random_configuration(&random, a.model, q);
        memcpy(other, q, sizeof q);
        poise_goal goal = poise_goal_orientation(a.options.body, scene_random_rotation(&random));
        ck_assert_int_eq(poise_expressive_solve(a.expressive, &goal, 1, posture, q, &first, NULL), POISE_OK);
        if (i % 2) { // b has other questions before it
            double elsewhere[6] = {0};
            poise_expressive_solve(b.expressive, &goal, 1, elsewhere, elsewhere, NULL, NULL);
        }
        ck_assert_int_eq(poise_expressive_solve(b.expressive, &goal, 1, posture, other, &second, NULL), POISE_OK);
        ck_assert_mem_eq(q, other, sizeof q);
        ck_assert(first.error == second.error && first.evaluations == second.evaluations);
    }
}

TEST(solving_allocates_nothing)
{
    setup s = set_up("erik-g", POISE_EXPRESSIVE_METRIC, true);
    scene_random random = scene_random_make(37);
    double posture[8], q[8] = {0};
    int before = allocations_so_far();
    for (int i = 0; i < 20; ++i) {
        scene_random_configuration(&random, s.model, posture);
        poise_goal goal = poise_goal_orientation(s.options.body, scene_random_rotation(&random));
        poise_status status = poise_expressive_solve(s.expressive, &goal, 1, posture, q, NULL, NULL);
        if (status != POISE_OK) {
            ck_abort_msg("status %d", (int)status);
        }
    }
    int after = allocations_so_far();
    ck_assert_int_eq(after, before);
}

TEST(what_makes_no_sense_is_refused_and_changes_nothing)
{
    setup s = set_up("erik-c", POISE_EXPRESSIVE_METRIC, true);
    poise_quat target = poise_pose_identity().rotation;
    poise_goal goal = poise_goal_orientation(s.options.body, target), bad = goal;
    double posture[5] = {0}, q[5] = {0.1, 0.2, 0.3, 0.4, 0.5}, was[5];
    memcpy(was, q, sizeof q);
    bad.target.rotation.x = NAN;
    ck_assert_int_eq(poise_expressive_solve(s.expressive, &bad, 1, posture, q, NULL, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_expressive_solve(s.expressive, NULL, 1, posture, q, NULL, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_expressive_solve(s.expressive, &goal, 17, posture, q, NULL, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_expressive_solve(s.expressive, &goal, 1, NULL, q, NULL, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_expressive_solve(NULL, &goal, 1, posture, q, NULL, NULL), POISE_ERROR_ARGUMENT);
    posture[2] = INFINITY;
    ck_assert_int_eq(poise_expressive_solve(s.expressive, &goal, 1, posture, q, NULL, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_mem_eq(q, was, sizeof q);
    posture[2] = 0.0;
    q[1] = NAN;
    ck_assert_int_eq(poise_expressive_solve(s.expressive, &goal, 1, posture, q, NULL, NULL), POISE_ERROR_ARGUMENT);
}

TEST(options_that_make_no_sense_are_named)
{
    poise_model *model;
    poise_expressive *made = NULL;
    poise_error error;
    ck_assert_int_eq(scene_create("erik-c", NULL, &model, NULL), POISE_OK);
    poise_expressive_options o = poise_expressive_options_default();
    o.gain = -1.0;
    ck_assert_int_eq(poise_expressive_create(model, &o, NULL, &made, &error), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.text, "gain"));
    poise_model_destroy(model);
}

TEST(a_warped_animation_keeps_the_limits_of_its_filter)
{
    setup s = set_up("erik-g", POISE_EXPRESSIVE_SHAPE, true);
    poise_filter_joint joints[8];
    poise_filter *filter;
    double posture[8] = {0}, answer[8] = {0}, q[8] = {0}, before[8] = {0};
    const double dt = 1e-3;
    for (int i = 0; i < 8; ++i) {
        joints[i] = poise_filter_joint_default();
        joints[i].lower = poise_model_info(s.model).lower[i];
        joints[i].upper = poise_model_info(s.model).upper[i];
    }
    ck_assert_int_eq(poise_filter_create(NULL, joints, 8, NULL, &filter, NULL), POISE_OK);
    for (int k = 0; k < 1500; ++k) {
        for (int i = 1; i < 7; ++i) {
            posture[i] = 0.5 * sin(0.004 * k + i);
        }
        poise_quat target = poise_quat_from_axis_angle(poise_vec3_make(1, 0, 0), 1.0 + 0.5 * sin(0.003 * k));
        poise_goal goal = poise_goal_orientation(s.options.body, target);
        memcpy(before, q, sizeof q);
        ck_assert_int_eq(poise_expressive_warp(s.expressive, &goal, 1, posture, filter, dt, answer, q, NULL, NULL),
                         POISE_OK);
        ck_assert(poise_model_within_limits(s.model, q));
        // rounding of a position over dt
        ck_assert_double_le(largest_move(before, q, 8) / dt, joints[0].velocity * (1.0 + 1e-9));
    }
    ck_assert_double_ge(largest_move(q, before, 8), 0.0);
    ck_assert_int_eq(poise_expressive_warp(s.expressive, NULL, 0, posture, filter, NAN, answer, q, NULL, NULL),
                     POISE_ERROR_ARGUMENT);
    poise_filter_destroy(filter);
}

// Bends keep their direction: on an arm with twisters between its bends the cheapest joint may not pay beyond straight, to
// half a degree, and a bend may not change sides for nothing because the twister after it is free.
TEST(bends_of_an_arm_with_inner_twisters_keep_their_sides)
{
    setup s = set_up("arm7", POISE_EXPRESSIVE_SHAPE, false);
    const double posture[7] = {0, 0.6, 0, 1.2, 0, 0.5, 0};
    for (int i = 0; i < 12; ++i) {
        double q[7] = {0}, a = 0.5 + 0.05 * i;
        poise_goal goal = poise_goal_direction(s.options.body, poise_vec3_make(0, 0, 1), poise_vec3_make(cos(a), 0, sin(a)));
        poise_expressive_report report;
        ck_assert_int_eq(poise_expressive_solve(s.expressive, &goal, 1, posture, q, &report, NULL), POISE_OK);
        ck_assert_double_lt(report.worst_angle, 1e-6);
        ck_assert_msg(q[1] > -0.01 && q[3] > -0.01 && q[5] > -0.01, "target %d: bends %g %g %g", i, q[1], q[3], q[5]);
        ck_assert_double_lt(fabs(q[2]) + fabs(q[4]), 0.1);
    }
}

// ---- Facing something ----------------------------------------------------------------------------------------------------

static poise_model *scene_of(const char *scene)
{
    poise_model *model = NULL;
    ck_assert_int_eq(scene_create(scene, NULL, &model, NULL), POISE_OK);
    return own_model(model);
}

static poise_aim_options aim_of(const poise_model *model, poise_aim_method method)
{
    poise_aim_options o = poise_aim_options_default();
    poise_tool_info tool = poise_model_tool_info(model, poise_model_find_tool(model, "tip"));
    o.body = tool.body;
    o.tip = tool.pose;
    o.axis = poise_quat_rotate(tool.pose.rotation, poise_vec3_make(0, 0, 2)); // of any length
    o.method = method;
    return o;
}

TEST(every_method_faces_what_it_is_told_and_is_measured_alike)
{
    static const poise_aim_target targets[] = {
        {.kind = POISE_AIM_ORIENTATION, .rotation = {0, 0.6, 0, 0.8}, .vector = {0, 0, 0}},
        {.kind = POISE_AIM_DIRECTION, .rotation = {0, 0, 0, 1}, .vector = {1, 0, 0}},
        {.kind = POISE_AIM_POINT, .rotation = {0, 0, 0, 1}, .vector = {1.5, 0.5, 0.5}}};
    poise_model *model = scene_of("arm7");
    double posture[16], q[16], moved[16];
    poise_model_neutral(model, posture);
    for (int m = 0; m < POISE_AIM_METHOD_COUNT; ++m) {
        poise_aim_options o = aim_of(model, (poise_aim_method)m);
        poise_aim *aim = NULL;
        ck_assert_int_eq(poise_aim_create(model, &o, NULL, &aim, NULL), POISE_OK);
        for (size_t i = 0; i < TEST_COUNT(targets); ++i) {
            poise_aim_report r;
            ck_assert_int_eq(poise_aim_solve(aim, &targets[i], posture, false, q, &r, NULL), POISE_OK);
            ck_assert_msg(r.faces && r.outcome == POISE_OUTCOME_REACHED, "method %d, target %d: %g off", m, (int)i, r.angle);
            ck_assert(r.limits_hold && r.orientation <= o.erik.threshold && r.posture >= 0 && isfinite(r.shape));
            ck_assert_double_eq_tol(poise_aim_angle(aim, &targets[i], q), r.angle, 1e-12);
            memcpy(moved, q, sizeof moved);
            moved[0] += 0.36;
            ck_assert(poise_aim_has_jumped(model, q, moved) && !poise_aim_has_jumped(model, q, q));
        }
        poise_aim_destroy(aim);
    }
}

TEST(a_body_that_is_held_stays_where_the_posture_has_it)
{
    poise_model *model = scene_of("humanoid");
    poise_kinematics *kin = NULL;
    poise_aim *aim = NULL;
    poise_aim_options o = poise_aim_options_default();
    poise_aim_target target = {.kind = POISE_AIM_POINT, .rotation = {0, 0, 0, 1}, .vector = {1, 1.6, 2}};
    double posture[256], q[256];
    o.body = poise_model_find_body(model, "head");
    o.held[o.held_count++] = 0;
    poise_model_neutral(model, posture);
    ck_assert_int_eq(poise_aim_create(model, &o, NULL, &aim, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kin, NULL), POISE_OK);
    ck_assert_int_eq(poise_aim_solve(aim, &target, posture, false, q, NULL, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_update(kin, posture, NULL), POISE_OK);
    poise_vec3 before = poise_kinematics_body_pose(kin, 0).position;
    ck_assert_int_eq(poise_kinematics_update(kin, q, NULL), POISE_OK);
    poise_vec3 after = poise_kinematics_body_pose(kin, 0).position;
    ck_assert(fabs(after.x - before.x) + fabs(after.y - before.y) + fabs(after.z - before.z) < 0.02);
    poise_kinematics_destroy(kin);
    poise_aim_destroy(aim);
}

TEST(a_call_that_cannot_be_meant_is_refused)
{
    poise_model *model = scene_of("arm7");
    poise_aim_options good = aim_of(model, POISE_AIM_ERIK);
    poise_aim_options bad[5] = {good, good, good, good, good};
    poise_aim *aim = NULL;
    poise_error error;
    bad[0].body = 99;
    bad[1].axis = poise_vec3_make(0, 0, 0);
    bad[2].held_count = POISE_AIM_MOST_HELD + 1;
    bad[3].held_count = 1, bad[3].held[0] = -1;
    bad[4].method = POISE_AIM_METHOD_COUNT;
    for (int i = 0; i < 5; ++i) {
        ck_assert_int_eq(poise_aim_create(model, &bad[i], NULL, &aim, &error), POISE_ERROR_ARGUMENT);
        ck_assert(error.text[0] && !aim);
    }
    double posture[16] = {0}, q[16] = {1};
    poise_aim_target target = {.kind = POISE_AIM_POINT, .rotation = {0, 0, 0, 1}, .vector = {NAN, 0, 0}};
    ck_assert_int_eq(poise_aim_create(model, &good, NULL, &aim, &error), POISE_OK);
    ck_assert_int_eq(poise_aim_solve(aim, &target, posture, false, q, NULL, &error), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_aim_solve(NULL, &target, posture, false, q, NULL, &error), POISE_ERROR_ARGUMENT);
    target = (poise_aim_target){.kind = POISE_AIM_DIRECTION, .rotation = {0, 0, 0, 1}};
    ck_assert_int_eq(poise_aim_solve(aim, &target, posture, false, q, NULL, &error), POISE_ERROR_ARGUMENT);
    ck_assert_double_eq(q[0], 1);
    target.vector.z = 1;
    q[0] = NAN; // the last answer
    ck_assert_int_eq(poise_aim_solve(aim, &target, posture, true, q, NULL, &error), POISE_ERROR_ARGUMENT);
    poise_aim_destroy(aim);
    poise_aim_destroy(NULL);
}
