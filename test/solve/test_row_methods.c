// The methods over gradients and residual rows: what one step is, where they end, limits.
#include <poise/papers.h>

#include "support/row_problems.h"

static const poise_method methods[] = {
    POISE_METHOD_GRADIENT_DESCENT,     POISE_METHOD_JACOBIAN_TRANSPOSE, POISE_METHOD_PSEUDO_INVERSE,
    POISE_METHOD_DAMPED_LEAST_SQUARES, POISE_METHOD_SELECTIVELY_DAMPED, POISE_METHOD_PRIORITY,
};
#define METHODS       (sizeof methods / sizeof methods[0])
#define FIRST_BY_ROWS 2 // from here on the methods need rows

// ---- Where they end ------------------------------------------------------------------------------------------------------

static void check_reaches(const char *name, double size, int iterations)
{
    poise_model *model = scene(name);
    for (size_t m = 0; m < METHODS; ++m) {
        poise_solver_options options = options_for(methods[m], iterations);
        poise_solver *solver = solver_for(model, &options);
        scene_random random = scene_random_make(5);
        for (int trial = 0; trial < 10; ++trial) {
            double q[MOST], there[MOST];
            poise_goal goals[5];
            scene_random_configuration(&random, model, there);
            near_by(&random, model, there, size, q);
            int count = goals_at(model, there, goals);
            poise_report report = solve(solver, goals, count, q);
            ck_assert_msg(report.outcome == POISE_OUTCOME_REACHED, "%s, %s, trial %d: %s after %d iterations, %g away", name,
                          poise_method_name(methods[m]), trial, report.reason, report.iterations, report.worst_length);
            ck_assert_double_le(report.worst_length, options.position_tolerance);
            ck_assert(poise_model_within_limits(model, q));
            ck_assert_double_le(error_of(model, &goals[0], q), options.position_tolerance * (1 + 1e-9)); // it is so
        }
        poise_solver_destroy(solver);
    }
    poise_model_destroy(model);
}

TEST(every_method_reaches_targets_with_the_planar_arm)
{
    check_reaches("arm2d", 0.5, 5000);
}

TEST(every_method_reaches_targets_with_the_robot_arm)
{
    check_reaches("arm7", 0.3, 20000);
}

TEST(every_method_reaches_head_hands_and_feet_of_the_humanoid)
{
    check_reaches("humanoid", 0.15, 20000);
    check_reaches("humanoid-quaternion", 0.15, 20000);
}

// The closest pose of five unit links to a target beyond them is straight: the error is the distance less 5. Descent along
// the gradient comes within 1e-6 of that, relative, in the iterations given.
TEST(an_unreachable_target_stretches_the_planar_arm_towards_it)
{
    poise_model *model = scene("arm2d");
    poise_vec3 local;
    int body = tip_body(model, &local);
    for (size_t m = 0; m < METHODS; ++m) {
        double q[5] = {0.5, 0.7, -0.4, 0.8, 0.3};
        poise_goal goal = poise_goal_position(body, local, poise_vec3_make(-3, 6, 0));
        poise_solver_options options = options_for(methods[m], 3000);
        poise_report report = solve_once(model, &options, &goal, 1, q);
        double least = sqrt(45.0) - 5.0;
        ck_assert_msg(report.worst_length >= least - 1e-12 && report.worst_length <= least * (1 + 1e-6),
                      "%s: %.9g away, %.9g is possible", poise_method_name(methods[m]), report.worst_length, least);
        ck_assert_int_ne(report.outcome, POISE_OUTCOME_REACHED);
        ck_assert(all_are_finite(q, 5));
        // straight: all angles but the first are whole turns
        for (int i = 1; i < 5; ++i) {
            ck_assert_msg(fabs(sin(q[i])) < 0.02 && cos(q[i]) > 0, "%s: angle %d is %g", poise_method_name(methods[m]), i,
                          q[i]);
        }
    }
    poise_model_destroy(model);
}

// A step that points out of a swing ellipse is no good at any length until it is laid along the edge.
TEST(swings_at_their_edge_move_along_it)
{
    poise_model *model = scene("humanoid");
    static const poise_method damped[] = {POISE_METHOD_DAMPED_LEAST_SQUARES, POISE_METHOD_SELECTIVELY_DAMPED};
    for (size_t m = 0; m < TEST_COUNT(damped); ++m) {
        poise_solver_options options = options_for(damped[m], 100);
        poise_solver *solver = solver_for(model, &options);
        scene_random random = scene_random_make(5);
        int iterations = 0, evaluations = 0;
        for (int trial = 0; trial < 15; ++trial) {
            double q[MOST], there[MOST];
            poise_goal goals[5];
            scene_random_configuration(&random, model, q);
            scene_random_configuration(&random, model, there);
            int count = goals_at(model, there, goals);
            poise_report report = solve(solver, goals, count, q);
            iterations += report.iterations;
            evaluations += report.evaluations;
        }
        ck_assert_msg(evaluations < 2 * iterations, "%d evaluations for %d iterations", evaluations, iterations);
        poise_solver_destroy(solver);
    }
    poise_model_destroy(model);
}

// Hinges below a joint that swings within an ellipse; the root, or below a root that does not move.
static poise_model *swinging_chain(bool has_base)
{
    poise_builder *builder;
    poise_model *model;
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    static const char *const names[] = {"base", "swing", "b", "c", "d", "e"};
    for (int i = has_base ? 0 : 1; i < 6; ++i) {
        poise_joint joint = poise_joint_default();
        joint.name = names[i];
        joint.parent = i > (has_base ? 0 : 1) ? names[i - 1] : NULL;
        joint.type = i == 0 ? POISE_JOINT_FIXED : i == 1 ? POISE_JOINT_SWING_TWIST : POISE_JOINT_REVOLUTE;
        joint.offset.position.z = i > 1 ? 0.3 : 0.0;
        joint.axis = poise_vec3_make(i % 2, (i + 1) % 2, 0);
        joint.swing[0] = i == 1 ? 0.4 : INFINITY, joint.swing[1] = i == 1 ? 0.2 : INFINITY;
        for (int k = 0; k < (i == 1 ? 3 : i == 0 ? 0 : 1); ++k) {
            joint.lower[k] = -0.3, joint.upper[k] = 0.3;
        }
        ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    }
    ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_OK);
    poise_builder_destroy(builder);
    return model;
}

// A body that does not move, below everything, changes nothing.
TEST(a_root_that_swings_is_solved_as_one_below_a_root)
{
    static const poise_method damped[] = {POISE_METHOD_DAMPED_LEAST_SQUARES, POISE_METHOD_SELECTIVELY_DAMPED};
    for (size_t m = 0; m < TEST_COUNT(damped); ++m) {
        double ends[2][40][7];
        for (int has_base = 0; has_base < 2; ++has_base) {
            poise_model *model = swinging_chain(has_base);
            poise_solver_options options = options_for(damped[m], 100);
            poise_solver *solver = solver_for(model, &options);
            scene_random random = scene_random_make(6);
            for (int trial = 0; trial < 40; ++trial) {
                double *q = ends[has_base][trial];
                poise_vec3 target = {scene_random_range(&random, -1, 1), scene_random_range(&random, -1, 1), 1.0};
                poise_goal goal = poise_goal_position(has_base ? 5 : 4, poise_vec3_make(0, 0, 0.3), target);
                scene_random_configuration(&random, model, q);
                solve(solver, &goal, 1, q);
                ck_assert(poise_model_within_limits(model, q));
            }
            poise_solver_destroy(solver);
            poise_model_destroy(model);
        }
        ck_assert_mem_eq(ends[0], ends[1], sizeof ends[0]);
    }
}

// ---- What is reported ----------------------------------------------------------------------------------------------------

TEST(the_trace_holds_every_iteration_and_the_cost_never_rises)
{
    poise_model *model = scene("arm7");
    static poise_trace trace[500];
    for (size_t m = 0; m < METHODS; ++m) {
        scene_random random = scene_random_make(17);
        poise_solver_options options = options_for(methods[m], 60);
        options.trace = trace;
        options.trace_capacity = 500;
        poise_solver *solver = solver_for(model, &options);
        for (int trial = 0; trial < 30; ++trial) {
            double q[MOST], there[MOST];
            poise_goal goals[5];
            scene_random_configuration(&random, model, q);
            scene_random_configuration(&random, model, there);
            int count = goals_at(model, there, goals);
            poise_report report = solve(solver, goals, count, q);
            ck_assert_int_gt(report.iterations, 0);
            ck_assert_int_eq(report.traced, report.iterations);
            ck_assert_int_ge(report.evaluations, report.iterations);
            double last = report.start_cost;
            for (int i = 0; i < report.traced; ++i) {
                bool is_end = i == report.traced - 1 && !trace[i].accepted;
                ck_assert_msg(is_end || (trace[i].accepted && trace[i].cost < last), "%s: cost %.17g after %.17g",
                              poise_method_name(methods[m]), trace[i].cost, last);
                ck_assert(is_end || (trace[i].step > 0 && trace[i].gradient > 0 && trace[i].damping > 0));
                last = trace[i].cost;
            }
            ck_assert_double_eq(last, report.cost);
        }
        poise_solver_destroy(solver);
    }
    poise_model_destroy(model);
}

// Nearly straight, the linear equations ask for hundreds of turns.
TEST(no_joint_turns_by_more_than_half_a_turn_at_a_time)
{
    poise_model *model = scene("twolink");
    poise_vec3 local;
    int body = tip_body(model, &local);
    poise_goal goal = poise_goal_position(body, local, poise_vec3_make(1.0, 0.1, 0));
    poise_trace trace[1];
    poise_solver_options options = options_for(POISE_METHOD_PSEUDO_INVERSE, 1);
    options.trace = trace;
    options.trace_capacity = 1;
    double q[2] = {0.0, 1e-4};
    solve_once(model, &options, &goal, 1, q);
    ck_assert_double_le(trace[0].step, 3.14159265358979324);
    poise_model_destroy(model);
}

// A constant force along -x.
static bool push(void *user, const poise_pose *pose, poise_body_energy *out)
{
    (void)user;
    out->energy = pose->position.x;
    out->gradient[3] = 1.0;
    out->gauss_newton[0] = 0.0;
    return true;
}

TEST(a_gradient_without_curvature_is_followed_all_the_same)
{
    poise_model *model = scene("arm7");
    static const poise_method by_gradient[] = {POISE_METHOD_JACOBIAN_TRANSPOSE, POISE_METHOD_GRADIENT_DESCENT};
    poise_goal goal = poise_goal_callback(6, push, NULL);
    for (size_t m = 0; m < TEST_COUNT(by_gradient); ++m) {
        double q[7] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7};
        poise_solver_options options = options_for(by_gradient[m], 10);
        poise_report report = solve_once(model, &options, &goal, 1, q);
        ck_assert_double_lt(report.cost, report.start_cost - 0.1);
    }
    poise_model_destroy(model);
}

TEST_ROWS(methods_over_rows_refuse_too_many_rows, METHODS - FIRST_BY_ROWS)
{
    poise_model *model = scene("arm7");
    double before[7] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7}, q[7];
    poise_goal goals[5];
    goals_at(model, before, goals);
    goals[1] = goals[0];
    for (int most = 2; most < 7; ++most) {
        for (int count = 1; count < 3; ++count) { // of three rows each
            poise_solver_options options = options_for(methods[FIRST_BY_ROWS + test_row], 10);
            options.rows.max_rows = most;
            poise_solver *solver = solver_for(model, &options);
            poise_error error = {0};
            memcpy(q, before, sizeof q);
            bool fits = most >= 3 * count;
            ck_assert_int_eq(poise_solve(solver, goals, count, q, NULL, &error), fits ? POISE_OK : POISE_ERROR_ARGUMENT);
            ck_assert(fits || (strstr(error.text, "max_rows") && memcmp(q, before, sizeof q) == 0));
            poise_solver_destroy(solver);
        }
    }
    poise_model_destroy(model);
}

TEST(the_default_number_of_rows_holds_a_pose_for_every_body_and_a_posture)
{
    poise_model *model = scene("humanoid");
    int bodies = poise_model_info(model).joints;
    double q[MOST], posture[MOST];
    poise_goal goals[MOST];
    poise_model_neutral(model, posture);
    poise_model_neutral(model, q);
    for (int i = 0; i < bodies; ++i) {
        goals[i] = poise_goal_pose(i, poise_pose_identity(), poise_pose_identity());
    }
    goals[bodies] = poise_goal_posture(posture, 1.0);
    poise_solver_options options = options_for(POISE_METHOD_DAMPED_LEAST_SQUARES, 3);
    poise_report report = solve_once(model, &options, goals, bodies + 1, q);
    ck_assert_double_lt(report.cost, report.start_cost);
    poise_model_destroy(model);
}

// ---- One step, by hand ---------------------------------------------------------------------------------------------------

// Two unit links in the plane: J, e and their products, written out.
typedef struct planar {
    double q[2], e[2], J[2][2];
    poise_goal goal;
} planar;

static planar planar_at(const poise_model *model, double q0, double q1, double x, double y)
{
    double s0 = sin(q0), c0 = cos(q0), s1 = sin(q0 + q1), c1 = cos(q0 + q1);
    poise_vec3 local;
    int body = tip_body(model, &local);
    return (planar){.q = {q0, q1},
                    .e = {x - (c0 + c1), y - (s0 + s1)},
                    .J = {{-s0 - s1, -s1}, {c0 + c1, c1}},
                    .goal = poise_goal_position(body, local, poise_vec3_make(x, y, 0))};
}

// J^T (J J^T + lambda^2 I)^-1 e by Cramer's rule.
static void damped_by_hand(const planar *p, double lambda, double step[2])
{
    double a = p->J[0][0] * p->J[0][0] + p->J[0][1] * p->J[0][1] + lambda * lambda;
    double b = p->J[0][0] * p->J[1][0] + p->J[0][1] * p->J[1][1];
    double c = p->J[1][0] * p->J[1][0] + p->J[1][1] * p->J[1][1] + lambda * lambda;
    double y0 = (c * p->e[0] - b * p->e[1]) / (a * c - b * b), y1 = (a * p->e[1] - b * p->e[0]) / (a * c - b * b);
    step[0] = p->J[0][0] * y0 + p->J[1][0] * y1;
    step[1] = p->J[0][1] * y0 + p->J[1][1] * y1;
}

// Singular values and vectors of J in closed form: J^T J = [a b; b c] turned by the angle phi.
static void svd_by_hand(const planar *p, double s[2], double u[2][2], double v[2][2])
{
    double a = p->J[0][0] * p->J[0][0] + p->J[1][0] * p->J[1][0], b = p->J[0][0] * p->J[0][1] + p->J[1][0] * p->J[1][1];
    double c = p->J[0][1] * p->J[0][1] + p->J[1][1] * p->J[1][1], phi = 0.5 * atan2(2 * b, a - c);
    for (int k = 0; k < 2; ++k) {
        v[k][0] = k == 0 ? cos(phi) : -sin(phi);
        v[k][1] = k == 0 ? sin(phi) : cos(phi);
        u[k][0] = p->J[0][0] * v[k][0] + p->J[0][1] * v[k][1];
        u[k][1] = p->J[1][0] * v[k][0] + p->J[1][1] * v[k][1];
        s[k] = sqrt(u[k][0] * u[k][0] + u[k][1] * u[k][1]);
        u[k][0] /= s[k];
        u[k][1] /= s[k];
    }
}

// Take one step and compare; the cost must have fallen, or the step would have been shortened.
static void check_step(const poise_model *model, const planar *p, poise_solver_options options, const double step[2],
                       double damping)
{
    poise_trace trace[1];
    double q[2] = {p->q[0], p->q[1]};
    options.max_iterations = 1;
    options.trace = trace;
    options.trace_capacity = 1;
    poise_report report = solve_once(model, &options, &p->goal, 1, q);
    ck_assert_int_eq(report.traced, 1);
    ck_assert(trace[0].accepted);
    // some twenty operations on numbers of size one, divided by singular values not below a tenth
    ck_assert_double_eq_tol(q[0], p->q[0] + step[0], 1e-13);
    ck_assert_double_eq_tol(q[1], p->q[1] + step[1], 1e-13);
    ck_assert_double_eq_tol(trace[0].damping, damping, 1e-13);
    ck_assert_double_eq_tol(trace[0].step, fmax(fabs(step[0]), fabs(step[1])), 1e-13);
}

TEST(a_damped_step_of_two_links_is_the_one_by_hand)
{
    poise_model *model = scene("twolink");
    planar p = planar_at(model, 0.3, 0.9, 0.9, 1.5);
    poise_solver_options options = options_for(POISE_METHOD_DAMPED_LEAST_SQUARES, 1);
    double step[2];
    options.damping = 0.4;
    damped_by_hand(&p, 0.4, step);
    check_step(model, &p, options, step, 0.4);
    options.method = POISE_METHOD_PRIORITY;
    check_step(model, &p, options, step, 0.4);
    poise_model_destroy(model);
}

TEST(the_residual_is_clamped_before_a_damped_step)
{
    poise_model *model = scene("twolink");
    planar p = planar_at(model, 0.3, 0.9, 0.4, 1.1);
    double length = sqrt(p.e[0] * p.e[0] + p.e[1] * p.e[1]), step[2];
    ck_assert_double_gt(length, 0.2);
    poise_solver_options options = options_for(POISE_METHOD_DAMPED_LEAST_SQUARES, 1);
    options.damping = 0.25;
    options.rows.clamp = 0.1;
    planar clamped = p;
    clamped.e[0] *= 0.1 / length;
    clamped.e[1] *= 0.1 / length;
    damped_by_hand(&clamped, 0.25, step);
    check_step(model, &p, options, step, 0.25);
    options.rows.clamp = 2.0 * length; // no effect
    damped_by_hand(&p, 0.25, step);
    check_step(model, &p, options, step, 0.25);
    poise_model_destroy(model);
}

// The three cases of Maciejewski & Klein: d = 2 |e| for the longest step 1/2.
TEST(damping_follows_the_smallest_singular_value)
{
    poise_model *model = scene("twolink");
    // the second angle sets the smallest singular value, the first two numbers of the offset the error
    static const double cases[3][2] = {{1.5, 0.01}, {0.4, 0.12}, {0.3, 0.4}};
    for (int i = 0; i < 3; ++i) {
        double q1 = cases[i][0], off = cases[i][1], s[2], u[2][2], v[2][2], step[2];
        planar p = planar_at(model, 0.2, q1, cos(0.2) + cos(0.2 + q1) - 0.8 * off, sin(0.2) + sin(0.2 + q1) - 0.6 * off);
        svd_by_hand(&p, s, u, v);
        double least = fmin(s[0], s[1]), d = 2.0 * off;
        double lambda = least >= d ? 0.0 : least <= 0.5 * d ? 0.5 * d : sqrt(least * (d - least));
        ck_assert_int_eq(least >= d ? 0 : least <= 0.5 * d ? 2 : 1, i); // all three cases come up
        damped_by_hand(&p, lambda, step);
        ck_assert_double_le(sqrt(step[0] * step[0] + step[1] * step[1]), 0.5 + 1e-12);
        check_step(model, &p, options_for(POISE_METHOD_DAMPED_LEAST_SQUARES, 1), step, lambda > 0 ? lambda : 1.0);
    }
    poise_model_destroy(model);
}

TEST(a_pseudo_inverse_step_of_two_links_solves_the_linear_equations)
{
    poise_model *model = scene("twolink");
    planar p = planar_at(model, 0.3, 0.9, 1.1, 1.4);
    double step[2];
    damped_by_hand(&p, 0.0, step);
    check_step(model, &p, options_for(POISE_METHOD_PSEUDO_INVERSE, 1), step, 1.0);
    poise_model_destroy(model);
}

TEST(a_transposed_step_of_two_links_has_the_length_of_buss)
{
    poise_model *model = scene("twolink");
    planar p = planar_at(model, 0.3, 0.9, 1.1, 1.4);
    double g[2] = {p.J[0][0] * p.e[0] + p.J[1][0] * p.e[1], p.J[0][1] * p.e[0] + p.J[1][1] * p.e[1]};
    double f[2] = {p.J[0][0] * g[0] + p.J[0][1] * g[1], p.J[1][0] * g[0] + p.J[1][1] * g[1]};
    double alpha = (p.e[0] * f[0] + p.e[1] * f[1]) / (f[0] * f[0] + f[1] * f[1]);
    double step[2] = {alpha * g[0], alpha * g[1]};
    check_step(model, &p, options_for(POISE_METHOD_JACOBIAN_TRANSPOSE, 1), step, alpha);
    check_step(model, &p, options_for(POISE_METHOD_GRADIENT_DESCENT, 1), step, alpha); // its first length
    poise_solver_options options = options_for(POISE_METHOD_GRADIENT_DESCENT, 1);
    options.damping = 0.01;
    step[0] = 0.01 * g[0];
    step[1] = 0.01 * g[1];
    check_step(model, &p, options, step, 0.01);
    poise_model_destroy(model);
}

// phi_k and x of Buss & Kim for one end: N_k = 1.
static void selective_by_hand(const planar *p, double step[2], bool *clamps)
{
    double s[2], u[2][2], v[2][2], quarter = 0.25 * 3.14159265358979323846;
    svd_by_hand(p, s, u, v);
    step[0] = step[1] = 0.0;
    *clamps = false;
    for (int k = 0; k < 2; ++k) {
        double alpha = u[k][0] * p->e[0] + u[k][1] * p->e[1], M = 0.0, phi[2];
        for (int j = 0; j < 2; ++j) {
            M += fabs(v[k][j]) * sqrt(p->J[0][j] * p->J[0][j] + p->J[1][j] * p->J[1][j]) / s[k];
            phi[j] = alpha / s[k] * v[k][j];
        }
        double gamma = fmin(1.0, 1.0 / M) * quarter, largest = fmax(fabs(phi[0]), fabs(phi[1]));
        double factor = largest > gamma ? gamma / largest : 1.0;
        *clamps = *clamps || factor < 1.0;
        step[0] += factor * phi[0];
        step[1] += factor * phi[1];
    }
    double largest = fmax(fabs(step[0]), fabs(step[1]));
    step[0] *= largest > quarter ? quarter / largest : 1.0;
    step[1] *= largest > quarter ? quarter / largest : 1.0;
}

TEST(a_selectively_damped_step_of_two_links_is_the_one_by_hand)
{
    poise_model *model = scene("twolink");
    planar far = planar_at(model, 0.3, 0.25, 0.6, 1.1); // nearly straight: one direction needs damping
    double step[2];
    bool clamps;
    selective_by_hand(&far, step, &clamps);
    ck_assert(clamps);
    check_step(model, &far, options_for(POISE_METHOD_SELECTIVELY_DAMPED, 1), step, 1.0);
    poise_model_destroy(model);
}

TEST(a_selectively_damped_step_that_needs_no_damping_is_that_of_the_pseudo_inverse)
{
    poise_model *model = scene("arm7");
    scene_random random = scene_random_make(21);
    for (int trial = 0; trial < 20; ++trial) {
        double q[7], there[7], a[7], b[7], moved = 0.0;
        poise_goal goals[5];
        for (int i = 0; i < 7; ++i) {
            q[i] = scene_random_range(&random, 0.4, 1.2);
        }
        near_by(&random, model, q, 0.01, there);
        goals_at(model, there, goals);
        memcpy(a, q, sizeof a);
        memcpy(b, q, sizeof b);
        poise_solver_options options = options_for(POISE_METHOD_SELECTIVELY_DAMPED, 1);
        solve_once(model, &options, goals, 1, a);
        options.method = POISE_METHOD_PSEUDO_INVERSE;
        options.engine = poise_papers_engine(options.method);
        solve_once(model, &options, goals, 1, b);
        for (int i = 0; i < 7; ++i) {
            ck_assert_double_eq_tol(a[i], b[i], 1e-14); // the same sums but for a factor of exactly 1
            moved = fmax(moved, fabs(a[i] - q[i]));
        }
        ck_assert_double_gt(moved, 1e-5);
    }
    poise_model_destroy(model);
}
