// Goals: what is refused, and the energy, error and pull of every kind where they can be worked out by hand.
#include "num/vector.h"
#include "scenes/random.h"
#include "support/skeleton.h"

#include <float.h>

#define PI 3.14159265358979323846

// ---- The model: two hinges about z in a plane, unit links along x; a ball and a slider beside it -------------------------

enum { UPPER = 0, LOWER = 1, BALL = 2, SLIDE = 3, BODIES = 4 };
enum { Q_UPPER = 0, Q_LOWER = 1, Q_BALL = 2, Q_SLIDE = 6, NQ = 7 };

static poise_model *new_arm(double mass)
{
    poise_builder *builder = new_builder();
    poise_joint joint = joint_of("upper", NULL, POISE_JOINT_REVOLUTE);
    joint.mass = mass;
    add(builder, &joint);
    joint = joint_of("lower", "upper", POISE_JOINT_REVOLUTE);
    joint.offset.position = v3(1, 0, 0);
    joint.mass = 3 * mass;
    joint.mass_center = v3(1, 0, 0);
    add(builder, &joint);
    add_plain(builder, "ball", NULL, POISE_JOINT_BALL_QUATERNION);
    add_plain(builder, "slide", NULL, POISE_JOINT_PRISMATIC);
    return model_of(builder);
}

static const poise_vec3 tip = {1, 0, 0}; // of the lower link: at (2, 0, 0) for q = 0

// ---- Refusals ------------------------------------------------------------------------------------------------------------

static void assert_refused(const poise_goal *goal, const poise_model *model, const char *reason)
{
    poise_error error = {.status = POISE_OK};
    ck_assert_int_eq(poise_goal_check(goal, model, &error), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_goal_check(goal, model, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(error.status, POISE_ERROR_ARGUMENT);
    char kind[64];
    snprintf(kind, sizeof kind, "%s goal: ", poise_goal_kind_name(goal->kind));
    ck_assert_msg(strncmp(error.text, kind, strlen(kind)) == 0, "\"%s\" does not begin with \"%s\"", error.text, kind);
    ck_assert_msg(strstr(error.text, reason) != NULL, "\"%s\" does not say: %s", error.text, reason);
}

// A sound goal of the kind. The configuration is static: it outlives the goal.
static poise_goal sound_goal(poise_goal_kind kind)
{
    static const double rest[NQ] = {[Q_BALL + 3] = 1.0};
    poise_goal goal = poise_goal_default(kind);
    goal.q = rest;
    return goal;
}

// A goal of the kind, changed by the statements, is refused for the reason.
#define REFUSES(test_name, goal_kind, reason, ...)                                                                          \
    TEST(test_name)                                                                                                         \
    {                                                                                                                       \
        poise_model *model = new_arm(1.0);                                                                                  \
        poise_goal goal = sound_goal(goal_kind);                                                                            \
        ck_assert(goal.kind == POISE_GOAL_CALLBACK || poise_goal_check(&goal, model, NULL) == POISE_OK);                    \
        __VA_ARGS__;                                                                                                        \
        assert_refused(&goal, model, reason);                                                                               \
    }

REFUSES(a_negative_body_is_refused, POISE_GOAL_POSITION, "body -1 does not exist; the model has 4 bodies",
        goal.body = POISE_WORLD)
REFUSES(a_body_beyond_the_last_is_refused, POISE_GOAL_ORIENTATION, "body 4 does not exist", goal.body = BODIES)
REFUSES(a_callback_on_no_body_is_refused, POISE_GOAL_CALLBACK, "body -1 does not exist", goal.body = -1)
REFUSES(a_followed_body_beyond_the_last_is_refused, POISE_GOAL_RELATIVE, "body2 4 does not exist", goal.body2 = BODIES)
REFUSES(a_followed_body_below_the_world_is_refused, POISE_GOAL_RELATIVE, "body2 -3 does not exist", goal.body2 = -3)
REFUSES(a_misspelt_body_is_refused, POISE_GOAL_POSITION, "body is POISE_NONE",
        goal.body = poise_model_find_body(model, "no such body"))
REFUSES(a_misspelt_body_to_follow_is_not_the_world, POISE_GOAL_RELATIVE, "body2 is POISE_NONE",
        goal.body2 = poise_model_find_body(model, "no such body"))
REFUSES(a_negative_weight_is_refused, POISE_GOAL_POSITION, "weights must be finite and >= 0", goal.weight = -1e-300)
REFUSES(a_weight_that_is_nan_is_refused, POISE_GOAL_POSTURE, "weights must be finite and >= 0", goal.weight = NAN)
REFUSES(an_infinite_weight_is_refused, POISE_GOAL_AIM, "weights must be finite and >= 0", goal.weight = INFINITY)
REFUSES(a_negative_rotation_weight_is_refused, POISE_GOAL_POSE, "weights must be finite", goal.rotation_weight = -1)
REFUSES(an_unknown_loss_is_refused, POISE_GOAL_POSITION, "loss must be known", goal.loss = POISE_LOSS_COUNT)
REFUSES(a_loss_scale_of_zero_is_refused, POISE_GOAL_LINE, "its scale finite and > 0", goal.loss = POISE_LOSS_HUBER,
        goal.loss_scale = 0)
REFUSES(a_loss_scale_that_is_nan_is_refused, POISE_GOAL_PLANE, "its scale finite and > 0", goal.loss = POISE_LOSS_HUBER,
        goal.loss_scale = NAN)
REFUSES(an_infinite_loss_scale_is_refused, POISE_GOAL_DISTANCE, "its scale finite and > 0",
        goal.loss = POISE_LOSS_GEMAN_MCCLURE, goal.loss_scale = INFINITY)
REFUSES(a_negative_tolerance_is_refused, POISE_GOAL_POSITION, "tolerances must be >= 0", goal.tolerance.y = -1e-9)
REFUSES(a_tolerance_that_is_nan_is_refused, POISE_GOAL_POSE, "tolerances must be >= 0", goal.tolerance.z = NAN)
REFUSES(a_negative_rotation_tolerance_is_refused, POISE_GOAL_ORIENTATION, "tolerances must be >= 0",
        goal.rotation_tolerance.x = -1)
REFUSES(a_negative_distance_is_refused, POISE_GOAL_DISTANCE, "distance must be finite and >= 0", goal.distance = -0.1)
REFUSES(a_distance_that_is_nan_is_refused, POISE_GOAL_DISTANCE, "distance must be finite and >= 0", goal.distance = NAN)
REFUSES(a_callback_without_a_function_is_refused, POISE_GOAL_CALLBACK, "function must not be NULL", goal.function = NULL)
REFUSES(a_point_that_is_nan_is_refused, POISE_GOAL_POSITION, "positions must be finite", goal.local.position.x = NAN)
REFUSES(an_infinite_target_is_refused, POISE_GOAL_AIM, "positions must be finite", goal.target.position.y = INFINITY)
REFUSES(a_centre_of_mass_at_infinity_is_refused, POISE_GOAL_CENTER_OF_MASS, "positions must be finite",
        goal.target.position.z = -INFINITY)
REFUSES(a_local_rotation_that_is_not_unit_is_refused, POISE_GOAL_POSE, "rotations must be unit quaternions",
        goal.local.rotation.w = 1.00001)
REFUSES(a_target_rotation_of_zero_is_refused, POISE_GOAL_ORIENTATION, "rotations must be unit quaternions",
        goal.target.rotation.w = 0)
REFUSES(a_target_rotation_that_is_nan_is_refused, POISE_GOAL_RELATIVE, "rotations must be unit quaternions",
        goal.target.rotation.x = NAN)
REFUSES(an_axis_that_is_not_unit_is_refused, POISE_GOAL_AIM, "axis must be a unit vector", goal.axis = v3(1, 1, 0))
REFUSES(an_axis_that_is_nan_is_refused, POISE_GOAL_DIRECTION, "axis must be a unit vector", goal.axis.x = NAN)
REFUSES(a_direction_of_zero_is_refused, POISE_GOAL_DIRECTION, "direction must be a unit vector", goal.direction.z = 0)
REFUSES(a_plane_without_a_normal_is_refused, POISE_GOAL_PLANE, "direction must be a unit vector", goal.direction.z = 0)
REFUSES(a_line_without_a_direction_is_refused, POISE_GOAL_LINE, "direction must be a unit vector", goal.direction.z = 1.1)
REFUSES(a_band_without_axes_is_refused, POISE_GOAL_POSITION, "a tolerance needs a target rotation", goal.tolerance.x = 0.1,
        goal.target.rotation.w = 0)
REFUSES(a_posture_without_q_is_refused, POISE_GOAL_POSTURE, "q must hold nq finite numbers", goal.q = NULL)
REFUSES(a_posture_with_a_nan_is_refused, POISE_GOAL_POSTURE, "q must hold nq finite numbers",
        double q[NQ] = {NAN, [Q_BALL + 3] = 1};
        goal.q = q)
REFUSES(a_posture_with_a_zero_quaternion_is_refused, POISE_GOAL_SMOOTHNESS, "no zero quaternion", double q[NQ] = {0};
        goal.q = q)
REFUSES(a_frame_before_with_an_infinity_is_refused, POISE_GOAL_SMOOTHNESS, "q_before must hold nq finite numbers",
        double q[NQ] = {[Q_BALL + 3] = 1, [Q_SLIDE] = INFINITY};
        goal.q_before = q)
REFUSES(a_negative_posture_weight_is_refused, POISE_GOAL_POSTURE, "every weight in q_weights must be finite and >= 0",
        double w[6] = {1, 1, 1, 1, 1, -1};
        goal.q_weights = w)

TEST(a_goal_at_a_tool_is_a_goal_at_its_frame_on_the_body)
{
    poise_builder *builder = new_builder();
    poise_joint hinge = joint_of("hinge", NULL, POISE_JOINT_REVOLUTE);
    add(builder, &hinge);
    poise_quat quarter = poise_quat_from_axis_angle(poise_vec3_make(0, 0, 1), 1.5707963267948966);
    poise_tool tool = {.name = "tip", .body = "hinge", .pose = {quarter, {0.5, 0.25, 0}}};
    ck_assert_int_eq(poise_builder_add_tool(builder, &tool, NULL), POISE_OK);
    poise_model *model = model_of(builder);
    poise_goal goal = poise_goal_pose(POISE_NONE, poise_pose_identity(), poise_pose_identity());
    ck_assert_int_eq(poise_goal_at_tool(&goal, model, "tip", NULL), POISE_OK);
    ck_assert_int_eq(goal.body, 0);
    ck_assert_mem_eq(&goal.local, &tool.pose, sizeof tool.pose);
    goal = poise_goal_aim(POISE_NONE, poise_vec3_make(0.1, 0, 0), poise_vec3_make(1, 0, 0), poise_vec3_make(1, 1, 1));
    ck_assert_int_eq(poise_goal_at_tool(&goal, model, "tip", NULL), POISE_OK);
    ck_assert_double_eq_tol(goal.local.position.y, 0.35, 1e-15);
    ck_assert_double_eq_tol(goal.axis.y, 1.0, 1e-15);
    poise_goal before = goal;
    poise_error error;
    ck_assert_int_eq(poise_goal_at_tool(&goal, model, "tpi", &error), POISE_ERROR_NOT_FOUND);
    ck_assert_str_eq(error.text, "the model has no tool \"tpi\"; it has 1 tools, the first is \"tip\"");
    ck_assert_mem_eq(&goal, &before, sizeof goal);
    goal = poise_goal_center_of_mass(poise_vec3_make(0, 0, 0));
    ck_assert_int_eq(poise_goal_at_tool(&goal, model, "tip", &error), POISE_ERROR_ARGUMENT);
}

TEST(an_unknown_kind_is_refused)
{
    poise_model *model = new_arm(1.0);
    poise_error error;
    poise_goal goal = sound_goal(POISE_GOAL_KIND_COUNT);
    ck_assert_int_eq(poise_goal_check(&goal, model, &error), POISE_ERROR_ARGUMENT);
    ck_assert_str_eq(error.text, "unknown goal: kind 13 does not exist");
    ck_assert_str_eq(poise_goal_kind_name(POISE_GOAL_KIND_COUNT), "unknown");
    ck_assert_str_eq(poise_goal_kind_name((poise_goal_kind)-1), "unknown");
}

TEST(a_centre_of_mass_without_mass_is_refused)
{
    poise_model *model = new_arm(0.0);
    poise_goal goal = sound_goal(POISE_GOAL_CENTER_OF_MASS);
    assert_refused(&goal, model, "the model has no mass");
}

TEST(null_arguments_are_refused)
{
    poise_model *model = new_arm(1.0);
    poise_goal goal = sound_goal(POISE_GOAL_POSITION);
    poise_error error;
    ck_assert_int_eq(poise_goal_check(NULL, model, &error), POISE_ERROR_ARGUMENT);
    ck_assert_str_eq(error.text, "goal and model must not be NULL");
    ck_assert_int_eq(poise_goal_check(&goal, NULL, NULL), POISE_ERROR_ARGUMENT);
}

TEST(what_a_kind_does_not_use_is_not_looked_at)
{
    poise_model *model = new_arm(1.0);
    for (int kind = 0; kind < POISE_GOAL_CALLBACK; ++kind) {
        poise_goal goal = sound_goal((poise_goal_kind)kind);
        bool no_body = kind == POISE_GOAL_POSTURE || kind == POISE_GOAL_SMOOTHNESS || kind == POISE_GOAL_CENTER_OF_MASS;
        bool has_axis = kind == POISE_GOAL_DIRECTION || kind == POISE_GOAL_AIM;
        goal.body = no_body ? -9 : 0;
        goal.body2 = kind == POISE_GOAL_RELATIVE ? POISE_WORLD : 99;
        goal.distance = kind == POISE_GOAL_DISTANCE ? 0 : NAN;
        goal.axis.x = has_axis ? 0 : NAN;
        goal.loss_scale = NAN;
        goal.tolerance = goal.rotation_tolerance = v3(INFINITY, 0, INFINITY);
        poise_error error = {.status = POISE_OK};
        ck_assert_msg(poise_goal_check(&goal, model, &error) == POISE_OK, "%s", error.text);
        ck_assert_int_eq(error.status, POISE_OK);
    }
}

TEST(constructors_make_directions_and_quaternions_unit)
{
    poise_goal goal = poise_goal_direction(0, v3(0, 3, 4), v3(1e200, 0, 0));
    ck_assert(goal.axis.y == 0.6 && goal.axis.z == 0.8 && goal.direction.x == 1.0);
    goal = poise_goal_aim(0, tip, v3(0, 0, -7), v3(0, 0, 0));
    ck_assert_double_eq(goal.axis.z, -1.0);
    goal = poise_goal_plane(0, tip, v3(0, 0, 0), v3(0, 5, 0));
    ck_assert_double_eq(goal.direction.y, 1.0);
    goal = poise_goal_orientation(0, (poise_quat){0, 0, 0, 9});
    ck_assert_double_eq(goal.target.rotation.w, 1.0);
    goal = poise_goal_pose(0, (poise_pose){{3, 0, 0, 0}, {1, 2, 3}}, (poise_pose){{0, 0, 2, 0}, {4, 5, 6}});
    ck_assert(goal.local.rotation.x == 1 && goal.target.rotation.z == 1 && goal.target.position.z == 6);
}

// ---- Energies and errors by hand -----------------------------------------------------------------------------------------

typedef struct probe {
    poise_model *model;
    poise_objective *objective;
    double q[NQ];
} probe;

static probe new_probe(void)
{
    probe p = {.model = new_arm(1.0)};
    ck_assert_int_eq(poise_objective_create(p.model, 1, NULL, &p.objective, NULL), POISE_OK);
    own_objective(p.objective);
    poise_model_neutral(p.model, p.q);
    return p;
}

// Evaluates the one goal; its cost.
static double cost_of(probe *p, const poise_goal *goal)
{
    poise_error error = {0};
    ck_assert_msg(poise_objective_set_goals(p->objective, goal, 1, &error) == POISE_OK, "%s", error.text);
    ck_assert_int_eq(poise_objective_evaluate(p->objective, p->q, POISE_LEVEL_HESSIAN, NULL), POISE_OK);
    return poise_objective_value(p->objective).cost;
}

// Energy, error and unit as they should be, to a few roundings of numbers below 30.
#define BY_HAND (64 * DBL_EPSILON)

static void expect(probe *p, poise_goal goal, double energy, double error, poise_unit unit)
{
    ck_assert_double_eq_tol(cost_of(p, &goal), energy, BY_HAND);
    poise_goal_error e = poise_objective_goal_error(p->objective, 0);
    ck_assert_double_eq_tol(e.error, error, BY_HAND);
    ck_assert_int_eq(e.unit, unit);
    ck_assert_double_eq(e.rotation_error, 0.0);
}

static double gradient(const probe *p, int i)
{
    return poise_objective_value(p->objective).gradient[i];
}

TEST(a_position_costs_half_its_weight_times_the_squared_distance)
{
    probe p = new_probe();
    poise_goal goal = poise_goal_position(LOWER, tip, v3(2, 3, 4));
    goal.weight = 0.5;
    expect(&p, goal, 0.5 / 2 * 25, 5, POISE_UNIT_LENGTH);
    // f = w (x - t) = (0, -1.5, -2); turning by the upper hinge moves the tip along y by 2, by the lower one by 1
    ck_assert_double_eq_tol(gradient(&p, 0), -3.0, BY_HAND);
    ck_assert_double_eq_tol(gradient(&p, 1), -1.5, BY_HAND);
}

TEST(huber_is_square_up_to_its_scale_and_straight_beyond)
{
    probe p = new_probe();
    poise_goal goal = poise_goal_position(LOWER, tip, v3(2, 2, 0));
    goal.loss = POISE_LOSS_HUBER;
    goal.loss_scale = 2;
    expect(&p, goal, 0.5 * 4, 2, POISE_UNIT_LENGTH); // at the threshold: both forms
    goal.target.position.y = 1;
    expect(&p, goal, 0.5 * 1, 1, POISE_UNIT_LENGTH);
    ck_assert_double_eq_tol(gradient(&p, 1), -1, BY_HAND);
    for (int far = 5; far < 8; ++far) {
        goal.target.position.y = far;
        expect(&p, goal, 0.5 * (2 * 2 * far - 4), far, POISE_UNIT_LENGTH);
        ck_assert_double_eq_tol(gradient(&p, 1), -2, BY_HAND); // constant force: the scale
    }
}

TEST(geman_mcclure_lets_go_of_a_far_marker)
{
    probe p = new_probe();
    poise_goal goal = poise_goal_position(LOWER, tip, v3(2, 5, 0));
    goal.loss = POISE_LOSS_GEMAN_MCCLURE;
    goal.loss_scale = 3;
    goal.weight = 2;
    expect(&p, goal, 25.0 * 9 / (25 + 9), 5, POISE_UNIT_LENGTH);
    ck_assert_double_eq_tol(gradient(&p, 1), -2 * 5 * pow(9.0 / 34, 2), BY_HAND);
    goal.target.position.y = 1e150;
    ck_assert_double_eq_tol(cost_of(&p, &goal), 9, BY_HAND); // w/2 k^2, the limit
    ck_assert_double_eq(gradient(&p, 1), 0.0);
    goal.target.position.y = 1e-3; // near: as if there were no loss
    ck_assert_double_eq_tol(cost_of(&p, &goal), 1e-6, 1e-6 * 1e-6);
}

TEST(a_position_within_its_band_costs_nothing)
{
    probe p = new_probe();
    poise_goal goal = poise_goal_position(LOWER, tip, v3(2, 3, 4));
    goal.tolerance = v3(0, 1, INFINITY);
    expect(&p, goal, 0.5 * 4, 2, POISE_UNIT_LENGTH); // 3 less 1 along y; z is free
    goal.tolerance = v3(0, 3, 4);
    expect(&p, goal, 0, 0, POISE_UNIT_LENGTH); // at the edge
    goal.tolerance = v3(0.1, 3.5, INFINITY);
    expect(&p, goal, 0, 0, POISE_UNIT_LENGTH);
    ck_assert(gradient(&p, 0) == 0 && gradient(&p, 1) == 0);
}

TEST(a_band_lies_along_the_axes_of_the_target)
{
    probe p = new_probe();
    poise_goal goal = poise_goal_position(LOWER, tip, v3(2, 3, 0));
    goal.target.rotation = poise_quat_from_axis_angle(v3(0, 0, 1), PI / 2); // its x is the world's y
    goal.tolerance = v3(1, 0, 0);
    expect(&p, goal, 0.5 * 4, 2, POISE_UNIT_LENGTH);
    goal.tolerance = v3(0, 1, 0);
    expect(&p, goal, 0.5 * 9, 3, POISE_UNIT_LENGTH);
}

TEST(a_direction_costs_one_less_the_cosine)
{
    probe p = new_probe();
    poise_goal goal = poise_goal_direction(LOWER, v3(1, 0, 0), v3(1, sqrt(3.0), 0));
    goal.weight = 3;
    expect(&p, goal, 3 * 0.5, PI / 3, POISE_UNIT_ANGLE);
    ck_assert_double_eq_tol(gradient(&p, 0), -3 * sin(PI / 3), BY_HAND);
    goal.direction = v3(-1, 0, 0);
    expect(&p, goal, 3 * 2, PI, POISE_UNIT_ANGLE); // a maximum, with no pull
    ck_assert_double_eq(gradient(&p, 0), 0.0);
}

TEST(an_orientation_costs_twice_its_weight_times_the_squared_sine_of_the_half_angle)
{
    probe p = new_probe();
    for (int i = 0; i < 6; ++i) {
        double phi = (double[]){0, 1e-6, 0.5, 1.5, 3, PI}[i];
        poise_goal goal = poise_goal_orientation(LOWER, poise_quat_from_axis_angle(v3(1, 2, -2), phi));
        goal.weight = 1.5;
        expect(&p, goal, 1.5 * 2 * sin(phi / 2) * sin(phi / 2), phi, POISE_UNIT_ANGLE);
        // torque w sin(phi) about the axis, of which the hinges see the z part, -2/3
        ck_assert_double_eq_tol(gradient(&p, 1), 1.5 * sin(phi) * 2 / 3, BY_HAND);
    }
}

TEST(an_orientation_within_its_band_costs_nothing)
{
    probe p = new_probe();
    poise_goal goal = poise_goal_orientation(LOWER, poise_quat_from_axis_angle(v3(0, 0, 1), 0.5));
    double e = 2 * sin(0.25);
    goal.rotation_tolerance = v3(0, 0, 0.1);
    expect(&p, goal, 0.5 * (e - 0.1) * (e - 0.1), e - 0.1, POISE_UNIT_ANGLE);
    goal.rotation_tolerance = v3(0, 0, INFINITY); // free to roll about the target's z
    expect(&p, goal, 0, 0, POISE_UNIT_ANGLE);
    ck_assert_double_eq(gradient(&p, 0), 0.0);
    goal.rotation_tolerance = v3(INFINITY, INFINITY, 0);
    expect(&p, goal, 0.5 * e * e, e, POISE_UNIT_ANGLE);
}

TEST(a_pose_costs_its_position_and_its_orientation)
{
    probe p = new_probe();
    poise_pose target = {poise_quat_from_axis_angle(v3(0, 1, 0), 0.8), {2, 3, 4}};
    poise_goal goal = poise_goal_pose(LOWER, (poise_pose){{0, 0, 0, 1}, {1, 0, 0}}, target);
    goal.weight = 2;
    goal.rotation_weight = 0.25;
    ck_assert_double_eq_tol(cost_of(&p, &goal), 25 + 0.25 * 2 * sin(0.4) * sin(0.4), BY_HAND);
    poise_goal_error e = poise_objective_goal_error(p.objective, 0);
    ck_assert_double_eq_tol(e.error, 5, BY_HAND);
    ck_assert_double_eq_tol(e.rotation_error, 0.8, BY_HAND);
    ck_assert_int_eq(e.unit, POISE_UNIT_LENGTH);
    // a frame that is turned in the body as the target is turned in the world is no error
    goal.local.rotation = target.rotation;
    ck_assert_double_eq_tol(cost_of(&p, &goal), 25, BY_HAND);
}

TEST(an_aim_costs_one_less_the_cosine_whatever_the_distance)
{
    probe p = new_probe();
    for (int i = 0; i < 4; ++i) {
        double far = (double[]){0.5, 2, 1e9, 1e300}[i];
        poise_goal goal = poise_goal_aim(LOWER, tip, v3(1, 0, 0), v3(2, far, 0));
        expect(&p, goal, 1, PI / 2, POISE_UNIT_ANGLE);
        // turning at the rate 1 turns the axis, and the point moves by (0, 1, 0), along the line of sight
        ck_assert_double_eq_tol(gradient(&p, 1), -1, BY_HAND);
    }
}

TEST(an_aim_at_its_own_point_is_met)
{
    probe p = new_probe();
    poise_goal goal = poise_goal_aim(LOWER, tip, v3(0, 1, 0), v3(2, 0, 0));
    double H[36];
    ck_assert_double_eq(cost_of(&p, &goal), 0.0);
    ck_assert_double_eq(poise_objective_goal_error(p.objective, 0).error, 0.0);
    ck_assert_int_eq(poise_objective_hessian(p.objective, POISE_HESSIAN_EXACT, H, NULL), POISE_OK);
    for (int i = 0; i < 36; ++i) {
        ck_assert_double_eq(H[i], 0.0);
        ck_assert_double_eq(gradient(&p, i % 6), 0.0);
    }
}

TEST(a_plane_a_line_and_a_distance_cost_what_is_off_them)
{
    probe p = new_probe();
    poise_goal goal = poise_goal_plane(LOWER, tip, v3(7, 3, 9), v3(0, -2, 0));
    expect(&p, goal, 0.5 * 9, 3, POISE_UNIT_LENGTH);
    ck_assert_double_eq_tol(gradient(&p, 1), -3, BY_HAND);
    goal = poise_goal_line(LOWER, tip, v3(99, 3, 4), v3(1, 0, 0));
    expect(&p, goal, 0.5 * 25, 5, POISE_UNIT_LENGTH);
    goal = poise_goal_distance(LOWER, tip, v3(2, 3, 4), 2);
    expect(&p, goal, 0.5 * 9, 3, POISE_UNIT_LENGTH);
    ck_assert_double_eq_tol(gradient(&p, 1), -3 * 0.6, BY_HAND); // pulled towards the target
    goal.distance = 7;
    expect(&p, goal, 0.5 * 4, 2, POISE_UNIT_LENGTH);
    ck_assert_double_eq_tol(gradient(&p, 1), 2 * 0.6, BY_HAND); // pushed away
}

TEST(losses_bend_planes_lines_and_distances_too)
{
    probe p = new_probe();
    poise_goal goals[3] = {poise_goal_plane(LOWER, tip, v3(0, 5, 0), v3(0, 1, 0)),
                           poise_goal_line(LOWER, tip, v3(0, 5, 0), v3(1, 0, 0)),
                           poise_goal_distance(LOWER, tip, v3(2, 8, 0), 3)};
    for (int i = 0; i < 3; ++i) {
        goals[i].loss = POISE_LOSS_HUBER;
        goals[i].loss_scale = 2;
        expect(&p, goals[i], 0.5 * (2 * 2 * 5 - 4), 5, POISE_UNIT_LENGTH);
        ck_assert_double_eq_tol(gradient(&p, 1), -2, BY_HAND);
        goals[i].loss = POISE_LOSS_GEMAN_MCCLURE;
        expect(&p, goals[i], 0.5 * 25 * 4 / 29, 5, POISE_UNIT_LENGTH);
        ck_assert_double_eq_tol(gradient(&p, 1), -5 * pow(4.0 / 29, 2), BY_HAND);
    }
}

TEST(a_distance_from_its_own_point_pushes_away_and_is_finite)
{
    probe p = new_probe();
    poise_goal goal = poise_goal_distance(LOWER, tip, v3(2, 0, 0), 3);
    double H[36];
    expect(&p, goal, 0.5 * 9, 3, POISE_UNIT_LENGTH);
    ck_assert_int_eq(poise_objective_hessian(p.objective, POISE_HESSIAN_EXACT, H, NULL), POISE_OK);
    for (int i = 0; i < 36; ++i) {
        ck_assert(isfinite(H[i]) && isfinite(gradient(&p, i % 6)));
    }
    goal.distance = 0;
    expect(&p, goal, 0, 0, POISE_UNIT_LENGTH);
}

TEST(a_posture_adds_up_its_coordinates)
{
    probe p = new_probe();
    double half = 0.3, q[NQ] = {1, -2, 0, 0, sin(half / 2), cos(half / 2), 3};
    double off = 4 * sin(half / 2) * sin(half / 2); // (2 sin(phi/2))^2 of the ball
    expect(&p, poise_goal_posture(q, 0.5), 0.25 * (1 + 4 + off + 9), sqrt((1 + 4 + off + 9) / 4), POISE_UNIT_NONE);
    ck_assert_double_eq_tol(gradient(&p, 0), -0.5, BY_HAND);
    ck_assert_double_eq_tol(gradient(&p, 4), -0.5 * sin(half), BY_HAND); // about the ball's z
    ck_assert_double_eq_tol(gradient(&p, 5), -1.5, BY_HAND);
    double weights[6] = {2, 0, 5, 7, 7, 1}; // a quaternion takes its first
    poise_goal goal = poise_goal_posture(q, 0.5);
    goal.q_weights = weights;
    expect(&p, goal, 0.25 * (2 * 1 + 5 * off + 9), sqrt((1 + off + 9) / 3), POISE_UNIT_NONE);
}

TEST(smoothness_stays_or_goes_on_at_constant_velocity)
{
    probe p = new_probe();
    poise_quat last = poise_quat_from_axis_angle(v3(0, 1, 0), 0.4), before = poise_quat_from_axis_angle(v3(0, 1, 0), 0.1);
    double q[NQ] = {1, 0, last.x, last.y, last.z, last.w, 2}, q0[NQ] = {0.5, 0, before.x, before.y, before.z, before.w, 0};
    double stay = 1 + 4 * pow(sin(0.2), 2) + 4, go_on = 1.5 * 1.5 + 4 * pow(sin(0.35), 2) + 4 * 4;
    expect(&p, poise_goal_smoothness(q, NULL, 2.0), stay, sqrt(stay / 4), POISE_UNIT_NONE);
    expect(&p, poise_goal_smoothness(q, q0, 2.0), go_on, sqrt(go_on / 4), POISE_UNIT_NONE);
}

TEST(a_relative_goal_compares_two_moving_frames)
{
    probe p = new_probe();
    p.q[Q_LOWER] = 0.5;
    p.q[Q_UPPER] = 1.1;
    poise_pose local = {{0, 0, 0, 1}, {0, 0, 0}}, target = {{0, 0, 0, 1}, {1, 0, 2}};
    poise_goal goal = poise_goal_relative(LOWER, local, UPPER, target);
    goal.rotation_weight = 3;
    // seen from the upper link the lower one sits at (1, 0, 0), turned by 0.5
    ck_assert_double_eq_tol(cost_of(&p, &goal), 0.5 * 4 + 3 * 2 * pow(sin(0.25), 2), BY_HAND);
    poise_goal_error e = poise_objective_goal_error(p.objective, 0);
    ck_assert_double_eq_tol(e.error, 2, BY_HAND);
    ck_assert_double_eq_tol(e.rotation_error, 0.5, BY_HAND);
    ck_assert_double_eq_tol(gradient(&p, 0), 0, BY_HAND); // turning both changes nothing
    ck_assert_double_eq_tol(gradient(&p, 1), 3 * sin(0.5), BY_HAND);
    goal.body2 = POISE_WORLD;
    goal.target.position = v3(cos(1.1), sin(1.1), 0);
    ck_assert_double_eq_tol(cost_of(&p, &goal), 3 * 2 * pow(sin(0.8), 2), BY_HAND);
}

TEST(a_centre_of_mass_is_the_weighted_mean)
{
    probe p = new_probe();
    // masses 1 at (0, 0, 0) and 3 at (2, 0, 0)
    expect(&p, poise_goal_center_of_mass(v3(1.5, 3, 4)), 0.5 * 25, 5, POISE_UNIT_LENGTH);
    ck_assert_double_eq_tol(gradient(&p, 0), -3 * 1.5, BY_HAND);
    ck_assert_double_eq_tol(gradient(&p, 1), -3 * 0.75, BY_HAND);
}

// ---- Callbacks -----------------------------------------------------------------------------------------------------------

// What the function below shall answer, and how often it was asked.
typedef struct answer {
    bool sound;
    int place; // which number is spoilt; -1: none
    double bad;
    int asked;
} answer;

// E = 8 + 2 y: constant force along y.
static bool lift(void *user, const poise_pose *pose, poise_body_energy *out)
{
    answer *a = user;
    a->asked += 1;
    double *numbers[] = {&out->energy, &out->gradient[2], &out->hessian[7], &out->gauss_newton[35]};
    ck_assert(out->energy == 0 && out->gradient[5] == 0 && out->hessian[35] == 0 && isnan(out->gauss_newton[0]));
    out->energy = 8 + 2 * pose->position.y;
    out->gradient[4] = 2;
    if (a->place >= 2) { // else the Hessian stands in
        memset(out->gauss_newton, 0, sizeof out->gauss_newton);
    }
    if (a->place >= 0) {
        *numbers[a->place] = a->bad;
    }
    return a->sound;
}

TEST(a_callback_counts_with_its_weight)
{
    probe p = new_probe();
    answer a = {.sound = true, .place = -1};
    poise_goal goal = poise_goal_callback(LOWER, lift, &a);
    goal.weight = 3;
    expect(&p, goal, 24, 4, POISE_UNIT_NONE); // the error is sqrt(2 E), without the weight
    ck_assert_double_eq_tol(gradient(&p, 0), 3 * 2 * 1, BY_HAND);
    ck_assert_double_eq_tol(gradient(&p, 1), 0, BY_HAND);
    ck_assert_int_eq(a.asked, 2);
}

// The energy of a spring from the origin of a frame to a place.
static bool spring_to(void *user, const poise_pose *pose, poise_body_energy *out)
{
    const poise_vec3 *place = user;
    const double off[3] = {pose->position.x - place->x, pose->position.y - place->y, pose->position.z - place->z};
    for (int i = 0; i < 3; ++i) {
        out->energy += 0.5 * off[i] * off[i];
        out->gradient[3 + i] = off[i];
        out->hessian[7 * (3 + i)] = 1;
    }
    return true;
}

TEST(a_callback_is_asked_about_a_frame_of_its_body)
{
    probe p = new_probe();
    poise_vec3 place = v3(2, 3, 4);
    poise_goal goal = poise_goal_callback(LOWER, spring_to, &place);
    goal.local.position = tip;
    ck_assert_double_eq(cost_of(&p, &goal), 12.5);
    ck_assert_double_eq_tol(gradient(&p, 0), -6, BY_HAND); // as a POSITION has it
    ck_assert_double_eq_tol(gradient(&p, 1), -3, BY_HAND);
}

// The energy of a point that keeps a distance of 1 from the z axis: within it, curved downwards along the circle.
static bool away_from_axis(void *user, const poise_pose *pose, poise_body_energy *out)
{
    (void)user;
    double x = pose->position.x, y = pose->position.y, r = sqrt(x * x + y * y), off = r - 1;
    const double u[2] = {x / r, y / r};
    out->energy = 0.5 * off * off;
    for (int i = 0; i < 2; ++i) {
        out->gradient[3 + i] = off * u[i];
        for (int k = 0; k < 2; ++k) {
            out->hessian[6 * (3 + i) + 3 + k] = u[i] * u[k] + off / r * ((i == k) - u[i] * u[k]);
        }
    }
    return true;
}

TEST(a_callback_without_a_gauss_newton_matrix_has_one_that_is_semidefinite)
{
    probe p = new_probe();
    poise_goal goal = poise_goal_callback(LOWER, away_from_axis, NULL);
    goal.local.position = tip;
    double H[NQ * NQ];
    const double twist[NQ] = {1, 0.3, -0.4, 0.2, 0.1, -0.6};
    scene_random r = {.state = 5};
    for (int trial = 0; trial < 100; ++trial) {
        poise_model_neutral(p.model, p.q);
        p.q[Q_UPPER] = scene_random_range(&r, -3, 3);
        p.q[Q_LOWER] = scene_random_range(&r, -3, 3);
        cost_of(&p, &goal);
        ck_assert_int_eq(poise_objective_hessian(p.objective, POISE_HESSIAN_GAUSS_NEWTON, H, NULL), POISE_OK);
        double value = 0;
        for (int i = 0, nv = poise_model_info(p.model).nv; i < nv * nv; ++i) {
            value += twist[i / nv] * H[i] * twist[i % nv];
        }
        ck_assert_double_ge(value, -BY_HAND);
    }
}

static void assert_drops_out(answer a)
{
    probe p = new_probe();
    poise_goal goals[2] = {poise_goal_callback(LOWER, lift, &a), poise_goal_position(LOWER, tip, v3(2, 3, 4))};
    ck_assert_int_eq(poise_objective_set_goals(p.objective, goals, 2, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_evaluate(p.objective, p.q, POISE_LEVEL_HESSIAN, NULL), POISE_OK);
    ck_assert_double_eq(poise_objective_value(p.objective).cost, 12.5); // the other goal stays
    ck_assert_double_eq_tol(gradient(&p, 0), -6, BY_HAND);
    ck_assert_double_eq(poise_objective_goal_error(p.objective, 0).error, 0.0);
    ck_assert_double_eq(poise_objective_goal_error(p.objective, 1).error, 5.0);
    ck_assert_int_gt(a.asked, 0);
}

TEST(a_callback_that_returns_false_drops_out)
{
    assert_drops_out((answer){.sound = false, .place = -1});
}

TEST(a_callback_that_returns_a_number_that_is_not_finite_drops_out)
{
    for (int place = 0; place < 4; ++place) {
        assert_drops_out((answer){.sound = true, .place = place, .bad = NAN});
        assert_drops_out((answer){.sound = true, .place = place, .bad = INFINITY});
    }
}

// ---- Reach ---------------------------------------------------------------------------------------------------------------

TEST(the_reach_of_a_goal_is_the_length_of_its_chain)
{
    poise_model *model = new_arm(0);
    int first = 99;
    poise_goal goal = poise_goal_position(LOWER, v3(0, 0, 0.5), v3(9, 0, 0));
    ck_assert_double_eq(poise_goal_reach(&goal, model, &first), 1.5);
    ck_assert_int_eq(first, UPPER);
    goal.body = SLIDE; // as far as it likes
    ck_assert(isinf(poise_goal_reach(&goal, model, &first)));
    ck_assert_int_eq(first, POISE_NONE);
    goal.body = POISE_WORLD; // nothing moves it
    ck_assert(isinf(poise_goal_reach(&goal, model, &first)));

    poise_builder *builder = new_builder(); // turns, does not, turns; what is before the first of them does not count
    poise_joint joint = joint_of("base", NULL, POISE_JOINT_FIXED);
    joint.offset.position = v3(7, 0, 0);
    add(builder, &joint);
    joint = joint_of("turn", "base", POISE_JOINT_REVOLUTE);
    joint.offset.position = v3(5, 0, 0);
    add(builder, &joint);
    joint = joint_of("stiff", "turn", POISE_JOINT_FIXED);
    joint.offset.position = v3(0, 3, 0);
    add(builder, &joint);
    joint = joint_of("ball", "stiff", POISE_JOINT_BALL_EXPMAP);
    joint.offset.position = v3(0, 0, 4);
    add(builder, &joint);
    model = model_of(builder);
    goal.body = 3;
    ck_assert_double_eq(poise_goal_reach(&goal, model, &first), 7.5);
    ck_assert_int_eq(first, 1);
}

TEST(targets_in_millimetres_are_suspected)
{
    poise_model *model = new_arm(0);
    poise_kinematics *kinematics = NULL;
    double q[16], distance, reach;
    poise_goal goal = poise_goal_position(LOWER, v3(0, 0, 0.5), v3(0, 0, 0));
    poise_model_neutral(model, q);
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kinematics, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_update(kinematics, q, NULL), POISE_OK);
    poise_vec3 here = poise_kinematics_point(kinematics, LOWER, v3(0, 0, 0.5));
    goal.target.position = v3(1e3 * here.x, 1e3 * here.y, 1e3 * here.z);
    ck_assert(poise_goal_suspect_millimetres(&goal, kinematics, &distance, &reach));
    ck_assert_double_eq(reach, 1.5);
    ck_assert_double_gt(distance, 30 * reach);
    goal.target.position = here;
    ck_assert(!poise_goal_suspect_millimetres(&goal, kinematics, NULL, NULL));
    goal.target.position = v3(10 * reach, 0, 0); // out of reach, and no thousandfold
    ck_assert(!poise_goal_suspect_millimetres(&goal, kinematics, NULL, NULL));
    goal.target.position = v3(1e5 * reach, 0, 0);
    ck_assert(!poise_goal_suspect_millimetres(&goal, kinematics, NULL, NULL));
    goal = poise_goal_aim(LOWER, v3(0, 0, 0), v3(0, 0, 1), v3(1e3, 0, 0)); // may be as far as it likes
    ck_assert(!poise_goal_suspect_millimetres(&goal, kinematics, NULL, NULL));
    poise_kinematics_destroy(kinematics);
}
