// Distances, and answers that keep clear, as FCL sees them.
#include "shape/fcl_oracle.h"
#include "support/shape_check.h"
#include "support/skeleton.h"
#include "support/test_arms.h"

#define TRIES  500
#define SHAPES 16
#define PAIRS  128
#define EXACT  2e-6 // what FCL's searches are good to, with these sizes

// Rows: capsule and box against capsule and box.
TEST_ROWS(distances_are_those_of_fcl, 4)
{
    poise_builder *builder = new_builder();
    poise_joint a = joint_of("a", NULL, POISE_JOINT_FREE_EXPMAP), b = joint_of("b", NULL, POISE_JOINT_FREE_EXPMAP);
    add(builder, &a);
    add(builder, &b);
    figure f = figure_of(model_of(builder));
    scene_random random = scene_random_make(11 + (uint64_t)test_row);
    int apart = 0;
    for (int i = 0; i < TRIES; ++i) {
        poise_shape first = random_shape(&random, (poise_shape_kind)(test_row / 2), 0, 0.3);
        poise_shape second = random_shape(&random, (poise_shape_kind)(test_row % 2), 1, 0.3);
        for (int k = 0; k < f.nq; ++k) {
            f.q[k] = scene_random_range(&random, -1, 1) * (k % 6 < 3 ? 0.3 : 1.5);
        }
        update(&f);
        poise_nearest nearest;
        ck_assert_int_eq(poise_distance(f.kin, &first, &second, &nearest, NULL), POISE_OK);
        double theirs = fcl_distance_of(f.kin, &first, &second);
        if (nearest.distance > EXACT) {
            ck_assert_double_eq_tol(nearest.distance, theirs, EXACT);
            apart += 1;
        } else {
            ck_assert_double_le(theirs, 2 * EXACT);
        }
    }
    ck_assert_int_ge(apart, TRIES / 4);
}

// An arm with a capsule along each link, and boxes in its reach.
static int fill_world(const test_arm *arm, scene_random *random, poise_shape *shapes)
{
    int count = 0;
    for (int k = 0; k < poise_model_info(arm->model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(arm->model, k);
        if (joint.parent != POISE_WORLD) {
            shapes[count++] =
                poise_shape_capsule(joint.parent, poise_vec3_make(0, 0, 0), joint.given->offset.position, 0.03);
        }
    }
    for (int i = 0; i < 4; ++i) {
        poise_vec3 d = scene_random_direction(random);
        double away = scene_random_range(random, 0.6, 1.2);
        poise_pose pose = {scene_random_rotation(random), {away * d.x, away * d.y, away * d.z}};
        shapes[count++] = poise_shape_box(POISE_WORLD, pose, poise_vec3_make(0.1, 0.08, 0.15));
    }
    return count;
}

// Rows: worlds.
TEST_ROWS(answers_keep_clear_by_fcl, 6)
{
    scene_random random = scene_random_make(71 + (uint64_t)test_row);
    test_arm arm = arm_random(&random, 7, ARM_PLAIN);
    poise_shape shapes[SHAPES];
    poise_pair pairs[PAIRS];
    poise_constraint apart = poise_constraint_default(POISE_CONSTRAINT_CLEARANCE);
    poise_pairs_options options = poise_pairs_options_default();
    options.neighbours = 2, options.samples = 300;
    apart.shape_count = fill_world(&arm, &random, shapes);
    ck_assert_int_eq(
        poise_pairs_find(arm.model, shapes, apart.shape_count, &options, NULL, pairs, PAIRS, &apart.pair_count, NULL),
        POISE_OK);
    ck_assert_int_le(apart.pair_count, PAIRS);
    apart.shapes = shapes, apart.pairs = pairs, apart.margin = 0.01;
    poise_solver_options how = poise_solver_options_default();
    how.restarts = 20;
    poise_constraints_size(&apart, 1, &how.constraints);
    poise_solver *solver = NULL;
    ck_assert_int_eq(poise_solver_create(arm.model, &how, NULL, &solver, NULL), POISE_OK);
    own_solver(solver);
    figure f = figure_of(arm.model);
    int held = 0;
    for (int i = 0; i < 60; ++i) {
        poise_report report;
        poise_vec3 d = scene_random_direction(&random);
        poise_goal goal = poise_goal_position(arm.body, arm.tip.position, poise_vec3_make(d.x, d.y, d.z));
        scene_random_configuration(&random, arm.model, f.q);
        ck_assert_int_eq(poise_solve_within(solver, &goal, 1, &apart, 1, f.q, &report, NULL), POISE_OK);
        update(&f);
        for (int k = 0; report.holds && k < apart.pair_count; ++k) {
            double theirs = fcl_distance_of(f.kin, &shapes[pairs[k].a], &shapes[pairs[k].b]);
            ck_assert_double_ge(theirs, apart.margin - EXACT);
        }
        held += report.holds;
    }
    ck_assert_int_ge(held, 20); // a box may stand where some link always is
}
