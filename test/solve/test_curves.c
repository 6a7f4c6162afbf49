// Every method on a leg whose knee rolls as it bends, with a kneecap that follows by a function.
#include "model/model.h"
#include "support/skeleton.h"

#include <math.h>
#include <poise/papers.h>

static const double slope[] = {1, 0}, knee_x[] = {-2.1, -1.2, -0.6, -0.1, 0.4}, knee_y[] = {-0.03, 0.02, 0.01, -0.02, -0.05};
static const double cap_x[] = {-2, -1, 0, 1}, cap_y[] = {0.02, -0.01, 0.03, 0.05};
static const poise_curve knee = {.axis = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {1, 0, 0}},
                                 .value = {{POISE_FUNCTION_POLYNOMIAL, 2, NULL, slope},
                                           {.count = 0},
                                           {.count = 0},
                                           {POISE_FUNCTION_SPLINE, 5, knee_x, knee_y}}};
static const poise_function cap = {POISE_FUNCTION_SPLINE, 4, cap_x, cap_y};

static void add_at(poise_builder *builder, poise_joint joint, double y)
{
    joint.offset.position.y = y;
    joint.mass = 1.0;
    add(builder, &joint);
}

static poise_model *leg(void)
{
    poise_builder *builder = new_builder();
    add_at(builder, joint_of("pelvis", NULL, POISE_JOINT_FREE_EULER), 0);
    add_at(builder, joint_of("hip", "pelvis", POISE_JOINT_BALL_EULER), -0.1);
    poise_joint curve = joint_of("knee", "hip", POISE_JOINT_CURVE);
    curve.curve = &knee;
    add_at(builder, curve, -0.4);
    poise_joint patella = joint_of("patella", "hip", POISE_JOINT_PRISMATIC);
    patella.mimic = "knee";
    patella.mimic_function = &cap;
    add_at(builder, patella, -0.35);
    add_at(builder, joint_of("below_patella", "patella", POISE_JOINT_REVOLUTE), 0.1);
    add_at(builder, joint_of("ankle", "knee", POISE_JOINT_REVOLUTE), -0.4);
    return model_of(builder);
}

#define MARKERS 3 // of each body

// Markers of the listed bodies where the pose `q` has them.
static int place_markers(const poise_model *model, const double *q, const char *const *bodies, int count, poise_goal *goals)
{
    figure f = figure_of((poise_model *)model);
    memcpy(f.q, q, (size_t)f.nq * sizeof *q);
    update(&f);
    for (int i = 0; i < count * MARKERS; ++i) {
        int body = poise_model_find_body(model, bodies[i / MARKERS]);
        poise_vec3 local = {0.1 * (i % 3 == 0), -0.2 + 0.05 * (i % 2), 0.08 * (i % 3 == 2)};
        goals[i] = poise_goal_position(body, local, poise_kinematics_point(f.kin, body, local));
    }
    return count * MARKERS;
}

static const char *const seen[] = {"pelvis", "hip", "knee", "ankle", "patella"};

TEST_ROWS(every_method_solves_or_refuses_a_leg_with_curves, POISE_METHOD_COUNT)
{
    poise_method method = (poise_method)test_row;
    poise_model *model = leg();
    double there[16], q[16];
    for (int with_cap = 0; with_cap < 2; ++with_cap) {
        poise_goal goals[5 * MARKERS];
        for (int i = 0; i < poise_model_info(model).nq; ++i) {
            there[i] = 0.2 * sin(1.0 + i);
            q[i] = 0.0;
        }
        there[9] = -0.9; // the knee
        int count = place_markers(model, there, seen, 4 + with_cap, goals);
        poise_solver_options options = poise_solver_options_default();
        options.method = method;
        options.engine = poise_papers_engine(options.method);
        options.max_iterations = 3000;
        poise_solver *solver;
        poise_error error = {0};
        ck_assert_int_eq(poise_solver_create(model, &options, NULL, &solver, NULL), POISE_OK);
        poise_report report;
        poise_status status = poise_solve(solver, goals, count, q, &report, &error);
        bool is_geometric = method == POISE_METHOD_CCD || method == POISE_METHOD_BWCD || method == POISE_METHOD_FABRIK;
        if (is_geometric) {
            ck_assert_int_eq(status, POISE_ERROR_UNSUPPORTED);
            ck_assert_msg(strstr(error.text, "moves along curves") || strstr(error.text, "FABRIK") ||
                              strstr(error.text, "fabrik"),
                          "%s", error.text);
        } else {
            ck_assert_msg(status == POISE_OK, "%s", error.text);
            // first order and transpose crawl; the others are there
            ck_assert_msg(report.cost <= 1e-3 * report.start_cost, "%s: %g of %g", poise_method_name(method), report.cost,
                          report.start_cost);
        }
        poise_solver_destroy(solver);
    }
}

// Markers that no follower carries: the tree path has the step of the dense one, which a goal of no weight on the follower
// asks for.
TEST(a_follower_that_no_goal_sees_changes_no_step)
{
    poise_model *model = leg();
    double there[16] = {0.1, -0.2, 0.3, 0.1, 0.2, -0.1, 0.3, 0.2, -0.1, -0.7, 0.4, 0.2}, q[2][16] = {{0}};
    poise_goal goals[5 * MARKERS];
    int count = place_markers(model, there, seen, 5, goals);
    for (int i = 4 * MARKERS; i < count; ++i) {
        goals[i].weight = 0.0;
    }
    for (int i = 0; i < 2; ++i) {
        poise_solver_options options = poise_solver_options_default();
        options.max_iterations = 4;
        poise_solver *solver;
        poise_report report;
        ck_assert_int_eq(poise_solver_create(model, &options, NULL, &solver, NULL), POISE_OK);
        ck_assert_int_eq(poise_solve(solver, goals, i == 0 ? count : 4 * MARKERS, q[i], &report, NULL), POISE_OK);
        poise_solver_destroy(solver);
    }
    for (int i = 0; i < poise_model_info(model).nq; ++i) {
        ck_assert_double_eq_tol(q[0][i], q[1][i], 1e-10);
    }
}
