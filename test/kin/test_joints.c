// What every joint promises, over the table of joints (support/joint_facts.c): the derivatives of its motion, steps there
// and back, limits that hold exactly, twins that are the same pose. A new type is a row there. In files:
// io/test_joint_files.c.
#include "kin/kin.h"
#include "num/vector.h"
#include "support/derivative_check.h"
#include "support/joint_facts.h"

#include <float.h>

#define PI     3.14159265358979323846
#define ROUNDS 60

static double largest_difference(const double *a, const double *b, int count)
{
    double largest = 0.0;
    for (int i = 0; i < count; ++i) {
        largest = fmax(largest, fabs(a[i] - b[i]));
    }
    return largest;
}

// The joint alone, or below the hinge that it follows, with limits or without.
static figure lone(const joint_facts *row, const poise_joint *limits)
{
    poise_builder *builder = new_builder();
    poise_joint joint = joint_of_row(row);
    joint.parent = row->mimic ? "base" : NULL;
    if (row->mimic) {
        add_plain(builder, "base", NULL, POISE_JOINT_REVOLUTE);
    }
    if (limits && !row->function) { // which has none of its own
        memcpy(joint.lower, limits->lower, sizeof joint.lower);
        memcpy(joint.upper, limits->upper, sizeof joint.upper);
        memcpy(joint.swing, limits->swing, sizeof joint.swing);
    }
    add(builder, &joint);
    return figure_of(model_of(builder));
}

static poise_pose pose_at(figure *f, const double *q)
{
    ck_assert_int_eq(poise_kinematics_update(f->kin, q, NULL), POISE_OK);
    return poise_kinematics_body_pose(f->kin, poise_model_find_body(f->model, "subject"));
}

// ---- Coordinates ---------------------------------------------------------------------------------------------------------

TEST_EACH_JOINT(it_has_the_coordinates_of_its_row)
{
    const joint_facts *row = &joint_rows[test_row];
    figure f = lone(row, NULL);
    int k = poise_model_find_joint(f.model, "subject");
    poise_joint_info info = poise_model_joint_info(f.model, k);
    ck_assert_msg(strncmp(row->name, poise_joint_type_name(info.type), strlen(poise_joint_type_name(info.type))) == 0, "%s",
                  row->name);
    ck_assert_int_eq(info.nq, row->mimic ? 0 : row->nq);
    ck_assert_int_eq(info.nv, row->mimic ? 0 : row->nv);
    ck_assert_int_eq(info.mimic, row->mimic ? 0 : POISE_NONE);
    memset(f.q, 0x55, sizeof f.q);
    poise_model_neutral(f.model, f.q);
    for (int i = 0; i < f.nq; ++i) {
        ck_assert_double_eq(f.q[i], row->quaternion != NO_QUATERNION && i == row->quaternion + 3 ? 1.0 : 0.0);
    }
    ck_assert_int_eq(info.given->order, row->order);
    ck_assert_double_eq(info.given->mimic_multiplier, joint_of_row(row).mimic_multiplier);
}

TEST_EACH_JOINT(every_type_has_a_row)
{
    int rows = 0;
    for (int i = 0; i < JOINT_ROWS; ++i) {
        rows += (int)joint_rows[i].type == test_row % POISE_JOINT_TYPE_COUNT && !joint_rows[i].mimic;
    }
    ck_assert_int_gt(rows, 0);
    ck_assert_str_eq(poise_joint_type_name(POISE_JOINT_TYPE_COUNT), "unknown");
    ck_assert_str_eq(poise_joint_type_name((poise_joint_type)-1), "unknown");
}

TEST_EACH_JOINT(its_motion_has_the_derivatives_of_differences)
{
    const joint_facts *row = &joint_rows[test_row];
    figure f = figure_of(limb_of_row(row));
    scene_random random = scene_random_make(20 + (uint64_t)test_row);
    for (int pose = 0; pose < LIMB_POSES; ++pose) {
        pose_limb(row, f.model, &random, pose, f.q);
        update(&f);
        check_motion(&f, poise_model_find_body(f.model, pose % 2 ? "subject" : "wrist"), v3(0.3, -0.4, 0.2));
    }
}

// ---- Steps ---------------------------------------------------------------------------------------------------------------

// Coordinates up to 4 lose their last unit to a sum and a difference; a logarithm of an exponential about as much.
#define ROUND_TRIP 3e-15

TEST_EACH_JOINT(a_step_there_and_back_is_a_difference)
{
    const joint_facts *row = &joint_rows[test_row];
    figure f = lone(row, NULL);
    scene_random random = scene_random_make(30 + (uint64_t)test_row);
    for (int round = 0; round < ROUNDS; ++round) {
        double v[8], back[8], to[8], arrived[8], in_place[8];
        scene_random_configuration(&random, f.model, f.q);
        for (int i = 0; i < f.nq; ++i) {
            f.q[i] *= 0.5; // rotation vectors stay below pi after the step; quaternions need not be unit
        }
        random_step(&random, f.model, round % 2 ? 0.8 : 1e-3, v);
        ck_assert_int_eq(poise_retract(f.model, f.q, v, to, NULL), POISE_OK);
        ck_assert_int_eq(poise_difference(f.model, f.q, to, back, NULL), POISE_OK);
        ck_assert_double_le(largest_difference(v, back, f.nv), ROUND_TRIP);
        ck_assert_int_eq(poise_retract(f.model, f.q, back, arrived, NULL), POISE_OK);
        ck_assert_double_le(largest_difference(to, arrived, f.nq), ROUND_TRIP);
        memcpy(in_place, f.q, sizeof in_place);
        ck_assert_int_eq(poise_retract(f.model, in_place, v, in_place, NULL), POISE_OK);
        ck_assert_mem_eq(in_place, to, (size_t)f.nq * sizeof *to);
    }
}

TEST_EACH_JOINT(a_step_of_zero_stays)
{
    const joint_facts *row = &joint_rows[test_row];
    static const double zero[8];
    figure f = lone(row, NULL);
    scene_random random = scene_random_make(40 + (uint64_t)test_row);
    for (int round = 0; round < ROUNDS; ++round) {
        double to[8], v[8] = {0};
        scene_random_configuration(&random, f.model, f.q);
        ck_assert_int_eq(poise_retract(f.model, f.q, zero, to, NULL), POISE_OK);
        // two normalisations of numbers up to 1
        ck_assert_double_le(largest_difference(to, f.q, f.nq), row->quaternion == NO_QUATERNION ? 0.0 : 4 * DBL_EPSILON);
        ck_assert_int_eq(poise_difference(f.model, f.q, f.q, v, NULL), POISE_OK);
        ck_assert_double_le(largest_difference(v, zero, f.nv), row->quaternion == NO_QUATERNION ? 0.0 : 4 * DBL_EPSILON);
    }
}

// ---- Limits --------------------------------------------------------------------------------------------------------------

// Limits of round `round` on every coordinate: both sides, one of them, or none width; a swing has an ellipse as well.
static poise_joint limits_of(const joint_facts *row, scene_random *random, int round)
{
    poise_joint joint = poise_joint_default();
    for (int i = 0; i < 7 && row->quaternion == NO_QUATERNION; ++i) {
        double a = scene_random_range(random, -2.0, -0.1), b = scene_random_range(random, 0.1, 2.0);
        joint.lower[i] = round % 4 == 1 ? -INFINITY : a;
        joint.upper[i] = round % 4 == 2 ? INFINITY : round % 4 == 3 ? a : b;
    }
    for (int i = 0; i < 2 && row->type == POISE_JOINT_SWING_TWIST && round % 4 != 3; ++i) {
        joint.swing[i] = scene_random_range(random, 0.2, 1.5);
    }
    return joint;
}

static bool is_inside(const joint_facts *row, const poise_joint *limits, const double *q, int nq)
{
    bool inside = true;
    for (int i = 0; i < nq; ++i) {
        double x = row->mimic ? -1.7 * q[i] + 0.3 : q[i];
        inside = inside && x >= limits->lower[i] && x <= limits->upper[i];
    }
    double a = q[0] / limits->swing[0], b = q[1] / limits->swing[1];
    return inside && (row->type != POISE_JOINT_SWING_TWIST || a * a + b * b <= 1.0);
}

TEST_EACH_JOINT(limits_hold_exactly_after_a_clamp)
{
    static const double sizes[] = {0.1, 1, 10, 1e6, 1e200};
    const joint_facts *row = &joint_rows[test_row];
    scene_random random = scene_random_make(50 + (uint64_t)test_row);
    for (int round = 0; round < 4 * ROUNDS && !row->function; ++round) {
        poise_joint limits = limits_of(row, &random, row->mimic ? round % 3 : round);
        figure f = lone(row, &limits);
        double q[8] = {0}, again[8];
        for (int i = 0; i < f.nq; ++i) {
            double size = sizes[scene_random_index(&random, (int)TEST_COUNT(sizes))];
            q[i] = scene_random_range(&random, -size, size);
        }
        memcpy(again, q, sizeof q);
        bool was_inside = is_inside(row, &limits, q, f.nq);
        int moved = -1;
        ck_assert_msg(poise_model_within_limits(f.model, q) == was_inside, "%s, round %d", row->name, round);
        ck_assert_int_eq(poise_model_clamp(f.model, q, &moved, NULL), POISE_OK);
        ck_assert_int_eq(moved, !was_inside);
        ck_assert(poise_model_within_limits(f.model, q) && is_inside(row, &limits, q, f.nq));
        for (int i = 0; i < f.nq && row->type != POISE_JOINT_SWING_TWIST && !row->mimic; ++i) { // to the limit it passed
            double nearest = fmin(fmax(again[i], limits.lower[i]), limits.upper[i]);
            ck_assert(row->quaternion != NO_QUATERNION || q[i] == nearest);
        }
        memcpy(again, q, sizeof q);
        ck_assert_int_eq(poise_model_clamp(f.model, again, &moved, NULL), POISE_OK);
        ck_assert_int_eq(moved, 0);
        ck_assert_mem_eq(again, q, (size_t)f.nq * sizeof *q);
        test_sweep();
    }
}

TEST_EACH_JOINT(numbers_that_are_no_configuration_are_refused_and_stay)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    const joint_facts *row = &joint_rows[test_row];
    figure f = lone(row, NULL);
    for (int i = 0; i < 4 * f.nq; ++i) {
        double q[8], before[8], v[8] = {0}, out[8] = {-7};
        poise_model_neutral(f.model, q);
        q[i / 4] = i % 4 < 3 ? bad[i % 4] : 0.0;
        bool is_zero = row->quaternion != NO_QUATERNION && i / 4 == row->quaternion + 3; // a quaternion of no length
        if (i % 4 == 3 && !is_zero) {
            continue;
        }
        memcpy(before, q, sizeof before);
        ck_assert(!poise_model_within_limits(f.model, q));
        ck_assert_int_eq(poise_model_clamp(f.model, q, NULL, NULL), POISE_ERROR_ARGUMENT);
        ck_assert_int_eq(poise_kinematics_update(f.kin, q, NULL), POISE_ERROR_ARGUMENT);
        ck_assert_int_eq(poise_retract(f.model, q, v, out, NULL), POISE_ERROR_ARGUMENT);
        ck_assert_int_eq(poise_difference(f.model, f.q, q, out, NULL), POISE_ERROR_ARGUMENT);
        ck_assert_mem_eq(q, before, (size_t)f.nq * sizeof *q);
        ck_assert_double_eq(out[0], -7);
    }
}

// ---- Twins ---------------------------------------------------------------------------------------------------------------

// Other numbers for the same pose: a quaternion with the other sign, a rotation vector the other way round. False: none.
static bool twin_of(const joint_facts *row, const double *q, int nq, double *twin)
{
    memcpy(twin, q, (size_t)nq * sizeof *q);
    double length = 0.0;
    for (int i = 0; i < row->vector_count; ++i) {
        length += q[row->vector + i] * q[row->vector + i];
    }
    for (int i = 0; i < row->vector_count; ++i) {
        twin[row->vector + i] *= 1.0 - 2.0 * PI / sqrt(length);
    }
    for (int i = 0; i < 4 && row->quaternion != NO_QUATERNION; ++i) {
        twin[row->quaternion + i] *= -1.0;
    }
    return row->vector_count > 0 || row->quaternion != NO_QUATERNION;
}

static double cost_of(poise_objective *o, poise_goal goal, const double *q)
{
    ck_assert_int_eq(poise_objective_set_goals(o, &goal, 1, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_evaluate(o, q, POISE_LEVEL_COST, NULL), POISE_OK);
    return poise_objective_value(o).cost;
}

// Also as a posture, as the last frame, and as the frame before it, from which a velocity goes on.
TEST_EACH_JOINT(its_twin_is_the_same_pose_and_the_same_posture)
{
    const joint_facts *row = &joint_rows[test_row];
    figure f = lone(row, NULL);
    poise_objective *o = NULL;
    ck_assert_int_eq(poise_objective_create(f.model, 0, NULL, &o, NULL), POISE_OK);
    own_objective(o);
    scene_random random = scene_random_make(60 + (uint64_t)test_row);
    for (int round = 0; round < ROUNDS; ++round) {
        double q[8], twin[8], step[8], before[8], before_twin[8], next[8];
        scene_random_configuration(&random, f.model, q);
        if (!twin_of(row, q, f.nq, twin)) {
            return;
        }
        poise_pose a = pose_at(&f, q), b = pose_at(&f, twin);
        ck_assert_double_le(v3_norm(quat_vec(quat_mul(a.rotation, quat_conj(b.rotation)))), 32 * DBL_EPSILON);
        ck_assert_double_le(v3_norm(v3_sub(a.position, b.position)), 0.0);
        double far = cost_of(o, poise_goal_posture(q, 1.0), q);
        ck_assert_double_le(cost_of(o, poise_goal_posture(twin, 1.0), q), far + 1e-28);
        ck_assert_double_le(cost_of(o, poise_goal_smoothness(twin, NULL, 1.0), q), far + 1e-28);
        random_step(&random, f.model, 0.05, step);
        ck_assert_int_eq(poise_retract(f.model, q, step, next, NULL), POISE_OK);
        for (int i = 0; i < f.nv; ++i) {
            step[i] = -step[i];
        }
        ck_assert_int_eq(poise_retract(f.model, q, step, before, NULL), POISE_OK);
        twin_of(row, before, f.nq, before_twin);
        double plain = cost_of(o, poise_goal_smoothness(q, before, 1.0), next);
        ck_assert_double_le(plain, 1e-26);
        ck_assert_double_le(fabs(cost_of(o, poise_goal_smoothness(q, before_twin, 1.0), next) - plain), 1e-26);
    }
}

TEST_EACH_JOINT(a_long_vector_becomes_its_twin_unless_limits_hold_it)
{
    const joint_facts *row = &joint_rows[test_row];
    scene_random random = scene_random_make(70 + (uint64_t)test_row);
    for (int round = 0; round < ROUNDS && row->vector_count > 0; ++round) {
        poise_joint limits = poise_joint_default();
        limits.upper[row->vector] = round % 2 ? 100.0 : INFINITY;
        figure f = lone(row, &limits);
        double q[8] = {0}, twin[8];
        for (int i = 0; i < row->vector_count; ++i) {
            q[row->vector + i] = scene_random_range(&random, 2.3, 2.8); // longer than pi, shorter than twice that
        }
        twin_of(row, q, f.nq, twin);
        ck_assert_int_eq(pz_kin_reparameterise(f.model, q), round % 2 == 0);
        ck_assert_int_eq(largest_difference(q, twin, f.nq) <= 1e-14, round % 2 == 0);
        test_sweep();
    }
}

// The turns of the joints above do not count.
TEST(a_hinge_below_hinges_has_not_every_rotation)
{
    poise_builder *builder = new_builder();
    add_plain(builder, "a", NULL, POISE_JOINT_REVOLUTE);
    add_plain(builder, "b", "a", POISE_JOINT_REVOLUTE);
    add_plain(builder, "c", "b", POISE_JOINT_REVOLUTE);
    add_plain(builder, "d", "c", POISE_JOINT_BALL_EULER);
    poise_model *model = model_of(builder);
    for (int k = 0; k < 4; ++k) {
        ck_assert_int_eq(pz_joint_has_rotation(model, &model->joints[k]), k == 3);
    }
}
