// Steps: retract and difference undo each other, quaternions stay unit, long rotation vectors are replaced by short ones.
#include "kin/kin.h"
#include "num/vector.h"
#include "support/skeleton.h"

#include <float.h>

#define MODELS 60
#define JOINTS 24
#define PI     3.14159265358979323846

static bool has_quaternion(poise_joint_type type)
{
    return type == POISE_JOINT_BALL_QUATERNION || type == POISE_JOINT_FREE;
}

// ---- There and back ------------------------------------------------------------------------------------------------------

// Coordinates up to 4 lose their last unit to a sum and a difference; a logarithm of an exponential about as much.
#define ROUND_TRIP 3e-15

TEST(retracting_by_a_difference_arrives)
{
    scene_random random = scene_random_make(2);
    for (int trial = 0; trial < 4 * MODELS; ++trial) {
        figure f = figure_of(own_model(random_model(&random, JOINTS, RANDOM_MIMICS)));
        double v[FIGURE_NUMBERS], from[FIGURE_NUMBERS], arrived[FIGURE_NUMBERS];
        scene_random_configuration(&random, f.model, from);
        scene_random_configuration(&random, f.model, f.q);
        ck_assert_int_eq(poise_difference(f.model, from, f.q, v, NULL), POISE_OK);
        ck_assert_int_eq(poise_retract(f.model, from, v, arrived, NULL), POISE_OK);
        for (int k = 0; k < JOINTS; ++k) {
            int first = poise_model_joint_info(f.model, k).q, count = poise_model_joint_info(f.model, k).nq;
            bool turned = has_quaternion(poise_model_joint_info(f.model, k).type) &&
                          arrived[first + count - 1] * f.q[first + count - 1] < 0;
            for (int i = 0; i < count; ++i) { // q and -q are the same rotation
                double sign = turned && i >= count - 4 ? -1.0 : 1.0;
                ck_assert_double_eq_tol(sign * arrived[first + i], f.q[first + i], ROUND_TRIP);
            }
        }
    }
}

TEST(a_quaternion_turns_about_its_own_axes)
{
    poise_builder *builder = new_builder();
    add_plain(builder, "ball", NULL, POISE_JOINT_BALL_QUATERNION);
    figure f = figure_of(model_of(builder));
    // facing z after a quarter turn about x, a quarter turn about the own z leaves z where it is
    poise_quat quarter = poise_quat_from_axis_angle(v3(1, 0, 0), 0.5 * PI);
    f.q[0] = quarter.x, f.q[1] = quarter.y, f.q[2] = quarter.z, f.q[3] = quarter.w;
    double v[3] = {0, 0, 0.5 * PI};
    ck_assert_int_eq(poise_retract(f.model, f.q, v, f.q, NULL), POISE_OK);
    update(&f);
    poise_vec3 z = poise_kinematics_direction(f.kin, 0, v3(0, 0, 1)), x = poise_kinematics_direction(f.kin, 0, v3(1, 0, 0));
    ck_assert_double_le(v3_norm(v3_sub(z, v3(0, -1, 0))), 8 * DBL_EPSILON);
    ck_assert_double_le(v3_norm(v3_sub(x, v3(0, 0, 1))), 8 * DBL_EPSILON);
}

TEST(quaternions_stay_unit_over_a_hundred_thousand_steps)
{
    poise_builder *builder = new_builder();
    add_plain(builder, "root", NULL, POISE_JOINT_FREE);
    figure f = figure_of(model_of(builder));
    scene_random random = scene_random_make(5);
    for (int step = 0; step < 100000; ++step) {
        double v[6];
        random_step(&random, f.model, step % 3 ? 0.5 : 10.0, v);
        ck_assert_int_eq(poise_retract(f.model, f.q, v, f.q, NULL), POISE_OK);
        const double *c = f.q + 3;
        double square = c[0] * c[0] + c[1] * c[1] + c[2] * c[2] + c[3] * c[3];
        ck_assert_double_le(fabs(square - 1.0), 8 * DBL_EPSILON); // a normalisation's own roundings, none from before
    }
}

// A closed polygon of a thousand equal turns: the rounding of the steps adds up, no more.
TEST(a_full_turn_in_small_steps_comes_back)
{
    poise_builder *builder = new_builder();
    add_plain(builder, "ball", NULL, POISE_JOINT_BALL_QUATERNION);
    figure f = figure_of(model_of(builder));
    double axis = 2 * PI / 1000 / sqrt(3.0), v[3] = {axis, -axis, axis};
    for (int step = 0; step < 1000; ++step) {
        ck_assert_int_eq(poise_retract(f.model, f.q, v, f.q, NULL), POISE_OK);
    }
    ck_assert_double_le(fabs(f.q[0]) + fabs(f.q[1]) + fabs(f.q[2]), 1000 * 4 * DBL_EPSILON);
}

TEST(bad_arguments_write_nothing)
{
    scene_random random = scene_random_make(6);
    figure f = random_figure(&random, JOINTS, RANDOM_PLAIN);
    double v[FIGURE_NUMBERS] = {0}, out[FIGURE_NUMBERS];
    out[0] = -7;
    v[f.nv - 1] = NAN;
    ck_assert_int_eq(poise_retract(f.model, f.q, v, out, NULL), POISE_ERROR_ARGUMENT);
    v[f.nv - 1] = 0;
    ck_assert_int_eq(poise_retract(NULL, f.q, v, out, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_retract(f.model, NULL, v, out, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_retract(f.model, f.q, NULL, out, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_retract(f.model, f.q, v, NULL, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_difference(NULL, f.q, f.q, out, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_difference(f.model, NULL, f.q, out, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_difference(f.model, f.q, NULL, out, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_difference(f.model, f.q, f.q, NULL, NULL), POISE_ERROR_ARGUMENT);
    double bad[FIGURE_NUMBERS];
    memcpy(bad, f.q, sizeof bad);
    bad[f.nq - 1] = INFINITY;
    ck_assert_int_eq(poise_retract(f.model, bad, v, out, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_difference(f.model, bad, f.q, out, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_difference(f.model, f.q, bad, out, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(pz_kin_reparameterise(f.model, bad), 0);
    ck_assert_int_eq(pz_kin_reparameterise(f.model, NULL), 0);
    ck_assert_int_eq(pz_kin_reparameterise(NULL, f.q), 0);
    ck_assert_double_eq(out[0], -7);
}

// ---- Rotation vectors beyond pi ------------------------------------------------------------------------------------------

// The joint types with a rotation vector: where it starts in q, and its numbers.
static const struct {
    poise_joint_type type;
    int first, count;
} vectors[] = {{POISE_JOINT_BALL_EXPMAP, 0, 3}, {POISE_JOINT_FREE_EXPMAP, 3, 3}, {POISE_JOINT_SWING_TWIST, 0, 2}};

static double length(const double *v, int count)
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + (count == 3 ? v[2] * v[2] : 0.0));
}

// Pose of body 0 at q.
static poise_pose pose_at(figure *f, const double *q)
{
    memcpy(f->q, q, (size_t)f->nq * sizeof *q);
    update(f);
    return poise_kinematics_body_pose(f->kin, 0);
}

TEST(long_vectors_become_short_and_the_pose_stays)
{
    scene_random random = scene_random_make(7);
    for (int trial = 0; trial < 300; ++trial) {
        int kind = trial % (int)TEST_COUNT(vectors), first = vectors[kind].first, count = vectors[kind].count;
        poise_builder *builder = new_builder();
        poise_joint joint = random_joint(&random, vectors[kind].type);
        joint.name = "a";
        add(builder, &joint);
        figure f = figure_of(model_of(builder));
        double size = scene_random_range(&random, 3.2, trial % 4 ? 6.2 : 100.0), q[7], before[7];
        random_step(&random, f.model, 1.0, q);
        double scale = size / length(q + first, count);
        for (int i = 0; i < count; ++i) {
            q[first + i] *= scale;
        }
        memcpy(before, q, sizeof q);
        poise_pose pose = pose_at(&f, q);
        ck_assert_int_eq(pz_kin_reparameterise(f.model, q), 1);
        ck_assert_double_le(length(q + first, count), PI);
        poise_pose after = pose_at(&f, q);
        // the angle of a long vector has units of size * epsilon
        ck_assert_double_le(v3_norm(quat_vec(quat_mul(pose.rotation, quat_conj(after.rotation)))), 8 * size * DBL_EPSILON);
        ck_assert_mem_eq(&after.position, &pose.position, sizeof pose.position);
        if (size < 2 * PI) { // one turn: the same line, v <- (1 - 2 pi / |v|) v
            for (int i = 0; i < count; ++i) {
                ck_assert_double_eq_tol(q[first + i], (1 - 2 * PI / size) * before[first + i], 16 * DBL_EPSILON * size);
            }
        }
        ck_assert_int_eq(pz_kin_reparameterise(f.model, q), 0);
    }
}

TEST(short_vectors_are_left_alone)
{
    scene_random random = scene_random_make(8);
    for (int trial = 0; trial < MODELS; ++trial) {
        figure f = random_figure(&random, JOINTS, RANDOM_PLAIN);
        double before[FIGURE_NUMBERS];
        memcpy(before, f.q, sizeof before);
        ck_assert_int_eq(pz_kin_reparameterise(f.model, f.q), 0);
        ck_assert_mem_eq(before, f.q, (size_t)f.nq * sizeof *before);
    }
}

TEST(every_body_keeps_its_pose_when_a_step_replaces_vectors)
{
    scene_random random = scene_random_make(9);
    int replaced = 0;
    for (int trial = 0; trial < MODELS; ++trial) {
        figure f = random_figure(&random, JOINTS, RANDOM_PLAIN);
        double v[FIGURE_NUMBERS], to[FIGURE_NUMBERS], plain[FIGURE_NUMBERS], before[FIGURE_NUMBERS];
        random_step(&random, f.model, 2.0, v);
        ck_assert_int_eq(poise_retract(f.model, f.q, v, to, NULL), POISE_OK);
        memcpy(plain, to, sizeof plain);
        for (int k = 0; k < JOINTS; ++k) { // the sum, for all but quaternions
            int first = poise_model_joint_info(f.model, k).q, count = poise_model_joint_info(f.model, k).nq,
                dof = poise_model_joint_info(f.model, k).v;
            for (int i = 0; i < count && !has_quaternion(poise_model_joint_info(f.model, k).type); ++i) {
                plain[first + i] = f.q[first + i] + v[dof + i];
                replaced += plain[first + i] != to[first + i];
            }
        }
        memcpy(before, to, sizeof before);
        ck_assert_int_eq(pz_kin_reparameterise(f.model, to), 0);
        ck_assert_mem_eq(before, to, (size_t)f.nq * sizeof *to);
        poise_pose expected[JOINTS];
        ck_assert_int_eq(poise_kinematics_update(f.kin, plain, NULL), POISE_OK);
        for (int k = 0; k < JOINTS; ++k) {
            expected[k] = poise_kinematics_body_pose(f.kin, k);
        }
        ck_assert_int_eq(poise_kinematics_update(f.kin, to, NULL), POISE_OK);
        for (int k = 0; k < JOINTS; ++k) {
            poise_pose pose = poise_kinematics_body_pose(f.kin, k);
            // up to JOINTS rotations, each off by a few units of 2 pi
            double bound = JOINTS * 32 * DBL_EPSILON;
            ck_assert_double_le(v3_norm(quat_vec(quat_mul(pose.rotation, quat_conj(expected[k].rotation)))), bound);
            ck_assert_double_le(v3_norm(v3_sub(pose.position, expected[k].position)), 10 * bound);
        }
    }
    ck_assert_int_gt(replaced, MODELS);
}

TEST(limits_on_other_coordinates_do_not_keep_a_vector_long)
{
    poise_builder *builder = new_builder();
    poise_joint joint = joint_of("a", NULL, POISE_JOINT_FREE_EXPMAP);
    joint.lower[0] = -1;
    add(builder, &joint);
    joint = joint_of("b", NULL, POISE_JOINT_SWING_TWIST);
    joint.upper[2] = 1;
    add(builder, &joint);
    figure f = figure_of(model_of(builder));
    double q[9] = {0, 0, 0, 5, 0, 0, 0, 5, 0};
    ck_assert_int_eq(pz_kin_reparameterise(f.model, q), 2);
    ck_assert_double_eq_tol(q[3], 5 - 2 * PI, 16 * DBL_EPSILON);
    ck_assert_double_eq_tol(q[7], 5 - 2 * PI, 16 * DBL_EPSILON);
}

// ---- Long steps ----------------------------------------------------------------------------------------------------------

// A joint of every type from q = `from` (quaternions: the identity) by a step of `by` in every component.
static poise_status step_of(const poise_model *model, double from, double by, double *q, double *to)
{
    double v[6];
    poise_model_neutral(model, q);
    bool has_turn = has_quaternion(poise_model_joint_info(model, 0).type);
    for (int i = 0; i < poise_model_info(model).nq - (has_turn ? 4 : 0); ++i) {
        q[i] = from;
    }
    for (int i = 0; i < poise_model_info(model).nv; ++i) {
        v[i] = by;
    }
    memset(to, 0x5a, 7 * sizeof *to);
    return poise_retract(model, q, v, to, NULL);
}

TEST(long_steps_give_finite_numbers_or_are_refused)
{
    static const double sizes[] = {1e3, 1e16, 1e150, 1e160, 1e300, DBL_MAX};
    for (int type = POISE_JOINT_REVOLUTE; type < POISE_JOINT_TYPE_COUNT; ++type) {
        poise_builder *builder = new_builder();
        add_plain(builder, "a", NULL, (poise_joint_type)type);
        poise_model *model = model_of(builder);
        for (size_t i = 0; i < TEST_COUNT(sizes); ++i) {
            double q[7], to[7];
            ck_assert_int_eq(step_of(model, 0.5, -sizes[i], q, to), POISE_OK);
            for (int k = 0; k < poise_model_info(model).nq; ++k) {
                ck_assert_msg(isfinite(to[k]), "%s, %g", poise_joint_type_name((poise_joint_type)type), sizes[i]);
            }
        }
        double q[7], to[7], untouched[7];
        memset(untouched, 0x5a, sizeof untouched);
        bool adds = type != POISE_JOINT_BALL_QUATERNION; // nothing to overflow
        ck_assert_int_eq(step_of(model, DBL_MAX, DBL_MAX, q, to), adds ? POISE_ERROR_ARGUMENT : POISE_OK);
        ck_assert(!adds || memcmp(to, untouched, sizeof to) == 0);
    }
}

// A motion at constant speed about one axis, through half a turn and more: each frame is one step from the last, though
// the rotation vector takes its other form on the way. With limits it has none, and differences are plain.
TEST_ROWS(differences_go_on_through_half_a_turn, 3)
{
    static const poise_joint_type types[] = {POISE_JOINT_BALL_EXPMAP, POISE_JOINT_FREE_EXPMAP, POISE_JOINT_SWING_TWIST};
    poise_joint joint = joint_of("a", NULL, types[test_row]);
    poise_builder *builder = new_builder();
    add(builder, &joint);
    figure f = figure_of(model_of(builder));
    int at = test_row == 1 ? 3 : 0, count = test_row == 2 ? 2 : 3, turned = 0;
    double step[6] = {0}, next[6], v[6];
    for (int i = 0; i < count; ++i) {
        step[at + i] = 0.05 * (i + 1);
    }
    for (int k = 0; k < 60; ++k) {
        ck_assert_int_eq(poise_retract(f.model, f.q, step, next, NULL), POISE_OK);
        turned += next[at] < f.q[at];
        ck_assert_int_eq(poise_difference(f.model, f.q, next, v, NULL), POISE_OK);
        for (int i = 0; i < f.nv; ++i) {
            ck_assert_double_eq_tol(v[i], step[i], 1e-13);
        }
        memcpy(f.q, next, sizeof next);
    }
    ck_assert_int_ge(turned, 1);
    const double far[3] = {-3.0, 0, 0}, from[3] = {3.0, 0, 0};
    joint = joint_of("a", NULL, POISE_JOINT_BALL_EXPMAP);
    joint.lower[0] = -3.1, joint.upper[0] = 3.1;
    builder = new_builder();
    add(builder, &joint);
    ck_assert_int_eq(poise_difference(model_of(builder), from, far, v, NULL), POISE_OK);
    ck_assert_double_eq(v[0], -6.0);
}

TEST(differences_beyond_all_numbers_are_refused)
{
    poise_builder *builder = new_builder();
    add_plain(builder, "a", NULL, POISE_JOINT_PRISMATIC);
    poise_model *model = model_of(builder);
    double from = -DBL_MAX, to = DBL_MAX, v = 7.0;
    ck_assert_int_eq(poise_difference(model, &from, &to, &v, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_double_eq(v, 7.0);
    to = 0.0;
    ck_assert_int_eq(poise_difference(model, &from, &to, &v, NULL), POISE_OK);
    ck_assert_double_eq(v, DBL_MAX);
}

TEST(a_unit_quaternion_keeps_its_bits_when_it_does_not_turn)
{
    poise_builder *builder = new_builder();
    add_plain(builder, "a", NULL, POISE_JOINT_BALL_QUATERNION);
    poise_model *model = model_of(builder);
    scene_random random = scene_random_make(12);
    for (int i = 0; i < 1000; ++i) {
        poise_quat r = scene_random_rotation(&random);
        double q[4] = {r.x, r.y, r.z, r.w}, zero[3] = {0, 0, 0}, to[4];
        ck_assert_int_eq(poise_retract(model, q, zero, to, NULL), POISE_OK);
        ck_assert_mem_eq(q, to, sizeof q);
    }
}
