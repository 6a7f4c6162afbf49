// Random figures among random shapes, with random loops and polygons: nothing that comes back breaks a limit, and nothing
// that is said to hold is broken, by a check that shares no code with the solver. TEST_SOLVES=5000 makes the 20 rows 100 000
// solves; TEST_PART=1, 2, ... has others, so that several processes share a large number. found_before are problems
// that failed once.
#include "support/constraint_check.h"
#include "support/shape_check.h"
#include "support/skeleton.h"

#include <math.h>
#include <stdlib.h>

#define ROWS   20
#define SHAPES 16
#define PAIRS  120
#define MOST   3 // constraints

typedef struct problem {
    figure f, there; // `there` holds loops and balance
    poise_shape shapes[SHAPES];
    poise_pair pairs[PAIRS];
    poise_vec3 polygon[4];
    poise_constraint given[MOST];
    int count;
    poise_goal goals[2];
} problem;

static int number_of(const char *variable, int otherwise)
{
    const char *text = getenv(variable);
    return text ? atoi(text) : otherwise;
}

static bool chance(scene_random *random, double share)
{
    return scene_random_range(random, 0, 1) < share;
}

static int any_of(scene_random *random, int count)
{
    return (int)scene_random_range(random, 0, count) % count;
}

// ---- Problems ------------------------------------------------------------------------------------------------------------

static void add_shapes(scene_random *random, problem *p)
{
    int joints = poise_model_info(p->f.model).joints, count = 0, found = 0;
    for (int k = 0; k < joints && count < SHAPES - 3; ++k) {
        poise_shape_kind kind = chance(random, 0.6) ? POISE_SHAPE_CAPSULE : POISE_SHAPE_BOX;
        p->shapes[count++] = random_shape(random, kind, k, 0.04);
    }
    for (int i = any_of(random, 4); i > 0; --i) {
        poise_shape *shape = &p->shapes[count++];
        *shape = random_shape(random, (poise_shape_kind)any_of(random, POISE_SHAPE_KIND_COUNT), POISE_WORLD, 0.1);
        shape->pose.position = random_vector(random, 1.0);
        shape->pose.position.z -= shape->kind == POISE_SHAPE_HALF_SPACE ? 2.0 : 0.0;
    }
    poise_pairs_options options = poise_pairs_options_default();
    options.neighbours = 2, options.samples = 40;
    ck_assert_int_eq(poise_pairs_find(p->f.model, p->shapes, count, &options, NULL, p->pairs, PAIRS, &found, NULL),
                     POISE_OK);
    poise_constraint *apart = &p->given[p->count++];
    *apart = poise_constraint_default(POISE_CONSTRAINT_CLEARANCE);
    apart->shapes = p->shapes, apart->shape_count = count;
    apart->pairs = p->pairs, apart->pair_count = found < PAIRS ? found : PAIRS;
    apart->margin = chance(random, 0.5) ? 0 : 0.01;
}

// A loop of any kind that is closed in `there`.
static void add_loop(scene_random *random, problem *p)
{
    int joints = poise_model_info(p->f.model).joints;
    poise_constraint *tie = &p->given[p->count++];
    *tie = poise_constraint_default((poise_constraint_kind)(POISE_CONSTRAINT_CONNECT + any_of(random, 5)));
    tie->body = joints - 1, tie->body2 = chance(random, 0.4) ? POISE_WORLD : any_of(random, joints - 1);
    tie->local.position = random_vector(random, 0.2);
    poise_pose a = poise_kinematics_body_pose(p->there.kin, tie->body), b = poise_pose_identity();
    if (tie->body2 != POISE_WORLD) {
        b = poise_kinematics_body_pose(p->there.kin, tie->body2);
    }
    tie->target = poise_pose_multiply(poise_pose_inverse(b), poise_pose_multiply(a, tie->local));
    if (tie->kind == POISE_CONSTRAINT_DISTANCE) {
        tie->target.position.z += 0.1;
        tie->lower = 0.1, tie->upper = chance(random, 0.5) ? 0.1 : 0.3;
    }
}

static bool add_balance(problem *p)
{
    poise_vec3 sum = {0, 0, 0};
    double mass = 0;
    for (int k = 0; k < poise_model_info(p->f.model).joints; ++k) {
        const poise_joint *joint = poise_model_joint_info(p->f.model, k).given;
        poise_vec3 x = poise_kinematics_point(p->there.kin, k, joint->mass_center);
        sum = poise_vec3_make(sum.x + joint->mass * x.x, sum.y + joint->mass * x.y, 0);
        mass += joint->mass;
    }
    if (!(mass > 0)) {
        return false;
    }
    static const double corner[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    for (int i = 0; i < 4; ++i) {
        p->polygon[i] = poise_vec3_make(sum.x / mass + 0.05 * corner[i][0], sum.y / mass + 0.1 * corner[i][1], 0);
    }
    poise_constraint *balance = &p->given[p->count++];
    *balance = poise_constraint_default(POISE_CONSTRAINT_BALANCE);
    balance->polygon = p->polygon, balance->corner_count = 4;
    balance->margin = 0.01;
    return true;
}

static void make_problem(scene_random *random, problem *p)
{
    unsigned features = RANDOM_LIMITS | (chance(random, 0.3) ? RANDOM_MIMICS : 0);
    p->count = 0;
    p->f = random_figure(random, 5 + any_of(random, 8), features);
    p->there = figure_of(p->f.model);
    scene_random_configuration(random, p->f.model, p->there.q);
    update(&p->there);
    if (chance(random, 0.7)) {
        add_shapes(random, p);
    }
    if (chance(random, 0.6)) {
        add_loop(random, p);
    }
    if ((p->count == 0 || chance(random, 0.2)) && !add_balance(p) && p->count == 0) {
        add_loop(random, p);
    }
    scene_random_configuration(random, p->f.model, p->f.q);
    int body = any_of(random, poise_model_info(p->f.model).joints);
    poise_vec3 local = random_vector(random, 0.1);
    p->goals[0] = poise_goal_position(body, local, poise_kinematics_point(p->there.kin, body, local));
    p->goals[1] = poise_goal_posture(p->there.q, 1e-4);
}

// ---- What holds ----------------------------------------------------------------------------------------------------------

static double most_broken(const broken *b)
{
    double most = b->clearance > b->side ? b->clearance : b->side;
    return b->loop - 2e-12 > most ? b->loop - 2e-12 : most;
}

// What a number of this figure's size may be off by: a slide without limits may be drawn thousands of kilometres away.
static double rounding(const figure *f)
{
    double most = 1;
    for (int i = 0; i < f->nq; ++i) {
        most = fmax(most, fabs(f->q[i]));
    }
    return most > 1e4 ? 1e-15 * most : 0;
}

static void check_solve(scene_random *random, problem *p, uint64_t seed, int *held)
{
    poise_solver_options options = poise_solver_options_default();
    options.start = chance(random, 0.5) ? POISE_START_COLD : POISE_START_WARM;
    options.restarts = any_of(random, 4);
    poise_constraints_size(p->given, p->count, &options.constraints);
    poise_solver *solver = NULL;
    poise_error error = {0};
    ck_assert_msg(poise_solver_create(p->f.model, &options, NULL, &solver, &error) == POISE_OK, "%s", error.text);
    broken start = check_constraints(p->f.model, p->given, p->count, p->f.q);
    poise_report report;
    int goals = 1 + chance(random, 0.5);
    ck_assert_msg(poise_solve_within(solver, p->goals, goals, p->given, p->count, p->f.q, &report, &error) == POISE_OK,
                  "problem %llu: %s", (unsigned long long)seed, error.text);
    broken end = check_constraints(p->f.model, p->given, p->count, p->f.q);
    ck_assert_msg(end.limit <= 0, "problem %llu: beyond a limit by %g", (unsigned long long)seed, end.limit);
    ck_assert_msg(!report.holds || most_broken(&end) <= rounding(&p->f), "problem %llu: broken by %g, said to hold",
                  (unsigned long long)seed, most_broken(&end));
    ck_assert_msg(report.holds == (report.outcome != POISE_OUTCOME_INFEASIBLE), "problem %llu", (unsigned long long)seed);
    if (!report.holds) {
        ck_assert_msg(report.blocking != POISE_NONE && poise_solver_constraint_room(solver, report.blocking, NULL) < 1e-9,
                      "problem %llu: constraint %d is not in the way", (unsigned long long)seed, report.blocking);
    }
    if (start.limit <= 0 && most_broken(&start) < -1e-8) {
        ck_assert_msg(report.holds && report.cost <= report.start_cost * (1 + 1e-12), "problem %llu: worse than its start",
                      (unsigned long long)seed);
    }
    if (report.outcome == POISE_OUTCOME_REACHED && goals == 1) {
        update(&p->f);
        poise_vec3 x = poise_kinematics_point(p->f.kin, p->goals[0].body, p->goals[0].local.position);
        poise_vec3 t = p->goals[0].target.position;
        double square = (x.x - t.x) * (x.x - t.x) + (x.y - t.y) * (x.y - t.y) + (x.z - t.z) * (x.z - t.z);
        ck_assert_msg(square <= 1.01e-12, "problem %llu: not reached", (unsigned long long)seed);
    }
    *held += report.holds;
    poise_solver_destroy(solver);
}

// Cold starts that hold, and from which the goals lead nowhere.
static const uint64_t found_before[] = {11003423,  62003798,  102005450, 105003492, 136005250, 163000007,
                                        172002008, 189001206, 196003711, 228001447, 233003238, 242004239,
                                        277005933, 289000336, 291005555, 307001923};

TEST(problems_that_failed_once_hold)
{
    int held = 0;
    for (size_t i = 0; i < TEST_COUNT(found_before); ++i) {
        scene_random random = scene_random_make(found_before[i] + 77);
        problem p;
        make_problem(&random, &p);
        check_solve(&random, &p, found_before[i], &held);
        test_sweep();
    }
    ck_assert_int_eq(held, (int)TEST_COUNT(found_before));
}

TEST_ROWS(nothing_that_is_said_to_hold_is_broken, ROWS)
{
    int count = number_of("TEST_SOLVES", 25), row = ROWS * number_of("TEST_PART", 0) + test_row, held = 0;
    for (int i = 0; i < count; ++i) {
        uint64_t seed = (uint64_t)row * 1000000 + (uint64_t)i;
        scene_random random = scene_random_make(seed + 77);
        problem p;
        make_problem(&random, &p);
        check_solve(&random, &p, seed, &held);
        test_sweep();
    }
    ck_assert_int_ge(held, count / 2); // loops that are far open, or limbs in each other, may stay so without restarts
}

// How much of the cost at q a small step down the slope takes away, limits kept.
static double falls_by(const poise_model *model, const poise_goal *goal, const double *q)
{
    poise_objective *objective;
    double v[FIGURE_NUMBERS], there[FIGURE_NUMBERS], most = 1e-300;
    int nv = poise_model_info(model).nv;
    ck_assert_int_eq(poise_objective_create(model, 0, NULL, &objective, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_set_goals(objective, goal, 1, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_evaluate(objective, q, POISE_LEVEL_GRADIENT, NULL), POISE_OK);
    poise_value at = poise_objective_value(objective);
    for (int i = 0; i < nv; ++i) {
        v[i] = -at.gradient[i];
        most = fmax(most, fabs(v[i]));
    }
    for (int i = 0; i < nv; ++i) {
        v[i] *= 1e-5 / most;
    }
    ck_assert_int_eq(poise_retract(model, q, v, there, NULL), POISE_OK);
    ck_assert_int_eq(poise_model_clamp(model, there, NULL, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_evaluate(objective, there, POISE_LEVEL_COST, NULL), POISE_OK);
    double share = 1 - poise_objective_value(objective).cost / at.cost;
    poise_objective_destroy(objective);
    return share;
}

// A run that passes a pose which holds, for one that mends more, and ends above it: three hinges with long links above a floor.
// Where no constraint is in the way of the closest pose, no slope leads down from it.
TEST(what_a_run_passed_is_not_called_closest_for_where_it_ended)
{
    static const struct {
        poise_pose offset;
        poise_vec3 axis;
        double lower, upper;
    } hinges[3] = {
        {{{0.243142632, 0.27021034, 0.85000054, -0.381270397}, {0, 0, 0}},
         {-0.423902981, -0.54108194, 0.726317147},
         -INFINITY,
         INFINITY},
        {{{-0.566803204, -0.0470888602, -0.666504598, 0.481963056}, {155.032809, -61.8314967, 385.660491}},
         {0.638176944, -0.529724949, 0.558678501},
         -1.62515942,
         0.480609141},
        {{{-0.531047325, -0.277884641, -0.212935754, -0.771639313}, {115.995339, 156.245803, 399.152059}},
         {-0.159403029, 0.118983823, -0.980017104},
         -1.69393055,
         0.170372486},
    };
    static const char *const names[] = {"a", "b", "c"};
    poise_builder *builder = new_builder();
    for (int i = 0; i < 3; ++i) {
        poise_joint joint = joint_of(names[i], i == 0 ? NULL : names[i - 1], POISE_JOINT_REVOLUTE);
        joint.offset = hinges[i].offset;
        joint.axis = hinges[i].axis;
        joint.lower[0] = hinges[i].lower, joint.upper[0] = hinges[i].upper;
        add(builder, &joint);
    }
    poise_model *model = model_of(builder);
    poise_pose base = {{0.0742880577, 0.595712493, -0.0840337948, -0.795327751}, {-0.858312106, -27.0179827, -44.6070139}};
    poise_pose link = {{0.776113278, -0.421097034, -0.349202503, 0.31366077}, {-28.8582976, -83.8218735, 0.134620129}};
    poise_pose end = {{-0.57037957, 0.651853993, 0, 0.499753457}, {123.295971, -46.9261483, 44.1540894}};
    poise_pose floor = {{0.0232138794, -0.102882755, 0, 0.994422573}, {0, 0, -266.887193}};
    poise_shape shapes[4] = {poise_shape_box(0, base, poise_vec3_make(49.4275123, 26.007919, 52.6445143)),
                             poise_shape_box(1, link, poise_vec3_make(48.2230625, 28.2251918, 10.4657865)),
                             {POISE_SHAPE_CAPSULE, 2, end, {0, 0, 113.973647}, 24.6957345, 0, 0},
                             {POISE_SHAPE_HALF_SPACE, POISE_WORLD, floor, {0, 0, 0}, 0, 0, 0}};
    poise_pair pairs[4] = {{0, 2}, {0, 3}, {1, 3}, {2, 3}};
    poise_constraint apart = poise_constraint_default(POISE_CONSTRAINT_CLEARANCE);
    apart.shapes = shapes, apart.shape_count = 4;
    apart.pairs = pairs, apart.pair_count = 4;
    apart.margin = 17.3237437;
    poise_goal goal = poise_goal_direction(2, poise_vec3_make(0, 0, 1), poise_vec3_make(0, 1, 0));
    poise_solver_options options = poise_solver_options_default();
    poise_constraints_size(&apart, 1, &options.constraints);
    poise_solver *solver = NULL;
    poise_report report;
    double q[3] = {0.767540197, -1.50868037, -1.2699095};
    ck_assert_int_eq(poise_solver_create(model, &options, NULL, &solver, NULL), POISE_OK);
    ck_assert_int_eq(poise_solve_within(solver, &goal, 1, &apart, 1, q, &report, NULL), POISE_OK);
    ck_assert(report.holds);
    ck_assert(report.outcome != POISE_OUTCOME_CLOSEST || report.active_constraints > 0 || falls_by(model, &goal, q) < 1e-6);
    poise_solver_destroy(solver);
}
