// Solving within constraints: what comes back holds, by a check that shares no code with the solver.
#include "support/allocations.h"

#include <poise/papers.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/constraint_check.h"
#include "support/skeleton.h"
#include "support/test_arms.h"

static poise_solver *solver_for(const poise_model *model, const poise_constraint *constraints, int count,
                                poise_solver_options options)
{
    poise_solver *solver = NULL;
    poise_error error = {0};
    poise_constraints_size(constraints, count, &options.constraints);
    ck_assert_msg(poise_solver_create(model, &options, NULL, &solver, &error) == POISE_OK, "%s", error.text);
    return own_solver(solver);
}

static void check_answer(const poise_model *model, const poise_constraint *constraints, int count, const double *q,
                         const poise_report *report)
{
    broken b = check_constraints(model, constraints, count, q);
    ck_assert_double_le(b.limit, 0);
    ck_assert_int_eq(report->holds, report->outcome != POISE_OUTCOME_INFEASIBLE);
    if (report->holds) {
        ck_assert_double_le(b.clearance, 0);
        ck_assert_double_le(b.loop, 2e-12);
        ck_assert_double_le(b.side, 0);
    }
}

// ---- Arms among boxes ----------------------------------------------------------------------------------------------------

#define SHAPES 24
#define PAIRS  256

typedef struct world {
    test_arm arm;
    poise_shape shapes[SHAPES];
    poise_pair pairs[PAIRS];
    poise_constraint apart;
} world;

// Is there a configuration, among some, in which nothing is nearer than the margin? Quickly, by the library's own distances.
static bool has_room(const world *w, scene_random *random)
{
    figure f = figure_of(w->arm.model);
    for (int i = 0; i < 300; ++i) {
        bool is_free = true;
        scene_random_configuration(random, f.model, f.q);
        update(&f);
        for (int k = 0; k < w->apart.pair_count && is_free; ++k) {
            poise_nearest nearest;
            const poise_shape *a = &w->shapes[w->pairs[k].a], *b = &w->shapes[w->pairs[k].b];
            ck_assert_int_eq(poise_distance(f.kin, a, b, &nearest, NULL), POISE_OK);
            is_free = nearest.distance > w->apart.margin + 2e-3;
        }
        if (is_free) {
            return true;
        }
    }
    return false;
}

// A random arm with a capsule along each link and `boxes` around it.
static world any_world(scene_random *random, int boxes, double margin)
{
    world w = {.arm = arm_random(random, 7, ARM_PLAIN)};
    int count = 0, found;
    for (int k = 0; k < poise_model_info(w.arm.model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(w.arm.model, k);
        if (joint.parent != POISE_WORLD) { // what stands in the world is an obstacle, and its foot would always touch it
            poise_vec3 end = joint.given->offset.position;
            w.shapes[count++] = poise_shape_capsule(joint.parent, poise_vec3_make(0, 0, 0), end, 0.04);
        }
    }
    for (int i = 0; i < boxes; ++i) {
        poise_vec3 d = scene_random_direction(random);
        double away = scene_random_range(random, 0.5, 1.2);
        poise_pose pose = {poise_quat_from_axis_angle(random_vector(random, 1), 2), {away * d.x, away * d.y, away * d.z}};
        w.shapes[count++] = poise_shape_box(POISE_WORLD, pose, poise_vec3_make(0.1, 0.05 + 0.02 * i, 0.15));
    }
    poise_pairs_options options = poise_pairs_options_default();
    options.neighbours = 2;
    options.samples = 300;
    ck_assert_int_eq(poise_pairs_find(w.arm.model, w.shapes, count, &options, NULL, w.pairs, PAIRS, &found, NULL), POISE_OK);
    ck_assert_int_le(found, PAIRS);
    w.apart = poise_constraint_default(POISE_CONSTRAINT_CLEARANCE);
    w.apart.shape_count = count, w.apart.pair_count = found, w.apart.margin = margin;
    return w;
}

// One in which the arm has room: a box may stand where some link always is.
static world random_world(scene_random *random, int boxes, double margin)
{
    world w = any_world(random, boxes, margin);
    while (!has_room(&w, random)) {
        w = any_world(random, boxes, margin);
    }
    return w;
}

static void draw_free(const world *w, const poise_constraint *apart, scene_random *random, double *q)
{
    for (int i = 0; i < 100000; ++i) {
        scene_random_configuration(random, w->arm.model, q);
        if (check_constraints(w->arm.model, apart, 1, q).clearance < -1e-3) {
            return;
        }
    }
    ck_abort_msg("no room");
}

// Rows: worlds.
TEST_ROWS(arms_among_boxes_reach_without_touching, 8)
{
    scene_random random = scene_random_make(31 + (uint64_t)test_row);
    world w = random_world(&random, 3 + test_row % 4, 0.01 * (test_row % 3));
    poise_constraint apart = w.apart;
    apart.shapes = w.shapes, apart.pairs = w.pairs;
    poise_solver_options options = poise_solver_options_default();
    options.start = test_row % 2 == 0 ? POISE_START_COLD : POISE_START_WARM;
    options.restarts = 100;
    poise_solver *solver = solver_for(w.arm.model, &apart, 1, options);
    int reached = 0, targets = 40;
    for (int i = 0; i < targets; ++i) {
        double there[ARM_LARGEST], q[ARM_LARGEST];
        draw_free(&w, &apart, &random, there);
        draw_free(&w, &apart, &random, q);
        figure f = figure_of(w.arm.model);
        memcpy(f.q, there, sizeof there);
        update(&f);
        poise_pose pose = poise_pose_multiply(poise_kinematics_body_pose(f.kin, w.arm.body), w.arm.tip);
        poise_goal goal = poise_goal_pose(w.arm.body, w.arm.tip, pose);
        poise_report report;
        int before = allocations_so_far();
        ck_assert_int_eq(poise_solve_within(solver, &goal, 1, &apart, 1, q, &report, NULL), POISE_OK);
        ck_assert_int_eq(allocations_so_far(), before);
        check_answer(w.arm.model, &apart, 1, q, &report);
        reached += report.outcome == POISE_OUTCOME_REACHED;
        ck_assert_double_eq_tol(poise_solver_constraint_room(solver, 0, NULL), report.clearance - apart.margin, 1e-12);
        memcpy(f.q, q, sizeof q);
        update(&f);
        ck_assert_double_eq_tol(poise_constraint_room(f.kin, &apart, NULL), report.clearance - apart.margin, 1e-12);
    }
    ck_assert_int_eq(reached, targets);
}

// Closest answers near a target that is in the way: never worse than a start that holds.
TEST_ROWS(closest_answers_hold_and_improve, 8)
{
    scene_random random = scene_random_make(131 + (uint64_t)test_row);
    world w = random_world(&random, 4, 0.01);
    poise_constraint apart = w.apart;
    apart.shapes = w.shapes, apart.pairs = w.pairs;
    poise_solver *solver = solver_for(w.arm.model, &apart, 1, poise_solver_options_default());
    int blocked = 0, ended = 0;
    for (int i = 0; i < 20; ++i) {
        double q[ARM_LARGEST];
        draw_free(&w, &apart, &random, q);
        const poise_shape *box = &w.shapes[w.apart.shape_count - 1 - i % 4]; // its middle
        poise_goal goal = poise_goal_position(w.arm.body, w.arm.tip.position, box->pose.position);
        poise_report report;
        ck_assert_int_eq(poise_solve_within(solver, &goal, 1, &apart, 1, q, &report, NULL), POISE_OK);
        check_answer(w.arm.model, &apart, 1, q, &report);
        ck_assert(report.holds);
        ck_assert_double_le(report.cost, report.start_cost);
        blocked += report.blocking == 0 && report.active_constraints > 0;
        ended += report.outcome == POISE_OUTCOME_CLOSEST;
    }
    ck_assert_int_ge(blocked, 3); // other targets are out of reach
    ck_assert_int_ge(ended, 8);   // others stall on a corner, where the distance has no derivative
}

TEST(what_cannot_hold_says_so)
{
    scene_random random = scene_random_make(9);
    world w = random_world(&random, 0, 0);
    poise_shape shapes[2] = {w.shapes[1], poise_shape_box(POISE_WORLD, poise_pose_identity(), poise_vec3_make(9, 9, 9))};
    poise_pair pair = {0, 1};
    poise_constraint given = poise_constraint_default(POISE_CONSTRAINT_CLEARANCE);
    given.shapes = shapes, given.shape_count = 2, given.pairs = &pair, given.pair_count = 1;
    poise_solver_options options = poise_solver_options_default();
    options.restarts = 3;
    poise_solver *solver = solver_for(w.arm.model, &given, 1, options);
    double q[ARM_LARGEST] = {0};
    poise_goal goal = poise_goal_position(w.arm.body, w.arm.tip.position, poise_vec3_make(0.3, 0.3, 0.3));
    poise_report report;
    ck_assert_int_eq(poise_solve_within(solver, &goal, 1, &given, 1, q, &report, NULL), POISE_OK);
    ck_assert_int_eq(report.outcome, POISE_OUTCOME_INFEASIBLE);
    ck_assert(!report.holds && report.blocking == 0 && report.blocking_item == 0 && report.clearance < 0);
    ck_assert_double_lt(poise_solver_constraint_room(solver, 0, NULL), 0);
    ck_assert_str_eq(poise_outcome_name(report.outcome), "infeasible");
    check_answer(w.arm.model, &given, 1, q, &report);
}

// An arm of two links of 1 in the plane, its tip to a place that a wall, a limit or a posture keeps it from.
TEST(what_is_in_the_way_is_named)
{
    static const char *const names[] = {"shapes", "balance", "loops", "limits", "together", "soft goals"};
    poise_builder *builder;
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    for (int k = 0; k < 2; ++k) {
        poise_joint joint = poise_joint_default();
        joint.name = k == 0 ? "shoulder" : "elbow", joint.parent = k == 0 ? NULL : "shoulder";
        joint.type = POISE_JOINT_REVOLUTE, joint.axis = poise_vec3_make(0, 0, 1);
        joint.offset.position = poise_vec3_make(k, 0, 0);
        joint.lower[0] = -1.5, joint.upper[0] = 1.5;
        ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    }
    poise_model *model;
    ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_OK);
    poise_builder_destroy(builder);
    model = own_model(model);
    poise_shape shapes[2] = {
        poise_shape_capsule(1, poise_vec3_make(1, 0, 0), poise_vec3_make(1, 0, 0), 0.1),
        poise_shape_capsule(POISE_WORLD, poise_vec3_make(1.2, 0.9, 0), poise_vec3_make(1.2, 0.9, 0), 0.3)};
    poise_pair pair = {0, 1};
    poise_constraint apart = poise_constraint_default(POISE_CONSTRAINT_CLEARANCE);
    apart.shapes = shapes, apart.shape_count = 2, apart.pairs = &pair, apart.pair_count = 1;
    poise_solver_options options = poise_solver_options_default();
    options.restarts = 20;
    poise_solver *solver = solver_for(model, &apart, 1, options);
    double start[2] = {0.3, 0.3};
    const unsigned all = 0x3f;
    unsigned found = 99;
    poise_goal inside = poise_goal_position(1, poise_vec3_make(1, 0, 0), poise_vec3_make(1.2, 0.9, 0));
    poise_goal behind = poise_goal_position(1, poise_vec3_make(1, 0, 0), poise_vec3_make(-1.2, 0.9, 0));
    poise_goal far = poise_goal_position(1, poise_vec3_make(1, 0, 0), poise_vec3_make(3, 0, 0));
    poise_goal pulled[2] = {poise_goal_position(1, poise_vec3_make(1, 0, 0), poise_vec3_make(1.2, -0.9, 0)),
                            poise_goal_posture(start, 1)};
    ck_assert_int_eq(poise_solve_blockers(solver, &inside, 1, &apart, 1, start, all, NULL, &found, NULL), POISE_OK);
    ck_assert_uint_eq(found, POISE_BLOCKED_BY_SHAPES);
    ck_assert_int_eq(poise_solve_blockers(solver, &behind, 1, &apart, 1, start, all, NULL, &found, NULL), POISE_OK);
    ck_assert_uint_eq(found, POISE_BLOCKED_BY_LIMITS);
    ck_assert_int_eq(poise_solve_blockers(solver, &behind, 1, NULL, 0, start, POISE_BLOCKED_BY_SHAPES, NULL, &found, NULL),
                     POISE_OK);
    ck_assert_uint_eq(found, 0); // limits were not sought
    ck_assert_int_eq(poise_solve_blockers(solver, &far, 1, &apart, 1, start, all, NULL, &found, NULL), POISE_OK);
    ck_assert_uint_eq(found, 0); // out of reach in any case
    ck_assert_int_eq(poise_solve_blockers(solver, pulled, 2, &apart, 1, start, all, NULL, &found, NULL), POISE_OK);
    ck_assert_uint_eq(found, POISE_BLOCKED_BY_SOFT_GOALS);
    double q[2] = {start[0], start[1]};
    ck_assert_int_eq(poise_solve(solver, pulled, 2, q, NULL, NULL), POISE_OK);
    ck_assert(!poise_solver_goal_is_met(solver, 0) && poise_solver_goal_is_met(solver, 1)); // a posture only pulls
    pulled[0].weight = 0;
    ck_assert(poise_solver_goal_is_met(solver, 0) && !poise_solver_goal_is_met(solver, 2));
    ck_assert(!poise_solver_goal_is_met(NULL, 0));
    pulled[0].weight = 1, pulled[1].weight = 0;
    ck_assert_int_eq(poise_solve(solver, pulled, 2, q, NULL, NULL), POISE_OK);
    ck_assert(poise_solver_goal_is_met(solver, 0));
    shapes[1].pose.position = poise_vec3_make(-1.2, 0.9, 0); // both there
    ck_assert_int_eq(poise_solve_blockers(solver, &behind, 1, &apart, 1, start, all, NULL, &found, NULL), POISE_OK);
    ck_assert_uint_eq(found, POISE_BLOCKED_TOGETHER);
    for (int k = 0; k < 6; ++k) {
        ck_assert_str_eq(poise_blocker_name((poise_blocker)(1 << k)), names[k]);
    }
    ck_assert_str_eq(poise_blocker_name((poise_blocker)3), "unknown");
    found = 99;
    ck_assert_int_eq(poise_solve_blockers(solver, &far, 0, NULL, 0, start, all, NULL, &found, NULL), POISE_ERROR_ARGUMENT);
    options.method = POISE_METHOD_LEVENBERG_MARQUARDT;
    poise_solver *other = solver_for(model, NULL, 0, options);
    ck_assert_int_eq(poise_solve_blockers(other, &far, 1, NULL, 0, start, all, NULL, &found, NULL), POISE_ERROR_UNSUPPORTED);
    ck_assert_uint_eq(found, 99);
}

TEST(what_is_not_sound_is_refused)
{
    scene_random random = scene_random_make(9);
    world w = random_world(&random, 1, 0);
    poise_constraint given = w.apart;
    given.shapes = w.shapes, given.pairs = w.pairs;
    poise_solver_options options = poise_solver_options_default();
    poise_solver *small = solver_for(w.arm.model, NULL, 0, options), *solver = solver_for(w.arm.model, &given, 1, options);
    double q[ARM_LARGEST] = {0};
    poise_error error;
    poise_report report;
    ck_assert_int_eq(poise_solve_within(small, NULL, 0, &given, 1, q, &report, &error), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.text, "poise_constraints_size"));
    given.margin = -1;
    ck_assert(isnan(poise_constraint_room(figure_of(w.arm.model).kin, &given, NULL)));
    ck_assert_int_eq(poise_solve_within(solver, NULL, 0, &given, 1, q, &report, &error), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.text, "constraint 0 (clearance)"));
    given.margin = 0, given.pair_count += 1;
    w.pairs[given.pair_count - 1] = (poise_pair){0, 99};
    ck_assert_int_eq(poise_solve_within(solver, NULL, 0, &given, 1, q, &report, &error), POISE_ERROR_ARGUMENT);
    given.pair_count -= 1;
    double radius = w.shapes[0].radius;
    w.shapes[0].radius = -1;
    ck_assert_int_eq(poise_solve_within(solver, NULL, 0, &given, 1, q, &report, &error), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.text, "shape 0"));
    w.shapes[0].radius = radius;
    options.method = POISE_METHOD_LBFGS;
    options.engine = poise_papers_engine(options.method);
    poise_solver *other = solver_for(w.arm.model, &given, 1, options);
    ck_assert_int_eq(poise_solve_within(other, NULL, 0, &given, 1, q, &report, &error), POISE_ERROR_UNSUPPORTED);
    poise_constraint loop = poise_constraint_default(POISE_CONSTRAINT_DISTANCE);
    ck_assert_int_eq(poise_constraint_check(&loop, w.arm.model, &error), POISE_ERROR_ARGUMENT);
    loop.lower = 1, loop.upper = 0.5;
    ck_assert_int_eq(poise_constraint_check(&loop, w.arm.model, &error), POISE_ERROR_ARGUMENT);
    loop.kind = POISE_CONSTRAINT_CONNECT, loop.body = POISE_WORLD;
    ck_assert_int_eq(poise_constraint_check(&loop, w.arm.model, &error), POISE_ERROR_ARGUMENT);
    loop.kind = POISE_CONSTRAINT_BALANCE;
    ck_assert_int_eq(poise_constraint_check(&loop, w.arm.model, &error), POISE_ERROR_ARGUMENT);
}

TEST(a_margin_of_balance_is_finite_and_not_negative)
{
    static const poise_vec3 square[] = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}};
    static const double margins[] = {0, 0.5, -0.01, INFINITY, NAN};
    poise_joint joint = joint_of("heavy", NULL, POISE_JOINT_REVOLUTE);
    poise_builder *builder = new_builder();
    joint.mass = 1;
    add(builder, &joint);
    poise_model *model = model_of(builder);
    poise_constraint balance = poise_constraint_default(POISE_CONSTRAINT_BALANCE);
    balance.polygon = square, balance.corner_count = 4;
    for (int i = 0; i < 5; ++i) {
        balance.margin = margins[i];
        ck_assert_int_eq(poise_constraint_check(&balance, model, NULL), i < 2 ? POISE_OK : POISE_ERROR_ARGUMENT);
    }
}

// ---- Loops ---------------------------------------------------------------------------------------------------------------

#define CLOSED 1e-14 // loops close to rounding, well below closure_tolerance

// Crank 0.2, coupler 0.5, rocker 0.4, ground 0.5, in the plane x, y: the coupler's end is tied to the rocker's.
static poise_model *four_bar_askew(double twist)
{
    poise_builder *builder = new_builder();
    poise_joint crank = joint_of("crank", NULL, POISE_JOINT_REVOLUTE),
                coupler = joint_of("coupler", "crank", POISE_JOINT_REVOLUTE);
    poise_joint rocker = joint_of("rocker", NULL, POISE_JOINT_REVOLUTE);
    coupler.offset.position.x = 0.2;
    rocker.offset.position.x = 0.5;
    rocker.offset.rotation = poise_quat_from_axis_angle(poise_vec3_make(1, 0, 0), twist);
    add(builder, &crank);
    add(builder, &coupler);
    add(builder, &rocker);
    return model_of(builder);
}

static poise_model *four_bar(void)
{
    return four_bar_askew(0);
}

static poise_constraint tie_bars(const poise_model *model, poise_constraint_kind kind)
{
    poise_constraint tie = poise_constraint_default(kind);
    tie.body = poise_model_find_body(model, "coupler");
    tie.body2 = poise_model_find_body(model, "rocker");
    tie.local.position.x = 0.5;
    tie.target.position.x = 0.4;
    return tie;
}

// Rows: CONNECT and HINGE, both of which have rows that say the same twice.
TEST_ROWS(a_four_bar_turns_closed, 2)
{
    poise_model *model = four_bar();
    poise_constraint tie = tie_bars(model, test_row == 0 ? POISE_CONSTRAINT_CONNECT : POISE_CONSTRAINT_HINGE);
    poise_solver *solver = solver_for(model, &tie, 1, poise_solver_options_default());
    double q[3] = {0.3, 0.6, 1.5};
    for (int i = 0; i < 200; ++i) {
        double angle = 0.3 + 0.03 * i, wanted[3] = {angle, 0, 0}, weights[3] = {1, 0, 0};
        poise_goal goal = poise_goal_posture(wanted, 1.0);
        goal.q_weights = weights;
        poise_report report;
        ck_assert_int_eq(poise_solve_within(solver, &goal, 1, &tie, 1, q, &report, NULL), POISE_OK);
        ck_assert_msg(report.outcome == POISE_OUTCOME_REACHED, "frame %d: %s", i, report.reason);
        check_answer(model, &tie, 1, q, &report);
        ck_assert_double_le(report.closure, CLOSED);
    }
    figure f = figure_of(model);
    f.q[0] = 0.3;
    update(&f);
    ck_assert_double_lt(poise_constraint_room(f.kin, &tie, NULL), -0.01); // open
}

// The digits of a file leave axes that are not quite parallel: no angle of the rocker but two closes such a loop.
TEST(a_four_bar_turns_though_its_axes_are_not_quite_parallel)
{
    poise_model *model = four_bar_askew(2e-5);
    poise_constraint tie = tie_bars(model, POISE_CONSTRAINT_CONNECT);
    poise_solver_options options = poise_solver_options_default();
    options.constraints.closure_tolerance = 1e-5;
    poise_solver *solver = solver_for(model, &tie, 1, options);
    figure f = figure_of(model);
    double q[3] = {0.3, 0.6, 1.5};
    for (int i = 0; i < 200; ++i) {
        double angle = 0.3 + 0.03 * i;
        poise_goal goal = poise_goal_direction(0, poise_vec3_make(1, 0, 0), poise_vec3_make(cos(angle), sin(angle), 0));
        poise_report report;
        ck_assert_int_eq(poise_solve_within(solver, &goal, 1, &tie, 1, q, &report, NULL), POISE_OK);
        ck_assert_msg(report.outcome == POISE_OUTCOME_REACHED, "frame %d: %s", i, report.reason);
        ck_assert_double_lt(fabs(sin(q[0] - angle)), 2e-6);
        memcpy(f.q, q, sizeof q);
        update(&f);
        ck_assert_double_ge(poise_constraint_room(f.kin, &tie, NULL), -1e-5);
    }
}

// A tolerance is for loops that cannot close better: others do, and what pulls at them gains nothing by it.
TEST(a_tolerance_for_loops_does_not_change_the_answer)
{
    poise_model *model = four_bar();
    poise_constraint tie = tie_bars(model, POISE_CONSTRAINT_CONNECT);
    poise_solver_options options = poise_solver_options_default();
    poise_solver *exact = solver_for(model, &tie, 1, options);
    options.constraints.closure_tolerance = 1e-5;
    poise_solver *loose = solver_for(model, &tie, 1, options);
    for (int i = 0; i < 50; ++i) {
        double wanted[3] = {0.3 + 0.02 * i, 0.6, 1.5}, q[2][3] = {{0.3, 0.6, 1.5}, {0.3, 0.6, 1.5}};
        poise_goal goal = poise_goal_posture(wanted, 1.0);
        ck_assert_int_eq(poise_solve_within(exact, &goal, 1, &tie, 1, q[0], NULL, NULL), POISE_OK);
        ck_assert_int_eq(poise_solve_within(loose, &goal, 1, &tie, 1, q[1], NULL, NULL), POISE_OK);
        for (int k = 0; k < 3; ++k) {
            ck_assert_double_lt(fabs(q[0][k] - q[1][k]), 1e-6);
        }
    }
}

// A point of the coupler towards targets that one degree of freedom does not reach.
TEST(a_four_bar_comes_closest)
{
    poise_model *model = four_bar();
    poise_constraint tie = tie_bars(model, POISE_CONSTRAINT_CONNECT);
    poise_solver *solver = solver_for(model, &tie, 1, poise_solver_options_default());
    double q[3] = {0.3, 0.6, 1.5};
    int closest = 0;
    for (int i = 0; i < 100; ++i) {
        double s, c;
        poise_sincos(0.06 * i, &s, &c);
        poise_goal goal =
            poise_goal_position(tie.body, poise_vec3_make(0.25, 0.2, 0), poise_vec3_make(0.2 + 0.2 * c, 0.3 + 0.2 * s, 0));
        poise_report report;
        ck_assert_int_eq(poise_solve_within(solver, &goal, 1, &tie, 1, q, &report, NULL), POISE_OK);
        check_answer(model, &tie, 1, q, &report);
        ck_assert(report.holds);
        ck_assert_double_le(report.closure, CLOSED);
        closest += report.outcome == POISE_OUTCOME_CLOSEST;
    }
    ck_assert_int_ge(closest, 95);
}

// The report is that of the start whose answer stands, whatever later starts run into: here their budget.
TEST(starts_that_end_worse_say_nothing)
{
    poise_model *model = four_bar();
    poise_constraint tie = tie_bars(model, POISE_CONSTRAINT_CONNECT);
    poise_goal goal = poise_goal_position(tie.body, poise_vec3_make(0.25, 0.2, 0), poise_vec3_make(0.5, 2.0, 0));
    poise_solver_options options = poise_solver_options_default();
    double q[3] = {0.3, 0.6, 1.5};
    poise_report report;
    for (int few = 0; few < 2; ++few) { // from afar; then from there, with restarts and little time for each
        options.restarts = few ? 10 : 0;
        options.max_iterations = few ? 2 : options.max_iterations;
        poise_solver *solver = solver_for(model, &tie, 1, options);
        ck_assert_int_eq(poise_solve_within(solver, &goal, 1, &tie, 1, q, &report, NULL), POISE_OK);
        check_answer(model, &tie, 1, q, &report);
        ck_assert_msg(report.outcome == POISE_OUTCOME_CLOSEST, "%s", report.reason);
        ck_assert_int_eq(report.restarts, options.restarts);
    }
}

// Two limbs of a random tree tied together at random, other goals on top: loops of every kind.
TEST_ROWS(loops_of_every_kind_close, 5)
{
    int closed = 0, tried = 30;
    for (int i = 0; i < tried; ++i) {
        scene_random random = scene_random_make(400 + (uint64_t)(100 * test_row + i));
        figure f = random_figure(&random, 8, RANDOM_PLAIN), other = figure_of(f.model);
        poise_constraint tie = poise_constraint_default((poise_constraint_kind)(POISE_CONSTRAINT_CONNECT + test_row));
        tie.body = 7, tie.body2 = i % 3 == 0 ? POISE_WORLD : 2;
        tie.local.position = random_vector(&random, 0.2);
        poise_pose a = poise_kinematics_body_pose(f.kin, 7), b = poise_pose_identity();
        if (tie.body2 != POISE_WORLD) {
            b = poise_kinematics_body_pose(f.kin, 2);
        }
        tie.target = poise_pose_multiply(poise_pose_inverse(b), poise_pose_multiply(a, tie.local));
        if (tie.kind == POISE_CONSTRAINT_DISTANCE) {
            tie.target.position.z += 0.1;
            tie.lower = 0.1, tie.upper = i % 2 == 0 ? 0.1 : 0.3;
        }
        double off[FIGURE_NUMBERS];
        random_step(&random, f.model, 0.1, off);
        ck_assert_int_eq(poise_retract(f.model, f.q, off, other.q, NULL), POISE_OK);
        poise_solver *solver = solver_for(f.model, &tie, 1, poise_solver_options_default());
        poise_goal goal = poise_goal_position(5, poise_vec3_make(0, 0, 0),
                                              poise_kinematics_point(f.kin, 5, poise_vec3_make(0.02, 0.01, 0)));
        poise_report report;
        ck_assert_int_eq(poise_solve_within(solver, &goal, 1, &tie, 1, other.q, &report, NULL), POISE_OK);
        check_answer(f.model, &tie, 1, other.q, &report);
        closed += report.holds;
    }
    ck_assert_int_ge(closed, tried - 2);
}

// ---- Balance and floor ---------------------------------------------------------------------------------------------------

// A torso on a foot that is welded to the ground, with an arm that reaches far.
TEST(a_reaching_figure_keeps_its_balance)
{
    poise_builder *builder = new_builder();
    static const char *const names[] = {"foot", "shin", "thigh", "trunk", "arm", "hand"};
    for (int i = 0; i < 6; ++i) {
        poise_joint joint =
            joint_of(names[i], i == 0 ? NULL : names[i - 1], i == 0 ? POISE_JOINT_FREE_EULER : POISE_JOINT_UNIVERSAL);
        joint.axis = poise_vec3_make(1, 0, 0), joint.axis2 = poise_vec3_make(0, 1, 0);
        joint.offset.position.z = i == 0 ? 0 : 0.3;
        joint.mass = 2.0;
        joint.mass_center.z = 0.15;
        add(builder, &joint);
    }
    poise_model *model = model_of(builder);
    static const poise_vec3 polygon[] = {{-0.1, -0.05, 0}, {0.1, -0.05, 0}, {0.1, 0.05, 0}, {-0.1, 0.05, 0}};
    poise_constraint given[2] = {poise_constraint_default(POISE_CONSTRAINT_WELD),
                                 poise_constraint_default(POISE_CONSTRAINT_BALANCE)};
    given[1].polygon = polygon, given[1].corner_count = 4, given[1].margin = 0.01;
    poise_solver *solver = solver_for(model, given, 2, poise_solver_options_default());
    int at_edge = 0;
    scene_random random = scene_random_make(77);
    for (int i = 0; i < 60; ++i) {
        double q[16] = {0};
        poise_vec3 d = scene_random_direction(&random);
        poise_goal goal = poise_goal_position(5, poise_vec3_make(0, 0, 0.2), poise_vec3_make(d.x, d.y, 1 + 0.5 * d.z));
        poise_report report;
        ck_assert_int_eq(poise_solve_within(solver, &goal, 1, given, 2, q, &report, NULL), POISE_OK);
        check_answer(model, given, 2, q, &report);
        ck_assert(report.holds);
        ck_assert_double_le(report.closure, CLOSED);
        at_edge += report.blocking == 1;
    }
    ck_assert_int_ge(at_edge, 20);
}

// A target inside a box, from afar: whatever the search ends with, it names the box.
TEST_ROWS(a_box_around_the_target_is_named, 3)
{
    static const int iterations[] = {100, 10, 8}; // enough, and too few to come near the box
    int named = 0, tried = 20;
    for (int i = 0; i < tried; ++i) {
        scene_random random = scene_random_make(900 + (uint64_t)i);
        test_arm arm = arm_random(&random, 7, ARM_PLAIN);
        figure f = figure_of(arm.model);
        int tip = poise_model_info(f.model).joints - 1;
        scene_random_configuration(&random, f.model, f.q);
        update(&f);
        poise_pose there = poise_kinematics_body_pose(f.kin, tip), at = {poise_pose_identity().rotation, there.position};
        poise_shape shapes[] = {poise_shape_box(POISE_WORLD, poise_pose_identity(), poise_vec3_make(1e-3, 1e-3, 1e-3)),
                                poise_shape_box(POISE_WORLD, at, poise_vec3_make(0.05, 0.05, 0.05)),
                                poise_shape_capsule(tip, poise_vec3_make(0, 0, 0), poise_vec3_make(0, 0, 0), 0.01)};
        shapes[0].pose.position = poise_vec3_make(20, 20, 20);
        const poise_pair pairs[] = {{0, 2}, {1, 2}, {1, 2}}; // of two that are alike the first is named
        poise_constraint apart = poise_constraint_default(POISE_CONSTRAINT_CLEARANCE);
        apart.shapes = shapes, apart.shape_count = 3, apart.pairs = pairs, apart.pair_count = 3;
        poise_solver_options options = poise_solver_options_default();
        options.start = POISE_START_COLD;
        options.restarts = 20;
        options.max_iterations = iterations[test_row];
        poise_solver *solver = solver_for(f.model, &apart, 1, options);
        poise_goal goal = i % 2 ? poise_goal_pose(tip, poise_pose_identity(), there)
                                : poise_goal_position(tip, poise_vec3_make(0, 0, 0), there.position);
        poise_report report;
        double q[16] = {0};
        ck_assert_int_eq(poise_solve_within(solver, &goal, 1, &apart, 1, q, &report, NULL), POISE_OK);
        check_answer(f.model, &apart, 1, q, &report);
        ck_assert(report.outcome != POISE_OUTCOME_REACHED);
        ck_assert(report.blocking == POISE_NONE || report.blocking_item == 1);
        named += report.blocking == 0;
    }
    ck_assert_int_eq(named, tried);
}

// A rod from a point at 1e300, whose length has no square.
TEST(a_report_is_finite_where_a_loop_is_too_long_to_represent)
{
    poise_builder *builder = new_builder();
    poise_joint joint = joint_of("slide", NULL, POISE_JOINT_PRISMATIC);
    add(builder, &joint);
    poise_model *model = model_of(builder);
    poise_constraint rod = poise_constraint_default(POISE_CONSTRAINT_DISTANCE);
    rod.local.position.x = 1e300;
    rod.lower = rod.upper = 1.0;
    poise_solver *solver = solver_for(model, &rod, 1, poise_solver_options_default());
    poise_goal goal = poise_goal_position(0, poise_vec3_make(0, 0, 0), poise_vec3_make(0, 0, 1));
    double q = 0.0;
    poise_report report;
    ck_assert_int_eq(poise_solve_within(solver, &goal, 1, &rod, 1, &q, &report, NULL), POISE_OK);
    ck_assert(!report.holds && report.outcome == POISE_OUTCOME_INFEASIBLE);
    ck_assert(isfinite(q) && isfinite(report.closure) && isfinite(report.cost));
}

// ---- Within units -------------------------------------------------------------------------------------------------------
//
// Constraints do not depend on the unit of length: a robot in millimetres, kilometres or anything else is treated as the
// same robot in metres. With powers of 1024 for units nothing is rounded differently, and answers agree bit by bit.

#define JOINTS 8

// A robot in some unit, with what it is asked for.
typedef struct scaled {
    poise_model *model;
    double q[JOINTS];
    poise_shape shapes[JOINTS + 1];
    poise_pair pairs[JOINTS];
    poise_constraint constraint;
    poise_goal goal;
} scaled;

static poise_vec3 times(poise_vec3 v, double scale)
{
    return poise_vec3_make(scale * v.x, scale * v.y, scale * v.z);
}

// Two chains on one root, hinges but for one slide with limits.
static poise_model *two_chains(scene_random *random, double scale)
{
    static const char *names[JOINTS] = {"root", "a1", "a2", "a3", "b1", "b2", "b3", "b4"};
    static const char *parents[JOINTS] = {NULL, "root", "a1", "a2", "root", "b1", "b2", "b3"};
    poise_builder *builder = new_builder();
    for (int i = 0; i < JOINTS; ++i) {
        poise_joint joint = joint_of(names[i], parents[i], i == 5 ? POISE_JOINT_PRISMATIC : POISE_JOINT_REVOLUTE);
        joint.axis = scene_random_direction(random);
        joint.offset.position = times(scene_random_direction(random), 0.3 * scale);
        joint.lower[0] = i == 5 ? -0.2 * scale : -2.5;
        joint.upper[0] = i == 5 ? 0.2 * scale : 2.5;
        add(builder, &joint);
    }
    return model_of(builder);
}

// A capsule on each link, and a box somewhere.
static void add_shapes(scaled *s, scene_random *random, double scale)
{
    for (int i = 0; i < JOINTS; ++i) {
        s->shapes[i] = poise_shape_capsule(i, poise_vec3_make(0, 0, 0), times(scene_random_direction(random), 0.2 * scale),
                                           0.03 * scale);
        s->pairs[i] = (poise_pair){i, JOINTS};
    }
    poise_pose at = {poise_quat_from_axis_angle(scene_random_direction(random), 1.0),
                     times(scene_random_direction(random), 0.6 * scale)};
    s->shapes[JOINTS] = poise_shape_box(POISE_WORLD, at, times(poise_vec3_make(0.1, 0.15, 0.2), scale));
    s->constraint.shapes = s->shapes, s->constraint.shape_count = JOINTS + 1;
    s->constraint.pairs = s->pairs, s->constraint.pair_count = JOINTS;
    s->constraint.margin = 0.01 * scale;
}

// Points of the chains' ends that meet in some configuration.
static void add_loop(scaled *s, const double *closed, scene_random *random, double scale)
{
    figure f = figure_of(s->model);
    memcpy(f.q, closed, sizeof s->q);
    update(&f);
    s->constraint.body = 3, s->constraint.body2 = 6;
    s->constraint.local.position = times(scene_random_direction(random), 0.1 * scale);
    poise_vec3 x = poise_kinematics_point(f.kin, 3, s->constraint.local.position);
    s->constraint.target.position = poise_pose_transform(poise_pose_inverse(poise_kinematics_body_pose(f.kin, 6)), x);
}

static void make(scaled *s, poise_constraint_kind kind, int number, double scale)
{
    scene_random random = scene_random_make(700 + (uint64_t)number);
    double closed[JOINTS];
    *s = (scaled){.model = two_chains(&random, scale), .constraint = poise_constraint_default(kind)};
    for (int i = 0; i < JOINTS; ++i) {
        double unit = i == 5 ? scale : 1.0, range = i == 5 ? 0.15 : 1.0;
        closed[i] = unit * scene_random_range(&random, -range, range);
        s->q[i] = closed[i] + unit * scene_random_range(&random, -0.05, 0.05);
    }
    if (kind == POISE_CONSTRAINT_CLEARANCE) {
        add_shapes(s, &random, scale);
    } else {
        add_loop(s, closed, &random, scale);
    }
    s->goal = poise_goal_position(7, poise_vec3_make(0, 0, 0), times(scene_random_direction(&random), 0.7 * scale));
}

// Solved in a unit, and back in metres.
static poise_report solve(poise_constraint_kind kind, int number, double scale, double *q)
{
    scaled s;
    make(&s, kind, number, scale);
    poise_solver_options options = poise_solver_options_default();
    options.restarts = 4;
    options.position_tolerance *= scale;
    poise_constraints_size(&s.constraint, 1, &options.constraints);
    poise_solver *solver = NULL;
    ck_assert_int_eq(poise_solver_create(s.model, &options, NULL, &solver, NULL), POISE_OK);
    own_solver(solver);
    poise_report report;
    ck_assert_int_eq(poise_solve_within(solver, &s.goal, 1, &s.constraint, 1, s.q, &report, NULL), POISE_OK);
    memcpy(q, s.q, sizeof s.q);
    q[5] /= scale;
    return report;
}

static const poise_constraint_kind kinds[] = {POISE_CONSTRAINT_CLEARANCE, POISE_CONSTRAINT_CONNECT, POISE_CONSTRAINT_WELD,
                                              POISE_CONSTRAINT_HINGE};

// Rows: kinds of constraints by powers of 1024.
TEST_ROWS(units_change_no_bit, 4 * 4)
{
    static const double scales[] = {1.0 / 1048576.0, 1.0 / 1024.0, 1024.0, 1048576.0};
    poise_constraint_kind kind = kinds[test_row / 4];
    double scale = scales[test_row % 4], q[JOINTS], other[JOINTS];
    for (int i = 0; i < 20; ++i) {
        poise_report one = solve(kind, i, 1.0, q), two = solve(kind, i, scale, other);
        ck_assert_msg(one.outcome == two.outcome && one.iterations == two.iterations && one.blocking == two.blocking &&
                          one.active_constraints == two.active_constraints,
                      "%d: %s after %d, not %s after %d", i, poise_outcome_name(two.outcome), two.iterations,
                      poise_outcome_name(one.outcome), one.iterations);
        ck_assert_mem_eq(q, other, sizeof q);
    }
}

// Rows: the same for millimetres and kilometres, whose rounding differs: as many hold and are reached.
TEST_ROWS(millimetres_and_kilometres_hold_as_metres_do, 4 * 2)
{
    poise_constraint_kind kind = kinds[test_row / 2];
    int held[2] = {0, 0}, reached[2] = {0, 0};
    for (int i = 0; i < 100; ++i) {
        double q[JOINTS];
        for (int k = 0; k < 2; ++k) {
            poise_report report = solve(kind, i, k == 0 ? 1.0 : test_row % 2 == 0 ? 1000.0 : 0.001, q);
            held[k] += report.holds;
            reached[k] += report.outcome == POISE_OUTCOME_REACHED;
        }
    }
    ck_assert_int_ge(held[0], 35);               // 41 % of 2000
    ck_assert_int_le(abs(held[0] - held[1]), 1); // a loop that just closes, or just not
    ck_assert_int_le(abs(reached[0] - reached[1]), 1);
}
