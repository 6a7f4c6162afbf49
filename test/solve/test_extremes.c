// No numbers but finite ones come back, whatever goes in: targets, weights and starts at the ends of what doubles can hold.
#include "scenes/scenes.h"
#include "support/problems.h"
#include "support/skeleton.h"
#include "support/test_main.h"

#include <math.h>
#include <poise/papers.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define ROUNDS 60 // a tenth of the speed
#else
#define ROUNDS 300
#endif
#define JOINTS 8

static const double values[] = {1e308,  -1.7e308, 1e300,   -1e200, 1e160,  -1.3e154, 1e100,  1e20,
                                -1e-20, 1e-160,   -1e-308, 5e-324, -1e-15, 0.0,      -1e150, 1e17};

static double any(scene_random *random)
{
    return values[scene_random_index(random, (int)TEST_COUNT(values))];
}

static double any_positive(scene_random *random)
{
    return fabs(any(random));
}

static poise_vec3 any_vector(scene_random *random)
{
    poise_vec3 v = random_vector(random, 1.0);
    double x = any(random), y = any(random);
    int which = scene_random_index(random, 4);
    return which == 0   ? poise_vec3_make(x, v.y, v.z)
           : which == 1 ? poise_vec3_make(x, -x, v.z)
           : which == 2 ? poise_vec3_make(v.x, x, y)
                        : poise_vec3_make(x, x, x);
}

// The goal asks for what is so already, where the point is: an aim at its own point, a distance of 0.
static void ask_for_the_present(const problem *p, poise_goal *goal)
{
    poise_kinematics *kin = NULL;
    ck_assert_int_eq(poise_kinematics_create(p->model, NULL, &kin, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_update(kin, p->start, NULL), POISE_OK);
    goal->target.position = poise_kinematics_point(kin, goal->body, goal->local.position);
    goal->distance = 0.0;
    poise_kinematics_destroy(kin);
}

static void spoil_goal(scene_random *random, const problem *p, poise_goal *goal)
{
    switch (scene_random_index(random, 10)) {
    case 0:
    case 1:
        goal->target.position = any_vector(random);
        break;
    case 2:
        goal->local.position = any_vector(random);
        break;
    case 3:
        goal->weight = any_positive(random);
        break;
    case 4:
        goal->rotation_weight = any_positive(random);
        break;
    case 5:
        goal->distance = any_positive(random);
        break;
    case 6:
        goal->loss = (poise_loss)(1 + scene_random_index(random, 2));
        goal->loss_scale = any_positive(random);
        break;
    case 7:
        goal->tolerance = poise_vec3_make(any_positive(random), INFINITY, any_positive(random));
        break;
    case 8:
        goal->weight = goal->rotation_weight = 0.0;
        break;
    default:
        ask_for_the_present(p, goal);
        break;
    }
}

static void spoil_numbers(scene_random *random, double *x, int count)
{
    for (int i = 0; i < count; ++i) {
        x[i] = scene_random_index(random, 3) == 0 ? any(random) : x[i];
    }
}

static void spoil_options(scene_random *random, problem *p)
{
    poise_solver_options *o = &p->options;
    double *fields[] = {&o->damping,
                        &o->rows.clamp,
                        &o->step_limit,
                        &o->position_tolerance,
                        &o->cost_tolerance,
                        &o->gradient_tolerance,
                        method_is_geometric((int)o->method) ? &o->rows.clamp : &o->prior};
    *fields[scene_random_index(random, (int)TEST_COUNT(fields))] = any_positive(random);
    o->restarts = scene_random_index(random, 3);
    o->use_limits = scene_random_index(random, 3) > 0;
}

static void spoil(scene_random *random, problem *p)
{
    int which = scene_random_index(random, 8);
    poise_goal *goal = p->count > 0 ? &p->goals[scene_random_index(random, p->count)] : NULL;
    if (which < 4 && goal) {
        spoil_goal(random, p, goal);
    } else if (which == 4) {
        spoil_numbers(random, p->start, p->nq);
    } else if (which == 5) {
        spoil_numbers(random, p->all.posture, p->nq);
        spoil_numbers(random, p->all.weights, p->nv);
    } else {
        spoil_options(random, p);
    }
}

static bool trace_is_finite(const problem *p, const answer *a)
{
    for (int i = 0; i < a->report.traced; ++i) {
        const poise_trace *t = &p->trace[i];
        if (!isfinite(t->cost) || !isfinite(t->gradient) || !isfinite(t->damping) || !isfinite(t->step)) {
            return false;
        }
    }
    return true;
}

static void check(problem *p, const char *name)
{
    poise_solver *solver = NULL;
    if (poise_solver_create(p->model, &p->options, NULL, &solver, NULL) != POISE_OK) {
        return; // options that make no sense
    }
    answer a = problem_solve_with(p, solver);
    if (a.status == POISE_OK) {
        ck_assert_msg(answer_is_finite(p, &a), "%s: cost %g to %g, gradient %g, distance %g, errors %g, %g", name,
                      a.report.start_cost, a.report.cost, a.report.gradient, a.report.distance, a.report.worst_length,
                      a.report.worst_angle);
        ck_assert_msg(trace_is_finite(p, &a), "%s: trace", name);
        ck_assert_msg(!p->options.use_limits || poise_model_within_limits(p->model, a.q), "%s: limits", name);
        for (int i = 0; i < p->count; ++i) {
            poise_goal_error e = poise_solver_goal_error(solver, i);
            ck_assert_msg(!isnan(e.error) && !isnan(e.rotation_error), "%s: error of goal %d", name, i);
        }
    } else {
        ck_assert_msg(a.status == POISE_ERROR_ARGUMENT || a.status == POISE_ERROR_UNSUPPORTED, "%s: %s", name,
                      poise_status_name(a.status));
        ck_assert_msg(memcmp(a.q, p->start, (size_t)p->nq * sizeof *a.q) == 0, "%s: q has changed", name);
        ck_assert_msg(a.error.text[0] != '\0', "%s: no reason", name);
    }
    poise_solver_destroy(solver);
}

static void check_method(poise_method method, bool arms)
{
    scene_random random = scene_random_make(100 + (uint64_t)method + (arms ? 50 : 0));
    for (int round = 0; round < ROUNDS; ++round) {
        problem *p = arms ? problem_make_arm(&random, 2 + scene_random_index(&random, 7))
                          : problem_make(&random, method, JOINTS, round % 3 ? PROBLEM_LIMITS : PROBLEM_PLAIN);
        ck_assert_ptr_nonnull(p);
        p->options.max_iterations = 20;
        for (int i = 1 + scene_random_index(&random, 2); i > 0; --i) {
            spoil(&random, p);
        }
        char name[64];
        snprintf(name, sizeof name, "%s%s, problem %d", poise_method_name(method), arms ? " on an arm" : "", round);
        check(p, name);
        problem_destroy(p);
    }
}

TEST(nothing_but_finite_numbers_comes_back_on_arms)
{
    check_method(POISE_METHOD_AUTO, true);
}

TEST_ROWS(nothing_but_finite_numbers_comes_back, POISE_METHOD_COUNT)
{
    check_method((poise_method)test_row, false);
}

// A swing with an ellipse far within its box, from a start at its corner.
TEST(every_method_keeps_a_swing_in_its_ellipse)
{
    poise_builder *builder = new_builder();
    poise_joint joint = poise_joint_default();
    joint.name = "a";
    joint.type = POISE_JOINT_SWING_TWIST;
    joint.swing[0] = joint.swing[1] = 0.3;
    joint.lower[0] = joint.lower[1] = 0.0;
    joint.upper[0] = joint.upper[1] = 1000.0;
    add(builder, &joint);
    poise_model *model = model_of(builder);
    scene_random random = scene_random_make(12);
    for (int m = 0; m < POISE_METHOD_COUNT; ++m) {
        poise_solver_options options = poise_solver_options_default();
        options.method = (poise_method)m;
        options.engine = poise_papers_engine(options.method);
        poise_solver *solver = NULL;
        ck_assert_int_eq(poise_solver_create(model, &options, NULL, &solver, NULL), POISE_OK);
        for (int trial = 0; trial < 300; ++trial) {
            poise_vec3 local = random_vector(&random, 1.0), target = random_vector(&random, 1.0);
            poise_goal goal = poise_goal_position(0, local, target);
            double q[3] = {scene_random_range(&random, 0, 0.3), scene_random_range(&random, 0, 0.3), 0.1};
            poise_status status = poise_solve(solver, &goal, 1, q, NULL, NULL);
            ck_assert(status == POISE_OK || status == POISE_ERROR_UNSUPPORTED);
            ck_assert_msg(status != POISE_OK || poise_model_within_limits(model, q), "%s: swing %g %g",
                          poise_method_name((poise_method)m), q[0], q[1]);
        }
        poise_solver_destroy(solver);
    }
}

// Weights have no unit: with all of them multiplied the answer is the same, up to what doubles can square. Powers of
// two, about 1e-120 to 1e260, round nothing: after other rounding a search may end in another of several minima.
TEST(answers_do_not_depend_on_the_scale_of_weights)
{
    static const double scales[] = {0x1p-399, 0x1p-133, 0x1p133, 0x1p399, 0x1p532, 0x1p664, 0x1p864};
    poise_model *model = NULL;
    poise_solver *solver = NULL;
    poise_solver_options options = poise_solver_options_default();
    scene_random random = scene_random_make(7);
    ck_assert_int_eq(scene_create("humanoid", NULL, &model, NULL), POISE_OK);
    ck_assert_int_eq(poise_solver_create(model, &options, NULL, &solver, NULL), POISE_OK);
    for (int round = 0; round < 20; ++round) {
        double expected[PROBLEM_NUMBERS], q[PROBLEM_NUMBERS];
        poise_goal goals[3];
        for (int i = 0; i < 3; ++i) {
            int body = scene_random_index(&random, poise_model_info(model).joints);
            poise_vec3 point = random_vector(&random, 0.1), target = random_vector(&random, 2.0);
            goals[i] = poise_goal_position(body, point, target);
        }
        poise_report report, other;
        poise_model_neutral(model, expected);
        ck_assert_int_eq(poise_solve(solver, goals, 3, expected, &report, NULL), POISE_OK);
        for (size_t s = 0; s < TEST_COUNT(scales); ++s) {
            for (int i = 0; i < 3; ++i) {
                goals[i].weight = scales[s];
            }
            poise_model_neutral(model, q);
            ck_assert_int_eq(poise_solve(solver, goals, 3, q, &other, NULL), POISE_OK);
            ck_assert_msg(other.outcome == report.outcome, "weights of %g: %s instead of %s", scales[s], other.reason,
                          report.reason);
            ck_assert_double_le(fabs(other.worst_length - report.worst_length), 1e-6);
        }
        goals[0].weight = goals[1].weight = goals[2].weight = 1.0;
    }
    poise_solver_destroy(solver);
    poise_model_destroy(model);
}

// ---- Skeletons -----------------------------------------------------------------------------------------------------------

// Joints of every type, one below the other or as a tree, with bones of the size `scale`; every third has zero-width limits.
static poise_model *skeleton(scene_random *random, int count, bool is_chain, double scale)
{
    poise_builder *builder = new_builder();
    char name[16], parent[16];
    for (int i = 0; i < count; ++i) {
        poise_joint joint = random_joint(random, (poise_joint_type)scene_random_index(random, POISE_JOINT_TYPE_COUNT));
        bool has_quaternion = joint.type == POISE_JOINT_BALL_QUATERNION || joint.type == POISE_JOINT_FREE;
        for (int c = 0; c < 7 && i % 3 == 0 && !has_quaternion; ++c) {
            joint.lower[c] = joint.upper[c] = scene_random_range(random, -1.0, 1.0);
        }
        poise_vec3 p = joint.offset.position;
        joint.offset.position = poise_vec3_make(p.x * scale, p.y * scale, p.z * scale);
        snprintf(name, sizeof name, "j%d", i);
        snprintf(parent, sizeof parent, "j%d", is_chain ? i - 1 : scene_random_index(random, i + 1) - 1);
        joint.name = name;
        joint.parent = strcmp(parent, "j-1") == 0 ? NULL : parent;
        add(builder, &joint);
    }
    return model_of(builder);
}

static void check_skeleton(scene_random *random, const poise_model *model, poise_method method, double scale)
{
    poise_model_summary info = poise_model_info(model);
    poise_solver_options options = poise_solver_options_default();
    options.method = method;
    options.engine = poise_papers_engine(options.method);
    options.max_iterations = 4;
    poise_solver *solver;
    ck_assert_int_eq(poise_solver_create(model, &options, NULL, &solver, NULL), POISE_OK);
    double *q = calloc((size_t)info.nq + 1, sizeof *q);
    poise_goal goals[3];
    for (int i = 0; i < 3; ++i) {
        int body = i == 0 ? info.joints - 1 : scene_random_index(random, info.joints);
        goals[i] = poise_goal_position(body, random_vector(random, 0.1 * scale), random_vector(random, scale));
    }
    poise_report report;
    poise_model_neutral(model, q);
    ck_assert_int_eq(poise_solve(solver, goals, 3, q, &report, NULL), POISE_OK);
    ck_assert_msg(poise_model_within_limits(model, q) && report.cost <= report.start_cost, "%s, %d joints, scale %g: %g, %g",
                  poise_method_name(method), info.joints, scale, report.start_cost, report.cost);
    for (int i = 0; i < info.nq; ++i) {
        ck_assert(isfinite(q[i]));
    }
    free(q);
    poise_solver_destroy(solver);
}

TEST(skeletons_of_any_depth_and_scale_keep_their_limits)
{
    static const double scales[] = {1e-12, 1e-6, 1.0, 1e6, 1e12};
    static const poise_method methods[] = {POISE_METHOD_AUTO, POISE_METHOD_LBFGS, POISE_METHOD_GRADIENT_DESCENT};
    scene_random random = scene_random_make(77);
    for (int k = 0; k < 60; ++k) {
        double scale = scales[k % 5];
        int count = k < 2 ? 3000 : 1 + scene_random_index(&random, 60);
        poise_model *model = skeleton(&random, count, k % 2 == 0, scale);
        for (int m = 0; m < (k < 2 ? 1 : 3); ++m) {
            check_skeleton(&random, model, methods[m], scale);
        }
    }
}

// A hinge at its limit, and the goal just behind the other one: a restart finds it, and draws two long slides beside it
// anew. The squares of their way are beyond all numbers, the way is not.
TEST(a_way_is_reported_however_far_it_is)
{
    poise_builder *builder = new_builder();
    for (int i = 0; i < 3; ++i) {
        poise_joint joint = joint_of(i == 0   ? "a"
                                     : i == 1 ? "b"
                                              : "hinge",
                                     NULL, i < 2 ? POISE_JOINT_PRISMATIC : POISE_JOINT_REVOLUTE);
        joint.upper[0] = i < 2 ? 1e201 : 3.0;
        joint.lower[0] = -joint.upper[0];
        joint.axis = poise_vec3_make(0, 0, 1);
        add(builder, &joint);
    }
    poise_model *model = model_of(builder);
    poise_solver_options options = poise_solver_options_default();
    poise_solver *solver = NULL;
    poise_report report;
    double q[] = {3e200, 4e200, 3.0};
    poise_goal goal = poise_goal_position(2, poise_vec3_make(1, 0, 0), poise_vec3_make(cos(3.0), -sin(3.0), 0));
    options.restarts = 50;
    ck_assert_int_eq(poise_solver_create(model, &options, NULL, &solver, NULL), POISE_OK);
    own_solver(solver);
    ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
    ck_assert_double_eq_tol(q[2], -3.0, 1e-3);
    ck_assert_double_gt(report.distance, 1e199);
    ck_assert_double_eq_tol(report.distance, hypot(q[0] - 3e200, q[1] - 4e200), 1e190);
}

// ---- Slides without end --------------------------------------------------------------------------------------------------

// Two arms on a rail, or two carriages of three slides each without a link, whose slides go as far as `end`: the numbers that
// files have for "no end".
static poise_model *model_on_rails(double end, bool has_links)
{
    poise_builder *builder = new_builder();
    static const char *const sides[] = {"left", "right"};
    for (int side = 0; side < 2; ++side) {
        char names[6][16];
        for (int i = 0; i < 6; ++i) {
            bool slides = i == 0 || (!has_links && i < 3);
            snprintf(names[i], sizeof names[i], "%s %d", sides[side], i);
            poise_joint joint =
                joint_of(names[i], i > 0 ? names[i - 1] : NULL, slides ? POISE_JOINT_PRISMATIC : POISE_JOINT_REVOLUTE);
            joint.axis = poise_vec3_make(i % 3 == 0, i % 3 == 1, i % 3 == 2);
            joint.offset.position.z = has_links && i > 0 ? 0.3 : 0.0;
            joint.lower[0] = slides ? -end : -3.0;
            joint.upper[0] = slides ? end : 3.0;
            add(builder, &joint);
        }
    }
    return model_of(builder);
}

TEST(slides_without_end_leave_lengths_their_unit)
{
    static const double ends[] = {10.0, 1e6, 1e20, 1e100, 1e155, 1e200, 1e300, 1.7e308};
    scene_random random = scene_random_make(77);
    for (size_t row = 0; row < 4 * TEST_COUNT(ends); ++row) {
        bool has_links = row % 2, has_two = row / 2 % 2;
        figure f = figure_of(model_on_rails(ends[row / 4], has_links));
        poise_solver_options options = poise_solver_options_default();
        options.start = POISE_START_COLD;
        options.restarts = 30;
        poise_solver *solver = NULL;
        ck_assert_int_eq(poise_solver_create(f.model, &options, NULL, &solver, NULL), POISE_OK);
        own_solver(solver);
        for (int round = 0; round < 20; ++round) {
            double q[12];
            poise_goal goals[2];
            for (int i = 0; i < f.nq; ++i) {
                f.q[i] = scene_random_range(&random, -1.5, 1.5);
                q[i] = 0.0;
            }
            update(&f);
            for (int side = 0; side < 2; ++side) {
                int body = poise_model_find_body(f.model, side ? "right 5" : "left 5");
                goals[side] = poise_goal_pose(body, poise_pose_identity(), poise_kinematics_body_pose(f.kin, body));
            }
            poise_report report;
            ck_assert_int_eq(poise_solve(solver, goals, 1 + has_two, q, &report, NULL), POISE_OK);
            ck_assert_msg(report.outcome == POISE_OUTCOME_REACHED, "slides to %g, %s links, %d goals: %s, %g", ends[row / 4],
                          has_links ? "with" : "without", 1 + has_two, report.reason, report.worst_length);
            ck_assert_int_eq(poise_kinematics_update(f.kin, q, NULL), POISE_OK);
            for (int side = 0; side < 1 + has_two; ++side) {
                poise_vec3 is = poise_kinematics_body_pose(f.kin, goals[side].body).position,
                           t = goals[side].target.position;
                ck_assert_double_le(fabs(is.x - t.x) + fabs(is.y - t.y) + fabs(is.z - t.z), 3e-6);
            }
        }
    }
}
