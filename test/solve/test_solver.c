// The frame of a solve: restarts, locks, corners of limits, when to stop.
#include "solve/solver.h"
#include "support/problems.h"
#include "support/skeleton.h"

#include <math.h>
#include <poise/papers.h>
#include <string.h>

static poise_solver *solver_for(const poise_model *model, const poise_solver_options *options)
{
    poise_solver *solver = NULL;
    ck_assert_int_eq(poise_solver_create(model, options, NULL, &solver, NULL), POISE_OK);
    return solver;
}

static poise_report solve(const poise_model *model, const poise_solver_options *options, const poise_goal *goals, int count,
                          double *q)
{
    poise_solver *solver = solver_for(model, options);
    poise_report report;
    ck_assert_int_eq(poise_solve(solver, goals, count, q, &report, NULL), POISE_OK);
    poise_solver_destroy(solver);
    return report;
}

static poise_solver_options options_for(poise_method method)
{
    poise_solver_options options = poise_solver_options_default();
    options.method = method;
    options.engine = poise_papers_engine(options.method);
    options.max_iterations = 1000;
    return options;
}

// ---- Restarts ------------------------------------------------------------------------------------------------------------

// A hinge in +-2.5 whose tip wants to be at the angle 3: from angles above 3 - pi it ends at 2.5, which is nearer, else at
// -2.5, which the posture below likes much better.
static double angle_after_restarts(poise_method method, double start)
{
    poise_builder *builder = new_builder();
    poise_joint hinge = joint_of("hinge", NULL, POISE_JOINT_REVOLUTE);
    hinge.lower[0] = -2.5;
    hinge.upper[0] = 2.5;
    add(builder, &hinge);
    poise_model *model = model_of(builder);
    double q = start, liked = -2.5, s, c;
    poise_sincos(3.0, &s, &c);
    poise_goal goals[2] = {poise_goal_position(0, poise_vec3_make(1, 0, 0), poise_vec3_make(c, s, 0)),
                           poise_goal_posture(&liked, 10.0)};
    goals[1].priority = 1;
    poise_solver_options options = options_for(method);
    options.restarts = 30;
    solve(model, &options, goals, 2, &q);
    return q;
}

TEST(restarts_compare_level_by_level)
{
    static const poise_method methods[] = {POISE_METHOD_PRIORITY, POISE_METHOD_PSEUDO_INVERSE};
    for (size_t m = 0; m < TEST_COUNT(methods); ++m) {
        ck_assert_double_eq(angle_after_restarts(methods[m], 0.3), 2.5);  // the first end is kept, though others cost less
        ck_assert_double_eq(angle_after_restarts(methods[m], -0.5), 2.5); // it gives way to one that costs more
    }
}

TEST(restarts_compare_by_cost_without_levels)
{
    ck_assert_double_lt(angle_after_restarts(POISE_METHOD_LEVENBERG_MARQUARDT, 0.3), -2.0);
}

// Levels of goals without rows must fit as well.
TEST(a_model_without_freedom_takes_no_more_levels_than_fit)
{
    poise_builder *builder = new_builder();
    add_plain(builder, "still", NULL, POISE_JOINT_FIXED);
    poise_model *model = model_of(builder);
    poise_solver_options options = options_for(POISE_METHOD_PRIORITY);
    poise_solver *solver = solver_for(model, &options);
    poise_goal goals[200];
    double q[1] = {0};
    for (int i = 0; i < 200; ++i) {
        goals[i] = poise_goal_posture(q, 1.0);
        goals[i].priority = i;
    }
    ck_assert_int_eq(poise_solve(solver, goals, 200, q, NULL, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_solve(solver, goals, 6, q, NULL, NULL), POISE_OK);
    poise_solver_destroy(solver);
}

// ---- Locks ---------------------------------------------------------------------------------------------------------------

// The way to the goal leads through vectors longer than pi, whose short form has another value in the locked coordinate.
TEST_ROWS(a_rotation_vector_with_a_locked_part_keeps_its_form, POISE_METHOD_COUNT)
{
    static const poise_joint_type types[] = {POISE_JOINT_BALL_EXPMAP, POISE_JOINT_FREE_EXPMAP};
    for (int round = 0; round < 2 && !facts_of[test_row].points; ++round) { // points have no orientations
        poise_builder *builder = new_builder();
        add_plain(builder, "ball", NULL, types[round % 2]);
        poise_model *model = model_of(builder);
        int first = round % 2 ? 3 : 0, method = test_row;
        double start[6] = {0}, q[6], there[3] = {1.6, 0.9, 3.0}; // of length 3.5
        start[first] = 0.5, start[first + 1] = 0.3, start[first + 2] = 3.0;
        poise_expmap map;
        ck_assert_int_eq(poise_expmap_make(poise_vec3_make(there[0], there[1], there[2]), &map, NULL), POISE_OK);
        ck_assert(map.reparameterised);
        poise_goal goal = poise_goal_orientation(0, map.q);
        bool locked[6] = {false};
        locked[first + 2] = true;
        poise_solver_options options = options_for((poise_method)method);
        options.locked = locked;
        memcpy(q, start, sizeof q);
        poise_report report = solve(model, &options, &goal, 1, q);
        ck_assert_msg(report.outcome == POISE_OUTCOME_REACHED, "%s: %s", facts_of[method].name, report.reason);
        ck_assert_mem_eq(&q[first + 2], &start[first + 2], sizeof q[0]);
    }
}

// ---- Corners -------------------------------------------------------------------------------------------------------------

#define A     1.2
#define B     0.8
#define BOUND 0.6

static poise_model *bounded_swing(void)
{
    poise_builder *builder = new_builder();
    poise_joint joint = joint_of("swing", NULL, POISE_JOINT_SWING_TWIST);
    joint.swing[0] = A;
    joint.swing[1] = B;
    joint.upper[0] = BOUND;
    add(builder, &joint);
    return model_of(builder);
}

// The point of the edge, within the bound, that is nearest to (x, y), by bisection of the slope along it.
static void nearest_on_edge(double x, double y, double *q)
{
    double low = acos(BOUND / A), high = acos(-1.0) / 2;
    for (int i = 0; i < 60; ++i) {
        double t = 0.5 * (low + high);
        double slope = (A * cos(t) - x) * -A * sin(t) + (B * sin(t) - y) * B * cos(t);
        *(slope > 0 ? &high : &low) = t;
    }
    q[0] = A * cos(low);
    q[1] = B * sin(low);
}

// A posture at (x, y, 0) from the start, by a method that takes it. It comes to rest at 1e-9 times the slope; the answer is
// the square root of what the cost's rounding hides off, 1e-8, or better.
static void check_corner(int method, double x, double y, const double *start)
{
    poise_model *model = bounded_swing();
    double posture[3] = {x, y, 0}, expected[2], q[3];
    nearest_on_edge(x, y, expected);
    poise_goal goal = poise_goal_posture(posture, 1.0);
    if (!method_serves(method, &goal)) {
        return;
    }
    poise_solver_options options = options_for((poise_method)method);
    const char *name = facts_of[method].name;
    memcpy(q, start, sizeof q);
    poise_report report = solve(model, &options, &goal, 1, q);
    ck_assert_msg(report.outcome == POISE_OUTCOME_CLOSEST, "%s: (%g, %g), %s", name, x, y, report.reason);
    ck_assert_msg(fabs(q[0] - expected[0]) + fabs(q[1] - expected[1]) <= 1e-6, "%s: (%.9g, %.9g), not (%.9g, %.9g)", name,
                  q[0], q[1], expected[0], expected[1]);
    ck_assert(poise_model_within_limits(model, q));
}

static const double inside[3] = {0.1, -0.2, 0.3}, corner[3] = {BOUND, 0.6928203230275507, 0.3};

TEST_ROWS(a_corner_of_box_and_ellipse_is_the_closest, POISE_METHOD_COUNT)
{
    check_corner(test_row, 2.0, 2.0, inside);
    check_corner(test_row, 2.0, 2.0, corner);
    check_corner(test_row, 1.5, 1.0, inside);
}

TEST_ROWS(a_swing_leaves_a_corner_along_the_edge, POISE_METHOD_COUNT)
{
    check_corner(test_row, 0.7, 2.0, inside);
    check_corner(test_row, 0.7, 2.0, corner);
    check_corner(test_row, 0.3, 2.5, corner);
}

// ---- Stopping ------------------------------------------------------------------------------------------------------------

// |g_i| <= tolerance sqrt(2 f) sqrt(G_ii) at the answer: the way in of the slide divides G of the hinge by 900.
TEST_ROWS(the_closest_pose_is_stationary_by_the_diagonal_there, POISE_METHOD_COUNT)
{
    poise_builder *builder = new_builder();
    add_plain(builder, "hinge", NULL, POISE_JOINT_REVOLUTE);
    poise_joint slide = joint_of("slide", "hinge", POISE_JOINT_PRISMATIC);
    slide.axis = poise_vec3_make(1, 0, 0);
    slide.lower[0] = 1.0;
    slide.upper[0] = 1000.0;
    add(builder, &slide);
    poise_model *model = model_of(builder);
    poise_goal goal = poise_goal_position(1, poise_vec3_make(0, 0, 0), poise_vec3_make(0.5, 0, 0));
    poise_objective *objective = NULL;
    ck_assert_int_eq(poise_objective_create(model, 0, NULL, &objective, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_set_goals(objective, &goal, 1, NULL), POISE_OK);
    poise_solver_options options = options_for((poise_method)test_row);
    options.gradient_tolerance = 1e-3;
    double q[2] = {0.9, 30.0}, G[2];
    if (!method_is_geometric(test_row)) {
        poise_report report = solve(model, &options, &goal, 1, q);
        ck_assert_int_eq(report.outcome, POISE_OUTCOME_CLOSEST);
        ck_assert_int_eq(poise_objective_evaluate(objective, q, POISE_LEVEL_HESSIAN, NULL), POISE_OK);
        ck_assert_int_eq(pz_objective_diagonal(objective, POISE_HESSIAN_GAUSS_NEWTON, G), POISE_OK);
        double g = fabs(poise_objective_value(objective).gradient[0]), f = poise_objective_value(objective).cost;
        ck_assert_double_eq(q[1], 1.0);
        ck_assert_msg(g <= options.gradient_tolerance * sqrt(2 * f * G[0]), "%s: cosine %g", facts_of[test_row].name,
                      g / sqrt(2 * f * G[0]));
    }
    poise_objective_destroy(objective);
}

// ---- Trace ---------------------------------------------------------------------------------------------------------------

// The gradient is 1e10 and the first length 1e300: a direction that overflows is not searched, and what the trace says of
// the step is not what the memory held.
TEST(a_search_that_cannot_begin_traces_a_step_of_zero)
{
    poise_builder *builder = new_builder();
    poise_joint hinge = joint_of("hinge", NULL, POISE_JOINT_REVOLUTE);
    add(builder, &hinge);
    poise_model *model = model_of(builder);
    poise_trace trace[4];
    poise_solver_options options = options_for(POISE_METHOD_GRADIENT_DESCENT);
    options.damping = 1e300;
    options.trace = trace;
    options.trace_capacity = 4;
    size_t size = pz_solver_size(model, &options);
    void *memory = malloc(size);
    ck_assert_ptr_nonnull(memory);
    memset(memory, 0x5a, size); // a number near 1e132
    poise_solver *solver = pz_solver_init(model, &options, memory, size);
    poise_goal goal = poise_goal_position(0, poise_vec3_make(1, 0, 0), poise_vec3_make(0, 1e10, 0));
    double q = 0.0;
    poise_report report;
    ck_assert_int_eq(poise_solve(solver, &goal, 1, &q, &report, NULL), POISE_OK);
    ck_assert_int_eq(report.traced, 1);
    ck_assert(!trace[0].accepted);
    ck_assert_double_eq(trace[0].step, 0.0);
    free(memory);
}

// ---- Saddles -------------------------------------------------------------------------------------------------------------

// Three hinges in a straight line; the target lies on that line, nearer than the tip. No slope leads away from there.
TEST(a_straight_arm_bends_to_reach_along_its_own_line)
{
    poise_builder *builder = new_builder();
    static const char *const names[3] = {"a", "b", "c"};
    for (int i = 0; i < 3; ++i) {
        poise_joint hinge = joint_of(names[i], i == 0 ? NULL : names[i - 1], POISE_JOINT_REVOLUTE);
        hinge.offset.position.x = i == 0 ? 0.0 : 1.0;
        add(builder, &hinge);
    }
    poise_model *model = model_of(builder);
    double q[3] = {0.0, 0.0, 0.0};
    poise_goal goal = poise_goal_position(2, poise_vec3_make(1, 0, 0), poise_vec3_make(1.5, 0, 0));
    poise_solver_options options = options_for(POISE_METHOD_AUTO);
    poise_report report = solve(model, &options, &goal, 1, q);
    ck_assert_int_eq(report.outcome, POISE_OUTCOME_REACHED);
    ck_assert_double_lt(report.worst_length, 1e-6);
}

// A bone with two markers, half a turn off about its own length: the markers' pulls add up to none.
TEST(a_bone_half_a_turn_off_turns_back)
{
    for (int type = POISE_JOINT_BALL_EULER; type <= POISE_JOINT_BALL_QUATERNION; ++type) {
        poise_builder *builder = new_builder();
        poise_joint ball = joint_of("bone", NULL, (poise_joint_type)type);
        add(builder, &ball);
        poise_model *model = model_of(builder);
        double q[4];
        poise_model_neutral(model, q);
        poise_goal goals[3] = {
            poise_goal_position(0, poise_vec3_make(1, 0, 0), poise_vec3_make(1, 0, 0)),
            poise_goal_position(0, poise_vec3_make(0.5, 0.1, 0), poise_vec3_make(0.5, -0.1, 0)),
            poise_goal_position(0, poise_vec3_make(0.5, 0, 0.1), poise_vec3_make(0.5, 0, -0.1)),
        };
        poise_solver_options options = options_for(POISE_METHOD_AUTO);
        poise_report report = solve(model, &options, goals, 3, q);
        ck_assert_msg(report.outcome == POISE_OUTCOME_REACHED, "%s: cost %g, %s",
                      poise_joint_type_name((poise_joint_type)type), report.cost, report.reason);
    }
}

// From folded and straight starts: out of reach the arm stretches out towards the target, within reach it arrives.
TEST(the_closest_pose_is_no_saddle)
{
    int closest = 0;
    for (int trial = 0; trial < 50; ++trial) {
        poise_builder *builder = new_builder();
        static const char *const names[4] = {"a", "b", "c", "d"};
        for (int i = 0; i < 4; ++i) {
            poise_joint hinge = joint_of(names[i], i == 0 ? NULL : names[i - 1], POISE_JOINT_REVOLUTE);
            hinge.offset.position.x = i == 0 ? 0.0 : 1.0;
            add(builder, &hinge);
        }
        poise_model *model = model_of(builder);
        double q[4] = {0.1 * trial, 0.0, trial % 3 == 0 ? 0.0 : 3.14159265358979, 0.0}, angle = 0.1 * trial, s, c;
        poise_sincos(angle, &s, &c);
        double far = trial % 2 == 0 ? 6.0 : 2.2; // out of reach, or within
        poise_goal goal = poise_goal_position(3, poise_vec3_make(1, 0, 0), poise_vec3_make(far * c, far * s, 0));
        poise_solver_options options = options_for(POISE_METHOD_AUTO);
        poise_report report = solve(model, &options, &goal, 1, q);
        ck_assert_msg(far > 4.0 || report.outcome == POISE_OUTCOME_REACHED, "trial %d", trial);
        if (report.outcome == POISE_OUTCOME_CLOSEST) {
            closest += 1;
            ck_assert_double_lt(report.cost, 0.5 * 4.0 + 1e-9); // stretched out towards it
        }
    }
    ck_assert_int_eq(closest, 25);
}

// An eye that would have to be where it looks: the cost is steep beyond all measure there, also along coordinates that
// limits hold. That tells nothing of the one which they leave.
TEST(what_limits_hold_does_not_make_a_slope_a_closest_pose)
{
    scene_random random = scene_random_make(5);
    int closest = 0, stalled = 0;
    for (int trial = 0; trial < 400; ++trial) {
        poise_builder *builder = new_builder();
        poise_joint joint = joint_of("eye", NULL, POISE_JOINT_BALL_EULER);
        for (int i = 1; i < 3; ++i) {
            joint.lower[i] = joint.upper[i] = scene_random_range(&random, -1, 1);
        }
        add(builder, &joint);
        figure f = figure_of(model_of(builder));
        double there = f.q[0] = scene_random_range(&random, -1, 1);
        f.q[1] = joint.lower[1], f.q[2] = joint.lower[2];
        update(&f);
        poise_vec3 eye = random_vector(&random, 0.3);
        poise_goal goals[2] = {
            poise_goal_aim(0, eye, random_vector(&random, 1), poise_kinematics_point(f.kin, 0, eye)),
            poise_goal_direction(0, random_vector(&random, 1), random_vector(&random, 1)),
        };
        goals[1].weight = 1e-5;
        f.q[0] = there + scene_random_range(&random, -1, 1);
        poise_solver_options options = options_for(POISE_METHOD_AUTO);
        options.max_iterations = 1000;
        poise_report report = solve(f.model, &options, goals, 2, f.q);
        stalled += report.outcome == POISE_OUTCOME_STALLED;
        if (report.outcome == POISE_OUTCOME_CLOSEST) {
            poise_objective *made;
            ck_assert_int_eq(poise_objective_create(f.model, 0, NULL, &made, NULL), POISE_OK);
            poise_objective *objective = own_objective(made);
            double H[9];
            ck_assert_int_eq(poise_objective_set_goals(objective, goals, 2, NULL), POISE_OK);
            ck_assert_int_eq(poise_objective_evaluate(objective, f.q, POISE_LEVEL_HESSIAN, NULL), POISE_OK);
            ck_assert_int_eq(poise_objective_hessian(objective, POISE_HESSIAN_GAUSS_NEWTON, H, NULL), POISE_OK);
            double cosine = fabs(poise_objective_value(objective).gradient[0]) / sqrt(2 * report.cost * H[0]);
            ck_assert_msg(cosine <= 0.01, "trial %d: cosine %g", trial, cosine);
            closest += 1;
        }
    }
    ck_assert_int_gt(closest, 100);
    ck_assert_int_gt(stalled, 100);
}

// ---- Cold starts ---------------------------------------------------------------------------------------------------------

// Markers on a figure that differs from the current one by its root alone: aligned, all are where they should be. Rounding
// of lengths of up to 10.
TEST(an_aligned_root_puts_every_marker_where_only_the_root_was_wrong)
{
    static const poise_joint_type types[] = {POISE_JOINT_FREE, POISE_JOINT_FREE_EXPMAP, POISE_JOINT_FREE_EULER};
    scene_random random = scene_random_make(19);
    for (int round = 0; round < 60; ++round) {
        poise_builder *builder = new_builder();
        static const char *const names[] = {"root", "arm", "hand"};
        for (int k = 0; k < 3; ++k) {
            poise_joint joint = random_joint(&random, k == 0 ? types[round % 3] : POISE_JOINT_REVOLUTE);
            joint.name = names[k];
            joint.parent = k > 0 ? names[k - 1] : NULL;
            add(builder, &joint);
        }
        poise_model *model = model_of(builder);
        poise_solver_options options = poise_solver_options_default();
        bool locked[8] = {[6] = round % 2}; // a joint that hangs from the root
        options.locked = locked;
        poise_solver *solver;
        poise_kinematics *kin;
        poise_report report;
        poise_goal goals[4];
        double there[9], q[9], ignored[9];
        ck_assert_int_eq(poise_solver_create(model, &options, NULL, &solver, NULL), POISE_OK);
        ck_assert_int_eq(poise_kinematics_create(model, NULL, &kin, NULL), POISE_OK);
        scene_random_configuration(&random, model, there);
        scene_random_configuration(&random, model, q);
        memcpy(ignored, there, sizeof ignored);
        q[model->nq - 2] = there[model->nq - 2], q[model->nq - 1] = there[model->nq - 1];
        ck_assert_int_eq(poise_kinematics_update(kin, there, NULL), POISE_OK);
        for (int i = 0; i < 4; ++i) {
            poise_vec3 local = random_vector(&random, 1.0);
            goals[i] = poise_goal_position(i % 3, local, poise_kinematics_point(kin, i % 3, local));
        }
        ck_assert_int_eq(poise_solve(solver, goals, 4, ignored, &report, NULL), POISE_OK); // takes the goals
        ck_assert_int_eq(poise_kinematics_update(kin, q, NULL), POISE_OK);
        ck_assert(pz_align_root(solver, kin, q));
        ck_assert_int_eq(poise_kinematics_update(kin, q, NULL), POISE_OK);
        for (int i = 0; i < 4; ++i) {
            poise_vec3 at = poise_kinematics_point(kin, goals[i].body, goals[i].local.position);
            poise_vec3 to = goals[i].target.position;
            ck_assert_msg(fabs(at.x - to.x) + fabs(at.y - to.y) + fabs(at.z - to.z) < 1e-12, "figure %d, marker %d", round,
                          i);
        }
        poise_kinematics_destroy(kin);
        poise_solver_destroy(solver);
    }
}

// ---- Options -------------------------------------------------------------------------------------------------------------

TEST(a_tolerance_of_conjugate_gradients_is_positive)
{
    static const double bad[] = {0.0, -1e-3, NAN};
    poise_builder *builder = new_builder();
    add_plain(builder, "hinge", NULL, POISE_JOINT_REVOLUTE);
    poise_model *model = model_of(builder);
    for (size_t i = 0; i < TEST_COUNT(bad); ++i) {
        poise_solver_options options = options_for(POISE_METHOD_TRUST_REGION);
        poise_solver *solver = NULL;
        options.trust_region.cg_tolerance = bad[i];
        ck_assert_int_eq(poise_solver_create(model, &options, NULL, &solver, NULL), POISE_ERROR_ARGUMENT);
        ck_assert_ptr_null(solver);
    }
}

TEST(before_a_solve_and_without_a_solver_there_are_no_errors)
{
    poise_builder *builder = new_builder();
    add_plain(builder, "hinge", NULL, POISE_JOINT_REVOLUTE);
    poise_solver_options options = options_for(POISE_METHOD_AUTO);
    poise_solver *solver = solver_for(model_of(builder), &options);
    poise_goal_error a = poise_solver_goal_error(NULL, 0), b = poise_solver_goal_error(solver, 0);
    ck_assert(a.error == 0 && a.unit == POISE_UNIT_NONE && b.error == 0 && b.unit == POISE_UNIT_NONE);
    ck_assert(poise_solver_active_limit(NULL, 0) == 0 && poise_solver_active_limit(solver, 0) == 0);
    poise_solver_destroy(solver);
}

// ---- What is said --------------------------------------------------------------------------------------------------------

// Seven hinges, 0.9 long.
static poise_model *seven_hinges(void)
{
    poise_dh_row rows[7];
    for (int i = 0; i < 7; ++i) {
        rows[i] = (poise_dh_row){.a = 0.1, .alpha = i % 2 ? 1.5 : -1.5, .d = 0.05, .lower = -2.8, .upper = 2.8};
    }
    poise_builder *builder = new_builder();
    ck_assert_int_eq(poise_builder_add_dh(builder, "arm", NULL, POISE_DH_CLASSIC, rows, 7, NULL), POISE_OK);
    return model_of(builder);
}

static bool below_zero(void *user, const poise_pose *pose, poise_body_energy *out)
{
    (void)pose;
    out->energy = *(const double *)user;
    return true;
}

// Rows: the methods that take callbacks. An energy below 0 made every solve REACHED, whatever its goals missed.
TEST_ROWS(energies_below_zero_are_never_met, 4)
{
    static const poise_method methods[] = {POISE_METHOD_AUTO, POISE_METHOD_LEVENBERG_MARQUARDT, POISE_METHOD_BFGS,
                                           POISE_METHOD_TRUST_REGION};
    poise_model *arm = seven_hinges();
    poise_solver_options options = options_for(methods[test_row]);
    int tip = poise_model_info(arm).joints - 1;
    double energy = -5.0, q[7] = {0.1, 0.2, 0.3, 0.2, 0.1, 0.2, 0.3};
    poise_goal goals[2] = {poise_goal_position(tip, poise_vec3_make(0, 0, 0), poise_vec3_make(0.2, 0.1, 0.3)),
                           poise_goal_callback(tip, below_zero, &energy)};
    poise_report report = solve(arm, &options, goals, 2, q);
    ck_assert_msg(report.outcome != POISE_OUTCOME_REACHED && report.outcome != POISE_OUTCOME_CLOSEST, "%s", report.reason);
    ck_assert_ptr_nonnull(strstr(report.reason, "below 0"));
    goals[1].weight = 0; // counts for nothing
    report = solve(arm, &options, goals, 2, q);
    ck_assert_msg(report.outcome == POISE_OUTCOME_REACHED && !strstr(report.reason, "below 0"), "%s", report.reason);
    goals[1].weight = 1;
    energy = -1e-17; // rounding
    report = solve(arm, &options, goals, 2, q);
    ck_assert_msg(report.outcome == POISE_OUTCOME_REACHED, "%s", report.reason);
}

// No gradient is small enough: it ends where steps lower neither the cost nor the gradient, and that soon.
TEST(without_a_gradient_tolerance_a_closest_pose_ends_at_rounding)
{
    poise_model *arm = seven_hinges();
    poise_solver_options options = options_for(POISE_METHOD_AUTO);
    options.gradient_tolerance = 0;
    options.max_iterations = 300;
    int tip = poise_model_info(arm).joints - 1;
    for (int k = 0; k < 20; ++k) {
        double q[7] = {0.1 * k, 0.2, 0.3, 0.2, 0.1, 0.2, 0.3};
        poise_goal goal = poise_goal_position(tip, poise_vec3_make(0, 0, 0), poise_vec3_make(2, 0.1 * k, 0.3));
        poise_report report = solve(arm, &options, &goal, 1, q);
        ck_assert_msg(report.outcome == POISE_OUTCOME_CLOSEST && report.iterations < 100, "%d iterations: %s",
                      report.iterations, report.reason);
    }
}

// A posture in the freedom that a goal leaves: the goal is met, the posture is not, and that is said.
TEST(a_posture_beside_goals_that_are_met_is_told_apart)
{
    poise_model *arm = seven_hinges();
    poise_solver_options options = options_for(POISE_METHOD_AUTO);
    int tip = poise_model_info(arm).joints - 1;
    double q[7] = {0}, posture[7] = {0.1, 0.2, 0.3, 0.2, 0.1, 0.2, 0.3};
    poise_goal goals[2] = {poise_goal_position(tip, poise_vec3_make(0, 0, 0), poise_vec3_make(0.2, 0.1, 0.3)),
                           poise_goal_posture(posture, 1e-8)};
    poise_report report = solve(arm, &options, goals, 2, q);
    ck_assert_int_eq(report.outcome, POISE_OUTCOME_CLOSEST);
    ck_assert_double_le(report.worst_length, options.position_tolerance);
    ck_assert_ptr_nonnull(strstr(report.reason, "every goal is met but the soft ones"));
    goals[1].weight = 1.0;
    report = solve(arm, &options, goals, 2, q);
    ck_assert_double_gt(report.worst_length, 1e-3);
    ck_assert_ptr_nonnull(strstr(report.reason, "soft goals pull"));
}

// A cost near 1 tells gradients from 0 down to 1e-8; whoever asks for less gets it.
TEST(a_small_gradient_tolerance_goes_beyond_what_the_cost_tells)
{
    poise_model *arm = seven_hinges();
    poise_solver_options options = options_for(POISE_METHOD_AUTO);
    int tip = poise_model_info(arm).joints - 1;
    double posture[7] = {0.1, 0.2, 0.3, 0.2, 0.1, 0.2, 0.3}, largest[2] = {0, 0};
    for (int small = 0; small < 2; ++small) {
        options.gradient_tolerance = small ? 1e-14 : 1e-9;
        for (int i = 0; i < 40; ++i) {
            double q[7] = {0};
            poise_vec3 target = poise_vec3_make(0.05 * i, 0.1, 0.3);
            poise_goal goals[2] = {poise_goal_position(tip, poise_vec3_make(0, 0, 0), target),
                                   poise_goal_posture(posture, 0.7)};
            poise_report report = solve(arm, &options, goals, 2, q);
            ck_assert_int_eq(report.outcome, POISE_OUTCOME_CLOSEST);
            ck_assert_double_le(report.cost, report.start_cost);
            largest[small] = fmax(largest[small], report.gradient);
        }
    }
    ck_assert_double_gt(largest[0], 1e-11);
    ck_assert_double_le(largest[1], 1e-13);
}
