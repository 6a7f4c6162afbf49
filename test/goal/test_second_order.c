// The second-order methods: LEVENBERG_MARQUARDT, BFGS, LBFGS, TRUST_REGION, NEWTON_PROJECTED, with AUTO beside them.
#include "solve/solver.h"
#include "support/random_goals.h"
#include "support/skeleton.h"

#include "scenes/scenes.h"

#include <math.h>
#include <poise/papers.h>

#define MARKERS    64
#define ITERATIONS 4000 // LBFGS needs about 1500 to the last digits
#define METHODS    7

static const poise_method methods[METHODS] = {POISE_METHOD_AUTO,
                                              POISE_METHOD_LEVENBERG_MARQUARDT,
                                              POISE_METHOD_BFGS,
                                              POISE_METHOD_LBFGS,
                                              POISE_METHOD_TRUST_REGION,
                                              POISE_METHOD_NEWTON_PROJECTED,
                                              POISE_METHOD_CONJUGATE_GRADIENT};
static const char *const humanoids[] = {"humanoid", "humanoid-euler", "humanoid-quaternion"};

static figure figure_of_scene(const char *name)
{
    poise_model *model = NULL;
    ck_assert_int_eq(scene_create(name, NULL, &model, NULL), POISE_OK);
    return figure_of(own_model(model));
}

// ---- Solving with everything that must always hold -----------------------------------------------------------------------

static poise_trace trace[ITERATIONS];

static poise_solver_options options_for(poise_method method, bool use_limits)
{
    poise_solver_options options = poise_solver_options_default();
    options.method = method;
    options.engine = poise_papers_engine(options.method);
    options.use_limits = use_limits;
    options.max_iterations = ITERATIONS;
    options.trace = trace;
    options.trace_capacity = ITERATIONS;
    return options;
}

static void check_report(const figure *f, const poise_solver_options *options, const poise_report *report, const double *q)
{
    const char *name = poise_method_name(options->method);
    for (int i = 0; i < f->nq; ++i) {
        ck_assert_msg(isfinite(q[i]), "%s", name);
    }
    ck_assert_msg(isfinite(report->cost) && isfinite(report->gradient) && isfinite(report->distance), "%s", name);
    ck_assert_msg(!options->use_limits || poise_model_within_limits(f->model, q), "%s leaves the limits", name);
    ck_assert_msg(report->cost <= report->start_cost, "%s: from %g to %g", name, report->start_cost, report->cost);
    for (int i = 1; i < report->traced; ++i) {
        ck_assert_msg(trace[i].cost <= trace[i - 1].cost, "%s: the cost rises in iteration %d", name, i);
        ck_assert_msg(!trace[i].accepted || trace[i].cost < trace[i - 1].cost, "%s: nothing gained by %d", name, i);
    }
    ck_assert_int_le(report->iterations, options->max_iterations);
}

// Solve from q, in place.
static poise_report solve(const figure *f, const poise_solver_options *options, const poise_goal *goals, int count,
                          double *q)
{
    poise_solver *solver = NULL;
    poise_report report;
    ck_assert_int_eq(poise_solver_create(f->model, options, NULL, &solver, NULL), POISE_OK);
    poise_error error;
    ck_assert_msg(poise_solve(solver, goals, count, q, &report, &error) == POISE_OK, "%s", error.text);
    check_report(f, options, &report, q);
    poise_solver_destroy(solver);
    return report;
}

// Goals that put the markers of a humanoid where they are at f->q, each off by `noise`.
static int marker_goals(figure *f, const char *scene, double noise, scene_random *random, poise_goal *goals)
{
    static scene_marker markers[MARKERS];
    int count = scene_markers(scene, markers, MARKERS);
    update(f);
    for (int i = 0; i < count; ++i) {
        poise_vec3 x = poise_kinematics_point(f->kin, markers[i].body, markers[i].local);
        x.x += noise * scene_random_normal(random);
        x.y += noise * scene_random_normal(random);
        x.z += noise * scene_random_normal(random);
        goals[i] = poise_goal_position(markers[i].body, markers[i].local, x);
    }
    return count;
}

// ---- Targets that can be reached -----------------------------------------------------------------------------------------

TEST(arms_reach_targets_nearby)
{
    static const char *const arms[] = {"arm7", "arm2d"};
    scene_random random = scene_random_make(1);
    for (int scene = 0; scene < 2; ++scene) {
        figure f = figure_of_scene(arms[scene]);
        int body = poise_model_tool_info(f.model, 0).body;
        poise_pose tip = poise_model_tool_info(f.model, 0).pose;
        for (int round = 0; round < 10 * (METHODS - 1); ++round) { // AUTO has another way with arms
            double q[FIGURE_NUMBERS];
            scene_random_configuration(&random, f.model, f.q);
            update(&f);
            poise_pose target = poise_pose_multiply(poise_kinematics_body_pose(f.kin, body), tip);
            poise_goal goal =
                scene == 0 ? poise_goal_pose(body, tip, target) : poise_goal_position(body, tip.position, target.position);
            for (int i = 0; i < f.nq; ++i) {
                q[i] = f.q[i] + scene_random_range(&random, -0.1, 0.1);
            }
            poise_solver_options options = options_for(methods[1 + round % (METHODS - 1)], true);
            poise_report report = solve(&f, &options, &goal, 1, q);
            ck_assert_msg(report.outcome == POISE_OUTCOME_REACHED, "%s on %s, round %d: %s, off by %g and %g",
                          poise_method_name(options.method), arms[scene], round, poise_outcome_name(report.outcome),
                          report.worst_length, report.worst_angle);
        }
    }
}

TEST(humanoids_reach_the_markers_of_the_next_frame)
{
    scene_random random = scene_random_make(2);
    for (int scene = 0; scene < 3; ++scene) {
        figure f = figure_of_scene(humanoids[scene]);
        for (int round = 0; round < 2 * METHODS; ++round) {
            poise_goal goals[MARKERS];
            double q[FIGURE_NUMBERS], t = 0.13 * round;
            const char *motion = scene_motion_name(round % scene_motion_count());
            ck_assert_int_eq(scene_motion_pose(f.model, motion, t + 1.0 / 30.0, f.q), POISE_OK);
            int count = marker_goals(&f, humanoids[scene], 0.0, &random, goals);
            ck_assert_int_eq(count, 41);
            ck_assert_int_eq(scene_motion_pose(f.model, motion, t, q), POISE_OK);
            poise_solver_options options = options_for(methods[round % METHODS], round / METHODS == 0);
            poise_report report = solve(&f, &options, goals, count, q);
            ck_assert_msg(report.outcome == POISE_OUTCOME_REACHED, "%s on %s, %s at %g: %s, off by %g",
                          poise_method_name(options.method), humanoids[scene], motion, t, poise_outcome_name(report.outcome),
                          report.worst_length);
        }
    }
}

// ---- Targets that cannot be reached --------------------------------------------------------------------------------------

TEST(all_methods_end_at_the_minimum_of_auto_when_markers_are_noisy)
{
    scene_random random = scene_random_make(3);
    for (int scene = 0; scene < 3; ++scene) {
        figure f = figure_of_scene(humanoids[scene]);
        for (int round = 0; round < 4; ++round) {
            poise_goal goals[MARKERS];
            double start[FIGURE_NUMBERS], q[FIGURE_NUMBERS], best = 0.0, t = 0.2 * round;
            ck_assert_int_eq(scene_motion_pose(f.model, "walk", t + 1.0 / 30.0, f.q), POISE_OK);
            int count = marker_goals(&f, humanoids[scene], 3e-3, &random, goals);
            ck_assert_int_eq(scene_motion_pose(f.model, "walk", t, start), POISE_OK);
            for (int m = 0; m < METHODS; ++m) {
                poise_solver_options options = options_for(methods[m], round % 2);
                memcpy(q, start, sizeof q);
                poise_report report = solve(&f, &options, goals, count, q);
                best = m == 0 ? report.cost : best;
                ck_assert_msg(report.outcome == POISE_OUTCOME_CLOSEST, "%s on %s: %s", poise_method_name(methods[m]),
                              humanoids[scene], poise_outcome_name(report.outcome));
                ck_assert_msg(fabs(report.cost - best) <= 1e-9 * best, "%s on %s: %.12g instead of %.12g",
                              poise_method_name(methods[m]), humanoids[scene], report.cost, best);
            }
        }
    }
}

// The model with each limit, ellipses too, drawn in to `share` of its range.
static figure tightened(const poise_model *model, double share)
{
    poise_builder *builder = new_builder();
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        poise_joint joint = *poise_model_joint_info(model, k).given;
        for (int i = 0; i < 7; ++i) {
            double middle = 0.5 * (joint.lower[i] + joint.upper[i]), half = 0.5 * (joint.upper[i] - joint.lower[i]);
            joint.lower[i] = isfinite(half) ? middle - share * half : joint.lower[i];
            joint.upper[i] = isfinite(half) ? middle + share * half : joint.upper[i];
        }
        joint.swing[0] *= share;
        joint.swing[1] *= share;
        add(builder, &joint);
    }
    return figure_of(model_of(builder));
}

// From the answer on, another method finds nothing lower: it was a minimum within the limits, edges of ellipses included.
TEST(answers_within_tight_limits_are_minima)
{
    scene_random random = scene_random_make(4);
    int active = 0;
    for (int scene = 0; scene < 3; ++scene) {
        figure f = figure_of_scene(humanoids[scene]), tight = tightened(f.model, 0.3);
        for (int round = 0; round < 2 * METHODS; ++round) {
            poise_goal goals[MARKERS];
            double q[FIGURE_NUMBERS], t = 0.17 * round;
            ck_assert_int_eq(scene_motion_pose(f.model, "kick", t, f.q), POISE_OK);
            int count = marker_goals(&f, humanoids[scene], 0.0, &random, goals);
            ck_assert_int_eq(scene_motion_pose(f.model, "kick", t, q), POISE_OK);
            poise_solver_options options = options_for(methods[round % METHODS], true);
            poise_report report = solve(&tight, &options, goals, count, q);
            active += report.active_limits;
            ck_assert_msg(report.outcome == POISE_OUTCOME_CLOSEST, "%s on %s at %g: %s", poise_method_name(options.method),
                          humanoids[scene], t, poise_outcome_name(report.outcome));
            options.method = round % METHODS < 2 ? POISE_METHOD_NEWTON_PROJECTED : POISE_METHOD_AUTO;
            options.engine = poise_papers_engine(options.method);
            poise_report again = solve(&tight, &options, goals, count, q);
            ck_assert_msg(again.cost >= report.cost * (1.0 - 1e-9), "%s on %s at %g: %.12g, and then %.12g",
                          poise_method_name(methods[round % METHODS]), humanoids[scene], t, report.cost, again.cost);
        }
    }
    ck_assert_int_gt(active, 3 * 2 * METHODS * 5); // limits are what this is about
}

// What a method needs when half of its dofs end at a limit, half as much again: slower is broken.
TEST(methods_converge_within_tight_limits_as_fast_as_they_should)
{
    static const int bounds[METHODS] = {16, 80, 270, 480, 27, 19, 540};
    scene_random random = scene_random_make(11);
    for (int scene = 0; scene < 2; ++scene) {
        figure f = figure_of_scene(humanoids[scene]), tight = tightened(f.model, 0.3);
        int iterations[METHODS] = {0}, evaluations[METHODS] = {0}, rounds = 10;
        for (int round = 0; round < rounds; ++round) {
            poise_goal goals[MARKERS];
            double q[FIGURE_NUMBERS], t = scene_motion_duration("kick") * round / rounds;
            ck_assert_int_eq(scene_motion_pose(f.model, "kick", t, f.q), POISE_OK);
            int count = marker_goals(&f, humanoids[scene], 0.0, &random, goals);
            for (int m = 0; m < METHODS; ++m) {
                poise_solver_options options = options_for(methods[m], true);
                ck_assert_int_eq(scene_motion_pose(f.model, "kick", t - 1.0 / 30.0, q), POISE_OK);
                poise_report report = solve(&tight, &options, goals, count, q);
                iterations[m] += report.iterations;
                evaluations[m] += report.evaluations;
            }
        }
        for (int m = 0; m < METHODS; ++m) {
            ck_assert_msg(iterations[m] <= rounds * bounds[m] && evaluations[m] <= 3 * rounds * bounds[m],
                          "%s on %s: %d iterations, %d evaluations in %d solves", poise_method_name(methods[m]),
                          humanoids[scene], iterations[m], evaluations[m], rounds);
        }
    }
}

// TRUST_REGION leaves the bounds to begin with. However soon it has to end, it returns nothing worse than the start.
TEST(trust_region_never_ends_above_a_start_at_the_limits)
{
    scene_random random = scene_random_make(10);
    figure f = figure_of_scene("humanoid-euler"), tight = tightened(f.model, 0.3);
    poise_goal goals[MARKERS];
    double minimum[FIGURE_NUMBERS], q[FIGURE_NUMBERS];
    ck_assert_int_eq(scene_motion_pose(f.model, "kick", 0.4, f.q), POISE_OK);
    int count = marker_goals(&f, "humanoid-euler", 0.0, &random, goals);
    memcpy(minimum, f.q, sizeof minimum);
    poise_solver_options options = options_for(POISE_METHOD_AUTO, true);
    options.gradient_tolerance = 1e-3; // near the minimum, not at it
    solve(&tight, &options, goals, count, minimum);
    options = options_for(POISE_METHOD_TRUST_REGION, true);
    for (int iterations = 1; iterations < 6; ++iterations) {
        options.max_iterations = iterations;
        memcpy(q, minimum, sizeof q);
        solve(&tight, &options, goals, count, q); // checks it
    }
}

// Far from the minimum a step takes 0.95 of the way to the bound that it would cross (Coleman & Li 1996: iterates stay
// strictly inside).
TEST(a_step_of_trust_region_stops_short_of_a_bound)
{
    poise_builder *builder = new_builder();
    poise_joint slide = joint_of("slide", NULL, POISE_JOINT_PRISMATIC);
    slide.axis = poise_vec3_make(1, 0, 0);
    slide.lower[0] = 0.0;
    slide.upper[0] = 1.0;
    add(builder, &slide);
    figure f = figure_of(model_of(builder));
    poise_goal goal = poise_goal_position(0, poise_vec3_make(0, 0, 0), poise_vec3_make(2, 0, 0));
    poise_solver_options options = options_for(POISE_METHOD_TRUST_REGION, true);
    options.max_iterations = 1;
    double q[1] = {0.2};
    solve(&f, &options, &goal, 1, q);
    ck_assert_double_eq_tol(q[0], 0.2 + 0.95 * 0.8, 1e-15);
}

// Two links, one goal in reach, at its border and beyond (Erleben & Andrews 2019, appendix A): wherever a method starts,
// it ends where the goal is met or the gradient vanishes.
TEST(two_links_end_at_stationary_points_from_everywhere)
{
    figure f = figure_of_scene("twolink");
    int body = poise_model_tool_info(f.model, 0).body;
    poise_vec3 tip = poise_model_tool_info(f.model, 0).pose.position;
    for (int m = 0; m < METHODS; ++m) {
        poise_solver_options options = options_for(methods[m], true);
        for (int start = 0; start < 144; ++start) {
            for (int reach = 1; reach <= 3; ++reach) {
                poise_goal goal = poise_goal_position(body, tip, poise_vec3_make(reach, 0, 0));
                double q[2] = {-3.0 + 0.55 * (start % 12), -3.0 + 0.55 * (start / 12)};
                poise_report report = solve(&f, &options, &goal, 1, q);
                ck_assert_msg(report.outcome == POISE_OUTCOME_REACHED || report.gradient < 1e-7, // eps^1/2 of the cost's
                              "%s from start %d to %d: %s, gradient %g", poise_method_name(methods[m]), start, reach,
                              poise_outcome_name(report.outcome), report.gradient);
            }
        }
    }
}

// Two slides in a narrow valley E = (X^2 + Y^2)/2 + rho X Y, X = x + 1, Y = y - 1, with x >= 0.
static bool valley(void *user, const poise_pose *pose, poise_body_energy *out)
{
    double rho = *(const double *)user, X = pose->position.x + 1.0, Y = pose->position.y - 1.0;
    out->energy = 0.5 * (X * X + Y * Y) + rho * X * Y;
    out->gradient[3] = X + rho * Y;
    out->gradient[4] = Y + rho * X;
    out->hessian[3 * 6 + 3] = out->hessian[4 * 6 + 4] = 1.0;
    out->hessian[3 * 6 + 4] = out->hessian[4 * 6 + 3] = rho;
    return true;
}

// The minimum is at x = 0, y = 1 - rho. Close to the bound, where Newton's step for both points far out of it, the bound
// must be held at once: a path that is cut off there goes uphill in y.
TEST(coupled_slides_find_the_minimum_on_a_bound_they_start_close_to)
{
    poise_builder *builder = new_builder();
    poise_joint x = joint_of("x", NULL, POISE_JOINT_PRISMATIC), y = joint_of("y", "x", POISE_JOINT_PRISMATIC);
    x.axis = poise_vec3_make(1, 0, 0);
    x.lower[0] = 0.0;
    y.axis = poise_vec3_make(0, 1, 0);
    add(builder, &x);
    add(builder, &y);
    figure f = figure_of(model_of(builder));
    double rho = 0.9999;
    poise_goal goal = poise_goal_callback(1, valley, &rho);
    for (int m = 0; m < METHODS; ++m) {
        for (int digits = 1; digits <= 9; ++digits) {
            double q[2] = {pow(10.0, -digits), 0.3};
            poise_solver_options options = options_for(methods[m], true);
            poise_report report = solve(&f, &options, &goal, 1, q);
            ck_assert_msg(q[0] == 0 && fabs(q[1] - (1.0 - rho)) < 1e-6, "%s from 1e-%d: %g, %g",
                          poise_method_name(methods[m]), digits, q[0], q[1]);
            ck_assert_msg(digits < 4 || report.evaluations <= 10, "%s from 1e-%d: %d evaluations",
                          poise_method_name(methods[m]), digits, report.evaluations);
        }
    }
}

// ---- Known answers -------------------------------------------------------------------------------------------------------

TEST(newtons_methods_solve_a_quadratic_in_two_iterations)
{
    static const poise_method newtons[] = {POISE_METHOD_AUTO, POISE_METHOD_LEVENBERG_MARQUARDT, POISE_METHOD_TRUST_REGION,
                                           POISE_METHOD_NEWTON_PROJECTED};
    scene_random random = scene_random_make(5);
    figure f = figure_of_scene("humanoid-euler");
    for (int round = 0; round < 5; ++round) {
        double posture[FIGURE_NUMBERS], weights[FIGURE_NUMBERS], start[FIGURE_NUMBERS], q[FIGURE_NUMBERS];
        scene_random_configuration(&random, f.model, posture);
        scene_random_configuration(&random, f.model, start);
        for (int i = 0; i < f.nv; ++i) {
            weights[i] = scene_random_range(&random, 0.5, 2.0);
        }
        poise_goal goal = poise_goal_posture(posture, 1.0);
        goal.q_weights = weights;
        for (int m = 0; m < 4; ++m) {
            poise_solver_options options = options_for(newtons[m], false);
            memcpy(q, start, sizeof q);
            poise_report report = solve(&f, &options, &goal, 1, q);
            ck_assert_msg(report.outcome == POISE_OUTCOME_REACHED && report.iterations <= 2, "%s: %s in %d",
                          poise_method_name(newtons[m]), poise_outcome_name(report.outcome), report.iterations);
        }
    }
}

// With the exact Hessian the error is squared by each iteration near the end: from 1e-4 of the cost's scale to nothing
// in two.
TEST(projected_newton_converges_quadratically_with_a_residual)
{
    scene_random random = scene_random_make(6);
    figure f = figure_of_scene("humanoid-euler");
    poise_goal goals[MARKERS];
    double q[FIGURE_NUMBERS];
    ck_assert_int_eq(scene_motion_pose(f.model, "walk", 0.3, f.q), POISE_OK);
    int count = marker_goals(&f, "humanoid-euler", 1e-3, &random, goals);
    ck_assert_int_eq(scene_motion_pose(f.model, "walk", 0.3, q), POISE_OK);
    poise_solver_options options = options_for(POISE_METHOD_NEWTON_PROJECTED, false);
    poise_report report = solve(&f, &options, goals, count, q);
    ck_assert_int_le(report.iterations, 12);
    int last = report.traced - 1;
    ck_assert_double_lt(trace[last].gradient, 1e-2 * trace[last - 1].gradient);
}

// ---- Promises ------------------------------------------------------------------------------------------------------------

TEST(options_of_single_methods_may_be_extreme)
{
    figure f = figure_of_scene("humanoid-quaternion");
    scene_random random = scene_random_make(9);
    poise_goal goals[MARKERS];
    ck_assert_int_eq(scene_motion_pose(f.model, "walk", 0.2, f.q), POISE_OK);
    int count = marker_goals(&f, "humanoid-quaternion", 0.0, &random, goals);
    for (int variant = 0; variant < 7; ++variant) {
        double q[FIGURE_NUMBERS];
        poise_solver_options options = options_for(variant < 2 ? POISE_METHOD_LBFGS : POISE_METHOD_TRUST_REGION, true);
        options.lbfgs.memory = variant == 0 ? 1 : 100;
        options.trust_region.band = variant == 2 ? 0 : 1000;
        options.trust_region.cg_tolerance = variant == 3 ? 1e-14 : 0.9;
        options.trust_region.cg_iterations = variant == 5 ? 1 : 0;
        options.trust_region.nearest = variant == 6;
        ck_assert_int_eq(scene_motion_pose(f.model, "walk", 0.2 - 1.0 / 30.0, q), POISE_OK);
        poise_report report = solve(&f, &options, goals, count, q);
        ck_assert_msg(report.outcome == POISE_OUTCOME_REACHED, "variant %d: %s, off by %g", variant,
                      poise_outcome_name(report.outcome), report.worst_length);
    }
}
