// Edges of swing ellipses: curvature, springs, clipped steps, corners with a bound.
#include "num/dense.h"
#include "solve/auto.h"
#include "support/random_goals.h"
#include "support/skeleton.h"

#include <math.h>

// One swing at the edge of its ellipse, with two markers that pull it outwards. Do not copy it: the solver points into it.
typedef struct edge_scene {
    poise_model *model;
    poise_solver *solver;
    poise_goal goals[2];
    double q[3];
} edge_scene;

static void make_edge_scene(edge_scene *e, double at)
{
    *e = (edge_scene){0};
    poise_builder *builder = new_builder();
    poise_joint joint = joint_of("swing", NULL, POISE_JOINT_SWING_TWIST);
    joint.swing[0] = 0.9;
    joint.swing[1] = 0.4;
    add(builder, &joint);
    e->model = model_of(builder);
    poise_solver_options options = poise_solver_options_default();
    ck_assert_int_eq(poise_solver_create(e->model, &options, NULL, &e->solver, NULL), POISE_OK);
    own_solver(e->solver);
    e->q[0] = 2.0 * cos(at), e->q[1] = 2.0 * sin(at), e->q[2] = 0.3;
    poise_kinematics *kin;
    ck_assert_int_eq(poise_kinematics_create(e->model, NULL, &kin, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_update(kin, e->q, NULL), POISE_OK);
    for (int i = 0; i < 2; ++i) {
        poise_vec3 local = poise_vec3_make(0.2 * i, 0.1, 0.7);
        e->goals[i] = poise_goal_position(0, local, poise_kinematics_point(kin, 0, local));
    }
    poise_kinematics_destroy(kin);
    ck_assert_int_eq(poise_model_clamp(e->model, e->q, NULL, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_set_goals(e->solver->at, e->goals, 2, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_set_goals(e->solver->trial, e->goals, 2, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_evaluate(e->solver->at, e->q, POISE_LEVEL_HESSIAN, NULL), POISE_OK);
}

// The cost after the step t along the edge and back to it.
static double cost_along(edge_scene *e, const double *tangent, double t)
{
    double step[3] = {t * tangent[0], t * tangent[1], 0.0}, q[3];
    pz_step_within(e->solver, e->q, step, q);
    return pz_try(e->solver, q, POISE_LEVEL_COST);
}

TEST(stiffened_hessian_is_the_second_difference_along_the_edge)
{
    for (int i = 0; i < 4; ++i) {
        edge_scene e;
        make_edge_scene(&e, 0.5 * PZ_PI * i); // on an axis of the ellipse x is normal to the edge, and kappa exact
        double tangent[3] = {i % 2 ? 1.0 : 0.0, i % 2 ? 0.0 : 1.0, 0.0}, H[9], h = 1e-3;
        double g[3] = {1.0, 1.0, 1.0};
        ck_assert_int_eq(pz_project_on_swings(e.solver, g), 1);
        ck_assert_double_eq_tol(g[0], tangent[0], 1e-15);
        ck_assert_double_eq_tol(g[1], tangent[1], 1e-15);
        ck_assert_int_eq(pz_stiffen_edges(e.solver, 0.0), 1);
        ck_assert_int_eq(poise_objective_hessian(e.solver->at, POISE_HESSIAN_EXACT, H, NULL), POISE_OK);
        double middle = poise_objective_value(e.solver->at).cost;
        double along = cost_along(&e, tangent, h) + cost_along(&e, tangent, -h) - 2.0 * middle;
        double expected = i % 2 ? H[0] : H[4];
        // h^2 f''''/12, f'''' a few times f'' 1/B^2; and 4 eps f/h^2 of rounding
        ck_assert_double_eq_tol(along / (h * h), expected, 1e-4 * fabs(expected));
    }
}

TEST(spring_acts_across_the_edge_only)
{
    edge_scene e;
    make_edge_scene(&e, 0.7);
    double before[9], after[9], spring = 50.0;
    pz_stiffen_edges(e.solver, 0.0);
    poise_objective_hessian(e.solver->at, POISE_HESSIAN_GAUSS_NEWTON, before, NULL);
    pz_stiffen_edges(e.solver, spring); // the curvature once more, and the spring
    pz_stiffen_edges(e.solver, 0.0);
    poise_objective_hessian(e.solver->at, POISE_HESSIAN_GAUSS_NEWTON, after, NULL);
    double r[2] = {e.q[0] / 0.81, e.q[1] / 0.16}, length = sqrt(r[0] * r[0] + r[1] * r[1]);
    double n[2] = {r[0] / length, r[1] / length}, t[2] = {-n[1], n[0]}, across = 0.0, mixed = 0.0;
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            across += n[i] * (after[3 * i + j] - before[3 * i + j]) * n[j];
            mixed += n[i] * (after[3 * i + j] - before[3 * i + j]) * t[j];
        }
    }
    ck_assert_double_eq_tol(across, spring, 1e-12 * spring);
    ck_assert_double_eq_tol(mixed, 0.0, 1e-12 * spring);
}

TEST(step_out_of_an_ellipse_is_clipped_at_its_edge)
{
    edge_scene e;
    make_edge_scene(&e, 0.7);
    double inside[3] = {0.1, 0.05, 0.0}, step[3] = {1.5, 0.8, 0.2}, full[3], q[3];
    ck_assert_int_eq(poise_objective_evaluate(e.solver->at, inside, POISE_LEVEL_HESSIAN, NULL), POISE_OK);
    memcpy(full, step, sizeof full);
    for (int way = -1; way <= 1; way += 2) { // outwards, and across
        double to[3] = {way * step[0], way * step[1], way * step[2]}, room = pz_room_of_swings(e.solver, NULL, to);
        for (int i = 0; i < 3; ++i) {
            q[i] = inside[i] + room * to[i];
        }
        ck_assert_double_gt(room, 0.0);
        ck_assert_double_eq_tol(q[0] * q[0] / 0.81 + q[1] * q[1] / 0.16, 1.0, 1e-14);
    }
    ck_assert_double_eq(pz_room_of_swings(e.solver, full, full), 0.0); // already outside
    ck_assert_int_eq(pz_clip_to_swings(e.solver, step), 1);
    pz_step_within(e.solver, inside, full, q);
    for (int i = 0; i < 3; ++i) {
        ck_assert_double_eq_tol(inside[i] + step[i], q[i], 1e-15);
    }
    ck_assert_int_eq(pz_clip_to_swings(e.solver, inside), 0);
}

// A swing in the corner of its circle and a bound of coordinate i, 45 degrees up, with -g = (1, 0.1) or (0.1, 1) for i and
// the other one: along the circle descent leads out of the bound, or in. Rows: i.
TEST_ROWS(in_a_corner_a_bound_counts_unless_the_edge_leads_inwards, 2)
{
    poise_builder *builder = new_builder();
    poise_joint joint = joint_of("swing", NULL, POISE_JOINT_SWING_TWIST);
    double corner = 0.8 * sqrt(0.5), q[3] = {corner, corner, 0.3};
    int other = 1 - test_row;
    joint.swing[0] = joint.swing[1] = 0.8;
    joint.lower[test_row] = -corner, joint.upper[test_row] = corner;
    add(builder, &joint);
    poise_solver_options options = poise_solver_options_default();
    poise_solver *solver = NULL;
    ck_assert_int_eq(poise_solver_create(model_of(builder), &options, NULL, &solver, NULL), POISE_OK);
    own_solver(solver);
    ck_assert_int_eq(poise_objective_evaluate(solver->at, q, POISE_LEVEL_HESSIAN, NULL), POISE_OK);
    for (int inwards = 0; inwards < 2; ++inwards) {
        solver->at->gradient[test_row] = inwards ? -0.1 : -1.0;
        solver->at->gradient[other] = inwards ? -1.0 : -0.1;
        ck_assert(pz_is_at_bound(solver, test_row) && !pz_is_at_bound(solver, other));
        ck_assert_int_eq(pz_edge_leads_inwards(solver, test_row), inwards);
        ck_assert_int_eq(pz_is_held(solver, test_row), !inwards);
        ck_assert(!pz_edge_leads_inwards(solver, other) && !pz_edge_leads_inwards(solver, 2));
    }
}

// Answers are looked for without limits, too, and brought inside: a locked swing stays, the other one gives way.
TEST(a_locked_swing_keeps_its_value_in_every_answer)
{
    poise_builder *builder = new_builder();
    poise_joint swing = joint_of("swing", NULL, POISE_JOINT_SWING_TWIST),
                hinge = joint_of("hinge", "swing", POISE_JOINT_REVOLUTE);
    swing.swing[0] = 0.9;
    swing.swing[1] = 0.4;
    hinge.axis = poise_vec3_make(1, 0, 0);
    hinge.offset.position = poise_vec3_make(0, 0, 0.5);
    hinge.lower[0] = -1.0;
    hinge.upper[0] = 0.2;
    add(builder, &swing);
    add(builder, &hinge);
    poise_model *model = model_of(builder);
    poise_kinematics *kin;
    poise_solver *solver;
    bool locked[4] = {true};
    poise_solver_options options = poise_solver_options_default();
    options.locked = locked;
    options.restarts = 30;
    ck_assert_int_eq(poise_solver_create(model, &options, NULL, &solver, NULL), POISE_OK);
    own_solver(solver);
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kin, NULL), POISE_OK);
    scene_random random = scene_random_make(8);
    for (int round = 0; round < 300; ++round) {
        double there[4], q[4], start;
        poise_vec3 local = {0.1, 0.2, 0.6};
        poise_report report;
        scene_random_configuration(&random, model, there);
        scene_random_configuration(&random, model, q);
        there[0] = start = q[0];
        ck_assert_int_eq(poise_kinematics_update(kin, there, NULL), POISE_OK); // in the ellipse, or a little outside
        poise_goal goal = poise_goal_position(1, local, poise_kinematics_point(kin, 1, local));
        ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
        ck_assert(q[0] == start);
        ck_assert(poise_model_within_limits(model, q));
    }
    poise_kinematics_destroy(kin);
}
