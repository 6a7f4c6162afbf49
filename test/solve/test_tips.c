// Goals at several tips through the public calls: arms that share a torso or nothing, whole figures, hands.
#include "scenes/scenes.h"
#include "support/skeleton.h"

#include <math.h>
#include <string.h>

#define NUMBERS 128
#define TIPS    5
#define WITHIN  1e-6 // the default tolerances

// ---- Robots --------------------------------------------------------------------------------------------------------------

// A joint at a random place of an arm, its axis across that of the joint before, limits on both sides.
static void add_arm_joint(poise_builder *builder, scene_random *random, const char *name, const char *parent, bool slides)
{
    poise_joint joint = joint_of(name, parent, slides ? POISE_JOINT_PRISMATIC : POISE_JOINT_REVOLUTE);
    joint.offset.rotation = scene_random_rotation(random);
    joint.offset.position = random_vector(random, 0.2);
    joint.lower[0] = slides ? -0.2 : scene_random_range(random, -2.9, -1.0);
    joint.upper[0] = slides ? 0.3 : scene_random_range(random, 1.0, 2.9);
    add(builder, &joint);
}

static void add_arm(poise_builder *builder, scene_random *random, const char *prefix, const char *parent, int joints)
{
    char name[32], above[32] = "";
    for (int i = 0; i < joints; ++i) {
        snprintf(name, sizeof name, "%s%d", prefix, i);
        add_arm_joint(builder, random, name, i == 0 ? parent : above, false);
        memcpy(above, name, sizeof above);
    }
}

static poise_model *made(poise_builder *builder)
{
    poise_model *model = NULL;
    poise_error error = {0};
    ck_assert_msg(poise_model_create(builder, NULL, &model, &error) == POISE_OK, "%s", error.text);
    return own_model(model);
}

typedef enum trunk { NO_TRUNK = 0, SLIDE, TORSO, FLOATING, BALL, TRUNKS } trunk;

// Two arms of seven hinges on a trunk.
static poise_model *two_arms(scene_random *random, trunk kind)
{
    static const poise_joint_type types[TRUNKS] = {POISE_JOINT_FIXED, POISE_JOINT_PRISMATIC, POISE_JOINT_REVOLUTE,
                                                   POISE_JOINT_FREE, POISE_JOINT_BALL_QUATERNION};
    poise_builder *builder = new_builder();
    if (kind == SLIDE || kind == TORSO) {
        add_arm_joint(builder, random, "trunk", NULL, kind == SLIDE);
    } else {
        add_plain(builder, "trunk", NULL, types[kind]);
    }
    add_arm(builder, random, "left", "trunk", 7);
    add_arm(builder, random, "right", "trunk", 7);
    return made(builder);
}

// ---- Problems ------------------------------------------------------------------------------------------------------------

typedef struct tips {
    const poise_model *model;
    poise_kinematics *kin;
    int nq, count;
    int bodies[TIPS];
    poise_goal_kind kinds[TIPS];
    poise_goal goals[TIPS];
    double start[NUMBERS], q[NUMBERS];
} tips;

static tips tips_on(const poise_model *model, int count, const char *const *bodies)
{
    tips t = {.model = model, .nq = poise_model_info(model).nq, .count = count};
    poise_kinematics *kin = NULL;
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kin, NULL), POISE_OK);
    t.kin = own_kinematics(kin);
    for (int i = 0; i < count; ++i) {
        t.bodies[i] = poise_model_find_part(model, bodies[i], NULL, NULL);
        t.kinds[i] = POISE_GOAL_POSE;
        ck_assert_int_ge(t.bodies[i], 0);
    }
    return t;
}

static poise_goal goal_at(const tips *t, int i, poise_vec3 point, poise_vec3 axis)
{
    poise_pose local = {{0, 0, 0, 1}, point}, at = poise_kinematics_body_pose(t->kin, t->bodies[i]);
    poise_vec3 x = poise_kinematics_point(t->kin, t->bodies[i], point);
    poise_vec3 d = poise_kinematics_direction(t->kin, t->bodies[i], axis);
    switch (t->kinds[i]) {
    case POISE_GOAL_POSITION:
        return poise_goal_position(t->bodies[i], point, x);
    case POISE_GOAL_DIRECTION:
        return poise_goal_direction(t->bodies[i], axis, d);
    case POISE_GOAL_AIM:
        return poise_goal_aim(t->bodies[i], point, axis, poise_vec3_make(x.x + d.x, x.y + d.y, x.z + d.z));
    default:
        return poise_goal_pose(t->bodies[i], local, poise_pose_multiply(at, local));
    }
}

// Targets of a posture within the limits, and another one to start from.
static void draw(tips *t, scene_random *random)
{
    double there[NUMBERS];
    scene_random_configuration(random, t->model, there);
    scene_random_configuration(random, t->model, t->start);
    poise_kinematics_update(t->kin, there, NULL);
    for (int i = 0; i < t->count; ++i) {
        t->goals[i] = goal_at(t, i, random_vector(random, 0.1), scene_random_direction(random));
    }
    memcpy(t->q, t->start, sizeof t->q);
}

static poise_solver *solver_for(const poise_model *model, int restarts, poise_start start)
{
    poise_solver_options options = poise_solver_options_default();
    options.restarts = restarts;
    options.start = start;
    poise_solver *solver = NULL;
    ck_assert_int_eq(poise_solver_create(model, &options, NULL, &solver, NULL), POISE_OK);
    return own_solver(solver);
}

// Solve, and check what the report says by an objective of the test's own.
static poise_report solve(tips *t, poise_solver *solver)
{
    poise_report r;
    ck_assert_int_eq(poise_solve(solver, t->goals, t->count, t->q, &r, NULL), POISE_OK);
    ck_assert(poise_model_within_limits(t->model, t->q));
    poise_objective *made_objective = NULL;
    ck_assert_int_eq(poise_objective_create(t->model, 0, NULL, &made_objective, NULL), POISE_OK);
    poise_objective *o = own_objective(made_objective);
    ck_assert_int_eq(poise_objective_set_goals(o, t->goals, t->count, NULL), POISE_OK);
    poise_objective_evaluate(o, t->start, POISE_LEVEL_COST, NULL);
    ck_assert_double_eq_tol(r.start_cost, poise_objective_value(o).cost, 1e-12 * (1.0 + r.start_cost));
    poise_objective_evaluate(o, t->q, POISE_LEVEL_COST, NULL);
    ck_assert_double_eq_tol(r.cost, poise_objective_value(o).cost, 1e-12 * (1.0 + r.start_cost));
    double length = 0.0, angle = 0.0;
    for (int i = 0; i < t->count; ++i) {
        poise_goal_error e = poise_objective_goal_error(o, i), told = poise_solver_goal_error(solver, i);
        ck_assert_double_eq_tol(e.error, told.error, 1e-9);
        ck_assert_double_eq_tol(e.rotation_error, told.rotation_error, 1e-7);
        length = fmax(length, e.unit == POISE_UNIT_LENGTH ? e.error : 0.0);
        angle = fmax(angle, e.unit == POISE_UNIT_ANGLE ? e.error : e.rotation_error);
    }
    ck_assert_double_eq_tol(r.worst_length, length, 1e-9);
    ck_assert_double_eq_tol(r.worst_angle, angle, 1e-7);
    ck_assert_int_eq(r.outcome == POISE_OUTCOME_REACHED, length <= WITHIN && angle <= WITHIN);
    return r;
}

static int count_reached(tips *t, scene_random *random, int rounds, poise_solver *solver)
{
    int reached = 0;
    for (int i = 0; i < rounds; ++i) {
        draw(t, random);
        reached += solve(t, solver).outcome == POISE_OUTCOME_REACHED;
    }
    return reached;
}

// ---- Success -------------------------------------------------------------------------------------------------------------

static const char *const hands[] = {"left6", "right6"};

TEST_ROWS(two_arms_on_any_trunk_reach_what_they_can, TRUNKS)
{
    scene_random random = scene_random_make(11 + (uint64_t)test_row);
    for (int k = 0; k < 5; ++k) {
        tips t = tips_on(two_arms(&random, (trunk)test_row), 2, hands);
        bool is_floating = test_row == FLOATING;
        poise_solver *solver = solver_for(t.model, 300, is_floating ? POISE_START_COLD : POISE_START_WARM);
        ck_assert_int_eq(count_reached(&t, &random, 40, solver), 40);
    }
}

// Arms of three hinges, too few for a pose, on a trunk of six.
static poise_model *short_arms(scene_random *random)
{
    poise_builder *builder = new_builder();
    add_arm(builder, random, "trunk", NULL, 6);
    add_arm(builder, random, "left", "trunk5", 3);
    add_arm(builder, random, "right", "trunk5", 3);
    return made(builder);
}

// A step of Gauss and Newton squares what is left, 1e-3 at first, so that two or three are enough beside an answer: in all
// but a few places that are nearly singular. Rows: a trunk that slides, turns, floats; short arms.
TEST_ROWS(beside_an_answer_a_few_steps_are_enough, 4)
{
    static const char *const short_hands[] = {"left2", "right2"};
    bool is_short = test_row == 3;
    int quick = 0;
    scene_random random = scene_random_make(61 + (uint64_t)test_row);
    for (int k = 0; k < 200; ++k) {
        tips t = tips_on(is_short ? short_arms(&random) : two_arms(&random, (trunk)(SLIDE + test_row)), 2,
                         is_short ? short_hands : hands);
        poise_solver *solver = solver_for(t.model, 300, POISE_START_COLD);
        double step[NUMBERS];
        draw(&t, &random);
        solve(&t, solver);
        random_step(&random, t.model, 1e-3, step);
        ck_assert_int_eq(poise_retract(t.model, t.q, step, t.q, NULL), POISE_OK);
        ck_assert_int_eq(poise_model_clamp(t.model, t.q, NULL, NULL), POISE_OK);
        memcpy(t.start, t.q, sizeof t.q);
        quick += solve(&t, solver).iterations <= 3;
        test_sweep();
    }
    ck_assert_int_ge(quick, 190);
}

TEST(whole_figures_reach_with_hands_and_feet)
{
    static const char *const bodies[] = {"left_palm", "right_palm", "left_sole", "right_sole"};
    static const char *const scenes[] = {"humanoid", "humanoid-quaternion"};
    for (size_t i = 0; i < TEST_COUNT(scenes); ++i) {
        scene_random random = scene_random_make(21);
        poise_model *model = NULL;
        ck_assert_int_eq(scene_create(scenes[i], NULL, &model, NULL), POISE_OK);
        tips t = tips_on(own_model(model), 4, bodies);
        ck_assert_int_eq(count_reached(&t, &random, 40, solver_for(t.model, 300, POISE_START_COLD)), 40);
    }
}

TEST(goals_of_all_kinds_are_reached_together)
{
    static const char *const bodies[] = {"left6", "right3", "right6", "right5"};
    static const poise_goal_kind kinds[] = {POISE_GOAL_POSE, POISE_GOAL_AIM, POISE_GOAL_POSITION, POISE_GOAL_DIRECTION};
    scene_random random = scene_random_make(31);
    for (int kind = 0; kind < TRUNKS; ++kind) {
        tips t = tips_on(two_arms(&random, (trunk)kind), 4, bodies);
        memcpy(t.kinds, kinds, sizeof kinds);
        ck_assert_int_eq(count_reached(&t, &random, 30, solver_for(t.model, 300, POISE_START_COLD)), 30);
    }
}

TEST(fingers_with_joints_that_follow_reach_with_their_tips)
{
    static const char *const bodies[] = {"thumb", "index", "middle", "ring", "little"};
    scene_random random = scene_random_make(41);
    poise_model *model = NULL;
    ck_assert_int_eq(scene_create("hand", NULL, &model, NULL), POISE_OK);
    tips t = tips_on(own_model(model), 5, bodies);
    for (int i = 0; i < 5; ++i) {
        t.kinds[i] = POISE_GOAL_POSITION;
    }
    ck_assert_int_eq(count_reached(&t, &random, 100, solver_for(t.model, 300, POISE_START_WARM)), 100);
}

// Five places along two chains of hinges, for whose branches there is too little room: one chain is searched by another way.
TEST(places_along_chains_are_reached_where_branches_lack_room)
{
    static const char *const places[] = {"left3", "left6", "left9", "right3", "right6"};
    scene_random random = scene_random_make(33);
    int reached = 0;
    for (int k = 0; k < 5; ++k) {
        poise_builder *builder = new_builder();
        add_arm(builder, &random, "left", NULL, 10);
        add_arm(builder, &random, "right", NULL, 7);
        tips t = tips_on(made(builder), 5, places);
        for (int i = 0; i < 5; ++i) {
            t.kinds[i] = POISE_GOAL_POSITION;
        }
        reached += count_reached(&t, &random, 10, solver_for(t.model, 300, POISE_START_COLD));
    }
    ck_assert_int_ge(reached, 45);
}

TEST(bands_are_used)
{
    scene_random random = scene_random_make(51);
    tips t = tips_on(two_arms(&random, TORSO), 2, hands);
    poise_solver *solver = solver_for(t.model, 100, POISE_START_WARM);
    for (int i = 0; i < 40; ++i) {
        draw(&t, &random);
        t.goals[0].rotation_tolerance = poise_vec3_make(0, 0, INFINITY);
        t.goals[1].tolerance = poise_vec3_make(0.01, 0.01, 0.01);
        ck_assert_int_eq(solve(&t, solver).outcome, POISE_OUTCOME_REACHED);
    }
}

// Places along an arm, within reach, as poses with any rotations.
TEST(rotations_without_weight_hinder_no_place)
{
    static const char *const places[] = {"arm2", "arm5"};
    scene_random random = scene_random_make(53);
    int reached = 0;
    for (int i = 0; i < 100; ++i) {
        poise_builder *builder = new_builder();
        add_arm(builder, &random, "arm", NULL, 6);
        tips t = tips_on(made(builder), 2, places);
        poise_report r;
        draw(&t, &random);
        for (int k = 0; k < 2; ++k) {
            t.goals[k].rotation_weight = 0;
            t.goals[k].target.rotation = scene_random_rotation(&random);
        }
        ck_assert_int_eq(poise_solve(solver_for(t.model, 30, POISE_START_WARM), t.goals, 2, t.start, &r, NULL), POISE_OK);
        reached += r.outcome == POISE_OUTCOME_REACHED;
    }
    ck_assert_msg(reached >= 95, "%d of 100", reached);
}

// ---- Parts ---------------------------------------------------------------------------------------------------------------

// Solve for goal i alone, from t's start.
static poise_report solve_alone(const tips *t, int i, poise_solver *solver, double *q)
{
    poise_report r;
    memcpy(q, t->start, sizeof t->start);
    ck_assert_int_eq(poise_solve(solver, &t->goals[i], 1, q, &r, NULL), POISE_OK);
    return r;
}

TEST(arms_that_share_nothing_have_the_bits_of_each_alone)
{
    scene_random random = scene_random_make(61);
    static const int restarts[] = {0, 5, 300};
    for (size_t k = 0; k < TEST_COUNT(restarts); ++k) {
        tips t = tips_on(two_arms(&random, NO_TRUNK), 2, hands);
        poise_solver *both = solver_for(t.model, restarts[k], POISE_START_WARM);
        poise_solver *alone = solver_for(t.model, restarts[k], POISE_START_WARM);
        for (int round = 0; round < 50; ++round) {
            double left[NUMBERS], right[NUMBERS];
            draw(&t, &random);
            poise_report r = solve(&t, both);
            poise_report a = solve_alone(&t, 0, alone, left), b = solve_alone(&t, 1, alone, right);
            ck_assert_int_eq(memcmp(t.q, left, 7 * sizeof *left), 0); // the trunk has no numbers
            ck_assert_int_eq(memcmp(t.q + 7, right + 7, 7 * sizeof *right), 0);
            ck_assert_int_eq(r.iterations, a.iterations + b.iterations);
            ck_assert_int_eq(r.restarts, a.restarts + b.restarts);
            ck_assert_int_eq(r.outcome, a.outcome > b.outcome ? a.outcome : b.outcome);
        }
    }
}

TEST(a_part_of_several_goals_does_not_depend_on_the_others)
{
    static const char *const bodies[] = {"left6", "right6", "third5"};
    scene_random random = scene_random_make(71);
    poise_builder *builder = new_builder();
    add_arm_joint(builder, &random, "trunk", NULL, false);
    add_arm(builder, &random, "left", "trunk", 7);
    add_arm(builder, &random, "right", "trunk", 7);
    add_arm(builder, &random, "third", NULL, 6);
    tips t = tips_on(made(builder), 3, bodies);
    poise_solver *solver = solver_for(t.model, 50, POISE_START_WARM);
    for (int round = 0; round < 50; ++round) {
        double q[NUMBERS];
        draw(&t, &random);
        solve(&t, solver);
        memcpy(q, t.start, sizeof q);
        ck_assert_int_eq(poise_solve(solver, t.goals, 2, q, NULL, NULL), POISE_OK);
        ck_assert_int_eq(memcmp(t.q, q, 15 * sizeof *q), 0);
    }
}

TEST(an_arm_that_cannot_reach_does_not_hinder_the_other)
{
    scene_random random = scene_random_make(81);
    for (int kind = 0; kind < TRUNKS; ++kind) {
        tips t = tips_on(two_arms(&random, (trunk)kind), 2, hands);
        poise_solver *solver = solver_for(t.model, 20, POISE_START_WARM);
        for (int round = 0; round < 5 && kind != FLOATING; ++round) {
            draw(&t, &random);
            t.goals[1].target.position.x += 10.0;
            poise_report r = solve(&t, solver);
            ck_assert_int_ne(r.outcome, POISE_OUTCOME_REACHED);
            ck_assert_double_le(r.cost, r.start_cost);
            ck_assert(kind != NO_TRUNK || poise_solver_goal_error(solver, 0).error <= WITHIN);
        }
    }
}

// ---- Batches and traces --------------------------------------------------------------------------------------------------

TEST_ROWS(batches_have_the_bits_of_single_calls, TRUNKS)
{
    enum { COUNT = 40 };
    scene_random random = scene_random_make(91);
    tips t = tips_on(two_arms(&random, (trunk)test_row), 2, hands);
    poise_batch_options options = poise_batch_options_default();
    options.solver.restarts = 20;
    static double q[COUNT][NUMBERS], alone[COUNT][NUMBERS];
    static poise_goal goals[COUNT][2];
    poise_problem problems[COUNT];
    poise_report reports[COUNT];
    poise_solver *solver = solver_for(t.model, 20, POISE_START_WARM);
    for (int i = 0; i < COUNT; ++i) {
        t.kinds[0] = t.kinds[1] = i % 3 == 0 ? POISE_GOAL_POSITION : POISE_GOAL_POSE;
        draw(&t, &random);
        memcpy(goals[i], t.goals, sizeof goals[i]);
        memcpy(q[i], t.start, sizeof q[i]);
        problems[i] = (poise_problem){.goals = goals[i], .goal_count = 2, .q = q[i]};
        reports[i] = solve(&t, solver);
        memcpy(alone[i], t.q, sizeof alone[i]);
    }
    poise_batch *batch = NULL;
    ck_assert_int_eq(poise_batch_create(t.model, &options, NULL, &batch, NULL), POISE_OK);
    ck_assert_int_eq(poise_batch_solve(batch, problems, COUNT, NULL), POISE_OK);
    poise_batch_destroy(batch);
    for (int i = 0; i < COUNT; ++i) {
        ck_assert_int_eq(memcmp(q[i], alone[i], (size_t)t.nq * sizeof q[i][0]), 0);
        ck_assert_int_eq(problems[i].report.iterations, reports[i].iterations);
        ck_assert_int_eq(memcmp(&problems[i].report.cost, &reports[i].cost, sizeof(double)), 0);
    }
}

TEST_ROWS(a_trace_has_the_cost_of_all_parts, TRUNKS)
{
    poise_trace trace[4000];
    scene_random random = scene_random_make(101);
    tips t = tips_on(two_arms(&random, (trunk)test_row), 2, hands);
    poise_solver_options options = poise_solver_options_default();
    options.restarts = 100;
    options.trace = trace;
    options.trace_capacity = 4000;
    poise_solver *solver = NULL;
    ck_assert_int_eq(poise_solver_create(t.model, &options, NULL, &solver, NULL), POISE_OK);
    own_solver(solver);
    for (int round = 0; round < 20; ++round) {
        draw(&t, &random);
        poise_report r = solve(&t, solver);
        double best = r.start_cost;
        for (int i = 0; i < r.traced; ++i) {
            ck_assert(!trace[i].accepted || trace[i].cost < best * (1.0 + 1e-12) + 1e-12);
            best = trace[i].accepted ? trace[i].cost : best;
        }
        ck_assert_int_le(r.traced, r.iterations);
        ck_assert_double_le(r.cost, best + 1e-9);
    }
}
