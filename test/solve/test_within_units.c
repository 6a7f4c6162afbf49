// Constraints do not depend on the unit of length: a robot in millimetres, kilometres or anything else is treated as the
// same robot in metres. With powers of 1024 for units nothing is rounded differently, and answers agree bit by bit.
#include "support/allocations.h"
#include "support/skeleton.h"

#include <stdlib.h>
#include <string.h>

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
