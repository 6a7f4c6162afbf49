// Turning and shifting the whole world turns and shifts the answer, and another processor leaves it as it is.
//
// The roots of a model and all targets move by one pose T. In exact arithmetic every method then takes the same steps: the
// energy, its derivatives with respect to the coordinates, limits and metrics do not change. In floating point the numbers
// of one evaluation differ by some tens of roundings of the lengths involved, about 1e-14 here, and a step amplifies that by
// the condition of the system it solves: 1e4 with the least damping of a warm start, up to 1e12 for methods that cut off
// singular values there. So
//
//   after one iteration   poses agree to FIRST = 1e-7, also in systems that are nearly singular;
//   at the end            most runs have come to the same minimum, where the cost is flat: it agrees to LAST. The others
//                         passed a fork (a singular arm, two minima as near, a line search that just fails) and went the
//                         other way, or had not come to rest. Poses may differ, too, where the minimum is not a point.
#include "model/model.h"
#include "scenes/scenes.h"
#include "support/problems.h"
#include "support/test_main.h"

#include <math.h>
#include <string.h>

#define ROUNDS 100
#define JOINTS 8
#define FIRST  1e-7
#define LAST   1e-9

static poise_vec3 turned(poise_pose T, poise_vec3 v)
{
    return poise_quat_rotate(T.rotation, v);
}

static poise_goal moved_goal(poise_pose T, poise_goal g)
{
    g.direction = turned(T, g.direction);
    bool is_relative = g.kind == POISE_GOAL_RELATIVE && g.body2 != POISE_WORLD; // moves along by itself
    g.target = is_relative ? g.target : poise_pose_multiply(T, g.target);
    return g;
}

static poise_model *moved_model(poise_pose T, const poise_model *model)
{
    poise_builder *builder = NULL;
    poise_model *moved = NULL;
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        poise_joint joint = *poise_model_joint_info(model, k).given;
        if (!joint.parent) {
            joint.offset = poise_pose_multiply(T, joint.offset);
        }
        ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    }
    ck_assert_int_eq(poise_model_create(builder, NULL, &moved, NULL), POISE_OK);
    poise_builder_destroy(builder);
    return moved;
}

// The same problem in the moved world; its goals point to arrays of p.
static problem *moved_problem(poise_pose T, const problem *p)
{
    problem *moved = calloc(1, sizeof *moved);
    ck_assert_ptr_nonnull(moved);
    moved->model = moved_model(T, p->model);
    moved->nq = p->nq;
    moved->nv = p->nv;
    moved->count = p->count;
    for (int i = 0; i < p->count; ++i) {
        moved->goals[i] = moved_goal(T, p->goals[i]);
    }
    memcpy(moved->start, p->start, sizeof moved->start);
    moved->options = p->options;
    moved->options.trace = NULL;
    return moved;
}

// The largest distance between bodies of the moved world and moved bodies; rotations by the chord of their quaternions.
static double largest_distance(poise_pose T, const problem *p, const double *q, const problem *moved, const double *q_moved)
{
    poise_kinematics *kin = NULL, *other = NULL;
    ck_assert_int_eq(poise_kinematics_create(p->model, NULL, &kin, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_create(moved->model, NULL, &other, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_update(kin, q, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_update(other, q_moved, NULL), POISE_OK);
    double largest = 0.0;
    for (int k = 0; k < poise_model_info(p->model).joints; ++k) {
        poise_pose a = poise_pose_multiply(T, poise_kinematics_body_pose(kin, k)), b = poise_kinematics_body_pose(other, k);
        double x = a.position.x - b.position.x, y = a.position.y - b.position.y, z = a.position.z - b.position.z;
        double angle = poise_quat_angle(poise_quat_multiply(poise_quat_conjugate(a.rotation), b.rotation));
        largest = fmax(largest, fmax(angle, sqrt(x * x + y * y + z * z)));
    }
    poise_kinematics_destroy(kin);
    poise_kinematics_destroy(other);
    return largest;
}

typedef struct tally {
    int solved;
    int poses_apart, costs_apart; // by more than FIRST, LAST
} tally;

static void compare(poise_pose T, problem *p, problem *moved, tally *t)
{
    answer a = problem_solve(p), b = problem_solve(moved);
    ck_assert_int_eq(a.status, b.status);
    if (a.status == POISE_OK) {
        double scale = 1.0 + a.report.start_cost;
        t->solved += 1;
        t->poses_apart += !(largest_distance(T, p, a.q, moved, b.q) <= FIRST);
        t->costs_apart += !(fabs(a.report.cost - b.report.cost) <= LAST * scale);
        ck_assert_double_le(fabs(a.report.start_cost - b.report.start_cost), 1e-12 * scale); // one evaluation
    }
}

static tally compare_all(poise_method method, bool arms, int iterations)
{
    tally t = {0};
    scene_random random = scene_random_make(31 + (uint64_t)method);
    for (int round = 0; round < ROUNDS; ++round) {
        unsigned features = PROBLEM_FIXED | (round % 2 ? PROBLEM_LIMITS : PROBLEM_PLAIN);
        problem *p = arms ? problem_make_arm(&random, 3 + round % 6) : problem_make(&random, method, JOINTS, features);
        ck_assert_ptr_nonnull(p);
        poise_quat turn = scene_random_rotation(&random);
        poise_pose T = {turn, random_vector(&random, 3.0)};
        problem *moved = moved_problem(T, p);
        p->options.max_iterations = moved->options.max_iterations = iterations;
        compare(T, p, moved, &t);
        problem_destroy(moved);
        problem_destroy(p);
    }
    ck_assert_int_ge(t.solved, ROUNDS * 9 / 10);
    return t;
}

TEST_ROWS(one_iteration_moves_with_the_world, POISE_METHOD_COUNT)
{
    tally t = compare_all((poise_method)test_row, false, 1);
    ck_assert_msg(t.poses_apart <= (facts_of[test_row].open_steps ? ROUNDS / 15 : 0), "%s: %d of %d",
                  facts_of[test_row].name, t.poses_apart, t.solved);
}

TEST_ROWS(answers_move_with_the_world, POISE_METHOD_COUNT)
{
    tally t = compare_all((poise_method)test_row, false, 60);
    ck_assert_msg(t.costs_apart <= ROUNDS / 10 && t.poses_apart <= ROUNDS / 5, "%s: %d and %d of %d",
                  facts_of[test_row].name, t.costs_apart, t.poses_apart, t.solved);
}

// Code for registers of two gives the bits of that for registers of four, where the processor has these.
TEST_ROWS(answers_do_not_depend_on_the_registers_of_the_processor, POISE_METHOD_COUNT)
{
    scene_random random = scene_random_make(47 + (uint64_t)test_row);
    for (int round = 0; round < ROUNDS; ++round) {
        unsigned features = round % 2 ? PROBLEM_LIMITS : PROBLEM_PLAIN;
        problem *p = round % 5 == 0 && test_row == POISE_METHOD_AUTO
                         ? problem_make_arm(&random, 3 + round % 6)
                         : problem_make(&random, (poise_method)test_row, JOINTS, features);
        ck_assert_ptr_nonnull(p);
        answer wide = problem_solve(p);
        p->model->is_wide = false;
        answer narrow = problem_solve(p);
        ck_assert_msg(answers_are_equal(p, &wide, &narrow), "%s, round %d", facts_of[test_row].name, round);
        problem_destroy(p);
    }
}

TEST(answers_of_arms_move_with_the_world)
{
    tally t = compare_all(POISE_METHOD_AUTO, true, 60);
    ck_assert_msg(t.costs_apart <= ROUNDS / 20 && t.poses_apart <= ROUNDS / 20, "%d and %d of %d", t.costs_apart,
                  t.poses_apart, t.solved);
}

// ---- A free root ---------------------------------------------------------------------------------------------------------

#define MARKERS 64
#define NUMBERS 128

// Noisy markers determine every joint, so the minimum is one point, found to the gradient tolerance of 1e-9 times the
// condition of the Hessian, 1e2 or so.
#define POINT 1e-6

static void solve_markers(const poise_model *model, const poise_goal *goals, int count, double *q)
{
    poise_solver_options options = poise_solver_options_default();
    poise_solver *solver = NULL;
    poise_report report;
    ck_assert_int_eq(poise_solver_create(model, &options, NULL, &solver, NULL), POISE_OK);
    ck_assert_int_eq(poise_solve(solver, goals, count, q, &report, NULL), POISE_OK);
    ck_assert_int_eq(report.outcome, POISE_OUTCOME_CLOSEST);
    poise_solver_destroy(solver);
}

// The root's pose in the world is O Q, O its offset and Q of the coordinates x y z and a quaternion: T O Q = O (O^-1 T O) Q.
static void move_root(const poise_model *model, poise_pose T, double *q)
{
    poise_pose O = poise_model_joint_info(model, 0).given->offset, Q = {{q[3], q[4], q[5], q[6]}, {q[0], q[1], q[2]}};
    Q = poise_pose_multiply(poise_pose_multiply(poise_pose_inverse(O), poise_pose_multiply(T, O)), Q);
    q[0] = Q.position.x, q[1] = Q.position.y, q[2] = Q.position.z;
    q[3] = Q.rotation.x, q[4] = Q.rotation.y, q[5] = Q.rotation.z, q[6] = Q.rotation.w;
}

TEST(a_figure_with_a_free_root_follows_its_markers_anywhere)
{
    poise_model *model = NULL;
    poise_kinematics *kin = NULL;
    scene_marker markers[MARKERS];
    poise_goal goals[MARKERS];
    ck_assert_int_eq(scene_create("humanoid-quaternion", NULL, &model, NULL), POISE_OK);
    ck_assert_int_eq(poise_model_joint_info(model, 0).type, POISE_JOINT_FREE);
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kin, NULL), POISE_OK);
    int count = scene_markers("humanoid-quaternion", markers, MARKERS);
    scene_random random = scene_random_make(77);
    for (int round = 0; round < 20; ++round) {
        double q[NUMBERS], moved[NUMBERS], apart[NUMBERS];
        poise_quat turn = scene_random_rotation(&random);
        poise_pose T = {turn, random_vector(&random, 3.0)};
        ck_assert_int_eq(scene_motion_pose(model, "walk", 0.05 * round, q), POISE_OK);
        ck_assert_int_eq(poise_kinematics_update(kin, q, NULL), POISE_OK);
        for (int i = 0; i < count; ++i) {
            poise_vec3 x = poise_kinematics_point(kin, markers[i].body, markers[i].local),
                       noise = random_vector(&random, 0.01);
            x = poise_vec3_make(x.x + noise.x, x.y + noise.y, x.z + noise.z);
            goals[i] = poise_goal_position(markers[i].body, markers[i].local, x);
        }
        ck_assert_int_eq(scene_motion_pose(model, "walk", 0.05 * round + 0.03, q), POISE_OK);
        memcpy(moved, q, sizeof moved);
        move_root(model, T, moved);
        solve_markers(model, goals, count, q);
        for (int i = 0; i < count; ++i) {
            goals[i] = moved_goal(T, goals[i]);
        }
        solve_markers(model, goals, count, moved);
        move_root(model, poise_pose_inverse(T), moved);
        ck_assert_int_eq(poise_difference(model, q, moved, apart, NULL), POISE_OK);
        for (int i = 0; i < poise_model_info(model).nv; ++i) {
            ck_assert_msg(fabs(apart[i]) <= POINT, "frame %d, component %d: %g", round, i, apart[i]);
        }
    }
    poise_kinematics_destroy(kin);
    poise_model_destroy(model);
}
